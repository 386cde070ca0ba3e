//! Cut isolation if reads may have several sources.
//!
//! Without such reads CI is violated exactly by TAP-j. With them, each transaction and key is independent: all reads of
//! the key that do not return own writes must be able to share one writer. No choice for one transaction restricts
//! another, so no combinations need to be tried.
//!
//! Here every transaction of unknown outcome may or may not have committed, whatever the resolution says: it also rules
//! out sources that violate only stronger levels.

use super::refutation::{MOST_NESTED, merged, possible_writes};
use super::{
    Cause, Level, LevelSet, Pattern, Proof, Question, Supposed, Verdict, Violation, Witness,
    WrongReads,
};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, KeyId, OperationId, OperationKind, Outcome, TransactionId};
use isoscope_model::relations::Resolution;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Most reads whose writers are distinguished in one violation.
const MOST_CASES: usize = 500;

/// The levels that reads of one key violate which can share no writer. Repeatable read is left to cycles, since it does not
/// imply read committed, by which such reads may be explained.
pub(super) fn violated(history: &History, reads: &[OperationId]) -> LevelSet {
    let are_items = reads.iter().all(|&read| history.is_of_item(read));
    let of_items = Some(Level::ItemCutIsolation).filter(|_| are_items);
    LevelSet::upward(Level::CutIsolation)
        .iter()
        .chain(of_items)
        .collect()
}

/// Whether cut isolation, of all reads or of items, holds under some choice of sources. O(operations · log) for each
/// transaction that may turn out not to have aborted, and O(writers) for each read of a key that its transaction reads more
/// than once.
pub(super) fn verdict(
    history: &History,
    resolution: &Resolution,
    level: Level,
    control: &Control,
) -> Verdict {
    match Cut::new(history, resolution, level, control).and_then(|cut| cut.broken()) {
        Ok(None) => Verdict::Satisfied(Witness::Reads),
        Ok(Some(_)) => Verdict::Violated,
        Err(interrupt) => Verdict::Undecided(Cause::Interrupted(interrupt)),
    }
}

/// What violates cut isolation under every choice of sources: two reads that can share no writer, or a tree of cases
/// that all end that way; if that would be too large, reads that can share no writer that may have committed. `None` if
/// it is satisfied, or `control` ends the work first.
pub(super) fn refutation(
    history: &History,
    resolution: &Resolution,
    level: Level,
    control: &Control,
) -> Option<Violation> {
    refutation_in(history, resolution, level, MOST_CASES, control)
}

/// As `refutation`, with a tree of at most this many cases.
fn refutation_in(
    history: &History,
    resolution: &Resolution,
    level: Level,
    most_cases: usize,
    control: &Control,
) -> Option<Violation> {
    let cut = Cut::new(history, resolution, level, control).ok()?;
    let broken = cut.broken().ok()??;
    let mut left = most_cases;
    cut.refute(broken, ALLOWED, 0, &mut left).or_else(|| {
        let group = cut.group_without_writer(broken, ALLOWED)?;
        Some(cut.non_repeatable(broken, group.into_iter().map(|(read, _)| read).collect()))
    })
}

/// By transaction: whether it counts as committed under every choice of sources, counting every source that a read may
/// have read from. O(operations · log).
pub(super) fn certain(history: &History, resolution: &Resolution) -> Vec<bool> {
    let mut certain: Vec<bool> = history
        .transactions()
        .map(|t| history.outcome(t) == Outcome::Committed)
        .collect();
    let mut waiting: Vec<TransactionId> = history
        .transactions()
        .filter(|t| certain[t.index()])
        .collect();
    while let Some(t) = waiting.pop() {
        for writer in resolution.listed_writers(t) {
            if !std::mem::replace(&mut certain[writer.index()], true) {
                waiting.push(writer);
            }
        }
        for read in history.operations_of(t) {
            if resolution
                .multiple_sources(read)
                .is_some_and(|multiple| multiple.n_writers() > 1)
            {
                continue;
            }
            let Some(writers) = foreign_writers(resolution, t, read) else {
                continue;
            };
            if let [writer] = writers.as_slice()
                && !writer.is_initial()
                && !std::mem::replace(&mut certain[writer.index()], true)
            {
                waiting.push(*writer);
            }
        }
    }
    certain
}

