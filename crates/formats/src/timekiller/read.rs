//! JSON → history.

use super::FORMAT;
use crate::error::ReadError;
use crate::raw_json::Text;
use crate::{Input, Problem, name, without_mark};
use isoscope_model::control::Control;
use isoscope_model::history::{Builder, Draft, History, Interval, OperationKind, Outcome, Value};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Deserialize)]
struct Transaction<'a> {
    #[serde(borrow)]
    tid: &'a RawValue,
    #[serde(borrow)]
    sid: &'a RawValue,
    #[serde(borrow)]
    sts: &'a RawValue,
    #[serde(borrow)]
    cts: &'a RawValue,
    #[serde(borrow)]
    ops: &'a RawValue,
}

#[derive(Deserialize)]
struct Hybrid<'a> {
    #[serde(borrow)]
    p: &'a RawValue,
    #[serde(borrow)]
    l: &'a RawValue,
}

#[derive(Deserialize)]
struct Access<'a> {
    #[serde(borrow)]
    t: &'a RawValue,
    #[serde(borrow)]
    k: &'a RawValue,
    /// None for `null`, too.
    #[serde(borrow, default)]
    v: Option<&'a RawValue>,
}

const TRANSACTION: &str =
    "a transaction: an object with the fields \"tid\", \"sid\", \"sts\", \"cts\" and \"ops\"";
const OPERATIONS: &str = "an array of operations";
const OPERATION: &str = "an operation like {\"t\": \"w\", \"k\": 1, \"v\": 2}";

pub(super) fn read(input: &Input<'_>, control: &Control) -> Result<History, ReadError> {
    let bytes = without_mark(input.bytes());
    control.phase("reading", bytes.len() as u64);
    let text = Text::new(FORMAT.name, bytes, control);
    let whole = text.value(bytes)?;
    let mut reader = Reader {
        text: &text,
        holds_lists: holds_lists(bytes, whole)?,
        builder: Builder::new(input.origin(FORMAT.name)),
        stamps: Vec::new(),
        elements: Vec::new(),
    };
    text.elements(whole, "an array of transactions", |transaction| {
        reader.transaction(transaction)
    })?;
    if reader.builder.n_transactions() == 0 {
        return Err(ReadError::whole(FORMAT.name, Problem::Empty));
    }
    reader.finish()
}

/// Whether keys hold lists, by the first operation other than a read of `null`.
fn holds_lists(bytes: &[u8], whole: &RawValue) -> Result<bool, ReadError> {
    // Looking ahead is no progress.
    let (mut answer, control) = (None, Control::new());
    let text = Text::new(FORMAT.name, bytes, &control);
    text.elements(whole, "an array of transactions", |transaction| {
        if answer.is_some() {
            return Ok(());
        }
        let transaction: Transaction<'_> = text.object(transaction, TRANSACTION)?;
        text.elements(transaction.ops, OPERATIONS, |operation| {
            if answer.is_none() {
                let operation: Access<'_> = text.object(operation, OPERATION)?;
                answer = match (Kind::of(&text, operation.t)?, operation.v) {
                    (Kind::Append, _) => Some(true),
                    (Kind::Write, _) => Some(false),
                    (Kind::Read, value) => value.map(|value| value.get().starts_with('[')),
                };
            }
            Ok(())
        })
    })?;
    Ok(answer.unwrap_or(false))
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Read,
    Write,
    Append,
}

impl Kind {
    fn of<'a>(text: &Text<'a>, word: &'a RawValue) -> Result<Kind, ReadError> {
        let is = |words: [&str; 2]| {
            words
                .iter()
                .any(|known| known.eq_ignore_ascii_case(word.get()))
        };
        match () {
            () if is(["\"r\"", "\"read\""]) => Ok(Kind::Read),
            () if is(["\"w\"", "\"write\""]) => Ok(Kind::Write),
            () if is(["\"a\"", "\"append\""]) => Ok(Kind::Append),
            () => Err(text.expected(word, "\"r\", \"w\" or \"a\"")),
        }
    }
}

/// The physical and the logical part of a timestamp.
type Stamp = (i64, i64);

struct Reader<'t, 'a> {
    text: &'t Text<'a>,
    holds_lists: bool,
    builder: Builder,
    /// Start and commit timestamps.
    stamps: Vec<(Draft, [Stamp; 2])>,
    /// Room for a list.
    elements: Vec<Cow<'a, str>>,
}

