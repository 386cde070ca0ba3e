//! Isolation levels: one row each. What levels imply, and every list of levels, is computed from the rows.

use super::linearizability::is_lightweight;
use crate::history::History;
use crate::relations::{Axiom, Clock, Guarantee, has_real_time};
use std::fmt;
use std::str::FromStr;

/// An isolation level that can be asked for. Levels are ordered as in the table: what a level implies comes before it. Of
/// two levels that do not imply each other the order says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
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

/// Everything constant about a level.
#[derive(Clone, Copy, Debug)]
pub struct LevelRow {
    /// The level.
    pub level: Level,
    /// Short code, as in reports.
    pub code: &'static str,
    /// Long name, as accepted on the command line.
    pub long_name: &'static str,
    /// Further names accepted there, in lower case.
    pub also: &'static [&'static str],
    /// Adya's name, where he defines the same level; most of his do not count session order.
    pub adya: Option<&'static str>,
    /// Elle's keyword for the same level, without its colon.
    pub elle: Option<&'static str>,
    /// The strongest levels that it implies; these imply others.
    pub implies: &'static [Level],
    /// Which order of transactions it counts.
    pub order: CountedOrder,
    /// What decides it.
    pub engine: Engine,
    /// What shows that it is satisfied.
    pub witness: WitnessKind,
    /// Its turn among the levels that are decided side by side; none if it is decided before or after them.
    pub turn: Option<u8>,
    /// Whether shards may divide the components of a history among them.
    pub spreads: bool,
    /// Whether it is one of the levels that are asked for by default and shown in overviews.
    pub usual: bool,
    /// The same level with sessions, if it counts none: it is decided as that level of the history in which each
    /// transaction has a session of its own.
    pub plain_of: Option<Level>,
    /// What it means in a few words, for readers who do not know its name.
    pub gloss: &'static str,
    /// What it promises, in one plain sentence without a full stop.
    pub promise: &'static str,
}

/// What a transaction must respect because it came earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedOrder {
    /// Nothing.
    Nothing,
    /// The earlier transactions of its session.
    Session,
    /// All that ended before it began, too.
    RealTime,
    /// What ended before it began and has a key in common with it; no sessions.
    KeyRealTime,
    /// Commits are ordered by real time, but nothing need be seen; no sessions.
    CommitRealTime,
}

/// The engine that decides a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The reads of each transaction by themselves: `cut_isolation`.
    Reads,
    /// The orders of versions that lists show, whatever else was read: `overwriting`.
    Versions,
    /// A commit order that an axiom of visibility constrains: `weak`.
    Weak(Axiom),
    /// The same with a guarantee of sessions, or none of them, in place of the axiom: `weak::guarantees`.
    Sessions(Option<Guarantee>),
    /// An order of transactions along which dependencies lead, some of which a read must respect: `dependencies`.
    Dependencies(Respected),
    /// An order of the moments of each read and of commits: `each_read`.
    EachRead,
    /// An order of the moments at which transactions read and write: `strong`.
    Strong(Moments),
    /// Orders of the operations on each key: `linearizability`.
    Linear,
}

/// The dependencies on another transaction by which a reader may not miss its version, where transactions depend on each
/// other by session order, reads and overwritten versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Respected {
    /// Those of updates: no version is missed that comes before the one that the reader writes of the same key.
    OfUpdates,
    /// Those of the reads and writes of the reader up to the read in question, and what these depend on.
    SoFar,
    /// Direct ones.
    Direct,
    /// All, over any number of transactions.
    All,
    /// The same, where transactions that write also come before those whose versions they missed: these run one after the
    /// other. Only without sessions.
    Serial,
    /// Only those that an axiom of visibility speaks of: without overwritten versions.
    Seen(Axiom),
    /// None.
    Nothing,
}

/// The moments that a transaction consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moments {
    /// Its start, at which it reads, and its commit, at which it writes.
    StartAndCommit,
    /// The same, and of two writers of a key one starts after the other has committed.
    StartAndCommitApart,
    /// One moment for all that it does.
    One,
}

/// What shows that a level is satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WitnessKind {
    /// The reads of each transaction; nothing else is needed.
    Reads,
    /// A commit order: a read returns the newest version among those that its transaction sees by the axiom.
    CommitOrder,
    /// An order of transactions: a read returns the newest version among those that its transaction depends on, where
    /// writers of a key depend on each other in that order.
    Dependencies,
    /// A commit order: a read returns the newest version of a beginning of it, which grows from read to read.
    GrowingSnapshots,
    /// Starts and commits: a transaction reads the newest versions committed before it starts.
    Snapshots,
    /// A serial order: a transaction reads the newest versions of those before it.
    SerialOrder,
}

use Level::*;

