//! The only way to make a [`History`].

mod rearrange;

use super::interner::Interner;
use super::names::{UNNUMBERED, positional_id};
use super::scans::{ScanDraft, Scans};
use super::{
    Asked, Cluster, History, Incident, Interval, KeyId, Lists, Names, OperationId, OperationKind,
    Origin, Outcome, Prefix, Rules, SessionId, Stems, Suggestions, TransactionId, Unit, Value,
    Workload,
};
use rayon::prelude::*;
use rearrange::{Moves, counting_sort, in_order, rearrange};
use rustc_hash::FxHashMap;

/// What a history cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// Ids have 32 bits.
    #[error("more than {} {what}", u32::MAX - 2)]
    TooMany {
        /// "operations", "keys", …
        what: &'static str,
    },
    /// Rows have single values.
    #[error(
        "a key that holds a list is scanned or deleted, which only rows with single values can be"
    )]
    ListScanned,
}

/// A transaction under construction: a place in the order in which [`Builder::transaction`] was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Draft(pub u32);

/// Collects sessions, transactions and operations in any order; [`Builder::finish`] sorts them.
///
/// The session order is the order in which the transactions of a session were begun, the program order the order in
/// which the operations of a transaction were added; operations of different transactions may alternate.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    origin: Origin,
    sessions: Interner,
    keys: Interner,
    values: Interner,
    initial_value: Option<Value>,
    session: Vec<SessionId>,
    outcome: Vec<Outcome>,
    name: Vec<Option<Box<str>>>,
    /// [`UNNUMBERED`] for none.
    number: Vec<u64>,
    interval: Vec<Option<Interval>>,
    /// Runs of operations of one transaction: the draft, and the start of the run in the arrays below.
    runs: Vec<(Draft, u32)>,
    kind: Vec<OperationKind>,
    key: Vec<KeyId>,
    value: Vec<Value>,
    line: Vec<u32>,
    /// By key; shorter than the keys if the last ones hold no lists.
    is_list: Vec<bool>,
    /// Reads of lists in the order in which they were added.
    list_reads: Vec<(u32, Prefix)>,
    lists: Stems<Value>,
    /// Places of operations in the order in which they were added.
    failed: Vec<u32>,
    differs: Vec<(u32, Value)>,
    scans: Vec<ScanDraft>,
    has_rows: bool,
    set_up: Vec<Draft>,
    /// By session: its part.
    part_of_session: Vec<u32>,
    nodes: Interner,
    /// By session, as far as they are known.
    node_of_session: Vec<Option<u32>>,
    incidents: Vec<Incident>,
    suggestions: Suggestions,
    assumptions: Vec<String>,
    workload: Option<Workload<Draft>>,
}

impl Builder {
    /// An empty history of this origin.
    pub fn new(origin: Origin) -> Builder {
        Builder {
            origin,
            ..Builder::default()
        }
    }

    /// Reserves memory for this many more operations, for readers that can guess.
    pub fn reserve_operations(&mut self, additional: usize) {
        self.kind.reserve(additional);
        self.key.reserve(additional);
        self.value.reserve(additional);
        self.line.reserve(additional);
    }

    /// Number of operations added so far.
    pub fn n_operations(&self) -> usize {
        self.kind.len()
    }

    /// Number of transactions begun so far.
    pub fn n_transactions(&self) -> usize {
        self.session.len()
    }

    /// Number of sessions made so far.
    pub fn n_sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Declares the value that reads as "initial" if no transaction writes it. Where values have names, it is one that
    /// [`value_number`](Self::value_number) or [`value_name`](Self::value_name) returned: `Value(0)` is then the first of
    /// these, whatever its name.
    pub fn initial_value(&mut self, value: Value) {
        self.initial_value = Some(value);
    }

    /// Sets what the lines of operations count; lines by default.
    pub fn unit(&mut self, unit: Unit) {
        self.origin.unit = unit;
    }

    /// Declares that times are positions in the order of the recorded events.
    pub fn times_are_events(&mut self) {
        self.origin.times_are_events = true;
    }

