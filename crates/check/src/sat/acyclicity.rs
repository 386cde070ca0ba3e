//! An acyclic graph under insertion and removal of edges, and the theory that lets a solver choose among edges.
//!
//! [`DynamicOrder`] maintains a topological order of its vertices while edges are added and removed, by the algorithm
//! of Pearce and Kelly ("A dynamic topological sort algorithm for directed acyclic graphs", 2007). Some edges are
//! fixed, the others carry a label and can be removed again. An edge that would close a cycle is refused, and the cycle
//! is returned.
//!
//! `Acyclicity` ties labelled edges to literals: it accepts an assignment as long as the edges of its true literals
//! leave the graph acyclic, and otherwise explains the conflict by the literals of one cycle.
//!
//! Only vertices and literals are known here; what they represent is up to the caller.

use super::Edges;
use batsat::{Lit, Theory, TheoryArg};
use isoscope_model::control::Control;
use isoscope_model::graph::Digraph;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// A vertex: a dense number.
pub type Vertex = u32;

/// Labels from here on mark facts of the caller, labels below represent literals.
pub const FIRST_FACT: u32 = 1 << 31;

/// One edge of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CycleEdge {
    /// The start.
    pub from: Vertex,
    /// The end.
    pub to: Vertex,
    /// Its label; `None` for a fixed edge.
    pub label: Option<u32>,
    /// A second label, for an edge that is present only while two things hold.
    pub also: Option<u32>,
}

impl CycleEdge {
    /// Its labels, up to two.
    pub fn labels(&self) -> impl Iterator<Item = u32> + use<> {
        self.label.into_iter().chain(self.also)
    }
}

/// What a labelled edge depends on: a literal or fact, and possibly another one.
pub type Labels = (u32, Option<u32>);

/// Marks vertices; forgetting all marks is O(1).
#[derive(Clone, Debug)]
struct Marks {
    stamp: Vec<u32>,
    current: u32,
}

impl Marks {
    fn new(n: usize) -> Marks {
        Marks {
            stamp: vec![0; n],
            current: 0,
        }
    }

    fn clear(&mut self) {
        if self.current == u32::MAX {
            self.stamp.fill(0);
            self.current = 0;
        }
        self.current += 1;
    }

    /// Marks `v`; returns whether it was unmarked before.
    fn mark(&mut self, v: Vertex) -> bool {
        std::mem::replace(&mut self.stamp[v as usize], self.current) != self.current
    }
}

/// A directed acyclic graph with a topological order that is maintained incrementally.
///
/// Invariant: every edge, fixed or labelled, leads from a smaller to a larger position. Removing an edge leaves the
/// order unchanged.
#[derive(Clone, Debug)]
pub struct DynamicOrder {
    position: Vec<u32>,
    vertex: Vec<Vertex>,
    fixed_out: Digraph,
    fixed_in: Digraph,
    labelled_out: Vec<Vec<(Vertex, Labels)>>,
    labelled_in: Vec<Vec<(Vertex, Labels)>>,
    marks: Marks,
    stack: Vec<Vertex>,
    after: Vec<Vertex>,
    before: Vec<Vertex>,
    places: Vec<u32>,
    distance: Vec<u32>,
    reached_by: Vec<CycleEdge>,
}

impl DynamicOrder {
    /// The graph of these fixed edges. `order` must be a topological order of them over all vertices. O(V + E).
    pub fn new(
        order: Vec<Vertex>,
        fixed: impl Iterator<Item = (Vertex, Vertex)> + Clone,
    ) -> DynamicOrder {
        let n = order.len();
        let mut position = vec![0; n];
        for (place, &v) in order.iter().enumerate() {
            position[v as usize] = place as u32;
        }
        debug_assert!(
            fixed
                .clone()
                .all(|(from, to)| position[from as usize] < position[to as usize])
        );
        DynamicOrder {
            position,
            vertex: order,
            fixed_in: Digraph::new(n, fixed.clone().map(|(from, to)| (to, from))),
            fixed_out: Digraph::new(n, fixed),
            labelled_out: vec![Vec::new(); n],
            labelled_in: vec![Vec::new(); n],
            marks: Marks::new(n),
            stack: Vec::new(),
            after: Vec::new(),
            before: Vec::new(),
            places: Vec::new(),
            distance: vec![0; n],
            reached_by: vec![
                CycleEdge {
                    from: 0,
                    to: 0,
                    label: None,
                    also: None
                };
                n
            ],
        }
    }

    /// The vertices in a topological order of all present edges.
    pub fn order(&self) -> &[Vertex] {
        &self.vertex
    }

    /// The fixed edges.
    pub(super) fn fixed_out(&self) -> &Digraph {
        &self.fixed_out
    }

    /// The fixed edges, reversed.
    pub(super) fn fixed_in(&self) -> &Digraph {
        &self.fixed_in
    }

    /// Place of a vertex in [`order`](Self::order).
    #[inline]
    pub fn position(&self, v: Vertex) -> u32 {
        self.position[v as usize]
    }

