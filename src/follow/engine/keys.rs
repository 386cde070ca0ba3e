//! What is remembered of each key: its versions, in the order, and who has read them.
//!
//! Versions are kept in the order of their commits, so that the version in force at a place, the next one and the previous
//! one are next to each other. What a read returned is right in the order if it is the version in force where its
//! reader begins.

use super::BASE;
use super::settled::{Settled, Tag};
use crate::follow::delivered::Delivered;
use crate::follow::keep::kept;
use crate::follow::order::Seq;
use smallvec::SmallVec;

/// A version of a remembered writer.
#[derive(Debug)]
pub(super) struct Version {
    /// Its writer, its session and its position in it.
    pub(super) t: Seq,
    session: u32,
    position: u32,
    /// Where its writer commits in the order.
    pub(super) place: u64,
    /// Remembered transactions that read it, in the order of their entrance.
    pub(super) readers: SmallVec<[Seq; 2]>,
}

impl Version {
    /// The version that a transaction writes at a place of the order.
    pub(super) fn of(t: &Delivered, place: u64) -> Version {
        Version { t: t.seq, session: t.session, position: t.position, place, readers: SmallVec::new() }
    }

    /// Whether session order and reads lead from its writer to another transaction.
    pub(super) fn is_seen_by(&self, t: &Delivered) -> bool {
        self.t != t.seq && self.is_among(&t.seen)
    }

    /// Whether its writer is among what was seen: by session, the last position.
    pub(super) fn is_among(&self, seen: &[u32]) -> bool {
        seen.get(self.session as usize).is_some_and(|&last| self.position <= last)
    }

    /// Whether its writer comes before another transaction in a session.
    pub(super) fn is_of_session_before(&self, t: &Delivered) -> bool {
        self.session == t.session && self.position < t.position
    }
}

/// A key.
#[derive(Debug, Default)]
pub(super) struct Key {
    /// In the order.
    pub(super) versions: Vec<Version>,
    /// Remembered transactions that read the settled version.
    pub(super) base_readers: Vec<Seq>,
    /// The settled version; none as long as it is the initial one.
    pub(super) settled: Option<Settled>,
    /// How the initial version was forgotten.
    pub(super) initial: Option<Tag>,
}

impl Key {
    /// The number of versions up to that of a writer: 0 for the settled one. What was asked for is mostly among the last.
    fn up_to(&self, writer: Seq) -> Option<usize> {
        if writer == BASE {
            return Some(0);
        }
        self.versions.iter().rposition(|version| version.t == writer).map(|n| n + 1)
    }

    /// The versions behind that of a writer.
    pub(super) fn behind(&self, writer: Seq) -> &[Version] {
        self.up_to(writer).map_or(&[], |n| &self.versions[n..])
    }

    /// The versions in front of that of a writer.
    pub(super) fn in_front(&self, writer: Seq) -> &[Version] {
        self.up_to(writer).map_or(&[], |n| &self.versions[..n.saturating_sub(1)])
    }

    /// Who has read the version of a writer.
    pub(super) fn readers(&self, writer: Seq) -> &[Seq] {
        match self.up_to(writer) {
            Some(0) => &self.base_readers,
            Some(n) => &self.versions[n - 1].readers,
            None => &[],
        }
    }

    /// Notes who has read the version of a writer.
    pub(super) fn add_reader(&mut self, writer: Seq, reader: Seq) {
        let is_noted = self.readers(writer).last() == Some(&reader);
        match self.up_to(writer).filter(|_| !is_noted) {
            Some(0) => self.base_readers.push(reader),
            Some(n) => self.versions[n - 1].readers.push(reader),
            None => {}
        }
    }

    /// The writer whose version is in force in front of a place, other than `t`.
    pub(super) fn in_force(&self, place: u64, t: Seq) -> Seq {
        let n = match self.versions.last() {
            Some(last) if last.place >= place => self.versions.partition_point(|version| version.place < place),
            _ => self.versions.len(),
        };
        let version = self.versions[..n].iter().rev().find(|version| version.t != t);
        version.map_or(BASE, |version| version.t)
    }

    /// Adds a version, mostly the last one.
    pub(super) fn insert(&mut self, version: Version) {
        let n = match self.versions.last() {
            Some(last) if last.place > version.place => {
                self.versions.partition_point(|other| other.place < version.place)
            }
            _ => self.versions.len(),
        };
        self.versions.insert(n, version);
    }

    /// Takes the versions in front of a place out.
    pub(super) fn take_before(&mut self, place: u64) -> impl Iterator<Item = Version> {
        let n = self.versions.partition_point(|version| version.place < place);
        self.versions.drain(..n)
    }
}

/// All keys, by number.
#[derive(Debug, Default)]
pub(super) struct Keys {
    all: Vec<Key>,
}

kept!(Version { t, session, position, place, readers });
kept!(Key { versions, base_readers, settled, initial });
kept!(Keys { all });

impl Keys {
    /// One of them, if anything is known of it.
    pub(super) fn get(&self, key: u32) -> Option<&Key> {
        self.all.get(key as usize)
    }

    /// One of them.
    pub(super) fn entry(&mut self, key: u32) -> &mut Key {
        let place = key as usize;
        if place >= self.all.len() {
            self.all.resize_with(place + 1, Key::default);
        }
        &mut self.all[place]
    }

    /// All of them, with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Key)> {
        (0..).zip(&self.all)
    }

    /// What is settled of them, without their versions.
    pub(super) fn settled(&self) -> Keys {
        let settled = |key: &Key| Key { settled: key.settled.clone(), initial: key.initial, ..Key::default() };
        Keys { all: self.all.iter().map(settled).collect() }
    }

    /// Counts everything settled as settled by age.
    pub(super) fn count_by_age(&mut self) {
        for key in &mut self.all {
            key.settled.iter_mut().for_each(|settled| settled.by_age = true);
            key.initial.iter_mut().for_each(|tag| *tag = Tag::ByAge);
        }
    }

    /// The writers and readers of a version.
    pub(super) fn readers(&self, key: u32, writer: Seq) -> &[Seq] {
        self.get(key).map_or(&[], |key| key.readers(writer))
    }

    /// Puts the versions of a transaction, which moved, where they belong.
    pub(super) fn move_to(&mut self, t: &Delivered, place: u64) {
        for &key in &t.writes {
            if let Some(version) = self.entry(key).versions.iter_mut().rev().find(|version| version.t == t.seq) {
                version.place = place;
            }
        }
    }

    /// Sorts the versions of a key whose places have changed.
    pub(super) fn sort(&mut self, key: u32) {
        let versions = &mut self.entry(key).versions;
        if !versions.is_sorted_by_key(|version| version.place) {
            versions.sort_by_key(|version| version.place);
        }
    }
}
