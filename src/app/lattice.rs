//! The lattice of levels, as far as the window shows it: what is known of each level, what was promised, and checking the
//! open history against all of them.

use super::App;
use super::load::{Check, LOAD};
use super::vocabulary::Phase;
use crate::checkers::lattice::{self, LatticeLevel, PROMISES, Promise};
use crate::checkers::{Level, LevelResult, LevelSet, Verdict};
use std::time::Instant;

/// How the lattice is shown.
#[derive(Clone, Debug, Default)]
pub struct LatticeView {
    /// It is open below the strip.
    pub open: bool,
    /// What was promised, as a place among [`PROMISES`].
    pub promise: Option<usize>,
    /// The code of the level that is explained.
    pub chosen: Option<&'static str>,
}

impl LatticeView {
    /// What was promised.
    pub fn promise(&self) -> Option<&'static Promise> {
        PROMISES.get(self.promise?)
    }
}

/// What is known of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It holds; if it was not checked itself, because this one does.
    Holds(Option<Level>),
    /// It is violated; if it was not checked itself, because this one is.
    Broken(Option<Level>),
    /// It was not decided, but the transactions of the selected anomaly violate it by themselves.
    BrokenHere,
    /// It was checked and left open.
    Open,
    /// Nothing yet.
    Nothing,
}

/// What the results say about a level, by itself or by what it implies and what implies it. O(levels).
pub(super) fn known(results: &[&LevelResult], level: &LatticeLevel) -> Known {
    let own = results.iter().find(|result| Some(result.level) == level.decided).map(|result| &result.verdict);
    match own {
        Some(Verdict::Satisfied(_)) => return Known::Holds(None),
        Some(Verdict::Violated) => return Known::Broken(None),
        // What others say has been considered; linearizability may mean nothing for this history.
        Some(Verdict::Undecided(_)) => return Known::Open,
        None => {}
    }
    let follows = |result: &&LevelResult| {
        let other = lattice::level(result.level.code())?;
        match result.verdict {
            Verdict::Satisfied(_) if other.implies(level) => Some(Known::Holds(Some(result.level))),
            Verdict::Violated if level.implies(other) => Some(Known::Broken(Some(result.level))),
            _ => None,
        }
    };
    results.iter().find_map(follows).unwrap_or(Known::Nothing)
}

/// The same, where nothing is known by what `broken`, the levels that the selected anomaly violates, tells. O(levels).
pub(super) fn known_here(results: &[&LevelResult], broken: LevelSet, level: &LatticeLevel) -> Known {
    let is_broken = || {
        let broken = Level::EVERY.into_iter().filter(|weaker| broken.contains(*weaker));
        broken
            .filter_map(|weaker| lattice::level(weaker.code()))
            .any(|weaker| weaker.decided == level.decided || level.implies(weaker))
    };
    match known(results, level) {
        Known::Nothing | Known::Open if is_broken() => Known::BrokenHere,
        known => known,
    }
}

/// The strongest levels known to hold: no other one known to hold implies them.
pub(super) fn strongest(results: &[&LevelResult]) -> Vec<&'static str> {
    let holds: Vec<&LatticeLevel> =
        lattice::levels().iter().filter(|level| matches!(known(results, level), Known::Holds(_))).collect();
    let is_strongest = |level: &&&LatticeLevel| !holds.iter().any(|o| o.code != level.code && o.implies(level));
    holds.iter().filter(is_strongest).map(|level| level.code.as_str()).collect()
}

impl App {
    /// Checks the open history against every level that can be decided.
    pub(super) fn check_every_level(&mut self) {
        let Some(document) = self.state.document.as_mut().filter(|document| !document.is_busy()) else { return };
        let Some(history) = document.history.clone() else { return };
        for level in Level::EVERY {
            if document.levels.iter().all(|(known, _)| *known != level) {
                document.levels.push((level, None));
            }
        }
        document.phase = Phase::Checking;
        let (resolution, pool) = (document.resolution.clone(), self.pool.clone());
        self.start(&LOAD, move |control, outbox| {
            let check = Check { history: &history, resolution, started: Instant::now(), control, outbox };
            pool.install(|| drop(check.run(Level::EVERY.to_vec())));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_anomaly_violates_violates_all_that_implies_it() {
        let mut broken = LevelSet::default();
        broken.insert(Level::ReadYourWrites);
        let here = |code: &str| known_here(&[], broken, lattice::level(code).expect("a level")) == Known::BrokenHere;
        assert!(["RYW", "MV", "R-MV", "SER"].into_iter().all(here));
        assert!(!["P-MV", "PL2", "MW"].into_iter().any(here));
    }
}
