//! The compact form of one history that all engines work on.

use super::appends::write_that_was_read;
use super::{Edge, Reason, Relation};
use crate::graph::Rows;
use crate::history::{History, Interval, KeyId, OperationId, TransactionId};
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};

/// A transaction of the index: committed or promoted, dense, by (session, position). The session order successor of
/// node t is t + 1 while the session lasts.
pub type Node = u32;

/// The last write of one key by one node, dense, by (key, node): the versions of a key are a contiguous range, and in
/// it the versions written by one session are a contiguous range in session order.
pub type Slot = u32;

/// In place of a [`Slot`]: the initial version, written by ⊥.
pub const INITIAL_SLOT: Slot = u32::MAX;

/// In place of a [`Node`]: no node (aborted, dropped, or merged into ⊥).
pub const NONE: u32 = u32::MAX;

/// The reads, their writers and the writes of all nodes, as structure of arrays. Ranges are given by `*_begin` arrays
/// with one more entry than items.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// By node: the transaction.
    pub transaction: Vec<TransactionId>,
    /// By transaction: the node, or [`NONE`].
    pub node: Vec<u32>,
    /// By session: its first node (sessions without nodes have an empty range).
    pub session_begin: Vec<u32>,
    /// By node: the session.
    pub session: Vec<u32>,

    /// By key: its id in the history; empty if the numbers are the same.
    pub key_id: Vec<KeyId>,
    /// By key: its first slot.
    pub key_begin: Vec<u32>,
    /// By slot: the node that wrote it.
    pub slot_node: Vec<Node>,
    /// By slot: the key.
    pub slot_key: Vec<u32>,
    /// By slot: the write operation.
    pub slot_operation: Vec<OperationId>,
    /// By node: its first external read. External reads are in program order; reads that return nothing usable (thin
    /// air, aborted, future, overwritten own writes, unrecorded) are left out.
    pub read_begin: Vec<u32>,
    /// By external read: the key.
    pub read_key: Vec<u32>,
    /// By external read: the version returned, or [`INITIAL_SLOT`].
    pub read_slot: Vec<Slot>,
    /// By external read: the node that wrote that version, or [`NONE`] for ⊥.
    pub read_writer: Vec<u32>,
    /// By external read: the operation.
    pub read_operation: Vec<OperationId>,

    /// The scans of the history, ascending; none if there are none.
    pub moments: Arc<[Moment]>,
    /// By transaction with scans: the keys that these were about, as far as keys alone tell.
    pub scanned: Arc<FxHashMap<TransactionId, Box<[KeyId]>>>,

    /// By node: its first entry in `write_*`.
    pub write_begin: Vec<u32>,
    /// Keys a node writes, ascending, each once.
    pub write_key: Vec<u32>,
    /// The slots of those writes.
    pub write_slot: Vec<Slot>,

    /// The orders of versions that reads of lists show.
    pub lists: Vec<ListOrder>,

    /// By node: when it ran, if known; empty if the history has no times. A transaction of unknown outcome may have
    /// committed at any time after its start.
    pub interval: Vec<Option<Interval>>,

    /// By node: the position of its first operation in the file, in a unit of the format; empty if the history was not
    /// read from one file. In many files that is the order in which transactions began or ended.
    pub recorded_at: Vec<u32>,

    /// By node: its place in an order that explains most reads, where one was known before; else empty. Engines begin with
    /// it, which decides nothing.
    pub guess: Vec<u32>,

    /// Reads grouped by the version they return, made on first use.
    pub(crate) readers: OnceLock<Readers>,
}

/// The reads of a scan, as places of operations: they read at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The first.
    pub begin: u32,
    /// The first of those that do not count as reads of an item: rows that were not listed, or only by their keys.
    pub items_end: u32,
    /// One behind the last.
    pub end: u32,
}

/// The order of some versions of a key, as a read shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListOrder {
    /// The reader of the list.
    pub reader: Node,
    /// The read.
    pub read: OperationId,
    /// The key.
    pub key: u32,
    /// The versions in order, oldest first, each once.
    pub versions: Vec<Slot>,
    /// How many versions at the front were in the list before the reader's own appends: all other versions of the key
    /// come after these. 0 if nothing is known about others.
    pub closed: usize,
    /// Versions whose writers may have appended elements of the list, but other transactions may have as well: the list
    /// does not say where these belong. Ascending.
    pub unsure: Vec<Slot>,
}

