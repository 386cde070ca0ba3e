//! The compact form of one history that all engines work on.

use crate::history::{OperationId, TransactionId};

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

/// Who reads from whom and who writes what, as structure of arrays. Ranges are given by `*_begin` arrays with one more
/// entry than things.
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

    /// By key: its first slot.
    pub key_begin: Vec<u32>,
    /// By slot: the node that wrote it.
    pub slot_node: Vec<Node>,
    /// By slot: the key.
    pub slot_key: Vec<u32>,
    /// By slot: the write operation.
    pub slot_operation: Vec<OperationId>,
    /// By slot: its first place in [`reader`](Self::reader).
    pub reader_begin: Vec<u32>,
    /// Places in the `read_*` arrays, grouped by the slot that they return.
    pub reader: Vec<u32>,
    /// By key: its first place in [`initial_reader`](Self::initial_reader).
    pub initial_reader_begin: Vec<u32>,
    /// Places in the `read_*` arrays, grouped by key, of reads that return the initial version.
    pub initial_reader: Vec<u32>,

    /// By node: its first external read. External reads stand in program order; reads that return nothing usable
    /// (thin air, aborted, future, overwritten own writes, unrecorded) are left out.
    pub read_begin: Vec<u32>,
    /// By external read: the key.
    pub read_key: Vec<u32>,
    /// By external read: the version returned, or [`INITIAL_SLOT`].
    pub read_slot: Vec<Slot>,
    /// By external read: the operation.
    pub read_operation: Vec<OperationId>,

    /// By node: its first entry in `write_*`.
    pub write_begin: Vec<u32>,
    /// Keys a node writes, ascending, each once.
    pub write_key: Vec<u32>,
    /// The slots of those writes.
    pub write_slot: Vec<Slot>,
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

    /// The reads that return a slot, as places in the `read_*` arrays.
    #[inline]
    pub fn readers_of(&self, slot: Slot) -> &[u32] {
        &self.reader[self.reader_begin[slot as usize] as usize..self.reader_begin[slot as usize + 1] as usize]
    }

    /// The node that wrote the version a read returns, or [`NONE`] for ⊥.
    #[inline]
    pub fn writer_of_read(&self, read: usize) -> u32 {
        match self.read_slot[read] {
            INITIAL_SLOT => NONE,
            slot => self.slot_node[slot as usize],
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
