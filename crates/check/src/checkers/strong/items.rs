//! What the search decides: the order of two writers of a key, or the writer of an open read.
//!
//! A read of one of several writers and an order of two writers can force an edge that neither forces alone: if r reads
//! from a, and a is before b, then r does not observe b. Such edges carry both labels.

use super::known::{Known, Vertex};
use super::open_reads::{OpenRead, OpenReads};
use crate::sat::{Choice, DynamicOrder, FIRST_FACT, JointEdge, Labels, Problem, Side};
use isoscope_model::relations::{INITIAL_SLOT, Node, Slot};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// A decision to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Item {
    /// Which of two writers of a common key comes first; the smaller node is given first.
    Pair(Node, Node),
    /// Which candidate an open read returned.
    Writer(OpenRead),
}

impl Item {
    /// The pair of these writers, in whatever order.
    pub(super) fn pair(a: Node, b: Node) -> Item {
        Item::Pair(a.min(b), a.max(b))
    }
}

/// An order of two writers that is decided or to be decided.
#[derive(Clone, Copy, Debug)]
struct Ordered<Label> {
    label: Label,
    /// The later one.
    later: Node,
}

/// The items that have been decided, with their edges in the graph as facts.
pub(super) struct Frozen<'a> {
    known: &'a Known<'a>,
    open: &'a OpenReads,
    /// The versions that are candidates of open reads.
    slots_of_interest: FxHashSet<Slot>,
    /// By fact: its item, and its edges while it is frozen.
    items: Vec<Item>,
    edges: Vec<Vec<(Vertex, Vertex, Labels)>>,
    now: FxHashSet<Item>,
    /// By open read: the version it is taken to return.
    pub(super) selected: Vec<Option<Slot>>,
    /// By version of interest: the frozen pairs in which its writer is first.
    overwritten: FxHashMap<Slot, Vec<Ordered<u32>>>,
    /// By version: the frozen open reads that return it, with their facts.
    readers: FxHashMap<Slot, Vec<(u32, Node)>>,
}

