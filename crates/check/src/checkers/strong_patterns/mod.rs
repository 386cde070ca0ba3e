//! Patterns above TCC: lost updates, long forks, write skews, and cycles without a name of their own.
//!
//! Divergence, write skew and long fork are counted exactly, by joins over the reads. Other cycles are found among the
//! edges that are certain at a level (`strong::certain`): one shortest cycle for each anti-dependency of each
//! component. Their transactions are extracted from the history and proved on their own, so every listed violation
//! carries all its edges with reasons that hold at the levels it names; what already violates TCC is left to the
//! patterns of the weak levels.
//!
//! What is counted depends on the history alone:
//!
//! - Divergence, and as many of LostUpdate: pairs of transactions that read one version and both overwrite it. Those that
//!   read several versions of the key count for each and are listed for the first.
//! - WriteSkew: pairs of certain next versions missed crosswise by two transactions that are causally independent and
//!   write no common key. LongFork: (t1, t2, t3, t4), t3 sees t1's version and misses t2's, t4 the other way round.
//!   "Certain next" is defined by causality alone (`next_version`).
//! - Of all patterns, further cycles: for each certain anti-dependency on a cycle of certain edges, at each level asked
//!   for, the first shortest cycle through it; the transactions that this cycle rests on; the proof that these violate the
//!   weakest level they violate. Proofs count by pattern and by set of transactions on their cycle, once each. At each
//!   level the first 400 cycles are examined.
//! - CSCycle, MVCycle, MSRCycle, UACycle, PSICycle and UpdateCycle, if their levels are asked for: one proof for each of a few sets of transactions
//!   that violate the level by themselves, unless another pattern shows that it is violated.
//! - If that finds nothing for a violated level: one proof of the engine's refutation, of each of the first components.
//!
//! "First" is in the order of the index. [`instances`] should be given one in canonical order
//! ([`Index::canonical`](isoscope_model::relations::Index::canonical)): there the order depends on what happened, not on the
//! order of sessions in the file or on names. Only if a symmetry of the history exchanges sessions does the file
//! decide, and then the other choice is the same with other names.

mod argument;
mod class;
mod cycles;
mod divergence;
mod long_forks;
mod next_version;
mod pairs;
mod parts;

pub(super) use class::{key_of, named_by};
pub(super) use cycles::of_core;
pub(super) use parts::{of_engine, of_part};

use super::place::Window;
use super::{Instances, Level, LevelSet, Pattern, Proof, Violation, ViolationId};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, TransactionId};
use isoscope_model::relations::{Axiom, Edge, Index, Reason};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// Instances of a pattern that are collected at least.
const LISTED: usize = 1000;
/// Most cycles that are examined at a level, however many are listed: counts depend on the history alone.
const MOST_CYCLES: usize = 400;
/// Most cycles where one is enough.
const FEW_CYCLES: usize = 8;
/// Most disjoint sets of transactions that violate a level defined by parts, likewise.
const MOST_SETS: usize = 16;

/// Finds the patterns that violate PC, SI or SER, as far as `levels` includes those levels. `levels` should hold the
/// violated levels: for each of them that no pattern explains, the engine's own refutation is proved and listed.
///
/// Counts of Divergence, WriteSkew, and of LongFork between readers of both keys, are exact; other counts are the
/// numbers of distinct cycles found. At most `max_instances` of a pattern are listed, smallest first. When `control`
/// ends the work, what was counted until then is kept.
pub fn instances(
    history: &History,
    index: &Index,
    levels: LevelSet,
    max_instances: usize,
    control: &Control,
) -> Instances {
    let Some((updates, ser)) = above_weak(levels) else {
        return Instances::default();
    };
    let mut listing = Listing {
        sought: levels,
        history: Some(history),
        ..Listing::default()
    };
    // What is listed decides which cycles count as new.
    let most = max_instances.max(LISTED);
    let updates = if updates {
        divergence::find(history, index, most, &mut listing, control)
    } else {
        Ok(())
    };
    // The caller can tell from its control whether it is complete.
    let Ok(mut pairs) = updates.and_then(|()| pairs::Pairs::new(history, index, control)) else {
        return listing.finish(max_instances);
    };
    if ser {
        pairs.write_skews(most, &mut listing);
    }
    let forks = match strong(levels).next() {
        Some(_) => long_forks::LongForks::new(&pairs).find(most, &mut listing, control),
        None => Ok(()),
    };
    // What takes as much memory as the reads is gone before cycles are searched in a graph of that size.
    pairs.forget_edges();
    listing.pairs = Some(&pairs);
    let rest = |listing: &mut Listing<'_>| -> Result<(), Interrupt> {
        for level in by_parts(levels) {
            if !listing.shows(level) {
                parts::find(history, index, level, MOST_SETS, listing, control)?;
            }
        }
        for level in strong(levels) {
            cycles::find(history, index, level, MOST_CYCLES, listing, control)?;
        }
        for level in strong(levels) {
            if !listing.shows(level) {
                cycles::fallback(history, index, level, listing, control)?;
            }
        }
        for level in of_items(levels) {
            if !listing.shows(level) {
                parts::find(history, index, level, MOST_SETS, listing, control)?;
            }
        }
        Ok(())
    };
    let _ = forks.and_then(|()| rest(&mut listing));
    listing.finish(max_instances)
}

