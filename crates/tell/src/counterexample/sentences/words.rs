//! Names and phrases: which transaction did what to which key.
//!
//! Describes one list of edges in terms of one history. Nothing is decided here, and no index is trusted: a premise
//! that is not in the list is skipped.

use crate::counterexample::sentence::{Mention, Sentence, say};
use isoscope_check::checkers::{Pattern, Supposed};
use isoscope_model::history::{
    History, KeyId, Operation, OperationId, OperationKind, Outcome, TransactionId, Value,
};
use isoscope_model::relations::{Edge, EdgeIndex, Relation, list_from_outside, value_from_outside};
use std::fmt::Display;

/// Names and phrases for one list of edges.
pub(in crate::counterexample) struct Words<'a> {
    pub(in crate::counterexample) history: &'a History,
    pub(in crate::counterexample) edges: &'a [Edge],
}

impl<'a> Words<'a> {
    pub(in crate::counterexample) fn new(history: &'a History, edges: &'a [Edge]) -> Words<'a> {
        Words { history, edges }
    }

    /// `T295`, or "the initial state" for ⊥.
    pub(in crate::counterexample) fn transaction(&self, t: TransactionId) -> Sentence {
        if t.is_initial() {
            "the initial state".into()
        } else {
            self.name(t)
        }
    }

    /// `key 4`.
    pub(in crate::counterexample) fn key(&self, key: Option<KeyId>) -> Sentence {
        key.map_or_else(
            || "the key".into(),
            |key| say!("key {}", self.key_name(key)),
        )
    }

    /// `4`.
    pub(in crate::counterexample) fn key_name(&self, key: KeyId) -> Sentence {
        Sentence::name(self.history.key_name(key), Mention::Key(key))
    }

    /// `key 4 = 3285`, or `x = 3285` where the key does not look like a number: key and value of an operation.
    pub(in crate::counterexample) fn content(&self, operation: OperationId) -> Sentence {
        let o = self.history.operation(operation);
        let key = self.short_key(o.key);
        if self.history.lists().read_by(operation).is_some() {
            let (_, list) = self.history.operation_parts(operation);
            let list = Sentence::name(list, Mention::List(operation));
            return say!("{key} = {list}");
        }
        if let Some(other) = self.history.differs_from(operation) {
            return say!("{key} ≠ {}", self.history.value_name(other));
        }
        if self.is_delete(operation) {
            return key;
        }
        if self.is_append(operation) {
            return say!("{} to {key}", self.value(operation));
        }
        match o.value {
            // No value was read.
            Value::UNLISTED => say!("{key} as missing"),
            Value::LISTED => say!("{key} as present"),
            _ => say!("{key} = {}", self.value(operation)),
        }
    }

    /// `key 4`, or `x` where the name does not look like a number.
    fn short_key(&self, key: KeyId) -> Sentence {
        let name = self.key_name(key);
        if name.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            say!("key {name}")
        } else {
            name
        }
    }

    /// `time 120`, or `event 121` where the file has no clock and events are counted: from 1, like lines.
    pub(in crate::counterexample) fn time(&self, time: i64) -> Sentence {
        if self.history.origin().times_are_events {
            say!("event {}", time.saturating_add(1))
        } else {
            say!("time {time}")
        }
    }

    fn is_append(&self, operation: OperationId) -> bool {
        let o = self.history.operation(operation);
        o.kind == OperationKind::Write && self.history.lists().is_list(o.key)
    }

    fn is_delete(&self, operation: OperationId) -> bool {
        let o = self.history.operation(operation);
        o.kind == OperationKind::Write && o.value == Value::ABSENT
    }

    pub(in crate::counterexample) fn value(&self, operation: OperationId) -> Sentence {
        match self.history.operation(operation).value {
            Value::INITIAL => "its initial value".into(),
            _ => Sentence::name(
                self.history.value_text(operation),
                Mention::Value(operation),
            ),
        }
    }

    /// "wrote key 4 = 3285" or "appended 5 to key 4".
    pub(in crate::counterexample) fn wrote(
        &self,
        operation: Option<OperationId>,
        key: Option<KeyId>,
    ) -> Sentence {
        say!(
            "{} {}",
            self.verb(operation, "wrote"),
            self.content_or_key(operation, key)
        )
    }

    /// "written key 4 = 3285" or "appended 5 to key 4", behind "had".
    pub(super) fn written(&self, operation: Option<OperationId>, key: Option<KeyId>) -> Sentence {
        say!(
            "{} {}",
            self.verb(operation, "written"),
            self.content_or_key(operation, key)
        )
    }

    fn verb(&self, operation: Option<OperationId>, of_write: &'static str) -> &'static str {
        if operation.is_some_and(|write| self.is_append(write)) {
            "appended"
        } else if operation.is_some_and(|write| self.is_delete(write)) {
            "deleted"
        } else {
            of_write
        }
    }

    /// What a reader did not see of a write: "not T4's newer 3285", for lists "without the 5 that T4 appended".
    pub(in crate::counterexample) fn missed(
        &self,
        write: Option<OperationId>,
        writer: TransactionId,
    ) -> Sentence {
        let writer = self.transaction(writer);
        match write {
            Some(write) if self.is_append(write) => {
                say!("without the {} that {writer} appended", self.value(write))
            }
            Some(write) if self.is_delete(write) => say!("not {writer}'s delete"),
            Some(write) => say!("not {writer}'s newer {}", self.value(write)),
            None => say!("not what {writer} wrote"),
        }
    }

    /// Whether a list that was read has the element that a write appended.
    pub(in crate::counterexample) fn has_element(
        &self,
        read: Option<OperationId>,
        write: Option<OperationId>,
    ) -> bool {
        let list = read.and_then(|read| self.history.lists().read_by(read));
        list.zip(write)
            .is_some_and(|(list, write)| list.contains(&self.history.operation(write).value))
    }

    /// `3285 that T297 read of key 4`; for a list its last element, ignoring the reader's own at its end.
    pub(in crate::counterexample) fn value_read(&self, read: OperationId) -> Sentence {
        if let Some(scan) = self.history.scan_of(read) {
            let (reader, key) = (
                self.transaction(scan.transaction),
                self.key_name(self.history.keys()[read.index()]),
            );
            return match self.history.is_unlisted(read) {
                true => say!("version of {key} that {reader}'s scan did not list"),
                false => say!("version of {key} that {reader}'s scan listed"),
            };
        }
        let value = match self.found(read) {
            Value::INITIAL => "initial value".into(),
            value => Sentence::name(self.history.value_name(value), Mention::Value(read)),
        };
        let reader = self.transaction(self.history.transaction_of(read));
        let key = self.key_name(self.history.keys()[read.index()]);
        let own = if self.ends_with_own(read) {
            " before its own elements"
        } else {
            ""
        };
        say!("{value} that {reader} read of key {key}{own}")
    }

    /// What a read returned from other transactions.
    fn found(&self, read: OperationId) -> Value {
        value_from_outside(self.history, self.history.transaction_of(read), read)
    }

    /// Whether a list ends with elements its reader appended.
    pub(in crate::counterexample) fn ends_with_own(&self, read: OperationId) -> bool {
        let outside = list_from_outside(self.history, self.history.transaction_of(read), read);
        outside
            .zip(self.history.lists().read_by(read))
            .is_some_and(|(outside, list)| outside.len() < list.len())
    }

    /// `5 in place 2 of the list that T297 read of key 4`.
    pub(in crate::counterexample) fn element_read(
        &self,
        read: OperationId,
        place: usize,
    ) -> Sentence {
        let element = self
            .history
            .lists()
            .read_by(read)
            .and_then(|list| list.get(place));
        let element = element.map_or_else(
            || "element".to_owned(),
            |&element| self.history.value_name(element),
        );
        let reader = self.transaction(self.history.transaction_of(read));
        let key = self.key(Some(self.history.operation(read).key));
        let place = self.recorded_place(read, place) + 1;
        say!("{element} in place {place} of the list that {reader} read of {key}")
    }

    /// The place of an element in a list in the file, even if elements have been left out: equal ones go together.
    fn recorded_place(&self, read: OperationId, place: usize) -> usize {
        let lists = self.history.lists();
        let (Some(cut), Some(recorded)) = (lists.read_by(read), lists.recorded_by(read)) else {
            return place;
        };
        let mut left = (0..recorded.len()).filter(|&at| cut.contains(&recorded[at]));
        left.nth(place).unwrap_or(place)
    }

    /// `T1`, or `operation 3 of T1` where it appended the same element to the key more than once.
    pub(in crate::counterexample) fn appender(&self, append: OperationId) -> Sentence {
        let t = self.history.transaction_of(append);
        let same = |o: &OperationId| self.history.operation(*o) == self.history.operation(append);
        match self.history.operations_of(t).filter(same).count() {
            0 | 1 => self.transaction(t),
            _ => {
                let place = append.index() - self.history.operation_range(t).start + 1;
                say!("operation {place} of {}", self.transaction(t))
            }
        }
    }

    /// Whether a path is one read, and of the same scan as another one.
    pub(super) fn is_one_scan(&self, path: &[EdgeIndex], read: OperationId) -> bool {
        let [seen] = path else { return false };
        let seen = self.edges.get(*seen).and_then(|edge| edge.to_operation);
        seen.is_some_and(|seen| self.history.share_scan(seen, read))
    }

    /// What a scan returned that no version of a row explains: "b1's scan listed x twice"; none for other reads.
    pub(in crate::counterexample) fn inexplicable_row(
        &self,
        read: OperationId,
    ) -> Option<Sentence> {
        let scan = self.history.scan_of(read)?;
        let reader = self.transaction(scan.transaction);
        let key = self.short_key(self.history.keys()[read.index()]);
        match self.history.values()[read.index()] {
            Value::TWICE if self.history.is_listed_before(read) => {
                Some(say!("{reader}'s scan listed {key} twice"))
            }
            Value::TWICE => Some(say!(
                "{reader}'s scan listed {key} = {}",
                self.history.value_text(read)
            )),
            Value::UNLISTED if scan.asked.predicate.is_of_keys() => Some(say!(
                "{reader}'s scan did not list {key}, which was never absent"
            )),
            Value::UNLISTED => Some(say!(
                "{reader}'s scan did not list {key}, every version of which matches"
            )),
            Value::LISTED => Some(say!(
                "{reader}'s scan listed {key}, no version of which matches"
            )),
            _ => None,
        }
    }

    /// A supposition about what was read or what committed: "T1 wrote the 1 that T3 read of key 4".
    pub(in crate::counterexample) fn supposed(&self, supposed: Supposed) -> Sentence {
        match supposed {
            Supposed::Order(edge) => {
                let older = self.edges.get(edge).map(|edge| self.older(edge));
                older.unwrap_or_default()
            }
            Supposed::Writer { read, writer } => {
                say!(
                    "{} wrote the {}",
                    self.transaction(writer),
                    self.value_read(read)
                )
            }
            Supposed::Append {
                read,
                place,
                append,
            } => {
                say!(
                    "{} appended the {}",
                    self.appender(append),
                    self.element_read(read, place)
                )
            }
            Supposed::Outcome {
                transaction,
                committed,
            } => {
                say!(
                    "{} {}",
                    self.transaction(transaction),
                    if committed {
                        "committed"
                    } else {
                        "did not commit"
                    }
                )
            }
        }
    }

    /// `4 = 3285`, or `key 4` where no operation is known.
    pub(in crate::counterexample) fn content_or_key(
        &self,
        operation: Option<OperationId>,
        key: Option<KeyId>,
    ) -> Sentence {
        operation.map_or_else(|| self.key(key), |operation| self.content(operation))
    }

    /// `T1, T2 and T3`.
    pub(in crate::counterexample) fn list(items: &[impl Display]) -> Sentence {
        match items {
            [] => Sentence::default(),
            [one] => say!("{one}"),
            [init @ .., last] => say!("{} and {last}", Sentence::join(init, ", ")),
        }
    }

    /// `SO`, `WR 4`.
    pub(in crate::counterexample) fn label(&self, edge: &Edge) -> Sentence {
        match edge.key {
            Some(key) => say!("{} {}", edge.relation.code(), self.key_name(key)),
            None => edge.relation.code().into(),
        }
    }

    /// `T1 –SO→ T2 –WR 4→ T3`.
    pub(in crate::counterexample) fn path(&self, path: &[EdgeIndex]) -> Sentence {
        let edges = path.iter().filter_map(|&e| self.edges.get(e));
        let first = edges.clone().next().map(|edge| self.name(edge.from));
        let links = edges.map(|edge| say!(" –{}→ {}", self.label(edge), self.name(edge.to)));
        Sentence::join(first.into_iter().chain(links), "")
    }

    fn name(&self, t: TransactionId) -> Sentence {
        Sentence::name(self.history.transaction_name(t), Mention::Transaction(t))
    }

    /// Whether the list that `read` returned has the element that `append` appended.
    pub(in crate::counterexample) fn listed_element(
        &self,
        read: OperationId,
        append: Option<OperationId>,
    ) -> bool {
        let element = append.map(|append| self.history.operation(append).value);
        let list = self.history.lists().read_by(read).unwrap_or_default();
        element.is_some_and(|element| list.contains(&element))
    }

    /// Whether a list that was read has the element of one append before that of another, as far as values tell.
    pub(in crate::counterexample) fn is_listed_before(
        &self,
        read: OperationId,
        first: Option<OperationId>,
        then: Option<OperationId>,
    ) -> bool {
        let (Some(first), Some(then)) = (first, then) else {
            return false;
        };
        let [first, then] = [first, then].map(|append| self.history.operation(append).value);
        let list = self.history.lists().read_by(read).unwrap_or_default();
        let place = list.iter().position(|element| *element == first);
        place.is_some_and(|place| list[place + 1..].contains(&then))
    }

    /// `4 = 0, the initial version`, for a list with own appends `4 = [2], its own appends to the initial version`.
    pub(in crate::counterexample) fn initial_read(&self, read: OperationId) -> Sentence {
        let content = self.content(read);
        match self.history.lists().read_by(read) {
            Some(_) if self.ends_with_own(read) => {
                say!("{content}, its own appends to the initial version")
            }
            None if self.found(read) == Value::INITIAL => content,
            None if self.tells_no_value(read) => {
                let key = self.history.operation(read).key;
                let value = self.history.initial_value_of(key).unwrap_or(Value::ABSENT);
                say!(
                    "{content}, the initial version ({})",
                    self.history.value_name(value)
                )
            }
            _ => say!("{content}, the initial version"),
        }
    }

    /// Whether a read is one of a row by a scan whose predicate, and not only the key, decides what it says.
    fn tells_no_value(&self, read: OperationId) -> bool {
        let scan = self.history.scan_of(read);
        let is_of_scan = self.history.operation(read).value.is_of_scan();
        is_of_scan && scan.is_some_and(|scan| !scan.asked.predicate.is_of_keys())
    }

    /// "T2 read x = 3 from T1".
    pub(in crate::counterexample) fn has_read(&self, edge: &Edge) -> Sentence {
        say!("{} {}", self.transaction(edge.to), self.read_from(edge))
    }

    /// "read x = 3 from T1", for lists "read x = [1 3], whose last element T1 appended".
    pub(super) fn read_from(&self, edge: &Edge) -> Sentence {
        let (from, to) = (self.transaction(edge.from), self.transaction(edge.to));
        let what = self.content_or_key(edge.to_operation, edge.key);
        match edge.to_operation {
            Some(read) if self.history.is_unlisted(read) => self.not_found(read, edge),
            Some(read) if edge.from.is_initial() => {
                say!("read {}", self.initial_read(read))
            }
            None if edge.from.is_initial() => say!("read the initial version of {what}"),
            Some(read) if self.history.lists().read_by(read).is_some() => {
                let element = edge
                    .from_operation
                    .map(|append| self.history.operation(append).value);
                match element.filter(|element| *element != self.found(read)) {
                    Some(element) => {
                        let element = self.history.value_name(element);
                        let last = self.last_appender(read).filter(|last| *last != edge.from);
                        let last = last.map(|t| say!(", and the last one {}", self.transaction(t)));
                        say!(
                            "read {what}, whose element {element} {from} appended{}",
                            last.unwrap_or_default()
                        )
                    }
                    None if self.ends_with_own(read) => {
                        say!("read {what}, whose last element before {to}'s own {from} appended")
                    }
                    None => say!("read {what}, whose last element {from} appended"),
                }
            }
            Some(read) if self.tells_no_value(read) && edge.from_operation.is_some() => {
                let write = edge.from_operation;
                let value = write.map(|write| match self.is_delete(write) {
                    true => "deleted it".into(),
                    false => say!("wrote {}", self.value(write)),
                });
                say!(
                    "read {what} from {from}, which {}",
                    value.unwrap_or_default()
                )
            }
            _ => say!("read {what} from {from}"),
        }
    }

    /// "did not find x, which T1 had set to 11".
    fn not_found(&self, read: OperationId, edge: &Edge) -> Sentence {
        let id = self.history.keys()[read.index()];
        let (key, from) = (self.short_key(id), self.transaction(edge.from));
        match edge.from_operation {
            Some(write) if self.is_delete(write) => {
                say!("did not find {key}, which {from} had deleted")
            }
            Some(write) => say!(
                "did not find {key}, which {from} had set to {}",
                self.value(write)
            ),
            None => match self.history.initial_value_of(id) {
                Some(value) if value != Value::ABSENT => say!(
                    "did not find {key}, which was {} at first",
                    self.history.value_name(value)
                ),
                _ => say!("did not find {key}, which was absent at first"),
            },
        }
    }

    /// The transaction that an edge shows to have appended the last element of a list.
    fn last_appender(&self, read: OperationId) -> Option<TransactionId> {
        let is_of_last = |edge: &&Edge| {
            let appended = edge
                .from_operation
                .map(|append| self.history.operation(append).value);
            edge.relation == Relation::WriteRead
                && edge.to_operation == Some(read)
                && appended == Some(self.found(read))
        };
        self.edges.iter().find(is_of_last).map(|edge| edge.from)
    }

    /// "T1's version of key 4 is older than T2's".
    pub(in crate::counterexample) fn older(&self, edge: &Edge) -> Sentence {
        let (from, to) = (self.transaction(edge.from), self.transaction(edge.to));
        say!(
            "{from}'s version of {} is older than {to}'s",
            self.key(edge.key)
        )
    }

    /// "wrote 5 to key 4" or "appended 5 to key 4": what a read that is wrong in this way returned.
    pub(in crate::counterexample) fn wrong_value(
        &self,
        pattern: Pattern,
        read: OperationId,
    ) -> Option<Sentence> {
        let o = self.history.operation(read);
        let Some(list) = self.history.lists().read_by(read) else {
            return Some(say!(
                "wrote {} to {}",
                self.history.value_text(read),
                self.key(Some(o.key))
            ))
            .filter(|_| !o.value.is_of_scan());
        };
        let aborted = |element: &&Value| {
            let mut operations = (0..self.history.n_operations()).map(OperationId::new);
            operations.any(|w| {
                let is_append = self.history.operation(w)
                    == Operation {
                        kind: OperationKind::Write,
                        value: **element,
                        ..o
                    };
                is_append
                    && self.history.outcome(self.history.transaction_of(w)) == Outcome::Aborted
            })
        };
        let element = match pattern {
            Pattern::ThinAirRead => self.never_appended(read)?,
            Pattern::FutureRead => return None,
            Pattern::DuplicateElement => {
                let again = |(at, element): &(usize, &Value)| list[..*at].contains(element);
                self.history
                    .value_name(*list.iter().enumerate().find(again)?.1)
            }
            _ => self.history.value_name(*list.iter().find(aborted)?),
        };
        Some(say!("appended {element} to {}", self.key(Some(o.key))))
    }

    /// How many operations appended the element that a list has more than once.
    pub(in crate::counterexample) fn n_appends(&self, read: OperationId) -> usize {
        let o = self.history.operation(read);
        let list = self.history.lists().read_by(read).unwrap_or_default();
        let again = list
            .iter()
            .enumerate()
            .find(|(at, element)| list[..*at].contains(element));
        let is_append = |write: &Operation| {
            (write.kind, write.key, Some(&write.value))
                == (OperationKind::Write, o.key, again.map(|(_, value)| value))
        };
        (0..self.history.n_operations())
            .filter(|&at| is_append(&self.history.operation(OperationId::new(at))))
            .count()
    }

    /// The element of a list that was read that no operation of this history appended, if there is exactly one.
    pub(in crate::counterexample) fn never_appended(&self, read: OperationId) -> Option<String> {
        let key = self.history.operation(read).key;
        let list = self.history.lists().read_by(read)?;
        let appends =
            (0..self.history.n_operations()).map(|o| self.history.operation(OperationId::new(o)));
        let appends: Vec<Value> = appends
            .filter(|o| o.kind == OperationKind::Write && o.key == key)
            .map(|o| o.value)
            .collect();
        let mut without = list.iter().filter(|element| !appends.contains(element));
        let element = without.next()?;
        without
            .all(|other| other == element)
            .then(|| self.history.value_name(*element))
    }

    /// Where the first two of these lists differ, counted from 1, and what each has there.
    pub(in crate::counterexample) fn parted(
        &self,
        reads: &[OperationId],
    ) -> Option<(usize, [String; 2])> {
        let &[first, second, ..] = reads else {
            return None;
        };
        let list = |read| self.history.lists().recorded_by(read);
        let mut places = list(first)?.iter().zip(list(second)?).enumerate();
        let (place, (a, b)) = places.find(|(_, (a, b))| a != b)?;
        Some((
            place + 1,
            [a, b].map(|&element| self.history.value_name(element)),
        ))
    }

    /// Operations of one kind among these.
    pub(in crate::counterexample) fn of_kind(
        &self,
        operations: &[OperationId],
        kind: OperationKind,
    ) -> Vec<OperationId> {
        operations
            .iter()
            .copied()
            .filter(|&o| self.history.operation(o).kind == kind)
            .collect()
    }
}

/// `T1, T2 or T3`.
pub(super) fn either(names: &[impl Display]) -> Sentence {
    match names.split_last() {
        Some((last, init)) if !init.is_empty() => say!("{} or {last}", Sentence::join(init, ", ")),
        _ => Sentence::join(names, ""),
    }
}

/// `1 pair`, `3 pairs`.
pub(in crate::counterexample) fn counted(n: usize, word: &str) -> String {
    if n == 1 {
        format!("1 {word}")
    } else {
        format!("{n} {word}s")
    }
}
