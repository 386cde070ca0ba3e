//! Histories from real databases.
//!
//! [`collect`] runs the sessions of a [`Workload`](crate::generate::Workload), with a thread and a connection for each,
//! through a [`Driver`], and records what happened ([`Recorder`]); [`Statistics`] show its progress, a
//! [`Control`](isoscope_model::control::Control) ends it. [`collect_on`] does so on several servers ([`Endpoint`]), each with sessions
//! of its own, while [`Faults`] break and heal things. [`DATABASES`] is the table of databases: adding one is a row and a
//! file.
//!
//! Only what a client can know about an outcome is recorded:
//!
//! | what happened | outcome |
//! |---|---|
//! | the commit was acknowledged | committed |
//! | a statement failed, or the connection broke, before a commit was sent | aborted |
//! | the database answered the commit: rolled back | aborted |
//! | no answer to the commit, or one that leaves it open | unknown |
//!
//! A transaction ends at its first failure: databases that have rolled back by themselves would run the rest outside of
//! it. A retry is a separate transaction with its own values, or aborted reads could not be distinguished from others.
//! A transaction of unknown outcome is followed by a new session, since it may still take effect.
//!
//! With [`Barriers`], clients wait for each other now and then until each sees what every other one has done, so that a check of
//! the growing recording can settle what was before.
//!
//! [`simulate`] records a store model of `generate` the same way, for experiments without a database.
//!
//! Nothing here knows how histories are checked or read.

mod address;
mod barrier;
mod conformance;
mod database;
mod driver;
mod endpoint;
mod fault;
mod fault_form;
mod model;
#[cfg(feature = "mysql")]
mod mysql;
mod options;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod passwords;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(target_os = "linux")]
mod process;
mod program;
pub mod protocol;
mod recorder;
#[cfg(feature = "redis")]
mod redis;
mod relay;
mod run;
mod session;
#[cfg(feature = "sqlite")]
mod sqlite;
mod statistics;
#[cfg(any(feature = "postgres", feature = "mysql", feature = "redis"))]
mod tls;

pub use address::without_password;
pub use conformance::{Requirement, conformance};
pub use database::{DATABASES, Database, OpenFunction, database};
pub use driver::{Connection, Driver, Failure, Isolation};
pub use endpoint::{Address, Endpoint, servers};
pub use fault::{Action, Fault, Faults, Named};
pub use fault_form::{FaultForm, FaultKind, FaultPlan};
pub use model::simulate;
pub use options::{BARRIERS, Barriers, ClientOptions, WriteOrder};
pub use recorder::Recorder;
pub use relay::{Mode, Relay};
pub use run::{Collection, collect, collect_on, no_barriers};
pub use statistics::{Counts, FaultTime, Snapshot, Statistics};

use crate::generate::GenerateError;

/// Why a run cannot begin or continue. What is recorded until then is kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CollectError {
    /// No driver for such an address.
    #[error("`{url}` is no address of a database, expected one like {known}")]
    UnknownDatabase {
        /// The address, without its password.
        url: String,
        /// Examples.
        known: String,
    },
    /// The program was built without the driver.
    #[error("this program was built without support for {0}: build it with `--features databases`")]
    NotBuilt(&'static str),
    /// The address is wrong.
    #[error("the address of the database: {0}")]
    Address(String),
    /// The database has no such level.
    #[error("{database} has no isolation level `{name}` here, expected one of {known}")]
    UnknownIsolation {
        /// Which database.
        database: &'static str,
        /// The level requested.
        name: String,
        /// The levels it has.
        known: String,
    },
    /// The database fails at something every run needs.
    #[error("{what}: {failure}")]
    Database {
        /// What was tried.
        what: &'static str,
        /// The answer of the database.
        failure: String,
    },
    /// The sessions cannot be spread over the servers.
    #[error("{0}")]
    Sessions(String),
    /// A server does not show what was written on another one.
    #[error("{name} does not show what was written for this run{}", if failure.is_empty() { String::new() } else { format!(": {failure}") })]
    Behind {
        /// The server.
        name: String,
        /// Its last failure, if any.
        failure: String,
    },
    /// The driver has no lists, but the workload appends to them.
    #[error("the workload needs lists, which this driver does not have")]
    NoLists,
    /// A fault is not described as it should be.
    #[error("the fault {0}")]
    FaultForm(String),
    /// A fault could not be made or healed.
    #[error("the fault {what}: {why}")]
    Fault {
        /// What was tried.
        what: String,
        /// What went wrong.
        why: String,
    },
    /// The store model cannot run this.
    #[error(transparent)]
    Store(GenerateError),
    /// The history cannot be recorded any further.
    #[error("recording the history: {0}")]
    Recording(String),
}

impl CollectError {
    fn recording(error: &std::io::Error) -> CollectError {
        CollectError::Recording(error.to_string())
    }

    fn database(what: &'static str) -> impl Fn(Failure) -> CollectError {
        move |failure| CollectError::Database {
            what,
            failure: failure.to_string(),
        }
    }
}
