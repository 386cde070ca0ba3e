//! Lists that reads returned.

use super::{KeyId, OperationId, Prefix, Stems, Value};

/// Keys that hold lists, and the whole list that each read of one returned. On such a key a write appends one element.
///
/// For code that only knows registers, an append is a write of its element and a read returns the last element: that is
/// correct as far as it goes. The additional information, the order of all elements, is kept here: lists that are
/// prefixes of each other, as those of one key nearly always are, share their elements.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    /// By key; empty if no key holds lists.
    is_list: Vec<bool>,
    /// Reads that returned a list, ascending.
    reads: Vec<(OperationId, Prefix)>,
    /// By 64 operations: a bit for each of these reads, and how many there are before.
    marks: Vec<(u64, u32)>,
    stems: Vec<Vec<Value>>,
    /// For a part of a history: reads whose lists lack elements there, ascending, with their lists in the whole one.
    recorded: Vec<(OperationId, Box<[Value]>)>,
}

impl Lists {
    /// For the keys marked by `is_list` and these reads in ascending order, each with its key and its list.
    pub(super) fn new<'a>(
        is_list: Vec<bool>,
        reads: impl Iterator<Item = (OperationId, KeyId, &'a [Value])>,
    ) -> Lists {
        let mut stems = Stems::default();
        let reads = reads
            .map(|(read, key, list)| (read, stems.keep(key.0, list)))
            .collect();
        Lists::of_stems(is_list, reads, stems)
    }

    /// For reads in ascending order, each with the place of its list.
    pub(super) fn of_stems(
        is_list: Vec<bool>,
        reads: Vec<(OperationId, Prefix)>,
        stems: Stems<Value>,
    ) -> Lists {
        debug_assert!(
            reads.is_sorted_by_key(|(read, _)| read),
            "reads come in order"
        );
        let mut marks =
            vec![(0u64, 0u32); reads.last().map_or(0, |(last, _)| last.index() / 64 + 1)];
        for (read, _) in &reads {
            marks[read.index() / 64].0 |= 1 << (read.index() % 64);
        }
        let mut before = 0;
        for (mark, n_before) in &mut marks {
            *n_before = before;
            before += mark.count_ones();
        }
        Lists {
            is_list,
            reads,
            marks,
            stems: stems.into_lists(),
            ..Lists::default()
        }
    }

    /// Whether no key holds lists.
    pub fn is_empty(&self) -> bool {
        self.is_list.is_empty()
    }

    /// Whether a key holds lists.
    pub fn is_list(&self, key: KeyId) -> bool {
        self.is_list.get(key.index()).copied().unwrap_or(false)
    }

    /// The list that a read returned; `None` if it is not a read of a list or its result was not recorded. O(1).
    pub fn read_by(&self, read: OperationId) -> Option<&[Value]> {
        self.place_of(read).map(|at| self.at(at))
    }

    /// Where the list that a read returned is kept. O(1).
    pub fn prefix_of(&self, read: OperationId) -> Option<Prefix> {
        self.place_of(read).map(|at| self.reads[at].1)
    }

    /// The place among the reads that returned lists.
    fn place_of(&self, read: OperationId) -> Option<usize> {
        let &(mark, n_before) = self.marks.get(read.index() / 64)?;
        let bit = 1 << (read.index() % 64);
        (mark & bit != 0).then(|| n_before as usize + (mark & (bit - 1)).count_ones() as usize)
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

    /// All stems: each the longest of the lists that are [`Prefix`]es of it, which are lists of one key.
    pub fn stems(&self) -> &[Vec<Value>] {
        &self.stems
    }

    /// All elements of all stems.
    pub(super) fn elements_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.stems.iter_mut().flatten()
    }

    fn at(&self, at: usize) -> &[Value] {
        let Prefix { stem, length } = self.reads[at].1;
        &self.stems[stem as usize][..length as usize]
    }
}
