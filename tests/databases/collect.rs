//! Histories collected from real databases: promises kept, anomalies shown where they are allowed, outcomes recorded
//! truthfully whatever breaks. Tests of servers that are not installed say "skipped".
#![cfg(all(unix, feature = "sqlite"))]

use crate::common;

use common::examine::{check, evidence};
use common::{postgres, servers};
use isoscope::checkers::{Findings, Level, Pattern, Verdict};
use isoscope::collect::{
    ClientOptions, Collection, Connection, Driver, Failure, Recorder, Snapshot, Statistics,
    collect, database,
};
use isoscope::control::Control;
use isoscope::formats::{self, Input, Request};
use isoscope::generate::{Key, Kind, Length, Model, Observed, Step, Workload};
use isoscope::history::{History, Outcome};
use isoscope::hunt::{self, Hunt, Plan, Target};
use std::path::Path;
use std::time::Duration;

fn driver(url: &str, isolation: &str) -> Box<dyn Driver> {
    let row = database(url).expect("a known database");
    row.open(url, row.isolation(Some(isolation)).expect("a level"))
        .expect("the driver opens")
}

fn read(path: &Path) -> History {
    let request = Request {
        format: None,
        rules: None,
    };
    formats::open(path, request, &Control::new()).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a workload and reads what was recorded.
fn run(driver: &dyn Driver, workload: Workload) -> (History, Snapshot) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("history.edn");
    let recorder = Recorder::create(&path, "a test").expect("the file can be made");
    let statistics = Statistics::default();
    collect(
        driver,
        &Collection::new(workload),
        &recorder,
        &statistics,
        &Control::new(),
    )
    .expect("the run ends");
    let (history, snapshot) = (read(&path), statistics.snapshot());
    assert_eq!(history.origin().format, "elle-edn");
    assert_honest(&history, &snapshot);
    (history, snapshot)
}

/// The file says of as many transactions as were counted how they ended.
fn assert_honest(history: &History, snapshot: &Snapshot) {
    let n = |outcome| {
        history
            .transactions()
            .filter(|&t| history.outcome(t) == outcome)
            .count() as u64
    };
    let there = (
        n(Outcome::Committed),
        n(Outcome::Aborted),
        n(Outcome::Unknown),
    );
    assert_eq!(
        there,
        (snapshot.committed, snapshot.aborted, snapshot.unknown)
    );
}

/// Many sessions on few keys.
fn busy(kind: Kind, seed: u64) -> Workload {
    let operations = Length { least: 2, most: 6 };
    Workload {
        kind,
        seed,
        sessions: 6,
        transactions: 25,
        operations,
        keys: 8,
        update_share: 0.5,
        ..Workload::default()
    }
}

fn assert_satisfied(findings: &Findings, level: Level, what: &str) {
    let verdict = &findings
        .level(level)
        .expect("the level was checked")
        .verdict;
    let ids: Vec<String> = findings
        .violations
        .iter()
        .map(|violation| violation.id.to_string())
        .collect();
    assert!(
        matches!(verdict, Verdict::Satisfied(_)),
        "{what}: {level} is {}: {ids:?}",
        verdict.word()
    );
}

fn assert_shows(history: &History, pattern: Pattern, what: &str) {
    let findings = check(history);
    let found: Vec<_> = findings
        .patterns
        .iter()
        .map(|(pattern, n)| format!("{pattern} {n}"))
        .collect();
    assert!(
        findings.patterns.get(&pattern).is_some_and(|n| *n > 0),
        "{what}: no {pattern}, but {found:?}"
    );
    evidence(history, &findings).unwrap_or_else(|error| panic!("{what}: {error}"));
}

/// Clients that take their steps one after the other, in an order that a test decides.
struct Stage {
    recorder: Recorder,
    clients: Vec<Client>,
    values: u64,
    folder: tempfile::TempDir,
}

struct Client {
    connection: Box<dyn Connection>,
    observed: Vec<Observed>,
}

const X: Key = Key(1);
const Y: Key = Key(2);

