//! SO ∪ WR of one index: neighbours, components, a topological numbering.
//!
//! Session order is implicit (a node's successor is the next number); write-read edges are stored once per pair of
//! nodes in both directions. Knows nothing about axioms.

use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::{Rows, component_numbers};
use isoscope_model::relations::{Index, Listed, NONE, Node};
use std::sync::OnceLock;

/// SO ∪ WR. Memory: two words per distinct write-read pair, one per read.
pub(super) struct Causality<'a> {
    pub(super) index: &'a Index,
    /// By read: the node that reads.
    pub(super) read_node: Vec<Node>,
    /// By node, the nodes that read from it: first places and nodes. Made on first use.
    successors: OnceLock<(Vec<u32>, Vec<Node>)>,
    predecessor_begin: Vec<u32>,
    predecessor: Vec<Node>,
    /// The pairs of versions that lists order: part of every commit order, at every level.
    pub(super) listed: Vec<Listed>,
}

impl<'a> Causality<'a> {
    /// Collects the write-read pairs. O(nodes + reads).
    pub(super) fn new(index: &'a Index, control: &Control) -> Result<Causality<'a>, Interrupt> {
        let n = index.n_nodes();
        let mut read_node = vec![0; index.read_key.len()];
        let mut predecessor_begin = Vec::with_capacity(n + 1);
        let mut predecessor = Vec::with_capacity(index.read_key.len());
        let mut seen_by = vec![NONE; n];
        predecessor_begin.push(0);
        for t in 0..n as Node {
            control.tick(t as usize)?;
            for read in index.reads_of(t) {
                read_node[read] = t;
                let writer = index.writer_of_read(read);
                if writer != NONE && seen_by[writer as usize] != t {
                    seen_by[writer as usize] = t;
                    predecessor.push(writer);
                }
            }
            predecessor_begin.push(predecessor.len() as u32);
        }
        let (successors, listed) = (OnceLock::new(), index.listed());
        Ok(Causality {
            index,
            read_node,
            successors,
            predecessor_begin,
            predecessor,
            listed,
        })
    }

    /// The edges that lists show.
    pub(super) fn listed_edges(&self) -> impl Iterator<Item = Forced> + '_ {
        let places = self.read_node.len() as u32..;
        places.zip(&self.listed).map(|(read, pair)| Forced {
            from: pair.older,
            to: pair.newer,
            read,
        })
    }

    /// The list that shows an edge, if any.
    pub(super) fn list_behind(&self, edge: Forced) -> Option<&Listed> {
        self.listed
            .get((edge.read as usize).checked_sub(self.read_node.len())?)
    }

    /// Number of nodes.
    pub(super) fn n(&self) -> usize {
        self.index.n_nodes()
    }

    /// The nodes that read from `v`, each once, ascending. The first call takes O(nodes + reads), all others O(1).
    #[inline]
    pub(super) fn readers(&self, v: Node) -> &[Node] {
        let (begin, successor) = self.successors.get_or_init(|| self.group_by_writer());
        &successor[begin[v as usize] as usize..begin[v as usize + 1] as usize]
    }

    /// [`Rows::new`] of the pairs, which one iterator over all of them would make slower by half (2 million nodes, 8 million
    /// reads: 34 ms and 50 ms).
    fn group_by_writer(&self) -> (Vec<u32>, Vec<Node>) {
        let n = self.n();
        let mut begin = vec![0u32; n + 2];
        for &writer in &self.predecessor {
            begin[writer as usize + 2] += 1;
        }
        for v in 0..=n {
            begin[v + 1] += begin[v];
        }
        let mut successor = vec![0; self.predecessor.len()];
        for t in 0..n as Node {
            for &writer in self.writers(t) {
                let place = &mut begin[writer as usize + 1];
                successor[*place as usize] = t;
                *place += 1;
            }
        }
        begin.truncate(n + 1);
        (begin, successor)
    }

    /// The nodes `v` reads from, each once, in program order of the first read.
    #[inline]
    pub(super) fn writers(&self, v: Node) -> &[Node] {
        &self.predecessor[self.predecessor_begin[v as usize] as usize
            ..self.predecessor_begin[v as usize + 1] as usize]
    }

    /// The node before `v` in its session.
    #[inline]
    pub(super) fn session_predecessor(&self, v: Node) -> Option<Node> {
        (self.index.position(v) > 0).then(|| v - 1)
    }

    /// Whether a and b are of one session and a is earlier.
    #[inline]
    pub(super) fn in_session_order(&self, a: Node, b: Node) -> bool {
        a < b && self.index.session[a as usize] == self.index.session[b as usize]
    }
}

/// An inferred commit-order edge: `read` (of t3) returns the version of `to` (t1), and `from` (t2), which also writes
/// the key, is visible to t3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Forced {
    /// t2.
    pub(super) from: Node,
    /// t1, or [`NONE`] for ⊥.
    pub(super) to: Node,
    /// t3's read of the key, as a place in the `read_*` arrays; beyond those, a place in [`Causality::listed`] for an
    /// edge that a list shows.
    pub(super) read: u32,
}

/// Forced edges by starting node, one per pair of nodes.
#[derive(Default)]
pub(super) struct ForcedEdges(Rows<Forced>);

