//! What holds between two steps of an engine: looked at in debug builds, as long as little is remembered.

use super::keys::Version;
use super::{BASE, Engine, Resident};
use crate::follow::order::Seq;
use isoscope_check::checkers::Level;

/// Beyond so many transactions it would take too long.
const MOST: usize = 16;

impl Engine {
    /// Panics if the order is none of the level, or what is remembered of keys and transactions does not fit together.
    pub(super) fn assert_invariants(&self) {
        if self.residents.len() > MOST || self.stop.is_some() {
            return;
        }
        assert!(
            self.order.is_forward(),
            "{}: an edge of the order points back",
            self.level
        );
        assert!(
            self.dirty.is_empty(),
            "{}: {:?} may be wrong",
            self.level,
            self.dirty
        );
        for t in self.residents.numbers() {
            let wrong = if self.level.is_weak() {
                None
            } else {
                self.wrong_at(t)
            };
            assert!(wrong.is_none(), "{}: {wrong:?}", self.level);
            let n_reads = self.residents[t].reads.len();
            let behind = (0..n_reads)
                .filter(|_| self.level.is_weak())
                .find_map(|n| self.counted_behind(t, n));
            assert!(
                behind.is_none(),
                "{}: {t} has seen {behind:?} behind what it read",
                self.level
            );
        }
        for (number, key) in self.keys.iter() {
            let places: Vec<u64> = key.versions.iter().map(|version| version.place).collect();
            let commits = key
                .versions
                .iter()
                .map(|version| self.order.position(self.residents[version.t].commit));
            assert!(
                places.is_sorted() && commits.eq(places.iter().copied()),
                "versions are not in the order"
            );
            let readers = key
                .versions
                .iter()
                .flat_map(|version| version.readers.iter().map(|&r| (version.t, r)));
            let mut readers = readers.chain(key.base_readers.iter().map(|&reader| (BASE, reader)));
            let is_read = |(writer, reader): (Seq, Seq)| {
                self.residents[reader].reads.contains(&(number, writer))
            };
            assert!(readers.all(is_read), "a reader has not read the version");
        }
    }

    /// A version behind the one that a read returned that a weak level counts as seen by it.
    fn counted_behind(&self, reader: Seq, n: usize) -> Option<Seq> {
        let Resident { t, reads, .. } = &self.residents[reader];
        let (key, writer) = reads[n];
        let is_read = |version: &Version, reads: &[(u32, Seq)]| {
            reads.iter().any(|(_, other)| *other == version.t)
        };
        let is_seen = |version: &&Version| match self.level {
            Level::ReadCommitted => is_read(version, &reads[..n]),
            Level::ReadAtomic => version.is_of_session_before(t) || is_read(version, reads),
            _ => version.is_seen_by(t),
        };
        self.keys
            .get(key)?
            .behind(writer)
            .iter()
            .find(is_seen)
            .map(|version| version.t)
    }
}
