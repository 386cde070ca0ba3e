//! The JSON of dbcop since 2026 (rnbguy/dbcop: docs/history-format.md, crates/core/src/history/raw).
//!
//! ```text
//! history     = sessions | { "params": …, "info": …, "start": …, "end": …, "data": sessions }
//! sessions    = [ session, … ]          session = [ transaction, … ]
//! transaction = { "events": [ event, … ], "committed": true | false }
//! event       = { "Write": { "variable": V, "version": N } } | { "Read": { "variable": V, "version": N | null } }
//!             | ["w", V, N] | ["r", V, N | null]
//! ```
//!
//! The command line of dbcop reads the object, its web page the bare array; only `data` of the object is history. Both
//! forms of events may be mixed. Version `null` is the initial one; so is 0 where no transaction writes it. Sessions
//! are called 1, 2, … as in dbcop. V and N are 64-bit numbers there; this reader takes any integer or string.

use super::error::{ReadError, WriteError};
use super::limits::{self, Limits};
use super::raw_json::Text;
use super::{Format, Input, Likelihood, Problem, name};
use isoscope_model::control::Control;
use isoscope_model::history::{Builder, Draft, History, Operation, OperationKind, Outcome, Value};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io::Write;

/// The row of the table.
pub const FORMAT: Format =
    Format::file("dbcop-json", &["dbcop-2026"], &["json"], sniff, read, write);

fn sniff(input: &Input<'_>) -> Likelihood {
    let head = input.head().trim_ascii_start();
    let says = |field: &str| memchr::memmem::find(head, field.as_bytes()).is_some();
    match head.split_first() {
        Some((b'[', rest)) => match rest.trim_ascii_start().first() {
            // No session at all: this is the format with such a beginning in which this means something.
            Some(b']') if rest.trim_ascii() == b"]" => Likelihood::Likely,
            Some(b'[') if says("\"events\"") => Likelihood::Likely,
            None | Some(b'[' | b']') => Likelihood::Perhaps,
            Some(_) => Likelihood::No,
        },
        Some((b'{', _)) if says("\"params\"") && says("\"n_node\"") => Likelihood::Likely,
        Some((b'{', _)) if says("\"data\"") && says("\"events\"") => Likelihood::Likely,
        _ => Likelihood::No,
    }
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    data: &'a RawValue,
}

#[derive(Deserialize)]
struct Transaction<'a> {
    #[serde(borrow)]
    events: &'a RawValue,
    committed: bool,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "Write")]
    write: Option<Access<'a>>,
    #[serde(borrow, rename = "Read")]
    read: Option<Access<'a>>,
}

#[derive(Deserialize)]
struct Access<'a> {
    #[serde(borrow)]
    variable: &'a RawValue,
    #[serde(borrow)]
    version: &'a RawValue,
}

const EVENT: &str = "an event like [\"r\", 0, 1] or {\"Read\": {\"variable\": 0, \"version\": 1}}";

fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let bytes = super::without_mark(input.bytes());
    control.phase("reading", bytes.len() as u64);
    let text = Text::new(FORMAT.name, bytes, control);
    let whole = text.value(bytes)?;
    let sessions = match whole.get().starts_with('{') {
        true => text.object::<File<'_>>(whole, "an object")?.data,
        false => whole,
    };
    let mut builder = Builder::new(input.origin(FORMAT.name));
    builder.initial_value(Value(0));
    let mut items = Vec::new();
    text.elements(sessions, "an array of sessions", |session| {
        let number = builder.n_sessions() as u64 + 1;
        let id = builder.session_number(number);
        text.elements(session, "an array of transactions", |transaction| {
            let transaction: Transaction<'_> = text.object(
                transaction,
                "a transaction: an object with the fields \"events\" and \"committed\"",
            )?;
            let outcome = if transaction.committed {
                Outcome::Committed
            } else {
                Outcome::Aborted
            };
            let draft = builder.transaction(id, outcome);
            text.elements(transaction.events, "an array of events", |event| {
                read_event(&text, event, &mut items, &mut builder, draft)
            })
        })
    })?;
    if builder.n_sessions() == 0 {
        return Err(ReadError::whole(FORMAT.name, Problem::Empty));
    }
    builder
        .finish()
        .map_err(|error| ReadError::whole(FORMAT.name, error))
}

