//! The axioms and definitions that arguments rest on, as formulas with their sources.
//!
//! All are stated for committed transactions; `so` is session order, `wr` write-read, `co` the commit order, `t writes
//! x` that t leaves a version of x behind. The wording is ours, the formulas are those of the papers.

use super::Step;
use isoscope_check::checkers::{Level, Pattern, Respected, WitnessKind};
use isoscope_model::relations::{Axiom, Edge, Guarantee, Reason, Relation};

/// An axiom or a definition, and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quotation {
    /// "Read Atomic".
    pub name: &'static str,
    /// The formula.
    pub formula: &'static str,
    /// What it says in words: a clause without a full stop.
    pub words: &'static str,
    /// The paper and the place in it.
    pub source: &'static str,
}

impl Quotation {
    /// The axiom in one line: "Read Atomic: for all … (formula; source)".
    pub fn text(&self) -> String {
        format!(
            "{}: {} [{}; {}]",
            self.name, self.words, self.formula, self.source
        )
    }
}

const READ_COMMITTED: Quotation = Quotation {
    name: "Read Committed",
    formula: "∀x, t1 ≠ t2, r: (t1, r) ∈ wr(x) ∧ t2 writes x ∧ (t2, r) ∈ wr ∘ po ⇒ (t2, t1) ∈ co",
    words: "if a read of x returns t1's version and its transaction had read something from t2 before, and t2 writes x, \
            then t2 commits before t1",
    source: "Biswas & Enea 2019, Fig. 2a",
};

const READ_ATOMIC: Quotation = Quotation {
    name: "Read Atomic",
    formula: "∀x, t1 ≠ t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ so ∪ wr ⇒ (t2, t1) ∈ co",
    words: "if t3 reads x from t1, and t2, which t3 reads from or which precedes t3 in its session, writes x, then t2 \
            commits before t1",
    source: "Biswas & Enea 2019, Fig. 2b; Plume, Def. 5",
};

const CAUSAL: Quotation = Quotation {
    name: "Causal",
    formula: "∀x, t1 ≠ t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ (so ∪ wr)⁺ ⇒ (t2, t1) ∈ co",
    words: "if t3 reads x from t1, and t2, from which a path of session order and reads leads to t3, writes x, then t2 \
            commits before t1",
    source: "Biswas & Enea 2019, Fig. 2c; Plume, Def. 6",
};

const PREFIX: Quotation = Quotation {
    name: "Prefix",
    formula: "∀x, t1 ≠ t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ co* ∘ (so ∪ wr) ⇒ (t2, t1) ∈ co",
    words: "if t3 reads x from t1, and t2, which writes x, commits no later than some transaction that t3 sees, then t2 \
            commits before t1",
    source: "Biswas & Enea 2019, Fig. 2d",
};

const TRANSITIVE_VISIBILITY: Quotation = Quotation {
    name: "Transitive visibility",
    formula: "∀x, t1 ≠ t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ (so ∪ wr ∪ ww)⁺ ⇒ (t2, t1) ∈ ww(x)",
    words: "if t3 reads x from t1, and t2, on which t3 depends by session order, reads and overwritten versions, writes x, \
            then t2's version is older than t1's",
    source: "Cerone, Bernardi & Gotsman 2015, TransVis and NoConflict; Adya 1999, PL-2+",
};

const READ_YOUR_WRITES: Quotation = Quotation {
    name: "Read your writes",
    formula: "∀x, t1 ≠ t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ so ⇒ (t2, t1) ∈ co",
    words: "if t3 reads x from t1, and t2, earlier in t3's session, writes x, then t2 commits before t1",
    source: "Terry et al. 1994, in the form of Biswas & Enea 2019",
};

const MONOTONIC_READS: Quotation = Quotation {
    name: "Monotonic reads",
    formula: "∀x, t1 ≠ t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ wr ; so ⇒ (t2, t1) ∈ co",
    words: "if t3 reads x from t1, and t2, from which an earlier transaction of t3's session read, writes x, then t2 \
            commits before t1",
    source: "Terry et al. 1994, in the form of Biswas & Enea 2019",
};

