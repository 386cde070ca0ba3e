//! A queue: messages go in and come out.

use super::exchange::{answers, requests};
use super::facts::{Facts, Seen, has_ends, listed, order};
use super::linear::{Model, moments};
use super::{Exchange, Items, Meaning, Refusal, Workload};
use crate::operations::Tree;
use isoscope_model::history::{Answer, Linear, Outcome};
use isoscope_model::levels::Level;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Each message that went in comes out, once. `drain` is as many `dequeue`s as it returned messages.
pub(super) const QUEUE: Workload = Workload {
    name: "queue",
    must: &["enqueue"],
    may: &["dequeue", "drain"],
    fits: |exchanges| {
        requests(exchanges, "enqueue", |value| !value.is_nil())
            && answers(exchanges, "drain", |value| value.elements().is_some())
    },
    keyed: true,
    meaning: Meaning::Items(items),
    facts,
    no_levels: Some("a queue is not made of reads and writes"),
    assumes: "",
};

/// The same, where messages come out in the order in which they went in; only if that is said.
pub(super) const IN_ORDER: Workload = Workload {
    name: "fifo-queue",
    facts: facts_in_order,
    ..QUEUE
};

/// The messages that came out in a call.
fn taken<'e>(exchange: &'e Exchange<'_, '_>) -> &'e [Tree<'e>] {
    match exchange.got() {
        Some(all) if exchange.word == "drain" => all.elements().unwrap_or_default(),
        Some(one) if exchange.word == "dequeue" && !one.is_nil() => std::slice::from_ref(one),
        _ => &[],
    }
}

/// What a picture shows: messages that went in and came out.
fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    let only = super::name("queue");
    for exchange in exchanges {
        let key = exchange.key.unwrap_or(&only);
        items.begin(exchange);
        if exchange.word == "enqueue" {
            items.write(key, exchange.given());
        }
        taken(exchange)
            .iter()
            .for_each(|message| items.read(key, message));
    }
    Ok(())
}

/// What became of a message.
#[derive(Default)]
struct Message<'e, 'c, 'a> {
    sent: Vec<&'e Exchange<'c, 'a>>,
    taken: Vec<&'e Exchange<'c, 'a>>,
}

fn facts(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    what_became(exchanges, false, facts);
}

fn facts_in_order(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    what_became(exchanges, true, facts);
}

fn what_became(exchanges: &[Exchange<'_, '_>], is_in_order: bool, facts: &mut Facts) {
    if exchanges.iter().all(|exchange| exchange.word == "enqueue") {
        facts.answer("total-queue", Answer::Unknown);
        facts.linear(Linear::Unknown);
        return;
    }
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    let mut messages: Vec<(&Tree<'_>, Message<'_, '_, '_>)> = Vec::new();
    for exchange in exchanges {
        let sent = (exchange.word == "enqueue").then(|| exchange.given());
        for (message, is_sent) in sent
            .map(|m| (m, true))
            .into_iter()
            .chain(taken(exchange).iter().map(|m| (m, false)))
        {
            let next = messages.len();
            let at = *places.entry(message.text().into_owned()).or_insert(next);
            if at == next {
                messages.push((message, Message::default()));
            }
            let found = &mut messages[at].1;
            if is_sent {
                &mut found.sent
            } else {
                &mut found.taken
            }
            .push(exchange);
        }
    }
    let sure = |message: &Message<'_, '_, '_>| {
        message
            .sent
            .iter()
            .filter(|sent| sent.is_committed())
            .count()
    };
    type Group<'g> = (
        &'static str,
        bool,
        &'static str,
        &'g dyn Fn(&Message<'_, '_, '_>) -> bool,
    );
    let groups: [Group<'_>; 4] = [
        ("lost", true, "enqueued and not dequeued", &|m| {
            sure(m) > m.taken.len()
        }),
        ("unexpected", true, "dequeued and never enqueued", &|m| {
            m.sent.is_empty()
        }),
        ("twice", false, "dequeued more often than enqueued", &|m| {
            !m.sent.is_empty() && m.taken.len() > m.sent.len()
        }),
        (
            "recovered",
            false,
            "dequeued, though no answer said that it was enqueued",
            &|m| sure(m) == 0 && !m.sent.is_empty() && !m.taken.is_empty(),
        ),
    ];
    let mut is_valid = true;
    // What has no answer may have taken a message.
    let is_open = |exchange: &Exchange<'_, '_>| {
        exchange.word != "enqueue" && exchange.outcome == Outcome::Unknown
    };
    let has_open = exchanges.iter().any(is_open);
    let last = exchanges
        .iter()
        .rfind(|exchange| exchange.word != "enqueue");
    for (name, counts, what, is_one) in groups {
        let found: Vec<&(&Tree<'_>, Message<'_, '_, '_>)> = messages
            .iter()
            .filter(|(_, message)| is_one(message))
            .collect();
        let Some((_, first)) = found.first() else {
            continue;
        };
        is_valid &= !counts;
        facts.add(
            exchanges,
            Seen {
                name,
                about: found
                    .iter()
                    .map(|(message, _)| message.text().into_owned())
                    .collect(),
                statement: format!(
                    "{} {} {what}",
                    listed(found.iter().map(|(message, _)| *message)),
                    if found.len() > 1 { "were" } else { "was" }
                ),
                calls: first
                    .sent
                    .iter()
                    .chain(&first.taken)
                    .copied()
                    .chain(last.filter(|_| name == "lost"))
                    .map(|exchange| exchange.call)
                    .collect(),
                counts: counts && !(has_open && name == "lost"),
            },
        );
    }
    facts.answer("total-queue", Answer::valid_if(is_valid));
    let has_drain = exchanges.iter().any(|exchange| exchange.word == "drain");
    match is_in_order {
        // Its messages may have come out at several moments, which the model does not try.
        true if has_drain => facts.linear(Linear::Unknown),
        true => order::<InOrder>(exchanges, "a queue", is_valid, facts),
        false => as_bag(exchanges, is_valid, facts),
    }
}

