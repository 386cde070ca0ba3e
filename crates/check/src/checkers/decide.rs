//! Decides several levels of one index in parallel, each helped by what is known about the others.

use super::beginning;
use super::components;
use super::decision::{self, Answer, Decision, Order};
use super::dependencies;
use super::each_read;
use super::facts::Facts;
use super::strong::{self, Effort};
use super::update_serializability;
use super::weak::{self, BaseOrder};
use super::{Engine, Level, Respected};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Axiom, Clock, Index, Node};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Runs the engine of one level above CI. `ground` is derived from the index: without it, SO ∪ WR or the orders that
/// lists show have a cycle.
pub(super) fn ask(
    index: &Index,
    ground: Option<&BaseOrder>,
    level: Level,
    control: &Control,
) -> Answer {
    let Some(ground) = ground else {
        return Ok(Decision::violated());
    };
    if let Some(clock) = level.clock() {
        return ask_in_time(index, level, clock, control);
    }
    if !level.counts_real_time()
        && let Some(order) = ground.serial()
    {
        return Ok(Decision::Satisfied(Order::Commits(order.to_vec().into())));
    }
    match level.row().engine {
        Engine::Dependencies(Respected::Serial) => {
            update_serializability::decide(index, ground, control)
        }
        Engine::Dependencies(respected) => {
            dependencies::decide(index, (respected, false), ground.order().to_vec(), control)
        }
        Engine::Items => {
            let serial = Level::Serializability;
            if index.has_only_items() {
                ask(index, Some(ground), serial, control)
            } else {
                ask(&index.of_items(), Some(ground), serial, control)
            }
        }
        Engine::EachRead => each_read::decide(index, level, control),
        // Only what the ground satisfies counts.
        Engine::Sessions(None) => Ok(Some(ground.order().to_vec()).into()),
        Engine::Strong(_) => match beginning::core(index, level, control)? {
            Some(core) => Ok(Decision::Violated { core }),
            None => components::decide(index, level, control),
        },
        _ => weak::decide_on(index, ground, level, control),
    }
}

/// As `ask`, for a level that respects real time and whose engine does not know of it: it is told by transactions that see what
/// has ended.
fn ask_in_time(index: &Index, level: Level, clock: Clock, control: &Control) -> Answer {
    let timed = index.with_clock(clock);
    let Some(ground) = BaseOrder::new(&timed, control)? else {
        return Ok(Decision::violated());
    };
    let without_times = level.without_real_time().unwrap_or(level);
    // Where only direct dependencies count, a path through these transactions does not.
    let direct = match without_times.respected() {
        Some(Respected::Direct) => Some(Respected::Direct),
        Some(Respected::Seen(Axiom::ReadAtomic)) => Some(Respected::Seen(Axiom::ReadAtomic)),
        _ => None,
    };
    let decision = match direct {
        Some(respected) => {
            dependencies::decide(&timed, (respected, true), ground.order().to_vec(), control)?
        }
        None => ask(&timed, Some(&ground), without_times, control)?,
    };
    Ok(
        match decision.among(|node| Some(node).filter(|&node| (node as usize) < index.n_nodes())) {
            Decision::Violated { core } if clock == Clock::ByKey => Decision::Violated {
                core: index.with_writers_of_shared_keys(core),
            },
            decision => decision,
        },
    )
}

/// Transactions that suffice for a violation of a level above CI, ascending, not minimal; `None` if it is satisfied.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(super) fn core(
    index: &Index,
    level: Level,
    control: &Control,
) -> Result<Option<Vec<Node>>, Interrupt> {
    let ground = BaseOrder::new(index, control)?;
    let core = ask(index, ground.as_ref(), level, control)?.core();
    Ok(core.map(|core| {
        if core.is_empty() {
            (0..index.n_nodes() as Node).collect()
        } else {
            core
        }
    }))
}

/// The decision about a weak level that is the only one asked for: its engine may use up the ground.
pub(super) fn decide_alone(
    index: &Index,
    ground: BaseOrder,
    level: Level,
    control: &Control,
) -> Answer {
    match ground.serial() {
        Some(_) => ask(index, Some(&ground), level, control),
        None => weak::decide_alone(index, ground, level, control),
    }
}

