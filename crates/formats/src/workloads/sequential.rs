//! Subkeys that one client writes one after the other, and reads of all of them, the last written first.

use super::exchange::{answers, requests, some_answer};
use super::facts::{Facts, Seen};
use super::{Exchange, Items, Meaning, Refusal, Workload};
use crate::operations::Tree;
use isoscope_model::history::Answer;
use std::borrow::Cow;

/// A write of a subkey is a transaction, and a read is one for each subkey, in the order given.
pub(super) const SEQUENTIAL: Workload = Workload {
    name: "sequential",
    must: &["add"],
    may: &["read"],
    fits: |exchanges| {
        exchanges.iter().all(|exchange| exchange.key.is_some())
            && requests(exchanges, "add", |value| value.is_single())
            && answers(exchanges, "read", |value| matches!(value, Tree::List(_)))
            && some_answer(exchanges, "read", |value| {
                value
                    .elements()
                    .is_some_and(|elements| elements.contains(&Tree::Nil))
            })
    },
    keyed: true,
    meaning: Meaning::Items(items),
    facts,
    no_levels: None,
    assumes: "A read of several subkeys reads them one after the other, each in a transaction of its own.",
};

fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    let there = super::name("in");
    for exchange in exchanges {
        let Some(read) = exchange.got().filter(|_| exchange.word == "read") else {
            if exchange.word == "add" {
                items.begin(exchange);
                items.write(&exchange.named(exchange.given()), &there);
            }
            continue;
        };
        let subkeys = read.elements().unwrap_or_default();
        for (place, subkey) in subkeys.iter().enumerate() {
            items.begin(exchange);
            if subkey.is_nil() {
                let missing = missing(exchange, subkeys, subkeys.len() - 1 - place);
                items.read(&exchange.named(&missing), &Tree::Nil);
            } else {
                items.read(&exchange.named(subkey), &there);
            }
        }
    }
    Ok(())
}

/// The subkey `KEY_N`, spelled as its neighbours are.
fn missing(exchange: &Exchange<'_, '_>, subkeys: &[Tree<'_>], n: usize) -> Tree<'static> {
    let key = exchange.key.map_or(Cow::Borrowed(""), Tree::text);
    let is_quoted = |subkey: &Tree<'_>| matches!(subkey, Tree::Name(name) if name.starts_with('"'));
    let name = match subkeys.iter().any(is_quoted) || !subkeys.iter().any(Tree::is_single) {
        true => format!("\"{key}_{n}\""),
        false => format!("{key}_{n}"),
    };
    Tree::Name(Cow::Owned(name))
}

/// A read that misses a subkey after one that was written later.
fn facts(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    let has_gap = |exchange: &&Exchange<'_, '_>| {
        let read = exchange
            .got()
            .filter(|_| exchange.word == "read")
            .and_then(Tree::elements);
        let mut later = read
            .into_iter()
            .flatten()
            .skip_while(|subkey| subkey.is_nil());
        later.any(Tree::is_nil)
    };
    let found = exchanges.iter().find(has_gap);
    facts.answer("sequential", Answer::valid_if(found.is_none()));
    if let Some(read) = found {
        let shown = read
            .got()
            .map_or_else(String::new, |read| read.text().into_owned());
        facts.add(
            exchanges,
            Seen {
                name: "later without earlier",
                statement: format!(
                    "{shown}: a subkey is missing though one that was written later is there"
                ),
                about: vec![shown],
                calls: vec![read.call],
                counts: true,
            },
        );
    }
}
