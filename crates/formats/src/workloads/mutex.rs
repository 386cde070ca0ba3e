//! A lock: `acquire` and `release`.

use super::{Exchange, Items, Meaning, Refusal, Workload, no_facts};
use isoscope_model::history::Outcome;

/// A lock is a register that is free at first: to acquire it is to compare it with free and set it to held.
pub(super) const MUTEX: Workload = Workload {
    name: "mutex",
    must: &["acquire", "release"],
    may: &[],
    fits: |_| true,
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