/// Decisions, or what stopped an engine, with the seconds each took.
pub type Decisions = BTreeMap<Level, (Answer, f64)>;

/// Decides `levels`, as far as they have a turn, in parallel in the current rayon pool, started in their turns. An engine
/// is not started, or is stopped, once a weaker level is known to be violated or a stronger one to be satisfied. `told` is
/// called with each decision as it is made.
///
/// Which levels are violated does not depend on the number of threads; the order found for a satisfied level may,
/// until [`share_orders`] has replaced it.
pub(super) fn decide_all(
    index: &Index,
    ground: Option<&BaseOrder>,
    facts: Facts,
    levels: &[Level],
    control: &Control,
    told: &(dyn Fn(Level, &Answer, f64) + Sync),
) -> Decisions {
    let shortcut = shortcut(index, levels);
    let asked = levels;
    let levels: Vec<Level> = asked.iter().copied().chain(shortcut).collect();
    let mut in_turn: Vec<(u8, Level)> = levels
        .iter()
        .filter_map(|level| Some((level.row().turn?, *level)))
        .collect();
    in_turn.sort_unstable();
    in_turn.dedup();
    let known: Mutex<Decisions> = Mutex::new(BTreeMap::new());
    let at_work: BTreeMap<Level, Control> = levels
        .iter()
        .map(|&level| (level, control.branch()))
        .collect();
    let is_known = |level: Level| known.lock().expect("no holder panics").contains_key(&level);
    let settle = |level: Level| {
        // An order for SER settles SI and PC, so they leave the processors to it for as long as an easy SER would take.
        if level.has_snapshots() && levels.contains(&Level::Serializability) {
            let patience =
                SECONDS_PER_ACCESS * (index.read_key.len() + index.write_key.len()) as f64;
            wait(Duration::from_secs_f64(patience), || {
                is_known(Level::Serializability) || at_work[&level].check().is_err()
            });
        }
        let begin = Instant::now();
        let from_others = || implied(&known.lock().expect("no holder panics"), level);
        let before = if facts.violate(level) {
            Some(Decision::violated())
        } else {
            from_others()
        };
        let engine = || {
            let core = core_above(&known.lock().expect("no holder panics"), level);
            if let Some(core) = beginning::smaller_core(index, core, level, &at_work[&level])? {
                return Ok(Decision::Violated { core });
            }
            if shortcut == Some(level) {
                ask_quickly(index, ground, level, &at_work[&level])
            } else {
                ask(index, ground, level, &at_work[&level])
            }
        };
        let decision = before.map_or_else(
            || engine().or_else(|interrupt| from_others().ok_or(interrupt)),
            Ok,
        );
        let seconds = begin.elapsed().as_secs_f64();
        if shortcut != Some(level) {
            told(level, &decision, seconds);
        }
        let mut known = known.lock().expect("no holder panics");
        known.insert(level, (decision, seconds));
        let is_implied =
            |other: &Level| !known.contains_key(other) && implied(&known, *other).is_some();
        at_work
            .iter()
            .filter(|(other, _)| is_implied(other))
            .for_each(|(_, engine)| engine.stop());
        if let Some(shortcut) = shortcut
            && asked
                .iter()
                .all(|level| level.row().turn.is_none() || known.contains_key(level))
        {
            at_work[&shortcut].stop();
        }
    };
    let settle = &settle;
    rayon::scope_fifo(|scope| {
        for (_, level) in in_turn {
            scope.spawn_fifo(move |_| settle(level));
        }
    });
    let mut known = known.into_inner().expect("no holder panics");
    share_orders(&mut known);
    known.retain(|level, _| asked.contains(level));
    known
}

/// SER, where a long history is asked for levels with snapshots but not for SER: an order for SER explains them, too, and is
/// found in half the time. SI, where each of many transactions has a session of its own and levels of dependencies are asked
/// for: what breaks them with sessions rarely breaks it without, and they have more to guess.
fn shortcut(index: &Index, levels: &[Level]) -> Option<Level> {
    let asks = |of: fn(Level) -> bool| levels.iter().any(|&level| of(level));
    let si = Level::SnapshotIsolation;
    if index.is_guessed() && asks(|level| level.is_of_dependencies() || level.is_of_each_read()) {
        return (!levels.iter().any(|level| level.implies(si))).then_some(si);
    }
    (beginning::is_long(index) && asks(Level::has_snapshots) && !asks(Level::is_serial))
        .then_some(Level::Serializability)
}

