//! Histories of the store models of the library, small enough for brute force, and what can be done to them: reads that
//! return other versions, clocks that move.

use super::sketch::{key_name, session_name};
use fastrand::Rng;
use isoscope::control::Control;
use isoscope::generate::{Generation, Kind, Length, Model, Observed, Workload};
use isoscope::history::{Builder, History, Interval, OperationKind, Origin, Outcome, Value};

/// The models that the engines for strong levels are tried on.
pub(crate) const MODELS: [Model; 4] =
    [Model::Strict, Model::Snapshot, Model::Prefix, Model::Causal];

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

/// A generated history.
pub(crate) struct Run {
    size: Size,
    log: Vec<Commit>,
}

impl Run {
    /// Runs a store; what it rolls back is left out.
    pub(crate) fn new(model: Model, size: Size, rng: &mut Rng) -> Run {
        let workload = Workload {
            kind: if size.mini { Kind::Mini } else { Kind::General },
            seed: rng.u64(..),
            sessions: size.sessions as u32,
            transactions: size.transactions.div_ceil(size.sessions) as u64,
            operations: Length {
                least: 1,
                most: size.operations as u32,
            },
            keys: size.keys as u64,
            update_share: 0.3,
            ..Workload::default()
        };
        let mut log = Vec::new();
        let generation = Generation {
            lag: 4,
            ..Generation::new(workload, model)
        };
        let add = |executed: isoscope::generate::Executed| {
            let operation = |observed: &Observed| match *observed {
                Observed::Read(key, value) => (false, key.0 as usize, value),
                Observed::Write(key, value) => (true, key.0 as usize, value),
                _ => panic!("no lists were asked for"),
            };
            if executed.outcome == Outcome::Committed {
                let operations = executed.operations.iter().map(operation).collect();
                log.push(Commit {
                    session: executed.session as usize,
                    operations,
                    interval: executed.interval,
                });
            }
        };
        generation
            .each(&Control::new(), &mut { add })
            .expect("registers can be generated");
        log.truncate(size.transactions);
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
        let mut reads = self
            .log
            .iter_mut()
            .flat_map(|commit| &mut commit.operations)
            .filter(|o| !o.0);
        if let Some(read) = reads.nth(chosen) {
            read.2 = value;
        }
    }

    /// The clock of one transaction moves; sessions stay in order.
    pub(crate) fn shift(&mut self, rng: &mut Rng) {
        if self.log.is_empty() {
            return;
        }
        let place = rng.usize(0..self.log.len());
        let session = self.log[place].session;
        let of_session =
            |range: std::ops::Range<usize>| range.filter(|&p| self.log[p].session == session);
        let before = of_session(0..place)
            .next_back()
            .map_or(0, |p| self.log[p].interval.end);
        let after = of_session(place + 1..self.log.len()).next();
        let last = self
            .log
            .iter()
            .map(|commit| commit.interval.end)
            .max()
            .unwrap_or(0);
        let after = after.map_or(last + 30, |p| self.log[p].interval.start);
        if after - before > 2 {
            let start = rng.i64(before + 1..after - 1);
            self.log[place].interval = Interval {
                start,
                end: rng.i64(start + 1..=after),
            };
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
                    let kind = if is_write {
                        OperationKind::Write
                    } else {
                        OperationKind::Read
                    };
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
            format!(
                "{}({},{value})",
                if is_write { 'w' } else { 'r' },
                key_name(key)
            )
        };
        let line = |commit: &Commit| {
            let words: Vec<String> = commit.operations.iter().map(word).collect();
            let Interval { start, end } = commit.interval;
            format!(
                "{} [{start}, {end}] {}\n",
                session_name(commit.session),
                words.join(" ")
            )
        };
        self.log.iter().map(line).collect()
    }
}
