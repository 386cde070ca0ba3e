//! An order of events that is kept while edges come and go: Pearce and Kelly's algorithm, in which every edge has owners.
//!
//! An edge holds as long as it has an owner: the history itself (*forced*), the decision on a pair of writers, or a read
//! of a version that was settled by age. An edge that would close a cycle is refused, with the owners of the cycle's other
//! edges, some of which may then be taken back.

use super::keep::{kept, kept_enum};
use rustc_hash::{FxHashMap, FxHashSet};

/// The number of a delivered transaction, from 1 in the order of delivery.
pub(super) type Seq = u64;

/// An event: a place among the vertices.
pub(super) type Node = u32;

/// What an edge rests on. Decisions come before reads: they give way first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Owner {
    /// The history: it holds in every order.
    Forced,
    /// The decision on two writers, the earlier number first.
    Pair(Seq, Seq),
    /// A read of the settled version of a key, which was settled by age.
    Read(Seq, u32),
}

kept_enum!(Owner { 0 Forced, 1 Pair(a, b), 2 Read(reader, key) });

impl Owner {
    /// The decision on these two writers.
    pub(super) fn pair(a: Seq, b: Seq) -> Owner {
        Owner::Pair(a.min(b), a.max(b))
    }
}

/// For each edge of a cycle other than the one that was to be added: its owners.
pub(super) type Cycle = Vec<Vec<Owner>>;

/// Where an edge leads, and its owners.
#[derive(Debug)]
struct Edge {
    to: Node,
    is_forced: bool,
    /// The owners other than the history.
    others: Vec<Owner>,
}

impl Edge {
    fn owners(&self) -> Vec<Owner> {
        self.is_forced
            .then_some(Owner::Forced)
            .into_iter()
            .chain(self.others.iter().copied())
            .collect()
    }
}

#[derive(Debug, Default)]
struct Vertex {
    position: u64,
    of: Seq,
    /// Ascending, which does not depend on the past: which cycle is found depends on it.
    next: Vec<Edge>,
    /// Ascending.
    previous: Vec<Node>,
}

impl Vertex {
    /// The place of an edge among those that leave it, or where it belongs.
    fn place(&self, to: Node) -> Result<usize, usize> {
        self.next.binary_search_by_key(&to, |edge| edge.to)
    }

    fn remove_next(&mut self, to: Node) {
        if let Ok(place) = self.place(to) {
            self.next.remove(place);
        }
    }

    fn remove_previous(&mut self, from: Node) {
        if let Ok(place) = self.previous.binary_search(&from) {
            self.previous.remove(place);
        }
    }
}

/// The order.
#[derive(Debug, Default)]
pub(super) struct Order {
    vertices: Vec<Vertex>,
    free: Vec<Node>,
    /// The position of the next event.
    end: u64,
    owned: FxHashMap<Owner, Vec<(Node, Node)>>,
    /// What moved since this was taken last.
    pub(super) moved: Moved,
}

/// What moved.
#[derive(Debug, Default)]
pub(super) struct Moved {
    /// The transactions whose events did.
    pub(super) transactions: Vec<Seq>,
    /// The first and the last position between which they did.
    pub(super) between: (u64, u64),
}

kept!(Edge {
    to,
    is_forced,
    others
});
kept!(Vertex {
    position,
    of,
    next,
    previous
});
kept!(Order { vertices, free, end, owned; moved });

impl Order {
    /// A new event of a transaction, at the end.
    pub(super) fn event(&mut self, of: Seq) -> Node {
        let vertex = Vertex {
            position: self.end,
            of,
            ..Vertex::default()
        };
        self.end += 1;
        match self.free.pop() {
            Some(node) => {
                self.vertices[node as usize] = vertex;
                node
            }
            None => {
                self.vertices.push(vertex);
                (self.vertices.len() - 1) as Node
            }
        }
    }

    /// Where an event is.
    pub(super) fn position(&self, node: Node) -> u64 {
        self.vertices[node as usize].position
    }

    /// Whether all edges lead forward. O(edges).
    #[cfg(debug_assertions)]
    pub(super) fn is_forward(&self) -> bool {
        let is_forward = |vertex: &Vertex, edge: &Edge| vertex.position < self.position(edge.to);
        self.vertices
            .iter()
            .all(|vertex| vertex.next.iter().all(|edge| is_forward(vertex, edge)))
    }

    /// Whether an edge holds in every order.
    pub(super) fn is_forced(&self, from: Node, to: Node) -> bool {
        let vertex = &self.vertices[from as usize];
        vertex
            .place(to)
            .is_ok_and(|place| vertex.next[place].is_forced)
    }

    /// The transactions from which a forced edge leads to an event.
    pub(super) fn forced_before(&self, node: Node) -> Vec<Seq> {
        let previous = self.vertices[node as usize].previous.iter();
        let forced = previous.filter(|&&before| self.is_forced(before, node));
        forced
            .map(|&before| self.vertices[before as usize].of)
            .collect()
    }

