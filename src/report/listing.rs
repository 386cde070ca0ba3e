//! Which of the counted instances are listed.

use crate::checkers::Page;
#[cfg(feature = "cli")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which of the counted instances a report lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(JsonSchema))]
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
    pub tally: Option<super::Tally>,
}

/// A window of the instances of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(JsonSchema))]
pub struct WindowEntry {
    /// The pattern's id.
    pub pattern: String,
    /// How many instances precede it.
    pub offset: u64,
    /// Maximum number of instances.
    pub limit: u64,
}

impl ListingEntry {
    /// At most `max_instances` instances of each pattern, or only those of a page.
    pub fn new(max_instances: usize, page: Option<Page>) -> ListingEntry {
        let window = page.map(
            |Page {
                 pattern,
                 offset,
                 limit,
             }| WindowEntry {
                pattern: pattern.id().to_owned(),
                offset,
                limit,
            },
        );
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
