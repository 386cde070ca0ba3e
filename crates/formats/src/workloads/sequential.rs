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
    fits: |exchanges| are_subkeys(exchanges) && misses_some(exchanges),
    keyed: true,
    meaning: Meaning::Items(items),
    facts,
    no_levels: None,
    assumes: "A read of several subkeys reads them one after the other, each in a transaction of its own.",
};

/// The same without a read that misses anything: a set of each key, unless that is said.
pub(super) const WITHOUT_NIL: Workload = Workload {
    fits: |exchanges| are_subkeys(exchanges) && !misses_some(exchanges),
    ..SEQUENTIAL
};

/// Whether a read misses a subkey.
fn misses_some(exchanges: &[Exchange<'_, '_>]) -> bool {
    some_answer(exchanges, "read", |value| {
        let elements = value.elements();
        elements.is_some_and(|elements| elements.contains(&Tree::Nil))
    })
}

fn are_subkeys(exchanges: &[Exchange<'_, '_>]) -> bool {
    exchanges.iter().all(|exchange| exchange.key.is_some())
        && requests(exchanges, "add", |value| value.is_single())
        && answers(exchanges, "read", |value| matches!(value, Tree::List(_)))
}

fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    let there = super::name("in");
    let additions = exchanges.iter().filter(|exchange| exchange.word == "add");
    let mut added: Vec<&Tree<'_>> = Vec::new();
    for addition in additions.map(|addition| addition.given()) {
        if !added.contains(&addition) {
            added.push(addition);
        }
    }
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
                let Some(missing) = missing(exchange, subkeys, &added, subkeys.len() - 1 - place)
                else {
                    let message =
                        "a subkey is missing, and its name is not known: additions do not tell it";
                    return Err((exchange.line, message.to_owned()));
                };
                items.read(&exchange.named(&missing), &Tree::Nil);
            } else {
                items.read(&exchange.named(subkey), &there);
            }
        }
    }
    Ok(())
}

/// The n-th subkey: `KEY_N` where all are so called, else that of the n-th addition where there are as many as a read has.
/// What nobody added may have any name.
fn missing(
    exchange: &Exchange<'_, '_>,
    subkeys: &[Tree<'_>],
    added: &[&Tree<'_>],
    n: usize,
) -> Option<Tree<'static>> {
    let key = exchange.key.map_or(Cow::Borrowed(""), Tree::text);
    let is_numbered = |subkey: &Tree<'_>| {
        let number = subkey
            .word()
            .and_then(|word| word.strip_prefix(&*key)?.strip_prefix('_'));
        number.is_some_and(|number| number.parse::<usize>().is_ok())
    };
    let known = || {
        let there = subkeys.iter().filter(|subkey| !subkey.is_nil());
        there.chain(added.iter().copied())
    };
    if known().all(is_numbered) {
        let is_quoted =
            known().any(|subkey| matches!(subkey, Tree::Name(name) if name.starts_with('"')));
        let quote = if is_quoted { "\"" } else { "" };
        return Some(Tree::Name(format!("{quote}{key}_{n}{quote}").into()));
    }
    let fits = |(subkey, added): (&Tree<'_>, &&Tree<'_>)| subkey.is_nil() || subkey == *added;
    let is_each = added.len() == subkeys.len() && subkeys.iter().rev().zip(added).all(fits);
    is_each.then(|| added[n].clone().into_owned())
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
        let writes = exchanges.iter().filter(|exchange| exchange.word != "read");
        let writes = writes.map(|write| write.call);
        let shown = read
            .got()
            .map_or_else(String::new, |read| read.text().into_owned());
        facts.add(
            exchanges,
            Seen {
                name: "later without earlier",
                statement: format!("a read found a later subkey without an earlier one: {shown}"),
                about: vec![shown],
                calls: writes.chain([read.call]).collect(),
                counts: true,
            },
        );
    }
}
