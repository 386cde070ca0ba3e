//! The axioms, evaluated literally on random tiny histories.

use super::*;
use crate::checkers::place::Window;
use crate::checkers::{LevelSet, Pattern, Proof, Violation};
use isoscope_model::history::{History, OperationId, OperationKind, TransactionId};
use isoscope_model::relations::{Axiom, NONE, Reason, Relation};
use isoscope_testing as common;
use isoscope_testing::sketch::{Operation, Sketch, Transaction, read, write};

/// Transactions that read first, mostly what a hidden order puts before them, and then write a value of their own.
pub(super) fn tiny(random: &mut fastrand::Rng) -> Sketch {
    let n_sessions = random.usize(1..=5);
    let sessions: Vec<usize> = (0..n_sessions).map(|_| random.usize(0..=3)).collect();
    let n: usize = sessions.iter().sum();
    let n_keys = random.usize(1..=3);
    let writes: Vec<Vec<usize>> = (0..n)
        .map(|_| (0..n_keys).filter(|_| random.u32(0..5) < 2).collect())
        .collect();
    // A hidden order keeps most histories free of SO ∪ WR cycles.
    let mut hidden: Vec<u32> = (0..n).map(|_| random.u32(0..100)).collect();
    let mut begin = 0;
    for &length in &sessions {
        hidden[begin..begin + length].sort_unstable();
        begin += length;
    }
    let chaos = random.u32(0..8) == 0;
    let value = |t: usize| t as u64 + 1;
    let mut transactions = (0..n).map(|t| {
        let mut operations: Vec<Operation> = Vec::new();
        for _ in 0..random.usize(0..=4) {
            let key = random.usize(0..n_keys);
            let is_candidate = |&w: &usize| {
                w != t && writes[w].contains(&key) && (chaos || (hidden[w], w) < (hidden[t], t))
            };
            let mut candidates: Vec<u64> = (0..n).filter(is_candidate).map(value).collect();
            if candidates.is_empty() || random.u32(0..6) == 0 {
                candidates.push(0);
            }
            let returned = read(key, candidates[random.usize(0..candidates.len())]);
            // Non-repeatable reads are made rarer than by chance.
            let repeats = operations.iter().any(|o| o.key == key && *o != returned);
            if !repeats || random.u32(0..5) == 0 {
                operations.push(returned);
            }
        }
        operations.extend(writes[t].iter().map(|&key| write(key, value(t))));
        Transaction::committed(operations)
    });
    Sketch {
        sessions: sessions
            .iter()
            .map(|&length| transactions.by_ref().take(length).collect())
            .collect(),
    }
}

/// A relation over at most 32 nodes: by node the set of nodes it precedes.
#[derive(Clone, Debug)]
pub(super) struct Bits(pub(super) Vec<u32>);

impl Bits {
    /// Transitive closure.
    pub(super) fn close(mut self) -> Bits {
        for k in 0..self.0.len() {
            for a in 0..self.0.len() {
                if self.0[a] >> k & 1 == 1 {
                    self.0[a] |= self.0[k];
                }
            }
        }
        self
    }

    /// Whether a precedes b.
    pub(super) fn has(&self, a: Node, b: Node) -> bool {
        self.0[a as usize] >> b & 1 == 1
    }

    /// Whether some node precedes itself.
    pub(super) fn is_cyclic(&self) -> bool {
        (0..self.0.len()).any(|a| self.has(a as Node, a as Node))
    }
}

/// How t3 sees t2, weakest relation last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sees {
    /// By an earlier read of another key.
    Mono,
    /// By session order or a read of another key.
    Frac,
    /// By reads of the same key only.
    SameKey,
    /// By causal order only.
    Causal,
}

/// A triple of the axioms, as they define it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Triple {
    pub(super) key: u32,
    /// ⊥: [`NONE`].
    pub(super) t1: Node,
    pub(super) t2: Node,
    pub(super) t3: Node,
    pub(super) sees: Sees,
    /// The weakest level whose axiom has it.
    pub(super) level: Level,
}

/// The axioms, evaluated literally.
pub(super) struct Oracle {
    pub(super) causal: Bits,
    pub(super) triples: Vec<Triple>,
    n: usize,
}

pub(super) const LEVELS: [Level; 3] = [
    Level::ReadCommitted,
    Level::ReadAtomic,
    Level::TransactionalCausalConsistency,
];

