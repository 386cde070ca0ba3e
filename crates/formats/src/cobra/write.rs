//! A history as logs of Cobra's clients.

use super::{ABSENT, FORMAT, INITIAL, WITHHELD};
use crate::error::{WriteError, escape};
use crate::name;
use isoscope_model::history::{
    History, KeyId, Names, Operation, OperationId, OperationKind, Outcome, TransactionId, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// A file per session. Times are written where all transactions have them, setup transactions like others.
///
/// Keys and values must be signed numbers. Where no value was written twice to a key the values become the ids of
/// writes and their hashes; else ids are withheld and the values are only hashes. Sessions and transactions keep their
/// numbers when all have their own, else they are numbered consecutively. An aborted transaction is written with the
/// record `A`, which Cobra itself never writes.
pub(super) fn write(history: &History) -> Result<Vec<(String, Vec<u8>)>, WriteError> {
    let cannot = |what: String| WriteError::CannotSay {
        format: FORMAT.name,
        what,
    };
    name::refuse_writes_of_nothing(history, FORMAT.name)?;
    if let Some(what) = transaction_beyond(history) {
        return Err(cannot(what));
    }
    let numbers = Numbers {
        keys: table(history.key_names(), "the key").map_err(cannot)?,
        values: history
            .value_names()
            .map(|names| table(names, "the value"))
            .transpose()
            .map_err(cannot)?,
    };
    let versions = Versions::of(history, &numbers);
    if let Some(what) = operation_beyond(history, &numbers, &versions) {
        return Err(cannot(what));
    }
    let timed = history
        .transactions()
        .all(|t| history.interval(t).is_some());
    let ids = transaction_ids(history);
    let used: FxHashSet<i64> = ids.iter().copied().collect();
    let unused = (1..)
        .find(|id| !is_special(*id) && !used.contains(id))
        .unwrap_or_default();
    let session_names = session_names(history);
    let mut files = Vec::with_capacity(history.n_sessions());
    for session in history.sessions() {
        let mut log = Vec::new();
        let mut push = |tag: u8, fields: &[i64]| {
            log.push(tag);
            fields
                .iter()
                .for_each(|field| log.extend(field.to_be_bytes()));
        };
        for t in history.transactions_of(session) {
            let id = ids[t.index()];
            let times = history.interval(t).filter(|_| timed);
            match times {
                Some(times) => push(b'S', &[id, times.start]),
                None => push(b'S', &[id]),
            }
            for o in history.operations_of(t) {
                let operation = history.operation(o);
                let key = numbers.keys[operation.key.index()];
                let value = numbers.value(operation.value);
                let write = if versions.withheld { WITHHELD } else { value };
                match operation.kind {
                    OperationKind::Write => push(b'W', &[write, key, value]),
                    OperationKind::Read if versions.is_initial(history, operation) => {
                        push(b'R', &[INITIAL, INITIAL, key, 0]);
                    }
                    OperationKind::Read => {
                        let writer = match versions.writer.get(&(operation.key, operation.value)) {
                            _ if versions.withheld => WITHHELD,
                            Some(writer) => ids[writer.index()],
                            None => unused,
                        };
                        push(b'R', &[writer, write, key, value]);
                    }
                }
            }
            let tag = match history.outcome(t) {
                Outcome::Committed => b'C',
                Outcome::Aborted => b'A',
                Outcome::Unknown => continue,
            };
            match times {
                Some(times) => push(tag, &[id, times.end]),
                None => push(tag, &[id]),
            }
        }
        files.push((format!("T{}.log", session_names[session.index()]), log));
    }
    Ok(files)
}

fn is_special(id: i64) -> bool {
    [INITIAL, ABSENT, WITHHELD].contains(&id)
}

/// The names as signed numbers, or what is beyond them.
fn table(names: &Names, what: &str) -> Result<Vec<i64>, String> {
    let number = |index: usize| match names.number(index) {
        Some(number) => i64::try_from(number).ok(),
        None => name::signed(&names.text(index)),
    };
    let beyond = |index: usize| {
        format!(
            "{what} `{}`, which is no signed number of 64 bits",
            escape(&names.text(index))
        )
    };
    (0..names.len())
        .map(|index| number(index).ok_or_else(|| beyond(index)))
        .collect()
}

/// The numbers that represent the keys and values of a history.
struct Numbers {
    keys: Vec<i64>,
    /// None where values are themselves numbers.
    values: Option<Vec<i64>>,
}

impl Numbers {
    /// The number of a value; any for one that has none.
    fn value(&self, value: Value) -> i64 {
        match &self.values {
            Some(values) => values.get(value.0 as usize).copied().unwrap_or_default(),
            None => i64::try_from(value.0).unwrap_or_default(),
        }
    }
}

/// The writer of each version.
struct Versions {
    writer: FxHashMap<(KeyId, Value), TransactionId>,
    /// Whether values cannot serve as ids.
    withheld: bool,
}

impl Versions {
    fn of(history: &History, numbers: &Numbers) -> Versions {
        let mut versions = Versions {
            writer: FxHashMap::default(),
            withheld: false,
        };
        for t in history.transactions() {
            for o in history.operations_of(t) {
                let Operation { kind, key, value } = history.operation(o);
                versions.withheld |= is_special(numbers.value(value));
                if kind == OperationKind::Write {
                    versions.withheld |= versions.writer.insert((key, value), t).is_some();
                }
            }
        }
        versions
    }

    /// Whether a read returned the initial version and nothing else.
    fn is_initial(&self, history: &History, read: Operation) -> bool {
        history.may_be_initial(read.key, read.value)
            && !self.writer.contains_key(&(read.key, read.value))
    }
}

/// What the logs cannot express about some transaction.
fn transaction_beyond(history: &History) -> Option<String> {
    let name = |t| history.transaction_name(t);
    if !history.lists().is_empty() {
        return Some("that keys hold lists".to_owned());
    }
    if history.n_transactions() == 0 {
        return Some("a history without transactions".to_owned());
    }
    for session in history.sessions() {
        let transactions = history.transactions_of(session);
        let last = transactions.len().saturating_sub(1);
        if let Some(t) = transactions
            .take(last)
            .find(|&t| history.outcome(t) == Outcome::Unknown)
        {
            return Some(format!(
                "that the outcome of {} is unknown: it is not the last of its session",
                name(t)
            ));
        }
    }
    None
}

/// What the logs cannot express about some operation.
fn operation_beyond(history: &History, numbers: &Numbers, versions: &Versions) -> Option<String> {
    for o in (0..history.n_operations()).map(OperationId::new) {
        let operation = history.operation(o);
        let Operation { kind, key, value } = operation;
        let text = || history.operation_text(o);
        let is_number = value.0 <= Value::MAX_NUMBER;
        if is_number && numbers.values.is_none() && i64::try_from(value.0).is_err() {
            return Some(format!(
                "the value {}, which is no signed number of 64 bits",
                history.value_name(value)
            ));
        }
        if kind == OperationKind::Write {
            continue;
        }
        if value == Value::UNRECORDED {
            return Some(format!(
                "the read {}, whose result was not recorded",
                text()
            ));
        }
        let writer = versions.writer.get(&(key, value));
        let is_doubtful =
            writer.is_some_and(|writer| history.set_up().binary_search(writer).is_err());
        if is_doubtful && history.may_be_initial(key, value) {
            return Some(format!(
                "the read {}, whose value is initial and was also written",
                text()
            ));
        }
        if !is_number && !versions.is_initial(history, operation) {
            return Some(format!(
                "the read {}: its key has another initial version",
                text()
            ));
        }
    }
    None
}

/// Numbers of the transactions: their own, or consecutive from 1.
fn transaction_ids(history: &History) -> Vec<i64> {
    let own = name::own_numbers(history, |_| true, |id| !is_special(id));
    own.unwrap_or_else(|| {
        (1..)
            .filter(|&id| !is_special(id))
            .take(history.n_transactions())
            .collect()
    })
}

/// The numbers in the file names: the session names where all are digits.
fn session_names(history: &History) -> Vec<String> {
    let names: Vec<String> = history
        .sessions()
        .map(|session| history.session_name(session))
        .collect();
    let digits = |name: &String| {
        !name.is_empty() && name.len() < 100 && name.bytes().all(|b| b.is_ascii_digit())
    };
    if names.iter().all(digits) {
        names
    } else {
        (0..history.n_sessions()).map(|n| n.to_string()).collect()
    }
}
