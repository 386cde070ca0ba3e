//! The order of operations by search, if failed comparisons or repeated values leave a choice on a key, or overlapping
//! transactions of a session connect several keys.
//!
//! Operations are appended one after the other, as in Wing & Gong 1993 with Lowe's memory of failed states. They are in
//! queues: an operation may come next if it is first in its queue, or preceded only by some of unknown outcome that then
//! never took effect, and if no other one that must still come had ended when it began. A queue is a session. On a key
//! alone sessions do not count, and a queue is a chain of operations of which each ended before the next began, which
//! real time orders anyway: there are as many chains as operations that ran at once.
//!
//! Operations that only observe are taken as soon as they may come and fit, unless that excludes another operation: they
//! change nothing. So there is a choice only among writes, and a write is not a candidate if it replaces a value that a
//! later read must still observe and that no later write can restore. Every failed state is remembered exactly, so
//! memory grows with the work, until the user's memory limit ends the search.

use super::input::{Op, Role};
use super::steps::{Class, Step, Steps, Tally, UNWRITTEN, chains, first_ends};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::History;
use rustc_hash::FxHashSet;
use std::cmp::Reverse;

/// How a search ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SearchOutcome {
    /// Places of all operations that must come, and of those optional ones that did, in an order that explains them.
    Order(Vec<u32>),
    /// There is none. In the longest attempt, the most urgent of the remaining operations:
    None {
        /// Its place.
        stuck: u32,
    },
    /// The budget was used up.
    TooMuch,
}

/// Work between two checks of the control: some tenths of a millisecond.
const WORK_PER_CHECK: u64 = 1 << 14;

/// What comes next.
#[derive(Clone, Copy)]
enum Move {
    /// The step at this place of a queue; those before it never come.
    Queued(u32, u32),
    /// A step that is in no queue.
    Free(u32),
}

/// What a move changed.
struct Done {
    moved: Move,
    /// The previous start of its queue.
    begin: u32,
    /// The value of its key.
    there: Class,
}

/// A point of choice.
struct Frame {
    /// Length of the order.
    len: usize,
    /// Moves to try, the best one last.
    choices: Vec<Move>,
}

/// A search for an order of operations that respects real time and queues.
pub(super) struct OrderSearch {
    steps: Vec<Step>,
    classes: Vec<Tally>,
    /// By key: the classes that the initial version reads like.
    initial: Vec<Vec<Class>>,
    /// Steps in an order that they must keep.
    queues: Vec<Vec<u32>>,
    /// By queue and place in it: the earliest end of those that must come from there on.
    first_ends: Vec<Vec<i64>>,
    /// Steps in no queue that may come or not.
    free: Vec<u32>,
    budget: Option<u64>,
    spent: u64,

    /// By queue: its start.
    next: Vec<u32>,
    is_free_done: Vec<bool>,
    /// By key.
    current: Vec<Class>,
    order: Vec<Done>,
    n_left: usize,
    failed: FxHashSet<Box<[u32]>>,
    longest: (usize, u32),
}

impl OrderSearch {
    /// Of operations of any keys in the queues of their sessions, each with the rank that says which writes are tried
    /// first. Loose ones are in no queue: optional writes that heed no session, and no end.
    pub(super) fn of_sessions(
        history: &History,
        ops: &[Op],
        is_loose: impl Fn(usize) -> bool,
        rank: impl Fn(usize) -> u32,
        budget: Option<u64>,
    ) -> OrderSearch {
        let (free, mut queued): (Vec<u32>, Vec<u32>) =
            (0..ops.len() as u32).partition(|&p| is_loose(p as usize));
        queued.sort_by_key(|&place| ops[place as usize].transaction);
        let session = |place: &u32| history.session_of(ops[*place as usize].transaction);
        let queues = queued
            .chunk_by(|a, b| session(a) == session(b))
            .map(<[u32]>::to_vec)
            .collect();
        OrderSearch::new(history, ops, queues, free, rank, budget)
    }

    /// Of operations of one key, regardless of sessions, each with the rank that says which writes are tried first. Idle
    /// ones are left out.
    pub(super) fn of_key(
        history: &History,
        ops: &[Op],
        rank: impl Fn(usize) -> u32,
    ) -> OrderSearch {
        let counts = |place: &u32| ops[*place as usize].role != Role::Idle;
        let (free, queued) = (0..ops.len() as u32)
            .filter(counts)
            .partition(|&place| ops[place as usize].optional);
        OrderSearch::new(history, ops, chains(ops, queued), free, rank, None)
    }

