//! Names and counts of known shapes; on random histories every listed violation is real and every violated level has
//! one.

use super::*;
use crate::checkers::Level;
use crate::checkers::proof_rules::assert_proof;
use crate::checkers::strong::sample::{Sample, Shape, random_text};
use crate::checkers::strong::{StrongDecision, decide};
use crate::checkers::weak::{self, WeakDecision};
use crate::relations::testing::history;
use crate::relations::{INITIAL_SLOT, Node, Reason, Slot, resolve};

const STRONG: [Level; 3] = [Level::PrefixConsistency, Level::SnapshotIsolation, Level::Serializability];

fn index_of(history: &History) -> Index {
    let control = Control::new();
    let resolution = resolve(history, &control).expect("no limit was set");
    Index::build(history, &resolution, &control).expect("no limit was set")
}

fn violated_levels(index: &Index) -> LevelSet {
    let violated = |level: &Level| {
        let decision = decide(index, *level, &Control::new()).expect("no limit was set");
        matches!(decision, StrongDecision::Violated { .. })
    };
    STRONG.into_iter().filter(violated).collect()
}

/// Finds the patterns and checks all that must hold of any answer.
fn found(text: &str) -> Instances {
    let history = history(text);
    let index = index_of(&history);
    let violated = violated_levels(&index);
    let found = instances(&history, &index, violated, 1000, &Control::new()).expect("no limit was set");
    for violation in &found.violations {
        for level in STRONG.into_iter().filter(|&level| violation.levels.contains(level)) {
            assert!(violated.contains(level), "{} of {text} at {level}", violation.id);
            assert_proof(&history, &violation.edges, &violation.proof, level);
        }
        let named = violation.edges.iter().flat_map(|edge| [edge.from, edge.to]);
        assert!(named.into_iter().all(|t| violation.transactions.contains(&t)));
        assert!(found.counts[&violation.id.pattern] >= u64::from(violation.id.ordinal));
    }
    found
}

fn names(found: &Instances) -> BTreeSet<String> {
    let also = found.violations.iter().flat_map(|violation| violation.also.clone());
    found.counts.keys().map(|pattern| pattern.id().to_owned()).chain(also).collect()
}

fn assert_names(text: &str, expected: &[&str], not: &[&str]) {
    let names = names(&found(text));
    assert!(expected.iter().all(|name| names.contains(*name)), "{names:?} of {text}");
    assert!(not.iter().all(|name| !names.contains(*name)), "{names:?} of {text}");
}

#[test]
fn known_shapes_have_their_names() {
    let long_fork = "w(1,1,0,0) w(2,1,1,1) r(1,1,2,2) r(2,0,2,2) r(2,1,3,3) r(1,0,3,3)";
    assert_names(long_fork, &["LongFork", "G-nonadjacent"], &["SICycle", "SERCycle"]);
    let split_reader = "w(1,1,0,0) w(2,1,1,1) r(1,1,2,2) r(2,0,2,2) r(2,1,3,3) r(1,0,3,4)";
    assert_names(split_reader, &["LongFork", "G-nonadjacent", "G-nonadjacent-session"], &["SICycle"]);
    let sessions = "w(1,1,0,0) r(2,0,0,1) w(2,1,1,2) r(1,0,1,3)";
    assert_names(sessions, &["LongFork", "G-nonadjacent"], &["SICycle", "WriteSkew"]);
    let conflict = "w(1,1,0,0) w(2,1,0,0) r(2,0,1,1) w(1,2,1,1) r(1,2,2,2) r(2,1,2,2)";
    assert_names(conflict, &["SICycle", "G-single"], &["LostUpdate", "Divergence", "SERCycle"]);
    let skew = "r(1,0,0,0) r(2,0,0,0) w(1,1,0,0) r(1,0,1,1) r(2,0,1,1) w(2,1,1,1)";
    assert_names(skew, &["WriteSkew", "G2-item"], &["SERCycle", "SICycle", "LostUpdate"]);
    assert_names("r(1,0,0,0) w(2,1,0,0) r(2,0,1,1) w(1,1,1,1)", &["WriteSkew", "G2-item"], &["SERCycle"]);
    let three = "r(1,0,0,0) w(2,1,0,0) r(2,0,1,1) w(3,1,1,1) r(3,0,2,2) w(1,1,2,2)";
    assert_names(three, &["SERCycle", "G2-item"], &["WriteSkew", "SICycle"]);
    let read_only = "r(2,0,0,0) w(2,1,0,0) r(1,0,1,1) r(2,0,1,1) w(1,1,1,1) r(1,0,2,2) r(2,1,2,2)";
    assert_names(read_only, &["SERCycle", "G2-item"], &["WriteSkew", "SICycle"]);
}

