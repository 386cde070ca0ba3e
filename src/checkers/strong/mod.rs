//! The engine for prefix consistency, snapshot isolation and serializability.
//!
//! Deciding these levels is NP-complete (Papadimitriou 1979; Biswas & Enea 2019, section 3), but real histories are
//! nearly ordered by what was read, so most of the work is linear:
//!
//! 0. `mini_transactions`: where every writer of a key has read it first, the reads tell the order of all versions.
//! 1. `saturation`: guess an order, replay it, and draw consequences only where the replay contradicts a read, until
//!    an order fits, the known edges contain a cycle, or nothing more follows.
//! 2. `search`: choose an order for the pairs of writers that are still open, by clause learning modulo acyclicity.
//!
//! The engine works on the [`Index`] alone. It is exact and complete; it stays undecided only when stopped. It assumes
//! that reads of thin air and the like and cycles of SO ∪ WR have been reported already; if they have not, the answer
//! is still about the reads that the index contains.

mod core;
mod items;
mod known;
mod open_reads;
mod reachability;
mod replay;
mod saturation;
mod search;

pub(in crate::checkers) use core::Core;
pub(in crate::checkers) use known::{Events, Known, Rule, Vertex};
pub(in crate::checkers) use open_reads::OpenReads;
pub(in crate::checkers) use reachability::CausalPast;
pub(in crate::checkers) use saturation::{Saturated, saturate};

use crate::checkers::{Level, mini_transactions};
use crate::control::{Control, Interrupt};
use crate::history::History;
use crate::relations::{Choice, INITIAL_SLOT, Index, NONE, Node, Resolution};
use search::Searched;

/// The answer for one strong level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StrongDecision {
    /// SER, SSER: running the transactions in this order explains every read.
    SatisfiedInOrder(Vec<Node>),
    /// PC, SI: this order of starts (`false`) and commits (`true`) explains every read.
    SatisfiedByEvents(Vec<(Node, bool)>),
    /// No order does.
    Violated {
        /// Transactions that suffice for the violation, ascending; not minimal.
        core: Vec<Node>,
    },
}

/// Decides PC, SI, SER or SSER. Anything else is taken for SER. SSER assumes that the clock does not contradict session
/// order ([`Index::clock_against_session_order`]).
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first; the time is exponential in the worst case.
pub fn decide(index: &Index, level: Level, control: &Control) -> Result<StrongDecision, Interrupt> {
    let open = OpenReads::default();
    let level = events_level(level);
    // Where every writer has read what it replaces there is nothing to guess.
    if let Some(answer) = mini_transactions::decide(index, level, control)? {
        return Ok(match answer {
            mini_transactions::Answer::InOrder(order) => StrongDecision::SatisfiedInOrder(order),
            mini_transactions::Answer::ByEvents(events) => StrongDecision::SatisfiedByEvents(events),
            mini_transactions::Answer::Violated { core } => StrongDecision::Violated { core },
        });
    }
    if level != Level::PrefixConsistency
        && let Some(core) = divergence(index)
    {
        return Ok(StrongDecision::Violated { core });
    }
    let mut known = Known::new(index, level, control)?;
    let witness = match saturate(&mut known, &open, control)? {
        Saturated::Witness(order) => order,
        Saturated::Cyclic { before } => {
            let core = Core::new(&known, before.as_deref()).of_cyclic(control)?;
            return Ok(StrongDecision::Violated { core });
        }
        Saturated::Open(order) => match search::search(&known, &open, order.clone(), control)? {
            Searched::Witness(order) => order,
            Searched::Refuted { cycles, items } => {
                let core = Core::new(&known, Some(&order)).of_refuted(&cycles, &items, control)?;
                return Ok(StrongDecision::Violated { core });
            }
        },
    };
    Ok(satisfied(known.events, &witness))
}

fn events_level(level: Level) -> Level {
    match level {
        Level::PrefixConsistency | Level::SnapshotIsolation | Level::StrictSerializability => level,
        _ => Level::Serializability,
    }
}

