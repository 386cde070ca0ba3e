//! What a history forces: relations between transactions, each edge with its reason.
//!
//! The relation names `so wr ww rw co cm rt` are defined here, once:
//!
//! | code | relation | t1 → t2 means |
//! |---|---|---|
//! | SO | session order | same session, t1 earlier |
//! | WR | write-read | t2 reads a version that t1 wrote |
//! | WW | write-write (version order) | both write a key, t1's version is older |
//! | RW | anti-dependency | t1 reads a version older than the one t2 wrote |
//! | CO | causal order, (SO ∪ WR)⁺ | t2 may have seen t1 |
//! | CM | inferred commit order | every legal commit order puts t1 first |
//! | RT | real time | t1 ended before t2 began |
//!
//! [`resolve`] finds the source of every read; [`Index`] is the compact form of one history that all engines work on:
//! the reads with their writers, and the writes. This module only draws consequences; it never chooses among
//! possibilities, and it knows nothing about isolation levels beyond the names of their axioms.

mod ahead;
mod appends;
mod by_read;
mod canonical;
mod clock;
mod communication;
mod components;
mod index;
mod index_build;
mod initial_state;
mod items;
mod lists;
mod part;
mod real_time;
mod resolution;
#[cfg(test)]
mod tests;
mod write_read;

pub use appends::{
    appenders, last_write, list_from_outside, value_from_outside, write_that_was_read,
};
pub use clock::Clock;
pub use communication::{Breadth, Communication, ComponentSize};
pub use components::Component;
pub use index::{INITIAL_SLOT, Index, ListOrder, Listed, Moment, NONE, Node, Slot};
pub use initial_state::{AssumedSetUp, assumed_set_up, set_up_transactions};
pub use lists::n_ambiguous_elements;
pub use real_time::{TimeChain, has_real_time};
pub use resolution::{Choice, Glance, MultipleSources, Resolution, Source, Standing, names};
pub use write_read::resolve;

use crate::history::{History, KeyId, OperationId, TransactionId, words};
use std::collections::BTreeSet;

/// Number of pieces for work whose total grows with the number of pieces, at most `most`: one for one thread. For
/// several threads a few more than these, since threads are never equally fast: cores are shared with other processes,
/// and threads that finish first can take over.
pub fn n_pieces(most: usize) -> usize {
    match rayon::current_num_threads() {
        1 => 1,
        threads => (4 * threads).min(most).max(1),
    }
}

words! {
    /// A relation between transactions. See the module documentation for what each means.
    #[derive(PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
    Relation by code {
        /// SO.
        #[serde(rename = "SO")]
        SessionOrder = "SO",
        /// WR.
        #[serde(rename = "WR")]
        WriteRead = "WR",
        /// WW.
        #[serde(rename = "WW")]
        WriteWrite = "WW",
        /// RW.
        #[serde(rename = "RW")]
        AntiDependency = "RW",
        /// CO.
        #[serde(rename = "CO")]
        CausalOrder = "CO",
        /// CM.
        #[serde(rename = "CM")]
        CommitOrder = "CM",
        /// RT.
        #[serde(rename = "RT")]
        RealTime = "RT",
    }
}

/// Compares with its code.
impl PartialEq<&str> for Relation {
    fn eq(&self, code: &&str) -> bool {
        self.code() == *code
    }
}

impl Relation {
    /// Whether it is directly observed in a history: SO, WR, RT. The others are inferred.
    pub fn is_observed(self) -> bool {
        matches!(
            self,
            Relation::SessionOrder | Relation::WriteRead | Relation::RealTime
        )
    }

