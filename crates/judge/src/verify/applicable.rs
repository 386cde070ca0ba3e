//! Claims about levels that are unknown or that a history cannot be checked for.

use super::initial::is_lightweight;
use super::levels;
use super::resolution::Resolution;
use crate::report::{LevelEntry, VerdictWord};
use isoscope_model::history::History;

/// Whether a verdict can be right whatever its evidence. LIN is about lightweight transactions with times: other
/// histories neither satisfy nor violate it. SSER is satisfied in real time only; where no times order anything it is
/// still violated if SER is, and the evidence must show that.
pub(super) fn check(
    history: &History,
    resolution: &Resolution<'_>,
    level: &LevelEntry,
) -> Result<(), String> {
    let row = levels::row(&level.level).ok_or("unknown level")?;
    let needs_time = match level.verdict {
        VerdictWord::Undecided => false,
        _ if row.is_lightweight => is_lightweight(history).map(|()| true)?,
        verdict => row.time.is_some() && verdict == VerdictWord::Satisfied,
    };
    if needs_time && !resolution.has_real_time() {
        Err("no committed transaction that sets nothing up has times".to_owned())
    } else {
        Ok(())
    }
}
