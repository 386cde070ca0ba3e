//! Counters to which ones are added, in so much concurrency that no search ends.

use super::Object;
use isoscope_model::history::{OperationKind, TransactionId};

/// Most pairs of additions and values that are compared.
const MOST: usize = 4_000_000;

/// When the counter gets a value: from here to there.
type Window = (i64, i64);

impl Object<'_> {
    /// Whether an order explains the reads of a counter, if only ones are added: if each value that had to be there can be
    /// given an addition that overlaps the time in which it appeared, and each addition that succeeded a value. Each is asked
    /// by augmenting paths (Kuhn, 1955), which is slow and plain.
    pub(super) fn ones_have_order(&self, group: &[TransactionId]) -> Option<bool> {
        let (mut additions, mut reads): (Vec<TransactionId>, Vec<(i128, TransactionId)>) =
            Default::default();
        for &t in group {
            for operation in self.history.operations_of(t) {
                let operation = self.history.operation(operation);
                let number: i128 = self
                    .history
                    .exact_value_name(operation.value)
                    .parse()
                    .ok()?;
                match operation.kind {
                    OperationKind::Write if number == 1 => additions.push(t),
                    OperationKind::Write => return None,
                    OperationKind::Read => reads.push((number, t)),
                }
            }
        }
        let n = additions.len();
        if n.saturating_mul(n.max(reads.len())) > MOST {
            return None;
        }
        let most = reads.iter().map(|read| read.0).max().unwrap_or_default();
        if most > n as i128 || reads.iter().any(|read| read.0 < 0) {
            return Some(false);
        }
        let window = |value: i128| -> Window {
            let less = reads.iter().filter(|read| read.0 < value);
            let rest = reads.iter().filter(|read| read.0 >= value);
            let begin = less.filter_map(|read| self.begin(read.1)).max();
            let end = rest.filter_map(|read| self.end(read.1)).min();
            (begin.unwrap_or(i64::MIN), end.unwrap_or(i64::MAX))
        };
        let windows: Vec<Window> = (1..=n as i128).map(window).collect();
        if windows.iter().any(|(from, to)| from > to) {
            return Some(false);
        }
        let overlap = |addition: TransactionId, (from, to): Window| {
            let begin = self.begin(addition).unwrap_or(i64::MIN);
            begin <= to && self.end(addition).is_none_or(|end| from <= end)
        };
        let fits = |value: usize, at: usize| overlap(additions[at], windows[value]);
        let values: Vec<usize> = (0..most as usize).collect();
        let is_sure = |at: &usize| self.end(additions[*at]).is_some();
        let sure: Vec<usize> = (0..n).filter(is_sure).collect();
        Some(all_matched(&values, n, fits) && all_matched(&sure, n, |at, value| fits(value, at)))
    }
}

/// Whether each of these can have one of `n` for itself.
fn all_matched(these: &[usize], n: usize, fits: impl Fn(usize, usize) -> bool) -> bool {
    let mut owner: Vec<Option<usize>> = vec![None; n];
    these.iter().all(|&one| {
        // Breadth first along pairs that may be exchanged.
        let mut from: Vec<Option<usize>> = vec![None; n];
        let mut open = std::collections::VecDeque::from([one]);
        while let Some(left) = open.pop_front() {
            for right in 0..n {
                if from[right].is_some() || !fits(left, right) {
                    continue;
                }
                from[right] = Some(left);
                match owner[right] {
                    Some(next) => open.push_back(next),
                    None => {
                        give(&mut owner, &from, right, one);
                        return true;
                    }
                }
            }
        }
        false
    })
}

/// Gives along a path each its next one, back to the one that had none.
fn give(owner: &mut [Option<usize>], from: &[Option<usize>], last: usize, first: usize) {
    let mut right = last;
    while let Some(left) = from[right] {
        let before = owner.iter().position(|other| *other == Some(left));
        owner[right] = Some(left);
        match before {
            Some(before) if left != first => right = before,
            _ => return,
        }
    }
}
