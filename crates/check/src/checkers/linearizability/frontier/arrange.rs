//! From the writes that took effect, each at an event, to an order of all operations.

use super::log::Taken;
use super::{Event, Part, UNWRITTEN};
use crate::checkers::linearizability::steps::{Class, Step};
use rustc_hash::FxHashMap;

/// What is to be put in order.
pub(super) struct Arrangement<'a> {
    pub(super) steps: &'a [Step],
    pub(super) parts: &'a [Part],
    pub(super) events: &'a [Event],
    /// By place: the kind of an optional operation.
    pub(super) kind_of: &'a FxHashMap<u32, u32>,
    /// By class: whether the initial version reads like this.
    pub(super) initial: &'a [bool],
}

impl Arrangement<'_> {
    /// All operations that must come and the optional ones that were used, in order. Between two writes come first the
    /// operations that observe the earlier one, then those that the later one covers. O(n log n) if operations are short.
    pub(super) fn order(&self, taken: &[(u32, Taken)]) -> Vec<u32> {
        let (begins, ends) = self.moments();
        let writes = self.with_optional_ones(taken, &begins);
        let mut is_placed = vec![false; self.steps.len()];
        writes
            .iter()
            .for_each(|&(_, place)| is_placed[place as usize] = true);
        // How many writes come before, whether it is covered, its beginning, and its place.
        let mut others: Vec<(usize, bool, u32, u32)> = Vec::new();
        let must =
            (0..self.steps.len() as u32).filter(|&place| self.parts[place as usize] == Part::Must);
        for place in must.filter(|&place| !is_placed[place as usize]) {
            let (begin, end) = (begins[place as usize], ends[place as usize]);
            if begin == u32::MAX {
                continue;
            }
            let first = writes.partition_point(|&(at, _)| at < begin);
            let is_covered = self.steps[place as usize].writes.is_some();
            let gap = if is_covered {
                self.covering(&writes, first)
            } else {
                self.observing(&writes, first, end, place)
            };
            others.push((gap, is_covered, begin, place));
        }
        others.sort_unstable();
        let mut order = Vec::with_capacity(writes.len() + others.len());
        let mut rest = others.into_iter().peekable();
        for gap in 0..=writes.len() {
            while let Some((.., place)) = rest.next_if(|other| other.0 == gap) {
                order.push(place);
            }
            order.extend(writes.get(gap).map(|&(_, place)| place));
        }
        order
    }

    /// By place: the events at which it begins and ends.
    fn moments(&self) -> (Vec<u32>, Vec<u32>) {
        let mut begins = vec![u32::MAX; self.steps.len()];
        let mut ends = begins.clone();
        for (at, &(_, is_end, place)) in (0..).zip(self.events) {
            (if is_end { &mut ends } else { &mut begins })[place as usize] = at;
        }
        (begins, ends)
    }

    /// The places of what took effect: of optional ones of a kind, those that began first.
    fn with_optional_ones(&self, taken: &[(u32, Taken)], begins: &[u32]) -> Vec<(u32, u32)> {
        let mut optional: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (&place, &kind) in self.kind_of {
            optional.entry(kind).or_default().push(place);
        }
        for places in optional.values_mut() {
            places.sort_unstable_by_key(|&place| std::cmp::Reverse(begins[place as usize]));
        }
        let mut place = |taken: Taken| match taken {
            Taken::Place(place) => Some(place),
            Taken::Kind(kind) => optional.get_mut(&kind)?.pop(),
        };
        taken
            .iter()
            .filter_map(|&(at, taken)| Some((at, place(taken)?)))
            .collect()
    }

    /// How many writes come before one that the next plain write from the `first` one on covers.
    fn covering(&self, writes: &[(u32, u32)], first: usize) -> usize {
        let is_plain = |&(_, place): &(u32, u32)| self.steps[place as usize].reads.is_none();
        writes[first..]
            .iter()
            .position(is_plain)
            .map_or(writes.len(), |after| first + after)
    }

    /// How many writes come before an operation that observes: at least `first`, and all of them before its end.
    fn observing(&self, writes: &[(u32, u32)], first: usize, end: u32, place: u32) -> usize {
        let step = &self.steps[place as usize];
        let is_in_time = |gap: &usize| *gap == first || writes[gap - 1].0 <= end;
        let fits = |gap: &usize| {
            let value = gap
                .checked_sub(1)
                .map_or(UNWRITTEN, |before| self.written(writes[before].1));
            let is =
                |class: Class| value == class || value == UNWRITTEN && self.initial[class as usize];
            step.reads.is_none_or(is) && !step.differs.is_some_and(is)
        };
        (first..=writes.len())
            .take_while(is_in_time)
            .find(fits)
            .unwrap_or(first)
    }

    fn written(&self, place: u32) -> Class {
        self.steps[place as usize].writes.unwrap_or(UNWRITTEN)
    }
}
