//! Small histories for unit tests.

#![allow(dead_code, unreachable_pub)]

#[path = "../../testing/src/random.rs"]
pub(crate) mod random;
#[path = "../../testing/src/sketch.rs"]
pub(crate) mod sketch;

use crate::control::Control;
use crate::history::{Builder, History, Interval, OperationKind, Origin, Outcome, Value};
use crate::relations::{Index, resolve};

/// A history in the simplest words of IsoScope's notation: lines like `a: [w x 1, r y 0]@5..9 [r x 1]?`. `?` is an
/// unknown outcome, `!` an abort; initial values are 0.
pub(crate) fn history(text: &str) -> History {
    let mut builder = Builder::new(Origin::default());
    builder.initial_value(Value(0));
    for line in text.lines() {
        let (session, transactions) = line.split_once(": ").expect("a session");
        let session = builder.session_name(session);
        for text in transactions.split('[').skip(1) {
            let (operations, after) = text.split_once(']').expect("an end");
            let outcome = match after.trim_end().chars().next() {
                Some('?') => Outcome::Unknown,
                Some('!') => Outcome::Aborted,
                _ => Outcome::Committed,
            };
            let t = builder.transaction(session, outcome);
            if let Some((_, times)) = after.trim_end().split_once('@') {
                let (start, end) = times.split_once("..").expect("a range");
                let time = |text: &str| text.parse().expect("a time");
                builder.set_interval(
                    t,
                    Interval {
                        start: time(start),
                        end: time(end),
                    },
                );
            }
            for operation in operations.split(", ").filter(|text| !text.is_empty()) {
                let words: Vec<&str> = operation.split(' ').collect();
                let kind = if words[0] == "w" {
                    OperationKind::Write
                } else {
                    OperationKind::Read
                };
                let key = builder.key_name(words[1]);
                builder.operation(t, kind, key, Value(words[2].parse().expect("a value")), 0);
            }
        }
    }
    builder.finish().expect("a history")
}

/// What the engines are given of a history.
pub(crate) fn index(history: &History) -> Index {
    let control = Control::new();
    let resolution = resolve(history, &control).expect("no limit was set");
    Index::build(history, &resolution, &control).expect("no limit was set")
}
