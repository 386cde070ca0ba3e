//! The remembered writers of a key.

use crate::follow::delivered::Delivered;
use crate::follow::keep::kept;
use crate::follow::order::{Node, Seq};

/// A remembered writer of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version {
    pub(super) session: u32,
    /// Its position in the session.
    pub(super) position: u32,
    pub(super) t: Seq,
    /// Its events.
    pub(super) start: Node,
    pub(super) commit: Node,
}

impl Version {
    /// Whether session order and reads lead from its writer to another transaction.
    fn is_seen_by(&self, t: &Delivered) -> bool {
        self.t != t.seq && t.seen.get(self.session as usize).is_some_and(|&last| self.position <= last)
    }
}

/// In the order of their entrance, which is also that of each session.
#[derive(Debug, Default)]
pub(super) struct Versions {
    all: Vec<Version>,
}

kept!(Version { session, position, t, start, commit });
kept!(Versions { all });

impl Versions {
    /// All of them, in the order of their entrance.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Version> {
        self.all.iter()
    }

    /// Their writers, in the order of their entrance.
    pub(super) fn writers(&self) -> impl ExactSizeIterator<Item = Seq> {
        self.all.iter().map(|version| version.t)
    }

    /// A new one, the last of its session.
    pub(super) fn push(&mut self, version: Version) {
        self.all.push(version);
    }

    /// Removes one.
    pub(super) fn remove(&mut self, t: Seq) {
        self.all.retain(|version| version.t != t);
    }

    /// The last one of a session.
    pub(super) fn last_of(&self, session: u32) -> Option<Seq> {
        self.all.iter().rev().find(|version| version.session == session).map(|version| version.t)
    }

    /// Of each session, the last one that `t` has seen, unless `writer` wrote it or has seen it, too.
    pub(super) fn seen(&self, t: &Delivered, writer: Option<&Delivered>) -> Vec<Seq> {
        let is_older =
            |version: &Version| writer.is_some_and(|writer| version.t == writer.seq || version.is_seen_by(writer));
        let mut last: Vec<Version> = Vec::new();
        for version in self.all.iter().rev().filter(|version| version.is_seen_by(t)) {
            if !is_older(version) && last.iter().all(|later| later.session != version.session) {
                last.push(*version);
            }
        }
        last.into_iter().map(|version| version.t).collect()
    }
}
