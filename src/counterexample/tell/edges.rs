//! Edges, and the cycles that they close, as steps.

use super::{Teller, closing};
use crate::counterexample::StepRole;
use crate::history::OperationId;
use crate::relations::{Axiom, Edge, EdgeIndex, Reason, Relation};

impl Teller<'_> {
    /// One edge as a step. `quiet` edges are not on the cycle: those from ⊥ need no words then.
    pub(super) fn tell_edge(&mut self, index: EdgeIndex, quiet: bool) {
        let Some(edge) = self.edge(index) else { return };
        self.told[index] = true;
        let words = self.words;
        let (from, to) = (words.transaction(edge.from), words.transaction(edge.to));
        let (role, text) = match &edge.because {
            Reason::SessionOrder if edge.from.is_initial() && quiet => return,
            Reason::SessionOrder if edge.from.is_initial() => {
                (StepRole::Consequence, format!("{to}, like every transaction, comes after the initial state"))
            }
            Reason::SessionOrder if edge.relation == Relation::RealTime => {
                (StepRole::Consequence, format!("{to} begins after {from} has ended"))
            }
            Reason::SessionOrder => {
                let session = words.history.session_name(words.history.session_of(edge.to));
                (StepRole::Consequence, format!("{to} comes after {from} in session {session}"))
            }
            Reason::Reads => (StepRole::Consequence, self.read_text(index, edge)),
            Reason::Path { through } => {
                let text = match edge.relation {
                    Relation::CausalOrder => format!("{to} could see {from} ({})", words.path(through)),
                    _ => format!("{from} comes before {to} ({})", words.path(through)),
                };
                (StepRole::Consequence, text)
            }
            Reason::Visible { reader, read, .. } => {
                let observed = words.reads("nevertheless reads", Some(*read), edge.key, edge.to);
                let older = match edge.to.is_initial() {
                    true => "the initial one".to_owned(),
                    false => format!("{to}'s"),
                };
                let key = words.key(edge.key);
                let text = format!(
                    "{} {observed}, {from}'s version of {key} must be older than {older}",
                    words.transaction(*reader)
                );
                (StepRole::Inference, text)
            }
            Reason::Overwrites { writer, .. } => {
                let observed = words.reads("reads", edge.from_operation, edge.key, *writer);
                let newer = words.content_or_key(edge.to_operation, edge.key);
                // What the first clause says of the version ends in an apposition.
                let comma = if observed.ends_with(", the initial version") { "," } else { "" };
                (
                    StepRole::Inference,
                    format!("{from} {observed}{comma} and {to} writes the newer {newer}, {from} does not see {to}"),
                )
            }
            Reason::Conflict { .. } => {
                let key = words.key(edge.key);
                let text = format!(
                    "{from} and {to} both write {key} and may not overlap, and {from} starts before {to} commits, {from} commits before {to} starts"
                );
                (StepRole::Inference, text)
            }
            Reason::ReadModifyWrite { read } => {
                let content = self.edge(*read).and_then(|e| e.to_operation);
                let observed = words.reads("reads", content, edge.key, edge.from);
                let key = words.key(edge.key);
                let comma = if observed.ends_with(", the initial version") { "," } else { "" };
                (
                    StepRole::Inference,
                    format!("{to} {observed}{comma} before it writes {key} itself, its version is the newer one"),
                )
            }
            Reason::Listed { reader, read } => {
                let list = words.content(*read);
                let key = words.key(edge.key);
                let reader = words.transaction(*reader);
                let shows = match words.listed_element(*read, edge.to_operation) {
                    true => "where the one element stands before the other",
                    false => "which lacks the newer element",
                };
                (
                    StepRole::Consequence,
                    format!("{reader} reads {list}, {shows}: {from}'s version of {key} is older than {to}'s"),
                )
            }
            Reason::Assumed => return,
        };
        let mut operations: Vec<OperationId> = edge.from_operation.into_iter().chain(edge.to_operation).collect();
        if let Reason::Visible { read, .. } | Reason::Listed { read, .. } = edge.because {
            operations.push(read);
        }
        self.step(role, text, vec![index], operations);
    }

    /// "T393 reads 0 = 3328 from T297, so it has seen T297; …", by what rests on the edge.
    fn read_text(&self, index: EdgeIndex, edge: &Edge) -> String {
        let reader = self.words.transaction(edge.to);
        let what = self.words.reads("reads", edge.to_operation, edge.key, edge.from);
        if edge.from.is_initial() {
            return format!("{reader} {what}");
        }
        let from = self.words.transaction(edge.from);
        let rests = self.violation.edges.iter().find_map(|other| match &other.because {
            Reason::Visible { axiom, seen, .. } if seen.contains(&index) => Some(*axiom),
            _ => None,
        });
        match rests {
            Some(Axiom::ReadAtomic) => {
                format!("{reader} {what}, so it has seen {from}; read atomicity says it has seen all of {from}")
            }
            Some(Axiom::ReadCommitted) => {
                format!("{reader} {what}, and from then on it may not go back behind what {from} wrote")
            }
            Some(Axiom::Causal) => format!("{reader} {what}, so it could see {from} and all that {from} could see"),
            _ => format!("{reader} {what}"),
        }
    }

    pub(super) fn contradiction(&mut self, cycle: &[EdgeIndex], label: &str) {
        let words = self.words;
        let edges: Vec<&Edge> = cycle.iter().filter_map(|&e| self.edge(e)).collect();
        let observed = |e: &Edge| {
            matches!(e.because, Reason::SessionOrder | Reason::Reads | Reason::Path { .. } | Reason::Listed { .. })
        };
        let inferred = |e: &&&Edge| !observed(e);
        let place = edges.iter().position(|e| inferred(&e));
        let text = match place {
            _ if edges.iter().any(|e| e.to.is_initial()) => "the initial version is older than every other".to_owned(),
            Some(place) if edges.iter().filter(inferred).count() == 1 => {
                // The inferred edge goes from t2 to t1; the rest of the cycle leads from t1 to t2.
                let rest: Vec<EdgeIndex> = (1..cycle.len()).map(|i| cycle[(place + i) % cycle.len()]).collect();
                let (t2, t1) = (words.transaction(edges[place].from), words.transaction(edges[place].to));
                match edges.as_slice() {
                    [a, b] if [a, b].iter().any(|e| e.relation == Relation::SessionOrder) => {
                        format!("{t1} precedes {t2} in their session")
                    }
                    _ if edges[place].from == edges[place].to => {
                        format!("no transaction precedes itself, {t1} included")
                    }
                    _ => format!("{t1} precedes {t2} ({})", words.path(&rest)),
                }
            }
            _ => {
                let first = edges.first().map(|e| words.transaction(e.from)).unwrap_or_default();
                format!("{first} would come before itself ({})", words.path(cycle))
            }
        };
        self.step(StepRole::Contradiction, format!("{text}: {}", closing(label)), cycle.to_vec(), Vec::new());
    }
}
