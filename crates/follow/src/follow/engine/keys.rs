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
use std::collections::{BTreeMap, VecDeque};

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
        Version {
            t: t.seq,
            session: t.session,
            position: t.position,
            place,
            readers: SmallVec::new(),
        }
    }

    /// Whether session order and reads lead from its writer to another transaction.
    pub(super) fn is_seen_by(&self, t: &Delivered) -> bool {
        self.t != t.seq && self.is_among(&t.seen)
    }

    /// Whether its writer comes before another transaction in a session.
    #[cfg(debug_assertions)]
    pub(super) fn is_of_session_before(&self, t: &Delivered) -> bool {
        self.session == t.session && self.position < t.position
    }

    /// Whether its writer is among what was seen: by session, the last position.
    pub(super) fn is_among(&self, seen: &[u32]) -> bool {
        seen.get(self.session as usize)
            .is_some_and(|&last| self.position <= last)
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
    /// By session: the positions and numbers of its writers, ascending.
    by_session: BTreeMap<u32, VecDeque<(u32, Seq)>>,
}

impl Key {
    /// The number of versions up to that of a writer: 0 for the settled one. What was asked for is mostly among the last.
    fn up_to(&self, writer: Seq) -> Option<usize> {
        if writer == BASE {
            return Some(0);
        }
        self.versions
            .iter()
            .rposition(|version| version.t == writer)
            .map(|n| n + 1)
    }

    /// The versions behind that of a writer.
    pub(super) fn behind(&self, writer: Seq) -> &[Version] {
        self.up_to(writer).map_or(&[], |n| &self.versions[n..])
    }

    /// The versions in front of that of a writer.
    pub(super) fn in_front(&self, writer: Seq) -> &[Version] {
        self.up_to(writer)
            .map_or(&[], |n| &self.versions[..n.saturating_sub(1)])
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
            Some(last) if last.place >= place => self
                .versions
                .partition_point(|version| version.place < place),
            _ => self.versions.len(),
        };
        let version = self.versions[..n]
            .iter()
            .rev()
            .find(|version| version.t != t);
        version.map_or(BASE, |version| version.t)
    }

    /// Adds a version, mostly the last one.
    pub(super) fn insert(&mut self, version: Version) {
        let n = match self.versions.last() {
            Some(last) if last.place > version.place => self
                .versions
                .partition_point(|other| other.place < version.place),
            _ => self.versions.len(),
        };
        self.by_session
            .entry(version.session)
            .or_default()
            .push_back((version.position, version.t));
        self.versions.insert(n, version);
    }

    /// Takes the versions in front of a place out. The order keeps those of a session in theirs.
    pub(super) fn take_before(&mut self, place: u64) -> Vec<Version> {
        let n = self
            .versions
            .partition_point(|version| version.place < place);
        let taken: Vec<Version> = self.versions.drain(..n).collect();
        for version in &taken {
            self.by_session
                .get_mut(&version.session)
                .and_then(VecDeque::pop_front);
        }
        self.by_session.retain(|_, writers| !writers.is_empty());
        taken
    }

    /// By session: the last version of a writer that is among `seen` and not among what was `seen_before`.
    pub(super) fn last_seen<'a>(
        &'a self,
        seen: &'a [u32],
        seen_before: &'a [u32],
    ) -> impl Iterator<Item = Seq> + 'a {
        self.by_session
            .iter()
            .filter_map(move |(&session, writers)| {
                let limit = |seen: &[u32]| seen.get(session as usize).copied().unwrap_or(0);
                let (first, last) = (limit(seen_before), limit(seen));
                let is_seen = |&(position, _): &(u32, Seq)| position <= last;
                let n = match writers.back() {
                    _ if last <= first => 0,
                    Some(back) if is_seen(back) => writers.len(),
                    _ => writers.partition_point(is_seen),
                };
                let &(position, t) = writers.get(n.checked_sub(1)?)?;
                (position > first).then_some(t)
            })
    }

    /// The last version of a writer of this session.
    pub(super) fn last_of(&self, session: u32) -> Option<Seq> {
        self.by_session.get(&session)?.back().map(|&(_, t)| t)
    }
}

/// All keys, by number.
#[derive(Debug, Default)]
pub(super) struct Keys {
    all: Vec<Key>,
}

kept!(Version {
    t,
    session,
    position,
    place,
    readers
});
kept!(Key {
    versions,
    base_readers,
    settled,
    initial,
    by_session
});
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
        let settled = |key: &Key| Key {
            settled: key.settled.clone(),
            initial: key.initial,
            ..Key::default()
        };
        Keys {
            all: self.all.iter().map(settled).collect(),
        }
    }

    /// Counts everything settled as settled by age.
    pub(super) fn count_by_age(&mut self) {
        for key in &mut self.all {
            key.settled
                .iter_mut()
                .for_each(|settled| settled.by_age = true);
            key.initial.iter_mut().for_each(|tag| *tag = Tag::ByAge);
        }
    }

    /// The readers of a version.
    pub(super) fn readers(&self, key: u32, writer: Seq) -> &[Seq] {
        self.get(key).map_or(&[], |key| key.readers(writer))
    }

    /// Puts the versions of a key between two places where they belong, after some of their writers moved among these.
    pub(super) fn reorder(
        &mut self,
        key: u32,
        (first, last): (u64, u64),
        place: impl Fn(Seq) -> u64,
    ) {
        let versions = &mut self.entry(key).versions;
        let begin = versions.partition_point(|version| version.place < first);
        let end = versions.partition_point(|version| version.place <= last);
        let between = &mut versions[begin..end];
        between
            .iter_mut()
            .for_each(|version| version.place = place(version.t));
        between.sort_by_key(|version| version.place);
    }
}
