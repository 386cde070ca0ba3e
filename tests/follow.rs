//! Following a history says after each transaction what the checkers say of the part that was delivered.

mod common;

use common::random::{self, Shape, for_seeds};
use common::sketch::{Sketch, key_name, session_name};
use fastrand::Rng;
use isoscope::checkers::{self, Level, Verdict};
use isoscope::control::Control;
use isoscope::follow::{Action, Answer, Assembly, Atom, FOLLOWED, Follower, Names, Options, Record};
use isoscope::history::{Origin, Outcome, Value};

/// A history as it arrives.
struct Arrival {
    names: Names,
    records: Vec<Record>,
    sessions: usize,
}

/// The transactions of a sketch in an order that keeps the sessions; `noise` says how far from fair it is.
fn arrival(sketch: &Sketch, rng: &mut Rng) -> Arrival {
    let mut names = Names::default();
    let mut next = vec![0; sketch.sessions.len()];
    let mut records = Vec::new();
    loop {
        let open: Vec<usize> = (0..next.len()).filter(|&s| next[s] < sketch.sessions[s].len()).collect();
        let Some(&session) = open.get(rng.usize(0..open.len().max(1))) else { break };
        let transaction = &sketch.sessions[session][next[session]];
        next[session] += 1;
        let line = records.len() as u32 + 1;
        let action = |o: &common::sketch::Operation| {
            let value = match o.value {
                Value::UNRECORDED => return None,
                Value(0) | Value::INITIAL => Atom::Initial,
                Value(number) => Atom::Number(number),
            };
            Some((o.kind, key_name(o.key), value))
        };
        let operations = transaction.operations.iter().filter_map(action);
        let operations = operations.map(|(kind, key, value)| Action { kind, key: names.keys.place(&key), value, line });
        let operations = operations.collect();
        records.push(Record {
            session: names.sessions.place(&session_name(session)),
            called: None,
            outcome: transaction.outcome,
            operations,
            interval: None,
            line,
            foreign: None,
        });
    }
    let sessions = sketch.sessions.iter().filter(|s| s.iter().any(|t| t.outcome == Outcome::Committed)).count();
    Arrival { names, records, sessions }
}

/// The verdicts of the checkers on these records.
fn off_line<'a>(names: &Names, records: impl Iterator<Item = &'a Record>) -> Vec<(Level, bool)> {
    let mut assembly = Assembly::new(Origin::default(), names);
    records.for_each(|record| assembly.add(record, |_| true));
    let history = assembly.finish().expect("a small history");
    let options = checkers::Options { levels: FOLLOWED.to_vec(), max_instances: 0, counts: false, share: None };
    let findings = checkers::check(&history, &options, &Control::new(), &|_| {});
    let verdict = |level: &Level| match &findings.level(*level).expect("it was asked for").verdict {
        Verdict::Satisfied(_) => true,
        Verdict::Violated => false,
        Verdict::Undecided(why) => panic!("{level} is undecided: {why}"),
    };
    FOLLOWED.iter().map(|level| (*level, verdict(level))).collect()
}

fn delivered(follower: &Follower, records: &[Record]) -> Vec<Record> {
    let waiting = follower.waiting();
    let is_delivered = |(place, _): &(usize, &Record)| waiting.binary_search(&(*place as u64 + 1)).is_err();
    records.iter().enumerate().filter(is_delivered).map(|(_, record)| record.clone()).collect()
}

/// Compares answers with verdicts.
fn compare(follower: &Follower, expected: &[(Level, bool)], is_lossless: bool, at: usize) -> Result<(), String> {
    for ((level, answer), (_, is_satisfied)) in follower.answers().into_iter().zip(expected) {
        let fits = match &answer {
            Answer::Holds => *is_satisfied,
            Answer::Violated => !is_satisfied,
            Answer::ExceptFor(n) => !is_lossless && *n > 0,
            Answer::Unknown(_) => false,
        };
        if !fits {
            return Err(format!("after {at}: {level} is said to be {answer:?}, satisfied off-line: {is_satisfied}"));
        }
    }
    Ok(())
}

fn lossless(sessions: usize, period: u64) -> Options {
    Options { horizon: None, sessions: Some(sessions as u32), period, ..Options::default() }
}

/// Follows a history to its end and compares after each transaction.
fn follow(arrival: &Arrival, options: Options) -> Result<Follower, String> {
    let is_lossless = options.horizon.is_none();
    let mut follower = Follower::new(options);
    for (place, record) in arrival.records.iter().enumerate() {
        follower.take(record.clone(), &arrival.names);
        if follower.ended().is_some() {
            return Ok(follower);
        }
        let part = delivered(&follower, &arrival.records[..=place]);
        compare(&follower, &off_line(&arrival.names, part.iter()), is_lossless, place + 1)?;
    }
    follower.finish(&arrival.names);
    compare(&follower, &off_line(&arrival.names, arrival.records.iter()), is_lossless, arrival.records.len() + 1)?;
    Ok(follower)
}

fn shape(seed: u64) -> Shape {
    match seed % 4 {
        0 => Shape::SMALL,
        1 => Shape { transactions: 12, sessions: 3, ..Shape::CLEAN },
        2 => Shape { transactions: 9, operations: 3, keys: 2, sessions: 3, ..Shape::CLEAN },
        _ => Shape { transactions: 8, sessions: 3, keys: 2, ..Shape::SMALL },
    }
}

fn in_order(arrival: &Arrival) -> String {
    let text = |record: &Record| {
        let operations: Vec<String> = record
            .operations
            .iter()
            .map(|o| format!("{:?} {} {}", o.kind, arrival.names.keys.name(o.key), o.value))
            .collect();
        format!("{}: {} {:?}\n", arrival.names.sessions.name(record.session), operations.join(", "), record.outcome)
    };
    arrival.records.iter().map(text).collect()
}

#[test]
fn after_each_transaction_the_answer_is_the_verdict() {
    for_seeds(4000, |seed| {
        let sketch = random::sketch(shape(seed), seed);
        let mut rng = Rng::with_seed(seed);
        let arrival = arrival(&sketch, &mut rng);
        let period = [1, 1, 3, 1000][rng.usize(0..4)];
        follow(&arrival, lossless(arrival.sessions, period)).map(drop).map_err(|e| in_order(&arrival) + &e)
    });
}

#[test]
fn with_a_horizon_nothing_is_claimed_that_is_not_so() {
    for_seeds(4000, |seed| {
        let sketch = random::sketch(shape(seed), seed);
        let mut rng = Rng::with_seed(seed);
        let arrival = arrival(&sketch, &mut rng);
        let sessions = rng.bool().then_some(arrival.sessions as u32);
        let options = Options { horizon: Some(rng.u64(1..=6)), sessions, period: 1, ..Options::default() };
        follow(&arrival, options).map(drop).map_err(|e| in_order(&arrival) + &e)
    });
}
