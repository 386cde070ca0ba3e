//! A transaction of a stream, on its own: it can be kept, and forgotten, without the history that it is part of.

use super::keep::{Keep, Reading, Writing, kept, kept_enum};
use isoscope_model::history::{
    BuildError, Builder, Draft, History, Interval, Label, OperationId, OperationKind, Origin,
    Outcome, SessionId, TransactionId, Value, positional_name,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A value, independent of any history.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// The initial version: `nil`, or the value that the file declares as initial.
    Initial,
    /// A number.
    Number(u64),
    /// Anything else, as it is called in its file.
    Name(Arc<str>),
}

/// One operation of a [`Record`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Read or write.
    pub kind: OperationKind,
    /// The key, a place in [`Names`].
    pub key: u32,
    /// What was read, written or appended; of a list that was read the last element.
    pub value: Atom,
    /// The list that was read; an empty one for an append.
    pub list: Option<Arc<[Atom]>>,
    /// The line of the file, from 1; 0 for none.
    pub line: u32,
}

/// What a transaction is called in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Called {
    /// A number, displayed after `T`.
    Number(u64),
    /// A name.
    Name(Box<str>),
    /// Its position in its session, from 0.
    Position(u32),
}

impl Action {
    /// Whether it writes or appends.
    pub(super) fn is_write(&self) -> bool {
        self.kind == OperationKind::Write
    }

    /// The key, with what was read or written.
    pub(super) fn version(&self) -> (u32, Atom) {
        (self.key, self.value.clone())
    }
}

/// A transaction as its file describes it. Reads whose result is not recorded are left out.
#[derive(Clone, Debug)]
pub struct Record {
    /// The session, a place in [`Names`].
    pub session: u32,
    /// What it is called; none if nothing is known of its position.
    pub called: Option<Called>,
    /// How it ended.
    pub outcome: Outcome,
    /// What it did, in program order.
    pub operations: Vec<Action>,
    /// When it ran, if the file says so.
    pub interval: Option<Interval>,
    /// The line with which the transaction ended, from 1; 0 for none.
    pub line: u32,
    /// Why this transaction cannot be followed.
    pub foreign: Option<&'static str>,
    /// Sessions of which the stream has said before the end of this transaction that they have ended.
    pub gone: Vec<u32>,
    /// All transactions that end later began then or later, as intervals count; none if the format does not say.
    pub begun: Option<i64>,
}

impl Record {
    /// Its writes, in program order.
    pub(super) fn writes(&self) -> impl DoubleEndedIterator<Item = &Action> {
        self.operations.iter().filter(|action| action.is_write())
    }

    /// Its writes of the key of an operation that come before that, in program order.
    pub(super) fn writes_before(&self, place: usize) -> impl DoubleEndedIterator<Item = &Action> {
        let key = self.operations[place].key;
        self.operations[..place]
            .iter()
            .filter(move |action| action.is_write() && action.key == key)
    }
}

kept_enum!(Atom { 0 Initial, 1 Number(number), 2 Name(name) });
kept_enum!(Called { 0 Number(number), 1 Name(name), 2 Position(position) });
kept!(Action {
    kind,
    key,
    value,
    list,
    line
});

/// Names by number, each once.
#[derive(Debug, Default)]
pub struct Interned {
    names: Vec<Arc<str>>,
    places: FxHashMap<Arc<str>, u32>,
    /// Those of them that are numbers and were asked for as such: no name has to be made for them.
    numbers: FxHashMap<u64, u32>,
}

impl Interned {
    /// The place of a name, made on first use.
    pub fn place(&mut self, name: &str) -> u32 {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let (name, place) = (Arc::<str>::from(name), self.names.len() as u32);
        self.names.push(Arc::clone(&name));
        self.places.insert(name, place);
        place
    }

    /// The place of the name that is this number in its usual form, made on first use.
    pub fn number(&mut self, number: u64) -> u32 {
        if let Some(&place) = self.numbers.get(&number) {
            return place;
        }
        let place = self.place(&number.to_string());
        self.numbers.insert(number, place);
        place
    }

