//! Picks one option for each question, so that no forbidden combination is picked.
//!
//! What is forbidden is discovered along the way: the caller picks, checks the pick, forbids the part of it that is
//! wrong, and picks again. The solver learns from conflicts (batsat), and if no pick is left it gives the reason, step
//! by step, as [`solve_logged`](super::solve_logged) does.

use super::trim::trim;
use batsat::{Callbacks, Lit, Solver, SolverInterface, SolverOpts, Var, clause::Kind, lbool};
use isoscope_model::control::{Control, Interrupt};

/// An option, numbered in the order in which the questions were added.
pub type OptionId = u32;

/// Records what the solver learns.
struct Recorder<'a> {
    control: &'a Control,
    learnt: Vec<Vec<u32>>,
}

impl Callbacks for Recorder<'_> {
    fn on_new_clause(&mut self, clause: &[Lit], kind: Kind) {
        if kind != Kind::Axiom && !clause.is_empty() {
            self.learnt.push(clause.iter().map(Lit::idx).collect());
        }
    }

    fn stop(&self) -> bool {
        self.control.check().is_err()
    }
}

/// Questions, their options, and what is forbidden so far.
pub struct Picks<'a> {
    solver: Solver<Recorder<'a>>,
    control: &'a Control,
    /// By question: its options.
    questions: Vec<std::ops::Range<OptionId>>,
    n_options: u32,
    /// The forbidden combinations, in order.
    forbidden: Vec<Vec<OptionId>>,
}

/// Why no pick is left, given that one option of each question is picked, and not all of each list of `forbidden`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoPick {
    /// Indices, in the order of forbidding, of the lists that are needed.
    pub forbidden: Vec<usize>,
    /// Lists of options each of which follows, in turn, from the questions, the forbidden lists and the lists before it
    /// by unit propagation: not all of its options are picked (`true`) or not picked (`false`) as given. The
    /// contradiction follows in the same way.
    pub clauses: Vec<Vec<(OptionId, bool)>>,
    /// The questions that are needed.
    pub questions: Vec<usize>,
}

impl<'a> Picks<'a> {
    /// No questions yet.
    pub fn new(control: &'a Control) -> Picks<'a> {
        let solver = Solver::new(
            SolverOpts::default(),
            Recorder {
                control,
                learnt: Vec::new(),
            },
        );
        Picks {
            solver,
            control,
            questions: Vec::new(),
            n_options: 0,
            forbidden: Vec::new(),
        }
    }

    /// Adds a question with `n` options, one of which must be picked, preferably the first; returns its options.
    pub fn ask(&mut self, n: usize) -> std::ops::Range<OptionId> {
        let first = self.n_options;
        for place in 0..n {
            let variable = self.solver.new_var(lbool::new(place == 0), true);
            debug_assert_eq!(variable.idx(), self.n_options);
            self.n_options += 1;
        }
        let options = first..self.n_options;
        self.solver
            .add_clause_reuse(&mut options.clone().map(picked).collect());
        self.questions.push(options.clone());
        options
    }

    /// Forbids to pick all of these together; returns the index.
    pub fn forbid(&mut self, together: &[OptionId]) -> usize {
        self.solver
            .add_clause_reuse(&mut together.iter().map(|&option| !picked(option)).collect());
        self.forbidden.push(together.to_vec());
        self.forbidden.len() - 1
    }

    /// One option for each question; `None` if every pick is forbidden. Exponential in the worst case.
    ///
    /// # Errors
    /// [`Interrupt`] when the control ends the work first.
    pub fn pick(&mut self) -> Result<Option<Vec<OptionId>>, Interrupt> {
        self.control.check()?;
        let outcome = self.solver.solve_limited(&[]);
        self.control.check()?;
        if outcome == lbool::FALSE {
            return Ok(None);
        }
        if outcome != lbool::TRUE {
            // Stopped, by a flag that has been reset since.
            return Err(Interrupt::Cancelled);
        }
        let is_picked =
            |option: &OptionId| self.solver.value_var(Var::unsafe_from_idx(*option)) == lbool::TRUE;
        // If several are picked, any will do: nothing prevents leaving one out.
        Ok(self
            .questions
            .iter()
            .map(|options| options.clone().find(is_picked))
            .collect())
    }

    /// Why no pick is left; `None` if one is or the reason cannot be reconstructed.
    ///
    /// # Errors
    /// [`Interrupt`] when the control ends the work first.
    pub fn refutation(&self) -> Result<Option<NoPick>, Interrupt> {
        let of_question = |options: &std::ops::Range<OptionId>| {
            options.clone().map(|o| picked(o).idx()).collect()
        };
        let of_forbidden =
            |list: &Vec<OptionId>| list.iter().map(|&o| (!picked(o)).idx()).collect();
        let mut clauses: Vec<Vec<u32>> = self.questions.iter().map(of_question).collect();
        clauses.extend(self.forbidden.iter().map(of_forbidden));
        let (n_questions, n_given) = (self.questions.len(), clauses.len());
        if let Some(empty) = clauses.iter().position(Vec::is_empty) {
            let (questions, forbidden) = if empty < n_questions {
                (vec![empty], vec![])
            } else {
                (vec![], vec![empty - n_questions])
            };
            return Ok(Some(NoPick {
                questions,
                forbidden,
                clauses: Vec::new(),
            }));
        }
        clauses.extend(self.solver.cb().learnt.iter().cloned());
        let Some(needed) = trim(self.n_options as usize, &clauses, n_given, self.control)? else {
            return Ok(None);
        };
        let side = |&literal: &u32| (literal >> 1, literal & 1 == 1);
        let learnt = clauses[n_given..]
            .iter()
            .zip(&needed[n_given..])
            .filter(|(_, needed)| **needed);
        Ok(Some(NoPick {
            questions: (0..n_questions).filter(|&place| needed[place]).collect(),
            forbidden: (0..n_given - n_questions)
                .filter(|&place| needed[n_questions + place])
                .collect(),
            clauses: learnt
                .map(|(clause, _)| clause.iter().map(side).collect())
                .collect(),
        }))
    }
}

/// The literal "this option is picked".
fn picked(option: OptionId) -> Lit {
    Lit::new(Var::unsafe_from_idx(option), true)
}
