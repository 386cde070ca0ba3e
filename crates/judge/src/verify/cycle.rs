//! Violations shown by a cycle of edges, or by cases that all end in cycles or impossible reads.
//!
//! Each edge is first followed back to operations ([`Argument::observed`]), which does not depend on a level; the
//! writer of what a read returned may depend on the case, so such claims are checked case by case ([`Claim`](super::argument::Claim)). Then,
//! level by level, an edge is given the events it relates: a transaction starts (S) and commits (C), S before C; at SER
//! and at the levels below PC both are one event. Session order and reads say C before S, an anti-dependency S before
//! C. A path is legal when it never enters a transaction at C and leaves it at S; a cycle must be legal all around.

use super::argument::Argument;
use super::basis::Basis;
use super::combinations::Case;
use super::elements::{self, Apart};
use super::levels::{self, Strength};
use super::pattern;
use super::read;
use super::resolution::Resolution;
use super::scene;
use super::setting::Setting;
use super::spans::Span;
use super::subject::Subject;
use super::told::{Scene, Told};
use crate::report::{AppendEntry, EdgeEntry, ProofEntry, ReasonEntry, WriterEntry};
use isoscope_model::history::{ListRule, OperationId, OperationKind};

/// Maximum nesting of cases of appends and outcomes.
const MOST_NESTED: usize = 32;

/// Whether the proof of a violation holds at each of these levels; on request also what it shows. `is_impossible`: no append
/// can have made some place of a list. O(edges × cases × levels).
pub(super) fn check(
    subject: Subject<'_>,
    is_impossible: bool,
    (levels, is_told): (&[&str], bool),
) -> Result<Told, String> {
    Argument::new(subject, is_impossible).holds_at(levels, is_told)
}

/// What a cycle says about a violation that its reads show: its edges must be there, whatever they contradict.
pub(super) fn told(subject: Subject<'_>) -> Result<Told, String> {
    let argument = Argument::new(subject, false);
    if let Some(message) = argument
        .claims
        .iter()
        .find_map(|claims| claims.as_ref().err())
    {
        return Err(message.clone());
    }
    if let ProofEntry::Cycle { edges } = &subject.violation.proof {
        argument.is_closed(edges)?;
    }
    let setting = Setting::new(subject.resolution, Basis::of("CI"));
    Ok(scene::of_part(
        &argument,
        &subject.violation.proof,
        Some(&setting),
    ))
}

/// A position in a proof.
#[derive(Clone, Copy, Debug)]
struct Nested {
    /// How many cases of appends enclose it.
    depth: usize,
    /// Whether it gives the violation its name.
    is_named: bool,
}

