//! Simulated stores that keep what they promise: a serial one, one with snapshot isolation, one with snapshots but without a
//! look at conflicts (prefix consistency), and one whose sessions lag behind in causal order. Every commit of a history
//! takes its moment on a clock, so the serial one is strictly serializable.

use super::sketch::{key_name, session_name};
use fastrand::Rng;
use isoscope::history::{Builder, History, Interval, OperationKind, Origin, Outcome, Value};
use std::collections::BTreeSet;

/// What a store promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    StrictSerializability,
    SnapshotIsolation,
    PrefixConsistency,
    Causal,
}

impl Promise {
    pub(crate) const ALL: [Promise; 4] =
        [Promise::StrictSerializability, Promise::SnapshotIsolation, Promise::PrefixConsistency, Promise::Causal];
}

/// How large a history is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) transactions: usize,
    pub(crate) sessions: usize,
    pub(crate) keys: usize,
    /// Most keys of a transaction.
    pub(crate) operations: usize,
    /// Whether a transaction reads what it writes first: mini-transactions.
    pub(crate) mini: bool,
}

/// A committed transaction.
struct Commit {
    session: usize,
    /// (whether it is a write, key, value)
    operations: Vec<(bool, usize, u64)>,
    interval: Interval,
}

/// A simulated history.
pub(crate) struct Run {
    size: Size,
    log: Vec<Commit>,
}

impl Run {
    /// Runs a store.
    pub(crate) fn new(promise: Promise, size: Size, rng: &mut Rng) -> Run {
        let mut log: Vec<Commit> = Vec::new();
        // By session: places of the commits that it has seen.
        let mut seen: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); size.sessions];
        let mut causes: Vec<BTreeSet<usize>> = Vec::new();
        let mut free_at = vec![0; size.sessions];
        let mut next_value = 1;
        while log.len() < size.transactions {
            let session = rng.usize(0..size.sessions);
            let n = log.len();
            let view: BTreeSet<usize> = match promise {
                Promise::StrictSerializability => (0..n).collect(),
                Promise::SnapshotIsolation | Promise::PrefixConsistency => {
                    let oldest = seen[session].last().map_or(0, |&last| last + 1);
                    (0..rng.usize(oldest.max(n.saturating_sub(4)).min(n)..=n)).collect()
                }
                Promise::Causal => {
                    let mut view = seen[session].clone();
                    for (place, causes) in causes.iter().enumerate() {
                        if rng.u8(0..4) == 0 {
                            view.extend(causes.iter().copied().chain([place]));
                        }
                    }
                    view
                }
            };
            let operations = operations(&log, &view, size, &mut next_value, rng);
            let writes = |place: usize, key: usize| log[place].operations.iter().any(|o| o.0 && o.1 == key);
            let conflicts = || {
                (0..n).filter(|place| !view.contains(place)).any(|p| operations.iter().any(|o| o.0 && writes(p, o.1)))
            };
            if promise == Promise::SnapshotIsolation && conflicts() {
                continue;
            }
            let commit = 10 * n as i64 + 10;
            // Began at any time after the session's last transaction ended, ended just before its next one begins.
            let start = rng.i64(free_at[session] + 1..commit);
            let end = commit + rng.i64(0..9);
            free_at[session] = end;
            seen[session].extend(view.iter().copied().chain([n]));
            causes.push(view);
            log.push(Commit { session, operations, interval: Interval { start, end } });
        }
        Run { size, log }
    }

    /// A read returns another version of its key.
    pub(crate) fn disturb(&mut self, rng: &mut Rng) {
        let all = || self.log.iter().flat_map(|commit| &commit.operations);
        let reads = all().filter(|o| !o.0).count();
        if reads == 0 {
            return;
        }
        let chosen = rng.usize(0..reads);
        let key = all().filter(|o| !o.0).nth(chosen).map_or(0, |o| o.1);
        let mut values: Vec<u64> = all().filter(|o| o.0 && o.1 == key).map(|o| o.2).collect();
        values.push(0);
        let value = values[rng.usize(0..values.len())];
        let mut reads = self.log.iter_mut().flat_map(|commit| &mut commit.operations).filter(|o| !o.0);
        if let Some(read) = reads.nth(chosen) {
            read.2 = value;
        }
    }

    /// The clock of one transaction moves; sessions stay in order.
    pub(crate) fn shift(&mut self, rng: &mut Rng) {
        let place = rng.usize(0..self.log.len());
        let session = self.log[place].session;
        let of_session = |range: std::ops::Range<usize>| range.filter(|&p| self.log[p].session == session);
        let before = of_session(0..place).next_back().map_or(0, |p| self.log[p].interval.end);
        let after = of_session(place + 1..self.log.len()).next();
        let after = after.map_or(10 * self.log.len() as i64 + 30, |p| self.log[p].interval.start);
        if after - before > 2 {
            let start = rng.i64(before + 1..after - 1);
            self.log[place].interval = Interval { start, end: rng.i64(start + 1..=after) };
        }
    }

    /// The history; the file has sessions one after the other.
    pub(crate) fn history(&self, with_times: bool) -> History {
        let mut builder = Builder::new(Origin::default());
        builder.initial_value(Value(0));
        for session in 0..self.size.sessions {
            let id = builder.session_name(&session_name(session));
            for commit in self.log.iter().filter(|commit| commit.session == session) {
                let draft = builder.transaction(id, Outcome::Committed);
                if with_times {
                    builder.set_interval(draft, commit.interval);
                }
                for &(is_write, key, value) in &commit.operations {
                    let kind = if is_write { OperationKind::Write } else { OperationKind::Read };
                    let key = builder.key_name(&key_name(key));
                    builder.operation(draft, kind, key, Value(value), 0);
                }
            }
        }
        builder.finish().expect("simulated histories are small")
    }

    /// For messages: a line a transaction, in the order of commits.
    pub(crate) fn text(&self) -> String {
        let word = |&(is_write, key, value): &(bool, usize, u64)| {
            format!("{}({},{value})", if is_write { 'w' } else { 'r' }, key_name(key))
        };
        let line = |commit: &Commit| {
            let words: Vec<String> = commit.operations.iter().map(word).collect();
            let Interval { start, end } = commit.interval;
            format!("{} [{start}, {end}] {}\n", session_name(commit.session), words.join(" "))
        };
        self.log.iter().map(line).collect()
    }
}

/// What a transaction does, given what it sees.
fn operations(
    log: &[Commit],
    view: &BTreeSet<usize>,
    size: Size,
    next_value: &mut u64,
    rng: &mut Rng,
) -> Vec<(bool, usize, u64)> {
    let newest = |key: usize| {
        let versions = view.iter().rev().flat_map(|&place| &log[place].operations);
        versions.filter(|o| o.0 && o.1 == key).map(|o| o.2).next().unwrap_or(0)
    };
    let mut keys: Vec<usize> = (0..size.keys).collect();
    rng.shuffle(&mut keys);
    keys.truncate(rng.usize(1..=size.operations.min(size.keys)));
    let mut operations = Vec::new();
    for key in keys {
        let writes = rng.bool();
        if !writes || size.mini || rng.u8(0..3) == 0 {
            operations.push((false, key, newest(key)));
        }
        if writes {
            operations.push((true, key, *next_value));
            *next_value += 1;
        }
    }
    // All reads first, sometimes.
    if rng.bool() {
        operations.sort_by_key(|o| o.0);
    }
    operations
}
