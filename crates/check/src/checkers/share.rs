//! A share of the work on one history, for one of several machines.
//!
//! The strong levels can be divided: each shard decides some of the components of the history. The first shard does
//! everything else: weak levels, which are cheap, and histories that must be considered as a whole: those with one
//! component, with ambiguous reads, with elements of lists that were appended more than once, with wrong reads, and
//! those that are checked at levels which are neither spread nor cheap: with real time or without sessions, PSI, MSR, the
//! guarantees of sessions. Every shard determines the kind of history by itself, from the history alone:
//! shards that disagreed could not be joined.

use super::components::in_the_whole;
use super::decision::{Answer, Decision, is_violated};
use super::strong;
use super::{Level, Witness};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Component, Index};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;

/// One of several equal parts of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Which part, from 0.
    pub shard: usize,
    /// How many there are.
    pub shards: usize,
}

impl Share {
    /// Whether this shard does the work that cannot be divided.
    pub fn is_first(self) -> bool {
        self.shard == 0
    }

    /// Whether the item at this place of a list is part of the share.
    pub fn has(self, place: usize) -> bool {
        place % self.shards == self.shard
    }
}

/// What the findings are about, if that is a share of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardAssignment {
    /// The share.
    pub share: Share,
    /// Levels asked for, whether or not this shard says anything about them.
    pub levels: Vec<Level>,
    /// Number of components of the history; 1 if it is not divided, 0 if unknown.
    pub components: usize,
    /// The components of the share, ascending.
    pub mine: Vec<usize>,
}

impl ShardAssignment {
    /// A history that is not spread: the first shard has it all, the others nothing.
    pub fn whole(share: Share, levels: Vec<Level>) -> ShardAssignment {
        ShardAssignment {
            share,
            levels,
            components: 1,
            mine: if share.is_first() {
                vec![0]
            } else {
                Vec::new()
            },
        }
    }

    /// A history of which nothing could be found out.
    pub fn unknown(share: Share, levels: Vec<Level>) -> ShardAssignment {
        ShardAssignment {
            share,
            levels,
            components: 0,
            mine: Vec::new(),
        }
    }
}

/// The levels that components can be decided at, strongest first.
fn spread() -> impl Iterator<Item = Level> {
    Level::ALL
        .into_iter()
        .rev()
        .filter(|level| level.row().spreads)
}

/// The components of a share, ascending: components are dealt out from the largest to the smallest, each to the shard
/// that has least, so the first shard never goes without. The same for every shard. O(components × log, + shards).
pub(super) fn assign_shards(components: &[Component], share: Share) -> Vec<usize> {
    let mut order: Vec<usize> = (0..components.len()).collect();
    order.sort_by_key(|&place| (std::cmp::Reverse(components[place].size()), place));
    let mut hands: std::collections::BTreeSet<(usize, usize)> =
        (0..share.shards).map(|shard| (0, shard)).collect();
    let mut mine = Vec::new();
    for place in order {
        let Some((load, shard)) = hands.pop_first() else {
            break;
        };
        if shard == share.shard {
            mine.push(place);
        }
        // Even an empty component is some work.
        hands.insert((load + components[place].size() + 1, shard));
    }
    mine.sort_unstable();
    mine
}

/// The answer for one level on the components of a share.
#[derive(Clone, Debug)]
pub(super) enum Shared {
    /// Each is satisfied; by component, the witness.
    Satisfied(Vec<(usize, Witness)>),
    /// One is violated.
    Violated,
    /// One was not decided.
    Undecided(Interrupt),
}

/// Decides `levels` (those that spread) on the components `mine` in parallel in the current rayon pool, strongest levels
/// first; returns by level the answer and the seconds that all components took together. Once one is violated, the
/// level is not decided for the others any more.
pub(super) fn decide_mine(
    index: &Index,
    components: &[Component],
    mine: &[usize],
    levels: &[Level],
    control: &Control,
) -> BTreeMap<Level, (Shared, f64)> {
    let branches: Vec<(Level, Control)> = spread()
        .filter(|level| levels.contains(level))
        .map(|level| (level, control.branch()))
        .collect();
    let work = Work {
        index,
        components,
        branches: &branches,
        decided: Mutex::default(),
    };
    let pairs = branches
        .iter()
        .flat_map(|branch| mine.iter().map(move |&place| (branch, place)));
    rayon::scope_fifo(|scope| {
        for ((level, branch), place) in pairs {
            let work = &work;
            scope.spawn_fifo(move |_| work.decide(place, *level, branch));
        }
    });
    let decided = work.decided.into_inner().expect("no holder panics");
    branches
        .iter()
        .map(|(level, _)| (*level, sum_up(index, *level, &decided)))
        .collect()
}

/// By component and level: what is known, in nodes of the whole, and the seconds it took.
type Decided = BTreeMap<(usize, Level), (Answer, f64)>;

struct Work<'a> {
    index: &'a Index,
    components: &'a [Component],
    branches: &'a [(Level, Control)],
    decided: Mutex<Decided>,
}

