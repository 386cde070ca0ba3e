//! Following a history says after each transaction what the checkers say of the part that was delivered.

use crate::common;

use common::followed::{Arrival, compare, follow, in_order, replay};
use common::lists::history_of_elements;
use common::random::{self, Shape, for_seeds, share};
use common::sketch::{Sketch, key_name, session_name};
use fastrand::Rng;
use isoscope::audit;
use isoscope::checkers::{self, Level, Verdict};
use isoscope::control::Control;
use isoscope::follow::{
    Action, Answer, Assembly, Atom, Event, FOLLOWED, Follower, Names, Options, Record, Stream,
    records,
};
use isoscope::formats;
use isoscope::generate::{Generation, Length, Model, Workload};
use isoscope::history::{History, Interval, OperationKind, Origin, Outcome, Value};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The transactions of a sketch in an order that keeps the sessions; `noise` says how far from fair it is.
fn arrival(sketch: &Sketch, rng: &mut Rng) -> Arrival {
    let mut names = Names::default();
    let mut next = vec![0; sketch.sessions.len()];
    let mut free = vec![0; sketch.sessions.len()];
    let is_timed = rng.bool();
    let mut records = Vec::new();
    loop {
        let open: Vec<usize> = (0..next.len())
            .filter(|&s| next[s] < sketch.sessions[s].len())
            .collect();
        let Some(&session) = open.get(rng.usize(0..open.len().max(1))) else {
            break;
        };
        let transaction = &sketch.sessions[session][next[session]];
        next[session] += 1;
        let line = records.len() as u32 + 1;
        // Transactions end in the order in which they arrive.
        let end = 10 * i64::from(line);
        let start = rng.i64(free[session]..end);
        free[session] = end + 1;
        let action = |o: &common::sketch::Operation| {
            let value = match o.value {
                Value::UNRECORDED => return None,
                Value(0) | Value::INITIAL => Atom::Initial,
                Value(number) => Atom::Number(number),
            };
            Some((o.kind, key_name(o.key), value))
        };
        let operations = transaction.operations.iter().filter_map(action);
        let operations = operations.map(|(kind, key, value)| Action {
            kind,
            key: names.keys.place(&key),
            value,
            list: None,
            line,
        });
        let operations = operations.collect();
        records.push(Record {
            session: names.sessions.place(&session_name(session)),
            called: None,
            outcome: transaction.outcome,
            operations,
            interval: is_timed.then_some(Interval { start, end }),
            line,
            foreign: None,
            gone: Vec::new(),
            begun: None,
        });
    }
    let sessions = sketch
        .sessions
        .iter()
        .filter(|s| s.iter().any(|t| t.outcome == Outcome::Committed))
        .count();
    Arrival {
        names,
        records,
        sessions,
    }
}

fn lossless(sessions: usize, period: u64) -> Options {
    Options {
        horizon: None,
        sessions: Some(sessions as u32),
        period,
        ..Options::default()
    }
}

/// All levels, of which the weaker ones sleep as long as the stronger ones hold, or cut isolation and a few, or real time
/// alone.
fn some_levels(rng: &mut Rng) -> Vec<Level> {
    if rng.u8(0..8) == 0 {
        return vec![Level::StrictSerializability];
    }
    let all = rng.bool();
    FOLLOWED
        .into_iter()
        .enumerate()
        .filter(|(place, _)| all || *place == 0 || rng.u8(0..4) == 0)
        .map(|(_, level)| level)
        .collect()
}

fn shape(seed: u64) -> Shape {
    match seed % 4 {
        0 => Shape::SMALL,
        1 => Shape {
            transactions: 12,
            sessions: 3,
            ..Shape::CLEAN
        },
        2 => Shape {
            transactions: 9,
            operations: 3,
            keys: 2,
            sessions: 3,
            ..Shape::CLEAN
        },
        _ => Shape {
            transactions: 8,
            sessions: 3,
            keys: 2,
            ..Shape::SMALL
        },
    }
}

#[test]
fn after_each_transaction_the_answer_is_the_verdict() {
    let [settled, violated, forgotten] = [const { AtomicU64::new(0) }; 3];
    for_seeds(4000, |seed| {
        let sketch = random::sketch(shape(seed), seed);
        let mut rng = Rng::with_seed(seed);
        let arrival = arrival(&sketch, &mut rng);
        let period = [1, 1, 3, 1000][rng.usize(0..4)];
        let options = Options {
            levels: some_levels(&mut rng),
            ..lossless(arrival.sessions, period)
        };
        let followed = follow(&arrival, options, true);
        let mut follower = followed.map_err(|error| in_order(&arrival) + &error)?;
        settled.fetch_add(follower.status().settled, Ordering::Relaxed);
        for finding in follower.take_findings() {
            violated.fetch_add(1, Ordering::Relaxed);
            forgotten.fetch_add(u64::from(finding.is_forgotten), Ordering::Relaxed);
            if finding.summary.is_empty() && !finding.is_forgotten {
                return Err(format!(
                    "{}{} is not shown",
                    in_order(&arrival),
                    finding.level
                ));
            }
            if finding
                .example
                .as_ref()
                .is_some_and(|example| !audit::holds(&example.counterexample))
            {
                return Err(format!(
                    "{}{} is shown wrongly",
                    in_order(&arrival),
                    finding.level
                ));
            }
        }
        Ok(())
    });
    let [settled, violated, forgotten] = [settled, violated, forgotten].map(AtomicU64::into_inner);
    assert!(
        settled > share(4000, 4000) && violated > share(4000, 4000) && forgotten > share(10, 4000),
        "{settled} {violated} {forgotten}"
    );
}

