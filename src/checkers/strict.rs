//! Strict serializability, as far as the answer for serializability determines it.

use super::{Cause, Verdict, Witness};
use crate::history::{History, Outcome, TransactionId};
use crate::relations::Index;

/// The verdict of SSER, given that of SER, for a history with times; `None` if its own engine is needed.
///
/// Without a serial order, none respects real time; a serial order that does respect it is a witness. Real
/// time orders two transactions if one ended strictly before the other started (MTC, Def. 2). Times that contradict
/// session order say something about the clock and nothing about the store. The initial state is before all time, whatever
/// wrote it.
pub(super) fn verdict(history: &History, index: &Index, serializability: &Verdict) -> Option<Verdict> {
    match serializability {
        Verdict::Violated => Some(Verdict::Violated),
        Verdict::Satisfied(Witness::CommitOrder(order)) => {
            if let Some((earlier, later)) = index.clock_against_session_order() {
                let name = |node: u32| history.transaction_name(index.transaction[node as usize]);
                let (earlier, later) = (name(earlier), name(later));
                return Some(Verdict::Undecided(Cause::Unsupported(format!(
                    "times contradict session order: {later} ended before {earlier} began"
                ))));
            }
            let respected = respects_real_time(history, order.iter().copied());
            respected.then(|| Verdict::Satisfied(Witness::CommitOrder(order.clone())))
        }
        other => Some(other.clone()),
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
