//! Deciding order first: guess a commit order, replay the history along it, and look only at the versions it puts
//! between a read's writer and its reader. What an axiom forces the other way is added; soon nothing is left to add,
//! or the edges go in a circle.

use super::SMALL_LIMITS;
use super::causality::{Causality, Components, Forced, ForcedEdges, tick};
use super::chains::Chains;
use super::order::{linear_extension, ranks};
use super::saturate::{ReadsOfOne, causal_edges, edges_of_transaction, edges_of_version, transaction_edges};
use super::vectors::{Direction, Rows, Vectors};
use crate::checkers::Level;
use crate::control::{Control, Interrupt};
use crate::relations::{INITIAL_SLOT, Index, NONE, Node, Slot};
use std::ops::Range;

/// Rounds before all minimal forced edges are added at once.
const ROUNDS: usize = if SMALL_LIMITS { 1 } else { 8 };

/// Memory for the vectors of one decision.
const VECTOR_BYTES: usize = if SMALL_LIMITS { 1 } else { 2 << 30 };

/// Edges collected for one read before its walk is given up for one edge per chain.
const EDGES_PER_READ: usize = if SMALL_LIMITS { 1 } else { 16 };

/// A violation whatever the order: a writer of the key is visible to a reader of a causally older version, or of ⊥.
struct Contradiction;

/// A commit order that satisfies `level` (RC, RA or TCC), or `None` when there is none.
pub(super) fn decide(index: &Index, level: Level, control: &Control) -> Result<Option<Vec<Node>>, Interrupt> {
    let causality = Causality::new(index, control)?;
    let components = Components::new(&causality, &ForcedEdges::default(), control)?;
    if !components.all_trivial() {
        return Ok(None);
    }
    let causal = level == Level::TransactionalCausalConsistency;
    let chains = match causal {
        true => Some(Chains::new(&causality, &components, control)?),
        false => None,
    };
    let rows = Rows::new(&components);
    let windows = chains.as_ref().map_or_else(Vec::new, |chains| rows.windows(chains, 1, VECTOR_BYTES));
    // Vectors are kept when all fit, else computed again for each window of each round.
    let vectors = |chains, window: &Range<u32>| {
        Vectors::new(&causality, &components, chains, &rows, window.clone(), Direction::Past, control)
    };
    let mut kept = None;
    let mut priority = vec![0u64; causality.n()];
    match &chains {
        Some(chains) => {
            for window in &windows {
                let past = vectors(chains, window)?;
                past.add_sizes(&mut priority);
                kept = (windows.len() == 1).then_some(past);
            }
        }
        None => session_progress(index, &mut priority),
    }
    let mut rank = ranks(&priority);
    drop(priority);

    let mut found: Vec<Forced> = causality.listed_edges().collect();
    let mut forced = ForcedEdges::new(causality.n(), found.clone());
    let mut replay = Replay::new(&causality, &components, level);
    for _ in 0..ROUNDS {
        let Some(order) = linear_extension(&causality, &forced, &rank, control)? else { return Ok(None) };
        for (place, &v) in order.iter().enumerate() {
            rank[v as usize] = place as u32;
        }
        let before = found.len();
        let hit = match &chains {
            None => replay.run(&order, &rank, None, &mut found, control)?,
            Some(chains) => {
                let mut hit = None;
                for window in &windows {
                    let fresh = if kept.is_none() { Some(vectors(chains, window)?) } else { None };
                    let past = kept.as_ref().or(fresh.as_ref()).map(|past| (chains, past, window.clone()));
                    hit = replay.run(&order, &rank, past, &mut found, control)?;
                    if hit.is_some() {
                        break;
                    }
                }
                hit
            }
        };
        if hit.is_some() {
            return Ok(None);
        }
        if found.len() == before {
            return Ok(Some(order));
        }
        forced = ForcedEdges::new(causality.n(), found);
        found = forced.all().to_vec();
    }

    // Saturation: all minimal forced edges at once, so any order that respects them is a witness.
    match &chains {
        None => found.extend(transaction_edges(&causality, &components, level, control)?),
        Some(chains) => {
            for window in &windows {
                let fresh = if kept.is_none() { Some(vectors(chains, window)?) } else { None };
                if let Some(past) = kept.as_ref().or(fresh.as_ref()) {
                    found.extend(causal_edges(&causality, &components, chains, past, window.clone(), control)?);
                }
            }
        }
    }
    let forced = ForcedEdges::new(causality.n(), found);
    if forced.reach_initial() {
        return Ok(None);
    }
    drop(kept);
    linear_extension(&causality, &forced, &rank, control)
}

/// Position in the session, scaled to the length of the session: sessions then advance side by side.
fn session_progress(index: &Index, priority: &mut [u64]) {
    for session in 0..index.n_sessions() {
        let nodes = index.session_begin[session]..index.session_begin[session + 1];
        let length = u64::from(nodes.end - nodes.start);
        for (position, v) in nodes.enumerate() {
            priority[v as usize] = ((position as u64) << 32) / length;
        }
    }
}

/// Working memory of replays.
struct Replay<'a, 'b> {
    causality: &'a Causality<'b>,
    components: &'a Components,
    level: Level,
    /// By key: the version that is current.
    current: Vec<Slot>,
    /// By slot: the version before it.
    previous: Vec<Slot>,
    /// By node: the last transaction that was seen to read from it.
    mark: Vec<Node>,
    reads: ReadsOfOne,
}