/// Histories in which the reads of one transaction are wrong, what is, and how many transactions show it.
const WRONG_READS: [(&str, &str, usize); 14] = [
    ("a: [r x 7, w y 1]\n", "TAP-a", 1),
    ("a: [w x 1, r z 0]!\nb: [r y 0, r x 1]\n", "TAP-b", 2),
    ("a: [r x 1, w x 1]\n", "TAP-c", 1),
    ("a: [w x 1]\nb: [w x 2, r x 1]\n", "TAP-d", 2),
    ("a: [w x 1, w x 2, r x 1]\n", "TAP-e", 1),
    ("a: [w x 1, w x 2]\nb: [r x 1]\n", "TAP-f", 2),
    ("a: [r y 1, w x 1]\nb: [r x 1, w y 1]\n", "TAP-g", 2),
    (
        "a: [r y 1]\na: [w x 1]\nb: [r x 1]\nb: [w y 1]\n",
        "TAP-g",
        4,
    ),
    ("a: [a x 1]\nb: [r x [1 7]]\n", "TAP-a", 1),
    ("a: [a x 1]\nb: [a x 2]!\nc: [r x [1 2]]\n", "TAP-b", 2),
    ("a: [a x 1, a x 2]\nb: [r x [1]]\n", "TAP-f", 2),
    ("a: [a x 1]\nb: [r x [1 1]]\n", "DuplicateElement", 2),
    (
        "a: [a x 1]\nb: [a x 2]\nc: [r x [1 2]]\nd: [r x [2]]\n",
        "IncompatibleOrder",
        4,
    ),
    (
        "a: [a x 1]\nb: [a x 2]\nc: [r x [1 2]]\nd: [r x [2 1]]\n",
        "IncompatibleOrder",
        4,
    ),
];

#[test]
fn wrong_reads_of_one_transaction_are_shown_with_their_writers() {
    for (text, pattern, n) in WRONG_READS {
        // More of the history changes nothing.
        let before = "p: [w k 1]\nq: [r k 1, w k 2]\nq: [w l 1]!\n";
        for (text, period) in [(text.to_owned(), 200), (before.to_owned() + text, 1)] {
            let levels = vec![Level::ReadCommitted, Level::Serializability];
            let options = Options {
                levels,
                period,
                ..KEEPING
            };
            let mut follower =
                stream("history", text.as_bytes(), 1 << 16, options).expect("it can be followed");
            let findings = follower.take_findings();
            assert_eq!(findings.len(), 2, "{text}");
            for finding in findings {
                let example = finding
                    .example
                    .unwrap_or_else(|| panic!("{text}: {}", finding.summary))
                    .counterexample;
                assert_eq!(example.violation.id.pattern.id(), pattern, "{text}");
                assert_eq!(
                    example.history.transactions().count(),
                    n,
                    "{text}: {}",
                    finding.summary
                );
                assert!(audit::holds(&example), "{text}");
            }
        }
    }
}

#[test]
fn a_value_that_is_read_and_written_back_is_another_ones() {
    let words = |text: &str| -> Vec<&'static str> {
        let answers = answers_of(
            "history",
            text.as_bytes(),
            1 << 16,
            Options {
                levels: without_times(),
                ..KEEPING
            },
        );
        answers
            .into_iter()
            .map(|(_, answer)| answer.word())
            .collect()
    };
    let all = |word| vec![word; without_times().len()];
    assert_eq!(words("a: [w x 1]\nb: [r x 1, w x 1]\n"), all("holds"));
    assert_eq!(
        words("a: [w x 1]?\nb: [r x 1, w x 1, r x 1]\n"),
        all("holds")
    );
    // Its end stands before that of the writer.
    let levels = Options {
        levels: without_times(),
        ..KEEPING
    };
    let early = stream(
        "history",
        b"b: [r x 1, w x 1]\na: [w x 1]\n",
        1 << 16,
        levels,
    );
    let mut early = early.expect("it can be followed");
    assert!(early.take_findings().is_empty());
    assert!(
        early
            .answers()
            .iter()
            .all(|(_, answer)| *answer == Answer::ExceptFor(1)),
        "{:?}",
        early.answers()
    );
    // What it read was overwritten by its writer, which is shown with it.
    let follower = stream(
        "history",
        b"a: [w x 1, w x 2]\nb: [r x 1, w x 1]\n",
        1 << 16,
        all_levels(KEEPING),
    );
    let findings = follower.expect("it can be followed").take_findings();
    let example = findings
        .into_iter()
        .next()
        .and_then(|finding| finding.example)
        .expect("it is shown")
        .counterexample;
    assert_eq!(
        (
            example.violation.id.pattern.id(),
            example.history.n_transactions()
        ),
        ("TAP-f", 2)
    );
    // Another one that reads the value may have read either.
    let open = "a: [w x 1]\nb: [r x 1, w x 1]\nc: [r x 1]\n";
    assert_eq!(words(open), all("undecided"));
    assert_eq!(words(&format!("{open}d: [w x 1]\n")), all("undecided"));
}

