//! What was written to the stores, and which of it each result shows.

use super::{Content, FORMAT};
use crate::error::escape;
use crate::operations::{Call, Event};
use crate::porcupine::twins::{self, Action, Assigned, Get};
use crate::{Problem, ReadError, name};
use isoscope_model::control::Control;
use isoscope_model::history::{Builder, Draft, Interval, OperationKind, Outcome, Value};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A string put or appended somewhere.
struct Written<'e> {
    string: &'e str,
    action: Action,
    line: u32,
    interval: Interval,
    outcome: Outcome,
    /// Whether it is not the first write of its string to the key.
    is_again: bool,
    /// The string directly before it; unknown until a get shows it.
    before: Option<Before>,
}

/// The writes of one string to a key.
struct Group<'e> {
    string: &'e str,
    /// Places in [`Stores::written`], in the order of the file.
    places: Vec<usize>,
}

/// The predecessor of a string within a result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Beginning,
    /// A place among the written strings.
    Written(usize),
}

/// What a get returned.
#[derive(Clone, Copy)]
pub(super) enum GetResult {
    /// It is not a get, or its result is unknown.
    Nothing,
    Empty,
    /// A result that ends with this string.
    Last(usize),
    /// Something that cannot have been there.
    Impossible,
}

/// The strings written to all keys.
pub(super) struct Stores<'e> {
    keys: Vec<Cow<'e, str>>,
    written: Vec<Written<'e>>,
    /// By key: what was written, in the order of the strings.
    groups: Vec<Vec<Group<'e>>>,
    /// By call: its place in `written`.
    of_call: Vec<Option<usize>>,
    /// The line of a string that was written before, to a key whose results no order explains.
    choice: Option<u32>,
}

/// What a call is about, and the string that it writes if it does.
fn subject<'e>(
    call: &Call,
    events: &'e [Event<Content<'_>>],
) -> Option<(&'e Event<Content<'e>>, Option<&'e str>)> {
    let (invocation, completion) = call.ends(events);
    let event = invocation.or(completion)?;
    let string = event
        .content
        .string
        .as_ref()
        .or(completion.and_then(|event| event.content.string.as_ref()));
    Some((event, string.map(|string| &**string)))
}

