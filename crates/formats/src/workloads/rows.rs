//! Writes of all rows of a table at once, and reads of all of them.

use super::exchange::{answers, requests};
use super::facts::{Facts, Seen};
use super::{Exchange, Items, Meaning, Refusal, Workload};
use crate::operations::Tree;
use isoscope_model::history::{Answer, Outcome};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

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
        are_tables(exchanges)
            && answers(exchanges, "read", are_rows)
            && requests(exchanges, "write", |value| value.is_single())
    },
    keyed: false,
    meaning: Meaning::Items(rows),
    facts: failed_rows,
    no_levels: None,
    assumes: "A write sets all rows, as many as reads return.",
};

/// Whether reads return lists of as many values each time.
fn are_tables(exchanges: &[Exchange<'_, '_>]) -> bool {
    let reads = exchanges.iter().filter(|exchange| exchange.word == "read");
    let mut lengths = reads.filter_map(|read| match read.got() {
        Some(Tree::List(rows)) => Some(rows.len()),
        _ => None,
    });
    let first = lengths.next();
    first.is_some() && lengths.all(|length| Some(length) == first)
}

fn rows(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    let elements = |exchange: &Exchange<'_, '_>| match exchange.got() {
        Some(value) if exchange.word == "read" => value.elements().map_or(0, <[_]>::len),
        _ => 0,
    };
    let n = exchanges.iter().map(elements).max().unwrap_or_default();
    let row = |n: usize| Tree::List([super::name("row"), super::number(n as i64)].into());
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
    facts: identifiers_seen,
    no_levels: None,
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

/// A row whose value only failed writes wrote.
fn failed_rows(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    let mut failed: FxHashMap<Cow<'_, str>, usize> = FxHashMap::default();
    let writes = || exchanges.iter().filter(|exchange| exchange.word == "write");
    failed.extend(
        writes()
            .filter(|write| write.outcome == Outcome::Aborted)
            .map(|write| (write.given().text(), write.call)),
    );
    for write in writes().filter(|write| write.outcome != Outcome::Aborted) {
        failed.remove(&write.given().text());
    }
    let mut is_valid = true;
    for read in exchanges.iter().filter(|exchange| exchange.word == "read") {
        let rows = read.got().and_then(Tree::elements).unwrap_or_default();
        let Some((row, call)) = rows
            .iter()
            .find_map(|row| Some((row, *failed.get(&row.text())?)))
        else {
            continue;
        };
        is_valid = false;
        facts.add(
            exchanges,
            Seen {
                name: "dirty read",
                about: vec![row.text().into_owned()],
                statement: format!(
                    "a read has a row with {}, whose write had failed",
                    row.text()
                ),
                calls: vec![call, read.call],
                counts: true,
            },
        );
    }
    facts.answer("dirty-reads", Answer::valid_if(is_valid));
}

/// What was read or acknowledged, and is in no strong read; and what is not in all of them.
fn identifiers_seen(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    type Names<'e> = BTreeMap<Cow<'e, str>, usize>;
    let strong: Vec<Names<'_>> = exchanges
        .iter()
        .filter(|exchange| exchange.word == "strong-read")
        .filter_map(|read| Some((read.call, read.got()?.elements()?)))
        .map(|(call, elements)| {
            elements
                .iter()
                .map(|element| (element.text(), call))
                .collect()
        })
        .collect();
    if strong.is_empty() {
        facts.answer("dirty-read", Answer::Unknown);
        return;
    }
    let of_word = |word: &str| -> Names<'_> {
        let sure = exchanges
            .iter()
            .filter(|exchange| exchange.word == word && exchange.is_committed());
        sure.map(|exchange| (exchange.asked().text(), exchange.call))
            .collect()
    };
    let mut some = Names::new();
    strong.iter().for_each(|seen| some.extend(seen.clone()));
    let missing = |names: Names<'_>| -> Vec<(String, usize)> {
        let gone = names
            .into_iter()
            .filter(|(name, _)| !some.contains_key(name));
        gone.map(|(name, call)| (name.into_owned(), call)).collect()
    };
    let uneven = some
        .iter()
        .filter(|(name, _)| !strong.iter().all(|seen| seen.contains_key(*name)));
    let groups = [
        ("read, then in no final read", missing(of_word("read"))),
        ("lost", missing(of_word("write"))),
        (
            "not everywhere",
            uneven
                .map(|(name, call)| (name.clone().into_owned(), *call))
                .collect(),
        ),
    ];
    facts.answer(
        "dirty-read",
        Answer::valid_if(groups.iter().all(|(_, found)| found.is_empty())),
    );
    for (name, found) in groups.into_iter().filter(|(_, found)| !found.is_empty()) {
        let about: Vec<String> = found.iter().map(|(name, _)| name.clone()).collect();
        facts.add(
            exchanges,
            Seen {
                name,
                statement: match name {
                    "lost" => format!("acknowledged, and in no final read: {}", about.join(", ")),
                    "not everywhere" => format!("in some final reads only: {}", about.join(", ")),
                    _ => format!("{name}: {}", about.join(", ")),
                },
                about,
                calls: found.iter().map(|(_, call)| *call).collect(),
                // Time does not count in this rule.
                counts: false,
            },
        );
    }
}
