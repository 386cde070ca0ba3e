//! Just-in-time linearization of operations on a data type of its own: is there an order of them, in real time, that is a run
//! of the type?
//!
//! A configuration is the set of running operations that have taken effect, and the state. At each completion those are
//! kept in which the operation has taken effect (Lowe, "Testing for linearizability", 2017, section 4). Operations
//! without an answer may take effect at any time; those that ask the same are interchangeable.

use super::Exchange;
use isoscope_model::control::Control;
use isoscope_model::history::Outcome;
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;

/// Operations that are tried, in all configurations: so many, so many more for each operation of a log, and up to a limit
/// some more for each.
const MOST: usize = 100_000;
const MOST_EACH: usize = 20;
const MORE_EACH: (usize, usize) = (500, 5_000_000);

/// What the orders of a log may cost, over all of its keys.
pub(super) struct Search {
    spent: usize,
    most: usize,
    control: Control,
    /// Whether the time was over meanwhile.
    pub(super) is_out_of_time: bool,
}

impl Search {
    pub(super) fn new(control: &Control) -> Search {
        Search {
            spent: 0,
            most: MOST,
            control: control.clone(),
            is_out_of_time: false,
        }
    }

    /// Allows for so many operations of a log.
    pub(super) fn allow_for(&mut self, n: usize) {
        let (each, limit) = MORE_EACH;
        self.most += n * MOST_EACH + (n * each).min(limit);
    }

    /// Counts operations that are tried; none if there is to be an end.
    fn spend(&mut self, n: usize) -> Option<()> {
        let before = self.spent;
        self.spent += n;
        let is_time = before / ASK_EVERY != self.spent / ASK_EVERY;
        self.is_out_of_time |= is_time && self.control.check().is_err();
        (self.spent <= self.most && !self.is_out_of_time).then_some(())
    }
}

/// Operations that are tried before the control is asked again.
const ASK_EVERY: usize = 1 << 10;

/// A sequential data type.
pub(super) trait Model {
    /// What it holds; the default is what it holds at first.
    type State: Clone + Default + Eq + Hash;

    /// Most operations for which an order is looked for: the states of most types are as large as what they hold.
    const LONGEST: usize = 20_000;

    /// What it costs to try an operation, as so many of a small type.
    const COST: usize = 1;

    /// Whether an operation may change what it holds; without one that does not, there are more orders and no fewer.
    fn changes(exchange: &Exchange<'_, '_>) -> bool;

    /// What it holds after an operation; none if the operation cannot have been answered like that.
    fn step(state: &Self::State, exchange: &Exchange<'_, '_>) -> Option<Self::State>;

    /// The answer of a rule that needs no search, where the type has one.
    fn decide(_: &[&Exchange<'_, '_>]) -> Option<Linearity> {
        None
    }
}

/// Whether an order explains all answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Linearity {
    /// This one does: places among the exchanges.
    Holds(Vec<u32>),
    /// None explains those up to this one: a place among the exchanges.
    Broken(usize),
    /// There were too many possibilities.
    Unknown,
}

/// Running operations that have taken effect, and the state after them.
type Configuration<M> = (Vec<u32>, <M as Model>::State);

/// How each configuration came about: the last operation that took effect, and what was before it.
#[derive(Default)]
struct Past {
    /// What came before everything else, whichever configuration is right.
    sure: Vec<u32>,
    /// An operation, and the place of the one before it plus one.
    steps: Vec<(u32, u32)>,
}

impl Past {
    /// Adds an operation after the one at this place; returns its place plus one.
    fn add(&mut self, operation: u32, before: u32) -> u32 {
        self.steps.push((operation, before));
        self.steps.len() as u32
    }

    /// Keeps of all steps those up to this one.
    fn settle(&mut self, last: u32) {
        let mut at = last;
        let begin = self.sure.len();
        while let Some((operation, before)) = at.checked_sub(1).map(|at| self.steps[at as usize]) {
            self.sure.push(operation);
            at = before;
        }
        self.sure[begin..].reverse();
        self.steps.clear();
    }
}

/// Decides for exchanges in the order in which they began.
pub(super) fn linearity<M: Model>(
    exchanges: &[&Exchange<'_, '_>],
    search: &mut Search,
) -> Linearity {
    if search.spend(exchanges.len()).is_none() {
        return Linearity::Unknown;
    }
    if let Some(found) = M::decide(exchanges) {
        return found;
    }
    let mut configurations: FxHashMap<Configuration<M>, u32> = FxHashMap::default();
    configurations.insert((Vec::new(), M::State::default()), 0);
    // Running operations, in the order in which they began.
    let mut running: Vec<u32> = Vec::new();
    if exchanges.len() > M::LONGEST {
        return Linearity::Unknown;
    }
    let (twins, mut past) = (twins(exchanges), Past::default());
    for (is_end, place) in moments(exchanges) {
        let call = place as u32;
        if !is_end {
            running.push(call);
            continue;
        }
        let at = Step {
            exchanges,
            twins: &twins,
            running: &running,
            call,
        };
        let Some(mut kept) = at.completed::<M>(configurations, &mut past, search) else {
            return Linearity::Unknown;
        };
        if kept.is_empty() {
            return Linearity::Broken(place);
        }
        running.retain(|other| *other != call);
        if let (1, Some(last)) = (kept.len(), kept.values_mut().next()) {
            past.settle(std::mem::take(last));
        }
        configurations = kept;
    }
    let last = configurations.into_values().next().unwrap_or_default();
    past.settle(last);
    Linearity::Holds(past.sure)
}

