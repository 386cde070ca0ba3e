//! Listed instances: what they are about, the edges of their arguments, and how these contradict each other.

use super::{ClaimEntry, OperationEntry, StatementEntry, TransactionEntry};
use isoscope_model::levels::{Level, Pattern};
use isoscope_model::relations::Relation;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One listed instance. Numbers called places are places in `transactions`, those of edges are places in `edges`, from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ViolationEntry {
    /// Its id, by which other commands find it: `TAP-m/1`.
    pub id: String,
    /// The id of its pattern: `TAP-m`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub pattern: Pattern,
    /// The name of its pattern: `COConflictCM`.
    pub name: String,
    /// Other patterns the same scenario is an instance of.
    pub also: Vec<String>,
    /// Codes of the levels it violates.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub levels: Vec<Level>,
    /// What it claims: the headline, in words and as data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<ClaimEntry>,
    /// The key on which the contradiction shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The scenario's transactions, in presentation order.
    pub transactions: Vec<TransactionEntry>,
    /// The edges of the argument, premises first.
    pub edges: Vec<EdgeEntry>,
    /// Operations the argument is about, in addition to those of the edges.
    pub operations: Vec<OperationEntry>,
    /// How the edges contradict each other.
    pub proof: ProofEntry,
    /// The argument, statement by statement: what was observed, then what follows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<StatementEntry>,
    /// This instance adds nothing: the inferred edge already holds causally, or the order of its versions follows only from
    /// another violation, by which a version would be older than the initial one. That is then what its edges show.
    pub implied: bool,
    /// The simplest listed violation that this one contains: one of a level that is no stronger, by the same reads or
    /// the same order of two transactions, or in the same transactions; or one that shows a list on which this one rests
    /// to be wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// Root cause: instances with equal numbers share one.
    pub group: u32,
    /// Instances of any pattern that share transactions, directly or through others, have the same number: from 1, the
    /// component with the most convincing instance first.
    #[serde(default)]
    pub component: u32,
}

/// One edge of an argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct EdgeEntry {
    /// Place of the source.
    pub from: usize,
    /// Place of the target.
    pub to: usize,
    /// The relation: SO (session order), WR (write-read), WW (write-write), RW (anti-dependency), CO (causal order), CM
    /// (commit order) or RT (real time).
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub kind: Relation,
    /// The key it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Why it is there, in a sentence.
    pub why: String,
    /// Position in its transaction of the operation of `from` that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_operation: Option<usize>,
    /// Position in its transaction of the operation of `to` that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_operation: Option<usize>,
    /// Why it is there, as data.
    pub reason: ReasonEntry,
}

/// Why an edge is there. Premises are places in the list of edges, smaller than the edge's own, and form a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum ReasonEntry {
    /// Same session, this order; or `from` is ⊥.
    SessionOrder,
    /// `to` returned what `from` wrote.
    Reads,
    /// Sums up a path.
    Path {
        /// The path.
        through: Vec<usize>,
    },
    /// `reader` reads the key from `to` and sees `from`, which writes the key too.
    Visible {
        /// RC, RA, TCC, a guarantee of sessions, or CO for the commit order.
        axiom: AxiomWord,
        /// Place of the reader.
        reader: usize,
        /// Position of its read.
        read: usize,
        /// The path from `from` to the reader.
        seen: Vec<usize>,
    },
    /// `from` reads the key from `writer`, which is older than `to`'s version.
    Overwrites {
        /// Place of the writer.
        writer: usize,
        /// The path from the writer to `to`; empty when the writer is ⊥.
        order: Vec<usize>,
    },
    /// Two writers of a key may not overlap at SI.
    Conflict {
        /// A path from the start of `from` to the commit of `to`.
        order: Vec<usize>,
    },
    /// `to` read `from`'s version of the key and wrote the key.
    ReadModifyWrite {
        /// The write-read edge.
        read: usize,
    },
    /// A list that `reader` read shows that `from`'s version of the key is older than `to`'s.
    Listed {
        /// Place of the reader.
        reader: usize,
        /// Position of its read.
        read: usize,
    },
    /// One side of a case split, or one of many orders that are open.
    Assumed,
}

impl ReasonEntry {
    /// The edges it rests on.
    pub fn premises(&self) -> &[usize] {
        match self {
            ReasonEntry::SessionOrder
            | ReasonEntry::Reads
            | ReasonEntry::Listed { .. }
            | ReasonEntry::Assumed => &[],
            ReasonEntry::Path { through } => through,
            ReasonEntry::Visible { seen, .. } => seen,
            ReasonEntry::Overwrites { order, .. } | ReasonEntry::Conflict { order } => order,
            ReasonEntry::ReadModifyWrite { read } => std::slice::from_ref(read),
        }
    }
}

/// How a reader is known to see a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub enum AxiomWord {
    /// The reader had read from it before.
    #[serde(rename = "RC")]
    ReadCommitted,
    /// One step of SO or WR leads from it to the reader.
    #[serde(rename = "RA")]
    ReadAtomic,
    /// A path of SO and WR leads from it to the reader.
    #[serde(rename = "TCC")]
    Causal,
    /// SO.
    #[serde(rename = "RYW")]
    ReadYourWrites,
    /// WR, then SO.
    #[serde(rename = "MR")]
    MonotonicReads,
    /// SO, then WR.
    #[serde(rename = "MW")]
    MonotonicWrites,
    /// WR, each perhaps followed by SO, and WR at the end.
    #[serde(rename = "WFR")]
    WritesFollowReads,
    /// SO, WR, SO.
    #[serde(rename = "PRAM")]
    Pram,
    /// By the order of commits and starts known so far.
    #[serde(rename = "commit order")]
    CommitOrder,
}