    /// Declares that some transactions have no session in the file, and count as those of one.
    pub fn lacks_sessions(&mut self) {
        self.origin.lacks_sessions = true;
    }

    /// Sets the file, of several, from which a session is read. All sessions must get a part if any does; call it after
    /// [`sort_sessions`](Self::sort_sessions) if that is called.
    pub fn session_part(&mut self, session: SessionId, part: &str) {
        let place = self
            .origin
            .parts
            .iter()
            .rposition(|name| name == part)
            .unwrap_or_else(|| {
                self.origin.parts.push(part.to_owned());
                self.origin.parts.len() - 1
            });
        self.part_of_session
            .resize(self.part_of_session.len().max(session.index() + 1), 0);
        self.part_of_session[session.index()] = place as u32;
    }

    /// Sets the node on which a session ran. Returns whether no other one was set before, which stays then.
    pub fn session_node(&mut self, session: SessionId, node: &str) -> bool {
        let node = self.nodes.string(node);
        self.node_of_session
            .resize(self.node_of_session.len().max(session.index() + 1), None);
        *self.node_of_session[session.index()].get_or_insert(node) == node
    }

    /// Adds something that happened to the system, after those before it.
    pub fn incident(&mut self, incident: Incident) {
        self.incidents.push(incident);
    }

    /// Sets the choices that fit this file, for rules the user leaves open.
    pub fn suggest(&mut self, suggestions: Suggestions) {
        self.suggestions = suggestions;
    }

    /// Adds a sentence about something the reader had to assume or leave out, for people.
    pub fn assume(&mut self, sentence: impl Into<String>) {
        self.assumptions.push(sentence.into());
    }

    /// Says what the log is about.
    pub fn workload(&mut self, workload: Workload<Draft>) {
        self.workload = Some(workload);
    }

    /// The session with this number, made on first use.
    pub fn session_number(&mut self, number: u64) -> SessionId {
        SessionId(self.sessions.number(number))
    }

    /// The session with this name, made on first use.
    pub fn session_name(&mut self, name: &str) -> SessionId {
        SessionId(self.sessions.string(name))
    }

    /// Renumbers the sessions in the order of their numbers, followed by those with other names in the order of first
    /// use. Ids handed out before become invalid; call it last. O(sessions log sessions + transactions).
    pub fn sort_sessions(&mut self) {
        let new_of_old = self.sessions.sort_by_number();
        for session in &mut self.session {
            session.0 = new_of_old[session.index()];
        }
        let mut nodes = vec![
            None;
            if self.node_of_session.is_empty() {
                0
            } else {
                new_of_old.len()
            }
        ];
        for (node, &new) in self.node_of_session.iter().zip(&new_of_old) {
            nodes[new as usize] = *node;
        }
        self.node_of_session = nodes;
    }

    /// The key with this number, made on first use.
    pub fn key_number(&mut self, number: u64) -> KeyId {
        KeyId(self.keys.number(number))
    }

    /// The key with this name, made on first use.
    pub fn key_name(&mut self, name: &str) -> KeyId {
        KeyId(self.keys.string(name))
    }

    /// The value of this number, for histories in which some values are not numbers. Once there is one of those, a
    /// number is a name like others: use the result before the next call of [`Builder::value_name`].
    pub fn value_number(&mut self, number: u64) -> Value {
        if self.values.is_empty() {
            Value(number)
        } else {
            Value(u64::from(self.values.number(number)))
        }
    }

    /// A value that is not a number, interned. The first one interns all numbers already present, O(operations).
    pub fn value_name(&mut self, name: &str) -> Value {
        if self.values.is_empty() {
            let others = self
                .lists
                .elements_mut()
                .chain(self.differs.iter_mut().map(|(_, value)| value));
            for value in self
                .value
                .iter_mut()
                .chain(&mut self.initial_value)
                .chain(others)
            {
                if value.0 <= Value::MAX_NUMBER {
                    value.0 = u64::from(self.values.number(value.0));
                }
            }
        }
        Value(u64::from(self.values.string(name)))
    }

