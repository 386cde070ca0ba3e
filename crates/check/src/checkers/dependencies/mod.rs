//! The engine for parallel snapshot isolation, monotonic view, update atomic and cursor stability, on any order that the
//! index counts as sessions, and for update serializability without sessions.
//!
//! Such a level holds if the versions of each key can be ordered so that D = SO ∪ WR ∪ WW is acyclic and no read misses a
//! version by a transaction on which it must be [`Respected`] that the reader depends:
//!
//! - PSI: D⁺ ; RW is irreflexive (Cerone, Bernardi & Gotsman 2015; Adya's PL-2+ with sessions).
//! - MV: the same, but of the last edge to the reader only those count that are there when it reads: session order, reads up
//!   to this one, and overwriting by the last write of a key before it (Adya's PL-2L).
//! - UA: D ; RW is irreflexive: the last edge is the only one (Cerone, Bernardi & Gotsman 2015).
//! - CS: no version lies between the one that an update reads and the one that it writes (Adya's PL-CS).
//! - PL3U: the same as PSI, with E in the place of D, which must be acyclic, too: D and the anti-dependencies of the
//!   transactions that write (Adya's PL-3U: each cycle of E and the anti-dependencies of one that only reads).
//!
//! All but the last are NP-complete, and of that one it is not known, but the reads of real histories nearly determine the
//! versions' order.
//!
//! 1. `order`: take a topological order π of what is known of D and let the versions follow it. A read of a's version is
//!    wrong if D leads from the *next* writer of the key to the reader; later writers depend on the next one, so they
//!    need no look, except at UA (`direct`). `reach` tells which reads are wrong; the path is searched for these only,
//!    backwards from the reader. At PL3U a transaction that writes misses no version at all: its anti-dependencies come with
//!    the orders of the versions that it read.
//! 2. What is wrong by known edges alone orders the two writers the other way round, which is known from then on.
//! 3. `search`: what is wrong by guesses, orders of writers taken from π, becomes a clause: not all of these guesses hold.
//!    Only pairs of writers that occur in clauses get a variable; they are decided by clause learning modulo acyclicity.
//!
//! The engine is exact and complete; it stays undecided only when stopped. It assumes that wrong reads have been reported.

mod direct;
mod order;
mod reach;
mod search;
mod versions;

pub(super) use versions::Versions;

use super::{Decision, Respected};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Index, Node};

/// Decides a level, starting from an order that extends session order, reads and what lists show; with `in_time` a transaction depends directly on all that ended before
/// it began. O(operations × (1 + sessions / 16)) where the order explains the reads,
/// less where versions are missed for a short time only; exponential in the worst case.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(super) fn decide(
    index: &Index,
    (respected, in_time): (Respected, bool),
    order: Vec<Node>,
    control: &Control,
) -> Result<Decision, Interrupt> {
    search::DependencySearch::new(index, (respected, in_time), order).run(control)
}
