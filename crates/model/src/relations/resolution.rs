//! The source of each read, as far as the history determines it.

use crate::history::{History, OperationId, TransactionId};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::sync::Arc;

/// The source of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Not a read of the checked history: a write, or a read of an aborted transaction.
    Outside,
    /// The transaction's own latest write of the key.
    Own,
    /// The initial version, written by ⊥.
    Initial {
        /// The transaction had already written the key itself (TAP-d).
        after_own_write: bool,
    },
    /// A write of another transaction that committed, or must have.
    Transaction {
        /// That transaction.
        writer: TransactionId,
        /// Its write.
        write: OperationId,
        /// The writer overwrote this version itself later (TAP-f).
        intermediate: bool,
        /// The reader had already written the key itself (TAP-d).
        after_own_write: bool,
    },
    /// Only an own write that comes later (TAP-c).
    Future {
        /// The first such write.
        write: OperationId,
    },
    /// An own earlier write that the transaction had already overwritten (TAP-e).
    OwnOverwritten {
        /// The last such write.
        write: OperationId,
    },
    /// Only aborted transactions wrote the value, and not all of them began after the reader had ended (TAP-b).
    Aborted {
        /// The first of them that did not.
        writer: TransactionId,
        /// Its write.
        write: OperationId,
    },
    /// No transaction had written the value (TAP-a).
    ThinAir,
    /// The file does not say what was read.
    Unrecorded,
    /// One of [`Resolution::candidates`].
    Ambiguous,
}

impl Source {
    /// The transaction that wrote the version, if it is another one: ⊥ for the initial version.
    pub fn writer(self) -> Option<TransactionId> {
        match self {
            Source::Initial { .. } => Some(TransactionId::INITIAL),
            Source::Transaction { writer, .. } => Some(writer),
            _ => None,
        }
    }
}

/// The source of a read, as far as it is known without a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Glance {
    /// Not a read of the checked history.
    Outside,
    /// The transaction's own latest write.
    Own,
    /// The initial version.
    Initial,
    /// This write: another transaction's, or an own one that is not the latest.
    Write(OperationId),
    /// No transaction wrote the value.
    ThinAir,
    /// The file does not say what was read.
    Unrecorded,
    /// One of several.
    Ambiguous,
}

/// The role of a transaction in the checked history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// It committed.
    Committed,
    /// Its outcome is unknown, but a transaction of the checked history read from it: it must have committed.
    Promoted,
    /// Its outcome is unknown and it is not needed: leaving it out changes no verdict, since every level is closed under
    /// removing transactions.
    Dropped,
    /// Its outcome is unknown; it counts as committed only if some ambiguous read is assumed to read from it.
    Possible,
    /// It aborted.
    Aborted,
    /// It set up the initial state and counts as part of ⊥.
    Initial,
}

/// In place of the write in [`Resolution::code`]; all larger codes are special, too.
pub(super) const FIRST_SPECIAL: u32 = u32::MAX - 5;
pub(super) const AMBIGUOUS: u32 = u32::MAX - 5;
pub(super) const UNRECORDED: u32 = u32::MAX - 4;
pub(super) const THIN_AIR: u32 = u32::MAX - 3;
pub(super) const INITIAL: u32 = u32::MAX - 2;
pub(super) const OWN: u32 = u32::MAX - 1;
pub(super) const OUTSIDE: u32 = u32::MAX;

/// A read for which more than one write (or ⊥) can be the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultipleSources {
    /// The read.
    pub read: OperationId,
    /// Its transaction.
    pub reader: TransactionId,
    /// Number of leading sources that do not, by themselves, already violate read committed; all others do. At least
    /// one: if every source violates it, the first represents all.
    pub kept: usize,
    pub(super) list: SourceList,
}

/// How the sources of a read are kept: where a value was written very often, once for all reads of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SourceList {
    Own(Box<[Source]>),
    Shared {
        all: Arc<SharedSources>,
        /// The last transaction of the reader's session: writers after the reader until there violate read committed.
        last_of_session: TransactionId,
    },
}

/// The sources of all reads of one value of a key, no version of which its writer overwrote.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SharedSources {
    /// Committed writers, then those of unknown outcome, each ascending, then ⊥ if the value may be initial.
    pub(super) sources: Vec<Source>,
    /// How many writers committed.
    pub(super) n_committed: usize,
    /// How many writers there are.
    pub(super) n_writers: usize,
}

