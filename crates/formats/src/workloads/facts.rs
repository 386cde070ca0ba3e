//! What a workload's own rules see.

use super::Exchange;
use super::linear::{Linearity, Model, Search, linearity};
use crate::operations::Tree;
use isoscope_model::control::Control;
use isoscope_model::history::{Answer, Draft, Fact, Workload, counted};

/// A fact, with its calls.
pub(super) struct Seen {
    pub(super) name: &'static str,
    pub(super) about: Vec<String>,
    pub(super) statement: String,
    pub(super) calls: Vec<usize>,
    pub(super) counts: bool,
}

/// What the rules see of all keys.
pub(super) struct Facts {
    facts: Vec<(Option<String>, Seen)>,
    answers: Vec<(&'static str, Answer)>,
    /// What was tried to find orders, and what ends that.
    pub(super) search: Search,
}

impl Facts {
    pub(super) fn new(control: &Control) -> Facts {
        Facts {
            facts: Vec::new(),
            answers: Vec::new(),
            search: Search::new(control),
        }
    }

    /// Adds what is seen of the key of these exchanges.
    pub(super) fn add(&mut self, exchanges: &[Exchange<'_, '_>], seen: Seen) {
        let key = exchanges.first().and_then(|first| first.key);
        self.facts
            .push((key.map(|key| key.text().into_owned()), seen));
    }

    /// Says what a checker of Jepsen answers about one key; of all keys the worst answer counts.
    pub(super) fn answer(&mut self, rule: &'static str, answer: Answer) {
        match self.answers.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, known)) => *known = answer.max(*known),
            None => self.answers.push((rule, answer)),
        }
    }

    /// The workload of this name, for transactions by call.
    pub(super) fn workload(
        self,
        name: &'static str,
        no_levels: Option<&'static str>,
        drafts: &[Option<Draft>],
    ) -> Workload<Draft> {
        let fact = |(key, seen): (Option<String>, Seen)| Fact {
            name: seen.name,
            key,
            about: seen.about,
            statement: seen.statement,
            transactions: seen.calls.iter().filter_map(|call| drafts[*call]).collect(),
            counts: seen.counts,
        };
        Workload {
            name,
            no_levels,
            like_jepsen: self.answers,
            facts: self.facts.into_iter().map(fact).collect(),
        }
    }
}

/// Values in a sentence: `1, 2 and 3`, at most ten of them.
pub(super) fn listed<'v>(values: impl IntoIterator<Item = &'v Tree<'v>>) -> String {
    const MOST: usize = 10;
    let texts: Vec<String> = values
        .into_iter()
        .map(|value| value.text().into_owned())
        .collect();
    match &texts[..] {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] if texts.len() <= MOST => format!("{} and {last}", first.join(", ")),
        _ => format!(
            "{}, … ({} in all)",
            texts[..MOST].join(", "),
            counted(texts.len(), "value")
        ),
    }
}

/// Says whether an order of the operations explains all answers; in words, what the type is.
pub(super) fn order<M: Model>(exchanges: &[Exchange<'_, '_>], what: &str, facts: &mut Facts) {
    let place = match linearity::<M>(exchanges, &mut facts.search) {
        Linearity::Holds => return,
        Linearity::Broken(place) => place,
        Linearity::Unknown => {
            facts.add(exchanges, Seen {
                name: "order not decided",
                about: Vec::new(),
                statement: format!("too many operations, or too many without an answer, to say whether some order of them is a run of {what}"),
                calls: Vec::new(),
                counts: false,
            });
            return;
        }
    };
    let last = &exchanges[place];
    let before = |exchange: &&Exchange<'_, '_>| {
        exchange.is_committed() && exchange.word == last.word && exchange.end < last.end
    };
    let before = exchanges
        .iter()
        .filter(before)
        .max_by_key(|exchange| exchange.end);
    let shown = |exchange: &Exchange<'_, '_>| {
        exchange
            .got()
            .unwrap_or(exchange.asked())
            .text()
            .into_owned()
    };
    let answers = match before {
        Some(before) => format!("{}, then {}", shown(before), shown(last)),
        None => shown(last),
    };
    facts.add(
        exchanges,
        Seen {
            name: "no order",
            about: vec![shown(last)],
            statement: format!("no order of the operations is a run of {what}: {answers}"),
            calls: before
                .into_iter()
                .chain([last])
                .map(|exchange| exchange.call)
                .collect(),
            counts: true,
        },
    );
}
