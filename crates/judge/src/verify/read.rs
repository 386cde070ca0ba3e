//! Violations shown by the operations alone: patterns a to f and j.

use super::basis::Basis;
use super::operations::{operation, operations};
use super::resolution::Source;
use super::setting::Setting;
use super::subject::Subject;
use super::{edge, levels, rows};
use crate::report::{EdgeEntry, ReasonEntry, ViolationEntry};
use isoscope_model::history::{History, OperationId, OperationKind, Outcome, TransactionId};
use isoscope_model::levels::{Level, Pattern};
use isoscope_model::relations::Relation;

/// The pattern of two reads.
const NON_REPEATABLE: Pattern = Pattern::NonRepeatableRead;

/// Whether reads that a violation names are an instance of its pattern and these of its levels follow.
pub(super) fn check(subject: Subject<'_>, levels: &[Level]) -> Result<(), String> {
    let Subject {
        history,
        resolution,
        violation,
        transactions,
        ..
    } = subject;
    if violation.pattern == super::linear::PATTERN {
        return super::linear::no_order(history, resolution, transactions, levels);
    }
    let pattern = violation.pattern;
    for &level in levels {
        let setting = Setting::new(resolution, Basis::of(level));
        instance(subject, &setting, Some(level))?
            .ok_or_else(|| format!("none of its reads is an instance of {pattern} at {level}"))?;
    }
    Ok(())
}

/// Whether the edges of a violation whose operations alone are its proof give the sources of reads, or the order of
/// operations in time.
pub(super) fn check_edges(subject: Subject<'_>) -> Result<(), String> {
    let Subject {
        history,
        resolution,
        violation,
        transactions,
        levels,
    } = subject;
    let level = levels.iter().find(|&&level| !levels::is_of_reads(level));
    let setting = Setting::new(
        resolution,
        Basis::of(*level.unwrap_or(&Level::CutIsolation)),
    );
    let is_linear = violation.pattern == super::linear::PATTERN;
    let wrong = if is_linear {
        Vec::new()
    } else {
        instance(subject, &setting, None)?.unwrap_or_default()
    };
    for (place, edge) in violation.edges.iter().enumerate() {
        let checked = if is_linear {
            super::linear::is_in_time(history, transactions, edge)
        } else {
            edge_into(history, &setting, (violation, &wrong), transactions, edge)
        };
        checked.map_err(|message| format!("edge {place}: {message}"))?;
    }
    Ok(())
}

/// The reads among those that a violation names that are an instance of its pattern, and violate a level if one is given.
fn instance(
    subject: Subject<'_>,
    setting: &Setting<'_>,
    level: Option<Level>,
) -> Result<Option<Vec<OperationId>>, String> {
    let Subject {
        history, violation, ..
    } = subject;
    let mut reads = operations(history, violation, subject.transactions)?;
    reads.retain(|&o| history.operation(o).kind == OperationKind::Read);
    let both = pairs(&reads).map(|(first, second)| vec![first, second]);
    let mut all = both.chain(reads.iter().map(|&read| vec![read]));
    let counts = |reads: &[OperationId]| {
        level.is_none_or(|level| is_at_level(history, violation.pattern, reads, level).is_ok())
    };
    let level = level.unwrap_or(Level::CutIsolation);
    Ok(all.find(|reads| {
        counts(reads) && contradict(history, setting, (violation.pattern, level), reads).is_ok()
    }))
}

/// Whether an edge gives the source of a read correctly. Only a wrong read may read from an aborted transaction, which
/// otherwise does not participate.
fn edge_into(
    history: &History,
    setting: &Setting<'_>,
    (violation, wrong): (&ViolationEntry, &[OperationId]),
    transactions: &[TransactionId],
    edge: &EdgeEntry,
) -> Result<(), String> {
    if !matches!(edge.reason, ReasonEntry::Reads) {
        return Err("wrong reads need no edges but those of the reads".to_owned());
    }
    edge::kind_is(edge, &[Relation::WriteRead])?;
    let index = edge.to_operation.ok_or("it does not name its read")?;
    let read = operation(history, transactions, edge.to, index)?;
    if history.operation(read).kind != OperationKind::Read {
        return Err(format!("{} is no read", history.operation_text(read)));
    }
    edge::names_key(history, edge, Some(history.operation(read).key))?;
    let &from = transactions
        .get(edge.from)
        .ok_or_else(|| format!("there is no transaction at place {}", edge.from))?;
    let write = edge
        .from_operation
        .map(|index| operation(history, transactions, edge.from, index))
        .transpose()?;
    let seen = setting.resolution().seen(read).0;
    let is_write = |o: OperationId| {
        let o = history.operation(o);
        o.kind == OperationKind::Write && o.key == seen.key
    };
    let fits = match violation.pattern {
        Pattern::AbortedRead if wrong.contains(&read) => {
            let list = super::lists::found(history, history.transaction_of(read), read);
            let is_there = |value| match list {
                Some((list, _)) => list.contains(&value),
                None => super::rows::explains(history, read, seen.value, Some(value)),
            };
            // The transaction that appended the last element of a list shows which version it is.
            let is_last = |value| list.is_some_and(|(list, _)| list.last() == Some(&value));
            let is_aborted = !from.is_initial() && history.outcome(from) == Outcome::Aborted;
            !from.is_initial()
                && write
                    .filter(|&o| is_write(o))
                    .map(|o| history.operation(o).value)
                    .is_some_and(|value| {
                        if is_aborted {
                            is_there(value)
                        } else {
                            is_last(value)
                        }
                    })
        }
        Pattern::IncompatibleOrder
            if !from.is_initial() && history.outcome(from) == Outcome::Aborted =>
        {
            let list = super::lists::found(history, history.transaction_of(read), read);
            let last = list.and_then(|(list, _)| list.last().copied());
            wrong.contains(&read)
                && write
                    .filter(|&o| is_write(o))
                    .map(|o| history.operation(o).value)
                    == last
                && last.is_some()
        }
        _ if from.is_initial() => setting.writers(read).contains(&from) && write.is_none(),
        _ => {
            let returned = edge::returned(history, setting.resolution(), from, read);
            setting.writers(read).contains(&from) && write.is_some() && write == returned
        }
    };
    require!(
        fits,
        "{} did not return that of {}",
        history.operation_text(read),
        history.transaction_name(from)
    )
}

