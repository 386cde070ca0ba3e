//! Instances by root cause and by component.

use super::involved_operations;
use isoscope_check::checkers::{Level, Pattern, Supposed, Violation};
use isoscope_model::history::{History, KeyId, OperationKind, TransactionId, Value};
use isoscope_model::relations::Reason;
use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Violations with one root cause, or of one component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Places in the list of violations: the most convincing first.
    pub members: Vec<usize>,
    /// The patterns among them, ascending.
    pub patterns: Vec<Pattern>,
    /// The weakest level that any of them violates.
    pub weakest: Option<Level>,
    /// All transactions that they mention, ascending, without ⊥.
    pub transactions: Vec<TransactionId>,
}

impl Group {
    /// The member to show: few transactions, few edges, not implied by others.
    pub fn smallest(&self) -> Option<usize> {
        self.members.first().copied()
    }
}

/// A root cause: two violations that share it have the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cause {
    /// What the checker grouped: a component, or a pair of writers.
    Listed(Pattern, u32),
    /// Two transactions that each have to come before the other.
    Pair(TransactionId, TransactionId),
    /// A version that should not have been read.
    Version(KeyId, Value),
}

/// Violations by root cause: instances of one pattern that the checker grouped, instances of any pattern that order the
/// same two transactions by an inference on their cycle, and wrong reads of the same value. The group with the most
/// convincing member comes first. O(size of the violations).
pub fn groups(history: &History, violations: &[Violation]) -> Vec<Group> {
    grouped_by(violations, |violation| causes(history, violation))
}

/// Violations by component: those that share a transaction, directly or through others. ⊥ joins nothing. The component
/// with the most convincing member comes first. O(size of the violations).
pub fn components(history: &History, violations: &[Violation]) -> Vec<Group> {
    grouped_by(violations, |violation| touched(history, violation))
}

/// The transactions that a violation mentions.
pub(super) fn named_transactions(violation: &Violation) -> Vec<TransactionId> {
    let mut named = violation.transactions.clone();
    for edge in &violation.edges {
        named.extend([edge.from, edge.to]);
        match edge.because {
            Reason::Visible { reader, .. } | Reason::Listed { reader, .. } => named.push(reader),
            Reason::Overwrites { writer, .. } => named.push(writer),
            _ => {}
        }
    }
    for part in violation.proof.parts() {
        named.extend(part.answers().filter_map(|answer| match answer {
            Supposed::Writer { writer: t, .. } | Supposed::Outcome { transaction: t, .. } => {
                Some(t)
            }
            Supposed::Order(_) | Supposed::Append { .. } => None,
        }));
    }
    named
}

/// The transactions that a violation names: its own, and those of its edges, its proof and its operations, ascending,
/// without ⊥.
pub(super) fn touched(history: &History, violation: &Violation) -> Vec<TransactionId> {
    let mut touched = named_transactions(violation);
    touched.extend(
        involved_operations(violation)
            .into_iter()
            .map(|o| history.transaction_of(o)),
    );
    touched.retain(|t| !t.is_initial());
    touched.sort_unstable();
    touched.dedup();
    touched
}

/// Violations that have something in common, directly or through others.
fn grouped_by<T: Hash + Eq>(
    violations: &[Violation],
    shares: impl Fn(&Violation) -> Vec<T>,
) -> Vec<Group> {
    let mut sets: UnionFind<usize> = UnionFind::new(violations.len());
    let mut first: FxHashMap<T, usize> = FxHashMap::default();
    for (place, violation) in violations.iter().enumerate() {
        for shared in shares(violation) {
            sets.union(place, *first.entry(shared).or_insert(place));
        }
    }
    let mut place_of_root: FxHashMap<usize, usize> = FxHashMap::default();
    let mut groups: Vec<Group> = Vec::new();
    for place in 0..violations.len() {
        let group = *place_of_root
            .entry(sets.find_mut(place))
            .or_insert_with(|| {
                groups.push(Group {
                    members: Vec::new(),
                    patterns: Vec::new(),
                    weakest: None,
                    transactions: Vec::new(),
                });
                groups.len() - 1
            });
        groups[group].members.push(place);
    }
    let order = |place: &usize| {
        let violation = &violations[*place];
        (
            violation.implied,
            violation.size(),
            violation.edges.len(),
            violation.id,
        )
    };
    for group in &mut groups {
        group.members.sort_by_key(order);
        for violation in group.members.iter().map(|&place| &violations[place]) {
            group.patterns.push(violation.id.pattern);
            group.weakest = group
                .weakest
                .into_iter()
                .chain(violation.levels.weakest())
                .min();
            group
                .transactions
                .extend(violation.transactions.iter().filter(|t| !t.is_initial()));
        }
        group.patterns.sort_unstable();
        group.patterns.dedup();
        group.transactions.sort_unstable();
        group.transactions.dedup();
    }
    groups.sort_by_key(|group| group.smallest().map(|place| order(&place)));
    groups
}

/// What a violation has in common with all others of one root cause.
pub(super) fn causes(history: &History, violation: &Violation) -> Vec<Cause> {
    let mut causes = vec![Cause::Listed(violation.id.pattern, violation.group)];
    let cycle = violation.proof.cycle_edges();
    for edge in cycle.iter().filter_map(|&e| violation.edges.get(e)) {
        // An observed edge may be part of any number of arguments.
        let is_inferred = !edge.because.premises().is_empty();
        if is_inferred && !edge.from.is_initial() && !edge.to.is_initial() {
            causes.push(Cause::Pair(edge.from.min(edge.to), edge.from.max(edge.to)));
        }
    }
    if violation.id.pattern.is_wrong_read() {
        let operations = involved_operations(violation)
            .into_iter()
            .map(|o| history.operation(o));
        let reads = operations.filter(|o| o.kind == OperationKind::Read);
        causes.extend(reads.map(|read| Cause::Version(read.key, read.value)));
    }
    causes
}
