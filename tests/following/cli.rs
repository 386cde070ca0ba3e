//! `isoscope check --follow` as users run it.

use crate::common;

use serde_json::{Value as Json, json};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn isoscope(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isoscope"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str]) -> Output {
    isoscope(arguments).output().expect("the program runs")
}

fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[test]
fn files_that_would_overwrite_each_other_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("h.txt"), "a: [w x 1]\n").expect("it can be written");
    let cases = [
        ["h.txt", "--order", "./h.txt", "--until-idle", "0"],
        ["h.txt", "--checkpoint", "h.txt", "--until-idle", "0"],
    ];
    let both = ["h.txt", "--order", "new", "--checkpoint", "./new"];
    for arguments in cases.iter().chain([&both]) {
        let mut command = isoscope(&["check", "--follow"]);
        let output = command
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .expect("the program runs");
        let (code, out, err) = said(&output);
        assert_eq!(
            (code, out.as_str(), err.lines().count()),
            (Some(2), "", 1),
            "{err}"
        );
        assert!(err.contains("must be different files"), "{err}");
    }
    assert_eq!(
        fs::read_to_string(path("h.txt")).expect("it is there"),
        "a: [w x 1]\n"
    );
    assert!(!path("new").exists());
}

#[test]
fn what_cannot_be_written_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let history = folder.path().join("h.txt");
    fs::write(&history, "a: [w x 1]\n").expect("it can be written");
    let missing = folder.path().join("missing/c");
    let paths = [&history, &missing].map(|path| path.to_str().expect("text"));
    let (code, out, err) = said(&run(&[
        "check",
        "--follow",
        paths[0],
        "--checkpoint",
        paths[1],
        "--until-idle",
        "9",
    ]));
    assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
    assert!(err.contains("missing"), "{err}");
    let (code, _, err) = said(&run(&[
        "check",
        "--follow",
        paths[0],
        "--memory-limit",
        "20",
    ]));
    assert!(code == Some(2) && err.contains("--memory-limit"), "{err}");
}

#[test]
fn a_violation_is_shown_when_the_file_has_grown_by_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("growing.txt");
    fs::write(&path, "a: [w x 1]\nb: [r x 1] [r x").expect("a file");
    let child = isoscope(&[
        "check",
        "--follow",
        text(&path),
        "--until-idle",
        "2",
        "--level",
        "RA,SI,SER",
    ])
    .spawn();
    std::thread::sleep(Duration::from_millis(1500));
    let mut file = File::options().append(true).open(&path).expect("the file");
    file.write_all(b" 1, w x 2]\na: [r x 1, w x 3]\n")
        .expect("it grows");
    let output = child.expect("it runs").wait_with_output().expect("it ends");
    let (code, out, err) = said(&output);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(
        out.starts_with("violated SI, SER  line 3, session a: One of two updates was lost\n"),
        "{out}"
    );
    assert!(
        out.contains("    a:") && out.contains("\n  RA    satisfied"),
        "{out}"
    );
    assert_eq!(out.matches("violated SI, SER").count(), 1, "{out}");
    assert!(err.contains("line 1 · 1 delivered"), "{err}");
}

#[test]
fn standard_input_ends_with_the_exit_code_of_a_check() {
    for name in [
        "ok-serial.txt",
        "tap-k-fractured-read.txt",
        "tap-a-thin-air-read.txt",
        "web-shop.txt",
        "ok-lists.txt",
    ] {
        let path = common::repository("sample_histories").join(name);
        let followed = isoscope(&["check", "--follow", "-"])
            .stdin(File::open(&path).expect("a sample"))
            .output();
        let (code, out, err) = said(&followed.expect("it runs"));
        let expected = run(&["check", text(&path)]).status.code();
        assert_eq!(code, expected, "{name}: {out}{err}");
    }
}

/// The events of a history that is followed as JSON, and the exit code.
fn events(arguments: &[&str], input: Stdio) -> (Option<i32>, Vec<Json>) {
    let output = isoscope(&[&["check", "--follow", "--json"], arguments].concat())
        .stdin(input)
        .output();
    let (code, out, err) = said(&output.expect("it runs"));
    let events: Vec<Json> = out
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    assert!(
        events
            .iter()
            .all(|event| event["schema"] == "isoscope.followed/1"),
        "{out}{err}"
    );
    (code, events)
}

#[test]
fn events_are_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lost.txt");
    fs::write(
        &path,
        "a: [w x 1]\nb: [r x 1]\nb: [r x 1, w x 2]\na: [r x 1, w x 3]\nb: [r x\n",
    )
    .expect("a file");
    let (code, all) = events(&[text(&path), "--level", "RA,SI,SER"], Stdio::null());
    assert_eq!(code, Some(2), "{all:?}");
    let named = |name: &str| {
        all.iter()
            .filter(|event| event["event"] == name)
            .collect::<Vec<_>>()
    };
    let [violation] = named("violation")[..] else {
        panic!("{all:?}")
    };
    assert_eq!(
        (&violation["levels"], &violation["line"]),
        (&json!(["SI", "SER"]), &json!(4))
    );
    // The small history is one that can be checked, and violates what is said.
    let small = folder.path().join("small.json");
    fs::write(&small, violation["history"].to_string()).expect("a file");
    let (code, out, err) = said(&run(&["check", text(&small), "--level", "SI", "--json"]));
    assert_eq!(code, Some(1), "{out}{err}");
    let report: Json = serde_json::from_str(&out).expect("a report");
    assert_eq!(report["violations"][0]["pattern"], violation["pattern"]);
    assert_eq!(violation["violation"]["levels"][0], "SI");
    let answers: Vec<_> = named("answer")
        .iter()
        .map(|a| (&a["level"], &a["line"], &a["verdict"]))
        .collect();
    let violated = json!("violated");
    assert_eq!(
        answers,
        [
            (&json!("SI"), &json!(4), &violated),
            (&json!("SER"), &json!(4), &violated)
        ]
    );
    let end = all.last().expect("an end");
    assert_eq!(
        (
            &end["event"],
            &end["delivered"],
            &end["levels"][0]["verdict"]
        ),
        (&json!("end"), &json!(4), &json!("undecided"))
    );
    assert_eq!(
        end["levels"][0]["reason"],
        "the history could not be read to its end"
    );
    assert!(
        end["error"]
            .as_str()
            .expect("an error")
            .contains("line 5, column 8"),
        "{end}"
    );
}