    /// Whether any value so far is not a number.
    pub fn has_named_values(&self) -> bool {
        !self.values.is_empty()
    }

    /// Begins the next transaction of a session.
    pub fn transaction(&mut self, session: SessionId, outcome: Outcome) -> Draft {
        let draft = Draft(self.session.len() as u32);
        self.session.push(session);
        self.outcome.push(outcome);
        draft
    }

    /// Sets the number of a transaction in the file. `u64::MAX` is not a number.
    pub fn number_transaction(&mut self, draft: Draft, number: u64) {
        self.number.resize(self.session.len(), UNNUMBERED);
        self.number[draft.0 as usize] = number;
    }

    /// Sets the name of a transaction in the file.
    pub fn name_transaction(&mut self, draft: Draft, name: &str) {
        self.name.resize(self.session.len(), None);
        self.name[draft.0 as usize] = Some(name.into());
    }

    /// Corrects the outcome of a transaction.
    pub fn set_outcome(&mut self, draft: Draft, outcome: Outcome) {
        self.outcome[draft.0 as usize] = outcome;
    }

    /// Sets when a transaction ran.
    pub fn set_interval(&mut self, draft: Draft, interval: Interval) {
        self.interval.resize(self.session.len(), None);
        self.interval[draft.0 as usize] = Some(interval);
    }

    /// Adds an operation to a transaction; `line` is 1-based, 0 for none.
    #[inline]
    pub fn operation(
        &mut self,
        draft: Draft,
        kind: OperationKind,
        key: KeyId,
        value: Value,
        line: u32,
    ) {
        self.continue_run(draft);
        self.kind.push(kind);
        self.key.push(key);
        self.value.push(value);
        self.line.push(line);
    }

    /// Adds a read of a whole list, which makes `key` a list key: from then on writes to it are appends.
    pub fn list_read(&mut self, draft: Draft, key: KeyId, elements: &[Value], line: u32) {
        self.list_read_after(None, draft, key, elements, line);
    }

    /// As `list_read`, for a list that is known to begin with the list `before` of the key, or to be the beginning of it. Returns
    /// it as it is kept.
    pub fn list_read_after(
        &mut self,
        before: Option<Prefix>,
        draft: Draft,
        key: KeyId,
        elements: &[Value],
        line: u32,
    ) -> Prefix {
        self.list_key(key);
        let kept = match before {
            Some(before) => self.lists.keep_after(key.0, before, elements),
            None => self.lists.keep(key.0, elements),
        };
        self.list_reads.push((self.kind.len() as u32, kept));
        self.operation(
            draft,
            OperationKind::Read,
            key,
            elements.last().copied().unwrap_or(Value::INITIAL),
            line,
        );
        kept
    }

    /// Declares that a key holds lists, whether or not any is read.
    pub fn list_key(&mut self, key: KeyId) {
        self.is_list
            .resize(self.is_list.len().max(key.index() + 1), false);
        self.is_list[key.index()] = true;
    }

    /// Adds a read of which only a value is known that was not there (a failed compare-and-set).
    pub fn read_of_other(&mut self, draft: Draft, key: KeyId, not: Value, line: u32) {
        self.differs.push((self.kind.len() as u32, not));
        self.operation(draft, OperationKind::Read, key, Value::UNRECORDED, line);
    }

    /// Declares that keys are rows of tables: they are absent at first, whatever else reads as initial. A write of
    /// [`Value::ABSENT`] deletes one.
    pub fn rows(&mut self) {
        self.has_rows = true;
    }

    /// Adds a scan that listed these rows, in any order, with their values or [`Value::LISTED`].
    pub fn scan(&mut self, draft: Draft, asked: Asked, rows: &[(KeyId, Value)], line: u32) {
        self.rows();
        self.scans.push(ScanDraft {
            at: self.kind.len() as u32,
            n_listed: rows.len() as u32,
            asked,
            line,
        });
        // In its place until all rows are known.
        self.operation(
            draft,
            OperationKind::Read,
            KeyId(0),
            Value::UNRECORDED,
            line,
        );
        for &(key, value) in rows {
            self.operation(draft, OperationKind::Read, key, value, line);
        }
    }

