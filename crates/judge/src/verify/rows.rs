//! What scans say, evaluated independently: which versions of a row a scan may have found, and that each row that it might
//! have listed is accounted for.

use super::initial::Initial;
use isoscope_model::history::{
    Asked, History, KeyId, OperationId, OperationKind, Outcome, Predicate, Returned, TransactionId,
    Value, compare_keys,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;

/// Whether a version, the initial one without a value, explains what a read returned, which is `value` for people.
pub(super) fn explains(
    history: &History,
    read: OperationId,
    value: Value,
    version: Option<Value>,
) -> bool {
    let key = history.keys()[read.index()];
    if !value.is_of_scan() {
        let is_it = match version {
            Some(version) => version == value,
            None => history.may_be_initial(key, value),
        };
        let matches = || {
            history
                .scan_of(read)
                .is_none_or(|scan| is_found(history, &scan.asked, key, value))
        };
        return is_it && matches();
    }
    let there = version.or(history.initial_value_of(key));
    let is_match = history
        .scan_of(read)
        .is_some_and(|scan| there.is_some_and(|there| is_found(history, &scan.asked, key, there)));
    match value {
        Value::UNLISTED => !is_match,
        Value::LISTED => is_match,
        _ => false,
    }
}

/// Whether one read of a transaction had happened when another one did: before it, or as part of the same scan.
pub(super) fn by_then(history: &History, one: OperationId, other: OperationId) -> bool {
    let shares_scan = || {
        let scan = history.scan_of(one);
        scan.is_some_and(|scan| scan.reads.contains(&other.0))
    };
    one <= other || shares_scan()
}

/// Whether a read returned the content of its key.
pub(super) fn is_of_item(history: &History, read: OperationId) -> bool {
    !matches!(
        history.values()[read.index()],
        Value::UNLISTED | Value::LISTED
    )
}

/// Whether a row that its scan is said to have listed in vain was listed before, or does not match.
pub(super) fn is_listed_in_vain(history: &History, read: OperationId) -> bool {
    let key = history.keys()[read.index()];
    history.scan_of(read).is_some_and(|scan| {
        let before = (scan.reads.start..read.0).map(|o| history.keys()[o as usize]);
        let listed = history.listed_again(read);
        let does_match = match listed {
            None => true,
            Some(Value::LISTED) => scan
                .asked
                .row(&history.key_names().get(key.index()))
                .is_some(),
            Some(value) => is_found(history, &scan.asked, key, value),
        };
        listed.is_some() && (!does_match || before.into_iter().any(|other| other == key))
    })
}

/// Whether the initial version of the key of a read and all of these others explain it, so that it says nothing.
pub(super) fn says_nothing(
    history: &History,
    read: OperationId,
    mut versions: impl Iterator<Item = Value>,
) -> bool {
    let value = history.values()[read.index()];
    value.is_of_scan()
        && explains(history, read, value, None)
        && versions.all(|version| explains(history, read, value, Some(version)))
}

/// By row that scans read: the versions that others may have left, with their transactions.
pub(super) struct Finals(FxHashMap<KeyId, Vec<(TransactionId, Value)>>);

impl Finals {
    /// O(operations) where there are scans.
    pub(super) fn new(history: &History, initial: &Initial) -> Finals {
        let reads = history.scans().iter().flat_map(|scan| scan.reads.clone());
        let mut finals: FxHashMap<KeyId, Vec<(TransactionId, Value)>> = reads
            .map(|o| (history.keys()[o as usize], Vec::new()))
            .collect();
        let may_commit = |t: &TransactionId| {
            !finals.is_empty() && history.outcome(*t) != Outcome::Aborted && !initial.is_setup(*t)
        };
        let writers: Vec<TransactionId> = history.transactions().filter(may_commit).collect();
        for t in writers {
            for o in history.operations_of(t).map(|o| history.operation(o)) {
                let Some(versions) = finals
                    .get_mut(&o.key)
                    .filter(|_| o.kind == OperationKind::Write)
                else {
                    continue;
                };
                versions.pop_if(|(by, _)| *by == t);
                versions.push((t, o.value));
            }
        }
        Finals(finals)
    }

    /// Whether a row of a scan would have been there, or not, whatever version of another transaction than its own it had.
    pub(super) fn say_nothing(
        &self,
        history: &History,
        t: TransactionId,
        read: OperationId,
    ) -> bool {
        let versions = self.0.get(&history.keys()[read.index()]);
        let of_others = versions.into_iter().flatten().filter(|(by, _)| *by != t);
        says_nothing(history, read, of_others.map(|(_, value)| *value))
    }
}

/// Whether a scan finds this version of a row.
fn is_found(history: &History, asked: &Asked, key: KeyId, version: Value) -> bool {
    if version == Value::ABSENT {
        return false;
    }
    let name = history.key_names().get(key.index());
    let row = match &asked.table {
        None => Some(name.as_str()),
        Some(table) => name
            .split_once('/')
            .filter(|(of, _)| *of == &**table)
            .map(|(_, row)| row)
            .or_else(|| name.strip_prefix(&format!("{table}/"))),
    };
    let value = history.exact_value_name(version);
    row.is_some_and(|row| truth(&asked.predicate, row, &value) == Truth::True)
}

/// As in SQL.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Truth {
    True,
    False,
    Unknown,
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Truth {
        if holds { Truth::True } else { Truth::False }
    }
}

