//! A cycle that says no more than that two writers of a key overlapped.

use isoscope_check::checkers::Level;
use isoscope_model::history::{KeyId, OperationId, TransactionId};
use isoscope_model::relations::{Edge, EdgeIndex, Reason, Relation};

/// Two transactions that wrote a key, each of which started before the other committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Overlap {
    pub(super) transactions: [TransactionId; 2],
    pub(super) key: KeyId,
    /// The edges that say that one started before the other committed, and the reverse.
    pub(super) started: Vec<EdgeIndex>,
    /// Their writes of the key.
    pub(super) writes: Vec<OperationId>,
}

/// The overlap that a cycle states: an edge from writer to writer that is there because the first started before the second
/// committed, and back, by a single edge each, that the second started before the first committed. The edge between the
/// writers says nothing that these two do not, so it is neither told nor drawn.
pub(super) fn overlap(edges: &[Edge], cycle: &[EdgeIndex], level: Level) -> Option<Overlap> {
    let &[a, b] = cycle else { return None };
    let is_conflict = |e: EdgeIndex| matches!(edges[e].because, Reason::Conflict { .. });
    let (conflict, back) = match (is_conflict(a), is_conflict(b)) {
        (true, false) => (a, b),
        (false, true) => (b, a),
        _ => return None,
    };
    let missed = |e: EdgeIndex| edges[e].relation == Relation::AntiDependency;
    let writers = &edges[conflict];
    let [there] = writers.because.premises() else {
        return None;
    };
    let is_overlap = level.forbids_conflicts() && missed(back) && missed(*there);
    Some(Overlap {
        transactions: [writers.from, writers.to],
        key: writers.key?,
        started: vec![back, *there],
        writes: [writers.from_operation, writers.to_operation]
            .into_iter()
            .flatten()
            .collect(),
    })
    .filter(|_| is_overlap)
}
