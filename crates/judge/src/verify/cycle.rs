//! Violations shown by a cycle of edges, or by cases that all end in cycles or impossible reads.
//!
//! Each edge is first followed back to operations ([`Argument::observed`]), which does not depend on a level; the
//! writer of what a read returned may depend on the case, so such claims are checked case by case ([`Claim`](super::argument::Claim)). Then,
//! level by level, an edge is given the events it relates: a transaction starts (S) and commits (C), S before C; at SER
//! and at the levels below PC both are one event. Session order and reads say C before S, an anti-dependency S before
//! C. A path is legal when it never enters a transaction at C and leaves it at S; a cycle must be legal all around.

use super::argument::Argument;
use super::basis::Basis;
use super::cases::{Case, Supposed};
use super::elements::Apart;
use super::levels::{self, Strength};
use super::read;
use super::resolution::Resolution;
use super::setting::Setting;
use super::spans::Span;
use super::subject::Subject;
use crate::report::{EdgeEntry, ProofEntry, ReasonEntry};
use isoscope_model::levels::Level;

/// Maximum nesting of cases of appends and outcomes.
const MOST_NESTED: usize = 32;

/// Whether the proof of a violation holds at each of these levels; where there are none, whether its edges are there.
/// `is_impossible`: no append can have made some place of a list. O(edges × cases × levels).
pub(super) fn check(
    subject: Subject<'_>,
    is_impossible: bool,
    levels: &[Level],
) -> Result<(), String> {
    let argument = Argument::new(subject, is_impossible);
    if levels.is_empty() {
        return argument.is_there();
    }
    levels
        .iter()
        .try_for_each(|&level| argument.holds_at(level))
}

impl Argument<'_> {
    /// Whether its edges are there, whatever they contradict.
    fn is_there(&self) -> Result<(), String> {
        if let Some(message) = self.claims.iter().find_map(|claims| claims.as_ref().err()) {
            return Err(message.clone());
        }
        match &self.violation.proof {
            ProofEntry::Cycle { edges } => self.is_closed(edges),
            _ => Ok(()),
        }
    }

    fn holds_at(&self, level: Level) -> Result<(), String> {
        let mut open: Vec<usize> = (0..self.violation.edges.len()).collect();
        self.proves(level, &self.violation.proof, Vec::new(), &mut open, 0)
            .map_err(|message| format!("at {level}: {message}"))?;
        match open.first() {
            None => Ok(()),
            Some(&edge) => {
                self.claims[edge].as_ref().map_err(String::clone)?;
                Err(format!("at {level}: edge {edge} holds in no case"))
            }
        }
    }

    /// Whether a proof holds at a level. Walks the tree of cases with an explicit stack, except for cases of appends
    /// and outcomes, which may be nested [`MOST_NESTED`] times. Every edge must hold in some case, even one that no
    /// contradiction needs: `open` loses those that do.
    fn proves(
        &self,
        level: Level,
        proof: &ProofEntry,
        assumed: Vec<usize>,
        open: &mut Vec<usize>,
        depth: usize,
    ) -> Result<(), String> {
        let basis = Basis::of(level);
        let control = self.resolution.initial().control();
        let setting = Setting::new(self.resolution, basis);
        let strength = Strength::of(self.history, self.resolution.initial(), level)?;
        let time = levels::row(level).time;
        let spans = strength.map_or(Vec::new(), |strength| self.spans(strength, time));
        let mut stack = vec![(proof, assumed, setting)];
        while let Some((proof, assumed, setting)) = stack.pop() {
            control.check().map_err(|interrupt| interrupt.to_string())?;
            open.retain(|&edge| self.holds(edge, &setting).is_err());
            match proof {
                ProofEntry::Read => {
                    return Err("a case does not say which reads it ends in".to_owned());
                }
                ProofEntry::Reads { pattern, reads } => {
                    let reads: Result<Vec<_>, _> =
                        reads.iter().map(|entry| self.entry(entry)).collect();
                    let reads = reads?;
                    read::is_at_level(self.history, *pattern, &reads, level)?;
                    read::contradict(self.history, &setting, (*pattern, level), &reads)?;
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
                        stack.push((&*case.proof, assumed, setting.clone()));
                    }
                }
                ProofEntry::Appends { cases, .. } if cases.is_empty() && self.is_impossible => {}
                _ => {
                    let mut parts: Vec<(Vec<Supposed>, &ProofEntry)> = Vec::new();
                    if let Some(cases) = self.cases(proof, &setting, basis)? {
                        let case = |(supposed, proof)| (vec![supposed], proof);
                        parts.extend(cases.into_iter().map(case));
                    }
                    if let ProofEntry::Combinations {
                        options,
                        excluded,
                        clauses,
                    } = proof
                    {
                        let questions = self.questions(options, &setting, basis)?;
                        questions.leave_none((excluded, clauses), control)?;
                        for combination in excluded {
                            parts.push((questions.options_of(combination)?, &combination.proof));
                        }
                    }
                    for (supposed, proof) in parts.into_iter().rev() {
                        match self.supposed(&supposed, &setting)? {
                            Case::Of(setting) => stack.push((proof, assumed.clone(), setting)),
                            Case::Impossible => self.leave_out(proof, open),
                            Case::Apart(apart) => {
                                let case = (proof, &*apart);
                                self.proves_apart(level, case, &assumed, open, depth + 1)?;
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a proof holds in a history in which more is known; anything holds in an impossible one.
    fn proves_apart(
        &self,
        level: Level,
        (proof, apart): (&ProofEntry, &Apart),
        assumed: &[usize],
        open: &mut Vec<usize>,
        depth: usize,
    ) -> Result<(), String> {
        if depth > MOST_NESTED {
            return Err("cases of appends or outcomes are too deep".to_owned());
        }
        let resolution = Resolution::whole(&apart.history, self.resolution.shared_initial());
        let (history, resolution, violation) = (&apart.history, &resolution, self.violation);
        let inner = Argument::new(
            Subject {
                history,
                resolution,
                violation,
                transactions: self.transactions,
                levels: &[],
            },
            false,
        );
        if apart.is_impossible {
            // In addition to what the proof mentions, observations of the transactions that would have committed are
            // shown.
            let setting = Setting::new(resolution, Basis::of(level));
            open.retain(|&edge| inner.holds(edge, &setting).is_err());
            self.leave_out(proof, open);
            return Ok(());
        }
        inner.proves(level, proof, assumed.to_vec(), open, depth)
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
