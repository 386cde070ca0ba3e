//! From a resolved history to its index, in parallel by ranges of transactions.

use super::ahead::Ahead;
use super::index::{INITIAL_SLOT, Index, Moment, NONE};
use super::lists;
use super::n_pieces;
use super::real_time;
use super::resolution::{self, Choice, Resolution, Source, Standing};
use crate::control::{Control, Interrupt};
use crate::history::{History, OperationId, OperationKind, Returned, Scan, TransactionId};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Fewest operations of a part: fewer are not worth a table of keys. Unit tests split small histories, too.
const PART: usize = if cfg!(test) { 1 } else { 1 << 16 };

/// Fewest entries of an array that are worth a task.
const LONG: usize = 1 << 16;

impl Index {
    /// Builds the index of a resolved history; ambiguous reads take their first candidate.
    ///
    /// See [`Index::build_with`].
    pub fn build(
        history: &History,
        resolution: &Resolution,
        control: &Control,
    ) -> Result<Index, Interrupt> {
        Index::build_with(history, resolution, &resolution.default_choice(), control)
    }

    /// Builds the index of a resolved history under a choice for the ambiguous reads; those without a chosen source
    /// are left out.
    ///
    /// Nodes are the committed transactions that are not part of ⊥ and the unknown ones that must have committed under
    /// the choice. O(operations + keys), in parallel in the current rayon pool; the result is the same for any number
    /// of threads. While it runs, about 4 bytes per operation more than the result, and 8 bytes per key and thread.
    /// Errors: only if `control` says to stop.
    pub fn build_with(
        history: &History,
        resolution: &Resolution,
        choice: &Choice,
        control: &Control,
    ) -> Result<Index, Interrupt> {
        Index::build_joined(history, resolution, choice, &[], control)
    }

    /// As `build_with`, but transactions of unknown outcome in `joining` count as committed, and with them all that they are
    /// known to have read from, whether or not the choice makes a committed transaction read from them.
    pub fn build_joined(
        history: &History,
        resolution: &Resolution,
        choice: &Choice,
        joining: &[TransactionId],
        control: &Control,
    ) -> Result<Index, Interrupt> {
        control.needs(most_needed(history))?;
        let mut index = Index::default();
        index.number_nodes(
            history,
            &resolution.promoted_by(choice, joining),
            resolution,
        );
        let parts = parts(history, &index);
        let version_of_write = index.number_slots(history, &parts, control)?;
        control.check()?;
        index.moments = moments(history);
        // Only real time by keys asks for them.
        if history.has_times() {
            let mut scanners: Vec<TransactionId> = history
                .scans()
                .iter()
                .map(|scan| scan.transaction)
                .collect();
            scanners.dedup();
            let keys = |t: TransactionId| (t, history.keys_scanned_by(t).collect());
            index.scanned = Arc::new(scanners.into_iter().map(keys).collect());
        }
        index.collect_reads(history, resolution, choice, &version_of_write, &parts);
        drop(version_of_write);
        control.check()?;
        index.lists = lists::list_orders(history, &index, &[], &|node| node);
        if history.origin().parts.is_empty() {
            let first =
                |t: &TransactionId| history.operation_range(*t).next().map(OperationId::new);
            let line =
                |t: &TransactionId| first(t).map_or(0, |operation| history.line_of(operation));
            index.recorded_at = index
                .transaction
                .par_iter()
                .with_min_len(LONG)
                .map(line)
                .collect();
        }
        if history.has_times() {
            index.interval = index
                .transaction
                .iter()
                .map(|&t| real_time::interval(history, t))
                .collect();
        }
        Ok(index)
    }

    fn number_nodes(
        &mut self,
        history: &History,
        promoted: &[TransactionId],
        resolution: &Resolution,
    ) {
        self.node = vec![NONE; history.n_transactions()];
        self.session_begin.push(0);
        for session in history.sessions() {
            for t in history.transactions_of(session) {
                let takes_part = match resolution.standing(t) {
                    Standing::Committed | Standing::Promoted => true,
                    Standing::Possible => promoted.binary_search(&t).is_ok(),
                    Standing::Dropped | Standing::Aborted | Standing::Initial => false,
                };
                if takes_part {
                    self.node[t.index()] = self.transaction.len() as u32;
                    self.transaction.push(t);
                    self.session.push(session.0);
                }
            }
            self.session_begin.push(self.transaction.len() as u32);
        }
    }

