//! Every real history of the corpus, in every format: what is read agrees with the corpus's own figures, what is decided
//! with its reference, and the evidence with the verifier. The corpus is not part of the repository; without it these
//! tests say so and pass.

use crate::common;

use common::examine::{self, signs};
use common::oracle::LEVELS;
use isoscope::checkers::Level;
use isoscope::control::Control;
use isoscope::formats::{self, Request};
use isoscope::history::{FailedRule, History, Rules};
use rayon::prelude::*;
use serde_json::Value as Json;
use std::path::Path;

/// Entries of the manifest.
fn manifest(corpus: &Path) -> Vec<Json> {
    let manifest =
        std::fs::read_to_string(corpus.join("manifest.json")).expect("the corpus has a manifest");
    serde_json::from_str(&manifest).expect("the manifest is a list")
}

fn name(entry: &Json) -> &str {
    entry["name"].as_str().expect("a name")
}

fn is_transactional(entry: &Json) -> bool {
    !name(entry).starts_with("not-transactional/")
}

fn open(corpus: &Path, entry: &Json, rules: &Rules) -> Result<History, String> {
    let request = Request {
        format: None,
        rules: Some(rules),
    };
    formats::open(&corpus.join(name(entry)), request, &Control::new())
        .map_err(|error| error.to_string())
}

/// Runs `test` on every transactional entry and shows all that fail.
fn for_entries(test: impl Fn(&Path, &Json) -> Result<(), String> + Sync) {
    let corpus = common::corpus();
    let entries = manifest(&corpus);
    let failures: Vec<String> = entries
        .par_iter()
        .filter(|entry| is_transactional(entry))
        .filter_map(|entry| {
            test(&corpus, entry)
                .err()
                .map(|problem| format!("{}: {problem}", name(entry)))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn what_is_read_has_the_figures_of_the_manifest() {
    for_entries(|corpus, entry| {
        let history = open(corpus, entry, &Rules::default())?;
        let format = history.origin().format;
        let said = entry["format"].as_str().expect("a format");
        let same = formats::format(said).map(|format| format.name) == Some(format);
        if !same {
            return Err(format!("read as {format}, it is {said}"));
        }
        let figures = history.recorded();
        let counted = [
            ("sessions", figures.sessions),
            ("txns", figures.transactions),
            ("ops", figures.operations),
            ("keys", figures.keys),
            ("aborted_txns", figures.aborted),
            ("unknown_txns", figures.unknown),
        ];
        let wrong = counted.into_iter().filter(|(field, count)| {
            let said = entry[*field].as_u64();
            said.is_some_and(|said| said != *count as u64)
        });
        let wrong: Vec<String> = wrong
            .map(|(field, count)| format!("{field} {count} instead of {}", entry[field]))
            .collect();
        if wrong.is_empty() {
            Ok(())
        } else {
            Err(wrong.join(", "))
        }
    });
}

/// What the reference says at each of [`LEVELS`]; nothing of CI.
fn reference(answers: &Json) -> [Option<bool>; 7] {
    LEVELS.map(|level| {
        let code = if level == Level::TransactionalCausalConsistency {
            "CC"
        } else {
            level.code()
        };
        match answers[code].as_str() {
            Some("holds") => Some(true),
            Some("fails") => Some(false),
            _ => None,
        }
    })
}

fn same_verdicts(history: &History, answers: &Json) -> Result<(), String> {
    let expected = reference(answers);
    let findings = examine::check(history);
    let strict = findings
        .level(Level::StrictSerializability)
        .map_or("undecided", |result| result.verdict.word());
    let said = match answers["SSER"].as_str() {
        Some("holds") => "satisfied",
        Some("fails") => "violated",
        _ => strict,
    };
    if strict != said {
        return Err(format!("SSER is {strict}, the reference says {said}"));
    }
    let found = examine::engine_verdicts(&findings);
    let agree = expected
        .iter()
        .zip(found)
        .all(|(expected, found)| expected.is_none() || *expected == found);
    if !agree {
        return Err(format!("{} instead of {}", signs(found), signs(expected)));
    }
    examine::hierarchy(found)?;
    examine::evidence(history, &findings)
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn verdicts_are_those_of_the_reference() {
    for_entries(|corpus, entry| {
        let answers = &entry["refcheck"];
        let mut failures = Vec::new();
        if answers["drop"].is_object() {
            for rule in [FailedRule::Drop, FailedRule::Abort, FailedRule::Split] {
                let rules = Rules {
                    failed: rule,
                    ..Rules::default()
                };
                let history = open(corpus, entry, &rules)?;
                let result = same_verdicts(&history, &answers[rule.word()]);
                failures.extend(
                    result
                        .err()
                        .map(|problem| format!("{}: {problem}", rule.word())),
                );
            }
        } else {
            let history = open(corpus, entry, &Rules::default())?;
            failures.extend(same_verdicts(&history, answers).err());
        }
        if failures.is_empty() {
            Ok(())
        } else {
            Err(failures.join("; "))
        }
    });
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn what_failed_inside_committed_transactions_is_understood_as_the_database_behaves() {
    for_entries(|corpus, entry| {
        // All of these files are serializable when read as their databases behave.
        if entry["refcheck"]["drop"].is_null()
            || entry["committed_txns_with_failed_ops"]
                .as_u64()
                .unwrap_or(0)
                == 0
        {
            return Ok(());
        }
        let history = open(corpus, entry, &Rules::default())?;
        match examine::engine_verdicts(&examine::check(&history))[6] {
            Some(true) => Ok(()),
            _ => Err("not serializable by the default rules".to_owned()),
        }
    });
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn what_is_no_history_of_transactions_is_refused_in_one_line() {
    let corpus = common::corpus();
    for entry in manifest(&corpus)
        .iter()
        .filter(|entry| !is_transactional(entry))
    {
        match open(&corpus, entry, &Rules::default()) {
            Ok(history) => println!("{}: read as {}", name(entry), history.origin().format),
            Err(error) => {
                println!("{error}");
                assert!(!error.contains('\n') && error.len() < 400, "{error}");
            }
        }
    }
}
