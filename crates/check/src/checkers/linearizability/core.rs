//! A few operations that no order explains, in a form that holds whatever else happened.

use super::frontier::{Frontier, Part, Walked};
use super::input::{Keyed, Op, Role};
use super::search::{OrderSearch, SearchOutcome};
use super::steps::Steps;
use crate::checkers::{Level, LevelSet, Pattern, Proof, Violation};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, KeyId, Outcome, TransactionId, Value};
use isoscope_model::relations::Resolution;
use rustc_hash::{FxHashMap, FxHashSet};

/// Work per query.
const BUDGET: u64 = 2_000_000;
/// Queries made to reduce one core.
const QUESTIONS: usize = 2_000;
/// Most operations considered around the place where the search got stuck.
const MOST: usize = 2_048;

/// Looks for cores in one history.
pub(in crate::checkers) struct Cores<'a> {
    history: &'a History,
    keyed: Keyed,
}

impl<'a> Cores<'a> {
    /// O(operations).
    pub(in crate::checkers) fn new(history: &'a History, resolution: &Resolution) -> Cores<'a> {
        Cores {
            history,
            keyed: Keyed::by_value(history, resolution),
        }
    }

    /// The violation that a few operations of `key` show: no order of them respects real time and explains what they
    /// observed, even if every other write of the key may take effect any number of times while it ran, or never. That
    /// makes it a statement about the whole history, although what an operation found might be explained only by such a
    /// write. The operations are searched around `stuck`, which did not fit any order of what had ended before; if a few
    /// do not suffice or there is no time to find them, all that certainly took effect until then are named. `None` if
    /// `stuck` is not an operation of the key. Failed comparisons do not count unless `compares`.
    ///
    /// # Errors
    /// [`Interrupt`] when `control` ends the work first.
    pub(in crate::checkers) fn violation(
        &self,
        key: KeyId,
        stuck: TransactionId,
        compares: bool,
        control: &Control,
    ) -> Result<Option<Violation>, Interrupt> {
        let mut ops = self.keyed.of(key.index()).to_vec();
        if !compares {
            ops.retain(|op| op.role != Role::Differs);
        }
        control.check()?;
        Ok(self.look(&ops, false, stuck, control))
    }

    /// The core of operations on several keys, for which session order matters.
    ///
    /// # Errors
    /// [`Interrupt`] when `control` ends the work first.
    pub(in crate::checkers) fn violation_across(
        &self,
        keys: &[KeyId],
        stuck: TransactionId,
        control: &Control,
    ) -> Result<Option<Violation>, Interrupt> {
        let ops: Vec<Op> = keys
            .iter()
            .flat_map(|key| self.keyed.of(key.index()))
            .copied()
            .collect();
        control.check()?;
        Ok(self.look(&ops, true, stuck, control))
    }

    fn look(
        &self,
        ops: &[Op],
        is_across: bool,
        stuck: TransactionId,
        control: &Control,
    ) -> Option<Violation> {
        let at = ops.iter().position(|op| op.transaction == stuck)?;
        // What is found must still be verified when the time for looking is over.
        let control = &control.leaving_time();
        let mut asker = Asker::new(self.history, ops, is_across, control);
        let core = asker.first(at);
        let core = asker.reduced(core);
        Some(violation(
            self.history,
            core.into_iter().map(|place| &ops[place]),
        ))
    }
}

struct Asker<'a> {
    history: &'a History,
    ops: &'a [Op],
    /// Whether the operations are of several keys. Then sessions count, and so do operations that say nothing: between
    /// operations that do, they have a place in time and in their session.
    is_across: bool,
    control: &'a Control,
    questions: usize,
    /// For one key: the operations by their beginning, with the latest end so far.
    by_beginning: Vec<(u32, i64)>,
    /// For one key, by value: the beginning of its first committed write.
    first_write: FxHashMap<Value, i64>,
}

