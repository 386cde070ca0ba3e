//! The engine for update serializability: dependencies in an order in which the transactions that write are serial.
//!
//! Without the reads of those that only read, what is left is serializability. The order found there is the one that the engine
//! for dependencies begins with; it looks for what the readers miss and chooses other orders of versions only where it must.

use super::decision::{Decision, Order};
use super::dependencies;
use super::weak::BaseOrder;
use super::{Level, Respected, beginning, components};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Index, NONE, Node};

/// Decides PL-3U on an index in which each transaction has a session of its own. Costs what serializability does of the
/// transactions that write, and then as much as parallel snapshot isolation.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first; the time is exponential in the worst case.
pub(super) fn decide(
    index: &Index,
    ground: &BaseOrder,
    control: &Control,
) -> Result<Decision, Interrupt> {
    debug_assert!((0..index.n_nodes() as Node).all(|t| index.position(t) == 0));
    control.needs(index.read_key.len() * 64)?;
    let order = match serial(index.without_readers(), ground, control)? {
        Decision::Satisfied(order) => order.commits().collect::<Vec<Node>>(),
        violated => return Ok(violated),
    };
    dependencies::decide(
        index,
        (Respected::Serial, false),
        with_readers(index, &order),
        control,
    )
}

/// Serializability of the transactions that write. The first guess is the order that explains most of all reads, since what
/// readers saw says much about versions that no other transaction read, unless times or the file know a better one of those that write.
fn serial(
    mut updates: Index,
    ground: &BaseOrder,
    control: &Control,
) -> Result<Decision, Interrupt> {
    updates.guess = Vec::new();
    let recorded = BaseOrder::new(&updates, control)?;
    updates.guess = places(ground.order());
    let by_all = BaseOrder::new(&updates, control)?;
    if let Some(best) = [by_all, recorded]
        .into_iter()
        .flatten()
        .min_by_key(BaseOrder::n_unexplained)
    {
        if let Some(order) = best.serial() {
            return Ok(Decision::Satisfied(Order::Commits(order.to_vec().into())));
        }
        updates.guess = places(best.order());
    }
    match beginning::core(&updates, Level::Serializability, control)? {
        Some(core) => Ok(Decision::Violated { core }),
        None => components::decide(&updates, Level::Serializability, control),
    }
}

fn places(order: &[Node]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    order
        .iter()
        .zip(0..)
        .for_each(|(&t, place)| places[t as usize] = place);
    places
}

/// An order of the transactions that write, with each that only reads next to the last one that it reads from.
fn with_readers(index: &Index, order: &[Node]) -> Vec<Node> {
    let place = places(order);
    let place_of = |t: Node| {
        if index.writes_of(t).is_empty() {
            let sources = index.read_writer[index.reads_of(t)]
                .iter()
                .filter(|&&writer| writer != NONE);
            (
                sources
                    .map(|&writer| place[writer as usize] + 1)
                    .max()
                    .unwrap_or(0),
                true,
            )
        } else {
            (place[t as usize] + 1, false)
        }
    };
    let mut all: Vec<Node> = order.to_vec();
    all.sort_by_cached_key(|&t| place_of(t));
    all
}