    /// Name in words, lower case.
    pub fn name(self) -> &'static str {
        match self {
            Relation::SessionOrder => "session order",
            Relation::WriteRead => "write-read",
            Relation::WriteWrite => "version order",
            Relation::AntiDependency => "anti-dependency",
            Relation::CausalOrder => "causal order",
            Relation::CommitOrder => "inferred commit order",
            Relation::RealTime => "real time",
        }
    }

    /// How the first transaction relates to the second, in words for readers who do not know the name.
    pub fn meaning(self) -> &'static str {
        match self {
            Relation::SessionOrder => "ran earlier in the same session",
            Relation::WriteRead => "wrote what the other read",
            Relation::WriteWrite => "wrote the older version",
            Relation::AntiDependency => "read a version older than the one that the other wrote",
            Relation::CausalOrder => {
                "came before the other by sessions and reads, or is the initial state"
            }
            Relation::CommitOrder => "would have to commit before the other",
            Relation::RealTime => "had ended before the other began",
        }
    }
}

/// Position of an edge in the list of edges it belongs to (a violation's).
pub type EdgeIndex = usize;

/// One edge of a scenario. It starts and ends at operations if it is about operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The start; may be [`TransactionId::INITIAL`].
    pub from: TransactionId,
    /// The end; may be [`TransactionId::INITIAL`] only for a commit-order edge that contradicts ⊥ being first.
    pub to: TransactionId,
    /// Its relation.
    pub relation: Relation,
    /// The key it is about; `None` for SO, CO, RT.
    pub key: Option<KeyId>,
    /// The operation of `from` it is about (WR, WW, CM: the write; RW: the read).
    pub from_operation: Option<OperationId>,
    /// The operation of `to` it is about (WR: the read; WW, CM, RW: the write).
    pub to_operation: Option<OperationId>,
    /// Why it is there.
    pub because: Reason,
}

impl Edge {
    /// Session order, between two transactions of a session or from ⊥.
    pub fn session_order(from: TransactionId, to: TransactionId) -> Edge {
        let (relation, because) = (Relation::SessionOrder, Reason::SessionOrder);
        Edge {
            from,
            to,
            relation,
            key: None,
            from_operation: None,
            to_operation: None,
            because,
        }
    }

    /// A read returned what a transaction, or ⊥ without a write, wrote.
    pub fn write_read(
        history: &History,
        writer: TransactionId,
        write: Option<OperationId>,
        read: OperationId,
    ) -> Edge {
        Edge {
            from: writer,
            to: history.transaction_of(read),
            relation: Relation::WriteRead,
            key: Some(history.keys()[read.index()]),
            from_operation: write,
            to_operation: Some(read),
            because: Reason::Reads,
        }
    }
}

/// A transaction, and all that session order and reads among these edges put after it. O(edges²).
pub fn observed_after(edges: &[Edge], first: TransactionId) -> BTreeSet<TransactionId> {
    let is_observed =
        |edge: &&Edge| matches!(edge.relation, Relation::SessionOrder | Relation::WriteRead);
    let observed: Vec<&Edge> = edges.iter().filter(is_observed).collect();
    let mut reached = BTreeSet::from([first]);
    while let Some(edge) = observed
        .iter()
        .find(|e| reached.contains(&e.from) && !reached.contains(&e.to))
    {
        reached.insert(edge.to);
    }
    reached
}

/// The axiom that forces an inferred edge (Biswas & Enea 2019, Fig. 2). In each, t3 reads key x from t1 and t2 also
/// writes x; what differs is how t3 is known to see t2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axiom {
    /// t3 read something from t2 before it read x.
    ReadCommitted,
    /// t2 precedes t3 in one step of SO ∪ WR.
    ReadAtomic,
    /// t2 precedes t3 in (SO ∪ WR)⁺.
    Causal,
    /// t2 precedes t3 in a way that a session guarantee counts.
    Session(Guarantee),
    /// The commit of t2 precedes the start of t3 by edges known so far (PC, SI), or t2 precedes t3 in the commit
    /// order (SER).
    CommitOrder,
}

