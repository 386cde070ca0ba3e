//! Converts the checkers' evidence to the verifier's input.

use crate::report;
use isoscope_check::checkers::{Event, Findings, LevelResult, Violation, Witness};
use isoscope_judge::verify::{Flaw, Sources, Stated, Step, Verifier, Witness as Order};
use isoscope_model::history::{History, OperationId, OperationKind, TransactionId};
use isoscope_model::relations::{Reason, Resolution};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Has the verifier check the witness of a satisfied level.
pub(super) fn verified(
    resolution: &Resolution,
    verifier: &Verifier<'_>,
    result: &LevelResult,
    witness: &Witness,
) -> Result<(), Flaw> {
    let named: FxHashMap<OperationId, TransactionId> = result.sources.iter().copied().collect();
    let others = |reader, read| resolution.source_in(reader, read).writer();
    let sources = Sources {
        named: &named,
        others: &others,
    };
    let level = result.level;
    match witness {
        Witness::Reads => verifier.cut_isolation(level),
        _ if !verifier.can_replay() => Ok(()),
        Witness::CommitOrder(order) => verifier.witness(level, Order::Commits(order), sources),
        Witness::Events(events) => verifier.witness(level, Order::Steps(&steps(events)), sources),
    }
}

fn steps(events: &[Event]) -> Vec<Step> {
    let step = |event: &Event| match *event {
        Event::Start(t) => Step::Start(t),
        Event::Commit(t) => Step::Commit(t),
    };
    events.iter().map(step).collect()
}

/// A violation as a report states it, with the reads that it rests on.
pub(super) fn stated(
    history: &History,
    findings: &Findings,
    violation: &Violation,
) -> Stated<'static> {
    let (entry, transactions) = report::violation(history, findings, violation);
    let of_edges = violation.edges.iter().flat_map(|edge| {
        let premise = match edge.because {
            Reason::Visible { read, .. } | Reason::Listed { read, .. } => Some(read),
            _ => None,
        };
        [edge.from_operation, edge.to_operation, premise]
            .into_iter()
            .flatten()
    });
    let all = violation
        .operations
        .iter()
        .copied()
        .chain(of_edges)
        .chain(violation.proof.reads());
    let reads = all
        .filter(|&o| history.operation(o).kind == OperationKind::Read)
        .collect();
    Stated {
        entry: Cow::Owned(entry),
        transactions,
        reads,
    }
}
