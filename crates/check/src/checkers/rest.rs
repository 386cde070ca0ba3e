//! What remains of the work after a check that did not count or list everything.

use super::decide::Decisions;
use super::decision::{Decision, is_violated};
use super::{Instances, Level, LevelSet, Violation};
use isoscope_model::history::History;
use std::sync::Arc;

/// What it takes to list the counted instances that are not listed.
#[derive(Clone, Debug, Default)]
pub struct Rest {
    /// The violated levels whose instances were looked for.
    pub(super) sought: LevelSet,
    /// The levels that no instance names.
    pub(super) satisfied: LevelSet,
    /// Counted instances that were found on their own and did not fit into the list.
    pub(super) found: Vec<Violation>,
    /// Whether it was counted.
    pub(super) counted: Counted,
    /// The history in which they were counted, if repeated elements of lists are distinguished in it, or if each transaction
    /// has a session of its own there.
    pub(super) distinguished: Option<Arc<History>>,
    /// Whether each transaction has one there, so that instances violate plain levels.
    pub(super) is_plain: bool,
    /// What plain levels that were asked for together with others add to what is counted with sessions.
    pub(super) plain_arguments: Option<Arc<PlainArguments>>,
}

/// Arguments about plain levels to be added to the instances with sessions.
#[derive(Clone, Debug)]
pub(super) struct PlainArguments {
    /// The levels that were decided for those asked for: where no times order anything, others answer for some of these.
    pub(super) decided: Vec<Level>,
    /// The history in which each transaction has a session of its own, if a plain level is violated.
    pub(super) alone: Option<Arc<History>>,
    /// Violations found there, by the forms of the plain levels.
    pub(super) arguments: Vec<Violation>,
    /// Whether reads or elements of lists have several possible writers. Sessions rule some of them out, so what violates plain
    /// levels need not violate others for the same reason.
    pub(super) has_choices: bool,
    /// The plain levels that are violated.
    pub(super) plain: Vec<Level>,
    /// The levels that were decided only for the sake of plain ones.
    pub(super) not_asked: Vec<Level>,
    /// The violations with sessions before.
    pub(super) others: Vec<Violation>,
}

impl Rest {
    /// Says that what was counted and is named are violations of plain levels, in the history in which each transaction has a
    /// session of its own.
    pub(super) fn alone(&mut self, history: Arc<History>) {
        self.distinguished.get_or_insert(history);
        self.is_plain = true;
    }
}

/// How far instances were counted.
#[derive(Clone, Debug, Default)]
pub(super) enum Counted {
    /// All, unless a limit ended the work.
    #[default]
    All,
    /// None: what the verdicts rest on is listed, and the rest can be counted without deciding again.
    Not(Box<Uncounted>),
    /// None, and to count them takes another check.
    NotAtAll,
}

/// What it takes to count the instances of decided levels.
#[derive(Clone, Debug, Default)]
pub(super) struct Uncounted {
    /// The violated levels.
    pub(super) sought: Sought,
    /// All instances of the weak levels, if they were needed for the verdicts.
    pub(super) weak: Option<Instances>,
}

/// The violated levels whose instances are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sought {
    /// As the engines decided them.
    pub(super) violated: LevelSet,
    /// Whether TCC holds, if that was decided.
    pub(super) causal: Option<bool>,
}

impl Sought {
    /// What these decisions leave to be looked for.
    pub fn of(decisions: &Decisions) -> Sought {
        let violated = decisions
            .iter()
            .filter(|(_, (decision, _))| is_violated(decision))
            .map(|(level, _)| *level)
            .collect();
        let causal = decisions.get(&Level::TransactionalCausalConsistency);
        Sought {
            violated,
            causal: causal.map(|(decision, _)| matches!(decision, Ok(Decision::Satisfied(_)))),
        }
    }
}

/// A violation of a strong level may also be one of causal consistency.
pub(super) fn with_causal(mut violated: LevelSet) -> LevelSet {
    violated.insert(Level::TransactionalCausalConsistency);
    violated
}
