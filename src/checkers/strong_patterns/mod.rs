//! Patterns above TCC: lost updates, long forks, write skews, and cycles that have no name of their own.
//!
//! Divergence, write skew and long fork are counted exactly, by joins over the reads. Other cycles are found in the
//! graph that phase 1 of the [`strong`](super::strong) engine leaves behind when it meets a contradiction: one shortest
//! cycle for each anti-dependency of each component. Their transactions are taken out of the history and proved on
//! their own, so every listed violation carries all its edges with reasons that hold at the levels it names; what
//! already violates TCC is left to the patterns of the weak levels.

mod argument;
mod class;
mod cycles;
mod divergence;
mod next_version;
mod pairs;

pub(super) use cycles::of_core;

use super::{Instances, LevelSet, Pattern, Proof, Violation, ViolationId};
use crate::control::{Control, Interrupt};
use crate::history::{History, TransactionId};
use crate::relations::Index;
use std::collections::{BTreeMap, BTreeSet};

/// Finds the patterns that violate PC, SI or SER, as far as `levels` asks for those levels. `levels` should hold the
/// levels that are violated: for each of them that no pattern explains, the engine's own refutation is proved and listed.
///
/// Counts of Divergence, WriteSkew, and of LongFork between readers of both keys, are exact; other counts are the
/// numbers of different cycles found. At most `max_instances` of a pattern are listed, smallest first.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub fn instances(
    history: &History,
    index: &Index,
    levels: LevelSet,
    max_instances: usize,
    control: &Control,
) -> Result<Instances, Interrupt> {
    let mut listing = Listing::default();
    let [pc, si, ser, sser] = cycles::STRONG.map(|level| levels.contains(level));
    let ser = ser || sser;
    if !(pc || si || ser) {
        return Ok(listing.finish(max_instances));
    }
    if si || ser {
        divergence::find(history, index, max_instances, &mut listing, control)?;
    }
    let pairs = pairs::Pairs::new(history, index, control)?;
    pairs.long_forks(max_instances, &mut listing, control)?;
    if ser {
        pairs.write_skews(max_instances, &mut listing);
    }
    for level in cycles::STRONG.into_iter().filter(|&level| levels.contains(level)) {
        cycles::find(history, index, level, max_instances, &mut listing, control)?;
    }
    for level in cycles::STRONG.into_iter().filter(|&level| levels.contains(level)) {
        if !listing.violations.iter().any(|violation| violation.levels.contains(level)) {
            cycles::fallback(history, index, level, &mut listing, control)?;
        }
    }
    Ok(listing.finish(max_instances))
}

/// How many instances of Divergence there are. O(reads log).
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(super) fn n_divergences(history: &History, index: &Index, control: &Control) -> Result<u64, Interrupt> {
    let mut listing = Listing::default();
    divergence::find(history, index, 0, &mut listing, control)?;
    Ok(listing.counts.get(&Pattern::Divergence).copied().unwrap_or(0))
}

/// Violations found so far.
#[derive(Default)]
struct Listing {
    counts: BTreeMap<Pattern, u64>,
    violations: Vec<Violation>,
    /// Patterns with the transactions of their cycle: what is listed already.
    seen: BTreeSet<(Pattern, Vec<TransactionId>)>,
    n_groups: u32,
}

impl Listing {
    fn count(&mut self, pattern: Pattern, n: u64) {
        *self.counts.entry(pattern).or_default() += n;
    }

    fn new_group(&mut self) -> u32 {
        self.n_groups += 1;
        self.n_groups
    }

    /// Lists a violation that has been counted.
    fn add(&mut self, mut violation: Violation, group: u32) {
        violation.group = group;
        self.seen.insert(Listing::identity(&violation));
        self.violations.push(violation);
    }

    /// Counts and lists a violation unless one with the same cycle is listed.
    fn add_new(&mut self, violation: Violation, group: u32) {
        if !self.seen.contains(&Listing::identity(&violation)) {
            self.count(violation.id.pattern, 1);
            self.add(violation, group);
        }
    }

    fn identity(violation: &Violation) -> (Pattern, Vec<TransactionId>) {
        let mut transactions: Vec<TransactionId> = match &violation.proof {
            Proof::Cycle(cycle) => cycle.iter().map(|&e| violation.edges[e].from).collect(),
            _ => violation.transactions.clone(),
        };
        transactions.sort_unstable();
        (violation.id.pattern, transactions)
    }

    /// Smallest first, bounded, with names and with groups numbered from 1 for each pattern.
    fn finish(mut self, max_instances: usize) -> Instances {
        self.violations.sort_by_cached_key(|violation| {
            (violation.id.pattern, violation.size(), violation.edges.len(), violation.transactions.clone())
        });
        let mut violations: Vec<Violation> = Vec::new();
        for of_pattern in self.violations.chunk_by(|a, b| a.id.pattern == b.id.pattern) {
            let mut groups: BTreeMap<u32, u32> = BTreeMap::new();
            for (place, violation) in of_pattern.iter().take(max_instances).enumerate() {
                let next = groups.len() as u32 + 1;
                let mut violation = violation.clone();
                violation.id = ViolationId { ordinal: place as u32 + 1, ..violation.id };
                violation.group = *groups.entry(violation.group).or_insert(next);
                violations.push(violation);
            }
        }
        Instances { counts: self.counts, violations }
    }
}

#[cfg(test)]
mod tests;
