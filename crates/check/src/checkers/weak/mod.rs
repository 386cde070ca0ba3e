//! RC, RA and TCC: verdict with a commit order, and all instances of the patterns TAP-g, h, i, k, l, m, n. Also the
//! guarantees of sessions (`guarantees`), with a few cycles where they are broken (`broken`).
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
//! check single reads (TAP-a to f and j); the caller has done so before.

mod base_order;
mod broken;
mod causal;
mod causality;
mod chains;
mod columns;
mod cycles;
mod guarantees;
mod incremental_order;
mod instances;
mod justification;
mod open;
mod order;
mod paths;
mod pipeline;
mod pool;
mod replay;
mod saturate;
mod survey;
mod vectors;
mod waves;
mod window;

#[cfg(test)]
mod tests;

pub(in crate::checkers) use broken::broken_guarantees;
pub use instances::instances;
pub(in crate::checkers) use instances::unlisted;
pub(in crate::checkers) use open::{Chosen, OpenWeak, decide_open};

use crate::checkers::{Decision, Engine, Level};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Axiom, Index, Node};
use replay::Kept;
use std::borrow::Cow;

/// Unit tests run with the smallest limits, so that tiny histories take every branch; integration tests run with the
/// real ones.
const SMALL_LIMITS: bool = cfg!(test);

/// One commit order of a history as a first guess, and the reads it does not explain: the levels' common ground.
pub struct BaseOrder(base_order::BaseOrder);

impl BaseOrder {
    /// `None` when SO ∪ WR and the orders of versions that lists show have a cycle, which violates every level above CI.
    /// O(operations), times the logarithm of the number of sessions where times or lines in the file are followed.
    pub fn new(index: &Index, control: &Control) -> Result<Option<BaseOrder>, Interrupt> {
        Ok(base_order::BaseOrder::new(index, control)?.map(BaseOrder))
    }

    /// The order: a linear extension of SO ∪ WR and the orders of versions that lists show.
    pub fn order(&self) -> &[Node] {
        &self.0.order.nodes
    }

    /// How many reads it does not explain.
    pub(super) fn n_unexplained(&self) -> usize {
        self.0.replay.open.iter().map(Vec::len).sum()
    }

    /// The order, if it explains all reads. Then it is a serial execution: every level up to SER is satisfied by it.
    pub fn serial(&self) -> Option<&[Node]> {
        self.0
            .replay
            .explains_all()
            .then_some(self.0.order.nodes.as_slice())
    }
}

/// Decides RC, RA, TCC or a guarantee of sessions for a history without TAP-a to f; any other level is treated as TCC.
///
/// A few linear replays as long as the history is close to valid, otherwise within the bounds of saturation:
/// O(n^{3/2}) for RC and RA, O(n · sessions) for TCC with n operations (AWDIT's bounds); guarantees take replays only.
/// TCC takes a cache line per transaction and thread for columns of causal order, and at most 2 GB for the vectors of
/// saturation. The result does not depend on the number of threads.
pub fn decide(index: &Index, level: Level, control: &Control) -> Result<Decision, Interrupt> {
    match BaseOrder::new(index, control)? {
        Some(ground) => decide_alone(index, ground, level, control),
        None => Ok(Decision::violated()),
    }
}

/// [`decide`] with the ground of the index, which levels can share.
pub fn decide_on(
    index: &Index,
    BaseOrder(ground): &BaseOrder,
    level: Level,
    control: &Control,
) -> Result<Decision, Interrupt> {
    let replay = Cow::Borrowed(&ground.replay);
    Ok(decision(replay::decide(
        index,
        ground.listed.clone(),
        &ground.order,
        replay,
        axiom(level),
        control,
    )?))
}

/// [`decide_on`] where no other level needs the ground: it takes a few bytes an operation less.
pub fn decide_alone(
    index: &Index,
    BaseOrder(ground): BaseOrder,
    level: Level,
    control: &Control,
) -> Result<Decision, Interrupt> {
    let base_order::BaseOrder {
        listed,
        order,
        replay,
    } = ground;
    Ok(decision(replay::decide(
        index,
        listed,
        &order,
        Cow::Owned(replay),
        axiom(level),
        control,
    )?))
}

/// What a transaction sees at a weak level, or by a guarantee of sessions.
fn axiom(level: Level) -> Axiom {
    match level.row().engine {
        Engine::Sessions(Some(guarantee)) => Axiom::Session(guarantee),
        _ => level.axiom(),
    }
}

fn decision(kept: Kept) -> Decision {
    match kept {
        Kept::InOrder(order) => Some(order.nodes).into(),
        Kept::Broken(_) => Decision::violated(),
    }
}
