//! Calls on a store of strings → history.

use super::{Content, Stores};
use crate::operations::{
    Call, Clock, Event, Operation, Operations, Stage, Tree, intervals, session,
};
use crate::porcupine::twins::Action;
use crate::{Input, Problem, ReadError};
use isoscope_model::control::Control;
use isoscope_model::history::{Builder, History, Interval};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The history of whole calls, `read`, `write` and `append`, of which at least one is an append.
pub(in crate::porcupine) fn history_of(
    mut operations: Operations<'_>,
    input: &Input<'_>,
    format: &'static str,
    control: &Control,
) -> Result<History, ReadError> {
    operations.settle().map_err(|(line, message)| {
        ReadError::at(format, u64::from(line), 0, Problem::Other(message))
    })?;
    let (mut keys, mut places) = (Vec::new(), FxHashMap::default());
    let calls = operations.around.calls(&operations.events);
    let times = intervals(&operations.events, &calls, &Clock::Recorded);
    let event = |event: Event<Operation<'_>>| {
        let text = |tree: &Tree<'_>| Cow::Owned(tree.text().into_owned());
        let Operation {
            function,
            value,
            key,
            ..
        } = &event.content;
        let key = key.as_deref().map_or(Cow::Borrowed(""), text);
        let key = *places.entry(key).or_insert_with_key(|key| {
            keys.push(key.clone());
            keys.len() - 1
        });
        let action = match &**function {
            "read" => Action::Get,
            "write" => Action::Put,
            _ => Action::Append,
        };
        let is_answer = event.stage != Stage::Invoke;
        let string = match value {
            Tree::Nil => is_answer.then_some(Cow::Borrowed("")),
            value => Some(text(value)),
        };
        Event {
            process: event.process,
            stage: event.stage,
            time: event.time,
            place: event.place,
            line: event.line,
            content: Content {
                action,
                key,
                string,
            },
        }
    };
    let mut builder = Builder::new(input.origin(format));
    operations.note_unread_fields();
    let mut around = operations.around;
    around.remark(&mut builder, &calls, &Clock::Recorded);
    let events = operations.events.into_iter().map(event).collect();
    let log = Log {
        events,
        calls,
        keys,
        times: Some(times),
        client_names: &around.client_names,
    };
    log.history(builder, format, control)
}

/// Calls, in the order in which they begin.
pub(super) struct Log<'l, 'a> {
    pub(super) events: Vec<Event<Content<'a>>>,
    pub(super) calls: Vec<Call>,
    pub(super) keys: Vec<Cow<'a, str>>,
    /// When they ran, if not by the order of events.
    pub(super) times: Option<Vec<Interval>>,
    pub(super) client_names: &'l [String],
}

impl Log<'_, '_> {
    pub(super) fn history(
        self,
        mut builder: Builder,
        format: &'static str,
        control: &Control,
    ) -> Result<History, ReadError> {
        let Log {
            events,
            calls,
            keys,
            times,
            client_names,
        } = self;
        let intervals = intervals(&events, &calls, &Clock::Order(String::new()));
        let mut stores = Stores::of(&events, &calls, &intervals, keys)?;
        let results = stores.results(&events, &calls, &intervals, control)?;
        let times = times.unwrap_or(intervals);
        builder.assume(
            "A string is known by the last part appended to it or put there; an append reads the part before its own, where \
             some get shows which that is.",
        );
        if let Some(line) = stores.choice() {
            builder.assume(format!(
                "Strings were written to one key more than once (first on line {line}), and no order explains all results of \
                 that key, whichever of the writes they show: LIN and SSER are violated. One choice of writers was taken: what it \
                 satisfies is satisfied, but another level that it violates may hold with another choice.",
            ));
        }
        for (number, ((call, time), result)) in calls.iter().zip(times).zip(results).enumerate() {
            let session = session(call.process, client_names, &mut builder);
            let draft = builder.transaction(session, call.outcome(&events));
            builder.set_interval(draft, time);
            stores.emit(&mut builder, draft, (number, call), &events, result);
        }
        builder.sort_sessions();
        builder
            .finish()
            .map_err(|error| ReadError::whole(format, error))
    }
}
