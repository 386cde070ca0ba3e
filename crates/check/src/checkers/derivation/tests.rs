//! Every proof passes the independent verifier; satisfied histories have none.

use super::*;
use crate::checkers::strong::decide;
use crate::checkers::{Findings, LevelSet, Pattern, Supposed, Violation, ViolationId};
use crate::report::{self, Report, Settings};
use isoscope_judge::verify;
use isoscope_model::history::TransactionId;
use isoscope_model::relations::{Reason, Relation};
use isoscope_testing as common;
use isoscope_testing::sound::{self, CASE_SPLIT_GRID, Shape};

const LEVELS: [Level; 3] = [
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializability,
];

/// No tree of cases is looked for.
const LOGS_ONLY: Limits = Limits {
    steps: u64::MAX,
    case_steps: 0,
    conflicts: usize::MAX,
    nodes: usize::MAX,
};

fn proof_of(text: &str, level: Level) -> Option<(Vec<Edge>, Proof)> {
    proof_within(&common::history(text), level, Limits::default())
}

fn proof_within(history: &History, level: Level, limits: Limits) -> Option<(Vec<Edge>, Proof)> {
    let index = common::index(history);
    let found = prove(history, &index, level, limits, &Control::new()).expect("no limit was set");
    if let Some((edges, proof)) = &found {
        let report = report_of(history, edges.clone(), proof.clone(), level);
        assert_eq!(
            is_accepted(history, &report),
            Ok(true),
            "{proof:?} of {history:?} at {level}"
        );
    }
    found
}

/// The proof as the only violation of a report.
fn report_of(history: &History, edges: Vec<Edge>, proof: Proof, level: Level) -> Report {
    let named = |edge: &Edge| match edge.because {
        Reason::Visible { reader, .. } | Reason::Listed { reader, .. } => {
            vec![edge.from, edge.to, reader]
        }
        Reason::Overwrites { writer, .. } => vec![edge.from, edge.to, writer],
        _ => vec![edge.from, edge.to],
    };
    let mut transactions: Vec<TransactionId> = edges.iter().flat_map(named).collect();
    transactions.sort_unstable();
    transactions.dedup();
    let violation = Violation {
        id: ViolationId {
            pattern: Pattern::SERCycle,
            ordinal: 1,
        },
        also: Vec::new(),
        levels: LevelSet::upward(level)
            .iter()
            .filter(|level| *level != Level::StrictSerializability)
            .collect(),
        key: None,
        transactions,
        operations: Vec::new(),
        edges,
        proof,
        implied: false,
        group: 1,
        place: None,
    };
    let findings = Findings {
        violations: vec![violation],
        ..Findings::default()
    };
    report::of_findings(history, &findings, Settings::default())
}

/// Whether the verifier accepts the only violation of a report.
fn is_accepted(history: &History, report: &Report) -> Result<bool, String> {
    match verify::verify(history, report) {
        Ok(verified) => Ok(verified.violations == 1),
        Err(problems) => Err(problems.iter().map(ToString::to_string).collect()),
    }
}

#[test]
fn the_case_split_grid_is_proved_by_a_split_at_every_level() {
    for level in LEVELS {
        let (edges, proof) = proof_of(CASE_SPLIT_GRID, level).expect("violated");
        let Proof::Cases { cases, .. } = &proof else {
            panic!("{proof:?}")
        };
        assert!(
            matches!(
                &cases[..],
                [
                    (Supposed::Order(_), Proof::Cycle(_)),
                    (Supposed::Order(_), Proof::Cycle(_))
                ]
            ),
            "{proof:?}"
        );
        assert!(edges.len() <= 24, "{} edges", edges.len());
    }
}

#[test]
fn both_sides_in_cycles_is_no_violation() {
    let text =
        "a: [w x 1]\nb: [w x 2]\nc: [w y 1]\nd: [w y 2]\ne: [r x 1, r y 2]\nf: [r x 2, r y 1]";
    assert!(LEVELS.iter().all(|&level| proof_of(text, level).is_none()));
}

