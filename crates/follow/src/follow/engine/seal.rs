//! Settling a beginning of the order: its transactions give way to the state that they left.
//!
//! Let A be a beginning of an order that satisfies the level, in which no transaction of A begins and ends on different
//! sides. Nothing is lost if
//!
//! 1. everything to come, and everything that waits, comes after all of A and sees it;
//! 2. for each key, every other writer in A is known to be older than the last one in A, or can no longer be read;
//! 3. that last one is known to be older than every writer outside A, or can no longer be read and, from PC up, has no
//!    reader outside A.
//!
//! A version can no longer be read if it is known to be older than another one that everything to come sees. For then an
//! order for the whole exists exactly if one exists for the rest with the state that A left as its initial state: the
//! order found for A can be put in front of any order of the rest, and conversely the rest of any order for the whole
//! fits that state. At RC and RA condition 1 never holds, since any session may read old versions.
//!
//! At PSI a reader may come behind a newer version that it does not depend on. There no reader outside A may have read
//! another version of A, or of what was settled before, than the last one of its key in A.
//!
//! What is known of writers rests on session order, reads and lists here, not on times: so it holds at weaker levels, too.
//! Only where SSER is followed alone do times count as well: what ended before everything to come begins has been passed.
//!
//! Lists show the order of their writers late, so histories of lists are settled by age only.
//!
//! A beginning that is merely old is settled *by age*: then nothing is claimed that rests on it.

use super::cuts::Condition;
use super::keys::{Key, Version};
use super::settled::{Forgotten, Settled, Tag};
use super::{BASE, Engine, Resident};
use crate::follow::delivered::{Delivered, Read};
use crate::follow::order::{Owner, Seq};
use crate::follow::record::Atom;
use isoscope_check::checkers::Level;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Where the writer of a read is that is not remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriterFate {
    /// It wrote the settled version of the key.
    Settled,
    /// It can no longer be read.
    Passed,
    /// It was forgotten by age.
    TooOld,
}

/// Finds the version that a transaction read.
pub(super) fn found(key: Option<&Key>, forgotten: &Forgotten, read: &Read) -> WriterFate {
    let tag = match key.and_then(|key| key.settled.as_ref()) {
        None if read.writer == BASE => return WriterFate::Settled,
        None => Tag::ByAge,
        Some(settled) if settled.writer == Some(read.writer) => return WriterFate::Settled,
        Some(_) if read.writer == BASE => key.and_then(|key| key.initial).unwrap_or(Tag::ByAge),
        Some(_) => forgotten.tag(read.writer),
    };
    if tag == Tag::Passed {
        WriterFate::Passed
    } else {
        WriterFate::TooOld
    }
}

/// What an engine has to know about the stream to settle anything.
#[derive(Clone, Copy, Debug)]
pub(in crate::follow) struct Surroundings<'a> {
    /// Transactions that have arrived.
    pub(in crate::follow) now: u64,
    /// The arrival of the oldest transaction that waits; after the last if none does.
    pub(in crate::follow) oldest_waiting: u64,
    /// The age in transactions at which everything is settled.
    pub(in crate::follow) horizon: Option<u64>,
    /// Everything to come and everything that waits began then or later, where levels without real time no longer matter.
    pub(in crate::follow) begun: Option<i64>,
    /// By session: the position of the last transaction that everything to come has seen. None if nothing is known.
    pub(in crate::follow) passed: Option<&'a [u32]>,
    /// The oldest transaction that a read may still name.
    pub(in crate::follow) first_named: Seq,
}

impl Surroundings<'_> {
    fn is_passed(&self, t: &Delivered) -> bool {
        let limit = self
            .passed
            .and_then(|passed| passed.get(t.session as usize));
        let ended = self
            .begun
            .zip(t.record.interval)
            .is_some_and(|(begun, interval)| interval.end < begun);
        ended || limit.is_some_and(|&limit| t.position <= limit)
    }
}

