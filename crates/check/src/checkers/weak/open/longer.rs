//! TCC: what a transaction sees by paths of session order and reads, once every question is answered.

use super::{Axioms, Read, reasons};
use crate::sat::{Consequences, DynamicOrder, Fact};
use isoscope_model::relations::{NONE, Node};
use std::collections::VecDeque;

/// What a search for a path needs.
#[derive(Default)]
pub(super) struct LongerPaths {
    /// By node and session: how many of the session it has seen.
    seen: Vec<u32>,
    distance: Vec<u32>,
    /// By node: the next one on the path, and the candidate of the next one's read by which it is seen, or [`NONE`].
    next: Vec<(Node, u32)>,
    visited: Vec<Node>,
    queue: VecDeque<(Node, u32)>,
}

impl Axioms<'_> {
    /// By node and session: how many transactions of the session come before it in SO ∪ WR.
    pub(super) fn look_back(&mut self, order: &DynamicOrder, holds: &[bool]) {
        let (index, n_sessions) = (self.index, self.index.n_sessions());
        let mut seen = std::mem::take(&mut self.search.seen);
        seen.clear();
        seen.resize(index.n_nodes() * n_sessions, 0);
        let join = |seen: &mut [u32], from: Node, to: Node| {
            for session in 0..n_sessions {
                let more = seen[from as usize * n_sessions + session];
                let at = &mut seen[to as usize * n_sessions + session];
                *at = (*at).max(more);
            }
            let at = &mut seen[to as usize * n_sessions + index.session[from as usize] as usize];
            *at = (*at).max(index.position(from) + 1);
        };
        for &node in order.order() {
            if index.position(node) > 0 {
                join(&mut seen, node - 1, node);
            }
            if self.takes_part(node, holds) {
                for read in self.reads_of(node) {
                    if let Some(writer) =
                        self.taken(read, holds).map(|taken| self.writer(taken.slot))
                        && writer != NONE
                    {
                        join(&mut seen, writer, node);
                    }
                }
            }
        }
        self.search.seen = seen;
    }

    /// Adds to `because` the facts of a path of SO ∪ WR from one node to another, with as few facts as possible.
    fn path(&mut self, from: Node, to: Node, holds: &[bool], because: &mut Vec<Fact>) {
        let (index, n_sessions) = (self.index, self.index.n_sessions());
        let (session, position) = (index.session[from as usize], index.position(from));
        let mut search = std::mem::take(&mut self.search);
        search.distance.resize(index.n_nodes(), NONE);
        search.next.resize(index.n_nodes(), (NONE, NONE));
        search.distance[to as usize] = 0;
        search.visited.push(to);
        search.queue.push_back((to, 0));
        while let Some((node, distance)) = search.queue.pop_front() {
            if node == from {
                break;
            }
            if distance > search.distance[node as usize] {
                continue;
            }
            let before = (index.position(node) > 0).then(|| (node - 1, NONE, 0));
            let reads = if self.takes_part(node, holds) {
                self.reads_of(node)
            } else {
                0..0
            };
            let by_reading = reads.filter_map(|read| {
                let taken = self.taken(read, holds)?;
                let cost =
                    u32::from(taken.fact != NONE) + u32::from(self.member[node as usize] != NONE);
                Some((self.writer(taken.slot), self.taken[read], cost))
                    .filter(|step| step.0 != NONE)
            });
            for (previous, candidate, cost) in before.into_iter().chain(by_reading) {
                let has_seen =
                    search.seen[previous as usize * n_sessions + session as usize] > position;
                let next = distance + cost;
                if (has_seen || previous == from) && next < search.distance[previous as usize] {
                    if search.distance[previous as usize] == NONE {
                        search.visited.push(previous);
                    }
                    search.distance[previous as usize] = next;
                    search.next[previous as usize] = (node, candidate);
                    match cost {
                        0 => search.queue.push_front((previous, next)),
                        _ => search.queue.push_back((previous, next)),
                    }
                }
            }
        }
        let mut node = from;
        while node != to && search.distance[node as usize] != NONE {
            let (next, candidate) = search.next[node as usize];
            if candidate != NONE {
                because.extend(reasons([
                    self.candidates[candidate as usize].fact,
                    self.member[next as usize],
                ]));
            }
            node = next;
        }
        search.queue.clear();
        search
            .visited
            .drain(..)
            .for_each(|node| search.distance[node as usize] = NONE);
        self.search = search;
    }

    /// The edges that a read of a version forces from transactions that its transaction sees by longer paths.
    pub(super) fn look_through(
        &mut self,
        read: usize,
        order: &DynamicOrder,
        holds: &[bool],
        found: &mut Consequences,
    ) {
        let Some(this) = self.taken(read, holds) else {
            return;
        };
        let (index, n_sessions) = (self.index, self.index.n_sessions());
        let Read { node, key, .. } = self.reads[read];
        let writer = self.writer(this.slot);
        let slots = index.slots_of(key);
        for session in 0..n_sessions {
            let begin = index.session_begin[session];
            let end = begin + self.search.seen[node as usize * n_sessions + session];
            let last = slots.start + index.slot_node[slots.clone()].partition_point(|&t| t < end);
            let before = (slots.start..last)
                .rev()
                .map(|slot| index.slot_node[slot])
                .take_while(|&t| t >= begin);
            let Some(seen) = before.into_iter().find(|&t| self.takes_part(t, holds)) else {
                continue;
            };
            if seen == writer || (writer != NONE && order.position(seen) < order.position(writer)) {
                continue;
            }
            let mut because = reasons([
                this.fact,
                self.member[node as usize],
                self.member[seen as usize],
            ]);
            self.path(seen, node, holds, &mut because);
            self.see(seen, (key, writer), &because, found);
        }
    }
}