impl ForcedEdges {
    /// Sorts, keeps the edge of the first read for each pair. O(n + edges log edges).
    pub(super) fn new(n: usize, mut edges: Vec<Forced>) -> ForcedEdges {
        use rayon::slice::ParallelSliceMut;
        edges.par_sort_unstable();
        edges.dedup_by_key(|edge| (edge.from, edge.to));
        ForcedEdges(Rows::of_sorted(n, edges, |edge| edge.from))
    }

    /// The edges that start at `v`, by end.
    #[inline]
    pub(super) fn of(&self, v: Node) -> &[Forced] {
        match self.0.n_rows() {
            0 => &[],
            _ => self.0.of(v),
        }
    }

    /// All edges, by start, then end.
    pub(super) fn all(&self) -> &[Forced] {
        self.0.items()
    }

    /// Whether some edge contradicts ⊥ being first.
    pub(super) fn reach_initial(&self) -> bool {
        self.all().iter().any(|edge| edge.to == NONE)
    }

    /// All but the edges that contradict ⊥ being first, of `n` nodes. O(n + edges).
    pub(super) fn without_initial(&self, n: usize) -> ForcedEdges {
        let others = self
            .all()
            .iter()
            .copied()
            .filter(|edge| edge.to != NONE)
            .collect();
        ForcedEdges(Rows::of_sorted(n, others, |edge| edge.from))
    }

    /// The edge from `a` to `b`, if it is there. O(log).
    pub(super) fn find(&self, a: Node, b: Node) -> Option<Forced> {
        let edges = self.of(a);
        edges
            .binary_search_by_key(&b, |edge| edge.to)
            .ok()
            .map(|at| edges[at])
    }
}

/// Strongly connected components, numbered in a topological order of their graph.
pub(super) struct Components {
    /// By node: its component.
    pub(super) of: Vec<u32>,
    /// By component: its nodes, ascending.
    members: Rows<Node>,
}

impl Components {
    /// Components of SO ∪ WR ∪ forced edges. ⊥ precedes every node: if a node is forced before ⊥, that node and all
    /// before it form the first component. O(n + edges).
    pub(super) fn new(
        causality: &Causality<'_>,
        forced: &ForcedEdges,
        control: &Control,
    ) -> Result<Components, Interrupt> {
        // ⊥ is a vertex after the nodes, only if some edge leads to it.
        let n = causality.n() as Node;
        let n_vertices = causality.n() + usize::from(forced.reach_initial());
        let (mut steps, mut goes_on) = (0, control.check());
        let (mut of, len) = component_numbers(n_vertices, |v, nth| {
            steps += 1;
            goes_on = goes_on.and_then(|()| control.tick(steps));
            // Once the work is to end, no edge is followed any more.
            goes_on.ok()?;
            if v == n {
                (0..n).nth(nth)
            } else {
                neighbour(causality, forced, v, nth)
            }
        });
        goes_on?;
        // ⊥, if it is a vertex, shares its component with the nodes that are forced before it.
        of.truncate(causality.n());
        // The edges lead from larger numbers to smaller ones.
        for c in &mut of {
            *c = len as u32 - 1 - *c;
        }
        let members = Rows::new(len, of.iter().copied().zip(0..));
        Ok(Components { of, members })
    }

    /// If SO ∪ WR has no cycle: each node is a component, numbered by its place in an order that contains it.
    pub(super) fn trivial(nodes: &[Node], place: &[u32]) -> Components {
        Components {
            of: place.to_vec(),
            members: Rows::one_each(nodes.to_vec()),
        }
    }

    /// Number of components.
    pub(super) fn len(&self) -> usize {
        self.members.n_rows()
    }

    /// Whether there is no cycle at all.
    pub(super) fn all_trivial(&self) -> bool {
        self.len() == self.of.len()
    }

    /// The nodes of a component, ascending.
    #[inline]
    pub(super) fn members(&self, component: u32) -> &[Node] {
        self.members.of(component)
    }

    /// Whether the component of `v` has another member.
    #[inline]
    pub(super) fn is_cyclic(&self, v: Node) -> bool {
        self.members(self.of[v as usize]).len() > 1
    }

    /// Whether a and b are in one component.
    #[inline]
    pub(super) fn same(&self, a: Node, b: Node) -> bool {
        self.of[a as usize] == self.of[b as usize]
    }

    /// All nodes, component by component.
    pub(super) fn order(&self) -> &[Node] {
        self.members.items()
    }
}

/// The nth node that SO, then WR, then a forced edge leads to from `v`; ⊥ counts as the node after all others.
#[inline]
fn neighbour(causality: &Causality<'_>, forced: &ForcedEdges, v: Node, nth: usize) -> Option<Node> {
    let (successor, readers) = (causality.index.successor(v), causality.readers(v));
    let of_session = usize::from(successor.is_some());
    match nth.checked_sub(of_session) {
        None => successor,
        Some(place) if place < readers.len() => Some(readers[place]),
        Some(place) => Some(
            forced
                .of(v)
                .get(place - readers.len())?
                .to
                .min(causality.n() as Node),
        ),
    }
}
