//! Reachability by plain depth-first search (Plume, section 5.5.4: "neither" vectors nor tree clocks).
//!
//! O(vertices + edges) per search; the vertices that the last search in each direction reached are remembered, so many
//! questions with a common end take one. 16 bytes per vertex and the reversed graph.

use isoscope_model::graph::Digraph;

/// The end of the pair that stays the same over many questions: a search from there answers them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fixed {
    /// The earlier transaction.
    Start,
    /// The later transaction.
    End,
}

/// Searches in one graph.
pub(super) struct FixedEndSearch<'a> {
    graph: &'a Digraph,
    reversed: Digraph,
    from: Last,
    to: Last,
}

impl<'a> FixedEndSearch<'a> {
    /// Reverses the graph.
    pub(super) fn new(graph: &'a Digraph) -> FixedEndSearch<'a> {
        let last = || Last {
            root: None,
            number: 0,
            reached: vec![0; graph.n_vertices()],
            open: Vec::new(),
        };
        FixedEndSearch {
            graph,
            reversed: graph.reversed(),
            from: last(),
            to: last(),
        }
    }

    /// Whether a path of at least one edge leads from `a` to `b`.
    pub(super) fn reaches(&mut self, a: u32, b: u32, fixed: Fixed) -> bool {
        match fixed {
            Fixed::Start => self.from.reaches(self.graph, a, b),
            Fixed::End => self.to.reaches(&self.reversed, b, a),
        }
    }
}

/// The last search in one direction.
struct Last {
    root: Option<u32>,
    number: u32,
    /// By vertex: number of the last search that reached it.
    reached: Vec<u32>,
    open: Vec<u32>,
}

impl Last {
    fn reaches(&mut self, graph: &Digraph, root: u32, vertex: u32) -> bool {
        if self.root != Some(root) {
            self.search(graph, root);
        }
        self.reached[vertex as usize] == self.number
    }

    fn search(&mut self, graph: &Digraph, root: u32) {
        self.root = Some(root);
        self.number += 1;
        self.open.push(root);
        while let Some(vertex) = self.open.pop() {
            for &next in graph.successors(vertex) {
                if self.reached[next as usize] != self.number {
                    self.reached[next as usize] = self.number;
                    self.open.push(next);
                }
            }
        }
    }
}
