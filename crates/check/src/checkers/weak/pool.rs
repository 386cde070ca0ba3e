//! The best few candidates per pattern, independent of the order in which they arrive.

use crate::checkers::Place;
use isoscope_model::relations::{NONE, Node};

/// A triple of an axiom as which a pattern's instance may be reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    /// t2 already precedes t1 causally, or t1 precedes t2 only because everything comes after ⊥.
    pub(super) implied: bool,
    /// Estimated number of edges of the explanation.
    pub(super) size: u32,
    /// The writer read from, or [`NONE`] for ⊥.
    pub(super) t1: Node,
    /// The other writer.
    pub(super) t2: Node,
    /// The reader.
    pub(super) t3: Node,
    /// The key.
    pub(super) key: u32,
}

impl Candidate {
    /// Instances are ordered by reader, key, and the two writers.
    pub(super) fn place(&self) -> Place {
        Place([self.t3, self.key, self.t1, self.t2])
    }

    /// What one instance is listed of.
    pub(super) fn pair(&self) -> (Node, Node) {
        (self.t1, self.t2)
    }
}

/// The smallest candidates, one per pair (t1, t2). Its final content depends only on the set of candidates pushed: a
/// candidate that is the best of its pair and among the best `capacity` of all is so in every part.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    capacity: usize,
    kept: Vec<Candidate>,
    /// When full: nothing greater gets in.
    bound: Option<Candidate>,
}

impl Pool {
    pub(super) fn new(capacity: usize) -> Pool {
        Pool {
            capacity,
            ..Pool::default()
        }
    }

    /// Whether a candidate at least as great as this may still get in.
    #[inline]
    pub(super) fn admits(&self, least: &Candidate) -> bool {
        self.capacity > 0 && self.bound.as_ref().is_none_or(|bound| least <= bound)
    }

    pub(super) fn push(&mut self, candidate: Candidate) {
        if self.admits(&candidate) {
            self.kept.push(candidate);
            if self.kept.len() >= 4 * self.capacity + 64 {
                self.shrink();
            }
        }
    }

    pub(super) fn merge(mut self, other: Pool) -> Pool {
        other
            .kept
            .into_iter()
            .for_each(|candidate| self.push(candidate));
        self
    }

    fn shrink(&mut self) {
        self.kept
            .sort_unstable_by_key(|candidate| (candidate.pair(), *candidate));
        self.kept.dedup_by_key(|candidate| candidate.pair());
        self.kept.sort_unstable();
        self.kept.truncate(self.capacity);
        if self.kept.len() == self.capacity {
            self.bound = self.kept.last().copied();
        }
    }

    /// The candidates, best first.
    pub(super) fn into_sorted(mut self) -> Vec<Candidate> {
        self.shrink();
        self.kept
    }
}

/// ⊥ in place of a node.
pub(super) fn is_initial(node: Node) -> bool {
    node == NONE
}
