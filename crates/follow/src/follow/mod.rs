//! Checks a history while it is written.
//!
//! ```text
//! bytes → stream → Record → delivery → Delivered → an engine for each level → answers, findings
//! ```
//!
//! A [`Stream`] cuts a growing file into transactions, read by the readers of `formats`. They are *delivered* when what
//! they read from has been; until then they wait. After each transaction, the answer at a level is what the checkers say
//! about the history of all delivered ones. Every level is closed under leaving out transactions and reads, so
//! *violated* stays so whatever comes; *holds so far* may end with the next transaction.
//!
//! Weaker levels are followed only when a stronger one no longer holds (`cascade`).
//!
//! The past is settled where that changes no later answer; beyond the horizon it is settled by age. A read that
//! contradicts what was settled by age is left out and counted, and then the answer is never more than *undecided*:
//! horizon or not, *violated* and *holds* are proved.
//!
//! # Why engines of its own
//!
//! A prototype had the checkers check what is remembered each time a third of it was new, and kept only the conditions of
//! `seal`. In random tests that settle after each transaction it gave the same answers, so no decision on a pair of writers
//! has to be kept when the past is settled. But it showed violations up to 3,180 transactions late, and did not show one
//! whose value was written again before the next check; the engines show each with the transaction that decides it. Reading
//! apart, it took 1.2 times their CPU time at TCC on a causal store and 1.5 times at SI and SER on a serial one, 3.9 times at
//! SI with Zipf-distributed keys, and 3.2 times at PC with four keys; with a check every 500 transactions 5.4 times at SI and
//! SER (development builds, horizon of 10,000). Its peak memory was within 30 % of theirs, and its code would be some 900
//! lines shorter.

mod cascade;
mod delivered;
mod delivery;
mod engine;
mod example;
mod keep;
mod lists;
mod order;
mod recent;
mod record;
mod replay;
mod stream;
#[cfg(test)]
mod tests;

pub use delivery::WaitingFor;
pub use example::Finding;
pub use keep::FORM;
pub use recent::{RECENT, Recent};
pub use record::{Action, Assembly, Atom, Called, Interned, Names, Record, records};
pub use replay::{Event, REPLAYED, Replay, event_of, footer, header, level_of};
pub use stream::Stream;

use delivered::Delivered;
use delivery::Delivery;
use engine::{Engine, Stop, Surroundings};
use example::Proof;
use isoscope_check::checkers::{Level, Pattern};
use isoscope_model::history::Outcome;
use keep::{Keep, Reading, kept};
use std::sync::Arc;

/// What is remembered at least before settling is put off.
const SMALL: usize = 1000;

/// How a stream is followed.
#[derive(Clone, Debug)]
pub struct Options {
    /// The levels, any of [`FOLLOWED`].
    pub levels: Vec<Level>,
    /// The age, in transactions, at which the past is settled whether or not that loses something. None: never.
    pub horizon: Option<u64>,
    /// If it is known how many sessions there are: they are all, and none ends. Else what the stream says of barriers
    /// counts.
    pub sessions: Option<u32>,
    /// How many transactions are delivered at least between two attempts to settle the past; there are more where more is
    /// remembered.
    pub period: u64,
    /// For how many versions it is remembered at least who wrote them; for twice as many at most, besides those needed and the
    /// last one of each key.
    pub memory: usize,
}

/// The levels that can be followed, weakest first. The last one counts the times that are recorded. PSI is followed only if
/// it is asked for.
pub const FOLLOWED: [Level; 9] = [
    Level::CutIsolation,
    Level::ReadCommitted,
    Level::ReadAtomic,
    Level::TransactionalCausalConsistency,
    Level::ParallelSnapshotIsolation,
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializability,
    Level::StrictSerializability,
];

impl Default for Options {
    fn default() -> Options {
        let levels = FOLLOWED
            .into_iter()
            .filter(|level| level.row().usual)
            .collect();
        // With more, their tables would be twice as large.
        Options {
            levels,
            horizon: Some(10_000),
            sessions: None,
            period: 200,
            memory: 450_000,
        }
    }
}

/// The answer at a level so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// All delivered transactions satisfy it.
    Holds,
    /// No continuation can satisfy it.
    Violated,
    /// The delivered transactions satisfy it except for this many reads, which are older than what is remembered.
    ExceptFor(u64),
    /// It is not known, for this reason.
    Unknown(String),
}

