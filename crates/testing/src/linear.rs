//! Small histories of lightweight transactions, and linearizability by trying all orders.

use fastrand::Rng;
use isoscope_model::history::{Builder, History, Interval, OperationKind, Origin, Outcome, Value};
use std::fmt::Write;

/// What an operation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Returned a value; 0 is the initial one.
    Read(u64),
    /// Wrote a value.
    Write(u64),
    /// Replaced a value by another one.
    Swap(u64, u64),
    /// Found something else than this value.
    Differs(u64),
}

/// One lightweight transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Light {
    pub session: usize,
    pub key: usize,
    pub action: Action,
    pub outcome: Outcome,
    pub interval: Option<Interval>,
}

impl Light {
    fn reads(&self) -> Option<u64> {
        match self.action {
            Action::Read(value) | Action::Swap(value, _) => Some(value),
            _ => None,
        }
    }

    pub fn writes(&self) -> Option<u64> {
        match self.action {
            Action::Write(value) | Action::Swap(_, value) => Some(value),
            _ => None,
        }
    }

    /// Whether it ended before another one began.
    pub fn precedes(&self, other: &Light) -> bool {
        match (self.interval, other.interval) {
            (Some(mine), Some(theirs)) => {
                self.outcome != Outcome::Unknown && mine.end < theirs.start
            }
            _ => false,
        }
    }
}

/// The history of these transactions; those of a session in the order given.
pub fn history(all: &[Light]) -> History {
    let mut builder = Builder::new(Origin::default());
    builder.initial_value(Value(0));
    let n_sessions = all.iter().map(|light| light.session + 1).max().unwrap_or(0);
    for session in 0..n_sessions {
        let id = builder.session_name(&format!("s{session}"));
        for light in all.iter().filter(|light| light.session == session) {
            let draft = builder.transaction(id, light.outcome);
            let key = builder.key_name(["x", "y"][light.key]);
            match light.action {
                Action::Read(value) => {
                    builder.operation(draft, OperationKind::Read, key, Value(value), 0)
                }
                Action::Write(value) => {
                    builder.operation(draft, OperationKind::Write, key, Value(value), 0)
                }
                Action::Swap(old, new) => {
                    builder.operation(draft, OperationKind::Read, key, Value(old), 0);
                    builder.operation(draft, OperationKind::Write, key, Value(new), 0);
                }
                Action::Differs(value) => builder.read_of_other(draft, key, Value(value), 0),
            }
            if let Some(interval) = light.interval {
                builder.set_interval(draft, interval);
            }
        }
    }
    builder.finish().expect("small")
}

/// A line per transaction.
pub fn text(all: &[Light]) -> String {
    all.iter().fold(String::new(), |mut text, light| {
        let ran = light
            .interval
            .map_or("always".to_owned(), |i| format!("{}..{}", i.start, i.end));
        let _ = writeln!(
            text,
            "  s{} {} {:?} {ran} {:?}",
            light.session,
            ["x", "y"][light.key],
            light.action,
            light.outcome
        );
        text
    })
}

/// Whether some order of all committed transactions and of some of unknown outcome respects real time and session order
/// and explains what each saw.
pub fn linearizable(all: &[Light]) -> bool {
    let unknown: Vec<usize> = (0..all.len())
        .filter(|&t| all[t].outcome == Outcome::Unknown)
        .collect();
    (0..1u32 << unknown.len()).any(|chosen| {
        let takes_part = |t: usize| match all[t].outcome {
            Outcome::Committed => true,
            Outcome::Aborted => false,
            Outcome::Unknown => unknown
                .iter()
                .position(|&u| u == t)
                .is_some_and(|at| (chosen >> at) & 1 == 1),
        };
        let members: Vec<usize> = (0..all.len()).filter(|&t| takes_part(t)).collect();
        extends(all, &members, &mut vec![false; all.len()], [0, 0])
    })
}

