//! The lattice of levels: what implies what, and the levels decided of it against brute force, with evidence that the
//! verifier accepts.

mod common;

use common::lattice::{self, Verdicts};
use common::random::{Shape, for_seeds, sketch};
use isoscope::audit;
use isoscope::checkers::lattice::{LatticeLevel, levels};
use isoscope::checkers::{Findings, Level, Options, Pattern, Verdict};
use isoscope::control::Control;
use isoscope::history::History;
use isoscope::report::{Report, Settings};
use isoscope::verify;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// The rows of the table of histories.
struct Row {
    name: String,
    text: String,
    verdicts: Verdicts,
}

struct Table {
    levels: Vec<String>,
    implications: Vec<(String, String)>,
    rows: Vec<Row>,
}

fn table() -> Table {
    let path = common::repository("tests/data/lattice-histories.json");
    let text = std::fs::read_to_string(path).expect("the table is part of the repository");
    let table: Json = serde_json::from_str(&text).expect("the table is JSON");
    let string = |json: &Json| json.as_str().expect("a string").to_owned();
    let list = |json: &Json| json.as_array().expect("a list").clone();
    let row = |row: &Json| Row {
        name: string(&row["name"]),
        text: string(&row["text"]),
        verdicts: row["verdicts"]
            .as_object()
            .expect("verdicts")
            .iter()
            .map(|(l, v)| (l.clone(), v.as_bool()))
            .collect(),
    };
    Table {
        levels: list(&table["levels"]).iter().map(string).collect(),
        implications: list(&table["implications"]).iter().map(|pair| (string(&pair[0]), string(&pair[1]))).collect(),
        rows: list(&table["rows"]).iter().map(row).collect(),
    }
}

fn level(code: &str) -> &'static LatticeLevel {
    isoscope::checkers::lattice::level(code).unwrap_or_else(|| panic!("no level {code}"))
}

#[test]
fn the_arrows_are_those_of_the_table() {
    let table = table();
    assert_eq!(levels().len(), table.levels.len() + 1, "LIN is about other histories");
    let mut arrows: Vec<(String, String)> = Vec::new();
    for stronger in levels().iter().filter(|level| level.code != "LIN") {
        arrows.extend(stronger.arrows.iter().map(|&weaker| (stronger.code.clone(), levels()[weaker].code.clone())));
    }
    for (stronger, weaker) in &table.implications {
        assert!(level(stronger).implies(level(weaker)), "{stronger} implies {weaker}");
    }
    for (stronger, weaker) in arrows {
        assert!(closed(&table.implications, &stronger).contains(&weaker), "{stronger} does not imply {weaker}");
    }
}

/// All that a level implies.
fn closed(implications: &[(String, String)], from: &str) -> Vec<String> {
    let mut all = vec![from.to_owned()];
    let mut at = 0;
    while at < all.len() {
        let weaker = implications.iter().filter(|(stronger, _)| *stronger == all[at]).map(|(_, weaker)| weaker.clone());
        let new: Vec<String> = weaker.filter(|weaker| !all.contains(weaker)).collect();
        all.extend(new);
        at += 1;
    }
    all
}

#[test]
fn every_history_agrees_with_every_implication_and_some_history_with_every_missing_one() {
    let table = table();
    assert_eq!(table.rows.len(), 90);
    let mut missing = 0;
    for stronger in &table.levels {
        for weaker in &table.levels {
            let refutes = |row: &&Row| row.verdicts[stronger] == Some(true) && row.verdicts[weaker] == Some(false);
            let refuted = table.rows.iter().find(refutes);
            match level(stronger).implies(level(weaker)) {
                true => assert!(refuted.is_none(), "{stronger} and {weaker}: {:?}", refuted.map(|row| &row.name)),
                false => {
                    assert!(refuted.is_some(), "no history has {stronger} without {weaker}");
                    missing += 1;
                }
            }
        }
    }
    assert_eq!(missing, 1873);
}

#[test]
fn brute_force_agrees_with_the_table() {
    let table = table();
    for row in &table.rows {
        let found = lattice::verdicts(&common::history(&row.text), &table.levels);
        for (code, expected) in &row.verdicts {
            assert_eq!(found[code], *expected, "{} at {code}\n{}", row.name, row.text);
        }
    }
}

