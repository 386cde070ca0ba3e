//! Sorts data added in any order by sessions and transactions.

use std::ops::Range;

/// Stable counting sort: the start of each of `n` buckets, and the items in bucket order.
pub(super) fn counting_sort(
    buckets: impl Iterator<Item = u32> + Clone,
    n: usize,
) -> (Vec<u32>, Vec<u32>) {
    let mut begin = vec![0u32; n + 1];
    let mut len = 0;
    for bucket in buckets.clone() {
        begin[bucket as usize + 1] += 1;
        len += 1;
    }
    for b in 0..n {
        begin[b + 1] += begin[b];
    }
    let mut next = begin.clone();
    let mut order = vec![0u32; len];
    for (item, bucket) in buckets.enumerate() {
        let place = &mut next[bucket as usize];
        order[*place as usize] = item as u32;
        *place += 1;
    }
    (begin, order)
}

/// The items in this order; keeps their memory if they are already in it.
pub(super) fn in_order<T: Copy>(items: Vec<T>, order: &[u32]) -> Vec<T> {
    if order.is_sorted() {
        items
    } else {
        order.iter().map(|&item| items[item as usize]).collect()
    }
}

/// Where ranges of operations, in the order in which they were added, move. Empty if all stay.
#[derive(Default)]
pub(super) struct Moves(pub(super) Vec<(Range<usize>, usize)>);

impl Moves {
    /// The new place of an operation. O(log ranges).
    pub(super) fn place_of(&self, added: u32) -> u32 {
        let added = added as usize;
        let range = self.0.partition_point(|(from, _)| from.end <= added);
        self.0
            .get(range)
            .map_or(added, |(from, to)| to + (added - from.start)) as u32
    }
}

/// Copies each range to its place in a new array; the ranges cover the array.
pub(super) fn rearrange<T: Copy>(items: &mut Vec<T>, filler: T, moves: &Moves) {
    let mut sorted = vec![filler; items.len()];
    for (from, to) in &moves.0 {
        sorted[*to..*to + from.len()].copy_from_slice(&items[from.clone()]);
    }
    *items = sorted;
}
