//! The store whose clients are recorded: a log of transactions, run one at a time, and what each session sees of it.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;

/// What a session sees of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// All of it: the history is serializable.
    Serial,
    /// A prefix that only grows, at most this many transactions short, and its own writes. Such a prefix holds all that
    /// its transactions saw, so the history satisfies TCC; two sessions may see their own writes before each other's, so
    /// it need not satisfy more.
    Lagging(u64),
    /// A prefix that only grows, at most this many transactions short, with all of the session's own transactions; what
    /// another transaction has written since cannot be overwritten. The history satisfies SI, and need not satisfy SER.
    Snapshot(u64),
}

impl View {
    fn lag(self) -> u64 {
        match self {
            View::Serial => 0,
            View::Lagging(lag) | View::Snapshot(lag) => lag,
        }
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            View::Serial => f.write_str("serial"),
            View::Lagging(lag) => write!(f, "lag:{lag}"),
            View::Snapshot(lag) => write!(f, "snapshot:{lag}"),
        }
    }
}

impl FromStr for View {
    type Err = String;

    fn from_str(text: &str) -> Result<View, String> {
        let number = |prefix: &str| {
            text.strip_prefix(prefix)
                .and_then(|number| number.parse().ok())
        };
        match (text, number("lag:"), number("snapshot:")) {
            ("serial", ..) => Ok(View::Serial),
            (_, Some(lag), _) => Ok(View::Lagging(lag)),
            (_, _, Some(lag)) => Ok(View::Snapshot(lag)),
            _ => Err(format!(
                "unknown view `{text}`, expected serial, lag:TRANSACTIONS or snapshot:TRANSACTIONS"
            )),
        }
    }
}

/// The last write of a transaction to a key.
#[derive(Clone, Copy)]
struct Version {
    transaction: u64,
    session: u64,
    value: u64,
}

/// All keys, and how far each session sees.
pub(super) struct Store {
    view: View,
    /// By key, in the order of the log. Versions that no transaction can read any more are gone.
    versions: Vec<VecDeque<Version>>,
    /// By session: transactions of the log that it sees for certain.
    seen: Vec<u64>,
    /// By session: one after its last transaction.
    next_of_session: Vec<u64>,
    transaction: u64,
    session: u64,
}

impl Store {
    pub(super) fn new(view: View, keys: u64, sessions: u64) -> Store {
        // A serial store needs no memory of sessions, of which there may be as many as transactions.
        let seen = if view == View::Serial {
            Vec::new()
        } else {
            vec![0; sessions as usize]
        };
        let next_of_session = seen.clone();
        let versions = vec![VecDeque::new(); keys as usize];
        Store {
            view,
            versions,
            seen,
            next_of_session,
            transaction: 0,
            session: 0,
        }
    }

    /// The next transaction of the log.
    pub(super) fn begin(&mut self, transaction: u64, session: u64, random: &mut fastrand::Rng) {
        (self.transaction, self.session) = (transaction, session);
        if self.view == View::Serial {
            return;
        }
        let seen = &mut self.seen[session as usize];
        *seen = transaction
            .saturating_sub(random.u64(..=self.view.lag()))
            .max(*seen);
        if let View::Snapshot(_) = self.view {
            *seen = (*seen).max(self.next_of_session[session as usize]);
            self.next_of_session[session as usize] = transaction + 1;
        }
    }

    /// Whether the running transaction may write a key: at snapshots, if no other has since it took its own.
    pub(super) fn may_write(&self, key: u64) -> bool {
        let View::Snapshot(_) = self.view else {
            return true;
        };
        let newest = self.versions[key as usize].back();
        newest.is_none_or(|v| {
            v.transaction < self.seen[self.session as usize] || v.transaction == self.transaction
        })
    }

    /// What the running transaction reads, 0 for the initial version; with `stale`, the version before that one unless
    /// the running transaction wrote it.
    pub(super) fn read(&self, key: u64, stale: bool) -> u64 {
        let versions = &self.versions[key as usize];
        let seen = match self.view {
            View::Serial => self.transaction,
            View::Lagging(_) | View::Snapshot(_) => self.seen[self.session as usize],
        };
        let own = versions
            .iter()
            .rposition(|v| v.transaction < seen || v.session == self.session);
        let newest = own.map_or(0, |at| at + 1);
        let is_own = newest > 0 && versions[newest - 1].transaction == self.transaction;
        let shown = if stale && !is_own {
            newest.saturating_sub(1)
        } else {
            newest
        };
        shown.checked_sub(1).map_or(0, |at| versions[at].value)
    }

    /// The running transaction writes the next value of a key, which is returned.
    pub(super) fn write(&mut self, key: u64) -> u64 {
        let versions = &mut self.versions[key as usize];
        let value = versions.back().map_or(0, |v| v.value) + 1;
        let version = Version {
            transaction: self.transaction,
            session: self.session,
            value,
        };
        match versions.back_mut() {
            Some(newest) if newest.transaction == self.transaction => *newest = version,
            _ => versions.push_back(version),
        }
        // The newest version that all see, and one before it for stale reads.
        let all_see = self.transaction.saturating_sub(self.view.lag());
        while versions.get(2).is_some_and(|v| v.transaction < all_see) {
            versions.pop_front();
        }
        value
    }
}
