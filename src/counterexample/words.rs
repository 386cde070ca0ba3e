//! Sentences about edges: who did what to which key, and what follows.
//!
//! Speaks of one list of edges in terms of one history. Nothing is decided here, and no index is trusted: a premise
//! that is not in the list is passed over.

use crate::history::{History, KeyId, OperationId, OperationKind, TransactionId, Value};
use crate::relations::{Axiom, Edge, EdgeIndex, Reason, Relation, list_from_outside, value_from_outside};

/// Names and phrases for one list of edges.
pub(super) struct Words<'a> {
    pub(super) history: &'a History,
    pub(super) edges: &'a [Edge],
}

impl<'a> Words<'a> {
    pub(super) fn new(history: &'a History, edges: &'a [Edge]) -> Words<'a> {
        Words { history, edges }
    }

    /// `T295`, or "the initial state" for ⊥.
    pub(super) fn transaction(&self, t: TransactionId) -> String {
        if t.is_initial() { "the initial state".to_owned() } else { self.history.transaction_name(t) }
    }

    /// `T295's` or "the initial".
    fn possessive(&self, t: TransactionId) -> String {
        if t.is_initial() { "the initial".to_owned() } else { format!("{}'s", self.history.transaction_name(t)) }
    }

    /// `key 4`.
    pub(super) fn key(&self, key: Option<KeyId>) -> String {
        key.map_or_else(|| "the key".to_owned(), |key| format!("key {}", self.history.key_name(key)))
    }

    /// `4 = 3285`: key and value of an operation.
    pub(super) fn content(&self, operation: OperationId) -> String {
        let o = self.history.operation(operation);
        if self.history.lists().read_by(operation).is_some() {
            let text = self.history.operation_text(operation);
            return text.strip_prefix("r(").map_or(text.clone(), |rest| rest.replacen(')', "", 1));
        }
        if let Some(other) = self.history.differs_from(operation) {
            return format!("{} ≠ {}", self.history.key_name(o.key), self.history.value_name(other));
        }
        if o.kind == OperationKind::Write && self.history.lists().is_list(o.key) {
            return format!("{} to {}", self.history.value_name(o.value), self.history.key_name(o.key));
        }
        let value = match o.value {
            Value::INITIAL => "its initial value".to_owned(),
            value => self.history.value_name(value),
        };
        format!("{} = {value}", self.history.key_name(o.key))
    }

    /// `3285 that T297 read of key 4`; of a list its last element, without the reader's own at its end.
    pub(super) fn value_read(&self, read: OperationId) -> String {
        let value = match self.found(read) {
            Value::INITIAL => "initial value".to_owned(),
            value => self.history.value_name(value),
        };
        let reader = self.transaction(self.history.transaction_of(read));
        let key = self.history.key_name(self.history.keys()[read.index()]);
        let own = if self.ends_with_own(read) { " before its own elements" } else { "" };
        format!("{value} that {reader} read of key {key}{own}")
    }

    /// What a read returned of other transactions.
    fn found(&self, read: OperationId) -> Value {
        value_from_outside(self.history, self.history.transaction_of(read), read)
    }

    /// Whether a list ends with elements that its reader appended.
    fn ends_with_own(&self, read: OperationId) -> bool {
        let outside = list_from_outside(self.history, self.history.transaction_of(read), read);
        outside.zip(self.history.lists().read_by(read)).is_some_and(|(outside, list)| outside.len() < list.len())
    }

    /// `5 in place 2 of the list that T297 read of key 4`.
    pub(super) fn element_read(&self, read: OperationId, place: usize) -> String {
        let element = self.history.lists().read_by(read).and_then(|list| list.get(place));
        let element = element.map_or_else(|| "element".to_owned(), |&element| self.history.value_name(element));
        let reader = self.transaction(self.history.transaction_of(read));
        let key = self.key(Some(self.history.operation(read).key));
        format!("{element} in place {} of the list that {reader} read of {key}", place + 1)
    }

    /// `T1`, or `operation 3 of T1` where it appended the same element to the key more than once.
    pub(super) fn appender(&self, append: OperationId) -> String {
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

    /// `T1 committed`, or that it did not.
    pub(super) fn outcome(&self, t: TransactionId, committed: bool) -> String {
        format!("{} {}", self.transaction(t), if committed { "committed" } else { "did not commit" })
    }

    /// `4 = 3285`, or `key 4` where no operation is known.
    pub(super) fn content_or_key(&self, operation: Option<OperationId>, key: Option<KeyId>) -> String {
        operation.map_or_else(|| self.key(key), |operation| self.content(operation))
    }

    /// `T1, T2 and T3`.
    pub(super) fn list(items: &[String]) -> String {
        match items {
            [] => String::new(),
            [one] => one.clone(),
            [init @ .., last] => format!("{} and {last}", init.join(", ")),
        }
    }

    /// `SO`, `WR 4`.
    pub(super) fn label(&self, edge: &Edge) -> String {
        match edge.key {
            Some(key) => format!("{} {}", edge.relation.code(), self.history.key_name(key)),
            None => edge.relation.code().to_owned(),
        }
    }

    /// `T1 –SO→ T2 –WR 4→ T3`.
    pub(super) fn path(&self, path: &[EdgeIndex]) -> String {
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

    /// "read 4 = 3285 from T1" or "read the initial version of key 4".
    pub(super) fn reads(&self, verb: &str, read: Option<OperationId>, key: Option<KeyId>, t1: TransactionId) -> String {
        match (read, t1.is_initial()) {
            (Some(read), false) => format!("{verb} {} from {}", self.content(read), self.transaction(t1)),
            (None, false) => format!("{verb} {} from {}", self.key(key), self.transaction(t1)),
            (Some(read), true) if self.found(read) != Value::INITIAL => {
                format!("{verb} {}, the initial version", self.content(read))
            }
            (_, true) => format!("{verb} the initial version of {}", self.key(key)),
        }
    }

    /// How the reader, told of just before, is known to see t2, as a clause.
    fn sees(&self, axiom: Axiom, t2: TransactionId, seen: &[EdgeIndex]) -> String {
        let name2 = self.transaction(t2);
        let only = match seen {
            [one] => self.edges.get(*one),
            _ => None,
        };
        match (axiom, only) {
            (Axiom::ReadCommitted, Some(wr)) if wr.relation == Relation::WriteRead => {
                format!("it had already read {} from {name2}", self.content_or_key(wr.to_operation, wr.key))
            }
            (_, Some(wr)) if wr.relation == Relation::WriteRead => {
                format!("it read {} from {name2}", self.content_or_key(wr.to_operation, wr.key))
            }
            (_, Some(so)) if so.relation == Relation::SessionOrder => format!("{name2} precedes it in its session"),
            (Axiom::CommitOrder, _) => format!("{name2} comes before it ({})", self.path(seen)),
            _ => format!("it could see {name2} ({})", self.path(seen)),
        }
    }

    /// Whether the list that `read` returned has the element that `append` appended.
    pub(super) fn listed_element(&self, read: OperationId, append: Option<OperationId>) -> bool {
        let element = append.map(|append| self.history.operation(append).value);
        let list = self.history.lists().read_by(read).unwrap_or_default();
        element.is_some_and(|element| list.contains(&element))
    }

    /// What an axiom promises, as a clause.
    pub(super) fn axiom(axiom: Axiom) -> &'static str {
        match axiom {
            Axiom::ReadCommitted => "read committed never goes back behind what was read before",
            Axiom::ReadAtomic => "read atomicity shows all of a transaction or nothing",
            Axiom::Causal => "causal consistency shows everything in the causal past",
            Axiom::CommitOrder => "a snapshot contains everything that was committed before it",
        }
    }

    /// Why an edge is there, in one sentence with a full stop.
    pub(super) fn reason(&self, edge: &Edge) -> String {
        let (from, to) = (self.transaction(edge.from), self.transaction(edge.to));
        match &edge.because {
            Reason::SessionOrder if edge.from.is_initial() => {
                format!("The initial state precedes every transaction, {to} too.")
            }
            Reason::SessionOrder if edge.relation == Relation::RealTime => {
                let at = |moment: Option<i64>| moment.map_or_else(String::new, |moment| format!(" (at {moment})"));
                let ended = at(self.history.interval(edge.from).map(|interval| interval.end));
                let began = at(self.history.interval(edge.to).map(|interval| interval.start));
                format!("{from} had ended{ended} before {to} began{began}.")
            }
            Reason::SessionOrder => {
                let session = self.history.session_name(self.history.session_of(edge.from));
                format!("{from} and {to} are transactions of session {session}, in this order.")
            }
            Reason::Reads => self.reads_reason(edge),
            Reason::Path { through } => match edge.relation {
                Relation::CausalOrder => format!("{to} could see {from}: {}.", self.path(through)),
                _ => format!("{from} comes before {to}: {}.", self.path(through)),
            },
            Reason::Visible { axiom, reader, read, seen } => self.visible_reason(edge, *axiom, *reader, *read, seen),
            Reason::Overwrites { writer, order } => self.overwrites_reason(edge, *writer, order),
            Reason::Conflict { order } => format!(
                "{from} and {to} both write {}, and {from} started before {to} committed ({}); of two overlapping \
                 writers of a key snapshot isolation lets only the first commit, so {from} committed before {to} \
                 started.",
                self.key(edge.key),
                self.path(order)
            ),
            Reason::ReadModifyWrite { read } => {
                let content = self.edges.get(*read).and_then(|e| e.to_operation);
                let what = self.content_or_key(content, edge.key);
                let key = self.key(edge.key);
                format!(
                    "{to} {} and then wrote {key} itself, so its version is newer than {} version.",
                    if edge.from.is_initial() {
                        format!("read the initial version of {key}")
                    } else {
                        format!("read {what} from {from}")
                    },
                    self.possessive(edge.from)
                )
            }
            Reason::Listed { reader, read } => {
                let list = self.content(*read);
                let key = self.key(edge.key);
                match self.listed_element(*read, edge.to_operation) {
                    true => format!(
                        "{} read {list}, where what {from} appended stands before what {to} appended; so {from}'s \
                         version of {key} is the older one.",
                        self.transaction(*reader)
                    ),
                    false => format!(
                        "{} read {list}, which has what {from} appended but not what {to} appended; so {to}'s version \
                         of {key} is the newer one.",
                        self.transaction(*reader)
                    ),
                }
            }
            Reason::Assumed => format!(
                "Assumed in this case: {} version of {} is older than {} version; the opposite is another case.",
                self.possessive(edge.from),
                self.key(edge.key),
                self.possessive(edge.to)
            ),
        }
    }

    fn reads_reason(&self, edge: &Edge) -> String {
        let to = self.transaction(edge.to);
        if edge.from.is_initial() {
            let key = self.key(edge.key);
            return match edge.to_operation {
                Some(read) if self.found(read) != Value::INITIAL => {
                    format!("{to} read {}, the initial version of {key}.", self.content(read))
                }
                _ => format!("{to} read the initial version of {key}."),
            };
        }
        let (from, what) = (self.transaction(edge.from), self.content_or_key(edge.to_operation, edge.key));
        match edge.to_operation.filter(|&read| self.history.lists().read_by(read).is_some()) {
            Some(read) if self.ends_with_own(read) => {
                format!("{to} read {what}, whose last element before {to}'s own {from} appended.")
            }
            Some(_) => format!("{to} read {what}, whose last element {from} appended."),
            None => format!("{to} read {what}, the value that {from} wrote."),
        }
    }

    /// `4 = 0, the initial version`, of a list with own appends `4 = [2], its own appends to the initial version`.
    pub(super) fn initial_read(&self, read: OperationId) -> String {
        let is_own = self.history.lists().read_by(read).is_some() && self.ends_with_own(read);
        let version = if is_own { "its own appends to the initial version" } else { "the initial version" };
        format!("{}, {version}", self.content(read))
    }

    /// "T2 read 4 = 3, written by T1", of lists "T2 read 4 = [1 3], whose last element T1 appended".
    pub(super) fn has_read(&self, edge: &Edge) -> String {
        let to = self.transaction(edge.to);
        match edge.to_operation {
            Some(read) if edge.from.is_initial() => format!("{to} read {}", self.initial_read(read)),
            Some(read) if self.history.lists().read_by(read).is_some() => {
                self.reads_reason(edge).trim_end_matches('.').to_owned()
            }
            read => {
                let what = self.content_or_key(read, edge.key);
                format!("{to} read {what}, written by {}", self.transaction(edge.from))
            }
        }
    }

    fn visible_reason(
        &self,
        edge: &Edge,
        axiom: Axiom,
        t3: TransactionId,
        read: OperationId,
        seen: &[EdgeIndex],
    ) -> String {
        let (t1, t2) = (edge.to, edge.from);
        let name2 = self.transaction(t2);
        let key = self.key(edge.key);
        let observed = format!("{} {}", self.transaction(t3), self.reads("read", Some(read), edge.key, t1));
        let also = match edge.from_operation {
            Some(write) => format!("{name2} also writes {key} ({})", self.content(write)),
            None => format!("{name2} also writes {key}"),
        };
        let follows = match t1.is_initial() {
            true => format!("so {name2}'s version would have to be older than the initial one"),
            false => format!("so {name2}'s version must be older than {}", self.possessive(t1)),
        };
        let sees = self.sees(axiom, t2, seen);
        format!("{observed} although {sees}; {also}, and {}, {follows}.", Words::axiom(axiom))
    }

    fn overwrites_reason(&self, edge: &Edge, t1: TransactionId, order: &[EdgeIndex]) -> String {
        let (t3, t2) = (self.transaction(edge.from), self.transaction(edge.to));
        let observed = self.reads("read", edge.from_operation, edge.key, t1);
        let newer = match edge.to_operation {
            Some(write) => format!("{t2} wrote the newer version {}", self.content(write)),
            None => format!("{t2} wrote a newer version"),
        };
        let why = match order {
            [] => String::new(),
            order => format!(" ({})", self.path(order)),
        };
        format!("{t3} {observed}, and {newer}{why}; so {t3} did not see {t2}.")
    }

    /// "T1's version of key 4 is older than T2's".
    pub(super) fn older(&self, edge: EdgeIndex) -> String {
        let Some(edge) = self.edges.get(edge) else { return String::new() };
        let (from, to) = (self.transaction(edge.from), self.transaction(edge.to));
        format!("{from}'s version of {} is older than {to}'s", self.key(edge.key))
    }

    /// Operations of one kind among these.
    pub(super) fn of_kind(&self, operations: &[OperationId], kind: OperationKind) -> Vec<OperationId> {
        operations.iter().copied().filter(|&o| self.history.operation(o).kind == kind).collect()
    }
}
