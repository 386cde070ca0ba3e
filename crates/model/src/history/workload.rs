//! What a log is about, beside reads and writes of items: the workload of a test, and what its own rules say.

use super::TransactionId;
use crate::levels::Level;
use std::collections::BTreeMap;

/// What a log is about. `T` names its transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload<T = TransactionId> {
    /// Its name: "set".
    pub name: &'static str,
    /// Why isolation levels say nothing about it; none where its operations are reads and writes of items.
    pub no_levels: Option<&'static str>,
    /// Whether an order in real time is a run of the data type that it is about; none where reads and writes of items are
    /// asked, or where that is not looked for.
    pub linear: Option<Linear<T>>,
    /// What Jepsen's own checkers of this workload answer, by their names.
    pub like_jepsen: Vec<(&'static str, Answer)>,
    /// What was found, in the order of the log.
    pub facts: Vec<Fact<T>>,
}

/// Whether an order of calls in real time is a run of a sequential data type: of each key by itself, since that is enough
/// (Herlihy and Wing, "Linearizability", 1990, theorem 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Linear<T = TransactionId> {
    /// This is one; what it leaves out had no answer, or failed.
    Holds(Vec<T>),
    /// There is none of the calls of one key. The level, and those that imply it, cannot hold.
    Broken(Level),
    /// There were too many possibilities, or nothing says what was before what.
    Unknown,
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
    /// The other calls, where there are so few that a picture has room for all.
    pub context: Vec<Shown<T>>,
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

    /// Whether its operations are reads and writes of items.
    pub fn has_items(&self) -> bool {
        self.no_levels.is_none()
    }

    /// Whether it says anything about levels.
    pub fn decides_levels(&self) -> bool {
        self.has_items() || matches!(self.linear, Some(Linear::Holds(_) | Linear::Broken(_)))
    }

    /// Which levels are not decided, and why, a sentence; none if it says something about all.
    pub fn undecided(&self) -> Option<String> {
        let why = self.no_levels?;
        let which = match &self.linear {
            Some(Linear::Holds(_)) => return None,
            Some(Linear::Broken(level)) => format!("Isolation levels that do not imply {level}"),
            _ => "Isolation levels".to_owned(),
        };
        Some(format!("{which} are not decided: {why}."))
    }

    /// Whether such a store may return what is out of date, so that real time counts only if that is asked for.
    pub fn may_lag(&self) -> bool {
        self.name == "pn-counter"
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
            context: fact.context.into_iter().filter_map(shown).collect(),
            counts: fact.counts,
        };
        Workload {
            name: self.name,
            no_levels: self.no_levels,
            linear: self.linear.map(|linear| match linear {
                Linear::Holds(order) => {
                    Linear::Holds(order.into_iter().filter_map(&name).collect())
                }
                Linear::Broken(level) => Linear::Broken(level),
                Linear::Unknown => Linear::Unknown,
            }),
            like_jepsen: self.like_jepsen,
            facts: self.facts.into_iter().map(renamed).collect(),
        }
    }
}