    /// Declares that the operation added last failed although its transaction may have committed: [`Rules`] decide what
    /// that means.
    pub fn fail_last_operation(&mut self) {
        self.failed
            .extend(self.kind.len().checked_sub(1).map(|last| last as u32));
    }

    /// Declares that a transaction set up the initial state: its writes are the initial versions of their keys, its
    /// appends the beginning of every list. Its reads do not matter; one that aborted sets nothing up.
    pub fn set_up(&mut self, draft: Draft) {
        self.set_up.push(draft);
    }

    /// Adds many operations to one transaction at once.
    pub fn operations(&mut self, draft: Draft, run: OperationRun<'_>) {
        if run.kinds.is_empty() {
            return;
        }
        self.continue_run(draft);
        self.kind.extend_from_slice(run.kinds);
        self.key
            .extend(run.keys.iter().map(|&key| run.key_ids[key as usize]));
        self.value.extend_from_slice(run.values);
        self.line.extend(
            run.lines
                .iter()
                .map(|&line| line.saturating_add(run.lines_before)),
        );
    }

    #[inline]
    fn continue_run(&mut self, draft: Draft) {
        if self.runs.last().is_none_or(|&(last, _)| last != draft) {
            // `finish` refuses histories whose places do not fit in 32 bits.
            self.runs.push((draft, self.kind.len() as u32));
        }
    }

    /// Bytes that [`finish`](Self::finish) takes beside what is there. O(transactions).
    pub fn finish_needs(&self) -> usize {
        let (n, is_in_order) = (
            self.session.len(),
            self.session.is_sorted() && self.runs.is_sorted(),
        );
        // The order of the transactions and their beginnings; else also where each goes, and two arrays at a time.
        n * 8
            + if is_in_order {
                0
            } else {
                n * 8 + self.runs.len() * 24 + self.kind.len() * 12
            }
    }

