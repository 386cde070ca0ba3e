//! The only way to make a [`History`].

use super::{History, Interval, KeyId, Names, OperationKind, Origin, Outcome, SessionId, Value};
use rustc_hash::FxHashMap;

/// What a history cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// Ids are 32 bits wide.
    #[error("more than {} {what}", u32::MAX - 2)]
    TooMany {
        /// "operations", "keys", …
        what: &'static str,
    },
}

/// A transaction under construction: a place in the order in which [`Builder::transaction`] was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Draft(pub u32);

/// Interns numbers and strings side by side; the result is all numbers when no string came.
#[derive(Clone, Debug, Default)]
struct Interner {
    numbers: FxHashMap<u64, u32>,
    strings: FxHashMap<Box<str>, u32>,
    all_numbers: Vec<u64>,
    all_strings: Vec<(u32, Box<str>)>,
    len: u32,
}

impl Interner {
    fn number(&mut self, number: u64) -> u32 {
        let next = self.len;
        let id = *self.numbers.entry(number).or_insert(next);
        if id == next {
            self.all_numbers.push(number);
            self.len += 1;
        }
        id
    }

    fn string(&mut self, string: &str) -> u32 {
        if let Some(&id) = self.strings.get(string) {
            return id;
        }
        let id = self.len;
        self.strings.insert(string.into(), id);
        self.all_strings.push((id, string.into()));
        self.all_numbers.push(0);
        self.len += 1;
        id
    }

    fn finish(self) -> Names {
        if self.all_strings.is_empty() {
            return Names::Numbers(self.all_numbers);
        }
        let mut names: Vec<Box<str>> = self.all_numbers.iter().map(|n| n.to_string().into()).collect();
        for (id, string) in self.all_strings {
            names[id as usize] = string;
        }
        Names::Strings(names)
    }
}

/// Collects sessions, transactions and operations in any order; [`Builder::finish`] sorts them.
///
/// The session order is the order in which the transactions of a session were begun, the program order the order in
/// which the operations of a transaction were added; operations of different transactions may alternate.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    origin: Origin,
    sessions: Interner,
    keys: Interner,
    values: Interner,
    initial_value: Option<Value>,
    session: Vec<SessionId>,
    outcome: Vec<Outcome>,
    name: Vec<Option<Box<str>>>,
    number: Vec<Option<u64>>,
    interval: Vec<Option<Interval>>,
    operation_draft: Vec<u32>,
    kind: Vec<OperationKind>,
    key: Vec<KeyId>,
    value: Vec<Value>,
    line: Vec<u32>,
}

impl Builder {
    /// An empty history of this origin.
    pub fn new(origin: Origin) -> Builder {
        Builder { origin, ..Builder::default() }
    }

    /// Declares the value that reads as "initial" where nobody writes it.
    pub fn initial_value(&mut self, value: Value) {
        self.initial_value = Some(value);
    }

    /// The session with this number, made on first use.
    pub fn session_number(&mut self, number: u64) -> SessionId {
        SessionId(self.sessions.number(number))
    }

    /// The session with this name, made on first use.
    pub fn session_name(&mut self, name: &str) -> SessionId {
        SessionId(self.sessions.string(name))
    }

    /// The key with this number, made on first use.
    pub fn key_number(&mut self, number: u64) -> KeyId {
        KeyId(self.keys.number(number))
    }

    /// The key with this name, made on first use.
    pub fn key_name(&mut self, name: &str) -> KeyId {
        KeyId(self.keys.string(name))
    }

    /// A value that is no number, interned. Do not mix with plain [`Value`] numbers in one history.
    pub fn value_name(&mut self, name: &str) -> Value {
        Value(u64::from(self.values.string(name)))
    }

    /// Begins the next transaction of a session.
    pub fn transaction(&mut self, session: SessionId, outcome: Outcome) -> Draft {
        let draft = Draft(self.session.len() as u32);
        self.session.push(session);
        self.outcome.push(outcome);
        draft
    }

    /// Says how the file calls a transaction.
    pub fn number_transaction(&mut self, draft: Draft, number: u64) {
        self.number.resize(self.session.len(), None);
        self.number[draft.0 as usize] = Some(number);
    }

    /// Says how the file calls a transaction.
    pub fn name_transaction(&mut self, draft: Draft, name: &str) {
        self.name.resize(self.session.len(), None);
        self.name[draft.0 as usize] = Some(name.into());
    }

    /// Corrects the outcome of a transaction.
    pub fn set_outcome(&mut self, draft: Draft, outcome: Outcome) {
        self.outcome[draft.0 as usize] = outcome;
    }

    /// Says when a transaction ran.
    pub fn set_interval(&mut self, draft: Draft, interval: Interval) {
        self.interval.resize(self.session.len(), None);
        self.interval[draft.0 as usize] = Some(interval);
    }

    /// Adds an operation to a transaction; `line` is 1-based, 0 for none.
    #[inline]
    pub fn operation(&mut self, draft: Draft, kind: OperationKind, key: KeyId, value: Value, line: u32) {
        self.operation_draft.push(draft.0);
        self.kind.push(kind);
        self.key.push(key);
        self.value.push(value);
        self.line.push(line);
    }

