//! Counts and edges against definitions evaluated literally.

use super::*;
use isoscope_model::graph::{Closure, Digraph};
use isoscope_model::relations::{Reason, Standing, resolve};
use isoscope_testing::{history, random::anything};
use std::collections::BTreeMap;

fn found(history: &History) -> (Resolution, Index, Instances) {
    let control = Control::new();
    let resolution = resolve(history, &control).unwrap();
    let index = Index::build(history, &resolution, &control).unwrap();
    let instances = instances(history, &resolution, &index, 1000, &control).unwrap();
    (resolution, index, instances)
}

fn counts(text: &str) -> String {
    let (_, _, instances) = found(&history(text));
    instances
        .counts
        .iter()
        .map(|(pattern, n)| format!("{}{n}", pattern.letter().unwrap()))
        .collect()
}

#[test]
fn every_pattern_of_one_read_is_told_apart() {
    for (text, expected) in [
        ("a: [r x 7]", "a1"),
        ("a: [w x 1]!\nb: [r x 1]", "b1"),
        ("a: [r x 1, w x 1]", "c1"),
        ("a: [w x 1]\nb: [w x 2, r x 1]", "d1"),
        ("a: [w x 1, r x 0]", "d1"),
        ("a: [w x 1]\nb: [r x 1, w x 2, r x 1]", "d1"),
        ("a: [w x 1]\nb: [r x 0, w x 2, r x 1]", "d1j1"),
        ("a: [w x 1, w x 2, r x 1]", "e1"),
        ("a: [w x 1, w x 2]\nb: [r x 1]", "f1"),
        ("a: [w x 1, w x 2]\nb: [r x 1, r x 2]", "f1"),
        ("a: [w x 1, w x 2]\nb: [w x 3, r x 1]", "d1f1"),
        ("a: [w x 1]\nb: [w x 2]\nc: [r x 1, r x 2, r x 1]", "j2"),
        ("a: [w x 1]!\nb: [w x 1]\nc: [r x 1]", ""),
        (
            "a: [r x 0, w x 1, r x 1, w x 2, r x 2]\nb: [r x 2, r x 2]",
            "",
        ),
    ] {
        assert_eq!(counts(text), expected, "{text}");
    }
}

#[test]
fn non_repeatable_reads_that_go_back_violate_read_committed() {
    for (text, goes_back) in [
        ("a: [w x 1]\nb: [w x 2]\nc: [r x 1, r x 2]", false),
        ("a: [w x 1]\nb: [r x 0, r x 1]", false),
        ("a: [w x 1] [w x 2]\nb: [r x 2, r x 1]", true),
        ("a: [w x 1]\nb: [w x 2]\nc: [r x 1, r x 2, r x 1]", true),
        ("a: [w x 1]\nb: [r x 1, r x 0]", true),
    ] {
        let (_, _, instances) = found(&history(text));
        let levels = instances.violations[0].levels;
        assert_eq!(levels.contains(Level::ReadCommitted), goes_back, "{text}");
        assert!(levels.contains(Level::CutIsolation) && levels.contains(Level::ReadAtomic));
    }
}

/// Counts by the definitions, read by read and pair by pair.
fn brute_counts(
    history: &History,
    resolution: &Resolution,
    index: &Index,
) -> BTreeMap<Pattern, u64> {
    let mut counts = BTreeMap::new();
    for &t in &index.transaction {
        let mut add = |pattern| *counts.entry(pattern).or_default() += 1;
        let source = |read: OperationId| match resolution.source(read) {
            Source::Ambiguous => resolution.candidates(read)[0],
            source => source,
        };
        for read in history.operations_of(t) {
            match source(read) {
                Source::ThinAir => add(Pattern::ThinAirRead),
                Source::Aborted { .. } => add(Pattern::AbortedRead),
                Source::Future { .. } => add(Pattern::FutureRead),
                Source::OwnOverwritten { .. } => add(Pattern::NotMyLastWrite),
                Source::Initial {
                    after_own_write: true,
                } => add(Pattern::NotMyOwnWrite),
                Source::Transaction {
                    intermediate,
                    after_own_write,
                    ..
                } => {
                    if after_own_write {
                        add(Pattern::NotMyOwnWrite);
                    }
                    if intermediate && !resolution.is_open_after_own_write(read) {
                        add(Pattern::IntermediateRead);
                    }
                }
                _ => {}
            }
            let previous = history.operations_of(t).filter(|&o| {
                o < read
                    && history.keys()[o.index()] == history.keys()[read.index()]
                    && source(o).writer().is_some()
            });
            if let (Some(last), Some(writer)) = (previous.last(), source(read).writer())
                && if [last, read]
                    .iter()
                    .any(|&o| resolution.is_open_after_own_write(o))
                {
                    !resolution.may_share_source(last, read)
                } else {
                    source(last).writer() != Some(writer)
                }
            {
                add(Pattern::NonRepeatableRead);
            }
        }
    }
    counts
}

/// All pairs that SO, WR and the axiom of read committed order, each axiom instance evaluated literally.
fn brute_read_committed(history: &History, index: &Index) -> Closure {
    let n = index.n_nodes();
    let mut edges = Vec::new();
    for t3 in 0..n as Node {
        edges.extend(index.successor(t3).map(|next| (t3, next)));
        for read in index
            .reads_of(t3)
            .filter(|&read| index.writer_of_read(read) != NONE)
        {
            let t1 = index.writer_of_read(read);
            edges.push((t1, t3));
            for seen in index.reads_of(t3).filter(|&seen| seen < read) {
                let t2 = index.writer_of_read(seen);
                if t2 != NONE && t2 != t1 && index.slot_of(t2, index.read_key[read]).is_some() {
                    edges.push((t2, t1));
                }
            }
        }
    }
    assert!(history.n_transactions() >= n);
    Closure::new(&Digraph::new(n, edges.into_iter()))
}