/// Most operations among which those that are needed are looked for.
const MOST_FOR_CORE: usize = 20_000;

/// Of operations that no order explains up to the one at this place: those that began before it ended, without answers that
/// are not needed for that, as far as that is found out.
pub(super) fn core<'e, 'c, 'a, M: Model>(
    exchanges: &[&'e Exchange<'c, 'a>],
    place: usize,
    search: &mut Search,
) -> Vec<&'e Exchange<'c, 'a>> {
    let end = exchanges[place].end.unwrap_or(i64::MAX);
    let is_before = |exchange: &&&Exchange<'_, '_>| {
        exchange.since < end.saturating_mul(2) && exchange.outcome != Outcome::Aborted
    };
    let all: Vec<&'e Exchange<'c, 'a>> = exchanges.iter().filter(is_before).copied().collect();
    let may_go = |exchange: &&&Exchange<'_, '_>| !M::changes(exchange);
    let mut needed: Vec<usize> = all.iter().filter(may_go).map(|read| read.call).collect();
    let with = |needed: &[usize]| -> Vec<&'e Exchange<'c, 'a>> {
        let is_kept = |exchange: &&&Exchange<'_, '_>| {
            M::changes(exchange) || needed.binary_search(&exchange.call).is_ok()
        };
        all.iter().filter(is_kept).copied().collect()
    };
    if all.len() > MOST_FOR_CORE {
        return all;
    }
    // First halves of them, then quarters, at last each by itself.
    let mut size = needed.len().next_power_of_two();
    while size > 0 {
        let mut at = 0;
        while at < needed.len() {
            let end = (at + size).min(needed.len());
            let rest = [&needed[..at], &needed[end..]].concat();
            match linearity::<M>(&with(&rest), search) {
                Linearity::Broken(_) => needed = rest,
                Linearity::Holds(_) => at = end,
                Linearity::Unknown => return with(&needed),
            }
        }
        size /= 2;
    }
    with(&needed)
}

/// Beginnings and ends in the order of the log, beginnings first. What failed did not happen.
pub(super) fn moments(exchanges: &[&Exchange<'_, '_>]) -> impl Iterator<Item = (bool, usize)> {
    let happened = exchanges
        .iter()
        .enumerate()
        .filter(|(_, exchange)| exchange.outcome != Outcome::Aborted);
    let mut moments: Vec<(i64, bool, usize)> = Vec::with_capacity(2 * exchanges.len());
    for (place, exchange) in happened {
        moments.push((exchange.since, false, place));
        if let Some(end) = exchange.end.filter(|_| exchange.is_committed()) {
            moments.push((2 * end, true, place));
        }
    }
    moments.sort_unstable();
    moments
        .into_iter()
        .map(|(_, is_end, place)| (is_end, place))
}

/// The end of a call.
struct Step<'s, 'e, 'c, 'a> {
    exchanges: &'s [&'e Exchange<'c, 'a>],
    twins: &'s [Option<u32>],
    running: &'s [u32],
    call: u32,
}

impl Step<'_, '_, '_, '_> {
    /// The configurations in which the call has taken effect, without it; none if there are too many.
    fn completed<M: Model>(
        &self,
        configurations: FxHashMap<Configuration<M>, u32>,
        past: &mut Past,
        search: &mut Search,
    ) -> Option<FxHashMap<Configuration<M>, u32>> {
        let mut kept = FxHashMap::default();
        let mut seen: FxHashSet<Configuration<M>> = configurations.keys().cloned().collect();
        let mut open: Vec<(Configuration<M>, u32)> = configurations.into_iter().collect();
        while let Some(((effective, state), last)) = open.pop() {
            if let Ok(at) = effective.binary_search(&self.call) {
                let mut without = effective;
                without.remove(at);
                kept.entry((without, state)).or_insert(last);
                continue;
            }
            search.spend(self.running.len() * M::COST)?;
            for other in self
                .running
                .iter()
                .filter(|other| self.may_be_next(**other, &effective))
            {
                let Some(state) = M::step(&state, self.exchanges[*other as usize]) else {
                    continue;
                };
                let mut effective = effective.clone();
                let at = effective.partition_point(|known| known < other);
                effective.insert(at, *other);
                let next = (effective, state);
                if seen.insert(next.clone()) {
                    let step = past.add(*other, last);
                    open.push((next, step));
                }
            }
        }
        Some(kept)
    }

    /// Whether a running operation may take effect next: not again, and not before one that is the same.
    fn may_be_next(&self, other: u32, effective: &[u32]) -> bool {
        let has = |call: u32| effective.binary_search(&call).is_ok();
        let waits = |twin: u32| !has(twin) && self.running.binary_search(&twin).is_ok();
        !has(other) && !self.twins[other as usize].is_some_and(waits)
    }
}

/// Of each operation without an answer: the one before it that asks the same and has no answer either. It takes effect first.
fn twins(exchanges: &[&Exchange<'_, '_>]) -> Vec<Option<u32>> {
    let mut latest = FxHashMap::default();
    let twin = |(place, exchange): (usize, &&Exchange<'_, '_>)| {
        if exchange.outcome != Outcome::Unknown {
            return None;
        }
        let asked = exchange.asked().text().into_owned();
        latest.insert((exchange.word.to_owned(), asked), place as u32)
    };
    exchanges.iter().enumerate().map(twin).collect()
}

#[cfg(test)]
pub(super) mod tests;
