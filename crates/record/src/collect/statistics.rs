//! Statistics of a run while it runs.

use isoscope_model::history::Outcome;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The class of the slowest transactions: each class is twice as long as the one before, from a microsecond on.
const SLOWEST: usize = 39;

/// Counts of a run, written by its threads and readable at any moment.
#[derive(Debug, Default)]
pub struct Statistics {
    /// When the sessions were connected.
    begin: OnceLock<Instant>,
    /// How long it took, once it is over.
    length: OnceLock<Duration>,
    counts: Mutex<Counts>,
}

/// When a fault was there, since the run began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultTime {
    /// Its name.
    pub name: String,
    /// When it began.
    pub begin: Duration,
    /// When it was healed, if it is.
    pub end: Option<Duration>,
}

/// The counts at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// Committed transactions.
    pub committed: u64,
    /// Aborted transactions, counting each attempt.
    pub aborted: u64,
    /// Transactions of unknown outcome.
    pub unknown: u64,
    /// Answered operations.
    pub operations: u64,
    /// Sessions that ended early because they could not reconnect to the database.
    pub lost_sessions: u64,
    /// Barriers that were completed.
    pub barriers: u64,
    /// How long they took on average, from the first client that waited to the moment when all could go on.
    pub barrier_time: Duration,
    /// How often a client did not see a barrier.
    pub missed_barriers: u64,
    /// The last barrier that a client did not see.
    pub last_missed: u64,
    /// Since the run began.
    pub elapsed: Duration,
    /// Half of the transactions took at most this long, rounded up to a power of two of microseconds.
    pub median: Duration,
    /// 99 % of the transactions took at most this long, rounded likewise.
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

/// All counts at one moment, for differences between two moments.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    outcomes: [u64; 3],
    operations: u64,
    lost_sessions: u64,
    barriers: u64,
    at_barriers: u64,
    missed_barriers: u64,
    last_missed: u64,
    /// By class, up to the slowest that occurred.
    latencies: Vec<u64>,
    faults: Vec<FaultTime>,
    elapsed: Duration,
}

impl Counts {
    /// What happened after `earlier`, as if the run had begun then.
    pub fn since(&self, earlier: &Counts) -> Snapshot {
        let before = earlier
            .latencies
            .iter()
            .copied()
            .chain(std::iter::repeat(0));
        let latencies: Vec<u64> = self
            .latencies
            .iter()
            .zip(before)
            .map(|(now, n)| now.saturating_sub(n))
            .collect();
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
        let of = |outcome: Outcome| {
            let at = outcome as usize;
            self.outcomes[at].saturating_sub(earlier.outcomes[at])
        };
        let barriers = self.barriers.saturating_sub(earlier.barriers);
        let at_barriers = self.at_barriers.saturating_sub(earlier.at_barriers);
        Snapshot {
            committed: of(Outcome::Committed),
            aborted: of(Outcome::Aborted),
            unknown: of(Outcome::Unknown),
            operations: self.operations.saturating_sub(earlier.operations),
            lost_sessions: self.lost_sessions.saturating_sub(earlier.lost_sessions),
            barriers,
            barrier_time: Duration::from_micros(at_barriers.checked_div(barriers).unwrap_or(0)),
            missed_barriers: self.missed_barriers.saturating_sub(earlier.missed_barriers),
            last_missed: self.last_missed,
            elapsed: self.elapsed.saturating_sub(earlier.elapsed),
            median: quantile(0.5),
            slow: quantile(0.99),
        }
    }

    /// When they were read, since the run began.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }
}

impl Statistics {
    /// The clock runs from now on: all sessions are connected.
    pub(super) fn begin(&self) {
        self.begin.get_or_init(Instant::now);
    }

    /// The run is over, and its clock stops. All that happened.
    pub fn end(&self) -> Snapshot {
        self.length.get_or_init(|| self.running());
        self.snapshot()
    }

    fn elapsed(&self) -> Duration {
        self.length.get().copied().unwrap_or_else(|| self.running())
    }

    fn running(&self) -> Duration {
        self.begin.get().map_or(Duration::ZERO, Instant::elapsed)
    }

    fn locked(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count(&self, outcome: Outcome, operations: usize, took: Duration) {
        let class = (took.as_micros().max(1).ilog2() as usize + 1).min(SLOWEST);
        let mut counts = self.locked();
        counts.outcomes[outcome as usize] += 1;
        counts.operations += operations as u64;
        if class >= counts.latencies.len() {
            counts.latencies.resize(class + 1, 0);
        }
        counts.latencies[class] += 1;
    }

    pub(super) fn lose_session(&self) {
        self.locked().lost_sessions += 1;
    }

    /// A barrier was completed and took this long.
    pub(super) fn keep_barrier(&self, took: Duration) {
        let mut counts = self.locked();
        counts.barriers += 1;
        counts.at_barriers += took.as_micros() as u64;
    }

    /// A client did not see the barrier of this number.
    pub(super) fn miss_barrier(&self, number: u64) {
        let mut counts = self.locked();
        counts.missed_barriers += 1;
        counts.last_missed = counts.last_missed.max(number);
    }

    pub(super) fn begin_fault(&self, name: &str) {
        self.locked().faults.push(FaultTime {
            name: name.to_owned(),
            begin: self.elapsed(),
            end: None,
        });
    }

    /// The last fault is healed.
    pub(super) fn end_fault(&self) {
        if let Some(last) = self.locked().faults.last_mut() {
            last.end = Some(self.elapsed());
        }
    }

    /// The faults so far, in their order.
    pub fn faults(&self) -> Vec<FaultTime> {
        self.locked().faults.clone()
    }

    /// The counts now.
    pub fn counts(&self) -> Counts {
        let counts = self.locked().clone();
        Counts {
            elapsed: self.elapsed(),
            ..counts
        }
    }

    /// What has happened since the run began.
    pub fn snapshot(&self) -> Snapshot {
        self.counts().since(&Counts::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_between_two_moments_does_not_count_what_was_before() {
        let statistics = Statistics::default();
        (0..10).for_each(|_| statistics.count(Outcome::Committed, 2, Duration::from_millis(100)));
        let before = statistics.counts();
        statistics.count(Outcome::Committed, 3, Duration::from_micros(3));
        statistics.count(Outcome::Aborted, 1, Duration::from_micros(3));
        let between = statistics.counts().since(&before);
        assert_eq!(
            (between.committed, between.aborted, between.operations),
            (1, 1, 4)
        );
        assert_eq!(
            (between.median, between.slow),
            (Duration::from_micros(4), Duration::from_micros(4))
        );
        let all = statistics.snapshot();
        assert_eq!((all.committed, all.aborted), (11, 1));
        assert!(all.median > Duration::from_millis(99) && all.elapsed >= between.elapsed);
        statistics.begin();
        let over = statistics.end();
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(
            (statistics.end().elapsed, statistics.counts().elapsed()),
            (over.elapsed, over.elapsed)
        );
    }
}
