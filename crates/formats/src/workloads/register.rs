//! A register that is read, written, and compared and set.

use super::exchange::{answers, requests, some_answer};
use super::facts::{Facts, Seen};
use super::{Exchange, Items, Meaning, Refusal, Workload, no_facts};
use crate::operations::Tree;
use isoscope_model::history::{Answer, NilRule, Outcome};
use std::collections::BTreeMap;

/// A compare-and-set that succeeded, or may have, read the old value and wrote the new one. One that failed without an
/// error may have read something other than the old value ([`FailedCasRule`](isoscope_model::history::FailedCasRule)).
pub(super) const REGISTER: Workload = Workload {
    name: "register",
    must: &["read", "write", "cas"],
    may: &[],
    fits: |exchanges| {
        let is_value = |value: &Tree<'_>| value.is_single() || value.is_nil();
        answers(exchanges, "read", is_value)
            && exchanges
                .iter()
                .all(|exchange| exchange.word != "write" || exchange.given().is_single())
            && requests(exchanges, "cas", |value| old_and_new(value).is_some())
    },
    keyed: true,
    meaning: Meaning::Items(items),
    facts: no_facts,
    no_levels: None,
    assumes: "",
};

/// Reads return the number of the version beside the value.
pub(super) const VERSIONS: Workload = Workload {
    name: "version-divergence",
    must: &["read"],
    may: &["write"],
    fits: |exchanges| {
        some_answer(exchanges, "read", |value| value.field("_version").is_some())
            && answers(exchanges, "read", |value| {
                value.is_nil() || value.field("value").is_some()
            })
            && requests(exchanges, "write", |value| value.is_single())
    },
    keyed: true,
    meaning: Meaning::Items(items),
    facts: versions,
    no_levels: None,
    assumes: "The value of a read is that of its `value`; versions beside it are not compared.",
};

/// The name of a register without a name.
const ONLY: Tree<'static> = super::name("register");

fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    if !exchanges.iter().any(|exchange| exchange.word != "read") {
        items.is_incomplete = Some("there are reads and no write, so nothing was tested");
    }
    for exchange in exchanges {
        let key = match exchange.key {
            Some(key) => key,
            None => &ONLY,
        };
        items.begin(exchange);
        match exchange.word {
            "read" => {
                let got = exchange.got().map(|got| got.field("value").unwrap_or(got));
                let says_nothing = |got: &&Tree<'_>| items.nil == NilRule::Unknown && got.is_nil();
                if let Some(value) = got.filter(|got| !says_nothing(got)) {
                    items.read(key, value);
                }
            }
            "write" => items.write(key, exchange.given()),
            _ => {
                exchange.refuse_false()?;
                let both = old_and_new(exchange.asked()).or(old_and_new(exchange.answered()));
                let Some((old, new)) = both else { continue };
                if exchange.outcome != Outcome::Aborted {
                    items.read(key, old);
                    items.write(key, new);
                } else if exchange.has_answer
                    && !exchange.operation.has_error
                    && !exchange.answered().is_single()
                {
                    items.read_other(key, old);
                }
            }
        }
    }
    Ok(())
}

/// The old and the new value of a compare-and-set.
fn old_and_new<'t, 'a>(value: &'t Tree<'a>) -> Option<(&'t Tree<'a>, &'t Tree<'a>)> {
    match value.pair_or_more()? {
        (old, [new]) if new.is_single() => Some((old, new)),
        _ => None,
    }
}

/// A version has one value.
fn versions(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    let mut values: BTreeMap<String, (String, usize)> = BTreeMap::new();
    let mut is_valid = true;
    for read in exchanges.iter().filter(|exchange| exchange.word == "read") {
        let Some(got) = read.got() else { continue };
        let (Some(version), Some(value)) = (got.field("_version"), got.field("value")) else {
            continue;
        };
        let (version, value) = (version.text().into_owned(), value.text().into_owned());
        let (before, call) = values
            .entry(version.clone())
            .or_insert_with(|| (value.clone(), read.call));
        if *before != value {
            is_valid = false;
            facts.add(
                exchanges,
                Seen {
                    name: "two values of one version",
                    statement: format!("version {version} was read as {before} and as {value}"),
                    about: vec![version, before.clone(), value],
                    calls: vec![*call, read.call],
                    counts: true,
                },
            );
        }
    }
    facts.answer("version-divergence", Answer::valid_if(is_valid));
}
