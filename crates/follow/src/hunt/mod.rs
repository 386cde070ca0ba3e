//! Rounds of a workload: each is run and recorded with the next seed, and the recording is checked, until a violation
//! appears.
//!
//! A [`Target`] says where to run, a real database or a store model; [`Opened`] is one that responds, at an isolation
//! level with its promise. [`Hunt`] yields [`Round`]s; the caller [records](Hunt::record), [judges](judge) and
//! [settles](Hunt::settle) each, reporting progress between these steps. With [`Live`], a recording is checked while it
//! grows, too, and [`follow`] does the same with a file of another program.

mod live;
mod rounds;
mod shrink;
mod target;

pub use live::{Live, News, Of, follow, followable};
pub use rounds::{Hunt, Judged, Plan, Round, judge, simplest_violation};
pub use shrink::smaller;
pub use target::{Opened, Target, arguments};

use isoscope_formats::OpenError;
use isoscope_record::collect::CollectError;

/// Why a hunt cannot begin or continue.
#[derive(Debug, thiserror::Error)]
pub enum HuntError {
    /// The database cannot be used as requested.
    #[error(transparent)]
    Target(#[from] CollectError),
    /// The database does not respond.
    #[error("{url}: {failure}")]
    NoAnswer {
        /// Its address, without the password.
        url: String,
        /// What happened.
        failure: String,
    },
    /// A file cannot be created or removed.
    #[error("{path}: {problem}")]
    File {
        /// Its path.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The run was aborted.
    #[error("{path} (what was recorded until then is kept): {error}")]
    BrokenOff {
        /// Where it was recorded.
        path: String,
        /// Why.
        error: CollectError,
    },
    /// The recording cannot be read.
    #[error(transparent)]
    Unreadable(#[from] OpenError),
}
