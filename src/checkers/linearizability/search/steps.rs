//! Operations as the search sees them, and the queues that they wait in.

use super::super::input::Op;
use crate::history::{History, KeyId, Value};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The number of a value of a key; `UNWRITTEN` represents the initial version.
pub(super) type Class = u32;
pub(super) const UNWRITTEN: Class = u32::MAX;

/// How one value of a key is used.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Whether the initial version reads like this.
    pub(super) initial: bool,
    /// Readers and swaps that must still come.
    pub(super) wanted: usize,
    /// Readers and swaps that may still come.
    pub(super) readers: usize,
    /// Writes of it that may still come.
    pub(super) supply: usize,
    /// Failed comparisons with it that must still come.
    pub(super) differs: usize,
}

/// An operation as the search sees it.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) key: u32,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) reads: Option<Class>,
    pub(super) differs: Option<Class>,
    pub(super) writes: Option<Class>,
    pub(super) optional: bool,
    pub(super) rank: u32,
}

impl Step {
    /// Adds it to those that may still come, or removes it.
    pub(super) fn count(&self, tallies: &mut [Tally], comes: bool) {
        let change = |number: &mut usize| *number = if comes { *number + 1 } else { *number - 1 };
        if let Some(class) = self.reads {
            change(&mut tallies[class as usize].readers);
            if !self.optional {
                change(&mut tallies[class as usize].wanted);
            }
        }
        if let Some(class) = self.differs {
            change(&mut tallies[class as usize].differs);
        }
        if let Some(class) = self.writes {
            change(&mut tallies[class as usize].supply);
        }
    }
}

/// These operations in as few chains as possible, in each of which every one ended before the next began.
pub(super) fn chains(ops: &[Op], mut places: Vec<u32>) -> Vec<Vec<u32>> {
    places.sort_by_key(|&place| (ops[place as usize].start, place));
    let mut chains: Vec<Vec<u32>> = Vec::new();
    let mut ends: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
    for place in places {
        let op = &ops[place as usize];
        let free = ends.peek().filter(|Reverse((end, _))| *end < op.start).map(|Reverse((_, chain))| *chain);
        let chain = free.unwrap_or(chains.len());
        match free {
            Some(_) => drop(ends.pop()),
            None => chains.push(Vec::new()),
        }
        chains[chain].push(place);
        ends.push(Reverse((op.end, chain)));
    }
    chains
}

/// By place in a queue: the earliest end of those that must come from there on.
pub(super) fn first_ends(steps: &[Step], queue: &[u32]) -> Vec<i64> {
    let mut ends = vec![i64::MAX; queue.len() + 1];
    for (at, &place) in queue.iter().enumerate().rev() {
        let step = &steps[place as usize];
        ends[at] = if step.optional { ends[at + 1] } else { step.end.min(ends[at + 1]) };
    }
    ends
}

/// Numbers for keys and values.
pub(super) struct Numbers<'a> {
    history: &'a History,
    pub(super) keys: FxHashMap<KeyId, u32>,
    pub(super) classes: FxHashMap<(KeyId, Value), Class>,
    pub(super) tallies: Vec<Tally>,
}

impl<'a> Numbers<'a> {
    pub(super) fn new(history: &'a History) -> Numbers<'a> {
        Numbers { history, keys: FxHashMap::default(), classes: FxHashMap::default(), tallies: Vec::new() }
    }

    /// By key: the classes that the initial version reads like.
    pub(super) fn initial(&self) -> Vec<Vec<Class>> {
        let mut initial = vec![Vec::new(); self.keys.len()];
        for ((key, _), &class) in &self.classes {
            if self.tallies[class as usize].initial {
                initial[self.keys[key] as usize].push(class);
            }
        }
        initial.iter_mut().for_each(|classes| classes.sort_unstable());
        initial
    }

    pub(super) fn step(&mut self, op: &Op, rank: u32) -> Step {
        let key = op.key(self.history);
        let n_keys = self.keys.len() as u32;
        let number = *self.keys.entry(key).or_insert(n_keys);
        let effect = op.effect(self.history);
        let mut class = |value: Option<Value>| {
            value.map(|value| {
                let next = self.tallies.len() as Class;
                let class = *self.classes.entry((key, value)).or_insert(next);
                if class == next {
                    let initial = self.history.may_be_initial(key, value);
                    self.tallies.push(Tally { initial, ..Tally::default() });
                }
                class
            })
        };
        Step {
            key: number,
            start: op.start,
            end: op.end,
            reads: class(effect.reads),
            differs: class(effect.differs),
            writes: class(effect.writes),
            optional: op.optional,
            rank,
        }
    }
}
