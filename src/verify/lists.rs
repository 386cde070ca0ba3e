//! What a list that was read shows, determined independently from the operations.

use super::initial::Initial;
use super::resolution::Resolution;
use crate::history::{History, KeyId, ListRule, OperationId, OperationKind, Outcome, TransactionId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The values that a transaction appends to a key, in program order, before an operation or all of them.
pub(super) fn appended(history: &History, t: TransactionId, key: KeyId, before: Option<OperationId>) -> Vec<Value> {
    let mut values = Vec::new();
    for o in history.operations_of(t) {
        if before.is_some_and(|before| o >= before) {
            break;
        }
        let operation = history.operation(o);
        if operation.kind == OperationKind::Write && operation.key == key {
            values.push(operation.value);
        }
    }
    values
}

/// A list as a transaction found it: without its own appends where the list ends with them, and whether it does.
pub(super) fn found(history: &History, t: TransactionId, read: OperationId) -> Option<(&[Value], bool)> {
    let list = history.lists().read_by(read)?;
    let own = appended(history, t, history.operation(read).key, Some(read));
    Some(match list.len().checked_sub(own.len()) {
        Some(n) if list[n..] == own[..] => (&list[..n], true),
        _ => (list, false),
    })
}

/// Whether the list that `reader` read puts the version of `pair.0` before that of `pair.1`: an element of the one
/// precedes one of the other, or only the one is in the list that the reader found. O(list + operations of three
/// transactions).
pub(super) fn shows_order(
    history: &History,
    resolution: &Resolution<'_>,
    reader: TransactionId,
    read: OperationId,
    key: KeyId,
    pair: (TransactionId, TransactionId),
) -> Result<(), String> {
    let list = history.lists().read_by(read).ok_or("its premise is no read of a list")?;
    if history.operation(read).key != key {
        return Err("the list it rests on is that of another key".to_owned());
    }
    let (outside, own_are_last) = found(history, reader, read).unwrap_or((list, false));
    let of = |t: TransactionId| -> FxHashSet<Value> { appended(history, t, key, None).into_iter().collect() };
    let (older, newer) = (of(pair.0), of(pair.1));
    let alone = |value: &Value| resolution.only_appender(key, *value).is_some();
    let first_of = |t: TransactionId, elements: &FxHashSet<Value>| {
        // The reader's own appends come after everything it found, whichever other transactions appended the same.
        let own = (t == reader && own_are_last && outside.len() < list.len()).then_some(outside.len());
        outside.iter().position(|v| elements.contains(v) && alone(v)).or(own)
    };
    let (first, second) = (first_of(pair.0, &older), first_of(pair.1, &newer));
    match (first, second) {
        (Some(first), Some(second)) if first < second => Ok(()),
        (Some(first), None) => {
            let absent = newer.iter().all(|value| !outside.contains(value));
            match first < outside.len() && absent && own_are_last && history.rules().lists == ListRule::Exact {
                true => Ok(()),
                false => Err("the list does not show that the one was appended before the other".to_owned()),
            }
        }
        _ => Err("the list does not show that the one was appended before the other".to_owned()),
    }
}

/// Whether a list shows one of the patterns of single reads in one of its elements.
pub(super) fn shows(history: &History, resolution: &Resolution<'_>, pattern: &str, read: OperationId) -> bool {
    let t = history.transaction_of(read);
    let key = history.operation(read).key;
    let Some((list, own_are_last)) = found(history, t, read) else { return false };
    let own = appended(history, t, key, None);
    let own_before = appended(history, t, key, Some(read));
    // The neighbours of a repeated element say nothing: the repetition itself is wrong.
    let is_first = |place: usize| !list[..place].contains(&list[place]);
    match pattern {
        "TAP-a" => list.iter().any(|&value| resolution.appenders(key, value).is_empty()),
        "TAP-b" => list.iter().any(|&value| {
            let writers = resolution.appenders(key, value);
            !writers.is_empty() && writers.iter().all(|&w| history.outcome(w) == Outcome::Aborted)
        }),
        "TAP-c" => list.iter().any(|value| {
            own.contains(value) && !own_before.contains(value) && resolution.only_appender(key, *value) == Some(t)
        }),
        "TAP-f" => list.iter().enumerate().any(|(place, &value)| {
            let Some(writer) = resolution.only_appender(key, value).filter(|&w| w != t) else { return false };
            let all = appended(history, writer, key, None);
            let next = only_place(&all, value).and_then(|at| all.get(at + 1));
            next.is_some_and(|next| list.get(place + 1) != Some(next)) && is_first(place)
        }),
        "DuplicateElement" => {
            // More often than it was appended.
            let n_appends = |value: Value| {
                let writers: FxHashSet<TransactionId> = resolution.appenders(key, value).iter().copied().collect();
                let there = writers.into_iter().filter(|&w| history.outcome(w) != Outcome::Aborted);
                let of = |w| appended(history, w, key, None).iter().filter(|v| **v == value).count();
                there.map(of).sum::<usize>().max(1)
            };
            let n = |value: Value| list.iter().filter(|other| **other == value).count();
            list.iter().any(|&value| n(value) > 1 && n(value) > n_appends(value))
        }
        "IncompatibleOrder" if history.rules().lists == ListRule::Exact && !own_are_last => true,
        "IncompatibleOrder"
            if history.rules().lists == ListRule::Exact
                && !resolution
                    .initial_elements(key)
                    .eq(list.iter().copied().take(resolution.initial_appends(key).len())) =>
        {
            true
        }
        "IncompatibleOrder" => list.iter().enumerate().any(|(place, &value)| {
            let Some(writer) = resolution.only_appender(key, value) else { return false };
            if writer == t {
                return own_before.contains(&value);
            }
            let all = appended(history, writer, key, None);
            let before = only_place(&all, value).and_then(|at| at.checked_sub(1)).map(|at| all[at]);
            before.is_some_and(|before| place.checked_sub(1).map(|p| list[p]) != Some(before)) && is_first(place)
        }),
        _ => false,
    }
}

/// Where a transaction appended an element, if it did so once: else its neighbours say nothing about those in a list.
fn only_place(all: &[Value], value: Value) -> Option<usize> {
    let mut places = all.iter().enumerate().filter(|(_, other)| **other == value).map(|(at, _)| at);
    places.next().filter(|_| places.next().is_none())
}

/// Whether two lists of one key cannot be prefixes of one list.
pub(super) fn incompatible(history: &History, first: OperationId, second: OperationId) -> bool {
    let of = |read: OperationId| found(history, history.transaction_of(read), read).map(|(list, _)| list);
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
    let begin = |key: KeyId| (key, (initial.elements(history, key).collect(), initial.appends(key).to_vec()));
    let mut made: FxHashMap<KeyId, (Vec<Value>, Vec<OperationId>)> = initial.keys().map(begin).collect();
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
            let Some((list, own_are_last)) = found(history, t, o) else { continue };
            let of_key = made.get(&history.operation(o).key);
            let (whole, appends) =
                of_key.map_or((&[][..], &[][..]), |(whole, appends)| (whole.as_slice(), appends.as_slice()));
            let n_initial = initial.appends(history.operation(o).key).len();
            if !own_are_last || !whole.starts_with(list) || list.len() < n_initial {
                let (text, name) = (history.operation_text(o), history.transaction_name(t));
                return Err(format!("{text} of {name} does not follow from the order of the appends"));
            }
            let last = list.len().checked_sub(1).filter(|last| *last >= n_initial);
            makers.insert(o, last.map(|last| appends[last]));
        }
    }
    Ok(makers)
}
