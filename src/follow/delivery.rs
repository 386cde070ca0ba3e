//! Causal delivery: a transaction is passed on when its session predecessor and the writers of all its reads have been.
//!
//! Then everything that it follows is known, and nothing that comes later is seen by it. What cannot be passed on waits.
//! A transaction of unknown outcome is passed on when a committed one has read from it, and left out otherwise.
//!
//! Each value should be written to a key once. If one is written again before any read of it, reads of it are left out
//! and counted; if one had been read already, earlier verdicts may rest on the wrong writer, and following ends.

use super::delivered::{Delivered, Read};
use super::order::Seq;
use super::record::{Atom, Record};
use crate::checkers::Pattern;
use crate::history::{OperationKind, Outcome};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// Versions looked at for forgetting, for each transaction that arrives.
const MOST_FORGOTTEN: usize = 64;

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
    /// Whether the transaction did not overwrite it itself.
    is_last: bool,
    was_read: bool,
    /// Whether another transaction wrote the same.
    is_repeated: bool,
}

/// A transaction that was not passed on yet.
#[derive(Debug)]
struct Waiting {
    arrived: u64,
    record: Record,
    /// Reads of what others wrote: places among the operations.
    external: Vec<u32>,
    /// Those of them whose writers it no longer waits for: they are in a cycle with it.
    unordered: Vec<u32>,
    wrong: Option<Pattern>,
}

/// What is known of a session.
#[derive(Debug, Default)]
struct Session {
    queue: VecDeque<Waiting>,
    last: Option<Arc<Delivered>>,
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
    /// The first read that has to wait.
    blocked: Option<u32>,
}

/// Passes transactions on.
#[derive(Debug)]
pub(super) struct Delivery {
    sessions: Vec<Session>,
    written: FxHashMap<Version, Origin>,
    /// The versions in `written` in the order of their arrival.
    remembered: VecDeque<(Version, u64)>,
    /// How many versions are remembered at least.
    memory: usize,
    was_dropped: bool,
    /// By arrival: transactions of unknown outcome that nothing has read from yet.
    unknown: FxHashMap<u64, Waiting>,
    /// Keys whose initial version was read, and those to which its value was written.
    initial_read: FxHashSet<u32>,
    initial_written: FxHashSet<u32>,
    waiters: FxHashMap<Version, Vec<u32>>,
    recent: FxHashMap<Seq, Weak<Delivered>>,
    arrived: u64,
    delivered: Seq,
    undecided: u64,
    ended: Option<String>,
}

