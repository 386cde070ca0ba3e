//! Histories with rows: inserts, deletes and scans, at every level, against a table of verdicts by brute force.

use crate::common;
use crate::lattice::{ask, asked, compare};

use common::forgeries::refused;
use common::lattice::Verdicts;
use common::oracle::LEVELS;
use common::random::for_seeds;
use common::tables::{decided, is_cut, random, satisfied};
use isoscope::checkers::{Level, Verdict};
use isoscope::history::Outcome;
use serde_json::Value as Json;
use std::sync::atomic::{AtomicU64, Ordering};

struct Row {
    name: String,
    text: String,
    verdicts: Verdicts,
}

fn table() -> Vec<Row> {
    let path = common::repository("tests/data/tables-histories.json");
    let text = std::fs::read_to_string(path).expect("the table is part of the repository");
    let table: Json = serde_json::from_str(&text).expect("the table is JSON");
    let row = |row: &Json| Row {
        name: row["name"].as_str().expect("a name").to_owned(),
        text: row["text"].as_str().expect("a text").to_owned(),
        verdicts: row["verdicts"]
            .as_object()
            .expect("verdicts")
            .iter()
            .map(|(code, verdict)| (code.clone(), verdict.as_bool()))
            .collect(),
    };
    let rows = table["rows"].as_array().expect("rows");
    rows.iter().map(row).collect()
}

#[test]
fn every_level_agrees_with_the_table() {
    let mut wrong = String::new();
    let mut n = 0;
    for row in table() {
        if row.text.contains(" count ") || row.text.contains(" sum ") {
            continue;
        }
        n += 1;
        let history = common::history(&row.text);
        let answer = ask(&history, &asked()).and_then(|findings| compare(&findings, &row.verdicts));
        if let Err(problem) = answer {
            wrong += &format!("{}\n{}{problem}\n", row.name, row.text);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(n, 63);
}

/// Written as text and as JSON and read back, a history with scans is the same.
#[test]
fn both_formats_keep_scans() {
    let more = [
        "a: [s orders (key ..5 and not v = 1) keys {3}, i orders/3 7]\nb: [d orders/3]\n",
        "predicate p: x 1, y \"2\"\na: [i x 1] [i y \"2\"]\nb: [s (p and (v < 3 and not key in z \"5\")) {x 1}]\n",
        "predicate \"\\\"5\\\"\": x 1\npredicate and: y 1\na: [i x 1, s (\"\\\"5\\\"\" and not \"and\") {x 1}]\n",
        "a: [i x 1, i x 2]\nb: [s {x 1, x 2}, s (true) {x 2}, s (key \"a b\" .. ) {x 2}]\n",
    ];
    let texts = table().into_iter().map(|row| row.text);
    let exact = texts.filter(|text| !text.contains(" count ") && !text.contains(" sum "));
    for text in exact.chain(more.map(str::to_owned)) {
        let history = common::history(&text);
        let [first, json] = ["text", "json"].map(|format| {
            let mut out = Vec::new();
            isoscope::formats::write(&history, format, &mut out).expect("it has a form for scans");
            String::from_utf8(out).expect("it is text")
        });
        for (name, written) in [("history.txt", &first), ("history.json", &json)] {
            let control = isoscope::control::Control::new();
            let again = isoscope::formats::open_bytes(name, written.as_bytes(), None, &control)
                .unwrap_or_else(|error| panic!("{error}\n{written}"));
            let mut out = Vec::new();
            isoscope::formats::write(&again, "text", &mut out).expect("it has a form for scans");
            assert_eq!(
                String::from_utf8_lossy(&out),
                first,
                "{name} of\n{text}\n{written}"
            );
        }
        let other = isoscope::formats::write(&history, "plume", &mut Vec::new());
        assert_eq!(other.is_err(), history.shows_rows(), "{text}");
    }
}

/// The levels that are defined by states and sets of visible transactions, against these definitions; the evidence at all
/// levels is verified, and forged evidence is refused: a case left out or told twice, a violation of a level that holds, the
/// witness of one that does not.
#[test]
fn random_histories_agree_with_the_definitions() {
    let decided = decided();
    let counts = [const { AtomicU64::new(0) }; 3];
    for_seeds(20_000, |seed| {
        let text = random(&mut fastrand::Rng::with_seed(seed));
        let told = |problem: String| format!("{text}{problem}");
        let history = common::history(&text);
        let findings = ask(&history, &asked()).map_err(told)?;
        let expected = satisfied(&history);
        let is_open = |t| history.outcome(t) == Outcome::Unknown;
        let are_known = !history.transactions().any(is_open);
        for result in &findings.levels {
            let code = result.level.code();
            let holds = match &result.verdict {
                Verdict::Satisfied(_) => true,
                Verdict::Violated => false,
                Verdict::Undecided(_) => continue,
            };
            if result.level.is_of_reads() && are_known {
                if holds != is_cut(&history, result.level.is_of_items()) {
                    return Err(told(format!("{code}: found {holds}")));
                }
                continue;
            }
            if !decided.contains(code) {
                continue;
            }
            let plain = match code.split_at(2) {
                // Without times that order anything, what a level that counts them forbids is what it forbids without.
                ("R-" | "K-" | "C-", _) | ("SS", _) if !history.has_times() => continue,
                _ => expected.contains(code),
            };
            if holds != plain {
                return Err(told(format!("{code}: found {holds}")));
            }
            counts[usize::from(holds)].fetch_add(1, Ordering::Relaxed);
        }
        if seed % 8 == 0 {
            let verdict = |level: Level| match findings.level(level)?.verdict {
                Verdict::Satisfied(_) => Some(true),
                Verdict::Violated => Some(false),
                Verdict::Undecided(_) => None,
            };
            refused(&history, &findings, LEVELS.map(verdict)).map_err(told)?;
        }
        counts[2].fetch_add(u64::from(!history.scans().is_empty()), Ordering::Relaxed);
        Ok(())
    });
    println!("violated, satisfied, histories with scans: {counts:?}");
}
