//! History → JSON, a line per transaction.

use super::FORMAT;
use crate::committed_only::{self, Limits};
use crate::{WriteError, name};
use isoscope_model::history::{
    History, Interval, Label, Operation, OperationId, OperationKind, TransactionId, Value,
};
use std::io::Write;

/// Writes a line for each transaction. Times are the physical parts of timestamps; keys and values must be integers.
pub(super) fn write(history: &History, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let holds_lists = !history.lists().is_empty();
    let limits = Limits {
        initial_word: true,
        set_up: false,
        empty_transactions: true,
        empty_sessions: false,
        lists: holds_lists,
        registers: !holds_lists,
    };
    committed_only::check(history, FORMAT.name, &limits, |_| false)?;
    committed_only::refuse_other_keys_than_integers(history, FORMAT.name)?;
    committed_only::refuse_other_than_integers(history, FORMAT.name)?;
    let cannot = |what| WriteError::CannotSay {
        format: FORMAT.name,
        what,
    };
    for t in history.transactions() {
        match history.interval(t) {
            None => {
                return Err(cannot(format!(
                    "that it is not known when {} ran",
                    history.transaction_name(t)
                )));
            }
            Some(Interval { start, end }) if start > end => {
                return Err(cannot(format!(
                    "that {} ended before it began",
                    history.transaction_name(t)
                )));
            }
            Some(_) => {}
        }
    }
    let mut before = "[\n";
    for t in history.transactions() {
        let tid = match history.transaction_label(t) {
            Some(Label::Number(number)) => number.to_string(),
            _ => text_of_name(&history.exact_transaction_name(t)),
        };
        let sid = text_of_name(&history.session_names().text(history.session_of(t).index()));
        let (start, end) = history
            .interval(t)
            .map_or((0, 0), |interval| (interval.start, interval.end));
        write!(
            out,
            "{before}{{\"tid\":{tid},\"sid\":{sid},\"sts\":{{\"p\":{start},\"l\":0}},\"cts\":{{\"p\":{end},\"l\":0}},\"ops\":["
        )?;
        write_operations(out, history, t)?;
        out.write_all(b"]}")?;
        before = ",\n";
    }
    out.write_all(if before == "[\n" { b"[]\n" } else { b"\n]\n" })?;
    Ok(())
}

fn write_operations(
    out: &mut Vec<u8>,
    history: &History,
    t: TransactionId,
) -> Result<(), WriteError> {
    for (n, o) in history.operations_of(t).enumerate() {
        let Operation { kind, key, .. } = history.operation(o);
        let letter = match kind {
            OperationKind::Read => "r",
            OperationKind::Write if history.lists().is_list(key) => "a",
            OperationKind::Write => "w",
        };
        let (comma, key) = (
            if n == 0 { "" } else { "," },
            history.key_names().text(key.index()),
        );
        write!(
            out,
            "{comma}{{\"t\":\"{letter}\",\"k\":{key},\"v\":{}}}",
            value_text(history, o)
        )?;
    }
    Ok(())
}

fn value_text(history: &History, o: OperationId) -> String {
    match (history.lists().read_by(o), history.operation(o).value) {
        (Some(elements), _) => {
            let texts: Vec<_> = elements
                .iter()
                .map(|&element| name::of_value(history, element))
                .collect();
            format!("[{}]", texts.join(","))
        }
        (None, Value::INITIAL) => "null".to_owned(),
        (None, value) => name::of_value(history, value).into_owned(),
    }
}

/// A name as JSON: an integer unchanged, anything else as a string.
fn text_of_name(name: &str) -> String {
    if name::is_signed(name) {
        name.to_owned()
    } else {
        serde_json::Value::from(name).to_string()
    }
}
