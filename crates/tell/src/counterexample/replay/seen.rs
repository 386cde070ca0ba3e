//! How a read fits the state in which it is made, and what one up-to-date copy of the data would have answered.

use super::Isolation;
use super::interleave::{Content, is_observed};
use isoscope_model::history::{History, KeyId, OperationId, OperationKind, TransactionId, Value};

/// A key that none of the operations shown has written yet. In the whole history others may have.
pub const UNTOUCHED: &str = "not yet known";

/// The state of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyState {
    /// The key.
    pub key: KeyId,
    /// Committed writes in the order in which they became visible: the last one counts for a register, all for a list.
    /// None: the initial state.
    pub committed: Vec<OperationId>,
    /// Writes of transactions that have not ended.
    pub pending: Vec<OperationId>,
    /// What is committed, in words: `3`, `[1 2]`, or [`UNTOUCHED`].
    pub text: String,
}

impl KeyState {
    pub(super) fn initial(key: KeyId) -> KeyState {
        KeyState {
            key,
            committed: Vec::new(),
            pending: Vec::new(),
            text: UNTOUCHED.to_owned(),
        }
    }
}

/// How a read fits the state in which it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explained {
    /// Not a read, or one whose value is not recorded.
    Nothing,
    /// It returned the transaction's own write.
    Own,
    /// It returned what was last committed.
    Current,
    /// It returned an earlier committed version that was since overwritten.
    Older,
    /// It returned a write of a transaction that had not ended.
    Uncommitted,
    /// No state up to here explains it.
    Nowhere,
}

/// What one up-to-date copy of the data does at a step, at the setting that claims the level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// It answers the read.
    Answer {
        /// `3`, `[1 2]`, or [`UNTOUCHED`].
        text: String,
        /// Whether the read returned that.
        is_observed: bool,
    },
    /// It refuses the write: the key was changed since the transaction's first statement.
    Refused,
}

impl Explained {
    /// How an operation of `reader` fits `state`, the state of its key.
    pub(super) fn of(
        history: &History,
        state: &KeyState,
        reader: TransactionId,
        operation: OperationId,
    ) -> Explained {
        let object = history.operation(operation);
        if object.kind == OperationKind::Write {
            return Explained::Nothing;
        }
        let value = |o: &OperationId| history.operation(*o).value;
        let is_own = |o: &&OperationId| history.transaction_of(**o) == reader;
        let own: Vec<Value> = state.pending.iter().filter(is_own).map(value).collect();
        let pending: Vec<Value> = state
            .pending
            .iter()
            .filter(|o| !is_own(o))
            .map(value)
            .collect();
        if let Some(differs) = history.differs_from(operation) {
            // Only what was not there is known.
            let now = own
                .last()
                .copied()
                .or_else(|| state.committed.last().map(value));
            let is_other = now.map_or(!history.may_be_initial(object.key, differs), |now| {
                now != differs
            });
            return if is_other {
                Explained::Current
            } else {
                Explained::Nowhere
            };
        }
        if object.value == Value::UNRECORDED {
            return Explained::Nothing;
        }
        if let Some(list) = history.lists().read_by(operation) {
            return of_list(history, state, &own, &pending, list);
        }
        if let Some(last) = own.last() {
            return if history.may_return(operation, *last) {
                Explained::Own
            } else {
                Explained::Nowhere
            };
        }
        let is_initial = history.may_return_initial(operation);
        let explains = |value: Value| history.may_return(operation, value);
        match state.committed.last() {
            None if is_initial => return Explained::Current,
            Some(last) if explains(value(last)) => return Explained::Current,
            _ => {}
        }
        if is_initial || state.committed.iter().any(|o| explains(value(o))) {
            return Explained::Older;
        }
        if pending.iter().any(|&value| explains(value)) {
            Explained::Uncommitted
        } else {
            Explained::Nowhere
        }
    }
}

fn of_list(
    history: &History,
    state: &KeyState,
    own: &[Value],
    pending: &[Value],
    list: &[Value],
) -> Explained {
    let value = |o: &OperationId| history.operation(*o).value;
    let now: Vec<Value> = state
        .committed
        .iter()
        .map(value)
        .chain(own.iter().copied())
        .collect();
    // The setup of the list is in no transaction.
    let is_appended = |element: &&Value| {
        let mut writes = (0..history.n_operations())
            .map(OperationId::new)
            .map(|o| history.operation(o));
        writes.any(|o| o.kind == OperationKind::Write && o.key == state.key && o.value == **element)
    };
    let list: Vec<Value> = list.iter().filter(is_appended).copied().collect();
    if list == now {
        return Explained::Current;
    }
    let others = list.strip_suffix(own);
    if others.is_some_and(|others| now.starts_with(others)) {
        return Explained::Older;
    }
    let there = |element: &Value| now.contains(element) || pending.contains(element);
    if list.iter().all(there) && list.iter().any(|element| pending.contains(element)) {
        return Explained::Uncommitted;
    }
    Explained::Nowhere
}

impl Expected {
    /// What happens to an operation if `state` is that of its key, with `n_at_start` writes committed when its
    /// transaction began. None for writes that succeed and reads whose value is not recorded.
    pub(super) fn of(
        history: &History,
        state: &KeyState,
        operation: OperationId,
        n_at_start: usize,
        setting: Isolation,
    ) -> Option<Expected> {
        let object = history.operation(operation);
        let t = history.transaction_of(operation);
        let by_snapshot = setting >= Isolation::RepeatableRead;
        if object.kind == OperationKind::Write {
            let is_changed = state.committed.len() > n_at_start;
            return (by_snapshot && is_changed).then_some(Expected::Refused);
        }
        let is_recorded =
            object.value != Value::UNRECORDED || history.differs_from(operation).is_some();
        if !is_recorded && history.lists().read_by(operation).is_none() {
            return None;
        }
        let n_seen = if by_snapshot {
            n_at_start
        } else {
            state.committed.len()
        };
        let is_own = |o: &&OperationId| history.transaction_of(**o) == t;
        let own = state.pending.iter().filter(is_own);
        let seen: Vec<OperationId> = state.committed[..n_seen]
            .iter()
            .chain(own)
            .copied()
            .collect();
        let value = |o: &OperationId| history.operation(*o).value;
        let content: Content = if history.lists().is_list(state.key) {
            (!seen.is_empty()).then(|| seen.iter().map(value).collect())
        } else {
            seen.last().map(|last| vec![value(last)])
        };
        let text = content_of(history, state, &seen);
        Some(Expected::Answer {
            text,
            is_observed: is_observed(history, operation, &content),
        })
    }
}

/// The contents of a key after these writes: `3`, `[1 2]`, or [`UNTOUCHED`].
pub(super) fn content_of(history: &History, state: &KeyState, writes: &[OperationId]) -> String {
    let value = |o: &OperationId| history.value_name(history.operation(*o).value);
    match writes.last() {
        None => UNTOUCHED.to_owned(),
        Some(_) if history.lists().is_list(state.key) => {
            format!(
                "[{}]",
                writes.iter().map(value).collect::<Vec<_>>().join(" ")
            )
        }
        Some(last) => value(last),
    }
}
