//! The order of one key by search, if failed comparisons or repeated values leave a choice.
//!
//! Operations are appended one after the other, as in Wing & Gong 1993 with Lowe's memory of failed states. An
//! operation may come next if no other one that must still come had ended when it began. Operations that only observe
//! the key are taken as soon as they may come and fit: that excludes nothing, since they change nothing. So there is a
//! choice only among writes, and a write is not a candidate if it replaces a value that a later read must still observe
//! and that no later write can restore. If each value is written once, that leaves only a choice between blocks. Every
//! failed state is remembered exactly, so memory grows with the work, until the user's memory limit ends the search.

mod steps;

use super::input::{Op, Role};
use crate::control::{Control, Interrupt};
use crate::history::{History, KeyId};
use rustc_hash::FxHashSet;
use steps::{Class, Classes, NOTHING, Step, Tally, UNWRITTEN};

/// How a search ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Searched {
    /// Places of all operations that must come, and of those optional ones that did, in an order that explains them.
    Order(Vec<u32>),
    /// There is none. In the longest attempt, the most urgent of the remaining operations:
    None {
        /// Its place.
        stuck: u32,
    },
}

/// Work between two checks of the control: some tenths of a millisecond.
const WORK_PER_CHECK: u64 = 1 << 14;
/// A point of choice.
struct Frame {
    /// Length of the order.
    len: usize,
    current: Class,
    latest_start: i64,
    /// Writes to try, the best one last.
    choices: Vec<u32>,
}

pub(super) struct Search {
    steps: Vec<Step>,
    classes: Vec<Tally>,
    /// Classes that the initial version reads like.
    initial_classes: Vec<Class>,
    /// Those that must come, by their end.
    by_end: Vec<u32>,
    /// Failed comparisons that must come, by their beginning.
    comparisons: Vec<u32>,
    /// Writes that read nothing, by their beginning.
    writes: Vec<u32>,
    /// By operation: its place in [`by_end`](Self::by_end).
    place_by_end: Vec<u32>,
    /// By operation: its place among the comparisons, the writes, or the readers or swaps of its value.
    place_in_list: Vec<u32>,
    /// By operation: its place in an order that is good except for the comparisons; small numbers are tried first.
    rank: Vec<u32>,
    /// Work done.
    spent: u64,

    done: Vec<bool>,
    order: Vec<u32>,
    /// The optional ones in the order.
    optional_done: Vec<u32>,
    current: Class,
    latest_start: i64,
    first_open: usize,
    first_comparison: usize,
    first_write: usize,
    n_required_done: usize,
    failed: FxHashSet<Box<[u32]>>,
    longest: (usize, u32),
}

impl Search {
    /// For operations of one key; idle ones are left out. `rank` says which writes are tried first.
    pub(super) fn new(history: &History, key: KeyId, ops: &[Op], rank: Vec<u32>) -> Search {
        let mut classes = Classes::new(history, key);
        let steps: Vec<Step> = ops.iter().map(|op| classes.step(op)).collect();
        let (mut tallies, n) = (classes.tallies, steps.len());
        let mut comparisons = Vec::new();
        let mut writes = Vec::new();
        let mut by_end = Vec::new();
        for (place, step) in (0..n as u32).zip(&steps) {
            if ops[place as usize].role == Role::Idle {
                continue;
            }
            if !step.optional {
                by_end.push(place);
            }
            if step.differs != NOTHING {
                comparisons.push(place);
                tallies[step.differs as usize].differs += 1;
            }
            if step.reads != NOTHING {
                let tally = &mut tallies[step.reads as usize];
                tally.wanted += usize::from(!step.optional);
                let list = if step.writes == NOTHING { &mut tally.readers } else { &mut tally.swaps };
                list.push(place);
            } else if step.writes != NOTHING {
                writes.push(place);
            }
            if step.writes != NOTHING {
                tallies[step.writes as usize].supply += 1;
            }
        }
        let start = |place: &u32| steps[*place as usize].start;
        by_end.sort_by_key(|place| steps[*place as usize].end);
        comparisons.sort_by_key(start);
        writes.sort_by_key(start);
        let (mut place_by_end, mut place_in_list) = (vec![0; n], vec![0; n]);
        let number = |list: &[u32], places: &mut [u32]| {
            list.iter().zip(0..).for_each(|(&place, number)| places[place as usize] = number);
        };
        for tally in &mut tallies {
            tally.readers.sort_by_key(start);
            tally.swaps.sort_by_key(start);
            number(&tally.readers, &mut place_in_list);
            number(&tally.swaps, &mut place_in_list);
        }
        number(&by_end, &mut place_by_end);
        number(&comparisons, &mut place_in_list);
        number(&writes, &mut place_in_list);
        let initial_classes = (0..).zip(&tallies).filter(|(_, tally)| tally.initial).map(|(class, _)| class).collect();
        Search {
            steps,
            classes: tallies,
            initial_classes,
            by_end,
            comparisons,
            writes,
            place_by_end,
            place_in_list,
            rank,
            spent: 0,
            done: vec![false; n],
            order: Vec::with_capacity(n),
            optional_done: Vec::new(),
            current: UNWRITTEN,
            latest_start: i64::MIN,
            first_open: 0,
            first_comparison: 0,
            first_write: 0,
            n_required_done: 0,
            failed: FxHashSet::default(),
            longest: (0, 0),
        }
    }

