//! PolySI on small histories.

use super::*;
use isoscope_check::checkers::strong;
use isoscope_testing as common;
use isoscope_testing::sound::{self, CASE_SPLIT_GRID, Shape};

fn agrees(index: &Index, control: &Control) -> [bool; 2] {
    [Level::SnapshotIsolation, Level::Serializability].map(|level| {
        let violated = strong::decide(index, level, control).unwrap().is_violated();
        for (prune, compact) in [(true, true), (false, true), (false, false)] {
            let (found, sizes) = check(index, level, Variant { prune, compact }, control).unwrap();
            match &found {
                PolySiAnswer::Violated(cycle) => {
                    assert!(violated && cycle.len() > 1, "{level}: {found:?}")
                }
                PolySiAnswer::Satisfied(_) => assert!(!violated, "{level}: {found:?}"),
            }
            let (constraints, edges) = sizes.before;
            assert!(
                if compact {
                    edges >= 2 * constraints
                } else {
                    edges == 2 * constraints
                },
                "{sizes}"
            );
            assert!(
                sizes.after.is_none_or(|after| after <= sizes.before),
                "{sizes}"
            );
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
        let index = common::index(&sound::few(&mut random).history());
        for (n, one) in violated.iter_mut().zip(agrees(&index, &control)) {
            *n += usize::from(one);
        }
    }
    assert!(
        violated.iter().all(|n| (200..1300).contains(n)),
        "{violated:?}"
    );
}

/// Nothing can be pruned: the solver must rule out every choice.
#[test]
fn both_orders_of_a_pair_are_ruled_out_by_the_solver() {
    let index = common::index(&common::history(CASE_SPLIT_GRID));
    let control = Control::new();
    let mut polygraph = Polygraph::new(&index, true, &control).unwrap();
    assert_eq!(prune::to_fixpoint(&mut polygraph, &control), Ok(None));
    assert!(!polygraph.constraints.is_empty());
    assert_eq!(agrees(&index, &control), [true, true]);
}

#[test]
fn serial_histories_are_satisfied() {
    let control = Control::new();
    let shape = Shape {
        transactions: 150,
        sessions: 6,
        operations: 5,
        keys: 15,
        write_percent: 50,
    };
    for seed in 0..5 {
        let index =
            common::index(&sound::serial(shape, &mut fastrand::Rng::with_seed(seed)).history());
        assert_eq!(agrees(&index, &control), [false, false]);
    }
}

/// Line 26 of the algorithm, whose reachability must be reflexive.
#[test]
fn an_anti_dependency_back_to_the_writer_that_was_read_from_is_pruned() {
    // t1 writes x and y; t2, elsewhere, reads y from t1 and x from t0, which wrote x too: t0 before t1 is impossible.
    let index = common::index(&common::history(
        "a: [w x 1]\nb: [w x 2, w y 1]\nc: [r y 1, r x 1]",
    ));
    let control = Control::new();
    let mut polygraph = Polygraph::new(&index, true, &control).unwrap();
    assert_eq!(polygraph.constraints.len(), 1);
    assert_eq!(prune::to_fixpoint(&mut polygraph, &control), Ok(None));
    assert!(polygraph.constraints.is_empty());
    assert!(
        polygraph.dependencies.contains(&(1, 0)),
        "{:?}",
        polygraph.dependencies
    );
}
