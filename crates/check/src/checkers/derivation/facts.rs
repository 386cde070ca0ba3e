//! Edges between starts and commits, each with its premises.

use crate::checkers::strong::{Events, Vertex};
use crate::checkers::{Level, Respected};
use isoscope_model::graph::{Closure, Digraph};
use isoscope_model::history::History;
use isoscope_model::relations::{
    Axiom, Clock, Edge, Index, Listed, NONE, Node, Reason, Relation, Slot,
};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Place of a fact in [`Facts::all`].
pub(super) type FactId = u32;

/// The premises of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Because {
    SessionOrder,
    RealTime,
    /// A read, as a place in the index.
    Reads(usize),
    /// t3's read; the path from t2's commit to t3's start.
    Visible(usize, Vec<FactId>),
    /// t3's read; the path from t1's commit to t2's commit, empty for ⊥.
    Overwrites(usize, Vec<FactId>),
    /// The path from the start of the one to the commit of the other.
    Conflict(Vec<FactId>),
    /// The write-read fact between the two.
    ReadModifyWrite(FactId),
    /// A pair of versions that a list orders, by its place in [`Facts::listed`].
    Listed(usize),
    Assumed,
}

impl Because {
    /// Whether it says that one transaction was seen by another, or came before it.
    pub(super) fn is_observed(&self) -> bool {
        matches!(
            self,
            Because::SessionOrder | Because::RealTime | Because::Reads(_)
        )
    }

    pub(super) fn premises(&self) -> &[FactId] {
        match self {
            Because::SessionOrder
            | Because::RealTime
            | Because::Reads(_)
            | Because::Listed(_)
            | Because::Assumed => &[],
            Because::Visible(_, path) | Because::Overwrites(_, path) | Because::Conflict(path) => {
                path
            }
            Because::ReadModifyWrite(read) => std::slice::from_ref(read),
        }
    }
}

/// One edge between two transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) from: Node,
    pub(super) to: Node,
    pub(super) key: u32,
    pub(super) because: Because,
}

/// A read of t1's version by t3.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadOf {
    pub(super) read: usize,
    pub(super) t3: Node,
    /// t1, or [`NONE`] for ⊥.
    pub(super) t1: Node,
    pub(super) key: u32,
}

/// All facts ever derived, in every case; premises come before what rests on them.
pub(super) struct Facts<'a> {
    pub(super) index: &'a Index,
    pub(super) events: Events,
    pub(super) all: Vec<Fact>,
    pub(super) reads: Vec<ReadOf>,
    /// Pairs of versions that lists order.
    listed: Vec<Listed>,
    /// Whether a transaction is a row of nodes, one for each read.
    pub(super) has_rows: bool,
    /// Where some anti-dependencies lead nowhere: the dependencies that reads must respect.
    pub(super) respected: Option<Respected>,
    /// How real time counts, where it does.
    pub(super) clock: Option<Clock>,
    /// Where the causal past counts only: what was observed, as a relation of transactions.
    pub(super) observed: Closure,
}

