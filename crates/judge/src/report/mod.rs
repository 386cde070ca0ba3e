//! The report: everything said about one history, as data for scripts.
//!
//! Field names and order are a promise (schema [`SCHEMA`]). The comments on these types are what `isoscope schema report`
//! says of them, so they are written for its readers. Transactions are named by session and position as well as by id, so
//! that the evidence can be found again in the file; operations by their position in the transaction.

mod claim;
mod evidence;
mod followed;
mod health;
mod json;
mod listing;
mod part;
mod workload;

pub use claim::{ClaimEntry, ClaimKind, MissedEntry, SightWord, StatementEntry};
pub use evidence::{
    AppendEntry, AxiomWord, CaseEntry, CombinationEntry, EdgeEntry, OptionEntry, OutcomeEntry,
    ProofEntry, ReasonEntry, ViolationEntry, WriterEntry,
};
pub use followed::{
    AnswerChange, AwaitedVersion, FOLLOWED_SCHEMA, Followed, FollowedEnd, FollowedEvent,
    FollowedLevel, FoundViolation, Progress,
};
pub use health::HealthEntry;
pub use json::{to_line, write_line};
pub use listing::{ListingEntry, Tally, TallyRow, WindowEntry};
pub use part::{Dealt, Elsewhere, PartEntry};
pub use workload::{FactEntry, ShownEntry, WorkloadEntry};

use isoscope_model::history::{Rules, words};
use isoscope_model::levels::Level;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name of this form of report.
pub const SCHEMA: &str = "isoscope.report/1";

/// What is said about one input: a report, or why it could not be read. `isoscope check --json` prints one such object
/// per history, each on a line of its own. Later versions may add fields; a program that reads reports should ignore
/// those that it does not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
#[cfg_attr(feature = "schema", schemars(title = "IsoScope report"))]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Failure {
    /// Name of this form of report.
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// The input.
    pub history: FailedHistory,
    /// What went wrong.
    pub error: Error,
}

/// Names an input of which nothing else is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FailedHistory {
    /// Its path, as given.
    pub path: String,
}

/// What went wrong with an input, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
            history: FailedHistory {
                path: path.to_owned(),
            },
            error: Error {
                place: place.to_owned(),
                message: message.to_owned(),
            },
        }
    }
}

/// Everything said about one history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Report {
    /// Name of this form of report.
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
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
    /// The numbers by the rule of Plume's published program (`--count published`): the patterns that occur.
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
    /// The limit that ended the work before all violations were counted and listed: then the counts are lower bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// False where nothing was tested: hardly anything committed, or nothing that could show a violation was read or written.
    /// Left out where that is not so.
    #[serde(default = "assumed", skip_serializing_if = "Clone::clone")]
    pub tested: bool,
    /// Whether the input can be trusted, the worst first.
    #[serde(default)]
    pub health: Vec<HealthEntry>,
}

/// What is so unless it is said otherwise.
fn assumed() -> bool {
    true
}

impl Report {
    /// The rules by which the history was interpreted. Errors: the report names an unknown rule or choice.
    pub fn rules(&self) -> Result<Rules, String> {
        let mut rules = Rules::default();
        for (name, word) in &self.rules {
            rules
                .set(name, word)
                .map_err(|error| format!("the report's rule {name} is `{word}`: {error}"))?;
        }
        Ok(rules)
    }
}

/// The strongest order on which a base holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StrongestEntry {
    /// The code of the base, which is that of its level with sessions: `SI`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub base: Level,
    /// The code of the strongest of its levels that holds: in real time (`R-SI`), with sessions (`SI`) or without (`P-SI`);
    /// null if none is known to.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub level: Option<Level>,
    /// The codes of the stronger ones that were asked about and not decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub undecided: Vec<Level>,
}

/// What a setting of a product is claimed to promise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub holds: Vec<Level>,
}

/// A history's figures, which also show whether a report belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
    /// What else the log says of the transactions of violations and findings, by their ids: names and values of fields.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, BTreeMap<String, String>>,
    /// What its log is about, if its operations mean more than reads and writes of items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadEntry>,
}

/// A node: a server that sessions used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NodeEntry {
    /// Its name.
    pub name: String,
    /// How many sessions used it.
    pub sessions: usize,
}

/// Something that was done to the system, and undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FaultEntry {
    /// What it was, such as `partition`.
    pub what: String,
    /// When it began, in the unit of the transactions' times.
    pub start: i64,
    /// When it ended; left out if the history ends before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<i64>,
}

words! {
    /// The answer to whether a history satisfies a level.
    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(JsonSchema))]
    #[serde(rename_all = "lowercase")]
    VerdictWord by word {
        /// A legal execution explains the history.
        Satisfied = "satisfied",
        /// None does.
        Violated = "violated",
        /// Not known.
        Undecided = "undecided",
    }
}

/// One level's verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LevelEntry {
    /// Code of the level: `SI`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub level: Level,
    /// Whether the history satisfies it.
    pub verdict: VerdictWord,
    /// Name of the engine that decided it.
    pub checker: String,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Why it is undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the verdict takes for granted: "T1 set up the initial state" where it is violated only then, or how failed
    /// compare-and-sets are read where it is another one if they are read otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assuming: Option<String>,
    /// On request (`--witness`): the commit order that explains the history. Empty at CI, where nothing needs an order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Vec<TransactionEntry>>,
    /// With a witness of PC or SI: by place of `witness`, how many of its transactions had committed when this one
    /// took its snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshots: Option<Vec<u32>>,
    /// With a witness of RC, RA or TCC: the writer of each read that has several possible ones. At the other levels the
    /// order determines it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<SourceEntry>>,
}

/// The assumed writer of a read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SourceEntry {
    /// The transaction of the read.
    pub reader: TransactionEntry,
    /// The position of the read in its transaction, from 0.
    pub operation: usize,
    /// The writer of the version it returned.
    pub writer: TransactionEntry,
}

/// A session's name as in the file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum SessionName {
    /// Most formats number sessions.
    Number(u64),
    /// Others name them.
    Name(String),
}

/// Names a transaction. ⊥, the writer of the initial versions, has the id `⊥` and neither session nor
/// index.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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

/// Names an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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

/// Number of instances by pattern id, in the order of the pattern table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Counts(
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, u64>"))] pub Vec<(String, u64)>,
);

/// Wall time in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Timings {
    /// Reading the file.
    pub read: f64,
    /// Building the index of the history.
    pub index: f64,
    /// Checking all levels.
    pub check: f64,
}
