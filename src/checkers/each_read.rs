//! The engine for monotonic snapshot reads: prefix consistency of the index in which each read is a transaction of its own.

use super::Level;
use super::dependencies::DependencyDecision;
use super::strong::{self, StrongDecision};
use crate::control::{Control, Interrupt};
use crate::relations::{Index, Node};

/// Decides MSR, or R-MSR, of which the clock must not contradict session order. Costs what prefix consistency of as many
/// transactions as there are reads costs.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first; the time is exponential in the worst case.
pub(super) fn decide(index: &Index, level: Level, control: &Control) -> Result<DependencyDecision, Interrupt> {
    control.needs(index.read_key.len() * 64)?;
    let split = index.by_read();
    let of_snapshots = if level.counts_real_time() { Level::StrongPrefixConsistency } else { Level::PrefixConsistency };
    Ok(joined(&split, strong::decide(&split, of_snapshots, control)?))
}

/// The decision about an index in which transactions are rows, in terms of the one that it was made of: a transaction comes
/// where the last of its row does.
pub(super) fn joined(split: &Index, decision: StrongDecision) -> DependencyDecision {
    let owner = split.owners();
    let commits = |order: Vec<Node>| {
        let mut is_placed = vec![false; split.n_nodes()];
        let last_first = order.into_iter().rev().map(|v| owner[v as usize]);
        let last_first = last_first.filter(|&t| !std::mem::replace(&mut is_placed[t as usize], true));
        let mut order: Vec<Node> = last_first.collect();
        order.reverse();
        DependencyDecision::Satisfied(order)
    };
    match decision {
        StrongDecision::SatisfiedInOrder(order) => commits(order),
        StrongDecision::SatisfiedByEvents(events) => {
            commits(events.into_iter().filter_map(|(v, is_commit)| is_commit.then_some(v)).collect())
        }
        StrongDecision::Violated { core } => {
            let mut core: Vec<Node> = core.into_iter().map(|v| owner[v as usize]).collect();
            core.dedup();
            DependencyDecision::Violated { core }
        }
    }
}
