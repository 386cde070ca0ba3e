//! What holds between two steps of an engine: looked at in debug builds, as long as little is remembered.

use super::{BASE, Engine};
use crate::follow::order::Seq;

/// Beyond so many transactions it would take too long.
const MOST: usize = 16;

impl Engine {
    /// Panics if the order is none of the level, or what is remembered of keys and transactions does not fit together.
    pub(super) fn assert_invariants(&self) {
        if self.residents.len() > MOST || self.stop.is_some() {
            return;
        }
        assert!(self.order.is_forward(), "{}: an edge of the order points back", self.level);
        assert!(self.dirty.is_empty(), "{}: {:?} may be wrong", self.level, self.dirty);
        for t in self.residents.numbers() {
            let wrong = self.wrong_at(t);
            assert!(wrong.is_none(), "{}: {wrong:?}", self.level);
        }
        for (number, key) in self.keys.iter() {
            let places: Vec<u64> = key.versions.iter().map(|version| version.place).collect();
            let commits = key.versions.iter().map(|version| self.order.position(self.residents[version.t].commit));
            assert!(places.is_sorted() && commits.eq(places.iter().copied()), "versions are not in the order");
            let readers = key.versions.iter().flat_map(|version| version.readers.iter().map(|&r| (version.t, r)));
            let mut readers = readers.chain(key.base_readers.iter().map(|&reader| (BASE, reader)));
            let is_read = |(writer, reader): (Seq, Seq)| self.residents[reader].reads.contains(&(number, writer));
            assert!(readers.all(is_read), "a reader has not read the version");
        }
    }
}
