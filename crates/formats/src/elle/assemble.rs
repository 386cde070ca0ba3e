//! [`Log`] → [`History`].

use super::atom::{Atom, is_wrapped};
use super::calls::{self, Call, Clock, Event};
use super::log::{Access, Content, Log, MicroOperation, Operand, Payload, Verb};
use super::scan::content_of;
use crate::error::escape;
use crate::{Problem, ReadError};
use isoscope_model::history::{
    Builder, Draft, History, Incident, KeyId, OperationKind, Outcome, Prefix, Value, cut,
};

/// The name of the only register.
const REGISTER: &str = "register";

/// Assembles the history of a file. `clock` decides which times count; a reason for using the order of the file is
/// passed on.
pub(crate) fn history(
    mut log: Log<'_>,
    mut builder: Builder,
    format: &'static str,
    clock: impl FnOnce(&[Event<Content>]) -> Clock,
) -> Result<History, ReadError> {
    if log.events.is_empty() {
        if log.others.0 == 0 && log.incidents.is_empty() {
            return Err(ReadError::whole(format, Problem::Empty));
        }
        if log.has_strangers {
            let message = format!(
                "expected operations of clients, whose processes are integers; found only such as `{}`",
                log.others.1
            );
            return Err(ReadError::whole(format, Problem::Other(message)));
        }
        if log.others.0 > 0 {
            builder.assume(left_out(&log.others));
        }
        incidents(&log, &mut builder, &Clock::Order(String::new()));
        return builder
            .finish()
            .map_err(|error| ReadError::whole(format, error));
    }
    log.take_vectors_as_values();
    let calls = calls::pair(&log.events);
    let clock = clock(&log.events);
    let is_list = lists(&log, format)?;
    let key_ids = vec![None; log.keys.len()];
    let (values, kept) = (
        vec![Vec::new(); log.lists.n_stems()],
        vec![None; log.lists.n_stems()],
    );
    let mut assembly = Assembly {
        log,
        builder,
        format,
        is_list,
        key_ids,
        values,
        kept,
        are_names: false,
    };
    assembly
        .builder
        .reserve_operations(assembly.log.operations.len());
    assembly.remark(&calls, &clock);
    if matches!(clock, Clock::Order(_)) {
        assembly.builder.times_are_events();
    }
    incidents(&assembly.log, &mut assembly.builder, &clock);
    let intervals = calls::intervals(&assembly.log.events, &calls, &clock);
    for (call, interval) in calls.iter().zip(intervals) {
        let outcome = call.outcome(&assembly.log.events);
        let session = call.session(&mut assembly.builder);
        let draft = assembly.builder.transaction(session, outcome);
        assembly.builder.set_interval(draft, interval);
        assembly.call(draft, call, outcome)?;
    }
    assembly.nodes();
    drop(assembly.log);
    assembly.builder.sort_sessions();
    assembly
        .builder
        .finish()
        .map_err(|error| ReadError::whole(format, error))
}

/// Which keys hold lists: those that are appended to or from which a list is read. A key cannot also be a register.
fn lists(log: &Log<'_>, format: &'static str) -> Result<Vec<bool>, ReadError> {
    let mut kinds: Vec<Option<(bool, u32)>> = vec![None; log.keys.len()];
    for operation in &log.operations {
        let is_list = match (operation.verb, operation.payload) {
            (Verb::Append, _) | (Verb::Read, Payload::List(_)) => true,
            (Verb::Write, _) | (Verb::Read, Payload::One(_)) => false,
            (Verb::Read, Payload::Nothing) => continue,
        };
        match &mut kinds[operation.key as usize] {
            kind @ None => *kind = Some((is_list, operation.line)),
            Some((before, line)) if *before != is_list => {
                let (here, there) = if is_list {
                    ("a list", "a register")
                } else {
                    ("a register", "a list")
                };
                let message = format!("here this key is {here}, on line {line} it is {there}");
                return Err(ReadError::at(
                    format,
                    u64::from(operation.line),
                    0,
                    Problem::Other(message),
                ));
            }
            Some(_) => {}
        }
    }
    Ok(kinds
        .into_iter()
        .map(|kind| kind.is_some_and(|(is_list, _)| is_list))
        .collect())
}

