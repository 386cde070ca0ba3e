//! The entrance of a transaction: at the end of the order, behind what it has seen.

use super::keys::Version;
use super::{BASE, Engine, Failure, Resident, seal};
use crate::follow::delivered::Delivered;
use crate::follow::order::{Owner, Seq};
use isoscope_check::checkers::Level;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The transactions that one has read from, as far as they wrote keys that it read, too.
struct Seen {
    /// The keys that it read, ascending.
    keys: Vec<u32>,
    writers: FxHashSet<Seq>,
    by_key: FxHashMap<u32, SeenOfKey>,
}

/// Those of a key.
#[derive(Default)]
struct SeenOfKey {
    writers: Vec<Seq>,
    /// How many of them are known to be older than the version that was read last.
    n_known: usize,
    read: Option<Seq>,
}

impl Seen {
    fn add(&mut self, writer: &Delivered) {
        if !self.writers.insert(writer.seq) {
            return;
        }
        let note = |key: u32| self.by_key.entry(key).or_default().writers.push(writer.seq);
        if writer.writes.len() < self.keys.len() {
            writer
                .writes
                .iter()
                .copied()
                .filter(|key| self.keys.binary_search(key).is_ok())
                .for_each(note)
        } else {
            self.keys
                .iter()
                .copied()
                .filter(|key| writer.writes.binary_search(key).is_ok())
                .for_each(note)
        }
    }

    /// The writers of a key that were not asked for yet when this version of it was read last.
    fn news(&mut self, key: u32, read: Seq) -> Vec<Seq> {
        let Some(of_key) = self.by_key.get_mut(&key) else {
            return Vec::new();
        };
        let first = if of_key.read == Some(read) {
            of_key.n_known
        } else {
            0
        };
        (of_key.read, of_key.n_known) = (Some(read), of_key.writers.len());
        of_key.writers[first..].to_vec()
    }
}

impl Engine {
    pub(super) fn insert(&mut self, t: &Arc<Delivered>) -> Result<(), Failure> {
        let reads = self.remembered_reads(t)?;
        let causes = self.causes(t, &reads);
        let start = self.order.event(t.seq);
        let commit = if self.level.has_snapshots() {
            self.order.event(t.seq)
        } else {
            start
        };
        reads
            .iter()
            .for_each(|&(key, writer)| self.keys.entry(key).add_reader(writer, t.seq));
        self.residents.push(Resident {
            t: Arc::clone(t),
            reads,
            start,
            commit,
        });
        if start != commit {
            self.force(start, commit, Owner::Forced)?;
        }
        for before in causes {
            self.force(self.residents[before].commit, start, Owner::Forced)?;
        }
        self.enter_times(t)?;
        match self.level {
            Level::ReadCommitted | Level::ReadAtomic => self.enter_reads_of_writers(t)?,
            Level::TransactionalCausalConsistency => self.enter_reads_of_causes(t)?,
            _ => self.enter_reads(t.seq)?,
        }
        let place = self.order.position(self.residents[t.seq].commit);
        t.writes
            .iter()
            .for_each(|&key| self.keys.entry(key).insert(Version::of(t, place)));
        self.enter_appended(t)?;
        // It is the last one in the order: only its reads may be wrong.
        let is_wrong = || !self.level.is_weak() && self.wrong_read(t.seq).is_some();
        if self.level == Level::ParallelSnapshotIsolation || is_wrong() {
            self.dirty.insert(t.seq);
        }
        self.solve()
    }

    /// The reads of a transaction by remembered writer; those of what was settled by age are left out.
    fn remembered_reads(&mut self, t: &Delivered) -> Result<Vec<(u32, Seq)>, Failure> {
        let mut reads: Vec<(u32, Seq)> = Vec::with_capacity(t.reads.len());
        for read in &t.reads {
            let writer = if self.residents.contains(read.writer) {
                read.writer
            } else {
                match seal::found(self.keys.get(read.key), &self.forgotten, read) {
                    seal::WriterFate::Settled => BASE,
                    seal::WriterFate::Passed => return Err(Failure::Passed),
                    seal::WriterFate::TooOld => {
                        self.undecided += 1;
                        continue;
                    }
                }
            };
            if self.level == Level::ReadCommitted || !reads.contains(&(read.key, writer)) {
                reads.push((read.key, writer));
            }
        }
        Ok(reads)
    }

    /// The remembered transactions that one follows directly, in session order or because it read from them, except those
    /// that another of them has seen.
    fn causes(&self, t: &Delivered, reads: &[(u32, Seq)]) -> Vec<Seq> {
        let mut causes: Vec<Seq> = reads
            .iter()
            .map(|(_, writer)| *writer)
            .filter(|&writer| writer != BASE)
            .collect();
        causes.extend(t.before.filter(|&before| self.residents.contains(before)));
        causes.sort_unstable();
        causes.dedup();
        let is_implied = |&cause: &Seq| {
            let cause = &self.residents[cause].t;
            causes
                .iter()
                .any(|&other| cause.is_seen_by(&self.residents[other].t))
        };
        causes
            .iter()
            .copied()
            .filter(|cause| !is_implied(cause))
            .collect()
    }