impl Delivery {
    /// Remembers the writers of at least this many versions.
    pub(super) fn new(memory: usize) -> Delivery {
        Delivery {
            sessions: Vec::new(),
            written: FxHashMap::default(),
            remembered: VecDeque::new(),
            memory,
            was_dropped: false,
            unknown: FxHashMap::default(),
            initial_read: FxHashSet::default(),
            initial_written: FxHashSet::default(),
            waiters: FxHashMap::default(),
            recent: FxHashMap::default(),
            arrived: 0,
            delivered: 0,
            undecided: 0,
            ended: None,
        }
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

    /// Why following ended, if it did.
    pub(super) fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    /// Number of sessions.
    pub(super) fn n_sessions(&self) -> usize {
        self.sessions.iter().filter(|session| session.last.is_some() || !session.queue.is_empty()).count()
    }

    /// The arrivals of the transactions that wait, ascending.
    pub(super) fn waiting(&self) -> Vec<u64> {
        let mut waiting: Vec<u64> = self.sessions.iter().flat_map(|s| s.queue.iter().map(|w| w.arrived)).collect();
        waiting.sort_unstable();
        waiting
    }

    /// Number of transactions that wait. O(sessions).
    pub(super) fn n_waiting(&self) -> usize {
        self.sessions.iter().map(|session| session.queue.len()).sum()
    }

    /// The arrival of the oldest that waits. O(sessions).
    pub(super) fn oldest_waiting(&self) -> Option<u64> {
        self.sessions.iter().filter_map(|session| Some(session.queue.front()?.arrived)).min()
    }

    /// Why the oldest one waits.
    pub(super) fn why(&self) -> Option<WaitingFor> {
        let fronts = self.sessions.iter().filter_map(|session| session.queue.front());
        let oldest = fronts.min_by_key(|waiting| waiting.arrived)?;
        let blocked = self.sources(oldest).blocked?;
        let action = &oldest.record.operations[blocked as usize];
        let writer = self.written.get(&(action.key, action.value.clone()));
        Some(WaitingFor {
            line: oldest.record.line,
            session: oldest.record.session,
            key: action.key,
            value: action.value.clone(),
            writer_waits: writer.is_some(),
        })
    }

    /// The oldest transaction that a read may name.
    pub(super) fn first_named(&self) -> Seq {
        let first = self.remembered.front().and_then(|(version, _)| self.written.get(version));
        first.map_or(self.delivered, |origin| if origin.seq == 0 { 0 } else { origin.seq.saturating_sub(1) })
    }

    /// By session: the position of the last transaction that everything to come of these many sessions, and of no
    /// other, has seen. None if some session has not shown itself.
    pub(super) fn passed(&self, n_sessions: u32) -> Option<Vec<u32>> {
        let lasts: Vec<&Arc<Delivered>> = self.sessions.iter().filter_map(|session| session.last.as_ref()).collect();
        if lasts.len() < n_sessions as usize {
            return None;
        }
        let seen = |s: usize| lasts.iter().map(|last| last.seen.get(s).copied().unwrap_or(0)).min().unwrap_or(0);
        Some((0..self.sessions.len()).map(seen).collect())
    }

    /// Takes the next transaction of the file; what can be passed on is added to `out`.
    pub(super) fn take(&mut self, record: Record, out: &mut Vec<Arc<Delivered>>) {
        self.arrived += 1;
        if let Some(why) = record.foreign {
            return self.end(format!("line {}: {why}, which cannot be followed", record.line));
        }
        let waiting = Waiting::new(self.arrived, record);
        let mut wake = self.register(&waiting);
        self.forget_versions();
        let session = waiting.record.session as usize;
        match waiting.record.outcome {
            Outcome::Aborted => {}
            Outcome::Unknown => drop(self.unknown.insert(waiting.arrived, waiting)),
            Outcome::Committed => {
                self.sessions.resize_with(self.sessions.len().max(session + 1), Session::default);
                self.sessions[session].queue.push_back(waiting);
                wake.push(session as u32);
            }
        }
        self.pump(wake, out);
    }

    /// Ends following, for this reason.
    pub(super) fn end(&mut self, why: String) {
        self.ended.get_or_insert(why);
    }

    /// Remembers what a transaction wrote. The sessions that wait for it.
    fn register(&mut self, waiting: &Waiting) -> Vec<u32> {
        let mut wake = Vec::new();
        let Waiting { arrived, record, .. } = waiting;
        let writes = record.operations.iter().enumerate().filter(|(_, action)| action.kind == OperationKind::Write);
        for (place, action) in writes {
            if action.value == Atom::Initial {
                self.initial_written.insert(action.key);
                if self.initial_read.contains(&action.key) {
                    self.end(format!("line {}: the initial value is written, which had been read", action.line));
                }
                continue;
            }
            let version = (action.key, action.value.clone());
            let later = &record.operations[place + 1..];
            let is_last = !later.iter().any(|other| other.kind == OperationKind::Write && other.key == action.key);
            wake.extend(self.waiters.remove(&version).unwrap_or_default());
            self.note(version, action.line, waiting, is_last);
        }
        // Reads of own writes that are wrong count as reads of what others may write, too.
        if waiting.wrong.is_some() {
            for action in &record.operations {
                if let Some(origin) = self.written.get_mut(&(action.key, action.value.clone()))
                    && origin.arrived == *arrived
                {
                    origin.was_read = true;
                }
            }
        }
        wake
    }

    /// Remembers who wrote a version.
    fn note(&mut self, version: Version, line: u32, waiting: &Waiting, is_last: bool) {
        let Waiting { arrived, record, .. } = waiting;
        match self.written.get_mut(&version) {
            Some(origin) if origin.arrived == *arrived => origin.is_last = is_last,
            Some(origin) => {
                origin.is_repeated = true;
                if origin.was_read || waiting.wrong.is_some() {
                    self.end(format!("line {line}: a value that had been read is written again"));
                }
            }
            None => {
                let origin = Origin {
                    arrived: *arrived,
                    session: record.session,
                    outcome: record.outcome,
                    seq: 0,
                    is_last,
                    was_read: false,
                    is_repeated: false,
                };
                self.remembered.push_back((version.clone(), *arrived));
                self.written.insert(version, origin);
            }
        }
    }

    /// Forgets the writers of the oldest versions, unless they wait or are remembered by an engine.
    fn forget_versions(&mut self) {
        for _ in 0..MOST_FORGOTTEN {
            if self.remembered.len() <= self.memory {
                return;
            }
            let Some((version, arrived)) = self.remembered.pop_front() else { return };
            let Some(origin) = self.written.get(&version).filter(|origin| origin.arrived == arrived) else { continue };
            let waits = origin.outcome == Outcome::Committed && origin.seq == 0;
            if waits || self.recent.get(&origin.seq).is_some_and(|t| t.strong_count() > 0) {
                self.remembered.push_back((version, arrived));
                continue;
            }
            self.written.remove(&version);
            self.unknown.remove(&arrived);
            self.was_dropped = true;
        }
    }

    /// Passes on what can be, beginning with these sessions.
    fn pump(&mut self, mut wake: Vec<u32>, out: &mut Vec<Arc<Delivered>>) {
        while let Some(session) = wake.pop() {
            while let Some(waiting) = self.sessions.get(session as usize).and_then(|s| s.queue.front()) {
                let sources = self.sources(waiting);
                if let Some(blocked) = sources.blocked {
                    let action = &waiting.record.operations[blocked as usize];
                    let version = (action.key, action.value.clone());
                    let waiters = self.waiters.entry(version.clone()).or_default();
                    if !waiters.contains(&session) {
                        waiters.push(session);
                    }
                    // What is promoted may be the next of the same session.
                    if let Some(promoted) = self.promote(&version) {
                        wake.extend([session, promoted]);
                    }
                    break;
                }
                let Some(waiting) = self.sessions[session as usize].queue.pop_front() else { break };
                let delivered = self.deliver(waiting, sources);
                for action in delivered.record.operations.iter().filter(|a| a.kind == OperationKind::Write) {
                    wake.extend(self.waiters.remove(&(action.key, action.value.clone())).unwrap_or_default());
                }
                out.push(delivered);
            }
        }
    }

    /// A committed transaction read from one of unknown outcome: it must have committed. Its session, if that is news.
    fn promote(&mut self, version: &Version) -> Option<u32> {
        let arrived = self.written.get(version)?.arrived;
        let mut waiting = self.unknown.remove(&arrived)?;
        let line = waiting.record.line;
        waiting.record.outcome = Outcome::Committed;
        for action in waiting.record.operations.iter().filter(|action| action.kind == OperationKind::Write) {
            if let Some(origin) = self.written.get_mut(&(action.key, action.value.clone()))
                && origin.arrived == arrived
            {
                origin.outcome = Outcome::Committed;
            }
        }
        let session = waiting.record.session;
        self.sessions.resize_with(self.sessions.len().max(session as usize + 1), Session::default);
        let Session { queue, last } = &mut self.sessions[session as usize];
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

    /// What the reads of a transaction are, as far as that is known.
    fn sources(&self, waiting: &Waiting) -> Sources {
        let mut sources = Sources { wrong: waiting.wrong, ..Sources::default() };
        for &place in &waiting.external {
            let action = &waiting.record.operations[place as usize];
            let key = action.key;
            if action.value == Atom::Initial {
                if self.initial_written.contains(&key) {
                    sources.undecided += 1;
                    continue;
                }
                sources.writers.push((key, 0));
                sources.reads.push(Read { place, key, writer: 0 });
                continue;
            }
            let Some(origin) = self.written.get(&(key, action.value.clone())) else {
                sources.blocked = sources.blocked.or(Some(place));
                continue;
            };
            if origin.is_repeated {
                sources.undecided += 1;
                continue;
            }
            if origin.outcome == Outcome::Aborted {
                sources.wrong = sources.wrong.or(Some(Pattern::AbortedRead));
                continue;
            }
            sources.writers.push((key, origin.arrived));
            if !origin.is_last {
                sources.wrong = sources.wrong.or(Some(Pattern::IntermediateRead));
            }
            match origin.seq {
                0 if waiting.unordered.contains(&place) => {}
                0 => sources.blocked = sources.blocked.or(Some(place)),
                writer => sources.reads.push(Read { place, key, writer }),
            }
        }
        sources
    }

    /// Passes a transaction on.
    fn deliver(&mut self, waiting: Waiting, sources: Sources) -> Arc<Delivered> {
        let Waiting { arrived, record, external, .. } = waiting;
        self.delivered += 1;
        self.undecided += sources.undecided;
        let seq = self.delivered;
        for &place in &external {
            let action = &record.operations[place as usize];
            if action.value == Atom::Initial {
                self.initial_read.insert(action.key);
            } else if let Some(origin) = self.written.get_mut(&(action.key, action.value.clone())) {
                origin.was_read = true;
            }
        }
        let mut writes: Vec<u32> = Vec::new();
        for action in record.operations.iter().filter(|action| action.kind == OperationKind::Write) {
            if !writes.contains(&action.key) {
                writes.push(action.key);
            }
            if let Some(origin) = self.written.get_mut(&(action.key, action.value.clone()))
                && origin.arrived == arrived
            {
                origin.seq = seq;
            }
        }
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
            before: before.as_ref().map(|before| before.seq),
            wrong: sources.wrong,
            record,
        });
        self.sessions[session as usize].last = Some(Arc::clone(&delivered));
        self.recent.insert(seq, Arc::downgrade(&delivered));
        if self.recent.len() > 64 && self.recent.len().is_power_of_two() {
            self.recent.retain(|_, t| t.strong_count() > 0);
        }
        delivered
    }

