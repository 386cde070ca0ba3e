//! The source of each read, determined independently from the values.

use super::basis::Basis;
use super::initial::Initial;
use super::{lists, rows};
use isoscope_model::history::{
    DuplicateRule, History, KeyId, Operation, OperationId, OperationKind, Outcome, TransactionId,
    Value,
};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The source of the value of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The file does not say what was read.
    Unrecorded,
    /// The transaction's own last write before the read.
    Own,
    /// An own write that was overwritten before the read.
    OverwrittenOwn,
    /// An own write after the read, and no other transaction's.
    Future,
    /// Only aborted transactions wrote the value, and one of them may have been seen.
    Aborted,
    /// No transaction had written the value.
    ThinAir,
    /// Another transaction, or ⊥.
    Other {
        /// The writer.
        writer: TransactionId,
        /// The reader had written the key before.
        after_own_write: bool,
        /// The writer wrote the key again.
        intermediate: bool,
    },
    /// Several others wrote the value, and the reader had written the key before: whichever it was, the read is wrong.
    OpenAfterOwnWrite,
    /// Several transactions wrote the value.
    Ambiguous,
}

/// Possible sources of one read: the first in the order of the file, and whether there are several.
#[derive(Clone, Copy, Debug, Default)]
struct Candidates {
    first: Option<(TransactionId, OperationId)>,
    several: bool,
}

impl Candidates {
    /// Adds a writer; writes come last first, so the later of two calls is for the earlier writer in the file.
    fn add(&mut self, writer: TransactionId, write: OperationId) {
        match self.first {
            Some((same, _)) if same == writer => {}
            known => {
                self.several |= known.is_some();
                self.first = Some((writer, write));
            }
        }
    }
}

/// No operation, end of a chain.
const END: u32 = u32::MAX;

/// A value with more writers than this stays ambiguous without examining all of them.
const LONG_CHAIN: usize = 64;

/// The writes of the values that reads returned.
pub(super) enum Join {
    /// Of all values.
    Whole {
        /// By operation: its transaction.
        owner: Vec<u32>,
        /// The last write of a value to a key in the order of operations; the others follow by `previous`.
        last_write: FxHashMap<(u32, u64), u32>,
        /// By write: the previous write of the same value to the same key.
        previous: Vec<u32>,
        /// By read: the last write of its transaction to its key before it. By write: [`END`] when it is the
        /// transaction's last to its key, else the next one.
        neighbour: Vec<u32>,
        /// By transaction: committed, or unknown but seen by a member.
        member: Vec<bool>,
        /// By transaction: whether it is a member where every writer of a value counts.
        cut_member: Vec<bool>,
    },
    /// Of some: by key and value the writes, last first.
    Some(FxHashMap<(u32, u64), Vec<u32>>),
}

impl Join {
    /// Joins all reads with all writes. O(operations).
    fn whole(history: &History) -> Join {
        let n = history.n_operations();
        let mut owner = vec![0; n];
        let mut last_write = FxHashMap::default();
        let (mut previous, mut neighbour) = (vec![END; n], vec![END; n]);
        // By key: the transaction that touched it last, and its last write of it.
        let mut own_write = vec![(END, END); history.n_keys()];
        for t in history.transactions() {
            for o in history.operation_range(t) {
                owner[o] = t.0;
                let own = &mut own_write[history.keys()[o].index()];
                let before = if own.0 == t.0 { own.1 } else { END };
                if history.kinds()[o] == OperationKind::Read {
                    neighbour[o] = before;
                    continue;
                }
                if before != END {
                    neighbour[before as usize] = o as u32;
                }
                *own = (t.0, o as u32);
                let at = (history.keys()[o].0, history.values()[o].0);
                previous[o] = last_write.insert(at, o as u32).unwrap_or(END);
            }
        }
        Join::Whole {
            owner,
            last_write,
            previous,
            neighbour,
            member: Vec::new(),
            cut_member: Vec::new(),
        }
    }

