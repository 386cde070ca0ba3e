//! Whether some choice of appends for the open places of lists satisfies a level, and if none does, why.
//!
//! A place is told apart append by append. What is violated while other places are left open is violated whatever made
//! them, so whole branches are passed over, and places that no contradiction needs are never told apart: the next one is
//! that with the fewest appends that do not contradict the level at once.

use super::combinations::Combinations;
use super::world::{Open, World};
use super::{Elements, Manner, check_with};
use crate::checkers::refutation::{merged_by_appends, spelled_out};
use crate::checkers::{Findings, Level, LevelSet, Options, Pattern, Proof, Verdict, Violation, ViolationId};
use crate::control::{Control, Interrupt};
use crate::history::{History, KeyId, OperationId};
use rustc_hash::FxHashSet;

/// Most operations gone through for a tree of cases of one level.
const MOST_OPERATIONS: u64 = 20_000_000;

/// Fewest and most worlds looked at for it.
const FEWEST_WORLDS: u64 = 16;
const MOST_WORLDS: u64 = 20_000;

/// Most cases inside one another: readers of reports need not look deeper.
const MOST_NESTED: usize = 20;

/// Places compared to find the next one to tell apart.
const COMPARED: usize = 8;

/// Instances looked at per pattern and world.
const LISTED: usize = 8;

/// What is found of a level.
pub(super) enum Answer {
    /// This choice of appends satisfies it.
    Satisfied(Box<World>),
    /// No choice does; with the evidence, unless a contradiction has none.
    Violated(Option<Box<Violation>>),
    /// There are too many to try one by one, or too many cases to tell.
    Unknown,
}

/// Looks at choices of appends for one level.
pub(super) struct Search<'a> {
    level: Level,
    options: &'a Options,
    control: &'a Control,
    /// How many more worlds may be looked at for a tree of cases.
    pub(super) left: u64,
}