impl<'a> Frozen<'a> {
    pub(super) fn new(known: &'a Known<'a>, open: &'a OpenReads) -> Frozen<'a> {
        let candidates = (0..open.len() as OpenRead)
            .flat_map(|read| open.candidates(read))
            .copied();
        Frozen {
            known,
            open,
            slots_of_interest: candidates.filter(|&slot| slot != INITIAL_SLOT).collect(),
            items: Vec::new(),
            edges: Vec::new(),
            now: FxHashSet::default(),
            selected: vec![None; open.len()],
            overwritten: FxHashMap::default(),
            readers: FxHashMap::default(),
        }
    }

    /// Whether an item is frozen.
    pub(super) fn contains(&self, item: Item) -> bool {
        self.now.contains(&item)
    }

    /// The problem of deciding these items, and by item its choices: one for a pair, true for the first side of which
    /// the first writer is before the second; one for each candidate of an open read, true if it is taken.
    pub(super) fn problem(
        &self,
        batch: &[Item],
        order: &DynamicOrder,
    ) -> (Problem, Vec<Range<usize>>) {
        let mut problem = Problem::default();
        let mut places = Vec::with_capacity(batch.len());
        let mut sides: FxHashMap<Slot, Vec<Ordered<Side>>> = FxHashMap::default();
        for &item in batch {
            let begin = problem.choices.len();
            if let Item::Pair(a, b) = item {
                self.pose_pair(a, b, order, &mut problem, &mut sides);
            }
            places.push(begin..problem.choices.len());
        }
        for (&item, places) in batch.iter().zip(&mut places) {
            if let Item::Writer(read) = item {
                let begin = problem.choices.len();
                self.pose_writer(read, order, &mut problem, &sides);
                *places = begin..problem.choices.len();
            }
        }
        (problem, places)
    }

    fn pose_pair(
        &self,
        a: Node,
        b: Node,
        order: &DynamicOrder,
        problem: &mut Problem,
        sides: &mut FxHashMap<Slot, Vec<Ordered<Side>>>,
    ) {
        let (first, second) = (self.known.order_edges(a, b), self.known.order_edges(b, a));
        // The side that changes the current order less is tried first.
        let move_of = |edges: &[(Vertex, Vertex)]| -> u64 {
            let backwards = edges
                .iter()
                .map(|&(u, v)| order.position(u).saturating_sub(order.position(v)));
            backwards.map(u64::from).sum()
        };
        let prefer_first = move_of(&first) <= move_of(&second);
        let choice = problem.choices.len() as u32;
        problem.choices.push(Choice {
            first,
            second,
            prefer_first,
        });
        for (a, b, first) in [(a, b, true), (b, a, false)] {
            let side = Side { choice, first };
            for slot in self.slots_overwritten(a, b) {
                sides.entry(slot).or_default().push(Ordered {
                    label: side,
                    later: b,
                });
                for &(fact, reader) in self
                    .readers
                    .get(&slot)
                    .into_iter()
                    .flatten()
                    .filter(|(_, r)| *r != b)
                {
                    let (from, to) = self.anti_dependency(reader, b);
                    problem.with_facts.push(JointEdge {
                        from,
                        to,
                        side,
                        with: fact,
                    });
                }
            }
        }
    }

    fn pose_writer(
        &self,
        read: OpenRead,
        order: &DynamicOrder,
        problem: &mut Problem,
        sides: &FxHashMap<Slot, Vec<Ordered<Side>>>,
    ) {
        let reader = self.open.reader(read);
        let preferred = self.preferred(read, order);
        let mut clause = Vec::new();
        for &slot in self.open.candidates(read) {
            let side = Side {
                choice: problem.choices.len() as u32,
                first: true,
            };
            let first = self.open.edges(self.known, read, slot);
            problem.choices.push(Choice {
                first,
                second: Vec::new(),
                prefer_first: Some(slot) == preferred,
            });
            clause.push(side);
            for pair in self
                .overwritten
                .get(&slot)
                .into_iter()
                .flatten()
                .filter(|pair| pair.later != reader)
            {
                let (from, to) = self.anti_dependency(reader, pair.later);
                problem.with_facts.push(JointEdge {
                    from,
                    to,
                    side,
                    with: pair.label,
                });
            }
            for pair in sides
                .get(&slot)
                .into_iter()
                .flatten()
                .filter(|pair| pair.later != reader)
            {
                let (from, to) = self.anti_dependency(reader, pair.later);
                problem.with_sides.push(JointEdge {
                    from,
                    to,
                    side,
                    with: pair.label,
                });
            }
        }
        problem.clauses.push(clause);
    }

    /// The candidate whose version is the newest before the read, else the first after it.
    fn preferred(&self, read: OpenRead, order: &DynamicOrder) -> Option<Slot> {
        let events = self.known.events;
        let start = order.position(events.start(self.open.reader(read)));
        let distance = |&slot: &Slot| match slot {
            INITIAL_SLOT => (false, start),
            slot => {
                let commit =
                    order.position(events.commit(self.known.index.slot_node[slot as usize]));
                (commit > start, commit.abs_diff(start))
            }
        };
        self.open
            .candidates(read)
            .iter()
            .copied()
            .min_by_key(distance)
    }

    /// The edge by which a reader does not observe a writer.
    fn anti_dependency(&self, reader: Node, writer: Node) -> (Vertex, Vertex) {
        (
            self.known.events.start(reader),
            self.known.events.commit(writer),
        )
    }

    /// The versions of interest of the keys that both write, as `a` wrote them.
    fn slots_overwritten(&self, a: Node, b: Node) -> impl Iterator<Item = Slot> + '_ {
        let index = self.known.index;
        let any = !self.slots_of_interest.is_empty();
        let writes = if any { index.writes_of(a) } else { 0..0 };
        writes
            .map(|write| (index.write_key[write], index.write_slot[write]))
            .filter(move |(key, slot)| {
                self.slots_of_interest.contains(slot) && index.slot_of(b, *key).is_some()
            })
            .map(|(_, slot)| slot)
    }

