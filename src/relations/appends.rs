//! Who wrote or appended what a read returned, as far as the history itself says.

use crate::history::{History, KeyId, Operation, OperationId, OperationKind, TransactionId, Value};
use rustc_hash::FxHashMap;

/// The part of a list that was there before the reader's own appends; `None` if these are not its tail, and for other
/// operations. O(operations of the transaction + log reads).
pub fn list_from_outside(history: &History, t: TransactionId, read: OperationId) -> Option<&[Value]> {
    let elements = history.lists().read_by(read)?;
    let key = history.keys()[read.index()];
    let is_own = |o: &OperationId| {
        *o < read && history.kinds()[o.index()] == OperationKind::Write && history.keys()[o.index()] == key
    };
    let own: Vec<Value> = history.operations_of(t).filter(is_own).map(|o| history.values()[o.index()]).collect();
    elements.strip_suffix(own.as_slice())
}

/// The value that a read returned from other transactions: for a list the last element that the reader found, before
/// its own appends if these are the tail. O(operations of the transaction + log reads).
pub fn value_from_outside(history: &History, t: TransactionId, read: OperationId) -> Value {
    let found = list_from_outside(history, t, read).or_else(|| history.lists().read_by(read));
    found.map_or(history.values()[read.index()], |list| list.last().copied().unwrap_or(Value::INITIAL))
}

/// The last write of `writer` of what a read of `reader` returned: the start of the edge between them. `None` if it
/// wrote no such value. O(operations of both).
pub fn write_that_was_read(
    history: &History,
    writer: TransactionId,
    reader: TransactionId,
    read: OperationId,
) -> Option<OperationId> {
    let value = value_from_outside(history, reader, read);
    let written = Operation { kind: OperationKind::Write, value, ..history.operation(read) };
    history.operations_of(writer).filter(|&o| history.operation(o) == written).last()
}

/// The appends of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// This operation, of a transaction that did not abort.
    Once(OperationId),
    /// Several operations, of transactions that did not abort.
    Several,
    /// Only transactions that aborted; of their appends the one that began first, as far as is known.
    Aborted(OperationId),
}

/// All appends to keys that hold lists, by key and element. O(operations).
pub fn appends(history: &History) -> FxHashMap<(KeyId, Value), Appended> {
    let mut found: FxHashMap<(KeyId, Value), Appended> = FxHashMap::default();
    for t in history.transactions() {
        let aborted = history.outcome(t) == crate::history::Outcome::Aborted;
        for o in history.operations_of(t) {
            let operation = history.operation(o);
            if operation.kind != OperationKind::Write || !history.lists().is_list(operation.key) {
                continue;
            }
            let new = if aborted { Appended::Aborted(o) } else { Appended::Once(o) };
            let slot = found.entry((operation.key, operation.value)).or_insert(new);
            *slot = match (*slot, new) {
                (Appended::Aborted(first), Appended::Aborted(second)) => {
                    let began = |o: OperationId| history.interval(history.transaction_of(o)).map(|ran| ran.start);
                    if began(second) < began(first) { new } else { Appended::Aborted(first) }
                }
                (Appended::Aborted(_), new) => new,
                (old, Appended::Aborted(_)) => old,
                (Appended::Once(first), Appended::Once(second)) if first == second => new,
                _ => Appended::Several,
            };
        }
    }
    found
}

/// The last write, or append, of a transaction to a key among those that `admit` allows. O(operations of the transaction).
pub fn last_write(
    history: &History,
    t: TransactionId,
    key: KeyId,
    admit: impl Fn(OperationId) -> bool,
) -> Option<OperationId> {
    let is_write = |o: &OperationId| {
        let operation = history.operation(*o);
        operation.kind == OperationKind::Write && operation.key == key && admit(*o)
    };
    history.operations_of(t).filter(is_write).last()
}

/// The transactions that appended the elements of a list that was read, for elements appended once: they committed if
/// the reader did.
pub fn appenders<'a>(
    history: &'a History,
    appends: &'a FxHashMap<(KeyId, Value), Appended>,
    read: OperationId,
) -> impl Iterator<Item = TransactionId> + 'a {
    let list = history.lists().read_by(read).unwrap_or_default();
    list.iter().filter_map(move |element| match appends.get(&(history.keys()[read.index()], *element)) {
        Some(Appended::Once(append)) => Some(history.transaction_of(*append)),
        _ => None,
    })
}

/// By key and element: all appends of it, if there are several.
pub type Repeated = FxHashMap<(KeyId, Value), Vec<OperationId>>;

/// The appends, also aborted ones, of elements that were appended more than once. O(operations).
pub fn repeated_appends(history: &History) -> Repeated {
    let mut all = Repeated::default();
    if history.lists().is_empty() {
        return all;
    }
    for (place, &key) in history.keys().iter().enumerate() {
        if history.kinds()[place] == OperationKind::Write && history.lists().is_list(key) {
            all.entry((key, history.values()[place])).or_default().push(OperationId::new(place));
        }
    }
    all.retain(|_, appends| appends.len() > 1);
    all
}
