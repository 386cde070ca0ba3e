//! One violation hidden in a long history without any other: it is found, and nothing else, and comes down to the
//! transactions that were hidden.
//!
//! `ISOSCOPE_HISTORIES` asks for another number of transactions.

use crate::common;

use isoscope::checkers::{Findings, Level, Options, Pattern, Verdict, Violation};
use isoscope::control::Control;
use isoscope::counterexample;
use isoscope::formats;
use isoscope::history::{
    Builder, History, Interval, KeyId, OperationKind, Origin, Outcome, SessionId, Value,
};
use std::collections::BTreeSet;

const SESSIONS: usize = 24;
/// Ticks from one transaction of the long history to the next; those hidden run in between.
const TICKS: i64 = 1_000;

/// What the long history does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hay {
    /// Reads and writes of registers, four a transaction.
    Registers,
    /// Appends to lists and reads of them, four a transaction.
    Lists,
    /// One read or write a transaction.
    Single,
}

/// A violation to hide: a sample history, what it is an instance of, and in what it is hidden.
struct Needle {
    file: &'static str,
    pattern: Pattern,
    hay: Hay,
    timed: bool,
}

const fn needle(file: &'static str, pattern: Pattern, hay: Hay, timed: bool) -> Needle {
    Needle {
        file,
        pattern,
        hay,
        timed,
    }
}

/// Every pattern that a haystack of samples side by side would not list, because one search finds one cycle a level.
const NEEDLES: [Needle; 7] = [
    needle(
        "snapshot-cycle.txt",
        Pattern::SICycle,
        Hay::Registers,
        false,
    ),
    needle("case-split.txt", Pattern::SICycle, Hay::Registers, false),
    needle(
        "real-time-cycle.txt",
        Pattern::RealTimeCycle,
        Hay::Registers,
        true,
    ),
    needle(
        "no-linear-order.txt",
        Pattern::NoLinearOrder,
        Hay::Single,
        true,
    ),
    needle(
        "incompatible-order.txt",
        Pattern::IncompatibleOrder,
        Hay::Lists,
        false,
    ),
    needle(
        "duplicate-element.txt",
        Pattern::DuplicateElement,
        Hay::Lists,
        false,
    ),
    needle(
        "version-order-cycle.txt",
        Pattern::VersionOrderCycle,
        Hay::Lists,
        false,
    ),
];

/// A serial run, and the history that is hidden in it.
struct Stack {
    builder: Builder,
    sessions: Vec<SessionId>,
    keys: Vec<KeyId>,
    /// By key: what was written so far.
    written: Vec<Vec<Value>>,
    random: fastrand::Rng,
    next: u64,
}

impl Stack {
    fn new(transactions: usize, hay: Hay) -> Stack {
        let mut builder = Builder::new(Origin::default());
        if hay != Hay::Lists {
            builder.initial_value(Value(0));
        }
        let sessions = (0..SESSIONS)
            .map(|s| builder.session_name(&format!("s{s}")))
            .collect();
        let keys: Vec<KeyId> = (0..(transactions / 5).max(1))
            .map(|key| builder.key_name(&format!("k{key}")))
            .collect();
        if hay == Hay::Lists {
            keys.iter().for_each(|&key| builder.list_key(key));
        }
        let written = vec![Vec::new(); keys.len()];
        Stack {
            builder,
            sessions,
            keys,
            written,
            random: fastrand::Rng::with_seed(7),
            next: 1,
        }
    }

    /// The next transaction of the run; it starts and ends at `time` if there is one.
    fn straw(&mut self, hay: Hay, time: Option<i64>) {
        let session = self.sessions[self.random.usize(0..SESSIONS)];
        let draft = self.builder.transaction(session, Outcome::Committed);
        if let Some(start) = time {
            self.builder.set_interval(
                draft,
                Interval {
                    start,
                    end: start + 1,
                },
            );
        }
        for _ in 0..if hay == Hay::Single { 1 } else { 4 } {
            let place = self.random.usize(0..self.keys.len());
            let key = self.keys[place];
            if self.random.bool() {
                let value = Value(self.next);
                self.next += 1;
                self.written[place].push(value);
                self.builder
                    .operation(draft, OperationKind::Write, key, value, 0);
            } else if hay == Hay::Lists {
                self.builder.list_read(draft, key, &self.written[place], 0);
            } else {
                let value = self.written[place].last().copied().unwrap_or(Value(0));
                self.builder
                    .operation(draft, OperationKind::Read, key, value, 0);
            }
        }
    }

