//! Impossible writers of a read: they overwrote the version themselves, or come later in the reader's session.

use super::merge::merged;
use super::needs::is_impossible_source;
use crate::checkers::{Level, LevelSet, Pattern, Proof, Question, Supposed, Violation, WrongReads};
use isoscope_model::history::{History, KeyId, OperationId, TransactionId};
use isoscope_model::relations::{Edge, Resolution, Source, last_write};

/// Why a read cannot have read from an impossible source; `None` for other sources.
pub(super) fn contradiction(
    history: &History,
    read: OperationId,
    source: Source,
) -> Option<Violation> {
    let Source::Transaction {
        writer,
        write,
        intermediate,
        ..
    } = source
    else {
        return None;
    };
    let reader = history.transaction_of(read);
    if !is_impossible_source(history, reader, source) {
        return None;
    }
    let key = history.keys()[read.index()];
    let reads_from = Edge::write_read(history, writer, Some(write), read);
    Some(if intermediate {
        let overwritten_by = last_write(history, writer, key, |_| true);
        let proof = Proof::Reads(Some(WrongReads {
            pattern: Pattern::IntermediateRead,
            reads: vec![read],
        }));
        let operations = overwritten_by.into_iter().collect();
        violation(
            Pattern::IntermediateRead,
            Some(key),
            vec![writer, reader],
            operations,
            vec![reads_from],
            proof,
        )
    } else {
        let edges = vec![Edge::session_order(reader, writer), reads_from];
        violation(
            Pattern::CyclicCO,
            None,
            vec![reader, writer],
            Vec::new(),
            edges,
            Proof::Cycle(vec![0, 1]),
        )
    })
}

/// Why a read all of whose sources are impossible cannot be.
pub(super) fn refutation(
    history: &History,
    resolution: &Resolution,
    read: OperationId,
) -> Option<Violation> {
    let sources = resolution.multiple_sources(read)?.sources();
    let mut cases = cases(history, read, &sources);
    Some(merged(
        history,
        Question::Writer { read },
        cases.next()?,
        cases,
    ))
}

/// What follows from each of these sources of a read.
fn cases<'a>(
    history: &'a History,
    read: OperationId,
    sources: &'a [Source],
) -> impl Iterator<Item = (Supposed, Violation)> + 'a {
    sources.iter().filter_map(move |&source| {
        let writer = source.writer()?;
        let supposed = Supposed::Writer { read, writer };
        Some((supposed, contradiction(history, read, source)?))
    })
}

/// What follows from the first source of a read all of whose sources are impossible, next to the other cases.
pub(super) fn with_other_writers(
    history: &History,
    resolution: &Resolution,
    read: OperationId,
    first: Violation,
) -> Violation {
    let sources = resolution
        .multiple_sources(read)
        .map_or_else(Default::default, |multiple| multiple.sources());
    let Some((Some(writer), others)) = sources
        .split_first()
        .map(|(taken, others)| (taken.writer(), others))
    else {
        return first;
    };
    let others = cases(history, read, others);
    let first = (Supposed::Writer { read, writer }, first);
    let (implied, group, place) = (first.1.implied, first.1.group, first.1.place);
    Violation {
        implied,
        group,
        place,
        ..merged(history, Question::Writer { read }, first, others)
    }
}

fn violation(
    pattern: Pattern,
    key: Option<KeyId>,
    transactions: Vec<TransactionId>,
    operations: Vec<OperationId>,
    edges: Vec<Edge>,
    proof: Proof,
) -> Violation {
    let levels = LevelSet::upward(Level::AdyaReadCommitted);
    Violation {
        key,
        transactions,
        operations,
        edges,
        ..Violation::new(pattern, 1, levels, proof)
    }
}