impl Answer {
    /// One word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Answer::Holds => "holds",
            Answer::Violated => "violated",
            Answer::ExceptFor(_) | Answer::Unknown(_) => "undecided",
        }
    }
}

/// Where a follower is.
#[derive(Clone, Debug)]
pub struct Status {
    /// Transactions that arrived.
    pub arrived: u64,
    /// Transactions delivered.
    pub delivered: u64,
    /// Transactions that wait for what they read from.
    pub waiting: usize,
    /// Why the oldest of them waits.
    pub why: Option<WaitingFor>,
    /// The most transactions that the engine of a level remembers.
    pub remembered: usize,
    /// The most transactions that the engine of a level has settled.
    pub settled: u64,
    /// The answers, weakest level first.
    pub answers: Vec<(Level, Answer)>,
}

/// Follows a history.
#[derive(Debug)]
pub struct Follower {
    options: Options,
    delivery: Delivery,
    engines: Vec<Engine>,
    /// Whether cut isolation was violated.
    is_cut: bool,
    since_seal: u64,
    /// What is still to come began then or later.
    begun: Option<i64>,
    /// The same, as far as what was settled rests on it.
    relied_on: Option<i64>,
    /// What shows that levels are violated.
    proofs: Vec<Proof>,
    fresh: Vec<Finding>,
}

kept!(Follower { is_cut, since_seal, begun, relied_on, proofs, delivery, engines; options, fresh });

impl Follower {
    /// Begins. Levels that cannot be followed are left out.
    pub fn new(mut options: Options) -> Follower {
        options.levels.retain(|level| FOLLOWED.contains(level));
        options.levels.sort_unstable();
        options.levels.dedup();
        let engines = options
            .levels
            .iter()
            .filter_map(|&level| Engine::new(level))
            .collect();
        let delivery = Delivery::new(options.memory);
        let mut follower = Follower {
            options,
            delivery,
            engines,
            is_cut: false,
            since_seal: 0,
            begun: None,
            relied_on: None,
            proofs: Vec::new(),
            fresh: Vec::new(),
        };
        follower.sleep();
        follower
    }

    /// Takes the next transaction of the stream, in the order in which they ended. `names` are those of its record.
    pub fn take(&mut self, record: Record, names: &Names) {
        self.withdraw(&record);
        if self.delivery.ended().is_some() {
            return;
        }
        if self
            .relied_on
            .zip(record.interval)
            .is_some_and(|(begun, interval)| interval.start < begun)
        {
            let line = record.line;
            return self.delivery.end(format!(
                "line {line}: this transaction began before it was said to be open"
            ));
        }
        self.begun = record.begun;
        let mut delivered = Vec::new();
        self.delivery.hear(&record.gone, names.barrier);
        self.delivery.take(record, &mut delivered);
        self.enter(delivered, names);
        if let Some(horizon) = self.options.horizon
            && self.delivery.arrived().is_multiple_of(self.options.period)
        {
            let mut late = Vec::new();
            self.delivery.give_up_older(horizon, &mut late);
            self.enter(late, names);
        }
        self.keep_promises();
    }

    /// What it remembers, with what has been read of the stream, for [`resumed`](Self::resumed). Findings and an order
    /// that were not taken yet are left out. O(what is remembered).
    pub fn kept(&self, stream: &Stream) -> Vec<u8> {
        keep::bytes_of(|to| {
            stream.put(to);
            self.put(to);
        })
    }

    /// The stream and its follower that these options and bytes were [`kept`](Self::kept) with; none if these are no such
    /// bytes.
    pub fn resumed(options: Options, bytes: &[u8]) -> Option<(Stream, Follower)> {
        let from = &mut Reading::new(bytes);
        let (stream, mut follower) = (Stream::get(from)?, Follower::get(from)?);
        follower.options = Follower::new(options).options;
        follower.delivery.find(from);
        Some((stream, follower))
    }

    /// The end of the stream: what waits has read what is not there.
    pub fn finish(&mut self, names: &Names) {
        if self.delivery.ended().is_none() {
            let mut delivered = Vec::new();
            self.delivery.finish(&mut delivered);
            self.enter(delivered, names);
        }
    }

    /// Ends following if there are more sessions than there should be: what was settled relied on their number.
    fn keep_promises(&mut self) {
        if let Some(most) = self.options.sessions {
            let n = self.delivery.n_sessions();
            if n > most as usize {
                self.delivery
                    .end(format!("there are more than {most} sessions"));
            }
        }
    }

