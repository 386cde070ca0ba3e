//! The smallest part of a history that convinces, and why.
//!
//! A [`Counterexample`] is a small history of its own plus one violation in terms of that small history; it has been
//! checked again after minimizing. [`Explanation`] is the argument: its steps are [`Statement`]s, whose words are made in
//! `sentences`. This module knows nothing of colours and coordinates.

mod at_length;
mod axioms;
mod case_tree;
mod cases;
mod claim;
mod consequences;
mod explain;
mod first_case;
mod groups;
mod involved;
mod late_writers;
mod layers;
mod longest;
mod minimize;
pub mod narrate;
mod orders;
mod other_writers;
mod overlap;
pub mod passes;
mod reasons;
pub mod replay;
mod rests_on;
mod sentence;
mod sentences;
mod signature;
mod statement;
mod tell;
mod tested;
mod translate;

pub use at_length::{markdown_at_length, plain_text_at_length};
pub use axioms::Quotation;
pub use case_tree::{CaseNode, CaseTree};
pub use cases::case_tree;
pub use claim::{Claim, Visibility, claim};
pub use consequences::{causes_and_patterns, listed_as, n_causes, simpler_ones};
pub use explain::{edge_reason, explain, explain_within, steps};
pub use first_case::{as_drawn, cycle_to_draw, drawn_part, edges_to_draw, transactions_to_draw};
pub use groups::{Group, components, groups};
pub use involved::involved_operations;
pub use layers::{Alternative, Interpretation, Layer, LayerKind, VisibleParts, interpret};
pub use longest::{PartialOrder, longest_orders};
pub use minimize::{Minimizer, minimize, minimize_at, whole};
pub use orders::{Difference, Orders};
pub use reasons::EdgeReason;
pub use sentence::{Mention, Sentence};
pub use sentences::{Headline, codes, headline, size, summary, title};
pub use signature::{Shape, shape, signature};
pub use statement::{CaseLabel, Rule, Statement, Step, StepRole};
pub use tested::{NOT_RECORDED, Tested};

use sentences::verdict::Standing;

use isoscope_check::checkers::{Level, Proof, Question, Verdict, Violation};
use isoscope_model::history::{
    History, Operation, OperationId, OperationKind, Renaming, TransactionId,
};

/// Up to this many operations of a counterexample are all shown.
pub(crate) const MAX_SHOWN_WHOLE: usize = 16;

/// What is actually known about the size of a counterexample, separately for its transactions and its operations.
///
/// Removing a write also removes the reads of it; removing a transaction removes all its operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Minimality {
    /// No part of the whole history with fewer transactions violates the level: follows from a lower bound, or all
    /// smaller ones were tried. Only for transactions, which are also [`Irreducible`](Self::Irreducible).
    Smallest,
    /// Like [`Smallest`](Self::Smallest), but some part with fewer transactions violates the level by another pattern,
    /// or by one that also violates a weaker level.
    SmallestForPattern,
    /// Removing any one makes the rest satisfy the level: each was tried.
    Irreducible,
    /// Removing any one makes the chosen pattern disappear (each was tried), but a part of the rest still violates the
    /// level by another pattern.
    IrreducibleForPattern,
    /// Not every removal was tried: time ran out, or parts of the history cannot be distinguished from initial state.
    Reduced,
}

impl Minimality {
    /// One word for captions.
    pub fn word(self) -> &'static str {
        match self {
            Minimality::Smallest => "smallest",
            Minimality::SmallestForPattern => "smallest for this pattern",
            Minimality::Irreducible => "irreducible",
            Minimality::IrreducibleForPattern => "irreducible for this pattern",
            Minimality::Reduced => "reduced",
        }
    }

    /// Whether "removing any one of these makes the history pass" is true because it was tried.
    pub fn passes_without_any(self) -> bool {
        matches!(
            self,
            Minimality::Smallest | Minimality::SmallestForPattern | Minimality::Irreducible
        )
    }
}

/// What a counterexample shows of the violation that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// That violation.
    Chosen,
    /// A simpler one that implies it.
    Cause,
    /// Another instance of its pattern among the same transactions.
    AnotherInstance,
}

impl Shows {
    /// What is shown of the chosen violation, where this is shown of its cause.
    fn of_cause(self) -> Shows {
        if self == Shows::Chosen {
            Shows::Cause
        } else {
            self
        }
    }
}

