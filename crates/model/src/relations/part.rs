//! The index of a part of a history, as if the rest did not exist.

use super::index::ListOrder;
use super::index::{INITIAL_SLOT, Index, NONE, Node, Slot};

/// New numbers for some of the old ones, in the same order.
struct Numbers {
    old: Vec<u32>,
    /// By old number the new one, if many are kept.
    table: Vec<u32>,
}

impl Numbers {
    /// For these numbers, ascending, all below `n`.
    fn new(old: Vec<u32>, n: usize) -> Numbers {
        let mut table = Vec::new();
        if old.len() > n / 32 {
            table = vec![NONE; n];
            old.iter()
                .zip(0..)
                .for_each(|(&old, new)| table[old as usize] = new);
        }
        Numbers { old, table }
    }

    /// The new number, if the old one is kept.
    fn of(&self, old: u32) -> Option<u32> {
        if self.table.is_empty() {
            self.old.binary_search(&old).ok().map(|place| place as u32)
        } else {
            self.table
                .get(old as usize)
                .copied()
                .filter(|&new| new != NONE)
        }
    }
}

/// The contents of a part; everything ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    /// All nodes of the part.
    pub(super) nodes: Vec<Node>,
    /// Reads, as places: of these nodes, and of these versions or ⊥.
    pub(super) reads: Vec<u32>,
    /// Versions, written by these nodes.
    pub(super) slots: Vec<Slot>,
    /// Lists, as places: of these nodes. Versions that do not belong to the part are left out of them.
    pub(super) lists: Vec<u32>,
}

impl Index {
    /// The index of the nodes `keep` (ascending), without reads that return a version of others; sound because all
    /// levels are closed under removing transactions and reads. Nodes, sessions and keys are renumbered; transactions,
    /// operations and [`key_id`](Self::key_id) stay those of the history, so edges made from the part refer to the
    /// whole. The map from transactions to nodes is left empty. O(reads and writes of the part, log).
    pub fn part(&self, keep: &[Node]) -> Index {
        let kept = |t: Node| keep.binary_search(&t).is_ok();
        let is_seen = |read: &u32| match self.read_slot[*read as usize] {
            INITIAL_SLOT => true,
            slot => kept(self.slot_node[slot as usize]),
        };
        let reads = keep
            .iter()
            .flat_map(|&t| self.reads_of(t))
            .map(|read| read as u32)
            .filter(is_seen)
            .collect();
        let mut slots: Vec<Slot> = keep
            .iter()
            .flat_map(|&t| &self.write_slot[self.writes_of(t)])
            .copied()
            .collect();
        slots.sort_unstable();
        let lists = (0..)
            .zip(&self.lists)
            .filter(|(_, order)| kept(order.reader))
            .map(|(place, _)| place)
            .collect();
        self.part_of(Contents {
            nodes: keep.to_vec(),
            reads,
            slots,
            lists,
        })
    }

    /// The index without the reads of transactions that only read, which stay, as do the orders of versions that lists show to
    /// them. O(reads + writes).
    pub fn without_readers(&self) -> Index {
        let mut kept: Vec<usize> = Vec::with_capacity(self.read_key.len());
        let mut read_begin = vec![0];
        for t in 0..self.n_nodes() as Node {
            kept.extend(self.reads_of(t).filter(|_| !self.writes_of(t).is_empty()));
            read_begin.push(kept.len() as u32);
        }
        Index {
            read_begin,
            read_key: kept.iter().map(|&read| self.read_key[read]).collect(),
            read_slot: kept.iter().map(|&read| self.read_slot[read]).collect(),
            read_writer: kept.iter().map(|&read| self.read_writer[read]).collect(),
            read_operation: kept.iter().map(|&read| self.read_operation[read]).collect(),
            readers: Default::default(),
            ..self.clone()
        }
    }

    /// The index of these contents.
    pub(super) fn part_of(&self, contents: Contents) -> Index {
        let mut part = Index {
            moments: self.moments.clone(),
            scanned: self.scanned.clone(),
            read_begin: vec![0],
            write_begin: vec![0],
            ..Index::default()
        };
        part.take_nodes(self, &contents.nodes);
        let mut keys: Vec<u32> = contents
            .slots
            .iter()
            .map(|&slot| self.slot_key[slot as usize])
            .collect();
        keys.extend(
            contents
                .reads
                .iter()
                .map(|&read| self.read_key[read as usize]),
        );
        keys.sort_unstable();
        keys.dedup();
        let keys = Numbers::new(keys, self.n_keys());
        part.key_id = keys.old.iter().map(|&key| self.key_id(key)).collect();
        let nodes = Numbers::new(contents.nodes, self.n_nodes());
        let slots = Numbers::new(contents.slots, self.slot_node.len());
        part.take_versions(self, &keys, &nodes, &slots);
        part.take_reads_and_writes(self, &contents.reads, &keys, &nodes, &slots);
        let lists = contents
            .lists
            .iter()
            .map(|&place| &self.lists[place as usize]);
        part.lists = lists
            .filter_map(|order| renumbered(order, &keys, &nodes, &slots))
            .collect();
        part
    }

