//! Transactions of unknown outcome, assumed to have committed or not.

use super::{History, Outcome, TransactionId};

impl History {
    /// This history in which these transactions of unknown outcome committed, at any time after they began, or did not.
    /// O(size of the history).
    pub fn with_outcomes(&self, committed: &[(TransactionId, bool)]) -> History {
        let mut settled = self.clone();
        for &(t, committed) in committed {
            settled.outcomes[t.index()] = if committed {
                Outcome::Committed
            } else {
                Outcome::Aborted
            };
            let interval = settled
                .intervals
                .as_mut()
                .and_then(|intervals| intervals[t.index()].as_mut());
            if let Some(interval) = interval.filter(|_| committed) {
                interval.end = i64::MAX;
            }
        }
        settled
    }
}
