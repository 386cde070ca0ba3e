//! An order of single operations that keeps session order and explains every read, where values repeat and no order in
//! real time does.
//!
//! What happened is rarely far from real time: one session read something stale, and the others went on. So an order is
//! built from the front, one write after the other, by several attempts at once (a beam search). An attempt is how far each
//! session has come, and the values that are there; an operation that only observes takes effect as soon as it fits, since
//! it changes nothing. Of all attempts with as many writes those are kept in which the sessions lag least behind. Where all
//! end, more are kept from some way before on. What is found is an order; finding none proves nothing.

use super::input::{Keyed, ran};
use super::steps::{Class, Step, Steps, UNWRITTEN};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, OperationId, TransactionId};
use isoscope_model::relations::Resolution;
use rustc_hash::FxHashSet;

/// Attempts kept at first, and at most.
const FEWEST: usize = 16;
const MOST: usize = 1 << 12;
/// Numbers held for all that the attempts lead to.
const MOST_NUMBERS: usize = 1 << 23;
/// Writes between two places to return to.
const STRIDE: usize = 32;
/// Attempts looked at in all: for each operation of a short history and of a long one, and where short ends.
const MANY_LOOKS: usize = 4096;
const FEW_LOOKS: usize = 256;
const MOST_OF_SHORT: usize = 1 << 22;

/// An order of the committed transactions, and of some of unknown outcome, that keeps session order and in which each read
/// returns the value last written. The history must consist of lightweight transactions; failed comparisons do not count.
/// `None` if none is found with the work that is allowed.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(in crate::checkers) fn order_in_sessions(
    history: &History,
    resolution: &Resolution,
    control: &Control,
) -> Result<Option<Vec<TransactionId>>, Interrupt> {
    let mut keyed = Keyed::by_value(history, resolution);
    keyed.leave_out_comparisons();
    let ops = keyed.all();
    let mut by_time: Vec<u32> = (0..ops.len() as u32).collect();
    by_time.sort_by_cached_key(|&place| {
        let t = ops[place as usize].transaction;
        let interval = ran(history, t);
        let end = if interval.end == i64::MAX {
            interval.start
        } else {
            interval.end
        };
        let first = history.operation_range(t).start;
        (
            i128::from(interval.start) + i128::from(end),
            history.line_of(OperationId::new(first)),
            place,
        )
    });
    let mut rank = vec![0; ops.len()];
    (0..)
        .zip(&by_time)
        .for_each(|(nth, &place)| rank[place as usize] = nth);
    let steps = Steps::new(history, ops, |place| rank[place]);
    let mut queues: Vec<Vec<u32>> = vec![Vec::new(); history.n_sessions()];
    (0..)
        .zip(ops)
        .for_each(|(place, op)| queues[history.session_of(op.transaction).index()].push(place));
    queues
        .iter_mut()
        .for_each(|queue| queue.sort_by_key(|&place| ops[place as usize].transaction));
    queues.retain(|queue| !queue.is_empty());
    let n_required = ops.iter().filter(|op| !op.optional).count();
    let found = Beam {
        steps: &steps,
        queues: &queues,
        n_required,
        log: vec![(0, 0)],
        left: 0,
    }
    .search(control)?;
    let Some(order) = found else { return Ok(None) };
    Ok(Some(
        order
            .into_iter()
            .map(|place| ops[place as usize].transaction)
            .collect(),
    ))
}

/// A beginning of an order.
#[derive(Clone)]
struct Attempt {
    /// By session: how many of its operations are over.
    next: Box<[u32]>,
    /// By key.
    values: Box<[Class]>,
    /// How many operations are over, and how many of them had to come.
    over: u32,
    required: u32,
    /// By how many places, in order of time, its sessions lag behind.
    lag: i64,
    /// The last entry of the log.
    log: u32,
}

/// How far sessions have come, and the values of keys.
type Reached = (Box<[u32]>, Box<[Class]>);

struct Beam<'a> {
    steps: &'a Steps,
    queues: &'a [Vec<u32>],
    n_required: usize,
    /// The sessions whose operations took effect or were left out, each with the entry before it and whether it took effect.
    log: Vec<(u32, u32)>,
    /// How many attempts may still be looked at.
    left: usize,
}