impl Stage {
    /// Clients that have begun.
    fn new(driver: &dyn Driver, clients: u32) -> Stage {
        driver.prepare(5).expect("the database can be prepared");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let recorder = Recorder::create(&folder.path().join("history.edn"), "a test")
            .expect("the file can be made");
        let client = |process| {
            recorder.invoke(process, &[], &[]).expect("recorded");
            let mut connection = driver.connect().expect("a connection");
            connection.begin().expect("a transaction");
            Client {
                connection,
                observed: Vec::new(),
            }
        };
        let clients = (0..clients).map(client).collect();
        Stage {
            recorder,
            clients,
            values: 0,
            folder,
        }
    }

    fn read(&mut self, client: usize, key: Key) -> &mut Stage {
        let Client {
            connection,
            observed,
        } = &mut self.clients[client];
        observed.push(Observed::Read(key, connection.read(key).expect("a value")));
        self
    }

    /// Tries to write.
    fn write(&mut self, client: usize, key: Key) -> Result<(), Failure> {
        self.values += 1;
        let Client {
            connection,
            observed,
        } = &mut self.clients[client];
        observed.push(Observed::Write(key, self.values));
        connection.write(key, self.values)
    }

    fn read_list(&mut self, client: usize, key: Key) {
        let Client {
            connection,
            observed,
        } = &mut self.clients[client];
        observed.push(Observed::ReadList(
            key,
            connection.read_list(key).expect("a list"),
        ));
    }

    /// Tries to append.
    fn append(&mut self, client: usize, key: Key) -> Result<(), Failure> {
        self.values += 1;
        let Client {
            connection,
            observed,
        } = &mut self.clients[client];
        observed.push(Observed::Append(key, self.values));
        connection.append(key, self.values)
    }

    /// Commits, or rolls back what was refused before; how it ended.
    fn end(&mut self, client: usize, commits: bool) -> Outcome {
        let Client {
            connection,
            observed,
        } = &mut self.clients[client];
        let outcome = match commits.then(|| connection.commit()) {
            Some(Ok(())) => Outcome::Committed,
            None | Some(Err(Failure::Refused(_))) => {
                connection.rollback().expect("the connection is there");
                Outcome::Aborted
            }
            Some(Err(failure)) => panic!("{failure}"),
        };
        self.recorder
            .complete(client as u32, outcome, observed, None)
            .expect("recorded");
        outcome
    }

    fn history(&self) -> History {
        read(&self.folder.path().join("history.edn"))
    }
}

/// Both read both keys, each writes another one.
fn write_skew(driver: &dyn Driver) -> (History, [Outcome; 2]) {
    let mut stage = Stage::new(driver, 2);
    stage.read(0, X).read(0, Y).read(1, X).read(1, Y);
    let written = [stage.write(0, X).is_ok(), stage.write(1, Y).is_ok()];
    let outcomes = [stage.end(0, written[0]), stage.end(1, written[1])];
    (stage.history(), outcomes)
}

/// Both read a key, then both write it, one after the other.
fn lost_update(driver: &dyn Driver) -> (History, [Outcome; 2]) {
    let mut stage = Stage::new(driver, 2);
    stage.read(0, X).read(1, X);
    let first = stage.write(0, X).is_ok();
    let first = stage.end(0, first);
    let second = stage.write(1, X).is_ok();
    let outcomes = [first, stage.end(1, second)];
    (stage.history(), outcomes)
}

/// Another transaction writes between two reads.
fn non_repeatable_read(driver: &dyn Driver) -> History {
    let mut stage = Stage::new(driver, 2);
    stage.read(0, X);
    stage.write(1, X).expect("nobody is in the way");
    stage.end(1, true);
    stage.read(0, X);
    stage.end(0, true);
    stage.history()
}

