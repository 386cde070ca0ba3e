//! The remembered writers of a key.

use crate::follow::keep::kept;
use crate::follow::order::Seq;

/// By session and in the order of their entrance.
#[derive(Debug, Default)]
pub(super) struct Versions {
    all: Vec<Seq>,
    /// (session, positions, writers), ascending.
    sessions: Vec<(u32, Vec<u32>, Vec<Seq>)>,
}

kept!(Versions { all, sessions });

impl Versions {
    /// All of them, in the order of their entrance.
    pub(super) fn all(&self) -> &[Seq] {
        &self.all
    }

    /// A new one, the last of its session.
    pub(super) fn push(&mut self, session: u32, position: u32, t: Seq) {
        self.all.push(t);
        let place = match self.sessions.iter().position(|(other, ..)| *other == session) {
            Some(place) => place,
            None => {
                self.sessions.push((session, Vec::new(), Vec::new()));
                self.sessions.len() - 1
            }
        };
        let (_, positions, writers) = &mut self.sessions[place];
        positions.push(position);
        writers.push(t);
    }

    /// Removes one.
    pub(super) fn remove(&mut self, t: Seq) {
        self.all.retain(|other| *other != t);
        for (_, positions, writers) in &mut self.sessions {
            if let Some(place) = writers.iter().position(|other| *other == t) {
                positions.remove(place);
                writers.remove(place);
            }
        }
        self.sessions.retain(|(_, _, writers)| !writers.is_empty());
    }

    /// Those of a session.
    pub(super) fn of_session(&self, session: u32) -> &[Seq] {
        let found = self.sessions.iter().find(|(other, ..)| *other == session);
        found.map(|(_, _, writers)| writers.as_slice()).unwrap_or_default()
    }

    /// Of each session, the last one that was seen; `seen` are the last positions by session.
    pub(super) fn seen(&self, seen: &[u32]) -> impl Iterator<Item = Seq> {
        self.split(seen).filter_map(|(writers, n)| writers[..n].last().copied())
    }

    /// Of each session, those that were not seen.
    pub(super) fn unseen(&self, seen: &[u32]) -> impl Iterator<Item = &[Seq]> {
        self.split(seen).map(|(writers, n)| &writers[n..])
    }

    /// The writers of each session, and how many of them were seen.
    fn split(&self, seen: &[u32]) -> impl Iterator<Item = (&[Seq], usize)> {
        self.sessions.iter().map(|(session, positions, writers)| {
            let last = seen.get(*session as usize).copied().unwrap_or(0);
            (writers.as_slice(), positions.partition_point(|position| *position <= last))
        })
    }
}
