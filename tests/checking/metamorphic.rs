//! What is said about a history does not depend on how it is written: on the order of sessions and keys, on names and values,
//! on unrelated sessions with keys of their own, and on the number of threads.
//!
//! Compared are the verdicts, the counts of patterns, and of what is listed, in any order, the patterns, levels, sizes, and
//! whether instances are implied.

use crate::common;

use common::random::{Shape, for_histories};
use common::rewrite::Rewrite;
use common::sketch::Sketch;
use common::{examine, repository};
use fastrand::Rng;
use isoscope::checkers::{self, Level, Options, Pattern};
use isoscope::control::Control;
use isoscope::formats;
use isoscope::history::{Builder, History, Interval, OperationKind, Origin, Outcome, Value};
use isoscope::relations::resolve;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Generated histories of each kind in the ordinary run; `ISOSCOPE_HISTORIES` asks for more.
const HISTORIES: u64 = 400;

/// More transactions than other tests take: brute force has no part in this.
const LARGE: Shape = Shape {
    transactions: 14,
    operations: 4,
    keys: 4,
    sessions: 6,
    repeated_values: false,
    clean: true,
};
/// Few keys, so that much is wrong.
const CROWDED: Shape = Shape {
    transactions: 12,
    operations: 4,
    keys: 2,
    sessions: 5,
    repeated_values: false,
    clean: true,
};
/// With aborted transactions and such of unknown outcome.
const TROUBLED: Shape = Shape {
    transactions: 9,
    operations: 4,
    keys: 3,
    sessions: 5,
    repeated_values: false,
    clean: false,
};

/// What must be the same.
#[derive(Debug, PartialEq, Eq)]
struct Signature {
    verdicts: Vec<(Level, &'static str)>,
    counts: BTreeMap<Pattern, u64>,
    /// Ascending: pattern, levels, number of transactions, whether implied. Where reads have several possible writers, an
    /// argument may go through their cases in any order, which makes it longer or shorter: there sizes are left out.
    listed: Vec<(Pattern, Vec<Level>, usize, bool)>,
}

fn signature(history: &History, max_instances: usize) -> Signature {
    let options = Options {
        levels: Level::of(history),
        max_instances,
        ..Options::default()
    };
    let findings = checkers::check(history, &options, &Control::new(), &|_| {});
    let resolution = resolve(history, &Control::new()).expect("no limit was set");
    let has_sizes = resolution.n_ambiguous() == 0;
    let mut listed: Vec<_> = findings
        .violations
        .iter()
        .map(|v| {
            (
                v.id.pattern,
                v.levels.iter().collect::<Vec<Level>>(),
                if has_sizes { v.size() } else { 0 },
                v.implied,
            )
        })
        .collect();
    listed.sort();
    let verdicts = findings
        .levels
        .iter()
        .map(|result| (result.level, result.verdict.word()))
        .collect();
    let counts = findings
        .patterns
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .collect();
    Signature {
        verdicts,
        counts,
        listed,
    }
}

/// Writes the history in other ways and compares what is said.
fn compare(history: &History, rng: &mut Rng, max_instances: usize) -> Result<(), String> {
    let expected = signature(&Rewrite::NONE.of(history, rng), max_instances);
    for rewrite in Rewrite::EACH {
        let rewritten = rewrite.of(history, rng);
        let found = signature(&rewritten, max_instances);
        if found != expected {
            return Err(format!("{rewrite:?}\n{}", difference(&expected, &found)));
        }
    }
    Ok(())
}

/// What is not the same, in a few lines.
fn difference(expected: &Signature, found: &Signature) -> String {
    let mut text = String::new();
    if expected.verdicts != found.verdicts {
        writeln!(
            text,
            "verdicts {:?}\n    then {:?}",
            expected.verdicts, found.verdicts
        )
        .expect("a string");
    }
    if expected.counts != found.counts {
        writeln!(
            text,
            "counts {:?}\n  then {:?}",
            expected.counts, found.counts
        )
        .expect("a string");
    }
    let only = |a: &Signature, b: &Signature| -> Vec<String> {
        let mut rest = b.listed.clone();
        let mut missing = Vec::new();
        for item in &a.listed {
            match rest.iter().position(|other| other == item) {
                Some(place) => drop(rest.swap_remove(place)),
                None => missing.push(format!("{item:?}")),
            }
        }
        missing.truncate(5);
        missing
    };
    write!(
        text,
        "listed before {:?}\n  then {:?}",
        only(expected, found),
        only(found, expected)
    )
    .expect("a string");
    text
}

fn generated(shape: Shape, history: impl Fn(&Sketch, &mut Rng) -> History + Sync) {
    for_histories(shape, HISTORIES, |sketch| {
        let mut rng =
            Rng::with_seed(sketch.fresh_value() + 31 * sketch.transactions().count() as u64);
        let history = history(sketch, &mut rng);
        compare(&history, &mut rng, Options::default().max_instances)
            .map_err(|problem| format!("{}\n{problem}", text(&history)))
    });
}

/// As text, if that can say it.
fn text(history: &History) -> String {
    let mut bytes = Vec::new();
    match formats::write(history, "text", &mut bytes) {
        Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn registers() {
    generated(LARGE, |sketch, _| sketch.history());
}

#[test]
fn few_registers() {
    generated(CROWDED, |sketch, _| sketch.history());
}

#[test]
fn registers_with_trouble() {
    generated(TROUBLED, |sketch, _| sketch.history());
}

#[test]
fn registers_with_times() {
    generated(CROWDED, |sketch, rng| history(sketch, false, true, rng));
}

#[test]
fn lists() {
    generated(CROWDED, |sketch, rng| history(sketch, true, false, rng));
}

#[test]
fn lists_with_trouble() {
    generated(TROUBLED, |sketch, rng| history(sketch, true, false, rng));
}

#[test]
fn lists_with_times() {
    generated(TROUBLED, |sketch, rng| history(sketch, true, true, rng));
}

/// An index in canonical order is the same up to ids. (Where two sessions are alike but no symmetry exchanges them it could
/// differ; that is too rare to happen here.)
#[test]
fn canonical_indexes() {
    let canonical = |history: &History| {
        let index = common::index(history)
            .canonical(history, &Control::new())
            .expect("no limit was set");
        let lists: Vec<_> = index
            .lists
            .iter()
            .map(|o| (o.reader, o.key, o.versions.clone(), o.closed))
            .collect();
        (
            index.session_begin,
            index.slot_node,
            index.slot_key,
            index.read_key,
            index.read_slot,
            index.write_slot,
            lists,
        )
    };
    for (shape, lists) in [(LARGE, false), (CROWDED, true), (TROUBLED, true)] {
        for_histories(shape, HISTORIES, |sketch| {
            let mut rng = Rng::with_seed(sketch.fresh_value());
            let history = history(sketch, lists, false, &mut rng);
            let expected = canonical(&Rewrite::NONE.of(&history, &mut rng));
            let rewrite = Rewrite {
                sessions: true,
                names: true,
                values: true,
                unrelated: false,
            };
            if canonical(&rewrite.of(&history, &mut rng)) == expected {
                Ok(())
            } else {
                Err(text(&history))
            }
        });
    }
}

/// The history of a sketch; with lists, a read returns what was appended with at most its number, sometimes with a slip.
/// Numbers ascend in the order in which the store of the sketch committed, and so do times, roughly.
fn history(sketch: &Sketch, lists: bool, times: bool, rng: &mut Rng) -> History {
    let appended = |key: usize, most: u64| -> Vec<Value> {
        let all = sketch
            .transactions()
            .filter(|t| t.outcome != Outcome::Aborted)
            .flat_map(|t| &t.operations);
        let fit = |o: &&common::sketch::Operation| {
            o.kind == OperationKind::Write && o.key == key && o.value.0 <= most
        };
        let mut numbers: Vec<Value> = all.filter(fit).map(|o| o.value).collect();
        numbers.sort_unstable();
        numbers
    };
    let mut builder = Builder::new(Origin::default());
    builder.initial_value(Value(0));
    for (s, transactions) in sketch.sessions.iter().enumerate() {
        let session = builder.session_name(&common::sketch::session_name(s));
        let mut clock = 0;
        for transaction in transactions {
            let draft = builder.transaction(session, transaction.outcome);
            if times {
                let newest = transaction
                    .operations
                    .iter()
                    .map(|o| o.value.0)
                    .filter(|v| *v <= Value::MAX_NUMBER)
                    .max();
                let start = clock.max(3 * newest.unwrap_or(0) as i64 - rng.i64(0..4));
                let end = start + rng.i64(0..8);
                clock = end + rng.i64(0..2);
                builder.set_interval(draft, Interval { start, end });
            }
            for operation in &transaction.operations {
                let key = builder.key_name(&common::sketch::key_name(operation.key));
                match operation.kind {
                    OperationKind::Read if lists && operation.value != Value::UNRECORDED => {
                        let mut list = match operation.value {
                            Value::INITIAL => Vec::new(),
                            number => appended(operation.key, number.0),
                        };
                        if list.len() > 1 && rng.u8(0..20) == 0 {
                            let place = rng.usize(1..list.len());
                            list.swap(place - 1, place);
                        }
                        builder.list_read(draft, key, &list, 0);
                    }
                    kind => {
                        if lists {
                            builder.list_key(key);
                        }
                        builder.operation(draft, kind, key, operation.value, 0);
                    }
                }
            }
        }
    }
    builder.finish().expect("sketches are small")
}

/// The files below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                open.push(path)
            } else {
                found.push(path)
            }
        }
    }
    found.sort();
    found
}

