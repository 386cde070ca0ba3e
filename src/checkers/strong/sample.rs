//! Small histories for testing the engines, made of reads that name the transaction they read from.

use crate::history::{OperationId, TransactionId};
use crate::relations::{INITIAL_SLOT, Index, NONE, Node};
use std::fmt;

/// A random history as text, see [`Sample::text`].
pub(crate) fn random_text(random: &mut fastrand::Rng) -> String {
    let transactions = random.usize(3..7);
    let shape = Shape { transactions, sessions: 4, operations: 4, keys: 3, write_percent: random.u32(35..65) };
    Sample::random(random, shape).text()
}

/// Sizes of a random history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) transactions: usize,
    pub(crate) sessions: usize,
    pub(crate) operations: usize,
    pub(crate) keys: u32,
    pub(crate) write_percent: u32,
}

/// A transaction: external reads (key, writer or [`NONE`] for ⊥), then writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Txn {
    pub(crate) session: u32,
    pub(crate) reads: Vec<(u32, Node)>,
    pub(crate) writes: Vec<u32>,
}

/// A history, by (session, position).
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    pub(crate) txns: Vec<Txn>,
}

impl Sample {
    /// Reads from anywhere, but SO ∪ WR is acyclic, which the engine may assume.
    pub(crate) fn random(random: &mut fastrand::Rng, shape: Shape) -> Sample {
        let n = random.usize(2..=shape.transactions);
        // Transactions are made in a hidden order in which reads look backwards only, then sorted by session.
        let sessions: Vec<u32> = (0..n).map(|_| random.u32(..shape.sessions as u32)).collect();
        let mut made: Vec<Txn> = Vec::new();
        for &session in &sessions {
            let mut txn = Txn { session, ..Txn::default() };
            for _ in 0..random.usize(1..=shape.operations) {
                let key = random.u32(..shape.keys);
                if random.u32(..100) < shape.write_percent {
                    txn.writes.push(key);
                } else if txn.reads.iter().all(|&(other, _)| other != key) {
                    let writers = made.iter().enumerate().filter(|(_, other)| other.writes.contains(&key));
                    let mut from: Vec<Node> = writers.map(|(place, _)| place as Node).collect();
                    from.push(NONE);
                    txn.reads.push((key, from[random.usize(..from.len())]));
                }
            }
            txn.writes.sort_unstable();
            txn.writes.dedup();
            made.push(txn);
        }
        Sample::sorted(made)
    }

    /// What a store that runs transactions one after the other returns.
    pub(crate) fn serial(random: &mut fastrand::Rng, shape: Shape) -> Sample {
        let mut current = vec![NONE; shape.keys as usize];
        let mut made: Vec<Txn> = Vec::new();
        for t in 0..shape.transactions as Node {
            let mut txn = Txn { session: random.u32(..shape.sessions as u32), ..Txn::default() };
            for _ in 0..random.usize(1..=shape.operations) {
                let key = random.u32(..shape.keys);
                if random.u32(..100) < shape.write_percent {
                    txn.writes.push(key);
                } else {
                    txn.reads.push((key, current[key as usize]));
                }
            }
            txn.reads.sort_unstable();
            txn.reads.dedup();
            txn.writes.sort_unstable();
            txn.writes.dedup();
            txn.writes.iter().for_each(|&key| current[key as usize] = t);
            made.push(txn);
        }
        Sample::sorted(made)
    }

    /// Makes one read return another version that keeps SO ∪ WR acyclic (an older one, as far as known).
    pub(crate) fn disturb(&mut self, random: &mut fastrand::Rng) {
        let t = random.usize(..self.txns.len());
        if let Some(place) = self.txns[t].reads.len().checked_sub(1) {
            self.txns[t].reads[random.usize(..=place)].1 = NONE;
        }
    }

    /// Sorts by session, renaming the writers that reads name.
    fn sorted(made: Vec<Txn>) -> Sample {
        let mut order: Vec<usize> = (0..made.len()).collect();
        order.sort_by_key(|&place| made[place].session);
        let mut new = vec![NONE; made.len()];
        order.iter().enumerate().for_each(|(place, &old)| new[old] = place as Node);
        let mut txns: Vec<Txn> = order.iter().map(|&old| made[old].clone()).collect();
        for read in txns.iter_mut().flat_map(|txn| &mut txn.reads) {
            if read.1 != NONE {
                read.1 = new[read.1 as usize];
            }
        }
        Sample { txns }
    }

    /// The part with these transactions; reads from others are dropped.
    pub(crate) fn restrict(&self, nodes: &[Node]) -> Sample {
        let place = |t: Node| nodes.binary_search(&t).ok().map(|place| place as Node);
        let txns = nodes.iter().map(|&t| {
            let mut txn = self.txns[t as usize].clone();
            txn.reads = txn
                .reads
                .into_iter()
                .filter_map(
                    |(key, writer)| if writer == NONE { Some((key, NONE)) } else { Some((key, place(writer)?)) },
                )
                .collect();
            txn
        });
        Sample { txns: txns.collect() }
    }

