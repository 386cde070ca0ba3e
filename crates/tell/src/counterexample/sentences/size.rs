//! In what sense a counterexample is minimal.

use super::words::counted;
use crate::counterexample::{Counterexample, Minimality};
use isoscope_check::checkers::{Pattern, Proof, Question};
use isoscope_model::history::{
    History, Operation, OperationId, OperationKind, Outcome, TransactionId, grouped,
};
use isoscope_model::relations::list_from_outside;
use std::borrow::Cow;

/// How many transactions the argument names, and that the others are there because of its reads.
fn with_writers(example: &Counterexample) -> String {
    let (history, violation) = (&example.history, &example.violation);
    let (named, others): (Vec<TransactionId>, Vec<TransactionId>) = history
        .transactions()
        .partition(|t| violation.transactions.contains(t));
    let read: Vec<Operation> = violation
        .operations
        .iter()
        .map(|&o| history.operation(o))
        .collect();
    let is_writer = |t: &TransactionId| {
        let mut operations = history.operations_of(*t).map(|o| history.operation(o));
        operations.any(|o| {
            o.kind == OperationKind::Write
                && read.iter().any(|r| (r.key, r.value) == (o.key, o.value))
        })
    };
    match others.len() {
        0 => "those that the argument names".to_owned(),
        n if others.iter().all(is_writer) => {
            format!(
                "{} that the argument names and {n} more that wrote these values",
                named.len()
            )
        }
        _ => "some may still be superfluous".to_owned(),
    }
}

/// What is removed along with a write.
fn removed(history: &History) -> Cow<'static, str> {
    let removed = match (
        history.lists().is_empty(),
        history.appends().repeated().is_empty(),
    ) {
        (true, _) => "(without the reads of what was removed, too)",
        (false, true) => {
            let left_out = if lacks_appends(history) {
                "for this, elements that none of these transactions appended are left out of the lists; "
            } else {
                ""
            };
            let end = if has_own_ends(history) {
                "end with it, or with it in front of their reader's own appends,"
            } else {
                "end with it,"
            };
            let removed = "removing an append also removes the lists that";
            return format!("({left_out}{removed} {end} and its element from others)").into();
        }
        (false, false) => {
            "(removing an append also removes its element, or the lists with it where others appended it, too)"
        }
    };
    removed.into()
}

fn n_reads(history: &History) -> usize {
    history
        .kinds()
        .iter()
        .filter(|kind| **kind == OperationKind::Read)
        .count()
}

/// Whether some list was read with elements whose appends are not in this part of a history. O(lists).
fn lacks_appends(history: &History) -> bool {
    let reads = (0..history.n_operations()).map(OperationId::new);
    reads
        .into_iter()
        .any(|read| history.lists().recorded_by(read) != history.lists().read_by(read))
}

/// Whether some list ends with appends of its reader.
fn has_own_ends(history: &History) -> bool {
    let mut reads = history.reads_of_lists();
    reads.any(|(t, read, list)| {
        list_from_outside(history, t, read).is_some_and(|outside| outside.len() < list.len())
    })
}

/// What is actually known about its size and minimality: "Minimal: without any one of these 4 transactions or 7
/// operations, read atomic holds (without the reads of what was removed, too)."
pub fn size(example: &Counterexample) -> String {
    let removed = removed(&example.history);
    let level = example.level.spoken();
    let (n, m) = (
        example.history.n_transactions(),
        example.history.n_operations(),
    );
    let whole = grouped(example.n_transactions_of_whole as u64);
    let (transactions, operations) = (counted(n, "transaction"), counted(m, "operation"));
    let needs_all = example.operation_minimality.passes_without_any();
    if needs_all
        && example.violation.id.pattern == Pattern::IncompatibleOrder
        && n_reads(&example.history) == 2
    {
        let left_out = if lacks_appends(&example.history) {
            " (appends that are not shown count as committed)"
        } else {
            ""
        };
        return format!("Minimal: without one of the two reads, {level} holds{left_out}.");
    }
    let is_about_writers = match &example.violation.proof {
        Proof::Cases { question, .. } => matches!(question, Question::Writer { .. }),
        proof => matches!(proof, Proof::Log { .. }) && !proof.is_log_of_orders(),
    };
    if is_about_writers {
        // Without a possible writer the read goes, too, so that each is needed says nothing.
        return format!(
            "Reduced to {n} of {whole} transactions: {}.",
            with_writers(example)
        );
    }
    if example.violation.id.pattern == Pattern::IncompatibleOrder && n_reads(&example.history) == 2
    {
        let is_aborted = |t: TransactionId| example.history.outcome(t) == Outcome::Aborted;
        let alone = if example.history.transactions().any(is_aborted) {
            format!(" The read of what was rolled back also violates {level} by itself.")
        } else {
            String::new()
        };
        return format!("Minimal for this anomaly: it needs both lists.{alone}");
    }
    let of_transactions = match example.minimality {
        _ if n <= 1 && m <= 1 => return "Minimal: this one operation is enough.".to_owned(),
        _ if n <= 1 => "Minimal: this one transaction is enough".to_owned(),
        Minimality::Smallest => {
            format!(
                "Minimal: no part of the history with fewer than these {transactions} violates {level}"
            )
        }
        Minimality::SmallestForPattern | Minimality::IrreducibleForPattern if needs_all => {
            return format!(
                "Minimal: without any one of these {operations}, {level} holds {removed}."
            );
        }
        Minimality::SmallestForPattern | Minimality::IrreducibleForPattern => {
            format!("Minimal for this anomaly: it needs each of the {transactions}")
        }
        Minimality::Irreducible if needs_all => {
            return format!(
                "Minimal: without any one of these {transactions} or {operations}, {level} holds {removed}."
            );
        }
        Minimality::Irreducible => {
            format!("Minimal by transaction: without any one of these {n}, {level} holds {removed}")
        }
        Minimality::Reduced if example.violation.id.pattern == Pattern::NoLinearOrder => {
            format!(
                "Reduced to {n} of {whole} transactions: {}",
                with_writers(example)
            )
        }
        Minimality::Reduced => {
            format!(
                "Reduced to {n} of {whole} transactions, some of which may still be superfluous"
            )
        }
    };
    let is_for_pattern = matches!(
        example.minimality,
        Minimality::SmallestForPattern | Minimality::IrreducibleForPattern
    );
    let of_operations = match example.operation_minimality {
        Minimality::Reduced if n > 1 && example.minimality == Minimality::Reduced => String::new(),
        Minimality::Reduced => "; some operations may still be superfluous".to_owned(),
        Minimality::IrreducibleForPattern if !is_for_pattern => {
            format!("; the argument uses each of the {operations}")
        }
        Minimality::IrreducibleForPattern => {
            format!(" and {operations}; some of them alone violate {level} in another way")
        }
        Minimality::Smallest | Minimality::SmallestForPattern | Minimality::Irreducible => {
            format!("; without any one of the {operations}, {level} holds {removed}")
        }
    };
    format!("{of_transactions}{of_operations}.")
}
