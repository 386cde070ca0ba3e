//! Facts to choose among, from which edges follow: questions with one answer each, so that the graph stays acyclic.
//!
//! Unlike the sides of a [`Choice`](super::Choice), facts imply edges jointly: an edge may follow from any number of
//! facts, and only the caller's [`Rules`] know which. They are called whenever a fact becomes true, and again when
//! everything is answered, so what is costly to find can wait until then.
//!
//! A question is encoded as a ladder: rung j says that the answer is none of the first j. The solver climbs a ladder
//! only as far as it must, so answers are tried in the caller's order, and exactly one is given.

use super::acyclicity::Labels;
use super::{CycleEdge, DynamicOrder, Vertex, Watch};
use batsat::{Lit, Solver, SolverInterface, SolverOpts, Theory, TheoryArg, Var, lbool};
use isoscope_model::control::{Control, Interrupt};
use std::ops::Range;

/// A fact, numbered from 0.
pub type Fact = u32;

/// A question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The possible answers, in the order in which they are tried. No fact answers two questions.
    pub answers: Vec<Fact>,
    /// The question applies only if this fact holds.
    pub only_if: Option<Fact>,
}

/// Questions and constraints between facts.
#[derive(Clone, Debug, Default)]
pub struct Questions {
    /// Number of facts: answers, and others, which do not hold unless forced.
    pub n_facts: usize,
    /// The questions.
    pub questions: Vec<Question>,
    /// In each of these lists at least one fact holds (`true`) or does not (`false`), as given.
    pub clauses: Vec<Vec<(Fact, bool)>>,
}

/// What follows from facts.
pub trait Rules {
    /// Adds what follows from `fact`, which holds from now on, and others that hold: `fact` is a reason for all of it.
    fn follow(&mut self, fact: Fact, holds: &[bool], found: &mut Consequences);

    /// Adds what follows and was not reported yet, where `order` contradicts it; every question is answered. Called
    /// again once that is taken into account.
    fn complete(&mut self, order: &DynamicOrder, holds: &[bool], found: &mut Consequences);
}

/// Edges that follow from facts.
#[derive(Clone, Debug, Default)]
pub struct Consequences {
    edges: Vec<(Vertex, Vertex, Range<usize>)>,
    impossible: Option<Range<usize>>,
    reasons: Vec<Fact>,
}

impl Consequences {
    /// An edge that follows from these facts together.
    pub fn edge(&mut self, from: Vertex, to: Vertex, because: &[Fact]) {
        let because = self.keep(because);
        self.edges.push((from, to, because));
    }

    /// These facts exclude each other.
    pub fn impossible(&mut self, together: &[Fact]) {
        self.impossible = Some(self.keep(together));
    }

    /// Number of edges found.
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty() && self.impossible.is_none()
    }

    fn keep(&mut self, facts: &[Fact]) -> Range<usize> {
        let begin = self.reasons.len();
        self.reasons.extend_from_slice(facts);
        begin..self.reasons.len()
    }

    fn clear(&mut self) {
        self.edges.clear();
        self.impossible = None;
        self.reasons.clear();
    }
}

/// What [`answer`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answered {
    /// By fact, whether it holds.
    Model(Vec<bool>),
    /// There is no answer to all questions: in each list not all facts hold together.
    Contradiction(Vec<Vec<Fact>>),
    /// More conflicts than allowed.
    GaveUp,
}

/// Answers all questions so that `order` with the edges that follow is acyclic; `begin` has the edges without premises.
/// Ends after `most_conflicts` conflicts; exponential in the worst case.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub fn answer(
    order: &mut DynamicOrder,
    questions: &Questions,
    begin: &Consequences,
    rules: &mut impl Rules,
    most_conflicts: usize,
    control: &Control,
) -> Result<Answered, Interrupt> {
    control.check()?;
    let mut solver = Solver::new(
        SolverOpts::default(),
        Watch {
            control,
            conflicts: 0,
            most_conflicts,
        },
    );
    pose(&mut solver, questions);
    let mut theory = Following::new(order, rules, questions.n_facts, control);
    if let Err(together) = theory.take_in(begin) {
        debug_assert!(together.is_empty());
        return Ok(Answered::Contradiction(vec![together]));
    }
    let outcome = solver.solve_limited_th(&mut theory, &[]);
    let is_absurd = theory.is_absurd;
    let lemmas = std::mem::take(&mut theory.lemmas);
    theory.undo_to((0, 0, 0));
    // A theory that was stopped accepts anything, so the stop flag comes before the answer.
    control.check()?;
    Ok(match outcome {
        _ if is_absurd => Answered::GaveUp,
        outcome if outcome == lbool::TRUE => {
            let holds = |fact| solver.value_var(Var::unsafe_from_idx(fact)) == lbool::TRUE;
            Answered::Model((0..questions.n_facts as Fact).map(holds).collect())
        }
        outcome if outcome == lbool::FALSE => Answered::Contradiction(lemmas),
        _ => Answered::GaveUp,
    })
}

