//! Operations of clients as a log has them, whatever they are about.
//!
//! A syntax (EDN, JSON, columns, blocks) knows no words: it makes a map of fields out of each entry, with values as small
//! trees ([`Tree`]), and hands it to [`Operations::take`]. What the operations mean is for a workload to say
//! (`workloads`). Histories of transactions in EDN and JSON do not come here: `elle` reads them without trees.

mod around;
pub(crate) mod calls;
mod entries;
mod maps;
mod order;
mod pairing;
mod time;
mod transcript;
mod tree;

pub(crate) use around::{Around, Incident, is_nemesis};
pub(crate) use calls::{Call, Clock, Event, Stage, intervals, pair, session};
pub(crate) use entries::{shown, stage_of};
pub(crate) use maps::{Fields, Taker, read, read_by, take_all};
pub(crate) use time::Time;
pub(crate) use transcript::{Notation, Transcript};
pub(crate) use tree::Tree;

use crate::Input;
use around::may_mean_something;
use isoscope_model::history::{NilRule, TimeoutRule, Vocabulary};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// What a client asked for, or what it was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operation<'a> {
    /// The name of what is done; empty where the log has none.
    pub(crate) function: Cow<'a, str>,
    pub(crate) value: Tree<'a>,
    /// The field that names a key.
    pub(crate) key: Option<Box<Tree<'a>>>,
    /// Whether it reports an error.
    pub(crate) has_error: bool,
    /// Other fields that may mean something.
    pub(crate) fields: Box<[(Cow<'a, str>, Tree<'a>)]>,
}

impl<'a> Operation<'a> {
    /// Another field.
    pub(crate) fn field(&self, name: &str) -> Option<&Tree<'a>> {
        let named = |(field, _): &&(Cow<'a, str>, Tree<'a>)| field == name;
        self.fields.iter().find(named).map(|(_, value)| value)
    }
}

/// A line and what is wrong there.
pub(crate) type Refusal = (u32, String);

/// A log.
#[derive(Default)]
pub(crate) struct Operations<'a> {
    /// What clients did, in the order of the file.
    pub(crate) events: Vec<Event<Operation<'a>>>,
    pub(crate) around: Around<'a>,
    /// Whether clients may have names instead of numbers.
    pub(crate) has_named_clients: bool,
    /// By entry that is a whole call: whether it says how it ended.
    says_outcome: Vec<bool>,
    /// The events whose times are seconds with a fraction, in nanoseconds.
    fractions: Vec<usize>,
    /// Places of clients among the names of clients.
    client_places: FxHashMap<String, usize>,
    /// What words mean, where the user has said so.
    vocabulary: Cow<'a, Vocabulary>,
    /// Whether the user has said that times do not count.
    ignores_times: bool,
    /// Where entries are copied to.
    transcript: Option<&'a Transcript>,
}

/// What fields are about, each by the first of its names.
const FIELDS: [&str; 13] = [
    "type", "process", "f", "value", "key", "time", "error", "node", "shard",
    // Of entries that are whole calls.
    "txn", "start", "end", "outcome",
];

/// The place among [`FIELDS`] of what a field of this name is about, and which of its names this is: of several in one entry
/// the first counts.
fn known_field(name: &str) -> Option<(usize, u8)> {
    Some(match name {
        "type" => (0, 0),
        "process" => (1, 0),
        "client" => (1, 1),
        "session" => (1, 2),
        "thread" => (1, 3),
        "f" => (2, 0),
        "op" => (2, 1),
        "operation" => (2, 2),
        "value" => (3, 0),
        "val" => (3, 1),
        "key" => (4, 0),
        "k" => (4, 1),
        "register" => (4, 2),
        "time" => (5, 0),
        "error" => (6, 0),
        "node" => (7, 0),
        "shard" => (8, 0),
        "txn" => (9, 0),
        "transaction" => (9, 1),
        "start" => (10, 0),
        "call" => (10, 1),
        "end" => (11, 0),
        "return" => (11, 1),
        "outcome" => (12, 0),
        _ => return None,
    })
}

/// Whether an error speaks of a time-out or of a lost connection.
fn speaks_of_connection(error: &Tree<'_>) -> bool {
    const SIGNS: [&str; 9] = [
        "broken pipe",
        "eof",
        "communications link",
        "timeout",
        "timed out",
        "timed-out",
        "closed",
        "connection",
        "socket",
    ];
    let text = error.text().to_lowercase();
    SIGNS.iter().any(|sign| text.contains(sign))
}

