//! Real histories: those in which bugs were found, and what other tools and an independent reference say about others.
//! They are not part of the repository; without them these tests say so and pass.

use crate::common;

use common::examine::{self, signs};
use common::oracle::LEVELS;
use isoscope::checkers::{Findings, Level, Pattern, Proof, Violation};
use isoscope::control::Control;
use isoscope::counterexample;
use isoscope::formats;
use isoscope::history::History;
use rayon::prelude::*;
use serde_json::Value as Json;
use std::path::Path;

fn open(corpus: &Path, name: &str) -> History {
    formats::open(&corpus.join(name), None, &Control::new())
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Names of the histories that the library reads today, with what the reference found (`holds`, `fails` or neither) at
/// each of [`LEVELS`]; it does not know CI. Compressed ones are left out.
fn reference(corpus: &Path) -> Vec<(String, [Option<bool>; 7])> {
    let manifest =
        std::fs::read_to_string(corpus.join("manifest.json")).expect("the corpus has a manifest");
    let manifest: Json = serde_json::from_str(&manifest).expect("the manifest is JSON");
    let answer = |entry: &Json, level: Level| {
        let code = if level == Level::TransactionalCausalConsistency {
            "CC"
        } else {
            level.code()
        };
        match entry["refcheck"][code].as_str() {
            Some("holds") => Some(true),
            Some("fails") => Some(false),
            _ => None,
        }
    };
    let entries = manifest.as_array().expect("a list").iter();
    let named = entries.map(|entry| (entry["name"].as_str().expect("a name").to_owned(), entry));
    let readable = |name: &str| {
        (name.starts_with("plume-text/") && name.ends_with(".txt"))
            || (name.starts_with("dbcop-2026/") && name.ends_with(".hist"))
    };
    named
        .filter(|(name, _)| readable(name))
        .map(|(name, entry)| (name, LEVELS.map(|level| answer(entry, level))))
        .collect()
}

fn count(findings: &Findings, letter: char) -> u64 {
    let pattern = Pattern::parse(&format!("TAP-{letter}")).expect("a letter from a to n");
    findings.patterns.get(&pattern).copied().unwrap_or(0)
}

fn counts(findings: &Findings) -> String {
    let letters = ('a'..='n')
        .map(|letter| (letter, count(findings, letter)))
        .filter(|(_, count)| *count > 0);
    letters
        .map(|(letter, count)| format!("{letter}{count}"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Of the violations up to causal consistency the one with the shortest cycle, and of those the one with the fewest
/// transactions.
fn simplest(findings: &Findings) -> (&Violation, usize) {
    let weak = findings
        .violations
        .iter()
        .filter(|violation| violation.id.pattern.letter().is_some());
    let cycles = weak.filter_map(|violation| match &violation.proof {
        Proof::Cycle(edges) => Some((violation, edges.len())),
        _ => None,
    });
    cycles
        .min_by_key(|(violation, length)| (*length, violation.size()))
        .expect("some cycle")
}

/// Checks that the simplest counterexample is a cycle of two transactions which a third one makes evident.
fn simplest_counterexample_is_a_pair_and_a_witness(history: &History, findings: &Findings) {
    let (violation, length) = simplest(findings);
    assert_eq!((length, violation.size()), (2, 3), "{}", violation.id);
    let example = counterexample::minimize(history, violation, &Control::new());
    assert_eq!(example.history.n_transactions(), 3, "{}", violation.id);
    let Proof::Cycle(cycle) = &example.violation.proof else {
        panic!("{}: no cycle", violation.id)
    };
    assert_eq!(cycle.len(), 2, "{}", violation.id);
    let again = examine::engine_verdicts(&examine::check(&example.history));
    let place = LEVELS
        .iter()
        .position(|level| *level == example.level)
        .expect("a level without times");
    assert_eq!(again[place], Some(false), "{}", violation.id);
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn verdicts_are_those_of_the_reference() {
    let corpus = common::corpus();
    let expected = reference(&corpus);
    assert!(expected.len() >= 20, "{} histories", expected.len());
    let problems: Vec<String> = expected
        .par_iter()
        .filter_map(|(name, reference)| {
            let history = open(&corpus, name);
            let findings = examine::check(&history);
            let mut found = examine::engine_verdicts(&findings);
            let evidence =
                examine::hierarchy(found).and_then(|()| examine::evidence(&history, &findings));
            if let Err(problem) = evidence {
                return Some(format!("{name}: {problem}"));
            }
            for (found, reference) in found.iter_mut().zip(reference) {
                *found = reference.and(*found);
            }
            let (found, reference) = (signs(found), signs(*reference));
            (found != reference)
                .then(|| format!("{name}: found {found}, the reference says {reference}"))
        })
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The published numbers count distinct quadruples (key, t1, t2, t3) with one commit order, built with the causal axiom,
/// for all levels. Ours build one per level; the letters are the same here.
#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn mariadb_galera_breaks_everything_as_published() {
    let corpus = common::corpus();
    let history = open(&corpus, "plume-text/bugs/mariadb_galera.txt");
    let findings = examine::check(&history);
    // Reported broken: cut isolation, read committed and everything above.
    assert_eq!(signs(examine::engine_verdicts(&findings)), "-------");
    // Published: a88 f1 h2 i16 j1 k1 l8 m1 n5.
    // a: reads are counted here (162, whose values no transaction wrote), there pairs of transaction and version.
    // j: T393 reads T898's version, T297's and T898's again: two pairs of consecutive reads here, one transaction there.
    // k, l: who reads a key both before and after seeing the writer of a newer version is counted there once for each
    // (as k and h, or l and i), here once as the more specific (h or i); counted their way it is k1 l8 here, too.
    // m: the one m is the j again (t3 reads the key from both t1 and t2), which here counts as j only.
    assert_eq!(counts(&findings), "a162 f1 h2 i16 j2 l3 n5");
    simplest_counterexample_is_a_pair_and_a_witness(&history, &findings);
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn yugabyte_breaks_causal_consistency_as_published() {
    let corpus = common::corpus();
    let history = open(&corpus, "plume-text/bugs/yugabyte_tcc.txt");
    let findings = examine::check(&history);
    // Reported broken: TCC and SI; the patterns include fractured reads, so RA is broken, too.
    assert_eq!(signs(examine::engine_verdicts(&findings)), "++-----");
    // Published for the same run without its set-up transaction, which here is part of the initial state.
    assert_eq!(counts(&findings), "i2 k6 l8 m2 n6");
    simplest_counterexample_is_a_pair_and_a_witness(&history, &findings);
}

#[test]
#[cfg_attr(not(corpus), ignore = "no corpus")]
fn postgresql_breaks_serializability_only() {
    let corpus = common::corpus();
    let history = open(&corpus, "plume-text/bugs/pg_ser_bug.txt");
    let findings = examine::check(&history);
    assert_eq!(signs(examine::engine_verdicts(&findings)), "++++++-");
    assert_eq!(counts(&findings), "");
    let strong = [Pattern::WriteSkew, Pattern::SERCycle];
    assert!(
        strong
            .iter()
            .any(|pattern| findings.patterns.contains_key(pattern)),
        "{:?}",
        findings.patterns
    );
}
