//! Keys that sessions connect, and the order of each such group of keys.

use super::input::{Keyed, Op};
use super::merge::merge_groups;
use super::search::{OrderSearch, SearchOutcome};
use super::{Conflict, Linear};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, KeyId, TransactionId};
use isoscope_model::relations::Resolution;
use petgraph::unionfind::UnionFind;
use rayon::prelude::*;

/// Decides linearizability if the orders of single keys are incompatible with session order. `strict` is a strictly
/// serial order that only failed comparisons contradict; writes are tried in its order first. The same is expected of
/// the history as by [`decide`](super::decide). Never [`Linear::Open`]. Exponential in the number of writes that
/// overlap in the worst case.
///
/// Only keys between which real time does not contain session order must be considered together: given an order of each
/// such group, every operation has a moment as in [`merge_groups`], and moments respect real time.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(in crate::checkers) fn decide_across(
    history: &History,
    resolution: &Resolution,
    strict: &[TransactionId],
    control: &Control,
) -> Result<Linear, Interrupt> {
    let keyed = Keyed::by_value(history, resolution);
    let mut rank = vec![u32::MAX; history.n_transactions()];
    strict
        .iter()
        .zip(0..)
        .for_each(|(t, nth)| rank[t.index()] = nth);
    let found: Vec<(Vec<u32>, SearchOutcome)> = groups(history, &keyed)
        .into_par_iter()
        .map(|group| {
            let ops: Vec<Op> = group
                .iter()
                .map(|&place| keyed.all()[place as usize])
                .collect();
            let rank = |place: usize| rank[ops[place].transaction.index()];
            let woven =
                OrderSearch::of_sessions(history, &ops, |_| false, rank, None).run(control)?;
            Ok((group, woven))
        })
        .collect::<Result<_, Interrupt>>()?;
    let mut orders = Vec::with_capacity(found.len());
    let mut conflicts = Vec::new();
    for (group, woven) in found {
        let op = |place: u32| keyed.all()[group[place as usize] as usize];
        match woven {
            SearchOutcome::Order(order) => orders.push(
                order
                    .into_iter()
                    .map(|place| group[place as usize])
                    .collect(),
            ),
            SearchOutcome::None { stuck } => {
                let mut keys: Vec<KeyId> = (0..group.len() as u32)
                    .map(|place| op(place).key(history))
                    .collect();
                keys.sort_unstable();
                keys.dedup();
                conflicts.push(Conflict::NoOrderAcross(keys, op(stuck).transaction));
            }
            SearchOutcome::TooMuch => {
                unreachable!("a search without a budget ends with an answer or an interrupt")
            }
        }
    }
    Ok(if conflicts.is_empty() {
        Linear::Satisfied(merge_groups(&keyed, &orders))
    } else {
        Linear::Violated(conflicts)
    })
}

/// The operations of all keys, as places, in groups of keys: two keys are in one group if a transaction on one and the
/// next of its session, on the other, overlap. If the next one is of unknown outcome, the one after it counts too.
fn groups(history: &History, keyed: &Keyed) -> Vec<Vec<u32>> {
    let mut joined: UnionFind<u32> = UnionFind::new(keyed.n_keys());
    let mut places: Vec<u32> = (0..keyed.all().len() as u32).collect();
    places.sort_unstable_by_key(|&place| keyed.all()[place as usize].transaction);
    let op = |place: u32| &keyed.all()[place as usize];
    let mut before: Vec<u32> = Vec::new();
    for &place in &places {
        let later = op(place);
        let session = history.session_of(later.transaction);
        before.retain(|&earlier| history.session_of(op(earlier).transaction) == session);
        for earlier in before
            .iter()
            .map(|&earlier| op(earlier))
            .filter(|earlier| earlier.end >= later.start)
        {
            joined.union(earlier.key(history).0, later.key(history).0);
        }
        if !later.optional {
            before.clear();
        }
        before.push(place);
    }
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut group_of: Vec<Option<usize>> = vec![None; keyed.n_keys()];
    for key in 0..keyed.n_keys() {
        let at = *group_of[joined.find_mut(key as u32) as usize].get_or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[at].extend(keyed.range(key).map(|place| place as u32));
    }
    groups.retain(|places| !places.is_empty());
    groups
}
