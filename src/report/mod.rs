//! Everything said about one history, as data for scripts: the JSON report.
//!
//! The only place that serialises findings, with types of its own: field names and order are a promise (schema
//! [`SCHEMA`]), so nothing deeper derives `Serialize`. The comments on these types are what `isoscope schema report` says
//! of them, so they are written for its readers. Decides nothing. Transactions are named by session and position as well
//! as by id, so that the evidence can be found again in the file; operations by their position in the transaction.

mod build;
mod claim;
mod followed;
mod health;
mod join;
mod json;
mod listing;
mod merge;
mod part;
mod statistics;
mod tally;

pub use build::{Settings, violation};
pub use claim::{ClaimEntry, ClaimKind, MissedEntry, SightWord, StatementEntry};
pub use followed::{
    AnswerChange, AwaitedVersion, FOLLOWED_SCHEMA, Followed, FollowedEnd, FollowedEvent, FollowedLevel, FoundViolation,
    Progress,
};
pub use health::HealthEntry;
pub use json::to_line;
pub use listing::{ListingEntry, WindowEntry};
pub use merge::{MergeError, merge};
pub use part::{Dealt, Elsewhere, OrderEntry, PartEntry};
pub use statistics::{ComponentEntry, STATISTICS_SCHEMA, StatisticsReport, VersionOrderEntry};
pub use tally::{Tally, TallyBy, TallyRow, key_of, sessions_of};

pub use crate::history::grouped;

use crate::history::Rules;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name of this form of report.
pub const SCHEMA: &str = "isoscope.report/1";

/// What is said about one input: a report, or why it could not be read. `isoscope check --json` prints one such object
/// per history, each on a line of its own. Later versions may add fields; a program that reads reports should ignore
/// those that it does not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "IsoScope report")]
pub enum Document {
    /// The input was read.
    Report(Box<Report>),
    /// It could not be read.
    Failure(Failure),
    /// Another shard has it.
    Elsewhere(Box<Elsewhere>),
}

impl Document {
    /// The history it is about, as given.
    pub fn path(&self) -> &str {
        match self {
            Document::Report(report) => &report.history.path,
            Document::Failure(failure) => &failure.history.path,
            Document::Elsewhere(elsewhere) => &elsewhere.history.path,
        }
    }
}

/// An input that could not be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// Name of this form of report.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The input.
    pub history: FailedHistory,
    /// What went wrong.
    pub error: Error,
}

/// Names an input of which nothing else is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedHistory {
    /// Its path, as given.
    pub path: String,
}

/// What went wrong with an input, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Error {
    /// `line 12`, `byte 90`, or `file`.
    pub place: String,
    /// What was expected there, or what failed.
    pub message: String,
}

impl Failure {
    /// The failure of reading `path`.
    pub fn new(path: &str, place: &str, message: &str) -> Failure {
        Failure {
            schema: SCHEMA.to_owned(),
            history: FailedHistory { path: path.to_owned() },
            error: Error { place: place.to_owned(), message: message.to_owned() },
        }
    }
}

/// Everything said about one history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Name of this form of report.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The history's figures.
    pub history: HistoryFacts,
    /// The share of the work that the report is about (`--shards`); absent where it is about all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartEntry>,
    /// A verdict per requested level, in the order requested.
    pub levels: Vec<LevelEntry>,
    /// What the database is claimed to promise (`--claim`), and whether the verdicts show that it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promised: Option<PromiseEntry>,
    /// Where no levels were named: for each base that was checked, PSI among them, the strongest order on which it holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strongest: Vec<StrongestEntry>,
    /// Number of instances of each anomaly pattern that was looked for, listed or not, by its id (`TAP-k`).
    pub patterns: Counts,
    /// The same by the rule of Plume's published program (`--count published`): the patterns that occur.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_patterns: Option<Counts>,
    /// Which instances are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listing: Option<ListingEntry>,
    /// The listed instances.
    pub violations: Vec<ViolationEntry>,
    /// How long it took.
    pub timings: Timings,
    /// How ambiguities of the file were resolved: the choice made for each rule, by the name of its flag
    /// (`duplicates`: `any`).
    #[serde(default)]
    pub rules: BTreeMap<String, String>,
    /// Choices made on the input that the verdicts rest on.
    pub assumptions: Vec<String>,
    /// Whether the input can be trusted, the worst first.
    #[serde(default)]
    pub health: Vec<HealthEntry>,
}

