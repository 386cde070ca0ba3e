use super::*;
use isoscope_model::history::{Builder, Interval, OperationKind, Origin, Outcome, Value};
use isoscope_model::relations::{Standing, resolve};

/// Reads, writes and swaps of three values of a few keys by a few sessions, half of them by the rules of a store.
fn random_history(random: &mut fastrand::Rng, n: usize) -> History {
    let mut builder = Builder::new(Origin::default());
    builder.initial_value(Value(0));
    let keys: Vec<_> = (0..random.u64(1..3))
        .map(|key| builder.key_number(key))
        .collect();
    let sessions: Vec<_> = (0..random.u64(2..4))
        .map(|session| builder.session_number(session))
        .collect();
    let mut current = [0; 2];
    for at in 0..n as i64 {
        let (which, session) = (
            random.usize(0..keys.len()),
            sessions[random.usize(0..sessions.len())],
        );
        let outcome = if random.u8(0..12) == 0 {
            Outcome::Unknown
        } else {
            Outcome::Committed
        };
        let draft = builder.transaction(session, outcome);
        let kind = random.u8(0..5);
        let seen = if random.bool() {
            random.u64(0..3)
        } else {
            current[which]
        };
        if kind > 1 {
            builder.operation(
                draft,
                OperationKind::Read,
                keys[which],
                Value(seen),
                at as u32,
            );
        }
        if kind < 3 {
            current[which] = random.u64(0..3);
            builder.operation(
                draft,
                OperationKind::Write,
                keys[which],
                Value(current[which]),
                at as u32,
            );
        }
        builder.set_interval(
            draft,
            Interval {
                start: 3 * at,
                end: 3 * at + 1,
            },
        );
    }
    builder.sort_sessions();
    builder.finish().expect("small")
}

/// Whether the rest of each session can be put in order, by trying everything.
fn can_be_ordered(
    history: &History,
    next: &mut Vec<Vec<TransactionId>>,
    values: &[u64; 2],
) -> bool {
    let is_over = |queue: &Vec<TransactionId>| {
        queue
            .iter()
            .all(|&t| history.outcome(t) == Outcome::Unknown)
    };
    if next.iter().all(is_over) {
        return true;
    }
    for session in 0..next.len() {
        if next[session].is_empty() {
            continue;
        }
        let t = next[session].remove(0);
        let mut values_then = *values;
        let fits = history.operations_of(t).all(|o| {
            let operation = history.operation(o);
            let value = &mut values_then[operation.key.index()];
            match operation.kind {
                OperationKind::Read => *value == operation.value.0,
                OperationKind::Write => {
                    *value = operation.value.0;
                    true
                }
            }
        });
        let unseen =
            history.outcome(t) == Outcome::Unknown && can_be_ordered(history, next, values);
        let found = unseen || fits && can_be_ordered(history, next, &values_then);
        next[session].insert(0, t);
        if found {
            return true;
        }
    }
    false
}

#[test]
fn orders_are_those_that_trying_everything_finds() {
    let mut random = fastrand::Rng::with_seed(9);
    let mut counts = [0; 2];
    for _ in 0..3_000 {
        let n = random.usize(3..9);
        let history = random_history(&mut random, n);
        let resolution = resolve(&history, &Control::new()).expect("no limit");
        if history
            .transactions()
            .any(|t| resolution.standing(t) == Standing::Initial)
        {
            continue;
        }
        let found = order_in_sessions(&history, &resolution, &Control::new()).expect("no limit");
        let mut queues: Vec<Vec<TransactionId>> = history
            .sessions()
            .map(|session| history.transactions_of(session).collect())
            .collect();
        assert_eq!(
            found.is_some(),
            can_be_ordered(&history, &mut queues, &[0; 2]),
            "{history:?}"
        );
        counts[usize::from(found.is_some())] += 1;
        let Some(order) = found else { continue };
        assert!(crate::checkers::linearizability::keeps_session_order(
            &history, &order
        ));
        let mut alone = vec![order.clone()];
        assert!(
            can_be_ordered(&history, &mut alone, &[0; 2]),
            "{order:?} of {history:?}"
        );
        let committed = history
            .transactions()
            .filter(|&t| history.outcome(t) == Outcome::Committed);
        assert!(committed.into_iter().all(|t| order.contains(&t)));
    }
    assert!(counts.iter().all(|&count| count > 500), "{counts:?}");
}
