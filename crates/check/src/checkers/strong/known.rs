//! What a history forces at PC, SI and SER, as edges between starts and commits.
//!
//! Vertices. At SER a transaction is one vertex. At PC and SI it is two: its start S and its commit C, as in the
//! reduction of Biswas & Enea (2019), section 4.2: a cycle in the graph of starts and commits is then a cycle of
//! (SO ∪ WR ∪ WW) ; RW?, so plain acyclicity is all that must be maintained. For uniformity, S(t) = C(t) = t at SER.
//! After these come helper vertices, one for each key whose initial version is read: everything that leads to such a
//! helper precedes every version of the key. At SSER, which is SER with real time, moments in time are helpers, too.
//!
//! "a before b" for two writers of a key means C(a) → B(b), where B is the start at SI (first committer wins) and the
//! commit otherwise, and S(r) → C(b) for every reader r of a's version.

use crate::checkers::Level;
use crate::checkers::stretches::in_stretches;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::Digraph;
use isoscope_model::relations::{INITIAL_SLOT, Index, NONE, Node, Slot, TimeChain};
use rustc_hash::FxHashMap;

/// A vertex of the graph of starts and commits.
pub(in crate::checkers) type Vertex = u32;

/// How transactions become vertices at a level.
#[derive(Clone, Copy, Debug)]
pub(in crate::checkers) struct Events {
    forbids_conflicts: bool,
    split: bool,
    in_real_time: bool,
    n_nodes: u32,
}

impl Events {
    /// Of `n_nodes` transactions at PC, SI or SER.
    pub(in crate::checkers) fn new(level: Level, n_nodes: usize) -> Events {
        let split = level.has_snapshots() || level.is_of_each_read();
        let in_real_time = level.or_serial().counts_real_time();
        Events {
            forbids_conflicts: level.forbids_conflicts(),
            split,
            in_real_time,
            n_nodes: n_nodes as u32,
        }
    }

    /// Whether first committer wins.
    pub(in crate::checkers) fn forbids_conflicts(self) -> bool {
        self.forbids_conflicts
    }

    /// Whether start and commit are two vertices.
    #[inline]
    pub(in crate::checkers) fn split(self) -> bool {
        self.split
    }

    /// Whether real time counts.
    pub(in crate::checkers) fn in_real_time(self) -> bool {
        self.in_real_time
    }

    /// S(t): where t reads.
    #[inline]
    pub(in crate::checkers) fn start(self, t: Node) -> Vertex {
        if self.split() { 2 * t } else { t }
    }

    /// C(t): where t's writes become visible.
    #[inline]
    pub(in crate::checkers) fn commit(self, t: Node) -> Vertex {
        if self.split() { 2 * t + 1 } else { t }
    }

    /// B(t): what comes after the commit of an earlier writer of a key that t writes too.
    #[inline]
    pub(in crate::checkers) fn after_writer(self, t: Node) -> Vertex {
        if self.forbids_conflicts() {
            self.start(t)
        } else {
            self.commit(t)
        }
    }

    /// Number of vertices that are starts or commits.
    pub(in crate::checkers) fn n_events(self) -> usize {
        if self.split() {
            2 * self.n_nodes as usize
        } else {
            self.n_nodes as usize
        }
    }

    /// The transaction of a vertex; `None` for helpers.
    #[inline]
    pub(in crate::checkers) fn node(self, v: Vertex) -> Option<Node> {
        let t = if self.split() { v / 2 } else { v };
        (t < self.n_nodes).then_some(t)
    }

    /// Whether a vertex is a commit (at SER: always).
    #[inline]
    pub(in crate::checkers) fn is_commit(self, v: Vertex) -> bool {
        !self.split() || v % 2 == 1
    }
}

/// Why an edge is known. In all of them t3 reads a key from t1, and t2 writes it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::checkers) enum Rule {
    /// C(t2) → B(t1) because C(t2) leads to S(t3): t3 observes t2 and still reads t1's version.
    Visible,
    /// S(t3) → C(t2) because C(t1) leads to C(t2): t3 does not observe the newer version.
    Overwritten,
    /// C(a) → S(b) because S(a) leads to C(b) and both write a key (SI only).
    NoConflict,
}

