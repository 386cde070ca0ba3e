//! Barriers of real clients: what is recorded, what a follower makes of it, and that no client waits for ever.
#![cfg(all(unix, feature = "sqlite"))]

use crate::common;

use common::examine::check;
use common::postgres;
use isoscope::checkers::{Level, Verdict};
use isoscope::collect::{
    Barriers, ClientOptions, CollectError, Collection, Connection, Driver, Endpoint, Failure,
    Faults, Recorder, Snapshot, Statistics, collect_on, database,
};
use isoscope::control::Control;
use isoscope::follow::{Answer, Follower, Options, Stream};
use isoscope::formats::{self, Request};
use isoscope::generate::{Key, Kind, Length, Workload};
use isoscope::history::{History, Outcome, fences};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

fn driver(url: &str, isolation: &str) -> Box<dyn Driver> {
    let row = database(url).expect("a known database");
    row.open(url, row.isolation(Some(isolation)).expect("a level"))
        .expect("the driver opens")
}

/// Transactions on few keys.
fn busy() -> Workload {
    let operations = Length { least: 2, most: 4 };
    Workload {
        seed: 5,
        sessions: 4,
        transactions: 1500,
        operations,
        keys: 20,
        ..Workload::default()
    }
}

/// What a run left.
struct Left {
    text: String,
    history: History,
    snapshot: Snapshot,
    took: Duration,
}

fn run(driver: &dyn Driver, workload: Workload, every: Duration, time: Duration) -> Left {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("history.edn");
    let recorder = Recorder::create(&path, "a test").expect("the file can be made");
    let statistics = Statistics::default();
    let patience = Duration::from_millis(300);
    let clients = ClientOptions {
        barriers: Barriers::Every(every),
        patience,
        final_reads: true,
        ..ClientOptions::default()
    };
    let collection = Collection {
        workload,
        time: Some(time),
        clients,
    };
    let (endpoints, begin) = ([Endpoint::only(driver)], Instant::now());
    collect_on(
        &endpoints,
        &Faults::default(),
        &collection,
        &recorder,
        &statistics,
        &Control::new(),
    )
    .expect("the run ends");
    let took = begin.elapsed();
    let history = formats::open(
        &path,
        Request {
            format: None,
            rules: None,
        },
        &Control::new(),
    )
    .expect("a history");
    let text = std::fs::read_to_string(&path).expect("text");
    Left {
        text,
        history,
        snapshot: statistics.snapshot(),
        took,
    }
}

/// Follows a recording without a horizon: the follower, and the most that it remembered at once.
fn followed(text: &str) -> (Follower, usize) {
    let options = Options {
        levels: vec![Level::Serializability],
        horizon: None,
        ..Options::default()
    };
    let mut stream = Stream::new("made.edn", None).expect("a stream");
    let (mut follower, mut records, mut most) = (Follower::new(options), Vec::new(), 0);
    for piece in text.as_bytes().chunks(10_000) {
        stream.push(piece, &mut records).expect("a recording");
        records
            .drain(..)
            .for_each(|record| follower.take(record, stream.names()));
        most = most.max(follower.status().remembered);
    }
    stream.finish(&mut records).expect("a recording");
    records
        .drain(..)
        .for_each(|record| follower.take(record, stream.names()));
    follower.finish(stream.names());
    (follower, most)
}

fn assert_serializable(left: &Left) {
    let findings = check(&left.history);
    let verdict = &findings
        .level(Level::Serializability)
        .expect("it was checked")
        .verdict;
    assert!(
        matches!(verdict, Verdict::Satisfied(_)),
        "{}",
        verdict.word()
    );
}

fn assert_settled(left: &Left) {
    assert_serializable(left);
    assert!(
        left.snapshot.barriers >= 3 && left.snapshot.missed_barriers == 0,
        "{:?}",
        left.snapshot
    );
    let header = left.text.lines().nth(1).expect("a second line");
    assert_eq!(header, fences::declaration(4));
    // Four fences, four reads and the barrier itself.
    assert!(fences::n_fences(&left.history) as u64 >= 9 * left.snapshot.barriers);
    let (follower, most) = followed(&left.text);
    assert_eq!(follower.ended(), None);
    assert_eq!(
        follower.answers(),
        [(Level::Serializability, Answer::Holds)]
    );
    let status = follower.status();
    assert!(
        status.settled > status.delivered / 2,
        "{} of {} settled",
        status.settled,
        status.delivered
    );
    let without: String = left
        .text
        .lines()
        .filter(|line| *line != header)
        .flat_map(|line| [line, "\n"])
        .collect();
    let (without, all) = followed(&without);
    assert_eq!(without.status().settled, 0);
    assert!(most < all, "{most} of {all} remembered");
    eprintln!(
        "{} transactions, {} barriers of {:?}: {most} remembered with them, {all} without",
        status.delivered, left.snapshot.barriers, left.snapshot.barrier_time
    );
}

