//! All small histories, each once up to symmetry.
//!
//! A *shape* says which sessions there are, how many transactions each has, and what kind of operation on which of two keys
//! is where. In a shape every read ranges over the initial version, every write of its key anywhere in the history,
//! and thin air. Written values are numbered in the order of the file, so names of values do not count; what is left are the
//! names of the keys and the order of the sessions. Of all histories that differ in these only, the one with the
//! smallest encoding is generated.

use super::sketch::{Operation, Sketch, Transaction, read, write};

/// A read or write of key 0 or 1: kind × 2 + key, writes are 2 and 3.
type Step = u8;

/// Transactions of these steps.
type Steps = Vec<Step>;

/// Sessions of transactions.
#[derive(Clone, Debug)]
pub struct Shape {
    sessions: Vec<Vec<Steps>>,
    /// The renamings that leave the shape as it is, but for the one that changes nothing: by operation, its new place.
    symmetries: Vec<Vec<usize>>,
    /// By operation.
    steps: Steps,
}

/// What a read returns.
const INITIAL: u8 = 0;
/// The write at place p is read as p + 1.
const THIN_AIR: u8 = u8::MAX;

fn is_read(step: Step) -> bool {
    step < 2
}

/// All sequences of 1 to `most` steps.
fn transactions(most: usize) -> Vec<Steps> {
    let mut all: Vec<Steps> = Vec::new();
    let mut longest: Vec<Steps> = vec![Vec::new()];
    for _ in 0..most {
        longest = longest
            .iter()
            .flat_map(|t| (0..4).map(move |step| [t.as_slice(), &[step]].concat()))
            .collect();
        all.extend_from_slice(&longest);
    }
    all
}

/// All permutations of `0..n`.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    (0..n).fold(vec![Vec::new()], |shorter, last| {
        let inserted = |p: &Vec<usize>| {
            let p = p.clone();
            (0..=last).map(move |at| [&p[..at], &[last], &p[at..]].concat())
        };
        shorter.iter().flat_map(inserted).collect()
    })
}

/// All shapes of exactly `n` transactions of at most `most` operations, each once up to the names of keys and the order of
/// sessions.
pub fn shapes(n: usize, most: usize) -> Vec<Shape> {
    let transactions = transactions(most);
    let lengths: &[&[usize]] = match n {
        1 => &[&[1]],
        2 => &[&[2], &[1, 1]],
        _ => &[&[3], &[2, 1], &[1, 1, 1]],
    };
    let mut all = Vec::new();
    for lengths in lengths {
        for number in 0..transactions.len().pow(n as u32) {
            let mut rest = number;
            let mut next = || {
                let transaction = transactions[rest % transactions.len()].clone();
                rest /= transactions.len();
                transaction
            };
            let sessions = lengths
                .iter()
                .map(|&length| (0..length).map(|_| next()).collect())
                .collect();
            all.extend(Shape::canonical(sessions));
        }
    }
    all
}

impl Shape {
    /// The shape, unless renaming makes it smaller.
    fn canonical(sessions: Vec<Vec<Steps>>) -> Option<Shape> {
        let flat = |sessions: &[Vec<Steps>]| -> Steps {
            sessions.iter().flatten().flatten().copied().collect()
        };
        let mut symmetries = Vec::new();
        for order in permutations(sessions.len()) {
            for swap in [0, 1] {
                let renamed: Vec<Vec<Steps>> = order
                    .iter()
                    .map(|&s| {
                        sessions[s]
                            .iter()
                            .map(|t| t.iter().map(|step| step ^ swap).collect())
                            .collect()
                    })
                    .collect();
                if renamed < sessions {
                    return None;
                }
                let is_identity = swap == 0 && order.windows(2).all(|two| two[0] < two[1]);
                if renamed == sessions && !is_identity {
                    symmetries.push(moved(&sessions, &order));
                }
            }
        }
        let steps = flat(&sessions);
        Some(Shape {
            sessions,
            symmetries,
            steps,
        })
    }