#[test]
fn sqlite_is_serializable_whatever_the_workload() {
    for (seed, kind) in (1..).zip(Kind::ALL) {
        for isolation in ["serializable", "immediate"] {
            let workload = Workload {
                sessions: 4,
                ..busy(kind, seed)
            };
            let (history, snapshot) = run(&*driver("sqlite", isolation), workload);
            assert_eq!(snapshot.unknown, 0);
            assert!(
                snapshot.committed > 10,
                "{kind} at {isolation}: {snapshot:?}"
            );
            let findings = check(&history);
            assert_satisfied(&findings, Level::Serializability, kind.name());
            evidence(&history, &findings).unwrap_or_else(|error| panic!("{kind}: {error}"));
        }
    }
}

#[test]
fn a_recorded_history_can_be_read_wherever_it_ends() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("history.edn");
    let recorder =
        Recorder::create(&path, "two \"lines\"\nof words").expect("the file can be made");
    let workload = Workload {
        sessions: 3,
        transactions: 4,
        ..busy(Kind::General, 5)
    };
    let statistics = Statistics::default();
    let driver = driver("sqlite", "immediate");
    collect(
        &*driver,
        &Collection::new(workload),
        &recorder,
        &statistics,
        &Control::new(),
    )
    .expect("the run ends");
    let bytes = std::fs::read(&path).expect("the file is there");
    let lines = |bytes: &[u8]| bytes.iter().filter(|&&b| b == b'\n').count();
    // The comment and the first two lines are there; all else may be missing.
    let first = bytes
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b'\n')
        .nth(2)
        .expect("lines")
        .0
        + 1;
    for end in first..=bytes.len() {
        let input = Input::new("history.edn", &bytes[..end]);
        let history = formats::read(&input, None, &Control::new())
            .unwrap_or_else(|error| panic!("{end}: {error}"));
        let cut = history
            .assumptions()
            .iter()
            .filter(|sentence| sentence.contains("is cut off"))
            .count();
        let ends_in_line = bytes[end - 1] != b'\n' && bytes[end - 1] != b'}';
        assert_eq!(
            cut,
            usize::from(ends_in_line),
            "{end}: {:?}",
            history.assumptions()
        );
        assert!(history.n_transactions() <= lines(&bytes[..end]));
        let findings = check(&history);
        assert_satisfied(&findings, Level::Serializability, "a prefix");
    }
    // A file that holds something is not written over.
    let again = Recorder::create(&path, "again")
        .map(|_| ())
        .map_err(|error| error.to_string());
    assert!(
        again.is_err_and(|message| message.contains("exists")),
        "the file is there"
    );
}

#[test]
fn retries_write_other_values_and_compare_and_sets_are_linearizable() {
    let driver = driver("sqlite", "serializable");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("history.edn");
    let recorder = Recorder::create(&path, "a test").expect("the file can be made");
    let clients = ClientOptions {
        retries: 3,
        ..ClientOptions::default()
    };
    let collection = Collection {
        workload: Workload {
            keys: 2,
            ..busy(Kind::Mini, 8)
        },
        time: None,
        clients,
    };
    collect(
        &*driver,
        &collection,
        &recorder,
        &Statistics::default(),
        &Control::new(),
    )
    .expect("the run ends");
    let findings = check(&read(&path));
    assert_satisfied(&findings, Level::Serializability, "with retries");
    let (history, _) = run(
        &*driver,
        Workload {
            keys: 2,
            ..busy(Kind::Lightweight, 9)
        },
    );
    assert_satisfied(
        &check(&history),
        Level::Linearizability,
        "lightweight transactions",
    );
}