    /// Searches. Exponential in the number of writes that overlap in the worst case.
    ///
    /// # Errors
    /// [`Interrupt`] when `control` ends the work first.
    pub(super) fn run(mut self, control: &Control) -> Result<Searched, Interrupt> {
        self.settle();
        let mut next_check = WORK_PER_CHECK;
        let mut frames: Vec<Frame> = Vec::new();
        let mut is_new = true;
        loop {
            if self.n_required_done == self.by_end.len() {
                return Ok(Searched::Order(self.order));
            }
            if self.spent >= next_check {
                control.check()?;
                next_check = self.spent + WORK_PER_CHECK;
            }
            if is_new {
                let choices = if self.is_known_to_fail() { Vec::new() } else { self.choices() };
                frames.push(self.frame(choices));
            }
            let Some(frame) = frames.last_mut() else { return Ok(Searched::None { stuck: self.longest.1 }) };
            match frame.choices.pop() {
                Some(write) => {
                    let (len, current, latest_start) = (frame.len, frame.current, frame.latest_start);
                    self.back_to(len, current, latest_start);
                    self.put(write);
                    self.settle();
                    is_new = true;
                }
                None => {
                    let (len, current, latest_start) = (frame.len, frame.current, frame.latest_start);
                    self.back_to(len, current, latest_start);
                    self.remember_failure();
                    frames.pop();
                    is_new = false;
                }
            }
        }
    }

    fn frame(&self, choices: Vec<u32>) -> Frame {
        Frame { len: self.order.len(), current: self.current, latest_start: self.latest_start, choices }
    }

    fn spend(&mut self, work: usize) {
        self.spent += work as u64 + 1;
    }

    /// The earliest end of the operations that must still come.
    fn first_end(&mut self) -> i64 {
        while self.by_end.get(self.first_open).is_some_and(|&place| self.done[place as usize]) {
            self.first_open += 1;
        }
        self.by_end.get(self.first_open).map_or(i64::MAX, |&place| self.steps[place as usize].end)
    }

    /// Whether the current value reads as `class`.
    fn is(&self, class: Class) -> bool {
        match self.current {
            UNWRITTEN => self.classes[class as usize].initial,
            current => current == class,
        }
    }

    /// The classes that the current value reads as.
    fn current_classes(&self) -> &[Class] {
        match self.current {
            UNWRITTEN => &self.initial_classes,
            _ => std::slice::from_ref(&self.current),
        }
    }

    /// Takes everything that may come next and only observes.
    fn settle(&mut self) {
        loop {
            let before = self.order.len();
            let first_end = self.first_end();
            self.take_comparisons(first_end);
            for nth in 0..self.current_classes().len() {
                let class = self.current_classes()[nth];
                self.take_readers(class, first_end);
            }
            if self.order.len() == before {
                return;
            }
        }
    }

    fn take_comparisons(&mut self, first_end: i64) {
        while self.comparisons.get(self.first_comparison).is_some_and(|&place| self.done[place as usize]) {
            self.first_comparison += 1;
        }
        let mut at = self.first_comparison;
        while let Some(&place) =
            self.comparisons.get(at).filter(|&&place| self.steps[place as usize].start <= first_end)
        {
            if !self.done[place as usize] && !self.is(self.steps[place as usize].differs) {
                self.put(place);
            }
            at += 1;
        }
        self.spend(at - self.first_comparison);
    }

    fn take_readers(&mut self, class: Class, first_end: i64) {
        loop {
            let tally = &self.classes[class as usize];
            let Some(&place) = tally.readers.get(tally.next_reader) else { return };
            if self.steps[place as usize].start > first_end {
                return;
            }
            self.classes[class as usize].next_reader += 1;
            if !self.done[place as usize] {
                self.put(place);
            }
        }
    }

    /// Appends an operation.
    fn put(&mut self, place: u32) {
        let step = self.steps[place as usize];
        self.spend(0);
        self.done[place as usize] = true;
        self.order.push(place);
        match step.optional {
            true => self.optional_done.push(place),
            false => self.n_required_done += 1,
        }
        self.latest_start = self.latest_start.max(step.start);
        if step.reads != NOTHING {
            self.classes[step.reads as usize].wanted -= usize::from(!step.optional);
        }
        if step.writes != NOTHING {
            self.classes[step.writes as usize].supply -= 1;
            self.current = step.writes;
        }
    }

