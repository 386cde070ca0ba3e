//! What everything to come has seen.
//!
//! Engines settle a past of which they are told that every transaction delivered later sees it: session order and reads
//! lead from it to there. Positions that they were told so of are *relied on*.
//!
//! With a fixed number of sessions that have all shown themselves, what is to come sees what the last transaction of its
//! session has seen: the minimum over the sessions may be relied on. More sessions end following.
//!
//! With barriers (`history::fences`) sessions come and go. Then the minimum is taken over
//!
//! * the last transaction of each session that has not ended, or of which something still waits. Nothing may be relied on
//!   in addition as long as the first transaction of a session waits;
//! * the last transaction that wrote the barrier key, for the sessions to come: each begins by reading that key.
//!
//! Transactions that only read need not be seen: no one reads from them, and what is to come may be put behind them in any
//! order, except one that ended before they began. So where a session has only read since the last transaction that all
//! have seen, and nothing waits that arrived before, all of it counts as passed. Or else each session that ends would
//! leave a last transaction that nothing is known to follow, and hold up settling for ever.
//!
//! This is sound, whatever the comments say and the database does:
//!
//! 1. Each transaction is looked at when it is delivered, before an engine hears of it. If it has not seen everything that
//!    is relied on, following ends, and nothing is claimed any longer. So what engines were told is true of all that
//!    they get, and that is all that their answers rest on. The comments only say when it is worth while to rely on
//!    something: a file without them, or with wrong ones, is never judged wrongly.
//! 2. Following does not end as long as the recording keeps its word. A later transaction of a session that counted sees
//!    what the last one saw. A new session reads the barrier key first, from the last writer of it: there is no later
//!    one until its client comes to the barrier. The minimum never falls below what is relied on, since whatever was
//!    delivered in the meantime has seen that.
//! 3. A transaction of unknown outcome is delivered when it is read, perhaps long after its session has ended. If the
//!    session has not seen everything relied on, it is not delivered: reads from it are left out and counted, like those of
//!    what was settled by age. Levels are closed under leaving out reads and transactions, so *violated* stays proved, and
//!    nothing is said to hold. If the session has seen it, it counts from the moment when the transaction waits to be
//!    delivered, so that stays so.

use super::{Delivery, Origin};
use crate::follow::delivered::Delivered;
use crate::follow::record::Names;
use isoscope_model::history::Outcome;
use std::sync::Arc;

impl Delivery {
    /// By session: the position of the last transaction that everything to come of these many sessions, and of no
    /// other, has seen. None if some session has not shown itself.
    pub(in crate::follow) fn passed(&self, n_sessions: u32) -> Option<Vec<u32>> {
        let lasts: Vec<&Arc<Delivered>> = self
            .sessions
            .iter()
            .filter_map(|session| session.last.as_ref())
            .collect();
        if lasts.len() < n_sessions as usize {
            return None;
        }
        let seen = |s: usize| {
            lasts
                .iter()
                .map(|last| last.seen.get(s).copied().unwrap_or(0))
                .min()
                .unwrap_or(0)
        };
        Some((0..self.sessions.len()).map(seen).collect())
    }

    /// The same for sessions that come and go, as far as barriers show, and what has only read; it is relied on from now
    /// on. O(sessions²).
    pub(in crate::follow) fn passed_by_barriers(&mut self) -> Option<Vec<u32>> {
        let mut passed = self.barrier.as_ref()?.seen.to_vec();
        passed.resize(self.sessions.len(), 0);
        for session in self
            .sessions
            .iter()
            .filter(|session| !session.has_ended || !session.queue.is_empty())
        {
            match &session.last {
                Some(last) => {
                    let seen = last.seen.iter().copied().chain(std::iter::repeat(0));
                    passed
                        .iter_mut()
                        .zip(seen)
                        .for_each(|(passed, seen)| *passed = (*passed).min(seen));
                }
                None if session.queue.is_empty() => {}
                None => return None,
            }
        }
        self.relied_on.clone_from(&passed);
        let oldest_waiting = self.oldest_waiting().unwrap_or(u64::MAX);
        for (passed, session) in passed.iter_mut().zip(&self.sessions) {
            let last = session
                .last
                .as_ref()
                .filter(|last| last.arrived < oldest_waiting);
            if let Some(last) = last.filter(|_| session.last_writer <= *passed) {
                *passed = last.position;
            }
        }
        Some(passed)
    }

    /// Takes in what is known of sessions in front of the next transaction: which have ended, and the key that barriers are
    /// written to.
    pub(in crate::follow) fn hear(&mut self, gone: &[u32], barrier_key: Option<u32>) {
        self.barrier_key = barrier_key;
        for &session in gone {
            self.session(session).has_ended = true;
        }
    }

    /// Why what is relied on is not true of this transaction, if it is not. O(sessions).
    pub(in crate::follow) fn broken_promise(&self, t: &Delivered, names: &Names) -> Option<String> {
        (!self.has_seen_enough(&t.seen)).then(|| {
            let (line, session) = (t.record.line, names.sessions.name(t.session));
            format!("line {line}: session {session} has not seen what every session had seen at an earlier barrier")
        })
    }

    /// Whether a write is of a transaction of unknown outcome that can no longer be delivered.
    pub(super) fn is_too_old(&self, origin: &Origin) -> bool {
        let last = || {
            self.sessions
                .get(origin.session as usize)
                .and_then(|session| session.last.as_ref())
        };
        origin.outcome == Outcome::Unknown
            && !self.relied_on.is_empty()
            && !self.has_seen_enough(last().map_or(&[], |last| &last.seen))
    }

    fn has_seen_enough(&self, seen: &[u32]) -> bool {
        self.relied_on
            .iter()
            .enumerate()
            .all(|(s, &passed)| passed <= seen.get(s).copied().unwrap_or(0))
    }
}
