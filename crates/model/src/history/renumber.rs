//! The same history with other names, for target formats that use numbers for names, or in which 0 is initial.
//!
//! Nothing here changes what was observed. Values are only compared with values, so other names for them, distinct for
//! distinct values, change no verdict; the same holds for keys, sessions and transactions.

use super::{History, Names, OperationId, OperationKind, TransactionId, TransactionSet, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the numbers of a renumbered history represent: the old names, in the order of the numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameTable {
    /// By number, from 1.
    pub sessions: Vec<(u64, String)>,
    /// By number, from 1.
    pub transactions: Vec<(u64, String)>,
    /// By number, from 1.
    pub keys: Vec<(u64, String)>,
    /// By number, from 1; the value that is initial by default is 0.
    pub values: Vec<(u64, String)>,
}

/// A value with another number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewValue {
    /// Its old name.
    pub old: String,
    /// Its new number.
    pub new: u64,
}

impl History {
    /// The history in which every session, transaction, key and value is named by a number, and what the numbers
    /// represent. 0 is the value that is initial by default, or none. O(size of the history).
    pub fn renumbered(&self) -> (History, NameTable) {
        let mut renamed = self.with_plain_initial_reads().into_owned();
        let mut number_of: FxHashMap<Value, u64> = FxHashMap::default();
        let mut values = Vec::new();
        if let Some(initial) = renamed.initial_value {
            number_of.insert(initial, 0);
            values.push((0, self.exact_value_name(initial)));
        }
        for value in renamed.values_in_use() {
            let new = values.len() as u64 + u64::from(renamed.initial_value.is_none());
            number_of.entry(value).or_insert_with(|| {
                values.push((new, self.exact_value_name(value)));
                new
            });
        }
        renamed.map_values(|value| Value(number_of.get(&value).copied().unwrap_or(value.0)));
        renamed.value_names = Names::Implicit(0);
        let from_one = |n: usize| (1..=n as u64).collect::<Vec<u64>>();
        renamed.key_names = Names::Numbers(from_one(self.n_keys()));
        renamed.session_names = Names::Numbers(from_one(self.n_sessions()));
        renamed.transaction_names = Names::Numbers(from_one(self.n_transactions()));
        let table = NameTable {
            sessions: (1..)
                .zip(self.sessions().map(|s| self.exact_session_name(s)))
                .collect(),
            transactions: (1..)
                .zip(self.transactions().map(|t| self.exact_transaction_name(t)))
                .collect(),
            keys: (1..)
                .zip((0..self.n_keys()).map(|key| self.key_names.get(key)))
                .collect(),
            values,
        };
        (renamed, table)
    }

    /// The history in which 0 is the value that is initial by default, if any is, with the values that get other
    /// numbers for that. `None` if no value is in the way. O(size of the history).
    pub fn with_zero_initial(&self) -> Option<(History, Vec<NewValue>)> {
        let zero = self.value_called("0");
        let is_initial = zero.is_some() && zero == self.initial_value;
        let zero = zero.filter(|zero| self.values_in_use().any(|value| value == *zero));
        if is_initial || zero.is_none() && self.initial_value.is_none() {
            return None;
        }
        let fresh = self.fresh_number()?;
        let mut renames: Vec<(Value, u64)> = Vec::new();
        renames.extend(zero.map(|zero| (zero, fresh)));
        renames.extend(self.initial_value.map(|initial| (initial, 0)));
        let new_values = renames
            .iter()
            .map(|&(old, new)| NewValue {
                old: self.value_name(old),
                new,
            })
            .collect();
        let mut renamed = self.clone();
        match &mut renamed.value_names {
            Names::Implicit(_) => {
                renamed.map_values(|value| {
                    Value(
                        renames
                            .iter()
                            .find(|(old, _)| *old == value)
                            .map_or(value.0, |r| r.1),
                    )
                });
            }
            Names::Numbers(numbers) => renames
                .iter()
                .for_each(|(old, new)| numbers[old.0 as usize] = *new),
            Names::Strings(names) => {
                renames
                    .iter()
                    .for_each(|(old, new)| names[old.0 as usize] = new.to_string().into());
            }
        }
        Some((renamed, new_values))
    }

