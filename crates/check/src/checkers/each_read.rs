//! The engine for monotonic snapshot reads: prefix consistency of the index in which each read is a transaction of its own.

use super::decision::{Decision, Order};
use super::{Level, strong};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Index, Node};
use std::sync::Arc;

/// Decides MSR, or R-MSR, of which the clock must not contradict session order. Costs what prefix consistency of as many
/// transactions as there are reads costs.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first; the time is exponential in the worst case.
pub(super) fn decide(
    index: &Index,
    level: Level,
    control: &Control,
) -> Result<Decision, Interrupt> {
    control.needs(index.read_key.len() * 64)?;
    let split = index.by_read();
    let of_snapshots = if level.counts_real_time() {
        Level::StrongPrefixConsistency
    } else {
        Level::PrefixConsistency
    };
    let owner = owners(&split);
    let is_last = |v: Node| owner.get(v as usize + 1) != Some(&owner[v as usize]);
    Ok(match strong::decide(&split, of_snapshots, control)? {
        Decision::Satisfied(order) => {
            let last = order.commits().filter(|&v| is_last(v));
            Decision::Satisfied(Order::Commits(Arc::new(
                last.map(|v| owner[v as usize]).collect(),
            )))
        }
        Decision::Violated { core } => {
            let mut core: Vec<Node> = core.into_iter().map(|v| owner[v as usize]).collect();
            core.dedup();
            Decision::Violated { core }
        }
    })
}

/// By node of an index by reads: the node of the index that it was made of.
fn owners(split: &Index) -> Vec<Node> {
    let mut owner = Vec::with_capacity(split.n_nodes());
    let mut at = 0;
    for (v, t) in split.transaction.iter().enumerate() {
        if v > 0 && split.transaction[v - 1] != *t {
            at += 1;
        }
        owner.push(at);
    }
    owner
}
