//! The transactions that a refutation rests on.

use super::items::Item;
use super::known::{Known, Rule, Vertex};
use crate::sat::CycleEdge;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::{Arc, Digraph, PathFinder, shortest_cycle, strong_components};
use isoscope_model::relations::{NONE, Node};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Work spent on following derivations, in edges visited (an upper bound); beyond it the core is everything.
const MOST_WORK: usize = 2_000_000_000;

/// In place of a position: the vertex is not in the order.
const NOWHERE: u32 = u32::MAX;

/// Collects transactions that suffice for a refutation: those on its cycles and, for every edge that was derived,
/// those on the path it was derived from, and so on.
pub(in crate::checkers) struct Core<'k, 'a> {
    known: &'k Known<'a>,
    /// All edges with their ids: base edges first, then derived ones by round.
    graph: &'k Digraph,
    /// By round from 1: positions in a topological order of the edges that its premises consist of, if known; the last
    /// one is valid for later rounds.
    positions: Vec<Vec<u32>>,
    finder: PathFinder,
    nodes: BTreeSet<Node>,
    /// Places of derived edges to be followed.
    todo: Vec<u32>,
    followed: FxHashSet<u32>,
}

impl<'k, 'a> Core<'k, 'a> {
    /// `graph` has all known edges with their ids. `orders` are, by round from 1, topological orders of the edges that its premises consist of; the last one is
    /// also valid for all later rounds. Paths between events missing from an order are searched everywhere.
    pub(in crate::checkers) fn new(
        known: &'k Known<'a>,
        graph: &'k Digraph,
        orders: &[Vec<Vertex>],
    ) -> Core<'k, 'a> {
        let positions = |order: &Vec<Vertex>| {
            let mut position = vec![NOWHERE; known.n_vertices];
            order
                .iter()
                .enumerate()
                .for_each(|(place, &v)| position[v as usize] = place as u32);
            position
        };
        Core {
            known,
            graph,
            positions: orders.iter().map(positions).collect(),
            finder: PathFinder::new(known.n_vertices),
            nodes: BTreeSet::new(),
            todo: Vec::new(),
            followed: FxHashSet::default(),
        }
    }

    /// The core of a cycle in the known edges; there must be one.
    pub(super) fn of_cyclic(mut self, control: &Control) -> Result<Vec<Node>, Interrupt> {
        let cycle = self.light_cycle();
        let core = self.of_path(&cycle, control)?;
        Ok(core.unwrap_or_else(|| self.everything()))
    }

    /// The transactions that a path of known edges rests on; `None` if that is too much work.
    pub(in crate::checkers) fn of_path(
        &mut self,
        path: &[Arc],
        control: &Control,
    ) -> Result<Option<Vec<Node>>, Interrupt> {
        self.nodes.clear();
        self.todo.clear();
        self.followed.clear();
        self.add_path(path);
        self.follow(control)
    }

    fn everything(&self) -> Vec<Node> {
        (0..self.known.index.n_nodes() as Node).collect()
    }

    /// The core of a refutation by search, of a history without open reads.
    pub(super) fn of_refuted(
        mut self,
        cycles: &[CycleEdge],
        items: &[Item],
        control: &Control,
    ) -> Result<Vec<Node>, Interrupt> {
        for item in items {
            if let Item::Pair(a, b) = *item {
                self.nodes.extend([a, b]);
            }
        }
        for edge in cycles {
            self.nodes.extend(
                [edge.from, edge.to]
                    .into_iter()
                    .filter_map(|v| self.known.events.node(v)),
            );
            self.require_list(edge.from, edge.to);
            if edge.label.is_none()
                && let Some(id) = self.edge_id(edge.from, edge.to)
            {
                self.require(id);
            }
        }
        let core = self.follow(control)?;
        Ok(core.unwrap_or_else(|| self.everything()))
    }

    /// The earliest known edge between two vertices.
    fn edge_id(&self, from: Vertex, to: Vertex) -> Option<u32> {
        self.graph
            .edges_of(from)
            .filter(|edge| edge.to == to)
            .map(|edge| edge.id)
            .min()
    }

    /// A cycle with few derived edges.
    fn light_cycle(&mut self) -> Vec<Arc> {
        /// Edges of the last round that are tried.
        const TRIES: usize = 8;
        let components = strong_components(self.graph);
        let n_base = self.known.base.len() as u32;
        let last_round = self.known.derived.last().map_or(0, |edge| edge.round);
        let newest = self
            .known
            .derived
            .iter()
            .enumerate()
            .rev()
            .take_while(|(_, edge)| edge.round == last_round);
        let on_cycle = newest
            .filter(|(_, edge)| components.share_cycle(edge.from, edge.to))
            .take(TRIES);
        let mut best: Option<Vec<Arc>> = None;
        let heavy = |path: &[Arc]| {
            (
                path.iter().filter(|edge| edge.id >= n_base).count(),
                path.len(),
            )
        };
        for (place, edge) in on_cycle {
            let component = components.component[edge.from as usize];
            let admit = |v: u32| components.component[v as usize] == component;
            if let Some(mut path) =
                self.finder
                    .lightest(self.graph, edge.to, edge.from, admit, |id| {
                        Some(id >= n_base)
                    })
            {
                path.push(Arc {
                    from: edge.from,
                    to: edge.to,
                    id: n_base + place as u32,
                });
                if best.as_ref().is_none_or(|best| heavy(&path) < heavy(best)) {
                    best = Some(path);
                }
            }
        }
        best.or_else(|| {
            let component = *components.cyclic().first()?;
            let inside = |v: u32| components.component[v as usize] == component;
            shortest_cycle(
                self.graph,
                &mut self.finder,
                components.members(component),
                inside,
                TRIES,
            )
        })
        .unwrap_or_default()
    }

