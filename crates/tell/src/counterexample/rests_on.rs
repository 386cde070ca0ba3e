//! What the edges of a violation rest on: other edges, and reads that make them matter.

use isoscope_model::history::{OperationId, TransactionId};
use isoscope_model::relations::{Edge, EdgeIndex, Reason};
use std::collections::BTreeSet;

/// These edges and what they rest on, directly or through others; `with_evidence` the reads that make them matter, too.
/// O(edges), with evidence O(edges²).
pub(super) fn closure(
    edges: &[Edge],
    start: impl IntoIterator<Item = EdgeIndex>,
    with_evidence: bool,
) -> BTreeSet<EdgeIndex> {
    let mut needed = BTreeSet::new();
    let mut open: Vec<EdgeIndex> = start.into_iter().collect();
    while let Some(index) = open.pop() {
        if let Some(edge) = edges.get(index).filter(|_| needed.insert(index)) {
            open.extend(edge.because.premises());
            open.extend(evidence(edges, edge).filter(|_| with_evidence));
        }
    }
    needed
}

/// The read that makes an inferred edge matter.
pub(super) fn evidence(edges: &[Edge], inferred: &Edge) -> Option<EdgeIndex> {
    match inferred.because {
        Reason::Visible { read, .. } => read_from(edges, inferred.to, Some(read)),
        Reason::Overwrites { writer, .. } => read_from(edges, writer, inferred.from_operation),
        _ => None,
    }
}

/// The edge that says that this operation read from this writer.
pub(super) fn read_from(
    edges: &[Edge],
    writer: TransactionId,
    read: Option<OperationId>,
) -> Option<EdgeIndex> {
    edges
        .iter()
        .position(|e| e.because == Reason::Reads && e.from == writer && e.to_operation == read)
}
