//! Which combinations of writers contradict a level, learnt one by one until a choice is left or none is.
//!
//! A choice picks a writer for every ambiguous read. If it violates the level, each contradiction rests on only a few
//! reads, and no later pick combines their writers again. So the search ends with a choice that satisfies the level or
//! with combinations that exclude all choices, and those are the evidence. Unlike a tree of cases it repeats nothing,
//! but it may still be exponential: the levels are NP-complete to decide if values repeat.

use super::*;
use crate::checkers::weak::Chosen;
use crate::sat::{NoPick, OptionId};
use std::ops::Range;

/// Combinations learnt from one choice.
const LEARNT_AT_ONCE: usize = 16;

/// How the search ends.
pub(in crate::checkers) enum Searched {
    /// This choice of writers satisfies the level.
    Satisfied(Choice),
    /// No choice does; with the evidence, unless a contradiction has none.
    Violated(Option<Box<Violation>>),
    /// The allowed number of choices has been tried.
    GaveUp,
}

/// Decides a level by choices of writers, examining at most `most` of them.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first: the time is exponential in the worst case.
pub(in crate::checkers) fn search(
    history: &History,
    resolution: &Resolution,
    level: Level,
    most: u64,
    control: &Control,
) -> Result<Searched, Interrupt> {
    let refuter = Refuter::of_all(history, resolution, level, control);
    let mut search = CombinationSearch::new(&refuter);
    let found = search.run(most)?;
    match found {
        Searched::Violated(_) => Ok(Searched::Violated(search.evidence()?.map(Box::new))),
        found => Ok(found),
    }
}

/// A violation of a level that holds under every choice of writers, if each of these lists of writers contradicts the
/// level and every choice contains one of them: a tree of cases of the reads that matter, or the combinations. `None`
/// if they do not show it.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(in crate::checkers) fn refute_by(
    history: &History,
    resolution: &Resolution,
    level: Level,
    lists: &[Vec<Chosen>],
    control: &Control,
) -> Result<Option<Violation>, Interrupt> {
    let refuter = Refuter::of_all(history, resolution, level, control);
    let mut search = CombinationSearch::new(&refuter);
    let options: Vec<Range<OptionId>> = search.asked.options().cloned().collect();
    for list in lists {
        let options = list
            .iter()
            .map(|&(read, place)| options[read].start + place)
            .collect();
        search.keep(Combination {
            options,
            violation: None,
        });
    }
    if search.asked.picks.pick()?.is_some() {
        return Ok(None);
    }
    let Some(no_pick) = search.asked.picks.refutation()? else {
        return Ok(None);
    };
    search.no_pick = no_pick;
    let mut matters = vec![false; refuter.reads.len()];
    let needed = search
        .no_pick
        .forbidden
        .iter()
        .flat_map(|&at| &lists[at])
        .map(|&(read, _)| read);
    needed
        .chain(search.no_pick.questions.iter().copied())
        .for_each(|read| matters[read] = true);
    // A tree is easier to follow, as long as it is small.
    let affordable = super::MOST_OPERATIONS / history.n_operations().max(1) as u64;
    let in_time = control.leaving_time();
    let left = affordable.clamp(FEWEST_CASES, MOST_CASES);
    let mut tree = Refuter {
        matters,
        left,
        control: &in_time,
        ..refuter.clone()
    };
    let by_cases = tree
        .refute(&mut resolution.choice_of_none(), 0)
        .or_else(|_| control.check().map(|()| None))?;
    if let Some(part) = by_cases.filter(|part| part.needs.is_empty()) {
        return Ok(Some(without_cut_isolation(part.violation)));
    }
    for at in search.no_pick.forbidden.clone() {
        match search.told(&search.learnt[at].options)? {
            Some(combination) => search.learnt[at] = combination,
            None => return Ok(None),
        }
    }
    search.evidence()
}

/// Reads that have these writers together contradict the level.
#[derive(Clone)]
struct Combination {
    options: Vec<OptionId>,
    /// The evidence, if there is any.
    violation: Option<Violation>,
}