#[test]
fn what_is_delivered_when_a_value_is_written_again_shows_nothing() {
    // With the first writer of x = 1, c and d contradict each other at RC; with the second one they do not.
    let text =
        "a: [w x 1, w k 1]\nc: [w y 1, w k 2]\nd: [r x 1, r k 2]\nb: [r y 1, r k 1, w x 1]\n";
    let mut follower = stream("history", text.as_bytes(), 1 << 16, all_levels(KEEPING))
        .expect("it can be followed");
    assert_eq!(
        follower.ended(),
        Some("line 4: a value that had been read is written again")
    );
    assert!(follower.take_findings().is_empty());
    let is_open = |(_, answer): &(Level, Answer)| matches!(answer, Answer::Unknown(_));
    assert!(
        follower.answers().iter().all(is_open),
        "{:?}",
        follower.answers()
    );
}

#[test]
fn where_values_repeat_nothing_is_claimed_that_is_not_so() {
    let [ended, claimed] = [const { AtomicUsize::new(0) }; 2];
    for_seeds(4000, |seed| {
        let mut rng = Rng::with_seed(seed);
        let shape = if rng.bool() {
            Shape::AMBIGUOUS
        } else {
            Shape {
                transactions: 9,
                ..Shape::AMBIGUOUS
            }
        };
        let mut sketch = random::sketch(shape, seed);
        // Some values are written back by those who read them.
        for transaction in sketch.sessions.iter_mut().flatten() {
            let reads = transaction
                .operations
                .iter()
                .copied()
                .filter(|o| o.kind == OperationKind::Read);
            let written = reads.map(|o| common::sketch::Operation {
                kind: OperationKind::Write,
                ..o
            });
            let written: Vec<_> = written
                .filter(|o| o.value.0 > 0 && o.value.0 < 1000 && rng.u8(0..3) == 0)
                .collect();
            transaction.operations.extend(written);
            // An assembly leaves out writes of initial values.
            transaction.operations.retain(|o| {
                o.kind == OperationKind::Read || !matches!(o.value, Value(0) | Value::INITIAL)
            });
        }
        let arrival = arrival(&sketch, &mut rng);
        let horizon = rng.bool().then(|| rng.u64(1..=6));
        let options = Options {
            levels: some_levels(&mut rng),
            horizon,
            period: 1,
            ..Options::default()
        };
        let mut follower = Follower::new(options);
        arrival
            .records
            .iter()
            .for_each(|record| follower.take(record.clone(), &arrival.names));
        follower.finish(&arrival.names);
        ended.fetch_add(usize::from(follower.ended().is_some()), Ordering::Relaxed);
        let mut assembly = Assembly::new(Origin::default(), &arrival.names);
        arrival
            .records
            .iter()
            .for_each(|record| assembly.add(record, |_| true));
        let expected = verdicts(&assembly.finish().expect("a small history"));
        let expected = |level: Level| {
            expected
                .iter()
                .find(|(other, _)| *other == level)
                .map(|(_, holds)| *holds)
        };
        for (level, answer) in follower.answers() {
            let claim = match answer {
                Answer::Holds => Some(true),
                Answer::Violated => Some(false),
                _ => None,
            };
            claimed.fetch_add(usize::from(claim.is_some()), Ordering::Relaxed);
            if claim
                .zip(expected(level))
                .is_some_and(|(claim, holds)| claim != holds)
            {
                return Err(format!(
                    "{}{level} is said to be {answer:?}",
                    in_order(&arrival)
                ));
            }
        }
        let shown = follower.take_findings();
        let shown = shown
            .iter()
            .find(|f| follower.ended().is_none() && expected(f.level) == Some(true));
        shown.map_or(Ok(()), |finding| {
            Err(format!("{}{} is shown", in_order(&arrival), finding.level))
        })
    });
    let [ended, claimed] = [ended, claimed].map(AtomicUsize::into_inner);
    assert!(
        ended as u64 > share(100, 4000) && claimed as u64 > share(2000, 4000),
        "{ended} {claimed}"
    );
}

/// Whether a value is written twice to a key: that is noticed only as long as its first writer is remembered.
fn repeats_values(arrival: &Arrival) -> bool {
    let operations = arrival.records.iter().flat_map(|record| &record.operations);
    let mut written: Vec<_> = operations
        .filter(|action| action.kind == OperationKind::Write)
        .map(|action| (action.key, action.value.clone()))
        .collect();
    let n = written.len();
    written.sort_unstable();
    written.dedup();
    written.len() < n
}

#[test]
fn where_writers_are_forgotten_nothing_is_claimed_that_is_not_so() {
    let n_forgetting = AtomicUsize::new(0);
    for_seeds(4000, |seed| {
        let sketch = random::sketch(shape(seed), seed);
        let mut rng = Rng::with_seed(seed);
        let arrival = arrival(&sketch, &mut rng);
        if repeats_values(&arrival) {
            return Ok(());
        }
        let (levels, horizon, memory) = (
            some_levels(&mut rng),
            Some(rng.u64(1..=3)),
            rng.usize(1..=3),
        );
        let follower = follow(
            &arrival,
            Options {
                levels,
                horizon,
                memory,
                period: 1,
                ..Options::default()
            },
            false,
        );
        let follower = follower.map_err(|e| in_order(&arrival) + &e)?;
        let is_open = follower
            .answers()
            .iter()
            .any(|(_, answer)| matches!(answer, Answer::ExceptFor(_)));
        n_forgetting.fetch_add(usize::from(is_open), Ordering::Relaxed);
        Ok(())
    });
    assert!(n_forgetting.into_inner() > 0);
}

