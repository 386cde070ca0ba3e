//! Transactions that explicitly write the initial state.

use crate::history::{History, OperationKind, Outcome, SetUpRule, TransactionId};
use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;

/// The transactions that set up the initial state, ascending, possibly none: those that the file or the user declares,
/// else those found here.
///
/// Many histories begin with transactions that write the initial value of every key. Their versions are then
/// indistinguishable from the initial ones, and reads of them would be ambiguous. They count as part of ⊥ if they
/// committed, write nothing but the initial value, and are at the beginning of their sessions, unless something in
/// their group contradicts it. A group is all transactions that share keys or sessions, directly or through others, and
/// is independent of the rest. Contradictions are a key in the group that a transaction which may have committed
/// accesses and none of them writes, a key that two of them write, an initial value that another transaction writes,
/// and, if times are known, another one that had committed and ended before one of them began. A late reset of all keys
/// may look the same: this is an assumption, the resolution says so, and the checkers say where a verdict rests on it
/// alone.
///
/// A level that is satisfied with it is also satisfied without it: in an order that explains all reads each of these
/// transactions can come as early as real time allows.
///
/// O(operations · log keys) at worst, and O(transactions) if no session begins this way.
pub fn set_up_transactions(history: &History) -> Vec<TransactionId> {
    if !finds_set_up(history) {
        return history.set_up_that_took_effect().collect();
    }
    find(history).0
}

/// The transactions related to those that are only assumed to set up the initial state.
pub struct AssumedSetUp {
    /// These transactions, ascending.
    pub set_up: Vec<TransactionId>,
    /// All transactions of their group, ascending: they share no key and no session with any other.
    pub all: Vec<TransactionId>,
}

/// The groups in which transactions are only assumed to set up the initial state, by their first transactions.
/// O(operations · log keys).
pub fn assumed_set_up(history: &History) -> Vec<AssumedSetUp> {
    let (set_up, groups) = if finds_set_up(history) {
        find(history)
    } else {
        Default::default()
    };
    if set_up.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<AssumedSetUp> = Vec::new();
    let mut place: FxHashMap<usize, usize> = FxHashMap::default();
    for t in set_up {
        let at = *place.entry(groups.of(history, t)).or_insert(found.len());
        if at == found.len() {
            found.push(AssumedSetUp {
                set_up: Vec::new(),
                all: Vec::new(),
            });
        }
        found[at].set_up.push(t);
    }
    for t in history.transactions() {
        if let Some(&at) = place.get(&groups.of(history, t)) {
            found[at].all.push(t);
        }
    }
    found
}

/// The transactions that look like a set-up, with the groups if there are any.
fn find(history: &History) -> (Vec<TransactionId>, Groups) {
    let candidates = candidates(history);
    if !candidates.contains(&true) {
        return Default::default();
    }
    let groups = Groups::new(history);
    let is_refuted = refuted(history, &candidates, &groups);
    let is_set_up =
        |t: &TransactionId| candidates[t.index()] && !is_refuted[groups.of(history, *t)];
    (history.transactions().filter(is_set_up).collect(), groups)
}

/// Whether a transaction may be part of a set-up.
pub(super) fn may_set_up(history: &History, t: TransactionId) -> bool {
    if finds_set_up(history) {
        only_writes_initial_values(history, t)
    } else {
        history.set_up().binary_search(&t).is_ok()
    }
}

/// Whether the user does not say which transactions set up the initial state.
fn finds_set_up(history: &History) -> bool {
    history.set_up().is_empty() && history.rules().set_up != SetUpRule::Never && !history.has_rows()
}

fn writes_initial_value(history: &History, o: usize) -> bool {
    // An element of a list is never the empty list.
    history.kinds()[o] == OperationKind::Write
        && Some(history.values()[o]) == history.initial_value()
        && !history.lists().is_list(history.keys()[o])
}

fn only_writes_initial_values(history: &History, t: TransactionId) -> bool {
    let mut operations = history.operation_range(t);
    !operations.is_empty() && operations.all(|o| writes_initial_value(history, o))
}

/// Whether a transaction matters here: it may have committed and is not empty.
fn takes_part(history: &History, t: TransactionId) -> bool {
    history.outcome(t) != Outcome::Aborted && !history.operation_range(t).is_empty()
}

/// By transaction: whether it committed, writes nothing but initial values, and is preceded only by such in its
/// session.
fn candidates(history: &History) -> Vec<bool> {
    let mut candidates = vec![false; history.n_transactions()];
    for session in history.sessions() {
        let first = history
            .transactions_of(session)
            .filter(|&t| takes_part(history, t));
        let fits = |&t: &TransactionId| {
            history.outcome(t) == Outcome::Committed && only_writes_initial_values(history, t)
        };
        first
            .take_while(fits)
            .for_each(|t| candidates[t.index()] = true);
    }
    candidates
}

/// By group: whether something in it contradicts its candidates.
fn refuted(history: &History, candidates: &[bool], groups: &Groups) -> Vec<bool> {
    let mut is_refuted = vec![false; groups.len()];
    let mut writer: Vec<Option<TransactionId>> = vec![None; history.n_keys()];
    let key = |o: usize| history.keys()[o].index();
    for t in history.transactions().filter(|t| candidates[t.index()]) {
        for o in history.operation_range(t) {
            let before = writer[key(o)].replace(t);
            is_refuted[groups.of(history, t)] |= before.is_some_and(|other| other != t);
        }
    }
    for t in history
        .transactions()
        .filter(|&t| takes_part(history, t) && !candidates[t.index()])
    {
        let speaks_against =
            |o: usize| writes_initial_value(history, o) || writer[key(o)].is_none();
        is_refuted[groups.of(history, t)] |= history.operation_range(t).any(speaks_against);
    }
    let mut last_start: Vec<Option<i64>> = vec![None; groups.len()];
    let mut first_end: Vec<Option<i64>> = vec![None; groups.len()];
    for t in history
        .transactions()
        .filter(|&t| history.outcome(t) == Outcome::Committed)
    {
        let Some(interval) = history.interval(t) else {
            continue;
        };
        let group = groups.of(history, t);
        if candidates[t.index()] {
            last_start[group] = last_start[group].max(Some(interval.start))
        } else {
            first_end[group] =
                Some(first_end[group].map_or(interval.end, |end| end.min(interval.end)))
        }
    }
    for (group, (start, end)) in last_start.into_iter().zip(first_end).enumerate() {
        is_refuted[group] |= start.zip(end).is_some_and(|(start, end)| end < start);
    }
    is_refuted
}

/// Sessions that share keys, directly or through others: a forest over sessions and keys.
#[derive(Default)]
struct Groups(UnionFind<u32>);

impl Groups {
    fn new(history: &History) -> Groups {
        let mut joined = UnionFind::new(history.n_sessions() + history.n_keys());
        for t in history.transactions().filter(|&t| takes_part(history, t)) {
            let session = history.session_of(t).0;
            for o in history.operation_range(t) {
                joined.union(session, history.n_sessions() as u32 + history.keys()[o].0);
            }
        }
        Groups(joined)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    /// The group of a transaction.
    fn of(&self, history: &History, t: TransactionId) -> usize {
        self.0.find(history.session_of(t).0) as usize
    }
}
