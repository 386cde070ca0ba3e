//! Against brute force on tiny graphs.

use super::*;

/// Whether the edges have no cycle, by removing sources until nothing is left.
fn acyclic(n: u32, edges: &[(Vertex, Vertex)]) -> bool {
    let mut left: Vec<u32> = (0..n).collect();
    while let Some(place) = left
        .iter()
        .position(|&v| !edges.iter().any(|&(a, b)| b == v && left.contains(&a)))
    {
        left.swap_remove(place);
    }
    left.is_empty()
}

fn random_edge(random: &mut fastrand::Rng, n: u32) -> (Vertex, Vertex) {
    let from = random.u32(..n);
    (from, (from + random.u32(1..n)) % n)
}

/// Edges consistent with the natural order of numbers.
fn random_fixed(random: &mut fastrand::Rng, n: u32) -> Vec<(Vertex, Vertex)> {
    (0..random.usize(..6))
        .map(|_| random_edge(random, n))
        .map(|(a, b)| (a.min(b), a.max(b)))
        .collect()
}

#[test]
fn the_dynamic_order_accepts_exactly_the_edges_that_keep_the_graph_acyclic() {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..3000 {
        let n = random.u32(2..9);
        let fixed = random_fixed(&mut random, n);
        let mut order = DynamicOrder::new((0..n).collect(), fixed.iter().copied());
        let mut present: Vec<(u32, u32, u32)> = Vec::new();
        for label in 0..20 {
            if !present.is_empty() && random.u8(..4) == 0 {
                let (from, to, label) = present.swap_remove(random.usize(..present.len()));
                order.remove(from, to, (label, None));
                continue;
            }
            let (from, to) = random_edge(&mut random, n);
            let mut all = fixed.clone();
            all.extend(present.iter().map(|&(a, b, _)| (a, b)));
            all.push((from, to));
            match order.insert(from, to, (label, None)) {
                Ok(()) => {
                    assert!(acyclic(n, &all));
                    present.push((from, to, label));
                }
                Err(cycle) => {
                    assert!(!acyclic(n, &all));
                    for (edge, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
                        assert_eq!(edge.to, next.from);
                        assert!(all.contains(&(edge.from, edge.to)));
                    }
                }
            }
            let place = |v: u32| order.order().iter().position(|&w| w == v).unwrap();
            assert!(present.iter().all(|&(a, b, _)| place(a) < place(b)));
            assert!(fixed.iter().all(|&(a, b)| place(a) < place(b)));
            assert!((0..n).all(|v| place(v) == order.position(v) as usize));
        }
    }
}

#[test]
fn the_solver_agrees_with_trying_all_combinations() {
    let mut random = fastrand::Rng::with_seed(2);
    let mut contradictions = 0;
    for _ in 0..5000 {
        let n = random.u32(2..8);
        let fixed = random_fixed(&mut random, n);
        let mut order = DynamicOrder::new((0..n).collect(), fixed.iter().copied());
        let choices: Vec<Choice> = (0..random.usize(1..7))
            .map(|_| {
                let mut side = || {
                    (0..random.usize(1..4))
                        .map(|_| random_edge(&mut random, n))
                        .collect::<Vec<_>>()
                };
                let (first, second) = (side(), side());
                Choice {
                    first,
                    second,
                    prefer_first: n.is_multiple_of(2),
                }
            })
            .collect();
        let with = |sides: &dyn Fn(usize) -> bool| {
            let mut all = fixed.clone();
            choices
                .iter()
                .enumerate()
                .for_each(|(place, choice)| all.extend(choice.side(sides(place))));
            acyclic(n, &all)
        };
        let possible = (0..1u32 << choices.len()).any(|bits| with(&|place| bits >> place & 1 == 1));
        match solve(&mut order, &choices, &Control::new()).unwrap() {
            Answer::Model(model) => {
                assert!(possible && with(&|place| model[place]));
                let fits = |&(a, b): &(u32, u32)| order.position(a) < order.position(b);
                assert!(
                    choices
                        .iter()
                        .zip(&model)
                        .all(|(choice, &first)| choice.side(first).iter().all(fits))
                );
            }
            Answer::Contradiction { cycles } => {
                contradictions += 1;
                assert!(!possible && !cycles.is_empty());
            }
        }
        let remaining: usize = (0..n).map(|v| order.labelled_degree(v)).sum();
        assert_eq!(remaining, 0, "no chosen edge is left");
    }
    assert!(contradictions > 500);
}

