//! What a violation claims whose proof goes by cases, and what is open and supposed in each case.

use super::speaker::Speaker;
use super::words::Words;
use crate::counterexample::sentence::{Sentence, say};
use isoscope_check::checkers::{Case, Proof, Question, Supposed};
use isoscope_model::history::{OperationId, TransactionId};
use isoscope_model::relations::EdgeIndex;
use std::collections::BTreeSet;

impl Speaker<'_> {
    /// The clause of such a claim.
    pub(super) fn cases(&self) -> Sentence {
        match &self.violation.proof {
            Proof::Reads(_) | Proof::Cycle(_) => Sentence::default(),
            Proof::Cases { question, cases } => self.cases_of(*question, cases),
            proof @ Proof::Log {
                options, excluded, ..
            } => {
                let n = excluded.len();
                if proof.is_log_of_orders() {
                    let transactions = self.violation.size();
                    return say!(
                        "In whatever order these {transactions} transactions wrote their keys, one of {n} cycles closes"
                    );
                }
                let reads: BTreeSet<OperationId> =
                    options.iter().filter_map(|option| option.read()).collect();
                let of = if reads.is_empty() {
                    Sentence::default()
                } else {
                    say!(" what {} reads returned,", reads.len())
                };
                say!(
                    "However one explains{of} one of {n} combinations is there, and each contradicts"
                )
            }
        }
    }

    fn cases_of(&self, question: Question, cases: &[Case]) -> Sentence {
        let words = self.words;
        let answers = cases.iter().map(|(answer, _)| *answer);
        match question {
            Question::Order {
                key,
                writers: [one, other],
            } => {
                let closes = match self.same_two(cases) {
                    Some([a, b]) => {
                        say!("each of {a} and {b} would have to commit before the other")
                    }
                    None => "a cycle closes".into(),
                };
                say!(
                    "Whichever of {} and {} wrote {} first, {closes}",
                    self.transaction(one),
                    self.transaction(other),
                    words.key(Some(key))
                )
            }
            Question::Writer { read } => {
                let names: Vec<Sentence> = self
                    .violation
                    .proof
                    .writers()
                    .map(|writer| words.transaction(writer))
                    .collect();
                let wrote = words.value_read(read);
                match names.as_slice() {
                    [one] => say!(
                        "Only {one} can have written the {wrote}, and then a contradiction follows"
                    ),
                    _ => say!(
                        "Whichever of {} wrote the {wrote}, a contradiction follows",
                        Words::list(&names)
                    ),
                }
            }
            Question::Append { read, place } => {
                let appends = answers.filter_map(|answer| match answer {
                    Supposed::Append { append, .. } => Some(words.appender(append)),
                    _ => None,
                });
                let names: Vec<Sentence> = appends.collect();
                let element = words.element_read(read, place);
                match names.as_slice() {
                    [] => say!("No append can have made the {element}"),
                    [one] => say!(
                        "Only {one} can have appended the {element}, and then a contradiction follows"
                    ),
                    _ => say!(
                        "Whichever of {} appended the {element}, a contradiction follows",
                        Words::list(&names)
                    ),
                }
            }
            Question::Outcome { transaction } => say!(
                "Whether {} committed or not, a contradiction follows",
                words.transaction(transaction)
            ),
        }
    }

    /// The two transactions between which both cases close a cycle.
    fn same_two(&self, cases: &[Case]) -> Option<[Sentence; 2]> {
        let [(_, first), (_, second)] = cases else {
            return None;
        };
        let two = |proof: &Proof| {
            let Proof::Cycle(cycle) = proof else {
                return None;
            };
            let mut all: Vec<TransactionId> = cycle
                .iter()
                .map(|&e| self.violation.edges[e].from)
                .collect();
            all.sort_unstable();
            <[TransactionId; 2]>::try_from(all).ok()
        };
        two(first)
            .filter(|&both| Some(both) == two(second))
            .map(|both| both.map(|t| self.transaction(t)))
    }

    /// "Suppose that T1's version of key 4 is older than T2's."
    pub(in crate::counterexample) fn supposition(&self, supposed: Supposed) -> Sentence {
        say!("Suppose that {}.", self.words.supposed(supposed))
    }

    /// "It is open which of T1 and T2 wrote key 4 first."
    pub(in crate::counterexample) fn question(&self, question: Question) -> Sentence {
        let words = self.words;
        match question {
            Question::Order {
                key,
                writers: [a, b],
            } => say!(
                "It is open which of {} and {} wrote {} first.",
                words.transaction(a),
                words.transaction(b),
                words.key(Some(key))
            ),
            Question::Writer { read } => {
                say!("It is open who wrote the {}.", words.value_read(read))
            }
            Question::Append { read, place } => {
                say!(
                    "It is open who appended the {}.",
                    words.element_read(read, place)
                )
            }
            Question::Outcome { transaction } => {
                say!(
                    "It is open whether {} committed.",
                    words.transaction(transaction)
                )
            }
        }
    }

    /// "Then a cycle closes: T1 –SO→ T2 –RW 4→ T1."
    pub(in crate::counterexample) fn closes(&self, cycle: &[EdgeIndex]) -> Sentence {
        say!("Then a cycle closes: {}.", self.words.path(cycle))
    }

    /// "No append can have made the 5 in place 2 of the list that T297 read of key 4."
    pub(in crate::counterexample) fn no_append(&self, read: OperationId, place: usize) -> Sentence {
        say!(
            "No append can have made the {}.",
            self.words.element_read(read, place)
        )
    }
}
