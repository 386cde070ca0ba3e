//! The levels that are decided so far.

use crate::checkers::{Level, LevelResult, Verdict, Witness};
use crate::jobs;
use crate::relations::Resolution;
use std::sync::Arc;

/// What is known of the levels of a history.
#[derive(Debug, Default)]
pub struct Results {
    /// By requested level: the result, once it is known.
    pub levels: Vec<(Level, Option<Arc<LevelResult>>)>,
    /// What was decided in addition, about PSI and about other orders.
    pub others: Vec<Arc<LevelResult>>,
    /// The writer of what each read returned, once known.
    pub resolution: Option<Arc<Resolution>>,
    /// Seconds of reading, and of checking.
    pub seconds: (f64, f64),
}

impl Results {
    /// Nothing is known yet of these levels.
    pub(super) fn new(levels: &[Level]) -> Results {
        Results {
            levels: levels.iter().map(|&level| (level, None)).collect(),
            ..Results::default()
        }
    }

    /// Adds levels whose results are to come.
    pub(super) fn expect(&mut self, levels: Vec<Level>) {
        for level in levels {
            if self.levels.iter().all(|(known, _)| *known != level) {
                self.levels.push((level, None));
            }
        }
    }

    /// Takes in the result of a requested level.
    pub(super) fn take_in(&mut self, result: Arc<LevelResult>) {
        if let Some((_, slot)) = self
            .levels
            .iter_mut()
            .find(|(level, _)| *level == result.level)
        {
            jobs::replace(slot, Some(result));
        }
    }

    /// Whether every requested level is known to be satisfied.
    pub fn all_hold(&self) -> bool {
        let holds = |result: &Option<Arc<LevelResult>>| {
            result
                .as_ref()
                .is_some_and(|result| matches!(result.verdict, Verdict::Satisfied(_)))
        };
        self.levels.iter().all(|(_, result)| holds(result))
    }

    /// The result for a level, if known.
    pub fn of(&self, level: Level) -> Option<&Arc<LevelResult>> {
        self.levels
            .iter()
            .find(|(known, _)| *known == level)
            .and_then(|(_, result)| result.as_ref())
    }

    /// All results, those in addition to the requested levels included.
    pub fn verdicts(&self) -> Vec<&LevelResult> {
        self.all().map(Arc::as_ref).collect()
    }

    /// All results, to be shared.
    pub fn all(&self) -> impl Iterator<Item = &Arc<LevelResult>> {
        let requested = self.levels.iter().filter_map(|(_, result)| result.as_ref());
        requested.chain(
            self.others
                .iter()
                .filter(|other| self.of(other.level).is_none()),
        )
    }

    /// The witness of a level, if it is known to be satisfied.
    pub fn witness(&self, level: Level) -> Option<&Witness> {
        match self.of(level).map(|result| &result.verdict) {
            Some(Verdict::Satisfied(witness)) => Some(witness),
            _ => None,
        }
    }

    /// The strongest level that is known to be satisfied.
    pub fn strongest_satisfied(&self) -> Option<Level> {
        self.levels
            .iter()
            .rev()
            .map(|(level, _)| *level)
            .find(|&level| self.witness(level).is_some())
    }
}