    /// Adds the transactions of a path. For a stretch inside a session the ends suffice: session order is transitive.
    fn add_path(&mut self, path: &[Arc]) {
        let known = self.known;
        let session = |v: Vertex| {
            known
                .events
                .node(v)
                .map(|t| known.index.session[t as usize])
        };
        let n_base = known.base.len() as u32;
        // Vertices are numbered along sessions.
        let in_session = |edge: &Arc| {
            let forward = edge.id < n_base && edge.from < edge.to;
            forward && session(edge.from).is_some() && session(edge.from) == session(edge.to)
        };
        for (place, edge) in path.iter().enumerate() {
            let starts = place == 0 || !in_session(edge) || !in_session(&path[place - 1]);
            let ends =
                place + 1 == path.len() || !in_session(edge) || !in_session(&path[place + 1]);
            self.nodes
                .extend(known.events.node(edge.from).filter(|_| starts));
            self.nodes
                .extend(known.events.node(edge.to).filter(|_| ends));
            self.require_list(edge.from, edge.to);
            self.require(edge.id);
        }
    }

    /// Adds the reader of the list that an edge rests on, and the writers of the versions it orders.
    fn require_list(&mut self, from: Vertex, to: Vertex) {
        let known = self.known;
        if let Some(&reader) = known.listed.get(&(from, to)) {
            self.nodes.insert(reader);
            let ends = [from, to].into_iter().filter_map(|v| known.events.node(v));
            for t in ends {
                self.nodes.insert(t);
                // An anti-dependency starts at the reader of the older version.
                let reads = known
                    .index
                    .reads_of(t)
                    .map(|read| known.index.writer_of_read(read));
                self.nodes.extend(reads.filter(|&writer| writer != NONE));
            }
        }
    }

    fn require(&mut self, id: u32) {
        let Some(place) = (id as usize).checked_sub(self.known.base.len()) else {
            return;
        };
        if self.followed.insert(place as u32) {
            self.todo.push(place as u32);
        }
    }

    /// Follows all derivations to base edges; `None` if that is too much work.
    fn follow(&mut self, control: &Control) -> Result<Option<Vec<Node>>, Interrupt> {
        let known = self.known;
        let events = known.events;
        let mut work = 0usize;
        while let Some(place) = self.todo.pop() {
            control.check()?;
            let edge = known.derived[place as usize];
            let (from, to) = (events.node(edge.from), events.node(edge.to));
            self.nodes.extend(from.into_iter().chain(to));
            let (mut premise_from, mut premise_to) = (edge.from, edge.to);
            let rule = known.rule(&edge);
            if rule == Rule::NoConflict {
                premise_from = events.start(from.unwrap_or_default());
                premise_to = events.commit(to.unwrap_or_default());
            } else {
                let t3 = known.reader[edge.read as usize];
                let t1 = known.writer(edge.read);
                self.nodes.insert(t3);
                self.nodes.extend(t1);
                match rule {
                    Rule::Visible => premise_to = events.start(t3),
                    _ => premise_from = t1.map_or(premise_from, |t1| events.commit(t1)),
                }
            }
            let n_base = known.base.len() as u32;
            let n_earlier = n_base
                + known
                    .derived
                    .partition_point(|other| other.round < edge.round) as u32;
            let n_each = n_earlier as usize / known.n_vertices.max(1);
            let round = (edge.round as usize).saturating_sub(1);
            let position = self.positions.get(round).or(self.positions.last());
            let position = position.filter(|position| position[premise_from as usize] != NOWHERE);
            let inside = |v: Vertex| match position {
                Some(position) => {
                    let place = position[v as usize];
                    position[premise_from as usize] < place && place < position[premise_to as usize]
                }
                None => true,
            };
            work += match position {
                Some(position) => {
                    let window = position[premise_to as usize]
                        .saturating_sub(position[premise_from as usize])
                        as usize;
                    window * (1 + n_each)
                }
                None => n_earlier as usize,
            };
            let path = match premise_from == premise_to {
                true => Some(Vec::new()),
                false if work > MOST_WORK => None,
                false => {
                    let heavy = |id: u32| (id < n_earlier).then_some(id >= n_base);
                    self.finder
                        .lightest(self.graph, premise_from, premise_to, inside, heavy)
                }
            };
            match path {
                Some(path) => self.add_path(&path),
                None => return Ok(None),
            }
        }
        Ok(Some(std::mem::take(&mut self.nodes).into_iter().collect()))
    }
}