    fn enter(&mut self, delivered: Vec<Arc<Delivered>>, names: &Names) {
        if self.delivery.ended().is_some() {
            return;
        }
        let n_delivered = delivered.len();
        for (place, t) in delivered.into_iter().enumerate() {
            if let Some(why) = self.delivery.broken_promise(&t, names) {
                return self.delivery.end(why);
            }
            if !self.is_cut && t.is_cut && self.options.levels.contains(&Level::CutIsolation) {
                self.is_cut = true;
                self.found(
                    example::of_reads(Level::CutIsolation, &t, &self.delivery, names),
                    names,
                );
            }
            let before = self.states();
            for engine in &mut self.engines {
                match t.wrong {
                    Some(_) => engine.violate(t.seq),
                    None => engine.enter(&t),
                }
            }
            self.descend(&t, &before, names);
            self.since_seal += 1;
            // Settling looks at all that is remembered: each time a good part of it should be new.
            let remembered = self.remembered();
            // What was delivered together may differ in what it has seen: all of it enters before.
            let is_last = place + 1 == n_delivered;
            if is_last
                && self.since_seal
                    >= self
                        .options
                        .period
                        .max(remembered.saturating_sub(SMALL) as u64 / 3)
            {
                self.since_seal = 0;
                self.seal(&t, names);
            }
        }
    }

    /// If an engine has just found a violation: keeps it.
    fn note(&mut self, place: usize, t: &Arc<Delivered>, names: &Names) {
        let engine = &self.engines[place];
        if let Some(Stop::Violated { is_at_hand, .. }) = engine.stop() {
            self.found(
                example::of_engine(engine, t, is_at_hand, (&self.delivery, names)),
                names,
            );
        }
    }

    fn found(&mut self, finding: Finding, names: &Names) {
        self.proofs.extend(
            finding
                .example
                .as_ref()
                .map(|example| Proof::new(finding.level, example, names)),
        );
        self.fresh.push(finding);
    }

    /// Drops the proofs that read what a transaction writes again and ends following if there are any; also where one of
    /// unknown outcome counts as committed because that was read, on which any proof may rest.
    fn withdraw(&mut self, record: &Record) {
        if record.outcome == Outcome::Aborted {
            return;
        }
        let n_proofs = self.proofs.len();
        let mut is_open_again = false;
        for version in record.writes().map(Action::version) {
            let is_promoting = self.delivery.is_promoting(&version);
            self.proofs
                .retain(|proof| !is_promoting && !proof.reads.contains(&version));
            is_open_again |= is_promoting;
        }
        if is_open_again || self.proofs.len() < n_proofs {
            self.delivery.end(format!(
                "line {}: a value that had been read is written again",
                record.line
            ));
        }
    }

    fn seal(&mut self, last: &Arc<Delivered>, names: &Names) {
        let passed = match self.options.sessions {
            Some(n) => self.delivery.passed(n),
            None => self.delivery.passed_by_barriers(),
        };
        let now = self.delivery.arrived();
        // What is settled by times would be lost to levels that do not count them.
        let is_alone = self
            .engines
            .iter()
            .all(|e| e.level().counts_real_time() || e.stop().is_some());
        let begun = self
            .begun
            .filter(|_| is_alone)
            .map(|begun| begun.min(self.delivery.first_start()));
        self.relied_on = begun.or(self.relied_on);
        let around = Surroundings {
            now,
            oldest_waiting: self.delivery.oldest_waiting().unwrap_or(now + 1),
            horizon: self.options.horizon,
            begun,
            passed: passed.as_deref(),
            first_named: self.delivery.first_named(),
        };
        let before = self.states();
        self.engines
            .iter_mut()
            .for_each(|engine| engine.seal(around));
        self.descend(last, &before, names);
    }

    /// Keeps the order of this level, one of [`REPLAYED`], for [`take_order`](Self::take_order).
    pub fn keep_order(&mut self, level: Level) {
        self.engines
            .iter_mut()
            .filter(|engine| engine.level() == level)
            .for_each(Engine::keep_order);
    }

    /// The events that were settled since this was asked last.
    pub fn take_order(&mut self) -> Vec<Event> {
        self.engines
            .iter_mut()
            .flat_map(Engine::take_order)
            .collect()
    }

    /// At the end: the rest of the order of a level; none if the level is violated or its order was not found.
    pub fn rest_of_order(&self, level: Level) -> Option<Vec<Event>> {
        let engine = self.engines.iter().find(|engine| engine.level() == level);
        engine
            .filter(|engine| engine.stop().is_none() && self.ended().is_none())
            .map(Engine::rest_of_order)
    }