    /// Adds a labelled edge. If it would close a cycle nothing changes and the cycle is returned, this edge first;
    /// among all cycles one with fewest labelled edges. O(1) if the order already agrees, otherwise proportional to the
    /// part of the graph between the two positions that is connected to the ends.
    pub fn insert(
        &mut self,
        from: Vertex,
        to: Vertex,
        labels: Labels,
    ) -> Result<(), Vec<CycleEdge>> {
        let new = CycleEdge {
            from,
            to,
            label: Some(labels.0),
            also: labels.1,
        };
        if from == to {
            return Err(vec![new]);
        }
        if self.position[from as usize] > self.position[to as usize] {
            if !self.collect_after(to, from) {
                let mut cycle = vec![new];
                cycle.extend(self.cheapest_path(to, from));
                return Err(cycle);
            }
            self.collect_before(from, to);
            self.reorder();
        }
        self.labelled_out[from as usize].push((to, labels));
        self.labelled_in[to as usize].push((from, labels));
        Ok(())
    }

    /// Removes one edge with these ends and these labels; the latest such first. Does nothing if there is none.
    pub fn remove(&mut self, from: Vertex, to: Vertex, labels: Labels) {
        let take = |list: &mut Vec<(Vertex, Labels)>, end: Vertex| {
            if let Some(place) = list.iter().rposition(|&entry| entry == (end, labels)) {
                list.swap_remove(place);
            }
        };
        take(&mut self.labelled_out[from as usize], to);
        take(&mut self.labelled_in[to as usize], from);
    }

    /// Number of labelled edges that leave a vertex.
    pub fn labelled_degree(&self, v: Vertex) -> usize {
        self.labelled_out[v as usize].len()
    }

    /// Collects in `after` what `start` reaches without passing the position of `target`; false if it reaches `target`.
    fn collect_after(&mut self, start: Vertex, target: Vertex) -> bool {
        let limit = self.position[target as usize];
        self.marks.clear();
        self.marks.mark(start);
        self.after.clear();
        self.stack.clear();
        self.stack.push(start);
        while let Some(v) = self.stack.pop() {
            self.after.push(v);
            let labelled = self.labelled_out[v as usize].iter().map(|&(w, _)| w);
            for w in self.fixed_out.successors(v).iter().copied().chain(labelled) {
                if w == target {
                    return false;
                }
                if self.position[w as usize] < limit && self.marks.mark(w) {
                    self.stack.push(w);
                }
            }
        }
        true
    }

    /// Collects in `before` what reaches `start` from positions after that of `bound`. Runs after
    /// [`collect_after`](Self::collect_after), whose vertices it cannot meet.
    fn collect_before(&mut self, start: Vertex, bound: Vertex) {
        let limit = self.position[bound as usize];
        self.marks.mark(start);
        self.before.clear();
        self.stack.clear();
        self.stack.push(start);
        while let Some(v) = self.stack.pop() {
            self.before.push(v);
            let labelled = self.labelled_in[v as usize].iter().map(|&(w, _)| w);
            for w in self.fixed_in.successors(v).iter().copied().chain(labelled) {
                if self.position[w as usize] > limit && self.marks.mark(w) {
                    self.stack.push(w);
                }
            }
        }
    }

    /// Puts `before` in front of `after`, on the positions that the two occupy together.
    fn reorder(&mut self) {
        let position = &mut self.position;
        self.before.sort_unstable_by_key(|&v| position[v as usize]);
        self.after.sort_unstable_by_key(|&v| position[v as usize]);
        self.places.clear();
        self.places.extend(
            self.before
                .iter()
                .chain(&self.after)
                .map(|&v| position[v as usize]),
        );
        self.places.sort_unstable();
        for (&v, &place) in self.before.iter().chain(&self.after).zip(&self.places) {
            position[v as usize] = place;
            self.vertex[place as usize] = v;
        }
    }

    /// A path with fewest labelled edges. `from` must reach `to`.
    fn cheapest_path(&mut self, from: Vertex, to: Vertex) -> Vec<CycleEdge> {
        let limit = self.position[to as usize];
        self.marks.clear();
        self.marks.mark(from);
        self.distance[from as usize] = 0;
        let mut queue = VecDeque::from([(from, 0)]);
        while let Some((v, distance)) = queue.pop_front() {
            if v == to {
                break;
            }
            if distance > self.distance[v as usize] {
                continue;
            }
            let fixed = self.fixed_out.successors(v).iter().map(|&w| (w, None));
            let labelled = self.labelled_out[v as usize]
                .iter()
                .map(|&(w, labels)| (w, Some(labels)));
            for (w, labels) in fixed.chain(labelled) {
                if self.position[w as usize] > limit {
                    continue;
                }
                let next = distance + u32::from(labels.is_some());
                if self.marks.mark(w) || next < self.distance[w as usize] {
                    self.distance[w as usize] = next;
                    let (label, also) =
                        labels.map_or((None, None), |(label, also)| (Some(label), also));
                    self.reached_by[w as usize] = CycleEdge {
                        from: v,
                        to: w,
                        label,
                        also,
                    };
                    match labels {
                        None => queue.push_front((w, next)),
                        Some(_) => queue.push_back((w, next)),
                    }
                }
            }
        }
        let mut path = Vec::new();
        let mut v = to;
        while v != from {
            let edge = self.reached_by[v as usize];
            path.push(edge);
            v = edge.from;
        }
        path.reverse();
        path
    }
}

