//! Satisfied levels: a commit order, replayed operation by operation.

use super::initial::Initial;
use super::levels::{self, Replay, Time};
use super::replay::{self, Flaw, Step};
use super::resolution::{Resolution, Source};
use super::story::{Sight, Sources};
use super::verifier::Verifier;
use super::weak;
use super::{SessionNames, linear, overwriting};
use crate::report::LevelEntry;
use isoscope_model::control::Control;
use isoscope_model::history::{History, ListRule, OperationId, OperationKind, TransactionId};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex};

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
    let Some(row) = levels::row(&level.level) else {
        return Ok(false);
    };
    if row.replay == Replay::Reads {
        return verifier.cut_isolation().map(|()| true);
    }
    let Some(entries) = &level.witness else {
        return Ok(false);
    };
    if row.replay != Replay::Versions && !verifier.can_replay() {
        return Ok(false);
    }
    let order: Result<Vec<_>, _> = entries.iter().map(|entry| names.find(entry)).collect();
    let order = order?;
    let steps;
    let witness = match (row.replay, &level.snapshots) {
        (Replay::Snapshots { .. }, None) => {
            return Err("it has no snapshots".to_owned().into());
        }
        (Replay::Snapshots { .. }, Some(snapshots)) => {
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
        .witness(&level.level, witness, sources)
        .map(|()| true)
}

/// Whether there is nothing to replay: what a merged list says about versions other than its own is undefined.
pub(super) fn has_no_meaning(history: &History) -> bool {
    history.rules().lists == ListRule::Merge && !history.lists().is_empty()
}

/// The context in which the witnesses of one history are replayed.
pub(super) struct Stage<'a> {
    pub(super) history: &'a History,
    pub(super) initial: &'a Initial,
    pub(super) control: &'a Control,
    /// Orders that explain every read one transaction after the other.
    pub(super) serial: &'a Mutex<Vec<Arc<[TransactionId]>>>,
}

/// Maximum number of those kept.
const KEPT: usize = 2;

impl Stage<'_> {
    /// Whether a witness explains every read at a level above CI.
    pub(super) fn shows(
        &self,
        level: &str,
        witness: Witness<'_>,
        sources: Sources<'_>,
    ) -> Result<(), Flaw> {
        let Stage {
            history,
            initial,
            control,
            ..
        } = *self;
        let unfit = || Flaw::Wrong(format!("no such witness shows level {level}"));
        let row = levels::row(level).ok_or_else(unfit)?;
        match (row.replay, witness) {
            (Replay::Serial, Witness::Commits(order)) => {
                if row.is_lightweight {
                    initial.is_lightweight(history)?;
                }
                self.one_by_one(order)?;
                if row.is_lightweight {
                    linear::comparisons_fit(history, order, initial)?;
                }
                self.is_timed(order, row.time)
            }
            (Replay::Snapshots { apart }, Witness::Steps(steps)) => {
                match replay::serial_order(steps) {
                    Some(order) => self.one_by_one(&order)?,
                    None => replay::with_snapshots(history, initial, steps, apart, control)?,
                }
                match row.time {
                    Some(Time::Whole) => {
                        replay::in_real_time(history, initial, steps.iter().copied())
                    }
                    Some(Time::ByKey) => {
                        replay::in_real_time_by_key(history, initial, steps.iter().copied())
                    }
                    time => self.is_timed(&replay::commits(steps), time),
                }
            }
            (Replay::Versions, Witness::Commits(order)) => {
                overwriting::order_fits(history, initial, order)?;
                self.is_timed(order, row.time)
            }
            (Replay::Sees(sight), Witness::Commits(order)) => {
                let sees = || self.sees(order, sources, (sight, row.time.is_some()));
                if !sources.named.is_empty() {
                    return sees();
                }
                // A serial witness is one for every weaker level, and faster to replay.
                match self.one_by_one(order) {
                    Err(Flaw::Wrong(_)) => sees(),
                    Ok(()) => self.is_timed(order, row.time),
                    known => known,
                }
            }
            _ => Err(unfit()),
        }
    }

    /// Replays an order in which transactions do not see all that comes before; in real time if it is timed.
    fn sees(
        &self,
        order: &[TransactionId],
        sources: Sources<'_>,
        sight: (Sight, bool),
    ) -> Result<(), Flaw> {
        self.is_timed(order, sight.1.then_some(Time::Whole))?;
        weak::holds(
            self.history,
            self.initial,
            order,
            sources,
            sight,
            self.control,
        )
    }

    /// Whether an order of commits agrees with real time, as far as that counts.
    fn is_timed(&self, order: &[TransactionId], time: Option<Time>) -> Result<(), Flaw> {
        let steps = order
            .iter()
            .flat_map(|&t| [Step::Start(t), Step::Commit(t)]);
        match time {
            None => Ok(()),
            Some(Time::Whole | Time::OfCommits) => {
                replay::in_real_time(self.history, self.initial, steps)
            }
            Some(Time::ByKey) => replay::in_real_time_by_key(self.history, self.initial, steps),
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
        replay::one_by_one(self.history, self.initial, order, self.control)?;
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
