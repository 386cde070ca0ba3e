//! Decides by order first: take a commit order, replay the history along it, and examine only the versions it puts
//! between a read's writer and its reader. The edges that an axiom forces against it are added; soon nothing is left to
//! add, or the edges form a cycle.

use super::SMALL_LIMITS;
use super::base_order::{Demands, Open, Replay, between};
use super::causal::Causal;
use super::causality::{Causality, Components, Forced};
use super::chains::Chains;
use super::guarantees;
use super::incremental_order::next_order;
use super::order::{Before, LinearOrder, Preference, linear_extension};
use super::saturate::{ReadsOfOne, causal_edges, edges_of_transaction, transaction_edges};
use super::vectors::{Direction, Rows, Vectors};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Axiom, Guarantee, Index, NONE, Node};
use rayon::prelude::*;
use std::borrow::Cow;

/// Rounds before all minimal forced edges are added at once.
const ROUNDS: usize = if SMALL_LIMITS { 1 } else { 8 };

/// Memory for the vectors of saturation.
const VECTOR_BYTES: usize = if SMALL_LIMITS { 1 } else { 2 << 30 };

/// Open reads per piece of parallel work.
const OPEN_READS: usize = if SMALL_LIMITS { 2 } else { 4096 };

/// The answer about an axiom.
pub(super) enum Kept {
    /// A commit order that satisfies it.
    InOrder(LinearOrder),
    /// There is none. For a guarantee of sessions: these edges, to which those that lists show belong, have a cycle with
    /// SO ∪ WR, or one leads to ⊥.
    Broken(Vec<Forced>),
}

/// Decides RC, RA, TCC or a guarantee of sessions. `base` is any order that contains SO ∪ WR and the edges `found` that
/// lists show, with its replay: if that is owned, its memory is used further.
///
/// Each round forces at least one pair that the order before had otherwise; rounds are few in practice.
pub(super) fn decide(
    index: &Index,
    mut found: Vec<Forced>,
    base: &LinearOrder,
    replay: Cow<'_, Replay>,
    axiom: Axiom,
    control: &Control,
) -> Result<Kept, Interrupt> {
    let mut judge = match axiom {
        Axiom::ReadCommitted | Axiom::ReadAtomic => Judge::Marks {
            atomic: axiom == Axiom::ReadAtomic,
        },
        Axiom::Session(guarantee) => Judge::Paths(guarantee),
        _ => Judge::Causal(Box::new(Causal::new(index, base))),
    };
    let mut last = (Cow::Borrowed(base), replay);
    let rounds = match axiom {
        Axiom::Session(_) => usize::MAX,
        _ => ROUNDS,
    };
    for _ in 0..rounds {
        let (order, replay) = &last;
        let Some(demands) = judge.demands(index, base, order, replay, control)? else {
            return Ok(Kept::Broken(found));
        };
        if demands.is_empty() {
            return Ok(Kept::InOrder(last.0.into_owned()));
        }
        let reach_initial = demands.iter().any(|edge| edge.to == NONE);
        found.extend(demands);
        found.par_sort_unstable();
        found.dedup_by_key(|edge| (edge.from, edge.to));
        if reach_initial {
            return Ok(Kept::Broken(found));
        }
        let Some((order, replay)) = next_order(index, last, &found, control)? else {
            return Ok(Kept::Broken(found));
        };
        last = (Cow::Owned(order), Cow::Owned(replay));
    }
    drop(last);

    // Saturation: all minimal forced edges at once, so any order that respects them is a witness.
    let (causality, components) = acyclic(index, base, control)?;
    found.extend(match axiom {
        Axiom::ReadCommitted | Axiom::ReadAtomic => {
            transaction_edges(&causality, &components, axiom, control)?
        }
        _ => all_causal_edges(&causality, &components, control)?,
    });
    if found.iter().any(|edge| edge.to == NONE) {
        return Ok(Kept::Broken(found));
    }
    let before = Before::new(index.n_nodes(), &found);
    let wish = Preference::Rank(&base.place);
    Ok(match linear_extension(index, &before, wish, control)? {
        Some(order) => Kept::InOrder(order),
        None => Kept::Broken(found),
    })
}

/// SO ∪ WR without a cycle: each node is a component, numbered by the order.
fn acyclic<'a>(
    index: &'a Index,
    base: &LinearOrder,
    control: &Control,
) -> Result<(Causality<'a>, Components), Interrupt> {
    Ok((
        Causality::new(index, control)?,
        Components::trivial(&base.nodes, &base.place),
    ))
}

/// All minimal forced edges of TCC, by vectors of one window of chains after another.
fn all_causal_edges(
    causality: &Causality<'_>,
    components: &Components,
    control: &Control,
) -> Result<Vec<Forced>, Interrupt> {
    let chains = Chains::new(causality.index, components, control)?;
    let rows = Rows::new(components);
    let mut edges = Vec::new();
    for window in rows.windows(&chains, 1, VECTOR_BYTES) {
        let past = Vectors::new(
            causality,
            components,
            &chains,
            &rows,
            window.clone(),
            Direction::Past,
            control,
        )?;
        edges.extend(causal_edges(
            causality, components, &chains, &past, window, control,
        )?);
    }
    Ok(edges)
}

