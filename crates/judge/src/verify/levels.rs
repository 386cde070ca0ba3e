//! The levels, a row each, and how verdicts constrain each other because of what levels imply.

use super::Problem;
use super::counted::Counted;
use super::guarantee::Guarantee;
use super::initial::Initial;
use crate::report::{LevelEntry, VerdictWord};
use isoscope_model::history::History;
use isoscope_model::levels::Level::{self, *};
use isoscope_model::levels::LevelSet;

/// How evidence about a level is checked.
pub(super) struct EvidenceRule {
    pub(super) level: Level,
    /// The strongest levels that it implies.
    implies: &'static [Level],
    /// What it forbids, whatever counts as earlier.
    pub(super) strength: Strength,
    /// How real time counts, if it does.
    pub(super) time: Option<Time>,
    /// The level that it is where each transaction has a session of its own.
    pub(super) plain_of: Option<Level>,
    /// Whether reads that do not return the content of a row say only that some version was there before.
    pub(super) of_items: bool,
    /// Whether it is about lightweight transactions only, failed comparisons included.
    pub(super) is_lightweight: bool,
}

/// What a level forbids: which versions a transaction may not miss. It says what may be concluded from edges, and how the
/// order that satisfies the level is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strength {
    /// The reads of each transaction by themselves; nothing is ordered.
    Reads,
    /// A commit order agrees with the lists that were read, whatever they miss.
    Versions,
    /// A transaction misses no version along the paths of a guarantee of sessions; none: of no other one.
    Sessions(Option<Guarantee>),
    /// It misses no version of those it has read from before.
    ReadCommitted,
    /// Of those it reads from, and of those before it in its session.
    ReadAtomic,
    /// Of its causal past.
    Causal,
    /// Of what it depends on, as far as that counts; at most one version is missed along a path.
    Dependencies(Counted),
    /// Each read sees a beginning of the order of commits, no shorter than that of the read before.
    EachRead,
    /// A transaction reads what had been committed when it started.
    Prefix,
    /// And two writers of a key do not overlap.
    Snapshot,
    /// One after the other, as far as items tell: of a row that a scan did not return it has read some earlier version.
    SerialItems,
    /// One after the other.
    Serial,
}