/// At least one violation of each of the violated `levels` above TCC, searched in the fastest way; nothing is counted.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(super) fn first(
    history: &History,
    index: &Index,
    levels: LevelSet,
    control: &Control,
) -> Result<Instances, Interrupt> {
    let mut listing = Listing {
        sought: levels,
        history: Some(history),
        ..Listing::default()
    };
    named(history, index, levels, &mut listing, control)?;
    for level in by_parts(levels) {
        if !listing.shows(level) {
            parts::find(history, index, level, 1, &mut listing, control)?;
        }
    }
    for level in strong(levels) {
        if !listing.shows(level) {
            cycles::find(history, index, level, FEW_CYCLES, &mut listing, control)?;
        }
        if !listing.shows(level) {
            cycles::fallback(history, index, level, &mut listing, control)?;
        }
    }
    for level in of_items(levels) {
        if !listing.shows(level) {
            parts::find(history, index, level, 1, &mut listing, control)?;
        }
    }
    let found = listing.finish(1);
    Ok(Instances {
        violations: found.violations,
        ..Instances::default()
    })
}

/// Lists one instance of each named pattern, as long as some of the levels is not shown to be violated.
fn named(
    history: &History,
    index: &Index,
    levels: LevelSet,
    listing: &mut Listing<'_>,
    control: &Control,
) -> Result<(), Interrupt> {
    let Some((updates, ser)) = above_weak(levels) else {
        return Ok(());
    };
    if updates {
        divergence::find(history, index, 1, listing, control)?;
    }
    if strong(levels).all(|level| listing.shows(level)) {
        return Ok(());
    }
    let pairs = pairs::Pairs::new(history, index, control)?;
    if ser {
        pairs.write_skews(1, listing);
    }
    if !strong(levels).all(|level| listing.shows(level)) {
        let forks = long_forks::LongForks::new(&pairs);
        if let Some(lower) = forks.first(control)? {
            forks.list(lower, 1, listing);
        }
    }
    Ok(())
}

/// The strong levels among some, weakest first.
fn strong(levels: LevelSet) -> impl Iterator<Item = Level> {
    levels
        .iter()
        .filter(|level| level.is_strong() && level.plain_of().is_none() && level.clock().is_none())
}

/// The levels among some whose violations are found in parts of the history and proved there, weakest first.
fn by_parts(levels: LevelSet) -> impl Iterator<Item = Level> {
    let is_one = |level: &Level| {
        level.is_of_dependencies() || level.is_of_each_read() || level.clock().is_some()
    };
    // Some levels without sessions are the same ones where each transaction has a session of its own.
    levels.iter().filter(move |level| {
        is_one(level)
            && !level.is_serial_for_items()
            && (level.plain_of().is_none() || level.is_form_of_itself())
    })
}

/// Those that are about items only. Arguments about stronger levels may show them, too.
fn of_items(levels: LevelSet) -> impl Iterator<Item = Level> {
    levels
        .iter()
        .filter(|level| level.is_serial_for_items() && level.plain_of().is_none())
}

/// If any of these or a strong level is included: whether one is at which no update is lost, and whether one at which those
/// that write are serial.
fn above_weak(levels: LevelSet) -> Option<(bool, bool)> {
    let mut any = by_parts(levels)
        .chain(strong(levels))
        .chain(of_items(levels))
        .peekable();
    any.peek()?;
    let keeps_updates = any.any(|level| level.implies_without_sessions(Level::CursorStability));
    let is_serial = strong(levels).any(Level::is_serial)
        || by_parts(levels).any(Level::is_serial_for_updates)
        || of_items(levels).next().is_some();
    Some((keeps_updates, is_serial))
}

