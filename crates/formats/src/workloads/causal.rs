//! Chains of reads and writes, each linked to the one before it.

use super::exchange::{answers, requests};
use super::{Exchange, Items, Meaning, Refusal, Workload, no_facts};
use crate::operations::Tree;

/// The chain of a key is a session, whatever the process; 0 is the value at first.
pub(super) const CAUSAL: Workload = Workload {
    name: "causal",
    must: &["read-init"],
    may: &["read", "write"],
    fits: |exchanges| {
        let is_value = |value: &Tree<'_>| value.is_single() || value.is_nil();
        ["read-init", "read"]
            .iter()
            .all(|word| answers(exchanges, word, is_value))
            && requests(exchanges, "write", |value| value.is_single())
    },
    keyed: true,
    meaning: Meaning::Items(items),
    facts: no_facts,
    no_levels: None,
    assumes: "The chain of operations on a key is a session, whatever their process; 0 is the value at first.",
};

fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    let zero = Tree::Number(0);
    for exchange in exchanges {
        let only = super::name("register");
        let key = exchange.key.unwrap_or(&only);
        items.begin(exchange);
        items.in_session(key);
        if exchange.word == "write" && *exchange.given() == zero {
            let message =
                "0 is the value at first, and is written here: reads of it have two meanings";
            return Err((exchange.line, message.to_owned()));
        }
        match exchange.got() {
            _ if exchange.word == "write" => items.write(key, exchange.given()),
            Some(value) if *value == zero => items.read(key, &Tree::Nil),
            Some(value) => items.read(key, value),
            None => {}
        }
    }
    Ok(())
}
