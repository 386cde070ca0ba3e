//! Entries that are whole calls: what was asked, what came back, and when both happened.
//!
//! Each becomes two events, which `order` puts in the order of time.

use super::{Event, Fields, Operation, Operations, Refusal, Stage, Time, Tree};
use crate::error::escape;
use isoscope_model::history::cut;
use std::borrow::Cow;

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

pub(crate) fn shown(tree: &Tree<'_>) -> String {
    escape(&cut(&tree.text(), 40))
}

fn word(name: &'static str) -> Tree<'static> {
    Tree::Name(Cow::Borrowed(name))
}

impl<'a> Operations<'a> {
    /// Takes an entry that is a whole call. [`Operations::settle`] has to follow the last.
    pub(crate) fn take_call(&mut self, fields: Fields<'a>, line: u32) -> Result<(), String> {
        // It is copied as it is, not as the two events that it becomes.
        let transcript = self.transcript.take();
        if let Some(transcript) = transcript {
            transcript.take(&fields, line);
        }
        let taken = self.take_both(fields, line);
        self.transcript = transcript;
        taken
    }

    fn take_both(&mut self, mut fields: Fields<'a>, line: u32) -> Result<(), String> {
        self.has_named_clients = true;
        let moment = self.remove(&mut fields, "start");
        let start = Time::of(moment.clone())?;
        let end = Time::of(self.remove(&mut fields, "end"))?;
        if let (Some(start), Some(end)) = (start, end)
            && end < start
        {
            let (start, end) = (start.tree(), end.tree());
            return Err(format!(
                "this operation ends, at {}, before it begins, at {}",
                end.text(),
                start.text()
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
            name => name.is_some_and(|name| self.known_word(name) == "read"),
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
            invocation.time = start.map(Time::number);
            completion.time = end.map(Time::number);
            completion.stage = stage;
        }
        for (place, time) in [(before, start), (before + 1, end)] {
            if time.is_some_and(|time| time.is_fraction) {
                self.fractions.push(place);
            }
        }
        self.says_outcome.push(says_outcome);
        Ok(())
    }

    /// Fails where nothing says to which key operations belong, or how they ended, but a field that is not known may.
    pub(crate) fn require_known_fields(&self) -> Result<(), Refusal> {
        // Of micro-operations, each has a key.
        let is_list = |tree: &Tree<'_>| tree.elements().is_some();
        let has_key = |event: &Event<Operation<'a>>| {
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
        let are_whole = !self.says_outcome.is_empty();
        let no_outcomes = are_whole && !self.says_outcome.contains(&true);
        let ending = unknown(&|name| ENDINGS.contains(&name));
        if let Some((line, name)) = ending.filter(|_| no_outcomes) {
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
}
