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
//! Some keys hold lists ([`Lists`]): there a write appends one element. What a file leaves open (which value is
//! initial, what failed statements mean, …) is settled by [`Rules`], which state their assumptions in words.
//!
//! [`Builder`] is the only constructor, so everything after it may rely on these invariants. This module does no I/O
//! and knows nothing about relations, checkers or file formats.

mod annotations;
mod appends;
mod builder;
mod cluster;
mod elements;
pub mod fences;
mod ids;
mod interner;
mod interpret;
mod lightweight;
mod lines;
mod lists;
mod names;
mod number_table;
mod numbers;
mod origin;
mod outcomes;
mod predicate;
mod renumber;
mod restrict;
mod rules;
mod same_text;
mod scans;
mod stats;
mod stems;
mod visible;
mod words;
mod workload;

pub use crate::words;
pub use annotations::{Annotation, MarkPlace, Named};
pub use appends::{Appended, AppendedElement, Appends, Repeated};
pub use builder::{BuildError, Builder, Draft, OperationRun};
pub use cluster::{Cluster, FaultSpan, Incident};
pub use ids::{KeyId, OperationId, SessionId, TransactionId, Value};
pub use lightweight::{is_lightweight, objection_to_lightweight};
pub use lists::Lists;
pub use names::{Names, positional_name};
pub use number_table::NumberTable;
pub use numbers::{counted, grouped};
pub use origin::{LEVEL_CLAIMED, Origin, Spot, TESTED, Unit};
pub use predicate::{NamedRows, Predicate, compare as compare_keys};
pub use renumber::{NameTable, NewValue};
pub use restrict::{Renaming, TransactionSet};
pub use rules::{
    DuplicateRule, FailedCasRule, FailedRule, InitialRule, ListRule, NilRule, Rules, SetUpRule,
    Suggestions, TimeRule, TimeoutRule, UnknownRule, ValueRule, Vocabulary,
};
pub use scans::{Asked, Returned, Scan, Step};
pub use stats::{ListFigures, Shapes, Spread, Statistics, TimeFigures};
pub use stems::{Prefix, Stems};
pub use visible::{
    END_OF_ISOLATE, ISOLATE, acts_in_line, as_typed, cut, is_hidden, is_isolate, visible,
    visible_line,
};
pub use workload::{Answer, Fact, Linear, Shown, Workload};

use appends::KnownAppends;
use lines::Lines;
use names::{UNNUMBERED, visible_name};
use rustc_hash::FxHashMap;
use scans::Scans;
use std::ops::Range;

/// What is known about the end of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// The client observed a successful commit.
    Committed,
    /// The client knows that none of it took effect.
    Aborted,
    /// The client does not know (time-out, lost connection).
    Unknown,
}

impl Outcome {
    /// "committed", "aborted" or "outcome unknown".
    pub fn words(self) -> &'static str {
        match self {
            Outcome::Committed => "committed",
            Outcome::Aborted => "aborted",
            Outcome::Unknown => "outcome unknown",
        }
    }
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

/// So many transactions on a line are not told from each other.
const FEW_IN_LINE: usize = 4;

/// When a transaction ran by the client's clock, both ends included, in the unit of the file (usually nanoseconds).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Before its first operation was sent.
    pub start: i64,
    /// After its outcome was known.
    pub end: i64,
}

/// The file's own name for a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label<'a> {
    /// A number, displayed after `T`.
    Number(u64),
    /// A name.
    Name(&'a str),
}

/// An observed history. See the module documentation.
#[derive(Clone, Debug)]
pub struct History {
    origin: Origin,
    cluster: Cluster,
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
    lines: Lines,
    /// By operation of a part of a history: where it was [within](Spot::within) its line or transaction. Empty in a whole
    /// one, where that is computed.
    within: Vec<u32>,
    key_names: Names,
    value_names: Names,
    initial_value: Option<Value>,
    /// By key: the initial version that set-up transactions wrote. Empty if there are none.
    set_up_values: Vec<Option<Value>>,
    /// Transactions that count as part of ⊥ because the user said so, ascending.
    set_up: Vec<TransactionId>,
    lists: Lists,
    appends: KnownAppends,
    /// Operations that failed although their transaction may have committed, ascending; none once [`Rules`] are applied.
    failed: Vec<OperationId>,
    /// Reads of which only a value is known that was not there, ascending.
    differs: Vec<(OperationId, Value)>,
    scans: Scans,
    suggestions: Suggestions,
    rules: Rules,
    assumptions: Vec<String>,
    /// The figures of the file, if rules have changed them.
    recorded: Option<Figures>,
    /// What the log is about, if it has operations that mean more than their reads and writes.
    workload: Option<Box<Workload>>,
}

