//! Registers of which every key takes one of three values only, so that nearly every read has many possible writers.

use crate::common;

use common::examine::{self, examine};
use common::oracle::Observation;
use common::random::{Shape, for_histories, is_first_run};
use common::sketch::{Sketch, Transaction, read, write};
use fastrand::Rng;
use isoscope::checkers::{self, Level, Options, Verdict};
use isoscope::control::Control;
use isoscope::history::{OperationKind, Outcome, Value};

/// Histories per shape in the ordinary run.
const SMALL: u64 = 4_000;
/// Histories of which each level is asked alone.
const ALONE: u64 = 1_000;
/// Most ways to explain the reads of a history that are gone through by brute force.
const MOST_COMBINATIONS: usize = 300;

fn with_three_values(sketch: &Sketch) -> Sketch {
    let mut sketch = sketch.clone();
    for operation in sketch
        .operations_mut()
        .filter(|o| (1..=Value::MAX_NUMBER).contains(&o.value.0))
    {
        operation.value = Value(1 + operation.value.0 % 3);
    }
    sketch
}

#[test]
fn engine_and_oracle_agree_where_keys_take_three_values() {
    for shape in [Shape::SMALL, Shape::CLEAN, Shape::AMBIGUOUS] {
        for_histories(shape, SMALL, |sketch| {
            let history = with_three_values(sketch).history();
            if Observation::of(&history).n_combinations() <= MOST_COMBINATIONS {
                examine(&history).map(|_| ())
            } else {
                Ok(())
            }
        });
    }
}

#[test]
fn a_level_asked_for_alone_is_decided_and_shown() {
    for_histories(Shape::CLEAN, ALONE, |sketch| {
        let history = with_three_values(sketch).history();
        let all = examine::check(&history);
        for result in &all.levels {
            let alone = asked_alone(&history, result.level);
            let word = alone
                .level(result.level)
                .map(|result| result.verdict.word());
            if word != Some(result.verdict.word()) {
                return Err(format!(
                    "{} is {word:?} alone, {} among all",
                    result.level,
                    result.verdict.word()
                ));
            }
            examine::evidence(&history, &alone)?;
        }
        Ok(())
    });
}

fn asked_alone(history: &isoscope::history::History, level: Level) -> checkers::Findings {
    let options = Options {
        levels: vec![level],
        ..Options::default()
    };
    checkers::check(history, &options, &Control::new(), &|_| {})
}

/// How many transactions a long run has.
fn long() -> usize {
    if is_first_run() { 120 } else { 300 }
}

/// Transactions of about four operations, run one after the other by random sessions; each write writes one of three values.
fn serial_run(seed: u64, (sessions, transactions, keys): (usize, usize, usize)) -> Sketch {
    let mut random = Rng::with_seed(seed);
    let mut sketch = Sketch {
        sessions: vec![Vec::new(); sessions],
    };
    let mut value = vec![0; keys];
    for _ in 0..transactions {
        let mut operations = Vec::new();
        for _ in 0..random.usize(1..8) {
            let key = random.usize(0..keys);
            if random.bool() {
                value[key] = random.u64(1..4);
                operations.push(write(key, value[key]));
            } else {
                operations.push(read(key, value[key]));
            }
        }
        sketch.sessions[random.usize(0..sessions)].push(Transaction {
            outcome: Outcome::Committed,
            operations,
        });
    }
    sketch
}

#[test]
fn long_serial_runs_are_satisfied_at_every_level() {
    for (seed, keys) in [(1, 10), (2, 8), (3, 10), (4, 6)] {
        let history = serial_run(seed, (5, long(), keys)).history();
        let n_open = Observation::of(&history).n_ambiguous();
        assert!(n_open > long() * 5 / 4, "{n_open} ambiguous reads");
        let findings = examine::check(&history);
        assert_eq!(
            examine::signs(examine::engine_verdicts(&findings)),
            "+++++++",
            "seed {seed}"
        );
        examine::evidence(&history, &findings).expect("evidence holds");
    }
}

#[test]
fn a_weak_level_of_a_long_serial_run_is_satisfied_when_it_is_asked_for_alone() {
    let history = serial_run(5, (5, long(), 8)).history();
    for level in [
        Level::ReadCommitted,
        Level::ReadAtomic,
        Level::TransactionalCausalConsistency,
    ] {
        let findings = asked_alone(&history, level);
        assert!(
            matches!(findings.levels[0].verdict, Verdict::Satisfied(_)),
            "{level}"
        );
        examine::evidence(&history, &findings).expect("evidence holds");
    }
}

