//! Real time as a client: sessions whose transactions see what has ended, and are seen by what begins.

use super::index::{INITIAL_SLOT, Index, NONE, Node, Slot};
use super::real_time::TimeChain;
use crate::history::{KeyId, OperationId, TransactionId};
use rustc_hash::FxHashMap;

/// Which transactions real time orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// What ended before another one began is seen by it.
    Whole,
    /// What ended before another one began is seen by it if they have a key in common.
    ByKey,
    /// What ended before another one began commits before it, and need not be seen.
    OfCommits,
}

impl Index {
    /// The index with transactions that make real time visible, after the others, whose numbers stay: after each end of some
    /// transaction one that reads from all that ended then, and from which those read that begin before the next end; of
    /// commits, one that misses what these write. So a path of session order and reads leads from a transaction to another one
    /// exactly if real time orders them, or another such path does. Each reads and writes keys of its own. They belong to no
    /// transaction of the history. O((operations + n) log n).
    pub fn with_clock(&self, clock: Clock) -> Index {
        let chains = match clock {
            Clock::Whole | Clock::OfCommits => vec![TimeChain::new(self)],
            Clock::ByKey => self.chains_by_key(),
        };
        let mut plan = Plan::new(self);
        for chain in chains {
            plan.add(&chain, clock);
        }
        plan.index()
    }

    /// These nodes and, ascending with them, the writers of what they read from keys that others of them use: in a part of the
    /// index a read is left out without its writer, and with it the order in which real time puts the users of the key.
    pub fn with_writers_of_shared_keys(&self, mut nodes: Vec<Node>) -> Vec<Node> {
        let mut users: FxHashMap<KeyId, u32> = FxHashMap::default();
        for &node in &nodes {
            self.keys_used_by(node)
                .for_each(|key| *users.entry(key).or_default() += 1);
        }
        let reads = nodes
            .iter()
            .flat_map(|&node| self.reads_of(node))
            .filter(|&read| users[&self.key_id(self.read_key[read])] > 1);
        let writers: Vec<Node> = reads
            .map(|read| self.read_writer[read])
            .filter(|&writer| writer != NONE)
            .collect();
        nodes.extend(writers);
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The keys that a node reads or writes, then those that its scans were about; some may come more than once.
    pub(super) fn keys_used_by(&self, node: Node) -> impl Iterator<Item = KeyId> + '_ {
        let (read, written) = (
            &self.read_key[self.reads_of(node)],
            &self.write_key[self.writes_of(node)],
        );
        let scanned = match self.scanned.is_empty() {
            true => None,
            false => self.scanned.get(&self.transaction[node as usize]),
        };
        let keys = read.iter().chain(written).map(|&key| self.key_id(key));
        keys.chain(scanned.into_iter().flatten().copied())
    }

    /// For each key the chain of those that read or write it.
    fn chains_by_key(&self) -> Vec<TimeChain> {
        // By key: its number here; those that occur only in scans come after the others.
        let mut numbers: FxHashMap<KeyId, usize> = FxHashMap::default();
        let are_ids = self.key_id.is_empty() && self.scanned.is_empty();
        if !are_ids {
            numbers.extend((0..self.n_keys()).map(|key| (self.key_id(key as u32), key)));
        }
        let mut users: Vec<Vec<Node>> = vec![Vec::new(); self.n_keys()];
        for node in 0..self.n_nodes() as Node {
            for key in self.keys_used_by(node) {
                let number = match are_ids {
                    true => key.index(),
                    false => *numbers.entry(key).or_insert(users.len()),
                };
                if number == users.len() {
                    users.push(Vec::new());
                }
                if users[number].last() != Some(&node) {
                    users[number].push(node);
                }
            }
        }
        users
            .iter()
            .map(|users| TimeChain::of(self, users))
            .filter(|chain| !chain.began.is_empty())
            .collect()
    }
}

/// A read or a write that is added, of a key that is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Access {
    node: Node,
    key: u32,
}

/// What is added to an index.
struct Plan<'a> {
    index: &'a Index,
    /// Sessions of added nodes.
    session_sizes: Vec<u32>,
    n_nodes: Node,
    /// By added key: its only writer.
    writers: Vec<Node>,
    /// Reads of what the writer wrote, and of what was there before.
    reads: Vec<Access>,
    misses: Vec<Access>,
}

