//! Histories collected from several servers, through driver programs and under faults: where sessions ran and what was done
//! meanwhile is kept, and what a cluster does that one server does not is found through the command line. Tests of programs that are
//! not installed say "skipped".
#![cfg(all(unix, feature = "sqlite"))]

use crate::common;

use common::examine::{check, evidence};
use common::{galera, postgres, repository, servers};
use isoscope::checkers::{Findings, Level, Pattern, Verdict};
use isoscope::control::Control;
use isoscope::formats::{self, Request};
use isoscope::history::{History, OperationKind, Outcome};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs the program.
fn isoscope(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isoscope"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// What the program says where it ends with this code.
fn says(code: i32, arguments: &[&str]) -> String {
    let output = isoscope(arguments);
    assert_eq!(
        output.status.code(),
        Some(code),
        "{arguments:?}: {}",
        said(&output)
    );
    said(&output)
}

fn read(path: &Path) -> History {
    let request = Request {
        format: None,
        rules: None,
    };
    formats::open(path, request, &Control::new()).unwrap_or_else(|error| panic!("{error}"))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Collects with these arguments, into a file in a folder.
fn collect(folder: &Path, arguments: &[&str]) -> History {
    let path = folder.join("history.edn");
    says(0, &[&["collect", "-o", text(&path)], arguments].concat());
    read(&path)
}

fn is_satisfied(findings: &Findings, level: Level) -> bool {
    findings
        .level(level)
        .is_some_and(|result| matches!(result.verdict, Verdict::Satisfied(_)))
}

/// By node: how many sessions ran there and how many of their transactions wrote something.
fn nodes(history: &History) -> Vec<(String, usize, usize)> {
    let cluster = history.cluster();
    let writes = |node: &str| {
        let here = |&t: &_| cluster.node_of(history.session_of(t)).as_deref() == Some(node);
        let writes = |&t: &_| {
            history
                .operation_range(t)
                .any(|o| history.kinds()[o] == OperationKind::Write)
        };
        history.transactions().filter(here).filter(writes).count()
    };
    let sessions = cluster.nodes().zip(cluster.sessions_by_node());
    let mut nodes: Vec<_> = sessions
        .map(|(node, n)| (node.clone(), n, writes(&node)))
        .collect();
    nodes.sort();
    nodes
}

/// Draws the smallest violation of a recording into the folder that `ISOSCOPE_PICTURES` names, if it is set: the pictures
/// of docs/histories.md.
fn picture(recording: &Path, level: &str, name: &str) {
    drawn(recording, &["--level", level], name);
}

/// The same with other arguments of `export`.
fn drawn(recording: &Path, arguments: &[&str], name: &str) {
    let Some(folder) = std::env::var_os("ISOSCOPE_PICTURES") else {
        return;
    };
    let file = Path::new(&folder).join(format!("{name}.svg"));
    says(
        0,
        &[&["export", text(recording), "-o", text(&file)], arguments].concat(),
    );
}

/// Draws the order of a history that satisfies every level, from the last transaction before the first fault on.
fn drawn_order(recording: &Path, history: &History, name: &str) {
    let first = history.cluster().faults().first().expect("a fault").start;
    let ended = |&t: &_| {
        history.outcome(t) == Outcome::Committed
            && history
                .interval(t)
                .is_some_and(|interval| interval.end < first)
    };
    let last = history
        .transactions()
        .filter(ended)
        .max_by_key(|&t| history.interval(t).map(|interval| interval.end))
        .expect("a transaction before");
    drawn(
        recording,
        &["--witness", "--from", &history.transaction_name(last)],
        name,
    );
}

/// Two names for one SQLite file, the second of which only reads.
fn two_names(folder: &Path) -> [String; 2] {
    let file = folder.join("database");
    [
        format!("one=sqlite:{}", file.display()),
        format!("two=sqlite:{},read-only", file.display()),
    ]
}

#[test]
fn sessions_are_spread_over_servers_and_formats_keep_where_they_ran() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [one, two] = two_names(folder.path());
    let servers = [
        "--db",
        &one,
        "--db",
        &two,
        "--sessions",
        "5",
        "--transactions",
        "20",
        "--keys",
        "9",
    ];
    let history = collect(
        folder.path(),
        &[&servers[..], &["--sessions-on", "two=2"]].concat(),
    );
    let found = nodes(&history);
    assert!(
        matches!(&found[..], [(a, 3, 1..), (b, 2, 0)] if a == "one" && b == "two"),
        "{found:?}"
    );
    assert!(is_satisfied(&check(&history), Level::Serializability));
    let edn = folder.path().join("history.edn");
    for ending in ["json", "elle.json", "history", "again.edn"] {
        let format = match ending {
            "elle.json" => "elle-json",
            "again.edn" => "elle-edn",
            "json" => "json",
            _ => "text",
        };
        let path = folder.path().join(format!("kept.{ending}"));
        let words = says(
            0,
            &["convert", text(&edn), "-o", text(&path), "--to", format],
        );
        assert!(!words.contains("nodes"), "{format}: {words}");
        assert_eq!(nodes(&read(&path)), found, "{format}");
    }
    let hist = folder.path().join("lost.awdit");
    let words = says(
        0,
        &[
            "convert",
            text(&edn),
            "-o",
            text(&hist),
            "--to",
            "dbcop-json",
        ],
    );
    assert!(words.contains("on which nodes sessions ran"), "{words}");
    let figures = says(0, &["stats", text(&edn)]);
    assert!(
        figures.contains("one 3 of the sessions") && figures.contains("two 2 of the sessions"),
        "{figures}"
    );
    let report = says(0, &["check", text(&edn), "--json"]);
    assert!(
        report.contains(r#"{"name":"two","sessions":2}"#),
        "{report}"
    );
}

#[test]
fn servers_that_cannot_be_used_as_asked_get_a_word() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [one, two] = two_names(folder.path());
    let output = folder.path().join("none.edn");
    let fails = |arguments: &[&str]| {
        let words = says(2, &[&["collect", "-o", text(&output)], arguments].concat());
        assert_eq!(words.lines().count(), 1, "{words}");
        words
    };
    assert!(fails(&["--db", &two]).contains("no server accepts writes"));
    assert!(fails(&["--db", &one, "--db", &one]).contains("two servers are called one"));
    assert!(fails(&["--db", &one, "--db", "redis://127.0.0.1:1"]).contains("no address of SQLite"));
    assert!(
        fails(&["--db", &one, "--sessions-on", "three=1"])
            .contains("--sessions-on three: no server")
    );
    let too_many = [
        "--db",
        &one,
        "--db",
        &two,
        "--sessions",
        "3",
        "--sessions-on",
        "two=4",
    ];
    assert!(fails(&too_many).contains("4 sessions are placed, but there are only 3"));
    // Another file never shows what was written to the first one. That is waited for even if the run is short.
    let apart = folder.path().join("apart");
    let other = format!("other=sqlite:{}", apart.display());
    let words = fails(&["--db", &one, "--db", &other, "--time-limit", "1"]);
    assert!(
        words.contains("other does not show what was written"),
        "{words}"
    );
}

/// Sessions that write keys of their own until the time is up.
const DISJOINT: [&str; 10] = [
    "--isolation",
    "repeatable-read",
    "--workload",
    "disjoint-writes",
    "--keys",
    "12",
    "--operations",
    "2..4",
    "--transactions",
    "1000000",
];

/// What made the news in 2025: each server keeps snapshot isolation, both together do not.
#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn a_standby_of_postgresql_shows_long_forks_and_one_server_none() {
    // With fsync, as a server has it by default: a commit takes a while from the log to the snapshots of the primary.
    let Some(primary) = postgres::start(&["fsync=on"]) else {
        return;
    };
    let standby = primary.standby(&[]);
    let one = format!("postgres:{}", primary.connection());
    // One that does not wait for the disk is seen there at once, though the log has it later.
    let quick = format!("quick={one} options=-csynchronous_commit=off");
    let (named, replica) = (
        format!("primary={one}"),
        format!("standby=postgres:{},read-only", standby.connection()),
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    let servers = ["--db", &named, "--db", &quick, "--db", &replica];
    // Asynchronous replication.
    let found = folder.path().join("found");
    let hunt = [
        "hunt",
        "--isolation",
        "repeatable-read",
        "--time",
        "60",
        "-o",
        text(&found),
    ];
    let words = says(1, &[&hunt[..], &servers].concat());
    assert!(
        words.contains("for one server") && words.contains("SI    violated"),
        "{words}"
    );
    // Synchronous replication.
    primary.sql("alter system set synchronous_standby_names = '*'");
    primary.sql("select pg_reload_conf()");
    // Replicas differ for moments only: it may take more than one run.
    let attempt = |_| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let history = collect(
            folder.path(),
            &[&DISJOINT[..], &servers, &["--time-limit", "8"]].concat(),
        );
        let places = nodes(&history);
        assert!(
            matches!(&places[..], [(_, 4, 100..), (b, 3, 100..), (c, 3, 0)] if b == "quick" && c == "standby"),
            "{places:?}"
        );
        let findings = check(&history);
        findings
            .patterns
            .contains_key(&Pattern::LongFork)
            .then_some((folder, history, findings))
    };
    let (folder, history, findings) = (0..10)
        .find_map(attempt)
        .expect("one of ten runs shows a long fork");
    assert!(is_satisfied(
        &findings,
        Level::TransactionalCausalConsistency
    ));
    assert!(!is_satisfied(&findings, Level::PrefixConsistency));
    evidence(&history, &findings).unwrap_or_else(|error| panic!("{error}"));
    let told = says(
        0,
        &[
            "explain",
            text(&folder.path().join("history.edn")),
            "--violation",
            "LongFork/1",
        ],
    );
    assert!(
        told.contains("on standby") && told.contains("on primary"),
        "{told}"
    );
    picture(&folder.path().join("history.edn"), "PC", "postgres-standby");
    // The same clients on one server, under two names.
    let twice = [format!("a={one}"), format!("b={one},read-only")];
    let alone = tempfile::tempdir().expect("a temporary folder");
    let servers = [
        "--db",
        &twice[0],
        "--db",
        &twice[1],
        "--sessions-on",
        "b=2",
        "--time-limit",
        "5",
    ];
    let history = collect(
        alone.path(),
        &[&DISJOINT[..], &servers, &["--sessions", "6"]].concat(),
    );
    assert!(
        history.n_transactions() > 1000 && is_satisfied(&check(&history), Level::SnapshotIsolation)
    );
}

