//! Claims about levels that a history cannot be checked for.

use super::initial::is_lightweight;
use super::resolution::Resolution;
use crate::history::History;
use crate::report::{LevelEntry, VerdictWord};

/// Whether a verdict can be right whatever its evidence. LIN is about lightweight transactions with times: other
/// histories neither satisfy nor violate it. SSER is satisfied in real time only; where no times order anything it is
/// still violated if SER is, and the evidence must show that.
pub(super) fn check(history: &History, resolution: &Resolution<'_>, level: &LevelEntry) -> Result<(), String> {
    let needs_time = match (level.level.as_str(), level.verdict) {
        (_, VerdictWord::Undecided) => false,
        ("LIN", _) => is_lightweight(history).map(|()| true)?,
        (code, verdict) => code == "SSER" && verdict == VerdictWord::Satisfied,
    };
    match needs_time && !resolution.has_real_time() {
        true => Err("no committed transaction that sets nothing up has times".to_owned()),
        false => Ok(()),
    }
}
