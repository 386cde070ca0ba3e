//! Saturation: weak isolation levels by a graph that must have no cycle.
//!
//! Source: Biswas & Enea, "On the complexity of checking transactional consistency" (OOPSLA 2019), Algorithm 1, which
//! checks causal consistency: co ← SO ∪ WR; if t3 reads x from t1 and another transaction t2 that writes x precedes t3
//! in (SO ∪ WR)⁺ (line 6), co ← co ∪ {t2 → t1}; satisfied iff co has no cycle. For RC and RA line 6 uses their axioms
//! (Fig. 2a, 2b) instead (Theorem 3.1). Gives a verdict with a commit order, and no patterns.
//!
//! Complexity: O(n²/64 · edges) for the closure and O(reads · writers of a key) for the rest; n²/8 bytes for the closure,
//! at TCC only.
//!
//! Corrected: a cycle of SO ∪ WR is "not a history" (Definition 2.2) and is called violated. ⊥ precedes everything and
//! is not a vertex: a transaction forced before it is a violation at once.

use super::commit::Edges;
use super::{most_at_once, too_large};
use fixedbitset::FixedBitSet;
use isoscope_check::checkers::{Cause, Level};
use isoscope_model::control::Control;
use isoscope_model::graph::{Digraph, topological_order};
use isoscope_model::relations::{Axiom, Index, NONE, Node};

/// Memory for the transitive closure if the user sets no limit.
const CLOSURE_BYTES: u64 = 2 << 30;

/// Algorithm 1 for RC, RA or TCC, any other level being treated as TCC: a commit order, or `None` if the level is
/// violated.
pub(super) fn check(
    index: &Index,
    level: Level,
    control: &Control,
) -> Result<Option<Vec<Node>>, Cause> {
    let n = index.n_nodes();
    let mut co = so_and_wr(index, control)?;
    let graph = Digraph::new(n, co.iter().copied());
    let Some(order) = topological_order(&graph) else {
        return Ok(None);
    };
    let axiom = level.axiom();
    let past = match axiom {
        Axiom::ReadCommitted | Axiom::ReadAtomic => Vec::new(),
        _ => closure(&graph.reversed(), &order, control)?,
    };
    let mut forced = Edges::new(control);
    // By transaction: its last reader, and the first read of that.
    let mut read_by = vec![(NONE, 0u32); n];
    for t3 in 0..n as Node {
        control.tick(t3 as usize)?;
        for read in index.reads_of(t3).rev() {
            let t1 = index.writer_of_read(read);
            if t1 != NONE {
                read_by[t1 as usize] = (t3, read as u32);
            }
        }
        for read in index.reads_of(t3) {
            let t1 = index.writer_of_read(read);
            for (step, slot) in index.slots_of(index.read_key[read]).enumerate() {
                control.tick(step + 1)?;
                let t2 = index.slot_node[slot];
                let (reader, first) = read_by[t2 as usize];
                let in_session =
                    t2 < t3 && index.session[t2 as usize] == index.session[t3 as usize];
                // Line 6.
                let sees = match axiom {
                    Axiom::ReadCommitted => reader == t3 && (first as usize) < read,
                    Axiom::ReadAtomic => reader == t3 || in_session,
                    _ => past[t3 as usize].contains(t2 as usize),
                };
                if t2 == t1 || t2 == t3 || !sees {
                    continue;
                }
                if t1 == NONE {
                    return Ok(None);
                }
                forced.add(t2, t1)?;
            }
        }
    }
    co.extend(forced.into_edges());
    co.extend(
        index
            .listed()
            .into_iter()
            .map(|pair| (pair.older, pair.newer)),
    );
    Ok(topological_order(&Digraph::new(n, co.iter().copied())))
}

/// SO, without its transitive edges, and WR.
fn so_and_wr(index: &Index, control: &Control) -> Result<Vec<(Node, Node)>, Cause> {
    let mut edges = Vec::new();
    for t3 in 0..index.n_nodes() as Node {
        control.tick(t3 as usize)?;
        edges.extend(index.successor(t3).map(|next| (t3, next)));
        let writers = index.reads_of(t3).map(|read| index.writer_of_read(read));
        edges.extend(
            writers
                .filter(|&writer| writer != NONE)
                .map(|writer| (writer, t3)),
        );
    }
    Ok(edges)
}

/// By transaction: all transactions that precede it.
fn closure(
    reversed: &Digraph,
    order: &[Node],
    control: &Control,
) -> Result<Vec<FixedBitSet>, Cause> {
    let n = order.len();
    let bytes = n.div_ceil(64) as u64 * 8 * n as u64;
    let most = most_at_once(CLOSURE_BYTES, control);
    if bytes > most {
        return Err(too_large("the transitive closure", bytes, most));
    }
    let mut past = vec![FixedBitSet::new(); n];
    for (step, &t) in order.iter().enumerate() {
        // A row may take n / 64 steps for each of its edges.
        control.tick(step * 64)?;
        let mut row = FixedBitSet::with_capacity(n);
        for &before in reversed.successors(t) {
            if !row.put(before as usize) {
                row.union_with(&past[before as usize]);
            }
        }
        past[t as usize] = row;
    }
    Ok(past)
}
