//! Anomaly patterns: one row each, with their established names.

use super::Level;
use std::fmt;

/// A class of violations. The fourteen TAPs are those of Plume, Table 1. Patterns are ordered as in the table, and so are
/// lists of violations; nothing else depends on that order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    /// TAP-a.
    ThinAirRead,
    /// TAP-b.
    AbortedRead,
    /// TAP-c.
    FutureRead,
    /// TAP-d.
    NotMyOwnWrite,
    /// TAP-e.
    NotMyLastWrite,
    /// TAP-f.
    IntermediateRead,
    /// Lists of one key that no order of appends explains.
    IncompatibleOrder,
    /// A list that contains an element twice.
    DuplicateElement,
    /// TAP-g.
    CyclicCO,
    /// The version order that lists show is cyclic, with session order and write-read or alone.
    VersionOrderCycle,
    /// Committed transactions overwrote each other's versions crosswise, or against the order of sessions or time.
    WriteCycle,
    /// TAP-h.
    NonMonoReadCO,
    /// TAP-i.
    NonMonoReadCM,
    /// TAP-j.
    NonRepeatableRead,
    /// TAP-k.
    FracturedReadCO,
    /// TAP-l.
    FracturedReadCM,
    /// TAP-m.
    COConflictCM,
    /// TAP-n.
    ConflictCM,
    /// A session did not see its own write.
    RYWCycle,
    /// The reads of a session went back.
    MRCycle,
    /// The writes of a session were seen out of order.
    MWCycle,
    /// A write was seen without what its session had read before.
    WFRCycle,
    /// What breaks PRAM and shows none of the guarantees that it consists of broken.
    PRAMCycle,
    /// Two transactions read one version of a key and both write the key (MTC, Def. 10).
    Divergence,
    /// An update of a key overwrites a version it did not read (Divergence, or a certain third writer in between).
    LostUpdate,
    /// Two readers observe two writes in opposite orders.
    LongFork,
    /// Orders of versions of which each has an update of a version other than the one before it.
    CSCycle,
    /// A cycle with a single anti-dependency, of a read that comes after what leads back to its transaction.
    MVCycle,
    /// A cycle that snapshots of single reads forbid, which grow from read to read.
    MSRCycle,
    /// A single anti-dependency against a single dependency.
    UACycle,
    /// A cycle with a single anti-dependency that needs the order of versions.
    PSICycle,
    /// Dependencies between transactions that write, and one that only reads at most, form a cycle.
    UpdateCycle,
    /// Two transactions each read what the other overwrites.
    WriteSkew,
    /// Any other cycle that snapshot isolation forbids.
    SICycle,
    /// A cycle that only serializability forbids.
    SERCycle,
    /// A cycle that needs real time: a serial order exists, but none that respects when transactions ran.
    RealTimeCycle,
    /// Operations on one key that no order explains that respects real time: failed compare-and-sets, or repeated values.
    NoLinearOrder,
}

/// Everything constant about a pattern.
#[derive(Clone, Copy, Debug)]
pub struct PatternRow {
    /// The pattern.
    pub pattern: Pattern,
    /// Where an instance shows.
    pub shows: Shows,
    /// Whether it occurs only in histories whose keys hold lists.
    pub of_lists: bool,
    /// Id in reports: `TAP-m`, `LostUpdate`.
    pub id: &'static str,
    /// Plain name in reports: `COConflictCM`.
    pub name: &'static str,
    /// Title for people: "Causality violation".
    pub title: &'static str,
    /// What happened, in one plain sentence without a full stop.
    pub meaning: &'static str,
    /// Adya's or Jepsen's name, where one exists.
    pub adya: Option<&'static str>,
    /// The weakest level that forbids it (weakest above CI for all but TAP-j).
    pub level: Level,
    /// Where it is defined.
    pub source: &'static str,
}