#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn postgresql_keeps_its_promises_and_shows_what_it_does_not_promise() {
    let Some(server) = postgres::start(&[]) else {
        return;
    };
    let url = format!("postgres:{}", server.connection());
    let at = |isolation: &str| driver(&url, isolation);
    let levels = [
        ("serializable", Level::Serializability),
        ("repeatable-read", Level::SnapshotIsolation),
        ("read-committed", Level::ReadCommitted),
    ];
    for (isolation, level) in levels {
        for (seed, kind) in (1..).zip([Kind::General, Kind::Mini, Kind::ListAppend, Kind::Twitter])
        {
            let (history, snapshot) = run(&*at(isolation), busy(kind, seed));
            assert_eq!((snapshot.unknown, snapshot.lost_sessions), (0, 0));
            assert_satisfied(&check(&history), level, &format!("{kind} at {isolation}"));
        }
    }
    let (history, outcomes) = write_skew(&*at("repeatable-read"));
    assert_eq!(outcomes, [Outcome::Committed; 2]);
    assert_shows(&history, Pattern::WriteSkew, "repeatable read");
    assert_satisfied(&check(&history), Level::SnapshotIsolation, "write skew");
    let (history, outcomes) = write_skew(&*at("serializable"));
    assert!(
        outcomes.contains(&Outcome::Aborted),
        "one of the two is refused"
    );
    assert_satisfied(
        &check(&history),
        Level::Serializability,
        "refused write skew",
    );
    let (history, outcomes) = lost_update(&*at("read-committed"));
    assert_eq!(outcomes, [Outcome::Committed; 2]);
    assert_shows(&history, Pattern::LostUpdate, "read committed");
    assert_shows(
        &non_repeatable_read(&*at("read-committed")),
        Pattern::NonRepeatableRead,
        "read committed",
    );
    let (history, outcomes) = lost_update(&*at("repeatable-read"));
    assert_eq!(outcomes, [Outcome::Committed, Outcome::Aborted]);
    assert_satisfied(&check(&history), Level::Serializability, "refused update");
    let history = non_repeatable_read(&*at("repeatable-read"));
    assert_satisfied(&check(&history), Level::Serializability, "a snapshot");
}

#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn mariadb_does_what_its_documentation_says() {
    let Some(server) = servers::mariadb() else {
        return;
    };
    let at = |isolation: &str| driver(&server.url, isolation);
    let levels = [
        ("serializable", Level::Serializability),
        ("repeatable-read", Level::PrefixConsistency),
        ("read-committed", Level::ReadCommitted),
    ];
    for (isolation, level) in levels {
        for (seed, kind) in (1..).zip([Kind::General, Kind::Mini]) {
            let (history, snapshot) = run(&*at(isolation), busy(kind, seed));
            assert_eq!((snapshot.unknown, snapshot.lost_sessions), (0, 0));
            assert_satisfied(&check(&history), level, &format!("{kind} at {isolation}"));
        }
    }
    // Its snapshots do not notice conflicts, as long as the server is not told to.
    let (history, outcomes) = lost_update(&*at("repeatable-read"));
    assert_eq!(outcomes, [Outcome::Committed; 2]);
    assert_shows(&history, Pattern::LostUpdate, "repeatable read");
    let history = non_repeatable_read(&*at("repeatable-read"));
    assert_satisfied(&check(&history), Level::Serializability, "a snapshot");
    assert_shows(
        &non_repeatable_read(&*at("read-committed")),
        Pattern::NonRepeatableRead,
        "read committed",
    );
    // An append works on what others have committed since the snapshot was taken, and pulls it into view.
    let mut stage = Stage::new(&*at("repeatable-read"), 2);
    stage.read_list(0, X);
    stage.append(1, X).expect("nobody is in the way");
    assert_eq!(stage.end(1, true), Outcome::Committed);
    stage.append(0, X).expect("nobody is in the way any more");
    stage.read_list(0, X);
    assert_eq!(stage.end(0, true), Outcome::Committed);
    assert_shows(
        &stage.history(),
        Pattern::NonRepeatableRead,
        "appends at repeatable read",
    );
    let mut stage = Stage::new(&*at("read-uncommitted"), 2);
    stage.write(0, X).expect("nobody is in the way");
    stage.read(1, X);
    assert_eq!(
        [stage.end(0, false), stage.end(1, true)],
        [Outcome::Aborted, Outcome::Committed]
    );
    assert_shows(&stage.history(), Pattern::AbortedRead, "read uncommitted");
}

