//! Which non-repeatable reads (TAP-j) also contradict read committed.
//!
//! Two reads of a key, first of t2's version, then of t1's, force t2 before t1 in the commit order (Biswas & Enea 2019,
//! Fig. 2a). That contradicts read committed if session order, write-read and the edges that other reads force in the
//! same way lead back from t1 to t2, or if t1 is ⊥.

use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::{Arc, Components, Digraph, PathFinder, strong_components};
use isoscope_model::history::{History, TransactionId};
use isoscope_model::relations::{
    Axiom, Edge, EdgeIndex, Index, Listed, NONE, Node, Reason, Relation,
};

/// Why there is an edge between two nodes.
#[derive(Clone, Copy, Debug)]
enum Why {
    Session,
    /// It reads from the first node at this place of the index.
    Read {
        reader: Node,
        read: u32,
    },
    /// `reader` read a key that the first node writes, at place `seen` from the first node and later at place `read`
    /// from the second.
    Forced {
        reader: Node,
        seen: u32,
        read: u32,
    },
    /// A list shows it: a place in [`BackwardReads::listed`].
    Listed(u32),
}

/// SO ∪ WR, the version order that lists show, and the edges that read committed forces, only the minimal ones.
pub(super) struct BackwardReads<'a> {
    index: &'a Index,
    graph: Digraph,
    why: Vec<Why>,
    listed: Vec<Listed>,
    components: Components,
    finder: PathFinder,
}

impl<'a> BackwardReads<'a> {
    /// Builds the graph. O(n^1.5) for n operations.
    pub(super) fn new(index: &'a Index, control: &Control) -> Result<BackwardReads<'a>, Interrupt> {
        let mut edges = Edges::default();
        for node in 0..index.n_nodes() as Node {
            if node % 4096 == 0 {
                control.check()?;
            }
            if let Some(next) = index.successor(node) {
                edges.add(node, next, Why::Session);
            }
            edges.add_of_reader(index, node);
        }
        let listed = index.listed();
        for (place, pair) in listed.iter().enumerate() {
            edges.add(pair.older, pair.newer, Why::Listed(place as u32));
        }
        let graph = Digraph::with_ids(index.n_nodes(), edges.ends.iter().copied());
        let components = strong_components(&graph);
        let finder = PathFinder::new(index.n_nodes());
        Ok(BackwardReads {
            index,
            graph,
            why: edges.why,
            listed,
            components,
            finder,
        })
    }

    /// If the second of two consecutive reads of a key by `reader` went back behind the first, adds the edges that show
    /// it and returns the cycle among them. The first two edges must be those of the two reads. Places are those of the
    /// index. None if the cycle makes a detour: then other reads contradict read committed by fewer forced edges.
    pub(super) fn cycle(
        &mut self,
        history: &History,
        reader: Node,
        first: usize,
        second: usize,
        edges: &mut Vec<Edge>,
    ) -> Option<Vec<EdgeIndex>> {
        let (newer, older) = (
            self.index.writer_of_read(first),
            self.index.writer_of_read(second),
        );
        if newer == NONE || (older != NONE && !self.components.share_cycle(newer, older)) {
            return None;
        }
        let forced = Why::Forced {
            reader,
            seen: first as u32,
            read: second as u32,
        };
        if older == NONE {
            let mut cycle = vec![self.explain(history, newer, older, forced, edges)];
            edges.push(Edge {
                from: TransactionId::INITIAL,
                ..self.index.session_edge(newer, newer)
            });
            cycle.push(edges.len() - 1);
            return Some(cycle);
        }
        let component = self.components.component[older as usize];
        let (components, why) = (&self.components, &self.why);
        let inside = |v: u32| components.component[v as usize] == component;
        let is_forced = |id: u32| matches!(why[id as usize], Why::Forced { .. });
        let back = self
            .finder
            .lightest(&self.graph, older, newer, inside, |id| Some(is_forced(id)))?;
        let mut concluded: Vec<(Node, Node)> = vec![(newer, older)];
        concluded.extend(
            back.iter()
                .filter(|arc| is_forced(arc.id))
                .map(|arc| (arc.from, arc.to)),
        );
        let is_detour = |&(from, to): &(Node, Node)| {
            self.is_observed(from, to) || concluded.len() > 1 && self.is_observed(to, from)
        };
        if concluded.iter().any(is_detour) {
            return None;
        }
        let mut cycle = vec![self.explain(history, newer, older, forced, edges)];
        for Arc { from, to, id } in back {
            cycle.push(self.explain(history, from, to, self.why[id as usize], edges));
        }
        Some(cycle)
    }

    /// Whether one node comes after the other in its session, or reads from it.
    fn is_observed(&self, from: Node, to: Node) -> bool {
        let index = self.index;
        from < to && index.session[from as usize] == index.session[to as usize]
            || index
                .reads_of(to)
                .any(|read| index.writer_of_read(read) == from)
    }

    /// Adds an edge after its premises; existing edges are not added twice.
    fn explain(
        &self,
        history: &History,
        from: Node,
        to: Node,
        why: Why,
        edges: &mut Vec<Edge>,
    ) -> EdgeIndex {
        let index = self.index;
        let edge = match why {
            Why::Session => index.session_edge(from, to),
            Why::Listed(place) => index.listed_edge(&self.listed[place as usize]),
            Why::Read { reader, read } => index.read_edge(history, reader, read as usize),
            Why::Forced { reader, seen, read } => {
                let seen = place_of(edges, index.read_edge(history, reader, seen as usize));
                let observed = index.read_edge(history, reader, read as usize);
                let (to, to_operation) = (observed.from, observed.from_operation);
                place_of(edges, observed);
                let key = index.read_key[read as usize];
                let slot = index.slot_of(from, key);
                Edge {
                    from: index.transaction[from as usize],
                    to,
                    relation: Relation::CommitOrder,
                    key: Some(index.key_id(key)),
                    from_operation: slot.map(|slot| index.slot_operation[slot as usize]),
                    to_operation,
                    because: Reason::Visible {
                        axiom: Axiom::ReadCommitted,
                        reader: index.transaction[reader as usize],
                        read: index.read_operation[read as usize],
                        seen: vec![seen],
                    },
                }
            }
        };
        place_of(edges, edge)
    }
}

/// The position of an edge in the list, to which it is added if missing.
fn place_of(edges: &mut Vec<Edge>, edge: Edge) -> EdgeIndex {
    edges
        .iter()
        .position(|known| *known == edge)
        .unwrap_or_else(|| {
            edges.push(edge);
            edges.len() - 1
        })
}

#[derive(Default)]
struct Edges {
    ends: Vec<(Node, Node)>,
    why: Vec<Why>,
    /// (key, place) of the reads of the current transaction.
    by_key: Vec<(u32, u32)>,
    /// (writer, place of the first read from it).
    writers: Vec<(Node, u32)>,
}

impl Edges {
    fn add(&mut self, from: Node, to: Node, why: Why) {
        self.ends.push((from, to));
        self.why.push(why);
    }

