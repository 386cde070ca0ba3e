//! Who wrote what each read returned, found by looking at all writes of the value.

use super::writes_of;
use isoscope_model::history::{
    DuplicateRule, History, KeyId, Operation, OperationId, OperationKind, Outcome, TransactionId,
    Value,
};
use isoscope_model::relations::set_up_transactions;
use rustc_hash::{FxHashMap, FxHashSet};

/// The source of a read from another transaction, or from ⊥.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct From {
    pub(super) writer: TransactionId,
    /// The reader had written the key before.
    pub(super) after_own_write: bool,
    /// The writer wrote the key again.
    pub(super) intermediate: bool,
}

/// The writers that the cases around a part of a proof fix.
#[derive(Clone, Debug, Default)]
pub(super) struct Case {
    pub(super) fixed: Vec<(OperationId, TransactionId)>,
}

/// All writes of a history by key and value.
pub(super) struct Reads<'a> {
    pub(super) history: &'a History,
    set_up: FxHashSet<TransactionId>,
    writes: FxHashMap<(KeyId, Value), Vec<OperationId>>,
    initial_appends: FxHashMap<KeyId, Vec<OperationId>>,
}

impl<'a> Reads<'a> {
    pub(super) fn new(history: &'a History) -> Reads<'a> {
        let mut writes: FxHashMap<(KeyId, Value), Vec<OperationId>> = FxHashMap::default();
        for o in (0..history.n_operations()).map(OperationId::new) {
            let operation = history.operation(o);
            if operation.kind == OperationKind::Write {
                let of_value = writes.entry((operation.key, operation.value)).or_default();
                of_value.push(o);
            }
        }
        Reads {
            history,
            set_up: set_up_transactions(history).into_iter().collect(),
            writes,
            initial_appends: history.initial_appends(),
        }
    }

    pub(super) fn is_set_up(&self, t: TransactionId) -> bool {
        self.set_up.contains(&t)
    }

    /// Whether an element of a list was appended more than once: which append made it is another question.
    pub(super) fn repeats_elements(&self) -> bool {
        let lists = self.history.lists();
        self.writes
            .iter()
            .any(|((key, _), writes)| writes.len() > 1 && lists.is_list(*key))
    }

    /// The appends with which every list of a key begins.
    pub(super) fn initial_appends(&self, key: KeyId) -> &[OperationId] {
        self.initial_appends.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The elements with which every list of a key begins.
    pub(super) fn initial_elements(&self, key: KeyId) -> impl Iterator<Item = Value> + '_ {
        let appends = self.initial_appends(key).iter();
        appends.map(|&o| self.history.operation(o).value)
    }

    /// The writes of what a read returned, of value `value`.
    fn writes_for(&self, read: OperationId, key: KeyId, value: Value) -> Vec<OperationId> {
        if !value.is_of_scan() {
            return self.writes(key, value).to_vec();
        }
        let of_key = self.writes.iter().filter(|((of, _), _)| *of == key);
        let of_key = of_key.filter(|((_, value), _)| self.history.may_return(read, *value));
        let mut writes: Vec<OperationId> = of_key.flat_map(|(_, writes)| writes.clone()).collect();
        writes.sort_unstable();
        writes
    }

    /// Whether a scan would have said the same of a row whatever version was there.
    fn says_nothing(&self, read: OperationId, key: KeyId) -> bool {
        let history = self.history;
        let t = history.transaction_of(read);
        let others = self.writes.iter().filter(|((of, _), _)| *of == key);
        let mut others = others.flat_map(|(_, writes)| writes.iter().copied());
        history.values()[read.index()].is_of_scan()
            && history.may_return_initial(read)
            && others.all(|w| {
                let writer = history.transaction_of(w);
                let is_last = writes_of(history, writer, key).next_back() == Some(w);
                writer == t
                    || !is_last
                    || history.outcome(writer) == Outcome::Aborted
                    || self.is_set_up(writer)
                    || history.may_return(read, history.operation(w).value)
            })
    }

    fn writes(&self, key: KeyId, value: Value) -> &[OperationId] {
        self.writes.get(&(key, value)).map_or(&[], Vec::as_slice)
    }

    /// The writers of a value to a key, whatever their outcome; each as often as it wrote it.
    pub(super) fn appenders(&self, key: KeyId, value: Value) -> Vec<TransactionId> {
        let writes = self.writes(key, value).iter();
        writes.map(|&o| self.history.transaction_of(o)).collect()
    }

    /// A list without the own appends of its reader where it ends with them, and whether it does.
    pub(super) fn found(&self, read: OperationId) -> Option<(&'a [Value], bool)> {
        let history = self.history;
        let list = history.lists().read_by(read)?;
        let t = history.transaction_of(read);
        let own: Vec<Value> = writes_of(history, t, history.operation(read).key)
            .take_while(|&o| o < read)
            .map(|o| history.operation(o).value)
            .collect();
        Some(match list.strip_suffix(own.as_slice()) {
            Some(others) => (others, true),
            None => (list, false),
        })
    }

    /// A read as far as it concerns other transactions, and whether an own write of the key came before it.
    pub(super) fn seen(&self, read: OperationId) -> (Operation, bool) {
        let history = self.history;
        let mut o = history.operation(read);
        let t = history.transaction_of(read);
        let mut own = writes_of(history, t, o.key).any(|write| write < read);
        if let Some((list, own_are_last)) = self.found(read) {
            o.value = list.last().copied().unwrap_or(Value::INITIAL);
            own &= !own_are_last;
        }
        (o, own)
    }

    /// The other transactions that may have written what a read returned, ⊥ included; none if the reader itself had.
    pub(super) fn writers(&self, read: OperationId) -> Vec<TransactionId> {
        let history = self.history;
        let (o, own) = self.seen(read);
        let t = history.transaction_of(read);
        let writes = self.writes_for(read, o.key, o.value);
        let is_own = |w: &OperationId| history.transaction_of(*w) == t && *w < read;
        if o.value == Value::UNRECORDED || own && writes.iter().any(is_own) {
            return Vec::new();
        }
        if !own && self.says_nothing(read, o.key) {
            return Vec::new();
        }
        let may_be_meant = |w: &TransactionId| {
            *w != t && history.outcome(*w) != Outcome::Aborted && !self.is_set_up(*w)
        };
        let others = writes.iter().map(|&w| history.transaction_of(w));
        let mut writers: Vec<TransactionId> = others.filter(may_be_meant).collect();
        writers.dedup();
        if history.rules().duplicates == DuplicateRule::Last {
            writers.drain(..writers.len().saturating_sub(1));
            if !writers.is_empty() {
                return writers;
            }
        }
        writers.extend(
            (match o.value.is_of_scan() {
                true => history.may_return_initial(read),
                false => history.may_be_initial(o.key, o.value),
            })
            .then_some(TransactionId::INITIAL),
        );
        writers
    }

    /// The source of a read in a case; none if it is wrong or unknown. A writer that overwrote the version, or that comes
    /// later in the session of the reader, does not count where there is another one.
    pub(super) fn source(&self, read: OperationId, case: &Case) -> Option<From> {
        let history = self.history;
        let t = history.transaction_of(read);
        let (o, after_own_write) = self.seen(read);
        let from = |writer| {
            let last = writes_of(history, writer, o.key).next_back();
            From {
                writer,
                after_own_write,
                intermediate: last.is_some_and(|last| {
                    let value = history.operation(last).value;
                    match o.value.is_of_scan() {
                        true => !history.may_return(read, value),
                        false => value != o.value,
                    }
                }),
            }
        };
        if let Some((_, writer)) = case.fixed.iter().find(|(known, _)| *known == read) {
            return Some(from(*writer));
        }
        let mut all = self.writers(read);
        // Whichever wrote it, the read is wrong.
        if all.len() > 1 && after_own_write {
            return None;
        }
        if all.len() > 1 {
            all.retain(|&writer| {
                let is_later =
                    !writer.is_initial() && history.session_of(writer) == history.session_of(t);
                writer.is_initial() || !(from(writer).intermediate || is_later && writer > t)
            });
        }
        match *all.as_slice() {
            [one] => Some(from(one)),
            _ => None,
        }
    }

    /// Whether some read has several possible writers.
    fn is_ambiguous(&self) -> bool {
        let all = (0..self.history.n_operations()).map(OperationId::new);
        let mut reads = all.filter(|&o| self.history.operation(o).kind == OperationKind::Read);
        reads.any(|read| self.writers(read).len() > 1)
    }

    /// The transactions that take part: committed, or read by one that does.
    fn members(&self) -> FxHashSet<TransactionId> {
        let history = self.history;
        let committed =
            |t: &TransactionId| history.outcome(*t) == Outcome::Committed && !self.is_set_up(*t);
        let mut open: Vec<TransactionId> = history.transactions().filter(committed).collect();
        let mut members: FxHashSet<TransactionId> = open.iter().copied().collect();
        while let Some(t) = open.pop() {
            let reads = history.operations_of(t);
            let reads = reads.filter(|&o| history.operation(o).kind == OperationKind::Read);
            let writers = reads.flat_map(|read| self.writers(read));
            open.extend(writers.filter(|&w| !w.is_initial() && members.insert(w)));
        }
        members
    }

    /// Whether the one transaction causally precedes the other; none where that depends on which of several wrote what a
    /// read returned, and where lists were read. O(operations) per call.
    pub(super) fn precedes(&self, a: TransactionId, b: TransactionId) -> Option<bool> {
        let history = self.history;
        // What the elements before the last one of a list say is not looked up here.
        if !history.lists().is_empty() || self.is_ambiguous() {
            return None;
        }
        let members = self.members();
        let (mut open, mut met) = (vec![b], FxHashSet::default());
        while let Some(t) = open.pop() {
            let reads = history.operations_of(t);
            let reads = reads.filter(|&o| history.operation(o).kind == OperationKind::Read);
            let writers = reads.flat_map(|read| self.writers(read));
            // Those before it are met by way of it.
            let session = history.session_of(t);
            let mut session = (0..t.0)
                .rev()
                .map(TransactionId)
                .take_while(|&earlier| history.session_of(earlier) == session);
            let before = session.find(|earlier| members.contains(earlier));
            let earlier = writers.chain(before).filter(|w| !w.is_initial());
            open.extend(earlier.filter(|&w| met.insert(w)));
        }
        Some(met.contains(&a))
    }
}