/// The answer where reads have several possible writers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checkers) enum OpenDecision {
    /// With these writers of the ambiguous reads.
    Satisfied(StrongDecision, Choice),
    /// Whatever the writers.
    Violated,
}

/// Decides PC, SI, SER or SSER for a history with ambiguous reads: satisfied if one choice of their writers satisfies
/// the level. `index` is that of the history with those reads left out. `None` if whether some transaction of unknown
/// outcome takes part depends on the choice.
///
/// Candidates that the known edges exclude are struck out first, and reads with one candidate left become ordinary
/// ones, until that leads no further; the rest is decided by the search together with the order.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first; the time is exponential in the worst case.
pub(in crate::checkers) fn decide_open(
    history: &History,
    resolution: &Resolution,
    index: &Index,
    level: Level,
    control: &Control,
) -> Result<Option<OpenDecision>, Interrupt> {
    let level = events_level(level);
    let mut alive: Vec<Vec<bool>> =
        resolution.ambiguous().map(|(_, candidates)| vec![true; candidates.len()]).collect();
    let mut choice = resolution.choice_of_none();
    let mut rebuilt: Option<Index> = None;
    loop {
        let index = rebuilt.as_ref().unwrap_or(index);
        let Some(open) = OpenReads::new(history, resolution, index, &choice, &alive) else { return Ok(None) };
        if level != Level::PrefixConsistency && divergence(index).is_some() {
            return Ok(Some(OpenDecision::Violated));
        }
        let mut known = Known::new(index, level, control)?;
        let order = match saturate(&mut known, &open, control)? {
            Saturated::Cyclic { .. } => return Ok(Some(OpenDecision::Violated)),
            Saturated::Witness(order) => return Ok(Some(open_witness(&known, &open, &order, choice))),
            Saturated::Open(order) => order,
        };
        let pruned = open.prune(&known, &known.graph(), &order, &mut alive, control)?;
        if pruned && alive.iter().any(|candidates| !candidates.contains(&true)) {
            return Ok(Some(OpenDecision::Violated));
        }
        if pruned && settle(&alive, &mut choice) {
            rebuilt = Some(Index::build_with(history, resolution, &choice, control)?);
            continue;
        }
        let Some(open) = OpenReads::new(history, resolution, index, &choice, &alive) else { return Ok(None) };
        return Ok(Some(match search::search(&known, &open, order, control)? {
            Searched::Witness(order) => open_witness(&known, &open, &order, choice),
            Searched::Refuted { .. } => OpenDecision::Violated,
        }));
    }
}

/// Gives reads with one candidate left that one; whether there were any.
fn settle(alive: &[Vec<bool>], choice: &mut Choice) -> bool {
    let mut changed = false;
    for (alive, chosen) in alive.iter().zip(choice) {
        if chosen.is_none() && alive.iter().filter(|&&left| left).count() == 1 {
            *chosen = alive.iter().position(|&left| left).map(|place| place as u32);
            changed = true;
        }
    }
    changed
}

fn open_witness(known: &Known<'_>, open: &OpenReads, order: &[Vertex], mut choice: Choice) -> OpenDecision {
    open.complete(known.index, known.events, order, &mut choice);
    OpenDecision::Satisfied(satisfied(known.events, order), choice)
}

/// The witness in terms of transactions.
fn satisfied(events: Events, order: &[Vertex]) -> StrongDecision {
    let nodes = order.iter().filter_map(|&v| events.node(v).map(|t| (t, events.is_commit(v))));
    match events.split() {
        true => StrongDecision::SatisfiedByEvents(nodes.collect()),
        false => StrongDecision::SatisfiedInOrder(nodes.map(|(t, _)| t).collect()),
    }
}

/// Two transactions that read one version of a key and both write the key, with its writer: a violation of SI and SER
/// (MTC, Lemma 1). O(reads log writes).
fn divergence(index: &Index) -> Option<Vec<Node>> {
    // By version read: the first update of it. Initial versions are told apart by key.
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
                let mut core: Vec<Node> = [*update, t, writer].into_iter().filter(|&t| t != NONE).collect();
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
pub(in crate::checkers) mod sample;
#[cfg(test)]
mod tests;
