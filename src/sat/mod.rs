//! Choices between sets of edges, decided so that a graph stays acyclic.
//!
//! [`solve`] takes a [`DynamicOrder`] and a list of [`Choice`]s, each between two sets of edges, and finds a side for
//! every choice so that all edges together leave the graph acyclic, or says that there is none. The search is
//! conflict-driven clause learning (batsat) modulo the theory of acyclicity in [`acyclicity`].
//!
//! Histories and transactions are not known here: vertices, edges and literals only.

pub mod acyclicity;

pub use acyclicity::{CycleEdge, DynamicOrder, FIRST_FACT, Vertex};

use crate::control::{Control, Interrupt};
use acyclicity::Acyclicity;
use batsat::{Callbacks, Lit, Solver, SolverInterface, SolverOpts, Var, lbool};

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

/// What [`solve`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// By choice, whether its first side was taken. All sides taken fit the current order of the graph.
    Model(Vec<bool>),
    /// No combination is acyclic, given the labelled edges that were in the graph beforehand.
    Contradiction {
        /// The edges of all cycles that refuted some combination, choices and earlier edges together. Those with a
        /// label from [`FIRST_FACT`] on were in the graph beforehand: without them another answer is possible.
        cycles: Vec<CycleEdge>,
    },
}

/// Looks at the stop flag for the solver.
struct Watch<'a>(&'a Control);

impl Callbacks for Watch<'_> {
    fn stop(&self) -> bool {
        self.0.check().is_err()
    }
}

/// Decides all `choices` so that `order` with the chosen edges is acyclic. On return no chosen edge is left in `order`,
/// but after a model its positions fit them all. Exponential in the worst case; ends early when `control` says so.
pub fn solve(order: &mut DynamicOrder, choices: &[Choice], control: &Control) -> Result<Answer, Interrupt> {
    control.check()?;
    let mut solver = Solver::new(SolverOpts::default(), Watch(control));
    let variables: Vec<Var> =
        choices.iter().map(|choice| solver.new_var(lbool::new(choice.prefer_first), true)).collect();
    let edges = |literal: Lit| choices[literal.var().idx() as usize].side(literal.sign());
    debug_assert!(variables.iter().enumerate().all(|(place, variable)| variable.idx() as usize == place));
    let mut theory = Acyclicity::new(order, &edges, control);
    let outcome = solver.solve_limited_th(&mut theory, &[]);
    let model = variables.iter().map(|&variable| solver.value_var(variable) == lbool::TRUE).collect();
    theory.clear();
    let mut cycles: Vec<CycleEdge> = theory.cycles.drain().collect();
    cycles.sort_unstable();
    // A theory that was stopped accepts anything, so the stop flag comes before the answer.
    control.check()?;
    if outcome == lbool::TRUE {
        return Ok(Answer::Model(model));
    }
    if outcome == lbool::FALSE {
        return Ok(Answer::Contradiction { cycles });
    }
    Err(Interrupt::Cancelled)
}

#[cfg(test)]
mod tests;
