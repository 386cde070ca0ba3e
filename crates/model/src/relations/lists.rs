//! What lists show beyond their last element: the order of the versions of a key.
//!
//! A read of the list [e1 … en] shows the order in which its elements were appended, and that everything else that was
//! ever appended to the key came after en (jepsen-io/elle, list-append). Appends of the reader itself are the tail of
//! what it reads: the list before them is the version that it read from outside.

use super::appends::list_from_outside;
use super::index::{Index, ListOrder, Listed, NONE, Node, Slot};
use super::resolution::{Resolution, Standing};
use crate::history::{
    Appended, AppendedElement, History, KeyId, ListRule, OperationId, TransactionId, Value,
};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

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
    if history.lists().is_empty() {
        return Vec::new();
    }
    let exact = history.rules().lists != ListRule::Merge;
    let repeated = history.appends().repeated();
    let mut chosen: Vec<Chosen<'_>> = Vec::new();
    let mut own: Vec<Chosen<'_>> = Vec::new();
    let mut longest: FxHashMap<u32, usize> = FxHashMap::default();
    for (t, read, elements) in history.reads_of_lists() {
        let reader = index.node[t.index()];
        if reader == NONE {
            continue;
        }
        let key = history.keys()[read.index()];
        let Some(outside) = list_from_outside(history, t, read) else {
            continue;
        };
        let n_outside = outside.len();
        let number = numbers.get(key.index()).copied().unwrap_or(key.0);
        let list = Chosen {
            reader,
            read,
            key,
            number,
            elements,
            n_outside,
            rank: rank(reader),
        };
        if exact
            && elements[n_outside..]
                .iter()
                .any(|element| repeated.contains_key(&(key, *element)))
        {
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
    let order = |list: &Chosen<'_>| list.order(history, index, exact);
    // The longest list shows what comes after all of a list.
    let order_of_own = |list: &Chosen<'_>| ListOrder {
        closed: 0,
        ..order(list)
    };
    own.retain(|list| {
        longest
            .get(&list.number)
            .is_none_or(|&at| chosen[at].read != list.read)
    });
    let mut orders: Vec<ListOrder> = chosen
        .par_iter()
        .map(order)
        .chain(own.par_iter().map(order_of_own))
        .collect();
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
        (
            self.n_outside,
            self.elements.len(),
            Reverse((self.rank, self.read)),
        )
    }

    fn order(&self, history: &History, index: &Index, exact: bool) -> ListOrder {
        let appends = history.appends();
        let &Chosen {
            reader,
            read,
            key,
            number,
            ..
        } = self;
        let mut order = ListOrder {
            reader,
            read,
            key: number,
            versions: Vec::new(),
            closed: 0,
            unsure: Vec::new(),
        };
        // A transaction's place is that of its first element: if its elements are not contiguous, that is reported.
        let mut seen: FxHashSet<Slot> = FxHashSet::default();
        let slots = index.slots_of(number);
        for (place, &element) in self.elements.iter().enumerate() {
            let is_own = place >= self.n_outside;
            let writer = match appends.element(key, element) {
                _ if is_own => reader,
                Some(AppendedElement {
                    appended: Appended::Once(_),
                    by,
                    ..
                }) => index.node[by.index()],
                _ => NONE,
            };
            // The versions of a key are by node.
            let slot = |node: Node| {
                let found = index.slot_node[slots.clone()].binary_search(&node).ok();
                found.map(|at| (slots.start + at) as Slot)
            };
            let several = appends
                .repeated()
                .get(&(key, element))
                .filter(|_| !is_own)
                .into_iter()
                .flatten();
            order.unsure.extend(
                several.filter_map(|&o| slot(index.node[history.transaction_of(o).index()])),
            );
            let version = slot(writer);
            order
                .versions
                .extend(version.filter(|&version| seen.insert(version)));
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
            pairs.extend(
                order
                    .versions
                    .windows(2)
                    .map(|versions| pair(versions[0], versions[1])),
            );
            let Some(&last) = order
                .closed
                .checked_sub(1)
                .and_then(|at| order.versions.get(at))
            else {
                continue;
            };
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
    let several = |key: KeyId, element: &Value| history.is_repeated_element(key, *element);
    if !history
        .appends()
        .repeated()
        .keys()
        .any(|(key, element)| several(*key, element))
    {
        return 0;
    }
    let may_take_part = |t: TransactionId| {
        matches!(
            resolution.standing(t),
            Standing::Committed | Standing::Promoted | Standing::Possible
        )
    };
    let found = |(t, read, list): (TransactionId, OperationId, _)| {
        may_take_part(t).then(|| {
            (
                history.keys()[read.index()],
                list_from_outside(history, t, read).unwrap_or(list),
            )
        })
    };
    let lists = history.reads_of_lists().filter_map(found);
    lists
        .map(|(key, list): (KeyId, &[Value])| {
            list.iter().filter(|element| several(key, element)).count()
        })
        .sum()
}