    /// The place of a name that is there.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.places.get(name).copied()
    }

    /// The name at a place.
    pub fn name(&self, place: u32) -> &str {
        &self.names[place as usize]
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl Keep for Interned {
    fn put(&self, to: &mut Writing) {
        self.names.put(to);
    }

    fn get(from: &mut Reading<'_>) -> Option<Interned> {
        let names: Vec<Arc<str>> = Keep::get(from)?;
        let places = names.iter().cloned().zip(0..).collect();
        Some(Interned {
            names,
            places,
            numbers: FxHashMap::default(),
        })
    }
}

// What cannot be followed ends following before it is kept.
kept!(Record { session, called, outcome, operations, interval, line; foreign, gone, begun });
kept!(Names {
    sessions,
    keys,
    barrier,
    is_list
});

/// The names of sessions and keys. They take memory for each session and key that ever occurs.
#[derive(Debug, Default)]
pub struct Names {
    /// By session.
    pub sessions: Interned,
    /// By key.
    pub keys: Interned,
    /// The key that barriers are written to, if the stream says that clients keep barriers: then a session that appears
    /// later begins by reading it.
    pub barrier: Option<u32>,
    /// By key: whether it holds lists, as far as known.
    is_list: Vec<Option<bool>>,
}

impl Names {
    /// Whether a key is known to hold lists.
    pub fn is_list(&self, key: u32) -> bool {
        self.is_list.get(key as usize) == Some(&Some(true))
    }

    /// Notes what a key holds: whether that agrees with what is known.
    fn holds_lists(&mut self, key: u32, is_list: bool) -> bool {
        let key = key as usize;
        self.is_list.resize(self.is_list.len().max(key + 1), None);
        *self.is_list[key].get_or_insert(is_list) == is_list
    }
}

/// The number whose usual form is `text`, if it is one up to `limit`.
fn number(text: &str, limit: u64) -> Option<u64> {
    text.parse()
        .ok()
        .filter(|number: &u64| *number <= limit && number.to_string() == text)
}

impl Atom {
    /// A value of a history. In a list the value that the file declares as initial is an element like others.
    pub fn of(history: &History, value: Value, in_list: bool) -> Atom {
        if value == Value::INITIAL || (!in_list && history.initial_value() == Some(value)) {
            return Atom::Initial;
        }
        match history.value_names() {
            None => Atom::Number(value.0),
            Some(names) => Atom::named(&names.text(value.0 as usize)),
        }
    }

    fn named(text: &str) -> Atom {
        match number(text, Value::MAX_NUMBER) {
            Some(number) => Atom::Number(number),
            None => Atom::Name(text.into()),
        }
    }

    fn value(&self, builder: &mut Builder) -> Value {
        match self {
            Atom::Initial => Value::INITIAL,
            Atom::Number(number) => builder.value_number(*number),
            Atom::Name(name) => builder.value_name(name),
        }
    }
}

impl std::fmt::Display for Atom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Atom::Initial => f.write_str("the initial value"),
            Atom::Number(number) => write!(f, "{number}"),
            Atom::Name(name) => f.write_str(name),
        }
    }
}

/// The transactions of a history in the order of their ids; `line` says which line of the stream a line of the history
/// is. O(operations).
pub fn records(history: &History, names: &mut Names, line: impl Fn(u32) -> u32) -> Vec<Record> {
    let mut reading = HistoryReading::new(history);
    history
        .transactions()
        .map(|t| reading.record(t, names, &line))
        .collect()
}

/// Takes the transactions out of a history.
pub(super) struct HistoryReading<'a> {
    history: &'a History,
    /// By key of the history: its place among the names, once it is known.
    keys: Vec<Option<u32>>,
    /// The same by session.
    sessions: Vec<Option<u32>>,
}

impl HistoryReading<'_> {
    pub(super) fn new(history: &History) -> HistoryReading<'_> {
        HistoryReading {
            history,
            keys: vec![None; history.n_keys()],
            sessions: vec![None; history.n_sessions()],
        }
    }

    /// One transaction.
    pub(super) fn record(
        &mut self,
        t: TransactionId,
        names: &mut Names,
        line: &impl Fn(u32) -> u32,
    ) -> Record {
        let history = self.history;
        let mut operations = Vec::with_capacity(history.operations_of(t).len());
        let mut foreign = None;
        for (o, at) in history.operations_of(t).zip(history.lines_of(t)) {
            let operation = history.operation(o);
            if operation.value == Value::UNRECORDED || history.has_rows() {
                continue;
            }
            let place = operation.key.index();
            let key =
                *self.keys[place].get_or_insert_with(|| match history.key_names().number(place) {
                    Some(number) => names.keys.number(number),
                    None => names.keys.place(&history.key_names().text(place)),
                });
            let is_list = history.lists().is_list(operation.key);
            let value = Atom::of(history, operation.value, is_list);
            // A read of the initial version fits lists and registers: it is the same for both.
            let is_initial = operation.kind == OperationKind::Read && value == Atom::Initial;
            if !is_initial && !names.holds_lists(key, is_list) {
                foreign = Some("a key is used as a list and as a register");
            }
            let list = if is_initial || !is_list {
                None
            } else {
                Some(self.list(o))
            };
            operations.push(Action {
                kind: operation.kind,
                key,
                value,
                list,
                line: line(at),
            });
        }
        if history.has_rows() {
            foreign = Some("keys are rows that are inserted, deleted or scanned");
        }
        if history.set_up().contains(&t) {
            foreign = Some("a transaction sets up the initial state");
        }
        let called = history.transaction_label(t).map(|label| match label {
            Label::Number(number) => Called::Number(number),
            Label::Name(name) => Called::Name(name.into()),
        });
        let session = history.session_of(t);
        let place = || names.sessions.place(&history.exact_session_name(session));
        Record {
            session: *self.sessions[session.index()].get_or_insert_with(place),
            called,
            outcome: history.outcome(t),
            line: operations.last().map_or(0, |last| last.line),
            operations,
            interval: history.interval(t),
            foreign,
            gone: Vec::new(),
            begun: None,
        }
    }

    /// The list that an operation read; an empty one for an append.
    fn list(&self, o: OperationId) -> Arc<[Atom]> {
        let elements = self.history.lists().read_by(o).into_iter().flatten();
        elements
            .map(|&element| Atom::of(self.history, element, true))
            .collect()
    }
}

