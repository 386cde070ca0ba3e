//! Who wrote or appended what a read returned, as far as the history itself says.

use crate::history::{
    Appended, History, KeyId, Operation, OperationId, OperationKind, TransactionId, Value,
};

/// The part of a list that was there before the reader's own appends; `None` if these are not its tail, and for other
/// operations. O(operations of the transaction + log reads).
pub fn list_from_outside(
    history: &History,
    t: TransactionId,
    read: OperationId,
) -> Option<&[Value]> {
    let elements = history.lists().read_by(read)?;
    let key = history.keys()[read.index()];
    let is_own = |o: &OperationId| {
        *o < read
            && history.kinds()[o.index()] == OperationKind::Write
            && history.keys()[o.index()] == key
    };
    let own: Vec<Value> = history
        .operations_of(t)
        .filter(is_own)
        .map(|o| history.values()[o.index()])
        .collect();
    elements.strip_suffix(own.as_slice())
}

/// The value that a read returned from other transactions: for a list the last element that the reader found, before
/// its own appends if these are the tail. O(operations of the transaction + log reads).
pub fn value_from_outside(history: &History, t: TransactionId, read: OperationId) -> Value {
    let found = list_from_outside(history, t, read).or_else(|| history.lists().read_by(read));
    found.map_or(history.values()[read.index()], |list| {
        list.last().copied().unwrap_or(Value::INITIAL)
    })
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
    let Operation {
        key, value: own, ..
    } = history.operation(read);
    let was_read = |o: &OperationId| {
        let operation = history.operation(*o);
        let is_it = match own.is_of_scan() {
            true => history.may_return(read, operation.value),
            false => operation.value == value,
        };
        operation.kind == OperationKind::Write && operation.key == key && is_it
    };
    history.operations_of(writer).filter(was_read).last()
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
pub fn appenders(history: &History, read: OperationId) -> impl Iterator<Item = TransactionId> + '_ {
    let list = history.lists().read_by(read).unwrap_or_default();
    list.iter().filter_map(move |element| {
        match history.appends().of(history.keys()[read.index()], *element) {
            Some(Appended::Once(append)) => Some(history.transaction_of(append)),
            _ => None,
        }
    })
}
