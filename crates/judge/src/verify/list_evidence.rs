//! What a list shows together with the appends that made its elements.

use super::lists::{appended, found};
use super::resolution::Resolution;
use isoscope_model::history::{
    History, KeyId, ListRule, OperationId, Outcome, TransactionId, Value,
};
use isoscope_model::levels::Pattern;
use rustc_hash::FxHashSet;

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
    let list = history
        .lists()
        .read_by(read)
        .ok_or("its premise is no read of a list")?;
    if history.operation(read).key != key {
        return Err("the list it rests on is that of another key".to_owned());
    }
    let (outside, own_are_last) = found(history, reader, read).unwrap_or((list, false));
    let of = |t: TransactionId| -> FxHashSet<Value> {
        appended(history, t, key, None).into_iter().collect()
    };
    let (older, newer) = (of(pair.0), of(pair.1));
    let alone = |value: &Value| resolution.only_appender(key, *value).is_some();
    let first_of = |t: TransactionId, elements: &FxHashSet<Value>| {
        // The reader's own appends come after everything it found, whichever other transactions appended the same.
        let own =
            (t == reader && own_are_last && outside.len() < list.len()).then_some(outside.len());
        outside
            .iter()
            .position(|v| elements.contains(v) && alone(v))
            .or(own)
    };
    let (first, second) = (first_of(pair.0, &older), first_of(pair.1, &newer));
    match (first, second) {
        (Some(first), Some(second)) if first < second => Ok(()),
        (Some(first), None) => {
            let absent = newer.iter().all(|value| !outside.contains(value));
            require!(
                first < outside.len()
                    && absent
                    && own_are_last
                    && history.rules().lists == ListRule::Exact,
                "the list does not show that the one was appended before the other"
            )
        }
        _ => Err("the list does not show that the one was appended before the other".to_owned()),
    }
}

/// Whether a list shows one of the patterns of single reads in one of its elements.
pub(super) fn shows(
    history: &History,
    resolution: &Resolution<'_>,
    pattern: Pattern,
    read: OperationId,
) -> bool {
    let t = history.transaction_of(read);
    let key = history.operation(read).key;
    let Some((list, own_are_last)) = found(history, t, read) else {
        return false;
    };
    let own = appended(history, t, key, None);
    let own_before = appended(history, t, key, Some(read));
    // The neighbours of a repeated element say nothing: the repetition itself is wrong.
    let is_first = |place: usize| !list[..place].contains(&list[place]);
    match pattern {
        Pattern::ThinAirRead | Pattern::AbortedRead => list.iter().any(|&value| {
            let writers = resolution.appenders(key, value);
            let is_seen = writers.iter().any(|&w| resolution.may_have_seen(t, w));
            writers
                .iter()
                .all(|&w| history.outcome(w) == Outcome::Aborted)
                && is_seen == (pattern == Pattern::AbortedRead)
        }),
        Pattern::FutureRead => list.iter().any(|value| {
            own.contains(value)
                && !own_before.contains(value)
                && resolution.only_appender(key, *value) == Some(t)
        }),
        Pattern::IntermediateRead => list.iter().enumerate().any(|(place, &value)| {
            let Some(writer) = resolution.only_appender(key, value).filter(|&w| w != t) else {
                return false;
            };
            let all = appended(history, writer, key, None);
            let next = only_place(&all, value).and_then(|at| all.get(at + 1));
            next.is_some_and(|next| list.get(place + 1) != Some(next)) && is_first(place)
        }),
        Pattern::DuplicateElement => {
            // More often than it was appended.
            let n_appends = |value: Value| {
                let writers: FxHashSet<TransactionId> =
                    resolution.appenders(key, value).iter().copied().collect();
                let there = writers
                    .into_iter()
                    .filter(|&w| history.outcome(w) != Outcome::Aborted);
                let of = |w| {
                    appended(history, w, key, None)
                        .iter()
                        .filter(|v| **v == value)
                        .count()
                };
                there.map(of).sum::<usize>().max(1)
            };
            let n = |value: Value| list.iter().filter(|other| **other == value).count();
            list.iter()
                .any(|&value| n(value) > 1 && n(value) > n_appends(value))
        }
        Pattern::IncompatibleOrder if history.rules().lists == ListRule::Exact && !own_are_last => {
            true
        }
        Pattern::IncompatibleOrder
            if history.rules().lists == ListRule::Exact
                && !resolution.initial_elements(key).eq(list
                    .iter()
                    .copied()
                    .take(resolution.initial_appends(key).len())) =>
        {
            true
        }
        Pattern::IncompatibleOrder => list.iter().enumerate().any(|(place, &value)| {
            let Some(writer) = resolution.only_appender(key, value) else {
                return false;
            };
            if writer == t {
                return own_before.contains(&value);
            }
            let all = appended(history, writer, key, None);
            let before = only_place(&all, value)
                .and_then(|at| at.checked_sub(1))
                .map(|at| all[at]);
            before.is_some_and(|before| place.checked_sub(1).map(|p| list[p]) != Some(before))
                && is_first(place)
        }),
        _ => false,
    }
}

/// Where a transaction appended an element, if it did so once: else its neighbours say nothing about those in a list.
fn only_place(all: &[Value], value: Value) -> Option<usize> {
    let mut places = all
        .iter()
        .enumerate()
        .filter(|(_, other)| **other == value)
        .map(|(at, _)| at);
    places.next().filter(|_| places.next().is_none())
}
