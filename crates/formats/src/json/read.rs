//! JSON → history, in one pass.

use super::scan::{self, Predicates};
use super::{FORMAT, SCHEMA};
use crate::error::ReadError;
use crate::raw_json::message;
use crate::watch::Watch;
use crate::{Input, Place, Problem, name};
use isoscope_model::control::Control;
use isoscope_model::history::{
    Builder, Draft, History, Incident, Interval, OperationKind, Outcome, SessionId, Value,
};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub(super) fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let bytes = crate::without_mark(input.bytes());
    control.phase("reading", bytes.len() as u64);
    let builder = Builder::new(input.origin(FORMAT.name));
    let watch = Watch::new(FORMAT.name, control, Watch::EVERY);
    let mut state = State {
        builder,
        predicates: Predicates::new(),
        bytes,
        watch,
        passed: 0,
        line: 1,
        stopped: None,
    };
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let result = HistorySeed(&mut state)
        .deserialize(&mut deserializer)
        .and_then(|()| deserializer.end());
    match (result, state.stopped) {
        (_, Some(error)) => Err(error),
        (Err(error), None) => Err(read_error(&error)),
        (Ok(()), None) => state
            .builder
            .finish()
            .map_err(|error| ReadError::whole(FORMAT.name, error)),
    }
}

fn read_error(error: &serde_json::Error) -> ReadError {
    let (line, column) = (error.line() as u64, error.column() as u64);
    let problem = if error.is_eof() {
        Problem::Expected {
            expected: "more JSON",
            found: "the end of the file".to_owned(),
        }
    } else {
        Problem::Other(message(error))
    };
    let place = if line == 0 {
        Place::Whole
    } else {
        Place::Line { line, column }
    };
    ReadError::new(FORMAT.name, place, problem)
}

struct State<'a> {
    builder: Builder,
    predicates: Predicates,
    bytes: &'a [u8],
    watch: Watch<'a>,
    /// Some byte that was read, and its line, from 1.
    passed: usize,
    line: u32,
    /// The control said to stop.
    stopped: Option<ReadError>,
}

impl State<'_> {
    /// The line of a piece of the text, which is behind all before; without one the line of the last. Fails if the control
    /// says to stop.
    fn line_of<E: Error>(&mut self, piece: Option<&str>) -> Result<u32, E> {
        let Some(piece) = piece else {
            return Ok(self.line);
        };
        let at = piece
            .as_ptr()
            .addr()
            .saturating_sub(self.bytes.as_ptr().addr())
            .min(self.bytes.len());
        let between = self.bytes.get(self.passed..at).unwrap_or_default();
        self.line = self
            .line
            .saturating_add(memchr::memchr_iter(b'\n', between).count() as u32);
        self.passed = at;
        match self.watch.at(at) {
            Ok(()) => Ok(self.line),
            Err(error) => {
                self.stopped = Some(error);
                Err(E::custom("stopped"))
            }
        }
    }
}

/// A name, key or value: numbers stay numbers.
pub(super) enum Name {
    Number(u64),
    Negative(i64),
    Text(String),
}

impl Name {
    /// The name of a session or a transaction: there a number and its string are the same.
    fn text(self) -> String {
        match self {
            Name::Number(number) => number.to_string(),
            Name::Negative(number) => number.to_string(),
            Name::Text(text) => text,
        }
    }

