//! Which of the counted instances are listed.

use super::{ListingEntry, WindowEntry};
use crate::checkers::Page;

/// At most `max_instances` instances of each pattern, or only those of a page.
pub fn listing(max_instances: usize, page: Option<Page>) -> ListingEntry {
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
