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

impl Message<'_, '_, '_> {
    /// How many additions of it were acknowledged.
    fn n_sure(&self) -> usize {
        self.sent.iter().filter(|sent| sent.is_committed()).count()
    }
}

/// The messages of a queue, in the order of the log.
fn messages<'e, 'c, 'a>(
    exchanges: &'e [Exchange<'c, 'a>],
) -> Vec<(&'e Tree<'e>, Message<'e, 'c, 'a>)> {
    let mut places: FxHashMap<Cow<'_, str>, usize> = FxHashMap::default();
    let mut messages: Vec<(&Tree<'_>, Message<'_, '_, '_>)> = Vec::new();
    for exchange in exchanges {
        let is_sent = exchange.word == "enqueue";
        let sent = is_sent.then(|| exchange.given());
        for message in sent.into_iter().chain(taken(exchange)) {
            let at = *places.entry(message.text()).or_insert_with(|| {
                messages.push((message, Message::default()));
                messages.len() - 1
            });
            let found = &mut messages[at].1;
            match is_sent {
                true => found.sent.push(exchange),
                false => found.taken.push(exchange),
            }
        }
    }
    messages
}

fn facts(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    if let Some(is_valid) = what_became(exchanges, facts) {
        as_bag(exchanges, is_valid, facts);
    }
}

fn facts_in_order(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    let has_drain = exchanges.iter().any(|exchange| exchange.word == "drain");
    match what_became(exchanges, facts) {
        // Its messages may have come out at several moments, which the model does not try.
        Some(_) if has_drain => facts.linear(Linear::Unknown),
        Some(is_valid) => order::<InOrder>(exchanges, "a queue", is_valid, facts),
        None => {}
    }
}

/// Says what became of messages, and returns whether all is well; none where nothing could come out.
fn what_became(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) -> Option<bool> {
    let takes = |exchange: &&Exchange<'_, '_>| exchange.word != "enqueue";
    let Some(last) = exchanges.iter().rfind(takes) else {
        facts.answer("total-queue", Answer::Unknown);
        facts.linear(Linear::Unknown);
        return None;
    };
    // What has no answer may have taken a message.
    let mut open = exchanges.iter().filter(takes);
    let has_open = open.any(|exchange| exchange.outcome == Outcome::Unknown);
    let messages = messages(exchanges);
    type Is<'g> = &'g dyn Fn(&Message<'_, '_, '_>) -> bool;
    let groups: [(&'static str, bool, &'static str, Is<'_>); 4] = [
        ("lost", true, "enqueued and not dequeued", &|m| {
            m.n_sure() > m.taken.len()
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
            &|m| m.n_sure() == 0 && !m.sent.is_empty() && !m.taken.is_empty(),
        ),
    ];
    let mut is_valid = true;
    for (name, counts, what, is_one) in groups {
        let of_group = messages.iter().filter(|(_, message)| is_one(message));
        let (names, found): (Vec<&Tree<'_>>, Vec<_>) =
            of_group.map(|(name, it)| (*name, it)).unzip();
        let Some(first) = found.first() else {
            continue;
        };
        is_valid &= !counts;
        let were = if found.len() > 1 { "were" } else { "was" };
        let statement = format!("{} {were} {what}", listed(names.iter().copied()));
        let calls = first.sent.iter().chain(&first.taken).copied();
        let calls = calls.chain(Some(last).filter(|_| name == "lost"));
        let about = names.iter().map(|name| name.text().into_owned()).collect();
        let seen = Seen::new(
            name,
            about,
            statement,
            calls.map(|exchange| exchange.call).collect(),
        );
        let counts = counts && !(has_open && name == "lost");
        facts.add(exchanges, Seen { counts, ..seen });
    }
    facts.answer("total-queue", Answer::valid_if(is_valid));
    Some(is_valid)
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
    let calls = exchanges
        .iter()
        .filter(is_about)
        .map(|exchange| exchange.call);
    let statement = format!(
        "{} was dequeued before it can have been enqueued",
        message.in_words()
    );
    let about = vec![message.text().into_owned()];
    Seen::new("too early", about, statement, calls.collect())
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
