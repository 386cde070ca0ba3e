//! The engine of one level: an order of all transactions that it remembers, kept valid from one to the next.
//!
//! A transaction is entered when everything that it read from has been. Then its causes are final: nothing that comes
//! later is seen by it. What its reads force between writers of a key is added to the order at once. Where nothing forces
//! two writers, the order decides, and only where it would get a read wrong is a decision on the pair written down
//! (`decisions`); it is taken back when something forced contradicts it. The order is thus always one that satisfies the
//! level, or there is none.
//!
//! A beginning of the order may be settled (`seal`): its transactions are replaced by the state that they left. By the
//! conditions there no later verdict changes. A beginning settled by age alone may be contradicted later: the read that
//! does so is left out and counted.

mod decisions;
mod seal;

pub(super) use seal::Surroundings;

use super::delivered::Delivered;
use super::order::{Node, Order, Owner, Seq};
use crate::checkers::Level;
use rustc_hash::{FxHashMap, FxHashSet};
use seal::{Forgotten, Settled};
use std::collections::BTreeSet;
use std::sync::Arc;

/// In place of a writer: the settled version of the key, at first the initial one.
pub(super) const BASE: Seq = 0;

/// What a level looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    ReadCommitted,
    ReadAtomic,
    Causal,
    Prefix,
    Snapshot,
    Serial,
}

impl Kind {
    /// Whether a read only orders writers that its transaction has seen.
    fn is_weak(self) -> bool {
        matches!(self, Kind::ReadCommitted | Kind::ReadAtomic | Kind::Causal)
    }

    /// Whether transactions read at one moment and write at another.
    fn has_two_events(self) -> bool {
        matches!(self, Kind::Prefix | Kind::Snapshot)
    }
}

/// Why an engine ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// No order satisfies the level.
    Violated {
        /// The transaction with whose entrance that became so.
        at: Seq,
        /// Whether the evidence is among what is remembered.
        is_at_hand: bool,
    },
    /// The search for an order took too long.
    Exhausted {
        /// The transaction with whose entrance it began.
        at: Seq,
    },
}

/// Why a step could not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    Contradiction,
    /// A read of a version that everything to come is known to have passed.
    Passed,
    TooLong,
}

/// A transaction that is remembered.
#[derive(Debug)]
struct Resident {
    t: Arc<Delivered>,
    /// (key, writer): what it read and what counts.
    reads: Vec<(u32, Seq)>,
    start: Node,
    commit: Node,
}

/// The engine of one level.
#[derive(Debug)]
pub(super) struct Engine {
    level: Level,
    kind: Kind,
    order: Order,
    residents: FxHashMap<Seq, Resident>,
    /// By key: the remembered writers, in the order of their entrance.
    versions: FxHashMap<u32, Vec<Seq>>,
    /// By key and writer: who read it.
    readers: FxHashMap<(u32, Seq), Vec<Seq>>,
    /// Pairs of writers whose order is forced.
    known: FxHashSet<(Seq, Seq)>,
    /// By writer: its pairs among those.
    partners: FxHashMap<Seq, Vec<(Seq, Seq)>>,
    /// By pair, the earlier number first: the order decided.
    decided: FxHashMap<(Seq, Seq), (Seq, Seq)>,
    /// Transactions whose reads and versions may be wrong in the order.
    dirty: BTreeSet<Seq>,
    settled: FxHashMap<u32, Settled>,
    forgotten: Forgotten,
    undecided: u64,
    stop: Option<Stop>,
    /// Elementary steps of the current search.
    searched: u64,
}

impl Engine {
    /// The engine of a level, if it can be followed.
    pub(super) fn new(level: Level) -> Option<Engine> {
        let kind = match level {
            Level::ReadCommitted => Kind::ReadCommitted,
            Level::ReadAtomic => Kind::ReadAtomic,
            Level::TransactionalCausalConsistency => Kind::Causal,
            Level::PrefixConsistency => Kind::Prefix,
            Level::SnapshotIsolation => Kind::Snapshot,
            Level::Serializability => Kind::Serial,
            _ => return None,
        };
        Some(Engine {
            level,
            kind,
            order: Order::default(),
            residents: FxHashMap::default(),
            versions: FxHashMap::default(),
            readers: FxHashMap::default(),
            known: FxHashSet::default(),
            partners: FxHashMap::default(),
            decided: FxHashMap::default(),
            dirty: BTreeSet::new(),
            settled: FxHashMap::default(),
            forgotten: Forgotten::default(),
            undecided: 0,
            stop: None,
            searched: 0,
        })
    }

    /// The level.
    pub(super) fn level(&self) -> Level {
        self.level
    }

    /// How it ended, if it has.
    pub(super) fn stop(&self) -> Option<Stop> {
        self.stop
    }

