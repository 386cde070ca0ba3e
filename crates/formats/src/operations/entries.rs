//! Entries that are whole calls: what was asked, what came back, and when both happened.
//!
//! Each becomes two events. Intervals are closed: what begins at the moment when something else ends is concurrent with
//! it, so at one moment invocations come before completions.

use super::{Call, Fields, Operations, Stage, Tree};
use crate::error::escape;
use isoscope_model::history::cut;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A line and what is wrong there.
type Refusal = (u32, String);

/// Fields that name no key, beside those that never mean anything.
const NO_KEYS: [&str; 9] = [
    "attempt",
    "comment",
    "duration",
    "lsn",
    "message",
    "seq",
    "sql",
    "timestamp",
    "type",
];

/// Fields that may say how an operation ended, in words that are not known.
const ENDINGS: [&str; 10] = [
    "aborted",
    "committed",
    "completed",
    "failed",
    "ok",
    "result",
    "state",
    "status",
    "succeeded",
    "success",
];

/// How an operation of this outcome ended.
pub(crate) fn stage_of(outcome: &Tree<'_>) -> Result<Stage, String> {
    let word = outcome.word().map(str::to_ascii_lowercase);
    match word.as_deref() {
        Some("committed" | "commit" | "ok" | "true") => Ok(Stage::Ok),
        Some("aborted" | "abort" | "fail" | "failed") => Ok(Stage::Fail),
        // What did not succeed may have taken effect.
        Some("unknown" | "info" | "false") => Ok(Stage::Info),
        _ => Err(format!(
            "expected the outcome committed (ok), aborted (fail) or unknown (info), found `{}`",
            shown(outcome)
        )),
    }
}

/// The time that a field says.
pub(crate) fn time_of(time: Option<Tree<'_>>) -> Result<Option<i64>, String> {
    let Some(time) = time else { return Ok(None) };
    match time.integer() {
        Some(time) => Ok(Some(time)),
        None => Err(format!(
            "expected a time, an integer of 64 bits, found `{}`",
            shown(&time)
        )),
    }
}

pub(crate) fn shown(tree: &Tree<'_>) -> String {
    escape(&cut(&tree.text(), 40))
}