impl Argument<'_> {
    fn holds_at(&self, levels: &[&str], is_told: bool) -> Result<Told, String> {
        for level in levels {
            let mut open: Vec<usize> = (0..self.violation.edges.len()).collect();
            let proof = &self.violation.proof;
            let proved = self.proves(
                level,
                proof,
                Vec::new(),
                &mut open,
                Nested {
                    depth: 0,
                    is_named: is_told,
                },
            );
            proved.map_err(|message| format!("at {level}: {message}"))?;
            if let Some(&edge) = open.first() {
                self.claims[edge].as_ref().map_err(String::clone)?;
                return Err(format!("at {level}: edge {edge} holds in no case"));
            }
        }
        let told = self
            .told
            .take()
            .unwrap_or_else(|| Err("no part of its proof says what it is".to_owned()));
        Ok(told.map(|scene| self.with_other_cases(scene)))
    }

    /// Adds the names of what the other cases of a proof show, as far as the violation has them.
    fn with_other_cases(&self, mut scene: Scene) -> Scene {
        let parts = if scene::is_last_part(&self.violation.proof) {
            Vec::new()
        } else {
            scene::last_parts(&self.violation.proof)
        };
        for name in self
            .violation
            .also
            .iter()
            .filter(|name| pattern::name_of(name).is_some())
        {
            if parts.iter().any(|part| scene::may_be(self, name, part)) {
                scene.also.push(name.clone());
            }
        }
        scene
    }

    /// Keeps what a part of the proof shows. `setting` is its case, none for an impossible one.
    fn tell(&self, part: &ProofEntry, setting: Option<&Setting<'_>>) {
        *self.told.borrow_mut() = Some(scene::of_part(self, part, setting));
    }

    /// Whether a proof holds at a level. Walks the tree of cases with an explicit stack, except for cases of appends
    /// and outcomes, which may be nested [`MOST_NESTED`] times. Every edge must hold in some case, even one that no
    /// contradiction needs: `open` loses those that do. The first of several cases gives the violation its name.
    fn proves(
        &self,
        level: &str,
        proof: &ProofEntry,
        assumed: Vec<usize>,
        open: &mut Vec<usize>,
        Nested { depth, is_named }: Nested,
    ) -> Result<(), String> {
        let setting = Setting::new(self.resolution, Basis::of(level));
        let strength = Strength::of(self.history, self.resolution.initial(), level)?;
        let time = levels::row(level).and_then(|row| row.time);
        let spans = strength.map_or(Vec::new(), |strength| self.spans(strength, time));
        let mut stack = vec![(proof, assumed, setting, is_named)];
        while let Some((proof, assumed, setting, is_named)) = stack.pop() {
            setting
                .resolution()
                .initial()
                .control()
                .check()
                .map_err(|interrupt| interrupt.to_string())?;
            open.retain(|&edge| self.holds(edge, &setting).is_err());
            if is_named && scene::is_last_part(proof) {
                self.tell(proof, Some(&setting));
            }
            match proof {
                ProofEntry::Read => {
                    return Err("a case does not say which reads it ends in".to_owned());
                }
                ProofEntry::Reads { pattern, reads } => {
                    read::is_at_level(pattern, level)?;
                    let reads: Result<Vec<_>, _> =
                        reads.iter().map(|entry| self.entry(entry)).collect();
                    read::contradict(self.history, &setting, pattern, &reads?)?;
                }
                ProofEntry::Cycle { edges } => {
                    let strength = strength.ok_or("a cycle does not violate CI")?;
                    self.closes(edges, &assumed, &setting, &spans, strength)?;
                }
                ProofEntry::Clauses { lemmas, clauses } => {
                    let strength = strength.ok_or("an order says nothing at CI")?;
                    self.leave_no_choice(
                        (lemmas, clauses),
                        &assumed,
                        &setting,
                        (&spans, strength),
                    )?;
                }
                ProofEntry::Split { .. } if strength.is_none() => {
                    return Err("an order says nothing at CI".to_owned());
                }
                ProofEntry::Split { key, first, second } => {
                    self.is_split(first.assume, second.assume, key)?;
                    for case in [second, first] {
                        let mut assumed = assumed.clone();
                        assumed.push(case.assume);
                        stack.push((&*case.proof, assumed, setting.clone(), false));
                    }
                }
                ProofEntry::Writers { read, cases } => {
                    let read = self.entry(read)?;
                    self.are_all_writers(read, cases, &setting)?;
                    for (place, case) in cases.iter().enumerate().rev() {
                        let writer = self.transaction(case.writer)?;
                        let is_named = is_named && place == 0;
                        stack.push((
                            &case.proof,
                            assumed.clone(),
                            setting.with(read, writer),
                            is_named,
                        ));
                    }
                }
                ProofEntry::Combinations {
                    options,
                    excluded,
                    clauses,
                } => {
                    let questions = self.questions(options, &setting, Basis::of(level))?;
                    questions.leave_none(
                        (excluded, clauses),
                        setting.resolution().initial().control(),
                    )?;
                    for (place, combination) in excluded.iter().enumerate().rev() {
                        let inner = Nested {
                            depth: depth + 1,
                            is_named: is_named && place == 0,
                        };
                        let told = questions.options_of(combination)?;
                        match self.supposed(&told, &setting)? {
                            Case::Of(setting) => stack.push((
                                &combination.proof,
                                assumed.clone(),
                                setting,
                                inner.is_named,
                            )),
                            Case::Impossible => {
                                self.pass_over(&combination.proof, open, inner.is_named)
                            }
                            Case::Apart(apart) => {
                                self.proves_apart(
                                    level,
                                    (&combination.proof, &apart),
                                    &assumed,
                                    open,
                                    inner,
                                )?;
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
                    return Err(
                        "cases of appends or outcomes are inside those of a writer, or too deep"
                            .to_owned(),
                    );
                }
                ProofEntry::Appends { cases, .. } if cases.is_empty() && self.is_impossible => {}
                ProofEntry::Appends { read, place, cases } => {
                    let read = self.entry(read)?;
                    let appends = self.are_all_appends(read, *place, cases, &setting)?;
                    for (at, (case, append)) in cases.iter().zip(appends).enumerate() {
                        let inner = Nested {
                            depth: depth + 1,
                            is_named: is_named && at == 0,
                        };
                        let apart = elements::with(self.history, read, *place, append);
                        self.proves_apart(level, (&case.proof, &apart), &assumed, open, inner)?;
                    }
                }
                ProofEntry::Outcomes { transaction, cases } => {
                    let t = self.transaction(*transaction)?;
                    let told: Vec<bool> = cases.iter().map(|case| case.committed).collect();
                    if !matches!(told[..], [true, false] | [false, true]) {
                        let name = self.history.transaction_name(t);
                        return Err(format!(
                            "there are not two cases for whether {name} committed"
                        ));
                    }
                    for (at, case) in cases.iter().enumerate() {
                        let inner = Nested {
                            depth: depth + 1,
                            is_named: is_named && at == 0,
                        };
                        let apart = elements::with_outcome(self.history, t, case.committed)?;
                        self.proves_apart(level, (&case.proof, &apart), &assumed, open, inner)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a proof holds in a history in which more is known; anything holds in an impossible one.
    fn proves_apart(
        &self,
        level: &str,
        (proof, apart): (&ProofEntry, &Apart),
        assumed: &[usize],
        open: &mut Vec<usize>,
        nested: Nested,
    ) -> Result<(), String> {
        let resolution = Resolution::new(&apart.history);
        let (history, resolution, violation) = (&apart.history, &resolution, self.violation);
        let inner = Argument::new(
            Subject {
                history,
                resolution,
                violation,
                transactions: self.transactions,
            },
            false,
        );
        if apart.is_impossible {
            // In addition to what the proof mentions, observations of the transactions that would have committed are
            // shown.
            let setting = Setting::new(resolution, Basis::of(level));
            open.retain(|&edge| inner.holds(edge, &setting).is_err());
            self.pass_over(proof, open, nested.is_named);
            return Ok(());
        }
        inner.proves(level, proof, assumed.to_vec(), open, nested)?;
        if nested.is_named {
            *self.told.borrow_mut() = inner.told.take();
        }
        Ok(())
    }

    /// Counts the edges that a proof mentions as shown: its case is impossible, so everything holds in it.
    fn pass_over(&self, proof: &ProofEntry, open: &mut Vec<usize>, is_named: bool) {
        self.leave_out(proof, open);
        if is_named {
            self.tell(scene::first_part(proof), None);
        }
    }

    /// Whether the reader of a list participates and there is a case for every append that may have made the element at
    /// a place, and no other; the appends in the order of the cases.
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
        let told = cases
            .iter()
            .map(|case| self.entry(&case.append))
            .collect::<Result<Vec<_>, _>>()?;
        let mut sorted = told.clone();
        sorted.sort_unstable();
        if sorted == makers {
            Ok(told)
        } else {
            Err(format!(
                "the cases of place {place} of {} are not its possible appends",
                text()
            ))
        }
    }

    /// Whether a read participates, its writer is open, and there is a case for every possible writer, and no other.
    fn are_all_writers(
        &self,
        read: OperationId,
        cases: &[WriterEntry],
        setting: &Setting<'_>,
    ) -> Result<(), String> {
        let text = || self.history.operation_text(read);
        if self.history.operation(read).kind != OperationKind::Read || setting.is_fixed(read) {
            return Err(format!("{} has no writers to distinguish", text()));
        }
        if !setting.is_member(self.history.transaction_of(read)) {
            return Err(format!("the transaction of {} need not take part", text()));
        }
        let writers = self.resolution.writers(read);
        let mut told = cases
            .iter()
            .map(|case| self.transaction(case.writer))
            .collect::<Result<Vec<_>, _>>()?;
        told.sort_unstable();
        if let Some(missing) = writers
            .iter()
            .find(|writer| told.binary_search(writer).is_err())
        {
            return Err(format!(
                "no case for {} having written {}",
                self.history.transaction_name(*missing),
                text()
            ));
        }
        require!(
            told == writers && !told.is_empty(),
            "the cases of {} are not its possible writers",
            text()
        )
    }

    /// Whether two assumptions are the two orders of two writers of one key.
    fn is_split(&self, first: usize, second: usize, key: &str) -> Result<(), String> {
        let (a, b) = (self.edge(first)?, self.edge(second)?);
        if a.key.as_deref() != Some(key) {
            return Err(format!(
                "edges {first} and {second} are not about key {key}"
            ));
        }
        let assumed = |edge: &EdgeEntry| matches!(edge.reason, ReasonEntry::Assumed);
        let opposite = self.transaction(a.from)? == self.transaction(b.to)?
            && self.transaction(a.to)? == self.transaction(b.from)?;
        require!(
            assumed(a) && assumed(b) && opposite && self.keys[first] == self.keys[second],
            "edges {first} and {second} are no pair of opposite assumptions"
        )
    }

    /// Whether these edges close a legal cycle that rests only on these assumptions, and holds in this case.
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
