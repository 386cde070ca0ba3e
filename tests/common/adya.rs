//! The third opinion, on the strong levels: all orders of versions, and a graph for each.
//!
//! Adya's graph of a history has an edge for SO, WR, WW and RW, given an order of the versions of every key. A level is
//! satisfied if some choice of orders leaves it without forbidden cycles: at SER and SSER without any (RT included at SSER;
//! MTC, Definition 5), at SI without cycles of (SO ∪ WR ∪ WW) ; RW? (PolySI, Theorem 6), at PC of ((SO ∪ WR) ; RW?) ∪ WW.
//! This has nothing in common with the commit orders of [`oracle`](super::oracle) but how reads find their writers. For at
//! most some hundred thousand orders.

use super::oracle::{BOTTOM, Choice, Observation};
use isoscope::history::{History, Outcome, TransactionId};
use std::collections::BTreeSet;

/// Most orders of versions that are tried.
const MOST: usize = 400_000;

/// PC, SI, SER, SSER. `None` where there are lists, or too many orders.
pub(crate) fn verdicts(history: &History) -> Option<[bool; 4]> {
    if !history.lists().is_empty() {
        return None;
    }
    let observation = Observation::of(history);
    let mut satisfied = [false; 4];
    for choice in observation
        .choices()
        .iter()
        .filter(|choice| choice.letters.is_empty())
    {
        let dependencies = Dependencies::new(history, &observation, choice);
        if dependencies.n_orders()? > 0 {
            dependencies.try_orders(&mut satisfied);
        }
    }
    Some(satisfied)
}

/// A relation on few things.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Relation(Vec<u64>);

impl Relation {
    fn new(n: usize) -> Relation {
        Relation(vec![0; n])
    }

    fn add(&mut self, a: usize, b: usize) {
        self.0[a] |= 1 << b;
    }

    fn has(&self, a: usize, b: usize) -> bool {
        self.0[a] & (1 << b) != 0
    }

    fn or(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    /// self ; other
    fn then(&self, other: &Relation) -> Relation {
        let n = self.0.len();
        let row = |a: usize| {
            (0..n)
                .filter(|&b| self.has(a, b))
                .fold(0, |row, b| row | other.0[b])
        };
        Relation((0..n).map(row).collect())
    }

    fn is_acyclic(&self) -> bool {
        let n = self.0.len();
        let mut closed = self.clone();
        for via in 0..n {
            for a in 0..n {
                if closed.has(a, via) {
                    closed.0[a] |= closed.0[via];
                }
            }
        }
        !(0..n).any(|a| closed.has(a, a))
    }
}

struct Dependencies {
    n: usize,
    session_order: Relation,
    write_read: Relation,
    real_time: Relation,
    /// (key, writer, reader)
    reads: Vec<(usize, usize, usize)>,
    /// By key: its writers.
    writers: Vec<Vec<usize>>,
}

impl Dependencies {
    fn new(history: &History, observation: &Observation, choice: &Choice) -> Dependencies {
        let members: Vec<usize> = (0..choice.active.len())
            .filter(|&t| choice.active[t])
            .collect();
        let n = members.len();
        let number = |t: usize| {
            if t == BOTTOM {
                BOTTOM
            } else {
                members.binary_search(&t).expect("it is active")
            }
        };
        let all = || (0..n).map(|t| &observation.transactions[members[t]]);
        let n_keys = all()
            .flat_map(|t| &t.operations)
            .map(|o| o.key + 1)
            .max()
            .unwrap_or(0);
        let mut made = Dependencies {
            n,
            session_order: Relation::new(n),
            write_read: Relation::new(n),
            real_time: Relation::new(n),
            reads: Vec::new(),
            writers: (0..n_keys)
                .map(|key| {
                    (0..n)
                        .filter(|&t| observation.transactions[members[t]].writes(key))
                        .collect()
                })
                .collect(),
        };
        let interval =
            |t: usize| history.interval(TransactionId::new(observation.place[members[t]]));
        for (a, first) in all().enumerate() {
            for (b, second) in all().enumerate() {
                if a < b && first.session == second.session {
                    made.session_order.add(a, b);
                }
                let has_ended = first.outcome == Outcome::Committed;
                if let (true, Some(of_a), Some(of_b)) = (has_ended, interval(a), interval(b))
                    && of_a.end < of_b.start
                {
                    made.real_time.add(a, b);
                }
            }
            for (at, operation) in first.operations.iter().enumerate() {
                if let Some(writer) = choice.source[members[a]][at].map(number) {
                    made.reads.push((operation.key, writer, a));
                    if writer != BOTTOM {
                        made.write_read.add(writer, a);
                    }
                }
            }
        }
        made
    }

    /// How many orders there are; `None` for too many.
    fn n_orders(&self) -> Option<usize> {
        let of_key = |writers: &Vec<usize>| (1..=writers.len()).product::<usize>();
        let all = self
            .writers
            .iter()
            .map(of_key)
            .fold(1, usize::saturating_mul);
        (all <= MOST).then_some(all)
    }

    fn try_orders(&self, satisfied: &mut [bool; 4]) {
        let orders: Vec<Vec<Vec<usize>>> = self
            .writers
            .iter()
            .map(|writers| permutations(writers))
            .collect();
        let mut place = vec![0; orders.len()];
        loop {
            let chosen: Vec<&[usize]> = place
                .iter()
                .zip(&orders)
                .map(|(&at, of)| of[at].as_slice())
                .collect();
            for (all, one) in satisfied.iter_mut().zip(self.levels(&chosen)) {
                *all |= one;
            }
            let Some(next) = (0..place.len()).find(|&at| place[at] + 1 < orders[at].len()) else {
                return;
            };
            if *satisfied == [true; 4] {
                return;
            }
            place[next] += 1;
            place[..next].fill(0);
        }
    }

    /// What an order of the versions of each key satisfies.
    fn levels(&self, orders: &[&[usize]]) -> [bool; 4] {
        let (mut ww, mut rw) = (Relation::new(self.n), Relation::new(self.n));
        for order in orders {
            for (at, &older) in order.iter().enumerate() {
                order[at + 1..]
                    .iter()
                    .for_each(|&newer| ww.add(older, newer));
            }
        }
        for &(key, writer, reader) in &self.reads {
            let after = orders[key]
                .iter()
                .position(|&w| w == writer)
                .map_or(0, |at| at + 1);
            let newer: BTreeSet<usize> = orders[key][after..]
                .iter()
                .copied()
                .filter(|&w| w != reader)
                .collect();
            newer.into_iter().for_each(|w| rw.add(reader, w));
        }
        let causal = self.session_order.or(&self.write_read);
        let dependencies = causal.or(&ww);
        let or_then = |first: &Relation| first.or(&first.then(&rw));
        let serial = dependencies.or(&rw);
        [
            or_then(&causal).or(&ww).is_acyclic(),
            or_then(&dependencies).is_acyclic(),
            serial.is_acyclic(),
            serial.or(&self.real_time).is_acyclic(),
        ]
    }
}

fn permutations(of: &[usize]) -> Vec<Vec<usize>> {
    of.iter().fold(vec![Vec::new()], |shorter, &last| {
        let inserted = |p: &Vec<usize>| {
            let p = p.clone();
            (0..=p.len()).map(move |at| [&p[..at], &[last], &p[at..]].concat())
        };
        shorter.iter().flat_map(inserted).collect()
    })
}
