//! What is there before all transactions, and what holds of all of them, worked out anew from the operations.

use super::linear;
use crate::history::{History, KeyId, OperationId, OperationKind, Outcome, SetUpRule, TransactionId, Value};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// The initial state of one history, and what else is asked of all evidence on it.
pub(super) struct Initial {
    /// By transaction: one of the set-up transactions, whose writes are the initial versions.
    setup: Vec<bool>,
    /// By key: the appends with which every list of it begins.
    appends: FxHashMap<KeyId, Vec<OperationId>>,
    /// Whether every transaction is lightweight; found out when it is asked.
    is_lightweight: OnceLock<Result<(), String>>,
    /// Of lightweight transactions: by key those that write it, and where in the list they begin.
    writers: OnceLock<(Vec<u32>, Vec<TransactionId>)>,
}

impl Initial {
    /// That of a history. O(operations).
    pub(super) fn new(history: &History) -> Initial {
        let (setup, appends) = (set_up(history), history.initial_appends());
        Initial { setup, appends, is_lightweight: OnceLock::new(), writers: OnceLock::new() }
    }

    /// Whether every transaction that may have committed is lightweight; why not. O(operations) the first time.
    pub(super) fn is_lightweight(&self, history: &History) -> Result<(), String> {
        self.is_lightweight.get_or_init(|| linear::is_lightweight(history)).clone()
    }

    /// Of lightweight transactions those that write a key and may have committed, ascending; without what sets it up.
    /// O(transactions) the first time.
    pub(super) fn writers_of(&self, history: &History, key: KeyId) -> &[TransactionId] {
        let (begin, writers) = self.writers.get_or_init(|| self.writers_by_key(history));
        &writers[begin[key.index()] as usize..begin[key.index() + 1] as usize]
    }

    fn writers_by_key(&self, history: &History) -> (Vec<u32>, Vec<TransactionId>) {
        let written = |t: TransactionId| {
            let mut operations = history.operations_of(t).map(|o| history.operation(o));
            operations.find(|o| o.kind == OperationKind::Write).map(|o| (o.key.index(), t))
        };
        let may_commit = |t: &TransactionId| history.outcome(*t) != Outcome::Aborted && !self.is_setup(*t);
        let mut by_key: Vec<(usize, TransactionId)> =
            history.transactions().filter(may_commit).filter_map(written).collect();
        by_key.sort_unstable();
        let begin = (0..=history.n_keys()).map(|key| by_key.partition_point(|(other, _)| *other < key) as u32);
        (begin.collect(), by_key.iter().map(|(_, t)| *t).collect())
    }

    /// Whether a transaction only sets up initial versions and counts as part of ⊥.
    pub(super) fn is_setup(&self, t: TransactionId) -> bool {
        !t.is_initial() && self.setup[t.index()]
    }

    /// The keys whose lists begin with what was set up.
    pub(super) fn keys(&self) -> impl Iterator<Item = KeyId> + '_ {
        self.appends.keys().copied()
    }

    /// The appends with which every list of a key begins.
    pub(super) fn appends(&self, key: KeyId) -> &[OperationId] {
        self.appends.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The elements with which every list of a key begins.
    pub(super) fn elements<'a>(&'a self, history: &'a History, key: KeyId) -> impl Iterator<Item = Value> + 'a {
        self.appends(key).iter().map(|o| history.values()[o.index()])
    }
}

/// The set-up transactions, which count as part of ⊥: those that are declared, else they committed, write the initial
/// value only, stand at the beginning of their sessions and write each key that is used exactly once among them,
/// while nobody else who may have committed writes an initial value, and no other committed one ended before one of
/// them began. O(operations).
fn set_up(history: &History) -> Vec<bool> {
    let none = vec![false; history.n_transactions()];
    let mut is_setup = none.clone();
    if !history.set_up().is_empty() || history.rules().set_up == SetUpRule::Never {
        history.set_up_that_took_effect().for_each(|t| is_setup[t.index()] = true);
        return is_setup;
    }
    let Some(initial) = history.initial_value() else { return none };
    let may_commit = |t: TransactionId| history.outcome(t) != Outcome::Aborted;
    let resets = |o: OperationId| {
        let o = history.operation(o);
        o.kind == OperationKind::Write && o.value == initial && !history.lists().is_list(o.key)
    };
    for session in history.sessions() {
        let used = history.transactions_of(session).filter(|&t| may_commit(t) && history.operations_of(t).len() > 0);
        let prefix =
            used.take_while(|&t| history.outcome(t) == Outcome::Committed && history.operations_of(t).all(resets));
        prefix.for_each(|t| is_setup[t.index()] = true);
    }
    if !is_setup.contains(&true) {
        return none;
    }
    let mut set_up_by: Vec<Option<TransactionId>> = vec![None; history.n_keys()];
    for t in history.transactions().filter(|t| is_setup[t.index()]) {
        for o in history.operations_of(t) {
            let by = &mut set_up_by[history.operation(o).key.index()];
            if by.replace(t).is_some_and(|other| other != t) {
                return none;
            }
        }
    }
    let others = history.transactions().filter(|&t| may_commit(t) && !is_setup[t.index()]);
    let unfit = |o: OperationId| resets(o) || set_up_by[history.operation(o).key.index()].is_none();
    for t in others {
        if history.operations_of(t).any(unfit) {
            return none;
        }
    }
    let mut last_start: Option<i64> = None;
    let mut first_end: Option<i64> = None;
    for t in history.transactions().filter(|&t| history.outcome(t) == Outcome::Committed) {
        let Some(interval) = history.interval(t) else { continue };
        if is_setup[t.index()] {
            last_start = last_start.max(Some(interval.start));
        } else {
            first_end = Some(first_end.map_or(interval.end, |end| end.min(interval.end)));
        }
    }
    match last_start.zip(first_end).is_none_or(|(start, end)| end >= start) {
        true => is_setup,
        false => none,
    }
}