    /// Sorts everything into place. O(operations + transactions).
    pub fn finish(mut self) -> Result<History, BuildError> {
        let limit = u32::MAX as usize - 2;
        for (n, what) in [
            (self.kind.len(), "operations"),
            (self.session.len(), "transactions"),
            (self.keys.len(), "keys"),
            (self.sessions.len(), "sessions"),
            (self.values.len(), "distinct values"),
        ] {
            if n > limit {
                return Err(BuildError::TooMany { what });
            }
        }
        self.is_list.resize(
            if self.is_list.is_empty() {
                0
            } else {
                self.keys.len()
            },
            false,
        );
        if !self.origin.parts.is_empty() {
            self.part_of_session.resize(self.sessions.len(), 0);
        }
        let (session_begin, by_session) =
            counting_sort(self.session.iter().map(|s| s.0), self.sessions.len());
        let (operation_begin, moves) = self.sort_operations(&by_session);
        let transaction_names = self.transaction_names(&by_session);
        let intervals = (!self.interval.is_empty()).then(|| {
            self.interval.resize(by_session.len(), None);
            in_order(std::mem::take(&mut self.interval), &by_session)
        });
        let moved = |added: u32| OperationId(moves.place_of(added));
        let lists = self.sorted_lists(&moves);
        let mut failed: Vec<OperationId> = self.failed.iter().map(|&o| moved(o)).collect();
        failed.sort_unstable();
        let mut differs: Vec<(OperationId, Value)> = self
            .differs
            .iter()
            .map(|&(o, value)| (moved(o), value))
            .collect();
        differs.sort_unstable();
        let mut scans = std::mem::take(&mut self.scans);
        scans
            .iter_mut()
            .for_each(|scan| scan.at = moves.place_of(scan.at));
        scans.sort_unstable_by_key(|scan| scan.at);
        let declared = |&(_, draft): &(usize, &u32)| self.set_up.contains(&Draft(*draft));
        let set_up: Vec<TransactionId> = if self.set_up.is_empty() {
            Vec::new()
        } else {
            by_session
                .iter()
                .enumerate()
                .filter(declared)
                .map(|(t, _)| TransactionId::new(t))
                .collect()
        };
        let workload = self.workload.take().map(|workload| {
            let drafts = by_session.iter().enumerate();
            let ids: FxHashMap<u32, TransactionId> = drafts
                .map(|(t, &draft)| (draft, TransactionId::new(t)))
                .collect();
            workload.renamed(|draft: Draft| ids.get(&draft.0).copied())
        });
        let mut origin = self.origin;
        let times = || intervals.iter().flatten().flatten();
        let ends = times()
            .map(|times| times.start)
            .min()
            .zip(times().map(|times| times.end).max());
        // Events are counted from the first of the file.
        let ends = ends.filter(|_| !origin.times_are_events);
        origin.zero = ends.map_or(0, |(first, last)| Origin::zero(first, last));
        origin.part_of_session = self.part_of_session;
        let nodes = if self.nodes.is_empty() {
            Names::Implicit(0)
        } else {
            self.nodes.finish()
        };
        let mut history = History {
            origin,
            cluster: Cluster::new(nodes, self.node_of_session, self.incidents),
            session_names: self.sessions.finish(),
            session_begin,
            transaction_names,
            transaction_session: in_order(self.session, &by_session),
            outcomes: in_order(self.outcome, &by_session),
            intervals,
            operation_begin,
            kinds: self.kind,
            keys: self.key,
            values: self.value,
            lines: self.line.into(),
            within: Vec::new(),
            key_names: self.keys.finish(),
            value_names: if self.values.is_empty() {
                Names::Implicit(0)
            } else {
                self.values.finish()
            },
            initial_value: self.initial_value.filter(|_| !self.has_rows),
            set_up_values: Vec::new(),
            set_up: Vec::new(),
            lists,
            appends: Default::default(),
            failed,
            differs,
            scans: Scans {
                has_rows: self.has_rows,
                ..Scans::default()
            },
            suggestions: self.suggestions,
            rules: Rules::default(),
            assumptions: self.assumptions,
            recorded: None,
            workload: workload.map(Box::new),
        };
        history.count_as_initial(&set_up);
        history.with_scans(scans)
    }

    fn sorted_lists(&mut self, moves: &Moves) -> Lists {
        let place = |&(added, list): &(u32, Prefix)| (OperationId(moves.place_of(added)), list);
        let mut reads: Vec<(OperationId, Prefix)> = self.list_reads.par_iter().map(place).collect();
        reads.par_sort_unstable_by_key(|(read, _)| *read);
        Lists::of_stems(self.is_list.clone(), reads, std::mem::take(&mut self.lists))
    }

    /// Sorts the operations by `by_session` (new transaction → draft); returns where each begins.
    fn sort_operations(&mut self, by_session: &[u32]) -> (Vec<u32>, Moves) {
        // No table if all stay where they are.
        let mut new_of_draft = Vec::new();
        if !by_session.is_sorted() {
            new_of_draft.resize(by_session.len(), 0);
            for (new, &draft) in by_session.iter().enumerate() {
                new_of_draft[draft as usize] = new as u32;
            }
        }
        let new_of = |draft: Draft| {
            new_of_draft
                .get(draft.0 as usize)
                .copied()
                .unwrap_or(draft.0) as usize
        };
        let runs = std::mem::take(&mut self.runs);
        let end_of = |run: usize| {
            runs.get(run + 1)
                .map_or(self.kind.len(), |&(_, begin)| begin as usize)
        };
        let mut begin = vec![0u32; by_session.len() + 1];
        for (run, &(draft, run_begin)) in runs.iter().enumerate() {
            begin[new_of(draft) + 1] += (end_of(run) - run_begin as usize) as u32;
        }
        for t in 0..by_session.len() {
            begin[t + 1] += begin[t];
        }
        let mut moves = Moves::default();
        if !runs.is_sorted_by_key(|&(draft, _)| new_of(draft)) {
            let mut next = begin.clone();
            moves.0.reserve(runs.len());
            for (run, &(draft, run_begin)) in runs.iter().enumerate() {
                let place = &mut next[new_of(draft)];
                let from = run_begin as usize..end_of(run);
                let to = *place as usize;
                *place += from.len() as u32;
                moves.0.push((from, to));
            }
            let (kind, key) = (&mut self.kind, &mut self.key);
            let (value, line) = (&mut self.value, &mut self.line);
            rayon::join(
                || {
                    rearrange(kind, OperationKind::Read, &moves);
                    rearrange(key, KeyId(0), &moves);
                },
                || {
                    rearrange(value, Value::INITIAL, &moves);
                    rearrange(line, 0, &moves);
                },
            );
        }
        (begin, moves)
    }

