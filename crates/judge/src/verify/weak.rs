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
use super::replay::Flaw;
use super::story::{Sight, Sources, Story};
use super::timed;
use isoscope_model::control::Control;
use isoscope_model::history::{History, TransactionId};

/// Whether a commit order explains every read at a level, in real time if it is timed: each returns a final version of a transaction before it in
/// the order, and none that the reader sees has overwritten that version by then. O(operations + stale reads × reads of
/// their transactions); at TCC see [`causal`], at levels of dependencies
/// [`dependencies`], at the guarantees of sessions [`guarantees`].
pub(super) fn holds(
    history: &History,
    initial: &Initial,
    order: &[TransactionId],
    sources: Sources<'_>,
    (sight, is_timed): (Sight, bool),
    control: &Control,
) -> Result<(), Flaw> {
    let story = Story::new(history, initial, order, sources, sight, control)?;
    match sight {
        _ if story.stale.is_empty() && story.suspects.is_empty() => Ok(()),
        Sight::Growing => growing::replay(&story, is_timed),
        Sight::OneStep | Sight::Dependencies(Counted::Direct) if is_timed => {
            timed::nothing_ended_is_missed(&story)?;
            untimed(&story, sight)
        }
        Sight::Past | Sight::Dependencies(Counted::SoFar | Counted::All) if is_timed => {
            dependencies::replay_in_time(&story, sight)
        }
        _ => untimed(&story, sight),
    }
}

fn untimed(story: &Story<'_>, sight: Sight) -> Result<(), Flaw> {
    match sight {
        Sight::ReadBefore => story.not_overwritten(|seen, read| seen.operation < read.operation),
        Sight::OneStep => {
            story.not_overwritten(|_, _| true)?;
            story.not_overwritten_in_sessions()
        }
        Sight::Growing => growing::replay(story, false),
        Sight::Past => causal::replay(story, &causal::nothing_overwritten),
        Sight::Dependencies(counted) => dependencies::replay(story, counted),
        Sight::Sessions(None) => Ok(()),
        Sight::Sessions(Some(guarantee)) => guarantees::replay(story, guarantee),
    }
}