/// Whether an order explains what came out, whatever went in first: where there is one, there is also the one in which
/// each message goes in as soon as it can, and comes out as late as it can.
fn as_bag(exchanges: &[Exchange<'_, '_>], tell: bool, facts: &mut Facts) {
    let all: Vec<&Exchange<'_, '_>> = exchanges.iter().collect();
    if !has_ends(&all) {
        return facts.linear(Linear::Unknown);
    }
    let mut there: FxHashMap<Cow<'_, str>, usize> = FxHashMap::default();
    let mut order = Vec::with_capacity(all.len());
    for (is_end, place) in moments(&all) {
        let exchange = all[place];
        if is_end == (exchange.word == "enqueue") {
            continue;
        }
        order.push(exchange.call);
        if !is_end {
            *there.entry(exchange.given().text()).or_default() += 1;
        }
        for message in taken(exchange) {
            match there.get_mut(&message.text()).filter(|n| **n > 0) {
                Some(n) => *n -= 1,
                None => {
                    facts.linear(Linear::Broken(Level::StrictSerializability));
                    if tell {
                        facts.add(exchanges, too_early(exchanges, exchange, message));
                    }
                    return;
                }
            }
        }
    }
    facts.linear(Linear::Holds(order));
}

/// A message came out before it had gone in as often.
fn too_early(exchanges: &[Exchange<'_, '_>], last: &Exchange<'_, '_>, message: &Tree<'_>) -> Seen {
    let is_about = |exchange: &&Exchange<'_, '_>| match exchange.word {
        "enqueue" => exchange.given() == message,
        _ => taken(exchange).contains(message) && exchange.end <= last.end,
    };
    let calls = exchanges.iter().filter(is_about);
    Seen {
        name: "too early",
        about: vec![message.text().into_owned()],
        statement: format!(
            "{} was dequeued before it can have been enqueued",
            message.in_words()
        ),
        calls: calls.map(|exchange| exchange.call).collect(),
        counts: true,
    }
}

/// A queue as a data type: first in, first out.
struct InOrder;

impl Model for InOrder {
    type State = Vec<String>;

    const LONGEST: usize = 2_000;

    fn changes(_: &Exchange<'_, '_>) -> bool {
        true
    }

    fn step(queue: &Self::State, exchange: &Exchange<'_, '_>) -> Option<Self::State> {
        let mut after = queue.clone();
        if exchange.word == "enqueue" {
            after.push(exchange.given().text().into_owned());
        } else if exchange.outcome == Outcome::Unknown {
            // It took whatever was first.
            (!after.is_empty()).then(|| after.remove(0))?;
        } else if let Some(message) = taken(exchange).first() {
            let is_first = after.first().is_some_and(|first| *first == message.text());
            is_first.then(|| after.remove(0))?;
        }
        Some(after)
    }
}
