//! Violations that show as a cycle of edges, or as cases that all end in cycles or impossible reads.
//!
//! Each edge is first followed back to operations ([`Argument::observed`]), which does not depend on a level; who wrote
//! what a read returned may depend on the case, so such claims are looked at case by case ([`Claim`]). Then, level by
//! level, an edge is given the events it relates: a transaction starts (S) and commits (C), S before C; at SER
//! and at the levels below PC both are one event. Session order and reads say C before S, an anti-dependency S before
//! C. A path is legal when it never enters a transaction at C and leaves it at S; a cycle must be legal all around.

use super::combinations::Case;
use super::elements::{self, Apart};
use super::read::{self, operation};
use super::resolution::{Resolution, Source};
use super::setting::Setting;
use super::spans::{Span, Strength};
use crate::history::{History, KeyId, ListRule, OperationId, OperationKind, Outcome, TransactionId};
use crate::report::{AppendEntry, EdgeEntry, OperationEntry, ProofEntry, ReasonEntry, ViolationEntry, WriterEntry};

/// Most cases of appends and outcomes inside one another.
const MOST_NESTED: usize = 32;

/// Whether the proof of a violation holds at each of these levels. O(edges × cases × levels).
pub(super) fn check(
    history: &History,
    resolution: &Resolution<'_>,
    violation: &ViolationEntry,
    transactions: &[TransactionId],
    levels: &[&str],
) -> Result<(), String> {
    let argument = Argument::new(history, resolution, violation, transactions, false);
    argument.holds_at(levels)
}

/// The same for a history whose elements of lists have been told apart as far as that follows.
pub(super) fn check_apart(
    apart: &Apart,
    resolution: &Resolution<'_>,
    violation: &ViolationEntry,
    transactions: &[TransactionId],
    levels: &[&str],
) -> Result<(), String> {
    let argument = Argument::new(&apart.history, resolution, violation, transactions, apart.is_impossible);
    argument.holds_at(levels)
}

/// What an edge says that may hold in one case and not in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// The transaction takes part.
    Member(TransactionId),
    /// The read returned what the transaction wrote.
    ReadFrom(OperationId, TransactionId),
}

/// A violation with what is known of its edges.
pub(super) struct Argument<'a> {
    pub(super) history: &'a History,
    pub(super) resolution: &'a Resolution<'a>,
    pub(super) violation: &'a ViolationEntry,
    transactions: &'a [TransactionId],
    /// By checked edge: the key it is about.
    keys: Vec<Option<KeyId>>,
    /// By checked edge: what it says that depends on the case, or why it does not hold in any.
    claims: Vec<Result<Vec<Claim>, String>>,
    /// Some place of a list can have been made by nobody.
    is_impossible: bool,
}

