//! Shortest paths and cycles by breadth-first search.

use super::{Arc, Digraph};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Searches for paths; keeps its memory between searches, so many short searches in a large graph are cheap.
#[derive(Clone, Debug)]
pub struct PathFinder {
    /// By vertex: the search that reached it last.
    reached_in: Vec<u32>,
    /// By vertex: the edge by which it was reached.
    by: Vec<Arc>,
    /// By vertex: (heavy edges, edges) on the path to it, packed.
    cost: Vec<u64>,
    search: u32,
    queue: Vec<u32>,
}

impl PathFinder {
    /// For graphs of up to `n` vertices. 28 bytes per vertex.
    pub fn new(n: usize) -> PathFinder {
        PathFinder {
            reached_in: vec![0; n],
            by: vec![
                Arc {
                    from: 0,
                    to: 0,
                    id: 0
                };
                n
            ],
            cost: vec![0; n],
            search: 0,
            queue: Vec::new(),
        }
    }

    fn begin(&mut self) {
        if self.search == u32::MAX {
            self.reached_in.fill(0);
            self.search = 0;
        }
        self.search += 1;
        self.queue.clear();
    }

    /// A path with the fewest edges from `from` to `to` through vertices that `admit` allows (the ends need not be
    /// allowed). It has at least one edge: with `from == to` it is a shortest cycle through that vertex. Among equals
    /// the choice follows the order of the edges in the graph. O(vertices + edges) reached.
    pub fn shortest(
        &mut self,
        graph: &Digraph,
        from: u32,
        to: u32,
        admit: impl Fn(u32) -> bool,
    ) -> Option<Vec<Arc>> {
        self.shortest_within(graph, from, to, usize::MAX, admit)
    }

    /// As `shortest`, for paths of at most `limit` edges.
    pub fn shortest_within(
        &mut self,
        graph: &Digraph,
        from: u32,
        to: u32,
        limit: usize,
        admit: impl Fn(u32) -> bool,
    ) -> Option<Vec<Arc>> {
        self.begin();
        self.queue.push(from);
        let mut at = 0;
        let mut depth = 0;
        while at < self.queue.len() && depth < limit {
            let layer_end = self.queue.len();
            while at < layer_end {
                for edge in graph.edges_of(self.queue[at]) {
                    let next = edge.to as usize;
                    if edge.to == to {
                        self.by[next] = edge;
                        return Some(self.walk_back(from, to));
                    }
                    if edge.to != from && self.reached_in[next] != self.search && admit(edge.to) {
                        self.reached_in[next] = self.search;
                        self.by[next] = edge;
                        self.queue.push(edge.to);
                    }
                }
                at += 1;
            }
            depth += 1;
        }
        None
    }

    /// A path from `from` to `to` with the fewest heavy edges, among these one with the fewest edges. `heavy` tells by id
    /// which edges are heavy, and of those that are not to be used `None`. Otherwise like [`PathFinder::shortest`]. O(edges log vertices).
    pub fn lightest(
        &mut self,
        graph: &Digraph,
        from: u32,
        to: u32,
        admit: impl Fn(u32) -> bool,
        heavy: impl Fn(u32) -> Option<bool>,
    ) -> Option<Vec<Arc>> {
        self.begin();
        const HEAVY: u64 = 1 << 32;
        let mut heap = BinaryHeap::new();
        // `from` itself is not marked as reached: a cycle must be able to come back to it.
        heap.push(Reverse((0u64, 0u32, from, true)));
        let mut pushed = 0u32;
        while let Some(Reverse((cost, _, vertex, first))) = heap.pop() {
            if !first {
                if vertex == to {
                    return Some(self.walk_back(from, to));
                }
                if cost > self.cost[vertex as usize] {
                    continue;
                }
            }
            for edge in graph.edges_of(vertex) {
                if edge.to != to && (edge.to == from || !admit(edge.to)) {
                    continue;
                }
                let Some(is_heavy) = heavy(edge.id) else {
                    continue;
                };
                let next = edge.to as usize;
                let new = cost + 1 + if is_heavy { HEAVY } else { 0 };
                if self.reached_in[next] != self.search || new < self.cost[next] {
                    self.reached_in[next] = self.search;
                    self.cost[next] = new;
                    self.by[next] = edge;
                    pushed = pushed.wrapping_add(1);
                    heap.push(Reverse((new, pushed, edge.to, false)));
                }
            }
        }
        None
    }

    fn walk_back(&self, from: u32, to: u32) -> Vec<Arc> {
        let mut path = vec![self.by[to as usize]];
        while let Some(edge) = path.last().filter(|edge| edge.from != from) {
            path.push(self.by[edge.from as usize]);
        }
        path.reverse();
        path
    }
}

