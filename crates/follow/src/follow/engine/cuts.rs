//! Where an order may be cut so that its beginning can be settled: the conditions are those of `seal`.

use super::keys::Version;
use super::{Engine, times};
use crate::follow::delivered::merge;
use crate::follow::order::Seq;
use isoscope_check::checkers::Level;
use rustc_hash::FxHashSet;

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
            first_start = first_start.min(self.order.position(self.residents[order[place]].start));
            clean[place] =
                first_start > self.order.position(self.residents[order[place - 1]].commit);
        }
        clean
    }

    /// The largest cut, up to a limit, at which nothing is lost, and the versions that can no longer be read. `by_times`:
    /// times show which of two versions is older, too.
    pub(super) fn lossless_cut(
        &self,
        order: &[Seq],
        limit: usize,
        by_times: bool,
    ) -> (usize, FxHashSet<(u32, Seq)>) {
        if limit == 0 {
            return (0, FxHashSet::default());
        }
        let places = Places::new(self, order);
        let mut dead = FxHashSet::default();
        // Differences of the number of keys that forbid a cut.
        let mut change = vec![0i64; order.len() + 2];
        for &key in &self.written_keys() {
            if let Some(versions) = self
                .keys
                .get(key)
                .map(|key| &key.versions)
                .filter(|versions| versions.len() > 1)
            {
                self.forbid_cuts(
                    key,
                    &KeyOrder::new(self, versions, &places, by_times),
                    limit,
                    &mut change,
                    &mut dead,
                );
            }
        }
        if self.level == Level::ParallelSnapshotIsolation && Condition::LastRead.is_on() {
            self.forbid_reads_of_older(&places, &mut change);
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

    /// The keys that remembered transactions wrote.
    fn written_keys(&self) -> Vec<u32> {
        let mut keys: Vec<u32> = self
            .residents
            .iter()
            .flat_map(|resident| resident.t.writes.iter().copied())
            .collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// PSI: a reader may come behind a newer version that it does not depend on. Cuts between the two are forbidden, for
    /// then it would have read another version than the settled one.
    fn forbid_reads_of_older(&self, places: &Places, change: &mut [i64]) {
        for reader in self.residents.iter() {
            let last = places.of(reader.t.seq);
            for &(key, version) in &reader.reads {
                let newer = self.next_writer(key, version).map(|newer| places.of(newer));
                if let Some(newer) = newer.filter(|&newer| last > newer) {
                    change[newer + 1] += 1;
                    change[last + 1] -= 1;
                }
            }
        }
    }

    /// Counts the cuts at which a key breaks condition 2 or 3.
    fn forbid_cuts(
        &self,
        key: u32,
        line: &KeyOrder<'_>,
        limit: usize,
        change: &mut [i64],
        dead: &mut FxHashSet<(u32, Seq)>,
    ) {
        let n_passed = line.places.partition_point(|&place| place < limit);
        let passed = n_passed.saturating_sub(PASSED_WRITERS)..n_passed;
        // So far: not known to be replaced for everything to come.
        let mut alive: Vec<usize> = Vec::new();
        for (n, (version, &place)) in line.versions.iter().zip(&line.places).enumerate() {
            let is_dead = passed
                .clone()
                .any(|other| other != n && line.is_known(n, other));
            let is_last = !Condition::OthersOlder.is_on()
                || alive.iter().all(|&other| line.is_known(other, n));
            let next = line
                .places
                .get(n + 1)
                .copied()
                .unwrap_or(self.residents.len());
            let is_newer = |other: usize| !Condition::LaterNewer.is_on() || line.is_known(n, other);
            // The first good cut behind this version, up to the next one.
            let good = match is_last {
                true if (n + 1..line.versions.len()).all(is_newer) => None,
                true if is_dead => line.last_readers[n].map(|last| last.min(next)),
                _ => Some(next),
            };
            if is_dead {
                dead.insert((key, version.t));
            } else {
                alive.push(n);
            }
            if let Some(last_bad) = good.filter(|&last_bad| last_bad > place) {
                change[place + 1] += 1;
                change[last_bad + 1] -= 1;
            }
        }
    }
}

/// Where each remembered transaction is in the order.
struct Places {
    first: Seq,
    all: Vec<u32>,
}

impl Places {
    fn new(engine: &Engine, order: &[Seq]) -> Places {
        let first = engine.residents.numbers().next().unwrap_or(0);
        let last = engine.residents.numbers().last().unwrap_or(0);
        let mut all = vec![0; (last - first + 1) as usize];
        for (place, &t) in (0..).zip(order) {
            all[(t - first) as usize] = place;
        }
        Places { first, all }
    }

    fn of(&self, t: Seq) -> usize {
        self.all[(t - self.first) as usize] as usize
    }
}

/// The versions of a key in the order, with what is known of them. O(versions and readers · sessions) to make.
struct KeyOrder<'a> {
    engine: &'a Engine,
    by_times: bool,
    versions: &'a [Version],
    /// Where they are in the order.
    places: Vec<usize>,
    /// By version and session: the last position that its writer or one of its readers has seen.
    seen: Vec<Vec<u32>>,
    /// By version: where its last reader is that forbids a cut, if the version can no longer be read.
    last_readers: Vec<Option<usize>>,
}

impl KeyOrder<'_> {
    fn new<'a>(
        engine: &'a Engine,
        versions: &'a [Version],
        places: &Places,
        by_times: bool,
    ) -> KeyOrder<'a> {
        let seen = |version: &Version| {
            let mut seen = engine.residents[version.t].t.seen.to_vec();
            for reader in version
                .readers
                .iter()
                .map(|&reader| &engine.residents[reader].t)
            {
                let own = seen.get(reader.session as usize).copied().unwrap_or(0);
                merge(&mut seen, &reader.seen);
                // What a reader writes itself is newer.
                seen[reader.session as usize] = own.max(reader.position - 1);
            }
            seen
        };
        let is_counted = !engine.level.is_weak() && Condition::Unread.is_on();
        let last_reader = |version: &Version| {
            version
                .readers
                .iter()
                .filter(|_| is_counted)
                .map(|&reader| places.of(reader))
                .max()
        };
        KeyOrder {
            engine,
            by_times,
            versions,
            places: versions
                .iter()
                .map(|version| places.of(version.t))
                .collect(),
            seen: versions.iter().map(seen).collect(),
            last_readers: versions.iter().map(last_reader).collect(),
        }
    }

    /// Whether one version is known to be older than another.
    fn is_known(&self, older: usize, newer: usize) -> bool {
        let (a, b) = (&self.versions[older], &self.versions[newer]);
        let is_before = || {
            let times = self
                .by_times
                .then(|| [a.t, b.t].map(|t| &self.engine.residents[t].t));
            times.is_some_and(|[a, b]| times::is_before(a, b))
        };
        a.t != b.t
            && (a.is_among(&self.seen[newer])
                || self.engine.known.contains(&(a.t, b.t))
                || is_before())
    }
}