    /// Adds an edge, or an owner to it. Error: the cycle that it would close; then nothing has changed. O(what lies
    /// between the two events).
    pub(super) fn add(&mut self, from: Node, to: Node, owner: Owner) -> Result<(), Cycle> {
        if from == to {
            return Err(vec![vec![owner]]);
        }
        let place = match self.vertices[from as usize].place(to) {
            Ok(place) => place,
            Err(place) => {
                if self.position(from) > self.position(to) {
                    let behind = self.reachable(from, to)?;
                    let before = self.reaching(from, self.position(to));
                    self.rearrange(before, behind);
                }
                let previous = &mut self.vertices[to as usize].previous;
                previous.insert(previous.partition_point(|&other| other < from), from);
                let edge = Edge {
                    to,
                    is_forced: false,
                    others: Vec::new(),
                };
                self.vertices[from as usize].next.insert(place, edge);
                place
            }
        };
        let edge = &mut self.vertices[from as usize].next[place];
        if owner == Owner::Forced {
            edge.is_forced = true;
        } else if !edge.others.contains(&owner) {
            edge.others.push(owner);
            self.owned.entry(owner).or_default().push((from, to));
        }
        Ok(())
    }

    /// What can be reached from `to` up to the position of `from`; the cycle if that is among it.
    fn reachable(&mut self, from: Node, to: Node) -> Result<Vec<Node>, Cycle> {
        let limit = self.position(from);
        let mut parent: FxHashMap<Node, Node> = FxHashMap::default();
        let mut found = vec![to];
        let mut waiting = vec![to];
        while let Some(at) = waiting.pop() {
            for &Edge { to: next, .. } in &self.vertices[at as usize].next {
                if next == to || parent.contains_key(&next) || self.position(next) > limit {
                    continue;
                }
                parent.insert(next, at);
                if next == from {
                    return Err(self.owners_between(to, from, &parent));
                }
                found.push(next);
                waiting.push(next);
            }
        }
        Ok(found)
    }

    fn owners_between(&self, first: Node, last: Node, parent: &FxHashMap<Node, Node>) -> Cycle {
        let mut owners = Vec::new();
        let mut at = last;
        while at != first {
            let before = parent[&at];
            let vertex = &self.vertices[before as usize];
            owners.extend(vertex.place(at).map(|place| vertex.next[place].owners()));
            at = before;
        }
        owners.reverse();
        owners
    }

    /// What reaches `from` and is not before a position.
    fn reaching(&mut self, from: Node, limit: u64) -> Vec<Node> {
        let mut seen = FxHashSet::from_iter([from]);
        let mut found = vec![from];
        let mut waiting = vec![from];
        while let Some(at) = waiting.pop() {
            for &previous in &self.vertices[at as usize].previous {
                if self.position(previous) >= limit && seen.insert(previous) {
                    found.push(previous);
                    waiting.push(previous);
                }
            }
        }
        found
    }

    /// Puts `before` in front of `behind`, both in their order, on the positions that they have together.
    fn rearrange(&mut self, mut before: Vec<Node>, mut behind: Vec<Node>) {
        before.sort_unstable_by_key(|&node| self.position(node));
        behind.sort_unstable_by_key(|&node| self.position(node));
        before.append(&mut behind);
        let mut positions: Vec<u64> = before.iter().map(|&node| self.position(node)).collect();
        positions.sort_unstable();
        self.moved.between = (positions[0], positions[positions.len() - 1]);
        for (node, position) in before.into_iter().zip(positions) {
            let vertex = &mut self.vertices[node as usize];
            if vertex.position != position {
                vertex.position = position;
                self.moved.transactions.push(vertex.of);
            }
        }
    }

    /// Takes back all edges of an owner, as far as they have no other.
    pub(super) fn take_back(&mut self, owner: Owner) {
        for (from, to) in self.owned.remove(&owner).unwrap_or_default() {
            let vertex = &mut self.vertices[from as usize];
            let Ok(place) = vertex.place(to) else {
                continue;
            };
            let edge = &mut vertex.next[place];
            edge.others.retain(|other| *other != owner);
            if edge.others.is_empty() && !edge.is_forced {
                vertex.next.remove(place);
                self.vertices[to as usize].remove_previous(from);
            }
        }
    }

    /// Removes an event in front of a place, as everything in front of it is removed.
    pub(super) fn remove_first(&mut self, node: Node, end: u64) {
        let Vertex { next, .. } = std::mem::take(&mut self.vertices[node as usize]);
        for edge in &next {
            let to = &mut self.vertices[edge.to as usize];
            if to.position >= end {
                to.remove_previous(node);
            }
        }
        self.free.push(node);
    }

    /// Removes an event with its edges.
    pub(super) fn remove(&mut self, node: Node) {
        let Vertex { next, previous, .. } = std::mem::take(&mut self.vertices[node as usize]);
        for edge in next {
            self.vertices[edge.to as usize].remove_previous(node);
        }
        for from in previous {
            self.vertices[from as usize].remove_next(node);
        }
        self.free.push(node);
    }
}
