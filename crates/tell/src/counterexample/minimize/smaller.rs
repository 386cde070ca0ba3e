//! Parts with fewer transactions that removing them one by one has not found, and whether there are any.

use super::cutter::{Answer, Cutter, ViolatingPart};
use crate::counterexample::Minimality;
use isoscope_model::control::Interrupt;
use isoscope_model::history::{
    KeyId, OperationId, OperationKind, SessionId, TransactionId, TransactionSet,
};
use isoscope_model::relations::Source;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// With more transactions than this in the core its parts are not searched.
const MOST_IN_CORE: usize = 14;

/// Maximum number of parts looked at in one search.
const MOST_PARTS: usize = 3_000;

impl Cutter<'_> {
    /// A part of `universe` with fewer than `n` transactions that violates the level, one of the smallest.
    pub(super) fn smaller_within(
        &self,
        universe: &[TransactionId],
        n: usize,
    ) -> Result<Option<ViolatingPart>, Interrupt> {
        if universe.len() > MOST_IN_CORE || n <= 2 || universe.len() <= n {
            return Ok(None);
        }
        let Some(parts) = self.connected_parts(universe, n - 1) else {
            return Ok(None);
        };
        for part in parts {
            let answer = self.ask(&part);
            self.control.check()?;
            if let Answer::Violated(found) = answer {
                return Ok(Some(*found));
            }
        }
        Ok(None)
    }

    /// What can be said of parts of the whole history with fewer than `n` transactions, if it is certain that none of
    /// them violates the level, or none by the wanted pattern. `None` where one does, or where finding out would take
    /// too long.
    ///
    /// A smallest part is connected: transactions that share neither a session nor a key that one of them writes can be
    /// ordered independently (not in real time, where everything is connected). One transaction alone is wrong only by
    /// its own reads, so only those with such reads need to be looked at.
    pub(super) fn size(&self, n: usize) -> Option<Minimality> {
        match n {
            0 | 1 => Some(Minimality::Smallest),
            2 => self.size_next_to(self.suspicious()?.iter().map(std::slice::from_ref)),
            // Every transaction is a part.
            _ if self.history.n_transactions() > MOST_PARTS => None,
            _ => {
                let all = self.history.transactions().filter(|&t| !self.is_initial(t));
                let parts = self.connected_parts(&all.collect::<Vec<_>>(), n - 1)?;
                self.size_next_to(parts.iter().map(Vec::as_slice))
            }
        }
    }

    /// The size next to these smaller parts.
    fn size_next_to<'a>(
        &self,
        mut parts: impl Iterator<Item = &'a [TransactionId]>,
    ) -> Option<Minimality> {
        parts.try_fold(Minimality::Smallest, |size, part| {
            match self.ask_with_all_reads(part) {
                Answer::No => Some(size),
                Answer::ByAnotherPattern => Some(Minimality::SmallestForPattern),
                Answer::Violated(_) | Answer::Unusable => None,
            }
        })
    }

    /// The connected parts of `universe` with at most `most` transactions, smallest first; `None` if there are too
    /// many.
    fn connected_parts(
        &self,
        universe: &[TransactionId],
        most: usize,
    ) -> Option<Vec<Vec<TransactionId>>> {
        let neighbours = self.neighbours(universe)?;
        let mut all: Vec<Vec<TransactionId>> = Vec::new();
        let mut of_size: Vec<Vec<usize>> = (0..universe.len()).map(|place| vec![place]).collect();
        for size in 1..=most {
            if all.len() + of_size.len() > MOST_PARTS {
                return None;
            }
            all.extend(
                of_size
                    .iter()
                    .map(|part| part.iter().map(|&place| universe[place]).collect()),
            );
            if size < most {
                of_size = with_one_more(&of_size, &neighbours, MOST_PARTS - all.len())?;
            }
        }
        Some(all)
    }

    /// Transactions with reads that are wrong regardless of other transactions; `None` if there are too many to look
    /// at.
    fn suspicious(&self) -> Option<Vec<TransactionId>> {
        let mut suspicious = Vec::new();
        for t in self.history.transactions() {
            let wrong = |o: OperationId| {
                matches!(
                    self.resolution.source_in(t, o),
                    Source::ThinAir
                        | Source::Future { .. }
                        | Source::OwnOverwritten { .. }
                        | Source::Initial {
                            after_own_write: true
                        }
                        | Source::Ambiguous
                )
            };
            let is_list_read = |o: OperationId| self.history.lists().read_by(o).is_some();
            if self
                .history
                .operations_of(t)
                .any(|o| wrong(o) || is_list_read(o))
            {
                suspicious.push(t);
            }
            if suspicious.len() > MOST_PARTS {
                return None;
            }
        }
        Some(suspicious)
    }

    /// Whether these transactions, with all reads whose writers are among them, violate the level.
    fn ask_with_all_reads(&self, keep: &[TransactionId]) -> Answer {
        if self.control.check().is_err() {
            return Answer::Unusable;
        }
        let members = TransactionSet::of(self.history, keep.iter().copied());
        let is_there = |source: &Source| match *source {
            Source::Transaction { writer, .. } | Source::Aborted { writer, .. } => {
                members.contains(writer)
            }
            _ => true,
        };
        let (small, renaming) = self.history.restrict(&members, |o| {
            let is_kept = |append| members.contains(self.history.transaction_of(append));
            self.list_is_as_open(o, is_kept)
                && match self.resolution.multiple_sources(o) {
                    Some(multiple) => multiple.sources().iter().all(is_there),
                    None => match self.resolution.source(o) {
                        Source::Ambiguous => self.resolution.candidates(o).iter().all(is_there),
                        source => is_there(&source),
                    },
                }
        });
        let answer = self.ask_about(keep.to_vec(), small, renaming);
        // An interrupted check has no verdict.
        if self.control.check().is_ok() {
            answer
        } else {
            Answer::Unusable
        }
    }

    /// By place in `universe`: the places of those it shares a session with, or a key that one of the two writes.
    /// `None` if there are too many of them for their parts to be few.
    fn neighbours(&self, universe: &[TransactionId]) -> Option<Vec<Vec<usize>>> {
        let n = universe.len();
        let mut near: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n];
        if self.level.counts_real_time() {
            let others = |a| (0..n).filter(|&b| a != b).collect();
            return (n <= MOST_IN_CORE).then(|| (0..n).map(others).collect());
        }
        let mut of_session: FxHashMap<SessionId, Vec<usize>> = FxHashMap::default();
        let mut of_key: FxHashMap<KeyId, (Vec<usize>, Vec<usize>)> = FxHashMap::default();
        for (place, &t) in universe.iter().enumerate() {
            of_session
                .entry(self.history.session_of(t))
                .or_default()
                .push(place);
            for o in self.history.operations_of(t) {
                let users = of_key.entry(self.history.keys()[o.index()]).or_default();
                users.0.push(place);
                if self.history.kinds()[o.index()] == OperationKind::Write {
                    users.1.push(place);
                }
            }
        }
        // The same pair may occur several times.
        let in_sessions: usize = of_session
            .values()
            .map(|members| members.len() * members.len())
            .sum();
        let in_keys: usize = of_key
            .values()
            .map(|(users, writers)| users.len() * writers.len())
            .sum();
        if in_sessions + in_keys > 32 * MOST_PARTS {
            return None;
        }
        let mut join = |a: usize, b: usize| {
            if a != b {
                near[a].insert(b);
                near[b].insert(a);
            }
        };
        for members in of_session.values() {
            members
                .iter()
                .for_each(|&a| members.iter().for_each(|&b| join(a, b)));
        }
        for (users, writers) in of_key.values() {
            users
                .iter()
                .for_each(|&a| writers.iter().for_each(|&b| join(a, b)));
        }
        Some(
            near.into_iter()
                .map(|places| places.into_iter().collect())
                .collect(),
        )
    }
}

/// Connected sets with one more vertex than these, each once; `None` if there are more than `most`.
fn with_one_more(
    parts: &[Vec<usize>],
    neighbours: &[Vec<usize>],
    most: usize,
) -> Option<Vec<Vec<usize>>> {
    let mut seen: FxHashSet<Vec<usize>> = FxHashSet::default();
    let mut next = Vec::new();
    for part in parts {
        for &new in part.iter().flat_map(|&v| &neighbours[v]) {
            let Err(place) = part.binary_search(&new) else {
                continue;
            };
            let mut larger = part.clone();
            larger.insert(place, new);
            if seen.insert(larger.clone()) {
                next.push(larger);
            }
        }
        if next.len() > most {
            return None;
        }
    }
    Some(next)
}
