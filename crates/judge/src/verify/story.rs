//! A commit order of a weak level with the reads of each transaction, and the stale ones among them.

use super::counted::Counted;
use super::guarantee::Guarantee;
use super::initial::Initial;
use super::lists;
use super::operations::writes_of;
use super::replay::{Attendance, Flaw, Version, warm_up};
use isoscope_model::control::Control;
use isoscope_model::history::{
    DuplicateRule, History, KeyId, OperationId, OperationKind, TransactionId, Value,
};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// The writers of what reads returned, where the order does not determine them.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// The writers that the witness names.
    pub named: &'a FxHashMap<OperationId, TransactionId>,
    /// The writers of other reads, given their transactions, ⊥ for the initial version; none where there are several or
    /// none.
    pub others: &'a (dyn Fn(TransactionId, OperationId) -> Option<TransactionId> + Sync),
}

/// What a transaction sees of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// Read committed: those it has read from before.
    ReadBefore,
    /// Read atomic: those it reads from, and those before it in its session.
    OneStep,
    /// Causal consistency: its causal past.
    Past,
    /// Parallel snapshot isolation and its relatives: what it depends on, as far as that counts.
    Dependencies(Counted),
    /// Monotonic snapshot reads: a beginning of the order, which grows from read to read.
    Growing,
    /// What a guarantee of sessions counts; none: nothing.
    Sessions(Option<Guarantee>),
}

/// A read that returns another transaction's version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) key: KeyId,
    /// The place of the writer in the order, from 1; 0 for the initial version.
    pub(super) from: u32,
    pub(super) operation: OperationId,
}

/// A read of a version that was not the current one, with one of the intervening writers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspect {
    /// The place of the reader.
    pub(super) reader: u32,
    /// The place of the writer.
    pub(super) newer: u32,
    pub(super) read: Read,
}

/// How many versions of a key are remembered.
const REMEMBERED: usize = 4;

/// The last versions of a key, the current one first.
type Versions = [Version; REMEMBERED];

/// An order of commits with the reads of each transaction.
pub(super) struct Story<'a> {
    pub(super) history: &'a History,
    pub(super) control: &'a Control,
    /// By place: the transactions in the order.
    pub(super) order: Vec<TransactionId>,
    /// By transaction: its place in the order, from 1; 0 for those not in it.
    pub(super) number: Vec<u32>,
    /// In the order of their transactions; below causal consistency only those of transactions with a suspect or stale
    /// one.
    reads: Vec<Read>,
    /// By place: its first read; one entry more than places.
    begin: Vec<u32>,
    /// Reads of versions that were overwritten before, by writers that must not be seen.
    pub(super) suspects: Vec<Suspect>,
    /// Reads of versions that were overwritten so often that those writers are not listed, ascending, each with the
    /// place of its transaction.
    pub(super) stale: Vec<(u32, Read)>,
    /// By key: whether one of those is about it.
    pub(super) is_stale: Vec<bool>,
}

/// Transactions with more operations than this are searched for keys by a table.
const LONG: usize = 64;

