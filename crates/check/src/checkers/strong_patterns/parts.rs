//! What violates a level of dependencies, or monotonic snapshot reads, and no named pattern shows.

use super::cycles::{SMALL, prove, reduce_by, told};
use super::{Listing, strong};
use crate::checkers::decide;
use crate::checkers::weak;
use crate::checkers::{Level, Violation, derivation};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::History;
use isoscope_model::relations::{Index, Node};

/// Lists violations of such a level, from at most so many disjoint sets of transactions, where the weak level below it
/// holds. Each adds one to the count of its pattern.
pub(super) fn find(
    history: &History,
    index: &Index,
    level: Level,
    most: usize,
    listing: &mut Listing<'_>,
    control: &Control,
) -> Result<(), Interrupt> {
    let is_below = |weak: &Level| {
        weak.is_weak() && weak.plain_of().is_none() && level.implies_without_sessions(*weak)
    };
    if let Some(weak) = Level::EVERY.into_iter().rev().find(is_below)
        && weak::decide(index, weak, control)?.is_violated()
    {
        return Ok(());
    }
    let mut rest: Vec<Node> = (0..index.n_nodes() as Node).collect();
    for _ in 0..most {
        let Some(core) = decide::core(&index.part(&rest), level, control)? else {
            break;
        };
        let core: Vec<Node> = core.iter().map(|&place| rest[place as usize]).collect();
        let nodes = reduce_by(index, core, &mut |part| decide::core(part, level, control))?;
        if let Some(violation) = of_part(history, &index.part(&nodes), level, control)? {
            let group = listing.new_group();
            listing.add_new(violation, group);
        }
        rest.retain(|t| nodes.binary_search(t).is_err());
    }
    Ok(())
}

/// The violation that the transactions show which an engine found to suffice, at any level above the weak ones.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(in crate::checkers) fn of_engine(
    history: &History,
    index: &Index,
    mut nodes: Vec<Node>,
    level: Level,
    control: &Control,
) -> Result<Option<Violation>, Interrupt> {
    let is_strong = strong([level].into_iter().collect()).next().is_some();
    if nodes.len() > SMALL || !is_strong {
        nodes = reduce_by(index, nodes, &mut |part| decide::core(part, level, control))?;
    }
    if is_strong {
        prove(history, index, nodes, level, false, control)
    } else {
        of_part(history, &index.part(&nodes), level, control)
    }
}

/// The violation of a level that all transactions of a small index show.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first; the time is exponential in the worst case.
pub(in crate::checkers) fn of_part(
    history: &History,
    part: &Index,
    level: Level,
    control: &Control,
) -> Result<Option<Violation>, Interrupt> {
    let limits = derivation::Limits {
        case_steps: u64::MAX,
        ..derivation::Limits::default()
    };
    let proved = derivation::prove(history, part, level, limits, control)?;
    Ok(proved.map(|(edges, proof)| told((level, edges, proof))))
}