impl<'a> Search<'a> {
    pub(super) fn new(history: &History, level: Level, options: &'a Options, control: &'a Control) -> Search<'a> {
        let affordable = MOST_OPERATIONS / history.n_operations().max(1) as u64;
        Search { level, options, control, left: affordable.clamp(FEWEST_WORLDS, MOST_WORLDS) }
    }

    /// Decides the level in a world: by a tree of cases, which is easy to follow, or where that gets too large by
    /// combinations that contradict.
    ///
    /// # Errors
    /// [`Interrupt`] when the control ends the work first.
    pub(super) fn decide(&mut self, world: &World) -> Result<Answer, Interrupt> {
        match self.decide_by_cases(world.clone(), 0)? {
            Answer::Unknown | Answer::Violated(None) => Combinations::new(self, world, self.control).decide(),
            answer => Ok(answer),
        }
    }

    /// A tree of cases for a world. Recursion is bounded by [`MOST_NESTED`].
    fn decide_by_cases(&mut self, world: World, depth: usize) -> Result<Answer, Interrupt> {
        if let Some(place) = world.impossible {
            return Ok(Answer::Violated(Some(Box::new(nobody_made(&world.history, place)))));
        }
        if depth > MOST_NESTED || self.left == 0 {
            return Ok(Answer::Unknown);
        }
        let mut findings = self.ask(&world, LISTED)?;
        match findings.level(self.level).map(|result| &result.verdict) {
            Some(Verdict::Violated) => {
                return Ok(Answer::Violated(self.shortest(&world, &mut findings).map(Box::new)));
            }
            Some(Verdict::Satisfied(_)) => return Ok(Answer::Satisfied(Box::new(world))),
            _ if world.open.is_empty() => return Ok(Answer::Unknown),
            _ => {}
        }
        let Some(next) = self.narrowest(&world)? else { return Ok(Answer::Unknown) };
        let mut cases: Vec<(OperationId, Violation)> = Vec::with_capacity(next.candidates.len());
        for &append in &next.candidates {
            let inner = world.with(&[(next.read, next.place, append)], self.control)?;
            match self.decide_by_cases(inner, depth + 1)? {
                Answer::Violated(Some(violation)) => cases.push((append, *violation)),
                Answer::Violated(None) => return Ok(Answer::Unknown),
                satisfied_or_unknown => return Ok(satisfied_or_unknown),
            }
        }
        let violation = merged_by_appends(&world.history, (next.read, next.place), cases);
        Ok(violation.map_or(Answer::Unknown, |violation| Answer::Violated(Some(Box::new(violation)))))
    }

    /// The verdict at the level, as far as it does not depend on what is open.
    pub(super) fn verdict(&mut self, world: &World) -> Result<Option<Verdict>, Interrupt> {
        let mut findings = self.ask(world, 0)?;
        self.control.check()?;
        Ok(findings.levels.pop().map(|result| result.verdict))
    }

    /// What violates the level in a world, if anything does.
    pub(super) fn violation(&mut self, world: &World) -> Result<Option<Violation>, Interrupt> {
        let mut findings = self.ask(world, LISTED)?;
        self.control.check()?;
        Ok(self.shortest(world, &mut findings))
    }

    /// The verdict at the level, as far as it does not depend on what is open.
    fn ask(&mut self, world: &World, listed: usize) -> Result<Findings, Interrupt> {
        self.control.check()?;
        self.left = self.left.saturating_sub(1);
        let options = Options { levels: vec![self.level], max_instances: listed, ..self.options.clone() };
        let manner = Manner { elements: Elements::LeftOpen, tests_set_up: false, ..Manner::WHOLE };
        let resolution = Some(world.resolution.clone());
        Ok(check_with(&world.history, resolution, &options, self.control, manner, &|_| {}))
    }

    /// The place to tell apart next: of those with the fewest candidates the one with the fewest that do not contradict the
    /// level at once.
    fn narrowest(&mut self, world: &World) -> Result<Option<Open>, Interrupt> {
        let mut open: Vec<&Open> = world.open.iter().collect();
        open.sort_by_key(|open| open.candidates.len());
        let mut best: Option<(usize, &Open)> = None;
        for place in open.into_iter().take(COMPARED) {
            let mut alive = 0;
            for &append in &place.candidates {
                if self.left == 0 || best.is_some_and(|(fewest, _)| alive >= fewest) {
                    break;
                }
                let inner = world.with(&[(place.read, place.place, append)], self.control)?;
                let is_violated = inner.impossible.is_some() || {
                    let findings = self.ask(&inner, 0)?;
                    findings.level(self.level).is_some_and(|result| result.verdict == Verdict::Violated)
                };
                alive += usize::from(!is_violated);
            }
            if best.is_none_or(|(fewest, _)| alive < fewest) {
                best = Some((alive, place));
            }
            if alive == 0 {
                break;
            }
        }
        Ok(best.map(|(_, place)| place.clone()))
    }

    /// The violation of the level that is easiest to follow.
    fn shortest(&self, world: &World, findings: &mut Findings) -> Option<Violation> {
        let of_level = findings.violations.drain(..).filter(|violation| violation.levels.contains(self.level));
        let shortest = of_level.min_by_key(|v| (v.implied, v.size(), v.edges.len(), v.id))?;
        let mut violation = spelled_out(&world.history, &world.resolution, shortest);
        // At cut isolation an element counts as that of everybody who appended it.
        violation.levels = violation.levels.iter().filter(|level| *level != Level::CutIsolation).collect();
        Some(violation)
    }
}

/// A choice of appends for all open places, by what stands first in the file or what began first.
pub(super) fn guess(world: World, by_time: bool, attempts: u64, control: &Control) -> Result<Option<World>, Interrupt> {
    let mut world = world;
    for _ in 0..attempts {
        if world.impossible.is_some() {
            return Ok(None);
        }
        if world.open.is_empty() {
            return Ok(Some(world));
        }
        let history = &world.history;
        let began = |append: &OperationId| {
            let interval = history.interval(history.transaction_of(*append)).filter(|_| by_time);
            (interval.map(|interval| interval.start), *append)
        };
        // The places of different keys say nothing of each other.
        let mut keys: FxHashSet<KeyId> = FxHashSet::default();
        let firsts = world.open.iter().filter(|open| keys.insert(history.keys()[open.read.index()]));
        let made: Vec<_> = firsts
            .filter_map(|open| Some((open.read, open.place, open.candidates.iter().copied().min_by_key(began)?)))
            .collect();
        world = world.with(&made, control)?;
    }
    Ok(None)
}

/// The violation that an element is that no append can have made at its place.
pub(super) fn nobody_made(history: &History, (read, place): (OperationId, usize)) -> Violation {
    let pattern = Pattern::IncompatibleOrder;
    Violation {
        id: ViolationId { pattern, ordinal: 1 },
        also: vec!["incompatible-order".to_owned()],
        levels: LevelSet::upward(Level::ReadCommitted),
        key: Some(history.keys()[read.index()]),
        transactions: vec![history.transaction_of(read)],
        operations: vec![read],
        edges: Vec::new(),
        proof: Proof::Appends { read, place, cases: Vec::new() },
        implied: false,
        group: 1,
    }
}