const MONOTONIC_WRITES: Quotation = Quotation {
    name: "Monotonic writes",
    formula: "∀x, t1 ≠ t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ so ; wr ⇒ (t2, t1) ∈ co",
    words: "if t3 reads x from t1, and t2, in whose session a later transaction is read by t3, writes x, then t2 commits \
            before t1",
    source: "Terry et al. 1994, in the form of Biswas & Enea 2019",
};

const WRITES_FOLLOW_READS: Quotation = Quotation {
    name: "Writes follow reads",
    formula: "∀x, t1 ≠ t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ (wr ; so?)⁺ ; wr ⇒ (t2, t1) ∈ co",
    words: "if t3 reads x from t1, and t2 writes x and was read, perhaps through others, by a transaction from which t3 \
            reads or by its session before, then t2 commits before t1",
    source: "Terry et al. 1994, in the form of Biswas & Enea 2019",
};

const PIPELINED: Quotation = Quotation {
    name: "PRAM",
    formula: "∀x, t1 ≠ t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ so ; wr ; so ⇒ (t2, t1) ∈ co",
    words: "if t3 reads x from t1, and t2, in whose session a later transaction was read by an earlier one of t3's session, \
            writes x, then t2 commits before t1",
    source: "Lipton & Sandberg 1988, in the form of Biswas & Enea 2019",
};

const CONFLICT: Quotation = Quotation {
    name: "Conflict",
    formula: "∀x, y, t1 ≠ t2, t3, t4: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ t3 writes y ∧ t4 writes y ∧ (t2, t4) ∈ co* ∧ \
              (t4, t3) ∈ co ⇒ (t2, t1) ∈ co",
    words: "of two transactions that write a key the later one must have seen the earlier one and all that committed \
            before it (first committer wins)",
    source: "Biswas & Enea 2019, Fig. 2e; NoConflict in Cerone & Gotsman 2018",
};

const SERIALIZABILITY: Quotation = Quotation {
    name: "Serializability",
    formula: "∀x, t1 ≠ t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ co ⇒ (t2, t1) ∈ co",
    words: "if t3 reads x from t1, and t2, which commits before t3, writes x, then t2 commits before t1: a transaction \
            reads the last version committed before it",
    source: "Biswas & Enea 2019, Fig. 2f",
};

const SESSION_ORDER: Quotation = Quotation {
    name: "Session order",
    formula: "(t1, t2) ∈ so ⇔ t1 and t2 are of one session, t1 earlier; (t0, t) ∈ so for every t, where t0 wrote the initial values; so ⊆ co",
    words: "what one client did one after the other is committed in that order, and after the initial state",
    source: "Biswas & Enea 2019, Def. 2.2",
};

const WRITE_READ: Quotation = Quotation {
    name: "Write-read",
    formula: "(t1, t2) ∈ wr(x) ⇔ t2 reads a value of x that t1 wrote; wr ⊆ co",
    words: "a transaction that reads a version commits after the one that wrote it",
    source: "Biswas & Enea 2019, Def. 2.1 and 2.2",
};

const ANTI_DEPENDENCY: Quotation = Quotation {
    name: "Anti-dependency",
    formula: "(t3, t2) ∈ rw(x) ⇔ t3 ≠ t2 ∧ ∃t1: (t1, t3) ∈ wr(x) ∧ (t1, t2) ∈ ww(x)",
    words: "a transaction that reads a version of x that t2 overwrites does not see t2",
    source: "Adya 1999, section 4.2; Cerone & Gotsman 2018, Def. 5",
};

const VERSION_ORDER: Quotation = Quotation {
    name: "Version order",
    formula: "for every x, ww(x) is a strict total order of the transactions that write x; ww ⊆ co",
    words: "the versions of a key follow one after the other, and a transaction that reads and overwrites a version comes \
            after it",
    source: "Adya 1999, section 4.1; Cerone & Gotsman 2018, Def. 5",
};