fn literal(fact: Fact, holds: bool) -> Lit {
    Lit::new(Var::unsafe_from_idx(fact), holds)
}

/// Encodes the questions. Variables are the facts, one that never holds, then the rungs of all ladders; the solver
/// decides rungs and facts that are not answers.
fn pose(solver: &mut Solver<Watch<'_>>, questions: &Questions) {
    let mut is_answer = vec![false; questions.n_facts];
    questions
        .questions
        .iter()
        .flat_map(|question| &question.answers)
        .for_each(|&fact| is_answer[fact as usize] = true);
    for (fact, is_answer) in is_answer.into_iter().enumerate() {
        let variable = solver.new_var(lbool::UNDEF, !is_answer);
        debug_assert_eq!(variable.idx() as usize, fact);
    }
    let never = solver.new_var(lbool::UNDEF, true);
    solver.add_clause_reuse(&mut vec![Lit::new(never, false)]);
    let add = |solver: &mut Solver<Watch<'_>>, clause: &[Lit]| {
        solver.add_clause_reuse(&mut clause.to_vec());
    };
    for Question { answers, only_if } in &questions.questions {
        let mut below: Option<Lit> = None;
        for (place, &fact) in answers.iter().enumerate() {
            let is_last = place + 1 == answers.len();
            // There is a rung above the last answer only if the question need not be answered.
            let above = match (is_last, only_if) {
                (true, None) => None,
                _ => Some(Lit::new(solver.new_var(lbool::UNDEF, true), true)),
            };
            let given = literal(fact, true);
            if let Some(below) = below {
                add(solver, &[!given, below]);
            }
            if let Some(above) = above {
                add(solver, &[!given, !above]);
                below
                    .into_iter()
                    .for_each(|below| add(solver, &[!above, below]));
            }
            let unless: Vec<Lit> = below
                .map(|below| !below)
                .into_iter()
                .chain(above)
                .chain([given])
                .collect();
            add(solver, &unless);
            if is_last && let (Some(above), Some(fact)) = (above, *only_if) {
                add(solver, &[!above, literal(fact, false)]);
            }
            below = above;
        }
        if answers.is_empty() {
            add(
                solver,
                &only_if
                    .map(|fact| literal(fact, false))
                    .into_iter()
                    .collect::<Vec<_>>(),
            );
        }
    }
    for clause in &questions.clauses {
        let clause: Vec<Lit> = clause
            .iter()
            .map(|&(fact, holds)| literal(fact, holds))
            .collect();
        add(solver, &clause);
    }
}

/// How much has been processed: literals of the trail, facts, and edges.
type Progress = (usize, usize, usize);

/// The theory "the edges that follow from the facts that hold leave the graph acyclic".
struct Following<'a, R> {
    order: &'a mut DynamicOrder,
    rules: &'a mut R,
    control: &'a Control,
    holds: Vec<bool>,
    n_processed: usize,
    facts: Vec<Fact>,
    /// The edges, each with the end of its reasons; its label is its number.
    inserted: Vec<(Vertex, Vertex, usize)>,
    reasons: Vec<Fact>,
    levels: Vec<Progress>,
    found: Consequences,
    lemmas: Vec<Vec<Fact>>,
    /// There was a contradiction without any fact, which cannot be expressed to the solver.
    is_absurd: bool,
}

