//! Requests → history.

use super::FORMAT;
use super::request::{LeftOut, Request, Step};
use super::revisions::{Refusal, forget_conditions, resolve};
use crate::operations::Fields;
use crate::{Input, Problem, ReadError, name};
use isoscope_model::control::Control;
use isoscope_model::history::{
    Builder, Draft, History, Interval, KeyId, OperationKind, SessionId, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// Most reads of absent keys: ranges of many keys, many times.
const MOST_ABSENT: usize = 1 << 26;

/// All requests.
#[derive(Default)]
pub(super) struct Report {
    requests: Vec<Request>,
    left_out: LeftOut,
    pub(super) remarks: Vec<String>,
    n_entries: usize,
}

impl Report {
    pub(super) fn is_empty(&self) -> bool {
        self.n_entries == 0
    }

    /// Takes an entry of a file.
    pub(super) fn take(&mut self, fields: Fields<'_>, place: (usize, u32)) -> Result<(), String> {
        self.n_entries += 1;
        let request = Request::of(fields, place, &mut self.left_out)?;
        self.requests.extend(request);
        Ok(())
    }

    /// The history of all of them.
    pub(super) fn history(
        mut self,
        input: &Input<'_>,
        control: &Control,
    ) -> Result<History, ReadError> {
        let refuse = |((part, line), message): Refusal| {
            let error = ReadError::at(FORMAT.name, u64::from(line), 0, Problem::Other(message));
            match input.parts().get(part) {
                Some(part) => error.in_part(part.name),
                None => error,
            }
        };
        self.requests.sort_by_key(|request| request.start);
        one_at_a_time(&self.requests).map_err(refuse)?;
        resolve(&mut self.requests).map_err(refuse)?;
        let n_forgotten = u32::try_from(forget_conditions(&mut self.requests)).unwrap_or(u32::MAX);
        self.left_out.conditions = self.left_out.conditions.saturating_add(n_forgotten);
        let moments = self.requests.iter();
        let last = moments
            .map(|request| request.end.unwrap_or(request.start))
            .max();
        let steps = || self.requests.iter().flat_map(|request| &request.steps);
        let mut emitter = Emitter {
            builder: Builder::new(input.origin(FORMAT.name)),
            keys: steps().filter_map(|step| Some(step.put()?.0)).collect(),
            leased: &self.left_out.leased,
            has_deletes: steps().any(|step| matches!(step, Step::Delete { .. })),
            unread: 0,
            n_absent: 0,
        };
        let mut parts: BTreeMap<i64, usize> = BTreeMap::new();
        for Request { client, place, .. } in &self.requests {
            if *parts.entry(*client).or_insert(place.0) != place.0 {
                let message = format!("client {client} has requests in another file, too");
                return Err(refuse((*place, message)));
            }
        }
        for (client, part) in parts {
            let session = emitter.session(client);
            if let Some(part) = input.parts().get(part) {
                emitter.builder.session_part(session, part.name);
            }
        }
        for (number, request) in self.requests.iter().enumerate() {
            if number % 1024 == 0 {
                let check = control.check();
                check.map_err(|interrupt| ReadError::whole(FORMAT.name, interrupt))?;
            }
            let session = emitter.session(request.client);
            let draft = emitter.builder.transaction(session, request.outcome);
            let end = request.end.or(last).unwrap_or(request.start);
            let interval = Interval {
                start: request.start,
                end,
            };
            emitter.builder.set_interval(draft, interval);
            emitter
                .request(draft, request)
                .map_err(|message| refuse((request.place, message)))?;
        }
        let Emitter {
            mut builder,
            unread,
            has_deletes,
            ..
        } = emitter;
        if has_deletes {
            let absent = builder.value_number(0);
            builder.initial_value(absent);
        }
        for remark in self
            .remarks
            .drain(..)
            .chain(self.left_out.remarks(unread, has_deletes))
        {
            builder.assume(remark);
        }
        builder
            .finish()
            .map_err(|error| ReadError::whole(FORMAT.name, error))
    }
}

/// Fails where a client begins a request before it has the answer to the last.
fn one_at_a_time(requests: &[Request]) -> Result<(), Refusal> {
    let mut ended: FxHashMap<i64, i64> = FxHashMap::default();
    for request in requests {
        if let Some(end) = ended
            .get(&request.client)
            .filter(|end| request.start < **end)
        {
            let message = format!(
                "this request of client {} begins, at {}, before the one before it ends, at {end}",
                request.client, request.start
            );
            return Err((request.place, message));
        }
        if let Some(end) = request.end {
            ended.insert(request.client, end);
        }
    }
    Ok(())
}

impl LeftOut {
    /// What to say about it.
    fn remarks(&self, unread: usize, has_deletes: bool) -> Vec<String> {
        let mut remarks = vec![
            "The value of a key is the revision at which it was written. Watches (`watch.json`) are not read.".to_owned(),
        ];
        if has_deletes {
            remarks.push("0 is the value of a key that is absent or deleted.".to_owned());
        }
        let counted = [
            (
                self.others as usize,
                "Requests about leases, compaction and defragmentation",
            ),
            (
                self.stale as usize,
                "Ranges of old revisions, which need not be up to date",
            ),
            (self.refused as usize, "Requests that the server refused"),
            (self.unanswered as usize, "Ranges without an answer"),
            (
                self.conditions as usize,
                "Conditions of which it is not known what they read",
            ),
            (unread, "Keys found absent that may have gone with a lease"),
        ];
        let counted = counted.into_iter().filter(|(n, _)| *n > 0);
        remarks.extend(counted.map(|(n, what)| format!("{what}: {n}, left out.")));
        remarks
    }
}

struct Emitter<'r> {
    builder: Builder,
    /// Keys that something was put to.
    keys: BTreeSet<&'r str>,
    leased: &'r BTreeSet<String>,
    has_deletes: bool,
    /// Number of absent keys that are not read.
    unread: usize,
    n_absent: usize,
}

