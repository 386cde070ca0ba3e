//! What was observed, stated before any conclusion.

use super::Teller;
use crate::counterexample::claim::{Claim, claim, earlier_writes, may_count, tells_all, writes_of};
use crate::counterexample::involved_operations;
use crate::counterexample::late_writers;
use crate::counterexample::rests_on::closure;
use crate::counterexample::sentence::{Mention, Sentence};
use crate::counterexample::statement::{Statement, Step, StepRole};
use isoscope_check::checkers::{Pattern, Proof};
use isoscope_model::history::{
    OperationId, OperationKind, Outcome, SessionId, TransactionId, Unit, Value,
};
use isoscope_model::relations::{Edge, EdgeIndex, Reason, Relation};
use std::collections::BTreeSet;

/// Up to so many sessions have a column each in pictures.
const MOST_LANES: usize = 4;

impl Teller<'_> {
    pub(super) fn tell_observed(&mut self) {
        let (cycles, open) = self.survey();
        let needed = self.needed(&cycles);
        let is_plain = |edge: &Edge| match edge.because {
            Reason::SessionOrder => !edge.from.is_initial(),
            Reason::Reads => edge
                .to_operation
                .is_none_or(|read| !open.contains(&read) && !self.has_several_writers(read)),
            _ => false,
        };
        let mut lines: Vec<EdgeIndex> = needed
            .iter()
            .copied()
            .filter(|&e| self.edge(e).is_some_and(is_plain))
            .collect();
        self.put_in_order(&mut lines, &cycles);
        if cycles.is_empty() {
            self.tell_operations();
        }
        let late = self.late();
        for &e in &lines {
            if let Some(group) = late.iter().find(|group| group.contains(&e)) {
                if self.stated_in[e].is_none() {
                    let says = Statement::BeganAfter {
                        edges: group.clone(),
                    };
                    self.step(
                        StepRole::Observed,
                        says,
                        (group.clone(), Vec::new()),
                        Vec::new(),
                    );
                }
                continue;
            }
            let same = self.of_same_session(e, &lines);
            match same.len() {
                0 => self.tell_edge(e),
                1 => {
                    self.tell_edge(e);
                    let ran = self
                        .edge(e)
                        .map_or(Vec::new(), |edge| vec![edge.from, edge.to]);
                    self.place(&ran);
                }
                _ if same[0] == e => self.tell_session(same),
                _ => {}
            }
        }
        self.tell_lists(&needed);
        self.tell_open_reads(&needed);
        self.tell_commits(&open);
    }

    /// The edges of real time that rule out possible writers of a read, for each such read.
    fn late(&self) -> Vec<Vec<EdgeIndex>> {
        let edges = &self.violation.edges;
        let of_read = |part: &Proof| match part {
            Proof::Cases { question, cases } => {
                let (_, late) = late_writers::divided(edges, *question, cases);
                late.into_iter().map(|(_, late)| late.clock).collect()
            }
            _ => Vec::new(),
        };
        let groups = self.violation.proof.parts().into_iter().map(of_read);
        groups.filter(|group| !group.is_empty()).collect()
    }

    /// Whether edges give a read several writers: each of them belongs to a case.
    fn has_several_writers(&self, read: OperationId) -> bool {
        let tells = |edge: &&Edge| edge.because == Reason::Reads && edge.to_operation == Some(read);
        let mut writers = self
            .violation
            .edges
            .iter()
            .filter(tells)
            .map(|edge| edge.from);
        let first = writers.next();
        writers.any(|writer| Some(writer) != first)
    }

    /// Lists that were read and show an order, where no edge states the read.
    fn tell_lists(&mut self, needed: &BTreeSet<EdgeIndex>) {
        let edges = needed.iter().filter_map(|&e| self.edge(e));
        let lists: Vec<OperationId> = edges
            .filter_map(|edge| match edge.because {
                Reason::Listed { read, .. } => Some(read),
                _ => None,
            })
            .collect();
        for read in lists {
            if self.line_of_read(read).is_none() {
                self.say(StepRole::Observed, Statement::Read { read }, vec![read]);
            }
        }
    }

    /// What was read, without the writer, where each case has another one.
    fn tell_open_reads(&mut self, needed: &BTreeSet<EdgeIndex>) {
        let edges = needed
            .iter()
            .filter_map(|&e| self.edge(e))
            .filter(|edge| edge.because == Reason::Reads);
        let reads: Vec<OperationId> = edges.filter_map(|edge| edge.to_operation).collect();
        for read in reads {
            if self.has_several_writers(read) && self.line_of_read(read).is_none() {
                self.say(StepRole::Observed, Statement::Read { read }, vec![read]);
            }
        }
    }

    /// The place of the line that states what a read returned.
    pub(super) fn line_of_read(&self, read: OperationId) -> Option<usize> {
        let tells =
            |step: &Step| step.role == StepRole::Observed && step.operations.last() == Some(&read);
        self.steps.iter().position(tells)
    }

    /// The cycles that are shown (only the first for a log of clauses and for combinations), and the reads with an open
    /// source: their edges belong to cases.
    fn survey(&self) -> (Vec<EdgeIndex>, Vec<OperationId>) {
        let (mut cycles, mut reads) = (Vec::new(), Vec::new());
        let mut open = vec![&self.violation.proof];
        while let Some(proof) = open.pop() {
            reads.extend(proof.open_reads());
            match proof {
                Proof::Reads(_) => {}
                Proof::Cycle(cycle) => cycles.extend(cycle),
                Proof::Cases { .. } => open.extend(proof.inner()),
                Proof::Log { excluded, .. } => {
                    open.extend(excluded.first().map(|(_, proof)| proof))
                }
            }
        }
        (cycles, reads)
    }

    /// These edges, what they rest on, directly or through others, and the reads that make one of them matter.
    pub(super) fn needed(&self, edges: &[EdgeIndex]) -> BTreeSet<EdgeIndex> {
        closure(&self.violation.edges, edges.iter().copied(), true)
    }

    /// The edges among these about the session of this one, if it is one of session order.
    fn of_same_session(&self, e: EdgeIndex, lines: &[EdgeIndex]) -> Vec<EdgeIndex> {
        let session = |e: EdgeIndex| {
            let edge = self
                .edge(e)
                .filter(|edge| edge.relation == Relation::SessionOrder)?;
            Some(self.words.history.session_of(edge.from))
        };
        let Some(wanted) = session(e) else {
            return Vec::new();
        };
        lines
            .iter()
            .copied()
            .filter(|&other| session(other) == Some(wanted))
            .collect()
    }

    /// "T1, T4 and T9 ran in this order in session 3".
    fn tell_session(&mut self, edges: Vec<EdgeIndex>) {
        let mut ran: Vec<TransactionId> = edges
            .iter()
            .filter_map(|&e| self.edge(e))
            .flat_map(|edge| [edge.from, edge.to])
            .collect();
        ran.sort_unstable();
        ran.dedup();
        let says = Statement::Session {
            transactions: ran.clone(),
        };
        self.step(StepRole::Observed, says, (edges, Vec::new()), Vec::new());
        self.place(&ran);
    }

    /// Adds to the last line where these transactions are in the file, each by its first operation.
    fn place(&mut self, transactions: &[TransactionId]) {
        let history = self.words.history;
        let spot = |&t: &TransactionId| {
            let first = history
                .operations_of(t)
                .next()
                .filter(|_| !t.is_initial())?;
            // A place within a transaction says nothing of several of them.
            let spot = history
                .spot_of(first)
                .filter(|spot| spot.unit == Unit::Line)?;
            let place = spot.text(history.origin());
            Some(Sentence::name(place, Mention::Place(first)))
        };
        let mut places: Vec<Sentence> = transactions.iter().filter_map(spot).collect();
        places.dedup();
        if let Some(step) = self.steps.last_mut() {
            step.found_at = Sentence::join(places, ", ");
        }
    }

    /// Puts what was observed into the order in which it is read in a picture: of few sessions session by session, as they
    /// have a column each, else along the cycle; of one transaction in its order.
    fn put_in_order(&self, lines: &mut [EdgeIndex], cycles: &[EdgeIndex]) {
        let history = self.words.history;
        let of_session = |t: &TransactionId| history.session_of(*t);
        let named = self
            .violation
            .transactions
            .iter()
            .filter(|t| !t.is_initial());
        let sessions: BTreeSet<SessionId> = named.map(of_session).collect();
        let place = |t: TransactionId| match sessions.len() {
            ..=MOST_LANES => t.index(),
            _ => {
                let mut along = cycles.iter().filter_map(|&e| self.edge(e));
                let last = self.violation.edges.len() + t.index();
                along.position(|edge| edge.from == t).unwrap_or(last)
            }
        };
        lines.sort_by_key(|&e| {
            let ends = self.edge(e).map(|edge| (place(edge.to), edge.to_operation));
            (ends, e)
        });
    }

    /// Where operations contradict by themselves: the writes and reads, in order of time where that is all there is.
    fn tell_operations(&mut self) {
        let history = self.words.history;
        let is_read = |o: OperationId| history.operation(o).kind == OperationKind::Read;
        let in_time = self.violation.id.pattern == Pattern::NoLinearOrder;
        let mut involved =
            if let Claim::OverwrittenBefore { read, by } = claim(history, self.violation) {
                let mut involved = earlier_writes(history, read);
                involved.extend([by, read]);
                involved.sort_unstable();
                involved.dedup();
                involved
            } else if tells_all(history, self.violation) {
                (0..history.n_operations())
                    .map(OperationId::new)
                    .filter(|&o| may_count(history, o))
                    .collect()
            } else {
                involved_operations(self.violation)
            };
        let began = |o: OperationId| {
            history
                .interval(history.transaction_of(o))
                .map(|ran| ran.start)
        };
        let of_one = involved
            .windows(2)
            .all(|two| history.transaction_of(two[0]) == history.transaction_of(two[1]));
        match in_time {
            true => involved.sort_by_key(|&o| (began(o), o)),
            // The order of operations within a transaction is what such a violation is about.
            false => involved.sort_by_key(|&o| (!of_one && is_read(o), o)),
        }
        // The line of such a read says which transaction it read from.
        let names_writes = matches!(
            self.violation.id.pattern,
            Pattern::IncompatibleOrder | Pattern::NonRepeatableRead
        );
        let is_read_from = |edge: &Edge, write: OperationId| {
            edge.because == Reason::Reads && edge.from_operation == Some(write)
        };
        if names_writes {
            involved.retain(|&o| {
                !self
                    .violation
                    .edges
                    .iter()
                    .any(|edge| is_read_from(edge, o))
            });
        }
        let mut last: Option<OperationId> = None;
        for o in involved {
            let t = history.transaction_of(o);
            let before = last
                .replace(o)
                .filter(|&before| before < o && history.transaction_of(before) == t);
            let stating = self
                .violation
                .edges
                .iter()
                .position(|edge| edge.to_operation == Some(o));
            let stating = stating.and_then(|e| Some((e, self.edge(e)?)));
            let says = Statement::Operation {
                operation: o,
                read_from: stating
                    .filter(|(_, edge)| edge.because == Reason::Reads)
                    .map(|(e, _)| e),
                names_writer: names_writes,
                follows: !in_time && before.is_some(),
                in_time,
            };
            let clock = |e: &EdgeIndex| {
                let edge = &self.violation.edges[*e];
                in_time && edge.relation == Relation::RealTime && edge.to == t
            };
            let clock = (0..self.violation.edges.len()).filter(clock);
            let edges: Vec<EdgeIndex> = stating.map(|(e, _)| e).into_iter().chain(clock).collect();
            let write = stating
                .and_then(|(_, edge)| edge.from_operation)
                .filter(|_| names_writes);
            let operations = write.into_iter().chain([o]).collect();
            self.step(StepRole::Observed, says, (edges, Vec::new()), operations);
        }
        self.tell_absent();
    }

    /// "No other transaction in the file that may have committed, and began before the last of these had ended, wrote x = 1".
    fn tell_no_other_writes(&mut self) {
        let history = self.words.history;
        let is_known = |o: &OperationId| {
            let operation = history.operation(*o);
            operation.kind == OperationKind::Read
                && may_count(history, *o)
                && !matches!(operation.value, Value::UNRECORDED | Value::INITIAL)
                && history.differs_from(*o).is_none()
        };
        let reads: Vec<OperationId> = (0..history.n_operations())
            .map(OperationId::new)
            .filter(is_known)
            .collect();
        if !reads.is_empty() {
            self.say(
                StepRole::Observed,
                Statement::NoOtherWriters { reads },
                Vec::new(),
            );
        }
    }

    /// What was looked for in the whole file and not found.
    fn tell_absent(&mut self) {
        if tells_all(self.words.history, self.violation) {
            return self.tell_no_other_writes();
        }
        match claim(self.words.history, self.violation) {
            Claim::WrongValue { pattern, reads }
                if self.speaker().absent(pattern, &reads).is_some() =>
            {
                self.say(
                    StepRole::Observed,
                    Statement::Absent { pattern, reads },
                    Vec::new(),
                );
            }
            Claim::OverwrittenBefore { read, .. } => self.tell_later_writes(read),
            _ => {}
        }
    }

    /// States that all writes of a value that are not drawn come too late for a read of it.
    fn tell_later_writes(&mut self, read: OperationId) {
        let (history, reader) = (self.words.history, self.words.history.transaction_of(read));
        let returned = history.operation(read);
        let other = |w: &OperationId| {
            !self.violation.operations.contains(w) && history.transaction_of(*w) != reader
        };
        let others: Vec<OperationId> = writes_of(history, returned.key, returned.value)
            .filter(other)
            .collect();
        let Some(ran) = history.interval(reader).filter(|_| !others.is_empty()) else {
            return;
        };
        let is_later = |w: &OperationId| {
            history
                .interval(history.transaction_of(*w))
                .is_some_and(|other| other.start > ran.end)
        };
        if !others.iter().all(is_later) {
            return;
        }
        self.say(
            StepRole::Observed,
            Statement::LaterWrites { read },
            Vec::new(),
        );
    }

    /// "T3 read x = 1 from T2, so T2, whose outcome is unknown, committed".
    fn tell_commits(&mut self, open: &[OperationId]) {
        let history = self.words.history;
        let unknown = |t: TransactionId| !t.is_initial() && history.outcome(t) == Outcome::Unknown;
        let mut writers: Vec<TransactionId> = self
            .violation
            .edges
            .iter()
            .map(|e| e.from)
            .filter(|&t| unknown(t))
            .collect();
        writers.sort_unstable();
        writers.dedup();
        for t in writers {
            // The writer of such a read belongs to the cases.
            let is_certain = |e: &Edge| e.to_operation.is_none_or(|read| !open.contains(&read));
            let shows = |e: &Edge| {
                e.because == Reason::Reads && e.from == t && !unknown(e.to) && is_certain(e)
            };
            let Some(index) = self.violation.edges.iter().position(shows) else {
                continue;
            };
            let Some(edge) = self.edge(index) else {
                continue;
            };
            let operations = edge.to_operation.into_iter().collect();
            self.committed.push((t, self.steps.len()));
            self.step(
                StepRole::Concluded,
                Statement::Committed { edge: index },
                (Vec::new(), vec![index]),
                operations,
            );
        }
    }
}