impl Strength {
    /// Whether versions seen along the paths of a guarantee must not be missed.
    pub(super) fn keeps(self, guarantee: Guarantee) -> bool {
        match self {
            Strength::Sessions(own) => own.is_some_and(|own| own.counts(guarantee)),
            Strength::Reads
            | Strength::Versions
            | Strength::ReadCommitted
            | Strength::SerialItems
            | Strength::Dependencies(Counted::OfUpdates) => false,
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
            Strength::Reads
                | Strength::Versions
                | Strength::Sessions(_)
                | Strength::SerialItems
                | Strength::Dependencies(Counted::OfUpdates)
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
            Strength::SerialItems,
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
            Strength::Reads | Strength::Versions | Strength::Sessions(_) => Some(Counted::Nothing),
            Strength::ReadCommitted => Some(Counted::ReadBefore),
            Strength::ReadAtomic => Some(Counted::OneStep),
            Strength::Causal => Some(Counted::Past),
            Strength::Dependencies(counted) => Some(counted),
            Strength::EachRead
            | Strength::Prefix
            | Strength::Snapshot
            | Strength::SerialItems
            | Strength::Serial => None,
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
    /// What ended before a transaction began precedes it if they have a key in common.
    ByKey,
    /// What ended before a transaction began commits before it.
    OfCommits,
}

/// Weakest first.
#[rustfmt::skip]
const ROWS: [EvidenceRule; 55] = [
    rule(ItemCutIsolation, Strength::Reads, &[]).of_items(),
    rule(CutIsolation, Strength::Reads, &[ItemCutIsolation]),
    rule(PlainReadUncommitted, Strength::Versions, &[]).plain(ReadUncommitted),
    rule(ReadUncommitted, Strength::Versions, &[PlainReadUncommitted]),
    rule(StrongReadUncommitted, Strength::Versions, &[ReadUncommitted]).in_time(Time::Whole),
    rule(PlainAdyaReadCommitted, Strength::Sessions(None), &[PlainReadUncommitted]).plain(AdyaReadCommitted),
    rule(AdyaReadCommitted, Strength::Sessions(None), &[PlainAdyaReadCommitted, ReadUncommitted]),
    rule(StrongAdyaReadCommitted, Strength::Sessions(None), &[AdyaReadCommitted, StrongReadUncommitted]).in_time(Time::Whole),
    rule(ReadYourWrites, Strength::Sessions(Some(Guarantee::ReadYourWrites)), &[AdyaReadCommitted]),
    rule(MonotonicReads, Strength::Sessions(Some(Guarantee::MonotonicReads)), &[AdyaReadCommitted]),
    rule(MonotonicWrites, Strength::Sessions(Some(Guarantee::MonotonicWrites)), &[AdyaReadCommitted]),
    rule(WritesFollowReads, Strength::Sessions(Some(Guarantee::WritesFollowReads)), &[AdyaReadCommitted]),
    rule(Pram, Strength::Sessions(Some(Guarantee::Pram)), &[ReadYourWrites, MonotonicReads, MonotonicWrites]),
    rule(PlainCursorStability, Strength::Dependencies(Counted::OfUpdates), &[PlainAdyaReadCommitted]).plain(CursorStability),
    rule(CursorStability, Strength::Dependencies(Counted::OfUpdates), &[AdyaReadCommitted, PlainCursorStability]),
    rule(StrongCursorStability, Strength::Dependencies(Counted::OfUpdates), &[CursorStability, StrongAdyaReadCommitted]).in_time(Time::Whole),
    rule(PlainReadCommitted, Strength::ReadCommitted, &[PlainAdyaReadCommitted]).plain(ReadCommitted),
    rule(ReadCommitted, Strength::ReadCommitted, &[AdyaReadCommitted, PlainReadCommitted]),
    rule(StrongReadCommitted, Strength::ReadCommitted, &[ReadCommitted, StrongAdyaReadCommitted]).in_time(Time::Whole),
    rule(PlainMonotonicView, Strength::Dependencies(Counted::SoFar), &[PlainReadCommitted]).plain(MonotonicView),
    rule(MonotonicView, Strength::Dependencies(Counted::SoFar), &[ReadCommitted, ReadYourWrites, MonotonicReads, PlainMonotonicView]),
    rule(StrongMonotonicView, Strength::Dependencies(Counted::SoFar), &[MonotonicView, StrongReadCommitted]).in_time(Time::Whole),
    rule(PlainMonotonicSnapshotReads, Strength::EachRead, &[PlainReadCommitted]).plain(MonotonicSnapshotReads),
    rule(MonotonicSnapshotReads, Strength::EachRead, &[ReadCommitted, ReadYourWrites, MonotonicReads, PlainMonotonicSnapshotReads]),
    rule(StrongMonotonicSnapshotReads, Strength::EachRead, &[MonotonicSnapshotReads, StrongReadCommitted]).in_time(Time::Whole),
    rule(PlainReadAtomic, Strength::ReadAtomic, &[CutIsolation, PlainReadCommitted]).plain(ReadAtomic),
    rule(ReadAtomic, Strength::ReadAtomic, &[ReadCommitted, ReadYourWrites, PlainReadAtomic]),
    rule(StrongReadAtomic, Strength::ReadAtomic, &[ReadAtomic, StrongReadCommitted]).in_time(Time::Whole),
    rule(PlainUpdateAtomic, Strength::Dependencies(Counted::Direct), &[PlainReadAtomic, PlainCursorStability]).plain(UpdateAtomic),
    rule(UpdateAtomic, Strength::Dependencies(Counted::Direct), &[ReadAtomic, CursorStability, PlainUpdateAtomic]),
    rule(StrongUpdateAtomic, Strength::Dependencies(Counted::Direct), &[UpdateAtomic, StrongReadAtomic, StrongCursorStability]).in_time(Time::Whole),
    rule(PlainTransactionalCausalConsistency, Strength::Causal, &[PlainReadAtomic]).plain(TransactionalCausalConsistency),
    rule(TransactionalCausalConsistency, Strength::Causal, &[ReadAtomic, Pram, WritesFollowReads, PlainTransactionalCausalConsistency]),
    rule(StrongTransactionalCausalConsistency, Strength::Causal, &[TransactionalCausalConsistency, StrongReadAtomic]).in_time(Time::Whole),
    rule(PlainParallelSnapshotIsolation, Strength::Dependencies(Counted::All), &[PlainTransactionalCausalConsistency, PlainUpdateAtomic, PlainMonotonicView]).plain(ParallelSnapshotIsolation),
    rule(ParallelSnapshotIsolation, Strength::Dependencies(Counted::All), &[TransactionalCausalConsistency, UpdateAtomic, MonotonicView, PlainParallelSnapshotIsolation]),
    rule(StrongParallelSnapshotIsolation, Strength::Dependencies(Counted::All), &[ParallelSnapshotIsolation, StrongTransactionalCausalConsistency, StrongUpdateAtomic, StrongMonotonicView]).in_time(Time::Whole),
    rule(PlainUpdateSerializability, Strength::Dependencies(Counted::Serial), &[PlainParallelSnapshotIsolation]).plain(PlainUpdateSerializability),
    rule(PlainPrefixConsistency, Strength::Prefix, &[PlainTransactionalCausalConsistency, PlainMonotonicSnapshotReads]).plain(PrefixConsistency),
    rule(PrefixConsistency, Strength::Prefix, &[TransactionalCausalConsistency, MonotonicSnapshotReads, PlainPrefixConsistency]),
    rule(CommitTimePrefixConsistency, Strength::Prefix, &[PlainPrefixConsistency]).in_time(Time::OfCommits).plain(CommitTimePrefixConsistency),
    rule(StrongPrefixConsistency, Strength::Prefix, &[PrefixConsistency, StrongTransactionalCausalConsistency, StrongMonotonicSnapshotReads, CommitTimePrefixConsistency]).in_time(Time::Whole),
    rule(PlainSnapshotIsolation, Strength::Snapshot, &[PlainPrefixConsistency, PlainParallelSnapshotIsolation]).plain(SnapshotIsolation),
    rule(SnapshotIsolation, Strength::Snapshot, &[PrefixConsistency, ParallelSnapshotIsolation, PlainSnapshotIsolation]),
    rule(PerKeySnapshotIsolation, Strength::Snapshot, &[PlainSnapshotIsolation]).in_time(Time::ByKey).plain(PerKeySnapshotIsolation),
    rule(CommitTimeSnapshotIsolation, Strength::Snapshot, &[PlainSnapshotIsolation, CommitTimePrefixConsistency]).in_time(Time::OfCommits).plain(CommitTimeSnapshotIsolation),
    rule(StrongSnapshotIsolation, Strength::Snapshot, &[StrongPrefixConsistency, SnapshotIsolation, StrongParallelSnapshotIsolation, PerKeySnapshotIsolation, CommitTimeSnapshotIsolation]).in_time(Time::Whole),
    rule(PlainRepeatableRead, Strength::SerialItems, &[PlainCursorStability, ItemCutIsolation]).of_items().plain(RepeatableRead),
    rule(RepeatableRead, Strength::SerialItems, &[CursorStability, PlainRepeatableRead]).of_items(),
    rule(StrongRepeatableRead, Strength::SerialItems, &[RepeatableRead, StrongCursorStability]).of_items().in_time(Time::Whole),
    rule(PlainSerializability, Strength::Serial, &[PlainSnapshotIsolation, PlainUpdateSerializability, PlainRepeatableRead]).plain(Serializability),
    rule(Serializability, Strength::Serial, &[SnapshotIsolation, RepeatableRead, PlainSerializability]),
    rule(PerKeySerializability, Strength::Serial, &[PlainSerializability, PerKeySnapshotIsolation]).in_time(Time::ByKey).plain(PerKeySerializability),
    rule(StrictSerializability, Strength::Serial, &[StrongSnapshotIsolation, StrongRepeatableRead, Serializability, PerKeySerializability]).in_time(Time::Whole),
    rule(Linearizability, Strength::Serial, &[StrictSerializability]).in_time(Time::Whole).lightweight(),
];

const fn rule(level: Level, strength: Strength, implies: &'static [Level]) -> EvidenceRule {
    EvidenceRule {
        level,
        implies,
        strength,
        time: None,
        plain_of: None,
        of_items: false,
        is_lightweight: false,
    }
}

impl EvidenceRule {
    const fn in_time(self, time: Time) -> EvidenceRule {
        EvidenceRule {
            time: Some(time),
            ..self
        }
    }

    const fn plain(self, of: Level) -> EvidenceRule {
        EvidenceRule {
            plain_of: Some(of),
            ..self
        }
    }

    const fn of_items(self) -> EvidenceRule {
        EvidenceRule {
            of_items: true,
            ..self
        }
    }

    const fn lightweight(self) -> EvidenceRule {
        EvidenceRule {
            is_lightweight: true,
            ..self
        }
    }
}

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
    row(level).strength == Strength::Reads
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