    /// Joins these reads with all writes. O(operations + reads).
    pub(super) fn of(history: &History, reads: impl Iterator<Item = OperationId>) -> Join {
        let mut is_asked = vec![false; history.n_keys()];
        let mut writes: FxHashMap<(u32, u64), Vec<u32>> = FxHashMap::default();
        for read in reads {
            let o = history.operation(read);
            is_asked[o.key.index()] = true;
            writes.entry((o.key.0, o.value.0)).or_default();
        }
        let (kinds, keys, values) = (history.kinds(), history.keys(), history.values());
        for o in (0..history.n_operations()).rev() {
            if kinds[o] == OperationKind::Write
                && is_asked[keys[o].index()]
                && let Some(writes) = writes.get_mut(&(keys[o].0, values[o].0))
            {
                writes.push(o as u32);
            }
        }
        Join::Some(writes)
    }
}

/// The sources of the reads of one history.
pub(super) struct Resolution<'a> {
    history: &'a History,
    initial: Arc<Initial>,
    join: Arc<Join>,
    /// By key that scans read: its writes, last first; computed on demand.
    of_rows: OnceLock<FxHashMap<u32, Vec<u32>>>,
    /// The join lacked some information: later answers are meaningless.
    missed: AtomicBool,
}

impl<'a> Resolution<'a> {
    /// Of all reads. O(operations).
    #[cfg(test)]
    pub(super) fn new(history: &'a History) -> Resolution<'a> {
        let control = isoscope_model::control::Control::new();
        Resolution::whole(history, Arc::new(Initial::new(history, &control)))
    }

    /// Of all reads, given the initial state: in a case it is that of the history as it was read, whatever more is known there.
    /// O(operations).
    pub(super) fn whole(history: &'a History, initial: Arc<Initial>) -> Resolution<'a> {
        let mut resolution = Resolution::by(history, initial, Arc::new(Join::whole(history)));
        let members: Vec<bool> = history
            .transactions()
            .map(|t| history.outcome(t) == Outcome::Committed && !resolution.is_setup(t))
            .collect();
        let (all, fair) = (
            resolution.promoted(Basis::AllWriters, &members),
            resolution.promoted(Basis::FairWriters, &members),
        );
        if let Some(Join::Whole {
            member, cut_member, ..
        }) = Arc::get_mut(&mut resolution.join)
        {
            (*member, *cut_member) = (fair, all);
        }
        resolution
    }

    /// Of the reads that a join knows; see [`Resolution::has_missed`].
    pub(super) fn by(
        history: &'a History,
        initial: Arc<Initial>,
        join: Arc<Join>,
    ) -> Resolution<'a> {
        Resolution {
            history,
            initial,
            join,
            of_rows: OnceLock::new(),
            missed: AtomicBool::new(false),
        }
    }

    /// Whether the join lacked any information, so that the answers are meaningless.
    pub(super) fn has_missed(&self) -> bool {
        self.missed.load(Ordering::Relaxed)
    }

    /// The initial state.
    pub(super) fn initial(&self) -> &Initial {
        &self.initial
    }

    /// The initial state, for a case.
    pub(super) fn shared_initial(&self) -> Arc<Initial> {
        Arc::clone(&self.initial)
    }

    /// Its join, for another resolution of the same history.
    pub(super) fn join(&self) -> Arc<Join> {
        Arc::clone(&self.join)
    }

    /// The appends with which every list of a key begins.
    pub(super) fn initial_appends(&self, key: KeyId) -> &[OperationId] {
        self.initial.appends(key)
    }

    /// The elements with which every list of a key begins.
    pub(super) fn initial_elements(&self, key: KeyId) -> impl Iterator<Item = Value> + '_ {
        self.initial.elements(self.history, key)
    }

    /// Whether a transaction is a member: committed, or unknown but seen; not part of the setup.
    pub(super) fn is_member(&self, t: TransactionId) -> bool {
        self.is_member_on(t, Basis::FairWriters)
    }

    /// Whether a transaction is a member, by what may be concluded.
    pub(super) fn is_member_on(&self, t: TransactionId, basis: Basis) -> bool {
        if t.is_initial() {
            return true;
        }
        match &*self.join {
            Join::Whole { cut_member, .. } if basis == Basis::AllWriters => cut_member[t.index()],
            Join::Whole { member, .. } => member[t.index()],
            Join::Some(_) => {
                let outcome = self.history.outcome(t);
                if outcome == Outcome::Unknown {
                    self.missed.store(true, Ordering::Relaxed);
                }
                outcome == Outcome::Committed && !self.is_setup(t)
            }
        }
    }

