//! Strict serializability, as far as the answer for serializability decides it.

use super::{Cause, Verdict, Witness};
use crate::history::{History, Outcome, TransactionId};
use crate::relations::Resolution;

/// The verdict of SSER, given that of SER, for a history with times.
///
/// Without a serial order there is none that respects real time; a serial order that does respect it is a witness. Real
/// time orders two transactions if one ended strictly before the other started (MTC, Def. 2).
pub(super) fn verdict(history: &History, resolution: &Resolution, serializability: &Verdict) -> Verdict {
    match serializability {
        Verdict::Violated => Verdict::Violated,
        Verdict::Satisfied(Witness::CommitOrder(order)) => {
            let initial = resolution.merged_into_initial();
            match respects_real_time(history, initial.chain(order.iter().copied())) {
                true => Verdict::Satisfied(Witness::CommitOrder(order.clone())),
                false => Verdict::Undecided(Cause::Unsupported(
                    "serializable, but whether in real-time order is not checked".to_owned(),
                )),
            }
        }
        other => other.clone(),
    }
}

/// Whether no transaction of the order ended before an earlier one of the order started. O(transactions).
fn respects_real_time(history: &History, order: impl Iterator<Item = TransactionId>) -> bool {
    let mut latest_start = i64::MIN;
    for t in order {
        let Some(interval) = history.interval(t) else { continue };
        // A transaction of unknown outcome may have committed at any later time.
        let end = if history.outcome(t) == Outcome::Unknown { i64::MAX } else { interval.end };
        if end < latest_start {
            return false;
        }
        latest_start = latest_start.max(interval.start);
    }
    true
}
