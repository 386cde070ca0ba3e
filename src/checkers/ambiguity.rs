//! Levels of a history in which some reads have several possible writers: satisfied if one choice of writers is.

use super::decide::{self, Decision, Facts, Order};
use super::refutation::{self, Searched};
use super::strong::{self, Effort, OpenDecision};
use super::weak::Ground;
use super::{Level, LevelSet, Violation, Witness, read_consistency};
use crate::control::{Control, Interrupt};
use crate::history::{History, OperationId, TransactionId};
use crate::relations::{Choice, Index, Resolution, Source};
use rustc_hash::FxHashSet;

/// Most attempts on one level where it need not be decided, whatever the size of the history.
const MOST_ATTEMPTS: u64 = 1 << 17;

/// Most operations gone through then for one level, over all attempts.
const MOST_OPERATIONS: u64 = 20_000_000;

/// Fewest attempts on one level.
const FEWEST_ATTEMPTS: u64 = 8;

/// When trying choices ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// When the level is decided.
    UntilDecided,
    /// After some seconds' worth of them at the latest.
    Bounded,
}

/// What trying choices has led to.
pub(super) enum Found {
    /// Some choice satisfies the level.
    Satisfied(Choice, Witness),
    /// Every choice violates it; with the evidence, if that was found on the way.
    Violated(Option<Box<Violation>>),
    /// More choices than allowed would have to be tried.
    TooMany,
}

/// Tries choices for one level above CI.
pub(super) struct Chooser<'a> {
    history: &'a History,
    resolution: &'a Resolution,
    effort: Effort,
    control: &'a Control,
    /// Most attempts on one level.
    pub(super) most_attempts: u64,
}

impl<'a> Chooser<'a> {
    /// With as many attempts as it takes, or as the size of the history and the effort allow.
    pub(super) fn new(
        history: &'a History,
        resolution: &'a Resolution,
        (effort, patience): (Effort, Patience),
        control: &'a Control,
    ) -> Chooser<'a> {
        let operations = history.n_operations().max(1) as u64;
        let allowed = if effort == Effort::Any { MOST_OPERATIONS } else { MOST_OPERATIONS / 16 };
        let most_attempts = match patience {
            Patience::UntilDecided => u64::MAX,
            Patience::Bounded => (allowed / operations).clamp(FEWEST_ATTEMPTS, MOST_ATTEMPTS),
        };
        Chooser { history, resolution, effort, control, most_attempts }
    }

    /// The answer of the strong engine, which decides the writers together with the order; `None` for weak levels. `index`
    /// is that of no choice.
    pub(super) fn decide(&self, level: Level, index: &Index) -> Result<Option<Found>, Interrupt> {
        if level < Level::PrefixConsistency {
            return Ok(None);
        }
        self.ask_engine(level, index, self.effort)
    }

    fn ask_engine(&self, level: Level, index: &Index, effort: Effort) -> Result<Option<Found>, Interrupt> {
        let decided = strong::decide_open(self.history, self.resolution, index, level, effort, self.control)?;
        Ok(match decided {
            None => None,
            Some(OpenDecision::Violated) => Some(Found::Violated(None)),
            Some(OpenDecision::Satisfied(order, choice)) => {
                let order = Order::of(order).expect("what is satisfied has an order");
                let chosen = Index::build_with(self.history, self.resolution, &choice, self.control)?;
                Some(Found::Satisfied(choice, order.witness(level, &chosen)))
            }
        })
    }

    /// The answer for a level that the strong engine does not decide. First come choices that others have found, then
    /// what the strong engine finds for a level above that is not `violated`: it may do in one go what takes many trials.
    pub(super) fn decide_weak(
        &self,
        level: Level,
        index: &Index,
        first: &[Choice],
        violated: LevelSet,
    ) -> Result<Found, Interrupt> {
        for choice in first {
            if let Some(witness) = self.attempt(level, choice)? {
                return Ok(Found::Satisfied(choice.clone(), witness));
            }
        }
        if let Some(found) = self.look_above(level, index, violated, Effort::Little)? {
            return Ok(found);
        }
        match self.search(level)? {
            Found::TooMany => Ok(self.look_above(level, index, violated, self.effort)?.unwrap_or(Found::TooMany)),
            found => Ok(found),
        }
    }

    /// A choice that satisfies a level above `level`, found by the strong engine; none of those `violated` is asked.
    fn look_above(
        &self,
        level: Level,
        index: &Index,
        violated: LevelSet,
        effort: Effort,
    ) -> Result<Option<Found>, Interrupt> {
        let stronger = [Level::Serializability, Level::PrefixConsistency];
        for stronger in stronger.into_iter().filter(|&stronger| !violated.contains(stronger)) {
            if let Some(Found::Satisfied(choice, _)) = self.ask_engine(stronger, index, effort)?
                && let Some(witness) = self.attempt(level, &choice)?
            {
                return Ok(Some(Found::Satisfied(choice, witness)));
            }
        }
        Ok(None)
    }

    /// Tries a few choices, `first` before others.
    pub(super) fn guess(&self, level: Level, first: &[Choice]) -> Result<Option<(Choice, Witness)>, Interrupt> {
        for choice in first.iter().cloned().chain(self.plain_choices()) {
            if let Some(witness) = self.attempt(level, &choice)? {
                return Ok(Some((choice, witness)));
            }
        }
        Ok(None)
    }

    /// Learns from choices that violate the level until one satisfies it or none is left, as far as allowed.
    pub(super) fn search(&self, level: Level) -> Result<Found, Interrupt> {
        let searched = refutation::search(self.history, self.resolution, level, self.most_attempts, self.control)?;
        Ok(match searched {
            Searched::Violated(evidence) => Found::Violated(evidence),
            Searched::GaveUp => Found::TooMany,
            Searched::Satisfied(choice) => match self.attempt(level, &choice)? {
                Some(witness) => Found::Satisfied(choice, witness),
                // One that was asked twice gives two answers only if it was interrupted.
                None => Found::TooMany,
            },
        })
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

    /// The writers that the ambiguous reads of a witness have under a choice.
    pub(super) fn sources(&self, choice: &Choice, witness: &Witness) -> Vec<(OperationId, TransactionId)> {
        let Witness::CommitOrder(order) = witness else { return Vec::new() };
        let takes_part: FxHashSet<TransactionId> = order.iter().copied().collect();
        let reads = self.resolution.ambiguous().map(|(read, _)| read);
        reads
            .filter(|&read| takes_part.contains(&self.history.transaction_of(read)))
            .filter_map(|read| Some((read, self.resolution.chosen(read, choice)?.writer()?)))
            .collect()
    }

    /// The witness of a level under a choice that may leave reads out, if there is one.
    pub(super) fn attempt(&self, level: Level, choice: &Choice) -> Result<Option<Witness>, Interrupt> {
        self.control.check()?;
        let index = Index::build_with(self.history, self.resolution, choice, self.control)?;
        let reads = read_consistency::instances(self.history, self.resolution, &index, 0, self.control)?;
        if Facts::of(reads.counts.keys().copied()).violate(level) {
            return Ok(None);
        }
        let ground = Ground::new(&index, self.control)?;
        Ok(match decide::ask(&index, ground.as_ref(), level, self.control)? {
            Decision::Satisfied(order) => Some(order.witness(level, &index)),
            _ => None,
        })
    }
}