impl<'a> Asker<'a> {
    fn new(
        history: &'a History,
        ops: &'a [Op],
        is_across: bool,
        control: &'a Control,
    ) -> Asker<'a> {
        let mut by_beginning: Vec<(u32, i64)> =
            (0..).zip(ops).map(|(place, op)| (place, op.end)).collect();
        by_beginning.sort_by_key(|&(place, _)| ops[place as usize].start);
        let mut latest = i64::MIN;
        for (_, end) in &mut by_beginning {
            latest = latest.max(*end);
            *end = latest;
        }
        let mut first_write: FxHashMap<Value, i64> = FxHashMap::default();
        for op in ops.iter().filter(|op| op.writes() && !op.optional) {
            let first = first_write.entry(op.value).or_insert(op.start);
            *first = op.start.min(*first);
        }
        Asker {
            history,
            ops,
            is_across,
            control,
            questions: QUESTIONS,
            by_beginning,
            first_write,
        }
    }

    /// Operations around a place, more and more of them, until they cannot be ordered; finally all.
    fn first(&mut self, at: usize) -> Vec<usize> {
        let center = self.ops[at];
        let distance = |op: &Op| {
            let (before, after) = (op.end < center.start, op.start > center.end);
            match (before, after) {
                (true, _) => center.start.abs_diff(op.end),
                (_, true) => op.start.abs_diff(center.end),
                _ => 0,
            }
        };
        // Of one key, what had ended until then and what ran are without an order.
        let counts = |op: &Op| self.is_firm(op) && (self.is_across || op.start <= center.end);
        let mut near: Vec<usize> = (0..self.ops.len())
            .filter(|&place| counts(&self.ops[place]))
            .collect();
        near.sort_by_key(|&place| (distance(&self.ops[place]), place));
        let mut size = 8;
        while size < near.len() && size <= MOST {
            let mut core = near[..size].to_vec();
            if self.is_across {
                self.add_writers(&mut core, &near);
            }
            core.sort_unstable();
            if self.cannot_be_ordered(&core) {
                return core;
            }
            size *= 4;
        }
        // All of them cannot: that is what was found about the key.
        near.sort_unstable();
        near
    }

    /// Adds the writers of what these operations observed or compared with.
    fn add_writers(&self, core: &mut Vec<usize>, firm: &[usize]) {
        let mut values: FxHashSet<(KeyId, Value)> = FxHashSet::default();
        for op in core.iter().map(|&place| &self.ops[place]) {
            let (key, effect) = (op.key(self.history), op.effect(self.history));
            values.extend(
                effect
                    .reads
                    .into_iter()
                    .chain(effect.differs)
                    .map(|value| (key, value)),
            );
        }
        let writes = |place: &usize| {
            let op = &self.ops[*place];
            op.writes() && values.contains(&(op.key(self.history), op.value))
        };
        core.extend(firm.iter().copied().filter(writes));
        core.sort_unstable();
        core.dedup();
    }

    /// Whether it certainly took effect, and matters.
    fn is_firm(&self, op: &Op) -> bool {
        !op.optional && (op.role != Role::Idle || self.is_across)
    }

    /// Whether these operations certainly cannot be put in order, whatever the other writes of their keys did; `false` if
    /// that would take too long to find out.
    fn cannot_be_ordered(&mut self, core: &[usize]) -> bool {
        if self.questions == 0 {
            return false;
        }
        self.questions -= 1;
        if !self.is_across {
            match self.walked(core) {
                Ok(Walked::TooWide) => {}
                walked => return matches!(walked, Ok(Walked::None { .. })),
            }
        }
        self.woven(core)
    }

    /// Walks over these operations of one key and the other writes of it that overlap them. At first any value may be
    /// there that was written before; writes of unknown outcome may take effect at any time from their beginning on.
    fn walked(&self, core: &[usize]) -> Result<Walked, Interrupt> {
        let of_core = || core.iter().map(|&place| &self.ops[place]);
        let (Some(first), Some(last)) = (
            of_core().map(|op| op.start).min(),
            of_core().map(|op| op.end).max(),
        ) else {
            return Ok(Walked::Order(Vec::new()));
        };
        let until = self
            .by_beginning
            .partition_point(|&(place, _)| self.ops[place as usize].start <= last);
        let beside = self.by_beginning[..until]
            .iter()
            .rev()
            .take_while(|&&(_, latest_end)| latest_end >= first);
        let places: Vec<usize> = beside
            .map(|&(place, _)| place as usize)
            .filter(|&place| self.ops[place].end >= first && self.ops[place].role != Role::Idle)
            .collect();
        let ops: Vec<Op> = places.iter().map(|&place| self.ops[place]).collect();
        let part = |at: usize| match (core.binary_search(&places[at]), ops[at].optional) {
            (Ok(_), _) => Part::Must,
            (_, true) => Part::May,
            _ if ops[at].writes() => Part::Loose,
            _ => Part::Out,
        };
        let steps = Steps::new(self.history, &ops, |_| 0);
        let frontier = Frontier::new(&steps, part);
        let is_earlier = |start: i64| start < first;
        if !self.first_write.values().copied().any(is_earlier) {
            return frontier.walk(self.control);
        }
        let is_there = |value: Value| {
            self.first_write
                .get(&value)
                .copied()
                .is_some_and(is_earlier)
        };
        frontier
            .beginning_with(steps.classes_of(is_there))
            .walk(self.control)
    }

    /// Searches an order of these operations in which all other writes may come at any time after they began.
    fn woven(&self, core: &[usize]) -> bool {
        let chosen = || core.iter().map(|&place| self.ops[place]);
        let Some(last) = chosen().map(|op| op.end).max() else {
            return false;
        };
        let keys: FxHashSet<KeyId> = chosen().map(|op| op.key(self.history)).collect();
        let is_freed = |(place, op): &(usize, &Op)| {
            let counts = op.writes() && op.start <= last && core.binary_search(place).is_err();
            counts && keys.contains(&op.key(self.history))
        };
        // An operation that only observes may then come as soon as it fits: it keeps none of these from coming later.
        let freed = self
            .ops
            .iter()
            .enumerate()
            .filter(is_freed)
            .map(|(_, op)| Op {
                optional: true,
                end: i64::MAX,
                ..*op
            });
        let all: Vec<Op> = chosen().chain(freed).collect();
        let is_loose = |place: usize| {
            place >= core.len() && self.history.outcome(all[place].transaction) != Outcome::Unknown
        };
        let weaving = OrderSearch::of_sessions(self.history, &all, is_loose, |_| 0, Some(BUDGET));
        matches!(weaving.run(self.control), Ok(SearchOutcome::None { .. }))
    }

    /// Removes parts of halving size while the rest cannot be ordered.
    fn reduced(&mut self, mut core: Vec<usize>) -> Vec<usize> {
        let mut size = core.len().div_ceil(2);
        while size > 0 && self.control.check().is_ok() {
            let mut at = 0;
            while at < core.len() {
                let mut rest = core.clone();
                rest.drain(at..(at + size).min(core.len()));
                if !rest.is_empty() && self.cannot_be_ordered(&rest) {
                    core = rest
                } else {
                    at += size
                }
            }
            size /= 2;
        }
        core
    }
}

/// That no order explains these operations. Without failed comparisons, strict serializability is violated, too.
fn violation<'a>(history: &History, core: impl Iterator<Item = &'a Op> + Clone) -> Violation {
    let level = if core.clone().any(|op| op.role == Role::Differs) {
        Level::Linearizability
    } else {
        Level::StrictSerializability
    };
    let mut transactions: Vec<TransactionId> = core.map(|op| op.transaction).collect();
    let mut keys = transactions
        .iter()
        .map(|&t| history.keys()[history.operation_range(t).start]);
    let key = keys.next().filter(|first| keys.all(|key| key == *first));
    transactions.sort_by_key(|&t| {
        (
            history
                .interval(t)
                .map(|interval| (interval.start, interval.end)),
            t,
        )
    });
    let operations = transactions
        .iter()
        .flat_map(|&t| history.operations_of(t))
        .collect();
    let levels = LevelSet::upward(level);
    Violation {
        key,
        transactions,
        operations,
        ..Violation::new(Pattern::NoLinearOrder, 0, levels, Proof::Reads(None))
    }
}