/// A cycle with few edges inside a strongly connected component, given by its vertices (ascending) and a test for
/// membership. The shortest one if the search ends within `effort` searches, one from each vertex in order; each search
/// visits the component's edges at most once. `None` if the component has no cycle.
pub fn shortest_cycle(
    graph: &Digraph,
    finder: &mut PathFinder,
    vertices: &[u32],
    inside: impl Fn(u32) -> bool,
    effort: usize,
) -> Option<Vec<Arc>> {
    let mut best: Option<Vec<Arc>> = None;
    for &vertex in vertices.iter().take(effort.max(1)) {
        let limit = best.as_ref().map_or(usize::MAX, |cycle| cycle.len() - 1);
        if limit == 0 {
            break;
        }
        if let Some(cycle) = finder.shortest_within(graph, vertex, vertex, limit, &inside) {
            best = Some(cycle);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::strong_components;

    const FAR: u64 = u64::MAX / 4;

    /// Cheapest walks of at least one edge by Bellman and Ford, through allowed vertices.
    fn brute(
        n: usize,
        edges: &[(u32, u32)],
        from: u32,
        to: u32,
        admit: &[bool],
        cost: impl Fn(u32) -> u64,
    ) -> u64 {
        let mut at = vec![FAR; n];
        let mut back = FAR;
        for _ in 0..=n {
            for (id, &(a, b)) in edges.iter().enumerate() {
                let here = if a == from { 0 } else { at[a as usize] };
                if here >= FAR || (a != from && !admit[a as usize]) {
                    continue;
                }
                let new = here + cost(id as u32);
                if b == to {
                    back = back.min(new);
                } else {
                    at[b as usize] = at[b as usize].min(new);
                }
            }
        }
        back
    }

    #[test]
    fn paths_are_paths_and_as_short_as_can_be() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut found = 0;
        let mut finder = PathFinder::new(12);
        for _ in 0..1500 {
            let n = random.usize(1..12);
            let m = random.usize(0..3 * n);
            let edges: Vec<(u32, u32)> = (0..m)
                .map(|_| (random.u32(0..n as u32), random.u32(0..n as u32)))
                .collect();
            let heavy: Vec<bool> = (0..m).map(|_| random.bool()).collect();
            let admit: Vec<bool> = (0..n).map(|_| random.u8(0..4) > 0).collect();
            let graph = Digraph::with_ids(n, edges.iter().copied());
            let (from, to) = (random.u32(0..n as u32), random.u32(0..n as u32));
            let weight = |id: u32| if heavy[id as usize] { 1001 } else { 1 };
            let short = finder.shortest(&graph, from, to, |v| admit[v as usize]);
            let light = finder.lightest(
                &graph,
                from,
                to,
                |v| admit[v as usize],
                |id| Some(heavy[id as usize]),
            );
            for (path, cost) in [
                (&short, &(|_| 1u64) as &dyn Fn(u32) -> u64),
                (&light, &weight),
            ] {
                let expected = brute(n, &edges, from, to, &admit, cost);
                let Some(path) = path else {
                    assert!(expected >= FAR);
                    continue;
                };
                found += 1;
                assert_eq!((path[0].from, path[path.len() - 1].to), (from, to));
                assert!(
                    path.windows(2)
                        .all(|two| two[0].to == two[1].from && admit[two[0].to as usize])
                );
                assert!(path.iter().all(|e| edges[e.id as usize] == (e.from, e.to)));
                assert_eq!(path.iter().map(|e| cost(e.id)).sum::<u64>(), expected);
            }
            if let Some(path) = &short {
                let len = path.len();
                assert!(
                    finder
                        .shortest_within(&graph, from, to, len, |v| admit[v as usize])
                        .is_some()
                );
                assert!(
                    finder
                        .shortest_within(&graph, from, to, len - 1, |v| admit[v as usize])
                        .is_none()
                );
            }
        }
        assert!(found > 500);
    }

    #[test]
    fn the_shortest_cycle_of_a_component_is_found() {
        let mut random = fastrand::Rng::with_seed(6);
        for _ in 0..300 {
            let n = random.usize(1..12);
            let edges: Vec<(u32, u32)> = (0..2 * n)
                .map(|_| (random.u32(0..n as u32), random.u32(0..n as u32)))
                .collect();
            let graph = Digraph::with_ids(n, edges.iter().copied());
            let components = strong_components(&graph);
            let mut finder = PathFinder::new(n);
            for component in 0..components.len() as u32 {
                let members = components.members(component);
                let inside = |v: u32| components.component[v as usize] == component;
                let cycle = shortest_cycle(&graph, &mut finder, members, inside, usize::MAX);
                let all = vec![true; n];
                let girth = members
                    .iter()
                    .map(|&v| brute(n, &edges, v, v, &all, |_| 1))
                    .min()
                    .unwrap_or(FAR);
                assert_eq!(cycle.map_or(FAR, |cycle| cycle.len() as u64), girth);
            }
        }
    }
}
