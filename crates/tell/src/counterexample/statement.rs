//! The steps of an argument, as data: what each says, what it mentions, and what it follows from.

use super::sentence::Sentence;
use isoscope_check::checkers::{Level, Pattern, Supposed};
use isoscope_model::history::{KeyId, OperationId, TransactionId};
use isoscope_model::relations::EdgeIndex;
use std::fmt;

/// The part a step plays in the argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepRole {
    /// What was observed.
    Observed,
    /// What the level promises.
    Rule,
    /// What is supposed in a case, or open.
    Supposed,
    /// What follows.
    Concluded,
    /// What is impossible.
    Contradiction,
}

/// What a step says. Edges are those of the violation, by place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// These transactions ran in this order in one session.
    Session {
        /// At least two.
        transactions: Vec<TransactionId>,
    },
    /// What a read returned, without its writer.
    Read {
        /// The read.
        read: OperationId,
    },
    /// What an operation did, and when, where operations contradict by themselves.
    Operation {
        /// The operation.
        operation: OperationId,
        /// For a read the edge that says which transaction it read from.
        read_from: Option<EdgeIndex>,
        /// Whether to say that the writer named by that edge was rolled back.
        names_writer: bool,
        /// Whether the operation before it in the same transaction was stated before.
        follows: bool,
        /// Whether times and outcomes matter.
        in_time: bool,
    },
    /// These edges of real time are from one transaction: the others began after it had ended.
    BeganAfter {
        /// The edges.
        edges: Vec<EdgeIndex>,
    },
    /// None of these transactions wrote what was read, since they began after the reader had ended.
    NotWritten {
        /// The transactions.
        by: Vec<TransactionId>,
    },
    /// What an edge says, in an argument about a level.
    Edge {
        /// The edge.
        edge: EdgeIndex,
    },
    /// No other transaction that may have committed wrote what these reads returned.
    NoOtherWriters {
        /// The reads.
        reads: Vec<OperationId>,
    },
    /// What was looked for in the whole file and not found, where reads are wrong in a way.
    Absent {
        /// In which way.
        pattern: Pattern,
        /// The reads.
        reads: Vec<OperationId>,
    },
    /// Every write of the value that is not drawn began after the read had ended.
    LaterWrites {
        /// The read.
        read: OperationId,
    },
    /// The writer of this edge, whose outcome is unknown, committed, because it was read from.
    Committed {
        /// The edge.
        edge: EdgeIndex,
    },
    /// What is promised.
    Rule(Rule),
    /// It is open which of these transactions wrote what was read.
    OpenWriter {
        /// The read.
        read: OperationId,
        /// The transactions.
        writers: Vec<TransactionId>,
    },
    /// It is open which of these appends made an element of a list that was read.
    OpenAppend {
        /// The read.
        read: OperationId,
        /// The place of the element in the list, from 0.
        place: usize,
        /// The appends.
        appends: Vec<OperationId>,
    },
    /// It is open whether a transaction committed.
    OpenOutcome {
        /// The transaction.
        transaction: TransactionId,
    },
    /// The writers of so many reads are open.
    OpenReads {
        /// How many.
        n_reads: usize,
    },
    /// The outcomes of so many transactions are open.
    OpenOutcomes {
        /// How many.
        n_transactions: usize,
    },
    /// The order of so many pairs of writers of a key is open.
    OpenOrders {
        /// How many.
        n_pairs: usize,
    },
    /// An order of two writers is supposed.
    SupposeOrder {
        /// The assumed edge.
        edge: EdgeIndex,
        /// Whether nothing else is supposed with it before.
        is_first: bool,
    },
    /// An answer to an open question is supposed.
    Suppose {
        /// The answer.
        supposed: Supposed,
        /// Whether nothing else is supposed with it before.
        is_first: bool,
        /// Whether to say what follows from it immediately.
        with_consequence: bool,
    },
    /// These edges close a cycle.
    Cycle {
        /// The edges, each with the number of the step that states it, from 1.
        edges: Vec<(EdgeIndex, Option<usize>)>,
        /// The number of the step that says what the level promises, from 1.
        rule: Option<usize>,
    },
    /// Two transactions overlapped and wrote one key, which the level forbids.
    Overlap {
        /// They.
        transactions: [TransactionId; 2],
        /// The key.
        key: KeyId,
        /// The numbers of the steps that say that each started before the other committed, from 1.
        because: Vec<usize>,
    },
    /// These reads are wrong in a way that every order contradicts.
    WrongReads {
        /// In which way.
        pattern: Pattern,
        /// The reads.
        reads: Vec<OperationId>,
        /// The level that they contradict, where there are no cases; none where it needs no mention.
        at: Option<Level>,
    },
    /// No append can have made an element of a list that was read.
    NoAppend {
        /// The read.
        read: OperationId,
        /// The place of the element in the list, from 0.
        place: usize,
    },
    /// Other combinations of suppositions contradict, too, and leave none.
    OtherCombinations {
        /// How many combinations contradict, the one that is shown included.
        n: usize,
        /// How many clauses follow from them.
        n_clauses: usize,
    },
    /// Other cycles exclude the other orders.
    OtherCycles {
        /// How many cycles there are, the one that is shown included.
        n: usize,
        /// How many clauses follow from them.
        n_clauses: usize,
    },
    /// All cases are impossible.
    NoCaseLeft,
}

