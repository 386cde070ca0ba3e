//! Counters for keys: each increment answers with the value that it made.

use super::exchange::{answers, some_answer};
use super::{Exchange, Items, Meaning, Refusal, Workload, no_facts};
use crate::operations::Tree;
use isoscope_model::history::Outcome;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
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
    let unanswered = unanswered(exchanges)?;
    for exchange in exchanges {
        let found = unanswered.get(&exchange.call);
        let (key, made): (Cow<'_, _>, _) = match (exchange.got(), found) {
            (Some(got), _) if exchange.word == "inc" => match got.fields() {
                Some([(key, value)]) => (Cow::Borrowed(key), value.integer()),
                _ => continue,
            },
            (Some(got), _) => {
                items.begin(exchange);
                for (key, value) in got.fields().unwrap_or_default() {
                    items.read(key, &at(value.integer()));
                }
                continue;
            }
            (None, Some(made)) => (Cow::Borrowed(exchange.asked()), Some(*made)),
            (None, None) => continue,
        };
        items.begin(exchange);
        items.read(&key, &at(made.and_then(|made| made.checked_sub(1))));
        items.write(&key, &at(made));
    }
    Ok(())
}

/// What increments without an answer made, by call. One has made what was read and no other made; one that nothing was seen
/// of need not have happened.
fn unanswered(exchanges: &[Exchange<'_, '_>]) -> Result<FxHashMap<usize, i64>, Refusal> {
    /// What a key's increments made, what was read of it, and its increments without an answer, with their lines.
    type Key = (BTreeSet<i64>, BTreeSet<i64>, Vec<(usize, u32)>);
    let mut keys: FxHashMap<String, Key> = FxHashMap::default();
    for exchange in exchanges {
        if exchange.word == "inc" && exchange.outcome == Outcome::Unknown {
            let key = exchange.asked().text().into_owned();
            keys.entry(key)
                .or_default()
                .2
                .push((exchange.call, exchange.line));
        }
        for (key, value) in exchange.got().and_then(Tree::fields).unwrap_or_default() {
            let (made, read, _) = keys.entry(key.text().into_owned()).or_default();
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
            ([], _) | (_, []) => {}
            ([(call, _)], [value]) => drop(found.insert(*call, *value)),
            ([(_, line), ..], _) => {
                let message =
                    "an increment without an answer: which of several values it made is not known";
                return Err((*line, message.to_owned()));
            }
        }
    }
    Ok(found)
}

fn at(value: Option<i64>) -> Tree<'static> {
    value
        .filter(|value| *value >= 0)
        .map_or(Tree::Nil, super::number)
}
