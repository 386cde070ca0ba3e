//! Counters to which only ones are added: whether an order explains all reads is decided without a search.
//!
//! The moment at which the counter becomes `v` lies after the beginning of every read of less than `v` and before the end of
//! every read of `v` or more. These windows ascend. There is an order if and only if each value up to the greatest that was
//! read can be given an addition that overlaps its window, and each addition that succeeded can be given a value. As the
//! windows that an addition overlaps follow one another, both are found greedily (Glover, "Maximum matching in a convex
//! bipartite graph", 1967), and joined into one (Mendelsohn and Dulmage, 1958). O(n log n).

use super::Exchange;
use super::linear::Linearity;
use crate::operations::Tree;
use isoscope_model::history::Outcome;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An operation, in half places of the log.
struct Call {
    place: u32,
    begin: i64,
    /// When it had ended; the greatest number where it may take effect at any time, or never.
    end: i64,
}

/// A read and the value that it returned; none where that is not known.
type Read = (Call, Option<i64>);

/// The values that an addition can have made.
#[derive(Clone, Copy)]
struct Range {
    first: usize,
    last: usize,
}

/// The answer, if only ones are added.
pub(super) fn decide(exchanges: &[&Exchange<'_, '_>]) -> Option<Linearity> {
    let adds_one = |exchange: &&&Exchange<'_, '_>| {
        exchange.word != "add" || exchange.asked().integer() == Some(1)
    };
    if !exchanges.iter().all(|exchange| adds_one(&exchange)) {
        return None;
    }
    if let Some(order) = order_until(exchanges, i64::MAX) {
        return Some(Linearity::Holds(order));
    }
    // The first end at which there is none any more.
    let mut ends: Vec<(i64, usize)> = exchanges
        .iter()
        .enumerate()
        .filter(|(_, exchange)| exchange.is_committed())
        .filter_map(|(place, exchange)| Some((2 * exchange.end?, place)))
        .collect();
    ends.sort_unstable();
    let n = ends.partition_point(|(end, _)| order_until(exchanges, *end).is_some());
    let broken = ends.get(n).map(|(_, place)| Linearity::Broken(*place));
    Some(broken.unwrap_or(Linearity::Unknown))
}

/// An order of the operations as they were known at a moment.
fn order_until(exchanges: &[&Exchange<'_, '_>], now: i64) -> Option<Vec<u32>> {
    let (mut additions, mut reads): (Vec<Call>, Vec<Read>) = (Vec::new(), Vec::new());
    for (place, exchange) in exchanges.iter().enumerate() {
        if exchange.outcome == Outcome::Aborted || exchange.since > now {
            continue;
        }
        let end = exchange.end.filter(|_| exchange.is_committed());
        let end = end.map(|end| 2 * end).filter(|end| *end <= now);
        let call = Call {
            place: place as u32,
            begin: exchange.since,
            end: end.unwrap_or(i64::MAX),
        };
        if exchange.word == "add" {
            additions.push(call);
        } else if end.is_some() {
            reads.push((call, exchange.got().and_then(Tree::integer)));
        }
    }
    let (windows, most) = windows(&reads, additions.len())?;
    let values = given(&additions, &windows, most)?;
    let mut made: Vec<(i64, u32)> = additions
        .iter()
        .zip(values)
        .filter_map(|(call, value)| Some((call.begin.max(windows[value?].0), call.place)))
        .collect();
    made.sort_unstable();
    // A read of a value comes once the counter has it, one that says nothing when it begins.
    let at = |(call, value): &Read| {
        let value = (*value)?;
        let since = made.get((value as usize).checked_sub(1)?);
        Some(call.begin.max(since?.0))
    };
    let read = |read: &Read| {
        let begin = at(read).unwrap_or(read.0.begin);
        (begin, read.1.unwrap_or_default(), 1, read.0.place)
    };
    let made = made.iter().enumerate();
    let made = made.map(|(n, (at, place))| (*at, n as i64 + 1, 0, *place));
    let mut order: Vec<(i64, i64, u8, u32)> = made.chain(reads.iter().map(read)).collect();
    order.sort_unstable();
    Some(order.into_iter().map(|(.., place)| place).collect())
}

