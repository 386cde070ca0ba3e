//! Stores in memory that keep exactly one promise.
//!
//! A store is a log of transactions, run one at a time, with all versions of every key in log order. The promise of a
//! model is determined by what its transactions see of the log:
//!
//! | model | sees | breaks |
//! |---|---|---|
//! | strict | everything | |
//! | serial | everything; transactions that only read a prefix of the log, no shorter than what their session saw | real time |
//! | si | such a prefix; rolled back if another transaction has since written what it writes | serializability (write skew) |
//! | pc | such a prefix | snapshot isolation (lost updates) |
//! | tcc | a prefix from a lagging replica, and all that its own session wrote | prefix consistency (long forks) |
//! | ra | of each key any version that tears no transaction it read from, and nothing older than its session's own | causality |
//! | rc | with each read a prefix at least as long as with the one before | read atomicity |
//!
//! The log order is a commit order that explains every history: a prefix of it is closed under causality, because
//! transactions only see earlier ones.

use super::plan::{Key, Observed, Step, Values};
use fastrand::Rng;
use isoscope_model::history::words;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

words! {
    /// What a store promises: the strongest first.
    Model by name of "store" {
        /// Strict serializability.
        Strict = "strict" | "sser",
        /// Serializability.
        Serial = "serial" | "ser",
        /// Snapshot isolation.
        Snapshot = "si",
        /// Prefix consistency: snapshots without conflict detection.
        Prefix = "pc",
        /// Transactional causal consistency, from replicas that lag behind.
        Causal = "tcc",
        /// Read atomicity.
        Atomic = "ra",
        /// Read committed.
        Committed = "rc",
    }
}

impl Model {
    /// The code of the strongest level that all its histories satisfy.
    pub fn promises(self) -> &'static str {
        match self {
            Model::Strict => "SSER",
            Model::Serial => "SER",
            Model::Snapshot => "SI",
            Model::Prefix => "PC",
            Model::Causal => "TCC",
            Model::Atomic => "RA",
            Model::Committed => "RC",
        }
    }

    /// Whether reads of lists agree on one order of their elements: a replica that shows its own appends early does
    /// not.
    pub fn can_hold_lists(self) -> bool {
        self != Model::Causal
    }
}

/// The last write of a transaction to a key, or one of its appends.
#[derive(Clone, Debug)]
struct StoredVersion {
    /// Place of the transaction in the log.
    place: u64,
    session: u32,
    value: u64,
    /// All keys that its transaction wrote; kept only where views need it.
    together: Option<Arc<[Key]>>,
}

/// How far a session sees.
#[derive(Clone, Copy, Debug, Default)]
struct Horizon {
    /// Transactions of the log that it has seen.
    seen: u64,
    /// The place after its own last transaction.
    own: u64,
}

/// A client of the store: the values it writes, and the value it last saw of each key, for comparisons.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) values: Values,
    pub(super) known: FxHashMap<Key, u64>,
}

/// All versions, and how far each session sees.
#[derive(Debug)]
pub(super) struct Store {
    model: Model,
    lag: u64,
    has_lists: bool,
    versions: FxHashMap<Key, VecDeque<StoredVersion>>,
    horizons: Vec<Horizon>,
    /// Length of the log.
    length: u64,
}

/// What a running transaction sees, and what it has written.
struct View {
    session: u32,
    /// It sees the log up to here.
    upto: u64,
    writes: Vec<(Key, u64)>,
    /// For read atomicity: the place after that of the version read of each key, 0 for the initial one.
    read: FxHashMap<Key, u64>,
    /// For read atomicity: the place of the oldest version that may be read of each key.
    floor: FxHashMap<Key, u64>,
}

impl Store {
    pub(super) fn new(model: Model, lag: u64, n_sessions: u32, has_lists: bool) -> Store {
        let horizons = vec![Horizon::default(); n_sessions as usize];
        Store {
            model,
            lag,
            has_lists,
            versions: FxHashMap::default(),
            horizons,
            length: 0,
        }
    }

    /// Makes sessions see the whole log and its next `n` places, which this store does not fill.
    pub(super) fn leap(&mut self, sessions: &[u32], n: u64) {
        self.length += n;
        for &session in sessions {
            self.horizons[session as usize] = Horizon {
                seen: self.length,
                own: self.length,
            };
        }
    }

    /// Runs a transaction and, where allowed, commits it. Returns what it did and whether it committed; `commits` is
    /// false for those that always roll back.
    pub(super) fn transact(
        &mut self,
        session: u32,
        steps: &[Step],
        memory: &mut Memory,
        commits: bool,
        random: &mut Rng,
    ) -> (Vec<Observed>, bool) {
        let mut view = self.view(session, steps, random);
        let observed = steps
            .iter()
            .flat_map(|&step| self.step(step, &mut view, memory, random))
            .collect();
        let commits = commits && !self.conflicts(&view);
        if commits {
            self.commit(view);
        }
        (observed, commits)
    }

    fn view(&mut self, session: u32, steps: &[Step], random: &mut Rng) -> View {
        let lagging = self.length.saturating_sub(random.u64(..=self.lag));
        let horizon = &mut self.horizons[session as usize];
        let Horizon { seen, own } = *horizon;
        let reads_only = !steps.iter().any(|step| step.writes());
        let upto = match self.model {
            Model::Strict => self.length,
            Model::Serial if !reads_only => self.length,
            Model::Serial | Model::Snapshot | Model::Prefix => lagging.max(seen).max(own),
            Model::Causal => lagging.max(seen),
            Model::Atomic => self.length,
            Model::Committed => lagging.max(own),
        };
        horizon.seen = upto;
        View {
            session,
            upto,
            writes: Vec::new(),
            read: FxHashMap::default(),
            floor: FxHashMap::default(),
        }
    }

