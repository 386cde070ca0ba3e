//! Random histories for engines that may assume that no read is wrong by itself and that session order and reads form no
//! cycle. A transaction reads first, each key once, and then writes; every transaction writes a value of its own.

use super::sketch::{Operation, Sketch, Transaction, read, write};
use fastrand::Rng;
use std::collections::BTreeSet;

/// Sizes of a history.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub transactions: usize,
    pub sessions: usize,
    pub operations: usize,
    pub keys: usize,
    pub write_percent: u32,
}

/// Sessions a to d: both orders of the two writers of x fail, no order follows from a single rule.
pub const CASE_SPLIT_GRID: &str = "a: [w y 1, w z 1] [r x 1, r w 1]
    b: [w y 2, w w 1] [r x 2, r z 1]
    c: [w x 1, w u 1] [r y 1, r v 1]
    d: [w x 2, w v 1] [r y 2, r u 1]";

/// A few transactions on three keys.
pub fn few(rng: &mut Rng) -> Sketch {
    let transactions = rng.usize(3..7);
    let shape = Shape {
        transactions,
        sessions: 4,
        operations: 4,
        keys: 3,
        write_percent: rng.u32(35..65),
    };
    backwards(shape, rng)
}

/// Between two and the most transactions, whose reads return any version written before in a hidden order.
pub fn backwards(shape: Shape, rng: &mut Rng) -> Sketch {
    let transactions = rng.usize(2..=shape.transactions);
    run(
        Shape {
            transactions,
            ..shape
        },
        rng,
        |versions, rng| versions[rng.usize(..versions.len())],
    )
}

/// What a store that runs transactions one after the other returns.
pub fn serial(shape: Shape, rng: &mut Rng) -> Sketch {
    run(shape, rng, |versions, _| versions[versions.len() - 1])
}

/// `choose` says which of the versions so far, the newest last, a read returns.
fn run(shape: Shape, rng: &mut Rng, choose: impl Fn(&[u64], &mut Rng) -> u64) -> Sketch {
    let mut sketch = Sketch {
        sessions: vec![Vec::new(); shape.sessions],
    };
    let mut versions = vec![vec![0]; shape.keys];
    for value in 1..=shape.transactions as u64 {
        let (mut reads, mut writes): (Vec<Operation>, BTreeSet<usize>) = Default::default();
        for _ in 0..rng.usize(1..=shape.operations) {
            let key = rng.usize(..shape.keys);
            if rng.u32(..100) < shape.write_percent {
                writes.insert(key);
            } else if reads.iter().all(|read| read.key != key) {
                reads.push(read(key, choose(&versions[key], rng)));
            }
        }
        writes.iter().for_each(|&key| versions[key].push(value));
        reads.extend(writes.into_iter().map(|key| write(key, value)));
        sketch.sessions[rng.usize(..shape.sessions)].push(Transaction::committed(reads));
    }
    sketch
}
