//! Random small histories, the same for the same seed.
//!
//! Two families: *wild* ones, in which reads return anything, and *near-valid* ones, which come out of a simulated store
//! with a little trouble injected. Near-valid histories are the hard ones for a checker: most violate a strong level
//! only, and few lines away lies the same history satisfied.

use super::sketch::{Operation, Sketch, Transaction, read, write};
use fastrand::Rng;
use isoscope_model::history::{Builder, History, OperationKind, Origin, Outcome, Value};
use rayon::prelude::*;

/// What may occur in a random history.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Most transactions.
    pub transactions: usize,
    /// Most operations of a transaction.
    pub operations: usize,
    /// Most keys.
    pub keys: usize,
    /// Most sessions.
    pub sessions: usize,
    /// Whether a value may be written to a key more than once.
    pub repeated_values: bool,
    /// Nothing aborts and single reads make sense, so that what is wrong is wrong between transactions.
    pub clean: bool,
}

impl Shape {
    /// Everything may happen.
    pub const SMALL: Shape = Shape {
        transactions: 5,
        operations: 4,
        keys: 3,
        sessions: 4,
        repeated_values: false,
        clean: false,
    };
    /// For the strong levels: more transactions, all committed.
    pub const CLEAN: Shape = Shape {
        transactions: 7,
        operations: 4,
        keys: 3,
        sessions: 5,
        repeated_values: false,
        clean: true,
    };
    /// Values repeat.
    pub const AMBIGUOUS: Shape = Shape {
        transactions: 5,
        operations: 3,
        keys: 2,
        sessions: 4,
        repeated_values: true,
        clean: false,
    };
}

/// Histories of a comparison that a tenth must not go below.
const FEWEST: u64 = 150;

/// Failures shown in full.
const SHOWN: usize = 3;

fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Seeds of a tenth of `n` histories, but of at least 150 where `n` is more: what breaks at once shows in a first
/// run. `ISOSCOPE_SEED` asks for other histories, and for all `n`; `ISOSCOPE_HISTORIES` for another number.
pub fn seeds(n: u64) -> std::ops::Range<u64> {
    let n = if is_first_run() {
        n.div_ceil(10).max(n.min(FEWEST))
    } else {
        n
    };
    let first = number_of("ISOSCOPE_SEED").unwrap_or(0);
    first..first + number_of("ISOSCOPE_HISTORIES").unwrap_or(n)
}

/// Whether tests need only show what breaks at once: unless `ISOSCOPE_SEED` is set.
pub fn is_first_run() -> bool {
    number_of("ISOSCOPE_SEED").is_none()
}

/// Whether a run takes this one of many cases that are not drawn at random: every tenth in a first run, else all.
pub fn is_chosen(number: u64) -> bool {
    number.is_multiple_of(10) || !is_first_run()
}

/// How many histories [`seeds`] asks for instead of `n`.
pub fn n_of(n: u64) -> u64 {
    let seeds = seeds(n);
    seeds.end - seeds.start
}

/// What must be found at least, where all `n` histories would show `least` of it.
pub fn share(least: u64, n: u64) -> u64 {
    least * n_of(n).min(n) / n
}

/// Runs `test` on `n` histories of a shape, in parallel, and shows the first failures; which ones, [`seeds`] says.
pub fn for_histories(shape: Shape, n: u64, test: impl Fn(&Sketch) -> Result<(), String> + Sync) {
    for_seeds(n, |seed| {
        let sketch = sketch(shape, seed);
        test(&sketch).map_err(|problem| format!("{sketch}{problem}"))
    });
}

/// As `for_histories`, for tests that make their histories themselves.
pub fn for_seeds(n: u64, test: impl Fn(u64) -> Result<(), String> + Sync) {
    let (seeds, n) = (seeds(n), n_of(n));
    let failures: Vec<String> = seeds
        .into_par_iter()
        .filter_map(|seed| Some(format!("seed {seed}\n{}\n", test(seed).err()?)))
        .collect();
    let shown = failures[..failures.len().min(SHOWN)].join("\n");
    assert!(
        failures.is_empty(),
        "{} of {n} histories fail, for example:\n\n{shown}",
        failures.len()
    );
}