impl SharedSources {
    /// How many of the writers are in a range of transactions. O(log writers).
    pub(super) fn n_within(&self, first: TransactionId, last: TransactionId) -> usize {
        let until = |run: &[Source], t: TransactionId| {
            run.partition_point(|source| source.writer() <= Some(t))
        };
        let (committed, unknown) = self.sources[..self.n_writers].split_at(self.n_committed);
        let within = |run: &[Source]| {
            let before = run.partition_point(|source| source.writer() < Some(first));
            until(run, last).saturating_sub(before)
        };
        within(committed) + within(unknown)
    }
}

impl MultipleSources {
    /// Everything that may have been read: [`Source::Transaction`] and [`Source::Initial`] only. The first
    /// [`kept`](Self::kept) sources are those worth trying. O(sources) where they are shared with other reads.
    pub fn sources(&self) -> Cow<'_, [Source]> {
        match &self.list {
            SourceList::Own(sources) => Cow::Borrowed(sources),
            SourceList::Shared {
                all,
                last_of_session,
            } => {
                let is_own = |source: &Source| source.writer() == Some(self.reader);
                let is_late = |source: &Source| {
                    let writer = source.writer().filter(|writer| !writer.is_initial());
                    writer.is_some_and(|writer| self.reader < writer && writer <= *last_of_session)
                };
                let (late, mut sources): (Vec<Source>, Vec<Source>) = all
                    .sources
                    .iter()
                    .filter(|source| !is_own(source))
                    .partition(|source| is_late(source));
                sources.extend(late);
                Cow::Owned(sources)
            }
        }
    }

    /// Those worth trying.
    pub fn candidates(&self) -> Cow<'_, [Source]> {
        match self.sources() {
            Cow::Borrowed(sources) => Cow::Borrowed(&sources[..self.kept]),
            Cow::Owned(mut sources) => {
                sources.truncate(self.kept);
                Cow::Owned(sources)
            }
        }
    }

    /// Those worth trying that are left out so far.
    pub(super) fn unsettled_candidates<'a>(
        &'a self,
        standing: &'a [Standing],
    ) -> impl Iterator<Item = TransactionId> + 'a {
        let unknown: &[Source] = match &self.list {
            SourceList::Own(sources) => &sources[..self.kept],
            SourceList::Shared { all, .. } => &all.sources[all.n_committed..all.n_writers],
        };
        let is_late = |writer: TransactionId| match self.list {
            SourceList::Own(_) => false,
            SourceList::Shared {
                last_of_session, ..
            } => self.reader <= writer && writer <= last_of_session,
        };
        let writers = unknown
            .iter()
            .filter_map(|source| source.writer())
            .filter(|writer| !writer.is_initial());
        writers.filter(move |writer| {
            standing[writer.index()] == Standing::Dropped && !is_late(*writer)
        })
    }

    /// Number of writers, of any outcome but aborted, without ⊥. O(log writers), or O(sources) of a few.
    pub fn n_writers(&self) -> usize {
        match &self.list {
            SourceList::Own(sources) => sources.iter().filter(|source| !is_initial(source)).count(),
            SourceList::Shared { all, .. } => {
                all.n_writers - all.n_within(self.reader, self.reader)
            }
        }
    }

    /// How many of those worth trying are writers, which come first, of a read with at least two. O(1), or O(sources) of
    /// a few.
    pub fn n_candidate_writers(&self) -> usize {
        match &self.list {
            SourceList::Own(sources) => sources[..self.kept]
                .iter()
                .filter(|source| !is_initial(source))
                .count(),
            SourceList::Shared { .. } => self.kept - usize::from(self.may_be_initial()),
        }
    }

    /// Whether one of those that may have written it, ⊥ included, is such. O(sources), less where an early one is.
    pub fn has_writer(&self, is_such: impl Fn(TransactionId) -> bool) -> bool {
        let all = match &self.list {
            SourceList::Own(sources) => sources,
            SourceList::Shared { all, .. } => &all.sources[..],
        };
        all.iter()
            .filter_map(|source| source.writer())
            .any(|writer| writer != self.reader && is_such(writer))
    }

    /// Whether the initial version may have been read.
    pub fn may_be_initial(&self) -> bool {
        match &self.list {
            SourceList::Own(sources) => sources.iter().any(is_initial),
            SourceList::Shared { all, .. } => all.sources.len() > all.n_writers,
        }
    }
}

