//! Linearizability as one of the levels asked for: how it is decided, and what else that decides.

use super::super::linearizability::{self, Conflict, Cores, Linear};
use super::super::strong_patterns;
use super::{CheckRun, Prepared, Request, add, names};
use crate::checkers::facts::Facts;
use crate::checkers::{
    Cause, Event, Instances, Level, Options, Proof, Verdict, Violation, Witness,
};
use isoscope_model::control::Interrupt;
use isoscope_model::history::TransactionId;
use isoscope_model::relations::{EdgeIndex, Index, Node, Relation, Resolution};
use std::cell::LazyCell;
use std::sync::Arc;
use std::time::Instant;

/// Most conflicts that are explained, however many are listed: counts depend on the history alone.
const MOST_CONFLICTS: usize = 1000;

/// What is left to list after the decision.
#[derive(Default)]
pub(super) struct Evidence {
    conflicts: Vec<Conflict>,
    /// Whether failed comparisons count among the conflicts.
    compares: bool,
    /// What the engine of strict serializability found, if it was needed.
    strict: Instances,
}

impl Evidence {
    /// Whether there is nothing to list.
    pub(super) fn is_empty(&self) -> bool {
        self.conflicts.is_empty() && self.strict.violations.is_empty()
    }
}

impl CheckRun<'_> {
    /// Decides LIN, if asked for, before all other levels: it is fast, and if it is satisfied so are they. Where values
    /// repeat, strict serializability is decided in the same way.
    pub(super) fn linearizability(&mut self, prepared: &Prepared, facts: Facts) -> Evidence {
        let mut evidence = Evidence::default();
        let asked = |level: Level| self.levels().contains(&level);
        let (is_asked, is_strict_asked) = (
            asked(Level::Linearizability),
            asked(Level::StrictSerializability),
        );
        if is_asked {
            let begin = Instant::now();
            evidence.compares = true;
            let verdict = self.linear_verdict(prepared, facts, &mut evidence);
            self.decided_linear(Level::Linearizability, verdict, begin);
        }
        let settled = self.verdicts.contains_key(&Level::StrictSerializability);
        if is_strict_asked && !settled && self.is_strict_linear(prepared, facts) {
            let begin = Instant::now();
            let mut strict = Evidence::default();
            let is_same =
                !self.asked.history.has_failed_comparisons() && !evidence.conflicts.is_empty();
            let verdict = if is_same {
                Ok(Verdict::Violated)
            } else {
                self.linear_order(prepared, &mut strict)
            };
            // What violates this level violates LIN.
            if !strict.conflicts.is_empty() {
                evidence.conflicts = strict.conflicts;
                evidence.compares = false;
            }
            self.decided_linear(Level::StrictSerializability, verdict, begin);
        }
        self.serial_in_sessions(prepared, facts);
        evidence
    }

    /// Where values of single operations repeat and real time did not lead to an order: one in session order, if it is
    /// found, satisfies serializability and all that follows from it.
    fn serial_in_sessions(&mut self, prepared: &Prepared, facts: Facts) {
        let level = Level::Serializability;
        let open = |other: &Level| {
            level.implies(*other) && !other.is_of_reads() && !self.verdicts.contains_key(other)
        };
        let open: Vec<Level> = self.levels().iter().copied().filter(open).collect();
        let Request {
            history, control, ..
        } = self.asked;
        let applies = prepared.resolution.has_multiple_sources()
            && isoscope_model::history::is_lightweight(history);
        if open.is_empty() || !applies || facts.violate(level) {
            return;
        }
        let begin = Instant::now();
        let found = linearizability::order_in_sessions(history, &prepared.resolution, control);
        let Ok(Some(order)) = found else { return };
        self.satisfied_one_by_one(open, &Arc::new(order), begin.elapsed().as_secs_f64());
    }

    /// Satisfies levels by running the transactions one after the other in this order.
    fn satisfied_one_by_one(
        &mut self,
        levels: Vec<Level>,
        order: &Arc<Vec<TransactionId>>,
        seconds: f64,
    ) {
        let events = LazyCell::new(|| {
            Arc::new(
                order
                    .iter()
                    .flat_map(|&t| [Event::Start(t), Event::Commit(t)])
                    .collect(),
            )
        });
        for level in levels {
            let witness = if level.has_snapshots() {
                Witness::Events(Arc::clone(&events))
            } else {
                Witness::CommitOrder(Arc::clone(order))
            };
            self.decided(level, Verdict::Satisfied(witness), seconds);
        }
    }

    /// Whether strict serializability is decided like linearizability: for single operations whose sources are open.
    fn is_strict_linear(&self, prepared: &Prepared, facts: Facts) -> bool {
        prepared.resolution.has_multiple_sources()
            && isoscope_model::history::is_lightweight(self.asked.history)
            && prepared.index.clock_against_session_order().is_none()
            && !facts.violate(Level::StrictSerializability)
    }

    fn decided_linear(&mut self, level: Level, verdict: Result<Verdict, Cause>, begin: Instant) {
        let verdict = verdict.unwrap_or_else(Verdict::Undecided);
        // The engine of the level may still find out.
        if level != Level::Linearizability && matches!(verdict, Verdict::Undecided(_)) {
            return;
        }
        self.decided(level, verdict.clone(), begin.elapsed().as_secs_f64());
        if let Verdict::Satisfied(Witness::CommitOrder(order)) = verdict {
            let is_weaker =
                |other: &Level| *other != level && level.implies(*other) && !other.is_of_reads();
            self.satisfied_one_by_one(
                self.levels().iter().copied().filter(is_weaker).collect(),
                &order,
                0.0,
            );
        }
    }

    fn linear_verdict(
        &mut self,
        prepared: &Prepared,
        facts: Facts,
        evidence: &mut Evidence,
    ) -> Result<Verdict, Cause> {
        if facts.violate(Level::Linearizability) {
            return Ok(Verdict::Violated);
        }
        if prepared.index.clock_against_session_order().is_some() {
            return self.as_strict(prepared, evidence);
        }
        self.linear_order(prepared, evidence)
    }

    /// The verdict by orders of single keys.
    fn linear_order(&self, prepared: &Prepared, evidence: &mut Evidence) -> Result<Verdict, Cause> {
        let Request {
            history, control, ..
        } = self.asked;
        match linearizability::decide(history, &prepared.resolution, evidence.compares, control)? {
            Linear::Satisfied(order) => Ok(Verdict::Satisfied(Witness::CommitOrder(order.into()))),
            Linear::Violated(conflicts) => {
                evidence.conflicts = conflicts;
                Ok(Verdict::Violated)
            }
            Linear::Open if evidence.compares => self.as_strict(prepared, evidence),
            Linear::Open => Err(Cause::Interrupted(Interrupt::Cancelled)),
        }
    }

    /// The verdict of strict serializability, which differs only in failed comparisons.
    fn as_strict(&self, prepared: &Prepared, evidence: &mut Evidence) -> Result<Verdict, Cause> {
        let level = Level::StrictSerializability;
        let Request {
            history,
            options,
            control,
            ..
        } = self.asked;
        let counts = options.counts || options.max_instances > 0;
        let options = Options {
            levels: vec![level],
            counts,
            ..options.clone()
        };
        let request = Request {
            options: &options,
            observe: &|_| {},
            ..self.asked
        };
        let mut findings = request.check(Some(Arc::clone(&prepared.resolution)));
        let verdict = findings.levels.pop().map(|result| result.verdict);
        match verdict.unwrap_or(Verdict::Undecided(Cause::Interrupted(Interrupt::Cancelled))) {
            Verdict::Violated => {
                evidence.strict = Instances {
                    counts: findings.patterns,
                    violations: findings.violations,
                    more: Vec::new(),
                };
                Ok(Verdict::Violated)
            }
            Verdict::Satisfied(Witness::CommitOrder(order)) => {
                if linearizability::comparisons_fit(history, &order) {
                    return Ok(Verdict::Satisfied(Witness::CommitOrder(order)));
                }
                match linearizability::decide_across(
                    history,
                    &prepared.resolution,
                    &order,
                    control,
                )? {
                    Linear::Satisfied(order) => {
                        Ok(Verdict::Satisfied(Witness::CommitOrder(order.into())))
                    }
                    Linear::Violated(conflicts) => {
                        evidence.conflicts = conflicts;
                        Ok(Verdict::Violated)
                    }
                    Linear::Open => unreachable!("all keys were looked at together"),
                }
            }
            Verdict::Satisfied(_) => unreachable!("a strictly serial order is an order of commits"),
            Verdict::Undecided(cause) => Err(cause),
        }
    }

    /// Adds what shows that LIN is violated, unless other levels show it already.
    pub(super) fn list_conflicts(
        &mut self,
        evidence: Evidence,
        resolution: &Resolution,
        index: &Index,
        found: &mut Instances,
    ) {
        let is_shown = names(found, Level::Linearizability);
        if !is_shown {
            for (pattern, count) in evidence.strict.counts {
                *found.counts.entry(pattern).or_default() += count;
            }
            found.violations.extend(evidence.strict.violations);
        }
        let Request {
            history, control, ..
        } = self.asked;
        if evidence.conflicts.is_empty() {
            return;
        }
        let is_strict = |conflict: &Conflict| matches!(conflict, Conflict::Strict(_));
        let cores = !evidence.conflicts.iter().all(is_strict);
        let cores = cores.then(|| Cores::new(history, resolution));
        let mut group = 0;
        for conflict in evidence.conflicts.into_iter().take(MOST_CONFLICTS) {
            let violation = match conflict {
                Conflict::Strict(_) if is_shown => continue,
                Conflict::Strict(transactions) => {
                    let level = Level::StrictSerializability;
                    strong_patterns::of_core(
                        history,
                        index,
                        nodes(index, &transactions),
                        level,
                        control,
                    )
                }
                Conflict::NoOrder(key, stuck) => {
                    let Some(cores) = &cores else { continue };
                    cores.violation(key, stuck, evidence.compares, control)
                }
                Conflict::NoOrderAcross(keys, stuck) => {
                    let Some(cores) = &cores else { continue };
                    cores.violation_across(&keys, stuck, control)
                }
            };
            match violation {
                // Several conflicts may have the same explanation.
                Ok(Some(violation)) if is_listed(found, &violation) => {}
                Ok(Some(mut violation)) => {
                    group += 1;
                    violation.group = group;
                    add(found, violation);
                }
                Ok(None) => {}
                Err(_) => break,
            }
        }
        if !names(found, Level::Linearizability) {
            self.assumptions.push(
                "LIN is violated: an exhaustive search found no order of the operations; the check ended before it was known \
                 which operations show it."
                    .to_owned(),
            );
        }
    }
}

