//! Which writes concern a read that is wrong by itself.

use super::reads::Reads;
use super::writes_of;
use isoscope_model::history::{History, KeyId, OperationId, OperationKind, TransactionId, Value};

/// What single reads are said to show.
pub(super) struct ReadRoles<'a> {
    pub(super) reads: &'a Reads<'a>,
    pub(super) pattern: &'a str,
}

impl ReadRoles<'_> {
    /// Whether a write is part of the argument that these reads are instances of the pattern: one that was returned and
    /// should not have been, or one that should have been. O(operations of the transactions, lengths of the lists).
    pub(super) fn concerns(&self, reads: &[OperationId], write: OperationId) -> bool {
        let operation = self.reads.history.operation(write);
        let mut of_key = reads
            .iter()
            .copied()
            .filter(|&read| self.reads.history.operation(read).key == operation.key);
        if operation.kind != OperationKind::Write {
            return false;
        }
        // Which appends show that lists are incompatible depends on what they are compared with.
        if self.pattern == "IncompatibleOrder" {
            return of_key.next().is_some();
        }
        of_key.any(|read| self.is_of_register(read, write) || self.is_of_list(read, write))
    }

    fn is_of_register(&self, read: OperationId, write: OperationId) -> bool {
        let (seen, operation) = (self.reads.seen(read).0, self.reads.history.operation(write));
        let (reader, writer) = (
            self.reads.history.transaction_of(read),
            self.reads.history.transaction_of(write),
        );
        let last =
            |before| last_write(self.reads.history, writer, operation.key, before) == Some(write);
        let is_returned =
            operation.value == seen.value || self.reads.history.may_return(read, operation.value);
        match self.pattern {
            "TAP-b" => writer != reader && is_returned,
            "TAP-c" => writer == reader && write > read && is_returned,
            "TAP-d" => writer == reader && write < read && last(Some(read)),
            "TAP-e" => writer == reader && write < read && (is_returned || last(Some(read))),
            "TAP-f" => writer != reader && last(None) && self.reads.writers(read).contains(&writer),
            "TAP-j" => writer != reader && is_returned,
            _ => false,
        }
    }

    fn is_of_list(&self, read: OperationId, write: OperationId) -> bool {
        let (reader, writer) = (
            self.reads.history.transaction_of(read),
            self.reads.history.transaction_of(write),
        );
        let operation = self.reads.history.operation(write);
        let Some((list, _)) = self.reads.found(read) else {
            return false;
        };
        let is_there = list.contains(&operation.value);
        match self.pattern {
            // Every list begins with the whole setup.
            "TAP-f" if self.reads.initial_appends(operation.key).contains(&write) => {
                let initial: Vec<Value> = self.reads.initial_elements(operation.key).collect();
                !list.starts_with(&initial)
            }
            "TAP-f" => self.may_be_cut(list, write),
            "TAP-b" => is_there,
            "TAP-c" => is_there && writer == reader && write > read,
            "DuplicateElement" => {
                list.iter()
                    .filter(|value| **value == operation.value)
                    .count()
                    > 1
            }
            _ => false,
        }
    }

    /// Whether a list has an earlier append of the writer but not, from there on, all up to this one. An element that
    /// others also appended may be theirs.
    fn may_be_cut(&self, list: &[Value], write: OperationId) -> bool {
        let operation = self.reads.history.operation(write);
        let history = self.reads.history;
        let all: Vec<Value> = writes_of(history, history.transaction_of(write), operation.key)
            .take_while(|&o| o <= write)
            .map(|o| history.operation(o).value)
            .collect();
        let is_shared = |value: &Value| self.reads.appenders(operation.key, *value).len() > 1;
        (0..all.len() - 1).any(|from| {
            let then = &all[from..];
            let place = list.iter().position(|value| *value == then[0]);
            place
                .is_some_and(|place| !list[place..].starts_with(then) || then.iter().any(is_shared))
        })
    }
}

/// The last write of a key by a transaction, before some operation if one is given.
pub(super) fn last_write(
    history: &History,
    t: TransactionId,
    key: KeyId,
    before: Option<OperationId>,
) -> Option<OperationId> {
    writes_of(history, t, key).rfind(|&o| before.is_none_or(|before| o < before))
}
