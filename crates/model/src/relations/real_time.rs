//! Real time: one transaction ended before another began (MTC, Def. 2; equal times are concurrent).

use super::index::{Index, Node};
use super::initial_state::{may_set_up, set_up_transactions};
use crate::history::{History, Interval, Outcome, TransactionId};

/// Whether the times of a history can order anything: some committed transaction that does not set up the initial state
/// has them. The end of a transaction of unknown outcome is not known, aborted ones do not count, and the initial state
/// is before all time, so none of these ended before another transaction began. O(transactions), and O(operations) if
/// all transactions with times may be a set-up.
pub fn has_real_time(history: &History) -> bool {
    let is_timed = |&t: &TransactionId| {
        history.outcome(t) == Outcome::Committed && history.interval(t).is_some()
    };
    let timed = || history.transactions().filter(is_timed);
    if !history.has_times() || timed().next().is_none() {
        return false;
    }
    timed().any(|t| !may_set_up(history, t)) || {
        let set_up = set_up_transactions(history);
        timed().any(|t| set_up.binary_search(&t).is_err())
    }
}

/// When a transaction ran. One of unknown outcome that counts as committed may have committed at any time after it
/// began.
pub(super) fn interval(history: &History, t: TransactionId) -> Option<Interval> {
    let interval = history.interval(t)?;
    Some(match history.outcome(t) {
        Outcome::Unknown => Interval {
            end: i64::MAX,
            ..interval
        },
        _ => interval,
    })
}

/// Real time as a chain: linearly many edges with the same reachability as all pairs of transactions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeChain {
    /// Moments at which transactions ended, ascending, each once.
    pub ends: Vec<i64>,
    /// (node, place in `ends`): the node ended then.
    pub ended: Vec<(Node, u32)>,
    /// (place in `ends`, node): the last end before the node began.
    pub began: Vec<(u32, Node)>,
}

impl TimeChain {
    /// For the nodes whose times are known. O(n log n).
    pub fn new(index: &Index) -> TimeChain {
        TimeChain::of(
            index,
            (0..index.interval.len() as Node)
                .collect::<Vec<Node>>()
                .as_slice(),
        )
    }

    /// For those of some nodes whose times are known. O(n log n).
    pub(super) fn of(index: &Index, nodes: &[Node]) -> TimeChain {
        let known = || {
            nodes
                .iter()
                .filter_map(|&node| Some((index.interval.get(node as usize)?.as_ref()?, node)))
        };
        let mut ends: Vec<i64> = known()
            .map(|(interval, _)| interval.end)
            .filter(|&end| end < i64::MAX)
            .collect();
        ends.sort_unstable();
        ends.dedup();
        let mut chain = TimeChain {
            ends,
            ..TimeChain::default()
        };
        for (interval, node) in known() {
            if let Ok(place) = chain.ends.binary_search(&interval.end) {
                chain.ended.push((node, place as u32));
            }
            let before = chain.ends.partition_point(|&end| end < interval.start);
            chain
                .began
                .extend(before.checked_sub(1).map(|place| (place as u32, node)));
        }
        chain
    }
}

impl Index {
    /// Two nodes of a session of which the later one ended before the earlier one began: then the clock contradicts
    /// session order, and real time says nothing about the store. Without such a pair SO ∪ RT has no cycle.
    pub fn clock_against_session_order(&self) -> Option<(Node, Node)> {
        let mut latest: Option<(i64, Node)> = None;
        for (node, interval) in (0..self.n_nodes() as Node).zip(&self.interval) {
            if node == self.session_begin[self.session[node as usize] as usize] {
                latest = None;
            }
            let Some(interval) = interval else { continue };
            if let Some((start, earlier)) = latest
                && interval.end < start
            {
                return Some((earlier, node));
            }
            if latest.is_none_or(|(start, _)| interval.start > start) {
                latest = Some((interval.start, node));
            }
        }
        None
    }

    /// Whether a node ended before another one began.
    pub fn ended_before(&self, a: Node, b: Node) -> bool {
        let interval = |node: Node| self.interval.get(node as usize).copied().flatten();
        interval(a)
            .zip(interval(b))
            .is_some_and(|(a, b)| a.end < b.start)
    }

    /// All pairs of nodes in real time. O(n²).
    pub fn real_time_pairs(&self) -> Vec<(Node, Node)> {
        let nodes = 0..self.interval.len() as Node;
        nodes
            .clone()
            .flat_map(|b| {
                nodes
                    .clone()
                    .filter(move |&a| self.ended_before(a, b))
                    .map(move |a| (a, b))
            })
            .collect()
    }

    /// Those of them that have a key in common. O(n² × keys of a transaction).
    pub fn real_time_pairs_by_key(&self) -> Vec<(Node, Node)> {
        let mut pairs = self.real_time_pairs();
        pairs.retain(|&(a, b)| {
            self.keys_used_by(a)
                .any(|key| self.keys_used_by(b).any(|other| other == key))
        });
        pairs
    }

    /// Pairs of nodes in real time, without those that follow from others. O(n²).
    pub fn real_time_neighbours(&self) -> Vec<(Node, Node)> {
        let mut pairs = Vec::new();
        let known: Vec<(Node, Interval)> = (0..)
            .zip(&self.interval)
            .filter_map(|(node, interval)| Some((node, (*interval)?)))
            .collect();
        for &(b, of_b) in &known {
            let before: Vec<(Node, Interval)> = known
                .iter()
                .copied()
                .filter(|(_, a)| a.end < of_b.start)
                .collect();
            // a comes directly before b if none began after a ended and ended before b began.
            let last_start = before.iter().map(|(_, a)| a.start).max();
            pairs.extend(
                before
                    .iter()
                    .filter(|(_, a)| last_start.is_none_or(|s| s <= a.end))
                    .map(|&(a, _)| (a, b)),
            );
        }
        pairs
    }
}