/// The windows in which the counter gets the values from 1 on, and the greatest value that was read; none if a read is of no
/// number that is possible, or a window is empty.
fn windows(reads: &[Read], n: usize) -> Option<(Vec<(i64, i64)>, usize)> {
    let mut windows = vec![(i64::MIN, i64::MAX); n];
    let mut most = 0;
    for (call, value) in reads {
        let Some(value) = value else {
            continue;
        };
        let value = usize::try_from(*value).ok().filter(|value| *value <= n)?;
        most = most.max(value);
        if let Some(next) = windows.get_mut(value) {
            next.0 = next.0.max(call.begin);
        }
        if let Some(own) = value.checked_sub(1) {
            windows[own].1 = windows[own].1.min(call.end);
        }
    }
    for value in 1..n {
        windows[value].0 = windows[value].0.max(windows[value - 1].0);
    }
    for value in (1..n).rev() {
        windows[value - 1].1 = windows[value - 1].1.min(windows[value].1);
    }
    let are_open = windows.iter().all(|(from, to)| from <= to);
    are_open.then_some((windows, most))
}

/// Of each addition the value that it makes, counted from 0, so that there is one for each of the first `most` values, and all
/// that succeeded have one; none if that cannot be.
fn given(additions: &[Call], windows: &[(i64, i64)], most: usize) -> Option<Vec<Option<usize>>> {
    let range = |call: &Call| Range {
        first: windows.partition_point(|(_, to)| *to < call.begin),
        last: windows.partition_point(|(from, _)| *from <= call.end),
    };
    let ranges: Vec<Range> = additions.iter().map(range).collect();
    let is_sure = |at: &usize| additions[*at].end < i64::MAX;
    let all: Vec<usize> = (0..ranges.len()).collect();
    let sure: Vec<usize> = all.iter().copied().filter(is_sure).collect();
    let by_value = matched(&ranges, all, most);
    let of_sure = matched(&ranges, sure.clone(), windows.len());
    if by_value.iter().any(Option::is_none) {
        return None;
    }
    let mut value_of: Vec<Option<usize>> = vec![None; additions.len()];
    let mut owner: Vec<Option<usize>> = vec![None; windows.len()];
    for (value, addition) in of_sure.into_iter().enumerate() {
        if let Some(addition) = addition {
            value_of[addition] = Some(value);
            owner[value] = Some(addition);
        }
    }
    if sure.iter().any(|at| value_of[*at].is_none()) {
        return None;
    }
    // A value that has none yet takes its own, which may leave another value without.
    for value in 0..most {
        let mut lacks = Some(value).filter(|value| owner[*value].is_none());
        while let Some(value) = lacks {
            let addition = by_value[value]?;
            lacks = value_of[addition].replace(value);
            owner[value] = Some(addition);
            if let Some(left) = lacks {
                owner[left] = None;
            }
            lacks = lacks.filter(|left| *left < most);
        }
    }
    Some(value_of)
}

/// Gives each of the first `n` values an addition whose range has it: of those that can be given, the one whose range ends
/// first.
fn matched(ranges: &[Range], mut additions: Vec<usize>, n: usize) -> Vec<Option<usize>> {
    additions.sort_by_key(|&at| Reverse(ranges[at].first));
    let mut waiting: BinaryHeap<Reverse<(usize, usize)>> = BinaryHeap::new();
    let next = |value: usize| {
        while let Some(at) = additions.pop_if(|at| ranges[*at].first <= value) {
            waiting.push(Reverse((ranges[at].last, at)));
        }
        loop {
            let Reverse((last, at)) = waiting.pop()?;
            if last > value {
                return Some(at);
            }
        }
    };
    (0..n).map(next).collect()
}
