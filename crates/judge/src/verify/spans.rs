//! The meaning of edges at a level: the events they relate, and which paths of them are legal.

use super::argument::Argument;
use super::counted::Counted;
use super::guarantee::Guarantee;
use super::initial::Initial;
use super::levels::{self, Strength, Time};
use super::operations::operation;
use super::rows;
use crate::report::{AxiomWord, EdgeEntry, ReasonEntry};
use isoscope_model::history::{History, KeyId, OperationKind, TransactionId};
use isoscope_model::levels::Level;
use isoscope_model::relations::Relation;
use rustc_hash::FxHashSet;

impl Strength {
    /// The strength of a level; none at CI, which has no order.
    pub(super) fn of(
        history: &History,
        initial: &Initial,
        level: Level,
    ) -> Result<Option<Strength>, String> {
        let row = levels::row(level);
        // A linearizable history of lightweight transactions is strictly serializable.
        if row.is_lightweight {
            initial.is_lightweight(history)?;
        }
        let says_of_order = !matches!(row.strength, Strength::Reads | Strength::Versions);
        Ok(Some(row.strength).filter(|_| says_of_order))
    }
}

/// An end of an edge: the start or the commit of its transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Start,
    Commit,
}

/// The events an edge or a path relates: the one it leaves and the one it enters; and how many versions are missed on it.
pub(super) type Span = (Event, Event, usize);

const COMMIT_TO_START: Span = (Event::Commit, Event::Start, 0);
const COMMIT_TO_COMMIT: Span = (Event::Commit, Event::Commit, 0);
const START_TO_COMMIT: Span = (Event::Start, Event::Commit, 1);

