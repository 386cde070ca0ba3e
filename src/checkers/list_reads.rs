//! Errors in single lists, and in pairs of lists of one key.
//!
//! Each element of a list must have been appended by a committed transaction and appear once, and the appends of one
//! transaction must be contiguous and in order, since a transaction takes effect as a whole; lists of one key must be
//! prefixes of each other (Elle, list-append). `read_consistency` checks the last element, as what the read returned;
//! this module checks the elements before it. Each read is counted once for each pattern it shows.

use super::place::Place;
use super::{Instances, Level, LevelSet, Pattern, Proof, Violation};
use crate::control::{Control, Interrupt};
use crate::history::{History, KeyId, ListRule, OperationId, OperationKind, Outcome, TransactionId, Value};
use crate::relations::{
    Appended, Edge, Index, NONE, Repeated, appends, last_write, list_from_outside, repeated_appends,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// Most distinct lists of maximal length that are compared with all others of their key.
const MOST_LONGEST: usize = 16;

/// A list with an error: the read, and the other evidence.
struct Finding {
    pattern: Pattern,
    reader: TransactionId,
    read: OperationId,
    /// Appends that the argument is about.
    appends: Vec<OperationId>,
    /// Another list that is incompatible with it.
    other: Option<OperationId>,
}

/// Adds errors in lists to errors in reads. `known` says whether a read is already counted for a pattern because of its
/// last element; `admit` gives the ordinal of an instance that is to be reported, by its number among those of its
/// pattern, in node order. O(operations + elements read).
pub(super) fn add(
    history: &History,
    index: &Index,
    known: &dyn Fn(Pattern, OperationId) -> bool,
    admit: &mut dyn FnMut(Pattern, usize, Place) -> Option<u32>,
    found: &mut Instances,
    control: &Control,
) -> Result<(), Interrupt> {
    if history.lists().is_empty() {
        return Ok(());
    }
    let (appends, repeated) = (appends(history), repeated_appends(history));
    let look = Look { history, index, appends, repeated, initial: history.initial_appends() };
    let mut findings = Vec::new();
    for (n, (read, _)) in history.lists().iter().enumerate() {
        if n % 1024 == 0 {
            control.check()?;
        }
        let reader = history.transaction_of(read);
        if index.node[reader.index()] != NONE {
            look.at(reader, read, &mut findings);
        }
    }
    if history.rules().lists == ListRule::Exact {
        look.for_incompatible(&mut findings);
    }
    findings.retain(|finding| !known(finding.pattern, finding.read));
    findings.sort_by_key(|finding| (finding.pattern, index.node[finding.reader.index()], finding.read));
    findings.dedup_by_key(|finding| (finding.pattern, finding.read));
    for of_pattern in findings.chunk_by(|a, b| a.pattern == b.pattern) {
        let pattern = of_pattern[0].pattern;
        let count = found.counts.entry(pattern).or_default();
        *count += of_pattern.len() as u64;
        for (number, finding) in of_pattern.iter().enumerate() {
            let place = Place([index.node[finding.reader.index()], finding.read.0, 0, 0]);
            if let Some(ordinal) = admit(pattern, number, place) {
                found.violations.push(look.violation(finding, ordinal, place));
            }
        }
    }
    found.violations.sort_by_key(|violation| violation.id.pattern);
    Ok(())
}

struct Look<'a> {
    history: &'a History,
    index: &'a Index,
    appends: FxHashMap<(KeyId, Value), Appended>,
    repeated: Repeated,
    /// By key: the elements with which every list of the key begins.
    initial: FxHashMap<KeyId, Vec<OperationId>>,
}

