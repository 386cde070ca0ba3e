//! Histories that begin with transactions that look as if they set up the initial state: the engines against brute force.

use crate::common;

use common::random::{Shape, for_histories};
use common::sketch::{Sketch, Transaction, write};
use common::{examine, oracle};
use isoscope::checkers::{Level, Verdict};
use isoscope::control::Control;
use isoscope::history::History;

/// Histories in the ordinary run.
const HISTORIES: u64 = 6_000;

/// Few enough reads of initial values for the oracle to try all writers.
const SHAPE: Shape = Shape {
    transactions: 4,
    operations: 3,
    keys: 2,
    sessions: 3,
    repeated_values: false,
    clean: false,
};

/// A late reset that looks like a set-up.
const RESET: &str = "a: [r x 0, r x 0, w x 3]\nb: [w x 0] [r x 2, w x 2]? [r x 2, w x 1]?\nc: [r x 3]? [r x 0, w x 2]\n";

/// What a report says where a verdict rests on the assumption alone.
const ALONE: &str = "violated by that assumption alone";

fn note(history: &History) -> Option<String> {
    examine::check(history)
        .assumptions
        .into_iter()
        .find(|sentence| sentence.contains(ALONE))
}

#[test]
fn what_looks_like_a_set_up_may_be_a_reset() {
    let history = common::history(RESET);
    let findings = examine::examine(&history).expect("evidence holds");
    assert_eq!(
        examine::signs(examine::engine_verdicts(&findings)),
        "+++++--"
    );
    let note = note(&history).expect("the report says what the verdict rests on");
    assert!(
        note.starts_with("SI, SER are ") && note.contains("--init none"),
        "{note}"
    );
    let apart = history.without_assumed_set_up();
    let findings = examine::examine(&apart).expect("evidence holds");
    assert_eq!(
        examine::signs(examine::engine_verdicts(&findings)),
        "+++++++"
    );
}

#[test]
fn a_lost_update_of_what_was_set_up_is_found() {
    let history = common::history("s: [w x 0]\na: [r x 0, w x 1]\nb: [r x 0, w x 2]\n");
    let findings = examine::examine(&history).expect("evidence holds");
    assert_eq!(
        examine::signs(examine::engine_verdicts(&findings)),
        "+++++--"
    );
    assert!(note(&history).is_some(), "0 may have been there before");
}

#[test]
fn who_names_the_set_up_is_taken_at_the_word() {
    let rules = isoscope::history::Rules {
        set_up: "txn=b1".parse().expect("a rule"),
        ..isoscope::history::Rules::default()
    };
    let history = common::history(RESET)
        .with_rules(&rules)
        .expect("there is such a transaction");
    let findings = examine::check(&history);
    for level in [Level::SnapshotIsolation, Level::Serializability] {
        assert_eq!(
            findings.level(level).map(|result| &result.verdict),
            Some(&Verdict::Violated)
        );
    }
    assert_eq!(note(&history), None, "nothing was assumed");
    examine::evidence(&history, &findings).expect("evidence holds");
}

#[test]
fn what_both_readings_violate_rests_on_nothing() {
    // Of three updates of the initial version a reset explains two at most.
    let history =
        common::history("s: [w x 0]\na: [r x 0, w x 1]\nb: [r x 0, w x 2]\nc: [r x 0, w x 3]\n");
    let findings = examine::examine(&history).expect("evidence holds");
    assert_eq!(
        examine::signs(examine::engine_verdicts(&findings)),
        "+++++--"
    );
    assert_eq!(note(&history), None);
}

/// The sketch with transactions that write 0 to every key, at the beginning of some sessions.
fn with_set_up(sketch: &Sketch, rng: &mut fastrand::Rng) -> Sketch {
    let mut sketch = sketch.clone();
    let keys: Vec<usize> = (0..sketch.n_keys()).collect();
    let parts: Vec<&[usize]> = if rng.bool() {
        vec![&keys]
    } else {
        keys.chunks(1).collect()
    };
    let one_session = rng.bool().then(|| rng.usize(0..=sketch.sessions.len()));
    for part in parts {
        let session = one_session.unwrap_or_else(|| rng.usize(0..=sketch.sessions.len()));
        let set_up = Transaction::committed(part.iter().map(|&key| write(key, 0)).collect());
        match sketch.sessions.get_mut(session) {
            Some(transactions) => transactions.insert(0, set_up),
            None => sketch.sessions.push(vec![set_up]),
        }
    }
    sketch
}

#[test]
fn engine_and_oracle_agree_on_histories_with_a_set_up() {
    for_histories(SHAPE, HISTORIES, |sketch| {
        let mut rng = fastrand::Rng::with_seed(
            sketch.fresh_value() ^ (sketch.transactions().count() as u64) << 8,
        );
        let sketch = with_set_up(sketch, &mut rng);
        let history = sketch.history();
        let findings = examine::examine(&history)
            .map_err(|problem| format!("{problem}\nin full\n{sketch}"))?;
        let apart = history.without_assumed_set_up();
        let with_and_without = oracle::verdicts(&history)
            .into_iter()
            .zip(oracle::verdicts(&apart));
        let rests_on_it = with_and_without
            .into_iter()
            .any(|(merged, apart)| !merged && apart);
        if rests_on_it != note(&history).is_some() {
            return Err(format!(
                "what the verdicts rest on is not said\nin full\n{sketch}"
            ));
        }
        for violation in findings.violations.iter().take(2) {
            let example = isoscope::audit::minimize(&history, violation, &Control::new());
            examine::evidence(&example.history, &examine::check(&example.history))
                .map_err(|problem| format!("{}: {problem}\nin full\n{sketch}", violation.id))?;
        }
        Ok(())
    });
}
