//! Topological orders (Kahn 1962).

use super::Digraph;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An order of the vertices in which every edge leads forward, or `None` if there is a cycle. O(vertices + edges).
pub fn topological_order(graph: &Digraph) -> Option<Vec<u32>> {
    let n = graph.n_vertices();
    let mut missing = in_degrees(graph);
    let mut order: Vec<u32> = Vec::with_capacity(n);
    order.extend((0..n as u32).filter(|&v| missing[v as usize] == 0));
    let mut done = 0;
    while done < order.len() {
        for &to in graph.successors(order[done]) {
            missing[to as usize] -= 1;
            if missing[to as usize] == 0 {
                order.push(to);
            }
        }
        done += 1;
    }
    (order.len() == n).then_some(order)
}

/// The topological order that at each step takes, among the vertices that may come next, the one of smallest
/// priority, then of smallest number; `None` if there is a cycle. O((vertices + edges) log vertices).
pub fn topological_order_by_priority(graph: &Digraph, priority: &[u64]) -> Option<Vec<u32>> {
    let n = graph.n_vertices();
    let mut missing = in_degrees(graph);
    let mut order: Vec<u32> = Vec::with_capacity(n);
    let ready = (0..n as u32).filter(|&v| missing[v as usize] == 0);
    let mut heap: BinaryHeap<Reverse<(u64, u32)>> =
        ready.map(|v| Reverse((priority[v as usize], v))).collect();
    while let Some(Reverse((_, vertex))) = heap.pop() {
        order.push(vertex);
        for &to in graph.successors(vertex) {
            missing[to as usize] -= 1;
            if missing[to as usize] == 0 {
                heap.push(Reverse((priority[to as usize], to)));
            }
        }
    }
    (order.len() == n).then_some(order)
}

fn in_degrees(graph: &Digraph) -> Vec<u32> {
    let mut degree = vec![0u32; graph.n_vertices()];
    for vertex in 0..graph.n_vertices() as u32 {
        for &to in graph.successors(vertex) {
            degree[to as usize] += 1;
        }
    }
    degree
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::strong_components;

    #[test]
    fn orders_respect_edges_and_exist_exactly_without_cycles() {
        let mut random = fastrand::Rng::with_seed(11);
        let (mut acyclic, mut cyclic) = (0, 0);
        for _ in 0..600 {
            let n = random.usize(1..14);
            let m = random.usize(0..n + 2);
            let edges: Vec<(u32, u32)> = (0..m)
                .map(|_| (random.u32(0..n as u32), random.u32(0..n as u32)))
                .collect();
            let graph = Digraph::new(n, edges.iter().copied());
            let priority: Vec<u64> = (0..n).map(|_| random.u64(0..5)).collect();
            let orders = [
                topological_order(&graph),
                topological_order_by_priority(&graph, &priority),
            ];
            for order in &orders {
                assert_eq!(order.is_some(), !strong_components(&graph).any_cyclic());
                let Some(order) = order else { continue };
                let mut place = vec![usize::MAX; n];
                order
                    .iter()
                    .enumerate()
                    .for_each(|(at, &v)| place[v as usize] = at);
                assert!(place.iter().all(|&p| p < n));
                assert!(
                    edges
                        .iter()
                        .all(|&(a, b)| place[a as usize] < place[b as usize])
                );
            }
            if let Some(order) = &orders[1] {
                acyclic += 1;
                greedy_check(&edges, &priority, order);
            } else {
                cyclic += 1;
            }
        }
        assert!(acyclic > 50 && cyclic > 50);
    }

    /// At each step no ready vertex has a smaller (priority, number) than the one taken.
    fn greedy_check(edges: &[(u32, u32)], priority: &[u64], order: &[u32]) {
        for (step, &taken) in order.iter().enumerate() {
            let rest = &order[step..];
            let ready = |v: u32| edges.iter().all(|&(a, b)| b != v || !rest.contains(&a));
            for &v in rest.iter().filter(|&&v| ready(v)) {
                assert!((priority[taken as usize], taken) <= (priority[v as usize], v));
            }
        }
    }
}
