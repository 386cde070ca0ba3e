//! History → text.

use super::{FORMAT, is_bare};
use crate::WriteError;
use crate::name::{self, Called};
use isoscope_model::history::{
    Asked, History, Incident, Interval, Label, OperationId, OperationKind, Outcome, Returned, Scan,
    Step, TransactionId, Value,
};
use std::collections::BTreeMap;

/// Lines are broken after the transaction that reaches this length, in bytes.
const LINE: usize = 110;

pub(super) fn write(history: &History, out: &mut Vec<u8>) -> Result<(), WriteError> {
    name::refuse_writes_of_nothing(history, FORMAT.name)?;
    let mut line = String::new();
    match history.initial_value() {
        Some(value) if name::of_value(history, value) == "0" => {}
        Some(value) => {
            line.push_str("initial: ");
            push_name(&mut line, &name::of_value(history, value), &["none"]);
            line.push('\n');
        }
        None if history.shows_rows() => {}
        None => line.push_str("initial: none\n"),
    }
    push_predicates(&mut line, history);
    for session in history.sessions() {
        let mut begun = false;
        let start = |line: &mut String| {
            push_label(
                line,
                &history.session_names().text(session.index()),
                &["initial"],
            );
            if let Some(node) = history.cluster().node_of(session) {
                line.push('@');
                push_label(line, &node, &[]);
            }
            line.push(':');
        };
        for t in history.transactions_of(session) {
            if !begun {
                start(&mut line);
            }
            begun = true;
            push_transaction(&mut line, history, t);
            if line.len() > LINE {
                line.push('\n');
                out.extend_from_slice(line.as_bytes());
                line.clear();
                begun = false;
            }
        }
        if history.transactions_of(session).len() == 0 {
            start(&mut line);
            begun = true;
        }
        if begun {
            line.push('\n');
        }
        out.extend_from_slice(line.as_bytes());
        line.clear();
    }
    for Incident { time, what, detail } in history.cluster().incidents() {
        line.push_str("! ");
        push_label(&mut line, what, &[]);
        if !detail.is_empty() {
            line.push(' ');
            push_label(&mut line, detail, &[]);
        }
        if let Some(time) = time {
            line.push_str(&format!(" @{time}"));
        }
        line.push('\n');
    }
    out.extend_from_slice(line.as_bytes());
    Ok(())
}

fn push_transaction(line: &mut String, history: &History, t: TransactionId) {
    line.push(' ');
    match history.transaction_label(t) {
        Some(Label::Number(number)) => line.push_str(&format!("T{number} ")),
        Some(Label::Name(name)) => {
            // Bare, it would begin with the mark of a setup transaction.
            push_label(
                line,
                name,
                if name.starts_with('*') {
                    std::slice::from_ref(&name)
                } else {
                    &[]
                },
            );
            line.push(' ');
        }
        None => {}
    }
    line.push('[');
    for (n, step) in history.steps_of(t).enumerate() {
        line.push_str(if n == 0 { "" } else { ", " });
        match step {
            Step::Operation(o) => push_operation(line, history, o),
            Step::Scan(scan) => push_scan(line, history, scan),
        }
    }
    line.push(']');
    if history.set_up().binary_search(&t).is_ok() {
        line.push('*');
    }
    line.push_str(match history.outcome(t) {
        Outcome::Committed => "",
        Outcome::Aborted => "!",
        Outcome::Unknown => "?",
    });
    if let Some(Interval { start, end }) = history.interval(t) {
        line.push_str(&format!("@{start}..{end}"));
    }
}

