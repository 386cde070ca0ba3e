//! The table of isolation levels: one row each.

use super::Level::{self, *};
use crate::relations::{Axiom, Guarantee};

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
    /// Keywords of Elle and Jepsen for the same level, without their colons; after the first one Adya's name, where he defines
    /// it.
    pub elle: &'static [&'static str],
    /// The strongest levels that it implies; these imply others.
    pub implies: &'static [Level],
    /// Which order of transactions it counts.
    pub order: CountedOrder,
    /// What decides it.
    pub engine: Engine,
    /// Its turn among the levels that are decided side by side; none if it is decided before or after them.
    pub turn: Option<u8>,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CountedOrder {
    /// Nothing: each transaction might have a session of its own.
    Plain,
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
    /// As `Strong(Moments::One)`, where only items must be unchanged: that engine, of the index with these
    /// (`Index::of_items`).
    Items,
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
    /// A serial order in which each item read is the newest version, and other rows of scans have some earlier version that
    /// explains them.
    ItemsInOrder,
    /// A serial order: a transaction reads the newest versions of those before it.
    SerialOrder,
}

/// What most rows have in common.
const ROW: LevelRow = LevelRow {
    level: CutIsolation,
    code: "",
    long_name: "",
    also: &[],
    elle: &[],
    implies: &[],
    order: CountedOrder::Plain,
    engine: Engine::Reads,
    turn: None,
    usual: false,
    plain_of: None,
    gloss: "",
    promise: "",
};

