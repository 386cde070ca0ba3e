//! Why a level is violated whichever transactions wrote what the ambiguous reads returned.
//!
//! Each choice of writers may violate a level for a reason of its own, so the evidence is a tree of cases. A choice is
//! completed arbitrarily, a violation is searched for, and only the reads it rests on are split by writer: reads that
//! no contradiction needs are never examined, and a case whose contradiction does not need its assumption replaces the
//! whole tree. If the tree gets too large that way, the next read to split on is the one with the fewest writers that
//! do not contradict the level at once. If even that is too large, contradictory [`combinations`] of writers are learnt
//! until they exclude every choice. A transaction of unknown outcome counts as committed in the cases in which a
//! committed transaction reads from it; its own reads are split in those cases only.

mod asked;
mod combinations;
mod impossible;
mod merge;
mod needs;

use super::decide::{self, Decisions};
use super::decision::Decision;
use super::facts::Facts;
use super::rest::Sought;
use super::weak::BaseOrder;
use super::{
    Instances, Level, LevelSet, Pattern, Question, Supposed, Violation, evidence, read_consistency,
};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, OperationId};
use isoscope_model::relations::{Choice, Index, Resolution, Standing};
use needs::{Promotions, needs};
use std::collections::BTreeSet;

pub(super) use asked::Asked;
pub(super) use combinations::{Searched, refute_by, search};
pub(super) use merge::{merged, merged_by_strongest, possible_writes, spelled_out};
pub(super) use needs::is_impossible_read;

/// Most cases examined, over the whole tree.
const MOST_CASES: u64 = 2000;

/// Fewest cases examined, whatever the size of the history.
const FEWEST_CASES: u64 = 16;

/// Most operations visited, over all cases.
const MOST_OPERATIONS: u64 = 20_000_000;

/// Most choices tried to find the read with the fewest writers left, over the whole tree.
const MOST_TRIALS: u64 = 100_000;

/// Deepest nesting of cases: readers of reports need not look deeper.
pub(super) const MOST_NESTED: usize = 28;

/// Instances examined per pattern and case.
const LISTED: usize = 8;

/// A contradiction, and the ambiguous reads whose chosen writers it relies on.
struct Contradiction {
    violation: Violation,
    needs: BTreeSet<OperationId>,
}

/// A violation of `level` that holds under every choice of writers, if the level is violated under every choice: its
/// proof is a tree of cases. `None` if the level is satisfied, or if the tree would be too large.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(super) fn refute(
    history: &History,
    resolution: &Resolution,
    level: Level,
    control: &Control,
) -> Result<Option<Violation>, Interrupt> {
    let affordable = MOST_OPERATIONS / history.n_operations().max(1) as u64;
    let left = affordable.clamp(FEWEST_CASES, MOST_CASES);
    let mut refuter = Refuter {
        left,
        ..Refuter::of_all(history, resolution, level, control)
    };
    let mut part = refuter.refute(&mut resolution.choice_of_none(), 0)?;
    if part.is_none() {
        refuter.left = left;
        refuter.trials = Some(affordable.min(MOST_TRIALS));
        part = refuter.refute(&mut resolution.choice_of_none(), 0)?;
    }
    Ok(part
        .filter(|part| part.needs.is_empty())
        .map(|part| without_cut_isolation(part.violation)))
}

/// At cut isolation other writers count, so cases say nothing there.
fn without_cut_isolation(mut violation: Violation) -> Violation {
    violation.levels = violation.levels.above_reads();
    violation
}

