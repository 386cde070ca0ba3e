//! What lists show beyond their last element: the order of the versions of a key.
//!
//! A read of the list [e1 … en] shows the order in which its elements were appended, and that everything else that was
//! ever appended to the key came after en (jepsen-io/elle, list-append). Appends of the reader itself are the tail of
//! what it reads: the list before them is the version that it read from outside.

use super::index::{Index, NONE, Node, Slot};
use super::resolution::{Resolution, Standing};
use crate::history::{History, KeyId, ListRule, Operation, OperationId, OperationKind, TransactionId, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// The order of some versions of a key, as a read shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListOrder {
    /// The reader of the list.
    pub reader: Node,
    /// The read.
    pub read: OperationId,
    /// The key.
    pub key: u32,
    /// The versions in order, oldest first, each once.
    pub versions: Vec<Slot>,
    /// How many versions at the front were in the list before the reader's own appends: all other versions of the key
    /// come after these. 0 if nothing is known about others.
    pub closed: usize,
    /// Versions whose writers may have appended elements of the list, but other transactions may have as well: the list
    /// does not say where these belong. Ascending.
    pub unsure: Vec<Slot>,
}

/// A pair of versions in the order that a list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// The writer of the older version.
    pub older: Node,
    /// The writer of the newer version.
    pub newer: Node,
    /// The key.
    pub key: u32,
    /// The reader of the list.
    pub reader: Node,
    /// The read.
    pub read: OperationId,
}

/// The part of a list that was there before the reader's own appends; `None` if these are not its tail, and for other
/// operations. O(operations of the transaction + log reads).
pub fn list_from_outside(history: &History, t: TransactionId, read: OperationId) -> Option<&[Value]> {
    let elements = history.lists().read_by(read)?;
    let key = history.keys()[read.index()];
    let is_own = |o: &OperationId| {
        *o < read && history.kinds()[o.index()] == OperationKind::Write && history.keys()[o.index()] == key
    };
    let own: Vec<Value> = history.operations_of(t).filter(is_own).map(|o| history.values()[o.index()]).collect();
    elements.strip_suffix(own.as_slice())
}

/// The value that a read returned from other transactions: for a list the last element that the reader found, before
/// its own appends if these are the tail. O(operations of the transaction + log reads).
pub fn value_from_outside(history: &History, t: TransactionId, read: OperationId) -> Value {
    let found = list_from_outside(history, t, read).or_else(|| history.lists().read_by(read));
    found.map_or(history.values()[read.index()], |list| list.last().copied().unwrap_or(Value::INITIAL))
}

/// The last write of `writer` of what a read of `reader` returned: the start of the edge between them. `None` if it
/// wrote no such value. O(operations of both).
pub fn write_that_was_read(
    history: &History,
    writer: TransactionId,
    reader: TransactionId,
    read: OperationId,
) -> Option<OperationId> {
    let value = value_from_outside(history, reader, read);
    let written = Operation { kind: OperationKind::Write, value, ..history.operation(read) };
    history.operations_of(writer).filter(|&o| history.operation(o) == written).last()
}

/// The appends of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// This operation, of a transaction that did not abort.
    Once(OperationId),
    /// Several operations, of transactions that did not abort.
    Several,
    /// Only transactions that aborted; the first such append.
    Aborted(OperationId),
}

/// All appends to keys that hold lists, by key and element. O(operations).
pub fn appends(history: &History) -> FxHashMap<(KeyId, Value), Appended> {
    let mut found: FxHashMap<(KeyId, Value), Appended> = FxHashMap::default();
    for t in history.transactions() {
        let aborted = history.outcome(t) == crate::history::Outcome::Aborted;
        for o in history.operations_of(t) {
            let operation = history.operation(o);
            if operation.kind != OperationKind::Write || !history.lists().is_list(operation.key) {
                continue;
            }
            let new = if aborted { Appended::Aborted(o) } else { Appended::Once(o) };
            let slot = found.entry((operation.key, operation.value)).or_insert(new);
            *slot = match (*slot, new) {
                (Appended::Aborted(first), Appended::Aborted(_)) => Appended::Aborted(first),
                (Appended::Aborted(_), new) => new,
                (old, Appended::Aborted(_)) => old,
                (Appended::Once(first), Appended::Once(second)) if first == second => new,
                _ => Appended::Several,
            };
        }
    }
    found
}