#[test]
fn an_order_is_written_and_replayed() {
    let folder = tempfile::tempdir().expect("a folder");
    let [history, order] = ["made.edn", "made.order"].map(|name| folder.path().join(name));
    let (history, order) = (text(&history), text(&order));
    let made = run(&[
        "generate",
        "--store",
        "serial",
        "--seed",
        "3",
        "--sessions",
        "6",
        "--transactions",
        "300",
        "-o",
        history,
    ]);
    assert!(made.status.success(), "{:?}", said(&made));
    let options = [
        "--horizon",
        "500",
        "--until-idle",
        "0.2",
        "--order",
        order,
        "--level",
        "SER",
    ];
    let (code, out, err) = said(&run(
        &[["check", "--follow", history].as_slice(), &options].concat()
    ));
    assert_eq!(code, Some(0), "{out}{err}");
    let verified = |history: &str, order: &str| said(&run(&["verify", history, "--order", order]));
    let (code, out, err) = verified(history, order);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.starts_with("SER is satisfied: every read of "), "{out}");
    let written = fs::read_to_string(order).expect("the order");
    let cut = written.strip_suffix("end\n").expect("it has an end");
    for (changed, message) in [
        (cut.to_owned(), "has no end"),
        (written.replacen("\n", "\n7\n", 1), "cannot be trusted"),
    ] {
        fs::write(order, changed).expect("a file");
        let (code, out, err) = verified(history, order);
        assert!(code == Some(1) && out.contains(message), "{out}{err}");
    }
    fs::write(order, "isoscope.order/1 SER\nseven\n").expect("a file");
    let (code, _, err) = verified(history, order);
    assert!(
        code == Some(2) && err.contains("line 2: expected the number of a transaction"),
        "{err}"
    );
}

#[test]
fn what_cannot_be_followed_is_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("some.txt");
    fs::write(&path, "a: [w x 1]\nb: [r x\n").expect("a file");
    let json = common::repository("sample_histories/lost-update.json");
    let empty = folder.path().join("empty.txt");
    fs::write(&empty, "").expect("a file");
    let cases: [(&[&str], &str); 6] = [
        (
            &["check", "--follow", text(&empty), "--until-idle", "0"],
            "empty.txt: empty file: a history with at least",
        ),
        (
            &["check", "--follow", "missing.txt"],
            "missing.txt: No such file",
        ),
        (
            &["check", "--follow", text(&path)],
            "some.txt: line 2, column 8: expected a value, found the end of the line",
        ),
        (
            &["check", "--follow", text(&json)],
            "cannot be followed, only text, elle-edn, plume",
        ),
        (
            &["check", "--follow", text(&path), "--level", "P-SI"],
            "P-SI cannot be followed, only CI, RC",
        ),
        (&["check", text(&path), "--order", "x"], "--follow"),
    ];
    for (arguments, message) in cases {
        let (code, out, err) = said(&run(arguments));
        assert!(!out.contains("satisfied"), "{arguments:?}: {out}");
        let last = err.lines().last().unwrap_or_default();
        assert!(
            code == Some(2) && last.contains(message),
            "{arguments:?}: {err}"
        );
    }
}

/// The writer of what is waited for may be on the line that cannot be read.
#[test]
fn what_waits_for_a_line_that_cannot_be_read_is_not_violated() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cut.txt");
    for (last, code, is_violated) in [("b: [w x 1, w y", 2, false), ("b: [w y 1]", 1, true)] {
        fs::write(&path, format!("a: [r x 1]\n{last}")).expect("a file");
        let (ended, out, err) = said(&run(&[
            "check",
            "--follow",
            text(&path),
            "--until-idle",
            "0",
        ]));
        assert_eq!(
            (ended, out.contains("violated")),
            (Some(code), is_violated),
            "{out}{err}"
        );
    }
}

#[test]
fn a_file_that_becomes_shorter_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shrinking.txt");
    fs::write(&path, "a: [w x 1]\n").expect("a file");
    let child = isoscope(&["check", "--follow", text(&path)])
        .spawn()
        .expect("it runs");
    std::thread::sleep(Duration::from_millis(500));
    fs::write(&path, "").expect("a file");
    let (code, out, err) = said(&child.wait_with_output().expect("it ends"));
    assert!(
        code == Some(2) && err.contains("the file became shorter while it was followed"),
        "{out}{err}"
    );
}
