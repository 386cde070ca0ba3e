//! How the edges and reads of a violation contradict a level: reads, a cycle, cases, or a log of combinations.

use isoscope_model::history::{KeyId, OperationId, TransactionId};
use isoscope_model::levels::Pattern;
use isoscope_model::relations::EdgeIndex;

/// Why the edges of a violation contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Reads contradict the level by themselves: TAP-a to f one, TAP-j two of a key in one transaction that can share no
    /// writer. `None`: those of the violation, which need no edge; never inside another proof.
    Reads(Option<WrongReads>),
    /// These edges form a cycle: each ends where the next begins, the last ends where the first begins. At PC and SI
    /// a cycle counts only if no anti-dependency is followed by an edge that leaves the start of the transaction it
    /// entered at its commit (another anti-dependency).
    Cycle(Vec<EdgeIndex>),
    /// A contradiction follows from each answer to a question.
    Cases {
        /// What is open.
        question: Question,
        /// All answers, each with what follows. Edges that rest on an answer may be used in its case only. No case: no
        /// append can have made an element.
        cases: Vec<Case>,
    },
    /// A contradiction follows from all answers to many questions: each of these combinations of answers is
    /// contradictory. That none is left follows by unit propagation, from the combinations and from the fact that one
    /// answer to each question holds: first each clause in turn, from those before it, then the contradiction.
    Log {
        /// All that may be supposed. Either orders of writers, of which those with the same ends exclude each other and one
        /// holds; or answers to the other questions, grouped by question: for a read all writers that do not violate
        /// read committed by themselves, for an element and an outcome as in a case.
        options: Vec<Supposed>,
        /// Options as indices into `options`, in the order in which they are supposed (readers count as committed
        /// because of those before), each list with what follows. For orders it is a cycle that rests on these and on
        /// what the enclosing cases suppose; the smallest comes first.
        excluded: Vec<(Vec<usize>, Proof)>,
        /// For each of these lists, it does not hold that all options with `true` and none with `false` hold.
        clauses: Vec<Vec<(usize, bool)>>,
    },
}

/// Reads that no execution explains, given the writers that the cases around them fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongReads {
    /// What they are an instance of.
    pub pattern: Pattern,
    /// The reads.
    pub reads: Vec<OperationId>,
}

/// What is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
    /// Which of two writers of a key came first.
    Order {
        /// The key.
        key: KeyId,
        /// The writers.
        writers: [TransactionId; 2],
    },
    /// Which transaction wrote what a read returned: any other one that wrote the value and may have committed, and ⊥ if
    /// the value may be initial. The reader counts as committed, given the cases around this one.
    Writer {
        /// The read.
        read: OperationId,
    },
    /// Which append made an element of a list: any by a transaction that did not abort and all of whose appends to the key
    /// fit around the place. The reader counts as committed, given the cases around this one.
    Append {
        /// The read of the list.
        read: OperationId,
        /// The place of the element, from 0, before the reader's own appends.
        place: usize,
    },
    /// Whether a transaction of unknown outcome committed.
    Outcome {
        /// The transaction.
        transaction: TransactionId,
    },
}

/// An answer to a question, and what follows from it.
pub type Case = (Supposed, Proof);

/// What may be supposed if it is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supposed {
    /// The order of two writers that this edge says (reason [`Assumed`](isoscope_model::relations::Reason::Assumed)).
    Order(EdgeIndex),
    /// A read returned what this transaction wrote, or ⊥. A writer of unknown outcome then committed.
    Writer {
        /// The read.
        read: OperationId,
        /// The transaction that wrote it.
        writer: TransactionId,
    },
    /// An append made the element at a place of a list. All appends of its transaction to the key are then next to it in
    /// their order, and elsewhere every element that only one append can then have made is known, too.
    Append {
        /// The read of the list.
        read: OperationId,
        /// The place of the element, from 0, before the reader's own appends.
        place: usize,
        /// The append.
        append: OperationId,
    },
    /// A transaction of unknown outcome committed, with all that it read, or did not, like an aborted one. Every element of
    /// a list is then known that only one append can have made.
    Outcome {
        /// The transaction.
        transaction: TransactionId,
        /// Whether it committed.
        committed: bool,
    },
}

