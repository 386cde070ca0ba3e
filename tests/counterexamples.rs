//! Counterexamples are true and have nothing to spare.

mod common;

use common::examine;
use common::oracle::{self, LEVELS};
use common::random::{Shape, for_histories};
use isoscope::checkers::Violation;
use isoscope::control::Control;
use isoscope::counterexample::{self, Minimality};
use isoscope::history::{History, OperationId, OperationKind, TransactionSet};

/// Histories per shape in the ordinary run.
const HISTORIES: u64 = 1_500;

/// A counterexample violates its level, and without any one of its transactions it does not (a transaction goes
/// together with the reads of what it wrote).
fn counterexample_is_irreducible(history: &History, violation: &Violation) -> Result<(), String> {
    let example = counterexample::minimize(history, violation, &Control::new());
    let place = LEVELS.iter().position(|level| *level == example.level).ok_or("a level without times")?;
    let problem = |what: &str| {
        let mut text = Vec::new();
        let _ = isoscope::formats::write(&example.history, "text", &mut text);
        Err(format!("{}: counterexample to {} {what}\n{}", violation.id, example.level, String::from_utf8_lossy(&text)))
    };
    if violation.levels.weakest() != Some(example.level) {
        return problem("is not about the weakest level violated");
    }
    if oracle::verdicts(&example.history)[place] {
        return problem("violates nothing");
    }
    match example.minimality {
        Minimality::Smallest | Minimality::Irreducible => {}
        // Something smaller violates the level, but not in the way that was to be shown.
        Minimality::IrreducibleForPattern => return Ok(()),
        Minimality::Reduced => return problem("is not minimal"),
    }
    for left_out in example.history.transactions() {
        let mut keep = TransactionSet::full(&example.history);
        keep.remove(left_out);
        let written: Vec<_> = example
            .history
            .operations_of(left_out)
            .map(|o| example.history.operation(o))
            .filter(|o| o.kind == OperationKind::Write)
            .collect();
        let reads_it = |o: OperationId| {
            let o = example.history.operation(o);
            o.kind == OperationKind::Read && written.iter().any(|w| w.key == o.key && w.value == o.value)
        };
        let (rest, _) = example.history.restrict(&keep, |o| !reads_it(o));
        if !oracle::verdicts(&rest)[place] {
            return problem(&format!("needs no {}", example.history.transaction_name(left_out)));
        }
    }
    Ok(())
}

#[test]
fn counterexamples_violate_their_level_and_have_no_transaction_too_many() {
    for shape in [Shape::SMALL, Shape::CLEAN] {
        for_histories(shape, HISTORIES, |sketch| {
            let history = sketch.history();
            let findings = examine::check(&history);
            findings.violations.iter().take(6).try_for_each(|v| counterexample_is_irreducible(&history, v))
        });
    }
}
