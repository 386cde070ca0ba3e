//! Deciding components separately gives the verdict of the whole, and the joined order explains every read.

use super::*;
use fastrand::Rng;
use isoscope_model::history::OperationKind;
use isoscope_model::relations::NONE;
use isoscope_testing as common;
use isoscope_testing::sketch::{Operation, Sketch, Transaction, read, write};

const LEVELS: [Level; 3] = [
    Level::PrefixConsistency,
    Level::SnapshotIsolation,
    Level::Serializability,
];

fn index_of(text: &str) -> Index {
    common::index(&common::history(text))
}

/// A history in which each key is used by few sessions: transactions run one after the other and mostly read the newest
/// version. `stale` of a hundred reads return any older one.
fn sparse(random: &mut Rng, transactions: usize, stale: u32) -> Sketch {
    let sessions = random.usize(2..7);
    let keys: Vec<Vec<usize>> = (0..random.usize(1..6))
        .map(|key| match random.u8(0..4) {
            0 => vec![random.usize(0..sessions)],
            1 => (0..sessions).filter(|_| random.bool()).collect(),
            _ => vec![key % sessions, (key + 1) % sessions],
        })
        .collect();
    // Some keys have a single session as their only writer.
    let single: Vec<Option<usize>> = keys
        .iter()
        .map(|users| users.first().copied().filter(|_| random.bool()))
        .collect();
    let mut versions = vec![1; keys.len()];
    let mut sketch = Sketch {
        sessions: vec![Vec::new(); sessions],
    };
    for _ in 0..transactions {
        let session = random.usize(0..sessions);
        let mut operations: Vec<Operation> = Vec::new();
        for _ in 0..random.usize(1..5) {
            let mine: Vec<usize> = (0..keys.len())
                .filter(|&key| keys[key].contains(&session))
                .collect();
            let Some(&key) = mine.get(random.usize(0..mine.len().max(1))) else {
                continue;
            };
            if operations
                .iter()
                .any(|o| o.kind == OperationKind::Write && o.key == key)
            {
                continue;
            }
            if random.bool() && single[key].is_none_or(|only| only == session) {
                operations.push(write(key, versions[key]));
                versions[key] += 1;
            } else {
                let newest = versions[key] - 1;
                let value = if random.u32(0..100) < stale {
                    random.u64(0..=newest)
                } else {
                    newest
                };
                operations.push(read(key, value));
            }
        }
        if !operations.is_empty() {
            sketch.sessions[session].push(Transaction::committed(operations));
        }
    }
    sketch
}

/// Replays an order: session order is kept, every read returns the newest version committed before its transaction
/// started, and at SI no transaction overwrites a version committed since.
fn explains(index: &Index, decision: &Decision, level: Level) -> bool {
    let Decision::Satisfied(order) = decision else {
        return false;
    };
    let steps = order.events();
    let mut newest = vec![NONE; index.n_keys()];
    let mut committed = vec![false; index.n_nodes()];
    let mut snapshot: Vec<Option<Vec<u32>>> = vec![None; index.n_nodes()];
    for (t, commit) in steps {
        let node = t as usize;
        if !commit {
            let is_first = index.position(t) == 0 || committed[node - 1];
            let reads = index
                .reads_of(t)
                .all(|read| newest[index.read_key[read] as usize] == index.read_writer[read]);
            if !is_first || !reads {
                return false;
            }
            snapshot[node] = Some(newest.clone());
            continue;
        }
        let Some(snapshot) = snapshot[node].take() else {
            return false;
        };
        for write in index.writes_of(t) {
            let key = index.write_key[write] as usize;
            if level != Level::PrefixConsistency && newest[key] != snapshot[key] {
                return false;
            }
            newest[key] = t;
        }
        committed[node] = true;
    }
    committed.iter().all(|&committed| committed)
}

