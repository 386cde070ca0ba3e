//! Everything recorded follows, by an independent implementation of propagation.

use super::*;
use crate::sat::{Answer, Vertex, solve};

/// Numbers of vertices and choices for which about half of all problems have a solution.
const HARD: (u32, usize) = (20, 65);

/// What follows from a set of taken sides and lists of sides that exclude each other; `None` if a contradiction does.
fn propagated(mut taken: Vec<Side>, forbidden: &[Vec<Side>]) -> Option<Vec<Side>> {
    let other = |side: Side| Side {
        first: !side.first,
        ..side
    };
    loop {
        let mut new = None;
        for list in forbidden {
            let open: Vec<Side> = list
                .iter()
                .copied()
                .filter(|side| !taken.contains(side))
                .collect();
            match *open {
                [] => return None,
                [last] if !taken.contains(&other(last)) => new = Some(other(last)),
                _ => {}
            }
        }
        match new {
            Some(side) => taken.push(side),
            None => return Some(taken),
        }
    }
}

fn assert_refutes(refutation: &Refutation, fixed: &[(Vertex, Vertex)], choices: &[Choice]) {
    let mut forbidden: Vec<Vec<Side>> = Vec::new();
    for cycle in &refutation.lemmas {
        let mut sides = Vec::new();
        for (edge, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
            assert_eq!(edge.to, next.from);
            match edge.label.map(side_of) {
                None => assert!(fixed.contains(&(edge.from, edge.to))),
                Some(side) => {
                    assert!(
                        choices[side.choice as usize]
                            .side(side.first)
                            .contains(&(edge.from, edge.to))
                    );
                    sides.push(side);
                }
            }
        }
        sides.sort_unstable_by_key(|side| (side.choice, side.first));
        sides.dedup();
        forbidden.push(sides);
    }
    for clause in &refutation.clauses {
        assert_eq!(
            propagated(clause.clone(), &forbidden),
            None,
            "{clause:?} does not follow"
        );
        forbidden.push(clause.clone());
    }
    assert_eq!(
        propagated(Vec::new(), &forbidden),
        None,
        "no contradiction follows"
    );
}

fn random_edge(random: &mut fastrand::Rng, n: u32) -> (Vertex, Vertex) {
    let from = random.u32(..n);
    (from, (from + random.u32(1..n)) % n)
}

/// A side has at most `most_edges` edges.
fn random_choices(
    random: &mut fastrand::Rng,
    n: u32,
    n_choices: usize,
    most_edges: usize,
) -> Vec<Choice> {
    let choice = |random: &mut fastrand::Rng| {
        let mut side = || {
            (0..random.usize(1..most_edges + 1))
                .map(|_| random_edge(random, n))
                .collect::<Vec<_>>()
        };
        let (first, second) = (side(), side());
        Choice {
            first,
            second,
            prefer_first: n.is_multiple_of(2),
        }
    };
    (0..n_choices).map(|_| choice(random)).collect()
}

#[test]
fn what_is_written_down_follows_step_by_step() {
    let mut random = fastrand::Rng::with_seed(11);
    let (mut refuted, mut clauses) = (0, 0);
    for round in 0..3000 {
        let (n, n_choices) = if round % 30 == 0 {
            HARD
        } else {
            (random.u32(2..9), random.usize(1..12))
        };
        let fixed: Vec<(u32, u32)> = (0..random.usize(..6))
            .map(|_| random_edge(&mut random, n))
            .map(|(a, b)| (a.min(b), a.max(b)))
            .collect();
        let choices = random_choices(&mut random, n, n_choices, if n == HARD.0 { 1 } else { 2 });
        let mut order = DynamicOrder::new((0..n).collect(), fixed.iter().copied());
        let answer = solve(&mut order, &choices, &Control::new()).expect("no limit was set");
        match solve_logged(
            &mut order,
            &choices,
            Vec::new(),
            usize::MAX,
            &Control::new(),
        )
        .expect("no limit was set")
        {
            Logged::Satisfiable => assert!(matches!(answer, Answer::Model(_))),
            Logged::GaveUp => panic!("no limit was set"),
            Logged::Refuted(refutation) => {
                assert!(matches!(answer, Answer::Contradiction { .. }));
                assert_refutes(&refutation, &fixed, &choices);
                refuted += 1;
                clauses += refutation.clauses.len();
            }
        }
        assert_eq!(
            (0..n).map(|v| order.labelled_degree(v)).sum::<usize>(),
            0,
            "no chosen edge is left"
        );
    }
    assert!(
        refuted > 500 && clauses > 1000,
        "{refuted} refutations, {clauses} clauses"
    );
}

#[test]
fn the_limit_of_conflicts_ends_the_search() {
    let mut random = fastrand::Rng::with_seed(12);
    let hard = (0..200).find_map(|_| {
        let choices = random_choices(&mut random, HARD.0, HARD.1, 1);
        let mut order = DynamicOrder::new((0..HARD.0).collect(), std::iter::empty());
        let logged = solve_logged(
            &mut order,
            &choices,
            Vec::new(),
            usize::MAX,
            &Control::new(),
        )
        .expect("no limit was set");
        matches!(&logged, Logged::Refuted(refutation) if refutation.clauses.len() > 20)
            .then_some(choices)
    });
    let choices = hard.expect("some need many clauses");
    let mut order = DynamicOrder::new((0..HARD.0).collect(), std::iter::empty());
    assert_eq!(
        solve_logged(&mut order, &choices, Vec::new(), 3, &Control::new()),
        Ok(Logged::GaveUp)
    );
}

#[test]
fn a_stopped_control_ends_the_search() {
    let control = Control::new();
    control.stop();
    let mut order = DynamicOrder::new(vec![0, 1], std::iter::empty());
    assert_eq!(
        solve_logged(&mut order, &[Choice::default()], Vec::new(), 10, &control),
        Err(Interrupt::Cancelled)
    );
}

#[test]
fn what_does_not_follow_is_no_refutation() {
    let control = Control::new();
    // Both sides of the first variable are excluded, but only together with the second one.
    let given = vec![vec![0, 2], vec![1, 2]];
    assert_eq!(
        trim(2, &[given.clone(), vec![vec![3]]].concat(), 2, &control),
        Ok(None)
    );
    assert_eq!(trim(2, &given, 2, &control), Ok(None));
    let whole = [given, vec![vec![3], vec![0, 3]]].concat();
    assert_eq!(
        trim(2, &whole, 3, &control),
        Ok(Some(vec![true, true, true, false]))
    );
}

#[test]
fn known_cycles_are_part_of_the_refutation() {
    let choices = [Choice {
        first: vec![(0, 1)],
        second: vec![(2, 3)],
        prefer_first: true,
    }];
    let edge = |from, to, label| CycleEdge {
        from,
        to,
        label: Some(label),
        also: None,
    };
    let mut order = DynamicOrder::new((0..4).collect(), std::iter::empty());
    let known = vec![vec![edge(0, 1, 0)], vec![edge(2, 3, 1)]];
    let logged = solve_logged(
        &mut order,
        &choices,
        known.clone(),
        usize::MAX,
        &Control::new(),
    );
    assert_eq!(
        logged,
        Ok(Logged::Refuted(Refutation {
            lemmas: known,
            clauses: Vec::new()
        }))
    );
}
