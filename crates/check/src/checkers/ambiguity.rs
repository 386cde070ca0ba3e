//! Levels of a history in which some reads have several possible writers: satisfied if some choice of writers satisfies
//! them.
//!
//! There are several [`Means`] of deciding them, from cheap ones that often succeed to exhaustive ones. What satisfies
//! a level satisfies all weaker ones by the same order and writers, so the strong levels are worth a try even if only a
//! weak one is asked for.

use super::decide;
use super::decision::Order;
use super::facts::Facts;
use super::refutation::{self, Searched};
use super::strong::{self, Effort, OpenDecision};
use super::weak::{self, BaseOrder, Chosen, OpenWeak};
use super::{Level, Violation, Witness, read_consistency};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, OperationId, TransactionId};
use isoscope_model::relations::{Choice, Index, MultipleSources, Resolution};
use rustc_hash::FxHashSet;

/// Most attempts on one level that need not be decided, whatever the size of the history.
const MOST_ATTEMPTS: u64 = 1 << 17;

/// Most operations visited by such attempts on one level, in all.
const MOST_OPERATIONS: u64 = 20_000_000;

/// Fewest attempts on one level.
const FEWEST_ATTEMPTS: u64 = 8;

/// Most operations visited by attempts on one level of dependencies, of each read or in real time by itself. These are known
/// from stronger and weaker levels as a rule; what is not is worth a try in short histories.
const FEW_OPERATIONS: u64 = 250_000;

/// When trying choices ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Budget {
    /// When the level is decided.
    UntilDecided,
    /// After a few seconds' worth of work at the latest.
    Bounded,
}

/// Conflicts of the solver on a weak level before other means are tried.
const FEW_CONFLICTS: usize = 1 << 8;

/// The limit of conflicts for a weak level of a history that is worth little effort.
const LEAST_CONFLICTS: usize = 1 << 10;

/// How many times a little effort the first attempt of the engine is worth.
const FIRST_EFFORT: usize = 4;

/// How many times as much each attempt may take as the one before it, until one may take whatever it takes.
const GROWTH: usize = 16;

/// Attempts that grow like that.
const ATTEMPTS: u32 = 2;

/// A way to decide levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    /// PC, SI, SER: decides the writers together with the order.
    Engine(Effort),
    /// All but PC, SI, SER: a few choices that are good guesses.
    Guesses,
    /// SER and PC if only weaker levels are asked for: decides the writers together with the order.
    Bridge(Effort),
    /// PC, SI, SER: running the sessions against one copy of the keys.
    Turns,
    /// RC, RA, TCC: finds the writers with the solver, within this many conflicts.
    Answers(usize),
    /// All but PC, SI, SER: choices one by one.
    Choices,
}

impl Means {
    /// Whether it can decide a level.
    pub(super) fn is_for(self, level: Level) -> bool {
        match self {
            Means::Turns | Means::Engine(_) | Means::Bridge(_) => level.is_strong(),
            Means::Guesses | Means::Choices => !level.is_strong(),
            Means::Answers(_) => level.is_weak(),
        }
    }
}

/// A choice of writers with an order that satisfies a level.
pub(super) struct Solution {
    pub(super) choice: Choice,
    order: Order,
    /// The index under the choice.
    index: Index,
}

impl Solution {
    /// The witness of the level, or of a weaker one.
    pub(super) fn witness(&self, level: Level) -> Witness {
        self.order.witness(level, &self.index)
    }
}

/// Why every choice violates a level, as far as that is known.
pub(super) enum Why {
    /// Not looked for yet.
    Unsaid,
    /// The evidence.
    Told(Box<Violation>),
    /// Every choice has all of one of these lists of writers, each of which contradicts this level, or a weaker one.
    Combinations(Level, Vec<Vec<Chosen>>),
}

/// What was found about a level.
pub(super) enum AmbiguousAnswer {
    /// Some choice satisfies the level.
    Satisfied(Box<Solution>),
    /// Every choice violates it.
    Violated(Why),
    /// It would take more work than allowed.
    TooMany,
}

/// Decides levels above CI by choices of writers.
pub(super) struct Chooser<'a> {
    history: &'a History,
    resolution: &'a Resolution,
    /// The index without any choice.
    index: &'a Index,
    effort: Effort,
    patience: Budget,
    control: &'a Control,
    /// Most attempts on one level.
    pub(super) most_attempts: u64,
    /// Most attempts for levels that need not be decided.
    few_attempts: u64,
}