/// Transactions that write many of few keys do not wait for the server to find deadlocks.
#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn few_keys_of_postgresql_cause_no_deadlocks() {
    let Some(server) = postgres::start(&[]) else {
        return;
    };
    let url = format!("postgres:{}", server.connection());
    let arguments = [
        "--db",
        &url,
        "--isolation",
        "repeatable-read",
        "--keys",
        "20",
        "--transactions",
        "1000000",
    ];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let history = collect(
        folder.path(),
        &[&arguments[..], &["--time-limit", "4"]].concat(),
    );
    let committed = history
        .transactions()
        .filter(|&t| history.outcome(t) == Outcome::Committed)
        .count();
    // It is more than a thousand a second on two cores that have nothing else to do.
    assert!(committed > 400, "{committed} in 4 s");
    let recorded = std::fs::read_to_string(folder.path().join("history.edn")).expect("a recording");
    assert!(!recorded.contains("deadlock"));
    assert!(is_satisfied(&check(&history), Level::SnapshotIsolation));
}

/// `python3`, if it is installed.
fn python() -> Option<&'static str> {
    let found = Command::new("python3")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if found {
        Some("python3")
    } else {
        postgres::missing("Python (python3)")
    }
}

/// The command of a driver made of the one for SQLite with one line replaced.
fn driver(folder: &Path, python: &str, line: &str, other: &str) -> String {
    let source =
        std::fs::read_to_string(repository("examples/drivers/sqlite.py")).expect("an example");
    assert!(source.contains(line), "{line}");
    let path = folder.join("driver.py");
    std::fs::write(&path, source.replace(line, other)).expect("a file");
    format!(
        "{python} {} {}",
        path.display(),
        folder.join("database").display()
    )
}

