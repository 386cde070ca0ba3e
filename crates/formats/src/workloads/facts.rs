//! What a workload's own rules see.

use super::Exchange;
use super::linear::{Linearity, Model, Search, core, linearity};
use crate::operations::Tree;
use isoscope_model::control::Control;
use isoscope_model::history::{Answer, Draft, Fact, Linear, Shown, Workload, counted, cut};
use isoscope_model::levels::Level;

/// A fact, with its calls.
pub(super) struct Seen {
    pub(super) name: &'static str,
    pub(super) about: Vec<String>,
    pub(super) statement: String,
    pub(super) calls: Vec<usize>,
    pub(super) counts: bool,
}

impl Seen {
    /// Something that the rules call invalid.
    pub(super) fn new(
        name: &'static str,
        about: Vec<String>,
        statement: String,
        calls: Vec<usize>,
    ) -> Seen {
        Seen {
            name,
            about,
            statement,
            calls,
            counts: true,
        }
    }
}

/// What the rules see of all keys.
pub(super) struct Facts {
    facts: Vec<Fact<usize>>,
    answers: Vec<(&'static str, Answer)>,
    linear: Option<Linear<usize>>,
    /// Why levels say nothing, if an order is found, or that there is none.
    pub(super) instead_of_levels: Option<&'static str>,
    /// How a call is said, where its values are not what readers expect.
    pub(super) words: fn(&Exchange<'_, '_>) -> Option<String>,
    /// What was tried to find orders, and what ends that.
    pub(super) search: Search,
    pub(super) control: Control,
}

impl Facts {
    pub(super) fn new(control: &Control) -> Facts {
        Facts {
            facts: Vec::new(),
            answers: Vec::new(),
            linear: None,
            instead_of_levels: None,
            words: |_| None,
            search: Search::new(control),
            control: control.clone(),
        }
    }

    /// Adds what is seen of the key of these exchanges, which are in the order of their calls.
    pub(super) fn add(&mut self, exchanges: &[Exchange<'_, '_>], seen: Seen) {
        let key = exchanges.first().and_then(|first| first.key);
        let mut calls = seen.calls;
        calls.sort_unstable();
        calls.dedup();
        if calls.len() > MOST_SHOWN {
            calls.drain(MOST_SHOWN - 1..calls.len() - 1);
        }
        let words = self.words;
        let in_words = |exchange: &Exchange<'_, '_>| {
            words(exchange).unwrap_or_else(|| said(exchange, &seen.about))
        };
        let shown = |call: usize| {
            let at = exchanges.binary_search_by_key(&call, |exchange| exchange.call);
            Some(Shown {
                transaction: call,
                said: in_words(&exchanges[at.ok()?]),
            })
        };
        // In a small log the others show that nothing else explains it.
        let others = exchanges.iter().filter(|_| exchanges.len() <= FEW);
        let others = others.filter(|exchange| calls.binary_search(&exchange.call).is_err());
        let context = others.map(|exchange| Shown {
            transaction: exchange.call,
            said: in_words(exchange),
        });
        self.facts.push(Fact {
            context: context.collect(),
            name: seen.name,
            key: key.map(|key| key.text().into_owned()),
            calls: calls.into_iter().filter_map(shown).collect(),
            about: seen.about,
            statement: seen.statement,
            counts: seen.counts,
        });
    }

    /// Says what a checker of Jepsen answers about one key; of all keys the worst answer counts.
    pub(super) fn answer(&mut self, rule: &'static str, answer: Answer) {
        match self.answers.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, known)) => *known = answer.max(*known),
            None => self.answers.push((rule, answer)),
        }
    }

    /// Says whether an order of the calls of one key is a run of its data type.
    pub(super) fn linear(&mut self, found: Linear<usize>) {
        self.linear = Some(match (self.linear.take(), found) {
            (None, found) => found,
            (Some(Linear::Holds(mut all)), Linear::Holds(order)) => {
                all.extend(order);
                Linear::Holds(all)
            }
            (Some(Linear::Broken(one)), Linear::Broken(other)) => Linear::Broken(one.min(other)),
            (Some(Linear::Broken(level)), _) | (_, Linear::Broken(level)) => Linear::Broken(level),
            (Some(_), _) => Linear::Unknown,
        });
    }

    /// Why levels say nothing, where an order of the calls is found, or that there is none.
    pub(super) fn instead_of_levels(&self) -> Option<&'static str> {
        let is_decided = matches!(self.linear, Some(Linear::Holds(_) | Linear::Broken(_)));
        self.instead_of_levels.filter(|_| is_decided)
    }

    /// The workload of this name, for transactions by call.
    pub(super) fn workload(
        self,
        name: &'static str,
        no_levels: Option<&'static str>,
        drafts: &[Option<Draft>],
    ) -> Workload<Draft> {
        let no_levels = no_levels.or(self.instead_of_levels());
        let by_call = Workload {
            name,
            no_levels,
            linear: self.linear.filter(|_| no_levels.is_some()),
            like_jepsen: self.answers,
            facts: self.facts,
        };
        by_call.renamed(|call| drafts[call])
    }
}

/// Words of operations that only answer.
const ASK_NOTHING: &[&str] = &["read", "dequeue", "drain", "poll", "generate"];

/// Longest value in what was said.
const LONGEST: usize = 48;

