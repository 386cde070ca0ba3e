//! Histories from a workload and a store in memory, with faults to inject.
//!
//! A [`Workload`] defines the requests of clients ([`Client`] is the stream of one session), a [`Model`] what their
//! store promises, a [`Fault`] what goes wrong anyway. [`Generation::each`] runs them: one transaction at a time,
//! sessions taking turns at random, all randomness from one seed. The same parameters give the same history on every
//! machine.
//!
//! `collect` runs the same workloads against real databases. Nothing here knows how histories are checked: the
//! generator of a history must not judge it.

mod applications;
mod client;
mod distribution;
mod fault;
mod objects;
mod plan;
mod store;
mod transactions;
mod workload;

pub use client::Client;
pub use distribution::{Distribution, Sampler};
pub use fault::{FAULTS, Fault, Injection};
pub use objects::{Object, ObjectLog};
pub use plan::{Key, Observed, Step, Values};
pub use store::Model;
pub use workload::{Kind, Length, Workload};

use fastrand::Rng;
use fault::Act;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{
    BuildError, Builder, History, Interval, OperationKind, Origin, Outcome, Value,
};
use rustc_hash::FxHashMap;
use store::{Memory, Store};
use workload::mixed;

/// Nanoseconds between two commits.
const STEP: i64 = 1000;
/// Part of the seed for the turns of sessions, the store and the places of faults; sessions use their numbers.
const TURNS: u64 = u64::MAX;
const PLACES: u64 = u64::MAX - 1;

/// What to generate. The same value gives the same history.
#[derive(Clone, Debug)]
pub struct Generation {
    /// The requests of clients.
    pub workload: Workload,
    /// What the store promises.
    pub store: Model,
    /// How many transactions a view may lag behind, where the store lets views lag.
    pub lag: u64,
    /// Share of the transactions that roll back for no reason, 0 to 1.
    pub aborted: f64,
    /// Share of the transactions whose clients never hear the outcome, 0 to 1; half of these commit.
    pub unknown: f64,
    /// Whether times are recorded; they are in any case where a fault needs them.
    pub times: bool,
    /// What goes wrong.
    pub faults: Vec<Injection>,
}

/// The default number of transactions that a view may lag behind.
pub const LAG: u64 = 20;

impl Generation {
    /// A workload on a store without faults.
    pub fn new(workload: Workload, store: Model) -> Generation {
        let times = store == Model::Strict;
        Generation {
            workload,
            store,
            lag: LAG,
            aborted: 0.0,
            unknown: 0.0,
            times,
            faults: Vec::new(),
        }
    }
}