/// Whether what is not placed of the members can follow, given the current values.
fn extends(all: &[Light], members: &[usize], placed: &mut Vec<bool>, current: [u64; 2]) -> bool {
    let left: Vec<usize> = members.iter().copied().filter(|&t| !placed[t]).collect();
    if left.is_empty() {
        return true;
    }
    left.iter().any(|&t| {
        let light = &all[t];
        let must_wait = |&other: &usize| {
            other != t
                && (all[other].precedes(light)
                    || (all[other].session == light.session && other < t))
        };
        let there = current[light.key];
        let fits = light.reads().is_none_or(|value| value == there)
            && light.action != Action::Differs(there);
        if !fits || left.iter().any(must_wait) {
            return false;
        }
        let mut next = current;
        next[light.key] = light.writes().unwrap_or(there);
        placed[t] = true;
        let found = extends(all, members, placed, next);
        placed[t] = false;
        found
    })
}

/// What random histories look like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub most: usize,
    pub keys: usize,
    /// Whether failed swaps without a value occur.
    pub differs: bool,
    /// Whether outcomes may be unknown.
    pub unknown: bool,
    /// Whether values are written more than once.
    pub repeated: bool,
    /// Whether transactions of a session may overlap or have no times.
    pub untidy: bool,
    /// How many of the operations write what they like, in tenths.
    pub blind: u8,
}

/// A store that does one thing after the other, seen by clients with some delay, and sometimes seen wrongly.
pub fn random(shape: Shape, rng: &mut Rng) -> Vec<Light> {
    let n = rng.usize(2..=shape.most);
    let n_sessions = rng.usize(1..=4);
    let mut current = [0u64; 2];
    let mut next = 1;
    let mut free_from = vec![i64::MIN; n_sessions];
    let mut all: Vec<Light> = Vec::new();
    let mut clock = 0;
    let stretch = rng.i64(1..6);
    for _ in 0..n {
        clock += rng.i64(0..3);
        let key = rng.usize(0..shape.keys);
        let there = current[key];
        let fresh = if shape.repeated { rng.u64(1..4) } else { next };
        let mut action = match rng.u8(0..10) {
            kind if kind < shape.blind => Action::Write(fresh),
            4..7 => Action::Swap(there, fresh),
            7 if shape.differs => Action::Differs(rng.u64(0..next.max(2))),
            8 if shape.differs => Action::Differs(there + 1),
            _ => Action::Read(there),
        };
        if action == Action::Differs(there) {
            action = Action::Read(there);
        }
        let mut light = Light {
            session: 0,
            key,
            action,
            outcome: Outcome::Committed,
            interval: None,
        };
        if light.writes().is_some() {
            next += 1;
        }
        let (start, end) = (clock - rng.i64(0..stretch), clock + rng.i64(0..stretch));
        let mut took_effect = true;
        match rng.u8(0..12) {
            0 => {
                light.outcome = Outcome::Aborted;
                took_effect = false;
            }
            1 | 2 if shape.unknown => {
                light.outcome = Outcome::Unknown;
                took_effect = rng.bool();
            }
            _ => {}
        }
        if took_effect {
            current[key] = light.writes().unwrap_or(there);
        }
        let session = rng.usize(0..n_sessions);
        let free = (0..n_sessions)
            .map(|nth| (session + nth) % n_sessions)
            .find(|&s| free_from[s] < start);
        let session = match free {
            Some(session) => session,
            None if shape.untidy => session,
            None => {
                free_from.push(i64::MIN);
                free_from.len() - 1
            }
        };
        light.session = session;
        if !(shape.untidy && rng.u8(0..12) == 0) {
            light.interval = Some(Interval { start, end });
        }
        // A client that does not know how its request ended makes no other one.
        let is_over = light.outcome == Outcome::Unknown && !shape.untidy;
        free_from[session] = if is_over { i64::MAX } else { end };
        all.push(light);
    }
    if rng.u8(0..3) > 0 {
        disturb(&mut all, next, shape, rng);
    }
    all
}

/// Lets something be seen wrongly.
fn disturb(all: &mut [Light], next: u64, shape: Shape, rng: &mut Rng) {
    for _ in 0..rng.usize(1..=2) {
        let at = rng.usize(0..all.len());
        let value = rng.u64(0..next);
        match &mut all[at].action {
            Action::Read(seen) | Action::Differs(seen) => *seen = value,
            Action::Swap(old, _) => *old = value,
            Action::Write(_) => {}
        }
        if let Some(interval) = &mut all[at].interval
            && rng.bool()
            && shape.untidy
        {
            *interval = Interval {
                start: interval.start + 2,
                end: interval.end + 2,
            };
        }
    }
}