    /// Removes operations again.
    fn back_to(&mut self, len: usize, current: Class, latest_start: i64) {
        while self.order.len() > len {
            let Some(place) = self.order.pop() else { break };
            let step = self.steps[place as usize];
            self.done[place as usize] = false;
            if step.optional {
                self.optional_done.pop();
            } else {
                self.n_required_done -= 1;
                self.first_open = self.first_open.min(self.place_by_end[place as usize] as usize);
            }
            let in_list = self.place_in_list[place as usize] as usize;
            match (step.reads, step.writes) {
                (NOTHING, NOTHING) => self.first_comparison = self.first_comparison.min(in_list),
                (NOTHING, _) => self.first_write = self.first_write.min(in_list),
                _ => {}
            }
            if step.reads != NOTHING {
                let tally = &mut self.classes[step.reads as usize];
                tally.wanted += usize::from(!step.optional);
                match step.writes {
                    NOTHING => tally.next_reader = tally.next_reader.min(in_list),
                    _ => tally.next_swap = tally.next_swap.min(in_list),
                }
            }
            if step.writes != NOTHING {
                self.classes[step.writes as usize].supply += 1;
            }
        }
        self.current = current;
        self.latest_start = latest_start;
    }

    /// The writes that may come next, the best one last.
    fn choices(&mut self) -> Vec<u32> {
        let first_end = self.first_end();
        if self.order.len() >= self.longest.0 {
            self.longest = (self.order.len(), self.by_end.get(self.first_open).copied().unwrap_or_default());
        }
        while self.writes.get(self.first_write).is_some_and(|&place| self.done[place as usize]) {
            self.first_write += 1;
        }
        for nth in 0..self.current_classes().len() {
            let class = self.current_classes()[nth] as usize;
            let tally = &mut self.classes[class];
            while tally.swaps.get(tally.next_swap).is_some_and(|&place| self.done[place as usize]) {
                tally.next_swap += 1;
            }
        }
        let is_early = |place: &&u32| self.steps[**place as usize].start <= first_end;
        let blind = self.writes[self.first_write..].iter().take_while(is_early);
        let swaps = self.current_classes().iter().flat_map(|&class| {
            let tally = &self.classes[class as usize];
            tally.swaps[tally.next_swap..].iter().take_while(is_early)
        });
        // Operations that may come but have not are blocked by the current value.
        let is_waiting = |place: &u32| !self.done[*place as usize];
        let is_blocked = self.comparisons[self.first_comparison..].iter().take_while(is_early).any(is_waiting);
        let mut seen = 0;
        let mut choices: Vec<u32> = Vec::new();
        for &place in blind.chain(swaps) {
            seen += 1;
            if !self.done[place as usize] && self.is_sensible(place, is_blocked) {
                choices.push(place);
            }
        }
        self.spend(seen);
        self.without_equals(&mut choices);
        choices.sort_by_key(|&place| {
            let step = &self.steps[place as usize];
            std::cmp::Reverse((step.optional, self.rank[place as usize], step.end, place))
        });
        choices
    }

    /// Whether a write may come next without making it impossible that all come.
    fn is_sensible(&self, place: u32, is_blocked: bool) -> bool {
        let step = &self.steps[place as usize];
        let is_useful = || is_blocked || self.is_of_use(step);
        if step.optional && (step.end < self.latest_start || !is_useful()) {
            return false;
        }
        self.current_classes().iter().all(|&class| {
            let tally = &self.classes[class as usize];
            let taken = usize::from(step.reads == class && !step.optional);
            tally.wanted == taken || step.writes == class || tally.supply > 0
        })
    }

    /// Whether a read may observe what an optional write makes.
    fn is_of_use(&self, step: &Step) -> bool {
        let tally = &self.classes[step.writes as usize];
        tally.wanted > 0 || tally.swaps[tally.next_swap..].iter().any(|&place| !self.done[place as usize])
    }

    /// Keeps one of several optional writes that are equivalent.
    fn without_equals(&self, choices: &mut Vec<u32>) {
        let mut seen: FxHashSet<(Class, Class)> = FxHashSet::default();
        choices.retain(|&place| {
            let step = &self.steps[place as usize];
            if !step.optional || step.end < i64::MAX {
                return true;
            }
            let tally = &self.classes[step.writes as usize];
            let matters = self.is_of_use(step) || tally.differs > 0;
            let written = if matters { step.writes } else { NOTHING };
            seen.insert((step.reads, written))
        });
    }

    /// A unique encoding of the state: the current value, and which operations have come.
    fn state(&mut self) -> Box<[u32]> {
        self.first_end();
        let mut state = vec![self.current, self.first_open as u32];
        let mut left = self.n_required_done - self.first_open;
        let mut at = self.first_open;
        while left > 0 {
            if self.done[self.by_end[at] as usize] {
                state.push(at as u32);
                left -= 1;
            }
            at += 1;
        }
        if !self.optional_done.is_empty() {
            state.push(u32::MAX);
            let from = state.len();
            state.extend(&self.optional_done);
            state[from..].sort_unstable();
        }
        self.spend(at - self.first_open + self.optional_done.len());
        state.into_boxed_slice()
    }

    fn is_known_to_fail(&mut self) -> bool {
        !self.failed.is_empty() && {
            let state = self.state();
            self.failed.contains(&state)
        }
    }

    fn remember_failure(&mut self) {
        let state = self.state();
        self.failed.insert(state);
    }
}