const REAL_TIME: Quotation = Quotation {
    name: "Real time",
    formula: "(t1, t2) ∈ rt ⇔ t1 ended before t2 began; rt ⊆ co",
    words: "what had ended before another began is committed before it",
    source: "Herlihy & Wing 1990; MTC, Def. 4",
};

const COMMIT_ORDER: Quotation = Quotation {
    name: "Commit order",
    formula: "so ∪ wr ⊆ co, and co is a strict total order: (t, t) ∉ co",
    words: "there is one order in which all transactions commit, it contains session order and write-read, and nothing \
            comes before itself",
    source: "Biswas & Enea 2019, Def. 2.2",
};

const PREFIX_CYCLES: Quotation = Quotation {
    name: "Prefix consistency by starts and commits",
    formula: "some order < of starts S and commits C has S(t) < C(t); C(t1) < S(t2) for so ∪ wr; C(t1) < C(t2) for some \
              choice of ww; S(t1) < C(t2) for rw",
    words: "every transaction reads what had been committed when it started, so dependencies without two \
            anti-dependencies in a row never form a cycle",
    source: "follows from Biswas & Enea 2019, Fig. 2d",
};

const GROWING_SNAPSHOTS: Quotation = Quotation {
    name: "Growing snapshots",
    formula: "∀x, t1 ≠ t2, t3: t3 reads x from t1 at r ∧ t2 writes x ∧ C(t2) < r ⇒ (t2, t1) ∈ co",
    words: "if t3 reads x from t1, and t2, which had committed by then, writes x, then t2 commits before t1: a read returns the \
            last version committed before it",
    source: "Adya 1999, PL-MSR",
};

const EACH_READ_CYCLES: Quotation = Quotation {
    name: "Monotonic snapshot reads by reads and commits",
    formula: "some order < of reads r and commits C has the reads of t in their order, all before C(t); C(t1) < r for so ∪ wr; \
              C(t1) < C(t2) for some choice of ww; r < C(t2) for rw",
    words: "every read returns what had been committed by then, so dependencies form no cycle without two anti-dependencies in a \
            row or one of a read before the one that leads to it",
    source: "Adya 1999, PL-MSR",
};

const PARALLEL_CYCLES: Quotation = Quotation {
    name: "Parallel snapshot isolation by dependencies",
    formula: "some choice of ww makes so ∪ wr ∪ ww acyclic and (so ∪ wr ∪ ww)⁺ ; rw irreflexive",
    words: "every cycle of dependencies has at least two anti-dependencies, for some order of the versions of each key",
    source: "Cerone, Bernardi & Gotsman 2015; Adya 1999, PL-2+",
};

const PROTECTED_UPDATES: Quotation = Quotation {
    name: "No lost updates",
    formula: "∀x, t1 ≠ t2, t3: (t1, t3) ∈ wr(x) ∧ (t2, t3) ∈ ww(x) ⇒ (t2, t1) ∈ ww(x)",
    words: "if t3 reads x from t1 and then overwrites it, a version of x by t2 that is older than t3's is older than t1's, too",
    source: "Adya 1999, PL-CS, where every read of a key that its transaction writes holds a cursor",
};

const UPDATE_CYCLES: Quotation = Quotation {
    name: "Cursor stability by dependencies",
    formula: "some choice of ww makes so ∪ wr ∪ ww acyclic and ww(x) ; rw(x) irreflexive for every x",
    words: "dependencies without anti-dependencies form no cycle, and no transaction overwrites a key of which it missed a \
            version, for some order of the versions of each key",
    source: "Adya 1999, PL-CS",
};

