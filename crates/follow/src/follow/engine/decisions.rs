//! Pairs of writers that nothing orders: the decisions on them, and the search where they contradict each other.

use super::keys::Key;
use super::{BASE, Engine, Failure, Resident};
use crate::follow::order::{Cycle, Moved, Node, Owner, Seq};
use isoscope_check::checkers::Level;
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

impl Wrong {
    /// Without a path.
    fn new(key: u32, older: Seq, newer: Seq, reader: Option<Seq>) -> Wrong {
        Wrong {
            key,
            older,
            newer,
            reader,
            path: Vec::new(),
        }
    }
}

impl Engine {
    /// Adds an edge that holds in every order, or, owned by a read, as long as that read is kept. What contradicts it
    /// gives way: decisions first, then reads of what was settled by age.
    pub(super) fn force(&mut self, from: Node, to: Node, owner: Owner) -> Result<(), Failure> {
        loop {
            let Err(cycle) = self.add(from, to, owner) else {
                return Ok(());
            };
            let loose = loose(&cycle);
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
        let Moved {
            transactions,
            between,
        } = std::mem::take(&mut self.order.moved);
        if !transactions.is_empty() {
            self.note_moved(&transactions, between);
            // At weak levels all that must be so is an edge.
            self.dirty
                .extend(transactions.into_iter().filter(|_| !self.level.is_weak()));
        }
        added
    }

    /// Puts the versions of transactions that moved between two places where they belong.
    fn note_moved(&mut self, moved: &[Seq], between: (u64, u64)) {
        let residents = || moved.iter().filter_map(|&t| self.residents.get(t));
        let mut keys: Vec<u32> = residents()
            .flat_map(|resident| resident.t.writes.iter().copied())
            .collect();
        keys.sort_unstable();
        keys.dedup();
        let place = |t: Seq| self.order.position(self.residents[t].commit);
        keys.into_iter()
            .for_each(|key| self.keys.reorder(key, between, place));
        if self.level == Level::ParallelSnapshotIsolation {
            let first = residents()
                .map(|resident| self.order.position(resident.start))
                .min();
            first.into_iter().for_each(|first| self.doubt_from(first));
        }
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
            let Wrong {
                key,
                older,
                newer,
                reader,
                ..
            } = wrong;
            match (older, reader) {
                (BASE, Some(reader)) => self.base_before(reader, key, newer)?,
                _ => self.decide_on(wrong)?,
            }
        }
        Ok(())
    }

    /// Orders two writers that the order gets wrong: as is known, or one way or the other.
    fn decide_on(&mut self, wrong: Wrong) -> Result<(), Failure> {
        let Wrong { older, newer, .. } = wrong;
        self.searched += 1;
        if self.searched > MOST_TRIED {
            return Err(Failure::TooLong);
        }
        if let Some((first, then)) = self.known_order(older, newer) {
            return self.force_pair(first, then);
        }
        let mut blamed = BTreeSet::new();
        if self.decide(older, newer, &mut blamed) || self.decide(newer, older, &mut blamed) {
            Ok(())
        } else {
            self.reconsider(wrong, blamed)
        }
    }

    /// The order of two writers, if it is known.
    fn known_order(&self, a: Seq, b: Seq) -> Option<(Seq, Seq)> {
        [(a, b), (b, a)]
            .into_iter()
            .find(|&(first, then)| self.is_known(first, then))
    }