#[test]
fn the_last_version_of_a_key_is_remembered_however_old_it_is() {
    let mut text = "a: [w x 1]\nb: [r x 1]\n".to_owned();
    (1..200).for_each(|n| text.push_str(&format!("a: [w y {n}]\nb: [r y {n}]\n")));
    text.push_str("b: [r x 1]\n");
    let options = Options {
        horizon: Some(5),
        period: 1,
        memory: 4,
        ..KEEPING
    };
    let follower = stream("history", text.as_bytes(), 1 << 16, all_levels(options))
        .expect("it can be followed");
    let open: Vec<_> = follower
        .answers()
        .into_iter()
        .filter(|(_, answer)| *answer != Answer::Holds)
        .collect();
    assert!(
        open.iter().all(|(level, _)| level.counts_real_time()),
        "{open:?}"
    );
}

#[test]
fn with_a_horizon_nothing_is_claimed_that_is_not_so() {
    for_seeds(4000, |seed| {
        let sketch = random::sketch(shape(seed), seed);
        let mut rng = Rng::with_seed(seed);
        let arrival = arrival(&sketch, &mut rng);
        let sessions = rng.bool().then_some(arrival.sessions as u32);
        let levels = some_levels(&mut rng);
        let options = Options {
            levels,
            horizon: Some(rng.u64(1..=6)),
            sessions,
            period: 1,
            ..Options::default()
        };
        follow(&arrival, options, false)
            .map(drop)
            .map_err(|e| in_order(&arrival) + &e)
    });
}

/// A history of lists in an order that keeps the sessions.
fn arrival_of_lists(sketch: &Sketch, rng: &mut Rng) -> Arrival {
    let with_times = rng.bool();
    let history = history_of_elements(sketch, rng, &|number| Value(number), with_times);
    let mut names = Names::default();
    let mut sessions: Vec<VecDeque<Record>> = vec![VecDeque::new(); history.n_sessions()];
    for record in records(&history, &mut names, |line| line) {
        sessions[record.session as usize].push_back(record);
    }
    let mut records = Vec::new();
    while let Some(session) = rng
        .choice(0..sessions.len())
        .filter(|_| sessions.iter().any(|s| !s.is_empty()))
    {
        if let Some(record) = sessions[session].pop_front() {
            records.push(Record {
                line: records.len() as u32 + 1,
                ..record
            });
        }
    }
    Arrival {
        names,
        records,
        sessions: history.n_sessions(),
    }
}

/// A list whose reader waits for itself shows, too, that a transaction of unknown outcome committed.
const CYCLIC_SEED: u64 = 77_126_047;

#[test]
fn lists_are_followed_as_they_are_checked() {
    assert_eq!(followed_lists(CYCLIC_SEED), Ok(()));
    for_seeds(4000, followed_lists);
}

fn followed_lists(seed: u64) -> Result<(), String> {
    let sketch = random::sketch(shape(seed), seed);
    let mut rng = Rng::with_seed(seed);
    let arrival = arrival_of_lists(&sketch, &mut rng);
    let period = [1, 3, 1000][rng.usize(0..3)];
    let horizon = rng.bool().then(|| rng.u64(1..=6));
    let (levels, sessions) = (some_levels(&mut rng), Some(arrival.sessions as u32));
    let options = Options {
        levels,
        horizon,
        sessions,
        period,
        ..Options::default()
    };
    let followed = follow(&arrival, options, horizon.is_none());
    let mut follower = followed.map_err(|error| in_order(&arrival) + &error)?;
    let examples = follower
        .take_findings()
        .into_iter()
        .filter_map(|finding| finding.example);
    match examples
        .map(|example| example.counterexample)
        .find(|example| !audit::holds(example))
    {
        Some(example) => Err(format!(
            "{}{} is shown wrongly",
            in_order(&arrival),
            example.violation.id
        )),
        None => Ok(()),
    }
}

/// Follows bytes that come in pieces of this size, to the end.
fn stream(name: &str, bytes: &[u8], piece: usize, options: Options) -> Result<Follower, String> {
    let mut stream = Stream::new(name, None).map_err(|e| e.to_string())?;
    let mut follower = Follower::new(options);
    let mut records = Vec::new();
    for piece in bytes.chunks(piece) {
        stream
            .push(piece, &mut records)
            .map_err(|e| e.to_string())?;
        records
            .drain(..)
            .for_each(|record| follower.take(record, stream.names()));
    }
    stream.finish(&mut records).map_err(|e| e.to_string())?;
    records
        .drain(..)
        .for_each(|record| follower.take(record, stream.names()));
    follower.finish(stream.names());
    Ok(follower)
}

