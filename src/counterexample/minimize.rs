//! From a violation of the whole history to a small history that still violates the level.
//!
//! The transactions that the violation speaks of are cut out; reads whose writer stays behind are dropped, and so are
//! reads that are anomalies of their own and not what the violation is about. All levels are closed under removing
//! transactions, reads, or a write together with its readers, so whatever the small history violates, the whole does
//! too. Then transactions are removed by delta debugging (Zeller and Hildebrandt 2002, `ddmin`): whole sessions, then
//! halves, quarters, … and single ones, with the checker as oracle.

use super::translate::translate;
use super::{Counterexample, Minimality, involved_operations};
use crate::checkers::{self, Cause, Level, Options, Pattern, Proof, Verdict, Violation};
use crate::control::{Control, Interrupt};
use crate::history::{History, OperationId, OperationKind, Renaming, TransactionId, TransactionSet, Value};
use crate::relations::{self, Appended, Reason, Resolution, Source, Standing};
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Duration;

/// Most instances listed per pattern in a small history: enough to find the chosen one again.
const LISTED: usize = 64;

/// The final look at all levels may take this long even when the time for minimizing is over.
const VERDICTS: Duration = Duration::from_millis(500);

/// The smallest sub-history found that still violates the weakest level of `violation`, by the same pattern where
/// possible.
///
/// Costs one resolution of the whole history, then O(k²) checks of at most k transactions, where k is the number of
/// transactions of the violation. When `control` says to stop, the smallest one so far is returned: it is valid, but
/// [`Minimality::Reduced`].
pub fn minimize(history: &History, violation: &Violation, control: &Control) -> Counterexample {
    let level = violation.levels.weakest().unwrap_or(Level::Serializability);
    match Cutter::new(history, violation, level, control) {
        Ok(cutter) => cutter.minimize(),
        Err(interrupt) => uncut(history, violation, level, interrupt),
    }
}

/// The violation with exactly its own transactions and operations, when there was not even time to resolve reads.
fn uncut(history: &History, violation: &Violation, level: Level, interrupt: Interrupt) -> Counterexample {
    let involved = involved_operations(violation);
    let mut keep = TransactionSet::of(history, named_transactions(violation));
    involved.iter().for_each(|&o| {
        keep.insert(history.transaction_of(o));
    });
    let (small, renaming) = history
        .restrict(&keep, |o| history.kinds()[o.index()] == OperationKind::Write || involved.binary_search(&o).is_ok());
    let (history, renaming, violation) = match translate(violation, &renaming) {
        Some(translated) => (small, renaming, translated),
        None => {
            let (all, same) = history.restrict(&TransactionSet::full(history), |_| true);
            (all, same, violation.clone())
        }
    };
    let verdicts = Level::of(&history).into_iter().map(|l| match violation.levels.contains(l) || l == level {
        true => (l, Verdict::Violated),
        false => (l, Verdict::Undecided(Cause::Interrupted(interrupt))),
    });
    Counterexample {
        level,
        verdicts: verdicts.collect(),
        minimality: Minimality::Reduced,
        operation_minimality: Minimality::Reduced,
        n_transactions_of_whole: renaming.transactions.len().max(history.n_transactions()),
        history,
        renaming,
        violation,
    }
}

/// The transactions that a violation speaks of.
fn named_transactions(violation: &Violation) -> Vec<TransactionId> {
    let mut named = violation.transactions.clone();
    for edge in &violation.edges {
        named.extend([edge.from, edge.to]);
        match edge.because {
            Reason::Visible { reader, .. } | Reason::Listed { reader, .. } => named.push(reader),
            Reason::Overwrites { writer, .. } => named.push(writer),
            _ => {}
        }
    }
    for part in violation.proof.parts() {
        if let Proof::Writers { cases, .. } = part {
            named.extend(cases.iter().map(|(writer, _)| *writer));
        }
    }
    named
}

/// A sub-history that violates the level.
struct Found {
    keep: Vec<TransactionId>,
    history: History,
    renaming: Renaming,
    violation: Violation,
}

