//! A few operations of a key that no order explains, in a form that holds whatever else happened.

use super::input::{Keyed, Op, Role};
use super::search::{Search, Searched};
use crate::checkers::{Level, LevelSet, Pattern, Proof, Violation, ViolationId};
use crate::control::{Control, Interrupt};
use crate::history::{History, KeyId, TransactionId, Value};
use crate::relations::Resolution;
use rustc_hash::FxHashSet;

/// Work for one question.
const BUDGET: u64 = 2_000_000;
/// Questions asked to make one core smaller.
const QUESTIONS: usize = 2_000;
/// Most operations looked at around the place where the search got stuck.
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

    /// The violation that a few operations of `key` show: no order of them respects real time and explains what they
    /// saw, even if every other write of the key is free to take effect or not. That makes it a statement about the whole
    /// history, although without a write a failed comparison could be left unexplained.
    /// They are looked for around `stuck`; if no few operations are found, all that certainly took place are named. `None`
    /// if `stuck` is no operation of the key.
    ///
    /// # Errors
    /// [`Interrupt`] when `control` ends the work first.
    pub(in crate::checkers) fn violation(
        &self,
        key: KeyId,
        stuck: TransactionId,
        control: &Control,
    ) -> Result<Option<Violation>, Interrupt> {
        let (history, ops) = (self.history, self.keyed.of(key.index()));
        let Some(at) = ops.iter().position(|op| op.transaction == stuck) else { return Ok(None) };
        let mut asker = Asker { history, key, ops, control, questions: QUESTIONS };
        let core = asker.first(at)?;
        let core = asker.reduced(core)?;
        Ok(Some(violation(history, key, core.into_iter().map(|place| ops[place].transaction).collect())))
    }
}

struct Asker<'a> {
    history: &'a History,
    key: KeyId,
    ops: &'a [Op],
    control: &'a Control,
    questions: usize,
}

impl Asker<'_> {
    /// Operations around a place, more and more of them, until they cannot be ordered; in the end all.
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
        let mut near: Vec<usize> = (0..self.ops.len()).filter(|&place| is_firm(&self.ops[place])).collect();
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
        // All of them cannot: that is what has been found of the key.
        near.sort_unstable();
        Ok(near)
    }

    /// Adds who wrote what these operations saw or compared with.
    fn add_writers(&self, core: &mut Vec<usize>, firm: &[usize]) {
        let mut values: FxHashSet<Value> = FxHashSet::default();
        for op in core.iter().map(|&place| &self.ops[place]) {
            values.extend(self.seen(op));
            values.extend((op.role == Role::Differs).then_some(op.value));
        }
        let writes = |place: &usize| self.ops[*place].writes() && values.contains(&self.ops[*place].value);
        core.extend(firm.iter().copied().filter(writes));
        core.sort_unstable();
        core.dedup();
    }

    /// What an operation read.
    fn seen(&self, op: &Op) -> Option<Value> {
        let first = self.history.operation_range(op.transaction).start;
        matches!(op.role, Role::Read | Role::Swap).then(|| self.history.values()[first])
    }

    /// Whether these operations cannot be put in order, whatever the other writes of the key did.
    fn cannot_be_ordered(&mut self, core: &[usize]) -> Result<bool, Interrupt> {
        if self.questions == 0 {
            return Ok(false);
        }
        self.questions -= 1;
        let chosen = || core.iter().map(|&place| self.ops[place]);
        let Some(last) = chosen().map(|op| op.end).max() else { return Ok(false) };
        let freed = |(place, op): (usize, &Op)| {
            let counts = op.writes() && op.start <= last && core.binary_search(&place).is_err();
            counts.then_some(Op { optional: true, ..*op })
        };
        let all: Vec<Op> = chosen().chain(self.ops.iter().enumerate().filter_map(freed)).collect();
        let rank = vec![0; all.len()];
        let searched = Search::new(self.history, self.key, &all, rank, Some(BUDGET)).run(self.control)?;
        Ok(matches!(searched, Searched::None { .. }))
    }

    /// Does without parts of halving size as long as what is left cannot be ordered.
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

/// Whether it certainly took place, and says something.
fn is_firm(op: &Op) -> bool {
    !op.optional && op.role != Role::Idle
}

fn violation(history: &History, key: KeyId, mut transactions: Vec<TransactionId>) -> Violation {
    transactions.sort_by_key(|&t| (history.interval(t).map(|interval| (interval.start, interval.end)), t));
    let operations = transactions.iter().flat_map(|&t| history.operations_of(t)).collect();
    Violation {
        id: ViolationId { pattern: Pattern::NoLinearOrder, ordinal: 0 },
        also: Vec::new(),
        levels: LevelSet::upward(Level::Linearizability),
        key: Some(key),
        transactions,
        operations,
        edges: Vec::new(),
        proof: Proof::Read,
        implied: false,
        group: 0,
    }
}
