//! Names and phrases: which transaction did what to which key.
//!
//! Describes one list of edges in terms of one history. Nothing is decided here, and no index is trusted: a premise
//! that is not in the list is skipped.

use isoscope_check::checkers::{Pattern, Supposed};
use isoscope_model::history::{
    History, KeyId, Operation, OperationId, OperationKind, Outcome, TransactionId, Value,
};
use isoscope_model::relations::{Edge, EdgeIndex, Relation, list_from_outside, value_from_outside};

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
    pub(in crate::counterexample) fn transaction(&self, t: TransactionId) -> String {
        if t.is_initial() {
            "the initial state".to_owned()
        } else {
            self.history.transaction_name(t)
        }
    }

    /// `key 4`.
    pub(in crate::counterexample) fn key(&self, key: Option<KeyId>) -> String {
        key.map_or_else(
            || "the key".to_owned(),
            |key| format!("key {}", self.history.key_name(key)),
        )
    }

    /// `key 4 = 3285`, or `x = 3285` where the key does not look like a number: key and value of an operation.
    pub(in crate::counterexample) fn content(&self, operation: OperationId) -> String {
        let o = self.history.operation(operation);
        let key = self.short_key(o.key);
        if self.history.lists().read_by(operation).is_some() {
            let text = self.history.operation_text(operation);
            return match text.split_once(") = ") {
                Some((_, list)) => format!("{key} = {list}"),
                None => text,
            };
        }
        if let Some(other) = self.history.differs_from(operation) {
            return format!("{key} ≠ {}", self.history.value_name(other));
        }
        if self.is_append(operation) {
            return format!("{} to {key}", self.history.value_name(o.value));
        }
        format!("{key} = {}", self.value(operation))
    }

    /// `key 4`, or `x` where the name does not look like a number.
    fn short_key(&self, key: KeyId) -> String {
        let name = self.history.key_name(key);
        if name.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            format!("key {name}")
        } else {
            name
        }
    }

    /// `time 120`, or `event 121` where the file has no clock and events are counted: from 1, like lines.
    pub(in crate::counterexample) fn time(&self, time: i64) -> String {
        if self.history.origin().times_are_events {
            format!("event {}", time.saturating_add(1))
        } else {
            format!("time {time}")
        }
    }

    fn is_append(&self, operation: OperationId) -> bool {
        let o = self.history.operation(operation);
        o.kind == OperationKind::Write && self.history.lists().is_list(o.key)
    }

    pub(in crate::counterexample) fn value(&self, operation: OperationId) -> String {
        match self.history.operation(operation).value {
            Value::INITIAL => "its initial value".to_owned(),
            value => self.history.value_name(value),
        }
    }

    /// "wrote key 4 = 3285" or "appended 5 to key 4".
    pub(in crate::counterexample) fn wrote(
        &self,
        operation: Option<OperationId>,
        key: Option<KeyId>,
    ) -> String {
        let verb = if operation.is_some_and(|write| self.is_append(write)) {
            "appended"
        } else {
            "wrote"
        };
        format!("{verb} {}", self.content_or_key(operation, key))
    }

    /// What a reader did not see of a write: "not T4's newer 3285", for lists "without the 5 that T4 appended".
    pub(in crate::counterexample) fn missed(
        &self,
        write: Option<OperationId>,
        writer: TransactionId,
    ) -> String {
        let writer = self.transaction(writer);
        match write {
            Some(write) if self.is_append(write) => {
                format!("without the {} that {writer} appended", self.value(write))
            }
            Some(write) => format!("not {writer}'s newer {}", self.value(write)),
            None => format!("not what {writer} wrote"),
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
    pub(in crate::counterexample) fn value_read(&self, read: OperationId) -> String {
        let value = match self.found(read) {
            Value::INITIAL => "initial value".to_owned(),
            value => self.history.value_name(value),
        };
        let reader = self.transaction(self.history.transaction_of(read));
        let key = self.history.key_name(self.history.keys()[read.index()]);
        let own = if self.ends_with_own(read) {
            " before its own elements"
        } else {
            ""
        };
        format!("{value} that {reader} read of key {key}{own}")
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
    ) -> String {
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
        format!("{element} in place {place} of the list that {reader} read of {key}")
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
    pub(in crate::counterexample) fn appender(&self, append: OperationId) -> String {
        let t = self.history.transaction_of(append);
        let same = |o: &OperationId| self.history.operation(*o) == self.history.operation(append);
        match self.history.operations_of(t).filter(same).count() {
            0 | 1 => self.transaction(t),
            _ => {
                let place = append.index() - self.history.operation_range(t).start + 1;
                format!("operation {place} of {}", self.transaction(t))
            }
        }
    }

    /// A supposition about what was read or what committed: "T1 wrote the 1 that T3 read of key 4".
    pub(in crate::counterexample) fn supposed(&self, supposed: Supposed) -> String {
        match supposed {
            Supposed::Writer { read, writer } => {
                format!(
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
                format!(
                    "{} appended the {}",
                    self.appender(append),
                    self.element_read(read, place)
                )
            }
            Supposed::Outcome {
                transaction,
                committed,
            } => {
                format!(
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
    ) -> String {
        operation.map_or_else(|| self.key(key), |operation| self.content(operation))
    }

    /// `T1, T2 and T3`.
    pub(in crate::counterexample) fn list(items: &[String]) -> String {
        match items {
            [] => String::new(),
            [one] => one.clone(),
            [init @ .., last] => format!("{} and {last}", init.join(", ")),
        }
    }

    /// `SO`, `WR 4`.
    pub(in crate::counterexample) fn label(&self, edge: &Edge) -> String {
        match edge.key {
            Some(key) => format!("{} {}", edge.relation.code(), self.history.key_name(key)),
            None => edge.relation.code().to_owned(),
        }
    }

    /// `T1 –SO→ T2 –WR 4→ T3`.
    pub(in crate::counterexample) fn path(&self, path: &[EdgeIndex]) -> String {
        let mut text = String::new();
        for edge in path.iter().filter_map(|&e| self.edges.get(e)) {
            if text.is_empty() {
                text = self.name(edge.from);
            }
            text += &format!(" –{}→ {}", self.label(edge), self.name(edge.to));
        }
        text
    }

    fn name(&self, t: TransactionId) -> String {
        self.history.transaction_name(t)
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
    pub(in crate::counterexample) fn initial_read(&self, read: OperationId) -> String {
        let content = self.content(read);
        match self.history.lists().read_by(read) {
            Some(_) if self.ends_with_own(read) => {
                format!("{content}, its own appends to the initial version")
            }
            None if self.found(read) == Value::INITIAL => content,
            _ => format!("{content}, the initial version"),
        }
    }

    /// "T2 read x = 3 from T1", for lists "T2 read x = [1 3], whose last element T1 appended".
    pub(in crate::counterexample) fn has_read(&self, edge: &Edge) -> String {
        let (from, to) = (self.transaction(edge.from), self.transaction(edge.to));
        let what = self.content_or_key(edge.to_operation, edge.key);
        match edge.to_operation {
            Some(read) if edge.from.is_initial() => {
                format!("{to} read {}", self.initial_read(read))
            }
            None if edge.from.is_initial() => format!("{to} read the initial version of {what}"),
            Some(read) if self.history.lists().read_by(read).is_some() => {
                let element = edge
                    .from_operation
                    .map(|append| self.history.operation(append).value);
                match element.filter(|element| *element != self.found(read)) {
                    Some(element) => {
                        let element = self.history.value_name(element);
                        let last = self.last_appender(read).filter(|last| *last != edge.from);
                        let last =
                            last.map(|t| format!(", and the last one {}", self.transaction(t)));
                        format!(
                            "{to} read {what}, whose element {element} {from} appended{}",
                            last.unwrap_or_default()
                        )
                    }
                    None if self.ends_with_own(read) => {
                        format!(
                            "{to} read {what}, whose last element before {to}'s own {from} appended"
                        )
                    }
                    None => format!("{to} read {what}, whose last element {from} appended"),
                }
            }
            _ => format!("{to} read {what} from {from}"),
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
    pub(in crate::counterexample) fn older(&self, edge: &Edge) -> String {
        let (from, to) = (self.transaction(edge.from), self.transaction(edge.to));
        format!(
            "{from}'s version of {} is older than {to}'s",
            self.key(edge.key)
        )
    }

    /// "wrote 5 to key 4" or "appended 5 to key 4": what a read that is wrong in this way returned.
    pub(in crate::counterexample) fn wrong_value(
        &self,
        pattern: Pattern,
        read: OperationId,
    ) -> Option<String> {
        let o = self.history.operation(read);
        let Some(list) = self.history.lists().read_by(read) else {
            return Some(format!(
                "wrote {} to {}",
                self.history.value_name(o.value),
                self.key(Some(o.key))
            ));
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
        Some(format!("appended {element} to {}", self.key(Some(o.key))))
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
pub(super) fn either(names: &[String]) -> String {
    match names.split_last() {
        Some((last, init)) if !init.is_empty() => format!("{} or {last}", init.join(", ")),
        _ => names.concat(),
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