impl Question {
    /// The read it is about, if it is about one.
    pub fn read(self) -> Option<OperationId> {
        match self {
            Question::Writer { read } | Question::Append { read, .. } => Some(read),
            Question::Order { .. } | Question::Outcome { .. } => None,
        }
    }
}

impl Supposed {
    /// The read it is about, if it is about one.
    pub fn read(self) -> Option<OperationId> {
        match self {
            Supposed::Writer { read, .. } | Supposed::Append { read, .. } => Some(read),
            Supposed::Order(_) | Supposed::Outcome { .. } => None,
        }
    }

    /// The assumed edge, if it is an order.
    pub fn order(self) -> Option<EdgeIndex> {
        match self {
            Supposed::Order(edge) => Some(edge),
            _ => None,
        }
    }
}

impl Proof {
    /// The cycles of a log of orders of writers, smallest first; `None` for any other proof.
    pub fn cycles_of_orders(&self) -> Option<Vec<&[EdgeIndex]>> {
        let Proof::Log {
            options, excluded, ..
        } = self
        else {
            return None;
        };
        options.first()?.order()?;
        let cycles = excluded.iter().map(|(_, proof)| match proof {
            Proof::Cycle(cycle) => cycle.as_slice(),
            _ => &[],
        });
        Some(cycles.collect())
    }

    /// Whether it is a log of orders of writers.
    pub fn is_log_of_orders(&self) -> bool {
        matches!(self, Proof::Log { options, .. } if are_orders(options))
    }

    /// Whether its cases or combinations are about who wrote what was read, or what committed; not about orders of writers.
    pub fn is_about_answers(&self) -> bool {
        match self {
            Proof::Reads(_) | Proof::Cycle(_) => false,
            Proof::Cases { question, .. } => !matches!(question, Question::Order { .. }),
            Proof::Log { options, .. } => !are_orders(options),
        }
    }

