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

/// Operations that are tried, in all configurations: so many, and so many more for each operation of a log.
const MOST: usize = 2_000_000;
const MOST_EACH: usize = 20;

/// What the orders of a log may cost, over all of its keys.
pub(super) struct Search {
    spent: usize,
    most: usize,
    control: Control,
}

impl Search {
    pub(super) fn new(control: &Control) -> Search {
        Search {
            spent: 0,
            most: MOST,
            control: control.clone(),
        }
    }

    /// Allows for so many operations of a log.
    pub(super) fn allow_for(&mut self, n: usize) {
        self.most += n * MOST_EACH;
    }

    /// Counts operations that are tried; none if there is to be an end.
    fn spend(&mut self, n: usize) -> Option<()> {
        let before = self.spent;
        self.spent += n;
        let is_time = before / ASK_EVERY != self.spent / ASK_EVERY;
        let goes_on = self.spent <= self.most && !(is_time && self.control.check().is_err());
        goes_on.then_some(())
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

    /// Whether an operation may change what it holds; without one that does not, there are more orders and no fewer.
    fn changes(exchange: &Exchange<'_, '_>) -> bool;

    /// What it holds after an operation; none if the operation cannot have been answered like that.
    fn step(state: &Self::State, exchange: &Exchange<'_, '_>) -> Option<Self::State>;
}

/// Whether an order explains all answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Linearity {
    Holds,
    /// None explains those up to this one: a place among the exchanges.
    Broken(usize),
    /// There were too many possibilities.
    Unknown,
}

/// Decides for exchanges in the order in which they began.
pub(super) fn linearity<M: Model>(
    exchanges: &[&Exchange<'_, '_>],
    search: &mut Search,
) -> Linearity {
    let mut configurations: FxHashSet<(Vec<u32>, M::State)> = FxHashSet::default();
    configurations.insert((Vec::new(), M::State::default()));
    // Running operations, in the order in which they began.
    let mut running: Vec<u32> = Vec::new();
    if exchanges.len() > M::LONGEST {
        return Linearity::Unknown;
    }
    let twins = twins(exchanges);
    for (is_end, place) in moments(exchanges) {
        let call = place as u32;
        if !is_end {
            running.push(call);
            continue;
        }
        let Some(kept) =
            completed::<M>((exchanges, &twins), &running, configurations, call, search)
        else {
            return Linearity::Unknown;
        };
        if kept.is_empty() {
            return Linearity::Broken(place);
        }
        running.retain(|other| *other != call);
        configurations = kept;
    }
    Linearity::Holds
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
        exchange.begin < end && exchange.outcome != Outcome::Aborted
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
                Linearity::Holds => at = end,
                Linearity::Unknown => return with(&needed),
            }
        }
        size /= 2;
    }
    with(&needed)
}

/// Beginnings and ends in the order of the log, beginnings first. What failed did not happen.
fn moments(exchanges: &[&Exchange<'_, '_>]) -> impl Iterator<Item = (bool, usize)> {
    let happened = exchanges
        .iter()
        .enumerate()
        .filter(|(_, exchange)| exchange.outcome != Outcome::Aborted);
    let mut moments: Vec<(i64, bool, usize)> = Vec::with_capacity(2 * exchanges.len());
    for (place, exchange) in happened {
        moments.push((exchange.begin, false, place));
        if let Some(end) = exchange.end.filter(|_| exchange.is_committed()) {
            moments.push((end, true, place));
        }
    }
    moments.sort_unstable();
    moments
        .into_iter()
        .map(|(_, is_end, place)| (is_end, place))
}

/// The configurations in which a call has taken effect, without it; none if there are too many.
fn completed<M: Model>(
    (exchanges, twins): (&[&Exchange<'_, '_>], &[Option<u32>]),
    running: &[u32],
    configurations: FxHashSet<(Vec<u32>, M::State)>,
    call: u32,
    search: &mut Search,
) -> Option<FxHashSet<(Vec<u32>, M::State)>> {
    let mut kept = FxHashSet::default();
    let mut open: Vec<(Vec<u32>, M::State)> = configurations.into_iter().collect();
    let mut seen: FxHashSet<(Vec<u32>, M::State)> = open.iter().cloned().collect();
    while let Some((effective, state)) = open.pop() {
        if let Ok(at) = effective.binary_search(&call) {
            let mut without = effective;
            without.remove(at);
            kept.insert((without, state));
            continue;
        }
        search.spend(running.len())?;
        let has = |call: &u32| effective.binary_search(call).is_ok();
        let is_next = |other: &&u32| {
            let twin = twins[**other as usize];
            !has(other)
                && twin.is_none_or(|twin| has(&twin) || running.binary_search(&twin).is_err())
        };
        for &other in running.iter().filter(is_next) {
            let Some(state) = M::step(&state, exchanges[other as usize]) else {
                continue;
            };
            let mut effective = effective.clone();
            let at = effective.partition_point(|known| *known < other);
            effective.insert(at, other);
            if seen.insert((effective.clone(), state.clone())) {
                open.push((effective, state));
            }
        }
    }
    Some(kept)
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
mod tests;
