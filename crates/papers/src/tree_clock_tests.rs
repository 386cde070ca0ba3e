//! Tree clocks against vectors.

use super::super::vectors::Vectors;
use super::*;
use isoscope_model::graph::strong_components;
use isoscope_model::relations::Node;

/// A deterministic sequence of numbers (Steele, Lea & Flood 2014, SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

/// Sessions of these lengths and nothing else.
fn sessions(lengths: &[usize]) -> Index {
    let mut index = Index::default();
    index.session_begin = vec![0];
    for (session, &length) in lengths.iter().enumerate() {
        index.session.extend((0..length).map(|_| session as u32));
        index.session_begin.push(index.session.len() as u32);
    }
    index.transaction = (0..index.session.len())
        .map(isoscope_model::history::TransactionId::new)
        .collect();
    index
}

/// Every entry below a parent was attached no later than the parent counts, and siblings are ordered latest first.
fn is_well_formed(clock: &TreeClock) -> bool {
    let mut seen = vec![false; clock.entries.len()];
    let mut open = vec![clock.root];
    while let Some(parent) = open.pop() {
        if std::mem::replace(&mut seen[parent as usize], true) {
            return false;
        }
        let of_parent = clock.entries[parent as usize];
        let (mut session, mut before, mut latest) = (of_parent.child, NONE, of_parent.count);
        while session != NONE {
            let entry = clock.entries[session as usize];
            if entry.parent != parent
                || entry.previous != before
                || entry.attached > latest
                || entry.count == 0
            {
                return false;
            }
            latest = entry.attached;
            open.push(session);
            (before, session) = (session, entry.next);
        }
    }
    clock
        .entries
        .iter()
        .zip(&seen)
        .all(|(entry, seen)| (entry.count > 0) == *seen)
}

/// Compares all entries of all clocks on random graphs; if edges may go backwards, there are cycles.
fn compare(backwards: bool) {
    let mut numbers = Numbers(u64::from(backwards));
    let mut cyclic = 0;
    for _ in 0..3000 {
        let lengths: Vec<usize> = (0..1 + numbers.below(6))
            .map(|_| numbers.below(7))
            .collect();
        let index = sessions(&lengths);
        let n = index.n_nodes();
        if n == 0 {
            continue;
        }
        // Any order of the transactions that keeps sessions in order makes random edges acyclic.
        let mut time = vec![0; n];
        for v in 0..n {
            let after = if index.position(v as Node) > 0 {
                time[v - 1]
            } else {
                0
            };
            time[v] = after + 1 + numbers.below(20);
        }
        let mut edges: Vec<(Node, Node)> = (0..n as Node)
            .filter_map(|v| index.successor(v).map(|next| (v, next)))
            .collect();
        for _ in 0..numbers.below(3 * n) {
            let (a, b) = (numbers.below(n), numbers.below(n));
            if time[a] < time[b] || (backwards && a != b && numbers.below(8) == 0) {
                edges.push((a as Node, b as Node));
            }
        }
        let graph = Digraph::new(n, edges.iter().copied());
        let components = strong_components(&graph);
        cyclic += usize::from(components.any_cyclic());
        let control = Control::new();
        let vectors =
            Vectors::new(&graph, &components, &index, u64::MAX, &control).expect("no limit");
        let trees =
            TreeClocks::new(&graph, &components, &index, u64::MAX, &control).expect("no limit");
        for c in 0..components.len() as u32 {
            assert!(
                is_well_formed(&trees.clocks[c as usize]),
                "{lengths:?} {edges:?}"
            );
            for session in 0..index.n_sessions() as u32 {
                assert_eq!(
                    trees.count(c, session),
                    vectors.count(c, session),
                    "{lengths:?} {edges:?}"
                );
            }
        }
    }
    assert_eq!(cyclic > 500, backwards, "{cyclic} graphs with cycles");
}

#[test]
fn tree_clocks_count_what_vectors_count() {
    compare(false);
}

#[test]
fn tree_clocks_count_what_vectors_count_where_there_are_cycles() {
    compare(true);
}

#[test]
fn a_join_looks_at_what_is_new_only() {
    let mut old = TreeClock::flat(&[0, 5, 5, 5, 5, 5, 5, 5], 1, 5);
    let mut mine = TreeClock::new(8, 0, 1);
    assert_eq!(mine.join(&old), 7, "everything is new");
    // The root continues and learns of one session.
    old.advance(6);
    let mut third = TreeClock::new(8, 2, 6);
    assert_eq!(third.count(2), 6);
    third.advance(7);
    assert_eq!(old.join(&third), 1);
    assert_eq!(
        mine.join(&old),
        3,
        "the root, the new child, and the first child known"
    );
    assert_eq!(mine.vector().collect::<Vec<_>>(), [1, 6, 7, 5, 5, 5, 5, 5]);
    assert_eq!(mine.join(&old), 1, "the root is known");
}

#[test]
fn clocks_that_would_be_too_large_are_refused() {
    let index = sessions(&[3, 3]);
    let graph = Digraph::new(6, [(0, 1), (1, 2), (3, 4), (4, 5)].into_iter());
    let components = strong_components(&graph);
    let control = Control::new();
    assert!(Vectors::new(&graph, &components, &index, 47, &control).is_err());
    assert!(Vectors::new(&graph, &components, &index, 48, &control).is_ok());
    assert!(TreeClocks::new(&graph, &components, &index, 287, &control).is_err());
    assert!(TreeClocks::new(&graph, &components, &index, 288, &control).is_ok());
}
