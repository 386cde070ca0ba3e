//! Histories that begin with transactions that look as if they set up the initial state: the engines against brute force.

mod common;

use common::examine;
use common::random::{Shape, for_histories};
use common::sketch::{Sketch, Transaction, write};
use isoscope::checkers::{Level, Verdict};
use isoscope::control::Control;
use isoscope::counterexample;
use isoscope::history::History;
use isoscope::report::{Report, Settings};
use isoscope::verify;

/// Histories in the ordinary run.
const HISTORIES: u64 = 6_000;

/// Few enough reads of initial values for the oracle to try all writers.
const SHAPE: Shape =
    Shape { transactions: 4, operations: 3, keys: 2, sessions: 3, repeated_values: false, clean: false };

fn parsed(text: &str) -> History {
    isoscope::formats::text::parse(text).expect("a history in our notation")
}

/// A late reset that looks like a set-up.
const RESET: &str =
    "a: [r x 0, r x 0, w x 3]\nb: [w x 0] [r x 2, w x 2]? [r x 2, w x 1]?\nc: [r x 3]? [r x 0, w x 2]\n";

#[test]
fn what_looks_like_a_set_up_may_be_a_reset() {
    let history = parsed(RESET);
    let findings = examine::examine(&history).expect("evidence holds");
    assert!(findings.set_up_apart);
    assert_eq!(examine::signs(examine::engine_verdicts(&findings)), "+++++++");
    assert!(findings.assumptions[0].contains("b1 wrote only initial values"), "{:?}", findings.assumptions);
    let report = Report::new(&history, &findings, Settings { witness: true, ..Settings::default() });
    assert_eq!(report.rules["init"], "none");
    assert!(verify::verify(&history, &report).is_ok());
    // By the other reading the same witness explains nothing.
    let mut by_assumption = report;
    by_assumption.rules.insert("init".to_owned(), "auto".to_owned());
    assert!(verify::verify(&history, &by_assumption).is_err());
}

#[test]
fn who_names_the_set_up_is_taken_at_the_word() {
    let rules =
        isoscope::history::Rules { set_up: "txn=b1".parse().expect("a rule"), ..isoscope::history::Rules::default() };
    let history = parsed(RESET).under(&rules).expect("there is such a transaction");
    let findings = examine::check(&history);
    assert!(!findings.set_up_apart);
    for level in [Level::SnapshotIsolation, Level::Serializability] {
        assert_eq!(findings.level(level).map(|result| &result.verdict), Some(&Verdict::Violated));
    }
    examine::evidence(&history, &findings).expect("evidence holds");
}

#[test]
fn what_both_readings_violate_is_told_by_the_assumption() {
    // Of three updates of the initial version a reset explains two at most.
    let history = parsed("s: [w x 0]\na: [r x 0, w x 1]\nb: [r x 0, w x 2]\nc: [r x 0, w x 3]\n");
    let findings = examine::examine(&history).expect("evidence holds");
    assert!(!findings.set_up_apart);
    assert_eq!(examine::signs(examine::engine_verdicts(&findings)), "+++++--");
}

/// The sketch with transactions that write 0 to every key, at the beginning of some sessions.
fn with_set_up(sketch: &Sketch, rng: &mut fastrand::Rng) -> Sketch {
    let mut sketch = sketch.clone();
    let keys: Vec<usize> = (0..sketch.n_keys()).collect();
    let parts: Vec<&[usize]> = if rng.bool() { vec![&keys] } else { keys.chunks(1).collect() };
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
        let mut rng = fastrand::Rng::with_seed(sketch.fresh_value() ^ (sketch.transactions().count() as u64) << 8);
        let sketch = with_set_up(sketch, &mut rng);
        let history = sketch.history();
        let findings = examine::examine(&history).map_err(|problem| format!("{problem}\nin full\n{sketch}"))?;
        let history = findings.understood(history);
        for violation in findings.violations.iter().take(2) {
            let example = counterexample::minimize(&history, violation, &Control::new());
            examine::evidence(&example.history, &examine::check(&example.history))
                .map_err(|problem| format!("{}: {problem}\nin full\n{sketch}", violation.id))?;
        }
        Ok(())
    });
}
