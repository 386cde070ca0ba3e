//! Which reads with several possible writers a violation rests on.

use crate::checkers::{Pattern, Proof, Violation, WrongReads};
use isoscope_model::history::{History, OperationId, OperationKind, Outcome, TransactionId};
use isoscope_model::relations::{
    Choice, EdgeIndex, Reason, Resolution, Source, Standing, appenders,
};
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, VecDeque};

/// Why transactions of unknown outcome count as committed under a choice of writers.
pub(super) struct Promotions {
    by: FxHashMap<TransactionId, Promotion>,
}

/// A transaction of unknown outcome counts as committed because `reader`, itself committed, reads from it.
struct Promotion {
    reader: TransactionId,
    read: OperationId,
    /// Reads on the way from a transaction that is known to have committed.
    depth: u32,
}

impl Promotions {
    /// Follows the reads from committed transactions, breadth first. O(operations) if any outcome is unknown.
    pub(super) fn new(history: &History, resolution: &Resolution, choice: &Choice) -> Promotions {
        let mut promotions = Promotions {
            by: FxHashMap::default(),
        };
        if !history
            .transactions()
            .any(|t| history.outcome(t) == Outcome::Unknown)
        {
            return promotions;
        }
        let mut waiting: VecDeque<TransactionId> = history
            .transactions()
            .filter(|&t| resolution.standing(t) == Standing::Committed)
            .collect();
        while let Some(reader) = waiting.pop_front() {
            let depth = promotions.depth(reader) + 1;
            for read in history.operations_of(reader) {
                let source = match resolution.source_in(reader, read) {
                    Source::Ambiguous => resolution.chosen(read, choice),
                    source => Some(source),
                };
                let read_from = match source {
                    Some(Source::Transaction { writer, .. })
                        if !resolution.is_open_after_own_write(read) =>
                    {
                        Some(writer)
                    }
                    _ => None,
                };
                for writer in read_from.into_iter().chain(appenders(history, read)) {
                    if history.outcome(writer) == Outcome::Unknown
                        && !promotions.by.contains_key(&writer)
                    {
                        promotions.by.insert(
                            writer,
                            Promotion {
                                reader,
                                read,
                                depth,
                            },
                        );
                        waiting.push_back(writer);
                    }
                }
            }
        }
        promotions
    }

    /// How many reads show that a transaction committed: 0 if it is known to have committed.
    pub(super) fn depth(&self, t: TransactionId) -> u32 {
        self.by.get(&t).map_or(0, |promotion| promotion.depth)
    }

    /// Adds the reads that show that a transaction committed.
    pub(super) fn add_reads(&self, t: TransactionId, reads: &mut BTreeSet<OperationId>) {
        let mut at = t;
        // Each step leads to a smaller depth.
        while let Some(promotion) = self.by.get(&at) {
            reads.insert(promotion.read);
            at = promotion.reader;
        }
    }
}

/// The reads with several possible writers that a violation rests on: those whose writers its edges and reads name, and
/// those that show that its transactions committed. The reads of a proof must be spelled out.
pub(super) fn needs(
    history: &History,
    resolution: &Resolution,
    violation: &Violation,
    promotions: &Promotions,
) -> BTreeSet<OperationId> {
    let mut reads = BTreeSet::new();
    let mut transactions = BTreeSet::new();
    for edge in &violation.edges {
        transactions.extend([edge.from, edge.to]);
        match &edge.because {
            Reason::Reads => reads.extend(edge.to_operation),
            Reason::Visible { reader, read, .. } => {
                transactions.insert(*reader);
                reads.insert(*read);
            }
            Reason::Overwrites { writer, .. } => {
                transactions.insert(*writer);
                reads.extend(edge.from_operation);
            }
            // A list shows an order only if its reader committed.
            Reason::Listed { reader, .. } => drop(transactions.insert(*reader)),
            _ => {}
        }
    }
    if let Proof::Reads(Some(WrongReads { reads: wrong, .. })) = &violation.proof {
        transactions.extend(wrong.iter().map(|&read| history.transaction_of(read)));
        if rests_on_writers(resolution, &violation.proof) {
            reads.extend(wrong);
        }
    }
    transactions
        .iter()
        .for_each(|&t| promotions.add_reads(t, &mut reads));
    reads.retain(|&read| {
        is_open(history, resolution, read) && !resolution.is_open_after_own_write(read)
    });
    reads
}

/// C4 calls a fractured read h or i if its reader also read another key from the newer writer, else k or l. If every
/// such read has only writers that read committed rules out, and the violation does not rest on it, the writer is not
/// certain.
pub(super) fn name_without_doubt(
    history: &History,
    resolution: &Resolution,
    violation: &mut Violation,
    needed: &BTreeSet<OperationId>,
) {
    if reads_other_key_from_newer(history, resolution, violation, needed) {
        return;
    }
    for (with_read, without) in [("C4 TAP-h", "C4 TAP-k"), ("C4 TAP-i", "C4 TAP-l")] {
        violation
            .also
            .iter_mut()
            .filter(|name| *name == with_read)
            .for_each(|name| *name = without.to_owned());
    }
}

/// Whether the reader certainly read another key from the writer of the newer version. True unless it is a cycle that
/// begins with the order of two versions.
fn reads_other_key_from_newer(
    history: &History,
    resolution: &Resolution,
    violation: &Violation,
    needed: &BTreeSet<OperationId>,
) -> bool {
    let Some((newer, reader, _)) = newer_version(violation) else {
        return true;
    };
    history.operations_of(reader).any(|read| {
        history.operation(read).kind == OperationKind::Read
            && Some(history.operation(read).key) != violation.key
            && resolution.source_in(reader, read).writer() == Some(newer)
            && (needed.contains(&read) || !is_open(history, resolution, read))
    })
}

