//! A client: it runs the transactions of a session, one after the other, and records them.

use super::barrier::{Barrier, Member, Tried};
use super::driver::{Connection, Failure};
use super::endpoint::Endpoint;
use super::options::ClientOptions;
use super::{CollectError, Recorder, Statistics};
use crate::generate::{Client, Key, Observed, Step, Values, Workload};
use isoscope_model::control::Control;
use isoscope_model::history::Outcome;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The pause between two attempts to reconnect to a database.
pub(super) const PAUSE: Duration = Duration::from_millis(50);
/// How many new sessions in a row begin with the number of the last barrier.
const GREETINGS: usize = 3;

/// What all sessions share.
pub(super) struct Shared<'a> {
    pub(super) workload: &'a Workload,
    pub(super) options: &'a ClientOptions,
    pub(super) recorder: &'a Recorder,
    pub(super) statistics: &'a Statistics,
    pub(super) control: Control,
    /// The number of the next client that follows one whose transaction had an unknown outcome.
    pub(super) next_process: AtomicU32,
    /// Where clients wait for each other, if they do.
    pub(super) barrier: Option<Barrier>,
    /// The keys that some session wrote, or may have written; kept for the final reads only.
    pub(super) written: Mutex<BTreeSet<Key>>,
}

/// One session.
pub(super) struct Session<'a> {
    shared: &'a Shared<'a>,
    endpoint: &'a Endpoint<'a>,
    process: u32,
    values: Values,
    /// The value last seen of each key, for comparisons.
    known: FxHashMap<Key, u64>,
    connection: Box<dyn Connection>,
    /// The keys that the client wrote in its last transaction that committed, and in one of unknown outcome behind it.
    written: Vec<Key>,
    /// Whether this session follows another one of the client and has done nothing yet.
    is_new: bool,
    /// Whether the database could not be reached again.
    is_lost: bool,
}