#[test]
fn a_driver_program_is_as_good_as_a_built_in_driver() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let command = driver(folder.path(), python, "DROP", "DROP");
    let words = says(0, &["collect", "--exec", &command, "--conformance"]);
    assert_eq!(words.matches("  ok    ").count(), 10, "{words}");
    assert_eq!(
        says(0, &["collect", "--conformance"])
            .matches("  ok    ")
            .count(),
        10
    );
    for workload in ["general", "list-append"] {
        let run = tempfile::tempdir().expect("a temporary folder");
        let arguments = [
            "--exec",
            &command,
            "--workload",
            workload,
            "--sessions",
            "3",
            "--keys",
            "5",
        ];
        let history = collect(
            run.path(),
            &[&arguments[..], &["--transactions", "40"]].concat(),
        );
        let committed = history
            .transactions()
            .filter(|&t| history.outcome(t) == Outcome::Committed)
            .count();
        assert!(committed > 60, "{workload}: {committed}");
        let findings = check(&history);
        assert!(
            is_satisfied(&findings, Level::Serializability),
            "{workload}"
        );
        evidence(&history, &findings).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn conformance_names_what_a_driver_does_wrong() {
    let Some(python) = python() else { return };
    let wrong = [
        (
            "            self.db.execute(\"ROLLBACK\")",
            "            self.db.execute(\"COMMIT\")",
            "hides what is rolled back",
        ),
        (
            "        self.db.execute(\"BEGIN\")",
            "        pass",
            "hides what was never committed",
        ),
        ("ORDER BY n", "ORDER BY -n", "keeps the order of a list"),
        (
            "        return row and row[0]",
            "        return 0",
            "shows committed writes",
        ),
        (
            "        self.db.executescript(TABLES)",
            "        pass",
            "reads what it wrote",
        ),
        (
            "        return row and row[0]",
            "        return 'five'",
            "reads what it wrote",
        ),
    ];
    for (line, other, what) in wrong {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let command = driver(folder.path(), python, line, other);
        let words = says(1, &["collect", "--exec", &command, "--conformance"]);
        let named = words
            .lines()
            .any(|line| line.contains("  wrong ") && line.contains(what));
        assert!(named, "{other}: {words}");
    }
    for command in ["cat", "true", "echo '{}'", "no-such-program-anywhere"] {
        let words = says(2, &["collect", "--exec", command, "--conformance"]);
        assert!(words.contains("driver"), "{command}: {words}");
    }
}

/// A driver that ends, or says so, when it is asked to commit leaves the outcome open, whatever the database did.
#[test]
fn what_a_driver_does_not_know_is_unknown() {
    let Some(python) = python() else { return };
    let commit = "        self.db.execute(\"COMMIT\")";
    for way in [
        "        sys.exit()",
        "        raise Exception('lost')",
        "        print('what?', flush=True)",
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        // After the commit: others may see what it wrote.
        let command = driver(folder.path(), python, commit, &format!("{commit}\n{way}"));
        let arguments = [
            "--exec",
            &command,
            "--sessions",
            "2",
            "--transactions",
            "10",
            "--keys",
            "3",
        ];
        let history = collect(folder.path(), &arguments);
        let outcomes: Vec<Outcome> = history.transactions().map(|t| history.outcome(t)).collect();
        assert!(
            outcomes.contains(&Outcome::Unknown) && !outcomes.contains(&Outcome::Committed),
            "{way}: {outcomes:?}"
        );
        assert!(!matches!(
            check(&history)
                .level(Level::Serializability)
                .expect("it")
                .verdict,
            Verdict::Violated
        ));
    }
}

#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn faults_are_in_the_history_and_outcomes_stay_truthful() {
    let Some(server) = postgres::start(&[]) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let url = format!("postgres:{}", server.connection());
    let pid = format!(
        "all={}",
        server.socket_dir().join("data/postmaster.pid").display()
    );
    let cut = "cut=psql -X -q -d \"$CONNECTION\" -c 'select pg_terminate_backend(pid) from pg_stat_activity \
               where pid <> pg_backend_pid()' || exit 0";
    let mut command = Command::new(env!("CARGO_BIN_EXE_isoscope"));
    let path = folder.path().join("history.edn");
    command.args([
        "collect",
        "-o",
        text(&path),
        "--db",
        &url,
        "--isolation",
        "serializable",
        "--workload",
        "mini",
    ]);
    command.args([
        "--keys",
        "10",
        "--transactions",
        "1000000",
        "--time-limit",
        "5",
        "--pause",
        &pid,
        "--fault-cmd",
        cut,
    ]);
    let output = command
        .args(["--every", "0.4", "--for", "0.3"])
        .env("CONNECTION", server.connection())
        .output();
    let output = output.expect("the program starts");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let history = read(&path);
    let faults = history.cluster().faults();
    let pauses: Vec<_> = faults
        .iter()
        .filter(|fault| fault.what == "pause-all")
        .collect();
    assert!(
        !pauses.is_empty()
            && pauses
                .iter()
                .all(|fault| fault.end.is_some_and(|end| end > fault.start)),
        "{faults:?}"
    );
    assert!(faults.iter().any(|fault| fault.what == "cut"), "{faults:?}");
    // Between the pause and the attempt to heal it a session gets at most the answer that was already on its way.
    let answers = |begin: i64, end: i64| {
        let ends = history
            .transactions()
            .filter_map(|t| history.interval(t))
            .map(|interval| interval.end);
        ends.filter(|at| (begin..end).contains(at)).count()
    };
    let done = history
        .cluster()
        .incidents()
        .iter()
        .filter(|incident| incident.what.ends_with("pause-all"));
    let times: Vec<i64> = done.filter_map(|incident| incident.time).collect();
    for step in times.chunks_exact(4) {
        assert!(
            answers(step[1], step[2]) <= history.n_sessions(),
            "{step:?}"
        );
    }
    assert!(is_satisfied(&check(&history), Level::Serializability));
    for format in ["text", "json", "elle-json", "elle-edn"] {
        let kept = folder.path().join(format);
        says(
            0,
            &["convert", text(&path), "-o", text(&kept), "--to", format],
        );
        assert_eq!(
            read(&kept).cluster().incidents(),
            history.cluster().incidents(),
            "{format}"
        );
    }
    assert!(says(0, &["stats", text(&path)]).contains("pause-all from"));
    // A fault that cannot be made ends the run with a word.
    let other = folder.path().join("other.edn");
    let failing = [
        "--fault-cmd",
        "odd=exit 3",
        "--every",
        "0.1",
        "--transactions",
        "1000000",
    ];
    let words = says(
        2,
        &[&["collect", "-o", text(&other)], &failing[..]].concat(),
    );
    assert!(
        words.contains("start-odd") && words.contains("exit status: 3"),
        "{words}"
    );
}

