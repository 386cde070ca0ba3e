//! Whether some choice of appends for the open places of lists, and of open outcomes, satisfies a level, and if none
//! does, why.
//!
//! The cases of a question are its answers. What is violated while other questions are open is violated for each of
//! their answers, so whole branches are skipped, and questions that no contradiction needs are never asked: the next
//! one is the question with the fewest answers that do not contradict the level at once.

use super::assignment::ElementAssignment;
use super::questions::Open;
use super::{CheckMode, Elements, Request};
use crate::checkers::refutation::{merged_by_strongest, spelled_out};
use crate::checkers::{
    Findings, Level, LevelSet, Options, Pattern, Proof, Question, Supposed, Verdict, Violation,
};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, KeyId, OperationId};
use rustc_hash::FxHashSet;

/// Most operations visited for a tree of cases of one level.
const MOST_OPERATIONS: u64 = 20_000_000;

/// Fewest and most assignments examined for it.
const FEWEST_WORLDS: u64 = 16;
const MOST_WORLDS: u64 = 20_000;

/// Deepest nesting of cases: readers of reports need not look deeper.
const MOST_NESTED: usize = 20;

/// Questions of each kind compared to choose the next one.
const COMPARED: usize = 8;

/// Instances examined per pattern and assignment.
const LISTED: usize = 8;

/// What was found about a level.
pub(super) enum Answer {
    /// This choice of appends satisfies it.
    Satisfied(Box<ElementAssignment>),
    /// No choice does; with the evidence, unless a contradiction has none.
    Violated(Option<Box<Violation>>),
    /// There are too many to try one by one, or too many cases to report.
    Unknown,
}

/// Searches choices of appends for one level.
pub(super) struct AppendSearch<'a> {
    level: Level,
    options: &'a Options,
    control: &'a Control,
    /// How many more assignments may be examined for a tree of cases.
    pub(super) left: u64,
}

impl<'a> AppendSearch<'a> {
    pub(super) fn new(
        history: &History,
        level: Level,
        options: &'a Options,
        control: &'a Control,
    ) -> AppendSearch<'a> {
        let affordable = MOST_OPERATIONS / history.n_operations().max(1) as u64;
        AppendSearch {
            level,
            options,
            control,
            left: affordable.clamp(FEWEST_WORLDS, MOST_WORLDS),
        }
    }

    /// Decides the level in an assignment by a tree of cases, which is easy to follow. Recursion is bounded by
    /// [`MOST_NESTED`].
    pub(super) fn decide_by_cases(
        &mut self,
        assignment: ElementAssignment,
        depth: usize,
    ) -> Result<Answer, Interrupt> {
        if let Some(place) = assignment.impossible {
            return Ok(Answer::Violated(Some(Box::new(never_appended(
                &assignment.history,
                place,
            )))));
        }
        if depth > MOST_NESTED || self.left == 0 {
            return Ok(Answer::Unknown);
        }
        let mut findings = self.ask(&assignment, LISTED)?;
        match findings.level(self.level).map(|result| &result.verdict) {
            Some(Verdict::Violated) => {
                return Ok(Answer::Violated(
                    self.shortest(&assignment, &mut findings).map(Box::new),
                ));
            }
            Some(Verdict::Satisfied(_)) => return Ok(Answer::Satisfied(Box::new(assignment))),
            _ if assignment.open.is_empty() => return Ok(Answer::Unknown),
            _ => {}
        }
        let Some(next) = self.narrowest(&assignment)? else {
            return Ok(Answer::Unknown);
        };
        let mut cases: Vec<(Supposed, Violation)> = Vec::with_capacity(next.answers.len());
        for &answer in &next.answers {
            let inner = assignment.with(&[answer], self.control)?;
            match self.decide_by_cases(inner, depth + 1)? {
                Answer::Violated(Some(violation)) => cases.push((answer, *violation)),
                Answer::Violated(None) => return Ok(Answer::Unknown),
                satisfied_or_unknown => return Ok(satisfied_or_unknown),
            }
        }
        let violation = merged_by_strongest(&assignment.history, next.question, cases);
        Ok(violation.map_or(Answer::Unknown, |violation| {
            Answer::Violated(Some(Box::new(violation)))
        }))
    }

    /// The verdict at the level, as far as it does not depend on what is open.
    pub(super) fn verdict(
        &mut self,
        assignment: &ElementAssignment,
    ) -> Result<Option<Verdict>, Interrupt> {
        let mut findings = self.ask(assignment, 0)?;
        self.control.check()?;
        Ok(findings.levels.pop().map(|result| result.verdict))
    }

    /// What violates the level in an assignment, if anything does.
    pub(super) fn violation(
        &mut self,
        assignment: &ElementAssignment,
    ) -> Result<Option<Violation>, Interrupt> {
        let mut findings = self.ask(assignment, LISTED)?;
        self.control.check()?;
        Ok(self.shortest(assignment, &mut findings))
    }

    /// The verdict at the level, as far as it does not depend on what is open.
    fn ask(
        &mut self,
        assignment: &ElementAssignment,
        listed: usize,
    ) -> Result<Findings, Interrupt> {
        self.control.check()?;
        self.left = self.left.saturating_sub(1);
        let options = Options {
            levels: vec![self.level],
            max_instances: listed,
            ..self.options.clone()
        };
        let mode = CheckMode {
            elements: Elements::LeftOpen,
            tests_set_up: false,
            ..CheckMode::WHOLE
        };
        let resolution = Some(assignment.resolution.clone());
        let request = Request {
            history: &assignment.history,
            options: &options,
            control: self.control,
            mode,
            observe: &|_| {},
        };
        Ok(request.check(resolution))
    }

    /// The question to split on next: of the first outcomes and of places with the fewest answers the one with the fewest
    /// that do not contradict the level at once.
    fn narrowest(&mut self, assignment: &ElementAssignment) -> Result<Option<Open>, Interrupt> {
        let (outcomes, mut places): (Vec<&Open>, Vec<&Open>) = assignment
            .open
            .iter()
            .partition(|open| matches!(open.question, Question::Outcome { .. }));
        places.sort_by_key(|open| open.answers.len());
        let mut best: Option<(usize, &Open)> = None;
        for next in outcomes
            .into_iter()
            .take(COMPARED)
            .chain(places.into_iter().take(COMPARED))
        {
            let mut alive = 0;
            for &answer in &next.answers {
                if self.left == 0 || best.is_some_and(|(fewest, _)| alive >= fewest) {
                    break;
                }
                let inner = assignment.with(&[answer], self.control)?;
                let is_violated = inner.impossible.is_some() || {
                    let findings = self.ask(&inner, 0)?;
                    findings
                        .level(self.level)
                        .is_some_and(|result| result.verdict == Verdict::Violated)
                };
                alive += usize::from(!is_violated);
            }
            if best.is_none_or(|(fewest, _)| alive < fewest) {
                best = Some((alive, next));
            }
            if alive == 0 {
                break;
            }
        }
        Ok(best.map(|(_, next)| next.clone()))
    }

    /// The violation of the level that is easiest to follow.
    fn shortest(
        &self,
        assignment: &ElementAssignment,
        findings: &mut Findings,
    ) -> Option<Violation> {
        let of_level = findings
            .violations
            .drain(..)
            .filter(|violation| violation.levels.contains(self.level));
        let shortest = of_level.min_by_key(|v| (v.implied, v.size(), v.edges.len(), v.id))?;
        let mut violation = spelled_out(&assignment.history, &assignment.resolution, shortest);
        // At cut isolation an element counts as that of every transaction that appended it.
        violation.levels = violation.levels.above_reads();
        Some(violation)
    }
}

