//! Scans: reads of all rows of a table that match a predicate.
//!
//! A scan is kept as reads of single rows, all at one moment. A row that it listed was read from a version with this value,
//! one that it did not list from *some version that does not match*: absent, or with a value for which the predicate does
//! not hold. So a scan is several reads with, perhaps, several possible writers each, and everything that explains such
//! reads explains scans. Rows of which no version matches say nothing, so they are left out.

use super::{
    BuildError, History, KeyId, Lists, OperationId, OperationKind, Predicate, TransactionId, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Most pairs of a scan and a row that it did not list.
const MOST_UNLISTED: usize = 1 << 22;

/// What a scan tells about the rows that match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Returned {
    /// Their keys and values.
    Rows,
    /// Their keys.
    Keys,
}

/// What a scan asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    /// The rows whose keys begin with this and a slash; every key of the history without.
    pub table: Option<Box<str>>,
    /// Which of them.
    pub predicate: Arc<Predicate>,
    /// What about them.
    pub returned: Returned,
}

impl Asked {
    /// The name of a key within the table; none if it is of another one.
    pub fn row<'a>(&self, key: &'a str) -> Option<&'a str> {
        match &self.table {
            None => Some(key),
            Some(table) => key.strip_prefix(&**table)?.strip_prefix('/'),
        }
    }
}

/// A scan, as part of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    /// What it asked for.
    pub asked: Asked,
    /// In a part of a history: the rows, by their names in the table, of which it says nothing any more.
    pub silent: BTreeSet<Box<str>>,
    /// Whose it is.
    pub transaction: TransactionId,
    /// Its reads: the rows that it listed, then those that it did not, each in the order of keys. May be empty.
    pub reads: Range<u32>,
    /// How many of them it listed.
    pub n_listed: u32,
    /// The line of the file, 0 for none.
    pub line: u32,
}

impl Scan {
    /// The predicate without what it says nothing of.
    pub fn predicate(&self) -> Arc<Predicate> {
        match self.silent.is_empty() {
            true => self.asked.predicate.clone(),
            false => self.asked.predicate.without_keys(self.silent.clone()),
        }
    }

    /// The reads of the rows that it listed.
    pub fn listed(&self) -> impl ExactSizeIterator<Item = OperationId> + use<> {
        (self.reads.start..self.reads.start + self.n_listed).map(OperationId)
    }

    /// The reads of rows that it did not list.
    pub fn unlisted(&self) -> impl ExactSizeIterator<Item = OperationId> + use<> {
        (self.reads.start + self.n_listed..self.reads.end).map(OperationId)
    }
}

/// An operation, or all reads of a scan.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A read or write.
    Operation(OperationId),
    /// A scan.
    Scan(&'a Scan),
}

/// The scans of a history.
#[derive(Clone, Debug, Default)]
pub(super) struct Scans {
    /// In the order of their reads.
    pub(super) list: Vec<Scan>,
    /// Rows that a scan listed again or that do not match, with what it then listed, ascending.
    pub(super) again: Vec<(OperationId, Value)>,
    /// Whether some key is known to be a row: 0 is no initial version then.
    pub(super) has_rows: bool,
}

/// A scan under construction: the place of its first operation, which is taken out again, in the order in which operations
/// were added, and how many rows it listed.
#[derive(Clone, Debug)]
pub(super) struct ScanDraft {
    pub(super) at: u32,
    pub(super) n_listed: u32,
    pub(super) asked: Asked,
    pub(super) line: u32,
}

impl History {
    /// The scans, in the order of their operations.
    pub fn scans(&self) -> &[Scan] {
        &self.scans.list
    }

    /// Whether keys are rows, which are absent at first unless something else is set up.
    pub fn has_rows(&self) -> bool {
        self.scans.has_rows
    }

