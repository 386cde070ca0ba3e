//! What the order of one component of a history has to explain.

use super::initial::Initial;
use isoscope_model::history::{History, KeyId, OperationKind, Outcome, SessionId, TransactionId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The sessions that write each key. What was rolled back and what sets up the initial state does not count.
pub(super) struct Writing(FxHashMap<KeyId, Vec<SessionId>>);

impl Writing {
    /// Of a history. O(operations).
    pub(super) fn new(history: &History, initial: &Initial) -> Writing {
        let mut sessions: FxHashMap<KeyId, Vec<SessionId>> = FxHashMap::default();
        let counts =
            |t: &TransactionId| history.outcome(*t) != Outcome::Aborted && !initial.is_setup(*t);
        for t in history.transactions().filter(counts) {
            let session = history.session_of(t);
            let operations = history.operations_of(t).map(|o| history.operation(o));
            for write in operations.filter(|operation| operation.kind == OperationKind::Write) {
                let known = sessions.entry(write.key).or_default();
                // Transactions come by session.
                if known.last() != Some(&session) {
                    known.push(session);
                }
            }
        }
        Writing(sessions)
    }
}

/// The sessions that an order is about.
///
/// A session may belong to several components, and one of its transactions may use keys of each. The order of a component
/// explains the reads of its own keys: those that the reader's session shares with a writer in the component. Two
/// components have at most one session in common, so no other session that writes a key of another component is there.
pub(super) struct Part<'a> {
    writing: &'a Writing,
    sessions: FxHashSet<SessionId>,
}

impl<'a> Part<'a> {
    /// The part with these transactions.
    pub(super) fn of(
        history: &History,
        writing: &'a Writing,
        transactions: impl Iterator<Item = TransactionId>,
    ) -> Part<'a> {
        Part {
            writing,
            sessions: transactions.map(|t| history.session_of(t)).collect(),
        }
    }

    /// Whether the order explains what a session reads from a key. O(sessions that write the key).
    pub(super) fn explains(&self, reader: SessionId, key: KeyId) -> bool {
        let Some(writers) = self.writing.0.get(&key) else {
            return true;
        };
        writers.iter().any(|&writer| writer != reader)
            && writers.iter().all(|writer| self.sessions.contains(writer))
    }
}
