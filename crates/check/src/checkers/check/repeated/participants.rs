//! Which transactions count as committed, and for which that is open.

use crate::checkers::refutation::is_impossible_read;
use isoscope_model::history::{
    History, KeyId, OperationId, OperationKind, Repeated, TransactionId, Value,
};
use isoscope_model::relations::{Resolution, Standing, list_from_outside};
use rustc_hash::FxHashMap;

/// By transaction: whether it counts as committed, whatever is open.
///
/// A read all of whose possible writers violate read committed by themselves is resolved to the first of them, which
/// need not have committed. So if there is such a read, the transactions that must have committed are determined
/// without it. O(operations + elements read).
pub(super) fn participants(history: &History, resolution: &Resolution) -> Vec<bool> {
    let multiple = resolution.reads_with_multiple_sources();
    let is_sure = !multiple
        .iter()
        .any(|multiple| is_impossible_read(history, resolution, multiple.read));
    let takes_part = |t: TransactionId| match resolution.standing(t) {
        Standing::Committed => true,
        Standing::Promoted => is_sure,
        _ => false,
    };
    let mut participants: Vec<bool> = history.transactions().map(takes_part).collect();
    if is_sure {
        return participants;
    }
    let (appenders, initial) = (
        only_appenders(history, resolution),
        history.initial_appends(),
    );
    let mut waiting: Vec<TransactionId> = history
        .transactions()
        .filter(|t| participants[t.index()])
        .collect();
    while let Some(t) = waiting.pop() {
        for o in history.operations_of(t) {
            let is_open =
                resolution.is_open_after_own_write(o) || is_impossible_read(history, resolution, o);
            let writer = resolution
                .source_in(t, o)
                .writer()
                .filter(|writer| !is_open && !writer.is_initial());
            let list = list_from_outside(history, t, o)
                .or_else(|| history.lists().read_by(o))
                .unwrap_or_default();
            let key = history.keys()[o.index()];
            let n_initial = initial.get(&key).map_or(0, Vec::len);
            let appended = list.iter().skip(n_initial);
            let of_list =
                appended.filter_map(|&element| appenders.get(&(key, element)).copied().flatten());
            for joins in writer.into_iter().chain(of_list) {
                let may_join = resolution.standing(joins) == Standing::Promoted;
                if may_join && !std::mem::replace(&mut participants[joins.index()], true) {
                    waiting.push(joins);
                }
            }
        }
    }
    participants
}

/// By key and element: the transaction that appended it, if exactly one of those that neither aborted nor belong to the
/// set-up did.
fn only_appenders(
    history: &History,
    resolution: &Resolution,
) -> FxHashMap<(KeyId, Value), Option<TransactionId>> {
    let mut all: FxHashMap<(KeyId, Value), Option<TransactionId>> = FxHashMap::default();
    let may_append = |t: &TransactionId| {
        !matches!(
            resolution.standing(*t),
            Standing::Aborted | Standing::Initial
        )
    };
    for t in history.transactions().filter(may_append) {
        for o in history.operations_of(t) {
            let operation = history.operation(o);
            if operation.kind == OperationKind::Write && history.lists().is_list(operation.key) {
                let known = all
                    .entry((operation.key, operation.value))
                    .or_insert(Some(t));
                *known = known.filter(|&other| other == t);
            }
        }
    }
    all
}

/// The transactions that count as committed only under some choices of writers and found elements in lists that were
/// appended more than once, ascending. O(elements read).
pub(super) fn in_doubt(
    history: &History,
    resolution: &Resolution,
    repeated: &Repeated,
) -> Vec<TransactionId> {
    let is_repeated = |(read, list): &(OperationId, &[Value])| {
        let (t, key) = (history.transaction_of(*read), history.keys()[read.index()]);
        let found = list_from_outside(history, t, *read).unwrap_or(list);
        found
            .iter()
            .any(|&element| repeated.contains_key(&(key, element)))
    };
    let lists = history.lists().iter().filter(is_repeated);
    let mut readers: Vec<TransactionId> = lists
        .map(|(read, _)| history.transaction_of(read))
        .collect();
    readers.retain(|&t| resolution.standing(t) == Standing::Possible);
    readers.sort_unstable();
    readers.dedup();
    readers
}
