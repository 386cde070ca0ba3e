//! Lists that reads returned.

use super::{History, KeyId, OperationId, OperationKind, Outcome, Value};
use rustc_hash::FxHashSet;
use std::sync::OnceLock;

/// Keys that hold lists, and the whole list that each read of one returned. On such a key a write appends one element.
///
/// For code that only knows registers, an append is a write of its element and a read returns the last element: that is
/// correct as far as it goes. The additional information, the order of all elements, is kept here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    /// By key; empty if no key holds lists.
    is_list: Vec<bool>,
    /// Reads that returned a list, ascending, each with the start of its elements.
    reads: Vec<(OperationId, u64)>,
    elements: Vec<Value>,
    /// For a part of a history: reads whose lists lack elements there, ascending, with their lists in the whole one.
    recorded: Vec<(OperationId, Box<[Value]>)>,
    /// Cached results; a copy, whose writes may be changed, begins without them.
    repeated: Repeated,
}

/// The elements that transactions which did not abort appended more than once, once they are known.
#[derive(Debug, Default)]
struct Repeated(OnceLock<FxHashSet<(KeyId, Value)>>);

impl Clone for Repeated {
    fn clone(&self) -> Repeated {
        Repeated::default()
    }
}

impl PartialEq for Repeated {
    fn eq(&self, _: &Repeated) -> bool {
        true
    }
}

impl Eq for Repeated {}

impl History {
    /// Whether transactions that did not abort appended an element to a list more than once. O(operations) the first time,
    /// then O(1).
    pub fn is_repeated_element(&self, key: KeyId, element: Value) -> bool {
        let find = || {
            let (mut seen, mut repeated) = (FxHashSet::default(), FxHashSet::default());
            for t in self.transactions().filter(|&t| self.outcome(t) != Outcome::Aborted) {
                for o in self.operations_of(t).map(|o| self.operation(o)) {
                    let is_append = o.kind == OperationKind::Write && self.lists().is_list(o.key);
                    if is_append && !seen.insert((o.key, o.value)) {
                        repeated.insert((o.key, o.value));
                    }
                }
            }
            repeated
        };
        self.lists().repeated.0.get_or_init(find).contains(&(key, element))
    }
}

impl Lists {
    /// For the keys marked by `is_list` and these reads in ascending order.
    pub(super) fn new<'a>(is_list: Vec<bool>, reads: impl Iterator<Item = (OperationId, &'a [Value])>) -> Lists {
        let mut lists = Lists { is_list, ..Lists::default() };
        for (read, elements) in reads {
            debug_assert!(lists.reads.last().is_none_or(|(last, _)| *last < read), "reads come in order");
            lists.reads.push((read, lists.elements.len() as u64));
            lists.elements.extend_from_slice(elements);
        }
        lists
    }

    /// For reads in ascending order, each with the start of its elements.
    pub(super) fn in_order(is_list: Vec<bool>, reads: Vec<(OperationId, u64)>, elements: Vec<Value>) -> Lists {
        debug_assert!(reads.is_sorted(), "reads and elements come in order");
        Lists { is_list, reads, elements, recorded: Vec::new(), repeated: Repeated::default() }
    }

    /// Whether no key holds lists.
    pub fn is_empty(&self) -> bool {
        self.is_list.is_empty()
    }

    /// Whether a key holds lists.
    pub fn is_list(&self, key: KeyId) -> bool {
        self.is_list.get(key.index()).copied().unwrap_or(false)
    }

    /// The list that a read returned; `None` if it is not a read of a list or its result was not recorded. O(log
    /// reads).
    pub fn read_by(&self, read: OperationId) -> Option<&[Value]> {
        self.reads.binary_search_by_key(&read, |(o, _)| *o).ok().map(|at| self.at(at))
    }

    /// The list that a read returned as it was recorded: in a part of a history, including the elements whose appends
    /// are not in it. O(log reads).
    pub fn recorded_by(&self, read: OperationId) -> Option<&[Value]> {
        match self.recorded.binary_search_by_key(&read, |(o, _)| *o) {
            Ok(at) => Some(&self.recorded[at].1),
            Err(_) => self.read_by(read),
        }
    }

    /// Remembers what reads returned before elements were left out: `whole` returns it, for reads in ascending order.
    pub(super) fn remember(&mut self, whole: impl Fn(OperationId) -> Option<Box<[Value]>>) {
        let lacking = (0..self.reads.len()).filter_map(|at| {
            let recorded = whole(self.reads[at].0)?;
            (recorded.len() > self.at(at).len()).then(|| (self.reads[at].0, recorded))
        });
        self.recorded = lacking.collect();
    }

    /// All reads that returned lists, ascending, with their lists.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (OperationId, &[Value])> + '_ {
        (0..self.reads.len()).map(|at| (self.reads[at].0, self.at(at)))
    }

    /// All elements of all lists that were read.
    pub(super) fn elements_mut(&mut self) -> &mut [Value] {
        &mut self.elements
    }

    fn at(&self, at: usize) -> &[Value] {
        let end = self.reads.get(at + 1).map_or(self.elements.len(), |(_, begin)| *begin as usize);
        &self.elements[self.reads[at].1 as usize..end]
    }
}