/// The counted instances of one pattern that `window` wants and that joins count, with their ordinals, in the order of their
/// places.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(super) fn unlisted(
    history: &History,
    index: &Index,
    pattern: Pattern,
    window: &mut Window,
    control: &Control,
) -> Result<Vec<Violation>, Interrupt> {
    let mut found = match pattern {
        Pattern::Divergence | Pattern::LostUpdate => {
            divergence::unlisted(history, index, pattern, window, control)?
        }
        Pattern::LongFork | Pattern::WriteSkew => {
            let pairs = pairs::Pairs::new(history, index, control)?;
            match pattern {
                Pattern::LongFork => {
                    long_forks::LongForks::new(&pairs).unlisted(window, control)?
                }
                _ => pairs.unlisted_skews(window),
            }
        }
        _ => Vec::new(),
    };
    found
        .iter_mut()
        .for_each(|violation| name_levels_of_items(history, violation));
    Ok(found)
}

/// How many instances of Divergence there are. O(reads log).
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub fn n_divergences(
    history: &History,
    index: &Index,
    control: &Control,
) -> Result<u64, Interrupt> {
    let mut listing = Listing::default();
    divergence::find(history, index, 0, &mut listing, control)?;
    Ok(listing
        .counts
        .get(&Pattern::Divergence)
        .copied()
        .unwrap_or(0))
}

/// Violations found so far.
#[derive(Default)]
struct Listing<'f> {
    counts: BTreeMap<Pattern, u64>,
    violations: Vec<Violation>,
    /// Patterns with the transactions of their cycle that are already counted.
    seen: BTreeSet<(Pattern, Vec<TransactionId>)>,
    /// Write skews that are counted but not listed.
    skews: FxHashSet<[TransactionId; 2]>,
    /// Tells the long forks, once all are counted.
    pairs: Option<&'f pairs::Pairs<'f>>,
    n_groups: u32,
    history: Option<&'f History>,
    /// The violated levels, each of which some violation has to show.
    sought: LevelSet,
    /// Those of `seen` that were listed again for a level that nothing else showed by then.
    again: BTreeSet<(Pattern, Vec<TransactionId>)>,
}