/// A pair of versions in the order that a list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// The writer of the older version.
    pub older: Node,
    /// The writer of the newer version.
    pub newer: Node,
    /// The key.
    pub key: u32,
    /// The reader of the list.
    pub reader: Node,
    /// The read.
    pub read: OperationId,
}

/// Places in the `read_*` arrays, grouped by the version that they return.
#[derive(Clone, Debug)]
pub(crate) struct Readers {
    of_slot: Rows<u32>,
    of_initial: Rows<u32>,
}

impl Readers {
    /// O(reads + slots + keys).
    fn new(index: &Index) -> Readers {
        let reads = || index.read_key.iter().zip(&index.read_slot).zip(0u32..);
        let is_initial = |slot: u32| slot == INITIAL_SLOT;
        let external = reads()
            .filter(|((_, slot), _)| !is_initial(**slot))
            .map(|((_, &slot), read)| (slot, read));
        let initial = reads()
            .filter(|((_, slot), _)| is_initial(**slot))
            .map(|((&key, _), read)| (key, read));
        Readers {
            of_slot: Rows::new(index.slot_node.len(), external),
            of_initial: Rows::new(index.n_keys(), initial),
        }
    }
}

impl Index {
    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.transaction.len()
    }

    /// Number of sessions.
    pub fn n_sessions(&self) -> usize {
        self.session_begin.len() - 1
    }

    /// Number of keys.
    pub fn n_keys(&self) -> usize {
        self.key_begin.len() - 1
    }

    /// The id of a key in the history.
    #[inline]
    pub fn key_id(&self, key: u32) -> KeyId {
        self.key_id.get(key as usize).copied().unwrap_or(KeyId(key))
    }

    /// Position of a node in its session.
    #[inline]
    pub fn position(&self, node: Node) -> u32 {
        node - self.session_begin[self.session[node as usize] as usize]
    }

    /// The next node of the session.
    #[inline]
    pub fn successor(&self, node: Node) -> Option<Node> {
        let next = node + 1;
        (next < self.session_begin[self.session[node as usize] as usize + 1]).then_some(next)
    }

    /// The external reads of a node, as places in the `read_*` arrays.
    #[inline]
    pub fn reads_of(&self, node: Node) -> std::ops::Range<usize> {
        self.read_begin[node as usize] as usize..self.read_begin[node as usize + 1] as usize
    }

    /// The scan that a read is part of. O(log scans).
    fn moment(&self, read: usize) -> Option<&Moment> {
        let o = self.read_operation[read].0;
        let after = self.moments.partition_point(|moment| moment.begin <= o);
        self.moments[..after].last().filter(|moment| o < moment.end)
    }

    /// Whether one read of a transaction had happened when another one did: it came before, or at the same moment as part of
    /// the same scan.
    #[inline]
    pub fn by_then(&self, one: usize, other: usize) -> bool {
        one <= other || !self.moments.is_empty() && self.share_moment(one, other)
    }

    fn share_moment(&self, one: usize, other: usize) -> bool {
        let moment = self.moment(one);
        moment.is_some() && moment == self.moment(other)
    }

    /// Whether a read is one of a key, or of a row whose content a scan returned.
    #[inline]
    pub fn is_item(&self, read: usize) -> bool {
        let o = self.read_operation[read].0;
        self.moments.is_empty() || self.moment(read).is_none_or(|moment| o < moment.items_end)
    }

    /// One behind the last of the reads of a node that happened at the moment of one of them.
    pub fn moment_end(&self, node: Node, read: usize) -> usize {
        let reads = self.reads_of(node);
        match self.moment(read) {
            None => read + 1,
            Some(moment) => {
                let later = &self.read_operation[read..reads.end];
                read + later.partition_point(|o| o.0 < moment.end)
            }
        }
    }

    /// The first of the reads of a node that happened at the moment of one of them.
    pub fn moment_begin(&self, node: Node, read: usize) -> usize {
        let reads = self.reads_of(node);
        match self.moment(read) {
            None => read,
            Some(moment) => {
                let before = &self.read_operation[reads.start..read];
                reads.start + before.partition_point(|o| o.0 < moment.begin)
            }
        }
    }

    /// The node that a read belongs to. O(log nodes).
    pub fn reader(&self, read: u32) -> Node {
        self.read_begin.partition_point(|&begin| begin <= read) as Node - 1
    }

    /// The written keys of a node, as places in the `write_*` arrays.
    #[inline]
    pub fn writes_of(&self, node: Node) -> std::ops::Range<usize> {
        self.write_begin[node as usize] as usize..self.write_begin[node as usize + 1] as usize
    }

    /// The slots of a key.
    #[inline]
    pub fn slots_of(&self, key: u32) -> std::ops::Range<usize> {
        self.key_begin[key as usize] as usize..self.key_begin[key as usize + 1] as usize
    }

    /// Whether it is long and an order that explains most reads is known: then evidence is made of what the engines found,
    /// and may depend on the order of sessions in the file.
    pub fn is_guessed(&self) -> bool {
        /// Transactions from which on it pays off.
        const LONG: usize = 1 << 12;
        !self.guess.is_empty() && self.n_nodes() >= LONG
    }

    fn readers(&self) -> &Readers {
        self.readers.get_or_init(|| Readers::new(self))
    }

    /// The reads that return a slot, as places in the `read_*` arrays, ascending. The first call takes
    /// O(reads + slots + keys), all others O(1).
    #[inline]
    pub fn readers_of(&self, slot: Slot) -> &[u32] {
        self.readers().of_slot.of(slot)
    }

    /// The reads that return the initial version of a key, as places in the `read_*` arrays, ascending. As fast as
    /// [`readers_of`](Self::readers_of).
    #[inline]
    pub fn readers_of_initial(&self, key: u32) -> &[u32] {
        self.readers().of_initial.of(key)
    }

    /// The node that wrote the version a read returns, or [`NONE`] for ⊥.
    #[inline]
    pub fn writer_of_read(&self, read: usize) -> u32 {
        self.read_writer[read]
    }

    /// The write-read edge of an external read of `reader`, given as a place in the `read_*` arrays: from the last write
    /// of the value that was read, which is not the last write of the key if the writer overwrote it (TAP-f).
    /// O(operations of the writer).
    pub fn read_edge(&self, history: &History, reader: Node, read: usize) -> Edge {
        let to_operation = self.read_operation[read];
        let (from, from_operation) = match self.read_slot[read] {
            INITIAL_SLOT => (TransactionId::INITIAL, None),
            slot => {
                let writer = self.transaction[self.slot_node[slot as usize] as usize];
                (
                    writer,
                    write_that_was_read(
                        history,
                        writer,
                        self.transaction[reader as usize],
                        to_operation,
                    ),
                )
            }
        };
        Edge::write_read(history, from, from_operation, to_operation)
    }

    /// The session order edge between two nodes of a session.
    pub fn session_edge(&self, from: Node, to: Node) -> Edge {
        Edge::session_order(
            self.transaction[from as usize],
            self.transaction[to as usize],
        )
    }

    /// The edge between the writers of two versions that a list orders.
    pub fn listed_edge(&self, listed: &Listed) -> Edge {
        let write = |node: Node| {
            self.slot_of(node, listed.key)
                .map(|slot| self.slot_operation[slot as usize])
        };
        Edge {
            from: self.transaction[listed.older as usize],
            to: self.transaction[listed.newer as usize],
            relation: Relation::WriteWrite,
            key: Some(self.key_id(listed.key)),
            from_operation: write(listed.older),
            to_operation: write(listed.newer),
            because: Reason::Listed {
                reader: self.transaction[listed.reader as usize],
                read: listed.read,
            },
        }
    }

    /// The real-time edge between two nodes of which the first ended before the second began.
    pub fn real_time_edge(&self, from: Node, to: Node) -> Edge {
        Edge {
            relation: Relation::RealTime,
            ..self.session_edge(from, to)
        }
    }

    /// The slot of a node's write of a key, if it writes it. O(log of its writes).
    #[inline]
    pub fn slot_of(&self, node: Node, key: u32) -> Option<Slot> {
        let writes = self.writes_of(node);
        let at = self.write_key[writes.clone()].binary_search(&key).ok()?;
        Some(self.write_slot[writes.start + at])
    }
}
