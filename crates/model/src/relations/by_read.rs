//! The index in which each read of a transaction has a snapshot of its own.

use super::index::{Index, ListOrder, NONE, Node};

impl Index {
    /// The index in which each transaction is a row of transactions of its session, one for each external read or for all reads
    /// of a scan, the last of which also makes all writes. Where every transaction reads from one snapshot there, every read does so here, and the
    /// snapshots of a transaction grow (Adya's PL-MSR is prefix consistency of this index). Nodes that belong to one
    /// transaction have the same [`transaction`](Index::transaction). O(reads + writes).
    pub fn by_read(&self) -> Index {
        let mut rows = Rows {
            first: Vec::with_capacity(self.n_nodes() + 1),
            n: 0,
        };
        // By row but the last of each transaction: one behind its reads.
        let mut read_ends = Vec::with_capacity(self.read_key.len());
        for node in 0..self.n_nodes() as Node {
            rows.first.push(rows.n);
            let reads = self.reads_of(node);
            let mut end = reads.start;
            loop {
                end = match end < reads.end {
                    true => self.moment_end(node, end),
                    false => end,
                };
                rows.n += 1;
                read_ends.push(end as u32);
                if end == reads.end {
                    break;
                }
            }
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
        read_begin.append(&mut read_ends);
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
