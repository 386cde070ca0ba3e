//! The first part that is cut out of the whole history.

use super::cutter::{
    Answer, Cutter, ViolatingPart, Wanted, check_at, levels_of, named_by, verdicts,
};
use super::{VERDICTS, late};
use crate::counterexample::groups::named_transactions;
use crate::counterexample::translate::translate;
use crate::counterexample::{Counterexample, Minimality, Shows, involved_operations};
use isoscope_check::checkers::{Cause, Level, Pattern, Verdict, Violation};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{
    History, Interval, OperationKind, Outcome, TransactionId, TransactionSet,
};

/// Up to this many transactions, keeping the pattern with reads that are separate anomalies is tried.
const MOST_WITH_WRONG_READS: usize = 64;

/// The violation with exactly its own transactions and operations, when there was not even time to resolve reads.
pub(super) fn uncut(
    history: &History,
    violation: &Violation,
    level: Level,
    interrupt: Interrupt,
    control: &Control,
) -> Counterexample {
    let involved = involved_operations(violation);
    let mut keep = TransactionSet::of(history, named_transactions(violation));
    involved.iter().for_each(|&o| {
        keep.insert(history.transaction_of(o));
    });
    let (small, renaming) = history.restrict(&keep, |o| {
        history.kinds()[o.index()] == OperationKind::Write || involved.binary_search(&o).is_ok()
    });
    let (history, renaming, violation) = match translate(violation, &renaming) {
        Some(translated) => {
            let listed = check_at(&small, vec![level], &late(control)).violations;
            (
                small.with_lists_as_recorded(history, &renaming),
                renaming,
                named_by(&listed, translated),
            )
        }
        None => {
            let (all, same) = history.restrict(&TransactionSet::full(history), |_| true);
            (all, same, violation.clone())
        }
    };
    let verdicts = levels_of(&history, level, &violation).into_iter().map(|l| {
        if violation.levels.contains(l) || l == level {
            (l, Verdict::Violated)
        } else {
            (l, Verdict::Undecided(Cause::Interrupted(interrupt)))
        }
    });
    let n_transactions_of_whole = renaming.transactions.len().max(history.n_transactions());
    let verdicts = verdicts.collect();
    reduced(
        ViolatingPart {
            keep: Vec::new(),
            history,
            renaming,
            violation,
        },
        level,
        verdicts,
        n_transactions_of_whole,
    )
}

/// The violation in the whole history: for when no part of it shows the same. O(one check of the history).
pub fn whole(
    history: &History,
    violation: &Violation,
    level: Level,
    control: &Control,
) -> Counterexample {
    let (same, renaming) = history.restrict(&TransactionSet::full(history), |_| true);
    let violation = translate(violation, &renaming).unwrap_or_else(|| violation.clone());
    let verdicts = verdicts(
        &same,
        level,
        &violation,
        &late(control).with_time_limit(VERDICTS),
    );
    let n_transactions = history.n_transactions();
    reduced(
        ViolatingPart {
            keep: Vec::new(),
            history: same,
            renaming,
            violation,
        },
        level,
        verdicts,
        n_transactions,
    )
}

fn reduced(
    found: ViolatingPart,
    level: Level,
    verdicts: Vec<(Level, Verdict)>,
    n_transactions_of_whole: usize,
) -> Counterexample {
    Counterexample {
        level,
        verdicts,
        minimality: Minimality::Reduced,
        operation_minimality: Minimality::Reduced,
        shows: Shows::Chosen,
        n_transactions_of_whole,
        history: found.history,
        renaming: found.renaming,
        violation: found.violation,
    }
}