    /// Sorts everything into place. O(operations + transactions).
    pub fn finish(mut self) -> Result<History, BuildError> {
        let limit = u32::MAX as usize - 2;
        for (n, what) in [(self.kind.len(), "operations"), (self.session.len(), "transactions")] {
            if n > limit {
                return Err(BuildError::TooMany { what });
            }
        }
        let n_sessions = self.sessions.len as usize;
        let (session_begin, by_session) = counting_sort(self.session.iter().map(|s| s.0), n_sessions);
        // by_session[new] = draft
        let mut new_of_draft = vec![0u32; by_session.len()];
        for (new, &draft) in by_session.iter().enumerate() {
            new_of_draft[draft as usize] = new as u32;
        }
        let owners = self.operation_draft.iter().map(|&draft| new_of_draft[draft as usize]);
        let sorted = owners.clone().is_sorted();
        let (operation_begin, by_transaction) = counting_sort(owners, by_session.len());
        if !sorted {
            permute(&mut self.kind, &by_transaction);
            permute(&mut self.key, &by_transaction);
            permute(&mut self.value, &by_transaction);
            permute(&mut self.line, &by_transaction);
        }
        let transaction_names = self.transaction_names(&by_session);
        let intervals = (!self.interval.is_empty()).then(|| {
            self.interval.resize(by_session.len(), None);
            by_session.iter().map(|&draft| self.interval[draft as usize]).collect()
        });
        Ok(History {
            origin: self.origin,
            session_names: self.sessions.finish(),
            session_begin,
            transaction_names,
            transaction_session: by_session.iter().map(|&draft| self.session[draft as usize]).collect(),
            outcomes: by_session.iter().map(|&draft| self.outcome[draft as usize]).collect(),
            intervals,
            operation_begin,
            kinds: self.kind,
            keys: self.key,
            values: self.value,
            lines: self.line,
            key_names: self.keys.finish(),
            value_names: if self.values.len == 0 { Names::Implicit(0) } else { self.values.finish() },
            initial_value: self.initial_value,
        })
    }

    /// Names of the transactions in their final order: numbers when all have one, strings when any has a name.
    fn transaction_names(&mut self, by_session: &[u32]) -> Names {
        self.number.resize(by_session.len(), None);
        if self.name.is_empty() {
            if !by_session.is_empty() && self.number.iter().all(Option::is_some) {
                return Names::Numbers(by_session.iter().filter_map(|&draft| self.number[draft as usize]).collect());
            }
            if self.number.iter().all(Option::is_none) {
                return Names::Implicit(by_session.len());
            }
        }
        self.name.resize(by_session.len(), None);
        let name = |(new, &draft): (usize, &u32)| match (&self.name[draft as usize], self.number[draft as usize]) {
            (Some(name), _) => name.clone(),
            (None, Some(number)) => format!("T{number}").into(),
            (None, None) => format!("#{new}").into(),
        };
        Names::Strings(by_session.iter().enumerate().map(name).collect())
    }
}

/// Stable counting sort: where each of `n` buckets begins, and the items in bucket order.
fn counting_sort(buckets: impl Iterator<Item = u32> + Clone, n: usize) -> (Vec<u32>, Vec<u32>) {
    let mut begin = vec![0u32; n + 1];
    let mut len = 0;
    for bucket in buckets.clone() {
        begin[bucket as usize + 1] += 1;
        len += 1;
    }
    for b in 0..n {
        begin[b + 1] += begin[b];
    }
    let mut next = begin.clone();
    let mut order = vec![0u32; len];
    for (item, bucket) in buckets.enumerate() {
        let place = &mut next[bucket as usize];
        order[*place as usize] = item as u32;
        *place += 1;
    }
    (begin, order)
}

fn permute<T: Copy>(items: &mut Vec<T>, order: &[u32]) {
    *items = order.iter().map(|&i| items[i as usize]).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{OperationId, TransactionId};

    #[test]
    fn interleaved_operations_are_sorted_by_session_and_transaction() {
        let mut b = Builder::new(Origin::default());
        let x = b.key_number(7);
        let (s1, s0) = (b.session_number(1), b.session_number(0));
        let t = b.transaction(s0, Outcome::Committed);
        let u = b.transaction(s1, Outcome::Aborted);
        b.number_transaction(t, 40);
        b.number_transaction(u, 41);
        b.operation(t, OperationKind::Write, x, Value(1), 1);
        b.operation(u, OperationKind::Write, x, Value(2), 2);
        b.operation(t, OperationKind::Read, x, Value(1), 3);
        let h = b.finish().unwrap();
        assert_eq!((h.n_sessions(), h.n_transactions(), h.n_operations(), h.n_keys()), (2, 2, 3, 1));
        assert_eq!(h.transaction_name(TransactionId(0)), "T41");
        assert_eq!(h.outcome(TransactionId(0)), Outcome::Aborted);
        assert_eq!(h.operations_of(TransactionId(1)).collect::<Vec<_>>(), [OperationId(1), OperationId(2)]);
        assert_eq!(h.line_of(OperationId(2)), 3);
        assert_eq!(h.transaction_of(OperationId(0)), TransactionId(0));
        assert_eq!(h.transaction_of(OperationId(2)), TransactionId(1));
        assert_eq!(h.operation_text(OperationId(2)), "r(7) = 1");
    }
}