    fn take_nodes(&mut self, whole: &Index, nodes: &[Node]) {
        let mut old_session = NONE;
        for (new, &t) in (0..).zip(nodes) {
            if std::mem::replace(&mut old_session, whole.session[t as usize]) != old_session
                || new == 0
            {
                self.session_begin.push(new);
            }
            self.transaction.push(whole.transaction[t as usize]);
            self.session.push(self.session_begin.len() as u32 - 1);
        }
        self.session_begin.push(nodes.len() as u32);
        if !whole.interval.is_empty() {
            self.interval = nodes.iter().map(|&t| whole.interval[t as usize]).collect();
        }
        if !whole.recorded_at.is_empty() {
            self.recorded_at = nodes
                .iter()
                .map(|&t| whole.recorded_at[t as usize])
                .collect();
        }
        if !whole.guess.is_empty() {
            self.guess = nodes.iter().map(|&t| whole.guess[t as usize]).collect();
        }
    }

    fn take_versions(&mut self, whole: &Index, keys: &Numbers, nodes: &Numbers, slots: &Numbers) {
        for &slot in &slots.old {
            let key = keys.of(whole.slot_key[slot as usize]).unwrap_or(NONE);
            while self.key_begin.len() <= key as usize {
                self.key_begin.push(self.slot_node.len() as u32);
            }
            self.slot_node
                .push(nodes.of(whole.slot_node[slot as usize]).unwrap_or(NONE));
            self.slot_key.push(key);
            self.slot_operation
                .push(whole.slot_operation[slot as usize]);
        }
        self.key_begin
            .resize(keys.old.len() + 1, self.slot_node.len() as u32);
    }

    fn take_reads_and_writes(
        &mut self,
        whole: &Index,
        reads: &[u32],
        keys: &Numbers,
        nodes: &Numbers,
        slots: &Numbers,
    ) {
        let mut reads = reads.iter().map(|&read| read as usize).peekable();
        for &t in &nodes.old {
            let end = whole.reads_of(t).end;
            while let Some(read) = reads.next_if(|&read| read < end) {
                let slot = match whole.read_slot[read] {
                    INITIAL_SLOT => INITIAL_SLOT,
                    old => match slots.of(old) {
                        Some(slot) => slot,
                        None => continue,
                    },
                };
                self.read_key
                    .push(keys.of(whole.read_key[read]).unwrap_or(NONE));
                self.read_slot.push(slot);
                self.read_writer.push(if slot == INITIAL_SLOT {
                    NONE
                } else {
                    self.slot_node[slot as usize]
                });
                self.read_operation.push(whole.read_operation[read]);
            }
            self.read_begin.push(self.read_key.len() as u32);
            for write in whole.writes_of(t) {
                if let (Some(key), Some(slot)) = (
                    keys.of(whole.write_key[write]),
                    slots.of(whole.write_slot[write]),
                ) {
                    self.write_key.push(key);
                    self.write_slot.push(slot);
                }
            }
            self.write_begin.push(self.write_key.len() as u32);
        }
    }
}

/// The rest of a list; `None` if it orders nothing.
fn renumbered(
    order: &ListOrder,
    keys: &Numbers,
    nodes: &Numbers,
    slots: &Numbers,
) -> Option<ListOrder> {
    let versions = |old: &[Slot]| {
        old.iter()
            .filter_map(|&slot| slots.of(slot))
            .collect::<Vec<Slot>>()
    };
    let closed = versions(&order.versions[..order.closed]).len();
    let versions = versions(&order.versions);
    let (reader, key) = (nodes.of(order.reader)?, keys.of(order.key)?);
    let mut unsure: Vec<Slot> = order
        .unsure
        .iter()
        .filter_map(|&slot| slots.of(slot))
        .collect();
    unsure.sort_unstable();
    (versions.len() > 1 || closed > 0).then_some(ListOrder {
        reader,
        read: order.read,
        key,
        versions,
        closed,
        unsure,
    })
}
