//! Figures of a history as data for scripts: `stats --json`.

use super::{HistoryFacts, build::facts};
use crate::history::{History, Statistics};
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
}

impl StatisticsReport {
    /// The figures of `history` as data.
    pub fn new(history: &History, statistics: &Statistics) -> StatisticsReport {
        StatisticsReport {
            schema: STATISTICS_SCHEMA.to_owned(),
            history: facts(history),
            reads: statistics.reads,
            writes: statistics.writes,
            longest_transaction: statistics.longest_transaction,
            hottest_key_operations: statistics.hottest_key_operations,
            hot_tenth_share: statistics.hot_tenth_share,
        }
    }

    /// Writes it as one line of JSON, newline included.
    pub fn to_line(&self, out: &mut dyn io::Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self).map_err(io::Error::from)?;
        out.write_all(b"\n")
    }
}
