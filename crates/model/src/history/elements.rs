//! Elements of lists that were appended more than once, distinguished by name.

use super::{History, KeyId, Lists, Names, OperationId, OperationKind, Value};
use rustc_hash::{FxHashMap, FxHashSet};

impl History {
    /// This history in which each of these appends has an element of its own, as if no other transaction had appended
    /// it, and lists have it at these places: (read, place in its list, append). The reader's own appends at the end of
    /// a list are renamed with it. Names of elements stay. O(size of the history).
    pub fn with_own_elements(
        &self,
        appends: &[OperationId],
        listed: &[(OperationId, usize, OperationId)],
    ) -> History {
        let mut renamed = self.clone();
        let new: FxHashMap<OperationId, Value> = appends
            .iter()
            .copied()
            .zip(renamed.own_values(appends))
            .collect();
        new.iter()
            .for_each(|(append, &value)| renamed.values[append.index()] = value);
        for (key, set_up) in self.initial_appends() {
            renamed.set_up_values[key.index()] =
                set_up.last().map(|last| renamed.values[last.index()]);
        }
        let listed: FxHashMap<(OperationId, usize), Value> = listed
            .iter()
            .filter_map(|&(read, place, append)| Some(((read, place), *new.get(&append)?)))
            .collect();
        let mut lists: Vec<(OperationId, Vec<Value>)> = Vec::with_capacity(self.lists.iter().len());
        for (read, elements) in self.lists.iter() {
            let own = self.own_appends_before(read);
            let n_outside = elements.len().saturating_sub(own.len());
            let is_tail = own
                .iter()
                .map(|o| self.values[o.index()])
                .eq(elements[n_outside..].iter().copied());
            let of_own = |place: usize| {
                new.get(own.get(place.checked_sub(n_outside)?)?)
                    .filter(|_| is_tail)
                    .copied()
            };
            let element = |(place, &old): (usize, &Value)| {
                listed
                    .get(&(read, place))
                    .copied()
                    .or_else(|| of_own(place))
                    .unwrap_or(old)
            };
            let elements: Vec<Value> = elements.iter().enumerate().map(element).collect();
            renamed.values[read.index()] = elements.last().copied().unwrap_or(Value::INITIAL);
            lists.push((read, elements));
        }
        let is_list = (0..self.n_keys())
            .map(|key| self.lists.is_list(KeyId::new(key)))
            .collect();
        let lists = lists
            .iter()
            .map(|(read, elements)| (*read, self.keys[read.index()], elements.as_slice()));
        renamed.lists = Lists::new(is_list, lists);
        renamed
    }

    /// The appends of a read's transaction to its key before it, in program order.
    fn own_appends_before(&self, read: OperationId) -> Vec<OperationId> {
        let key = self.keys[read.index()];
        let is_own = |o: &OperationId| {
            self.kinds[o.index()] == OperationKind::Write && self.keys[o.index()] == key
        };
        self.operations_of(self.transaction_of(read))
            .take_while(|o| *o < read)
            .filter(is_own)
            .collect()
    }

    /// Values that occur nowhere, with the names of the values of these operations.
    fn own_values(&mut self, operations: &[OperationId]) -> Vec<Value> {
        let old = |o: &OperationId| self.values[o.index()];
        match &mut self.value_names {
            Names::Implicit(_) => {
                let in_lists = self.lists.stems().iter().flatten().copied();
                let used: FxHashSet<Value> = self.values.iter().copied().chain(in_lists).collect();
                let unused = (0..=Value::MAX_NUMBER)
                    .rev()
                    .map(Value)
                    .filter(|value| !used.contains(value));
                unused.take(operations.len()).collect()
            }
            Names::Numbers(numbers) => {
                let begin = numbers.len();
                let names: Vec<u64> = operations
                    .iter()
                    .map(|o| numbers[old(o).0 as usize])
                    .collect();
                numbers.extend(names);
                (begin..numbers.len())
                    .map(|place| Value(place as u64))
                    .collect()
            }
            Names::Strings(strings) => {
                let begin = strings.len();
                let names: Vec<Box<str>> = operations
                    .iter()
                    .map(|o| strings[old(o).0 as usize].clone())
                    .collect();
                strings.extend(names);
                (begin..strings.len())
                    .map(|place| Value(place as u64))
                    .collect()
            }
        }
    }
}
