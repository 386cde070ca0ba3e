//! A record of why no combination of choices is acyclic: cycles, and clauses that follow from them one by one.
//!
//! Each cycle forbids the sides whose edges it has. Each clause the solver learns follows from those cycles and earlier
//! clauses by unit propagation (reverse unit propagation: Goldberg & Novikov, "Verification of proofs of
//! unsatisfiability for CNF formulas", 2003), and so does the final contradiction. What that does not need is left out.

use super::acyclicity::{Acyclicity, explanation};
use super::trim::trim;
use super::{Choice, CycleEdge, DynamicOrder, Edges, Problem, Side};
use batsat::{Callbacks, Lit, Solver, SolverInterface, SolverOpts, clause::Kind, lbool};
use isoscope_model::control::{Control, Interrupt};

/// Why no combination of choices is acyclic. Given that one side of each choice is taken, unit propagation alone
/// derives each clause in turn from the cycles and the clauses before it, and finally a contradiction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refutation {
    /// Cycles, edge by edge in order, but without the fixed edges if they were known beforehand; labels are literals,
    /// see [`side_of`].
    pub lemmas: Vec<Vec<CycleEdge>>,
    /// In each of these lists not all sides can be taken.
    pub clauses: Vec<Vec<Side>>,
}

/// What [`solve_logged`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Logged {
    /// Some combination is acyclic.
    Satisfiable,
    /// None is.
    Refuted(Refutation),
    /// The limit was reached first.
    GaveUp,
}

/// The side that a label of a cycle's edge represents; labels must be below [`FIRST_FACT`](super::FIRST_FACT).
pub fn side_of(label: u32) -> Side {
    Side {
        choice: label >> 1,
        first: label & 1 == 0,
    }
}

/// Records what the solver learns.
struct Recorder<'a> {
    control: &'a Control,
    most: usize,
    learnt: Vec<Vec<u32>>,
}

impl Callbacks for Recorder<'_> {
    fn on_new_clause(&mut self, clause: &[Lit], _: Kind) {
        self.learnt.push(clause.iter().map(Lit::idx).collect());
    }

    fn stop(&self) -> bool {
        self.learnt.len() >= self.most || self.control.check().is_err()
    }
}

/// Decides all `choices` as [`solve`](super::solve) does, and keeps the reasons if that is impossible. `known` are
/// cycles that the caller has already found, without their fixed edges: the solver need not find them again by
/// conflicts. Gives up after `most_conflicts` conflicts. On return no chosen edge is left in `order`. Memory and time
/// grow with the conflicts; the record is checked and trimmed, which takes about as long as the search.
pub fn solve_logged(
    order: &mut DynamicOrder,
    choices: &[Choice],
    known: Vec<Vec<CycleEdge>>,
    most_conflicts: usize,
    control: &Control,
) -> Result<Logged, Interrupt> {
    control.check()?;
    let recorder = Recorder {
        control,
        most: most_conflicts,
        learnt: Vec::new(),
    };
    let mut solver = Solver::new(SolverOpts::default(), recorder);
    for choice in choices {
        solver.new_var(lbool::new(choice.prefer_first), true);
    }
    for cycle in &known {
        solver.add_clause_reuse(&mut explanation(cycle));
    }
    let edges = Edges::new(&Problem::default(), choices);
    let mut theory = Acyclicity::new(order, &edges, choices.len(), control);
    theory.lemmas = Some(known);
    let outcome = solver.solve_limited_th(&mut theory, &[]);
    theory.clear();
    let lemmas = theory.lemmas.take().unwrap_or_default();
    // A theory that was stopped accepts anything, so the stop flag comes before the answer.
    control.check()?;
    if outcome == lbool::TRUE {
        return Ok(Logged::Satisfiable);
    }
    if outcome != lbool::FALSE {
        return Ok(Logged::GaveUp);
    }
    let learnt = std::mem::take(&mut solver.cb_mut().learnt);
    refutation(choices.len(), lemmas, learnt, control)
}

/// The needed part of the record. If it is not a refutation, none is claimed.
fn refutation(
    n_choices: usize,
    mut lemmas: Vec<Vec<CycleEdge>>,
    learnt: Vec<Vec<u32>>,
    control: &Control,
) -> Result<Logged, Interrupt> {
    let forbids = |cycle: &Vec<CycleEdge>| explanation(cycle).iter().map(Lit::idx).collect();
    let mut clauses: Vec<Vec<u32>> = lemmas.iter().map(forbids).collect();
    clauses.extend(learnt);
    let Some(needed) = trim(n_choices, &clauses, lemmas.len(), control)? else {
        return Ok(Logged::GaveUp);
    };
    let n_lemmas = lemmas.len();
    let mut place = 0;
    lemmas.retain(|_| {
        place += 1;
        needed[place - 1]
    });
    let learnt = clauses[n_lemmas..]
        .iter()
        .zip(&needed[n_lemmas..])
        .filter(|(_, needed)| **needed);
    // One of the literals of a clause must be true; their negations are the sides that exclude each other.
    let clauses = learnt
        .map(|(clause, _)| clause.iter().map(|&literal| side_of(literal ^ 1)).collect())
        .collect();
    Ok(Logged::Refuted(Refutation { lemmas, clauses }))
}

#[cfg(test)]
mod tests;
