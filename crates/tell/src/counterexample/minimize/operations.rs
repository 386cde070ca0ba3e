//! Removing operations.

use super::Round;
use super::cutter::{Answer, Cutter, ViolatingPart};
use crate::counterexample::{Minimality, involved_operations};
use isoscope_model::control::Interrupt;
use isoscope_model::history::{OperationId, OperationKind, TransactionId, TransactionSet};
use isoscope_model::relations::{Source, last_write};

impl Cutter<'_> {
    /// Removes operations, and transactions that are left without any, until no single operation and no single
    /// transaction can be removed. Returns what is known of the number of transactions and of operations.
    pub(super) fn reduce_operations(
        &self,
        mut found: ViolatingPart,
    ) -> (ViolatingPart, Minimality, Minimality) {
        let reduced = |found| (found, Minimality::Reduced, Minimality::Reduced);
        if self.keep_involved(&mut found).is_err() {
            return reduced(found);
        }
        loop {
            // A removal that was refused because another pattern was left may succeed after others have.
            let mut round = Round::default();
            match self.remove_single_operations(&mut found, &mut round) {
                Err(_) => return reduced(found),
                Ok(true) => continue,
                Ok(false) => {}
            }
            let mut of_transactions = Round::default();
            match self.remove_single_transactions(&mut found, &mut of_transactions) {
                Err(_) => return (found, Minimality::Reduced, round.minimality()),
                Ok(true) => {}
                Ok(false) => return (found, of_transactions.minimality(), round.minimality()),
            }
        }
    }

    /// Tries to keep only the operations that the violation is about, else fewer of the others: halves, quarters, ….
    fn keep_involved(&self, found: &mut ViolatingPart) -> Result<(), Interrupt> {
        let mut n_parts = 1;
        loop {
            let mut involved: Vec<OperationId> = involved_operations(&found.violation)
                .iter()
                .map(|o| found.renaming.operations[o.index()])
                .collect();
            // With the write that it returned a read would go, too.
            let read_from: Vec<OperationId> = involved
                .iter()
                .filter_map(|&o| self.write_read_by(o))
                .collect();
            involved.extend(read_from);
            involved.sort_unstable();
            let all = &found.renaming.operations;
            let others: Vec<OperationId> = all
                .iter()
                .copied()
                .filter(|o| involved.binary_search(o).is_err())
                .collect();
            if others.is_empty() || n_parts > others.len() {
                return Ok(());
            }
            let mut smaller = None;
            for part in 0..n_parts {
                let removed =
                    &others[others.len() * part / n_parts..others.len() * (part + 1) / n_parts];
                let rest = all
                    .iter()
                    .copied()
                    .filter(|o| removed.binary_search(o).is_err())
                    .collect();
                let answer = self.ask_operations(rest);
                self.control.check()?;
                if let Answer::Violated(found) = answer {
                    smaller = Some(*found);
                    break;
                }
            }
            match smaller {
                Some(smaller) => *found = smaller,
                None => n_parts *= 2,
            }
        }
    }

    /// Tries to remove each operation, reads first; returns whether any could be removed.
    fn remove_single_operations(
        &self,
        found: &mut ViolatingPart,
        round: &mut Round,
    ) -> Result<bool, Interrupt> {
        let mut any = false;
        let is_write = |o: &OperationId| self.history.kinds()[o.index()] == OperationKind::Write;
        let mut candidates = found.renaming.operations.clone();
        candidates.sort_by_key(|o| (is_write(o), *o));
        for candidate in candidates {
            if found.renaming.operations.binary_search(&candidate).is_err() {
                continue;
            }
            let rest = found
                .renaming
                .operations
                .iter()
                .copied()
                .filter(|o| *o != candidate)
                .collect();
            any |= self.take(self.ask_operations(rest), found, round)?;
        }
        Ok(any)
    }

    /// Tries to remove each transaction; returns whether any could be removed.
    fn remove_single_transactions(
        &self,
        found: &mut ViolatingPart,
        round: &mut Round,
    ) -> Result<bool, Interrupt> {
        let mut any = false;
        for candidate in found.keep.clone() {
            let outside = |o: &OperationId| self.history.transaction_of(*o) != candidate;
            let rest = found
                .renaming
                .operations
                .iter()
                .copied()
                .filter(outside)
                .collect();
            any |= self.take(self.ask_operations(rest), found, round)?;
        }
        Ok(any)
    }

    /// Replaces `found` with a part that violates the level, and says whether there is one; records what else was seen.
    pub(super) fn take(
        &self,
        answer: Answer,
        found: &mut ViolatingPart,
        round: &mut Round,
    ) -> Result<bool, Interrupt> {
        // An interrupted check says nothing.
        self.control.check()?;
        match answer {
            Answer::Violated(smaller) => {
                *found = *smaller;
                return Ok(true);
            }
            Answer::ByAnotherPattern => round.another_pattern = true,
            Answer::Unusable => round.unusable = true,
            Answer::No => {}
        }
        Ok(false)
    }

    /// Whether these operations alone, without reads of other writes, violate the level.
    fn ask_operations(&self, mut operations: Vec<OperationId>) -> Answer {
        // Reads whose own write is gone go, too; nothing rests on reads.
        let all = operations.clone();
        operations.retain(|&o| self.has_its_writes(o, &all));
        let mut keep: Vec<TransactionId> = operations
            .iter()
            .map(|&o| self.history.transaction_of(o))
            .collect();
        keep.dedup();
        if keep.is_empty() {
            return Answer::No;
        }
        let members = TransactionSet::of(self.history, keep.iter().copied());
        let (small, renaming) = self
            .history
            .restrict(&members, |o| operations.binary_search(&o).is_ok());
        self.ask_about(keep, small, renaming)
    }

    /// Whether the writes that an operation may have read are among `operations`, which are ascending.
    fn has_its_writes(&self, operation: OperationId, operations: &[OperationId]) -> bool {
        let is_there = |write: &OperationId| operations.binary_search(write).is_ok();
        // Without the write by which its writer overwrote it, a version would be one that others may have read.
        let key = self.history.keys()[operation.index()];
        let final_write = |writer| last_write(self.history, writer, key, |_| true);
        let all_there = |sources: &[Source]| {
            sources.iter().all(|source| match *source {
                Source::Transaction {
                    writer,
                    write,
                    intermediate,
                    ..
                } => {
                    is_there(&write)
                        && (!intermediate || final_write(writer).is_none_or(|last| is_there(&last)))
                }
                _ => true,
            })
        };
        if !self.list_is_as_open(operation, |append| is_there(&append)) {
            return false;
        }
        // Writers that read committed rules out count at cut isolation, where the remainder is also checked.
        let multiple = self.resolution.multiple_sources(operation);
        let multiple = multiple.filter(|_| !self.resolution.is_open_after_own_write(operation));
        if multiple.is_some_and(|multiple| !all_there(&multiple.sources())) {
            return false;
        }
        match self.resolution.source(operation) {
            Source::Transaction { write, .. }
            | Source::Aborted { write, .. }
            | Source::Future { write }
            | Source::OwnOverwritten { write } => is_there(&write),
            Source::Own => self
                .own_write(operation)
                .is_none_or(|write| is_there(&write)),
            Source::Ambiguous => all_there(&self.resolution.candidates(operation)),
            Source::Outside | Source::Initial { .. } | Source::ThinAir => true,
            // What a scan says of a row may say something once a write is gone.
            Source::Unrecorded => !self.history.operation(operation).value.is_of_scan(),
        }
    }

    /// The write of another transaction that a read returned, where that is certain.
    fn write_read_by(&self, read: OperationId) -> Option<OperationId> {
        match self.resolution.source(read) {
            Source::Transaction { write, .. } | Source::Aborted { write, .. } => Some(write),
            _ => None,
        }
    }

    /// The last write of the key before an operation in its transaction.
    fn own_write(&self, operation: OperationId) -> Option<OperationId> {
        let (keys, kinds) = (self.history.keys(), self.history.kinds());
        let own = self
            .history
            .operations_of(self.history.transaction_of(operation))
            .take_while(|o| *o < operation);
        own.filter(|o| {
            kinds[o.index()] == OperationKind::Write && keys[o.index()] == keys[operation.index()]
        })
        .last()
    }
}