/// The last write, or append, of a transaction to a key among those that `admit` allows. O(operations of the transaction).
pub fn last_write(
    history: &History,
    t: TransactionId,
    key: KeyId,
    admit: impl Fn(OperationId) -> bool,
) -> Option<OperationId> {
    let is_write = |o: &OperationId| {
        let operation = history.operation(*o);
        operation.kind == OperationKind::Write && operation.key == key && admit(*o)
    };
    history.operations_of(t).filter(is_write).last()
}

/// The transactions that appended the elements of a list that was read, for elements appended once: they committed if
/// the reader did.
pub fn appenders<'a>(
    history: &'a History,
    appends: &'a FxHashMap<(KeyId, Value), Appended>,
    read: OperationId,
) -> impl Iterator<Item = TransactionId> + 'a {
    let list = history.lists().read_by(read).unwrap_or_default();
    list.iter().filter_map(move |element| match appends.get(&(history.keys()[read.index()], *element)) {
        Some(Appended::Once(append)) => Some(history.transaction_of(*append)),
        _ => None,
    })
}

/// By key and element: all appends of it, if there are several.
pub type Repeated = FxHashMap<(KeyId, Value), Vec<OperationId>>;

/// The appends, also aborted ones, of elements that were appended more than once. O(operations).
pub fn repeated_appends(history: &History) -> Repeated {
    let mut all = Repeated::default();
    if history.lists().is_empty() {
        return all;
    }
    for (place, &key) in history.keys().iter().enumerate() {
        if history.kinds()[place] == OperationKind::Write && history.lists().is_list(key) {
            all.entry((key, history.values()[place])).or_default().push(OperationId::new(place));
        }
    }
    all.retain(|_, appends| appends.len() > 1);
    all
}

/// The orders that the lists of a history show, in terms of `index`: one for each key, from its longest list, or if
/// several are equally long from the one that the first node read; all lists of a key if they need not be prefixes of
/// each other. Lists that end with appends of their readers that other transactions may have made as well add where
/// these belong, which no other list shows. `numbers` are the keys of `index` by id; `None` if the numbers are the ids.
/// `rank` says which nodes are first.
///
/// Elements that no committed transaction appended, or that several appended, are skipped: they are reported
/// separately.
pub(super) fn list_orders(
    history: &History,
    index: &Index,
    numbers: &[u32],
    rank: &dyn Fn(Node) -> u32,
) -> Vec<ListOrder> {
    let lists = history.lists();
    if lists.is_empty() {
        return Vec::new();
    }
    let exact = history.rules().lists != ListRule::Merge;
    let appends = appends(history);
    let repeated = repeated_appends(history);
    let mut chosen: Vec<Chosen<'_>> = Vec::new();
    let mut own: Vec<Chosen<'_>> = Vec::new();
    let mut longest: FxHashMap<u32, usize> = FxHashMap::default();
    for (read, elements) in lists.iter() {
        let t = history.transaction_of(read);
        let reader = index.node[t.index()];
        if reader == NONE {
            continue;
        }
        let key = history.keys()[read.index()];
        let Some(outside) = list_from_outside(history, t, read) else { continue };
        let n_outside = outside.len();
        let number = numbers.get(key.index()).copied().unwrap_or(key.0);
        let list = Chosen { reader, read, key, number, elements, n_outside, rank: rank(reader) };
        if exact && elements[n_outside..].iter().any(|element| repeated.contains_key(&(key, *element))) {
            own.push(list);
        }
        match longest.get(&number) {
            Some(&at) if exact && chosen[at].rank() >= list.rank() => {}
            Some(&at) if exact => chosen[at] = list,
            _ => {
                longest.insert(number, chosen.len());
                chosen.push(list);
            }
        }
    }
    let order = |list: &Chosen<'_>| list.order(history, index, &appends, &repeated, exact);
    // The longest list shows what comes after all of a list.
    let order_of_own = |list: &Chosen<'_>| ListOrder { closed: 0, ..order(list) };
    own.retain(|list| longest.get(&list.number).is_none_or(|&at| chosen[at].read != list.read));
    let mut orders: Vec<ListOrder> = chosen.iter().map(order).chain(own.iter().map(order_of_own)).collect();
    orders.retain(|order| order.versions.len() > 1 || order.closed > 0);
    orders.sort_unstable_by_key(|order| (order.key, order.reader, order.read));
    orders
}

