//! Identifiers that are generated.

use super::exchange::some_answer;
use super::facts::{Facts, Seen, names};
use super::{Exchange, Items, Meaning, Refusal, Workload};
use isoscope_model::history::Answer;
use std::collections::BTreeMap;

/// No identifier is generated twice.
pub(super) const UNIQUE_IDS: Workload = Workload {
    name: "unique-ids",
    must: &["generate"],
    may: &[],
    fits: |exchanges| some_answer(exchanges, "generate", |value| !value.is_nil()),
    keyed: false,
    meaning: Meaning::Items(items),
    facts,
    no_levels: Some("identifiers are neither read nor written"),
    assumes: "",
};

/// What a picture shows: the identifiers.
fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    let id = super::name("id");
    for exchange in exchanges {
        items.begin(exchange);
        exchange
            .got()
            .into_iter()
            .for_each(|got| items.read(&id, got));
    }
    Ok(())
}

fn facts(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    let mut calls: BTreeMap<String, Vec<&Exchange<'_, '_>>> = BTreeMap::new();
    for exchange in exchanges {
        if let Some(got) = exchange.got_some() {
            calls
                .entry(got.text().into_owned())
                .or_default()
                .push(exchange);
        }
    }
    calls.retain(|_, calls| calls.len() > 1);
    facts.answer("unique-ids", Answer::valid_if(calls.is_empty()));
    if let Some(first) = calls.values().next() {
        let were = if calls.len() > 1 { "were" } else { "was" };
        let ids = names(calls.keys().cloned().collect());
        let statement = format!("{ids} {were} generated more than once");
        let first = first.iter().map(|exchange| exchange.call).collect();
        let about = calls.keys().cloned().collect();
        facts.add(exchanges, Seen::new("twice", about, statement, first));
    }
}