impl Report {
    /// The rules by which the history was interpreted. Errors: the report names an unknown rule or choice.
    pub fn rules(&self) -> Result<Rules, String> {
        let mut rules = Rules::default();
        for (name, word) in &self.rules {
            rules.set(name, word).map_err(|error| format!("the report's rule {name} is `{word}`: {error}"))?;
        }
        Ok(rules)
    }
}

/// The strongest order on which a base holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StrongestEntry {
    /// The code of the base, which is that of its level with sessions: `SI`.
    pub base: String,
    /// The code of the strongest of its levels that holds: in real time (`R-SI`), with sessions (`SI`) or without (`P-SI`);
    /// null if none is known to.
    pub level: Option<String>,
    /// The codes of the stronger ones that were asked about and not decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<String>,
}

/// What a setting of a product is claimed to promise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromiseEntry {
    /// The product.
    pub product: String,
    /// The setting.
    pub setting: String,
    /// The code of the level it promises, which need not be among those that are decided.
    pub level: String,
    /// What else to know about the promise.
    pub note: String,
    /// Whether the promise is kept; null if the verdicts show neither.
    pub kept: Option<bool>,
    /// The strongest levels found satisfied.
    pub holds: Vec<String>,
}

/// A history's figures, which also show whether a report belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryFacts {
    /// Its path, as given.
    pub path: String,
    /// Name of its format.
    pub format: String,
    /// Number of sessions.
    pub sessions: usize,
    /// Number of transactions of all outcomes.
    pub transactions: usize,
    /// Number of transactions known to have committed.
    pub committed: usize,
    /// Number of transactions known to have aborted.
    pub aborted: usize,
    /// Number of transactions of unknown outcome.
    pub unknown: usize,
    /// Number of operations.
    pub operations: usize,
    /// Number of distinct keys.
    pub keys: usize,
    /// What accompanying files say about it, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<String>,
    /// The nodes that the file names, in the order of first use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeEntry>,
    /// The faults that the file tells of, by their beginnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultEntry>,
}

/// A node: a server that sessions used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeEntry {
    /// Its name.
    pub name: String,
    /// How many sessions used it.
    pub sessions: usize,
}

/// Something that was done to the system, and undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultEntry {
    /// What it was, such as `partition`.
    pub what: String,
    /// When it began, in the unit of the transactions' times.
    pub start: i64,
    /// When it ended; left out if the history ends before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<i64>,
}

/// The answer to whether a history satisfies a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VerdictWord {
    /// A legal execution explains the history.
    Satisfied,
    /// None does.
    Violated,
    /// Not known.
    Undecided,
}

/// One level's verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelEntry {
    /// Code of the level: `SI`.
    pub level: String,
    /// Whether the history satisfies it.
    pub verdict: VerdictWord,
    /// Name of the engine that decided it.
    pub checker: String,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Why it is undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the verdict takes for granted: "T1 set up the initial state" where it is violated only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assuming: Option<String>,
    /// On request (`--witness`): the commit order that explains the history. Empty at CI, where nothing needs an order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Vec<TransactionEntry>>,
    /// With a witness of PC or SI: by place of `witness`, how many of its transactions had committed when this one
    /// took its snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshots: Option<Vec<u32>>,
    /// In place of a witness where the report is about some components of the history: an order for each of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orders: Option<Vec<OrderEntry>>,
    /// With a witness of RC, RA or TCC: the writer of each read that has several possible ones. At the other levels the
    /// order determines it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<SourceEntry>>,
}

/// The assumed writer of a read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceEntry {
    /// The transaction of the read.
    pub reader: TransactionEntry,
    /// The position of the read in its transaction, from 0.
    pub operation: usize,
    /// The writer of the version it returned.
    pub writer: TransactionEntry,
}

/// A session's name as in the file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SessionName {
    /// Most formats number sessions.
    Number(u64),
    /// Others name them.
    Name(String),
}

