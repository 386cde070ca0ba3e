//! What counts as a history of lightweight transactions.

use super::{History, OperationKind, Outcome, TransactionId, Value};

/// Whether every transaction that may have committed is a lightweight one: see [`objection_to_lightweight`]. O(operations).
pub fn is_lightweight(history: &History) -> bool {
    history.lists().is_empty()
        && !history.has_rows()
        && history.transactions().all(|t| is_light(history, t))
}

/// Why a history is not one of lightweight transactions, naming the first transaction that is not; `None` if it is one.
///
/// A lightweight transaction is one operation on one key: a read; a write; a read and then a write of the same key
/// (compare-and-set, insert-if-not-exists); or a failed compare-and-set of which only a value is known that was not
/// there. Transactions that did not commit, or that are empty, may have any form. O(operations).
pub fn objection_to_lightweight(history: &History) -> Option<String> {
    if !history.lists().is_empty() {
        return Some("not a history of lightweight transactions: keys hold lists".to_owned());
    }
    if history.has_rows() {
        return Some(
            "not a history of lightweight transactions: keys are rows of tables".to_owned(),
        );
    }
    let t = history.transactions().find(|&t| !is_light(history, t))?;
    let (name, range) = (history.transaction_name(t), history.operation_range(t));
    let keys = &history.keys()[range.clone()];
    Some(match keys.iter().find(|key| **key != keys[0]) {
        Some(&other) => format!(
            "not a history of lightweight transactions: {name} touches two keys, {} and {}",
            history.key_name(keys[0]),
            history.key_name(other)
        ),
        None => format!(
            "not a history of lightweight transactions: {name} is no single read, write or compare-and-set, it has {} \
             operations",
            range.len()
        ),
    })
}

fn is_light(history: &History, t: TransactionId) -> bool {
    let range = history.operation_range(t);
    if range.len() < 2 || history.outcome(t) == Outcome::Aborted {
        return true;
    }
    let (kinds, keys, values) = (history.kinds(), history.keys(), history.values());
    let at = range.start;
    range.len() == 2
        && keys[at] == keys[at + 1]
        && kinds[at] == OperationKind::Read
        && kinds[at + 1] == OperationKind::Write
        && (values[at] != Value::UNRECORDED
            || history.differs_from(super::OperationId::new(at)).is_none())
}