    /// Whether a transaction only sets up initial versions and counts as part of ⊥.
    pub(super) fn is_setup(&self, t: TransactionId) -> bool {
        self.initial.is_setup(t)
    }

    /// All writes that explain what a read returned, last first.
    fn writes_for(
        &self,
        read: OperationId,
        o: Operation,
    ) -> impl Iterator<Item = OperationId> + '_ {
        let is_of_scan = o.value.is_of_scan();
        let of_row = is_of_scan.then(|| self.writes_of_row(o.key));
        let explains = move |w: &OperationId| {
            let version = self.history.values()[w.index()];
            rows::explains(self.history, read, o.value, Some(version))
        };
        let of_value = (!is_of_scan).then(|| self.writes(o.key.0, o.value.0));
        let of_row = of_row.into_iter().flatten().copied().map(OperationId);
        of_row
            .filter(explains)
            .chain(of_value.into_iter().flatten())
    }

    /// All writes of a key that scans read, last first.
    fn writes_of_row(&self, key: KeyId) -> &[u32] {
        let of_rows = self.of_rows.get_or_init(|| {
            let (kinds, keys) = (self.history.kinds(), self.history.keys());
            let reads = self
                .history
                .scans()
                .iter()
                .flat_map(|scan| scan.reads.clone());
            let mut of_rows: FxHashMap<u32, Vec<u32>> =
                reads.map(|o| (keys[o as usize].0, Vec::new())).collect();
            for o in (0..self.history.n_operations()).rev() {
                if kinds[o] == OperationKind::Write
                    && let Some(writes) = of_rows.get_mut(&keys[o].0)
                {
                    writes.push(o as u32);
                }
            }
            of_rows
        });
        of_rows.get(&key.0).map_or(&[], Vec::as_slice)
    }

    /// Whether every version that a read of a row may have found explains it.
    fn says_nothing(&self, read: OperationId, o: Operation) -> bool {
        let t = self.owner(read);
        o.value.is_of_scan() && {
            let writes = self.writes_of_row(o.key).iter().copied().map(OperationId);
            let of_others = writes.filter(|&w| {
                let writer = self.owner(w);
                writer != t
                    && !self.is_setup(writer)
                    && self.history.outcome(writer) != Outcome::Aborted
                    && self.is_final(w)
            });
            let versions = of_others.map(|w| self.history.values()[w.index()]);
            rows::says_nothing(self.history, read, versions)
        }
    }

    /// All writes of a value to a key, last first.
    fn writes(&self, key: u32, value: u64) -> impl Iterator<Item = OperationId> + '_ {
        let mut chain = END;
        let mut listed: &[u32] = &[];
        match &*self.join {
            Join::Whole { last_write, .. } => {
                chain = last_write.get(&(key, value)).copied().unwrap_or(END)
            }
            Join::Some(writes) => match writes.get(&(key, value)) {
                Some(writes) => listed = writes,
                None => self.missed.store(true, Ordering::Relaxed),
            },
        }
        let before = |&o: &u32| match &*self.join {
            Join::Whole { previous, .. } => Some(previous[o as usize]).filter(|&p| p != END),
            Join::Some(_) => None,
        };
        let chained = std::iter::successors(Some(chain).filter(|&o| o != END), before);
        chained.chain(listed.iter().copied()).map(OperationId)
    }

    /// The writers of a value to a key, whatever their outcome; each as often as it wrote it.
    pub(super) fn appenders(&self, key: KeyId, value: Value) -> Vec<TransactionId> {
        self.writes(key.0, value.0).map(|w| self.owner(w)).collect()
    }

    /// The writes of a value to a key by transactions that did not abort.
    pub(super) fn committed_appends(&self, key: KeyId, value: Value) -> Vec<OperationId> {
        let committed = |w: &OperationId| self.history.outcome(self.owner(*w)) != Outcome::Aborted;
        self.writes(key.0, value.0).filter(committed).collect()
    }

    /// The only transaction that wrote a value to a key and did not abort, if there is exactly one.
    pub(super) fn only_appender(&self, key: KeyId, value: Value) -> Option<TransactionId> {
        let mut writers = self.appenders(key, value);
        writers.retain(|&w| self.history.outcome(w) != Outcome::Aborted);
        writers.dedup();
        match *writers.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }

    /// A read as far as it concerns other transactions: with the value that its transaction found, and its last own
    /// write of the key before it. A list is found without the own appends at its end, which say nothing about others.
    pub(super) fn seen(&self, read: OperationId) -> (Operation, Option<u32>) {
        let mut o = self.history.operation(read);
        let mut own_last = self.own_write_before(read);
        if let Some((list, own_are_last)) = lists::found(self.history, self.owner(read), read) {
            o.value = list.last().copied().unwrap_or(Value::INITIAL);
            own_last = own_last.filter(|_| !own_are_last);
        }
        (o, own_last)
    }

    /// Whether only the last of several writers of a value counts.
    fn last_counts(&self) -> bool {
        self.history.rules().duplicates == DuplicateRule::Last && !self.history.has_rows()
    }

    /// Whether a write is its transaction's last to its key: the version others may see.
    pub(super) fn is_final(&self, write: OperationId) -> bool {
        match &*self.join {
            Join::Whole { neighbour, .. } => neighbour[write.index()] == END,
            Join::Some(_) => self.own_writes(write).last() == Some(write),
        }
    }

    /// The last write to its key by the transaction of a read before it.
    fn own_write_before(&self, read: OperationId) -> Option<u32> {
        match &*self.join {
            Join::Whole { neighbour, .. } => Some(neighbour[read.index()]).filter(|&w| w != END),
            Join::Some(_) => self
                .own_writes(read)
                .take_while(|&o| o < read)
                .last()
                .map(|o| o.0),
        }
    }

    /// The writes of the transaction of an operation to its key.
    fn own_writes(&self, operation: OperationId) -> impl Iterator<Item = OperationId> + '_ {
        let key = self.history.operation(operation).key;
        let is_own = move |o: &OperationId| {
            self.history.kinds()[o.index()] == OperationKind::Write
                && self.history.keys()[o.index()] == key
        };
        self.history
            .operations_of(self.owner(operation))
            .filter(is_own)
    }

    pub(super) fn owner(&self, operation: OperationId) -> TransactionId {
        match &*self.join {
            Join::Whole { owner, .. } => TransactionId(owner[operation.index()]),
            Join::Some(_) => self.history.transaction_of(operation),
        }
    }

    /// Unknown transactions are members when a member reads what only they can have written; their own reads then count
    /// too. O(operations).
    fn promoted(&self, basis: Basis, members: &[bool]) -> Vec<bool> {
        let mut member = members.to_vec();
        if self
            .history
            .transactions()
            .all(|t| self.history.outcome(t) != Outcome::Unknown)
        {
            return member;
        }
        let mut waiting: Vec<TransactionId> = self
            .history
            .transactions()
            .filter(|&t| member[t.index()])
            .collect();
        while let Some(t) = waiting.pop() {
            let of_lists: Vec<TransactionId> = self.listed_writers(t).collect();
            for writer in self.known_writers(t, basis).chain(of_lists) {
                if !writer.is_initial() && !std::mem::replace(&mut member[writer.index()], true) {
                    waiting.push(writer);
                }
            }
        }
        member
    }

    /// The only appenders of elements that a transaction found in lists after the setup.
    pub(super) fn listed_writers(
        &self,
        t: TransactionId,
    ) -> impl Iterator<Item = TransactionId> + '_ {
        let lists = self.history.operations_of(t).filter_map(move |o| {
            Some((
                self.history.operation(o).key,
                lists::found(self.history, t, o)?.0,
            ))
        });
        lists.flat_map(move |(key, list)| {
            let initial: Vec<Value> = self.initial_elements(key).collect();
            // A list that does not begin with the setup may have it anywhere.
            let is_appended = |(place, element): (usize, Value)| {
                if list.starts_with(&initial) {
                    place >= initial.len()
                } else {
                    !initial.contains(&element)
                }
            };
            let appended = (0..)
                .zip(list.iter().copied())
                .filter(|&element| is_appended(element));
            appended
                .filter_map(|(_, element)| self.only_late_appender(key, element))
                .collect::<Vec<_>>()
        })
    }

    /// The only transaction that appended an element, did not abort, and sets nothing up.
    fn only_late_appender(&self, key: KeyId, element: Value) -> Option<TransactionId> {
        let mut writers = self.appenders(key, element);
        writers.retain(|&w| self.history.outcome(w) != Outcome::Aborted && !self.is_setup(w));
        writers.dedup();
        if let [one] = *writers.as_slice() {
            Some(one)
        } else {
            None
        }
    }

    /// The transactions that a transaction must have read from.
    pub(super) fn known_writers(
        &self,
        t: TransactionId,
        basis: Basis,
    ) -> impl Iterator<Item = TransactionId> + '_ {
        let is_read = |o: &OperationId| self.history.kinds()[o.index()] == OperationKind::Read;
        self.history
            .operations_of(t)
            .filter(is_read)
            .filter_map(move |read| match basis {
                Basis::AllWriters => self.only_writer(read),
                Basis::FairWriters => match self.source(read) {
                    Source::Other { writer, .. } => Some(writer),
                    _ => None,
                },
            })
    }

    /// Whether a read returns an earlier write of its own transaction, or says nothing.
    fn is_own(&self, read: OperationId) -> bool {
        let (o, own_last) = self.seen(read);
        o.value == Value::UNRECORDED
            || own_last.is_some() && self.wrote_before(read)
            || own_last.is_none() && self.says_nothing(read, o)
    }

    /// Whether the transaction of a read wrote its value before it. O(operations of the transaction).
    fn wrote_before(&self, read: OperationId) -> bool {
        let (o, _) = self.seen(read);
        let mut before = self
            .history
            .operations_of(self.owner(read))
            .take_while(|&own| own < read);
        before.any(|own| {
            let own = self.history.operation(own);
            own.kind == OperationKind::Write
                && own.key == o.key
                && rows::explains(self.history, read, o.value, Some(own.value))
        })
    }

    /// Every other transaction that may have committed and wrote the value of a read, and ⊥ where the value may be
    /// initial; some may come twice. None if the read returns a write of its own transaction.
    pub(super) fn each_writer(
        &self,
        read: OperationId,
    ) -> impl Iterator<Item = TransactionId> + '_ {
        let (o, _) = self.seen(read);
        let t = self.owner(read);
        let may_be_meant = move |w: &TransactionId| {
            *w != t && self.history.outcome(*w) != Outcome::Aborted && !self.is_setup(*w)
        };
        let is_own = self.is_own(read);
        let may_be_initial = !is_own && rows::explains(self.history, read, o.value, None);
        let initial = may_be_initial.then_some(TransactionId::INITIAL);
        let writes = (!is_own).then(|| self.writes_for(read, o));
        let writes = writes.into_iter().flatten();
        let explicit = writes.map(|w| self.owner(w)).filter(may_be_meant);
        // Writes come last first, ⊥ after all of them.
        let most = if self.last_counts() { 1 } else { usize::MAX };
        explicit.chain(initial).take(most)
    }

    /// [`each_writer`](Resolution::each_writer), each once. O(writes of the value · log).
    pub(super) fn writers(&self, read: OperationId) -> Vec<TransactionId> {
        let mut writers: Vec<TransactionId> = self.each_writer(read).collect();
        writers.sort_unstable();
        writers.dedup();
        writers
    }

    /// Those of them that count: above cut isolation not those that violate read committed by themselves, because they
    /// overwrote the version or come later in the session of the reader.
    pub(super) fn writers_on(&self, read: OperationId, basis: Basis) -> Vec<TransactionId> {
        let mut writers = self.writers(read);
        if basis == Basis::FairWriters {
            let t = self.owner(read);
            writers.retain(|&writer| {
                let is_later =
                    || self.history.session_of(writer) == self.history.session_of(t) && writer > t;
                writer.is_initial()
                    || !is_later()
                        && !matches!(
                            self.source_with(read, writer),
                            Source::Other {
                                intermediate: true,
                                ..
                            }
                        )
            });
        }
        writers
    }

    /// Whether another transaction may have written what a read returned.
    pub(super) fn has_writers(&self, read: OperationId) -> bool {
        self.each_writer(read).next().is_some()
    }

    /// The only other transaction (or ⊥) that may have written what a read returned, if there is exactly one.
    fn only_writer(&self, read: OperationId) -> Option<TransactionId> {
        let mut writers = self.each_writer(read);
        let first = writers.next()?;
        writers.all(|writer| writer == first).then_some(first)
    }

    /// The source of a read if `writer`, one of its [`writers`](Self::writers), wrote it.
    pub(super) fn source_with(&self, read: OperationId, writer: TransactionId) -> Source {
        let (o, own_last) = self.seen(read);
        // The last of one transaction's writes of one value is found first.
        let last = self.writes_for(read, o).find(|&w| self.owner(w) == writer);
        let after_own_write = own_last.is_some();
        Source::Other {
            writer,
            after_own_write,
            intermediate: last.is_some_and(|write| !self.is_final(write)),
        }
    }

    /// Whether a transaction may have seen another one: not if it had ended before that one began.
    pub(super) fn may_have_seen(&self, reader: TransactionId, writer: TransactionId) -> bool {
        let known_end = self
            .history
            .interval(reader)
            .filter(|_| self.history.outcome(reader) != Outcome::Unknown);
        match (known_end, self.history.interval(writer)) {
            (Some(read), Some(written)) => read.end >= written.start,
            _ => true,
        }
    }

    /// The source of a read. O(writes of its value), bounded for values that many transactions write.
    pub(super) fn source(&self, read: OperationId) -> Source {
        let history = self.history;
        let (o, own_last) = self.seen(read);
        if o.value == Value::UNRECORDED {
            return Source::Unrecorded;
        }
        let t = self.owner(read);
        if o.value == Value::TWICE && !rows::is_listed_in_vain(history, read) {
            return Source::Ambiguous;
        }
        let explains = |w: u32| {
            let version = history.values()[w as usize];
            rows::explains(history, read, o.value, Some(version))
        };
        if own_last.is_some_and(explains) {
            return Source::Own;
        }
        if own_last.is_none() && self.says_nothing(read, o) {
            return Source::Unrecorded;
        }
        let (mut own_before, mut own_after, mut aborted) = (false, false, false);
        // A source that by itself violates RC (a version its writer overwrote, a writer later in the reader's session)
        // is excluded where there is one that does not.
        let mut fair = Candidates::default();
        let mut all = Candidates::default();
        for (n, w) in self.writes_for(read, o).enumerate() {
            if fair.several && n >= LONG_CHAIN {
                own_before = own_last.is_some() && self.wrote_before(read);
                break;
            }
            let writer = self.owner(w);
            if writer == t {
                own_before |= w < read;
                own_after |= w > read;
            } else if self.is_setup(writer) {
                continue;
            } else if history.outcome(writer) == Outcome::Aborted {
                aborted |= self.may_have_seen(t, writer);
            } else if !(self.last_counts() && all.first.is_some()) {
                all.add(writer, w);
                let later = history.session_of(writer) == history.session_of(t) && writer > t;
                if self.is_final(w) && !later {
                    fair.add(writer, w);
                }
            }
        }
        let initial = rows::explains(history, read, o.value, None);
        // An element before all own appends in a list came from another transaction, if any other may have appended it.
        let is_of_another = own_last.is_none() && (initial || all.first.is_some());
        if own_before && !is_of_another {
            return Source::OverwrittenOwn;
        }
        let initial = initial && !(self.last_counts() && all.first.is_some());
        let after_own_write = own_last.is_some();
        let several = all.several || initial && all.first.is_some();
        if several && after_own_write {
            return Source::OpenAfterOwnWrite;
        }
        if several && (fair.several || initial == fair.first.is_some()) {
            return Source::Ambiguous;
        }
        let other = |writer, intermediate| Source::Other {
            writer,
            after_own_write,
            intermediate,
        };
        match fair.first.or(all.first) {
            _ if initial => other(TransactionId::INITIAL, false),
            // The last of one transaction's writes of one value is found first.
            Some((writer, write)) => other(writer, !self.is_final(write)),
            None if own_after => Source::Future,
            None if aborted => Source::Aborted,
            None => Source::ThinAir,
        }
    }
}
