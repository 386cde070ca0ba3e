//! Why a level holds: what the sentences and pictures say is checked against the history itself, line by line.

use crate::common;

use common::random::{Shape, for_histories};
use isoscope::audit;
use isoscope::checkers::{Findings, Level, LevelResult, Options, Verdict, WitnessKind};
use isoscope::control::Control;
use isoscope::counterexample::passes::{Passes, Seen, Surroundings, markdown, plain_text};
use isoscope::diagram::scene::Shape as Mark;
use isoscope::diagram::theme::Role;
use isoscope::export::{ExportKind, MOST_DRAWN, Picture, Stretch, compose_order, export};
use isoscope::formats;
use isoscope::history::{
    History, KeyId, Operation, OperationId, OperationKind, TransactionId, Value,
};
use isoscope::relations::{self, Resolution};
use isoscope::verify;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn findings(history: &History) -> Findings {
    let options = Options {
        levels: Level::EVERY.to_vec(),
        ..Options::default()
    };
    audit::check(history, &options, &Control::new(), &|_| {})
}

fn surroundings(findings: &Findings) -> Surroundings<'_> {
    Surroundings {
        assumptions: &findings.assumptions,
        verdicts: findings.verdicts().collect(),
    }
}

fn passes<'a>(
    history: &'a History,
    resolution: &'a Resolution,
    result: &'a LevelResult,
) -> Passes<'a> {
    let is_verified = verify::can_replay(history);
    let passes = Passes::new(history, resolution, result, is_verified, &Control::new());
    passes.expect("no limit").expect("the level holds")
}

/// Calls `test` with every level that holds.
fn each_satisfied(
    history: &History,
    mut test: impl FnMut(&Passes<'_>, &Findings) -> Result<(), String>,
) -> Result<usize, String> {
    let findings = findings(history);
    let resolution = relations::resolve(history, &Control::new()).expect("no limit");
    let satisfied = findings
        .levels
        .iter()
        .filter(|result| matches!(result.verdict, Verdict::Satisfied(_)));
    let mut n = 0;
    for result in satisfied {
        let passes = passes(history, &resolution, result);
        test(&passes, &findings).map_err(|problem| {
            format!(
                "{}: {problem}\n{}",
                result.level,
                plain_text(&passes, &surroundings(&findings), true)
            )
        })?;
        n += 1;
    }
    Ok(n)
}

/// The sample histories that satisfy everything, by name.
fn samples() -> Vec<(String, PathBuf)> {
    let files = std::fs::read_dir(common::repository("sample_histories")).expect("the samples");
    let mut samples: Vec<(String, PathBuf)> = files
        .map(|file| file.expect("a sample").path())
        .map(|path| {
            (
                path.file_name()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned(),
                path,
            )
        })
        .filter(|(name, _)| name.starts_with("ok-"))
        .collect();
    samples.sort();
    assert!(samples.len() >= 7, "{samples:?}");
    samples
}

fn open(path: &Path) -> History {
    formats::open(path, None, &Control::new()).expect("a sample")
}

/// What a line of the text does, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Does {
    Everything,
    Reads,
    Writes,
}

/// The versions of the keys, as this test runs the order.
#[derive(Default)]
struct Store {
    current: HashMap<KeyId, (TransactionId, Value)>,
    before: BTreeMap<TransactionId, usize>,
}

/// One line of the text and its parts.
struct Told<'t> {
    does: Does,
    t: TransactionId,
    parts: Vec<&'t str>,
}

fn told<'t>(history: &History, line: &'t str) -> Result<Told<'t>, String> {
    let line = line.trim_start();
    let line = line.split_once("  ").ok_or("no number")?.1;
    let (head, operations) = line.split_once(": ").ok_or("no colon")?;
    let (head, does) = match (head.strip_suffix(" starts"), head.strip_suffix(" commits")) {
        (Some(head), _) => (head, Does::Reads),
        (_, Some(head)) => (head, Does::Writes),
        _ => (head, Does::Everything),
    };
    let name = head.split(" of session ").next().unwrap_or(head);
    let t = named(history, name)?;
    let is_empty = ["no operations", "no reads", "no writes"].contains(&operations);
    let parts = if is_empty {
        Vec::new()
    } else {
        operations.split("; ").collect()
    };
    Ok(Told { does, t, parts })
}