#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn redis_with_watches_is_serializable_and_without_is_not() {
    let Some(server) = servers::redis() else {
        return;
    };
    let runs = [
        (
            "serializable",
            Level::Serializability,
            &[Kind::General, Kind::Mini, Kind::ListAppend, Kind::Rubis][..],
        ),
        (
            "read-committed",
            Level::ReadCommitted,
            &[Kind::General, Kind::Mini],
        ),
    ];
    for (isolation, level, kinds) in runs {
        for (seed, &kind) in (1..).zip(kinds) {
            let (history, snapshot) = run(&*driver(&server.url, isolation), busy(kind, seed));
            assert_eq!((snapshot.unknown, snapshot.lost_sessions), (0, 0));
            assert_satisfied(&check(&history), level, &format!("{kind} at {isolation}"));
        }
    }
    let (history, outcomes) = lost_update(&*driver(&server.url, "read-committed"));
    assert_eq!(outcomes, [Outcome::Committed; 2]);
    assert_shows(&history, Pattern::LostUpdate, "without watches");
    let (_, outcomes) = lost_update(&*driver(&server.url, "serializable"));
    assert_eq!(outcomes, [Outcome::Committed, Outcome::Aborted]);
}

/// Runs a long workload in a thread of its own while `disturb` is at work, which begins when some have committed.
fn disturbed(
    driver: &dyn Driver,
    workload: Workload,
    patience: Duration,
    disturb: impl FnOnce(&Statistics, &Control),
) -> (History, Snapshot) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("history.edn");
    let recorder = Recorder::create(&path, "a test").expect("the file can be made");
    let (statistics, control) = (Statistics::default(), Control::new());
    let collection = Collection {
        workload,
        time: None,
        clients: ClientOptions {
            patience,
            ..ClientOptions::default()
        },
    };
    std::thread::scope(|scope| {
        let run = scope.spawn(|| collect(driver, &collection, &recorder, &statistics, &control));
        while statistics.snapshot().committed < 50 && !run.is_finished() {
            std::thread::sleep(Duration::from_millis(2));
        }
        // It can be read at any moment.
        assert!(read(&path).n_transactions() > 0);
        disturb(&statistics, &control);
        run.join().expect("no panic").expect("the run ends");
    });
    let (history, snapshot) = (read(&path), statistics.snapshot());
    assert_honest(&history, &snapshot);
    (history, snapshot)
}

#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn a_server_killed_in_the_middle_leaves_a_history_that_is_honest() {
    let Some(mut server) = postgres::start(&[]) else {
        return;
    };
    let driver = driver(&format!("postgres:{}", server.connection()), "serializable");
    let workload = Workload {
        transactions: 1_000_000,
        keys: 50,
        ..busy(Kind::Mini, 3)
    };
    let patience = Duration::from_millis(200);
    let (history, snapshot) = disturbed(&*driver, workload, patience, |_, _| server.kill());
    assert_eq!(snapshot.lost_sessions, 6);
    assert!(
        snapshot.unknown <= 6 && snapshot.committed >= 50,
        "{snapshot:?}"
    );
    assert_satisfied(&check(&history), Level::Serializability, "a killed server");
}

#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn a_cut_connection_ends_a_transaction_and_no_session() {
    let Some(server) = postgres::start(&[]) else {
        return;
    };
    let driver = driver(
        &format!("postgres:{}", server.connection()),
        "repeatable-read",
    );
    let workload = Workload {
        transactions: 1_000_000,
        keys: 50,
        ..busy(Kind::General, 4)
    };
    let (history, snapshot) = disturbed(
        &*driver,
        workload,
        Duration::from_secs(60),
        |statistics, control| {
            for _ in 0..3 {
                server.sql(
                    "select pg_terminate_backend(pid) from pg_stat_activity \
                 where backend_type = 'client backend' and pid <> pg_backend_pid()",
                );
                let before = statistics.snapshot().committed;
                while statistics.snapshot().committed < before + 20 {
                    std::thread::sleep(Duration::from_millis(2));
                }
            }
            control.stop();
        },
    );
    assert_eq!(snapshot.lost_sessions, 0);
    assert!(snapshot.aborted + snapshot.unknown >= 3, "{snapshot:?}");
    assert_satisfied(
        &check(&history),
        Level::SnapshotIsolation,
        "cut connections",
    );
}

fn program(arguments: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_isoscope"));
    command.args(arguments).stdin(std::process::Stdio::null());
    command
}