    /// Number of reads left out because they contradict what was settled by age.
    pub(super) fn undecided(&self) -> u64 {
        self.undecided
    }

    /// Number of transactions that are remembered.
    pub(super) fn n_residents(&self) -> usize {
        self.residents.len()
    }

    /// Number of transactions that were settled.
    pub(super) fn n_settled(&self) -> u64 {
        self.forgotten.total()
    }

    /// What is remembered, in the order of delivery, each with the reads that count; [`BASE`] is the settled version.
    pub(super) fn residents(&self) -> Vec<(&Arc<Delivered>, &[(u32, Seq)])> {
        let mut all: Vec<_> = self.residents.values().map(|r| (&r.t, r.reads.as_slice())).collect();
        all.sort_unstable_by_key(|(t, _)| t.seq);
        all
    }

    /// Ends the engine with a violation that needs no order.
    pub(super) fn violate(&mut self, at: Seq) {
        self.stop = self.stop.or(Some(Stop::Violated { at, is_at_hand: true }));
    }

    /// Forgets everything but the verdict.
    pub(super) fn clear(&mut self) {
        if let Some(fresh) = Engine::new(self.level) {
            *self = Engine { stop: self.stop, undecided: self.undecided, ..fresh };
        }
    }

    /// Enters the next delivered transaction. O(its operations · remembered writers of their keys), and what the order
    /// needs.
    pub(super) fn enter(&mut self, t: &Arc<Delivered>) {
        if self.stop.is_some() {
            return;
        }
        self.searched = 0;
        if let Err(failure) = self.insert(t) {
            self.end(failure, t.seq);
        }
    }

    fn end(&mut self, failure: Failure, at: Seq) {
        self.stop = Some(match failure {
            Failure::Contradiction => Stop::Violated { at, is_at_hand: true },
            Failure::Passed => Stop::Violated { at, is_at_hand: false },
            Failure::TooLong => Stop::Exhausted { at },
        });
    }

    fn insert(&mut self, t: &Arc<Delivered>) -> Result<(), Failure> {
        let reads = self.remembered_reads(t)?;
        let start = self.order.event(t.seq);
        let commit = if self.kind.has_two_events() { self.order.event(t.seq) } else { start };
        let resident = Resident { t: Arc::clone(t), reads: reads.clone(), start, commit };
        self.residents.insert(t.seq, resident);
        if start != commit {
            self.force(start, commit, Owner::Forced)?;
        }
        let mut seen: Vec<Seq> = reads.iter().map(|(_, writer)| *writer).filter(|&writer| writer != BASE).collect();
        seen.extend(t.before.filter(|before| self.residents.contains_key(before)));
        seen.sort_unstable();
        seen.dedup();
        for &before in &seen {
            self.force(self.residents[&before].commit, start, Owner::Forced)?;
        }
        self.dirty.insert(t.seq);
        self.enter_reads(t, reads, &seen)?;
        self.enter_writes(t)?;
        match self.kind.is_weak() {
            true => {
                self.dirty.clear();
                Ok(())
            }
            false => self.solve(),
        }
    }

    /// The reads of a transaction by remembered writer; those of what was settled by age are left out.
    fn remembered_reads(&mut self, t: &Delivered) -> Result<Vec<(u32, Seq)>, Failure> {
        let mut reads: Vec<(u32, Seq)> = Vec::with_capacity(t.reads.len());
        for read in &t.reads {
            let writer = match self.residents.contains_key(&read.writer) {
                true => read.writer,
                false => match seal::found(&self.settled, &self.forgotten, read) {
                    seal::Found::Settled => BASE,
                    seal::Found::Passed => return Err(Failure::Passed),
                    seal::Found::TooOld => {
                        self.undecided += 1;
                        continue;
                    }
                },
            };
            if self.kind == Kind::ReadCommitted || !reads.contains(&(read.key, writer)) {
                reads.push((read.key, writer));
            }
        }
        Ok(reads)
    }

