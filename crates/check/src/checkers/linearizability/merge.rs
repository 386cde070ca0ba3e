//! From orders of keys to one order of all.

use super::input::{Keyed, Role};
use isoscope_model::history::{History, OperationId, OperationKind, TransactionId, Value};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Merges the orders of all keys. Each operation gets a moment, the latest start in the order of its key up to it,
/// which lies between its start and its end; what ended before something else began thus has the earlier moment.
/// Operations that say nothing about versions are placed at their start. O(n log n).
pub(super) fn merge(keyed: &Keyed, orders: &[Vec<u32>]) -> Vec<TransactionId> {
    let mut moments: Vec<(i64, u32, TransactionId)> = Vec::with_capacity(keyed.all().len());
    let mut number = 0;
    for (key, order) in orders.iter().enumerate() {
        let ops = keyed.of(key);
        let mut latest = i64::MIN;
        for op in order.iter().map(|&place| ops[place as usize]) {
            latest = latest.max(op.start);
            moments.push((latest, number, op.transaction));
            number += 1;
        }
        for op in ops
            .iter()
            .filter(|op| op.role == Role::Idle && !op.optional)
        {
            moments.push((op.start, number, op.transaction));
            number += 1;
        }
    }
    moments.par_sort_unstable_by_key(|&(moment, number, _)| (moment, number));
    moments.into_iter().map(|(.., t)| t).collect()
}

/// As `merge`, for orders of groups of keys, which include operations that say nothing about versions: places among the
/// operations of all keys. They must respect real time.
pub(super) fn merge_groups(keyed: &Keyed, orders: &[Vec<u32>]) -> Vec<TransactionId> {
    let mut moments: Vec<(i64, u32, TransactionId)> = Vec::with_capacity(keyed.all().len());
    for order in orders {
        let mut latest = i64::MIN;
        for op in order.iter().map(|&place| &keyed.all()[place as usize]) {
            latest = latest.max(op.start);
            moments.push((latest, moments.len() as u32, op.transaction));
        }
    }
    moments.sort_unstable_by_key(|&(moment, number, _)| (moment, number));
    moments.into_iter().map(|(.., t)| t).collect()
}

/// Whether the transactions of each session are in session order. O(transactions).
pub(in crate::checkers) fn keeps_session_order(history: &History, order: &[TransactionId]) -> bool {
    let mut last: Vec<Option<TransactionId>> = vec![None; history.n_sessions()];
    order.iter().all(|&t| {
        last[history.session_of(t).index()]
            .replace(t)
            .is_none_or(|before| before < t)
    })
}

/// Whether no failed comparison in this order finds the value that it compared with. O(operations).
pub(in crate::checkers) fn comparisons_fit(history: &History, order: &[TransactionId]) -> bool {
    let mut current: FxHashMap<u32, Value> = FxHashMap::default();
    order
        .iter()
        .flat_map(|&t| history.operations_of(t))
        .all(|o: OperationId| {
            let operation = history.operation(o);
            if operation.kind == OperationKind::Write {
                current.insert(operation.key.0, operation.value);
                return true;
            }
            let Some(other) = history.differs_from(o) else {
                return true;
            };
            match current.get(&operation.key.0) {
                Some(&value) => value != other,
                None => !history.may_be_initial(operation.key, other),
            }
        })
}