impl Listing<'_> {
    fn count(&mut self, pattern: Pattern, n: u64) {
        *self.counts.entry(pattern).or_default() += n;
    }

    /// Whether a violation of a level is listed.
    fn shows(&self, level: Level) -> bool {
        self.violations
            .iter()
            .any(|violation| violation.levels.contains(level))
    }

    fn new_group(&mut self) -> u32 {
        self.n_groups += 1;
        self.n_groups
    }

    /// Remembers a write skew that has been counted but is not listed.
    fn note_skew(&mut self, mut transactions: [TransactionId; 2]) {
        transactions.sort_unstable();
        self.skews.insert(transactions);
    }

    /// Whether a cycle of these transactions has been counted.
    fn has(&self, identity: &(Pattern, Vec<TransactionId>)) -> bool {
        self.seen.contains(identity)
            || match (identity.0, identity.1.as_slice()) {
                (Pattern::WriteSkew, &[a, b]) => self.skews.contains(&[a, b]),
                (Pattern::LongFork, transactions) if transactions.len() == 4 => self
                    .pairs
                    .is_some_and(|pairs| long_forks::is_counted(pairs, transactions)),
                _ => false,
            }
    }

    /// Lists a violation that has been counted.
    fn add(&mut self, mut violation: Violation, group: u32) {
        violation.group = group;
        if let Some(history) = self.history {
            name_levels_of_items(history, &mut violation);
        }
        self.seen.insert(Listing::identity(&violation));
        self.violations.push(violation);
    }

    /// Counts and lists a violation unless one with the same cycle is counted.
    fn add_new(&mut self, violation: Violation, group: u32) {
        let identity = Listing::identity(&violation);
        // A cycle with a single anti-dependency is told of the weakest level of dependencies that it violates.
        let by_parts = [
            Pattern::CSCycle,
            Pattern::MVCycle,
            Pattern::UACycle,
            Pattern::PSICycle,
        ];
        let is_told = identity.0 == Pattern::SICycle
            && !violation.levels.contains(Level::PrefixConsistency)
            && by_parts
                .iter()
                .any(|pattern| self.seen.contains(&(*pattern, identity.1.clone())));
        let updates = (Pattern::UpdateCycle, identity.1.clone());
        let is_again = identity.0 == Pattern::SERCycle && self.seen.contains(&updates);
        if is_told || is_again && violation.levels.iter().all(|level| self.shows(level)) {
            return;
        }
        // Levels that do not imply each other may be violated by one argument.
        let is_same = |known: &&mut Violation| {
            known.edges == violation.edges && known.proof == violation.proof
        };
        if let Some(known) = self.violations.iter_mut().find(is_same) {
            known.levels = known.levels.union(violation.levels);
            return;
        }
        // An argument about a cycle that is counted is listed, too, if nothing else shows a level.
        let shows_more = violation
            .levels
            .iter()
            .any(|level| self.sought.contains(level) && !self.shows(level));
        let is_again = self.has(&identity);
        if !is_again || shows_more {
            if is_again {
                self.again.insert(identity);
            }
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

    /// Leaves out what was listed again for a level that another argument about the same cycle has turned out to show.
    fn leave_out_covered(&mut self) {
        let sought = self.sought;
        let covers = |one: LevelSet, other: LevelSet| {
            other.iter().all(|l| !sought.contains(l) || one.contains(l))
        };
        for identity in std::mem::take(&mut self.again) {
            let is_it = |violation: &&Violation| Listing::identity(violation) == identity;
            let all: Vec<LevelSet> = self
                .violations
                .iter()
                .filter(is_it)
                .map(|violation| violation.levels)
                .collect();
            let (mut place, before) = (0, self.violations.len());
            self.violations.retain(|violation| {
                if !is_it(&violation) {
                    return true;
                }
                place += 1;
                let mine = violation.levels;
                let by_earlier = all[..place - 1].iter().any(|other| covers(*other, mine));
                !by_earlier
                    && !all[place..]
                        .iter()
                        .any(|other| covers(*other, mine) && !covers(mine, *other))
            });
            let n_left_out = (before - self.violations.len()) as u64;
            self.counts
                .entry(identity.0)
                .and_modify(|count| *count -= n_left_out);
        }
    }

    /// Smallest first, those of equal size in the order in which they were found, bounded, with names and with groups
    /// numbered from 1 for each pattern.
    fn finish(mut self, max_instances: usize) -> Instances {
        self.leave_out_covered();
        self.violations.sort_by_key(|violation| {
            (
                violation.id.pattern,
                violation.size(),
                violation.edges.len(),
            )
        });
        let (mut violations, mut more) = (Vec::new(), Vec::new());
        for of_pattern in self
            .violations
            .chunk_by(|a, b| a.id.pattern == b.id.pattern)
        {
            let mut groups: BTreeMap<u32, u32> = BTreeMap::new();
            for (place, violation) in of_pattern.iter().enumerate() {
                if place >= max_instances {
                    more.extend(
                        Some(violation)
                            .filter(|violation| violation.place.is_none())
                            .cloned(),
                    );
                    continue;
                }
                let next = groups.len() as u32 + 1;
                let mut violation = violation.clone();
                violation.id = ViolationId {
                    ordinal: place as u32 + 1,
                    ..violation.id
                };
                violation.group = *groups.entry(violation.group).or_insert(next);
                violations.push(violation);
            }
        }
        Instances {
            counts: self.counts,
            violations,
            more,
        }
    }
}

/// An argument about a serial order holds where only items must be unchanged, too, if it rests on items.
fn name_levels_of_items(history: &History, violation: &mut Violation) {
    let holds = |edge: &Edge| match &edge.because {
        Reason::Overwrites { .. } => edge
            .from_operation
            .is_some_and(|read| history.is_of_item(read)),
        Reason::Visible { axiom, read, .. } => {
            *axiom == Axiom::CommitOrder && history.is_of_item(*read)
        }
        _ => true,
    };
    if !violation.edges.iter().all(holds) {
        return;
    }
    let forms = [
        (Level::StrictSerializability, Level::StrongRepeatableRead),
        (Level::Serializability, Level::RepeatableRead),
    ];
    for (of_all, of_items) in forms {
        if violation.levels.contains(of_all) {
            violation.levels = violation.levels.union(LevelSet::upward(of_items));
        }
    }
}

#[cfg(test)]
mod tests;
