//! Which session has which lane, and where the transactions of the anomaly are.

use isoscope_model::history::{History, SessionId, TransactionId};

/// Lanes from top to bottom: the sessions of the anomaly, then all others. Nothing is stored for those, because there may
/// be millions.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    n_sessions: usize,
    /// Sessions of the anomaly, ascending.
    own: Vec<SessionId>,
    /// Transactions of the anomaly, ascending, by session.
    involved: Vec<(SessionId, TransactionId)>,
}

impl Rows {
    /// The lanes for an anomaly with these transactions. O(transactions · log transactions).
    pub(super) fn new(history: &History, transactions: &[TransactionId]) -> Rows {
        let transactions = transactions.iter().filter(|t| !t.is_initial());
        let mut involved: Vec<_> = transactions.map(|&t| (history.session_of(t), t)).collect();
        involved.sort_unstable();
        let mut own: Vec<SessionId> = involved.iter().map(|(session, _)| *session).collect();
        own.dedup();
        Rows {
            n_sessions: history.n_sessions(),
            own,
            involved,
        }
    }

    /// Number of lanes.
    pub(super) fn len(&self) -> usize {
        self.n_sessions
    }

    /// Number of sessions of the anomaly.
    pub(super) fn n_own(&self) -> usize {
        self.own.len()
    }

    /// The session of a lane. O(sessions of the anomaly).
    pub(super) fn session(&self, lane: usize) -> Option<SessionId> {
        if let Some(own) = self.own.get(lane) {
            return Some(*own);
        }
        // The others are in their order; those of the anomaly are skipped.
        let mut index = lane - self.own.len();
        for own in &self.own {
            index += usize::from(own.index() <= index);
        }
        (index < self.n_sessions).then(|| SessionId::new(index))
    }

    /// The lane of a session. O(log sessions of the anomaly).
    pub(super) fn lane(&self, session: SessionId) -> usize {
        match self.own.binary_search(&session) {
            Ok(lane) => lane,
            Err(before) => self.own.len() + session.index() - before,
        }
    }

    /// The transactions of the anomaly.
    pub(super) fn involved(&self) -> impl Iterator<Item = TransactionId> {
        self.involved.iter().map(|(_, transaction)| *transaction)
    }

    /// Those of one session.
    pub(super) fn involved_of(&self, session: SessionId) -> &[(SessionId, TransactionId)] {
        let begin = self.involved.partition_point(|(other, _)| *other < session);
        let n = self.involved[begin..].partition_point(|(other, _)| *other == session);
        &self.involved[begin..begin + n]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sessions_of_the_anomaly_come_first() {
        let text = "a: [w x 1]\nb: [w x 2]\nc: [w x 3] [r x 3]\nd: [w x 4]\ne: [w x 5]\n";
        let history = isoscope_formats::text::parse(text).expect("a history in our notation");
        let names = |rows: &Rows| -> String {
            (0..rows.len())
                .filter_map(|lane| rows.session(lane))
                .map(|session| history.session_name(session))
                .collect()
        };
        assert_eq!(names(&Rows::new(&history, &[])), "abcde");
        let of = |name: &str| {
            history
                .transactions()
                .find(|t| history.transaction_name(*t) == name)
                .expect("it is there")
        };
        let rows = Rows::new(&history, &[of("d1"), of("b1")]);
        assert_eq!(names(&rows), "bdace");
        for lane in 0..rows.len() {
            assert_eq!(
                rows.session(lane).map(|session| rows.lane(session)),
                Some(lane)
            );
        }
        assert_eq!(rows.session(5), None);
        assert_eq!(rows.involved_of(history.session_of(of("d1"))).len(), 1);
        assert!(rows.involved_of(history.session_of(of("c1"))).is_empty());
    }
}
