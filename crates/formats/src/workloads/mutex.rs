//! A lock: `acquire` and `release`.

use super::exchange::requests;
use super::facts::{Facts, Seen, has_ends};
use super::linear::{Linearity, Model, linearity};
use super::{Exchange, Items, Meaning, Refusal, Workload};
use crate::operations::Tree;
use isoscope_model::history::{Answer, Linear, Outcome};
use isoscope_model::levels::Level;

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
    facts,
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

/// A lock as a data type: whether it is held.
struct Lock;

impl Model for Lock {
    type State = bool;

    const LONGEST: usize = usize::MAX;

    fn changes(_: &Exchange<'_, '_>) -> bool {
        true
    }

    fn step(is_held: &bool, exchange: &Exchange<'_, '_>) -> Option<bool> {
        let acquires = exchange.word == "acquire";
        (*is_held != acquires).then_some(acquires)
    }
}

/// Two that hold a lock at once, or a release of one that is free.
fn facts(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    released_by_another(exchanges, facts);
    let all: Vec<&Exchange<'_, '_>> = exchanges.iter().collect();
    facts.search.allow_for(all.len());
    let found = match has_ends(&all) {
        true => linearity::<Lock>(&all, &mut facts.search),
        false => Linearity::Unknown,
    };
    // Else they are looked for among reads and writes of two values, which takes long.
    facts.instead_of_levels =
        Some("without real time, a lock may be taken and released in any order");
    let place = match found {
        Linearity::Holds(order) => {
            let calls = order.into_iter().map(|place| all[place as usize].call);
            facts.linear(Linear::Holds(calls.collect()));
            return facts.answer("mutex", Answer::Valid);
        }
        Linearity::Unknown => {
            facts.linear(Linear::Unknown);
            return facts.answer("mutex", Answer::Unknown);
        }
        Linearity::Broken(place) => place,
    };
    facts.linear(Linear::Broken(Level::StrictSerializability));
    facts.answer("mutex", Answer::Invalid);
    let last = &exchanges[place];
    let is_before = |other: &&Exchange<'_, '_>| {
        other.word == "acquire" && other.is_committed() && other.end < last.end
    };
    let before = exchanges
        .iter()
        .filter(is_before)
        .max_by_key(|other| other.end);
    let (name, statement) = match last.word {
        "acquire" => ("two holders", "the lock was acquired while it was held"),
        _ => (
            "released while free",
            "the lock was released while nobody held it",
        ),
    };
    // All that ran meanwhile: no release explains it.
    let since = before.map_or(last.begin, |before| before.begin);
    let ran = exchanges.iter().filter(|other| {
        let may_have = other.outcome != Outcome::Aborted && Some(other.begin) <= last.end;
        may_have && other.end.is_none_or(|end| end >= since)
    });
    let calls = ran.map(|exchange| exchange.call).collect();
    facts.add(
        exchanges,
        Seen::new(name, Vec::new(), statement.to_owned(), calls),
    );
}

/// The first release by a client that is not the one that had acquired the lock, where no other call overlaps the two. Some
/// locks have no owner, so it is only said.
fn released_by_another(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    let mut happened: Vec<&Exchange<'_, '_>> = exchanges
        .iter()
        .filter(|exchange| exchange.outcome != Outcome::Aborted)
        .collect();
    happened.sort_by_key(|exchange| exchange.begin);
    let mut ended = i64::MIN;
    for pair in happened.windows(2) {
        let [acquired, released] = pair else { continue };
        let (Some(end), Some(_)) = (acquired.end, released.end) else {
            return;
        };
        let follow = ended < acquired.begin && end < released.begin;
        ended = ended.max(end);
        if follow
            && (acquired.word, released.word) == ("acquire", "release")
            && acquired.process != released.process
        {
            let seen = Seen {
                name: "released by another",
                about: Vec::new(),
                statement: "the lock was released by another client than had acquired it"
                    .to_owned(),
                calls: vec![acquired.call, released.call],
                counts: false,
            };
            return facts.add(exchanges, seen);
        }
    }
}