/// An edge that follows from others.
#[derive(Clone, Copy, Debug)]
pub(in crate::checkers) struct Derived {
    /// Where it starts.
    pub(in crate::checkers) from: Vertex,
    /// Where it ends.
    pub(in crate::checkers) to: Vertex,
    /// t3's read, a place in the index; [`NONE`] for [`Rule::NoConflict`]. With it the edge tells its rule.
    pub(in crate::checkers) read: u32,
    /// Its premises are edges of earlier rounds.
    pub(in crate::checkers) round: u32,
}

/// The known edges.
pub(in crate::checkers) struct Known<'a> {
    pub(in crate::checkers) index: &'a Index,
    pub(in crate::checkers) events: Events,
    /// By external read: the transaction that reads.
    pub(in crate::checkers) reader: Vec<Node>,
    /// Starts, commits and helpers.
    pub(in crate::checkers) n_vertices: usize,
    /// Edges given by the history itself.
    pub(in crate::checkers) base: Vec<(Vertex, Vertex)>,
    /// Edges that follow, by round.
    pub(in crate::checkers) derived: Vec<Derived>,
    /// Base edges that rest on a list: its reader.
    pub(in crate::checkers) listed: FxHashMap<(Vertex, Vertex), Node>,
}

/// Reads or versions gone through at a time: what is found in a few stretches is small compared with all edges.
const STRETCH: usize = 1 << 17;

/// Adds known edges of one kind.
type Step<'a> = fn(&mut Known<'a>, &Control) -> Result<(), Interrupt>;

