//! The reads that an argument rests on without naming them.

use super::cutter::ViolatingPart;
use crate::counterexample::{Claim, MAX_SHOWN_WHOLE, claim, involved_operations};
use isoscope_check::checkers::{Pattern, Proof, Violation, WrongReads};
use isoscope_model::control::Control;
use isoscope_model::history::{History, OperationId, OperationKind, Outcome, TransactionId};
use isoscope_model::relations::{self, Edge, Reason, Relation, Resolution, Source};
use rustc_hash::FxHashSet;

/// Adds to the violation of a part in which every operation matters what it does not mention yet: for each read that an
/// inferred edge rests on, and for each that only shows that a transaction has committed, the write-read edge; other
/// operations and transactions unchanged. Existing entries keep their places. O(operations · edges).
pub(super) fn complete(found: &mut ViolatingPart, control: &Control) {
    let Ok(resolution) = relations::resolve(&found.history, control) else {
        return;
    };
    let (history, violation) = (&found.history, &mut found.violation);
    let mut evidence: Vec<(TransactionId, OperationId)> = Vec::new();
    for edge in &violation.edges {
        match &edge.because {
            Reason::Visible { read, .. } => evidence.push((edge.to, *read)),
            Reason::Overwrites { writer, .. } => {
                evidence.extend(edge.from_operation.map(|read| (*writer, read)))
            }
            _ => {}
        }
    }
    let involved = involved_operations(violation);
    if others(history, &involved).any(|o| history.operation(o).kind == OperationKind::Read) {
        spell_out(history, &resolution, violation);
    }
    for o in others(history, &involved) {
        if let Source::Transaction { writer, .. } = resolution.source(o)
            && history.lists().read_by(o).is_none()
        {
            evidence.push((writer, o));
        }
    }
    for (writer, read) in evidence {
        let is_the_read = |e: &Edge| {
            e.because == Reason::Reads && e.from == writer && e.to_operation == Some(read)
        };
        if !violation.edges.iter().any(is_the_read) {
            violation
                .edges
                .extend(write_read(history, &resolution, writer, read));
        }
    }
    // Operations that the new edges name need no separate mention.
    let involved = involved_operations(violation);
    violation.operations.extend(others(history, &involved));
    let of_operations = involved_operations(violation)
        .into_iter()
        .map(|o| history.transaction_of(o));
    let of_edges = violation.edges.iter().flat_map(|edge| [edge.from, edge.to]);
    let touched: Vec<TransactionId> = of_operations
        .chain(of_edges)
        .chain(history.transactions())
        .collect();
    for t in touched {
        if !violation.transactions.contains(&t) {
            violation.transactions.push(t);
        }
    }
}

/// Connects operations that no order explains by their times, and transactions that no edge touches and that matter
/// because of a list: with an edge from the transaction that appended the last element to the reader of the list, where
/// that is certain. Existing entries keep their places. O(operations).
pub(super) fn connect(history: &History, violation: &mut Violation) {
    if violation.id.pattern == Pattern::NoLinearOrder && violation.edges.is_empty() {
        if history.n_operations() <= MAX_SHOWN_WHOLE
            && !matches!(claim(history, violation), Claim::OverwrittenBefore { .. })
        {
            name_all(history, violation);
        }
        violation.edges = in_time(history, &violation.transactions);
        return;
    }
    let is_touched = |t: TransactionId| {
        violation
            .edges
            .iter()
            .any(|edge| edge.from == t || edge.to == t)
    };
    let involved = involved_operations(violation);
    let of_operations = involved.iter().map(|&o| history.transaction_of(o));
    let drawn: FxHashSet<TransactionId> = violation
        .transactions
        .iter()
        .copied()
        .chain(of_operations)
        .collect();
    if drawn.iter().all(|&t| is_touched(t)) || history.lists().is_empty() {
        return;
    }
    let (lists, key) = (history.lists(), |o: OperationId| history.operation(o).key);
    let is_write = |o: &OperationId| history.operation(*o).kind == OperationKind::Write;
    let mut edges = Vec::new();
    for &read in involved.iter().filter(|&&o| lists.read_by(o).is_some()) {
        let reader = history.transaction_of(read);
        let Some((&last, before)) = lists.recorded_by(read).and_then(<[_]>::split_last) else {
            continue;
        };
        // The edge of a wrong read may come from the transaction that appended an element within the list.
        let is_last = |append: OperationId| history.operation(append).value == last;
        let is_the_read = |e: &Edge| {
            e.because == Reason::Reads
                && e.to_operation == Some(read)
                && e.from_operation.is_none_or(is_last)
        };
        if violation.edges.iter().any(is_the_read) {
            continue;
        }
        let appended =
            |o: &OperationId| key(*o) == key(read) && history.operation(*o).value == last;
        let appends: Vec<OperationId> = (0..history.n_operations())
            .map(OperationId::new)
            .filter(is_write)
            .filter(appended)
            .collect();
        let [append] = appends[..] else { continue };
        // An element that is there twice was appended once: such a list is a version only where that is what is wrong.
        if before.contains(&last) && violation.id.pattern != Pattern::DuplicateElement {
            continue;
        }
        let writer = history.transaction_of(append);
        let has_own = history
            .operations_of(reader)
            .any(|o| is_write(&o) && key(o) == key(read));
        let is_new = !(is_touched(writer) && is_touched(reader)) && drawn.contains(&writer);
        if !has_own && is_new {
            edges.push(Edge::write_read(history, writer, Some(append), read));
        }
    }
    violation.edges.extend(edges);
}