/// What the database holds at the end, of every key, against what each transaction was told: committed appends are there once,
/// aborted ones are not. Relays cut connections, and the server is killed and started again, `ISOSCOPE_FAULTS` times.
#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn outcomes_under_faults_are_those_of_the_database() {
    let Some(server) = postgres::start_on(servers::free_port()) else {
        return;
    };
    let n_faults: usize =
        std::env::var("ISOSCOPE_FAULTS").map_or(12, |n| n.parse().expect("a number"));
    let [crash, start] = server
        .crash_commands()
        .map(|command| format!("crash={command}"));
    let url = format!("one={}", server.url());
    let faults = [
        "--relay",
        "one=cut",
        "--fault-cmd",
        &crash,
        "--heal-cmd",
        &start,
        "--every",
        "0.5",
        "--for",
        "0.1",
    ];
    // Lists stay short, so that the history does not become large.
    let keys = (200 * n_faults).to_string();
    let workload = [
        "--db",
        &url,
        "--isolation",
        "serializable",
        "--workload",
        "list-append",
        "--keys",
        &keys,
    ];
    let seconds = (n_faults as f64 * 0.9).to_string();
    let more = [
        "--transactions",
        "10000000",
        "--patience",
        "30",
        "--time-limit",
        &seconds,
        "--final-reads",
    ];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let history = collect(folder.path(), &[&workload[..], &faults, &more].concat());
    let made = history.cluster().faults().len();
    assert!(3 * made >= n_faults, "{made} faults");
    // The last transaction that read a key saw all of it.
    let mut last = std::collections::BTreeMap::new();
    for t in history
        .transactions()
        .filter(|&t| history.outcome(t) == Outcome::Committed)
    {
        let end = history
            .interval(t)
            .map_or(i64::MIN, |interval| interval.end);
        for o in history.operations_of(t) {
            if let Some(list) = history.lists().recorded_by(o) {
                let kept = last.entry(history.operation(o).key).or_insert((end, list));
                if kept.0 <= end {
                    *kept = (end, list);
                }
            }
        }
    }
    let (mut n_committed, mut n_aborted, mut n_unknown) = (0, 0, 0);
    for t in history.transactions() {
        for o in history
            .operations_of(t)
            .filter(|o| history.operation(*o).kind == OperationKind::Write)
        {
            let operation = history.operation(o);
            let list = last.get(&operation.key).map_or(&[][..], |(_, list)| list);
            let n = list
                .iter()
                .filter(|value| **value == operation.value)
                .count();
            let what = format!(
                "{} wrote {} to {}, in the list {n} times",
                history.transaction_name(t),
                history.value_name(operation.value),
                history.key_name(operation.key)
            );
            match history.outcome(t) {
                Outcome::Committed => {
                    assert_eq!(n, 1, "{what}");
                    n_committed += 1;
                }
                Outcome::Aborted => {
                    assert_eq!(n, 0, "{what}");
                    n_aborted += 1;
                }
                Outcome::Unknown => {
                    assert!(n <= 1, "{what}");
                    n_unknown += 1;
                }
            }
        }
    }
    println!(
        "{made} faults; appends: {n_committed} committed, {n_aborted} aborted, {n_unknown} unknown"
    );
    assert!(n_committed > 100 && n_unknown > 0);
    says(
        0,
        &[
            "check",
            text(&folder.path().join("history.edn")),
            "--level",
            "SSER",
            "--verdicts-only",
        ],
    );
}

/// A server that acknowledges commits before they are on disk loses them when it crashes, and one that does not keeps
/// them. Both have crashed and come back while clients were at work.
#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn commits_that_vanish_in_a_crash_are_found_and_no_others() {
    for (durable, level) in [("off", "RA"), ("on", "SI")] {
        let Some(server) = postgres::start(&[]) else {
            return;
        };
        server.sql(&format!("alter system set synchronous_commit = {durable}"));
        server.sql("select pg_reload_conf()");
        let [crash, start] = server
            .crash_commands()
            .map(|command| format!("crash={command}"));
        let url = format!("postgres:{}", server.connection());
        let faults = [
            "--fault-cmd",
            &crash,
            "--heal-cmd",
            &start,
            "--every",
            "2",
            "--for",
            "0.1",
            "--patience",
            "30",
        ];
        let workload = [
            "--db",
            &url,
            "--isolation",
            "repeatable-read",
            "--workload",
            "mini",
            "--keys",
            "8",
        ];
        let more = ["--transactions", "1000000", "--time-limit", "7"];
        // What a crash loses may be missed by no session that wrote it: then another run shows it.
        let runs = if durable == "off" { 5 } else { 1 };
        let folders: Vec<_> = (0..runs)
            .map(|_| tempfile::tempdir().expect("a temporary folder"))
            .collect();
        let holds = |folder: &tempfile::TempDir| {
            let history = collect(folder.path(), &[&workload[..], &faults, &more].concat());
            assert!(
                history
                    .cluster()
                    .faults()
                    .iter()
                    .any(|fault| fault.what == "crash" && fault.end.is_some())
            );
            let findings = check(&history);
            evidence(&history, &findings).unwrap_or_else(|error| panic!("{error}"));
            is_satisfied(&findings, level.parse().expect("a level"))
        };
        let folder = folders
            .iter()
            .find(|folder| holds(folder) == (durable == "on"));
        let folder =
            folder.unwrap_or_else(|| panic!("{level} with synchronous_commit = {durable}"));
        if durable == "off" {
            let path = folder.path().join("history.edn");
            let told = says(0, &["explain", text(&path), "--level", "RA"]);
            assert!(told.contains("crash from "), "{told}");
            picture(&path, "RA", "postgres-crash");
        }
    }
}

