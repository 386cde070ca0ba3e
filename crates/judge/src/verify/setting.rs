//! What holds in one case of a proof: the writers of some reads, and the transactions that are members because of it.

use super::basis::Basis;
use super::resolution::{Resolution, Source};
use isoscope_model::history::{OperationId, TransactionId};

/// The writers fixed by the enclosing cases of a part of a proof.
#[derive(Clone)]
pub(super) struct Setting<'a> {
    resolution: &'a Resolution<'a>,
    basis: Basis,
    fixed: Vec<(OperationId, TransactionId)>,
    /// Transactions of unknown outcome that are members because of them.
    joined: Vec<TransactionId>,
}

impl<'a> Setting<'a> {
    /// No writer is fixed.
    pub(super) fn new(resolution: &'a Resolution<'a>, basis: Basis) -> Setting<'a> {
        Setting {
            resolution,
            basis,
            fixed: Vec::new(),
            joined: Vec::new(),
        }
    }

    /// The sources of reads without any case.
    pub(super) fn resolution(&self) -> &'a Resolution<'a> {
        self.resolution
    }

    /// The case in which a read returned what `writer` wrote. The read must have an open source and its transaction
    /// must be a member: else there are more cases than those of its writers. O(operations of the transactions that
    /// join).
    pub(super) fn with(&self, read: OperationId, writer: TransactionId) -> Setting<'a> {
        let mut inner = self.clone();
        inner.fixed.push((read, writer));
        inner.join(writer);
        inner
    }

    /// Makes a transaction a member, and each that it is known to read from or whose append is in a list that it read.
    fn join(&mut self, t: TransactionId) {
        let mut waiting = vec![t];
        while let Some(t) = waiting.pop() {
            if self.is_member(t) {
                continue;
            }
            self.joined.push(t);
            waiting.extend(
                self.resolution
                    .known_writers(t, self.basis)
                    .filter(|writer| !writer.is_initial()),
            );
            waiting.extend(self.resolution.listed_writers(t));
        }
    }

    /// Whether a transaction is a member.
    pub(super) fn is_member(&self, t: TransactionId) -> bool {
        self.resolution.is_member_on(t, self.basis) || self.joined.contains(&t)
    }

    /// Whether the cases say anything.
    pub(super) fn has_cases(&self) -> bool {
        !self.fixed.is_empty()
    }

    /// The writer of what a read returned, if the cases fix it.
    fn fixed(&self, read: OperationId) -> Option<TransactionId> {
        self.fixed
            .iter()
            .find(|(known, _)| *known == read)
            .map(|(_, writer)| *writer)
    }

    /// Whether the cases fix the writer of what a read returned.
    pub(super) fn is_fixed(&self, read: OperationId) -> bool {
        self.fixed(read).is_some()
    }

    /// The source of a read, for the levels above cut isolation.
    pub(super) fn source(&self, read: OperationId) -> Source {
        match self.fixed(read) {
            Some(writer) => self.resolution.source_with(read, writer),
            None => self.resolution.source(read),
        }
    }

    /// Every transaction that a read may have read from.
    pub(super) fn writers(&self, read: OperationId) -> Vec<TransactionId> {
        if let Some(writer) = self.fixed(read) {
            return vec![writer];
        }
        match self.resolution.source(read) {
            Source::Other { writer, .. } if self.basis == Basis::FairWriters => vec![writer],
            _ => self.resolution.writers(read),
        }
    }
}
