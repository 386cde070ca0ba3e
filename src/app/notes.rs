//! What the user writes about anomalies: bookmarks, notes and tags.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The notes on one anomaly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Marked to be found again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bookmarked: bool,
    /// Free text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Words by which anomalies are grouped.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<String>,
}

/// By the anomaly's identity.
pub type Notes = BTreeMap<String, Note>;

impl Note {
    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        *self == Note::default()
    }

    /// Whether a word of the filter matches it.
    pub fn answers(&self, word: &str) -> bool {
        match word.split_once(':') {
            Some(("is", "bookmarked")) => self.bookmarked,
            Some(("is", "noted")) => !self.text.trim().is_empty(),
            Some(("tag", tag)) => self.tags.iter().any(|own| own.to_lowercase() == tag),
            _ => false,
        }
    }
}
