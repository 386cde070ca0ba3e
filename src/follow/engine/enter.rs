//! The entrance of a transaction: at the end of the order, behind what it has seen.

use super::keys::Version;
use super::{BASE, Engine, Failure, Resident, seal};
use crate::checkers::Level;
use crate::follow::delivered::Delivered;
use crate::follow::order::{Owner, Seq};
use std::sync::Arc;

impl Engine {
    pub(super) fn insert(&mut self, t: &Arc<Delivered>) -> Result<(), Failure> {
        let reads = self.remembered_reads(t)?;
        let causes = self.causes(t, &reads);
        let start = self.order.event(t.seq);
        let commit = if self.level.has_snapshots() { self.order.event(t.seq) } else { start };
        reads.iter().for_each(|&(key, writer)| self.keys.entry(key).add_reader(writer, t.seq));
        self.residents.push(Resident { t: Arc::clone(t), reads, start, commit });
        if start != commit {
            self.force(start, commit, Owner::Forced)?;
        }
        for before in causes {
            self.force(self.residents[before].commit, start, Owner::Forced)?;
        }
        self.enter_times(t)?;
        self.enter_reads(t.seq)?;
        let place = self.order.position(self.residents[t.seq].commit);
        t.writes.iter().for_each(|&key| self.keys.entry(key).insert(Version::of(t, place)));
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
            let writer = match self.residents.contains(read.writer) {
                true => read.writer,
                false => match seal::found(self.keys.get(read.key), &self.forgotten, read) {
                    seal::WriterFate::Settled => BASE,
                    seal::WriterFate::Passed => return Err(Failure::Passed),
                    seal::WriterFate::TooOld => {
                        self.undecided += 1;
                        continue;
                    }
                },
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
        let mut causes: Vec<Seq> = reads.iter().map(|(_, writer)| *writer).filter(|&writer| writer != BASE).collect();
        causes.extend(t.before.filter(|&before| self.residents.contains(before)));
        causes.sort_unstable();
        causes.dedup();
        let is_implied = |&cause: &Seq| {
            let cause = &self.residents[cause].t;
            causes.iter().any(|&other| cause.is_seen_by(&self.residents[other].t))
        };
        causes.iter().copied().filter(|cause| !is_implied(cause)).collect()
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

    /// The last version behind the one that a read returned, in the order, that the level counts as seen by it.
    pub(super) fn seen_behind(&self, reader: Seq, n: usize) -> Option<Seq> {
        let Resident { t, reads, .. } = &self.residents[reader];
        let (key, writer) = *reads.get(n)?;
        let is_read = |version: &Version, reads: &[(u32, Seq)]| reads.iter().any(|(_, other)| *other == version.t);
        let is_seen = |version: &&Version| match self.level {
            Level::ReadCommitted => is_read(version, &reads[..n]),
            Level::ReadAtomic => version.is_of_session_before(t) || is_read(version, reads),
            _ => version.is_seen_by(t),
        };
        self.keys.get(key)?.behind(writer).iter().rev().find(is_seen).map(|version| version.t)
    }

    /// The order of appends that a transaction shows. Where one was settled before another that must precede it, or both
    /// were, what was settled by age may be wrong.
    fn enter_appended(&mut self, t: &Arc<Delivered>) -> Result<(), Failure> {
        self.has_lists |= t.record.operations.iter().any(|action| action.list.is_some());
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
    pub(super) fn base_before(&mut self, reader: Seq, key: u32, writer: Seq) -> Result<(), Failure> {
        // It may have been left out meanwhile.
        if !self.residents[reader].reads.contains(&(key, BASE)) {
            return Ok(());
        }
        let owner = self.base_owner(reader, key);
        self.force(self.residents[reader].start, self.residents[writer].commit, owner)
    }
}