    fn step(
        &self,
        step: Step,
        view: &mut View,
        memory: &mut Memory,
        random: &mut Rng,
    ) -> Vec<Observed> {
        if self.model == Model::Committed && !step.writes() {
            view.upto += random.u64(..=self.length - view.upto);
        }
        match step {
            Step::Read(key) => vec![Observed::Read(key, self.read(key, view, random))],
            Step::ReadList(key) => vec![Observed::ReadList(key, self.list(key, view, random))],
            Step::Write(key) => vec![Observed::Write(key, view.write(key, memory.values.fresh()))],
            Step::Append(key) => vec![Observed::Append(
                key,
                view.write(key, memory.values.fresh()),
            )],
            Step::CompareAndSet(key) | Step::Insert(key) => {
                let found = self.read(key, view, random);
                let known = memory.known.insert(key, found).unwrap_or_default();
                let expected = if matches!(step, Step::Insert(_)) {
                    0
                } else {
                    known
                };
                let mut observed = vec![Observed::Read(key, found)];
                if found == expected {
                    let value = view.write(key, memory.values.fresh());
                    memory.known.insert(key, value);
                    observed.push(Observed::Write(key, value));
                }
                observed
            }
        }
    }

    /// The number of versions of a key that a transaction sees, in log order.
    fn visible(&self, key: Key, view: &mut View, random: &mut Rng) -> usize {
        let Some(versions) = self.versions.get(&key) else {
            return 0;
        };
        match self.model {
            Model::Causal => versions
                .iter()
                .rposition(|v| v.place < view.upto || v.session == view.session)
                .map_or(0, |newest| newest + 1),
            Model::Atomic => self.untorn(key, versions, view, random),
            _ => versions.partition_point(|v| v.place < view.upto),
        }
    }

    /// Any recent version that does not tear a transaction that was read from, and none older than the session's own.
    fn untorn(
        &self,
        key: Key,
        versions: &VecDeque<StoredVersion>,
        view: &mut View,
        random: &mut Rng,
    ) -> usize {
        if let Some(&place) = view.read.get(&key) {
            return versions.partition_point(|v| v.place < place);
        }
        let own = versions
            .iter()
            .rposition(|v| v.session == view.session)
            .map_or(0, |newest| newest + 1);
        let floor = view
            .floor
            .get(&key)
            .map_or(0, |&floor| versions.partition_point(|v| v.place <= floor))
            .max(own);
        let recent = self.length.saturating_sub(random.u64(..=self.lag));
        let mut newest = versions.partition_point(|v| v.place < recent).max(floor);
        // A version is torn if another key that its transaction also wrote was read in an older version.
        let is_torn = |version: &StoredVersion| {
            let together = version.together.iter().flat_map(|keys| keys.iter());
            together
                .filter_map(|key| view.read.get(key))
                .any(|&after| after <= version.place)
        };
        while newest > floor && is_torn(&versions[newest - 1]) {
            newest -= 1;
        }
        let place = newest.checked_sub(1).map(|at| versions[at].place);
        view.read.insert(key, place.map_or(0, |place| place + 1));
        if let Some(version) = newest.checked_sub(1).map(|at| &versions[at]) {
            for &other in version.together.iter().flat_map(|keys| keys.iter()) {
                let floor = view.floor.entry(other).or_default();
                *floor = (*floor).max(version.place);
            }
        }
        newest
    }

    fn read(&self, key: Key, view: &mut View, random: &mut Rng) -> u64 {
        if let Some(&(_, value)) = view
            .writes
            .iter()
            .rev()
            .find(|(written, _)| *written == key)
        {
            return value;
        }
        let newest = self.visible(key, view, random).checked_sub(1);
        newest.map_or(0, |at| self.versions[&key][at].value)
    }

    fn list(&self, key: Key, view: &mut View, random: &mut Rng) -> Vec<u64> {
        let visible = self.visible(key, view, random);
        let versions = self
            .versions
            .get(&key)
            .into_iter()
            .flatten()
            .take(visible)
            .map(|v| v.value);
        let own = view
            .writes
            .iter()
            .filter(|(written, _)| *written == key)
            .map(|(_, value)| *value);
        versions.chain(own).collect()
    }

    /// Whether another transaction has since written a key that a transaction at a snapshot writes.
    fn conflicts(&self, view: &View) -> bool {
        let is_newer = |key: &Key| {
            let newest = self.versions.get(key).and_then(VecDeque::back);
            newest.is_some_and(|version| version.place >= view.upto)
        };
        self.model == Model::Snapshot && view.writes.iter().any(|(key, _)| is_newer(key))
    }

    fn commit(&mut self, view: View) {
        let place = self.length;
        self.length += 1;
        self.horizons[view.session as usize].own = self.length;
        let together = (self.model == Model::Atomic)
            .then(|| view.writes.iter().map(|(key, _)| *key).collect());
        let all_see = self.length.saturating_sub(self.lag);
        for (key, value) in view.writes {
            let versions = self.versions.entry(key).or_default();
            let version = StoredVersion {
                place,
                session: view.session,
                value,
                together: together.clone(),
            };
            match versions.back_mut() {
                Some(newest) if newest.place == place && !self.has_lists => *newest = version,
                _ => versions.push_back(version),
            }
            // Of the versions that all sessions see, only the newest is read.
            while !self.has_lists && versions.get(1).is_some_and(|next| next.place < all_see) {
                versions.pop_front();
            }
        }
    }
}

impl View {
    fn write(&mut self, key: Key, value: u64) -> u64 {
        self.writes.push((key, value));
        value
    }
}
