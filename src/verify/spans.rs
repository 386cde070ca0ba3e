//! The meaning of edges at a level: the events they relate, and which paths of them are legal.

use super::argument::Argument;
use super::guarantee::Guarantee;
use super::initial::Initial;
use super::levels::{self, Strength};
use crate::history::History;
use crate::report::{AxiomWord, EdgeEntry, ReasonEntry};

impl Strength {
    /// The strength of a level; none at CI, which has no order.
    pub(super) fn of(history: &History, initial: &Initial, level: &str) -> Result<Option<Strength>, String> {
        let row = levels::row(level).ok_or_else(|| format!("unknown level {level}"))?;
        // A linearizable history of lightweight transactions is strictly serializable.
        if row.is_lightweight {
            initial.is_lightweight(history)?;
        }
        Ok(row.strength)
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
    pub(super) fn spans(&self, strength: Strength, in_real_time: bool) -> Vec<Result<Span, String>> {
        let mut spans: Vec<Result<Span, String>> = Vec::with_capacity(self.violation.edges.len());
        for edge in &self.violation.edges {
            let span = match edge.kind == "RT" && !in_real_time {
                true => Err("real time does not count at this level".to_owned()),
                false => self.span(edge, strength, &spans),
            };
            spans.push(span);
        }
        spans
    }

    fn span(&self, edge: &EdgeEntry, strength: Strength, before: &[Result<Span, String>]) -> Result<Span, String> {
        let needs = |least: Strength| match strength >= least {
            true => Ok(()),
            false => Err(format!("{} edges of this reason do not hold at this level", edge.kind)),
        };
        // Two writers of a key: at SI the second starts after the first has committed.
        let version_order = if strength == Strength::Prefix { COMMIT_TO_COMMIT } else { COMMIT_TO_START };
        match &edge.reason {
            ReasonEntry::SessionOrder | ReasonEntry::Reads | ReasonEntry::ReadModifyWrite { .. } => Ok(COMMIT_TO_START),
            ReasonEntry::Listed { .. } | ReasonEntry::Assumed => Ok(version_order),
            ReasonEntry::Path { through } => {
                if edge.kind == "CO" && !self.is_causal(through) {
                    return Err("a causal path has other edges than SO and WR".to_owned());
                }
                self.compose(through, strength, before)
            }
            ReasonEntry::Visible { axiom, read, reader, seen } => {
                match axiom {
                    AxiomWord::ReadCommitted => {
                        needs(Strength::ReadCommitted)?;
                        self.seen_before(*reader, *read, seen)?;
                    }
                    AxiomWord::ReadAtomic => {
                        needs(Strength::ReadAtomic)?;
                        if seen.len() != 1 || !self.is_causal(seen) {
                            return Err("the reader does not see it in one step".to_owned());
                        }
                    }
                    AxiomWord::Causal => {
                        needs(Strength::Causal)?;
                        if !self.is_causal(seen) {
                            return Err("a causal path has other edges than SO and WR".to_owned());
                        }
                    }
                    AxiomWord::CommitOrder => needs(Strength::Prefix)?,
                    AxiomWord::ReadYourWrites
                    | AxiomWord::MonotonicReads
                    | AxiomWord::MonotonicWrites
                    | AxiomWord::WritesFollowReads
                    | AxiomWord::Pram => self.is_guaranteed(*axiom, seen, strength)?,
                }
                let span = self.compose(seen, strength, before)?;
                misses_at_most(0, span, strength)?;
                match strength.has_two_events() && (span.0, span.1) != (Event::Commit, Event::Start) {
                    true => Err("the path does not show that the one committed before the other started".to_owned()),
                    false => Ok(version_order),
                }
            }
            ReasonEntry::Overwrites { order, .. } => {
                needs(Strength::Prefix)?;
                if !order.is_empty() {
                    let span = self.compose(order, strength, before)?;
                    misses_at_most(0, span, strength)?;
                    if strength.has_two_events() && span.0 == Event::Start {
                        return Err("the path does not show that the one committed before the other".to_owned());
                    }
                }
                Ok(START_TO_COMMIT)
            }
            ReasonEntry::Conflict { order } => {
                needs(Strength::Parallel)?;
                // At PSI the second cannot be the older one: with the version missed on the path it would see what it missed.
                misses_at_most(1, self.compose(order, strength, before)?, strength)?;
                Ok(COMMIT_TO_START)
            }
        }
    }

    /// RC: the path is one read, and it precedes the other read in the program order of the reader.
    fn seen_before(&self, reader: usize, read: usize, seen: &[usize]) -> Result<(), String> {
        let [wr] = *seen else { return Err("the reader does not read from it directly".to_owned()) };
        let edge = self.edge(wr)?;
        let earlier = matches!(edge.reason, ReasonEntry::Reads) && edge.to_operation.is_some_and(|first| first < read);
        match earlier && self.transaction(edge.to)? == self.transaction(reader)? {
            true => Ok(()),
            false => Err("the reader did not read from it before".to_owned()),
        }
    }

    /// Whether a path is one of the guarantee that an axiom speaks of, and the level keeps it.
    fn is_guaranteed(&self, axiom: AxiomWord, path: &[usize], strength: Strength) -> Result<(), String> {
        let guarantee = Guarantee::of(axiom).ok_or("the axiom is no guarantee of sessions")?;
        let mut steps = String::new();
        for &e in path {
            steps.push(match (&self.edge(e)?.reason, self.edge(e)?.kind.as_str()) {
                (ReasonEntry::SessionOrder, "SO") => 'S',
                (ReasonEntry::Reads, "WR") => 'W',
                _ => return Err("a path of sessions and reads has other edges".to_owned()),
            });
        }
        match (guarantee.is_path(&steps), strength.keeps(guarantee)) {
            (true, true) => Ok(()),
            (false, _) => Err("the path is not one that the guarantee counts".to_owned()),
            (true, false) => Err("this level does not keep the guarantee of an edge".to_owned()),
        }
    }

    /// Whether a path has SO, WR and CO edges only.
    fn is_causal(&self, path: &[usize]) -> bool {
        path.iter()
            .all(|&e| self.violation.edges.get(e).is_some_and(|edge| matches!(edge.kind.as_str(), "SO" | "WR" | "CO")))
    }

    /// The events that a path relates, if it is legal.
    fn compose(&self, path: &[usize], strength: Strength, spans: &[Result<Span, String>]) -> Result<Span, String> {
        let mut whole: Option<Span> = None;
        for &e in path {
            let (leaves, enters, misses) = match spans.get(e) {
                Some(span) => span.clone().map_err(|message| format!("edge {e}: {message}"))?,
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
        legal(span.1, span.0, strength)
    }
}

/// At PSI each cycle and each premise has so many missed versions at most; elsewhere their number does not matter.
fn misses_at_most(most: usize, span: Span, strength: Strength) -> Result<(), String> {
    match strength == Strength::Parallel && span.2 > most {
        true => Err("it misses more versions than this level allows for".to_owned()),
        false => Ok(()),
    }
}

/// A path may not enter a transaction at its commit and leave it at its start.
fn legal(enters: Event, leaves: Event, strength: Strength) -> Result<(), String> {
    match strength.has_two_events() && enters == Event::Commit && leaves == Event::Start {
        true => Err("a path enters a transaction at its commit and leaves it at its start".to_owned()),
        false => Ok(()),
    }
}
