//! Real histories with failed statements: what each reading of the failures leads to.
//!
//! The files are not part of the repository; without them these tests say so and pass.

use crate::common;

use isoscope::checkers::{Level, Options, Verdict};
use isoscope::control::Control;
use isoscope::formats::{self, Request};
use isoscope::history::{FailedRule, History, Rules};
use rayon::prelude::*;
use serde_json::Value as Json;
use std::path::Path;

/// The levels of the reference with its names for them.
const LEVELS: [(&str, Level); 6] = [
    ("RC", Level::ReadCommitted),
    ("RA", Level::ReadAtomic),
    ("CC", Level::TransactionalCausalConsistency),
    ("PC", Level::PrefixConsistency),
    ("SI", Level::SnapshotIsolation),
    ("SER", Level::Serializability),
];

/// The entries of the manifest that are dbcop's binary files of these folders.
fn entries(corpus: &Path, folders: &[&str]) -> Vec<Json> {
    let manifest =
        std::fs::read_to_string(corpus.join("manifest.json")).expect("the corpus has a manifest");
    let manifest: Vec<Json> = serde_json::from_str(&manifest).expect("the manifest is JSON");
    let is_meant = |entry: &Json| {
        let name = entry["name"].as_str().expect("entries have names");
        entry["format"] == "dbcop-bincode" && folders.iter().any(|folder| name.starts_with(folder))
    };
    manifest.into_iter().filter(is_meant).collect()
}

fn open(corpus: &Path, entry: &Json, failed: FailedRule) -> History {
    let name = entry["name"].as_str().expect("entries have names");
    let rules = Rules {
        failed,
        ..Rules::default()
    };
    let request = Request {
        format: None,
        rules: Some(&rules),
    };
    formats::open(&corpus.join(name), request, &Control::new())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Verdicts in the words of the reference.
fn verdicts(history: &History) -> Vec<(&'static str, &'static str)> {
    let options = Options {
        levels: LEVELS.map(|(_, level)| level).to_vec(),
        ..Options::default()
    };
    let findings = isoscope::audit::check(history, &options, &Control::new(), &|_| {});
    let word = |level: Level| match findings.level(level).map(|result| &result.verdict) {
        Some(Verdict::Satisfied(_)) => "holds",
        Some(Verdict::Violated) => "fails",
        _ => "undecided",
    };
    LEVELS.map(|(name, level)| (name, word(level))).to_vec()
}

fn expected(reference: &Json) -> Vec<(&'static str, &str)> {
    LEVELS
        .map(|(name, _)| {
            (
                name,
                reference[name].as_str().expect("an answer for each level"),
            )
        })
        .to_vec()
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn each_reading_of_failed_statements_has_the_verdicts_of_the_reference() {
    let corpus = common::corpus();
    let entries = entries(&corpus, &["dbcop/galera/", "dbcop/cockroachdb/"]);
    assert!(entries.len() >= 20, "{} files", entries.len());
    let problems: Vec<String> = entries
        .par_iter()
        .flat_map_iter(|entry| {
            let reference = &entry["refcheck"];
            [FailedRule::Drop, FailedRule::Abort, FailedRule::Split]
                .into_iter()
                .map(move |rule| (entry, rule, reference.get(rule.word()).unwrap_or(reference)))
        })
        .filter_map(|(entry, rule, reference)| {
            let found = verdicts(&open(&corpus, entry, rule));
            let wanted = expected(reference);
            (found != wanted).then(|| {
                format!(
                    "{} {}: {found:?}, expected {wanted:?}",
                    entry["name"],
                    rule.word()
                )
            })
        })
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn the_reading_that_fits_the_database_makes_all_of_them_serializable() {
    let corpus = common::corpus();
    for entry in entries(&corpus, &["dbcop/galera/", "dbcop/cockroachdb/"]) {
        let history = open(&corpus, &entry, FailedRule::Auto);
        assert!(
            verdicts(&history)
                .iter()
                .all(|(_, verdict)| *verdict == "holds"),
            "{}",
            entry["name"]
        );
        // The report says how many transactions the choice concerns, and what it rests on.
        let told = history.assumptions().join(" ");
        match entry["committed_txns_with_failed_ops"].as_u64() {
            Some(n) => {
                assert!(
                    told.starts_with(&format!("{n} committed transaction")),
                    "{}: {told}",
                    entry["name"]
                );
                let database = entry["meta"]["info"].as_str().expect("a database");
                assert!(
                    told.contains(&format!("since the file names {database}")),
                    "{}: {told}",
                    entry["name"]
                );
            }
            None => assert_eq!(told, "", "{}", entry["name"]),
        }
    }
}
