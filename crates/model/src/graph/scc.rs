//! Strongly connected components (Tarjan 1972), without recursion.

use super::{Digraph, Rows};

/// The strongly connected components of a graph.
#[derive(Clone, Debug, Default)]
pub struct Components {
    /// By vertex: its component. Components are numbered against the edges: an edge between two components leads from
    /// the larger number to the smaller one.
    pub component: Vec<u32>,
    /// Vertices by component, ascending in each.
    members: Rows<u32>,
    /// By component: whether a cycle runs through it.
    cyclic: Vec<bool>,
}

impl Components {
    /// Number of components.
    pub fn len(&self) -> usize {
        self.cyclic.len()
    }

    /// Whether the graph has no vertices.
    pub fn is_empty(&self) -> bool {
        self.cyclic.is_empty()
    }

    /// The vertices of a component, ascending.
    pub fn members(&self, component: u32) -> &[u32] {
        self.members.of(component)
    }

    /// Whether a cycle runs through the component: it has two vertices or a loop.
    #[inline]
    pub fn is_cyclic(&self, component: u32) -> bool {
        self.cyclic[component as usize]
    }

    /// Whether a cycle runs through the vertex.
    #[inline]
    pub fn on_cycle(&self, vertex: u32) -> bool {
        self.cyclic[self.component[vertex as usize] as usize]
    }

    /// Whether some cycle runs through both vertices (through the vertex, if they are equal).
    #[inline]
    pub fn share_cycle(&self, a: u32, b: u32) -> bool {
        self.component[a as usize] == self.component[b as usize] && self.on_cycle(a)
    }

    /// Whether the graph has any cycle.
    pub fn any_cyclic(&self) -> bool {
        self.cyclic.contains(&true)
    }

    /// The components with a cycle, ordered by their smallest vertex.
    pub fn cyclic(&self) -> Vec<u32> {
        let mut cyclic: Vec<u32> = (0..self.len() as u32)
            .filter(|&c| self.is_cyclic(c))
            .collect();
        cyclic.sort_unstable_by_key(|&c| self.members(c)[0]);
        cyclic
    }
}

const UNSEEN: u32 = u32::MAX;

/// Finds the strongly connected components. O(vertices + edges), no recursion.
pub fn strong_components(graph: &Digraph) -> Components {
    let (component, count) = component_numbers(graph.n_vertices(), |v, nth| {
        graph.successors(v).get(nth).copied()
    });
    collect(graph, component, count)
}

/// The component of each vertex, numbered as in [`Components`], and how many there are, for a graph that is stored in
/// another form: `successor` gives the nth vertex, from 0, that an edge of a vertex leads to. O(vertices + edges).
pub fn component_numbers(
    n: usize,
    mut successor: impl FnMut(u32, usize) -> Option<u32>,
) -> (Vec<u32>, usize) {
    let mut component = vec![UNSEEN; n];
    // Order of discovery while a vertex is open; low[v] is the smallest one known to be reachable.
    let mut low = vec![UNSEEN; n];
    // Open vertices on the current path: each with its order of discovery and how many of its edges were followed.
    let mut call: Vec<(u32, u32, usize)> = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    let mut discovered = 0u32;
    let mut count = 0u32;
    for root in 0..n as u32 {
        if low[root as usize] != UNSEEN {
            continue;
        }
        call.push((root, discovered, 0));
        low[root as usize] = discovered;
        discovered += 1;
        open.push(root);
        while let Some(&mut (vertex, index, ref mut nth)) = call.last_mut() {
            let v = vertex as usize;
            if let Some(to) = successor(vertex, *nth) {
                *nth += 1;
                let to = to as usize;
                if low[to] == UNSEEN {
                    low[to] = discovered;
                    call.push((to as u32, discovered, 0));
                    discovered += 1;
                    open.push(to as u32);
                } else if component[to] == UNSEEN {
                    low[v] = low[v].min(low[to]);
                }
                continue;
            }
            call.pop();
            if let Some(&(parent, ..)) = call.last() {
                low[parent as usize] = low[parent as usize].min(low[v]);
            }
            if low[v] == index {
                while let Some(member) = open.pop() {
                    component[member as usize] = count;
                    if member == vertex {
                        break;
                    }
                }
                count += 1;
            }
        }
    }
    (component, count as usize)
}

/// Groups the vertices by component and determines which components have cycles.
fn collect(graph: &Digraph, component: Vec<u32>, count: usize) -> Components {
    let members = Rows::new(count, component.iter().copied().zip(0u32..));
    let has_cycle = |c: u32| match members.of(c) {
        [only] => graph.successors(*only).contains(only),
        _ => true,
    };
    let cyclic = (0..count as u32).map(has_cycle).collect();
    Components {
        component,
        members,
        cyclic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Closure;

    #[test]
    fn components_agree_with_mutual_reachability() {
        let mut random = fastrand::Rng::with_seed(7);
        for round in 0..600 {
            let n = random.usize(1..12);
            let m = random.usize(0..2 * n + 1);
            let edges: Vec<(u32, u32)> = (0..m)
                .map(|_| (random.u32(0..n as u32), random.u32(0..n as u32)))
                .collect();
            let graph = Digraph::new(n, edges.iter().copied());
            let components = strong_components(&graph);
            let reach = Closure::brute(n, &edges);
            for a in 0..n as u32 {
                for b in 0..n as u32 {
                    let together =
                        a == b || reach[a as usize][b as usize] && reach[b as usize][a as usize];
                    let same = components.component[a as usize] == components.component[b as usize];
                    assert_eq!(same, together, "round {round}: {a} {b} {edges:?}");
                }
                assert_eq!(
                    components.on_cycle(a),
                    reach[a as usize][a as usize],
                    "round {round}: {a} {edges:?}"
                );
            }
            for &(a, b) in &edges {
                assert!(components.component[a as usize] >= components.component[b as usize]);
            }
            let all: usize = (0..components.len() as u32)
                .map(|c| components.members(c).len())
                .sum();
            assert_eq!(all, n);
        }
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let n = 300_000u32;
        let graph = Digraph::new(n as usize, (0..n).map(|v| (v, (v + 1) % n)));
        let components = strong_components(&graph);
        assert_eq!(components.len(), 1);
        assert_eq!(components.cyclic(), [0]);
    }
}