/// How the edges contradict each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ProofEntry {
    /// The operations alone do.
    Read,
    /// These reads alone do, given the writers that the enclosing cases fix.
    Reads {
        /// What they are an instance of: TAP-a to f one read, TAP-j two that can share no writer.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        pattern: Pattern,
        /// The reads.
        reads: Vec<OperationEntry>,
    },
    /// The edges form a cycle.
    Cycle {
        /// The cycle.
        edges: Vec<usize>,
    },
    /// Whichever of two writers of a key comes first, a contradiction follows.
    Split {
        /// The key.
        key: String,
        /// One case.
        first: CaseEntry,
        /// The opposite case.
        second: CaseEntry,
    },
    /// Whichever transaction wrote what a read returned, a contradiction follows.
    Writers {
        /// The read.
        read: OperationEntry,
        /// A case for every other transaction that wrote the value and may have committed, and for ⊥ where the value
        /// may be initial.
        cases: Vec<WriterEntry>,
    },
    /// Whichever append made an element of a list, a contradiction follows.
    Appends {
        /// The read of the list.
        read: OperationEntry,
        /// The place of the element in the list, from 0.
        place: usize,
        /// A case for every append that may have made it: of another transaction that did not abort and all of whose
        /// appends to the key surround the place in their order. None where no append can have made it.
        cases: Vec<AppendEntry>,
    },
    /// Whether a transaction of unknown outcome committed or not, a contradiction follows. If it did, it counts with
    /// all its reads; if not, it is like an aborted one.
    Outcomes {
        /// Place of the transaction.
        transaction: usize,
        /// The two cases.
        cases: Vec<OutcomeEntry>,
    },
    /// Whatever the orders of many pairs of writers, one of these cycles closes. Two assumed edges with the same ends
    /// exclude each other and one of them holds; a cycle forbids the assumed edges that its edges rest on, directly or
    /// through premises, to hold together. Each clause in turn follows by unit propagation from the cycles and the
    /// clauses before it, and the contradiction from all.
    Clauses {
        /// Each a cycle, smallest first.
        lemmas: Vec<Vec<usize>>,
        /// In each of these lists not all assumed edges hold.
        clauses: Vec<Vec<usize>>,
    },
    /// Whatever is supposed about many reads, or about many places of lists and outcomes, one of these combinations
    /// holds, and each is contradictory. That none is left follows by unit propagation: one option of each read, place
    /// or outcome holds, not all of a combination do; then each clause in turn, and the contradiction.
    Combinations {
        /// All possible suppositions: every writer of a read that does not violate read committed by itself, every
        /// append for a place of a list as in `appends`, both outcomes of a transaction of unknown outcome.
        options: Vec<OptionEntry>,
        /// Each with what follows.
        excluded: Vec<CombinationEntry>,
        /// Options by number from 1. In each list, not all positive options hold while no negative one does.
        clauses: Vec<Vec<i64>>,
    },
}

impl ProofEntry {
    /// What follows in each case of a writer, an append, an outcome or a combination, in their order. The two cases of a
    /// split are not among them: they are about one violation.
    pub fn cases(&self) -> Vec<&ProofEntry> {
        match self {
            ProofEntry::Writers { cases, .. } => cases.iter().map(|case| &case.proof).collect(),
            ProofEntry::Appends { cases, .. } => cases.iter().map(|case| &case.proof).collect(),
            ProofEntry::Outcomes { cases, .. } => cases.iter().map(|case| &case.proof).collect(),
            ProofEntry::Combinations { excluded, .. } => {
                excluded.iter().map(|case| &case.proof).collect()
            }
            ProofEntry::Read
            | ProofEntry::Reads { .. }
            | ProofEntry::Cycle { .. }
            | ProofEntry::Split { .. }
            | ProofEntry::Clauses { .. } => Vec::new(),
        }
    }
}

/// A supposition about an open question: the writer of what a read returned, the append that made an element of a list,
/// or whether a transaction committed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum OptionEntry {
    /// An append made the element at a place of a list.
    Append {
        /// The read of the list.
        read: OperationEntry,
        /// The place of the element in the list, from 0.
        place: usize,
        /// The append.
        append: OperationEntry,
    },
    /// A read returned what a transaction wrote.
    Writer {
        /// The read.
        read: OperationEntry,
        /// Place of the transaction.
        writer: usize,
    },
    /// A transaction of unknown outcome committed, or did not.
    Outcome {
        /// Place of the transaction.
        transaction: usize,
        /// Whether it committed.
        committed: bool,
    },
}

/// A contradictory combination of options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CombinationEntry {
    /// Options by number from 1, in the order in which they are supposed.
    pub options: Vec<usize>,
    /// What follows.
    pub proof: ProofEntry,
}

/// One possible writer of a read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WriterEntry {
    /// Its place.
    pub writer: usize,
    /// What follows.
    pub proof: ProofEntry,
}

/// One append that may have made an element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AppendEntry {
    /// The append.
    pub append: OperationEntry,
    /// What follows.
    pub proof: ProofEntry,
}

/// One outcome of a transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OutcomeEntry {
    /// Whether it committed.
    pub committed: bool,
    /// What follows.
    pub proof: ProofEntry,
}

/// One case of a split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CaseEntry {
    /// Place of the assumed edge.
    pub assume: usize,
    /// What follows.
    pub proof: Box<ProofEntry>,
}
