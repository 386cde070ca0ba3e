//! What is said about a history while it is followed, as data for scripts: `check --follow --json`.

use super::{VerdictWord, ViolationEntry, json};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::io;

/// Name of this form of report.
pub const FOLLOWED_SCHEMA: &str = "isoscope.followed/1";

/// One thing said about a history while it is followed. `isoscope check --follow --json` prints an object for each, on a
/// line of its own; the last one is `end`. Later versions may add fields and events; a program should ignore those that it
/// does not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(title = "IsoScope event of a history that is followed")
)]
pub struct Followed {
    /// Name of this form of report.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FOLLOWED_SCHEMA)))]
    pub schema: String,
    /// What is said.
    #[serde(flatten)]
    pub event: FollowedEvent,
}

impl Followed {
    /// A line that says this.
    pub fn new(event: FollowedEvent) -> Followed {
        Followed {
            schema: FOLLOWED_SCHEMA.to_owned(),
            event,
        }
    }

    /// Writes it as one line, newline included.
    pub fn to_line(&self, out: &mut dyn io::Write) -> io::Result<()> {
        json::write_line(self, out)
    }
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum FollowedEvent {
    /// How far it is, every second in which something changed.
    Progress(Progress),
    /// The answer at a level is another one. Before its first change, a level is satisfied so far.
    Answer(AnswerChange),
    /// A level is violated, whatever comes.
    Violation(Box<FoundViolation>),
    /// Following has ended.
    End(FollowedEnd),
}

/// How far a follower is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Progress {
    /// Number of lines read.
    pub lines: u32,
    /// Number of transactions that count in the answers.
    pub delivered: u64,
    /// Number of transactions that have begun and not ended.
    pub open: usize,
    /// Number of transactions that have ended and wait for one that they read from, or for the one before them in their
    /// session.
    pub waiting: usize,
    /// What the oldest of those needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<AwaitedVersion>,
    /// Number of transactions in memory, at the level that keeps the most.
    pub remembered: usize,
    /// Number of transactions that the level that keeps the least has settled.
    pub settled: u64,
    /// The answers so far, weakest level first.
    pub levels: Vec<FollowedLevel>,
}

/// A version for which a transaction waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AwaitedVersion {
    /// The line on which the transaction ended.
    pub line: u32,
    /// Its session.
    pub session: String,
    /// The key that it read.
    pub key: String,
    /// The value that it read.
    pub value: String,
    /// Whether a transaction that wrote the value has ended, and waits itself.
    pub writer_waits: bool,
}

/// The answer at one level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FollowedLevel {
    /// Code of the level: `SI`.
    pub level: String,
    /// Whether the transactions that count satisfy it. Violated stays so, unless a value
    /// that the evidence reads is written again.
    pub verdict: VerdictWord,
    /// Where it is undecided: the number of reads left out, without which it is satisfied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
    /// Why it is undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A level's new answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AnswerChange {
    /// The line of the transaction with which it changed; 0 for the end of the history.
    pub line: u32,
    /// The answer.
    #[serde(flatten)]
    pub answer: FollowedLevel,
}

/// A violation, with the smallest part of the history found that shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FoundViolation {
    /// Codes of the levels that were found violated by it at once.
    pub levels: Vec<String>,
    /// The line of the transaction with which it was decided.
    pub line: u32,
    /// Seconds from the moment at which that line was recorded to the verdict, where the program itself records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_seconds: Option<f64>,
    /// The transaction's session.
    pub session: String,
    /// The id of its pattern, where known: `TAP-m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// What happened, in a few words.
    pub title: String,
    /// Why it is a contradiction, in a sentence; empty where the evidence was not found in time or is forgotten.
    pub summary: String,
    /// Whether a transaction read a version that all sessions had passed: `isoscope check` shows the evidence.
    pub forgotten: bool,
    /// The counterexample, a history as `isoscope schema history` describes it. Absent where it was not found in time or
    /// is forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<Json>,
    /// The argument, in terms of that history, as in the report of a check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violation: Option<ViolationEntry>,
}

/// What is known when following has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FollowedEnd {
    /// The history's path, as given.
    pub path: String,
    /// Number of lines read.
    pub lines: u32,
    /// Number of transactions that count in the verdicts.
    pub delivered: u64,
    /// Number of transactions that the level that keeps the least has settled.
    pub settled: u64,
    /// The verdicts, weakest level first.
    pub levels: Vec<FollowedLevel>,
    /// What the verdicts rest on.
    pub assumptions: Vec<String>,
    /// Why the end of the history was not followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
