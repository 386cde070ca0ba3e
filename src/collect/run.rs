//! Running sessions.

use super::driver::{Connection, Driver, Failure};
use super::endpoint::{Endpoint, spread};
use super::{CollectError, Faults, Recorder, Statistics};
use crate::control::{Control, Interrupt};
use crate::generate::{Client, Key, Observed, Step, Values, Workload};
use crate::history::Outcome;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Maximum number of registers that get their initial values before the run; others are created when written.
const PREPARED: u64 = 100_000;
/// How long another server may take to show what was prepared.
const CATCHING_UP: Duration = Duration::from_secs(30);
/// Keys read by one transaction at the end.
const FINAL_READS: usize = 64;
/// The pause between two attempts to reconnect to a database.
const PAUSE: Duration = Duration::from_millis(50);

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Collection {
    /// The transactions.
    pub workload: Workload,
    /// How long they run, from when all sessions are connected; until they are done if nothing is given.
    pub time: Option<Duration>,
    /// How clients run them.
    pub clients: ClientOptions,
}

/// How clients run their transactions.
#[derive(Clone, Copy, Debug)]
pub struct ClientOptions {
    /// How often an aborted transaction is retried, with other values.
    pub retries: u32,
    /// How long a client tries to reconnect after it lost its connection.
    pub patience: Duration,
    /// The order in which a transaction writes its keys.
    pub write_order: WriteOrder,
    /// Whether every key that was written is read at the end, on every server, when all faults are healed.
    pub final_reads: bool,
}

impl Default for ClientOptions {
    /// Transactions are tried once, by clients that wait two seconds for a lost database.
    fn default() -> ClientOptions {
        ClientOptions {
            retries: 0,
            patience: Duration::from_secs(2),
            write_order: WriteOrder::default(),
            final_reads: false,
        }
    }
}

impl Collection {
    /// A workload run by clients with the usual options.
    pub fn new(workload: Workload) -> Collection {
        Collection { workload, time: None, clients: ClientOptions::default() }
    }
}

/// The client of a session, and where it is.
type Connected<'a> = (&'a Endpoint<'a>, Box<dyn Connection>);

/// The order in which a transaction writes its keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteOrder {
    /// Ascending: no two transactions wait for each other's locks.
    #[default]
    Sorted,
    /// As the workload draws them.
    Any,
}

impl WriteOrder {
    /// Exchanges the keys that a transaction writes for each other, so that they are first written in this order. All else
    /// stays: which steps touch the same key, and which keys are touched. Keys of applications are not
    /// exchangeable.
    fn apply(self, steps: &mut [Step]) {
        if self == WriteOrder::Any || !steps.iter().all(|step| step.key().is_number()) {
            return;
        }
        let mut written: Vec<Key> = Vec::new();
        for step in steps.iter().filter(|step| step.writes()) {
            if !written.contains(&step.key()) {
                written.push(step.key());
            }
        }
        let mut sorted = written.clone();
        sorted.sort_unstable();
        for step in steps {
            if let Some(place) = written.iter().position(|key| *key == step.key()) {
                *step = step.on(sorted[place]);
            }
        }
    }
}

/// Runs a workload on the only server of a database, as [`collect_on`] does on several.
pub fn collect(
    driver: &dyn Driver,
    collection: &Collection,
    recorder: &Recorder,
    statistics: &Statistics,
    control: &Control,
) -> Result<(), CollectError> {
    collect_on(&[Endpoint::only(driver)], &Faults::default(), collection, recorder, statistics, control)
}