/// Adds an event of either form; `items` is room for its elements.
fn read_event<'a>(
    text: &Text<'a>,
    event: &'a RawValue,
    items: &mut Vec<&'a RawValue>,
    builder: &mut Builder,
    draft: Draft,
) -> Result<(), ReadError> {
    let (kind, variable, version) = if event.get().starts_with('{') {
        match text.object(event, EVENT)? {
            Event {
                write: Some(access),
                read: None,
            } => (OperationKind::Write, access.variable, access.version),
            Event {
                write: None,
                read: Some(access),
            } => (OperationKind::Read, access.variable, access.version),
            _ => return Err(text.expected(event, EVENT)),
        }
    } else {
        text.items(event, 3, EVENT, items)?;
        match items[..] {
            [letter, variable, version] if letter.get() == "\"w\"" => {
                (OperationKind::Write, variable, version)
            }
            [letter, variable, version] if letter.get() == "\"r\"" => {
                (OperationKind::Read, variable, version)
            }
            _ => return Err(text.expected(event, EVENT)),
        }
    };
    let key = name::key(builder, &text.name(variable, "a variable: a number")?);
    let value = match (kind, version.get()) {
        (OperationKind::Read, "null") => Value::INITIAL,
        (OperationKind::Read, _) => {
            name::value(builder, &text.name(version, "a version: a number or null")?)
        }
        (OperationKind::Write, _) => {
            name::value(builder, &text.name(version, "a version: a number")?)
        }
    };
    builder.operation(draft, kind, key, value, text.line(event));
    Ok(())
}

/// Writes the object, with a line per transaction and the short form of events. The other fields of the object (when
/// the run began and ended) are unknown and filled in.
fn write(history: &History, out: &mut Vec<u8>) -> Result<(), WriteError> {
    limits::check(
        history,
        FORMAT.name,
        &Limits {
            initial_word: true,
            empty_transactions: true,
            empty_sessions: true,
            lists: false,
        },
    )?;
    let keys = limits::numbers(history.key_names(), FORMAT.name, "the key")?;
    limits::refuse_other_values_than_numbers(history, FORMAT.name, Value::MAX_NUMBER)?;
    let most_transactions = history
        .sessions()
        .map(|s| history.transactions_of(s).len())
        .max()
        .unwrap_or(0);
    let most_events = history
        .transactions()
        .map(|t| history.operation_range(t).len())
        .max()
        .unwrap_or(0);
    write!(
        out,
        "{{\"params\":{{\"id\":0,\"n_node\":{},\"n_variable\":{},\"n_transaction\":{most_transactions},\
         \"n_event\":{most_events}}},\n\"info\":\"isoscope\",\"start\":\"{TIME}\",\"end\":\"{TIME}\",\n\"data\":[",
        history.n_sessions(),
        history.n_keys(),
    )?;
    for session in history.sessions() {
        out.write_all(if session.0 == 0 { b"\n[" } else { b",\n[" })?;
        for (n, t) in history.transactions_of(session).enumerate() {
            out.write_all(if n == 0 {
                b"\n{\"events\":["
            } else {
                b",\n{\"events\":["
            })?;
            for (n, o) in history.operations_of(t).enumerate() {
                let Operation { kind, key, value } = history.operation(o);
                let letter = if kind == OperationKind::Read {
                    'r'
                } else {
                    'w'
                };
                let comma = if n == 0 { "" } else { "," };
                write!(out, "{comma}[\"{letter}\",{},", keys[key.index()])?;
                match value {
                    Value::INITIAL => out.write_all(b"null]")?,
                    value => write!(out, "{}]", name::of_value(history, value))?,
                }
            }
            write!(
                out,
                "],\"committed\":{}}}",
                history.outcome(t) != Outcome::Aborted
            )?;
        }
        out.write_all(b"]")?;
    }
    out.write_all(b"]}\n")?;
    Ok(())
}