impl<'a> Story<'a> {
    pub(super) fn new(
        history: &'a History,
        initial: &Initial,
        order: &[TransactionId],
        sources: Sources<'_>,
        sight: Sight,
        control: &'a Control,
    ) -> Result<Story<'a>, Flaw> {
        let makers = lists::in_order(history, initial, order)?;
        let mut attendance = Attendance::new(history, initial, control)?;
        let n_reads = history.n_operations() / 2;
        control.needs(
            n_reads * size_of::<Read>()
                + order.len() * 8
                + history.n_keys() * size_of::<Versions>(),
        )?;
        let mut story = Story {
            history,
            control,
            order: Vec::with_capacity(order.len()),
            number: Vec::new(),
            reads: Vec::with_capacity(n_reads),
            begin: Vec::with_capacity(order.len() + 1),
            suspects: Vec::new(),
            stale: Vec::new(),
            is_stale: vec![false; history.n_keys()],
        };
        let mut versions = vec![[Version::INITIAL; REMEMBERED]; history.n_keys()];
        let (kinds, keys, values) = (history.kinds(), history.keys(), history.values());
        // The last of several writers of a value may be the one that counts, wherever it is in the order.
        let current_counts = history.rules().duplicates != DuplicateRule::Last;
        for (place, &t) in order.iter().enumerate() {
            warm_up(history, order, place, |key| versions[key.index()][0].number);
            if initial.is_setup(t) {
                continue;
            }
            attendance.commits(t)?;
            story.order.push(t);
            let number = story.order.len() as u32;
            story.begin.push(story.reads.len() as u32);
            let n_doubts = story.suspects.len() + story.stale.len();
            for o in history.operation_range(t) {
                let (key, value) = (keys[o], values[o]);
                if kinds[o] == OperationKind::Write {
                    remember(&mut versions[key.index()], Version { value, number });
                    continue;
                }
                let (operation, known) = (OperationId::new(o), &versions[key.index()]);
                let there = known[0];
                let maker = if makers.is_empty() {
                    None
                } else {
                    makers.get(&operation)
                };
                if maker.is_none() && value == Value::UNRECORDED {
                    continue;
                }
                if maker.is_none() && there.number == number {
                    if there.value != value {
                        return Err(story
                            .complaint(operation, "does not return the last own write")
                            .into());
                    }
                    continue;
                }
                let named = if sources.named.is_empty() {
                    None
                } else {
                    sources.named.get(&operation).copied()
                };
                let older = match (maker, named) {
                    (None, None) if current_counts => position(history, known, key, value),
                    _ => None,
                };
                if let Some(older) = older {
                    let read = Read {
                        key,
                        from: known[older].number,
                        operation,
                    };
                    let between = known[..older].iter();
                    story.suspects.extend(between.map(|v| Suspect {
                        reader: number,
                        newer: v.number,
                        read,
                    }));
                    story.reads.push(read);
                    continue;
                }
                let from = match (maker, named) {
                    (Some(None), _) => 0,
                    (Some(Some(append)), _) => {
                        let writer = history.transaction_of(*append);
                        if !is_final(history, writer, *append) {
                            return Err(story
                                .complaint(operation, "returns no final version")
                                .into());
                        }
                        story.before(&attendance, operation, writer, number)?
                    }
                    (None, _) => {
                        let writer = named.or_else(|| (sources.others)(t, operation));
                        let writer = writer.ok_or_else(|| story.unknown_writer(operation))?;
                        story.written_by(initial, &attendance, operation, writer, number)?
                    }
                };
                let read = Read {
                    key,
                    from,
                    operation,
                };
                // The value of a list says too little about the version.
                if maker.is_some() || from != there.number {
                    story.stale.push((number, read));
                    story.is_stale[key.index()] = true;
                }
                story.reads.push(read);
            }
            if matches!(sight, Sight::ReadBefore | Sight::OneStep)
                && story.suspects.len() + story.stale.len() == n_doubts
            {
                // There is nothing to check for this transaction.
                story
                    .reads
                    .truncate(story.begin[number as usize - 1] as usize);
            }
        }
        attendance.is_complete()?;
        story.begin.push(story.reads.len() as u32);
        story.number = attendance.number;
        Ok(story)
    }

    fn complaint(&self, read: OperationId, what: &str) -> String {
        let name = self
            .history
            .transaction_name(self.history.transaction_of(read));
        format!("{} of {name} {what}", self.history.operation_text(read))
    }

    fn unknown_writer(&self, read: OperationId) -> Flaw {
        let (text, name) = (
            self.history.operation_text(read),
            self.history.transaction_of(read),
        );
        let name = self.history.transaction_name(name);
        Flaw::Wrong(format!(
            "it does not say who wrote what {text} of {name} returned"
        ))
    }

    /// The place of a writer, which must be before that of the reader.
    fn before(
        &self,
        attendance: &Attendance<'_>,
        read: OperationId,
        writer: TransactionId,
        reader: u32,
    ) -> Result<u32, Flaw> {
        match attendance.number[writer.index()] {
            from if (1..reader).contains(&from) => Ok(from),
            _ => Err(self.complaint(read, "stands before its writer").into()),
        }
    }

    /// The place of the claimed writer of a read, whose final version of the key must be what was read.
    fn written_by(
        &self,
        initial: &Initial,
        attendance: &Attendance<'_>,
        read: OperationId,
        writer: TransactionId,
        reader: u32,
    ) -> Result<u32, Flaw> {
        let history = self.history;
        let operation = history.operation(read);
        let wrong = || {
            self.complaint(
                read,
                "returns no committed, final version of another transaction",
            )
        };
        if writer.is_initial() {
            return if history.may_be_initial(operation.key, operation.value) {
                Ok(0)
            } else {
                Err(wrong().into())
            };
        }
        let last = writes_of(history, writer, operation.key).last();
        let is_there = last.is_some_and(|last| history.operation(last).value == operation.value);
        if !is_there || initial.is_setup(writer) {
            return Err(wrong().into());
        }
        self.before(attendance, read, writer, reader)
    }

    /// By key: the places of the transactions that write it, ascending. O(operations).
    pub(super) fn versions(&self) -> Vec<Vec<u32>> {
        let mut versions: Vec<Vec<u32>> = vec![Vec::new(); self.history.n_keys()];
        for (number, &t) in (1..).zip(&self.order) {
            for o in self.history.operation_range(t) {
                let of_key = &mut versions[self.history.keys()[o].index()];
                if self.history.kinds()[o] == OperationKind::Write && of_key.last() != Some(&number)
                {
                    of_key.push(number);
                }
            }
        }
        versions
    }

    /// The reads of the transaction at a place, in program order.
    pub(super) fn reads_at(&self, number: u32) -> &[Read] {
        &self.reads[self.begin[number as usize - 1] as usize..self.begin[number as usize] as usize]
    }

    /// The error that a read returns a version overwritten by a transaction that its reader sees.
    pub(super) fn overwritten(&self, read: Read, by: u32) -> Flaw {
        let by = self.history.transaction_name(self.order[by as usize - 1]);
        let what = format!("returns a version older than that of {by}, which it sees");
        Flaw::Wrong(self.complaint(read.operation, &what))
    }

    /// No stale read returns a version that was overwritten by a transaction that its reader reads from, as far as that
    /// other read counts.
    pub(super) fn not_overwritten(
        &self,
        counts: impl Fn(&Read, &Read) -> bool + Sync,
    ) -> Result<(), Flaw> {
        let is_seen = |suspect: &&Suspect| {
            let seen = |seen: &Read| seen.from == suspect.newer && counts(seen, &suspect.read);
            self.reads_at(suspect.reader).iter().any(seen)
        };
        if let Some(suspect) = self
            .suspects
            .par_iter()
            .with_min_len(4096)
            .find_any(is_seen)
        {
            return Err(self.overwritten(suspect.read, suspect.newer));
        }
        let of_transactions: Vec<&[(u32, Read)]> = self.stale.chunk_by(|a, b| a.0 == b.0).collect();
        of_transactions
            .par_iter()
            .with_min_len(256)
            .try_for_each_init(
                || Writers {
                    history: self.history,
                    long: FxHashMap::default(),
                },
                |writers, stale| {
                    for &(number, read) in *stale {
                        for seen in self.reads_at(number) {
                            if seen.from > read.from
                                && counts(seen, &read)
                                && writers.write(self.order[seen.from as usize - 1], read.key)
                            {
                                return Err(self.overwritten(read, seen.from));
                            }
                        }
                    }
                    Ok(())
                },
            )?;
        Ok(self.control.check()?)
    }

    /// No stale read returns a version that an earlier transaction of its session has overwritten. O(operations).
    pub(super) fn not_overwritten_in_sessions(&self) -> Result<(), Flaw> {
        let history = self.history;
        let session = |number: u32| history.session_of(self.order[number as usize - 1]);
        let is_seen = |suspect: &&Suspect| session(suspect.newer) == session(suspect.reader);
        if let Some(suspect) = self
            .suspects
            .par_iter()
            .with_min_len(4096)
            .find_any(is_seen)
        {
            return Err(self.overwritten(suspect.read, suspect.newer));
        }
        if self.stale.is_empty() {
            return Ok(());
        }
        let sessions: Vec<_> = history.sessions().collect();
        sessions.par_iter().try_for_each_init(
            || vec![(u32::MAX, 0u32); history.n_keys()],
            |last, session| {
                self.control.check()?;
                for t in history.transactions_of(*session) {
                    let number = self.number[t.index()];
                    if number == 0 {
                        continue;
                    }
                    for read in self
                        .reads_at(number)
                        .iter()
                        .filter(|read| self.is_stale[read.key.index()])
                    {
                        let (written_in, by) = last[read.key.index()];
                        if written_in == session.0 && by > read.from {
                            return Err(self.overwritten(*read, by));
                        }
                    }
                    for o in history.operation_range(t) {
                        let key = history.keys()[o].index();
                        if self.is_stale[key] && history.kinds()[o] == OperationKind::Write {
                            last[key] = (session.0, number);
                        }
                    }
                }
                Ok(())
            },
        )
    }
}

