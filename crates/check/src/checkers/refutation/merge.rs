//! Merges the violations of several cases.

use super::needs::{is_open, rests_on_writers};
use crate::checkers::strong_patterns::{key_of, named_by};
use crate::checkers::{Level, LevelSet, Pattern, Proof, Question, Supposed, Violation, WrongReads};
use isoscope_model::history::{History, OperationId, OperationKind, TransactionId};
use isoscope_model::relations::{Edge, EdgeIndex, Relation, Resolution, Source};
use rustc_hash::{FxHashMap, FxHashSet};

/// One violation for all answers to a question, described by that of the first.
pub(in crate::checkers) fn merged(
    history: &History,
    question: Question,
    first: (Supposed, Violation),
    others: impl Iterator<Item = (Supposed, Violation)>,
) -> Violation {
    let (mut whole, cases) = joined(first, others);
    let appends = cases.iter().filter_map(|(answer, _)| match answer {
        Supposed::Append { append, .. } => Some(*append),
        _ => None,
    });
    let appends: Vec<OperationId> = appends.collect();
    let mut transactions: Vec<TransactionId> = appends
        .iter()
        .map(|&append| history.transaction_of(append))
        .collect();
    match question {
        Question::Append { read, .. } => transactions.push(history.transaction_of(read)),
        Question::Outcome { transaction } => transactions.push(transaction),
        Question::Order { .. } | Question::Writer { .. } => {}
    }
    add_new(&mut whole.transactions, transactions);
    add_new(&mut whole.operations, appends);
    add_new(&mut whole.operations, question.read().into_iter().collect());
    whole.proof = Proof::Cases { question, cases };
    whole
}

/// [`merged`], described by the first of the cases whose weakest level is the strongest: the whole violates no weaker
/// one, so the letters of the other cases would claim too much. `None` without cases.
pub(in crate::checkers) fn merged_by_strongest(
    history: &History,
    question: Question,
    mut cases: Vec<(Supposed, Violation)>,
) -> Option<Violation> {
    let first = strongest_first(&mut cases)?;
    Some(merged(history, question, first, cases.into_iter()))
}

/// The violation of the first case, extended by everything the others are about, and the proof of each.
/// O(edges) except for edges between the same transactions.
fn joined<C>(
    (case, mut whole): (C, Violation),
    others: impl Iterator<Item = (C, Violation)>,
) -> (Violation, Vec<(C, Proof)>) {
    let first = std::mem::replace(&mut whole.proof, Proof::Reads(None));
    let of_first = whole.levels.weakest();
    let mut between: Between = FxHashMap::default();
    for (place, edge) in whole.edges.iter().enumerate() {
        between.entry((edge.from, edge.to)).or_default().push(place);
    }
    let (mut transactions, mut operations) =
        (Each::new(&whole.transactions), Each::new(&whole.operations));
    let mut proofs = vec![(case, first)];
    for (name, case) in others {
        proofs.push((
            name,
            graft(&mut whole.edges, &mut between, case.edges, case.proof),
        ));
        let pattern = case.id.pattern.id().to_owned();
        if case.id.pattern != whole.id.pattern && !whole.also.contains(&pattern) {
            whole.also.push(pattern);
        }
        transactions.add(&mut whole.transactions, case.transactions);
        operations.add(&mut whole.operations, case.operations);
        whole.levels = whole.levels.intersection(case.levels);
    }
    whole.implied = false;
    name_by_common_levels(&mut whole, &proofs[0].1, of_first);
    (whole, proofs)
}

/// Takes out the case that describes the violation.
fn strongest_first<C>(cases: &mut Vec<(C, Violation)>) -> Option<(C, Violation)> {
    let common = cases
        .iter()
        .map(|(_, case)| case.levels)
        .reduce(LevelSet::intersection)?
        .weakest();
    let of_all = cases
        .iter()
        .position(|(_, case)| case.levels.weakest() == common);
    let strongest = || {
        (0..cases.len())
            .rev()
            .max_by_key(|&at| cases[at].1.levels.weakest())
    };
    let teller = of_all.or_else(strongest)?;
    Some(cases.remove(teller))
}

/// Cases that violate incomparable levels together violate only what is above both: a cycle that is named after the
/// weakest level that its own case violates takes the name by the weakest that all violate.
fn name_by_common_levels(whole: &mut Violation, first: &Proof, of_first: Option<Level>) {
    let common = whole
        .levels
        .weakest()
        .filter(|_| whole.levels.weakest() != of_first);
    if let Some(level) = common.filter(|_| whole.id.pattern.is_named_by_level()) {
        whole.id.pattern = named_by(&whole.edges, first, level);
        whole.key = key_of(whole.id.pattern, &whole.edges, first);
    }
}

