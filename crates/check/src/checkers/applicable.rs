//! Levels that do not apply to every history, and what is reported about them.
//!
//! LIN is defined for lightweight transactions with times. For any other history it is undecided, whatever the weaker
//! levels say: it implies them for lightweight transactions only. SSER is serializability in real time: if no times
//! order anything, it is violated if SER is, since then no serial order exists, and else undecided; likewise the other levels
//! in real time.

use super::{Cause, Checker, Event, Findings, Level, LevelResult, Options, Verdict, Witness};
use isoscope_model::history::{History, Linear, TransactionId, Workload};
use isoscope_model::relations::has_real_time;
use std::sync::Arc;

/// Has `decide` answer the levels of `options` that need a check, each once and all applicable to the history, and
/// completes its findings, as well as what it tells its observer, by the other levels. O(operations) apart from
/// `decide`.
pub fn decide_applicable(
    history: &History,
    checker: Checker,
    options: &Options,
    observe: &(dyn Fn(&LevelResult) + Sync),
    decide: impl FnOnce(&Options, &(dyn Fn(&LevelResult) + Sync)) -> Findings,
) -> Findings {
    let mut levels: Vec<Level> = Vec::new();
    options.levels.iter().for_each(|level| {
        if !levels.contains(level) {
            levels.push(*level)
        }
    });
    if let Some(workload) = history
        .workload()
        .filter(|workload| workload.no_levels.is_some())
    {
        let result = |level: Level| {
            let verdict = of_workload(workload, level);
            LevelResult::new(level, verdict, checker.name(), 0.0)
        };
        let findings = Findings {
            checker,
            levels: levels.into_iter().map(result).collect(),
            assumptions: history.assumptions().to_vec(),
            ..Findings::default()
        };
        findings.levels.iter().for_each(observe);
        return findings;
    }
    let applicable = Applicable::new(history, &levels, checker);
    applicable.known().iter().for_each(observe);
    let options = Options {
        levels: applicable.decided.clone(),
        ..options.clone()
    };
    let tell = |result: &LevelResult| {
        applicable
            .said_by(result)
            .for_each(|result| observe(&result))
    };
    applicable.complete(decide(&options, &tell))
}

/// What a history of a data type of its own says about a level. Where an order in real time explains all answers, every level
/// holds; else only those are known to be violated that require one, or what its rules have found violated.
fn of_workload(workload: &Workload, level: Level) -> Verdict {
    match &workload.linear {
        Some(Linear::Holds(order)) => Verdict::Satisfied(serial(level, order)),
        Some(Linear::Broken(weakest)) if is_at_least(level, *weakest) => Verdict::Violated,
        _ => {
            let why = workload.no_levels.unwrap_or_default().to_owned();
            Verdict::Undecided(Cause::Unsupported(why))
        }
    }
}

/// Whether a level of single calls in real time implies another: linearizability is strict serializability for them.
fn is_at_least(level: Level, other: Level) -> bool {
    level.implies(other)
        || level == Level::Linearizability && Level::StrictSerializability.implies(other)
}

/// One transaction after the other, as the level has it shown.
fn serial(level: Level, order: &[TransactionId]) -> Witness {
    if !level.has_snapshots() {
        return Witness::CommitOrder(Arc::new(order.to_vec()));
    }
    let steps = order
        .iter()
        .flat_map(|&t| [Event::Start(t), Event::Commit(t)]);
    Witness::Events(Arc::new(steps.collect()))
}

/// A level without real time, and without sessions if these do not count.
pub(super) fn without_times(level: Level) -> Option<Level> {
    let without = level.without_real_time()?;
    if level.plain_of().is_some() {
        without.plain_form()
    } else {
        Some(without)
    }
}

/// Why linearizability means nothing for this history, if so. O(operations).
pub fn not_linear(history: &History, has_real_time: bool) -> Option<Cause> {
    if has_real_time {
        isoscope_model::history::objection_to_lightweight(history).map(Cause::Unsupported)
    } else {
        Some(Cause::NoTimestamps)
    }
}

/// The levels that were asked for, and the levels to decide instead.
struct Applicable<'a> {
    asked: &'a [Level],
    decided: Vec<Level>,
    checker: Checker,
    /// Why LIN is undecided, if it does not apply.
    not_linear: Option<Cause>,
    /// Levels that respect real time, where no times order anything: the same levels without it answer for them.
    without_times: Vec<(Level, Level)>,
}

impl<'a> Applicable<'a> {
    /// `asked` are distinct levels. A checker reports the levels it cannot decide itself. O(operations).
    fn new(history: &History, asked: &'a [Level], checker: Checker) -> Applicable<'a> {
        let linear = Level::Linearizability;
        let is_asked = |level: &Level| checker.decides(*level);
        let counts_time = |level: &Level| is_asked(level) && level.counts_real_time();
        let has_real_time = !asked.iter().any(counts_time) || has_real_time(history);
        let counts_linear = asked.contains(&linear) && is_asked(&linear);
        let not_linear = if counts_linear {
            not_linear(history, has_real_time)
        } else {
            None
        };
        let without_times: Vec<(Level, Level)> = if has_real_time {
            Vec::new()
        } else {
            asked
                .iter()
                .filter(|l| is_asked(l))
                .filter_map(|&l| Some((l, without_times(l)?)))
                .collect()
        };
        let mut decided = asked.to_vec();
        decided.retain(|level| !(*level == linear && not_linear.is_some()));
        for (level, answer) in &without_times {
            decided.retain(|other| other != level);
            if !decided.contains(answer) {
                decided.push(*answer);
            }
        }
        Applicable {
            asked,
            decided,
            checker,
            not_linear,
            without_times,
        }
    }

    /// What is known about LIN without any check.
    fn known(&self) -> Option<LevelResult> {
        let cause = self.not_linear.clone()?;
        Some(LevelResult::new(
            Level::Linearizability,
            Verdict::Undecided(cause),
            self.checker.name(),
            0.0,
        ))
    }

    /// What a decided level says about the levels asked for.
    fn said_by(&self, result: &LevelResult) -> impl Iterator<Item = LevelResult> + use<> {
        let itself = self.asked.contains(&result.level).then(|| result.clone());
        let answers = self
            .without_times
            .iter()
            .filter(|(_, answer)| *answer == result.level);
        let in_time: Vec<LevelResult> = answers
            .map(|&(level, _)| LevelResult {
                level,
                verdict: match result.verdict {
                    Verdict::Violated => Verdict::Violated,
                    Verdict::Satisfied(_) | Verdict::Undecided(_) => {
                        Verdict::Undecided(Cause::NoTimestamps)
                    }
                },
                sources: Vec::new(),
                ..result.clone()
            })
            .collect();
        itself.into_iter().chain(in_time)
    }

    /// Findings about the decided levels as findings about those asked for, in their order.
    fn complete(&self, mut findings: Findings) -> Findings {
        let mut results: Vec<LevelResult> = self.known().into_iter().collect();
        results.extend(
            findings
                .levels
                .drain(..)
                .flat_map(|result| self.said_by(&result)),
        );
        results.sort_by_key(|result| self.asked.iter().position(|level| *level == result.level));
        // What violates the same level without real time is what violates it.
        for (level, answer) in &self.without_times {
            let violated = findings
                .violations
                .iter_mut()
                .filter(|violation| violation.levels.contains(*answer));
            violated.for_each(|violation| violation.levels.insert(*level));
        }
        Findings {
            levels: results,
            ..findings
        }
    }
}