    /// Numbers the last writes by (key, node); returns by write operation of a node the version that it makes or leads
    /// to.
    fn number_slots(
        &mut self,
        history: &History,
        parts: &[NodeRange],
        control: &Control,
    ) -> Result<Vec<SlotWriter>, Interrupt> {
        let n_keys = history.n_keys();
        let counted: Vec<Counted> = parts
            .par_iter()
            .map(|part| Counted::new(history, self, part))
            .collect();
        control.check()?;
        let mut next: Vec<Vec<u32>> = Vec::with_capacity(parts.len());
        self.write_begin = Vec::with_capacity(self.n_nodes() + 1);
        let mut n_writes = 0u32;
        for counted in counted {
            self.write_begin
                .extend(counted.writes_of_node.iter().map(|&writes| {
                    let begin = n_writes;
                    n_writes += writes;
                    begin
                }));
            next.push(counted.of_key);
        }
        self.write_begin.push(n_writes);
        // Slots of a key: first those of the first part, then those of the next.
        self.key_begin = Vec::with_capacity(n_keys + 1);
        let mut begin = 0;
        for key in 0..n_keys {
            self.key_begin.push(begin);
            for of_part in &mut next {
                begin += std::mem::replace(&mut of_part[key], begin);
            }
        }
        self.key_begin.push(begin);

        let n_slots = n_writes as usize;
        // For a slot, the node and the operation together, since the writes are scattered.
        let slots: Vec<AtomicU64> = (0..n_slots)
            .into_par_iter()
            .with_min_len(LONG)
            .map(|_| AtomicU64::new(0))
            .collect();
        self.write_key = vec![0; n_slots];
        self.write_slot = vec![0; n_slots];
        let operations = (0..history.n_operations())
            .into_par_iter()
            .with_min_len(LONG);
        let mut version_of_write: Vec<SlotWriter> = operations.map(|_| SlotWriter::NONE).collect();
        let mut work = Vec::with_capacity(parts.len());
        let mut rest = (
            self.write_key.as_mut_slice(),
            self.write_slot.as_mut_slice(),
            version_of_write.as_mut_slice(),
        );
        for (part, next) in parts.iter().zip(next) {
            let n_writes = self.write_begin[part.nodes.end] - self.write_begin[part.nodes.start];
            let (keys, other_keys) = rest.0.split_at_mut(n_writes as usize);
            let (write_slots, other_slots) = rest.1.split_at_mut(n_writes as usize);
            let (of_write, others_of_write) = rest.2.split_at_mut(part.operations.len());
            rest = (other_keys, other_slots, others_of_write);
            work.push(Numbering {
                part,
                next,
                keys,
                write_slots,
                of_write,
                slots: &slots,
            });
        }
        let transactions = &self.transaction;
        work.into_par_iter()
            .for_each(|work| work.run(history, transactions));
        let slots: Vec<u64> = slots.into_iter().map(AtomicU64::into_inner).collect();
        let slots = || slots.par_iter().with_min_len(LONG);
        let node_and_operation = || {
            (
                slots().map(|slot| (slot >> 32) as u32).collect(),
                slots().map(|&slot| OperationId(slot as u32)).collect(),
            )
        };
        let key_begin = &self.key_begin;
        let keys = || {
            let mut slot_key = Vec::with_capacity(n_slots);
            for (key, range) in (0..).zip(key_begin.windows(2)) {
                slot_key.resize(slot_key.len() + (range[1] - range[0]) as usize, key);
            }
            slot_key
        };
        ((self.slot_node, self.slot_operation), self.slot_key) =
            rayon::join(node_and_operation, keys);
        Ok(version_of_write)
    }