impl<'a> Argument<'a> {
    fn new(
        history: &'a History,
        resolution: &'a Resolution<'a>,
        violation: &'a ViolationEntry,
        transactions: &'a [TransactionId],
        is_impossible: bool,
    ) -> Argument<'a> {
        let (keys, claims) = (Vec::new(), Vec::new());
        let mut argument = Argument { history, resolution, violation, transactions, keys, claims, is_impossible };
        for (index, edge) in violation.edges.iter().enumerate() {
            let (key, claims) = match argument.observed(index, edge) {
                Ok((key, claims)) => (key, Ok(claims)),
                Err(message) => (None, Err(format!("edge {index}: {message}"))),
            };
            argument.keys.push(key);
            argument.claims.push(claims);
        }
        argument
    }

    fn holds_at(&self, levels: &[&str]) -> Result<(), String> {
        for level in levels {
            let mut open: Vec<usize> = (0..self.violation.edges.len()).collect();
            let proof = &self.violation.proof;
            self.proves(level, proof, Vec::new(), &mut open, 0).map_err(|message| format!("at {level}: {message}"))?;
            if let Some(&edge) = open.first() {
                self.claims[edge].as_ref().map_err(String::clone)?;
                return Err(format!("at {level}: edge {edge} holds in no case"));
            }
        }
        Ok(())
    }

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
            (Some(name), Some(key)) if **name != *self.history.key_names().text(key.index()) => {
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
        let claims = self.claims.get(edge).map_or(Ok(&[][..]), |claims| claims.as_deref().map_err(String::clone))?;
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
    pub(super) fn is_path(&self, path: &[usize], from: TransactionId, to: TransactionId) -> Result<(), String> {
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

    /// Whether a proof holds at a level. Walks the tree of cases with an explicit stack, but for cases of appends and outcomes,
    /// which may be inside each other [`MOST_NESTED`] times. Every edge must hold in some case, those that no contradiction needs
    /// too: `open` loses those that do.
    fn proves(
        &self,
        level: &str,
        proof: &ProofEntry,
        assumed: Vec<usize>,
        open: &mut Vec<usize>,
        depth: usize,
    ) -> Result<(), String> {
        let setting = Setting::new(self.resolution, read::basis(level));
        let strength = Strength::of(self.history, self.resolution.initial(), level)?;
        let spans = strength.map_or(Vec::new(), |strength| self.spans(strength));
        let mut stack = vec![(proof, assumed, setting)];
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
                    self.are_all_writers(read, cases, &setting)?;
                    for case in cases.iter().rev() {
                        let writer = self.transaction(case.writer)?;
                        stack.push((&case.proof, assumed.clone(), setting.with(read, writer)));
                    }
                }
                ProofEntry::Combinations { options, excluded, clauses } => {
                    let questions = self.questions(options, &setting, read::basis(level))?;
                    questions.leave_none(excluded, clauses)?;
                    for combination in excluded.iter().rev() {
                        let told = questions.options_of(combination)?;
                        match self.supposed(&told, &setting)? {
                            Case::Of(setting) => stack.push((&combination.proof, assumed.clone(), setting)),
                            Case::Impossible => self.pass_over(&combination.proof, open),
                            Case::Apart(apart) => {
                                self.proves_apart(level, (&combination.proof, &apart), &assumed, open, depth)?;
                            }
                        }
                    }
                }
                ProofEntry::Appends { .. } | ProofEntry::Outcomes { .. } if strength.is_none() => {
                    return Err("at CI every append of an element counts".to_owned());
                }
                ProofEntry::Appends { .. } | ProofEntry::Outcomes { .. }
                    if setting.has_cases() || depth > MOST_NESTED =>
                {
                    return Err("cases of appends or outcomes are inside those of a writer, or too deep".to_owned());
                }
                ProofEntry::Appends { cases, .. } if cases.is_empty() && self.is_impossible => {}
                ProofEntry::Appends { read, place, cases } => {
                    let read = self.entry(read)?;
                    let appends = self.are_all_appends(read, *place, cases, &setting)?;
                    for (case, append) in cases.iter().zip(appends) {
                        let apart = elements::with(self.history, read, *place, append);
                        self.proves_apart(level, (&case.proof, &apart), &assumed, open, depth)?;
                    }
                }
                ProofEntry::Outcomes { transaction, cases } => {
                    let t = self.transaction(*transaction)?;
                    let told: Vec<bool> = cases.iter().map(|case| case.committed).collect();
                    if !matches!(told[..], [true, false] | [false, true]) {
                        let name = self.history.transaction_name(t);
                        return Err(format!("there are not two cases for whether {name} committed"));
                    }
                    for case in cases {
                        let apart = elements::with_outcome(self.history, t, case.committed)?;
                        self.proves_apart(level, (&case.proof, &apart), &assumed, open, depth)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a proof holds in a history in which more is known; anything holds in one that cannot be.
    fn proves_apart(
        &self,
        level: &str,
        (proof, apart): (&ProofEntry, &Apart),
        assumed: &[usize],
        open: &mut Vec<usize>,
        depth: usize,
    ) -> Result<(), String> {
        if apart.is_impossible {
            self.pass_over(proof, open);
            return Ok(());
        }
        let resolution = Resolution::new(&apart.history);
        let inner = Argument::new(&apart.history, &resolution, self.violation, self.transactions, false);
        inner.proves(level, proof, assumed.to_vec(), open, depth + 1)
    }

    /// Whether the reader of a list takes part and there is a case for every append that may have made the element at a
    /// place, and no other; the appends in the order of the cases.
    fn are_all_appends(
        &self,
        read: OperationId,
        place: usize,
        cases: &[AppendEntry],
        setting: &Setting<'_>,
    ) -> Result<Vec<OperationId>, String> {
        let text = || self.history.operation_text(read);
        if self.history.rules().lists != ListRule::Exact {
            return Err("lists need not agree, so nothing is known of their elements".to_owned());
        }
        if !setting.is_member(self.history.transaction_of(read)) {
            return Err(format!("the transaction of {} need not take part", text()));
        }
        let makers = elements::makers(self.history, self.resolution, read, place)?;
        let told = cases.iter().map(|case| self.entry(&case.append)).collect::<Result<Vec<_>, _>>()?;
        let mut sorted = told.clone();
        sorted.sort_unstable();
        match sorted == makers {
            true => Ok(told),
            false => Err(format!("the cases of place {place} of {} are not its possible appends", text())),
        }
    }

    pub(super) fn entry(&self, entry: &OperationEntry) -> Result<OperationId, String> {
        operation(self.history, self.transactions, entry.transaction, entry.index)
    }

    /// Whether a read takes part, its writer is open, and there is a case for everybody who may be meant, and no other.
    fn are_all_writers(&self, read: OperationId, cases: &[WriterEntry], setting: &Setting<'_>) -> Result<(), String> {
        let text = || self.history.operation_text(read);
        if self.history.operation(read).kind != OperationKind::Read || setting.is_fixed(read) {
            return Err(format!("{} has no writers to tell apart", text()));
        }
        if !setting.is_member(self.history.transaction_of(read)) {
            return Err(format!("the transaction of {} need not take part", text()));
        }
        let writers = self.resolution.writers(read);
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