#[test]
fn a_stopped_control_ends_the_search() {
    let mut order = DynamicOrder::new(vec![0, 1], std::iter::empty());
    let control = Control::new();
    control.stop();
    assert_eq!(
        solve(&mut order, &[Choice::default()], &control),
        Err(Interrupt::Cancelled)
    );
}

/// A problem whose choices are constrained by clauses and by edges that need two of them, over at most 7 vertices.
fn random_problem(random: &mut fastrand::Rng, n: u32, facts: u32) -> Problem {
    let choices: Vec<Choice> = (0..random.usize(2..6))
        .map(|_| {
            let mut side = || {
                (0..random.usize(..3))
                    .map(|_| random_edge(random, n))
                    .collect::<Vec<_>>()
            };
            let (first, second) = (side(), side());
            Choice {
                first,
                second,
                prefer_first: random.bool(),
            }
        })
        .collect();
    let side = |random: &mut fastrand::Rng| Side {
        choice: random.u32(..choices.len() as u32),
        first: random.bool(),
    };
    let mut problem = Problem::default();
    for _ in 0..random.usize(..4) {
        problem
            .clauses
            .push((0..random.usize(1..4)).map(|_| side(random)).collect());
    }
    for _ in 0..random.usize(..5) {
        let ((from, to), one, other) = (random_edge(random, n), side(random), side(random));
        if one.choice != other.choice {
            problem.with_sides.push(JointEdge {
                from,
                to,
                side: one,
                with: other,
            });
        }
    }
    for _ in 0..random.usize(..3) {
        let ((from, to), side) = (random_edge(random, n), side(random));
        problem.with_facts.push(JointEdge {
            from,
            to,
            side,
            with: FIRST_FACT + random.u32(..facts),
        });
    }
    problem.choices = choices;
    problem
}

#[test]
fn the_solver_agrees_with_trying_all_combinations_of_tied_choices() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut contradictions = 0;
    for _ in 0..6000 {
        let n = random.u32(2..8);
        let fixed = random_fixed(&mut random, n);
        let mut order = DynamicOrder::new((0..n).collect(), fixed.iter().copied());
        let mut problem = random_problem(&mut random, n, 2);
        if random.bool() {
            problem.known = exclusions(&order, &problem, &Control::new()).unwrap();
        }
        let with = |taken: &dyn Fn(Side) -> bool| {
            let mut all = fixed.clone();
            for (choice, first) in
                (0..problem.choices.len()).flat_map(|choice| [(choice, true), (choice, false)])
            {
                if taken(Side {
                    choice: choice as u32,
                    first,
                }) {
                    all.extend(problem.choices[choice].side(first));
                }
            }
            let joint = problem
                .with_sides
                .iter()
                .filter(|edge| taken(edge.side) && taken(edge.with));
            all.extend(joint.map(|edge| (edge.from, edge.to)));
            all.extend(
                problem
                    .with_facts
                    .iter()
                    .filter(|edge| taken(edge.side))
                    .map(|edge| (edge.from, edge.to)),
            );
            let clauses = problem
                .clauses
                .iter()
                .all(|clause| clause.iter().any(|&side| taken(side)));
            clauses && acyclic(n, &all)
        };
        let takes = |bits: u32| move |side: Side| (bits >> side.choice & 1 == 1) == side.first;
        let possible = (0..1u32 << problem.choices.len()).any(|bits| with(&takes(bits)));
        match solve_problem(&mut order, &problem, usize::MAX, &Control::new())
            .unwrap()
            .expect("there is no limit")
        {
            Answer::Model(model) => {
                assert!(possible && with(&|side| model[side.choice as usize] == side.first))
            }
            Answer::Contradiction { cycles } => {
                contradictions += 1;
                assert!(!possible);
                let facts = cycles
                    .iter()
                    .flat_map(CycleEdge::labels)
                    .filter(|&label| label >= FIRST_FACT);
                assert!(facts.into_iter().all(|label| label < FIRST_FACT + 2));
            }
        }
        let remaining: usize = (0..n).map(|v| order.labelled_degree(v)).sum();
        assert_eq!(remaining, 0, "no chosen edge is left");
    }
    assert!(contradictions > 300, "{contradictions}");
}

