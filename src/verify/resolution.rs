//! Where each read comes from, worked out anew from the values.

use super::lists;
use crate::history::{History, KeyId, OperationId, OperationKind, Outcome, SetUpRule, TransactionId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Where the value of a read comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The file does not say what was read.
    Unrecorded,
    /// The transaction's own last write before the read.
    Own,
    /// An own write that was overwritten before the read.
    OverwrittenOwn,
    /// An own write after the read, and nobody else's.
    Future,
    /// Only aborted transactions wrote the value.
    Aborted,
    /// Nobody wrote the value.
    ThinAir,
    /// Another transaction, or ⊥.
    Other {
        /// Who.
        writer: TransactionId,
        /// The reader had written the key before.
        after_own_write: bool,
        /// The writer wrote the key again.
        intermediate: bool,
    },
    /// Several others wrote the value, and the reader had written the key before: whoever it was, the read is wrong.
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
    /// Adds a writer; writes come last first, so of two writers the later call is the earlier in the file.
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

/// A value with more writers than this stays ambiguous without a look at all of them.
const LONG_CHAIN: usize = 64;

/// The sources of all reads of one history.
pub(super) struct Resolution<'a> {
    history: &'a History,
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
    /// By transaction: one of the set-up transactions that only write initial versions.
    setup: Vec<bool>,
}

impl<'a> Resolution<'a> {
    /// Joins all reads with all writes. O(operations).
    pub(super) fn new(history: &'a History) -> Resolution<'a> {
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
        let member = history.transactions().map(|t| history.outcome(t) == Outcome::Committed).collect();
        let setup = vec![false; history.n_transactions()];
        let mut resolution = Resolution { history, owner, last_write, previous, neighbour, member, setup };
        resolution.find_setup();
        resolution.promote();
        resolution
    }

    /// Whether a transaction takes part: committed, or unknown but seen.
    pub(super) fn is_member(&self, t: TransactionId) -> bool {
        t.is_initial() || self.member[t.index()]
    }

    /// Whether a transaction only sets up initial versions and counts as part of ⊥.
    pub(super) fn is_setup(&self, t: TransactionId) -> bool {
        !t.is_initial() && self.setup[t.index()]
    }

    /// All writes of a value to a key, last first.
    fn writes(&self, key: u32, value: u64) -> impl Iterator<Item = OperationId> + '_ {
        let first = self.last_write.get(&(key, value)).copied().filter(|&o| o != END);
        std::iter::successors(first, |&o| Some(self.previous[o as usize]).filter(|&p| p != END)).map(OperationId)
    }

    /// Who wrote a value to a key, whatever became of them; each as often as they wrote it.
    pub(super) fn writers(&self, key: KeyId, value: Value) -> Vec<TransactionId> {
        self.writes(key.0, value.0).map(|w| self.owner(w)).collect()
    }

    /// The only transaction that wrote a value to a key and did not abort, if there is exactly one.
    pub(super) fn only_writer(&self, key: KeyId, value: Value) -> Option<TransactionId> {
        let mut writers = self.writers(key, value);
        writers.retain(|&w| self.history.outcome(w) != Outcome::Aborted);
        writers.dedup();
        match *writers.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }

    /// Whether some value was written to a key by several transactions, or written and initial.
    pub(super) fn has_ambiguous_reads(&self) -> bool {
        let history = self.history;
        let several = |o: OperationId| {
            let Some(earlier) = Some(self.previous[o.index()]).filter(|&p| p != END) else { return false };
            self.owner(OperationId(earlier)) != self.owner(o)
        };
        (0..history.n_operations()).map(OperationId::new).any(|o| {
            let is_write = history.kinds()[o.index()] == OperationKind::Write && !self.is_setup(self.owner(o));
            is_write && (several(o) || history.may_be_initial(history.keys()[o.index()], history.values()[o.index()]))
        })
    }

    /// Whether a write is its transaction's last to its key: the version others may see.
    pub(super) fn is_final(&self, write: OperationId) -> bool {
        self.neighbour[write.index()] == END
    }

    pub(super) fn owner(&self, operation: OperationId) -> TransactionId {
        TransactionId(self.owner[operation.index()])
    }

    /// Unknown transactions take part when a member reads what only they can have written; their own reads then count
    /// too. O(operations).
    fn promote(&mut self) {
        if self.history.transactions().all(|t| self.history.outcome(t) != Outcome::Unknown) {
            return;
        }
        let mut waiting: Vec<TransactionId> = self.history.transactions().filter(|&t| self.member[t.index()]).collect();
        while let Some(t) = waiting.pop() {
            for o in self.history.operations_of(t) {
                if self.history.kinds()[o.index()] != OperationKind::Read {
                    continue;
                }
                let mut seen: Vec<TransactionId> = Vec::new();
                if let Source::Other { writer, .. } = self.source(o) {
                    seen.push(writer);
                }
                if let Some((list, _)) = lists::found(self.history, t, o) {
                    let key = self.history.operation(o).key;
                    seen.extend(list.iter().filter_map(|&element| self.only_writer(key, element)));
                }
                for writer in seen.into_iter().filter(|writer| !writer.is_initial()) {
                    if !std::mem::replace(&mut self.member[writer.index()], true) {
                        waiting.push(writer);
                    }
                }
            }
        }
    }