fn push_operation(line: &mut String, history: &History, o: OperationId) {
    let operation = history.operation(o);
    let elements = history.lists().read_by(o);
    let other = history
        .differs_from(o)
        .filter(|&other| other != Value::UNRECORDED);
    line.push_str(match (operation.kind, other) {
        (OperationKind::Write, _) if operation.value == Value::ABSENT => "d ",
        (OperationKind::Read, None) => "r ",
        (OperationKind::Read, Some(_)) => "n ",
        (OperationKind::Write, _) if history.lists().is_list(operation.key) => "a ",
        (OperationKind::Write, _) => "w ",
    });
    push_name(line, &history.key_names().text(operation.key.index()), &[]);
    if operation.kind == OperationKind::Write && operation.value == Value::ABSENT {
        return;
    }
    line.push(' ');
    if let Some(elements) = elements {
        line.push('[');
        for (n, &element) in elements.iter().enumerate() {
            line.push_str(if n == 0 { "" } else { " " });
            push_name(line, &name::of_value(history, element), &[]);
        }
        line.push(']');
        return;
    }
    match other.unwrap_or(operation.value) {
        Value::INITIAL => line.push_str("init"),
        Value::UNRECORDED => line.push('?'),
        Value::ABSENT => line.push_str("absent"),
        value if operation.kind == OperationKind::Write => {
            push_name(line, &name::of_value(history, value), &[])
        }
        value => push_name(line, &name::of_value(history, value), &["init", "absent"]),
    }
}

/// The lines that define the named predicates of scans.
fn push_predicates(line: &mut String, history: &History) {
    let scans = history.scans().iter();
    let named = scans.flat_map(|scan| scan.asked.predicate.named());
    for (name, rows) in named.collect::<BTreeMap<_, _>>() {
        line.push_str("predicate ");
        push_label(line, name, &[]);
        line.push(':');
        for (n, (key, value)) in rows.iter().enumerate() {
            line.push_str(if n == 0 { " " } else { ", " });
            push_name(line, key, &[]);
            line.push(' ');
            push_name(line, value, &[]);
        }
        line.push('\n');
    }
}

/// Words of predicates.
const WORDS: &[&str] = &["and", "in", "key", "not", "true", "v"];

fn push_scan(line: &mut String, history: &History, scan: &Scan) {
    let Asked {
        table, returned, ..
    } = &scan.asked;
    line.push_str("s ");
    if let Some(table) = table {
        push_label(line, table, &["keys", "count", "sum"]);
        line.push(' ');
    }
    let quoted = |name: &str| {
        let mut text = String::new();
        push_name(&mut text, name, WORDS);
        // Not to be taken for a range.
        if text.contains("..") && !text.starts_with('"') {
            text = serde_json::Value::from(text).to_string();
        }
        text
    };
    let called = |name: &str| {
        let mut text = String::new();
        push_label(&mut text, name, WORDS);
        text
    };
    let predicate = scan.predicate().text(&quoted, &called);
    if !predicate.is_empty() {
        line.push_str(&format!("({predicate}) "));
    }
    if *returned == Returned::Keys {
        line.push_str("keys ");
    }
    line.push('{');
    for (n, o) in scan.listed().enumerate() {
        line.push_str(if n == 0 { "" } else { ", " });
        let key = history.key_names().text(history.keys()[o.index()].index());
        push_name(line, scan.asked.row(&key).unwrap_or(&key), &[]);
        if *returned == Returned::Rows {
            let value = history.values()[o.index()];
            let value = history.listed_again(o).unwrap_or(value);
            line.push(' ');
            push_name(line, &name::of_value(history, value), &[]);
        }
    }
    line.push('}');
}

/// Appends the name of a key or a value, quoted when it is a string that looks like a number, or when [`push_label`]
/// would.
fn push_name(line: &mut String, name: &str, reserved: &[&str]) {
    match Called::by(name) {
        Called::String(string) if string == name => push_label(line, name, reserved),
        Called::String(string) => line.push_str(&serde_json::Value::from(&*string).to_string()),
        Called::Number => line.push_str(name),
    }
}

/// Appends the name of a session or a label, quoted when it is one of the `reserved` words or cannot be bare.
fn push_label(line: &mut String, name: &str, reserved: &[&str]) {
    let bare = !name.is_empty()
        && name.bytes().all(is_bare)
        && !name.chars().any(|c| c.is_control() || c.is_whitespace())
        && !reserved.contains(&name);
    match bare {
        true => line.push_str(name),
        // A JSON string escapes line breaks, quotes and backslashes; encoding one does not fail.
        false => line.push_str(&serde_json::Value::from(name).to_string()),
    }
}
