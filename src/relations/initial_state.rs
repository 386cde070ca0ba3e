//! Transactions that write the initial state down explicitly.

use crate::history::{History, OperationKind, Outcome, SetUpRule, TransactionId};

/// The transactions that set up the initial state, ascending, or none: those that the file or the user declares, else
/// what is found here.
///
/// Many histories begin with transactions that write the initial value of every key. Their versions are then
/// indistinguishable from the initial ones, and reads of them would be ambiguous. They count as part of ⊥ if they
/// committed, write nothing but the initial value, stand at the beginning of their sessions, together write every key
/// that a transaction which may have committed touches, each key by one of them only, and nobody else who may have
/// committed writes an initial value. They must not have begun after somebody else who committed had ended, where times are
/// known. A late reset of all keys may look the same: this is an assumption, the resolution says so, and the checkers say where a
/// verdict rests on it alone.
///
/// O(operations).
pub(super) fn set_up_transactions(history: &History) -> Vec<TransactionId> {
    if !history.set_up().is_empty() || history.rules().set_up == SetUpRule::Never {
        return history.set_up_that_took_effect().collect();
    }
    let Some(initial) = history.initial_value() else { return Vec::new() };
    let (kinds, keys, values) = (history.kinds(), history.keys(), history.values());
    // An element of a list is never the empty list.
    let writes_initial =
        |o: usize| kinds[o] == OperationKind::Write && values[o] == initial && !history.lists().is_list(keys[o]);
    let mut set_up = vec![false; history.n_transactions()];
    let mut writer: Vec<Option<TransactionId>> = vec![None; history.n_keys()];
    for session in history.sessions() {
        for t in history.transactions_of(session) {
            let range = history.operation_range(t);
            if history.outcome(t) == Outcome::Aborted || range.is_empty() {
                continue;
            }
            if history.outcome(t) == Outcome::Unknown || !range.clone().all(writes_initial) {
                break;
            }
            set_up[t.index()] = true;
            for key in range.map(|o| keys[o].index()) {
                if writer[key].is_some_and(|other| other != t) {
                    return Vec::new();
                }
                writer[key] = Some(t);
            }
        }
    }
    if !set_up.contains(&true) {
        return Vec::new();
    }
    for t in history.transactions().filter(|&t| history.outcome(t) != Outcome::Aborted && !set_up[t.index()]) {
        if history.operation_range(t).any(|o| writes_initial(o) || writer[keys[o].index()].is_none()) {
            return Vec::new();
        }
    }
    if is_late(history, &set_up) {
        return Vec::new();
    }
    history.transactions().filter(|t| set_up[t.index()]).collect()
}

/// Whether one of the transactions marked began after one of the others had ended.
fn is_late(history: &History, set_up: &[bool]) -> bool {
    let intervals = |marked: bool| {
        let committed = history.transactions().filter(move |&t| history.outcome(t) == Outcome::Committed);
        committed.filter(move |t| set_up[t.index()] == marked).filter_map(|t| history.interval(t))
    };
    match (intervals(false).map(|other| other.end).min(), intervals(true).map(|own| own.start).max()) {
        (Some(first_end), Some(last_start)) => first_end < last_start,
        _ => false,
    }
}
