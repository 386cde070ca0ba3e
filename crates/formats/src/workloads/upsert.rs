//! Upserts: a record is made where a key has none.

use super::exchange::answers;
use super::{Exchange, Items, Meaning, Refusal, Workload};
use crate::operations::Tree;

/// An upsert that succeeded has read that its key has no record, and made one: two of them are a lost update.
pub(super) const UPSERT: Workload = Workload {
    name: "upsert",
    must: &["upsert"],
    may: &["read"],
    fits: |exchanges| {
        answers(exchanges, "upsert", |value| value.is_single())
            && answers(exchanges, "read", |value| {
                value.is_nil() || value.elements().is_some()
            })
    },
    keyed: true,
    meaning: Meaning::Items(items),
    assumes: "An upsert that succeeded has read that its key has no record, and has made one.",
};

fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    let (record, there) = (super::name("record"), super::name("in"));
    for exchange in exchanges {
        let Some(got) = exchange.got() else { continue };
        items.begin(exchange);
        if exchange.word == "upsert" {
            let key = exchange.named(&record);
            items.read(&key, &Tree::Nil);
            items.write(&key, got);
            items.write(&exchange.named(got), &there);
        } else {
            let found = got.elements().into_iter().flatten();
            found.for_each(|one| items.read(&exchange.named(one), &there));
        }
    }
    Ok(())
}
