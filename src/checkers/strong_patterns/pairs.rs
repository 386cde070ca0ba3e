//! Patterns made of two certain anti-dependencies, found by joining them: write skew and long fork (MTC, Table I;
//! Cerone & Gotsman, Fig. 2).

use super::Listing;
use super::argument::Argument;
use super::next_version::{AntiDependency, Newer, anti_dependencies, causal_graph, missed_slot};
use crate::checkers::strong::CausalPast;
use crate::checkers::{Level, LevelSet, Pattern, Proof, Violation};
use crate::control::{Control, Interrupt};
use crate::graph::{Components, Digraph, PathFinder, strong_components};
use crate::history::{History, TransactionId};
use crate::relations::{EdgeIndex, INITIAL_SLOT, Index, NONE, Node};

/// What the patterns are looked for in.
pub(super) struct Pairs<'a> {
    history: &'a History,
    index: &'a Index,
    causal: Digraph,
    past: Option<CausalPast>,
    edges: Vec<AntiDependency>,
}

/// One reader's half of a long fork: it saw one version and missed the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Half {
    seen: u32,
    missed: u32,
    /// Place of the anti-dependency.
    edge: u32,
    /// The read of the seen version.
    read: u32,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(history: &'a History, index: &'a Index, control: &Control) -> Result<Pairs<'a>, Interrupt> {
        let causal = causal_graph(index);
        let past = CausalPast::new(index, &causal, control)?;
        let edges = anti_dependencies(index, &causal, past.as_ref(), control)?;
        Ok(Pairs { history, index, causal, past, edges })
    }

    /// Whether neither causally precedes the other, as far as is known.
    fn independent(&self, a: Node, b: Node) -> bool {
        let past = self.past.as_ref();
        past.is_none_or(|past| !past.precedes(self.index, a, b) && !past.precedes(self.index, b, a))
    }

    /// t1 and t2 write no common key, are causally independent, and each misses what the other wrote. Counts pairs of
    /// anti-dependencies, lists each pair of transactions once.
    pub(super) fn write_skews(&self, most: usize, listing: &mut Listing) {
        let index = self.index;
        let graph = Digraph::new(
            index.n_nodes(),
            self.causal.edges().map(|arc| (arc.from, arc.to)).chain(self.edges.iter().map(|e| (e.reader, e.next))),
        );
        let components = strong_components(&graph);
        let on_cycle = self.edges.iter().enumerate().filter(|(_, e)| components.share_cycle(e.reader, e.next));
        let mut joined: Vec<(Node, Node, bool, usize)> =
            on_cycle.map(|(place, e)| (e.reader.min(e.next), e.reader.max(e.next), e.reader > e.next, place)).collect();
        joined.sort_unstable();
        let mut listed = 0;
        for pair in joined.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (a, b) = (pair[0].0, pair[0].1);
            let there = pair.iter().filter(|(_, _, back, _)| !back).count();
            let back = pair.len() - there;
            if there == 0 || back == 0 || self.write_common_key(a, b) || !self.independent(a, b) {
                continue;
            }
            listing.count(Pattern::WriteSkew, (there * back) as u64);
            if listed < most {
                listed += 1;
                let group = listing.new_group();
                let (first, second) = (self.edges[pair[0].3], self.edges[pair[there].3]);
                if let Some(violation) = self.write_skew(first, second) {
                    listing.add(violation, group);
                }
            } else {
                listing.note(Pattern::WriteSkew, [a, b].map(|t| index.transaction[t as usize]).to_vec());
            }
        }
    }

    fn write_common_key(&self, a: Node, b: Node) -> bool {
        let index = self.index;
        let keys = |t: Node| &index.write_key[index.writes_of(t)];
        keys(a).iter().any(|key| keys(b).binary_search(key).is_ok())
    }

    fn write_skew(&self, first: AntiDependency, second: AntiDependency) -> Option<Violation> {
        let mut argument = Argument::new(self.history, self.index);
        let mut finder = PathFinder::new(self.index.n_nodes());
        let there = self.anti_dependency(&mut argument, &mut finder, first)?;
        let back = self.anti_dependency(&mut argument, &mut finder, second)?;
        let order = [first.reader, second.reader].map(|t| self.index.transaction[t as usize]);
        Some(argument.violation(
            Pattern::WriteSkew,
            vec!["G2-item".to_owned()],
            LevelSet::upward(Level::Serializability),
            None,
            &order,
            Proof::Cycle(vec![there, back]),
        ))
    }

    fn anti_dependency(
        &self,
        argument: &mut Argument<'_>,
        finder: &mut PathFinder,
        edge: AntiDependency,
    ) -> Option<EdgeIndex> {
        let order = match edge.newer {
            Newer::ThanInitial => Vec::new(),
            Newer::Update(read) => vec![argument.read(edge.next, read as usize)],
            Newer::Causally => {
                let writer = self.index.writer_of_read(edge.read as usize);
                argument.causal_path(&self.causal, finder, writer, edge.next)?
            }
        };
        Some(argument.overwrites(edge.reader, edge.read as usize, edge.next, order))
    }

    /// t3 reads x from t1 and misses t2's y, t4 reads y from t2 and misses t1's x, t1 and t2 causally independent.
    /// Counts all (t1, t2, t3, t4); groups by (t1, t2).
    ///
    /// ```text
    ///   t1 w(x) ── WR ──→ t3 r(x) r(y)
    ///      ↑                   │ RW
    ///      RW                  ↓
    ///   t4 r(y) r(x) ←─ WR ── t2 w(y)
    /// ```
    pub(super) fn long_forks(&self, most: usize, listing: &mut Listing, control: &Control) -> Result<(), Interrupt> {
        let index = self.index;
        let mut halves = self.halves(&self.components_of_snapshots());
        halves.sort_unstable_by_key(|half| (half.seen.min(half.missed), half.seen.max(half.missed), *half));
        let mut listed = 0;
        let versions = |half: &Half| (half.seen.min(half.missed), half.seen.max(half.missed));
        for fork in halves.chunk_by(|a, b| versions(a) == versions(b)) {
            control.check()?;
            let (seen, other) = versions(&fork[0]);
            let middle = fork.partition_point(|half| half.seen == seen);
            let (of_first, of_second) = fork.split_at(middle);
            let (t1, t2) = (index.slot_node[seen as usize], index.slot_node[other as usize]);
            if of_first.is_empty() || of_second.is_empty() || !self.independent(t1, t2) {
                continue;
            }
            listing.count(Pattern::LongFork, (of_first.len() * of_second.len()) as u64);
            let group = listing.new_group();
            for (first, second) in of_first.iter().flat_map(|a| of_second.iter().map(move |b| (a, b))) {
                if listed == most {
                    let readers = [first, second].map(|half| self.edges[half.edge as usize].reader);
                    let all = [t1, t2, readers[0], readers[1]];
                    if !listing.note(Pattern::LongFork, all.map(|t| index.transaction[t as usize]).to_vec()) {
                        break;
                    }
                    continue;
                }
                listed += 1;
                if let Some(violation) = self.long_fork(t1, t2, *first, *second) {
                    listing.add(violation, group);
                }
            }
        }
        Ok(())
    }

    /// Components of starts (2t) and commits (2t + 1) under SO, WR and the anti-dependencies.
    fn components_of_snapshots(&self) -> Components {
        let inside = (0..self.index.n_nodes() as Node).map(|t| (2 * t, 2 * t + 1));
        let causal = self.causal.edges().map(|arc| (2 * arc.from + 1, 2 * arc.to));
        let missed = self.edges.iter().map(|e| (2 * e.reader, 2 * e.next + 1));
        strong_components(&Digraph::new(2 * self.index.n_nodes(), inside.chain(causal).chain(missed)))
    }

    fn halves(&self, components: &Components) -> Vec<Half> {
        let index = self.index;
        let mut halves = Vec::new();
        for (place, edge) in self.edges.iter().enumerate() {
            if !components.share_cycle(2 * edge.reader, 2 * edge.next + 1) {
                continue;
            }
            let missed = missed_slot(index, edge);
            let mut versions_seen: Vec<(u32, u32)> =
                index.reads_of(edge.reader).map(|read| (index.read_slot[read], read as u32)).collect();
            versions_seen.sort_unstable();
            versions_seen.dedup_by_key(|(slot, _)| *slot);
            for (seen, read) in versions_seen {
                if seen == INITIAL_SLOT || missed == INITIAL_SLOT {
                    continue;
                }
                let t1 = index.slot_node[seen as usize];
                let other_key = index.slot_key[seen as usize] != index.slot_key[missed as usize];
                if other_key
                    && t1 != edge.next
                    && t1 != edge.reader
                    && components.share_cycle(2 * t1 + 1, 2 * edge.reader)
                {
                    halves.push(Half { seen, missed, edge: place as u32, read });
                }
            }
        }
        halves
    }

    fn long_fork(&self, t1: Node, t2: Node, first: Half, second: Half) -> Option<Violation> {
        let mut argument = Argument::new(self.history, self.index);
        let mut finder = PathFinder::new(self.index.n_nodes());
        let (t3_misses, t4_misses) = (self.edges[first.edge as usize], self.edges[second.edge as usize]);
        let t1_seen = argument.read(t3_misses.reader, first.read as usize);
        let t2_missed = self.anti_dependency(&mut argument, &mut finder, t3_misses)?;
        let t2_seen = argument.read(t4_misses.reader, second.read as usize);
        let t1_missed = self.anti_dependency(&mut argument, &mut finder, t4_misses)?;
        let order: Vec<TransactionId> = [t1, t2, t3_misses.reader, t4_misses.reader]
            .into_iter()
            .filter(|&t| t != NONE)
            .map(|t| self.index.transaction[t as usize])
            .collect();
        Some(argument.violation(
            Pattern::LongFork,
            vec!["G-nonadjacent".to_owned()],
            LevelSet::upward(Level::PrefixConsistency),
            None,
            &order,
            Proof::Cycle(vec![t1_seen, t2_missed, t2_seen, t1_missed]),
        ))
    }
}
