//! Which of two versions is newer, where that is known: a replay that commits them the other way round contradicts it.

use crate::counterexample::Counterexample;
use isoscope_model::history::{History, OperationId, OperationKind, Outcome, TransactionId};
use isoscope_model::relations::observed_after;
use std::collections::{BTreeMap, BTreeSet};

/// Two writes of one key by different transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The write of the older version.
    pub older: OperationId,
    /// The write of the newer version.
    pub newer: OperationId,
}

/// What the whole history says of the writes of a counterexample.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Which versions are newer.
    pub order: Vec<Versions>,
    /// Writes whose transactions wrote the key again later.
    pub intermediate: BTreeSet<OperationId>,
}

impl Known {
    /// The writer of an intermediate version that a read returned. O(operations).
    pub(super) fn replaced(&self, history: &History, read: OperationId) -> Option<TransactionId> {
        let object = history.operation(read);
        let is_read = |write: &&OperationId| {
            let write = history.operation(**write);
            object.kind == OperationKind::Read
                && write.key == object.key
                && history.may_return(read, write.value)
        };
        let write = self.intermediate.iter().find(is_read)?;
        Some(history.transaction_of(*write))
            .filter(|writer| *writer != history.transaction_of(read))
    }
}

impl Versions {
    /// Their writers, the one to commit first first.
    pub(super) fn writers(self, history: &History) -> [TransactionId; 2] {
        [self.older, self.newer].map(|write| history.transaction_of(write))
    }
}

/// The versions of committed writers that session order and reads of the argument put in an order, and of those that are
/// `known` from elsewhere the ones that do not contradict that.
pub(super) fn versions(example: &Counterexample, known: &[Versions]) -> Vec<Versions> {
    let mut order = observed(example);
    let history = &example.history;
    let is_new = |pair: &&Versions| {
        let [older, newer] = pair.writers(history);
        let committed = [older, newer]
            .iter()
            .all(|&t| history.outcome(t) != Outcome::Aborted);
        committed && older != newer && !order.iter().any(|of| of.writers(history) == [newer, older])
    };
    let more: Vec<Versions> = known.iter().filter(is_new).copied().collect();
    order.extend(more);
    order
}

/// The versions of committed writers that session order and reads of the argument put in an order.
pub(super) fn observed(example: &Counterexample) -> Vec<Versions> {
    let history = &example.history;
    let mut written = BTreeMap::new();
    for o in (0..history.n_operations()).map(OperationId::new) {
        let t = history.transaction_of(o);
        if history.operation(o).kind == OperationKind::Write
            && history.outcome(t) != Outcome::Aborted
        {
            written.insert((history.operation(o).key, t), o);
        }
    }
    let after: BTreeMap<TransactionId, _> = written
        .keys()
        .map(|&(_, t)| (t, observed_after(&example.violation.edges, t)))
        .collect();
    let is_after = |older: TransactionId, newer: TransactionId| after[&older].contains(&newer);
    let mut order = Vec::new();
    for (&(key, older), &first) in &written {
        let newer = written
            .iter()
            .filter(|((of, t), _)| *of == key && *t != older && is_after(older, *t));
        let newer = newer.filter(|((_, t), _)| !is_after(*t, older));
        order.extend(newer.map(|(_, &then)| Versions {
            older: first,
            newer: then,
        }));
    }
    order
}
