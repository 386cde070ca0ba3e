//! Phase 2: choose an order for the pairs of writers that saturation left open, and writers for open reads.
//!
//! A pair gets a variable only when the current order contradicts a read because of it, a read of several possible
//! writers only when the order makes none of them the last; both are *items*, decided in small batches. Once a batch is
//! decided, its edges are frozen in the graph, tagged with their item. A batch that fails thaws the frozen items in its
//! conflicts and tries again together with them; one that fails without any frozen item refutes the level. So few items
//! are open at any time, although those of a whole history are usually connected in one component.

use super::items::{Frozen, Item};
use super::known::{Known, Vertex};
use super::open_reads::OpenReads;
use super::replay::{Contradictions, Misread, Overlap, replay};
use crate::sat::{
    Answer, CycleEdge, DynamicOrder, FIRST_FACT, Problem, exclusions, solve_problem,
    with_fixed_edges,
};
use isoscope_model::control::{Control, Interrupt, Stage};
use isoscope_model::relations::Node;
use rustc_hash::FxHashSet;

/// How the search ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Searched {
    /// This order explains every read.
    Witness(Vec<Vertex>),
    /// No order does: all sides of these items are refuted by cycles of these edges.
    Refuted {
        cycles: Vec<CycleEdge>,
        items: Vec<Item>,
    },
    /// With a limited effort only: it was not enough.
    GaveUp,
}

/// How much work an answer is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::checkers) enum Effort {
    /// As many times [a little](Effort::LITTLE), where it is hard.
    Times(usize),
    /// Whatever it takes.
    Any,
}

impl Effort {
    /// Nothing that may be exponential.
    pub(in crate::checkers) const LITTLE: Effort = Effort::Times(1);

    /// So many times `few` of what the work takes.
    pub(super) fn most(self, few: usize) -> usize {
        match self {
            Effort::Times(times) => times.saturating_mul(few),
            Effort::Any => usize::MAX,
        }
    }
}

/// Items decided together.
const BATCH: usize = 32;
/// Conflicts after which a batch counts as hard.
const FEW_CONFLICTS: usize = 200;
/// How often decided items may be thawed for one batch with little effort.
const FEW_ROUNDS: usize = 16;
/// Versions examined for one read or write.
const MOST_VERSIONS: usize = 16;

/// The decisions so far.
struct DecisionSearch<'a> {
    known: &'a Known<'a>,
    order: DynamicOrder,
    frozen: Frozen<'a>,
    effort: Effort,
}

/// The outcome for a batch.
enum Decided {
    /// Its items are frozen.
    Frozen,
    /// These cycles refute all sides.
    Refuted(Vec<CycleEdge>),
    GaveUp,
}

/// Why an item must be decided.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Misread(Misread),
    Overlap(Overlap),
    /// An open read, and what replaced the version that it might have read.
    Unmatched {
        reader: Node,
        candidate: Node,
        by: Node,
    },
    /// None of the versions that an open read might have read has been written yet.
    Unwritten,
}

/// Finds an order that explains every read, starting from a topological order of the known edges, or shows that there
/// is none. Exponential in the worst case; ends early if `control` says so.
pub(super) fn search(
    known: &Known<'_>,
    open: &OpenReads,
    order: Vec<Vertex>,
    effort: Effort,
    control: &Control,
) -> Result<Searched, Interrupt> {
    let order = DynamicOrder::new(order, known.edges());
    let mut search = DecisionSearch {
        known,
        order,
        frozen: Frozen::new(known, open),
        effort,
    };
    loop {
        control.check()?;
        let found = replay(
            known,
            open,
            &search.frozen.selected,
            search.order.order(),
            MOST_VERSIONS,
        );
        if found.is_empty() {
            return Ok(Searched::Witness(search.order.order().to_vec()));
        }
        let mut todo = search.open_items(open, &found).into_iter();
        loop {
            let still = |(item, cause): &(Item, Cause)| {
                !search.frozen.contains(*item) && search.contradicts(cause)
            };
            let mut batch: Vec<Item> = todo
                .by_ref()
                .filter(still)
                .take(BATCH)
                .map(|(item, _)| item)
                .collect();
            if batch.is_empty() {
                break;
            }
            match search.decide(&mut batch, control)? {
                Decided::Frozen => {}
                Decided::Refuted(cycles) => {
                    return Ok(Searched::Refuted {
                        cycles,
                        items: batch,
                    });
                }
                Decided::GaveUp => return Ok(Searched::GaveUp),
            }
        }
    }
}