    fn collect_reads(
        &mut self,
        history: &History,
        resolution: &Resolution,
        choice: &Choice,
        version_of_write: &[SlotWriter],
        parts: &[NodeRange],
    ) {
        let kinds = history.kinds();
        let n_reads = |part: &NodeRange| {
            part.operations
                .clone()
                .filter(|&o| kinds[o] == OperationKind::Read)
                .count()
        };
        let most: Vec<usize> = parts.par_iter().map(n_reads).collect();
        let n_most: usize = most.iter().sum();
        // Each part fills its own range of the arrays, with its external reads.
        let (mut key, mut slot, mut writer) = (vec![0; n_most], vec![0; n_most], vec![0; n_most]);
        let operations = (0..n_most).into_par_iter().with_min_len(LONG);
        let mut operation: Vec<OperationId> = operations.map(|_| OperationId::new(0)).collect();
        let mut work = Vec::with_capacity(parts.len());
        let mut rest = (
            key.as_mut_slice(),
            slot.as_mut_slice(),
            writer.as_mut_slice(),
            operation.as_mut_slice(),
        );
        for (part, &most) in parts.iter().zip(&most) {
            let (key, keys) = rest.0.split_at_mut(most);
            let (slot, slots) = rest.1.split_at_mut(most);
            let (writer, writers) = rest.2.split_at_mut(most);
            let (operation, operations) = rest.3.split_at_mut(most);
            rest = (keys, slots, writers, operations);
            work.push((
                part,
                Reads {
                    begin: Vec::with_capacity(part.nodes.len()),
                    n: 0,
                    key,
                    slot,
                    writer,
                    operation,
                },
            ));
        }
        let index = &*self;
        let collected = work.into_par_iter().map(|(part, mut reads)| {
            reads.collect(history, resolution, choice, version_of_write, index, part);
            (reads.begin, reads.n)
        });
        let collected: Vec<(Vec<u32>, usize)> = collected.collect();
        self.read_begin = Vec::with_capacity(self.n_nodes() + 1);
        let (mut from, mut to) = (0, 0);
        for ((begin, n), most) in collected.into_iter().zip(most) {
            self.read_begin
                .extend(begin.iter().map(|begin| begin + to as u32));
            if from > to {
                key.copy_within(from..from + n, to);
                slot.copy_within(from..from + n, to);
                writer.copy_within(from..from + n, to);
                operation.copy_within(from..from + n, to);
            }
            from += most;
            to += n;
        }
        self.read_begin.push(to as u32);
        key.truncate(to);
        slot.truncate(to);
        writer.truncate(to);
        operation.truncate(to);
        (
            self.read_key,
            self.read_slot,
            self.read_writer,
            self.read_operation,
        ) = (key, slot, writer, operation);
    }
}

/// The scans of a history.
fn moments(history: &History) -> Arc<[Moment]> {
    let moment = |scan: &Scan| {
        let n_items = match scan.asked.returned {
            Returned::Rows => scan.n_listed,
            Returned::Keys => 0,
        };
        Moment {
            begin: scan.reads.start,
            items_end: scan.reads.start + n_items,
            end: scan.reads.end,
        }
    };
    let scans = history.scans().iter().filter(|scan| !scan.reads.is_empty());
    scans.map(moment).collect()
}

/// Bytes that an index takes at most while it is built, besides those by key. O(operations).
fn most_needed(history: &History) -> usize {
    let n_writes = history
        .kinds()
        .iter()
        .filter(|kind| **kind == OperationKind::Write)
        .count();
    let n_reads = history.n_operations() - n_writes;
    // By transaction, eight arrays; by operation its version; by write, its key and version, of which the writer and the
    // operation are there twice for a moment; by read, four arrays.
    history.n_transactions() * 32 + history.n_operations() * 8 + n_writes * 28 + n_reads * 16
}

/// A range of nodes and the operations up to the next part's.
struct NodeRange {
    nodes: Range<usize>,
    operations: Range<usize>,
}

/// Parts for all threads, as far as they pay off. Operations ascend with nodes.
fn parts(history: &History, index: &Index) -> Vec<NodeRange> {
    let (n_nodes, n_operations) = (index.n_nodes(), history.n_operations());
    let most = n_operations / PART.max(history.n_keys());
    let n_parts = n_pieces(most).min(n_nodes.max(1));
    let first_node = |part: usize| n_nodes * part / n_parts;
    let first_operation = |part: usize| match part {
        0 => 0,
        _ if part == n_parts => n_operations,
        _ => {
            history
                .operation_range(index.transaction[first_node(part)])
                .start
        }
    };
    let part = |n: usize| NodeRange {
        nodes: first_node(n)..first_node(n + 1),
        operations: first_operation(n)..first_operation(n + 1),
    };
    (0..n_parts).map(part).collect()
}

/// How many keys the nodes of a part write.
struct Counted {
    /// By key: how many nodes write it.
    of_key: Vec<u32>,
    /// By node of the part.
    writes_of_node: Vec<u32>,
}

impl Counted {
    fn new(history: &History, index: &Index, part: &NodeRange) -> Counted {
        let (kinds, keys) = (history.kinds(), history.keys());
        let mut of_key = vec![0; history.n_keys()];
        let mut seen_by = vec![NONE; history.n_keys()];
        let mut writes_of_node = Vec::with_capacity(part.nodes.len());
        for node in part.nodes.clone() {
            let mut writes = 0;
            let operations = history.operation_range(index.transaction[node]);
            for o in operations.filter(|&o| kinds[o] == OperationKind::Write) {
                let key = keys[o].index();
                if seen_by[key] != node as u32 {
                    seen_by[key] = node as u32;
                    of_key[key] += 1;
                    writes += 1;
                }
            }
            writes_of_node.push(writes);
        }
        Counted {
            of_key,
            writes_of_node,
        }
    }
}