/// How to determine what a transaction sees.
enum Judge<'a> {
    /// From its own reads and session: RC and RA.
    Marks { atomic: bool },
    /// From its causal past: TCC.
    Causal(Box<Causal<'a>>),
    /// From the paths that a guarantee of sessions counts.
    Paths(Guarantee),
}

impl<'a> Judge<'a> {
    fn demands(
        &mut self,
        index: &'a Index,
        base: &LinearOrder,
        order: &LinearOrder,
        replay: &Replay,
        control: &Control,
    ) -> Result<Demands, Interrupt> {
        match self {
            _ if replay.explains_all() => Ok(Some(Vec::new())),
            Judge::Marks { atomic } => by_marks(index, base, *atomic, order, replay, control),
            Judge::Causal(causal) => causal.demands(order, replay, control),
            Judge::Paths(guarantee) => guarantees::Demands::new(index, *guarantee)
                .of(order, replay, control)
                .map(Some),
        }
    }
}

/// RC and RA: a transaction sees those that it reads from (at RC, has read from before), at RA also its session.
/// Walks are cut off where enumerating writers is cheaper, so the cost stays within that of saturation.
fn by_marks(
    index: &Index,
    base: &LinearOrder,
    atomic: bool,
    order: &LinearOrder,
    replay: &Replay,
    control: &Control,
) -> Result<Demands, Interrupt> {
    let parts = replay.parts(OPEN_READS);
    let walked = parts.into_par_iter().map(|part| {
        control.check()?;
        let mut walk = MarkWalk {
            index,
            replay,
            atomic,
            seen: Vec::new(),
            edges: Vec::new(),
            long: Vec::new(),
        };
        let mut groups = part.chunk_by(|a, b| a.reader == b.reader);
        Ok(groups
            .all(|open| walk.reader(open))
            .then_some((walk.edges, walk.long)))
    });
    let mut edges = Vec::new();
    let mut long = Vec::new();
    for part in walked.collect::<Result<Vec<_>, Interrupt>>()? {
        let Some((of_part, long_of_part)) = part else {
            return Ok(None);
        };
        edges.extend(of_part);
        long.extend(long_of_part);
    }
    if long.is_empty() {
        return Ok(Some(edges));
    }
    let axiom = if atomic {
        Axiom::ReadAtomic
    } else {
        Axiom::ReadCommitted
    };
    let (causality, components) = acyclic(index, base, control)?;
    let by_writers = long.par_chunks(OPEN_READS).map(|readers| {
        control.check()?;
        let (mut edges, mut reads, mut hit) = (Vec::new(), ReadsOfOne::default(), false);
        for &t3 in readers {
            edges_of_transaction(
                &causality,
                &components,
                axiom,
                t3,
                &mut reads,
                |t2, read| match index.writer_of_read(read as usize) {
                    NONE => hit = true,
                    t1 if order.place[t2 as usize] > order.place[t1 as usize] => {
                        edges.push(Forced {
                            from: t2,
                            to: t1,
                            read,
                        });
                    }
                    _ => {}
                },
            );
        }
        Ok((!hit).then_some(edges))
    });
    for part in by_writers.collect::<Result<Vec<_>, Interrupt>>()? {
        let Some(of_part) = part else { return Ok(None) };
        edges.extend(of_part);
    }
    Ok(Some(edges))
}

struct MarkWalk<'a> {
    index: &'a Index,
    replay: &'a Replay,
    atomic: bool,
    /// The writers that the current reader reads from, ascending, each with its first read.
    seen: Vec<(Node, u32)>,
    edges: Vec<Forced>,
    /// Readers with too much to walk.
    long: Vec<Node>,
}

impl MarkWalk<'_> {
    /// Walks for the open reads of one transaction; whether nothing contradicts ⊥ being first.
    fn reader(&mut self, open: &[Open]) -> bool {
        let index = self.index;
        let t3 = open[0].reader;
        let reads = index.reads_of(t3);
        let places = reads.start as u32..;
        self.seen.clear();
        self.seen.extend(
            index.read_writer[reads]
                .iter()
                .copied()
                .zip(places)
                .filter(|&(writer, _)| writer != NONE),
        );
        self.seen.sort_unstable();
        self.seen.dedup_by_key(|&mut (writer, _)| writer);
        let most: usize = self
            .seen
            .iter()
            .map(|&(writer, _)| index.writes_of(writer).len())
            .sum();
        let most = if SMALL_LIMITS { 1 } else { 16 + 4 * most };
        let begin = self.edges.len();
        let mut walked = 0;
        for &one in open {
            let t1 = index.writer_of_read(one.read as usize);
            for t2 in between(index, self.replay, one) {
                walked += 1;
                if walked > most {
                    self.edges.truncate(begin);
                    self.long.push(t3);
                    return true;
                }
                let first = self
                    .seen
                    .binary_search_by_key(&t2, |&(writer, _)| writer)
                    .map(|at| self.seen[at].1);
                let sees = if self.atomic {
                    first.is_ok()
                        || (t2 < t3 && index.session[t2 as usize] == index.session[t3 as usize])
                } else {
                    first.is_ok_and(|first| index.by_then(first as usize, one.read as usize))
                };
                if sees {
                    if t1 == NONE {
                        return false;
                    }
                    self.edges.push(Forced {
                        from: t2,
                        to: t1,
                        read: one.read,
                    });
                }
            }
        }
        true
    }
}
