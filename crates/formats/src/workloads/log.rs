//! A log (Kafka, Redpanda): messages are sent to offsets of keys, and polled from there.
//!
//! The rules are those of `jepsen.tests.kafka`. Polls of transactions that failed count as well: what a log lets a client
//! see should be there whatever becomes of the transaction. A send without an answer counts once one of its messages was
//! polled by a transaction that committed.

use super::facts::{Facts, Seen};
use super::{Exchange, Items, Meaning, Refusal, Workload, plain};
use crate::operations::Tree;
use isoscope_model::control::Control;
use isoscope_model::history::{Answer, Outcome};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use rustc_hash::FxHashMap;
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

/// A key or a value, which occur in many places: its place among the names.
type Name = u32;

/// Names that are known.
#[derive(Default)]
struct Names {
    all: Vec<Rc<str>>,
    places: FxHashMap<Rc<str>, Name>,
}

impl Names {
    fn of(&mut self, text: &str) -> Name {
        if let Some(known) = self.places.get(text) {
            return *known;
        }
        let name = self.all.len() as Name;
        self.all.push(Rc::from(text));
        self.places
            .insert(Rc::clone(&self.all[name as usize]), name);
        name
    }

    fn text(&self, name: Name) -> &str {
        &self.all[name as usize]
    }

    /// Names in a sentence.
    fn listed(&self, names: &[Name]) -> String {
        super::facts::names(self.texts(names))
    }

    fn texts(&self, names: &[Name]) -> Vec<String> {
        names
            .iter()
            .map(|name| self.text(*name).to_owned())
            .collect()
    }

    /// Something about these values.
    fn seen(
        &self,
        kind: &'static str,
        about: &[Name],
        statement: String,
        calls: Vec<usize>,
    ) -> Seen {
        Seen::new(kind, self.texts(about), statement, calls)
    }
}

/// A message that a call sent or polled: its key, its offset if that is known, and its value.
struct Message {
    is_sent: bool,
    key: Name,
    value: Name,
    /// The least number where it is not known.
    place: i64,
}

impl Message {
    fn offset(&self) -> Option<i64> {
        Some(self.place).filter(|place| *place != i64::MIN)
    }
}

/// A call by its messages.
struct Step<'e, 'c, 'a> {
    exchange: &'e Exchange<'c, 'a>,
    messages: Box<[Message]>,
    /// Whether what it sent is known to be there.
    is_sure: bool,
}