    /// Whether a scan, a delete or a read of a row that is absent tells that keys are rows. O(operations).
    pub fn shows_rows(&self) -> bool {
        !self.scans.list.is_empty() || self.values.contains(&Value::ABSENT)
    }

    /// The scan that an operation is part of. O(log scans).
    pub fn scan_of(&self, operation: OperationId) -> Option<&Scan> {
        let after = self
            .scans
            .list
            .partition_point(|scan| scan.reads.start <= operation.0);
        let scan = self.scans.list[..after].last()?;
        scan.reads.contains(&operation.0).then_some(scan)
    }

    /// The first operation that happened at the moment of this one: the first read of its scan, or itself.
    pub fn moment_of(&self, operation: OperationId) -> OperationId {
        self.scan_of(operation)
            .map_or(operation, |scan| OperationId(scan.reads.start))
    }

    /// Whether two different reads are of one scan.
    pub fn share_scan(&self, one: OperationId, other: OperationId) -> bool {
        let scan = self.scan_of(one).filter(|_| one != other);
        scan.is_some_and(|scan| scan.reads.contains(&other.0))
    }

    /// Whether a read is that of a row that its scan did not list.
    pub fn is_unlisted(&self, read: OperationId) -> bool {
        self.values[read.index()] == Value::UNLISTED
    }

    /// What a read returned or a write wrote, for people: as [`value_name`](History::value_name), for the row of a scan as its
    /// result tells it: `missing` or `present`.
    pub fn value_text(&self, operation: OperationId) -> String {
        let value = self.values[operation.index()];
        match value {
            Value::UNLISTED => "missing".to_owned(),
            Value::LISTED => "present".to_owned(),
            Value::TWICE => {
                let listed = self
                    .listed_again(operation)
                    .filter(|value| value.is_known());
                let value = listed.map(|value| self.value_name(value) + ", ");
                let how = match self.is_listed_before(operation) {
                    true => "listed again",
                    false => "which does not match",
                };
                value.unwrap_or_default() + how
            }
            value => self.value_name(value),
        }
    }

