//! Causal delivery: a transaction is passed on when its session predecessor and the writers of all its reads have been.
//!
//! Then everything that it follows is known, and nothing that comes later is seen by it. What cannot be passed on waits.
//! A transaction of unknown outcome is passed on when a committed one has read from it, and left out otherwise.
//!
//! Each value should be written to a key once. If one is written again before any read of it, reads of it are left out
//! and counted; if one had been read already, earlier verdicts may rest on the wrong writer, and following ends. A
//! transaction that reads a value and writes it back has read what another one wrote, which it waits for.

mod ending;
mod evidence;
mod promise;
mod sources;
mod written;

use super::delivered::{self, Delivered, Read};
use super::keep::{Reading, kept, kept_enum};
use super::lists::{self, List};
use super::order::Seq;
use super::record::{Action, Atom, Record};
use isoscope_check::checkers::Pattern;
use isoscope_model::history::Outcome;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use written::Written;

pub(super) use evidence::Evidence;

/// A version: a key and what was written to it.
type Version = (u32, Atom);

/// Who wrote a version.
#[derive(Clone, Debug)]
struct Origin {
    /// Its number in the order of the file, from 1.
    arrived: u64,
    session: u32,
    outcome: Outcome,
    /// 0 as long as it waits.
    seq: Seq,
    /// Its place among the writes of the key by its transaction, and whether it is the last.
    place: u32,
    is_last: bool,
    was_read: bool,
    /// Who else wrote the same.
    others: Others,
}

/// The other transactions that wrote the same version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    None,
    /// This one, by its number in the order of the file.
    One(u64),
    Several,
}

impl Origin {
    /// Whether others than this and a transaction that reads the version wrote it.
    fn is_repeated_for(&self, reader: u64) -> bool {
        !matches!(self.others, Others::None) && self.others != Others::One(reader)
    }
}

/// A transaction that was not passed on yet.
#[derive(Debug)]
struct Waiting {
    arrived: u64,
    record: Record,
    /// Reads of what others wrote: places among the operations.
    external: Vec<u32>,
    /// Those of them that are no longer waited for, each with whether its writer is there: then it is in a cycle with it.
    given_up: Vec<(u32, bool)>,
    wrong: Option<Pattern>,
}

/// What is known of a session.
#[derive(Debug, Default)]
struct SessionState {
    queue: VecDeque<Waiting>,
    last: Option<Arc<Delivered>>,
    /// Whether the stream says so.
    has_ended: bool,
    /// The position of the last delivered transaction that wrote something.
    last_writer: u32,
}

/// Why a transaction waits.
#[derive(Clone, Debug)]
pub struct WaitingFor {
    /// The line on which it ended.
    pub line: u32,
    /// Its session, a place among the names.
    pub session: u32,
    /// The key, a place among the names.
    pub key: u32,
    /// The value that it read.
    pub value: Atom,
    /// Whether a transaction that wrote the value is there, and waits itself.
    pub writer_waits: bool,
}

/// What the reads of a transaction are known to be.
#[derive(Debug, Default)]
struct Sources {
    reads: Vec<Read>,
    /// (key, arrival of the writer; 0 for the initial version), as far as known.
    writers: Vec<(u32, u64)>,
    wrong: Option<Pattern>,
    /// Reads that are left out.
    undecided: u64,
    /// The first read that has to wait, and for what.
    blocked: Option<(u32, Version)>,
    /// By list that was read: the place of the read, and the writers of its elements.
    lists: Vec<(u32, Vec<Seq>)>,
}

/// Passes transactions on.
#[derive(Debug)]
pub(super) struct Delivery {
    sessions: Vec<SessionState>,
    written: Written,
    was_dropped: bool,
    /// By arrival: transactions of unknown outcome that nothing has read from yet.
    unknown: FxHashMap<u64, Waiting>,
    /// Versions by which one of unknown outcome counts as committed.
    promoting: FxHashSet<Version>,
    /// By arrival: aborted transactions whose versions are remembered, for those who read them.
    aborted: FxHashMap<u64, Record>,
    /// Keys whose initial version was read, and those to which its value was written.
    initial_read: FxHashSet<u32>,
    initial_written: FxHashSet<u32>,
    waiters: FxHashMap<Version, Vec<u32>>,
    lists: FxHashMap<u32, List>,
    recent: FxHashMap<Seq, Weak<Delivered>>,
    arrived: u64,
    delivered: Seq,
    undecided: u64,
    is_timed: bool,
    ended: Option<String>,
    /// The key that barriers are written to.
    barrier_key: Option<u32>,
    /// The last transaction that wrote it: a new session reads from it, though engines may have settled it.
    barrier: Option<Arc<Delivered>>,
    /// With barriers: the positions that everything to come has seen, by session, as engines were told.
    relied_on: Vec<u32>,
}