/// The facts that hold in one case, as a graph.
#[derive(Clone)]
pub(super) struct Case {
    /// By vertex: where the facts that leave it lead.
    out: Vec<Vec<(Vertex, FactId)>>,
    /// By vertex: where the facts that enter it come from, where the last step to a reader matters; else empty.
    into: Vec<Vec<(Vertex, FactId)>>,
    pub(super) visible: Vec<FactId>,
    pub(super) closure: Closure,
    /// Where anti-dependencies lead nowhere: those that hold, by read and newer writer.
    missed: FxHashMap<(usize, Node), FactId>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(index: &'a Index, level: Level) -> Facts<'a> {
        let events = Events::new(level, index.n_nodes());
        let mut reads = Vec::with_capacity(index.read_key.len());
        for t3 in 0..index.n_nodes() as Node {
            for read in index.reads_of(t3) {
                let t1 = index.writer_of_read(read);
                if t1 != t3 {
                    reads.push(ReadOf {
                        read,
                        t3,
                        t1,
                        key: index.read_key[read],
                    });
                }
            }
        }
        let respected = level.respected();
        Facts {
            index,
            events,
            all: Vec::new(),
            reads,
            listed: index.listed(),
            has_rows: level.is_of_each_read(),
            respected,
            clock: level.clock(),
            observed: Closure::new(&Digraph::new(0, std::iter::empty())),
        }
    }

    /// Session order (every pair while that is few, else neighbours), write-read, and updates after what they read.
    pub(super) fn given(&mut self) -> Case {
        /// Sessions longer than this are given by neighbours only.
        const LONG_SESSION: u32 = 64;
        let index = self.index;
        let mut case = Case::new(self.events, index.n_nodes());
        if self.respected == Some(Respected::SoFar) {
            case.into = vec![Vec::new(); self.events.n_events()];
        }
        for a in 0..index.n_nodes() as Node {
            let end = index.session_begin[index.session[a as usize] as usize + 1];
            let is_long =
                end - index.session_begin[index.session[a as usize] as usize] > LONG_SESSION;
            let last = if is_long && !self.counts_direct_steps() {
                end.min(a + 2)
            } else {
                end
            };
            for b in a + 1..last {
                if !self.is_next(a, b) {
                    continue;
                }
                self.add(
                    &mut case,
                    Fact {
                        from: a,
                        to: b,
                        key: NONE,
                        because: Because::SessionOrder,
                    },
                );
            }
        }
        if self.events.in_real_time() {
            let pairs = match self.clock {
                Some(Clock::ByKey) => index.real_time_pairs_by_key(),
                _ if self.counts_direct_steps() => index.real_time_pairs(),
                _ => index.real_time_neighbours(),
            };
            for (from, to) in pairs {
                if !self.is_next(from, to) {
                    continue;
                }
                self.add(
                    &mut case,
                    Fact {
                        from,
                        to,
                        key: NONE,
                        because: Because::RealTime,
                    },
                );
            }
        }
        for (place, pair) in self.listed.clone().into_iter().enumerate() {
            let because = Because::Listed(place);
            self.add(
                &mut case,
                Fact {
                    from: pair.older,
                    to: pair.newer,
                    key: pair.key,
                    because,
                },
            );
        }
        for ReadOf { read, t3, t1, key } in self.reads.clone() {
            if t1 == NONE {
                continue;
            }
            let id = self.add(
                &mut case,
                Fact {
                    from: t1,
                    to: t3,
                    key,
                    because: Because::Reads(read),
                },
            );
            if self.orders_versions() && index.slot_of(t3, key).is_some() {
                self.add(
                    &mut case,
                    Fact {
                        from: t1,
                        to: t3,
                        key,
                        because: Because::ReadModifyWrite(id),
                    },
                );
            }
        }
        if self.respected == Some(Respected::Seen(Axiom::Causal)) {
            let observed = self
                .all
                .iter()
                .filter(|fact| fact.because.is_observed())
                .map(|fact| (fact.from, fact.to));
            self.observed = Closure::new(&Digraph::new(self.events.n_events(), observed));
        }
        case
    }

    /// Whether versions are ordered by what was read and overwritten, not only by what was seen.
    pub(super) fn orders_versions(&self) -> bool {
        !matches!(
            self.respected,
            Some(Respected::Seen(_) | Respected::Nothing)
        )
    }

    /// Whether anti-dependencies of a reader close cycles only, and are on no path to another transaction.
    pub(super) fn leads_nowhere(&self, reader: Node) -> bool {
        match self.respected {
            Some(Respected::Serial) => self.index.writes_of(reader).is_empty(),
            respected => respected.is_some(),
        }
    }

    /// Whether a single step of real time counts for more than a path of them.
    fn counts_direct_steps(&self) -> bool {
        matches!(
            self.respected,
            Some(Respected::Direct | Respected::Seen(Axiom::ReadAtomic))
        )
    }

    /// Whether order between two nodes follows from nothing else: of rows, if they are neighbours in their row, or the last of
    /// one row and the first of another.
    fn is_next(&self, a: Node, b: Node) -> bool {
        let of = |node: Node| self.index.transaction.get(node as usize);
        if !self.has_rows {
            return true;
        }
        if of(a) == of(b) {
            b == a + 1
        } else {
            of(a + 1) != of(a) && (b == 0 || of(b - 1) != of(b))
        }
    }

    pub(super) fn add(&mut self, case: &mut Case, fact: Fact) -> FactId {
        let id = self.all.len() as FactId;
        let (from, to) = self.span(&fact);
        case.visible.push(id);
        match fact.because {
            Because::Overwrites(read, _) if self.leads_nowhere(fact.from) => {
                case.missed.insert((read, fact.to), id);
            }
            _ => {
                case.out[from as usize].push((to, id));
                if let Some(into) = case.into.get_mut(to as usize) {
                    into.push((from, id));
                }
                case.closure.add_edge(from, to);
            }
        }
        self.all.push(fact);
        id
    }

    /// The vertices a fact leads from and to.
    pub(super) fn span(&self, fact: &Fact) -> (Vertex, Vertex) {
        let events = self.events;
        match fact.because {
            Because::RealTime if self.clock == Some(Clock::OfCommits) => {
                (events.commit(fact.from), events.commit(fact.to))
            }
            Because::SessionOrder
            | Because::RealTime
            | Because::Reads(_)
            | Because::ReadModifyWrite(_)
            | Because::Conflict(_) => (events.commit(fact.from), events.start(fact.to)),
            Because::Visible(..) | Because::Listed(_) | Because::Assumed => {
                (events.commit(fact.from), events.after_writer(fact.to))
            }
            Because::Overwrites(..) => (events.start(fact.from), events.commit(fact.to)),
        }
    }

    /// The writers of a key.
    pub(super) fn writers(&self, key: u32) -> &'a [Node] {
        &self.index.slot_node[self.index.slots_of(key)]
    }

