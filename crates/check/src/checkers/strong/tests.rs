//! Against brute force over all orders of starts and commits, and on shapes that defeat saturation.

use super::*;
use isoscope_model::history::{OperationKind, Value};
use isoscope_testing as common;
use isoscope_testing::sketch::Sketch;
use isoscope_testing::sound::{self, CASE_SPLIT_GRID, Shape};

const LEVELS: [Level; 3] = [
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializability,
];

/// A partial execution: what has started, what has committed, and which version of each key is current.
struct Execution<'a> {
    index: &'a Index,
    level: Level,
    started: Vec<bool>,
    committed: Vec<bool>,
    /// By key: the current version.
    current: Vec<u32>,
    /// By node: the current versions when it started.
    snapshot: Vec<Vec<u32>>,
}

impl<'a> Execution<'a> {
    fn new(index: &'a Index, level: Level) -> Execution<'a> {
        let n = index.n_nodes();
        Execution {
            index,
            level,
            started: vec![false; n],
            committed: vec![false; n],
            current: vec![INITIAL_SLOT; index.n_keys()],
            snapshot: vec![Vec::new(); n],
        }
    }

    /// Whether `t` may start now and then reads what it read.
    fn may_start(&self, t: Node) -> bool {
        let first = self.index.position(t) == 0;
        !self.started[t as usize]
            && (first || self.committed[t as usize - 1])
            && self.index.reads_of(t).all(|read| {
                self.current[self.index.read_key[read] as usize] == self.index.read_slot[read]
            })
    }

    fn may_commit(&self, t: Node) -> bool {
        let unchanged = |write: usize| {
            let key = self.index.write_key[write] as usize;
            self.snapshot[t as usize][key] == self.current[key]
        };
        self.started[t as usize]
            && !self.committed[t as usize]
            && (self.level != Level::SnapshotIsolation || self.index.writes_of(t).all(unchanged))
    }

    fn start(&mut self, t: Node) {
        self.started[t as usize] = true;
        self.snapshot[t as usize] = self.current.clone();
    }

    fn commit(&mut self, t: Node) {
        self.committed[t as usize] = true;
        for write in self.index.writes_of(t) {
            self.current[self.index.write_key[write] as usize] = self.index.write_slot[write];
        }
    }

    /// Whether the execution can be completed.
    fn completes(&mut self) -> bool {
        if self.committed.iter().all(|&done| done) {
            return true;
        }
        for t in 0..self.index.n_nodes() as Node {
            if self.may_start(t) {
                self.start(t);
                let done = match self.level {
                    Level::Serializability => {
                        let current = self.current.clone();
                        self.commit(t);
                        let done = self.completes();
                        self.committed[t as usize] = false;
                        self.current = current;
                        done
                    }
                    _ => self.completes(),
                };
                self.started[t as usize] = false;
                if done {
                    return true;
                }
            } else if self.may_commit(t) {
                let current = self.current.clone();
                self.commit(t);
                let done = self.completes();
                self.committed[t as usize] = false;
                self.current = current;
                if done {
                    return true;
                }
            }
        }
        false
    }

    /// Whether these events are a complete execution.
    fn accepts(&mut self, events: &[(Node, bool)]) -> bool {
        for &(t, commit) in events {
            match commit {
                false if self.may_start(t) => self.start(t),
                true if self.may_commit(t) => self.commit(t),
                _ => return false,
            }
        }
        self.committed.iter().all(|&done| done)
    }
}

/// Decides with the engine, checks its evidence, and says whether the level is satisfied.
fn satisfied_with_evidence(index: &Index, level: Level) -> bool {
    let events = match decide(index, level, &Control::new()).expect("no limit was set") {
        Decision::Satisfied(order) => order.events().collect::<Vec<_>>(),
        Decision::Violated { core } => {
            assert!(core.is_sorted() && core.iter().all(|&t| (t as usize) < index.n_nodes()));
            let verdict =
                decide(&index.part(&core), level, &Control::new()).expect("no limit was set");
            assert!(verdict.is_violated(), "core {core:?} at {level}");
            return false;
        }
    };
    assert!(
        Execution::new(index, level).accepts(&events),
        "{events:?} is no execution at {level}"
    );
    true
}

fn agree(sketch: &Sketch) -> [bool; 3] {
    let index = common::index(&sketch.history());
    LEVELS.map(|level| {
        let satisfied = satisfied_with_evidence(&index, level);
        assert_eq!(
            satisfied,
            Execution::new(&index, level).completes(),
            "{sketch} at {level}"
        );
        satisfied
    })
}

fn agree_on_random(shape: Shape, seed: u64, n: usize) -> [usize; 3] {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut n_satisfied = [0; 3];
    for _ in 0..n {
        let verdicts = agree(&sound::backwards(shape, &mut random));
        (0..3).for_each(|level| n_satisfied[level] += usize::from(verdicts[level]));
    }
    n_satisfied
}

#[test]
fn the_engine_agrees_with_brute_force_on_small_histories() {
    let shape = Shape {
        transactions: 4,
        sessions: 3,
        operations: 3,
        keys: 2,
        write_percent: 50,
    };
    let satisfied = agree_on_random(shape, 1, 15_000);
    assert!(
        satisfied.iter().all(|&n| n > 500 && n < 14_500),
        "{satisfied:?}"
    );
}

#[test]
fn the_engine_agrees_with_brute_force_on_blind_writes() {
    let shape = Shape {
        transactions: 5,
        sessions: 5,
        operations: 3,
        keys: 3,
        write_percent: 65,
    };
    agree_on_random(shape, 2, 5_000);
    let shape = Shape {
        transactions: 5,
        sessions: 4,
        operations: 2,
        keys: 2,
        write_percent: 60,
    };
    agree_on_random(shape, 3, 5_000);
}

#[test]
fn evidence_is_sound_on_larger_histories_of_a_serial_store() {
    let mut random = fastrand::Rng::with_seed(4);
    for round in 0..60 {
        let shape = Shape {
            transactions: 120,
            sessions: 6,
            operations: 6,
            keys: 12,
            write_percent: 50,
        };
        let mut sketch = sound::serial(shape, &mut random);
        let index = common::index(&sketch.history());
        assert!(
            LEVELS
                .iter()
                .all(|&level| satisfied_with_evidence(&index, level))
        );
        if round % 2 == 0 {
            let reads = sketch
                .operations_mut()
                .filter(|o| o.kind == OperationKind::Read)
                .collect::<Vec<_>>();
            random.choice(reads).expect("there are many").value = Value(0);
            let index = common::index(&sketch.history());
            let verdicts = LEVELS.map(|level| satisfied_with_evidence(&index, level));
            assert!(
                verdicts[1] <= verdicts[0] && verdicts[2] <= verdicts[1],
                "stronger levels satisfy less"
            );
        }
    }
}

#[test]
fn a_case_split_is_found_at_every_level() {
    let index = common::index(&common::history(CASE_SPLIT_GRID));
    assert_eq!(
        LEVELS.map(|level| satisfied_with_evidence(&index, level)),
        [false; 3]
    );
}

#[test]
fn an_empty_history_is_satisfied() {
    let index = common::index(&common::history(""));
    for level in LEVELS {
        assert!(
            !decide(&index, level, &Control::new())
                .expect("no limit was set")
                .is_violated()
        );
    }
}

#[test]
fn a_stopped_control_interrupts() {
    let control = Control::new();
    control.stop();
    let index = common::index(&common::history(CASE_SPLIT_GRID));
    assert_eq!(
        decide(&index, Level::Serializability, &control),
        Err(Interrupt::Cancelled)
    );
}
