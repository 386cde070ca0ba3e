//! The engine for parallel snapshot isolation, on any order that the index counts as sessions.
//!
//! PSI holds if the versions of each key can be ordered so that D = SO ∪ WR ∪ WW is acyclic and no read misses a version
//! by a transaction from which D leads to the reader: D⁺ ; RW is irreflexive (Cerone, Bernardi & Gotsman 2015; Adya's
//! PL-2+ with sessions). Deciding it is NP-complete, but the reads of real histories nearly determine the versions' order.
//!
//! 1. `order`: take a topological order π of what is known of D and let the versions follow it. A read of a's version is
//!    wrong if D leads from the *next* writer of the key to the reader; later writers depend on the next one, so they
//!    need no look. `reach` tells which reads are wrong; the path is searched for these only, backwards from the reader.
//! 2. What is wrong by known edges alone orders the two writers the other way round, which is known from then on.
//! 3. `search`: what is wrong by guesses, orders of writers taken from π, becomes a clause: not all of these guesses hold.
//!    Only pairs of writers that occur in clauses get a variable; they are decided by clause learning modulo acyclicity.
//!
//! The engine is exact and complete; it stays undecided only when stopped. It assumes that wrong reads have been reported.

mod order;
mod reach;
mod search;
mod versions;

use super::weak::BaseOrder;
use crate::control::{Control, Interrupt};
use crate::relations::{Index, Node};

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DependencyDecision {
    /// PSI holds with the versions in this order of their writers.
    Satisfied(Vec<Node>),
    /// It does not, whatever their order.
    Violated {
        /// Transactions that suffice for the violation, ascending; not minimal.
        core: Vec<Node>,
    },
}

/// Decides PSI, starting from the order of `ground`. O(operations × (1 + sessions / 16)) where the order explains the reads,
/// less where versions are missed for a short time only; exponential in the worst case.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(super) fn decide(index: &Index, ground: &BaseOrder, control: &Control) -> Result<DependencyDecision, Interrupt> {
    search::Search::new(index, ground.order().to_vec()).run(control)
}

/// The same for an index without its ground. SO ∪ WR with the orders that lists show must be acyclic for PSI.
///
/// # Errors
/// As for [`decide`].
pub(super) fn decide_alone(index: &Index, control: &Control) -> Result<DependencyDecision, Interrupt> {
    match BaseOrder::new(index, control)? {
        Some(ground) => decide(index, &ground, control),
        None => Ok(DependencyDecision::Violated { core: (0..index.n_nodes() as Node).collect() }),
    }
}