/// The history of this seed.
pub fn sketch(shape: Shape, seed: u64) -> Sketch {
    let mut rng = Rng::with_seed(seed);
    if shape.clean {
        let model = [
            Model::Snapshot,
            Model::Prefix,
            Model::Prefix,
            Model::Causal,
            Model::Causal,
            Model::Atomic,
        ];
        let mut sketch = simulate(shape, model[rng.usize(0..model.len())], &mut rng);
        if rng.u8(0..3) == 0 {
            another_version(&mut sketch, &mut rng);
        }
        return sketch;
    }
    let mut sketch = match rng.u8(0..8) {
        0 => wild(shape, &mut rng),
        model => simulate(
            shape,
            Model::ALL[usize::from(model) % Model::ALL.len()],
            &mut rng,
        ),
    };
    for _ in 0..[0, 0, 1, 1, 2][rng.usize(0..5)] {
        trouble(&mut sketch, &mut rng);
    }
    if shape.repeated_values {
        repeat_values(&mut sketch, &mut rng);
    }
    sketch
}

/// A few short transactions in which anything may happen; values are often, but not always, written once.
pub fn anything(rng: &mut Rng) -> History {
    let mut builder = Builder::new(Origin::default());
    if rng.u8(0..4) > 0 {
        builder.initial_value(Value(0));
    }
    let n_keys = rng.u64(1..4);
    let n_values = rng.u64(1..6);
    for _ in 0..rng.usize(1..7) {
        let session = builder.session_number(rng.u64(0..3));
        let outcome = match rng.u8(0..8) {
            0 => Outcome::Aborted,
            1 => Outcome::Unknown,
            _ => Outcome::Committed,
        };
        let draft = builder.transaction(session, outcome);
        for _ in 0..rng.usize(0..5) {
            let key = builder.key_number(rng.u64(0..n_keys));
            let write = rng.bool();
            let value = match rng.u8(0..20) {
                0 if !write => Value::INITIAL,
                1 if !write => Value::UNRECORDED,
                _ => Value(rng.u64(0..n_values + 1)),
            };
            let kind = if write {
                OperationKind::Write
            } else {
                OperationKind::Read
            };
            builder.operation(draft, kind, key, value, 0);
        }
    }
    builder.finish().expect("small histories fit")
}

fn empty(n_sessions: usize) -> Sketch {
    Sketch {
        sessions: vec![Vec::new(); n_sessions],
    }
}

fn outcome(rng: &mut Rng) -> Outcome {
    match rng.u8(0..24) {
        0 | 1 => Outcome::Aborted,
        2 | 3 => Outcome::Unknown,
        _ => Outcome::Committed,
    }
}

/// Writes are numbered, reads return any number written to the key by anybody, the initial value, or thin air.
fn wild(shape: Shape, rng: &mut Rng) -> Sketch {
    let mut sketch = empty(rng.usize(1..=shape.sessions));
    let keys = rng.usize(1..=shape.keys);
    let mut next = vec![1; keys];
    for _ in 0..rng.usize(2..=shape.transactions) {
        let mut operations = Vec::new();
        for _ in 0..rng.usize(1..=shape.operations) {
            let key = rng.usize(0..keys);
            if rng.bool() {
                operations.push(write(key, next[key]));
                next[key] += 1;
            } else {
                operations.push(read(key, 0));
            }
        }
        let session = rng.usize(0..sketch.sessions.len());
        sketch.sessions[session].push(Transaction {
            outcome: outcome(rng),
            operations,
        });
    }
    for operation in sketch
        .operations_mut()
        .filter(|o| o.kind == OperationKind::Read)
    {
        let thin_air = u64::from(rng.u8(0..20) == 0);
        operation.value = Value(rng.u64(0..next[operation.key] + thin_air));
    }
    sketch
}

/// How the simulated store chooses what a transaction sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Model {
    /// The state when it commits: transactions run one after the other.
    Serial,
    /// A snapshot; of two overlapping writers of a key the second aborts.
    Snapshot,
    /// A snapshot, without a look at conflicts.
    Prefix,
    /// A set of transactions closed under causes, that grows with the session.
    Causal,
    /// All or nothing of each transaction, chosen again by every transaction.
    Atomic,
    /// Any committed version for each read.
    Committed,
}

