//! What a new transaction forces.

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
        self.dirty.insert(t.seq);
        self.enter_reads(t, reads, &seen)?;
        self.enter_writes(t)?;
        self.enter_appended(t)?;
        match self.level.is_weak() {
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
            if self.level == Level::ReadCommitted || !reads.contains(&(read.key, writer)) {
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
            for (other, is_seen) in self.others((key, writer), t, causes, &earlier) {
                self.order.steps += 1;
                if other == writer || other == t.seq {
                    continue;
                }
                match (is_seen, writer) {
                    (true, BASE) => self.seen_after_base(t.seq, key)?,
                    (true, _) => self.precede(other, writer)?,
                    (false, _) if self.orders_writers_only() => {}
                    (false, BASE) => self.base_before(t.seq, key, other)?,
                    (false, _) if self.is_known(writer, other) => {
                        self.force(start, self.residents[&other].commit, Owner::Forced)?;
                    }
                    (false, _) => self.follow_decision(start, writer, other),
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
                self.widen(key, 0, self.order.position(start));
            }
        }
        Ok(())
    }

    /// The remembered writers of a key that matter to a read of `t` from `writer`, and whether the level counts them as seen.
    /// Of those of a session that it has seen only the last: the others are older. What `writer` has seen is older, too.
    fn others(&self, (key, writer): (u32, Seq), t: &Delivered, causes: &[Seq], earlier: &[Seq]) -> Vec<(Seq, bool)> {
        let Some(versions) = self.versions.get(&key) else { return Vec::new() };
        // What comes later in the session needs no edge of its own.
        let until_known = |of_session: &[Version]| -> usize {
            let known = of_session.iter().position(|other| writer == BASE || self.is_known(writer, other.t));
            known.map_or(of_session.len(), |known| known + 1)
        };
        let of_writer = if writer == BASE { &[] } else { &*self.residents[&writer].t.seen };
        let is_newer = |other: &Version| other.t == writer || !other.is_in(of_writer);
        let wrote = |other: &&Seq| self.residents[*other].t.writes.contains(&key);
        match self.level {
            Level::ReadCommitted => earlier.iter().filter(wrote).map(|&other| (other, true)).collect(),
            Level::ReadAtomic => {
                let own = versions.of_session(t.session).last().map(|own| &own.t);
                causes.iter().filter(wrote).chain(own).map(|&other| (other, true)).collect()
            }
            Level::TransactionalCausalConsistency | Level::ParallelSnapshotIsolation => {
                versions.seen(&t.seen).filter(is_newer).map(|other| (other.t, true)).collect()
            }
            _ => {
                let seen = versions.seen(&t.seen).filter(is_newer).map(|other| (other.t, true));
                let unseen = versions.unseen(&t.seen).flat_map(|writers| &writers[..until_known(writers)]);
                seen.chain(unseen.map(|other| (other.t, false))).collect()
            }
        }
    }

    /// What the writes of a new transaction force: what it has seen is older.
    fn enter_writes(&mut self, t: &Arc<Delivered>) -> Result<(), Failure> {
        let commit = self.order.position(self.residents[&t.seq].commit);
        for &key in &t.writes {
            for other in self.latest_seen(key, t) {
                self.order.steps += 1;
                self.force_pair(other, t.seq)?;
            }
            let (session, position) = (t.session, t.position);
            self.versions.entry(key).or_default().push(Version { session, position, t: t.seq });
            self.widen(key, commit, 0);
        }
        Ok(())
    }

    /// The remembered writers of a key that a transaction has seen, without those that others of these have seen: what is
    /// before these is before the others. None where writers only are ordered, for these are in front of it already.
    fn latest_seen(&self, key: u32, t: &Delivered) -> Vec<Seq> {
        let Some(versions) = self.versions.get(&key).filter(|_| !self.orders_writers_only()) else { return Vec::new() };
        let mut seen: Vec<Version> = versions.seen(&t.seen).collect();
        seen.sort_unstable_by_key(|version| std::cmp::Reverse(version.t));
        let mut latest: Vec<Seq> = Vec::new();
        for version in seen {
            if !latest.iter().any(|later| version.is_in(&self.residents[later].t.seen)) {
                latest.push(version.t);
            }
        }
        latest
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
