//! Parallel snapshot isolation, and the usual levels on orders that were not asked for: a level that is violated may hold
//! where sessions do not count, one that holds may hold in real time, too.

use super::{Audit, Witnesses};
use crate::checkers::lattice::{claimed, holds};
use crate::checkers::{self, CountedOrder, Findings, Level, LevelResult, Options};
use crate::control::Control;
use crate::history::History;
use crate::relations::{Resolution, has_real_time};
use std::sync::Arc;
use std::time::Duration;

/// How long this may take in any case, in seconds.
const AT_LEAST: f64 = 1.0;

/// What is left of the levels to be asked about, once some are known.
struct Questions<'a> {
    known: &'a [&'a LevelResult],
    in_time: bool,
}

/// The verdicts, in the order of levels: on PSI and, for each usual level that is known to be violated, on its plain form, for
/// each that holds, on its form in real time if the history has times; and on the levels that the database claims according
/// to files next to the history. What the known ones imply is left out. Evidence is verified as for any verdict.
///
/// This takes at most `seconds`, or one second; what is not decided by then is undecided.
pub fn on_other_orders(
    history: &History,
    resolution: &Arc<Resolution>,
    known: &[LevelResult],
    seconds: f64,
    control: &Control,
) -> Vec<LevelResult> {
    let control = control.with_time_limit(Duration::from_secs_f64(seconds.max(AT_LEAST)));
    let audit = Audit::new(history, resolution, &control);
    let review = |mut found: Findings| {
        audit.review(&mut found, Witnesses::ThatMatter);
        found.levels
    };
    let verdicts: Vec<&LevelResult> = known.iter().collect();
    let questions = Questions { known: &verdicts, in_time: has_real_time(history) };
    let claimed = claimed(&history.origin().about).into_iter().filter_map(|claimed| claimed.level.decided);
    let mut decided = match options(questions.with_sessions(claimed)) {
        None => Vec::new(),
        Some(options) => review(checkers::check_resolved(history, Arc::clone(resolution), &options, &control, &|_| {})),
    };
    let verdicts: Vec<&LevelResult> = known.iter().chain(&decided).collect();
    if let Some(options) = options(Questions { known: &verdicts, ..questions }.plain()) {
        let found = checkers::check_without_sessions(history, Arc::clone(resolution), &options, &control);
        decided.extend(review(found));
    }
    decided.sort_by_key(|result| result.level);
    decided
}

/// To decide some levels, if there are any. Evidence needs one violation; nothing is counted.
fn options(levels: Vec<Level>) -> Option<Options> {
    (!levels.is_empty()).then_some(Options { levels, max_instances: 1, counts: false, share: None })
}

impl Questions<'_> {
    /// PSI, levels in real time whose forms with sessions are not violated, and others.
    fn with_sessions(&self, others: impl Iterator<Item = Level>) -> Vec<Level> {
        let psi = Level::ParallelSnapshotIsolation;
        let in_time = Level::EVERY.into_iter().filter(|level| {
            self.in_time
                && level.row().order == CountedOrder::RealTime
                && level.without_real_time().is_some_and(|form| form == psi || self.is_usual(form))
        });
        in_time.chain([psi]).chain(others).filter(|&level| holds(self.known, level).is_none()).collect()
    }

    /// Plain levels whose forms with sessions are violated.
    fn plain(&self) -> Vec<Level> {
        let is_open = |level: &Level| holds(self.known, *level).is_none();
        let violated = Level::EVERY.into_iter().filter(|&level| {
            (level == Level::ParallelSnapshotIsolation || self.is_usual(level))
                && holds(self.known, level) == Some(false)
        });
        violated.filter_map(Level::plain_form).filter(is_open).collect()
    }

    /// Whether a level was asked for as one of the usual ones.
    fn is_usual(&self, level: Level) -> bool {
        level.row().usual && self.known.iter().any(|result| result.level == level)
    }
}