    /// Adds the edges of a decided item to the graph as facts: `taken` says by choice of the item whether its first
    /// side holds. They are consistent with the order.
    pub(super) fn freeze(
        &mut self,
        item: Item,
        taken: &[bool],
        choices: &[Choice],
        order: &mut DynamicOrder,
    ) {
        let fact = FIRST_FACT + self.items.len() as u32;
        self.items.push(item);
        self.edges.push(Vec::new());
        self.now.insert(item);
        match item {
            Item::Pair(a, b) => {
                let (earlier, later) = if taken[0] { (a, b) } else { (b, a) };
                for &(from, to) in choices[0].side(taken[0]) {
                    self.insert(from, to, (fact, None), order);
                }
                for slot in self
                    .slots_overwritten(earlier, later)
                    .collect::<Vec<Slot>>()
                {
                    for (other, reader) in self.readers.get(&slot).cloned().unwrap_or_default() {
                        if reader != later {
                            let (from, to) = self.anti_dependency(reader, later);
                            self.insert(from, to, (fact, Some(other)), order);
                        }
                    }
                    self.overwritten
                        .entry(slot)
                        .or_default()
                        .push(Ordered { label: fact, later });
                }
            }
            Item::Writer(read) => {
                // If the model takes several candidates, one is enough: the preferred one first.
                let is_taken = |&place: &usize| taken[place];
                let preferred = (0..choices.len())
                    .filter(is_taken)
                    .find(|&place| choices[place].prefer_first);
                let Some(place) = preferred.or_else(|| (0..choices.len()).find(is_taken)) else {
                    return;
                };
                let (slot, reader) = (self.open.candidates(read)[place], self.open.reader(read));
                for &(from, to) in choices[place].side(true) {
                    self.insert(from, to, (fact, None), order);
                }
                for pair in self.overwritten.get(&slot).cloned().unwrap_or_default() {
                    if pair.later != reader {
                        let (from, to) = self.anti_dependency(reader, pair.later);
                        self.insert(from, to, (fact, Some(pair.label)), order);
                    }
                }
                self.readers.entry(slot).or_default().push((fact, reader));
                self.selected[read as usize] = Some(slot);
            }
        }
    }

    fn insert(&mut self, from: Vertex, to: Vertex, labels: Labels, order: &mut DynamicOrder) {
        let inserted = order.insert(from, to, labels);
        debug_assert!(inserted.is_ok(), "edges of a model fit the order");
        for fact in [labels.0].into_iter().chain(labels.1) {
            self.edges[(fact - FIRST_FACT) as usize].push((from, to, labels));
        }
    }

    /// Removes the edges of a frozen item from the graph, including those that also depend on another item; `fact`
    /// counts from 0.
    pub(super) fn thaw(&mut self, fact: u32, order: &mut DynamicOrder) -> Item {
        for (from, to, labels) in std::mem::take(&mut self.edges[fact as usize]) {
            order.remove(from, to, labels);
        }
        let label = FIRST_FACT + fact;
        let item = self.items[fact as usize];
        self.now.remove(&item);
        match item {
            Item::Pair(a, b) => {
                for slot in self
                    .slots_overwritten(a, b)
                    .chain(self.slots_overwritten(b, a))
                    .collect::<Vec<Slot>>()
                {
                    if let Some(pairs) = self.overwritten.get_mut(&slot) {
                        pairs.retain(|pair| pair.label != label);
                    }
                }
            }
            Item::Writer(read) => {
                if let Some(readers) = self.selected[read as usize]
                    .take()
                    .and_then(|slot| self.readers.get_mut(&slot))
                {
                    readers.retain(|&(other, _)| other != label);
                }
            }
        }
        item
    }
}