    /// The history in which the writes of declared set-up transactions to a key are the version before all others,
    /// without these transactions. `None` if there are none, or if that would not be equivalent: another transaction
    /// writes an initial value or reads what a set-up transaction overwrote, or a key holds lists. O(size of the
    /// history).
    pub fn with_set_up_as_initial(&self) -> Option<History> {
        if self.set_up.is_empty() {
            return None;
        }
        let mut is_set_up = vec![false; self.n_transactions()];
        self.set_up.iter().for_each(|t| is_set_up[t.index()] = true);
        let mut written: FxHashSet<(usize, Value)> = FxHashSet::default();
        for &t in &self.set_up {
            for o in self
                .operation_range(t)
                .filter(|&o| self.kinds[o] == OperationKind::Write)
            {
                written.insert((self.keys[o].index(), self.values[o]));
            }
        }
        let mut plain = self.clone();
        for t in self.transactions().filter(|t| !is_set_up[t.index()]) {
            for o in self.operation_range(t) {
                let (key, value) = (self.keys[o], self.values[o]);
                let of_set_up = self.set_up_values[key.index()];
                let is_initial = of_set_up == Some(value);
                let is_read = self.kinds[o] == OperationKind::Read;
                let is_overwritten = written.contains(&(key.index(), value)) && !is_initial;
                // For keys that a set-up transaction wrote, nothing else is initial.
                let is_nothing = of_set_up.is_some()
                    && (value == Value::INITIAL || Some(value) == self.initial_value);
                if of_set_up.is_some() && self.lists.is_list(key)
                    || is_overwritten
                    || !is_read && self.may_be_initial(key, value)
                    || is_nothing && !is_initial
                {
                    return None;
                }
                if is_initial {
                    plain.values[o] = Value::INITIAL;
                }
            }
        }
        if self
            .differs
            .iter()
            .any(|(o, value)| written.contains(&(self.keys[o.index()].index(), *value)))
        {
            return None;
        }
        plain.set_up_values = Vec::new();
        plain.set_up = Vec::new();
        let keep = TransactionSet::of(
            &plain,
            self.transactions().filter(|t| !is_set_up[t.index()]),
        );
        Some(plain.restrict(&keep, |_| true).0)
    }

    /// The history without empty transactions and without sessions that have only such. `None` if there are none.
    /// O(size of the history).
    pub fn without_empty_transactions(&self) -> Option<History> {
        let is_empty = |t: TransactionId| self.operation_range(t).is_empty();
        let has_empty_sessions = self.sessions().any(|s| self.transactions_of(s).len() == 0);
        if !has_empty_sessions && !self.transactions().any(is_empty) {
            return None;
        }
        let keep = TransactionSet::of(self, self.transactions().filter(|&t| !is_empty(t)));
        Some(self.restrict(&keep, |_| true).0)
    }

    /// Values that are neither initial nor unrecorded, with repetitions, by operation.
    fn values_in_use(&self) -> impl Iterator<Item = Value> + '_ {
        let of_operation = move |o: usize| {
            let id = OperationId::new(o);
            let elements = self.lists.read_by(id).unwrap_or_default();
            elements
                .iter()
                .copied()
                .chain([self.values[o]])
                .chain(self.differs_from(id))
        };
        (0..self.n_operations())
            .flat_map(of_operation)
            .filter(|value| value.0 <= Value::MAX_NUMBER)
    }

    /// The smallest number that is larger than all values in use; if that is too large, the smallest unused one.
    fn fresh_number(&self) -> Option<u64> {
        let number = |value: Value| match &self.value_names {
            Names::Implicit(_) => Some(value.0),
            names => names.text(value.0 as usize).parse().ok(),
        };
        let used: FxHashSet<u64> = self
            .values_in_use()
            .chain(self.initial_value)
            .filter_map(number)
            .collect();
        let above = used.iter().max().map_or(1, |most| most.saturating_add(1));
        // Most formats use signed numbers.
        if above <= i64::MAX as u64 {
            Some(above)
        } else {
            (1..i64::MAX as u64).find(|number| !used.contains(number))
        }
    }

    /// Replaces each value that is neither initial nor unrecorded.
    pub(super) fn map_values(&mut self, new: impl Fn(Value) -> Value) {
        let map = |value: &mut Value| {
            if value.0 <= Value::MAX_NUMBER {
                *value = new(*value);
            }
        };
        self.values
            .iter_mut()
            .chain(&mut self.initial_value)
            .for_each(map);
        self.set_up_values.iter_mut().flatten().for_each(map);
        self.differs.iter_mut().for_each(|(_, value)| map(value));
        self.lists.elements_mut().for_each(map);
    }
}
