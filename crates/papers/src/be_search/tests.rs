//! The search on small histories.

use super::*;
use isoscope_check::checkers::strong;
use isoscope_testing::sound::{self, CASE_SPLIT_GRID, Shape};
use isoscope_testing::{history, index};

const LEVELS: [Level; 3] = [
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializability,
];

/// By level: whether it is violated.
fn agrees(index: &Index) -> [bool; 3] {
    let control = Control::new();
    LEVELS.map(|level| {
        let found = check(index, level, &control).unwrap();
        let violated = strong::decide(index, level, &control)
            .unwrap()
            .is_violated();
        assert_eq!(found.is_none(), violated, "{level}: {found:?}");
        let n = match found {
            Some(Order::Commits(nodes)) => nodes.len(),
            Some(Order::Events(events)) => events.len() / 2,
            None => index.n_nodes(),
        };
        assert_eq!(n, index.n_nodes());
        violated
    })
}

#[test]
fn the_search_says_what_the_fast_engine_says() {
    let mut random = fastrand::Rng::with_seed(9);
    let mut violated = [0; 3];
    for _ in 0..1500 {
        let index = index(&sound::few(&mut random).history());
        for (n, one) in violated.iter_mut().zip(agrees(&index)) {
            *n += usize::from(one);
        }
    }
    assert!(
        violated.iter().all(|n| (150..1300).contains(n)),
        "{violated:?}"
    );
    assert_eq!(agrees(&index(&history(CASE_SPLIT_GRID))), [true; 3]);
}

#[test]
fn serial_histories_are_satisfied() {
    let shape = Shape {
        transactions: 60,
        sessions: 3,
        operations: 4,
        keys: 10,
        write_percent: 50,
    };
    for seed in 0..5 {
        assert_eq!(
            agrees(&index(
                &sound::serial(shape, &mut fastrand::Rng::with_seed(seed)).history()
            )),
            [false; 3]
        );
    }
}

/// Many sessions that communicate two by two: without components there would be far too many prefixes.
#[test]
fn components_are_searched_one_by_one() {
    let pair = |n: u64| {
        let chain = |kind: &str| {
            (1..9)
                .map(|value| format!(" [{kind} {n} {value}]"))
                .collect::<String>()
        };
        format!("{}:{}\n{}:{}\n", 2 * n, chain("w"), 2 * n + 1, chain("r"))
    };
    let satisfied: String = (0..30).map(pair).collect();
    assert_eq!(agrees(&index(&history(&satisfied))), [false; 3]);
    // The last pair reads backwards.
    let violated = satisfied + "59: [r 29 1]";
    assert_eq!(agrees(&index(&history(&violated))), [true; 3]);
}
