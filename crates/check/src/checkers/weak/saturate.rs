//! Minimal forced edges: few enough to enumerate, enough to order (together with SO ∪ WR, by transitivity) all pairs
//! that the axiom of a level orders.
//!
//! The axioms are those of Biswas & Enea 2019, Fig. 2a to 2c: t3 reads x from t1, t2 also writes x, and t3 sees t2;
//! then t2 → t1. If two of the three are in one component of SO ∪ WR, the statement is void and left out.

use super::causality::{Causality, Components, Forced};
use super::chains::Chains;
use super::vectors::Vectors;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Axiom, NONE, Node};
use rayon::prelude::*;
use std::ops::Range;

/// Nodes or versions per piece of parallel work.
const CHUNK: usize = 8192;

/// The reads of one transaction, sorted in three ways. Reusable: it keeps its memory.
#[derive(Default)]
pub(super) struct ReadsOfOne {
    /// (key, place, writer) of reads from other components or ⊥, by key, then place.
    pub(super) by_key: Vec<(u32, u32, u32)>,
    /// (key, its range in `by_key`), by key.
    pub(super) keys: Vec<(u32, u32, u32)>,
    /// The writers read from, except ⊥, by node.
    pub(super) writers: Vec<Seen>,
}

/// When a transaction first saw one of the transactions it reads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seen {
    /// The writer.
    pub(super) writer: Node,
    /// Place of the first read from it.
    pub(super) first: u32,
    /// Place of the first read from it of a key other than the first read's, or [`NONE`].
    pub(super) first_of_other_key: u32,
}

impl ReadsOfOne {
    /// Loads the reads of `t3`. O(R log R).
    pub(super) fn load(&mut self, causality: &Causality<'_>, components: &Components, t3: Node) {
        let index = causality.index;
        self.by_key.clear();
        self.writers.clear();
        self.keys.clear();
        for read in index.reads_of(t3) {
            let writer = index.writer_of_read(read);
            if writer == NONE || !components.same(writer, t3) {
                self.by_key
                    .push((index.read_key[read], read as u32, writer));
                if writer != NONE {
                    self.writers.push(Seen {
                        writer,
                        first: read as u32,
                        first_of_other_key: NONE,
                    });
                }
            }
        }
        self.by_key.sort_unstable();
        self.writers.sort_unstable();
        self.writers.dedup_by(|later, kept| {
            let same = later.writer == kept.writer;
            let key = |read: u32| index.read_key[read as usize];
            if same && kept.first_of_other_key == NONE && key(later.first) != key(kept.first) {
                kept.first_of_other_key = later.first;
            }
            same
        });
        for (at, &(key, ..)) in self.by_key.iter().enumerate() {
            match self.keys.last_mut() {
                Some((last, _, end)) if *last == key => *end = at as u32 + 1,
                _ => self.keys.push((key, at as u32, at as u32 + 1)),
            }
        }
    }

    /// The reads of the key at this place of [`keys`](Self::keys).
    #[inline]
    pub(super) fn group(&self, at: usize) -> &[(u32, u32, u32)] {
        &self.by_key[self.keys[at].1 as usize..self.keys[at].2 as usize]
    }

    /// Calls `visit` with each place of [`keys`](Self::keys) whose key `t2` writes. O(min(W, R) log).
    #[inline]
    pub(super) fn keys_written_by(
        &self,
        causality: &Causality<'_>,
        t2: Node,
        mut visit: impl FnMut(usize),
    ) {
        let index = causality.index;
        let writes = index.writes_of(t2);
        if writes.len() <= self.keys.len() {
            for write in writes {
                let key = index.write_key[write];
                if let Ok(at) = self.keys.binary_search_by_key(&key, |&(key, ..)| key) {
                    visit(at);
                }
            }
        } else {
            for (at, &(key, ..)) in self.keys.iter().enumerate() {
                if index.slot_of(t2, key).is_some() {
                    visit(at);
                }
            }
        }
    }
}

