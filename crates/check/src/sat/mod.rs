//! Choices between sets of edges, decided so that a graph stays acyclic.
//!
//! [`solve`] takes a [`DynamicOrder`] and a list of [`Choice`]s, each between two sets of edges, and finds a side for
//! every choice so that all edges together leave the graph acyclic, or says that there is none; [`solve_problem`] also
//! takes clauses over the choices and edges that depend on two of them. The search is conflict-driven clause learning
//! (batsat) modulo the theory of acyclicity in [`acyclicity`]. [`solve_logged`] records why there is no solution, so
//! that it can be checked without trusting the solver. [`answer`] has no sides: it answers questions, and edges follow
//! from any number of answers.
//!
//! Only vertices, edges and literals are known here, no histories or transactions.

pub mod acyclicity;
mod exclusion;
mod facts;
mod log;
mod picks;
mod trim;

pub use acyclicity::{CycleEdge, DynamicOrder, FIRST_FACT, Labels, Vertex};
pub use exclusion::{exclusions, with_fixed_edges};
pub use facts::{Answered, Consequences, Fact, Question, Questions, Rules, answer};
pub use log::{Logged, Refutation, side_of, solve_logged};
pub use picks::{NoPick, OptionId, Picks};

use acyclicity::{Acyclicity, explanation};
use batsat::{Callbacks, Lit, Solver, SolverInterface, SolverOpts, Var, clause::Kind, lbool};
use isoscope_model::control::{Control, Interrupt};

/// A choice between two sets of edges: exactly one of the sets must be in the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// One side.
    pub first: Vec<(Vertex, Vertex)>,
    /// The other side.
    pub second: Vec<(Vertex, Vertex)>,
    /// Which side to try first.
    pub prefer_first: bool,
}

impl Choice {
    /// The edges of the side that `first` names.
    pub fn side(&self, first: bool) -> &[(Vertex, Vertex)] {
        if first { &self.first } else { &self.second }
    }
}

/// One side of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Side {
    /// Position of the choice in its list.
    pub choice: u32,
    /// Whether it is the first one.
    pub first: bool,
}

/// An edge that requires a side of a choice and something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JointEdge<With> {
    /// The start.
    pub from: Vertex,
    /// The end.
    pub to: Vertex,
    /// The side.
    pub side: Side,
    /// What it also depends on.
    pub with: With,
}

/// Choices and constraints between them.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The choices.
    pub choices: Vec<Choice>,
    /// In each of these lists at least one side must be taken.
    pub clauses: Vec<Vec<Side>>,
    /// Edges that are present if both sides are taken.
    pub with_sides: Vec<JointEdge<Side>>,
    /// Edges that are present if a side is taken, as long as a fact (a label from [`FIRST_FACT`] on) holds.
    pub with_facts: Vec<JointEdge<u32>>,
    /// Cycles that the caller has already found, without their fixed edges, each with a label that represents a
    /// literal; see [`exclusions`]. The solver need not find them again by conflicts.
    pub known: Vec<Vec<CycleEdge>>,
}

/// What [`solve`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// By choice, whether its first side was taken. All sides taken are consistent with the current order of the graph.
    Model(Vec<bool>),
    /// No combination is acyclic, given the labelled edges that were in the graph beforehand.
    Contradiction {
        /// The edges of all cycles that refuted some combination, both of choices and earlier edges, except those of
        /// [`Problem::known`]. Edges with a label from [`FIRST_FACT`] on were in the graph beforehand: without them
        /// another answer is possible.
        cycles: Vec<CycleEdge>,
    },
}

/// Checks the stop flag for the solver, and counts its conflicts.
struct Watch<'a> {
    control: &'a Control,
    conflicts: usize,
    most_conflicts: usize,
}

impl Callbacks for Watch<'_> {
    fn on_new_clause(&mut self, _: &[Lit], _: Kind) {
        self.conflicts += 1;
    }

    fn stop(&self) -> bool {
        self.conflicts >= self.most_conflicts || self.control.check().is_err()
    }
}

/// The edges of a problem by literal: a variable for each choice, true for its first side.
struct Edges<'a> {
    choices: &'a [Choice],
    /// By [`Lit::idx`]. Both lists are empty if no choice has such edges.
    with_facts: Vec<Vec<(Vertex, Vertex, u32)>>,
    with_sides: Vec<Vec<(Vertex, Vertex, Lit)>>,
}