impl<'a, R: Rules> Following<'a, R> {
    fn new(
        order: &'a mut DynamicOrder,
        rules: &'a mut R,
        n_facts: usize,
        control: &'a Control,
    ) -> Following<'a, R> {
        Following {
            order,
            rules,
            control,
            holds: vec![false; n_facts],
            n_processed: 0,
            facts: Vec::new(),
            inserted: Vec::new(),
            reasons: Vec::new(),
            levels: Vec::new(),
            found: Consequences::default(),
            lemmas: Vec::new(),
            is_absurd: false,
        }
    }

    fn reasons_of(&self, edge: usize) -> &[Fact] {
        let begin = edge
            .checked_sub(1)
            .map_or(0, |before| self.inserted[before].2);
        &self.reasons[begin..self.inserted[edge].2]
    }

    /// Adds what was found to the graph. The error is a list of facts that exclude each other.
    fn take_in(&mut self, found: &Consequences) -> Result<(), Vec<Fact>> {
        if let Some(together) = &found.impossible {
            return Err(tidy(found.reasons[together.clone()].to_vec()));
        }
        for (from, to, because) in &found.edges {
            let labels: Labels = (self.inserted.len() as u32, None);
            if let Err(cycle) = self.order.insert(*from, *to, labels) {
                let mut together = found.reasons[because.clone()].to_vec();
                for label in cycle.iter().skip(1).flat_map(CycleEdge::labels) {
                    together.extend_from_slice(self.reasons_of(label as usize));
                }
                return Err(tidy(together));
            }
            self.reasons
                .extend_from_slice(&found.reasons[because.clone()]);
            self.inserted.push((*from, *to, self.reasons.len()));
        }
        Ok(())
    }

    fn undo_to(&mut self, (n_processed, n_facts, n_inserted): Progress) {
        self.n_processed = n_processed;
        for fact in self.facts.drain(n_facts..) {
            self.holds[fact as usize] = false;
        }
        while self.inserted.len() > n_inserted {
            if let Some((from, to, _)) = self.inserted.pop() {
                self.order
                    .remove(from, to, (self.inserted.len() as u32, None));
            }
        }
        self.reasons
            .truncate(self.inserted.last().map_or(0, |edge| edge.2));
    }

    /// Accepts what was found, or reports the conflict to the solver; returns whether it was accepted.
    fn accept(&mut self, acts: &mut TheoryArg<'_>) -> bool {
        let found = std::mem::take(&mut self.found);
        let taken = self.take_in(&found);
        self.found = found;
        let Err(together) = taken else { return true };
        if together.is_empty() {
            self.is_absurd = true;
            return false;
        }
        let mut clause: Vec<Lit> = together.iter().map(|&fact| literal(fact, false)).collect();
        if let [fact] = together.as_slice()
            && self.facts[..self
                .levels
                .first()
                .map_or(self.facts.len(), |level| level.1)]
                .contains(fact)
        {
            // The solver treats a clause of one literal as propagation, which it is not if the fact holds without any
            // decision.
            clause.push(literal(self.holds.len() as Fact, true));
        }
        self.lemmas.push(together);
        acts.raise_conflict(&clause, false);
        false
    }

    /// Processes all new literals of the trail; returns whether there is no conflict.
    fn follow_trail(&mut self, acts: &mut TheoryArg<'_>) -> bool {
        // The solver checks the stop flag itself before it continues.
        if self.control.check().is_err() {
            return false;
        }
        while let Some(&new) = acts.model().get(self.n_processed) {
            let fact = new.var().idx();
            if new.sign() && (fact as usize) < self.holds.len() {
                self.holds[fact as usize] = true;
                self.facts.push(fact);
                self.found.clear();
                self.rules.follow(fact, &self.holds, &mut self.found);
                if !self.accept(acts) {
                    return false;
                }
            }
            self.n_processed += 1;
        }
        true
    }
}

fn tidy(mut facts: Vec<Fact>) -> Vec<Fact> {
    facts.sort_unstable();
    facts.dedup();
    facts
}

impl<R: Rules> Theory for Following<'_, R> {
    fn final_check(&mut self, acts: &mut TheoryArg<'_>) {
        if !self.follow_trail(acts) {
            return;
        }
        loop {
            self.found.clear();
            self.rules
                .complete(self.order, &self.holds, &mut self.found);
            if self.found.is_empty() || !self.accept(acts) || self.control.check().is_err() {
                return;
            }
        }
    }

    fn create_level(&mut self) {
        self.levels
            .push((self.n_processed, self.facts.len(), self.inserted.len()));
    }

    fn pop_levels(&mut self, n: usize) {
        let keep = self.levels.len().saturating_sub(n);
        if let Some(&before) = self.levels.get(keep) {
            self.undo_to(before);
            self.levels.truncate(keep);
        }
    }

    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn partial_check(&mut self, acts: &mut TheoryArg<'_>) {
        self.follow_trail(acts);
    }

    fn explain_propagation(&mut self, _p: Lit) -> &[Lit] {
        // This theory raises conflicts and never propagates.
        &[]
    }
}
