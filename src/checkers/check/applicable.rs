//! Levels that do not apply to every history, and what is reported about them.
//!
//! LIN is defined for lightweight transactions with times. For any other history it is undecided, whatever the weaker
//! levels say: it implies them for lightweight transactions only. SSER is serializability in real time: if no times
//! order anything, it is violated if SER is, since then no serial order exists, and else undecided.

use crate::checkers::linearizability::objection;
use crate::checkers::{Cause, Checker, Findings, Level, LevelResult, Options, Share, Verdict};
use crate::history::History;
use crate::relations::has_real_time;

/// The levels that were asked for, and the levels to decide instead.
pub(super) struct Applicable<'a> {
    asked: &'a [Level],
    decided: Vec<Level>,
    checker: Checker,
    /// Why LIN is undecided, if it does not apply.
    not_linear: Option<Cause>,
    /// The first of several shards reports what needs no check.
    tells_known: bool,
    /// SER answers for SSER.
    serial_is_strict: bool,
}

impl<'a> Applicable<'a> {
    /// `asked` are the levels of `options`, each once. A checker reports the levels it cannot decide itself.
    /// O(operations).
    pub(super) fn new(history: &History, asked: &'a [Level], options: &Options) -> Applicable<'a> {
        let checker = options.checker;
        let (linear, strict) = (Level::Linearizability, Level::StrictSerializability);
        let is_asked = |level: Level| asked.contains(&level) && checker.decides(level);
        let has_real_time = !(is_asked(linear) || is_asked(strict)) || has_real_time(history);
        let not_linear = match (is_asked(linear), has_real_time) {
            (true, true) => objection(history).map(Cause::Unsupported),
            (true, false) => Some(Cause::NoTimestamps),
            (false, _) => None,
        };
        let serial_is_strict = is_asked(strict) && !has_real_time;
        let mut decided = asked.to_vec();
        decided.retain(|&level| !(level == linear && not_linear.is_some() || level == strict && serial_is_strict));
        if serial_is_strict && !decided.contains(&Level::Serializability) {
            decided.push(Level::Serializability);
        }
        let tells_known = options.share.is_none_or(Share::is_first);
        Applicable { asked, decided, checker, not_linear, tells_known, serial_is_strict }
    }

    /// The levels to decide, all applicable to the history.
    pub(super) fn decided(&self) -> &[Level] {
        &self.decided
    }

    /// What is known about LIN without any check.
    pub(super) fn known(&self) -> Option<LevelResult> {
        let cause = self.not_linear.clone().filter(|_| self.tells_known)?;
        Some(LevelResult {
            level: Level::Linearizability,
            verdict: Verdict::Undecided(cause),
            checker: self.checker.name(),
            seconds: 0.0,
            sources: Vec::new(),
            assuming: Vec::new(),
        })
    }

    /// What a decided level says about the levels asked for.
    pub(super) fn said_by(&self, result: &LevelResult) -> impl Iterator<Item = LevelResult> + use<> {
        let itself = self.asked.contains(&result.level).then(|| result.clone());
        let strict = (self.serial_is_strict && result.level == Level::Serializability).then(|| LevelResult {
            level: Level::StrictSerializability,
            verdict: match result.verdict {
                Verdict::Violated => Verdict::Violated,
                Verdict::Satisfied(_) | Verdict::Undecided(_) => Verdict::Undecided(Cause::NoTimestamps),
            },
            sources: Vec::new(),
            ..result.clone()
        });
        itself.into_iter().chain(strict)
    }

    /// Findings about the decided levels as findings about those asked for, in their order.
    pub(super) fn complete(&self, mut findings: Findings) -> Findings {
        let mut results: Vec<LevelResult> = self.known().into_iter().collect();
        results.extend(findings.levels.drain(..).flat_map(|result| self.said_by(&result)));
        results.sort_by_key(|result| self.asked.iter().position(|level| *level == result.level));
        if let Some(shared) = &mut findings.shared {
            shared.levels = self.asked.to_vec();
        }
        Findings { levels: results, ..findings }
    }
}
