//! Histories for unit tests, made without going through a file format.

use crate::history::{Builder, History, OperationKind, Origin, Outcome, Value};

/// A history from operations like `w(key,value,session,transaction)`, separated by blanks; value 0 is the initial one,
/// transaction −1 an aborted one of its own, and a transaction of unknown outcome begins with `?` as in
/// `?w(1,1,0,3)`. Sessions and program order follow the order of the text.
pub(crate) fn history(text: &str) -> History {
    let mut builder = Builder::new(Origin::default());
    builder.initial_value(Value(0));
    let mut drafts: Vec<((u64, i64), crate::history::Draft)> = Vec::new();
    for word in text.split_whitespace() {
        let (unknown, word) = word.strip_prefix('?').map_or((false, word), |rest| (true, rest));
        let (kind, rest) = word.split_at(2);
        let numbers: Vec<i64> =
            rest.trim_end_matches(')').split(',').map(|n| n.parse().expect("operations hold numbers")).collect();
        let &[key, value, session, transaction] = numbers.as_slice() else { panic!("four numbers in {word}") };
        let session_id = builder.session_number(session as u64);
        let known = drafts.iter().find(|(place, _)| *place == (session as u64, transaction) && transaction >= 0);
        let draft = match known {
            Some((_, draft)) => *draft,
            None => {
                let outcome = match (transaction, unknown) {
                    (-1, _) => Outcome::Aborted,
                    (_, true) => Outcome::Unknown,
                    _ => Outcome::Committed,
                };
                let draft = builder.transaction(session_id, outcome);
                drafts.push(((session as u64, transaction), draft));
                draft
            }
        };
        let kind = if kind == "w(" { OperationKind::Write } else { OperationKind::Read };
        let key = builder.key_number(key as u64);
        builder.operation(draft, kind, key, Value(value as u64), 0);
    }
    builder.finish().expect("small histories fit")
}

/// A random history of a few short transactions; values are often, but not always, written once.
pub(crate) fn random_history(random: &mut fastrand::Rng) -> History {
    let mut builder = Builder::new(Origin::default());
    if random.u8(0..4) > 0 {
        builder.initial_value(Value(0));
    }
    let n_keys = random.u64(1..4);
    let n_values = random.u64(1..6);
    for _ in 0..random.usize(1..7) {
        let session = builder.session_number(random.u64(0..3));
        let outcome = match random.u8(0..8) {
            0 => Outcome::Aborted,
            1 => Outcome::Unknown,
            _ => Outcome::Committed,
        };
        let draft = builder.transaction(session, outcome);
        for _ in 0..random.usize(0..5) {
            let key = builder.key_number(random.u64(0..n_keys));
            let write = random.bool();
            let value = match random.u8(0..20) {
                0 if !write => Value::INITIAL,
                1 if !write => Value::UNRECORDED,
                _ => Value(random.u64(0..n_values + 1)),
            };
            let kind = if write { OperationKind::Write } else { OperationKind::Read };
            builder.operation(draft, kind, key, value, 0);
        }
    }
    builder.finish().expect("small histories fit")
}