/// A list examined for the order it shows.
#[derive(Clone, Copy)]
struct Chosen<'a> {
    reader: Node,
    read: OperationId,
    key: KeyId,
    /// The key's number in the index.
    number: u32,
    elements: &'a [Value],
    /// Elements before the reader's own appends.
    n_outside: usize,
    /// The reader's rank among equally long lists.
    rank: u32,
}

impl Chosen<'_> {
    /// Longer ones are greater, and among equally long ones earlier ones.
    fn rank(&self) -> (usize, usize, Reverse<(u32, OperationId)>) {
        (self.n_outside, self.elements.len(), Reverse((self.rank, self.read)))
    }

    fn order(
        &self,
        history: &History,
        index: &Index,
        appends: &FxHashMap<(KeyId, Value), Appended>,
        repeated: &Repeated,
        exact: bool,
    ) -> ListOrder {
        let &Chosen { reader, read, key, number, .. } = self;
        let mut order = ListOrder { reader, read, key: number, versions: Vec::new(), closed: 0, unsure: Vec::new() };
        // A transaction's place is that of its first element: if its elements are not contiguous, that is reported.
        let mut seen: FxHashSet<Slot> = FxHashSet::default();
        for (place, &element) in self.elements.iter().enumerate() {
            let is_own = place >= self.n_outside;
            let writer = match appends.get(&(key, element)) {
                _ if is_own => reader,
                Some(Appended::Once(write)) => index.node[history.transaction_of(*write).index()],
                _ => NONE,
            };
            let slot = |node: Node| if node == NONE { None } else { index.slot_of(node, number) };
            let several = repeated.get(&(key, element)).filter(|_| !is_own).into_iter().flatten();
            order.unsure.extend(several.filter_map(|&o| slot(index.node[history.transaction_of(o).index()])));
            let version = slot(writer);
            order.versions.extend(version.filter(|&version| seen.insert(version)));
            if exact && place + 1 == self.n_outside {
                order.closed = order.versions.len();
            }
        }
        order.unsure.sort_unstable();
        order.unsure.dedup();
        order
    }
}

impl Index {
    /// The pairs of versions that lists order: neighbours in each list, and the last version before the reader's own
    /// appends with all versions that the list lacks. Transitively these are all that the lists say. O(versions of keys
    /// that hold lists).
    pub fn listed(&self) -> Vec<Listed> {
        let mut pairs = Vec::new();
        for order in &self.lists {
            let pair = |older: Slot, newer: Slot| Listed {
                older: self.slot_node[older as usize],
                newer: self.slot_node[newer as usize],
                key: order.key,
                reader: order.reader,
                read: order.read,
            };
            pairs.extend(order.versions.windows(2).map(|versions| pair(versions[0], versions[1])));
            let Some(&last) = order.closed.checked_sub(1).and_then(|at| order.versions.get(at)) else { continue };
            let mut listed = order.versions.clone();
            listed.sort_unstable();
            let others = self.slots_of(order.key).map(|slot| slot as Slot);
            let others = others.filter(|slot| listed.binary_search(slot).is_err());
            let others = others.filter(|slot| order.unsure.binary_search(slot).is_err());
            pairs.extend(others.map(|newer| pair(last, newer)));
        }
        pairs.retain(|pair| pair.older != pair.newer);
        pairs.sort_unstable();
        pairs.dedup_by_key(|pair| (pair.older, pair.newer));
        pairs
    }
}

/// Elements that were appended more than once and found in lists by transactions that committed, or may have: the order
/// of such versions is not known. O(operations + elements read).
pub fn n_ambiguous_elements(history: &History, resolution: &Resolution) -> usize {
    if history.lists().is_empty() {
        return 0;
    }
    let appends = appends(history);
    let several = |key: KeyId, element: &Value| appends.get(&(key, *element)) == Some(&Appended::Several);
    if !appends.values().any(|appended| *appended == Appended::Several) {
        return 0;
    }
    let may_take_part = |t: TransactionId| {
        matches!(resolution.standing(t), Standing::Committed | Standing::Promoted | Standing::Possible)
    };
    let found = |(read, list)| {
        let t = history.transaction_of(read);
        may_take_part(t).then(|| (history.keys()[read.index()], list_from_outside(history, t, read).unwrap_or(list)))
    };
    let lists = history.lists().iter().filter_map(found);
    lists.map(|(key, list): (KeyId, &[Value])| list.iter().filter(|element| several(key, element)).count()).sum()
}
