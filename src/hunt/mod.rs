//! Rounds of a workload: each is run and recorded with the next seed, and what was recorded is checked, until a violation
//! appears.
//!
//! A [`Target`] says where to run, a real database or a store model; [`Opened`] is one that answers, at an isolation level
//! with what it promises there. [`Hunt`] hands out [`Round`]s; the caller [records](Hunt::record) and
//! [judges](judge) each and lets it be [settled](Hunt::settle), telling between these steps how it goes.

mod rounds;
mod target;

pub use rounds::{Hunt, Judged, Plan, Round, judge, simplest_violation};
pub use target::{Opened, Target};

use crate::collect::CollectError;
use crate::formats::OpenError;

/// Why a hunt cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum HuntError {
    /// The database cannot be used as asked for.
    #[error(transparent)]
    Target(#[from] CollectError),
    /// The database does not answer.
    #[error("{url}: {failure}")]
    NoAnswer {
        /// Its address, without the password.
        url: String,
        /// What happened.
        failure: String,
    },
    /// A file cannot be made or taken away.
    #[error("{path}: {problem}")]
    File {
        /// Which.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The run broke off.
    #[error("{path} (what was recorded until then is kept): {error}")]
    BrokenOff {
        /// Where it was recorded.
        path: String,
        /// Why.
        error: CollectError,
    },
    /// What was recorded cannot be read.
    #[error(transparent)]
    Unreadable(#[from] OpenError),
}