impl<'a> Plan<'a> {
    fn new(index: &'a Index) -> Plan<'a> {
        let n_nodes = index.n_nodes() as Node;
        Plan {
            index,
            session_sizes: Vec::new(),
            n_nodes,
            writers: Vec::new(),
            reads: Vec::new(),
            misses: Vec::new(),
        }
    }

    /// The key that a node writes for those that read from it.
    fn key_of(&mut self, writer: Node) -> u32 {
        self.writers.push(writer);
        self.writers.len() as u32 - 1
    }

    fn add(&mut self, chain: &TimeChain, clock: Clock) {
        let first = self.n_nodes;
        self.session_sizes.push(chain.ends.len() as u32);
        self.n_nodes += chain.ends.len() as Node;
        for &(node, at) in &chain.ended {
            let key = self.key_of(node);
            self.reads.push(Access {
                node: first + at,
                key,
            });
        }
        match clock {
            Clock::OfCommits => {
                for &(at, node) in &chain.began {
                    let key = self.key_of(node);
                    self.misses.push(Access {
                        node: first + at,
                        key,
                    });
                }
            }
            Clock::Whole | Clock::ByKey => {
                let mut written: Option<(u32, u32)> = None;
                let mut began = chain.began.clone();
                began.sort_unstable();
                for (at, node) in began {
                    let key = match written {
                        Some((known, key)) if known == at => key,
                        _ => self.key_of(first + at),
                    };
                    written = Some((at, key));
                    self.reads.push(Access { node, key });
                }
            }
        }
    }

    /// What is added comes after all that it reads from.
    fn guess(&self, new: &mut Index) {
        if new.guess.is_empty() {
            return;
        }
        let old = self.index.n_nodes();
        new.guess.resize(self.n_nodes as usize, 0);
        for access in self
            .reads
            .iter()
            .filter(|access| access.node as usize >= old)
        {
            let seen = new.guess[self.writers[access.key as usize] as usize];
            let own = &mut new.guess[access.node as usize];
            *own = seen.max(*own);
        }
        for v in old + 1..self.n_nodes as usize {
            if new.session[v] == new.session[v - 1] {
                new.guess[v] = new.guess[v].max(new.guess[v - 1]);
            }
        }
    }

    fn index(mut self) -> Index {
        let (old, n_keys, n_slots) = (
            self.index,
            self.index.n_keys() as u32,
            self.index.slot_node.len(),
        );
        let mut new = Index {
            readers: Default::default(),
            recorded_at: Vec::new(),
            ..old.clone()
        };
        let n = self.n_nodes as usize;
        new.transaction.resize(n, TransactionId::INITIAL);
        if !new.interval.is_empty() {
            new.interval.resize(n, None);
        }
        for (session, &size) in (old.n_sessions() as u32..).zip(&self.session_sizes) {
            new.session
                .resize(new.session.len() + size as usize, session);
            new.session_begin.push(new.session.len() as u32);
        }
        if new.key_id.is_empty() {
            new.key_id = (0..n_keys).map(|key| old.key_id(key)).collect();
        }
        for (key, &writer) in (n_keys..).zip(&self.writers) {
            new.key_id.push(crate::history::KeyId(key));
            new.key_begin.push(new.slot_node.len() as u32 + 1);
            new.slot_node.push(writer);
            new.slot_key.push(key);
            new.slot_operation.push(OperationId(0));
        }
        self.guess(&mut new);
        let slot = |key: u32| (n_slots + key as usize) as Slot;
        // Keys were added in the order of their numbers, so those of a node are ascending, after all others.
        let mut writes: Vec<Access> = (0..)
            .zip(&self.writers)
            .map(|(key, &node)| Access { node, key })
            .collect();
        writes.sort_unstable();
        let (mut begin, mut writes) = (vec![0], writes.into_iter().peekable());
        (new.write_key, new.write_slot) = (Vec::new(), Vec::new());
        for node in 0..self.n_nodes {
            if (node as usize) < old.n_nodes() {
                new.write_key
                    .extend_from_slice(&old.write_key[old.writes_of(node)]);
                new.write_slot
                    .extend_from_slice(&old.write_slot[old.writes_of(node)]);
            }
            while let Some(access) = writes.next_if(|access| access.node == node) {
                new.write_key.push(n_keys + access.key);
                new.write_slot.push(slot(access.key));
            }
            begin.push(new.write_key.len() as u32);
        }
        new.write_begin = begin;
        let missed = self.misses.drain(..).map(|access| (access, true));
        let mut reads: Vec<(Access, bool)> = self
            .reads
            .drain(..)
            .map(|access| (access, false))
            .chain(missed)
            .collect();
        reads.sort_unstable();
        let (mut begin, mut reads) = (vec![0], reads.into_iter().peekable());
        (
            new.read_key,
            new.read_slot,
            new.read_writer,
            new.read_operation,
        ) = Default::default();
        for node in 0..self.n_nodes {
            // What had ended is seen before anything is read.
            while let Some((access, misses)) = reads.next_if(|(access, _)| access.node == node) {
                new.read_key.push(n_keys + access.key);
                new.read_slot.push(if misses {
                    INITIAL_SLOT
                } else {
                    slot(access.key)
                });
                new.read_writer.push(if misses {
                    NONE
                } else {
                    self.writers[access.key as usize]
                });
                new.read_operation.push(OperationId(0));
            }
            if (node as usize) < old.n_nodes() {
                let range = old.reads_of(node);
                new.read_key.extend_from_slice(&old.read_key[range.clone()]);
                new.read_slot
                    .extend_from_slice(&old.read_slot[range.clone()]);
                new.read_writer
                    .extend_from_slice(&old.read_writer[range.clone()]);
                new.read_operation
                    .extend_from_slice(&old.read_operation[range]);
            }
            begin.push(new.read_key.len() as u32);
        }
        new.read_begin = begin;
        new
    }
}
