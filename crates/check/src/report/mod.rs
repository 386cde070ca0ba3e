//! What was found in one history, as data for scripts: the JSON report, made of findings.
//!
//! The types are the judge's (`isoscope_judge::report`), which reads reports; here they are filled in. Decides nothing,
//! and says nothing in words: sentences are added by those who tell.

mod build;
mod health;
mod listing;
mod merge;
mod statistics;
mod tally;

pub use build::{Places, Settings, of_findings, scenario, with_health};
pub use isoscope_judge::report::*;
pub use listing::listing;
pub use merge::{MergeError, merge};
pub use statistics::{ComponentEntry, STATISTICS_SCHEMA, StatisticsReport, VersionOrderEntry};
pub use tally::{TallyBy, key_of, sessions_of, tally};

pub use isoscope_model::history::grouped;

use crate::checkers::Verdict;

impl From<&Verdict> for VerdictWord {
    fn from(verdict: &Verdict) -> VerdictWord {
        match verdict {
            Verdict::Satisfied(_) => VerdictWord::Satisfied,
            Verdict::Violated => VerdictWord::Violated,
            Verdict::Undecided(_) => VerdictWord::Undecided,
        }
    }
}
