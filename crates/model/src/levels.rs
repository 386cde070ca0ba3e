//! Isolation levels, and the patterns by which histories violate them: a row each. What levels imply, and every list of
//! levels, is computed from their rows.

mod bases;
mod codes;
mod lattice;
mod names;
mod pattern;
mod rows;
mod set;

pub use lattice::{Base, levels, promise};
pub use names::named;
pub use pattern::{Pattern, PatternRow, Shows};
pub use rows::{CountedOrder, Engine, LevelRow, Moments, Respected, WitnessKind};
pub use set::LevelSet;

use crate::history::{History, Workload, is_lightweight};
use crate::relations::{Axiom, Clock, Guarantee, has_real_time};
use Level::*;
use rows::ROWS;
use std::fmt;
use std::str::FromStr;

/// An isolation level that can be asked for. Levels are ordered as in the table: what a level implies comes before it. Of
/// two levels that do not imply each other the order says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// I-CI: the next one, of reads of keys and of rows whose content was returned (Bailis et al. 2013, item cut isolation).
    ItemCutIsolation,
    /// CI: no two reads of a key in a transaction return versions of different other transactions (Plume, Def. 3).
    CutIsolation,
    /// P-PL1: read uncommitted (Adya 1999, PL-1): transactions overwrite each other in one order.
    PlainReadUncommitted,
    /// PL1: the same with sessions.
    ReadUncommitted,
    /// R-PL1: the same in real time.
    StrongReadUncommitted,
    /// P-PL2: Adya's read committed (Adya 1999, PL-2): no wrong reads and no cycle of observed edges.
    PlainAdyaReadCommitted,
    /// PL2: the same with sessions.
    AdyaReadCommitted,
    /// R-PL2: the same in real time.
    StrongAdyaReadCommitted,
    /// RYW: a session sees its own writes (Terry et al. 1994).
    ReadYourWrites,
    /// MR: the reads of a session do not go back (Terry et al. 1994).
    MonotonicReads,
    /// MW: the writes of a session are seen in order (Terry et al. 1994).
    MonotonicWrites,
    /// WFR: writes are seen after what their session had read (Terry et al. 1994).
    WritesFollowReads,
    /// PRAM: pipelined random access memory (Lipton & Sandberg 1988).
    Pram,
    /// P-CS: cursor stability (Adya 1999, PL-CS) where every read of a key that its transaction writes is protected.
    PlainCursorStability,
    /// CS: the same with sessions.
    CursorStability,
    /// R-CS: the same in real time.
    StrongCursorStability,
    /// P-RC: read committed without sessions (monotonic atomic view; Bailis et al. 2013).
    PlainReadCommitted,
    /// RC (Biswas & Enea 2019, Fig. 2a).
    ReadCommitted,
    /// R-RC: the same in real time.
    StrongReadCommitted,
    /// P-MV: monotonic view (Adya 1999, PL-2L).
    PlainMonotonicView,
    /// MV: the same with sessions.
    MonotonicView,
    /// R-MV: the same in real time.
    StrongMonotonicView,
    /// P-MSR: monotonic snapshot reads (Adya 1999, PL-MSR).
    PlainMonotonicSnapshotReads,
    /// MSR: the same with sessions.
    MonotonicSnapshotReads,
    /// R-MSR: the same in real time: each statement sees what had been committed when its transaction began.
    StrongMonotonicSnapshotReads,
    /// P-RA: read atomic without sessions (Cerone, Bernardi & Gotsman 2015).
    PlainReadAtomic,
    /// RA (Biswas & Enea 2019, Fig. 2b; Plume, Def. 5).
    ReadAtomic,
    /// R-RA: the same in real time.
    StrongReadAtomic,
    /// P-UA: update atomic (Cerone, Bernardi & Gotsman 2015).
    PlainUpdateAtomic,
    /// UA: the same with sessions.
    UpdateAtomic,
    /// R-UA: the same in real time.
    StrongUpdateAtomic,
    /// P-TCC: causal consistency without sessions (Cerone, Bernardi & Gotsman 2015).
    PlainTransactionalCausalConsistency,
    /// TCC (Biswas & Enea 2019, Fig. 2c; Plume, Def. 6).
    TransactionalCausalConsistency,
    /// R-TCC: the same in real time.
    StrongTransactionalCausalConsistency,
    /// P-PSI: the next one without sessions (Adya's PL-2+; Cerone, Bernardi & Gotsman 2015).
    PlainParallelSnapshotIsolation,
    /// PSI (Cerone, Bernardi & Gotsman 2015, with session order as visible).
    ParallelSnapshotIsolation,
    /// R-PSI: the same in real time.
    StrongParallelSnapshotIsolation,
    /// P-PL3U: update serializability (Adya 1999, PL-3U): P-SER of the transactions that write, with each that only reads by
    /// itself.
    PlainUpdateSerializability,
    /// P-PC: prefix consistency without sessions (Cerone, Bernardi & Gotsman 2015).
    PlainPrefixConsistency,
    /// PC (Biswas & Enea 2019, Fig. 2d).
    PrefixConsistency,
    /// C-PC: P-PC with commits in real time (Crooks et al. 2017).
    CommitTimePrefixConsistency,
    /// R-PC: prefix consistency that respects real time.
    StrongPrefixConsistency,
    /// P-SI: snapshot isolation without sessions (Adya 1999, PL-SI; Elle's snapshot-isolation).
    PlainSnapshotIsolation,
    /// SI with sessions (Biswas & Enea 2019, Fig. 2d and 2e; PolySI, section 2).
    SnapshotIsolation,
    /// K-SI: P-SI that respects real time between transactions with a key in common.
    PerKeySnapshotIsolation,
    /// C-SI: P-SI with commits in real time (Crooks et al. 2017, ANSI SI).
    CommitTimeSnapshotIsolation,
    /// R-SI: strong snapshot isolation, SI that respects real time (Daudjee & Salem 2006).
    StrongSnapshotIsolation,
    /// P-RR: repeatable read (Adya 1999, PL-2.99): serializability in which what a scan did not return may change.
    PlainRepeatableRead,
    /// RR: the same with sessions.
    RepeatableRead,
    /// R-RR: the same in real time.
    StrongRepeatableRead,
    /// P-SER: serializability without sessions (Adya 1999, PL-3; Papadimitriou 1979).
    PlainSerializability,
    /// SER (Biswas & Enea 2019, Fig. 2f).
    Serializability,
    /// K-SER: P-SER that respects real time between transactions with a key in common.
    PerKeySerializability,
    /// SSER: serializability that respects real time (MTC, Def. 4).
    StrictSerializability,
    /// LIN: linearizability of lightweight transactions (MTC, Def. 7). On such histories it is strict serializability in
    /// which failed compare-and-set operations count, too, so it is the stronger one.
    Linearizability,
}

