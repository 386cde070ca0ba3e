//! Patterns made of two certain anti-dependencies, found by joining them: write skew and long fork (MTC, Table I;
//! Cerone & Gotsman, Fig. 2).

use super::Listing;
use super::argument::Argument;
use super::next_version::{AntiDependency, Newer, anti_dependencies, causal_graph, next_after};
use crate::checkers::place::{Place, Window};
use crate::checkers::strong::CausalPast;
use crate::checkers::{Level, LevelSet, Pattern, Proof, Violation};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::{Digraph, PathFinder, strong_components, topological_order};
use isoscope_model::history::History;
use isoscope_model::relations::{EdgeIndex, Index, NONE, Node};

/// What is searched for the patterns.
pub(super) struct Pairs<'a> {
    pub(super) history: &'a History,
    pub(super) index: &'a Index,
    pub(super) causal: Digraph,
    past: Option<CausalPast>,
    /// Whether SO ∪ WR has no cycle: else no version is certainly next.
    is_ordered: bool,
    pub(super) edges: Vec<AntiDependency>,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(
        history: &'a History,
        index: &'a Index,
        control: &Control,
    ) -> Result<Pairs<'a>, Interrupt> {
        let causal = causal_graph(index);
        let past = CausalPast::new(index, &causal, control)?;
        let is_ordered = topological_order(&causal).is_some();
        let edges = if is_ordered {
            anti_dependencies(index, past.as_ref(), control)?
        } else {
            Vec::new()
        };
        Ok(Pairs {
            history,
            index,
            causal,
            past,
            is_ordered,
            edges,
        })
    }

    /// The anti-dependency of one read, if it has one.
    pub(super) fn next_after(&self, read: u32) -> Option<AntiDependency> {
        if self.is_ordered {
            next_after(self.index, self.past.as_ref(), read)
        } else {
            None
        }
    }

    /// Forgets the anti-dependencies, of which there may be as many as reads.
    pub(super) fn forget_edges(&mut self) {
        self.edges = Vec::new();
    }

    /// Whether neither is known to causally precede the other.
    pub(super) fn independent(&self, a: Node, b: Node) -> bool {
        let past = self.past.as_ref();
        past.is_none_or(|past| !past.precedes(self.index, a, b) && !past.precedes(self.index, b, a))
    }

    /// t1 and t2 write no common key, are causally independent, and each misses what the other wrote. Counts pairs of
    /// anti-dependencies, lists each pair of transactions once.
    pub(super) fn write_skews(&self, most: usize, listing: &mut Listing<'_>) {
        let mut listed = 0;
        self.skewed(|there, back| {
            listing.count(Pattern::WriteSkew, (there.len() * back.len()) as u64);
            let (a, b) = (
                self.edges[there[0] as usize].reader,
                self.edges[back[0] as usize].reader,
            );
            if listed < most {
                listed += 1;
                let group = listing.new_group();
                if let Some(violation) = self.write_skew(there[0], back[0]) {
                    listing.add(violation, group);
                }
            } else {
                listing.note_skew([a, b].map(|t| self.index.transaction[t as usize]));
            }
        });
    }

    /// The counted write skews that `window` wants, by transactions and anti-dependencies.
    pub(super) fn unlisted_skews(&self, window: &mut Window) -> Vec<Violation> {
        let mut found = Vec::new();
        self.skewed(|there, back| {
            let [a, b] = [there[0], back[0]].map(|edge| self.edges[edge as usize].reader);
            let of_pair = Place([a, b, 0, 0])..=Place([a, b, NONE, NONE]);
            if window.skips((there.len() * back.len()) as u64, of_pair) {
                return;
            }
            for (&one, &other) in there
                .iter()
                .flat_map(|one| back.iter().map(move |other| (one, other)))
            {
                let Some(ordinal) = window.admits(Place([a, b, one, other])) else {
                    continue;
                };
                if let Some(mut violation) = self.write_skew(one, other) {
                    violation.id.ordinal = ordinal as u32;
                    found.push(violation);
                }
            }
        });
        found
    }

    /// Visits the pairs of transactions with the places of the anti-dependencies from the lower to the higher one and back.
    fn skewed(&self, mut visit: impl FnMut(&[u32], &[u32])) {
        let graph = Digraph::new(
            self.index.n_nodes(),
            self.causal
                .edges()
                .map(|arc| (arc.from, arc.to))
                .chain(self.edges.iter().map(|e| (e.reader, e.next))),
        );
        let components = strong_components(&graph);
        let on_cycle = (0..)
            .zip(&self.edges)
            .filter(|(_, e)| components.share_cycle(e.reader, e.next));
        let mut joined: Vec<(Node, Node, bool, u32)> = on_cycle
            .map(|(place, e)| {
                (
                    e.reader.min(e.next),
                    e.reader.max(e.next),
                    e.reader > e.next,
                    place,
                )
            })
            .collect();
        joined.sort_unstable();
        drop((graph, components));
        let [mut places_there, mut places_back] = [Vec::new(), Vec::new()];
        for pair in joined.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (there, back) = pair.split_at(pair.partition_point(|(_, _, is_back, _)| !is_back));
            let (a, b) = (pair[0].0, pair[0].1);
            if !there.is_empty()
                && !back.is_empty()
                && !self.write_common_key(a, b)
                && self.independent(a, b)
            {
                for (places, edges) in [(&mut places_there, there), (&mut places_back, back)] {
                    places.clear();
                    places.extend(edges.iter().map(|&(.., place)| place));
                }
                visit(&places_there, &places_back);
            }
        }
    }

    fn write_common_key(&self, a: Node, b: Node) -> bool {
        let index = self.index;
        let keys = |t: Node| &index.write_key[index.writes_of(t)];
        keys(a).iter().any(|key| keys(b).binary_search(key).is_ok())
    }

    fn write_skew(&self, there: u32, back: u32) -> Option<Violation> {
        let (first, second) = (self.edges[there as usize], self.edges[back as usize]);
        let place = Place([first.reader, second.reader, there, back]);
        let mut argument = Argument::new(self.history, self.index);
        let mut finder = PathFinder::new(self.index.n_nodes());
        let there = self.anti_dependency(&mut argument, &mut finder, first)?;
        let back = self.anti_dependency(&mut argument, &mut finder, second)?;
        let order = [first.reader, second.reader].map(|t| self.index.transaction[t as usize]);
        let violation = argument.violation(
            Pattern::WriteSkew,
            vec!["G2-item".to_owned()],
            LevelSet::upward(Level::Serializability)
                .union(LevelSet::from_iter([Level::PlainUpdateSerializability])),
            None,
            &order,
            Proof::Cycle(vec![there, back]),
        );
        Some(Violation {
            place: Some(place),
            ..violation
        })
    }

    pub(super) fn anti_dependency(
        &self,
        argument: &mut Argument<'_>,
        finder: &mut PathFinder,
        edge: AntiDependency,
    ) -> Option<EdgeIndex> {
        let order = match edge.newer(self.index) {
            Newer::ThanInitial => Vec::new(),
            Newer::Update(read) => vec![argument.read(edge.next, read as usize)],
            Newer::Causally => {
                let writer = self.index.writer_of_read(edge.read as usize);
                argument.causal_path(&self.causal, finder, writer, edge.next)?
            }
        };
        Some(argument.overwrites(edge.reader, edge.read as usize, edge.next, order))
    }
}