/// Reads whose writers violate read committed by themselves, whichever of them is meant, count as reads from the first of
/// them. Adds the other cases to the listed violations that rest on such reads.
pub(super) fn split_impossible_reads(
    history: &History,
    resolution: &Resolution,
    found: &mut Instances,
) {
    if !resolution.has_multiple_sources() {
        return;
    }
    let promotions = Promotions::new(history, resolution, &resolution.choice_of_none());
    let is_torn = |violation: &&Violation| violation.id.pattern == Pattern::NonRepeatableRead;
    let torn: Vec<Violation> = found.violations.iter().filter(is_torn).cloned().collect();
    for violation in &mut found.violations {
        let mut spelled = spelled_out(history, resolution, violation.clone());
        let needed = needs(history, resolution, &spelled, &promotions);
        if matches!(
            violation.id.pattern,
            Pattern::FracturedReadCO | Pattern::FracturedReadCM
        ) {
            needs::name_without_doubt(history, resolution, &mut spelled, &needed);
            violation.also.clone_from(&spelled.also);
            if needs::is_two_reads_of_a_key(history, resolution, violation, &needed, &torn) {
                violation.levels = LevelSet::default();
                continue;
            }
        }
        let mut impossible: Vec<OperationId> = needed
            .into_iter()
            .filter(|&read| is_impossible_read(history, resolution, read))
            .collect();
        if impossible.is_empty() {
            continue;
        }
        // The reader of an outer case must take part without the inner ones.
        impossible.sort_by_key(|&read| promotions.depth(history.transaction_of(read)));
        if impossible.len() > MOST_NESTED
            && let Some(shorter) = impossible::refutation(history, resolution, impossible[0])
        {
            let &mut Violation {
                implied,
                group,
                place,
                ..
            } = violation;
            *violation = Violation {
                implied,
                group,
                place,
                ..shorter
            };
            continue;
        }
        let wrap = |inner, &read: &OperationId| {
            impossible::with_other_writers(history, resolution, read, inner)
        };
        *violation = impossible.iter().rev().fold(spelled, wrap);
    }
    // The instances of two transactions are listed once: where what is listed is none, those that are not are none either.
    for pattern in [Pattern::FracturedReadCO, Pattern::FracturedReadCM] {
        let of_pattern = || {
            found
                .violations
                .iter()
                .filter(|violation| violation.id.pattern == pattern)
        };
        let n = of_pattern().count() as u64;
        if n > 0 && of_pattern().all(|violation| violation.levels.weakest().is_none()) {
            found.counts.insert(pattern, n);
        }
    }
}

#[derive(Clone)]
struct Refuter<'a> {
    history: &'a History,
    resolution: &'a Resolution,
    level: Level,
    control: &'a Control,
    /// The ambiguous reads, one entry of a choice for each.
    reads: Vec<OperationId>,
    /// The reads that are split by writer; the others are left out.
    matters: Vec<bool>,
    /// How many more cases may be examined.
    left: u64,
    /// How many more choices may be tried to find the read with the fewest writers left; `None` if a contradiction says
    /// which read is next.
    trials: Option<u64>,
}

