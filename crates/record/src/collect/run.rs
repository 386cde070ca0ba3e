//! Running sessions.

use super::barrier::Barrier;
use super::driver::{Connection, Driver, Failure};
use super::endpoint::{Endpoint, spread};
use super::options::{Barriers, ClientOptions};
use super::session::{PAUSE, Session, Shared, lock, reconnect};
use super::{CollectError, Faults, Recorder, Statistics};
use crate::generate::{Key, Step, Workload};
use isoscope_model::control::{Control, Interrupt};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Maximum number of registers that get their initial values before the run; others are created when written.
const PREPARED: u64 = 100_000;
/// How long another server may take to show what was prepared.
const CATCHING_UP: Duration = Duration::from_secs(30);
/// Keys read by one transaction at the end.
const FINAL_READS: usize = 64;

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

impl Collection {
    /// A workload run by clients with the usual options.
    pub fn new(workload: Workload) -> Collection {
        Collection {
            workload,
            time: None,
            clients: ClientOptions::default(),
        }
    }
}

/// The client of a session, and where it is.
type Connected<'a> = (&'a Endpoint<'a>, Box<dyn Connection>);

/// Runs a workload on the only server of a database, as [`collect_on`] does on several.
pub fn collect(
    driver: &dyn Driver,
    collection: &Collection,
    recorder: &Recorder,
    statistics: &Statistics,
    control: &Control,
) -> Result<(), CollectError> {
    collect_on(
        &[Endpoint::only(driver)],
        &Faults::default(),
        collection,
        recorder,
        statistics,
        control,
    )
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
    let Collection {
        workload,
        time,
        clients: options,
    } = collection;
    let registers = if workload.has_number_keys() && !workload.has_lists() {
        workload.keys.min(PREPARED)
    } else {
        0
    };
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
    let barrier = barrier(options.barriers, endpoints, workload)?;
    if barrier.is_some() {
        recorder.barriers(workload.sessions)?;
    }
    // An error of one session ends the others.
    let control = time
        .map_or(control.clone(), |time| control.with_time_limit(time))
        .branch();
    let shared = Shared {
        workload,
        options,
        recorder,
        statistics,
        control: control.clone(),
        next_process: AtomicU32::new(workload.sessions),
        barrier,
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
    if options.final_reads && !is_cancelled {
        read_everything(endpoints, shared)
    } else {
        Ok(())
    }
}

/// Why a run cannot have barriers: what makes them useless.
pub fn no_barriers(endpoints: &[Endpoint<'_>], workload: &Workload) -> Option<&'static str> {
    if workload.has_lists() {
        return Some("a workload of lists has no barriers: lists are settled by age only");
    }
    let reads_only = endpoints.iter().any(|endpoint| endpoint.read_only);
    reads_only.then_some(
        "there are no barriers with a server that accepts no writes: its clients cannot take part",
    )
}

fn barrier(
    barriers: Barriers,
    endpoints: &[Endpoint<'_>],
    workload: &Workload,
) -> Result<Option<Barrier>, CollectError> {
    let Barriers::Every(time) = barriers else {
        return Ok(None);
    };
    match no_barriers(endpoints, workload) {
        Some(why) => Err(CollectError::Sessions(why.to_owned())),
        None => Ok(Some(Barrier::new(time, workload.sessions))),
    }
}

/// Connects each session at its place. All at once: a driver program takes a while to start, and so does a handshake with
/// a server far away.
fn connect<'a>(
    endpoints: &'a [Endpoint<'a>],
    places: &[usize],
) -> Result<Vec<Connected<'a>>, CollectError> {
    let connect = |endpoint: &'a Endpoint<'a>| {
        let connection = endpoint
            .connect()
            .map_err(CollectError::database("connecting to the database"))?;
        Ok((endpoint, connection))
    };
    std::thread::scope(|scope| {
        let threads = places
            .iter()
            .map(|&place| scope.spawn(move || connect(&endpoints[place])));
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(joined).collect()
    })
}

/// What a thread returned; its panic goes on.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Reads every key that was written, on each server, in a session of its own: also when the time for the workload is
/// over, but not when the run was cancelled.
fn read_everything(endpoints: &[Endpoint<'_>], shared: &Shared<'_>) -> Result<(), CollectError> {
    let lists = shared.workload.has_lists();
    let step = |key: &Key| {
        if lists {
            Step::ReadList(*key)
        } else {
            Step::Read(*key)
        }
    };
    let steps: Vec<Step> = lock(&shared.written).iter().map(step).collect();
    let greeting = shared.barrier.as_ref().and_then(Barrier::greeting);
    shared
        .control
        .phase("reading every key that was written", 0);
    let is_over = || matches!(shared.control.check(), Err(Interrupt::Cancelled));
    for endpoint in endpoints {
        let until = Instant::now() + shared.options.patience.max(CATCHING_UP);
        let failed = CollectError::database("the final reads");
        let session = || {
            let connection = reconnect(endpoint, until, &is_over).map_err(&failed)?;
            Ok(Session::new(
                shared,
                shared.next_process.fetch_add(1, Ordering::Relaxed),
                endpoint,
                connection,
            ))
        };
        let mut reader = session()?;
        for steps in steps.chunks(FINAL_READS) {
            // A server that has just recovered may refuse a first attempt.
            let steps: Vec<Step> = greeting.into_iter().chain(steps.iter().copied()).collect();
            while let Some(failure) = reader.transaction(&steps, None)?.failure {
                if Instant::now() >= until || is_over() {
                    return Err(failed(failure));
                }
                reader = session()?;
            }
        }
    }
    Ok(())
}

/// Creates tables on the first server that accepts writes, and waits until the others show them.
fn prepare(
    endpoints: &[Endpoint<'_>],
    registers: u64,
    lists: bool,
    control: &Control,
) -> Result<(), CollectError> {
    let what = "preparing the database";
    let Some(writer) = endpoints.iter().find(|endpoint| !endpoint.read_only) else {
        return Err(CollectError::Sessions(
            "no server accepts writes: all are read-only".to_owned(),
        ));
    };
    writer
        .driver
        .prepare(registers)
        .map_err(CollectError::database(what))?;
    if endpoints.len() == 1 {
        return Ok(());
    }
    // No other run wrote this.
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let mark = Mark {
        value: now.as_nanos() as u64 & (i64::MAX as u64),
        lists,
    };
    writer
        .connect()
        .and_then(|mut client| mark.write(&mut *client))
        .map_err(CollectError::database(what))?;
    for (place, endpoint) in endpoints
        .iter()
        .enumerate()
        .filter(|(_, other)| !std::ptr::eq(*other, writer))
    {
        control.phase("waiting for the other servers", 0);
        let until = Instant::now() + CATCHING_UP;
        loop {
            let seen = endpoint
                .connect()
                .and_then(|mut client| mark.is_seen(&mut *client));
            if seen == Ok(true) {
                break;
            }
            if Instant::now() >= until || control.check().is_err() {
                let name = endpoint
                    .name
                    .map_or_else(|| format!("server {}", place + 1), str::to_owned);
                let failure = seen
                    .err()
                    .map(|failure| failure.to_string())
                    .unwrap_or_default();
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
        if self.lists {
            client.append(Self::KEY, self.value)?
        } else {
            client.write(Self::KEY, self.value)?
        }
        client.commit()
    }

    fn is_seen(self, client: &mut dyn Connection) -> Result<bool, Failure> {
        client.begin()?;
        let seen = if self.lists {
            client.read_list(Self::KEY)?.contains(&self.value)
        } else {
            client.read(Self::KEY)? == self.value
        };
        client.rollback()?;
        Ok(seen)
    }
}
