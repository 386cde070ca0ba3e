//! Our algorithms on compressed rows beside petgraph's.
//!
//! petgraph's compressed graph has components by recursion only, which overflows the stack on a history of long chains;
//! without recursion they need its adjacency lists, as a topological order does.

use divan::Bencher;
use isoscope::graph::{Digraph, strong_components, topological_order};
use petgraph::algo::{kosaraju_scc, toposort};
use petgraph::graph::DiGraph;

fn main() {
    divan::main();
}

/// Vertices, edges from each, and how many of a thousand edges lead back.
const SHAPES: [(u32, u32, u32); 4] = [
    (30, 2, 50),
    (1000, 4, 0),
    (1_000_000, 4, 0),
    (1_000_000, 4, 1),
];

/// Edges as dependencies have them: to vertices not far away, nearly all of them forward.
fn edges((n, out, back): (u32, u32, u32)) -> Vec<(u32, u32)> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut edge = |from: u32| {
        let distance = 1 + random.u32(0..100.min(n));
        let leads_back = random.u32(0..1000) < back;
        (
            from,
            if leads_back {
                from.saturating_sub(distance)
            } else {
                (from + distance).min(n - 1)
            },
        )
    };
    (0..n)
        .flat_map(|from| std::iter::repeat_n(from, out as usize))
        .map(&mut edge)
        .filter(|(a, b)| a != b)
        .collect()
}

fn of_petgraph(n: u32, edges: &[(u32, u32)]) -> DiGraph<(), ()> {
    let mut graph = DiGraph::with_capacity(n as usize, edges.len());
    (0..n).for_each(|_| {
        graph.add_node(());
    });
    graph.extend_with_edges(edges);
    graph
}

#[divan::bench(args = SHAPES)]
fn build(bencher: Bencher<'_, '_>, shape: (u32, u32, u32)) {
    let edges = edges(shape);
    bencher.bench(|| Digraph::new(shape.0 as usize, edges.iter().copied()));
}

#[divan::bench(args = SHAPES)]
fn build_petgraph(bencher: Bencher<'_, '_>, shape: (u32, u32, u32)) {
    let edges = edges(shape);
    bencher.bench(|| of_petgraph(shape.0, &edges));
}

#[divan::bench(args = SHAPES)]
fn components(bencher: Bencher<'_, '_>, shape: (u32, u32, u32)) {
    let graph = Digraph::new(shape.0 as usize, edges(shape).into_iter());
    bencher.bench(|| strong_components(&graph));
}

#[divan::bench(args = SHAPES)]
fn components_petgraph(bencher: Bencher<'_, '_>, shape: (u32, u32, u32)) {
    let graph = of_petgraph(shape.0, &edges(shape));
    bencher.bench(|| kosaraju_scc(&graph));
}

#[divan::bench(args = SHAPES)]
fn order(bencher: Bencher<'_, '_>, shape: (u32, u32, u32)) {
    let graph = Digraph::new(shape.0 as usize, edges(shape).into_iter());
    bencher.bench(|| topological_order(&graph));
}

#[divan::bench(args = SHAPES)]
fn order_petgraph(bencher: Bencher<'_, '_>, shape: (u32, u32, u32)) {
    let graph = of_petgraph(shape.0, &edges(shape));
    bencher.bench(|| toposort(&graph, None));
}
