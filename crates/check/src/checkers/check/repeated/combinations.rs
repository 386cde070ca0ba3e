//! Which combinations of answers contradict a level, learnt one by one until some assignment satisfies it or none is left.
//!
//! Every open question gets an answer: an append for each place of a list, an outcome for each transaction. If the
//! resulting assignment violates the level, a part of the answers is sought that violates it with everything else left open,
//! and no later pick contains that part. So the search ends with an assignment or with combinations that exclude all of them,
//! however many questions are open: memory grows only with what is learnt. Exponential in the worst case, since the
//! levels are NP-complete to decide if elements repeat.

use super::assignment::ElementAssignment;
use super::questions::{Open, answers};
use super::search::{Answer, AppendSearch, never_appended};
use crate::checkers::refutation::Asked;
use crate::checkers::{Question, Supposed, Verdict, Violation};
use crate::sat::{NoPick, OptionId};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{OperationId, Outcome};
use std::ops::Range;

/// What some answers lead to.
enum Leads {
    /// To this assignment.
    To(Box<ElementAssignment>),
    /// Nowhere: no append can have made the element at this place.
    Nowhere((OperationId, usize)),
    /// Some list among them was read by a transaction that need not have committed.
    Unasked,
}

/// The search for one level.
pub(super) struct Combinations<'s, 'a> {
    search: &'s mut AppendSearch<'a>,
    root: &'s ElementAssignment,
    control: &'a Control,
    asked: Asked<'a>,
    learnt: Vec<Vec<OptionId>>,
}

impl<'s, 'a> Combinations<'s, 'a> {
    /// Everything is open that is open in `root`.
    pub(super) fn new(
        search: &'s mut AppendSearch<'a>,
        root: &'s ElementAssignment,
        control: &'a Control,
    ) -> Combinations<'s, 'a> {
        Combinations {
            search,
            root,
            control,
            asked: Asked::new(control),
            learnt: Vec::new(),
        }
    }

    /// Decides the level.
    ///
    /// # Errors
    /// [`Interrupt`] when the control ends the work first.
    pub(super) fn decide(mut self) -> Result<Answer, Interrupt> {
        for open in &self.root.open {
            self.ask(open.question);
        }
        while let Some(picked) = self.asked.picks.pick()? {
            let (supposed, assignment) = self.follow(&picked)?;
            if let Some(assignment) = assignment {
                match self.search.verdict(&assignment)? {
                    Some(Verdict::Satisfied(_)) => {
                        return Ok(Answer::Satisfied(Box::new(assignment)));
                    }
                    Some(Verdict::Violated) => {}
                    _ => return Ok(Answer::Unknown),
                }
            }
            self.control.advance(1);
            let supposed = self.cut_down(supposed)?;
            self.asked.picks.forbid(&supposed);
            self.learnt.push(supposed);
        }
        let no_pick = self.asked.picks.refutation()?;
        Ok(match no_pick {
            Some(no_pick) => Answer::Violated(self.evidence(&no_pick)?.map(Box::new)),
            None => Answer::Violated(None),
        })
    }

    /// The options of a question, and whether it is new.
    fn ask(&mut self, question: Question) -> (Range<OptionId>, bool) {
        let known = self.asked.options_of(question);
        let is_new = known.is_none();
        if is_new {
            let answers = answers(question, &self.root.history);
            self.asked.ask(question, answers);
        }
        let options = known.or_else(|| self.asked.options_of(question));
        (options.unwrap_or_default(), is_new)
    }

    fn answer(&self, option: OptionId) -> Supposed {
        self.asked.option(option).1
    }

    /// The option picked for an open question; for a new question, the first answer that fits.
    fn picked(&mut self, open: &Open, picked: &[OptionId]) -> OptionId {
        let (options, is_new) = self.ask(open.question);
        let first = options.start;
        let fits = |option: &OptionId| {
            if is_new {
                open.answers.contains(&self.answer(*option))
            } else {
                picked.contains(option)
            }
        };
        options.into_iter().find(fits).unwrap_or(first)
    }