#[test]
fn a_run_with_barriers_is_followed_without_a_horizon() {
    let left = run(
        &*driver("sqlite", "serializable"),
        busy(),
        Duration::from_millis(10),
        Duration::from_secs(60),
    );
    assert_settled(&left);
    assert!(!left.text.contains(" ended\n"), "no session has ended");
}

#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn barriers_on_postgresql() {
    let Some(server) = postgres::start(&[]) else {
        return;
    };
    let url = format!("postgres:{}", server.connection());
    let time = Duration::from_secs(3);
    // A quick machine is done in less than half a second.
    assert_settled(&run(
        &*driver(&url, "serializable"),
        busy(),
        Duration::from_millis(30),
        time,
    ));
}

#[test]
fn clients_whose_own_transactions_have_ended_keep_barriers() {
    let workload = Workload {
        transactions: 400,
        kind: Kind::Twitter,
        ..busy()
    };
    let left = run(
        &*driver("sqlite", "immediate"),
        workload,
        Duration::from_millis(30),
        Duration::from_secs(60),
    );
    assert_serializable(&left);
    assert_eq!(
        (left.snapshot.missed_barriers, left.snapshot.lost_sessions),
        (0, 0)
    );
    assert_eq!(followed(&left.text).0.ended(), None);
}

/// What goes wrong with a client.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trouble {
    /// It loses its database at the barrier.
    Dies,
    /// Its database does not answer at the barrier for this long.
    Hangs(Duration),
    /// Now and then no answer to a commit comes.
    Unknown,
}

/// A database with which the client of fence 2 has trouble.
struct Troubled {
    inner: Box<dyn Driver>,
    trouble: Trouble,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    commits: AtomicU64,
    /// How often a client was in trouble.
    troubles: AtomicU64,
}

struct TroubledConnection {
    inner: Box<dyn Connection>,
    trouble: Trouble,
    state: Arc<State>,
}

impl Driver for Troubled {
    fn version(&self) -> Result<String, Failure> {
        self.inner.version()
    }

    fn prepare(&self, registers: u64) -> Result<(), Failure> {
        self.inner.prepare(registers)
    }

    fn connect(&self) -> Result<Box<dyn Connection>, Failure> {
        if self.trouble == Trouble::Dies && self.state.troubles.load(Ordering::Relaxed) > 0 {
            return Err(Failure::Broken("gone".to_owned()));
        }
        let (inner, state) = (self.inner.connect()?, Arc::clone(&self.state));
        Ok(Box::new(TroubledConnection {
            inner,
            trouble: self.trouble,
            state,
        }))
    }
}

impl Connection for TroubledConnection {
    fn begin(&mut self) -> Result<(), Failure> {
        // Few transactions are enough to see the others go on.
        if matches!(self.trouble, Trouble::Hangs(_)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.inner.begin()
    }

    fn read(&mut self, key: Key) -> Result<u64, Failure> {
        self.inner.read(key)
    }

    fn write(&mut self, key: Key, value: u64) -> Result<(), Failure> {
        let is_first = || self.state.troubles.fetch_add(1, Ordering::Relaxed) == 0;
        match self.trouble {
            Trouble::Dies if key == Key::fence(2) => {
                is_first();
                return Err(Failure::Broken("gone".to_owned()));
            }
            // Others are not held up by a lock, since nothing is written yet.
            Trouble::Hangs(time) if key == Key::fence(2) && is_first() => {
                self.inner.rollback()?;
                std::thread::sleep(time);
                return Err(Failure::Refused("late".to_owned()));
            }
            _ => {}
        }
        self.inner.write(key, value)
    }

    fn read_list(&mut self, key: Key) -> Result<Vec<u64>, Failure> {
        self.inner.read_list(key)
    }

    fn append(&mut self, key: Key, element: u64) -> Result<(), Failure> {
        self.inner.append(key, element)
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.inner.commit()?;
        let n = self.state.commits.fetch_add(1, Ordering::Relaxed);
        if self.trouble == Trouble::Unknown && n % 60 == 59 {
            return Err(Failure::Broken("no answer".to_owned()));
        }
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), Failure> {
        self.inner.rollback()
    }
}

fn troubled(trouble: Trouble, every: Duration, time: Duration) -> Left {
    let driver = Troubled {
        inner: driver("sqlite", "immediate"),
        trouble,
        state: Arc::default(),
    };
    run(&driver, busy(), every, time)
}

/// The longest time between two lines.
fn longest_pause(left: &Left) -> Duration {
    let time = |line: &str| {
        line.split_once(":time ")?
            .1
            .split(',')
            .next()?
            .parse::<u64>()
            .ok()
    };
    let times: Vec<u64> = left.text.lines().filter_map(time).collect();
    Duration::from_nanos(
        times
            .windows(2)
            .map(|two| two[1] - two[0])
            .max()
            .unwrap_or(0),
    )
}

#[test]
fn a_client_that_dies_at_a_barrier_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("history.edn");
    let recorder = Recorder::create(&path, "a test").expect("the file can be made");
    let statistics = Statistics::default();
    let inner = driver("sqlite", "immediate");
    let driver = Troubled {
        inner,
        trouble: Trouble::Dies,
        state: Arc::default(),
    };
    let (barriers, patience) = (
        Barriers::Every(Duration::from_millis(10)),
        Duration::from_millis(100),
    );
    let clients = ClientOptions {
        barriers,
        patience,
        ..ClientOptions::default()
    };
    let collection = Collection {
        workload: busy(),
        time: Some(Duration::from_secs(60)),
        clients,
    };
    let endpoints = [Endpoint::only(&driver)];
    collect_on(
        &endpoints,
        &Faults::default(),
        &collection,
        &recorder,
        &statistics,
        &Control::new(),
    )
    .expect("the run ends");
    let snapshot = statistics.snapshot();
    assert_eq!((snapshot.lost_sessions, snapshot.missed_barriers), (1, 0));
    assert!(snapshot.barriers >= 3, "{snapshot:?}");
    let text = std::fs::read_to_string(&path).expect("text");
    assert_eq!(text.matches("; session 1 ended\n").count(), 1);
    assert_eq!(followed(&text).0.ended(), None);
}

