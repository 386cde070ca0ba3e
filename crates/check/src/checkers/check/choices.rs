//! Decides levels of histories in which reads have several possible writers by trying choices among them.

use super::super::ambiguity::{AmbiguousAnswer, Chooser, Means, Solution};
use super::super::decide::Decisions;
use super::super::decision::Decision;
use super::{CheckRun, Prepared, Request};
use crate::checkers::{Cause, Level, LevelSet, Verdict, cut_isolation};
use isoscope_model::control::Interrupt;
use isoscope_model::history::{OperationId, TransactionId};
use isoscope_model::relations::Resolution;
use std::collections::BTreeSet;
use std::time::Instant;

/// What is known while levels are decided by choices.
#[derive(Default)]
struct Progress {
    /// Asked for and not decided.
    open: BTreeSet<Level>,
    /// Violated by every choice, though not without the ambiguous reads.
    violated: LevelSet,
    /// Violated regardless of the choice, or found violated although not asked for.
    refuted: LevelSet,
    /// Found satisfied although not asked for.
    satisfied: LevelSet,
    /// Whether what is found is reported at once.
    is_final: bool,
}

impl Progress {
    /// The strongest level that an answer for `level` might settle, if it is worth asking for: `level` itself may not
    /// have been asked for and matter only for what it implies.
    fn settles(&self, means: Means, level: Level) -> Option<Level> {
        let is_open = self.open.contains(&level);
        // Of the strong levels, an order for the strongest settles the others, and so does a violation of the weakest.
        let is_bridge = matches!(level, Level::Serializability | Level::PrefixConsistency);
        let is_worth_it = match means {
            Means::Bridge(_) => is_bridge && !is_open,
            Means::Turns => is_bridge || is_open,
            // What violates the strongest weak level violates the strong ones.
            Means::Answers(_) => is_open || level == Level::TransactionalCausalConsistency,
            _ => is_open,
        };
        let is_refuted = self
            .violated
            .iter()
            .chain(self.refuted.iter())
            .any(|weaker| level.implies(weaker));
        let refutes = matches!(means, Means::Answers(_)) && !self.satisfied.contains(level);
        let may_settle = |other: Level| level.implies(other) || (refutes && other.implies(level));
        let settled = self
            .open
            .iter()
            .rev()
            .copied()
            .find(|&other| may_settle(other));
        settled.filter(|_| means.is_for(level) && is_worth_it && !is_refuted)
    }
}