fn named(history: &History, name: &str) -> Result<TransactionId, String> {
    let found = history
        .transactions()
        .find(|&t| history.transaction_name(t) == name);
    found.ok_or_else(|| format!("there is no transaction {name}"))
}

fn wrote(history: &History, t: TransactionId, key: KeyId, value: Value) -> bool {
    let is = |o: Operation| (o.kind, o.key, o.value) == (OperationKind::Write, key, value);
    history.operations_of(t).any(|o| is(history.operation(o)))
}

/// What the transaction wrote last to the key of a read before it.
fn own(history: &History, t: TransactionId, read: OperationId) -> Option<Value> {
    let key = history.operation(read).key;
    let before = history
        .operations_of(t)
        .take_while(|&o| o < read)
        .map(|o| history.operation(o));
    before
        .filter(|o| o.kind == OperationKind::Write && o.key == key)
        .last()
        .map(|o| o.value)
}

/// Whether the text about a level is true of the history.
fn is_true(passes: &Passes<'_>, findings: &Findings) -> Result<(), String> {
    let history = passes.history();
    let text = plain_text(passes, &surroundings(findings), true);
    let (_, lines) = text.rsplit_once("\n\n").ok_or("no order")?;
    let mut store = Store::default();
    let mut seen: BTreeMap<TransactionId, Vec<Does>> = BTreeMap::new();
    for (place, line) in lines.lines().skip(1).enumerate() {
        let told = told(history, line)?;
        seen.entry(told.t).or_default().push(told.does);
        line_is_true(passes, &told, &store).map_err(|problem| format!("{line}: {problem}"))?;
        if told.does != Does::Reads {
            for o in history.operations_of(told.t).map(|o| history.operation(o)) {
                if o.kind == OperationKind::Write {
                    store.current.insert(o.key, (told.t, o.value));
                }
            }
            store.before.insert(told.t, place);
        }
    }
    everything_is_there(history, &seen)
}

/// Every committed transaction that did something is there once, unless it set up the initial state.
fn everything_is_there(
    history: &History,
    seen: &BTreeMap<TransactionId, Vec<Does>>,
) -> Result<(), String> {
    use isoscope::history::Outcome;
    let resolution = relations::resolve(history, &Control::new()).expect("no limit");
    let set_up: Vec<TransactionId> = resolution.merged_into_initial().collect();
    for t in history.transactions() {
        let name = history.transaction_name(t);
        let parts = seen.get(&t).map(Vec::as_slice);
        match (parts, history.outcome(t)) {
            (
                Some([Does::Everything] | [Does::Reads, Does::Writes]),
                Outcome::Committed | Outcome::Unknown,
            ) => {}
            (Some(parts), outcome) => {
                return Err(format!("{name}, {outcome:?}, is there as {parts:?}"));
            }
            (None, Outcome::Committed)
                if !set_up.contains(&t) && history.operations_of(t).len() > 0 =>
            {
                return Err(format!("{name} is missing"));
            }
            (None, _) => {}
        }
    }
    Ok(())
}

fn line_is_true(passes: &Passes<'_>, told: &Told<'_>, store: &Store) -> Result<(), String> {
    let history = passes.history();
    let is_told = |o: &OperationId| match told.does {
        Does::Everything => true,
        Does::Reads => history.operation(*o).kind == OperationKind::Read,
        Does::Writes => history.operation(*o).kind == OperationKind::Write,
    };
    let operations: Vec<OperationId> = history.operations_of(told.t).filter(is_told).collect();
    if operations.len() != told.parts.len() {
        return Err(format!(
            "{} operations, {} parts",
            operations.len(),
            told.parts.len()
        ));
    }
    for (&o, part) in operations.iter().zip(&told.parts) {
        let text = history.operation_text(o);
        let rest = part
            .strip_prefix(&text)
            .ok_or_else(|| format!("{part} is not about {text}"))?;
        if history.operation(o).kind == OperationKind::Write {
            if !rest.is_empty() {
                return Err(format!("{part} says too much of a write"));
            }
            continue;
        }
        read_is_true(passes, told.t, o, rest, store)
            .map_err(|problem| format!("{part}: {problem}"))?;
    }
    Ok(())
}

