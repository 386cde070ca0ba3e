//! What is said about a history's health, from the file to what people and scripts read.

use crate::common;

use isoscope::control::Control;
use isoscope::health::{Health, Kind, examine};
use isoscope::history::{FailedRule, History, Rules};
use isoscope::relations::resolve;
use isoscope::report::{Document, Settings};
use isoscope::{checkers, formats, verify};
use std::path::Path;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_isoscope"))
        .args(arguments)
        .output()
        .expect("the program starts")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn sample(name: &str) -> String {
    common::repository("sample_histories")
        .join(name)
        .display()
        .to_string()
}

fn examined(history: &History) -> Health {
    let control = Control::new();
    let resolution = resolve(history, &control).expect("no limit was set");
    examine(history, &resolution, &control).expect("no limit was set")
}

/// A history of the corpus.
fn of_corpus(name: &str) -> History {
    formats::open(&common::corpus().join(name), None, &Control::new()).expect("it can be read")
}

#[test]
fn doubts_stand_before_the_verdicts_and_notes_do_not() {
    let output = text(&run(&["check", &sample("tap-a-thin-air-read.txt")]));
    let doubt = output
        .find("warning  1 read returns a value that no transaction wrote")
        .expect("it is said");
    assert!(
        doubt < output.find("CI    satisfied").expect("a verdict"),
        "{output}"
    );
    let output = text(&run(&["check", &sample("web-shop.txt")]));
    assert!(
        !output.contains("be trusted") && !output.contains("never read"),
        "{output}"
    );
}

#[test]
fn statistics_print_all_of_health() {
    let output = text(&run(&["stats", &sample("web-shop.txt")]));
    for part in [
        "sessions",
        "write conflicts",
        "skew",
        "Nothing casts doubt",
        "never read",
        "Mini-transactions",
        "Times",
    ] {
        assert!(output.contains(part), "{part} in {output}");
    }
    let output = text(&run(&[
        "stats",
        "--json",
        &sample("tap-a-thin-air-read.txt"),
    ]));
    let value: serde_json::Value = serde_json::from_str(&output).expect("one JSON object");
    assert_eq!(value["schema"], "isoscope.statistics/1");
    assert_eq!(value["health"][0]["kind"], "unwritten-thin-air");
    assert_eq!(value["shapes"]["read_modify_write"], 1);
    assert_eq!(value["version_order"]["pairs"], 2);
}

#[test]
fn reports_carry_findings_with_their_operations() {
    let output = text(&run(&[
        "check",
        "--json",
        &sample("tap-a-thin-air-read.txt"),
    ]));
    let Ok(Document::Report(report)) = output.parse::<Document>() else {
        panic!("no report: {output}")
    };
    let entry = &report.health[0];
    assert_eq!(
        (entry.kind.as_str(), entry.severity.as_str(), entry.count),
        ("unwritten-thin-air", "warning", 1)
    );
    assert_eq!(entry.flag.as_deref(), Some("--initial any-unwritten"));
    let operation = &entry.operations[0];
    assert_eq!(
        (operation.text.as_str(), operation.line),
        ("r(balance) = 250", Some(3))
    );
    assert_eq!(entry.transactions[operation.transaction].id, "bob1");
    // Reports from before health had entries can still be read.
    let mut value: serde_json::Value = serde_json::from_str(&output).expect("JSON");
    for old in [Some(serde_json::json!([])), None] {
        let object = value.as_object_mut().expect("an object");
        match old {
            Some(old) => drop(object.insert("health".to_owned(), old)),
            None => drop(object.remove("health")),
        }
        assert!(matches!(
            value.to_string().parse::<Document>(),
            Ok(Document::Report(_))
        ));
    }
}

#[test]
fn figures_are_those_of_the_file_under_every_rule() {
    let mut builder = isoscope::history::Builder::new(isoscope::history::Origin::default());
    let session = builder.session_number(0);
    let key = builder.key_number(0);
    let draft = builder.transaction(session, isoscope::history::Outcome::Committed);
    for value in 1..4 {
        builder.operation(
            draft,
            isoscope::history::OperationKind::Write,
            key,
            isoscope::history::Value(value),
            0,
        );
        if value == 2 {
            builder.fail_last_operation();
        }
    }
    let recorded = builder.finish().expect("small histories fit");
    for failed in FailedRule::ALL {
        let history = recorded
            .clone()
            .with_rules(&Rules {
                failed,
                ..Rules::default()
            })
            .expect("the rule fits");
        let findings = isoscope::audit::check(
            &history,
            &checkers::Options::default(),
            &Control::new(),
            &|_| {},
        );
        let settings = Settings {
            witness: true,
            ..Settings::default()
        };
        let report = isoscope::report::with_health(
            isoscope::report::of_findings(&history, &findings, settings),
            &history,
            &examined(&history),
        );
        let facts = &report.history;
        assert_eq!(
            (facts.transactions, facts.committed, facts.operations),
            (1, 1, 3),
            "{failed:?}"
        );
        assert!(verify::verify(&history, &report).is_ok(), "{failed:?}");
        let recorded = isoscope::history::Statistics::of(&history).recorded;
        assert_eq!((recorded.transactions, recorded.operations), (1, 3));
    }
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn real_histories_are_judged_as_people_would() {
    // Galera: 162 reads of values whose writers are not in the log, seen by several sessions.
    let health = examined(&of_corpus("plume-text/bugs/mariadb_galera.txt"));
    assert_eq!(
        health.finding(Kind::CutOff).map(|finding| finding.count),
        Some(162)
    );
    // Taking some of these values as initial would turn reads of 0, the initial version, into thin air.
    assert!(
        health
            .finding(Kind::CutOff)
            .is_some_and(|finding| finding.remedy.is_none())
    );
    assert_eq!(health.finding(Kind::ThinAir), None);
    // Antidote: one transaction writes every key first, with values of its own.
    let history = of_corpus("plume-text/reproduce/antidote-3_30_20_180-hist-00000.txt");
    let health = examined(&history);
    let finding = health.finding(Kind::SetUp).expect("it is told");
    let remedy = finding.remedy.clone().expect("it has a flag");
    let mut rules = Rules::default();
    rules
        .set(remedy.rule, &remedy.choice)
        .expect("the flag can be set");
    let history = history.with_rules(&rules).expect("the transaction exists");
    assert_eq!(examined(&history).doubts().count(), 0);
}

#[test]
fn every_remedy_can_be_chosen() {
    for entry in std::fs::read_dir(common::repository("sample_histories"))
        .expect("samples")
        .flatten()
    {
        let Ok(history) = formats::open(&entry.path(), None, &Control::new()) else {
            continue;
        };
        for finding in examined(&history).findings {
            let Some(remedy) = finding.remedy else {
                continue;
            };
            let mut rules = Rules::default();
            assert_eq!(rules.set(remedy.rule, &remedy.choice), Ok(()));
            assert!(
                history.clone().with_rules(&rules).is_ok(),
                "{}: {}",
                Path::display(&entry.path()),
                remedy.flag()
            );
        }
    }
}