    /// The name of a key or a value: there they differ.
    pub(super) fn name(self) -> String {
        match self {
            Name::Text(text) => name::of_string(&text).into_owned(),
            number => number.text(),
        }
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        struct NameVisitor;
        impl Visitor<'_> for NameVisitor {
            type Value = Name;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an integer of 64 bits")
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Name, E> {
                Ok(Name::Number(number))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Name, E> {
                Ok(Name::Negative(number))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Name, E> {
                Ok(Name::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(NameVisitor)
    }
}

/// The element after the key of an operation.
enum Third {
    /// `null`: the initial version.
    Initial,
    /// `{"absent": true}`.
    Absent,
    Name(Name),
    List(Vec<Name>),
}

impl<'de> Deserialize<'de> for Third {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Third, D::Error> {
        struct ThirdVisitor;
        impl<'de> Visitor<'de> for ThirdVisitor {
            type Value = Third;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, an integer of 64 bits, null, a list or {\"absent\": true}")
            }
            fn visit_unit<E: Error>(self) -> Result<Third, E> {
                Ok(Third::Initial)
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Third, E> {
                Ok(Third::Name(Name::Number(number)))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Third, E> {
                Ok(Third::Name(Name::Negative(number)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Third, E> {
                Ok(Third::Name(Name::Text(text.to_owned())))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Third, A::Error> {
                let mut is_absent = false;
                while let Some(field) = fields.next_key::<String>()? {
                    match field.as_str() {
                        "absent" => is_absent = fields.next_value()?,
                        _ => drop(fields.next_value::<IgnoredAny>()?),
                    }
                }
                match is_absent {
                    true => Ok(Third::Absent),
                    false => Err(A::Error::custom("expected {\"absent\": true}")),
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Third, A::Error> {
                let mut list = Vec::new();
                while let Some(element) = elements.next_element()? {
                    list.push(element);
                }
                Ok(Third::List(list))
            }
        }
        deserializer.deserialize_any(ThirdVisitor)
    }
}

/// Implements `DeserializeSeed` for a visitor by passing it to `deserialize_map` or `deserialize_seq`.
macro_rules! seed {
    ($name:ident, $method:ident, $output:ty) => {
        impl<'de> DeserializeSeed<'de> for $name<'_, '_> {
            type Value = $output;
            fn deserialize<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<$output, D::Error> {
                deserializer.$method(self)
            }
        }
    };
}

/// Defines the seed of an array of elements, each of which has its own seed and knows what it is part of.
macro_rules! array_of {
    ($name:ident, $element:ident, $parent:ident: $type:ty, $expecting:literal) => {
        struct $name<'s, 'w> {
            state: &'s mut State<'w>,
            $parent: $type,
        }
        seed!($name, deserialize_seq, ());

        impl<'de> Visitor<'de> for $name<'_, '_> {
            type Value = ();

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($expecting)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
                let Self { state, $parent } = self;
                while elements
                    .next_element_seed($element {
                        state: &mut *state,
                        $parent,
                    })?
                    .is_some()
                {}
                Ok(())
            }
        }
    };
}

struct HistorySeed<'s, 'w>(&'s mut State<'w>);
seed!(HistorySeed, deserialize_map, ());

impl<'de> Visitor<'de> for HistorySeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the fields \"schema\" and \"sessions\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let (mut schema, mut sessions, mut initial) = (false, false, None);
        while let Some(field) = map.next_key::<String>()? {
            match field.as_str() {
                "schema" => {
                    let found = map.next_value::<String>()?;
                    if found != SCHEMA {
                        return Err(A::Error::custom(format!(
                            "expected the schema `{SCHEMA}`, found `{found}`"
                        )));
                    }
                    schema = true;
                }
                "initial" => initial = map.next_value::<Option<Name>>()?,
                "predicates" if schema => {
                    let named = map.next_value::<BTreeMap<String, Vec<(Name, Name)>>>()?;
                    let row = |(key, value): (Name, Name)| (key.name().into(), value.name().into());
                    let rows = |rows: Vec<(Name, Name)>| rows.into_iter().map(row).collect();
                    self.0.predicates = named
                        .into_iter()
                        .map(|(name, all)| (name, Arc::new(rows(all))))
                        .collect();
                }
                "incidents" if schema => {
                    for incident in map.next_value::<Vec<IncidentFields>>()? {
                        let IncidentFields { time, what, detail } = incident;
                        self.0.builder.incident(Incident {
                            time,
                            what,
                            detail: detail.unwrap_or_default(),
                        });
                    }
                }
                "sessions" if sessions => return Err(A::Error::duplicate_field("sessions")),
                "sessions" => {
                    map.next_value_seed(SessionsSeed(&mut *self.0))?;
                    sessions = true;
                }
                other if !schema => {
                    let message = format!(
                        "expected the field \"schema\": \"{SCHEMA}\" first, found the field `{other}`"
                    );
                    return Err(A::Error::custom(message));
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if !schema {
            return Err(A::Error::missing_field("schema"));
        }
        if !sessions {
            return Err(A::Error::missing_field("sessions"));
        }
        if let Some(initial) = initial {
            let value = name::value(&mut self.0.builder, &initial.name());
            self.0.builder.initial_value(value);
        }
        Ok(())
    }
}

struct SessionsSeed<'s, 'w>(&'s mut State<'w>);
seed!(SessionsSeed, deserialize_seq, ());

impl<'de> Visitor<'de> for SessionsSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of sessions")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sessions: A) -> Result<(), A::Error> {
        let mut place = 0;
        while sessions
            .next_element_seed(SessionSeed {
                state: &mut *self.0,
                place,
            })?
            .is_some()
        {
            place += 1;
        }
        Ok(())
    }
}

struct SessionSeed<'s, 'w> {
    state: &'s mut State<'w>,
    place: u64,
}
seed!(SessionSeed, deserialize_map, ());

impl SessionSeed<'_, '_> {
    /// The session called `name`, which must be new.
    fn begin<E: Error>(&mut self, name: &str) -> Result<SessionId, E> {
        let before = self.state.builder.n_sessions();
        let session = name::session(&mut self.state.builder, name);
        if self.state.builder.n_sessions() > before {
            Ok(session)
        } else {
            Err(E::custom(format!("two sessions are called `{name}`")))
        }
    }

    fn place_on(&mut self, session: SessionId, node: Option<&str>) {
        if let Some(node) = node {
            // The session is new, so no other node is known.
            self.state.builder.session_node(session, node);
        }
    }
}

impl<'de> Visitor<'de> for SessionSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a session: an object with the fields \"name\" and \"transactions\"")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let (mut session, mut node) = (None, None);
        while let Some(field) = map.next_key::<String>()? {
            match (field.as_str(), session) {
                ("name", None) => {
                    let name = map.next_value::<Name>()?.text();
                    session = Some(self.begin(&name)?);
                }
                ("name", Some(_)) => {
                    return Err(A::Error::custom(
                        "the name of a session stands once and first",
                    ));
                }
                ("node", _) => node = map.next_value::<Option<String>>()?,
                ("transactions", _) => {
                    let session = match session {
                        Some(session) => session,
                        None => self.begin(&self.place.to_string())?,
                    };
                    self.place_on(session, node.as_deref());
                    map.next_value_seed(TransactionsSeed {
                        state: &mut *self.state,
                        session,
                    })?;
                    return pass_over_rest(map, &["name", "node", "transactions"]);
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let session = match session {
            Some(session) => session,
            None => self.begin::<A::Error>(&self.place.to_string())?,
        };
        self.place_on(session, node.as_deref());
        Ok(())
    }
}

/// Skips the remaining fields, none of which may be one of `taken`.
fn pass_over_rest<'de, A: MapAccess<'de>>(mut map: A, taken: &[&str]) -> Result<(), A::Error> {
    while let Some(field) = map.next_key::<String>()? {
        if taken.contains(&field.as_str()) {
            return Err(A::Error::custom(format!(
                "the field `{field}` stands too late or twice"
            )));
        }
        map.next_value::<IgnoredAny>()?;
    }
    Ok(())
}

array_of!(TransactionsSeed, TransactionSeed, session: SessionId, "an array of transactions");

struct TransactionSeed<'s, 'w> {
    state: &'s mut State<'w>,
    session: SessionId,
}
seed!(TransactionSeed, deserialize_map, ());

/// Something that happened to the system: a fault that began or ended.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(super) struct IncidentFields {
    /// When, in the unit of the transactions' times; null or left out if that is unknown.
    time: Option<i64>,
    /// What, such as `start-partition` or `kill`.
    what: String,
    /// More about it.
    detail: Option<String>,
}

/// What became of a transaction.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(super) enum OutcomeName {
    /// It is known to have committed.
    Committed,
    /// It is known to have aborted.
    Aborted,
    /// It may have committed or aborted.
    Unknown,
}

impl<'de> Visitor<'de> for TransactionSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a transaction: an object with the field \"operations\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let builder = &mut self.state.builder;
        let draft = builder.transaction(self.session, Outcome::Committed);
        let (mut start, mut end, mut operations) = (None, None, false);
        while let Some(field) = map.next_key::<String>()? {
            let builder = &mut self.state.builder;
            match field.as_str() {
                "id" => match map.next_value::<Name>()? {
                    Name::Number(number) if number < u64::MAX => {
                        builder.number_transaction(draft, number)
                    }
                    id => builder.name_transaction(draft, &id.text()),
                },
                "outcome" => {
                    let outcome = match map.next_value::<OutcomeName>()? {
                        OutcomeName::Committed => Outcome::Committed,
                        OutcomeName::Aborted => Outcome::Aborted,
                        OutcomeName::Unknown => Outcome::Unknown,
                    };
                    builder.set_outcome(draft, outcome);
                }
                "set_up" => {
                    if map.next_value()? {
                        builder.set_up(draft);
                    }
                }
                "start" => start = Some(map.next_value::<i64>()?),
                "end" => end = Some(map.next_value::<i64>()?),
                "operations" if operations => return Err(A::Error::duplicate_field("operations")),
                "operations" => {
                    map.next_value_seed(OperationsSeed {
                        state: &mut *self.state,
                        draft,
                    })?;
                    operations = true;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        match (start, end) {
            (Some(start), Some(end)) if end < start => {
                let message = format!(
                    "expected an \"end\" that is not before the \"start\" {start}, found {end}"
                );
                return Err(A::Error::custom(message));
            }
            (Some(start), Some(end)) => self
                .state
                .builder
                .set_interval(draft, Interval { start, end }),
            (None, None) => {}
            (Some(_), None) => return Err(A::Error::missing_field("end")),
            (None, Some(_)) => return Err(A::Error::missing_field("start")),
        }
        Ok(())
    }
}

array_of!(OperationsSeed, OperationSeed, draft: Draft, "an array of operations");

struct OperationSeed<'s, 'w> {
    state: &'s mut State<'w>,
    draft: Draft,
}
seed!(OperationSeed, deserialize_seq, ());

/// The first element of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Letter {
    Read,
    Write,
    Append,
    ReadOther,
    Insert,
    Delete,
    Scan,
}

/// Something with its line.
pub(super) struct Placed<T>(pub(super) T, pub(super) u32);

/// A letter, and where it is in the text unless it is written with escapes.
struct PlacedLetter<'de>(Letter, Option<&'de str>);

impl<'de> Deserialize<'de> for PlacedLetter<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PlacedLetter<'de>, D::Error> {
        struct LetterVisitor;
        impl<'de> Visitor<'de> for LetterVisitor {
            type Value = PlacedLetter<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"r\", \"w\", \"i\", \"d\", \"s\", \"a\" or \"n\"")
            }
            fn visit_borrowed_str<E: Error>(
                self,
                letter: &'de str,
            ) -> Result<PlacedLetter<'de>, E> {
                Ok(PlacedLetter(self.visit_str(letter)?.0, Some(letter)))
            }
            fn visit_str<E: Error>(self, letter: &str) -> Result<PlacedLetter<'de>, E> {
                let letter = match letter {
                    "r" => Letter::Read,
                    "w" => Letter::Write,
                    "a" => Letter::Append,
                    "n" => Letter::ReadOther,
                    "i" => Letter::Insert,
                    "d" => Letter::Delete,
                    "s" => Letter::Scan,
                    _ => return Err(E::invalid_value(de::Unexpected::Str(letter), &self)),
                };
                Ok(PlacedLetter(letter, None))
            }
        }
        deserializer.deserialize_str(LetterVisitor)
    }
}