#[test]
fn a_store_of_jepsen_opens_as_it_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join("store").join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    let history = "{:type :invoke, :f :txn, :value [[:append x 1]], :process 0, :node \"n1\", :time 1}\n\
                   {:type :info, :f :start-partition, :value {:n1 #{\"n2\"}}, :process :nemesis, :time 2}\n\
                   {:type :ok, :f :txn, :value [[:append x 1]], :process 0, :node \"n1\", :time 3}\n\
                   {:type :info, :f :stop-partition, :value \"fully connected\", :process :nemesis, :time 4}\n\
                   {:type :invoke, :f :txn, :value [[:r x nil]], :process 1, :node \"n2\", :time 5}\n\
                   {:type :ok, :f :txn, :value [[:r x []]], :process 1, :node \"n2\", :time 6}\n";
    for time in ["20260101T000000", "20260102T000000"] {
        let run = |name: &str| format!("postgres append/{time}/{name}");
        write(&run("history.edn"), history);
        write(&run("history.txt"), "0 :invoke :txn [[:append x 1]]\n");
        write(
            &run("results.edn"),
            "{:workload {:valid? false, :not #{:strict-serializable}}, :valid? false}\n",
        );
        write(
            &run("jepsen.log"),
            "2026-01-01 INFO [main] jepsen.cli: Test options\n",
        );
        write(
            &run("test.edn"),
            "{:name \"append\", :nodes [\"n1\" \"n2\"], :isolation :serializable}",
        );
        write(&run("timeline.html"), "<html></html>");
        write(&run("n1/postgresql.log"), "LOG: starting\n");
    }
    // A run that never began, and the links that Jepsen makes.
    write("postgres append/20260103T000000/jepsen.log", "INFO\n");
    write(
        "postgres append/20260103T000000/results.edn",
        "{:valid? :unknown}",
    );
    std::os::unix::fs::symlink(
        "20260104T000000",
        folder.path().join("store/postgres append/latest"),
    )
    .expect("a link");
    let store = folder.path().join("store");
    let words = says(1, &["check", text(&store), "--level", "SER,SSER"]);
    assert_eq!(
        words
            .matches("SSER violated")
            .count()
            .max(words.matches("20260").count()),
        2,
        "{words}"
    );
    let run = store.join("postgres append/20260101T000000");
    let words = says(1, &["check", text(&run)]);
    for line in [
        "test: append",
        "isolation: :serializable",
        "violated by Jepsen: #{:strict-serializable}",
    ] {
        assert!(words.contains(line), "{line}: {words}");
    }
    let opened = read(&run);
    assert_eq!(opened.cluster().nodes().collect::<Vec<_>>(), ["n1", "n2"]);
    let faults: Vec<_> = opened
        .cluster()
        .faults()
        .into_iter()
        .map(|f| (f.what, f.start, f.end))
        .collect();
    assert_eq!(faults, [("partition".to_owned(), 2, Some(4))]);
    let details: Vec<_> = opened
        .cluster()
        .incidents()
        .iter()
        .map(|incident| incident.detail.as_str())
        .collect();
    assert_eq!(details, ["{:n1 #{\"n2\"}}", "fully connected"]);
    let told = says(0, &["explain", text(&run), "--level", "SSER"]);
    assert!(
        told.contains("partition from 2 ns to 4 ns") && told.contains("session 1 on n2"),
        "{told}"
    );
    assert!(
        says(1, &["check", text(&run), "--json"])
            .contains(r#""faults":[{"what":"partition","start":2,"end":4}]"#)
    );
}

/// Cut, held and delayed connections: some outcomes are unknown, and nothing looks like an anomaly.
#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn relays_disturb_connections_and_no_verdict() {
    let port = servers::free_port();
    let Some(_server) = servers::redis_at(port) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let url = format!("one=redis://127.0.0.1:{port}");
    let relays = [
        "--relay",
        "one=cut",
        "--relay",
        "one=hold",
        "--relay",
        "one=delay:20",
        "--every",
        "0.3",
        "--for",
        "0.2",
    ];
    let workload = [
        "--db",
        &url,
        "--workload",
        "mini",
        "--keys",
        "8",
        "--transactions",
        "1000000",
        "--patience",
        "9",
    ];
    let history = collect(
        folder.path(),
        &[&workload[..], &relays, &["--time-limit", "4"]].concat(),
    );
    let again =
        "--patience 9 --relay one=cut --relay one=hold --relay one=delay:20 --every 0.3 --for 0.2";
    let about = history
        .origin()
        .about
        .iter()
        .find(|line| line.starts_with("again: isoscope reproduce "));
    assert!(about.is_some_and(|line| line.ends_with(again)), "{about:?}");
    let faults = history.cluster().faults();
    for name in ["cut-one", "hold-one", "delay-one"] {
        assert!(
            faults
                .iter()
                .any(|fault| fault.what == name && fault.end.is_some()),
            "{name}: {faults:?}"
        );
    }
    assert!(history.n_transactions() > 300);
    let findings = check(&history);
    assert!(
        is_satisfied(&findings, Level::Serializability)
            && is_satisfied(&findings, Level::StrictSerializability)
    );
    let words = says(
        2,
        &[
            "collect",
            "--relay",
            "two=cut",
            "-o",
            text(&folder.path().join("none.edn")),
        ],
    );
    assert!(
        words.contains("the fault relay two: no server has this name"),
        "{words}"
    );
}

/// A primary of Redis is killed half a second after its replica has lost it, and the replica takes its place: what was
/// acknowledged in between is gone.
#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn commits_that_a_failover_of_redis_loses_are_found() {
    let (first, second) = (servers::free_port(), servers::free_port());
    let Some(_primary) = servers::redis_at(first) else {
        return;
    };
    let (Some(_replica), Some(cli)) = (servers::redis_at(second), servers::program("redis-cli"))
    else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cli = cli.display();
    let run = |command: &str| {
        Command::new("sh")
            .args(["-c", command])
            .output()
            .expect("a shell starts")
    };
    run(&format!("{cli} -p {second} replicaof 127.0.0.1 {first}"));
    while !said(&run(&format!("{cli} -p {second} info replication")))
        .contains("master_link_status:up")
    {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let crash = format!(
        "failover={cli} -p {second} replicaof 127.0.0.1 1 && sleep 0.5 && {cli} -p {first} shutdown nosave force now; true"
    );
    let pid = folder.path().join("pid");
    let heal = format!(
        "failover={cli} -p {second} replicaof no one && redis-server --daemonize yes --save '' --bind 127.0.0.1 --port {first} \
         --pidfile {} --replicaof 127.0.0.1 {second}",
        pid.display()
    );
    let [one, two] = [("one", first), ("two", second)]
        .map(|(name, port)| format!("{name}=redis://127.0.0.1:{port}"));
    let two = format!("{two},read-only");
    let faults = [
        "--fault-cmd",
        &crash,
        "--heal-cmd",
        &heal,
        "--every",
        "2",
        "--for",
        "0.5",
        "--patience",
        "5",
    ];
    let workload = [
        "--db",
        &one,
        "--db",
        &two,
        "--workload",
        "mini",
        "--keys",
        "8",
        "--transactions",
        "1000000",
    ];
    let history = collect(
        folder.path(),
        &[
            &workload[..],
            &faults,
            &["--time-limit", "3.5", "--final-reads"],
        ]
        .concat(),
    );
    run(&format!("kill -9 $(cat {})", pid.display()));
    assert!(
        history
            .cluster()
            .faults()
            .iter()
            .any(|fault| fault.what == "failover" && fault.end.is_some())
    );
    let path = folder.path().join("history.edn");
    says(
        1,
        &["check", text(&path), "--level", "SSER", "--verdicts-only"],
    );
    let told = says(0, &["explain", text(&path), "--level", "SSER"]);
    assert!(told.contains("failover from "), "{told}");
    picture(&path, "SSER", "redis-failover");
}