kept!(Origin {
    arrived,
    session,
    outcome,
    seq,
    place,
    is_last,
    was_read,
    others
});
kept_enum!(Others { 0 None, 1 One(arrived), 2 Several });
kept!(Waiting {
    arrived,
    record,
    external,
    given_up,
    wrong
});
kept!(SessionState {
    queue,
    last,
    has_ended,
    last_writer
});
kept!(Delivery {
    sessions, written, was_dropped, unknown, promoting, aborted, initial_read, initial_written, waiters, lists, arrived,
    delivered, undecided, is_timed, ended, barrier_key, barrier, relied_on; recent
});

impl Delivery {
    /// Remembers the writers of at least this many versions.
    pub(super) fn new(memory: usize) -> Delivery {
        Delivery {
            sessions: Vec::new(),
            written: Written::new(memory),
            was_dropped: false,
            unknown: FxHashMap::default(),
            promoting: FxHashSet::default(),
            aborted: FxHashMap::default(),
            initial_read: FxHashSet::default(),
            initial_written: FxHashSet::default(),
            waiters: FxHashMap::default(),
            lists: FxHashMap::default(),
            recent: FxHashMap::default(),
            arrived: 0,
            delivered: 0,
            undecided: 0,
            is_timed: false,
            ended: None,
            barrier_key: None,
            barrier: None,
            relied_on: Vec::new(),
        }
    }

    /// Finds the transactions that were read with it and are remembered.
    pub(super) fn find(&mut self, from: &Reading<'_>) {
        self.recent = from
            .shared
            .values()
            .filter_map(|shared| Arc::clone(shared).downcast::<Delivered>().ok())
            .map(|t| (t.seq, Arc::downgrade(&t)))
            .collect();
    }

    /// Number of transactions that arrived.
    pub(super) fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Number of transactions passed on.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Number of reads left out at every level.
    pub(super) fn undecided(&self) -> u64 {
        self.undecided
    }

    /// Whether a delivered transaction has times.
    pub(super) fn is_timed(&self) -> bool {
        self.is_timed
    }

    /// Why following ended, if it did.
    pub(super) fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    /// Number of sessions.
    pub(super) fn n_sessions(&self) -> usize {
        self.sessions
            .iter()
            .filter(|session| session.last.is_some() || !session.queue.is_empty())
            .count()
    }

    /// The arrivals of the transactions that wait, ascending.
    pub(super) fn waiting(&self) -> Vec<u64> {
        let mut waiting: Vec<u64> = self
            .sessions
            .iter()
            .flat_map(|s| s.queue.iter().map(|w| w.arrived))
            .collect();
        waiting.sort_unstable();
        waiting
    }

    /// Number of transactions that wait. O(sessions).
    pub(super) fn n_waiting(&self) -> usize {
        self.sessions
            .iter()
            .map(|session| session.queue.len())
            .sum()
    }

    /// The arrival of the oldest that waits. O(sessions).
    pub(super) fn oldest_waiting(&self) -> Option<u64> {
        self.sessions
            .iter()
            .filter_map(|session| Some(session.queue.front()?.arrived))
            .min()
    }

    /// When the first of those that wait began, or may have begun if nothing has read from it; [`i64::MAX`] for none.
    /// O(what waits).
    pub(super) fn first_start(&self) -> i64 {
        let waiting = self
            .sessions
            .iter()
            .flat_map(|session| &session.queue)
            .chain(self.unknown.values());
        let starts = waiting.map(|waiting| {
            waiting
                .record
                .interval
                .map_or(i64::MIN, |interval| interval.start)
        });
        starts.min().unwrap_or(i64::MAX)
    }

    /// Why the oldest one waits.
    pub(super) fn why(&self) -> Option<WaitingFor> {
        let fronts = self
            .sessions
            .iter()
            .filter_map(|session| session.queue.front());
        let oldest = fronts.min_by_key(|waiting| waiting.arrived)?;
        let (_, version) = self.sources(oldest).blocked?;
        Some(WaitingFor {
            line: oldest.record.line,
            session: oldest.record.session,
            writer_waits: self.awaited(oldest, &version).is_some(),
            key: version.0,
            value: version.1,
        })
    }

    /// The oldest transaction that a read may name.
    pub(super) fn first_named(&self) -> Seq {
        self.written.first_named()
    }

