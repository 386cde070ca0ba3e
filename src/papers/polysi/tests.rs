//! PolySI on samples that name the writers of reads.

use super::*;
use crate::checkers::strong::sample::{Sample, Shape, random_text};
use crate::checkers::strong::{self, StrongDecision};
use crate::relations::resolve;
use crate::relations::testing::history;

fn agrees(index: &Index, control: &Control) -> [bool; 2] {
    [Level::SnapshotIsolation, Level::Serializability].map(|level| {
        let expected = strong::decide(index, level, control).unwrap();
        let violated = matches!(expected, StrongDecision::Violated { .. });
        for (prune, compact) in [(true, true), (false, true), (false, false)] {
            let (found, sizes) = check(index, level, Variant { prune, compact }, control).unwrap();
            match &found {
                Found::Violated(cycle) => assert!(violated && cycle.len() > 1, "{level}: {found:?}"),
                Found::Satisfied(_) => assert!(!violated, "{level}: {found:?}"),
            }
            let (constraints, edges) = sizes.before;
            assert!(if compact { edges >= 2 * constraints } else { edges == 2 * constraints }, "{sizes}");
            assert!(sizes.after.is_none_or(|after| after <= sizes.before), "{sizes}");
        }
        violated
    })
}

#[test]
fn polysi_says_what_the_fast_engine_says() {
    let control = Control::new();
    let mut random = fastrand::Rng::with_seed(9);
    let mut violated = [0; 2];
    for _ in 0..1500 {
        let history = history(&random_text(&mut random));
        let index = Index::build(&history, &resolve(&history, &control).unwrap(), &control).unwrap();
        for (n, one) in violated.iter_mut().zip(agrees(&index, &control)) {
            *n += usize::from(one);
        }
    }
    assert!(violated.iter().all(|n| (200..1300).contains(n)), "{violated:?}");
}

/// Nothing can be pruned: the solver must rule out every choice.
#[test]
fn both_orders_of_a_pair_are_ruled_out_by_the_solver() {
    let index = Sample::case_split_grid().index();
    let control = Control::new();
    let mut polygraph = Polygraph::new(&index, true, &control).unwrap();
    assert_eq!(prune::to_fixpoint(&mut polygraph, &control), Ok(None));
    assert!(!polygraph.constraints.is_empty());
    assert_eq!(agrees(&index, &control), [true, true]);
}

#[test]
fn serial_histories_are_satisfied() {
    let control = Control::new();
    let shape = Shape { transactions: 150, sessions: 6, operations: 5, keys: 15, write_percent: 50 };
    for seed in 0..5 {
        let index = Sample::serial(&mut fastrand::Rng::with_seed(seed), shape).index();
        assert_eq!(agrees(&index, &control), [false, false]);
    }
}

/// Line 26 of the algorithm, whose reachability must be reflexive.
#[test]
fn an_anti_dependency_back_to_the_writer_that_was_read_from_is_pruned() {
    // t1 writes x and y; t2, elsewhere, reads y from t1 and x from t0, which wrote x too: t0 before t1 is impossible.
    let history = history("w(1,1,0,0) w(1,2,1,1) w(2,1,1,1) r(2,1,2,2) r(1,1,2,2)");
    let control = Control::new();
    let index = Index::build(&history, &resolve(&history, &control).unwrap(), &control).unwrap();
    let mut polygraph = Polygraph::new(&index, true, &control).unwrap();
    assert_eq!(polygraph.constraints.len(), 1);
    assert_eq!(prune::to_fixpoint(&mut polygraph, &control), Ok(None));
    assert!(polygraph.constraints.is_empty());
    assert!(polygraph.dependencies.contains(&(1, 0)), "{:?}", polygraph.dependencies);
}