#[test]
fn counts_and_levels_agree_with_the_definitions() {
    let mut random = fastrand::Rng::with_seed(31);
    let (mut backward, mut hidden, mut pairs) = (0, 0, 0);
    for _ in 0..6000 {
        let history = anything(&mut random);
        let (resolution, index, instances) = found(&history);
        assert_eq!(
            instances.counts,
            brute_counts(&history, &resolution, &index)
        );
        let listed: u64 = instances.violations.len() as u64;
        assert_eq!(listed, instances.counts.values().sum::<u64>());
        let order = brute_read_committed(&history, &index);
        for violation in &instances.violations {
            check_edges(&history, &resolution, violation);
            if violation.id.pattern != Pattern::NonRepeatableRead {
                assert_eq!(violation.levels, LevelSet::upward(Level::AdyaReadCommitted));
                continue;
            }
            let node = |t: TransactionId| index.node[t.index()];
            let (newer, older) = (violation.transactions[0], violation.transactions[1]);
            let takes_part = |t: TransactionId| t.is_initial() || node(t) != NONE;
            let goes_back = takes_part(older)
                && takes_part(newer)
                && !newer.is_initial()
                && (older.is_initial() || order.reaches(node(older), node(newer)));
            let is_open =
                |edge: &Edge| resolution.is_open_after_own_write(edge.to_operation.unwrap());
            let goes_back = goes_back && !violation.edges[..2].iter().any(is_open);
            // One whose cycle makes a detour leaves the level to what shows it without.
            let is_shown = violation.levels.contains(Level::ReadCommitted);
            assert!(goes_back || !is_shown);
            pairs += 1;
            backward += usize::from(is_shown);
            hidden += usize::from(goes_back && !is_shown);
        }
    }
    assert!(
        backward > 200 && pairs > backward + 200 && hidden < backward,
        "{backward} and {hidden} of {pairs}"
    );
}

/// Every edge is valid, and a cycle is one.
fn check_edges(history: &History, resolution: &Resolution, violation: &Violation) {
    for (place, edge) in violation.edges.iter().enumerate() {
        assert!(
            edge.because
                .premises()
                .iter()
                .all(|&premise| premise < place)
        );
        let is_open = edge
            .to_operation
            .is_some_and(|read| resolution.is_open_after_own_write(read));
        let takes_part = |t: TransactionId| {
            t.is_initial() || is_open || resolution.standing(t) != Standing::Dropped
        };
        assert!(takes_part(edge.from) && takes_part(edge.to));
        assert!(
            violation.transactions.contains(&edge.from)
                && violation.transactions.contains(&edge.to)
        );
        match &edge.because {
            Reason::Reads => {
                let (read, key) = (
                    history.operation(edge.to_operation.unwrap()),
                    edge.key.unwrap(),
                );
                assert_eq!((read.kind, read.key), (OperationKind::Read, key));
                match edge.from_operation {
                    Some(write) => {
                        let write = history.operation(write);
                        assert_eq!(
                            (write.kind, write.key, write.value),
                            (OperationKind::Write, key, read.value)
                        );
                    }
                    None => assert!(edge.from.is_initial()),
                }
            }
            Reason::SessionOrder => assert!(
                edge.from.is_initial()
                    || (history.session_of(edge.from) == history.session_of(edge.to)
                        && edge.from < edge.to)
            ),
            Reason::Visible {
                reader, read, seen, ..
            } => {
                let seen = &violation.edges[seen[0]];
                assert_eq!((seen.from, seen.to), (edge.from, *reader));
                assert!(seen.to_operation.unwrap() < *read);
                let observed = |e: &&Edge| {
                    e.from == edge.to && e.to == *reader && e.to_operation == Some(*read)
                };
                assert_eq!(violation.edges[..place].iter().filter(observed).count(), 1);
                assert_eq!(
                    history.operation(edge.from_operation.unwrap()).key,
                    edge.key.unwrap()
                );
            }
            other => panic!("unexpected reason {other:?}"),
        }
    }
    if let Proof::Cycle(cycle) = &violation.proof {
        for (at, &edge) in cycle.iter().enumerate() {
            let next = cycle[(at + 1) % cycle.len()];
            assert_eq!(violation.edges[edge].to, violation.edges[next].from);
        }
    }
}

#[test]
fn lists_are_cut_but_counts_are_not() {
    let transactions: String = (0..50).map(|t| format!(" [r x {}]", t + 7)).collect();
    let history = history(&format!("a:{transactions}"));
    let control = Control::new();
    let resolution = resolve(&history, &control).unwrap();
    let index = Index::build(&history, &resolution, &control).unwrap();
    let instances = instances(&history, &resolution, &index, 3, &control).unwrap();
    assert_eq!(instances.counts[&Pattern::ThinAirRead], 50);
    let ids: Vec<String> = instances
        .violations
        .iter()
        .map(|v| v.id.to_string())
        .collect();
    assert_eq!(ids, ["TAP-a/1", "TAP-a/2", "TAP-a/3"]);
}
