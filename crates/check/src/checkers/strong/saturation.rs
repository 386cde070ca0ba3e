//! Phase 1: lazy saturation. Consequences are drawn only where the current guess of an order contradicts a read.

use super::guess::first_places;
use super::known::{Derived, Known, Vertex};
use super::open_reads::OpenReads;
use super::reachability::leads_to;
use super::replay::{Contradictions, Misread, Overlap, explains, replay};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::{Digraph, topological_order, topological_order_by_priority};
use isoscope_model::relations::NONE;

/// The result of saturation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checkers) enum Saturated {
    /// The known edges contain a cycle, so the level is violated. `before` is a topological order of the edges of all
    /// rounds but the last, if there is one.
    Cyclic { before: Option<Vec<Vertex>> },
    /// This order explains every read.
    Witness(Vec<Vertex>),
    /// A topological order of the known edges, but it contradicts some reads, and nothing more follows from those or the
    /// search is faster.
    Open(Vec<Vertex>),
}

/// Versions examined for one read or write.
pub(super) const MOST_VERSIONS: usize = 64;
/// A round gains little if it adds fewer than one edge per this many contradictions.
const LEAST_GAIN: usize = 20;
/// After this many rounds, once a round gains little, the rest is left to the search.
pub(super) const PATIENCE: u32 = 1;

/// Edges times sessions from which on a round takes long.
const LONG_ROUND: usize = 1 << 27;
/// The search decides this few contradictions, one per so many edges, in less time than a long round takes.
const EDGES_PER_CONTRADICTION: usize = 1000;

/// Adds to `known` what follows from the reads that the best order so far contradicts, until an order contradicts none,
/// a cycle occurs, or nothing follows. Every round costs O(edges · sessions / vector width + edges log edges).
///
/// Rules (t3 reads a key from t1, t2 writes it too): if t2 is visible to t3, t2 is before t1; if t1 is before t2, t3
/// does not observe t2 (PolySI, section 4.3, pruning); at SI, the writer of a key that starts before another one
/// commits is first.
///
/// A witness explains the open reads, too; nothing is concluded from them.
pub(in crate::checkers) fn saturate(
    known: &mut Known<'_>,
    open: &OpenReads,
    control: &Control,
) -> Result<Saturated, Interrupt> {
    let (index, events) = (known.index, known.events);
    let mut graph = known.graph();
    let Some(first) = topological_order(&graph) else {
        return Ok(Saturated::Cyclic { before: None });
    };
    control.check()?;
    // If the known edges order all versions, as they do if all writers read first, any order will do.
    if explains(index, events, open, &first) {
        return Ok(Saturated::Witness(first));
    }
    let mut priority = first_places(known, &graph, &first);
    let mut before = None;
    for round in 1.. {
        control.check()?;
        let Some(order) = topological_order_by_priority(&graph, &priority) else {
            return Ok(Saturated::Cyclic { before });
        };
        control.check()?;
        let found = replay(known, open, &[], &order, MOST_VERSIONS);
        if found.is_empty() {
            return Ok(Saturated::Witness(order));
        }
        control.check()?;
        let n_found = found.misreads.len() + found.overlaps.len();
        let is_long = graph.n_edges().saturating_mul(index.n_sessions()) > LONG_ROUND;
        if round > PATIENCE && is_long && n_found < graph.n_edges() / EDGES_PER_CONTRADICTION {
            return Ok(Saturated::Open(order));
        }
        let mut new: Vec<Derived> = Vec::new();
        for (misreads, overlaps) in portions(&found, index.is_guessed()) {
            derive(
                known,
                (&graph, &order),
                (misreads, overlaps),
                round,
                &mut new,
                control,
            )?;
        }
        if new.is_empty() || (round > PATIENCE && new.len() * LEAST_GAIN < n_found) {
            return Ok(Saturated::Open(order));
        }
        known.derived.append(&mut new);
        graph = known.graph();
        for (place, &v) in order.iter().enumerate() {
            priority[v as usize] = place as u64;
        }
        before = Some(order);
    }
    unreachable!("the rounds end with a return")
}

/// What contradicts an order, in portions where that costs nothing, since each path is searched for by itself: all candidates at
/// once would take more memory than the history.
fn portions(found: &Contradictions, by_search: bool) -> Vec<(&[Misread], &[Overlap])> {
    /// Most of a portion.
    const PORTION: usize = 1 << 18;
    let mut portions: Vec<(&[Misread], &[Overlap])> = vec![(&[], &found.overlaps)];
    if by_search {
        portions.extend(
            found
                .misreads
                .chunks(PORTION)
                .map(|misreads| (misreads, &[][..])),
        )
    } else {
        portions[0].0 = &found.misreads
    }
    portions
}

/// Adds the edges that follow by paths of the known edges, of which `order` is a topological order; each is kept once.
pub(super) fn derive(
    known: &Known<'_>,
    (graph, order): (&Digraph, &[Vertex]),
    (misreads, overlaps): (&[Misread], &[Overlap]),
    round: u32,
    new: &mut Vec<Derived>,
    control: &Control,
) -> Result<(), Interrupt> {
    let candidates = consequences(known, misreads, overlaps, round);
    let queries: Vec<(Vertex, Vertex)> = candidates.iter().map(|(_, query)| *query).collect();
    let holds = leads_to(known.index, known.events, graph, order, &queries, control)?;
    let followed = candidates.iter().zip(holds).filter(|(_, holds)| *holds);
    new.extend(followed.map(|((edge, _), _)| *edge));
    new.sort_by_key(|edge| (edge.from, edge.to));
    new.dedup_by_key(|edge| (edge.from, edge.to));
    Ok(())
}

/// The edges that would follow, each with the path that must exist for it.
fn consequences(
    known: &Known<'_>,
    misreads: &[Misread],
    overlaps: &[Overlap],
    round: u32,
) -> Vec<(Derived, (Vertex, Vertex))> {
    let events = known.events;
    let mut candidates = Vec::with_capacity(2 * misreads.len());
    for misread in misreads {
        let (read, t2, t3) = (
            misread.read,
            misread.between,
            known.reader[misread.read as usize],
        );
        let Some(t1) = known.writer(read) else {
            continue;
        };
        let visible = Derived {
            from: events.commit(t2),
            to: events.after_writer(t1),
            read,
            round,
        };
        candidates.push((visible, (events.commit(t2), events.start(t3))));
        let overwritten = Derived {
            from: events.start(t3),
            to: events.commit(t2),
            read,
            round,
        };
        candidates.push((overwritten, (events.commit(t1), events.commit(t2))));
        if events.forbids_conflicts() {
            candidates.push(no_conflict(known, t1, t2, round));
            candidates.push(no_conflict(known, t2, t1, round));
        }
    }
    for overlap in overlaps {
        candidates.push(no_conflict(known, overlap.first, overlap.second, round));
        candidates.push(no_conflict(known, overlap.second, overlap.first, round));
    }
    candidates
}

fn no_conflict(known: &Known<'_>, a: u32, b: u32, round: u32) -> (Derived, (Vertex, Vertex)) {
    let events = known.events;
    let edge = Derived {
        from: events.commit(a),
        to: events.start(b),
        read: NONE,
        round,
    };
    (edge, (events.start(a), events.commit(b)))
}