/// Adds a version; only the last of one transaction counts.
fn remember(versions: &mut Versions, version: Version) {
    if versions[0].number != version.number {
        versions.copy_within(..REMEMBERED - 1, 1);
    }
    versions[0] = version;
}

/// The place of the newest of these versions that a read may return.
fn position(history: &History, versions: &Versions, key: KeyId, value: Value) -> Option<usize> {
    // Entries after the initial version are not filled yet.
    let n = versions
        .iter()
        .position(|version| version.number == 0)
        .map_or(REMEMBERED, |initial| initial + 1);
    versions[..n]
        .iter()
        .position(|version| version.reads_as(history, key, value))
}

/// Whether a write is the last of its transaction to its key.
fn is_final(history: &History, writer: TransactionId, write: OperationId) -> bool {
    writes_of(history, writer, history.operation(write).key).all(|o| o <= write)
}

/// Which transactions write which key.
struct Writers<'a> {
    history: &'a History,
    /// The keys that some long transactions write.
    long: FxHashMap<TransactionId, FxHashSet<KeyId>>,
}

impl Writers<'_> {
    /// Whether a transaction writes a key. O(operations), for long ones only the first time.
    fn write(&mut self, t: TransactionId, key: KeyId) -> bool {
        let history = self.history;
        let written =
            |o: usize| (history.kinds()[o] == OperationKind::Write).then_some(history.keys()[o]);
        let mut all = history.operation_range(t).filter_map(written);
        if all.size_hint().1.is_some_and(|most| most > LONG) {
            self.long
                .entry(t)
                .or_insert_with(|| all.collect())
                .contains(&key)
        } else {
            all.any(|other| other == key)
        }
    }
}
