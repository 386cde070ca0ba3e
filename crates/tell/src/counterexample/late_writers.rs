//! Possible writers of a value that began after its reader had ended: they are ruled out together, in one line.

use isoscope_check::checkers::{Case, Proof, Question};
use isoscope_model::history::OperationId;
use isoscope_model::relations::{Edge, EdgeIndex, Reason, Relation};

/// A writer that began too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Late {
    /// The edge of real time, from the reader to the writer.
    pub(super) clock: EdgeIndex,
    /// The edge that says that the reader read from it.
    pub(super) reads: EdgeIndex,
}

/// The cases of a question in the order of the argument: those that need an argument of their own, then those of possible
/// writers of a read that began after the reader had ended. There are none or at least two of these; the first case is the one
/// that is drawn, and never among them. O(cases).
pub(super) fn divided<'p>(
    edges: &[Edge],
    question: Question,
    cases: &'p [Case],
) -> (Vec<&'p Case>, Vec<(&'p Case, Late)>) {
    let late = |case: &'p Case| match question {
        Question::Writer { read } => Some((case, too_late(edges, read, &case.1)?)),
        _ => None,
    };
    let late: Vec<(&Case, Late)> = cases.iter().skip(1).filter_map(late).collect();
    if late.len() < 2 {
        return (cases.iter().collect(), Vec::new());
    }
    let is_late = |case: &&Case| late.iter().any(|(other, _)| std::ptr::eq(*case, *other));
    (cases.iter().filter(|case| !is_late(case)).collect(), late)
}

/// Whether a case is refuted by the clock alone.
fn too_late(edges: &[Edge], read: OperationId, proof: &Proof) -> Option<Late> {
    let Proof::Cycle(cycle) = proof else {
        return None;
    };
    let &[a, b] = cycle.as_slice() else {
        return None;
    };
    let is_clock = |e: EdgeIndex| {
        edges
            .get(e)
            .is_some_and(|edge| edge.relation == Relation::RealTime)
    };
    let is_read = |e: EdgeIndex| {
        edges
            .get(e)
            .is_some_and(|e| e.because == Reason::Reads && e.to_operation == Some(read))
    };
    match (is_clock(a) && is_read(b), is_clock(b) && is_read(a)) {
        (true, _) => Some(Late { clock: a, reads: b }),
        (_, true) => Some(Late { clock: b, reads: a }),
        _ => None,
    }
}