const VIEW_SO_FAR: Quotation = Quotation {
    name: "Monotonic view",
    formula: "∀x, t1 ≠ t2, t3: (t1, t3) ∈ wr(x) by a read r ∧ t2 writes x ∧ (t2, t3) ∈ (so ∪ wr ∪ ww)⁺, the last edge of \
              which is there before r ⇒ (t2, t1) ∈ ww(x)",
    words: "if t3 reads x from t1, and t2, on which t3 depends by what it did until then, writes x, then t2's version is older",
    source: "Adya 1999, PL-2L",
};

const VIEW_CYCLES: Quotation = Quotation {
    name: "Monotonic view by dependencies",
    formula: "some choice of ww makes so ∪ wr ∪ ww acyclic, and no cycle has one rw, of a read that comes after what leads back \
              to its transaction",
    words: "no read misses a version of a transaction on which its own depends by what it did until then, for some order of the \
            versions of each key",
    source: "Adya 1999, PL-2L: no G-monotonic",
};

const DIRECT_VISIBILITY: Quotation = Quotation {
    name: "Update atomicity",
    formula: "∀x, t1 ≠ t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ so ∪ wr ∪ ww ⇒ (t2, t1) ∈ ww(x)",
    words: "if t3 reads x from t1, and t2, which t3 reads from, overwrites or follows in its session, writes x, then t2's version \
            is older",
    source: "Cerone, Bernardi & Gotsman 2015: Ext, NoConflict",
};

const DIRECT_CYCLES: Quotation = Quotation {
    name: "Update atomicity by dependencies",
    formula: "some choice of ww makes so ∪ wr ∪ ww acyclic and (so ∪ wr ∪ ww) ; rw irreflexive",
    words: "no transaction misses a version of one that it reads from, overwrites or follows in its session, for some order of the \
            versions of each key",
    source: "Cerone, Bernardi & Gotsman 2015",
};

const SNAPSHOT_CYCLES: Quotation = Quotation {
    name: "Snapshot isolation by dependencies",
    formula: "some choice of ww makes ((so ∪ wr ∪ ww) ; rw?) acyclic",
    words: "every cycle of dependencies has two anti-dependencies in a row, for some order of the versions of each key",
    source: "Cerone & Gotsman 2018, Theorem 10; PolySI, Theorem 6",
};

const UPDATES_IN_ORDER: Quotation = Quotation {
    name: "Serial updates",
    formula: "∀x, t1 ≠ t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ (wr ∪ ww ∪ rw of those that write)⁺ ⇒ (t2, t1) ∈ ww(x)",
    words: "if t3 reads x from t1, and t2, which comes before t3 by dependencies between transactions that write, writes x, then \
            t2's version is older than t1's",
    source: "Adya 1999, PL-3U",
};

const CYCLES_OF_UPDATES: Quotation = Quotation {
    name: "Update serializability by dependencies",
    formula: "some choice of ww makes wr ∪ ww ∪ rw acyclic on the transactions that write, and on these and any other one",
    words: "dependencies between transactions that write, and one that only reads at most, form no cycle, for some order of the \
            versions of each key",
    source: "Adya 1999, PL-3U",
};

const SERIAL_CYCLES: Quotation = Quotation {
    name: "Serializability by dependencies",
    formula: "some choice of ww makes so ∪ wr ∪ ww ∪ rw acyclic",
    words: "dependencies form no cycle, for some order of the versions of each key",
    source: "Adya 1999, section 5.3; Cerone & Gotsman 2018, Theorem 8",
};

const ITEM_CYCLES: Quotation = Quotation {
    name: "Repeatable read by dependencies",
    formula: "some choice of ww makes so ∪ wr ∪ ww ∪ rw of items acyclic",
    words: "dependencies form no cycle, for some order of the versions of each key, where a row that a scan did not return may \
            change",
    source: "Adya 1999, PL-2.99",
};