fn is_initial(source: &Source) -> bool {
    matches!(source, Source::Initial { .. })
}

/// For each ambiguous read, in the order of [`Resolution::ambiguous`], the place of the chosen source among its
/// candidates, or `None` to leave the read out.
pub type Choice = Vec<Option<u32>>;

/// The source of every read. Made by [`resolve`](super::resolve).
#[derive(Clone, Debug, Default)]
pub struct Resolution {
    /// By operation: the write that was read, or a special code.
    pub(super) code: Vec<u32>,
    /// Reads that come after an own write of the key, ascending.
    pub(super) after_own_write: Vec<u32>,
    /// Reads of a version that its writer overwrote, ascending.
    pub(super) intermediate: Vec<u32>,
    /// By transaction.
    pub(super) standing: Vec<Standing>,
    /// By transaction: its first operation; one entry more than transactions.
    pub(super) operation_begin: Vec<u32>,
    /// Reads with several sources, by operation.
    pub(super) multiple: Vec<MultipleSources>,
    /// Places in `multiple` of the reads that stay ambiguous.
    pub(super) ambiguous: Vec<u32>,
    /// (reader, writer) where the writer's outcome is unknown and the read has no other source, ascending.
    pub(super) demands: Vec<(TransactionId, TransactionId)>,
    /// Those of them that also hold at cut isolation: (reader of a list, the only transaction that can have appended an
    /// element of it that is not the last, of unknown outcome), sorted.
    pub(super) listed: Vec<(TransactionId, TransactionId)>,
    /// Writes of a value that another transaction wrote to the key before, each with the last such write, ascending.
    pub(super) repeated: Vec<(OperationId, OperationId)>,
    /// See [`Resolution::assumptions`].
    pub(super) assumptions: Vec<String>,
}

impl Resolution {
    /// The source of a read. O(log transactions).
    pub fn source(&self, read: OperationId) -> Source {
        match self.code[read.index()] {
            code if code < FIRST_SPECIAL => self.decode(self.transaction_of(read), read, code),
            code => self.decode_special(read, code),
        }
    }

    /// As `source`, if the transaction of the read is known: faster.
    pub fn source_in(&self, reader: TransactionId, read: OperationId) -> Source {
        match self.code[read.index()] {
            code if code < FIRST_SPECIAL => self.decode(reader, read, code),
            code => self.decode_special(read, code),
        }
    }

    /// The source of a read, as far as it is known without a search. O(1).
    #[inline]
    pub fn glance(&self, read: OperationId) -> Glance {
        match self.code[read.index()] {
            OWN => Glance::Own,
            INITIAL => Glance::Initial,
            THIN_AIR => Glance::ThinAir,
            UNRECORDED => Glance::Unrecorded,
            AMBIGUOUS => Glance::Ambiguous,
            OUTSIDE => Glance::Outside,
            write => Glance::Write(OperationId(write)),
        }
    }

    /// Writes of a value that an earlier transaction also wrote to the key, each with the last write of it there, in
    /// file order. Transactions of all outcomes count, except those that set up the initial state.
    pub fn repeated_writes(&self) -> &[(OperationId, OperationId)] {
        &self.repeated
    }

    /// All reads with several sources, also if all but one are ruled out, by operation.
    pub fn reads_with_multiple_sources(&self) -> &[MultipleSources] {
        &self.multiple
    }

    /// Whether a read returns another transaction's version after an own write (TAP-d) or a version that its writer
    /// overwrote (TAP-f). Fast if there are few such reads.
    pub fn is_irregular(&self, read: OperationId) -> bool {
        contains(&self.after_own_write, read) || contains(&self.intermediate, read)
    }

    fn decode_special(&self, read: OperationId, code: u32) -> Source {
        match code {
            OWN => Source::Own,
            INITIAL => Source::Initial {
                after_own_write: contains(&self.after_own_write, read),
            },
            THIN_AIR => Source::ThinAir,
            UNRECORDED => Source::Unrecorded,
            AMBIGUOUS => Source::Ambiguous,
            _ => Source::Outside,
        }
    }