impl Model {
    const ALL: [Model; 6] = [
        Model::Serial,
        Model::Snapshot,
        Model::Prefix,
        Model::Causal,
        Model::Atomic,
        Model::Committed,
    ];
}

/// What the store remembers of a committed transaction.
struct Record {
    session: usize,
    writes: Vec<(usize, u64)>,
    /// Places of the transactions it saw.
    seen: Vec<usize>,
}

/// Runs transactions in commit order against a store that keeps all versions.
fn simulate(shape: Shape, model: Model, rng: &mut Rng) -> Sketch {
    let mut sketch = empty(rng.usize(1..=shape.sessions));
    let keys = rng.usize(1..=shape.keys);
    let mut next = vec![1; keys];
    let mut log: Vec<Record> = Vec::new();
    // Where transactions either read or write, long forks are the first thing to go wrong.
    let split = shape.clean && rng.bool();
    let fewest = if shape.clean {
        shape.transactions - 2
    } else {
        2
    };
    for _ in 0..rng.usize(fewest..=shape.transactions) {
        let session = rng.usize(0..sketch.sessions.len());
        let mut seen = visible(&log, session, model, rng);
        let mut operations: Vec<Operation> = Vec::new();
        let writes_of_five = if split { [0, 5][rng.usize(0..2)] } else { 2 };
        for _ in 0..rng.usize(1..=shape.operations) {
            let key = rng.usize(0..keys);
            let wrote = operations
                .iter()
                .any(|o| o.kind == OperationKind::Write && o.key == key);
            if rng.u8(0..5) < writes_of_five && !(shape.clean && wrote) {
                operations.push(write(key, next[key]));
                next[key] += 1;
                continue;
            }
            if model == Model::Committed {
                seen.extend((0..log.len()).filter(|_| rng.u8(0..3) == 0));
                seen.sort_unstable();
                seen.dedup();
            }
            let own = operations
                .iter()
                .rev()
                .find(|o| o.kind == OperationKind::Write && o.key == key);
            let value = own.map_or_else(|| newest(&log, &seen, key), |o| o.value.0);
            operations.push(read(key, value));
        }
        let mut writes: Vec<(usize, u64)> = Vec::new();
        for o in operations.iter().filter(|o| o.kind == OperationKind::Write) {
            writes.retain(|(key, _)| *key != o.key);
            writes.push((o.key, o.value.0));
        }
        let mut outcome = if shape.clean {
            Outcome::Committed
        } else {
            outcome(rng)
        };
        let overwrites = |place: &usize| {
            log[*place]
                .writes
                .iter()
                .any(|(k, _)| writes.iter().any(|(l, _)| k == l))
        };
        if model == Model::Snapshot
            && (0..log.len())
                .filter(|place| !seen.contains(place))
                .any(|p| overwrites(&p))
        {
            outcome = Outcome::Aborted;
        }
        // Half of the transactions of unknown outcome took effect.
        if outcome == Outcome::Committed || (outcome == Outcome::Unknown && rng.bool()) {
            log.push(Record {
                session,
                writes,
                seen,
            });
        }
        sketch.sessions[session].push(Transaction {
            outcome,
            operations,
        });
    }
    sketch
}

/// The places of the log that a new transaction of `session` sees.
fn visible(log: &[Record], session: usize, model: Model, rng: &mut Rng) -> Vec<usize> {
    let own = (0..log.len()).filter(|&p| log[p].session == session);
    match model {
        Model::Serial => (0..log.len()).collect(),
        Model::Snapshot | Model::Prefix => {
            let oldest = own
                .flat_map(|p| log[p].seen.iter().copied().chain([p]))
                .max()
                .map_or(0, |p| p + 1);
            (0..rng.usize(oldest..=log.len())).collect()
        }
        Model::Causal => {
            let mut seen: Vec<usize> = own
                .chain((0..log.len()).filter(|_| rng.u8(0..3) == 0))
                .collect();
            let causes: Vec<usize> = seen
                .iter()
                .flat_map(|&p| log[p].seen.iter().copied())
                .collect();
            seen.extend(causes);
            seen.sort_unstable();
            seen.dedup();
            seen
        }
        Model::Atomic => {
            let mut seen: Vec<usize> = own.chain((0..log.len()).filter(|_| rng.bool())).collect();
            seen.sort_unstable();
            seen.dedup();
            seen
        }
        Model::Committed => (0..log.len()).filter(|_| rng.bool()).collect(),
    }
}

