//! A history as Plume text.

use super::FORMAT;
use crate::formats::WriteError;
use crate::formats::limits::{self, Limits};
use crate::formats::name;
use crate::history::{History, Label, OperationKind, Outcome, TransactionId, Value};
use rustc_hash::FxHashSet;
use std::io::{self, Write};

/// Writes session after session.
///
/// Keys and values must be numbers. Sessions and transactions keep their numbers when all have one, else they are
/// numbered consecutively. Aborted transactions lose theirs, and adjacent ones become one.
pub(super) fn write(history: &History, out: &mut dyn io::Write) -> Result<(), WriteError> {
    limits::check(
        history,
        FORMAT.name,
        &Limits { initial_word: false, empty_transactions: false, empty_sessions: false, lists: false },
    )?;
    let keys: Vec<u64> = limits::numbers(history.key_names(), FORMAT.name, "the key")?;
    // The limits allow no other reads of the initial version than those that are written as 0.
    let number = |value: Value| match value {
        Value::INITIAL => Some(0),
        value => name::number_of_value(history, value),
    };
    if let Some(&value) = history.values().iter().find(|&&value| number(value).is_none()) {
        let what = format!("the value {}, which is no number", history.value_name(value));
        return Err(WriteError::CannotSay { format: FORMAT.name, what });
    }
    let sessions = session_numbers(history);
    let transactions = transaction_numbers(history);
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    for session in history.sessions() {
        for t in history.transactions_of(session) {
            for o in history.operations_of(t) {
                let operation = history.operation(o);
                let letter = match operation.kind {
                    OperationKind::Read => 'r',
                    OperationKind::Write => 'w',
                };
                let key = keys[operation.key.index()];
                let value = number(operation.value).unwrap_or_default();
                let session = sessions[session.index()];
                match history.outcome(t) {
                    Outcome::Aborted => writeln!(out, "{letter}({key},{value},{session},-1)")?,
                    _ => writeln!(out, "{letter}({key},{value},{session},{})", transactions(t))?,
                }
            }
        }
    }
    out.flush()?;
    Ok(())
}

/// The largest number of a session or transaction.
const SIGNED_LIMIT: u64 = i64::MAX as u64;

fn session_numbers(history: &History) -> Vec<u64> {
    let numbers = history.sessions().map(|session| {
        let text = history.session_names().text(session.index());
        name::number(&text, SIGNED_LIMIT)
    });
    numbers.collect::<Option<Vec<u64>>>().unwrap_or_else(|| (0..history.n_sessions() as u64).collect())
}

fn transaction_numbers(history: &History) -> impl Fn(TransactionId) -> u64 {
    let own = |t: TransactionId| match history.transaction_label(t)? {
        Label::Number(number) => Some(number).filter(|&number| number <= SIGNED_LIMIT),
        Label::Name(label) => name::number(label.strip_prefix('T')?, SIGNED_LIMIT),
    };
    let mut seen = FxHashSet::default();
    let mut live = history.transactions().filter(|&t| history.outcome(t) != Outcome::Aborted);
    let distinct = live.all(|t| own(t).is_some_and(|number| seen.insert(number)));
    move |t| match distinct {
        true => own(t).unwrap_or_default(),
        false => u64::from(t.0),
    }
}
