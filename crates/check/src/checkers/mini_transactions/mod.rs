//! SI, SER and SSER in linear time, if every transaction that writes a key reads it first.
//!
//! Source: MTC, Algorithm 1 (`CheckSER`, `CheckSI`, `CheckSSER`) and section IV. If every written version replaces one
//! that its transaction read from another, the reads determine the whole version order: the transaction that reads
//! version v and writes the key writes the version after v. Two transactions that do so with one v are a Divergence,
//! which violates all three levels (Lemma 1); without one the history satisfies a level iff a graph has no cycle
//! (Theorems 1 and 2), and no search is needed. MTC bounds the size of its mini-transactions (four operations on two
//! keys); that is irrelevant and not required here.
//!
//! The graph is not built but executed. Each session is at its first transaction that has not run, which waits for one
//! thing: the writer of a version it reads, the other readers of a version that it replaces, or a moment in time to
//! pass. Nothing is examined again before what it waits for has happened, so this takes O(n + reads), for SSER O(n log
//! n) to sort the times; 8 bytes per version, 4 per transaction, and the order. When all sessions wait, they wait for
//! each other on a cycle of the graph.
//!
//! | edge | at SER and SSER | at SI |
//! |---|---|---|
//! | SO, WR; WW is WR here | t1 → t2 | commit of t1 → start of t2 |
//! | RW | t1 → t2 | start of t1 → commit of t2 |
//! | RT, SSER only | end → moments in a chain → start | |
//!
//! Corrected: Divergence ends the check of SER and SSER, too (k transactions that replace one version make k² RW edges,
//! and the bound of section IV-D fails); what is bounded is the RW edges that leave a read, one each, not those that
//! enter a transaction; real time takes a chain of moments instead of Θ(n²) edges. Reads that are wrong on their own,
//! including those of intermediate versions (missing from the footnote's list), must have been checked before: they are
//! not detected here. PC is left out: there a Divergence is allowed.

mod replay;
mod stuck;
mod versions;

use crate::checkers::{Decision, Level};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Index, Node};
use replay::Replay;
use versions::{Shape, Versions};

/// Decides SI, SER or SSER; `None` for another level, or if a transaction writes a key that it does not read first, or
/// if versions are lists. SSER assumes that the clock does not contradict session order
/// ([`Index::clock_against_session_order`]); all levels assume that no read is wrong on its own. O(n + reads), at SSER
/// O(n log n + reads).
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub fn decide(
    index: &Index,
    level: Level,
    control: &Control,
) -> Result<Option<Decision>, Interrupt> {
    if !level.is_strong_on_conflicts() || !index.lists.is_empty() {
        return Ok(None);
    }
    match Versions::shape_of(index, control)? {
        Shape::Misfit(..) => Ok(None),
        Shape::Divergent { core } => Ok(Some(Decision::Violated { core })),
        Shape::Chains(versions) => Replay::new(index, versions, level).run(control).map(Some),
    }
}

/// The first transaction that writes a key without reading it first, and the key. O(n + reads).
pub fn misfit(index: &Index, control: &Control) -> Result<Option<(Node, u32)>, Interrupt> {
    Ok(match Versions::shape_of(index, control)? {
        Shape::Misfit(node, key) => Some((node, key)),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
