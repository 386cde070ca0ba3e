//! A history written in any format and read back has the same verdicts, or the writer says what it cannot express.

use crate::common;

use common::examine::{self, signs};
use common::mixed::{self, Mix};
use common::random::{self, Shape, for_histories};
use common::sketch::Sketch;
use fastrand::Rng;
use isoscope::checkers::{Findings, Level, Verdict};
use isoscope::control::Control;
use isoscope::formats::Naming;
use isoscope::formats::{self, FORMATS};
use isoscope::history::{Builder, History, OperationKind, Origin, Value};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Random histories, each in every format.
const HISTORIES: u64 = 1_500;

/// The history of a sketch with numbers for names, as registers that begin with 0 or with nothing, or as lists.
fn numbered(sketch: &Sketch, kind: Kind) -> History {
    let mut builder = Builder::new(Origin::default());
    if kind == Kind::FromZero {
        builder.initial_value(Value(0));
    }
    for (s, transactions) in sketch.sessions.iter().enumerate() {
        let session = builder.session_number(s as u64 + 1);
        for transaction in transactions.iter().filter(|t| !t.operations.is_empty()) {
            let draft = builder.transaction(session, transaction.outcome);
            for operation in &transaction.operations {
                let key = builder.key_number(operation.key as u64);
                let nothing = matches!(operation.value, Value(0) | Value::INITIAL);
                match (operation.kind, kind) {
                    (OperationKind::Read, Kind::Lists) => {
                        let elements: Vec<Value> =
                            (1..=operation.value.0.min(9)).map(Value).collect();
                        builder.list_read(draft, key, if nothing { &[] } else { &elements }, 0);
                    }
                    (OperationKind::Read, Kind::FromNothing) if nothing => {
                        builder.operation(draft, OperationKind::Read, key, Value::INITIAL, 0);
                    }
                    (operation_kind, _) => {
                        if kind == Kind::Lists {
                            builder.list_key(key);
                        }
                        builder.operation(draft, operation_kind, key, operation.value, 0);
                    }
                }
            }
        }
    }
    builder.finish().expect("sketches are small")
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    FromZero,
    FromNothing,
    Lists,
}

#[test]
fn conversions_agree_in_verdict() {
    let control = Control::new();
    let written: Mutex<BTreeMap<&str, usize>> = Mutex::default();
    for kind in [Kind::FromZero, Kind::FromNothing, Kind::Lists] {
        for_histories(Shape::SMALL, HISTORIES, |sketch| {
            let history = numbered(sketch, kind);
            let before = signs(examine::engine_verdicts(&examine::check(&history)));
            for format in FORMATS.iter().filter(|format| format.write.is_some()) {
                let mut bytes = Vec::new();
                if formats::write(&history, format.name, &mut bytes).is_err() {
                    continue;
                }
                let problem = |what: String| format!("{} of {kind:?}: {what}", format.name);
                let again = formats::open_bytes("", &bytes, Some(format.name), &control);
                let again = again.map_err(|error| problem(error.to_string()))?;
                // Where something of weight is lost, converting is refused.
                if formats::losses(&history, &again).is_err() {
                    continue;
                }
                *written
                    .lock()
                    .expect("no holder panics")
                    .entry(format.name)
                    .or_default() += 1;
                let after = signs(examine::engine_verdicts(&examine::check(&again)));
                if after != before {
                    return Err(problem(format!("{before} became {after}")));
                }
            }
            Ok(())
        });
    }
    let written = written.into_inner().expect("no holder panics");
    println!("{written:?}");
    // Porcupine's two are only read; TimeKiller's needs times.
    for format in FORMATS
        .iter()
        .filter(|format| format.write.is_some() && format.name != "timekiller")
    {
        assert!(
            written
                .get(format.name)
                .is_some_and(|n| *n as u64 > random::share(100, HISTORIES)),
            "{} is hardly tried",
            format.name
        );
    }
}

/// Histories of every kind, each in every format.
const MIXED: u64 = 4_000;

/// Satisfied, violated, or undecided and why not.
fn verdicts(findings: &Findings) -> Vec<(Level, &'static str)> {
    let word = |verdict: &Verdict| match verdict {
        Verdict::Satisfied(_) => "satisfied",
        Verdict::Violated => "violated",
        Verdict::Undecided(_) => "undecided",
    };
    findings
        .levels
        .iter()
        .map(|result| (result.level, word(&result.verdict)))
        .collect()
}

