//! Where starts and commits belong by an order of transactions that was known before.

use super::known::{Known, Vertex};
use super::reachability::expected_places;
use crate::checkers::dependencies::Versions;
use isoscope_model::graph::Digraph;
use isoscope_model::relations::{NONE, Node};

/// By vertex: its place in the first order to be tried. Without a guess it is the middle of where the known edges, of which
/// `order` is a topological order, leave room; with one, commits follow it and transactions start as late as their reads
/// allow. O(edges + writes log).
pub(super) fn first_places(known: &Known<'_>, graph: &Digraph, order: &[Vertex]) -> Vec<u64> {
    let (index, events) = (known.index, known.events);
    if index.guess.is_empty() {
        return expected_places(graph, order);
    }
    let versions = Versions::new(index, |t| index.guess[t as usize]);
    let mut places = vec![0; known.n_vertices];
    for t in 0..index.n_nodes() as Node {
        let commit = 2 * u64::from(index.guess[t as usize]) + 1;
        let overwritten = index
            .reads_of(t)
            .map(|read| versions.next(index, read))
            .filter(|&writer| writer != NONE && writer != t);
        let latest = overwritten
            .map(|writer| 2 * u64::from(index.guess[writer as usize]))
            .min();
        places[events.commit(t) as usize] = commit;
        if events.split() {
            places[events.start(t) as usize] = latest.unwrap_or(commit).min(commit - 1);
        }
    }
    // What a session did before the start of its next transaction belongs before it: of the reads of one transaction, each of
    // which has a snapshot of its own, the first must not wait for a commit that a later one missed.
    for t in (0..index.n_nodes() as Node).rev() {
        if let Some(next) = index.successor(t) {
            let latest = places[events.start(next) as usize];
            for event in [events.start(t), events.commit(t)] {
                places[event as usize] = places[event as usize].min(latest);
            }
        }
    }
    places
}
