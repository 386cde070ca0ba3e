//! Levels of a history in which some reads have several possible writers: satisfied if one choice of writers is.

use super::decide::{self, Decision, Facts};
use super::{Level, Pattern, Witness, read_consistency};
use crate::control::{Control, Interrupt};
use crate::history::History;
use crate::relations::{Choice, Index, Resolution, Source};

/// Most attempts on one level, whatever the size of the history.
const MOST_ATTEMPTS: u64 = 1 << 17;

/// Most operations gone through for one level, over all attempts.
const MOST_OPERATIONS: u64 = 50_000_000;

/// Fewest attempts on one level.
const FEWEST_ATTEMPTS: u64 = 8;

/// What trying choices has led to.
pub(super) enum Found {
    /// This choice satisfies the level.
    Satisfied(Choice, Witness),
    /// Every choice violates it.
    Violated,
    /// There are too many choices to try them all.
    TooMany,
}

/// The facts about one index of a resolution, without listing anything.
pub(super) fn facts(
    history: &History,
    resolution: &Resolution,
    index: &Index,
    control: &Control,
) -> Result<Facts, Interrupt> {
    let reads = read_consistency::instances(history, resolution, index, 0, control)?;
    Ok(facts_of(&reads.counts.keys().copied().collect::<Vec<_>>(), index))
}

/// The facts, given which patterns of single reads occur.
pub(super) fn facts_of(patterns: &[Pattern], index: &Index) -> Facts {
    Facts {
        wrong_reads: patterns.iter().any(|&pattern| pattern <= Pattern::IntermediateRead),
        non_repeatable_reads: patterns.contains(&Pattern::NonRepeatableRead),
        cyclic: decide::is_cyclic(index),
    }
}

/// Tries choices for one level above CI.
pub(super) struct Chooser<'a> {
    pub(super) history: &'a History,
    pub(super) resolution: &'a Resolution,
    pub(super) control: &'a Control,
}

impl Chooser<'_> {
    /// Decides a level that is not violated when all ambiguous reads are left out. `first` are choices to try first.
    ///
    /// A few plain choices are tried, then all of them, read by read: a level that is violated with some of the reads
    /// left out is violated with them, so whole branches are passed over.
    pub(super) fn decide(&self, level: Level, first: &[Choice]) -> Result<Found, Interrupt> {
        for choice in first.iter().cloned().chain(self.plain_choices()) {
            if let Some(witness) = self.attempt(level, &choice)? {
                return Ok(Found::Satisfied(choice, witness));
            }
        }
        let operations = self.history.n_operations().max(1) as u64;
        let mut attempts = (MOST_OPERATIONS / operations).clamp(FEWEST_ATTEMPTS, MOST_ATTEMPTS);
        let candidates: Vec<u32> = self.resolution.ambiguous().map(|(_, sources)| sources.len() as u32).collect();
        let mut choice = self.resolution.choice_of_none();
        // The reads before `place` have a source, and with these the level is satisfied.
        let mut place = 0;
        loop {
            let next = choice[place].map_or(0, |candidate| candidate + 1);
            if next == candidates[place] {
                choice[place] = None;
                match place.checked_sub(1) {
                    Some(before) => place = before,
                    None => return Ok(Found::Violated),
                }
                continue;
            }
            if attempts == 0 {
                return Ok(Found::TooMany);
            }
            attempts -= 1;
            choice[place] = Some(next);
            if let Some(witness) = self.attempt(level, &choice)? {
                if place + 1 == candidates.len() {
                    return Ok(Found::Satisfied(choice, witness));
                }
                place += 1;
            }
        }
    }

    /// Choices that are good guesses: all reads take their first candidate, their last one, or ⊥ where they can.
    fn plain_choices(&self) -> Vec<Choice> {
        let of = |pick: &dyn Fn(&[Source]) -> usize| -> Choice {
            self.resolution.ambiguous().map(|(_, sources)| Some(pick(sources) as u32)).collect()
        };
        let last_writer = |sources: &[Source]| {
            let writers = sources.iter().filter(|source| !matches!(source, Source::Initial { .. })).count();
            writers.saturating_sub(1)
        };
        let mut choices = vec![of(&|_| 0), of(&last_writer), of(&|sources| sources.len() - 1)];
        choices.dedup();
        choices
    }

    /// The witness of a level under a choice that may leave reads out, if there is one.
    pub(super) fn attempt(&self, level: Level, choice: &Choice) -> Result<Option<Witness>, Interrupt> {
        self.control.check()?;
        let index = Index::build_with(self.history, self.resolution, choice, self.control)?;
        if facts(self.history, self.resolution, &index, self.control)?.violate(level) {
            return Ok(None);
        }
        Ok(match decide::ask(&index, level, self.control)? {
            Decision::Satisfied(order) => Some(order.witness(level, &index)),
            _ => None,
        })
    }
}
