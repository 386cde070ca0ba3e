//! Violations with their edges: premises first, shared if several edges rest on them.

use super::causality::{Causality, Components, Forced};
use super::paths::{PathSearch, Step};
use super::pool::is_initial;
use crate::checkers::Level;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, TransactionId};
use isoscope_model::relations::{Axiom, Edge, EdgeIndex, Listed, NONE, Node, Reason, Relation};
use rustc_hash::FxHashMap;

/// Edges and transactions of one violation under construction.
pub(super) struct Story<'a> {
    history: &'a History,
    causality: &'a Causality<'a>,
    components: &'a Components,
    pub(super) transactions: Vec<TransactionId>,
    pub(super) edges: Vec<Edge>,
    known: FxHashMap<(u32, u32, Relation, u32), EdgeIndex>,
}

impl<'a> Story<'a> {
    pub(super) fn new(
        history: &'a History,
        causality: &'a Causality<'a>,
        components: &'a Components,
    ) -> Story<'a> {
        let (transactions, edges, known) = (Vec::new(), Vec::new(), FxHashMap::default());
        Story {
            history,
            causality,
            components,
            transactions,
            edges,
            known,
        }
    }

    fn transaction(&self, node: Node) -> TransactionId {
        if is_initial(node) {
            TransactionId::INITIAL
        } else {
            self.causality.index.transaction[node as usize]
        }
    }

    /// Adds a transaction to those involved, once.
    pub(super) fn mention(&mut self, node: Node) {
        let transaction = self.transaction(node);
        if !self.transactions.contains(&transaction) {
            self.transactions.push(transaction);
        }
    }

    /// Puts the transactions of a cycle first, in its order.
    pub(super) fn begin_with(&mut self, cycle: &[EdgeIndex]) {
        let from: Vec<TransactionId> = cycle.iter().map(|&edge| self.edges[edge].from).collect();
        self.transactions.sort_by_key(|t| {
            from.iter()
                .position(|other| other == t)
                .unwrap_or(usize::MAX)
        });
    }

    /// Adds an edge unless it is there; `read` distinguishes edges between the same nodes.
    fn add(
        &mut self,
        from: Node,
        to: Node,
        relation: Relation,
        read: u32,
        edge: Edge,
    ) -> EdgeIndex {
        self.mention(from);
        self.mention(to);
        *self
            .known
            .entry((from, to, relation, read))
            .or_insert_with(|| {
                self.edges.push(edge);
                self.edges.len() - 1
            })
    }

    fn plain(&self, from: Node, to: Node, relation: Relation, because: Reason) -> Edge {
        let (from, to) = (self.transaction(from), self.transaction(to));
        Edge {
            from,
            to,
            relation,
            key: None,
            from_operation: None,
            to_operation: None,
            because,
        }
    }

    pub(super) fn session(&mut self, from: Node, to: Node) -> EdgeIndex {
        let edge = self.plain(from, to, Relation::SessionOrder, Reason::SessionOrder);
        self.add(from, to, Relation::SessionOrder, NONE, edge)
    }

    /// ⊥ precedes every transaction.
    pub(super) fn initial_first(&mut self, to: Node) -> EdgeIndex {
        let edge = self.plain(NONE, to, Relation::CausalOrder, Reason::SessionOrder);
        self.add(NONE, to, Relation::CausalOrder, NONE, edge)
    }

    /// The write-read edge of one read.
    pub(super) fn read(&mut self, read: u32) -> EdgeIndex {
        let index = self.causality.index;
        let writer = index.writer_of_read(read as usize);
        let reader = self.causality.read_node[read as usize];
        let edge = index.read_edge(self.history, reader, read as usize);
        self.add(writer, reader, Relation::WriteRead, read, edge)
    }

    /// The steps of a path, in order.
    pub(super) fn way(
        &mut self,
        way: &[Step],
        search: &mut PathSearch<'_>,
        control: &Control,
    ) -> Result<Vec<EdgeIndex>, Interrupt> {
        let causality = self.causality;
        let shown_by = |step: &Step| {
            if let Step::Forced(edge) = *step {
                causality.list_behind(edge)
            } else {
                None
            }
        };
        let mut edges = Vec::new();
        // What a list shows of neighbours, it also shows of the first and the last of several.
        for steps in way.chunk_by(|a, b| {
            shown_by(a)
                .zip(shown_by(b))
                .is_some_and(|(a, b)| a.read == b.read)
        }) {
            let last = &steps[steps.len() - 1];
            edges.push(match steps[0] {
                Step::Session(a, b) => self.session(a, b),
                Step::Read(a, b) => self.first_read(a, b),
                Step::Forced(edge) => match (shown_by(&steps[0]), shown_by(last)) {
                    (Some(first), Some(last)) => self.listed(&Listed {
                        newer: last.newer,
                        ..*first
                    }),
                    _ => self.commit(edge.from, edge.read, search, control)?,
                },
                Step::Initial(to) => self.initial_first(to),
            });
        }
        Ok(edges)
    }

    /// The version-order edge that a list shows.
    fn listed(&mut self, listed: &Listed) -> EdgeIndex {
        self.mention(listed.reader);
        let edge = self.causality.index.listed_edge(listed);
        self.add(
            listed.older,
            listed.newer,
            Relation::WriteWrite,
            listed.read.0,
            edge,
        )
    }

    /// The write-read edge of the first read of `reader` from `writer`.
    fn first_read(&mut self, writer: Node, reader: Node) -> EdgeIndex {
        let index = self.causality.index;
        let mut reads = index.reads_of(reader);
        let read = reads.find(|&read| index.writer_of_read(read) == writer);
        self.read(read.expect("readers lists only nodes that read from the writer") as u32)
    }

    /// The inferred edge from `t2` to the writer of the version that `read` returns, with the read and the path by
    /// which the reader sees `t2`: an earlier read if there is one (of another key if possible), else session order,
    /// else a later read, else the shortest path.
    pub(super) fn commit(
        &mut self,
        t2: Node,
        read: u32,
        search: &mut PathSearch<'_>,
        control: &Control,
    ) -> Result<EdgeIndex, Interrupt> {
        let causality = self.causality;
        let index = causality.index;
        let t3 = causality.read_node[read as usize];
        let t1 = index.writer_of_read(read as usize);
        if let Some(&known) = self.known.get(&(t2, t1, Relation::CommitOrder, read)) {
            return Ok(known);
        }
        self.read(read);
        let (axiom, seen) = match sees(causality, t2, read) {
            (axiom, Some(Step::Session(a, b))) => (axiom, vec![self.session(a, b)]),
            (axiom, Some(_)) => {
                let by = directly(causality, t2, read).expect("it is seen by a read");
                (axiom, vec![self.read(by)])
            }
            (axiom, None) => {
                let bound = self.components.of[t3 as usize];
                let admit = |v: Node| self.components.of[v as usize] <= bound;
                let way = search.shortest(t2, t3, None, admit, control)?;
                let way = way.expect("t2 precedes t3 causally");
                (axiom, self.way(&way, search, control)?)
            }
        };
        Ok(self.older(t2, read, axiom, seen))
    }

    /// The edge that a guarantee of sessions forces, with the read and the path by which the reader sees the newer version.
    pub(super) fn guaranteed(&mut self, forced: Forced, axiom: Axiom, path: &[Step]) -> EdgeIndex {
        let t1 = self.causality.index.writer_of_read(forced.read as usize);
        if let Some(&known) = self
            .known
            .get(&(forced.from, t1, Relation::CommitOrder, forced.read))
        {
            return known;
        }
        self.read(forced.read);
        let observed = |step: &Step| match *step {
            Step::Read(a, b) => self.first_read(a, b),
            Step::Session(a, b) => self.session(a, b),
            Step::Initial(to) | Step::Forced(Forced { to, .. }) => self.initial_first(to),
        };
        let seen = path.iter().map(observed).collect();
        self.older(forced.from, forced.read, axiom, seen)
    }

    /// The edge from `t2` to the writer of the version that `read` returns, given the path by which its reader sees `t2`.
    fn older(&mut self, t2: Node, read: u32, axiom: Axiom, seen: Vec<EdgeIndex>) -> EdgeIndex {
        let index = self.causality.index;
        let (t1, t3) = (
            index.writer_of_read(read as usize),
            self.causality.read_node[read as usize],
        );
        let key = index.read_key[read as usize];
        let write = |node: Node| {
            index
                .slot_of(node, key)
                .map(|slot| index.slot_operation[slot as usize])
        };
        let because = Reason::Visible {
            axiom,
            reader: self.transaction(t3),
            read: index.read_operation[read as usize],
            seen,
        };
        let edge = Edge {
            key: Some(index.key_id(key)),
            from_operation: write(t2),
            to_operation: if is_initial(t1) { None } else { write(t1) },
            ..self.plain(t2, t1, Relation::CommitOrder, because)
        };
        self.add(t2, t1, Relation::CommitOrder, read, edge)
    }
}