    /// The fact that says directly that the one of two writers is before the other; with a key, as writers of this key.
    pub(super) fn orders(&self, case: &Case, (a, b): (Node, Node), key: u32) -> Option<FactId> {
        let (from, to) = (self.events.commit(a), self.events.start(b));
        let is_it = |&(at, id): &(Vertex, FactId)| {
            let fact = &self.all[id as usize];
            let of_versions = !matches!(
                fact.because,
                Because::SessionOrder | Because::RealTime | Because::Reads(_)
            );
            at == to && of_versions && (key == NONE || fact.key == key)
        };
        case.out[from as usize]
            .iter()
            .find(|step| is_it(step))
            .map(|(_, id)| *id)
    }

    /// The read at a place of the index.
    pub(super) fn read(&self, read: usize) -> ReadOf {
        self.reads[self.reads.partition_point(|of| of.read < read)]
    }

    /// A path with the fewest facts, of those that hold in a case. The ends may be equal: then a cycle.
    pub(super) fn path(&self, case: &Case, from: Vertex, to: Vertex) -> Option<Vec<FactId>> {
        self.path_by(case, from, to, |_| true)
    }

    /// As `path`, by facts of some kind.
    pub(super) fn path_by(
        &self,
        case: &Case,
        from: Vertex,
        to: Vertex,
        counts: impl Fn(&Fact) -> bool,
    ) -> Option<Vec<FactId>> {
        let mut reached: Vec<Option<(Vertex, Option<FactId>)>> = vec![None; case.out.len()];
        let mut queue = VecDeque::new();
        // The step from a start to its commit costs nothing, so both are reached in the same layer.
        let own_commit = |v: Vertex| (self.events.split() && v.is_multiple_of(2)).then_some(v + 1);
        queue.push_back(from);
        if let Some(commit) = own_commit(from) {
            reached[commit as usize] = Some((from, None));
            queue.push_back(commit);
        }
        while reached[to as usize].is_none() {
            let v = queue.pop_front()?;
            for &(w, id) in &case.out[v as usize] {
                if reached[w as usize].is_some() || !counts(&self.all[id as usize]) {
                    continue;
                }
                reached[w as usize] = Some((v, Some(id)));
                queue.push_back(w);
                if let Some(commit) =
                    own_commit(w).filter(|&commit| reached[commit as usize].is_none())
                {
                    reached[commit as usize] = Some((w, None));
                    queue.push_back(commit);
                }
            }
        }
        let mut path = Vec::new();
        let mut v = to;
        loop {
            let (before, id) = reached[v as usize]?;
            path.extend(id);
            v = before;
            if v == from {
                break;
            }
        }
        path.reverse();
        Some(path)
    }