impl Oracle {
    pub(super) fn new(index: &Index) -> Oracle {
        let n = index.n_nodes();
        let session = &index.session;
        let mut edges = Bits(vec![0; n]);
        for a in 0..n {
            for b in a + 1..n {
                if session[a] == session[b] {
                    edges.0[a] |= 1 << b;
                }
            }
            for writer in index
                .reads_of(a as Node)
                .map(|read| index.read_writer[read])
                .filter(|&w| w != NONE)
            {
                edges.0[writer as usize] |= 1 << a;
            }
        }
        let causal = edges.close();
        let mut triples: Vec<Triple> = Vec::new();
        for t3 in 0..n as Node {
            for read in index.reads_of(t3) {
                let (key, t1) = (index.read_key[read], index.read_writer[read]);
                for t2 in (0..n as Node).filter(|&t2| t2 != t1 && t2 != t3) {
                    if index.slot_of(t2, key).is_none() || !causal.has(t2, t3) {
                        continue;
                    }
                    let both = |a: Node, b: Node| {
                        a != NONE && b != NONE && causal.has(a, b) && causal.has(b, a)
                    };
                    if both(t1, t2) || both(t2, t3) || both(t1, t3) {
                        continue;
                    }
                    let from_t2 = |other: &usize| index.read_writer[*other] == t2;
                    let of_other_key =
                        |other: &usize| from_t2(other) && index.read_key[*other] != key;
                    let mut all = index.reads_of(t3);
                    let mut before = all.start..read;
                    let so = session[t2 as usize] == session[t3 as usize] && t2 < t3;
                    let sees = if before.clone().any(|other| of_other_key(&other)) {
                        Sees::Mono
                    } else if so || all.clone().any(|other| of_other_key(&other)) {
                        Sees::Frac
                    } else if all.clone().any(|other| from_t2(&other)) {
                        Sees::SameKey
                    } else {
                        Sees::Causal
                    };
                    let level = if before.any(|other| from_t2(&other)) {
                        LEVELS[0]
                    } else if so || all.any(|other| from_t2(&other)) {
                        LEVELS[1]
                    } else {
                        LEVELS[2]
                    };
                    match triples
                        .iter_mut()
                        .find(|t| (t.key, t.t1, t.t2, t.t3) == (key, t1, t2, t3))
                    {
                        Some(triple) => {
                            triple.sees = triple.sees.min(sees);
                            triple.level = triple.level.min(level);
                        }
                        None => triples.push(Triple {
                            key,
                            t1,
                            t2,
                            t3,
                            sees,
                            level,
                        }),
                    }
                }
            }
        }
        Oracle { causal, triples, n }
    }

    /// CM of a level.
    pub(super) fn commit_order(&self, level: Level) -> Bits {
        let mut edges = self.causal.clone();
        for triple in self.triples.iter().filter(|triple| triple.level <= level) {
            // ⊥ precedes every node, so what precedes ⊥ does too.
            edges.0[triple.t2 as usize] |= if triple.t1 == NONE {
                (1 << self.n) - 1
            } else {
                1 << triple.t1
            };
        }
        assert_eq!(edges.0.len(), self.n);
        edges.close()
    }

    /// CM of a level without what would precede ⊥.
    fn proper_order(&self, level: Level) -> Bits {
        let mut edges = self.causal.clone();
        for triple in self
            .triples
            .iter()
            .filter(|triple| triple.level <= level && triple.t1 != NONE)
        {
            edges.0[triple.t2 as usize] |= 1 << triple.t1;
        }
        edges.close()
    }

    /// Whether a level is satisfied.
    pub(super) fn satisfies(&self, level: Level) -> bool {
        !self.causal.is_cyclic()
            && !self
                .triples
                .iter()
                .any(|triple| triple.level <= level && triple.t1 == NONE)
            && !self.commit_order(level).is_cyclic()
    }
}

/// Whether an order of the nodes satisfies a level, by the definition.
fn is_witness(oracle: &Oracle, order: &[Node], level: Level) -> bool {
    let place = |v: Node| order.iter().position(|&u| u == v);
    let n = oracle.n as Node;
    let causal = (0..n).all(|a| (0..n).all(|b| !oracle.causal.has(a, b) || place(a) < place(b)));
    let triples = oracle.triples.iter().filter(|triple| triple.level <= level);
    causal
        && order.len() == n as usize
        && triples
            .into_iter()
            .all(|t| t.t1 != NONE && place(t.t2) < place(t.t1))
}

