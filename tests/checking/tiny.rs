//! The table of tiny histories: one small history per corner of the definitions, with the verdict at every level and
//! the patterns that occur.

use crate::common;

use common::examine::{self, examine, signs};
use common::oracle::{self, LEVELS, Observation};
use common::pattern_oracle;
use isoscope::checkers::{Findings, Pattern};
use isoscope::control::Control;
use isoscope::counterexample::{self, StepRole};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// One row of the table.
struct Row {
    name: String,
    text: String,
    satisfied: [bool; 7],
    /// Letters of all formal instances and of those that are not implied; `None` where reads are ambiguous.
    taps: Option<(String, String)>,
    anomalies: Vec<String>,
}

fn rows() -> Vec<Row> {
    let path = common::repository("tests/data/tiny-histories.json");
    let text = std::fs::read_to_string(path).expect("the table is part of the repository");
    let table: Json = serde_json::from_str(&text).expect("the table is JSON");
    let string = |json: &Json| json.as_str().map(str::to_owned);
    let rows = table["histories"].as_array().expect("rows").iter();
    rows.map(|row| Row {
        name: string(&row["name"]).expect("a name"),
        text: string(&row["text"]).expect("a history"),
        satisfied: LEVELS.map(|level| row["verdicts"][level.code()].as_bool().expect("a verdict")),
        taps: string(&row["taps"]).zip(string(&row["taps_primary"])),
        anomalies: row["anomalies"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(string)
            .collect(),
    })
    .collect()
}

#[test]
fn the_table_has_all_its_rows() {
    assert_eq!(rows().len(), 67);
}

#[test]
fn the_oracle_agrees_with_the_table() {
    for row in rows() {
        let history = common::history(&row.text);
        assert_eq!(
            oracle::verdicts(&history),
            row.satisfied,
            "{}\n{}",
            row.name,
            row.text
        );
    }
}

#[test]
fn the_pattern_oracle_agrees_with_the_table() {
    for row in rows() {
        let Some((taps, primary)) = row.taps else {
            continue;
        };
        let observation = Observation::of(&common::history(&row.text));
        let choices = observation.choices();
        assert_eq!(
            choices.len(),
            1,
            "{}: no read has two possible writers",
            row.name
        );
        let counts = pattern_oracle::count(&observation, &choices[0]);
        let all: String = counts.letters.keys().collect();
        assert_eq!(all, taps, "{}\n{}", row.name, row.text);
        let own = counts
            .letters
            .keys()
            .filter(|letter| !"hiklmn".contains(**letter));
        let mut certain: Vec<char> = own.chain(counts.primary.keys()).copied().collect();
        certain.sort_unstable();
        assert_eq!(
            certain.iter().collect::<String>(),
            primary,
            "{}\n{}",
            row.name,
            row.text
        );
    }
}

#[test]
fn the_engines_agree_with_the_table_and_show_evidence() {
    for row in rows() {
        let history = common::history(&row.text);
        let findings = examine(&history)
            .unwrap_or_else(|problem| panic!("{}\n{}{problem}", row.name, row.text));
        let found = signs(examine::engine_verdicts(&findings));
        assert_eq!(
            found,
            signs(row.satisfied.map(Some)),
            "{}\n{}",
            row.name,
            row.text
        );
    }
}

#[test]
fn what_is_wrong_whoever_wrote_a_value_is_told_writer_by_writer() {
    let rows = rows();
    let row = rows
        .iter()
        .find(|row| row.name == "dup-invalid-all")
        .expect("a row with a value written twice");
    let history = common::history(&row.text);
    let findings = examine::check(&history);
    let [violation] = findings.violations.as_slice() else {
        panic!("{:?}", findings.violations)
    };
    let example = counterexample::minimize(&history, violation, &Control::new());
    let explanation = counterexample::explain(&example);
    let names: Vec<String> = history
        .transactions()
        .map(|t| history.transaction_name(t))
        .collect();
    let [one, other, _, reader] = names.as_slice() else {
        panic!("{names:?}")
    };
    let summary =
        format!("Whichever of {one} and {other} wrote the 1 that {reader} read of key x, ");
    assert!(
        explanation.summary.starts_with(&summary),
        "{}",
        explanation.summary
    );
    for (case, writer) in [("1", one), ("2", other)] {
        let supposed = format!("Suppose that {writer} wrote");
        let told = explanation
            .steps
            .iter()
            .filter(|step| step.case.to_string() == case && step.text.starts_with(&supposed))
            .count();
        assert_eq!(told, 1, "{case}: {:#?}", explanation.steps);
    }
    let contradictions = explanation
        .steps
        .iter()
        .filter(|step| step.role == StepRole::Contradiction);
    let ends: Vec<String> = contradictions.map(|step| step.case.to_string()).collect();
    assert_eq!(ends, ["1", "2", ""]);
    assert_eq!(
        explanation.steps.last().map(|step| &*step.text),
        Some("No case is left: impossible")
    );
}

/// Letters of the instances found, as the table writes them.
fn letters(findings: &Findings, implied: bool) -> String {
    let listed = findings
        .violations
        .iter()
        .filter(|violation| implied || !violation.implied);
    let letters: BTreeSet<char> = listed
        .filter_map(|violation| violation.id.pattern.letter())
        .collect();
    letters.iter().collect()
}

#[test]
fn the_engines_find_the_patterns_of_the_table() {
    for row in rows() {
        let Some((taps, primary)) = row.taps else {
            continue;
        };
        let findings = examine::check(&common::history(&row.text));
        assert_eq!(letters(&findings, true), taps, "{}\n{}", row.name, row.text);
        // What only a version older than the initial one explains adds nothing to what shows that version.
        let before_all = findings
            .violations
            .iter()
            .filter(|v| v.implied && v.transactions[0].is_initial());
        let hidden: BTreeSet<char> = before_all
            .filter_map(|violation| violation.id.pattern.letter())
            .collect();
        let shown = letters(&findings, false);
        let expected: String = primary
            .chars()
            .filter(|c| !hidden.contains(c) || shown.contains(*c))
            .collect();
        assert_eq!(shown, expected, "{}\n{}", row.name, row.text);
    }
}

/// Which patterns the table's names of anomalies above causal consistency stand for; `None` for names of what the
/// letters say already.
fn patterns_of(anomaly: &str) -> Option<&'static [Pattern]> {
    Some(match anomaly {
        "long-fork" => &[Pattern::LongFork],
        "lost-update" => &[Pattern::LostUpdate],
        "divergence" => &[Pattern::Divergence],
        "write-skew" => &[Pattern::WriteSkew],
        "rw-cycle" => &[Pattern::SERCycle],
        // A read-only transaction makes two others, which might be ordered without it, impossible to order.
        "read-only-anomaly" => &[Pattern::SERCycle],
        "prefix violation by case split" => &[Pattern::SICycle],
        // Cycle classes: told by the named patterns, or by the general one.
        "G-single" => &[Pattern::LostUpdate, Pattern::SICycle],
        "G-nonadjacent" => &[Pattern::LongFork, Pattern::SICycle],
        "G2-item" => &[Pattern::WriteSkew, Pattern::SERCycle],
        _ => return None,
    })
}

#[test]
fn the_engines_find_the_anomalies_above_causal_consistency() {
    let mut compared = 0;
    for row in rows() {
        let findings = examine::check(&common::history(&row.text));
        for patterns in row
            .anomalies
            .iter()
            .filter_map(|anomaly| patterns_of(anomaly))
        {
            let found = patterns.iter().any(|pattern| {
                findings
                    .patterns
                    .get(pattern)
                    .is_some_and(|count| *count > 0)
            });
            assert!(
                found,
                "{}: none of {patterns:?} in {:?}",
                row.name, findings.patterns
            );
            compared += 1;
        }
    }
    assert!(compared >= 20, "{compared} anomalies compared");
}
