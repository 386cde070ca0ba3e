//! Names and counts of known shapes; on random histories every listed violation is real and every violated level has
//! one.

use super::*;
use crate::checkers::Findings;
use crate::checkers::strong::decide;
use crate::checkers::weak;
use crate::checkers::{Level, Question};
use crate::report;
use isoscope_judge::verify;
use isoscope_model::relations::{INITIAL_SLOT, Node, Reason, Slot};
use isoscope_testing as common;
use isoscope_testing::random::anything;
use isoscope_testing::sketch::{Sketch, Transaction, read};
use isoscope_testing::sound::{self, CASE_SPLIT_GRID, Shape};

const STRONG: [Level; 3] = [
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializability,
];

fn violated_levels(index: &Index) -> LevelSet {
    let violated = |level: &Level| {
        decide(index, *level, &Control::new())
            .expect("no limit was set")
            .is_violated()
    };
    STRONG.into_iter().filter(violated).collect()
}

/// Whether the verifier accepts one violation of a history, with all that it is called, whatever else may be found in it.
fn alone(history: &History, violation: &Violation) -> Result<(), String> {
    let (entry, _) = report::scenario(history, &Findings::default(), violation);
    verify::verify_example(history, &entry).map_err(|problem| problem.to_string())?;
    match common::described::problems_of_example(history, &entry) {
        problems if problems.is_empty() => Ok(()),
        problems => Err(problems.join(", ")),
    }
}

/// Finds the patterns and checks all that must hold of any answer.
fn found(text: &str) -> Instances {
    found_in(&common::history(text))
}

fn found_in(history: &History) -> Instances {
    let index = common::index(history);
    let violated = violated_levels(&index);
    let found = instances(history, &index, violated, 1000, &Control::new());
    for violation in &found.violations {
        for level in STRONG
            .into_iter()
            .filter(|&level| violation.levels.contains(level))
        {
            assert!(
                violated.contains(level),
                "{} of {history:?} at {level}",
                violation.id
            );
        }
        // Levels that count no sessions are decided where there are none.
        let levels = violation
            .levels
            .iter()
            .filter(|level| !level.is_form_of_itself())
            .collect();
        let with_sessions = Violation {
            levels,
            ..violation.clone()
        };
        assert_eq!(
            alone(history, &with_sessions),
            Ok(()),
            "{} of {history:?}",
            violation.id
        );
        let named = violation.edges.iter().flat_map(|edge| [edge.from, edge.to]);
        assert!(
            named
                .into_iter()
                .all(|t| violation.transactions.contains(&t))
        );
        assert!(found.counts[&violation.id.pattern] >= u64::from(violation.id.ordinal));
    }
    found
}

fn names(found: &Instances) -> BTreeSet<String> {
    let also = found
        .violations
        .iter()
        .flat_map(|violation| violation.also.clone());
    found
        .counts
        .keys()
        .map(|pattern| pattern.id().to_owned())
        .chain(also)
        .collect()
}

fn assert_names(text: &str, expected: &[&str], not: &[&str]) {
    let names = names(&found(text));
    assert!(
        expected.iter().all(|name| names.contains(*name)),
        "{names:?} of {text}"
    );
    assert!(
        not.iter().all(|name| !names.contains(*name)),
        "{names:?} of {text}"
    );
}

#[test]
fn known_shapes_have_their_names() {
    let long_fork = "a: [w x 1]\nb: [w y 1]\nc: [r x 1, r y 0]\nd: [r y 1, r x 0]";
    assert_names(
        long_fork,
        &["LongFork", "G-nonadjacent"],
        &["SICycle", "SERCycle"],
    );
    let split_reader = "a: [w x 1]\nb: [w y 1]\nc: [r x 1, r y 0]\nd: [r y 1] [r x 0]";
    assert_names(
        split_reader,
        &["LongFork", "G-nonadjacent", "G-nonadjacent-session"],
        &["SICycle"],
    );
    let sessions = "a: [w x 1] [r y 0]\nb: [w y 1] [r x 0]";
    assert_names(
        sessions,
        &["LongFork", "G-nonadjacent"],
        &["SICycle", "WriteSkew"],
    );
    let conflict = "a: [w x 1, w y 1]\nb: [r y 0, w x 2]\nc: [r x 2, r y 1]";
    assert_names(
        conflict,
        &["SICycle", "G-single"],
        &["LostUpdate", "Divergence", "SERCycle"],
    );
    let skew = "a: [r x 0, r y 0, w x 1]\nb: [r x 0, r y 0, w y 1]";
    assert_names(
        skew,
        &["WriteSkew", "G2-item"],
        &["SERCycle", "SICycle", "LostUpdate"],
    );
    assert_names(
        "a: [r x 0, w y 1]\nb: [r y 0, w x 1]",
        &["WriteSkew", "G2-item"],
        &["SERCycle"],
    );
    let three = "a: [r x 0, w y 1]\nb: [r y 0, w z 1]\nc: [r z 0, w x 1]";
    assert_names(three, &["SERCycle", "G2-item"], &["WriteSkew", "SICycle"]);
    let read_only = "a: [r y 0, w y 1]\nb: [r x 0, r y 0, w x 1]\nc: [r x 0, r y 1]";
    assert_names(
        read_only,
        &["SERCycle", "G2-item"],
        &["WriteSkew", "SICycle"],
    );
}

