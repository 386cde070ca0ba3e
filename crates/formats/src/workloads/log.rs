//! A log (Kafka, Redpanda): messages are sent to offsets of keys, and polled from there.
//!
//! The rules are those of `jepsen.tests.kafka`. Polls of transactions that failed count as well: what a log lets a client
//! see should be there whatever becomes of the transaction. A send without an answer counts once one of its messages was
//! polled by a transaction that committed.

use super::facts::{Facts, Seen};
use super::{Exchange, Items, Meaning, Refusal, Workload, plain};
use crate::operations::Tree;
use isoscope_model::history::{Answer, Outcome};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Offsets order the messages of a key; a client that is assigned a key polls them one after the other.
pub(super) const LOG: Workload = Workload {
    name: "log",
    must: &["send", "poll", "txn"],
    may: &["assign", "subscribe", "crash", "debug-topic-partitions"],
    fits: |exchanges| {
        let mut calls = exchanges.iter().filter(|one| is_call(one)).peekable();
        let are_parts = |exchange: &Exchange<'_, '_>| {
            let mut parts = parts(exchange).into_iter().flatten();
            exchange
                .got_some()
                .is_none_or(|got| got.elements().is_some())
                && parts.all(|part| matches!(word(part), Some("send" | "poll")))
        };
        let has_part = exchanges
            .iter()
            .any(|one| is_call(one) && parts(one).is_some_and(|all| !all.is_empty()));
        has_part && calls.peek().is_some() && calls.all(are_parts)
    },
    keyed: false,
    meaning: Meaning::Items(items),
    facts,
    no_levels: Some("a log is not made of reads and writes"),
    assumes: "",
};

fn is_call(exchange: &Exchange<'_, '_>) -> bool {
    matches!(exchange.word, "send" | "poll" | "txn")
}

/// The sends and polls of a call: as they were answered, else as they were asked for.
fn parts<'e, 'a>(exchange: &'e Exchange<'_, 'a>) -> Option<&'e [Tree<'a>]> {
    let answered = exchange.answered().elements();
    answered.or(exchange.asked().elements())
}

/// The word of a send or poll.
fn word<'e>(part: &'e Tree<'_>) -> Option<&'e str> {
    part.elements()?.first()?.word()
}

/// A key or a value, which occur in many places.
type Name = Rc<str>;

/// Names that are known.
#[derive(Default)]
struct Names(FxHashSet<Name>);

impl Names {
    fn of(&mut self, text: &str) -> Name {
        if let Some(known) = self.0.get(text) {
            return Rc::clone(known);
        }
        let name = Name::from(text);
        self.0.insert(Rc::clone(&name));
        name
    }
}

/// A message: its key, its offset if that is known, and its value.
struct Message {
    key: Name,
    offset: Option<i64>,
    value: Name,
}

/// A call by what it sent and polled.
struct Step<'e, 'c, 'a> {
    exchange: &'e Exchange<'c, 'a>,
    sent: Vec<Message>,
    polled: Vec<Message>,
    /// Whether its messages are known to be there.
    is_sure: bool,
}