/// Whether the same is listed already: a cycle of the same edges, whatever they rest on, or the same argument.
fn is_listed(found: &Instances, violation: &Violation) -> bool {
    let cycle = cycle_of(violation);
    let same = |other: &Violation| match (&cycle, cycle_of(other)) {
        (Some(cycle), Some(other_cycle)) => {
            other.id.pattern == violation.id.pattern && *cycle == other_cycle
        }
        _ => {
            (
                other.id.pattern,
                &other.transactions,
                &other.edges,
                &other.proof,
            ) == (
                violation.id.pattern,
                &violation.transactions,
                &violation.edges,
                &violation.proof,
            )
        }
    };
    found.violations.iter().any(same)
}

/// The edges of a violation's cycle; for an anti-dependency also the read, as its reader may have missed the newer
/// version several times.
fn cycle_of(violation: &Violation) -> Option<Vec<impl Ord + use<>>> {
    let Proof::Cycle(cycle) = &violation.proof else {
        return None;
    };
    let of_edge = |&e: &EdgeIndex| {
        let edge = &violation.edges[e];
        let read = edge
            .from_operation
            .filter(|_| edge.relation == Relation::AntiDependency);
        (edge.from, edge.to, edge.relation, edge.key, read)
    };
    let mut edges: Vec<_> = cycle.iter().map(of_edge).collect();
    edges.sort_unstable();
    Some(edges)
}

/// The nodes of some transactions, ascending.
fn nodes(index: &Index, transactions: &[TransactionId]) -> Vec<Node> {
    let mut nodes: Vec<Node> = transactions.iter().map(|t| index.node[t.index()]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}
