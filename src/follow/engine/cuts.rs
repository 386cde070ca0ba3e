//! Where an order may be cut so that its beginning can be settled: the conditions are those of `seal`.

use super::Engine;
use crate::checkers::Level;
use crate::follow::order::Seq;
use rustc_hash::{FxHashMap, FxHashSet};

/// The conditions under which nothing is lost. Tests switch one off to see that it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::follow) enum Condition {
    /// Everything to come sees the beginning.
    Seen,
    /// Other writers of the key in the beginning are older than the last one.
    OthersOlder,
    /// Writers of the key behind the beginning are newer than the last one.
    LaterNewer,
    /// What can no longer be read has no reader behind the beginning.
    Unread,
    /// PSI: a reader behind the beginning has read the last version of the key in it.
    LastRead,
}

#[cfg(test)]
thread_local! {
    /// The condition that is switched off.
    pub(in crate::follow) static OFF: std::cell::Cell<Option<Condition>> = const { std::cell::Cell::new(None) };
}

impl Condition {
    #[cfg(test)]
    pub(super) fn is_on(self) -> bool {
        OFF.get() != Some(self)
    }

    #[cfg(not(test))]
    pub(super) fn is_on(self) -> bool {
        true
    }
}

/// How many of the last passed writers of a key are looked at to find out which versions can no longer be read.
const PASSED_WRITERS: usize = 6;

impl Engine {
    /// By number of transactions in front of a cut: whether none of them ends behind one that begins in front.
    pub(super) fn clean_cuts(&self, order: &[Seq]) -> Vec<bool> {
        let mut clean = vec![true; order.len() + 1];
        if !self.level.has_snapshots() {
            return clean;
        }
        let mut first_start = u64::MAX;
        for place in (1..order.len()).rev() {
            first_start = first_start.min(self.order.position(self.residents[&order[place]].start));
            clean[place] = first_start > self.order.position(self.residents[&order[place - 1]].commit);
        }
        clean
    }

    /// The largest cut, up to a limit, at which nothing is lost, and the versions that can no longer be read.
    pub(super) fn lossless_cut(&self, order: &[Seq], limit: usize) -> (usize, FxHashSet<(u32, Seq)>) {
        if limit == 0 {
            return (0, FxHashSet::default());
        }
        let place: FxHashMap<Seq, usize> = order.iter().enumerate().map(|(place, &t)| (t, place)).collect();
        let mut dead = FxHashSet::default();
        // Differences of the number of keys that forbid a cut.
        let mut change = vec![0i64; order.len() + 2];
        for (&key, versions) in self.versions.iter().filter(|(_, versions)| versions.writers().len() > 1) {
            let mut versions: Vec<Seq> = versions.writers().collect();
            versions.sort_unstable_by_key(|t| place[t]);
            self.forbid_cuts(key, &versions, &place, limit, &mut change, &mut dead);
        }
        if self.level == Level::ParallelSnapshotIsolation && Condition::LastRead.is_on() {
            self.forbid_reads_of_older(&place, &mut change);
        }
        let clean = self.clean_cuts(order);
        let mut forbidding = 0;
        let mut best = 0;
        for cut in 0..=limit {
            forbidding += change[cut];
            if forbidding == 0 && clean[cut] {
                best = cut;
            }
        }
        (best, dead)
    }

    /// PSI: a reader may come behind a newer version that it does not depend on. Cuts between the two are forbidden, for
    /// then it would have read another version than the settled one.
    fn forbid_reads_of_older(&self, place: &FxHashMap<Seq, usize>, change: &mut [i64]) {
        for (&(key, version), readers) in &self.readers {
            let Some(newer) = self.next_writer(key, version).map(|newer| place[&newer]) else { continue };
            if let Some(last) = readers.iter().map(|reader| place[reader]).max().filter(|&last| last > newer) {
                change[newer + 1] += 1;
                change[last + 1] -= 1;
            }
        }
    }

    /// Counts the cuts at which a key breaks condition 2 or 3; its versions come in the order.
    fn forbid_cuts(
        &self,
        key: u32,
        versions: &[Seq],
        place: &FxHashMap<Seq, usize>,
        limit: usize,
        change: &mut [i64],
        dead: &mut FxHashSet<(u32, Seq)>,
    ) {
        let passed: Vec<Seq> = versions.iter().copied().filter(|t| place[t] < limit).collect();
        let passed = &passed[passed.len().saturating_sub(PASSED_WRITERS)..];
        // So far: not known to be replaced for everything to come.
        let mut alive: Vec<Seq> = Vec::new();
        for (n, &t) in versions.iter().enumerate() {
            let is_dead = passed.iter().any(|&other| other != t && self.is_known_without_times(t, other));
            let is_last =
                !Condition::OthersOlder.is_on() || alive.iter().all(|&other| self.is_known_without_times(other, t));
            let next = versions.get(n + 1).map_or(place.len(), |next| place[next]);
            // The first good cut behind this version, up to the next one.
            let later = &versions[n + 1..];
            let is_newer = |&other: &Seq| !Condition::LaterNewer.is_on() || self.is_known_without_times(t, other);
            let good = match is_last {
                true if later.iter().all(is_newer) => None,
                true if is_dead => {
                    let readers = self.readers.get(&(key, t)).into_iter().flatten();
                    let last = readers
                        .filter(|_| !self.level.is_weak() && Condition::Unread.is_on())
                        .filter_map(|reader| place.get(reader))
                        .max();
                    last.map(|&last| last.min(next))
                }
                _ => Some(next),
            };
            if is_dead {
                dead.insert((key, t));
            } else {
                alive.push(t);
            }
            if let Some(last_bad) = good.filter(|&last_bad| last_bad > place[&t]) {
                change[place[&t] + 1] += 1;
                change[last_bad + 1] -= 1;
            }
        }
    }
}
