//! The levels, a row each, and how verdicts constrain each other because of what levels imply.

use super::Problem;
use super::counted::Counted;
use super::guarantee::Guarantee;
use super::initial::Initial;
use super::story::Sight;
use crate::report::{LevelEntry, VerdictWord};
use isoscope_model::history::History;
use isoscope_model::levels::Level::{self, *};
use isoscope_model::levels::LevelSet;

/// How evidence about a level is checked.
pub(super) struct EvidenceRule {
    pub(super) level: Level,
    /// The strongest levels that it implies.
    implies: &'static [Level],
    /// What may be concluded from edges; none where nothing is ordered.
    pub(super) strength: Option<Strength>,
    /// How its witness is replayed.
    pub(super) replay: Replay,
    /// How real time counts, if it does.
    pub(super) time: Option<Time>,
    /// The level that it is where each transaction has a session of its own.
    pub(super) plain_of: Option<Level>,
    /// Whether it is about lightweight transactions only, failed comparisons included.
    pub(super) is_lightweight: bool,
}

/// What may be concluded at a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strength {
    /// What a guarantee of sessions allows for; none: nothing but what was observed.
    Sessions(Option<Guarantee>),
    ReadCommitted,
    ReadAtomic,
    Causal,
    /// Dependencies, along which at most one version is missed; which of them count for the reader that misses it.
    Dependencies(Counted),
    /// Each read at a moment of its own, after that of the read before.
    EachRead,
    Prefix,
    Snapshot,
    Serial,
}

impl Strength {
    /// Whether versions seen along the paths of a guarantee must not be missed.
    pub(super) fn keeps(self, guarantee: Guarantee) -> bool {
        match self {
            Strength::Sessions(own) => own.is_some_and(|own| own.counts(guarantee)),
            Strength::ReadCommitted | Strength::Dependencies(Counted::OfUpdates) => false,
            Strength::ReadAtomic | Strength::Dependencies(Counted::Direct) => {
                guarantee == Guarantee::ReadYourWrites
            }
            Strength::Dependencies(Counted::SoFar) | Strength::EachRead => {
                matches!(
                    guarantee,
                    Guarantee::ReadYourWrites | Guarantee::MonotonicReads
                )
            }
            _ => true,
        }
    }

    /// Whether a transaction sees no version older than those of the transactions that it has read from before.
    pub(super) fn is_read_committed(self) -> bool {
        !matches!(
            self,
            Strength::Sessions(_) | Strength::Dependencies(Counted::OfUpdates)
        )
    }

    /// Whether it misses nothing of a transaction that it reads from or that precedes it in its session.
    pub(super) fn is_read_atomic(self) -> bool {
        let sees_halves = [
            Strength::ReadCommitted,
            Strength::Dependencies(Counted::SoFar),
            Strength::EachRead,
        ];
        self.is_read_committed() && !sees_halves.contains(&self)
    }

    /// Whether it misses nothing in its causal past.
    pub(super) fn is_causal(self) -> bool {
        self.is_read_atomic()
            && !matches!(
                self,
                Strength::ReadAtomic | Strength::Dependencies(Counted::Direct)
            )
    }

    /// Whether the order of versions counts, beyond what commit orders say of it.
    pub(super) fn orders_versions(self) -> bool {
        let in_time = [
            Strength::EachRead,
            Strength::Prefix,
            Strength::Snapshot,
            Strength::Serial,
        ];
        self.counted().is_some() || in_time.contains(&self)
    }

    /// Whether one of two writers of a key sees the other, or ends before it starts.
    pub(super) fn keeps_writers_apart(self) -> bool {
        self.orders_versions() && !self.orders_commits_of_writers()
    }

    /// Whether two writers of a key are ordered by their commits only.
    pub(super) fn orders_commits_of_writers(self) -> bool {
        matches!(self, Strength::EachRead | Strength::Prefix)
    }