fn read_is_true(
    passes: &Passes<'_>,
    t: TransactionId,
    read: OperationId,
    rest: &str,
    store: &Store,
) -> Result<(), String> {
    let history = passes.history();
    let Operation { key, value, .. } = history.operation(read);
    let (rest, newer) = rest
        .split_once(", without the newer version of ")
        .map_or((rest, None), |(a, b)| (a, Some(b)));
    let current = store.current.get(&key).copied();
    let kind = passes.level().witness();
    let own = own(history, t, read);
    let is_exact = matches!(kind, WitnessKind::SerialOrder | WitnessKind::Snapshots);
    let writer = match rest {
        ", its own write" if own == Some(value) => return Ok(()),
        ", result not recorded" if value == Value::UNRECORDED => return Ok(()),
        " from one of several writers" if !is_exact => {
            let n = history
                .transactions()
                .filter(|&other| other != t && wrote(history, other, key, value))
                .count();
            let n = n + usize::from(history.may_be_initial(key, value));
            return if n > 1 {
                Ok(())
            } else {
                Err("there are not several".to_owned())
            };
        }
        ": ignored" if !is_exact => return Ok(()),
        _ if own.is_some() && is_exact => return Err("its own write would be newer".to_owned()),
        "" | " from the initial state" if history.may_be_initial(key, value) => None,
        other => match other.strip_prefix(" from ") {
            Some(name) if name.ends_with(", which aborted: ignored") && !is_exact => return Ok(()),
            Some("the initial state") => return Err("that is no initial value".to_owned()),
            Some(name) => Some(named(history, name)?),
            None => return Err(format!("`{other}`")),
        },
    };
    if let Some(writer) = writer
        && (writer == t || !wrote(history, writer, key, value))
    {
        return Err("that transaction did not write it".to_owned());
    }
    if is_exact && current.map(|(writer, _)| writer) != writer {
        return Err(format!("the last write by then is another: {current:?}"));
    }
    let is_ordered =
        passes.is_ordered() && !matches!(passes.level().code(), "PL1" | "P-PL1" | "R-PL1");
    if is_ordered && writer.is_some_and(|writer| !store.before.contains_key(&writer)) {
        return Err("its writer comes later".to_owned());
    }
    let newest = current
        .map(|(newest, _)| newest)
        .filter(|&newest| passes.is_ordered() && Some(newest) != writer);
    match (newest.map(|newest| history.transaction_name(newest)), newer) {
        (Some(newest), Some(newer)) if newest == newer => Ok(()),
        (None, None) => Ok(()),
        (newest, newer) => Err(format!("newer is {newest:?}, not {newer:?}")),
    }
}

#[test]
fn what_is_said_of_the_samples_is_true() {
    for (name, path) in samples() {
        let history = open(&path);
        let n =
            each_satisfied(&history, is_true).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        assert!(n >= 20, "{name}: {n} levels");
    }
}

#[test]
fn what_is_said_of_anomalies_that_a_level_allows_is_true() {
    let files = [
        "long-fork.hist",
        "write-skew.hist",
        "lost-update.json",
        "tap-k-fractured-read.txt",
        "pram.txt",
    ];
    for name in files {
        let history = open(&common::repository("sample_histories").join(name));
        let n =
            each_satisfied(&history, is_true).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        assert!(n > 0, "{name}");
        each_satisfied(&history, is_drawn).unwrap_or_else(|problem| panic!("{name}: {problem}"));
    }
}

#[test]
fn what_is_said_of_random_histories_is_true() {
    for shape in [Shape::CLEAN, Shape::SMALL, Shape::AMBIGUOUS] {
        for_histories(shape, 150, |sketch| {
            each_satisfied(&sketch.history(), is_true).map(|_| ())
        });
    }
}

