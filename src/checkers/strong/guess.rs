//! Where starts and commits belong by an order of transactions that was known before.

use super::known::{Known, Vertex};
use super::reachability::expected_places;
use crate::graph::Digraph;
use crate::relations::{INITIAL_SLOT, Index, NONE, Node};

/// By vertex: its place in the first order to be tried. Without a guess it is the middle of where the known edges, of which
/// `order` is a topological order, leave room; with one, commits follow it and transactions start as late as their reads
/// allow. O(edges + writes log).
pub(super) fn first_places(known: &Known<'_>, graph: &Digraph, order: &[Vertex]) -> Vec<u64> {
    let (index, events) = (known.index, known.events);
    if index.guess.is_empty() {
        return expected_places(graph, order);
    }
    let next = Next::new(index);
    let mut places = vec![0; known.n_vertices];
    for t in 0..index.n_nodes() as Node {
        let commit = 2 * u64::from(index.guess[t as usize]) + 1;
        let overwritten =
            index.reads_of(t).map(|read| next.after(index, read)).filter(|&writer| writer != NONE && writer != t);
        let latest = overwritten.map(|writer| 2 * u64::from(index.guess[writer as usize])).min();
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

/// The versions of each key in the order of the guess.
struct Next {
    /// By slot, and by key for the initial version: the writer of the next version.
    after: Vec<u32>,
    first: Vec<u32>,
}

impl Next {
    fn new(index: &Index) -> Next {
        let mut next = Next { after: vec![NONE; index.slot_node.len()], first: vec![NONE; index.n_keys()] };
        let mut slots = Vec::new();
        for key in 0..index.n_keys() as u32 {
            slots.clear();
            slots.extend(index.slots_of(key));
            slots.sort_unstable_by_key(|&slot| index.guess[index.slot_node[slot] as usize]);
            next.first[key as usize] = slots.first().map_or(NONE, |&slot| index.slot_node[slot]);
            slots.windows(2).for_each(|pair| next.after[pair[0]] = index.slot_node[pair[1]]);
        }
        next
    }

    fn after(&self, index: &Index, read: usize) -> u32 {
        match index.read_slot[read] {
            INITIAL_SLOT => self.first[index.read_key[read] as usize],
            slot => self.after[slot as usize],
        }
    }
}