/// How a transaction went.
pub(super) struct Attempt {
    observed: Vec<Observed>,
    outcome: Outcome,
    pub(super) failure: Option<Failure>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        shared: &'a Shared<'a>,
        session: u32,
        endpoint: &'a Endpoint<'a>,
        connection: Box<dyn Connection>,
    ) -> Session<'a> {
        let values = Values::new(session, shared.workload.sessions);
        let (known, written, is_new, is_lost) = (FxHashMap::default(), Vec::new(), false, false);
        let session = Session {
            shared,
            endpoint,
            process: session,
            values,
            known,
            connection,
            written,
            is_new,
            is_lost,
        };
        session.place();
        session
    }

    /// Tells the recorder where this process is.
    fn place(&self) {
        if let Some(name) = self.endpoint.name {
            self.shared.recorder.place(self.process, name);
        }
    }

    /// Runs the transactions of a client.
    pub(super) fn run(&mut self, client: Client) -> Result<(), CollectError> {
        let Shared {
            ref barrier,
            statistics,
            ref control,
            ..
        } = *self.shared;
        let member = barrier
            .as_ref()
            .map(|barrier| Member::new(barrier, self.process, statistics, control));
        let Some(mut member) = member else {
            return self.transactions(client, None);
        };
        self.transactions(client, Some(&member))?;
        member.have_finished();
        while !self.is_lost && member.waits() {
            self.keep_barrier(&member)?;
        }
        if self.is_lost && !self.is_new {
            self.shared.recorder.ended(self.process)
        } else {
            Ok(())
        }
    }

    fn transactions(
        &mut self,
        client: Client,
        member: Option<&Member<'_>>,
    ) -> Result<(), CollectError> {
        for steps in client {
            let mut steps = self.endpoint.steps(steps);
            self.shared.options.write_order.apply(&mut steps);
            if self.shared.options.final_reads {
                let written = steps
                    .iter()
                    .filter(|step| step.writes())
                    .map(|step| step.key());
                lock(&self.shared.written).extend(written);
            }
            for _ in 0..=self.shared.options.retries {
                self.greet(member)?;
                if self.is_lost || self.shared.control.check().is_err() {
                    return Ok(());
                }
                if self.tried(&steps, None)?.outcome != Outcome::Aborted {
                    break;
                }
            }
            self.shared.control.advance(1);
            if let Some(member) = member
                && !self.is_lost
            {
                self.keep_barrier(member)?;
            }
        }
        Ok(())
    }

    /// Does the part of this client at a barrier, if one is due.
    fn keep_barrier(&mut self, member: &Member<'_>) -> Result<(), CollectError> {
        self.greet(Some(member))?;
        if self.is_lost {
            Ok(())
        } else {
            member.keep(&mut |steps, value| self.barrier_step(steps, value))
        }
    }

    /// If this is a new session, begins it with the number of the last barrier.
    fn greet(&mut self, member: Option<&Member<'_>>) -> Result<(), CollectError> {
        let Some(member) = member else { return Ok(()) };
        for _ in 0..GREETINGS {
            if self.is_lost || !std::mem::take(&mut self.is_new) {
                break;
            }
            let written = self.written.clone();
            member.greet(&written, &mut |steps, value| {
                self.barrier_step(steps, value)
            })?;
        }
        Ok(())
    }

    fn barrier_step(&mut self, steps: &[Step], value: Option<u64>) -> Result<Tried, CollectError> {
        let attempt = self.tried(steps, value)?;
        Ok(match attempt.outcome {
            _ if self.is_lost || self.is_new => Tried::Broken,
            Outcome::Committed => Tried::Committed(attempt.observed),
            _ => Tried::Aborted,
        })
    }

    /// Runs a transaction and makes the client ready for the next one, after an unknown outcome in a new session.
    fn tried(&mut self, steps: &[Step], value: Option<u64>) -> Result<Attempt, CollectError> {
        let attempt = self.transaction(steps, value)?;
        let mut written: Vec<Key> = steps
            .iter()
            .filter(|step| step.writes())
            .map(|step| step.key())
            .collect();
        if !written.is_empty() && attempt.outcome != Outcome::Aborted {
            written.extend(
                self.written
                    .drain(..)
                    .filter(|_| attempt.outcome == Outcome::Unknown),
            );
            written.sort_unstable();
            written.dedup();
            self.written = written;
        }
        if attempt.outcome == Outcome::Unknown {
            if self.shared.barrier.is_some() {
                self.shared.recorder.ended(self.process)?;
            }
            self.process = self.shared.next_process.fetch_add(1, Ordering::Relaxed);
            self.place();
            self.is_new = true;
        }
        if attempt
            .failure
            .as_ref()
            .is_some_and(|failure| !self.recover(failure))
        {
            self.is_lost = true;
            // At the end of the run no more is tried.
            if self.shared.control.check().is_ok() {
                self.shared.statistics.lose_session();
            }
        }
        Ok(attempt)
    }

    /// Runs and records one transaction, in which each step writes this value, or one that is new.
    pub(super) fn transaction(
        &mut self,
        steps: &[Step],
        value: Option<u64>,
    ) -> Result<Attempt, CollectError> {
        let begin = Instant::now();
        let writing = steps.iter().filter(|step| step.writes());
        let values: Vec<u64> = writing
            .map(|_| value.unwrap_or_else(|| self.values.fresh()))
            .collect();
        self.shared.recorder.invoke(self.process, steps, &values)?;
        let attempt = self.attempt(steps, &values);
        let error = attempt.failure.as_ref().map(Failure::to_string);
        self.shared.recorder.complete(
            self.process,
            attempt.outcome,
            &attempt.observed,
            error.as_deref(),
        )?;
        self.shared
            .statistics
            .count(attempt.outcome, attempt.observed.len(), begin.elapsed());
        Ok(attempt)
    }

    fn attempt(&mut self, steps: &[Step], values: &[u64]) -> Attempt {
        let mut observed = Vec::with_capacity(steps.len());
        // Before a commit is sent nothing can take effect, whatever fails.
        if let Err(failure) = self.operations(steps, values, &mut observed) {
            return Attempt {
                observed,
                outcome: Outcome::Aborted,
                failure: Some(failure),
            };
        }
        let (outcome, failure) = match self.connection.commit() {
            Ok(()) => (Outcome::Committed, None),
            Err(failure @ Failure::Refused(_)) => (Outcome::Aborted, Some(failure)),
            Err(failure @ Failure::Broken(_)) => (Outcome::Unknown, Some(failure)),
        };
        Attempt {
            observed,
            outcome,
            failure,
        }
    }

    /// Everything before the commit. A write that fails was tried: another transaction may have seen it.
    fn operations(
        &mut self,
        steps: &[Step],
        values: &[u64],
        observed: &mut Vec<Observed>,
    ) -> Result<(), Failure> {
        self.connection.begin()?;
        let mut values = values.iter().copied();
        for &step in steps {
            let value = if step.writes() {
                values.next().unwrap_or_default()
            } else {
                0
            };
            match step {
                Step::Read(key) => observed.push(Observed::Read(key, self.connection.read(key)?)),
                Step::ReadList(key) => {
                    observed.push(Observed::ReadList(key, self.connection.read_list(key)?))
                }
                Step::Write(key) => {
                    observed.push(Observed::Write(key, value));
                    self.connection.write(key, value)?;
                }
                Step::Append(key) => {
                    observed.push(Observed::Append(key, value));
                    self.connection.append(key, value)?;
                }
                Step::CompareAndSet(key) | Step::Insert(key) => {
                    let found = self.connection.read(key)?;
                    observed.push(Observed::Read(key, found));
                    let known = self.known.insert(key, found).unwrap_or_default();
                    if found
                        == if matches!(step, Step::Insert(_)) {
                            0
                        } else {
                            known
                        }
                    {
                        observed.push(Observed::Write(key, value));
                        self.connection.write(key, value)?;
                        self.known.insert(key, value);
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes the session ready for its next transaction; returns whether that was possible.
    fn recover(&mut self, failure: &Failure) -> bool {
        if matches!(failure, Failure::Refused(_)) && self.connection.rollback().is_ok() {
            return true;
        }
        let until = Instant::now() + self.shared.options.patience;
        match reconnect(self.endpoint, until, &|| {
            self.shared.control.check().is_err()
        }) {
            Ok(connection) => {
                self.connection = connection;
                true
            }
            Err(_) => false,
        }
    }
}

/// Connects, again and again until then or until it is over. Errors: the last failure.
pub(super) fn reconnect(
    endpoint: &Endpoint<'_>,
    until: Instant,
    is_over: &dyn Fn() -> bool,
) -> Result<Box<dyn Connection>, Failure> {
    loop {
        match endpoint.connect() {
            Err(failure) if Instant::now() >= until || is_over() => return Err(failure),
            Err(_) => std::thread::sleep(PAUSE),
            connected => return connected,
        }
    }
}

pub(super) fn lock(keys: &Mutex<BTreeSet<Key>>) -> MutexGuard<'_, BTreeSet<Key>> {
    keys.lock().unwrap_or_else(PoisonError::into_inner)
}
