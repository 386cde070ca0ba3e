//! History → EDN or JSON, a line per operation.

use super::notation;
use super::order::{self, Step};
use super::scan::quoted;
use super::{EDN, JSON};
use crate::{WriteError, name};
use isoscope_model::history::{
    History, Incident, KeyId, OperationId, OperationKind, Outcome, SessionId, TransactionId, Value,
};
use rustc_hash::FxHashSet;
use std::io::{self, Write};

/// Writes EDN.
pub(super) fn edn(history: &History, out: &mut Vec<u8>) -> Result<(), WriteError> {
    write::<false>(history, out, EDN.name)
}

/// Writes JSON for elle-cli.
pub(super) fn json(history: &History, out: &mut Vec<u8>) -> Result<(), WriteError> {
    write::<true>(history, out, JSON.name)
}

fn write<const JSON: bool>(
    history: &History,
    out: &mut Vec<u8>,
    format: &'static str,
) -> Result<(), WriteError> {
    let cannot = |what| WriteError::CannotSay { format, what };
    name::refuse_writes_of_nothing(history, format)?;
    if let Some(what) = beyond(history) {
        return Err(cannot(what));
    }
    let steps = order::steps(history).map_err(cannot)?;
    let keys = notation::tokens::<JSON>(history.key_names(), format, "keys")?;
    let values = match history.value_names() {
        Some(names) => Some(notation::tokens::<JSON>(names, format, "values")?),
        None => None,
    };
    let node = |s| history.cluster().node_of(s).map(|node| quoted(&node));
    let nodes = history.sessions().map(node).collect();
    let incidents = history.cluster().incidents();
    let mut page = Page::<JSON> {
        history,
        incidents,
        keys,
        values,
        processes: processes(history),
        nodes,
        index: 0,
        out,
    };
    page.all(&steps)?;
    Ok(())
}

/// The first thing in a history that Elle cannot express.
fn beyond(history: &History) -> Option<String> {
    if let Some(&t) = history.set_up().first() {
        return Some(format!(
            "that {} set up the initial state",
            history.transaction_name(t)
        ));
    }
    if let Some(s) = history
        .sessions()
        .find(|&s| history.transactions_of(s).len() == 0)
    {
        return Some(format!(
            "the session {}, which has no transactions",
            history.session_name(s)
        ));
    }
    let written: FxHashSet<(KeyId, Value)> = operations(history)
        .map(|(_, o)| history.operation(o))
        .filter(|o| o.kind == OperationKind::Write && history.may_be_initial(o.key, o.value))
        .map(|o| (o.key, o.value))
        .collect();
    operations(history).find_map(|(t, o)| {
        let operation = history.operation(o);
        if operation.kind == OperationKind::Write || history.lists().read_by(o).is_some() {
            return None;
        }
        let (key, value) = (operation.key, operation.value);
        let initial = history.may_be_initial(key, value);
        let problem = match history.outcome(t) {
            Outcome::Committed if value == Value::UNRECORDED => "whose result was not recorded",
            Outcome::Unknown if initial => {
                "in a transaction of unknown outcome, where nil is no result"
            }
            _ if initial && written.contains(&(key, value)) => {
                "because this value is initial and written as well"
            }
            _ if value.0 <= Value::MAX_NUMBER && history.lists().is_list(key) => {
                "because only its last element is known"
            }
            _ => return None,
        };
        Some(format!("the read {}, {problem}", history.operation_text(o)))
    })
}

fn operations(history: &History) -> impl Iterator<Item = (TransactionId, OperationId)> + '_ {
    history
        .transactions()
        .flat_map(|t| history.operations_of(t).map(move |o| (t, o)))
}

/// By session: its name if all of them are integers as processes are, else its place.
fn processes(history: &History) -> Vec<i64> {
    let number = |s: SessionId| {
        let name = history.session_name(s);
        name.parse::<i64>()
            .ok()
            .filter(|number| number.to_string() == name)
    };
    let named: Option<Vec<i64>> = history.sessions().map(number).collect();
    named.unwrap_or_else(|| (0..history.n_sessions() as i64).collect())
}

/// The word for nothing.
fn nil<const JSON: bool>() -> &'static str {
    if JSON { "null" } else { "nil" }
}

/// The output.
struct Page<'h, 'o, const JSON: bool> {
    history: &'h History,
    /// Those not yet written.
    incidents: &'h [Incident],
    index: usize,
    keys: Vec<String>,
    /// None where all values are numbers.
    values: Option<Vec<String>>,
    processes: Vec<i64>,
    /// By session: its node in quotes.
    nodes: Vec<Option<String>>,
    out: &'o mut Vec<u8>,
}

impl<const JSON: bool> Page<'_, '_, JSON> {
    fn all(&mut self, steps: &[Step]) -> io::Result<()> {
        for step in steps {
            self.incidents_until(step.time.unwrap_or(i64::MIN))?;
            self.begin_line()?;
            self.step(step)?;
            self.end_line()?;
        }
        self.incidents_until(i64::MAX)?;
        match (JSON, self.index == 0) {
            (true, true) => self.out.write_all(b"[]\n"),
            (true, false) => self.out.write_all(b"]\n"),
            (false, _) => Ok(()),
        }
    }