/// By level: the levels that it implies, as bits.
const IMPLIED: [u64; ROWS.len()] = {
    let mut implied = [0; ROWS.len()];
    let mut place = 0;
    while place < ROWS.len() {
        implied[place] = 1 << place;
        let weaker = ROWS[place].implies;
        let mut nth = 0;
        while nth < weaker.len() {
            implied[place] |= implied[weaker[nth] as usize];
            nth += 1;
        }
        place += 1;
    }
    implied
};

/// The first N levels, weakest first, of all, of the usual ones or of those among them that do not count real time; and how
/// many there are.
const fn first<const N: usize>(unusual: bool, with_times: bool) -> ([Level; N], usize) {
    let mut levels = [ROWS[0].level; N];
    let (mut place, mut n) = (0, 0);
    while place < ROWS.len() {
        if (unusual || ROWS[place].usual)
            && (with_times
                || matches!(
                    ROWS[place].order,
                    CountedOrder::Plain | CountedOrder::Session
                ))
        {
            if n < N {
                levels[n] = ROWS[place].level;
            }
            n += 1;
        }
        place += 1;
    }
    (levels, n)
}

impl Level {
    /// All levels that can be asked for, weakest first.
    pub const EVERY: [Level; ROWS.len()] = first(true, true).0;

    /// The usual levels, weakest first: those that are asked for by default and shown in overviews.
    pub const ALL: [Level; first::<0>(false, true).1] = first(false, true).0;

    /// Those of them that every register history can be checked for.
    pub const WITHOUT_TIMES: [Level; first::<0>(false, false).1] = first(false, false).0;

    /// The levels that apply to a history: with scans also repeatable read; with times that order transactions
    /// ([`has_real_time`]) also strict serializability, and linearizability if its transactions are lightweight.
    /// O(transactions).
    pub fn of(history: &History) -> Vec<Level> {
        let may_lag = history.workload().is_some_and(Workload::may_lag);
        let has_real_time = !may_lag && has_real_time(history);
        let is_lightweight = has_real_time && is_lightweight(history);
        let applies = |level: &Level| match level.row().engine {
            Engine::Linear => is_lightweight,
            Engine::Items => *level == RepeatableRead && !history.scans().is_empty(),
            _ => level.row().usual && (has_real_time || !level.counts_real_time()),
        };
        Level::EVERY.into_iter().filter(applies).collect()
    }