    fn decode(&self, reader: TransactionId, read: OperationId, write: u32) -> Source {
        let own = self.operation_begin[reader.index()]..self.operation_begin[reader.index() + 1];
        let write = OperationId(write);
        if own.contains(&write.0) {
            return if write < read {
                Source::OwnOverwritten { write }
            } else {
                Source::Future { write }
            };
        }
        let writer = self.transaction_of(write);
        if self.standing[writer.index()] == Standing::Aborted {
            return Source::Aborted { writer, write };
        }
        Source::Transaction {
            writer,
            write,
            intermediate: contains(&self.intermediate, read),
            after_own_write: contains(&self.after_own_write, read),
        }
    }

    fn transaction_of(&self, operation: OperationId) -> TransactionId {
        TransactionId::new(
            self.operation_begin
                .partition_point(|&begin| begin <= operation.0)
                - 1,
        )
    }

    /// Number of ambiguous reads.
    pub fn n_ambiguous(&self) -> usize {
        self.ambiguous.len()
    }

    /// The ambiguous reads with their candidates, by operation: a [`Choice`] has an entry for each.
    pub fn ambiguous(
        &self,
    ) -> impl ExactSizeIterator<Item = (OperationId, Cow<'_, [Source]>)> + '_ {
        self.ambiguous.iter().map(|&at| {
            let read = &self.multiple[at as usize];
            (read.read, read.candidates())
        })
    }

    /// As `ambiguous`, without the candidates.
    pub fn ambiguous_reads(&self) -> impl ExactSizeIterator<Item = &MultipleSources> + '_ {
        self.ambiguous.iter().map(|&at| &self.multiple[at as usize])
    }

    /// How many candidates all ambiguous reads have together. O(ambiguous reads).
    pub fn n_candidates(&self) -> usize {
        self.ambiguous_reads().map(|multiple| multiple.kept).sum()
    }