/// How open questions are answered when guessing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Guess {
    /// Transactions that began first appended first; without times, those first in the file.
    pub(super) by_time: bool,
    /// Transactions that may have committed did.
    pub(super) committed: bool,
}

/// A choice of appends for all open places and of outcomes that are open.
pub(super) fn guess(
    assignment: ElementAssignment,
    how: Guess,
    attempts: u64,
    control: &Control,
) -> Result<Option<ElementAssignment>, Interrupt> {
    let mut assignment = assignment;
    for _ in 0..attempts {
        if assignment.impossible.is_some() {
            return Ok(None);
        }
        if assignment.open.is_empty() {
            return Ok(Some(assignment));
        }
        assignment = assignment.with(&guessed(&assignment, how), control)?;
    }
    Ok(None)
}

/// Answers to open questions that say nothing of each other: to the first place of each key, or else to all outcomes.
fn guessed(assignment: &ElementAssignment, how: Guess) -> Vec<Supposed> {
    let history = &assignment.history;
    let began = |supposed: &Supposed| {
        let &Supposed::Append { append, .. } = supposed else {
            return None;
        };
        let interval = history
            .interval(history.transaction_of(append))
            .filter(|_| how.by_time);
        Some((interval.map(|interval| interval.start), append))
    };
    let mut keys: FxHashSet<KeyId> = FxHashSet::default();
    let mut outcomes: Vec<Supposed> = Vec::new();
    let mut appends: Vec<Supposed> = Vec::new();
    for open in &assignment.open {
        match open.question {
            Question::Append { read, .. } if keys.insert(history.keys()[read.index()]) => {
                appends.extend(open.answers.iter().copied().min_by_key(began));
            }
            Question::Outcome { transaction } => {
                outcomes.push(Supposed::Outcome {
                    transaction,
                    committed: how.committed,
                });
            }
            _ => {}
        }
    }
    if appends.is_empty() {
        outcomes
    } else {
        appends
    }
}

/// The violation that no append can have made an element at its place.
pub(super) fn never_appended(history: &History, (read, place): (OperationId, usize)) -> Violation {
    let proof = Proof::Cases {
        question: Question::Append { read, place },
        cases: Vec::new(),
    };
    Violation {
        also: vec!["incompatible-order".to_owned()],
        key: Some(history.keys()[read.index()]),
        transactions: vec![history.transaction_of(read)],
        operations: vec![read],
        ..Violation::new(
            Pattern::IncompatibleOrder,
            1,
            LevelSet::upward(Level::AdyaReadCommitted),
            proof,
        )
    }
}