#[test]
fn long_orders_are_cut_unless_all_is_asked_for() {
    let sessions: String = (1..=80).map(|n| format!("[w x {n}] ")).collect();
    let history = common::history(&format!("a: {sessions}\n"));
    let findings = findings(&history);
    let resolution = relations::resolve(&history, &Control::new()).expect("no limit");
    let passes = passes(
        &history,
        &resolution,
        findings.level(Level::Serializability).expect("asked for"),
    );
    let around = surroundings(&findings);
    let short = plain_text(&passes, &around, false);
    assert!(
        short.contains("\n  50  a50: w(x) = 50\n") && !short.contains("a51"),
        "{short}"
    );
    assert!(
        short.contains("… and 30 more: `--long` shows all."),
        "{short}"
    );
    assert!(markdown(&passes, &around, true).contains("\n80. a80: w(x) = 80\n"));
}

/// Boxes, one for each transaction drawn, and arrows.
fn picture_is_sound(
    picture: &Picture,
    passes: &Passes<'_>,
    drawn: &[TransactionId],
) -> Result<(), String> {
    let marks = || picture.scene.marks.iter();
    let boxes: Vec<_> = marks()
        .filter_map(|mark| match (&mark.shape, mark.role) {
            (Mark::Rect { rect, .. }, Role::Bar(..)) => Some(*rect),
            _ => None,
        })
        .collect();
    if boxes.len() != drawn.len() {
        return Err(format!(
            "{} boxes of {} transactions",
            boxes.len(),
            drawn.len()
        ));
    }
    for (n, a) in boxes.iter().enumerate() {
        if !picture.scene.bounds.contains_rect(*a) || boxes[..n].iter().any(|b| b.intersects(*a)) {
            return Err(format!("a box overlaps another or is outside: {a:?}"));
        }
    }
    let external = passes
        .lines
        .iter()
        .flat_map(|line| passes.operations(line).map(move |o| (line, o)))
        .filter(|(line, o)| {
            let Some(Seen::Write(write)) = passes.seen(*o) else {
                return false;
            };
            drawn.contains(&line.transaction)
                && drawn.contains(&passes.history().transaction_of(write))
        });
    let edges: usize = picture
        .diagram
        .arrows
        .iter()
        .map(|arrow| 1 + arrow.also.len())
        .sum();
    let n_external = external.count();
    if edges != n_external {
        return Err(format!("{edges} edges of {n_external} reads"));
    }
    let heads = marks()
        .filter(|mark| matches!(mark.role, Role::Head(..)))
        .count();
    if heads == picture.diagram.arrows.len() {
        Ok(())
    } else {
        Err(format!(
            "{heads} heads of {} arrows",
            picture.diagram.arrows.len()
        ))
    }
}

fn drawn_of(passes: &Passes<'_>, first: usize) -> Vec<TransactionId> {
    let mut drawn = Vec::new();
    for line in &passes.lines[first..] {
        if !drawn.contains(&line.transaction) {
            drawn.push(line.transaction);
        }
    }
    drawn.truncate(MOST_DRAWN);
    drawn
}

fn is_drawn(passes: &Passes<'_>, findings: &Findings) -> Result<(), String> {
    if !passes.is_ordered() {
        return Ok(());
    }
    let picture = compose_order(
        passes,
        &surroundings(findings),
        Stretch::default(),
        None,
        &Control::new(),
    );
    picture_is_sound(&picture.expect("no limit"), passes, &drawn_of(passes, 0))
}

#[test]
fn pictures_have_a_box_for_each_transaction_and_an_arrow_for_each_read() {
    for (name, path) in samples() {
        each_satisfied(&open(&path), is_drawn)
            .unwrap_or_else(|problem| panic!("{name}: {problem}"));
    }
    for_histories(Shape::CLEAN, 100, |sketch| {
        each_satisfied(&sketch.history(), is_drawn).map(|_| ())
    });
}

