//! Trees of cases of small histories. The independent verifier checks that they are right.

use super::*;
use crate::checkers::{LevelSet, Proof};
use crate::relations::resolve;
use crate::relations::testing::history;

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
        Proof::Writers { cases, .. } => Some(cases.iter().map(|(writer, _)| *writer).collect::<Vec<_>>()),
        _ => None,
    };
    let name = |t: TransactionId| match t.is_initial() {
        true => "-".to_owned(),
        false => history.session_name(history.session_of(t)),
    };
    let words = |writers: Vec<TransactionId>| writers.into_iter().map(name).collect::<Vec<_>>().join(" ");
    violation.proof.parts().into_iter().filter_map(writers).map(words).collect()
}

#[test]
fn a_satisfied_level_has_no_refutation() {
    let text = "w(1,1,0,0) w(1,1,1,1) r(1,1,2,2)";
    for level in Level::WITHOUT_TIMES.into_iter().filter(|level| *level != Level::CutIsolation) {
        assert_eq!(refuted(text, level), None, "{level}");
    }
}

#[test]
fn every_writer_has_a_case() {
    let text = "w(1,1,0,0) w(1,1,0,1) w(1,2,0,2) r(1,1,0,3)";
    let violation = refuted(text, Level::ReadAtomic).unwrap();
    assert_eq!(told(text, &violation), ["0 0"]);
    assert_eq!(violation.levels, LevelSet::upward(Level::ReadAtomic));
    // The value is initial, too.
    let text = "w(1,0,0,0) w(1,2,0,1) w(2,5,0,1) r(2,5,1,2) r(1,0,1,2)";
    let violation = refuted(text, Level::ReadCommitted).unwrap();
    assert_eq!(told(text, &violation), ["0 -"]);
}

#[test]
fn writers_that_violate_read_committed_by_themselves_have_cases_too() {
    // Session 2 overwrites the version, session 1 reads its own future.
    let text = "w(1,1,0,0) w(1,1,0,1) w(1,2,0,2) r(1,1,0,3) w(1,1,0,4) w(1,1,2,5) w(1,3,2,5)";
    let violation = refuted(text, Level::ReadAtomic).unwrap();
    assert_eq!(told(text, &violation), ["0 0 0 2"]);
}

#[test]
fn reads_that_no_contradiction_needs_are_not_told_apart() {
    let text = "w(1,1,0,0) w(1,1,0,1) w(1,2,0,2) r(1,1,0,3) w(7,1,5,5) w(7,1,6,6) r(7,1,7,7) r(7,1,0,3)";
    let violation = refuted(text, Level::ReadAtomic).unwrap();
    assert_eq!(told(text, &violation), ["0 0"]);
}

#[test]
fn reads_of_an_unknown_transaction_are_told_apart_where_it_takes_part() {
    // Session 5 has observed both newer versions of key 2, so its second transaction cannot have read 2 = 1.
    let stale = "w(2,1,0,0) w(2,2,0,1) w(8,1,0,1) w(2,1,1,2) w(2,3,1,3) w(9,1,1,3) r(8,1,5,4) r(9,1,5,4) \
                 ?r(2,1,5,5) ?w(1,1,5,5)";
    // If session 6 wrote 1 = 1, session 7 has read a stale version; else the transaction of unknown outcome committed.
    let text = format!("{stale} w(1,1,6,7) w(3,1,6,8) r(3,1,7,9) r(1,1,7,9) w(1,2,6,8)");
    let violation = refuted(&text, Level::SnapshotIsolation).unwrap();
    let told = told(&text, &violation);
    assert!(told.len() >= 2, "{told:?}");
    // By session 5, which is the case of the stronger level.
    assert_eq!(told[0], "5 6");
}

#[test]
fn a_tree_that_would_be_too_large_is_given_up() {
    let text = "w(1,1,0,0) w(1,1,0,1) w(1,2,0,2) r(1,1,0,3)";
    let (history, control) = (history(text), Control::new());
    let resolution = resolve(&history, &control).unwrap();
    let mut refuter = Refuter { left: 1, ..Refuter::of_all(&history, &resolution, Level::ReadAtomic, &control) };
    assert!(refuter.refute(&mut resolution.choice_of_none(), 0).unwrap().is_none());
    refuter.left = 3;
    assert!(refuter.refute(&mut resolution.choice_of_none(), 0).unwrap().is_some());
}
