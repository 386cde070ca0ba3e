//! Reports on a share of the work, made by one of several machines.

use super::{FailedHistory, LevelEntry, SCHEMA};
use isoscope_model::levels::Level;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a report is about, if only a share of the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PartEntry {
    /// Which shard made it, from 0.
    pub shard: usize,
    /// How many shards there are.
    pub shards: usize,
    /// What was distributed to the shards.
    pub of: Dealt,
    /// Codes of the levels requested.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub levels: Vec<Level>,
}

impl PartEntry {
    /// For the shard with this number, of this many.
    pub fn new(shard: usize, shards: usize, levels: Vec<Level>) -> PartEntry {
        PartEntry {
            shard,
            shards,
            of: Dealt::Histories,
            levels,
        }
    }
}

/// What shards share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Dealt {
    /// The histories of a folder or list.
    Histories,
}

/// A history that another shard checks. In merged reports, one that no shard has checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
// A report on a share of the work has these fields, too.
#[cfg_attr(feature = "schema", schemars(extend("not" = { "properties": { "history": { "required": ["format"] } } })))]
pub struct Elsewhere {
    /// Name of this form of report.
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// The history.
    pub history: FailedHistory,
    /// The shard that has it.
    pub part: PartEntry,
    /// In merged reports: the levels requested, all undecided.
    pub levels: Vec<LevelEntry>,
}

impl Elsewhere {
    /// The history at `path` is the share of another shard.
    pub fn new(path: &str, part: PartEntry) -> Elsewhere {
        let history = FailedHistory {
            path: path.to_owned(),
        };
        Elsewhere {
            schema: SCHEMA.to_owned(),
            history,
            part,
            levels: Vec::new(),
        }
    }
}
