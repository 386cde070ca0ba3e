//! The limits of formats that have neither aborted transactions nor an implicitly initial number.

use super::error::{WriteError, escape};
use super::{limits, name};
use isoscope_model::history::{History, Operation, OperationId, OperationKind, Outcome, Value};

/// The limits of such a format.
pub(super) struct Limits {
    /// Whether there is a word for reading the initial version.
    pub(super) initial_word: bool,
    /// Whether a transaction may be marked as setting up the initial state.
    pub(super) set_up: bool,
    /// Whether a transaction may have no operations.
    pub(super) empty_transactions: bool,
    /// Whether a session may have no transactions.
    pub(super) empty_sessions: bool,
    /// Whether keys may hold lists.
    pub(super) lists: bool,
    /// Whether keys may be registers.
    pub(super) registers: bool,
}

/// An error that names the first thing in `history` beyond the limits. `initial` says which operations on an initial
/// number mean the same in a file of the format; it is not called for those of setup transactions.
pub(super) fn check(
    history: &History,
    format: &'static str,
    limits: &Limits,
    initial: impl Fn(&Operation) -> bool,
) -> Result<(), WriteError> {
    name::refuse_writes_of_nothing(history, format)?;
    let in_operations = || {
        (0..history.n_operations())
            .map(OperationId::new)
            .find_map(|o| beyond(history, o, limits))
    };
    let what = beyond_in_general(history, limits)
        .or_else(in_operations)
        .or_else(|| beyond_initial(history, initial));
    match what {
        Some(what) => Err(WriteError::CannotSay { format, what }),
        None => Ok(()),
    }
}

fn beyond_in_general(history: &History, limits: &Limits) -> Option<String> {
    let name = |t| history.transaction_name(t);
    if let Some(&t) = history.set_up().first()
        && !limits.set_up
    {
        return Some(format!("that {} sets up the initial state", name(t)));
    }
    if let Some(t) = history
        .transactions()
        .find(|&t| history.outcome(t) != Outcome::Committed)
    {
        return Some(match history.outcome(t) {
            Outcome::Aborted => format!("that {} was aborted", name(t)),
            _ => format!("that the outcome of {} is unknown", name(t)),
        });
    }
    limits::first_empty(history, limits.empty_transactions, limits.empty_sessions)
}

/// What part of an operation is beyond the limits, except for initial numbers.
fn beyond(history: &History, o: OperationId, limits: &Limits) -> Option<String> {
    let operation = history.operation(o);
    let is_list = history.lists().is_list(operation.key);
    let problem = match operation.value {
        _ if is_list && !limits.lists => "whose key holds lists",
        _ if !is_list && !limits.registers => "whose key holds no list",
        Value::UNRECORDED => "whose result was not recorded",
        Value::INITIAL if is_list && history.lists().read_by(o).is_none() => {
            "whose list was not recorded"
        }
        Value::INITIAL if !is_list && !limits.initial_word => {
            "because there is no word for the initial version"
        }
        _ => return None,
    };
    Some(format!("{}, {problem}", called(history, o, operation.kind)))
}

/// The first operation on an initial number that would mean something else.
fn beyond_initial(history: &History, sayable: impl Fn(&Operation) -> bool) -> Option<String> {
    let ordinary = history
        .transactions()
        .filter(|t| history.set_up().binary_search(t).is_err());
    let mut operations = ordinary
        .flat_map(|t| history.operations_of(t))
        .map(|o| (o, history.operation(o)));
    let changed = |operation: &Operation| {
        operation.value.0 <= Value::MAX_NUMBER
            && history.may_be_initial(operation.key, operation.value)
            && !sayable(operation)
    };
    let (o, operation) = operations.find(|(_, operation)| changed(operation))?;
    let problem = match operation.kind {
        OperationKind::Read => "because that would not be the initial version",
        OperationKind::Write => "because the initial version has this value, too",
    };
    Some(format!("{}, {problem}", called(history, o, operation.kind)))
}

fn called(history: &History, o: OperationId, kind: OperationKind) -> String {
    let what = if kind == OperationKind::Read {
        "read"
    } else {
        "write"
    };
    format!("the {what} {}", history.operation_text(o))
}

/// An error if some value, including elements of lists, is not a signed 64-bit number.
pub(super) fn refuse_other_than_integers(
    history: &History,
    format: &'static str,
) -> Result<(), WriteError> {
    let elements = history.lists().iter().flat_map(|(_, elements)| elements);
    let mut values = history
        .values()
        .iter()
        .chain(elements)
        .filter(|value| value.0 <= Value::MAX_NUMBER);
    match values.find(|&&value| !name::is_signed(&name::of_value(history, value))) {
        Some(&value) => {
            let what = format!(
                "the value {}, which is no integer",
                escape(&history.value_name(value))
            );
            Err(WriteError::CannotSay { format, what })
        }
        None => Ok(()),
    }
}

/// An error if the name of some key is not a signed 64-bit number.
pub(super) fn refuse_other_keys_than_integers(
    history: &History,
    format: &'static str,
) -> Result<(), WriteError> {
    let names = history.key_names();
    match (0..names.len()).find(|&key| !name::is_signed(&names.text(key))) {
        Some(key) => {
            let what = format!(
                "the key `{}`, which is no integer",
                escape(&names.text(key))
            );
            Err(WriteError::CannotSay { format, what })
        }
        None => Ok(()),
    }
}