    /// Supposes what is picked, of all outcomes at once and else question by question, until nothing is open or something does
    /// not fit: the assignment, if there is one, and what was supposed.
    fn follow(
        &mut self,
        picked: &[OptionId],
    ) -> Result<(Vec<OptionId>, Option<ElementAssignment>), Interrupt> {
        let mut supposed: Vec<OptionId> = Vec::new();
        let mut assignment = self.root.clone();
        loop {
            if assignment.impossible.is_some() {
                return Ok((supposed, None));
            }
            if assignment.open.is_empty() {
                return Ok((supposed, Some(assignment)));
            }
            let is_outcome = |open: &&Open| matches!(open.question, Question::Outcome { .. });
            let n_at_once = assignment.open.iter().take_while(is_outcome).count().max(1);
            let begin = supposed.len();
            for open in &assignment.open[..n_at_once] {
                let next = self.picked(open, picked);
                supposed.push(next);
                if !open.answers.contains(&self.answer(next)) {
                    return Ok((supposed, None));
                }
            }
            let answers: Vec<Supposed> = supposed[begin..]
                .iter()
                .map(|&option| self.answer(option))
                .collect();
            assignment = assignment.with(&answers, self.control)?;
        }
    }

    /// The assignment in which only this is known.
    fn assignment_of(&self, supposed: &[OptionId]) -> Result<Leads, Interrupt> {
        let mut assignment = self.root.clone();
        for &option in supposed {
            let (question, answer) = self.asked.option(option);
            let is_open = match question {
                Question::Append { read, .. } if !assignment.takes_part(read) => {
                    return Ok(Leads::Unasked);
                }
                Question::Append { read, place }
                    if !answers(question, &assignment.history).contains(&answer) =>
                {
                    return Ok(Leads::Nowhere((read, place)));
                }
                Question::Append { read, place } => {
                    let key = |read: OperationId| assignment.history.keys()[read.index()];
                    let is_same = |open: &Open| match open.question {
                        Question::Append {
                            read: other,
                            place: at,
                        } => at == place && key(other) == key(read),
                        _ => false,
                    };
                    assignment.open.iter().any(is_same)
                }
                Question::Outcome { transaction } => {
                    assignment.history.outcome(transaction) == Outcome::Unknown
                }
                Question::Order { .. } | Question::Writer { .. } => false,
            };
            if is_open {
                assignment = assignment.with(&[answer], self.control)?;
            }
            if let Some(place) = assignment.impossible {
                return Ok(Leads::Nowhere(place));
            }
        }
        Ok(Leads::To(Box::new(assignment)))
    }

    /// Whether this contradicts the level with everything else left open.
    fn contradict(&mut self, supposed: &[OptionId]) -> Result<bool, Interrupt> {
        Ok(match self.assignment_of(supposed)? {
            Leads::Nowhere(_) => true,
            Leads::Unasked => false,
            Leads::To(assignment) => self.search.verdict(&assignment)? == Some(Verdict::Violated),
        })
    }

    /// A minimal part of a contradictory combination that still contradicts. O(answers · log) trials.
    fn cut_down(&mut self, mut supposed: Vec<OptionId>) -> Result<Vec<OptionId>, Interrupt> {
        let mut length = supposed.len().next_power_of_two();
        while length > 0 {
            let mut end = supposed.len();
            while end > 0 {
                let begin = end.saturating_sub(length);
                let less = [&supposed[..begin], &supposed[end..]].concat();
                if self.contradict(&less)? {
                    supposed = less;
                }
                end = begin;
            }
            length /= 2;
        }
        Ok(supposed)
    }

    /// The evidence that no pick is left.
    fn evidence(&mut self, no_pick: &NoPick) -> Result<Option<Violation>, Interrupt> {
        let mut combinations = Vec::with_capacity(no_pick.forbidden.len());
        for &learnt in &no_pick.forbidden {
            let supposed = self.learnt[learnt].clone();
            let violation = match self.assignment_of(&supposed)? {
                Leads::Unasked => return Ok(None),
                Leads::Nowhere(place) => never_appended(&self.root.history, place),
                Leads::To(assignment) => match self.search.violation(&assignment)? {
                    Some(violation) => violation,
                    None => return Ok(None),
                },
            };
            combinations.push((supposed, violation));
        }
        Ok(self.asked.evidence(no_pick, combinations))
    }
}