/// Compares all histories of a folder that can be read; returns how many.
fn compare_files(folder: &Path, max_instances: usize) -> usize {
    let only = std::env::var("ISOSCOPE_FILE").unwrap_or_default();
    let paths: Vec<PathBuf> = files(folder)
        .into_iter()
        .filter(|path| path.to_string_lossy().contains(&only))
        .collect();
    let results: Vec<Option<String>> = paths
        .par_iter()
        .filter_map(|path| {
            let history = formats::open(path, None, &Control::new()).ok()?;
            let problem = compare(&history, &mut Rng::with_seed(7), max_instances).err();
            Some(problem.map(|problem| format!("{}: {problem}", path.display())))
        })
        .collect();
    let problems: Vec<&String> = results.iter().flatten().collect();
    assert!(problems.is_empty(), "{problems:#?}");
    results.len()
}

#[test]
fn samples() {
    assert!(compare_files(&repository("sample_histories"), 1000) > 30);
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn real_histories() {
    let corpus = common::corpus();
    assert!(compare_files(&corpus, 1000) > 100);
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn short_lists_are_the_same_too() {
    let corpus = common::corpus();
    for max_instances in [1, 8] {
        assert!(compare_files(&corpus.join("plume-text"), max_instances) > 10);
    }
}

#[test]
fn threads_change_nothing() {
    let pool = |threads| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads start")
    };
    let (one, two) = (pool(1), pool(2));
    for path in files(&repository("sample_histories")) {
        let Ok(history) = formats::open(&path, None, &Control::new()) else {
            continue;
        };
        let alone = one.install(|| examine::check(&history));
        let together = two.install(|| examine::check(&history));
        assert_eq!(alone.patterns, together.patterns, "{}", path.display());
        assert_eq!(alone.violations, together.violations, "{}", path.display());
    }
}