/// What conversions of the histories of these seeds do: by format, how many were written, written in other words, and
/// refused.
fn convert_all(naming: Naming, seeds: std::ops::Range<u64>) -> BTreeMap<&'static str, [usize; 3]> {
    let control = Control::new();
    let figures: Mutex<BTreeMap<&str, [usize; 3]>> = Mutex::default();
    seeds.into_par_iter().for_each(|seed| {
        let mix = Mix::any(&mut Rng::with_seed(seed));
        let text = mixed::text(&mix, seed);
        let history = mixed::history(&mix, seed);
        let before = examine::check(&history);
        for format in FORMATS.iter().filter(|format| format.write.is_some()) {
            let told = |place: usize| {
                figures
                    .lock()
                    .expect("no holder panics")
                    .entry(format.name)
                    .or_default()[place] += 1;
            };
            let converted = match formats::convert(&history, format.name, naming, &control) {
                Ok(converted) => converted,
                Err(error) => {
                    let message = error.to_string();
                    assert!(
                        !message.is_empty() && !message.contains('\n'),
                        "seed {seed}\n{text}{message}"
                    );
                    told(2);
                    continue;
                }
            };
            told(usize::from(
                converted.words.iter().any(|word| word.contains(": ")),
            ));
            assert_eq!(converted.names.is_some(), naming == Naming::Numbers);
            let after = examine::check(&converted.history);
            let is_about_time = |level: Level| level >= Level::StrictSerializability;
            let keeps_times = !converted
                .words
                .iter()
                .any(|word| word.contains("when transactions ran"));
            for (level, verdict) in verdicts(&before) {
                let found = verdicts(&after)
                    .into_iter()
                    .find(|(other, _)| *other == level)
                    .map(|(_, verdict)| verdict);
                let is_same = found == Some(verdict)
                    || is_about_time(level)
                        && (!keeps_times || found.is_none() || verdict == "undecided");
                assert!(
                    is_same,
                    "seed {seed}: {level} was {verdict} and is {found:?} as {}\n{text}\n{:?}\n{}",
                    format.name,
                    converted.words,
                    String::from_utf8_lossy(&converted.files[0].1),
                );
            }
        }
    });
    figures.into_inner().expect("no holder panics")
}

#[test]
fn no_conversion_changes_a_verdict() {
    let figures = convert_all(Naming::Kept, random::seeds(MIXED));
    println!("{figures:?}");
    for (format, [plain, other_words, refused]) in &figures {
        assert!(
            (plain + other_words) as u64 > random::share(20, MIXED),
            "{format} is hardly written"
        );
        let says_all = ["text", "json"].contains(format);
        assert_eq!(says_all, *refused == 0, "{format} refuses {refused}");
    }
    for format in ["plume", "hist", "dbcop-json", "dbcop-bincode"] {
        assert!(
            figures[format][1] > 20,
            "{format}: hardly anything is put in other words"
        );
    }
}

#[test]
fn numbers_for_names_change_no_verdict() {
    let named = convert_all(Naming::Kept, 0..MIXED / 4);
    let numbered = convert_all(Naming::Numbers, 0..MIXED / 4);
    println!("{numbered:?}");
    for (format, [_, _, refused]) in numbered {
        assert!(
            refused <= named[format][2],
            "{format} refuses {refused} with numbers, {} with names",
            named[format][2]
        );
    }
}

/// What a command prints on standard error, its exit code, and the file `out` in a folder where `input` is `in.txt`.
fn run(folder: &std::path::Path, arguments: &[&str]) -> (i32, String) {
    let program = std::process::Command::new(env!("CARGO_BIN_EXE_isoscope"))
        .current_dir(folder)
        .args(arguments)
        .output();
    let output = program.expect("the program starts");
    (
        output.status.code().expect("no signal"),
        String::from_utf8(output.stderr).expect("UTF-8"),
    )
}

