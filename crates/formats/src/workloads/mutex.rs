//! A lock: `acquire` and `release`.

use super::exchange::requests;
use super::{Exchange, Items, Meaning, Refusal, Workload, no_facts};
use crate::operations::Tree;
use isoscope_model::history::Outcome;

/// A lock is a register that is free at first: to acquire it is to compare it with free and set it to held.
pub(super) const MUTEX: Workload = Workload {
    name: "mutex",
    must: &["acquire", "release"],
    may: &[],
    fits: |exchanges| {
        // A number or a map may say how many permits of a semaphore.
        let is_plain = |value: &Tree<'_>| matches!(value, Tree::Nil | Tree::Name(_));
        ["acquire", "release"]
            .iter()
            .all(|word| requests(exchanges, word, is_plain))
    },
    keyed: true,
    meaning: Meaning::Items(items),
    facts: no_facts,
    no_levels: None,
    assumes: "A lock is free at first, `acquire` takes it from free to held and `release` from held to free, whoever holds it; only linearizability says something about it.",
};

fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    let (only, held, free) = (
        super::name("lock"),
        super::name("held"),
        super::name("free"),
    );
    for exchange in exchanges
        .iter()
        .filter(|exchange| exchange.outcome != Outcome::Aborted)
    {
        exchange.refuse_false()?;
        let key = exchange.key.unwrap_or(&only);
        items.at_first(key, &free);
        items.begin(exchange);
        if exchange.word == "acquire" {
            items.read(key, &free);
            items.write(key, &held);
        } else {
            items.read(key, &held);
            items.write(key, &free);
        }
    }
    Ok(())
}