/// Appends a transaction to a session.
fn append(sketch: &mut Sketch, session: usize, operations: &[common::sketch::Operation]) {
    sketch.sessions[session].push(Transaction::committed(operations.to_vec()));
}

#[test]
fn a_violation_is_found_in_a_long_serial_run() {
    let mut sketch = serial_run(1, (5, long(), 8));
    // Both writers of p = 1 and q = 1 overwrite the other key, so no reader sees both. Values are written before, too.
    let (p, q) = (20, 21);
    append(&mut sketch, 0, &[write(p, 3), write(q, 3)]);
    append(&mut sketch, 0, &[write(p, 1), write(q, 2)]);
    append(&mut sketch, 1, &[write(p, 1), write(q, 3)]);
    append(&mut sketch, 2, &[write(p, 2), write(q, 1)]);
    append(&mut sketch, 3, &[write(p, 3), write(q, 1)]);
    append(&mut sketch, 4, &[read(p, 1), read(q, 1)]);
    assert!(
        sketch
            .operations_mut()
            .any(|o| o.kind == OperationKind::Read)
    );
    let history = sketch.history();
    // What violates a weak level is found where a strong one is asked for alone.
    for level in [
        Level::ReadAtomic,
        Level::TransactionalCausalConsistency,
        Level::Serializability,
    ] {
        let findings = asked_alone(&history, level);
        assert_eq!(findings.levels[0].verdict, Verdict::Violated, "{level}");
        examine::evidence(&history, &findings).expect("evidence holds");
    }
    let findings = examine::check(&history);
    assert_eq!(
        &examine::signs(examine::engine_verdicts(&findings))[2..],
        "-----"
    );
    examine::evidence(&history, &findings).expect("evidence holds");
}

#[test]
fn a_case_is_not_named_by_a_read_that_may_be_of_another_writer() {
    // Whether C4 calls it TAP-h rests on whether a6 read x from a4, as it may have done.
    let text = "a: [w z 2, w x 2, r x 2, r z 2] [w y 1, w x 1, r x 1] [r z 1, r x 1, r z 1, r y 1] \
                [w y 1, r y 1, w x 2, w z 1] [r y 1, r y 1] [r x 2, r z 2, r x 2, r y 1]\n\
                b: [w z 1, w y 2] [w y 2, w z 2, r z 2] [r y 2] [r x 2] [r y 1, r y 1, r z 1, r z 1] [r z 1, r x 2]\n";
    let history = isoscope::formats::text::parse(text).expect("a history in our notation");
    let findings = examine::check(&history);
    examine::evidence(&history, &findings).expect("evidence holds");
    let is_fractured = |violation: &&checkers::Violation| {
        violation.id.pattern == checkers::Pattern::FracturedReadCO
    };
    let fractured = findings
        .violations
        .iter()
        .find(is_fractured)
        .expect("a4's z was overlooked");
    assert!(
        !fractured.also.iter().any(|name| name == "C4 TAP-h"),
        "{:?}",
        fractured.also
    );
    // Nor does a read after an own write of the key, which is wrong whatever it read from.
    let text = "a: [w y 2, w x 2, w y 1] [r x 0, w y 2, r y 1] [w y 1]\n";
    let history = isoscope::formats::text::parse(text).expect("a history in our notation");
    examine::evidence(&history, &examine::check(&history)).expect("evidence holds");
    // Nor is it fractured where the reader saw the newer version by reading that key, and may have read z of another.
    let text = "a: [w x 2, w x 1, r y 0] [w x 1, r x 1, r y 0]?\n\
                b: [w y 2, w z 2, w z 1, r y 2] [w z 2, r x 1, r y 2, r x 1] [w z 1, w x 2, r x 2] [w y 1, w z 1, r y 1] \
                [w y 2, w x 1, w y 1, r z 1]\nc: [r y 1, w z 2, r x 0, w y 1, w z 1]\n\
                d: [w x 2, w x 1, r y 0, r x 1, r y 0] [r x 2, w z 2]? [r x 2, w x 2, w y 2, r y 0]? [r y 1, r y 2, r z 1]\n";
    let history = isoscope::formats::text::parse(text).expect("a history in our notation");
    examine::evidence(&history, &examine::check(&history)).expect("evidence holds");
}