    /// By session: the last position that a transaction follows.
    fn seen(&self, session: u32, position: u32, before: Option<&Delivered>, reads: &[Read]) -> Box<[u32]> {
        let mut seen = before.map(|before| before.seen.to_vec()).unwrap_or_default();
        for read in reads {
            let Some(writer) = self.recent.get(&read.writer).and_then(Weak::upgrade) else { continue };
            seen.resize(seen.len().max(writer.seen.len()), 0);
            seen.iter_mut().zip(&writer.seen).for_each(|(mine, other)| *mine = (*mine).max(*other));
        }
        seen.resize(seen.len().max(session as usize + 1), 0);
        seen[session as usize] = position;
        seen.into()
    }

    /// Ends the waits that are older than a number of transactions: for a value that has not been written, the read is
    /// left out; transactions that wait for each other have read from each other in a cycle.
    pub(super) fn give_up_older(&mut self, than: u64, out: &mut Vec<Arc<Delivered>>) {
        for session in 0..self.sessions.len() as u32 {
            loop {
                let front = self.sessions[session as usize].queue.front();
                let Some(waiting) = front.filter(|w| self.arrived - w.arrived > than) else { break };
                let Some(place) = self.sources(waiting).blocked else { break };
                let action = &waiting.record.operations[place as usize];
                let is_written = self.written.contains_key(&(action.key, action.value.clone()));
                if is_written && !self.waits_for_itself(session) {
                    break;
                }
                let pattern = is_written.then_some(Pattern::CyclicCO);
                self.undecided += u64::from(!is_written);
                self.drop_read(session, place, pattern);
                self.pump(vec![session], out);
            }
        }
    }