/// A server that is killed, and one that is restarted by its administrator, keeps what it committed.
#[cfg(target_os = "linux")]
#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn a_server_that_is_stopped_is_started_as_it_was() {
    let Some(mut server) = postgres::start(&[]) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let url = format!("postgres:{}", server.connection());
    let pid = format!(
        "all={}",
        server.socket_dir().join("data/postmaster.pid").display()
    );
    let faults = [
        "--kill",
        &pid,
        "--restart",
        &pid,
        "--every",
        "1",
        "--for",
        "0.2",
        "--patience",
        "30",
    ];
    let workload = [
        "--db",
        &url,
        "--isolation",
        "serializable",
        "--workload",
        "mini",
        "--keys",
        "8",
        "--final-reads",
    ];
    let more = ["--transactions", "1000000", "--time-limit", "10"];
    let history = std::thread::scope(|scope| {
        scope.spawn(|| server.wait());
        collect(folder.path(), &[&workload[..], &faults, &more].concat())
    });
    let faults = history.cluster().faults();
    for what in ["kill-all", "restart-all"] {
        assert!(
            faults
                .iter()
                .any(|fault| fault.what == what && fault.end.is_some()),
            "{what}: {faults:?}"
        );
    }
    let n_committed = history
        .transactions()
        .filter(|&t| history.outcome(t) == Outcome::Committed)
        .count();
    assert!(n_committed > 100, "{n_committed}: it came back");
    let findings = check(&history);
    let told = || {
        let verdict = findings.level(Level::StrictSerializability);
        let first = findings.violations.first();
        format!("{verdict:?} {first:?}, kept in {:?}", folder.path())
    };
    if !is_satisfied(&findings, Level::StrictSerializability) {
        let told = told();
        std::mem::forget(folder);
        panic!("{told}");
    }
}

/// A small file system in memory, gone with the test; none where this user may not mount one.
struct Mounted(tempfile::TempDir);

impl Mounted {
    fn new(size: &str) -> Option<Mounted> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", size, "tmpfs"])
            .arg(folder.path())
            .output();
        let is_there = mount.is_ok_and(|output| output.status.success());
        if is_there {
            Some(Mounted(folder))
        } else {
            postgres::missing("a file system of its own (mount, as root)")
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).output();
    }
}

/// A database on a full disk refuses to write, says so, and goes on when there is room.
#[test]
fn a_full_disk_aborts_transactions_and_loses_nothing() {
    let Some(disk) = Mounted::new("size=16m") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let database = format!("sqlite:{}", disk.0.path().join("database").display());
    let full = format!("disk={}", disk.0.path().display());
    let workload = [
        "--db",
        &database,
        "--workload",
        "list-append",
        "--sessions",
        "4",
        "--transactions",
        "1000000",
    ];
    let faults = [
        "--disk-full",
        &full,
        "--every",
        "0.5",
        "--for",
        "0.5",
        "--time-limit",
        "4",
        "--final-reads",
    ];
    let history = collect(folder.path(), &[&workload[..], &faults].concat());
    let faults = history.cluster().faults();
    assert!(
        faults.len() > 1 && faults.iter().all(|fault| fault.what == "disk-full-disk"),
        "{faults:?}"
    );
    let n = |outcome| {
        history
            .transactions()
            .filter(|&t| history.outcome(t) == outcome)
            .count()
    };
    assert!(
        n(Outcome::Committed) > 50 && n(Outcome::Aborted) > 0,
        "{}",
        n(Outcome::Aborted)
    );
    assert!(is_satisfied(&check(&history), Level::StrictSerializability));
    assert_eq!(
        std::fs::read_dir(disk.0.path())
            .map(|all| all.count())
            .unwrap_or(0),
        1,
        "the file is gone"
    );
}

/// Processes that use one file of SQLite are killed in the middle of transactions: what was committed stays, and no more.
#[test]
fn killed_clients_of_sqlite_lose_nothing() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("data.sqlite");
    let command = format!(
        "{python} {} {}",
        repository("examples/drivers/sqlite.py").display(),
        file.display()
    );
    // Neither this program nor the shell, whose command lines contain the same words.
    let kill = format!(
        "kill=pkill -9 -f '^{python} .*sqlite.py {}'; true",
        file.display()
    );
    let faults = [
        "--fault-cmd",
        &kill,
        "--every",
        "0.3",
        "--for",
        "0.1",
        "--patience",
        "5",
        "--final-reads",
    ];
    let sessions = [
        "--exec",
        &command,
        "--sessions",
        "5",
        "--keys",
        "8",
        "--transactions",
        "1000000",
    ];
    let workload = ["--workload", "list-append", "--time-limit", "5"];
    let history = collect(folder.path(), &[&sessions[..], &workload, &faults].concat());
    assert!(
        history.cluster().incidents().len() > 10,
        "{:?}",
        history.cluster().incidents()
    );
    let unknown = history
        .transactions()
        .filter(|&t| history.outcome(t) == Outcome::Unknown)
        .count();
    let findings = check(&history);
    assert!(
        is_satisfied(&findings, Level::StrictSerializability),
        "{unknown} of unknown outcome"
    );
    // Registers are easier to look at.
    let small = tempfile::tempdir().expect("a temporary folder");
    let history = collect(
        small.path(),
        &[
            &sessions[..],
            &["--workload", "mini", "--time-limit", "1"],
            &faults,
        ]
        .concat(),
    );
    assert!(is_satisfied(&check(&history), Level::StrictSerializability));
    drawn_order(&small.path().join("history.edn"), &history, "sqlite-killed");
}

