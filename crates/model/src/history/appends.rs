//! Who appended the elements of lists.

use super::{History, KeyId, OperationId, OperationKind, Outcome, TransactionId, Value};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// The appends of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// This operation, of a transaction that did not abort.
    Once(OperationId),
    /// Several operations, of transactions that did not abort.
    Several,
    /// Only transactions that aborted; of their appends the one that began first, as far as is known.
    Aborted(OperationId),
}

/// By key and element: all appends of it, also aborted ones, in order, if there are several.
pub type Repeated = FxHashMap<(KeyId, Value), Vec<OperationId>>;

/// An element that was appended.
#[derive(Clone, Copy, Debug)]
pub struct AppendedElement {
    value: Value,
    /// By which operations.
    pub appended: Appended,
    /// The transaction of the operation, if it is one.
    pub by: TransactionId,
    /// Whether that transaction appended nothing else to the key.
    pub is_alone: bool,
}

/// All appends to keys that hold lists.
#[derive(Debug, Default)]
pub struct Appends {
    /// By key: where its elements begin, one more than keys.
    begin: Vec<u32>,
    /// By key and value, each once.
    elements: Vec<AppendedElement>,
    repeated: Repeated,
}

/// They, once they are known; a copy of a history, which may be changed, begins without them.
#[derive(Debug, Default)]
pub(super) struct KnownAppends(OnceLock<Appends>);

impl Clone for KnownAppends {
    fn clone(&self) -> KnownAppends {
        KnownAppends::default()
    }
}

impl Appends {
    fn new(history: &History) -> Appends {
        let mut found = Appends::default();
        if history.lists().is_empty() {
            return found;
        }
        let (begin, appends) = by_key(history);
        found.begin.push(0);
        for key in 0..history.n_keys() {
            found.add(
                history,
                KeyId::new(key),
                &appends[begin[key] as usize..begin[key + 1] as usize],
            );
            found.begin.push(found.elements.len() as u32);
        }
        found
    }

    /// Adds the appends to a key, which are in order.
    fn add(&mut self, history: &History, key: KeyId, appends: &[(OperationId, TransactionId)]) {
        let by = |place: Option<usize>| place.and_then(|place| appends.get(place)).map(|(_, t)| *t);
        let element =
            |(place, &(append, t)): (usize, &(OperationId, TransactionId))| AppendedElement {
                value: history.values()[append.index()],
                appended: match history.outcome(t) {
                    Outcome::Aborted => Appended::Aborted(append),
                    _ => Appended::Once(append),
                },
                by: t,
                is_alone: by(place.checked_sub(1)) != Some(t) && by(Some(place + 1)) != Some(t),
            };
        let mut elements: Vec<AppendedElement> = appends.iter().enumerate().map(element).collect();
        elements.sort_by_key(|element| element.value);
        let began = |element: &AppendedElement| history.interval(element.by).map(|ran| ran.start);
        for equal in elements.chunk_by(|a, b| a.value == b.value) {
            self.elements
                .extend(equal.iter().copied().reduce(|one, next| {
                    match (one.appended, next.appended) {
                        (Appended::Aborted(_), Appended::Aborted(_))
                            if began(&next) < began(&one) =>
                        {
                            next
                        }
                        (_, Appended::Aborted(_)) => one,
                        (Appended::Aborted(_), _) => next,
                        _ => AppendedElement {
                            appended: Appended::Several,
                            ..one
                        },
                    }
                }));
            if equal.len() > 1 {
                let appends = equal.iter().filter_map(|element| match element.appended {
                    Appended::Once(append) | Appended::Aborted(append) => Some(append),
                    Appended::Several => None,
                });
                self.repeated
                    .insert((key, equal[0].value), appends.collect());
            }
        }
    }

    /// An element, if it was appended. O(log elements of the key).
    pub fn element(&self, key: KeyId, element: Value) -> Option<&AppendedElement> {
        let (&begin, &end) = self
            .begin
            .get(key.index())
            .zip(self.begin.get(key.index() + 1))?;
        let of_key = &self.elements[begin as usize..end as usize];
        of_key
            .binary_search_by_key(&element, |known| known.value)
            .ok()
            .map(|at| &of_key[at])
    }

    /// The appends of an element, if there are any. O(log elements of the key).
    pub fn of(&self, key: KeyId, element: Value) -> Option<Appended> {
        self.element(key, element).map(|element| element.appended)
    }

    /// Those of elements that were appended more than once.
    pub fn repeated(&self) -> &Repeated {
        &self.repeated
    }
}

impl History {
    /// All appends to keys that hold lists. O(operations) the first time, then O(1).
    pub fn appends(&self) -> &Appends {
        self.appends.0.get_or_init(|| Appends::new(self))
    }

    /// The appends of elements that transactions which did not abort appended more than once. O(repeated appends).
    pub fn appends_of_repeated_elements(&self) -> Repeated {
        let took_effect =
            |o: &OperationId| self.outcome(self.transaction_of(*o)) != Outcome::Aborted;
        let all = self.appends().repeated.iter().map(|(&element, appends)| {
            let appends: Vec<OperationId> = appends.iter().copied().filter(took_effect).collect();
            (element, appends)
        });
        all.filter(|(_, appends)| appends.len() > 1).collect()
    }

    /// Whether transactions that did not abort appended an element to a list more than once. O(operations) the first time,
    /// then O(appends of the element).
    pub fn is_repeated_element(&self, key: KeyId, element: Value) -> bool {
        self.appends().of(key, element) == Some(Appended::Several)
    }

    /// All reads that returned lists, with their transactions, ascending. O(transactions + reads).
    pub fn reads_of_lists(&self) -> impl Iterator<Item = (TransactionId, OperationId, &[Value])> {
        let mut t = 0;
        self.lists().iter().map(move |(read, list)| {
            while self.operation_begin[t + 1] <= read.0 {
                t += 1;
            }
            (TransactionId::new(t), read, list)
        })
    }
}

/// The appends to keys that hold lists, with their transactions, by key and in order: where those of each key begin, one
/// more than keys, and all of them.
fn by_key(history: &History) -> (Vec<u32>, Vec<(OperationId, TransactionId)>) {
    let is_append = |o: &usize| {
        history.kinds()[*o] == OperationKind::Write && history.lists().is_list(history.keys()[*o])
    };
    let mut begin = vec![0u32; history.n_keys() + 2];
    for o in (0..history.n_operations()).filter(is_append) {
        begin[history.keys()[o].index() + 2] += 1;
    }
    for key in 2..begin.len() {
        begin[key] += begin[key - 1];
    }
    let n = begin.last().map_or(0, |&n| n as usize);
    let mut appends = vec![(OperationId(0), TransactionId::INITIAL); n];
    for t in history.transactions() {
        for o in history.operation_range(t).filter(is_append) {
            let next = &mut begin[history.keys()[o].index() + 1];
            appends[*next as usize] = (OperationId::new(o), t);
            *next += 1;
        }
    }
    begin.pop();
    (begin, appends)
}
