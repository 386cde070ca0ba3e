//! Directed graphs in compressed sparse rows.

use super::rows::{Rows, row_begins};

/// One edge, gathered from the arrays of a [`Digraph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arc {
    /// The start.
    pub from: u32,
    /// The end.
    pub to: u32,
    /// Its id: its position in the list the graph was built from.
    pub id: u32,
}

/// An immutable directed graph: the successors of each vertex are contiguous.
///
/// Parallel edges and loops are kept. The edges of a vertex are in the given order.
#[derive(Clone, Debug, Default)]
pub struct Digraph {
    targets: Rows<u32>,
    /// Empty if ids were not requested.
    id: Vec<u32>,
}

impl Digraph {
    /// The graph of these edges over vertices `0..n`. O(n + edges), 4 bytes per edge.
    ///
    /// The iterator is traversed twice. Edge ids are not kept: see [`Digraph::with_ids`].
    pub fn new(n: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Digraph {
        Digraph {
            targets: Rows::new(n, edges),
            id: Vec::new(),
        }
    }

    /// As `new`, but every edge remembers its position in the iteration. 8 bytes per edge.
    pub fn with_ids(n: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Digraph {
        Digraph::numbered(
            n,
            edges.zip(0..).map(|((from, to), id)| Arc { from, to, id }),
        )
    }

    fn numbered(n: usize, edges: impl Iterator<Item = Arc> + Clone) -> Digraph {
        let begin = row_begins(n, edges.clone().map(|edge| edge.from));
        let mut next = begin.clone();
        let (mut items, mut id) = (vec![0; begin[n] as usize], vec![0; begin[n] as usize]);
        for edge in edges {
            let place = &mut next[edge.from as usize];
            (items[*place as usize], id[*place as usize]) = (edge.to, edge.id);
            *place += 1;
        }
        Digraph {
            targets: Rows { begin, items },
            id,
        }
    }

    /// Number of vertices.
    pub fn n_vertices(&self) -> usize {
        self.targets.n_rows()
    }

    /// Number of edges.
    pub fn n_edges(&self) -> usize {
        self.targets.items().len()
    }

    /// The places of the edges of `vertex`, to be used with [`Digraph::target`] and [`Digraph::id`].
    #[inline]
    pub fn row(&self, vertex: u32) -> std::ops::Range<usize> {
        self.targets.range(vertex)
    }

    /// The vertices that the edges of `vertex` lead to.
    #[inline]
    pub fn successors(&self, vertex: u32) -> &[u32] {
        self.targets.of(vertex)
    }

    /// The edges of `vertex`.
    pub fn edges_of(&self, vertex: u32) -> impl ExactSizeIterator<Item = Arc> + '_ {
        self.row(vertex).map(move |place| Arc {
            from: vertex,
            to: self.targets.items()[place],
            id: self.id(place),
        })
    }

    /// The vertex that the edge at a place leads to.
    #[inline]
    pub fn target(&self, place: usize) -> u32 {
        self.targets.items()[place]
    }

    /// The id of the edge at a place: its position in the list that the graph was built from, or the place itself if
    /// the graph keeps no ids.
    #[inline]
    pub fn id(&self, place: usize) -> u32 {
        if self.id.is_empty() {
            place as u32
        } else {
            self.id[place]
        }
    }

    /// All edges, by vertex.
    pub fn edges(&self) -> impl Iterator<Item = Arc> + Clone + '_ {
        (0..self.n_vertices() as u32).flat_map(move |v| {
            self.row(v).map(move |p| Arc {
                from: v,
                to: self.target(p),
                id: self.id(p),
            })
        })
    }

    /// The graph with every edge reversed; ids stay. O(n + edges).
    pub fn reversed(&self) -> Digraph {
        let turned = self.edges().map(|edge| Arc {
            from: edge.to,
            to: edge.from,
            id: edge.id,
        });
        Digraph::numbered(self.n_vertices(), turned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_the_order_and_ids_of_the_list() {
        let edges = [(2, 0), (0, 1), (2, 1), (2, 0), (1, 1)];
        let graph = Digraph::with_ids(4, edges.iter().copied());
        assert_eq!((graph.n_vertices(), graph.n_edges()), (4, 5));
        assert_eq!(graph.successors(2), [0, 1, 0]);
        assert_eq!(
            graph.edges_of(2).map(|e| e.id).collect::<Vec<_>>(),
            [0, 2, 3]
        );
        assert!(graph.successors(3).is_empty());
        let back = graph.reversed();
        assert_eq!(back.successors(0), [2, 2]);
        assert_eq!(
            back.edges_of(1).map(|e| (e.to, e.id)).collect::<Vec<_>>(),
            [(0, 1), (1, 4), (2, 2)]
        );
        let plain = Digraph::new(4, edges.iter().copied());
        assert_eq!(
            plain.edges().map(|e| (e.from, e.to)).collect::<Vec<_>>(),
            [(0, 1), (1, 1), (2, 0), (2, 1), (2, 0)]
        );
    }

    #[test]
    fn the_empty_graph_has_no_vertices() {
        assert_eq!(Digraph::default().n_vertices(), 0);
        assert_eq!(Digraph::new(0, std::iter::empty()).edges().count(), 0);
    }
}
