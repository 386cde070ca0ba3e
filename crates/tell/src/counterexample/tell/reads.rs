//! Arguments that end in reads.

use super::Teller;
use crate::counterexample::involved_operations;
use crate::counterexample::statement::{Rule, Statement, Step, StepRole};
use isoscope_check::checkers::{Level, Pattern};
use isoscope_model::history::{OperationId, OperationKind, Outcome};

impl Teller<'_> {
    /// The operations alone contradict.
    pub(super) fn tell_read(&mut self) {
        let involved = involved_operations(self.violation);
        let pattern = self.violation.id.pattern;
        let reads = self.words.of_kind(&involved, OperationKind::Read);
        // Stronger levels forbid it, too, but a violation of cut isolation need not violate read committed.
        let at = (pattern != Pattern::NoLinearOrder).then(|| pattern.row().level.max(self.level));
        self.tell_wrong(pattern, reads, involved, at);
    }

    /// These reads contradict in a case, or on their own.
    pub(super) fn tell_reads(&mut self, pattern: Pattern, reads: &[OperationId]) {
        self.tell_wrong(pattern, reads.to_vec(), reads.to_vec(), None);
    }

    fn tell_wrong(
        &mut self,
        pattern: Pattern,
        reads: Vec<OperationId>,
        involved: Vec<OperationId>,
        at: Option<Level>,
    ) {
        let (n_reads, reads_told) = (reads.len(), reads.clone());
        let says = Statement::WrongReads {
            pattern,
            reads: reads.clone(),
            at,
        };
        let Some(&read) = reads.first() else {
            return self.say(StepRole::Contradiction, says, involved);
        };
        let is_told = |step: &Step| reads_told.iter().any(|read| step.operations.contains(read));
        if !self.steps.iter().any(is_told) {
            self.say(StepRole::Concluded, Statement::Read { read }, vec![read]);
        }
        let rule = match pattern {
            Pattern::NoLinearOrder => Some(Rule::Level(Level::Linearizability)),
            Pattern::IncompatibleOrder => Some(Rule::Lists),
            _ => None,
        };
        if let Some(rule) =
            rule.filter(|_| self.steps.iter().all(|step| step.role != StepRole::Rule))
        {
            self.say(StepRole::Rule, Statement::Rule(rule), Vec::new());
        }
        let history = self.words.history;
        let matters = |o: OperationId| match pattern {
            _ if history.operation(o).kind == OperationKind::Read => true,
            Pattern::IncompatibleOrder => n_reads < 2,
            // Without a line that gives the writers, the lines of the writers do.
            Pattern::NonRepeatableRead => self.violation.edges.is_empty(),
            Pattern::AbortedRead => history.outcome(history.transaction_of(o)) == Outcome::Aborted,
            _ => true,
        };
        let is_premise = |step: &Step| {
            let speaks_of = step
                .operations
                .iter()
                .any(|&o| involved.contains(&o) && matters(o));
            let is_about_all = matches!(step.role, StepRole::Observed | StepRole::Rule);
            let is_seen = pattern == Pattern::NoLinearOrder && step.role == StepRole::Observed;
            is_seen
                || speaks_of
                || step.operations.is_empty() && step.edges.is_empty() && is_about_all
        };
        let premises = (0..self.steps.len())
            .filter(|&place| is_premise(&self.steps[place]))
            .collect();
        self.say(StepRole::Contradiction, says, involved);
        if let Some(step) = self.steps.last_mut() {
            step.premises = premises;
        }
    }
}
