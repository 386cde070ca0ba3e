//! What the user marks in a history: transactions and stretches of it, each with a text.

use super::{History, TransactionId};
use serde::{Deserialize, Serialize};

/// A marked place and what is written there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    /// Where.
    pub place: MarkPlace,
    /// Free text, of one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// A place in a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkPlace {
    /// A transaction.
    Transaction(Named),
    /// From the beginning of the first transaction to the end of the second.
    Between(Named, Named),
    /// From one time to another, in units of the history's clock.
    Time(i64, i64),
}

/// A transaction by number and name, so that it is not mistaken for another when the file has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    number: usize,
    name: String,
}

impl Named {
    /// The transaction of this id.
    pub fn new(history: &History, id: TransactionId) -> Named {
        Named {
            number: id.index(),
            name: history.transaction_name(id),
        }
    }

    /// Its id; none if the transaction of this number has another name.
    pub fn id(&self, history: &History) -> Option<TransactionId> {
        let id =
            (self.number < history.n_transactions()).then(|| TransactionId::new(self.number))?;
        (history.transaction_name(id) == self.name).then_some(id)
    }
}

impl MarkPlace {
    /// The transaction that it marks, if it is one.
    pub fn transaction(&self, history: &History) -> Option<TransactionId> {
        match self {
            MarkPlace::Transaction(named) => named.id(history),
            MarkPlace::Between(..) | MarkPlace::Time(..) => None,
        }
    }

    /// Whether the history has this place.
    pub fn is_in(&self, history: &History) -> bool {
        match self {
            MarkPlace::Transaction(named) => named.id(history).is_some(),
            MarkPlace::Between(from, to) => from.id(history).is_some() && to.id(history).is_some(),
            MarkPlace::Time(..) => history.has_times(),
        }
    }

    /// The place in words, times as on the axis of the history.
    pub fn describe(&self, history: &History) -> String {
        let time = |at: i64| history.origin().time(at);
        match self {
            MarkPlace::Transaction(named) => named.name.clone(),
            MarkPlace::Between(from, to) => format!("{} to {}", from.name, to.name),
            MarkPlace::Time(from, to) => format!("{} to {}", time(*from), time(*to)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_of_another_name_is_not_the_marked_one() {
        let read = crate::common::history;
        let (before, after) = (
            read("a: [w x 1] [r x 1]\nb: [r x 1]\n"),
            read("a: [w x 1]\nb: [r x 1]\n"),
        );
        let place = MarkPlace::Transaction(Named::new(&before, TransactionId::new(1)));
        assert_eq!(place.transaction(&before), Some(TransactionId::new(1)));
        assert!(
            place.is_in(&before) && !place.is_in(&after),
            "the second transaction is now another one"
        );
        assert_eq!(place.describe(&before), "a2");
        assert!(!MarkPlace::Time(0, 5).is_in(&before), "there are no times");
    }

    #[test]
    fn it_is_stored_readably() {
        let annotation = Annotation {
            place: MarkPlace::Time(3, 9),
            text: "the failover".to_owned(),
        };
        let text = serde_json::to_string(&annotation).expect("it can be written");
        assert_eq!(text, r#"{"place":{"time":[3,9]},"text":"the failover"}"#);
        assert_eq!(
            serde_json::from_str::<Annotation>(&text).expect("it can be read"),
            annotation
        );
    }
}