    /// What was found since this was asked last, in the order in which it was decided.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        let fresh = std::mem::take(&mut self.fresh);
        let (taken, rest) = fresh
            .into_iter()
            .partition(|finding| self.is_mentioned(finding.level));
        self.fresh = rest;
        taken
    }

    /// Without times there is no real time to respect; it is not mentioned unless it was asked for.
    fn is_mentioned(&self, level: Level) -> bool {
        let is_usual = self.options.levels == Options::default().levels;
        !level.counts_real_time() || self.delivery.is_timed() || !is_usual
    }

    /// A number that is another one whenever something was found or an answer may have changed.
    pub fn mark(&self) -> u64 {
        let of_engines = |engine: &Engine| engine.undecided() + u64::from(engine.stop().is_some());
        let flags = [
            self.is_cut,
            self.delivery.is_timed(),
            self.ended().is_some(),
        ];
        let of_flags: u64 = flags.into_iter().map(u64::from).sum();
        1 + of_flags + self.delivery.undecided() + self.engines.iter().map(of_engines).sum::<u64>()
    }

    /// The arrivals, from 1, of the transactions that wait.
    pub fn waiting(&self) -> Vec<u64> {
        self.delivery.waiting()
    }

    /// Why following ended before the stream did, if it did: the rest of the stream is passed over.
    pub fn ended(&self) -> Option<&str> {
        self.delivery.ended()
    }

    /// The answer at each level, weakest first. A level that holds by a stronger one does so, too.
    pub fn answers(&self) -> Vec<(Level, Answer)> {
        let levels = || {
            self.options
                .levels
                .iter()
                .filter(|level| self.is_mentioned(**level))
        };
        if let Some(why) = self.delivery.ended() {
            let is_proved =
                |level: Level| self.proofs.iter().any(|proof| level.implies(proof.level));
            let answer = |level| {
                if is_proved(level) {
                    Answer::Violated
                } else {
                    Answer::Unknown(why.to_owned())
                }
            };
            return levels().map(|&level| (level, answer(level))).collect();
        }
        let own: Vec<(Level, Answer)> = levels()
            .map(|&level| (level, self.own_answer(level)))
            .collect();
        let implied = |level: Level, answer: &Answer| {
            let is = |wanted: &Answer, related: &dyn Fn(Level) -> bool| {
                own.iter()
                    .any(|(other, answer)| answer == wanted && related(*other))
            };
            if is(&Answer::Violated, &|weaker| level.implies(weaker)) {
                return Answer::Violated;
            }
            if is(&Answer::Holds, &|stronger| stronger.implies(level)) {
                return Answer::Holds;
            }
            answer.clone()
        };
        own.iter()
            .map(|(level, answer)| (*level, implied(*level, answer)))
            .collect()
    }

    fn own_answer(&self, level: Level) -> Answer {
        let engine = self.engines.iter().find(|engine| engine.level() == level);
        let (stop, of_engine) =
            engine.map_or((None, 0), |engine| (engine.stop(), engine.undecided()));
        let is_violated =
            matches!(stop, Some(Stop::Violated { .. })) || (engine.is_none() && self.is_cut);
        match (stop, of_engine + self.delivery.undecided()) {
            _ if is_violated => Answer::Violated,
            _ if level.counts_real_time() && !self.delivery.is_timed() => {
                Answer::Unknown("no times are recorded".to_owned())
            }
            (Some(Stop::Exhausted { .. }), _) => {
                Answer::Unknown("the search for an order took too long".to_owned())
            }
            (_, 0) => Answer::Holds,
            (_, n) => Answer::ExceptFor(n),
        }
    }

    /// The most transactions that an engine remembers.
    fn remembered(&self) -> usize {
        let remembered = self.engines.iter().map(Engine::n_residents);
        remembered.max().unwrap_or(0)
    }

    /// Where it is. O(sessions).
    pub fn status(&self) -> Status {
        Status {
            arrived: self.delivery.arrived(),
            delivered: self.delivery.delivered(),
            waiting: self.delivery.n_waiting(),
            why: self.delivery.why(),
            remembered: self.remembered(),
            settled: self
                .engines
                .iter()
                .map(Engine::n_settled)
                .max()
                .unwrap_or(0),
            answers: self.answers(),
        }
    }
}

/// The title of a pattern.
fn title(pattern: Pattern) -> &'static str {
    pattern.row().title
}
