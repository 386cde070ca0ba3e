//! What one client asked and was answered.

use super::Refusal;
use crate::operations::{Call, Event, Operation, Operations, Stage, Tree};
use isoscope_model::history::Outcome;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

static NIL: Tree<'static> = Tree::Nil;

/// A call, its key taken off where values are pairs.
pub(super) struct Exchange<'c, 'a> {
    /// Its place among the calls.
    pub(super) call: usize,
    pub(super) process: Option<i64>,
    pub(super) word: &'c str,
    pub(super) outcome: Outcome,
    /// The key that its field or its pairs name.
    pub(super) key: Option<&'c Tree<'a>>,
    /// The value of its invocation, nothing without one.
    asked: Cow<'c, Tree<'a>>,
    /// The value of its completion, nothing without one.
    answered: Cow<'c, Tree<'a>>,
    pub(super) has_answer: bool,
    pub(super) has_request: bool,
    /// The completion or, without one, the invocation.
    pub(super) operation: &'c Operation<'a>,
    pub(super) line: u32,
    /// The place of its invocation in the log, before all others without one, or where the order of the log is no real time.
    pub(super) begin: i64,
    /// The half place before which it did not begin: that of its invocation or, without one, right after that of the answer
    /// before to its client.
    pub(super) since: i64,
    /// The place of its answer, if it had one that says how it ended, and the order of the log is real time.
    pub(super) end: Option<i64>,
}

