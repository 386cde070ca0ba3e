//! PC, SI and SER of an index, decided component by component (Biswas & Enea 2019, Theorem 5.2).
//!
//! Sessions that share no key, or are connected through a single session only, cannot contradict each other unless one
//! of their components contradicts itself. So components are decided separately, in parallel, and the orders that
//! explain them are joined into one. Real time connects everything: SSER is decided as a whole.

use super::decision::{Decision, Order, is_violated};
use super::{Level, strong};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::{Digraph, topological_order};
use isoscope_model::relations::{Component, Index, Node};
use rayon::prelude::*;
use std::sync::Arc;

/// Decides PC, SI, SER or SSER as [`strong::decide`] does, except that the core of a violation may depend on the number
/// of threads.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work before a component is known to be violated.
pub(super) fn decide(
    index: &Index,
    level: Level,
    control: &Control,
) -> Result<Decision, Interrupt> {
    let Some(components) = apart(index, level) else {
        return strong::decide(index, level, control);
    };
    let all: Vec<&Component> = components.iter().collect();
    let mut decided = decide_each(index, &all, level, control);
    if let Some(violated) = decided.iter().position(is_violated) {
        return decided.swap_remove(violated);
    }
    let decided = decided
        .into_iter()
        .collect::<Result<Vec<Decision>, Interrupt>>()?;
    match join(index, decided.into_iter().filter_map(Decision::order)) {
        Some(joined) => Ok(Decision::Satisfied(joined)),
        // Cannot happen; if it does, decide the whole rather than report something wrong.
        None => strong::decide(index, level, control),
    }
}

/// Transactions that suffice for a violation of the level, ascending, of each violated component, smallest components
/// first; at most `most` of them.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(super) fn cores(
    index: &Index,
    level: Level,
    most: usize,
    control: &Control,
) -> Result<Vec<Vec<Node>>, Interrupt> {
    let Some(mut components) = apart(index, level) else {
        return Ok(strong::decide(index, level, control)?
            .core()
            .into_iter()
            .collect());
    };
    components.sort_by_key(Component::size);
    let mut cores = Vec::new();
    for component in &components {
        let decision = strong::decide(&component.index(index), level, control)?;
        cores.extend(in_the_whole(component, decision).core());
        if cores.len() >= most {
            break;
        }
    }
    Ok(cores)
}

/// The components, if deciding them separately pays off: none of them is nearly everything.
fn apart(index: &Index, level: Level) -> Option<Vec<Component>> {
    if level.counts_real_time() {
        return None;
    }
    let components = Component::all(index)?;
    let all: usize = components.iter().map(Component::size).sum();
    let largest = components.iter().map(Component::size).max().unwrap_or(0);
    (largest < all - all / 10).then_some(components)
}

/// Decides components in parallel in the current rayon pool; the answers are in nodes of `index`. As soon as one is
/// found to be violated, the others are stopped.
pub(super) fn decide_each(
    index: &Index,
    components: &[&Component],
    level: Level,
    control: &Control,
) -> Vec<Result<Decision, Interrupt>> {
    let branch = control.branch();
    let decide = |component: &&Component| {
        branch.check()?;
        let decision = strong::decide(&component.index(index), level, &branch)?;
        if decision.is_violated() {
            branch.stop();
        }
        Ok(in_the_whole(component, decision))
    };
    components.par_iter().with_max_len(1).map(decide).collect()
}

/// An answer in nodes of the whole.
pub(super) fn in_the_whole(component: &Component, decision: Decision) -> Decision {
    decision.among(|t| Some(component.nodes()[t as usize]))
}

/// One order of everything that keeps the orders of all components, and session order between them. `None` if there is
/// none. O(length of the orders).
fn join(index: &Index, orders: impl Iterator<Item = Order>) -> Option<Order> {
    let orders: Vec<Order> = orders.collect();
    let split = orders.iter().any(|order| matches!(order, Order::Events(_)));
    let steps = if split { 2 } else { 1 };
    let chains = orders
        .iter()
        .map(|order| chain(order, split))
        .collect::<Vec<Vec<u32>>>();
    let n = index.n_nodes() as u32;
    let in_components = chains
        .iter()
        .flat_map(|chain| chain.windows(2).map(|pair| (pair[0], pair[1])));
    let inside = (0..if split { n } else { 0 }).map(|t| (2 * t, 2 * t + 1));
    let in_sessions =
        (0..n).filter_map(|t| Some((steps * t + steps - 1, steps * index.successor(t)?)));
    let graph = Digraph::new(
        (steps * n) as usize,
        in_components.chain(inside).chain(in_sessions),
    );
    let order = topological_order(&graph)?;
    Some(if split {
        Order::Events(Arc::new(
            order.into_iter().map(|v| (v / 2, v % 2 == 1)).collect(),
        ))
    } else {
        Order::Commits(order.into())
    })
}

/// The steps of an order as vertices: its start and its commit for each transaction if they are `split`, or one step.
fn chain(order: &Order, split: bool) -> Vec<u32> {
    if split {
        order
            .events()
            .map(|(t, is_commit)| 2 * t + u32::from(is_commit))
            .collect()
    } else {
        order.commits().collect()
    }
}

#[cfg(test)]
mod tests;
