//! The index in which only items must be unchanged: what a scan missed was there at some time before, no matter when.

use super::index::{INITIAL_SLOT, Index, Node, Slot};

impl Index {
    /// Whether all its reads are of items.
    pub fn has_only_items(&self) -> bool {
        self.moments.is_empty() || (0..self.read_key.len()).all(|read| self.is_item(read))
    }

    /// The index in which each read of a row that a scan did not list, or only by its key, is one of a key of its own that its
    /// writer alone writes: it comes after that writer, and before no other transaction (Adya's predicate reads at PL-2). Those of the
    /// initial version are left out. An order of transactions is serial there if the history is repeatable in it
    /// ([`RepeatableRead`](crate::levels::Level::RepeatableRead)). O(reads log + writes).
    pub fn of_items(&self) -> Index {
        let mut index = Index {
            read_begin: vec![0],
            key_id: (0..self.n_keys() as u32)
                .map(|key| self.key_id(key))
                .collect(),
            readers: Default::default(),
            ..self.clone()
        };
        // By writer and key.
        let mut more: Vec<(Node, u32, Slot)> = Vec::new();
        let mut kept: Vec<usize> = Vec::with_capacity(self.read_key.len());
        for t in 0..self.n_nodes() as Node {
            for read in self.reads_of(t) {
                if self.is_item(read) {
                    kept.push(read);
                } else if self.read_slot[read] != INITIAL_SLOT {
                    let (slot, key) = (index.slot_node.len() as Slot, index.n_keys() as u32);
                    let seen = self.read_slot[read] as usize;
                    more.push((self.slot_node[seen], key, slot));
                    index.slot_node.push(self.slot_node[seen]);
                    index.slot_key.push(key);
                    index.slot_operation.push(self.slot_operation[seen]);
                    index.key_id.push(self.key_id(self.read_key[read]));
                    index.key_begin.push(index.slot_node.len() as u32);
                    (index.read_key[read], index.read_slot[read]) = (key, slot);
                    kept.push(read);
                }
            }
            index.read_begin.push(kept.len() as u32);
        }
        index.read_key = kept.iter().map(|&read| index.read_key[read]).collect();
        index.read_slot = kept.iter().map(|&read| index.read_slot[read]).collect();
        index.read_writer = kept.iter().map(|&read| self.read_writer[read]).collect();
        index.read_operation = kept.iter().map(|&read| self.read_operation[read]).collect();
        more.sort_unstable();
        index.write_also(&more);
        index
    }

    /// Adds writes of new keys, by node and key.
    fn write_also(&mut self, more: &[(Node, u32, Slot)]) {
        let (begin, keys, slots) = (
            std::mem::replace(&mut self.write_begin, vec![0]),
            std::mem::take(&mut self.write_key),
            std::mem::take(&mut self.write_slot),
        );
        let mut more = more.iter().peekable();
        for t in 0..self.n_nodes() {
            let writes = begin[t] as usize..begin[t + 1] as usize;
            self.write_key.extend(&keys[writes.clone()]);
            self.write_slot.extend(&slots[writes]);
            while let Some((_, key, slot)) = more.next_if(|(node, ..)| *node as usize == t) {
                self.write_key.push(*key);
                self.write_slot.push(*slot);
            }
            self.write_begin.push(self.write_key.len() as u32);
        }
    }
}