/// Where an instance of a pattern shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// In single reads, which violate every level above CI by themselves.
    WrongRead,
    /// In several reads of one transaction.
    Reads,
    /// In causal order, or in the commit orders of the weak levels.
    CausalOrder,
    /// In the orders of the strong levels, or of operations.
    Order,
}

use Level::{
    CursorStability as CS, CutIsolation as CI, Linearizability as LIN, MonotonicReads as MR,
    MonotonicSnapshotReads as MSR, MonotonicView as MV, MonotonicWrites as MW,
    ParallelSnapshotIsolation as PSI, PlainUpdateSerializability as PL3U, Pram as PRAM,
    PrefixConsistency as PC, ReadAtomic as RA, ReadCommitted as RC, ReadUncommitted as PL1,
    ReadYourWrites as RYW, Serializability as SER, SnapshotIsolation as SI,
    StrictSerializability as SSER, TransactionalCausalConsistency as TCC, UpdateAtomic as UA,
    WritesFollowReads as WFR,
};
use Pattern::*;

#[rustfmt::skip]
const ROWS: [PatternRow; 37] = [
    PatternRow { pattern: ThinAirRead, shows: Shows::WrongRead, of_lists: false, id: "TAP-a", name: "ThinAirRead", title: "Thin-air read", meaning: "a value was read that no transaction of the history wrote", adya: None, level: RC, source: "Plume, Table 1" },
    PatternRow { pattern: AbortedRead, shows: Shows::WrongRead, of_lists: false, id: "TAP-b", name: "AbortedRead", title: "Aborted read", meaning: "a value was read that only an aborted transaction wrote", adya: Some("G1a"), level: RC, source: "Plume, Table 1" },
    PatternRow { pattern: FutureRead, shows: Shows::WrongRead, of_lists: false, id: "TAP-c", name: "FutureRead", title: "Future read", meaning: "a transaction read a value that it wrote itself only later", adya: None, level: RC, source: "Plume, Table 1" },
    PatternRow { pattern: NotMyOwnWrite, shows: Shows::WrongRead, of_lists: false, id: "TAP-d", name: "NotMyOwnWrite", title: "Not my own write", meaning: "after its own write to the key, a transaction read another transaction's version", adya: Some("internal"), level: RC, source: "Plume, Table 1" },
    PatternRow { pattern: NotMyLastWrite, shows: Shows::WrongRead, of_lists: false, id: "TAP-e", name: "NotMyLastWrite", title: "Not my last write", meaning: "a transaction read an own write that it had itself overwritten", adya: Some("internal"), level: RC, source: "Plume, Table 1" },
    PatternRow { pattern: IntermediateRead, shows: Shows::WrongRead, of_lists: false, id: "TAP-f", name: "IntermediateRead", title: "Intermediate read", meaning: "a value was read that its writer had overwritten before it committed", adya: Some("G1b"), level: RC, source: "Plume, Table 1" },
    PatternRow { pattern: IncompatibleOrder, shows: Shows::WrongRead, of_lists: true, id: "IncompatibleOrder", name: "IncompatibleOrder", title: "Incompatible order", meaning: "lists that were read of one key cannot come from one order of appends", adya: Some("incompatible-order"), level: RC, source: "Elle, list-append" },
    PatternRow { pattern: DuplicateElement, shows: Shows::WrongRead, of_lists: true, id: "DuplicateElement", name: "DuplicateElement", title: "Duplicate element", meaning: "a list was read that contains an element more often than it was appended", adya: Some("duplicate-elements"), level: RC, source: "Elle, list-append" },
    PatternRow { pattern: CyclicCO, shows: Shows::CausalOrder, of_lists: false, id: "TAP-g", name: "CyclicCO", title: "Cyclic causal order", meaning: "session order and write-read edges form a cycle", adya: Some("G1c"), level: RC, source: "Plume, Table 1" },
    PatternRow { pattern: VersionOrderCycle, shows: Shows::CausalOrder, of_lists: true, id: "VersionOrderCycle", name: "VersionOrderCycle", title: "Version-order cycle", meaning: "the order of versions that lists show, session order and write-read edges form a cycle", adya: Some("G0, G1c"), level: RC, source: "Adya, PL-1 and PL-2; Elle, list-append" },
    PatternRow { pattern: WriteCycle, shows: Shows::Order, of_lists: true, id: "WriteCycle", name: "WriteCycle", title: "Write cycle", meaning: "lists show that transactions overwrote each other's versions in a cycle, or against the order that counts", adya: Some("G0"), level: PL1, source: "Adya, PL-1" },
    PatternRow { pattern: NonMonoReadCO, shows: Shows::CausalOrder, of_lists: false, id: "TAP-h", name: "NonMonoReadCO", title: "Non-monotonic read", meaning: "after reading from a transaction, a version was read that causally precedes what that transaction wrote", adya: Some("G-monotonic"), level: RC, source: "Plume, Table 1" },
    PatternRow { pattern: NonMonoReadCM, shows: Shows::CausalOrder, of_lists: false, id: "TAP-i", name: "NonMonoReadCM", title: "Non-monotonic read (commit order)", meaning: "after reading from a transaction, a version was read that every commit order puts before what that transaction wrote", adya: None, level: RC, source: "Plume, Table 1" },
    PatternRow { pattern: NonRepeatableRead, shows: Shows::Reads, of_lists: false, id: "TAP-j", name: "NonRepeatableRead", title: "Non-repeatable read", meaning: "two reads of a key in one transaction returned versions of different transactions", adya: Some("P2 fuzzy read"), level: CI, source: "Plume, Table 1" },
    PatternRow { pattern: FracturedReadCO, shows: Shows::CausalOrder, of_lists: false, id: "TAP-k", name: "FracturedReadCO", title: "Fractured read", meaning: "a transaction was read from, or ran earlier in the session, yet a key was read in a version causally older than that transaction's", adya: Some("G-single"), level: RA, source: "Plume, Table 1 and Algorithm 1" },
    PatternRow { pattern: FracturedReadCM, shows: Shows::CausalOrder, of_lists: false, id: "TAP-l", name: "FracturedReadCM", title: "Fractured read (commit order)", meaning: "a transaction was read from, or ran earlier in the session, yet a key was read in a version that every commit order puts before that transaction's", adya: None, level: RA, source: "Plume, Table 1 and Algorithm 1" },
    PatternRow { pattern: COConflictCM, shows: Shows::CausalOrder, of_lists: false, id: "TAP-m", name: "COConflictCM", title: "Causality violation", meaning: "a version was read although a causally newer one was already visible", adya: Some("G-single"), level: TCC, source: "Plume, Table 1" },
    PatternRow { pattern: ConflictCM, shows: Shows::CausalOrder, of_lists: false, id: "TAP-n", name: "ConflictCM", title: "Version-order conflict", meaning: "causally visible writes force two versions to be each older than the other", adya: None, level: TCC, source: "Plume, Table 1" },
    PatternRow { pattern: RYWCycle, shows: Shows::Order, of_lists: false, id: "RYWCycle", name: "RYWCycle", title: "Own write not seen", meaning: "a transaction missed a version that an earlier one of its session wrote", adya: None, level: RYW, source: "Terry et al. 1994, read your writes" },
    PatternRow { pattern: MRCycle, shows: Shows::Order, of_lists: false, id: "MRCycle", name: "MRCycle", title: "Reads went back", meaning: "a transaction missed a version of a transaction that an earlier one of its session had read from", adya: None, level: MR, source: "Terry et al. 1994, monotonic reads" },
    PatternRow { pattern: MWCycle, shows: Shows::Order, of_lists: false, id: "MWCycle", name: "MWCycle", title: "Writes seen out of order", meaning: "a transaction read from another one and missed a version that an earlier one of the other's session wrote", adya: None, level: MW, source: "Terry et al. 1994, monotonic writes" },
    PatternRow { pattern: WFRCycle, shows: Shows::Order, of_lists: false, id: "WFRCycle", name: "WFRCycle", title: "Write seen without what it followed", meaning: "a transaction read from another one and missed a version that the other's session had read before", adya: None, level: WFR, source: "Terry et al. 1994, writes follow reads" },
    PatternRow { pattern: PRAMCycle, shows: Shows::Order, of_lists: false, id: "PRAMCycle", name: "PRAMCycle", title: "Session missed what came before its reads", meaning: "a transaction missed an earlier write of a session whose later write its own session had read", adya: None, level: PRAM, source: "Lipton & Sandberg 1988; Brzeziński, Sobaniec & Wawrzyniak 2004" },
    PatternRow { pattern: Divergence, shows: Shows::Order, of_lists: false, id: "Divergence", name: "Divergence", title: "Divergence", meaning: "two transactions read the same version of a key and both overwrote it", adya: Some("lost update, P4"), level: SI, source: "MTC, Def. 10" },
    PatternRow { pattern: LostUpdate, shows: Shows::Order, of_lists: false, id: "LostUpdate", name: "LostUpdate", title: "Lost update", meaning: "an update overwrote a version that it had not read, so one of two updates is lost", adya: Some("P4, G-single"), level: SI, source: "MTC, Table I; Cerone & Gotsman, Fig. 2" },
    PatternRow { pattern: LongFork, shows: Shows::Order, of_lists: false, id: "LongFork", name: "LongFork", title: "Long fork", meaning: "two readers saw two independent writes in opposite orders", adya: Some("G-nonadjacent"), level: PC, source: "MTC, Table I; Cerone & Gotsman, Fig. 2" },
    PatternRow { pattern: CSCycle, shows: Shows::Order, of_lists: false, id: "CSCycle", name: "CSCycle", title: "Cursor cycle", meaning: "whatever the order of the versions, some update overwrites a version that it had not read", adya: Some("G-cursor"), level: CS, source: "Adya 1999, PL-CS" },
    PatternRow { pattern: MVCycle, shows: Shows::Order, of_lists: false, id: "MVCycle", name: "MVCycle", title: "View that went back", meaning: "a read missed a version of a transaction on which its own transaction depended by then", adya: Some("G-monotonic"), level: MV, source: "Adya 1999, PL-2L" },
    PatternRow { pattern: MSRCycle, shows: Shows::Order, of_lists: false, id: "MSRCycle", name: "MSRCycle", title: "Snapshots that went back", meaning: "no order of commits has snapshots for all reads that grow from read to read", adya: None, level: MSR, source: "Adya 1999, PL-MSR" },
    PatternRow { pattern: UACycle, shows: Shows::Order, of_lists: false, id: "UACycle", name: "UACycle", title: "Fractured update", meaning: "a transaction missed a version of another one although it overwrote, or read, a version of the same one", adya: Some("G-single"), level: UA, source: "Cerone, Bernardi & Gotsman 2015" },
    PatternRow { pattern: PSICycle, shows: Shows::Order, of_lists: false, id: "PSICycle", name: "PSICycle", title: "Parallel snapshot cycle", meaning: "a transaction depends, by reads and overwritten versions, on one whose version it missed", adya: Some("G-single"), level: PSI, source: "Adya 1999, PL-2+; Cerone, Bernardi & Gotsman 2015" },
    PatternRow { pattern: UpdateCycle, shows: Shows::Order, of_lists: false, id: "UpdateCycle", name: "UpdateCycle", title: "Update cycle", meaning: "dependencies between transactions that write, and at most one that only reads, form a cycle", adya: Some("G-update"), level: PL3U, source: "Adya 1999, PL-3U" },
    PatternRow { pattern: WriteSkew, shows: Shows::Order, of_lists: false, id: "WriteSkew", name: "WriteSkew", title: "Write skew", meaning: "two transactions each read a version that the other overwrote", adya: Some("A5B, G2-item"), level: SER, source: "MTC, Table I; Cerone & Gotsman, Fig. 2" },
    PatternRow { pattern: SICycle, shows: Shows::Order, of_lists: false, id: "SICycle", name: "SICycle", title: "Snapshot cycle", meaning: "dependencies form a cycle without two adjacent anti-dependencies", adya: Some("G-SI"), level: PC, source: "PolySI, Thm 6" },
    PatternRow { pattern: SERCycle, shows: Shows::Order, of_lists: false, id: "SERCycle", name: "SERCycle", title: "Serialization cycle", meaning: "dependencies form a cycle, so no serial order exists", adya: Some("G2-item"), level: SER, source: "Adya, PL-3" },
    PatternRow { pattern: RealTimeCycle, shows: Shows::Order, of_lists: false, id: "RealTimeCycle", name: "RealTimeCycle", title: "Real-time cycle", meaning: "a transaction does not see what had ended before it began, or sees effects in an order that contradicts real time", adya: None, level: SSER, source: "MTC, Def. 4" },
    PatternRow { pattern: NoLinearOrder, shows: Shows::Order, of_lists: false, id: "NoLinearOrder", name: "NoLinearOrder", title: "No linear order", meaning: "no order of some operations respects real time and session order and explains what each of them saw", adya: None, level: LIN, source: "Herlihy & Wing 1990; MTC, Def. 7" },
];

