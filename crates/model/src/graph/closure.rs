//! Reachability of small graphs.

use super::{Digraph, strong_components};
use fixedbitset::FixedBitSet;

/// Which vertex reaches which by at least one edge, as a bit matrix: for graphs of at most a few thousand vertices.
#[derive(Clone, Debug, Default)]
pub struct Closure {
    rows: Vec<FixedBitSet>,
}

impl Closure {
    /// The transitive closure. O(edges · n / 64) time, n² / 8 bytes.
    pub fn new(graph: &Digraph) -> Closure {
        let n = graph.n_vertices();
        let components = strong_components(graph);
        let mut rows = vec![FixedBitSet::with_capacity(n); n];
        // Components are numbered against the edges, so what a component reaches is complete before it is needed.
        for component in 0..components.len() as u32 {
            let mut reached = FixedBitSet::with_capacity(n);
            for &vertex in components.members(component) {
                for &to in graph.successors(vertex) {
                    reached.insert(to as usize);
                    if components.component[to as usize] != component {
                        reached.union_with(&rows[to as usize]);
                    }
                }
            }
            if components.is_cyclic(component) {
                for &vertex in components.members(component) {
                    reached.insert(vertex as usize);
                }
            }
            for &vertex in components.members(component) {
                rows[vertex as usize] = reached.clone();
            }
        }
        Closure { rows }
    }

    /// Whether a path of at least one edge leads from `from` to `to`.
    #[inline]
    pub fn reaches(&self, from: u32, to: u32) -> bool {
        self.rows[from as usize].contains(to as usize)
    }

    /// Whether they are the same vertex or a path leads from `from` to `to`.
    #[inline]
    pub fn reaches_or_is(&self, from: u32, to: u32) -> bool {
        from == to || self.reaches(from, to)
    }

    /// Adds an edge and all that follows from it. O(n² / 64). Returns whether anything is new.
    pub fn add_edge(&mut self, from: u32, to: u32) -> bool {
        if self.reaches(from, to) {
            return false;
        }
        let mut gained = self.rows[to as usize].clone();
        gained.insert(to as usize);
        for (vertex, row) in self.rows.iter_mut().enumerate() {
            if vertex == from as usize || row.contains(from as usize) {
                row.union_with(&gained);
            }
        }
        true
    }

    /// Warshall's algorithm, to compare with.
    #[cfg(test)]
    pub(crate) fn brute(n: usize, edges: &[(u32, u32)]) -> Vec<Vec<bool>> {
        let mut reach = vec![vec![false; n]; n];
        edges
            .iter()
            .for_each(|&(a, b)| reach[a as usize][b as usize] = true);
        for k in 0..n {
            for a in 0..n {
                if reach[a][k] {
                    let through = reach[k].clone();
                    reach[a]
                        .iter_mut()
                        .zip(through)
                        .for_each(|(mine, theirs)| *mine |= theirs);
                }
            }
        }
        reach
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closure_agrees_with_warshall_also_edge_by_edge() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..400 {
            let n = random.usize(1..80);
            let m = random.usize(0..2 * n);
            let edges: Vec<(u32, u32)> = (0..m)
                .map(|_| (random.u32(0..n as u32), random.u32(0..n as u32)))
                .collect();
            let whole = Closure::new(&Digraph::new(n, edges.iter().copied()));
            let mut grown = Closure::new(&Digraph::new(n, std::iter::empty()));
            for &(a, b) in &edges {
                grown.add_edge(a, b);
            }
            let brute = Closure::brute(n, &edges);
            for a in 0..n as u32 {
                for b in 0..n as u32 {
                    assert_eq!(whole.reaches(a, b), brute[a as usize][b as usize]);
                    assert_eq!(grown.reaches(a, b), brute[a as usize][b as usize]);
                }
            }
        }
    }
}