impl Emitter<'_> {
    fn session(&mut self, client: i64) -> SessionId {
        match u64::try_from(client) {
            Ok(number) => self.builder.session_number(number),
            Err(_) => self.builder.session_name(&client.to_string()),
        }
    }

    /// Adds what a request did.
    fn request(&mut self, draft: Draft, request: &Request) -> Result<(), String> {
        let line = request.place.1;
        for step in &request.steps {
            match step {
                Step::Put { key, .. } => {
                    let key = self.key(key);
                    let value = match request.revision {
                        Some(revision) => self.builder.value_number(revision),
                        // Nothing has read it.
                        None => {
                            let (part, line) = request.place;
                            self.builder.value_name(&format!("unknown {part}:{line}"))
                        }
                    };
                    self.builder
                        .operation(draft, OperationKind::Write, key, value, line);
                }
                Step::Delete {
                    key,
                    found: Some(false),
                } => self.absent(draft, key, line)?,
                Step::Delete { key, .. } => {
                    let key = self.key(key);
                    let value = self.builder.value_number(0);
                    self.builder
                        .operation(draft, OperationKind::Write, key, value, line);
                }
                Step::Is { key, revision: 0 } => self.absent(draft, key, line)?,
                Step::Is { key, revision } => self.read(draft, key, *revision, line),
                Step::IsNot { key, revision } => {
                    let key = self.key(key);
                    let value = self.builder.value_number(*revision);
                    self.builder.read_of_other(draft, key, value, line);
                }
                Step::Range {
                    start,
                    end,
                    found,
                    is_cut,
                } => {
                    for seen in found {
                        self.read(draft, &seen.key, seen.revision, line);
                    }
                    let there: FxHashSet<&str> = found.iter().map(|seen| &*seen.key).collect();
                    let cut = is_cut.then(|| there.iter().max().copied().unwrap_or_default());
                    for key in self.keys_of(start, end, cut) {
                        if !there.contains(&*key) {
                            self.absent(draft, &key, line)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The keys of a range, only those before `cut` if there is one.
    fn keys_of(&self, start: &str, end: &str, cut: Option<&str>) -> Vec<String> {
        if end.is_empty() {
            return cut.map_or_else(|| vec![start.to_owned()], |_| Vec::new());
        }
        let end = if end == "\0" { None } else { Some(end) };
        let until = [end, cut].into_iter().flatten().min();
        if until.is_some_and(|until| until <= start) {
            return Vec::new();
        }
        let until = until.map_or(Bound::Unbounded, Bound::Excluded);
        let keys = self.keys.range::<str, _>((Bound::Included(start), until));
        keys.map(|key| (*key).to_owned()).collect()
    }

    fn key(&mut self, key: &str) -> KeyId {
        name::key(&mut self.builder, &name::of_string(key))
    }

    fn read(&mut self, draft: Draft, key: &str, revision: u64, line: u32) {
        let key = self.key(key);
        let value = self.builder.value_number(revision);
        self.builder
            .operation(draft, OperationKind::Read, key, value, line);
    }

    /// Reads that a key is absent, unless it may have gone with a lease.
    fn absent(&mut self, draft: Draft, key: &str, line: u32) -> Result<(), String> {
        if self.leased.contains(key) {
            self.unread += 1;
            return Ok(());
        }
        self.n_absent += 1;
        if self.n_absent > MOST_ABSENT {
            return Err(format!("more than {MOST_ABSENT} absent keys in ranges"));
        }
        let key = self.key(key);
        let value = match self.has_deletes {
            true => self.builder.value_number(0),
            false => Value::INITIAL,
        };
        self.builder
            .operation(draft, OperationKind::Read, key, value, line);
        Ok(())
    }
}