/// The size of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Sessions, including those without transactions.
    pub sessions: usize,
    /// Transactions of all outcomes.
    pub transactions: usize,
    /// Those known to have committed.
    pub committed: usize,
    /// Those known to have aborted.
    pub aborted: usize,
    /// Those of unknown outcome.
    pub unknown: usize,
    /// Operations in transactions of all outcomes.
    pub operations: usize,
    /// Distinct keys.
    pub keys: usize,
}

impl History {
    /// Where it was read from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Number of sessions, including those without transactions.
    pub fn n_sessions(&self) -> usize {
        self.session_begin.len() - 1
    }

    /// Number of transactions of all outcomes, excluding ⊥.
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
    pub fn transactions_of(
        &self,
        session: SessionId,
    ) -> impl ExactSizeIterator<Item = TransactionId> + use<> {
        (self.session_begin[session.index()]..self.session_begin[session.index() + 1])
            .map(TransactionId)
    }

    /// The operations of a transaction, in program order.
    pub fn operations_of(
        &self,
        transaction: TransactionId,
    ) -> impl ExactSizeIterator<Item = OperationId> + use<> {
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
        Operation {
            kind: self.kinds[o],
            key: self.keys[o],
            value: self.values[o],
        }
    }

    /// The transaction an operation belongs to. O(log n).
    pub fn transaction_of(&self, operation: OperationId) -> TransactionId {
        TransactionId::new(
            self.operation_begin
                .partition_point(|&begin| begin <= operation.0)
                - 1,
        )
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

    /// The last transaction of a transaction's session.
    pub fn last_of_session(&self, transaction: TransactionId) -> TransactionId {
        TransactionId(self.session_begin[self.session_of(transaction).index() + 1] - 1)
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
        self.intervals
            .as_ref()
            .and_then(|intervals| intervals[transaction.index()])
    }

    /// Whether a transaction is known to have ended before another one began: then it saw nothing of that one.
    pub fn ended_before(&self, one: TransactionId, other: TransactionId) -> bool {
        let is_known = self.outcome(one) != Outcome::Unknown;
        is_known
            && self
                .interval(one)
                .zip(self.interval(other))
                .is_some_and(|(one, other)| one.end < other.start)
    }

    /// Whether any transaction has times.
    pub fn has_times(&self) -> bool {
        self.intervals
            .as_ref()
            .is_some_and(|intervals| intervals.iter().any(Option::is_some))
    }

    /// The 1-based line of an operation in the file (or in its part), in binary files the 0-based byte plus one; 0 if
    /// it was not read from a file. See [`spot_of`](Self::spot_of).
    pub fn line_of(&self, operation: OperationId) -> u32 {
        self.lines.get(operation.index())
    }

    /// The lines of the operations of a transaction, in program order: [`line_of`](Self::line_of) for each of them, in
    /// O(log operations) and O(1) for each.
    pub fn lines_of(&self, transaction: TransactionId) -> impl Iterator<Item = u32> {
        self.lines.range(self.operation_range(transaction))
    }

    /// The file and position of an operation, if known.
    pub fn spot_of(&self, operation: OperationId) -> Option<Spot> {
        let number = self.line_of(operation);
        let part = || {
            self.origin
                .part_of_session(self.session_of(self.transaction_of(operation)))
        };
        (number > 0).then(|| Spot {
            part: part(),
            unit: self.origin.unit,
            number,
            within: self.within(operation),
        })
    }

    /// As [`Spot::within`]. O(log transactions of its session).
    fn within(&self, operation: OperationId) -> u32 {
        if let Some(&within) = self.within.get(operation.index()) {
            return within;
        }
        let t = self.transaction_of(operation);
        let range = self.operation_range(t);
        match self.origin.unit {
            Unit::Byte => {
                let place = (operation.index() - range.start + 1).min(Spot::MOST);
                ((place << 16) | range.len().min(Spot::MOST)) as u32
            }
            Unit::Line => self.place_in_line(t, self.line_of(operation)),
        }
    }

    /// The place of a transaction among those of its session that begin on a line, from 1; 0 if it is the only one.
    fn place_in_line(&self, t: TransactionId, line: u32) -> u32 {
        let begins = |t: TransactionId| {
            let range = self.operation_range(t);
            (!range.is_empty()).then(|| self.lines.get(range.start))
        };
        let session = self.session_of(t).index();
        let [start, end] = [session, session + 1].map(|s| self.session_begin[s] as usize);
        // Within a session, lines ascend.
        let (mut low, mut high) = (start, t.index());
        while low < high {
            let middle = (low + high) / 2;
            match begins(TransactionId::new(middle)).is_some_and(|first| first < line) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let is_here = |place: usize| place < end && begins(TransactionId::new(place)) == Some(line);
        // Of a few, the reader sees which is meant.
        let are_many = is_here(low + FEW_IN_LINE);
        match is_here(t.index()) && is_here(low) && are_many {
            true => (t.index() - low + 1) as u32,
            false => 0,
        }
    }

    /// A number or name that reads as "the initial version" unless a transaction writes it explicitly (0 in Plume text).
    pub fn initial_value(&self) -> Option<Value> {
        self.initial_value
    }

    /// Whether reading `value` from `key` may mean the initial version. If a set-up transaction wrote the key, only
    /// what it wrote is initial.
    pub fn may_be_initial(&self, key: KeyId, value: Value) -> bool {
        match self.set_up_values.get(key.index()) {
            Some(Some(written)) => value == *written,
            // An element of a list is never the empty list.
            _ if self.lists.is_list(key) => value == Value::INITIAL,
            _ => {
                value == Value::INITIAL
                    || value == Value::ABSENT
                    || Some(value) == self.initial_value
            }
        }
    }

    /// The initial value of a key, if it differs from the default of all keys: what was set up, or what a rule assumes.
    pub fn initial_value_of(&self, key: KeyId) -> Option<Value> {
        self.set_up_values.get(key.index()).copied().flatten()
    }

    /// Transactions that are part of ⊥ according to the file or the user, ascending.
    pub fn set_up(&self) -> &[TransactionId] {
        &self.set_up
    }

    /// Those of them that did not abort: an aborted transaction sets nothing up.
    pub fn set_up_that_took_effect(&self) -> impl Iterator<Item = TransactionId> + '_ {
        self.set_up
            .iter()
            .copied()
            .filter(|&t| self.outcome(t) != Outcome::Aborted)
    }

    /// By key that holds a list: the appends of declared set-up transactions to it, in order. Every list of the key
    /// begins with them. O(operations of these transactions).
    pub fn initial_appends(&self) -> FxHashMap<KeyId, Vec<OperationId>> {
        let mut appends: FxHashMap<KeyId, Vec<OperationId>> = FxHashMap::default();
        for o in self
            .set_up_that_took_effect()
            .flat_map(|t| self.operations_of(t))
        {
            let operation = self.operation(o);
            if operation.kind == OperationKind::Write && self.lists.is_list(operation.key) {
                appends.entry(operation.key).or_default().push(o);
            }
        }
        appends
    }

    /// The lists that reads returned, for keys that hold lists. There a write is an append of one element, and the
    /// value of a read is the last element of its list, [`Value::INITIAL`] if the list is empty.
    pub fn lists(&self) -> &Lists {
        &self.lists
    }

    /// Operations that failed although their transaction may have committed, ascending. None in a history that came
    /// from `formats::open`, which applies [`Rules`].
    pub fn failed_operations(&self) -> &[OperationId] {
        &self.failed
    }

    /// For a read whose result was not recorded: a value that is known not to have been there (a failed
    /// compare-and-set).
    pub fn differs_from(&self, read: OperationId) -> Option<Value> {
        self.differs
            .binary_search_by_key(&read, |(o, _)| *o)
            .ok()
            .map(|at| self.differs[at].1)
    }

    /// The keys that a transaction is known to have used, once for each use: a read whose result was not recorded constrains
    /// nothing, so it does not count. A scan uses every key that its predicate does not exclude by itself.
    pub fn keys_used_by(&self, transaction: TransactionId) -> impl Iterator<Item = KeyId> + '_ {
        let places = self.operation_range(transaction);
        places
            .filter(|&o| self.values[o] != Value::UNRECORDED && !self.values[o].is_of_scan())
            .map(|o| self.keys[o])
            .chain(self.keys_scanned_by(transaction))
    }

