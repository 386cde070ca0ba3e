//! The index in which each read of a transaction has a snapshot of its own.

use super::index::{Index, ListOrder, NONE, Node};

impl Index {
    /// The index in which each transaction is a row of transactions of its session, one for each external read, the last of
    /// which also makes all writes. Where every transaction reads from one snapshot there, every read does so here, and the
    /// snapshots of a transaction grow (Adya's PL-MSR is prefix consistency of this index). Nodes that belong to one
    /// transaction have the same [`transaction`](Index::transaction). O(reads + writes).
    pub fn by_read(&self) -> Index {
        let mut rows = Rows {
            first: Vec::with_capacity(self.n_nodes() + 1),
            n: 0,
        };
        for node in 0..self.n_nodes() as Node {
            rows.first.push(rows.n);
            rows.n += self.reads_of(node).len().max(1) as Node;
        }
        rows.first.push(rows.n);
        let owners: Vec<Node> = (0..self.n_nodes() as Node)
            .flat_map(|t| rows.of(t).map(move |_| t))
            .collect();
        let is_last = |place: usize| owners.get(place + 1) != Some(&owners[place]);
        let mut write_begin = vec![0];
        write_begin.extend((0..owners.len()).map(|place| {
            if is_last(place) {
                self.write_begin[owners[place] as usize + 1]
            } else {
                self.write_begin[owners[place] as usize]
            }
        }));
        let mut read_begin = vec![0];
        read_begin.extend((0..owners.len()).map(|place| {
            if is_last(place) {
                self.read_begin[owners[place] as usize + 1]
            } else {
                let nth = place as u32 - rows.first[owners[place] as usize];
                self.read_begin[owners[place] as usize] + nth + 1
            }
        }));
        let of_writer = |&writer: &u32| {
            if writer == NONE {
                NONE
            } else {
                rows.last(writer)
            }
        };
        Index {
            transaction: owners
                .iter()
                .map(|&t| self.transaction[t as usize])
                .collect(),
            node: self.node.iter().map(of_writer).collect(),
            session_begin: self
                .session_begin
                .iter()
                .map(|&t| rows.first[t as usize])
                .collect(),
            session: owners.iter().map(|&t| self.session[t as usize]).collect(),
            slot_node: self.slot_node.iter().map(|&t| rows.last(t)).collect(),
            read_begin,
            read_writer: self.read_writer.iter().map(of_writer).collect(),
            write_begin,
            lists: self
                .lists
                .iter()
                .map(|list| ListOrder {
                    reader: rows.last(list.reader),
                    ..list.clone()
                })
                .collect(),
            interval: owners
                .iter()
                .filter_map(|&t| self.interval.get(t as usize))
                .copied()
                .collect(),
            recorded_at: Vec::new(),
            guess: owners
                .iter()
                .filter_map(|&t| self.guess.get(t as usize))
                .copied()
                .collect(),
            readers: Default::default(),
            ..self.clone()
        }
    }
}

/// Which nodes a transaction becomes.
struct Rows {
    /// By transaction: its first one; one entry more than transactions.
    first: Vec<Node>,
    n: Node,
}

impl Rows {
    fn of(&self, t: Node) -> std::ops::Range<Node> {
        self.first[t as usize]..self.first[t as usize + 1]
    }

    fn last(&self, t: Node) -> Node {
        self.first[t as usize + 1] - 1
    }
}