#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn a_full_disk_ends_the_run_with_a_word_and_what_was_recorded_can_be_read() {
    if Path::new("/dev/full").exists() {
        let output = program(&["collect", "-o", "/dev/full"])
            .output()
            .expect("the program starts");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            (output.status.code(), error.lines().count()),
            (Some(2), 1),
            "{error}"
        );
        assert!(
            error.contains("/dev/full") && error.contains("recording the history"),
            "{error}"
        );
    }
    let Some(server) = servers::redis() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("history.edn");
    // Files may grow to some tens of thousands of bytes, in blocks of 512 or 1024.
    let script = "trap '' XFSZ; ulimit -f 40; exec \"$0\" collect --db \"$1\" --sessions 20 --keys 20 -o \"$2\"";
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", script, env!("CARGO_BIN_EXE_isoscope"), &server.url])
        .arg(&path);
    let output = shell.output().expect("a shell");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(
        error.contains("what was recorded until then is kept"),
        "{error}"
    );
    let history = read(&path);
    assert!(
        history
            .transactions()
            .any(|t| history.outcome(t) == Outcome::Unknown),
        "some were under way"
    );
    assert!(
        history
            .transactions()
            .any(|t| history.outcome(t) == Outcome::Committed)
    );
    assert_satisfied(&check(&history), Level::Serializability, "a full disk");
}

