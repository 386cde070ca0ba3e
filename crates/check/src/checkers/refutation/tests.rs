//! Trees of cases of small histories. The independent verifier checks that they are right.

use super::*;
use crate::checkers::{LevelSet, Proof};
use isoscope_model::history::TransactionId;
use isoscope_model::relations::resolve;
use isoscope_testing::history;

/// The refutation of a level in a history, if there is one.
fn refuted(text: &str, level: Level) -> Option<Violation> {
    let (history, control) = (history(text), Control::new());
    let resolution = resolve(&history, &control).unwrap();
    refute(&history, &resolution, level, &control).unwrap()
}

/// The reads split by writer, outermost first, each with the sessions of its writers; `-` for ⊥.
fn told(text: &str, violation: &Violation) -> Vec<String> {
    let history = history(text);
    let writers = |proof: &Proof| match proof {
        Proof::Cases { .. } => Some(proof.writers().collect::<Vec<_>>()),
        _ => None,
    };
    let name = |t: TransactionId| {
        if t.is_initial() {
            "-".to_owned()
        } else {
            history.session_name(history.session_of(t))
        }
    };
    let words =
        |writers: Vec<TransactionId>| writers.into_iter().map(name).collect::<Vec<_>>().join(" ");
    violation
        .proof
        .parts()
        .into_iter()
        .filter_map(writers)
        .map(words)
        .collect()
}

#[test]
fn a_satisfied_level_has_no_refutation() {
    let text = "a: [w x 1]\nb: [w x 1]\nc: [r x 1]";
    for level in Level::WITHOUT_TIMES
        .into_iter()
        .filter(|level| *level != Level::CutIsolation)
    {
        assert_eq!(refuted(text, level), None, "{level}");
    }
}

#[test]
fn every_writer_has_a_case() {
    let text = "a: [w x 1] [w x 1] [w x 2] [r x 1]";
    let violation = refuted(text, Level::ReadAtomic).unwrap();
    assert_eq!(told(text, &violation), ["a a"]);
    assert_eq!(violation.levels, LevelSet::upward(Level::ReadAtomic));
    // The value is initial, too.
    let text = "a: [w x 0] [w x 2, w y 5]\nb: [r y 5, r x 0]";
    let violation = refuted(text, Level::ReadCommitted).unwrap();
    assert_eq!(told(text, &violation), ["a -"]);
}

#[test]
fn writers_that_violate_read_committed_by_themselves_have_cases_too() {
    // Session c overwrites the version, session a reads its own future.
    let text = "a: [w x 1] [w x 1] [w x 2] [r x 1] [w x 1]\nc: [w x 1, w x 3]";
    let violation = refuted(text, Level::ReadAtomic).unwrap();
    assert_eq!(told(text, &violation), ["a a a c"]);
}

#[test]
fn reads_that_no_contradiction_needs_are_not_told_apart() {
    let text = "a: [w x 1] [w x 1] [w x 2] [r x 1, r k7 1]\nf: [w k7 1]\ng: [w k7 1]\nh: [r k7 1]";
    let violation = refuted(text, Level::ReadAtomic).unwrap();
    assert_eq!(told(text, &violation), ["a a"]);
}

#[test]
fn reads_of_an_unknown_transaction_are_told_apart_where_it_takes_part() {
    // Session c has observed both newer versions of y, so its second transaction cannot have read y = 1. If session d
    // wrote x = 1, session e has read a stale version; else the transaction of unknown outcome committed.
    let text = "a: [w y 1] [w y 2, w u 1]\n\
                b: [w y 1] [w y 3, w v 1]\n\
                c: [r u 1, r v 1] [r y 1, w x 1]?\n\
                d: [w x 1] [w z 1, w x 2]\n\
                e: [r z 1, r x 1]";
    let violation = refuted(text, Level::SnapshotIsolation).unwrap();
    let told = told(text, &violation);
    assert!(told.len() >= 2, "{told:?}");
    // By session c, which is the case of the stronger level.
    assert_eq!(told[0], "c d");
}

#[test]
fn a_tree_that_would_be_too_large_is_given_up() {
    let text = "a: [w x 1] [w x 1] [w x 2] [r x 1]";
    let (history, control) = (history(text), Control::new());
    let resolution = resolve(&history, &control).unwrap();
    let mut refuter = Refuter {
        left: 1,
        ..Refuter::of_all(&history, &resolution, Level::ReadAtomic, &control)
    };
    assert!(
        refuter
            .refute(&mut resolution.choice_of_none(), 0)
            .unwrap()
            .is_none()
    );
    refuter.left = 3;
    assert!(
        refuter
            .refute(&mut resolution.choice_of_none(), 0)
            .unwrap()
            .is_some()
    );
}
