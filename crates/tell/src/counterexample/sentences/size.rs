//! In what sense a counterexample is minimal.

use super::words::counted;
use crate::counterexample::claim::{Claim, claim, earlier_writes};
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
    let told = match claim(history, violation) {
        Claim::OverwrittenBefore { read, by } => {
            let mut told = earlier_writes(history, read);
            told.extend([read, by]);
            Some(told)
        }
        _ => None,
    };
    let is_named = |t: &TransactionId| match &told {
        Some(told) => told.iter().any(|&o| history.transaction_of(o) == *t),
        None => violation.transactions.contains(t),
    };
    let (named, others): (Vec<TransactionId>, Vec<TransactionId>) =
        history.transactions().partition(|t| is_named(t));
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
        _ if told.is_some() => format!("the argument needs {} of them", named.len()),
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
        (true, _) => "(a removed write takes its reads with it)",
        (false, true) => {
            let left_out = if lacks_appends(history) {
                "elements that none of these transactions appended do not count; "
            } else {
                ""
            };
            let own = if has_own_ends(history) {
                ", and so do those in which only their reader's own appends follow it"
            } else {
                ""
            };
            return format!(
                "({left_out}a removed append leaves every list; lists that end with it go{own})"
            )
            .into();
        }
        (false, false) => {
            "(a removed append leaves every list; where others appended the same, lists with it go)"
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
/// operations, read atomic holds (a removed write takes its reads with it)."
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
    let is_for_pattern = [example.minimality, example.operation_minimality]
        .iter()
        .any(|known| {
            matches!(
                known,
                Minimality::SmallestForPattern | Minimality::IrreducibleForPattern
            )
        });
    let is_reduced =
        [example.minimality, example.operation_minimality].contains(&Minimality::Reduced);
    if is_for_pattern && !needs_all && !is_reduced && n > 1 {
        return format!(
            "Minimal for this anomaly: without any one of these {transactions} or {operations} it is another one, or none."
        );
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
            format!(
                "Minimal for this anomaly: without any one of these {transactions} it is another one, or none"
            )
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
    let of_operations = match example.operation_minimality {
        Minimality::Reduced if n > 1 && example.minimality == Minimality::Reduced => String::new(),
        Minimality::Reduced => "; some operations may still be superfluous".to_owned(),
        Minimality::IrreducibleForPattern => {
            format!("; without any one of the {operations} it is another anomaly, or none")
        }
        Minimality::Smallest | Minimality::SmallestForPattern | Minimality::Irreducible => {
            format!("; without any one of the {operations}, {level} holds {removed}")
        }
    };
    format!("{of_transactions}{of_operations}.")
}
