//! Upserts: a record is made where a key has none.

use super::exchange::answers;
use super::facts::{Facts, Seen};
use super::{Exchange, Items, Meaning, Refusal, Workload};
use crate::operations::Tree;
use isoscope_model::history::Answer;

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
    facts,
    no_levels: None,
    assumes: "An upsert that succeeded has read that its key has no record, and has made one.",
};

fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    let (record, there) = (super::name("record"), super::name("in"));
    let found = |exchange: &Exchange<'_, '_>| -> Vec<Tree<'static>> {
        let all = match exchange.got() {
            Some(one) if exchange.word == "upsert" => std::slice::from_ref(one),
            Some(read) => read.elements().unwrap_or_default(),
            None => &[],
        };
        all.iter().map(|one| one.clone().into_owned()).collect()
    };
    let upserts = exchanges
        .iter()
        .filter(|exchange| exchange.word == "upsert");
    let made: Vec<Tree<'static>> = upserts.flat_map(found).collect();
    items.lack_answers(exchanges, |word| word == "upsert");
    for exchange in exchanges {
        let Some(got) = exchange.got() else { continue };
        items.begin(exchange);
        if exchange.word == "upsert" {
            let key = exchange.named(&record);
            items.read(&key, &Tree::Nil);
            items.write(&key, got);
            items.write(&exchange.named(got), &there);
        } else {
            let found = found(exchange);
            let missing = made.iter().filter(|one| !found.contains(one));
            missing.for_each(|one| items.read(&exchange.named(one), &Tree::Nil));
            found
                .iter()
                .for_each(|one| items.read(&exchange.named(one), &there));
        }
    }
    Ok(())
}

/// Upserts of one key that both succeeded, and reads of several records.
fn facts(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    let upserts: Vec<usize> = exchanges
        .iter()
        .filter(|exchange| exchange.word == "upsert" && exchange.got().is_some())
        .map(|exchange| exchange.call)
        .collect();
    let key = exchanges
        .first()
        .and_then(|first| first.key)
        .map_or_else(String::new, |key| key.text().into_owned());
    let several = |exchange: &&Exchange<'_, '_>| {
        exchange.word == "read"
            && exchange
                .got()
                .and_then(Tree::elements)
                .is_some_and(|all| all.iter().any(|one| one != &all[0]))
    };
    let read = exchanges.iter().find(several);
    if let Some(read) = read {
        facts.add(
            exchanges,
            Seen {
                name: "two records of one key",
                about: vec![key.clone()],
                statement: "a read found several records".to_owned(),
                calls: upserts.iter().copied().chain([read.call]).collect(),
                counts: true,
            },
        );
    }
    facts.answer(
        "upsert",
        Answer::valid_if(read.is_none() && upserts.len() < 2),
    );
    if upserts.len() > 1 {
        facts.add(
            exchanges,
            Seen {
                name: "upserted twice",
                statement: format!("{} upserts succeeded", upserts.len()),
                about: vec![key],
                calls: upserts,
                counts: true,
            },
        );
    }
}
