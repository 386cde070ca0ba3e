//! The operations that a violation of a report names.

use crate::report::ViolationEntry;
use isoscope_model::history::{History, KeyId, OperationId, OperationKind, TransactionId};

/// The operations a violation names, those of its edges included.
pub(super) fn operations(
    history: &History,
    violation: &ViolationEntry,
    transactions: &[TransactionId],
) -> Result<Vec<OperationId>, String> {
    let mut found = Vec::new();
    for entry in &violation.operations {
        found.push(operation(
            history,
            transactions,
            entry.transaction,
            entry.index,
        )?);
    }
    for edge in &violation.edges {
        let ends = [
            (edge.from, edge.from_operation),
            (edge.to, edge.to_operation),
        ];
        for (place, index) in ends
            .into_iter()
            .filter_map(|(place, index)| Some((place, index?)))
        {
            found.push(operation(history, transactions, place, index)?);
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The writes of a transaction to a key, in program order; ⊥ has none.
pub(super) fn writes_of(
    history: &History,
    t: TransactionId,
    key: KeyId,
) -> impl Iterator<Item = OperationId> {
    let operations = (!t.is_initial()).then(|| history.operations_of(t));
    operations.into_iter().flatten().filter(move |&o| {
        let operation = history.operation(o);
        operation.kind == OperationKind::Write && operation.key == key
    })
}

/// Operation `index` of the transaction at `place`.
pub(super) fn operation(
    history: &History,
    transactions: &[TransactionId],
    place: usize,
    index: usize,
) -> Result<OperationId, String> {
    let &t = transactions
        .get(place)
        .ok_or_else(|| format!("there is no transaction at place {place}"))?;
    if t.is_initial() {
        return Err("the initial state has no operations".to_owned());
    }
    let operation = history.operations_of(t).nth(index);
    operation.ok_or_else(|| format!("{} has no operation {index}", history.transaction_name(t)))
}
