//! A test suite that checks the history it has just recorded, without a file.
//!
//! Two clients increment a counter. The history is built by code, then snapshot isolation is asserted. Since both
//! clients updated one version, it does not hold: the program prints why and ends with exit code 1.

use isoscope::audit::{self, Examples};
use isoscope::checkers::{Level, Options, Verdict};
use isoscope::control::Control;
use isoscope::counterexample::narrate;
use isoscope::history::{Builder, History, OperationKind, Origin, Outcome};
use std::process::ExitCode;

/// What the clients did: each read the counter's initial value and wrote 1 and 2.
fn recorded() -> History {
    let mut builder = Builder::new(Origin::default());
    let counter = builder.key_name("counter");
    let zero = builder.value_number(0);
    builder.initial_value(zero);
    for client in 1..=2 {
        let session = builder.session_number(client);
        let increment = builder.transaction(session, Outcome::Committed);
        let one_more = builder.value_number(client);
        builder.operation(increment, OperationKind::Read, counter, zero, 0);
        builder.operation(increment, OperationKind::Write, counter, one_more, 0);
    }
    builder
        .finish()
        .expect("a small history is within all bounds")
}

fn main() -> ExitCode {
    let (history, control) = (recorded(), Control::new());
    let options = Options {
        levels: vec![Level::SnapshotIsolation],
        ..Options::default()
    };
    let findings = audit::check(&history, &options, &control, &|_| {});
    match findings
        .level(Level::SnapshotIsolation)
        .map(|result| &result.verdict)
    {
        Some(Verdict::Satisfied(_)) => ExitCode::SUCCESS,
        Some(Verdict::Undecided(cause)) => {
            eprintln!("undecided: {cause}");
            ExitCode::from(3)
        }
        _ => {
            let examples = Examples::new(&history, &findings);
            if let Some(violation) = findings.violations.first() {
                let example = examples.of(violation, &control);
                print!(
                    "{}",
                    narrate::plain_text(&example.counterexample, &example.explanation, &history)
                );
            }
            ExitCode::FAILURE
        }
    }
}
