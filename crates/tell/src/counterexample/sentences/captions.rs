//! What the layers say in which an argument is built.

use super::speaker::Speaker;
use super::words::Words;
use isoscope_check::checkers::{Level, Proof};
use isoscope_model::relations::{Edge, EdgeIndex, Reason};

/// Where orders are left that no cycle excludes.
pub(in crate::counterexample) const STAYS_OPEN: &str = "What stays open is told case by case.";

impl Speaker<'_> {
    /// The bare contradiction, in one sentence.
    pub(in crate::counterexample) fn contradiction(&self) -> String {
        let words = self.words;
        match &self.violation.proof {
            Proof::Cycle(cycle) => {
                format!("Each of these transactions would have to come before the next: {}.", words.path(cycle))
            }
            Proof::Split { first, .. } => match self.edge(first.0) {
                Some(edge) => format!(
                    "{} and {} both write {}, and whichever of them came first, a cycle closes.",
                    words.transaction(edge.from),
                    words.transaction(edge.to),
                    words.key(edge.key)
                ),
                None => "Two transactions write a key, and whichever came first, a cycle closes.".to_owned(),
            },
            Proof::Writers { .. } => {
                "Several transactions may have written what was read, and each of them leads to a contradiction."
                    .to_owned()
            }
            Proof::Appends { .. } => {
                "An element of a list was appended more than once, and whichever append made it leads to a contradiction."
                    .to_owned()
            }
            Proof::Outcomes { transaction, .. } => format!(
                "It is unknown whether {} committed, and either leads to a contradiction.",
                words.transaction(*transaction)
            ),
            Proof::Combinations { excluded, .. } => {
                format!(
                    "It is open who wrote what many reads returned, and one of {} combinations that contradict is always there.",
                    excluded.len()
                )
            }
            Proof::Clauses { lemmas, .. } => {
                format!("One of {} cycles closes, whatever the order of the writers of each key.", lemmas.len())
            }
            Proof::Read | Proof::Reads { .. } => {
                "What was read contradicts the level by itself.".to_owned()
            }
        }
    }
}

/// How many edges a contradiction rests on.
pub(in crate::counterexample) fn rests_on(n_edges: usize) -> String {
    match n_edges {
        0 => "The operations that it is about.".to_owned(),
        1 => "It rests on one more observation.".to_owned(),
        n => format!(
            "It rests on {n} more edges: what was read, in which session, and what follows."
        ),
    }
}

/// How many transactions are left, and the level that the rest satisfies without any one of them, if so.
pub(in crate::counterexample) fn left(n_transactions: usize, satisfied: Option<Level>) -> String {
    let n = n_transactions;
    let these = if n == 1 {
        "One transaction is".to_owned()
    } else {
        format!("{n} transactions are")
    };
    match satisfied.filter(|_| n > 1) {
        Some(level) => format!("{these} left; without any one of them the rest satisfies {level}."),
        None => format!("{these} left."),
    }
}

/// "If T295's version of key 4 were the newer one, T393, which sees T297, would have read an older version than …".
pub(in crate::counterexample) fn rejection(
    words: &Words<'_>,
    held: &Edge,
    cycle: &[EdgeIndex],
) -> String {
    let (from, to) = (words.transaction(held.from), words.transaction(held.to));
    let key = words.key(held.key);
    match &held.because {
        Reason::Visible { reader, .. } => format!(
            "If {from}'s version of {key} were newer than {to}'s, {} would not have seen {from}, but it did: {}.",
            words.transaction(*reader),
            words.path(cycle)
        ),
        Reason::ReadModifyWrite { .. } => {
            format!(
                "If {to}'s version of {key} were older than {from}'s, {to} could not have read it: {}.",
                words.path(cycle)
            )
        }
        Reason::Conflict { .. } => {
            format!(
                "If {to} were the first to commit, {from} could not have started before that: {}.",
                words.path(cycle)
            )
        }
        _ => format!("The list shows that {to}'s version of {key} is not older than {from}'s."),
    }
}
