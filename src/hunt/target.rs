//! Where workloads are run.

use super::HuntError;
use crate::checkers::Level;
use crate::collect::{self, Collection, Driver, Recorder, Snapshot, Statistics};
use crate::control::Control;
use crate::generate::{Generation, Injection, Model, Workload};
use std::path::Path;
use std::time::Duration;

/// Where to run a workload. It may hold a password, so it is never shown: [`Opened`] is.
#[derive(Clone)]
pub enum Target {
    /// A real database.
    Database {
        /// Its address.
        url: String,
        /// Isolation level; the strongest if none is named.
        isolation: Option<String>,
        /// How often an aborted transaction is retried.
        retries: u32,
        /// How long a client tries to reconnect to a lost database.
        patience: Duration,
    },
    /// A store in memory.
    Store {
        /// What it promises.
        model: Model,
        /// What goes wrong anyway.
        faults: Vec<Injection>,
    },
}

/// A database or store that can be used, at an isolation level.
pub struct Opened {
    /// Name of the product.
    pub name: &'static str,
    /// Product and version, as reported by the server.
    pub version: String,
    /// Name of the isolation level.
    pub isolation: &'static str,
    /// The strongest level promised there, if it can be checked.
    pub promise: Option<Level>,
    place: Place,
}

enum Place {
    Database { driver: Box<dyn Driver>, url: String, retries: u32, patience: Duration },
    Store { model: Model, faults: Vec<Injection> },
}

impl Target {
    /// Connects to the database. Errors: it does not respond, or there is no such database or level.
    pub fn open(&self) -> Result<Opened, HuntError> {
        let (url, isolation, retries, patience) = match self {
            Target::Database { url, isolation, retries, patience } => (url, isolation, *retries, *patience),
            Target::Store { model, faults } => {
                return Ok(Opened {
                    name: "store in memory",
                    version: "store in memory".to_owned(),
                    isolation: model.name(),
                    promise: model.promises().parse().ok(),
                    place: Place::Store { model: *model, faults: faults.clone() },
                });
            }
        };
        let database = collect::database(url)?;
        let isolation = database.isolation(isolation.as_deref())?;
        let driver = database.open(url, isolation)?;
        let url = collect::without_password(url);
        let version = driver.version();
        let version =
            version.map_err(|failure| HuntError::NoAnswer { url: url.clone(), failure: failure.to_string() })?;
        Ok(Opened {
            name: database.name,
            version,
            isolation: isolation.name,
            promise: isolation.promises.and_then(|code| code.parse().ok()),
            place: Place::Database { driver, url, retries, patience },
        })
    }
}

impl Opened {
    /// Runs a workload and records it in a new file. `statistics` show its progress; it ends early when `control` says
    /// so, and what was recorded until then is a history.
    pub fn record(
        &self,
        workload: Workload,
        path: &Path,
        statistics: &Statistics,
        control: &Control,
    ) -> Result<Snapshot, HuntError> {
        let shown = || path.display().to_string();
        let recorder = Recorder::create(path, &self.about(&workload))
            .map_err(|error| HuntError::File { path: shown(), problem: error.to_string() })?;
        let result = match &self.place {
            Place::Database { driver, retries, patience, .. } => {
                let collection = Collection { workload, retries: *retries, patience: *patience };
                collect::collect(&**driver, &collection, &recorder, statistics, control)
            }
            Place::Store { model, faults } => {
                let generation = Generation { faults: faults.clone(), ..Generation::new(workload, *model) };
                collect::simulate(&generation, &recorder, statistics, control)
            }
        };
        result.map_err(|error| HuntError::BrokenOff { path: shown(), error })?;
        Ok(statistics.snapshot())
    }

    /// The first line of a recording.
    fn about(&self, workload: &Workload) -> String {
        let place = match &self.place {
            Place::Database { url, .. } => format!("{} on {url}", self.name),
            Place::Store { faults, .. } if faults.is_empty() => "no faults".to_owned(),
            Place::Store { faults, .. } => {
                let faults: Vec<String> = faults.iter().map(|i| format!("{}={}", i.fault.name, i.times)).collect();
                format!("faults {}", faults.join(", "))
            }
        };
        let Workload { kind, seed, sessions, transactions, keys, distribution, .. } = workload;
        format!(
            "isoscope: {} at {}, {place}; workload {kind}, seed {seed}, {sessions} sessions of {transactions} transactions, \
             {keys} keys, {distribution}",
            self.version, self.isolation
        )
    }
}