/// Weakest first: what a level implies comes before it.
///
/// It is the turn of RA and RC first: they are cheap on every history, so a time limit never affects them, and a violation
/// of RA settles all levels above. Then of TCC and SER: a violation of the former or an order for the latter settles most
/// of the rest.
#[rustfmt::skip]
const ROWS: [LevelRow; 51] = [
    LevelRow { level: CutIsolation, code: "CI", long_name: "cut-isolation", also: &[], adya: None, elle: None,
        implies: &[], order: CountedOrder::Nothing, engine: Engine::Reads,
        witness: WitnessKind::Reads, turn: None, spreads: false, usual: true, plain_of: None,
        gloss: "no transaction reads a key from two other transactions",
        promise: "apart from its own writes, all reads of a key in a transaction return versions of one writer; values that no committed transaction wrote are ignored" },
    LevelRow { level: PlainReadUncommitted, code: "P-PL1", long_name: "plain-read-uncommitted", also: &[], adya: Some("PL-1"), elle: Some("read-uncommitted"),
        implies: &[], order: CountedOrder::Nothing, engine: Engine::Versions,
        witness: WitnessKind::CommitOrder, turn: None, spreads: false, usual: false, plain_of: Some(ReadUncommitted),
        gloss: "as PL1, but session order is ignored",
        promise: "the versions of all keys have one order, which no transactions contradict by overwriting each other crosswise; reads may return anything; session order is ignored" },
    LevelRow { level: ReadUncommitted, code: "PL1", long_name: "read-uncommitted", also: &[], adya: None, elle: Some("strong-session-read-uncommitted"),
        implies: &[PlainReadUncommitted], order: CountedOrder::Session, engine: Engine::Versions,
        witness: WitnessKind::CommitOrder, turn: None, spreads: false, usual: false, plain_of: None,
        gloss: "transactions overwrite each other in one order, which sessions follow; reads may return anything",
        promise: "the versions of all keys have one order, which sessions follow and no transactions contradict by overwriting each other crosswise; reads may return anything" },
    LevelRow { level: StrongReadUncommitted, code: "R-PL1", long_name: "strong-read-uncommitted", also: &[], adya: None, elle: Some("strong-read-uncommitted"),
        implies: &[ReadUncommitted], order: CountedOrder::RealTime, engine: Engine::Versions,
        witness: WitnessKind::CommitOrder, turn: None, spreads: false, usual: false, plain_of: None,
        gloss: "PL1, and in addition the order of versions agrees with real time",
        promise: "the versions of all keys have one order, which sessions and real time follow and no transactions contradict by overwriting each other crosswise; reads may return anything" },
    LevelRow { level: PlainAdyaReadCommitted, code: "P-PL2", long_name: "plain-adya-read-committed", also: &[], adya: Some("PL-2"), elle: Some("read-committed"),
        implies: &[PlainReadUncommitted], order: CountedOrder::Nothing, engine: Engine::Sessions(None),
        witness: WitnessKind::CommitOrder, turn: None, spreads: false, usual: false, plain_of: Some(AdyaReadCommitted),
        gloss: "as PL2, but session order is ignored",
        promise: "a transaction reads its own latest write of a key, else the final version of another committed transaction; reads follow one order of commits; versions may be missed; session order is ignored" },
    LevelRow { level: AdyaReadCommitted, code: "PL2", long_name: "adya-read-committed", also: &["pl-2"], adya: None, elle: Some("strong-session-read-committed"),
        implies: &[PlainAdyaReadCommitted, ReadUncommitted], order: CountedOrder::Session, engine: Engine::Sessions(None),
        witness: WitnessKind::CommitOrder, turn: Some(7), spreads: false, usual: false, plain_of: None,
        gloss: "only committed, final versions are read, and sessions and reads follow one order of commits",
        promise: "a transaction reads its own latest write of a key, else the final version of another committed transaction; sessions and reads follow one order of commits; versions may be missed" },
    LevelRow { level: StrongAdyaReadCommitted, code: "R-PL2", long_name: "strong-adya-read-committed", also: &[], adya: None, elle: Some("strong-read-committed"),
        implies: &[AdyaReadCommitted, StrongReadUncommitted], order: CountedOrder::RealTime, engine: Engine::Sessions(None),
        witness: WitnessKind::CommitOrder, turn: None, spreads: false, usual: false, plain_of: None,
        gloss: "PL2, and in addition the order of transactions agrees with real time; stale reads are allowed",
        promise: "a transaction reads its own latest write of a key, else the final version of another committed transaction; sessions and reads follow one order of commits; versions may be missed; the order of commits agrees with real time" },
    LevelRow { level: ReadYourWrites, code: "RYW", long_name: "read-your-writes", also: &[], adya: None, elle: Some("read-your-writes"),
        implies: &[AdyaReadCommitted], order: CountedOrder::Session, engine: Engine::Sessions(Some(Guarantee::ReadYourWrites)),
        witness: WitnessKind::CommitOrder, turn: Some(8), spreads: false, usual: false, plain_of: None,
        gloss: "a session sees its own writes",
        promise: "a transaction misses no version that an earlier transaction of its session wrote; sessions and reads follow one order of commits" },
    LevelRow { level: MonotonicReads, code: "MR", long_name: "monotonic-reads", also: &[], adya: None, elle: Some("monotonic-reads"),
        implies: &[AdyaReadCommitted], order: CountedOrder::Session, engine: Engine::Sessions(Some(Guarantee::MonotonicReads)),
        witness: WitnessKind::CommitOrder, turn: Some(9), spreads: false, usual: false, plain_of: None,
        gloss: "the reads of a session do not go back",
        promise: "once a transaction has read from another, later transactions of its session miss none of that one's versions; sessions and reads follow one order of commits" },
    LevelRow { level: MonotonicWrites, code: "MW", long_name: "monotonic-writes", also: &[], adya: None, elle: Some("monotonic-writes"),
        implies: &[AdyaReadCommitted], order: CountedOrder::Session, engine: Engine::Sessions(Some(Guarantee::MonotonicWrites)),
        witness: WitnessKind::CommitOrder, turn: Some(10), spreads: false, usual: false, plain_of: None,
        gloss: "the writes of a session are seen in order",
        promise: "a transaction that reads from another one misses no version that an earlier transaction of the other's session wrote; sessions and reads follow one order of commits" },
    LevelRow { level: WritesFollowReads, code: "WFR", long_name: "writes-follow-reads", also: &[], adya: None, elle: Some("writes-follow-reads"),
        implies: &[AdyaReadCommitted], order: CountedOrder::Session, engine: Engine::Sessions(Some(Guarantee::WritesFollowReads)),
        witness: WitnessKind::CommitOrder, turn: Some(11), spreads: false, usual: false, plain_of: None,
        gloss: "a transaction that sees a write also sees what had been read before it in its session",
        promise: "a transaction that reads from another one misses none of the versions of those that the other one, or an earlier transaction of its session, had read from, and so on from these; sessions and reads follow one order of commits" },
    LevelRow { level: Pram, code: "PRAM", long_name: "pram", also: &[], adya: None, elle: Some("PRAM"),
        implies: &[ReadYourWrites, MonotonicReads, MonotonicWrites], order: CountedOrder::Session, engine: Engine::Sessions(Some(Guarantee::Pram)),
        witness: WitnessKind::CommitOrder, turn: Some(12), spreads: false, usual: false, plain_of: None,
        gloss: "a session sees its own writes and, once it has seen a write of another session, that one and all earlier writes of that session",
        promise: "a transaction misses nothing that its session wrote or read from, nor what the sessions that it or its session read from wrote before; sessions and reads follow one order of commits" },
    LevelRow { level: PlainCursorStability, code: "P-CS", long_name: "plain-cursor-stability", also: &[], adya: Some("PL-CS"), elle: Some("cursor-stability"),
        implies: &[PlainAdyaReadCommitted], order: CountedOrder::Nothing, engine: Engine::Dependencies(Respected::OfUpdates),
        witness: WitnessKind::Dependencies, turn: None, spreads: false, usual: false, plain_of: Some(CursorStability),
        gloss: "as CS, but session order is ignored",
        promise: "no other transaction writes a key between a transaction's read of it and the same transaction's write of it; session order is ignored" },
    LevelRow { level: CursorStability, code: "CS", long_name: "cursor-stability", also: &[], adya: None, elle: None,
        implies: &[AdyaReadCommitted, PlainCursorStability], order: CountedOrder::Session, engine: Engine::Dependencies(Respected::OfUpdates),
        witness: WitnessKind::Dependencies, turn: Some(13), spreads: false, usual: false, plain_of: None,
        gloss: "no update of a key is lost: no other transaction writes it between the read and the write of an update",
        promise: "no other transaction writes a key between a transaction's read of it and the same transaction's write of it; sessions, reads and versions follow one order of transactions" },
    LevelRow { level: StrongCursorStability, code: "R-CS", long_name: "strong-cursor-stability", also: &[], adya: None, elle: None,
        implies: &[CursorStability, StrongAdyaReadCommitted], order: CountedOrder::RealTime, engine: Engine::Dependencies(Respected::OfUpdates),
        witness: WitnessKind::Dependencies, turn: None, spreads: false, usual: false, plain_of: None,
        gloss: "CS, and in addition the order of transactions agrees with real time; stale reads are allowed",
        promise: "no other transaction writes a key between a transaction's read of it and the same transaction's write of it; sessions, reads and versions follow one order of transactions; this order agrees with real time" },
    LevelRow { level: PlainReadCommitted, code: "P-RC", long_name: "plain-read-committed", also: &["monotonic-atomic-view", "mav"], adya: None, elle: Some("monotonic-atomic-view"),
        implies: &[PlainAdyaReadCommitted], order: CountedOrder::Nothing, engine: Engine::Weak(Axiom::ReadCommitted),
        witness: WitnessKind::CommitOrder, turn: None, spreads: false, usual: false, plain_of: Some(ReadCommitted),
        gloss: "as RC, but session order is ignored",
        promise: "a transaction reads its own latest write of a key, else the final version of another committed transaction; once it has read from a transaction, it reads no version of a key that was committed before that transaction's; reads follow one order of commits; session order is ignored" },
    LevelRow { level: ReadCommitted, code: "RC", long_name: "read-committed", also: &[], adya: None, elle: None,
        implies: &[AdyaReadCommitted, PlainReadCommitted], order: CountedOrder::Session, engine: Engine::Weak(Axiom::ReadCommitted),
        witness: WitnessKind::CommitOrder, turn: Some(1), spreads: false, usual: true, plain_of: None,
        gloss: "stronger than in SQL: a transaction reads its own writes and final versions of committed transactions, of each key none older than what it has seen; sessions and reads follow one order of commits",
        promise: "a transaction reads its own latest write of a key, else the final version of another committed transaction; once it has read from a transaction, it reads no version of a key that was committed before that transaction's; sessions and reads follow one order of commits" },
    LevelRow { level: StrongReadCommitted, code: "R-RC", long_name: "strong-read-committed", also: &[], adya: None, elle: None,
        implies: &[ReadCommitted, StrongAdyaReadCommitted], order: CountedOrder::RealTime, engine: Engine::Weak(Axiom::ReadCommitted),
        witness: WitnessKind::CommitOrder, turn: None, spreads: false, usual: false, plain_of: None,
        gloss: "RC, and in addition the order of transactions agrees with real time; stale reads are allowed",
        promise: "a transaction reads its own latest write of a key, else the final version of another committed transaction; once it has read from a transaction, it reads no version of a key that was committed before that transaction's; sessions and reads follow one order of commits; the order of commits agrees with real time" },
    LevelRow { level: PlainMonotonicView, code: "P-MV", long_name: "plain-monotonic-view", also: &[], adya: Some("PL-2L"), elle: Some("monotonic-view"),
        implies: &[PlainReadCommitted], order: CountedOrder::Nothing, engine: Engine::Dependencies(Respected::SoFar),
        witness: WitnessKind::Dependencies, turn: None, spreads: false, usual: false, plain_of: Some(MonotonicView),
        gloss: "as MV, but session order is ignored",
        promise: "the reads of a transaction never go back past anything that it depends on by then, through its reads and the versions that it has overwritten; session order is ignored" },
    LevelRow { level: MonotonicView, code: "MV", long_name: "monotonic-view", also: &[], adya: None, elle: None,
        implies: &[ReadCommitted, ReadYourWrites, MonotonicReads, PlainMonotonicView], order: CountedOrder::Session, engine: Engine::Dependencies(Respected::SoFar),
        witness: WitnessKind::Dependencies, turn: Some(15), spreads: false, usual: false, plain_of: None,
        gloss: "what a transaction sees never goes back while it reads",
        promise: "the reads of a transaction never go back past anything that it depends on by then, through its reads, its session and the versions that it has overwritten" },
    LevelRow { level: StrongMonotonicView, code: "R-MV", long_name: "strong-monotonic-view", also: &[], adya: None, elle: None,
        implies: &[MonotonicView, StrongReadCommitted], order: CountedOrder::RealTime, engine: Engine::Dependencies(Respected::SoFar),
        witness: WitnessKind::Dependencies, turn: None, spreads: false, usual: false, plain_of: None,
        gloss: "MV, and in addition what ended before a transaction began counts as seen by it",
        promise: "the reads of a transaction never go back past anything that it depends on by then, through its reads, its session and the versions that it has overwritten; what ended before a transaction began counts as seen by it, too" },
    LevelRow { level: PlainMonotonicSnapshotReads, code: "P-MSR", long_name: "plain-monotonic-snapshot-reads", also: &[], adya: Some("PL-MSR"), elle: Some("monotonic-snapshot-read"),
        implies: &[PlainReadCommitted], order: CountedOrder::Nothing, engine: Engine::EachRead,
        witness: WitnessKind::GrowingSnapshots, turn: None, spreads: false, usual: false, plain_of: Some(MonotonicSnapshotReads),
        gloss: "as MSR, but session order is ignored",
        promise: "there is one order of commits, and each read returns the newest version in a prefix of that order, which never shrinks from one read to the next; session order is ignored" },
    LevelRow { level: MonotonicSnapshotReads, code: "MSR", long_name: "monotonic-snapshot-reads", also: &[], adya: None, elle: None,
        implies: &[ReadCommitted, ReadYourWrites, MonotonicReads, PlainMonotonicSnapshotReads], order: CountedOrder::Session, engine: Engine::EachRead,
        witness: WitnessKind::GrowingSnapshots, turn: Some(16), spreads: false, usual: false, plain_of: None,
        gloss: "each read has a snapshot of one order of commits, never older than that of the read before",
        promise: "there is one order of commits, and each read returns the newest version in a prefix of that order, which never shrinks from one read to the next, and contains the session's earlier transactions" },
    LevelRow { level: StrongMonotonicSnapshotReads, code: "R-MSR", long_name: "strong-monotonic-snapshot-reads", also: &[], adya: None, elle: None,
        implies: &[MonotonicSnapshotReads, StrongReadCommitted], order: CountedOrder::RealTime, engine: Engine::EachRead,
        witness: WitnessKind::GrowingSnapshots, turn: None, spreads: false, usual: false, plain_of: None,
        gloss: "MSR, and in addition each snapshot contains all that had ended before the transaction began",
        promise: "there is one order of commits, and each read returns the newest version in a prefix of that order, which never shrinks from one read to the next, and contains the session's earlier transactions and all that had ended before the transaction began" },
    LevelRow { level: PlainReadAtomic, code: "P-RA", long_name: "plain-read-atomic", also: &[], adya: None, elle: Some("read-atomic"),
        implies: &[CutIsolation, PlainReadCommitted], order: CountedOrder::Nothing, engine: Engine::Weak(Axiom::ReadAtomic),
        witness: WitnessKind::CommitOrder, turn: None, spreads: false, usual: false, plain_of: Some(ReadAtomic),
        gloss: "as RA, but session order is ignored",
        promise: "a transaction sees all that another one wrote or none of it; of what it sees it reads the version committed last; reads follow one order of commits; session order is ignored" },
    LevelRow { level: ReadAtomic, code: "RA", long_name: "read-atomic", also: &[], adya: None, elle: None,
        implies: &[ReadCommitted, ReadYourWrites, PlainReadAtomic], order: CountedOrder::Session, engine: Engine::Weak(Axiom::ReadAtomic),
        witness: WitnessKind::CommitOrder, turn: Some(0), spreads: false, usual: true, plain_of: None,
        gloss: "a transaction sees all that another one wrote or none of it, and its session's earlier writes; sessions and reads follow one order of commits",
        promise: "a transaction sees all that another one wrote or none of it, and all that its own session wrote before; of what it sees it reads the version committed last; sessions and reads follow one order of commits" },
    LevelRow { level: StrongReadAtomic, code: "R-RA", long_name: "strong-read-atomic", also: &[], adya: None, elle: None,
        implies: &[ReadAtomic, StrongReadCommitted], order: CountedOrder::RealTime, engine: Engine::Weak(Axiom::ReadAtomic),
        witness: WitnessKind::CommitOrder, turn: None, spreads: false, usual: false, plain_of: None,
        gloss: "RA, and in addition what ended before a transaction began counts as seen by it",
        promise: "a transaction sees all that another one wrote or none of it, and all that its own session wrote before; of what it sees it reads the version committed last; sessions and reads follow one order of commits; what ended before a transaction began counts as seen by it, too" },
    LevelRow { level: PlainUpdateAtomic, code: "P-UA", long_name: "plain-update-atomic", also: &[], adya: None, elle: Some("update-atomic"),
        implies: &[PlainReadAtomic, PlainCursorStability], order: CountedOrder::Nothing, engine: Engine::Dependencies(Respected::Direct),
        witness: WitnessKind::Dependencies, turn: None, spreads: false, usual: false, plain_of: Some(UpdateAtomic),
        gloss: "as UA, but session order is ignored",
        promise: "a transaction sees all that another one wrote or none of it, and misses no version of a transaction whose versions it overwrites; session order is ignored" },
    LevelRow { level: UpdateAtomic, code: "UA", long_name: "update-atomic", also: &[], adya: None, elle: None,
        implies: &[ReadAtomic, CursorStability, PlainUpdateAtomic], order: CountedOrder::Session, engine: Engine::Dependencies(Respected::Direct),
        witness: WitnessKind::Dependencies, turn: Some(14), spreads: false, usual: false, plain_of: None,
        gloss: "a transaction sees all that another one wrote or none of it, and no update is lost",
        promise: "a transaction sees all that another one wrote or none of it, and its session's earlier writes, and misses no version of a transaction whose versions it overwrites" },
    LevelRow { level: StrongUpdateAtomic, code: "R-UA", long_name: "strong-update-atomic", also: &[], adya: None, elle: None,
        implies: &[UpdateAtomic, StrongReadAtomic, StrongCursorStability], order: CountedOrder::RealTime, engine: Engine::Dependencies(Respected::Direct),
        witness: WitnessKind::Dependencies, turn: None, spreads: false, usual: false, plain_of: None,
        gloss: "UA, and in addition what ended before a transaction began counts as seen by it",
        promise: "a transaction sees all that another one wrote or none of it, and its session's earlier writes, and misses no version of a transaction whose versions it overwrites; what ended before a transaction began counts as seen by it, too" },
    LevelRow { level: PlainTransactionalCausalConsistency, code: "P-TCC", long_name: "plain-transactional-causal-consistency", also: &[], adya: None, elle: Some("causal-cerone"),
        implies: &[PlainReadAtomic], order: CountedOrder::Nothing, engine: Engine::Weak(Axiom::Causal),
        witness: WitnessKind::CommitOrder, turn: None, spreads: false, usual: false, plain_of: Some(TransactionalCausalConsistency),
        gloss: "as TCC, but session order is ignored",
        promise: "a transaction sees those it reads from and all that these had seen; of what it sees it reads the version committed last; reads follow one order of commits; session order is ignored" },
    LevelRow { level: TransactionalCausalConsistency, code: "TCC", long_name: "transactional-causal-consistency", also: &["causal", "cc"], adya: None, elle: Some("causal"),
        implies: &[ReadAtomic, Pram, WritesFollowReads, PlainTransactionalCausalConsistency], order: CountedOrder::Session, engine: Engine::Weak(Axiom::Causal),
        witness: WitnessKind::CommitOrder, turn: Some(2), spreads: false, usual: true, plain_of: None,
        gloss: "a transaction that sees another also sees all that the other saw; sessions and reads follow one order of commits",
        promise: "a transaction sees its session's earlier ones, those it reads from, and all that these had seen; of what it sees it reads the version committed last; sessions and reads follow one order of commits" },
    LevelRow { level: StrongTransactionalCausalConsistency, code: "R-TCC", long_name: "strong-transactional-causal-consistency", also: &[], adya: None, elle: None,
        implies: &[TransactionalCausalConsistency, StrongReadAtomic], order: CountedOrder::RealTime, engine: Engine::Weak(Axiom::Causal),
        witness: WitnessKind::CommitOrder, turn: None, spreads: false, usual: false, plain_of: None,
        gloss: "TCC, and in addition what ended before a transaction began counts as seen by it",
        promise: "a transaction sees its session's earlier ones, those it reads from, and all that these had seen; of what it sees it reads the version committed last; sessions and reads follow one order of commits; what ended before a transaction began counts as seen by it, too" },
    LevelRow { level: PlainParallelSnapshotIsolation, code: "P-PSI", long_name: "plain-parallel-snapshot-isolation", also: &[], adya: Some("PL-2+"), elle: Some("parallel-snapshot-isolation"),
        implies: &[PlainTransactionalCausalConsistency, PlainUpdateAtomic, PlainMonotonicView], order: CountedOrder::Nothing, engine: Engine::Dependencies(Respected::All),
        witness: WitnessKind::Dependencies, turn: None, spreads: false, usual: false, plain_of: Some(ParallelSnapshotIsolation),
        gloss: "as PSI, but session order is ignored",
        promise: "a transaction sees those it reads from or overwrites and all that these depend on, and reads the newest versions among them; two writers of one key never miss each other; unrelated writes may be seen in different orders; session order is ignored" },
    LevelRow { level: ParallelSnapshotIsolation, code: "PSI", long_name: "parallel-snapshot-isolation", also: &[], adya: None, elle: None,
        implies: &[TransactionalCausalConsistency, UpdateAtomic, MonotonicView, PlainParallelSnapshotIsolation], order: CountedOrder::Session, engine: Engine::Dependencies(Respected::All),
        witness: WitnessKind::Dependencies, turn: Some(6), spreads: false, usual: false, plain_of: None,
        gloss: "transactions read from snapshots and lose no updates, but unrelated writes may be seen in different orders",
        promise: "a transaction sees its session's earlier ones, those it reads from or overwrites, and all that these depend on, and reads the newest versions among them; two writers of one key never miss each other; unrelated writes may be seen in different orders" },
    LevelRow { level: StrongParallelSnapshotIsolation, code: "R-PSI", long_name: "strong-parallel-snapshot-isolation", also: &[], adya: None, elle: None,
        implies: &[ParallelSnapshotIsolation, StrongTransactionalCausalConsistency, StrongUpdateAtomic, StrongMonotonicView], order: CountedOrder::RealTime, engine: Engine::Dependencies(Respected::All),
        witness: WitnessKind::Dependencies, turn: None, spreads: false, usual: false, plain_of: None,
        gloss: "PSI, and in addition what ended before a transaction began counts as seen by it",
        promise: "a transaction sees its session's earlier ones, those it reads from or overwrites, and all that these depend on, and reads the newest versions among them; two writers of one key never miss each other; unrelated writes may be seen in different orders; what ended before a transaction began counts as seen by it, too" },
    LevelRow { level: PlainUpdateSerializability, code: "P-PL3U", long_name: "plain-update-serializability", also: &["pl-3u"], adya: Some("PL-3U"), elle: Some("update-serializable"),
        implies: &[PlainParallelSnapshotIsolation], order: CountedOrder::Nothing, engine: Engine::Dependencies(Respected::Serial),
        witness: WitnessKind::Dependencies, turn: Some(9), spreads: false, usual: false, plain_of: Some(PlainUpdateSerializability),
        gloss: "as if the transactions that write ran one after the other; each that only reads need only fit in by itself",
        promise: "the transactions that write ran as if one after the other, and each that only reads fits into such an order by itself; session order is ignored" },
    LevelRow { level: PlainPrefixConsistency, code: "P-PC", long_name: "plain-prefix-consistency", also: &[], adya: None, elle: Some("prefix"),
        implies: &[PlainTransactionalCausalConsistency, PlainMonotonicSnapshotReads], order: CountedOrder::Nothing, engine: Engine::Strong(Moments::StartAndCommit),
        witness: WitnessKind::Snapshots, turn: None, spreads: false, usual: false, plain_of: Some(PrefixConsistency),
        gloss: "as PC, but session order is ignored",
        promise: "there is one order of commits, and each transaction reads the newest versions committed before it started; session order is ignored" },
    LevelRow { level: PrefixConsistency, code: "PC", long_name: "prefix-consistency", also: &[], adya: None, elle: None,
        implies: &[TransactionalCausalConsistency, MonotonicSnapshotReads, PlainPrefixConsistency], order: CountedOrder::Session, engine: Engine::Strong(Moments::StartAndCommit),
        witness: WitnessKind::Snapshots, turn: Some(5), spreads: true, usual: true, plain_of: None,
        gloss: "there is one order of commits, and each transaction reads the newest versions committed before it started, among them those of its session's earlier transactions",
        promise: "there is one order of commits, and each transaction reads the newest versions committed before it started, among them those of its session's earlier transactions" },
    LevelRow { level: CommitTimePrefixConsistency, code: "C-PC", long_name: "commit-time-prefix-consistency", also: &[], adya: None, elle: None,
        implies: &[PlainPrefixConsistency], order: CountedOrder::CommitRealTime, engine: Engine::Strong(Moments::StartAndCommit),
        witness: WitnessKind::Snapshots, turn: None, spreads: false, usual: false, plain_of: Some(CommitTimePrefixConsistency),
        gloss: "P-PC, and in addition commits are in the order of real time; snapshots may be old",
        promise: "there is one order of commits, and each transaction reads the newest versions committed before it started; a transaction that ended before another one began commits before it; session order is ignored" },
    LevelRow { level: StrongPrefixConsistency, code: "R-PC", long_name: "strong-prefix-consistency", also: &[], adya: None, elle: None,
        implies: &[PrefixConsistency, StrongTransactionalCausalConsistency, StrongMonotonicSnapshotReads, CommitTimePrefixConsistency], order: CountedOrder::RealTime, engine: Engine::Strong(Moments::StartAndCommit),
        witness: WitnessKind::Snapshots, turn: None, spreads: false, usual: false, plain_of: None,
        gloss: "PC, and in addition each snapshot contains all that had ended before the transaction began",
        promise: "there is one order of commits, and each transaction reads the newest versions committed before it started, among them those of its session's earlier transactions and of all that had ended before it began" },
    LevelRow { level: PlainSnapshotIsolation, code: "P-SI", long_name: "plain-snapshot-isolation", also: &[], adya: Some("PL-SI"), elle: Some("snapshot-isolation"),
        implies: &[PlainPrefixConsistency, PlainParallelSnapshotIsolation], order: CountedOrder::Nothing, engine: Engine::Strong(Moments::StartAndCommitApart),
        witness: WitnessKind::Snapshots, turn: None, spreads: false, usual: false, plain_of: Some(SnapshotIsolation),
        gloss: "as SI, but session order is ignored",
        promise: "each transaction reads the newest versions committed before it started, and two writers of one key may not overlap; session order is ignored" },
    LevelRow { level: SnapshotIsolation, code: "SI", long_name: "snapshot-isolation", also: &[], adya: None, elle: Some("strong-session-snapshot-isolation"),
        implies: &[PrefixConsistency, ParallelSnapshotIsolation, PlainSnapshotIsolation], order: CountedOrder::Session, engine: Engine::Strong(Moments::StartAndCommitApart),
        witness: WitnessKind::Snapshots, turn: Some(4), spreads: true, usual: true, plain_of: None,
        gloss: "transactions read from snapshots, and two writers of one key do not overlap",
        promise: "each transaction reads the newest versions committed before it started, among them those of its session's earlier transactions, and two writers of one key may not overlap" },
    LevelRow { level: PerKeySnapshotIsolation, code: "K-SI", long_name: "per-key-snapshot-isolation", also: &[], adya: None, elle: None,
        implies: &[PlainSnapshotIsolation], order: CountedOrder::KeyRealTime, engine: Engine::Strong(Moments::StartAndCommitApart),
        witness: WitnessKind::Snapshots, turn: None, spreads: false, usual: false, plain_of: Some(PerKeySnapshotIsolation),
        gloss: "P-SI, and in addition what ended before a transaction began counts as seen by it if they have a key in common",
        promise: "each transaction reads the newest versions committed before it started, and two writers of one key may not overlap; what ended before a transaction began counts as seen by it if they have a key in common; session order is ignored" },
    LevelRow { level: CommitTimeSnapshotIsolation, code: "C-SI", long_name: "commit-time-snapshot-isolation", also: &[], adya: None, elle: None,
        implies: &[PlainSnapshotIsolation, CommitTimePrefixConsistency], order: CountedOrder::CommitRealTime, engine: Engine::Strong(Moments::StartAndCommitApart),
        witness: WitnessKind::Snapshots, turn: None, spreads: false, usual: false, plain_of: Some(CommitTimeSnapshotIsolation),
        gloss: "P-SI, and in addition commits are in the order of real time; snapshots may be old",
        promise: "each transaction reads the newest versions committed before it started, and two writers of one key may not overlap; a transaction that ended before another one began commits before it; session order is ignored" },
    LevelRow { level: StrongSnapshotIsolation, code: "R-SI", long_name: "strong-snapshot-isolation", also: &[], adya: None, elle: Some("strong-snapshot-isolation"),
        implies: &[StrongPrefixConsistency, SnapshotIsolation, StrongParallelSnapshotIsolation, PerKeySnapshotIsolation, CommitTimeSnapshotIsolation], order: CountedOrder::RealTime, engine: Engine::Strong(Moments::StartAndCommitApart),
        witness: WitnessKind::Snapshots, turn: None, spreads: false, usual: false, plain_of: None,
        gloss: "SI, and in addition each snapshot contains all that had ended before the transaction began",
        promise: "each transaction reads the newest versions committed before it started, among them those of its session's earlier transactions and of all that had ended before it began, and two writers of one key may not overlap" },
    LevelRow { level: PlainSerializability, code: "P-SER", long_name: "plain-serializability", also: &[], adya: Some("PL-3"), elle: Some("serializable"),
        implies: &[PlainSnapshotIsolation, PlainUpdateSerializability], order: CountedOrder::Nothing, engine: Engine::Strong(Moments::One),
        witness: WitnessKind::SerialOrder, turn: None, spreads: false, usual: false, plain_of: Some(Serializability),
        gloss: "as SER, but session order is ignored",
        promise: "the transactions ran as if one after the other; session order is ignored" },
    LevelRow { level: Serializability, code: "SER", long_name: "serializability", also: &[], adya: None, elle: Some("strong-session-serializable"),
        implies: &[SnapshotIsolation, PlainSerializability], order: CountedOrder::Session, engine: Engine::Strong(Moments::One),
        witness: WitnessKind::SerialOrder, turn: Some(3), spreads: true, usual: true, plain_of: None,
        gloss: "as if the transactions ran one after the other, those of a session in their own order",
        promise: "the transactions ran as if one after the other, and those of each session in their own order" },
    LevelRow { level: PerKeySerializability, code: "K-SER", long_name: "per-key-serializability", also: &[], adya: None, elle: None,
        implies: &[PlainSerializability, PerKeySnapshotIsolation], order: CountedOrder::KeyRealTime, engine: Engine::Strong(Moments::One),
        witness: WitnessKind::SerialOrder, turn: None, spreads: false, usual: false, plain_of: Some(PerKeySerializability),
        gloss: "P-SER, and in addition what ended before a transaction began counts as seen by it if they have a key in common",
        promise: "the transactions ran as if one after the other; what ended before a transaction began counts as seen by it if they have a key in common; session order is ignored" },
    LevelRow { level: StrictSerializability, code: "SSER", long_name: "strict-serializability", also: &[], adya: Some("PL-SS"), elle: Some("strict-serializable"),
        implies: &[StrongSnapshotIsolation, Serializability, PerKeySerializability], order: CountedOrder::RealTime, engine: Engine::Strong(Moments::One),
        witness: WitnessKind::SerialOrder, turn: None, spreads: false, usual: true, plain_of: None,
        gloss: "as if the transactions ran one after the other, in an order that agrees with real time",
        promise: "the transactions ran as if one after the other, in an order that agrees with real time and with sessions" },
    LevelRow { level: Linearizability, code: "LIN", long_name: "linearizability", also: &[], adya: None, elle: Some("linearizable"),
        implies: &[StrictSerializability], order: CountedOrder::RealTime, engine: Engine::Linear,
        witness: WitnessKind::SerialOrder, turn: None, spreads: false, usual: true, plain_of: None,
        gloss: "each operation took effect at one moment while it ran",
        promise: "each operation took effect at one moment between its start and its end" },
];

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
const fn levels<const N: usize>(unusual: bool, with_times: bool) -> ([Level; N], usize) {
    let mut levels = [ROWS[0].level; N];
    let (mut place, mut n) = (0, 0);
    while place < ROWS.len() {
        if (unusual || ROWS[place].usual)
            && (with_times || matches!(ROWS[place].order, CountedOrder::Nothing | CountedOrder::Session))
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
    pub const EVERY: [Level; ROWS.len()] = levels(true, true).0;

    /// The usual levels, weakest first: those that are asked for by default and shown in overviews.
    pub const ALL: [Level; levels::<0>(false, true).1] = levels(false, true).0;

    /// Those of them that every register history can be checked for.
    pub const WITHOUT_TIMES: [Level; levels::<0>(false, false).1] = levels(false, false).0;

    /// The levels that apply to a history: with times that order transactions ([`has_real_time`]) also strict
    /// serializability, and linearizability if its transactions are lightweight. O(transactions).
    pub fn of(history: &History) -> Vec<Level> {
        let has_real_time = has_real_time(history);
        let is_lightweight = has_real_time && is_lightweight(history);
        let applies = |level: &Level| match level.row().engine {
            Engine::Linear => is_lightweight,
            _ => has_real_time || !level.counts_real_time(),
        };
        Level::ALL.into_iter().filter(applies).collect()
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
            PlainAdyaReadCommitted => "plain Adya's read committed".to_owned(),
            StrongAdyaReadCommitted => "strong Adya's read committed".to_owned(),
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

    /// The same where each transaction has a session of its own: there a level with sessions is its plain form.
    pub(crate) fn implies_without_sessions(self, other: Level) -> bool {
        let is_form = |plain: &Level| self.implies(*plain) && plain.plain_of().is_some_and(|form| form.implies(other));
        self.implies(other) || self.is_form_of_itself() && Level::EVERY.iter().any(is_form)
    }

    /// Whether real time counts.
    pub fn counts_real_time(self) -> bool {
        !matches!(self.row().order, CountedOrder::Nothing | CountedOrder::Session)
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
        let is_same = |other: &&LevelRow| other.engine == row.engine && other.order == CountedOrder::Session;
        ROWS.iter().filter(|_| self.counts_real_time()).find(is_same).map(|other| other.level)
    }

    /// Whether it is the same level as `base`, which counts sessions, in real time.
    pub(super) fn is_strong_form_of(self, base: Level) -> bool {
        self.row().order == CountedOrder::RealTime && self.without_real_time() == Some(base)
    }

    /// Whether it is decided on a commit order with a guarantee of sessions, or with none.
    pub fn is_of_sessions(self) -> bool {
        matches!(self.row().engine, Engine::Sessions(_))
    }

    /// The level at which no transaction misses a version along the paths of a guarantee.
    pub(crate) fn of_guarantee(guarantee: Guarantee) -> Level {
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
    pub(crate) fn is_form_of_itself(self) -> bool {
        self.plain_of() == Some(self)
    }

    /// The level by which this one is decided where sessions are: the weakest one that counts them and implies it. What
    /// satisfies that one satisfies this one.
    pub(crate) fn with_sessions(self) -> Option<Level> {
        let form = self.plain_of()?;
        let counts_sessions = |level: &Level| level.row().order == CountedOrder::Session && level.implies(self);
        Some(Level::EVERY.into_iter().find(counts_sessions).unwrap_or(form))
    }

    /// The same level without session order, if this one counts sessions and that one is decided.
    pub fn plain_form(self) -> Option<Level> {
        Level::EVERY.into_iter().find(|level| level.plain_of() == Some(self) && *level != self)
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
    pub(crate) fn respected(self) -> Option<Respected> {
        match self.row().engine {
            Engine::Dependencies(respected) => Some(respected),
            Engine::Weak(axiom) => Some(Respected::Seen(axiom)),
            Engine::Sessions(None) => Some(Respected::Nothing),
            _ => None,
        }
    }

    /// How real time counts where its engine knows session order and reads only.
    pub(crate) fn clock(self) -> Option<Clock> {
        let by_itself = self.is_strong() || self.is_of_each_read();
        match self.row().order {
            CountedOrder::RealTime if !by_itself && self.row().engine != Engine::Linear => Some(Clock::Whole),
            CountedOrder::KeyRealTime => Some(Clock::ByKey),
            CountedOrder::CommitRealTime => Some(Clock::OfCommits),
            _ => None,
        }
    }

    /// Whether each read has a snapshot of its own.
    pub fn is_of_each_read(self) -> bool {
        self.row().engine == Engine::EachRead
    }

    /// Whether the engine of starts and commits decides it.
    pub fn is_strong(self) -> bool {
        matches!(self.row().engine, Engine::Strong(_))
    }

    /// Whether transactions have a start and a commit that are ordered.
    pub fn has_snapshots(self) -> bool {
        self.row().witness == WitnessKind::Snapshots
    }

    /// Whether transactions run one after the other.
    pub fn is_serial(self) -> bool {
        self.row().witness == WitnessKind::SerialOrder
    }

    /// Whether the order that satisfies it says which version each read returns: the newest by then.
    pub fn reads_newest(self) -> bool {
        self.has_snapshots() || self.is_serial()
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
    pub(crate) fn axiom(self) -> Axiom {
        match self.row().engine {
            Engine::Weak(axiom) => axiom,
            _ => Axiom::Causal,
        }
    }

    /// The level for an argument about versions; the weak ones without real time are treated as SER.
    pub(super) fn or_serial(self) -> Level {
        let is_ordered = self.is_strong() || self.is_of_dependencies() || self.is_of_each_read();
        if is_ordered || self.clock().is_some() { self } else { Serializability }
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
            row.code.eq_ignore_ascii_case(&wanted) || row.long_name == wanted || row.also.contains(&wanted.as_str())
        };
        ROWS.iter().find(is_named).map(|row| row.level).ok_or_else(|| {
            let codes = Level::ALL.map(Level::code).join(", ");
            format!("unknown level `{text}`, expected one of {codes} or a long name")
        })
    }
}

/// A set of levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LevelSet(u64);

impl LevelSet {
    /// The levels that are shown only to those who ask for them and were not asked for.
    pub(crate) fn not_asked(asked: &[Level]) -> LevelSet {
        Level::EVERY.into_iter().filter(|level| !level.row().usual && !asked.contains(level)).collect()
    }

    /// The levels of both sets.
    pub(crate) fn union(self, other: LevelSet) -> LevelSet {
        LevelSet(self.0 | other.0)
    }

    /// The levels that are in both sets.
    pub(crate) fn intersection(self, other: LevelSet) -> LevelSet {
        LevelSet(self.0 & other.0)
    }

    /// `level` and all levels that imply it: a violation of `level` violates them too. Levels that count no sessions and are
    /// no forms of others are decided where there are none, and imply there the others of which they imply the plain forms.
    pub fn upward(level: Level) -> LevelSet {
        Level::EVERY.into_iter().filter(|stronger| stronger.implies_without_sessions(level)).collect()
    }

    /// The levels and all that they imply: what satisfies a level satisfies those too.
    pub fn downward(levels: impl IntoIterator<Item = Level>) -> LevelSet {
        LevelSet(levels.into_iter().fold(0, |set, level| set | IMPLIED[level as usize]))
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

    /// The members, weakest first.
    pub fn iter(self) -> impl Iterator<Item = Level> {
        Level::EVERY.into_iter().filter(move |level| self.contains(*level))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_variants_and_imply_only_earlier_ones() {
        for (place, row) in ROWS.iter().enumerate() {
            assert_eq!(row.level as usize, place, "{}", row.code);
            assert!(row.implies.iter().all(|weaker| (*weaker as usize) < place), "{}", row.code);
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
