//! The edges that are certain at a level, also where some of them contradict each other.
//!
//! To decide a level it is enough to draw consequences until the first cycle shows up. What is counted and listed must not
//! depend on which cycle that is, so here consequences are drawn, round by round, until nothing new follows:
//!
//! - Round 0 has the edges that the history itself shows, and those that follow by looking at one session or one update
//!   ([`Known::new`]).
//! - An edge is *usable* as a premise if it is on no cycle of the edges of earlier rounds. Edges that the history itself
//!   shows are usable if they are on no cycle of such edges, and session order always is. So nothing follows by way of a
//!   contradiction (from which everything would follow), and the usable edges have no cycle.
//! - Round n + 1 has what the rules of [`saturation`](super::saturation) say of pairs of writers that a topological order
//!   of the usable edges of round n contradicts: the order nearest to that of the round before, at first to the one by
//!   number of usable predecessors, ties by number of vertex.
//!
//! On an index in canonical order ([`Index::canonical`](crate::relations::Index::canonical)) this is a definition in terms
//! of what happened: neither the order of sessions in the file nor names have a part in it, and of sessions that share no
//! key each finds what it finds alone.

use super::known::{Derived, Known, Vertex};
use super::open_reads::OpenReads;
use super::reachability::{leads_to, past_sizes};
use super::replay::replay;
use super::saturation::{MOST_VERSIONS, consequences};
use crate::control::{Control, Interrupt};
use crate::graph::{Components, Digraph, strong_components, topological_order, topological_order_by_priority};
use rustc_hash::FxHashSet;

/// Rounds after which the rest is left out.
const MOST_ROUNDS: u32 = 32;

/// Adds to `known` all that is certain. Returns by round, from 1, an order of the usable edges of the rounds before. Every
/// round costs what a round of [`saturate`](super::saturate) does, and O(edges) for components.
pub(in crate::checkers) fn certain(known: &mut Known<'_>, control: &Control) -> Result<Vec<Vec<Vertex>>, Interrupt> {
    let (index, events, open) = (known.index, known.events, OpenReads::default());
    let shown = strong_components(&Digraph::new(known.n_vertices, known.base.iter().copied()));
    let mut orders: Vec<Vec<Vertex>> = Vec::new();
    for round in 1..=MOST_ROUNDS {
        control.check()?;
        let usable = usable(known, &shown);
        let priority = match orders.last() {
            Some(order) => places(order),
            None => {
                let Some(first) = topological_order(&usable) else { break };
                past_sizes(index, events, &usable, &first, control)?
            }
        };
        let Some(order) = topological_order_by_priority(&usable, &priority) else { break };
        let found = replay(known, &open, &[], &order, MOST_VERSIONS);
        let candidates = consequences(known, &found.misreads, &found.overlaps, round);
        let queries: Vec<(Vertex, Vertex)> = candidates.iter().map(|(_, query)| *query).collect();
        let holds = leads_to(index, events, &usable, &order, &queries, control)?;
        let derived = candidates.iter().zip(&holds).filter(|(_, holds)| **holds).map(|((edge, _), _)| *edge);
        let mut new: Vec<Derived> = derived.collect();
        new.sort_by_key(|edge| (edge.from, edge.to));
        new.dedup_by_key(|edge| (edge.from, edge.to));
        // The order keeps to usable edges only, so it may contradict others again.
        let old: FxHashSet<(Vertex, Vertex)> = known.edges().filter(|edge| is_among(&new, *edge)).collect();
        new.retain(|edge| !old.contains(&(edge.from, edge.to)));
        orders.push(order);
        if new.is_empty() {
            break;
        }
        known.derived.append(&mut new);
    }
    Ok(orders)
}

fn is_among(sorted: &[Derived], edge: (Vertex, Vertex)) -> bool {
    sorted.binary_search_by_key(&edge, |derived| (derived.from, derived.to)).is_ok()
}

fn places(order: &[Vertex]) -> Vec<u64> {
    let mut places = vec![0; order.len()];
    (0..).zip(order).for_each(|(place, &v)| places[v as usize] = place);
    places
}

/// The usable edges; `shown` are the components of what the history itself shows.
fn usable(known: &Known<'_>, shown: &Components) -> Digraph {
    let all = known.graph();
    let components = strong_components(&all);
    if !components.any_cyclic() {
        return all;
    }
    let in_session = |from: Vertex, to: Vertex| match (known.events.node(from), known.events.node(to)) {
        // Vertices are numbered along sessions.
        (Some(a), Some(b)) => from < to && known.index.session[a as usize] == known.index.session[b as usize],
        _ => false,
    };
    let n_base = known.base.len();
    let is_usable = |&(place, (from, to)): &(usize, (Vertex, Vertex))| {
        components.component[from as usize] != components.component[to as usize]
            || place < n_base
                && (shown.component[from as usize] != shown.component[to as usize] || in_session(from, to))
    };
    Digraph::new(known.n_vertices, known.edges().enumerate().filter(is_usable).map(|(_, edge)| edge))
}
