//! Biswas and Enea's search: prefix consistency, snapshot isolation and serializability.
//!
//! Source: Biswas & Enea, "On the complexity of checking transactional consistency" (OOPSLA 2019). Algorithm 2
//! (`checkSER`) extends a prefix of the history, transaction by transaction, where a transaction may come next if all
//! it reads is in the prefix and it overwrites nothing that the rest still reads; it never examines a prefix twice. For
//! a fixed number of sessions that is polynomial. PC is SER of the history h_R|W in which a transaction is cut into its
//! reads R and its writes W (section 4.2); SI is SER of h^c_R|W, which has an additional variable for every ordered
//! pair of transactions that write a common key, so that between R and W of one there is nothing of the other (section
//! 4.3). Each biconnected component of the communication graph is searched on its own (section 5, Theorem 5.2).
//!
//! | file | part |
//! |---|---|
//! | [`prefix`] | a prefix, what may extend it, and both reductions |
//! | [`search`] | the search through prefixes |
//!
//! Complexity: O(nˢ · S · reads and writes of a transaction) time for S sessions and n transactions per session, 4 · S
//! bytes for each prefix examined; beyond a limit there is no answer.
//!
//! Corrected: ⊥ is not a session and not a vertex of the communication graph, which it would make one component; every
//! component has a copy. A cycle of SO ∪ WR is "not a history" (Definition 2.2): no prefix gets past it, and the level
//! is violated. h^c is not linear in size, as section 4.3 says: its variables are pairs of transactions, up to n² for
//! one key. They are not represented explicitly here: since each is about two transactions that write one key, a count
//! per key of the transactions that are between R and W says the same. Prefixes are remembered exactly (the authors'
//! program, dbcop, keeps hashes, so a collision would lose a solution). If lists show an order of versions, prefixes
//! keep it. The search has no recursion, and tries sessions in the order of time, of the file, or of positions; any
//! order would do.

mod prefix;
mod search;

use isoscope_check::checkers::{Cause, Engine, Level, Moments, Order};
use isoscope_model::control::Control;
use isoscope_model::graph::{Digraph, topological_order};
use isoscope_model::relations::{Communication, Index};
use prefix::{Cut, Tables};
use std::sync::Arc;

/// Algorithm 2 for PC and SI by the reductions; any other level is treated as SER. An order that explains every read,
/// or `None` if there is none.
pub(super) fn check(
    index: &Index,
    level: Level,
    control: &Control,
) -> Result<Option<Order>, Cause> {
    let cut = match level.row().engine {
        Engine::Strong(Moments::StartAndCommit) => Cut::ReadsAndWrites,
        Engine::Strong(Moments::StartAndCommitApart) => Cut::ReadsAndWritesApart,
        _ => Cut::Whole,
    };
    let mut tables = Tables::new(index);
    let communication = Communication::new(index);
    let mut followed: Vec<(u32, u32)> = Vec::new();
    for sessions in communication.components(index) {
        let Some(events) = search::search(index, sessions, cut, &mut tables, control)? else {
            return Ok(None);
        };
        followed.extend(events.windows(2).map(|two| (two[0], two[1])));
    }
    Ok(Some(merged(index, cut, &followed)))
}

/// One order made of those of the components. They agree on the one session that two components may share, and are
/// connected as a tree, so together they have no cycle.
fn merged(index: &Index, cut: Cut, followed: &[(u32, u32)]) -> Order {
    let n_events = cut.n_events() as usize * index.n_nodes();
    let order = topological_order(&Digraph::new(n_events, followed.iter().copied()));
    let order = order.unwrap_or_default();
    match cut {
        Cut::Whole => Order::Commits(order.into()),
        _ => Order::Events(Arc::new(
            order
                .into_iter()
                .map(|event| (event / 2, event % 2 == 1))
                .collect(),
        )),
    }
}

#[cfg(test)]
mod tests;
