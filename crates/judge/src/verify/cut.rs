//! Cut isolation: all reads of a key in one transaction that do not return own writes return one transaction's version; or
//! those that returned the content of a row.

use super::resolution::Resolution;
use super::rows;
use isoscope_model::history::{
    History, KeyId, OperationId, OperationKind, Outcome, TransactionId, Value,
};
use rustc_hash::FxHashSet;

/// Whether every transaction that must participate has a writer for its reads of each key. Transactions of unknown
/// outcome need not participate unless they are read from; those that violate the rule themselves are no writers for
/// others. O(operations · log), and O(writers of the values) for transactions that read several values of a key.
pub(super) fn satisfied(
    history: &History,
    resolution: &Resolution<'_>,
    of_items: bool,
) -> Result<(), String> {
    let counts_read = |read| !of_items || rows::is_of_item(history, read);
    let excluded = excluded(history, resolution, &counts_read);
    let mut reads = Vec::new();
    let counts =
        |&t: &TransactionId| history.outcome(t) == Outcome::Committed && !resolution.is_setup(t);
    let mut committed = history.transactions().filter(counts);
    committed.try_for_each(|t| keeps(history, resolution, t, &counts_read, &excluded, &mut reads))
}

/// Transactions of unknown outcome that cannot have been read from, since they would then violate the rule themselves.
fn excluded(
    history: &History,
    resolution: &Resolution<'_>,
    counts: &dyn Fn(OperationId) -> bool,
) -> FxHashSet<TransactionId> {
    let mut excluded: FxHashSet<TransactionId> = FxHashSet::default();
    let mut reads = Vec::new();
    loop {
        let unknown = history
            .transactions()
            .filter(|&t| history.outcome(t) == Outcome::Unknown);
        let unknown = unknown.filter(|t| !excluded.contains(t));
        let falls = |&t: &TransactionId| {
            keeps(history, resolution, t, counts, &excluded, &mut reads).is_err()
        };
        let more: Vec<TransactionId> = unknown.filter(falls).collect();
        if more.is_empty() {
            return excluded;
        }
        excluded.extend(more);
    }
}

/// Whether these reads of one key by one committed transaction can share no writer that can have been read from.
pub(super) fn share_no_writer(
    history: &History,
    resolution: &Resolution<'_>,
    reads: &[OperationId],
    of_items: bool,
) -> Result<(), String> {
    let seen = |&read: &OperationId| {
        let (operation, _) = resolution.seen(read);
        (operation.kind == OperationKind::Read).then_some((operation.key, operation.value, read))
    };
    let of_key: Option<Vec<Read>> = reads.iter().map(seen).collect();
    let of_key = of_key
        .filter(|of_key| !of_key.is_empty())
        .ok_or("it does not name reads")?;
    let t = resolution.owner(reads[0]);
    let are_one = of_key
        .iter()
        .all(|read| read.0 == of_key[0].0 && resolution.owner(read.2) == t);
    if !are_one || history.outcome(t) != Outcome::Committed || resolution.is_setup(t) {
        return Err("these reads are not of one key by a transaction that committed".to_owned());
    }
    let mut of_key = of_key;
    of_key.sort_unstable();
    let counts = |read| !of_items || rows::is_of_item(history, read);
    if share_writer(resolution, &of_key, &excluded(history, resolution, &counts)) {
        Err("these reads can share a writer".to_owned())
    } else {
        Ok(())
    }
}

/// A read by key and value.
type Read = (KeyId, Value, OperationId);

/// Whether the reads of each key by a transaction can share a writer that is not excluded. `reads` is scratch space.
fn keeps(
    history: &History,
    resolution: &Resolution<'_>,
    t: TransactionId,
    counts: &dyn Fn(OperationId) -> bool,
    excluded: &FxHashSet<TransactionId>,
    reads: &mut Vec<Read>,
) -> Result<(), String> {
    if !excluded.is_empty()
        && resolution
            .listed_writers(t)
            .any(|writer| excluded.contains(&writer))
    {
        return Err(format!(
            "{} read a list to which one appended who breaks the rule",
            history.transaction_name(t)
        ));
    }
    reads.clear();
    reads.extend(history.operations_of(t).filter_map(|o| {
        let (operation, _) = resolution.seen(o);
        let is_counted = operation.kind == OperationKind::Read && counts(o);
        is_counted.then_some((operation.key, operation.value, o))
    }));
    reads.sort_unstable();
    let mut of_keys = reads.chunk_by(|a, b| a.0 == b.0);
    match of_keys.find(|of_key| !share_writer(resolution, of_key, excluded)) {
        None => Ok(()),
        Some(of_key) => {
            let (name, key) = (history.transaction_name(t), history.key_name(of_key[0].0));
            Err(format!(
                "the reads of key {key} by {name} can share no writer"
            ))
        }
    }
}

/// Whether reads of one key by one transaction can share a writer that is not excluded.
fn share_writer(
    resolution: &Resolution<'_>,
    of_key: &[Read],
    excluded: &FxHashSet<TransactionId>,
) -> bool {
    let is_alone = |read: &Read| read.1.is_of_scan();
    let one_value = of_key
        .iter()
        .all(|read| read.1 == of_key[0].1 && !is_alone(read));
    if one_value && excluded.is_empty() {
        return true;
    }
    // Reads of one value that may come from other transactions have the same writers, so one represents all; not where scans
    // do not tell the value.
    let foreign = of_key.chunk_by(|a, b| a.1 == b.1 && !is_alone(a));
    let foreign = foreign.filter_map(|of_value| {
        of_value
            .iter()
            .map(|read| read.2)
            .find(|&read| resolution.has_writers(read))
    });
    let foreign: Vec<OperationId> = foreign.collect();
    let Some((&first, others)) = foreign.split_first() else {
        return true;
    };
    let others: Vec<FxHashSet<TransactionId>> = others
        .iter()
        .map(|&read| resolution.each_writer(read).collect())
        .collect();
    let fits = |w: &TransactionId| {
        !excluded.contains(w) && others.iter().all(|writers| writers.contains(w))
    };
    resolution.each_writer(first).any(|writer| fits(&writer))
}
