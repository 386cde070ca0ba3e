//! Biconnected components of an undirected graph (Hopcroft & Tarjan 1973), without recursion.

use super::{Digraph, Rows};

/// In place of a number: there is none.
const NONE: u32 = u32::MAX;

/// The biconnected components, called blocks: the largest sets of vertices that stay connected when any one vertex is
/// removed. Two vertices that share an edge share a block, an isolated vertex is a block of its own, and two blocks
/// share at most one vertex, so blocks are connected as a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    /// Vertices by block, ascending in each.
    members: Rows<u32>,
    /// By block: the vertex through which the search entered it.
    top: Vec<u32>,
    /// By vertex: the block with it that the search did not enter through it; [`NONE`] for roots of the search.
    below: Vec<u32>,
    /// By vertex: some block with it.
    home: Vec<u32>,
}

impl Blocks {
    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.top.len()
    }

    /// Whether the graph has no vertices.
    pub fn is_empty(&self) -> bool {
        self.top.is_empty()
    }

    /// The vertices of a block, ascending.
    pub fn members(&self, block: u32) -> &[u32] {
        self.members.of(block)
    }

    /// One of the blocks with this vertex, always the same.
    pub fn home(&self, vertex: u32) -> u32 {
        self.home[vertex as usize]
    }

    /// The block with both vertices, which must differ, if there is one. O(1).
    pub fn shared(&self, a: u32, b: u32) -> Option<u32> {
        let (below_a, below_b) = (self.below[a as usize], self.below[b as usize]);
        // Either both were reached from the top of their block, or one is the top.
        if below_a != NONE && (below_a == below_b || self.top[below_a as usize] == b) {
            return Some(below_a);
        }
        (below_b != NONE && self.top[below_b as usize] == a).then_some(below_b)
    }
}

