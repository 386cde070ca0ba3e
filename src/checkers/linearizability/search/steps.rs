//! Operations of one key as the search sees them.

use super::super::input::Op;
use crate::history::{History, KeyId, Value};
use rustc_hash::FxHashMap;

/// The number of a value; 0 represents the initial version while nothing has been written.
pub(super) type Class = u32;
pub(super) const UNWRITTEN: Class = 0;
/// No value.
pub(super) const NOTHING: Class = u32::MAX;

/// How one value is used.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Whether the initial version reads like this.
    pub(super) initial: bool,
    /// Those that only read it, by their beginning.
    pub(super) readers: Vec<u32>,
    /// All before this place have come.
    pub(super) next_reader: usize,
    /// Those that swap it for another value, by their beginning.
    pub(super) swaps: Vec<u32>,
    /// All before this place have come.
    pub(super) next_swap: usize,
    /// Readers and swaps that must still come.
    pub(super) wanted: usize,
    /// Writes of it that may still come.
    pub(super) supply: usize,
    /// Failed comparisons with it.
    pub(super) differs: usize,
}

/// An operation as the search sees it.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) reads: Class,
    pub(super) differs: Class,
    pub(super) writes: Class,
    pub(super) optional: bool,
}

/// Numbers for values.
pub(super) struct Classes<'a> {
    history: &'a History,
    key: KeyId,
    numbers: FxHashMap<Value, Class>,
    pub(super) tallies: Vec<Tally>,
}

impl<'a> Classes<'a> {
    pub(super) fn new(history: &'a History, key: KeyId) -> Classes<'a> {
        // Class 0 is a state of the key, not a value.
        Classes { history, key, numbers: FxHashMap::default(), tallies: vec![Tally::default()] }
    }

    fn of(&mut self, value: Option<Value>) -> Class {
        let Some(value) = value else { return NOTHING };
        let next = self.tallies.len() as Class;
        let class = *self.numbers.entry(value).or_insert(next);
        if class == next {
            let initial = self.history.may_be_initial(self.key, value);
            self.tallies.push(Tally { initial, ..Tally::default() });
        }
        class
    }

    pub(super) fn step(&mut self, op: &Op) -> Step {
        let effect = op.effect(self.history);
        let (reads, differs, writes) = (self.of(effect.reads), self.of(effect.differs), self.of(effect.writes));
        Step { start: op.start, end: op.end, reads, differs, writes, optional: op.optional }
    }
}