/// A transaction that no read can have read from: it aborted.
const ABORTED: u32 = 0;
/// A transaction that may have been read from.
const ALLOWED: u32 = u32::MAX;

/// Which transactions may have been read from.
struct Cut<'a> {
    history: &'a History,
    resolution: &'a Resolution,
    /// Whether only reads of items count.
    of_items: bool,
    /// By transaction: the round in which it turned out that it cannot have committed, from 1; [`ABORTED`] or
    /// [`ALLOWED`].
    fallen: Vec<u32>,
    control: &'a Control,
}

impl<'a> Cut<'a> {
    /// A read from a transaction of unknown outcome makes it count as committed, with its own reads. The largest set of
    /// transactions that satisfy the rule when they read only from each other answers for all of them at once.
    fn new(
        history: &'a History,
        resolution: &'a Resolution,
        level: Level,
        control: &'a Control,
    ) -> Result<Cut<'a>, Interrupt> {
        let fallen = history.transactions().map(|t| match history.outcome(t) {
            Outcome::Aborted => ABORTED,
            _ => ALLOWED,
        });
        let mut cut = Cut {
            history,
            resolution,
            of_items: level.is_of_items(),
            fallen: fallen.collect(),
            control,
        };
        for round in 1.. {
            let standing = history
                .transactions()
                .filter(|&t| history.outcome(t) == Outcome::Unknown && cut.is_allowed(t, round));
            let is_broken = |t: TransactionId| {
                cut.is_broken(t, round)
                    .map(|is_broken| is_broken.then_some(t))
            };
            let bad: Vec<Option<TransactionId>> =
                standing.map(is_broken).collect::<Result<_, _>>()?;
            let bad: Vec<TransactionId> = bad.into_iter().flatten().collect();
            if bad.is_empty() {
                break;
            }
            bad.iter().for_each(|t| cut.fallen[t.index()] = round);
        }
        Ok(cut)
    }

    /// The first committed transaction that breaks the rule.
    fn broken(&self) -> Result<Option<TransactionId>, Interrupt> {
        for t in self
            .history
            .transactions()
            .filter(|&t| self.history.outcome(t) == Outcome::Committed)
        {
            if self.is_broken(t, ALLOWED)? {
                return Ok(Some(t));
            }
        }
        Ok(None)
    }

    /// Whether a transaction breaks the rule when it reads only from those allowed in a round.
    fn is_broken(&self, t: TransactionId, round: u32) -> Result<bool, Interrupt> {
        self.control.tick(t.index())?;
        Ok(
            self.fallen_in_list(t, round).is_some()
                || self.group_without_writer(t, round).is_some(),
        )
    }

    /// The transaction that must have appended to a list that a transaction read, but is not allowed in a round.
    fn fallen_in_list(&self, t: TransactionId, round: u32) -> Option<TransactionId> {
        self.resolution
            .listed_writers(t)
            .find(|&writer| !self.is_allowed(writer, round))
    }

    /// Whether a transaction may still be read from in a round.
    fn is_allowed(&self, writer: TransactionId, round: u32) -> bool {
        writer.is_initial() || self.fallen[writer.index()] >= round
    }

    /// Reads of one key by a transaction that can share no writer allowed in a round, each with all its writers.
    fn group_without_writer(
        &self,
        t: TransactionId,
        round: u32,
    ) -> Option<Vec<(OperationId, Vec<TransactionId>)>> {
        // A single read only needs one writer that is allowed.
        let mut reads = self
            .history
            .operations_of(t)
            .filter(|&o| self.history.kinds()[o.index()] == OperationKind::Read);
        if let (Some(read), None) = (reads.next(), reads.next())
            && let Some(multiple) = self.resolution.multiple_sources(read)
            && multiple.has_writer(|writer| self.is_allowed(writer, round))
        {
            return None;
        }
        let mut groups: BTreeMap<KeyId, (Vec<TransactionId>, Vec<OperationId>)> = BTreeMap::new();
        for read in self.history.operations_of(t) {
            if self.of_items && !self.history.is_of_item(read) {
                continue;
            }
            let Some(writers) = foreign_writers(self.resolution, t, read) else {
                continue;
            };
            let allowed = || {
                writers
                    .iter()
                    .copied()
                    .filter(|&writer| self.is_allowed(writer, round))
                    .collect()
            };
            let (common, reads) = groups
                .entry(self.history.keys()[read.index()])
                .or_insert_with(|| (allowed(), Vec::new()));
            if !reads.is_empty() {
                let writers: FxHashSet<TransactionId> = writers.into_iter().collect();
                common.retain(|writer| writers.contains(writer));
            }
            reads.push(read);
            if common.is_empty() {
                let with_writers =
                    |&read: &OperationId| Some((read, foreign_writers(self.resolution, t, read)?));
                return Some(reads.iter().filter_map(with_writers).collect());
            }
        }
        None
    }

    /// Why a transaction cannot have committed if only those allowed in a round did. Recursion is bounded.
    fn refute(
        &self,
        t: TransactionId,
        round: u32,
        depth: usize,
        left: &mut usize,
    ) -> Option<Violation> {
        let Some(group) = self.group_without_writer(t, round) else {
            let writer = self
                .fallen_in_list(t, round)
                .filter(|_| depth <= MOST_NESTED)?;
            return self.refute(writer, self.fallen[writer.index()], depth + 1, left);
        };
        for (at, (first, writers)) in group.iter().enumerate() {
            let mut later = group[at + 1..].iter();
            if let Some((second, _)) =
                later.find(|(_, others)| others.iter().all(|w| !writers.contains(w)))
            {
                return Some(self.non_repeatable(t, vec![*first, *second]));
            }
        }
        if depth > MOST_NESTED || *left == 0 {
            return None;
        }
        *left -= 1;
        // A read with few writers makes few cases.
        let (read, writers) = group.iter().min_by_key(|(_, writers)| writers.len())?;
        // A writer that all the reads have in common has fallen: else they could share it.
        if let [writer] = writers.as_slice() {
            return self.refute(*writer, self.fallen[writer.index()], depth + 1, left);
        }
        let mut case = |&writer: &TransactionId| {
            let other = group.iter().find(|(_, others)| !others.contains(&writer));
            Some(match other {
                Some((other, _)) => {
                    self.non_repeatable(t, vec![*read.min(other), *read.max(other)])
                }
                None => self.refute(writer, self.fallen[writer.index()], depth + 1, left)?,
            })
        };
        let cases: Option<Vec<Violation>> = writers.iter().map(&mut case).collect();
        let read = *read;
        let answers = writers
            .iter()
            .map(|&writer| Supposed::Writer { read, writer });
        let mut cases = answers.zip(cases?);
        Some(merged(
            self.history,
            Question::Writer { read },
            cases.next()?,
            cases,
        ))
    }

    /// Reads of one key that can share no writer.
    fn non_repeatable(&self, t: TransactionId, reads: Vec<OperationId>) -> Violation {
        let pattern = Pattern::NonRepeatableRead;
        let writes = |&read: &OperationId| possible_writes(self.history, self.resolution, read);
        let mut operations: Vec<OperationId> = reads
            .iter()
            .flat_map(writes)
            .chain(reads.iter().copied())
            .collect();
        operations.dedup();
        // Where only items count, other transactions may have committed.
        let may_differ = |&fallen: &u32| fallen != ABORTED && fallen != ALLOWED;
        let levels = match !self.of_items && self.fallen.iter().any(may_differ) {
            true => LevelSet::upward(Level::CutIsolation),
            false => violated(self.history, &reads),
        };
        Violation {
            also: vec!["C4 TAP-f".to_owned()],
            key: reads.first().map(|read| self.history.keys()[read.index()]),
            transactions: vec![t],
            operations,
            ..Violation::new(
                pattern,
                1,
                levels,
                Proof::Reads(Some(WrongReads { pattern, reads })),
            )
        }
    }
}

/// The other transactions that a read may have read from, ⊥ included; `None` if it did not read from any.
fn foreign_writers(
    resolution: &Resolution,
    t: TransactionId,
    read: OperationId,
) -> Option<Vec<TransactionId>> {
    match resolution.multiple_sources(read) {
        Some(multiple) => Some(
            multiple
                .sources()
                .iter()
                .filter_map(|source| source.writer())
                .collect(),
        ),
        None => resolution
            .source_in(t, read)
            .writer()
            .map(|writer| vec![writer]),
    }
}