/// Why a history cannot be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// A fault needs more sessions than there are.
    #[error("the fault {fault} needs {needed} sessions, the workload has {there}")]
    TooFewSessions {
        /// Which fault.
        fault: &'static str,
        /// How many it needs.
        needed: u32,
        /// How many there are.
        there: u32,
    },
    /// The store model does not keep one order of appends.
    #[error(
        "the store {0} cannot hold lists: replicas that show their own appends early do not agree on their order"
    )]
    NoLists(Model),
    /// The work was interrupted.
    #[error(transparent)]
    Interrupted(#[from] Interrupt),
    /// The history is too large.
    #[error(transparent)]
    TooLarge(#[from] BuildError),
}

/// A transaction that ran.
#[derive(Clone, Debug)]
pub struct Executed {
    /// The number of its session.
    pub session: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// When it ran, in nanoseconds.
    pub interval: Interval,
    /// What it did.
    pub operations: Vec<Observed>,
    /// The fault it belongs to, if it is one.
    pub fault: Option<&'static Fault>,
}

impl Generation {
    /// Yields the transactions in the order in which they ran; those of one session in session order. Time: linear in
    /// the operations, times the logarithm of the live versions.
    pub fn each(
        &self,
        control: &Control,
        visit: &mut dyn FnMut(Executed),
    ) -> Result<(), GenerateError> {
        self.possible()?;
        control.phase("generating", self.workload.n_transactions());
        let mut run = Generator::new(self);
        let mut places = self.places().into_iter().peekable();
        let mut n = 0;
        loop {
            while let Some((_, fault)) = places.next_if(|(place, _)| *place <= n) {
                run.fault(fault, visit);
            }
            if !run.ordinary(self, visit) {
                return Ok(());
            }
            n += 1;
            control.advance(1);
            control.check()?;
        }
    }

    /// The history. Sessions are named by their numbers.
    pub fn history(&self, control: &Control) -> Result<History, GenerateError> {
        let mut builder = Builder::new(Origin {
            format: "generated",
            ..Origin::default()
        });
        if !self.workload.has_lists() {
            builder.initial_value(Value(0));
        }
        for session in 0..self.workload.sessions {
            builder.session_number(u64::from(session));
        }
        let with_times = self.times
            || self
                .faults
                .iter()
                .any(|injection| injection.fault.in_real_time);
        self.each(control, &mut |executed| {
            add(&mut builder, &executed, with_times)
        })?;
        Ok(builder.finish()?)
    }

    /// Longest time between a call and its effect, and between that and the answer, in nanoseconds.
    pub fn span(&self) -> i64 {
        (STEP * i64::from(self.workload.sessions) / 4).max(2)
    }

    fn possible(&self) -> Result<(), GenerateError> {
        if self.workload.has_lists() && !self.store.can_hold_lists() {
            return Err(GenerateError::NoLists(self.store));
        }
        let there = self.workload.sessions;
        let asks_too_much = |injection: &&Injection| injection.fault.n_sessions() > there;
        match self.faults.iter().find(asks_too_much) {
            Some(Injection { fault, .. }) => Err(GenerateError::TooFewSessions {
                fault: fault.name,
                needed: fault.n_sessions(),
                there,
            }),
            None => Ok(()),
        }
    }

    /// After how many transactions each fault happens, ascending.
    fn places(&self) -> Vec<(u64, &'static Fault)> {
        let mut random = Rng::with_seed(mixed(self.workload.seed, PLACES));
        let all = self
            .faults
            .iter()
            .flat_map(|i| std::iter::repeat_n(i.fault, i.times as usize));
        let mut places: Vec<(u64, &'static Fault)> = all
            .map(|fault| (random.u64(..=self.workload.n_transactions()), fault))
            .collect();
        places.sort_by_key(|(place, _)| *place);
        places
    }
}

fn add(builder: &mut Builder, executed: &Executed, with_times: bool) {
    let session = builder.session_number(u64::from(executed.session));
    let draft = builder.transaction(session, executed.outcome);
    if with_times {
        builder.set_interval(draft, executed.interval);
    }
    for operation in &executed.operations {
        let (Observed::Read(key, _)
        | Observed::Write(key, _)
        | Observed::ReadList(key, _)
        | Observed::Append(key, _)) = *operation;
        let key = if key.is_number() {
            builder.key_number(key.0)
        } else {
            builder.key_name(&key.to_string())
        };
        match operation {
            Observed::Read(_, value) => {
                builder.operation(draft, OperationKind::Read, key, Value(*value), 0)
            }
            Observed::Write(_, value) => {
                builder.operation(draft, OperationKind::Write, key, Value(*value), 0)
            }
            Observed::Append(_, value) => {
                builder.list_key(key);
                builder.operation(draft, OperationKind::Write, key, Value(*value), 0);
            }
            Observed::ReadList(_, elements) => {
                let elements: Vec<Value> = elements.iter().copied().map(Value).collect();
                builder.list_read(draft, key, &elements, 0);
            }
        }
    }
}

/// A running generation.
struct Generator {
    clients: Vec<Client>,
    memories: Vec<Memory>,
    /// Sessions that have transactions left.
    busy: Vec<u32>,
    store: Store,
    random: Rng,
    /// When the last transaction took effect.
    now: i64,
    /// By session: when it got its last answer.
    answered: Vec<i64>,
    /// Longest time between a call and its effect, and between that and the answer.
    span: i64,
    fault_keys: u64,
    keys_are_numbers: bool,
}

impl Generator {
    fn new(generation: &Generation) -> Generator {
        let workload = &generation.workload;
        let n = workload.sessions;
        let memory = |session| Memory {
            values: Values::new(session, n),
            known: FxHashMap::default(),
        };
        Generator {
            clients: workload.clients(),
            memories: (0..n).map(memory).collect(),
            busy: (0..n).filter(|_| workload.transactions > 0).collect(),
            store: Store::new(generation.store, generation.lag, n, workload.has_lists()),
            random: Rng::with_seed(mixed(workload.seed, TURNS)),
            now: 0,
            answered: vec![0; n as usize],
            span: generation.span(),
            fault_keys: if workload.has_number_keys() {
                workload.keys
            } else {
                0
            },
            keys_are_numbers: workload.has_number_keys(),
        }
    }

    /// Runs the next transaction of some session; returns whether there was one.
    fn ordinary(&mut self, generation: &Generation, visit: &mut dyn FnMut(Executed)) -> bool {
        let Some((place, session)) = self.turn() else {
            return false;
        };
        let at = session as usize;
        let Some(steps) = self.clients[at].next() else {
            return false;
        };
        if self.clients[at].left() == 0 {
            self.busy.swap_remove(place);
        }
        let start = (self.now - self.random.i64(0..self.span)).max(self.answered[at] + 1);
        let end = self.now + self.random.i64(0..self.span);
        self.answered[at] = end;
        let rolls_back = self.random.f64() < generation.aborted;
        let is_unknown = self.random.f64() < generation.unknown;
        let commits = !rolls_back && (!is_unknown || self.random.bool());
        let (operations, committed) = self.store.transact(
            session,
            &steps,
            &mut self.memories[at],
            commits,
            &mut self.random,
        );
        let outcome = match (is_unknown, committed) {
            (true, _) => Outcome::Unknown,
            (false, true) => Outcome::Committed,
            (false, false) => Outcome::Aborted,
        };
        visit(Executed {
            session,
            outcome,
            interval: Interval { start, end },
            operations,
            fault: None,
        });
        true
    }

    /// The next session: one that waits for no answer, and its place among the busy ones. Advances the clock.
    fn turn(&mut self) -> Option<(usize, u32)> {
        let n = self.busy.len();
        if n == 0 {
            return None;
        }
        self.now += STEP;
        let first = self.random.usize(..n);
        let mut places = (first..n).chain(0..first);
        let free = places.find(|&place| self.answered[self.busy[place] as usize] < self.now);
        let place =
            free.or_else(|| (0..n).min_by_key(|&place| self.answered[self.busy[place] as usize]))?;
        let session = self.busy[place];
        self.now = self.now.max(self.answered[session as usize] + 1);
        Some((place, session))
    }

    /// Runs the transactions of a fault, in sessions chosen at random.
    fn fault(&mut self, fault: &'static Fault, visit: &mut dyn FnMut(Executed)) {
        let mut sessions: Vec<u32> = Vec::new();
        while sessions.len() < fault.n_sessions() as usize {
            let session = self.random.u32(..self.answered.len() as u32);
            if !sessions.contains(&session) {
                sessions.push(session);
            }
        }
        let keys = fault::keys_of(self.fault_keys, self.keys_are_numbers, fault.n_keys());
        self.fault_keys += fault.n_keys();
        let values = fault::values_of(fault, |session| {
            self.memories[sessions[session as usize] as usize]
                .values
                .fresh()
        });
        let value = |key: u8, version: u8| {
            values
                .iter()
                .find(|(name, _)| *name == (key, version))
                .map_or(0, |(_, value)| *value)
        };
        let begin = sessions
            .iter()
            .map(|&s| self.answered[s as usize])
            .max()
            .unwrap_or(0)
            .max(self.now)
            + STEP;
        let intervals = intervals(fault, begin);
        self.now = intervals
            .iter()
            .map(|interval| interval.end)
            .max()
            .unwrap_or(begin);
        for (&(session, outcome, acts), interval) in fault.transactions.iter().zip(intervals) {
            let session = sessions[session as usize];
            let observed = |act: &Act| match *act {
                Act::R(key, version) => Observed::Read(keys[key as usize], value(key, version)),
                Act::W(key, version) => Observed::Write(keys[key as usize], value(key, version)),
            };
            let operations = acts.iter().map(observed).collect();
            visit(Executed {
                session,
                outcome,
                interval,
                operations,
                fault: Some(fault),
            });
        }
        sessions
            .iter()
            .for_each(|&session| self.answered[session as usize] = self.now);
        self.store.leap(&sessions, fault.transactions.len() as u64);
    }
}

/// When the transactions of a fault run: those of different sessions concurrently, or all one after the other.
fn intervals(fault: &Fault, begin: i64) -> Vec<Interval> {
    let number = |n: usize| n as i64;
    if fault.in_real_time {
        let interval = |n: usize| Interval {
            start: begin + 2 * number(n) * STEP,
            end: begin + (2 * number(n) + 1) * STEP,
        };
        return (0..fault.transactions.len()).map(interval).collect();
    }
    let of_session = |session: u8| {
        fault
            .transactions
            .iter()
            .filter(move |(other, ..)| *other == session)
            .count()
    };
    let mut gone = [0; u8::MAX as usize + 1];
    let interval = |&(session, ..): &fault::Sketched| {
        let n = gone[session as usize];
        gone[session as usize] += 1;
        let part = STEP / number(of_session(session));
        Interval {
            start: begin + number(n) * part,
            end: begin + number(n + 1) * part,
        }
    };
    fault.transactions.iter().map(interval).collect()
}
