//! The engine for prefix consistency, snapshot isolation and serializability.
//!
//! Deciding these levels is NP-complete (Papadimitriou 1979; Biswas & Enea 2019, section 3), but the reads of real
//! histories nearly determine the order, so most of the work is linear:
//!
//! 0. `mini_transactions`: if every writer of a key has read it first, the reads determine the version order.
//! 1. `saturation`: guess an order, replay it, and draw consequences only where the replay contradicts a read, until
//!    an order fits, the known edges contain a cycle, or nothing more follows.
//! 2. `search`: choose an order for the pairs of writers that are still open, by clause learning modulo acyclicity.
//!
//! If values repeat, `turns` may find an order by running the sessions against the values.
//!
//! The engine of dependencies looks alike, but neither can take the place of the other. SER decided by its loop takes longer than
//! 20 s on 100 blind writers and on 2,000 transactions of a store with repeated values, where this engine takes 0.2 s and
//! less than 0.1 s; what makes the difference is that pairs are decided in batches, and what is decided is not asked again.
//! Its levels, on the other hand, forbid a path back to each reader, which is more than that a graph of events is acyclic.
//!
//! The engine works on the [`Index`] alone. It is exact and complete; it stays undecided only when stopped. It assumes
//! that thin-air reads and the like and cycles of SO ∪ WR have been reported already; if they have not, the answer is
//! still about the reads that the index contains.

mod certain;
mod choices;
mod core;
mod guess;
mod items;
mod known;
mod open_reads;
mod reachability;
mod replay;
mod saturation;
mod search;
mod turns;

pub(in crate::checkers) use certain::certain;
pub(in crate::checkers) use choices::{OpenDecision, decide_open};
pub(in crate::checkers) use core::Core;
pub(in crate::checkers) use known::{Events, Known, Rule, Vertex};
pub(in crate::checkers) use open_reads::OpenReads;
pub(in crate::checkers) use reachability::{CausalPast, expected_places};
pub(in crate::checkers) use search::Effort;
pub(in crate::checkers) use turns::take_turns;

use crate::checkers::{Decision, Level, Order, mini_transactions};
use isoscope_model::control::{Control, Interrupt, Stage};
use isoscope_model::graph::Digraph;
use isoscope_model::relations::{INITIAL_SLOT, Index, NONE, Node};
use saturation::{Saturated, saturate};
use search::Searched;
use std::sync::Arc;

/// Decides PC, SI, SER or SSER. Anything else is treated as SER. SSER assumes that the clock does not contradict
/// session order ([`Index::clock_against_session_order`]).
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first; the time is exponential in the worst case.
pub fn decide(index: &Index, level: Level, control: &Control) -> Result<Decision, Interrupt> {
    decide_with(index, level, Effort::Any, control)?.ok_or(Interrupt::Cancelled)
}

/// [`decide`]; `None` if the answer takes more than a limited effort.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(in crate::checkers) fn decide_with(
    index: &Index,
    level: Level,
    effort: Effort,
    control: &Control,
) -> Result<Option<Decision>, Interrupt> {
    let open = OpenReads::default();
    let level = level.or_serial();
    // If every writer has read what it replaces, there is nothing to guess.
    if let Some(answer) = control.timed(Stage::Saturate, || {
        mini_transactions::decide(index, level, control)
    })? {
        return Ok(Some(answer));
    }
    if level.is_strong_on_conflicts()
        && let Some(core) = divergence(index)
    {
        return Ok(Some(Decision::Violated { core }));
    }
    let mut known = control.timed(Stage::Build, || Known::new(index, level, control))?;
    let witness = match control.timed(Stage::Saturate, || saturate(&mut known, &open, control))? {
        Saturated::Witness(order) => order,
        Saturated::Cyclic { before } => {
            let graph = Digraph::with_ids(known.n_vertices, known.edges());
            let core = Core::new(&known, &graph, before.as_slice()).of_cyclic(control)?;
            return Ok(Some(Decision::Violated { core }));
        }
        Saturated::Open(order) => {
            match search::search(&known, &open, order.clone(), effort, control)? {
                Searched::Witness(order) => order,
                Searched::Refuted { cycles, items } => {
                    let graph = Digraph::with_ids(known.n_vertices, known.edges());
                    let core =
                        Core::new(&known, &graph, &[order]).of_refuted(&cycles, &items, control)?;
                    return Ok(Some(Decision::Violated { core }));
                }
                Searched::GaveUp => return Ok(None),
            }
        }
    };
    Ok(Some(Decision::Satisfied(ordered(known.events, &witness))))
}

/// The witness in terms of transactions.
fn ordered(events: Events, order: &[Vertex]) -> Order {
    let nodes = order
        .iter()
        .filter_map(|&v| events.node(v).map(|t| (t, events.is_commit(v))));
    if events.split() {
        Order::Events(Arc::new(nodes.collect()))
    } else {
        Order::Commits(Arc::new(nodes.map(|(t, _)| t).collect()))
    }
}

/// Two transactions that read one version of a key and both write the key, with its writer: a violation of SI and SER
/// (MTC, Lemma 1). O(reads log writes).
pub(in crate::checkers) fn divergence(index: &Index) -> Option<Vec<Node>> {
    // By version read: the first update of it. Initial versions are distinguished by key.
    let mut update_of_slot = vec![NONE; index.slot_node.len()];
    let mut update_of_key = vec![NONE; index.n_keys()];
    for t in 0..index.n_nodes() as Node {
        for read in index.reads_of(t) {
            let (slot, key) = (index.read_slot[read], index.read_key[read]);
            if index.slot_of(t, key).is_none() {
                continue;
            }
            let update = match slot {
                INITIAL_SLOT => &mut update_of_key[key as usize],
                slot => &mut update_of_slot[slot as usize],
            };
            if *update != NONE && *update != t {
                let writer = index.writer_of_read(read);
                let mut core: Vec<Node> = [*update, t, writer]
                    .into_iter()
                    .filter(|&t| t != NONE)
                    .collect();
                core.sort_unstable();
                core.dedup();
                return Some(core);
            }
            *update = t;
        }
    }
    None
}

#[cfg(test)]
mod tests;
