//! History → JSON, a line per transaction.

use super::{FORMAT, SCHEMA, scan};
use crate::WriteError;
use crate::name::{self, Called};
use isoscope_model::history::{
    History, Incident, Interval, Label, OperationId, OperationKind, Outcome, Step, TransactionId,
    Value,
};
use std::io::{self, Write};

pub(super) fn write(history: &History, out: &mut Vec<u8>) -> Result<(), WriteError> {
    name::refuse_writes_of_nothing(history, FORMAT.name)?;
    write!(out, "{{\"schema\":\"{SCHEMA}\",\"initial\":")?;
    match history.initial_value() {
        Some(value) => write_name(out, &name::of_value(history, value))?,
        None => out.write_all(b"null")?,
    }
    let predicates = scan::predicates(history);
    if !predicates.is_empty() {
        out.write_all(b",\"predicates\":")?;
        serde_json::to_writer(&mut *out, &predicates).map_err(io::Error::from)?;
    }
    out.write_all(b",\"sessions\":[")?;
    for session in history.sessions() {
        out.write_all(if session.0 == 0 { b"\n" } else { b",\n" })?;
        out.write_all(b"{\"name\":")?;
        write_session_name(out, &history.session_names().text(session.index()))?;
        if let Some(node) = history.cluster().node_of(session) {
            out.write_all(b",\"node\":")?;
            write_text(out, &node)?;
        }
        out.write_all(b",\"transactions\":[")?;
        for (n, t) in history.transactions_of(session).enumerate() {
            out.write_all(if n == 0 { b"\n" } else { b",\n" })?;
            write_transaction(out, history, t)?;
        }
        out.write_all(b"]}")?;
    }
    out.write_all(b"]")?;
    write_incidents(out, history.cluster().incidents())?;
    out.write_all(b"}\n")?;
    Ok(())
}

fn write_incidents(out: &mut Vec<u8>, incidents: &[Incident]) -> io::Result<()> {
    for (n, Incident { time, what, detail }) in incidents.iter().enumerate() {
        out.write_all(if n == 0 {
            b",\"incidents\":[\n"
        } else {
            b",\n"
        })?;
        let mut fields = serde_json::Map::new();
        fields.extend(time.map(|time| ("time".to_owned(), time.into())));
        fields.insert("what".to_owned(), what.as_str().into());
        if !detail.is_empty() {
            fields.insert("detail".to_owned(), detail.as_str().into());
        }
        serde_json::to_writer(&mut *out, &fields)?;
    }
    out.write_all(if incidents.is_empty() { b"" } else { b"]" })
}

fn write_transaction(out: &mut Vec<u8>, history: &History, t: TransactionId) -> io::Result<()> {
    out.write_all(b"{")?;
    match history.transaction_label(t) {
        Some(Label::Number(number)) => write!(out, "\"id\":{number},")?,
        Some(Label::Name(id)) => {
            out.write_all(b"\"id\":")?;
            serde_json::to_writer(&mut *out, id)?;
            out.write_all(b",")?;
        }
        None => {}
    }
    out.write_all(match history.outcome(t) {
        Outcome::Committed => b"",
        Outcome::Aborted => b"\"outcome\":\"aborted\",",
        Outcome::Unknown => b"\"outcome\":\"unknown\",",
    })?;
    if history.set_up().binary_search(&t).is_ok() {
        out.write_all(b"\"set_up\":true,")?;
    }
    if let Some(Interval { start, end }) = history.interval(t) {
        write!(out, "\"start\":{start},\"end\":{end},")?;
    }
    out.write_all(b"\"operations\":[")?;
    for (n, step) in history.steps_of(t).enumerate() {
        out.write_all(if n == 0 { b"" } else { b"," })?;
        match step {
            Step::Operation(o) => write_operation(out, history, o)?,
            Step::Scan(scan) => serde_json::to_writer(&mut *out, &scan::operation(history, scan))?,
        }
    }
    out.write_all(b"]}")
}

fn write_operation(out: &mut Vec<u8>, history: &History, o: OperationId) -> io::Result<()> {
    let operation = history.operation(o);
    let other = history
        .differs_from(o)
        .filter(|&other| other != Value::UNRECORDED);
    out.write_all(match (operation.kind, other) {
        (OperationKind::Write, _) if operation.value == Value::ABSENT => b"[\"d\",",
        (OperationKind::Read, None) => b"[\"r\",",
        (OperationKind::Read, Some(_)) => b"[\"n\",",
        (OperationKind::Write, _) if history.lists().is_list(operation.key) => b"[\"a\",",
        (OperationKind::Write, _) => b"[\"w\",",
    })?;
    write_name(out, &history.key_names().text(operation.key.index()))?;
    match (history.lists().read_by(o), other.unwrap_or(operation.value)) {
        (Some(elements), _) => {
            out.write_all(b",[")?;
            for (n, &element) in elements.iter().enumerate() {
                out.write_all(if n == 0 { b"" } else { b"," })?;
                write_name(out, &name::of_value(history, element))?;
            }
            out.write_all(b"]")?;
        }
        (None, Value::ABSENT) if operation.kind == OperationKind::Write => {}
        (None, Value::ABSENT) => out.write_all(b",{\"absent\":true}")?,
        (None, Value::UNRECORDED) => {}
        (None, Value::INITIAL) => out.write_all(b",null")?,
        (None, value) => {
            out.write_all(b",")?;
            write_name(out, &name::of_value(history, value))?;
        }
    }
    out.write_all(b"]")
}

/// A key or a value.
fn write_name(out: &mut Vec<u8>, name: &str) -> io::Result<()> {
    match Called::by(name) {
        Called::Number => out.write_all(name.as_bytes()),
        Called::String(string) => Ok(serde_json::to_writer(out, &*string)?),
    }
}

/// A session.
fn write_session_name(out: &mut Vec<u8>, text: &str) -> io::Result<()> {
    match name::number(text, u64::MAX) {
        Some(number) => write!(out, "{number}"),
        None => Ok(serde_json::to_writer(out, text)?),
    }
}

fn write_text(out: &mut Vec<u8>, text: &str) -> io::Result<()> {
    Ok(serde_json::to_writer(out, text)?)
}