    /// The candidates of an ambiguous read: only [`Source::Transaction`] and [`Source::Initial`], at least two,
    /// explicit writers before ⊥, committed ones before unknown ones, then in file order. Empty for other reads.
    pub fn candidates(&self, read: OperationId) -> Cow<'_, [Source]> {
        match self.multiple_sources(read) {
            Some(multiple) if multiple.kept > 1 => multiple.candidates(),
            _ => Cow::Borrowed(&[]),
        }
    }

    /// Everything that may have been read, if that is more than one source, also if all but one are ruled out by every
    /// level above cut isolation.
    pub fn multiple_sources(&self, read: OperationId) -> Option<&MultipleSources> {
        self.multiple
            .binary_search_by_key(&read, |multiple| multiple.read)
            .ok()
            .map(|at| &self.multiple[at])
    }

    /// Whether a read comes after an own write (TAP-d) and has several sources. Then no relation follows from it: which
    /// source it has does not matter at any level above cut isolation.
    pub fn is_open_after_own_write(&self, read: OperationId) -> bool {
        !self.multiple.is_empty()
            && contains(&self.after_own_write, read)
            && self.multiple_sources(read).is_some()
    }

    /// Whether some writer may be the source of both reads.
    pub fn may_share_source(&self, first: OperationId, second: OperationId) -> bool {
        let writers = |read: OperationId| -> Vec<TransactionId> {
            match self.multiple_sources(read) {
                Some(multiple) => multiple
                    .sources()
                    .iter()
                    .filter_map(|source| source.writer())
                    .collect(),
                None => self.source(read).writer().into_iter().collect(),
            }
        };
        let of_second = writers(second);
        writers(first)
            .iter()
            .any(|writer| of_second.contains(writer))
    }

    /// Transactions of unknown outcome that must have committed if this one did, because no other transaction can have
    /// appended an element within a list that it read. O(log of all such).
    pub fn listed_writers(
        &self,
        reader: TransactionId,
    ) -> impl Iterator<Item = TransactionId> + '_ {
        let first = self.listed.partition_point(|pair| pair.0 < reader);
        self.listed[first..]
            .iter()
            .take_while(move |pair| pair.0 == reader)
            .map(|pair| pair.1)
    }

    /// Whether any read has several sources.
    pub fn has_multiple_sources(&self) -> bool {
        !self.multiple.is_empty()
    }

    /// Every ambiguous read takes its first candidate.
    pub fn default_choice(&self) -> Choice {
        vec![Some(0); self.ambiguous.len()]
    }

    /// Leaves out every ambiguous read: what is violated then is violated under every choice, since all levels are
    /// closed under removing reads.
    pub fn choice_of_none(&self) -> Choice {
        vec![None; self.ambiguous.len()]
    }

    /// The chosen source of an ambiguous read, `None` if it is left out (or not ambiguous).
    pub fn chosen(&self, read: OperationId, choice: &Choice) -> Option<Source> {
        let at = self
            .ambiguous
            .binary_search_by_key(&read, |&at| self.multiple[at as usize].read)
            .ok()?;
        let multiple = &self.multiple[self.ambiguous[at] as usize];
        choice[at].map(|candidate| multiple.sources()[candidate as usize])
    }

    /// The role of a transaction.
    pub fn standing(&self, transaction: TransactionId) -> Standing {
        self.standing[transaction.index()]
    }

    fn with_standing(&self, standing: Standing) -> impl Iterator<Item = TransactionId> + '_ {
        let matching =
            move |(t, s): (usize, &Standing)| (*s == standing).then(|| TransactionId::new(t));
        self.standing.iter().enumerate().filter_map(matching)
    }

    /// Transactions that count as part of ⊥.
    pub fn merged_into_initial(&self) -> impl Iterator<Item = TransactionId> + '_ {
        self.with_standing(Standing::Initial)
    }

    /// Whether transactions count as part of ⊥ only because they look like it: neither the file nor the user says so.
    pub fn assumes_set_up(&self, history: &History) -> bool {
        history.set_up().is_empty() && self.merged_into_initial().next().is_some()
    }

    /// Transactions of unknown outcome that must have committed.
    pub fn promoted(&self) -> impl Iterator<Item = TransactionId> + '_ {
        self.with_standing(Standing::Promoted)
    }

    /// Transactions of unknown outcome that are left out.
    pub fn dropped(&self) -> impl Iterator<Item = TransactionId> + '_ {
        self.with_standing(Standing::Dropped)
    }

    /// What was assumed about the input, a sentence each.
    pub fn assumptions(&self) -> &[String] {
        &self.assumptions
    }

    /// Transactions of unknown outcome that count as committed under a choice although they would not otherwise,
    /// ascending; those in `joining` always do.
    pub(super) fn promoted_by(
        &self,
        choice: &Choice,
        joining: &[TransactionId],
    ) -> Vec<TransactionId> {
        let mut promoted: FxHashSet<TransactionId> = joining.iter().copied().collect();
        if !self.standing.contains(&Standing::Possible) {
            return Vec::new();
        }
        // A round can only add transactions, so the rounds end.
        loop {
            let before = promoted.len();
            let takes_part = |t: TransactionId, promoted: &FxHashSet<TransactionId>| {
                matches!(self.standing(t), Standing::Committed | Standing::Promoted)
                    || promoted.contains(&t)
            };
            for (&at, &chosen) in self.ambiguous.iter().zip(choice) {
                let read = &self.multiple[at as usize];
                let source = chosen.map(|candidate| read.sources()[candidate as usize]);
                if let Some(Source::Transaction { writer, .. }) = source
                    && self.standing(writer) == Standing::Possible
                    && takes_part(read.reader, &promoted)
                {
                    promoted.insert(writer);
                }
            }
            for &(reader, writer) in &self.demands {
                if self.standing(writer) == Standing::Possible && takes_part(reader, &promoted) {
                    promoted.insert(writer);
                }
            }
            if promoted.len() == before {
                break;
            }
        }
        let mut promoted: Vec<TransactionId> = promoted.into_iter().collect();
        promoted.sort_unstable();
        promoted
    }
}

fn contains(sorted: &[u32], operation: OperationId) -> bool {
    sorted.binary_search(&operation.0).is_ok()
}

/// Names of the first few transactions, for sentences: "T1, T2 and 7 more".
pub fn names(history: &History, transactions: &[TransactionId]) -> String {
    const SHOWN: usize = 5;
    let mut text: Vec<String> = transactions
        .iter()
        .take(SHOWN)
        .map(|&t| history.transaction_name(t))
        .collect();
    if transactions.len() > SHOWN {
        text.push(format!("{} more", transactions.len() - SHOWN));
    }
    match text.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
