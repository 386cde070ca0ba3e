//! Every proof is followed by an independent reading of the rules; satisfied histories have none.

use super::*;
use crate::checkers::strong::sample::{Sample, Shape};
use crate::checkers::strong::{StrongDecision, decide};
use crate::history::TransactionId;
use crate::relations::testing::history;
use crate::relations::{Reason, Relation, resolve};

const LEVELS: [Level; 3] = [Level::PrefixConsistency, Level::SnapshotIsolation, Level::Serializability];

const CASE_SPLIT_GRID: &str = "w(2,1,0,0) w(3,1,0,0) r(1,1,0,1) r(6,1,0,1) w(2,2,1,2) w(6,1,1,2) r(1,2,1,3) r(3,1,1,3) \
    w(1,1,2,4) w(4,1,2,4) r(2,1,2,5) r(5,1,2,5) w(1,2,3,6) w(5,1,3,6) r(2,2,3,7) r(4,1,3,7)";

fn index_of(history: &History) -> Index {
    let control = Control::new();
    let resolution = resolve(history, &control).expect("no limit was set");
    Index::build(history, &resolution, &control).expect("no limit was set")
}

/// No tree of cases is looked for.
const LOGS_ONLY: Limits = Limits { steps: u64::MAX, case_steps: 0, conflicts: usize::MAX, nodes: usize::MAX };

fn proof_of(text: &str, level: Level) -> Option<(Vec<Edge>, Proof)> {
    proof_within(text, level, Limits::default())
}

fn proof_within(text: &str, level: Level, limits: Limits) -> Option<(Vec<Edge>, Proof)> {
    let history = history(text);
    let found = prove(&history, &index_of(&history), level, limits, &Control::new()).expect("no limit was set");
    if let Some((edges, proof)) = &found {
        crate::checkers::proof_rules::assert_proof(&history, edges, proof, level);
    }
    found
}

#[test]
fn the_case_split_grid_is_proved_by_a_split_at_every_level() {
    for level in LEVELS {
        let (edges, proof) = proof_of(CASE_SPLIT_GRID, level).expect("violated");
        let Proof::Split { first, second, .. } = proof else { panic!("{proof:?}") };
        assert!(matches!((*first.1, *second.1), (Proof::Cycle(_), Proof::Cycle(_))));
        assert!(edges.len() <= 24, "{} edges", edges.len());
    }
}

#[test]
fn both_sides_in_cycles_is_no_violation() {
    let text = "w(1,1,0,0) w(1,2,1,1) w(2,1,2,2) w(2,2,3,3) r(1,1,4,4) r(2,2,4,4) r(1,2,5,5) r(2,1,5,5)";
    assert!(LEVELS.iter().all(|&level| proof_of(text, level).is_none()));
}

#[test]
fn a_long_fork_is_a_cycle_of_four() {
    let text = "w(1,1,0,0) w(2,1,1,1) r(1,1,2,2) r(2,0,2,2) r(2,1,3,3) r(1,0,3,3)";
    for level in LEVELS {
        let (edges, proof) = proof_of(text, level).expect("violated");
        assert_eq!(edges.len(), 4);
        let relations: Vec<Relation> = edges.iter().map(|edge| edge.relation).collect();
        assert_eq!(relations.iter().filter(|r| **r == Relation::AntiDependency).count(), 2);
        assert!(matches!(proof, Proof::Cycle(cycle) if cycle.len() == 4));
    }
}

#[test]
fn a_lost_update_breaks_snapshot_isolation_by_conflict() {
    let text = "w(1,1,0,0) r(1,1,1,1) w(1,2,1,1) r(1,1,2,2) w(1,3,2,2)";
    assert_eq!(proof_of(text, Level::PrefixConsistency), None);
    let (edges, proof) = proof_of(text, Level::SnapshotIsolation).expect("violated");
    assert!(edges.iter().any(|edge| matches!(edge.because, Reason::Conflict { .. })));
    assert!(matches!(proof, Proof::Cycle(cycle) if cycle.len() == 2));
    let (_, proof) = proof_of(text, Level::Serializability).expect("violated");
    assert!(matches!(proof, Proof::Cycle(cycle) if cycle.len() == 2));
}

#[test]
fn write_skew_breaks_serializability_only() {
    let text = "r(1,0,0,0) w(2,1,0,0) r(2,0,1,1) w(1,1,1,1)";
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
        let text = crate::checkers::strong::sample::random_text(&mut random);
        let history = history(&text);
        let index = index_of(&history);
        for level in LEVELS {
            let decision = decide(&index, level, &Control::new()).expect("no limit was set");
            let proof = proof_of(&text, level);
            let is_violated = matches!(decision, StrongDecision::Violated { .. });
            assert_eq!(proof.is_some(), is_violated, "{text} at {level}");
            violated += usize::from(is_violated);
        }
    }
    assert!(violated > 2000, "{violated}");
}

#[test]
fn the_case_split_grid_is_proved_by_a_log_where_no_tree_is_looked_for() {
    for level in LEVELS {
        let (edges, proof) = proof_within(CASE_SPLIT_GRID, level, LOGS_ONLY).expect("violated");
        let Proof::Clauses { lemmas, .. } = proof else { panic!("{proof:?}") };
        assert!((2..6).contains(&lemmas.len()), "{lemmas:?}");
        assert!(edges.len() <= 30, "{} edges", edges.len());
    }
}

#[test]
fn logs_exist_exactly_for_violated_levels_of_random_histories() {
    let mut random = fastrand::Rng::with_seed(22);
    let mut logs = 0;
    for round in 0..4000 {
        let shape = Shape { transactions: 4 + round % 8, sessions: 12, operations: 4, keys: 3, write_percent: 50 };
        let text = Sample::random(&mut random, shape).text();
        let index = index_of(&history(&text));
        for level in LEVELS {
            let decision = decide(&index, level, &Control::new()).expect("no limit was set");
            let proof = proof_within(&text, level, Limits { steps: 0, ..LOGS_ONLY });
            assert_eq!(proof.is_some(), matches!(decision, StrongDecision::Violated { .. }), "{text} at {level}");
            logs += usize::from(matches!(proof, Some((_, Proof::Clauses { .. }))));
        }
    }
    assert!(logs > 300, "{logs}");
}

#[test]
fn a_log_that_would_take_too_many_turns_is_given_up() {
    let limits = Limits { conflicts: 0, ..LOGS_ONLY };
    assert_eq!(proof_within(CASE_SPLIT_GRID, Level::Serializability, limits), None);
}