impl<'a> Exchange<'_, 'a> {
    pub(super) fn is_committed(&self) -> bool {
        self.outcome == Outcome::Committed
    }

    /// What a call that is known to have taken effect was answered.
    pub(super) fn got(&self) -> Option<&Tree<'a>> {
        (self.is_committed() && self.has_answer).then_some(&*self.answered)
    }

    /// As `got`, where that says something.
    pub(super) fn got_some(&self) -> Option<&Tree<'a>> {
        self.got().filter(|got| !got.is_nil())
    }

    /// What was asked for. The answer says it where the invocation is not in the log, or says nothing.
    pub(super) fn given(&self) -> &Tree<'a> {
        if self.has_request && !self.asked.is_nil() {
            &self.asked
        } else if self.is_committed() || !self.has_request {
            &self.answered
        } else {
            &self.asked
        }
    }

    /// What was asked for as it was asked; the answer where the invocation is not in the log.
    pub(super) fn asked(&self) -> &Tree<'a> {
        if self.has_request {
            &self.asked
        } else {
            &self.answered
        }
    }

    /// An error if an operation that succeeded was answered with `false`, which may mean that it did not.
    pub(super) fn refuse_false(&self) -> Result<(), Refusal> {
        match self.got() {
            Some(Tree::Name(answer)) if answer == "false" => {
                let message = "this operation is `ok`, and its answer is `false`: did it succeed?";
                Err((self.line, message.to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// The value of the completion, whatever it says.
    pub(super) fn answered(&self) -> &Tree<'a> {
        &self.answered
    }

    /// A name of something that belongs to the key of this call.
    pub(super) fn named(&self, inside: &Tree<'_>) -> Tree<'static> {
        match self.key {
            Some(key) => Tree::List([key.clone(), inside.clone()].map(Tree::into_owned).into()),
            None => inside.clone().into_owned(),
        }
    }
}

/// The calls of a log as exchanges.
pub(super) fn exchanges<'c, 'a>(
    operations: &'c Operations<'a>,
    calls: &[Call],
    keyed: bool,
) -> Vec<Exchange<'c, 'a>> {
    let events = &operations.events;
    let has_order = operations.has_order();
    let some_have_no_request = calls.iter().any(|call| call.invoked.is_none());
    let mut answers: FxHashMap<Option<i64>, i64> = FxHashMap::default();
    let exchange = |(call, ends): (usize, &Call)| {
        let [asked, answered] = [ends.invoked, ends.completed].map(|at| at.map(|at| &events[at]));
        let last = answered.or(asked)?;
        let ended = answered.filter(|_| some_have_no_request);
        let before = ended.and_then(|event| answers.insert(ends.process, i64::from(event.place)));
        let since = asked
            .map(|event| 2 * i64::from(event.place))
            .or(before.map(|place| 2 * place + 1));
        let value = |event: Option<&'c Event<Operation<'a>>>| match event {
            None => Cow::Borrowed(&NIL as &Tree<'a>),
            Some(event) if keyed => without_key(&event.content),
            Some(event) => Cow::Borrowed(&event.content.value),
        };
        let of = |event: &'c Event<Operation<'a>>| match keyed {
            true => event.content.value.pair_or_more().map(|(key, _)| key),
            false => event.content.key.as_deref(),
        };
        Some(Exchange {
            call,
            process: ends.process,
            word: operations.word(&asked.unwrap_or(last).content),
            outcome: ends.outcome(events),
            key: [answered, asked].into_iter().flatten().find_map(of),
            asked: value(asked),
            answered: value(answered),
            has_answer: answered.is_some(),
            has_request: asked.is_some(),
            operation: &last.content,
            line: last.line,
            begin: asked
                .filter(|_| has_order)
                .map_or(-1, |event| i64::from(event.place)),
            since: since.filter(|_| has_order).unwrap_or(-1),
            end: answered
                .filter(|event| has_order && event.stage != Stage::Info)
                .map(|event| i64::from(event.place)),
        })
    };
    let mut exchanges = Vec::with_capacity(calls.len());
    exchanges.extend(calls.iter().enumerate().filter_map(exchange));
    exchanges
}

/// The value of an operation whose value is a key and a value.
fn without_key<'c, 'a>(operation: &'c Operation<'a>) -> Cow<'c, Tree<'a>> {
    match operation.value.pair_or_more() {
        Some((_, [value])) => Cow::Borrowed(value),
        Some((_, values)) => Cow::Owned(Tree::List(values.into())),
        None => Cow::Borrowed(&operation.value),
    }
}

/// An error if an answer names another key in its field than was asked for.
pub(super) fn refuse_other_keys(
    operations: &Operations<'_>,
    calls: &[Call],
) -> Result<(), Refusal> {
    let differs = |call: &&Call| match call.ends(&operations.events) {
        (Some(asked), Some(answered)) => {
            let keys = asked
                .content
                .key
                .as_ref()
                .zip(answered.content.key.as_ref());
            keys.is_some_and(|(one, other)| one != other)
        }
        _ => false,
    };
    let Some(answered) = calls.iter().find(differs).and_then(|call| call.completed) else {
        return Ok(());
    };
    let message = "this operation has another `key` than its invocation".to_owned();
    Err((operations.events[answered].line, message))
}

/// Whether all values are pairs of a key and a value; those of answers that say nothing may be missing. An error names an
/// answer about another key than was asked for.
pub(super) fn are_keyed(operations: &Operations<'_>, calls: &[Call]) -> Result<bool, Refusal> {
    let pair = |operation: &Operation<'_>| {
        let (key, values) = operation.value.pair_or_more()?;
        let is_pair = values.len() == 1 || operations.word(operation) == "cas";
        (key.is_single() && is_pair).then(|| key.clone().into_owned())
    };
    // The answer of an operation that did not succeed may be its reason.
    let is_reason = |event: &Event<Operation<'_>>| {
        matches!(event.stage, Stage::Fail | Stage::Info) && event.content.value.is_single()
    };
    let may_be = |event: &Event<Operation<'_>>| {
        event.content.value.is_nil() || is_reason(event) || pair(&event.content).is_some()
    };
    let mut events = operations.events.iter();
    let has_pair = operations
        .events
        .iter()
        .any(|event| pair(&event.content).is_some());
    if !has_pair || !events.all(may_be) {
        return Ok(false);
    }
    for call in calls {
        let (Some(asked), Some(answered)) = call.ends(&operations.events) else {
            continue;
        };
        let (one, other) = (pair(&asked.content), pair(&answered.content));
        match (one, other) {
            (None, None) | (Some(_), None) => {}
            (Some(one), Some(other)) if one == other => {}
            // Two values without a key, such as the elements of a read.
            (None, Some(_)) => return Ok(false),
            (Some(_), Some(_)) if operations.workload().is_some() => return Ok(false),
            (Some(_), Some(_)) => {
                let is_addition = |event: &&Event<Operation<'_>>| {
                    operations.word(&event.content) == "add" && pair(&event.content).is_some()
                };
                let is_read = operations.word(&answered.content) == "read";
                let first = operations.events.iter().find(is_addition);
                let message = match first.filter(|_| is_read) {
                    Some(first) => format!(
                        "additions name a key, `{}`, but this read returns values without one; line {} has the first of them",
                        first.content.value.text(),
                        first.line
                    ),
                    None => format!(
                        "this operation was asked for `{}` and answered `{}`, which names another key",
                        asked.content.value.text(),
                        answered.content.value.text()
                    ),
                };
                return Err((answered.line, message));
            }
        }
    }
    let has_key = |call: &Call| {
        let ends = call.ends(&operations.events);
        [ends.0, ends.1]
            .into_iter()
            .flatten()
            .any(|event| pair(&event.content).is_some())
    };
    Ok(calls.iter().all(has_key))
}

/// Whether all answers to calls of this word are such values.
pub(super) fn answers(
    exchanges: &[Exchange<'_, '_>],
    word: &str,
    are: impl Fn(&Tree<'_>) -> bool,
) -> bool {
    let mut of_word = exchanges.iter().filter(|exchange| exchange.word == word);
    of_word.all(|exchange| exchange.got().is_none_or(&are))
}

/// Whether some answer to a call of this word is such a value.
pub(super) fn some_answer(
    exchanges: &[Exchange<'_, '_>],
    word: &str,
    is: impl Fn(&Tree<'_>) -> bool,
) -> bool {
    let mut of_word = exchanges.iter().filter(|exchange| exchange.word == word);
    of_word.any(|exchange| exchange.got().is_some_and(&is))
}

/// Whether all calls of this word ask for such values.
pub(super) fn requests(
    exchanges: &[Exchange<'_, '_>],
    word: &str,
    are: impl Fn(&Tree<'_>) -> bool,
) -> bool {
    let mut of_word = exchanges.iter().filter(|exchange| exchange.word == word);
    of_word.all(|exchange| are(exchange.asked()))
}
