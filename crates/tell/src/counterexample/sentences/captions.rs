//! What the layers say in which an argument is built.

use super::speaker::Speaker;
use super::words::Words;
use crate::counterexample::sentence::{Sentence, say};
use isoscope_check::checkers::{Level, Proof, Question};
use isoscope_model::relations::{Edge, EdgeIndex, Reason};

/// Where orders are left that no cycle excludes.
pub(in crate::counterexample) const STAYS_OPEN: &str = "What stays open is told case by case.";

impl Speaker<'_> {
    /// The bare contradiction, in one sentence.
    pub(in crate::counterexample) fn contradiction(&self) -> Sentence {
        let words = self.words;
        match &self.violation.proof {
            Proof::Cycle(cycle) => {
                say!("Each of these transactions would have to come before the next: {}.", words.path(cycle))
            }
            Proof::Reads(_) => "The reads alone break the level.".into(),
            Proof::Cases { question, .. } => match *question {
                Question::Order {
                    key,
                    writers: [a, b],
                } => say!(
                    "{} and {} both write {}, and whichever of them came first, a cycle closes.",
                    words.transaction(a),
                    words.transaction(b),
                    words.key(Some(key))
                ),
                Question::Writer { .. } => {
                    "Several transactions may have written what was read, and each of them leads to a contradiction.".into()
                }
                Question::Append { .. } => {
                    "An element of a list was appended more than once, and whichever append made it leads to a contradiction.".into()
                }
                Question::Outcome { transaction } => say!(
                    "It is unknown whether {} committed, and either leads to a contradiction.",
                    words.transaction(transaction)
                ),
            },
            proof @ Proof::Log { excluded, .. } if proof.is_log_of_orders() => {
                say!("One of {} cycles closes, whatever the order of the writers of each key.", excluded.len())
            }
            Proof::Log { excluded, .. } => {
                say!(
                    "It is open who wrote what many reads returned, and one of {} combinations that contradict is always there.",
                    excluded.len()
                )
            }
        }
    }
}

/// How many edges a contradiction rests on.
pub(in crate::counterexample) fn rests_on(n_edges: usize) -> Sentence {
    match n_edges {
        0 => "The operations that it is about.".into(),
        1 => "It rests on one more observation.".into(),
        n => say!("It rests on {n} more edges: what was read, in which session, and what follows."),
    }
}

/// How many transactions are left, and the level that the rest satisfies without any one of them, if so.
pub(in crate::counterexample) fn left(n_transactions: usize, satisfied: Option<Level>) -> Sentence {
    let n = n_transactions;
    let these = if n == 1 {
        "One transaction is".into()
    } else {
        say!("{n} transactions are")
    };
    match satisfied.filter(|_| n > 1) {
        Some(level) => say!("{these} left; without any one of them the rest satisfies {level}."),
        None => say!("{these} left."),
    }
}

/// "If T295's version of key 4 were the newer one, T393, which sees T297, would have read an older version than …".
pub(in crate::counterexample) fn rejection(
    words: &Words<'_>,
    held: &Edge,
    cycle: &[EdgeIndex],
) -> Sentence {
    let (from, to) = (words.transaction(held.from), words.transaction(held.to));
    let key = words.key(held.key);
    match &held.because {
        Reason::Visible { reader, .. } => say!(
            "If {from}'s version of {key} were newer than {to}'s, {} would not have seen {from}, but it did: {}.",
            words.transaction(*reader),
            words.path(cycle)
        ),
        Reason::ReadModifyWrite { .. } => {
            say!(
                "If {to}'s version of {key} were older than {from}'s, {to} could not have read it: {}.",
                words.path(cycle)
            )
        }
        Reason::Conflict { .. } => {
            say!(
                "If {to} were the first to commit, {from} could not have started before that: {}.",
                words.path(cycle)
            )
        }
        _ => say!("The list shows that {to}'s version of {key} is not older than {from}'s."),
    }
}