/// A small history that violates a level, and the violation in it.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The relevant transactions and their relevant operations; names and lines are those of the whole.
    pub history: History,
    /// From the ids of [`history`](Self::history) to those of the whole.
    pub renaming: Renaming,
    /// The level it is a counterexample to: the weakest that the chosen violation violates.
    pub level: Level,
    /// The violation, in terms of [`history`](Self::history).
    pub violation: Violation,
    /// Verdict of the small history at each level.
    pub verdicts: Vec<(Level, Verdict)>,
    /// What is known about the number of its transactions.
    pub minimality: Minimality,
    /// What is known about the number of its operations; never that it is the smallest.
    pub operation_minimality: Minimality,
    /// Whether it shows the violation that was chosen.
    pub shows: Shows,
    /// Number of transactions of the whole history.
    pub n_transactions_of_whole: usize,
}

impl Counterexample {
    /// The operations to show, ascending: those of the argument, or all if there are few.
    pub fn shown_operations(&self) -> Vec<OperationId> {
        match self.history.n_operations() {
            n if n <= MAX_SHOWN_WHOLE => (0..n).map(OperationId::new).collect(),
            _ => {
                let mut shown = involved_operations(&self.violation);
                shown.extend(self.writes_of_cases());
                shown.sort_unstable();
                shown.dedup();
                shown
            }
        }
    }

    /// The writes that reads with several possible writers may have returned.
    fn writes_of_cases(&self) -> Vec<OperationId> {
        let of_read = |part: &Proof| {
            let Proof::Cases {
                question: Question::Writer { read },
                ..
            } = *part
            else {
                return Vec::new();
            };
            let writers: Vec<TransactionId> = part.writers().collect();
            writes_of_value(&self.history, read, &writers)
        };
        self.violation
            .proof
            .parts()
            .into_iter()
            .flat_map(of_read)
            .collect()
    }
}

/// The writes of these transactions that wrote what an operation read.
fn writes_of_value(
    history: &History,
    read: OperationId,
    writers: &[TransactionId],
) -> Vec<OperationId> {
    let written = Operation {
        kind: OperationKind::Write,
        ..history.operation(read)
    };
    let writers = writers.iter().filter(|writer| !writer.is_initial());
    let writes = writers.flat_map(|&writer| history.operations_of(writer));
    writes
        .filter(|&o| history.operation(o) == written)
        .collect()
}

/// The argument for one counterexample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// What it claims, as data.
    pub claim: Claim,
    /// "Half of a transaction was seen".
    pub title: String,
    /// The pattern with its codes: "Fractured read, TAP-k (Plume), G-single (Adya)".
    pub codes: String,
    /// What happened, in one sentence.
    pub summary: Sentence,
    /// Which level these transactions break, on which order, and what still allows them: one line.
    pub breaks: String,
    /// The verdicts as data.
    standing: Standing,
    /// What was tested, and whether what is promised there allows it: one line.
    pub tested: String,
    /// Which level the argument is about, where a weaker one is broken, too: a sentence.
    pub argued: Option<String>,
    /// What else is to be known of that promise, in a sentence.
    pub promised: Option<String>,
    /// What these transactions satisfy and break on every order, as data.
    pub orders: Orders,
    /// The weakest levels that they break on every order, in one sentence, if that is known.
    pub weakest: Option<String>,
    /// That session order or real time makes the difference, if so, and what of it is needed.
    pub difference: Option<String>,
    /// The faults while these transactions ran, or the last one before, in a sentence, if the file tells of any.
    pub faults: Option<String>,
    /// What casts doubt on the reads that it rests on, in sentences, if something does: most likely the log is incomplete.
    pub doubt: Option<String>,
    /// What the whole history breaks and satisfies, where that is known.
    pub whole: Option<String>,
    /// Whether it is about the violation that was chosen, as [`Counterexample::shows`].
    pub shows: Shows,
    /// Where it is drawn as itself although a simpler one explains it: that one.
    pub told_by: Option<String>,
    /// Which simpler violation it contains, in a clause.
    pub contains: Option<Sentence>,
    /// The reads of the whole history that it rests on outside of cases, each with the writer that it assumes; none
    /// where any writer of the value will do.
    pub taken: Vec<(OperationId, Option<TransactionId>)>,
    /// What was checked in the whole history so that it need not be assumed, in a sentence.
    pub checked: Option<String>,
    /// What it takes for granted, clauses.
    pub assumptions: Vec<String>,
    /// The argument, in order.
    pub steps: Vec<Step>,
    /// By edge of the violation: why it is there.
    pub reasons: Vec<EdgeReason>,
    /// In what sense it is minimal, in one sentence.
    pub size: String,
}