/// Names a transaction. ⊥, the writer of the initial versions, has the id `⊥` and neither session nor
/// index.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct TransactionEntry {
    /// Its session.
    pub session: Option<SessionName>,
    /// Its position in the session, from 0, transactions of all outcomes counted.
    pub index: Option<usize>,
    /// Its id.
    pub id: String,
    /// Its display name, where that differs from its id: `S4#1` for `4.1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Number of instances by pattern id, in the order of the pattern table.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema)]
pub struct Counts(#[schemars(with = "BTreeMap<String, u64>")] pub Vec<(String, u64)>);

/// One listed instance. Numbers called places are places in `transactions`, those of edges are places in `edges`, from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ViolationEntry {
    /// Its id, by which other commands find it: `TAP-m/1`.
    pub id: String,
    /// The id of its pattern: `TAP-m`.
    pub pattern: String,
    /// The name of its pattern: `COConflictCM`.
    pub name: String,
    /// Other patterns the same scenario is an instance of.
    pub also: Vec<String>,
    /// Codes of the levels it violates.
    pub levels: Vec<String>,
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
    /// The inferred edge already holds causally, so this instance adds nothing.
    pub implied: bool,
    /// The simplest listed violation that this one contains: one of a level that is no stronger, by the same reads or
    /// the same order of two transactions, or in the same transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// Root cause: instances with equal numbers share one.
    pub group: u32,
    /// Instances of any pattern that share transactions, directly or through others, have the same number: from 1, the
    /// component with the most convincing instance first.
    #[serde(default)]
    pub component: u32,
}

/// Names an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperationEntry {
    /// Place of its transaction.
    pub transaction: usize,
    /// Its position in the transaction, from 0.
    pub index: usize,
    /// The operation in words: `r(x) = 3`.
    pub text: String,
    /// Its line in the file, where known; for a binary file the byte, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Where it is in the file, in words: `line 12`, `byte 3660`, `T3.log byte 90`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// One edge of an argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeEntry {
    /// Place of the source.
    pub from: usize,
    /// Place of the target.
    pub to: usize,
    /// The relation: SO (session order), WR (write-read), WW (write-write), RW (anti-dependency), CO (causal order), CM
    /// (commit order) or RT (real time).
    pub kind: String,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
            ReasonEntry::SessionOrder | ReasonEntry::Reads | ReasonEntry::Listed { .. } | ReasonEntry::Assumed => &[],
            ReasonEntry::Path { through } => through,
            ReasonEntry::Visible { seen, .. } => seen,
            ReasonEntry::Overwrites { order, .. } | ReasonEntry::Conflict { order } => order,
            ReasonEntry::ReadModifyWrite { read } => std::slice::from_ref(read),
        }
    }
}

/// How a reader is known to see a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ProofEntry {
    /// The operations alone do.
    Read,
    /// These reads alone do, given the writers that the enclosing cases fix.
    Reads {
        /// What they are an instance of: TAP-a to f one read, TAP-j two that can share no writer.
        pattern: String,
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

/// A supposition about an open question: the writer of what a read returned, the append that made an element of a list,
/// or whether a transaction committed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CombinationEntry {
    /// Options by number from 1, in the order in which they are supposed.
    pub options: Vec<usize>,
    /// What follows.
    pub proof: ProofEntry,
}

/// One possible writer of a read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WriterEntry {
    /// Its place.
    pub writer: usize,
    /// What follows.
    pub proof: ProofEntry,
}

/// One append that may have made an element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AppendEntry {
    /// The append.
    pub append: OperationEntry,
    /// What follows.
    pub proof: ProofEntry,
}

/// One outcome of a transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeEntry {
    /// Whether it committed.
    pub committed: bool,
    /// What follows.
    pub proof: ProofEntry,
}

/// One case of a split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseEntry {
    /// Place of the assumed edge.
    pub assume: usize,
    /// What follows.
    pub proof: Box<ProofEntry>,
}

/// Wall time in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timings {
    /// Reading the file.
    pub read: f64,
    /// Building the index of the history.
    pub index: f64,
    /// Checking all levels.
    pub check: f64,
}