fn newest(log: &[Record], seen: &[usize], key: usize) -> u64 {
    let writes = seen.iter().rev().flat_map(|&p| &log[p].writes);
    writes
        .filter(|(k, _)| *k == key)
        .map(|(_, value)| *value)
        .next()
        .unwrap_or(0)
}

/// Something goes wrong in one place.
fn trouble(sketch: &mut Sketch, rng: &mut Rng) {
    let fresh = sketch.fresh_value();
    let mut reads: Vec<&mut Operation> = sketch
        .operations_mut()
        .filter(|o| o.kind == OperationKind::Read)
        .collect();
    match rng.u8(0..16) {
        0..9 => another_version(sketch, rng),
        9 if !reads.is_empty() => {
            let place = rng.usize(0..reads.len());
            reads[place].value =
                [Value(fresh), Value::INITIAL, Value::UNRECORDED, Value(0)][rng.usize(0..4)];
        }
        10 => {
            let changed = outcome(rng);
            let all = sketch.transactions().count();
            if let Some(transaction) = sketch.transactions_mut().nth(rng.usize(0..all.max(1))) {
                transaction.outcome = changed;
            }
        }
        // Neighbouring operations of a transaction change places.
        11..14 => {
            let all = sketch.transactions().count();
            if let Some(transaction) = sketch.transactions_mut().nth(rng.usize(0..all.max(1))) {
                let n = transaction.operations.len();
                if n > 1 {
                    let at = rng.usize(0..n - 1);
                    transaction.operations.swap(at, at + 1);
                }
            }
        }
        // A session loses its order, or two sessions become one.
        14 => {
            let session = rng.usize(0..sketch.sessions.len());
            rng.shuffle(&mut sketch.sessions[session]);
        }
        _ => {
            let session = rng.usize(0..sketch.sessions.len());
            let moved = std::mem::take(&mut sketch.sessions[session]);
            let other = rng.usize(0..sketch.sessions.len());
            sketch.sessions[other].extend(moved);
        }
    }
}

/// A read returns another version of its key: stale, from the future, intermediate, aborted or initial.
fn another_version(sketch: &mut Sketch, rng: &mut Rng) {
    let written: Vec<Operation> = sketch
        .operations_mut()
        .filter(|o| o.kind == OperationKind::Write)
        .map(|o| *o)
        .collect();
    let mut reads: Vec<&mut Operation> = sketch
        .operations_mut()
        .filter(|o| o.kind == OperationKind::Read)
        .collect();
    if reads.is_empty() {
        return;
    }
    let place = rng.usize(0..reads.len());
    let key = reads[place].key;
    let mut values: Vec<Value> = written
        .iter()
        .filter(|o| o.key == key)
        .map(|o| o.value)
        .collect();
    values.push(Value(0));
    reads[place].value = values[rng.usize(0..values.len())];
}

/// Makes some writes write what another write of their key wrote, or the initial value.
fn repeat_values(sketch: &mut Sketch, rng: &mut Rng) {
    let written: Vec<Operation> = sketch
        .operations_mut()
        .filter(|o| o.kind == OperationKind::Write)
        .map(|o| *o)
        .collect();
    for _ in 0..rng.usize(1..=2) {
        let mut writes: Vec<&mut Operation> = sketch
            .operations_mut()
            .filter(|o| o.kind == OperationKind::Write)
            .collect();
        if writes.is_empty() {
            return;
        }
        let place = rng.usize(0..writes.len());
        let same: Vec<Value> = written
            .iter()
            .filter(|o| o.key == writes[place].key)
            .map(|o| o.value)
            .collect();
        writes[place].value = if rng.u8(0..3) == 0 {
            Value(0)
        } else {
            same[rng.usize(0..same.len())]
        };
    }
}