/// Weakest first: what a level implies comes before it.
///
/// It is the turn of RA and RC first: they are cheap on every history, so a time limit never affects them, and a violation
/// of RA settles all levels above. Then of TCC and SER: a violation of the former or an order for the latter settles most
/// of the rest.
#[rustfmt::skip]
pub(super) const ROWS: [LevelRow; 55] = [
    LevelRow { level: ItemCutIsolation, code: "I-CI", long_name: "item-cut-isolation",
        order: CountedOrder::Plain, engine: Engine::Reads,
        gloss: "as CI, but rows that a scan did not return may come and go",
        promise: "all reads of a key in a transaction, and rows whose content a scan returned, are versions of one writer, unless it wrote the key itself; what a scan did not return does not count", ..ROW },
    LevelRow { level: CutIsolation, code: "CI", long_name: "cut-isolation",
        implies: &[ItemCutIsolation],
        order: CountedOrder::Plain, engine: Engine::Reads, usual: true,
        gloss: "no transaction reads a key from two other transactions",
        promise: "all reads of a key in a transaction return versions of one writer, unless it wrote the key itself; values that no committed transaction wrote are ignored", ..ROW },
    LevelRow { level: PlainReadUncommitted, code: "P-PL1", long_name: "plain-read-uncommitted", elle: &["read-uncommitted", "PL-1"], plain_of: Some(ReadUncommitted),
        order: CountedOrder::Plain, engine: Engine::Versions,
        gloss: "as PL1, but session order is ignored",
        promise: "the versions of all keys have one order, which no transactions contradict by overwriting each other crosswise; reads may return anything; session order is ignored", ..ROW },
    LevelRow { level: ReadUncommitted, code: "PL1", long_name: "read-uncommitted", elle: &["strong-session-read-uncommitted"],
        implies: &[PlainReadUncommitted], order: CountedOrder::Session, engine: Engine::Versions,
        gloss: "transactions overwrite each other in one order, which sessions follow; reads may return anything",
        promise: "the versions of all keys have one order, which sessions follow and no transactions contradict by overwriting each other crosswise; reads may return anything", ..ROW },
    LevelRow { level: StrongReadUncommitted, code: "R-PL1", long_name: "strong-read-uncommitted", elle: &["strong-read-uncommitted"],
        implies: &[ReadUncommitted], order: CountedOrder::RealTime, engine: Engine::Versions,
        gloss: "PL1, and in addition the order of versions agrees with real time",
        promise: "the versions of all keys have one order, which sessions and real time follow and no transactions contradict by overwriting each other crosswise; reads may return anything", ..ROW },
    LevelRow { level: PlainAdyaReadCommitted, code: "P-PL2", long_name: "plain-adya-read-committed", elle: &["read-committed", "PL-2"], plain_of: Some(AdyaReadCommitted),
        implies: &[PlainReadUncommitted], order: CountedOrder::Plain, engine: Engine::Sessions(None),
        gloss: "as PL2, but session order is ignored",
        promise: "a transaction reads its own latest write of a key, else the final version of another committed transaction; reads follow one order of commits; versions may be missed; session order is ignored", ..ROW },
    LevelRow { level: AdyaReadCommitted, code: "PL2", long_name: "adya-read-committed", also: &["pl-2"], elle: &["strong-session-read-committed"],
        implies: &[ReadUncommitted, PlainAdyaReadCommitted], order: CountedOrder::Session, engine: Engine::Sessions(None), turn: Some(7),
        gloss: "only committed, final versions are read, and sessions and reads follow one order of commits",
        promise: "a transaction reads its own latest write of a key, else the final version of another committed transaction; sessions and reads follow one order of commits; versions may be missed", ..ROW },
    LevelRow { level: StrongAdyaReadCommitted, code: "R-PL2", long_name: "strong-adya-read-committed", elle: &["strong-read-committed"],
        implies: &[StrongReadUncommitted, AdyaReadCommitted], order: CountedOrder::RealTime, engine: Engine::Sessions(None),
        gloss: "PL2, and in addition the order of transactions agrees with real time; stale reads are allowed",
        promise: "a transaction reads its own latest write of a key, else the final version of another committed transaction; sessions and reads follow one order of commits; versions may be missed; the order of commits agrees with real time", ..ROW },
    LevelRow { level: ReadYourWrites, code: "RYW", long_name: "read-your-writes", elle: &["read-your-writes"],
        implies: &[AdyaReadCommitted], order: CountedOrder::Session, engine: Engine::Sessions(Some(Guarantee::ReadYourWrites)), turn: Some(8),
        gloss: "a session sees its own writes",
        promise: "a transaction misses no version that an earlier transaction of its session wrote; sessions and reads follow one order of commits", ..ROW },
    LevelRow { level: MonotonicReads, code: "MR", long_name: "monotonic-reads", elle: &["monotonic-reads"],
        implies: &[AdyaReadCommitted], order: CountedOrder::Session, engine: Engine::Sessions(Some(Guarantee::MonotonicReads)), turn: Some(9),
        gloss: "the reads of a session do not go back",
        promise: "once a transaction has read from another, later transactions of its session miss none of that one's versions; sessions and reads follow one order of commits", ..ROW },
    LevelRow { level: MonotonicWrites, code: "MW", long_name: "monotonic-writes", elle: &["monotonic-writes"],
        implies: &[AdyaReadCommitted], order: CountedOrder::Session, engine: Engine::Sessions(Some(Guarantee::MonotonicWrites)), turn: Some(10),
        gloss: "the writes of a session are seen in order",
        promise: "a transaction that reads from another one misses no version that an earlier transaction of the other's session wrote; sessions and reads follow one order of commits", ..ROW },
    LevelRow { level: WritesFollowReads, code: "WFR", long_name: "writes-follow-reads", elle: &["writes-follow-reads"],
        implies: &[AdyaReadCommitted], order: CountedOrder::Session, engine: Engine::Sessions(Some(Guarantee::WritesFollowReads)), turn: Some(11),
        gloss: "a transaction that sees a write also sees what had been read before it in its session",
        promise: "a transaction that reads from another one misses none of the versions of those that the other one, or an earlier transaction of its session, had read from, and so on from these; sessions and reads follow one order of commits", ..ROW },
    LevelRow { level: Pram, code: "PRAM", long_name: "pram", elle: &["PRAM"],
        implies: &[ReadYourWrites, MonotonicReads, MonotonicWrites], order: CountedOrder::Session, engine: Engine::Sessions(Some(Guarantee::Pram)), turn: Some(12),
        gloss: "a session sees its own writes and, once it has seen a write of another session, that one and all earlier writes of that session",
        promise: "a transaction misses nothing that its session wrote or read from, nor what the sessions that it or its session read from wrote before; sessions and reads follow one order of commits", ..ROW },
    LevelRow { level: PlainCursorStability, code: "P-CS", long_name: "plain-cursor-stability", elle: &["cursor-stability", "PL-CS"], plain_of: Some(CursorStability),
        implies: &[PlainAdyaReadCommitted], order: CountedOrder::Plain, engine: Engine::Dependencies(Respected::OfUpdates),
        gloss: "as CS, but session order is ignored",
        promise: "no other transaction writes a key between a transaction's read of it and the same transaction's write of it; session order is ignored", ..ROW },
    LevelRow { level: CursorStability, code: "CS", long_name: "cursor-stability",
        implies: &[AdyaReadCommitted, PlainCursorStability], order: CountedOrder::Session, engine: Engine::Dependencies(Respected::OfUpdates), turn: Some(13),
        gloss: "no update of a key is lost: no other transaction writes it between the read and the write of an update",
        promise: "no other transaction writes a key between a transaction's read of it and the same transaction's write of it; sessions, reads and versions follow one order of transactions", ..ROW },
    LevelRow { level: StrongCursorStability, code: "R-CS", long_name: "strong-cursor-stability",
        implies: &[StrongAdyaReadCommitted, CursorStability], order: CountedOrder::RealTime, engine: Engine::Dependencies(Respected::OfUpdates),
        gloss: "CS, and in addition the order of transactions agrees with real time; stale reads are allowed",
        promise: "no other transaction writes a key between a transaction's read of it and the same transaction's write of it; sessions, reads and versions follow one order of transactions; this order agrees with real time", ..ROW },
    LevelRow { level: PlainReadCommitted, code: "P-RC", long_name: "plain-read-committed", also: &["monotonic-atomic-view", "mav"], elle: &["monotonic-atomic-view"], plain_of: Some(ReadCommitted),
        implies: &[PlainAdyaReadCommitted], order: CountedOrder::Plain, engine: Engine::Weak(Axiom::ReadCommitted),
        gloss: "as RC, but session order is ignored",
        promise: "a transaction reads its own latest write of a key, else the final version of another committed transaction; once it has read from a transaction, it reads no version of a key that was committed before that transaction's; reads follow one order of commits; session order is ignored", ..ROW },
    LevelRow { level: ReadCommitted, code: "RC", long_name: "read-committed",
        implies: &[AdyaReadCommitted, PlainReadCommitted], order: CountedOrder::Session, engine: Engine::Weak(Axiom::ReadCommitted), turn: Some(1), usual: true,
        gloss: "stronger than in SQL: a transaction reads its own writes and final versions of committed transactions, of each key none older than what it has seen; sessions and reads follow one order of commits",
        promise: "a transaction reads its own latest write of a key, else the final version of another committed transaction; once it has read from a transaction, it reads no version of a key that was committed before that transaction's; sessions and reads follow one order of commits", ..ROW },
    LevelRow { level: StrongReadCommitted, code: "R-RC", long_name: "strong-read-committed",
        implies: &[StrongAdyaReadCommitted, ReadCommitted], order: CountedOrder::RealTime, engine: Engine::Weak(Axiom::ReadCommitted),
        gloss: "RC, and in addition the order of transactions agrees with real time; stale reads are allowed",
        promise: "a transaction reads its own latest write of a key, else the final version of another committed transaction; once it has read from a transaction, it reads no version of a key that was committed before that transaction's; sessions and reads follow one order of commits; the order of commits agrees with real time", ..ROW },
    LevelRow { level: PlainMonotonicView, code: "P-MV", long_name: "plain-monotonic-view", elle: &["monotonic-view", "PL-2L"], plain_of: Some(MonotonicView),
        implies: &[PlainReadCommitted], order: CountedOrder::Plain, engine: Engine::Dependencies(Respected::SoFar),
        gloss: "as MV, but session order is ignored",
        promise: "the reads of a transaction never go back past anything that it depends on by then, through its reads and the versions that it has overwritten; session order is ignored", ..ROW },
    LevelRow { level: MonotonicView, code: "MV", long_name: "monotonic-view",
        implies: &[ReadCommitted, ReadYourWrites, MonotonicReads, PlainMonotonicView], order: CountedOrder::Session, engine: Engine::Dependencies(Respected::SoFar), turn: Some(15),
        gloss: "what a transaction sees never goes back while it reads",
        promise: "the reads of a transaction never go back past anything that it depends on by then, through its reads, its session and the versions that it has overwritten", ..ROW },
    LevelRow { level: StrongMonotonicView, code: "R-MV", long_name: "strong-monotonic-view",
        implies: &[StrongReadCommitted, MonotonicView], order: CountedOrder::RealTime, engine: Engine::Dependencies(Respected::SoFar),
        gloss: "MV, and in addition what ended before a transaction began counts as seen by it",
        promise: "the reads of a transaction never go back past anything that it depends on by then, through its reads, its session and the versions that it has overwritten; what ended before a transaction began counts as seen by it, too", ..ROW },
    LevelRow { level: PlainMonotonicSnapshotReads, code: "P-MSR", long_name: "plain-monotonic-snapshot-reads", elle: &["monotonic-snapshot-read", "PL-MSR"], plain_of: Some(MonotonicSnapshotReads),
        implies: &[PlainReadCommitted], order: CountedOrder::Plain, engine: Engine::EachRead,
        gloss: "as MSR, but session order is ignored",
        promise: "there is one order of commits, and each read returns the newest version in a prefix of that order, which never shrinks from one read to the next; session order is ignored", ..ROW },
    LevelRow { level: MonotonicSnapshotReads, code: "MSR", long_name: "monotonic-snapshot-reads",
        implies: &[ReadCommitted, ReadYourWrites, MonotonicReads, PlainMonotonicSnapshotReads], order: CountedOrder::Session, engine: Engine::EachRead, turn: Some(16),
        gloss: "each read has a snapshot of one order of commits, never older than that of the read before",
        promise: "there is one order of commits, and each read returns the newest version in a prefix of that order, which never shrinks from one read to the next, and contains the session's earlier transactions", ..ROW },
    LevelRow { level: StrongMonotonicSnapshotReads, code: "R-MSR", long_name: "strong-monotonic-snapshot-reads",
        implies: &[StrongReadCommitted, MonotonicSnapshotReads], order: CountedOrder::RealTime, engine: Engine::EachRead,
        gloss: "MSR, and in addition each snapshot contains all that had ended before the transaction began",
        promise: "there is one order of commits, and each read returns the newest version in a prefix of that order, which never shrinks from one read to the next, and contains the session's earlier transactions and all that had ended before the transaction began", ..ROW },
    LevelRow { level: PlainReadAtomic, code: "P-RA", long_name: "plain-read-atomic", elle: &["read-atomic"], plain_of: Some(ReadAtomic),
        implies: &[PlainReadCommitted, CutIsolation], order: CountedOrder::Plain, engine: Engine::Weak(Axiom::ReadAtomic),
        gloss: "as RA, but session order is ignored",
        promise: "a transaction sees all that another one wrote or none of it; of what it sees it reads the version committed last; reads follow one order of commits; session order is ignored", ..ROW },
    LevelRow { level: ReadAtomic, code: "RA", long_name: "read-atomic",
        implies: &[ReadCommitted, ReadYourWrites, CutIsolation, PlainReadAtomic], order: CountedOrder::Session, engine: Engine::Weak(Axiom::ReadAtomic), turn: Some(0), usual: true,
        gloss: "a transaction sees all that another one wrote or none of it, and its session's earlier writes; sessions and reads follow one order of commits",
        promise: "a transaction sees all that another one wrote or none of it, and all that its own session wrote before; of what it sees it reads the version committed last; sessions and reads follow one order of commits", ..ROW },
    LevelRow { level: StrongReadAtomic, code: "R-RA", long_name: "strong-read-atomic",
        implies: &[StrongReadCommitted, CutIsolation, ReadAtomic], order: CountedOrder::RealTime, engine: Engine::Weak(Axiom::ReadAtomic),
        gloss: "RA, and in addition what ended before a transaction began counts as seen by it",
        promise: "a transaction sees all that another one wrote or none of it, and all that its own session wrote before; of what it sees it reads the version committed last; sessions and reads follow one order of commits; what ended before a transaction began counts as seen by it, too", ..ROW },
    LevelRow { level: PlainUpdateAtomic, code: "P-UA", long_name: "plain-update-atomic", elle: &["update-atomic"], plain_of: Some(UpdateAtomic),
        implies: &[PlainReadAtomic, PlainCursorStability], order: CountedOrder::Plain, engine: Engine::Dependencies(Respected::Direct),
        gloss: "as UA, but session order is ignored",
        promise: "a transaction sees all that another one wrote or none of it, and misses no version of a transaction whose versions it overwrites; session order is ignored", ..ROW },
    LevelRow { level: UpdateAtomic, code: "UA", long_name: "update-atomic",
        implies: &[ReadAtomic, CursorStability, PlainUpdateAtomic], order: CountedOrder::Session, engine: Engine::Dependencies(Respected::Direct), turn: Some(14),
        gloss: "a transaction sees all that another one wrote or none of it, and no update is lost",
        promise: "a transaction sees all that another one wrote or none of it, and its session's earlier writes, and misses no version of a transaction whose versions it overwrites", ..ROW },
    LevelRow { level: StrongUpdateAtomic, code: "R-UA", long_name: "strong-update-atomic",
        implies: &[StrongReadAtomic, StrongCursorStability, UpdateAtomic], order: CountedOrder::RealTime, engine: Engine::Dependencies(Respected::Direct),
        gloss: "UA, and in addition what ended before a transaction began counts as seen by it",
        promise: "a transaction sees all that another one wrote or none of it, and its session's earlier writes, and misses no version of a transaction whose versions it overwrites; what ended before a transaction began counts as seen by it, too", ..ROW },
    LevelRow { level: PlainTransactionalCausalConsistency, code: "P-TCC", long_name: "plain-transactional-causal-consistency", elle: &["causal-cerone"], plain_of: Some(TransactionalCausalConsistency),
        implies: &[PlainReadAtomic], order: CountedOrder::Plain, engine: Engine::Weak(Axiom::Causal),
        gloss: "as TCC, but session order is ignored",
        promise: "a transaction sees those it reads from and all that these had seen; of what it sees it reads the version committed last; reads follow one order of commits; session order is ignored", ..ROW },
    LevelRow { level: TransactionalCausalConsistency, code: "TCC", long_name: "transactional-causal-consistency", also: &["causal", "cc"], elle: &["causal"],
        implies: &[ReadAtomic, Pram, WritesFollowReads, PlainTransactionalCausalConsistency], order: CountedOrder::Session, engine: Engine::Weak(Axiom::Causal), turn: Some(2), usual: true,
        gloss: "a transaction that sees another also sees all that the other saw; sessions and reads follow one order of commits",
        promise: "a transaction sees its session's earlier ones, those it reads from, and all that these had seen; of what it sees it reads the version committed last; sessions and reads follow one order of commits", ..ROW },
    LevelRow { level: StrongTransactionalCausalConsistency, code: "R-TCC", long_name: "strong-transactional-causal-consistency",
        implies: &[StrongReadAtomic, TransactionalCausalConsistency], order: CountedOrder::RealTime, engine: Engine::Weak(Axiom::Causal),
        gloss: "TCC, and in addition what ended before a transaction began counts as seen by it",
        promise: "a transaction sees its session's earlier ones, those it reads from, and all that these had seen; of what it sees it reads the version committed last; sessions and reads follow one order of commits; what ended before a transaction began counts as seen by it, too", ..ROW },
    LevelRow { level: PlainParallelSnapshotIsolation, code: "P-PSI", long_name: "plain-parallel-snapshot-isolation", elle: &["parallel-snapshot-isolation", "consistent-view", "PL-2+", "forward-consistent-view", "PL-FCV"], plain_of: Some(ParallelSnapshotIsolation),
        implies: &[PlainTransactionalCausalConsistency, PlainUpdateAtomic, PlainMonotonicView], order: CountedOrder::Plain, engine: Engine::Dependencies(Respected::All),
        gloss: "as PSI, but session order is ignored",
        promise: "a transaction sees those it reads from or overwrites and all that these depend on, and reads the newest versions among them; two writers of one key never miss each other; unrelated writes may be seen in different orders; session order is ignored", ..ROW },
    LevelRow { level: ParallelSnapshotIsolation, code: "PSI", long_name: "parallel-snapshot-isolation",
        implies: &[TransactionalCausalConsistency, UpdateAtomic, MonotonicView, PlainParallelSnapshotIsolation], order: CountedOrder::Session, engine: Engine::Dependencies(Respected::All), turn: Some(6),
        gloss: "transactions read from snapshots and lose no updates, but unrelated writes may be seen in different orders",
        promise: "a transaction sees its session's earlier ones, those it reads from or overwrites, and all that these depend on, and reads the newest versions among them; two writers of one key never miss each other; unrelated writes may be seen in different orders", ..ROW },
    LevelRow { level: StrongParallelSnapshotIsolation, code: "R-PSI", long_name: "strong-parallel-snapshot-isolation",
        implies: &[StrongTransactionalCausalConsistency, StrongUpdateAtomic, StrongMonotonicView, ParallelSnapshotIsolation], order: CountedOrder::RealTime, engine: Engine::Dependencies(Respected::All),
        gloss: "PSI, and in addition what ended before a transaction began counts as seen by it",
        promise: "a transaction sees its session's earlier ones, those it reads from or overwrites, and all that these depend on, and reads the newest versions among them; two writers of one key never miss each other; unrelated writes may be seen in different orders; what ended before a transaction began counts as seen by it, too", ..ROW },
    LevelRow { level: PlainUpdateSerializability, code: "P-PL3U", long_name: "plain-update-serializability", also: &["pl-3u"], elle: &["update-serializable", "PL-3U"], plain_of: Some(PlainUpdateSerializability),
        implies: &[PlainParallelSnapshotIsolation], order: CountedOrder::Plain, engine: Engine::Dependencies(Respected::Serial), turn: Some(9),
        gloss: "as if the transactions that write ran one after the other; each that only reads need only fit in by itself",
        promise: "the transactions that write ran as if one after the other, and each that only reads fits into such an order by itself; session order is ignored", ..ROW },
    LevelRow { level: PlainPrefixConsistency, code: "P-PC", long_name: "plain-prefix-consistency", elle: &["prefix"], plain_of: Some(PrefixConsistency),
        implies: &[PlainTransactionalCausalConsistency, PlainMonotonicSnapshotReads], order: CountedOrder::Plain, engine: Engine::Strong(Moments::StartAndCommit),
        gloss: "as PC, but session order is ignored",
        promise: "there is one order of commits, and each transaction reads the newest versions committed before it started; session order is ignored", ..ROW },
    LevelRow { level: PrefixConsistency, code: "PC", long_name: "prefix-consistency",
        implies: &[TransactionalCausalConsistency, MonotonicSnapshotReads, PlainPrefixConsistency], order: CountedOrder::Session, engine: Engine::Strong(Moments::StartAndCommit), turn: Some(5), usual: true,
        gloss: "there is one order of commits, and each transaction reads the newest versions committed before it started, among them those of its session's earlier transactions",
        promise: "there is one order of commits, and each transaction reads the newest versions committed before it started, among them those of its session's earlier transactions", ..ROW },
    LevelRow { level: CommitTimePrefixConsistency, code: "C-PC", long_name: "commit-time-prefix-consistency", plain_of: Some(CommitTimePrefixConsistency),
        implies: &[PlainPrefixConsistency], order: CountedOrder::CommitRealTime, engine: Engine::Strong(Moments::StartAndCommit),
        gloss: "P-PC, and in addition commits are in the order of real time; snapshots may be old",
        promise: "there is one order of commits, and each transaction reads the newest versions committed before it started; a transaction that ended before another one began commits before it; session order is ignored", ..ROW },
    LevelRow { level: StrongPrefixConsistency, code: "R-PC", long_name: "strong-prefix-consistency",
        implies: &[StrongTransactionalCausalConsistency, StrongMonotonicSnapshotReads, PrefixConsistency, CommitTimePrefixConsistency], order: CountedOrder::RealTime, engine: Engine::Strong(Moments::StartAndCommit),
        gloss: "PC, and in addition each snapshot contains all that had ended before the transaction began",
        promise: "there is one order of commits, and each transaction reads the newest versions committed before it started, among them those of its session's earlier transactions and of all that had ended before it began", ..ROW },
    LevelRow { level: PlainSnapshotIsolation, code: "P-SI", long_name: "plain-snapshot-isolation", elle: &["snapshot-isolation", "PL-SI"], plain_of: Some(SnapshotIsolation),
        implies: &[PlainPrefixConsistency, PlainParallelSnapshotIsolation], order: CountedOrder::Plain, engine: Engine::Strong(Moments::StartAndCommitApart),
        gloss: "as SI, but session order is ignored",
        promise: "each transaction reads the newest versions committed before it started, and two writers of one key may not overlap; session order is ignored", ..ROW },
    LevelRow { level: SnapshotIsolation, code: "SI", long_name: "snapshot-isolation", elle: &["strong-session-snapshot-isolation"],
        implies: &[PrefixConsistency, ParallelSnapshotIsolation, PlainSnapshotIsolation], order: CountedOrder::Session, engine: Engine::Strong(Moments::StartAndCommitApart), turn: Some(4), usual: true,
        gloss: "transactions read from snapshots, and two writers of one key do not overlap",
        promise: "each transaction reads the newest versions committed before it started, among them those of its session's earlier transactions, and two writers of one key may not overlap", ..ROW },
    LevelRow { level: PerKeySnapshotIsolation, code: "K-SI", long_name: "per-key-snapshot-isolation", plain_of: Some(PerKeySnapshotIsolation),
        implies: &[PlainSnapshotIsolation], order: CountedOrder::KeyRealTime, engine: Engine::Strong(Moments::StartAndCommitApart),
        gloss: "P-SI, and in addition what ended before a transaction began counts as seen by it if they have a key in common",
        promise: "each transaction reads the newest versions committed before it started, and two writers of one key may not overlap; what ended before a transaction began counts as seen by it if they have a key in common; session order is ignored", ..ROW },
    LevelRow { level: CommitTimeSnapshotIsolation, code: "C-SI", long_name: "commit-time-snapshot-isolation", plain_of: Some(CommitTimeSnapshotIsolation),
        implies: &[CommitTimePrefixConsistency, PlainSnapshotIsolation], order: CountedOrder::CommitRealTime, engine: Engine::Strong(Moments::StartAndCommitApart),
        gloss: "P-SI, and in addition commits are in the order of real time; snapshots may be old",
        promise: "each transaction reads the newest versions committed before it started, and two writers of one key may not overlap; a transaction that ended before another one began commits before it; session order is ignored", ..ROW },
    LevelRow { level: StrongSnapshotIsolation, code: "R-SI", long_name: "strong-snapshot-isolation", elle: &["strong-snapshot-isolation"],
        implies: &[StrongPrefixConsistency, StrongParallelSnapshotIsolation, SnapshotIsolation, PerKeySnapshotIsolation, CommitTimeSnapshotIsolation], order: CountedOrder::RealTime, engine: Engine::Strong(Moments::StartAndCommitApart),
        gloss: "SI, and in addition each snapshot contains all that had ended before the transaction began",
        promise: "each transaction reads the newest versions committed before it started, among them those of its session's earlier transactions and of all that had ended before it began, and two writers of one key may not overlap", ..ROW },
    LevelRow { level: PlainRepeatableRead, code: "P-RR", long_name: "plain-repeatable-read", elle: &["repeatable-read", "PL-2.99"], plain_of: Some(RepeatableRead),
        implies: &[PlainCursorStability, ItemCutIsolation], order: CountedOrder::Plain, engine: Engine::Items,
        gloss: "as RR, but session order is ignored",
        promise: "the transactions ran as if one after the other, except that a scan may have missed rows; session order is ignored", ..ROW },
    LevelRow { level: RepeatableRead, code: "RR", long_name: "repeatable-read",
        implies: &[CursorStability, PlainRepeatableRead], order: CountedOrder::Session, engine: Engine::Items, turn: Some(17),
        gloss: "as if the transactions ran one after the other, except that scans may miss rows; without scans the same as SER",
        promise: "the transactions ran as if one after the other, those of each session in their own order, except that a scan may have missed rows: what was read by key or returned by a scan stays as it was", ..ROW },
    LevelRow { level: StrongRepeatableRead, code: "R-RR", long_name: "strong-repeatable-read",
        implies: &[StrongCursorStability, RepeatableRead], order: CountedOrder::RealTime, engine: Engine::Items,
        gloss: "RR, and in addition the order of transactions agrees with real time",
        promise: "the transactions ran as if one after the other, in an order that agrees with real time and with sessions, except that a scan may have missed rows", ..ROW },
    LevelRow { level: PlainSerializability, code: "P-SER", long_name: "plain-serializability", elle: &["serializable", "PL-3", "conflict-serializable", "view-serializable", "1SR"], plain_of: Some(Serializability),
        implies: &[PlainSnapshotIsolation, PlainUpdateSerializability, PlainRepeatableRead], order: CountedOrder::Plain, engine: Engine::Strong(Moments::One),
        gloss: "as SER, but session order is ignored",
        promise: "the transactions ran as if one after the other; session order is ignored", ..ROW },
    LevelRow { level: Serializability, code: "SER", long_name: "serializability", elle: &["strong-session-serializable", "session-serializable", "sequential"],
        implies: &[SnapshotIsolation, RepeatableRead, PlainSerializability], order: CountedOrder::Session, engine: Engine::Strong(Moments::One), turn: Some(3), usual: true,
        gloss: "as if the transactions ran one after the other, those of a session in their own order",
        promise: "the transactions ran as if one after the other, and those of each session in their own order", ..ROW },
    LevelRow { level: PerKeySerializability, code: "K-SER", long_name: "per-key-serializability", plain_of: Some(PerKeySerializability),
        implies: &[PerKeySnapshotIsolation, PlainSerializability], order: CountedOrder::KeyRealTime, engine: Engine::Strong(Moments::One),
        gloss: "P-SER, and in addition what ended before a transaction began counts as seen by it if they have a key in common",
        promise: "the transactions ran as if one after the other; what ended before a transaction began counts as seen by it if they have a key in common; session order is ignored", ..ROW },
    LevelRow { level: StrictSerializability, code: "SSER", long_name: "strict-serializability", elle: &["strict-serializable", "PL-SS", "strong-serializable"],
        implies: &[StrongSnapshotIsolation, StrongRepeatableRead, Serializability, PerKeySerializability], order: CountedOrder::RealTime, engine: Engine::Strong(Moments::One), usual: true,
        gloss: "as if the transactions ran one after the other, in an order that agrees with real time",
        promise: "the transactions ran as if one after the other, in an order that agrees with real time and with sessions", ..ROW },
    LevelRow { level: Linearizability, code: "LIN", long_name: "linearizability", elle: &["linearizable"],
        implies: &[StrictSerializability], order: CountedOrder::RealTime, engine: Engine::Linear, usual: true,
        gloss: "each operation took effect at one moment while it ran",
        promise: "each operation took effect at one moment between its start and its end", ..ROW },
];
