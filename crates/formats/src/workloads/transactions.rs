//! Transactions of micro-operations: `[[:r x 1] [:append y 2]]`.

use super::{Exchange, Meaning, Workload, no_facts};
use crate::operations::Tree;

pub(super) const TRANSACTIONS: Workload = Workload {
    name: "transactions",
    must: &[],
    may: &[],
    fits: |exchanges| all_are(exchanges, is_verb) && !super::set::has_growing(exchanges),
    keyed: true,
    meaning: Meaning::Transactions,
    facts: no_facts,
    no_levels: None,
    assumes: "",
};

/// Elle's closed predicate.
pub(super) const PREDICATES: Workload = Workload {
    name: "closed-predicate",
    must: &[],
    may: &[],
    fits: |exchanges| {
        let is_known =
            |word: &str| is_verb(word) || matches!(word, "rp" | "insert" | "delete" | "init");
        all_are(exchanges, is_known) && !all_are(exchanges, is_verb)
    },
    keyed: true,
    meaning: Meaning::Refused(
        "predicate reads (`rp`) are not decided yet, nor are `insert` and `delete` of their tables",
    ),
    facts: no_facts,
    no_levels: None,
    assumes: "",
};

fn is_verb(word: &str) -> bool {
    matches!(word, "r" | "w" | "append" | "read" | "write")
}

fn writes(word: &str) -> bool {
    matches!(word, "w" | "append" | "write")
}

/// Whether all values are vectors of micro-operations with such words.
fn all_are(exchanges: &[Exchange<'_, '_>], are: fn(&str) -> bool) -> bool {
    let is_operation = |tree: &Tree<'_>| match tree.elements() {
        // A write needs a value.
        Some([word, _, rest @ ..]) => word.word().is_some_and(|word| {
            are(word) && (!writes(word) || rest.first().is_some_and(|value| !value.is_nil()))
        }),
        _ => false,
    };
    let is_micro = |value: &Tree<'_>| match value {
        Tree::Nil => true,
        Tree::List(all) => all.iter().all(is_operation),
        _ => false,
    };
    let is_named = |word: &str| matches!(word, "" | "txn");
    let has_some = |exchange: &Exchange<'_, '_>| {
        let values = [exchange.asked(), exchange.answered()];
        let is_some = |value: &&Tree<'_>| value.elements().is_some_and(|all| !all.is_empty());
        is_named(exchange.word) || values.iter().any(is_some)
    };
    let is_one = |exchange: &Exchange<'_, '_>| {
        is_micro(exchange.asked()) && is_micro(exchange.answered()) && has_some(exchange)
    };
    exchanges.iter().all(is_one)
}