#[test]
fn updates_of_one_version_are_counted_in_pairs() {
    let two = found("w(1,1,0,0) r(1,1,1,1) w(1,2,1,1) r(1,1,2,2) w(1,3,2,2)");
    assert_eq!(two.counts, BTreeMap::from([(Pattern::Divergence, 1), (Pattern::LostUpdate, 1)]));
    assert!(two.violations.iter().all(|violation| violation.also.contains(&"G-single".to_owned())));
    let three = found("r(1,0,0,0) w(1,1,0,0) r(1,0,1,1) w(1,2,1,1) r(1,0,2,2) w(1,3,2,2)");
    assert_eq!(three.counts, BTreeMap::from([(Pattern::Divergence, 3), (Pattern::LostUpdate, 3)]));
    assert!(three.violations.iter().all(|violation| violation.group == 1));
}

#[test]
fn long_forks_are_counted_by_readers() {
    // Two readers on one side, three on the other.
    let mut text = "w(1,1,0,0) w(2,1,1,1)".to_owned();
    for t in 2..4 {
        text += &format!(" r(1,1,{t},{t}) r(2,0,{t},{t})");
    }
    for t in 4..7 {
        text += &format!(" r(2,1,{t},{t}) r(1,0,{t},{t})");
    }
    let found = found(&text);
    assert_eq!(found.counts[&Pattern::LongFork], 6);
    assert_eq!(found.violations.iter().filter(|v| v.id.pattern == Pattern::LongFork).count(), 6);
}

#[test]
fn a_case_split_is_listed_as_a_case_tree() {
    let grid = "w(2,1,0,0) w(3,1,0,0) r(1,1,0,1) r(6,1,0,1) w(2,2,1,2) w(6,1,1,2) r(1,2,1,3) r(3,1,1,3) \
        w(1,1,2,4) w(4,1,2,4) r(2,1,2,5) r(5,1,2,5) w(1,2,3,6) w(5,1,3,6) r(2,2,3,7) r(4,1,3,7)";
    let found = found(grid);
    assert_eq!(found.violations.len(), 1);
    assert!(matches!(found.violations[0].proof, Proof::Split { .. }));
    assert!(STRONG.iter().all(|&level| found.violations[0].levels.contains(level)));
    assert!(found.violations[0].edges.iter().all(|edge| edge.key.is_some() == (edge.because != Reason::SessionOrder)));
}

#[test]
fn every_violated_level_of_random_histories_has_a_real_violation() {
    let mut random = fastrand::Rng::with_seed(31);
    let mut patterns: BTreeMap<Pattern, u32> = BTreeMap::new();
    for _ in 0..6000 {
        let text = random_text(&mut random);
        let found = found(&text);
        let history = history(&text);
        let index = index_of(&history);
        let causal = weak::decide(&index, Level::TransactionalCausalConsistency, &Control::new());
        if causal.expect("no limit was set") == WeakDecision::Violated {
            continue;
        }
        for level in violated_levels(&index).iter() {
            assert!(found.violations.iter().any(|violation| violation.levels.contains(level)), "{text} at {level}");
        }
        found.counts.keys().for_each(|&pattern| *patterns.entry(pattern).or_default() += 1);
    }
    assert!(patterns.values().all(|&n| n > 5) && patterns.len() == 6, "{patterns:?}");
}

#[test]
fn irregular_histories_are_survived() {
    // Thin-air, aborted, future and intermediate reads, duplicate values, cycles of SO ∪ WR: the engines are never run
    // on such histories alone, but must neither panic nor claim levels that they do not refute themselves.
    let mut random = fastrand::Rng::with_seed(32);
    for _ in 0..3000 {
        let history = crate::relations::testing::random_history(&mut random);
        let index = index_of(&history);
        let violated = violated_levels(&index);
        let found = instances(&history, &index, violated, 10, &Control::new()).expect("no limit was set");
        for violation in &found.violations {
            let claimed = STRONG.into_iter().filter(|&level| violation.levels.contains(level));
            claimed.for_each(|level| assert!(violated.contains(level), "{} at {level}", violation.id));
        }
    }
}

