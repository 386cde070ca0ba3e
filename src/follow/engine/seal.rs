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
//!
//! Lists show the order of their writers late, so histories of lists are settled by age only.
//!
//! A beginning that is merely old is settled *by age*: then nothing is claimed that rests on it.

use super::cuts::Condition;
use super::{BASE, Engine};
use crate::checkers::Level;
use crate::follow::delivered::{Delivered, Read};
use crate::follow::keep::{kept, kept_enum};
use crate::follow::order::{Owner, Seq};
use crate::follow::record::Atom;
use crate::history::OperationKind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// The version of a key that a settled beginning left.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    /// Its writer; none if it can no longer be read.
    writer: Option<Seq>,
    by_age: bool,
    /// What it is, and the line of its write.
    value: (Atom, u32),
}

kept!(Settled { writer, by_age, value });
kept_enum!(Tag { 0 Remembered, 1 Passed, 2 ByAge });
kept!(Forgotten { first, tags, initial, total });

impl Settled {
    /// Whether it rests on age.
    pub(super) fn is_by_age(&self) -> bool {
        self.by_age
    }
}

/// How a transaction was forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    /// Not yet.
    Remembered,
    /// Everything to come is known to have passed it.
    Passed,
    /// By age.
    ByAge,
}

/// What was forgotten, and how.
#[derive(Clone, Debug, Default)]
pub(super) struct Forgotten {
    /// The number of the first of `tags`.
    first: Seq,
    tags: VecDeque<Tag>,
    /// By key: how its initial version was forgotten.
    initial: FxHashMap<u32, Tag>,
    total: u64,
}

impl Forgotten {
    /// Nothing but the number of transactions forgotten.
    pub(super) fn of(total: u64) -> Forgotten {
        Forgotten { total, ..Forgotten::default() }
    }

    /// Number of transactions forgotten.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// How a transaction was forgotten. What is no longer recorded counts as forgotten by age.
    fn tag(&self, t: Seq) -> Tag {
        let place = t.checked_sub(self.first).map(|place| place as usize);
        place.map_or(Tag::ByAge, |place| self.tags.get(place).copied().unwrap_or(Tag::Remembered))
    }

    /// Whether a transaction was not forgotten.
    pub(super) fn is_remembered(&self, t: Seq) -> bool {
        self.tag(t) == Tag::Remembered
    }

    fn set(&mut self, t: Seq, tag: Tag) {
        let Some(place) = t.checked_sub(self.first).map(|place| place as usize) else { return };
        if place >= self.tags.len() {
            self.tags.resize(place + 1, Tag::Remembered);
        }
        // What once was by age stays so.
        if self.tags[place] != Tag::ByAge {
            self.tags[place] = tag;
        }
    }

    /// Drops what is recorded of transactions before this one.
    fn drop_before(&mut self, first: Seq) {
        let n = (first.saturating_sub(self.first) as usize).min(self.tags.len());
        self.tags.drain(..n);
        self.first = self.first.max(first);
    }
}

/// Where the writer of a read is that is not remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It wrote the settled version of the key.
    Settled,
    /// It can no longer be read.
    Passed,
    /// It was forgotten by age.
    TooOld,
}

/// Finds the version that a transaction read.
pub(super) fn found(settled: &FxHashMap<u32, Settled>, forgotten: &Forgotten, read: &Read) -> Found {
    let tag = match settled.get(&read.key) {
        None if read.writer == BASE => return Found::Settled,
        None => Tag::ByAge,
        Some(settled) if settled.writer == Some(read.writer) => return Found::Settled,
        Some(_) if read.writer == BASE => forgotten.initial.get(&read.key).copied().unwrap_or(Tag::ByAge),
        Some(_) => forgotten.tag(read.writer),
    };
    if tag == Tag::Passed { Found::Passed } else { Found::TooOld }
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
    /// By session: the position of the last transaction that everything to come has seen. None if nothing is known.
    pub(in crate::follow) passed: Option<&'a [u32]>,
    /// The oldest transaction that a read may still name.
    pub(in crate::follow) first_named: Seq,
}

impl Surroundings<'_> {
    fn is_passed(&self, t: &Delivered) -> bool {
        let limit = self.passed.and_then(|passed| passed.get(t.session as usize));
        limit.is_some_and(|&limit| t.position <= limit)
    }
}

