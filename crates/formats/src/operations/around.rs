//! What a log says besides the operations of its clients.

use super::calls::{self, Call, Clock, Event};
use crate::error::escape;
use crate::{Problem, ReadError};
use isoscope_model::history::{self, Builder, cut};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Longest name from the file that a sentence shows, in characters.
const SHOWN: usize = 40;

/// An operation of the nemesis.
pub(crate) struct Incident<'a> {
    /// By the clock of the file.
    pub(crate) time: Option<i64>,
    /// Place among all operations of the file, from 0.
    pub(crate) place: u32,
    pub(crate) what: Option<Cow<'a, str>>,
    /// The part of the system that it concerns.
    pub(crate) part: Option<Cow<'a, str>>,
    /// Its value as written; empty for none.
    pub(crate) detail: Cow<'a, str>,
}

/// What a log says besides the operations of its clients.
#[derive(Default)]
pub(crate) struct Around<'a> {
    /// Operations of processes that are not clients: how many, and the name of the first.
    pub(crate) others: (u32, String),
    /// Whether some of them belong to a process other than the nemesis, which may be a client under another name.
    has_strangers: bool,
    /// What the nemesis did.
    pub(crate) incidents: Vec<Incident<'a>>,
    /// The node of each process that names one; none if it names several.
    nodes: Vec<(Option<i64>, Option<Cow<'a, str>>)>,
    node_places: FxHashMap<Option<i64>, usize>,
    /// Names of fields that were not read and may mean something, each once.
    pub(crate) unread_fields: Vec<Cow<'a, str>>,
    /// Names of clients that are no integers.
    pub(crate) client_names: Vec<String>,
    /// Remarks of the reader.
    pub(crate) remarks: Vec<String>,
    /// The calls of operations without a process that overlap.
    pub(crate) paired: Option<Vec<Call>>,
    /// The place among the names of clients of those that make one call each, if there are any.
    loners: Option<usize>,
    /// The calls, in the order in which they begin, where entries are whole calls.
    pub(crate) calls: Option<Vec<Call>>,
}

/// Fields that never say what was done.
const MEANINGLESS: [&str; 8] = [
    "index",
    "exception",
    "msg",
    "debug",
    "latency",
    "completion-time",
    "sub-via",
    "clock-offsets",
];

/// Whether a field of this name may say what was done.
#[inline]
pub(crate) fn may_mean_something(field: &str) -> bool {
    !MEANINGLESS.contains(&field)
}

impl<'a> Around<'a> {
    /// Counts an operation of a process that is no client.
    pub(crate) fn pass_over(&mut self, process: &str) {
        if self.others.0 == 0 {
            self.others.1 = escape(&cut(process, SHOWN));
        }
        self.others.0 = self.others.0.saturating_add(1);
        self.has_strangers |= !is_nemesis(process);
    }

    /// Notes that a field of an operation is not read, unless such fields never say what was done.
    #[inline]
    pub(crate) fn unread_field(&mut self, name: Cow<'a, str>) {
        if may_mean_something(&name) && !self.unread_fields.contains(&name) {
            self.unread_fields.push(name);
        }
    }

    /// The calls that events are. Those without a process are of one client, unless they overlap: then each is of its own.
    pub(crate) fn calls<C>(&mut self, events: &[Event<C>]) -> Vec<Call> {
        let known = self.calls.clone().or_else(|| self.paired.clone());
        let mut calls = known.unwrap_or_else(|| calls::pair(events));
        if self.paired.is_none() && !calls::overlap_without_process(&calls) {
            return calls;
        }
        let is_first_time = self.loners.is_none();
        let first = *self.loners.get_or_insert(self.client_names.len());
        self.client_names.truncate(first);
        let alone = calls.iter_mut().filter(|call| call.process.is_none());
        for (n, call) in alone.enumerate() {
            call.process = Some(calls::named(self.client_names.len()));
            self.client_names.push(format!("call {}", n + 1));
        }
        if is_first_time {
            let remark =
                "Operations without a process overlap: each counts as a session of its own.";
            self.remarks.push(remark.to_owned());
        }
        calls
    }

    /// Whether operations without a process overlap, and nothing says which answer belongs to which of them.
    pub(crate) fn lacks_pairs(&self) -> bool {
        self.loners.is_some() && self.paired.is_none()
    }

    /// Which times of the events count as real time.
    pub(crate) fn clock<C>(&self, events: &[Event<C>]) -> Clock {
        match self.calls {
            None => calls::clock(events),
            Some(_) if events.iter().all(|event| event.time.is_none()) => Clock::Unknown,
            Some(_) => Clock::Recorded,
        }
    }

    /// Notes the node of a process, or that it has several.
    pub(crate) fn on_node(&mut self, process: Option<i64>, node: Option<Cow<'a, str>>) {
        let next = self.nodes.len();
        let place = *self.node_places.entry(process).or_insert(next);
        match self.nodes.get_mut(place) {
            None => self.nodes.push((process, node)),
            Some((_, known)) if *known != node => *known = None,
            Some(_) => {}
        }
    }