/// Two nodes of Galera: each is a primary. Whatever they do is shown with evidence that holds.
#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn nodes_of_galera_are_recorded_each_under_its_name() {
    let Some(cluster) = galera::start() else {
        return;
    };
    let [one, other] = [0, 1].map(|node| format!("n{}={}", node + 1, cluster.url(node)));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments = [
        "--db",
        &one,
        "--db",
        &other,
        "--isolation",
        "repeatable-read",
        "--time-limit",
        "6",
    ];
    let workload = [
        "--workload",
        "mini",
        "--keys",
        "8",
        "--sessions",
        "4",
        "--transactions",
        "1000000",
    ];
    let history = collect(folder.path(), &[&arguments[..], &workload].concat());
    let found = nodes(&history);
    assert!(
        matches!(&found[..], [(a, 2, 50..), (b, 2, 50..)] if a == "n1" && b == "n2"),
        "{found:?}"
    );
    let findings = check(&history);
    // Its snapshots do not notice conflicts with reads, on one node or on two.
    assert!(
        findings
            .patterns
            .get(&Pattern::LostUpdate)
            .is_some_and(|n| *n > 0),
        "{:?}",
        findings.patterns
    );
    drawn(
        &folder.path().join("history.edn"),
        &["--violation", "LostUpdate/1"],
        "galera-lost-update",
    );
    evidence(&history, &findings).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
#[cfg_attr(
    not(feature = "databases"),
    ignore = "built without clients of servers"
)]
fn a_recording_can_be_run_again_and_the_rate_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let found = folder.path().join("found");
    let Some(server) = servers::redis() else {
        return;
    };
    let database = [
        "--db",
        &server.url,
        "--isolation",
        "read-committed",
        "--level",
        "SI",
    ];
    let workload = [
        "--workload",
        "mini",
        "--keys",
        "2",
        "--rounds",
        "3",
        "--all-rounds",
        "-o",
        text(&found),
    ];
    let words = says(1, &[&["hunt"], &database[..], &workload].concat());
    assert!(
        words.contains("3 of 3 rounds violate SI") && words.matches("report.html").count() == 1,
        "{words}"
    );
    let report = std::fs::read_to_string(found.join("seed-1.report/report.md")).expect("a report");
    let known = [
        "| isolation level requested, and what the product means by it | read-committed |",
        "| faults injected | none |",
    ];
    assert!(known.iter().all(|row| report.contains(row)), "{report}");
    assert!(
        report.contains("isoscope reproduce") && report.contains(&format!("--db {}", server.url)),
        "{report}"
    );
    let again = folder.path().join("again");
    let rest = [
        "--db",
        &server.url,
        "--level",
        "SI",
        "--rounds",
        "2",
        "-o",
        text(&again),
    ];
    for recording in ["seed-2.edn", "seed-1.report"] {
        let recording = found.join(recording);
        let words = says(1, &[&["reproduce", text(&recording)], &rest[..]].concat());
        assert!(words.contains("2 of 2 runs violate SI"), "{words}");
        std::fs::remove_dir_all(&again).expect("a folder");
    }
    let small = folder.path().join("small");
    let workload = [
        "--workload",
        "mini",
        "--keys",
        "8",
        "--shrink",
        "20",
        "-o",
        text(&small),
    ];
    // What breaks nothing is not needed for it.
    let fault = [
        "--fault-cmd",
        "nothing=true",
        "--every",
        "0.1",
        "--for",
        "0.1",
    ];
    let words = says(1, &[&["hunt"], &database[..], &fault, &workload].concat());
    let (_, smallest) = words
        .split_once("of the smallest workload found violate SI, without faults")
        .expect("a rate");
    // How small it gets depends on how the server interleaves the clients; an eighth of the original's 8,000
    // operations always shows the anomaly.
    let number = |option: &str| -> usize {
        let (_, rest) = smallest.split_once(option).expect("an option");
        let digits = rest.trim_start().split(' ').next().expect("a value");
        digits.parse().expect("a number")
    };
    let operations = number("--sessions ") * number("--transactions ") * number("--operations ");
    assert!(
        operations <= 1_000 && smallest.contains("--workload mini"),
        "{words}"
    );
    assert!(small.join("smallest.edn").is_file() && !small.join("smaller.edn").exists());
    // The store keeps this promise, and another file is no recording.
    let words = says(
        0,
        &[
            "reproduce",
            text(&found.join("seed-2.edn")),
            "--isolation",
            "serializable",
            "--rounds",
            "1",
            "-o",
            text(&again),
        ],
    );
    assert!(words.contains("0 of 1 runs violate SER"), "{words}");
    let other = repository("sample_histories/web-shop.txt");
    assert!(
        says(2, &["reproduce", text(&other)]).contains("expected the description of a recording")
    );
}

/// Members of etcd that end with the test, with the addresses for clients; none where it is not installed.
struct Etcd(Vec<(std::process::Child, String)>);

impl Etcd {
    fn start(folder: &Path, members: usize) -> Option<Etcd> {
        let Some(daemon) = servers::program("etcd") else {
            return postgres::missing("etcd (etcd-server)");
        };
        let address = || format!("http://127.0.0.1:{}", servers::free_port());
        let peers: Vec<String> = (0..members).map(|_| address()).collect();
        let cluster: Vec<String> = peers
            .iter()
            .enumerate()
            .map(|(n, peer)| format!("m{n}={peer}"))
            .collect();
        let member = |(n, peer): (usize, &String)| {
            let (name, clients) = (format!("m{n}"), address());
            let mut serve = Command::new(&daemon);
            serve.args(["--name", &name, "--initial-cluster", &cluster.join(",")]);
            serve
                .arg("--data-dir")
                .arg(folder.join(&name))
                .args(["--listen-client-urls", &clients]);
            serve.args([
                "--advertise-client-urls",
                &clients,
                "--listen-peer-urls",
                peer,
            ]);
            serve.args(["--initial-advertise-peer-urls", peer]);
            let serve = serve
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            (serve.spawn().expect("etcd starts"), clients)
        };
        Some(Etcd(peers.iter().enumerate().map(member).collect()))
    }