impl DecisionSearch<'_> {
    /// The items that must be decided, each once; items close in the order are kept together.
    fn open_items(&self, open: &OpenReads, found: &Contradictions) -> Vec<(Item, Cause)> {
        let misreads = found.misreads.iter().filter_map(|misread| {
            let t1 = self.known.writer(misread.read)?;
            Some((Item::pair(t1, misread.between), Cause::Misread(*misread)))
        });
        let overlaps = found.overlaps.iter().map(|overlap| {
            (
                Item::pair(overlap.first, overlap.second),
                Cause::Overlap(*overlap),
            )
        });
        let unmatched = found.unmatched.iter().flat_map(|unmatched| {
            let read = unmatched.read;
            let pair = unmatched.replaced.and_then(|(slot, by)| {
                let candidate = *self.known.index.slot_node.get(slot as usize)?;
                let cause = Cause::Unmatched {
                    reader: open.reader(read),
                    candidate,
                    by,
                };
                Some((Item::pair(candidate, by), cause))
            });
            let writer = (
                Item::Writer(read),
                pair.map_or(Cause::Unwritten, |(_, cause)| cause),
            );
            [Some(writer), pair].into_iter().flatten()
        });
        let mut seen = FxHashSet::default();
        let mut items: Vec<(Item, Cause)> = misreads
            .chain(overlaps)
            .chain(unmatched)
            .filter(|(item, _)| seen.insert(*item))
            .collect();
        items.sort_by_cached_key(|(item, cause)| {
            let at = match (item, cause) {
                (_, Cause::Misread(misread)) => misread.between,
                (_, Cause::Overlap(overlap)) => overlap.second,
                (_, Cause::Unmatched { by, .. }) => *by,
                (Item::Writer(read), Cause::Unwritten) => open.reader(*read),
                (Item::Pair(_, b), Cause::Unwritten) => *b,
            };
            self.order.position(self.known.events.commit(at))
        });
        items
    }

    /// Whether the order still has the contradiction.
    fn contradicts(&self, cause: &Cause) -> bool {
        let events = self.known.events;
        let place = |v: Vertex| self.order.position(v);
        let between = |t1: Node, t2: Node, t3: Node| {
            let commit = place(events.commit(t2));
            place(events.commit(t1)) < commit && commit < place(events.start(t3))
        };
        match *cause {
            Cause::Misread(Misread { read, between: t2 }) => {
                let t3 = self.known.reader[read as usize];
                self.known
                    .writer(read)
                    .is_some_and(|t1| between(t1, t2, t3))
            }
            Cause::Overlap(Overlap { first, second }) => {
                let inside = |a: Node, b: Node| {
                    let commit = place(events.commit(a));
                    place(events.start(b)) < commit && commit < place(events.commit(b))
                };
                inside(first, second) || inside(second, first)
            }
            Cause::Unmatched {
                reader,
                candidate,
                by,
            } => between(candidate, by, reader),
            Cause::Unwritten => true,
        }
    }

    /// Decides the items of `batch` and freezes them; thawed ones join the batch.
    fn decide(&mut self, batch: &mut Vec<Item>, control: &Control) -> Result<Decided, Interrupt> {
        let mut is_hard = false;
        for round in 0.. {
            let (mut problem, choices) =
                control.timed(Stage::Encode, || self.frozen.problem(batch, &self.order));
            let mut cycles = match self.solve(&mut problem, &mut is_hard, control)? {
                None => return Ok(Decided::GaveUp),
                Some(Answer::Model(model)) => {
                    for (&item, places) in batch.iter().zip(choices) {
                        self.frozen.freeze(
                            item,
                            &model[places.clone()],
                            &problem.choices[places],
                            &mut self.order,
                        );
                    }
                    return Ok(Decided::Frozen);
                }
                Some(Answer::Contradiction { cycles }) => cycles,
            };
            let facts = cycles
                .iter()
                .flat_map(CycleEdge::labels)
                .filter(|&label| label >= FIRST_FACT);
            let mut blamed: Vec<u32> = facts.map(|label| label - FIRST_FACT).collect();
            blamed.sort_unstable();
            blamed.dedup();
            if blamed.is_empty() {
                cycles.extend(with_fixed_edges(&self.order, &problem.known, control)?);
                return Ok(Decided::Refuted(cycles));
            }
            if round == self.effort.most(FEW_ROUNDS) {
                return Ok(Decided::GaveUp);
            }
            for fact in blamed {
                batch.push(self.frozen.thaw(fact, &mut self.order));
            }
        }
        unreachable!("the rounds end with a return")
    }

    /// Most problems are solved after few conflicts. For the others it pays to find out beforehand which sides exclude
    /// each other. `None` if that takes too much effort.
    fn solve(
        &mut self,
        problem: &mut Problem,
        is_hard: &mut bool,
        control: &Control,
    ) -> Result<Option<Answer>, Interrupt> {
        if !*is_hard {
            let order = &mut self.order;
            let answer = control.timed(Stage::Solve, || {
                solve_problem(order, problem, FEW_CONFLICTS, control)
            })?;
            if answer.is_some() || self.effort == Effort::LITTLE {
                return Ok(answer);
            }
        }
        *is_hard = true;
        problem.known =
            control.timed(Stage::Encode, || exclusions(&self.order, problem, control))?;
        let most_conflicts = self.effort.most(FEW_CONFLICTS);
        control.timed(Stage::Solve, || {
            solve_problem(&mut self.order, problem, most_conflicts, control)
        })
    }
}
