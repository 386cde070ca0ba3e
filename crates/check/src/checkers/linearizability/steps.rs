//! Operations as the search sees them, and the queues that they wait in.

use super::input::Op;
use isoscope_model::history::{History, KeyId, Value};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The number of a value of a key.
pub(super) type Class = u32;
/// In place of a class: the initial version.
pub(super) const UNWRITTEN: Class = u32::MAX;
/// In place of a class: a value that nothing reads.
pub(super) const OTHER: Class = u32::MAX - 1;

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
        let free = ends
            .peek()
            .filter(|Reverse((end, _))| *end < op.start)
            .map(|Reverse((_, chain))| *chain);
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
        ends[at] = if step.optional {
            ends[at + 1]
        } else {
            step.end.min(ends[at + 1])
        };
    }
    ends
}

/// Operations as steps.
pub(super) struct Steps {
    /// By place.
    pub(super) steps: Vec<Step>,
    /// By class: how it is used; nothing is counted yet.
    pub(super) tallies: Vec<Tally>,
    /// By class.
    values: Vec<Value>,
    /// By key: the classes that the initial version reads like.
    pub(super) initial: Vec<Vec<Class>>,
}

impl Steps {
    /// Numbers the keys and values of some operations, each with its rank. O(operations).
    pub(super) fn new(history: &History, ops: &[Op], rank: impl Fn(usize) -> u32) -> Steps {
        let mut keys: FxHashMap<KeyId, u32> = FxHashMap::default();
        let mut classes: FxHashMap<(KeyId, Value), Class> = FxHashMap::default();
        let mut found = Steps {
            steps: Vec::with_capacity(ops.len()),
            tallies: Vec::new(),
            values: Vec::new(),
            initial: Vec::new(),
        };
        for (place, op) in ops.iter().enumerate() {
            let key = op.key(history);
            let number = *keys.entry(key).or_insert(found.initial.len() as u32);
            if number as usize == found.initial.len() {
                found.initial.push(Vec::new());
            }
            let mut class = |value: Option<Value>| {
                value.map(|value| {
                    let next = found.tallies.len() as Class;
                    let class = *classes.entry((key, value)).or_insert(next);
                    if class == next {
                        let initial = history.may_be_initial(key, value);
                        found.values.push(value);
                        found.tallies.push(Tally {
                            initial,
                            ..Tally::default()
                        });
                        found.initial[number as usize].extend(initial.then_some(class));
                    }
                    class
                })
            };
            let effect = op.effect(history);
            found.steps.push(Step {
                key: number,
                start: op.start,
                end: op.end,
                reads: class(effect.reads),
                differs: class(effect.differs),
                writes: class(effect.writes),
                optional: op.optional,
                rank: rank(place),
            });
        }
        found
    }

    /// The classes of some values.
    pub(super) fn classes_of(&self, is_one: impl Fn(Value) -> bool) -> Vec<Class> {
        (0..)
            .zip(&self.values)
            .filter(|(_, value)| is_one(**value))
            .map(|(class, _)| class)
            .collect()
    }
}