/// What the oracle says about a sub-history.
enum Answer {
    /// It violates the level, by the wanted pattern if one is wanted.
    Violated(Box<Found>),
    /// It violates the level, but the wanted pattern is gone.
    ByAnotherPattern,
    /// It satisfies the level.
    No,
    /// It cannot be told from another one, in which its first transactions set up the initial state.
    Unusable,
}

/// What trying to do without parts has shown besides.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// Some rest violated the level without the wanted pattern.
    another_pattern: bool,
    /// Some rest was not usable.
    unusable: bool,
}

struct Cutter<'a> {
    history: &'a History,
    original: &'a Violation,
    level: Level,
    control: &'a Control,
    resolution: Resolution,
    /// The operations the violation is about, ascending.
    involved: Vec<OperationId>,
    /// The pattern that must survive.
    wanted: Option<Pattern>,
    /// By unknown transaction that must have committed: a reader that shows it, and its read.
    promoted_by: FxHashMap<TransactionId, (TransactionId, OperationId)>,
}

impl<'a> Cutter<'a> {
    fn new(
        history: &'a History,
        original: &'a Violation,
        level: Level,
        control: &'a Control,
    ) -> Result<Cutter<'a>, Interrupt> {
        let resolution = relations::resolve(history, control)?;
        let involved = involved_operations(original);
        // A general cycle may shrink to something with a better name; named patterns are kept.
        let general = matches!(original.id.pattern, Pattern::SICycle | Pattern::SERCycle | Pattern::RealTimeCycle);
        let wanted = (!general).then_some(original.id.pattern);
        let promoted_by = promotions(history, &resolution);
        Ok(Cutter { history, original, level, control, resolution, involved, wanted, promoted_by })
    }

    fn minimize(mut self) -> Counterexample {
        let Some((found, is_cut)) = self.first() else {
            let interrupt = self.control.check().err().unwrap_or(Interrupt::TimeLimit);
            let mut example = uncut(self.history, self.original, self.level, interrupt);
            example.n_transactions_of_whole = self.history.n_transactions();
            return example;
        };
        // Without a write a failed comparison may be left unexplained that was explained by it, so what its removal
        // violates says nothing about the whole.
        let (found, minimality) = match self.original.id.pattern {
            Pattern::NoLinearOrder => (found, Minimality::Reduced),
            _ => self.reduce(found),
        };
        let minimality = match is_cut || found.keep.len() < self.history.n_transactions() {
            true => minimality,
            false => Minimality::Reduced,
        };
        let verdicts = self.verdicts(&found);
        Counterexample {
            history: found.history,
            renaming: found.renaming,
            level: self.level,
            violation: found.violation,
            verdicts,
            minimality,
            operation_minimality: Minimality::Reduced,
            n_transactions_of_whole: self.history.n_transactions(),
        }
    }

    /// A first sub-history that violates the level: the transactions named, else with the writers of all they read,
    /// and so on; else the whole history as it is, which is told by `false`.
    fn first(&mut self) -> Option<(Found, bool)> {
        let mut keep = TransactionSet::of(self.history, named_transactions(self.original));
        for &o in &self.involved {
            keep.insert(self.history.transaction_of(o));
            for writer in self.writers(o) {
                keep.insert(writer);
            }
        }
        loop {
            for t in keep.iter().collect::<Vec<_>>() {
                let mut shown = t;
                while let Some(&(reader, _)) = self.promoted_by.get(&shown) {
                    keep.insert(reader);
                    shown = reader;
                }
            }
            let members: Vec<TransactionId> = keep.iter().filter(|&t| !self.is_initial(t)).collect();
            match self.ask(&members) {
                Answer::Violated(found) => return Some((*found, true)),
                Answer::ByAnotherPattern if self.wanted.is_some() => {
                    self.wanted = None;
                    continue;
                }
                Answer::ByAnotherPattern | Answer::No | Answer::Unusable => {}
            }
            let before = keep.len();
            self.control.check().ok()?;
            if before == self.history.n_transactions() {
                return Some((self.whole()?, false));
            }
            for t in members {
                for o in self.history.operations_of(t) {
                    for writer in self.writers(o) {
                        keep.insert(writer);
                    }
                }
            }
            if keep.len() == before {
                keep = TransactionSet::full(self.history);
            }
        }
    }

    /// The whole history with the violation as it is: for when it cannot be told without the reads that are left out
    /// elsewhere.
    fn whole(&self) -> Option<Found> {
        let (history, renaming) = self.history.restrict(&TransactionSet::full(self.history), |_| true);
        let violation = translate(self.original, &renaming)?;
        Some(Found { keep: self.history.transactions().collect(), history, renaming, violation })
    }

    /// Part of ⊥, not a transaction of its own.
    fn is_initial(&self, t: TransactionId) -> bool {
        self.resolution.standing(t) == Standing::Initial
    }

    /// The other transactions that may have written what an operation read.
    fn writers(&self, operation: OperationId) -> Vec<TransactionId> {
        if let Some(multiple) = self.resolution.multiple_sources(operation) {
            return explicit_writers(&multiple.sources).collect();
        }
        match self.resolution.source(operation) {
            Source::Transaction { writer, .. } | Source::Aborted { writer, .. } => vec![writer],
            _ => Vec::new(),
        }
    }

    /// Removes transactions until no single one can be removed.
    fn reduce(&self, mut found: Found) -> (Found, Minimality) {
        if self.remove_sessions(&mut found).is_err() {
            return (found, Minimality::Reduced);
        }
        let mut n_parts = 2;
        loop {
            let n = found.keep.len();
            if n <= 1 {
                // Without its only transaction nothing is left, and nothing satisfies every level.
                return (found, Minimality::Irreducible);
            }
            n_parts = n_parts.min(n);
            let mut round = Round::default();
            match self.remove_part(&found.keep, n_parts, &mut round) {
                Err(_) => return (found, Minimality::Reduced),
                Ok(Some(smaller)) => {
                    found = smaller;
                    n_parts = (n_parts - 1).max(2);
                }
                Ok(None) if n_parts < n => n_parts *= 2,
                Ok(None) if round.unusable => return (found, Minimality::Reduced),
                Ok(None) if round.another_pattern => return (found, Minimality::IrreducibleForPattern),
                Ok(None) => return (found, Minimality::Irreducible),
            }
        }
    }

    /// Tries to do without whole sessions, one after the other.
    fn remove_sessions(&self, found: &mut Found) -> Result<(), Interrupt> {
        let mut sessions: Vec<_> = found.keep.iter().map(|&t| self.history.session_of(t)).collect();
        sessions.dedup();
        if sessions.len() == found.keep.len() {
            // Single transactions are tried anyway.
            return Ok(());
        }
        for session in sessions {
            self.control.check()?;
            let rest: Vec<_> = found.keep.iter().copied().filter(|&t| self.history.session_of(t) != session).collect();
            if let Answer::Violated(smaller) = self.ask(&rest) {
                *found = *smaller;
            }
        }
        Ok(())
    }

    /// Tries to do without each of `n_parts` equal parts.
    fn remove_part(
        &self,
        keep: &[TransactionId],
        n_parts: usize,
        round: &mut Round,
    ) -> Result<Option<Found>, Interrupt> {
        for part in 0..n_parts {
            let removed = keep.len() * part / n_parts..keep.len() * (part + 1) / n_parts;
            let rest: Vec<_> = keep[..removed.start].iter().chain(&keep[removed.end..]).copied().collect();
            let answer = self.ask(&rest);
            // An interrupted check says nothing.
            self.control.check()?;
            match answer {
                Answer::Violated(smaller) => return Ok(Some(*smaller)),
                Answer::ByAnotherPattern => round.another_pattern = true,
                Answer::Unusable => round.unusable = true,
                Answer::No => {}
            }
        }
        Ok(None)
    }

    /// Whether these transactions alone violate the level.
    fn ask(&self, keep: &[TransactionId]) -> Answer {
        if keep.is_empty() {
            return Answer::No;
        }
        let (small, renaming) = self.cut(keep);
        let options = Options { levels: vec![self.level], max_instances: LISTED, ..Options::default() };
        // A transaction of the small history must not pass for a set-up transaction: in the whole it is none.
        let resolution = match relations::resolve(&small, self.control) {
            Ok(resolution) if resolution.merged_into_initial().next().is_none() => resolution,
            _ => return Answer::Unusable,
        };
        let findings = checkers::check(&small, &options, self.control, &|_| {});
        if findings.level(self.level).is_none_or(|result| result.verdict != Verdict::Violated) {
            return Answer::No;
        }
        match self.choose(findings.violations, &renaming, &resolution) {
            Some(violation) => {
                Answer::Violated(Box::new(Found { keep: keep.to_vec(), history: small, renaming, violation }))
            }
            None => Answer::ByAnotherPattern,
        }
    }

    /// The sub-history of these transactions. Reads from outside are dropped, and so are anomalous reads that the
    /// violation is not about.
    fn cut(&self, keep: &[TransactionId]) -> (History, Renaming) {
        let members = TransactionSet::of(self.history, keep.iter().copied());
        let second_versions = self.second_versions(keep);
        let promoting: FxHashSet<OperationId> =
            keep.iter().filter_map(|t| self.promoted_by.get(t)).map(|&(_, read)| read).collect();
        let complete = |sources: &[Source]| explicit_writers(sources).all(|writer| members.contains(writer));
        self.history.restrict(&members, |o| {
            let is_involved = || self.involved.binary_search(&o).is_ok() || promoting.contains(&o);
            // Whom such a read read from must be as open as in the whole.
            let multiple = self.resolution.multiple_sources(o).filter(|_| self.must_be_open(o, is_involved()));
            if multiple.is_some_and(|multiple| !complete(&multiple.sources)) {
                return false;
            }
            match self.resolution.source(o) {
                Source::Outside | Source::Own | Source::Unrecorded => true,
                Source::Initial { after_own_write } => {
                    (!after_own_write && !second_versions.contains(&o)) || is_involved()
                }
                Source::Transaction { writer, intermediate, after_own_write, .. } => {
                    let fair = !intermediate && !after_own_write && !second_versions.contains(&o);
                    members.contains(writer) && (fair || is_involved())
                }
                Source::Aborted { writer, .. } => members.contains(writer) && is_involved(),
                Source::Future { .. } | Source::OwnOverwritten { .. } | Source::ThinAir => is_involved(),
                Source::Ambiguous => complete(self.resolution.candidates(o)),
            }
        })
    }

    /// Whether a read may be kept only with all its possible writers, also those that read committed rules out. At cut
    /// isolation they all count; else they are part of the argument, unless any of them makes it (TAP-d).
    fn must_be_open(&self, read: OperationId, is_involved: bool) -> bool {
        self.level == Level::CutIsolation || (is_involved && !self.resolution.is_open_after_own_write(read))
    }

    /// Reads that return a key in another version than an earlier (or an involved) read of their transaction did.
    fn second_versions(&self, keep: &[TransactionId]) -> FxHashSet<OperationId> {
        let mut second = FxHashSet::default();
        let mut version = FxHashMap::default();
        for &t in keep {
            version.clear();
            for involved in [true, false] {
                for o in self.history.operations_of(t) {
                    let Some(writer) = self.resolution.source_in(t, o).writer() else { continue };
                    if self.involved.binary_search(&o).is_ok() != involved {
                        continue;
                    }
                    let first = *version.entry(self.history.keys()[o.index()]).or_insert(writer);
                    if first != writer && !involved {
                        second.insert(o);
                    }
                }
            }
        }
        second
    }

    /// The violation to show: the chosen one if it is still there, else one of the wanted pattern, else (if none is
    /// wanted) the smallest of the level.
    fn choose(&self, violations: Vec<Violation>, renaming: &Renaming, small: &Resolution) -> Option<Violation> {
        // The checker lists one instance for each pair of writers: not necessarily the chosen one. Its evidence holds
        // wherever all it names is left and still takes part, unless it rests on a choice among writers.
        if self.wanted.is_some()
            && self.resolution.n_ambiguous() == 0
            && let Some(same) = translate(self.original, renaming)
            && named_transactions(&same).iter().all(|&t| t.is_initial() || small.standing(t) != Standing::Dropped)
        {
            return Some(same);
        }
        let of_level = violations.into_iter().filter(|v| v.levels.contains(self.level));
        let fitting = of_level.filter(|v| self.wanted.is_none_or(|wanted| v.id.pattern == wanted));
        let original = self.translated_transactions(renaming);
        fitting.min_by_key(|v| {
            let other_transactions = original.as_deref() != Some(v.transactions.as_slice());
            let other_pattern = v.id.pattern != self.original.id.pattern;
            let other_level = v.levels.weakest() != Some(self.level);
            (other_transactions, other_pattern, other_level, v.implied, v.size(), v.edges.len(), v.id)
        })
    }

    fn translated_transactions(&self, renaming: &Renaming) -> Option<Vec<TransactionId>> {
        self.original.transactions.iter().map(|&t| renaming.new_transaction(t)).collect()
    }

    /// Verdicts of the small history at all levels, with a little time of their own if the time is over.
    fn verdicts(&self, found: &Found) -> Vec<(Level, Verdict)> {
        let fresh = Control::new().with_time_limit(VERDICTS);
        let control = if self.control.check().is_ok() { self.control } else { &fresh };
        let levels = Level::of(&found.history);
        let options = Options { levels: levels.clone(), max_instances: 0, ..Options::default() };
        let findings = checkers::check(&found.history, &options, control, &|_| {});
        let verdict = |level: Level| match findings.level(level) {
            Some(result) if matches!(result.verdict, Verdict::Undecided(_)) && level.implies(self.level) => {
                Verdict::Violated
            }
            Some(result) => result.verdict.clone(),
            None => Verdict::Undecided(Cause::Unsupported("not checked".to_owned())),
        };
        levels.into_iter().map(|level| (level, verdict(level))).collect()
    }
}