    /// Takes the next transaction of the file; what can be passed on is added to `out`.
    pub(super) fn take(&mut self, record: Record, out: &mut Vec<Arc<Delivered>>) {
        self.arrived += 1;
        if let Some(why) = record.foreign {
            return self.end(format!(
                "line {}: {why}, which cannot be followed",
                record.line
            ));
        }
        let waiting = Waiting::new(self.arrived, record);
        let mut wake = self.register(&waiting);
        self.forget_versions();
        let session = waiting.record.session;
        match waiting.record.outcome {
            Outcome::Aborted => drop(self.aborted.insert(waiting.arrived, waiting.record)),
            Outcome::Unknown => drop(self.unknown.insert(waiting.arrived, waiting)),
            Outcome::Committed => {
                self.session(session).queue.push_back(waiting);
                wake.push(session);
            }
        }
        self.pump(wake, out);
    }

    /// A session, made on first use.
    fn session(&mut self, session: u32) -> &mut SessionState {
        let session = session as usize;
        self.sessions
            .resize_with(self.sessions.len().max(session + 1), SessionState::default);
        &mut self.sessions[session]
    }

    /// Ends following, for this reason.
    pub(super) fn end(&mut self, why: String) {
        self.ended.get_or_insert(why);
    }

    /// Passes on what can be, beginning with these sessions.
    fn pump(&mut self, mut wake: Vec<u32>, out: &mut Vec<Arc<Delivered>>) {
        while let Some(session) = wake.pop() {
            while let Some(waiting) = self
                .sessions
                .get(session as usize)
                .and_then(|s| s.queue.front())
            {
                // What is promoted may be the next of the same session.
                let read = self.unknown_read_by(waiting);
                let promoted: Vec<u32> = read
                    .iter()
                    .filter_map(|version| self.promote(version))
                    .collect();
                if !promoted.is_empty() {
                    wake.push(session);
                    wake.extend(promoted);
                    break;
                }
                let Some(waiting) = self.sessions[session as usize].queue.front() else {
                    break;
                };
                let sources = self.sources(waiting);
                if let Some((_, version)) = sources.blocked {
                    let waiters = self.waiters.entry(version).or_default();
                    if !waiters.contains(&session) {
                        waiters.push(session);
                    }
                    break;
                }
                let Some(waiting) = self.sessions[session as usize].queue.pop_front() else {
                    break;
                };
                let delivered = self.deliver(waiting, sources);
                self.wake_waiters(&delivered.record, &mut wake);
                out.push(delivered);
            }
        }
    }

    /// Adds the sessions that wait for what a transaction wrote.
    fn wake_waiters(&mut self, record: &Record, wake: &mut Vec<u32>) {
        if self.waiters.is_empty() {
            return;
        }
        for action in record.writes() {
            let waiting = self.waiters.remove(&action.version());
            wake.extend(waiting.unwrap_or_default());
        }
    }

    /// The versions that a transaction read from others of unknown outcome: all of them, whatever else it waits for or no
    /// longer waits for.
    fn unknown_read_by(&self, waiting: &Waiting) -> Vec<Version> {
        if self.unknown.is_empty() {
            return Vec::new();
        }
        let is_unknown = |version: &Version| {
            let origin = self.written.get(version);
            origin.is_some_and(|origin| {
                let is_read = !origin.is_repeated_for(waiting.arrived) && !self.is_too_old(origin);
                origin.outcome == Outcome::Unknown && is_read
            })
        };
        let record = &waiting.record;
        let elements = waiting.external.iter().flat_map(|&place| {
            let Action {
                key, value, list, ..
            } = &record.operations[place as usize];
            let outside = list
                .as_deref()
                .map(|list| lists::from_outside(record, place as usize, list).unwrap_or(list));
            outside
                .unwrap_or(std::slice::from_ref(value))
                .iter()
                .map(|element| (*key, element.clone()))
        });
        elements.filter(is_unknown).collect()
    }

    /// Whether one of unknown outcome counts as committed because this version was read.
    pub(super) fn is_promoting(&self, version: &Version) -> bool {
        self.promoting.contains(version)
    }

    /// A committed transaction read from one of unknown outcome: it must have committed. Its session, if that is news.
    fn promote(&mut self, version: &Version) -> Option<u32> {
        let arrived = self.written.get(version)?.arrived;
        let mut waiting = self.unknown.remove(&arrived)?;
        self.promoting.insert(version.clone());
        let line = waiting.record.line;
        waiting.record.outcome = Outcome::Committed;
        // It may have committed at any time after it began.
        waiting
            .record
            .interval
            .iter_mut()
            .for_each(|interval| interval.end = i64::MAX);
        for action in waiting.record.writes() {
            if let Some(origin) = self.written.get_mut(&action.version())
                && origin.arrived == arrived
            {
                origin.outcome = Outcome::Committed;
            }
        }
        let session = waiting.record.session;
        let SessionState { queue, last, .. } = self.session(session);
        if last.as_ref().is_some_and(|last| last.arrived > arrived) {
            self.end(format!(
                "line {line}: this transaction of unknown outcome was read after its session had gone on"
            ));
            return None;
        }
        let place = queue.partition_point(|other| other.arrived < arrived);
        queue.insert(place, waiting);
        Some(session)
    }