fn pairs(reads: &[OperationId]) -> impl Iterator<Item = (OperationId, OperationId)> + '_ {
    reads
        .iter()
        .enumerate()
        .flat_map(|(at, &first)| reads[at + 1..].iter().map(move |&second| (first, second)))
}

/// Whether reads that are an instance of a pattern violate a level by themselves. Two reads with different writers do
/// not violate RC: that also requires that the second returned an older version, hence edges.
pub(super) fn is_at_level(
    history: &History,
    pattern: Pattern,
    reads: &[OperationId],
    level: Level,
) -> Result<(), String> {
    let are_items = || reads.iter().all(|&read| rows::is_of_item(history, read));
    let weakest = if pattern != NON_REPEATABLE {
        Level::PlainAdyaReadCommitted
    } else if are_items() {
        Level::ItemCutIsolation
    } else {
        Level::CutIsolation
    };
    require!(
        levels::implies(level, weakest),
        "such reads do not violate {level} by themselves"
    )
}

/// Whether these reads alone are an instance of a pattern in a setting, where reads count that do at a level.
pub(super) fn contradict(
    history: &History,
    setting: &Setting<'_>,
    (pattern, level): (Pattern, Level),
    reads: &[OperationId],
) -> Result<(), String> {
    match *reads {
        [first, second]
            if pattern == NON_REPEATABLE && are_torn(history, setting, first, second).is_ok() =>
        {
            Ok(())
        }
        // Whatever the writers: a violation of cut isolation violates all levels that imply it.
        _ if pattern == NON_REPEATABLE && !setting.has_cases() => {
            let of_items = levels::row(level).of_items;
            super::cut::share_no_writer(history, setting.resolution(), reads, of_items)
        }
        [first, second] if pattern == NON_REPEATABLE => are_torn(history, setting, first, second),
        [first, second] if pattern == Pattern::IncompatibleOrder => {
            let members = [first, second]
                .iter()
                .all(|&o| setting.is_member(history.transaction_of(o)));
            require!(
                members && super::lists::incompatible(history, first, second),
                "these lists may be prefixes of one list"
            )
        }
        [read] if pattern != NON_REPEATABLE => is_wrong(history, setting, pattern, read),
        _ => Err(format!(
            "{} reads are no instance of {pattern}",
            reads.len()
        )),
    }
}

/// TAP-a to f: whether a read is impossible.
fn is_wrong(
    history: &History,
    setting: &Setting<'_>,
    pattern: Pattern,
    read: OperationId,
) -> Result<(), String> {
    let fits = match (pattern, setting.source(read)) {
        (Pattern::ThinAirRead, Source::ThinAir) => true,
        (Pattern::AbortedRead, Source::Aborted) => true,
        (Pattern::FutureRead, Source::Future) => true,
        (
            Pattern::NotMyOwnWrite,
            Source::Other {
                after_own_write, ..
            },
        ) => after_own_write,
        (Pattern::NotMyOwnWrite, Source::OpenAfterOwnWrite) => true,
        (Pattern::NotMyLastWrite, Source::OverwrittenOwn) => true,
        (Pattern::IntermediateRead, Source::Other { intermediate, .. }) if intermediate => true,
        (pattern, _) => super::list_evidence::shows(history, setting.resolution(), pattern, read),
    };
    require!(
        fits && setting.is_member(history.transaction_of(read)),
        "{} is no instance of {pattern}",
        history.operation_text(read)
    )
}

/// TAP-j: whether two reads of a key in one transaction can share no writer.
fn are_torn(
    history: &History,
    setting: &Setting<'_>,
    first: OperationId,
    second: OperationId,
) -> Result<(), String> {
    let t = history.transaction_of(first);
    let one_key = t == history.transaction_of(second)
        && history.operation(first).key == history.operation(second).key;
    let (of_first, of_second) = (setting.writers(first), setting.writers(second));
    let shared = of_first.is_empty()
        || of_second.is_empty()
        || of_first.iter().any(|w| of_second.contains(w));
    if one_key && setting.is_member(t) && !shared {
        Ok(())
    } else {
        Err(format!(
            "{} and {} need not return versions of different transactions",
            history.operation_text(first),
            history.operation_text(second)
        ))
    }
}
