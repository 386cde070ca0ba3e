//! Barriers: now and then all clients wait for each other, until each sees what every other one has done.
//!
//! | step | who | transaction |
//! |---|---|---|
//! | 1 | each client, after its running transaction | writes its fence key |
//! | 2 | the last one to do so | reads all fence keys and writes the number of the barrier to the barrier key |
//! | 3 | each client | reads the barrier key, up to three times, until it shows this number or a later one |
//!
//! So everything behind a barrier sees everything before it, and a follower of the recording may settle what
//! was before. A new session begins with step 3, for the last barrier that was completed.
//!
//! No client waits for ever: a barrier that takes too long, or that fails for one client, is skipped by all; a client that
//! ends or has lost its database is not waited for. A client without transactions of its own left keeps barriers for as
//! long as others have some.

use super::{CollectError, Statistics};
use crate::generate::{Key, Observed, Step};
use isoscope_model::control::Control;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a barrier may take until all clients have come and it is completed.
const LIMIT: Duration = Duration::from_secs(3);
/// The time between two checks whether the run is over.
const LOOK: Duration = Duration::from_millis(20);
/// How often a transaction is tried.
const TRIES: usize = 3;

/// How a transaction went.
#[derive(Debug)]
pub(super) enum Tried {
    /// It committed, and did this.
    Committed(Vec<Observed>),
    /// It had no effect and may be tried again.
    Aborted,
    /// Its client goes on as a new session or not at all.
    Broken,
}

/// Runs a transaction of a client, in which each step writes this value, or one that is new.
pub(super) type RunSteps<'a> = dyn FnMut(&[Step], Option<u64>) -> Result<Tried, CollectError> + 'a;

/// Where clients wait for each other.
#[derive(Debug)]
pub(super) struct Barrier {
    every: Duration,
    clients: u32,
    state: Mutex<BarrierState>,
    changed: Condvar,
}

#[derive(Debug)]
struct BarrierState {
    /// Clients that are waited for, and those of them that have transactions of their own left.
    present: u32,
    busy: u32,
    /// When the last barrier was over, or the run began.
    last: Instant,
    /// How many barriers were begun.
    begun: u64,
    /// The one that was begun last, until it is over.
    open: Option<Open>,
    /// The number that was written at the barrier that was over last, if it was completed.
    shown: Option<u64>,
    /// The last number that was tried, and the last one of a completed barrier.
    number: u64,
    completed: u64,
}

#[derive(Debug)]
struct Open {
    since: Instant,
    arrived: u32,
    is_led: bool,
}

/// What a client has to do that has written its fence.
enum Turn {
    Lead,
    See(u64),
    GoOn,
}

impl Barrier {
    /// For these many clients, which take part from now on, each by its [`Member`].
    pub(super) fn new(every: Duration, clients: u32) -> Barrier {
        let (last, open, shown) = (Instant::now(), None, None);
        let state = BarrierState {
            present: clients,
            busy: clients,
            last,
            begun: 0,
            open,
            shown,
            number: 0,
            completed: 0,
        };
        Barrier {
            every,
            clients,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// What a new session has to read in its first transaction, if anything.
    pub(super) fn greeting(&self) -> Option<Step> {
        (self.locked().completed > 0).then_some(Step::Read(Key::fence(0)))
    }

    fn locked(&self) -> MutexGuard<'_, BarrierState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change, but not long.
    fn wait<'a>(&self, state: MutexGuard<'a, BarrierState>) -> MutexGuard<'a, BarrierState> {
        self.changed
            .wait_timeout(state, LOOK)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }

    /// The barrier to keep now, if one is due.
    fn due(&self) -> Option<u64> {
        let mut state = self.locked();
        if state.open.is_none() && state.last.elapsed() >= self.every {
            state.begun += 1;
            state.open = Some(Open {
                since: Instant::now(),
                arrived: 0,
                is_led: false,
            });
            self.changed.notify_all();
        }
        state.open.is_some().then_some(state.begun)
    }

    /// A client has written its fence: waits for the others.
    fn arrive(&self, barrier: u64, control: &Control) -> Turn {
        let mut state = self.locked();
        if state.begun == barrier
            && let Some(open) = &mut state.open
        {
            open.arrived += 1;
            self.changed.notify_all();
        }
        while state.begun == barrier {
            let present = state.present;
            let Some(open) = &mut state.open else {
                return state.shown.map_or(Turn::GoOn, Turn::See);
            };
            if !open.is_led && open.arrived >= present {
                open.is_led = true;
                return Turn::Lead;
            }
            if open.since.elapsed() >= LIMIT || control.check().is_err() {
                self.end(&mut state, None);
            } else {
                state = self.wait(state);
            }
        }
        Turn::GoOn
    }

    /// A barrier is over; with the number that was written if it was completed. How long it took, unless it was over
    /// before.
    fn finish(&self, barrier: u64, number: Option<u64>) -> Option<Duration> {
        let mut state = self.locked();
        state.completed = state.completed.max(number.unwrap_or(0));
        if state.begun == barrier {
            self.end(&mut state, number)
        } else {
            None
        }
    }