    /// The end of the stream: what waits has read what is not there, or waits in a cycle.
    pub(super) fn finish(&mut self, out: &mut Vec<Arc<Delivered>>) {
        loop {
            let mut is_done = true;
            for session in 0..self.sessions.len() as u32 {
                let Some(waiting) = self.sessions[session as usize].queue.front() else { continue };
                let Some(place) = self.sources(waiting).blocked else { continue };
                let action = &waiting.record.operations[place as usize];
                if self.written.contains_key(&(action.key, action.value.clone())) {
                    continue;
                }
                let pattern = (!self.was_dropped).then_some(Pattern::ThinAirRead);
                self.undecided += u64::from(self.was_dropped);
                self.drop_read(session, place, pattern);
                self.pump(vec![session], out);
                is_done = false;
            }
            if !is_done {
                continue;
            }
            let stuck = (0..self.sessions.len() as u32).find(|&session| self.waits_for_itself(session));
            let Some(session) = stuck else { return };
            let front = self.sessions[session as usize].queue.front();
            let Some(place) = front.and_then(|waiting| self.sources(waiting).blocked) else { return };
            self.drop_read(session, place, Some(Pattern::CyclicCO));
            self.pump(vec![session], out);
        }
    }

    /// Whether the first transaction of a queue waits, over others, for itself or one behind it.
    fn waits_for_itself(&self, session: u32) -> bool {
        let mut at = session;
        for _ in 0..=self.sessions.len() {
            let Some(waiting) = self.sessions[at as usize].queue.front() else { return false };
            let Some(place) = self.sources(waiting).blocked else { return false };
            let action = &waiting.record.operations[place as usize];
            let Some(origin) = self.written.get(&(action.key, action.value.clone())) else { return false };
            if origin.outcome != Outcome::Committed {
                return false;
            }
            at = origin.session;
            if at == session {
                return true;
            }
        }
        false
    }

