//! Generated reproductions on a real PostgreSQL: they run, show what the program says they show, and a setting that
//! forbids the anomaly refuses it. Skipped where no PostgreSQL is installed.
#![cfg(unix)]

use crate::common;

use common::{postgres, repository};
use isoscope::checkers::{self, Level, Options};
use isoscope::control::Control;
use isoscope::counterexample::{self, Counterexample};
use isoscope::export::reproduce::{self, Isolation, Plan, Reproduction, interleave, spec, sql};
use isoscope::formats::{self, Input};
use isoscope::history::History;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// What PostgreSQL says where it keeps its claim: it could not serialize, and the transaction is over.
const REFUSALS: [&str; 2] = ["40001", "25P02"];
/// Nothing in a script waits for a lock; if something did, the statement would fail and not the test hang.
const SETTINGS: [&str; 1] = ["lock_timeout=60s"];

const WRITE_SKEW: &str = "a: [r x 0, r y 0, w x 1]\nb: [r x 0, r y 0, w y 2]\n";
const LOST_UPDATE: &str = "a: [r x 0, w x 1]\nb: [r x 0, w x 2]\n";

fn read(text: &[u8]) -> History {
    formats::read(&Input::new("h.txt", text), None, &Control::new()).expect("it reads")
}

/// The smallest counterexample to the weakest level that a history violates.
fn counterexample(history: &History) -> Option<Counterexample> {
    let control = Control::new();
    let options = Options {
        levels: Level::of(history),
        ..Options::default()
    };
    let findings = checkers::check(history, &options, &control, &|_| {});
    let easiest = findings
        .violations
        .iter()
        .min_by_key(|v| (v.levels.weakest(), v.implied, v.size(), v.id))?;
    Some(counterexample::minimize(history, easiest, &control))
}

fn reproduction<'a>(
    example: &'a Counterexample,
    plan: &'a Plan,
    isolation: Isolation,
) -> Reproduction<'a> {
    let headline = counterexample::title(&example.history, &example.violation);
    Reproduction {
        history: &example.history,
        plan,
        isolation,
        headline,
        origin: "a test".to_owned(),
    }
}

fn plan(example: &Counterexample) -> Plan {
    reproduce::plan(example, &Control::new())
}

/// What a run answered.
#[derive(Debug, Default, PartialEq)]
struct Run {
    /// Errors other than refusals.
    errors: Vec<String>,
    /// Statements refused.
    refused: usize,
    /// Reads answered otherwise than observed.
    differ: Vec<String>,
}

impl Run {
    /// Whether everything was as observed.
    fn shows(&self) -> bool {
        assert!(self.errors.is_empty(), "{self:?}");
        self.refused == 0 && self.differ.is_empty()
    }

    fn compare(&mut self, place: &str, observed: &str, answered: &[String]) {
        let answer = answered.join(",");
        let same = match observed.strip_prefix("anything but ") {
            Some(other) => answer != other,
            None => match observed {
                "not recorded" => true,
                "NULL" | "an empty text" => answer.is_empty(),
                value => answer == value,
            },
        };
        if !same {
            self.differ
                .push(format!("{place}: {observed}, got {answer}"));
        }
    }
}

