//! Figures of a history as data for scripts: `stats --json`.

use super::{HealthEntry, HistoryFacts, build::facts, health};
use crate::health::Health;
use crate::history::{History, Spread, Statistics};
use crate::relations::{Breadth, ComponentSize};
use serde::Serialize;
use std::io;

/// Name of this form of report.
pub const STATISTICS_SCHEMA: &str = "isoscope.statistics/1";

/// The figures of one history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatisticsReport {
    /// [`STATISTICS_SCHEMA`].
    pub schema: String,
    /// As in the report of a check.
    pub history: HistoryFacts,
    /// Number of reads.
    pub reads: usize,
    /// Number of writes.
    pub writes: usize,
    /// Operations of the longest transaction.
    pub longest_transaction: usize,
    /// Operations on the most used key.
    pub hottest_key_operations: usize,
    /// Share of all operations on the most used tenth of the keys.
    pub hot_tenth_share: f64,
    /// Estimated exponent of a Zipf distribution over keys.
    pub zipf_exponent: Option<f64>,
    /// Transactions per session.
    pub transactions_of_session: SpreadEntry,
    /// Operations per transaction.
    pub operations_of_transaction: SpreadEntry,
    /// Transactions by composition.
    pub shapes: ShapesEntry,
    /// Pairs of transactions of different sessions that write a common key, once for each such key.
    pub write_conflicts: u64,
    /// Those of them that ran concurrently, where there are times.
    pub concurrent_write_conflicts: Option<u64>,
    /// Distinct pairs of key and value that were written.
    pub distinct_values: usize,
    /// Those of them that several transactions wrote.
    pub repeated_values: usize,
    /// Figures about lists.
    pub lists: ListsEntry,
    /// Figures about times, where there are any.
    pub times: Option<TimesEntry>,
    /// How much of the version order can be inferred.
    pub version_order: VersionOrderEntry,
    /// Sessions with committed transactions: the width of the history (Biswas & Enea 2019, Corollary 4.3).
    pub width: usize,
    /// The biconnected components of sessions that share keys (their section 5), the largest first.
    pub components: Vec<ComponentEntry>,
    /// Whether the history can be trusted.
    pub health: Vec<HealthEntry>,
}

/// A component of sessions that share keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ComponentEntry {
    /// Its sessions.
    pub sessions: usize,
    /// Their committed transactions.
    pub transactions: usize,
}

/// Minimum, mean and maximum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SpreadEntry {
    /// The minimum.
    pub min: usize,
    /// The mean.
    pub mean: f64,
    /// The maximum.
    pub max: usize,
}

impl From<Spread> for SpreadEntry {
    fn from(spread: Spread) -> SpreadEntry {
        SpreadEntry { min: spread.min, mean: spread.mean, max: spread.max }
    }
}

/// Transactions by composition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ShapesEntry {
    /// Nothing.
    pub empty: usize,
    /// Reads.
    pub read_only: usize,
    /// Writes.
    pub write_only: usize,
    /// Both, every key read before it is written.
    pub read_modify_write: usize,
    /// Both, some key written without having been read.
    pub mixed: usize,
}

/// Figures about lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ListsEntry {
    /// Keys that hold lists.
    pub keys: usize,
    /// Reads that returned one.
    pub reads: usize,
    /// Elements of the longest.
    pub longest: usize,
}

/// Figures about times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TimesEntry {
    /// Transactions that have them.
    pub transactions: usize,
    /// The first start.
    pub from: i64,
    /// The last end.
    pub to: i64,
}

/// How much of the version order can be inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct VersionOrderEntry {
    /// Pairs of neighbouring versions whose order is known.
    pub known: u64,
    /// All pairs.
    pub pairs: u64,
}

impl StatisticsReport {
    /// The figures of `history` as data.
    pub fn new(history: &History, statistics: &Statistics, breadth: &Breadth, health: &Health) -> StatisticsReport {
        let s = statistics;
        let component =
            |size: &ComponentSize| ComponentEntry { sessions: size.sessions, transactions: size.transactions };
        StatisticsReport {
            schema: STATISTICS_SCHEMA.to_owned(),
            history: facts(history),
            reads: s.reads,
            writes: s.writes,
            longest_transaction: s.operations_of_transaction.max,
            hottest_key_operations: s.hottest_key_operations,
            hot_tenth_share: s.hot_tenth_share,
            zipf_exponent: s.zipf_exponent,
            transactions_of_session: s.transactions_of_session.into(),
            operations_of_transaction: s.operations_of_transaction.into(),
            shapes: ShapesEntry {
                empty: s.shapes.empty,
                read_only: s.shapes.read_only,
                write_only: s.shapes.write_only,
                read_modify_write: s.shapes.read_modify_write,
                mixed: s.shapes.mixed,
            },
            write_conflicts: s.write_conflicts,
            concurrent_write_conflicts: s.concurrent_write_conflicts,
            distinct_values: s.distinct_values,
            repeated_values: s.repeated_values,
            lists: ListsEntry { keys: s.list_keys, reads: s.list_reads, longest: s.longest_list },
            times: s.span.map(|span| TimesEntry { transactions: s.timed_transactions, from: span.start, to: span.end }),
            version_order: VersionOrderEntry { known: health.version_order.known, pairs: health.version_order.pairs },
            width: breadth.width,
            components: breadth.components.iter().map(component).collect(),
            health: health::entries(history, health),
        }
    }

    /// Writes it as one line of JSON, newline included.
    pub fn to_line(&self, out: &mut dyn io::Write) -> io::Result<()> {
        super::json::write_line(self, out)
    }
}