    /// Write-read edges into `reader`, and what its reads force: between the writers of consecutive reads of a key, and
    /// from the writer of a first read to that of the next read of each key that the former writes.
    fn add_of_reader(&mut self, index: &Index, reader: Node) {
        let mut by_key = std::mem::take(&mut self.by_key);
        let mut writers = std::mem::take(&mut self.writers);
        by_key.clear();
        writers.clear();
        for place in index
            .reads_of(reader)
            .filter(|&place| index.writer_of_read(place) != NONE)
        {
            by_key.push((index.read_key[place], place as u32));
            writers.push((index.writer_of_read(place), place as u32));
        }
        by_key.sort_unstable();
        writers.sort_unstable();
        writers.dedup_by_key(|&mut (writer, _)| writer);
        let writer = |place: u32| index.writer_of_read(place as usize);
        for two in by_key.windows(2).filter(|two| two[0].0 == two[1].0) {
            let (seen, read) = (two[0].1, two[1].1);
            if writer(seen) != writer(read) {
                self.add(
                    writer(seen),
                    writer(read),
                    Why::Forced { reader, seen, read },
                );
            }
        }
        for &(t2, seen) in &writers {
            self.add(t2, reader, Why::Read { reader, read: seen });
            let moment = index.moment_begin(reader, seen as usize) as u32;
            let mut next_read = |key: u32| {
                let later = &by_key[by_key.partition_point(|&entry| entry < (key, moment))..];
                let mut same_key = later
                    .iter()
                    .take_while(|entry| entry.0 == key)
                    .map(|entry| entry.1);
                if let Some(read) = same_key.find(|&read| writer(read) != t2) {
                    self.add(t2, writer(read), Why::Forced { reader, seen, read });
                }
            };
            let writes = index.writes_of(t2);
            if writes.len() <= by_key.len() {
                writes.for_each(|write| next_read(index.write_key[write]));
            } else {
                let groups = by_key.chunk_by(|a, b| a.0 == b.0).map(|group| group[0].0);
                groups
                    .filter(|&key| index.slot_of(t2, key).is_some())
                    .for_each(&mut next_read);
            }
        }
        self.by_key = by_key;
        self.writers = writers;
    }
}
