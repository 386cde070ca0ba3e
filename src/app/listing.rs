//! The order in which the history browser lists sessions and transactions, and which it lists. Computed off the frame.

use super::page::Page;
use super::tasks::{Failure, Task};
use crate::control::sorting::{going, sort_by};
use crate::control::{Control, Interrupt};
use crate::history::{History, Outcome, SessionId, TransactionId, as_typed};
use crate::jobs;
use std::cmp::Reverse;
use std::sync::Arc;

/// What a column of the browser is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortBy {
    /// As in the file.
    #[default]
    Order,
    /// The largest first: by transactions, or by operations.
    Size,
    /// Uncommitted transactions first.
    Outcome,
}

/// The request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The session whose transactions are listed.
    pub session: SessionId,
    /// How sessions are sorted.
    pub sessions: SortBy,
    /// How transactions are sorted.
    pub transactions: SortBy,
    /// Only transactions whose name, or one of whose operations, contains this; then those of all sessions.
    pub text: String,
}

impl Wanted {
    /// Whether everything is as in the file, so that there is nothing to compute.
    pub fn is_plain(&self) -> bool {
        *self
            == Wanted {
                session: self.session,
                ..Wanted::default()
            }
    }
}

/// The result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The request it answers.
    pub wanted: Wanted,
    pub sessions: Vec<SessionId>,
    /// The transactions of one of them; where a text is searched, the first [`MOST`] of all sessions.
    pub transactions: Vec<TransactionId>,
}

/// Most transactions that a search lists.
pub const MOST: usize = 10_000;

/// Computing a listing.
pub(super) static LIST: Task<Arc<Listing>> =
    Task::new("listing", Failure::Page(Page::Browser), |app, listing| {
        let Some(document) = &mut app.state.document else {
            return;
        };
        jobs::replace(&mut document.browser.listing, Some(listing));
    });

impl Listing {
    /// O(sessions log sessions + operations of the session, or of the history where a text is searched).
    pub fn new(history: &History, wanted: Wanted, control: &Control) -> Result<Listing, Interrupt> {
        let mut sessions: Vec<SessionId> = history.sessions().collect();
        if wanted.sessions == SortBy::Size {
            let size = |session: &SessionId| Reverse(history.transactions_of(*session).len());
            sort_by(&mut sessions, control, |a, b| size(a).cmp(&size(b)))?;
        }
        let text = as_typed(&wanted.text).to_lowercase();
        let says = |t: &TransactionId| {
            as_typed(&history.transaction_name(*t))
                .to_lowercase()
                .contains(&text)
                || as_typed(&history.exact_transaction_name(*t))
                    .to_lowercase()
                    .contains(&text)
                || going(control, history.operations_of(*t)).any(|o| {
                    as_typed(&history.operation_text(o))
                        .to_lowercase()
                        .contains(&text)
                })
        };
        let mut transactions: Vec<TransactionId> =
            match wanted.session.index() < history.n_sessions() {
                _ if !text.is_empty() => going(control, history.transactions())
                    .filter(says)
                    .take(MOST)
                    .collect(),
                true => going(control, history.transactions_of(wanted.session)).collect(),
                false => Vec::new(),
            };
        match wanted.transactions {
            SortBy::Order => {}
            SortBy::Size => {
                let size = |t: &TransactionId| Reverse(history.operation_range(*t).len());
                sort_by(&mut transactions, control, |a, b| size(a).cmp(&size(b)))?;
            }
            SortBy::Outcome => {
                let rank = |t: &TransactionId| match history.outcome(*t) {
                    Outcome::Aborted => 0,
                    Outcome::Unknown => 1,
                    Outcome::Committed => 2,
                };
                sort_by(&mut transactions, control, |a, b| rank(a).cmp(&rank(b)))?;
            }
        }
        control.check()?;
        Ok(Listing {
            wanted,
            sessions,
            transactions,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_are_sorted_and_searched() {
        let text = "a: [w x 1] [w x 2, w y 3] [w z 4]!\nb: [r x 1] [r x 2] [r x 2] [r y 3]\n";
        let history = crate::formats::text::parse(text).expect("a history in our notation");
        let list = |wanted: Wanted| -> Vec<String> {
            let listing =
                Listing::new(&history, wanted, &Control::new()).expect("nothing stops it");
            listing
                .transactions
                .iter()
                .map(|t| history.transaction_name(*t))
                .collect()
        };
        assert_eq!(
            list(Wanted {
                transactions: SortBy::Size,
                ..Wanted::default()
            }),
            ["a2", "a1", "a3"]
        );
        assert_eq!(
            list(Wanted {
                transactions: SortBy::Outcome,
                ..Wanted::default()
            }),
            ["a3", "a1", "a2"]
        );
        assert_eq!(
            list(Wanted {
                text: "W(X)".to_owned(),
                ..Wanted::default()
            }),
            ["a1", "a2"]
        );
        assert_eq!(
            list(Wanted {
                text: "(x) = 2".to_owned(),
                ..Wanted::default()
            }),
            ["a2", "b2", "b3"]
        );
        assert_eq!(
            list(Wanted {
                text: "a3".to_owned(),
                ..Wanted::default()
            }),
            ["a3"]
        );
        let wanted = Wanted {
            sessions: SortBy::Size,
            ..Wanted::default()
        };
        let sessions = Listing::new(&history, wanted, &Control::new())
            .expect("nothing stops it")
            .sessions;
        assert_eq!(
            sessions.iter().map(|s| s.index()).collect::<Vec<_>>(),
            [1, 0]
        );
    }
}
