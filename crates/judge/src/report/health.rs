//! Findings about a history's health as data.

use super::{OperationEntry, TransactionEntry};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One finding about whether the history can be trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HealthEntry {
    /// What it is about: `duplicate-values`.
    pub kind: String,
    /// `warning`, `caution` or `note`.
    pub severity: String,
    /// In plain words.
    pub text: String,
    /// The exact number of occurrences; for a condition of checkers, of violations.
    pub count: u64,
    /// The first transactions it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transactions: Vec<TransactionEntry>,
    /// The first operations it is about; their transactions are places in `transactions`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationEntry>,
    /// A flag that changes what it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flag: Option<String>,
}