/// Adds what the nemesis did.
fn incidents(log: &Log<'_>, builder: &mut Builder, clock: &Clock) {
    for incident in &log.incidents {
        let time = match clock {
            Clock::Recorded => incident.time,
            Clock::Order(_) => Some(i64::from(incident.place)),
        };
        let detail = match &*incident.detail {
            "nil" | "null" => String::new(),
            text if is_wrapped(text) => content_of(text).into_owned(),
            text => text.to_owned(),
        };
        let what = incident.what.unwrap_or("something");
        let what = incident
            .part
            .map_or_else(|| what.to_owned(), |part| format!("{what} {part}"));
        builder.incident(Incident { time, what, detail });
    }
}

/// The remark on operations that do not belong to clients.
fn left_out((n, name): &(u32, String)) -> String {
    format!(
        "Operations of processes that are no clients, such as `{name}`: {n}; no verdict depends on them."
    )
}

struct Assembly<'a> {
    log: Log<'a>,
    builder: Builder,
    format: &'static str,
    /// By place of the key in the log.
    is_list: Vec<bool>,
    /// By place of the key in the log; none where no operation was recorded so far.
    key_ids: Vec<Option<KeyId>>,
    /// By stem of the lists in the log: its first elements, as values of the history.
    values: Vec<Vec<Value>>,
    /// By list of the log: the longest beginning of it that was read, as it is kept.
    kept: Vec<Option<Prefix>>,
    /// Whether these are values of a history in which some are not numbers.
    are_names: bool,
}

