//! What was observed, nothing inferred.
//!
//! A [`History`] is a set of sessions; a session is a sequence of transactions; a transaction is a sequence of reads
//! and writes with an outcome. Everything is stored as structure of arrays with dense ids ([`TransactionId`] by
//! session and position, [`OperationId`] by transaction and position), so the operations of a transaction and the
//! transactions of a session are contiguous ranges.
//!
//! The initial state is a rule of the model, not a session that every reader appends: the transaction
//! [`TransactionId::INITIAL`] (⊥) wrote the initial version of every key before everything else (Biswas & Enea 2019,
//! Def. 2.2; Plume, section 2.2). A read returns it when it returns [`Value::INITIAL`] or the history's
//! [`initial_value`](History::initial_value) and the resolution of reads finds no explicit writer to prefer.
//!
//! [`Builder`] is the only way in, so everything after it may trust these invariants. This module does no I/O and
//! knows nothing of relations, checkers or files' formats.

mod builder;
mod ids;
mod interner;
mod names;
mod number_table;
mod restrict;
mod stats;

pub use builder::{BuildError, Builder, Draft, OperationRun};
pub use ids::{KeyId, OperationId, SessionId, TransactionId, Value};
pub use names::Names;
pub use number_table::NumberTable;
pub use restrict::{Renaming, TransactionSet};
pub use stats::Statistics;

use names::UNNUMBERED;
use std::ops::Range;

/// What is known about the end of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The client saw the commit succeed.
    Committed,
    /// The client knows that nothing of it took effect.
    Aborted,
    /// The client does not know (time-out, lost connection).
    Unknown,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// Returns a version of a key.
    Read,
    /// Makes a new version of a key.
    Write,
}

/// One operation, gathered from the arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Read or write.
    pub kind: OperationKind,
    /// The key it touches.
    pub key: KeyId,
    /// The value read or written.
    pub value: Value,
}

/// When a transaction ran by the client's clock, both ends included, in the unit of the file (usually nanoseconds).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Before its first operation was sent.
    pub start: i64,
    /// After its outcome was known.
    pub end: i64,
}

/// How a file calls a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label<'a> {
    /// By a number; people read `T` in front of it.
    Number(u64),
    /// By a name.
    Name(&'a str),
}

/// Where a history comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The path as given by the user; empty for a history made in memory.
    pub path: String,
    /// Name of the format, a row of the table in `formats`.
    pub format: &'static str,
}

/// An observed history. See the module documentation.
#[derive(Clone, Debug)]
pub struct History {
    origin: Origin,
    session_names: Names,
    session_begin: Vec<u32>,
    transaction_names: Names,
    transaction_session: Vec<SessionId>,
    outcomes: Vec<Outcome>,
    intervals: Option<Vec<Option<Interval>>>,
    operation_begin: Vec<u32>,
    kinds: Vec<OperationKind>,
    keys: Vec<KeyId>,
    values: Vec<Value>,
    lines: Vec<u32>,
    key_names: Names,
    value_names: Names,
    initial_value: Option<Value>,
}

impl History {
    /// Where it was read from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Number of sessions, those without transactions included.
    pub fn n_sessions(&self) -> usize {
        self.session_begin.len() - 1
    }

    /// Number of transactions of all outcomes, ⊥ not counted.
    pub fn n_transactions(&self) -> usize {
        self.outcomes.len()
    }

    /// Number of operations in transactions of all outcomes.
    pub fn n_operations(&self) -> usize {
        self.kinds.len()
    }

    /// Number of distinct keys.
    pub fn n_keys(&self) -> usize {
        self.key_names.len()
    }

    /// All sessions.
    pub fn sessions(&self) -> impl ExactSizeIterator<Item = SessionId> + use<> {
        (0..self.n_sessions() as u32).map(SessionId)
    }

    /// All transactions, by session and position.
    pub fn transactions(&self) -> impl ExactSizeIterator<Item = TransactionId> + use<> {
        (0..self.n_transactions() as u32).map(TransactionId)
    }

    /// The transactions of a session, in session order.
    pub fn transactions_of(&self, session: SessionId) -> impl ExactSizeIterator<Item = TransactionId> + use<> {
        (self.session_begin[session.index()]..self.session_begin[session.index() + 1]).map(TransactionId)
    }

    /// The operations of a transaction, in program order.
    pub fn operations_of(&self, transaction: TransactionId) -> impl ExactSizeIterator<Item = OperationId> + use<> {
        let range = self.operation_range(transaction);
        (range.start as u32..range.end as u32).map(OperationId)
    }

    /// The operations of a transaction as places in [`kinds`](Self::kinds), [`keys`](Self::keys) and
    /// [`values`](Self::values).
    pub fn operation_range(&self, transaction: TransactionId) -> Range<usize> {
        let t = transaction.index();
        self.operation_begin[t] as usize..self.operation_begin[t + 1] as usize
    }

    /// One operation.
    pub fn operation(&self, operation: OperationId) -> Operation {
        let o = operation.index();
        Operation { kind: self.kinds[o], key: self.keys[o], value: self.values[o] }
    }

