//! Rows of a value that grows by one, with the time that the database gave them.

use super::exchange::{answers, some_answer};
use super::{Exchange, Items, Meaning, Refusal, Workload, no_facts, plain};
use crate::operations::Tree;
use std::collections::BTreeSet;

/// An addition that answers with a row has read the greatest value before it, wrote the next, and inserted the row; a read
/// returns rows.
pub(super) const MONOTONIC: Workload = Workload {
    name: "monotonic",
    must: &["add"],
    may: &["read"],
    fits: |exchanges| {
        let is_row = |value: &Tree<'_>| {
            value
                .field("val")
                .is_some_and(|value| value.integer().is_some())
        };
        let are_rows =
            |value: &Tree<'_>| value.elements().is_some_and(|rows| rows.iter().all(is_row));
        some_answer(exchanges, "add", is_row)
            && answers(exchanges, "add", is_row)
            && answers(exchanges, "read", are_rows)
    },
    keyed: false,
    meaning: Meaning::Items(items),
    facts: no_facts,
    no_levels: None,
    assumes: "An addition that answers with value v has read v − 1 as the greatest, wrote v, and inserted a row.",
};

fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    let (greatest, there) = (super::name("greatest"), super::name("in"));
    let values = exchanges.iter().filter_map(Exchange::got);
    let is_row = |tree: &Tree<'_>| tree.field("val").is_some();
    let mut all_rows = values.flat_map(|value| match value.elements() {
        Some(rows) => rows,
        None => std::slice::from_ref(value),
    });
    let have_processes = all_rows.all(|tree| !is_row(tree) || tree.field("process").is_some());
    let rows = |exchange: &Exchange<'_, '_>| -> Vec<(i64, String)> {
        let all = match exchange.got() {
            Some(read) if exchange.word == "read" => read.elements().unwrap_or_default(),
            Some(row) => std::slice::from_ref(row),
            None => &[],
        };
        let found = all.iter().filter_map(row);
        let named = |(value, process)| {
            (
                value,
                if have_processes {
                    process
                } else {
                    String::new()
                },
            )
        };
        found.map(named).collect()
    };
    let all: BTreeSet<(i64, String)> = exchanges.iter().flat_map(rows).collect();
    let key = |(value, process): &(i64, String)| {
        let process = Tree::Name(process.clone().into());
        Tree::List([super::name("row"), super::number(*value), process].into())
    };
    // The first value has none before it.
    let least = all.first().map_or(0, |row| row.0);
    for exchange in exchanges.iter().filter(|exchange| exchange.got().is_some()) {
        let own = rows(exchange);
        items.begin(exchange);
        if exchange.word == "read" {
            let seen: BTreeSet<_> = own.into_iter().collect();
            all.difference(&seen)
                .for_each(|row| items.read(&key(row), &Tree::Nil));
            seen.iter().for_each(|row| items.read(&key(row), &there));
            continue;
        }
        for row in own {
            let before = row.0.checked_sub(1).filter(|before| *before >= least);
            items.read(&greatest, &before.map_or(Tree::Nil, super::number));
            items.write(&greatest, &super::number(row.0));
            items.write(&key(&row), &there);
        }
    }
    items.lack_answers(exchanges, |word| word == "add");
    Ok(())
}

/// The value of a row, and the process that inserted it.
fn row(tree: &Tree<'_>) -> Option<(i64, String)> {
    let process = tree
        .field("process")
        .map_or_else(String::new, |process| plain(process).text().into_owned());
    Some((tree.field("val")?.integer()?, process))
}