/// What was asked and answered: `read → #{1 2}`. Of a long collection it says how much it has, and which of some elements.
fn said(exchange: &Exchange<'_, '_>, about: &[String]) -> String {
    let value = |value: &Tree<'_>| {
        let text = value.in_words();
        match value.elements() {
            Some(elements) if text.len() > LONGEST => among(elements, about),
            _ => cut(&text, LONGEST),
        }
    };
    // Where only the answer is in the log, it is what was asked for, unless nothing is.
    let asks = exchange.has_request || !ASK_NOTHING.contains(&exchange.word);
    let asked = Some(exchange.asked()).filter(|asked| asks && !asked.is_nil());
    let says = |got: &&Tree<'_>| Some(*got) != asked && (!got.is_nil() || exchange.word == "read");
    let mut said = exchange.word.to_owned();
    if let Some(asked) = asked {
        said += &format!(" {}", value(asked));
    }
    if let Some(got) = exchange.got().filter(says) {
        said += &format!(" → {}", value(got));
    }
    match exchange.key {
        Some(key) => format!("{said} (key {})", cut(&key.in_words(), LONGEST)),
        None => said,
    }
}

/// A collection by what it has and has not of some elements: `4,812 elements, not 3`.
fn among(elements: &[Tree<'_>], about: &[String]) -> String {
    const MOST: usize = 3;
    let is_there = |name: &&String| {
        elements
            .iter()
            .any(|element| element.text() == name.as_str())
    };
    let (there, missing): (Vec<&String>, Vec<&String>) =
        about.iter().take(MOST).partition(is_there);
    let mut text = counted(elements.len(), "element");
    for (names, with) in [(there, "with"), (missing, "without")] {
        if !names.is_empty() {
            let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
            text += &format!(", {with} {}", names.join(", "));
        }
    }
    text
}

/// Values in a sentence.
pub(super) fn listed<'v>(values: impl IntoIterator<Item = &'v Tree<'v>>) -> String {
    let texts = values.into_iter().map(|value| value.text().into_owned());
    names(texts.collect())
}

/// Names in a sentence: `1, 2 and 3`, at most ten of them.
pub(super) fn names(names: Vec<String>) -> String {
    const MOST: usize = 10;
    match &names[..] {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] if names.len() <= MOST => format!("{} and {last}", first.join(", ")),
        _ => format!(
            "{}, … ({} in all)",
            names[..MOST].join(", "),
            counted(names.len(), "value")
        ),
    }
}

/// Whether it is known when each call that succeeded had ended.
pub(super) fn has_ends(all: &[&Exchange<'_, '_>]) -> bool {
    let mut sure = all.iter().filter(|exchange| exchange.is_committed());
    sure.all(|exchange| exchange.end.is_some())
}

/// Says whether an order of the operations explains all answers; in words, what the type is. Where something else is found,
/// that there is none needs not be told.
pub(super) fn order<M: Model>(
    exchanges: &[Exchange<'_, '_>],
    what: &str,
    tell: bool,
    facts: &mut Facts,
) {
    let all: Vec<&Exchange<'_, '_>> = exchanges.iter().collect();
    let has_order = has_ends(&all);
    facts.search.allow_for(all.len());
    let found = match has_order {
        true => linearity::<M>(&all, &mut facts.search),
        false => Linearity::Unknown,
    };
    let place = match found {
        Linearity::Holds(order) => {
            let calls = order.into_iter().map(|place| all[place as usize].call);
            return facts.linear(Linear::Holds(calls.collect()));
        }
        Linearity::Broken(place) => {
            facts.linear(Linear::Broken(Level::StrictSerializability));
            place
        }
        Linearity::Unknown => {
            facts.linear(Linear::Unknown);
            if tell && has_order {
                facts.add(exchanges, Seen {
                    name: "order not decided",
                    about: Vec::new(),
                    statement: format!("too many operations, or too many without an answer, to say whether some order of them is a run of {what}"),
                    calls: Vec::new(),
                    counts: false,
                });
            }
            return;
        }
    };
    if !tell {
        return;
    }
    let core = core::<M>(&all, place, &mut facts.search);
    let answers: Vec<&Exchange<'_, '_>> = core
        .iter()
        .filter(|exchange| !M::changes(exchange))
        .copied()
        .collect();
    let shown = |exchange: &&Exchange<'_, '_>| {
        cut(
            &exchange.got().unwrap_or(exchange.asked()).in_words(),
            LONGEST,
        )
    };
    let told: Vec<String> = answers
        .iter()
        .rev()
        .take(MOST_TOLD)
        .rev()
        .map(shown)
        .collect();
    let changes = core.iter().rev().filter(|exchange| M::changes(exchange));
    let changes = changes.take(MOST_SHOWN.saturating_sub(answers.len()));
    let calls = answers.iter().chain(changes).chain([&all[place]]);
    let calls = calls.map(|exchange| exchange.call).collect();
    // Answers that are alike say nothing by themselves.
    let are_alike = told.windows(2).any(|pair| pair[0] == pair[1]);
    let answers = match told.is_empty() || are_alike {
        true => String::new(),
        false => format!(": {}", told.join(", then ")),
    };
    facts.add(
        exchanges,
        Seen {
            name: "no order",
            about: Vec::new(),
            statement: format!("no order in real time explains what {what} answered{answers}"),
            calls,
            counts: true,
        },
    );
}

/// A log with so many calls is shown whole.
const FEW: usize = 8;

/// Answers in a sentence, and calls of a finding.
const MOST_TOLD: usize = 4;
pub(super) const MOST_SHOWN: usize = 12;