impl Work<'_> {
    /// Decides a level of a component, unless that follows from another level.
    fn decide(&self, place: usize, level: Level, branch: &Control) {
        let begin = Instant::now();
        let before = implied(
            &self.decided.lock().expect("no holder panics"),
            place,
            level,
        );
        let decide = || {
            let component = &self.components[place];
            branch.check()?;
            Ok(in_the_whole(
                component,
                strong::decide(&component.index(self.index), level, branch)?,
            ))
        };
        let decision = before.map_or_else(decide, Ok);
        if is_violated(&decision) {
            let stronger = self
                .branches
                .iter()
                .filter(|(other, _)| other.implies(level));
            stronger.for_each(|(_, branch)| branch.stop());
        }
        let seconds = begin.elapsed().as_secs_f64();
        self.decided
            .lock()
            .expect("no holder panics")
            .insert((place, level), (decision, seconds));
    }
}

/// What the other levels of a component imply: what satisfies a level satisfies the weaker ones, what violates a level
/// violates the stronger ones.
fn implied(decided: &Decided, place: usize, level: Level) -> Option<Decision> {
    let others = || {
        spread().filter_map(|other| Some((other, decided.get(&(place, other))?.0.as_ref().ok()?)))
    };
    let satisfied =
        others().find(|(other, d)| other.implies(level) && matches!(d, Decision::Satisfied(_)));
    let violated = others().find(|(other, d)| level.implies(*other) && d.is_violated());
    satisfied.or(violated).map(|(_, decision)| decision.clone())
}

/// The combined answer of the components for a level. A component has the order of the strongest level it satisfies, so
/// it does not depend on which level was decided first.
fn sum_up(index: &Index, level: Level, decided: &Decided) -> (Shared, f64) {
    let of_level = || decided.iter().filter(|((_, other), _)| *other == level);
    let seconds = of_level().map(|(_, (_, seconds))| seconds).sum();
    let mut orders = Vec::new();
    let mut open = None;
    for (&(place, _), (decision, _)) in of_level() {
        match implied(decided, place, level).map_or_else(|| decision.clone(), Ok) {
            Ok(Decision::Satisfied(order)) => orders.push((place, order.witness(level, index))),
            Ok(Decision::Violated { .. }) => return (Shared::Violated, seconds),
            Err(interrupt) => open = open.or(Some(interrupt)),
        }
    }
    (
        open.map_or(Shared::Satisfied(orders), Shared::Undecided),
        seconds,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use isoscope_testing as common;

    /// Two sessions that update one version, in addition to three consistent pairs of sessions.
    const TEXT: &str = "a: [r x 0, w x 1]\nb: [r x 0, w x 2]\nc: [w y 1]\nd: [r y 1, w y 2]\n\
                        e: [w z 1]\nf: [r z 1]\ng: [w u 1]\nh: [r u 1] [r u 1]";

    #[test]
    fn every_component_is_dealt_out_once() {
        let index = common::index(&common::history(TEXT));
        let components = Component::all(&index).unwrap();
        assert_eq!(components.len(), 4);
        for shards in 1..7 {
            let hands =
                (0..shards).map(|shard| assign_shards(&components, Share { shard, shards }));
            let hands: Vec<Vec<usize>> = hands.collect();
            let mut all: Vec<usize> = hands.iter().flatten().copied().collect();
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2, 3]);
            assert!(!hands[0].is_empty());
            assert!(shards > 4 || hands.iter().all(|hand| !hand.is_empty()));
        }
    }

    #[test]
    fn a_share_is_violated_only_by_its_own_components() {
        let index = common::index(&common::history(TEXT));
        let components = Component::all(&index).unwrap();
        let levels: Vec<Level> = spread().collect();
        for mine in [vec![0], vec![1, 2], vec![0, 3], vec![]] {
            let decided = decide_mine(&index, &components, &mine, &levels, &Control::new());
            let violated = mine.contains(&0);
            for (level, (shared, _)) in &decided {
                match shared {
                    Shared::Satisfied(orders) => {
                        assert!(!violated || *level == Level::PrefixConsistency);
                        assert_eq!(
                            orders.iter().map(|(place, _)| *place).collect::<Vec<_>>(),
                            mine
                        );
                    }
                    Shared::Violated => assert!(violated && *level != Level::PrefixConsistency),
                    Shared::Undecided(interrupt) => panic!("{level}: {interrupt}"),
                }
            }
            assert_eq!(decided.len(), 3);
        }
    }

    #[test]
    fn a_stopped_share_is_undecided() {
        let index = common::index(&common::history(TEXT));
        let components = Component::all(&index).unwrap();
        let control = Control::new();
        control.stop();
        let decided = decide_mine(
            &index,
            &components,
            &[0, 1],
            &spread().collect::<Vec<_>>(),
            &control,
        );
        assert!(
            decided
                .values()
                .all(|(shared, _)| matches!(shared, Shared::Undecided(Interrupt::Cancelled)))
        );
    }
}
