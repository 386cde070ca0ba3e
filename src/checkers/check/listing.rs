//! What violates the levels, listed.

use super::*;
use crate::checkers::Violation;
use crate::checkers::refutation::{self, Searched};
use crate::control::NOT_ALL_LISTED;

impl Run<'_> {
    /// Lists what violates the levels by these decisions, those that every choice of writers violates, and LIN.
    pub(super) fn list(
        &mut self,
        prepared: Prepared,
        decisions: &Decisions,
        by_choice: LevelSet,
        linear: linear::Evidence,
    ) -> Instances {
        if !self.options.counts && self.options.max_instances == 0 {
            self.rest.uncounted = self.verdicts.values().any(|(verdict, _)| *verdict == Verdict::Violated);
            return Instances::default();
        }
        self.control.phase("listing violations", 0);
        let mut first = None;
        if !self.options.counts || self.control.limits_time() {
            first = self.first(&prepared, decisions, by_choice, &linear);
        }
        if let Some(first) = first.take_if(|_| !self.options.counts) {
            self.rest.uncounted = first.violations.iter().any(|violation| violation.levels.weakest().is_some());
            return first;
        }
        // What was found must still be verified when the time for counting is over.
        let counting = self.control.leaving_time();
        let decisions = self.with_causality(&prepared, decisions, &counting);
        let Prepared { resolution, index, reads, .. } = prepared;
        let max = self.options.max_instances;
        let mut found =
            evidence::collect_in_canonical_order(self.history, &resolution, &index, reads, &decisions, max, &counting);
        if let Some(first) = first {
            evidence::add_missing(&mut found, first);
        }
        if resolution.has_multiple_sources() {
            self.list_cases(&resolution, by_choice, &mut found);
        }
        self.list_conflicts(linear, &resolution, &index, &mut found);
        if let Err(interrupt) = counting.check() {
            self.assumptions.push(format!("{NOT_ALL_LISTED} ({interrupt}); there may be more of them."));
        }
        let satisfied = self.levels_that_hold();
        evidence::arrange(&mut found, satisfied, max);
        self.rest = Rest { sought: evidence::violated(&decisions), satisfied, ..Rest::default() };
        found
    }

    /// What shows that the levels are violated, without counting; none where it takes more than that.
    fn first(
        &self,
        prepared: &Prepared,
        decisions: &Decisions,
        by_choice: LevelSet,
        linear: &linear::Evidence,
    ) -> Option<Instances> {
        if by_choice.weakest().is_some() || !linear.is_empty() || prepared.resolution.has_multiple_sources() {
            return None;
        }
        let Prepared { index, reads, .. } = prepared;
        let mut found =
            evidence::first(self.history, index, reads, decisions, self.options.max_instances, self.control)?;
        evidence::arrange(&mut found, self.levels_that_hold(), 1);
        let is_shown =
            |(level, (verdict, _)): (&Level, &(Verdict, f64))| *verdict != Verdict::Violated || names(&found, *level);
        self.verdicts.iter().all(is_shown).then_some(found)
    }

    /// The levels that are satisfied, and those that they imply.
    fn levels_that_hold(&self) -> LevelSet {
        let satisfied = |(level, (verdict, _)): (&Level, &(Verdict, f64))| {
            matches!(verdict, Verdict::Satisfied(_)).then_some(*level)
        };
        let satisfied: Vec<Level> = self.verdicts.iter().filter_map(satisfied).collect();
        Level::ALL.into_iter().filter(|&weaker| satisfied.iter().any(|level| level.implies(weaker))).collect()
    }

    /// The decisions with one on TCC, where a stronger level is violated and TCC was not asked for: to decide it is
    /// faster than to look for all that may violate it.
    fn with_causality(&self, prepared: &Prepared, decisions: &Decisions, control: &Control) -> Decisions {
        let mut decisions = decisions.clone();
        let causal = Level::TransactionalCausalConsistency;
        let facts = Facts::of(prepared.reads.counts.keys().copied());
        let above = |(level, (decision, _)): (&Level, &(Decision, f64))| *level > causal && decision.is_violated();
        if decisions.iter().any(above) && !decisions.contains_key(&causal) && !facts.violate(causal) {
            let asked = ask(&prepared.index, prepared.ground.as_ref(), causal, control);
            decisions.insert(causal, (asked.unwrap_or_else(Decision::Undecided), 0.0));
        }
        decisions
    }

    /// Makes what is listed hold under every choice of writers, and adds what violates the levels `by_choice`, for each
    /// choice in another way.
    fn list_cases(&mut self, resolution: &Resolution, by_choice: LevelSet, found: &mut Instances) {
        hold_under_every_choice(self.history, resolution, found);
        let cut_isolation = self.verdicts.get(&Level::CutIsolation).map(|(verdict, _)| verdict);
        // What every choice violates down to cut isolation takes no cases at the levels above.
        let is_torn = by_choice.iter().any(|level| level.implies(Level::CutIsolation) && !names(found, level));
        if (cut_isolation == Some(&Verdict::Violated) && !names(found, Level::CutIsolation)
            || cut_isolation.is_none() && is_torn)
            && let Some(violation) = cut_isolation::refutation(self.history, resolution)
        {
            add(found, violation);
        }
        for level in by_choice.iter() {
            if names(found, level) {
                continue;
            }
            match self.refuted(resolution, level) {
                Ok(Some(violation)) => add(found, violation),
                Ok(None) => self.assumptions.push(format!(
                    "{level} is violated under every choice of writers of the ambiguous reads, but not every \
                     contradiction could be written down."
                )),
                Err(_) => {}
            }
        }
    }

    /// Why a level is violated whichever transactions wrote what the ambiguous reads returned: a tree of cases where a small one is found,
    /// else combinations that exclude every choice.
    fn refuted(&mut self, resolution: &Resolution, level: Level) -> Result<Option<Violation>, Interrupt> {
        let why = self.evidence.remove(&level).unwrap_or(Why::Unsaid);
        if let Why::Combinations(level, lists) = &why
            && let Some(violation) = refutation::refute_by(self.history, resolution, *level, lists, self.control)?
        {
            return Ok(Some(violation));
        }
        if let Some(violation) = refutation::refute(self.history, resolution, level, self.control)? {
            return Ok(Some(violation));
        }
        if let Why::Told(violation) = why {
            return Ok(Some(*violation));
        }
        Ok(match refutation::search(self.history, resolution, level, u64::MAX, self.control)? {
            Searched::Violated(violation) => violation.map(|violation| *violation),
            Searched::Satisfied(_) | Searched::GaveUp => None,
        })
    }
}

