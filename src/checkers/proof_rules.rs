//! An independent implementation of the rules by which edges follow from each other, for testing provers.

use super::{Level, Proof};
use crate::history::{History, OperationId, OperationKind, TransactionId};
use crate::relations::{Edge, EdgeIndex, Reason, Relation};
use std::collections::BTreeSet;

/// An end of an edge: the start (0) or commit (1) of its transaction.
type Span = (u8, u8);

/// Panics unless every edge follows from its premises at `level` and the proof is a contradiction there.
pub(super) fn assert_proof(history: &History, edges: &[Edge], proof: &Proof, level: Level) {
    let rules = Rules { history, edges, level };
    for index in 0..edges.len() {
        rules.edge(index);
    }
    rules.proof(proof, &[]);
}

struct Rules<'a> {
    history: &'a History,
    edges: &'a [Edge],
    level: Level,
}

impl Rules<'_> {
    fn two_events(&self) -> bool {
        self.level.has_snapshots()
    }

    fn read(&self, read: OperationId, reader: TransactionId, writer: TransactionId) {
        let operation = self.history.operation(read);
        assert_eq!((operation.kind, self.history.transaction_of(read)), (OperationKind::Read, reader));
        match writer.is_initial() {
            true => assert!(self.history.may_be_initial(operation.key, operation.value)),
            false => assert!(self.history.operations_of(writer).any(|o| {
                let write = self.history.operation(o);
                (write.kind, write.key, write.value) == (OperationKind::Write, operation.key, operation.value)
            })),
        }
    }

    fn write(&self, write: Option<OperationId>, writer: TransactionId, edge: &Edge) {
        let write = write.expect("edges between writers name their writes");
        let operation = self.history.operation(write);
        assert_eq!((operation.kind, self.history.transaction_of(write)), (OperationKind::Write, writer));
        assert_eq!(Some(operation.key), edge.key);
    }

    fn edge(&self, index: EdgeIndex) {
        let edge = &self.edges[index];
        assert!(edge.because.premises().iter().all(|&premise| premise < index), "premises come first");
        assert_ne!(edge.from, edge.to);
        match &edge.because {
            Reason::SessionOrder => {
                assert_eq!(edge.relation, Relation::SessionOrder);
                assert_eq!(self.history.session_of(edge.from), self.history.session_of(edge.to));
                assert!(edge.from < edge.to);
            }
            Reason::Reads => {
                assert_eq!(edge.relation, Relation::WriteRead);
                self.read(edge.to_operation.expect("a read"), edge.to, edge.from);
            }
            Reason::Visible { reader, read, seen, .. } => {
                self.read(*read, *reader, edge.to);
                self.write(edge.from_operation, edge.from, edge);
                assert!(edge.from != *reader);
                self.path(seen, edge.from, *reader);
                let (leaves, enters) = self.compose(seen);
                assert!(!self.two_events() || (leaves, enters) == (1, 0));
            }
            Reason::Overwrites { writer, order } => {
                self.read(edge.from_operation.expect("a read"), edge.from, *writer);
                self.write(edge.to_operation, edge.to, edge);
                if !(writer.is_initial() && order.is_empty()) {
                    self.path(order, *writer, edge.to);
                    assert!(!self.two_events() || self.compose(order).0 == 1);
                }
            }
            Reason::Conflict { order } => {
                assert!(self.level.is_strong_on_conflicts());
                self.write(edge.from_operation, edge.from, edge);
                self.write(edge.to_operation, edge.to, edge);
                self.path(order, edge.from, edge.to);
                self.compose(order);
            }
            Reason::ReadModifyWrite { read } => {
                let premise = &self.edges[*read];
                assert_eq!((premise.from, premise.to, premise.key), (edge.from, edge.to, edge.key));
                assert_eq!(premise.relation, Relation::WriteRead);
                self.write(edge.to_operation, edge.to, edge);
            }
            Reason::Listed { .. } | Reason::Assumed => {
                self.write(edge.from_operation, edge.from, edge);
                self.write(edge.to_operation, edge.to, edge);
            }
            Reason::Path { through } => self.path(through, edge.from, edge.to),
        }
    }

    fn path(&self, path: &[EdgeIndex], from: TransactionId, to: TransactionId) {
        assert!(!path.is_empty());
        let end = path.iter().fold(from, |at, &e| {
            assert_eq!(self.edges[e].from, at);
            self.edges[e].to
        });
        assert_eq!(end, to);
    }

    fn span(&self, edge: EdgeIndex) -> Span {
        let version_order = if self.level.is_strong_on_conflicts() { (1, 0) } else { (1, 1) };
        match &self.edges[edge].because {
            Reason::Overwrites { .. } => (0, 1),
            Reason::Visible { .. } | Reason::Listed { .. } | Reason::Assumed => version_order,
            Reason::Path { through } => self.compose(through),
            _ => (1, 0),
        }
    }

    fn compose(&self, path: &[EdgeIndex]) -> Span {
        let spans: Vec<Span> = path.iter().map(|&e| self.span(e)).collect();
        for pair in spans.windows(2) {
            assert!(!self.two_events() || (pair[0].1, pair[1].0) != (1, 0), "an illegal path");
        }
        (spans[0].0, spans[spans.len() - 1].1)
    }

    /// Checks that the edges close a legal cycle; returns the assumptions it rests on.
    fn cycle(&self, cycle: &[EdgeIndex]) -> Vec<EdgeIndex> {
        let start = self.edges[cycle[0]].from;
        self.path(cycle, start, start);
        let (leaves, enters) = self.compose(cycle);
        assert!(!self.two_events() || (enters, leaves) != (1, 0), "an illegal cycle");
        let mut todo = cycle.to_vec();
        let mut seen = vec![false; self.edges.len()];
        while let Some(e) = todo.pop() {
            if !std::mem::replace(&mut seen[e], true) {
                todo.extend(self.edges[e].because.premises());
            }
        }
        (0..seen.len()).filter(|&e| seen[e] && self.edges[e].because == Reason::Assumed).collect()
    }

    /// The writers that an assumed edge orders, and whether it is the order of their numbers.
    fn literal(&self, assumed: EdgeIndex) -> (TransactionId, TransactionId, bool) {
        let Edge { from, to, .. } = self.edges[assumed];
        (from.min(to), from.max(to), from < to)
    }

    /// Checks that assuming `clause` contradicts the lists of mutually exclusive assumptions, by plain unit
    /// propagation.
    fn contradicts(&self, clause: &[EdgeIndex], forbidden: &[Vec<EdgeIndex>]) {
        let mut holds: Vec<_> = clause.iter().map(|&e| self.literal(e)).collect();
        loop {
            let mut new = None;
            for list in forbidden {
                let open: BTreeSet<_> = list.iter().map(|&e| self.literal(e)).filter(|l| !holds.contains(l)).collect();
                match (open.first(), open.len()) {
                    (None, _) => return,
                    (Some(&(a, b, order)), 1) if !holds.contains(&(a, b, !order)) => new = Some((a, b, !order)),
                    _ => {}
                }
            }
            holds.push(new.expect("a contradiction follows by unit propagation"));
        }
    }

    /// Tries all orders of the pairs, if they are few.
    fn excludes_all(&self, forbidden: &[Vec<EdgeIndex>]) {
        let lists: Vec<Vec<_>> = forbidden.iter().map(|list| list.iter().map(|&e| self.literal(e)).collect()).collect();
        let pairs: BTreeSet<_> = lists.iter().flatten().map(|&(a, b, _)| (a, b)).collect();
        if pairs.len() > 10 {
            return;
        }
        for choice in 0..1u32 << pairs.len() {
            let order: BTreeSet<_> =
                pairs.iter().enumerate().map(|(place, &(a, b))| (a, b, choice >> place & 1 == 1)).collect();
            assert!(lists.iter().any(|list| list.iter().all(|literal| order.contains(literal))), "a choice is left");
        }
    }

    fn proof(&self, proof: &Proof, assumed: &[EdgeIndex]) {
        match proof {
            Proof::Read | Proof::Reads { .. } => panic!("no proof by a read alone"),
            Proof::Writers { .. } | Proof::Appends { .. } | Proof::Outcomes { .. } | Proof::Combinations { .. } => {
                panic!("no read has several writers here")
            }
            Proof::Cycle(cycle) => {
                let rests_on = self.cycle(cycle);
                assert!(rests_on.iter().all(|e| assumed.contains(e)));
            }
            Proof::Clauses { lemmas, clauses } => {
                assert!(lemmas.is_sorted_by_key(Vec::len), "smallest first");
                let mut forbidden: Vec<Vec<EdgeIndex>> = lemmas.iter().map(|cycle| self.cycle(cycle)).collect();
                assert!(clauses.iter().flatten().all(|&e| self.edges[e].because == Reason::Assumed));
                self.excludes_all(&forbidden);
                for clause in clauses {
                    self.contradicts(clause, &forbidden);
                    forbidden.push(clause.clone());
                }
                self.contradicts(&[], &forbidden);
            }
            Proof::Split { key, first, second } => {
                let (a, b) = (&self.edges[first.0], &self.edges[second.0]);
                assert_eq!((a.from, a.to, a.key, b.key), (b.to, b.from, Some(*key), Some(*key)));
                assert!(a.because == Reason::Assumed && b.because == Reason::Assumed);
                for (edge, branch) in [first, second] {
                    let mut assumed = assumed.to_vec();
                    assumed.push(*edge);
                    self.proof(branch, &assumed);
                }
            }
        }
    }
}