    /// Adds all transactions of a small history; its keys, sessions and times are its own.
    fn hide(&mut self, small: &History, after: i64) {
        let keys: Vec<KeyId> = (0..small.n_keys())
            .map(|k| {
                self.builder
                    .key_name(&format!("hidden {}", small.key_name(KeyId::new(k))))
            })
            .collect();
        let is_list = |key: KeyId| small.lists().is_list(key);
        for k in (0..small.n_keys()).filter(|&k| is_list(KeyId::new(k))) {
            self.builder.list_key(keys[k]);
        }
        // No value of theirs is one of the run's.
        let value = |value: Value| {
            if value.0 == 0 {
                value
            } else {
                Value(value.0 + (1 << 40))
            }
        };
        for session in small.sessions() {
            for t in small.transactions_of(session) {
                let draft = self
                    .builder
                    .transaction(self.sessions[session.index()], small.outcome(t));
                if let Some(Interval { start, end }) = small.interval(t) {
                    self.builder.set_interval(
                        draft,
                        Interval {
                            start: after + start,
                            end: after + end,
                        },
                    );
                }
                for o in small.operations_of(t) {
                    let operation = small.operation(o);
                    let key = keys[operation.key.index()];
                    if let Some(list) = small.lists().read_by(o) {
                        let list: Vec<Value> = list.iter().map(|v| value(*v)).collect();
                        self.builder.list_read(draft, key, &list, 0);
                    } else if let Some(not) = small.differs_from(o) {
                        self.builder.read_of_other(draft, key, value(not), 0);
                    } else {
                        self.builder.operation(
                            draft,
                            operation.kind,
                            key,
                            value(operation.value),
                            0,
                        );
                    }
                }
            }
        }
    }
}

fn sample(file: &str) -> History {
    let path = common::repository("sample_histories").join(file);
    formats::open(&path, None, &Control::new()).unwrap_or_else(|error| panic!("{error}"))
}

/// A long history with the needle in its middle.
fn hidden(needle: &Needle, transactions: usize) -> History {
    let small = sample(needle.file);
    let mut stack = Stack::new(transactions, needle.hay);
    for t in 0..transactions {
        let time = needle.timed.then_some(t as i64 * TICKS);
        stack.straw(needle.hay, time);
        if t == transactions / 2 {
            stack.hide(&small, t as i64 * TICKS + 10);
        }
    }
    stack.builder.finish().expect("it fits")
}

fn check(history: &History, levels: Vec<Level>) -> Findings {
    isoscope::audit::check(
        history,
        &Options {
            levels,
            ..Options::default()
        },
        &Control::new(),
        &|_| {},
    )
}

fn is_found_alone(needle: &Needle, transactions: usize) -> Result<(), String> {
    let history = hidden(needle, transactions);
    let small = sample(needle.file);
    let findings = check(&history, Level::of(&history));
    let kinds: BTreeSet<Pattern> = findings
        .violations
        .iter()
        .map(|violation| violation.id.pattern)
        .collect();
    // The same patterns as in the sample by itself, no more and no fewer.
    let alone: BTreeSet<Pattern> = check(&small, Level::of(&small))
        .violations
        .iter()
        .map(|v| v.id.pattern)
        .collect();
    if kinds != alone || !kinds.contains(&needle.pattern) {
        return Err(format!("{kinds:?} are found, {alone:?} in the sample"));
    }
    for violation in &findings.violations {
        comes_down_to_the_sample(&history, &small, violation)?;
    }
    Ok(())
}

/// The counterexample is true, of the pattern asked for, and about nothing but what was hidden.
fn comes_down_to_the_sample(
    history: &History,
    small: &History,
    violation: &Violation,
) -> Result<(), String> {
    let id = violation.id;
    let quick = counterexample::minimize(
        history,
        violation,
        &Control::new().with_time_limit(std::time::Duration::from_millis(200)),
    );
    let full = counterexample::minimize(history, violation, &Control::new());
    for example in [quick, full] {
        if example.violation.id.pattern != id.pattern {
            return Err(format!("{id} turned into {}", example.violation.id.pattern));
        }
        if example.history.n_transactions() > small.n_transactions() {
            return Err(format!(
                "{id} has {} transactions",
                example.history.n_transactions()
            ));
        }
        let is_hidden = |key: &KeyId| example.history.key_name(*key).starts_with("hidden ");
        if !example.history.keys().iter().all(is_hidden) {
            return Err(format!("{id} is about keys of the long history"));
        }
        let verdict = &check(&example.history, vec![example.level]).levels[0].verdict;
        if *verdict != Verdict::Violated {
            return Err(format!("{id}: {} is {}", example.level, verdict.word()));
        }
    }
    Ok(())
}

fn all_are_found_alone(transactions: usize) {
    let transactions = std::env::var("ISOSCOPE_HISTORIES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(transactions);
    for needle in &NEEDLES {
        is_found_alone(needle, transactions)
            .unwrap_or_else(|problem| panic!("{}: {problem}", needle.file));
    }
}

#[test]
fn one_hidden_violation_of_each_kind_is_found_among_thousands() {
    all_are_found_alone(5_000);
}

#[test]
#[ignore = "takes a minute"]
fn one_hidden_violation_of_each_kind_is_found_among_a_hundred_thousand() {
    all_are_found_alone(100_000);
}

#[test]
fn what_they_are_hidden_in_has_nothing_wrong() {
    for hay in [Hay::Registers, Hay::Lists, Hay::Single] {
        for timed in [false, true] {
            let mut stack = Stack::new(2_000, hay);
            (0..2_000).for_each(|t| stack.straw(hay, timed.then_some(t * TICKS)));
            let history = stack.builder.finish().expect("it fits");
            let findings = check(&history, Level::of(&history));
            assert!(findings.violations.is_empty(), "{:?}", findings.violations);
            assert!(
                findings
                    .levels
                    .iter()
                    .all(|result| result.verdict != Verdict::Violated)
            );
        }
    }
}
