//! Errors in single lists, and in pairs of lists of one key.
//!
//! Each element of a list must have been appended by a committed transaction and appear once, and the appends of one
//! transaction must be contiguous and in order, since a transaction takes effect as a whole; lists of one key must be
//! prefixes of each other (Elle, list-append). `read_consistency` checks the last element, as what the read returned;
//! this module checks the elements before it. Each read is counted once for each pattern it shows.

use super::place::Place;
use super::{Instances, Level, LevelSet, Pattern, Proof, Violation};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{
    Appended, Appends, History, KeyId, ListRule, OperationId, OperationKind, Outcome,
    TransactionId, Value,
};
use isoscope_model::relations::{Edge, Index, NONE, Node, last_write, list_from_outside};
use rustc_hash::{FxHashMap, FxHashSet};

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
/// pattern, in node order. O(operations + elements of the lists that are no prefixes of others), and for each wrong list
/// O(its elements).
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
    let look = Look {
        history,
        index,
        appends: history.appends(),
        initial: history.initial_appends(),
    };
    let mut findings = Vec::new();
    let mut stems: Vec<Option<Sound>> = Vec::new();
    stems.resize_with(history.lists().stems().len(), || None);
    for (n, (reader, read, list)) in history.reads_of_lists().enumerate() {
        if n % 1024 == 0 {
            control.check()?;
        }
        if index.node[reader.index()] == NONE {
            continue;
        }
        let key = history.keys()[read.index()];
        let known = history
            .lists()
            .prefix_of(read)
            .map_or(0, |prefix| prefix.stem as usize);
        let sound =
            stems[known].get_or_insert_with(|| look.sound(key, &history.lists().stems()[known]));
        let outside = list_from_outside(history, reader, read);
        if !outside.is_some_and(|outside| look.is_sound(reader, key, outside, sound)) {
            look.at(reader, read, outside.unwrap_or(list), &mut findings);
        }
    }
    if history.rules().lists == ListRule::Exact {
        look.for_incompatible(&mut findings);
    }
    findings.retain(|finding| !known(finding.pattern, finding.read));
    findings.sort_by_key(|finding| {
        (
            finding.pattern,
            index.node[finding.reader.index()],
            finding.read,
        )
    });
    findings.dedup_by_key(|finding| (finding.pattern, finding.read));
    for of_pattern in findings.chunk_by(|a, b| a.pattern == b.pattern) {
        let pattern = of_pattern[0].pattern;
        let count = found.counts.entry(pattern).or_default();
        *count += of_pattern.len() as u64;
        for (number, finding) in of_pattern.iter().enumerate() {
            let place = Place([index.node[finding.reader.index()], finding.read.0, 0, 0]);
            if let Some(ordinal) = admit(pattern, number, place) {
                found
                    .violations
                    .push(look.violation(finding, ordinal, place));
            }
        }
    }
    found
        .violations
        .sort_by_key(|violation| violation.id.pattern);
    Ok(())
}

struct Look<'a> {
    history: &'a History,
    index: &'a Index,
    appends: &'a Appends,
    /// By key: the elements with which every list of the key begins.
    initial: FxHashMap<KeyId, Vec<OperationId>>,
}

/// Which prefixes of a list are without an error, unless they have elements that their reader appended.
struct Sound {
    /// The most elements that they have.
    longest: usize,
    /// By element of it: whether its transaction appended more after it, so that no list ends there.
    goes_on: Vec<bool>,
}