#[test]
fn decisions_agree_with_the_axioms() {
    let mut random = fastrand::Rng::with_seed(7);
    let control = Control::new();
    let mut satisfied = [0; 3];
    for _ in 0..40_000 {
        let tiny = tiny(&mut random);
        let index = common::index(&tiny.history());
        let oracle = Oracle::new(&index);
        for (at, level) in LEVELS.into_iter().enumerate() {
            match decide(&index, level, &control) {
                Ok(Decision::Satisfied(order)) => {
                    assert!(oracle.satisfies(level), "{level} {tiny}");
                    assert!(
                        is_witness(&oracle, &order.commits().collect::<Vec<_>>(), level),
                        "{level} {tiny}"
                    );
                    satisfied[at] += 1;
                }
                Ok(Decision::Violated { .. }) => {
                    assert!(!oracle.satisfies(level), "{level} {tiny}")
                }
                Err(interrupt) => panic!("{interrupt}"),
            }
        }
    }
    assert!(
        satisfied[0] > satisfied[1] && satisfied[1] > satisfied[2] && satisfied[2] > 5_000,
        "{satisfied:?}"
    );
}

/// The patterns of all triples: (pattern, t1, t2) → number of instances, for the strongest level.
fn expected(oracle: &Oracle, top: Level) -> std::collections::BTreeMap<(Pattern, Node, Node), u64> {
    let commit = oracle.commit_order(top);
    let mut expected = std::collections::BTreeMap::new();
    for triple in &oracle.triples {
        let causal = triple.t1 == NONE || oracle.causal.has(triple.t1, triple.t2);
        if !causal && !commit.has(triple.t1, triple.t2) {
            continue;
        }
        let pattern = match (triple.sees, causal) {
            (Sees::Mono, true) => Pattern::NonMonoReadCO,
            (Sees::Mono, false) => Pattern::NonMonoReadCM,
            (Sees::Frac, true) if top > LEVELS[0] => Pattern::FracturedReadCO,
            (Sees::Frac, false) if top > LEVELS[0] => Pattern::FracturedReadCM,
            (Sees::Causal, true) if top > LEVELS[1] => Pattern::COConflictCM,
            (Sees::Causal, false) if top > LEVELS[1] => Pattern::ConflictCM,
            _ => continue,
        };
        *expected.entry((pattern, triple.t1, triple.t2)).or_default() += 1;
    }
    expected
}

fn is_in_commit_order(pattern: Pattern) -> bool {
    matches!(
        pattern,
        Pattern::NonMonoReadCM | Pattern::FracturedReadCM | Pattern::ConflictCM
    )
}

