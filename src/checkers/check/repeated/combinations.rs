//! Which combinations of appends contradict a level, learnt one by one until a world is left that satisfies it or none is.
//!
//! An append is picked for every open place. Where the world that this makes violates the level, a part of it is looked
//! for that violates the level already while everything else is left open, and no later pick has that part. So the search
//! ends with a world or with combinations that exclude all of them, however many places are open: memory grows with
//! what is learnt only. Exponential in the worst case, since the levels are NP-complete to decide where elements repeat.

use super::search::{Answer, Search, nobody_made};
use super::world::{Open, World, candidates_at};
use crate::checkers::refutation::merged_by_combinations;
use crate::checkers::{Supposed, Verdict, Violation};
use crate::control::{Control, Interrupt};
use crate::history::OperationId;
use crate::sat::{NoPick, OptionId, Picks};
use rustc_hash::FxHashMap;

/// An append that may have made the element at a place of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Made {
    read: OperationId,
    place: usize,
    append: OperationId,
    option: OptionId,
}

/// What some appends lead to.
enum Leads {
    /// To this world.
    To(Box<World>),
    /// Nowhere: they exclude each other, or an element is left that nobody can have made.
    Nowhere,
    /// Some list among them was read by somebody who need not take part.
    Unasked,
}

/// The search for one level.
pub(super) struct Combinations<'s, 'a> {
    search: &'s mut Search<'a>,
    root: &'s World,
    control: &'a Control,
    picks: Picks<'a>,
    /// By read and place: who may have made the element, and the first option.
    asked: FxHashMap<(OperationId, usize), (Vec<OperationId>, OptionId)>,
    /// By option.
    options: Vec<Made>,
    learnt: Vec<Vec<Made>>,
}

impl<'s, 'a> Combinations<'s, 'a> {
    /// Everything is open that is open in `root`.
    pub(super) fn new(search: &'s mut Search<'a>, root: &'s World, control: &'a Control) -> Combinations<'s, 'a> {
        let picks = Picks::new(control);
        Combinations {
            search,
            root,
            control,
            picks,
            asked: FxHashMap::default(),
            options: Vec::new(),
            learnt: Vec::new(),
        }
    }

    /// Decides the level.
    ///
    /// # Errors
    /// [`Interrupt`] when the control ends the work first.
    pub(super) fn decide(mut self) -> Result<Answer, Interrupt> {
        for open in &self.root.open {
            self.ask(open);
        }
        while let Some(picked) = self.picks.pick()? {
            let (made, world) = self.follow(&picked)?;
            if let Some(world) = world {
                match self.search.verdict(&world)? {
                    Some(Verdict::Satisfied(_)) => return Ok(Answer::Satisfied(Box::new(world))),
                    Some(Verdict::Violated) => {}
                    _ => return Ok(Answer::Unknown),
                }
            }
            self.control.advance(1);
            let made = self.cut_down(made)?;
            self.picks.forbid(&made.iter().map(|made| made.option).collect::<Vec<_>>());
            self.learnt.push(made);
        }
        let no_pick = self.picks.refutation()?;
        Ok(match no_pick {
            Some(no_pick) => Answer::Violated(self.evidence(&no_pick)?.map(Box::new)),
            None => Answer::Violated(None),
        })
    }

    /// Asks what made the element at a place, unless that is asked already.
    fn ask(&mut self, open: &Open) {
        let (read, place) = (open.read, open.place);
        if self.asked.contains_key(&(read, place)) {
            return;
        }
        let appends = candidates_at(&self.root.history, read, place);
        let options = self.picks.ask(appends.len());
        let made = appends.iter().zip(options.clone()).map(|(&append, option)| Made { read, place, append, option });
        self.options.extend(made);
        self.asked.insert((read, place), (appends, options.start));
    }

    /// What is picked for an open place; the first that fits for a place that was not asked for yet.
    fn picked(&mut self, open: &Open, picked: &[OptionId]) -> Made {
        let is_new = !self.asked.contains_key(&(open.read, open.place));
        self.ask(open);
        let (appends, first) = &self.asked[&(open.read, open.place)];
        let options = *first..*first + appends.len() as OptionId;
        let fits = |option: &OptionId| open.candidates.contains(&self.options[*option as usize].append);
        let option = match is_new {
            true => options.clone().find(fits),
            false => picked.iter().copied().find(|option| options.contains(option)),
        };
        self.options[option.unwrap_or(options.start) as usize]
    }

