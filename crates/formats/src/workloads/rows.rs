//! Writes of all rows of a table at once, and reads of all of them.

use super::exchange::{answers, requests, some_answer};
use super::{Exchange, Items, Meaning, Refusal, Workload};
use crate::operations::Tree;
use std::collections::BTreeSet;

/// `dirty-reads`: a write sets all rows, as many as reads return.
pub(super) const ROWS: Workload = Workload {
    name: "dirty-reads",
    must: &["write"],
    may: &["read"],
    fits: |exchanges| {
        let is_row = |value: &Tree<'_>| value.is_single() || value.is_nil();
        let are_rows = |value: &Tree<'_>| match value {
            Tree::List(rows) => rows.iter().all(is_row),
            value => value.is_nil(),
        };
        some_answer(exchanges, "read", |value| !value.is_nil())
            && answers(exchanges, "read", are_rows)
            && requests(exchanges, "write", |value| value.is_single())
    },
    keyed: false,
    meaning: Meaning::Items(rows),
    assumes: "A write sets all rows, as many as reads return.",
};

fn rows(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    let elements = |exchange: &Exchange<'_, '_>| match exchange.got() {
        Some(value) if exchange.word == "read" => value.elements().map_or(0, <[_]>::len),
        _ => 0,
    };
    let n = exchanges.iter().map(elements).max().unwrap_or_default();
    let row = |n: usize| Tree::List(vec![super::name("row"), super::number(n as i64)]);
    for exchange in exchanges {
        items.begin(exchange);
        match exchange.got().and_then(Tree::elements) {
            _ if exchange.word == "write" => {
                (0..n).for_each(|place| items.write(&row(place), exchange.given()));
            }
            Some(values) => {
                let values = values.iter().enumerate();
                values.for_each(|(place, value)| items.read(&row(place), value));
            }
            None => {}
        }
    }
    Ok(())
}

/// `dirty-read`: a read of an identifier that succeeded has seen it, a strong read all that are there.
pub(super) const DIRTY_READS: Workload = Workload {
    name: "dirty-read",
    must: &["strong-read"],
    may: &["read", "write", "refresh"],
    fits: |exchanges| {
        answers(exchanges, "strong-read", |value| value.elements().is_some())
            && ["read", "write"]
                .iter()
                .all(|word| requests(exchanges, word, |value| value.is_single()))
    },
    keyed: false,
    meaning: Meaning::Items(identifiers),
    assumes: "A read of an identifier that succeeded has seen it; a strong read sees all identifiers that are there.",
};

fn identifiers(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    let there = super::name("in");
    let mut all = BTreeSet::new();
    for exchange in exchanges {
        match exchange.word {
            "strong-read" => all.extend(
                exchange
                    .got()
                    .and_then(Tree::elements)
                    .into_iter()
                    .flatten()
                    .map(Tree::text),
            ),
            "refresh" => {}
            _ => drop(all.insert(exchange.asked().text())),
        }
    }
    for exchange in exchanges {
        items.begin(exchange);
        match exchange.word {
            "write" => items.write(exchange.given(), &there),
            "read" if exchange.is_committed() => items.read(exchange.asked(), &there),
            "strong-read" => {
                let Some(seen) = exchange.got().and_then(Tree::elements) else {
                    continue;
                };
                let seen: BTreeSet<_> = seen.iter().map(Tree::text).collect();
                for name in &all {
                    let key = Tree::Name(name.clone());
                    items.read(
                        &key,
                        if seen.contains(name) {
                            &there
                        } else {
                            &Tree::Nil
                        },
                    );
                }
            }
            _ => {}
        }
    }
    Ok(())
}
