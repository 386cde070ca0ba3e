//! Which of the counted instances are listed, and how many have something in common.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which of the counted instances a report lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ListingEntry {
    /// What the numbers under `patterns` count.
    pub counted: String,
    /// What is listed under `violations`.
    pub listed: String,
    /// Maximum number of instances listed per pattern.
    pub max_instances: usize,
    /// The requested window of one pattern's instances. Only these are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowEntry>,
    /// How many instances have something in common, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tally: Option<Tally>,
}

/// A window of the instances of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WindowEntry {
    /// The pattern's id.
    pub pattern: String,
    /// How many instances precede it.
    pub offset: u64,
    /// Maximum number of instances.
    pub limit: u64,
}

/// Counts by one thing, most instances first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Tally {
    /// "level", "key", "session" or "cause".
    pub by: String,
    /// One for each that occurs.
    pub rows: Vec<TallyRow>,
    /// Whether a limit ended the work before all instances were looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// How many instances have one thing in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TallyRow {
    /// What: "RA", "key 4", "sessions 1, 2", "TAP-k/3".
    pub name: String,
    /// How many, of all patterns.
    pub instances: u64,
    /// By pattern.
    pub patterns: BTreeMap<String, u64>,
}