    /// Whether there is any read of which only a value is known that was not there.
    pub fn has_failed_comparisons(&self) -> bool {
        !self.differs.is_empty()
    }

    /// What the compare-and-sets mean of which the file only says that they failed.
    pub fn failed_cas(&self) -> FailedCasRule {
        match self.rules.failed_cas {
            FailedCasRule::Format => self.suggestions.failed_cas,
            rule => rule,
        }
    }

    /// The rules by which the file was interpreted.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The size of the file, before [`Rules`] split, dropped or reclassified anything. O(transactions).
    pub fn recorded(&self) -> Figures {
        self.recorded.unwrap_or_else(|| self.figures())
    }

    /// The size. O(transactions).
    pub fn figures(&self) -> Figures {
        let with = |outcome| self.outcomes.iter().filter(|o| **o == outcome).count();
        Figures {
            sessions: self.n_sessions(),
            transactions: self.n_transactions(),
            committed: with(Outcome::Committed),
            aborted: with(Outcome::Aborted),
            unknown: with(Outcome::Unknown),
            operations: self.n_operations(),
            keys: self.n_keys(),
        }
    }

    /// What the log is about, if its operations mean more than their reads and writes; none for a part of a history.
    pub fn workload(&self) -> Option<&Workload> {
        self.workload.as_deref()
    }

