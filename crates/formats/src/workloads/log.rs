//! A log (Kafka, Redpanda): messages are sent to offsets of keys, and polled from there.

use super::exchange::some_answer;
use super::facts::{Facts, Seen};
use super::{Exchange, Items, Meaning, Refusal, Workload, plain};
use crate::operations::Tree;
use isoscope_model::history::{Answer, Outcome};
use std::collections::{BTreeMap, BTreeSet};

/// Offsets order the messages of a key; a client that is assigned a key polls them one after the other.
pub(super) const LOG: Workload = Workload {
    name: "log",
    must: &["send", "poll"],
    may: &[
        "txn",
        "assign",
        "subscribe",
        "crash",
        "debug-topic-partitions",
    ],
    fits: |exchanges| {
        let are_calls = |value: &Tree<'_>| match value {
            Tree::List(all) => all
                .iter()
                .all(|one| one.elements().is_some_and(|parts| !parts.is_empty())),
            _ => false,
        };
        ["send", "poll"]
            .iter()
            .any(|word| some_answer(exchanges, word, are_calls))
    },
    keyed: false,
    meaning: Meaning::Items(items),
    facts,
    no_levels: Some(
        "messages of a log are no items; only offsets, and what was sent and polled, are compared",
    ),
    assumes: "",
};

/// A message: its key, its offset if that is known, its value, and whether it was polled.
struct Message<'e> {
    key: &'e Tree<'e>,
    offset: Option<i64>,
    value: &'e Tree<'e>,
    is_polled: bool,
}

