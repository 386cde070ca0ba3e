//! The strongest level first: as long as it holds, so do all weaker ones, and their engines sleep.
//!
//! When a level is violated or no longer certain, the next weaker ones are woken with what its engine remembers: the
//! state that it settled and the transactions since. The order of the settled ones satisfied the stronger level, so it
//! satisfies theirs, and what made settling lossless, session order and reads, counts at all levels from TCC up. At RC
//! and RA nothing is settled without loss: they sleep only where the number of sessions is not known and a horizon is set,
//! and when they are woken, all that was settled counts as settled by age.

use super::Follower;
use super::delivered::Delivered;
use super::engine::{Engine, Inheritance};
use super::record::Names;
use isoscope_check::checkers::Level;
use std::sync::Arc;

/// Whether an engine has ended, and whether it has left out reads.
pub(super) type EngineState = (bool, bool);

fn state(engine: &Engine) -> EngineState {
    (engine.stop().is_some(), engine.undecided() > 0)
}

impl Follower {
    /// Puts the engines to sleep whose levels follow from that of another one.
    pub(super) fn sleep(&mut self) {
        let by_age = self.options.horizon.is_some() && self.options.sessions.is_none();
        for place in 0..self.engines.len() {
            let level = self.engines[place].level();
            let may_sleep = by_age || !matches!(level, Level::ReadCommitted | Level::ReadAtomic);
            // The strongest one stays awake: levels come weakest first.
            if may_sleep
                && self.engines[place + 1..]
                    .iter()
                    .any(|other| covers(other, level))
            {
                self.engines[place].sleep();
            }
        }
    }

    pub(super) fn states(&self) -> Vec<EngineState> {
        self.engines.iter().map(state).collect()
    }

    /// What follows from the entrance of `t`, or from settling after it: evidence is collected, weaker levels are woken,
    /// and engines that have ended forget what they knew. `before` are the states before that.
    pub(super) fn descend(&mut self, t: &Arc<Delivered>, before: &[EngineState], names: &Names) {
        let changed: Vec<usize> = (0..self.engines.len())
            .filter(|&place| state(&self.engines[place]) != before[place])
            .collect();
        let first = self.fresh.len();
        for &place in changed.iter().rev() {
            self.note(place, t, names);
            if t.wrong.is_none() {
                let inheritance = self.engines[place].inheritance(t);
                self.wake(self.engines[place].level(), &inheritance, t, names);
            }
        }
        self.fresh[first..].sort_by_key(|finding| finding.level);
        for place in changed {
            self.end(place);
        }
    }

    /// Wakes the engines of levels weaker than this one, the strongest first, that nothing covers any longer.
    fn wake(
        &mut self,
        fallen: Level,
        inheritance: &Inheritance,
        t: &Arc<Delivered>,
        names: &Names,
    ) {
        for place in (0..self.engines.len()).rev() {
            let level = self.engines[place].level();
            let is_concerned = self.engines[place].is_asleep() && fallen.implies(level);
            if is_concerned && !self.engines.iter().any(|other| covers(other, level)) {
                self.engines[place].wake(inheritance);
                self.note(place, t, names);
                self.end(place);
            }
        }
    }

    /// An engine that has ended forgets what it knew.
    fn end(&mut self, place: usize) {
        if self.engines[place].stop().is_some() {
            self.engines[place].clear();
        }
    }
}

/// Whether a level holds as long as an engine is awake and knows of no doubt. What PSI settles does not carry over.
fn covers(engine: &Engine, level: Level) -> bool {
    let is_stronger = engine.level() != level && engine.level().implies(level);
    let is_certain = !engine.is_asleep() && state(engine) == (false, false);
    is_stronger && is_certain && engine.level() != Level::ParallelSnapshotIsolation
}