/// [`ask`] for a strong level, if the answer takes nothing exponential.
fn ask_quickly(
    index: &Index,
    ground: Option<&BaseOrder>,
    level: Level,
    control: &Control,
) -> Answer {
    let Some(ground) = ground else {
        return Ok(Decision::violated());
    };
    if ground.serial().is_some() {
        return ask(index, Some(ground), level, control);
    }
    if let Some(core) = beginning::core(index, level, control)? {
        return Ok(Decision::Violated { core });
    }
    let decided = strong::decide_with(index, level, Effort::LITTLE, control)?;
    decided.ok_or(Interrupt::Cancelled)
}

/// The weakest violated strong level, if its engine found transactions that suffice for the violation, and these.
pub(super) fn weakest_core(decisions: &Decisions) -> Option<(Level, &[Node])> {
    let violated = decisions
        .iter()
        .find_map(|(&level, (decision, _))| match decision {
            Ok(Decision::Violated { core }) if level.is_strong() => Some((level, core.as_slice())),
            _ => None,
        });
    violated.filter(|(_, core)| !core.is_empty())
}

/// The violated levels for which an engine found transactions that suffice, and these, weakest first.
pub(super) fn cores(decisions: &Decisions) -> Vec<(Level, &[Node])> {
    let violated = decisions
        .iter()
        .filter_map(|(&level, (decision, _))| match decision {
            Ok(Decision::Violated { core }) if !core.is_empty() => Some((level, core.as_slice())),
            _ => None,
        });
    violated.collect()
}

/// Transactions that suffice for the violation of a level that implies a strong one, if its engine found any.
fn core_above(decisions: &Decisions, level: Level) -> Option<Vec<Node>> {
    decisions
        .iter()
        .find_map(|(&stronger, (decision, _))| match decision {
            Ok(Decision::Violated { core })
                if level.is_strong() && stronger.implies(level) && !core.is_empty() =>
            {
                Some(core.clone())
            }
            _ => None,
        })
}

/// How long SI and PC wait for SER, per key that a transaction reads or writes.
const SECONDS_PER_ACCESS: f64 = 2e-6;

/// Waits until a condition holds, or for at most this long; meanwhile the thread does other work of its pool.
fn wait(most: Duration, is_over: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_over() && begin.elapsed() < most {
        if rayon::yield_now() != Some(rayon::Yield::Executed) {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

/// What the other levels say about a level.
pub(super) fn implied(known: &Decisions, level: Level) -> Option<Decision> {
    let mut others = known.iter().filter(|(other, _)| **other != level);
    if others.clone().any(|(other, (decision, _))| {
        level.implies_without_sessions(*other) && decision::is_violated(decision)
    }) {
        return Some(Decision::violated());
    }
    others.find_map(|(other, (decision, _))| match decision {
        Ok(Decision::Satisfied(order)) if other.implies(level) => {
            Some(Decision::Satisfied(order.clone()))
        }
        _ => None,
    })
}

/// Gives every satisfied level the order of the strongest satisfied one that implies it, so that orders do not depend
/// on which engine finished first; settles undecided levels from the others.
fn share_orders(known: &mut Decisions) {
    let before = known.clone();
    for (&level, (decision, _)) in known.iter_mut() {
        if decision.is_err()
            && let Some(settled) = implied(&before, level)
        {
            *decision = Ok(settled);
        }
        let stronger = before
            .iter()
            .rev()
            .filter(|(other, _)| other.implies(level));
        if let Ok(Decision::Satisfied(order)) = decision
            && let Some(best) = stronger
                .into_iter()
                .find_map(|(_, (decision, _))| match decision {
                    Ok(Decision::Satisfied(order)) => Some(order),
                    _ => None,
                })
        {
            order.clone_from(best);
        }
    }
}
