//! The engine for linearizability of lightweight transactions: single reads, writes, compare-and-sets and inserts.
//!
//! A history is linearizable if some order of all its transactions respects real time and explains what each observed
//! (Herlihy & Wing 1990; MTC, Definition 7). That is local: it holds if it holds for each key. A key whose values are
//! each written once takes a sort ([`blocks`]). A failed compare-and-set of which only a value is known that was not
//! there (`n x v`) is not a read of a version: often the order of the rest has a place for it ([`comparisons`]). If it
//! has none, or if repeated values leave open which write was read, one pass over the events with all that is possible
//! decides ([`frontier`]); where too much runs at once for that, a search ([`search`]). In both, writes of unknown
//! outcome may have taken effect or not. Keys are decided in parallel.
//!
//! **Relation to strict serializability.** Session order counts here, too. If transactions of a session do not overlap,
//! real time contains it, as MTC and all similar work assume, and this engine need not check. If they do overlap, an
//! order that happens to keep session order is an answer, and otherwise [`Linear::Open`] says that the engine of strict
//! serializability is needed. So on these histories linearizability is strict serializability plus failed comparisons,
//! which count at no other level, and it implies all others. If only these contradict an order that is strictly serial,
//! keys that sessions connect are searched together ([`decide_across`]).
//!
//! Where values repeat and no order respects real time, one that respects sessions is looked for ([`sessions`]): it
//! satisfies serializability and all below, whose own engines would have to choose among all writers of each value.

mod blocks;
mod comparisons;
mod core;
mod frontier;
mod input;
mod merge;
mod search;
mod sessions;
mod steps;
mod ties;

pub(super) use self::core::Cores;
pub(super) use merge::{comparisons_fit, keeps_session_order};
pub(super) use sessions::order_in_sessions;
pub(super) use ties::decide_across;

use blocks::Arranged;
use frontier::{Frontier, Part, Walked};
use input::{Keyed, Op, Role};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, KeyId, TransactionId};
use isoscope_model::relations::Resolution;
use rayon::prelude::*;
use search::{OrderSearch, SearchOutcome};
use steps::Steps;

/// The answer for a history of lightweight transactions with times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Linear {
    /// These transactions in this order: all committed ones, and some of unknown outcome.
    Satisfied(Vec<TransactionId>),
    /// There is no such order, for at least one reason.
    Violated(Vec<Conflict>),
    /// Real time does not contain session order, and what was found contradicts it.
    Open,
}

/// Why there is no order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    /// These transactions alone violate strict serializability.
    Strict(Vec<TransactionId>),
    /// There is no order of a key: this transaction could not have its place when it had to.
    NoOrder(KeyId, TransactionId),
    /// No order of the operations on several keys respects sessions, too.
    NoOrderAcross(Vec<KeyId>, TransactionId),
}

/// What was found for one key: places of its operations.
enum OfKey {
    Order(Vec<u32>),
    Conflicts(Vec<Conflict>),
}

/// Decides linearizability, or if failed comparisons do not count (`compares`) strict serializability, which is then the
/// same. The history must consist of lightweight transactions, and none of its reads may be an
/// anomaly by itself. Expects that the clock does not contradict session order. O(n log n) except for keys with failed
/// comparisons or repeated values, which are exponential in the number of overlapping writes in the worst case.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(super) fn decide(
    history: &History,
    resolution: &Resolution,
    compares: bool,
    control: &Control,
) -> Result<Linear, Interrupt> {
    let is_ambiguous = resolution.has_multiple_sources();
    let mut keyed = if is_ambiguous {
        Keyed::by_value(history, resolution)
    } else {
        Keyed::new(history, resolution)
    };
    if !compares {
        keyed.leave_out_comparisons();
    }
    let keys: Vec<OfKey> = (0..keyed.n_keys())
        .into_par_iter()
        .map(|key| {
            of_key(
                history,
                KeyId::new(key),
                keyed.of(key),
                is_ambiguous,
                control,
            )
        })
        .collect::<Result<_, _>>()?;
    let mut conflicts = Vec::new();
    let mut orders = Vec::with_capacity(keys.len());
    for found in keys {
        match found {
            OfKey::Order(order) => orders.push(order),
            OfKey::Conflicts(more) => conflicts.extend(more),
        }
    }
    if !conflicts.is_empty() {
        return Ok(Linear::Violated(conflicts));
    }
    let order = merge::merge(&keyed, &orders);
    Ok(if keeps_session_order(history, &order) {
        Linear::Satisfied(order)
    } else {
        Linear::Open
    })
}

fn of_key(
    history: &History,
    key: KeyId,
    ops: &[Op],
    is_ambiguous: bool,
    control: &Control,
) -> Result<OfKey, Interrupt> {
    let mut rank = vec![0; ops.len()];
    if !is_ambiguous {
        let order = match blocks::arrange(ops) {
            Arranged::Order(order) => order,
            Arranged::Clashes(clashes) => {
                let transactions = |ops_of: Vec<u32>| {
                    ops_of
                        .iter()
                        .map(|&p| ops[p as usize].transaction)
                        .collect()
                };
                let conflicts = clashes
                    .into_iter()
                    .map(|clash| Conflict::Strict(transactions(clash.ops)));
                return Ok(OfKey::Conflicts(conflicts.collect()));
            }
        };
        if ops.iter().all(|op| op.role != Role::Differs) {
            return Ok(OfKey::Order(order));
        }
        if let Some(order) = comparisons::insert(history, key, ops, &order) {
            return Ok(OfKey::Order(order));
        }
        rank.fill(u32::MAX);
        order
            .iter()
            .zip(0..)
            .for_each(|(&place, nth)| rank[place as usize] = nth);
    }
    let steps = Steps::new(history, ops, |place| rank[place]);
    let part = |place: usize| {
        if ops[place].optional {
            Part::May
        } else {
            Part::Must
        }
    };
    match Frontier::new(&steps, part).walk(control)? {
        Walked::Order(order) => return Ok(OfKey::Order(order)),
        Walked::None { stuck } => {
            return Ok(OfKey::Conflicts(vec![Conflict::NoOrder(
                key,
                ops[stuck as usize].transaction,
            )]));
        }
        Walked::TooWide => {}
    }
    Ok(
        match OrderSearch::of_key(history, ops, |place| rank[place]).run(control)? {
            SearchOutcome::Order(order) => OfKey::Order(order),
            SearchOutcome::None { stuck } => OfKey::Conflicts(vec![Conflict::NoOrder(
                key,
                ops[stuck as usize].transaction,
            )]),
            SearchOutcome::TooMuch => {
                unreachable!("a search without a budget ends with an answer or an interrupt")
            }
        },
    )
}

#[cfg(test)]
mod tests;