fn word(name: &'static str) -> Tree<'static> {
    Tree::Name(Cow::Borrowed(name))
}

impl<'a> Operations<'a> {
    /// Takes an entry that is a whole call. [`Operations::settle`] has to follow the last.
    pub(crate) fn take_call(&mut self, mut fields: Fields<'a>, line: u32) -> Result<(), String> {
        self.has_named_clients = true;
        let moment = self.remove(&mut fields, "start");
        let start = time_of(moment.clone())?;
        let end = time_of(self.remove(&mut fields, "end"))?;
        if let (Some(start), Some(end)) = (start, end)
            && end < start
        {
            return Err(format!(
                "this operation ends, at {end}, before it begins, at {start}"
            ));
        }
        let outcome = self.remove(&mut fields, "outcome");
        let says_outcome = outcome.is_some();
        let error = self.remove(&mut fields, "error");
        let error = error.filter(|error| error.word() != Some(""));
        let stage = match (&outcome, &error) {
            (Some(outcome), _) => stage_of(outcome)?,
            (None, Some(_)) => Stage::Info,
            (None, None) => Stage::Ok,
        };
        // There are two moments, and each entry is a call.
        for what in ["time", "type"] {
            match self.remove(&mut fields, what) {
                Some(stage) if stage.word().and_then(Stage::named).is_some() => {
                    let message =
                        "this entry is one of two of an operation, others are whole operations";
                    return Err(message.to_owned());
                }
                Some(_) => self.around.unread_field(what.into()),
                None => {}
            }
        }
        let has_value = self.place(&fields, "value").is_some();
        let value = self.remove(&mut fields, "value").unwrap_or(Tree::Nil);
        let copy = |what| self.place(&fields, what).map(|at| fields[at].clone());
        let mut asked: Fields<'a> = ["process", "f", "key"]
            .into_iter()
            .filter_map(copy)
            .collect();
        let function = copy("f").and_then(|(_, function)| Some(function.word()?.to_owned()));
        let is_read = match function.as_deref() {
            None if value.elements().is_none() => {
                return Err("no field says what this operation does: `op` or `f`".to_owned());
            }
            name => name.is_some_and(|name| self.vocabulary.word(name) == "read"),
        };
        if is_read && stage == Stage::Ok && !has_value {
            let message = "this read has no `value`; what finds nothing has an empty one";
            return Err(message.to_owned());
        }
        let requested = if is_read { Tree::Nil } else { value.clone() };
        asked.push((word("type"), word("invoke")));
        asked.push((word("value"), requested));
        asked.extend(moment.map(|moment| (word("time"), moment)));
        let before = self.events.len();
        self.take(asked, line)?;
        if self.events.len() == before {
            // It is no operation of a client.
            return Ok(());
        }
        fields.push((word("type"), word("ok")));
        fields.push((word("value"), value));
        fields.extend(error.map(|error| (word("error"), error)));
        self.take(fields, line)?;
        if let [.., invocation, completion] = &mut self.events[..] {
            (invocation.time, completion.time) = (start, end);
            completion.stage = stage;
        }
        self.says_outcome.push(says_outcome);
        Ok(())
    }

    /// Puts what whole calls did in the order of time, where they have times.
    pub(crate) fn settle(&mut self) -> Result<(), Refusal> {
        let is_timed = |pair: &[super::Event<_>]| pair.iter().all(|event| event.time.is_some());
        let are_timed = self.events.chunks_exact(2).any(is_timed);
        let mut without_end = 0;
        for (pair, says_outcome) in self.events.chunks_exact_mut(2).zip(&self.says_outcome) {
            let [asked, answered] = pair else { continue };
            match (asked.time, answered.time) {
                _ if !are_timed => (asked.time, answered.time) = (None, None),
                (Some(_), Some(_)) => {}
                (None, _) => {
                    let message = "this operation has no `start`, but others have one";
                    return Err((asked.line, message.to_owned()));
                }
                (Some(_), None) if *says_outcome && answered.stage == Stage::Ok => {
                    let message = "this operation succeeded, but has no `end`; others have one";
                    return Err((asked.line, message.to_owned()));
                }
                (Some(start), None) => {
                    answered.time = Some(start);
                    if !says_outcome {
                        answered.stage = Stage::Info;
                    }
                    without_end += u32::from(answered.stage == Stage::Info);
                }
            }
        }
        if without_end > 0 {
            self.around.remarks.push(format!(
                "Operations without an end: {without_end}, their outcome is unknown."
            ));
        }
        let n = self.events.len();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&at| (self.events[at].time, are_timed && at % 2 == 1, at));
        let mut places = vec![0; n];
        for (place, &at) in order.iter().enumerate() {
            places[at] = place;
        }
        let calls = order.iter().filter(|&at| at % 2 == 0).map(|&at| Call {
            process: self.events[at].process,
            invoked: Some(places[at]),
            completed: Some(places[at + 1]),
        });
        let calls: Vec<Call> = calls.collect();
        let mut events: Vec<_> = std::mem::take(&mut self.events)
            .into_iter()
            .map(Some)
            .collect();
        self.events = order.iter().filter_map(|&at| events[at].take()).collect();
        for (place, event) in self.events.iter_mut().enumerate() {
            event.place = u32::try_from(place).unwrap_or(u32::MAX);
        }
        self.one_at_a_time(&calls)?;
        self.around.calls = Some(calls);
        Ok(())
    }

    /// Fails where a client begins something before it knows how the last ended.
    fn one_at_a_time(&self, calls: &[Call]) -> Result<(), Refusal> {
        let mut ended: FxHashMap<i64, (i64, u32)> = FxHashMap::default();
        for call in calls {
            let (Some(process), (Some(asked), Some(answered))) =
                (call.process, call.ends(&self.events))
            else {
                continue;
            };
            let (Some(start), Some(end)) = (asked.time, answered.time) else {
                continue;
            };
            if let Some((end, line)) = ended.get(&process)
                && start < *end
            {
                let message = format!(
                    "this operation begins, at {start}, before that of the same client on line {line} ends, at {end}; \
                     a client does one thing at a time"
                );
                return Err((asked.line, message));
            }
            if answered.stage != Stage::Info {
                ended.insert(process, (end, asked.line));
            }
        }
        Ok(())
    }

    /// Fails where nothing says to which key operations belong, or how they ended, but a field that is not known may.
    pub(crate) fn require_known_fields(&self) -> Result<(), Refusal> {
        // Of micro-operations, each has a key.
        let is_list = |tree: &Tree<'_>| tree.elements().is_some();
        let has_key = |event: &super::Event<super::Operation<'a>>| {
            let content = &event.content;
            let has_keys = match &content.value {
                Tree::List(all) => all.first().is_some_and(is_list),
                Tree::Map(_) | Tree::Pair(_) => true,
                _ => false,
            };
            content.key.is_some() || content.function == "txn" || has_keys
        };
        let unknown = |is_it: &dyn Fn(&str) -> bool| {
            self.events.iter().find_map(|event| {
                let mut names = event.content.fields.iter().map(|(name, _)| name);
                let name = names.find(|name| is_it(self.vocabulary.field(name)))?;
                Some((event.line, escape(&cut(name, 40))))
            })
        };
        let no_outcomes = !self.says_outcome.iter().any(|says| *says);
        let ending = unknown(&|name| ENDINGS.contains(&name));
        if let Some((line, name)) = ending.filter(|_| self.is_whole() && no_outcomes) {
            let message = format!(
                "no field says how an operation ended; `{name}` is not known: `--field {name}=outcome` or, if it says \
                 nothing, `--field {name}=index`"
            );
            return Err((line, message));
        }
        if self.events.iter().any(has_key) {
            return Ok(());
        }
        match unknown(&|name| !NO_KEYS.contains(&name)) {
            Some((line, name)) => Err((
                line,
                format!(
                    "no field says which key an operation is about; `{name}` is not known: `--field {name}=key` or, if it \
                     names none, `--field {name}=index`"
                ),
            )),
            None => Ok(()),
        }
    }

    /// Whether entries are whole calls.
    fn is_whole(&self) -> bool {
        self.around.calls.is_some()
    }
}
