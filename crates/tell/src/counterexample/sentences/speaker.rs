//! Who speaks about a violation.

use super::words::Words;
use crate::counterexample::sentence::{Sentence, say};
use isoscope_check::checkers::Violation;
use isoscope_model::history::{OperationId, TransactionId};
use isoscope_model::relations::{Edge, EdgeIndex};

/// Says what a violation claims and what its argument states.
pub(in crate::counterexample) struct Speaker<'a> {
    /// Names and phrases for its edges.
    pub(in crate::counterexample) words: &'a Words<'a>,
    pub(in crate::counterexample) violation: &'a Violation,
}

impl<'a> Speaker<'a> {
    pub(super) fn edge(&self, index: EdgeIndex) -> Option<&'a Edge> {
        self.violation.edges.get(index)
    }

    pub(super) fn transaction(&self, t: TransactionId) -> Sentence {
        self.words.transaction(t)
    }

    pub(super) fn reader(&self, read: OperationId) -> Sentence {
        self.transaction(self.words.history.transaction_of(read))
    }

    /// "T3 read 4 = 1".
    pub(super) fn has_read(&self, read: OperationId) -> Sentence {
        say!("{} read {}", self.reader(read), self.words.content(read))
    }
}
