//! Replay of a commit order at RC, RA, TCC, PSI and the guarantees of sessions, where a read may return a version that is not
//! the current one.
//!
//! Only such stale reads need a closer look: whatever a transaction sees precedes it in the order, so nothing that it
//! sees can have overwritten the version that is current when it runs.

use super::causal;
use super::dependencies;
use super::guarantees;
use super::initial::Initial;
use super::replay::Flaw;
use super::story::{Sight, Sources, Story};
use crate::control::Control;
use crate::history::{History, TransactionId};

/// Whether a commit order explains every read at a level: each returns a final version of a transaction before it in
/// the order, and none that the reader sees has overwritten that version by then. O(operations + stale reads × reads of
/// their transactions); at TCC see [`causal`], at PSI
/// [`dependencies`], at the guarantees of sessions [`guarantees`].
pub(super) fn holds(
    history: &History,
    initial: &Initial,
    order: &[TransactionId],
    sources: Sources<'_>,
    sight: Sight,
    control: &Control,
) -> Result<(), Flaw> {
    let story = Story::new(history, initial, order, sources, sight, control)?;
    match sight {
        _ if story.stale.is_empty() && story.suspects.is_empty() => Ok(()),
        Sight::ReadBefore => story.not_overwritten(|seen, read| seen.operation < read.operation),
        Sight::OneStep => {
            story.not_overwritten(|_, _| true)?;
            story.not_overwritten_in_sessions()
        }
        Sight::Past => causal::replay(&story, &causal::nothing_overwritten),
        Sight::Dependencies => dependencies::replay(&story),
        Sight::Sessions(None) => Ok(()),
        Sight::Sessions(Some(guarantee)) => guarantees::replay(&story, guarantee),
    }
}
