//! Strings that were written more than once to a key: which of the writes a result shows.
//!
//! All results of a key are places of a tree: below the empty string, each string that some result shows after another.
//! A put leads to a place below the root, an append from a place to one below it, and what leads to no place is shown
//! by no result, so that only a put leads back into the tree. An order of the operations that explains all results is
//! found by just-in-time linearization (Lowe 2017, section 5): the beginnings and ends of the operations are walked once
//! in order of time, and of all orders of what has ended so far only the current place is kept, which running
//! operations have taken effect, and which ran when a put replaced whatever they may have written. The order tells the
//! writes that each result consists of.
//!
//! If there is such an order, every level that the strings satisfy as registers is satisfied with this choice. If there
//! is none, no choice is linearizable: the results that stop the walk are left out of it, and show what others do.

use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::Interval;
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of states between two events.
const MOST_STATES: usize = 1 << 16;

/// Maximum length of the log.
const MOST_ENTRIES: usize = 1 << 25;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Get,
    Put,
    Append,
}

/// A write to the key.
pub(super) struct Write {
    pub(super) action: Action,
    pub(super) interval: Interval,
    /// Whether it is known to have happened.
    pub(super) is_certain: bool,
}

/// A result that splits into strings that were written.
pub(super) struct Get {
    /// The strings in their order, as places among the groups of writes of one string.
    pub(super) strings: Vec<usize>,
    pub(super) interval: Interval,
}

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Assigned {
    /// By result: the writes that it shows, one for each of its strings.
    pub(super) writes: Vec<Vec<usize>>,
    /// Whether one order explains all results.
    pub(super) is_explained: bool,
}

/// The writes that the results of a key show; `None` if too many orders are possible.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(super) fn assign(
    writes: &[Write],
    groups: &[Vec<usize>],
    gets: &[Get],
    control: &Control,
) -> Result<Option<Assigned>, Interrupt> {
    let mut walk = Walk::new(writes, groups, gets);
    for (_, is_end, operation) in walk.events() {
        control.check()?;
        if is_end {
            walk.end(operation, control)?
        } else {
            walk.begin(operation)
        }
        if walk.states.len() > MOST_STATES || walk.log.len() > MOST_ENTRIES {
            return Ok(None);
        }
    }
    Ok(Some(walk.assigned(groups)))
}

/// A place of the tree, [`ROOT`] for the empty string.
type Place = u32;
const ROOT: Place = 0;

/// Writes come first, then gets.
type Operation = u32;

/// What the operations may have led to at some time.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// `None` for a string that no result shows.
    place: Option<Place>,
    /// Running operations that took effect, ascending.
    done: Vec<Operation>,
    /// Running writes that may have taken effect before a put replaced them, ascending.
    covered: Vec<Operation>,
}

/// A state and the last entry of the log that led to it.
type Logged = (State, u32);

struct Walk<'a> {
    writes: &'a [Write],
    gets: &'a [Get],
    /// By write: its string.
    string: Vec<usize>,
    children: FxHashMap<(Place, usize), Place>,
    /// By get: the place it shows.
    shown: Vec<Place>,
    /// Writes that run, by their ends.
    running: Vec<Operation>,
    /// Gets that run.
    waiting: Vec<Operation>,
    states: Vec<Logged>,
    /// What took effect, each with the entry before it. The first entry is the beginning.
    log: Vec<(u32, Operation)>,
}

