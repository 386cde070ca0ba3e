//! A few operations that no order explains, in a form that holds whatever else happened.

use super::input::{Keyed, Op, Role};
use super::search::{OrderSearch, SearchOutcome};
use crate::checkers::{Level, LevelSet, Pattern, Proof, Violation};
use crate::control::{Control, Interrupt};
use crate::history::{History, KeyId, Outcome, TransactionId, Value};
use crate::relations::Resolution;
use rustc_hash::FxHashSet;

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
        Cores { history, keyed: Keyed::by_value(history, resolution) }
    }

    /// The violation that a few operations of `key` show: no order of them respects real time and session order and
    /// explains what they observed, even if every other write of the key may or may not take effect, at any time after
    /// it began; a write of unknown outcome must also respect its session if it did. That makes it a statement about
    /// the whole history, although a failed comparison might be explained only by such a write.
    /// The operations are searched around `stuck`; if a few do not suffice, all that certainly took effect are named.
    /// `None` if `stuck` is not an operation of the key.
    ///
    /// # Errors
    /// [`Interrupt`] when `control` ends the work first.
    pub(in crate::checkers) fn violation(
        &self,
        key: KeyId,
        stuck: TransactionId,
        control: &Control,
    ) -> Result<Option<Violation>, Interrupt> {
        self.look(self.keyed.of(key.index()), false, stuck, control)
    }

    /// The same for operations of several keys, for which session order matters.
    ///
    /// # Errors
    /// [`Interrupt`] when `control` ends the work first.
    pub(in crate::checkers) fn violation_across(
        &self,
        keys: &[KeyId],
        stuck: TransactionId,
        control: &Control,
    ) -> Result<Option<Violation>, Interrupt> {
        let ops: Vec<Op> = keys.iter().flat_map(|key| self.keyed.of(key.index())).copied().collect();
        self.look(&ops, true, stuck, control)
    }

    fn look(
        &self,
        ops: &[Op],
        with_idle: bool,
        stuck: TransactionId,
        control: &Control,
    ) -> Result<Option<Violation>, Interrupt> {
        let Some(at) = ops.iter().position(|op| op.transaction == stuck) else { return Ok(None) };
        let mut asker = Asker { history: self.history, ops, with_idle, control, questions: QUESTIONS };
        let core = asker.first(at)?;
        let core = asker.reduced(core)?;
        Ok(Some(violation(self.history, core.into_iter().map(|place| ops[place].transaction).collect())))
    }
}

struct Asker<'a> {
    history: &'a History,
    ops: &'a [Op],
    /// Whether operations that say nothing count: between operations that do, they have a place in time and in their
    /// session.
    with_idle: bool,
    control: &'a Control,
    questions: usize,
}

impl Asker<'_> {
    /// Operations around a place, more and more of them, until they cannot be ordered; finally all.
    fn first(&mut self, at: usize) -> Result<Vec<usize>, Interrupt> {
        let center = self.ops[at];
        let distance = |op: &Op| {
            let (before, after) = (op.end < center.start, op.start > center.end);
            match (before, after) {
                (true, _) => center.start.abs_diff(op.end),
                (_, true) => op.start.abs_diff(center.end),
                _ => 0,
            }
        };
        let mut near: Vec<usize> = (0..self.ops.len()).filter(|&place| self.is_firm(&self.ops[place])).collect();
        near.sort_by_key(|&place| (distance(&self.ops[place]), place));
        let mut size = 8;
        while size < near.len() && size <= MOST {
            let mut core = near[..size].to_vec();
            self.add_writers(&mut core, &near);
            if self.cannot_be_ordered(&core)? {
                return Ok(core);
            }
            size *= 4;
        }
        // All of them cannot: that is what was found about the key.
        near.sort_unstable();
        Ok(near)
    }

    /// Adds the writers of what these operations observed or compared with.
    fn add_writers(&self, core: &mut Vec<usize>, firm: &[usize]) {
        let mut values: FxHashSet<(KeyId, Value)> = FxHashSet::default();
        for op in core.iter().map(|&place| &self.ops[place]) {
            let (key, effect) = (op.key(self.history), op.effect(self.history));
            values.extend(effect.reads.into_iter().chain(effect.differs).map(|value| (key, value)));
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
        !op.optional && (op.role != Role::Idle || self.with_idle)
    }

    /// Whether these operations cannot be put in order, whatever the other writes of their keys did.
    fn cannot_be_ordered(&mut self, core: &[usize]) -> Result<bool, Interrupt> {
        if self.questions == 0 {
            return Ok(false);
        }
        self.questions -= 1;
        let chosen = || core.iter().map(|&place| self.ops[place]);
        let Some(last) = chosen().map(|op| op.end).max() else { return Ok(false) };
        let keys: FxHashSet<KeyId> = chosen().map(|op| op.key(self.history)).collect();
        let is_freed = |(place, op): &(usize, &Op)| {
            let counts = op.writes() && op.start <= last && core.binary_search(place).is_err();
            counts && keys.contains(&op.key(self.history))
        };
        // An operation that only observes may then come as soon as it fits: it keeps none of these from coming later.
        let freed =
            self.ops.iter().enumerate().filter(is_freed).map(|(_, op)| Op { optional: true, end: i64::MAX, ..*op });
        let all: Vec<Op> = chosen().chain(freed).collect();
        let is_loose =
            |place: usize| place >= core.len() && self.history.outcome(all[place].transaction) != Outcome::Unknown;
        let weaving = OrderSearch::of_sessions(self.history, &all, is_loose, |_| 0, Some(BUDGET));
        Ok(matches!(weaving.run(self.control)?, SearchOutcome::None { .. }))
    }

    /// Removes parts of halving size while the rest cannot be ordered.
    fn reduced(&mut self, mut core: Vec<usize>) -> Result<Vec<usize>, Interrupt> {
        let mut size = core.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < core.len() {
                let mut rest = core.clone();
                rest.drain(at..(at + size).min(core.len()));
                match !rest.is_empty() && self.cannot_be_ordered(&rest)? {
                    true => core = rest,
                    false => at += size,
                }
            }
            size /= 2;
        }
        Ok(core)
    }
}

fn violation(history: &History, mut transactions: Vec<TransactionId>) -> Violation {
    let mut keys = transactions.iter().map(|&t| history.keys()[history.operation_range(t).start]);
    let key = keys.next().filter(|first| keys.all(|key| key == *first));
    transactions.sort_by_key(|&t| (history.interval(t).map(|interval| (interval.start, interval.end)), t));
    let operations = transactions.iter().flat_map(|&t| history.operations_of(t)).collect();
    let levels = LevelSet::upward(Level::Linearizability);
    Violation { key, transactions, operations, ..Violation::new(Pattern::NoLinearOrder, 0, levels, Proof::Read) }
}