impl Cutter<'_> {
    /// A first sub-history that violates the level: the transactions named, else with the writers of all they read,
    /// and so on; else the unchanged whole history, with `false`.
    pub(super) fn first(&mut self) -> Option<(ViolatingPart, bool)> {
        // A part would lack the setup that its lists begin with.
        let appended = self.history.initial_appends();
        if self
            .involved
            .iter()
            .any(|o| appended.contains_key(&self.history.keys()[o.index()]))
        {
            return Some((self.whole()?, false));
        }
        let mut keep = TransactionSet::of(self.history, named_transactions(self.original));
        for &o in &self.involved {
            keep.insert(self.history.transaction_of(o));
        }
        match self.original.id.pattern {
            Pattern::NoLinearOrder => self.add_writers_around(&mut keep),
            _ => self
                .involved
                .iter()
                .flat_map(|&o| self.writers(o))
                .for_each(|writer| {
                    keep.insert(writer);
                }),
        }
        loop {
            self.add_promoters(&mut keep);
            let members: Vec<TransactionId> =
                keep.iter().filter(|&t| !self.is_initial(t)).collect();
            match self.ask(&members) {
                Answer::Violated(found) => return Some((*found, true)),
                Answer::ByAnotherPattern if self.wanted != Wanted::Anything => {
                    if !self.widen(&mut keep, &members) {
                        if self.is_itself {
                            self.is_unlisted = true;
                            return Some((self.as_found(&members)?, true));
                        }
                        self.wanted = Wanted::Anything;
                    }
                    continue;
                }
                Answer::ByAnotherPattern | Answer::No | Answer::Unusable => {}
            }
            let before = keep.len();
            self.control.check().ok()?;
            if before == self.history.n_transactions() {
                return Some((self.whole()?, false));
            }
            self.add_writers(&mut keep, &members);
            if keep.len() == before {
                keep = TransactionSet::full(self.history);
            }
        }
    }

    /// Adds the writers of what operations without an order observed, as far as they matter: those that ran beside them, and
    /// of those that had ended before the last.
    pub(super) fn add_writers_around(&self, members: &mut TransactionSet) {
        let ran = |t: TransactionId| {
            self.history
                .interval(t)
                .map(|ran| match self.history.outcome(t) {
                    Outcome::Unknown => Interval {
                        end: i64::MAX,
                        ..ran
                    },
                    _ => ran,
                })
        };
        let all: Vec<Interval> = members.iter().filter_map(ran).collect();
        let first = all.iter().map(|ran| ran.start).min().unwrap_or(i64::MIN);
        let last = all.iter().map(|ran| ran.end).max().unwrap_or(i64::MAX);
        let mut found: Vec<TransactionId> = Vec::new();
        for &read in &self.involved {
            let mut writers = self.writers(read);
            writers.sort_by_key(|&writer| ran(writer).map(|ran| (ran.end, ran.start)));
            let is_beside = |writer: &TransactionId| {
                ran(*writer).is_none_or(|ran| ran.end >= first && ran.start <= last)
            };
            let beside: Vec<TransactionId> = writers.iter().copied().filter(is_beside).collect();
            let before = writers
                .into_iter()
                .rfind(|&writer| ran(writer).is_some_and(|ran| ran.end < first));
            found.extend(before.into_iter().chain(beside));
        }
        for writer in found {
            members.insert(writer);
        }
    }

    /// Adds the transactions that show that ones of unknown outcome committed.
    pub(super) fn add_promoters(&self, keep: &mut TransactionSet) {
        for t in keep.iter().collect::<Vec<_>>() {
            let mut shown = t;
            while let Some(&(reader, _)) = self.promoted_by.get(&shown) {
                keep.insert(reader);
                shown = reader;
            }
        }
    }

    /// Widens a part that violates the level by another pattern than the wanted one: first by the reads that were left
    /// out because they are separate anomalies, since the pattern may rest on them; then by the writers of all reads.
    /// `false` when nothing is left to try.
    fn widen(&mut self, keep: &mut TransactionSet, members: &[TransactionId]) -> bool {
        let before = keep.len();
        let is_small = members.len() <= MOST_WITH_WRONG_READS && self.control.check().is_ok();
        let stayed = std::mem::replace(&mut self.wrong_reads_stay, is_small);
        if is_small {
            self.add_writers(keep, members);
        }
        self.wrong_reads_stay = is_small && (!stayed || keep.len() > before);
        self.wrong_reads_stay
    }

    fn add_writers(&self, keep: &mut TransactionSet, members: &[TransactionId]) {
        for &t in members {
            for o in self.history.operations_of(t) {
                for writer in self.writers(o) {
                    keep.insert(writer);
                }
            }
        }
    }

    /// These transactions, with their writes and what the violation is about, and the unchanged violation.
    fn as_found(&self, members: &[TransactionId]) -> Option<ViolatingPart> {
        let keep = TransactionSet::of(self.history, members.iter().copied());
        let (history, renaming) = self.history.restrict(&keep, |o| {
            self.history.kinds()[o.index()] == OperationKind::Write
                || self.involved.binary_search(&o).is_ok()
        });
        let violation = translate(self.original, &renaming)?;
        Some(ViolatingPart {
            keep: members.to_vec(),
            history,
            renaming,
            violation,
        })
    }

    /// The whole history with the unchanged violation: for when it cannot be explained without the reads that are left
    /// out elsewhere.
    fn whole(&self) -> Option<ViolatingPart> {
        let (history, renaming) = self
            .history
            .restrict(&TransactionSet::full(self.history), |_| true);
        let violation = translate(self.original, &renaming)?;
        Some(ViolatingPart {
            keep: self.history.transactions().collect(),
            history,
            renaming,
            violation,
        })
    }
}