/// Runs a workload, with a thread for each session, and records what happened. Ends early when `control` says so; what
/// is recorded until then is a history, also after an error: running transactions have an unknown outcome.
pub fn collect_on(
    endpoints: &[Endpoint<'_>],
    faults: &Faults,
    collection: &Collection,
    recorder: &Recorder,
    statistics: &Statistics,
    control: &Control,
) -> Result<(), CollectError> {
    let Collection { workload, time, clients: options } = collection;
    let registers = if workload.has_number_keys() && !workload.has_lists() { workload.keys.min(PREPARED) } else { 0 };
    if workload.has_lists() && !endpoints.iter().all(|endpoint| endpoint.driver.has_lists()) {
        return Err(CollectError::NoLists);
    }
    let places = spread(endpoints, workload.sessions)?;
    control.phase("preparing the database", 0);
    prepare(endpoints, registers, workload.has_lists(), control)?;
    control.phase("connecting", 0);
    let connections = connect(endpoints, &places)?;
    control.phase("running transactions", workload.n_transactions());
    statistics.begin();
    // An error of one session ends the others.
    let control = time.map_or(control.clone(), |time| control.with_time_limit(time)).branch();
    let shared = Shared {
        workload,
        options,
        recorder,
        statistics,
        control: control.clone(),
        next_process: AtomicU32::new(workload.sessions),
        written: Mutex::new(BTreeSet::new()),
    };
    let shared = &shared;
    let done = AtomicBool::new(false);
    let results: Vec<Result<(), CollectError>> = std::thread::scope(|scope| {
        let faults = scope.spawn(|| {
            let result = faults.run((recorder, statistics), &done, &shared.control);
            if result.is_err() {
                shared.control.stop();
            }
            result
        });
        let run = |((session, client), (endpoint, connection))| {
            let mut session = Session::new(shared, session, endpoint, connection);
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
        let mut results: Vec<_> = threads.into_iter().map(joined).collect();
        done.store(true, Ordering::Relaxed);
        results.push(joined(faults));
        results
    });
    results.into_iter().collect::<Result<(), _>>()?;
    let is_cancelled = matches!(control.check(), Err(Interrupt::Cancelled));
    if options.final_reads && !is_cancelled { read_everything(endpoints, shared) } else { Ok(()) }
}

/// Connects each session at its place. All at once: a driver program takes a while to start, and so does a handshake with
/// a server far away.
fn connect<'a>(endpoints: &'a [Endpoint<'a>], places: &[usize]) -> Result<Vec<Connected<'a>>, CollectError> {
    let connect = |endpoint: &'a Endpoint<'a>| {
        let connection = endpoint.connect().map_err(CollectError::database("connecting to the database"))?;
        Ok((endpoint, connection))
    };
    std::thread::scope(|scope| {
        let threads = places.iter().map(|&place| scope.spawn(move || connect(&endpoints[place])));
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(joined).collect()
    })
}

/// What a thread returned; its panic goes on.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Reads every key that was written, on each server, in a session of its own: also when the time for the workload is
/// over, but not when the run was cancelled.
fn read_everything(endpoints: &[Endpoint<'_>], shared: &Shared<'_>) -> Result<(), CollectError> {
    let lists = shared.workload.has_lists();
    let step = |key: &Key| if lists { Step::ReadList(*key) } else { Step::Read(*key) };
    let steps: Vec<Step> = lock(&shared.written).iter().map(step).collect();
    shared.control.phase("reading every key that was written", 0);
    let is_over = || matches!(shared.control.check(), Err(Interrupt::Cancelled));
    for endpoint in endpoints {
        let until = Instant::now() + shared.options.patience.max(CATCHING_UP);
        let failed = CollectError::database("the final reads");
        let session = || {
            let connection = reconnect(endpoint, until, &is_over).map_err(&failed)?;
            Ok(Session::new(shared, shared.next_process.fetch_add(1, Ordering::Relaxed), endpoint, connection))
        };
        let mut reader = session()?;
        for steps in steps.chunks(FINAL_READS) {
            // A server that has just recovered may refuse a first attempt.
            while let Some(failure) = reader.transaction(steps)?.failure {
                if Instant::now() >= until || is_over() {
                    return Err(failed(failure));
                }
                reader = session()?;
            }
        }
    }
    Ok(())
}

/// Connects, again and again until then or until it is over. Errors: the last failure.
fn reconnect(
    endpoint: &Endpoint<'_>,
    until: Instant,
    is_over: &dyn Fn() -> bool,
) -> Result<Box<dyn Connection>, Failure> {
    loop {
        match endpoint.connect() {
            Err(failure) if Instant::now() >= until || is_over() => return Err(failure),
            Err(_) => std::thread::sleep(PAUSE),
            connected => return connected,
        }
    }
}

/// Creates tables on the first server that accepts writes, and waits until the others show them.
fn prepare(endpoints: &[Endpoint<'_>], registers: u64, lists: bool, control: &Control) -> Result<(), CollectError> {
    let what = "preparing the database";
    let Some(writer) = endpoints.iter().find(|endpoint| !endpoint.read_only) else {
        return Err(CollectError::Sessions("no server accepts writes: all are read-only".to_owned()));
    };
    writer.driver.prepare(registers).map_err(CollectError::database(what))?;
    if endpoints.len() == 1 {
        return Ok(());
    }
    // No other run wrote this.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mark = Mark { value: now.as_nanos() as u64 & (i64::MAX as u64), lists };
    writer.connect().and_then(|mut client| mark.write(&mut *client)).map_err(CollectError::database(what))?;
    for (place, endpoint) in endpoints.iter().enumerate().filter(|(_, other)| !std::ptr::eq(*other, writer)) {
        control.phase("waiting for the other servers", 0);
        let until = Instant::now() + CATCHING_UP;
        loop {
            let seen = endpoint.connect().and_then(|mut client| mark.is_seen(&mut *client));
            if seen == Ok(true) {
                break;
            }
            if Instant::now() >= until || control.check().is_err() {
                let name = endpoint.name.map_or_else(|| format!("server {}", place + 1), str::to_owned);
                let failure = seen.err().map(|failure| failure.to_string()).unwrap_or_default();
                return Err(CollectError::Behind { name, failure });
            }
            std::thread::sleep(PAUSE);
        }
    }
    Ok(())
}

/// What is written on one server to see when the others have it.
#[derive(Clone, Copy)]
struct Mark {
    value: u64,
    lists: bool,
}

impl Mark {
    /// No workload uses it.
    const KEY: Key = Key(i64::MAX as u64);

    fn write(self, client: &mut dyn Connection) -> Result<(), Failure> {
        client.begin()?;
        match self.lists {
            true => client.append(Self::KEY, self.value)?,
            false => client.write(Self::KEY, self.value)?,
        }
        client.commit()
    }

    fn is_seen(self, client: &mut dyn Connection) -> Result<bool, Failure> {
        client.begin()?;
        let seen = match self.lists {
            true => client.read_list(Self::KEY)?.contains(&self.value),
            false => client.read(Self::KEY)? == self.value,
        };
        client.rollback()?;
        Ok(seen)
    }
}

fn lock(keys: &Mutex<BTreeSet<Key>>) -> MutexGuard<'_, BTreeSet<Key>> {
    keys.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What all sessions share.
struct Shared<'a> {
    workload: &'a Workload,
    options: &'a ClientOptions,
    recorder: &'a Recorder,
    statistics: &'a Statistics,
    control: Control,
    /// The number of the next client that follows one whose transaction had an unknown outcome.
    next_process: AtomicU32,
    /// The keys that some session wrote, or may have written; kept for the final reads only.
    written: Mutex<BTreeSet<Key>>,
}

/// One session.
struct Session<'a> {
    shared: &'a Shared<'a>,
    endpoint: &'a Endpoint<'a>,
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
    fn new(
        shared: &'a Shared<'a>,
        session: u32,
        endpoint: &'a Endpoint<'a>,
        connection: Box<dyn Connection>,
    ) -> Session<'a> {
        let values = Values::new(session, shared.workload.sessions);
        let session = Session { shared, endpoint, process: session, values, known: FxHashMap::default(), connection };
        session.place();
        session
    }

    /// Tells the recorder where this process is.
    fn place(&self) {
        if let Some(name) = self.endpoint.name {
            self.shared.recorder.place(self.process, name);
        }
    }

    fn run(&mut self, client: Client) -> Result<(), CollectError> {
        for steps in client {
            let mut steps = self.endpoint.steps(steps);
            self.shared.options.write_order.apply(&mut steps);
            if self.shared.options.final_reads {
                let written = steps.iter().filter(|step| step.writes()).map(|step| step.key());
                lock(&self.shared.written).extend(written);
            }
            for _ in 0..=self.shared.options.retries {
                if self.shared.control.check().is_err() {
                    return Ok(());
                }
                let attempt = self.transaction(&steps)?;
                if attempt.outcome == Outcome::Unknown {
                    self.process = self.shared.next_process.fetch_add(1, Ordering::Relaxed);
                    self.place();
                }
                if attempt.failure.is_some_and(|failure| !self.recover(&failure)) {
                    // At the end of the run no more is tried.
                    if self.shared.control.check().is_ok() {
                        self.shared.statistics.lose_session();
                    }
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
        let until = Instant::now() + self.shared.options.patience;
        match reconnect(self.endpoint, until, &|| self.shared.control.check().is_err()) {
            Ok(connection) => {
                self.connection = connection;
                true
            }
            Err(_) => false,
        }
    }
}
