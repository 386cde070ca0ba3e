//! The part of an argument that a picture can show: one of the cases that suppose the writers of reads, or one of the
//! cycles that exclude all orders of many pairs of writers.

use super::overlap::overlap;
use super::rests_on::{closure, read_from};
use isoscope_check::checkers::{Proof, Supposed, Violation};
use isoscope_model::history::{OperationId, TransactionId};
use isoscope_model::relations::{Edge, EdgeIndex, Reason, Relation};
use std::collections::BTreeSet;

/// With more edges than this only the first case is drawn.
const MOST_EDGES: usize = 16;

/// The edges to draw: all of them, but for a large tree of cases only those of the first case, in which every read has
/// its first possible writer, and for a log of clauses only its first cycle with the assumptions it rests on.
/// O(edges²).
pub fn edges_to_draw(violation: &Violation) -> BTreeSet<EdgeIndex> {
    let mut drawn = edges_of_part(violation);
    let first = passed_over(violation).map(|passed| passed.first);
    for edge in restated(violation).into_iter().chain(first) {
        drawn.remove(&edge);
    }
    drawn
}

/// A read of the initial version although its reader had seen a transaction that wrote the key.
struct PassedOver {
    /// The edge that says that the initial state comes first.
    first: EdgeIndex,
    /// The edge that says that the written version would be older.
    older: EdgeIndex,
    /// How the reader saw that transaction.
    seen: Vec<EdgeIndex>,
    reader: TransactionId,
    read: OperationId,
}

fn passed_over(violation: &Violation) -> Option<PassedOver> {
    let &[a, b] = violation.proof.cycle_edges().as_slice() else {
        return None;
    };
    let edge = |e: EdgeIndex| violation.edges.get(e);
    let (first, older) = match edge(a)?.to.is_initial() {
        true => (b, a),
        false => (a, b),
    };
    match &edge(older)?.because {
        Reason::Visible {
            reader, read, seen, ..
        } if edge(older)?.to.is_initial() => Some(PassedOver {
            first,
            older,
            seen: seen.clone(),
            reader: *reader,
            read: *read,
        }),
        _ => None,
    }
}

/// These edges of a violation as drawn: where a reader passed over a version for the initial one, an arrow leads from the
/// read to the write that it missed. It says the same without a detour by the initial state.
pub fn as_drawn(violation: &Violation, mut edges: Vec<Edge>) -> Vec<Edge> {
    if let Some(passed) = passed_over(violation) {
        let older = &mut edges[passed.older];
        older.to = older.from;
        older.to_operation = older.from_operation;
        older.from = passed.reader;
        older.from_operation = Some(passed.read);
        older.relation = Relation::AntiDependency;
    }
    edges
}

/// The edge between two writers of a key that says no more than the two edges beside it: that they overlapped.
pub(super) fn restated(violation: &Violation) -> Option<EdgeIndex> {
    let cycle = violation.proof.cycle_edges();
    let level = violation.level()?;
    let found = overlap(&violation.edges, &cycle, level)?;
    cycle.into_iter().find(|edge| !found.started.contains(edge))
}

/// The edges of the contradiction as drawn: those of its cycles, but of an overlap both that show it, and of a version that
/// was passed over for the initial one how it was seen and the read that missed it.
pub fn cycle_to_draw(violation: &Violation) -> Vec<EdgeIndex> {
    if let Some(PassedOver {
        older, mut seen, ..
    }) = passed_over(violation)
    {
        seen.push(older);
        return seen;
    }
    let cycle = violation.proof.cycle_edges();
    let level = violation.level();
    match level.and_then(|level| overlap(&violation.edges, &cycle, level)) {
        Some(overlap) => overlap.started,
        None => cycle,
    }
}

fn edges_of_part(violation: &Violation) -> BTreeSet<EdgeIndex> {
    let edges = &violation.edges;
    let is_divided = violation.proof.is_about_answers() || violation.proof.is_log_of_orders();
    if edges.len() <= MOST_EDGES || !is_divided {
        return (0..edges.len()).collect();
    }
    let mut open = violation.proof.cycle_edges();
    let mut proof = &violation.proof;
    while proof.is_about_answers()
        && let Some((supposed, inner)) = proof.first_case()
    {
        for answer in supposed {
            if let Supposed::Writer { read, writer } = answer {
                open.extend(read_from(edges, writer, Some(read)));
            }
        }
        proof = inner;
    }
    closure(edges, open, true)
}

/// The transactions to draw: all of the scenario, but where only a part of it is drawn, and of a log of clauses, those that
/// the edges to draw touch.
pub fn transactions_to_draw(violation: &Violation) -> Vec<TransactionId> {
    let mut transactions = violation.transactions.clone();
    let drawn = edges_of_part(violation);
    let is_partial = drawn.len() < violation.edges.len() && !drawn.is_empty();
    if is_partial || matches!(violation.proof, Proof::Log { .. }) {
        let edges = drawn.into_iter().filter_map(|e| violation.edges.get(e));
        let touched: BTreeSet<TransactionId> =
            edges.flat_map(|edge| [edge.from, edge.to]).collect();
        transactions.retain(|t| touched.contains(t));
    }
    transactions
}

/// What is drawn, if it is not everything: "the first case".
pub fn drawn_part(violation: &Violation) -> Option<&'static str> {
    let part = match &violation.proof {
        proof if proof.is_log_of_orders() => "the first of many cycles",
        Proof::Log { .. } => "the first of many combinations",
        _ => "the first case",
    };
    (edges_of_part(violation).len() < violation.edges.len()).then_some(part)
}
