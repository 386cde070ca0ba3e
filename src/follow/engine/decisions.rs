//! Pairs of writers that nothing orders: the decisions on them, and the search where they contradict each other.

use super::{BASE, Engine, Failure, Resident, Versions};
use crate::checkers::Level;
use crate::follow::order::{Cycle, Node, Owner, Seq};
use std::collections::BTreeSet;

/// Decisions tried for one transaction before the search is given up.
const MOST_TRIED: u64 = 100_000;

/// Decisions that rest on each other in one search: its depth.
const DEEPEST: usize = 2_000;

/// Two versions of a key that the order gets wrong: `reader` read `older`, but the order has `newer` between them. Or
/// two writers of a key that overlap, without a reader.
#[derive(Clone, Debug)]
pub(super) struct Wrong {
    pub(super) key: u32,
    pub(super) older: Seq,
    pub(super) newer: Seq,
    pub(super) reader: Option<Seq>,
    /// PSI: the pairs of writers that the order orders on the path from `newer` to `reader`.
    pub(super) path: Vec<(Seq, Seq)>,
}

impl Engine {
    /// Adds an edge that holds in every order, or, owned by a read, as long as that read is kept. What contradicts it
    /// gives way: decisions first, then reads of what was settled by age.
    pub(super) fn force(&mut self, from: Node, to: Node, owner: Owner) -> Result<(), Failure> {
        loop {
            let Err(cycle) = self.add(from, to, owner) else { return Ok(()) };
            let mut loose = loose(&cycle);
            loose.sort_unstable_by_key(|owner| matches!(owner, Owner::Read(..)));
            match (loose.first(), owner) {
                (Some(&Owner::Read(reader, key)), _) if !matches!(owner, Owner::Read(r, k) if (r, k) == (reader, key)) =>
                {
                    self.give_up(reader, key);
                }
                (Some(&pair @ Owner::Pair(..)), _) => self.take_back(pair),
                (_, Owner::Read(reader, key)) => {
                    self.give_up(reader, key);
                    return Ok(());
                }
                _ => return Err(Failure::Contradiction),
            }
        }
    }

    /// Adds an edge; what moves has to be looked at again.
    fn add(&mut self, from: Node, to: Node, owner: Owner) -> Result<(), Cycle> {
        let added = self.order.add(from, to, owner);
        let moved = std::mem::take(&mut self.order.moved);
        moved.iter().for_each(|&t| self.widen_for(t));
        if self.level == Level::ParallelSnapshotIsolation {
            let places = moved.iter().filter_map(|t| self.residents.get(t)).map(|t| self.order.position(t.start));
            places.min().into_iter().for_each(|first| self.doubt_from(first));
        }
        self.dirty.extend(moved);
        added
    }

    /// Leaves out a read of what was settled by age.
    pub(super) fn give_up(&mut self, reader: Seq, key: u32) {
        self.undecided += 1;
        self.order.take_back(Owner::Read(reader, key));
        self.leave_out(reader, key);
    }

    /// Takes back a decision.
    pub(super) fn take_back(&mut self, owner: Owner) {
        self.order.take_back(owner);
        if let Owner::Pair(a, b) = owner {
            self.decided.remove(&(a, b));
            self.dirty.extend([a, b]);
        }
    }

    /// Makes decisions until the order gets nothing wrong.
    pub(super) fn solve(&mut self) -> Result<(), Failure> {
        while let Some(wrong) = self.next_wrong() {
            if self.level == Level::ParallelSnapshotIsolation {
                self.mend(wrong)?;
                continue;
            }
            let Wrong { key, older, newer, reader, .. } = wrong;
            if let (BASE, Some(reader)) = (older, reader) {
                self.base_before(reader, key, newer)?;
                continue;
            }
            if let Some((first, then)) = self.known_order(older, newer) {
                self.force_pair(first, then)?;
                continue;
            }
            let mut blamed = BTreeSet::new();
            if !self.decide(older, newer, &mut blamed) && !self.decide(newer, older, &mut blamed) {
                self.reconsider(wrong, blamed)?;
            }
        }
        Ok(())
    }

    /// The order of two writers, if it is known.
    fn known_order(&self, a: Seq, b: Seq) -> Option<(Seq, Seq)> {
        [(a, b), (b, a)].into_iter().find(|&(first, then)| self.is_known(first, then))
    }

