//! Strict serializability: the engine against brute force, with evidence that the verifier accepts.

use crate::common;

use common::examine;
use common::oracle;
use common::random::{Shape, for_histories, sketch};
use common::sketch::{Sketch, Transaction, key_name, session_name, write};
use isoscope::checkers::{Cause, Level, Options, Verdict};
use isoscope::control::Control;
use isoscope::history::{Builder, History, Interval, OperationKind, Origin, Outcome, Value};
use isoscope::relations::has_real_time;
use isoscope::report::Settings;
use isoscope::verify;
use serde_json::Value as Json;

/// Histories per shape in the ordinary run.
const TIMED: u64 = 8_000;
const LATE: u64 = 3_000;

/// Most choices of writers that brute force is asked to go through.
const MOST_COMBINATIONS: usize = 4_000;

/// How the times of a session go.
#[derive(Clone, Copy, PartialEq)]
enum Pace {
    /// Each transaction runs after the one before it.
    OneByOne,
    /// Transactions overlap, but none ends before an earlier one begins.
    Overlapping,
}

/// The history of a sketch with times: sessions run side by side.
fn timed(sketch: &Sketch, pace: Pace, rng: &mut fastrand::Rng) -> History {
    let mut builder = Builder::new(Origin::default());
    builder.initial_value(Value(0));
    // Numbers ascend in the order in which the store of the sketch committed, so most times fit it.
    let newest = |operations: &[common::sketch::Operation]| {
        let numbers = operations
            .iter()
            .map(|o| o.value.0)
            .filter(|v| *v <= Value::MAX_NUMBER);
        numbers.max().unwrap_or(0) as i64
    };
    for (s, transactions) in sketch.sessions.iter().enumerate() {
        let session = builder.session_name(&session_name(s));
        let mut clock = 0;
        for transaction in transactions {
            let draft = builder.transaction(session, transaction.outcome);
            for operation in &transaction.operations {
                let key = builder.key_name(&key_name(operation.key));
                builder.operation(draft, operation.kind, key, operation.value, 0);
            }
            let writes_zeros = |o: &common::sketch::Operation| {
                o.kind == OperationKind::Write && o.value == Value(0)
            };
            let start = if transaction.operations.iter().all(writes_zeros) {
                clock.max(rng.i64(0..12))
            } else {
                clock.max(3 * newest(&transaction.operations) - rng.i64(0..4))
            };
            let start = if pace == Pace::Overlapping {
                start - rng.i64(0..9)
            } else {
                start
            };
            let end = start.max(clock) + rng.i64(0..8);
            clock = if pace == Pace::Overlapping {
                clock.max(start)
            } else {
                end + rng.i64(0..2)
            };
            if rng.u8(0..10) > 0 {
                builder.set_interval(draft, Interval { start, end });
            }
        }
    }
    builder.finish().expect("sketches are small")
}

fn decide(history: &History) -> Result<Verdict, String> {
    let levels = vec![Level::Serializability, Level::StrictSerializability];
    let options = Options {
        levels,
        ..Options::default()
    };
    let findings = isoscope::audit::check(history, &options, &Control::new(), &|_| {});
    let report = isoscope::report::of_findings(
        history,
        &findings,
        Settings {
            witness: true,
            ..Settings::default()
        },
    );
    examine::believed(history, &report)?;
    Ok(findings.levels[1].verdict.clone())
}

fn look_at(sketch: &Sketch) -> Result<(), String> {
    look_at_pace(sketch, Pace::OneByOne)
}

fn look_at_pace(sketch: &Sketch, pace: Pace) -> Result<(), String> {
    let mut rng = fastrand::Rng::with_seed(
        sketch.fresh_value() ^ ((sketch.transactions().count() as u64) << 8),
    );
    let history = timed(sketch, pace, &mut rng);
    if oracle::Observation::of(&history).n_combinations() > MOST_COMBINATIONS {
        return Ok(());
    }
    let text = || {
        let line = |t| {
            let operations: Vec<String> = history
                .operations_of(t)
                .map(|o| history.operation_text(o))
                .collect();
            let (name, ran) = (history.transaction_name(t), history.interval(t));
            format!(
                "  {name} {:?} {ran:?}: {}\n",
                history.outcome(t),
                operations.join(", ")
            )
        };
        history.transactions().map(line).collect::<String>()
    };
    let decided = decide(&history).map_err(|problem| format!("{problem}\n{}", text()))?;
    if !has_real_time(&history) {
        // Without a serial order there is none in real time, and nothing shows that there is one.
        let expected = if oracle::verdicts(&history)[6] {
            Verdict::Undecided(Cause::NoTimestamps)
        } else {
            Verdict::Violated
        };
        return if decided == expected {
            Ok(())
        } else {
            Err(format!("{decided:?} without times\n{}", text()))
        };
    }
    let expected = oracle::strictly_serializable(&history);
    match decided {
        Verdict::Satisfied(_) if expected => Ok(()),
        Verdict::Violated if !expected => Ok(()),
        other => Err(format!(
            "{} instead of {expected}\n{}",
            other.word(),
            text()
        )),
    }
}