#[test]
fn updates_of_one_version_are_counted_in_pairs() {
    let two = found("a: [w x 1]\nb: [r x 1, w x 2]\nc: [r x 1, w x 3]");
    assert_eq!(
        two.counts,
        BTreeMap::from([(Pattern::Divergence, 1), (Pattern::LostUpdate, 1)])
    );
    assert!(
        two.violations
            .iter()
            .all(|violation| violation.also.contains(&"G-single".to_owned()))
    );
    let three = found("a: [r x 0, w x 1]\nb: [r x 0, w x 2]\nc: [r x 0, w x 3]");
    assert_eq!(
        three.counts,
        BTreeMap::from([(Pattern::Divergence, 3), (Pattern::LostUpdate, 3)])
    );
    assert!(
        three
            .violations
            .iter()
            .all(|violation| violation.group == 1)
    );
}

#[test]
fn long_forks_are_counted_by_readers() {
    // Two readers on one side, three on the other.
    let found = found(
        "a: [w x 1]\nb: [w y 1]\n\
         c: [r x 1, r y 0]\nd: [r x 1, r y 0]\n\
         e: [r y 1, r x 0]\nf: [r y 1, r x 0]\ng: [r y 1, r x 0]",
    );
    assert_eq!(found.counts[&Pattern::LongFork], 6);
    assert_eq!(
        found
            .violations
            .iter()
            .filter(|v| v.id.pattern == Pattern::LongFork)
            .count(),
        6
    );
}

#[test]
fn a_case_split_is_listed_as_a_case_tree() {
    let found = found(CASE_SPLIT_GRID);
    assert_eq!(found.violations.len(), 1);
    assert!(matches!(
        found.violations[0].proof,
        Proof::Cases {
            question: Question::Order { .. },
            ..
        }
    ));
    assert!(
        STRONG
            .iter()
            .all(|&level| found.violations[0].levels.contains(level))
    );
    assert!(
        found.violations[0]
            .edges
            .iter()
            .all(|edge| edge.key.is_some() == (edge.because != Reason::SessionOrder))
    );
}

#[test]
fn every_violated_level_of_random_histories_has_a_real_violation() {
    let mut random = fastrand::Rng::with_seed(31);
    let mut patterns: BTreeMap<Pattern, u32> = BTreeMap::new();
    for _ in 0..6000 {
        let sketch = sound::few(&mut random);
        let history = sketch.history();
        let found = found_in(&history);
        let index = common::index(&history);
        let causal = weak::decide(
            &index,
            Level::TransactionalCausalConsistency,
            &Control::new(),
        );
        if causal.expect("no limit was set").is_violated() {
            continue;
        }
        for level in violated_levels(&index).iter() {
            assert!(
                found
                    .violations
                    .iter()
                    .any(|violation| violation.levels.contains(level)),
                "{sketch} at {level}"
            );
        }
        found
            .counts
            .keys()
            .for_each(|&pattern| *patterns.entry(pattern).or_default() += 1);
    }
    assert!(
        patterns.values().all(|&n| n > 5) && patterns.len() == 6,
        "{patterns:?}"
    );
}

#[test]
fn irregular_histories_are_survived() {
    // Thin-air, aborted, future and intermediate reads, duplicate values, cycles of SO ∪ WR: the engines are never run
    // on such histories alone, but must neither panic nor claim levels that they do not refute themselves.
    let mut random = fastrand::Rng::with_seed(32);
    for _ in 0..3000 {
        let history = anything(&mut random);
        let index = common::index(&history);
        let violated = violated_levels(&index);
        let found = instances(&history, &index, violated, 10, &Control::new());
        for violation in &found.violations {
            let claimed = STRONG
                .into_iter()
                .filter(|&level| violation.levels.contains(level));
            claimed
                .for_each(|level| assert!(violated.contains(level), "{} at {level}", violation.id));
        }
    }
}

#[test]
fn the_bound_on_lists_leaves_counts_alone() {
    let updates: String = (1..9)
        .map(|t| format!("{t}: [r x 1, w x {}]\n", t + 1))
        .collect();
    let history = common::history(&format!("0: [w x 1]\n{updates}"));
    let index = common::index(&history);
    let levels = violated_levels(&index);
    let found = instances(&history, &index, levels, 3, &Control::new());
    assert_eq!(found.counts[&Pattern::Divergence], 28);
    assert_eq!(
        found
            .violations
            .iter()
            .filter(|v| v.id.pattern == Pattern::Divergence)
            .count(),
        3
    );
}