/// Puts records together to a history again.
pub struct Assembly<'a> {
    builder: Builder,
    names: &'a Names,
}

impl<'a> Assembly<'a> {
    /// An empty history of this origin. Without names that are no numbers, values keep theirs.
    pub fn new(origin: Origin, names: &'a Names) -> Assembly<'a> {
        Assembly {
            builder: Builder::new(origin),
            names,
        }
    }

    /// The session at a place among the names, made on first use.
    pub fn session(&mut self, place: u32) -> SessionId {
        let name = self.names.sessions.name(place);
        match number(name, u64::MAX) {
            Some(number) => self.builder.session_number(number),
            None => self.builder.session_name(name),
        }
    }

    /// Adds a transaction with those of its operations that `keep` wants; records of one session must come in its order.
    /// A value written as [`Atom::Initial`] cannot be expressed and is left out.
    pub fn add(&mut self, record: &Record, keep: impl Fn(usize) -> bool) {
        let session = self.session(record.session);
        let draft = self.builder.transaction(session, record.outcome);
        match &record.called {
            Some(Called::Number(number)) => self.builder.number_transaction(draft, *number),
            Some(Called::Name(name)) => self.builder.name_transaction(draft, name),
            Some(Called::Position(position)) => {
                let name =
                    positional_name(self.names.sessions.name(record.session), *position as usize);
                self.builder.name_transaction(draft, &name);
            }
            None => {}
        }
        if let Some(interval) = record.interval {
            self.builder.set_interval(draft, interval);
        }
        let kept = record
            .operations
            .iter()
            .enumerate()
            .filter(|(place, _)| keep(*place));
        kept.for_each(|(_, action)| self.action(draft, action));
    }

    /// Adds a transaction that set up the initial state with these values.
    pub fn set_up<'v>(&mut self, state: impl Iterator<Item = (u32, &'v Atom, u32)>) {
        let mut state = state.peekable();
        if state.peek().is_none() {
            return;
        }
        let session = self.builder.session_name("settled");
        let draft = self.builder.transaction(session, Outcome::Committed);
        self.builder.name_transaction(draft, "settled state");
        self.builder.set_up(draft);
        for (key, value, line) in state {
            let value = value.clone();
            self.action(
                draft,
                &Action {
                    kind: OperationKind::Write,
                    key,
                    value,
                    list: None,
                    line,
                },
            );
        }
    }

    fn action(&mut self, draft: Draft, action: &Action) {
        if action.is_write() && action.value == Atom::Initial {
            return;
        }
        let name = self.names.keys.name(action.key);
        let key = match number(name, u64::MAX) {
            Some(number) => self.builder.key_number(number),
            None => self.builder.key_name(name),
        };
        if self.names.is_list(action.key) && action.kind == OperationKind::Read {
            let elements: Vec<&Atom> = action.list.iter().flat_map(|list| list.iter()).collect();
            // The first name turns numbers into names as well: let it come before them.
            for element in elements
                .iter()
                .filter(|element| matches!(element, Atom::Name(_)))
            {
                element.value(&mut self.builder);
            }
            let values: Vec<Value> = elements
                .into_iter()
                .map(|element| element.value(&mut self.builder))
                .collect();
            return self.builder.list_read(draft, key, &values, action.line);
        }
        if self.names.is_list(action.key) {
            self.builder.list_key(key);
        }
        let value = action.value.value(&mut self.builder);
        self.builder
            .operation(draft, action.kind, key, value, action.line);
    }

    /// The history.
    pub fn finish(self) -> Result<History, BuildError> {
        self.builder.finish()
    }
}