    fn end(&self, state: &mut BarrierState, number: Option<u64>) -> Option<Duration> {
        let open = state.open.take()?;
        (state.shown, state.last) = (number, Instant::now());
        self.changed.notify_all();
        Some(open.since.elapsed())
    }
}

/// A client at the barriers. It is waited for until this is dropped.
#[derive(Debug)]
pub(super) struct Member<'a> {
    barrier: &'a Barrier,
    statistics: &'a Statistics,
    control: &'a Control,
    /// The number of its fence key.
    fence: u64,
    is_busy: bool,
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        self.have_finished();
        self.barrier.locked().present -= 1;
        self.barrier.changed.notify_all();
    }
}

impl<'a> Member<'a> {
    /// The client of this number, from 0.
    pub(super) fn new(
        barrier: &'a Barrier,
        client: u32,
        statistics: &'a Statistics,
        control: &'a Control,
    ) -> Member<'a> {
        Member {
            barrier,
            statistics,
            control,
            fence: u64::from(client) + 1,
            is_busy: true,
        }
    }

    /// Its own transactions have ended.
    pub(super) fn have_finished(&mut self) {
        if std::mem::take(&mut self.is_busy) {
            self.barrier.locked().busy -= 1;
            self.barrier.changed.notify_all();
        }
    }

    /// Waits for a barrier; false: there will be none.
    pub(super) fn waits(&self) -> bool {
        let mut state = self.barrier.locked();
        while state.busy > 0 && self.control.check().is_ok() {
            if state.open.is_some() {
                return true;
            }
            state = self.barrier.wait(state);
        }
        false
    }

    /// If a barrier is due, does the part of this client.
    pub(super) fn keep(&self, run: &mut RunSteps<'_>) -> Result<(), CollectError> {
        let Some(barrier) = self.barrier.due() else {
            return Ok(());
        };
        if !self.has_fenced(run)? {
            self.barrier.finish(barrier, None);
            return Ok(());
        }
        match self.barrier.arrive(barrier, self.control) {
            Turn::GoOn => Ok(()),
            Turn::See(number) => self.see(number, run),
            Turn::Lead => {
                let written = self.lead(run)?;
                if let (Some(took), Some(_)) = (self.barrier.finish(barrier, written), written) {
                    self.statistics.keep_barrier(took);
                }
                written.map_or(Ok(()), |number| self.see(number, run))
            }
        }
    }

    /// In a new session: reads the number of the last barrier that was completed, and these keys, which the one before it
    /// wrote last. If one of them still shows that, this session is known to follow that one, whose last transactions no
    /// other client may have seen.
    pub(super) fn greet(
        &self,
        written: &[Key],
        run: &mut RunSteps<'_>,
    ) -> Result<(), CollectError> {
        let completed = self.barrier.locked().completed;
        let greeting = (completed > 0).then_some(Step::Read(Key::fence(0)));
        let steps: Vec<Step> = greeting
            .into_iter()
            .chain(written.iter().map(|&key| Step::Read(key)))
            .collect();
        if completed > 0 {
            return self.show(completed, &steps, run);
        }
        if steps.is_empty() {
            Ok(())
        } else {
            run(&steps, None).map(drop)
        }
    }

    fn has_fenced(&self, run: &mut RunSteps<'_>) -> Result<bool, CollectError> {
        for _ in 0..TRIES {
            match run(&[Step::Write(Key::fence(self.fence))], None)? {
                Tried::Committed(_) => return Ok(true),
                Tried::Broken => break,
                Tried::Aborted => {}
            }
        }
        Ok(false)
    }

    /// Writes the number of the barrier, if that is possible.
    fn lead(&self, run: &mut RunSteps<'_>) -> Result<Option<u64>, CollectError> {
        let fences =
            (1..=u64::from(self.barrier.clients)).map(|fence| Step::Read(Key::fence(fence)));
        let steps: Vec<Step> = fences.chain([Step::Write(Key::fence(0))]).collect();
        for _ in 0..TRIES {
            // No number is written twice, also where it is not known whether it was written.
            let number = {
                let mut state = self.barrier.locked();
                state.number += 1;
                state.number
            };
            match run(&steps, Some(number))? {
                Tried::Committed(_) => return Ok(Some(number)),
                Tried::Broken => break,
                Tried::Aborted => {}
            }
        }
        Ok(None)
    }

    /// Reads the number of a barrier.
    fn see(&self, number: u64, run: &mut RunSteps<'_>) -> Result<(), CollectError> {
        self.show(number, &[Step::Read(Key::fence(0))], run)
    }

    /// Takes steps that begin with reading the number of a barrier, until it is there.
    fn show(
        &self,
        number: u64,
        steps: &[Step],
        run: &mut RunSteps<'_>,
    ) -> Result<(), CollectError> {
        let shows = |read: &Observed| matches!(read, Observed::Read(_, shown) if *shown >= number);
        for _ in 0..TRIES {
            match run(steps, None)? {
                Tried::Committed(observed) if observed.first().is_some_and(shows) => return Ok(()),
                // The new session reads it first.
                Tried::Broken => return Ok(()),
                Tried::Committed(_) | Tried::Aborted => {}
            }
        }
        self.statistics.miss_barrier(number);
        Ok(())
    }
}