/// The theory "the edges of the true literals leave the graph acyclic".
pub(super) struct Acyclicity<'a> {
    order: &'a mut DynamicOrder,
    edges: &'a Edges<'a>,
    control: &'a Control,
    /// Literals of the trail whose edges are in the graph, in order.
    processed: Vec<Lit>,
    /// By [`Lit::idx`]: whether it is one of those.
    is_processed: Vec<bool>,
    /// Inserted edges, in order.
    inserted: Vec<(Vertex, Vertex, Labels)>,
    /// By decision level: the numbers of processed literals and inserted edges when it began.
    levels: Vec<(usize, usize)>,
    /// The edges of all cycles that refuted an assignment.
    pub(super) cycles: FxHashSet<CycleEdge>,
    /// Those cycles one by one, in order; only on request.
    pub(super) lemmas: Option<Vec<Vec<CycleEdge>>>,
}

impl<'a> Acyclicity<'a> {
    pub(super) fn new(
        order: &'a mut DynamicOrder,
        edges: &'a Edges<'a>,
        n_variables: usize,
        control: &'a Control,
    ) -> Acyclicity<'a> {
        Acyclicity {
            order,
            edges,
            control,
            processed: Vec::new(),
            is_processed: vec![false; 2 * n_variables],
            inserted: Vec::new(),
            levels: Vec::new(),
            cycles: FxHashSet::default(),
            lemmas: None,
        }
    }

    /// Removes all edges of literals from the graph.
    pub(super) fn clear(&mut self) {
        self.levels.clear();
        self.undo_to(0, 0);
    }

    fn undo_to(&mut self, n_processed: usize, n_inserted: usize) {
        for (from, to, labels) in self.inserted.drain(n_inserted..).rev() {
            self.order.remove(from, to, labels);
        }
        for literal in self.processed.drain(n_processed..) {
            self.is_processed[literal.idx() as usize] = false;
        }
    }

    /// Inserts the edges of all new literals of the trail, up to the first conflict.
    fn follow_trail(&mut self, acts: &mut TheoryArg<'_>) {
        // The solver checks the stop flag itself before it continues.
        if self.control.check().is_err() {
            return;
        }
        while let Some(&literal) = acts.model().get(self.processed.len()) {
            if let Err(cycle) = self.insert_edges_of(literal) {
                let clause = explanation(&cycle);
                match &mut self.lemmas {
                    Some(lemmas) => lemmas.push(cycle),
                    None => self.cycles.extend(cycle),
                }
                acts.raise_conflict(&clause, false);
                return;
            }
            self.is_processed[literal.idx() as usize] = true;
            self.processed.push(literal);
        }
    }

    fn insert_edges_of(&mut self, literal: Lit) -> Result<(), Vec<CycleEdge>> {
        let edges = self.edges;
        for (from, to, fact) in edges.of_literal(literal) {
            self.insert(from, to, (literal.idx(), fact))?;
        }
        for (from, to, other) in edges.of_two(literal) {
            if self.is_processed[other.idx() as usize] {
                self.insert(from, to, (literal.idx(), Some(other.idx())))?;
            }
        }
        Ok(())
    }

    fn insert(&mut self, from: Vertex, to: Vertex, labels: Labels) -> Result<(), Vec<CycleEdge>> {
        self.order.insert(from, to, labels)?;
        self.inserted.push((from, to, labels));
        Ok(())
    }
}

/// The clause that forbids a cycle: not all literals of its labelled edges.
pub(super) fn explanation(cycle: &[CycleEdge]) -> Vec<Lit> {
    let labels = cycle
        .iter()
        .flat_map(CycleEdge::labels)
        .filter(|&label| label < FIRST_FACT);
    let mut clause: Vec<Lit> = labels.map(|label| !literal_of(label)).collect();
    clause.sort_unstable();
    clause.dedup();
    clause
}

/// The literal with this [`Lit::idx`].
pub(super) fn literal_of(label: u32) -> Lit {
    Lit::new(batsat::Var::unsafe_from_idx(label >> 1), label & 1 == 0)
}

impl Theory for Acyclicity<'_> {
    fn final_check(&mut self, acts: &mut TheoryArg<'_>) {
        self.follow_trail(acts);
    }

    fn create_level(&mut self) {
        self.levels
            .push((self.processed.len(), self.inserted.len()));
    }

    fn pop_levels(&mut self, n: usize) {
        let keep = self.levels.len().saturating_sub(n);
        if let Some(&(n_processed, n_inserted)) = self.levels.get(keep) {
            self.undo_to(n_processed, n_inserted);
            self.levels.truncate(keep);
        }
    }

    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn partial_check(&mut self, acts: &mut TheoryArg<'_>) {
        self.follow_trail(acts);
    }

    fn explain_propagation(&mut self, _p: Lit) -> &[Lit] {
        // This theory raises conflicts and never propagates.
        &[]
    }
}