impl CheckRun<'_> {
    /// Decides by choices of writers what cannot be decided without the ambiguous reads: satisfied levels may become
    /// violated. Returns the levels that every choice violates but that are satisfied without these reads. If they are
    /// `final`, verdicts are reported as soon as they are found.
    pub(super) fn choose(
        &mut self,
        prepared: &Prepared,
        decisions: &Decisions,
        is_final: bool,
    ) -> LevelSet {
        let (resolution, index) = (&*prepared.resolution, &prepared.index);
        let Request {
            history,
            control,
            mode,
            ..
        } = self.asked;
        // What is decided must still be shown when the time is over.
        let control = &control.leaving_time();
        let chooser = Chooser::new(history, resolution, index, mode.search_limits(), control);
        let tears = self.tears_reads(resolution);
        let mut progress = Progress {
            is_final,
            ..Progress::default()
        };
        for (&level, (decision, _)) in decisions {
            match decision {
                Ok(Decision::Satisfied(_)) if tears && level.implies(Level::CutIsolation) => {
                    self.settle(level, Verdict::Violated);
                    progress.violated.insert(level);
                }
                Ok(Decision::Satisfied(_)) => drop(progress.open.insert(level)),
                Ok(Decision::Violated { .. }) => progress.refuted.insert(level),
                Err(_) => {}
            }
        }
        let ended = self.choose_by_all_means(&chooser, &mut progress).err();
        for &level in &progress.open {
            let cause = ended.map_or(
                Cause::AmbiguousReads(resolution.n_ambiguous()),
                Cause::Interrupted,
            );
            self.settle(level, Verdict::Undecided(cause));
        }
        self.spread_violations();
        progress.violated
    }

    /// Decides the open levels as far as possible, the strong ones strongest first, the weak ones weakest first: an order
    /// settles all weaker levels, a violation all stronger ones.
    fn choose_by_all_means(
        &mut self,
        chooser: &Chooser<'_>,
        progress: &mut Progress,
    ) -> Result<(), Interrupt> {
        for means in chooser.means() {
            let is_tried = |level: &Level| {
                Level::WITHOUT_TIMES.contains(level) || progress.open.contains(level)
            };
            let weakest_first = Level::EVERY.into_iter().filter(is_tried);
            let levels: Vec<Level> = match means {
                Means::Answers(_) | Means::Choices => weakest_first.collect(),
                _ => weakest_first.rev().collect(),
            };
            for level in levels {
                let Some(settled) = progress.settles(means, level) else {
                    continue;
                };
                let begin = Instant::now();
                let found = chooser.by(means, level);
                if let Some((_, seconds)) = self.verdicts.get_mut(&settled) {
                    *seconds += begin.elapsed().as_secs_f64();
                }
                match found? {
                    AmbiguousAnswer::Satisfied(solution) => {
                        self.satisfied(level, &solution, chooser, progress)
                    }
                    AmbiguousAnswer::Violated(why) => {
                        progress.refuted.insert(level);
                        if let Some(&weakest) = progress
                            .open
                            .iter()
                            .find(|stronger| stronger.implies(level))
                        {
                            self.evidence.insert(weakest, why);
                        }
                        for stronger in progress
                            .open
                            .iter()
                            .copied()
                            .filter(|stronger| stronger.implies(level))
                        {
                            progress.violated.insert(stronger);
                            self.settle(stronger, Verdict::Violated);
                        }
                        progress.open.retain(|stronger| !stronger.implies(level));
                        self.tell_decided(progress);
                    }
                    AmbiguousAnswer::TooMany => {}
                }
            }
        }
        Ok(())
    }

    /// What satisfies a level satisfies the weaker ones.
    fn satisfied(
        &mut self,
        level: Level,
        solution: &Solution,
        chooser: &Chooser<'_>,
        progress: &mut Progress,
    ) {
        for &weaker in progress
            .open
            .iter()
            .filter(|weaker| level.implies(**weaker))
        {
            let witness = solution.witness(weaker);
            self.keep_sources(weaker, chooser.sources(&solution.choice, &witness));
            self.settle(weaker, Verdict::Satisfied(witness));
        }
        progress.open.retain(|weaker| !level.implies(*weaker));
        progress.satisfied.insert(level);
        self.tell_decided(progress);
    }

    /// Reports the verdicts found so far.
    fn tell_decided(&self, progress: &Progress) {
        let is_open = |level: &Level| {
            progress.open.contains(level) || matches!(self.verdicts[level].0, Verdict::Undecided(_))
        };
        for level in self
            .engine_levels()
            .into_iter()
            .filter(|level| progress.is_final && !is_open(level))
        {
            let (verdict, seconds) = &self.verdicts[&level];
            self.tell(level, verdict.clone(), *seconds);
        }
    }

    /// Changes the verdict of a level.
    fn settle(&mut self, level: Level, verdict: Verdict) {
        let seconds = self
            .verdicts
            .get(&level)
            .map_or(0.0, |(_, seconds)| *seconds);
        self.verdicts.insert(level, (verdict, seconds));
    }

    /// Whether every choice of writers violates cut isolation, which needs no search.
    fn tears_reads(&self, resolution: &Resolution) -> bool {
        match self.verdicts.get(&Level::CutIsolation) {
            Some((verdict, _)) => *verdict == Verdict::Violated,
            None => {
                cut_isolation::verdict(
                    self.asked.history,
                    resolution,
                    Level::CutIsolation,
                    self.asked.control,
                ) == Verdict::Violated
            }
        }
    }

    /// Keeps the writers of ambiguous reads if the order of the witness does not determine them.
    fn keep_sources(&mut self, level: Level, sources: Vec<(OperationId, TransactionId)>) {
        if !level.reads_newest() {
            self.sources.insert(level, sources);
        }
    }

    /// Marks undecided levels as violated if a weaker level is.
    fn spread_violations(&mut self) {
        let violated: Vec<Level> = self
            .verdicts
            .iter()
            .filter(|(_, (verdict, _))| *verdict == Verdict::Violated)
            .map(|(l, _)| *l)
            .collect();
        for (level, (verdict, _)) in &mut self.verdicts {
            let implied = violated
                .iter()
                .any(|weaker| *level != *weaker && level.implies(*weaker));
            if implied && matches!(verdict, Verdict::Undecided(_)) {
                *verdict = Verdict::Violated;
            }
        }
    }

    /// A level that respects real time if reads have several possible writers.
    pub(super) fn in_real_time_with_writers(
        &mut self,
        level: Level,
        prepared: &Prepared,
    ) -> Verdict {
        let (resolution, index) = (&*prepared.resolution, &prepared.index);
        let Request {
            history,
            control,
            mode,
            ..
        } = self.asked;
        let chooser = Chooser::new(history, resolution, index, mode.search_limits(), control);
        let found = if level.is_strong() && level.clock().is_none() {
            chooser.ask_engine(level, mode.effort)
        } else {
            match chooser.guess(level) {
                Ok(AmbiguousAnswer::TooMany) => chooser.search(level),
                found => found,
            }
        };
        match found {
            Ok(AmbiguousAnswer::Satisfied(solution)) => {
                let witness = solution.witness(level);
                self.keep_sources(level, chooser.sources(&solution.choice, &witness));
                Verdict::Satisfied(witness)
            }
            Ok(AmbiguousAnswer::Violated(why)) => {
                self.evidence.insert(level, why);
                Verdict::Violated
            }
            Ok(AmbiguousAnswer::TooMany) => {
                Verdict::Undecided(Cause::AmbiguousReads(resolution.n_ambiguous()))
            }
            Err(interrupt) => Verdict::Undecided(Cause::Interrupted(interrupt)),
        }
    }
}