    /// At a level of dependencies: which of them count.
    pub(super) fn counted(self) -> Option<Counted> {
        match self {
            Strength::Dependencies(counted) => Some(counted),
            _ => None,
        }
    }

    /// Where a cycle has one missed version at most: which dependencies forbid to miss it.
    pub(super) fn misses_once(self) -> Option<Counted> {
        match self {
            Strength::Sessions(_) => Some(Counted::Nothing),
            Strength::ReadCommitted => Some(Counted::ReadBefore),
            Strength::ReadAtomic => Some(Counted::OneStep),
            Strength::Causal => Some(Counted::Past),
            Strength::Dependencies(counted) => Some(counted),
            Strength::EachRead | Strength::Prefix | Strength::Snapshot | Strength::Serial => None,
        }
    }

    /// Whether start and commit are different events.
    pub(super) fn has_two_events(self) -> bool {
        let is_one = self.counted() == Some(Counted::Serial);
        self.counted().is_some() && !is_one
            || self.orders_commits_of_writers()
            || self == Strength::Snapshot
    }
}

/// How real time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    /// What ended before a transaction began precedes it, and is seen by it where single steps count.
    Whole,
    /// The same if they have a key in common.
    ByKey,
    /// What ended before a transaction began commits before it.
    OfCommits,
}

/// How a witness is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replay {
    /// Nothing is replayed: the reads of each transaction show it.
    Reads,
    /// A commit order: it agrees with the lists that were read, whatever they miss.
    Versions,
    /// A commit order: each read returns the newest version that its transaction sees.
    Sees(Sight),
    /// Starts and commits: a transaction reads what had been committed when it started; where `apart` is set, two writers
    /// of a key may not overlap.
    Snapshots { apart: bool },
    /// One after the other.
    Serial,
}