    /// The transaction an operation belongs to. O(log n).
    pub fn transaction_of(&self, operation: OperationId) -> TransactionId {
        TransactionId::new(self.operation_begin.partition_point(|&begin| begin <= operation.0) - 1)
    }

    /// The kinds of all operations, by [`OperationId`].
    pub fn kinds(&self) -> &[OperationKind] {
        &self.kinds
    }

    /// The keys of all operations, by [`OperationId`].
    pub fn keys(&self) -> &[KeyId] {
        &self.keys
    }

    /// The values of all operations, by [`OperationId`].
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The session of a transaction.
    pub fn session_of(&self, transaction: TransactionId) -> SessionId {
        self.transaction_session[transaction.index()]
    }

    /// Position of a transaction in its session, from 0.
    pub fn position_of(&self, transaction: TransactionId) -> usize {
        (transaction.0 - self.session_begin[self.session_of(transaction).index()]) as usize
    }

    /// What is known about the end of a transaction.
    pub fn outcome(&self, transaction: TransactionId) -> Outcome {
        self.outcomes[transaction.index()]
    }

    /// When a transaction ran, if the file says so.
    pub fn interval(&self, transaction: TransactionId) -> Option<Interval> {
        self.intervals.as_ref().and_then(|intervals| intervals[transaction.index()])
    }

    /// Whether any transaction has times.
    pub fn has_times(&self) -> bool {
        self.intervals.as_ref().is_some_and(|intervals| intervals.iter().any(Option::is_some))
    }

    /// The 1-based line of the file on which an operation stands; 0 when it was not read from a file.
    pub fn line_of(&self, operation: OperationId) -> u32 {
        self.lines[operation.index()]
    }

    /// A number or name that reads as "the initial version" unless somebody writes it explicitly (0 in Plume text).
    pub fn initial_value(&self) -> Option<Value> {
        self.initial_value
    }

    /// Whether reading `value` may mean the initial version.
    pub fn may_be_initial(&self, value: Value) -> bool {
        value == Value::INITIAL || Some(value) == self.initial_value
    }

    /// Name of a session as in the file.
    pub fn session_name(&self, session: SessionId) -> String {
        self.session_names.get(session.index())
    }

    /// Name of a transaction for people: `T295` where the file numbers transactions, else session name and 1-based
    /// position (`a1`, or `4.1` where the session's name ends in a digit), `⊥` for the initial transaction.
    pub fn transaction_name(&self, transaction: TransactionId) -> String {
        if transaction.is_initial() {
            return "⊥".to_owned();
        }
        match &self.transaction_names {
            Names::Numbers(numbers) if numbers[transaction.index()] != UNNUMBERED => {
                format!("T{}", numbers[transaction.index()])
            }
            Names::Strings(strings) => strings[transaction.index()].to_string(),
            _ => {
                let session = self.session_name(self.session_of(transaction));
                names::positional_name(&session, self.position_of(transaction))
            }
        }
    }

    /// What the file itself calls a transaction, if it names or numbers it; ⊥ has no label.
    pub fn transaction_label(&self, transaction: TransactionId) -> Option<Label<'_>> {
        if transaction.is_initial() {
            return None;
        }
        match &self.transaction_names {
            Names::Numbers(numbers) if numbers[transaction.index()] != UNNUMBERED => {
                Some(Label::Number(numbers[transaction.index()]))
            }
            Names::Strings(strings) => Some(Label::Name(&strings[transaction.index()])),
            _ => None,
        }
    }

    /// The names of all sessions, by [`SessionId`].
    pub fn session_names(&self) -> &Names {
        &self.session_names
    }

    /// The names of all keys, by [`KeyId`].
    pub fn key_names(&self) -> &Names {
        &self.key_names
    }

    /// The names of all values, by [`Value`], when some are no numbers; `None` when every value is the number it says.
    pub fn value_names(&self) -> Option<&Names> {
        match &self.value_names {
            Names::Implicit(_) => None,
            names => Some(names),
        }
    }

    /// Name of a key as in the file.
    pub fn key_name(&self, key: KeyId) -> String {
        self.key_names.get(key.index())
    }

    /// A value as in the file; `initial` for [`Value::INITIAL`], `?` for [`Value::UNRECORDED`].
    pub fn value_name(&self, value: Value) -> String {
        match value {
            Value::INITIAL => "initial".to_owned(),
            Value::UNRECORDED => "?".to_owned(),
            Value(number) => match &self.value_names {
                Names::Implicit(_) => number.to_string(),
                names => names.get(number as usize),
            },
        }
    }

    /// An operation as people write it: `r(x) = 3`, `w(x) = 3`.
    pub fn operation_text(&self, operation: OperationId) -> String {
        let Operation { kind, key, value } = self.operation(operation);
        let letter = match kind {
            OperationKind::Read => 'r',
            OperationKind::Write => 'w',
        };
        format!("{letter}({}) = {}", self.key_name(key), self.value_name(value))
    }
}
