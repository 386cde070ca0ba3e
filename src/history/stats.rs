//! Figures of a history.

use super::{History, OperationKind, Outcome};

/// Counts over a history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Sessions, empty ones included.
    pub sessions: usize,
    /// Transactions of all outcomes.
    pub transactions: usize,
    /// Transactions known to have committed.
    pub committed: usize,
    /// Transactions known to have aborted.
    pub aborted: usize,
    /// Transactions of unknown outcome.
    pub unknown: usize,
    /// Operations in transactions of all outcomes.
    pub operations: usize,
    /// Reads among them.
    pub reads: usize,
    /// Writes among them.
    pub writes: usize,
    /// Distinct keys.
    pub keys: usize,
    /// Length of the longest transaction, in operations.
    pub longest_transaction: usize,
    /// Operations on the most used key.
    pub hottest_key_operations: usize,
    /// Share of all operations on the most used tenth of the keys (at least one key): 0.1 when uniform.
    pub hot_tenth_share: f64,
}

impl Statistics {
    /// Counts in O(operations + keys log keys).
    pub fn of(history: &History) -> Statistics {
        let outcomes = |o: Outcome| history.transactions().filter(|&t| history.outcome(t) == o).count();
        let reads = history.kinds().iter().filter(|k| **k == OperationKind::Read).count();
        let mut uses = vec![0usize; history.n_keys()];
        for key in history.keys() {
            uses[key.index()] += 1;
        }
        uses.sort_unstable_by(|a, b| b.cmp(a));
        let tenth = uses.len().div_ceil(10);
        let hot: usize = uses[..tenth].iter().sum();
        Statistics {
            sessions: history.n_sessions(),
            transactions: history.n_transactions(),
            committed: outcomes(Outcome::Committed),
            aborted: outcomes(Outcome::Aborted),
            unknown: outcomes(Outcome::Unknown),
            operations: history.n_operations(),
            reads,
            writes: history.n_operations() - reads,
            keys: history.n_keys(),
            longest_transaction: history.transactions().map(|t| history.operation_range(t).len()).max().unwrap_or(0),
            hottest_key_operations: uses.first().copied().unwrap_or(0),
            hot_tenth_share: if history.n_operations() == 0 { 0.0 } else { hot as f64 / history.n_operations() as f64 },
        }
    }
}