impl Pattern {
    /// All patterns, in the order of lists.
    pub fn all() -> impl Iterator<Item = Pattern> {
        ROWS.iter().map(|row| row.pattern)
    }

    /// Its row in the table.
    pub fn row(self) -> &'static PatternRow {
        &ROWS[self as usize]
    }

    /// Id in reports: `TAP-m`, `LostUpdate`.
    pub fn id(self) -> &'static str {
        self.row().id
    }

    /// Whether an instance shows in single reads and violates every level above CI by itself.
    pub fn is_wrong_read(self) -> bool {
        self.row().shows == Shows::WrongRead
    }

    /// Whether an instance is visible in the reads of one transaction.
    pub fn is_of_reads(self) -> bool {
        matches!(self.row().shows, Shows::WrongRead | Shows::Reads)
    }

    /// Whether a cycle of this pattern has its name by the weakest level that it violates.
    pub fn is_named_by_level(self) -> bool {
        let of_sessions = matches!(self, RYWCycle | MRCycle | MWCycle | WFRCycle | PRAMCycle);
        let has_own_name = matches!(self, WriteCycle | Divergence | NoLinearOrder);
        self.row().shows == Shows::Order && !of_sessions && !has_own_name
    }

    /// Whether an instance is visible in causal order or in the commit orders of the weak levels.
    pub fn is_weak(self) -> bool {
        self.row().shows == Shows::CausalOrder
    }

    /// Whether it occurs only in histories whose keys hold lists.
    pub fn is_of_lists(self) -> bool {
        self.row().of_lists
    }

    /// Plume's letter, for the fourteen TAPs.
    pub fn letter(self) -> Option<char> {
        self.id()
            .strip_prefix("TAP-")
            .and_then(|letter| letter.chars().next())
    }

    /// The pattern with this id or plain name, any case.
    pub fn parse(text: &str) -> Option<Pattern> {
        let row = ROWS
            .iter()
            .find(|row| row.id.eq_ignore_ascii_case(text) || row.name.eq_ignore_ascii_case(text));
        row.map(|row| row.pattern)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_variants() {
        for (place, pattern) in Pattern::all().enumerate() {
            assert_eq!(pattern as usize, place, "{pattern}");
            assert_eq!(Pattern::parse(pattern.id()), Some(pattern));
            assert_eq!(Pattern::parse(pattern.row().name), Some(pattern));
        }
    }
}
