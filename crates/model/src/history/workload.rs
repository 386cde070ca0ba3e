//! What a log is about, beside reads and writes of items: the workload of a test, and what its own rules say.

use super::TransactionId;
use std::collections::BTreeMap;

/// What a log is about. `T` names its transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload<T = TransactionId> {
    /// Its name: "set".
    pub name: &'static str,
    /// Why isolation levels say nothing about it; none where its operations are reads and writes of items.
    pub no_levels: Option<&'static str>,
    /// What Jepsen's own checkers of this workload answer, by their names.
    pub like_jepsen: Vec<(&'static str, Answer)>,
    /// What was found, in the order of the log.
    pub facts: Vec<Fact<T>>,
}

/// The answer of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// All is as the workload promises.
    Valid,
    /// Too little was tested to say.
    Unknown,
    /// Something is not.
    Invalid,
}

impl Answer {
    /// Valid if this holds, else invalid.
    pub fn valid_if(holds: bool) -> Answer {
        if holds {
            Answer::Valid
        } else {
            Answer::Invalid
        }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Answer::Valid => "valid",
            Answer::Unknown => "unknown",
            Answer::Invalid => "invalid",
        }
    }
}

/// Something that a workload's own rules see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact<T = TransactionId> {
    /// What it is: "lost".
    pub name: &'static str,
    /// The key, where the workload is about each key by itself.
    pub key: Option<String>,
    /// The elements, values or messages that it concerns.
    pub about: Vec<String>,
    /// A sentence.
    pub statement: String,
    /// The calls that show it, in the order of the log.
    pub calls: Vec<Shown<T>>,
    /// Whether the rule of the workload calls it invalid; else it is only said.
    pub counts: bool,
}

/// A call that shows a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown<T = TransactionId> {
    /// The transaction that it is.
    pub transaction: T,
    /// What was asked and answered, in the words of the log: `read → {1 2}`.
    pub said: String,
}

impl<T> Workload<T> {
    /// The ids of the facts: workload, fact and number, `set/lost/1`. O(facts).
    pub fn ids(&self) -> Vec<String> {
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        let id = |fact: &Fact<T>| {
            let number = numbers.entry(fact.name).or_default();
            *number += 1;
            let name = fact.name.replace([' ', ','], "-");
            format!("{}/{name}/{number}", self.name)
        };
        self.facts.iter().map(id).collect()
    }

    /// The fact with this id, or the first with this id but for its number. O(facts).
    pub fn place_of(&self, name: &str, number: Option<u32>) -> Option<usize> {
        let wanted = format!("{name}/{}", number.unwrap_or(1));
        self.ids().iter().position(|id| *id == wanted)
    }

    /// Whether a rule of the workload calls something invalid.
    pub fn is_broken(&self) -> bool {
        self.facts.iter().any(|fact| fact.counts)
    }

    /// This with other names of transactions; those that have none are left out.
    pub fn renamed<U>(self, name: impl Fn(T) -> Option<U>) -> Workload<U> {
        let shown = |call: Shown<T>| {
            Some(Shown {
                transaction: name(call.transaction)?,
                said: call.said,
            })
        };
        let renamed = |fact: Fact<T>| Fact {
            name: fact.name,
            key: fact.key,
            about: fact.about,
            statement: fact.statement,
            calls: fact.calls.into_iter().filter_map(shown).collect(),
            counts: fact.counts,
        };
        Workload {
            name: self.name,
            no_levels: self.no_levels,
            like_jepsen: self.like_jepsen,
            facts: self.facts.into_iter().map(renamed).collect(),
        }
    }
}