impl Engine {
    /// Settles what can be settled. O(remembered transactions and versions).
    pub(in crate::follow) fn seal(&mut self, around: Surroundings<'_>) {
        self.forgotten.drop_before(around.first_named);
        if self.stop.is_some() || self.residents.len() == 0 {
            return;
        }
        let mut order = self.in_order();
        let is_lossless =
            !self.has_lists && !matches!(self.level, Level::ReadCommitted | Level::ReadAtomic);
        if (around.passed.is_some() || around.begun.is_some()) && is_lossless {
            let is_seen =
                |t: &Seq| !Condition::Seen.is_on() || around.is_passed(&self.residents[*t].t);
            let limit = order.iter().take_while(|t| is_seen(t)).count();
            let (cut, dead) = self.lossless_cut(&order, limit, around.begun.is_some());
            if cut > 0 {
                self.settle(&order[..cut], Tag::Passed, &dead);
                order.drain(..cut);
            }
        }
        if let Some(horizon) = around.horizon {
            let oldest = around.oldest_waiting.min(around.now + 1);
            let is_old = |t: &Seq| oldest.saturating_sub(self.residents[*t].t.arrived) > horizon;
            let limit = order.iter().take_while(|t| is_old(t)).count();
            let clean = self.clean_cuts(&order);
            let cut = (0..=limit)
                .rev()
                .find(|&cut| cut == 0 || clean[cut])
                .unwrap_or(0);
            if cut > 0 {
                self.settle(&order[..cut], Tag::ByAge, &FxHashSet::default());
            }
        }
        if let Some(last) = order.last().copied()
            && !self.level.is_weak()
        {
            self.searched = 0;
            if let Err(failure) = self.solve() {
                self.end(failure, last);
            }
        }
        #[cfg(debug_assertions)]
        self.assert_invariants();
    }

    /// The settled versions that may be relied on, with the lines of their writes.
    pub(in crate::follow) fn settled_state(&self) -> Vec<(u32, &Atom, u32)> {
        let settled = self
            .keys
            .iter()
            .filter_map(|(number, key)| Some((number, key.settled.as_ref()?)));
        let certain = settled.filter(|(_, settled)| settled.writer.is_some() && !settled.by_age);
        certain
            .map(|(number, settled)| (number, &settled.value.0, settled.value.1))
            .collect()
    }

    /// Whether what a remembered transaction read counts for certain, and is remembered or settled for certain.
    pub(in crate::follow) fn counts(&self, t: Seq, read: &Read) -> bool {
        let Some(resident) = self.residents.get(t) else {
            return false;
        };
        if self.residents.contains(read.writer) {
            return resident.reads.contains(&(read.key, read.writer));
        }
        let key = self.keys.get(read.key);
        let is_certain = found(key, &self.forgotten, read) == WriterFate::Settled
            && key
                .and_then(|key| key.settled.as_ref())
                .is_none_or(|settled| !settled.by_age);
        is_certain && resident.reads.contains(&(read.key, BASE))
    }

