//! The steps of an argument: what was observed, then what follows from it.
//!
//! Everything observed comes first, whatever case it matters in: sessions, real time, and reads with their writers.
//! Each conclusion names the steps it follows from, the contradiction comes last. A case split is explained case by
//! case.

mod edges;
mod observed;
mod proofs;
mod reads;

use super::sentence::{Mention, Sentence};
use super::sentences::{Speaker, Words};
use super::statement::{CaseLabel, Statement, Step, StepRole};
use super::{axioms, reasons};
use isoscope_check::checkers::{Level, Violation};
use isoscope_model::history::{OperationId, TransactionId};
use isoscope_model::relations::{Edge, EdgeIndex, Reason};

/// Explains one violation step by step.
pub(super) struct Teller<'a> {
    words: &'a Words<'a>,
    violation: &'a Violation,
    /// What the argument is about.
    level: Level,
    /// By edge: the step that states it.
    stated_in: Vec<Option<usize>>,
    steps: Vec<Step>,
    /// Transactions of unknown outcome that committed, and the steps that say so.
    committed: Vec<(TransactionId, usize)>,
    /// The current case; empty outside of cases.
    case: CaseLabel,
}

impl<'a> Teller<'a> {
    pub(super) fn new(words: &'a Words<'a>, violation: &'a Violation, level: Level) -> Teller<'a> {
        Teller {
            words,
            violation,
            level,
            stated_in: vec![None; violation.edges.len()],
            steps: Vec::new(),
            committed: Vec::new(),
            case: CaseLabel::default(),
        }
    }

    pub(super) fn tell(mut self) -> Vec<Step> {
        self.tell_observed();
        self.tell_proof();
        self.steps
    }

    fn speaker(&self) -> Speaker<'a> {
        Speaker {
            words: self.words,
            violation: self.violation,
        }
    }

    fn edge(&self, index: EdgeIndex) -> Option<&'a Edge> {
        self.violation.edges.get(index)
    }

    /// Adds a step that mentions operations but no edge.
    fn say(&mut self, role: StepRole, says: Statement, operations: Vec<OperationId>) {
        self.step(role, says, (Vec::new(), Vec::new()), operations);
    }

    /// Adds a step. It states `edges`, and follows from the steps that stated `premises`.
    fn step(
        &mut self,
        role: StepRole,
        says: Statement,
        (edges, premises): (Vec<EdgeIndex>, Vec<EdgeIndex>),
        operations: Vec<OperationId>,
    ) {
        let mut transactions: Vec<TransactionId> = Vec::new();
        for edge in edges.iter().filter_map(|&e| self.edge(e)) {
            transactions.extend([edge.from, edge.to]);
            if let Reason::Visible { reader, .. } = edge.because {
                transactions.push(reader);
            }
        }
        transactions.extend(
            operations
                .iter()
                .map(|&o| self.words.history.transaction_of(o)),
        );
        transactions.sort_unstable();
        transactions.dedup();
        let mut premises: Vec<usize> = premises
            .iter()
            .filter_map(|&e| *self.stated_in.get(e)?)
            .collect();
        for edge in edges
            .iter()
            .filter_map(|&e| self.edge(e))
            .filter(|_| role == StepRole::Concluded)
        {
            if let Reason::Listed { read, .. } = edge.because {
                premises.extend(self.line_of_read(read));
            }
        }
        premises.sort_unstable();
        premises.dedup();
        if role != StepRole::Contradiction {
            for &e in &edges {
                if let Some(place) = self.stated_in.get_mut(e) {
                    *place = Some(self.steps.len());
                }
            }
        }
        let case = self.case.clone();
        let text = self.speaker().statement(&says, self.level, &case);
        let found_at = self.found_at(&operations);
        let mut step = Step {
            says,
            role,
            case,
            text,
            long: String::new(),
            premises,
            found_at,
            edges,
            transactions,
            operations,
        };
        step.long = self.long(&step);
        self.steps.push(step);
    }

    /// Where the file has these operations: "line 40, written at line 12", the last one first.
    fn found_at(&self, operations: &[OperationId]) -> Sentence {
        let Some((last, others)) = operations.split_last() else {
            return Sentence::default();
        };
        let places = [self.places([*last]), self.places(others.iter().copied())];
        let known = places.into_iter().filter(|places| !places.is_empty());
        Sentence::join(known, ", written at ")
    }

    /// "line 12, line 14".
    fn places(&self, operations: impl IntoIterator<Item = OperationId>) -> Sentence {
        let history = self.words.history;
        let places = operations.into_iter().filter_map(|o| {
            let place = history.spot_of(o)?.text(history.origin());
            Some(Sentence::name(place, Mention::Place(o)))
        });
        Sentence::join(places, ", ")
    }

    /// Additional detail for checking a step.
    fn long(&self, step: &Step) -> String {
        match step.role {
            StepRole::Supposed | StepRole::Rule => String::new(),
            StepRole::Contradiction => {
                axioms::of_contradiction(step, self.violation.id.pattern, self.level)
                    .map(|quotation| format!("{}.", quotation.text()))
                    .unwrap_or_default()
            }
            StepRole::Observed | StepRole::Concluded => match step.edges.as_slice() {
                [one] => self
                    .edge(*one)
                    .map(|e| reasons::reason(self.words, e, self.level).long)
                    .unwrap_or_default(),
                _ => String::new(),
            },
        }
    }

    /// The number of the step that states an edge, from 1.
    fn number(&self, e: EdgeIndex) -> Option<usize> {
        self.stated_in
            .get(e)
            .copied()
            .flatten()
            .map(|place| place + 1)
    }
}