/// Whether what a field of this name says is read, and shown wherever an operation is; or is only its place.
pub(crate) fn is_shown_elsewhere(name: &str) -> bool {
    let known = known_field(name).map(|(place, _)| FIELDS[place]);
    known.is_some_and(|what| !matches!(what, "error" | "node"))
        || matches!(name, "index" | "op-index")
}

/// Whether a field of this name says what an operation did.
pub(crate) fn says_what_was_done(name: &str) -> bool {
    known_field(name).is_some_and(|(place, _)| matches!(FIELDS[place], "type" | "f" | "txn"))
}

/// What a field of this name is about, if that is known.
pub(crate) fn meaning_of(name: &str, vocabulary: &Vocabulary) -> Option<&'static str> {
    let (place, _) = known_field(vocabulary.field(name))?;
    Some(FIELDS[place])
}

impl<'a> Operations<'a> {
    /// None so far, of this file.
    pub(crate) fn of(input: &Input<'a>) -> Operations<'a> {
        Operations {
            vocabulary: input.vocabulary(),
            ignores_times: input.ignores_times,
            transcript: input.transcript,
            ..Operations::default()
        }
    }

    /// The known word for what an operation does.
    pub(crate) fn word<'o>(&'o self, operation: &'o Operation<'a>) -> &'o str {
        self.known_word(&operation.function)
    }

    /// The known word for a word.
    pub(crate) fn known_word<'o>(&'o self, word: &'o str) -> &'o str {
        match self.vocabulary.word(word) {
            "r" => "read",
            "w" => "write",
            word => word,
        }
    }

    /// Whether the order of the log is real time.
    pub(crate) fn has_order(&self) -> bool {
        !self.ignores_times && self.around.clock(&self.events) != Clock::Unknown
    }

    /// The workload that the user has named.
    pub(crate) fn workload(&self) -> Option<&str> {
        self.vocabulary.workload.as_deref()
    }

    /// What a register holds that was read as nil.
    pub(crate) fn nil(&self) -> NilRule {
        self.vocabulary.nil
    }

    /// Notes the fields that say nothing to a workload.
    pub(crate) fn note_unread_fields(&mut self) {
        for event in &self.events {
            let fields = event.content.fields.iter();
            fields.for_each(|(name, _)| self.around.unread_field(name.clone()));
        }
    }

    /// By place among [`FIELDS`]: the place of the field that is about this.
    fn places(&self, fields: &Fields<'a>) -> [Option<usize>; FIELDS.len()] {
        let mut places: [Option<(u8, usize)>; FIELDS.len()] = Default::default();
        for (at, (name, _)) in fields.iter().enumerate() {
            let Some(name) = name.word() else { continue };
            let known = known_field(name).or_else(|| known_field(self.vocabulary.field(name)));
            if let Some((what, rank)) = known {
                let found = (rank, at);
                places[what] = Some(places[what].map_or(found, |before| before.min(found)));
            }
        }
        places.map(|found| found.map(|(_, at)| at))
    }

    /// The place of the field that is about this.
    fn place(&self, fields: &Fields<'a>, what: &str) -> Option<usize> {
        let what = FIELDS.iter().position(|field| *field == what)?;
        self.places(fields)[what]
    }

    /// Removes the field that is about this, and returns its value.
    pub(crate) fn remove(&self, fields: &mut Fields<'a>, what: &str) -> Option<Tree<'a>> {
        let place = self.place(fields, what)?;
        Some(fields.remove(place).1).filter(|value| !value.is_nil())
    }

    /// Takes an entry of the log: its fields, and the line on which its value is. An error says what is wrong with it.
    pub(crate) fn take(&mut self, mut fields: Fields<'a>, line: u32) -> Result<(), String> {
        if let Some(transcript) = self.transcript {
            transcript.take(&fields, line);
        }
        let places = self.places(&fields);
        let mut field = |what: &str| {
            let what = FIELDS.iter().position(|field| *field == what)?;
            let (name, value) = fields.get_mut(places[what]?)?;
            // What is taken has no name any more.
            *name = Tree::Nil;
            Some(std::mem::replace(value, Tree::Nil)).filter(|value| !value.is_nil())
        };
        let stage = field("type");
        let (process, function) = (field("process"), field("f").and_then(into_word));
        let (value, key) = (field("value").unwrap_or(Tree::Nil), field("key"));
        let (time, error) = (
            field("time").and_then(|time| time.integer()),
            field("error"),
        );
        let unquoted = |name: Cow<'a, str>| match name.contains('"') {
            true => Cow::Owned(name.trim_matches('"').to_owned()),
            false => name,
        };
        let (node, part) = (
            field("node").and_then(into_word).map(unquoted),
            field("shard").and_then(into_word),
        );
        let process = match self.client(process)? {
            Who::Client(process) => process,
            Who::Nemesis => {
                let place = self.n_operations();
                let detail = match &value {
                    Tree::Nil => String::new(),
                    Tree::Name(name) => name.trim_matches('"').to_owned(),
                    value => value.text().into_owned(),
                };
                let (what, detail) = (function, Cow::Owned(detail));
                let incident = Incident {
                    time,
                    place,
                    what,
                    part,
                    detail,
                };
                self.around.incidents.push(incident);
                return Ok(());
            }
            Who::Stranger => return Ok(()),
        };
        if node.is_some() {
            self.around.on_node(process, node);
        }
        let stage = stage.ok_or("expected an operation with a `type`, found none in this one")?;
        let Some(stage) = stage.word().and_then(Stage::named) else {
            return Err(format!(
                "expected the type invoke, ok, fail or info, found {}",
                stage.text()
            ));
        };
        let is_doubtful = stage == Stage::Fail
            && self.vocabulary.failed_timeouts == TimeoutRule::Unknown
            && error.as_ref().is_some_and(speaks_of_connection);
        let stage = if is_doubtful { Stage::Info } else { stage };
        let place = self.n_operations();
        let named = fields
            .into_iter()
            .filter_map(|(name, value)| Some((into_word(name)?, value)));
        let means = |name: &str| may_mean_something(self.vocabulary.field(name));
        let fields = named.filter(|(name, _)| means(name)).collect();
        let function = function.unwrap_or_default();
        let content = Operation {
            function,
            value,
            key: key.map(Box::new),
            has_error: error.is_some(),
            fields,
        };
        self.events.push(Event {
            process,
            stage,
            time,
            place,
            line,
            content,
        });
        Ok(())
    }

    /// Adds what follows in the file, after `n_lines` lines, where it was read by itself.
    pub(crate) fn append(&mut self, other: Operations<'a>, n_lines: u32) {
        let n_before = self.n_operations();
        let moved = other.events.into_iter().map(|event| Event {
            place: event.place.saturating_add(n_before),
            line: event.line.saturating_add(n_lines),
            ..event
        });
        self.events.extend(moved);
        self.around.append(other.around, n_before);
    }

    /// Whether there is no entry at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.n_operations() == 0
    }

    /// Number of operations so far, including those of processes other than clients.
    fn n_operations(&self) -> u32 {
        let n_events = u32::try_from(self.events.len()).unwrap_or(u32::MAX);
        self.around.n_operations().saturating_add(n_events)
    }

    fn client(&mut self, process: Option<Tree<'a>>) -> Result<Who, String> {
        let Some(process) = process else {
            return Ok(Who::Client(None));
        };
        if let Some(number) = process.integer() {
            return Ok(Who::Client(Some(number)));
        }
        match &process {
            Tree::Name(name) if is_nemesis(name) => Ok(Who::Nemesis),
            Tree::Name(name) if is_integer(name) => {
                Err("expected a process: an integer of 64 bits".to_owned())
            }
            Tree::Number(_) => Err("expected a process: an integer of 64 bits".to_owned()),
            Tree::Name(name) if self.has_named_clients => {
                let name = name.trim_matches('"').to_owned();
                let names = &mut self.around.client_names;
                let next = names.len();
                let place = *self.client_places.entry(name.clone()).or_insert(next);
                if place == next {
                    names.push(name);
                }
                Ok(Who::Client(Some(calls::named(place))))
            }
            Tree::Name(name) => {
                self.around.pass_over(name);
                Ok(Who::Stranger)
            }
            _ => {
                self.around.pass_over("a collection");
                Ok(Who::Stranger)
            }
        }
    }
}

/// Who did something.
enum Who {
    Client(Option<i64>),
    Nemesis,
    /// A process that is no client.
    Stranger,
}

/// Whether a name is an integer, perhaps of more than 64 bits.
fn is_integer(name: &str) -> bool {
    let digits = name.strip_prefix('-').unwrap_or(name);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A word as text; none for what is no word.
fn into_word(tree: Tree<'_>) -> Option<Cow<'_, str>> {
    match tree {
        Tree::Name(Cow::Borrowed(name)) => {
            Some(Cow::Borrowed(name.strip_prefix(':').unwrap_or(name)))
        }
        Tree::Name(name) => Some(match name.strip_prefix(':') {
            Some(word) => Cow::Owned(word.to_owned()),
            None => name,
        }),
        _ => None,
    }
}
