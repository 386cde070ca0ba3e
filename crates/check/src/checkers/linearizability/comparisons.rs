//! Inserts failed comparisons into an order of their key that was found without them.

use super::input::{Op, Role};
use isoscope_model::history::{History, KeyId};

/// Inserts the failed comparisons of a key into an order of its other operations, each at its start or directly after
/// the next write that may come before its end; `None` if some find their own value at both places. Then another order
/// may still be possible. O(n log n).
///
/// Each operation of the order has a moment, the latest start up to it. A comparison at any moment of its own respects real
/// time: what ended before it began has an earlier moment, and what began after its end a later one.
pub(super) fn insert(history: &History, key: KeyId, ops: &[Op], order: &[u32]) -> Option<Vec<u32>> {
    let mut latest = i64::MIN;
    let moments: Vec<i64> = order
        .iter()
        .map(|&place| {
            latest = latest.max(ops[place as usize].start);
            latest
        })
        .collect();
    // Places in the order.
    let writes: Vec<usize> = (0..order.len())
        .filter(|&at| ops[order[at] as usize].writes())
        .collect();
    let finds_itself = |n_writes: usize, op: &Op| match n_writes.checked_sub(1) {
        Some(last) => ops[order[writes[last]] as usize].value == op.value,
        None => history.may_be_initial(key, op.value),
    };
    // How many operations of the order come before it, its start, and its place.
    let mut inserted: Vec<(usize, i64, u32)> = Vec::new();
    for (place, op) in (0..).zip(ops).filter(|(_, op)| op.role == Role::Differs) {
        let at_start = moments.partition_point(|&moment| moment <= op.start);
        let n_writes = writes.partition_point(|&write| write < at_start);
        let before = if finds_itself(n_writes, op) {
            let next = writes
                .get(n_writes)
                .copied()
                .filter(|&write| moments[write] <= op.end)?;
            if finds_itself(n_writes + 1, op) {
                return None;
            }
            next + 1
        } else {
            at_start
        };
        inserted.push((before, op.start, place));
    }
    inserted.sort_unstable();
    let mut whole = Vec::with_capacity(order.len() + inserted.len());
    let mut rest = order;
    let mut taken = 0;
    for (before, _, place) in inserted {
        let (now, later) = rest.split_at(before - taken);
        whole.extend_from_slice(now);
        whole.push(place);
        (rest, taken) = (later, before);
    }
    whole.extend_from_slice(rest);
    Some(whole)
}
