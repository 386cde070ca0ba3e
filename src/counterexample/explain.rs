//! The argument for a counterexample, as data: what was observed, what follows, and why that cannot be.
//!
//! The claim is chosen in `claim` and worded in `headline`, the steps are made in `tell`, the sentences about edges in `words`.

use super::reasons;
use super::tell::Teller;
use super::words::Words;
use super::{Counterexample, Explanation, Minimality, claim, codes, summary, title};
use crate::checkers::Violation;
use crate::history::{History, OperationId};
use crate::relations::{Edge, EdgeIndex, Reason};

/// The argument for `example`. O(edges² + operations).
pub fn explain(example: &Counterexample) -> Explanation {
    let (history, violation) = (&example.history, &example.violation);
    let words = Words::new(history, &violation.edges);
    let reasons = reasons::reasons(history, &violation.edges, example.level);
    Explanation {
        claim: claim(history, violation),
        codes: codes(history, violation),
        title: title(history, violation),
        summary: summary(history, violation),
        steps: Teller::new(&words, violation, example.level).tell(),
        edge_reasons: reasons.iter().map(|reason| reason.short.clone()).collect(),
        reasons,
        conclusion: conclusion(example),
    }
}

/// Why edge `index` of `edges` is there, in a sentence.
pub fn edge_reason(history: &History, edges: &[Edge], index: EdgeIndex) -> String {
    edges.get(index).map(|edge| Words::new(history, edges).reason(edge)).unwrap_or_default()
}

/// The operations an argument is about, in ascending order.
pub fn involved_operations(violation: &Violation) -> Vec<OperationId> {
    let mut operations = violation.operations.clone();
    for edge in &violation.edges {
        operations.extend(edge.from_operation);
        operations.extend(edge.to_operation);
        if let Reason::Visible { read, .. } | Reason::Listed { read, .. } = edge.because {
            operations.push(read);
        }
    }
    operations.extend(violation.proof.reads());
    operations.sort_unstable();
    operations.dedup();
    operations
}

/// "No execution that satisfies RA explains these 3 transactions…".
fn conclusion(example: &Counterexample) -> String {
    let level = example.level;
    let n = example.history.n_transactions();
    let these = if n == 1 { "this transaction".to_owned() } else { format!("these {n} transactions") };
    let size = match example.minimality {
        Minimality::Smallest | Minimality::SmallestForPattern | Minimality::Irreducible if n <= 1 => String::new(),
        Minimality::Smallest => format!(
            " Without any one of them the rest satisfies {level}, and no smaller part of the history shows this."
        ),
        Minimality::SmallestForPattern => format!(
            " Without any one of them the rest satisfies {level}, and no smaller part of the history shows this pattern, \
             though one violates {level} in another way."
        ),
        Minimality::Irreducible => format!(" Without any one of them the rest satisfies {level}."),
        Minimality::IrreducibleForPattern => format!(
            " Without any one of them this pattern is gone, though a part of them still violates {level} in another way."
        ),
        Minimality::Reduced => " Not every one of them could be tried without.".to_owned(),
    };
    let m = example.history.n_operations();
    let operations = match example.operation_minimality.passes_without_any() && m > 1 {
        true => format!(" Nor can any of the {m} operations be left out."),
        false => String::new(),
    };
    let long_name = level.long_name();
    format!("No execution that satisfies {level} ({long_name}) explains {these}.{size}{operations}")
}