    /// The fact as an edge of an argument, given the positions of its premises there.
    pub(super) fn edge(
        &self,
        history: &History,
        fact: &Fact,
        place: impl Fn(FactId) -> Option<usize>,
    ) -> Edge {
        let index = self.index;
        let places = |path: &[FactId]| {
            path.iter()
                .filter_map(|&id| place(id))
                .collect::<Vec<usize>>()
        };
        let (from, to) = (
            index.transaction[fact.from as usize],
            index.transaction[fact.to as usize],
        );
        let write = |node: Node| -> Option<Slot> { index.slot_of(node, fact.key) };
        let write_of = |node: Node| write(node).map(|slot| index.slot_operation[slot as usize]);
        let (relation, because) = match &fact.because {
            Because::SessionOrder => return index.session_edge(fact.from, fact.to),
            Because::RealTime => return index.real_time_edge(fact.from, fact.to),
            Because::Reads(read) => return index.read_edge(history, fact.to, *read),
            Because::Listed(place) => return index.listed_edge(&self.listed[*place]),
            Because::Visible(read, path) => {
                let t3 = self.index.reader(*read as u32);
                // What is seen by an axiom of visibility forces the order of commits, from which that of versions follows.
                let (relation, axiom) = match self.respected {
                    Some(Respected::Seen(axiom)) => (Relation::CommitOrder, axiom),
                    _ => (Relation::WriteWrite, Axiom::CommitOrder),
                };
                let reason = Reason::Visible {
                    axiom,
                    reader: index.transaction[t3 as usize],
                    read: index.read_operation[*read],
                    seen: places(path),
                };
                (relation, reason)
            }
            Because::Overwrites(read, path) => {
                let edge = index.read_edge(history, fact.from, *read);
                return Edge {
                    from,
                    to,
                    relation: Relation::AntiDependency,
                    key: Some(index.key_id(fact.key)),
                    from_operation: edge.to_operation,
                    to_operation: write_of(fact.to),
                    because: Reason::Overwrites {
                        writer: edge.from,
                        order: places(path),
                    },
                };
            }
            Because::Conflict(path) => (
                Relation::WriteWrite,
                Reason::Conflict {
                    order: places(path),
                },
            ),
            Because::ReadModifyWrite(read) => (
                Relation::WriteWrite,
                Reason::ReadModifyWrite {
                    read: place(*read).unwrap_or_default(),
                },
            ),
            Because::Assumed => (Relation::WriteWrite, Reason::Assumed),
        };
        Edge {
            from,
            to,
            relation,
            key: Some(index.key_id(fact.key)),
            from_operation: write_of(fact.from),
            to_operation: write_of(fact.to),
            because,
        }
    }

    /// Whether a fact orders two reads of one transaction, of which an argument says nothing.
    pub(super) fn is_inside(&self, id: FactId) -> bool {
        let Fact { from, to, .. } = self.all[id as usize];
        self.index.transaction[from as usize] == self.index.transaction[to as usize]
    }
}

impl Case {
    /// Where the facts that leave a vertex lead.
    pub(super) fn out(&self, vertex: Vertex) -> &[(Vertex, FactId)] {
        &self.out[vertex as usize]
    }

    /// Where the facts that enter a vertex come from, if the last step to a reader matters.
    pub(super) fn into(&self, vertex: Vertex) -> &[(Vertex, FactId)] {
        &self.into[vertex as usize]
    }

    /// Whether it is known that a read missed a version, where that leads nowhere.
    pub(super) fn misses(&self, read: usize, newer: Node) -> bool {
        self.missed.contains_key(&(read, newer))
    }

    /// The anti-dependencies that lead nowhere.
    pub(super) fn missed(&self) -> impl Iterator<Item = FactId> + '_ {
        self.missed.values().copied()
    }

    fn new(events: Events, n_nodes: usize) -> Case {
        let inside = (0..n_nodes as Node)
            .filter(|_| events.split())
            .map(|t| (events.start(t), events.commit(t)));
        let closure = Closure::new(&Digraph::new(events.n_events(), inside));
        let out = vec![Vec::new(); events.n_events()];
        Case {
            out,
            into: Vec::new(),
            visible: Vec::new(),
            closure,
            missed: FxHashMap::default(),
        }
    }
}