impl<'de> Visitor<'de> for OperationSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an operation like [\"r\", \"x\", 3]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<(), A::Error> {
        let PlacedLetter(letter, place) = parts
            .next_element()?
            .ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let line = self.state.line_of(place)?;
        if letter == Letter::Scan {
            let missing = |n| A::Error::invalid_length(n, &"a scan of three elements");
            let asked = parts.next_element()?.ok_or_else(|| missing(1))?;
            let returned = parts.next_element()?.ok_or_else(|| missing(2))?;
            if parts.next_element::<IgnoredAny>()?.is_some() {
                return Err(missing(4));
            }
            let State {
                builder,
                predicates,
                ..
            } = self.state;
            let place = Placed(self.draft, line);
            return scan::add(builder, predicates, place, asked, returned)
                .map_err(A::Error::custom);
        }
        let key: Name = parts
            .next_element()?
            .ok_or_else(|| A::Error::invalid_length(1, &self))?;
        let third: Option<Third> = parts.next_element()?;
        if parts.next_element::<IgnoredAny>()?.is_some() {
            return Err(A::Error::invalid_length(4, &self));
        }
        let (builder, draft) = (&mut self.state.builder, self.draft);
        let key = match key {
            Name::Number(number) => builder.key_number(number),
            other => name::key(builder, &other.name()),
        };
        if matches!(letter, Letter::Insert | Letter::Delete) || matches!(third, Some(Third::Absent))
        {
            builder.rows();
        }
        match (letter, third) {
            (Letter::Delete, None) => {
                builder.operation(draft, OperationKind::Write, key, Value::ABSENT, line)
            }
            (Letter::Delete, Some(_)) => {
                return Err(A::Error::custom("a delete has no value"));
            }
            (Letter::Read, Some(Third::Absent)) => {
                builder.operation(draft, OperationKind::Read, key, Value::ABSENT, line)
            }
            (Letter::Read, Some(Third::List(elements))) => {
                let elements = values(builder, elements);
                builder.list_read(draft, key, &elements, line);
            }
            (Letter::Read, Some(Third::Initial)) => {
                builder.operation(draft, OperationKind::Read, key, Value::INITIAL, line);
            }
            (Letter::Read, None) => {
                builder.operation(draft, OperationKind::Read, key, Value::UNRECORDED, line)
            }
            (Letter::Read, Some(Third::Name(value))) => {
                let value = value_of(builder, value);
                builder.operation(draft, OperationKind::Read, key, value, line);
            }
            (Letter::ReadOther, Some(Third::Name(value))) => {
                let value = value_of(builder, value);
                builder.read_of_other(draft, key, value, line);
            }
            (Letter::ReadOther, Some(Third::Initial)) => {
                builder.read_of_other(draft, key, Value::INITIAL, line)
            }
            (Letter::Write | Letter::Insert | Letter::Append, Some(Third::Name(value))) => {
                let value = value_of(builder, value);
                if letter == Letter::Append {
                    builder.list_key(key);
                }
                builder.operation(draft, OperationKind::Write, key, value, line);
            }
            (Letter::Write | Letter::Insert | Letter::Append, _) => {
                return Err(A::Error::custom("a write needs a value"));
            }
            (Letter::ReadOther, _) => {
                return Err(A::Error::custom("the value that was not read is missing"));
            }
            (Letter::Scan, _) => unreachable!("it was added above"),
        }
        Ok(())
    }
}

fn value_of(builder: &mut Builder, value: Name) -> Value {
    match value {
        Name::Number(number) if number <= Value::MAX_NUMBER => builder.value_number(number),
        value => name::value(builder, &value.name()),
    }
}

pub(super) fn values(builder: &mut Builder, elements: Vec<Name>) -> Vec<Value> {
    let texts: Vec<String> = elements.into_iter().map(Name::name).collect();
    name::values(builder, &texts)
}
