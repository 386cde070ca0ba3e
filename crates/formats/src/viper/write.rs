//! A history as a folder of logs.

use super::FORMAT;
use crate::committed_only::{self, Limits};
use crate::{WriteError, name};
use isoscope_model::history::{
    History, Interval, KeyId, Operation, OperationKind, SessionId, TransactionId, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::fmt::Write;

/// Creates a file per session. Keys stay numbers or names; values must be 64-bit integers. Sessions keep their names
/// where all can be part of a file name, else they are numbered consecutively; transactions lose theirs.
pub(super) fn write(history: &History) -> Result<Vec<(String, Vec<u8>)>, WriteError> {
    let initial = Initial::of(history);
    let limits = Limits {
        initial_word: true,
        set_up: true,
        empty_transactions: true,
        empty_sessions: false,
        lists: false,
        registers: true,
    };
    committed_only::check(history, FORMAT.name, &limits, |operation| {
        initial.is_sayable(operation)
    })?;
    let cannot = |what| {
        Err(WriteError::CannotSay {
            format: FORMAT.name,
            what,
        })
    };
    if let Some(what) = initial.confusion(history) {
        return cannot(what);
    }
    committed_only::refuse_other_than_integers(history, FORMAT.name)?;
    let negative = |t: &TransactionId| {
        history
            .interval(*t)
            .is_some_and(|i| i.start < 0 || i.end < 0)
    };
    if let Some(t) = history.transactions().find(negative) {
        return cannot(format!(
            "that {} ran at a negative time",
            history.transaction_name(t)
        ));
    }
    let is_plain = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
    };
    let keep = history
        .sessions()
        .all(|session| is_plain(&history.session_name(session)));
    let file_name = |session: SessionId| {
        if keep {
            format!("J{}.log", history.session_name(session))
        } else {
            format!("J{}.log", session.0)
        }
    };
    Ok(history
        .sessions()
        .map(|session| (file_name(session), log_of(history, session).into_bytes()))
        .collect())
}

fn log_of(history: &History, session: SessionId) -> String {
    let mut log = String::new();
    for t in history.transactions_of(session) {
        log.push('{');
        if let Some(Interval { start, end }) = history.interval(t) {
            // Writing to a string does not fail.
            let _ = write!(
                log,
                "\"preBeginTS\": {start}, \"postBeginTS\": {start}, \"preCommitTS\": {end}, \"postCommitTS\": {end}, "
            );
        }
        log.push_str("\"value\": [");
        for (n, o) in history.operations_of(t).enumerate() {
            let Operation { kind, key, value } = history.operation(o);
            let (letter, last) = match kind {
                OperationKind::Read => ("r", false),
                OperationKind::Write => ("w", true),
            };
            let key = history.key_names().text(key.index());
            let key = if name::is_signed(&key) {
                key
            } else {
                Cow::Owned(serde_json::Value::from(&*key).to_string())
            };
            let value = match value {
                Value::INITIAL => Cow::Borrowed("null"),
                value => name::of_value(history, value),
            };
            let comma = if n == 0 { "" } else { ", " };
            let _ = write!(log, "{comma}[\"{letter}\", {key}, {value}, {last}]");
        }
        log.push_str(if history.set_up().binary_search(&t).is_ok() {
            "], \"isInitial\": true}\n"
        } else {
            "]}\n"
        });
    }
    log
}

/// What a file can say about initial versions.
struct Initial {
    /// The writes of setup transactions; none where there is no such transaction.
    stated: Option<FxHashSet<(KeyId, Value)>>,
    written: FxHashSet<(KeyId, Value)>,
}

impl Initial {
    fn of(history: &History) -> Initial {
        let writes_of = |t| {
            let operations = history.operations_of(t).map(|o| history.operation(o));
            operations
                .filter(|o| o.kind == OperationKind::Write)
                .map(|o| (o.key, o.value))
        };
        let set_up = history.set_up();
        Initial {
            stated: (!set_up.is_empty())
                .then(|| set_up.iter().flat_map(|&t| writes_of(t)).collect()),
            written: history.transactions().flat_map(writes_of).collect(),
        }
    }

    /// Whether an operation on an initial number means the same in a file: where the file states initial values only
    /// those are initial, else those that no transaction writes.
    fn is_sayable(&self, operation: &Operation) -> bool {
        let version = (operation.key, operation.value);
        match &self.stated {
            Some(stated) => stated.contains(&version),
            None => operation.kind == OperationKind::Read && !self.written.contains(&version),
        }
    }

    /// Reads of values that no transaction wrote whose meaning would change in a file that states no initial values.
    fn confusion(&self, history: &History) -> Option<String> {
        if self.stated.is_some() {
            return None;
        }
        let mut initial: FxHashMap<KeyId, Value> = FxHashMap::default();
        for t in history.transactions() {
            for o in history.operations_of(t) {
                let Operation { kind, key, value } = history.operation(o);
                if kind == OperationKind::Write || self.written.contains(&(key, value)) {
                    continue;
                }
                let problem = match history.may_be_initial(key, value) {
                    false => {
                        "because a value that no transaction wrote would be the initial version"
                    }
                    true if *initial.entry(key).or_insert(value) != value => {
                        "besides another word for the initial version"
                    }
                    true => continue,
                };
                return Some(format!("the read {}, {problem}", history.operation_text(o)));
            }
        }
        None
    }
}
