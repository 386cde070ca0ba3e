//! Values written more than once, and transactions of unknown outcome.

use super::words::{by_number, counted, names};
use super::{Finding, Kind, Severity};
use isoscope_model::history::{
    History, KeyId, OperationId, Outcome, TransactionId, Value, grouped,
};
use isoscope_model::relations::{MultipleSources, Resolution, Standing};
use rustc_hash::FxHashSet;

/// Findings about what was written. O(transactions + repeated writes + reads with several sources).
pub(super) fn findings(history: &History, resolution: &Resolution) -> Vec<Finding> {
    let (retried, duplicate): (Vec<_>, Vec<_>) =
        resolution
            .repeated_writes()
            .iter()
            .partition(|(again, before)| {
                let aborted =
                    |o: OperationId| history.outcome(history.transaction_of(o)) == Outcome::Aborted;
                aborted(*again) || aborted(*before)
            });
    let findings = [
        duplicates(history, resolution, &duplicate),
        initial_or_written(history, resolution),
        retries(history, &retried),
        unknown(history, resolution),
    ];
    findings.into_iter().flatten().collect()
}

/// Number of values written more than once.
fn distinct(history: &History, pairs: &[(OperationId, OperationId)]) -> u64 {
    let written = |o: OperationId| (history.operation(o).key, history.operation(o).value);
    pairs
        .iter()
        .map(|(again, _)| written(*again))
        .collect::<FxHashSet<(KeyId, Value)>>()
        .len() as u64
}

/// All operations of the pairs, ascending, each once.
fn both(pairs: &[(OperationId, OperationId)]) -> Vec<OperationId> {
    let mut operations: Vec<OperationId> = pairs
        .iter()
        .flat_map(|&(again, before)| [before, again])
        .collect();
    operations.sort_unstable();
    operations.dedup();
    operations
}

fn duplicates(
    history: &History,
    resolution: &Resolution,
    pairs: &[(OperationId, OperationId)],
) -> Option<Finding> {
    let (again, before) = *pairs.first()?;
    let n = distinct(history, pairs);
    let has_writers = |read: &&MultipleSources| read.n_writers() > 1;
    let affected = resolution
        .reads_with_multiple_sources()
        .iter()
        .filter(has_writers)
        .count() as u64;
    let open = resolution.n_ambiguous() as u64;
    let consequence = match (affected, open) {
        (0, _) => "No read depends on the difference.".to_owned(),
        (affected, 0) => {
            format!(
                "{} could have several writers; all but one are ruled out each time.",
                counted(affected, "read"),
            )
        }
        (affected, open) => format!(
            "{} could have several writers, for {} no choice is ruled out: a level counts as satisfied if one choice of \
             writers satisfies it. --duplicates last takes the last writer in the log.",
            counted(affected, "read"),
            grouped(open),
        ),
    };
    let text = format!(
        "{} written to {} by several transactions (first {} = {}, by {} and {}). {consequence}",
        counted(n, "value") + by_number(n, " was", " were"),
        by_number(n, "its key", "their keys"),
        history.key_name(history.operation(again).key),
        history.value_name(history.operation(again).value),
        history.transaction_name(history.transaction_of(before)),
        history.transaction_name(history.transaction_of(again)),
    );
    let severity = if open > 0 {
        Severity::Caution
    } else {
        Severity::Note
    };
    let finding = Finding::new(Kind::DuplicateValues, severity, n, text);
    let finding = finding.about_operations(history, both(pairs).into_iter());
    Some(if open > 0 {
        finding.remedy("duplicates", "last")
    } else {
        finding
    })
}

fn initial_or_written(history: &History, resolution: &Resolution) -> Option<Finding> {
    let multiple = resolution.reads_with_multiple_sources();
    let reads: Vec<OperationId> = multiple
        .iter()
        .filter(|multiple| {
            let value = history.operation(multiple.read).value;
            multiple.may_be_initial() && !value.is_of_scan() && value != Value::ABSENT
        })
        .map(|read| read.read)
        .collect();
    let n = reads.len() as u64;
    let first = *reads.first()?;
    let value = history.value_name(history.operation(first).value);
    let open = multiple
        .iter()
        .any(|read| read.kept > 1 && read.may_be_initial());
    let text = format!(
        "{} a value that is the initial one and was written as well (first {}): either may have been read. --initial \
         nothing makes {value} a value like others, --init txn=NAME names the transaction that set it up.",
        counted(n, "read") + by_number(n, " returns", " return"),
        history.operation_text(first),
    );
    let severity = if open {
        Severity::Caution
    } else {
        Severity::Note
    };
    let finding = Finding::new(Kind::InitialOrWritten, severity, n, text);
    Some(
        finding
            .about_operations(history, reads.into_iter())
            .remedy("initial", "nothing"),
    )
}

fn retries(history: &History, pairs: &[(OperationId, OperationId)]) -> Option<Finding> {
    if pairs.is_empty() {
        return None;
    }
    let n = distinct(history, pairs);
    let text = format!(
        "{} written by an aborted transaction and by another one, as clients do that try again with the same values. \
         Reads of {} count as reads of the one that committed, so aborted reads stay hidden.",
        counted(n, "value") + by_number(n, " was", " were"),
        by_number(n, "it", "them"),
    );
    let finding = Finding::new(Kind::RetriedValues, Severity::Note, n, text);
    Some(finding.about_operations(history, both(pairs).into_iter()))
}

fn unknown(history: &History, resolution: &Resolution) -> Option<Finding> {
    let unknown = |t: &TransactionId| history.outcome(*t) == Outcome::Unknown;
    let n = history.figures().unknown as u64;
    if n == 0 {
        return None;
    }
    let with = |standing| {
        let mut all = history.transactions().filter(unknown);
        let first: Vec<TransactionId> = all
            .by_ref()
            .filter(|t| resolution.standing(*t) == standing)
            .collect();
        (first.len() as u64, first)
    };
    let (observed, observed_ones) = with(Standing::Promoted);
    let (possible, _) = with(Standing::Possible);
    let left_out = n.saturating_sub(observed + possible);
    let mut parts = Vec::new();
    if observed > 0 {
        let who = names(history, &observed_ones, observed);
        parts.push(format!(
            "{} must have committed, since others read from {} ({who})",
            grouped(observed),
            by_number(observed, "it", "them")
        ));
    }
    if possible > 0 {
        parts.push(format!(
            "{} may have, depending on who wrote values that several wrote",
            grouped(possible)
        ));
    }
    if left_out > 0 {
        parts.push(format!(
            "{} left out, since no transaction read from {}: no verdict depends on that",
            grouped(left_out) + by_number(left_out, " is", " are"),
            by_number(left_out, "it", "them")
        ));
    }
    let text = format!(
        "The outcome of {} is unknown: {}.",
        counted(n, "transaction"),
        parts.join("; ")
    );
    let severity = if possible > 0 {
        Severity::Caution
    } else {
        Severity::Note
    };
    let finding = Finding::new(Kind::UnknownOutcome, severity, n, text);
    Some(
        finding
            .about_transactions(history.transactions().filter(unknown))
            .remedy("unknown", "aborted"),
    )
}
