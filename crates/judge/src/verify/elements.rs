//! List elements that were appended more than once: which append may have made them, determined independently from the
//! operations.
//!
//! At read committed and up every place of a list was made by one append, no append made two places of a key, and the
//! appends of a transaction to a key are adjacent and in order in every list that a participant found and that has one
//! of them. So a place that only one append fits was made by it, and nothing is lost by fixing that: the append and the
//! place get an element of their own, in all lists that agree up to there. Lists that do not agree cannot both have
//! been found.

use super::initial::Initial;
use super::lists::found;
use super::operations::writes_of;
use super::resolution::Resolution;
use isoscope_model::history::{
    History, KeyId, ListRule, OperationId, OperationKind, Outcome, TransactionId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A history whose elements are distinguished as far as possible.
pub(super) struct Apart {
    pub(super) history: History,
    /// No append can have made some place: nothing explains the history.
    pub(super) is_impossible: bool,
}

/// Whether there are elements to distinguish.
pub(super) fn concerns(history: &History) -> bool {
    if history.lists().is_empty() || history.rules().lists != ListRule::Exact {
        return false;
    }
    let mut seen = FxHashSet::default();
    let mut appends = (0..history.n_operations())
        .map(OperationId::new)
        .map(|o| history.operation(o));
    appends.any(|o| {
        o.kind == OperationKind::Write
            && history.lists().is_list(o.key)
            && !seen.insert((o.key, o.value))
    })
}

/// Distinguishes elements as far as possible. O((operations + elements read) · rounds), each of which names an append.
pub(super) fn distinguished(history: History, initial: &Arc<Initial>) -> Apart {
    go_on(history, initial, false)
}

/// Distinguishes elements where it may be known already that it is impossible.
fn go_on(mut history: History, initial: &Arc<Initial>, mut is_impossible: bool) -> Apart {
    loop {
        let mut forced = Vec::new();
        {
            let resolution = Resolution::whole(&history, Arc::clone(initial));
            for (read, _) in history.lists().iter() {
                let t = resolution.owner(read);
                let Some((list, true)) = found(&history, t, read) else {
                    continue;
                };
                if history.outcome(t) == Outcome::Aborted || !resolution.is_member(t) {
                    continue;
                }
                for place in 0..list.len() {
                    let key = history.operation(read).key;
                    if resolution.committed_appends(key, list[place]).len() < 2 {
                        continue;
                    }
                    match *fitting(&history, &resolution, read, list, place).as_slice() {
                        // A conclusion elsewhere may be what shows it.
                        [] => is_impossible = true,
                        [append] => forced.push((read, place, append)),
                        _ => {}
                    }
                }
            }
        }
        if forced.is_empty() {
            return Apart {
                history,
                is_impossible,
            };
        }
        // All of them are forced: if they exclude each other, nothing explains the history.
        let (next, exclude_each_other) = named(&history, &forced);
        history = next;
        is_impossible |= exclude_each_other;
    }
}

/// The history in which `append` made the element at a place, with all consequences.
pub(super) fn with(
    history: &History,
    initial: &Arc<Initial>,
    (read, place): (OperationId, usize),
    append: OperationId,
) -> Apart {
    let (history, is_impossible) = named(history, &[(read, place, append)]);
    go_on(history, initial, is_impossible)
}

/// The history in which a transaction of unknown outcome committed or did not, with all consequences.
pub(super) fn with_outcome(
    history: &History,
    initial: &Arc<Initial>,
    t: TransactionId,
    committed: bool,
) -> Result<Apart, String> {
    let name = || history.transaction_name(t);
    if t.is_initial() || history.outcome(t) != Outcome::Unknown {
        return Err(format!("it is known whether {} committed", name()));
    }
    if history.rules().lists != ListRule::Exact {
        return Err(format!(
            "lists need not agree, so it says nothing of them whether {} committed",
            name()
        ));
    }
    let history = history.with_outcomes(&[(t, committed)]);
    Ok(distinguished(history, initial))
}

/// The appends that may have made the element at a place of a list that a transaction found, ascending.
pub(super) fn makers(
    history: &History,
    resolution: &Resolution<'_>,
    read: OperationId,
    place: usize,
) -> Result<Vec<OperationId>, String> {
    let text = || history.operation_text(read);
    match found(history, resolution.owner(read), read) {
        Some((list, true)) if place < list.len() => {
            Ok(fitting(history, resolution, read, list, place))
        }
        Some((_, true)) => Err(format!("{} found no element in place {place}", text())),
        Some(_) => Err(format!("{} does not end with its own appends", text())),
        None => Err(format!("{} returned no list", text())),
    }
}

/// Appends of the element by other, non-aborted transactions whose appends to the key all fit around it.
fn fitting(
    history: &History,
    resolution: &Resolution<'_>,
    read: OperationId,
    list: &[isoscope_model::history::Value],
    place: usize,
) -> Vec<OperationId> {
    let (key, reader) = (history.operation(read).key, resolution.owner(read));
    let initial = resolution.initial_appends(key);
    if let Some(&append) = initial.get(place) {
        // Every list begins with the setup.
        let is_there = resolution
            .initial_elements(key)
            .eq(list.iter().copied().take(initial.len()));
        return if is_there { vec![append] } else { Vec::new() };
    }
    let mut appends = resolution.committed_appends(key, list[place]);
    appends.retain(|append| !resolution.is_setup(resolution.owner(*append)));
    appends.retain(|&append| {
        let all = other_appends(history, append);
        let before = all.iter().take_while(|&&o| o < append).count();
        let fits =
            |(o, at): (&OperationId, usize)| list.get(at) == Some(&history.operation(*o).value);
        resolution.owner(append) != reader
            && before + initial.len() <= place
            && all.iter().zip(place - before..).all(fits)
    });
    appends.sort_unstable();
    appends
}

/// All appends of a transaction to the key of one of them, in program order.
fn other_appends(history: &History, append: OperationId) -> Vec<OperationId> {
    writes_of(
        history,
        history.transaction_of(append),
        history.operation(append).key,
    )
    .collect()
}

/// Gives the appends of transactions to keys elements of their own, at the places around those of some of them (read,
/// place, append), and returns whether two of them exclude each other: an append would be in two places or a place have
/// two appends. The first of those counts.
fn named(history: &History, made: &[(OperationId, usize, OperationId)]) -> (History, bool) {
    let mut appends: Vec<OperationId> = Vec::new();
    let mut listed: Vec<(OperationId, usize, OperationId)> = Vec::new();
    let mut made_by: FxHashMap<(KeyId, usize), OperationId> = FxHashMap::default();
    let mut stands_at: FxHashMap<OperationId, usize> = FxHashMap::default();
    let mut exclude_each_other = false;
    for &(read, place, append) in made {
        let all = other_appends(history, append);
        let begin = place - all.iter().take_while(|&&o| o < append).count();
        let key = history.operation(read).key;
        let known = (begin..)
            .zip(&all)
            .map(|(at, o)| (made_by.get(&(key, at)), stands_at.get(o), at, o));
        let (mut is_taken, mut differs) = (false, false);
        for (other, elsewhere, at, o) in known {
            is_taken |= other.is_some() || elsewhere.is_some();
            differs |= other.is_some_and(|other| other != o)
                || elsewhere.is_some_and(|&elsewhere| elsewhere != at);
        }
        exclude_each_other |= differs;
        let (Some(list), false) = (history.lists().read_by(read), is_taken) else {
            continue;
        };
        for (at, &o) in (begin..).zip(&all) {
            made_by.insert((key, at), o);
            stands_at.insert(o, at);
        }
        for (other, elements) in history
            .lists()
            .iter()
            .filter(|(other, _)| history.operation(*other).key == key)
        {
            let found = found(history, history.transaction_of(other), other)
                .map_or(elements, |(found, _)| found);
            let agreeing = found.iter().zip(list).take_while(|(a, b)| a == b).count();
            let places = (begin..).zip(&all).take_while(|(at, _)| *at < agreeing);
            listed.extend(places.map(|(at, &o)| (other, at, o)));
        }
        appends.extend(all);
    }
    (
        history.with_own_elements(&appends, &listed),
        exclude_each_other,
    )
}