    /// The command of the driver in Python at a member.
    fn driver(&self, python: &str, member: usize) -> String {
        format!(
            "{python} {} {}",
            repository("examples/drivers/etcd.py").display(),
            self.0[member].1
        )
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        for (process, _) in &mut self.0 {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// What the conformance run says, once the server answers.
fn conformance(command: &str) -> String {
    let begin = std::time::Instant::now();
    loop {
        let output = isoscope(&["collect", "--exec", command, "--conformance"]);
        if output.status.code() != Some(2) || begin.elapsed().as_secs() > 30 {
            return said(&output);
        }
    }
}

/// A member that answers reads alone has stale ones while it lags behind the others: transactions stay serializable, but
/// not in the order of the clock. Its sessions only read, or their writes would wait until it has caught up.
#[test]
fn stale_local_reads_of_etcd_are_found_and_stay_serializable() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(etcd) = Etcd::start(folder.path(), 3) else {
        return;
    };
    for member in 0..3 {
        assert_eq!(
            conformance(&etcd.driver(python, member))
                .matches("  ok    ")
                .count(),
            10
        );
    }
    let mut commands: Vec<String> = (0..3)
        .map(|n| format!("m{n}={} local", etcd.driver(python, n)))
        .collect();
    commands[2] += ",read-only";
    let paused = format!("m2={}", etcd.0[2].0.id());
    let mut arguments: Vec<&str> = commands
        .iter()
        .flat_map(|command| ["--exec", command])
        .collect();
    arguments.extend([
        "--workload",
        "mini",
        "--keys",
        "5",
        "--sessions",
        "9",
        "--transactions",
        "1000000",
    ]);
    arguments.extend([
        "--pause",
        &paused,
        "--every",
        "0.5",
        "--for",
        "0.4",
        "--final-reads",
        "--time-limit",
        "12",
    ]);
    // Found in most runs.
    let mut is_found = false;
    for seed in ["1", "2", "3", "4", "5", "6"] {
        let run = folder.path().join(seed);
        std::fs::create_dir(&run).expect("a folder");
        let history = collect(&run, &[&arguments[..], &["--seed", seed]].concat());
        let findings = check(&history);
        evidence(&history, &findings).unwrap_or_else(|error| panic!("{error}"));
        assert!(is_satisfied(&findings, Level::Serializability));
        let words: Vec<(String, usize, usize)> = nodes(&history);
        assert!(
            words.len() == 3 && words.iter().all(|(_, sessions, _)| *sessions > 0),
            "{words:?}"
        );
        is_found = !is_satisfied(&findings, Level::StrictSerializability);
        if is_found {
            picture(&run.join("history.edn"), "SSER", "etcd-local-reads");
            break;
        }
    }
    assert!(is_found, "no stale read in six runs");
}

/// A server that ends with the test.
struct Served(std::process::Child);

impl Served {
    fn start(command: &mut Command, folder: &Path) -> Served {
        let command = command
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Served(command.spawn().expect("the server starts"))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Conformance, and a strictly serializable run while the server is paused now and then.
fn is_driven_well(folder: &Path, command: &str, server: &Served) {
    let words = conformance(command);
    assert_eq!(words.matches("  ok    ").count(), 10, "{words}");
    let paused = format!("server={}", server.0.id());
    let limits = [
        "--sessions",
        "4",
        "--transactions",
        "100",
        "--time-limit",
        "60",
        "--keys",
        "5",
    ];
    let faults = [
        "--pause",
        &paused,
        "--every",
        "1",
        "--for",
        "0.4",
        "--final-reads",
    ];
    for workload in ["mini", "list-append"] {
        let run = folder.join(workload);
        std::fs::create_dir(&run).expect("a folder");
        let arguments = [
            &["--exec", command, "--workload", workload],
            &limits[..],
            &faults,
        ]
        .concat();
        let history = collect(&run, &arguments);
        let committed = history
            .transactions()
            .filter(|&t| history.outcome(t) == Outcome::Committed)
            .count();
        assert!(
            committed > 100 && is_satisfied(&check(&history), Level::StrictSerializability),
            "{committed}"
        );
    }
}

#[test]
fn tarantool_is_strictly_serializable_through_its_driver() {
    let Some(python) = python() else { return };
    let Some(daemon) = servers::program("tarantool") else {
        return postgres::missing("Tarantool (tarantool)").unwrap_or(());
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let port = servers::free_port();
    let program = format!(
        "box.cfg{{listen = '127.0.0.1:{port}', memtx_memory = 67108864}} \
         box.schema.user.grant('guest', 'super', nil, nil, {{if_not_exists = true}})"
    );
    let script = folder.path().join("init.lua");
    std::fs::write(&script, program).expect("a file");
    let server = Served::start(Command::new(daemon).arg(&script), folder.path());
    let driver = repository("examples/drivers/tarantool.py");
    is_driven_well(
        folder.path(),
        &format!("{python} {} 127.0.0.1:{port}", driver.display()),
        &server,
    );
}

#[test]
fn zookeeper_is_strictly_serializable_through_its_driver() {
    let Some(python) = python() else { return };
    let jars = Path::new("/usr/share/java");
    let java = servers::program("java").filter(|_| jars.join("zookeeper.jar").is_file());
    let Some(java) = java else {
        return postgres::missing("ZooKeeper (zookeeper)").unwrap_or(());
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (port, data) = (servers::free_port(), folder.path().join("data"));
    std::fs::create_dir(&data).expect("a folder");
    let settings = format!(
        "tickTime=2000\ndataDir={}\nclientPort={port}\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n",
        data.display()
    );
    std::fs::write(folder.path().join("zoo.cfg"), settings).expect("a file");
    let classes = [jars.join("zookeeper.jar"), jars.join("slf4j-simple.jar")]
        .map(|jar| jar.display().to_string());
    let mut serve = Command::new(java);
    serve.args([
        "-Xmx192m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        &classes.join(":"),
    ]);
    let serve = serve.args([
        "org.apache.zookeeper.server.quorum.QuorumPeerMain",
        "zoo.cfg",
    ]);
    let server = Served::start(serve, folder.path());
    let driver = repository("examples/drivers/zookeeper.py");
    is_driven_well(
        folder.path(),
        &format!("{python} {} 127.0.0.1:{port}", driver.display()),
        &server,
    );
}

/// etcd through its HTTP gateway, driven by the example in Python.
#[test]
fn etcd_is_strictly_serializable_through_its_driver() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(etcd) = Etcd::start(folder.path(), 1) else {
        return;
    };
    let command = etcd.driver(python, 0);
    let words = conformance(&command);
    // On a busy machine, starting four interpreters may take seconds.
    let limits = [
        "--sessions",
        "4",
        "--transactions",
        "50",
        "--time-limit",
        "60",
    ];
    let arguments = [
        &["--exec", &command, "--workload", "mini", "--keys", "5"],
        &limits[..],
    ]
    .concat();
    let history = collect(folder.path(), &arguments);
    assert_eq!(words.matches("  ok    ").count(), 10, "{words}");
    let committed = history
        .transactions()
        .filter(|&t| history.outcome(t) == Outcome::Committed)
        .count();
    assert!(
        committed > 50 && is_satisfied(&check(&history), Level::StrictSerializability),
        "{committed}"
    );
}