/// The vectors of a window, for TCC.
type Past<'a> = Option<(&'a Chains, &'a Vectors<'a>, Range<u32>)>;

impl<'a, 'b> Replay<'a, 'b> {
    fn new(causality: &'a Causality<'b>, components: &'a Components, level: Level) -> Replay<'a, 'b> {
        let index = causality.index;
        Replay {
            causality,
            components,
            level,
            current: vec![INITIAL_SLOT; index.n_keys()],
            previous: vec![INITIAL_SLOT; index.slot_node.len()],
            mark: vec![NONE; causality.n()],
            reads: ReadsOfOne::default(),
        }
    }

    /// Replays `order` (`place` is its inverse) and adds an edge for each version it puts between a read's writer and
    /// its reader although the axiom forces it before the writer. With a window of vectors only versions written in
    /// its chains are looked at. Linear in operations and versions walked; walks are cut off where enumerating writers
    /// is cheaper, so the cost stays within that of saturation.
    fn run(
        &mut self,
        order: &[Node],
        place: &[u32],
        past: Past<'_>,
        found: &mut Vec<Forced>,
        control: &Control,
    ) -> Result<Option<Contradiction>, Interrupt> {
        let index = self.causality.index;
        self.current.fill(INITIAL_SLOT);
        self.mark.fill(NONE);
        for (step, &t3) in order.iter().enumerate() {
            tick(step, control)?;
            let hit = match &past {
                Some((chains, past, window)) => self.causal_reads(t3, place, chains, past, window, found),
                None => self.reads_with_marks(t3, place, found),
            };
            if hit.is_some() {
                return Ok(hit);
            }
            for write in index.writes_of(t3) {
                let current = &mut self.current[index.write_key[write] as usize];
                self.previous[index.write_slot[write] as usize] = *current;
                *current = index.write_slot[write];
            }
        }
        Ok(None)
    }

    fn causal_reads(
        &self,
        t3: Node,
        place: &[u32],
        chains: &Chains,
        past: &Vectors<'_>,
        window: &Range<u32>,
        found: &mut Vec<Forced>,
    ) -> Option<Contradiction> {
        let index = self.causality.index;
        let limit = if SMALL_LIMITS { 1 } else { 4 * window.len() + 16 };
        let mut hit = None;
        for read in index.reads_of(t3) {
            let begin = found.len();
            let wanted = index.read_slot[read];
            let t1 = index.writer_of_read(read);
            let mut version = self.current[index.read_key[read] as usize];
            let mut walked = 0;
            while version != wanted && walked < limit && found.len() - begin < EDGES_PER_READ {
                let t2 = index.slot_node[version as usize];
                if window.contains(&chains.chain[t2 as usize]) && past.precedes(t2, t3) {
                    if t1 == NONE || (window.contains(&chains.chain[t1 as usize]) && past.precedes(t1, t2)) {
                        return Some(Contradiction);
                    }
                    found.push(Forced { from: t2, to: t1, read: read as u32 });
                }
                version = self.previous[version as usize];
                walked += 1;
            }
            if version == wanted {
                continue;
            }
            found.truncate(begin);
            let one = [read as u32];
            let window = window.clone();
            edges_of_version(self.causality, self.components, chains, past, window, &one, |t2, read| match t1 {
                NONE => hit = Some(Contradiction),
                t1 if place[t2 as usize] > place[t1 as usize] => found.push(Forced { from: t2, to: t1, read }),
                _ => {}
            });
        }
        hit
    }

    fn reads_with_marks(&mut self, t3: Node, place: &[u32], found: &mut Vec<Forced>) -> Option<Contradiction> {
        let index = self.causality.index;
        let atomic = self.level != Level::ReadCommitted;
        let begin = found.len();
        let mut limit = if SMALL_LIMITS { 1 } else { 16 };
        for &t2 in self.causality.writers(t3) {
            limit += if SMALL_LIMITS { 0 } else { 4 * index.writes_of(t2).len() };
            if atomic {
                self.mark[t2 as usize] = t3;
            }
        }
        let mut walked = 0;
        for read in index.reads_of(t3) {
            let wanted = index.read_slot[read];
            let t1 = index.writer_of_read(read);
            let mut version = self.current[index.read_key[read] as usize];
            while version != wanted && walked < limit {
                let t2 = index.slot_node[version as usize];
                if self.mark[t2 as usize] == t3 || (atomic && self.causality.in_session_order(t2, t3)) {
                    if t1 == NONE {
                        return Some(Contradiction);
                    }
                    found.push(Forced { from: t2, to: t1, read: read as u32 });
                }
                version = self.previous[version as usize];
                walked += 1;
            }
            if version != wanted {
                return self.reads_by_writers(t3, place, begin, found);
            }
            if !atomic && t1 != NONE {
                self.mark[t1 as usize] = t3;
            }
        }
        None
    }

    /// The same for one transaction from its minimal forced edges: those that the order does not respect.
    fn reads_by_writers(
        &mut self,
        t3: Node,
        place: &[u32],
        begin: usize,
        found: &mut Vec<Forced>,
    ) -> Option<Contradiction> {
        found.truncate(begin);
        let mut hit = None;
        let index = self.causality.index;
        edges_of_transaction(self.causality, self.components, self.level, t3, &mut self.reads, |t2, read| match index
            .writer_of_read(read as usize)
        {
            NONE => hit = Some(Contradiction),
            t1 if place[t2 as usize] > place[t1 as usize] => found.push(Forced { from: t2, to: t1, read }),
            _ => {}
        });
        hit
    }
}
