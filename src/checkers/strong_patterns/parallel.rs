//! What violates parallel snapshot isolation and no named pattern shows.

use super::Listing;
use super::cycles::{reduce_by, told};
use crate::checkers::dependencies::{DependencyDecision, decide_alone};
use crate::checkers::weak::{self, WeakDecision};
use crate::checkers::{Level, Violation, derivation};
use crate::control::{Control, Interrupt};
use crate::history::History;
use crate::relations::{Index, Node};

/// Most cores that are looked at, each without the reads of those before.
const MOST_CORES: usize = 16;

/// Lists violations of PSI, from disjoint sets of transactions, where TCC holds. Each adds one to the count of its pattern.
pub(super) fn find(
    history: &History,
    index: &Index,
    most: usize,
    listing: &mut Listing<'_>,
    control: &Control,
) -> Result<(), Interrupt> {
    if weak::decide(index, Level::TransactionalCausalConsistency, control)? == WeakDecision::Violated {
        return Ok(());
    }
    let mut rest: Vec<Node> = (0..index.n_nodes() as Node).collect();
    for _ in 0..most.clamp(1, MOST_CORES) {
        let DependencyDecision::Violated { core } = decide_alone(&index.part(&rest), control)? else { break };
        let core: Vec<Node> = core.iter().map(|&place| rest[place as usize]).collect();
        let nodes = reduce(index, core, control)?;
        if let Some(violation) = of_part(history, &index.part(&nodes), control)? {
            let group = listing.new_group();
            listing.add_new(violation, group);
        }
        rest.retain(|t| nodes.binary_search(t).is_err());
    }
    Ok(())
}

/// The violation of PSI that all transactions of a small index show.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first; the time is exponential in the worst case.
pub(in crate::checkers) fn of_part(
    history: &History,
    part: &Index,
    control: &Control,
) -> Result<Option<Violation>, Interrupt> {
    let level = Level::ParallelSnapshotIsolation;
    let limits = derivation::Limits { case_steps: u64::MAX, ..derivation::Limits::default() };
    let proved = derivation::prove(history, part, level, limits, control)?;
    Ok(proved.map(|(edges, proof)| told((level, edges, proof))))
}

/// Removes transactions while the rest violates PSI.
fn reduce(index: &Index, nodes: Vec<Node>, control: &Control) -> Result<Vec<Node>, Interrupt> {
    reduce_by(index, nodes, &mut |part| {
        Ok(match decide_alone(part, control)? {
            DependencyDecision::Violated { core } => Some(core),
            DependencyDecision::Satisfied(_) => None,
        })
    })
}
