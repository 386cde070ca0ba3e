//! Running sessions.

use super::driver::{Connection, Driver, Failure};
use super::{CollectError, Recorder, Statistics};
use crate::control::Control;
use crate::generate::{Client, Key, Observed, Step, Values, Workload};
use crate::history::Outcome;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Maximum number of registers that get their initial values before the run; others are created when written.
const PREPARED: u64 = 100_000;
/// The pause between two attempts to reconnect to a database.
const PAUSE: Duration = Duration::from_millis(50);

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Collection {
    /// What clients do.
    pub workload: Workload,
    /// How often an aborted transaction is retried, with other values.
    pub retries: u32,
    /// How long a client tries to reconnect after it lost its connection.
    pub patience: Duration,
}

impl Collection {
    /// A workload whose transactions are tried once, by clients that wait two seconds for a lost database.
    pub fn new(workload: Workload) -> Collection {
        Collection { workload, retries: 0, patience: Duration::from_secs(2) }
    }
}

/// Runs a workload, with a thread for each session, and records what happened. Ends early when `control` says so; what
/// is recorded until then is a history, also after an error: running transactions have an unknown outcome.
pub fn collect(
    driver: &dyn Driver,
    collection: &Collection,
    recorder: &Recorder,
    statistics: &Statistics,
    control: &Control,
) -> Result<(), CollectError> {
    let workload = &collection.workload;
    let registers = if workload.has_number_keys() && !workload.has_lists() { workload.keys.min(PREPARED) } else { 0 };
    control.phase("preparing the database", 0);
    driver.prepare(registers).map_err(CollectError::database("preparing the database"))?;
    let connect = |_| driver.connect().map_err(CollectError::database("connecting to the database"));
    let connections: Vec<_> = (0..workload.sessions).map(connect).collect::<Result<_, _>>()?;
    control.phase("running transactions", workload.n_transactions());
    let shared = Shared {
        driver,
        collection,
        recorder,
        statistics,
        // An error of one session ends the others.
        control: control.branch(),
        next_process: AtomicU32::new(workload.sessions),
    };
    let shared = &shared;
    let results: Vec<Result<(), CollectError>> = std::thread::scope(|scope| {
        let run = |((session, client), connection)| {
            let mut session = Session::new(shared, session, connection);
            scope.spawn(move || {
                let result = session.run(client);
                if result.is_err() {
                    shared.control.stop();
                }
                result
            })
        };
        let clients = (0..workload.sessions).zip(workload.clients());
        let threads: Vec<_> = clients.zip(connections).map(run).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    results.into_iter().collect()
}

/// What all sessions share.
struct Shared<'a> {
    driver: &'a dyn Driver,
    collection: &'a Collection,
    recorder: &'a Recorder,
    statistics: &'a Statistics,
    control: Control,
    /// The number of the next client that follows one whose transaction had an unknown outcome.
    next_process: AtomicU32,
}

/// One session.
struct Session<'a> {
    shared: &'a Shared<'a>,
    process: u32,
    values: Values,
    /// The value last seen of each key, for comparisons.
    known: FxHashMap<Key, u64>,
    connection: Box<dyn Connection>,
}

/// How a transaction went.
struct Attempt {
    observed: Vec<Observed>,
    outcome: Outcome,
    failure: Option<Failure>,
}

impl<'a> Session<'a> {
    fn new(shared: &'a Shared<'a>, session: u32, connection: Box<dyn Connection>) -> Session<'a> {
        let values = Values::new(session, shared.collection.workload.sessions);
        Session { shared, process: session, values, known: FxHashMap::default(), connection }
    }

    fn run(&mut self, client: Client) -> Result<(), CollectError> {
        for steps in client {
            for _ in 0..=self.shared.collection.retries {
                if self.shared.control.check().is_err() {
                    return Ok(());
                }
                let attempt = self.transaction(&steps)?;
                if attempt.outcome == Outcome::Unknown {
                    self.process = self.shared.next_process.fetch_add(1, Ordering::Relaxed);
                }
                if attempt.failure.is_some_and(|failure| !self.recover(&failure)) {
                    self.shared.statistics.lose_session();
                    return Ok(());
                }
                if attempt.outcome != Outcome::Aborted {
                    break;
                }
            }
            self.shared.control.advance(1);
        }
        Ok(())
    }

    /// Runs and records one transaction.
    fn transaction(&mut self, steps: &[Step]) -> Result<Attempt, CollectError> {
        let begin = Instant::now();
        let values: Vec<u64> = steps.iter().filter(|step| step.writes()).map(|_| self.values.fresh()).collect();
        self.shared.recorder.invoke(self.process, steps, &values)?;
        let attempt = self.attempt(steps, &values);
        let error = attempt.failure.as_ref().map(Failure::to_string);
        self.shared.recorder.complete(self.process, attempt.outcome, &attempt.observed, error.as_deref())?;
        self.shared.statistics.count(attempt.outcome, attempt.observed.len(), begin.elapsed());
        Ok(attempt)
    }

    fn attempt(&mut self, steps: &[Step], values: &[u64]) -> Attempt {
        let mut observed = Vec::with_capacity(steps.len());
        // Before a commit is sent nothing can take effect, whatever fails.
        if let Err(failure) = self.operations(steps, values, &mut observed) {
            return Attempt { observed, outcome: Outcome::Aborted, failure: Some(failure) };
        }
        let (outcome, failure) = match self.connection.commit() {
            Ok(()) => (Outcome::Committed, None),
            Err(failure @ Failure::Refused(_)) => (Outcome::Aborted, Some(failure)),
            Err(failure @ Failure::Broken(_)) => (Outcome::Unknown, Some(failure)),
        };
        Attempt { observed, outcome, failure }
    }

    /// Everything before the commit. A write that fails was tried: another transaction may have seen it.
    fn operations(&mut self, steps: &[Step], values: &[u64], observed: &mut Vec<Observed>) -> Result<(), Failure> {
        self.connection.begin()?;
        let mut values = values.iter().copied();
        for &step in steps {
            let value = if step.writes() { values.next().unwrap_or_default() } else { 0 };
            match step {
                Step::Read(key) => observed.push(Observed::Read(key, self.connection.read(key)?)),
                Step::ReadList(key) => observed.push(Observed::ReadList(key, self.connection.read_list(key)?)),
                Step::Write(key) => {
                    observed.push(Observed::Write(key, value));
                    self.connection.write(key, value)?;
                }
                Step::Append(key) => {
                    observed.push(Observed::Append(key, value));
                    self.connection.append(key, value)?;
                }
                Step::CompareAndSet(key) | Step::Insert(key) => {
                    let found = self.connection.read(key)?;
                    observed.push(Observed::Read(key, found));
                    let known = self.known.insert(key, found).unwrap_or_default();
                    if found == if matches!(step, Step::Insert(_)) { 0 } else { known } {
                        observed.push(Observed::Write(key, value));
                        self.connection.write(key, value)?;
                        self.known.insert(key, value);
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes the session ready for its next transaction; returns whether that was possible.
    fn recover(&mut self, failure: &Failure) -> bool {
        if matches!(failure, Failure::Refused(_)) && self.connection.rollback().is_ok() {
            return true;
        }
        let until = Instant::now() + self.shared.collection.patience;
        loop {
            if let Ok(connection) = self.shared.driver.connect() {
                self.connection = connection;
                return true;
            }
            if Instant::now() >= until || self.shared.control.check().is_err() {
                return false;
            }
            std::thread::sleep(PAUSE);
        }
    }
}