impl Beam<'_> {
    fn search(mut self, control: &Control) -> Result<Option<Vec<u32>>, Interrupt> {
        let n = self.steps.steps.len();
        self.left = (MANY_LOOKS * n).min(MOST_OF_SHORT).max(FEW_LOOKS * n);
        let numbers = self.queues.len() * (self.queues.len() + self.steps.initial.len());
        let most = MOST.min(MOST_NUMBERS / numbers.max(1));
        if most < FEWEST {
            return Ok(None);
        }
        let mut now = vec![self.first()];
        let mut kept: Vec<(usize, Vec<Attempt>)> = Vec::new();
        let (mut depth, mut width, mut until) = (0usize, FEWEST, 0);
        loop {
            control.check()?;
            if let Some(end) = now
                .iter()
                .find(|attempt| attempt.required as usize == self.n_required)
            {
                return Ok(Some(self.order(end)));
            }
            if now.is_empty() {
                // From twice as far back each time.
                width *= 4;
                let back = depth.saturating_sub(STRIDE * width / FEWEST);
                kept.truncate(kept.partition_point(|&(at, _)| at <= back).max(1));
                until = depth + 4 * STRIDE;
                match kept.last() {
                    Some((at, attempts)) if width <= most => (depth, now) = (*at, attempts.clone()),
                    _ => return Ok(None),
                }
            } else if depth.is_multiple_of(STRIDE) && kept.last().is_none_or(|&(at, _)| at < depth)
            {
                kept.push((depth, now.clone()));
            }
            if depth > until {
                width = FEWEST;
            }
            // One more look for every few numbers that are copied.
            let looks = now.len() * self.queues.len() * (1 + self.queues.len() / 16);
            let Some(left) = self.left.checked_sub(looks) else {
                return Ok(None);
            };
            self.left = left;
            now = self.after(&now, width);
            depth += 1;
        }
    }

    fn first(&self) -> Attempt {
        let next = vec![0; self.queues.len()].into();
        let values = vec![UNWRITTEN; self.steps.initial.len()].into();
        let mut first = Attempt {
            next,
            values,
            over: 0,
            required: 0,
            lag: 0,
            log: 0,
        };
        self.observe(&mut first);
        first
    }

    /// The attempts with one more write that lag least.
    fn after(&mut self, now: &[Attempt], width: usize) -> Vec<Attempt> {
        let mut known: FxHashSet<Reached> = FxHashSet::default();
        let mut after: Vec<Attempt> = Vec::new();
        for attempt in now {
            for session in 0..self.queues.len() {
                let Some(&step) = self.next(attempt, session) else {
                    continue;
                };
                for takes_effect in [true, false] {
                    // The last of a session need not be left out: it may just not come.
                    let is_last =
                        || attempt.next[session] as usize + 1 == self.queues[session].len();
                    let may = if takes_effect {
                        self.fits(attempt, &step)
                    } else {
                        step.optional && !is_last()
                    };
                    if !may {
                        continue;
                    }
                    let mut next = attempt.clone();
                    self.pass(&mut next, session, takes_effect);
                    self.observe(&mut next);
                    if known.insert((next.next.clone(), next.values.clone())) {
                        self.log
                            .push((attempt.log, (session as u32) << 1 | u32::from(takes_effect)));
                        next.log = self.log.len() as u32 - 1;
                        after.push(next);
                    }
                }
            }
        }
        if after.len() > width {
            after.select_nth_unstable_by_key(width, |attempt| (attempt.lag, attempt.log));
            after.truncate(width);
        }
        after
    }

    fn next(&self, attempt: &Attempt, session: usize) -> Option<&Step> {
        let &place = self.queues[session].get(attempt.next[session] as usize)?;
        Some(&self.steps.steps[place as usize])
    }

    /// Whether it finds what it read.
    fn fits(&self, attempt: &Attempt, step: &Step) -> bool {
        let value = attempt.values[step.key as usize];
        step.reads.is_none_or(|class| {
            value == class || value == UNWRITTEN && self.steps.tallies[class as usize].initial
        })
    }

    /// The next operation of a session takes effect, or is left out.
    fn pass(&self, attempt: &mut Attempt, session: usize, takes_effect: bool) {
        let Some(&step) = self.next(attempt, session) else {
            return;
        };
        attempt.next[session] += 1;
        attempt.over += 1;
        attempt.required += u32::from(!step.optional);
        if let Some(class) = step.writes.filter(|_| takes_effect) {
            attempt.values[step.key as usize] = class;
        }
    }

    /// Operations that only observe take effect where they fit.
    fn observe(&self, attempt: &mut Attempt) {
        attempt.lag = 0;
        for session in 0..self.queues.len() {
            while self
                .next(attempt, session)
                .is_some_and(|step| step.writes.is_none() && self.fits(attempt, step))
            {
                self.pass(attempt, session, true);
            }
        }
        for session in 0..self.queues.len() {
            let behind = |step: &Step| (i64::from(attempt.over) - i64::from(step.rank)).max(0);
            attempt.lag += self
                .next(attempt, session)
                .filter(|step| !step.optional)
                .map_or(0, behind);
        }
        attempt.lag -= 4 * i64::from(attempt.over);
    }

    /// The places of the operations of an attempt, in order.
    fn order(&self, end: &Attempt) -> Vec<u32> {
        let mut moves = Vec::new();
        let mut at = end.log;
        while at != 0 {
            let (before, step) = self.log[at as usize];
            moves.push(step);
            at = before;
        }
        let mut attempt = self.first();
        let mut order = Vec::with_capacity(self.steps.steps.len());
        let mut shown = vec![0; self.queues.len()];
        let add = |attempt: &Attempt, shown: &mut Vec<u32>, order: &mut Vec<u32>| {
            for (session, queue) in self.queues.iter().enumerate() {
                order.extend(&queue[shown[session] as usize..attempt.next[session] as usize]);
                shown[session] = attempt.next[session];
            }
        };
        add(&attempt, &mut shown, &mut order);
        for step in moves.into_iter().rev() {
            let (session, takes_effect) = ((step >> 1) as usize, step & 1 == 1);
            if takes_effect {
                order.push(self.queues[session][attempt.next[session] as usize]);
            }
            self.pass(&mut attempt, session, takes_effect);
            shown[session] = attempt.next[session];
            self.observe(&mut attempt);
            add(&attempt, &mut shown, &mut order);
        }
        order
    }
}

#[cfg(test)]
mod tests;
