//! The operations that a violation of a report names.

use crate::history::{History, OperationId, TransactionId};
use crate::report::ViolationEntry;

/// The operations a violation names, those of its edges included.
pub(super) fn operations(
    history: &History,
    violation: &ViolationEntry,
    transactions: &[TransactionId],
) -> Result<Vec<OperationId>, String> {
    let mut found = Vec::new();
    for entry in &violation.operations {
        found.push(operation(history, transactions, entry.transaction, entry.index)?);
    }
    for edge in &violation.edges {
        let ends = [(edge.from, edge.from_operation), (edge.to, edge.to_operation)];
        for (place, index) in ends.into_iter().filter_map(|(place, index)| Some((place, index?))) {
            found.push(operation(history, transactions, place, index)?);
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Operation `index` of the transaction at `place`.
pub(super) fn operation(
    history: &History,
    transactions: &[TransactionId],
    place: usize,
    index: usize,
) -> Result<OperationId, String> {
    let &t = transactions.get(place).ok_or_else(|| format!("there is no transaction at place {place}"))?;
    if t.is_initial() {
        return Err("the initial state has no operations".to_owned());
    }
    let operation = history.operations_of(t).nth(index);
    operation.ok_or_else(|| format!("{} has no operation {index}", history.transaction_name(t)))
}
