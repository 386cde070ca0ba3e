//! Edges, and the cycles they close, as steps.

use super::Teller;
use crate::counterexample::claim::{is_in_its_list, is_known};
use crate::counterexample::rests_on::evidence;
use crate::counterexample::statement::{Rule, Statement, Step, StepRole};
use isoscope_check::checkers::Level;
use isoscope_model::history::{OperationId, TransactionId};
use isoscope_model::relations::{Edge, EdgeIndex, Reason, Relation};

impl Teller<'_> {
    /// One edge as a step: observed, or concluded from others.
    pub(super) fn tell_edge(&mut self, index: EdgeIndex) {
        let Some(edge) = self.edge(index) else { return };
        match &edge.because {
            Reason::Assumed => return,
            // That the initial state is first is obvious.
            Reason::SessionOrder if edge.from.is_initial() => return,
            _ => {}
        }
        // In a case, the writer is what the case supposes.
        let is_first = self
            .steps
            .iter()
            .all(|step| step.role == StepRole::Observed);
        let role = match edge.because {
            Reason::SessionOrder | Reason::Reads if is_first => StepRole::Observed,
            _ => StepRole::Concluded,
        };
        let mut operations: Vec<OperationId> = edge
            .from_operation
            .into_iter()
            .chain(edge.to_operation)
            .collect();
        if let Reason::Visible { read, .. } | Reason::Listed { read, .. } = edge.because {
            operations.push(read);
        }
        let mut premises = edge.because.premises().to_vec();
        premises.extend(evidence(&self.violation.edges, edge));
        let mut supposed = self.supposed_for(edge, &premises);
        if role == StepRole::Concluded {
            let speaks_of = |t: TransactionId| t == edge.from || t == edge.to;
            supposed.extend(
                self.committed
                    .iter()
                    .filter(|(t, _)| speaks_of(*t))
                    .map(|(_, step)| step),
            );
        }
        self.step(
            role,
            Statement::Edge { edge: index },
            (vec![index], premises),
            operations,
        );
        if let Some(step) = self.steps.last_mut() {
            step.premises.extend(supposed);
            step.premises.sort_unstable();
            step.premises.dedup();
        }
        if !matches!(
            edge.because,
            Reason::SessionOrder | Reason::Reads | Reason::ReadModifyWrite { .. }
        ) {
            self.by_rule();
        }
        // The lines it follows from give their places; that leaves the write that was not seen.
        let written = match edge.because {
            Reason::Visible { .. } => [edge.from_operation, None],
            Reason::Overwrites { .. } => [edge.to_operation, None],
            Reason::SessionOrder | Reason::Reads => return,
            Reason::ReadModifyWrite { read } => [
                self.edge(read).and_then(|e| e.to_operation),
                edge.to_operation,
            ],
            _ => [edge.from_operation, edge.to_operation],
        };
        let found_at = self.places(written.into_iter().flatten());
        if let Some(step) = self
            .steps
            .last_mut()
            .filter(|step| !step.premises.is_empty())
        {
            step.found_at = found_at;
        }
    }

    /// The suppositions of the current case about the writers that an edge and its premises rest on.
    fn supposed_for(&self, edge: &Edge, premises: &[EdgeIndex]) -> Vec<usize> {
        let history = self.words.history;
        let unstated = premises
            .iter()
            .filter(|&&e| self.stated_in.get(e).is_some_and(Option::is_none));
        let of_edge = match edge.because {
            Reason::Visible { read, .. } | Reason::Listed { read, .. } => Some(read),
            Reason::Overwrites { .. } => edge.from_operation,
            Reason::Reads if !self.case.is_empty() => edge.to_operation,
            _ => None,
        };
        let unstated_reads = unstated.filter_map(|&e| {
            self.edge(e)
                .filter(|edge| edge.because == Reason::Reads)?
                .to_operation
        });
        let reads: Vec<OperationId> = unstated_reads.chain(of_edge).collect();
        let key = |o: OperationId| history.operation(o).key;
        // What is open supposes nothing.
        let is_supposed = |step: &Step| {
            step.role == StepRole::Supposed
                && !matches!(
                    step.says,
                    Statement::OpenWriter { .. } | Statement::OpenAppend { .. }
                )
        };
        let is_around = |step: &Step| {
            is_supposed(step) && !step.case.is_empty() && self.case.is_within(&step.case)
        };
        let supposes = |step: &Step, read: OperationId| {
            // Which transaction appended an element of one list matters for the other lists of its key.
            step.operations.contains(&read)
                || history.lists().is_list(key(read))
                    && step.operations.iter().any(|&o| key(o) == key(read))
        };
        let says = |step: &Step| is_around(step) && reads.iter().any(|&read| supposes(step, read));
        let supposed = (0..self.steps.len()).filter(|&place| says(&self.steps[place]));
        supposed
            .chain(reads.iter().filter_map(|&read| self.line_of_read(read)))
            .collect()
    }

    /// The last step follows from the rule, too.
    pub(super) fn by_rule(&mut self) {
        let rule = self.place_of_rule();
        let is_argued =
            |step: &&mut Step| matches!(step.role, StepRole::Concluded | StepRole::Contradiction);
        if let Some(step) = self.steps.last_mut().filter(is_argued) {
            step.premises.extend(rule);
            step.premises.sort_unstable();
        }
    }

    /// The place of the step that says what the level promises.
    pub(super) fn place_of_rule(&self) -> Option<usize> {
        self.steps
            .iter()
            .position(|step| step.role == StepRole::Rule)
    }

    /// The impossible cycle.
    pub(super) fn contradiction(&mut self, cycle: &[EdgeIndex]) {
        let edges = cycle.iter().map(|&e| (e, self.number(e))).collect();
        let says = Statement::Cycle {
            edges,
            rule: self.place_of_rule().map(|place| place + 1),
        };
        self.step(
            StepRole::Contradiction,
            says,
            (cycle.to_vec(), cycle.to_vec()),
            Vec::new(),
        );
        self.by_rule();
    }

    /// What the level promises, unless already said; for a cycle that was only observed, what every level promises.
    pub(super) fn rule(&mut self, cycle: &[EdgeIndex]) {
        if self.steps.iter().all(|step| step.role != StepRole::Rule) {
            let edges: Vec<&Edge> = cycle.iter().filter_map(|&e| self.edge(e)).collect();
            let history = self.words.history;
            let is_listed = |edge: &&Edge| {
                matches!(edge.because, Reason::Listed { .. }) || is_in_its_list(history, edge)
            };
            let in_time = edges.iter().any(|edge| edge.relation == Relation::RealTime);
            let rule = match !edges.is_empty() && edges.iter().all(|edge| is_known(history, edge)) {
                true if in_time && !self.level.counts_real_time() => {
                    Rule::Level(Level::StrictSerializability)
                }
                true if !in_time && edges.iter().any(is_listed) => Rule::OrderOfLists,
                true if !in_time => Rule::Order,
                _ => Rule::Level(self.level),
            };
            self.say(StepRole::Rule, Statement::Rule(rule), Vec::new());
        }
    }
}
