//! Violations that show in the operations alone: patterns a to f and j.

use super::resolution::{Resolution, Source};
use crate::history::{History, OperationId, OperationKind, TransactionId};
use crate::report::ViolationEntry;

/// Levels that each of the patterns a to f violates.
const READ_COMMITTED_AND_UP: [&str; 7] = ["RC", "RA", "TCC", "PC", "SI", "SER", "SSER"];

/// Whether the operations that a violation names are an instance of its pattern and these of its levels follow.
pub(super) fn check(
    history: &History,
    resolution: &Resolution<'_>,
    violation: &ViolationEntry,
    transactions: &[TransactionId],
    levels: &[&str],
) -> Result<(), String> {
    let operations = operations(history, violation, transactions)?;
    let is_read = |o: &&OperationId| history.operation(**o).kind == OperationKind::Read;
    let reads: Vec<OperationId> = operations.iter().filter(is_read).copied().collect();
    if violation.pattern == "TAP-j" {
        return check_non_repeatable(history, resolution, &reads, levels);
    }
    if let Some(level) = levels.iter().find(|level| !READ_COMMITTED_AND_UP.contains(level)) {
        return Err(format!("such a read does not violate {level}"));
    }
    let fits = |read: OperationId| match (violation.pattern.as_str(), resolution.source(read)) {
        ("TAP-a", Source::ThinAir) => true,
        ("TAP-b", Source::Aborted) => true,
        ("TAP-c", Source::Future) => true,
        ("TAP-d", Source::Other { after_own_write, .. }) => after_own_write,
        ("TAP-d", Source::OpenAfterOwnWrite) => true,
        ("TAP-e", Source::OverwrittenOwn) => true,
        ("TAP-f", Source::Other { intermediate, .. }) if intermediate => true,
        (pattern, _) => super::lists::shows(history, resolution, pattern, read),
    };
    let in_history = |&&read: &&OperationId| resolution.is_member(history.transaction_of(read));
    let mut pairs = reads.iter().enumerate().flat_map(|(i, &first)| reads[i + 1..].iter().map(move |&b| (first, b)));
    let members = |a: OperationId, b: OperationId| in_history(&&a) && in_history(&&b);
    if violation.pattern == "IncompatibleOrder"
        && pairs.any(|(a, b)| members(a, b) && super::lists::incompatible(history, a, b))
    {
        return Ok(());
    }
    match reads.iter().filter(in_history).any(|&read| fits(read)) {
        true => Ok(()),
        false => Err(format!("none of its reads is an instance of {}", violation.pattern)),
    }
}

/// Two reads of a key in one transaction with writers that differ. At RC only when the first read's writer wrote the
/// version the second read should not have gone behind; that case needs edges, so here RC is refused.
fn check_non_repeatable(
    history: &History,
    resolution: &Resolution<'_>,
    reads: &[OperationId],
    levels: &[&str],
) -> Result<(), String> {
    if levels.contains(&"RC") {
        return Err("two reads with different writers do not violate RC by themselves".to_owned());
    }
    let source = |read: OperationId| resolution.source(read);
    // At cut isolation any writer counts; a read that has one sensible writer has that one from read atomic on.
    let differ = |first: OperationId, second: OperationId| match (source(first), source(second)) {
        (Source::Other { writer: a, .. }, Source::Other { writer: b, .. }) if !levels.contains(&"CI") => a != b,
        (Source::Other { .. } | Source::OpenAfterOwnWrite, Source::Other { .. } | Source::OpenAfterOwnWrite) => {
            !resolution.may_share_writer(first, second)
        }
        _ => false,
    };
    for (i, &first) in reads.iter().enumerate() {
        for &second in &reads[i + 1..] {
            let one = history.transaction_of(first) == history.transaction_of(second)
                && history.operation(first).key == history.operation(second).key;
            if one && resolution.is_member(history.transaction_of(first)) && differ(first, second) {
                return Ok(());
            }
        }
    }
    Err("no two of its reads return versions of different transactions".to_owned())
}

/// The operations a violation names, those of its edges included.
pub(super) fn operations(
    history: &History,
    violation: &ViolationEntry,
    transactions: &[TransactionId],
) -> Result<Vec<OperationId>, String> {
    let mut found = Vec::new();
    for entry in &violation.operations {
        found.push(operation(history, transactions, entry.transaction, entry.index)?);
    }
    for edge in &violation.edges {
        let ends = [(edge.from, edge.from_operation), (edge.to, edge.to_operation)];
        for (place, index) in ends.into_iter().filter_map(|(place, index)| Some((place, index?))) {
            found.push(operation(history, transactions, place, index)?);
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Operation `index` of the transaction at `place`.
pub(super) fn operation(
    history: &History,
    transactions: &[TransactionId],
    place: usize,
    index: usize,
) -> Result<OperationId, String> {
    let &t = transactions.get(place).ok_or_else(|| format!("there is no transaction at place {place}"))?;
    if t.is_initial() {
        return Err("the initial state has no operations".to_owned());
    }
    let operation = history.operations_of(t).nth(index);
    operation.ok_or_else(|| format!("{} has no operation {index}", history.transaction_name(t)))
}
