//! Isolation levels: one row each.

use super::linearizability::is_lightweight;
use crate::history::History;
use crate::relations::has_real_time;
use std::fmt;
use std::str::FromStr;

/// An isolation level that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// CI: no two reads of a key in a transaction return versions of different other transactions (Plume, Def. 3).
    CutIsolation,
    /// RC (Biswas & Enea 2019, Fig. 2a).
    ReadCommitted,
    /// RA (Biswas & Enea 2019, Fig. 2b; Plume, Def. 5).
    ReadAtomic,
    /// TCC (Biswas & Enea 2019, Fig. 2c; Plume, Def. 6).
    TransactionalCausalConsistency,
    /// PC (Biswas & Enea 2019, Fig. 2d).
    PrefixConsistency,
    /// SI with sessions (Biswas & Enea 2019, Fig. 2d and 2e; PolySI, section 2).
    SnapshotIsolation,
    /// SER (Biswas & Enea 2019, Fig. 2f).
    Serializability,
    /// SSER: serializability that respects real time (MTC, Def. 4).
    StrictSerializability,
    /// LIN: linearizability of lightweight transactions (MTC, Def. 7). On such histories it is strict serializability in
    /// which failed compare-and-set operations count, too, so it is the stronger one.
    Linearizability,
}

impl Level {
    /// All levels, weakest first.
    pub const ALL: [Level; 9] = [
        Level::CutIsolation,
        Level::ReadCommitted,
        Level::ReadAtomic,
        Level::TransactionalCausalConsistency,
        Level::PrefixConsistency,
        Level::SnapshotIsolation,
        Level::Serializability,
        Level::StrictSerializability,
        Level::Linearizability,
    ];

    /// The levels that every register history can be checked for.
    pub const WITHOUT_TIMES: [Level; 7] = [
        Level::CutIsolation,
        Level::ReadCommitted,
        Level::ReadAtomic,
        Level::TransactionalCausalConsistency,
        Level::PrefixConsistency,
        Level::SnapshotIsolation,
        Level::Serializability,
    ];

    /// The levels that apply to a history: with times that order transactions ([`has_real_time`]) also strict
    /// serializability, and linearizability if its transactions are lightweight. O(transactions).
    pub fn of(history: &History) -> Vec<Level> {
        let has_real_time = has_real_time(history);
        let strict = has_real_time.then_some(Level::StrictSerializability);
        let linear = (has_real_time && is_lightweight(history)).then_some(Level::Linearizability);
        Level::WITHOUT_TIMES.into_iter().chain(strict).chain(linear).collect()
    }