impl<'a> Walk<'a> {
    fn new(writes: &'a [Write], groups: &[Vec<usize>], gets: &'a [Get]) -> Walk<'a> {
        let mut string = vec![0; writes.len()];
        for (number, group) in groups.iter().enumerate() {
            group.iter().for_each(|&write| string[write] = number);
        }
        let mut children = FxHashMap::default();
        let mut shown = Vec::with_capacity(gets.len());
        for get in gets {
            let below = |place: Place, &string: &usize| {
                let next = children.len() as Place + 1;
                *children.entry((place, string)).or_insert(next)
            };
            shown.push(get.strings.iter().fold(ROOT, below));
        }
        let first = State {
            place: Some(ROOT),
            done: Vec::new(),
            covered: Vec::new(),
        };
        Walk {
            writes,
            gets,
            string,
            children,
            shown,
            running: Vec::new(),
            waiting: Vec::new(),
            states: vec![(first, 0)],
            log: vec![(0, 0)],
        }
    }

    /// Beginnings, and ends of what is known to have happened, in order of time.
    fn events(&self) -> Vec<(i64, bool, Operation)> {
        let writes = self
            .writes
            .iter()
            .map(|write| (write.interval, write.is_certain));
        let gets = self.gets.iter().map(|get| (get.interval, true));
        let mut events = Vec::new();
        for (operation, (interval, ends)) in (0..).zip(writes.chain(gets)) {
            events.push((interval.start, false, operation));
            events.extend(ends.then_some((interval.end, true, operation)));
        }
        events.sort_unstable();
        events
    }

    fn write(&self, operation: Operation) -> Option<&'a Write> {
        self.writes.get(operation as usize)
    }

    fn begin(&mut self, operation: Operation) {
        if self.write(operation).is_some() {
            let end = |write: Operation| {
                (
                    !self.writes[write as usize].is_certain,
                    self.writes[write as usize].interval.end,
                )
            };
            let at = self
                .running
                .partition_point(|&other| end(other) <= end(operation));
            self.running.insert(at, operation);
            return;
        }
        self.waiting.push(operation);
        let mut states = std::mem::take(&mut self.states);
        states.iter_mut().for_each(|state| self.observe(state));
        self.states = states;
    }

    /// Gets that show what is there take effect.
    fn observe(&mut self, (state, entry): &mut Logged) {
        for &get in &self.waiting {
            if state.place == Some(self.shown[get as usize - self.writes.len()])
                && include(&mut state.done, get)
            {
                self.log.push((*entry, get));
                *entry = self.log.len() as u32 - 1;
            }
        }
    }

    /// What a write leads to.
    fn after(&mut self, (state, entry): &Logged, write: Operation) -> Logged {
        let mut state = state.clone();
        let string = self.string[write as usize];
        let is_put = self.writes[write as usize].action == Action::Put;
        let from = if is_put { Some(ROOT) } else { state.place };
        state.place = from.and_then(|place| self.children.get(&(place, string)).copied());
        include(&mut state.done, write);
        if is_put {
            state.covered = self
                .running
                .iter()
                .copied()
                .filter(|other| state.done.binary_search(other).is_err())
                .collect();
            state.covered.sort_unstable();
        } else {
            exclude(&mut state.covered, write);
        }
        self.log.push((*entry, write));
        let mut after = (state, self.log.len() as u32 - 1);
        self.observe(&mut after);
        after
    }

    /// The writes to try: of those of one string that do the same, the one that ends first.
    fn moves(&self, state: &State) -> Vec<Operation> {
        let mut tried = FxHashSet::default();
        let is_first = |&write: &Operation| {
            let is_covered = state.covered.binary_search(&write).is_ok();
            let does = (
                self.string[write as usize],
                self.writes[write as usize].action == Action::Put,
                is_covered,
            );
            state.done.binary_search(&write).is_err() && tried.insert(does)
        };
        self.running.iter().copied().filter(is_first).collect()
    }

    /// An operation ends: by now it has taken effect. A get for which that is impossible is left out.
    fn end(&mut self, operation: Operation, control: &Control) -> Result<(), Interrupt> {
        let before = self.states.clone();
        let mut after: Vec<Logged> = Vec::new();
        let mut known: FxHashSet<State> = FxHashSet::default();
        let mut ended = |mut state: Logged| {
            exclude(&mut state.0.done, operation);
            exclude(&mut state.0.covered, operation);
            if known.insert(state.0.clone()) {
                after.push(state);
            }
        };
        let mut seen: FxHashSet<State> =
            self.states.iter().map(|(state, _)| state.clone()).collect();
        let mut open = std::mem::take(&mut self.states);
        while let Some(state) = open.pop() {
            control.check()?;
            if state.0.done.binary_search(&operation).is_ok() {
                ended(state);
                continue;
            }
            if state.0.covered.binary_search(&operation).is_ok() {
                ended(state.clone());
            }
            let mut moves = self.moves(&state.0);
            if self.write(operation).is_some() && !moves.contains(&operation) {
                moves.push(operation);
            }
            for write in moves {
                let next = self.after(&state, write);
                let is_of_use = next.0.place.is_some() || write == operation;
                if is_of_use && seen.len() <= MOST_STATES && seen.insert(next.0.clone()) {
                    open.push(next);
                }
            }
        }
        self.running.retain(|&other| other != operation);
        self.waiting.retain(|&other| other != operation);
        self.states = if after.is_empty() { before } else { after };
        Ok(())
    }

    /// The writes of all results, by the order that led to the first state.
    fn assigned(&self, groups: &[Vec<usize>]) -> Assigned {
        let mut order: Vec<Operation> = Vec::new();
        let mut entry = self.states[0].1;
        while entry != 0 {
            let (before, operation) = self.log[entry as usize];
            order.push(operation);
            entry = before;
        }
        let mut chain: Vec<usize> = Vec::new();
        let mut of_get: Vec<Option<Vec<usize>>> = vec![None; self.gets.len()];
        for &operation in order.iter().rev() {
            match self.write(operation) {
                Some(write) => {
                    if write.action == Action::Put {
                        chain.clear();
                    }
                    chain.push(operation as usize);
                }
                None => of_get[operation as usize - self.writes.len()] = Some(chain.clone()),
            }
        }
        let is_explained = of_get.iter().all(Option::is_some);
        let parts = |get: usize| {
            of_get[get]
                .clone()
                .unwrap_or_else(|| self.without_explanation(get, groups, &of_get))
        };
        Assigned {
            writes: (0..self.gets.len()).map(parts).collect(),
            is_explained,
        }
    }

    /// Writes that a result without an explanation may show: what others show, as far as they show the same.
    fn without_explanation(
        &self,
        get: usize,
        groups: &[Vec<usize>],
        of_get: &[Option<Vec<usize>>],
    ) -> Vec<usize> {
        let strings = &self.gets[get].strings;
        let common = |other: usize| {
            strings
                .iter()
                .zip(&self.gets[other].strings)
                .take_while(|(a, b)| a == b)
                .count()
        };
        let explained = (0..self.gets.len()).filter(|&other| of_get[other].is_some());
        let most = explained.max_by_key(|&other| common(other));
        let mut parts: Vec<usize> = match most {
            Some(other) => of_get[other]
                .iter()
                .flatten()
                .take(common(other))
                .copied()
                .collect(),
            None => Vec::new(),
        };
        for &string in &strings[parts.len()..] {
            let may_be =
                |write: &&usize| parts.is_empty() || self.writes[**write].action == Action::Append;
            let is_used = |write: &usize| {
                parts.contains(write) || of_get.iter().flatten().flatten().any(|w| w == write)
            };
            let group = groups[string].iter().filter(may_be);
            let one = group
                .clone()
                .find(|write| !is_used(write))
                .or_else(|| group.clone().next());
            let one = one.copied().unwrap_or(groups[string][0]);
            parts.push(one);
        }
        parts
    }
}

/// Puts an operation into an ascending list; whether it was not there.
fn include(list: &mut Vec<Operation>, operation: Operation) -> bool {
    let place = list.binary_search(&operation);
    place.map_err(|at| list.insert(at, operation)).is_err()
}

fn exclude(list: &mut Vec<Operation>, operation: Operation) {
    if let Ok(at) = list.binary_search(&operation) {
        list.remove(at);
    }
}

#[cfg(test)]
mod tests;