#[test]
fn a_killed_program_loses_nothing_that_was_recorded() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("history.edn");
    let mut command = program(&["collect", "--transactions", "1000000", "--keys", "50", "-o"]);
    let mut process = command.arg(&path).spawn().expect("the program starts");
    while std::fs::metadata(&path).map_or(0, |file| file.len()) < 50_000 {
        assert!(
            process.try_wait().expect("our child").is_none(),
            "it is still at work"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    process.kill().expect("our child");
    process.wait().expect("our child");
    let history = read(&path);
    assert!(history.n_transactions() > 100);
    assert_satisfied(&check(&history), Level::Serializability, "a killed program");
}

#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn the_hunt_ends_at_the_first_violation_and_leaves_what_it_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let found = folder.path().join("found");
    let hunt = |more: &[&str]| {
        program(&["hunt", "-o"])
            .arg(&found)
            .args(more)
            .output()
            .expect("the program starts")
    };
    let output = hunt(&["--rounds", "2", "--transactions", "20"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(said.matches("SER   satisfied").count(), 2, "{said}");
    assert_eq!(
        std::fs::read_dir(&found)
            .expect("the folder is there")
            .count(),
        0
    );
    let output = hunt(&["--isolation", "chaos"]);
    assert_eq!(output.status.code(), Some(2));
    let Some(server) = servers::redis() else {
        return;
    };
    let more = [
        "--db",
        &server.url,
        "--isolation",
        "read-committed",
        "--level",
        "SI",
        "--workload",
        "mini",
    ];
    let output = hunt(&[&more[..], &["--keys", "2", "--time", "60"]].concat());
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(1),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let reports = std::fs::read_dir(&found)
        .expect("the folder is there")
        .flatten()
        .map(|entry| entry.path());
    let report: Vec<_> = reports
        .filter(|path| path.extension().is_some_and(|ending| ending == "report"))
        .collect();
    assert!(
        matches!(&report[..], [one] if one.join("report.html").is_file() && one.join("report.md").is_file()),
        "{said}"
    );
    assert!(report[0].with_extension("edn").is_file());
    assert!(
        said.contains("SI    violated") && said.contains("report.html"),
        "{said}"
    );
}

#[test]
fn steps_and_their_values_stand_in_the_file_before_anything_is_sent() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("history.edn");
    let recorder = Recorder::create(&path, "a test").expect("the file can be made");
    let steps = [
        Step::Read(X),
        Step::Write(Y),
        Step::Append(Key(9)),
        Step::Insert(Key(4)),
    ];
    recorder.invoke(7, &steps, &[11, 12, 13]).expect("recorded");
    let text = std::fs::read_to_string(&path).expect("the file is there");
    assert!(
        text.ends_with(
            ":process 7, :value [[:r 1 nil] [:w 2 11] [:append 9 12] [:r 4 nil] [:w 4 13]]}\n"
        ),
        "{text}"
    );
    let history = read(&path);
    assert_eq!((history.n_transactions(), history.n_operations()), (1, 3));
    assert!(
        history
            .transactions()
            .all(|t| history.outcome(t) == Outcome::Unknown)
    );
}

/// A store model, recorded as a database would be, keeps its promise and shows the faults that were put in.
#[test]
fn store_models_are_recorded_like_databases() {
    let record = |model: Model, faults: &[&str], kind: Kind| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("history.edn");
        let faults = faults
            .iter()
            .map(|name| name.parse().expect("a fault"))
            .collect();
        let opened = Target::Store { model, faults }
            .open()
            .expect("a store in memory is always there");
        let statistics = Statistics::default();
        let snapshot = opened
            .record(
                (busy(kind, 3), None),
                &path,
                &statistics,
                &Control::new(),
                None,
            )
            .expect("the run ends");
        let history = read(&path);
        assert_honest(&history, &snapshot);
        (
            opened.promise.expect("every store promises something"),
            history,
        )
    };
    for model in Model::ALL {
        let (promise, history) = record(model, &[], Kind::Mini);
        assert!(history.has_times());
        assert_satisfied(&check(&history), promise, model.name());
    }
    let (_, lists) = record(Model::Snapshot, &[], Kind::ListAppend);
    assert_satisfied(&check(&lists), Level::SnapshotIsolation, "lists");
    for fault in isoscope::generate::FAULTS {
        let (promise, history) = record(Model::Strict, &[fault.name], Kind::Twitter);
        let findings = check(&history);
        let verdict = findings.level(promise).map(|result| &result.verdict);
        assert_eq!(verdict, Some(&Verdict::Violated), "{}", fault.name);
        for (pattern, n) in fault.patterns {
            let found: u64 = findings
                .patterns
                .iter()
                .filter(|(p, _)| *p == *pattern)
                .map(|(_, n)| n)
                .sum();
            assert!(found >= *n, "{}: {found} {pattern}", fault.name);
        }
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let opened = Target::Store {
        model: Model::Causal,
        faults: Vec::new(),
    }
    .open()
    .expect("it is there");
    let path = folder.path().join("history.edn");
    let error = opened.record(
        (busy(Kind::ListAppend, 1), None),
        &path,
        &Statistics::default(),
        &Control::new(),
        None,
    );
    assert!(error.is_err_and(|error| error.to_string().contains("cannot hold lists")));
}

#[test]
fn a_hunt_goes_from_seed_to_seed_until_something_is_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let plan = Plan {
        workload: busy(Kind::General, 5),
        rounds: 3,
        time: None,
        keep: false,
    };
    let path = |seed: u64| folder.path().join(format!("{seed}.edn"));
    let mut seeds = Vec::new();
    let opened = Target::Store {
        model: Model::Serial,
        faults: Vec::new(),
    }
    .open()
    .expect("it is there");
    let mut hunt = Hunt::new(plan.clone());
    while let Some(round) = hunt.begin(&Control::new(), path) {
        let snapshot = hunt
            .record(&opened, &round, &Statistics::default(), None)
            .expect("recorded")
            .expect("time is left");
        assert!(snapshot.committed > 0);
        let judged = hunt::judge(
            &round.path,
            Some(&[Level::Serializability]),
            &Control::new(),
        )
        .expect("readable");
        assert!(!judged.is_violated());
        assert!(
            !hunt
                .settle(&round, &judged.findings)
                .expect("the file can go")
                && !round.path.exists()
        );
        seeds.push(round.workload.seed);
    }
    assert_eq!(seeds, [5, 6, 7]);
    let faults = vec!["write-skew".parse().expect("a fault")];
    let opened = Target::Store {
        model: Model::Serial,
        faults,
    }
    .open()
    .expect("it is there");
    let mut hunt = Hunt::new(plan);
    let round = hunt.begin(&Control::new(), path).expect("a first round");
    hunt.record(&opened, &round, &Statistics::default(), None)
        .expect("recorded");
    let judged = hunt::judge(&round.path, None, &Control::new()).expect("readable");
    assert!(
        judged.is_violated()
            && hunt.settle(&round, &judged.findings).expect("it stays")
            && round.path.exists()
    );
    assert_eq!(
        hunt::simplest_violation(&judged.findings).map(|v| v.id.pattern.to_string()),
        Some("WriteSkew".to_owned())
    );
    let stopped = Control::new();
    stopped.stop();
    assert!(hunt.begin(&stopped, path).is_none());
}