/// What can be reached along these edges, every vertex including itself.
fn reachable(n: u32, edges: &[(Vertex, Vertex)]) -> Vec<Vec<bool>> {
    let mut reached: Vec<Vec<bool>> = (0..n).map(|v| (0..n).map(|w| v == w).collect()).collect();
    for _ in 0..n {
        for &(a, b) in edges {
            (0..n as usize)
                .filter(|&v| reached[v][a as usize])
                .collect::<Vec<_>>()
                .iter()
                .for_each(|&v| {
                    reached[v][b as usize] = true;
                });
        }
    }
    reached
}

#[test]
fn sides_that_exclude_each_other_are_those_whose_edges_close_a_cycle() {
    let mut random = fastrand::Rng::with_seed(4);
    let mut n_found = 0;
    for _ in 0..4000 {
        let n = random.u32(2..9);
        let fixed = random_fixed(&mut random, n);
        let order = DynamicOrder::new((0..n).collect(), fixed.iter().copied());
        let mut problem = random_problem(&mut random, n, 1);
        problem.with_sides.clear();
        let reached = reachable(n, &fixed);
        let closes = |a: (Vertex, Vertex), b: (Vertex, Vertex)| {
            reached[a.1 as usize][b.0 as usize] && reached[b.1 as usize][a.0 as usize]
        };
        let mut expected: Vec<Vec<u32>> = Vec::new();
        let sides: Vec<Side> = (0..problem.choices.len() as u32)
            .flat_map(|choice| [true, false].map(|first| Side { choice, first }))
            .collect();
        let edges_of = |side: Side| problem.choices[side.choice as usize].side(side.first);
        for (place, &one) in sides.iter().enumerate() {
            for &other in sides[place..]
                .iter()
                .filter(|other| other.choice != one.choice || **other == one)
            {
                let mut pairs = edges_of(one)
                    .iter()
                    .flat_map(|&a| edges_of(other).iter().map(move |&b| (a, b)));
                if pairs.any(|(a, b)| closes(a, b)) {
                    let mut literals = vec![literal(one).idx(), literal(other).idx()];
                    literals.dedup();
                    expected.push(literals);
                }
            }
        }
        expected.sort_unstable();
        let cycles = exclusions(&order, &problem, &Control::new()).unwrap();
        let excluded = |cycle: &Vec<CycleEdge>| {
            let mut literals: Vec<u32> = cycle.iter().flat_map(CycleEdge::labels).collect();
            literals.sort_unstable();
            literals.dedup();
            literals
        };
        let mut found: Vec<Vec<u32>> = cycles.iter().map(excluded).collect();
        found.sort_unstable();
        assert_eq!(found, expected);
        n_found += found.len();
        // With the fixed edges added, each labelled edge is on a cycle.
        for cycle in &cycles {
            let all =
                with_fixed_edges(&order, std::slice::from_ref(cycle), &Control::new()).unwrap();
            let edges: Vec<(Vertex, Vertex)> =
                all.iter().map(|edge| (edge.from, edge.to)).collect();
            assert!(
                all.iter()
                    .all(|edge| edge.label.is_some() || fixed.contains(&(edge.from, edge.to)))
            );
            let back = reachable(n, &edges);
            assert!(
                cycle
                    .iter()
                    .all(|edge| back[edge.to as usize][edge.from as usize])
            );
        }
    }
    assert!(n_found > 2000, "{n_found}");
}