impl Argument<'_> {
    /// By edge: the events it relates at a level, or why it does not hold there. Premises come before what rests on
    /// them, so one pass in order suffices.
    pub(super) fn spans(
        &self,
        strength: Strength,
        time: Option<Time>,
    ) -> Vec<Result<Span, String>> {
        let mut spans: Vec<Result<Span, String>> = Vec::with_capacity(self.violation.edges.len());
        for edge in &self.violation.edges {
            let span = if edge.kind == Relation::RealTime {
                self.span_in_time(edge, time)
            } else {
                self.span(edge, strength, &spans)
            };
            spans.push(span);
        }
        spans
    }

    fn span_in_time(&self, edge: &EdgeEntry, time: Option<Time>) -> Result<Span, String> {
        match time {
            None => Err("real time does not count at this level".to_owned()),
            Some(Time::Whole) => Ok(COMMIT_TO_START),
            Some(Time::OfCommits) => Ok(COMMIT_TO_COMMIT),
            Some(Time::ByKey) => {
                let keys = |t| self.history.keys_used_by(t).collect::<FxHashSet<KeyId>>();
                if keys(self.transaction(edge.from)?).is_disjoint(&keys(self.transaction(edge.to)?))
                {
                    Err(
                        "real time does not count between transactions without a common key"
                            .to_owned(),
                    )
                } else {
                    Ok(COMMIT_TO_START)
                }
            }
        }
    }

    fn span(
        &self,
        edge: &EdgeEntry,
        strength: Strength,
        before: &[Result<Span, String>],
    ) -> Result<Span, String> {
        let needs = |holds: bool| {
            require!(
                holds,
                "{} edges of this reason do not hold at this level",
                edge.kind
            )
        };
        // Two writers of a key: at SI the second starts after the first has committed.
        let version_order = if strength.orders_commits_of_writers() {
            COMMIT_TO_COMMIT
        } else {
            COMMIT_TO_START
        };
        match &edge.reason {
            ReasonEntry::SessionOrder
            | ReasonEntry::Reads
            | ReasonEntry::ReadModifyWrite { .. } => Ok(COMMIT_TO_START),
            ReasonEntry::Listed { .. } | ReasonEntry::Assumed => Ok(version_order),
            ReasonEntry::Path { through } => {
                if edge.kind == Relation::CausalOrder && !self.is_causal(through) {
                    return Err("a causal path has other edges than SO and WR".to_owned());
                }
                self.compose(through, strength, before)
            }
            ReasonEntry::Visible {
                axiom,
                read,
                reader,
                seen,
            } => {
                match axiom {
                    AxiomWord::ReadCommitted => {
                        needs(strength.is_read_committed())?;
                        self.seen_before(*reader, *read, seen)?;
                    }
                    AxiomWord::ReadAtomic => {
                        needs(strength.is_read_atomic())?;
                        if !self.is_one_edge(seen) || !self.is_causal(seen) {
                            return Err("the reader does not see it in one step".to_owned());
                        }
                    }
                    AxiomWord::Causal => {
                        needs(strength.is_causal())?;
                        if !self.is_causal(seen) {
                            return Err("a causal path has other edges than SO and WR".to_owned());
                        }
                    }
                    AxiomWord::CommitOrder => {
                        needs(strength.orders_versions())?;
                        self.is_lasting(*reader, Some(*read), strength)?;
                        self.counts(strength, (*reader, *read), seen)?;
                    }
                    AxiomWord::ReadYourWrites
                    | AxiomWord::MonotonicReads
                    | AxiomWord::MonotonicWrites
                    | AxiomWord::WritesFollowReads
                    | AxiomWord::Pram => self.is_guaranteed(*axiom, seen, strength)?,
                }
                let span = self.compose(seen, strength, before)?;
                misses_at_most(0, span, strength)?;
                if strength.has_two_events() && (span.0, span.1) != (Event::Commit, Event::Start) {
                    Err(
                        "the path does not show that the one committed before the other started"
                            .to_owned(),
                    )
                } else {
                    Ok(version_order)
                }
            }
            ReasonEntry::Overwrites { order, .. } => {
                self.is_lasting(edge.from, edge.from_operation, strength)?;
                if !order.is_empty() {
                    let span = self.compose(order, strength, before)?;
                    misses_at_most(0, span, strength)?;
                    if strength.has_two_events() && span.0 == Event::Start {
                        return Err(
                            "the path does not show that the one committed before the other"
                                .to_owned(),
                        );
                    }
                }
                let (leaves, enters, missed) = START_TO_COMMIT;
                if strength.counted() == Some(Counted::Serial)
                    && self.writes(self.transaction(edge.from)?)
                {
                    Ok((leaves, enters, 0))
                } else {
                    Ok((leaves, enters, missed))
                }
            }
            ReasonEntry::Conflict { order } => {
                needs(strength.keeps_writers_apart())?;
                // Where one depends on the other, the second cannot be the older one: with the version missed on the path it
                // would see what it missed.
                let span = self.compose(order, strength, before)?;
                misses_at_most(1, span, strength)?;
                if strength.counted().is_some() && span.2 > 0 {
                    self.is_missed_update(edge, order, strength)?;
                }
                Ok(COMMIT_TO_START)
            }
        }
    }

    /// Where only items must be unchanged: whether a read that a transaction made, at this place in it, is of one.
    fn is_lasting(
        &self,
        reader: usize,
        read: Option<usize>,
        strength: Strength,
    ) -> Result<(), String> {
        let is_of_item = |read| self.is_of_item(reader, read);
        require!(
            strength != Strength::SerialItems || read.is_some_and(is_of_item),
            "a row that a scan did not return may have changed at this level"
        )
    }

    /// Whether a transaction writes anything.
    fn writes(&self, t: TransactionId) -> bool {
        !t.is_initial()
            && self
                .history
                .operations_of(t)
                .any(|o| self.history.operation(o).kind == OperationKind::Write)
    }

    /// Whether one read of a transaction, which are given by their places in it, had happened when another one did.
    fn was_by_then(&self, reader: usize, one: usize, other: usize) -> bool {
        let read = |place| operation(self.history, self.transactions, reader, place);
        match (read(one), read(other)) {
            (Ok(one), Ok(other)) => rows::by_then(self.history, one, other),
            _ => false,
        }
    }

    /// Whether a read of a transaction, given by its place in it, returned the content of its key.
    fn is_of_item(&self, reader: usize, read: usize) -> bool {
        operation(self.history, self.transactions, reader, read)
            .is_ok_and(|read| rows::is_of_item(self.history, read))
    }

    /// RC: the path is one read, and it precedes the other read in the program order of the reader.
    fn seen_before(&self, reader: usize, read: usize, seen: &[usize]) -> Result<(), String> {
        let [wr] = *seen else {
            return Err("the reader does not read from it directly".to_owned());
        };
        let edge = self.edge(wr)?;
        let earlier = matches!(edge.reason, ReasonEntry::Reads)
            && edge
                .to_operation
                .is_some_and(|first| self.was_by_then(reader, first, read));
        require!(
            earlier && self.transaction(edge.to)? == self.transaction(reader)?,
            "the reader did not read from it before"
        )
    }

    /// Whether a path is one of the guarantee that an axiom speaks of, and the level keeps it.
    fn is_guaranteed(
        &self,
        axiom: AxiomWord,
        path: &[usize],
        strength: Strength,
    ) -> Result<(), String> {
        let guarantee = Guarantee::of(axiom).ok_or("the axiom is no guarantee of sessions")?;
        let mut steps = String::new();
        for &e in path {
            steps.push(match (&self.edge(e)?.reason, self.edge(e)?.kind) {
                (ReasonEntry::SessionOrder, Relation::SessionOrder) => 'S',
                (ReasonEntry::Reads, Relation::WriteRead) => 'W',
                _ => return Err("a path of sessions and reads has other edges".to_owned()),
            });
        }
        match (guarantee.is_path(&steps), strength.keeps(guarantee)) {
            (true, true) => Ok(()),
            (false, _) => Err("the path is not one that the guarantee counts".to_owned()),
            (true, false) => Err("this level does not keep the guarantee of an edge".to_owned()),
        }
    }

    /// Whether a path has SO, WR, CO and, where real time counts, RT edges only.
    fn is_causal(&self, path: &[usize]) -> bool {
        path.iter().all(|&e| {
            self.violation.edges.get(e).is_some_and(|edge| {
                matches!(
                    edge.kind,
                    Relation::SessionOrder
                        | Relation::RealTime
                        | Relation::WriteRead
                        | Relation::CausalOrder
                )
            })
        })
    }

    /// Whether a path is a single edge that sums up no other path.
    fn is_one_edge(&self, path: &[usize]) -> bool {
        let edge = |e: usize| self.violation.edges.get(e);
        matches!(*path, [e] if edge(e).is_some_and(|edge| !matches!(edge.reason, ReasonEntry::Path { .. })))
    }

    /// The first edge of what an edge sums up, or itself. Premises come before what rests on them, so it ends.
    fn first_edge<'e>(&'e self, mut edge: &'e EdgeEntry) -> Result<&'e EdgeEntry, String> {
        while let ReasonEntry::Path { through } = &edge.reason {
            edge = self.edge(*through.first().ok_or("an empty path")?)?;
        }
        Ok(edge)
    }

    /// The last edge of what an edge sums up, or itself.
    fn last_edge<'e>(&'e self, mut edge: &'e EdgeEntry) -> Result<&'e EdgeEntry, String> {
        while let ReasonEntry::Path { through } = &edge.reason {
            edge = self.edge(*through.last().ok_or("an empty path")?)?;
        }
        Ok(edge)
    }

    /// The events that a path relates, if it is legal.
    fn compose(
        &self,
        path: &[usize],
        strength: Strength,
        spans: &[Result<Span, String>],
    ) -> Result<Span, String> {
        let mut whole: Option<Span> = None;
        for &e in path {
            let (leaves, enters, misses) = match spans.get(e) {
                Some(span) => span
                    .clone()
                    .map_err(|message| format!("edge {e}: {message}"))?,
                None => return Err(format!("there is no edge {e}")),
            };
            whole = Some(match whole {
                None => (leaves, enters, misses),
                Some((first, at, before)) => {
                    legal(at, leaves, strength)?;
                    (first, enters, before + misses)
                }
            });
        }
        for pair in path.windows(2) {
            self.reads_in_order(pair[0], pair[1], strength)?;
        }
        whole.ok_or_else(|| "an empty path".to_owned())
    }

    /// Whether each of these edges ends where the next begins, and the last where the first does.
    pub(super) fn is_closed(&self, cycle: &[usize]) -> Result<(), String> {
        let first = cycle.first().ok_or("an empty cycle")?;
        let start = self.transaction(self.edge(*first)?.from)?;
        self.is_path(cycle, start, start)
    }

    /// Whether these edges close a cycle that is legal all around.
    pub(super) fn is_legal_cycle(
        &self,
        cycle: &[usize],
        spans: &[Result<Span, String>],
        strength: Strength,
    ) -> Result<(), String> {
        self.is_closed(cycle)?;
        let span = self.compose(cycle, strength, spans)?;
        misses_at_most(1, span, strength)?;
        if strength.misses_once().is_some() && span.2 > 0 {
            let missed = cycle.iter().position(|&e| {
                self.edge(e)
                    .is_ok_and(|edge| edge.kind == Relation::AntiDependency)
                    && matches!(spans.get(e), Some(Ok((.., 1..))))
            });
            let missed = missed.ok_or("no edge of the cycle misses a version")?;
            let edge = self.edge(cycle[missed])?;
            let read = (
                edge.from,
                edge.from_operation
                    .ok_or("an edge does not name its read")?,
            );
            let (before, after) = (&cycle[..missed], &cycle[missed + 1..]);
            self.counts(strength, read, &[after, before].concat())?;
        }
        self.reads_in_order(cycle[cycle.len() - 1], cycle[0], strength)?;
        legal(span.1, span.0, strength)
    }

    /// Where each read has a moment of its own: whether the read by which a path enters a transaction is not after the one by
    /// which it leaves.
    fn reads_in_order(
        &self,
        enters: usize,
        leaves: usize,
        strength: Strength,
    ) -> Result<(), String> {
        let (enters, leaves) = (self.edge(enters)?, self.edge(leaves)?);
        let (enters, leaves) = (self.last_edge(enters)?, self.first_edge(leaves)?);
        match (leaves.kind, leaves.from_operation) {
            (Relation::AntiDependency, Some(read)) if strength == Strength::EachRead => {
                self.is_by(read, enters)
            }
            _ => Ok(()),
        }
    }

    /// Whether an edge leads to a transaction before, or by, one of its reads.
    fn is_by(&self, read: usize, edge: &EdgeEntry) -> Result<(), String> {
        let is_by = match (edge.kind, edge.to_operation) {
            (Relation::SessionOrder | Relation::RealTime, _) => true,
            (Relation::WriteRead, Some(then)) => self.was_by_then(edge.to, then, read),
            _ => false,
        };
        require!(
            is_by,
            "a path enters a transaction by a later read than the one by which it leaves"
        )
    }

    /// Where a cycle has one missed version: whether a path to a reader forbids it to miss there, by one of its reads, a version of the
    /// transaction that the path leads from.
    fn counts(
        &self,
        strength: Strength,
        (reader, read): (usize, usize),
        path: &[usize],
    ) -> Result<(), String> {
        let last = path.last().ok_or("an empty path")?;
        let last = self.edge(*last)?;
        let is_one_step = self.is_one_edge(path) && last.kind != Relation::CausalOrder;
        let key_read = || {
            operation(self.history, self.transactions, reader, read)
                .map(|o| self.history.operation(o).key)
        };
        if strength == Strength::EachRead {
            return self.is_by(read, self.last_edge(last)?);
        }
        let is_observed = self.is_causal(path);
        let counts = match strength.misses_once() {
            None | Some(Counted::All | Counted::Serial) => true,
            Some(Counted::Nothing) => false,
            Some(Counted::Past) => is_observed,
            Some(Counted::OneStep) => is_one_step && is_observed,
            Some(Counted::ReadBefore) => self.seen_before(reader, read, path).is_ok(),
            Some(Counted::Direct) => is_one_step,
            Some(Counted::OfUpdates) => {
                is_one_step
                    && self.is_of_item(reader, read)
                    && last.kind == Relation::WriteWrite
                    && self.keys[path[0]] == Some(key_read()?)
            }
            Some(Counted::SoFar) => match (last.kind, last.to_operation) {
                (Relation::SessionOrder | Relation::RealTime, _) => true,
                (Relation::WriteRead, Some(then)) => self.was_by_then(reader, then, read),
                (Relation::WriteWrite, Some(then)) => then < read,
                _ => false,
            },
        };
        require!(
            counts,
            "the reader may miss what it depends on like this at this level"
        )
    }

    /// Whether the first of two writers of a key misses a version of the other one, though it would depend on it if it were
    /// the later one.
    fn is_missed_update(
        &self,
        order: &EdgeEntry,
        path: &[usize],
        strength: Strength,
    ) -> Result<(), String> {
        if matches!(strength.counted(), Some(Counted::All | Counted::Serial)) {
            return Ok(());
        }
        let missed = match *path {
            [missed] if matches!(self.edge(missed)?.reason, ReasonEntry::Overwrites { .. }) => {
                self.edge(missed)?
            }
            _ => {
                return Err("more than one edge leads from the one writer to the other".to_owned());
            }
        };
        let is_too_late = || match (order.from_operation, missed.from_operation) {
            (Some(written), Some(read)) => written > read,
            _ => true,
        };
        let counts = match strength.counted() {
            Some(Counted::OfUpdates) => {
                let read = missed.from_operation;
                let is_of_item = |read| self.is_of_item(missed.from, read);
                missed.key == order.key && read.is_some_and(is_of_item)
            }
            Some(Counted::SoFar) => !is_too_late(),
            _ => true,
        };
        require!(counts, "the writer may miss this version at this level")
    }
}

/// Below PC each cycle and each premise has so many missed versions at most; elsewhere their number does not
/// matter.
fn misses_at_most(most: usize, span: Span, strength: Strength) -> Result<(), String> {
    if strength.misses_once().is_some() && span.2 > most {
        Err("it misses more versions than this level allows for".to_owned())
    } else {
        Ok(())
    }
}

/// A path may not enter a transaction at its commit and leave it at its start.
fn legal(enters: Event, leaves: Event, strength: Strength) -> Result<(), String> {
    if strength.has_two_events() && enters == Event::Commit && leaves == Event::Start {
        Err("a path enters a transaction at its commit and leaves it at its start".to_owned())
    } else {
        Ok(())
    }
}