/// One `psql`, fed line by line.
struct Terminal {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Terminal {
    fn open(server: &postgres::Server) -> Terminal {
        let mut psql = server.psql();
        psql.args(["--set=ON_ERROR_STOP=0"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = psql.spawn().expect("psql starts");
        let (input, output) = (
            process.stdin.take().expect("piped"),
            process.stdout.take().expect("piped"),
        );
        Terminal {
            process,
            input,
            output: BufReader::new(output),
        }
    }

    /// Runs a statement: its rows, and the SQLSTATE.
    fn run(&mut self, statement: &str) -> (Vec<String>, String) {
        writeln!(self.input, "{statement}\n\\echo done :SQLSTATE").expect("psql reads");
        self.input.flush().expect("psql reads");
        let mut rows = Vec::new();
        loop {
            let mut line = String::new();
            assert!(
                self.output.read_line(&mut line).expect("psql answers") > 0,
                "psql ended at {statement}"
            );
            let line = line.trim_end_matches('\n').to_owned();
            match line.strip_prefix("done ") {
                Some(state) => return (rows, state.to_owned()),
                None => rows.push(line),
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = writeln!(self.input, "\\q");
        let _ = self.input.flush();
        let _ = self.process.wait();
    }
}

/// Types a script into as many terminals as it names.
fn type_in(server: &postgres::Server, script: &str) -> Run {
    let mut terminals: BTreeMap<String, Terminal> = BTreeMap::new();
    let mut run = Run::default();
    for line in script
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("--"))
    {
        let Some((name, rest)) = line
            .strip_prefix("/* ")
            .and_then(|line| line.split_once(" */ "))
        else {
            terminals.clear();
            server.sql(line);
            continue;
        };
        let terminal = terminals
            .entry(name.to_owned())
            .or_insert_with(|| Terminal::open(server));
        let (rows, state) = terminal.run(rest);
        match state.as_str() {
            "00000" => {
                if let Some((_, observed)) = rest.split_once("  -- observed: ") {
                    // Of a list that was longer, the script can show only what it appends.
                    let (all, note) = observed.split_once(" (").unwrap_or((observed, ""));
                    let part = note
                        .strip_prefix("here ")
                        .and_then(|note| note.split_once(", without"));
                    let observed = part.map_or(all, |(part, _)| part);
                    run.compare(line, observed, &rows);
                }
            }
            refusal if REFUSALS.contains(&refusal) => run.refused += 1,
            other => run.errors.push(format!("{other}: {line}")),
        }
    }
    run
}

/// Lets the isolation tester run a specification; `None` where it is not installed.
fn isolation_test(server: &postgres::Server, specification: &str) -> Option<Run> {
    let mut command = std::process::Command::new(server.isolation_tester()?);
    command
        .arg(server.connection())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut process = command.spawn().expect("isolationtester starts");
    process
        .stdin
        .take()
        .expect("piped")
        .write_all(specification.as_bytes())
        .expect("it reads");
    let output = process.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{}\n{said}\n{specification}",
        String::from_utf8_lossy(&output.stderr)
    );
    let observed: BTreeMap<&str, &str> = specification
        .lines()
        .filter_map(|line| {
            let (name, rest) = line.strip_prefix("step \"")?.split_once('"')?;
            Some((name, rest.split_once("  # observed: ")?.1))
        })
        .collect();
    let mut run = Run::default();
    let mut lines = said.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(error) = line.strip_prefix("ERROR:  ") {
            let refusals = [
                "could not serialize access",
                "current transaction is aborted",
            ];
            if refusals.iter().any(|refusal| error.starts_with(refusal)) {
                run.refused += 1
            } else {
                run.errors.push(error.to_owned())
            }
        }
        let Some(name) = line
            .strip_prefix("step ")
            .and_then(|line| line.split(':').next())
        else {
            continue;
        };
        let Some(observed) = observed.get(name) else {
            continue;
        };
        // A table of one column: its name, a line of dashes, the row, how many rows.
        if lines
            .peek()
            .is_some_and(|next| next.trim() == "v" || next.trim_start().starts_with("v"))
        {
            let table: Vec<&str> = lines
                .by_ref()
                .take_while(|line| !line.starts_with('('))
                .collect();
            let rows: Vec<String> = table
                .iter()
                .skip(2)
                .map(|row| row.trim().to_owned())
                .collect();
            run.compare(name, observed, &rows);
        }
    }
    Some(run)
}

/// Runs both kinds of script at a setting; they must agree on whether everything was as observed.
fn shows(server: &postgres::Server, example: &Counterexample, isolation: Isolation) -> bool {
    let plan = plan(example);
    let reproduction = reproduction(example, &plan, isolation);
    let typed = type_in(server, &sql(&reproduction));
    if let Some(tested) = isolation_test(server, &spec(&reproduction)) {
        assert_eq!(tested.shows(), typed.shows(), "{tested:?} {typed:?}");
    }
    typed.shows()
}

#[test]
fn a_server_of_our_own_answers_and_goes_away() {
    let Some(server) = postgres::start(&[]) else {
        return;
    };
    let folder = server.socket_dir().to_owned();
    assert_eq!(server.sql("select 6 * 7"), "42\n");
    drop(server);
    assert!(!folder.exists());
}

#[test]
fn anomalies_show_below_the_claimed_setting_and_not_at_it() {
    let Some(server) = postgres::start(&SETTINGS) else {
        return;
    };
    let skew = counterexample(&read(WRITE_SKEW.as_bytes())).expect("violated");
    assert_eq!(Isolation::claiming(skew.level), Isolation::Serializable);
    assert!(shows(&server, &skew, Isolation::RepeatableRead));
    assert!(!shows(&server, &skew, Isolation::Serializable));
    let lost = counterexample(&read(LOST_UPDATE.as_bytes())).expect("violated");
    assert_eq!(Isolation::claiming(lost.level), Isolation::RepeatableRead);
    assert!(shows(&server, &lost, Isolation::ReadCommitted));
    assert!(!shows(&server, &lost, Isolation::RepeatableRead));
}

#[test]
fn every_sample_runs_and_shows_where_it_is_said_to() {
    let Some(server) = postgres::start(&SETTINGS) else {
        return;
    };
    let mut tried = 0;
    for entry in std::fs::read_dir(repository("sample_histories")).expect("part of the repository")
    {
        let path = entry.expect("readable").path();
        let is_history = path.is_file() && path.extension().is_some_and(|ending| ending != "md");
        let Some(history) =
            is_history.then(|| formats::open(&path, None, &Control::new()).expect("it reads"))
        else {
            continue;
        };
        let Some(example) = counterexample(&history) else {
            continue;
        };
        let plan = plan(&example);
        let claimed = Isolation::claiming(example.level);
        assert!(
            !shows(&server, &example, claimed),
            "{}: PostgreSQL keeps {claimed}",
            path.display()
        );
        for &setting in plan
            .shown_at
            .iter()
            .filter(|setting| **setting > Isolation::ReadUncommitted)
        {
            assert!(
                setting < claimed,
                "{}: {setting} below {claimed}",
                path.display()
            );
            assert!(
                shows(&server, &example, setting),
                "{} at {setting}",
                path.display()
            );
        }
        tried += 1;
    }
    assert!(tried >= 25, "{tried}");
}

#[test]
fn names_of_all_kinds_run() {
    let Some(server) = postgres::start(&SETTINGS) else {
        return;
    };
    // Keys and values with quotes, braces, comments, backslashes; sessions that end comments; lists; nothing read.
    let odd = "\"a*/ \\\"; --\": [r \"it's}{\" init, w \"it's}{\" \"x\\\\y'\", r \"--\" ?]\n\
               \"b\\nc\": [r \"it's}{\" init, w \"it's}{\" \"/* z\", a l \"o'k\"] [r l [\"o'k\"]]\n";
    let history = read(odd.as_bytes());
    let plan = interleave(&history, Level::SnapshotIsolation, &[], &Control::new());
    for isolation in [Isolation::ReadCommitted, Isolation::Serializable] {
        let reproduction = Reproduction {
            history: &history,
            plan: &plan,
            isolation,
            headline: "odd\nnames".into(),
            origin: "*/".into(),
        };
        let typed = type_in(&server, &sql(&reproduction));
        assert_eq!(
            typed.shows(),
            isolation == Isolation::ReadCommitted,
            "{typed:?}"
        );
        if let Some(tested) = isolation_test(&server, &spec(&reproduction)) {
            assert_eq!(
                tested.shows(),
                isolation == Isolation::ReadCommitted,
                "{tested:?}"
            );
        }
    }
}