    /// RC and RA: the versions of other transactions that this one read from are older than what it read of the same key;
    /// at RC of those that it read from before, at RA of all, and of those before it in its session. O(reads, and for each
    /// transaction that was read from, its writes or the reads, whichever are fewer).
    fn enter_reads_of_writers(&mut self, t: &Arc<Delivered>) -> Result<(), Failure> {
        let reads = self.residents[t.seq].reads.clone();
        let mut keys: Vec<u32> = reads.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut seen = Seen {
            keys,
            writers: FxHashSet::default(),
            by_key: FxHashMap::default(),
        };
        let is_atomic = self.level == Level::ReadAtomic;
        if is_atomic {
            for &key in &seen.keys {
                let before = self
                    .keys
                    .get(key)
                    .and_then(|of_key| of_key.last_of(t.session));
                seen.by_key.entry(key).or_default().writers.extend(before);
            }
            let writers = reads
                .iter()
                .filter_map(|(_, writer)| self.residents.get(*writer));
            writers.for_each(|writer| seen.add(&writer.t));
        }
        for &(key, writer) in &reads {
            for other in seen.news(key, writer) {
                self.seen_before(t.seq, (key, writer), other)?;
            }
            if let Some(writer) = self.residents.get(writer).filter(|_| !is_atomic) {
                seen.add(&writer.t);
            }
        }
        Ok(())
    }

    /// TCC: the versions that a new transaction has seen are older than what it read of the same key. Of those of a session
    /// the last one says it for all. O(reads · sessions · log of the versions).
    fn enter_reads_of_causes(&mut self, t: &Arc<Delivered>) -> Result<(), Failure> {
        for (key, writer) in self.residents[t.seq].reads.clone() {
            let seen_by_writer = self
                .residents
                .get(writer)
                .map_or(&[][..], |writer| &writer.t.seen);
            let of_key = self.keys.get(key).into_iter();
            let seen: Vec<Seq> = of_key
                .flat_map(|of_key| of_key.last_seen(&t.seen, seen_by_writer))
                .collect();
            for other in seen {
                self.seen_before(t.seq, (key, writer), other)?;
            }
        }
        Ok(())
    }

    /// A weak level: a version that counts as seen by a reader is older than the one that it read.
    fn seen_before(
        &mut self,
        reader: Seq,
        (key, writer): (u32, Seq),
        seen: Seq,
    ) -> Result<(), Failure> {
        if seen == writer {
            return Ok(());
        }
        if writer == BASE {
            // It may have been left out already.
            let is_read = self.residents[reader].reads.contains(&(key, BASE));
            return if is_read {
                self.seen_after_base(reader, key)
            } else {
                Ok(())
            };
        }
        self.force(
            self.residents[seen].commit,
            self.residents[writer].commit,
            Owner::Forced,
        )
    }

    /// What a new transaction has seen is older than what it read: that is forced where the order has it behind. That its
    /// reads come before newer versions becomes an edge where the order gets that wrong (`decisions`).
    fn enter_reads(&mut self, t: Seq) -> Result<(), Failure> {
        let mut n = 0;
        while let Some(&(key, writer)) = self.residents[t].reads.get(n) {
            match self.seen_behind(t, n) {
                None => n += 1,
                Some(_) if writer == BASE => self.seen_after_base(t, key)?,
                Some(other) => self.precede(other, writer)?,
            }
        }
        Ok(())
    }

    /// The last version behind the one that a read returned, in the order, that session order and reads lead from.
    fn seen_behind(&self, reader: Seq, n: usize) -> Option<Seq> {
        let Resident { t, reads, .. } = &self.residents[reader];
        let (key, writer) = *reads.get(n)?;
        let versions = self.keys.get(key)?.behind(writer).iter();
        versions
            .rev()
            .find(|version| version.is_seen_by(t))
            .map(|version| version.t)
    }

    /// The order of appends that a transaction shows. Where one was settled before another that must precede it, or both
    /// were, what was settled by age may be wrong.
    fn enter_appended(&mut self, t: &Arc<Delivered>) -> Result<(), Failure> {
        self.has_lists |= t
            .record
            .operations
            .iter()
            .any(|action| action.list.is_some());
        for &(a, b) in &t.appended {
            match (self.residents.contains(a), self.residents.contains(b)) {
                (true, true) => self.precede(a, b)?,
                (_, false) => self.undecided += 1,
                (false, true) => {}
            }
        }
        Ok(())
    }

    /// A transaction read the settled version of a key although it has seen a newer one.
    pub(super) fn seen_after_base(&mut self, reader: Seq, key: u32) -> Result<(), Failure> {
        if self.base_owner(reader, key) == Owner::Forced {
            return Err(Failure::Contradiction);
        }
        self.undecided += 1;
        self.leave_out(reader, key);
        Ok(())
    }

    /// A read of the settled version comes before every remembered writer of the key.
    pub(super) fn base_before(
        &mut self,
        reader: Seq,
        key: u32,
        writer: Seq,
    ) -> Result<(), Failure> {
        // It may have been left out meanwhile.
        if !self.residents[reader].reads.contains(&(key, BASE)) {
            return Ok(());
        }
        let owner = self.base_owner(reader, key);
        self.force(
            self.residents[reader].start,
            self.residents[writer].commit,
            owner,
        )
    }
}
