//! The steps of an argument, in the order in which they are told.
//!
//! Observed writes come first ("Let"), observed reads and session order next ("Then"), each inferred edge with its
//! reason after its premises ("Because"), the contradiction last ("However"). A case split is told case by case.

mod edges;
mod proofs;
mod reads;

use super::words::Words;
use super::{Step, StepRole, axioms, involved_operations, reasons};
use crate::checkers::{Level, Violation};
use crate::history::{OperationId, OperationKind, Outcome, TransactionId};
use crate::relations::{Edge, EdgeIndex, Reason, Relation};

/// Tells one violation step by step.
pub(super) struct Teller<'a> {
    words: &'a Words<'a>,
    violation: &'a Violation,
    /// What the argument is about.
    level: Level,
    told: Vec<bool>,
    steps: Vec<Step>,
}

impl<'a> Teller<'a> {
    pub(super) fn new(words: &'a Words<'a>, violation: &'a Violation, level: Level) -> Teller<'a> {
        Teller { words, violation, level, told: vec![false; violation.edges.len()], steps: Vec::new() }
    }

    pub(super) fn tell(mut self) -> Vec<Step> {
        self.given();
        self.tell_commits();
        self.tell_proof();
        self.steps
    }

    fn edge(&self, index: EdgeIndex) -> Option<&'a Edge> {
        self.violation.edges.get(index)
    }

    fn step(&mut self, role: StepRole, text: String, edges: Vec<EdgeIndex>, operations: Vec<OperationId>) {
        let mut transactions = Vec::new();
        for edge in edges.iter().filter_map(|&e| self.edge(e)) {
            transactions.extend([edge.from, edge.to]);
            if let Reason::Visible { reader, .. } = edge.because {
                transactions.push(reader);
            }
        }
        transactions.extend(operations.iter().map(|&o| self.words.history.transaction_of(o)));
        transactions.sort_unstable();
        transactions.dedup();
        let mut step = Step { role, text, long: String::new(), edges, transactions, operations };
        step.long = self.long(&step);
        self.steps.push(step);
    }

    /// What there is to add for those who want to check a step.
    fn long(&self, step: &Step) -> String {
        match step.role {
            StepRole::Given => String::new(),
            StepRole::Contradiction => axioms::of_contradiction(step, self.violation.id.pattern, self.level)
                .map(|quotation| format!("{}.", quotation.text()))
                .unwrap_or_default(),
            StepRole::Consequence | StepRole::Inference => match step.edges.as_slice() {
                [one] => self.edge(*one).map(|e| reasons::reason(self.words, e, self.level).long).unwrap_or_default(),
                _ => String::new(),
            },
        }
    }

    /// "Let T295 write 4 = 3285, and then, in the same session, T297 write 4 = 3335 and 0 = 3328".
    fn given(&mut self) {
        let history = self.words.history;
        let involved = involved_operations(self.violation);
        let writes = self.words.of_kind(&involved, OperationKind::Write);
        let mut writers: Vec<TransactionId> = self.violation.transactions.clone();
        writers.extend(writes.iter().map(|&w| history.transaction_of(w)));
        let mut done: Vec<TransactionId> = Vec::new();
        let (mut clauses, mut edges) = (Vec::new(), Vec::new());
        for t in writers {
            let own: Vec<OperationId> = match t.is_initial() || done.contains(&t) {
                true => Vec::new(),
                false => writes.iter().copied().filter(|&w| history.transaction_of(w) == t).collect(),
            };
            if own.is_empty() {
                continue;
            }
            let contents: Vec<String> = own.iter().map(|&w| self.words.content(w)).collect();
            let is_next = |e: &Edge| {
                matches!(e.because, Reason::SessionOrder)
                    && e.relation == Relation::SessionOrder
                    && e.to == t
                    && done.last() == Some(&e.from)
            };
            let follows = self.violation.edges.iter().position(is_next);
            let then = if follows.is_some() { "then, in the same session, " } else { "" };
            let outcome = if history.outcome(t) == Outcome::Aborted { " and abort" } else { "" };
            let lists = history.lists();
            let verb = if own.iter().all(|w| lists.is_list(history.keys()[w.index()])) { "append" } else { "write" };
            clauses.push(format!("{then}{} {verb} {}{outcome}", self.words.transaction(t), Words::list(&contents)));
            if let Some(edge) = follows {
                self.told[edge] = true;
                edges.push(edge);
            }
            done.push(t);
        }
        if !clauses.is_empty() {
            let text = match clauses.split_last() {
                Some((last, init)) if !init.is_empty() => format!("{}, and {last}", init.join(", ")),
                _ => clauses.concat(),
            };
            self.step(StepRole::Given, text, edges, writes);
        }
    }

    /// "T3 reads x = 3 from T2, so that T2, whose client was not told, must have committed".
    fn tell_commits(&mut self) {
        let history = self.words.history;
        let unknown = |t: TransactionId| !t.is_initial() && history.outcome(t) == Outcome::Unknown;
        for t in history.transactions().filter(|&t| unknown(t)) {
            let shows = |e: &Edge| e.because == Reason::Reads && e.from == t && !unknown(e.to);
            let Some(index) = self.violation.edges.iter().position(shows) else { continue };
            let Some(edge) = self.edge(index) else { continue };
            let (reader, name) = (self.words.transaction(edge.to), self.words.transaction(t));
            let what = self.words.reads("reads", edge.to_operation, edge.key, t);
            let text = format!("{reader} {what}, so that {name}, whose client was not told, must have committed");
            self.step(StepRole::Consequence, text, vec![index], edge.to_operation.into_iter().collect());
        }
    }
}

/// How a contradiction ends the argument, or a case of it.
fn closing(label: &str) -> &'static str {
    if label.is_empty() { "a contradiction" } else { "a contradiction in this case" }
}