    /// The history as operations `w(key,value,session,transaction)`; value 0 is the initial one.
    pub(crate) fn text(&self) -> String {
        let mut words = Vec::new();
        for (t, txn) in self.txns.iter().enumerate() {
            let value = |writer: Node| if writer == NONE { 0 } else { writer + 1 };
            words.extend(txn.reads.iter().map(|&(k, writer)| format!("r({k},{},{},{t})", value(writer), txn.session)));
            words.extend(txn.writes.iter().map(|k| format!("w({k},{},{},{t})", t + 1, txn.session)));
        }
        words.join(" ")
    }

    /// Four writers and four readers in four sessions: both orders of the two writers of x fail, no order follows from
    /// a single rule.
    pub(crate) fn case_split_grid() -> Sample {
        let (x, y, z, u, v, w) = (0, 1, 2, 3, 4, 5);
        let txn = |session, reads: &[(u32, Node)], writes: &[u32]| Txn {
            session,
            reads: reads.to_vec(),
            writes: writes.to_vec(),
        };
        let txns = vec![
            txn(0, &[], &[y, z]),
            txn(0, &[(x, 4), (w, 2)], &[]),
            txn(1, &[], &[y, w]),
            txn(1, &[(x, 6), (z, 0)], &[]),
            txn(2, &[], &[x, u]),
            txn(2, &[(y, 0), (v, 6)], &[]),
            txn(3, &[], &[x, v]),
            txn(3, &[(y, 2), (u, 4)], &[]),
        ];
        Sample { txns }
    }

    /// The index of the history. Operations are numbered by transaction: reads, then writes.
    pub(crate) fn index(&self) -> Index {
        let n_keys = self.txns.iter().flat_map(|t| t.reads.iter().map(|r| r.0).chain(t.writes.iter().copied())).max();
        let n_keys = n_keys.map_or(0, |key| key + 1);
        let n_sessions = self.txns.last().map_or(0, |txn| txn.session + 1);
        let mut index = Index {
            transaction: (0..self.txns.len() as u32).map(TransactionId).collect(),
            node: (0..self.txns.len() as u32).collect(),
            session_begin: (0..=n_sessions).map(|s| self.txns.partition_point(|txn| txn.session < s) as u32).collect(),
            session: self.txns.iter().map(|txn| txn.session).collect(),
            key_begin: vec![0],
            read_begin: vec![0],
            write_begin: vec![0],
            ..Index::default()
        };
        let first_operation: Vec<u32> = self
            .txns
            .iter()
            .scan(0, |next, txn| Some(std::mem::replace(next, *next + (txn.reads.len() + txn.writes.len()) as u32)))
            .collect();
        for key in 0..n_keys {
            for (t, txn) in self.txns.iter().enumerate() {
                if let Ok(place) = txn.writes.binary_search(&key) {
                    index.slot_node.push(t as Node);
                    index.slot_key.push(key);
                    let operation = first_operation[t] + (txn.reads.len() + place) as u32;
                    index.slot_operation.push(OperationId(operation));
                }
            }
            index.key_begin.push(index.slot_node.len() as u32);
        }
        let slot = |index: &Index, t: Node, key: u32| {
            let slots = index.slots_of(key);
            let at = index.slot_node[slots.clone()].binary_search(&t).expect("reads name writers of the key");
            (slots.start + at) as u32
        };
        for (t, txn) in self.txns.iter().enumerate() {
            for (place, &(key, writer)) in txn.reads.iter().enumerate() {
                index.read_key.push(key);
                let read_slot = if writer == NONE { INITIAL_SLOT } else { slot(&index, writer, key) };
                index.read_slot.push(read_slot);
                index.read_writer.push(writer);
                index.read_operation.push(OperationId(first_operation[t] + place as u32));
            }
            index.read_begin.push(index.read_key.len() as u32);
            for &key in &txn.writes {
                index.write_key.push(key);
                index.write_slot.push(slot(&index, t as Node, key));
            }
            index.write_begin.push(index.write_key.len() as u32);
        }
        index
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (t, txn) in self.txns.iter().enumerate() {
            write!(f, "[{t} s{}:", txn.session)?;
            for &(key, writer) in &txn.reads {
                match writer {
                    NONE => write!(f, " r(k{key} from ⊥)")?,
                    writer => write!(f, " r(k{key} from {writer})")?,
                }
            }
            txn.writes.iter().try_for_each(|key| write!(f, " w(k{key})"))?;
            write!(f, "] ")?;
        }
        Ok(())
    }
}