/// Weakest first.
#[rustfmt::skip]
pub(super) const ROWS: [EvidenceRule; 51] = [
    EvidenceRule { level: CutIsolation, implies: &[], strength: None, replay: Replay::Reads, time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: PlainReadUncommitted, implies: &[], strength: None, replay: Replay::Versions, time: None, plain_of: Some(ReadUncommitted), is_lightweight: false },
    EvidenceRule { level: ReadUncommitted, implies: &[PlainReadUncommitted], strength: None, replay: Replay::Versions, time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: StrongReadUncommitted, implies: &[ReadUncommitted], strength: None, replay: Replay::Versions, time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { level: PlainAdyaReadCommitted, implies: &[PlainReadUncommitted], strength: Some(Strength::Sessions(None)), replay: Replay::Sees(Sight::Sessions(None)), time: None, plain_of: Some(AdyaReadCommitted), is_lightweight: false },
    EvidenceRule { level: AdyaReadCommitted, implies: &[PlainAdyaReadCommitted, ReadUncommitted], strength: Some(Strength::Sessions(None)), replay: Replay::Sees(Sight::Sessions(None)), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: StrongAdyaReadCommitted, implies: &[AdyaReadCommitted, StrongReadUncommitted], strength: Some(Strength::Sessions(None)), replay: Replay::Sees(Sight::Sessions(None)), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { level: ReadYourWrites, implies: &[AdyaReadCommitted], strength: Some(Strength::Sessions(Some(Guarantee::ReadYourWrites))), replay: Replay::Sees(Sight::Sessions(Some(Guarantee::ReadYourWrites))), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: MonotonicReads, implies: &[AdyaReadCommitted], strength: Some(Strength::Sessions(Some(Guarantee::MonotonicReads))), replay: Replay::Sees(Sight::Sessions(Some(Guarantee::MonotonicReads))), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: MonotonicWrites, implies: &[AdyaReadCommitted], strength: Some(Strength::Sessions(Some(Guarantee::MonotonicWrites))), replay: Replay::Sees(Sight::Sessions(Some(Guarantee::MonotonicWrites))), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: WritesFollowReads, implies: &[AdyaReadCommitted], strength: Some(Strength::Sessions(Some(Guarantee::WritesFollowReads))), replay: Replay::Sees(Sight::Sessions(Some(Guarantee::WritesFollowReads))), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: Pram, implies: &[ReadYourWrites, MonotonicReads, MonotonicWrites], strength: Some(Strength::Sessions(Some(Guarantee::Pram))), replay: Replay::Sees(Sight::Sessions(Some(Guarantee::Pram))), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: PlainCursorStability, implies: &[PlainAdyaReadCommitted], strength: Some(Strength::Dependencies(Counted::OfUpdates)), replay: Replay::Sees(Sight::Dependencies(Counted::OfUpdates)), time: None, plain_of: Some(CursorStability), is_lightweight: false },
    EvidenceRule { level: CursorStability, implies: &[AdyaReadCommitted, PlainCursorStability], strength: Some(Strength::Dependencies(Counted::OfUpdates)), replay: Replay::Sees(Sight::Dependencies(Counted::OfUpdates)), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: StrongCursorStability, implies: &[CursorStability, StrongAdyaReadCommitted], strength: Some(Strength::Dependencies(Counted::OfUpdates)), replay: Replay::Sees(Sight::Dependencies(Counted::OfUpdates)), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { level: PlainReadCommitted, implies: &[PlainAdyaReadCommitted], strength: Some(Strength::ReadCommitted), replay: Replay::Sees(Sight::ReadBefore), time: None, plain_of: Some(ReadCommitted), is_lightweight: false },
    EvidenceRule { level: ReadCommitted, implies: &[AdyaReadCommitted, PlainReadCommitted], strength: Some(Strength::ReadCommitted), replay: Replay::Sees(Sight::ReadBefore), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: StrongReadCommitted, implies: &[ReadCommitted, StrongAdyaReadCommitted], strength: Some(Strength::ReadCommitted), replay: Replay::Sees(Sight::ReadBefore), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { level: PlainMonotonicView, implies: &[PlainReadCommitted], strength: Some(Strength::Dependencies(Counted::SoFar)), replay: Replay::Sees(Sight::Dependencies(Counted::SoFar)), time: None, plain_of: Some(MonotonicView), is_lightweight: false },
    EvidenceRule { level: MonotonicView, implies: &[ReadCommitted, ReadYourWrites, MonotonicReads, PlainMonotonicView], strength: Some(Strength::Dependencies(Counted::SoFar)), replay: Replay::Sees(Sight::Dependencies(Counted::SoFar)), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: StrongMonotonicView, implies: &[MonotonicView, StrongReadCommitted], strength: Some(Strength::Dependencies(Counted::SoFar)), replay: Replay::Sees(Sight::Dependencies(Counted::SoFar)), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { level: PlainMonotonicSnapshotReads, implies: &[PlainReadCommitted], strength: Some(Strength::EachRead), replay: Replay::Sees(Sight::Growing), time: None, plain_of: Some(MonotonicSnapshotReads), is_lightweight: false },
    EvidenceRule { level: MonotonicSnapshotReads, implies: &[ReadCommitted, ReadYourWrites, MonotonicReads, PlainMonotonicSnapshotReads], strength: Some(Strength::EachRead), replay: Replay::Sees(Sight::Growing), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: StrongMonotonicSnapshotReads, implies: &[MonotonicSnapshotReads, StrongReadCommitted], strength: Some(Strength::EachRead), replay: Replay::Sees(Sight::Growing), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { level: PlainReadAtomic, implies: &[CutIsolation, PlainReadCommitted], strength: Some(Strength::ReadAtomic), replay: Replay::Sees(Sight::OneStep), time: None, plain_of: Some(ReadAtomic), is_lightweight: false },
    EvidenceRule { level: ReadAtomic, implies: &[ReadCommitted, ReadYourWrites, PlainReadAtomic], strength: Some(Strength::ReadAtomic), replay: Replay::Sees(Sight::OneStep), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: StrongReadAtomic, implies: &[ReadAtomic, StrongReadCommitted], strength: Some(Strength::ReadAtomic), replay: Replay::Sees(Sight::OneStep), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { level: PlainUpdateAtomic, implies: &[PlainReadAtomic, PlainCursorStability], strength: Some(Strength::Dependencies(Counted::Direct)), replay: Replay::Sees(Sight::Dependencies(Counted::Direct)), time: None, plain_of: Some(UpdateAtomic), is_lightweight: false },
    EvidenceRule { level: UpdateAtomic, implies: &[ReadAtomic, CursorStability, PlainUpdateAtomic], strength: Some(Strength::Dependencies(Counted::Direct)), replay: Replay::Sees(Sight::Dependencies(Counted::Direct)), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: StrongUpdateAtomic, implies: &[UpdateAtomic, StrongReadAtomic, StrongCursorStability], strength: Some(Strength::Dependencies(Counted::Direct)), replay: Replay::Sees(Sight::Dependencies(Counted::Direct)), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { level: PlainTransactionalCausalConsistency, implies: &[PlainReadAtomic], strength: Some(Strength::Causal), replay: Replay::Sees(Sight::Past), time: None, plain_of: Some(TransactionalCausalConsistency), is_lightweight: false },
    EvidenceRule { level: TransactionalCausalConsistency, implies: &[ReadAtomic, Pram, WritesFollowReads, PlainTransactionalCausalConsistency], strength: Some(Strength::Causal), replay: Replay::Sees(Sight::Past), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: StrongTransactionalCausalConsistency, implies: &[TransactionalCausalConsistency, StrongReadAtomic], strength: Some(Strength::Causal), replay: Replay::Sees(Sight::Past), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { level: PlainParallelSnapshotIsolation, implies: &[PlainTransactionalCausalConsistency, PlainUpdateAtomic, PlainMonotonicView], strength: Some(Strength::Dependencies(Counted::All)), replay: Replay::Sees(Sight::Dependencies(Counted::All)), time: None, plain_of: Some(ParallelSnapshotIsolation), is_lightweight: false },
    EvidenceRule { level: ParallelSnapshotIsolation, implies: &[TransactionalCausalConsistency, UpdateAtomic, MonotonicView, PlainParallelSnapshotIsolation], strength: Some(Strength::Dependencies(Counted::All)), replay: Replay::Sees(Sight::Dependencies(Counted::All)), time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: StrongParallelSnapshotIsolation, implies: &[ParallelSnapshotIsolation, StrongTransactionalCausalConsistency, StrongUpdateAtomic, StrongMonotonicView], strength: Some(Strength::Dependencies(Counted::All)), replay: Replay::Sees(Sight::Dependencies(Counted::All)), time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { level: PlainUpdateSerializability, implies: &[PlainParallelSnapshotIsolation], strength: Some(Strength::Dependencies(Counted::Serial)), replay: Replay::Sees(Sight::Dependencies(Counted::Serial)), time: None, plain_of: Some(PlainUpdateSerializability), is_lightweight: false },
    EvidenceRule { level: PlainPrefixConsistency, implies: &[PlainTransactionalCausalConsistency, PlainMonotonicSnapshotReads], strength: Some(Strength::Prefix), replay: Replay::Snapshots { apart: false }, time: None, plain_of: Some(PrefixConsistency), is_lightweight: false },
    EvidenceRule { level: PrefixConsistency, implies: &[TransactionalCausalConsistency, MonotonicSnapshotReads, PlainPrefixConsistency], strength: Some(Strength::Prefix), replay: Replay::Snapshots { apart: false }, time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: CommitTimePrefixConsistency, implies: &[PlainPrefixConsistency], strength: Some(Strength::Prefix), replay: Replay::Snapshots { apart: false }, time: Some(Time::OfCommits), plain_of: Some(CommitTimePrefixConsistency), is_lightweight: false },
    EvidenceRule { level: StrongPrefixConsistency, implies: &[PrefixConsistency, StrongTransactionalCausalConsistency, StrongMonotonicSnapshotReads, CommitTimePrefixConsistency], strength: Some(Strength::Prefix), replay: Replay::Snapshots { apart: false }, time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { level: PlainSnapshotIsolation, implies: &[PlainPrefixConsistency, PlainParallelSnapshotIsolation], strength: Some(Strength::Snapshot), replay: Replay::Snapshots { apart: true }, time: None, plain_of: Some(SnapshotIsolation), is_lightweight: false },
    EvidenceRule { level: SnapshotIsolation, implies: &[PrefixConsistency, ParallelSnapshotIsolation, PlainSnapshotIsolation], strength: Some(Strength::Snapshot), replay: Replay::Snapshots { apart: true }, time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: PerKeySnapshotIsolation, implies: &[PlainSnapshotIsolation], strength: Some(Strength::Snapshot), replay: Replay::Snapshots { apart: true }, time: Some(Time::ByKey), plain_of: Some(PerKeySnapshotIsolation), is_lightweight: false },
    EvidenceRule { level: CommitTimeSnapshotIsolation, implies: &[PlainSnapshotIsolation, CommitTimePrefixConsistency], strength: Some(Strength::Snapshot), replay: Replay::Snapshots { apart: true }, time: Some(Time::OfCommits), plain_of: Some(CommitTimeSnapshotIsolation), is_lightweight: false },
    EvidenceRule { level: StrongSnapshotIsolation, implies: &[StrongPrefixConsistency, SnapshotIsolation, StrongParallelSnapshotIsolation, PerKeySnapshotIsolation, CommitTimeSnapshotIsolation], strength: Some(Strength::Snapshot), replay: Replay::Snapshots { apart: true }, time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { level: PlainSerializability, implies: &[PlainSnapshotIsolation, PlainUpdateSerializability], strength: Some(Strength::Serial), replay: Replay::Serial, time: None, plain_of: Some(Serializability), is_lightweight: false },
    EvidenceRule { level: Serializability, implies: &[SnapshotIsolation, PlainSerializability], strength: Some(Strength::Serial), replay: Replay::Serial, time: None, plain_of: None, is_lightweight: false },
    EvidenceRule { level: PerKeySerializability, implies: &[PlainSerializability, PerKeySnapshotIsolation], strength: Some(Strength::Serial), replay: Replay::Serial, time: Some(Time::ByKey), plain_of: Some(PerKeySerializability), is_lightweight: false },
    EvidenceRule { level: StrictSerializability, implies: &[StrongSnapshotIsolation, Serializability, PerKeySerializability], strength: Some(Strength::Serial), replay: Replay::Serial, time: Some(Time::Whole), plain_of: None, is_lightweight: false },
    EvidenceRule { level: Linearizability, implies: &[StrictSerializability], strength: Some(Strength::Serial), replay: Replay::Serial, time: Some(Time::Whole), plain_of: None, is_lightweight: true },
];

/// The row of a level.
pub(super) fn row(level: Level) -> &'static EvidenceRule {
    let row = &ROWS[level as usize];
    debug_assert_eq!(row.level, level);
    row
}

/// The level that this one is where each transaction has a session of its own.
pub(super) fn plain_of(level: Level) -> Option<Level> {
    row(level).plain_of
}

/// Whether a level relates the reads of each transaction only, so that cycles say nothing about it and all writers of a
/// value count.
pub(super) fn is_of_reads(level: Level) -> bool {
    row(level).replay == Replay::Reads
}

/// Whether every history that satisfies the one level satisfies the other.
pub(super) fn implies(stronger: Level, weaker: Level) -> bool {
    let mut between = row(stronger).implies.iter();
    stronger == weaker || between.any(|&between| implies(between, weaker))
}

/// What evidence has been accepted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Accepted {
    /// The levels of which a witness was replayed.
    pub(super) satisfied: LevelSet,
    /// The levels of which a violation was confirmed.
    pub(super) violated: LevelSet,
}

impl Accepted {
    /// The strongest level with a witness that implies this one.
    fn satisfied_by(&self, level: Level) -> Option<Level> {
        let implying = self.satisfied.iter().filter(|&known| implies(known, level));
        implying.last()
    }

    /// The weakest level with a violation that this one implies.
    fn violated_by(&self, level: Level) -> Option<Level> {
        let mut violated = self.violated.iter();
        violated.find(|&known| implies(level, known))
    }
}

/// What is known about a verdict.
pub(super) enum Standing {
    /// Accepted evidence shows it.
    Shown,
    /// There is no evidence for it or against it.
    Open,
    /// It is impossible.
    Contradicted(String),
}

/// What evidence says about a verdict.
pub(super) fn standing(verdict: VerdictWord, level: Level, shown: &Accepted) -> Standing {
    let (by_witness, by_violation) = (shown.satisfied_by(level), shown.violated_by(level));
    match (verdict, by_witness, by_violation) {
        (VerdictWord::Undecided, ..) => Standing::Shown,
        (VerdictWord::Satisfied, _, Some(weaker)) => Standing::Contradicted(format!(
            "said to be satisfied, but a confirmed violation names {weaker}"
        )),
        (VerdictWord::Violated, Some(stronger), _) => Standing::Contradicted(format!(
            "said to be violated, but the witness of {stronger} explains every read"
        )),
        (VerdictWord::Satisfied, Some(_), None) | (VerdictWord::Violated, None, Some(_)) => {
            Standing::Shown
        }
        (_, None, None) => Standing::Open,
    }
}

/// Whether a verdict can be right whatever its evidence. LIN is about lightweight transactions with times: other
/// histories neither satisfy nor violate it. SSER is satisfied in real time only; where no times order anything it is
/// still violated if SER is, and the evidence must show that.
pub(super) fn apply(
    history: &History,
    initial: &Initial,
    level: &LevelEntry,
) -> Result<(), String> {
    let row = row(level.level);
    let needs_time = match level.verdict {
        VerdictWord::Undecided => false,
        _ if row.is_lightweight => initial.is_lightweight(history).map(|()| true)?,
        verdict => row.time.is_some() && verdict == VerdictWord::Satisfied,
    };
    require!(
        !needs_time || initial.has_real_time(history),
        "no committed transaction that sets nothing up has times"
    )
}

/// Verdicts that contradict each other, whatever the evidence.
pub(super) fn contradictions(levels: &[LevelEntry]) -> Vec<Problem> {
    let of = |word: VerdictWord| levels.iter().filter(move |entry| entry.verdict == word);
    let problem = |stronger: &LevelEntry| {
        let mut violated = of(VerdictWord::Violated);
        let weaker = violated.find(|weaker| implies(stronger.level, weaker.level))?;
        Some(Problem {
            place: format!("level {}", stronger.level),
            message: format!(
                "said to be satisfied while {} is said to be violated",
                weaker.level
            ),
        })
    };
    of(VerdictWord::Satisfied).filter_map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_levels() {
        for (place, row) in ROWS.iter().enumerate() {
            assert_eq!(row.level as usize, place, "{}", row.level);
        }
    }

    #[test]
    fn read_committed_says_nothing_of_cut_isolation() {
        let (ci, rc, ra, lin) = (CutIsolation, ReadCommitted, ReadAtomic, Linearizability);
        assert!(!implies(rc, ci) && !implies(ci, rc) && !implies(rc, ra));
        assert!(implies(ra, ci) && implies(ra, rc) && implies(lin, ci) && implies(ci, ci));
    }
}
