//! Linearizability of counters, banks, queues, locks and large sets, whose operations are no reads and writes of items.
//!
//! Decided here from what the history has of their operations: amounts that were added and sums that were read, amounts that
//! were moved and balances, messages that went in and came out. An order that a report names is replayed. Where a report
//! says that there is none, one is looked for, key by key (Wing and Gong, "Testing and verifying concurrent objects", 1993,
//! with the memory of Lowe, 2017); some types have a rule that needs no search.

mod ones;
mod set;

use super::SessionNames;
use crate::report::{LevelEntry, VerdictWord};
use isoscope_model::history::{History, KeyId, OperationKind, Outcome, TransactionId, Value};
use isoscope_model::levels::Level;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// Most operations that the search for an order tries.
const MOST: usize = 300_000;

/// A sequential data type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    /// The sum of what was added.
    Counter,
    /// Balances, the first of which are known from reads.
    Bank,
    /// Messages, which come out in any order.
    Bag,
    /// Messages, which come out in the order in which they went in.
    Queue,
    /// Elements, all of which a read returns.
    Set,
    /// A lock, which is free or held.
    Lock,
}

/// What a data type holds: amounts by key or message. Of a bank: what was moved, and what is known of the beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct State {
    amounts: BTreeMap<(KeyId, Option<Value>), i128>,
    first: BTreeMap<KeyId, i128>,
    /// Of a queue.
    messages: Vec<Value>,
}

/// A history of such a type.
pub(super) struct Object<'h> {
    history: &'h History,
    of: Type,
}

