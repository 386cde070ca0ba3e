//! What a violation claims whose proof goes by cases, and what is open and supposed in each case.

use super::speaker::Speaker;
use super::words::Words;
use crate::counterexample::case_tree::{Question, Supposition};
use crate::counterexample::sentence::{Sentence, say};
use isoscope_check::checkers::Proof;
use isoscope_model::history::{OperationId, TransactionId};
use isoscope_model::relations::EdgeIndex;
use std::collections::BTreeSet;

impl Speaker<'_> {
    /// The clause of such a claim.
    pub(super) fn cases(&self) -> Sentence {
        let words = self.words;
        match &self.violation.proof {
            Proof::Writers { read, cases } => {
                let names: Vec<Sentence> = cases
                    .iter()
                    .map(|(writer, _)| words.transaction(*writer))
                    .collect();
                let wrote = words.value_read(*read);
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
            Proof::Appends { read, place, cases } => {
                let names: Vec<Sentence> = cases
                    .iter()
                    .map(|(append, _)| words.appender(*append))
                    .collect();
                let element = words.element_read(*read, *place);
                match names.as_slice() {
                    [] => say!("No append can have made the {element}"),
                    [one] => say!(
                        "Only {one} can have appended the {element}, and then a contradiction follows"
                    ),
                    _ => {
                        say!(
                            "Whichever of {} appended the {element}, a contradiction follows",
                            Words::list(&names)
                        )
                    }
                }
            }
            Proof::Outcomes { transaction, .. } => {
                say!(
                    "Whether {} committed or not, a contradiction follows",
                    words.transaction(*transaction)
                )
            }
            Proof::Combinations {
                options, excluded, ..
            } => {
                let reads: BTreeSet<OperationId> =
                    options.iter().filter_map(|option| option.read()).collect();
                let of = if reads.is_empty() {
                    Sentence::default()
                } else {
                    say!(" what {} reads returned,", reads.len())
                };
                say!(
                    "However one explains{of} one of {} combinations is there, and each contradicts",
                    excluded.len()
                )
            }
            Proof::Clauses { lemmas, .. } => {
                let n = self
                    .violation
                    .transactions
                    .iter()
                    .filter(|t| !t.is_initial())
                    .count();
                say!(
                    "In whatever order these {n} transactions wrote their keys, one of {} cycles closes",
                    lemmas.len()
                )
            }
            Proof::Split { first, second, .. } => match self.violation.edges.get(first.0) {
                Some(edge) => {
                    let closes = match self.same_two(&first.1, &second.1) {
                        Some([a, b]) => {
                            say!("each of {a} and {b} would have to commit before the other")
                        }
                        None => "a cycle closes".into(),
                    };
                    let (one, other) = (self.transaction(edge.from), self.transaction(edge.to));
                    say!(
                        "Whichever of {one} and {other} wrote {} first, {closes}",
                        words.key(edge.key)
                    )
                }
                None => Sentence::default(),
            },
            Proof::Cycle(_) | Proof::Read | Proof::Reads { .. } => Sentence::default(),
        }
    }

    /// The two transactions between which both cases close a cycle.
    fn same_two(&self, first: &Proof, second: &Proof) -> Option<[Sentence; 2]> {
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

    /// "Suppose that T1's version of key 4 is older than T2's."; empty where nothing is supposed.
    pub(in crate::counterexample) fn supposition(&self, supposes: Supposition) -> Sentence {
        match supposes {
            Supposition::Nothing => Sentence::default(),
            Supposition::Order(edge) => {
                let older = self.edge(edge).map(|edge| self.words.older(edge));
                say!("Suppose that {}.", older.unwrap_or_default())
            }
            Supposition::Answer(supposed) => {
                say!("Suppose that {}.", self.words.supposed(supposed))
            }
        }
    }

    /// "It is open which of T1 and T2 wrote key 4 first."
    pub(in crate::counterexample) fn question(&self, question: Question) -> Sentence {
        let words = self.words;
        match question {
            Question::Order {
                key,
                transactions: [a, b],
            } => say!(
                "It is open which of {} and {} wrote {} first.",
                words.transaction(a),
                words.transaction(b),
                words.key(key)
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
