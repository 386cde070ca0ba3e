//! Parallel snapshot isolation: a transaction misses no version of one that it depends on.
//!
//! A transaction depends on another if a path of session order, reads and overwritten versions leads to it. The versions of
//! a key follow the order, so a read is wrong if such a path leads to its reader from the next writer of the key; it depends
//! on later writers only over the next one. No edge of the order expresses that: the path is looked for, backwards and
//! between the two. What is wrong by forced edges alone orders the two writers of the key the other way round. Otherwise one
//! of the pairs of writers on the path, or these two, must change places (Cerone, Bernardi & Gotsman 2015).

use super::decisions::Wrong;
use super::{BASE, Engine, Failure};
use crate::follow::order::{Owner, Seq};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

impl Engine {
    /// After events at this position or behind it moved: all readers from there on have to be looked at again.
    pub(super) fn doubt_from(&mut self, position: u64) {
        let readers = self
            .residents
            .iter()
            .filter(|resident| !resident.reads.is_empty());
        let behind = readers.filter(|reader| self.order.position(reader.start) >= position);
        self.dirty.extend(behind.map(|reader| reader.t.seq));
    }

    /// A read of `t` that misses a version of a transaction that it depends on.
    pub(super) fn missed(&self, t: Seq) -> Option<Wrong> {
        self.residents[t].reads.iter().find_map(|&(key, older)| {
            let newer = self.next_writer(key, older)?;
            let is_before = self.position(newer) < self.position(t);
            if newer == t || !is_before {
                return None;
            }
            let path = self
                .path(newer, t, true)
                .or_else(|| self.path(newer, t, false))?;
            Some(Wrong {
                key,
                older,
                newer,
                reader: Some(t),
                path,
            })
        })
    }

    fn position(&self, t: Seq) -> u64 {
        self.order.position(self.residents[t].commit)
    }

    /// The writer whose version of a key comes next in the order.
    pub(super) fn next_writer(&self, key: u32, older: Seq) -> Option<Seq> {
        self.keys
            .get(key)?
            .behind(older)
            .first()
            .map(|version| version.t)
    }

    /// A path on which `to` depends on `from`: its pairs of writers of a key that nothing but the order orders. With
    /// `is_forced`, over forced edges only.
    fn path(&self, from: Seq, to: Seq, is_forced: bool) -> Option<Vec<(Seq, Seq)>> {
        let limit = self.position(from);
        // By transaction: the next one on its path.
        let mut behind: FxHashMap<Seq, Seq> = FxHashMap::default();
        let mut waiting = vec![to];
        while let Some(at) = waiting.pop() {
            let mut before = self.order.forced_before(self.residents[at].start);
            if !is_forced {
                before.extend(
                    self.residents[at]
                        .t
                        .writes
                        .iter()
                        .filter_map(|&key| self.previous_writer(key, at)),
                );
            }
            for other in before {
                if self.position(other) < limit || other == to || behind.contains_key(&other) {
                    continue;
                }
                behind.insert(other, at);
                if other == from {
                    return Some(self.loose_pairs(from, to, &behind));
                }
                waiting.push(other);
            }
        }
        None
    }

    /// The writer whose version of a key comes before that of `t` in the order.
    fn previous_writer(&self, key: u32, t: Seq) -> Option<Seq> {
        self.keys
            .get(key)?
            .in_front(t)
            .last()
            .map(|version| version.t)
    }

    fn loose_pairs(&self, from: Seq, to: Seq, behind: &FxHashMap<Seq, Seq>) -> Vec<(Seq, Seq)> {
        let mut pairs = Vec::new();
        let mut at = from;
        while at != to {
            let next = behind[&at];
            if !self
                .order
                .is_forced(self.residents[at].commit, self.residents[next].start)
                && !self.is_known(at, next)
            {
                pairs.push((at, next));
            }
            at = next;
        }
        pairs
    }

    /// Makes one decision, or more, so that a read no longer misses a version.
    pub(super) fn mend(&mut self, wrong: Wrong) -> Result<(), Failure> {
        let Wrong {
            key,
            older,
            newer,
            reader,
            ..
        } = wrong;
        match (wrong.path.is_empty(), older, reader) {
            (true, BASE, Some(reader)) if self.base_owner(reader, key) != Owner::Forced => {
                self.give_up(reader, key);
                return Ok(());
            }
            (true, BASE, _) => return Err(Failure::Contradiction),
            (true, ..) if self.is_known(older, newer) => return Err(Failure::Contradiction),
            (true, ..) => return self.precede(newer, older),
            _ => {}
        }
        let mut blamed = BTreeSet::new();
        for (a, b) in self.ways_out(&wrong, &BTreeSet::new(), &mut blamed) {
            if self.decide(a, b, &mut blamed) {
                return Ok(());
            }
        }
        self.reconsider(wrong, blamed)
    }

    /// The orders of pairs of writers of which one must hold, except where a decision is against it: that is added to
    /// `blamed`, unless it is one of `mine`.
    pub(super) fn ways_out(
        &self,
        wrong: &Wrong,
        mine: &BTreeSet<Owner>,
        blamed: &mut BTreeSet<Owner>,
    ) -> Vec<(Seq, Seq)> {
        let Wrong {
            key,
            older,
            newer,
            reader,
            path,
        } = wrong;
        if let (BASE, Some(reader)) = (*older, *reader)
            && self.base_owner(reader, *key) != Owner::Forced
        {
            blamed.insert(self.base_owner(reader, *key));
        }
        let own = Some((*older, *newer))
            .filter(|(older, newer)| *older != BASE && !self.is_known(*older, *newer));
        let mut ways = Vec::new();
        for (a, b) in own.into_iter().chain(path.iter().copied()) {
            let pair = Owner::pair(a, b);
            if !self.decided.contains_key(&(a.min(b), a.max(b))) {
                ways.push((b, a));
            } else if !mine.contains(&pair) {
                blamed.insert(pair);
            }
        }
        ways
    }
}
