//! The table in `sample_histories/README.md` is true: each file's verdicts and numbers of instances are what the engines
//! find, brute force agrees on the small ones, and the evidence passes the verifier.

use crate::common;

use common::examine::{self, examine, signs};
use common::oracle::LEVELS;
use common::{repository, shop};
use isoscope::audit;
use isoscope::checkers::{Findings, Level, Options, Pattern};
use isoscope::control::Control;
use isoscope::formats;
use isoscope::history::History;
use std::collections::BTreeSet;

const FOLDER: &str = "sample_histories";
/// One history in every format.
const FORMATS: &str = "formats";
const WEB_SHOP: &str = "web-shop.txt";
/// Brute force tries all orders of up to so many transactions.
const SMALL: usize = 8;

/// A row of the table.
struct Row {
    file: String,
    signs: String,
    patterns: String,
}

fn table() -> Vec<Row> {
    let path = repository(FOLDER).join("README.md");
    let text = std::fs::read_to_string(path).expect("the samples have a README");
    let cells = |line: &str| {
        line.trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect::<Vec<_>>()
    };
    let lines = text.lines().filter(|line| line.starts_with("| ["));
    lines
        .map(cells)
        .map(|row| Row {
            file: row[0]
                .trim_start_matches('[')
                .split(']')
                .next()
                .expect("a link")
                .to_owned(),
            signs: row[2..9]
                .iter()
                .map(|sign| if sign == "✓" { '+' } else { '-' })
                .collect(),
            patterns: row[9].clone(),
        })
        .collect()
}

fn files() -> BTreeSet<String> {
    let entries =
        std::fs::read_dir(repository(FOLDER)).expect("the samples are part of the repository");
    let names = entries.map(|entry| {
        entry
            .expect("readable")
            .file_name()
            .to_string_lossy()
            .into_owned()
    });
    names
        .filter(|name| name != "README.md" && name != FORMATS)
        .collect()
}

fn open(file: &str) -> History {
    let path = repository(FOLDER).join(file);
    formats::open(&path, None, &Control::new()).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// As in the table: `TAP-k 2, TAP-n 1`.
fn patterns(findings: &Findings) -> String {
    let counts = findings.patterns.iter().filter(|(_, count)| **count > 0);
    counts
        .map(|(pattern, count)| format!("{pattern} {count}"))
        .collect::<Vec<_>>()
        .join(", ")
}

#[test]
fn every_sample_has_its_row() {
    let rows: Vec<String> = table().into_iter().map(|row| row.file).collect();
    let unique: BTreeSet<String> = rows.iter().cloned().collect();
    assert_eq!(rows.len(), unique.len(), "a file stands twice in the table");
    assert_eq!(unique, files());
}

#[test]
fn the_table_says_what_the_engines_find() {
    for row in table() {
        let findings = examine::check(&open(&row.file));
        let found = (
            signs(examine::engine_verdicts(&findings)),
            patterns(&findings),
        );
        assert_eq!(found, (row.signs, row.patterns), "{}", row.file);
    }
}

#[test]
fn brute_force_agrees_on_small_samples_and_all_evidence_holds() {
    for row in table() {
        let history = open(&row.file);
        let result = if history.n_transactions() <= SMALL {
            examine(&history).map(|_| ())
        } else {
            examine::evidence(&history, &examine::check(&history))
        };
        result.unwrap_or_else(|problem| panic!("{}: {problem}", row.file));
    }
}

#[test]
fn there_is_a_sample_of_every_pattern_and_each_contains_its_own() {
    let mut shown = BTreeSet::new();
    for file in files() {
        let history = open(&file);
        // Some levels are looked for if asked for only.
        let is_asked_for = |level: &Level| !level.row().usual && !level.counts_real_time();
        let is_form = |level: &Level| level.plain_of().is_none_or(|form| form == *level);
        let by_name = Level::EVERY
            .into_iter()
            .filter(|level| is_asked_for(level) && is_form(level));
        let levels = Level::of(&history).into_iter().chain(by_name).collect();
        let options = Options {
            levels,
            ..Options::default()
        };
        let findings = audit::check(&history, &options, &Control::new(), &|_| {});
        shown.extend(
            findings
                .patterns
                .iter()
                .filter(|(_, count)| **count > 0)
                .map(|(pattern, _)| *pattern),
        );
        if let Some(letter) = file.strip_prefix("tap-") {
            let pattern =
                Pattern::parse(&format!("TAP-{}", &letter[..1])).expect("a letter from a to n");
            assert!(
                findings
                    .patterns
                    .get(&pattern)
                    .is_some_and(|count| *count > 0),
                "{file}"
            );
        }
    }
    let missing: Vec<Pattern> = Pattern::all()
        .filter(|pattern| !shown.contains(pattern))
        .collect();
    assert!(missing.is_empty(), "no sample of {missing:?}");
}

#[test]
fn every_format_has_a_sample_and_all_of_one_history_have_the_same_verdicts() {
    let folder = repository(FOLDER).join(FORMATS);
    let control = Control::new();
    let found = formats::histories(&[folder], &control).expect("not stopped");
    let mut formats_seen = BTreeSet::new();
    for found in found {
        let formats::ListedFile::History(path) = found else {
            panic!("{found:?}")
        };
        let history =
            formats::open(&path, None, &control).unwrap_or_else(|error| panic!("{error}"));
        let format = history.origin().format;
        formats_seen.insert(format);
        assert!(
            path.to_string_lossy().contains(format),
            "{} is read as {format}",
            path.display()
        );
        let findings = examine::check(&history);
        examine::evidence(&history, &findings)
            .unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
        let expected = match format {
            // Registers and strings of one key each, one operation at a time.
            "porcupine-etcd"
            | "porcupine-kv"
            | "operations"
            | "porcupine-operations"
            | "etcd-robustness" => "+++++++",
            // Of lists, so the one does not see what the other appended.
            "veristrong-list" => "++++++-",
            _ => "++++++-",
        };
        assert_eq!(
            signs(examine::engine_verdicts(&findings)),
            expected,
            "{}",
            path.display()
        );
    }
    assert_eq!(
        formats_seen,
        formats::FORMATS.iter().map(|format| format.name).collect()
    );
}

#[test]
fn the_web_shop_is_what_its_store_writes() {
    let path = repository(FOLDER).join(WEB_SHOP);
    let file = std::fs::read_to_string(&path).expect("the sample is part of the repository");
    assert!(
        file == shop::web_shop(),
        "{WEB_SHOP} is not what tests/common/shop.rs makes; write it again"
    );
}

/// Run with `cargo test --test house samples -- --ignored` after a change to the store.
#[test]
#[ignore = "writes sample_histories/web-shop.txt"]
fn write_the_web_shop() {
    std::fs::write(repository(FOLDER).join(WEB_SHOP), shop::web_shop())
        .expect("the folder is writable");
}

/// Prints the table as the engines see it: `cargo test --test house samples::print -- --ignored --nocapture`.
#[test]
#[ignore = "prints the rows of the table"]
fn print_the_rows() {
    for file in files() {
        let findings = examine::check(&open(&file));
        let signs: Vec<&str> = examine::engine_verdicts(&findings)
            .iter()
            .map(|verdict| match verdict {
                Some(true) => "✓",
                Some(false) => "✗",
                None => "?",
            })
            .collect();
        assert_eq!(signs.len(), LEVELS.len());
        println!(
            "| [{file}]({file}) | | {} | {} |",
            signs.join(" | "),
            patterns(&findings)
        );
    }
}