/// The axiom by which visibility orders versions.
pub(super) fn of_axiom(axiom: Axiom, level: Level) -> Quotation {
    match axiom {
        Axiom::ReadCommitted => READ_COMMITTED,
        Axiom::ReadAtomic => READ_ATOMIC,
        Axiom::Causal => CAUSAL,
        Axiom::Session(Guarantee::ReadYourWrites) => READ_YOUR_WRITES,
        Axiom::Session(Guarantee::MonotonicReads) => MONOTONIC_READS,
        Axiom::Session(Guarantee::MonotonicWrites) => MONOTONIC_WRITES,
        Axiom::Session(Guarantee::WritesFollowReads) => WRITES_FOLLOW_READS,
        Axiom::Session(Guarantee::Pram) => PIPELINED,
        Axiom::CommitOrder => match level.respected() {
            Some(respected) => of_respected(respected)[0],
            None if level.is_serial() => SERIALIZABILITY,
            None if level.is_of_each_read() => GROWING_SNAPSHOTS,
            None => PREFIX,
        },
    }
}

/// What a level of dependencies says of versions, and of cycles.
fn of_respected(respected: Respected) -> [Quotation; 2] {
    match respected {
        Respected::OfUpdates => [PROTECTED_UPDATES, UPDATE_CYCLES],
        Respected::SoFar => [VIEW_SO_FAR, VIEW_CYCLES],
        Respected::Direct => [DIRECT_VISIBILITY, DIRECT_CYCLES],
        Respected::All => [TRANSITIVE_VISIBILITY, PARALLEL_CYCLES],
        Respected::Serial => [UPDATES_IN_ORDER, CYCLES_OF_UPDATES],
        Respected::Seen(axiom) => [
            of_axiom(axiom, Level::TransactionalCausalConsistency),
            COMMIT_ORDER,
        ],
        Respected::Nothing => [COMMIT_ORDER, COMMIT_ORDER],
    }
}

/// What an edge of an argument about `level` rests on.
pub(super) fn of_edge(edge: &Edge, level: Level) -> Quotation {
    match &edge.because {
        Reason::SessionOrder if edge.relation == Relation::RealTime => REAL_TIME,
        Reason::SessionOrder => SESSION_ORDER,
        Reason::Reads => WRITE_READ,
        Reason::Visible { axiom, .. } => of_axiom(*axiom, level),
        Reason::Overwrites { .. } => ANTI_DEPENDENCY,
        Reason::Conflict { .. } if level.is_of_dependencies() => VERSION_ORDER,
        Reason::Conflict { .. } => CONFLICT,
        Reason::ReadModifyWrite { .. } | Reason::Listed { .. } | Reason::Assumed => VERSION_ORDER,
    }
}

/// What a contradiction violates: an axiom where edges close a cycle, else the definition of the pattern.
pub(super) fn of_contradiction(step: &Step, pattern: Pattern, level: Level) -> Option<Quotation> {
    if step.edges.is_empty() {
        of_pattern(pattern)
    } else {
        Some(of_cycle(level))
    }
}

/// What a cycle violates at `level`.
pub(super) fn of_cycle(level: Level) -> Quotation {
    match level.witness() {
        WitnessKind::Dependencies => of_respected(level.respected().unwrap_or(Respected::All))[1],
        WitnessKind::GrowingSnapshots => EACH_READ_CYCLES,
        WitnessKind::Snapshots if level.forbids_conflicts() => SNAPSHOT_CYCLES,
        WitnessKind::Snapshots => PREFIX_CYCLES,
        WitnessKind::ItemsInOrder => ITEM_CYCLES,
        WitnessKind::SerialOrder => SERIAL_CYCLES,
        WitnessKind::Reads | WitnessKind::CommitOrder => COMMIT_ORDER,
    }
}