/// What is promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// What a level promises.
    Level(Level),
    /// What every level from read committed on promises of sessions and reads.
    Order,
    /// [`Order`](Self::Order), and what it promises of the elements of lists.
    OrderOfLists,
    /// What every level from read committed on promises of reads of lists.
    Lists,
}

/// The label of a case: `1`, or `1.2` for the second case inside it; empty outside of all cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseLabel(Vec<usize>);

impl CaseLabel {
    /// Whether this is outside of all cases.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A case inside this one, by its number from 1.
    pub(super) fn inner(&self, number: usize) -> CaseLabel {
        CaseLabel([self.0.as_slice(), &[number]].concat())
    }

    /// Whether this is another case, or inside it.
    pub(super) fn is_within(&self, outer: &CaseLabel) -> bool {
        self.0.starts_with(&outer.0)
    }

    /// Whether this is one of the cases that another one is divided into.
    pub(super) fn divides(&self, outer: &CaseLabel) -> bool {
        self.is_within(outer) && self.0.len() == outer.0.len() + 1
    }
}

impl fmt::Display for CaseLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(usize::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

/// One step of an argument, linked to what it mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it says.
    pub says: Statement,
    /// Its part in the argument.
    pub role: StepRole,
    /// The case that it belongs to.
    pub case: CaseLabel,
    /// What it says, as a sentence without a full stop; begins with a capital letter, or with a name as the file has it.
    pub text: Sentence,
    /// What it says at length, for checking: definitions and axioms, word for word. Whole sentences; empty where there is
    /// nothing to add.
    pub long: String,
    /// The steps that it follows from: their places, ascending.
    pub premises: Vec<usize>,
    /// Where the operations it mentions are in the file: "line 40, written at line 12".
    pub found_at: Sentence,
    /// Edges of the violation it mentions.
    pub edges: Vec<EdgeIndex>,
    /// Transactions it mentions.
    pub transactions: Vec<TransactionId>,
    /// Operations it mentions.
    pub operations: Vec<OperationId>,
}

impl Step {
    /// The heading that it is under.
    pub fn heading(&self) -> String {
        match self.role {
            StepRole::Observed => "Observed".to_owned(),
            StepRole::Rule => "Rule".to_owned(),
            _ if self.case.is_empty() => "Therefore".to_owned(),
            _ => format!("Case {}", self.case),
        }
    }

    /// How many cases enclose it.
    pub fn depth(&self) -> usize {
        self.case.0.len()
    }
}