    /// Leaves out a read of the first transaction of a queue; what it shows of its other reads stays.
    fn drop_read(&mut self, session: u32, place: u32, pattern: Option<Pattern>) {
        if let Some(waiting) = self.sessions[session as usize].queue.front_mut() {
            match pattern {
                Some(Pattern::CyclicCO) => waiting.unordered.push(place),
                _ => waiting.external.retain(|other| *other != place),
            }
            waiting.wrong = waiting.wrong.or(pattern);
        }
    }
}

/// Whether two reads of a key have different writers.
fn has_two_writers(writers: &[(u32, u64)]) -> bool {
    writers.iter().enumerate().any(|(n, (key, writer))| {
        let earlier = writers[..n].iter().rev().find(|(other, _)| other == key);
        earlier.is_some_and(|(_, other)| other != writer)
    })
}

impl Waiting {
    /// Looks at the reads of a transaction that its own writes explain or contradict.
    fn new(arrived: u64, record: Record) -> Waiting {
        let (mut external, mut wrong) = (Vec::new(), None);
        for (place, action) in record.operations.iter().enumerate() {
            if action.kind == OperationKind::Write {
                continue;
            }
            let is_write =
                |other: &&super::record::Action| other.kind == OperationKind::Write && other.key == action.key;
            let mut own = record.operations[..place].iter().filter(is_write).rev();
            let latest = own.next();
            if latest.is_some_and(|latest| latest.value == action.value) {
                continue;
            }
            if latest.is_some() && own.any(|earlier| earlier.value == action.value) {
                wrong = wrong.or(Some(Pattern::NotMyLastWrite));
                continue;
            }
            if record.operations[place + 1..].iter().filter(is_write).any(|later| later.value == action.value) {
                wrong = wrong.or(Some(Pattern::FutureRead));
                continue;
            }
            if latest.is_some() {
                wrong = wrong.or(Some(Pattern::NotMyOwnWrite));
            }
            external.push(place as u32);
        }
        Waiting { arrived, record, external, unordered: Vec::new(), wrong }
    }
}
