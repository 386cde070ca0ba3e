//! A history written in any format and read back has the same verdicts, or the writer says what it cannot say.

mod common;

use common::examine::{self, signs};
use common::random::{Shape, for_histories};
use common::sketch::Sketch;
use isoscope::control::Control;
use isoscope::formats::{self, FORMATS};
use isoscope::history::{Builder, History, OperationKind, Origin, Value};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Random histories, each in every format.
const HISTORIES: u64 = 1_500;

/// The history of a sketch with numbers for names, as registers that begin with 0 or with nothing, or as lists.
fn numbered(sketch: &Sketch, kind: Kind) -> History {
    let mut builder = Builder::new(Origin::default());
    if kind == Kind::FromZero {
        builder.initial_value(Value(0));
    }
    for (s, transactions) in sketch.sessions.iter().enumerate() {
        let session = builder.session_number(s as u64 + 1);
        for transaction in transactions.iter().filter(|t| !t.operations.is_empty()) {
            let draft = builder.transaction(session, transaction.outcome);
            for operation in &transaction.operations {
                let key = builder.key_number(operation.key as u64);
                let nothing = matches!(operation.value, Value(0) | Value::INITIAL);
                match (operation.kind, kind) {
                    (OperationKind::Read, Kind::Lists) => {
                        let elements: Vec<Value> = (1..=operation.value.0.min(9)).map(Value).collect();
                        builder.list_read(draft, key, if nothing { &[] } else { &elements }, 0);
                    }
                    (OperationKind::Read, Kind::FromNothing) if nothing => {
                        builder.operation(draft, OperationKind::Read, key, Value::INITIAL, 0);
                    }
                    (operation_kind, _) => {
                        if kind == Kind::Lists {
                            builder.list_key(key);
                        }
                        builder.operation(draft, operation_kind, key, operation.value, 0);
                    }
                }
            }
        }
    }
    builder.finish().expect("sketches are small")
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    FromZero,
    FromNothing,
    Lists,
}

#[test]
fn conversions_agree_in_verdict() {
    let control = Control::new();
    let written: Mutex<BTreeMap<&str, usize>> = Mutex::default();
    for kind in [Kind::FromZero, Kind::FromNothing, Kind::Lists] {
        for_histories(Shape::SMALL, HISTORIES, |sketch| {
            let history = numbered(sketch, kind);
            let before = signs(examine::engine_verdicts(&examine::check(&history)));
            for format in FORMATS.iter().filter(|format| format.write.is_some()) {
                let mut bytes = Vec::new();
                if formats::write(&history, format.name, &mut bytes).is_err() {
                    continue;
                }
                let problem = |what: String| format!("{} of {kind:?}: {what}", format.name);
                let again = formats::open_bytes("", &bytes, Some(format.name), &control);
                let again = again.map_err(|error| problem(error.to_string()))?;
                // Where something of weight is lost, converting is refused.
                if formats::losses(&history, &again).is_err() {
                    continue;
                }
                *written.lock().expect("no holder panics").entry(format.name).or_default() += 1;
                let after = signs(examine::engine_verdicts(&examine::check(&again)));
                if after != before {
                    return Err(problem(format!("{before} became {after}")));
                }
            }
            Ok(())
        });
    }
    let written = written.into_inner().expect("no holder panics");
    println!("{written:?}");
    // Porcupine's two are only read; TimeKiller's needs times.
    for format in FORMATS.iter().filter(|format| format.write.is_some() && format.name != "timekiller") {
        assert!(written.get(format.name).is_some_and(|n| *n > 100), "{} is hardly tried", format.name);
    }
}
