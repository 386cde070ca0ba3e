//! Questions with options, combinations of which are excluded until none is left.

use super::merge::merged_by_combinations;
use crate::checkers::{Question, Supposed, Violation};
use crate::sat::{NoPick, OptionId, Picks};
use isoscope_model::control::Control;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ops::Range;

/// What was asked, and the answers as options of a solver.
pub(in crate::checkers) struct Asked<'a> {
    pub(in crate::checkers) picks: Picks<'a>,
    /// In the order of asking.
    questions: Vec<(Question, Range<OptionId>)>,
    place_of: FxHashMap<Question, usize>,
    /// By option: its question, and the answer.
    options: Vec<(Question, Supposed)>,
}

impl<'a> Asked<'a> {
    /// Nothing yet.
    pub(in crate::checkers) fn new(control: &'a Control) -> Asked<'a> {
        Asked {
            picks: Picks::new(control),
            questions: Vec::new(),
            place_of: FxHashMap::default(),
            options: Vec::new(),
        }
    }

    /// Adds a question with all its answers.
    pub(in crate::checkers) fn ask(
        &mut self,
        question: Question,
        answers: impl IntoIterator<Item = Supposed>,
    ) {
        let begin = self.options.len();
        let answers = answers.into_iter().map(|answer| (question, answer));
        self.options.extend(answers);
        let options = self.picks.ask(self.options.len() - begin);
        self.place_of.insert(question, self.questions.len());
        self.questions.push((question, options));
    }

    /// By question in the order of asking: its options.
    pub(in crate::checkers) fn options(&self) -> impl Iterator<Item = &Range<OptionId>> {
        self.questions.iter().map(|(_, options)| options)
    }

    /// The options of a question, if it was asked.
    pub(in crate::checkers) fn options_of(&self, question: Question) -> Option<Range<OptionId>> {
        let place = self.place_of.get(&question)?;
        Some(self.questions[*place].1.clone())
    }

    /// The question of an option, and the answer.
    pub(in crate::checkers) fn option(&self, option: OptionId) -> (Question, Supposed) {
        self.options[option as usize]
    }

    /// The evidence that no pick is left, given what follows from each combination that it rests on. `None` if there is no
    /// combination.
    pub(in crate::checkers) fn evidence(
        &self,
        no_pick: &NoPick,
        combinations: Vec<(Vec<OptionId>, Violation)>,
    ) -> Option<Violation> {
        let mentioned = combinations
            .iter()
            .flat_map(|(options, _)| options)
            .chain(no_pick.clauses.iter().flatten().map(|(option, _)| option));
        let mut questions: BTreeSet<Question> =
            mentioned.map(|&option| self.option(option).0).collect();
        let needed = no_pick.questions.iter();
        questions.extend(needed.map(|&place| self.questions[place].0));
        let mut options: Vec<Supposed> = Vec::new();
        let mut place_of: FxHashMap<OptionId, usize> = FxHashMap::default();
        for question in questions {
            for option in self.options_of(question).unwrap_or_default() {
                place_of.insert(option, options.len());
                options.push(self.option(option).1);
            }
        }
        let combinations = combinations.into_iter().map(|(options, violation)| {
            let places = options.iter().map(|option| place_of[option]);
            (places.collect(), violation)
        });
        let clauses = no_pick.clauses.iter().map(|clause| {
            let literals = clause.iter();
            literals
                .map(|(option, holds)| (place_of[option], *holds))
                .collect()
        });
        merged_by_combinations(options, combinations.collect(), clauses.collect())
    }
}