    fn new(
        history: &History,
        ops: &[Op],
        queues: Vec<Vec<u32>>,
        mut free: Vec<u32>,
        rank: impl Fn(usize) -> u32,
        budget: Option<u64>,
    ) -> OrderSearch {
        let Steps {
            steps,
            mut tallies,
            initial,
            ..
        } = Steps::new(history, ops, rank);
        let mut n_left = 0;
        for place in queues.iter().flatten().chain(&free) {
            let step = &steps[*place as usize];
            n_left += usize::from(!step.optional);
            step.count(&mut tallies, true);
        }
        free.sort_by_key(|&place| (steps[place as usize].start, place));
        let first_ends = queues
            .iter()
            .map(|queue| first_ends(&steps, queue))
            .collect();
        OrderSearch {
            classes: tallies,
            first_ends,
            budget,
            spent: 0,
            next: vec![0; queues.len()],
            is_free_done: vec![false; free.len()],
            current: vec![UNWRITTEN; initial.len()],
            initial,
            order: Vec::with_capacity(steps.len()),
            n_left,
            failed: FxHashSet::default(),
            longest: (0, 0),
            steps,
            queues,
            free,
        }
    }

    /// Searches. Exponential in the number of writes that overlap in the worst case.
    ///
    /// # Errors
    /// [`Interrupt`] when `control` ends the work first.
    pub(super) fn run(mut self, control: &Control) -> Result<SearchOutcome, Interrupt> {
        self.settle();
        let mut next_check = WORK_PER_CHECK;
        let mut frames: Vec<Frame> = Vec::new();
        let mut is_new = true;
        loop {
            if self.n_left == 0 {
                return Ok(SearchOutcome::Order(
                    self.order
                        .iter()
                        .map(|done| self.place_of(done.moved))
                        .collect(),
                ));
            }
            if self.budget.is_some_and(|budget| self.spent >= budget) {
                return Ok(SearchOutcome::TooMuch);
            }
            if self.spent >= next_check {
                control.check()?;
                next_check = self.spent + WORK_PER_CHECK;
            }
            if is_new {
                let choices = if self.is_known_to_fail() {
                    Vec::new()
                } else {
                    self.choices()
                };
                frames.push(Frame {
                    len: self.order.len(),
                    choices,
                });
            }
            let Some(frame) = frames.last_mut() else {
                return Ok(SearchOutcome::None {
                    stuck: self.longest.1,
                });
            };
            let (len, choice) = (frame.len, frame.choices.pop());
            self.back_to(len);
            is_new = choice.is_some();
            match choice {
                Some(choice) => {
                    self.make(choice);
                    self.settle();
                }
                None => {
                    let state = self.state();
                    self.failed.insert(state);
                    frames.pop();
                }
            }
        }
    }

    fn place_of(&self, moved: Move) -> u32 {
        match moved {
            Move::Queued(queue, at) => self.queues[queue as usize][at as usize],
            Move::Free(nth) => self.free[nth as usize],
        }
    }

    fn step(&self, moved: Move) -> &Step {
        &self.steps[self.place_of(moved) as usize]
    }

    /// The earliest end of the operations that must still come.
    fn first_end(&self) -> i64 {
        let ends = self
            .first_ends
            .iter()
            .zip(&self.next)
            .map(|(ends, &next)| ends[next as usize]);
        ends.min().unwrap_or(i64::MAX)
    }

    /// Whether the current value of a key reads as one.
    fn is(&self, key: u32, class: Class) -> bool {
        match self.current[key as usize] {
            UNWRITTEN => self.classes[class as usize].initial,
            current => current == class,
        }
    }

    /// The classes that the current value of a key reads as.
    fn current_classes(&self, key: u32) -> &[Class] {
        match &self.current[key as usize] {
            &UNWRITTEN => &self.initial[key as usize],
            current => std::slice::from_ref(current),
        }
    }

    fn fits(&self, step: &Step) -> bool {
        step.reads.is_none_or(|class| self.is(step.key, class))
            && !step.differs.is_some_and(|class| self.is(step.key, class))
    }

    /// Takes everything that may come next, only observes, and excludes nothing.
    fn settle(&mut self) {
        loop {
            let before = self.order.len();
            let mut first_end = self.first_end();
            for queue in 0..self.queues.len() {
                while let Some(&place) = self.queues[queue].get(self.next[queue] as usize) {
                    let step = &self.steps[place as usize];
                    if step.optional
                        || step.writes.is_some()
                        || step.start > first_end
                        || !self.fits(step)
                    {
                        break;
                    }
                    let was_first = step.end == first_end;
                    self.make(Move::Queued(queue as u32, self.next[queue]));
                    if was_first {
                        first_end = self.first_end();
                    }
                }
            }
            self.spent += self.queues.len() as u64;
            if self.order.len() == before {
                return;
            }
        }
    }