    /// What is between a key and its [`value_text`](History::value_text): `x = 1`, but `x missing`.
    pub fn value_sign(&self, operation: OperationId) -> &'static str {
        match self.values[operation.index()] {
            Value::UNLISTED | Value::LISTED => " ",
            _ => " = ",
        }
    }

    /// Whether a scan listed the row of one of its reads before.
    pub fn is_listed_before(&self, read: OperationId) -> bool {
        let key = self.keys[read.index()];
        self.scan_of(read).is_some_and(|scan| {
            let mut before = scan.reads.start..read.0;
            before.any(|o| self.keys[o as usize] == key)
        })
    }

    /// Whether a read returned the content of its key: it is of the key alone, or of a row that a scan listed with its value.
    pub fn is_of_item(&self, read: OperationId) -> bool {
        !matches!(self.values[read.index()], Value::UNLISTED | Value::LISTED)
    }

    /// What a scan listed for a row that it listed again or that does not match.
    pub fn listed_again(&self, read: OperationId) -> Option<Value> {
        let place = self.scans.again.binary_search_by_key(&read, |(o, _)| *o);
        place.ok().map(|at| self.scans.again[at].1)
    }

    /// Whether a version with this value explains a read.
    pub fn may_return(&self, read: OperationId, version: Value) -> bool {
        match self.values[read.index()] {
            Value::UNLISTED => !self.matches(read, version),
            Value::LISTED => self.matches(read, version),
            value => value == version,
        }
    }

    /// Whether the initial version explains a read.
    pub fn may_return_initial(&self, read: OperationId) -> bool {
        let key = self.keys[read.index()];
        match self.values[read.index()] {
            Value::UNLISTED | Value::LISTED => {
                self.may_return(read, self.initial_value_of(key).unwrap_or(Value::ABSENT))
            }
            value => self.may_be_initial(key, value),
        }
    }

    /// Whether a version of the row that a scan read matches its predicate.
    fn matches(&self, read: OperationId, version: Value) -> bool {
        let key = self.key_names.text(self.keys[read.index()].index());
        self.scan_of(read)
            .is_some_and(|scan| self.row_matches(&scan.asked, &key, version))
    }

    fn row_matches(&self, asked: &Asked, key: &str, version: Value) -> bool {
        version.is_known()
            && asked.row(key).is_some_and(|row| {
                asked
                    .predicate
                    .matches(row, &self.exact_value_name(version))
            })
    }

    /// The keys that the scans of a transaction may have concerned, whatever their values are.
    pub(crate) fn keys_scanned_by(&self, t: TransactionId) -> impl Iterator<Item = KeyId> + '_ {
        self.scans_by(t).flat_map(move |scan| {
            let keys = (0..self.n_keys()).map(KeyId::new);
            keys.filter(move |key| {
                let name = self.key_names.text(key.index());
                let row = scan.asked.row(&name);
                row.is_some_and(|row| {
                    scan.asked.predicate.may_concern(row) && !scan.silent.contains(row)
                })
            })
        })
    }

    /// The scans of a transaction, in program order.
    pub fn scans_by(&self, t: TransactionId) -> impl Iterator<Item = &Scan> + Clone {
        let list = &self.scans.list;
        let first = list.partition_point(|scan| scan.transaction < t);
        list[first..]
            .iter()
            .take_while(move |scan| scan.transaction == t)
    }

    /// What a transaction did, in program order, the reads of a scan as one step.
    pub fn steps_of(&self, t: TransactionId) -> impl Iterator<Item = Step<'_>> {
        let range = self.operation_range(t);
        let mut scans = self.scans_by(t).peekable();
        let mut at = range.start as u32;
        std::iter::from_fn(move || {
            if let Some(scan) = scans.next_if(|scan| scan.reads.start == at) {
                at = scan.reads.end;
                return Some(Step::Scan(scan));
            }
            at += 1;
            (at <= range.end as u32).then(|| Step::Operation(OperationId(at - 1)))
        })
    }

    /// Puts the rows that scans did not list among the operations, and takes the first operation of each draft, which stands
    /// for the scan, out. `drafts` are in the order of their places. O(operations + scans · rows).
    pub(super) fn with_scans(mut self, drafts: Vec<ScanDraft>) -> Result<History, BuildError> {
        let deletes_list =
            |at: usize| self.values[at] == Value::ABSENT && self.lists.is_list(self.keys[at]);
        if !self.lists.is_empty() && (0..self.n_operations()).any(deletes_list) {
            return Err(BuildError::ListScanned);
        }
        if drafts.is_empty() {
            return Ok(self);
        }
        let mut rows = Rows::new(&self);
        let mut new = Expanded::default();
        let mut drafts = drafts.into_iter().peekable();
        let mut n_unlisted = 0;
        let mut begin = vec![0];
        for t in self.transactions() {
            let range = self.operation_range(t);
            let mut at = range.start;
            while at < range.end {
                let Some(draft) = drafts.next_if(|draft| draft.at as usize == at) else {
                    new.keep(&self, at);
                    at += 1;
                    continue;
                };
                let listed = at + 1..at + 1 + draft.n_listed as usize;
                if self.may_scan_list(&draft.asked)
                    || self.keys[listed].iter().any(|&key| self.lists.is_list(key))
                {
                    return Err(BuildError::ListScanned);
                }
                let first = at + 1;
                at = first + draft.n_listed as usize;
                let start = new.kinds.len() as u32;
                rows.of(&self, &draft.asked)
                    .add(&self, &draft.asked, first..at, &mut new);
                n_unlisted += new.kinds.len() - start as usize - draft.n_listed as usize;
                if n_unlisted > MOST_UNLISTED {
                    return Err(BuildError::TooMany {
                        what: "rows that scans did not list",
                    });
                }
                let line = draft.line;
                let reads = start..new.kinds.len() as u32;
                new.lines.resize(new.kinds.len(), line);
                new.scans.push(Scan {
                    asked: draft.asked,
                    silent: BTreeSet::new(),
                    transaction: t,
                    reads,
                    n_listed: draft.n_listed,
                    line,
                });
            }
            begin.push(new.kinds.len() as u32);
        }
        if new.kinds.len() > u32::MAX as usize - 2 {
            return Err(BuildError::TooMany { what: "operations" });
        }
        let place = |o: OperationId| new.places[o.index()];
        let is_list: Vec<bool> = match self.lists.is_empty() {
            true => Vec::new(),
            false => (0..self.n_keys())
                .map(|key| self.lists.is_list(KeyId::new(key)))
                .collect(),
        };
        let lists = std::mem::take(&mut self.lists);
        let moved = lists
            .iter()
            .map(|(o, elements)| (place(o), self.keys[o.index()], elements));
        self.lists = Lists::new(is_list, moved);
        self.failed.iter_mut().for_each(|o| *o = place(*o));
        self.differs.iter_mut().for_each(|(o, _)| *o = place(*o));
        self.operation_begin = begin;
        self.kinds = new.kinds;
        self.keys = new.keys;
        self.values = new.values;
        self.lines = new.lines.into();
        self.scans.list = new.scans;
        self.scans.again = new.again;
        Ok(self)
    }

    /// Whether a scan may concern a key that holds a list. O(1) where there are none.
    fn may_scan_list(&self, asked: &Asked) -> bool {
        !self.lists.is_empty() && {
            let mut lists = (0..self.n_keys())
                .map(KeyId::new)
                .filter(|&key| self.lists.is_list(key));
            lists.any(|key| {
                let name = self.key_names.text(key.index());
                let row = asked.row(&name);
                row.is_some_and(|row| asked.predicate.may_concern(row))
            })
        }
    }

    /// The scans of a part: `place` gives the new place of an operation that is kept, `transaction` that of a transaction. A
    /// scan says nothing any more about a row whose read is left out although its key occurs.
    pub(super) fn scans_in_part(
        &self,
        transaction: impl Fn(TransactionId) -> Option<TransactionId>,
        kept_before: impl Fn(u32) -> u32,
        is_kept: impl Fn(OperationId) -> bool,
        occurs: impl Fn(KeyId) -> bool,
    ) -> Scans {
        let scan = |scan: &Scan| {
            let transaction = transaction(scan.transaction)?;
            let range = |range: Range<u32>| kept_before(range.start)..kept_before(range.end);
            let dropped = scan.reads.clone().map(OperationId).filter(|&o| !is_kept(o));
            let kept = scan.reads.clone().map(OperationId).filter(|&o| is_kept(o));
            let kept: FxHashSet<KeyId> = kept.map(|o| self.keys[o.index()]).collect();
            let silent = dropped
                .map(|o| self.keys[o.index()])
                .filter(|&key| occurs(key) && !kept.contains(&key))
                .filter_map(|key| Some(scan.asked.row(&self.key_names.text(key.index()))?.into()));
            Some(Scan {
                asked: scan.asked.clone(),
                silent: silent.chain(scan.silent.iter().cloned()).collect(),
                transaction,
                reads: range(scan.reads.clone()),
                n_listed: range(scan.reads.start..scan.reads.start + scan.n_listed).len() as u32,
                line: scan.line,
            })
        };
        let again = self.scans.again.iter().filter(|(o, _)| is_kept(*o));
        Scans {
            list: self.scans.list.iter().filter_map(scan).collect(),
            again: again
                .map(|&(o, value)| (OperationId(kept_before(o.0)), value))
                .collect(),
            has_rows: self.scans.has_rows,
        }
    }
}