/// The verdicts of the checkers on a file, where they are decided.
fn verdicts(history: &History) -> Vec<(Level, bool)> {
    let options = checkers::Options {
        levels: FOLLOWED.to_vec(),
        max_instances: 0,
        counts: false,
    };
    let findings = checkers::check(history, &options, &Control::new(), &|_| {});
    let decided = findings
        .levels
        .iter()
        .filter(|result| !matches!(result.verdict, Verdict::Undecided(_)));
    decided
        .map(|result| {
            (
                result.level,
                matches!(result.verdict, Verdict::Satisfied(_)),
            )
        })
        .collect()
}

const KEEPING: Options = Options {
    levels: Vec::new(),
    horizon: None,
    sessions: None,
    period: 200,
    memory: 1 << 20,
};

fn all_levels(options: Options) -> Options {
    Options {
        levels: FOLLOWED.to_vec(),
        ..options
    }
}

#[test]
fn the_bundled_files_end_with_the_verdicts_of_a_check() {
    let mut n_followed = 0;
    let folder = std::fs::read_dir(common::repository("sample_histories")).expect("the samples");
    for path in folder
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "txt"))
    {
        let bytes = std::fs::read(&path).expect("a sample");
        let name = path.to_string_lossy();
        let history = formats::open(&path, None, &Control::new()).expect("a history");
        for piece in [1, 7, 1 << 16] {
            let followed = stream(&name, &bytes, piece, all_levels(KEEPING));
            let follower = followed.unwrap_or_else(|error| panic!("{name}: {error}"));
            if let Some(why) = follower.ended() {
                assert!(
                    why.contains("initial") || why.contains("again"),
                    "{name}: {why}"
                );
                continue;
            }
            let is_open = follower
                .answers()
                .iter()
                .any(|(_, answer)| matches!(answer, Answer::ExceptFor(_)));
            assert!(
                !is_open || name.contains("initial") || name.contains("repeated"),
                "{name}"
            );
            compare(&follower, &verdicts(&history), !is_open, 0)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            n_followed += 1;
        }
    }
    assert!(n_followed > 60, "{n_followed}");
}

/// A history of a store model as `collect` would write it.
fn recorded(
    model: Model,
    sessions: u32,
    transactions: u64,
    keys: u64,
    seed: u64,
) -> (History, Vec<u8>) {
    let workload = Workload {
        seed,
        sessions,
        transactions,
        keys,
        operations: Length::fixed(4),
        ..Workload::default()
    };
    let generation = Generation {
        times: true,
        aborted: 0.02,
        unknown: 0.0,
        ..Generation::new(workload, model)
    };
    let history = generation.history(&Control::new()).expect("a history");
    let mut bytes = Vec::new();
    formats::write(&history, "elle-edn", &mut bytes).expect("it can be written");
    (history, bytes)
}

#[test]
fn recordings_of_stores_are_followed_with_little_memory() {
    let models = [
        Model::Serial,
        Model::Snapshot,
        Model::Prefix,
        Model::Causal,
        Model::Atomic,
        Model::Committed,
    ];
    for (n, model) in models.into_iter().enumerate() {
        let (history, bytes) = recorded(model, 8, 200, 60, n as u64);
        let expected = verdicts(&history);
        let horizon = Options {
            horizon: Some(300),
            period: 50,
            ..KEEPING
        };
        let closed = Options {
            sessions: Some(8),
            ..horizon.clone()
        };
        for (options, is_lossless) in [(KEEPING, true), (horizon, false), (closed, false)] {
            let most = if is_lossless { 1600 } else { 800 };
            let follower = stream("made.edn", &bytes, 1000, all_levels(options)).expect("a stream");
            assert_eq!(follower.ended(), None);
            compare(&follower, &expected, is_lossless, 0)
                .unwrap_or_else(|error| panic!("{model}: {error}"));
            let status = follower.status();
            assert_eq!(
                (status.waiting, status.delivered),
                (0, history.figures().committed as u64),
                "{model}"
            );
            assert!(
                status.remembered <= most,
                "{model}: {} remembered",
                status.remembered
            );
        }
    }
}

#[test]
fn real_time_alone_settles_what_has_ended() {
    let options = Options {
        levels: vec![Level::StrictSerializability],
        period: 50,
        ..KEEPING
    };
    let (history, bytes) = recorded(Model::Strict, 8, 2000, 60, 7);
    let follower = stream("made.edn", &bytes, 1000, options.clone()).expect("a stream");
    compare(&follower, &verdicts(&history), true, 0).expect("the verdict of a check");
    let status = follower.status();
    assert!(
        status.settled > 1000 && status.remembered < 1300,
        "{status:?}"
    );
    let (history, bytes) = recorded(Model::Snapshot, 8, 300, 60, 8);
    let follower = stream("made.edn", &bytes, 1000, options).expect("a stream");
    assert_eq!(
        follower.answers(),
        [(Level::StrictSerializability, Answer::Violated)]
    );
    compare(&follower, &verdicts(&history), true, 0).expect("the verdict of a check");
}

