//! Each condition under which the past is settled without loss is needed: with one of them switched off, an answer is
//! wrong somewhere.

use super::engine::{Condition, OFF};
use super::{Action, Answer, Assembly, Atom, FOLLOWED, Follower, Names, Options, Record};
use fastrand::Rng;
use isoscope_check::checkers::{self, Level, Verdict};
use isoscope_model::control::Control;
use isoscope_model::history::{OperationKind, Origin, Outcome, Value};
use isoscope_testing::random::{self, Shape};
use isoscope_testing::sketch::{Sketch, key_name, session_name};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Histories that hold as far as they go, and that careless settling would get wrong: the last writers of `x` are not known
/// apart; what no one can read any longer still has a reader; and, at PSI, a reader has not seen the newer version.
const DIRECTED: [&str; 3] = [
    "a: w x 1, w y 1 / b: w x 2, w z 1 / a: r z 1 / b: r y 1 / a: r z 1 / b: r x 1",
    "a: w x 1, w k0 1 / b: w x 2, w k1 1 / c: r k0 1, r k1 1, w y 1, w k2 1 / d: w y 2, w k3 1 / \
     e: r k3 1, r x 1, w k4 1 / a: r k0 1, r k1 1, r k2 1, r k3 1, r k4 1, w x 3, w k5 1 / b: r k5 1 / c: r k5 1 / \
     d: r k5 1 / e: r k5 1 / a: r k5 1 / c: r y 2",
    "a: w x 1 / b: r x 1, w x 2 / c: r x 1, w z 1 / a: r x 2, w y 1 / c: r y 1 / a: r z 1",
];

/// Records, and how many sessions there are.
struct Arrival {
    names: Names,
    records: Vec<Record>,
}

impl Arrival {
    fn new() -> Arrival {
        Arrival {
            names: Names::default(),
            records: Vec::new(),
        }
    }

    fn add(
        &mut self,
        session: &str,
        outcome: Outcome,
        operations: &[(OperationKind, String, Atom)],
    ) {
        let line = self.records.len() as u32 + 1;
        let action = |(kind, key, value): &(OperationKind, String, Atom)| {
            let key = self.names.keys.place(key);
            Action {
                kind: *kind,
                key,
                value: value.clone(),
                list: None,
                line,
            }
        };
        let operations = operations.iter().map(action).collect();
        let session = self.names.sessions.place(session);
        self.records.push(Record {
            session,
            called: None,
            outcome,
            operations,
            interval: None,
            line,
            foreign: None,
            gone: Vec::new(),
            begun: None,
        });
    }

    fn directed(text: &str) -> Arrival {
        let mut arrival = Arrival::new();
        for (session, operations) in text.split(" / ").filter_map(|line| line.split_once(": ")) {
            let operation = |text: &str| {
                let mut words = text.split(' ');
                let kind = if words.next() == Some("r") {
                    OperationKind::Read
                } else {
                    OperationKind::Write
                };
                let (key, value) = (words.next().expect("a key"), words.next().expect("a value"));
                (
                    kind,
                    key.to_owned(),
                    Atom::Number(value.parse().expect("a number")),
                )
            };
            let operations: Vec<_> = operations.split(", ").map(operation).collect();
            arrival.add(session.trim(), Outcome::Committed, &operations);
        }
        arrival
    }

    /// The transactions of a sketch in some order that keeps the sessions.
    fn random(sketch: &Sketch, rng: &mut Rng) -> Arrival {
        let mut arrival = Arrival::new();
        let mut next = vec![0; sketch.sessions.len()];
        loop {
            let open: Vec<usize> = (0..next.len())
                .filter(|&s| next[s] < sketch.sessions[s].len())
                .collect();
            let Some(session) = rng.choice(open) else {
                return arrival;
            };
            let transaction = &sketch.sessions[session][next[session]];
            next[session] += 1;
            let recorded = transaction
                .operations
                .iter()
                .filter(|o| o.value != Value::UNRECORDED);
            let value = |value: Value| match value {
                Value(0) | Value::INITIAL => Atom::Initial,
                Value(number) => Atom::Number(number),
            };
            let operations: Vec<_> = recorded
                .map(|o| (o.kind, key_name(o.key), value(o.value)))
                .collect();
            arrival.add(&session_name(session), transaction.outcome, &operations);
        }
    }

    /// How many sessions have committed something.
    fn n_sessions(&self) -> u32 {
        let committed = self
            .records
            .iter()
            .filter(|record| record.outcome == Outcome::Committed);
        let mut sessions: Vec<u32> = committed.map(|record| record.session).collect();
        sessions.sort_unstable();
        sessions.dedup();
        sessions.len() as u32
    }

    /// Whether the follower, which settles after each transaction, ends with the verdicts of the checkers.
    fn is_followed(&self, levels: &[Level]) -> bool {
        let sessions = Some(self.n_sessions());
        let options = Options {
            levels: levels.to_vec(),
            horizon: None,
            sessions,
            period: 1,
            ..Options::default()
        };
        let mut follower = Follower::new(options);
        self.records
            .iter()
            .for_each(|record| follower.take(record.clone(), &self.names));
        follower.finish(&self.names);
        if follower.ended().is_some() {
            return true;
        }
        let mut assembly = Assembly::new(Origin::default(), &self.names);
        self.records
            .iter()
            .for_each(|record| assembly.add(record, |_| true));
        let history = assembly.finish().expect("a small history");
        let options = checkers::Options {
            levels: levels.to_vec(),
            max_instances: 0,
            counts: false,
        };
        let findings = checkers::check(&history, &options, &Control::new(), &|_| {});
        follower.answers().iter().all(|(level, answer)| {
            match findings.level(*level).map(|result| &result.verdict) {
                Some(Verdict::Satisfied(_)) => *answer == Answer::Holds,
                Some(Verdict::Violated) => *answer == Answer::Violated,
                _ => true,
            }
        })
    }
}

/// Whether all answers are right, without this condition. Each level is followed by itself.
fn is_right_without(condition: Option<Condition>) -> bool {
    OFF.set(condition);
    let levels = FOLLOWED
        .into_iter()
        .filter(|level| !level.counts_real_time() && *level != Level::CutIsolation);
    let levels: Vec<Level> = levels.collect();
    let shapes = [
        Shape {
            transactions: 12,
            sessions: 3,
            ..Shape::CLEAN
        },
        Shape {
            transactions: 9,
            operations: 3,
            keys: 2,
            sessions: 3,
            ..Shape::CLEAN
        },
    ];
    let random = (0..400).map(|seed| {
        let sketch = random::sketch(shapes[seed as usize % shapes.len()], seed);
        Arrival::random(&sketch, &mut Rng::with_seed(seed))
    });
    let mut arrivals = DIRECTED.into_iter().map(Arrival::directed).chain(random);
    let is_right =
        arrivals.all(|arrival| levels.iter().all(|level| arrival.is_followed(&[*level])));
    OFF.set(None);
    is_right
}

#[test]
fn every_condition_of_settling_without_loss_is_needed() {
    assert!(is_right_without(None));
    let conditions = [
        Condition::Seen,
        Condition::OthersOlder,
        Condition::LaterNewer,
        Condition::Unread,
        Condition::LastRead,
    ];
    for condition in conditions {
        // What is wrong may also show as a state that cannot be.
        let is_right =
            catch_unwind(AssertUnwindSafe(|| is_right_without(Some(condition)))).unwrap_or(false);
        OFF.set(None);
        assert!(!is_right, "{condition:?} could be left out");
    }
}