    /// Appends an operation.
    fn make(&mut self, moved: Move) {
        self.spent += 1;
        let step = *self.step(moved);
        let mut begin = 0;
        match moved {
            Move::Queued(queue, at) => {
                let next = &mut self.next[queue as usize];
                begin = std::mem::replace(next, at + 1);
                for &left_out in &self.queues[queue as usize][begin as usize..at as usize] {
                    self.steps[left_out as usize].count(&mut self.classes, false);
                }
            }
            Move::Free(nth) => self.is_free_done[nth as usize] = true,
        }
        step.count(&mut self.classes, false);
        self.n_left -= usize::from(!step.optional);
        let there = self.current[step.key as usize];
        self.current[step.key as usize] = step.writes.unwrap_or(there);
        self.order.push(Done {
            moved,
            begin,
            there,
        });
    }

    /// Removes operations again.
    fn back_to(&mut self, len: usize) {
        while self.order.len() > len {
            let Some(Done {
                moved,
                begin,
                there,
            }) = self.order.pop()
            else {
                break;
            };
            let step = *self.step(moved);
            self.current[step.key as usize] = there;
            self.n_left += usize::from(!step.optional);
            step.count(&mut self.classes, true);
            match moved {
                Move::Queued(queue, at) => {
                    for &left_out in &self.queues[queue as usize][begin as usize..at as usize] {
                        self.steps[left_out as usize].count(&mut self.classes, true);
                    }
                    self.next[queue as usize] = begin;
                }
                Move::Free(nth) => self.is_free_done[nth as usize] = false,
            }
        }
    }

    /// The operation that must still come and ends first.
    fn most_urgent(&self, first_end: i64) -> u32 {
        let is_first = |place: &u32| {
            let step = &self.steps[*place as usize];
            !step.optional && step.end == first_end
        };
        let ends = self
            .first_ends
            .iter()
            .zip(&self.next)
            .map(|(ends, &next)| ends[next as usize]);
        let queue = ends
            .into_iter()
            .position(|end| end == first_end)
            .unwrap_or_default();
        let left = self
            .next
            .get(queue)
            .map_or(&[][..], |&next| &self.queues[queue][next as usize..]);
        left.iter().copied().find(is_first).unwrap_or_default()
    }

    /// What may come next, the best one last.
    fn choices(&mut self) -> Vec<Move> {
        let first_end = self.first_end();
        if self.order.len() >= self.longest.0 {
            self.longest = (self.order.len(), self.most_urgent(first_end));
        }
        let mut choices: Vec<Move> = Vec::new();
        let mut seen = 0;
        for (number, queue) in (0..).zip(&self.queues) {
            for at in self.next[number as usize]..queue.len() as u32 {
                seen += 1;
                let step = &self.steps[queue[at as usize] as usize];
                // Operations that only observe have come by now, or do not fit, unless they exclude another operation.
                if step.start <= first_end && self.fits(step) && self.is_sensible(step) {
                    choices.push(Move::Queued(number, at));
                }
                if !step.optional {
                    break;
                }
            }
        }
        let mut alike: FxHashSet<(u32, Option<Class>, Option<Class>)> = FxHashSet::default();
        for (nth, &place) in (0..).zip(&self.free) {
            let step = &self.steps[place as usize];
            if step.start > first_end {
                break;
            }
            seen += 1;
            let may_come =
                !self.is_free_done[nth as usize] && self.fits(step) && self.is_sensible(step);
            if may_come && alike.insert((step.key, step.reads, step.writes)) {
                choices.push(Move::Free(nth));
            }
        }
        self.spent += seen;
        choices.sort_by_key(|&choice| {
            let step = self.step(choice);
            Reverse((step.optional, step.rank, step.end, self.place_of(choice)))
        });
        choices
    }

    /// Whether an operation may come next without making it impossible that all come.
    fn is_sensible(&self, step: &Step) -> bool {
        let Some(written) = step.writes else {
            return true;
        };
        let there = self.current_classes(step.key);
        let tally = |class: &Class| &self.classes[*class as usize];
        // An optional write is useful only for its readers, or for a comparison that waits for another value.
        let is_useful =
            || tally(&written).readers > 0 || there.iter().any(|class| tally(class).differs > 0);
        if step.optional && !is_useful() {
            return false;
        }
        there.iter().all(|class| {
            let taken = usize::from(step.reads == Some(*class) && !step.optional);
            tally(class).wanted == taken || written == *class || tally(class).supply > 0
        })
    }

    fn is_known_to_fail(&mut self) -> bool {
        !self.failed.is_empty() && {
            let state = self.state();
            self.failed.contains(&state)
        }
    }

    /// A unique encoding of the state: where the queues begin, the values, and the free ones that came.
    fn state(&mut self) -> Box<[u32]> {
        let free = (0..)
            .zip(&self.is_free_done)
            .filter(|(_, is_done)| **is_done)
            .map(|(nth, _)| nth);
        let state: Box<[u32]> = self
            .next
            .iter()
            .chain(&self.current)
            .copied()
            .chain(free)
            .collect();
        self.spent += state.len() as u64 / 8;
        state
    }
}