#[test]
fn a_written_zero_stays_a_version_like_others() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    for text in [
        "initial: none\n0: [w 1 0]!\n1: [r 1 0]\n",
        "initial: none\na: [r 1 1] [w 2 0]\nb: [r 2 0] [w 1 1]\n",
        "initial: 3\n0: [w 1 0, w 1 3]!\n1: [r 1 0]\n",
    ] {
        std::fs::write(path("in.txt"), text).expect("writable");
        for format in ["plume", "hist", "dbcop-json", "dbcop-bincode"] {
            for command in [
                &["convert", "in.txt"][..],
                &["minimize", "in.txt", "--level", "RC"],
            ] {
                let arguments = [command, &["--to", format, "-o", "out"]].concat();
                let (code, told) = run(folder.path(), &arguments);
                assert_eq!(code, 0, "{told}");
                assert!(
                    told.contains(&format!(
                        "{format} cannot express that 0 is a value like others: it is written as"
                    )),
                    "{told}"
                );
                let (code, _) = run(
                    folder.path(),
                    &["check", "out", "--format", format, "--level", "RC"],
                );
                assert_eq!(code, 1, "{format} of {text}");
            }
        }
    }
}

#[test]
fn numbers_for_names_come_with_a_table() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(
        path("in.txt"),
        "alice: [w \"-29 03\" v, w y 0] []\nbob: [r y 0, r \"-29 03\" init]\n",
    )
    .expect("writable");
    let (code, told) = run(folder.path(), &["convert", "in.txt", "-o", "out.hist"]);
    assert_eq!(code, 2, "{told}");
    assert!(
        told.ends_with(" (--renumber writes numbers in place of names)\n")
            && told.lines().count() == 1,
        "{told}"
    );
    assert!(!path("out.hist").exists());
    let (code, told) = run(
        folder.path(),
        &["convert", "in.txt", "-o", "out.hist", "--renumber"],
    );
    assert_eq!(code, 0, "{told}");
    assert!(
        told.contains("hist cannot express transactions without operations: 1 is left out"),
        "{told}"
    );
    let table = std::fs::read_to_string(path("out.hist.names.json")).expect("the table is there");
    let table: serde_json::Value = serde_json::from_str(&table).expect("JSON");
    assert_eq!(table["schema"], "isoscope.names/1");
    assert_eq!(
        (&table["keys"]["1"], &table["keys"]["2"]),
        (&"-29 03".into(), &"y".into())
    );
    assert_eq!(
        (&table["sessions"]["2"], &table["values"]["0"]),
        (&"bob".into(), &"0".into())
    );
    assert_eq!(
        (&table["transactions"]["3"], &table["values"]["1"]),
        (&"bob1".into(), &"v".into())
    );
    assert_eq!(
        std::fs::read_to_string(path("out.hist")).expect("written"),
        "[1:=1 2:=0]\n---\n[2==0 1==?]\n"
    );
    let (code, told) = run(
        folder.path(),
        &["convert", "in.txt", "-o", "-", "--to", "hist", "--renumber"],
    );
    assert!(code == 2 && told.contains("--names"), "{told}");
    let names = [
        "convert",
        "in.txt",
        "-o",
        "-",
        "--to",
        "hist",
        "--renumber",
        "--names",
        "n.json",
    ];
    assert_eq!(run(folder.path(), &names).0, 0);
    assert!(path("n.json").exists());
    // Where names are not what is in the way, numbers are not offered.
    std::fs::write(path("in.txt"), "a: [w x 1]?\n").expect("writable");
    let (code, told) = run(folder.path(), &["convert", "in.txt", "-o", "out2.hist"]);
    assert!(code == 2 && !told.contains("--renumber"), "{told}");
}

#[test]
fn an_empty_history_satisfies_every_level() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in [
        ("a.json", "[]"),
        ("b.edn", "{:type :info, :process :nemesis, :f :kill}\n"),
    ] {
        std::fs::write(folder.path().join(name), text).expect("writable");
        let (code, told) = run(folder.path(), &["check", name, "--allow-empty"]);
        assert_eq!((code, told.as_str()), (0, ""), "{name}");
        // Nothing was tested.
        assert_eq!(run(folder.path(), &["check", name]).0, 3, "{name}");
        let (code, told) = run(folder.path(), &["stats", name]);
        assert_eq!((code, told.as_str()), (0, ""), "{name}");
    }
}
