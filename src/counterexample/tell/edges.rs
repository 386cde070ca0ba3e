//! Edges, and the cycles that they close, as steps.

use super::{Teller, closing};
use crate::checkers::Level;
use crate::counterexample::StepRole;
use crate::counterexample::first_case::is_evidence;
use crate::history::{KeyId, OperationId, TransactionId};
use crate::relations::{Axiom, Edge, EdgeIndex, Reason, Relation};

/// The beginning or the end of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Started(TransactionId),
    Committed(TransactionId),
}

impl Teller<'_> {
    /// One edge as a step: observed, or concluded from others.
    pub(super) fn tell_edge(&mut self, index: EdgeIndex) {
        let Some(edge) = self.edge(index) else { return };
        let text = match &edge.because {
            Reason::Assumed => return,
            // That the initial state is first needs no words.
            Reason::SessionOrder if edge.from.is_initial() => return,
            _ => self.edge_text(edge),
        };
        // In a case, who was read from is what the case supposes.
        let is_first = self.steps.iter().all(|step| step.role == StepRole::Observed);
        let role = match edge.because {
            Reason::SessionOrder | Reason::Reads if is_first => StepRole::Observed,
            _ => StepRole::Concluded,
        };
        let mut operations: Vec<OperationId> = edge.from_operation.into_iter().chain(edge.to_operation).collect();
        if let Reason::Visible { read, .. } | Reason::Listed { read, .. } = edge.because {
            operations.push(read);
        }
        let mut premises = edge.because.premises().to_vec();
        premises.extend(self.violation.edges.iter().position(|read| is_evidence(edge, read)));
        self.step(role, text, (vec![index], premises), operations);
    }

    fn edge_text(&self, edge: &Edge) -> String {
        let words = self.words;
        let (from, to) = (words.transaction(edge.from), words.transaction(edge.to));
        let older = |operation: Option<OperationId>| words.content_or_key(operation, edge.key);
        match &edge.because {
            Reason::SessionOrder if edge.relation == Relation::RealTime => {
                format!("{to} began after {from} had ended")
            }
            Reason::SessionOrder => format!("{to} ran after {from} in the same session"),
            Reason::Reads => words.has_read(edge),
            Reason::Path { .. } => format!("{from} came before {to}"),
            Reason::Visible { axiom, reader, read, .. } => {
                let name = words.transaction(*reader);
                let (old, new) = (words.content(*read), older(edge.from_operation));
                let saw = match axiom {
                    Axiom::CommitOrder => format!("{from}, which wrote {new}, came before {name}"),
                    Axiom::ReadCommitted => format!("{name} had already read from {from}, which wrote {new}"),
                    Axiom::ReadAtomic | Axiom::Causal => format!("{name} saw {from}, which wrote {new}"),
                };
                match edge.to.is_initial() {
                    true => format!("{saw}, but it read {old}: {from}'s version would be older than the initial one"),
                    false => {
                        let overlap = match self.moments(edge) {
                            Some([_, Moment::Started(_)]) => ", and writers of a key may not overlap",
                            _ => "",
                        };
                        format!("{saw}, but it read {old} of {to}{overlap}: so {}", self.order(edge))
                    }
                }
            }
            Reason::Overwrites { writer, .. } => {
                let (old, new) = (self.read_of(edge.from_operation, edge.key, *writer), older(edge.to_operation));
                match edge.key.is_some_and(|key| words.history.lists().is_list(key)) {
                    true => format!(
                        "{from} read {}, without what {to} appended, {new}: {}",
                        old.trim_end_matches(','),
                        self.order(edge)
                    ),
                    false => format!("{from} read {old} and not the newer {new} of {to}: {}", self.order(edge)),
                }
            }
            Reason::Conflict { .. } => {
                let key = words.key(edge.key);
                format!(
                    "{from} and {to} both wrote {key}, so they did not overlap; {from} started before {to} committed: \
                     {from} committed before {to} started"
                )
            }
            Reason::ReadModifyWrite { read } => {
                let read = self.edge(*read).and_then(|e| e.to_operation);
                let (old, new) = (self.read_of(read, edge.key, edge.from), older(edge.to_operation));
                format!("{to} read {old} and then wrote {new}, which is newer")
            }
            Reason::Listed { reader, read } => {
                let (reader, list) = (words.transaction(*reader), words.content(*read));
                let (first, then) = (older(edge.from_operation), older(edge.to_operation));
                match words.listed_element(*read, edge.to_operation) {
                    true => format!("{reader} read {list}: {from} appended {first} before {to} appended {then}"),
                    false => {
                        format!(
                            "{reader} read {list}, which lacks what {to} appended ({then}): {from} came before {to}"
                        )
                    }
                }
            }
            Reason::Assumed => String::new(),
        }
    }

    /// `4 = 3`, or `4 = 0, the initial version,`.
    fn read_of(&self, read: Option<OperationId>, key: Option<KeyId>, writer: TransactionId) -> String {
        match read {
            Some(read) if writer.is_initial() => format!("{},", self.words.initial_read(read)),
            read => self.words.content_or_key(read, key),
        }
    }

    /// "T3 started before T2 committed", or what an edge says at a level without snapshots.
    fn order(&self, edge: &Edge) -> String {
        let moment = |moment: Moment| match moment {
            Moment::Started(t) => format!("{} started", self.words.transaction(t)),
            Moment::Committed(t) => format!("{} committed", self.words.transaction(t)),
        };
        match self.moments(edge) {
            Some([first, then]) => format!("{} before {}", moment(first), moment(then)),
            None => format!("{} came before {}", self.words.transaction(edge.from), self.words.transaction(edge.to)),
        }
    }

    /// What an edge says in time, at the levels where transactions have snapshots.
    fn moments(&self, edge: &Edge) -> Option<[Moment; 2]> {
        use Moment::{Committed, Started};
        let (from, to) = (edge.from, edge.to);
        let is_snapshot = self.level == Level::SnapshotIsolation;
        match (self.level, edge.relation) {
            (Level::PrefixConsistency | Level::SnapshotIsolation, Relation::AntiDependency) => {
                Some([Started(from), Committed(to)])
            }
            (
                Level::PrefixConsistency | Level::SnapshotIsolation,
                Relation::SessionOrder | Relation::WriteRead | Relation::CausalOrder,
            ) => Some([Committed(from), Started(to)]),
            (Level::PrefixConsistency | Level::SnapshotIsolation, Relation::WriteWrite) if is_snapshot => {
                Some([Committed(from), Started(to)])
            }
            (Level::PrefixConsistency | Level::SnapshotIsolation, Relation::WriteWrite | Relation::CommitOrder) => {
                Some([Committed(from), Committed(to)])
            }
            _ => None,
        }
    }

    pub(super) fn contradiction(&mut self, cycle: &[EdgeIndex], label: &str) {
        let edges: Vec<&Edge> = cycle.iter().filter_map(|&e| self.edge(e)).collect();
        let text = match edges.iter().any(|e| e.to.is_initial()) {
            true => "nothing is older than the initial version".to_owned(),
            false => self.chain(cycle),
        };
        let text = format!("{text}: {}", closing(label));
        self.step(StepRole::Contradiction, text, (cycle.to_vec(), cycle.to_vec()), Vec::new());
    }

    /// "T1 before T2 (5) before T1 (6)"; where transactions have snapshots "T22 committed < T46 started < …".
    fn chain(&self, cycle: &[EdgeIndex]) -> String {
        let words = self.words;
        let moments: Option<Vec<[Moment; 2]>> =
            cycle.iter().map(|&e| self.edge(e).and_then(|edge| self.moments(edge))).collect();
        if let Some(moments) = moments.filter(|moments| !moments.is_empty()) {
            // It begins where a moment is followed by itself, so that the first and the last are the same.
            let n = moments.len();
            let first = (0..n).find(|&at| moments[(at + n - 1) % n][1] == moments[at][0]).unwrap_or(0);
            let mut all: Vec<Moment> = Vec::new();
            for at in 0..n {
                for moment in moments[(first + at) % n] {
                    if all.last() != Some(&moment) {
                        all.push(moment);
                    }
                }
            }
            let begin = all.first().copied();
            if all.last().copied() != begin {
                all.extend(begin);
            }
            let said: Vec<String> = all
                .iter()
                .map(|moment| match moment {
                    Moment::Started(t) => format!("{} started", words.transaction(*t)),
                    Moment::Committed(t) => format!("{} committed", words.transaction(*t)),
                })
                .collect();
            return said.join(" < ");
        }
        let mut text = String::new();
        for &e in cycle {
            let Some(edge) = self.edge(e) else { continue };
            if text.is_empty() {
                text = words.transaction(edge.from);
            }
            let number = self.number(e).map_or_else(String::new, |number| format!(" ({number})"));
            text += &format!(" before {}{number}", words.transaction(edge.to));
        }
        text
    }
}