    /// The remembered transactions in the order of their commits.
    fn in_order(&self) -> Vec<Seq> {
        let place = |resident: &Resident| (self.order.position(resident.commit), resident.t.seq);
        let mut order: Vec<(u64, Seq)> = self.residents.iter().map(place).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, t)| t).collect()
    }

    /// Replaces a beginning of the order by the state that it left.
    fn settle(&mut self, beginning: &[Seq], tag: Tag, dead: &FxHashSet<(u32, Seq)>) {
        let Some(&last) = beginning.last() else {
            return;
        };
        if self.log.is_some() {
            let events = self.events(beginning);
            self.log.get_or_insert_default().extend(events);
        }
        // The first place behind the beginning.
        let end = self.order.position(self.residents[last].commit) + 1;
        for &t in beginning {
            let t = Arc::clone(&self.residents[t].t);
            t.writes
                .iter()
                .for_each(|&key| self.settle_key(key, end, tag, dead));
        }
        beginning.iter().for_each(|&t| self.forget(t, end, tag));
        let is_gone =
            |(a, b): &(Seq, Seq)| !self.residents.contains(*a) || !self.residents.contains(*b);
        let mut pairs: Vec<(Seq, Seq)> = self.decided.keys().copied().filter(is_gone).collect();
        pairs.sort_unstable();
        pairs
            .into_iter()
            .for_each(|(a, b)| self.take_back(Owner::Pair(a, b)));
        self.dirty.retain(|&t| self.residents.contains(t));
    }

    /// The last version of a key in front of a place becomes the settled one, also for its readers behind that place. What
    /// these read of older ones can no longer be judged; at weak levels that was done when they came.
    fn settle_key(&mut self, number: u32, end: u64, tag: Tag, dead: &FxHashSet<(u32, Seq)>) {
        let mut older: Vec<Version> = self.keys.entry(number).take_before(end);
        let Some(last) = older.pop() else { return };
        let base = std::mem::take(&mut self.keys.entry(number).base_readers);
        let is_behind = |reader: &Seq| self.order.position(self.residents[*reader].start) >= end;
        let readers: Vec<Seq> = last.readers.iter().copied().filter(is_behind).collect();
        let of_older = older
            .iter()
            .flat_map(|version| &version.readers)
            .chain(&base);
        let lost: Vec<Seq> = of_older.copied().filter(is_behind).collect();
        let is_older =
            |writer: Seq| writer == BASE || older.iter().any(|version| version.t == writer);
        for &reader in &lost {
            let Some(resident) = self.residents.get_mut(reader) else {
                continue;
            };
            resident
                .reads
                .retain(|&(key, writer)| key != number || !is_older(writer));
        }
        // After those: one transaction may have read two versions.
        for &reader in &readers {
            let reads = self
                .residents
                .get_mut(reader)
                .map(|resident| resident.reads.iter_mut());
            let of_last = reads
                .into_iter()
                .flatten()
                .filter(|read| **read == (number, last.t));
            of_last.for_each(|read| read.1 = BASE);
        }
        if !self.level.is_weak() {
            lost.iter()
                .for_each(|&reader| self.order.take_back(Owner::Read(reader, number)));
            self.undecided += lost.len() as u64;
        }
        // Weaker levels may have to go on from here: what a remembered transaction read must be found then, even if
        // nothing to come can read it.
        let is_found = !readers.is_empty() || !dead.contains(&(number, last.t));
        self.keys.entry(number).base_readers = readers;
        self.replace_settled(number, last.t, tag, is_found);
    }

    /// The settled version of a key becomes that of `t`, which can still be found or not.
    fn replace_settled(&mut self, number: u32, t: Seq, tag: Tag, is_found: bool) {
        let by_age = tag == Tag::ByAge;
        let mut writes = self.residents[t].t.record.writes().rev();
        let last = writes.find(|action| action.key == number);
        let value = last.map_or((Atom::Initial, 0), |action| {
            (action.value.clone(), action.line)
        });
        let key = self.keys.entry(number);
        match &key.settled {
            Some(Settled {
                writer: Some(old), ..
            }) if by_age => self.forgotten.set(*old, Tag::ByAge),
            Some(_) => {}
            None => key.initial = Some(tag),
        }
        key.settled = Some(Settled {
            writer: Some(t).filter(|_| is_found),
            by_age,
            value,
        });
    }

    /// Removes a transaction in front of a place, whose versions are settled.
    fn forget(&mut self, t: Seq, end: u64, tag: Tag) {
        self.forgotten.add(t, tag);
        let Some(resident) = self.residents.remove(t) else {
            return;
        };
        for &(key, _) in resident.reads.iter().filter(|(_, writer)| *writer == BASE) {
            self.keys
                .entry(key)
                .base_readers
                .retain(|other| *other != t);
            self.order.take_back(Owner::Read(t, key));
        }
        for pair in self.partners.remove(&t).unwrap_or_default() {
            self.known.remove(&pair);
            let other = if pair.0 == t { pair.1 } else { pair.0 };
            if let Some(pairs) = self.partners.get_mut(&other) {
                pairs.retain(|known| *known != pair);
            }
        }
        self.forget_times(&resident.t, tag == Tag::ByAge);
        self.order.remove_first(resident.start, end);
        if resident.commit != resident.start {
            self.order.remove_first(resident.commit, end);
        }
    }
}
