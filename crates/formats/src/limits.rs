//! What a format cannot express, found before the first byte is written.

use super::{WriteError, name};
use isoscope_model::history::{History, Names, OperationId, OperationKind, Outcome, Value};
use rustc_hash::FxHashSet;

/// The limits of formats in which 0 is initial, transactions commit or abort, and every read returned something.
pub(super) struct Limits {
    /// Whether there is a word for the initial version other than 0.
    pub(super) initial_word: bool,
    /// Whether a transaction may have no operations.
    pub(super) empty_transactions: bool,
    /// Whether a session may have no transactions.
    pub(super) empty_sessions: bool,
    /// Whether keys may hold lists.
    pub(super) lists: bool,
}

/// An error that names the first thing in `history` beyond the limits.
pub(super) fn check(
    history: &History,
    format: &'static str,
    limits: &Limits,
) -> Result<(), WriteError> {
    name::refuse_writes_of_nothing(history, format)?;
    match first_beyond(history, limits) {
        Some(what) => Err(WriteError::CannotSay { format, what }),
        None => Ok(()),
    }
}

fn first_beyond(history: &History, limits: &Limits) -> Option<String> {
    if !history.lists().is_empty() && !limits.lists {
        return Some("that keys hold lists".to_owned());
    }
    if let Some(t) = history
        .transactions()
        .find(|&t| history.outcome(t) == Outcome::Unknown)
    {
        return Some(format!(
            "that the outcome of {} is unknown",
            history.transaction_name(t)
        ));
    }
    first_empty(history, limits.empty_transactions, limits.empty_sessions)
        .or_else(|| first_read_beyond(history, limits))
}

/// The first transaction without operations, or session without transactions, where there may be none.
pub(super) fn first_empty(
    history: &History,
    may_transactions: bool,
    may_sessions: bool,
) -> Option<String> {
    if let Some(t) = history
        .transactions()
        .find(|&t| !may_transactions && history.operation_range(t).is_empty())
    {
        return Some(format!(
            "the transaction {}, which has no operations",
            history.transaction_name(t)
        ));
    }
    let session = history
        .sessions()
        .find(|&s| !may_sessions && history.transactions_of(s).len() == 0)?;
    Some(format!(
        "the session {}, which has no transactions",
        history.session_name(session)
    ))
}

/// The first read that would mean something else, or nothing.
fn first_read_beyond(history: &History, limits: &Limits) -> Option<String> {
    let is_zero = |value: Value| {
        value.0 <= Value::MAX_NUMBER && name::number_of_value(history, value) == Some(0)
    };
    let operations = || (0..history.n_operations()).map(|o| history.operation(OperationId::new(o)));
    let zeros: FxHashSet<_> = operations()
        .filter(|o| o.kind == OperationKind::Write && is_zero(o.value))
        .map(|o| o.key)
        .collect();
    let zero_is_initial = history.initial_value().is_some_and(is_zero);
    for (o, operation) in operations().enumerate() {
        if operation.kind == OperationKind::Write {
            continue;
        }
        let text = || history.operation_text(OperationId::new(o));
        let written = zeros.contains(&operation.key);
        let problem = match operation.value {
            Value::UNRECORDED => Some("whose result was not recorded"),
            Value::INITIAL if !limits.initial_word && written => {
                Some("because 0 is also written to this key")
            }
            Value::INITIAL => None,
            value if zero_is_initial => (history.may_be_initial(operation.key, value)
                && !is_zero(value))
            .then_some("because only 0 can be initial"),
            value if history.may_be_initial(operation.key, value) => {
                Some("because only 0 can be initial")
            }
            value => {
                (is_zero(value) && !written).then_some("because 0 would be the initial version")
            }
        };
        if let Some(problem) = problem {
            return Some(format!("the read {}, {problem}", text()));
        }
    }
    None
}

/// The names as numbers, or an error that names one which is none.
pub(super) fn numbers(
    names: &Names,
    format: &'static str,
    what: &str,
) -> Result<Vec<u64>, WriteError> {
    let number = |index: usize| match names.number(index) {
        Some(number) => Ok(number),
        None => name::number(&names.text(index), u64::MAX).ok_or_else(|| WriteError::CannotSay {
            format,
            what: format!(
                "{what} `{}`, which is no number",
                super::error::escape(&names.text(index))
            ),
        }),
    };
    (0..names.len()).map(number).collect()
}

/// An error that names the first value which is no number up to `limit`.
pub(super) fn refuse_other_values_than_numbers(
    history: &History,
    format: &'static str,
    limit: u64,
) -> Result<(), WriteError> {
    let Some(names) = history.value_names() else {
        return Ok(());
    };
    let is_number = |value: Value| {
        value == Value::INITIAL || name::number(&names.text(value.0 as usize), limit).is_some()
    };
    match history.values().iter().find(|&&value| !is_number(value)) {
        Some(&value) => {
            let what = format!(
                "the value {}, which is no number",
                super::error::escape(&history.value_name(value))
            );
            Err(WriteError::CannotSay { format, what })
        }
        None => Ok(()),
    }
}