/// Minimal edges of RC or RA into writers that `t3` reads from: calls `emit(t2, read)`, also for reads of ⊥ (which
/// then are violations), never with t2 the writer of the read.
///
/// RC: the next read of x after the first read from t2; reads of one key in a row. RA: without a non-repeatable read
/// every read of a key that t2 writes; with one, the writers of the key form a cycle and t2 comes before the first;
/// and the last writer of x before t3 in its session.
pub(super) fn edges_of_transaction(
    causality: &Causality<'_>,
    components: &Components,
    axiom: Axiom,
    t3: Node,
    reads: &mut ReadsOfOne,
    mut emit: impl FnMut(Node, u32),
) {
    let index = causality.index;
    reads.load(causality, components, t3);
    let atomic = axiom != Axiom::ReadCommitted;
    for at in 0..reads.keys.len() {
        let group = reads.group(at);
        // Consecutive reads of one key, without ⊥.
        let mut of_writers = group.iter().filter(|read| read.2 != NONE);
        if let Some(mut last) = of_writers.next() {
            let first = last;
            for read in of_writers {
                if read.2 != last.2 {
                    emit(last.2, read.1);
                }
                last = read;
            }
            if atomic && last.2 != first.2 {
                emit(last.2, first.1);
            }
        }
        if atomic {
            // The last writer of the key before t3 in its session.
            let key = reads.keys[at].0;
            let slots = &index.slot_node[index.slots_of(key)];
            let begin = index.session_begin[index.session[t3 as usize] as usize];
            let session = &slots[slots.partition_point(|&writer| writer < begin)..];
            let before = &session[..session.partition_point(|&writer| writer < t3)];
            // Component numbers ascend along a session: those of t3's own component are the last.
            let own = components.of[t3 as usize];
            let before = &before[..before.partition_point(|&t2| components.of[t2 as usize] < own)];
            if let Some(&t2) = before.last() {
                group
                    .iter()
                    .filter(|read| read.2 != t2)
                    .for_each(|read| emit(t2, read.1));
            }
        }
    }
    for &Seen {
        writer: t2,
        first: first_read,
        ..
    } in &reads.writers
    {
        reads.keys_written_by(causality, t2, |at| {
            let group = reads.group(at);
            if atomic {
                if let Some(read) = group.iter().find(|read| read.2 != NONE && read.2 != t2) {
                    emit(t2, read.1);
                }
                if let Some(read) = group.iter().find(|read| read.2 == NONE) {
                    emit(t2, read.1);
                }
            } else {
                let later = &group[group.partition_point(|read| {
                    !index.by_then(first_read as usize, read.1 as usize)
                })..];
                if let Some(read) = later.iter().find(|read| read.2 != NONE && read.2 != t2) {
                    emit(t2, read.1);
                }
                if let Some(read) = later.iter().rev().find(|read| read.2 == NONE) {
                    emit(t2, read.1);
                }
            }
        });
    }
}

/// Minimal edges of TCC into the writer of one version, within a window of chains: per chain the last writer of the
/// key that some reader of the version sees. `reads` all return that version. Calls `emit(t2, read)`.
#[inline]
pub(super) fn edges_of_version(
    causality: &Causality<'_>,
    components: &Components,
    chains: &Chains,
    past: &Vectors<'_>,
    window: Range<u32>,
    reads: &[u32],
    mut emit: impl FnMut(Node, u32),
) {
    let index = causality.index;
    let Some(&first) = reads.first() else { return };
    let key = index.read_key[first as usize];
    let t1 = index.writer_of_read(first as usize);
    for (chain, run) in chains.runs(index, key, window) {
        let mut most = (0, first);
        for &read in reads {
            let t3 = causality.read_node[read as usize];
            let seen = past.count(t3, chain);
            if seen > most.0 && (t1 == NONE || !components.same(t1, t3)) {
                most = (seen, read);
            }
        }
        if most.0 == 0 {
            continue;
        }
        let seen = &run[..run.partition_point(|&t2| chains.position[t2 as usize] < most.0)];
        let Some(&t2) = seen.last() else { continue };
        if t1 == NONE || (!components.same(t1, t2) && !past.precedes(t2, t1)) {
            emit(t2, most.1);
        }
    }
}

/// All minimal forced edges of RC or RA, including those into ⊥. Parallel over transactions.
pub(super) fn transaction_edges(
    causality: &Causality<'_>,
    components: &Components,
    axiom: Axiom,
    control: &Control,
) -> Result<Vec<Forced>, Interrupt> {
    let parts = pieces(causality.n()).into_par_iter().map(|nodes| {
        let mut edges = Vec::new();
        let mut reads = ReadsOfOne::default();
        for t3 in nodes {
            control.tick(t3)?;
            edges_of_transaction(
                causality,
                components,
                axiom,
                t3 as Node,
                &mut reads,
                |t2, read| {
                    let t1 = causality.index.writer_of_read(read as usize);
                    if t1 == NONE || !components.same(t1, t2) {
                        edges.push(Forced {
                            from: t2,
                            to: t1,
                            read,
                        });
                    }
                },
            );
        }
        Ok(edges)
    });
    Ok(parts.collect::<Result<Vec<_>, Interrupt>>()?.concat())
}

/// All minimal forced edges of TCC with t2 in a window of chains, including those into ⊥. Parallel over versions.
pub(super) fn causal_edges(
    causality: &Causality<'_>,
    components: &Components,
    chains: &Chains,
    past: &Vectors<'_>,
    window: Range<u32>,
    control: &Control,
) -> Result<Vec<Forced>, Interrupt> {
    let index = causality.index;
    let n_slots = index.slot_node.len();
    // The initial versions of the keys follow the slots.
    let parts = pieces(n_slots + index.n_keys())
        .into_par_iter()
        .map(|versions| {
            let mut edges = Vec::new();
            for version in versions {
                control.tick(version)?;
                let (t1, reads) = match version.checked_sub(n_slots) {
                    None => (index.slot_node[version], index.readers_of(version as u32)),
                    Some(key) => (NONE, index.readers_of_initial(key as u32)),
                };
                edges_of_version(
                    causality,
                    components,
                    chains,
                    past,
                    window.clone(),
                    reads,
                    |t2, read| {
                        edges.push(Forced {
                            from: t2,
                            to: t1,
                            read,
                        });
                    },
                );
            }
            Ok(edges)
        });
    Ok(parts.collect::<Result<Vec<_>, Interrupt>>()?.concat())
}

fn pieces(n: usize) -> Vec<Range<usize>> {
    (0..n)
        .step_by(CHUNK)
        .map(|begin| begin..(begin + CHUNK).min(n))
        .collect()
}
