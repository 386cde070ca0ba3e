//! Figures of a history as data for scripts: `stats --json`.

use super::{HealthEntry, HistoryFacts, build::facts, health};
use crate::health::Health;
use isoscope_model::history::{History, Statistics};
use isoscope_model::relations::{Breadth, ComponentSize};
use serde::Serialize;
use std::io;

/// Name of this form of report.
pub const STATISTICS_SCHEMA: &str = "isoscope.statistics/1";

/// The figures of one history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatisticsReport<'a> {
    /// [`STATISTICS_SCHEMA`].
    pub schema: &'static str,
    /// As in the report of a check.
    pub history: HistoryFacts,
    /// What was counted.
    #[serde(flatten)]
    pub statistics: &'a Statistics,
    /// Operations of the longest transaction.
    pub longest_transaction: usize,
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

/// How much of the version order can be inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct VersionOrderEntry {
    /// Pairs of neighbouring versions whose order is known.
    pub known: u64,
    /// All pairs.
    pub pairs: u64,
}

impl StatisticsReport<'_> {
    /// The figures of `history` as data.
    pub fn new<'a>(
        history: &History,
        statistics: &'a Statistics,
        breadth: &Breadth,
        health: &Health,
    ) -> StatisticsReport<'a> {
        let component = |size: &ComponentSize| ComponentEntry {
            sessions: size.sessions,
            transactions: size.transactions,
        };
        StatisticsReport {
            schema: STATISTICS_SCHEMA,
            history: facts(history),
            statistics,
            longest_transaction: statistics.operations_of_transaction.max,
            version_order: VersionOrderEntry {
                known: health.version_order.known,
                pairs: health.version_order.pairs,
            },
            width: breadth.width,
            components: breadth.components.iter().map(component).collect(),
            health: health::entries(history, health),
        }
    }

    /// Writes it as one line of JSON, newline included.
    pub fn to_line(&self, out: &mut dyn io::Write) -> io::Result<()> {
        super::write_line(self, out)
    }
}
