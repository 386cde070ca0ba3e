//! A readable proof that a small history violates PC, SI or SER.
//!
//! The engine in [`strong`](super::strong) answers fast; this one explains. It draws every consequence of the reads,
//! round by round, and keeps for each inferred edge the path it rests on; when a cycle shows up, the one with the
//! shortest argument is the proof. If no cycle follows from the reads alone, an order of two writers is assumed, each
//! way, and both assumptions must fail.
//!
//! Meant for counterexamples: up to a few hundred transactions. Verdicts are not its business: it may fail to find a
//! proof of a violation, and it never finds one of a satisfied level.

mod facts;
mod saturate;
mod split;

use super::{Level, Proof};
use crate::control::{Control, Interrupt};
use crate::history::{History, KeyId};
use crate::relations::{Edge, Index, NONE};
use facts::{Because, FactId, Facts};
use saturate::{Effort, needed};
use split::{Outcome, Tree};
use std::collections::BTreeMap;

/// Steps spent before giving up; some seconds.
const EFFORT: u64 = 300_000_000;
/// Largest history that is looked at, in transactions: the closure takes (2 · 2000)² / 8 bytes a case.
const MOST_NODES: usize = 2000;

/// Proves that the history violates PC, SI or SER (any other level is taken for SER): the edges of the argument,
/// premises first and only those that are needed, and how they contradict each other. `None` if the level is satisfied
/// or no proof was found within the limits.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub fn prove(
    history: &History,
    index: &Index,
    level: Level,
    control: &Control,
) -> Result<Option<(Vec<Edge>, Proof)>, Interrupt> {
    let level = match level {
        Level::PrefixConsistency | Level::SnapshotIsolation | Level::StrictSerializability => level,
        _ => Level::Serializability,
    };
    if index.n_nodes() > MOST_NODES {
        return Ok(None);
    }
    let mut facts = Facts::new(index, level);
    let case = facts.given();
    let mut effort = Effort { steps: EFFORT };
    Ok(match split::refute(&mut facts, case, &mut effort, control)? {
        Outcome::Refuted(tree) => Some(written_out(history, &facts, &tree)),
        Outcome::Satisfiable | Outcome::Unknown => None,
    })
}

/// The edges that a tree needs, and the proof in terms of them.
fn written_out(history: &History, facts: &Facts<'_>, tree: &Tree) -> (Vec<Edge>, Proof) {
    let mut place: BTreeMap<FactId, usize> = BTreeMap::new();
    let mut edges = Vec::new();
    for id in needed(facts, tree.facts()) {
        place.insert(id, edges.len());
        edges.push(facts.edge(history, &facts.all[id as usize], |premise| place[&premise]));
    }
    (edges, proof(facts, tree, &place))
}

/// Recursion is bounded by the depth of the tree, see [`split`].
fn proof(facts: &Facts<'_>, tree: &Tree, place: &BTreeMap<FactId, usize>) -> Proof {
    match tree {
        Tree::Cycle(cycle) => Proof::Cycle(cycle.iter().map(|id| place[id]).collect()),
        Tree::Split { first, second } => {
            let key = facts.all[first.0 as usize].key;
            debug_assert!(key != NONE && facts.all[first.0 as usize].because == Because::Assumed);
            let branch = |(assumed, tree): &(FactId, Box<Tree>)| (place[assumed], Box::new(proof(facts, tree, place)));
            Proof::Split { key: KeyId(key), first: branch(first), second: branch(second) }
        }
    }
}

#[cfg(test)]
mod tests;
