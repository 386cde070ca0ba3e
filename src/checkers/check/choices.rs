//! Levels of histories in which reads have several possible writers, by choices among them.

use super::super::ambiguity::{Chooser, Found};
use super::super::decide::{Decision, Decisions};
use super::{Prepared, Run};
use crate::checkers::{Cause, Level, LevelSet, Verdict, cut_isolation};
use crate::control::Interrupt;
use crate::history::{OperationId, TransactionId};
use crate::relations::{Choice, Index, Resolution};
use std::time::Instant;

impl Run<'_> {
    /// Decides by choices of writers what leaving the ambiguous reads out does not decide: satisfied levels may become
    /// violated. Returns the levels that every choice violates, though leaving the reads out satisfies them.
    pub(super) fn choose(&mut self, prepared: &Prepared, decisions: &Decisions) -> LevelSet {
        let (resolution, index) = (&*prepared.resolution, &prepared.index);
        let chooser = Chooser::new(self.history, resolution, self.manner.diligence(), self.control);
        let undecided = |interrupt: Interrupt| Verdict::Undecided(Cause::Interrupted(interrupt));
        let mut choices: Vec<Choice> = Vec::new();
        let mut refuted = LevelSet::default();
        let tears = self.tears_reads(resolution);
        // Strongest first: the choice that satisfies a level satisfies all weaker ones.
        for (&level, (decision, seconds)) in decisions.iter().rev() {
            let begin = Instant::now();
            let verdict = match decision {
                Decision::Violated => Some(Verdict::Violated),
                Decision::Undecided(interrupt) => Some(undecided(*interrupt)),
                Decision::Satisfied(_) if tears && level.implies(Level::CutIsolation) => {
                    refuted.insert(level);
                    Some(Verdict::Violated)
                }
                Decision::Satisfied(_) => match decide_or_guess(&chooser, level, index, &choices) {
                    Ok(Some(Found::Satisfied(choice, witness))) => {
                        self.keep_sources(level, chooser.sources(&choice, &witness));
                        choices = vec![choice];
                        Some(Verdict::Satisfied(witness))
                    }
                    Ok(Some(Found::Violated(_))) => {
                        refuted.insert(level);
                        Some(Verdict::Violated)
                    }
                    Ok(Some(Found::TooMany) | None) => None,
                    Err(interrupt) => Some(undecided(interrupt)),
                },
            };
            match verdict {
                Some(verdict) => drop(self.verdicts.insert(level, (verdict, seconds + begin.elapsed().as_secs_f64()))),
                None => drop(self.verdicts.remove(&level)),
            }
        }
        // Weakest first: what violates a level violates all stronger ones.
        let mut violated = refuted;
        let anyhow = decisions.iter().filter(|(_, (decision, _))| decision.is_violated()).map(|(level, _)| *level);
        let hopeless: LevelSet = anyhow.chain(refuted.iter()).collect();
        for (&level, (_, seconds)) in decisions.iter() {
            if self.verdicts.contains_key(&level) {
                continue;
            }
            let begin = Instant::now();
            let found = match violated.iter().any(|weaker| level.implies(weaker)) {
                true => Ok(Found::Violated(None)),
                false => chooser.decide_weak(level, index, &choices, hopeless),
            };
            let verdict = match found {
                Ok(Found::Satisfied(choice, witness)) => {
                    self.keep_sources(level, chooser.sources(&choice, &witness));
                    choices = vec![choice];
                    Verdict::Satisfied(witness)
                }
                Ok(Found::Violated(evidence)) => {
                    violated.insert(level);
                    self.evidence.extend(evidence.map(|evidence| (level, *evidence)));
                    Verdict::Violated
                }
                Ok(Found::TooMany) => Verdict::Undecided(Cause::AmbiguousReads(resolution.n_ambiguous())),
                Err(interrupt) => undecided(interrupt),
            };
            self.verdicts.insert(level, (verdict, seconds + begin.elapsed().as_secs_f64()));
        }
        self.spread_violations();
        violated
    }

    /// Whether every choice of writers violates cut isolation, which takes no search.
    fn tears_reads(&self, resolution: &Resolution) -> bool {
        match self.verdicts.get(&Level::CutIsolation) {
            Some((verdict, _)) => *verdict == Verdict::Violated,
            None => cut_isolation::verdict(self.history, resolution) == Verdict::Violated,
        }
    }

    /// Keeps the writers of ambiguous reads where the order of the witness does not say them.
    fn keep_sources(&mut self, level: Level, sources: Vec<(OperationId, TransactionId)>) {
        if level <= Level::TransactionalCausalConsistency {
            self.sources.insert(level, sources);
        }
    }

    /// What is undecided although a weaker level is violated is violated, too.
    fn spread_violations(&mut self) {
        let violated: Vec<Level> =
            self.verdicts.iter().filter(|(_, (verdict, _))| *verdict == Verdict::Violated).map(|(l, _)| *l).collect();
        for (level, (verdict, _)) in &mut self.verdicts {
            let implied = violated.iter().any(|weaker| *level != *weaker && level.implies(*weaker));
            if implied && matches!(verdict, Verdict::Undecided(_)) {
                *verdict = Verdict::Violated;
            }
        }
    }

    /// SSER where reads have several possible writers.
    pub(super) fn strict_with_writers(&self, prepared: &Prepared) -> Verdict {
        let chooser = Chooser::new(self.history, &prepared.resolution, self.manner.diligence(), self.control);
        match chooser.decide(Level::StrictSerializability, &prepared.index) {
            Ok(Some(Found::Satisfied(_, witness))) => Verdict::Satisfied(witness),
            Ok(Some(Found::Violated(_))) => Verdict::Violated,
            Ok(Some(Found::TooMany) | None) => {
                Verdict::Undecided(Cause::AmbiguousReads(prepared.resolution.n_ambiguous()))
            }
            Err(interrupt) => Verdict::Undecided(Cause::Interrupted(interrupt)),
        }
    }
}

/// The answer of the strong engine where it has one, else a choice that happens to satisfy the level.
fn decide_or_guess(
    chooser: &Chooser<'_>,
    level: Level,
    index: &Index,
    choices: &[Choice],
) -> Result<Option<Found>, Interrupt> {
    // With a choice that satisfies a stronger level there is nothing left to decide.
    if choices.is_empty()
        && let Some(found) = chooser.decide(level, index)?
    {
        return Ok(Some(found));
    }
    Ok(chooser.guess(level, choices)?.map(|(choice, witness)| Found::Satisfied(choice, witness)))
}
