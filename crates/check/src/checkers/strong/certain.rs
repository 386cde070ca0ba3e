//! The edges that are certain at a level, derived in rounds.
//!
//! To decide a level it is enough to draw consequences until some cycle occurs. What is counted and listed must not
//! depend on which cycle that is, so this module defines which edges are certain:
//!
//! - Round 0 has the edges that the history itself shows, and those that follow from one session or one update alone
//!   ([`Known::new`]).
//! - Round n + 1 has all that the rules of [`saturation`](super::saturation) derive, by paths of edges of earlier
//!   rounds, for pairs of writers for which a topological order of these edges contradicts a read: the order nearest to
//!   that of the previous round, at first to the one by number of predecessors, ties by vertex number.
//! - Sessions connected by shared keys, directly or through others, form independent *pieces*. The first round after
//!   which the edges of a piece have a cycle is complete and the last one of this piece: from a contradiction
//!   everything would follow. A piece also ends with a round that gains little.
//!
//! On an index in canonical order ([`Index::canonical`]) this is a definition in terms of what happened: neither the
//! order of sessions in the file nor names matter, and each piece yields what it yields alone.

use super::known::{Derived, Known, Vertex};
use super::open_reads::OpenReads;
use super::reachability::expected_places;
use super::replay::replay;
use super::saturation::{MOST_VERSIONS, PATIENCE, derive};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::{
    Digraph, strong_components, topological_order, topological_order_by_priority,
};
use isoscope_model::relations::{Communication, Index, Node};

/// Adds to `known` all that is certain. Returns by round, from 1, a topological order of the edges of earlier rounds
/// with the events of the pieces still open in it. Costs as much as [`saturate`](super::saturate), round by round.
pub(in crate::checkers) fn certain(
    known: &mut Known<'_>,
    control: &Control,
) -> Result<Vec<Vec<Vertex>>, Interrupt> {
    let (events, reads) = (known.events, OpenReads::default());
    let mut pieces = Pieces::new(known);
    let mut orders: Vec<Vec<Vertex>> = Vec::new();
    let mut before: Option<Vec<Vertex>> = None;
    for round in 1.. {
        control.check()?;
        let Some((graph, first)) = pieces.acyclic(known) else {
            break;
        };
        let order = match &before {
            Some(before) => topological_order_by_priority(&graph, &places(before)),
            None => topological_order_by_priority(&graph, &expected_places(&graph, &first)),
        };
        let Some(order) = order else { break };
        let takes_part = |v: &Vertex| events.node(*v).is_none_or(|t| pieces.takes_part(t));
        orders.push(order.iter().copied().filter(takes_part).collect());
        control.check()?;
        let mut found = replay(known, &reads, &[], &order, MOST_VERSIONS);
        found
            .misreads
            .retain(|misread| pieces.takes_part(misread.between));
        found
            .overlaps
            .retain(|overlap| pieces.takes_part(overlap.first));
        let mut new: Vec<Derived> = Vec::new();
        let both = (found.misreads.as_slice(), found.overlaps.as_slice());
        derive(known, (&graph, &order), both, round, &mut new, control)?;
        let contradicted = found.misreads.iter().map(|misread| misread.between);
        let contradicted = contradicted.chain(found.overlaps.iter().map(|overlap| overlap.first));
        let n_found = pieces.count(contradicted);
        let n_new = pieces.count(new.iter().filter_map(|edge| events.node(edge.from)));
        for (piece, (&found, &new)) in n_found.iter().zip(&n_new).enumerate() {
            pieces.open[piece] &= new > 0 && (round <= PATIENCE || new * 100 >= found);
        }
        new.retain(|edge| events.node(edge.from).is_some_and(|t| pieces.takes_part(t)));
        if new.is_empty() {
            break;
        }
        before = Some(order);
        known.derived.append(&mut new);
    }
    Ok(orders)
}

fn places(order: &[Vertex]) -> Vec<u64> {
    let mut places = vec![0; order.len()];
    (0..)
        .zip(order)
        .for_each(|(place, &v)| places[v as usize] = place);
    places
}

/// Sessions connected by shared keys.
struct Pieces {
    /// By node.
    of: Vec<u32>,
    /// By piece: whether it is still open in the next round.
    open: Vec<bool>,
}

impl Pieces {
    fn new(known: &Known<'_>) -> Pieces {
        let index = known.index;
        let n = index.n_sessions();
        if known.events.in_real_time() || Communication::is_plainly_one(index) {
            return Pieces {
                of: vec![0; index.n_nodes()],
                open: vec![true],
            };
        }
        // Sessions and keys, each session with each of its keys and back.
        let keys = accesses(index).map(|(t, key)| (index.session[t as usize], n as u32 + key));
        let graph = Digraph::new(
            n + index.n_keys(),
            keys.clone()
                .chain(keys.map(|(session, key)| (key, session))),
        );
        let components = strong_components(&graph);
        let of: Vec<u32> = index
            .session
            .iter()
            .map(|&session| components.component[session as usize])
            .collect();
        let mut open = vec![false; components.len()];
        of.iter().for_each(|&piece| open[piece as usize] = true);
        Pieces { of, open }
    }

    fn takes_part(&self, t: Node) -> bool {
        self.open[self.of[t as usize] as usize]
    }

    /// How many of these nodes each piece has.
    fn count(&self, nodes: impl Iterator<Item = Node>) -> Vec<usize> {
        let mut n = vec![0; self.open.len()];
        nodes.for_each(|t| n[self.of[t as usize] as usize] += 1);
        n
    }

    /// The known edges of the open pieces, and an order of them, after closing pieces with a cycle; `None` if all are
    /// closed.
    fn acyclic(&mut self, known: &Known<'_>) -> Option<(Digraph, Vec<Vertex>)> {
        let events = known.events;
        loop {
            let takes_part = |&(from, to): &(Vertex, Vertex)| {
                let t = events.node(from).or(events.node(to));
                t.is_none_or(|t| self.takes_part(t))
            };
            let graph = Digraph::new(known.n_vertices, known.edges().filter(takes_part));
            if let Some(order) = topological_order(&graph) {
                return self.open.contains(&true).then_some((graph, order));
            }
            if self.open.len() == 1 {
                return None;
            }
            let components = strong_components(&graph);
            for component in components.cyclic() {
                let nodes = components
                    .members(component)
                    .iter()
                    .filter_map(|&v| events.node(v));
                for t in nodes {
                    self.open[self.of[t as usize] as usize] = false;
                }
            }
            if !self.open.contains(&true) {
                return None;
            }
        }
    }
}

/// All reads and writes: the node and the key.
fn accesses(index: &Index) -> impl Iterator<Item = (Node, u32)> + Clone + '_ {
    (0..index.n_nodes() as Node).flat_map(move |t| {
        let read = index.reads_of(t).map(move |read| (t, index.read_key[read]));
        read.chain(
            index
                .writes_of(t)
                .map(move |write| (t, index.write_key[write])),
        )
    })
}
