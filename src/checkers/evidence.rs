//! From verdicts to listed violations.

use super::decide::{Decision, Decisions};
use super::{Instances, Level, LevelSet, Pattern, core_proof, weak};
use crate::control::{Control, Interrupt};
use crate::history::History;
use crate::relations::{Choice, Index, Resolution};
use std::collections::BTreeMap;

/// One resolved history under one choice of sources.
pub(super) struct Case<'a> {
    pub(super) history: &'a History,
    pub(super) resolution: &'a Resolution,
    pub(super) choice: &'a Choice,
    pub(super) index: &'a Index,
}

/// Adds to the patterns of single reads all other instances that violate one of the violated levels, and for every
/// violated level that no listed instance names a cycle of its own. What was found when `control` ends the work is kept.
pub(super) fn collect(
    case: &Case<'_>,
    reads: Instances,
    decisions: &Decisions,
    max_instances: usize,
    control: &Control,
) -> Instances {
    let mut found = reads;
    let violated: LevelSet =
        decisions.iter().filter(|(_, (decision, _))| decision.is_violated()).map(|(level, _)| *level).collect();
    let causal = decisions.get(&Level::TransactionalCausalConsistency).map(|(decision, _)| decision);
    if violated.weakest().is_some() && !matches!(causal, Some(Decision::Satisfied(_))) {
        // A violation of a strong level may be one of causal consistency: then that is the better story.
        let mut levels = violated;
        levels.insert(Level::TransactionalCausalConsistency);
        add(&mut found, weak::instances(case.history, case.index, levels, max_instances, control));
    }
    if max_instances > 0 {
        // Weakest first: what violates a level violates all stronger ones, so that is mostly one proof.
        for (&level, (decision, _)) in decisions {
            let named = found.violations.iter().any(|violation| violation.levels.contains(level));
            if let (Decision::Violated(Some(core)), false) = (decision, named)
                && let Ok(Some(violation)) = core_proof::prove(case, level, core, control)
            {
                *found.counts.entry(violation.id.pattern).or_default() += 1;
                found.violations.push(violation);
            }
        }
    }
    found
}

fn add(found: &mut Instances, more: Result<Instances, Interrupt>) {
    let Ok(more) = more else { return };
    for (pattern, count) in more.counts {
        *found.counts.entry(pattern).or_default() += count;
    }
    // Non-repeatable reads are counted and listed by the pass over single reads, with all levels they violate.
    found.violations.extend(more.violations.into_iter().filter(|v| v.id.pattern != Pattern::NonRepeatableRead));
}

/// Takes the satisfied levels off every violation, drops what then violates nothing, and puts the rest in the order of
/// listing with ordinals and groups from 1.
pub(super) fn arrange(found: &mut Instances, satisfied: LevelSet, max_instances: usize) {
    for violation in &mut found.violations {
        violation.levels = violation.levels.iter().filter(|level| !satisfied.contains(*level)).collect();
    }
    found.violations.retain(|violation| violation.levels.weakest().is_some());
    found.violations.sort_by_key(|violation| (violation.id.pattern, violation.implied, violation.size()));
    let mut listed: BTreeMap<Pattern, u32> = BTreeMap::new();
    found.violations.retain_mut(|violation| {
        let ordinal = listed.entry(violation.id.pattern).or_default();
        *ordinal += 1;
        violation.id.ordinal = *ordinal;
        *ordinal as usize <= max_instances
    });
    let mut groups: BTreeMap<(Pattern, u32), u32> = BTreeMap::new();
    for violation in &mut found.violations {
        let next = groups.len() as u32 + 1;
        violation.group = *groups.entry((violation.id.pattern, violation.group)).or_insert(next);
    }
}