/// Whether a row matches.
fn truth(predicate: &Predicate, row: &str, value: &str) -> Truth {
    let of_number = |holds: &dyn Fn(i128) -> bool| match value.parse::<i128>() {
        // As it is usually written.
        Ok(number) if number.to_string() == value => holds(number).into(),
        _ => Truth::Unknown,
    };
    match predicate {
        Predicate::Every => Truth::True,
        Predicate::Equals(other) => (**other == *value).into(),
        Predicate::Less(bound) => of_number(&|number| number < i128::from(*bound)),
        Predicate::Remainder { divisor, remainder } => {
            let (divisor, remainder) = (i128::from(*divisor), i128::from(*remainder));
            of_number(&|number| ((number % divisor) + divisor) % divisor == remainder)
        }
        Predicate::Between(first, last) => {
            let is_outside = first
                .as_deref()
                .is_some_and(|first| compare_keys(row, first) == Ordering::Less)
                || last
                    .as_deref()
                    .is_some_and(|last| compare_keys(row, last) == Ordering::Greater);
            (!is_outside).into()
        }
        Predicate::KeyIn(keys) => keys.iter().any(|key| **key == *row).into(),
        Predicate::Named(_, rows) => rows
            .iter()
            .any(|(key, known)| **key == *row && **known == *value)
            .into(),
        Predicate::Not(other) => match truth(other, row, value) {
            Truth::True => Truth::False,
            Truth::False => Truth::True,
            Truth::Unknown => Truth::Unknown,
        },
        Predicate::And(one, other) => {
            let both = [truth(one, row, value), truth(other, row, value)];
            if both.contains(&Truth::False) {
                Truth::False
            } else if both.contains(&Truth::Unknown) {
                Truth::Unknown
            } else {
                Truth::True
            }
        }
    }
}

/// Whether each row of which a scan finds some version has a read among those of the scan: else an order that explains all
/// reads might not explain the scan. O(scans · versions).
pub(super) fn are_all_read(history: &History) -> Result<(), String> {
    if history.scans().is_empty() {
        return Ok(());
    }
    let mut versions: FxHashMap<KeyId, FxHashSet<Value>> = FxHashMap::default();
    for o in (0..history.n_operations()).map(OperationId::new) {
        let operation = history.operation(o);
        if operation.kind == OperationKind::Write {
            versions
                .entry(operation.key)
                .or_default()
                .insert(operation.value);
        }
    }
    for scan in history.scans() {
        let read: FxHashSet<KeyId> = (scan.reads.clone())
            .map(|o| history.keys()[o as usize])
            .collect();
        let is_silent = |key: &KeyId| {
            let name = history.key_names().get(key.index());
            read.contains(key)
                || (scan.asked.row(&name)).is_some_and(|row| scan.silent.contains(row))
                || !versions[key]
                    .iter()
                    .any(|&version| is_found(history, &scan.asked, *key, version))
        };
        if let Some(key) = versions.keys().find(|key| !is_silent(key)) {
            return Err(format!(
                "a scan of {} says nothing about {}",
                history.transaction_name(scan.transaction),
                history.key_name(*key)
            ));
        }
        let listed = scan.listed().map(|o| history.values()[o.index()]);
        let is_kind = |value: Value| match scan.asked.returned {
            Returned::Rows => value.is_known() || value == Value::TWICE,
            Returned::Keys => matches!(value, Value::LISTED | Value::TWICE),
        };
        let unlisted = scan.unlisted().map(|o| history.values()[o.index()]);
        if !listed.into_iter().all(is_kind) || !unlisted.into_iter().all(|v| v == Value::UNLISTED) {
            return Err(format!(
                "the reads of a scan of {} are not what it returned",
                history.transaction_name(scan.transaction)
            ));
        }
    }
    Ok(())
}