impl Look<'_> {
    /// Checks one list.
    fn at(&self, reader: TransactionId, read: OperationId, findings: &mut Vec<Finding>) {
        let history = self.history;
        let key = history.keys()[read.index()];
        let Some(all) = history.lists().read_by(read) else { return };
        let outside = list_from_outside(history, reader, read).unwrap_or(all);
        let mut seen: FxHashSet<Value> = FxHashSet::default();
        let mut shown: Vec<Pattern> = Vec::new();
        let mut add = |pattern: Pattern, append: Option<OperationId>| {
            if !shown.contains(&pattern) {
                shown.push(pattern);
                let appends = append.into_iter().collect();
                findings.push(Finding { pattern, reader, read, appends, other: None });
            }
        };
        for (place, &element) in outside.iter().enumerate() {
            if !seen.insert(element) {
                // It may appear as often as it was appended.
                let n = outside.iter().filter(|other| **other == element).count();
                if n > self.n_appends(key, element) {
                    add(Pattern::DuplicateElement, self.append_of(key, element));
                }
                continue;
            }
            let append = match self.appends.get(&(key, element)) {
                None => {
                    add(Pattern::ThinAirRead, None);
                    continue;
                }
                Some(Appended::Aborted(append)) if history.ended_before(reader, history.transaction_of(*append)) => {
                    add(Pattern::ThinAirRead, None);
                    continue;
                }
                Some(Appended::Aborted(append)) => {
                    add(Pattern::AbortedRead, Some(*append));
                    continue;
                }
                Some(Appended::Several) => continue,
                Some(Appended::Once(append)) => *append,
            };
            let writer = history.transaction_of(append);
            if writer == reader {
                let pattern = if append > read { Pattern::FutureRead } else { Pattern::IncompatibleOrder };
                add(pattern, Some(append));
                continue;
            }
            let (before, after) = (self.neighbour(writer, append, false), self.neighbour(writer, append, true));
            let value = |append: OperationId| history.values()[append.index()];
            match (after, outside.get(place + 1)) {
                // The last one is certainly missing: of equal elements, the next may seem to be there.
                (Some(next), found) if found != Some(&value(next)) => {
                    add(Pattern::IntermediateRead, last_write(history, writer, key, |_| true));
                }
                _ => {}
            }
            let previous = place.checked_sub(1).map(|previous| outside[previous]);
            if before.is_some_and(|before| previous != Some(value(before))) {
                add(Pattern::IncompatibleOrder, before);
            }
        }
        if let Some(lacking) = self.lacks_initial(key, outside) {
            add(Pattern::IncompatibleOrder, Some(lacking));
        }
        // Own appends that are not the end of the list say nothing about themselves if other transactions appended the
        // same.
        let is_told = !shown.is_empty() || self.repeated.is_empty() || history.rules().lists != ListRule::Exact;
        if !is_told && list_from_outside(history, reader, read).is_none() {
            findings.push(Finding {
                pattern: Pattern::IncompatibleOrder,
                reader,
                read,
                appends: Vec::new(),
                other: None,
            });
        }
    }

    /// The first append of a set-up transaction that is not where it must be, at the beginning of a list.
    fn lacks_initial(&self, key: KeyId, list: &[Value]) -> Option<OperationId> {
        let initial = self.initial.get(&key).filter(|_| self.history.rules().lists == ListRule::Exact)?;
        let is_there =
            |(place, append): &(usize, &OperationId)| list.get(*place) == Some(&self.history.values()[append.index()]);
        initial.iter().enumerate().find(|found| !is_there(found)).map(|(_, &append)| append)
    }

    /// How often an element was appended by transactions that did not abort; at least 1, since it was read.
    fn n_appends(&self, key: KeyId, element: Value) -> usize {
        let counts =
            |append: &&OperationId| self.history.outcome(self.history.transaction_of(**append)) != Outcome::Aborted;
        let appends = self.repeated.get(&(key, element)).into_iter().flatten();
        appends.filter(counts).count().max(1)
    }

    /// The only append of an element, if there is exactly one.
    fn append_of(&self, key: KeyId, element: Value) -> Option<OperationId> {
        match self.appends.get(&(key, element)) {
            Some(Appended::Once(append) | Appended::Aborted(append)) => Some(*append),
            _ => None,
        }
    }

    /// The append to the same key before or after one of the same transaction.
    fn neighbour(&self, t: TransactionId, append: OperationId, after: bool) -> Option<OperationId> {
        let history = self.history;
        let key = history.keys()[append.index()];
        let mut same = history.operations_of(t).filter(|&o| {
            let operation = history.operation(o);
            operation.kind == OperationKind::Write && operation.key == key
        });
        match after {
            true => same.find(|&o| o > append),
            false => same.take_while(|&o| o < append).last(),
        }
    }

    /// Lists that are not a prefix of the longest list of their key; if there are several longest lists, the one
    /// compatible with most others, then the first in node order.
    fn for_incompatible(&self, findings: &mut Vec<Finding>) {
        let history = self.history;
        let node = |read: OperationId| self.index.node[history.transaction_of(read).index()];
        let mut lists: FxHashMap<KeyId, Vec<(OperationId, &[Value])>> = FxHashMap::default();
        for (read, _) in history.lists().iter().filter(|(read, _)| node(*read) != NONE) {
            if let Some(outside) = list_from_outside(history, history.transaction_of(read), read) {
                lists.entry(history.keys()[read.index()]).or_default().push((read, outside));
            }
        }
        for (key, mut lists) in lists {
            lists.sort_by_key(|(read, outside)| (Reverse(outside.len()), node(*read), *read));
            let Some((other, of_key)) = reference(&lists) else { continue };
            for &(read, outside) in lists.iter().filter(|(_, outside)| !of_key.starts_with(outside)) {
                // The first place where the two lists differ.
                let parted = outside.iter().zip(of_key).find(|(a, b)| a != b).map(|(a, b)| [*a, *b]);
                let appends = parted.into_iter().flatten().filter_map(|element| self.append_of(key, element)).collect();
                let (pattern, reader) = (Pattern::IncompatibleOrder, history.transaction_of(read));
                findings.push(Finding { pattern, reader, read, appends, other: Some(other) });
            }
        }
    }

    fn violation(&self, finding: &Finding, ordinal: u32, among: Place) -> Violation {
        let &Finding { pattern, reader, read, ref appends, other } = finding;
        let history = self.history;
        let of = |o: OperationId| history.transaction_of(o);
        let key = history.keys()[read.index()];
        let mut transactions: Vec<TransactionId> = appends.iter().copied().map(of).chain(other.map(of)).collect();
        transactions.push(reader);
        let place = |t: TransactionId, all: &[TransactionId]| all.iter().position(|&other| other == t);
        let all = transactions.clone();
        let mut at = 0;
        transactions.retain(|&t| {
            at += 1;
            place(t, &all) == Some(at - 1)
        });
        let aborted = appends.first().copied().filter(|_| pattern == Pattern::AbortedRead);
        let edges = aborted.map(|write| Edge::write_read(history, of(write), Some(write), read));
        let also = match pattern {
            Pattern::AbortedRead => vec!["G1a"],
            Pattern::IntermediateRead => vec!["G1b"],
            Pattern::IncompatibleOrder => vec!["incompatible-order"],
            Pattern::DuplicateElement => vec!["duplicate-elements"],
            _ => Vec::new(),
        };
        Violation {
            also: also.into_iter().map(str::to_owned).collect(),
            key: Some(key),
            transactions,
            operations: appends.iter().copied().chain(other).chain([read]).collect(),
            edges: edges.into_iter().collect(),
            place: Some(among),
            ..Violation::new(pattern, ordinal, LevelSet::upward(Level::AdyaReadCommitted), Proof::Read)
        }
    }
}

/// Among lists of one key, longest first, the longest one of which most others are prefixes; the first if there are
/// several. O(elements), times [`MOST_LONGEST`] if the longest lists differ.
fn reference<'l>(lists: &[(OperationId, &'l [Value])]) -> Option<(OperationId, &'l [Value])> {
    let length = lists.first()?.1.len();
    let mut longest: Vec<(OperationId, &[Value])> = Vec::new();
    for &(read, list) in lists.iter().take_while(|(_, list)| list.len() == length) {
        if longest.len() < MOST_LONGEST && longest.iter().all(|(_, other)| *other != list) {
            longest.push((read, list));
        }
    }
    let n_apart = |list: &[Value]| lists.iter().filter(|(_, other)| !list.starts_with(other)).count();
    match longest.as_slice() {
        &[only] => Some(only),
        several => several.iter().copied().min_by_key(|(_, list)| n_apart(list)),
    }
}