    /// Calls `visit` with every history of the shape that has at most `thin_air` reads of values that no transaction wrote.
    pub fn histories(&self, thin_air: usize, mut visit: impl FnMut(&Reads)) {
        let choices: Vec<Vec<u8>> = self
            .steps
            .iter()
            .map(|&step| self.choices(step, thin_air > 0))
            .collect();
        let mut place = vec![0; self.steps.len()];
        let mut number = 0;
        loop {
            let returned: Vec<u8> = place.iter().zip(&choices).map(|(&at, of)| of[at]).collect();
            let reads = Reads { returned, number };
            if reads.returned.iter().filter(|&&r| r == THIN_AIR).count() <= thin_air
                && self.is_smallest(&reads)
            {
                visit(&reads);
                number += 1;
            }
            let Some(last) = (0..place.len())
                .rev()
                .find(|&at| place[at] + 1 < choices[at].len())
            else {
                return;
            };
            place[last] += 1;
            place[last + 1..].fill(0);
        }
    }

    /// What a step may return; one entry for writes.
    fn choices(&self, step: Step, thin_air: bool) -> Vec<u8> {
        if !is_read(step) {
            return vec![INITIAL];
        }
        let writes = (0..self.steps.len())
            .filter(|&at| self.steps[at] == step + 2)
            .map(|at| at as u8 + 1);
        [INITIAL]
            .into_iter()
            .chain(writes)
            .chain(thin_air.then_some(THIN_AIR))
            .collect()
    }

    fn is_smallest(&self, reads: &Reads) -> bool {
        self.symmetries.iter().all(|moved| {
            let mut renamed = vec![INITIAL; moved.len()];
            for (at, &to) in moved.iter().enumerate() {
                renamed[to] = match reads.returned[at] {
                    special @ (INITIAL | THIN_AIR) => special,
                    write => moved[write as usize - 1] as u8 + 1,
                };
            }
            renamed >= reads.returned
        })
    }

    /// The history.
    pub fn sketch(&self, reads: &Reads) -> Sketch {
        let mut written = [0u64; 2];
        let mut value = vec![0u64; self.steps.len()];
        for (at, &step) in self
            .steps
            .iter()
            .enumerate()
            .filter(|(_, step)| !is_read(**step))
        {
            let key = step as usize % 2;
            written[key] += 1;
            value[at] = written[key];
        }
        let mut at = 0;
        let mut operation = |step: Step| -> Operation {
            let key = step as usize % 2;
            at += 1;
            match reads.returned[at - 1] {
                _ if !is_read(step) => write(key, value[at - 1]),
                INITIAL => read(key, 0),
                THIN_AIR => read(key, 99),
                place => read(key, value[place as usize - 1]),
            }
        };
        let mut transaction =
            |steps: &Steps| Transaction::committed(steps.iter().map(|&s| operation(s)).collect());
        let mut session =
            |transactions: &Vec<Steps>| transactions.iter().map(&mut transaction).collect();
        Sketch {
            sessions: self.sessions.iter().map(&mut session).collect(),
        }
    }
}

/// By operation: its place when the sessions stand in this order.
fn moved(sessions: &[Vec<Steps>], order: &[usize]) -> Vec<usize> {
    let length = |s: usize| sessions[s].iter().map(Vec::len).sum::<usize>();
    let mut begin = vec![0; sessions.len()];
    let mut next = 0;
    for &s in order {
        begin[s] = next;
        next += length(s);
    }
    (0..sessions.len())
        .flat_map(|s| (0..length(s)).map(|at| begin[s] + at).collect::<Vec<_>>())
        .collect()
}

/// What the reads of a shape return.
#[derive(Clone, Debug)]
pub struct Reads {
    returned: Vec<u8>,
    /// Number of the history among those of its shape.
    pub number: u64,
}
