//! What a list that was read shows, determined independently from the operations.

use super::initial::Initial;
use super::operations::writes_of;
use isoscope_model::history::{
    History, KeyId, ListRule, OperationId, OperationKind, TransactionId, Value,
};
use rustc_hash::FxHashMap;

/// The values that a transaction appends to a key, in program order, before an operation or all of them.
pub(super) fn appended(
    history: &History,
    t: TransactionId,
    key: KeyId,
    before: Option<OperationId>,
) -> Vec<Value> {
    let until = writes_of(history, t, key).take_while(|&o| before.is_none_or(|before| o < before));
    until.map(|o| history.operation(o).value).collect()
}

/// A list as a transaction found it: without its own appends where the list ends with them, and whether it does.
pub(super) fn found(
    history: &History,
    t: TransactionId,
    read: OperationId,
) -> Option<(&[Value], bool)> {
    let list = history.lists().read_by(read)?;
    let own = appended(history, t, history.operation(read).key, Some(read));
    Some(match list.len().checked_sub(own.len()) {
        Some(n) if list[n..] == own[..] => (&list[..n], true),
        _ => (list, false),
    })
}

/// Whether two lists of one key cannot be prefixes of one list.
pub(super) fn incompatible(history: &History, first: OperationId, second: OperationId) -> bool {
    let of = |read: OperationId| {
        found(history, history.transaction_of(read), read).map(|(list, _)| list)
    };
    match (of(first), of(second)) {
        (Some(a), Some(b)) => {
            history.operation(first).key == history.operation(second).key
                && history.rules().lists == ListRule::Exact
                && !a.starts_with(b)
                && !b.starts_with(a)
        }
        _ => false,
    }
}

/// Every list is a prefix of the list that the commits make in their order. Returns by read which append made the last
/// element that its transaction found, none where that is the setup list. O(operations + elements read).
pub(super) fn in_order(
    history: &History,
    initial: &Initial,
    order: &[TransactionId],
) -> Result<FxHashMap<OperationId, Option<OperationId>>, String> {
    let mut makers = FxHashMap::default();
    if history.lists().is_empty() {
        return Ok(makers);
    }
    let begin = |key: KeyId| {
        (
            key,
            (
                initial.elements(history, key).collect(),
                initial.appends(key).to_vec(),
            ),
        )
    };
    let mut made: FxHashMap<KeyId, (Vec<Value>, Vec<OperationId>)> =
        initial.keys().map(begin).collect();
    for &t in order.iter().filter(|&&t| !initial.is_setup(t)) {
        for o in history.operations_of(t) {
            let operation = history.operation(o);
            if operation.kind == OperationKind::Write && history.lists().is_list(operation.key) {
                let (elements, appends) = made.entry(operation.key).or_default();
                elements.push(operation.value);
                appends.push(o);
            }
        }
    }
    for &t in order.iter().filter(|&&t| !initial.is_setup(t)) {
        for o in history.operations_of(t) {
            let Some((list, own_are_last)) = found(history, t, o) else {
                continue;
            };
            let of_key = made.get(&history.operation(o).key);
            let (whole, appends) = of_key.map_or((&[][..], &[][..]), |(whole, appends)| {
                (whole.as_slice(), appends.as_slice())
            });
            let n_initial = initial.appends(history.operation(o).key).len();
            if !own_are_last || !whole.starts_with(list) || list.len() < n_initial {
                let (text, name) = (history.operation_text(o), history.transaction_name(t));
                return Err(format!(
                    "{text} of {name} does not follow from the order of the appends"
                ));
            }
            let last = list.len().checked_sub(1).filter(|last| *last >= n_initial);
            makers.insert(o, last.map(|last| appends[last]));
        }
    }
    Ok(makers)
}
