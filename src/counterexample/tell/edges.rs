//! Edges, and the cycles that they close, as steps.

use super::{Teller, closing};
use crate::checkers::Level;
use crate::counterexample::StepRole;
use crate::counterexample::claim::{is_in_its_list, is_known};
use crate::counterexample::edge_words::{Moment, capitalized, moments};
use crate::counterexample::first_case::is_evidence;
use crate::history::OperationId;
use crate::relations::{Edge, EdgeIndex, Reason, Relation};

/// What a cycle of nothing but sessions and reads contradicts.
const ORDER: &str = "Read committed and above: there is one order of commits, and sessions and reads follow it";
/// The same where lists are among them.
const ORDER_OF_LISTS: &str =
    "Read committed and above: there is one order of commits; sessions, reads and the elements of lists follow it";

impl Teller<'_> {
    /// One edge as a step: observed, or concluded from others.
    pub(super) fn tell_edge(&mut self, index: EdgeIndex) {
        let Some(edge) = self.edge(index) else { return };
        let text = match &edge.because {
            Reason::Assumed => return,
            // That the initial state is first needs no words.
            Reason::SessionOrder if edge.from.is_initial() => return,
            _ => self.words.edge(edge, self.level),
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
        let supposed = self.supposed_for(&premises);
        self.step(role, text, (vec![index], premises), operations);
        if let Some(step) = self.steps.last_mut() {
            step.premises.extend(supposed);
            step.premises.sort_unstable();
            step.premises.dedup();
        }
        if !matches!(edge.because, Reason::SessionOrder | Reason::Reads | Reason::ReadModifyWrite { .. }) {
            self.by_rule();
        }
        // Of what it follows from, the lines say where it is; that leaves what was written and not seen.
        let written = match edge.because {
            Reason::Visible { .. } => [edge.from_operation, None],
            Reason::Overwrites { .. } => [edge.to_operation, None],
            Reason::SessionOrder | Reason::Reads => return,
            Reason::ReadModifyWrite { read } => [self.edge(read).and_then(|e| e.to_operation), edge.to_operation],
            _ => [edge.from_operation, edge.to_operation],
        };
        let found_at = self.places(written.into_iter().flatten());
        if let Some(step) = self.steps.last_mut().filter(|step| !step.premises.is_empty()) {
            step.found_at = found_at;
        }
    }

    /// The suppositions of the case at hand that say who wrote what these edges read.
    fn supposed_for(&self, premises: &[EdgeIndex]) -> Vec<usize> {
        let untold = premises.iter().filter(|&&e| self.told.get(e).is_some_and(Option::is_none));
        let reads = untold.filter_map(|&e| self.edge(e).filter(|edge| edge.because == Reason::Reads)?.to_operation);
        let supposes = |read: OperationId| {
            self.steps.iter().rposition(|step| step.role == StepRole::Supposed && step.operations.contains(&read))
        };
        reads.filter_map(supposes).collect()
    }

    /// The last step follows from the rule, too.
    fn by_rule(&mut self) {
        let rule = self.steps.iter().position(|step| step.role == StepRole::Rule);
        if let Some(step) = self.steps.last_mut().filter(|step| step.role == StepRole::Concluded) {
            step.premises.extend(rule);
            step.premises.sort_unstable();
        }
    }

    /// What the level promises, once, and the cycle that cannot be.
    pub(super) fn contradiction(&mut self, cycle: &[EdgeIndex]) {
        let edges: Vec<&Edge> = cycle.iter().filter_map(|&e| self.edge(e)).collect();
        let text = match edges.iter().any(|e| e.to.is_initial()) {
            true => "Nothing is older than the initial version".to_owned(),
            false => self.chain(cycle),
        };
        let text = format!("{text}: {}", closing(&self.case));
        self.step(StepRole::Contradiction, text, (cycle.to_vec(), cycle.to_vec()), Vec::new());
    }

    /// What the level promises, unless it has been said; of a cycle that was only observed, what every level promises.
    pub(super) fn rule(&mut self, cycle: &[EdgeIndex]) {
        if self.steps.iter().all(|step| step.role != StepRole::Rule) {
            let edges: Vec<&Edge> = cycle.iter().filter_map(|&e| self.edge(e)).collect();
            let history = self.words.history;
            let is_listed =
                |edge: &&Edge| matches!(edge.because, Reason::Listed { .. }) || is_in_its_list(history, edge);
            let in_time = edges.iter().any(|edge| edge.relation == Relation::RealTime);
            let rule = match !edges.is_empty() && edges.iter().all(|edge| is_known(history, edge)) {
                true if in_time => {
                    let level = self.level.max(Level::StrictSerializability);
                    format!("{}: {}", capitalized(&level.spoken()), level.promise())
                }
                true if edges.iter().any(is_listed) => ORDER_OF_LISTS.to_owned(),
                true => ORDER.to_owned(),
                false => format!("{}: {}", capitalized(&self.level.spoken()), self.level.promise()),
            };
            self.say(StepRole::Rule, rule, Vec::new());
        }
    }

    /// "T1 before T2 (5) before T1 (6)"; where transactions have snapshots "T22 committed < T46 started (5) < …".
    fn chain(&self, cycle: &[EdgeIndex]) -> String {
        let number = |e: EdgeIndex| self.number(e).map_or_else(String::new, |number| format!(" ({number})"));
        if let Some(links) = self.in_time(cycle) {
            // It begins where a moment is followed by itself, so that the first and the last are the same.
            let n = links.len();
            let first = (0..n).find(|&at| links[(at + n - 1) % n].1[1] == links[at].1[0]).unwrap_or(0);
            let mut said: Vec<String> = Vec::new();
            let mut last = None;
            for (e, [from, to]) in links.iter().cycle().skip(first).take(n) {
                if last != Some(from) {
                    said.push(self.words.moment(*from));
                }
                said.push(self.words.moment(*to) + &number(*e));
                last = Some(to);
            }
            let begin = &links[first].1[0];
            said.extend((last != Some(begin)).then(|| self.words.moment(*begin)));
            return said.join(" < ");
        }
        let edges = cycle.iter().filter_map(|&e| Some((e, self.edge(e)?)));
        let first = edges.clone().next().map(|(_, edge)| self.words.transaction(edge.from));
        let links = edges.map(|(e, edge)| format!(" before {}{}", self.words.transaction(edge.to), number(e)));
        first.into_iter().chain(links).collect()
    }

    /// The edges of a cycle in time, where each of them says something of it.
    fn in_time(&self, cycle: &[EdgeIndex]) -> Option<Vec<(EdgeIndex, [Moment; 2])>> {
        let link = |&e: &EdgeIndex| Some((e, moments(self.edge(e)?, self.level)?));
        cycle.iter().map(link).collect::<Option<Vec<_>>>().filter(|links| !links.is_empty())
    }
}