    fn begin_line(&mut self) -> io::Result<()> {
        match (JSON, self.index) {
            (true, 0) => self.out.write_all(b"["),
            (true, _) => self.out.write_all(b",\n "),
            (false, _) => Ok(()),
        }
    }

    fn end_line(&mut self) -> io::Result<()> {
        self.index += 1;
        if JSON {
            Ok(())
        } else {
            self.out.write_all(b"\n")
        }
    }

    /// Writes what happened to the system before this moment, or at an unknown one.
    fn incidents_until(&mut self, now: i64) -> io::Result<()> {
        while let Some((Incident { time, what, detail }, rest)) = self.incidents.split_first() {
            if time.is_some_and(|time| time > now) {
                break;
            }
            self.incidents = rest;
            self.begin_line()?;
            let index = self.index;
            let what = quoted(what);
            let detail = if detail.is_empty() {
                nil::<JSON>().to_owned()
            } else {
                quoted(detail)
            };
            if JSON {
                write!(
                    self.out,
                    "{{\"index\":{index},\"type\":\"info\",\"process\":\"nemesis\","
                )?
            } else {
                write!(
                    self.out,
                    "{{:index {index}, :type :info, :process :nemesis, "
                )?
            }
            self.time(*time)?;
            if JSON {
                write!(self.out, "\"f\":{what},\"value\":{detail}}}")?
            } else {
                write!(self.out, ":f {what}, :value {detail}}}")?
            }
            self.end_line()?;
        }
        Ok(())
    }

    fn time(&mut self, time: Option<i64>) -> io::Result<()> {
        match (JSON, time) {
            (true, Some(time)) => write!(self.out, "\"time\":{time},"),
            (false, Some(time)) => write!(self.out, ":time {time}, "),
            (_, None) => Ok(()),
        }
    }

    fn step(&mut self, step: &Step) -> io::Result<()> {
        let t = step.transaction;
        let stage = match (step.completes, self.history.outcome(t)) {
            (false, _) => "invoke",
            (true, Outcome::Committed) => "ok",
            (true, Outcome::Aborted) => "fail",
            (true, Outcome::Unknown) => "info",
        };
        let session = self.history.session_of(t);
        let process = self.processes[session.index()];
        let index = self.index;
        if JSON {
            write!(
                self.out,
                "{{\"index\":{index},\"type\":\"{stage}\",\"process\":{process},"
            )?
        } else {
            write!(
                self.out,
                "{{:index {index}, :type :{stage}, :process {process}, "
            )?
        }
        self.time(step.time)?;
        if let Some(node) = &self.nodes[session.index()] {
            if JSON {
                write!(self.out, "\"node\":{node},")?
            } else {
                write!(self.out, ":node {node}, ")?
            }
        }
        self.out.write_all(if JSON {
            b"\"f\":\"txn\",\"value\":["
        } else {
            b":f :txn, :value ["
        })?;
        for (n, o) in self.history.operations_of(t).enumerate() {
            if n > 0 {
                self.separator()?;
            }
            self.operation(o, step.completes)?;
        }
        self.out.write_all(b"]}")
    }

    /// A micro-operation; what a read returned is known from its completion on.
    fn operation(&mut self, o: OperationId, completes: bool) -> io::Result<()> {
        let operation = self.history.operation(o);
        let verb = match operation.kind {
            OperationKind::Read => "r",
            OperationKind::Write if self.history.lists().is_list(operation.key) => "append",
            OperationKind::Write => "w",
        };
        if JSON {
            write!(self.out, "[\"{verb}\",")?
        } else {
            write!(self.out, "[:{verb} ")?
        }
        self.out
            .write_all(self.keys[operation.key.index()].as_bytes())?;
        self.separator()?;
        let unknown = operation.value == Value::UNRECORDED
            || self.history.may_be_initial(operation.key, operation.value);
        match (operation.kind, self.history.lists().read_by(o)) {
            (OperationKind::Write, _) => self.value(operation.value)?,
            (OperationKind::Read, Some(list)) if completes => {
                self.out.write_all(b"[")?;
                for (n, &element) in list.iter().enumerate() {
                    if n > 0 {
                        self.separator()?;
                    }
                    self.value(element)?;
                }
                self.out.write_all(b"]")?;
            }
            (OperationKind::Read, None) if completes && !unknown => self.value(operation.value)?,
            (OperationKind::Read, _) => self.out.write_all(nil::<JSON>().as_bytes())?,
        }
        self.out.write_all(b"]")
    }

    fn separator(&mut self) -> io::Result<()> {
        self.out.write_all(if JSON { b"," } else { b" " })
    }

    fn value(&mut self, value: Value) -> io::Result<()> {
        match &self.values {
            Some(tokens) => self.out.write_all(tokens[value.0 as usize].as_bytes()),
            None => write!(self.out, "{}", value.0),
        }
    }
}