/// The read by which the reader of `read` sees `t2` best: in order of preference, before it and of another key, before
/// it, of another key, any.
fn directly(causality: &Causality<'_>, t2: Node, read: u32) -> Option<u32> {
    let index = causality.index;
    let key = index.read_key[read as usize];
    let reads = index.reads_of(causality.read_node[read as usize]);
    let from_t2 = reads
        .filter(|&r| index.writer_of_read(r) == t2)
        .map(|r| r as u32);
    from_t2.min_by_key(|&r| {
        let is_late = !index.by_then(r as usize, read as usize);
        (is_late, index.read_key[r as usize] == key, r)
    })
}

/// The axiom by which the reader of `read` sees `t2`, and the step: a session, a read (see [`directly`]), or neither.
fn sees(causality: &Causality<'_>, t2: Node, read: u32) -> (Axiom, Option<Step>) {
    let t3 = causality.read_node[read as usize];
    let is_in_time = |by: u32| causality.index.by_then(by as usize, read as usize);
    match directly(causality, t2, read) {
        Some(by) if is_in_time(by) => (Axiom::ReadCommitted, Some(Step::Read(t2, t3))),
        _ if causality.in_session_order(t2, t3) => (Axiom::ReadAtomic, Some(Step::Session(t2, t3))),
        Some(_) => (Axiom::ReadAtomic, Some(Step::Read(t2, t3))),
        None => (Axiom::Causal, None),
    }
}

/// The weakest level whose axiom forces `t2` before the writer of the version that `read` returns.
pub(super) fn level_of(causality: &Causality<'_>, t2: Node, read: u32) -> Level {
    match sees(causality, t2, read).0 {
        Axiom::ReadCommitted => Level::ReadCommitted,
        Axiom::ReadAtomic => Level::ReadAtomic,
        Axiom::Causal | Axiom::Session(_) | Axiom::CommitOrder => {
            Level::TransactionalCausalConsistency
        }
    }
}