/// A certificate for this machine and its key, and that of the authority that signed it; none without `openssl`.
fn certificates(folder: &Path) -> Option<[std::path::PathBuf; 3]> {
    let Some(openssl) = servers::program("openssl") else {
        return postgres::missing("openssl (openssl)");
    };
    std::fs::write(
        folder.join("names"),
        "subjectAltName=DNS:localhost,IP:127.0.0.1",
    )
    .expect("a file");
    let new = "req -newkey rsa:2048 -nodes -days 2";
    for arguments in [
        format!("{new} -x509 -subj /CN=authority -keyout authority.key -out authority.pem"),
        format!("{new} -subj /CN=localhost -keyout server.key -out server.csr"),
        "x509 -req -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 -extfile names -out server.pem"
            .to_owned(),
    ] {
        let output = std::process::Command::new(&openssl).args(arguments.split(' ')).current_dir(folder).output();
        let output = output.expect("openssl starts");
        assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Some(["server.pem", "server.key", "authority.pem"].map(|name| folder.join(name)))
}

/// An encrypted run works with the authority of the server, and not with those of the system, which do not know it.
fn is_encrypted(url: &str, authority: &Path) {
    let separator = if url.contains('?') { '&' } else { '?' };
    let at = |tls: &str| driver(&format!("{url}{separator}tls={tls}"), "serializable");
    let (history, snapshot) = run(
        &*at(&authority.display().to_string()),
        busy(Kind::General, 1),
    );
    assert!(snapshot.committed > 20, "{snapshot:?}");
    assert_satisfied(&check(&history), Level::Serializability, url);
    let why = at("on")
        .version()
        .expect_err("the authority is unknown")
        .to_string();
    assert!(
        why.contains("certificate") || why.contains("Certificate") || why.contains("UnknownIssuer"),
        "{why}"
    );
}

#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn connections_are_encrypted_and_servers_verified() {
    let folder = tempfile::Builder::new()
        .prefix("tls-")
        .tempdir_in("/tmp")
        .expect("a folder");
    let Some([certificate, key, authority]) = certificates(folder.path()) else {
        return;
    };
    // Servers run as other users.
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755))
        .expect("the folder is ours");
    {
        let port = servers::free_port();
        if let Some(_server) = servers::redis_encrypted(port, &certificate, &key) {
            is_encrypted(&format!("redis://127.0.0.1:{port}"), &authority);
        }
    }
    {
        let port = servers::free_port();
        if let Some(server) = servers::mariadb_encrypted(port, &certificate, &key) {
            let _running = server;
            is_encrypted(&format!("mysql://root@127.0.0.1:{port}/test"), &authority);
            let plain = driver(
                &format!("mysql://root@127.0.0.1:{port}/test"),
                "serializable",
            );
            assert!(
                plain.version().is_err(),
                "the server takes encrypted connections only"
            );
        }
    }
    if let Some(server) = postgres::start_encrypted(servers::free_port(), &certificate, &key) {
        is_encrypted(&server.url(), &authority);
        let libpq = format!(
            "postgres:{} sslmode=verify-full sslrootcert={}",
            server.connection(),
            authority.display()
        );
        let tcp = libpq.replace(
            &format!("host={}", server.socket_dir().display()),
            "host=localhost",
        );
        assert!(
            driver(&tcp, "serializable")
                .version()
                .is_ok_and(|version| version.contains("PostgreSQL"))
        );
    }
}
