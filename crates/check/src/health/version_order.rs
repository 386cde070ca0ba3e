//! How much of the version order can be inferred.

use super::survey::Survey;
use isoscope_model::history::{History, KeyId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// How much of the version order is known without a search, from reads and from sessions.
///
/// A key with n versions written by participants has n pairs of neighbours in any version order, including the pair of
/// the initial version and the first one. A pair counts as known
/// from reads if
///
/// * a transaction read the one version and then wrote the other (a version that several read-modify-writes follow
///   counts once, for at most one of them can be its neighbour),
/// * a list was read in which the one element directly follows the other, or is first (the longest list of each key
///   counts), or
/// * n is 1: there is nothing to order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VersionOrder {
    /// Pairs of neighbours that are known.
    pub known: u64,
    /// Those that session order adds: of keys that one session writes, so that their order is known at every level
    /// that counts session order.
    pub by_session: u64,
    /// All pairs of neighbours.
    pub pairs: u64,
}

impl VersionOrder {
    /// The share of known pairs; 1 if there are none.
    pub fn share(self) -> f64 {
        if self.pairs == 0 {
            1.0
        } else {
            self.known as f64 / self.pairs as f64
        }
    }

    /// O(keys + elements of the longest lists).
    pub(super) fn of(history: &History, survey: &Survey) -> VersionOrder {
        let by_lists = followed_elements(history, survey);
        let mut order = VersionOrder::default();
        for (key, tally) in survey.keys.iter().enumerate() {
            let followed = by_lists
                .get(&KeyId::new(key))
                .map_or(tally.followed as usize, FxHashSet::len);
            let followed = if tally.versions == 1 { 1 } else { followed };
            let (pairs, known) = (
                u64::from(tally.versions),
                (followed as u64).min(u64::from(tally.versions)),
            );
            order.pairs += pairs;
            order.known += known;
            order.by_session += if tally.is_of_one_session() {
                pairs - known
            } else {
                0
            };
        }
        order
    }
}

/// By key that holds lists: the elements, the empty list among them, whose successor is known.
fn followed_elements(history: &History, survey: &Survey) -> FxHashMap<KeyId, FxHashSet<Value>> {
    let mut longest: FxHashMap<KeyId, &[Value]> = FxHashMap::default();
    for (read, elements) in history.lists().iter() {
        let list = longest.entry(history.operation(read).key).or_default();
        if elements.len() > list.len() {
            *list = elements;
        }
    }
    let mut followed: FxHashMap<KeyId, FxHashSet<Value>> = FxHashMap::default();
    for (key, list) in longest {
        let elements = list.iter().take(list.len().saturating_sub(1)).copied();
        let empty = (!list.is_empty()).then_some(Value::INITIAL);
        followed.insert(key, empty.into_iter().chain(elements).collect());
    }
    for &(key, element) in &survey.followed_elements {
        followed.entry(key).or_default().insert(element);
    }
    followed
}