    /// Neither order of a pair fits: takes back the decisions to blame and searches among them, as long as that blames
    /// further ones.
    pub(super) fn reconsider(&mut self, wrong: Wrong, blamed: BTreeSet<Owner>) -> Result<(), Failure> {
        let is_decision = |owner: &Owner| matches!(owner, Owner::Pair(..));
        if blamed.is_empty() {
            return Err(Failure::Contradiction);
        }
        let mut open: BTreeSet<Owner> = blamed.into_iter().filter(is_decision).collect();
        loop {
            open.iter().for_each(|&owner| self.take_back(owner));
            self.dirty.extend([wrong.older, wrong.newer]);
            self.dirty.extend(wrong.reader);
            let (mut blamed, mut mine) = (BTreeSet::new(), BTreeSet::new());
            if self.search(&mut blamed, &mut mine, 0)? {
                return Ok(());
            }
            let before = open.len();
            open.extend(blamed.iter().copied().filter(is_decision));
            if open.len() == before {
                let read = blamed.iter().find_map(|owner| match *owner {
                    Owner::Read(reader, key) => Some((reader, key)),
                    _ => None,
                });
                let (reader, key) = read.ok_or(Failure::Contradiction)?;
                self.give_up(reader, key);
            }
        }
    }

    /// Decides everything that is wrong, with a return to earlier decisions of this search (`mine`). Whether that is
    /// possible; `blamed` are the other decisions and reads that prevent it.
    fn search(
        &mut self,
        blamed: &mut BTreeSet<Owner>,
        mine: &mut BTreeSet<Owner>,
        depth: usize,
    ) -> Result<bool, Failure> {
        let Some(wrong) = self.next_wrong() else { return Ok(true) };
        let Wrong { key, older, newer, reader, .. } = wrong;
        let is_by_paths = self.level == Level::ParallelSnapshotIsolation;
        self.searched += 1;
        if self.searched > MOST_TRIED || depth > DEEPEST {
            return Err(Failure::TooLong);
        }
        if let (BASE, Some(reader), false) = (older, reader, is_by_paths) {
            let owner = self.base_owner(reader, key);
            let added = self.add(self.residents[&reader].start, self.residents[&newer].commit, owner);
            let Err(cycle) = added else { return self.search(blamed, mine, depth + 1) };
            blamed.extend(loose(&cycle).into_iter().filter(|owner| !mine.contains(owner)));
            if owner != Owner::Forced {
                blamed.insert(owner);
            }
            return Ok(false);
        }
        if !is_by_paths && let Some((first, then)) = self.known_order(older, newer) {
            for (from, to) in self.edges_of_pair(first, then) {
                if let Err(cycle) = self.add(from, to, Owner::Forced) {
                    blamed.extend(loose(&cycle).into_iter().filter(|owner| !mine.contains(owner)));
                    return Ok(false);
                }
            }
            return self.search(blamed, mine, depth + 1);
        }
        let ways = match is_by_paths {
            true => self.ways_out(&wrong, mine, blamed),
            false => vec![(older, newer), (newer, older)],
        };
        for (a, b) in ways {
            if self.is_known(b, a) {
                continue;
            }
            let pair = Owner::pair(a, b);
            let mut against = BTreeSet::new();
            if self.decide(a, b, &mut against) {
                mine.insert(pair);
                if self.search(blamed, mine, depth + 1)? {
                    return Ok(true);
                }
                mine.remove(&pair);
                self.take_back(pair);
            }
            blamed.extend(against.into_iter().filter(|owner| !mine.contains(owner)));
        }
        Ok(false)
    }

    /// Decides that `a` is older than `b`, unless something is against it: what, is added to `blamed`.
    pub(super) fn decide(&mut self, a: Seq, b: Seq, blamed: &mut BTreeSet<Owner>) -> bool {
        let pair = Owner::pair(a, b);
        let edges = self.edges_of_pair(a, b);
        self.decided.insert((a.min(b), a.max(b)), (a, b));
        for (from, to) in edges {
            if let Err(cycle) = self.add(from, to, pair) {
                blamed.extend(loose(&cycle));
                blamed.remove(&pair);
                self.take_back(pair);
                return false;
            }
        }
        true
    }

