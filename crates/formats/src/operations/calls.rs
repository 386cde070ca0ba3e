//! Invocations and their completions: how they pair up, how they ended and when they ran.

use isoscope_model::history::{Builder, Interval, Outcome, SessionId};
use rustc_hash::FxHashMap;

/// The stage that an operation of the file gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Invoke,
    Ok,
    Fail,
    Info,
}

impl Stage {
    /// The stage of this name.
    pub(crate) fn named(word: &str) -> Option<Stage> {
        match word {
            "invoke" => Some(Stage::Invoke),
            "ok" => Some(Stage::Ok),
            "fail" => Some(Stage::Fail),
            "info" => Some(Stage::Info),
            _ => None,
        }
    }
}

/// An operation of the file: the beginning or the end of a call.
#[derive(Debug)]
pub(crate) struct Event<C> {
    /// The client; none where the file does not say. The lowest numbers are places among names ([`named`]).
    pub(crate) process: Option<i64>,
    pub(crate) stage: Stage,
    /// Its time, by the clock of the file.
    pub(crate) time: Option<i64>,
    /// Its place among all operations of the file, from 0.
    pub(crate) place: u32,
    /// The line of its value.
    pub(crate) line: u32,
    pub(crate) content: C,
}

/// What a client did between two answers: places among the events, at least one of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) process: Option<i64>,
    pub(crate) invoked: Option<usize>,
    pub(crate) completed: Option<usize>,
}

impl Call {
    /// How it ended. One that never did may have taken effect.
    pub(crate) fn outcome<C>(&self, events: &[Event<C>]) -> Outcome {
        match self.completed.map(|e| events[e].stage) {
            Some(Stage::Ok) => Outcome::Committed,
            Some(Stage::Fail) => Outcome::Aborted,
            _ => Outcome::Unknown,
        }
    }

    /// Its invocation and its completion.
    pub(crate) fn ends<'e, C>(
        &self,
        events: &'e [Event<C>],
    ) -> (Option<&'e Event<C>>, Option<&'e Event<C>>) {
        (
            self.invoked.map(|e| &events[e]),
            self.completed.map(|e| &events[e]),
        )
    }
}

/// The number of the client at this place among the names of clients.
pub(crate) fn named(place: usize) -> i64 {
    i64::MIN + place as i64
}

/// The session of a client.
pub(crate) fn session(process: Option<i64>, names: &[String], builder: &mut Builder) -> SessionId {
    let Some(process) = process else {
        return builder.session_name("none");
    };
    let name = names.get(process.wrapping_sub(i64::MIN) as usize);
    match (name, u64::try_from(process)) {
        (Some(name), _) => builder.session_name(name),
        (None, Ok(number)) => builder.session_number(number),
        (None, Err(_)) => builder.session_name(&process.to_string()),
    }
}

/// Pairs events: an invocation is completed by the next operation of its process unless that is an invocation. In the
/// order in which the calls begin.
pub(crate) fn pair<C>(events: &[Event<C>]) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::with_capacity(events.len() / 2 + 1);
    let mut open: FxHashMap<Option<i64>, usize> = FxHashMap::default();
    for (e, Event { process, stage, .. }) in events.iter().enumerate() {
        let process = *process;
        match (stage, open.remove(&process)) {
            (Stage::Invoke, _) => {
                open.insert(process, calls.len());
                calls.push(Call {
                    process,
                    invoked: Some(e),
                    completed: None,
                });
            }
            (_, Some(call)) => calls[call].completed = Some(e),
            (_, None) => calls.push(Call {
                process,
                invoked: None,
                completed: Some(e),
            }),
        }
    }
    calls
}

/// Whether calls without a process cannot be those of one client: the answer to one follows the beginning of another.
pub(crate) fn overlap_without_process(calls: &[Call]) -> bool {
    let mut alone = calls.iter().filter(|call| call.process.is_none());
    let is_open = |call: &&Call| call.invoked.is_some() && call.completed.is_none();
    alone.any(|call| is_open(&call)) && alone.any(|call| call.invoked.is_none())
}

/// Which times count as real time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Those of the file.
    Recorded,
    /// The places of the operations in the file, for this reason.
    Order(String),
    /// None.
    Unknown,
}

/// The clock of a file with times. Its order of operations is real time (jepsen-io/history); times count where they
/// agree with it: for each invocation and each completion, on which of them came first.
pub(crate) fn clock<C>(events: &[Event<C>]) -> Clock {
    let timed = events.iter().filter(|event| event.time.is_some()).count();
    if timed == 0 {
        return Clock::Order("no operation has a time".to_owned());
    }
    if let Some(event) = events.iter().find(|event| event.time.is_none()) {
        return Clock::Order(format!("the operation on line {} has no time", event.line));
    }
    if events.len() > 1 && events.iter().all(|event| event.time == events[0].time) {
        return Clock::Order("all operations have the same time".to_owned());
    }
    let (mut last_invocation, mut last_completion) = (i64::MIN, i64::MIN);
    for Event {
        time, stage, line, ..
    } in events
    {
        let time = time.unwrap_or_default();
        let contradicts = match stage {
            Stage::Invoke => time <= last_completion,
            Stage::Ok | Stage::Fail => time < last_invocation,
            // Whatever took effect or not may still do so.
            Stage::Info => continue,
        };
        if contradicts {
            return Clock::Order(format!("the time on line {line} contradicts it"));
        }
        let last = if *stage == Stage::Invoke {
            &mut last_invocation
        } else {
            &mut last_completion
        };
        *last = time.max(*last);
    }
    Clock::Recorded
}

/// When each call ran. One without invocation began after the previous answer to its process; one of unknown outcome
/// lasts to the end of the history.
pub(crate) fn intervals<C>(events: &[Event<C>], calls: &[Call], clock: &Clock) -> Vec<Interval> {
    let time = |event: &Event<C>| match clock {
        Clock::Recorded => event.time.unwrap_or_default(),
        Clock::Order(_) | Clock::Unknown => i64::from(event.place),
    };
    let first = events.iter().map(time).min().unwrap_or_default();
    let last = events.iter().map(time).max().unwrap_or_default();
    let mut answered: FxHashMap<Option<i64>, i64> = FxHashMap::default();
    let interval = |call: &Call| {
        let (invocation, completion) = call.ends(events);
        let ended = completion.map(time);
        let end = match call.outcome(events) {
            Outcome::Unknown => last,
            _ => ended.unwrap_or(last),
        };
        let before = ended.and_then(|ended| answered.insert(call.process, ended));
        let start = invocation.map(time).or(before).unwrap_or(first);
        Interval {
            start: start.min(end),
            end,
        }
    };
    calls.iter().map(interval).collect()
}