/// The messages of a call, in order; of a poll they are known only once it has an answer.
fn messages<'e>(exchange: &'e Exchange<'_, '_>) -> Vec<Message<'e>> {
    let mut found = Vec::new();
    let value = exchange.got_some().unwrap_or_else(|| exchange.given());
    for part in value
        .elements()
        .into_iter()
        .flatten()
        .filter_map(Tree::elements)
    {
        match part {
            [word, key, sent] if word.word() == Some("send") => {
                let (offset, value) = match sent.elements() {
                    Some([offset, value]) => (offset.integer(), value),
                    _ => (None, sent),
                };
                found.push(Message {
                    key,
                    offset,
                    value,
                    is_polled: false,
                });
            }
            [word, polled] if word.word() == Some("poll") && exchange.is_committed() => {
                for (key, all) in polled.fields().unwrap_or_default() {
                    for pair in all
                        .elements()
                        .into_iter()
                        .flatten()
                        .filter_map(Tree::elements)
                    {
                        if let [offset, value] = pair {
                            found.push(Message {
                                key,
                                offset: offset.integer(),
                                value,
                                is_polled: true,
                            });
                        }
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// What a picture shows: messages that were sent and polled.
fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    for exchange in exchanges {
        items.begin(exchange);
        for message in messages(exchange) {
            if message.is_polled {
                items.read(&plain(message.key), message.value);
            } else {
                items.write(&plain(message.key), message.value);
            }
        }
    }
    Ok(())
}

/// What is known about a key.
#[derive(Default)]
struct Key {
    /// By offset: values, each with a call.
    offsets: BTreeMap<i64, BTreeMap<String, usize>>,
    /// Sent and acknowledged, and sent in vain.
    sure: BTreeMap<String, usize>,
    failed: BTreeMap<String, usize>,
    /// Sent without an answer.
    open: BTreeMap<String, usize>,
    polled: BTreeMap<String, usize>,
}

impl Key {
    /// The values in the order of their offsets.
    fn order(&self) -> Vec<&String> {
        self.offsets
            .values()
            .filter_map(|values| values.keys().next())
            .collect()
    }
}

fn facts(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    let mut keys: BTreeMap<String, Key> = BTreeMap::new();
    for exchange in exchanges {
        for message in messages(exchange) {
            let key = keys
                .entry(plain(message.key).text().into_owned())
                .or_default();
            let value = message.value.text().into_owned();
            if let Some(offset) = message
                .offset
                .filter(|_| exchange.outcome != Outcome::Aborted)
            {
                key.offsets
                    .entry(offset)
                    .or_default()
                    .entry(value.clone())
                    .or_insert(exchange.call);
            }
            let known = match (message.is_polled, exchange.outcome) {
                (true, _) => &mut key.polled,
                (false, Outcome::Committed) => &mut key.sure,
                (false, Outcome::Aborted) => &mut key.failed,
                (false, Outcome::Unknown) => &mut key.open,
            };
            known.entry(value).or_insert(exchange.call);
        }
    }
    let mut found = Vec::new();
    for (name, key) in &keys {
        of_key(name, key, &mut found);
    }
    jumps(exchanges, &keys, &mut found);
    facts.answer(
        "kafka",
        Answer::valid_if(!found.iter().any(|seen| seen.counts)),
    );
    found
        .into_iter()
        .for_each(|seen| facts.add(exchanges, seen));
}

fn of_key(name: &str, key: &Key, found: &mut Vec<Seen>) {
    let mut add = |kind, about: Vec<String>, statement: String, calls: Vec<usize>| {
        found.push(Seen {
            name: kind,
            about,
            statement,
            calls,
            counts: true,
        });
    };
    let is_only_failed = |value: &String| {
        key.failed.contains_key(value)
            && !key.sure.contains_key(value)
            && !key.open.contains_key(value)
    };
    for (value, call) in key.polled.iter().filter(|(value, _)| is_only_failed(value)) {
        add(
            "aborted read",
            vec![value.clone()],
            format!("{value} of log {name} was polled, and its sending had failed"),
            vec![key.failed[value], *call],
        );
    }
    let mut at: BTreeMap<&String, Vec<i64>> = BTreeMap::new();
    for (offset, values) in &key.offsets {
        if values.len() > 1 {
            let all: Vec<String> = values.keys().cloned().collect();
            let statement = format!(
                "offset {offset} of log {name} has the values {}",
                all.join(" and ")
            );
            add(
                "two values at one offset",
                all,
                statement,
                values.values().copied().collect(),
            );
        }
        values
            .keys()
            .for_each(|value| at.entry(value).or_default().push(*offset));
    }
    for (value, offsets) in at.iter().filter(|(_, offsets)| offsets.len() > 1) {
        let statement = format!(
            "{value} is in log {name} at the offsets {} and {}",
            offsets[0], offsets[1]
        );
        let calls = offsets
            .iter()
            .filter_map(|offset| key.offsets[offset].get(*value))
            .copied()
            .collect();
        add("at two offsets", vec![(*value).clone()], statement, calls);
    }
    let order = key.order();
    let last = order
        .iter()
        .rposition(|value| key.polled.contains_key(*value))
        .unwrap_or(0);
    for value in order[..last.min(order.len())]
        .iter()
        .filter(|value| !key.polled.contains_key(**value))
    {
        if let Some(call) = key.sure.get(*value) {
            let statement = format!(
                "{value} of log {name} was acknowledged and never polled, though a later one was"
            );
            add("lost", vec![(*value).clone()], statement, vec![*call]);
        }
    }
}

/// Most values that a jump names.
const MOST_SHOWN: usize = 10;

/// Where a client that polls a key leaves values out, or goes back. An assignment begins anew for keys that it adds.
fn jumps(exchanges: &[Exchange<'_, '_>], keys: &BTreeMap<String, Key>, found: &mut Vec<Seen>) {
    // The offsets of a key with their values.
    let order = |key: &'_ Key| -> Vec<(i64, String)> {
        let first = |(offset, values): (&i64, &BTreeMap<String, usize>)| {
            Some((*offset, values.keys().next()?.clone()))
        };
        key.offsets.iter().filter_map(first).collect()
    };
    let orders: BTreeMap<&String, Vec<(i64, String)>> =
        keys.iter().map(|(name, key)| (name, order(key))).collect();
    let subscribes = exchanges
        .iter()
        .any(|exchange| exchange.word == "subscribe");
    let mut places: BTreeMap<(Option<i64>, String), (usize, usize)> = BTreeMap::new();
    let happened = |exchange: &&Exchange<'_, '_>| exchange.outcome != Outcome::Aborted;
    for exchange in exchanges.iter().filter(happened) {
        if matches!(exchange.word, "assign" | "subscribe") {
            let kept: BTreeSet<String> = exchange
                .given()
                .elements()
                .into_iter()
                .flatten()
                .map(|key| plain(key).text().into_owned())
                .collect();
            places.retain(|(process, key), _| *process != exchange.process || kept.contains(key));
        }
        for message in messages(exchange)
            .iter()
            .filter(|message| message.is_polled)
        {
            let key = plain(message.key).text().into_owned();
            let values = &orders[&key];
            let place = |offset| values.binary_search_by_key(&offset, |(at, _)| *at).ok();
            let Some(at) = message.offset.and_then(place) else {
                continue;
            };
            let before = places.insert((exchange.process, key.clone()), (at, exchange.call));
            let Some((before, call)) = before.filter(|(before, _)| at != before + 1) else {
                continue;
            };
            let (low, high) = (before.min(at) + 1, before.max(at));
            let shown = values[low.min(high)..high].iter().take(MOST_SHOWN);
            let between: Vec<String> = shown.map(|(_, value)| value.clone()).collect();
            let (name, what) = if at > before {
                ("skipped", "left out")
            } else {
                ("went back", "went back over")
            };
            found.push(Seen {
                name,
                statement: format!(
                    "a poll of log {key} {what} {}",
                    if between.is_empty() {
                        "to a value it had".to_owned()
                    } else {
                        between.join(", ")
                    }
                ),
                about: between,
                calls: vec![call, exchange.call],
                counts: !subscribes || call == exchange.call,
            });
        }
    }
}
