//! Violations that show as a cycle of edges, or as cases that all end in cycles or impossible reads.
//!
//! Each edge is first followed back to operations ([`Argument::observed`]), which does not depend on a level; who wrote
//! what a read returned may depend on the case, so such claims are looked at case by case ([`Claim`]). Then, level by
//! level, an edge is given the events it relates: a transaction starts (S) and commits (C), S before C; at SER
//! and at the levels below PC both are one event. Session order and reads say C before S, an anti-dependency S before
//! C. A path is legal when it never enters a transaction at C and leaves it at S; a cycle must be legal all around.

use super::read::{self, operation};
use super::resolution::{Resolution, Source};
use super::setting::Setting;
use crate::history::{History, KeyId, OperationId, OperationKind, Outcome, TransactionId};
use crate::report::{AxiomWord, EdgeEntry, OperationEntry, ProofEntry, ReasonEntry, ViolationEntry, WriterEntry};

/// Whether the proof of a violation holds at each of these levels. O(edges × cases × levels).
pub(super) fn check(
    history: &History,
    resolution: &Resolution<'_>,
    violation: &ViolationEntry,
    transactions: &[TransactionId],
    levels: &[&str],
) -> Result<(), String> {
    let mut argument = Argument { history, resolution, violation, transactions, keys: Vec::new(), claims: Vec::new() };
    for (index, edge) in violation.edges.iter().enumerate() {
        let (key, claims) = argument.observed(index, edge).map_err(|message| format!("edge {index}: {message}"))?;
        argument.keys.push(key);
        argument.claims.push(claims);
    }
    for level in levels {
        let setting = Setting::new(resolution, read::basis(level));
        argument.proves(level, resolution, setting).map_err(|message| format!("at {level}: {message}"))?;
    }
    Ok(())
}

/// What an edge says that may hold in one case and not in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// The transaction takes part.
    Member(TransactionId),
    /// The read returned what the transaction wrote.
    ReadFrom(OperationId, TransactionId),
}

/// What may be concluded at a level, each including the ones before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    ReadCommitted,
    ReadAtomic,
    Causal,
    Prefix,
    Snapshot,
    Serial,
    Strict,
}

impl Strength {
    /// The strength of a level; none at CI, which knows no order.
    fn of(history: &History, level: &str) -> Result<Option<Strength>, String> {
        Ok(Some(match level {
            "CI" => return Ok(None),
            "RC" => Strength::ReadCommitted,
            "RA" => Strength::ReadAtomic,
            "TCC" => Strength::Causal,
            "PC" => Strength::Prefix,
            "SI" => Strength::Snapshot,
            "SER" => Strength::Serial,
            // A history of lightweight transactions that is linearizable is strictly serializable.
            "LIN" => {
                super::linear::is_lightweight(history)?;
                Strength::Strict
            }
            "SSER" => Strength::Strict,
            _ => return Err(format!("unknown level {level}")),
        }))
    }

    /// Whether start and commit are different events.
    fn has_two_events(self) -> bool {
        matches!(self, Strength::Prefix | Strength::Snapshot)
    }
}

/// An end of an edge: the start or the commit of its transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Start,
    Commit,
}

/// The events an edge relates: the one it leaves and the one it enters.
pub(super) type Span = (Event, Event);

const COMMIT_TO_START: Span = (Event::Commit, Event::Start);
const COMMIT_TO_COMMIT: Span = (Event::Commit, Event::Commit);
const START_TO_COMMIT: Span = (Event::Start, Event::Commit);

/// A violation with what is known of its edges.
pub(super) struct Argument<'a> {
    history: &'a History,
    resolution: &'a Resolution<'a>,
    pub(super) violation: &'a ViolationEntry,
    transactions: &'a [TransactionId],
    /// By checked edge: the key it is about.
    keys: Vec<Option<KeyId>>,
    /// By checked edge: what it says that depends on the case.
    claims: Vec<Vec<Claim>>,
}