#[test]
fn a_client_that_hangs_at_a_barrier_holds_up_the_others_for_a_few_seconds_only() {
    let trouble = Trouble::Hangs(Duration::from_secs(5));
    let left = troubled(trouble, Duration::from_millis(500), Duration::from_secs(6));
    let pause = longest_pause(&left);
    assert!(
        pause > Duration::from_secs(2) && pause < Duration::from_secs(5),
        "{pause:?}"
    );
    assert!(left.took < Duration::from_secs(20), "{:?}", left.took);
    assert_serializable(&left);
}

#[test]
fn a_client_that_goes_on_as_a_new_session_reads_the_barrier_first() {
    let left = troubled(
        Trouble::Unknown,
        Duration::from_millis(10),
        Duration::from_secs(60),
    );
    assert!(
        left.snapshot.unknown > 5 && left.snapshot.barriers > 2,
        "{:?}",
        left.snapshot
    );
    assert_eq!(left.snapshot.missed_barriers, 0);
    let history = &left.history;
    let unknown = history
        .transactions()
        .filter(|&t| history.outcome(t) == Outcome::Unknown)
        .count();
    assert_eq!(left.text.matches(" ended\n").count(), unknown);
    let process = |line: &str| {
        line.split_once(":process ")
            .and_then(|(_, rest)| rest.split(',').next())
            .map(str::to_owned)
    };
    let (before, behind) = left.text.split_once("[:r fence/0 1]").expect("a barrier");
    let mut known: Vec<String> = before.lines().filter_map(process).collect();
    let mut n_new = 0;
    for line in behind.lines().filter(|line| line.contains(":type :invoke")) {
        let process = process(line).expect("a process");
        if !known.contains(&process) {
            assert!(line.contains("[[:r fence/0 nil]"), "{line}");
            n_new += 1;
        }
        known.push(process);
    }
    assert!(n_new > 3, "{n_new} new sessions");
    assert_serializable(&left);
    let (follower, most) = followed(&left.text);
    assert_eq!(follower.ended(), None);
    let status = follower.status();
    eprintln!(
        "{most} of {} remembered, {} sessions",
        status.delivered,
        unknown + 4
    );
    let answer = &follower.answers()[0].1;
    assert!(
        matches!(answer, Answer::Holds | Answer::ExceptFor(_)),
        "{answer:?}"
    );
}

#[test]
fn where_barriers_would_be_useless_there_are_none() {
    let driver = driver("sqlite", "immediate");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let refused = |endpoint: Endpoint<'_>, kind: Kind, place: &str| {
        let recorder =
            Recorder::create(&folder.path().join(place), "a test").expect("the file can be made");
        let clients = ClientOptions {
            barriers: Barriers::Every(Duration::ZERO),
            ..ClientOptions::default()
        };
        let collection = Collection {
            workload: Workload { kind, ..busy() },
            time: Some(Duration::ZERO),
            clients,
        };
        let endpoints = [Endpoint::only(&*driver), endpoint];
        let (faults, statistics) = (Faults::default(), Statistics::default());
        match collect_on(
            &endpoints,
            &faults,
            &collection,
            &recorder,
            &statistics,
            &Control::new(),
        ) {
            Err(CollectError::Sessions(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    let lists = refused(Endpoint::only(&*driver), Kind::ListAppend, "lists.edn");
    assert!(lists.contains("settled by age"), "{lists}");
    let standby = Endpoint {
        read_only: true,
        ..Endpoint::only(&*driver)
    };
    let standby = refused(standby, Kind::General, "standby.edn");
    assert!(standby.contains("cannot take part"), "{standby}");
}