/// The operations of a history with those of its scans.
#[derive(Default)]
struct Expanded {
    kinds: Vec<OperationKind>,
    keys: Vec<KeyId>,
    values: Vec<Value>,
    lines: Vec<u32>,
    scans: Vec<Scan>,
    again: Vec<(OperationId, Value)>,
    /// By old operation: where it is.
    places: Vec<OperationId>,
}

impl Expanded {
    fn push(&mut self, kind: OperationKind, key: KeyId, value: Value) {
        self.kinds.push(kind);
        self.keys.push(key);
        self.values.push(value);
    }

    fn keep(&mut self, history: &History, at: usize) {
        self.places
            .resize(at + 1, OperationId(self.kinds.len() as u32));
        self.push(history.kinds[at], history.keys[at], history.values[at]);
        self.lines.push(history.line_of(OperationId::new(at)));
    }
}

/// The rows of which some version matches, for each thing that scans ask.
struct Rows {
    /// By key: the values that were written to it.
    written: Vec<Vec<Value>>,
    /// The keys in their order.
    sorted: Vec<KeyId>,
    /// By key: its place in that order.
    rank: Vec<u32>,
    of: FxHashMap<Asked, Arc<[KeyId]>>,
}

impl Rows {
    fn new(history: &History) -> Rows {
        let mut written = vec![Vec::new(); history.n_keys()];
        for at in 0..history.n_operations() {
            if history.kinds[at] == OperationKind::Write && history.values[at].is_known() {
                written[history.keys[at].index()].push(history.values[at]);
            }
        }
        for values in &mut written {
            values.sort_unstable();
            values.dedup();
        }
        let mut sorted: Vec<KeyId> = (0..history.n_keys()).map(KeyId::new).collect();
        let name = |key: &KeyId| history.key_names.text(key.index());
        sorted.sort_by(|one, other| super::predicate::compare(&name(one), &name(other)));
        let mut rank = vec![0; history.n_keys()];
        for (place, key) in sorted.iter().enumerate() {
            rank[key.index()] = place as u32;
        }
        Rows {
            written,
            sorted,
            rank,
            of: FxHashMap::default(),
        }
    }