impl Argument<'_> {
    pub(super) fn transaction(&self, place: usize) -> Result<TransactionId, String> {
        let t = self.transactions.get(place).copied();
        t.ok_or_else(|| format!("there is no transaction at place {place}"))
    }

    fn kind_is(&self, edge: &EdgeEntry, allowed: &[&str]) -> Result<(), String> {
        match allowed.contains(&edge.kind.as_str()) {
            true => Ok(()),
            false => Err(format!("its kind is {}, expected {}", edge.kind, allowed.join(" or "))),
        }
    }

    /// Checks what an edge says about operations and that its premises lie before it; returns its key and what is left to
    /// check in each case.
    fn observed(&self, index: usize, edge: &EdgeEntry) -> Result<(Option<KeyId>, Vec<Claim>), String> {
        let (from, to) = (self.transaction(edge.from)?, self.transaction(edge.to)?);
        let mut claims = vec![Claim::Member(from), Claim::Member(to)];
        if let Some(late) = edge.reason.premises().iter().find(|&&premise| premise >= index) {
            return Err(format!("its premise {late} does not come before it"));
        }
        let key = match &edge.reason {
            ReasonEntry::SessionOrder => {
                self.session_order(edge, from, to)?;
                None
            }
            ReasonEntry::Reads => {
                self.kind_is(edge, &["WR"])?;
                let read = self.operation_of(edge.to, edge.to_operation, OperationKind::Read)?;
                claims.push(Claim::ReadFrom(read, from));
                Some(self.history.operation(read).key)
            }
            ReasonEntry::Path { through } => {
                self.kind_is(edge, &["CO", "CM", "WW"])?;
                self.is_path(through, from, to)?;
                None
            }
            ReasonEntry::Visible { reader, read, seen, .. } => {
                self.kind_is(edge, &["CM", "WW"])?;
                let t3 = self.transaction(*reader)?;
                if t3.is_initial() {
                    return Err("the initial state reads nothing".to_owned());
                }
                let read = operation(self.history, self.transactions, *reader, *read)?;
                let key = self.history.operation(read).key;
                claims.extend([Claim::Member(t3), Claim::ReadFrom(read, to)]);
                self.writes(from, key)?;
                if from == to || from == t3 {
                    return Err("the writer it orders must differ from reader and source".to_owned());
                }
                self.is_path(seen, from, t3)?;
                Some(key)
            }
            ReasonEntry::Overwrites { writer, order } => {
                self.kind_is(edge, &["RW"])?;
                let t1 = self.transaction(*writer)?;
                let read = self.operation_of(edge.from, edge.from_operation, OperationKind::Read)?;
                let key = self.history.operation(read).key;
                claims.extend([Claim::Member(t1), Claim::ReadFrom(read, t1)]);
                self.writes(to, key)?;
                if to == from || to == t1 {
                    return Err("the overwriting transaction must differ from reader and source".to_owned());
                }
                match order.is_empty() && t1.is_initial() {
                    true => {}
                    false => self.is_path(order, t1, to)?,
                }
                Some(key)
            }
            ReasonEntry::Conflict { order } => {
                self.kind_is(edge, &["WW", "CM"])?;
                let key = self.common_key(edge, from, to)?;
                self.is_path(order, from, to)?;
                Some(key)
            }
            ReasonEntry::ReadModifyWrite { read } => {
                self.kind_is(edge, &["WW", "CM"])?;
                let wr = self.edge(*read)?;
                let key = self.keys[*read].ok_or("its write-read edge has no key")?;
                if !matches!(wr.reason, ReasonEntry::Reads) || wr.from != edge.from || wr.to != edge.to {
                    return Err("its premise is no read of the one from the other".to_owned());
                }
                self.writes(to, key)?;
                Some(key)
            }
            ReasonEntry::Listed { reader, read } => {
                self.kind_is(edge, &["WW", "CM"])?;
                let t3 = self.transaction(*reader)?;
                let key = self.common_key(edge, from, to)?;
                let read = operation(self.history, self.transactions, *reader, *read)?;
                super::lists::shows_order(self.history, self.resolution, t3, read, key, (from, to))?;
                claims.push(Claim::Member(t3));
                Some(key)
            }
            ReasonEntry::Assumed => {
                self.kind_is(edge, &["WW", "CM"])?;
                Some(self.common_key(edge, from, to)?)
            }
        };
        self.names_key(edge, key)?;
        Ok((key, claims))
    }

    fn session_order(&self, edge: &EdgeEntry, from: TransactionId, to: TransactionId) -> Result<(), String> {
        if edge.kind == "RT" {
            let known = |t: TransactionId| !t.is_initial() && self.history.outcome(t) != Outcome::Unknown;
            let times = (known(from) && !to.is_initial())
                .then(|| Some((self.history.interval(from)?, self.history.interval(to)?)))
                .flatten();
            return match times {
                Some((a, b)) if a.end < b.start => Ok(()),
                _ => Err("the one did not end before the other began".to_owned()),
            };
        }
        // ⊥ is in the causal past of all, in a session of none.
        self.kind_is(edge, if from.is_initial() { &["SO", "CO"] } else { &["SO"] })?;
        let in_order = from != to
            && !to.is_initial()
            && (from.is_initial()
                || self.history.session_of(from) == self.history.session_of(to)
                    && self.history.position_of(from) < self.history.position_of(to));
        if in_order { Ok(()) } else { Err("they are not of one session in this order".to_owned()) }
    }

    /// An edge's key in words must be the one its operations are about.
    fn names_key(&self, edge: &EdgeEntry, key: Option<KeyId>) -> Result<(), String> {
        match (&edge.key, key) {
            (Some(name), Some(key)) if *name != self.history.key_name(key) => {
                Err(format!("it speaks of key {name}, its operations of {}", self.history.key_name(key)))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn edge(&self, index: usize) -> Result<&EdgeEntry, String> {
        self.violation.edges.get(index).ok_or_else(|| format!("there is no edge {index}"))
    }

    fn operation_of(&self, place: usize, index: Option<usize>, kind: OperationKind) -> Result<OperationId, String> {
        let index = index.ok_or("it does not name its operation")?;
        let operation = operation(self.history, self.transactions, place, index)?;
        match self.history.operation(operation).kind == kind {
            true => Ok(operation),
            false => Err(format!("{} is not the kind of operation it needs", self.history.operation_text(operation))),
        }
    }

    /// Whether what an edge says holds in a case.
    pub(super) fn holds(&self, edge: usize, setting: &Setting<'_>) -> Result<(), String> {
        let name = |t: TransactionId| self.history.transaction_name(t);
        let text = |o: OperationId| self.history.operation_text(o);
        let claims = self.claims.get(edge).map_or(&[][..], |claims| claims);
        claims.iter().try_for_each(|&claim| match claim {
            Claim::Member(t) if setting.is_member(t) => Ok(()),
            Claim::Member(t) => Err(format!("edge {edge}: {} did not commit", name(t))),
            Claim::ReadFrom(read, writer) => match setting.source(read) {
                Source::Other { writer: is, .. } if is == writer => Ok(()),
                Source::Ambiguous => {
                    Err(format!("edge {edge}: several transactions may have written what {} returned", text(read)))
                }
                _ => Err(format!("edge {edge}: {} did not return what {} wrote", text(read), name(writer))),
            },
        })
    }

    fn writes(&self, t: TransactionId, key: KeyId) -> Result<(), String> {
        let writes = |&o: &OperationId| {
            let o = self.history.operation(o);
            o.kind == OperationKind::Write && o.key == key
        };
        match !t.is_initial() && self.history.operations_of(t).any(|o| writes(&o)) {
            true => Ok(()),
            false => {
                Err(format!("{} does not write key {}", self.history.transaction_name(t), self.history.key_name(key)))
            }
        }
    }

    /// The key of two writes that an edge names.
    fn common_key(&self, edge: &EdgeEntry, from: TransactionId, to: TransactionId) -> Result<KeyId, String> {
        let write = self.operation_of(edge.from, edge.from_operation, OperationKind::Write)?;
        let key = self.history.operation(write).key;
        self.writes(to, key)?;
        if from == to { Err("it relates a transaction to itself".to_owned()) } else { Ok(key) }
    }

    /// Whether these edges lead from the one to the other; at least one edge.
    fn is_path(&self, path: &[usize], from: TransactionId, to: TransactionId) -> Result<(), String> {
        let mut at = from;
        for &e in path {
            let edge = self.edge(e)?;
            if self.transaction(edge.from)? != at {
                return Err(format!("edge {e} of its path does not begin where the path is"));
            }
            at = self.transaction(edge.to)?;
        }
        match at == to && !path.is_empty() {
            true => Ok(()),
            false => Err("its path does not lead where it should".to_owned()),
        }
    }

    /// Whether the proof holds at a level. Walks the tree of cases with an explicit stack. Every edge must hold in some
    /// case, those that no contradiction needs too.
    fn proves(&self, level: &str, resolution: &Resolution<'_>, setting: Setting<'_>) -> Result<(), String> {
        let strength = Strength::of(self.history, level)?;
        let spans = strength.map_or(Vec::new(), |strength| self.spans(strength));
        let mut open: Vec<usize> = (0..self.violation.edges.len()).collect();
        let mut stack = vec![(&self.violation.proof, Vec::<usize>::new(), setting)];
        while let Some((proof, assumed, setting)) = stack.pop() {
            open.retain(|&edge| self.holds(edge, &setting).is_err());
            match proof {
                ProofEntry::Read => return Err("a case does not say which reads it ends in".to_owned()),
                ProofEntry::Reads { pattern, reads } => {
                    read::is_at_level(pattern, level)?;
                    let reads: Result<Vec<_>, _> = reads.iter().map(|entry| self.entry(entry)).collect();
                    read::contradict(self.history, &setting, pattern, &reads?)?;
                }
                ProofEntry::Cycle { edges } => {
                    let strength = strength.ok_or("a cycle does not violate CI")?;
                    self.closes(edges, &assumed, &setting, &spans, strength)?;
                }
                ProofEntry::Clauses { lemmas, clauses } => {
                    let strength = strength.ok_or("an order says nothing at CI")?;
                    self.leave_no_choice((lemmas, clauses), &assumed, &setting, (&spans, strength))?;
                }
                ProofEntry::Split { .. } if strength.is_none() => return Err("an order says nothing at CI".to_owned()),
                ProofEntry::Split { first, second, .. } => {
                    self.is_split(first.assume, second.assume)?;
                    for case in [second, first] {
                        let mut assumed = assumed.clone();
                        assumed.push(case.assume);
                        stack.push((&*case.proof, assumed, setting.clone()));
                    }
                }
                ProofEntry::Writers { read, cases } => {
                    let read = self.entry(read)?;
                    self.are_all_writers(read, cases, resolution, &setting)?;
                    for case in cases.iter().rev() {
                        let writer = self.transaction(case.writer)?;
                        stack.push((&case.proof, assumed.clone(), setting.with(read, writer)));
                    }
                }
            }
        }
        match open.first() {
            Some(edge) => Err(format!("edge {edge} holds in no case")),
            None => Ok(()),
        }
    }

    fn entry(&self, entry: &OperationEntry) -> Result<OperationId, String> {
        operation(self.history, self.transactions, entry.transaction, entry.index)
    }

    /// Whether a read takes part, its writer is open, and there is a case for everybody who may be meant, and no other.
    fn are_all_writers(
        &self,
        read: OperationId,
        cases: &[WriterEntry],
        resolution: &Resolution<'_>,
        setting: &Setting<'_>,
    ) -> Result<(), String> {
        let text = || self.history.operation_text(read);
        if self.history.operation(read).kind != OperationKind::Read || setting.is_fixed(read) {
            return Err(format!("{} has no writers to tell apart", text()));
        }
        if !setting.is_member(self.history.transaction_of(read)) {
            return Err(format!("the transaction of {} need not take part", text()));
        }
        let writers = resolution.writers(read);
        let mut told = cases.iter().map(|case| self.transaction(case.writer)).collect::<Result<Vec<_>, _>>()?;
        told.sort_unstable();
        if let Some(missing) = writers.iter().find(|writer| told.binary_search(writer).is_err()) {
            return Err(format!("no case for {} having written {}", self.history.transaction_name(*missing), text()));
        }
        match told == writers && !told.is_empty() {
            true => Ok(()),
            false => Err(format!("the cases of {} are not its possible writers", text())),
        }
    }

    /// Whether two assumptions are the two orders of two writers of one key.
    fn is_split(&self, first: usize, second: usize) -> Result<(), String> {
        let (a, b) = (self.edge(first)?, self.edge(second)?);
        let assumed = |edge: &EdgeEntry| matches!(edge.reason, ReasonEntry::Assumed);
        let opposite = self.transaction(a.from)? == self.transaction(b.to)?
            && self.transaction(a.to)? == self.transaction(b.from)?;
        match assumed(a) && assumed(b) && opposite && self.keys[first] == self.keys[second] {
            true => Ok(()),
            false => Err(format!("edges {first} and {second} are no pair of opposite assumptions")),
        }
    }

    /// By edge: the events it relates at a level, or why it does not hold there. Premises come before what rests on
    /// them, so one pass in order suffices.
    fn spans(&self, strength: Strength) -> Vec<Result<Span, String>> {
        let mut spans: Vec<Result<Span, String>> = Vec::with_capacity(self.violation.edges.len());
        for edge in &self.violation.edges {
            let span = self.span(edge, strength, &spans);
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
            ReasonEntry::SessionOrder if edge.kind == "RT" => needs(Strength::Strict).map(|()| COMMIT_TO_START),
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
                    AxiomWord::ReadCommitted => self.seen_before(*reader, *read, seen)?,
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
                }
                let (leaves, enters) = self.compose(seen, strength, before)?;
                match strength.has_two_events() && (leaves, enters) != COMMIT_TO_START {
                    true => Err("the path does not show that the one committed before the other started".to_owned()),
                    false => Ok(version_order),
                }
            }
            ReasonEntry::Overwrites { order, .. } => {
                needs(Strength::Prefix)?;
                if !order.is_empty() {
                    let (leaves, _) = self.compose(order, strength, before)?;
                    if strength.has_two_events() && leaves == Event::Start {
                        return Err("the path does not show that the one committed before the other".to_owned());
                    }
                }
                Ok(START_TO_COMMIT)
            }
            ReasonEntry::Conflict { order } => {
                needs(Strength::Snapshot)?;
                self.compose(order, strength, before)?;
                Ok(COMMIT_TO_START)
            }
        }
    }

    /// RC: the path is one read, and it stands before the other read in the program order of the reader.
    fn seen_before(&self, reader: usize, read: usize, seen: &[usize]) -> Result<(), String> {
        let [wr] = *seen else { return Err("the reader does not read from it directly".to_owned()) };
        let edge = self.edge(wr)?;
        let earlier = matches!(edge.reason, ReasonEntry::Reads) && edge.to_operation.is_some_and(|first| first < read);
        match earlier && self.transaction(edge.to)? == self.transaction(reader)? {
            true => Ok(()),
            false => Err("the reader did not read from it before".to_owned()),
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
            let (leaves, enters) = match spans.get(e) {
                Some(span) => span.clone().map_err(|message| format!("edge {e}: {message}"))?,
                None => return Err(format!("there is no edge {e}")),
            };
            whole = Some(match whole {
                None => (leaves, enters),
                Some((first, at)) => {
                    legal(at, leaves, strength)?;
                    (first, enters)
                }
            });
        }
        whole.ok_or_else(|| "an empty path".to_owned())
    }

    /// Whether these edges close a cycle that is legal all around.
    pub(super) fn is_legal_cycle(
        &self,
        cycle: &[usize],
        spans: &[Result<Span, String>],
        strength: Strength,
    ) -> Result<(), String> {
        let first = cycle.first().ok_or("an empty cycle")?;
        let start = self.transaction(self.edge(*first)?.from)?;
        self.is_path(cycle, start, start)?;
        let (leaves, enters) = self.compose(cycle, strength, spans)?;
        legal(enters, leaves, strength)
    }

    /// Whether these edges close a legal cycle that rests on no assumptions but these, and holds in this case.
    fn closes(
        &self,
        cycle: &[usize],
        assumed: &[usize],
        setting: &Setting<'_>,
        spans: &[Result<Span, String>],
        strength: Strength,
    ) -> Result<(), String> {
        self.is_legal_cycle(cycle, spans, strength)?;
        let mut seen = vec![false; self.violation.edges.len()];
        let mut stack = cycle.to_vec();
        while let Some(e) = stack.pop() {
            if std::mem::replace(&mut seen[e], true) {
                continue;
            }
            self.holds(e, setting)?;
            let edge = self.edge(e)?;
            if matches!(edge.reason, ReasonEntry::Assumed) && !assumed.contains(&e) {
                return Err(format!("edge {e} is assumed in another case only"));
            }
            stack.extend(edge.reason.premises());
        }
        Ok(())
    }
}

/// A path may not enter a transaction at its commit and leave it at its start.
fn legal(enters: Event, leaves: Event, strength: Strength) -> Result<(), String> {
    match strength.has_two_events() && enters == Event::Commit && leaves == Event::Start {
        true => Err("a path enters a transaction at its commit and leaves it at its start".to_owned()),
        false => Ok(()),
    }
}
