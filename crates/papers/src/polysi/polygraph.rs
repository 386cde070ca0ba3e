//! Generalized polygraphs (PolySI, Definition 8).

use super::super::{most_at_once, too_large};
use isoscope_check::checkers::Cause;
use isoscope_model::control::Control;
use isoscope_model::graph::{Digraph, PathFinder, shortest_cycle, strong_components};
use isoscope_model::relations::{Index, NONE, Node, Slot};

/// Memory for constraints and known edges if the user sets no limit.
const EDGE_BYTES: u64 = 1 << 30;

/// Two writers of a key: either the version of the first is the older one, or that of the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Constraint {
    pub(super) first: Slot,
    pub(super) second: Slot,
}

/// One side of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) older: Slot,
    pub(super) newer: Slot,
}

impl Constraint {
    pub(super) fn sides(self) -> [Side; 2] {
        let Constraint { first, second } = self;
        [
            Side {
                older: first,
                newer: second,
            },
            Side {
                older: second,
                newer: first,
            },
        ]
    }
}

/// Known edges, and constraints between those that are not.
pub(super) struct Polygraph<'a> {
    pub(super) index: &'a Index,
    /// Whether an anti-dependency counts only after another edge (SI), or always (SER).
    pub(super) split: bool,
    /// By external read: the reader.
    reader: Vec<Node>,
    /// SO without its transitive edges, WR, and known WW.
    pub(super) dependencies: Vec<(Node, Node)>,
    /// Known RW.
    pub(super) anti_dependencies: Vec<(Node, Node)>,
    /// The remaining choices.
    pub(super) constraints: Vec<Constraint>,
}