#[test]
fn engine_and_oracle_agree_on_real_time() {
    for_histories(Shape::SMALL, TIMED, look_at);
}

#[test]
fn engine_and_oracle_agree_on_real_time_of_almost_valid_stores() {
    for_histories(Shape::CLEAN, TIMED, look_at);
}

#[test]
fn engine_and_oracle_agree_on_real_time_where_sessions_overlap() {
    for shape in [Shape::SMALL, Shape::CLEAN, Shape::AMBIGUOUS] {
        for_histories(shape, TIMED / 2, |sketch| {
            look_at_pace(sketch, Pace::Overlapping)
        });
    }
}

#[test]
fn engine_and_oracle_agree_on_transactions_that_look_like_a_set_up() {
    for_histories(Shape::SMALL, LATE, |sketch| look_at(&with_zeros(sketch)));
}

fn with_zeros(sketch: &Sketch) -> Sketch {
    let mut sketch = sketch.clone();
    let zeros = (0..sketch.n_keys()).map(|key| write(key, 0)).collect();
    sketch.sessions.push(vec![Transaction::committed(zeros)]);
    sketch
}

#[test]
fn cases_that_violate_incomparable_levels_have_a_name_that_fits_all() {
    // By one writer of what was read it is a snapshot cycle, by the other a write skew among updates.
    assert_eq!(
        look_at(&with_zeros(&sketch(Shape::SMALL, 15_349_767))),
        Ok(())
    );
}

/// A write of 5 ends before the initial value is written; then 5 is read.
fn late_zero(is_declared: bool) -> History {
    let mut builder = Builder::new(Origin::default());
    builder.initial_value(Value(0));
    let steps = [
        (OperationKind::Write, 5, 0),
        (OperationKind::Write, 0, 20),
        (OperationKind::Read, 5, 40),
    ];
    for (session, (kind, value, start)) in steps.into_iter().enumerate() {
        let session = builder.session_number(session as u64);
        let draft = builder.transaction(session, Outcome::Committed);
        let key = builder.key_number(0);
        builder.operation(draft, kind, key, Value(value), 0);
        builder.set_interval(
            draft,
            Interval {
                start,
                end: start + 10,
            },
        );
        if is_declared && value == 0 {
            builder.set_up(draft);
        }
    }
    builder.finish().expect("small")
}

#[test]
fn a_late_write_of_the_initial_value_is_a_write_unless_it_is_declared_to_set_up() {
    assert_eq!(decide(&late_zero(false)), Ok(Verdict::Violated));
    assert!(matches!(
        decide(&late_zero(true)),
        Ok(Verdict::Satisfied(_))
    ));
    let word = |is_declared| {
        let history = late_zero(is_declared);
        let options = Options {
            levels: vec![Level::Linearizability],
            ..Options::default()
        };
        let findings = isoscope::audit::check(&history, &options, &Control::new(), &|_| {});
        let report = isoscope::report::of_findings(
            &history,
            &findings,
            Settings {
                witness: true,
                ..Settings::default()
            },
        );
        let verified = verify::verify(&history, &report).expect("evidence holds");
        assert!(verified.without_evidence.is_empty());
        findings.levels[0].verdict.word()
    };
    assert_eq!([false, true].map(word), ["violated", "satisfied"]);
}

#[test]
fn the_table_of_tiny_histories_with_times() {
    let text = std::fs::read_to_string(common::repository("tests/data/tiny-histories.json"))
        .expect("part of the repository");
    let table: Json = serde_json::from_str(&text).expect("JSON");
    let rows = table["timed_histories"].as_array().expect("rows");
    assert_eq!(rows.len(), 7);
    for row in rows {
        let history = common::history(row["text"].as_str().expect("a history"));
        let verdict = decide(&history).expect("evidence holds");
        assert_eq!(
            verdict.word(),
            row["sser_expected"].as_str().expect("a verdict"),
            "{row}"
        );
    }
}
