//! Replay of a commit order at RC, RA, TCC, the levels of dependencies and the guarantees of sessions, where a read may return a version that is not
//! the current one.
//!
//! Only such stale reads need a closer look: whatever a transaction sees precedes it in the order, so nothing that it
//! sees can have overwritten the version that is current when it runs.

use super::causal;
use super::counted::Counted;
use super::dependencies;
use super::growing;
use super::guarantees;
use super::initial::Initial;
use super::levels::Strength;
use super::replay::Flaw;
use super::story::{Sources, Story};
use super::timed;
use crate::control::Control;
use crate::history::{History, TransactionId};

/// Whether a commit order explains every read at a level, in real time if it is timed: each returns a final version of a transaction before it in
/// the order, and none that the reader sees has overwritten that version by then. O(operations + stale reads × reads of
/// their transactions); at TCC see [`causal`], at levels of dependencies
/// [`dependencies`], at the guarantees of sessions [`guarantees`].
pub(super) fn holds(
    history: &History,
    initial: &Initial,
    order: &[TransactionId],
    sources: Sources<'_>,
    (strength, is_timed): (Strength, bool),
    control: &Control,
) -> Result<(), Flaw> {
    let story = Story::new(history, initial, order, sources, strength, control)?;
    match strength {
        _ if story.stale.is_empty() && story.suspects.is_empty() => Ok(()),
        Strength::EachRead => growing::replay(&story, is_timed),
        Strength::ReadAtomic | Strength::Dependencies(Counted::Direct) if is_timed => {
            timed::nothing_ended_is_missed(&story)?;
            untimed(&story, strength)
        }
        Strength::Causal | Strength::Dependencies(Counted::SoFar | Counted::All) if is_timed => {
            dependencies::replay_in_time(&story, strength)
        }
        _ => untimed(&story, strength),
    }
}

fn untimed(story: &Story<'_>, strength: Strength) -> Result<(), Flaw> {
    match strength {
        Strength::ReadCommitted => story.not_overwritten(|seen, read| seen.operation < read.operation),
        Strength::ReadAtomic => {
            story.not_overwritten(|_, _| true)?;
            story.not_overwritten_in_sessions()
        }
        Strength::EachRead => growing::replay(story, false),
        Strength::Causal => causal::replay(story, &causal::nothing_overwritten),
        Strength::Dependencies(counted) => dependencies::replay(story, counted),
        Strength::Sessions(None) => Ok(()),
        Strength::Sessions(Some(guarantee)) => guarantees::replay(story, guarantee),
        Strength::Prefix | Strength::Snapshot | Strength::Serial => {
            unreachable!("replayed with snapshots or one by one")
        }
    }
}
