//! Engines and brute force must agree on random small histories, at every level, with evidence that holds.

use crate::common;

use common::examine::{self, examine};
use common::oracle::{self, Observation};
use common::random::{Shape, for_histories};
use common::sketch::{Sketch, Transaction, read, write};
use isoscope::checkers::Options;
use isoscope::control::Control;
use isoscope::formats;
use isoscope::history::{OperationKind, Outcome, Value};

/// Histories per shape in the ordinary run.
const SMALL: u64 = 14_000;
const CLEAN: u64 = 8_000;
const AMBIGUOUS: u64 = 4_000;
const FEW_VALUES: u64 = 2_000;
const UNKNOWN: u64 = 3_000;
const ALONE: u64 = 1_000;
const LARGER: u64 = 100;
/// Most ways to explain the reads of a history that are gone through by brute force.
const MOST_COMBINATIONS: usize = 300;
/// Histories on which each metamorphic relation is tried.
const CHANGED: u64 = 1_500;
fn verdicts(sketch: &Sketch) -> [Option<bool>; 7] {
    examine::engine_verdicts(&examine::check(&sketch.history()))
}

/// Verdicts of a changed history must be those before the change.
fn same_verdicts(before: &Sketch, after: &Sketch) -> Result<(), String> {
    let (one, other) = (verdicts(before), verdicts(after));
    if one == other {
        return Ok(());
    }
    Err(format!(
        "{} before, {} after the change to\n{after}",
        examine::signs(one),
        examine::signs(other)
    ))
}

/// What was satisfied before must be satisfied after.
fn still_satisfied(before: &Sketch, after: &Sketch) -> Result<(), String> {
    let (one, other) = (verdicts(before), verdicts(after));
    if one
        .iter()
        .zip(other)
        .all(|(one, other)| *one != Some(true) || other == Some(true))
    {
        return Ok(());
    }
    Err(format!(
        "{} before, {} after the change to\n{after}",
        examine::signs(one),
        examine::signs(other)
    ))
}

#[test]
fn engine_and_oracle_agree_on_small_histories() {
    for_histories(Shape::SMALL, SMALL, |sketch| {
        examine(&sketch.history()).map(|_| ())
    });
}

#[test]
fn engine_and_oracle_agree_on_histories_of_almost_valid_stores() {
    for_histories(Shape::CLEAN, CLEAN, |sketch| {
        examine(&sketch.history()).map(|_| ())
    });
}

#[test]
fn engine_and_oracle_agree_where_values_repeat() {
    for_histories(Shape::AMBIGUOUS, AMBIGUOUS, |sketch| {
        let history = sketch.history();
        if Observation::of(&history).n_combinations() <= oracle::MOST_COMBINATIONS {
            examine(&history).map(|_| ())
        } else {
            Ok(())
        }
    });
}

#[test]
fn engine_and_oracle_agree_where_most_reads_are_ambiguous() {
    for_histories(Shape::AMBIGUOUS, FEW_VALUES, |sketch| {
        let history = sketch.clone().with_few_values().history();
        if Observation::of(&history).n_combinations() <= MOST_COMBINATIONS {
            examine(&history).map(|_| ())
        } else {
            Ok(())
        }
    });
}

/// A third of the transactions may or may not have committed, and who reads from them is open.
fn with_unknown_outcomes(sketch: &Sketch) -> Sketch {
    let mut rng = fastrand::Rng::with_seed(
        sketch.fresh_value() ^ ((sketch.transactions().count() as u64) << 8),
    );
    let mut sketch = sketch.clone().with_few_values();
    for transaction in sketch
        .transactions_mut()
        .filter(|t| t.outcome != Outcome::Aborted)
    {
        transaction.outcome = if rng.u8(0..3) == 0 {
            Outcome::Unknown
        } else {
            Outcome::Committed
        };
    }
    sketch
}

