//! A history as Plume text.

use super::FORMAT;
use crate::WriteError;
use crate::limits::{self, Limits};
use crate::name;
use isoscope_model::history::{History, OperationKind, Outcome, TransactionId, Value};
use std::io::Write;

/// Writes session after session.
///
/// Keys and values must be numbers. Sessions and transactions keep their numbers when all have one, else they are
/// numbered consecutively. Aborted transactions lose theirs, and adjacent ones become one.
pub(super) fn write(history: &History, out: &mut Vec<u8>) -> Result<(), WriteError> {
    limits::check(
        history,
        FORMAT.name,
        &Limits {
            initial_word: false,
            empty_transactions: false,
            empty_sessions: false,
            lists: false,
        },
    )?;
    let keys: Vec<u64> = limits::numbers(history.key_names(), FORMAT.name, "the key")?;
    // The limits allow no other reads of the initial version than those that are written as 0.
    let number = |value: Value| match value {
        Value::INITIAL => Some(0),
        value => name::number_of_value(history, value),
    };
    if let Some(&value) = history
        .values()
        .iter()
        .find(|&&value| number(value).is_none())
    {
        let what = format!(
            "the value {}, which is no number",
            history.value_name(value)
        );
        return Err(WriteError::CannotSay {
            format: FORMAT.name,
            what,
        });
    }
    let sessions = session_numbers(history);
    let is_live = |t| history.outcome(t) != Outcome::Aborted;
    let own = name::own_numbers(history, is_live, |number| number >= 0);
    let transaction = |t: TransactionId| own.as_ref().map_or(i64::from(t.0), |own| own[t.index()]);
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
                    _ => writeln!(out, "{letter}({key},{value},{session},{})", transaction(t))?,
                }
            }
        }
    }
    Ok(())
}

/// The largest number of a session.
const SIGNED_LIMIT: u64 = i64::MAX as u64;

fn session_numbers(history: &History) -> Vec<u64> {
    let numbers = history.sessions().map(|session| {
        let text = history.session_names().text(session.index());
        name::number(&text, SIGNED_LIMIT)
    });
    numbers
        .collect::<Option<Vec<u64>>>()
        .unwrap_or_else(|| (0..history.n_sessions() as u64).collect())
}