impl<'a> Known<'a> {
    /// The base edges, and as round 0 what follows from one session or one update alone. O((reads + writes) log) time
    /// and edges.
    pub(in crate::checkers) fn new(
        index: &'a Index,
        level: Level,
        control: &Control,
    ) -> Result<Known<'a>, Interrupt> {
        let events = Events::new(level, index.n_nodes());
        let mut reader = vec![0; index.read_key.len()];
        for t in 0..index.n_nodes() as Node {
            index.reads_of(t).for_each(|read| reader[read] = t);
        }
        let n_vertices = events.n_events();
        let (base, derived, listed) = (Vec::new(), Vec::new(), FxHashMap::default());
        let mut known = Known {
            index,
            events,
            reader,
            n_vertices,
            base,
            derived,
            listed,
        };
        let steps: [Step<'a>; 6] = [
            Known::session_and_write_read,
            Known::initial_versions,
            Known::listed_versions,
            Known::real_time,
            Known::neighbours_in_sessions,
            Known::updates,
        ];
        for step in steps {
            control.check()?;
            step(&mut known, control)?;
        }
        Ok(known)
    }

    /// S(t) → C(t); C(a) → S(b) for SO and WR.
    fn session_and_write_read(&mut self, control: &Control) -> Result<(), Interrupt> {
        let (index, events) = (self.index, self.events);
        // By writer: its last reader, which may have read many of its versions.
        let mut last = vec![NONE; index.n_nodes()];
        for t in 0..index.n_nodes() as Node {
            control.tick(t as usize)?;
            if events.split() {
                self.base.push((events.start(t), events.commit(t)));
            }
            if let Some(next) = index.successor(t) {
                self.base.push((events.commit(t), events.start(next)));
            }
            for read in index.reads_of(t) {
                let writer = index.writer_of_read(read);
                if writer != NONE
                    && writer != t
                    && std::mem::replace(&mut last[writer as usize], t) != t
                {
                    self.base.push((events.commit(writer), events.start(t)));
                }
            }
        }
        Ok(())
    }

    /// Readers of an initial version precede its first writer in every session, via the key's helper.
    fn initial_versions(&mut self, control: &Control) -> Result<(), Interrupt> {
        let (index, events) = (self.index, self.events);
        for key in 0..index.n_keys() as u32 {
            control.tick(key as usize)?;
            let readers = index.readers_of_initial(key);
            if readers.is_empty() || index.slots_of(key).is_empty() {
                continue;
            }
            let helper = self.n_vertices as Vertex;
            self.n_vertices += 1;
            let firsts: Vec<Node> = self.first_writers(key).collect();
            self.base
                .extend(firsts.iter().map(|&w| (helper, events.commit(w))));
            for &read in readers {
                let r = self.reader[read as usize];
                if events.split() || index.slot_of(r, key).is_none() {
                    self.base.push((events.start(r), helper));
                } else {
                    // At SER an update of the initial version is the first of all writers, after the mere readers.
                    self.base.push((helper, r));
                    let later = |&w: &Node| (w != r).then_some((r, w));
                    self.base.extend(firsts.iter().filter_map(later));
                }
            }
        }
        Ok(())
    }

    /// Real time, as a chain of helpers: one for each moment at which a transaction ended.
    fn real_time(&mut self, _: &Control) -> Result<(), Interrupt> {
        if !self.events.in_real_time() {
            return Ok(());
        }
        let (chain, events) = (TimeChain::new(self.index), self.events);
        let first = self.n_vertices as Vertex;
        self.n_vertices += chain.ends.len();
        self.base
            .extend((1..chain.ends.len() as Vertex).map(|at| (first + at - 1, first + at)));
        self.base.extend(
            chain
                .ended
                .iter()
                .map(|&(t, at)| (events.commit(t), first + at)),
        );
        self.base.extend(
            chain
                .began
                .iter()
                .map(|&(at, t)| (first + at, events.start(t))),
        );
        Ok(())
    }

    /// "a before b" for the versions that lists order.
    fn listed_versions(&mut self, control: &Control) -> Result<(), Interrupt> {
        for (step, pair) in self.index.listed().into_iter().enumerate() {
            control.tick(step)?;
            for edge in self.order_edges(pair.older, pair.newer) {
                self.listed.entry(edge).or_insert(pair.reader);
                self.base.push(edge);
            }
        }
        Ok(())
    }

    /// The first writer of a key in each session.
    pub(super) fn first_writers(&self, key: u32) -> impl Iterator<Item = Node> + use<'a> {
        let index = self.index;
        let slots = index.slots_of(key);
        let begin = slots.start;
        slots.filter_map(move |slot| {
            let t = index.slot_node[slot];
            let first = slot == begin
                || index.session[index.slot_node[slot - 1] as usize] != index.session[t as usize];
            first.then_some(t)
        })
    }

    /// The next version of the slot's key in the slot's session.
    pub(in crate::checkers) fn next_in_session(&self, slot: Slot) -> Option<Slot> {
        let index = self.index;
        let next = slot as usize + 1;
        let same = next < index.slot_node.len()
            && index.slot_key[next] == index.slot_key[slot as usize]
            && index.session[index.slot_node[next] as usize]
                == index.session[index.slot_node[slot as usize] as usize];
        same.then_some(next as Slot)
    }

    /// For a read of t1's version by t3: t1's next version in its session is not observed, and the last version before
    /// t3 in t3's session is older than t1's.
    fn neighbours_in_sessions(&mut self, control: &Control) -> Result<(), Interrupt> {
        let (index, events, known) = (self.index, self.events, &*self);
        // By newer version's writer: the last transaction that is known to miss it.
        let last = || vec![NONE; index.n_nodes()];
        let follow = |last: &mut Vec<Node>, read: usize, found: &mut Vec<Derived>| {
            let (slot, t3) = (index.read_slot[read], known.reader[read]);
            if slot == INITIAL_SLOT {
                return;
            }
            if let Some(next) = known.next_in_session(slot) {
                let next = index.slot_node[next as usize];
                if std::mem::replace(&mut last[next as usize], t3) != t3 {
                    found.extend(known.derived(events.start(t3), events.commit(next), read));
                }
            }
            let slots = index.slots_of(index.read_key[read]);
            let before = slots.start + index.slot_node[slots.clone()].partition_point(|&t| t < t3);
            if before > slots.start {
                let t2 = index.slot_node[before - 1];
                let t1 = index.slot_node[slot as usize];
                if t2 != t1 && index.session[t2 as usize] == index.session[t3 as usize] {
                    found.extend(known.derived(events.commit(t2), events.after_writer(t1), read));
                }
            }
        };
        let mut derived = Vec::new();
        in_stretches(
            &mut derived,
            index.read_key.len(),
            STRETCH,
            control,
            last,
            follow,
        )?;
        self.derived = derived;
        Ok(())
    }

    /// A reader of a version does not observe the update that read the same version.
    fn updates(&mut self, control: &Control) -> Result<(), Interrupt> {
        /// More updates of one version than this (possible at PC only) are left to the later rounds.
        const MANY: usize = 4;
        let mut derived = std::mem::take(&mut self.derived);
        let (index, events, known) = (self.index, self.events, &*self);
        let follow = |_: &mut (), slot: usize, found: &mut Vec<Derived>| {
            let readers = index.readers_of(slot as Slot);
            if readers.len() < 2 {
                return;
            }
            let key = index.slot_key[slot];
            let reader = |&read: &u32| known.reader[read as usize];
            let mut updates: Vec<Node> = readers
                .iter()
                .map(reader)
                .filter(|&r| index.slot_of(r, key).is_some())
                .collect();
            updates.dedup();
            if updates.len() > MANY {
                return;
            }
            for &update in &updates {
                let missed = |read: &u32| {
                    known.derived(
                        events.start(reader(read)),
                        events.commit(update),
                        *read as usize,
                    )
                };
                found.extend(readers.iter().filter_map(missed));
            }
        };
        in_stretches(
            &mut derived,
            index.slot_node.len(),
            STRETCH,
            control,
            || (),
            follow,
        )?;
        self.derived = derived;
        Ok(())
    }

    /// An edge of round 0, unless it leads from a transaction's own read to its own write.
    fn derived(&self, from: Vertex, to: Vertex, read: usize) -> Option<Derived> {
        let is_edge = self.events.node(from) != self.events.node(to);
        is_edge.then_some(Derived {
            from,
            to,
            read: read as u32,
            round: 0,
        })
    }

    /// The rule that an edge follows by: of the edges of a read only anti-dependencies start at its reader.
    pub(in crate::checkers) fn rule(&self, edge: &Derived) -> Rule {
        match self.reader.get(edge.read as usize) {
            None => Rule::NoConflict,
            Some(&reader) if edge.from == self.events.start(reader) => Rule::Overwritten,
            Some(_) => Rule::Visible,
        }
    }

    /// All edges, base edges first.
    pub(in crate::checkers) fn edges(&self) -> impl Iterator<Item = (Vertex, Vertex)> + Clone + '_ {
        self.base
            .iter()
            .copied()
            .chain(self.derived.iter().map(|edge| (edge.from, edge.to)))
    }

    /// All edges as a graph, without ids.
    pub(in crate::checkers) fn graph(&self) -> Digraph {
        Digraph::new(self.n_vertices, self.edges())
    }

    /// t1 of a read; `None` for ⊥.
    #[inline]
    pub(in crate::checkers) fn writer(&self, read: u32) -> Option<Node> {
        let writer = self.index.writer_of_read(read as usize);
        (writer != NONE).then_some(writer)
    }

    /// The edges that represent "a before b", for two writers of at least one common key.
    pub(in crate::checkers) fn order_edges(&self, a: Node, b: Node) -> Vec<(Vertex, Vertex)> {
        let (index, events) = (self.index, self.events);
        let mut edges = vec![(events.commit(a), events.after_writer(b))];
        let (mut i, mut j) = (index.writes_of(a), index.writes_of(b));
        while let (Some(at), Some(other)) = (i.clone().next(), j.clone().next()) {
            let (key, other_key) = (index.write_key[at], index.write_key[other]);
            if key <= other_key {
                i.next();
            }
            if key >= other_key {
                j.next();
            }
            if key == other_key {
                let readers = index
                    .readers_of(index.write_slot[at])
                    .iter()
                    .map(|&read| self.reader[read as usize]);
                edges.extend(
                    readers
                        .filter(|&r| r != b)
                        .map(|r| (events.start(r), events.commit(b))),
                );
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }
}