#[test]
fn transactions_are_the_same_however_the_bytes_come() {
    let records = |bytes: &[u8], piece: usize| {
        let mut stream = Stream::new("made.edn", None).expect("a stream");
        let mut records = Vec::new();
        let mut failed = bytes
            .chunks(piece)
            .find_map(|piece| stream.push(piece, &mut records).err());
        failed = failed.or_else(|| stream.finish(&mut records).err());
        (
            format!("{records:?}"),
            failed.map(|error| error.to_string()),
            records.len(),
        )
    };
    let mut n_read = 0;
    for (n, model) in Model::ALL.into_iter().enumerate() {
        let (_, bytes) = recorded(model, 5, 40, 9, n as u64);
        let text = String::from_utf8(bytes).expect("text");
        // Also with crashed clients, answers without questions, an empty transaction and something wrong.
        let mut lines: Vec<&str> = text.lines().collect();
        let crashed = text.replacen(":type :ok", ":type :info", 7);
        let empty = "{:type :ok, :process 0, :f :txn, :value []}";
        let cases = [
            text.clone(),
            crashed,
            text.replacen(":invoke", ":nothing", 1),
        ];
        lines.insert(60, empty);
        let with_empty = lines.join("\n") + "\n";
        lines.retain(|line| !line.contains(":process 3") || !line.contains(":invoke"));
        let without_questions = lines.join("\n");
        for text in cases.into_iter().chain([with_empty, without_questions]) {
            let whole = records(text.as_bytes(), text.len());
            // Pieces that hold a line at most are read one by one.
            assert_eq!(whole, records(text.as_bytes(), 30), "{model}");
            assert_eq!(whole, records(text.as_bytes(), 1500), "{model}");
            n_read += whole.2;
        }
    }
    assert!(n_read > 4000, "{n_read}");
}

#[test]
fn transactions_of_unknown_outcome_count_when_they_are_read() {
    let edn = |lines: &[&str]| {
        lines
            .iter()
            .map(|line| format!("{{{line}}}\n"))
            .collect::<String>()
    };
    let unknown = [
        ":type :invoke, :process 0, :f :txn, :value [[:w 1 1] [:w 2 1]]",
        ":type :invoke, :process 1, :f :txn, :value [[:r 1 nil]]",
        ":type :ok, :process 1, :f :txn, :value [[:r 1 1]]",
        ":type :invoke, :process 1, :f :txn, :value [[:r 2 nil]]",
        ":type :ok, :process 1, :f :txn, :value [[:r 2 nil]]",
    ];
    let follower = stream(
        "unknown.edn",
        edn(&unknown).as_bytes(),
        9,
        all_levels(KEEPING),
    )
    .expect("a stream");
    let answers: Vec<bool> = follower
        .answers()
        .into_iter()
        .map(|(_, answer)| answer == Answer::Holds)
        .collect();
    // RA looks at what a transaction follows directly only.
    assert_eq!(
        answers,
        [true, true, true, false, false, false, false, false, false]
    );
}

fn without_times() -> Vec<Level> {
    FOLLOWED
        .into_iter()
        .filter(|level| !level.counts_real_time())
        .collect()
}

/// Histories that hold and that careless settling would call violated.
#[test]
fn what_may_still_matter_is_not_settled() {
    let untouched =
        "a: [w x 1, w y 1]\nb: [w x 2, w z 1]\na: [r z 1]\nb: [r y 1]\na: [r z 1]\nb: [r x 1]\n";
    let see = "r k0 1, r k1 1, r k2 1, r k3 1, r k4 1";
    let five = format!(
        "a: [w x 1, w k0 1]\nb: [w x 2, w k1 1]\nc: [r k0 1, r k1 1, w y 1, w k2 1]\nd: [w y 2, w k3 1]\n\
         e: [r k3 1, r x 1, w k4 1]\na: [{see}, w x 3, w k5 1]\nb: [r k5 1]\nc: [r k5 1]\nd: [r k5 1]\ne: [r k5 1]\n\
         a: [r k5 1]\nc: [r y 2]\n"
    );
    for (text, sessions) in [(untouched, 2), (five.as_str(), 5)] {
        let options = Options {
            sessions: Some(sessions),
            period: 1,
            ..KEEPING
        };
        let options = Options {
            levels: without_times(),
            ..options
        };
        let follower = stream("directed.txt", text.as_bytes(), 64, options).expect("a stream");
        assert!(
            follower
                .answers()
                .iter()
                .all(|(_, answer)| *answer == Answer::Holds),
            "{:?}",
            follower.answers()
        );
    }
}

#[test]
fn a_late_read_of_what_everything_has_passed_is_violated_and_beyond_the_horizon_undecided() {
    let mut text = String::from("a: [w x 1]\nb: [r x 1, w y 1]\n");
    for n in 2..40 {
        text += &format!("a: [r y {}, w x {n}]\nb: [r x {n}, w y {n}]\n", n - 1);
    }
    text += "b: [r x 3]\n";
    let answers = |options: Options| {
        let options = Options {
            levels: without_times(),
            ..options
        };
        let follower = stream("late.txt", text.as_bytes(), 64, options).expect("a stream");
        assert!(follower.status().settled > 20);
        follower
            .answers()
            .into_iter()
            .map(|(_, answer)| answer)
            .collect::<Vec<_>>()
    };
    let closed = answers(Options {
        sessions: Some(2),
        period: 1,
        ..KEEPING
    });
    assert_eq!(closed[..2], [Answer::Holds, Answer::Holds]);
    assert_eq!(closed[3..], [const { Answer::Violated }; 5]);
    let by_age = answers(Options {
        horizon: Some(10),
        period: 1,
        ..KEEPING
    });
    assert_eq!(by_age[2..], [const { Answer::ExceptFor(1) }; 6]);
}

