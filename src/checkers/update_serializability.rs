//! The engine for update serializability: dependencies in an order in which the transactions that write are serial.
//!
//! Where each read of a transaction that only reads is a transaction of its own, it fits into every serial order of the others:
//! what is left is serializability of these. The order found for them is one that the engine for dependencies begins with,
//! which then looks for what the readers miss and chooses other orders of versions only where it must.

use super::dependencies::{self, DependencyDecision};
use super::strong::StrongDecision;
use super::{Level, Respected, beginning, components, each_read};
use crate::control::{Control, Interrupt};
use crate::relations::{Index, Node};

/// Decides PL-3U on an index in which each transaction has a session of its own. Costs what serializability does of the
/// transactions that write, and then as much as parallel snapshot isolation.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first; the time is exponential in the worst case.
pub(super) fn decide(index: &Index, control: &Control) -> Result<DependencyDecision, Interrupt> {
    debug_assert!((0..index.n_nodes() as Node).all(|t| index.position(t) == 0));
    control.needs(index.read_key.len() * 64)?;
    let split = index.readers_apart();
    let decision = match beginning::core(&split, Level::Serializability, control)? {
        Some(core) => StrongDecision::Violated { core },
        None => components::decide(&split, Level::Serializability, control)?,
    };
    match each_read::joined(&split, decision) {
        DependencyDecision::Satisfied(order) => dependencies::decide(index, (Respected::Serial, false), order, control),
        violated => Ok(violated),
    }
}