/// What a session may rely on (Terry et al. 1994; PRAM: Lipton & Sandberg 1988): the paths of SO and WR from t2 to t3 along
/// which t3 must not miss a version of t2. No path is one of two kinds, so a path tells its guarantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guarantee {
    /// SO: t2 precedes t3 in its session.
    ReadYourWrites,
    /// WR ; SO: a transaction before t3 in its session read from t2.
    MonotonicReads,
    /// SO ; WR: t3 reads from a transaction after t2 in t2's session.
    MonotonicWrites,
    /// (WR ; SO?)⁺ ; WR: t3 reads from a transaction before which its session, or which itself, read from t2, or from another
    /// transaction of which the same holds.
    WritesFollowReads,
    /// SO ; WR ; SO: a transaction before t3 in its session read from one after t2 in t2's session. PRAM counts the first
    /// three kinds of paths, too.
    Pram,
}

impl Guarantee {
    /// Whether a level that is named after this guarantee counts the paths of another one.
    pub fn counts(self, other: Guarantee) -> bool {
        self == other || self == Guarantee::Pram && other != Guarantee::WritesFollowReads
    }
}

/// Why an edge is there. Premises are indices of edges in the same list, always smaller than the edge's own index, so
/// reasons are never cyclic. A premise list is a path: each edge ends where the next begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `from` precedes `to` in one session.
    SessionOrder,
    /// `to_operation` returned the value that `from_operation` wrote, or the initial value when `from` is ⊥.
    Reads,
    /// `reader` reads the key from `to`, and `from`, which also writes the key, is visible to `reader`: so `from` is
    /// older than `to`.
    Visible {
        /// How visibility is defined.
        axiom: Axiom,
        /// t3, which read the key from `to`.
        reader: TransactionId,
        /// t3's read of the key.
        read: OperationId,
        /// The path from `from` to `reader`.
        seen: Vec<EdgeIndex>,
    },
    /// `from` (t3) reads the key from `writer` (t1), and `writer` is older than `to` (t2), which also writes the key:
    /// so `from` does not see `to`.
    Overwrites {
        /// t1, whose version `from` reads; may be ⊥.
        writer: TransactionId,
        /// The path from `writer` to `to`; empty when `writer` is ⊥.
        order: Vec<EdgeIndex>,
    },
    /// Both write the key, so by first-committer-wins (the NoConflict axiom of snapshot isolation) they cannot
    /// overlap; `order` shows that `from` started before `to` committed, so `from` committed before `to` started.
    Conflict {
        /// A path from the start of `from` to the commit of `to`.
        order: Vec<EdgeIndex>,
    },
    /// `to` read the version that `from` wrote and wrote the key itself, so its version is the newer one.
    ReadModifyWrite {
        /// The write-read edge.
        read: EdgeIndex,
    },
    /// `reader` read a list in which the element that `from` appended precedes that of `to`, or which lacks that of
    /// `to` although it has that of `from` from outside: so the version of `from` is the older one.
    Listed {
        /// The reader of the list.
        reader: TransactionId,
        /// The read.
        read: OperationId,
    },
    /// One side of a case split, or one of many open orders: either `from` or `to` is first.
    Assumed,
}

impl Reason {
    /// The edges this reason rests on.
    pub fn premises(&self) -> &[EdgeIndex] {
        match self {
            Reason::SessionOrder | Reason::Reads | Reason::Listed { .. } | Reason::Assumed => &[],
            Reason::Visible { seen, .. } => seen,
            Reason::Overwrites { order, .. } | Reason::Conflict { order } => order,
            Reason::ReadModifyWrite { read } => std::slice::from_ref(read),
        }
    }

    /// [`premises`](Reason::premises), to change them.
    pub fn premises_mut(&mut self) -> &mut [EdgeIndex] {
        match self {
            Reason::SessionOrder | Reason::Reads | Reason::Listed { .. } | Reason::Assumed => {
                &mut []
            }
            Reason::Visible { seen, .. } => seen,
            Reason::Overwrites { order, .. } | Reason::Conflict { order } => order,
            Reason::ReadModifyWrite { read } => std::slice::from_mut(read),
        }
    }
}