impl Look<'_> {
    fn sound(&self, key: KeyId, list: &[Value]) -> Sound {
        let mut seen: FxHashSet<Value> = FxHashSet::default();
        let mut sound = Sound {
            longest: list.len(),
            goes_on: Vec::with_capacity(list.len()),
        };
        for (place, &element) in list.iter().enumerate() {
            let known = self
                .appends
                .element(key, element)
                .map(|known| (known.appended, known));
            let writer = match known {
                _ if place >= sound.longest || !seen.insert(element) => None,
                Some((Appended::Once(append), known)) if !known.is_alone => {
                    Some((known.by, append))
                }
                Some((Appended::Once(_) | Appended::Several, _)) => {
                    sound.goes_on.push(false);
                    continue;
                }
                _ => None,
            };
            let is_next = |append: OperationId, place: Option<usize>| {
                place.and_then(|place| list.get(place))
                    == Some(&self.history.values()[append.index()])
            };
            let before = writer.and_then(|(t, append)| self.neighbour(t, append, false));
            if writer.is_none()
                || before.is_some_and(|before| !is_next(before, place.checked_sub(1)))
            {
                sound.longest = sound.longest.min(place);
                break;
            }
            let after = writer.and_then(|(t, append)| self.neighbour(t, append, true));
            sound.goes_on.push(after.is_some());
            if after.is_some_and(|after| !is_next(after, Some(place + 1))) {
                sound.longest = sound.longest.min(place + 1);
            }
        }
        sound
    }

    /// Whether a list shows no error: one without own appends at its end, and a prefix of what `sound` is about.
    fn is_sound(&self, reader: TransactionId, key: KeyId, list: &[Value], sound: &Sound) -> bool {
        let history = self.history;
        let is_own = |o: OperationId| {
            let operation = history.operation(o);
            operation.kind == OperationKind::Write
                && operation.key == key
                && list.contains(&operation.value)
        };
        list.len() <= sound.longest
            && !list
                .len()
                .checked_sub(1)
                .is_some_and(|last| sound.goes_on[last])
            && self.lacks_initial(key, list).is_none()
            && !history.operations_of(reader).any(is_own)
    }

    /// Checks one list, without own appends at its end.
    fn at(
        &self,
        reader: TransactionId,
        read: OperationId,
        outside: &[Value],
        findings: &mut Vec<Finding>,
    ) {
        let history = self.history;
        let key = history.keys()[read.index()];
        let mut seen: FxHashSet<Value> = FxHashSet::default();
        let mut shown: Vec<Pattern> = Vec::new();
        let mut add = |pattern: Pattern, append: Option<OperationId>| {
            if !shown.contains(&pattern) {
                shown.push(pattern);
                let appends = append.into_iter().collect();
                findings.push(Finding {
                    pattern,
                    reader,
                    read,
                    appends,
                    other: None,
                });
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
            let append = match self.appends.of(key, element) {
                None => {
                    add(Pattern::ThinAirRead, None);
                    continue;
                }
                Some(Appended::Aborted(append))
                    if history.ended_before(reader, history.transaction_of(append)) =>
                {
                    add(Pattern::ThinAirRead, None);
                    continue;
                }
                Some(Appended::Aborted(append)) => {
                    add(Pattern::AbortedRead, Some(append));
                    continue;
                }
                Some(Appended::Several) => continue,
                Some(Appended::Once(append)) => append,
            };
            let writer = history.transaction_of(append);
            if writer == reader {
                let pattern = if append > read {
                    Pattern::FutureRead
                } else {
                    Pattern::IncompatibleOrder
                };
                add(pattern, Some(append));
                continue;
            }
            let (before, after) = (
                self.neighbour(writer, append, false),
                self.neighbour(writer, append, true),
            );
            let value = |append: OperationId| history.values()[append.index()];
            match (after, outside.get(place + 1)) {
                // The last one is certainly missing: of equal elements, the next may seem to be there.
                (Some(next), found) if found != Some(&value(next)) => {
                    add(
                        Pattern::IntermediateRead,
                        last_write(history, writer, key, |_| true),
                    );
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
        let is_told = !shown.is_empty()
            || self.appends.repeated().is_empty()
            || history.rules().lists != ListRule::Exact;
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
        let initial = self
            .initial
            .get(&key)
            .filter(|_| self.history.rules().lists == ListRule::Exact)?;
        let is_there = |(place, append): &(usize, &OperationId)| {
            list.get(*place) == Some(&self.history.values()[append.index()])
        };
        initial
            .iter()
            .enumerate()
            .find(|found| !is_there(found))
            .map(|(_, &append)| append)
    }

    /// How often an element was appended by transactions that did not abort; at least 1, since it was read.
    fn n_appends(&self, key: KeyId, element: Value) -> usize {
        let counts = |append: &&OperationId| {
            self.history.outcome(self.history.transaction_of(**append)) != Outcome::Aborted
        };
        let appends = self
            .appends
            .repeated()
            .get(&(key, element))
            .into_iter()
            .flatten();
        appends.filter(counts).count().max(1)
    }

    /// The only append of an element, if there is exactly one.
    fn append_of(&self, key: KeyId, element: Value) -> Option<OperationId> {
        match self.appends.of(key, element) {
            Some(Appended::Once(append) | Appended::Aborted(append)) => Some(append),
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
        if after {
            same.find(|&o| o > append)
        } else {
            same.take_while(|&o| o < append).last()
        }
    }

    /// Lists that are not a prefix of the longest list of their key; if there are several longest lists, the one
    /// compatible with most others, then the first in node order.
    fn for_incompatible(&self, findings: &mut Vec<Finding>) {
        let history = self.history;
        let mut lists: FxHashMap<KeyId, Vec<ListRead<'_>>> = FxHashMap::default();
        for (t, read, _) in history.reads_of_lists() {
            let reader = self.index.node[t.index()];
            if let Some(outside) = list_from_outside(history, t, read).filter(|_| reader != NONE) {
                lists
                    .entry(history.keys()[read.index()])
                    .or_default()
                    .push(ListRead {
                        reader,
                        read,
                        outside,
                    });
            }
        }
        for (key, lists) in lists {
            let Some(ListRead {
                read: other,
                outside: of_key,
                ..
            }) = reference(&lists)
            else {
                continue;
            };
            for &ListRead { read, outside, .. } in
                lists.iter().filter(|list| !is_prefix(list.outside, of_key))
            {
                // The first place where the two lists differ.
                let parted = outside
                    .iter()
                    .zip(of_key)
                    .find(|(a, b)| a != b)
                    .map(|(a, b)| [*a, *b]);
                let appends = parted
                    .into_iter()
                    .flatten()
                    .filter_map(|element| self.append_of(key, element))
                    .collect();
                let (pattern, reader) = (Pattern::IncompatibleOrder, history.transaction_of(read));
                findings.push(Finding {
                    pattern,
                    reader,
                    read,
                    appends,
                    other: Some(other),
                });
            }
        }
    }

    fn violation(&self, finding: &Finding, ordinal: u32, among: Place) -> Violation {
        let &Finding {
            pattern,
            reader,
            read,
            ref appends,
            other,
        } = finding;
        let history = self.history;
        let of = |o: OperationId| history.transaction_of(o);
        let key = history.keys()[read.index()];
        let mut transactions: Vec<TransactionId> = appends
            .iter()
            .copied()
            .map(of)
            .chain(other.map(of))
            .collect();
        transactions.push(reader);
        let place =
            |t: TransactionId, all: &[TransactionId]| all.iter().position(|&other| other == t);
        let all = transactions.clone();
        let mut at = 0;
        transactions.retain(|&t| {
            at += 1;
            place(t, &all) == Some(at - 1)
        });
        let aborted = appends
            .first()
            .copied()
            .filter(|_| pattern == Pattern::AbortedRead);
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
            ..Violation::new(
                pattern,
                ordinal,
                LevelSet::upward(Level::AdyaReadCommitted),
                Proof::Reads(None),
            )
        }
    }
}

/// A list as its reader found it.
#[derive(Clone, Copy)]
struct ListRead<'l> {
    reader: Node,
    read: OperationId,
    outside: &'l [Value],
}

/// Whether a list begins with another one. O(1) where they are kept as prefixes of the same list, else O(elements).
fn is_prefix(prefix: &[Value], list: &[Value]) -> bool {
    prefix.len() <= list.len()
        && (std::ptr::eq(prefix, &list[..prefix.len()]) || list.starts_with(prefix))
}

/// Among lists of one key, the longest one of which most others are prefixes; the first in node order if there are
/// several. O(lists + elements), times [`MOST_LONGEST`] if the longest lists differ.
fn reference<'l>(lists: &[ListRead<'l>]) -> Option<ListRead<'l>> {
    let length = lists.iter().map(|list| list.outside.len()).max()?;
    let mut all: Vec<ListRead<'l>> = lists
        .iter()
        .copied()
        .filter(|list| list.outside.len() == length)
        .collect();
    all.sort_unstable_by_key(|list| (list.reader, list.read));
    let mut longest: Vec<ListRead<'l>> = Vec::new();
    for list in all {
        if longest.len() < MOST_LONGEST
            && longest
                .iter()
                .all(|other| !is_prefix(list.outside, other.outside))
        {
            longest.push(list);
        }
    }
    let n_apart = |of: &ListRead<'_>| {
        lists
            .iter()
            .filter(|other| !is_prefix(other.outside, of.outside))
            .count()
    };
    match longest.as_slice() {
        &[only] => Some(only),
        several => several.iter().copied().min_by_key(n_apart),
    }
}
