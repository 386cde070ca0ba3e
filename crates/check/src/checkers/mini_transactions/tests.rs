//! Mini-transactions against the engine for all histories.

use super::*;
use crate::checkers::{Order, strong};
use isoscope_model::history::Interval;
use isoscope_model::relations::NONE;
use isoscope_testing as common;
use isoscope_testing::sketch::{Sketch, Transaction, read, write};

const LEVELS: [Level; 3] = [
    Level::SnapshotIsolation,
    Level::Serializability,
    Level::StrictSerializability,
];

/// Transactions that write some of the keys they read. Reads go back to any version, mostly to the newest.
fn random(random: &mut fastrand::Rng) -> Sketch {
    let (n, n_keys, n_sessions) = (random.u64(2..8), random.usize(1..4), random.usize(1..5));
    let mut versions: Vec<Vec<u64>> = vec![vec![0]; n_keys];
    let mut sketch = Sketch {
        sessions: vec![Vec::new(); n_sessions],
    };
    for value in 1..=n {
        let (mut operations, mut writes) = (Vec::new(), Vec::new());
        for key in (0..n_keys)
            .filter(|_| random.u32(..3) > 0)
            .collect::<Vec<_>>()
        {
            let of_key = &mut versions[key];
            let back = if random.u32(..4) > 0 {
                1
            } else {
                random.usize(1..=of_key.len())
            };
            operations.push(read(key, of_key[of_key.len() - back]));
            if random.bool() {
                writes.push(write(key, value));
                of_key.push(value);
            }
        }
        operations.append(&mut writes);
        sketch.sessions[random.usize(..n_sessions)].push(Transaction::committed(operations));
    }
    sketch
}

/// Times that increase in each session.
fn times(index: &Index, random: &mut fastrand::Rng) -> Vec<Option<Interval>> {
    let mut now = 0;
    let of = |t: Node| {
        if index.position(t) == 0 {
            now = random.i64(0..10);
        }
        let (start, end) = (now, now + random.i64(0..8));
        now = end + random.i64(0..4);
        (random.u32(..8) > 0).then_some(Interval { start, end })
    };
    (0..index.n_nodes() as Node).map(of).collect()
}

/// The nodes of an index, with their times.
fn with_times(sketch: &Sketch, times: &[Option<Interval>]) -> Index {
    let mut index = common::index(&sketch.history());
    index.interval = times.to_vec();
    index
}

/// Replays starts and commits: every read returns the newest version.
fn explains(index: &Index, events: &[(Node, bool)], first_committer_wins: bool) -> bool {
    let newest = |key: u32, done: &[(Node, bool)]| {
        let mut commits = done
            .iter()
            .rev()
            .filter(|event| event.1)
            .map(|event| event.0);
        commits
            .find(|&t| index.slot_of(t, key).is_some())
            .unwrap_or(NONE)
    };
    (0..events.len()).all(|place| {
        let (t, is_commit) = events[place];
        let start = events
            .iter()
            .position(|&event| event == (t, false))
            .unwrap_or(place);
        if is_commit {
            index
                .writes_of(t)
                .filter(|_| first_committer_wins)
                .all(|write| {
                    let key = index.write_key[write];
                    newest(key, &events[..place]) == newest(key, &events[..start])
                })
        } else {
            index
                .reads_of(t)
                .all(|r| newest(index.read_key[r], &events[..place]) == index.read_writer[r])
        }
    })
}

#[test]
fn running_mini_transactions_says_what_the_general_engine_says() {
    let control = Control::new();
    let mut rng = fastrand::Rng::with_seed(3);
    let mut seen = [[0; 2]; 3];
    for _ in 0..6000 {
        let sketch = random(&mut rng);
        let times = times(&common::index(&sketch.history()), &mut rng);
        let index = with_times(&sketch, &times);
        assert_eq!(misfit(&index, &control), Ok(None));
        for (seen, level) in seen.iter_mut().zip(LEVELS) {
            let answer = decide(&index, level, &control)
                .unwrap()
                .expect("the shape fits");
            let expected = strong::decide(&index, level, &control).unwrap();
            let violated = expected.is_violated();
            match &answer {
                Decision::Violated { core } => {
                    assert!(violated, "{level}: {sketch}");
                    seen[0] += 1;
                    let alone = strong::decide(&index.part(core), level, &control).unwrap();
                    assert!(alone.is_violated(), "{level}: {core:?} of {sketch}");
                }
                Decision::Satisfied(Order::Commits(order)) => {
                    let events: Vec<_> = order
                        .iter()
                        .flat_map(|&t| [(t, false), (t, true)])
                        .collect();
                    assert!(
                        !violated && explains(&index, &events, true),
                        "{level}: {order:?} of {sketch}"
                    );
                    seen[1] += 1;
                }
                Decision::Satisfied(Order::Events(events)) => {
                    assert!(
                        !violated && explains(&index, events, true),
                        "{level}: {events:?} of {sketch}"
                    );
                    seen[1] += 1;
                }
            }
        }
    }
    assert!(seen.iter().flatten().all(|n| *n > 300), "{seen:?}");
}

#[test]
fn what_does_not_fit_is_named() {
    let control = Control::new();
    let blind = common::index(&common::history(
        "a: [r x 0, w x 1]\nb: [r x 1, r y 0, w y 1, w z 1]",
    ));
    assert_eq!(misfit(&blind, &control), Ok(Some((1, 2))));
    for level in LEVELS {
        assert_eq!(decide(&blind, level, &control), Ok(None));
    }
    let fits = common::index(&common::history("a: [r x 0, w x 1]"));
    assert_eq!(decide(&fits, Level::PrefixConsistency, &control), Ok(None));
    assert_eq!(
        decide(&fits, Level::Serializability, &control),
        Ok(Some(Decision::Satisfied(Order::Commits(vec![0].into()))))
    );
}

#[test]
fn many_updates_of_one_version_are_a_divergence_and_no_quadratic_graph() {
    let updates =
        (1..=200_000).map(|value| vec![Transaction::committed(vec![read(0, 0), write(0, value)])]);
    let index = common::index(
        &Sketch {
            sessions: updates.collect(),
        }
        .history(),
    );
    for level in [Level::SnapshotIsolation, Level::Serializability] {
        let answer = decide(&index, level, &Control::new());
        assert_eq!(answer, Ok(Some(Decision::Violated { core: vec![0, 1] })));
    }
}

#[test]
fn a_stopped_run_is_interrupted() {
    let control = Control::new();
    control.stop();
    let index = common::index(&random(&mut fastrand::Rng::with_seed(1)).history());
    assert_eq!(
        decide(&index, Level::Serializability, &control),
        Err(Interrupt::Cancelled)
    );
}
