//! The smallest part of a history that convinces, and why.
//!
//! A [`Counterexample`] is a small history of its own plus one violation in terms of that small history; it has been
//! checked again after minimizing. [`Explanation`] is the argument as data; sentences are made last, in `narrate`.
//! Colours and coordinates are not known here.

mod explain;
mod first_case;
mod minimize;
pub mod narrate;
pub mod replay;
mod tell;
mod translate;
mod words;

pub use explain::{edge_reason, explain, involved_operations, summary, title};
pub use first_case::{drawn_part, edges_to_draw, transactions_to_draw};
pub use minimize::minimize;

use crate::checkers::{Level, Verdict, Violation};
use crate::history::{History, OperationId, Renaming, TransactionId};
use crate::relations::EdgeIndex;

/// What is truly known about the size of a counterexample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Minimality {
    /// Removing any one of its transactions makes the rest satisfy the level: each was tried.
    Irreducible,
    /// Removing any one of its transactions makes the chosen pattern disappear (each was tried), but a part of it
    /// still violates the level by another pattern.
    IrreducibleForPattern,
    /// Not every removal was tried: time ran out, or parts of the history cannot be told from initial state.
    Reduced,
}

impl Minimality {
    /// One word for captions.
    pub fn word(self) -> &'static str {
        match self {
            Minimality::Irreducible => "irreducible",
            Minimality::IrreducibleForPattern => "irreducible for this pattern",
            Minimality::Reduced => "reduced",
        }
    }
}

/// A small history that violates a level, and the violation in it.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The transactions that matter, with all their kept operations; names and lines are those of the whole history.
    pub history: History,
    /// From the ids of [`history`](Self::history) to those of the whole.
    pub renaming: Renaming,
    /// The level it is a counterexample to: the weakest that the chosen violation violates.
    pub level: Level,
    /// The violation, in terms of [`history`](Self::history).
    pub violation: Violation,
    /// Verdict of the small history at each level.
    pub verdicts: Vec<(Level, Verdict)>,
    /// What is known about its size.
    pub minimality: Minimality,
    /// Number of transactions of the whole history.
    pub n_transactions_of_whole: usize,
}

/// The part a step plays in the argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepRole {
    /// What was observed: "Let …".
    Given,
    /// What follows from it: "Then …".
    Consequence,
    /// An inferred order and its reason: "Because …".
    Inference,
    /// The contradiction: "However …".
    Contradiction,
}

/// One step of an argument, linked to what it speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its part in the argument.
    pub role: StepRole,
    /// The sentence, without a lead word.
    pub text: String,
    /// Edges of the violation it speaks of.
    pub edges: Vec<EdgeIndex>,
    /// Transactions it speaks of.
    pub transactions: Vec<TransactionId>,
    /// Operations it speaks of.
    pub operations: Vec<OperationId>,
}

/// The argument for one counterexample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// "Fractured read (TAP-k) on key 4".
    pub title: String,
    /// What happened, in one sentence.
    pub summary: String,
    /// The argument, in order.
    pub steps: Vec<Step>,
    /// By edge of the violation: why it is there, in a sentence.
    pub edge_reasons: Vec<String>,
    /// Which level is broken and what was tried about the size.
    pub conclusion: String,
}