/// The levels of the lattice that are decided and not asked for by default, with those asked for with them.
fn asked() -> Vec<Level> {
    Level::EVERY.into_iter().filter(|level| *level != Level::Linearizability).collect()
}

/// The findings, after the verifier has accepted all evidence, from the checks and from the report.
fn ask(history: &History, levels: &[Level]) -> Result<Findings, String> {
    let options = Options { levels: levels.to_vec(), ..Options::default() };
    let findings = audit::check(history, &options, &Control::new(), &|_| {});
    for result in &findings.levels {
        if let Verdict::Undecided(cause) = &result.verdict
            && !matches!(cause, isoscope::checkers::Cause::NoTimestamps | isoscope::checkers::Cause::Unsupported(_))
        {
            return Err(format!("{} undecided: {cause}", result.level));
        }
    }
    let report = Report::new(history, &findings, Settings { witness: true, ..Settings::default() });
    match verify::verify(history, &report) {
        Ok(verified) if verified.without_evidence.is_empty() => Ok(findings),
        Ok(verified) => Err(format!("without evidence: {:?}", verified.without_evidence)),
        Err(problems) => Err(problems.iter().map(|problem| format!("{problem}\n")).collect()),
    }
}

/// Compares findings with what is expected at the levels that were decided.
fn compare(findings: &Findings, expected: &Verdicts) -> Result<(), String> {
    for result in &findings.levels {
        let found = match result.verdict {
            Verdict::Satisfied(_) => Some(true),
            Verdict::Violated => Some(false),
            Verdict::Undecided(_) => None,
        };
        if found != expected[result.level.code()] {
            return Err(format!("{}: found {found:?}, expected {:?}", result.level, expected[result.level.code()]));
        }
    }
    Ok(())
}

#[test]
fn the_decided_levels_agree_with_the_table() {
    let mut wrong = String::new();
    for row in table().rows {
        let history = common::history(&row.text);
        // SSER without times, or with times against session order, is undecided even where SER is violated by them.
        let answer = ask(&history, &asked()).and_then(|findings| compare(&findings, &row.verdicts));
        if let Err(problem) = answer {
            wrong += &format!("{}\n{}{problem}\n", row.name, row.text);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What is asked with a level makes no difference to it.
#[test]
fn each_decided_level_alone_says_the_same() {
    let mut wrong = String::new();
    for row in table().rows {
        let history = common::history(&row.text);
        for level in [Level::PlainParallelSnapshotIsolation, Level::ParallelSnapshotIsolation] {
            if let Err(problem) = ask(&history, &[level]).and_then(|findings| compare(&findings, &row.verdicts)) {
                wrong += &format!("{} at {level}\n{}{problem}\n", row.name, row.text);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn random_histories_agree_with_brute_force() {
    let codes: Vec<String> = asked().iter().map(|level| level.code().to_owned()).collect();
    let counted: BTreeMap<&str, [AtomicU64; 2]> =
        codes.iter().map(|code| (code.as_str(), Default::default())).collect();
    let cycles = AtomicU64::new(0);
    for_seeds(3_000, |seed| {
        let shape =
            Shape { transactions: 6, operations: 4, keys: 3, sessions: 4, repeated_values: false, clean: seed % 4 > 0 };
        let sketch = sketch(shape, seed);
        let history = sketch.history();
        if history.transactions().len() > 6 || !isoscope::relations::set_up_transactions(&history).is_empty() {
            return Ok(());
        }
        let told = |problem: String| format!("{sketch}{problem}");
        let findings = ask(&history, &asked()).map_err(told)?;
        let expected = lattice::verdicts(&history, &codes);
        compare(&findings, &expected).map_err(told)?;
        cycles.fetch_add(findings.patterns.get(&Pattern::PSICycle).copied().unwrap_or(0), Ordering::Relaxed);
        for (code, counts) in &counted {
            if let Some(holds) = expected[*code] {
                counts[usize::from(holds)].fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    });
    for (code, [violated, satisfied]) in &counted {
        println!("{code}: {satisfied:?} satisfied, {violated:?} violated");
    }
    println!("{cycles:?} cycles of PSI");
}