    /// The next thing that the order gets wrong, among what changed.
    fn next_wrong(&mut self) -> Option<Wrong> {
        while let Some(&t) = self.dirty.first() {
            if self.residents.contains_key(&t) {
                let wrong = match self.level {
                    Level::ParallelSnapshotIsolation => self.missed(t),
                    _ => self.wrong_read(t).or_else(|| self.wrong_version(t)),
                };
                if wrong.is_some() {
                    return wrong;
                }
            }
            self.dirty.remove(&t);
        }
        None
    }

    /// A read of `t` that another version comes before.
    pub(super) fn wrong_read(&mut self, t: Seq) -> Option<Wrong> {
        let resident = &self.residents[&t];
        let end = self.order.position(resident.start);
        let mut steps = 0;
        let wrong = resident.reads.iter().find_map(|&(key, older)| {
            let place = self.place_of(older);
            if place >= Some(self.bounds.get(&key).map_or(0, |bounds| bounds.0)) {
                return None;
            }
            let mut others = self.versions.get(&key)?.iter().inspect(|_| steps += 1);
            let newer = others.find(|other| {
                let between = self.order.position(other.commit);
                between < end && Some(between) > place && other.t != t
            })?;
            Some(Wrong { key, older, newer: newer.t, reader: Some(t), path: Vec::new() })
        });
        self.order.steps += steps;
        wrong
    }

    /// Where the version of a writer is; none for the settled one, which comes before all.
    fn place_of(&self, writer: Seq) -> Option<u64> {
        (writer != BASE).then(|| self.order.position(self.residents[&writer].commit))
    }

    /// A version of `t` that comes between another and its reader, that another comes between, or that overlaps one.
    fn wrong_version(&self, t: Seq) -> Option<Wrong> {
        let resident = &self.residents[&t];
        let place = self.order.position(resident.commit);
        resident.t.writes.iter().find_map(|&key| {
            let versions = self.versions.get(&key)?;
            // Else no reader of the key begins behind it: none can miss it, and it has none.
            let is_read_later = self.bounds.get(&key).is_some_and(|(_, last_start)| *last_start > place);
            let wrong = is_read_later.then(|| self.wrong_reader(key, versions, t, place)).flatten();
            wrong.or_else(|| self.overlapping(key, versions, t))
        })
    }

    /// A reader of a key that misses the version of `t`, or one that read it and misses another.
    fn wrong_reader(&self, key: u32, versions: &Versions, t: Seq, place: u64) -> Option<Wrong> {
        let in_front = versions.iter().filter(|other| self.order.position(other.commit) <= place);
        std::iter::once(BASE).chain(in_front.map(|other| other.t)).find_map(|older| {
            self.readers.get(&(key, older))?.iter().find_map(|&reader| {
                let end = self.order.position(self.residents[&reader].start);
                let newer = match older == t {
                    true => self.between(versions, place, reader, end),
                    false => Some(t).filter(|_| reader != t && place < end),
                };
                newer.map(|newer| Wrong { key, older, newer, reader: Some(reader), path: Vec::new() })
            })
        })
    }

    /// A version behind a place and in front of `end`, where its reader begins.
    fn between(&self, versions: &Versions, place: u64, reader: Seq, end: u64) -> Option<Seq> {
        let is_between = |other: u64| place < other && other < end;
        let mut others = versions.iter().filter(|other| other.t != reader);
        others.find(|other| is_between(self.order.position(other.commit))).map(|other| other.t)
    }

    /// Snapshot isolation: another writer of a key that overlaps `t`, the one that commits first in front.
    fn overlapping(&self, key: u32, versions: &Versions, t: Seq) -> Option<Wrong> {
        if self.level != Level::SnapshotIsolation {
            return None;
        }
        let Resident { start, commit, .. } = &self.residents[&t];
        let (start, commit) = (self.order.position(*start), self.order.position(*commit));
        versions.iter().filter(|other| other.t != t).find_map(|other| {
            let place = self.order.position(other.commit);
            let (older, newer) = match place < commit {
                true => (start < place).then_some((other.t, t)),
                false => (self.order.position(other.start) < commit).then_some((t, other.t)),
            }?;
            Some(Wrong { key, older, newer, reader: None, path: Vec::new() })
        })
    }
}

/// What may give way so that a cycle is none: the owners of its edges that are not forced.
fn loose(cycle: &Cycle) -> Vec<Owner> {
    let edges = cycle.iter().filter(|owners| !owners.contains(&Owner::Forced));
    let mut loose: Vec<Owner> = edges.flatten().copied().collect();
    loose.sort_unstable();
    loose.dedup();
    loose
}