impl Engine {
    /// Settles what can be settled. O(remembered transactions and versions).
    pub(in crate::follow) fn seal(&mut self, around: Surroundings<'_>) {
        self.forgotten.drop_before(around.first_named);
        if self.stop.is_some() || self.residents.is_empty() {
            return;
        }
        let mut order = self.in_order();
        let is_lossless = !self.has_lists && !matches!(self.level, Level::ReadCommitted | Level::ReadAtomic);
        if around.passed.is_some() && is_lossless {
            let is_seen = |t: &Seq| !Condition::Seen.is_on() || around.is_passed(&self.residents[t].t);
            let limit = order.iter().take_while(|t| is_seen(t)).count();
            let (cut, dead) = self.lossless_cut(&order, limit);
            if cut > 0 {
                self.settle(&order[..cut], Tag::Passed, &dead);
                order.drain(..cut);
            }
        }
        if let Some(horizon) = around.horizon {
            let oldest = around.oldest_waiting.min(around.now + 1);
            let is_old = |t: &Seq| oldest.saturating_sub(self.residents[t].t.arrived) > horizon;
            let limit = order.iter().take_while(|t| is_old(t)).count();
            let clean = self.clean_cuts(&order);
            let cut = (0..=limit).rev().find(|&cut| cut == 0 || clean[cut]).unwrap_or(0);
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
    }

    /// The settled versions that may be relied on, with the lines of their writes.
    pub(in crate::follow) fn settled_state(&self) -> Vec<(u32, &Atom, u32)> {
        let certain = self.settled.iter().filter(|(_, settled)| settled.writer.is_some() && !settled.by_age);
        let mut state: Vec<_> = certain.map(|(&key, settled)| (key, &settled.value.0, settled.value.1)).collect();
        state.sort_unstable_by_key(|(key, ..)| *key);
        state
    }

    /// Whether what a remembered transaction read counts for certain, and is remembered or settled for certain.
    pub(in crate::follow) fn counts(&self, t: Seq, read: &Read) -> bool {
        let Some(resident) = self.residents.get(&t) else { return false };
        if self.residents.contains_key(&read.writer) {
            return resident.reads.contains(&(read.key, read.writer));
        }
        let is_certain = found(&self.settled, &self.forgotten, read) == Found::Settled
            && self.settled.get(&read.key).is_none_or(|settled| !settled.by_age);
        is_certain && resident.reads.contains(&(read.key, BASE))
    }

    /// The remembered transactions in the order of their commits.
    fn in_order(&self) -> Vec<Seq> {
        let mut order: Vec<Seq> = self.residents.keys().copied().collect();
        order.sort_unstable_by_key(|t| self.order.position(self.residents[t].commit));
        order
    }

    /// PSI: leaves out the reads of a settled version behind a newer one that gets settled by age.
    fn leave_out_older(&mut self, settled: &FxHashMap<u32, Seq>, beginning: &[Seq]) {
        let gone: FxHashSet<Seq> = beginning.iter().copied().collect();
        for &key in settled.keys() {
            let readers = self.readers.get(&(key, BASE)).cloned().unwrap_or_default();
            for reader in readers.into_iter().filter(|reader| !gone.contains(reader)) {
                self.undecided += 1;
                self.leave_out(reader, key);
            }
        }
    }

    /// Replaces a beginning of the order by the state that it left.
    fn settle(&mut self, beginning: &[Seq], tag: Tag, dead: &FxHashSet<(u32, Seq)>) {
        if self.log.is_some() {
            let events = self.events(beginning);
            self.log.get_or_insert_default().extend(events);
        }
        let mut last: FxHashMap<u32, Seq> = FxHashMap::default();
        for &t in beginning {
            last.extend(self.residents[&t].t.writes.iter().map(|&key| (key, t)));
        }
        if self.level == Level::ParallelSnapshotIsolation {
            self.leave_out_older(&last, beginning);
        }
        let gone: FxHashSet<Seq> = beginning.iter().copied().collect();
        for (&key, &t) in &last {
            // Weaker levels may have to go on from here: what a remembered transaction read must be found then, even if
            // nothing to come can read it.
            let is_read = self.readers.get(&(key, t)).into_iter().flatten().any(|reader| !gone.contains(reader));
            self.replace_settled(key, t, tag, is_read || !dead.contains(&(key, t)));
        }
        let mut orphans: Vec<(u32, Seq, Seq)> = Vec::new();
        for &t in beginning {
            self.forgotten.set(t, tag);
            self.forgotten.total += 1;
            self.forget(t, tag, &mut orphans);
        }
        let mut pairs: Vec<(Seq, Seq)> =
            self.decided.keys().copied().filter(|(a, b)| gone.contains(a) || gone.contains(b)).collect();
        pairs.sort_unstable();
        pairs.into_iter().for_each(|(a, b)| self.take_back(Owner::Pair(a, b)));
        for (key, writer, reader) in orphans.into_iter().filter(|(.., reader)| !gone.contains(reader)) {
            self.adopt(key, reader, writer, last[&key] == writer);
        }
        self.bounds.clear();
        self.residents.keys().copied().collect::<Vec<_>>().into_iter().for_each(|t| self.widen_for(t));
        self.dirty.retain(|t| self.residents.contains_key(t));
        if self.level.is_weak() {
            self.dirty.clear();
        }
    }

    /// The settled version of a key becomes that of `t`, which can still be found or not.
    fn replace_settled(&mut self, key: u32, t: Seq, tag: Tag, is_found: bool) {
        let by_age = tag == Tag::ByAge;
        match self.settled.get(&key) {
            Some(Settled { writer: Some(old), .. }) if by_age => self.forgotten.set(*old, Tag::ByAge),
            Some(_) => {}
            None => drop(self.forgotten.initial.insert(key, tag)),
        }
        let writes = self.residents[&t].t.record.operations.iter().rev();
        let mut writes = writes.filter(|action| action.kind == OperationKind::Write && action.key == key);
        let value = writes.next().map_or((Atom::Initial, 0), |action| (action.value.clone(), action.line));
        let writer = Some(t).filter(|_| is_found);
        self.settled.insert(key, Settled { writer, by_age, value });
    }

    /// Removes a transaction. Readers of its versions are added to `orphans`: (key, writer, reader).
    fn forget(&mut self, t: Seq, tag: Tag, orphans: &mut Vec<(u32, Seq, Seq)>) {
        let Some(resident) = self.residents.remove(&t) else { return };
        for &key in &resident.t.writes {
            if let Some(versions) = self.versions.get_mut(&key) {
                versions.remove(t);
            }
            if self.versions.get(&key).is_some_and(|versions| versions.writers().len() == 0) {
                self.versions.remove(&key);
            }
            let readers = self.readers.remove(&(key, t)).unwrap_or_default();
            orphans.extend(readers.into_iter().map(|reader| (key, t, reader)));
        }
        for read in &resident.reads {
            if let Some(readers) = self.readers.get_mut(read) {
                readers.retain(|other| *other != t);
                if readers.is_empty() {
                    self.readers.remove(read);
                }
            }
            self.order.take_back(Owner::Read(t, read.0));
        }
        for pair in self.partners.remove(&t).unwrap_or_default() {
            self.known.remove(&pair);
            let other = if pair.0 == t { pair.1 } else { pair.0 };
            if let Some(pairs) = self.partners.get_mut(&other) {
                pairs.retain(|known| *known != pair);
            }
        }
        self.forget_times(&resident.t, tag == Tag::ByAge);
        self.order.remove(resident.start);
        if resident.commit != resident.start {
            self.order.remove(resident.commit);
        }
    }

    /// A remembered transaction read a version that is settled now: the settled one, or, by age, one that can no longer
    /// be judged.
    fn adopt(&mut self, key: u32, reader: Seq, writer: Seq, is_settled: bool) {
        let is_weak = self.level.is_weak();
        let Some(resident) = self.residents.get_mut(&reader) else { return };
        resident.reads.retain(|read| *read != (key, writer));
        if is_settled {
            resident.reads.push((key, BASE));
            self.readers.entry((key, BASE)).or_default().push(reader);
            self.dirty.insert(reader);
        } else if !is_weak {
            // Weak levels judged the read when it came.
            self.undecided += 1;
        }
    }
}
