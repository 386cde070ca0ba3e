//! What can be known of a run while it runs.

use crate::history::Outcome;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Classes of latency, each twice as long as the one before, from a microsecond on.
const CLASSES: usize = 40;

/// Counts of a run, written by its threads and readable at any moment.
#[derive(Debug)]
pub struct Statistics {
    begin: Instant,
    outcomes: [AtomicU64; 3],
    operations: AtomicU64,
    lost_sessions: AtomicU64,
    latencies: [AtomicU64; CLASSES],
}

/// The counts at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// Transactions that committed.
    pub committed: u64,
    /// Transactions that did not, each attempt counted.
    pub aborted: u64,
    /// Transactions of unknown outcome.
    pub unknown: u64,
    /// Operations that were answered.
    pub operations: u64,
    /// Sessions that ended early because the database could not be reached again.
    pub lost_sessions: u64,
    /// Since the run began.
    pub elapsed: Duration,
    /// Half of the transactions took at most this long, rounded up to a power of two of microseconds.
    pub median: Duration,
    /// All but a hundredth of the transactions took at most this long, rounded likewise.
    pub slow: Duration,
}

impl Snapshot {
    /// Committed transactions per second.
    pub fn throughput(&self) -> f64 {
        self.committed as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// Share of the attempts that aborted, 0 to 1.
    pub fn abort_rate(&self) -> f64 {
        self.aborted as f64 / (self.committed + self.aborted + self.unknown).max(1) as f64
    }
}

impl Default for Statistics {
    fn default() -> Statistics {
        Statistics {
            begin: Instant::now(),
            outcomes: Default::default(),
            operations: AtomicU64::new(0),
            lost_sessions: AtomicU64::new(0),
            latencies: [const { AtomicU64::new(0) }; CLASSES],
        }
    }
}

impl Statistics {
    /// Nothing has happened yet; the clock runs.
    pub fn new() -> Statistics {
        Statistics::default()
    }

    pub(super) fn count(&self, outcome: Outcome, operations: usize, took: Duration) {
        self.outcomes[outcome as usize].fetch_add(1, Relaxed);
        self.operations.fetch_add(operations as u64, Relaxed);
        let class = (took.as_micros().max(1).ilog2() as usize + 1).min(CLASSES - 1);
        self.latencies[class].fetch_add(1, Relaxed);
    }

    pub(super) fn lose_session(&self) {
        self.lost_sessions.fetch_add(1, Relaxed);
    }

    /// The counts now.
    pub fn snapshot(&self) -> Snapshot {
        let latencies: Vec<u64> = self.latencies.iter().map(|class| class.load(Relaxed)).collect();
        let all: u64 = latencies.iter().sum();
        let quantile = |share: f64| {
            let wanted = (all as f64 * share).ceil() as u64;
            let mut sum = 0;
            let class = latencies.iter().position(|n| {
                sum += n;
                sum >= wanted.max(1)
            });
            Duration::from_micros(class.map_or(0, |class| 1 << class))
        };
        Snapshot {
            committed: self.outcomes[Outcome::Committed as usize].load(Relaxed),
            aborted: self.outcomes[Outcome::Aborted as usize].load(Relaxed),
            unknown: self.outcomes[Outcome::Unknown as usize].load(Relaxed),
            operations: self.operations.load(Relaxed),
            lost_sessions: self.lost_sessions.load(Relaxed),
            elapsed: self.begin.elapsed(),
            median: quantile(0.5),
            slow: quantile(0.99),
        }
    }
}
