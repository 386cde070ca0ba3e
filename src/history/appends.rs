//! Who appended the elements of lists.

use super::{History, KeyId, OperationId, OperationKind, Outcome, TransactionId, Value};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::sync::OnceLock;

/// The appends of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// This operation, of a transaction that did not abort.
    Once(OperationId),
    /// Several operations, of transactions that did not abort.
    Several,
    /// Only transactions that aborted; the first such append.
    Aborted(OperationId),
}

/// By key and element: all appends of it, also aborted ones, in order, if there are several.
pub type Repeated = FxHashMap<(KeyId, Value), Vec<OperationId>>;

/// All appends to keys that hold lists.
#[derive(Debug, Default)]
pub struct Appends {
    by_element: FxHashMap<(KeyId, Value), Appended>,
    repeated: Repeated,
}

/// They, once they are known; a copy of a history, which may be changed, begins without them.
#[derive(Debug, Default)]
pub(super) struct KnownAppends(OnceLock<Appends>);

impl Clone for KnownAppends {
    fn clone(&self) -> KnownAppends {
        KnownAppends::default()
    }
}

impl Appends {
    fn new(history: &History) -> Appends {
        let mut found = Appends::default();
        if history.lists().is_empty() {
            return found;
        }
        for t in history.transactions() {
            let aborted = history.outcome(t) == Outcome::Aborted;
            for o in history.operations_of(t) {
                let operation = history.operation(o);
                if operation.kind != OperationKind::Write || !history.lists().is_list(operation.key) {
                    continue;
                }
                found.add((operation.key, operation.value), o, aborted);
            }
        }
        found
    }

    fn add(&mut self, element: (KeyId, Value), append: OperationId, aborted: bool) {
        let new = if aborted { Appended::Aborted(append) } else { Appended::Once(append) };
        let mut slot = match self.by_element.entry(element) {
            Entry::Occupied(slot) => slot,
            Entry::Vacant(slot) => {
                slot.insert(new);
                return;
            }
        };
        let all = self.repeated.entry(element).or_insert_with(|| match slot.get() {
            Appended::Once(first) | Appended::Aborted(first) => vec![*first],
            Appended::Several => Vec::new(),
        });
        all.push(append);
        slot.insert(match (*slot.get(), new) {
            (Appended::Aborted(first), Appended::Aborted(_)) => Appended::Aborted(first),
            (Appended::Aborted(_), new) => new,
            (old, Appended::Aborted(_)) => old,
            _ => Appended::Several,
        });
    }

    /// The appends of an element, if there are any.
    pub fn of(&self, key: KeyId, element: Value) -> Option<Appended> {
        self.by_element.get(&(key, element)).copied()
    }

    /// Those of elements that were appended more than once.
    pub fn repeated(&self) -> &Repeated {
        &self.repeated
    }
}

impl History {
    /// All appends to keys that hold lists. O(operations) the first time, then O(1).
    pub fn appends(&self) -> &Appends {
        self.appends.0.get_or_init(|| Appends::new(self))
    }

    /// The appends of elements that transactions which did not abort appended more than once. O(repeated appends).
    pub fn appends_of_repeated_elements(&self) -> Repeated {
        let took_effect = |o: &OperationId| self.outcome(self.transaction_of(*o)) != Outcome::Aborted;
        let all = self.appends().repeated.iter().map(|(&element, appends)| {
            let appends: Vec<OperationId> = appends.iter().copied().filter(took_effect).collect();
            (element, appends)
        });
        all.filter(|(_, appends)| appends.len() > 1).collect()
    }

    /// Whether transactions that did not abort appended an element to a list more than once. O(operations) the first time,
    /// then O(appends of the element).
    pub fn is_repeated_element(&self, key: KeyId, element: Value) -> bool {
        self.appends().of(key, element) == Some(Appended::Several)
    }

    /// All reads that returned lists, with their transactions, ascending. O(transactions + reads).
    pub fn reads_of_lists(&self) -> impl Iterator<Item = (TransactionId, OperationId, &[Value])> {
        let mut t = 0;
        self.lists().iter().map(move |(read, list)| {
            while self.operation_begin[t + 1] <= read.0 {
                t += 1;
            }
            (TransactionId::new(t), read, list)
        })
    }
}