impl<'a> Refuter<'a> {
    /// With all ambiguous reads, outside any case.
    fn of_all(
        history: &'a History,
        resolution: &'a Resolution,
        level: Level,
        control: &'a Control,
    ) -> Refuter<'a> {
        let reads: Vec<OperationId> = resolution
            .ambiguous_reads()
            .map(|multiple| multiple.read)
            .collect();
        let matters = vec![true; reads.len()];
        Refuter {
            history,
            resolution,
            level,
            control,
            reads,
            matters,
            left: 0,
            trials: None,
        }
    }

    /// A contradiction that needs no other choices than those made. Recursion is bounded by [`MOST_NESTED`].
    fn refute(
        &mut self,
        choice: &mut Choice,
        depth: usize,
    ) -> Result<Option<Contradiction>, Interrupt> {
        if depth > MOST_NESTED || self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let (mut parts, mut promotions) = self.contradictions(choice)?;
        if parts.is_empty() && self.trials.is_some() {
            return match self.narrowest(choice, &promotions)? {
                Some(read) => self.tell_apart(read, choice, depth, &promotions),
                None => Ok(None),
            };
        }
        if parts.is_empty() {
            let first = |(chosen, matters): (&Option<u32>, &bool)| chosen.or(matters.then_some(0));
            let completed = choice.iter().zip(&self.matters).map(first).collect();
            (parts, promotions) = self.contradictions(&completed)?;
        }
        let open = |part: &Contradiction| {
            part.needs
                .iter()
                .copied()
                .filter(|&r| self.chosen(choice, r).is_none())
                .collect()
        };
        let with_open = parts.into_iter().map(|part| (open(&part), part));
        let best = with_open.min_by_key(|(open, part): &(Vec<OperationId>, Contradiction)| {
            (
                open.len(),
                part.violation.implied,
                part.violation.size(),
                part.violation.edges.len(),
            )
        });
        let Some((open, part)) = best else {
            return Ok(None);
        };
        // The reader committed by the fewest steps is committed by the choices already made.
        let reader = |read: OperationId| self.history.transaction_of(read);
        match open
            .into_iter()
            .min_by_key(|&read| (promotions.depth(reader(read)), read))
        {
            None => Ok(Some(part)),
            Some(read) => self.tell_apart(read, choice, depth, &promotions),
        }
    }

    /// A contradiction in the case of each writer of a read.
    fn tell_apart(
        &mut self,
        read: OperationId,
        choice: &mut Choice,
        depth: usize,
        promotions: &Promotions,
    ) -> Result<Option<Contradiction>, Interrupt> {
        let Some(multiple) = self.resolution.multiple_sources(read) else {
            return Ok(None);
        };
        let Ok(place) = self.reads.binary_search(&read) else {
            return Ok(None);
        };
        let sources = multiple.sources();
        let mut cases: Vec<(Supposed, Violation)> = Vec::with_capacity(sources.len());
        let mut needed = BTreeSet::new();
        for (candidate, &source) in sources.iter().enumerate() {
            let part = if candidate < multiple.kept {
                choice[place] = Some(candidate as u32);
                let part = self.refute(choice, depth + 1)?;
                choice[place] = None;
                part
            } else {
                let violation = impossible::contradiction(self.history, read, source);
                violation.map(|violation| Contradiction {
                    violation,
                    needs: BTreeSet::from([read]),
                })
            };
            let (Some(part), Some(writer)) = (part, source.writer()) else {
                return Ok(None);
            };
            if !part.needs.contains(&read) {
                return Ok(Some(part));
            }
            needed.extend(part.needs);
            cases.push((Supposed::Writer { read, writer }, part.violation));
        }
        needed.remove(&read);
        promotions.add_reads(self.history.transaction_of(read), &mut needed);
        needed.retain(|read| self.reads.binary_search(read).is_ok());
        Ok(
            merged_by_strongest(self.history, Question::Writer { read }, cases).map(|violation| {
                Contradiction {
                    violation,
                    needs: needed,
                }
            }),
        )
    }

    /// The read of a committed transaction with the fewest writers that do not contradict the level at once.
    fn narrowest(
        &mut self,
        choice: &mut Choice,
        promotions: &Promotions,
    ) -> Result<Option<OperationId>, Interrupt> {
        let mut best: Option<(usize, OperationId)> = None;
        for place in 0..self.reads.len() {
            let read = self.reads[place];
            let takes_part = match self.resolution.standing(self.history.transaction_of(read)) {
                Standing::Possible => promotions.depth(self.history.transaction_of(read)) > 0,
                _ => true,
            };
            if choice[place].is_some() || !takes_part || !self.matters[place] {
                continue;
            }
            let mut left = 0;
            for candidate in 0..self.resolution.candidates(read).len() as u32 {
                let Some(trials) = self.trials.as_mut().filter(|trials| **trials > 0) else {
                    return Ok(None);
                };
                *trials -= 1;
                choice[place] = Some(candidate);
                let index = Index::build_with(self.history, self.resolution, choice, self.control)?;
                choice[place] = None;
                left += usize::from(!self.is_violated(&index, 0)?.1);
                if best.is_some_and(|(fewest, _)| left >= fewest) {
                    break;
                }
            }
            if best.is_none_or(|(fewest, _)| left < fewest) {
                best = Some((left, read));
            }
            if left == 0 {
                break;
            }
        }
        Ok(best.map(|(_, read)| read))
    }

    /// The patterns of single reads in an index, and whether the level is violated there.
    fn is_violated(&self, index: &Index, listed: usize) -> Result<(Instances, bool), Interrupt> {
        let reads = read_consistency::instances(
            self.history,
            self.resolution,
            index,
            listed,
            self.control,
        )?;
        let violates = Facts::of(reads.counts.keys().copied()).violate(self.level) || {
            let ground = BaseOrder::new(index, self.control)?;
            decide::ask(index, ground.as_ref(), self.level, self.control)?.is_violated()
        };
        Ok((reads, violates))
    }

    fn chosen(&self, choice: &Choice, read: OperationId) -> Option<u32> {
        self.reads
            .binary_search(&read)
            .ok()
            .and_then(|place| choice[place])
    }

    /// What contradicts the level under a choice that may leave reads out.
    fn contradictions(
        &self,
        choice: &Choice,
    ) -> Result<(Vec<Contradiction>, Promotions), Interrupt> {
        let (parts, promotions, _) = self.look(choice, LISTED)?;
        Ok((parts, promotions))
    }

    /// What contradicts the level under a choice that may leave reads out, up to `listed` instances of each pattern,
    /// and whether anything does: contradictions without an explanation are not listed.
    fn look(
        &self,
        choice: &Choice,
        listed: usize,
    ) -> Result<(Vec<Contradiction>, Promotions, bool), Interrupt> {
        let (history, resolution, control) = (self.history, self.resolution, self.control);
        control.check()?;
        let promotions = Promotions::new(history, resolution, choice);
        let index = Index::build_with(history, resolution, choice, control)?;
        let (reads, is_violated) = self.is_violated(&index, listed)?;
        if !is_violated || listed == 0 {
            return Ok((Vec::new(), promotions, is_violated));
        }
        let sought = Sought::of(&Decisions::from([(
            self.level,
            (Ok(Decision::violated()), 0.0),
        )]));
        let found = evidence::collect(history, &index, reads, sought, None, listed, control);
        control.check()?;
        let is_torn = |violation: &&Violation| violation.id.pattern == Pattern::NonRepeatableRead;
        let torn: Vec<Violation> = found.violations.iter().filter(is_torn).cloned().collect();
        let of_level = found
            .violations
            .into_iter()
            .filter(|violation| violation.levels.contains(self.level));
        let parts = of_level
            .filter_map(|violation| self.part(violation, &promotions, &torn))
            .collect();
        Ok((parts, promotions, true))
    }

    /// A violation with what it needs. If it needs a read whose writers are all wrong, that read is the better argument.
    /// None for one that is just two reads of a key, which is among `torn`.
    fn part(
        &self,
        violation: Violation,
        promotions: &Promotions,
        torn: &[Violation],
    ) -> Option<Contradiction> {
        let (history, resolution) = (self.history, self.resolution);
        let mut violation = spelled_out(history, resolution, violation);
        needs::without_doubtful_name(history, resolution, &mut violation);
        let needed = needs(history, resolution, &violation, promotions);
        let is_fractured = matches!(
            violation.id.pattern,
            Pattern::FracturedReadCO | Pattern::FracturedReadCM
        );
        if is_fractured
            && needs::is_two_reads_of_a_key(history, resolution, &violation, &needed, torn)
        {
            return None;
        }
        let impossible = needed
            .iter()
            .copied()
            .filter(|&read| is_impossible_read(history, resolution, read));
        match impossible.min_by_key(|&read| promotions.depth(history.transaction_of(read))) {
            None => Some(Contradiction {
                violation,
                needs: needed,
            }),
            Some(read) => {
                let violation = impossible::refutation(history, resolution, read)?;
                let mut needs = BTreeSet::new();
                promotions.add_reads(history.transaction_of(read), &mut needs);
                needs.retain(|read| self.reads.binary_search(read).is_ok());
                Some(Contradiction { violation, needs })
            }
        }
    }
}

#[cfg(test)]
mod tests;