/// Names all transactions that may have committed, in order of time: requiring more of them to take effect leaves no
/// order either.
fn name_all(history: &History, violation: &mut Violation) {
    let may_count = |t: &TransactionId| history.outcome(*t) != Outcome::Aborted;
    let mut all: Vec<TransactionId> = history.transactions().filter(may_count).collect();
    all.sort_by_key(|&t| (history.interval(t).map(|ran| (ran.start, ran.end)), t));
    violation.operations = all.iter().flat_map(|&t| history.operations_of(t)).collect();
    violation.transactions = all;
}

/// Which of some transactions had ended before which others began, without what follows from the rest. O(n³).
fn in_time(history: &History, transactions: &[TransactionId]) -> Vec<Edge> {
    const MOST: usize = 64;
    let ran: Vec<_> = transactions
        .iter()
        .filter_map(|&t| Some((t, history.interval(t)?)))
        .take(MOST)
        .collect();
    let mut edges = Vec::new();
    for (from, first) in &ran {
        for (to, then) in ran.iter().filter(|(_, then)| first.end < then.start) {
            let is_between = ran
                .iter()
                .any(|(_, other)| first.end < other.start && other.end < then.start);
            if !is_between {
                edges.push(real_time(*from, *to));
            }
        }
    }
    edges
}

fn real_time(from: TransactionId, to: TransactionId) -> Edge {
    Edge {
        relation: Relation::RealTime,
        ..Edge::session_order(from, to)
    }
}

/// Names the contradicting reads, so that other reads next to them prove nothing. Where an edge takes one of several
/// writers for granted, rests on which append made an element, or comes from an aborted transaction, only the
/// operations together are the proof.
fn spell_out(history: &History, resolution: &Resolution, violation: &mut Violation) {
    let pattern = violation.id.pattern;
    let is_open = |edge: &Edge| {
        let is_certain = |read| resolution.source(read).writer() == Some(edge.from);
        edge.to_operation
            .is_some_and(|read| resolution.multiple_sources(read).is_some() || !is_certain(read))
    };
    if violation.proof != Proof::Reads(None)
        || pattern == Pattern::AbortedRead
        || violation.edges.iter().any(is_open)
    {
        return;
    }
    let mut reads: Vec<OperationId> = Vec::new();
    let of_edges = violation.edges.iter().filter_map(|edge| edge.to_operation);
    for read in of_edges.chain(violation.operations.iter().copied()) {
        if history.operation(read).kind == OperationKind::Read && !reads.contains(&read) {
            reads.push(read);
        }
    }
    violation.proof = Proof::Reads(Some(WrongReads { pattern, reads }));
}

/// The operations that are not among these, which are in ascending order.
fn others<'a>(
    history: &History,
    involved: &'a [OperationId],
) -> impl Iterator<Item = OperationId> + use<'a> {
    (0..history.n_operations())
        .map(OperationId::new)
        .filter(|o| involved.binary_search(o).is_err())
}

/// The edge of a read, if it is certain.
fn write_read(
    history: &History,
    resolution: &Resolution,
    writer: TransactionId,
    read: OperationId,
) -> Option<Edge> {
    let from_operation = match resolution.source(read) {
        Source::Transaction {
            writer: of, write, ..
        } if of == writer => Some(write),
        Source::Initial { .. } if writer.is_initial() => None,
        _ => return None,
    };
    Some(Edge::write_read(history, writer, from_operation, read))
}