/// The version that a write makes, or that replaced it if its transaction overwrote it.
#[derive(Clone, Copy)]
struct SlotWriter {
    slot: u32,
    /// The slot's.
    node: u32,
}

impl SlotWriter {
    /// For a read, or for a transaction that is not a node.
    const NONE: SlotWriter = SlotWriter {
        slot: NONE,
        node: NONE,
    };
}

/// Where a part writes its slots.
struct Numbering<'a> {
    part: &'a NodeRange,
    /// By key: the next slot of this part.
    next: Vec<u32>,
    keys: &'a mut [u32],
    write_slots: &'a mut [u32],
    of_write: &'a mut [SlotWriter],
    /// By slot: node and operation. Each is written by the part of its node only.
    slots: &'a [AtomicU64],
}

impl Numbering<'_> {
    fn run(mut self, history: &History, transactions: &[TransactionId]) {
        let (kinds, keys) = (history.kinds(), history.keys());
        // While node n processes a key, the slot of n is the one before `next`.
        let mut seen_by = vec![NONE; history.n_keys()];
        let mut written: Vec<u64> = Vec::new();
        let mut at = 0;
        for node in self.part.nodes.clone() {
            written.clear();
            let operations = history.operation_range(transactions[node]);
            for o in operations.filter(|&o| kinds[o] == OperationKind::Write) {
                let key = keys[o].index();
                let next = &mut self.next[key];
                if seen_by[key] != node as u32 {
                    seen_by[key] = node as u32;
                    written.push((key as u64) << 32 | u64::from(*next));
                    *next += 1;
                }
                let slot = *next - 1;
                self.slots[slot as usize].store((node as u64) << 32 | o as u64, Ordering::Relaxed);
                self.of_write[o - self.part.operations.start] = SlotWriter {
                    slot,
                    node: node as u32,
                };
            }
            written.sort_unstable();
            for &write in &written {
                self.keys[at] = (write >> 32) as u32;
                self.write_slots[at] = write as u32;
                at += 1;
            }
        }
    }
}

/// The external reads of a part, in arrays that are large enough.
struct Reads<'a> {
    /// By node of the part.
    begin: Vec<u32>,
    /// How many there are.
    n: usize,
    key: &'a mut [u32],
    slot: &'a mut [u32],
    writer: &'a mut [u32],
    operation: &'a mut [OperationId],
}

impl Reads<'_> {
    fn collect(
        &mut self,
        history: &History,
        resolution: &Resolution,
        choice: &Choice,
        version_of_write: &[SlotWriter],
        index: &Index,
        part: &NodeRange,
    ) {
        let (kinds, keys) = (history.kinds(), history.keys());
        let initial = SlotWriter {
            slot: INITIAL_SLOT,
            node: NONE,
        };
        let may_be_open = resolution.has_multiple_sources();
        let last = version_of_write.len().saturating_sub(1);
        let mut versions = Ahead::new();
        for node in part.nodes.clone() {
            self.begin.push(self.n as u32);
            for o in history
                .operations_of(index.transaction[node])
                .filter(|o| kinds[o.index()] == OperationKind::Read)
            {
                let version = match resolution.code[o.index()] {
                    _ if may_be_open && resolution.is_open_after_own_write(o) => continue,
                    resolution::INITIAL => initial,
                    resolution::AMBIGUOUS => match resolution.chosen(o, choice) {
                        Some(Source::Transaction { write, .. }) => version_of_write[write.index()],
                        Some(Source::Initial { .. }) => initial,
                        _ => continue,
                    },
                    // Own writes (future or overwritten) and writes of aborted transactions are not readable versions.
                    write if write < resolution::FIRST_SPECIAL => {
                        match versions.at(o.index(), part.operations.end, |stretch| {
                            // Reads without a write get an arbitrary value.
                            resolution.code[stretch]
                                .iter()
                                .map(|&write| version_of_write[last.min(write as usize)])
                        }) {
                            SlotWriter { slot: NONE, .. } => continue,
                            version if version.node == node as u32 => continue,
                            version => version,
                        }
                    }
                    _ => continue,
                };
                self.key[self.n] = keys[o.index()].0;
                self.slot[self.n] = version.slot;
                self.writer[self.n] = version.node;
                self.operation[self.n] = o;
                self.n += 1;
            }
        }
    }
}