impl<'a> Reader<'_, 'a> {
    fn transaction(&mut self, transaction: &'a RawValue) -> Result<(), ReadError> {
        let text = self.text;
        let transaction: Transaction<'a> = text.object(transaction, TRANSACTION)?;
        let session = text.name(
            transaction.sid,
            "the name of a session: an integer or a string",
        )?;
        let session = name::session(&mut self.builder, &session);
        let draft = self.builder.transaction(session, Outcome::Committed);
        let label = text.name(
            transaction.tid,
            "the name of a transaction: an integer or a string",
        )?;
        match name::number(&label, u64::MAX - 1) {
            Some(number) => self.builder.number_transaction(draft, number),
            None => self.builder.name_transaction(draft, &label),
        }
        let stamps = [self.stamp(transaction.sts)?, self.stamp(transaction.cts)?];
        if stamps[1] < stamps[0] {
            return Err(text.expected(
                transaction.cts,
                "a commit timestamp that is not before the start timestamp",
            ));
        }
        self.stamps.push((draft, stamps));
        text.elements(transaction.ops, OPERATIONS, |operation| {
            self.operation(operation, draft)
        })
    }

    fn stamp(&self, stamp: &'a RawValue) -> Result<Stamp, ReadError> {
        let hybrid: Hybrid<'a> = self.text.object(
            stamp,
            "a timestamp like {\"p\": 1691420095436341, \"l\": 0}",
        )?;
        let physical = self
            .text
            .integer(hybrid.p, "the physical part of a timestamp: an integer")?;
        let logical = self.text.integer(
            hybrid.l,
            "the logical part of a timestamp: an integer from 0",
        )?;
        match logical {
            0.. => Ok((physical, logical)),
            _ => Err(self.text.expected(
                hybrid.l,
                "the logical part of a timestamp: an integer from 0",
            )),
        }
    }

    fn operation(&mut self, operation: &'a RawValue, draft: Draft) -> Result<(), ReadError> {
        let text = self.text;
        let access: Access<'a> = text.object(operation, OPERATION)?;
        let line = text.line(operation);
        let kind = Kind::of(text, access.t)?;
        let key = name::key(
            &mut self.builder,
            &text.name(access.k, "a key: an integer")?,
        );
        match (kind, access.v) {
            (Kind::Read, list) if self.holds_lists => {
                self.elements.clear();
                if let Some(list) = list {
                    text.elements(
                        list,
                        "a list or null, as in the operations before",
                        |element| {
                            self.elements
                                .push(text.name(element, "an element: an integer")?);
                            Ok(())
                        },
                    )?;
                }
                let values = name::values(&mut self.builder, &self.elements);
                self.builder.list_read(draft, key, &values, line);
            }
            (Kind::Read, None) => {
                self.builder
                    .operation(draft, OperationKind::Read, key, Value::INITIAL, line)
            }
            (Kind::Read, Some(value)) => {
                let value = text.name(value, "a value: an integer or null")?;
                let value = name::value(&mut self.builder, &value);
                self.builder
                    .operation(draft, OperationKind::Read, key, value, line);
            }
            (kind, _) if (kind == Kind::Append) != self.holds_lists => {
                let other = if self.holds_lists {
                    "\"r\" or \"a\""
                } else {
                    "\"r\" or \"w\""
                };
                let message = format!(
                    "expected {other} as in the operations before, found {}",
                    access.t.get()
                );
                return Err(text.problem(access.t, Problem::Other(message)));
            }
            (_, None) => {
                let message = "a write of null cannot be told from the initial version".to_owned();
                return Err(text.problem(operation, Problem::Other(message)));
            }
            (_, Some(value)) => {
                if self.holds_lists {
                    self.builder.list_key(key);
                }
                let value = text.name(value, "a value: an integer")?;
                let value = name::value(&mut self.builder, &value);
                self.builder
                    .operation(draft, OperationKind::Write, key, value, line);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<History, ReadError> {
        let most = self
            .stamps
            .iter()
            .flat_map(|(_, stamps)| stamps)
            .map(|(_, logical)| *logical)
            .max()
            .unwrap_or(0);
        let scale = 1 + i128::from(most);
        let on_scale = |&(physical, logical): &Stamp| {
            i64::try_from(i128::from(physical) * scale + i128::from(logical)).ok()
        };
        let fit = self
            .stamps
            .iter()
            .flat_map(|(_, stamps)| stamps)
            .all(|stamp| on_scale(stamp).is_some());
        let mut order: Vec<Stamp> = Vec::new();
        if !fit {
            order.extend(self.stamps.iter().flat_map(|(_, stamps)| stamps));
            order.sort_unstable();
            order.dedup();
        }
        let time = |stamp: &Stamp| {
            if fit {
                on_scale(stamp).unwrap_or_default()
            } else {
                order.partition_point(|other| other < stamp) as i64
            }
        };
        for (draft, [start, end]) in &self.stamps {
            self.builder.set_interval(
                *draft,
                Interval {
                    start: time(start),
                    end: time(end),
                },
            );
        }
        let how = match (fit, most) {
            (true, 0) => String::new(),
            (true, _) => format!("; each is its physical part times {scale} plus its logical part"),
            (false, _) => "; only their order is kept, since they exceed 64 bits".to_owned(),
        };
        self.builder.assume(format!(
            "The times are the start and commit timestamps of the database{how}."
        ));
        self.builder.sort_sessions();
        self.builder
            .finish()
            .map_err(|error| ReadError::whole(FORMAT.name, error))
    }
}
