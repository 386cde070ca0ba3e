//! Building the edges of one violation.

use crate::checkers::{LevelSet, Pattern, Proof, Violation};
use isoscope_model::graph::{Digraph, PathFinder};
use isoscope_model::history::{History, KeyId, TransactionId};
use isoscope_model::relations::{Edge, EdgeIndex, Index, NONE, Node, Reason, Relation};
use rustc_hash::FxHashSet;

/// Edges under construction; existing edges are not added again.
pub(super) struct Argument<'a> {
    history: &'a History,
    index: &'a Index,
    pub(super) edges: Vec<Edge>,
}

impl<'a> Argument<'a> {
    pub(super) fn new(history: &'a History, index: &'a Index) -> Argument<'a> {
        Argument {
            history,
            index,
            edges: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, edge: Edge) -> EdgeIndex {
        match self.edges.iter().position(|other| *other == edge) {
            Some(place) => place,
            None => {
                self.edges.push(edge);
                self.edges.len() - 1
            }
        }
    }

    /// The write-read edge of a read.
    pub(super) fn read(&mut self, reader: Node, read: usize) -> EdgeIndex {
        self.add(self.index.read_edge(self.history, reader, read))
    }

    /// A shortest causal path, as SO and WR edges; adjacent SO edges are joined. `graph` has SO to the next transaction
    /// and WR.
    pub(super) fn causal_path(
        &mut self,
        graph: &Digraph,
        finder: &mut PathFinder,
        from: Node,
        to: Node,
    ) -> Option<Vec<EdgeIndex>> {
        let index = self.index;
        let mut path = Vec::new();
        let mut session_from: Option<Node> = None;
        let mut at = from;
        for arc in finder.shortest(graph, from, to, |_| true)? {
            let read = index
                .reads_of(arc.to)
                .find(|&read| index.writer_of_read(read) == arc.from);
            match read {
                None => session_from = session_from.or(Some(arc.from)),
                Some(read) => {
                    if let Some(first) = session_from.take() {
                        path.push(self.add(index.session_edge(first, arc.from)));
                    }
                    path.push(self.read(arc.to, read));
                }
            }
            at = arc.to;
        }
        if let Some(first) = session_from {
            path.push(self.add(index.session_edge(first, at)));
        }
        Some(path)
    }

    /// The anti-dependency from the reader of a version to the writer of a newer one; `order` shows that it is newer.
    pub(super) fn overwrites(
        &mut self,
        reader: Node,
        read: usize,
        newer: Node,
        order: Vec<EdgeIndex>,
    ) -> EdgeIndex {
        let index = self.index;
        let key = index.read_key[read];
        let writer = match index.writer_of_read(read) {
            NONE => TransactionId::INITIAL,
            writer => index.transaction[writer as usize],
        };
        self.add(Edge {
            from: index.transaction[reader as usize],
            to: index.transaction[newer as usize],
            relation: Relation::AntiDependency,
            key: Some(index.key_id(key)),
            from_operation: Some(index.read_operation[read]),
            to_operation: index
                .slot_of(newer, key)
                .map(|slot| index.slot_operation[slot as usize]),
            because: Reason::Overwrites { writer, order },
        })
    }

    /// The version order between two writers of a key that may not overlap; `order` leads from the start of the first
    /// to the commit of the second.
    pub(super) fn conflict(
        &mut self,
        first: Node,
        second: Node,
        key: u32,
        order: Vec<EdgeIndex>,
    ) -> EdgeIndex {
        let index = self.index;
        let write = |t: Node| {
            index
                .slot_of(t, key)
                .map(|slot| index.slot_operation[slot as usize])
        };
        self.add(Edge {
            from: index.transaction[first as usize],
            to: index.transaction[second as usize],
            relation: Relation::WriteWrite,
            key: Some(index.key_id(key)),
            from_operation: write(first),
            to_operation: write(second),
            because: Reason::Conflict { order },
        })
    }

    /// The violation, with `first` listed first and then every other transaction that an edge names.
    pub(super) fn violation(
        self,
        pattern: Pattern,
        also: Vec<String>,
        levels: LevelSet,
        key: Option<u32>,
        first: &[TransactionId],
        proof: Proof,
    ) -> Violation {
        let key = key.map(|key| self.index.key_id(key));
        violation(pattern, also, levels, key, first, self.edges, proof)
    }
}

/// A violation without a name or group yet.
pub(super) fn violation(
    pattern: Pattern,
    also: Vec<String>,
    levels: LevelSet,
    key: Option<KeyId>,
    first: &[TransactionId],
    edges: Vec<Edge>,
    proof: Proof,
) -> Violation {
    let mut transactions: Vec<TransactionId> = Vec::new();
    let mut seen: FxHashSet<TransactionId> = FxHashSet::default();
    let evidence = edges.iter().flat_map(|edge| {
        let named = match &edge.because {
            Reason::Visible { reader, .. } => Some(*reader),
            Reason::Overwrites { writer, .. } => Some(*writer),
            Reason::Listed { reader, .. } => Some(*reader),
            _ => None,
        };
        [Some(edge.from), Some(edge.to), named]
            .into_iter()
            .flatten()
    });
    for t in first.iter().copied().chain(evidence) {
        if seen.insert(t) {
            transactions.push(t);
        }
    }
    Violation {
        also,
        key,
        transactions,
        edges,
        ..Violation::new(pattern, 0, levels, proof)
    }
}