    /// Makes the picked appends, place by place, until nothing is open or one does not fit: the world, if there is one,
    /// and the appends.
    fn follow(&mut self, picked: &[OptionId]) -> Result<(Vec<Made>, Option<World>), Interrupt> {
        let mut made: Vec<Made> = Vec::new();
        let mut world = self.root.clone();
        loop {
            if world.impossible.is_some() {
                return Ok((made, None));
            }
            let Some(open) = world.open.first().cloned() else { return Ok((made, Some(world))) };
            let next = self.picked(&open, picked);
            made.push(next);
            if !open.candidates.contains(&next.append) {
                return Ok((made, None));
            }
            world = world.with(&[(next.read, next.place, next.append)], self.control)?;
        }
    }

    /// The world in which only these appends are known.
    fn world_of(&self, made: &[Made]) -> Result<Leads, Interrupt> {
        let mut world = self.root.clone();
        for made in made {
            if !world.takes_part(made.read) {
                return Ok(Leads::Unasked);
            }
            if !candidates_at(&world.history, made.read, made.place).contains(&made.append) {
                return Ok(Leads::Nowhere);
            }
            if world.open.iter().any(|open| open.names(&world.history, made.read, made.place)) {
                world = world.with(&[(made.read, made.place, made.append)], self.control)?;
            }
            if world.impossible.is_some() {
                return Ok(Leads::Nowhere);
            }
        }
        Ok(Leads::To(Box::new(world)))
    }

    /// Whether these appends contradict the level, whatever else is open.
    fn contradict(&mut self, made: &[Made]) -> Result<bool, Interrupt> {
        Ok(match self.world_of(made)? {
            Leads::Nowhere => true,
            Leads::Unasked => false,
            Leads::To(world) => self.search.verdict(&world)? == Some(Verdict::Violated),
        })
    }

    /// A part of a contradictory combination that contradicts and would not with any append less. O(appends · log) trials.
    fn cut_down(&mut self, mut made: Vec<Made>) -> Result<Vec<Made>, Interrupt> {
        let mut length = made.len().next_power_of_two();
        while length > 0 {
            let mut end = made.len();
            while end > 0 {
                let begin = end.saturating_sub(length);
                let less = [&made[..begin], &made[end..]].concat();
                if self.contradict(&less)? {
                    made = less;
                }
                end = begin;
            }
            length /= 2;
        }
        Ok(made)
    }

    /// What shows that no pick is left.
    fn evidence(&mut self, no_pick: &NoPick) -> Result<Option<Violation>, Interrupt> {
        let mut combinations = Vec::with_capacity(no_pick.forbidden.len());
        for &learnt in &no_pick.forbidden {
            let made = self.learnt[learnt].clone();
            let violation = match self.world_of(&made)? {
                Leads::Unasked => return Ok(None),
                Leads::Nowhere => {
                    let place = made.last().map(|made| (made.read, made.place)).or(self.root.impossible);
                    let Some(place) = place else { return Ok(None) };
                    nobody_made(&self.root.history, place)
                }
                Leads::To(world) => match self.search.violation(&world)? {
                    Some(violation) => violation,
                    None => return Ok(None),
                },
            };
            combinations.push((made.iter().map(|made| made.option).collect::<Vec<_>>(), violation));
        }
        let mentioned = combinations
            .iter()
            .flat_map(|(options, _)| options)
            .chain(no_pick.clauses.iter().flatten().map(|(option, _)| option));
        let mut questions: Vec<(OperationId, usize)> =
            mentioned.map(|&option| self.options[option as usize]).map(|made| (made.read, made.place)).collect();
        questions.sort_unstable();
        questions.dedup();
        let mut options: Vec<Supposed> = Vec::new();
        let mut place_of: FxHashMap<OptionId, usize> = FxHashMap::default();
        for (read, place) in questions {
            let (appends, first) = &self.asked[&(read, place)];
            for (&append, option) in appends.iter().zip(*first..) {
                place_of.insert(option, options.len());
                options.push(Supposed::Append { read, place, append });
            }
        }
        let combinations = combinations
            .into_iter()
            .map(|(options, violation)| (options.iter().map(|option| place_of[option]).collect(), violation));
        let clause =
            |clause: &Vec<(OptionId, bool)>| clause.iter().map(|(option, holds)| (place_of[option], *holds)).collect();
        let clauses = no_pick.clauses.iter().map(clause).collect();
        Ok(merged_by_combinations(options, combinations.collect(), clauses))
    }
}
