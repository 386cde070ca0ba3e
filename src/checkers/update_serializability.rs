//! The engine for update serializability: dependencies in an order in which the transactions that write are serial.
//!
//! Without the reads of those that only read, what is left is serializability. The order found there is the one that the engine
//! for dependencies begins with; it looks for what the readers miss and chooses other orders of versions only where it must.

use super::dependencies::{self, DependencyDecision};
use super::strong::StrongDecision;
use super::weak::BaseOrder;
use super::{Level, Respected, beginning, components};
use crate::control::{Control, Interrupt};
use crate::relations::{Index, NONE, Node};

/// Decides PL-3U on an index in which each transaction has a session of its own. Costs what serializability does of the
/// transactions that write, and then as much as parallel snapshot isolation.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first; the time is exponential in the worst case.
pub(super) fn decide(index: &Index, ground: &BaseOrder, control: &Control) -> Result<DependencyDecision, Interrupt> {
    debug_assert!((0..index.n_nodes() as Node).all(|t| index.position(t) == 0));
    control.needs(index.read_key.len() * 64)?;
    let updates = match begun(index.without_readers(), ground, control)? {
        Begun::Serial(order) => return of_readers(index, &order, control),
        Begun::With(updates) => updates,
        Begun::Cyclic => return Ok(DependencyDecision::Violated { core: (0..index.n_nodes() as Node).collect() }),
    };
    if let Some(core) = beginning::core(&updates, Level::Serializability, control)? {
        return Ok(DependencyDecision::Violated { core });
    }
    let order: Vec<Node> = match components::decide(&updates, Level::Serializability, control)? {
        StrongDecision::SatisfiedInOrder(order) => order,
        StrongDecision::SatisfiedByEvents(events) => {
            events.into_iter().filter_map(|(t, is_commit)| is_commit.then_some(t)).collect()
        }
        StrongDecision::Violated { core } => return Ok(DependencyDecision::Violated { core }),
    };
    of_readers(index, &order, control)
}

/// What the readers miss, starting from an order of the transactions that write.
fn of_readers(index: &Index, order: &[Node], control: &Control) -> Result<DependencyDecision, Interrupt> {
    dependencies::decide(index, (Respected::Serial, false), with_readers(index, order), control)
}

/// How far a first guess gets.
enum Begun {
    /// It is serial.
    Serial(Vec<Node>),
    /// It is the best one.
    With(Index),
    /// There is none.
    Cyclic,
}

/// An order in which many reads return current versions: the one that explains most of all reads, since what readers saw says
/// much about versions that nobody else read, unless times or the file know a better one of those that write.
fn begun(mut updates: Index, ground: &BaseOrder, control: &Control) -> Result<Begun, Interrupt> {
    updates.guess = Vec::new();
    let recorded = BaseOrder::new(&updates, control)?;
    updates.guess = places(ground.order());
    let by_all = BaseOrder::new(&updates, control)?;
    let best = [by_all, recorded].into_iter().flatten().min_by_key(BaseOrder::n_unexplained);
    let Some(best) = best else { return Ok(Begun::Cyclic) };
    if let Some(order) = best.serial() {
        return Ok(Begun::Serial(order.to_vec()));
    }
    updates.guess = places(best.order());
    Ok(Begun::With(updates))
}

fn places(order: &[Node]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    order.iter().zip(0..).for_each(|(&t, place)| places[t as usize] = place);
    places
}

/// An order of the transactions that write, with each that only reads next to the last one that it reads from.
fn with_readers(index: &Index, order: &[Node]) -> Vec<Node> {
    let place = places(order);
    let place_of = |t: Node| match index.writes_of(t).is_empty() {
        false => (place[t as usize] + 1, false),
        true => {
            let sources = index.read_writer[index.reads_of(t)].iter().filter(|&&writer| writer != NONE);
            (sources.map(|&writer| place[writer as usize] + 1).max().unwrap_or(0), true)
        }
    };
    let mut all: Vec<Node> = order.to_vec();
    all.sort_by_cached_key(|&t| place_of(t));
    all
}
