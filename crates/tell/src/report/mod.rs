//! The JSON report with what is said about each violation in words: its claim, the steps of its argument, the reason of
//! each edge.

mod claim;

pub use isoscope_check::report::*;

use crate::counterexample::{components, edge_reason, simpler_ones};
use isoscope_check::checkers::{Findings, Level, Violation};
use isoscope_check::report;
use isoscope_model::history::{History, TransactionId};

/// The report on the findings in `history`. O(transactions + size of the findings, witnesses if requested).
pub fn of_findings(history: &History, findings: &Findings, settings: Settings) -> Report {
    Report {
        violations: violation_entries(history, findings),
        ..report::of_findings(history, findings, settings)
    }
}

fn violation_entries(history: &History, findings: &Findings) -> Vec<ViolationEntry> {
    let violations = &findings.violations;
    let entry = |one| violation(history, findings, one).0;
    let mut entries: Vec<ViolationEntry> = violations.iter().map(entry).collect();
    let all = components(history, violations);
    for (component, number) in all.into_iter().zip(1..) {
        let members = component.members.into_iter();
        members.for_each(|place| entries[place].component = number);
    }
    let simpler = simpler_ones(history, violations).into_iter();
    for (entry, simpler) in entries.iter_mut().zip(simpler) {
        entry.contains = simpler.map(|simpler| violations[simpler].id.to_string());
    }
    entries
}

/// The entry of one instance, without its component, and the transactions that it names by place.
pub fn violation(
    history: &History,
    findings: &Findings,
    violation: &Violation,
) -> (ViolationEntry, Vec<TransactionId>) {
    // What the argument is about.
    let level = violation.level().unwrap_or(Level::Serializability);
    let (entry, mut places) = report::scenario(history, findings, violation);
    let (claim, statements) = claim::argument(history, violation, level, &mut places);
    let why = |(index, edge)| EdgeEntry {
        why: edge_reason(history, &violation.edges, index, level).into(),
        ..edge
    };
    let entry = ViolationEntry {
        claim: Some(claim),
        transactions: places.entries(),
        edges: entry.edges.into_iter().enumerate().map(why).collect(),
        statements,
        ..entry
    };
    (entry, places.transactions().to_vec())
}