#[test]
fn a_line_without_end_is_refused() {
    let mut stream = Stream::new("zeros", None).expect("a stream");
    let chunk = vec![b'0'; 1 << 20];
    let failed = (0..100)
        .find_map(|_| stream.push(&chunk, &mut Vec::new()).err())
        .expect("it is too long");
    assert!(
        failed.to_string().contains("longer than 64 MiB"),
        "{failed}"
    );
}

#[test]
fn what_cannot_be_followed_is_said() {
    let ends = |text: &str| {
        let follower =
            stream("some.txt", text.as_bytes(), 5, all_levels(KEEPING)).expect("a stream");
        follower.ended().map(str::to_owned)
    };
    let cases = [
        (
            "a: [w x 1]\nb: [a x 1]\n",
            "line 2: a key is used as a list and as a register, which cannot be followed",
        ),
        (
            "a: [w x 1]\nb: [r x 1]\nc: [w x 1]\n",
            "line 3: a value that had been read is written again",
        ),
        (
            "a: [r x 0]\nb: [w x 0]\n",
            "line 2: the initial value is written, which had been read",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(ends(text).as_deref(), Some(message), "{text}");
    }
    // Written twice but not yet read: only its reads are left out.
    assert_eq!(ends("a: [w x 1]\nc: [w x 1]\nb: [r x 1]\n"), None);
    let fails = |name: &str, text: &str| {
        stream(name, text.as_bytes(), 5, all_levels(KEEPING))
            .map(drop)
            .unwrap_err()
    };
    assert_eq!(
        fails("x.txt", "a: [w x 1]\nb: [w\n"),
        "line 2, column 6: expected a key, found the end of the line"
    );
    assert!(
        fails("x.txt", "a: [w x 1]\ninitial: none\n")
            .starts_with("line 2: the initial value is declared after")
    );
    assert!(
        fails("x.txt", "w(1,1,0,0)\nw(1,2,0,1)\nr(1,2,0,0)\n")
            .starts_with("line 3: transaction 0 goes on")
    );
    assert!(
        fails(
            "x.edn",
            "{:type :ok, :process 0, :value [[:w 1 1]]}\n{:type :ok, :process\n{}\n"
        )
        .starts_with("line 2")
    );
}

#[test]
fn an_order_that_was_changed_is_refused() {
    let arrival = |text: &str| {
        let mut stream = Stream::new("some.txt", Some("text")).expect("a format");
        let mut records = Vec::new();
        stream
            .push(text.as_bytes(), &mut records)
            .expect("a history");
        records
    };
    let records = arrival("a: [w x 1]\nb: [r x 1, w x 2]\na: [r x 2]\nc: [w x 9]!\n");
    let run = |level: Level, lines: &str| {
        let events: Result<Vec<Event>, _> = lines.split(' ').map(str::parse).collect();
        replay(level, &records, &events.expect("events"))
    };
    let serial = |lines: &str| run(Level::Serializability, lines);
    assert_eq!(serial("1 2 3"), Ok(0));
    assert_eq!(serial("2 1 3"), Ok(2));
    for wrong in ["1 3", "3 1 2", "1 2 2", "1 2 3 4", "s1 c1 2 3", "1 2 3 9"] {
        assert!(serial(wrong).is_err(), "{wrong}");
    }
    let snapshot = |lines: &str| run(Level::SnapshotIsolation, lines);
    assert_eq!(snapshot("s1 c1 s2 c2 s3 c3"), Ok(0));
    assert_eq!(run(Level::PrefixConsistency, "s2 s1 c1 c2 s3 c3"), Ok(1));
    for wrong in [
        "s2 s1 c1 c2 s3 c3",
        "s1 c1 s2 c2 s3",
        "s1 s3 c1 s2 c2 c3",
        "c1 s1 s2 c2 s3 c3",
    ] {
        assert!(snapshot(wrong).is_err(), "{wrong}");
    }
}

/// The answers at the end of bytes that come in pieces of this size.
fn answers_of(name: &str, bytes: &[u8], piece: usize, options: Options) -> Vec<(Level, Answer)> {
    stream(name, bytes, piece, options)
        .expect("it can be followed")
        .answers()
}

#[test]
fn weak_levels_do_not_rely_on_what_barriers_settle() {
    let mut text = "; barriers: key f, fences 1 to 2\n".to_owned();
    let mut line = |process: u8, operations: &str| {
        for kind in [":invoke", ":ok"] {
            text +=
                &format!("{{:type {kind}, :process {process}, :f :txn, :value [{operations}]}}\n");
        }
    };
    line(0, "[:w :x 1]");
    line(0, "[:w :x 2]");
    for n in 1..=100 {
        line(0, &format!("[:w :f {n}]"));
        line(1, &format!("[:r :f {n}] [:w :g {n}]"));
        line(0, &format!("[:r :g {n}]"));
    }
    line(1, "[:r :x 1]");
    for horizon in [Some(30), Some(10_000)] {
        let levels = FOLLOWED
            .into_iter()
            .filter(|level| *level != Level::ParallelSnapshotIsolation);
        let options = Options {
            levels: levels.collect(),
            horizon,
            period: 20,
            ..KEEPING
        };
        let answers = answers_of("made.edn", text.as_bytes(), 1 << 16, options);
        let answer = |level: Level| {
            &answers
                .iter()
                .find(|(other, _)| *other == level)
                .expect("it was asked for")
                .1
        };
        assert_ne!(
            *answer(Level::ReadCommitted),
            Answer::Violated,
            "{answers:?}"
        );
        assert_ne!(*answer(Level::ReadAtomic), Answer::Violated, "{answers:?}");
        assert_ne!(
            *answer(Level::TransactionalCausalConsistency),
            Answer::Holds,
            "{answers:?}"
        );
    }
}

#[test]
fn what_rests_on_a_value_that_is_written_again_is_withdrawn() {
    let levels = vec![Level::ReadCommitted, Level::Serializability];
    let options = Options {
        levels,
        horizon: None,
        ..KEEPING
    };
    let stale = "a: [w x 1]\na: [w x 2]\nb: [r x 2]\nb: [r x 1]\n";
    let lost = "p: [w k 1]\nq: [r k 1, w k 2]\nr: [r k 1, w k 3]\n";
    let answers = |text: String| {
        let answers = answers_of("history", text.as_bytes(), 7, options.clone());
        answers
            .into_iter()
            .map(|(_, answer)| answer.word())
            .collect::<Vec<_>>()
    };
    assert_eq!(answers(stale.to_owned()), ["holds", "violated"]);
    assert_eq!(
        answers(format!("{stale}c: [w x 1]\n")),
        ["undecided", "undecided"]
    );
    // The other violation stays, also after following has ended, until its own reads may have another writer.
    assert_eq!(
        answers(format!("{lost}c: [w x 1]\nd: [r x 1]\nc: [w x 1]\n")),
        ["undecided", "violated"]
    );
    assert_eq!(
        answers(format!(
            "{lost}c: [w x 1]\nd: [r x 1]\nc: [w x 1]\nc: [w k 1]\n"
        )),
        ["undecided", "undecided"]
    );
    assert_eq!(
        answers(format!("{lost}c: [w k 1]!\n")),
        ["holds", "violated"],
        "an aborted one changes nothing"
    );
}

#[test]
fn operations_that_never_began_are_followed_in_any_pieces() {
    let line =
        |operation: &str| format!("{{:type :ok, :process 0, :f :txn, :value [[{operation}]]}}\n");
    let text = line(":w :x 1") + &line(":r :x 1") + &line(":w :x 2");
    for piece in [1, 40, 1 << 16] {
        for levels in [FOLLOWED.to_vec(), vec![Level::StrictSerializability]] {
            let options = Options {
                levels,
                period: 1,
                ..KEEPING
            };
            let answers = answers_of("made.edn", text.as_bytes(), piece, options);
            assert!(
                answers.iter().all(|(_, answer)| *answer == Answer::Holds),
                "{piece}: {answers:?}"
            );
        }
    }
}

#[test]
fn without_times_real_time_is_violated_only_as_serializability_is() {
    let lost = "p: [w k 1]\nq: [r k 1, w k 2]\nr: [r k 1, w k 3]\n";
    let options = |levels: &[Level]| Options {
        levels: levels.to_vec(),
        ..KEEPING
    };
    let (ser, strict) = (Level::Serializability, Level::StrictSerializability);
    let words = |text: &str, levels: &[Level]| -> Vec<&str> {
        let answers = answers_of("history", text.as_bytes(), 1 << 16, options(levels));
        answers.iter().map(|(_, answer)| answer.word()).collect()
    };
    assert_eq!(words(lost, &[strict]), ["violated"]);
    assert_eq!(
        words("p: [w k 1]\n", &[ser, strict]),
        ["holds", "undecided"]
    );
    // Unless it was asked for, it is not mentioned.
    let follower = stream(
        "history",
        lost.as_bytes(),
        1 << 16,
        Options {
            horizon: None,
            ..Options::default()
        },
    );
    let mut follower = follower.expect("it can be followed");
    let found: Vec<Level> = follower
        .take_findings()
        .into_iter()
        .map(|finding| finding.level)
        .collect();
    assert!(
        found.contains(&ser) && !found.contains(&strict),
        "{found:?}"
    );
}

#[test]
fn weak_levels_are_followed_in_time_that_grows_with_the_history() {
    let workload = Workload {
        sessions: 4,
        transactions: 5000,
        keys: 4,
        ..Workload::default()
    };
    let history = Generation::new(workload, Model::Prefix)
        .history(&Control::new())
        .expect("a history");
    let mut bytes = Vec::new();
    formats::write(&history, "elle-edn", &mut bytes).expect("it can be written");
    let begin = std::time::Instant::now();
    for level in [
        Level::ReadCommitted,
        Level::ReadAtomic,
        Level::TransactionalCausalConsistency,
    ] {
        let options = Options {
            levels: vec![level],
            ..Options::default()
        };
        assert_eq!(
            answers_of("made.edn", &bytes, 1 << 16, options),
            [(level, Answer::Holds)]
        );
    }
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
}