impl<'a> Edges<'a> {
    fn new(problem: &Problem, choices: &'a [Choice]) -> Edges<'a> {
        let n_literals = |used: bool| if used { 2 * choices.len() } else { 0 };
        let mut with_facts = vec![Vec::new(); n_literals(!problem.with_facts.is_empty())];
        let mut with_sides = vec![Vec::new(); n_literals(!problem.with_sides.is_empty())];
        for edge in &problem.with_facts {
            with_facts[literal(edge.side).idx() as usize].push((edge.from, edge.to, edge.with));
        }
        for edge in &problem.with_sides {
            let (one, other) = (literal(edge.side), literal(edge.with));
            with_sides[one.idx() as usize].push((edge.from, edge.to, other));
            with_sides[other.idx() as usize].push((edge.from, edge.to, one));
        }
        Edges {
            choices,
            with_facts,
            with_sides,
        }
    }

    /// Those of a true literal, each with a fact that it also depends on, if any.
    fn of_literal(&self, literal: Lit) -> impl Iterator<Item = (Vertex, Vertex, Option<u32>)> {
        let own = self.choices[literal.var().idx() as usize].side(literal.sign());
        let given = self
            .with_facts
            .get(literal.idx() as usize)
            .map_or(&[][..], Vec::as_slice);
        let own = own.iter().map(|&(from, to)| (from, to, None));
        own.chain(given.iter().map(|&(from, to, fact)| (from, to, Some(fact))))
    }

    /// Those that need another literal to be true as well, with that literal.
    fn of_two(&self, literal: Lit) -> impl Iterator<Item = (Vertex, Vertex, Lit)> {
        self.with_sides
            .get(literal.idx() as usize)
            .into_iter()
            .flatten()
            .copied()
    }
}

/// The literal "this side is taken": variables are numbered like choices.
fn literal(side: Side) -> Lit {
    Lit::new(Var::unsafe_from_idx(side.choice), side.first)
}

/// Decides all `choices` so that `order` with the chosen edges is acyclic. On return no chosen edge is left in `order`,
/// but after a model its positions are consistent with them all. Exponential in the worst case; ends early if `control`
/// says so.
pub fn solve(
    order: &mut DynamicOrder,
    choices: &[Choice],
    control: &Control,
) -> Result<Answer, Interrupt> {
    let answer = decide(order, choices, &Problem::default(), usize::MAX, control)?;
    answer.ok_or(Interrupt::Cancelled)
}

/// As `solve`, for choices constrained by clauses and common edges. `None` after `most_conflicts` conflicts.
pub fn solve_problem(
    order: &mut DynamicOrder,
    problem: &Problem,
    most_conflicts: usize,
    control: &Control,
) -> Result<Option<Answer>, Interrupt> {
    decide(order, &problem.choices, problem, most_conflicts, control)
}

fn decide(
    order: &mut DynamicOrder,
    choices: &[Choice],
    ties: &Problem,
    most_conflicts: usize,
    control: &Control,
) -> Result<Option<Answer>, Interrupt> {
    control.check()?;
    let mut solver = Solver::new(
        SolverOpts::default(),
        Watch {
            control,
            conflicts: 0,
            most_conflicts,
        },
    );
    let variables: Vec<Var> = choices
        .iter()
        .map(|choice| solver.new_var(lbool::new(choice.prefer_first), true))
        .collect();
    debug_assert!(
        variables
            .iter()
            .enumerate()
            .all(|(place, variable)| variable.idx() as usize == place)
    );
    for clause in &ties.clauses {
        solver.add_clause_reuse(&mut clause.iter().map(|&side| literal(side)).collect());
    }
    for cycle in &ties.known {
        solver.add_clause_reuse(&mut explanation(cycle));
    }
    let edges = Edges::new(ties, choices);
    let mut theory = Acyclicity::new(order, &edges, choices.len(), control);
    let outcome = solver.solve_limited_th(&mut theory, &[]);
    let model = variables
        .iter()
        .map(|&variable| solver.value_var(variable) == lbool::TRUE)
        .collect();
    theory.clear();
    let mut cycles: Vec<CycleEdge> = theory.cycles.drain().collect();
    cycles.sort_unstable();
    // A theory that was stopped accepts anything, so the stop flag comes before the answer.
    control.check()?;
    Ok(if outcome == lbool::TRUE {
        Some(Answer::Model(model))
    } else if outcome == lbool::FALSE {
        Some(Answer::Contradiction { cycles })
    } else {
        None
    })
}

#[cfg(test)]
mod tests;