    /// The assumptions made when the file was interpreted, a sentence each.
    pub fn assumptions(&self) -> &[String] {
        &self.assumptions
    }

    /// Name of a session for people: as in the file, [`visible`].
    pub fn session_name(&self, session: SessionId) -> String {
        self.session_names.visible(session.index())
    }

    /// As `session_name`, verbatim, for data: it may contain anything.
    pub fn exact_session_name(&self, session: SessionId) -> String {
        self.session_names.get(session.index())
    }

    /// Name of a transaction for people, [`visible`]: `T295` if the file numbers transactions, else session name and
    /// 1-based position (`a1`, `S4#1`, `node2#1`), "initial state" for ⊥.
    pub fn transaction_name(&self, transaction: TransactionId) -> String {
        visible_name(&self.display_name(transaction))
    }

    /// As `transaction_name`, verbatim.
    fn display_name(&self, transaction: TransactionId) -> String {
        if transaction.is_initial() {
            return "initial state".to_owned();
        }
        if self.is_named_by_position(transaction) {
            let session = self.exact_session_name(self.session_of(transaction));
            names::positional_name(&session, self.position_of(transaction))
        } else {
            self.exact_transaction_name(transaction)
        }
    }

    /// Whether a transaction has no name in the file, so that its session and position name it. If only some have names,
    /// the others' ids are kept like names.
    pub fn is_named_by_position(&self, transaction: TransactionId) -> bool {
        let position = || {
            let session = self.exact_session_name(self.session_of(transaction));
            names::positional_id(&session, self.position_of(transaction))
        };
        !transaction.is_initial() && self.exact_transaction_name(transaction) == position()
    }

    /// The id of a transaction in data, which may contain anything: like its name for people, but `4.1` by position,
    /// and `⊥`.
    pub fn exact_transaction_name(&self, transaction: TransactionId) -> String {
        if transaction.is_initial() {
            return "⊥".to_owned();
        }
        match &self.transaction_names {
            Names::Numbers(numbers) if numbers[transaction.index()] != UNNUMBERED => {
                format!("T{}", numbers[transaction.index()])
            }
            Names::Strings(strings) => strings[transaction.index()].to_string(),
            _ => {
                let session = self
                    .session_names
                    .text(self.session_of(transaction).index());
                names::positional_id(&session, self.position_of(transaction))
            }
        }
    }

    /// The file's own name or number of a transaction, if any; ⊥ has no label.
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

    /// The names of all values, by [`Value`], if some are not numbers; `None` if every value is its number.
    pub fn value_names(&self) -> Option<&Names> {
        match &self.value_names {
            Names::Implicit(_) => None,
            names => Some(names),
        }
    }

