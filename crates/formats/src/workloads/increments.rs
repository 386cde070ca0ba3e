//! Counters for keys: each increment answers with the value that it made.

use super::exchange::{answers, some_answer};
use super::{Exchange, Items, Meaning, Refusal, Workload, no_facts, plain};
use crate::operations::Tree;
use isoscope_model::history::Outcome;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// An increment that answers `{key n}` read n − 1 and wrote n. Nothing, or −1 in a map, is the value at first.
pub(super) const INCREMENTS: Workload = Workload {
    name: "increments",
    must: &["inc"],
    may: &["read"],
    fits: |exchanges| {
        let is_map = |value: &Tree<'_>| {
            let is_number = |value: &Tree<'_>| value.is_nil() || value.integer().is_some();
            value
                .fields()
                .is_some_and(|fields| fields.iter().all(|(_, value)| is_number(value)))
        };
        some_answer(exchanges, "inc", is_map)
            && answers(exchanges, "inc", |value| {
                is_map(value) && value.fields().is_some_and(|fields| fields.len() == 1)
            })
            && answers(exchanges, "read", is_map)
    },
    keyed: false,
    meaning: Meaning::Items(items),
    facts: no_facts,
    no_levels: None,
    assumes: "An increment that answers n has read n − 1 and written n; −1 is the value at first.",
};

fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    let Some(unanswered) = unanswered(exchanges) else {
        items.is_incomplete = Some("what an increment without an answer made is not known");
        return Ok(());
    };
    for exchange in exchanges {
        refuse_below(exchange)?;
        let found = unanswered.get(&exchange.call);
        let (key, made) = match (exchange.got(), found) {
            (Some(got), _) if exchange.word == "inc" => match got.fields() {
                Some([(key, value)]) => (plain(key), value.integer()),
                _ => continue,
            },
            (Some(got), _) => {
                items.begin(exchange);
                let fields = got.fields().unwrap_or_default().iter();
                let (there, missing): (Vec<_>, Vec<_>) =
                    fields.partition(|(_, value)| value.integer().is_some_and(|value| value >= 0));
                for (key, value) in missing.into_iter().chain(there) {
                    items.read(&plain(key), &at(value.integer()));
                }
                continue;
            }
            (None, Some(made)) => (plain(exchange.asked()), Some(*made)),
            (None, None) => continue,
        };
        items.begin(exchange);
        items.read(&key, &at(made.and_then(|made| made.checked_sub(1))));
        items.write(&key, &at(made));
    }
    Ok(())
}

/// What increments without an answer made, by call. One has made what was read and no other made. None where that is not known.
fn unanswered(exchanges: &[Exchange<'_, '_>]) -> Option<FxHashMap<usize, i64>> {
    /// What a key's increments made, what was read of it, and its increments without an answer.
    type Key = (BTreeSet<i64>, BTreeSet<i64>, Vec<usize>);
    let mut keys: FxHashMap<String, Key> = FxHashMap::default();
    for exchange in exchanges {
        if exchange.word == "inc" && exchange.outcome == Outcome::Unknown {
            let key = plain(exchange.asked()).text().into_owned();
            keys.entry(key).or_default().2.push(exchange.call);
        }
        for (key, value) in exchange.got().and_then(Tree::fields).unwrap_or_default() {
            let (made, read, _) = keys.entry(plain(key).text().into_owned()).or_default();
            let Some(value) = value.integer().filter(|value| *value >= 0) else {
                continue;
            };
            if exchange.word == "inc" {
                made.insert(value);
                read.extend(value.checked_sub(1).filter(|before| *before >= 0));
            } else {
                read.insert(value);
            }
        }
    }
    let mut found = FxHashMap::default();
    for (made, read, open) in keys.into_values() {
        let missing: Vec<i64> = read.difference(&made).copied().collect();
        match (&open[..], &missing[..]) {
            ([], _) => {}
            ([call], [value]) => drop(found.insert(*call, *value)),
            _ => return None,
        }
    }
    Some(found)
}

/// An error for a value below the one at first.
fn refuse_below(exchange: &Exchange<'_, '_>) -> Result<(), Refusal> {
    let least = if exchange.word == "inc" { 0 } else { -1 };
    let fields = exchange.got().and_then(Tree::fields).unwrap_or_default();
    let is_below = |value: &Tree<'_>| value.integer().is_some_and(|value| value < least);
    match fields.iter().find(|(_, value)| is_below(value)) {
        None => Ok(()),
        Some((_, value)) => Err((
            exchange.line,
            format!(
                "a value from {least} on was expected, found {}",
                value.text()
            ),
        )),
    }
}

fn at(value: Option<i64>) -> Tree<'static> {
    value
        .filter(|value| *value >= 0)
        .map_or(Tree::Nil, super::number)
}