    /// Short code, as in reports.
    pub fn code(self) -> &'static str {
        match self {
            Level::CutIsolation => "CI",
            Level::ReadCommitted => "RC",
            Level::ReadAtomic => "RA",
            Level::TransactionalCausalConsistency => "TCC",
            Level::PrefixConsistency => "PC",
            Level::SnapshotIsolation => "SI",
            Level::Serializability => "SER",
            Level::StrictSerializability => "SSER",
            Level::Linearizability => "LIN",
        }
    }

    /// Long name, as accepted on the command line.
    pub fn long_name(self) -> &'static str {
        match self {
            Level::CutIsolation => "cut-isolation",
            Level::ReadCommitted => "read-committed",
            Level::ReadAtomic => "read-atomic",
            Level::TransactionalCausalConsistency => "transactional-causal-consistency",
            Level::PrefixConsistency => "prefix-consistency",
            Level::SnapshotIsolation => "snapshot-isolation",
            Level::Serializability => "serializability",
            Level::StrictSerializability => "strict-serializability",
            Level::Linearizability => "linearizability",
        }
    }

    /// Its name in sentences: "read committed".
    pub fn spoken(self) -> String {
        self.long_name().replace('-', " ")
    }

    /// What the level promises, in one plain sentence without a full stop.
    pub fn promise(self) -> &'static str {
        match self {
            Level::CutIsolation => {
                "apart from its own writes, all reads of a key in a transaction return versions of one writer; values that no committed transaction wrote are ignored"
            }
            Level::ReadCommitted => {
                "a transaction reads its own latest write of a key, else the final version of another committed transaction, and after reading from another one no version committed before what that one wrote; all see one order of commits"
            }
            Level::ReadAtomic => {
                "a transaction sees all that another one wrote or none of it, and all that its own session wrote before; of what it sees it reads the version committed last, in one order of commits for all"
            }
            Level::TransactionalCausalConsistency => {
                "a transaction sees its session's earlier ones, those it reads from, and all that these had seen; of what it sees it reads the version committed last, in one order of commits for all"
            }
            Level::PrefixConsistency => {
                "there is one order of commits, and each transaction reads the newest versions committed before it started, those of its session included"
            }
            Level::SnapshotIsolation => {
                "each transaction reads the newest versions committed before it started, and two writers of one key may not overlap"
            }
            Level::Serializability => {
                "the transactions ran as if one after the other, and those of each session in their own order"
            }
            Level::StrictSerializability => {
                "the transactions ran as if one after the other, in an order that agrees with real time"
            }
            Level::Linearizability => "each operation took effect at one moment between its start and its end",
        }
    }

    /// Whether satisfying `self` implies satisfying `other` (the hierarchy of design, reflexive).
    pub fn implies(self, other: Level) -> bool {
        // CI and RC are incomparable; RA implies both; above RA the order is total. (LIN is only decided for histories
        // of lightweight transactions, where it implies SSER.)
        match (self, other) {
            (a, b) if a == b => true,
            (Level::CutIsolation, _) => false,
            (Level::ReadCommitted, _) => false,
            (a, b) => a > b,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Level, String> {
        let wanted = text.trim().to_ascii_lowercase();
        if matches!(wanted.as_str(), "causal" | "cc") {
            return Ok(Level::TransactionalCausalConsistency);
        }
        Level::ALL
            .into_iter()
            .find(|level| level.code().eq_ignore_ascii_case(&wanted) || level.long_name() == wanted)
            .ok_or_else(|| {
                format!(
                    "unknown level `{text}`, expected one of CI, RC, RA, TCC, PC, SI, SER, SSER, LIN or a long name"
                )
            })
    }
}

/// A set of levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LevelSet(u16);

impl LevelSet {
    /// `level` and all levels that imply it: a violation of `level` violates them too.
    pub fn upward(level: Level) -> LevelSet {
        Level::ALL.into_iter().filter(|stronger| stronger.implies(level)).collect()
    }

    /// Whether `level` is in the set.
    pub fn contains(self, level: Level) -> bool {
        self.0 & (1 << level as u16) != 0
    }

    /// Adds a level.
    pub fn insert(&mut self, level: Level) {
        self.0 |= 1 << level as u16;
    }

    /// The members, weakest first.
    pub fn iter(self) -> impl Iterator<Item = Level> {
        Level::ALL.into_iter().filter(move |level| self.contains(*level))
    }

    /// The weakest member.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for level in Level::ALL {
            assert_eq!(level.code().parse(), Ok(level));
            assert_eq!(level.long_name().to_uppercase().parse(), Ok(level));
        }
        assert_eq!("causal".parse(), Ok(Level::TransactionalCausalConsistency));
        assert!("foo".parse::<Level>().is_err());
    }

    #[test]
    fn a_violation_of_read_committed_is_none_of_cut_isolation() {
        let set = LevelSet::upward(Level::ReadCommitted);
        assert!(!set.contains(Level::CutIsolation) && set.contains(Level::Serializability));
        assert!(LevelSet::upward(Level::CutIsolation).contains(Level::ReadAtomic));
        assert!(!LevelSet::upward(Level::CutIsolation).contains(Level::ReadCommitted));
    }
}