    /// Passes a transaction on.
    fn deliver(&mut self, waiting: Waiting, sources: Sources) -> Arc<Delivered> {
        let Waiting {
            arrived,
            record,
            external,
            ..
        } = waiting;
        self.delivered += 1;
        self.undecided += sources.undecided;
        self.is_timed |= record.interval.is_some();
        let seq = self.delivered;
        for &place in &external {
            let action = &record.operations[place as usize];
            if action.value == Atom::Initial && action.list.is_none() {
                self.initial_read.insert(action.key);
                continue;
            }
            for element in action
                .list
                .iter()
                .flat_map(|list| list.iter())
                .chain([&action.value])
            {
                if let Some(origin) = self.written.get_mut(&(action.key, element.clone())) {
                    origin.was_read = true;
                }
            }
        }
        let mut writes: Vec<u32> = Vec::new();
        for action in record.writes() {
            writes.push(action.key);
            if let Some(origin) = self.written.get_mut(&action.version())
                && origin.arrived == arrived
            {
                origin.seq = seq;
            }
        }
        writes.sort_unstable();
        writes.dedup();
        let appended = self.appended(&record, seq, &sources.lists);
        let session = record.session;
        let before = self.sessions[session as usize].last.clone();
        let position = before.as_ref().map_or(1, |before| before.position + 1);
        let delivered = Arc::new(Delivered {
            seq,
            session,
            position,
            arrived,
            seen: self.seen(session, position, before.as_deref(), &sources.reads),
            is_cut: has_two_writers(&sources.writers),
            reads: sources.reads,
            writes,
            appended,
            before: before.as_ref().map(|before| before.seq),
            wrong: sources.wrong,
            record,
        });
        let of = self.session(session);
        of.last = Some(Arc::clone(&delivered));
        if !delivered.writes.is_empty() {
            of.last_writer = position;
        }
        if self
            .barrier_key
            .is_some_and(|key| delivered.writes.contains(&key))
        {
            self.barrier = Some(Arc::clone(&delivered));
        }
        self.recent.insert(seq, Arc::downgrade(&delivered));
        if self.recent.len() > 64 && self.recent.len().is_power_of_two() {
            self.recent.retain(|_, t| t.strong_count() > 0);
        }
        delivered
    }

    /// What a transaction shows of the order of appends.
    fn appended(&mut self, record: &Record, seq: Seq, read: &[(u32, Vec<Seq>)]) -> Vec<(Seq, Seq)> {
        let mut pairs = Vec::new();
        for (place, writers) in read {
            let Action { key, list, .. } = &record.operations[*place as usize];
            let outside = list
                .as_deref()
                .and_then(|list| lists::from_outside(record, *place as usize, list));
            self.lists.entry(*key).or_default().read(
                seq,
                outside.unwrap_or_default(),
                writers,
                &mut pairs,
            );
        }
        let mut keys: Vec<u32> = Vec::new();
        for action in record.writes().filter(|action| action.list.is_some()) {
            if !keys.contains(&action.key) {
                keys.push(action.key);
                let list = self.lists.entry(action.key).or_default();
                list.forget(|t| self.recent.get(&t).is_some_and(|t| t.strong_count() > 0));
                list.append(seq, &mut pairs);
            }
        }
        pairs
    }

    /// By session: the last position that a transaction follows.
    fn seen(
        &self,
        session: u32,
        position: u32,
        before: Option<&Delivered>,
        reads: &[Read],
    ) -> Box<[u32]> {
        let mut seen = before
            .map(|before| before.seen.to_vec())
            .unwrap_or_default();
        for read in reads {
            let Some(writer) = self.recent.get(&read.writer).and_then(Weak::upgrade) else {
                continue;
            };
            // What it has seen of a transaction includes what that one has seen.
            if seen
                .get(writer.session as usize)
                .is_none_or(|&last| last < writer.position)
            {
                delivered::merge(&mut seen, &writer.seen);
            }
        }
        seen.resize(seen.len().max(session as usize + 1), 0);
        seen[session as usize] = position;
        seen.into()
    }
}

/// Whether two reads of a key have different writers.
fn has_two_writers(writers: &[(u32, u64)]) -> bool {
    writers.iter().enumerate().any(|(n, (key, writer))| {
        let earlier = writers[..n].iter().rev().find(|(other, _)| other == key);
        earlier.is_some_and(|(_, other)| other != writer)
    })
}