    /// Number of operations that are not those of clients.
    pub(crate) fn n_operations(&self) -> u32 {
        let n_incidents = u32::try_from(self.incidents.len()).unwrap_or(u32::MAX);
        self.others.0.saturating_add(n_incidents)
    }

    /// Adds what follows in the file, after `n_before` operations.
    pub(crate) fn append(&mut self, other: Around<'a>, n_before: u32) {
        if self.others.0 == 0 {
            self.others.1 = other.others.1;
        }
        self.others.0 = self.others.0.saturating_add(other.others.0);
        self.has_strangers |= other.has_strangers;
        let moved = other.incidents.into_iter().map(|incident| Incident {
            place: incident.place.saturating_add(n_before),
            ..incident
        });
        self.incidents.extend(moved);
        let nodes = other.nodes.into_iter();
        nodes.for_each(|(process, node)| self.on_node(process, node));
        let fields = other.unread_fields.into_iter();
        fields.for_each(|name| self.unread_field(name));
        self.remarks.extend(other.remarks);
    }

    /// The history of a file without an operation of a client.
    pub(crate) fn without_clients(
        self,
        mut builder: Builder,
        format: &'static str,
    ) -> Result<history::History, ReadError> {
        if self.others.0 == 0 && self.incidents.is_empty() {
            return Err(ReadError::whole(format, Problem::Empty));
        }
        if self.has_strangers {
            let message = format!(
                "expected operations of clients, whose processes are integers; found only such as `{}`",
                self.others.1
            );
            return Err(ReadError::whole(format, Problem::Other(message)));
        }
        if self.others.0 > 0 {
            builder.assume(self.left_out());
        }
        self.add_incidents(&mut builder, &Clock::Order(String::new()));
        builder
            .finish()
            .map_err(|error| ReadError::whole(format, error))
    }

    /// The remark on operations that do not belong to clients.
    fn left_out(&self) -> String {
        let (n, name) = &self.others;
        format!(
            "Operations of processes that are no clients, such as `{name}`: {n}; no verdict depends on them."
        )
    }

    /// Says what was assumed, and what the nemesis did.
    pub(crate) fn remark(&mut self, builder: &mut Builder, calls: &[Call], clock: &Clock) {
        for remark in std::mem::take(&mut self.remarks) {
            builder.assume(remark);
        }
        if self.others.0 > 0 {
            builder.assume(self.left_out());
        }
        let open = calls.iter().filter(|call| call.completed.is_none()).count();
        if open > 0 {
            builder.assume(format!(
                "Invocations without completion: {open}, their outcome is unknown."
            ));
        }
        self.remark_fields(builder);
        if calls.iter().any(|call| call.process.is_none()) {
            builder.lacks_sessions();
            builder.assume(
                "Transactions without a process count as one session, in the order of the file.",
            );
        }
        if *clock == Clock::Unknown {
            builder.assume(
                "Nothing says when operations ran: there is no real time, and a session is in the order of the file.",
            );
        }
        if let Clock::Order(why) = clock {
            builder.times_are_events();
            if !why.is_empty() {
                builder.assume(format!(
                    "Real time is the order of operations in the file, as for Elle: {why}. Times are places in that order."
                ));
            }
        }
        self.add_incidents(builder, clock);
    }

    fn remark_fields(&self, builder: &mut Builder) {
        const MOST: usize = 10;
        if self.unread_fields.is_empty() {
            return;
        }
        let shown = self.unread_fields.iter().take(MOST);
        let names: Vec<String> = shown
            .map(|name| format!("`{}`", escape(&cut(name, SHOWN))))
            .collect();
        let more = if self.unread_fields.len() > MOST {
            ", …"
        } else {
            ""
        };
        builder.assume(format!(
            "Fields of operations that are not read: {}{more}; no verdict depends on them.",
            names.join(", ")
        ));
    }

    fn add_incidents(&self, builder: &mut Builder, clock: &Clock) {
        for incident in &self.incidents {
            let time = match clock {
                Clock::Recorded => incident.time,
                Clock::Order(_) => Some(i64::from(incident.place)),
                Clock::Unknown => None,
            };
            let what = incident.what.as_deref().unwrap_or("something");
            let what = match &incident.part {
                Some(part) => format!("{what} {part}"),
                None => what.to_owned(),
            };
            let detail = incident.detail.clone().into_owned();
            builder.incident(history::Incident { time, what, detail });
        }
    }

    /// Says on which nodes sessions ran.
    pub(crate) fn add_nodes(&self, builder: &mut Builder) {
        let mut several = 0;
        for (process, node) in &self.nodes {
            let session = calls::session(*process, &self.client_names, builder);
            match node {
                Some(node) => drop(builder.session_node(session, node)),
                None => several += 1,
            }
        }
        if several > 0 {
            builder.assume(format!(
                "Processes that name several nodes: {several}; their nodes are left out."
            ));
        }
    }
}

/// Whether this process breaks things.
pub(crate) fn is_nemesis(process: &str) -> bool {
    process.trim_matches([':', '"']) == "nemesis"
}
