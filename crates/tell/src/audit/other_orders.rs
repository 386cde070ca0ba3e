//! Parallel snapshot isolation, and the usual levels on orders that were not asked for: a level that is violated may hold
//! where sessions do not count, one that holds may hold in real time, too.

use super::{Audit, Witnesses};
use isoscope_check::checkers::lattice::{claimed, holds};
use isoscope_check::checkers::{self, CountedOrder, Level, LevelResult, Options};
use isoscope_model::control::Control;
use isoscope_model::history::History;
use isoscope_model::relations::{Resolution, has_real_time};
use std::sync::Arc;
use std::time::Duration;

/// How long the levels of an order may take in any case, in seconds.
const AT_LEAST: f64 = 3.0;

/// What is left of the levels to be asked about, once some are known.
struct Questions<'a> {
    known: &'a [&'a LevelResult],
    in_time: bool,
}

/// The verdicts, in the order of levels: on PSI and, for each usual level that is known to be violated, on its plain form, for
/// each that holds, on its form in real time if the history has times; and on the levels that the database claims according
/// to files next to the history. What the known ones imply is left out. Evidence is verified as for any verdict.
///
/// PSI is decided in any case. Then the claims, the plain levels and those in real time have `seconds` each, at least three;
/// what is not decided by then is undecided.
pub fn on_other_orders(
    history: &History,
    resolution: &Arc<Resolution>,
    known: &[LevelResult],
    seconds: f64,
    control: &Control,
) -> Vec<LevelResult> {
    let in_time = has_real_time(history);
    let claimed: Vec<Level> = claimed(&history.origin().about)
        .into_iter()
        .map(|claim| claim.level)
        .collect();
    let mut decided: Vec<LevelResult> = Vec::new();
    let mut decide = |levels: &dyn Fn(Questions<'_>) -> Vec<Level>, control: &Control| {
        let verdicts: Vec<&LevelResult> = known.iter().chain(&decided).collect();
        let Some(options) = options(levels(Questions {
            known: &verdicts,
            in_time,
        })) else {
            return;
        };
        let mut found = if options
            .levels
            .iter()
            .all(|level| level.plain_of().is_some())
        {
            checkers::check_without_sessions(history, Arc::clone(resolution), &options, control)
        } else {
            checkers::check_resolved(history, Arc::clone(resolution), &options, control, &|_| {})
        };
        Audit::new(history, resolution, &control.overtime())
            .review(&mut found, Witnesses::ThatMatter);
        decided.append(&mut found.levels);
    };
    let limited = || control.with_time_limit(Duration::from_secs_f64(seconds.max(AT_LEAST)));
    decide(
        &|questions| questions.open([Level::ParallelSnapshotIsolation]),
        control,
    );
    decide(
        &|questions| questions.open(claimed.iter().copied()),
        &limited(),
    );
    decide(&|questions| questions.plain(), &limited());
    decide(&|questions| questions.real_time(), &limited());
    decided.sort_by_key(|result| result.level);
    decided
}

/// To decide some levels, if there are any. Evidence needs one violation; nothing is counted.
fn options(levels: Vec<Level>) -> Option<Options> {
    (!levels.is_empty()).then_some(Options {
        levels,
        max_instances: 1,
        counts: false,
    })
}

impl Questions<'_> {
    /// Those of some levels that are not known.
    fn open(&self, levels: impl IntoIterator<Item = Level>) -> Vec<Level> {
        levels
            .into_iter()
            .filter(|&level| holds(self.known, level).is_none())
            .collect()
    }

    /// Levels in real time whose forms with sessions are not violated.
    fn real_time(&self) -> Vec<Level> {
        let asks = |level: &Level| {
            let form = level.without_real_time();
            self.in_time
                && level.row().order == CountedOrder::RealTime
                && form.is_some_and(|form| {
                    form == Level::ParallelSnapshotIsolation || self.is_usual(form)
                })
        };
        self.open(Level::EVERY.into_iter().filter(asks))
    }

    /// Plain levels whose forms with sessions are violated.
    fn plain(&self) -> Vec<Level> {
        let violated = Level::EVERY.into_iter().filter(|&level| {
            (level == Level::ParallelSnapshotIsolation || self.is_usual(level))
                && holds(self.known, level) == Some(false)
        });
        self.open(violated.filter_map(Level::plain_form))
    }

    /// Whether a level was asked for as one of the usual ones.
    fn is_usual(&self, level: Level) -> bool {
        level.row().usual && self.known.iter().any(|result| result.level == level)
    }
}
