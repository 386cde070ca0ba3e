//! Small histories of lists, right and wrong ones.

use super::sketch::{Sketch, key_name, session_name};
use isoscope_model::history::{Builder, History, Interval, OperationKind, Origin, Outcome, Value};

/// The history in which every key of the sketch holds a list: a write appends its number, and a read of a number returns
/// all smaller numbers that may have been appended, and that number. Numbers ascend in the order in which the store of
/// the sketch committed, so most lists are right; `trouble` makes some of them wrong.
pub fn history_of_lists(sketch: &Sketch, rng: &mut fastrand::Rng) -> History {
    history_of_elements(sketch, rng, &|number| Value(number), false)
}

/// The same with other elements in place of the numbers; with times that mostly fit, if asked for.
pub fn history_of_elements(
    sketch: &Sketch,
    rng: &mut fastrand::Rng,
    element: &dyn Fn(u64) -> Value,
    with_times: bool,
) -> History {
    let wrong = [0, 0, 0, 1, 2][rng.usize(0..5)];
    let in_doubt = rng.bool();
    let mut appended: Vec<Vec<u64>> = vec![Vec::new(); sketch.n_keys()];
    for transaction in sketch.transactions() {
        let counts = transaction.outcome == Outcome::Committed
            || (transaction.outcome == Outcome::Unknown && in_doubt);
        let writes = transaction
            .operations
            .iter()
            .filter(|o| counts && o.kind == OperationKind::Write);
        writes.for_each(|o| appended[o.key].push(o.value.0));
    }
    appended
        .iter_mut()
        .for_each(|numbers| numbers.sort_unstable());
    let mut builder = Builder::new(Origin::default());
    for (s, transactions) in sketch.sessions.iter().enumerate() {
        let session = builder.session_name(&session_name(s));
        let mut clock = 0;
        for transaction in transactions {
            let draft = builder.transaction(session, transaction.outcome);
            if with_times {
                let numbers = transaction
                    .operations
                    .iter()
                    .map(|o| o.value.0)
                    .filter(|v| *v <= Value::MAX_NUMBER);
                let start = clock.max(3 * numbers.max().unwrap_or(0) as i64 - rng.i64(0..4));
                let end = start + rng.i64(0..8);
                clock = end + rng.i64(0..2);
                builder.set_interval(draft, Interval { start, end });
            }
            for (at, operation) in transaction.operations.iter().enumerate() {
                let key = builder.key_name(&key_name(operation.key));
                builder.list_key(key);
                if operation.kind == OperationKind::Write {
                    builder.operation(
                        draft,
                        OperationKind::Write,
                        key,
                        element(operation.value.0),
                        0,
                    );
                    continue;
                }
                let own = transaction.operations[..at].iter();
                let own: Vec<u64> = own
                    .filter(|o| o.kind == OperationKind::Write && o.key == operation.key)
                    .map(|o| o.value.0)
                    .collect();
                let last = operation.value.0;
                let mut list: Vec<u64> = appended[operation.key]
                    .iter()
                    .copied()
                    .filter(|n| *n <= last && last != Value::INITIAL.0 && !own.contains(n))
                    .collect();
                if (1..=Value::MAX_NUMBER).contains(&last)
                    && !list.contains(&last)
                    && !own.contains(&last)
                {
                    list.push(last);
                }
                list.extend(&own);
                if wrong > 0 && rng.usize(0..3) == 0 {
                    spoil(&mut list, rng);
                }
                let elements: Vec<Value> = list.into_iter().map(element).collect();
                builder.list_read(draft, key, &elements, 0);
            }
        }
    }
    builder.finish().expect("sketches are small")
}

/// Makes a list wrong, or another one that may be right.
fn spoil(list: &mut Vec<u64>, rng: &mut fastrand::Rng) {
    match (rng.u8(0..6), list.len()) {
        (0, 1..) => drop(list.remove(rng.usize(0..list.len()))),
        (1, 2..) => {
            let at = rng.usize(0..list.len() - 1);
            list.swap(at, at + 1);
        }
        (2, 1..) => list.push(list[0]),
        (3, _) => list.insert(rng.usize(0..=list.len()), 99),
        (4, _) => list.insert(rng.usize(0..=list.len()), rng.u64(1..6)),
        _ => drop(list.pop()),
    }
}
