//! Findings about a history's health as data.

use super::{HealthEntry, build::Places};
use crate::health::{Finding, Health, Severity};
use isoscope_model::history::History;

/// Maximum number of transactions, and of operations, that a finding that casts no doubt on verdicts names here.
const LISTED_IN_NOTES: usize = 10;

/// The findings as data, in their order.
pub(super) fn entries(history: &History, health: &Health) -> Vec<HealthEntry> {
    health
        .findings
        .iter()
        .map(|finding| entry(history, finding))
        .collect()
}

fn entry(history: &History, finding: &Finding) -> HealthEntry {
    let listed = if finding.severity == Severity::Note {
        LISTED_IN_NOTES
    } else {
        usize::MAX
    };
    let transactions = match finding.operations.is_empty() {
        true => finding.transactions.iter().copied().take(listed).collect(),
        // The operations include their transactions.
        false => Vec::new(),
    };
    let mut places = Places::new(history, transactions);
    let operations = finding
        .operations
        .iter()
        .take(listed)
        .map(|&o| places.operation_entry(o))
        .collect();
    HealthEntry {
        kind: finding.kind.word().to_owned(),
        severity: finding.severity.word().to_owned(),
        text: finding.text.clone(),
        count: finding.count,
        transactions: places.entries(),
        operations,
        flag: finding.remedy.as_ref().map(|remedy| remedy.flag()),
    }
}