/// Checks every edge of a violation and that they contradict each other.
fn check_story(history: &History, index: &Index, violation: &Violation) {
    let node = |t: TransactionId| {
        if t.is_initial() {
            NONE
        } else {
            index.node[t.index()]
        }
    };
    // Who did it, what, to which key, and who wrote that version.
    let operation = |o: OperationId| {
        let (t, operation) = (node(history.transaction_of(o)), history.operation(o));
        let writer = match operation.kind {
            OperationKind::Write => t,
            OperationKind::Read => index
                .reads_of(t)
                .find(|&read| index.read_operation[read] == o)
                .map_or(t, |read| index.read_writer[read]),
        };
        (t, operation.kind, operation.key, writer)
    };
    let session = &index.session;
    let is_path = |edges: &[usize], from: TransactionId, to: TransactionId| {
        let ends: Vec<_> = edges
            .iter()
            .map(|&e| (violation.edges[e].from, violation.edges[e].to))
            .collect();
        ends.first().expect("not empty").0 == from
            && ends.last().expect("not empty").1 == to
            && ends.windows(2).all(|pair| pair[0].1 == pair[1].0)
    };
    for (at, edge) in violation.edges.iter().enumerate() {
        assert!(
            edge.because.premises().iter().all(|&premise| premise < at),
            "{violation:?}"
        );
        assert!(
            [edge.from, edge.to]
                .iter()
                .all(|t| violation.transactions.contains(t)),
            "{violation:?}"
        );
        let (from, to) = (node(edge.from), node(edge.to));
        match (edge.relation, &edge.because) {
            (Relation::SessionOrder, Reason::SessionOrder) => {
                assert!(
                    from < to && session[from as usize] == session[to as usize],
                    "{edge:?}"
                );
            }
            (Relation::CausalOrder, Reason::SessionOrder) => {
                assert!(from == NONE && to != NONE, "{edge:?}")
            }
            (Relation::WriteRead, Reason::Reads) => {
                let key = edge.key.expect("a key");
                let read = operation(edge.to_operation.expect("a read"));
                assert_eq!(read, (to, OperationKind::Read, key, from));
                let write = edge.from_operation.map(operation);
                assert_eq!(
                    write,
                    (from != NONE).then_some((from, OperationKind::Write, key, from))
                );
            }
            (
                Relation::CommitOrder,
                Reason::Visible {
                    axiom,
                    reader,
                    read,
                    seen,
                },
            ) => {
                let key = edge.key.expect("a key");
                let write = |writer: Node| (writer, OperationKind::Write, key, writer);
                assert_eq!(
                    operation(*read),
                    (node(*reader), OperationKind::Read, key, to)
                );
                assert_eq!(
                    operation(edge.from_operation.expect("a write")),
                    write(from)
                );
                assert_eq!(
                    edge.to_operation.map(operation),
                    (to != NONE).then_some(write(to))
                );
                assert!(is_path(seen, edge.from, *reader), "{violation:?}");
                let one = &violation.edges[seen[0]];
                match axiom {
                    Axiom::ReadCommitted => {
                        assert!(
                            seen.len() == 1
                                && one.relation == Relation::WriteRead
                                && one.to_operation < Some(*read)
                        );
                    }
                    Axiom::ReadAtomic => assert_eq!(seen.len(), 1),
                    _ => assert!(seen.iter().all(|&e| {
                        matches!(
                            violation.edges[e].relation,
                            Relation::SessionOrder | Relation::WriteRead
                        )
                    })),
                }
                let level = match axiom {
                    Axiom::ReadCommitted => LEVELS[0],
                    Axiom::ReadAtomic => LEVELS[1],
                    _ => LEVELS[2],
                };
                let weakest = LEVELS
                    .into_iter()
                    .find(|&level| violation.levels.contains(level));
                assert!(weakest >= Some(level), "{violation:?}");
            }
            _ => panic!("unexpected edge {edge:?}"),
        }
    }
    let Proof::Cycle(cycle) = &violation.proof else {
        panic!("no cycle: {violation:?}")
    };
    let start = violation.edges[cycle[0]].from;
    assert!(is_path(cycle, start, start), "{violation:?}");
}