impl Assembly<'_> {
    /// Says what was assumed.
    fn remark(&mut self, calls: &[Call], clock: &Clock) {
        for remark in std::mem::take(&mut self.log.remarks) {
            self.builder.assume(remark);
        }
        if self.log.others.0 > 0 {
            self.builder.assume(left_out(&self.log.others));
        }
        let open = calls.iter().filter(|call| call.completed.is_none()).count();
        if open > 0 {
            self.builder.assume(format!(
                "Invocations without completion: {open}, their outcome is unknown."
            ));
        }
        if !self.log.unread_fields.is_empty() {
            const SHOWN: usize = 10;
            let names: Vec<String> = self
                .log
                .unread_fields
                .iter()
                .take(SHOWN)
                .map(|name| format!("`{}`", escape(&cut(name, SHOWN * 4))))
                .collect();
            let more = if self.log.unread_fields.len() > SHOWN {
                ", …"
            } else {
                ""
            };
            self.builder.assume(format!(
                "Fields of operations that are not read: {}{more}; no verdict depends on them.",
                names.join(", ")
            ));
        }
        if calls.iter().any(|call| call.process.is_none()) {
            self.builder.lacks_sessions();
            self.builder.assume(
                "Transactions without a process count as one session, in the order of the file.",
            );
        }
        if let Clock::Order(why) = clock
            && !why.is_empty()
        {
            self.builder.assume(format!(
                "Real time is the order of operations in the file, as for Elle: {why}. Times are places in that order."
            ));
        }
    }

    /// Says on which nodes sessions ran.
    fn nodes(&mut self) {
        let mut several = 0;
        for (process, node) in &self.log.nodes {
            let session = calls::session(*process, &mut self.builder);
            match node {
                Some(node) => drop(self.builder.session_node(session, node)),
                None => several += 1,
            }
        }
        if several > 0 {
            self.builder.assume(format!(
                "Processes that name several nodes: {several}; their nodes are left out."
            ));
        }
    }

    fn call(&mut self, draft: Draft, call: &Call, outcome: Outcome) -> Result<(), ReadError> {
        let (invocation, completion) = call.ends(&self.log.events);
        let range = |event: Option<&Event<Content>>| match event.map(|event| event.content) {
            Some(Content::Transaction { begin, end }) => Some((begin, end)),
            _ => None,
        };
        let (invoked, completed) = (range(invocation), range(completion));
        if invoked.is_some() || completed.is_some() {
            self.transaction(draft, invoked, completed, outcome);
            return Ok(());
        }
        let touch =
            |event: Option<&Event<Content>>| match event.map(|event| (event.content, event.line)) {
                Some((
                    Content::Register {
                        access,
                        operand,
                        key,
                        error,
                    },
                    line,
                )) => Some(Touch {
                    access,
                    operand,
                    key,
                    error,
                    line,
                }),
                _ => None,
            };
        let touches = (touch(invocation), touch(completion));
        let Some(last) = touches.1.or(touches.0) else {
            return Ok(());
        };
        let key = self.register(touches, last.line)?;
        match last.access {
            Access::Read => self.read_register(
                draft,
                key,
                touches.1.filter(|_| outcome == Outcome::Committed),
            ),
            Access::Write => self.write_register(draft, key, touches, outcome)?,
            Access::CompareAndSet => self.compare_and_set(draft, key, touches, outcome)?,
        }
        Ok(())
    }

    /// The register of a call: the one it names, or the only one of a file in which none is named.
    fn register(&mut self, (invoked, completed): Touches, line: u32) -> Result<KeyId, ReadError> {
        let named = [completed, invoked].map(|touch| touch.and_then(|touch| touch.key));
        let other = |message: String| {
            Err(ReadError::at(
                self.format,
                u64::from(line),
                0,
                Problem::Other(message),
            ))
        };
        match named {
            [Some(one), Some(another)] if one != another => {
                other("this operation has another `key` than its invocation".to_owned())
            }
            [Some(key), _] | [None, Some(key)] => Ok(self.key(key as usize)),
            [None, None] if self.log.keys.is_empty() => Ok(self.builder.key_name(REGISTER)),
            [None, None] => other("this operation has no `key`, but others have one".to_owned()),
        }
    }

    /// The operations of a transaction: those of its completion or, where that has none, of its invocation.
    ///
    /// A read of `nil` returned the initial version or the empty list if the transaction is known to have committed;
    /// else its result is not recorded, and it is left out. So is a result that the invocation already had.
    fn transaction(
        &mut self,
        draft: Draft,
        invoked: Option<(usize, usize)>,
        completed: Option<(usize, usize)>,
        outcome: Outcome,
    ) {
        let committed = outcome == Outcome::Committed;
        let useful = completed.filter(|(begin, end)| committed || begin < end);
        let recorded = useful.is_some();
        let (begin, end) = useful.or(invoked).unwrap_or_default();
        for place in begin..end {
            let operation = self.log.operations[place];
            let expected = invoked
                .map(|(first, last)| (first + (place - begin), last))
                .filter(|(at, last)| at < last);
            let is_requested =
                expected.is_some_and(|(at, _)| self.log.operations[at].payload != Payload::Nothing);
            match operation.verb {
                Verb::Read
                    if !recorded
                        || (!committed
                            && (is_requested || operation.payload == Payload::Nothing)) => {}
                _ => self.operation(draft, operation),
            }
        }
    }

    fn operation(&mut self, draft: Draft, operation: MicroOperation) {
        let MicroOperation {
            verb,
            key: place,
            payload,
            line,
        } = operation;
        let key = self.key(place as usize);
        let kind = if verb == Verb::Read {
            OperationKind::Read
        } else {
            OperationKind::Write
        };
        match payload {
            Payload::Nothing if self.is_list[place as usize] => {
                self.builder.list_read(draft, key, &[], line)
            }
            Payload::Nothing => self
                .builder
                .operation(draft, kind, key, Value::INITIAL, line),
            Payload::One(atom) => {
                let value = self.log.atoms.value(&mut self.builder, atom);
                self.builder.operation(draft, kind, key, value, line);
            }
            Payload::List(list) => {
                self.make_values(list);
                let stem = list.stem as usize;
                let (values, before) =
                    (&self.values[stem][..list.length as usize], self.kept[stem]);
                let kept = self
                    .builder
                    .list_read_after(before, draft, key, values, line);
                if before.is_none_or(|before| before.length < kept.length) {
                    self.kept[stem] = Some(kept);
                }
            }
        }
    }

    /// Makes the elements of a list values of the history.
    fn make_values(&mut self, list: Prefix) {
        let (atoms, stem) = (self.log.lists.of(list), list.stem as usize);
        let made = self.values[stem].len().min(atoms.len());
        // The first name turns numbers into names as well: let it come before them.
        self.log
            .atoms
            .intern_names(&mut self.builder, &atoms[made..]);
        if std::mem::replace(&mut self.are_names, self.builder.has_named_values()) != self.are_names
        {
            self.values.iter_mut().for_each(Vec::clear);
            self.kept.fill(None);
        }
        let made = self.values[stem].len().min(atoms.len());
        let new = atoms[made..]
            .iter()
            .map(|&atom| self.log.atoms.value(&mut self.builder, atom));
        self.values[stem].extend(new);
    }

    fn key(&mut self, place: usize) -> KeyId {
        if let Some(key) = self.key_ids[place] {
            return key;
        }
        let key = self.log.atoms.key(&mut self.builder, self.log.keys[place]);
        if self.is_list[place] {
            self.builder.list_key(key);
        }
        self.key_ids[place] = Some(key);
        key
    }

    /// A read of the only register: what an answer says, if there is one.
    fn read_register(&mut self, draft: Draft, key: KeyId, answer: Option<Touch>) {
        if let Some(answer) = answer {
            let atom = answer.operand.one().unwrap_or(Atom::NIL);
            self.read(draft, key, atom, answer.line);
        }
    }

    fn write_register(
        &mut self,
        draft: Draft,
        key: KeyId,
        touches: Touches,
        outcome: Outcome,
    ) -> Result<(), ReadError> {
        let [invoked, completed] =
            [touches.0, touches.1].map(|touch| touch.and_then(|touch| touch.operand.one()));
        // The value of an `info` may be its reason instead: `:timed-out`.
        let atom = match (outcome, touches.0) {
            (Outcome::Committed, _) => completed.or(invoked),
            (_, Some(_)) => invoked,
            (_, None) => completed,
        };
        let line = line_of(touches);
        let Some(atom) = atom else {
            return self.fail(line, "a value to write");
        };
        self.write(draft, key, atom, line);
        Ok(())
    }

    /// A compare-and-set that succeeded, or may have, read the old value and wrote the new one. One that failed without an
    /// error may have read something other than the old value.
    fn compare_and_set(
        &mut self,
        draft: Draft,
        key: KeyId,
        touches: Touches,
        outcome: Outcome,
    ) -> Result<(), ReadError> {
        let line = line_of(touches);
        let pairs = [touches.1, touches.0].into_iter().flatten();
        let Some((old, new)) = pairs.into_iter().find_map(|touch| touch.operand.pair()) else {
            return self.fail(line, "the old and the new value of a compare-and-set");
        };
        if outcome != Outcome::Aborted {
            self.read(draft, key, old, line);
            self.write(draft, key, new, line);
        } else if touches
            .1
            .is_some_and(|answer| !answer.error && answer.operand.one().is_none())
        {
            let value = self.log.atoms.value(&mut self.builder, old);
            self.builder.read_of_other(draft, key, value, line);
        }
        Ok(())
    }

    fn write(&mut self, draft: Draft, key: KeyId, atom: Atom, line: u32) {
        let value = self.log.atoms.value(&mut self.builder, atom);
        self.builder
            .operation(draft, OperationKind::Write, key, value, line);
    }

    fn read(&mut self, draft: Draft, key: KeyId, atom: Atom, line: u32) {
        let value = self.log.atoms.value(&mut self.builder, atom);
        self.builder
            .operation(draft, OperationKind::Read, key, value, line);
    }

    fn fail(&self, line: u32, expected: &'static str) -> Result<(), ReadError> {
        let problem = Problem::Expected {
            expected,
            found: "none".to_owned(),
        };
        Err(ReadError::at(self.format, u64::from(line), 0, problem))
    }
}

/// An invocation and a completion on the register.
type Touches = (Option<Touch>, Option<Touch>);

/// The line of the completion or, where there is none, of the invocation.
fn line_of(touches: Touches) -> u32 {
    touches.1.or(touches.0).map_or(0, |touch| touch.line)
}

/// One end of a call on the register.
#[derive(Clone, Copy)]
struct Touch {
    access: Access,
    operand: Operand,
    /// Place among the keys of the log.
    key: Option<u32>,
    error: bool,
    line: u32,
}
