//! Which versions a reader may not miss, in terms of the facts of a case: by the events of its start and of other commits, or
//! by the dependencies that the level respects.

use super::facts::{Because, Case, FactId, Facts, ReadOf};
use crate::checkers::Respected;
use isoscope_model::relations::{Axiom, Node};

/// Whether a reader may not miss the versions of t2.
pub(super) fn sees(facts: &Facts<'_>, case: &Case, t2: Node, read: &ReadOf) -> bool {
    let depends = || {
        case.closure
            .reaches(facts.events.commit(t2), facts.events.start(read.t3))
    };
    match facts.respected {
        None | Some(Respected::All | Respected::Serial) => depends(),
        Some(Respected::OfUpdates) => {
            facts.index.is_item(read.read) && facts.orders(case, (t2, read.t3), read.key).is_some()
        }
        Some(Respected::Direct) => direct(facts, case, t2, read.t3).is_some(),
        Some(Respected::Nothing) => false,
        Some(Respected::Seen(Axiom::Causal)) => facts.observed.reaches(t2, read.t3),
        Some(Respected::Seen(_)) => seen_directly(facts, case, t2, read).is_some(),
        Some(Respected::SoFar) => {
            last_steps(facts, case, read).any(|(t, _)| case.closure.reaches_or_is(t2, t))
        }
    }
}

/// The shortest path by which it may not, if it may not.
pub(super) fn sight(
    facts: &Facts<'_>,
    case: &Case,
    t2: Node,
    read: &ReadOf,
) -> Option<Vec<FactId>> {
    match facts.respected {
        None | Some(Respected::All | Respected::Serial) => {
            facts.path(case, facts.events.commit(t2), facts.events.start(read.t3))
        }
        Some(Respected::Nothing) => None,
        Some(Respected::Seen(Axiom::Causal)) => {
            facts.path_by(case, t2, read.t3, |fact| fact.because.is_observed())
        }
        Some(Respected::Seen(_)) => seen_directly(facts, case, t2, read).map(|id| vec![id]),
        Some(Respected::OfUpdates) => facts
            .orders(case, (t2, read.t3), read.key)
            .filter(|_| facts.index.is_item(read.read))
            .map(|id| vec![id]),
        Some(Respected::Direct) => direct(facts, case, t2, read.t3).map(|id| vec![id]),
        Some(Respected::SoFar) => {
            let paths = last_steps(facts, case, read).filter_map(|(t, id)| {
                let mut path = if t == t2 {
                    Vec::new()
                } else {
                    facts.path(case, t2, t)?
                };
                path.push(id);
                Some(path)
            });
            paths.min_by_key(Vec::len)
        }
    }
}

/// The fact by which a reader sees another transaction in one step: for read committed a read before the one in question.
fn seen_directly(facts: &Facts<'_>, case: &Case, t2: Node, read: &ReadOf) -> Option<FactId> {
    let is_it = |&&(at, id): &&(Node, FactId)| {
        let because = &facts.all[id as usize].because;
        at == read.t3
            && match (facts.respected, because) {
                (Some(Respected::Seen(Axiom::ReadCommitted)), Because::Reads(other)) => {
                    facts.index.by_then(*other, read.read)
                }
                (Some(Respected::Seen(Axiom::ReadCommitted)), _) => false,
                _ => because.is_observed(),
            }
    };
    case.out(t2).iter().find(is_it).map(|(_, id)| *id)
}

/// The first fact that leads from one transaction to another.
fn direct(facts: &Facts<'_>, case: &Case, from: Node, to: Node) -> Option<FactId> {
    let (from, to) = (facts.events.commit(from), facts.events.start(to));
    case.out(from)
        .iter()
        .find(|(at, _)| *at == to)
        .map(|(_, id)| *id)
}

/// The facts that lead to a reader and are there when it reads, each with the transaction that it leads from: session order,
/// reads up to this one, and versions that the reader had overwritten for good.
fn last_steps<'a>(
    facts: &'a Facts<'_>,
    case: &'a Case,
    read: &ReadOf,
) -> impl Iterator<Item = (Node, FactId)> + 'a {
    let ReadOf { read, t3, .. } = *read;
    let index = facts.index;
    let is_there = move |&(_, id): &(Node, FactId)| match facts.all[id as usize].because {
        Because::SessionOrder | Because::RealTime => true,
        Because::Reads(other) => index.by_then(other, read),
        _ => index
            .slot_of(t3, facts.all[id as usize].key)
            .is_some_and(|slot| index.slot_operation[slot as usize] < index.read_operation[read]),
    };
    case.into(t3).iter().copied().filter(is_there)
}