impl<'h> Object<'h> {
    /// The data type that a history is about, if levels say nothing about it.
    pub(super) fn of(history: &'h History) -> Option<Object<'h>> {
        let workload = history
            .workload()
            .filter(|workload| workload.no_levels.is_some())?;
        let of = match workload.name {
            "counter" | "pn-counter" => Type::Counter,
            "bank" => Type::Bank,
            "queue" => Type::Bag,
            "fifo-queue" => Type::Queue,
            "set" => Type::Set,
            "mutex" => Type::Lock,
            _ => return None,
        };
        Some(Object { history, of })
    }

    /// What is confirmed of the verdict on a level; none where nothing is. An order that is found, or that the report names,
    /// shows every level.
    ///
    /// # Errors
    /// Why the verdict is wrong.
    pub(super) fn check(
        &self,
        names: &SessionNames<'_>,
        level: &LevelEntry,
    ) -> Result<Option<VerdictWord>, String> {
        let verdict = level.verdict;
        let is_shown = match (verdict, &level.witness) {
            (VerdictWord::Undecided, _) => false,
            (VerdictWord::Satisfied, Some(entries)) => {
                let order: Result<Vec<_>, _> =
                    entries.iter().map(|entry| names.find(entry)).collect();
                self.replay(&order?).map(|()| true)?
            }
            (VerdictWord::Satisfied, None) => match self.has_order() {
                Some(false) => return Err("no order explains all answers".to_owned()),
                found => found.is_some(),
            },
            (VerdictWord::Violated, _) => match self.breaks(level.level) {
                Some(false) => return Err("an order explains all answers".to_owned()),
                found => found.is_some(),
            },
        };
        Ok(is_shown.then_some(verdict))
    }

    /// Whether a level is violated, as far as that is known: there is no order in real time, a bank lost money, or of two
    /// reads of a set each has what the other has not.
    pub(super) fn breaks(&self, level: Level) -> Option<bool> {
        let is_strict =
            level == Level::Linearizability || level.implies(Level::StrictSerializability);
        let keeps_totals =
            level == Level::Linearizability || level.implies(Level::PlainParallelSnapshotIsolation);
        let is_in_order =
            level == Level::Linearizability || level.implies(Level::PlainPrefixConsistency);
        let is_broken = match self.of {
            Type::Bank => keeps_totals && self.totals_differ(),
            Type::Set => is_in_order && self.is_no_chain(),
            _ => false,
        };
        match is_broken {
            true => Some(true),
            false if self.has_order() == Some(true) => Some(false),
            false if is_strict => self.has_order().map(|has_order| !has_order),
            false => None,
        }
    }

    /// Whether two reads of a set each have an element that the other has not.
    fn is_no_chain(&self) -> bool {
        let mut groups = self.groups().into_values();
        groups.any(|group| self.reads_as_chain(&group).is_none())
    }

    /// Whether reads of the same accounts, between which all transfers are, have different sums.
    fn totals_differ(&self) -> bool {
        let mut totals: BTreeMap<BTreeSet<KeyId>, BTreeSet<i128>> = BTreeMap::new();
        let mut moved: BTreeSet<KeyId> = BTreeSet::new();
        let did_happen = |t: &TransactionId| self.history.outcome(*t) != Outcome::Aborted;
        for t in self.history.transactions().filter(did_happen) {
            let operations = || {
                self.history
                    .operations_of(t)
                    .map(|o| self.history.operation(o))
            };
            let writes = operations().filter(|o| o.kind == OperationKind::Write);
            moved.extend(writes.map(|o| o.key));
            let reads = || operations().filter(|o| o.kind == OperationKind::Read);
            let number = |value| self.history.exact_value_name(value).parse::<i128>().ok();
            if let Some(sum) = reads().map(|o| number(o.value)).sum::<Option<i128>>() {
                let accounts: BTreeSet<KeyId> = reads().map(|o| o.key).collect();
                totals.entry(accounts).or_default().insert(sum);
            }
        }
        let mut of_all = totals
            .iter()
            .filter(|(accounts, _)| moved.is_subset(accounts));
        of_all.any(|(accounts, sums)| !accounts.is_empty() && sums.len() > 1)
    }

    /// The state after a transaction; none if it cannot have been answered like that.
    fn step(&self, mut state: State, t: TransactionId) -> Option<State> {
        let history = self.history;
        if let Some(seen) = self.elements(t).filter(|_| self.of == Type::Set) {
            let is_there = |element: &KeyId| state.amounts.contains_key(&(*element, None));
            let is_all = seen.len() == state.amounts.len() && seen.iter().all(is_there);
            return is_all.then_some(state);
        }
        for operation in history.operations_of(t) {
            let is_write = history.operation(operation).kind == OperationKind::Write;
            let (key, value) = (
                history.operation(operation).key,
                history.operation(operation).value,
            );
            let number = || history.exact_value_name(value).parse::<i128>().ok();
            let held = || i128::from(history.exact_value_name(value) == "held");
            let slot = (key, Some(value).filter(|_| self.of == Type::Bag));
            let amount = state.amounts.entry(slot).or_default();
            match (self.of, is_write) {
                (Type::Queue, true) => state.messages.push(value),
                (Type::Queue, false) => {
                    (state.messages.first() == Some(&value)).then_some(())?;
                    state.messages.remove(0);
                }
                (Type::Counter | Type::Bank, true) => *amount += number()?,
                (Type::Counter, false) => (*amount == number()?).then_some(())?,
                (Type::Bank, false) => {
                    let first = number()? - *amount;
                    (*state.first.entry(key).or_insert(first) == first).then_some(())?;
                }
                (Type::Bag | Type::Set, true) => *amount += 1,
                (Type::Set, false) => {}
                (Type::Lock, true) => *amount = held(),
                (Type::Lock, false) => (*amount == held()).then_some(())?,
                (Type::Bag, false) => {
                    *amount -= 1;
                    (*amount >= 0).then_some(())?;
                }
            }
            if state.amounts.get(&slot) == Some(&0) {
                state.amounts.remove(&slot);
            }
        }
        Some(state)
    }

    /// When a transaction began, in half ticks: right after the one before it in its session, if that ended at this time.
    fn begin(&self, t: TransactionId) -> Option<i64> {
        let began = self.history.interval(t)?.start;
        let before = self.history.position_of(t).checked_sub(1);
        let before = before.and_then(|at| {
            let session = self.history.session_of(t);
            self.history.transactions_of(session).nth(at)
        });
        let ended = before.and_then(|before| self.history.interval(before));
        let follows = ended.is_some_and(|ran| ran.end == began);
        Some(began.saturating_mul(2).saturating_add(i64::from(follows)))
    }

    /// When a transaction ended, in half ticks, if it is known to have taken effect.
    fn end(&self, t: TransactionId) -> Option<i64> {
        let is_sure = self.history.outcome(t) == Outcome::Committed;
        let ran = self.history.interval(t).filter(|_| is_sure);
        ran.map(|ran| ran.end.saturating_mul(2))
    }

    /// Whether a transaction is known to have ended before another one began.
    fn precedes(&self, one: TransactionId, other: TransactionId) -> bool {
        let times = self.end(one).zip(self.begin(other));
        times.is_some_and(|(end, begin)| end < begin)
    }

    /// The transactions by key; a bank is one, whatever its accounts, and a set, whatever its elements.
    fn groups(&self) -> BTreeMap<Option<KeyId>, Vec<TransactionId>> {
        let mut groups: BTreeMap<Option<KeyId>, Vec<TransactionId>> = BTreeMap::new();
        // What there was before the log is what a type holds at first.
        let sets_up = |t: &TransactionId| self.history.set_up().contains(t);
        let did_happen =
            |t: &TransactionId| self.history.outcome(*t) != Outcome::Aborted && !sets_up(t);
        for t in self.history.transactions().filter(did_happen) {
            let first = self.history.operations_of(t).next();
            let key = match (self.of, first) {
                (_, None) => continue,
                (Type::Bank | Type::Set, _) => None,
                (_, Some(first)) => Some(self.history.operation(first).key),
            };
            groups.entry(key).or_default().push(t);
        }
        groups
    }

    /// Replays an order: each key by itself, in real time, with all that are known to have taken effect.
    pub(super) fn replay(&self, order: &[TransactionId]) -> Result<(), String> {
        let name = |t: TransactionId| self.history.transaction_name(t);
        let mut place = BTreeMap::new();
        for (at, t) in order.iter().enumerate() {
            if place.insert(*t, at).is_some() {
                return Err(format!("{} is in it twice", name(*t)));
            }
        }
        for mut group in self.groups().into_values() {
            let is_sure = |t: &&TransactionId| self.history.outcome(**t) == Outcome::Committed;
            if let Some(t) = group
                .iter()
                .filter(is_sure)
                .find(|t| !place.contains_key(t))
            {
                return Err(format!("{} is not in it", name(*t)));
            }
            group.retain(|t| place.contains_key(t));
            group.sort_by_key(|t| place[t]);
            let mut state = State::default();
            // The latest beginning of what is in the order so far.
            let mut latest: Option<TransactionId> = None;
            for t in group {
                if let Some(other) = latest.filter(|other| self.precedes(t, *other)) {
                    return Err(format!(
                        "{} had ended before {} began",
                        name(t),
                        name(other)
                    ));
                }
                if latest.is_none_or(|other| self.begin(other) < self.begin(t)) {
                    latest = Some(t);
                }
                state = self.step(state, t).ok_or_else(|| {
                    format!("{} cannot have been answered like that there", name(t))
                })?;
            }
        }
        Ok(())
    }

    /// Whether there is an order; none if there are too many possibilities, or nothing says what was before what.
    pub(super) fn has_order(&self) -> Option<bool> {
        if self
            .history
            .transactions()
            .any(|t| self.history.interval(t).is_none())
        {
            return None;
        }
        let mut budget = MOST;
        let groups = self.groups().into_values();
        let answers = groups.map(|group| match self.of {
            Type::Bag => Some(self.bag_has_order(group)),
            Type::Set => self.set_has_order(&group),
            Type::Counter => {
                let found = self.group_has_order(group.clone(), &mut budget);
                found.or_else(|| self.ones_have_order(&group))
            }
            Type::Bank | Type::Queue | Type::Lock => self.group_has_order(group, &mut budget),
        });
        let answers: Vec<Option<bool>> = answers.collect();
        if answers.contains(&Some(false)) {
            return Some(false);
        }
        answers.iter().all(Option::is_some).then_some(true)
    }

    /// Whether each message goes in before it comes out, where it goes in as soon and comes out as late as it can.
    fn bag_has_order(&self, mut group: Vec<TransactionId>) -> bool {
        let moment = |t: TransactionId| {
            let mut operations = self.history.operations_of(t);
            let goes_in =
                operations.any(|o| self.history.operation(o).kind == OperationKind::Write);
            match goes_in {
                true => (self.begin(t), 0),
                false => (self.end(t), 1),
            }
        };
        group.retain(|t| moment(*t).0.is_some());
        group.sort_by_key(|t| moment(*t));
        let mut order = group.into_iter();
        order
            .try_fold(State::default(), |state, t| self.step(state, t))
            .is_some()
    }

    /// Depth first: next is any transaction that no other one precedes. States are remembered by what is left.
    fn group_has_order(&self, mut group: Vec<TransactionId>, budget: &mut usize) -> Option<bool> {
        group.sort_by_key(|t| self.begin(*t));
        let begins: Vec<Option<i64>> = group.iter().map(|t| self.begin(*t)).collect();
        let is_sure = |t: TransactionId| self.history.outcome(t) == Outcome::Committed;
        // What is left: from a place on all, and before it these.
        type Left = (usize, BTreeSet<usize>);
        let mut seen: FxHashSet<(Left, State)> = FxHashSet::default();
        let mut open: Vec<(Left, State)> = vec![((0, BTreeSet::new()), State::default())];
        while let Some(((from, before), state)) = open.pop() {
            let rest = || before.iter().copied().chain(from..group.len());
            if !rest().any(|at| is_sure(group[at])) {
                return Some(true);
            }
            // Nothing that begins after this may be next.
            let mut first_end = i64::MAX;
            for at in rest() {
                if begins[at].is_none_or(|begin| begin > first_end) {
                    break;
                }
                first_end = self
                    .end(group[at])
                    .map_or(first_end, |end| first_end.min(end));
            }
            for at in rest() {
                if begins[at].is_some_and(|begin| begin > first_end) {
                    break;
                }
                let cost = 1 + self.history.operation_range(group[at]).len();
                *budget = budget.checked_sub(cost)?;
                let Some(next) = self.step(state.clone(), group[at]) else {
                    continue;
                };
                let mut left = (from, before.clone());
                if at < from {
                    left.1.remove(&at);
                } else {
                    left.1.extend(from..at);
                    left.0 = at + 1;
                }
                let configuration = (left, next);
                if seen.insert(configuration.clone()) {
                    open.push(configuration);
                }
            }
        }
        Some(false)
    }
}
