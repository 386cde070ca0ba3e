//! What a violation comes down to in which one of two inferred orders follows from sessions and reads anyway.

use super::cutter::{Cutter, LISTED};
use crate::checkers::{self, Level, Options, Violation};
use crate::counterexample::groups::touched;
use crate::counterexample::involved_operations;
use crate::counterexample::translate::translate_back;
use crate::history::{OperationId, TransactionId};
use crate::relations::{self, Edge, Reason};

impl Cutter<'_> {
    /// The violation that is left when such an order gives way to the session order and the reads that it follows from: the
    /// simplest one, in terms of the whole history. It breaks a level that is no stronger, and concludes only orders that the
    /// chosen one concludes, too, or from the same reads. None where the chosen one is no such consequence, or where its own transactions do not
    /// show it. O(one check of its transactions).
    pub(super) fn cause(&self) -> Option<Violation> {
        if !self.original.implied && !self.concludes_session_order() {
            return None;
        }
        let mut members = touched(self.history, self.original);
        members.retain(|&t| !self.is_initial(t));
        let (small, renaming) = self.cut(&members);
        let resolution = relations::resolve(&small, self.control).ok()?;
        if resolution.merged_into_initial().next().is_some() {
            return None;
        }
        let weaker = Level::of(&small).into_iter().filter(|level| self.level.implies(*level)).collect();
        let options = Options { levels: weaker, max_instances: LISTED, ..Options::default() };
        let listed = checkers::check(&small, &options, self.control, &|_| {}).violations;
        let simpler = listed.into_iter().filter_map(|v| translate_back(&v, &renaming)).filter(|v| self.is_simpler(v));
        // Wrong reads are anomalies of their own; only where nothing else is left is it one of them.
        let is_other = |v: &Violation| v.id.pattern.is_wrong_read() || v.levels.contains(Level::CutIsolation);
        simpler.min_by_key(|v| (is_other(v), v.levels.weakest(), v.size(), v.edges.len(), v.id))
    }

    /// Whether the cycle has an edge that was concluded although its transactions ran in that order in one session.
    fn concludes_session_order(&self) -> bool {
        in_cycle(self.original).any(|edge| is_conclusion(edge) && self.is_in_session(edge))
    }

    fn is_in_session(&self, edge: &Edge) -> bool {
        let session = |t: TransactionId| (!t.is_initial()).then(|| self.history.session_of(t));
        edge.from < edge.to && session(edge.from) == session(edge.to)
    }

    /// Whether a violation breaks the level and concludes only what the chosen one concludes, and nothing that was observed.
    fn is_simpler(&self, violation: &Violation) -> bool {
        let concluded: Vec<_> = in_cycle(self.original).filter(|edge| is_conclusion(edge)).map(ends).collect();
        let mut conclusions = in_cycle(violation).filter(|edge| is_conclusion(edge)).peekable();
        let is_known = |read: OperationId| self.involved.binary_search(&read).is_ok();
        let rests_on_known = match conclusions.peek() {
            Some(_) => conclusions.all(|edge| {
                let is_shared = concluded.contains(&ends(edge)) || concluded_from(edge).is_none_or(is_known);
                is_shared && !self.is_in_session(edge)
            }),
            None => involved_operations(violation).into_iter().all(is_known),
        };
        !violation.implied && violation.levels.contains(self.level) && rests_on_known
    }
}

fn in_cycle(violation: &Violation) -> impl Iterator<Item = &Edge> {
    violation.proof.cycle_edges().into_iter().filter_map(|edge| violation.edges.get(edge))
}

fn ends(edge: &Edge) -> (TransactionId, TransactionId) {
    (edge.from, edge.to)
}

fn is_conclusion(edge: &Edge) -> bool {
    !edge.because.premises().is_empty()
}

fn concluded_from(edge: &Edge) -> Option<OperationId> {
    match edge.because {
        Reason::Visible { read, .. } => Some(read),
        Reason::Overwrites { .. } => edge.from_operation,
        _ => None,
    }
}