    /// Every textual name in the history, and its origin: text that must be displayed whatever script it uses.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let tables = [
            Some(&self.session_names),
            Some(&self.transaction_names),
            Some(&self.key_names),
        ];
        let names = tables
            .into_iter()
            .flatten()
            .chain(self.value_names())
            .flat_map(Names::strings);
        names
            .map(|name| &**name)
            .chain(std::iter::once(self.origin().path.as_str()))
    }

    /// Name of a key for people: as in the file, [`visible`]. Verbatim: [`History::key_names`].
    pub fn key_name(&self, key: KeyId) -> String {
        self.key_names.visible(key.index())
    }

    /// A value for people: as in the file, [`visible`]; `initial` for [`Value::INITIAL`], `?` for [`Value::UNRECORDED`],
    /// `absent` for [`Value::ABSENT`], words for what a scan tells.
    pub fn value_name(&self, value: Value) -> String {
        visible_name(&self.exact_value_name(value))
    }

    /// As `value_name`, verbatim, for data: it may contain anything.
    pub fn exact_value_name(&self, value: Value) -> String {
        match value {
            Value::INITIAL => "initial".to_owned(),
            Value::UNRECORDED => "?".to_owned(),
            Value::ABSENT => "absent".to_owned(),
            Value::UNLISTED => "not listed".to_owned(),
            Value::LISTED => "listed".to_owned(),
            Value::TWICE => "listed twice".to_owned(),
            Value(number) => match &self.value_names {
                Names::Implicit(_) => number.to_string(),
                names => names.get(number as usize),
            },
        }
    }

    /// An operation in the usual notation: `r(x) = 3`, `w(x) = 3`, on lists `r(x) = [1 2 3]`, `append(x) 3`; `r(x) ≠ 3`
    /// if only that is known, `s(v < 3) x = no match` for a row of a scan, `d(x)` for a delete. A long list is shortened, and says by how much.
    pub fn operation_text(&self, operation: OperationId) -> String {
        let (head, value) = self.operation_parts(operation);
        head + &value
    }

    /// The two parts of [`operation_text`](Self::operation_text), for shortening them separately: `r(x) = ` and `3`.
    pub fn operation_parts(&self, operation: OperationId) -> (String, String) {
        let list = |elements: &[Value]| {
            let kept = self.lists.read_by(operation).unwrap_or_default();
            self.shortened(elements, kept)
        };
        (
            self.operation_head(operation),
            self.returned_or_written(operation, list),
        )
    }

    /// [`operation_text`](Self::operation_text) with all elements of a list.
    pub fn operation_text_in_full(&self, operation: OperationId) -> String {
        let all = |elements: &[Value]| {
            let names: Vec<String> = elements.iter().map(|&v| self.value_name(v)).collect();
            format!("[{}]", names.join(" "))
        };
        self.operation_head(operation) + &self.returned_or_written(operation, all)
    }

    fn operation_head(&self, operation: OperationId) -> String {
        let Operation { kind, key, value } = self.operation(operation);
        let name = self.key_name(key);
        match kind {
            OperationKind::Write if self.lists.is_list(key) => format!("append({name}) "),
            OperationKind::Write if value == Value::ABSENT => format!("d({name})"),
            OperationKind::Write => format!("w({name}) = "),
            OperationKind::Read if self.differs_from(operation).is_some() => {
                format!("r({name}) ≠ ")
            }
            OperationKind::Read if let Some(scan) = self.scan_of(operation) => {
                let sign = self.value_sign(operation);
                match scan.asked.predicate.text(&visible_name, &visible_name) {
                    every if every.is_empty() => format!("s({name}){sign}"),
                    predicate => format!("s({predicate}) {name}{sign}"),
                }
            }
            OperationKind::Read => format!("r({name}) = "),
        }
    }

    fn returned_or_written(
        &self,
        operation: OperationId,
        list: impl Fn(&[Value]) -> String,
    ) -> String {
        let Operation { kind, value, .. } = self.operation(operation);
        if kind == OperationKind::Write && value == Value::ABSENT {
            return String::new();
        }
        let recorded = self
            .lists
            .recorded_by(operation)
            .filter(|_| kind == OperationKind::Read);
        match (recorded, self.differs_from(operation)) {
            (Some(elements), _) => list(elements),
            (None, Some(other)) => self.value_name(other),
            (None, None) => self.value_text(operation),
        }
    }

    /// A list in the usual notation, `[1 2 3]`. For a long one the beginning, the end and what is kept of it in a part
    /// of a history, with the number of elements between: `[1 … 58 more … 60]`.
    fn shortened(&self, elements: &[Value], kept: &[Value]) -> String {
        const SHOWN: usize = 12;
        let n = elements.len();
        let is_part = kept.len() < n;
        let (first, last) = if is_part {
            (1, 1)
        } else {
            (SHOWN / 4, SHOWN - SHOWN / 4)
        };
        let mut left = SHOWN;
        let mut text = String::new();
        let mut hidden = 0;
        for (place, element) in elements.iter().enumerate() {
            let is_end = place < first || place + last >= n;
            let is_kept = is_part && left > 0 && kept.contains(element);
            left -= usize::from(is_kept);
            if n > SHOWN && !is_end && !is_kept {
                hidden += 1;
                continue;
            }
            if hidden > 0 {
                text += &format!(" … {hidden} more …");
                hidden = 0;
            }
            if place > 0 {
                text.push(' ');
            }
            text += &self.value_name(*element);
        }
        format!("[{text}]")
    }
}