    /// What this part, without those inside it, supposes in its cases, in their order.
    pub fn answers(&self) -> impl Iterator<Item = Supposed> + '_ {
        let (cases, options) = match self {
            Proof::Reads(_) | Proof::Cycle(_) => (&[][..], &[][..]),
            Proof::Cases { cases, .. } => (cases.as_slice(), &[][..]),
            Proof::Log { options, .. } => (&[][..], options.as_slice()),
        };
        let of_cases = cases.iter().map(|(answer, _)| *answer);
        of_cases.chain(options.iter().copied())
    }

    /// The transactions that this part, without those inside it, supposes to be writers.
    pub fn writers(&self) -> impl Iterator<Item = TransactionId> + '_ {
        self.answers().filter_map(|answer| match answer {
            Supposed::Writer { writer, .. } => Some(writer),
            _ => None,
        })
    }

    /// What the first case or combination supposes, and what follows from it.
    pub fn first_case(&self) -> Option<(Vec<Supposed>, &Proof)> {
        match self {
            Proof::Reads(_) | Proof::Cycle(_) => None,
            Proof::Cases { cases, .. } => {
                let (answer, proof) = cases.first()?;
                Some((vec![*answer], proof))
            }
            Proof::Log {
                options, excluded, ..
            } => {
                let (together, proof) = excluded.first()?;
                let supposed = together.iter().filter_map(|&option| options.get(option));
                Some((supposed.copied().collect(), proof))
            }
        }
    }

    /// The proofs directly inside this one, in order of its cases. The cycles of a log of orders are not among them: they
    /// are about one violation, like the steps of an argument.
    pub fn inner(&self) -> Vec<&Proof> {
        match self {
            Proof::Cases { cases, .. } => cases.iter().map(|(_, proof)| proof).collect(),
            Proof::Log {
                options, excluded, ..
            } if !are_orders(options) => excluded.iter().map(|(_, proof)| proof).collect(),
            Proof::Reads(_) | Proof::Cycle(_) | Proof::Log { .. } => Vec::new(),
        }
    }

    /// [`inner`](Proof::inner), to change them.
    pub fn inner_mut(&mut self) -> Vec<&mut Proof> {
        match self {
            Proof::Cases { cases, .. } => cases.iter_mut().map(|(_, proof)| proof).collect(),
            Proof::Log {
                options, excluded, ..
            } if !are_orders(options) => excluded.iter_mut().map(|(_, proof)| proof).collect(),
            Proof::Reads(_) | Proof::Cycle(_) | Proof::Log { .. } => Vec::new(),
        }
    }

    /// Changes the number of each edge that it names.
    pub fn renumber_edges(&mut self, new: impl Fn(EdgeIndex) -> EdgeIndex) {
        let mut open = vec![self];
        while let Some(proof) = open.pop() {
            let supposed = |supposed: &mut Supposed| {
                if let Supposed::Order(edge) = supposed {
                    *edge = new(*edge);
                }
            };
            match proof {
                Proof::Reads(_) => {}
                Proof::Cycle(cycle) => cycle.iter_mut().for_each(|edge| *edge = new(*edge)),
                Proof::Cases { cases, .. } => {
                    cases.iter_mut().for_each(|(answer, _)| supposed(answer));
                    open.extend(cases.iter_mut().map(|(_, proof)| proof));
                }
                Proof::Log {
                    options, excluded, ..
                } => {
                    options.iter_mut().for_each(supposed);
                    open.extend(excluded.iter_mut().map(|(_, proof)| proof));
                }
            }
        }
    }

    /// The edges of its cycle, or of the cycles of all branches with the assumptions they rest on; ascending, each
    /// once. The first possible answer about a read represents all: another one makes another case, not more of this
    /// one. A log of orders is represented by its first cycle, without the assumptions.
    pub fn cycle_edges(&self) -> Vec<EdgeIndex> {
        let mut edges = Vec::new();
        let mut open = vec![self];
        while let Some(proof) = open.pop() {
            match proof {
                Proof::Cycle(cycle) => edges.extend(cycle),
                Proof::Cases {
                    question: Question::Order { .. },
                    cases,
                } => {
                    edges.extend(cases.iter().filter_map(|(order, _)| order.order()));
                    open.extend(proof.inner());
                }
                _ => {
                    let cycles = proof.cycles_of_orders().unwrap_or_default();
                    edges.extend(cycles.first().into_iter().copied().flatten());
                    open.extend(proof.inner().first());
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// The part that says what the violation is: the first of all cases, where they are not about an order.
    pub fn first_part(&self) -> &Proof {
        let mut part = self;
        while !matches!(
            part,
            Proof::Cases {
                question: Question::Order { .. },
                ..
            }
        ) && let Some(&first) = part.inner().first()
        {
            part = first;
        }
        part
    }

    /// This proof and those inside it, outermost first, cases in order.
    pub fn parts(&self) -> Vec<&Proof> {
        let mut parts = Vec::new();
        let mut open = vec![self];
        while let Some(proof) = open.pop() {
            parts.push(proof);
            open.extend(proof.inner().into_iter().rev());
        }
        parts
    }

    /// The reads about which this part, without those inside it, has a case for each possible writer or append; each once
    /// in a row.
    pub fn open_reads(&self) -> Vec<OperationId> {
        match self {
            Proof::Reads(_) | Proof::Cycle(_) => Vec::new(),
            Proof::Cases { question, .. } => question.read().into_iter().collect(),
            Proof::Log { options, .. } => {
                let mut reads: Vec<OperationId> =
                    options.iter().filter_map(|option| option.read()).collect();
                reads.dedup();
                reads
            }
        }
    }

    /// The reads that it names in addition to those of the edges, in order, possibly more than once.
    pub fn reads(&self) -> Vec<OperationId> {
        let of_part = |part: &Proof| match part {
            Proof::Reads(Some(wrong)) => wrong.reads.clone(),
            _ => part.open_reads(),
        };
        self.parts().into_iter().flat_map(of_part).collect()
    }
}

/// Whether what may be supposed is about orders of writers.
fn are_orders(options: &[Supposed]) -> bool {
    matches!(options.first(), Some(Supposed::Order(_)))
}