#[test]
fn a_long_fork_is_a_cycle_of_four() {
    let text = "a: [w x 1]\nb: [w y 1]\nc: [r x 1, r y 0]\nd: [r y 1, r x 0]";
    for level in LEVELS {
        let (edges, proof) = proof_of(text, level).expect("violated");
        assert_eq!(edges.len(), 4);
        let relations: Vec<Relation> = edges.iter().map(|edge| edge.relation).collect();
        assert_eq!(
            relations
                .iter()
                .filter(|r| **r == Relation::AntiDependency)
                .count(),
            2
        );
        assert!(matches!(proof, Proof::Cycle(cycle) if cycle.len() == 4));
    }
}

#[test]
fn a_lost_update_breaks_snapshot_isolation_by_conflict() {
    let text = "a: [w x 1]\nb: [r x 1, w x 2]\nc: [r x 1, w x 3]";
    assert_eq!(proof_of(text, Level::PrefixConsistency), None);
    let (edges, proof) = proof_of(text, Level::SnapshotIsolation).expect("violated");
    assert!(
        edges
            .iter()
            .any(|edge| matches!(edge.because, Reason::Conflict { .. }))
    );
    assert!(matches!(proof, Proof::Cycle(cycle) if cycle.len() == 2));
    let (_, proof) = proof_of(text, Level::Serializability).expect("violated");
    assert!(matches!(proof, Proof::Cycle(cycle) if cycle.len() == 2));
}

#[test]
fn write_skew_breaks_serializability_only() {
    let text = "a: [r x 0, w y 1]\nb: [r y 0, w x 1]";
    assert_eq!(proof_of(text, Level::SnapshotIsolation), None);
    let (edges, _) = proof_of(text, Level::Serializability).expect("violated");
    assert_eq!(edges.len(), 2);
    assert!(edges.iter().all(|edge| matches!(
        &edge.because,
        Reason::Overwrites { writer: TransactionId::INITIAL, order } if order.is_empty()
    )));
}

#[test]
fn proofs_exist_exactly_for_violated_levels_of_random_histories() {
    let mut random = fastrand::Rng::with_seed(21);
    let mut violated = 0;
    for _ in 0..6000 {
        let sketch = sound::few(&mut random);
        let history = sketch.history();
        let index = common::index(&history);
        for level in LEVELS {
            let decision = decide(&index, level, &Control::new()).expect("no limit was set");
            let proof = proof_within(&history, level, Limits::default());
            let is_violated = decision.is_violated();
            assert_eq!(proof.is_some(), is_violated, "{sketch} at {level}");
            violated += usize::from(is_violated);
        }
    }
    assert!(violated > 2000, "{violated}");
}

#[test]
fn the_case_split_grid_is_proved_by_a_log_where_no_tree_is_looked_for() {
    let grid = common::history(CASE_SPLIT_GRID);
    for level in LEVELS {
        let (edges, proof) = proof_within(&grid, level, LOGS_ONLY).expect("violated");
        let Some(lemmas) = proof.cycles_of_orders() else {
            panic!("{proof:?}")
        };
        assert!((2..6).contains(&lemmas.len()), "{lemmas:?}");
        assert!(edges.len() <= 30, "{} edges", edges.len());
    }
}

#[test]
fn logs_exist_exactly_for_violated_levels_of_random_histories() {
    let mut random = fastrand::Rng::with_seed(22);
    let mut logs = 0;
    for round in 0..4000 {
        let shape = Shape {
            transactions: 4 + round % 8,
            sessions: 12,
            operations: 4,
            keys: 3,
            write_percent: 50,
        };
        let sketch = sound::backwards(shape, &mut random);
        let history = sketch.history();
        let index = common::index(&history);
        for level in LEVELS {
            let decision = decide(&index, level, &Control::new()).expect("no limit was set");
            let proof = proof_within(
                &history,
                level,
                Limits {
                    steps: 0,
                    ..LOGS_ONLY
                },
            );
            assert_eq!(
                proof.is_some(),
                decision.is_violated(),
                "{sketch} at {level}"
            );
            logs += usize::from(proof.is_some_and(|(_, proof)| proof.is_log_of_orders()));
        }
    }
    assert!(logs > 300, "{logs}");
}

#[test]
fn a_log_that_would_take_too_many_turns_is_given_up() {
    let limits = Limits {
        conflicts: 0,
        ..LOGS_ONLY
    };
    let grid = common::history(CASE_SPLIT_GRID);
    assert_eq!(proof_within(&grid, Level::Serializability, limits), None);
}