impl<'e> Stores<'e> {
    /// Collects the writes, and refuses those that cannot be distinguished.
    pub(super) fn of(
        events: &'e [Event<Content<'e>>],
        calls: &[Call],
        intervals: &[Interval],
        keys: Vec<Cow<'e, str>>,
    ) -> Result<Stores<'e>, ReadError> {
        let mut places: Vec<Vec<usize>> = vec![Vec::new(); keys.len()];
        let mut stores = Stores {
            groups: Vec::new(),
            keys,
            written: Vec::new(),
            of_call: Vec::new(),
            choice: None,
        };
        for (call, &interval) in calls.iter().zip(intervals) {
            let writes =
                subject(call, events).filter(|(event, _)| event.content.action != Action::Get);
            stores.of_call.push(writes.map(|_| stores.written.len()));
            let Some((
                &Event {
                    line,
                    content: Content { action, key, .. },
                    ..
                },
                string,
            )) = writes
            else {
                continue;
            };
            let fail = |message: &str| Err(fail_line(line, message.to_owned()));
            match string {
                None => return fail("expected a string to write, found none"),
                Some("") => {
                    return fail(
                        "an empty string leaves no trace in a result: such files are not read",
                    );
                }
                Some(string) => {
                    places[key].push(stores.written.len());
                    let outcome = call.outcome(events);
                    let written = Written {
                        string,
                        action,
                        line,
                        interval,
                        outcome,
                        is_again: false,
                        before: None,
                    };
                    stores.written.push(written);
                }
            }
        }
        for mut places in places {
            places.sort_by_key(|&place| stores.written[place].string);
            let same = |one: &usize, other: &usize| {
                stores.written[*one].string == stores.written[*other].string
            };
            let groups: Vec<Group<'_>> = places
                .chunk_by(same)
                .map(|chunk| Group {
                    string: stores.written[chunk[0]].string,
                    places: chunk.to_vec(),
                })
                .collect();
            // A string that has another as a prefix sorts directly after it, or after another such string.
            for pair in groups.windows(2) {
                let [one, other] = pair else { continue };
                if other.string.starts_with(one.string) {
                    return Err(fail_line(
                        stores.written[other.places[0]].line,
                        format!(
                            "`{}` begins like what is written on line {}, so results do not tell which is there",
                            shortened(other.string),
                            stores.written[one.places[0]].line
                        ),
                    ));
                }
            }
            for &again in groups.iter().flat_map(|group| &group.places[1..]) {
                stores.written[again].is_again = true;
            }
            stores.groups.push(groups);
        }
        Ok(stores)
    }

    /// By call: what it returned. Learns from it the predecessor of each string.
    pub(super) fn results(
        &mut self,
        events: &[Event<Content<'_>>],
        calls: &[Call],
        intervals: &[Interval],
        control: &Control,
    ) -> Result<Vec<GetResult>, ReadError> {
        let mut shown = vec![GetResult::Nothing; calls.len()];
        // By key: the calls that returned something possible, and what.
        let mut gets: Vec<(Vec<usize>, Vec<Get>)> =
            self.keys.iter().map(|_| Default::default()).collect();
        for (number, (call, &interval)) in calls.iter().zip(intervals).enumerate() {
            let (Outcome::Committed, (_, Some(completion))) =
                (call.outcome(events), call.ends(events))
            else {
                continue;
            };
            if completion.content.action != Action::Get {
                continue;
            }
            let string = completion.content.string.as_deref().unwrap_or_default();
            match self.split(completion.content.key, string) {
                Some(strings) => {
                    let (numbers, gets) = &mut gets[completion.content.key];
                    numbers.push(number);
                    gets.push(Get { strings, interval });
                }
                None => shown[number] = GetResult::Impossible,
            }
        }
        for (key, (numbers, gets)) in gets.into_iter().enumerate() {
            for (number, parts) in numbers.into_iter().zip(self.parts(key, &gets, control)?) {
                shown[number] = self.learn(&parts);
            }
        }
        Ok(shown)
    }

    /// By result: the writes whose strings it consists of.
    fn parts(
        &mut self,
        key: usize,
        gets: &[Get],
        control: &Control,
    ) -> Result<Vec<Vec<usize>>, ReadError> {
        let groups = &self.groups[key];
        let second = |group: &Group<'_>| group.places.get(1).map(|&place| self.written[place].line);
        let Some(again) = groups.iter().filter_map(second).min() else {
            let parts = |get: &Get| {
                get.strings
                    .iter()
                    .map(|&string| groups[string].places[0])
                    .collect()
            };
            return Ok(gets.iter().map(parts).collect());
        };
        let places: Vec<usize> = groups
            .iter()
            .flat_map(|group| group.places.iter().copied())
            .collect();
        let writes: Vec<twins::Write> = places
            .iter()
            .map(|&place| {
                let Written {
                    action,
                    interval,
                    outcome,
                    ..
                } = self.written[place];
                twins::Write {
                    action,
                    interval,
                    is_certain: outcome == Outcome::Committed,
                }
            })
            .collect();
        let mut next = 0..places.len();
        let numbers: Vec<Vec<usize>> = groups
            .iter()
            .map(|group| next.by_ref().take(group.places.len()).collect())
            .collect();
        let Some(Assigned {
            writes,
            is_explained,
        }) = twins::assign(&writes, &numbers, gets, control)
            .map_err(|interrupt| ReadError::whole(FORMAT.name, interrupt))?
        else {
            let message = "the same string was written before, and too many orders explain what results show of it";
            return Err(fail_line(again, message.to_owned()));
        };
        if !is_explained {
            self.choice.get_or_insert(again);
        }
        Ok(writes
            .into_iter()
            .map(|parts| parts.into_iter().map(|write| places[write]).collect())
            .collect())
    }

    /// The line of a string that was written before to its key, if no order explains the results of that key.
    pub(super) fn choice(&self) -> Option<u32> {
        self.choice
    }

    /// Splits a result into written strings, as places among the groups of the key, if it consists only of them and
    /// none occurs more often than it was written. O(length log written).
    fn split(&self, key: usize, string: &str) -> Option<Vec<usize>> {
        let groups = &self.groups[key];
        let mut strings = Vec::new();
        let mut times: FxHashMap<usize, usize> = FxHashMap::default();
        let mut rest = string;
        while !rest.is_empty() {
            let at = groups
                .partition_point(|group| group.string <= rest)
                .checked_sub(1)?;
            rest = rest.strip_prefix(groups[at].string)?;
            let count = times.entry(at).or_default();
            *count += 1;
            let is_append = |place: &usize| self.written[*place].action == Action::Append;
            if *count > groups[at].places.len()
                || !strings.is_empty() && !groups[at].places.iter().any(is_append)
            {
                return None;
            }
            strings.push(at);
        }
        Some(strings)
    }

    /// Records the predecessors, unless an earlier result contradicts them.
    fn learn(&mut self, parts: &[usize]) -> GetResult {
        let before = |n: usize| {
            n.checked_sub(1)
                .map_or(Before::Beginning, |before| Before::Written(parts[before]))
        };
        let agree = |(n, &place): (usize, &usize)| {
            self.written[place]
                .before
                .is_none_or(|known| known == before(n))
        };
        if !parts.iter().enumerate().all(agree) {
            return GetResult::Impossible;
        }
        for (n, &place) in parts.iter().enumerate() {
            self.written[place].before = Some(before(n));
        }
        parts
            .last()
            .map_or(GetResult::Empty, |&last| GetResult::Last(last))
    }

    /// The name of the version that a write made: its string, with its line unless it is the first write of that
    /// string.
    fn version(&self, place: usize) -> Cow<'e, str> {
        let written = &self.written[place];
        if written.is_again {
            Cow::Owned(format!("{} (line {})", written.string, written.line))
        } else {
            Cow::Borrowed(written.string)
        }
    }

    /// A name for a result that cannot have been there: itself, in quotes if something of this name was written.
    fn unwritten(&self, key: usize, string: &str) -> String {
        let written = |name: &str| {
            self.groups[key]
                .iter()
                .flat_map(|group| &group.places)
                .any(|&place| self.version(place) == name)
        };
        let mut name = string.to_owned();
        while written(&name) {
            name = format!("\"{name}\"");
        }
        name
    }

    /// Adds the operations of a call.
    pub(super) fn emit(
        &self,
        builder: &mut Builder,
        draft: Draft,
        call: (usize, &Call),
        events: &[Event<Content<'_>>],
        shown: GetResult,
    ) {
        let (number, call) = call;
        let (invocation, completion) = call.ends(events);
        let Some(event) = completion.or(invocation) else {
            return;
        };
        let (line, store) = (event.line, event.content.key);
        let key = |builder: &mut Builder| name::key(builder, &self.keys[store]);
        let value =
            |builder: &mut Builder, place: usize| name::value(builder, &self.version(place));
        match (self.of_call[number], shown) {
            (Some(place), _) => {
                let before = match (self.written[place].action, self.written[place].before) {
                    (Action::Append, Some(Before::Beginning)) => Some(Value::INITIAL),
                    (Action::Append, Some(Before::Written(before))) => Some(value(builder, before)),
                    _ => None,
                };
                let key = key(builder);
                if let Some(before) = before {
                    builder.operation(draft, OperationKind::Read, key, before, line);
                }
                let written = value(builder, place);
                builder.operation(draft, OperationKind::Write, key, written, line);
            }
            (None, GetResult::Nothing) => {}
            (None, shown) => {
                let key = key(builder);
                let value = match shown {
                    GetResult::Last(place) => value(builder, place),
                    GetResult::Impossible => {
                        let string = event.content.string.as_deref().unwrap_or_default();
                        name::value(builder, &self.unwritten(store, string))
                    }
                    GetResult::Nothing | GetResult::Empty => Value::INITIAL,
                };
                builder.operation(draft, OperationKind::Read, key, value, line);
            }
        }
    }
}

/// The beginning of a string, for messages.
fn shortened(string: &str) -> String {
    escape(&string.chars().take(40).collect::<String>())
}

fn fail_line(line: u32, message: String) -> ReadError {
    ReadError::at(FORMAT.name, u64::from(line), 0, Problem::Other(message))
}