    /// Its row in the table.
    pub fn row(self) -> &'static LevelRow {
        &ROWS[self as usize]
    }

    /// Short code, as in reports.
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// The level with this code, exactly as in reports.
    pub fn with_code(code: &str) -> Option<Level> {
        Level::EVERY.into_iter().find(|level| level.code() == code)
    }

    /// Long name, as accepted on the command line.
    pub fn long_name(self) -> &'static str {
        self.row().long_name
    }

    /// Its name in sentences: "read committed".
    pub fn spoken(self) -> String {
        match self {
            AdyaReadCommitted => "Adya's read committed".to_owned(),
            PlainAdyaReadCommitted => "Adya's plain read committed".to_owned(),
            StrongAdyaReadCommitted => "Adya's strong read committed".to_owned(),
            Pram => self.code().to_owned(),
            _ => self.long_name().replace('-', " "),
        }
    }

    /// What the level promises, in one plain sentence without a full stop.
    pub fn promise(self) -> &'static str {
        self.row().promise
    }

    /// Whether satisfying `self` implies satisfying `other`; reflexive. (LIN is only decided for histories of lightweight
    /// transactions, where it implies SSER.)
    pub fn implies(self, other: Level) -> bool {
        IMPLIED[self as usize] & (1 << other as usize) != 0
    }

    /// As `implies`, where each transaction has a session of its own: there a level with sessions is its plain form.
    pub fn implies_without_sessions(self, other: Level) -> bool {
        let is_form = |plain: &Level| {
            self.implies(*plain) && plain.plain_of().is_some_and(|form| form.implies(other))
        };
        self.implies(other) || self.is_form_of_itself() && Level::EVERY.iter().any(is_form)
    }

    /// Whether real time counts.
    pub fn counts_real_time(self) -> bool {
        !matches!(
            self.row().order,
            CountedOrder::Plain | CountedOrder::Session
        )
    }

    /// Whether it only relates the reads of each transaction and orders no transactions.
    pub fn is_of_reads(self) -> bool {
        self.row().engine == Engine::Reads
    }

    /// Whether the engine of commit orders and axioms of visibility decides it.
    pub fn is_weak(self) -> bool {
        matches!(self.row().engine, Engine::Weak(_))
    }

    /// The same level without real time, if this one counts it.
    pub fn without_real_time(self) -> Option<Level> {
        let row = self.row();
        let is_same =
            |other: &&LevelRow| other.engine == row.engine && other.order == CountedOrder::Session;
        ROWS.iter()
            .filter(|_| self.counts_real_time())
            .find(is_same)
            .map(|other| other.level)
    }

    /// Whether it is the same level as `base`, which counts sessions, in real time.
    pub fn is_strong_form_of(self, base: Level) -> bool {
        self.row().order == CountedOrder::RealTime && self.without_real_time() == Some(base)
    }

    /// Whether it is decided on a commit order with a guarantee of sessions, or with none.
    pub fn is_of_sessions(self) -> bool {
        matches!(self.row().engine, Engine::Sessions(_))
    }

    /// The level at which no transaction misses a version along the paths of a guarantee.
    pub fn of_guarantee(guarantee: Guarantee) -> Level {
        match guarantee {
            Guarantee::ReadYourWrites => ReadYourWrites,
            Guarantee::MonotonicReads => MonotonicReads,
            Guarantee::MonotonicWrites => MonotonicWrites,
            Guarantee::WritesFollowReads => WritesFollowReads,
            Guarantee::Pram => Pram,
        }
    }

    /// The level with sessions of which this is the plain form.
    pub fn plain_of(self) -> Option<Level> {
        self.row().plain_of
    }

    /// Whether it counts no sessions, and is decided as it is where each transaction has a session of its own.
    pub fn is_form_of_itself(self) -> bool {
        self.plain_of() == Some(self)
    }

    /// The level by which this one is decided where sessions are: the weakest one that counts them and implies it. What
    /// satisfies that one satisfies this one.
    pub fn with_sessions(self) -> Option<Level> {
        let form = self.plain_of()?;
        let counts_sessions =
            |level: &Level| level.row().order == CountedOrder::Session && level.implies(self);
        Some(
            Level::EVERY
                .into_iter()
                .find(counts_sessions)
                .unwrap_or(form),
        )
    }

    /// The same level without session order, if this one counts sessions and that one is decided.
    pub fn plain_form(self) -> Option<Level> {
        Level::EVERY
            .into_iter()
            .find(|level| level.plain_of() == Some(self) && *level != self)
    }

    /// Whether it is decided on the dependencies between transactions alone, along which at most one write may be missed.
    pub fn is_of_dependencies(self) -> bool {
        matches!(self.row().engine, Engine::Dependencies(_))
    }

    /// Whether the transactions that write run one after the other, and each that only reads need only fit in by itself.
    pub fn is_serial_for_updates(self) -> bool {
        self.respected() == Some(Respected::Serial)
    }

    /// The dependencies that its reads must respect, if it is about these, or only about what transactions see.
    pub fn respected(self) -> Option<Respected> {
        match self.row().engine {
            Engine::Dependencies(respected) => Some(respected),
            Engine::Weak(axiom) => Some(Respected::Seen(axiom)),
            Engine::Sessions(None) => Some(Respected::Nothing),
            _ => None,
        }
    }

    /// How real time counts where its engine knows session order and reads only.
    pub fn clock(self) -> Option<Clock> {
        let by_itself = self.is_strong() || self.is_of_each_read();
        match self.row().order {
            CountedOrder::RealTime if !by_itself && self.row().engine != Engine::Linear => {
                Some(Clock::Whole)
            }
            CountedOrder::KeyRealTime => Some(Clock::ByKey),
            CountedOrder::CommitRealTime => Some(Clock::OfCommits),
            _ => None,
        }
    }

    /// Whether each read has a snapshot of its own.
    pub fn is_of_each_read(self) -> bool {
        self.row().engine == Engine::EachRead
    }

    /// Whether it is about reads of keys, and of rows whose content a scan returned, only: other rows of a scan may change.
    pub fn is_of_items(self) -> bool {
        self.row().engine == Engine::Items || self == ItemCutIsolation
    }

    /// Whether it may differ from all others on a history: only scans tell levels of items from those of all reads.
    pub fn is_told_apart(self, history: &History) -> bool {
        !self.is_of_items() || !history.scans().is_empty()
    }

    /// Whether transactions run one after the other, as far as items tell.
    pub fn is_serial_for_items(self) -> bool {
        self.row().engine == Engine::Items
    }

    /// Whether the engine of starts and commits decides it.
    pub fn is_strong(self) -> bool {
        matches!(self.row().engine, Engine::Strong(_))
    }

    /// What shows that it is satisfied.
    pub fn witness(self) -> WitnessKind {
        match self.row().engine {
            Engine::Reads => WitnessKind::Reads,
            Engine::Versions | Engine::Weak(_) | Engine::Sessions(_) => WitnessKind::CommitOrder,
            Engine::Dependencies(_) => WitnessKind::Dependencies,
            Engine::EachRead => WitnessKind::GrowingSnapshots,
            Engine::Items => WitnessKind::ItemsInOrder,
            Engine::Strong(Moments::One) | Engine::Linear => WitnessKind::SerialOrder,
            Engine::Strong(_) => WitnessKind::Snapshots,
        }
    }

    /// Whether transactions have a start and a commit that are ordered.
    pub fn has_snapshots(self) -> bool {
        self.witness() == WitnessKind::Snapshots
    }

    /// Whether transactions run one after the other, if only as far as items tell.
    pub fn is_serial(self) -> bool {
        matches!(
            self.witness(),
            WitnessKind::SerialOrder | WitnessKind::ItemsInOrder
        )
    }

    /// Whether the order that satisfies it says which version each read returns: the newest by then.
    pub fn reads_newest(self) -> bool {
        self.has_snapshots() || self.witness() == WitnessKind::SerialOrder
    }

    /// Whether two writers of a key may not overlap (first committer wins).
    pub fn forbids_conflicts(self) -> bool {
        self.row().engine == Engine::Strong(Moments::StartAndCommitApart)
    }

    /// Whether the engine of starts and commits decides it and no two transactions may overwrite one version of a key.
    pub fn is_strong_on_conflicts(self) -> bool {
        self.is_strong() && self.row().engine != Engine::Strong(Moments::StartAndCommit)
    }

    /// The axiom by which a transaction sees another one at a weak level; any other level is treated as TCC.
    pub fn axiom(self) -> Axiom {
        match self.row().engine {
            Engine::Weak(axiom) => axiom,
            _ => Axiom::Causal,
        }
    }

    /// The level for an argument about versions; the weak ones without real time are treated as SER.
    pub fn or_serial(self) -> Level {
        let is_ordered = self.is_strong()
            || self.is_of_dependencies()
            || self.is_of_each_read()
            || self.is_serial_for_items();
        if is_ordered || self.clock().is_some() {
            self
        } else {
            Serializability
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
        let is_named = |row: &&LevelRow| {
            row.code.eq_ignore_ascii_case(&wanted)
                || row.long_name == wanted
                || row.also.contains(&wanted.as_str())
        };
        ROWS.iter()
            .find(is_named)
            .map(|row| row.level)
            .ok_or_else(|| {
                let codes = Level::ALL.map(Level::code).join(", ");
                format!("unknown level `{text}`, expected one of {codes} or a long name")
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_variants_and_imply_only_earlier_ones() {
        for (place, row) in ROWS.iter().enumerate() {
            assert_eq!(row.level as usize, place, "{}", row.code);
            assert!(
                row.implies.iter().all(|weaker| (*weaker as usize) < place),
                "{}",
                row.code
            );
        }
    }

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
