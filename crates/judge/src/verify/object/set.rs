//! Sets, whose reads return all of their elements.

use super::Object;
use isoscope_model::history::{KeyId, OperationKind, TransactionId};
use rustc_hash::{FxHashMap, FxHashSet};

impl Object<'_> {
    /// The elements that a read of a set has; none if a transaction is no read, or says nothing.
    pub(super) fn elements(&self, t: TransactionId) -> Option<FxHashSet<KeyId>> {
        let operations = || {
            self.history
                .operations_of(t)
                .map(|o| self.history.operation(o))
        };
        let is_read = operations().any(|o| o.kind == OperationKind::Read);
        let seen = operations().filter(|o| !self.history.may_be_initial(o.key, o.value));
        is_read.then(|| seen.map(|o| o.key).collect())
    }

    /// The reads of a set, each with what it has, if each has all that those before it have.
    pub(super) fn reads_as_chain(
        &self,
        group: &[TransactionId],
    ) -> Option<Vec<(TransactionId, FxHashSet<KeyId>)>> {
        let reads = group.iter().filter_map(|t| Some((*t, self.elements(*t)?)));
        let mut reads: Vec<_> = reads.collect();
        reads.sort_by_key(|(_, seen)| seen.len());
        let is_chain = reads.windows(2).all(|pair| pair[0].1.is_subset(&pair[1].1));
        is_chain.then_some(reads)
    }

    /// Whether an order in real time explains all reads of a set whose elements were added once.
    pub(super) fn set_has_order(&self, group: &[TransactionId]) -> Option<bool> {
        let Some(reads) = self.reads_as_chain(group) else {
            return Some(false);
        };
        // How many elements there were when the first read saw an element.
        let mut rank: FxHashMap<KeyId, usize> = FxHashMap::default();
        for (_, seen) in &reads {
            for element in seen {
                rank.entry(*element).or_insert(seen.len());
            }
        }
        let mut added: FxHashSet<KeyId> = FxHashSet::default();
        let mut all: Vec<(usize, bool, TransactionId)> = Vec::new();
        for &t in group {
            for operation in self.history.operations_of(t) {
                let operation = self.history.operation(operation);
                if operation.kind == OperationKind::Write {
                    added.insert(operation.key).then_some(())?;
                    let rank = rank.get(&operation.key).copied();
                    // What no read has comes last, or did not happen.
                    let rank = rank.or(self.end(t).map(|_| usize::MAX));
                    all.extend(rank.map(|rank| (rank, false, t)));
                }
            }
        }
        rank.keys()
            .all(|element| added.contains(element))
            .then_some(())?;
        all.extend(reads.iter().map(|(t, seen)| (seen.len(), true, *t)));
        all.sort_by_key(|(rank, reads, _)| (*rank, *reads));
        let mut latest = None;
        let in_time = all
            .chunk_by(|one, other| (one.0, one.1) == (other.0, other.1))
            .all(|part| {
                let is_late = |t: TransactionId| self.end(t).is_some_and(|end| Some(end) < latest);
                let in_time = !part.iter().any(|(.., t)| is_late(*t));
                let begins = part.iter().filter_map(|(.., t)| self.begin(*t));
                latest = latest.max(begins.max());
                in_time
            });
        Some(in_time)
    }
}