/// With a first transaction that reads every key, so that keys are numbered alike in every part that has it.
fn with_all_keys_first(mut sketch: Sketch, keys: usize) -> Sketch {
    let reads = (0..keys).map(|key| read(key, 0)).collect();
    sketch
        .sessions
        .insert(0, vec![Transaction::committed(reads)]);
    sketch
}

#[test]
fn a_part_is_the_index_of_the_restricted_history() {
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..500 {
        let shape = Shape {
            transactions: 8,
            sessions: 3,
            operations: 5,
            keys: 3,
            write_percent: 50,
        };
        let sketch = with_all_keys_first(sound::backwards(shape, &mut random), shape.keys);
        let index = common::index(&sketch.history());
        let keep: Vec<Node> = (0..index.n_nodes() as Node)
            .filter(|&t| t == 0 || random.bool())
            .collect();
        let part = index.part(&keep);
        let restricted = common::index(&sketch.part(&keep).history());
        assert_eq!(part.slot_node, restricted.slot_node);
        assert_eq!(part.read_slot, restricted.read_slot);
        assert_eq!(part.read_begin, restricted.read_begin);
        assert_eq!(part.write_slot, restricted.write_slot);
        assert_eq!(part.read_writer, restricted.read_writer);
        for slot in 0..part.slot_node.len() as Slot {
            assert_eq!(part.readers_of(slot), restricted.readers_of(slot));
        }
        assert_eq!(part.n_keys(), restricted.n_keys());
        for key in 0..part.n_keys() as u32 {
            assert_eq!(
                part.readers_of_initial(key),
                restricted.readers_of_initial(key)
            );
        }
        let expected = keep
            .iter()
            .map(|&t| index.transaction[t as usize])
            .collect::<Vec<_>>();
        assert_eq!(part.transaction, expected);
    }
}

/// Long forks by trying every pair of reads and anti-dependencies.
fn long_forks_by_hand(pairs: &pairs::Pairs<'_>) -> BTreeMap<u32, u64> {
    let index = pairs.index;
    let halves = pairs.edges.iter().flat_map(|edge| {
        let mut seen: Vec<u32> = index
            .reads_of(edge.reader)
            .map(|read| index.read_slot[read])
            .collect();
        seen.sort_unstable();
        seen.dedup();
        seen.into_iter()
            .map(|slot| (edge.reader, slot, next_version::missed_slot(index, edge)))
            .collect::<Vec<_>>()
    });
    let node = |slot: u32| index.slot_node[slot as usize];
    let is_half = |&(reader, seen, missed): &(Node, u32, u32)| {
        seen != INITIAL_SLOT && missed != INITIAL_SLOT && node(seen) != reader
    };
    let halves: Vec<(Node, u32, u32)> = halves.filter(is_half).collect();
    let mut forks = BTreeMap::new();
    for &(_, x, y) in &halves {
        let differ =
            x < y && node(x) != node(y) && index.slot_key[x as usize] != index.slot_key[y as usize];
        if differ && pairs.independent(node(x), node(y)) {
            let crossed = halves
                .iter()
                .filter(|(_, seen, missed)| (*seen, *missed) == (y, x))
                .count() as u64;
            *forks.entry(x).or_default() += crossed;
        }
    }
    forks.retain(|_, n| *n > 0);
    forks
}

#[test]
fn long_forks_are_counted_as_by_hand() {
    let mut random = fastrand::Rng::with_seed(35);
    let (control, mut several) = (Control::new(), 0);
    for _ in 0..4000 {
        let shape = Shape {
            transactions: random.usize(4..16),
            sessions: random.usize(3..10),
            operations: 6,
            keys: 4,
            write_percent: 25,
        };
        let sketch = sound::backwards(shape, &mut random);
        let history = sketch.history();
        let index = common::index(&history);
        let pairs = pairs::Pairs::new(&history, &index, &control).expect("no limit was set");
        let forks = long_forks::LongForks::new(&pairs);
        let (counts, _) = forks.counts(&control);
        let counted: BTreeMap<u32, u64> = (0..).zip(counts).filter(|(_, n)| *n > 0).collect();
        assert_eq!(counted, long_forks_by_hand(&pairs), "{sketch}");
        assert_eq!(
            forks.first(&control).expect("no limit was set"),
            counted.keys().next().copied()
        );
        for (&lower, &n) in &counted {
            let made: usize = forks
                .of(lower)
                .iter()
                .map(|(_, first, second)| first.len() * second.len())
                .sum();
            assert_eq!(made as u64, n, "{sketch}");
            several += u32::from(n > 1);
        }
    }
    assert!(several > 10, "{several} versions have several long forks");
}