    /// Neither order of a pair fits: takes back the decisions to blame and searches among them, as long as that blames
    /// further ones.
    pub(super) fn reconsider(
        &mut self,
        wrong: Wrong,
        blamed: BTreeSet<Owner>,
    ) -> Result<(), Failure> {
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
        let Some(wrong) = self.next_wrong() else {
            return Ok(true);
        };
        let Wrong {
            key,
            older,
            newer,
            reader,
            ..
        } = wrong;
        let is_by_paths = self.level == Level::ParallelSnapshotIsolation;
        self.searched += 1;
        if self.searched > MOST_TRIED || depth > DEEPEST {
            return Err(Failure::TooLong);
        }
        if let (BASE, Some(reader), false) = (older, reader, is_by_paths) {
            let owner = self.base_owner(reader, key);
            let added = self.add(
                self.residents[reader].start,
                self.residents[newer].commit,
                owner,
            );
            let Err(cycle) = added else {
                return self.search(blamed, mine, depth + 1);
            };
            blamed.extend(&loose(&cycle) - &*mine);
            if owner != Owner::Forced {
                blamed.insert(owner);
            }
            return Ok(false);
        }
        if !is_by_paths && let Some((first, then)) = self.known_order(older, newer) {
            for (from, to) in self.edges_of_pair(first, then) {
                if let Err(cycle) = self.add(from, to, Owner::Forced) {
                    blamed.extend(&loose(&cycle) - &*mine);
                    return Ok(false);
                }
            }
            return self.search(blamed, mine, depth + 1);
        }
        let ways = if is_by_paths {
            self.ways_out(&wrong, mine, blamed)
        } else {
            vec![(older, newer), (newer, older)]
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
            blamed.extend(&against - &*mine);
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
            if let Some(wrong) = self
                .residents
                .contains(t)
                .then(|| self.wrong_at(t))
                .flatten()
            {
                return Some(wrong);
            }
            self.dirty.remove(&t);
        }
        None
    }

    /// What the order gets wrong at a transaction.
    pub(super) fn wrong_at(&self, t: Seq) -> Option<Wrong> {
        match self.level {
            Level::ParallelSnapshotIsolation => self.missed(t),
            _ => self.wrong_read(t).or_else(|| self.wrong_version(t)),
        }
    }

    /// A read of `t` that another version comes before.
    pub(super) fn wrong_read(&self, t: Seq) -> Option<Wrong> {
        let Resident { reads, start, .. } = &self.residents[t];
        let begin = self.order.position(*start);
        reads.iter().find_map(|&(key, older)| {
            let newer = self.keys.get(key)?.in_force(begin, t);
            (newer != older).then(|| Wrong::new(key, older, newer, Some(t)))
        })
    }

    /// A version of `t` that comes between the one in front of it and a reader of that, one that comes between it and a
    /// reader of its own, or one that overlaps it. All else was right before, or is found with another that moved.
    fn wrong_version(&self, t: Seq) -> Option<Wrong> {
        self.residents[t].t.writes.iter().find_map(|&key| {
            let versions = self.keys.get(key)?;
            let before = versions
                .in_front(t)
                .last()
                .map_or(BASE, |version| version.t);
            let behind = versions.behind(t).first().map(|version| version.t);
            let missed = self.missed_by_reader(key, versions, before, t);
            let missed = missed.or_else(|| self.missed_by_reader(key, versions, t, behind?));
            missed
                .or_else(|| self.overlap(key, before, t))
                .or_else(|| self.overlap(key, t, behind?))
        })
    }

    /// A reader of a version that begins behind the next one.
    fn missed_by_reader(&self, key: u32, versions: &Key, older: Seq, newer: Seq) -> Option<Wrong> {
        let place = self.order.position(self.residents[newer].commit);
        let is_behind = |reader: &Seq| place < self.order.position(self.residents[*reader].start);
        let reader = versions.readers(older).iter().copied().find(is_behind)?;
        Some(Wrong::new(key, older, newer, Some(reader)))
    }

    /// Snapshot isolation: two writers of a key, one after the other, that overlap.
    fn overlap(&self, key: u32, older: Seq, newer: Seq) -> Option<Wrong> {
        let is_overlap = self.level == Level::SnapshotIsolation
            && older != BASE
            && self.order.position(self.residents[newer].start)
                < self.order.position(self.residents[older].commit);
        is_overlap.then(|| Wrong::new(key, older, newer, None))
    }
}

/// What may give way so that a cycle is none: the owners of its edges that are not forced, decisions before reads.
fn loose(cycle: &Cycle) -> BTreeSet<Owner> {
    let edges = cycle
        .iter()
        .filter(|owners| !owners.contains(&Owner::Forced));
    edges.flatten().copied().collect()
}