/// The beginning or end of a run where it is unknown.
const TIME: &str = "1970-01-01T00:00:00+00:00";

#[cfg(test)]
mod tests {
    use super::*;
    use isoscope_model::history::{OperationId, SessionId, TransactionId};

    fn parse(text: &str) -> Result<History, String> {
        read(&Input::new("", text.as_bytes()), &Control::new()).map_err(|error| error.to_string())
    }

    #[test]
    fn both_shapes_and_both_forms_of_events_are_read() {
        let sessions = "[[{\"events\":[[\"w\",0,5],\n{\"Read\":{\"version\":null,\"variable\":1}}],\"committed\":false}],\r\n[],\
                        [{\"committed\":true,\"events\":[{\"Write\":{\"variable\":1,\"version\":18446744073709551615}},\
                        [\"r\",0,0]],\"more\":[]}]]";
        let wrapped = format!("{{\"params\":{{\"n_node\":3}},\"data\":{sessions},\"info\":\"x\"}}");
        for text in [sessions, &wrapped] {
            let history = parse(text).expect("valid");
            assert_eq!(
                (
                    history.n_sessions(),
                    history.n_transactions(),
                    history.n_keys()
                ),
                (3, 2, 2)
            );
            assert_eq!(history.session_name(SessionId(0)), "1");
            assert_eq!(history.outcome(TransactionId(0)), Outcome::Aborted);
            let texts: Vec<_> = (0..4)
                .map(|o| history.operation_text(OperationId(o)))
                .collect();
            assert_eq!(
                texts,
                [
                    "w(0) = 5",
                    "r(1) = initial",
                    "w(1) = 18446744073709551615",
                    "r(0) = 0"
                ]
            );
            let lines: Vec<_> = (0..4).map(|o| history.line_of(OperationId(o))).collect();
            assert_eq!(lines, [1, 2, 3, 3]);
            assert!(history.may_be_initial(history.keys()[3], history.values()[3]));
        }
    }

    #[test]
    fn what_is_written_is_what_was_read() {
        let text = "{\"params\":{\"id\":0,\"n_node\":2,\"n_variable\":2,\"n_transaction\":2,\"n_event\":2},\n\
                    \"info\":\"isoscope\",\"start\":\"1970-01-01T00:00:00+00:00\",\"end\":\"1970-01-01T00:00:00+00:00\",\n\
                    \"data\":[\n[\n{\"events\":[[\"w\",7,1],[\"r\",8,null]],\"committed\":false},\n\
                    {\"events\":[],\"committed\":true}],\n[]]}\n";
        let mut bytes = Vec::new();
        write(&parse(text).expect("valid"), &mut bytes).expect("sayable");
        assert_eq!(String::from_utf8(bytes).expect("UTF-8"), text);
    }

    #[test]
    fn errors_say_where_and_what() {
        let cases = [
            ("7", "line 1: expected an array of sessions, found `7`"),
            ("{}", "line 1: missing field `data`"),
            (
                "[[{\"events\":[]}]]",
                "line 1, column 3: missing field `committed`",
            ),
            (
                "[[\n {\"events\":[[\"x\",1,2]],\"committed\":true}]]",
                "line 2, column 13: expected an event like [\"r\", 0, 1] or {\"Read\": {\"variable\": 0, \"version\": 1}}, \
                 found `[\"x\",1,2]`",
            ),
            (
                "[[{\"events\":[[\"w\",1,null]],\"committed\":true}]]",
                "line 1, column 21: expected a version: a number, found `null`",
            ),
            (
                "[[{\"events\":[{\"Write\":{\"variable\":1.5,\"version\":1}}],\"committed\":true}]]",
                "line 1, column 35: expected a variable: a number, found `1.5`",
            ),
            (
                "[[{\"events\":[",
                "line 1, column 13: expected more JSON, found the end of the file",
            ),
            (
                "[]",
                "empty file: a history with at least one operation or session was expected",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(parse(text).map(|_| ()), Err(message.to_owned()), "{text}");
        }
    }
}
