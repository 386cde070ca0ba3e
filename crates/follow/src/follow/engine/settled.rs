//! What is known of transactions that were settled.

use crate::follow::keep::{kept, kept_enum};
use crate::follow::order::Seq;
use crate::follow::record::Atom;
use std::collections::VecDeque;

/// The version of a key that a settled beginning left.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    /// Its writer; none if it can no longer be read.
    pub(super) writer: Option<Seq>,
    /// Whether it rests on age.
    pub(super) by_age: bool,
    /// What it is, and the line of its write.
    pub(super) value: (Atom, u32),
}

kept!(Settled {
    writer,
    by_age,
    value
});
kept_enum!(Tag { 0 Remembered, 1 Passed, 2 ByAge });
kept!(Forgotten { first, tags, total });

/// How a transaction was forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
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
    total: u64,
}

impl Forgotten {
    /// Nothing but the number of transactions forgotten.
    pub(super) fn of(total: u64) -> Forgotten {
        Forgotten {
            total,
            ..Forgotten::default()
        }
    }

    /// Number of transactions forgotten.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// How a transaction was forgotten. What is no longer recorded counts as forgotten by age.
    pub(super) fn tag(&self, t: Seq) -> Tag {
        let place = t.checked_sub(self.first).map(|place| place as usize);
        place.map_or(Tag::ByAge, |place| {
            self.tags.get(place).copied().unwrap_or(Tag::Remembered)
        })
    }

    /// Whether a transaction was not forgotten.
    pub(super) fn is_remembered(&self, t: Seq) -> bool {
        self.tag(t) == Tag::Remembered
    }

    /// Notes how a transaction was forgotten.
    pub(super) fn set(&mut self, t: Seq, tag: Tag) {
        let Some(place) = t.checked_sub(self.first).map(|place| place as usize) else {
            return;
        };
        if place >= self.tags.len() {
            self.tags.resize(place + 1, Tag::Remembered);
        }
        // What once was by age stays so.
        if self.tags[place] != Tag::ByAge {
            self.tags[place] = tag;
        }
    }

    /// A remembered transaction is forgotten.
    pub(super) fn add(&mut self, t: Seq, tag: Tag) {
        self.set(t, tag);
        self.total += 1;
    }

    /// Counts everything forgotten as forgotten by age.
    pub(super) fn count_by_age(&mut self) {
        self.tags
            .iter_mut()
            .filter(|tag| **tag == Tag::Passed)
            .for_each(|tag| *tag = Tag::ByAge);
    }

    /// Drops what is recorded of transactions before this one.
    pub(super) fn drop_before(&mut self, first: Seq) {
        let n = (first.saturating_sub(self.first) as usize).min(self.tags.len());
        self.tags.drain(..n);
        self.first = self.first.max(first);
    }
}