impl<'a> Polygraph<'a> {
    /// "CreateKnownGraph" and "GenerateConstraints". O(n + reads + Σ w² + Σ w · readers of the initial version).
    pub(super) fn new(
        index: &'a Index,
        split: bool,
        control: &Control,
    ) -> Result<Polygraph<'a>, Cause> {
        let bytes = 8
            * (0..index.n_keys() as u32)
                .map(|key| n_edges(index, key))
                .sum::<u64>();
        let most = most_at_once(EDGE_BYTES, control);
        if bytes > most {
            return Err(too_large("the constraints of the polygraph", bytes, most));
        }
        let mut reader = vec![NONE; index.read_key.len()];
        let mut dependencies = Vec::new();
        for t in 0..index.n_nodes() as Node {
            control.tick(t as usize)?;
            dependencies.extend(index.successor(t).map(|next| (t, next)));
            for read in index.reads_of(t) {
                reader[read] = t;
                let writer = index.writer_of_read(read);
                dependencies.extend((writer != NONE && writer != t).then_some((writer, t)));
            }
        }
        let anti_dependencies = Vec::new();
        let mut made = Polygraph {
            index,
            split,
            reader,
            dependencies,
            anti_dependencies,
            constraints: Vec::new(),
        };
        for key in 0..index.n_keys() as u32 {
            control.tick(key as usize)?;
            made.after_initial(key);
            made.constrain(key);
        }
        made.listed();
        Ok(made)
    }

    /// Readers of the initial version of a key do not see any other version.
    fn after_initial(&mut self, key: u32) {
        let index = self.index;
        for &read in index.readers_of_initial(key) {
            let r = self.reader[read as usize];
            let writers = index
                .slots_of(key)
                .map(|slot| index.slot_node[slot])
                .filter(|&w| w != r);
            self.anti_dependencies.extend(writers.map(|w| (r, w)));
        }
    }

    fn constrain(&mut self, key: u32) {
        let slots = self.index.slots_of(key);
        for first in slots.clone() {
            let others = (first + 1..slots.end).map(|second| Constraint {
                first: first as Slot,
                second: second as Slot,
            });
            self.constraints.extend(others);
        }
    }

    /// The orders that lists show.
    fn listed(&mut self) {
        let index = self.index;
        for pair in index.listed() {
            if let (Some(older), Some(newer)) = (
                index.slot_of(pair.older, pair.key),
                index.slot_of(pair.newer, pair.key),
            ) {
                self.know(Side { older, newer });
            }
        }
    }

    /// The edges of a side: WW, and RW by all readers of the older version.
    pub(super) fn edges(
        &self,
        side: Side,
    ) -> (
        (Node, Node),
        impl Iterator<Item = (Node, Node)> + Clone + '_,
    ) {
        let of = |slot: Slot| self.index.slot_node[slot as usize];
        let newer = of(side.newer);
        let readers = self
            .index
            .readers_of(side.older)
            .iter()
            .map(|&read| self.reader[read as usize]);
        (
            (of(side.older), newer),
            readers
                .filter(move |&r| r != newer)
                .map(move |r| (r, newer)),
        )
    }

    /// Makes a side known.
    pub(super) fn know(&mut self, side: Side) {
        let (dependency, anti_dependencies) = self.edges(side);
        let anti_dependencies: Vec<(Node, Node)> = anti_dependencies.collect();
        self.dependencies.push(dependency);
        self.anti_dependencies.extend(anti_dependencies);
    }

    /// The start of a transaction, in the graph of which a cycle violates the level.
    #[inline]
    pub(super) fn start(&self, t: Node) -> u32 {
        if self.split { 2 * t } else { t }
    }

    /// Its commit.
    #[inline]
    pub(super) fn commit(&self, t: Node) -> u32 {
        if self.split { 2 * t + 1 } else { t }
    }

    /// Number of starts and commits.
    pub(super) fn n_events(&self) -> usize {
        self.index.n_nodes() * if self.split { 2 } else { 1 }
    }

    /// SO, WR or WW between events.
    pub(super) fn dependency(&self, (from, to): (Node, Node)) -> (u32, u32) {
        (self.commit(from), self.start(to))
    }

    /// RW between events.
    pub(super) fn anti_dependency(&self, (from, to): (Node, Node)) -> (u32, u32) {
        (self.start(from), self.commit(to))
    }

    /// All known edges between events.
    pub(super) fn known(&self) -> impl Iterator<Item = (u32, u32)> + Clone + '_ {
        let own = (0..if self.split {
            self.index.n_nodes() as Node
        } else {
            0
        })
            .map(|t| (2 * t, 2 * t + 1));
        let dependencies = self.dependencies.iter().map(|&edge| self.dependency(edge));
        own.chain(dependencies).chain(
            self.anti_dependencies
                .iter()
                .map(|&edge| self.anti_dependency(edge)),
        )
    }

    /// The edges of a short cycle of a graph of events; there must be a cycle.
    pub(super) fn cycle(&self, graph: &Digraph) -> Vec<(u32, u32)> {
        /// Vertices from which a shorter cycle is searched.
        const TRIES: usize = 64;
        let components = strong_components(graph);
        let Some(&cyclic) = components.cyclic().first() else {
            return Vec::new();
        };
        let inside = |vertex: u32| components.component[vertex as usize] == cyclic;
        let mut finder = PathFinder::new(graph.n_vertices());
        let cycle = shortest_cycle(
            graph,
            &mut finder,
            components.members(cyclic),
            inside,
            TRIES,
        );
        cycle
            .unwrap_or_default()
            .iter()
            .map(|edge| (edge.from, edge.to))
            .collect()
    }

    /// The transaction of an event.
    #[inline]
    pub(super) fn node(&self, event: u32) -> Node {
        if self.split { event / 2 } else { event }
    }

    /// The edges of a side between events, WW first.
    pub(super) fn events_of(&self, side: Side) -> Vec<(u32, u32)> {
        let (dependency, anti_dependencies) = self.edges(side);
        let mut edges = vec![self.dependency(dependency)];
        edges.extend(anti_dependencies.map(|edge| self.anti_dependency(edge)));
        edges
    }

    /// How many constraints are left, and how many edges they have. Without compaction a pair of writers has a constraint
    /// of two edges for their order, and another one for each reader.
    pub(super) fn size(&self, compact: bool) -> (usize, usize) {
        let edges = |constraint: &Constraint| {
            constraint
                .sides()
                .into_iter()
                .map(|side| 1 + self.edges(side).1.count())
                .sum::<usize>()
        };
        let edges: usize = self.constraints.iter().map(edges).sum();
        if compact {
            (self.constraints.len(), edges)
        } else {
            (
                edges - self.constraints.len(),
                2 * (edges - self.constraints.len()),
            )
        }
    }
}

/// Most edges that the constraints of a key and the readers of its initial version make, and the constraints themselves.
fn n_edges(index: &Index, key: u32) -> u64 {
    let slots = index.slots_of(key);
    let writers = slots.len() as u64;
    let readers: u64 = slots
        .map(|slot| index.readers_of(slot as Slot).len() as u64)
        .sum();
    let initial = index.readers_of_initial(key).len() as u64;
    writers * initial + writers.saturating_sub(1) * (2 * writers + readers)
}