impl<'e, 'c, 'a> Step<'e, 'c, 'a> {
    fn of(exchange: &'e Exchange<'c, 'a>, names: &mut Names) -> Step<'e, 'c, 'a> {
        let mut messages = Vec::new();
        let mut take = |is_sent, key: &Tree<'_>, offset: Option<&Tree<'_>>, value: &Tree<'_>| {
            messages.push(Message {
                is_sent,
                key: names.of(&plain(key).text()),
                place: offset.and_then(Tree::integer).unwrap_or(i64::MIN),
                value: names.of(&value.text()),
            });
        };
        let all = parts(exchange).filter(|_| is_call(exchange));
        for part in all.into_iter().flatten().filter_map(Tree::elements) {
            match part {
                [_, key, sent] => match sent.elements() {
                    Some([offset, value]) => take(true, key, Some(offset), value),
                    _ => take(true, key, None, sent),
                },
                [_, polled] => {
                    for (key, all) in polled.fields().unwrap_or_default() {
                        let pairs = all.elements().into_iter().flatten();
                        for pair in pairs.filter_map(Tree::elements) {
                            if let [offset, value] = pair {
                                take(false, key, Some(offset), value);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        Step {
            exchange,
            messages: messages.into(),
            is_sure: exchange.is_committed(),
        }
    }

    fn call(&self) -> usize {
        self.exchange.call
    }

    fn sent(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(|message| message.is_sent)
    }

    fn polled(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(|message| !message.is_sent)
    }
}

/// What a picture shows: messages that were sent and polled.
fn items(exchanges: &[Exchange<'_, '_>], items: &mut Items) -> Result<(), Refusal> {
    let mut names = Names::default();
    for exchange in exchanges {
        items.begin(exchange);
        let step = Step::of(exchange, &mut names);
        let tree = |name| plain(&Tree::Name(names.text(name).into())).into_owned();
        for polled in step.polled().filter(|_| exchange.is_committed()) {
            items.read(&tree(polled.key), &tree(polled.value));
        }
        step.sent()
            .for_each(|sent| items.write(&tree(sent.key), &tree(sent.value)));
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
        let offset = message.offset();
        let by_offset = offset.and_then(|offset| self.by_offset.get(&offset));
        by_offset
            .or_else(|| self.by_value.get(&message.value))
            .copied()
    }

    /// Numbers the messages in the order of their offsets.
    fn number(&mut self) {
        for (place, (offset, values)) in self.offsets.iter().enumerate() {
            self.by_offset.insert(*offset, place);
            self.order
                .extend(values.iter().map(|(value, _)| *value).min());
            for (value, _) in values {
                self.by_value.entry(*value).or_insert(place);
            }
        }
    }
}

type Keys = BTreeMap<Name, Key>;

/// The keys of a log; says of each call whether its messages are there.
fn keys(steps: &mut [Step<'_, '_, '_>]) -> Keys {
    let mut keys = Keys::new();
    for step in steps.iter().filter(|step| step.exchange.is_committed()) {
        for Message { key, value, .. } in step.polled() {
            let key = keys.entry(*key).or_default();
            key.polled.entry(*value).or_insert(step.call());
        }
    }
    for step in steps {
        let was_polled = |message: &Message| {
            let key = keys.get(&message.key);
            key.is_some_and(|key| key.polled.contains_key(&message.value))
        };
        let is_open = step.exchange.outcome == Outcome::Unknown;
        step.is_sure |= is_open && step.sent().any(was_polled);
        for message in &step.messages {
            let (value, call) = (message.value, step.call());
            let key = keys.entry(message.key).or_default();
            if message.is_sent {
                let sent = (call, step.exchange.outcome, step.is_sure);
                key.sent.entry(value).or_insert(sent);
            }
            let offset = message
                .offset()
                .filter(|_| !message.is_sent || step.is_sure);
            let Some(offset) = offset else {
                continue;
            };
            let values = key.offsets.entry(offset).or_default();
            if !values.iter().any(|(known, _)| *known == value) {
                values.push((value, call));
            }
        }
    }
    keys.values_mut().for_each(Key::number);
    keys
}

fn facts(exchanges: &[Exchange<'_, '_>], facts: &mut Facts) {
    let mut names = Names::default();
    let steps = exchanges
        .iter()
        .map(|exchange| Step::of(exchange, &mut names));
    let mut steps: Vec<Step<'_, '_, '_>> = steps.collect();
    if facts.control.check().is_err() {
        return;
    }
    let keys = keys(&mut steps);
    facts.words = in_words;
    let log = Log { names, keys };
    let mut found = Vec::new();
    for (name, key) in &log.keys {
        log.places(*name, key, &mut found);
        log.missing(*name, key, &mut found);
    }
    log.in_order(&steps, &facts.control, &mut found);
    found.extend(steps.iter().filter_map(|step| log.own(step)));
    found.extend(log.cycle(&steps));
    let is_broken = found.iter().any(|seen| seen.counts);
    facts.answer("kafka", Answer::valid_if(!is_broken));
    found
        .into_iter()
        .for_each(|seen| facts.add(exchanges, seen));
}

/// "send 2 to log 5 at offset 1, poll log 5: 0 at offset 0".
fn in_words(exchange: &Exchange<'_, '_>) -> Option<String> {
    const MOST: usize = 4;
    let mut names = Names::default();
    let step = Step::of(exchange, &mut names);
    let said = |message: &Message| {
        let (key, value) = (names.text(message.key), names.text(message.value));
        let at = message
            .offset()
            .map(|offset| format!(" at offset {offset}"));
        let at = at.unwrap_or_default();
        match message.is_sent {
            true => format!("send {value} to log {key}{at}"),
            false => format!("poll log {key}: {value}{at}"),
        }
    };
    let mut all: Vec<String> = step.sent().chain(step.polled()).map(said).collect();
    if all.len() > MOST {
        let rest = all.len() - MOST + 1;
        all.truncate(MOST - 1);
        all.push(format!("… {rest} more"));
    }
    (!all.is_empty()).then(|| all.join(", "))
}

/// The keys of a list.
fn keys_in<'e>(list: &'e Tree<'_>) -> impl Iterator<Item = String> + 'e {
    let keys = list.elements().into_iter().flatten();
    keys.map(|key| plain(key).text().into_owned())
}

/// Calls that are looked at before the control is asked again.
const ASK_EVERY: usize = 1 << 12;

/// A log by its keys.
struct Log {
    names: Names,
    keys: Keys,
}

impl Log {
    /// Offsets with several values, and values at several offsets.
    fn places(&self, name: Name, key: &Key, found: &mut Vec<Seen>) {
        let name = self.names.text(name);
        let mut places: BTreeMap<Name, Vec<(i64, usize)>> = BTreeMap::new();
        for (offset, values) in &key.offsets {
            for (value, call) in values {
                places.entry(*value).or_default().push((*offset, *call));
            }
            if values.len() > 1 {
                let mut all: Vec<Name> = values.iter().map(|(value, _)| *value).collect();
                all.sort_unstable();
                let statement = format!(
                    "offset {offset} of log {name} has the values {}",
                    self.names.listed(&all)
                );
                let calls = values.iter().map(|(_, call)| *call).collect();
                found.push(
                    self.names
                        .seen("two values at one offset", &all, statement, calls),
                );
            }
        }
        for (value, places) in places {
            if let [(one, _), (other, _), ..] = places[..] {
                let message = self.names.text(value);
                let statement =
                    format!("{message} is in log {name} at the offsets {one} and {other}");
                let calls = places.iter().map(|(_, call)| *call).collect();
                found.push(
                    self.names
                        .seen("at two offsets", &[value], statement, calls),
                );
            }
        }
    }

    /// Messages whose sending failed and that were polled, and those that are there and were not.
    fn missing(&self, name: Name, key: &Key, found: &mut Vec<Seen>) {
        let name = self.names.text(name);
        for (value, poll) in &key.polled {
            if let Some((send, Outcome::Aborted, _)) = key.sent.get(value) {
                let message = self.names.text(*value);
                let statement = format!(
                    "message {message} of log {name} was polled, though sending it had failed"
                );
                found.push(self.names.seen(
                    "aborted read",
                    &[*value],
                    statement,
                    vec![*send, *poll],
                ));
            }
        }
        let polled = key.polled.iter();
        let last = polled
            .filter_map(|(value, poll)| Some((*key.by_value.get(value)?, *poll)))
            .max();
        let mut never: Vec<(Name, usize)> = Vec::new();
        for (value, (send, outcome, is_sure)) in &key.sent {
            if key.polled.contains_key(value) || !is_sure {
                continue;
            }
            let place = key.by_value.get(value);
            match last.filter(|(last, _)| place.is_some_and(|place| place < last)) {
                Some((_, poll)) => {
                    let message = self.names.text(*value);
                    let statement = format!(
                        "message {message} was sent to log {name}, and no committed poll has it, though one has a later message"
                    );
                    found.push(
                        self.names
                            .seen("lost", &[*value], statement, vec![*send, poll]),
                    );
                }
                None if *outcome == Outcome::Committed => never.push((*value, *send)),
                None => {}
            }
        }
        if let Some((_, send)) = never.first() {
            let values: Vec<Name> = never.iter().map(|(value, _)| *value).collect();
            let statement = format!(
                "acknowledged by log {name} and never polled: {}",
                self.names.listed(&values)
            );
            found.push(
                self.names
                    .seen("never polled", &values, statement, vec![*send]),
            );
        }
    }

    /// What is wrong with two messages of a key, one after the other, if the second does not follow the first in the log; sends
    /// may leave others out.
    fn wrong(&self, [one, other]: [&Message; 2], calls: Vec<usize>) -> Option<Seen> {
        let (name, key) = (self.names.text(one.key), &self.keys[&one.key]);
        let (before, at) = (key.place(one)?, key.place(other)?);
        let (value, first) = (self.names.text(other.value), self.names.text(one.value));
        if at == before + 1 || other.is_sent && at > before {
            return None;
        }
        if other.is_sent {
            let statement =
                format!("{value} was sent to log {name} after {first}, and comes before it there");
            return Some(
                self.names
                    .seen("sent out of order", &[other.value], statement, calls),
            );
        }
        if at > before {
            let between = &key.order[before + 1..at];
            let values = self.names.listed(between);
            let statement = format!("polls of log {name} skipped {values}");
            return Some(self.names.seen("skipped", between, statement, calls));
        }
        let statement = format!("polls of log {name} went back from {first} to {value}");
        Some(
            self.names
                .seen("went back", &[other.value], statement, calls),
        )
    }

    /// Where messages of a key leave others out or go back, in one call or between those of a client. In a call, keys that were
    /// given to others meanwhile may. Between calls, an assignment begins again for keys that it adds; where clients subscribe,
    /// polls are only said.
    fn in_order(&self, steps: &[Step<'_, '_, '_>], control: &Control, found: &mut Vec<Seen>) {
        let subscribes = steps.iter().any(|step| step.exchange.word == "subscribe");
        let mut last: BTreeMap<(bool, Option<i64>, Name), (&Message, usize)> = BTreeMap::new();
        for (n, step) in steps.iter().enumerate() {
            if n % ASK_EVERY == 0 && control.check().is_err() {
                return;
            }
            let (exchange, process) = (step.exchange, step.exchange.process);
            let did_happen = exchange.outcome != Outcome::Aborted;
            if matches!(exchange.word, "assign" | "subscribe") && did_happen {
                let kept: BTreeSet<String> = keys_in(exchange.given()).collect();
                last.retain(|(_, other, key), _| {
                    *other != process || kept.contains(self.names.text(*key))
                });
            }
            let log = exchange.operation.field("rebalance-log");
            let entries = log.and_then(Tree::elements).into_iter().flatten();
            let moved = entries.filter_map(|entry| entry.field("keys"));
            let moved: BTreeSet<String> = moved.flat_map(keys_in).collect();
            let mut here: BTreeMap<(bool, Name), &Message> = BTreeMap::new();
            for message in &step.messages {
                let (is_sent, key) = (message.is_sent, message.key);
                let before =
                    match here.insert((is_sent, key), message) {
                        Some(before) => (is_sent || !moved.contains(self.names.text(key)))
                            .then_some((before, step.call(), true)),
                        None if is_sent && !did_happen => None,
                        None => {
                            let before = last.get(&(is_sent, process, key));
                            before.map(|(before, call)| (*before, *call, is_sent || !subscribes))
                        }
                    };
                found.extend(before.and_then(|(before, call, counts)| {
                    let seen = self.wrong([before, message], vec![call, step.call()])?;
                    Some(Seen { counts, ..seen })
                }));
            }
            for ((is_sent, key), message) in here {
                if is_sent && did_happen || exchange.is_committed() {
                    last.insert((is_sent, process, key), (message, step.call()));
                }
            }
        }
    }

    /// A call that polled what it sent itself, which is to be invisible until it commits.
    fn own(&self, step: &Step<'_, '_, '_>) -> Option<Seen> {
        let is_own = |polled: &&Message| {
            let mut sent = step.sent();
            sent.any(|sent| (sent.key, sent.value) == (polled.key, polled.value))
        };
        let message = step.polled().find(is_own)?;
        let (key, value) = (self.names.text(message.key), self.names.text(message.value));
        let statement = format!(
            "{value} of log {key} was polled by the transaction that sent it, before it committed"
        );
        Some(self.names.seen(
            "polled before commit",
            &[message.value],
            statement,
            vec![step.call()],
        ))
    }

    /// Transactions that polled each other's messages in a cycle.
    fn cycle(&self, steps: &[Step<'_, '_, '_>]) -> Option<Seen> {
        let mut reads: DiGraphMap<usize, ()> = DiGraphMap::new();
        for step in steps.iter().filter(|step| step.is_sure) {
            for message in step.polled() {
                if let Some((send, _, true)) = self.keys[&message.key].sent.get(&message.value) {
                    reads.add_edge(step.call(), *send, ());
                }
            }
        }
        let parts = tarjan_scc(&reads).into_iter();
        let part: BTreeSet<usize> = parts.map(BTreeSet::from_iter).find(|part| part.len() > 1)?;
        let mut path = vec![*part.first()?];
        loop {
            let next = reads
                .neighbors(*path.last()?)
                .find(|next| part.contains(next) && path.last() != Some(next))?;
            if let Some(begin) = path.iter().position(|call| *call == next) {
                let calls = path.split_off(begin);
                let statement = format!(
                    "{} transactions polled each other's messages in a cycle, before any of them could have committed",
                    calls.len()
                );
                return Some(self.names.seen("cycle", &[], statement, calls));
            }
            path.push(next);
        }
    }
}