fn add_new<T: PartialEq>(list: &mut Vec<T>, more: Vec<T>) {
    for item in more {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

/// By the ends of edges: their places in a list.
type Between = FxHashMap<(TransactionId, TransactionId), Vec<EdgeIndex>>;

/// Adds edges to a list, each once, and returns the proof in terms of that list. Premises come first in both.
fn graft(edges: &mut Vec<Edge>, between: &mut Between, more: Vec<Edge>, mut proof: Proof) -> Proof {
    let mut place: Vec<EdgeIndex> = Vec::with_capacity(more.len());
    for mut edge in more {
        edge.because
            .premises_mut()
            .iter_mut()
            .for_each(|premise| *premise = place[*premise]);
        let known = between.entry((edge.from, edge.to)).or_default();
        place.push(
            known
                .iter()
                .copied()
                .find(|&at| edges[at] == edge)
                .unwrap_or_else(|| {
                    known.push(edges.len());
                    edges.push(edge);
                    edges.len() - 1
                }),
        );
    }
    proof.renumber_edges(|edge| place[edge]);
    proof
}

/// One violation for all answers to what is open: the options of each of the `combinations` do not all hold. Described
/// by the first of those whose weakest level is the strongest, which also comes first in the proof. `None` without
/// combinations.
pub(in crate::checkers) fn merged_by_combinations(
    options: Vec<Supposed>,
    mut combinations: Vec<(Vec<usize>, Violation)>,
    clauses: Vec<Vec<(usize, bool)>>,
) -> Option<Violation> {
    let first = strongest_first(&mut combinations)?;
    let (mut whole, excluded) = joined(first, combinations.into_iter());
    let reads = options.iter().filter_map(|option| option.read()).collect();
    Each::new(&whole.operations).add(&mut whole.operations, reads);
    let of_outcomes = options.iter().filter_map(|option| match *option {
        Supposed::Outcome { transaction, .. } => Some(transaction),
        _ => None,
    });
    Each::new(&whole.transactions).add(&mut whole.transactions, of_outcomes.collect());
    whole.proof = Proof::Log {
        options,
        excluded,
        clauses,
    };
    Some(whole)
}

/// The items of a list, to add each only once.
struct Each<T>(FxHashSet<T>);

impl<T: Copy + Eq + std::hash::Hash> Each<T> {
    fn new(list: &[T]) -> Each<T> {
        Each(list.iter().copied().collect())
    }

    fn add(&mut self, list: &mut Vec<T>, more: Vec<T>) {
        list.extend(more.into_iter().filter(|&item| self.0.insert(item)));
    }
}

/// Names the contradictory reads if the operations alone contradict, and drops edges that assume a writer on which the
/// contradiction does not depend.
pub(in crate::checkers) fn spelled_out(
    history: &History,
    resolution: &Resolution,
    mut violation: Violation,
) -> Violation {
    if violation.proof != Proof::Reads(None) {
        return violation;
    }
    let pattern = violation.id.pattern;
    let is_read = |o: &OperationId| history.operation(*o).kind == OperationKind::Read;
    let mut reads: Vec<OperationId> = violation
        .edges
        .iter()
        .filter_map(|edge| edge.to_operation)
        .collect();
    add_new(
        &mut reads,
        violation
            .operations
            .iter()
            .copied()
            .filter(is_read)
            .collect(),
    );
    // Incompatible lists are two as well.
    reads.truncate(
        if matches!(
            pattern,
            Pattern::NonRepeatableRead | Pattern::IncompatibleOrder
        ) {
            2
        } else {
            1
        },
    );
    violation.proof = Proof::Reads(Some(WrongReads {
        pattern,
        reads: reads.clone(),
    }));
    if rests_on_writers(resolution, &violation.proof) {
        return violation;
    }
    let mut operations: Vec<OperationId> = Vec::new();
    if pattern == Pattern::NonRepeatableRead {
        operations.extend(
            reads
                .iter()
                .flat_map(|&read| possible_writes(history, resolution, read)),
        );
    }
    operations.extend(reads);
    violation.edges.retain(|edge| {
        let read = edge
            .to_operation
            .filter(|_| edge.relation == Relation::WriteRead);
        let is_open = read.is_some_and(|read| is_open(history, resolution, read));
        // An aborted transaction has no effect, so no edge comes from it.
        if pattern == Pattern::AbortedRead {
            operations.extend(edge.from_operation);
        }
        !is_open && pattern != Pattern::AbortedRead
    });
    add_new(&mut violation.operations, operations);
    // Transactions named only by a dropped edge are no longer involved.
    let of_operations = violation
        .operations
        .iter()
        .map(|&o| history.transaction_of(o));
    let of_edges = violation.edges.iter().flat_map(|edge| [edge.from, edge.to]);
    let named: FxHashSet<TransactionId> = of_operations.chain(of_edges).collect();
    violation.transactions.retain(|t| named.contains(t));
    violation
}

/// The writes that a read may have returned, unless they are too many to list.
pub(in crate::checkers) fn possible_writes(
    history: &History,
    resolution: &Resolution,
    read: OperationId,
) -> Vec<OperationId> {
    const MOST_TOLD: usize = 8;
    let write = |source: &Source| match *source {
        Source::Transaction { write, .. } => Some(write),
        _ => None,
    };
    match resolution.multiple_sources(read) {
        Some(multiple) if multiple.sources().len() > MOST_TOLD => Vec::new(),
        Some(multiple) => multiple.sources().iter().filter_map(write).collect(),
        None => write(&resolution.source_in(history.transaction_of(read), read))
            .into_iter()
            .collect(),
    }
}