impl<'a> Chooser<'a> {
    /// With as many attempts as needed, or as the size of the history and the effort allow.
    pub(super) fn new(
        history: &'a History,
        resolution: &'a Resolution,
        index: &'a Index,
        (effort, patience): (Effort, Budget),
        control: &'a Control,
    ) -> Chooser<'a> {
        let operations = history.n_operations().max(1) as u64;
        let allowed = if effort == Effort::Any {
            MOST_OPERATIONS
        } else {
            MOST_OPERATIONS / 16
        };
        let most_attempts = match patience {
            Budget::UntilDecided => u64::MAX,
            Budget::Bounded => (allowed / operations).clamp(FEWEST_ATTEMPTS, MOST_ATTEMPTS),
        };
        let few_attempts = most_attempts.min(FEW_OPERATIONS / operations);
        Chooser {
            history,
            resolution,
            index,
            effort,
            patience,
            control,
            most_attempts,
            few_attempts,
        }
    }

    /// The means in the order in which to try them. Which one decides a history in little time is not known beforehand, so
    /// those that may take very long take turns, each time with more effort. A violated weak level settles the strong ones
    /// and is usually decided soon, so the solver is asked for these before sessions take turns, which refutes nothing.
    pub(super) fn means(&self) -> Vec<Means> {
        if self.effort != Effort::Any {
            let mut means = vec![
                Means::Engine(self.effort),
                Means::Guesses,
                Means::Bridge(self.effort),
            ];
            means.extend([
                Means::Answers(LEAST_CONFLICTS / 256),
                Means::Turns,
                Means::Answers(LEAST_CONFLICTS),
            ]);
            means.push(Means::Choices);
            return means;
        }
        let first = Effort::Times(FIRST_EFFORT);
        let mut means = vec![Means::Engine(first), Means::Guesses, Means::Bridge(first)];
        means.extend([Means::Answers(FEW_CONFLICTS), Means::Turns]);
        for times in (1..=ATTEMPTS).map(|attempt| GROWTH.pow(attempt)) {
            let effort = Effort::Times(FIRST_EFFORT * times);
            means.extend([
                Means::Engine(effort),
                Means::Bridge(effort),
                Means::Answers(FEW_CONFLICTS * times),
            ]);
        }
        means.push(Means::Engine(Effort::Any));
        if self.patience == Budget::UntilDecided {
            means.push(Means::Answers(usize::MAX));
        }
        means.push(Means::Choices);
        means
    }

    /// Most attempts on a level.
    fn attempts(&self, level: Level) -> u64 {
        if level.clock().is_none() && (level.is_weak() || level.is_of_sessions()) {
            self.most_attempts
        } else {
            self.few_attempts
        }
    }

    /// What one of the means finds about a level that it can decide.
    pub(super) fn by(&self, means: Means, level: Level) -> Result<AmbiguousAnswer, Interrupt> {
        match means {
            Means::Turns => self.take_turns(level),
            Means::Guesses if self.attempts(level) > 0 => self.guess(level),
            Means::Guesses => Ok(AmbiguousAnswer::TooMany),
            Means::Bridge(effort) | Means::Engine(effort) => self.ask_engine(level, effort),
            Means::Answers(most_conflicts) => self.answer(level, most_conflicts),
            Means::Choices => self.search(level),
        }
    }

    fn take_turns(&self, level: Level) -> Result<AmbiguousAnswer, Interrupt> {
        let share = if self.effort == Effort::Any { 0 } else { 4 };
        let found = strong::take_turns(
            self.history,
            self.resolution,
            self.index,
            level,
            share,
            self.control,
        )?;
        Ok(match found {
            Some((order, choice)) => self.solved(order, choice)?,
            None => AmbiguousAnswer::TooMany,
        })
    }

    /// The answer of the strong engine, which decides the writers together with the order.
    pub(super) fn ask_engine(
        &self,
        level: Level,
        effort: Effort,
    ) -> Result<AmbiguousAnswer, Interrupt> {
        let decided = strong::decide_open(
            self.history,
            self.resolution,
            self.index,
            level,
            effort,
            self.control,
        )?;
        Ok(match decided {
            None => AmbiguousAnswer::TooMany,
            Some(OpenDecision::Violated) => AmbiguousAnswer::Violated(Why::Unsaid),
            Some(OpenDecision::Satisfied(order, choice)) => self.solved(order, choice)?,
        })
    }

    /// A level that is decided stays so if the time ends now.
    fn solved(&self, order: Order, choice: Choice) -> Result<AmbiguousAnswer, Interrupt> {
        let index = Index::build_with(
            self.history,
            self.resolution,
            &choice,
            &self.control.overtime(),
        )?;
        Ok(AmbiguousAnswer::Satisfied(Box::new(Solution {
            choice,
            order,
            index,
        })))
    }

    /// Tries a few choices.
    pub(super) fn guess(&self, level: Level) -> Result<AmbiguousAnswer, Interrupt> {
        for choice in self.plain_choices() {
            if let Some(solution) = self.attempt(level, choice)? {
                return Ok(AmbiguousAnswer::Satisfied(Box::new(solution)));
            }
        }
        Ok(AmbiguousAnswer::TooMany)
    }

    /// Choices that are good guesses: all reads take their first candidate, their last one, or ⊥ if they can.
    fn plain_choices(&self) -> Vec<Choice> {
        let of = |pick: &dyn Fn(&MultipleSources) -> usize| -> Choice {
            self.resolution
                .ambiguous_reads()
                .map(|multiple| Some(pick(multiple) as u32))
                .collect()
        };
        let last_writer =
            |multiple: &MultipleSources| multiple.n_candidate_writers().saturating_sub(1);
        let mut choices = vec![
            of(&|_| 0),
            of(&last_writer),
            of(&|multiple| multiple.kept - 1),
        ];
        choices.dedup();
        choices
    }

    /// The answer of the solver for a weak level.
    fn answer(&self, level: Level, most_conflicts: usize) -> Result<AmbiguousAnswer, Interrupt> {
        let (history, resolution, control) = (self.history, self.resolution, self.control);
        Ok(
            match weak::decide_open(
                history,
                resolution,
                self.index,
                level,
                most_conflicts,
                control,
            )? {
                OpenWeak::GaveUp => AmbiguousAnswer::TooMany,
                OpenWeak::Violated(None) => AmbiguousAnswer::Violated(Why::Unsaid),
                OpenWeak::Violated(Some(lists)) => {
                    AmbiguousAnswer::Violated(Why::Combinations(level, lists))
                }
                OpenWeak::Satisfied(choice) => self.tried(level, choice)?,
            },
        )
    }

    /// Learns from choices that violate the level until one satisfies it or none is left, as far as allowed.
    pub(super) fn search(&self, level: Level) -> Result<AmbiguousAnswer, Interrupt> {
        let most = self.attempts(level);
        let searched =
            refutation::search(self.history, self.resolution, level, most, self.control)?;
        Ok(match searched {
            Searched::Violated(evidence) => {
                AmbiguousAnswer::Violated(evidence.map_or(Why::Unsaid, Why::Told))
            }
            Searched::GaveUp => AmbiguousAnswer::TooMany,
            Searched::Satisfied(choice) => self.tried(level, choice)?,
        })
    }

    /// The answer of a choice that should satisfy the level.
    fn tried(&self, level: Level, choice: Choice) -> Result<AmbiguousAnswer, Interrupt> {
        Ok(match self.attempt(level, choice)? {
            Some(solution) => AmbiguousAnswer::Satisfied(Box::new(solution)),
            // A choice asked for twice gives different answers only if one was interrupted.
            None => AmbiguousAnswer::TooMany,
        })
    }

    /// The writers that the ambiguous reads of a witness have under a choice.
    pub(super) fn sources(
        &self,
        choice: &Choice,
        witness: &Witness,
    ) -> Vec<(OperationId, TransactionId)> {
        let Witness::CommitOrder(order) = witness else {
            return Vec::new();
        };
        let takes_part: FxHashSet<TransactionId> = order.iter().copied().collect();
        let reads = self
            .resolution
            .ambiguous_reads()
            .map(|multiple| multiple.read);
        reads
            .filter(|&read| takes_part.contains(&self.history.transaction_of(read)))
            .filter_map(|read| Some((read, self.resolution.chosen(read, choice)?.writer()?)))
            .collect()
    }

    /// The order with which a choice satisfies a level, if there is one.
    pub(super) fn attempt(
        &self,
        level: Level,
        choice: Choice,
    ) -> Result<Option<Solution>, Interrupt> {
        self.control.check()?;
        let index = Index::build_with(self.history, self.resolution, &choice, self.control)?;
        let reads =
            read_consistency::instances(self.history, self.resolution, &index, 0, self.control)?;
        if Facts::of(reads.counts.keys().copied()).violate(level) {
            return Ok(None);
        }
        let ground = BaseOrder::new(&index, self.control)?;
        let order = decide::ask(&index, ground.as_ref(), level, self.control)?.order();
        Ok(order.map(|order| Solution {
            choice,
            order,
            index,
        }))
    }
}