    /// What the reads of a new transaction force. `causes` are what it follows directly.
    fn enter_reads(&mut self, t: &Arc<Delivered>, reads: Vec<(u32, Seq)>, causes: &[Seq]) -> Result<(), Failure> {
        let start = self.residents[&t.seq].start;
        // Read committed: what earlier reads of this transaction have read from.
        let mut earlier: Vec<Seq> = Vec::new();
        for (key, writer) in reads {
            for other in self.versions.get(&key).cloned().unwrap_or_default() {
                self.order.steps += 1;
                if other == writer || other == t.seq {
                    continue;
                }
                let is_seen = match self.kind {
                    Kind::ReadCommitted => earlier.contains(&other),
                    Kind::ReadAtomic => causes.contains(&other) || self.residents[&other].t.session == t.session,
                    _ => self.residents[&other].t.is_seen_by(t),
                };
                match (is_seen, writer) {
                    (true, BASE) => self.seen_after_base(t.seq, key)?,
                    (true, _) => self.precede(other, writer)?,
                    (false, _) if self.kind.is_weak() => {}
                    (false, BASE) => self.base_before(t.seq, key, other)?,
                    (false, _) if self.is_known(writer, other) => {
                        self.force(start, self.residents[&other].commit, Owner::Forced)?;
                    }
                    (false, _) => self.follow_decision(start, writer, other),
                }
            }
            if self.kind == Kind::ReadCommitted && writer != BASE {
                earlier.push(writer);
            }
            // Unless it was left out above.
            if self.residents[&t.seq].reads.contains(&(key, writer)) {
                let readers = self.readers.entry((key, writer)).or_default();
                if !readers.contains(&t.seq) {
                    readers.push(t.seq);
                }
            }
        }
        Ok(())
    }

    /// What the writes of a new transaction force: what it has seen is older.
    fn enter_writes(&mut self, t: &Arc<Delivered>) -> Result<(), Failure> {
        for &key in &t.writes {
            for other in self.versions.get(&key).cloned().unwrap_or_default() {
                self.order.steps += 1;
                if self.residents[&other].t.is_seen_by(t) {
                    self.precede(other, t.seq)?;
                }
            }
            self.versions.entry(key).or_default().push(t.seq);
        }
        Ok(())
    }

    /// A transaction read the settled version of a key although it has seen a newer one.
    fn seen_after_base(&mut self, reader: Seq, key: u32) -> Result<(), Failure> {
        if self.base_owner(reader, key) == Owner::Forced {
            return Err(Failure::Contradiction);
        }
        self.undecided += 1;
        self.leave_out(reader, key);
        Ok(())
    }

    /// A read of the settled version comes before every remembered writer of the key.
    fn base_before(&mut self, reader: Seq, key: u32, writer: Seq) -> Result<(), Failure> {
        // It may have been left out meanwhile.
        if !self.residents[&reader].reads.contains(&(key, BASE)) {
            return Ok(());
        }
        let owner = self.base_owner(reader, key);
        self.force(self.residents[&reader].start, self.residents[&writer].commit, owner)
    }

    /// What a read of the settled version of a key rests on.
    fn base_owner(&self, reader: Seq, key: u32) -> Owner {
        match self.settled.get(&key) {
            Some(settled) if settled.is_by_age() => Owner::Read(reader, key),
            _ => Owner::Forced,
        }
    }

    /// Leaves out a read of the settled version of a key.
    fn leave_out(&mut self, reader: Seq, key: u32) {
        if let Some(resident) = self.residents.get_mut(&reader) {
            resident.reads.retain(|read| *read != (key, BASE));
        }
        if let Some(readers) = self.readers.get_mut(&(key, BASE)) {
            readers.retain(|other| *other != reader);
        }
    }

    /// Whether `a` is known to be older than `b`.
    fn is_known(&self, a: Seq, b: Seq) -> bool {
        self.known.contains(&(a, b)) || self.residents[&a].t.is_seen_by(&self.residents[&b].t)
    }

    /// The versions that `a` wrote of common keys are older than those of `b`, in every order.
    fn precede(&mut self, a: Seq, b: Seq) -> Result<(), Failure> {
        if !self.known.insert((a, b)) {
            return Ok(());
        }
        self.partners.entry(a).or_default().push((a, b));
        self.partners.entry(b).or_default().push((a, b));
        if self.decided.get(&(a.min(b), a.max(b))) == Some(&(b, a)) {
            self.take_back(Owner::pair(a, b));
        }
        self.force_pair(a, b)
    }

    /// Adds what follows from `a` being older than `b`, in every order.
    fn force_pair(&mut self, a: Seq, b: Seq) -> Result<(), Failure> {
        for (from, to) in self.edges_of_pair(a, b) {
            self.force(from, to, Owner::Forced)?;
        }
        Ok(())
    }

    /// The edges that `a` being older than `b` means.
    fn edges_of_pair(&self, a: Seq, b: Seq) -> Vec<(Node, Node)> {
        let (older, newer) = (&self.residents[&a], &self.residents[&b]);
        // Under snapshot isolation writers of a key do not overlap.
        let begin = if self.kind == Kind::Snapshot { newer.start } else { newer.commit };
        let mut edges = vec![(older.commit, begin)];
        if self.kind.is_weak() {
            return edges;
        }
        for key in older.t.writes.iter().filter(|key| newer.t.writes.contains(key)) {
            let readers = self.readers.get(&(*key, a)).into_iter().flatten().filter(|reader| **reader != b);
            edges.extend(readers.map(|reader| (self.residents[reader].start, newer.commit)));
        }
        edges
    }
}
