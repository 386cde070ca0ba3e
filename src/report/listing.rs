//! Which of the counted instances are listed.

use crate::checkers::Page;
use serde::{Deserialize, Serialize};

/// Which of the counted instances a report lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListingEntry {
    /// What the numbers under `patterns` count.
    pub counted: String,
    /// What is listed under `violations`.
    pub listed: String,
    /// Most instances listed of a pattern.
    pub max_instances: usize,
    /// The pattern whose instances were asked for, with how many come before and how many were asked for. Listed are
    /// these only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowEntry>,
    /// How many instances have something in common, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tally: Option<super::Tally>,
}

/// A window of the instances of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowEntry {
    /// Its id.
    pub pattern: String,
    /// How many instances come before.
    pub offset: u64,
    /// Most instances.
    pub limit: u64,
}

impl ListingEntry {
    /// At most so many instances of each pattern, or those of a page only.
    pub fn new(max_instances: usize, page: Option<Page>) -> ListingEntry {
        let window =
            page.map(|Page { pattern, offset, limit }| WindowEntry { pattern: pattern.id().to_owned(), offset, limit });
        ListingEntry {
            counted: "every instance".to_owned(),
            listed: match window {
                Some(_) => "the instances of the window",
                None => "the smallest instance of each root cause, up to 1000 of a pattern, then other instances",
            }
            .to_owned(),
            max_instances,
            window,
            tally: None,
        }
    }
}