    /// Names of the transactions in their final order: numbers if none has a name, strings if any has.
    fn transaction_names(&mut self, by_session: &[u32]) -> Names {
        if self.name.is_empty() && self.number.is_empty() {
            return Names::Implicit(by_session.len());
        }
        self.number.resize(by_session.len(), UNNUMBERED);
        if self.name.is_empty() {
            return Names::Numbers(in_order(std::mem::take(&mut self.number), by_session));
        }
        self.name.resize(by_session.len(), None);
        let mut previous = None;
        let mut position = 0;
        let mut names = Vec::with_capacity(by_session.len());
        for &draft in by_session {
            let session = self.session[draft as usize];
            position = if previous == Some(session) {
                position + 1
            } else {
                0
            };
            previous = Some(session);
            names.push(
                match (&self.name[draft as usize], self.number[draft as usize]) {
                    (Some(name), _) => name.clone(),
                    (None, UNNUMBERED) => {
                        positional_id(&self.sessions.name(session.index()), position).into()
                    }
                    (None, number) => format!("T{number}").into(),
                },
            );
        }
        Names::Strings(names)
    }
}

/// Consecutive operations of one transaction, for [`Builder::operations`]. The slices of operations have equal length.
#[derive(Clone, Copy, Debug)]
pub struct OperationRun<'a> {
    /// Reads and writes.
    pub kinds: &'a [OperationKind],
    /// Keys, as places in `key_ids`.
    pub keys: &'a [u32],
    /// Values.
    pub values: &'a [Value],
    /// Lines, to which `lines_before` is added.
    pub lines: &'a [u32],
    /// The keys that the numbers in `keys` represent.
    pub key_ids: &'a [KeyId],
    /// Added to each line.
    pub lines_before: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{OperationId, TransactionId};

    #[test]
    fn interleaved_operations_are_sorted_by_session_and_transaction() {
        let mut b = Builder::new(Origin::default());
        let x = b.key_number(7);
        let (s1, s0) = (b.session_number(1), b.session_number(0));
        let t = b.transaction(s0, Outcome::Committed);
        let u = b.transaction(s1, Outcome::Aborted);
        b.number_transaction(t, 40);
        b.number_transaction(u, 41);
        b.operation(t, OperationKind::Write, x, Value(1), 1);
        b.operation(u, OperationKind::Write, x, Value(2), 2);
        b.operation(t, OperationKind::Read, x, Value(1), 3);
        let h = b.finish().unwrap();
        assert_eq!(
            (
                h.n_sessions(),
                h.n_transactions(),
                h.n_operations(),
                h.n_keys()
            ),
            (2, 2, 3, 1)
        );
        assert_eq!(h.transaction_name(TransactionId(0)), "T41");
        assert_eq!(h.outcome(TransactionId(0)), Outcome::Aborted);
        assert_eq!(
            h.operations_of(TransactionId(1)).collect::<Vec<_>>(),
            [OperationId(1), OperationId(2)]
        );
        assert_eq!(h.line_of(OperationId(2)), 3);
        assert_eq!(h.transaction_of(OperationId(0)), TransactionId(0));
        assert_eq!(h.transaction_of(OperationId(2)), TransactionId(1));
        assert_eq!(h.operation_text(OperationId(2)), "r(7) = 1");
    }
}