/// Makes what was found hold for every possible writer of what the ambiguous reads returned.
pub(in crate::checkers) fn hold_under_every_choice(history: &History, resolution: &Resolution, found: &mut Instances) {
    if resolution.has_multiple_sources() {
        refutation::tell_hopeless_reads_apart(history, resolution, found);
        take_uncertain_off_cut_isolation(history, resolution, found);
    }
}

/// At cut isolation all writers count, also those that stronger levels rule out: what rests on their being ruled out
/// says nothing there, whether the level was asked for or not.
fn take_uncertain_off_cut_isolation(history: &History, resolution: &Resolution, found: &mut Instances) {
    if !names(found, Level::CutIsolation) {
        return;
    }
    let certain = cut_isolation::certain(history, resolution);
    for violation in found.violations.iter_mut().filter(|v| v.levels.contains(Level::CutIsolation)) {
        let reader = violation.edges.first().map(|edge| edge.to);
        if reader.is_none_or(|reader| reader.is_initial() || !certain[reader.index()]) {
            violation.levels = violation.levels.iter().filter(|level| *level != Level::CutIsolation).collect();
        }
    }
}

pub(super) fn names(found: &Instances, level: Level) -> bool {
    found.violations.iter().any(|violation| violation.levels.contains(level))
}

pub(super) fn add(found: &mut Instances, violation: Violation) {
    *found.counts.entry(violation.id.pattern).or_default() += 1;
    found.violations.push(violation);
}