/// Finds the blocks of the graph over vertices `0..n`. Loops and parallel edges change nothing. Blocks are numbered by
/// their smallest vertices, whatever the order of the edges. O(n + edges, and sorting the members of blocks); the
/// iterator is traversed twice.
pub fn biconnected_components(n: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Blocks {
    let graph = Digraph::new(n, edges.flat_map(|(a, b)| [(a, b), (b, a)]));
    let mut found = DepthFirst::new(n).run(&graph);
    found.sort_unstable_by(|a, b| a.members.cmp(&b.members));
    let mut blocks = Blocks {
        below: vec![NONE; n],
        home: vec![NONE; n],
        ..Blocks::default()
    };
    for (block, RawBlock { top, members }) in (0..).zip(found) {
        for &v in &members {
            if v != top {
                blocks.below[v as usize] = block;
            }
            let home = &mut blocks.home[v as usize];
            *home = block.min(*home);
        }
        blocks.top.push(top);
        blocks.members.push(members);
    }
    blocks
}

/// A block when it is found.
struct RawBlock {
    top: u32,
    members: Vec<u32>,
}

/// A depth-first search.
struct DepthFirst {
    /// By vertex: when it was discovered.
    discovered: Vec<u32>,
    /// By vertex: the earliest discovery reached from its subtree by one edge.
    low: Vec<u32>,
    /// Discovered vertices whose block below is not complete.
    open: Vec<u32>,
    clock: u32,
}

impl DepthFirst {
    fn new(n: usize) -> DepthFirst {
        DepthFirst {
            discovered: vec![NONE; n],
            low: vec![NONE; n],
            open: Vec::new(),
            clock: 0,
        }
    }

    fn discover(&mut self, v: u32) {
        self.discovered[v as usize] = self.clock;
        self.low[v as usize] = self.clock;
        self.clock += 1;
        self.open.push(v);
    }

    fn run(mut self, graph: &Digraph) -> Vec<RawBlock> {
        let mut found = Vec::new();
        for root in 0..graph.n_vertices() as u32 {
            if self.discovered[root as usize] != NONE {
                continue;
            }
            let before = found.len();
            self.tree(graph, root, &mut found);
            self.open.clear();
            if found.len() == before {
                found.push(RawBlock {
                    top: root,
                    members: vec![root],
                });
            }
        }
        found
    }

    /// Searches the component of `root`. Each block is complete when the search returns to its top.
    fn tree(&mut self, graph: &Digraph, root: u32, found: &mut Vec<RawBlock>) {
        self.discover(root);
        // The path to the current vertex, and by vertex of it the place of its next edge.
        let mut path: Vec<(u32, usize)> = vec![(root, graph.row(root).start)];
        while let Some((vertex, place)) = path.last_mut() {
            let v = *vertex;
            if *place < graph.row(v).end {
                let to = graph.target(*place);
                *place += 1;
                match self.discovered[to as usize] {
                    NONE => {
                        self.discover(to);
                        path.push((to, graph.row(to).start));
                    }
                    at => self.low[v as usize] = self.low[v as usize].min(at),
                }
                continue;
            }
            path.pop();
            let Some(&(parent, _)) = path.last() else {
                return;
            };
            if self.low[v as usize] >= self.discovered[parent as usize] {
                found.push(self.close(v, parent));
            }
            self.low[parent as usize] = self.low[parent as usize].min(self.low[v as usize]);
        }
    }

    /// The block of everything that is still open since `v`, and its top.
    fn close(&mut self, v: u32, top: u32) -> RawBlock {
        let begin = self.open.iter().rposition(|&open| open == v).unwrap_or(0);
        let mut members = self.open.split_off(begin);
        members.push(top);
        members.sort_unstable();
        RawBlock { top, members }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Whether all of `inside` are connected without leaving it.
    fn connected(edges: &[(u32, u32)], inside: &[u32]) -> bool {
        let Some(&first) = inside.first() else {
            return true;
        };
        let mut seen = BTreeSet::from([first]);
        let mut todo = vec![first];
        while let Some(v) = todo.pop() {
            for &(a, b) in edges {
                for (from, to) in [(a, b), (b, a)] {
                    if from == v && inside.contains(&to) && seen.insert(to) {
                        todo.push(to);
                    }
                }
            }
        }
        seen.len() == inside.len()
    }

    /// All sets that stay connected when one vertex is removed, only the largest ones.
    fn brute(n: u32, edges: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let sets =
            (1u32..1 << n).map(|bits| (0..n).filter(|v| bits >> v & 1 == 1).collect::<Vec<u32>>());
        let robust = |set: &Vec<u32>| {
            let without = |v: u32| {
                set.iter()
                    .copied()
                    .filter(|&other| other != v)
                    .collect::<Vec<u32>>()
            };
            connected(edges, set) && set.iter().all(|&v| connected(edges, &without(v)))
        };
        let found: Vec<Vec<u32>> = sets.filter(robust).collect();
        let is_inside =
            |a: &Vec<u32>, b: &Vec<u32>| a.len() < b.len() && a.iter().all(|v| b.contains(v));
        let mut largest: Vec<Vec<u32>> = found
            .iter()
            .filter(|set| !found.iter().any(|other| is_inside(set, other)))
            .cloned()
            .collect();
        largest.sort();
        largest
    }

    fn listed(blocks: &Blocks) -> Vec<Vec<u32>> {
        (0..blocks.len() as u32)
            .map(|block| blocks.members(block).to_vec())
            .collect()
    }

    #[test]
    fn blocks_are_the_largest_sets_that_survive_the_loss_of_a_vertex() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut several = 0;
        for round in 0..500 {
            let n = random.u32(1..9);
            let m = random.usize(0..2 * n as usize);
            let edges: Vec<(u32, u32)> = (0..m)
                .map(|_| (random.u32(0..n), random.u32(0..n)))
                .collect();
            let blocks = biconnected_components(n as usize, edges.iter().copied());
            let expected = brute(n, &edges);
            assert_eq!(listed(&blocks), expected, "round {round}: {edges:?}");
            several += usize::from(expected.iter().filter(|block| block.len() > 1).count() > 1);
            for a in 0..n {
                assert!(blocks.members(blocks.home(a)).contains(&a));
                for b in (0..n).filter(|&b| b != a) {
                    let both = expected
                        .iter()
                        .position(|block| block.contains(&a) && block.contains(&b));
                    assert_eq!(
                        blocks.shared(a, b),
                        both.map(|block| block as u32),
                        "round {round}: {a} {b} {edges:?}"
                    );
                }
            }
        }
        assert!(several > 100);
    }

    #[test]
    fn the_order_of_edges_does_not_matter() {
        let mut random = fastrand::Rng::with_seed(4);
        for _ in 0..100 {
            let mut edges: Vec<(u32, u32)> = (0..12)
                .map(|_| (random.u32(0..10), random.u32(0..10)))
                .collect();
            let before = listed(&biconnected_components(10, edges.iter().copied()));
            random.shuffle(&mut edges);
            let turned = edges.iter().map(|&(a, b)| (b, a));
            assert_eq!(before, listed(&biconnected_components(10, turned)));
        }
    }

    #[test]
    fn a_long_chain_and_a_long_ring_need_no_deep_stack() {
        let n = 200_000u32;
        let chain = biconnected_components(n as usize, (1..n).map(|v| (v - 1, v)));
        assert_eq!(chain.len(), n as usize - 1);
        assert_eq!(chain.members(7), [7, 8]);
        let ring = biconnected_components(n as usize, (0..n).map(|v| (v, (v + 1) % n)));
        assert_eq!(ring.len(), 1);
    }

    #[test]
    fn there_is_nothing_in_nothing() {
        assert!(biconnected_components(0, std::iter::empty()).is_empty());
    }
}
