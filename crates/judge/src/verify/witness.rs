//! Satisfied levels: a commit order, replayed operation by operation.

use super::levels::{self, Strength, Time};
use super::replay::{self, Flaw, Step};
use super::resolution::{Resolution, Source};
use super::story::{Sources, Story};
use super::verifier::Verifier;
use super::{SessionNames, linear, overwriting, visibility};
use crate::report::LevelEntry;
use isoscope_model::history::{
    DuplicateRule, History, ListRule, OperationId, OperationKind, TransactionId,
};
use isoscope_model::levels::Level;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The claimed witness of a level.
#[derive(Clone, Copy, Debug)]
pub enum Witness<'a> {
    /// The commits in their order.
    Commits(&'a [TransactionId]),
    /// Starts and commits in their order: PC and SI.
    Steps(&'a [Step]),
}

/// Whether the witness of a satisfied level in a report explains the history; false if there is none. CI needs no
/// witness and is always checked.
pub(super) fn check(
    verifier: &Verifier<'_>,
    names: &SessionNames<'_>,
    level: &LevelEntry,
) -> Result<bool, Flaw> {
    let row = levels::row(level.level);
    if row.strength == Strength::Reads {
        return verifier.cut_isolation(level.level).map(|()| true);
    }
    let Some(entries) = &level.witness else {
        return Ok(false);
    };
    if row.strength != Strength::Versions && !verifier.can_replay() {
        return Ok(false);
    }
    let order: Result<Vec<_>, _> = entries.iter().map(|entry| names.find(entry)).collect();
    let order = order?;
    let steps;
    let witness = match (row.strength, &level.snapshots) {
        (Strength::Prefix | Strength::Snapshot, None) => {
            return Err("it has no snapshots".to_owned().into());
        }
        (Strength::Prefix | Strength::Snapshot, Some(snapshots)) => {
            steps = replay::steps(&order, snapshots)?;
            Witness::Steps(&steps)
        }
        _ => Witness::Commits(&order),
    };
    let resolution = verifier.resolution()?;
    let named = sources(verifier.history(), &resolution, names, level)?;
    let others = |_, read| match resolution.source(read) {
        Source::Other { writer, .. } => Some(writer),
        _ => None,
    };
    let sources = Sources {
        named: &named,
        others: &others,
    };
    verifier
        .witness(level.level, witness, sources)
        .map(|()| true)
}

/// Whether there is nothing to replay: what a merged list says about versions other than its own is undefined.
pub(super) fn has_no_meaning(history: &History) -> bool {
    history.rules().lists == ListRule::Merge && !history.lists().is_empty()
}

/// Maximum number of serial orders kept.
const KEPT: usize = 2;

impl Verifier<'_> {
    /// Whether a witness explains every read at a level above CI, as it is in this history.
    pub(super) fn shows(
        &self,
        level: Level,
        witness: Witness<'_>,
        sources: Sources<'_>,
    ) -> Result<(), Flaw> {
        let (history, initial, control) = (self.history(), self.initial(), self.control);
        initial.are_all_read(history)?;
        let unfit = || Flaw::Wrong(format!("no such witness shows level {level}"));
        let row = levels::row(level);
        let one_by_one = |order: &[TransactionId]| -> Vec<Step> {
            let steps = |&t: &TransactionId| [Step::Start(t), Step::Commit(t)];
            order.iter().flat_map(steps).collect()
        };
        // Where the last of several writers of a value is the one that was read from, values do not tell it.
        let last_counts = history.rules().duplicates == DuplicateRule::Last;
        match (row.strength, witness) {
            (Strength::Serial, Witness::Commits(order)) => {
                if row.is_lightweight {
                    initial.is_lightweight(history)?;
                }
                self.one_by_one(order)?;
                if last_counts {
                    replay::reads_from_last(history, &self.resolution()?, &one_by_one(order))?;
                }
                if row.is_lightweight {
                    linear::comparisons_fit(history, order, initial)?;
                }
            }
            (Strength::SerialItems, Witness::Commits(order)) => match self.one_by_one(order) {
                Err(Flaw::Wrong(_)) => replay::items_one_by_one(history, initial, order, control)?,
                known => known?,
            },
            (strength @ (Strength::Prefix | Strength::Snapshot), Witness::Steps(steps)) => {
                let apart = strength == Strength::Snapshot;
                match replay::serial_order(steps) {
                    Some(order) => self.one_by_one(&order)?,
                    None => replay::with_snapshots(history, initial, steps, apart, control)?,
                }
                if last_counts {
                    replay::reads_from_last(history, &self.resolution()?, steps)?;
                }
            }
            (Strength::Versions, Witness::Commits(order)) => {
                overwriting::order_fits(history, initial, order)?
            }
            (Strength::Reads | Strength::Prefix | Strength::Snapshot, _)
            | (_, Witness::Steps(_)) => return Err(unfit()),
            (strength, Witness::Commits(order)) => {
                // A serial witness is one for every weaker level, and faster to replay.
                let serial = if sources.named.is_empty() && !last_counts {
                    self.one_by_one(order)
                } else {
                    Err(Flaw::Wrong("the writers of reads count".to_owned()))
                };
                match serial {
                    Err(Flaw::Wrong(_)) => {
                        let story = Story::new(history, initial, order, sources, control)?;
                        visibility::replay(&story, strength, row.time.is_some())?
                    }
                    known => known?,
                }
            }
        }
        let in_time = |steps: &[Step]| {
            let by_key = row.time == Some(Time::ByKey);
            replay::in_real_time(history, initial, steps, by_key)
        };
        match (row.time, witness) {
            (None, _) => Ok(()),
            (Some(Time::OfCommits), Witness::Steps(steps)) => {
                in_time(&one_by_one(&replay::commits(steps)))
            }
            (Some(_), Witness::Steps(steps)) => in_time(steps),
            (Some(_), Witness::Commits(order)) => in_time(&one_by_one(order)),
        }
    }

    /// Replays an order, unless already done.
    fn one_by_one(&self, order: &[TransactionId]) -> Result<(), Flaw> {
        let known = || {
            self.serial
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
        };
        let before: Vec<Arc<[TransactionId]>> = known().clone();
        if before.iter().any(|known| **known == *order) {
            return Ok(());
        }
        replay::one_by_one(self.history(), self.initial(), order, self.control)?;
        let mut known = known();
        known.truncate(KEPT - 1);
        known.insert(0, order.into());
        Ok(())
    }
}

/// The writers that a witness gives for some reads, by operation. O(sources · writers of their values).
fn sources(
    history: &History,
    resolution: &Resolution<'_>,
    names: &SessionNames<'_>,
    level: &LevelEntry,
) -> Result<FxHashMap<OperationId, TransactionId>, String> {
    let mut sources = FxHashMap::default();
    for entry in level.sources.iter().flatten() {
        let reader = names.find(&entry.reader)?;
        let read = super::operations::operation(history, &[reader], 0, entry.operation)?;
        let writer = names.find(&entry.writer)?;
        if history.operation(read).kind != OperationKind::Read
            || !resolution.each_writer(read).any(|w| w == writer)
        {
            let (text, name) = (
                history.operation_text(read),
                history.transaction_name(writer),
            );
            return Err(format!("{text} cannot have returned what {name} wrote"));
        }
        sources.insert(read, writer);
    }
    Ok(sources)
}
