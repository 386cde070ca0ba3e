//! Which writes have to do with a read that is wrong by itself.

use super::edge::last_write;
use super::lists::{appended, found};
use super::resolution::Resolution;
use crate::history::{History, OperationId, OperationKind, Value};

/// Whether a write is part of the argument that these reads are instances of a pattern of single reads: what was returned
/// and should not have been, or what should have been. O(operations of the transactions, lengths of the lists).
pub(super) fn concerns(
    history: &History,
    resolution: &Resolution<'_>,
    pattern: &str,
    reads: &[OperationId],
    write: OperationId,
) -> bool {
    let is_write = history.operation(write).kind == OperationKind::Write;
    let key = history.operation(write).key;
    let mut of_key = reads.iter().copied().filter(|&read| history.operation(read).key == key);
    if pattern == "IncompatibleOrder" {
        // Which appends show that lists do not go together depends on what they are compared with.
        return is_write && of_key.next().is_some();
    }
    is_write
        && of_key.any(|read| {
            of_register(history, resolution, pattern, read, write) || of_list(history, resolution, pattern, read, write)
        })
}

fn of_register(
    history: &History,
    resolution: &Resolution<'_>,
    pattern: &str,
    read: OperationId,
    write: OperationId,
) -> bool {
    let (seen, operation) = (resolution.seen(read).0, history.operation(write));
    let (reader, writer) = (history.transaction_of(read), history.transaction_of(write));
    let last = |before: Option<OperationId>| {
        last_write(history, writer, operation.key, |o| before.is_none_or(|before| o < before)) == Some(write)
    };
    let is_returned = operation.value == seen.value || operation.value == history.operation(read).value;
    match pattern {
        "TAP-b" => writer != reader && is_returned,
        "TAP-c" => writer == reader && write > read && is_returned,
        "TAP-d" => writer == reader && write < read && last(Some(read)),
        "TAP-e" => writer == reader && write < read && (is_returned || last(Some(read))),
        "TAP-f" => writer != reader && last(None) && resolution.each_writer(read).any(|other| other == writer),
        "TAP-j" => writer != reader && is_returned,
        _ => false,
    }
}

fn of_list(
    history: &History,
    resolution: &Resolution<'_>,
    pattern: &str,
    read: OperationId,
    write: OperationId,
) -> bool {
    let (reader, writer) = (history.transaction_of(read), history.transaction_of(write));
    let operation = history.operation(write);
    let Some((list, _)) = found(history, reader, read) else { return false };
    let is_there = list.contains(&operation.value);
    let stands = |value: Value| list.iter().position(|other| *other == value);
    match pattern {
        // Every list begins with all that was set up.
        "TAP-f" if resolution.initial_appends(operation.key).contains(&write) => {
            let initial: Vec<Value> = resolution.initial_elements(operation.key).collect();
            !list.starts_with(&initial)
        }
        "TAP-b" => is_there,
        "TAP-c" => is_there && writer == reader && write > read,
        // After an earlier append that is there, those up to this one do not follow.
        "TAP-f" => {
            let all = appended(history, writer, operation.key, Some(write));
            (0..all.len()).any(|from| {
                let then = || all[from..].iter().copied().chain([operation.value]);
                stands(all[from]).is_some_and(|place| !list[place..].iter().copied().take(then().count()).eq(then()))
            })
        }
        "DuplicateElement" => list.iter().filter(|value| **value == operation.value).count() > 1,
        _ => false,
    }
}