#[test]
fn the_bound_on_lists_leaves_counts_alone() {
    let mut text = "w(1,1,0,0)".to_owned();
    for t in 1..9 {
        text += &format!(" r(1,1,{t},{t}) w(1,{},{t},{t})", t + 1);
    }
    let history = history(&text);
    let index = index_of(&history);
    let levels = violated_levels(&index);
    let found = instances(&history, &index, levels, 3, &Control::new()).expect("no limit was set");
    assert_eq!(found.counts[&Pattern::Divergence], 28);
    assert_eq!(found.violations.iter().filter(|v| v.id.pattern == Pattern::Divergence).count(), 3);
}

#[test]
fn a_part_is_the_index_of_the_restricted_history() {
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..500 {
        let shape = Shape { transactions: 8, sessions: 3, operations: 5, keys: 3, write_percent: 50 };
        let sample = Sample::random(&mut random, shape);
        let index = sample.index();
        let keep: Vec<Node> = (0..index.n_nodes() as Node).filter(|_| random.bool()).collect();
        let part = index.part(&keep);
        let restricted = sample.restrict(&keep).index();
        assert_eq!(part.slot_node, restricted.slot_node);
        assert_eq!(part.read_slot, restricted.read_slot);
        assert_eq!(part.read_begin, restricted.read_begin);
        assert_eq!(part.write_slot, restricted.write_slot);
        assert_eq!(part.read_writer, restricted.read_writer);
        for slot in 0..part.slot_node.len() as Slot {
            assert_eq!(part.readers_of(slot), restricted.readers_of(slot));
        }
        // The sample keeps keys that are not used any more; the order of the others is the same.
        let readers = |index: &Index| -> Vec<Vec<u32>> {
            let of_keys = (0..index.n_keys() as u32).map(|key| index.readers_of_initial(key).to_vec());
            of_keys.filter(|readers| !readers.is_empty()).collect()
        };
        assert_eq!(readers(&part), readers(&restricted));
        let expected = keep.iter().map(|&t| index.transaction[t as usize]).collect::<Vec<_>>();
        assert_eq!(part.transaction, expected);
    }
}

/// Long forks by trying every pair of reads and anti-dependencies.
fn long_forks_by_hand(pairs: &pairs::Pairs<'_>) -> BTreeMap<u32, u64> {
    let index = pairs.index;
    let halves = pairs.edges.iter().flat_map(|edge| {
        let mut seen: Vec<u32> = index.reads_of(edge.reader).map(|read| index.read_slot[read]).collect();
        seen.sort_unstable();
        seen.dedup();
        seen.into_iter().map(|slot| (edge.reader, slot, next_version::missed_slot(index, edge))).collect::<Vec<_>>()
    });
    let node = |slot: u32| index.slot_node[slot as usize];
    let is_half = |&(reader, seen, missed): &(Node, u32, u32)| {
        seen != INITIAL_SLOT && missed != INITIAL_SLOT && node(seen) != reader
    };
    let halves: Vec<(Node, u32, u32)> = halves.filter(is_half).collect();
    let mut forks = BTreeMap::new();
    for &(_, x, y) in &halves {
        let differ = x < y && node(x) != node(y) && index.slot_key[x as usize] != index.slot_key[y as usize];
        if differ && pairs.independent(node(x), node(y)) {
            let crossed = halves.iter().filter(|(_, seen, missed)| (*seen, *missed) == (y, x)).count() as u64;
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
        let text = Sample::random(&mut random, shape).text();
        let history = history(&text);
        let index = index_of(&history);
        let pairs = pairs::Pairs::new(&history, &index, &control).expect("no limit was set");
        let forks = long_forks::LongForks::new(&pairs);
        let (counts, _) = forks.counts(&control);
        let counted: BTreeMap<u32, u64> = (0..).zip(counts).filter(|(_, n)| *n > 0).collect();
        assert_eq!(counted, long_forks_by_hand(&pairs), "{text}");
        assert_eq!(forks.first(&control).expect("no limit was set"), counted.keys().next().copied());
        for (&lower, &n) in &counted {
            let made: usize = forks.of(lower).iter().map(|(_, first, second)| first.len() * second.len()).sum();
            assert_eq!(made as u64, n, "{text}");
            several += u32::from(n > 1);
        }
    }
    assert!(several > 10, "{several} versions have several long forks");
}
