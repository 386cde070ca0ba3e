//! A file → the reads and writes of its transactions.

use super::FORMAT;
use crate::error::ReadError;
use crate::raw_json::Text;
use crate::{Problem, without_mark};
use isoscope_model::control::Control;
use isoscope_model::history::{Interval, OperationKind};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A line of a log.
#[derive(Deserialize)]
struct LogEntry<'a> {
    #[serde(borrow)]
    value: &'a RawValue,
    #[serde(rename = "isInitial", default)]
    initial: bool,
    #[serde(rename = "preBeginTS")]
    start: Option<i64>,
    #[serde(rename = "postCommitTS")]
    end: Option<i64>,
}

/// A row that a range returned.
#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    val: &'a RawValue,
}

/// A log as read, before anything has an id.
#[derive(Default)]
pub(super) struct Log<'a> {
    pub(super) transactions: Vec<Transaction>,
    pub(super) operations: Vec<Access<'a>>,
    pub(super) n_without_effect: usize,
    pub(super) n_ranges: usize,
}

/// A transaction of a log.
pub(super) struct Transaction {
    /// Where its operations end in those of the log.
    pub(super) end: usize,
    pub(super) initial: bool,
    pub(super) interval: Option<Interval>,
}

/// A read or write of one key.
pub(super) struct Access<'a> {
    pub(super) kind: OperationKind,
    pub(super) key: Cow<'a, str>,
    /// None for the initial version.
    pub(super) value: Option<Cow<'a, str>>,
    pub(super) line: u32,
}

/// Reads one file. Line numbers are from 1.
pub(super) fn read<'a>(bytes: &'a [u8], control: &'a Control) -> Result<Log<'a>, ReadError> {
    let bytes = without_mark(bytes);
    let text = Text::new(FORMAT.name, bytes, control);
    let mut log = Log::default();
    let mut items = Vec::new();
    for line in bytes
        .split(|&b| b == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
    {
        let whole = text.value(line)?;
        if says_operation(whole) {
            return Err(text.problem(whole, an_object_for_each_operation()));
        }
        let line: LogEntry<'_> =
            text.object(whole, "a transaction: an object with the field \"value\"")?;
        text.elements(line.value, "an array of operations", |operation| {
            log.operation(&text, operation, &mut items)
        })?;
        let interval = match (line.start, line.end) {
            (Some(start @ 0..), Some(end @ 0..)) if end < start => {
                let message = format!(
                    "expected a postCommitTS that is not before the preBeginTS {start}, found {end}"
                );
                return Err(text.problem(whole, Problem::Other(message)));
            }
            (Some(start @ 0..), Some(end @ 0..)) => Some(Interval { start, end }),
            _ => None,
        };
        log.transactions.push(Transaction {
            end: log.operations.len(),
            initial: line.initial,
            interval,
        });
    }
    Ok(log)
}

/// Whether this is an operation of the other kind of logs.
fn says_operation(piece: &RawValue) -> bool {
    let inside = piece.get().strip_prefix('{').unwrap_or_default();
    inside.trim_start().starts_with("\"opType\"")
}

fn an_object_for_each_operation() -> Problem {
    let text = "a log with an object for each operation (JSONMop2), which Viper does not read either: \
                log arrays like [\"r\", key, value, false] (JSONMop1)";
    Problem::Other(text.to_owned())
}

const OPERATION: &str = "an operation like [\"r\", key, value, false]";

/// Maximum number of elements of an operation.
const ELEMENTS: usize = 8;

impl<'a> Log<'a> {
    /// Adds what one operation did; `items` is room for its elements.
    fn operation(
        &mut self,
        text: &Text<'a>,
        operation: &'a RawValue,
        items: &mut Vec<&'a RawValue>,
    ) -> Result<(), ReadError> {
        if says_operation(operation) {
            return Err(text.problem(operation, an_object_for_each_operation()));
        }
        text.items(operation, ELEMENTS, OPERATION, items)?;
        let line = text.line(operation);
        match items[..] {
            [word, key, value, is_dead] if word.get() == "\"r\"" => {
                text.truth(is_dead, "whether the row is dead: true or false")?;
                self.read(text, key, value, line)
            }
            [word, key, value, succ] if word.get() == "\"w\"" => {
                self.write(text, key, value, succ, line)
            }
            [word, key, value, old, is_dead, succ, ..]
                if matches!(word.get(), "\"i\"" | "\"d\"") =>
            {
                text.truth(is_dead, "whether the row is dead: true or false")?;
                self.read(text, key, old, line)?;
                self.write(text, key, value, succ, line)
            }
            [word, _, _, live, dead, ..] if word.get() == "\"range\"" => {
                self.n_ranges += 1;
                for rows in [live, dead] {
                    text.elements(rows, "an array of rows", |row| {
                        let Row { id, val } =
                            text.object(row, "a row like {\"id\": key, \"val\": value}")?;
                        self.read(text, id, val, text.line(row))
                    })?;
                }
                Ok(())
            }
            _ => Err(text.expected(operation, OPERATION)),
        }
    }

    fn read(
        &mut self,
        text: &Text<'a>,
        key: &'a RawValue,
        value: &'a RawValue,
        line: u32,
    ) -> Result<(), ReadError> {
        let value = match value.get() {
            "null" | "\"nil\"" => None,
            _ => Some(text.name(value, "a value: an integer")?),
        };
        let key = text.name(key, "a key: an integer or a string")?;
        self.operations.push(Access {
            kind: OperationKind::Read,
            key,
            value,
            line,
        });
        Ok(())
    }

    fn write(
        &mut self,
        text: &Text<'a>,
        key: &'a RawValue,
        value: &'a RawValue,
        succ: &'a RawValue,
        line: u32,
    ) -> Result<(), ReadError> {
        let key = text.name(key, "a key: an integer or a string")?;
        let value = Some(text.name(value, "a value: an integer")?);
        if text.truth(succ, "whether it succeeded: true or false")? {
            self.operations.push(Access {
                kind: OperationKind::Write,
                key,
                value,
                line,
            })
        } else {
            self.n_without_effect += 1
        }
        Ok(())
    }
}