#[test]
fn engine_and_oracle_agree_where_it_is_open_who_takes_part() {
    let shape = Shape {
        transactions: 6,
        operations: 3,
        ..Shape::CLEAN
    };
    for (shape, n) in [(Shape::AMBIGUOUS, UNKNOWN), (shape, UNKNOWN)] {
        for_histories(shape, n, |sketch| {
            let history = with_unknown_outcomes(sketch).history();
            if Observation::of(&history).n_combinations() <= MOST_COMBINATIONS {
                examine(&history).map(|_| ())
            } else {
                Ok(())
            }
        });
    }
}

#[test]
fn a_level_asked_for_alone_has_the_verdict_that_it_has_among_all() {
    for_histories(Shape::AMBIGUOUS, ALONE, |sketch| {
        let history = with_unknown_outcomes(sketch).history();
        let all = examine::check(&history);
        for result in &all.levels {
            let options = Options {
                levels: vec![result.level],
                ..Options::default()
            };
            let alone = isoscope::audit::check(&history, &options, &Control::new(), &|_| {});
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

/// Too large for brute force, but evidence speaks for itself.
#[test]
fn evidence_holds_in_larger_histories_where_it_is_open_who_takes_part() {
    let shape = Shape {
        transactions: 14,
        operations: 4,
        keys: 4,
        sessions: 6,
        ..Shape::CLEAN
    };
    for_histories(shape, LARGER, |sketch| {
        let history = with_unknown_outcomes(sketch).history();
        let findings = examine::check(&history);
        let strong = &examine::engine_verdicts(&findings)[4..];
        if strong.contains(&None) {
            return Err(format!(
                "undecided: {}",
                examine::signs(examine::engine_verdicts(&findings))
            ));
        }
        examine::evidence(&history, &findings)
    });
}

/// Too large for brute force, but evidence speaks for itself.
#[test]
fn evidence_holds_in_larger_histories_where_most_reads_are_ambiguous() {
    let shape = Shape {
        transactions: 14,
        operations: 5,
        keys: 4,
        sessions: 5,
        ..Shape::AMBIGUOUS
    };
    let clean = Shape {
        transactions: 14,
        operations: 4,
        keys: 4,
        sessions: 6,
        ..Shape::CLEAN
    };
    for shape in [shape, clean] {
        for_histories(shape, LARGER, |sketch| {
            let history = sketch.clone().with_few_values().history();
            examine::evidence(&history, &examine::check(&history))
        });
    }
}

#[test]
fn printed_histories_read_back() {
    for_histories(Shape::SMALL, CHANGED, |sketch| {
        let text = sketch.to_string();
        let parsed = isoscope::formats::text::parse(&text).map_err(|error| error.to_string())?;
        let mut again = Vec::new();
        isoscope::formats::write(&parsed, "text", &mut again).map_err(|error| error.to_string())?;
        let signs = |history| examine::signs(examine::engine_verdicts(&examine::check(history)));
        let again = String::from_utf8(again).map_err(|error| error.to_string())?;
        let reparsed = isoscope::formats::text::parse(&again).map_err(|error| error.to_string())?;
        let (one, two, three) = (signs(&sketch.history()), signs(&parsed), signs(&reparsed));
        if one == two && two == three {
            Ok(())
        } else {
            Err(format!("{one} {two} {three}\n{again}"))
        }
    });
}

#[test]
fn names_and_the_order_of_sessions_do_not_matter() {
    for_histories(Shape::SMALL, CHANGED, |sketch| {
        let mut changed = sketch.clone();
        changed.sessions.reverse();
        let n_keys = sketch.n_keys();
        for operation in changed.operations_mut() {
            operation.key = n_keys - 1 - operation.key;
            if operation.value != Value(0) && operation.value.0 <= Value::MAX_NUMBER {
                operation.value = Value(1_000_000 - operation.value.0);
            }
        }
        same_verdicts(sketch, &changed)
    });
}

#[test]
fn a_transaction_on_fresh_keys_changes_nothing() {
    for_histories(Shape::SMALL, CHANGED, |sketch| {
        let key = sketch.n_keys();
        let mut changed = sketch.clone();
        changed.sessions.push(vec![Transaction::committed(vec![
            read(key, 0),
            write(key, 1),
            read(key, 1),
        ])]);
        changed.sessions[0].push(Transaction::committed(vec![write(key + 1, 1)]));
        same_verdicts(sketch, &changed)
    });
}

#[test]
fn unobserved_unknown_transactions_might_as_well_have_aborted() {
    for_histories(Shape::SMALL, CHANGED, |sketch| {
        let read_by_anybody = |t: &Transaction| {
            let written: Vec<_> = t
                .operations
                .iter()
                .filter(|o| o.kind == OperationKind::Write)
                .collect();
            sketch.transactions().flat_map(|u| &u.operations).any(|o| {
                o.kind == OperationKind::Read
                    && written.iter().any(|w| w.key == o.key && w.value == o.value)
            })
        };
        let mut changed = sketch.clone();
        for transaction in changed.transactions_mut() {
            if transaction.outcome == Outcome::Unknown && !read_by_anybody(transaction) {
                transaction.outcome = Outcome::Aborted;
            }
        }
        same_verdicts(sketch, &changed)
    });
}

#[test]
fn a_history_beside_its_copy_on_other_keys_has_the_same_verdicts_and_twice_the_patterns() {
    for_histories(Shape::SMALL, CHANGED, |sketch| {
        let n_keys = sketch.n_keys();
        let mut doubled = sketch.clone();
        let mut copy = sketch.clone();
        copy.operations_mut()
            .for_each(|operation| operation.key += n_keys);
        doubled.sessions.extend(copy.sessions);
        let (one, two) = (
            examine::check(&sketch.history()),
            examine::check(&doubled.history()),
        );
        let expected: Vec<_> = one
            .patterns
            .iter()
            .map(|(pattern, count)| (*pattern, 2 * count))
            .collect();
        let found: Vec<_> = two
            .patterns
            .iter()
            .map(|(pattern, count)| (*pattern, *count))
            .collect();
        if found != expected {
            return Err(format!("patterns {found:?}, expected {expected:?}"));
        }
        same_verdicts(sketch, &doubled)
    });
}

#[test]
fn what_only_the_solver_finds_is_found_in_each_component() {
    let text = "b: [w x 5, r z 1, w x 6]\nc: [r x 3, w z 2] [r z 2, r y init, w x 4]\n\
                d: [w x 1, w z 1, w x 2] [r y init, r x 2, w x 3]\n";
    let other = text
        .replace(" x ", " xx ")
        .replace(" y ", " yy ")
        .replace(" z ", " zz ");
    let other = other
        .replace("b:", "e:")
        .replace("c:", "f:")
        .replace("d:", "g:");
    let count = |text: &str| examine::check(&formats::text::parse(text).expect("right")).patterns;
    let one = count(text);
    assert_eq!(
        one.iter()
            .map(|(pattern, n)| (pattern.id(), *n))
            .collect::<Vec<_>>(),
        [("WriteSkew", 1)]
    );
    let twice = one.iter().map(|(pattern, n)| (*pattern, 2 * n)).collect();
    assert_eq!(count(&format!("{text}{other}")), twice);
}

#[test]
fn removing_reads_keeps_what_was_satisfied() {
    for_histories(Shape::CLEAN, CHANGED, |sketch| {
        let mut rng = fastrand::Rng::with_seed(sketch.fresh_value());
        let mut changed = sketch.clone();
        for transaction in changed.transactions_mut() {
            transaction
                .operations
                .retain(|o| o.kind == OperationKind::Write || rng.u8(0..4) > 0);
        }
        still_satisfied(sketch, &changed)
    });
}

#[test]
fn splitting_a_session_keeps_what_was_satisfied() {
    for_histories(Shape::CLEAN, CHANGED, |sketch| {
        let mut changed = sketch.clone();
        let longest = (0..changed.sessions.len())
            .max_by_key(|&s| changed.sessions[s].len())
            .expect("a session");
        let half = changed.sessions[longest].len() / 2;
        let rest = changed.sessions[longest].split_off(half);
        changed.sessions.push(rest);
        still_satisfied(sketch, &changed)
    });
}
