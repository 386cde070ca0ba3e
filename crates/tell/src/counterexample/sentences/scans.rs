//! Titles of what scans show: a row that was missing, or there again.

use crate::counterexample::claim::{Claim, Visibility};
use isoscope_check::checkers::{Pattern, Violation};
use isoscope_model::history::{History, KeyId, OperationId, OperationKind, TransactionId, Value};
use isoscope_model::relations::EdgeIndex;

/// The title of a claim about rows; none where the general one says as much.
pub(super) fn title_of(
    claim: &Claim,
    history: &History,
    violation: &Violation,
) -> Option<&'static str> {
    if !history.has_rows() {
        return None;
    }
    let is_missing = |read: OperationId| history.is_unlisted(read);
    let misses = |edge: EdgeIndex| violation.edges[edge].from_operation.is_some_and(is_missing);
    let title = match claim {
        Claim::WrongValue {
            pattern: Pattern::NonRepeatableRead,
            reads,
        } if reads.first().is_some_and(|&read| is_missing(read))
            && misses_a_delete(history, violation, reads[0]) =>
        {
            "A deleted row was there again"
        }
        Claim::WrongValue { pattern, reads } => of_reads(*pattern, reads, history)?,
        Claim::StaleRead {
            visibility: Visibility::OwnSession,
            read,
            ..
        } if is_missing(*read) => "A session's scan missed a row that the session had written",
        Claim::StaleRead {
            visibility: Visibility::ReadBefore(seen),
            read,
            ..
        } if history.share_scan(*seen, *read) => "One scan saw half of a transaction",
        Claim::StaleRead {
            visibility: Visibility::Through | Visibility::Order,
            read,
            ..
        } if is_missing(*read) => {
            "A scan missed a row, although its transaction saw what came later"
        }
        Claim::StaleRead {
            newer: (_, Some(write)),
            read,
            ..
        } if is_deleted(history, *write) && !is_missing(*read) => "A deleted row was there again",
        Claim::LostWrite { key, readers, .. }
            if readers.iter().any(|&t| deletes(history, t, *key)) =>
        {
            "A row was deleted while another transaction changed it"
        }
        Claim::ReadersDisagree { missed } if missed.iter().all(|&edge| misses(edge)) => {
            "Two scans disagree on which row came first"
        }
        Claim::MissedEachOther { missed } if missed.iter().all(|&edge| misses(edge)) => {
            "Two scans each missed the row that the other transaction wrote"
        }
        Claim::AgainstTheClock {
            missed: Some(edge), ..
        } if misses(*edge) => "A scan missed a row that was written before it began",
        _ => return None,
    };
    Some(title)
}

fn of_reads(pattern: Pattern, reads: &[OperationId], history: &History) -> Option<&'static str> {
    let is_of_scan = |read: &OperationId| history.scan_of(*read).is_some();
    let is_missing = |read: OperationId| history.is_unlisted(read);
    let (first, last) = (*reads.first()?, *reads.last()?);
    match pattern {
        Pattern::ThinAirRead if history.operation(first).value.is_of_scan() => {
            Some("A scan returned what no state of the table explains")
        }
        Pattern::NonRepeatableRead if reads.iter().all(is_of_scan) => {
            match (is_missing(first), is_missing(last)) {
                (true, false) => Some("A row appeared between two scans of one transaction"),
                (false, true) => Some("A row disappeared between two scans of one transaction"),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a row was missing because another transaction had deleted it.
fn misses_a_delete(history: &History, violation: &Violation, read: OperationId) -> bool {
    let mut edges = violation.edges.iter();
    let edge = edges.find(|edge| edge.to_operation == Some(read));
    let write = edge.and_then(|edge| edge.from_operation);
    write.is_some_and(|write| is_deleted(history, write))
}

fn is_deleted(history: &History, write: OperationId) -> bool {
    let write = history.operation(write);
    write.kind == OperationKind::Write && write.value == Value::ABSENT
}

/// Whether the last that a transaction did to a key was to delete it.
fn deletes(history: &History, t: TransactionId, key: KeyId) -> bool {
    let writes = history.operations_of(t).filter(|&o| {
        let operation = history.operation(o);
        operation.kind == OperationKind::Write && operation.key == key
    });
    writes
        .last()
        .is_some_and(|write| is_deleted(history, write))
}