    /// The rows that may match, with what is needed to add them.
    fn of(&mut self, history: &History, asked: &Asked) -> MatchingRows<'_> {
        if !self.of.contains_key(asked) {
            let matches = |key: &&KeyId| {
                let name = history.key_names.text(key.index());
                let values = &self.written[key.index()];
                values
                    .iter()
                    .any(|&value| history.row_matches(asked, &name, value))
            };
            let keys = self.sorted.iter().filter(matches).copied().collect();
            self.of.insert(asked.clone(), keys);
        }
        MatchingRows {
            keys: self.of[asked].clone(),
            rank: &self.rank,
        }
    }
}

struct MatchingRows<'a> {
    keys: Arc<[KeyId]>,
    rank: &'a [u32],
}

impl MatchingRows<'_> {
    /// Adds the rows that a scan listed, which are at these places of the history, and those that it did not list.
    fn add(&self, history: &History, asked: &Asked, listed: Range<usize>, new: &mut Expanded) {
        let mut rows: Vec<(KeyId, Value)> = listed
            .map(|at| (history.keys[at], history.values[at]))
            .collect();
        rows.sort_by_key(|&(key, value)| (self.rank[key.index()], value));
        let mut seen = FxHashSet::default();
        for (key, value) in rows {
            let name = history.key_names.text(key.index());
            let is_possible = match value {
                Value::LISTED => asked.row(&name).is_some(),
                value => history.row_matches(asked, &name, value),
            };
            let explains = seen.insert(key) && is_possible;
            if !explains {
                new.again.push((OperationId(new.kinds.len() as u32), value));
            }
            let value = if explains { value } else { Value::TWICE };
            new.push(OperationKind::Read, key, value);
        }
        for &key in self.keys.iter().filter(|key| !seen.contains(key)) {
            new.push(OperationKind::Read, key, Value::UNLISTED);
        }
    }
}