    /// The set-up transactions, which count as part of ⊥: those that are declared, else they committed, write the initial value only, stand at the
    /// beginning of their sessions and write each key that is used exactly once among them, while nobody else who may
    /// have committed writes an initial value. O(operations).
    fn find_setup(&mut self) {
        let history = self.history;
        if !history.set_up().is_empty() || history.rules().set_up == SetUpRule::Never {
            history.set_up().iter().for_each(|t| self.setup[t.index()] = true);
            return;
        }
        let Some(initial) = history.initial_value() else { return };
        let may_commit = |t: TransactionId| history.outcome(t) != Outcome::Aborted;
        let resets = |o: OperationId| {
            let o = history.operation(o);
            o.kind == OperationKind::Write && o.value == initial
        };
        let mut is_setup = vec![false; history.n_transactions()];
        for session in history.sessions() {
            let used =
                history.transactions_of(session).filter(|&t| may_commit(t) && history.operations_of(t).len() > 0);
            let prefix =
                used.take_while(|&t| history.outcome(t) == Outcome::Committed && history.operations_of(t).all(resets));
            prefix.for_each(|t| is_setup[t.index()] = true);
        }
        let mut set_up_by: Vec<Option<TransactionId>> = vec![None; history.n_keys()];
        for t in history.transactions().filter(|t| is_setup[t.index()]) {
            for o in history.operations_of(t) {
                let by = &mut set_up_by[history.operation(o).key.index()];
                if by.replace(t).is_some_and(|other| other != t) {
                    return;
                }
            }
        }
        let others = history.transactions().filter(|&t| may_commit(t) && !is_setup[t.index()]);
        let unfit = |o: OperationId| resets(o) || set_up_by[history.operation(o).key.index()].is_none();
        for t in others {
            if history.operations_of(t).any(unfit) {
                return;
            }
        }
        self.setup = is_setup;
    }

    /// The other transactions that may have committed and wrote the value of a read as their last.
    pub(super) fn candidates(&self, read: OperationId) -> impl Iterator<Item = TransactionId> + '_ {
        let o = self.history.operation(read);
        let t = self.owner(read);
        let fits = move |w: &OperationId| {
            let writer = self.owner(*w);
            writer != t && self.history.outcome(writer) != Outcome::Aborted && self.is_final(*w)
        };
        self.writes(o.key.0, o.value.0).filter(fits).map(|w| self.owner(w))
    }

    /// Whether both reads may return what one other transaction wrote. O(writes of their values).
    pub(super) fn may_share_writer(&self, first: OperationId, second: OperationId) -> bool {
        let writers = |read: OperationId| -> FxHashSet<TransactionId> {
            let o = self.history.operation(read);
            let may_be_meant =
                |w: &TransactionId| *w != self.owner(read) && self.history.outcome(*w) != Outcome::Aborted;
            let explicit = self.writes(o.key.0, o.value.0).map(|w| self.owner(w)).filter(may_be_meant);
            let initial = self.history.may_be_initial(o.key, o.value).then_some(TransactionId::INITIAL);
            explicit.map(|w| if self.is_setup(w) { TransactionId::INITIAL } else { w }).chain(initial).collect()
        };
        !writers(first).is_disjoint(&writers(second))
    }

    /// Where a read comes from. O(writes of its value), bounded for values that many transactions write.
    pub(super) fn source(&self, read: OperationId) -> Source {
        let history = self.history;
        let mut o = history.operation(read);
        if o.value == Value::UNRECORDED {
            return Source::Unrecorded;
        }
        let t = self.owner(read);
        let mut own_last = Some(self.neighbour[read.index()]).filter(|&w| w != END);
        if let Some((list, own_are_last)) = lists::found(history, t, read) {
            // What the transaction appended itself says nothing; what it found before counts.
            o.value = list.last().copied().unwrap_or(Value::INITIAL);
            own_last = own_last.filter(|_| !own_are_last);
        }
        if own_last.is_some_and(|w| history.values()[w as usize] == o.value) {
            return Source::Own;
        }
        let (mut own_before, mut own_after, mut aborted) = (false, false, false);
        // A source that by itself violates RC (a version its writer overwrote, a writer later in the reader's session)
        // is out of the question where there is one that does not.
        let mut fair = Candidates::default();
        let mut all = Candidates::default();
        let mut from_setup = false;
        for (n, w) in self.writes(o.key.0, o.value.0).enumerate() {
            if fair.several && n >= LONG_CHAIN {
                break;
            }
            let writer = self.owner(w);
            if writer == t {
                own_before |= w < read;
                own_after |= w > read;
            } else if self.setup[writer.index()] {
                from_setup = true;
            } else if history.outcome(writer) == Outcome::Aborted {
                aborted = true;
            } else {
                all.add(writer, w);
                let later = history.session_of(writer) == history.session_of(t) && writer > t;
                if self.is_final(w) && !later {
                    fair.add(writer, w);
                }
            }
        }
        if own_before {
            return Source::OverwrittenOwn;
        }
        let initial = from_setup || history.may_be_initial(o.key, o.value);
        let after_own_write = own_last.is_some();
        let several = all.several || initial && all.first.is_some();
        if several && after_own_write {
            return Source::OpenAfterOwnWrite;
        }
        if several && (fair.several || initial == fair.first.is_some()) {
            return Source::Ambiguous;
        }
        let other = |writer, intermediate| Source::Other { writer, after_own_write, intermediate };
        match fair.first.or(all.first) {
            _ if initial => other(TransactionId::INITIAL, false),
            // Of one transaction's writes of one value the last is found first.
            Some((writer, write)) => other(writer, !self.is_final(write)),
            None if own_after => Source::Future,
            None if aborted => Source::Aborted,
            None => Source::ThinAir,
        }
    }
}
