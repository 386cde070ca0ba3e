//! Phase 2: choose an order for the pairs of writers that saturation left open.
//!
//! A pair gets a variable only when the current order contradicts a read because of it, and pairs are decided in small
//! batches: once a batch is decided, its edges are frozen in the graph, tagged with their pair. A batch that fails
//! thaws the frozen pairs that took part in its conflicts and tries again together with them; one that fails without
//! any frozen pair refutes the level. So few pairs are open at any time, although the pairs of a whole history usually
//! hang together in one component.

use super::known::{Known, Vertex};
use super::replay::{Contradictions, Misread, Overlap, replay};
use crate::control::{Control, Interrupt};
use crate::relations::Node;
use crate::sat::{Answer, Choice, CycleEdge, DynamicOrder, FIRST_FACT, solve};
use rustc_hash::FxHashSet;

/// What the search ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Searched {
    /// This order explains every read.
    Witness(Vec<Vertex>),
    /// No order does: all sides of these pairs are refuted by cycles of these edges.
    Refuted { cycles: Vec<CycleEdge>, pairs: Vec<(Node, Node)> },
}

/// Pairs decided together.
const BATCH: usize = 32;
/// Versions looked at for one read or write.
const MOST_VERSIONS: usize = 16;

/// The decisions so far.
struct Search<'a> {
    known: &'a Known<'a>,
    order: DynamicOrder,
    /// Every pair ever decided.
    pairs: Vec<(Node, Node)>,
    /// By pair: the edges of the chosen side while it is frozen in the graph.
    frozen: Vec<Vec<(Vertex, Vertex)>>,
}

/// Why a pair must be decided.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Misread(Misread),
    Overlap(Overlap),
}

/// Finds an order that explains every read, starting from a topological order of the known edges, or shows that there
/// is none. Exponential in the worst case; ends early when `control` says so.
pub(super) fn search(known: &Known<'_>, order: Vec<Vertex>, control: &Control) -> Result<Searched, Interrupt> {
    let order = DynamicOrder::new(order, known.edges());
    let mut search = Search { known, order, pairs: Vec::new(), frozen: Vec::new() };
    loop {
        control.check()?;
        let found = replay(known, search.order.order(), MOST_VERSIONS);
        if found.is_empty() {
            return Ok(Searched::Witness(search.order.order().to_vec()));
        }
        let mut todo = search.open_pairs(&found).into_iter();
        loop {
            let still = |(_, _, cause): &(Node, Node, Cause)| search.contradicts(cause);
            let mut batch: Vec<(Node, Node)> =
                todo.by_ref().filter(still).take(BATCH).map(|(a, b, _)| (a, b)).collect();
            if batch.is_empty() {
                break;
            }
            if let Some(cycles) = search.decide(&mut batch, control)? {
                return Ok(Searched::Refuted { cycles, pairs: batch });
            }
        }
    }
}

impl Search<'_> {
    /// The pairs that must be decided, each once, in the order in which the replay met them.
    fn open_pairs(&self, found: &Contradictions) -> Vec<(Node, Node, Cause)> {
        let misreads = found.misreads.iter().filter_map(|misread| {
            let t1 = self.known.writer(misread.read)?;
            Some((t1, misread.between, Cause::Misread(*misread)))
        });
        let overlaps = found.overlaps.iter().map(|overlap| (overlap.first, overlap.second, Cause::Overlap(*overlap)));
        let mut seen = FxHashSet::default();
        let mut pairs: Vec<(Node, Node, Cause)> =
            misreads.chain(overlaps).filter(|&(a, b, _)| seen.insert((a.min(b), a.max(b)))).collect();
        // Pairs that are near in the order belong together.
        pairs.sort_by_key(|&(_, b, _)| self.order.position(self.known.events.commit(b)));
        pairs
    }

    /// Whether the order still has the contradiction.
    fn contradicts(&self, cause: &Cause) -> bool {
        let events = self.known.events;
        let place = |v: Vertex| self.order.position(v);
        match *cause {
            Cause::Misread(Misread { read, between }) => self.known.writer(read).is_some_and(|t1| {
                let commit = place(events.commit(between));
                place(events.commit(t1)) < commit && commit < place(events.start(self.known.reader[read as usize]))
            }),
            Cause::Overlap(Overlap { first, second }) => {
                let inside = |a: Node, b: Node| {
                    let commit = place(events.commit(a));
                    place(events.start(b)) < commit && commit < place(events.commit(b))
                };
                inside(first, second) || inside(second, first)
            }
        }
    }

    /// Decides the pairs of `batch` and freezes them; thawed pairs join the batch. Returns the cycles that refute all
    /// sides if that is impossible.
    fn decide(
        &mut self,
        batch: &mut Vec<(Node, Node)>,
        control: &Control,
    ) -> Result<Option<Vec<CycleEdge>>, Interrupt> {
        loop {
            let choices: Vec<Choice> = batch.iter().map(|&(a, b)| self.choice(a, b)).collect();
            let cycles = match solve(&mut self.order, &choices, control)? {
                Answer::Model(model) => {
                    for ((&pair, choice), first) in batch.iter().zip(&choices).zip(model) {
                        self.freeze(pair, choice.side(first).to_vec());
                    }
                    return Ok(None);
                }
                Answer::Contradiction { cycles } => cycles,
            };
            let facts = cycles.iter().filter_map(|edge| edge.label).filter(|&label| label >= FIRST_FACT);
            let mut blamed: Vec<u32> = facts.map(|label| label - FIRST_FACT).collect();
            blamed.sort_unstable();
            blamed.dedup();
            if blamed.is_empty() {
                return Ok(Some(cycles));
            }
            for id in blamed {
                for (from, to) in std::mem::take(&mut self.frozen[id as usize]) {
                    self.order.remove(from, to, FIRST_FACT + id);
                }
                batch.push(self.pairs[id as usize]);
            }
        }
    }

    /// Both sides of a pair; the one that moves less in the current order is tried first.
    fn choice(&self, a: Node, b: Node) -> Choice {
        let (first, second) = (self.known.order_edges(a, b), self.known.order_edges(b, a));
        let move_of = |edges: &[(Vertex, Vertex)]| -> u64 {
            let backwards = edges.iter().map(|&(u, v)| self.order.position(u).saturating_sub(self.order.position(v)));
            backwards.map(u64::from).sum()
        };
        let prefer_first = move_of(&first) <= move_of(&second);
        Choice { first, second, prefer_first }
    }

    /// Puts the edges of a decided pair into the graph as facts. They fit its order.
    fn freeze(&mut self, pair: (Node, Node), edges: Vec<(Vertex, Vertex)>) {
        let id = self.pairs.len() as u32;
        for &(from, to) in &edges {
            let inserted = self.order.insert(from, to, FIRST_FACT + id);
            debug_assert!(inserted.is_ok(), "edges of a model fit the order");
        }
        self.pairs.push(pair);
        self.frozen.push(edges);
    }
}