/// For a cycle that begins with the order of two versions: the writer of the newer one, the reader that returned the
/// older one, and the edges by which it observes the newer one.
fn newer_version(violation: &Violation) -> Option<(TransactionId, TransactionId, &[EdgeIndex])> {
    let Proof::Cycle(cycle) = &violation.proof else {
        return None;
    };
    let first = &violation.edges[*cycle.first()?];
    match &first.because {
        Reason::Visible { reader, seen, .. } => Some((first.from, *reader, seen)),
        _ => None,
    }
}

/// Whether a fractured read depends on a read whose writer is not certain, and otherwise is just two reads of one key,
/// which another violation of the same key, reader and level shows.
pub(super) fn is_two_reads_of_a_key(
    history: &History,
    resolution: &Resolution,
    violation: &Violation,
    needed: &BTreeSet<OperationId>,
    torn: &[Violation],
) -> bool {
    let Some((newer, reader, &[seen])) = newer_version(violation) else {
        return false;
    };
    let seen = &violation.edges[seen];
    let is_earlier = !newer.is_initial()
        && newer < reader
        && history.session_of(newer) == history.session_of(reader);
    let is_of_key = seen.because == Reason::Reads && seen.key == violation.key && !is_earlier;
    let shows_it = |other: &Violation| {
        let is_at_level = violation
            .levels
            .weakest()
            .is_some_and(|level| other.levels.contains(level));
        is_at_level
            && other.key == violation.key
            && other.edges.first().is_some_and(|edge| edge.to == reader)
    };
    is_of_key
        && !reads_other_key_from_newer(history, resolution, violation, needed)
        && torn.iter().any(shows_it)
}

/// Within cases, whether C4 calls it h or k rests on a case that may turn out not to be needed: neither is
/// said if the reader may have read another key from the newer writer but nothing proves it.
pub(super) fn without_doubtful_name(
    history: &History,
    resolution: &Resolution,
    violation: &mut Violation,
) {
    if !matches!(
        violation.id.pattern,
        Pattern::FracturedReadCO | Pattern::FracturedReadCM
    ) {
        return;
    }
    let Proof::Cycle(cycle) = &violation.proof else {
        return;
    };
    let Some(first) = cycle.first().map(|&edge| &violation.edges[edge]) else {
        return;
    };
    let Reason::Visible { reader, .. } = first.because else {
        return;
    };
    let is_of_other = |o: &OperationId| {
        let operation = history.operation(*o);
        operation.kind == OperationKind::Read && Some(operation.key) != violation.key
    };
    let is_certain = |read: OperationId| {
        resolution.source_in(reader, read).writer() == Some(first.from)
            && !is_open(history, resolution, read)
    };
    let may_be = |read: OperationId| {
        let sources = resolution
            .multiple_sources(read)
            .map_or_else(Default::default, |multiple| multiple.sources());
        sources
            .iter()
            .any(|source| source.writer() == Some(first.from))
    };
    let others = || history.operations_of(reader).filter(is_of_other);
    if others().any(may_be) && !others().any(is_certain) {
        violation.also.retain(|name| {
            !matches!(
                name.as_str(),
                "C4 TAP-h" | "C4 TAP-i" | "C4 TAP-k" | "C4 TAP-l"
            )
        });
    }
}

/// Whether the writer of a read is open: it has several sources, and not exactly one that does not violate read
/// committed by itself.
pub(super) fn is_open(history: &History, resolution: &Resolution, read: OperationId) -> bool {
    resolution
        .multiple_sources(read)
        .is_some_and(|multiple| multiple.kept > 1)
        || resolution.is_open_after_own_write(read)
        || is_impossible_read(history, resolution, read)
}

/// Whether the writers of its reads matter to a contradiction by single reads.
pub(super) fn rests_on_writers(resolution: &Resolution, proof: &Proof) -> bool {
    match proof {
        Proof::Reads(Some(wrong)) => match (wrong.pattern, wrong.reads.as_slice()) {
            (Pattern::NonRepeatableRead, &[first, second]) => {
                resolution.may_share_source(first, second)
            }
            (pattern, _) => matches!(
                pattern,
                Pattern::IntermediateRead | Pattern::NonRepeatableRead
            ),
        },
        _ => true,
    }
}

/// Whether a read has several possible writers, each of which violates read committed by itself; reads after own writes
/// apart, of which no writer is taken.
pub(in crate::checkers) fn is_impossible_read(
    history: &History,
    resolution: &Resolution,
    read: OperationId,
) -> bool {
    resolution.multiple_sources(read).is_some_and(|multiple| {
        multiple.kept == 1
            && multiple.sources().len() > 1
            && !resolution.is_open_after_own_write(read)
            && multiple
                .sources()
                .iter()
                .all(|&source| is_impossible_source(history, multiple.reader, source))
    })
}

/// Whether reading from a source violates read committed by itself.
pub(super) fn is_impossible_source(
    history: &History,
    reader: TransactionId,
    source: Source,
) -> bool {
    match source {
        Source::Transaction {
            writer,
            intermediate,
            ..
        } => {
            intermediate
                || (writer > reader && history.session_of(writer) == history.session_of(reader))
        }
        _ => false,
    }
}