/// The definition of a pattern that shows in single reads or is one of Plume's fourteen; r(x) of t from t' means that t
/// reads x and the value is one that t' wrote.
pub(super) fn of_pattern(pattern: Pattern) -> Option<Quotation> {
    let formula = match pattern {
        Pattern::ThinAirRead => {
            "∃t, x, v: t reads v of x ∧ v ≠ initial ∧ no transaction writes v to x"
        }
        Pattern::AbortedRead => "∃t, t', x, v: t reads v of x ∧ t' writes v to x ∧ t' aborted",
        Pattern::FutureRead => {
            "∃t, x, v: t reads v of x, and only later in program order writes v to x"
        }
        Pattern::NotMyOwnWrite => {
            "∃t, x, v: t writes x, and later reads v of x, which another transaction wrote"
        }
        Pattern::NotMyLastWrite => {
            "∃t, x, v: t writes v to x, then another value, and then reads v of x"
        }
        Pattern::IntermediateRead => {
            "∃t ≠ t', x, v: t reads v of x ∧ t' writes v to x, and then another value"
        }
        Pattern::CyclicCO => "(so ∪ wr)⁺ is cyclic",
        Pattern::NonMonoReadCO => {
            "∃x ≠ y, t1, t2, t3: t3 reads y from t2, then x from t1 ∧ t2 writes x ∧ (t1, t2) ∈ (so ∪ wr)⁺"
        }
        Pattern::NonMonoReadCM => {
            "∃x ≠ y, t1, t2, t3: t3 reads y from t2, then x from t1 ∧ t2 writes x ∧ (t1, t2) ∈ CM"
        }
        Pattern::NonRepeatableRead => {
            "∃t, t1 ≠ t2, x: t reads x from t1 and x from t2 ∧ t ∉ {t1, t2}"
        }
        Pattern::FracturedReadCO => {
            "∃x, t1, t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ so ∪ wr ∧ (t1, t2) ∈ (so ∪ wr)⁺"
        }
        Pattern::FracturedReadCM => {
            "∃x, t1, t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ so ∪ wr ∧ (t1, t2) ∈ CM"
        }
        Pattern::COConflictCM => {
            "∃x, t1, t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ (so ∪ wr)⁺ ∧ (t1, t2) ∈ (so ∪ wr)⁺"
        }
        Pattern::ConflictCM => {
            "∃x, t1, t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ (so ∪ wr)⁺ ∧ (t1, t2) ∈ CM"
        }
        Pattern::Divergence => {
            "∃x, t1, t2 ≠ t3: (t1, t2), (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ t3 writes x"
        }
        Pattern::LostUpdate => {
            "∃x, t1, t2, t3: (t1, t3) ∈ wr(x) ∧ t3 writes x ∧ (t1, t2), (t2, t3) ∈ ww(x)"
        }
        Pattern::WriteSkew => "∃x ≠ y, t1, t2: (t1, t2) ∈ rw(x) ∧ (t2, t1) ∈ rw(y)",
        Pattern::LongFork => {
            "∃x ≠ y, t1…t4: (t1, t3) ∈ wr(x) ∧ (t3, t2) ∈ rw(y) ∧ (t2, t4) ∈ wr(y) ∧ (t4, t1) ∈ rw(x)"
        }
        Pattern::RYWCycle => {
            "∃x, t1, t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ so ∧ (t1, t2) ∈ co"
        }
        Pattern::MRCycle => {
            "∃x, t1, t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ wr ; so ∧ (t1, t2) ∈ co"
        }
        Pattern::MWCycle => {
            "∃x, t1, t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ so ; wr ∧ (t1, t2) ∈ co"
        }
        Pattern::WFRCycle => {
            "∃x, t1, t2, t3: (t1, t3) ∈ wr(x) ∧ t2 writes x ∧ (t2, t3) ∈ (wr ; so?)⁺ ; wr ∧ (t1, t2) ∈ co"
        }
        _ => return None,
    };
    let row = pattern.row();
    Some(Quotation {
        name: row.title,
        formula,
        words: row.meaning,
        source: row.source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_has_a_formula_and_every_quotation_a_source() {
        for pattern in Pattern::all().filter(|pattern| pattern.letter().is_some()) {
            let quotation = of_pattern(pattern).unwrap_or_else(|| panic!("{pattern}"));
            assert!(quotation.text().contains(quotation.formula) && !quotation.source.is_empty());
        }
    }
}