/// The verdict from all components, whatever their sizes.
fn decided_apart(index: &Index, level: Level) -> Option<Decision> {
    let components = Component::all(index)?;
    let control = Control::new();
    let mut orders = Vec::new();
    for component in &components {
        let part = component.index(index);
        assert_eq!(part.n_nodes(), component.nodes().len());
        let decision = in_the_whole(component, strong::decide(&part, level, &control).unwrap());
        match decision {
            Decision::Satisfied(order) => orders.push(order),
            violated => return Some(violated),
        }
    }
    Some(Decision::Satisfied(
        join(index, orders.into_iter()).expect("orders of components fit together"),
    ))
}

#[test]
fn components_together_say_what_the_whole_says() {
    let mut random = Rng::with_seed(41);
    let control = Control::new();
    let (mut satisfied, mut violated) = (0, 0);
    for round in 0..6000 {
        let (transactions, stale) = (random.usize(2..12), [0, 10, 30][round % 3]);
        let sketch = sparse(&mut random, transactions, stale);
        let index = common::index(&sketch.history());
        for level in LEVELS {
            let Some(apart) = decided_apart(&index, level) else {
                continue;
            };
            let whole = strong::decide(&index, level, &control).unwrap();
            let asked = decide(&index, level, &control).unwrap();
            let core = cores(&index, level, 1, &control).unwrap().pop();
            if whole.is_violated() {
                violated += 1;
                for found in [&apart, &asked] {
                    let Decision::Violated { core } = found else {
                        panic!("{level} {sketch}")
                    };
                    let again = strong::decide(&index.part(core), level, &control).unwrap();
                    assert!(again.is_violated(), "the core of {level} {sketch}");
                }
                let part = index.part(&core.expect("there is a core"));
                assert!(
                    strong::decide(&part, level, &control)
                        .unwrap()
                        .is_violated(),
                    "{sketch}"
                );
            } else {
                satisfied += 1;
                assert!(explains(&index, &apart, level), "{level} {sketch}");
                assert!(explains(&index, &asked, level), "{level} {sketch}");
                assert_eq!(core, None);
            }
        }
    }
    assert!(satisfied > 2000 && violated > 500, "{satisfied} {violated}");
}

#[test]
fn a_writer_with_many_readers_is_not_copied_for_each_of_them() {
    let (readers, versions) = (200, 300);
    let writes: String = (1..=versions).map(|v| format!(" [w x {v}]")).collect();
    let reads: String = (1..=readers)
        .map(|s| format!("{s}: [r x {}]\n", s % versions))
        .collect();
    let index = index_of(&format!("0:{writes}\n{reads}"));
    let components = Component::all(&index).expect("a star has many components");
    assert_eq!(components.len(), readers);
    let all: usize = components.iter().map(Component::size).sum();
    assert!(all <= 3 * readers + versions, "{all}");
    let nodes: usize = components
        .iter()
        .map(|component| component.nodes().len())
        .sum();
    assert!(nodes <= 3 * readers + versions, "{nodes}");
    let decision = decide(&index, Level::SnapshotIsolation, &Control::new()).unwrap();
    assert!(explains(&index, &decision, Level::SnapshotIsolation));
}

#[test]
fn most_histories_are_not_taken_apart() {
    let dense = index_of("a: [w x 1] [r x 3]\nb: [r x 1, w x 2]\nc: [w x 3]");
    assert!(Component::all(&dense).is_none());
    let one_session = index_of("a: [w x 1] [r x 1, w y 2]");
    assert!(Component::all(&one_session).is_none());
}

#[test]
fn a_violated_component_ends_the_work_on_the_others() {
    let text = "a: [r x 0, w x 1]\nb: [r x 0, w x 2]\nc: [w y 1] [r y 2]\nd: [r y 1, w y 2]";
    let index = index_of(text);
    let components = Component::all(&index).unwrap();
    assert_eq!(components.len(), 2);
    let all: Vec<&Component> = components.iter().collect();
    let control = Control::new();
    let decided = decide_each(&index, &all, Level::SnapshotIsolation, &control);
    assert!(matches!(&decided[0], Ok(Decision::Violated { core }) if core == &[0, 1]));
    assert!(!control.is_stopped());
    control.stop();
    let decided = decide_each(&index, &all, Level::SnapshotIsolation, &control);
    assert!(
        decided
            .iter()
            .all(|decision| *decision == Err(Interrupt::Cancelled))
    );
}