#[test]
fn long_orders_are_drawn_in_part_and_say_so() {
    let history = open(&common::repository("sample_histories/web-shop.txt"));
    let options = Options {
        levels: vec![Level::ReadCommitted],
        ..Options::default()
    };
    let findings = audit::check(&history, &options, &Control::new(), &|_| {});
    let resolution = relations::resolve(&history, &Control::new()).expect("no limit");
    let passes = passes(&history, &resolution, &findings.levels[0]);
    for (first, caption) in [
        (0, "Transactions 1 to 30 of 966"),
        (940, "Transactions 941 to 966 of 966"),
    ] {
        let picture = compose_order(
            &passes,
            &surroundings(&findings),
            Stretch { first },
            None,
            &Control::new(),
        );
        let picture = picture.expect("no limit");
        assert!(
            picture.subtitle.starts_with(caption),
            "{}",
            picture.subtitle
        );
        assert!(
            picture.subtitle.contains("independently verified"),
            "{}",
            picture.subtitle
        );
        picture_is_sound(&picture, &passes, &drawn_of(&passes, first)).expect("a sound picture");
        let svg =
            String::from_utf8(export(ExportKind::Svg, &picture).expect("SVG")).expect("UTF-8");
        assert!(svg.contains(caption) && svg.ends_with("</svg>\n"));
        let png = export(ExportKind::Png, &picture).expect("PNG");
        assert_eq!(png[..4], *b"\x89PNG");
    }
}

fn isoscope(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isoscope"));
    command
        .current_dir(common::repository(""))
        .args(arguments)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY");
    command.output().expect("the program starts")
}

#[test]
fn the_command_line_explains_and_exports_what_holds() {
    let text = |output: &Output| {
        String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
    };
    let passed = isoscope(&["explain", "sample_histories/ok-serial.txt"]);
    assert_eq!(passed.status.code(), Some(0));
    assert!(
        text(&passed).starts_with("## Serializability (SER) holds\n"),
        "{}",
        text(&passed)
    );
    let weaker = isoscope(&[
        "explain",
        "sample_histories/write-skew.hist",
        "--witness",
        "--plain",
    ]);
    assert!(
        text(&weaker).starts_with("Snapshot isolation (SI) holds\n"),
        "{}",
        text(&weaker)
    );
    let folder = tempfile::tempdir().expect("a folder");
    let svg = folder.path().join("order.svg");
    let svg = svg.to_str().expect("UTF-8");
    let written = isoscope(&[
        "export",
        "sample_histories/write-skew.hist",
        "--witness",
        "--level",
        "SI",
        "-o",
        svg,
    ]);
    assert_eq!(written.status.code(), Some(0), "{}", text(&written));
    assert!(
        std::fs::read_to_string(svg)
            .expect("it is written")
            .contains("Snapshot isolation (SI) holds")
    );
    let refused = [
        (
            vec![
                "export",
                "sample_histories/ok-lists.txt",
                "--witness",
                "-o",
                "x.dot",
            ],
            "goes with svg, png, tex, md or txt",
        ),
        (
            vec!["export", "sample_histories/ok-lists.txt", "-o", "x.svg"],
            "no violation is listed; --witness draws",
        ),
        (
            vec![
                "export",
                "sample_histories/ok-lists.txt",
                "--witness",
                "--from",
                "q7",
                "-o",
                svg,
            ],
            "no such transaction",
        ),
        (
            vec![
                "export",
                "sample_histories/write-skew.hist",
                "--witness",
                "--level",
                "SER",
                "-o",
                svg,
            ],
            "no level is satisfied",
        ),
        (
            vec![
                "explain",
                "sample_histories/write-skew.hist",
                "--witness",
                "--level",
                "SER",
            ],
            "no level is satisfied",
        ),
    ];
    for (arguments, words) in refused {
        let output = isoscope(&arguments);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{arguments:?}: {}",
            text(&output)
        );
        assert!(
            String::from_utf8_lossy(&output.stderr).contains(words),
            "{arguments:?}: {}",
            text(&output)
        );
    }
}
