//! The strongest order on which each base holds.

use crate::checkers::{Level, LevelResult, Verdict};

/// What verdicts say about a base on several orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrongestOrder {
    /// The base, as its level with sessions.
    pub base: Level,
    /// The strongest of its levels in real time, with sessions and without, that is known to hold.
    pub holds: Option<Level>,
    /// The stronger ones of which the verdicts say nothing, strongest first.
    pub open: Vec<Level>,
}

impl StrongestOrder {
    /// What the verdicts say about the usual levels above cut isolation and PSI, as far as they are asked about at all. Levels
    /// in real time that have no verdict count as not asked about.
    pub fn all(verdicts: &[&LevelResult]) -> Vec<StrongestOrder> {
        let is_counted =
            |level: &Level| level.row().usual || *level == Level::ParallelSnapshotIsolation;
        let bases = Level::EVERY.into_iter().filter(is_counted);
        bases
            .filter_map(|base| StrongestOrder::of(base, verdicts))
            .collect()
    }

    /// As `all`, for one level that counts sessions; `None` if the verdicts say nothing about it, or it has no plain form.
    pub fn of(base: Level, verdicts: &[&LevelResult]) -> Option<StrongestOrder> {
        let plain = base.plain_form()?;
        holds(verdicts, base)?;
        let in_time = Level::EVERY
            .into_iter()
            .find(|level| level.is_strong_form_of(base));
        let has_verdict = |level: &Level| {
            holds(verdicts, *level).is_some()
                || verdicts.iter().any(|result| result.level == *level)
        };
        let forms = in_time.filter(has_verdict).into_iter().chain([base, plain]);
        let mut open = Vec::new();
        for level in forms {
            match holds(verdicts, level) {
                Some(true) => {
                    return Some(StrongestOrder {
                        base,
                        holds: Some(level),
                        open,
                    });
                }
                Some(false) => {}
                None => open.push(level),
            }
        }
        Some(StrongestOrder {
            base,
            holds: None,
            open,
        })
    }
}

/// Whether a level holds, as far as its own verdict or one that decides it tells.
pub fn holds(verdicts: &[&LevelResult], level: Level) -> Option<bool> {
    verdicts.iter().find_map(|result| match result.verdict {
        Verdict::Satisfied(_) if result.level.implies(level) => Some(true),
        Verdict::Violated if level.implies(result.level) => Some(false),
        _ => None,
    })
}
