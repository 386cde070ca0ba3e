//! Sub-histories, the basis of counterexamples.

use super::{
    History, KeyId, Lists, Names, OperationId, OperationKind, Prefix, SessionId, TransactionId,
    Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// A set of transactions of one history, as a bit per transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionSet {
    member: Vec<bool>,
    len: usize,
}

impl TransactionSet {
    /// The empty set over the transactions of `history`.
    pub fn empty(history: &History) -> TransactionSet {
        TransactionSet {
            member: vec![false; history.n_transactions()],
            len: 0,
        }
    }

    /// All transactions of `history`.
    pub fn full(history: &History) -> TransactionSet {
        TransactionSet {
            member: vec![true; history.n_transactions()],
            len: history.n_transactions(),
        }
    }

    /// The set of these transactions; ⊥ is ignored.
    pub fn of(
        history: &History,
        transactions: impl IntoIterator<Item = TransactionId>,
    ) -> TransactionSet {
        let mut set = TransactionSet::empty(history);
        for t in transactions {
            set.insert(t);
        }
        set
    }

    /// Adds a transaction; ⊥ is ignored. Returns whether it is new.
    pub fn insert(&mut self, t: TransactionId) -> bool {
        let new = !t.is_initial() && !std::mem::replace(&mut self.member[t.index()], true);
        self.len += usize::from(new);
        new
    }

    /// Removes a transaction. Returns whether it was there.
    pub fn remove(&mut self, t: TransactionId) -> bool {
        let there = !t.is_initial() && std::mem::replace(&mut self.member[t.index()], false);
        self.len -= usize::from(there);
        there
    }

    /// Whether `t` is in the set; ⊥ always is.
    pub fn contains(&self, t: TransactionId) -> bool {
        t.is_initial() || self.member[t.index()]
    }

    /// Number of members, excluding ⊥.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The members in order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = TransactionId> + '_ {
        self.member
            .iter()
            .enumerate()
            .filter(|(_, m)| **m)
            .map(|(t, _)| TransactionId::new(t))
    }
}

/// How the ids of a sub-history map to those of the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renaming {
    /// By new transaction id: the old one.
    pub transactions: Vec<TransactionId>,
    /// By new operation id: the old one.
    pub operations: Vec<OperationId>,
    /// By new key id: the old one.
    pub keys: Vec<KeyId>,
    /// By new session id: the old one.
    pub sessions: Vec<SessionId>,
}

impl Renaming {
    /// The transaction of the whole history; ⊥ stays ⊥.
    pub fn old_transaction(&self, new: TransactionId) -> TransactionId {
        if new.is_initial() {
            new
        } else {
            self.transactions[new.index()]
        }
    }

    /// The transaction of the sub-history, if it is there; ⊥ stays ⊥. O(log n).
    pub fn new_transaction(&self, old: TransactionId) -> Option<TransactionId> {
        if old.is_initial() {
            Some(old)
        } else {
            self.transactions
                .binary_search(&old)
                .ok()
                .map(TransactionId::new)
        }
    }

    /// The operation of the sub-history, if it is there. O(log n).
    pub fn new_operation(&self, old: OperationId) -> Option<OperationId> {
        self.operations
            .binary_search(&old)
            .ok()
            .map(OperationId::new)
    }
}

