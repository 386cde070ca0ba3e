//! The entrance of a transaction: at the end of the order, behind what it has seen.

use super::versions::Version;
use super::{BASE, Engine, Failure, Resident, seal};
use crate::checkers::Level;
use crate::follow::delivered::Delivered;
use crate::follow::order::{Owner, Seq};
use std::sync::Arc;

impl Engine {
    pub(super) fn insert(&mut self, t: &Arc<Delivered>) -> Result<(), Failure> {
        let reads = self.remembered_reads(t)?;
        let start = self.order.event(t.seq);
        let commit = if self.level.has_snapshots() { self.order.event(t.seq) } else { start };
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
        self.enter_times(t)?;
        self.enter_reads(t, reads, &seen)?;
        self.enter_writes(t);
        self.enter_appended(t)?;
        if self.level.is_weak() {
            self.dirty.clear();
            return Ok(());
        }
        // It is the last one in the order: only its reads may be wrong.
        if self.level == Level::ParallelSnapshotIsolation || self.wrong_read(t.seq).is_some() {
            self.dirty.insert(t.seq);
        }
        self.solve()
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
            if self.level == Level::ReadCommitted || !reads.contains(&(read.key, writer)) {
                reads.push((read.key, writer));
            }
        }
        Ok(reads)
    }

    /// What the reads of a new transaction force between writers: what it has seen is older than what it read. That its reads
    /// come before newer versions becomes an edge only where the order gets that wrong (`decisions`). `causes` are what it
    /// follows directly.
    fn enter_reads(&mut self, t: &Arc<Delivered>, reads: Vec<(u32, Seq)>, causes: &[Seq]) -> Result<(), Failure> {
        let start = self.order.position(self.residents[&t.seq].start);
        // Read committed: what earlier reads of this transaction have read from.
        let mut earlier: Vec<Seq> = Vec::new();
        for (key, writer) in reads {
            for other in self.seen((key, writer), t, causes, &earlier) {
                self.order.steps += 1;
                match writer {
                    BASE => self.seen_after_base(t.seq, key)?,
                    _ => self.precede(other, writer)?,
                }
            }
            if writer != BASE {
                earlier.push(writer);
            }
            // Unless it was left out above.
            if self.residents[&t.seq].reads.contains(&(key, writer)) {
                let readers = self.readers.entry((key, writer)).or_default();
                if !readers.contains(&t.seq) {
                    readers.push(t.seq);
                }
                self.widen(key, 0, start);
            }
        }
        Ok(())
    }

    /// The remembered writers of a key that the level counts as seen by a read of `t` from `writer`. Of those of a session
    /// only the last: the others are older. What `writer` has seen is older, too.
    fn seen(&self, (key, writer): (u32, Seq), t: &Delivered, causes: &[Seq], earlier: &[Seq]) -> Vec<Seq> {
        let Some(versions) = self.versions.get(&key) else { return Vec::new() };
        let wrote = |other: &Seq| *other != writer && self.residents[other].t.writes.contains(&key);
        match self.level {
            Level::ReadCommitted => earlier.iter().copied().filter(wrote).collect(),
            Level::ReadAtomic => {
                let own = versions.last_of(t.session).filter(|own| *own != writer);
                causes.iter().copied().filter(wrote).chain(own).collect()
            }
            _ => versions.seen(t, self.residents.get(&writer).map(|writer| &*writer.t)),
        }
    }

    /// Remembers what a new transaction wrote. What it has seen is in front of it already, and known to be older.
    fn enter_writes(&mut self, t: &Delivered) {
        let Resident { start, commit, .. } = self.residents[&t.seq];
        let place = self.order.position(commit);
        for &key in &t.writes {
            let (session, position) = (t.session, t.position);
            self.versions.entry(key).or_default().push(Version { session, position, t: t.seq, start, commit });
            self.widen(key, place, 0);
        }
    }

    /// The order of appends that a transaction shows. Where one was settled before another that must precede it, or both
    /// were, what was settled by age may be wrong.
    fn enter_appended(&mut self, t: &Arc<Delivered>) -> Result<(), Failure> {
        self.has_lists |= t.record.operations.iter().any(|action| action.list.is_some());
        for &(a, b) in &t.appended {
            match (self.residents.contains_key(&a), self.residents.contains_key(&b)) {
                (true, true) => self.precede(a, b)?,
                (_, false) => self.undecided += 1,
                (false, true) => {}
            }
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
    pub(super) fn base_before(&mut self, reader: Seq, key: u32, writer: Seq) -> Result<(), Failure> {
        // It may have been left out meanwhile.
        if !self.residents[&reader].reads.contains(&(key, BASE)) {
            return Ok(());
        }
        let owner = self.base_owner(reader, key);
        self.force(self.residents[&reader].start, self.residents[&writer].commit, owner)
    }
}
