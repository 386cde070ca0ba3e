//! What the rules of a workload say about a history.

use isoscope_model::history::{Answer, Fact, History, Shown};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a log is about, and what the rules of such a test say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WorkloadEntry {
    /// Its name: `set`.
    pub name: String,
    /// Why isolation levels are undecided; left out where its operations are reads and writes of items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_levels: Option<String>,
    /// What Jepsen's own checkers of this workload answer, by their names: `valid`, `invalid` or `unknown`.
    pub like_jepsen: BTreeMap<String, String>,
    /// What was found.
    pub findings: Vec<FactEntry>,
}

/// Something that the rules of a workload see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FactEntry {
    /// Workload, finding and number: `set/lost/1`.
    pub id: String,
    /// The key, where the workload is about each key by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The elements, values or messages that it concerns.
    pub about: Vec<String>,
    /// In words.
    pub statement: String,
    /// The calls that show it.
    pub calls: Vec<ShownEntry>,
    /// Whether the rules call it invalid; else it is only said.
    pub invalid: bool,
}

/// A call that shows what the rules of a workload see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ShownEntry {
    /// The transaction that it is.
    pub transaction: String,
    /// What was asked and answered, in the words of the log.
    pub said: String,
}

impl WorkloadEntry {
    /// What the workload of a history says, if it has one.
    pub fn of(history: &History) -> Option<WorkloadEntry> {
        let workload = history.workload()?;
        let call = |shown: &Shown| ShownEntry {
            transaction: history.transaction_name(shown.transaction),
            said: shown.said.clone(),
        };
        let entry = |(fact, id): (&Fact, String)| FactEntry {
            id,
            key: fact.key.clone(),
            about: fact.about.clone(),
            statement: fact.statement.clone(),
            calls: fact.calls.iter().map(call).collect(),
            invalid: fact.counts,
        };
        let answers = workload.like_jepsen.iter();
        Some(WorkloadEntry {
            name: workload.name.to_owned(),
            no_levels: workload.no_levels.map(str::to_owned),
            findings: workload
                .facts
                .iter()
                .zip(workload.ids())
                .map(entry)
                .collect(),
            like_jepsen: answers
                .map(|(rule, answer): &(&str, Answer)| {
                    ((*rule).to_owned(), answer.word().to_owned())
                })
                .collect(),
        })
    }
}