impl History {
    /// The sub-history of the transactions in `keep`, with those of their operations for which `keep_operation` holds.
    ///
    /// Names and lines stay; sessions and keys that no longer occur are dropped. A read whose writer is not kept turns
    /// into a thin-air read unless `keep_operation` drops it: the caller decides, since only the resolution of reads
    /// knows writers. A list loses the elements whose appends are not kept, as if they had never been appended.
    /// O(operations kept + transactions kept + keys), with lists O(operations).
    pub fn restrict(
        &self,
        keep: &TransactionSet,
        keep_operation: impl Fn(OperationId) -> bool,
    ) -> (History, Renaming) {
        let mut renaming = Renaming::default();
        let mut new_key = vec![u32::MAX; self.n_keys()];
        let mut session_begin = vec![0u32];
        let mut transaction_session = Vec::new();
        let mut operation_begin = vec![0u32];
        let mut keys = Vec::new();
        for t in keep.iter() {
            let session = self.session_of(t);
            if renaming.sessions.last() != Some(&session) {
                if !renaming.sessions.is_empty() {
                    session_begin.push(renaming.transactions.len() as u32);
                }
                renaming.sessions.push(session);
            }
            transaction_session.push(SessionId::new(renaming.sessions.len() - 1));
            renaming.transactions.push(t);
            for o in self.operations_of(t).filter(|&o| keep_operation(o)) {
                let key = self.keys[o.index()];
                let slot = &mut new_key[key.index()];
                if *slot == u32::MAX {
                    *slot = renaming.keys.len() as u32;
                    renaming.keys.push(key);
                }
                keys.push(KeyId(*slot));
                renaming.operations.push(o);
            }
            operation_begin.push(renaming.operations.len() as u32);
        }
        if !renaming.sessions.is_empty() {
            session_begin.push(renaming.transactions.len() as u32);
        }
        let old = |t: &TransactionId| t.index();
        let positional = |t: &TransactionId| self.transaction_label(*t).is_none();
        let transaction_names = match &self.transaction_names {
            // Positions change, so names derived from positions must be written out.
            _ if renaming.transactions.iter().any(positional) => Names::Strings(
                renaming
                    .transactions
                    .iter()
                    .map(|&t| self.display_name(t).into())
                    .collect(),
            ),
            names => names.select(renaming.transactions.iter().map(old)),
        };
        let renamed = |o: &OperationId| {
            renaming
                .operations
                .binary_search(o)
                .ok()
                .map(OperationId::new)
        };
        let mut origin = self.origin.clone();
        if !origin.part_of_session.is_empty() {
            let part = |s: &SessionId| self.origin.part_of_session(*s).unwrap_or_default();
            origin.part_of_session = renaming.sessions.iter().map(part).collect();
        }
        let (values, lists) = self.restrict_values(&renaming, &keys);
        let times = || {
            renaming
                .transactions
                .iter()
                .filter_map(|&t| self.interval(t))
        };
        let ran = times()
            .map(|times| times.start)
            .min()
            .zip(times().map(|times| times.end).max());
        let set_up_values = if self.set_up_values.is_empty() {
            Vec::new()
        } else {
            renaming
                .keys
                .iter()
                .map(|key| self.set_up_values[key.index()])
                .collect()
        };
        let history = History {
            origin,
            cluster: self.cluster.select(renaming.sessions.iter().copied(), ran),
            session_names: self
                .session_names
                .select(renaming.sessions.iter().map(|s| s.index())),
            session_begin,
            transaction_names,
            transaction_session,
            outcomes: renaming
                .transactions
                .iter()
                .map(|t| self.outcomes[t.index()])
                .collect(),
            intervals: self
                .intervals
                .as_ref()
                .map(|i| renaming.transactions.iter().map(|t| i[t.index()]).collect()),
            operation_begin,
            kinds: renaming
                .operations
                .iter()
                .map(|o| self.kinds[o.index()])
                .collect(),
            keys,
            values,
            lines: renaming
                .operations
                .iter()
                .map(|o| self.line_of(*o))
                .collect(),
            within: renaming
                .operations
                .iter()
                .map(|o| self.within(*o))
                .collect(),
            key_names: self
                .key_names
                .select(renaming.keys.iter().map(|k| k.index())),
            value_names: self.value_names.clone(),
            initial_value: self.initial_value,
            set_up_values,
            set_up: self
                .set_up
                .iter()
                .filter_map(|&t| renaming.new_transaction(t))
                .collect(),
            lists,
            appends: Default::default(),
            failed: self.failed.iter().filter_map(renamed).collect(),
            differs: self
                .differs
                .iter()
                .filter_map(|(o, v)| Some((renamed(o)?, *v)))
                .collect(),
            scans: self.scans_in_part(
                |t| renaming.new_transaction(t),
                |old| renaming.operations.partition_point(|o| o.0 < old) as u32,
                |old| renaming.operations.binary_search(&old).is_ok(),
                |key| new_key[key.index()] != u32::MAX,
            ),
            rules: self.rules.clone(),
            suggestions: self.suggestions.clone(),
            assumptions: self.assumptions.clone(),
            recorded: None,
            workload: None,
        };
        (history, renaming)
    }

    /// This part of `whole`, with lists displayed as they were recorded: including the elements whose appends are left
    /// out. The meaning of the part does not change. O(elements of its lists).
    pub fn with_lists_as_recorded(mut self, whole: &History, renaming: &Renaming) -> History {
        if !self.lists.is_empty() {
            let recorded = |o: OperationId| {
                whole
                    .lists
                    .recorded_by(*renaming.operations.get(o.index())?)
            };
            let mut lists = std::mem::take(&mut self.lists);
            lists.remember(|o| recorded(o).map(Box::from));
            self.lists = lists;
        }
        self
    }

    /// The values and lists of the kept operations, which have these keys, lists without elements that are no longer
    /// appended.
    fn restrict_values(&self, renaming: &Renaming, keys: &[KeyId]) -> (Vec<Value>, Lists) {
        let mut values: Vec<Value> = renaming
            .operations
            .iter()
            .map(|o| self.values[o.index()])
            .collect();
        if self.lists.is_empty() {
            return (values, Lists::default());
        }
        let appends = |o: &OperationId| self.kinds[o.index()] == OperationKind::Write;
        let element = |o: OperationId| (self.keys[o.index()], self.values[o.index()]);
        let mut gone: FxHashSet<(KeyId, Value)> = (0..self.n_operations())
            .map(OperationId::new)
            .filter(appends)
            .map(element)
            .collect();
        for kept in renaming.operations.iter().copied().filter(appends) {
            gone.remove(&element(kept));
        }
        // By stem: the elements that are left, and their places.
        let mut left: FxHashMap<u32, (Vec<Value>, Vec<usize>)> = FxHashMap::default();
        let mut lists: Vec<(OperationId, Prefix)> = Vec::new();
        for (new, &old) in renaming.operations.iter().enumerate() {
            let Some(prefix) = self.lists.prefix_of(old) else {
                continue;
            };
            let key = self.keys[old.index()];
            let (elements, places) = left.entry(prefix.stem).or_insert_with(|| {
                let all = self.lists.stems()[prefix.stem as usize]
                    .iter()
                    .copied()
                    .enumerate();
                all.filter(|&(_, value)| !gone.contains(&(key, value)))
                    .map(|(place, value)| (value, place))
                    .unzip()
            });
            let n_left = places.partition_point(|&place| place < prefix.length as usize);
            values[new] = n_left
                .checked_sub(1)
                .map_or(Value::INITIAL, |last| elements[last]);
            lists.push((
                OperationId::new(new),
                Prefix {
                    length: n_left as u32,
                    ..prefix
                },
            ));
        }
        let list = |&(o, Prefix { stem, length }): &(OperationId, Prefix)| {
            (o, keys[o.index()], &left[&stem].0[..length as usize])
        };
        let is_list = renaming
            .keys
            .iter()
            .map(|&key| self.lists.is_list(key))
            .collect();
        (values, Lists::new(is_list, lists.iter().map(list)))
    }
}