/// The transactions among some sources, ⊥ apart.
fn explicit_writers(sources: &[Source]) -> impl Iterator<Item = TransactionId> + '_ {
    sources.iter().filter_map(|source| source.writer()).filter(|writer| !writer.is_initial())
}

/// For every unknown transaction that must have committed, a reader by which that is known. Readers lead back to
/// transactions that are known to have committed, never in a circle. O(operations) if there are any such, else
/// O(transactions).
fn promotions(history: &History, resolution: &Resolution) -> FxHashMap<TransactionId, (TransactionId, OperationId)> {
    let mut promoted_by = FxHashMap::default();
    if resolution.promoted().next().is_none() {
        return promoted_by;
    }
    let appends = if history.lists().is_empty() { FxHashMap::default() } else { relations::appends(history) };
    let appender = |read: OperationId, element: &Value| match appends.get(&(history.keys()[read.index()], *element)) {
        Some(Appended::Once(append)) => Some(history.transaction_of(*append)),
        _ => None,
    };
    let mut waiting: Vec<TransactionId> =
        history.transactions().filter(|&t| resolution.standing(t) == Standing::Committed).collect();
    while let Some(reader) = waiting.pop() {
        for read in history.operations_of(reader) {
            let read_from = match resolution.source_in(reader, read) {
                Source::Transaction { writer, .. } => Some(writer),
                _ => None,
            };
            let list = history.lists().read_by(read).unwrap_or_default();
            for writer in read_from.into_iter().chain(list.iter().filter_map(|element| appender(read, element))) {
                if resolution.standing(writer) == Standing::Promoted && !promoted_by.contains_key(&writer) {
                    promoted_by.insert(writer, (reader, read));
                    waiting.push(writer);
                }
            }
        }
    }
    promoted_by
}
