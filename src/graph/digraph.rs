//! Directed graphs in compressed sparse rows.

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
    begin: Vec<u32>,
    target: Vec<u32>,
    /// Empty if ids were not requested.
    id: Vec<u32>,
}

impl Digraph {
    /// The graph of these edges over vertices `0..n`. O(n + edges), 4 bytes per edge.
    ///
    /// The iterator is traversed twice. Edge ids are not kept: see [`Digraph::with_ids`].
    pub fn new(n: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Digraph {
        let begin = row_begins(n, edges.clone());
        let mut next = begin.clone();
        let mut target = vec![0; begin[n] as usize];
        for (from, to) in edges {
            let place = &mut next[from as usize];
            target[*place as usize] = to;
            *place += 1;
        }
        Digraph { begin, target, id: Vec::new() }
    }

    /// The same, but every edge remembers its position in the iteration. 8 bytes per edge.
    pub fn with_ids(n: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Digraph {
        let begin = row_begins(n, edges.clone());
        let mut next = begin.clone();
        let mut target = vec![0; begin[n] as usize];
        let mut id = vec![0; target.len()];
        for (edge, (from, to)) in edges.enumerate() {
            let place = &mut next[from as usize];
            target[*place as usize] = to;
            id[*place as usize] = edge as u32;
            *place += 1;
        }
        Digraph { begin, target, id }
    }

    /// Number of vertices.
    pub fn n_vertices(&self) -> usize {
        self.begin.len().saturating_sub(1)
    }

    /// Number of edges.
    pub fn n_edges(&self) -> usize {
        self.target.len()
    }

    /// The places of the edges of `vertex`, to be used with [`Digraph::target`] and [`Digraph::id`].
    #[inline]
    pub fn row(&self, vertex: u32) -> std::ops::Range<usize> {
        self.begin[vertex as usize] as usize..self.begin[vertex as usize + 1] as usize
    }

    /// The vertices that the edges of `vertex` lead to.
    #[inline]
    pub fn successors(&self, vertex: u32) -> &[u32] {
        &self.target[self.row(vertex)]
    }

    /// The edges of `vertex`.
    pub fn edges_of(&self, vertex: u32) -> impl ExactSizeIterator<Item = Arc> + '_ {
        self.row(vertex).map(move |place| Arc { from: vertex, to: self.target[place], id: self.id(place) })
    }

    /// The vertex that the edge at a place leads to.
    #[inline]
    pub fn target(&self, place: usize) -> u32 {
        self.target[place]
    }

    /// The id of the edge at a place: its position in the list that the graph was built from, or the place itself if
    /// the graph keeps no ids.
    #[inline]
    pub fn id(&self, place: usize) -> u32 {
        if self.id.is_empty() { place as u32 } else { self.id[place] }
    }

    /// All edges, by vertex.
    pub fn edges(&self) -> impl Iterator<Item = Arc> + Clone + '_ {
        (0..self.n_vertices() as u32)
            .flat_map(move |v| self.row(v).map(move |p| Arc { from: v, to: self.target[p], id: self.id(p) }))
    }

    /// The graph with every edge reversed; ids stay. O(n + edges).
    pub fn reversed(&self) -> Digraph {
        let n = self.n_vertices();
        let begin = row_begins(n, self.edges().map(|e| (e.to, e.from)));
        let mut next = begin.clone();
        let mut target = vec![0; self.target.len()];
        let mut id = vec![0; self.target.len()];
        for edge in self.edges() {
            let place = &mut next[edge.to as usize];
            target[*place as usize] = edge.from;
            id[*place as usize] = edge.id;
            *place += 1;
        }
        Digraph { begin, target, id }
    }
}

/// Where the edges of each vertex begin, with one entry more than vertices.
fn row_begins(n: usize, edges: impl Iterator<Item = (u32, u32)>) -> Vec<u32> {
    let mut begin = vec![0u32; n + 1];
    let mut count = 0usize;
    for (from, _) in edges {
        begin[from as usize + 1] += 1;
        count += 1;
    }
    assert!(count <= u32::MAX as usize, "edge places are 32 bits wide");
    for vertex in 0..n {
        begin[vertex + 1] += begin[vertex];
    }
    begin
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
        assert_eq!(graph.edges_of(2).map(|e| e.id).collect::<Vec<_>>(), [0, 2, 3]);
        assert!(graph.successors(3).is_empty());
        let back = graph.reversed();
        assert_eq!(back.successors(0), [2, 2]);
        assert_eq!(back.edges_of(1).map(|e| (e.to, e.id)).collect::<Vec<_>>(), [(0, 1), (1, 4), (2, 2)]);
        let plain = Digraph::new(4, edges.iter().copied());
        assert_eq!(plain.edges().map(|e| (e.from, e.to)).collect::<Vec<_>>(), [(0, 1), (1, 1), (2, 0), (2, 1), (2, 0)]);
    }

    #[test]
    fn the_empty_graph_has_no_vertices() {
        assert_eq!(Digraph::default().n_vertices(), 0);
        assert_eq!(Digraph::new(0, std::iter::empty()).edges().count(), 0);
    }
}