#[test]
fn instances_agree_with_the_axioms() {
    let mut random = fastrand::Rng::with_seed(11);
    let control = Control::new();
    let mut seen = std::collections::BTreeMap::new();
    for round in 0..40_000 {
        let tiny = tiny(&mut random);
        let history = tiny.history();
        let index = common::index(&history);
        let oracle = Oracle::new(&index);
        for top in LEVELS {
            let found =
                instances::instances(&history, &index, LevelSet::from_iter([top]), 1000, &control)
                    .expect("no limit");
            let expected = expected(&oracle, top);
            let mut counts = std::collections::BTreeMap::new();
            for (&(pattern, ..), &count) in &expected {
                *counts.entry(pattern).or_insert(0) += count;
            }
            let cyclic = (0..oracle.n as Node).filter(|&v| {
                oracle.causal.has(v, v)
                    && !(0..v).any(|u| oracle.causal.has(u, v) && oracle.causal.has(v, u))
            });
            let cyclic = cyclic.count() as u64;
            if cyclic > 0 {
                counts.insert(Pattern::CyclicCO, cyclic);
            }
            assert_eq!(found.counts, counts, "{top} {tiny}");
            for (&pattern, &count) in &counts {
                *seen.entry((top, pattern)).or_insert(0) += count;
            }
            // Where t1 precedes t2 only because everything comes after ⊥, what would precede ⊥ is all that is told.
            let proper = oracle.proper_order(top);
            let is_proper = |&(pattern, t1, t2): &(Pattern, Node, Node)| {
                !is_in_commit_order(pattern) || proper.has(t1, t2)
            };
            let by_initial: std::collections::BTreeSet<Pattern> = expected
                .keys()
                .filter(|one| !is_proper(one))
                .map(|one| one.0)
                .collect();
            let mut told_by_initial = std::collections::BTreeSet::new();
            let mut listed = std::collections::BTreeSet::new();
            for violation in &found.violations {
                check_story(&history, &index, violation);
                if violation.id.pattern == Pattern::CyclicCO {
                    continue;
                }
                let node = |t: TransactionId| {
                    if t.is_initial() {
                        NONE
                    } else {
                        index.node[t.index()]
                    }
                };
                let [t1, t2, t3] = [0, 1, 2].map(|at| node(violation.transactions[at]));
                let is_by_initial = is_in_commit_order(violation.id.pattern) && t1 == NONE;
                let told = if is_by_initial {
                    &mut told_by_initial
                } else {
                    &mut listed
                };
                let is_new = told.insert((violation.id.pattern, t1, t2));
                assert!(is_new || is_by_initial, "twice: {violation:?} {tiny}");
                let key = violation.key.expect("a key").0;
                let triple = oracle
                    .triples
                    .iter()
                    .find(|t| (t.key, t.t1, t.t2, t.t3) == (key, t1, t2, t3));
                let triple = triple.expect("the axioms have it");
                let closes = |level: &Level| t1 == NONE || oracle.proper_order(*level).has(t1, t2);
                let level = LEVELS
                    .into_iter()
                    .filter(|level| *level >= triple.level)
                    .find(closes);
                assert_eq!(
                    violation.levels,
                    LevelSet::upward(level.expect("a level")),
                    "{violation:?} {tiny}"
                );
                assert_eq!(
                    violation.implied,
                    is_by_initial || t1 != NONE && oracle.causal.has(t2, t1)
                );
                let Proof::Cycle(cycle) = &violation.proof else {
                    panic!("no cycle: {violation:?}")
                };
                let to_initial = cycle
                    .iter()
                    .any(|&edge| violation.edges[edge].to.is_initial());
                assert!(!to_initial || cycle.len() == 2, "{violation:?} {tiny}");
            }
            assert_eq!(
                listed,
                expected.keys().copied().filter(is_proper).collect(),
                "{top} {tiny}"
            );
            let told_by_initial: std::collections::BTreeSet<Pattern> =
                told_by_initial.iter().map(|one| one.0).collect();
            assert_eq!(told_by_initial, by_initial, "{top} {tiny}");
            if round % 8 == 0 {
                let node = |t: TransactionId| {
                    if t.is_initial() {
                        NONE
                    } else {
                        index.node[t.index()]
                    }
                };
                let mut every = std::collections::BTreeMap::new();
                for (&pattern, &count) in counts
                    .iter()
                    .filter(|(pattern, _)| **pattern != Pattern::CyclicCO)
                {
                    let mut window = Window::new(std::iter::empty(), 0, 1..count + 1);
                    let levels = LevelSet::from_iter([top]);
                    let all = instances::unlisted(
                        &history,
                        &index,
                        levels,
                        pattern,
                        &mut window,
                        &control,
                    )
                    .expect("no limit");
                    let places: Vec<_> = all.iter().map(|violation| violation.place).collect();
                    assert!(
                        places.is_sorted() && places.windows(2).all(|pair| pair[0] != pair[1]),
                        "{tiny}"
                    );
                    for violation in &all {
                        check_story(&history, &index, violation);
                        let [t1, t2] = [0, 1].map(|at| node(violation.transactions[at]));
                        let t2 = if is_in_commit_order(pattern) && t1 == NONE {
                            NONE
                        } else {
                            t2
                        };
                        *every.entry((pattern, t1, t2)).or_insert(0) += 1;
                    }
                }
                let mut expected_of_all = std::collections::BTreeMap::new();
                for (one, count) in &expected {
                    let told = if is_proper(one) {
                        *one
                    } else {
                        (one.0, NONE, NONE)
                    };
                    *expected_of_all.entry(told).or_insert(0) += count;
                }
                assert_eq!(every, expected_of_all, "{top} {tiny}");
            }
            let violated = !oracle.satisfies(top);
            let only_same_key = oracle
                .triples
                .iter()
                .any(|t| t.sees == Sees::SameKey || t.level < LEVELS[1]);
            assert!(
                violated != found.violations.is_empty() || only_same_key,
                "{top} {tiny}"
            );
        }
    }
    assert!(
        seen.len() >= 12 && seen.values().all(|&count| count > 200),
        "{seen:?}"
    );
}