struct CombinationSearch<'r, 'a> {
    refuter: &'r Refuter<'a>,
    /// The writer of each read.
    asked: Asked<'a>,
    learnt: Vec<Combination>,
    /// Whether each combination is checked alone before it is used.
    careful: bool,
    no_pick: NoPick,
}

impl<'r, 'a> CombinationSearch<'r, 'a> {
    fn new(refuter: &'r Refuter<'a>) -> CombinationSearch<'r, 'a> {
        CombinationSearch {
            refuter,
            asked: CombinationSearch::asked(refuter),
            learnt: Vec::new(),
            careful: false,
            no_pick: NoPick::default(),
        }
    }

    fn asked(refuter: &Refuter<'a>) -> Asked<'a> {
        let mut asked = Asked::new(refuter.control);
        for &read in &refuter.reads {
            let candidates = refuter.resolution.candidates(read);
            let writers = candidates.iter().filter_map(|source| source.writer());
            let answers = writers.map(|writer| Supposed::Writer { read, writer });
            asked.ask(Question::Writer { read }, answers);
        }
        asked
    }

    fn run(&mut self, most: u64) -> Result<Searched, Interrupt> {
        for _ in 0..most {
            let Some(picked) = self.asked.picks.pick()? else {
                if self.is_sound()? {
                    return Ok(Searched::Violated(None));
                } else {
                    continue;
                }
            };
            let choice: Choice = picked
                .iter()
                .zip(self.asked.options())
                .map(|(option, of_read)| Some(option - of_read.start))
                .collect();
            let (parts, promotions, is_violated) = self.refuter.look(&choice, LEARNT_AT_ONCE)?;
            if !is_violated {
                return Ok(Searched::Satisfied(choice));
            }
            self.refuter.control.advance(1);
            let before = self.learnt.len();
            self.learn(parts, &promotions, &picked)?;
            if self.learnt.len() == before {
                let combination = self.cut_down(choice)?;
                self.keep(combination);
            }
        }
        Ok(Searched::GaveUp)
    }

    /// Forbids the smallest combinations that contradictions rest on.
    fn learn(
        &mut self,
        parts: Vec<Contradiction>,
        promotions: &Promotions,
        picked: &[OptionId],
    ) -> Result<(), Interrupt> {
        let mut found: Vec<Combination> = parts
            .into_iter()
            .filter_map(|part| self.combination(part, promotions, picked))
            .collect();
        found.sort_by_key(|c| {
            let size = c
                .violation
                .as_ref()
                .map_or((0, 0), |v| (v.size(), v.edges.len()));
            (c.options.len(), size)
        });
        let mut seen: BTreeSet<Vec<OptionId>> = BTreeSet::new();
        for combination in found.into_iter().take(LEARNT_AT_ONCE) {
            let mut options = combination.options.clone();
            options.sort_unstable();
            if seen.insert(options) && (!self.careful || self.contradicts(&combination)?) {
                self.keep(combination);
            }
        }
        Ok(())
    }

    /// What a contradiction rests on, in an order in which each reader counts as committed because of those before.
    /// `None` if it does not rest on chosen writers alone.
    fn combination(
        &self,
        part: Contradiction,
        promotions: &Promotions,
        picked: &[OptionId],
    ) -> Option<Combination> {
        let reads = &self.refuter.reads;
        let mut needed: Vec<OperationId> = part.needs.into_iter().collect();
        needed.sort_by_key(|&read| {
            (
                promotions.depth(self.refuter.history.transaction_of(read)),
                read,
            )
        });
        let option = |read| reads.binary_search(&read).ok().map(|place| picked[place]);
        let options: Option<Vec<OptionId>> = needed.into_iter().map(option).collect();
        Some(Combination {
            options: options?,
            violation: Some(part.violation),
        })
    }

    fn keep(&mut self, combination: Combination) {
        self.asked.picks.forbid(&combination.options);
        self.learnt.push(combination);
    }

    /// The choice of these writers, without the other reads.
    fn choice_of(&self, options: &[OptionId]) -> Choice {
        let of_read = |of_read: &Range<OptionId>| {
            let option = options.iter().find(|option| of_read.contains(option));
            option.map(|option| option - of_read.start)
        };
        self.asked.options().map(of_read).collect()
    }

    /// Whether the level is violated by a combination alone.
    fn contradicts(&self, combination: &Combination) -> Result<bool, Interrupt> {
        Ok(self
            .refuter
            .look(&self.choice_of(&combination.options), 0)?
            .2)
    }

    /// A minimal part of a choice that still violates the level, for contradictions that do not say what they rest on.
    /// O(reads · log) trials.
    fn cut_down(&self, mut choice: Choice) -> Result<Combination, Interrupt> {
        let mut length = choice.len().next_power_of_two();
        while length > 0 {
            for begin in (0..choice.len()).step_by(length) {
                let mut less = choice.clone();
                less[begin..choice.len().min(begin + length)].fill(None);
                if less != choice && self.refuter.look(&less, 0)?.2 {
                    choice = less;
                }
            }
            length /= 2;
        }
        let option = |(chosen, of_read): (&Option<u32>, &Range<OptionId>)| {
            chosen.map(|chosen| of_read.start + chosen)
        };
        let options: Vec<OptionId> = choice
            .iter()
            .zip(self.asked.options())
            .filter_map(option)
            .collect();
        Ok(self.told(&options)?.unwrap_or(Combination {
            options,
            violation: None,
        }))
    }

    /// The evidence that these writers together contradict the level, if there is any, with no more of them than
    /// needed.
    fn told(&self, options: &[OptionId]) -> Result<Option<Combination>, Interrupt> {
        let choice = self.choice_of(options);
        let (parts, promotions, _) = self.refuter.look(&choice, LISTED)?;
        let option = |(chosen, of_read): (&Option<u32>, &Range<OptionId>)| {
            chosen.map(|chosen| of_read.start + chosen)
        };
        let of_reads: Vec<Option<OptionId>> = choice
            .iter()
            .zip(self.asked.options())
            .map(option)
            .collect();
        let is_told = |part: &Contradiction| {
            let place = |read: &OperationId| self.refuter.reads.binary_search(read).ok();
            part.needs
                .iter()
                .all(|read| place(read).is_some_and(|place| of_reads[place].is_some()))
        };
        let picked: Vec<OptionId> = of_reads
            .iter()
            .map(|option| option.unwrap_or(OptionId::MAX))
            .collect();
        let told = parts
            .into_iter()
            .filter(is_told)
            .min_by_key(|part| (part.violation.size(), part.needs.len()));
        Ok(told.and_then(|part| self.combination(part, &promotions, &picked)))
    }

    /// Whether the combinations that leave no pick contradict the level, each alone. Those that do not are dropped, and
    /// from then on each is checked before it is kept.
    fn is_sound(&mut self) -> Result<bool, Interrupt> {
        self.no_pick = self.asked.picks.refutation()?.unwrap_or_else(|| NoPick {
            forbidden: (0..self.learnt.len()).collect(),
            ..NoPick::default()
        });
        if self.careful {
            return Ok(true);
        }
        let mut is_sound = true;
        for place in self.no_pick.forbidden.clone() {
            is_sound = is_sound && self.contradicts(&self.learnt[place])?;
        }
        if !is_sound {
            self.careful = true;
            self.asked = CombinationSearch::asked(self.refuter);
            for combination in std::mem::take(&mut self.learnt) {
                if self.contradicts(&combination)? {
                    self.keep(combination);
                }
            }
        }
        Ok(is_sound)
    }

    /// The evidence that no pick is left.
    fn evidence(&self) -> Result<Option<Violation>, Interrupt> {
        let learnt = self.no_pick.forbidden.iter().map(|&at| &self.learnt[at]);
        let combinations: Option<Vec<(Vec<OptionId>, Violation)>> = learnt
            .map(|learnt| Some((learnt.options.clone(), learnt.violation.clone()?)))
            .collect();
        let violation =
            combinations.and_then(|combinations| self.asked.evidence(&self.no_pick, combinations));
        Ok(violation.map(without_cut_isolation))
    }
}
