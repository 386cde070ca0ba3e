//! [`Log`] → [`History`].

use super::atom::Atom;
use super::log::{Content, Log, MicroOperation, Payload, Verb};
use crate::operations::{self, Call, Clock, Event};
use crate::{Problem, ReadError};
use isoscope_model::history::{
    Builder, Draft, History, Interval, KeyId, OperationKind, Outcome, Prefix, Value,
};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Assembles the history of a file.
pub(crate) fn history(
    mut log: Log<'_>,
    mut builder: Builder,
    format: &'static str,
) -> Result<History, ReadError> {
    if log.events.is_empty() {
        return log.around.without_clients(builder, format);
    }
    log.take_vectors_as_values();
    let calls = log.around.calls(&log.events);
    if log.around.lacks_pairs() {
        let message =
            "transactions without a `process` overlap: nothing says which answer belongs to which";
        return Err(ReadError::whole(format, Problem::Other(message.to_owned())));
    }
    let clock = log.around.clock(&log.events);
    let is_list = lists(&log, format)?;
    let key_ids = vec![None; log.keys.len()];
    let (values, kept) = (
        vec![Vec::new(); log.lists.n_stems()],
        vec![None; log.lists.n_stems()],
    );
    log.around.remark(&mut builder, &calls, &clock);
    let is_register_read = |operation: &MicroOperation| {
        operation.verb == Verb::Read && !matches!(operation.payload, Payload::List(_))
    };
    // In a part of a file, writes may be in the others.
    let has_only_reads = !log.is_part && log.operations.iter().all(is_register_read);
    let mut assembly = Assembly {
        log,
        builder,
        is_list,
        key_ids,
        values,
        kept,
        are_names: false,
        unwritten: has_only_reads.then(FxHashSet::default),
    };
    assembly
        .builder
        .reserve_operations(assembly.log.operations.len());
    let intervals = operations::intervals(&assembly.log.events, &calls, &clock);
    let whole = intervals.iter().copied().reduce(|one, other| Interval {
        start: one.start.min(other.start),
        end: one.end.max(other.end),
    });
    for (call, interval) in calls.iter().zip(intervals) {
        let outcome = call.outcome(&assembly.log.events);
        let names = &assembly.log.around.client_names;
        let session = operations::session(call.process, names, &mut assembly.builder);
        let draft = assembly.builder.transaction(session, outcome);
        if clock != Clock::Unknown {
            assembly.builder.set_interval(draft, interval);
        }
        assembly.call(draft, call, outcome);
    }
    assembly.add_writers(whole.filter(|_| clock != Clock::Unknown));
    assembly.log.around.add_nodes(&mut assembly.builder);
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

struct Assembly<'a> {
    log: Log<'a>,
    builder: Builder,
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
    /// What was read, where the log has reads of registers only.
    unwritten: Option<FxHashSet<(KeyId, Atom)>>,
}

impl Assembly<'_> {
    /// Gives each value that was read a writer of its own, at any time, if the log has reads only: so what readers disagree
    /// on shows.
    fn add_writers(&mut self, whole: Option<Interval>) {
        let values = self.unwritten.take().unwrap_or_default();
        // A first name turns the numbers before it into names, so that values are made last.
        let value = |(key, atom)| (key, self.log.atoms.value(&mut self.builder, atom));
        let values: BTreeSet<(KeyId, Value)> = values.into_iter().map(value).collect();
        if values.is_empty() {
            return;
        }
        self.builder.assume(
            "There are reads and no write: each value that was read has a writer that is not in the log.",
        );
        for (n, (key, value)) in values.into_iter().enumerate() {
            let name = format!("not in the log {}", n + 1);
            let session = self.builder.session_name(&name);
            let draft = self.builder.transaction(session, Outcome::Unknown);
            if let Some(interval) = whole {
                self.builder.set_interval(draft, interval);
            }
            let kind = OperationKind::Write;
            self.builder.operation(draft, kind, key, value, 0);
        }
    }

    fn call(&mut self, draft: Draft, call: &Call, outcome: Outcome) {
        let (invocation, completion) = call.ends(&self.log.events);
        let range = |event: Option<&Event<Content>>| match event.map(|event| event.content) {
            Some(Content::Transaction { begin, end }) => Some((begin, end)),
            _ => None,
        };
        self.transaction(draft, range(invocation), range(completion), outcome);
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
                if let Some(values) = &mut self.unwritten {
                    values.insert((key, atom));
                }
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
}