impl<'e, 'c, 'a> Step<'e, 'c, 'a> {
    fn of(exchange: &'e Exchange<'c, 'a>, names: &mut Names) -> Step<'e, 'c, 'a> {
        let mut step = Step {
            exchange,
            sent: Vec::new(),
            polled: Vec::new(),
            is_sure: exchange.is_committed(),
        };
        let mut message = |key: &Tree<'_>, offset: Option<i64>, value: &Tree<'_>| Message {
            key: names.of(&plain(key).text()),
            offset,
            value: names.of(&value.text()),
        };
        let all = parts(exchange).filter(|_| is_call(exchange));
        for part in all.into_iter().flatten().filter_map(Tree::elements) {
            match part {
                [_, key, sent] => step.sent.push(match sent.elements() {
                    Some([offset, value]) => message(key, offset.integer(), value),
                    _ => message(key, None, sent),
                }),
                [_, polled] => {
                    for (key, all) in polled.fields().unwrap_or_default() {
                        let pairs = all.elements().into_iter().flatten();
                        for pair in pairs.filter_map(Tree::elements) {
                            if let [offset, value] = pair {
                                step.polled.push(message(key, offset.integer(), value));
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        step
    }

    fn call(&self) -> usize {
        self.exchange.call
    }
}

/// What a picture shows: messages that were sent and polled.
fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    let name = |text: &str| Tree::Name(text.to_owned().into());
    let mut names = Names::default();
    for exchange in exchanges {
        items.begin(exchange);
        let step = Step::of(exchange, &mut names);
        let polled = step.polled.iter().filter(|_| exchange.is_committed());
        polled.for_each(|message| {
            items.read(&plain(&name(&message.key)), &plain(&name(&message.value)))
        });
        let sent = step.sent.iter();
        sent.for_each(|message| {
            items.write(&plain(&name(&message.key)), &plain(&name(&message.value)))
        });
    }
    Ok(())
}

/// What is known about a key.
#[derive(Default)]
struct Key {
    /// By offset: values, each with a call that says so.
    offsets: BTreeMap<i64, Vec<(Name, usize)>>,
    /// By value: who sent it, how that ended, and whether it is known to be there.
    sent: BTreeMap<Name, (usize, Outcome, bool)>,
    /// By value: the first call that polled it and committed.
    polled: BTreeMap<Name, usize>,
    /// The values in the order of their offsets, and their places by offset and by value.
    order: Vec<Name>,
    by_offset: FxHashMap<i64, usize>,
    by_value: FxHashMap<Name, usize>,
}

impl Key {
    /// The place of a message among those of the key.
    fn place(&self, message: &Message) -> Option<usize> {
        let by_offset = message
            .offset
            .and_then(|offset| self.by_offset.get(&offset));
        by_offset
            .or_else(|| self.by_value.get(&message.value))
            .copied()
    }
}

type Keys = BTreeMap<Name, Key>;

/// The keys of a log; says of each call whether its messages are there.
fn keys(steps: &mut [Step<'_, '_, '_>]) -> Keys {
    let mut keys = Keys::new();
    for step in steps.iter().filter(|step| step.exchange.is_committed()) {
        for message in &step.polled {
            let key = keys.entry(message.key.clone()).or_default();
            key.polled
                .entry(message.value.clone())
                .or_insert(step.call());
        }
    }
    for step in steps {
        let was_polled = |message: &Message| {
            let key = keys.get(&message.key);
            key.is_some_and(|key| key.polled.contains_key(&message.value))
        };
        let is_open = step.exchange.outcome == Outcome::Unknown;
        step.is_sure |= is_open && step.sent.iter().any(was_polled);
        for message in &step.sent {
            let key = keys.entry(message.key.clone()).or_default();
            let sent = (step.call(), step.exchange.outcome, step.is_sure);
            key.sent.entry(message.value.clone()).or_insert(sent);
        }
        let sure = step.sent.iter().filter(|_| step.is_sure);
        for message in step.polled.iter().chain(sure) {
            let key = keys.entry(message.key.clone()).or_default();
            let Some(offset) = message.offset else {
                continue;
            };
            let values = key.offsets.entry(offset).or_default();
            if !values.iter().any(|(value, _)| *value == message.value) {
                values.push((message.value.clone(), step.exchange.call));
            }
        }
    }
    for key in keys.values_mut() {
        for (place, (offset, values)) in key.offsets.iter().enumerate() {
            key.by_offset.insert(*offset, place);
            let least = values.iter().map(|(value, _)| value).min();
            key.order.extend(least.cloned());
            for (value, _) in values {
                key.by_value.entry(value.clone()).or_insert(place);
            }
        }
    }
    keys
}

fn facts(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    let mut names = Names::default();
    let mut steps: Vec<Step<'_, '_, '_>> = exchanges
        .iter()
        .map(|exchange| Step::of(exchange, &mut names))
        .collect();
    let keys = keys(&mut steps);
    facts.words = in_words;
    let mut found = Vec::new();
    for (name, key) in &keys {
        places(name, key, &mut found);
        missing(name, key, &mut found);
    }
    within(&steps, &keys, &mut found);
    between(&steps, &keys, &mut found);
    own(&steps, &mut found);
    if let Some(seen) = cycle(&steps, &keys) {
        found.push(seen);
    }
    let answer = Answer::valid_if(!found.iter().any(|seen| seen.counts));
    facts.answer("kafka", answer);
    found
        .into_iter()
        .for_each(|seen| facts.add(exchanges, seen));
}

/// "send 2 to log 5 at offset 1, poll log 5: 0 at offset 0".
fn in_words(exchange: &Exchange<'_, '_>) -> Option<String> {
    const MOST: usize = 4;
    let step = Step::of(exchange, &mut Names::default());
    let at = |message: &Message| {
        let offset = message.offset;
        offset.map_or_else(String::new, |offset| format!(" at offset {offset}"))
    };
    let sent = |message: &Message| {
        format!(
            "send {} to log {}{}",
            message.value,
            message.key,
            at(message)
        )
    };
    let polled =
        |message: &Message| format!("poll log {}: {}{}", message.key, message.value, at(message));
    let all = step
        .sent
        .iter()
        .map(sent)
        .chain(step.polled.iter().map(polled));
    let mut all: Vec<String> = all.collect();
    if all.len() > MOST {
        let rest = all.len() - MOST + 1;
        all.drain(MOST - 1..);
        all.push(format!("… {rest} more"));
    }
    (!all.is_empty()).then(|| all.join(", "))
}

/// Something that the rules call invalid.
fn seen(name: &'static str, about: &[&Name], statement: String, calls: Vec<usize>) -> Seen {
    Seen {
        name,
        about: about.iter().map(|value| value.to_string()).collect(),
        statement,
        calls,
        counts: true,
    }
}

/// Offsets with several values, and values at several offsets.
fn places(name: &str, key: &Key, found: &mut Vec<Seen>) {
    let mut first: FxHashMap<&Name, (i64, usize)> = FxHashMap::default();
    let mut again: BTreeMap<&Name, Vec<(i64, usize)>> = BTreeMap::new();
    for (offset, values) in &key.offsets {
        for (value, call) in values {
            let here = (*offset, *call);
            match first.get(value) {
                None => drop(first.insert(value, here)),
                Some(before) => again
                    .entry(value)
                    .or_insert_with(|| vec![*before])
                    .push(here),
            }
        }
        if values.len() > 1 {
            let mut all: Vec<&Name> = values.iter().map(|(value, _)| value).collect();
            all.sort_unstable();
            let both = listed(&all, " and ");
            let statement = format!("offset {offset} of log {name} has the values {both}");
            let calls = values.iter().map(|(_, call)| *call).collect();
            found.push(seen("two values at one offset", &all, statement, calls));
        }
    }
    for (value, places) in again {
        let (one, other) = (places[0].0, places[1].0);
        let statement = format!("{value} is in log {name} at the offsets {one} and {other}");
        let calls = places.iter().map(|(_, call)| *call).collect();
        found.push(seen("at two offsets", &[value], statement, calls));
    }
}

/// Messages whose sending failed and that were polled, and those that are there and were not.
fn missing(name: &str, key: &Key, found: &mut Vec<Seen>) {
    for (value, poll) in &key.polled {
        if let Some((send, Outcome::Aborted, _)) = key.sent.get(value) {
            let statement =
                format!("message {value} of log {name} was polled, though sending it had failed");
            found.push(seen(
                "aborted read",
                &[value],
                statement,
                vec![*send, *poll],
            ));
        }
    }
    let polled = key
        .polled
        .iter()
        .filter_map(|(value, poll)| Some((*key.by_value.get(value)?, *poll)));
    let last = polled.max();
    let mut never = Vec::new();
    for (value, (send, outcome, is_sure)) in &key.sent {
        if key.polled.contains_key(value) || !is_sure {
            continue;
        }
        let place = key.by_value.get(value);
        match last.filter(|(last, _)| place.is_some_and(|place| place < last)) {
            Some((_, poll)) => {
                let statement = format!(
                    "message {value} was sent to log {name}, and no committed poll has it, though one has a later message"
                );
                found.push(seen("lost", &[value], statement, vec![*send, poll]));
            }
            None if *outcome == Outcome::Committed => never.push((value, *send)),
            None => {}
        }
    }
    if let Some((_, send)) = never.first() {
        let values: Vec<&Name> = never.iter().map(|(value, _)| *value).collect();
        let statement = format!(
            "acknowledged by log {name} and never polled: {}",
            listed(&values, ", ")
        );
        found.push(seen("never polled", &values, statement, vec![*send]));
    }
}

/// Values in a sentence, at most ten.
fn listed(values: &[&Name], between: &str) -> String {
    const MOST: usize = 10;
    let shown: Vec<&str> = values.iter().take(MOST).map(|value| &***value).collect();
    let more = match values.len() > MOST {
        true => format!(", … ({} in all)", values.len()),
        false => String::new(),
    };
    shown.join(between) + &more
}

/// Two messages of a key, one after the other: how the second relates to the first.
fn jump<'k>(keys: &'k Keys, [one, other]: [&Message; 2]) -> Option<(bool, Vec<&'k Name>)> {
    let key = &keys[&one.key];
    let (before, at) = (key.place(one)?, key.place(other)?);
    let between = key.order.get(before.min(at) + 1..before.max(at));
    let left_out = between.into_iter().flatten().collect();
    (at != before + 1).then_some((at > before, left_out))
}

/// What is wrong with two messages one after the other; sends may leave others out.
fn wrong(keys: &Keys, pair: [&Message; 2], is_send: bool, calls: Vec<usize>) -> Option<Seen> {
    let (is_ahead, between) = jump(keys, pair)?;
    let [one, other] = pair;
    let key = &one.key;
    let (name, statement) = match (is_send, is_ahead) {
        (true, true) => return None,
        (true, false) => (
            "sent out of order",
            format!(
                "{} was sent to log {key} after {}, and comes before it there",
                other.value, one.value
            ),
        ),
        (false, true) => (
            "skipped",
            format!("polls of log {key} skipped {}", listed(&between, ", ")),
        ),
        (false, false) => (
            "went back",
            format!(
                "polls of log {key} went back from {} to {}",
                one.value, other.value
            ),
        ),
    };
    let about = if is_ahead {
        between
    } else {
        vec![&other.value]
    };
    Some(seen(name, &about, statement, calls))
}

/// Where one call leaves messages of a key out, or goes back; where its keys were given to others meanwhile, it may.
fn within(steps: &[Step<'_, '_, '_>], keys: &Keys, found: &mut Vec<Seen>) {
    for step in steps {
        let log = step.exchange.operation.field("rebalance-log");
        let entries = log.and_then(Tree::elements).into_iter().flatten();
        let lists = entries.filter_map(|entry| entry.field("keys")?.elements());
        let moved: BTreeSet<String> = lists
            .flatten()
            .map(|key| plain(key).text().into_owned())
            .collect();
        let may = |key: &Name| moved.contains(&**key);
        for (messages, is_send) in [(&step.polled, false), (&step.sent, true)] {
            let mut last: BTreeMap<&Name, &Message> = BTreeMap::new();
            for message in messages {
                let before = last.insert(&message.key, message);
                let pair = before
                    .filter(|_| is_send || !may(&message.key))
                    .map(|before| [before, message]);
                found.extend(pair.and_then(|pair| wrong(keys, pair, is_send, vec![step.call()])));
            }
        }
    }
}

/// The same between the calls of a client. An assignment begins again for keys that it adds; where clients subscribe, polls
/// are only said.
fn between(steps: &[Step<'_, '_, '_>], keys: &Keys, found: &mut Vec<Seen>) {
    let subscribes = steps.iter().any(|step| step.exchange.word == "subscribe");
    let mut last: BTreeMap<(bool, Option<i64>, &Name), (&Message, usize)> = BTreeMap::new();
    for step in steps {
        let (exchange, outcome) = (step.exchange, step.exchange.outcome);
        if matches!(exchange.word, "assign" | "subscribe") && outcome != Outcome::Aborted {
            let names = exchange.given().elements().into_iter().flatten();
            let kept: BTreeSet<String> = names.map(|key| plain(key).text().into_owned()).collect();
            last.retain(|(_, process, key), _| {
                *process != exchange.process || kept.contains(&***key)
            });
        }
        for (messages, is_send) in [(&step.polled, false), (&step.sent, true)] {
            let mut met = BTreeSet::new();
            for message in messages
                .iter()
                .filter(|_| !is_send || outcome != Outcome::Aborted)
            {
                let place = (is_send, exchange.process, &message.key);
                if met.insert(&message.key)
                    && let Some((before, call)) = last.get(&place)
                    && let Some(seen) =
                        wrong(keys, [before, message], is_send, vec![*call, exchange.call])
                {
                    let counts = is_send || !subscribes;
                    found.push(Seen { counts, ..seen });
                }
            }
            let moves = is_send && outcome != Outcome::Aborted || exchange.is_committed();
            for message in messages.iter().filter(|_| moves) {
                last.insert(
                    (is_send, exchange.process, &message.key),
                    (message, exchange.call),
                );
            }
        }
    }
}

/// Calls that polled what they sent themselves, which is to be invisible until they commit.
fn own(steps: &[Step<'_, '_, '_>], found: &mut Vec<Seen>) {
    for step in steps {
        let is_own = |polled: &&Message| {
            step.sent
                .iter()
                .any(|sent| (&sent.key, &sent.value) == (&polled.key, &polled.value))
        };
        if let Some(message) = step.polled.iter().find(is_own) {
            let Message { key, value, .. } = message;
            let statement = format!(
                "{value} of log {key} was polled by the transaction that sent it, before it committed"
            );
            found.push(seen(
                "polled before commit",
                &[value],
                statement,
                vec![step.call()],
            ));
        }
    }
}

/// Transactions that polled each other's messages in a cycle.
fn cycle(steps: &[Step<'_, '_, '_>], keys: &Keys) -> Option<Seen> {
    // Whose messages a call polled.
    let mut reads: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.is_sure) {
        for message in &step.polled {
            let sent = keys[&message.key].sent.get(&message.value);
            if let Some((send, _, true)) = sent.filter(|(send, ..)| *send != step.call()) {
                reads.entry(step.call()).or_default().insert(*send);
            }
        }
    }
    // Those who read only from calls outside of all cycles go, until none is left or each reads from another one.
    let mut left: BTreeMap<usize, BTreeSet<usize>> = reads;
    loop {
        let there: BTreeSet<usize> = left.keys().copied().collect();
        left.values_mut()
            .for_each(|from| from.retain(|call| there.contains(call)));
        left.retain(|_, from| !from.is_empty());
        if left.len() == there.len() {
            break;
        }
    }
    let mut path = vec![*left.keys().next()?];
    loop {
        let next = *left[path.last()?].first()?;
        if let Some(begin) = path.iter().position(|call| *call == next) {
            let calls = path.split_off(begin);
            let statement = format!(
                "{} transactions polled each other's messages in a cycle, before any of them could have committed",
                calls.len()
            );
            return Some(seen("cycle", &[], statement, calls));
        }
        path.push(next);
    }
}
