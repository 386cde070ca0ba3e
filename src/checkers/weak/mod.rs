//! RC, RA and TCC: verdict with a commit order, and all instances of the patterns TAP-g, h, i, k, l, m, n.
//!
//! The axioms are those of Biswas & Enea 2019, Fig. 2a to 2c, with an initial transaction ⊥ that precedes every other:
//! t3 reads key x from t1, t2 ∉ {t1, t3} also writes x, and t3 sees t2; then t2 comes before t1 in every commit order.
//! The levels differ in what "sees" means:
//!
//! | level | t3 sees t2 when |
//! |---|---|
//! | RC | t3 read something from t2 before it read x |
//! | RA | t2 precedes t3 in its session, or t3 reads something from t2 |
//! | TCC | t2 precedes t3 in (SO ∪ WR)⁺ |
//!
//! A level is satisfied iff SO ∪ WR and the edges t2 → t1 that its axiom forces have no cycle. This module does not
//! look at single reads (TAP-a to f and j); the caller has done that before.

mod causality;
mod chains;
mod order;
mod replay;
mod saturate;
mod vectors;

#[cfg(test)]
mod random;

use crate::checkers::Level;
use crate::control::{Control, Interrupt};
use crate::relations::{Index, Node};

/// The answer for one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WeakDecision {
    /// All nodes in a commit order that satisfies the level.
    Satisfied(Vec<Node>),
    /// There is none.
    Violated,
}

/// Decides RC, RA or TCC for a history without TAP-a to f; any other level is taken for TCC.
///
/// A few linear replays as long as the history is close to valid, otherwise within the bounds of saturation:
/// O(n^{3/2}) for RC and RA, O(n · sessions) for TCC with n operations (AWDIT's bounds). The vectors of TCC take at most
/// 2 GB at a time. The result does not depend on the number of threads.
pub fn decide(index: &Index, level: Level, control: &Control) -> Result<WeakDecision, Interrupt> {
    let level = match level {
        Level::ReadCommitted | Level::ReadAtomic => level,
        _ => Level::TransactionalCausalConsistency,
    };
    Ok(match replay::decide(index, level, control)? {
        Some(order) => WeakDecision::Satisfied(order),
        None => WeakDecision::Violated,
    })
}
