//! Sets of levels.

use super::{IMPLIED, Level};

/// A set of levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LevelSet(u64);

impl LevelSet {
    /// The levels that are shown only to those who ask for them and were not asked for.
    pub fn not_asked(asked: &[Level]) -> LevelSet {
        Level::EVERY
            .into_iter()
            .filter(|level| !level.row().usual && !asked.contains(level))
            .collect()
    }

    /// The levels of both sets.
    pub fn union(self, other: LevelSet) -> LevelSet {
        LevelSet(self.0 | other.0)
    }

    /// The levels that are in both sets.
    pub fn intersection(self, other: LevelSet) -> LevelSet {
        LevelSet(self.0 & other.0)
    }

    /// `level` and all levels that imply it: a violation of `level` violates them too. Levels that count no sessions and are
    /// no forms of others are decided where there are none, and imply there the others of which they imply the plain forms.
    pub fn upward(level: Level) -> LevelSet {
        Level::EVERY
            .into_iter()
            .filter(|stronger| stronger.implies_without_sessions(level))
            .collect()
    }

    /// The levels and all that they imply: what satisfies a level satisfies those too.
    pub fn downward(levels: impl IntoIterator<Item = Level>) -> LevelSet {
        LevelSet(
            levels
                .into_iter()
                .fold(0, |set, level| set | IMPLIED[level as usize]),
        )
    }

    /// Whether `level` is in the set.
    pub fn contains(self, level: Level) -> bool {
        self.0 & (1 << level as u64) != 0
    }

    /// Adds a level.
    pub fn insert(&mut self, level: Level) {
        self.0 |= 1 << level as u64;
    }

    /// The set without one level.
    pub fn without(self, level: Level) -> LevelSet {
        LevelSet(self.0 & !(1 << level as u64))
    }

    /// The members that do not only relate the reads of each transaction.
    pub fn above_reads(self) -> LevelSet {
        self.iter().filter(|level| !level.is_of_reads()).collect()
    }

    /// The members, weakest first.
    pub fn iter(self) -> impl Iterator<Item = Level> {
        Level::EVERY
            .into_iter()
            .filter(move |level| self.contains(*level))
    }

    /// The weakest member: the first in the table.
    pub fn weakest(self) -> Option<Level> {
        self.iter().next()
    }
}

impl FromIterator<Level> for LevelSet {
    fn from_iter<I: IntoIterator<Item = Level>>(levels: I) -> LevelSet {
        let mut set = LevelSet::default();
        levels.into_iter().for_each(|level| set.insert(level));
        set
    }
}
