//! The remembered writers of a key.

use crate::follow::keep::kept;
use crate::follow::order::Seq;

/// A remembered writer of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version {
    pub(super) session: u32,
    /// Its position in the session.
    pub(super) position: u32,
    pub(super) t: Seq,
}

impl Version {
    /// Whether it was seen; `seen` are the last positions by session.
    pub(super) fn is_in(&self, seen: &[u32]) -> bool {
        seen.get(self.session as usize).is_some_and(|&last| self.position <= last)
    }
}

/// By session and in the order of their entrance.
#[derive(Debug, Default)]
pub(super) struct Versions {
    all: Vec<Seq>,
    /// Those of a session, ascending; none is empty.
    sessions: Vec<Vec<Version>>,
}

kept!(Version { session, position, t });
kept!(Versions { all, sessions });

impl Versions {
    /// All of them, in the order of their entrance.
    pub(super) fn all(&self) -> &[Seq] {
        &self.all
    }

    /// A new one, the last of its session.
    pub(super) fn push(&mut self, version: Version) {
        self.all.push(version.t);
        match self.sessions.iter_mut().find(|versions| is_of(versions, version.session)) {
            Some(versions) => versions.push(version),
            None => self.sessions.push(vec![version]),
        }
    }

    /// Removes one.
    pub(super) fn remove(&mut self, session: u32, t: Seq) {
        let place = |versions: &[Seq]| versions.iter().position(|other| *other == t);
        if let Some(place) = place(&self.all) {
            self.all.remove(place);
        }
        let Some(of_session) = self.sessions.iter().position(|versions| is_of(versions, session)) else { return };
        self.sessions[of_session].retain(|version| version.t != t);
        if self.sessions[of_session].is_empty() {
            self.sessions.swap_remove(of_session);
        }
    }

    /// Those of a session.
    pub(super) fn of_session(&self, session: u32) -> &[Version] {
        let found = self.sessions.iter().find(|versions| is_of(versions, session));
        found.map(Vec::as_slice).unwrap_or_default()
    }

    /// Of each session, the last one that was seen; `seen` are the last positions by session.
    pub(super) fn seen(&self, seen: &[u32]) -> impl Iterator<Item = Version> {
        self.split(seen).filter_map(|(versions, n)| versions[..n].last().copied())
    }

    /// Of each session, those that were not seen.
    pub(super) fn unseen(&self, seen: &[u32]) -> impl Iterator<Item = &[Version]> {
        self.split(seen).map(|(versions, n)| &versions[n..])
    }

    /// The writers of each session, and how many of them were seen.
    fn split(&self, seen: &[u32]) -> impl Iterator<Item = (&[Version], usize)> {
        self.sessions.iter().map(|versions| {
            let n = match versions.last() {
                Some(last) if last.is_in(seen) => versions.len(),
                _ => versions.partition_point(|version| version.is_in(seen)),
            };
            (versions.as_slice(), n)
        })
    }
}

fn is_of(versions: &[Version], session: u32) -> bool {
    versions.first().is_some_and(|first| first.session == session)
}
