//! Cut isolation: all reads of a key in one transaction that do not return own writes return one transaction's version.

use super::resolution::Resolution;
use crate::history::{History, OperationKind, Outcome, TransactionId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Whether every transaction that must take part can find a writer for its reads of each key. Transactions of unknown
/// outcome need not take part unless somebody reads from them; those that cannot keep the rule themselves are no writers
/// for others. O(operations), and O(writers of the values) for transactions that read several values of a key.
pub(super) fn satisfied(history: &History, resolution: &Resolution<'_>) -> Result<(), String> {
    let mut excluded: FxHashSet<TransactionId> = FxHashSet::default();
    let with = |outcome| move |t: &TransactionId| history.outcome(*t) == outcome;
    loop {
        let unknown = history.transactions().filter(with(Outcome::Unknown)).filter(|t| !excluded.contains(t));
        let more: Vec<TransactionId> = unknown.filter(|&t| keeps(history, resolution, t, &excluded).is_err()).collect();
        if more.is_empty() {
            break;
        }
        excluded.extend(more);
    }
    let mut committed = history.transactions().filter(with(Outcome::Committed));
    committed.try_for_each(|t| keeps(history, resolution, t, &excluded))
}

/// Whether the reads of each key by a transaction can share a writer that is not excluded.
fn keeps(
    history: &History,
    resolution: &Resolution<'_>,
    t: TransactionId,
    excluded: &FxHashSet<TransactionId>,
) -> Result<(), String> {
    // Reads of one value that may come from others have the same writers, so one of them stands for all.
    let mut read_of: FxHashMap<u32, Vec<(Value, crate::history::OperationId)>> = FxHashMap::default();
    for read in history.operations_of(t) {
        let operation = history.operation(read);
        if operation.kind != OperationKind::Read {
            continue;
        }
        let known = read_of.entry(operation.key.0).or_default();
        if !known.iter().any(|(value, _)| *value == operation.value) && resolution.has_writers(read) {
            known.push((operation.value, read));
        }
    }
    let failed = |key: u32| {
        let (name, key) = (history.transaction_name(t), history.key_name(crate::history::KeyId(key)));
        Err(format!("the reads of key {key} by {name} can share no writer"))
    };
    for (key, reads) in read_of {
        let mut reads = reads.into_iter().map(|(_, read)| read);
        let Some(first) = reads.next() else { continue };
        let may_be = |writer: &TransactionId| !excluded.contains(writer);
        let others: Vec<FxHashSet<TransactionId>> = reads.map(|read| resolution.each_writer(read).collect()).collect();
        let shared = |writer: &TransactionId| others.iter().all(|writers| writers.contains(writer));
        if !resolution.each_writer(first).any(|writer| may_be(&writer) && shared(&writer)) {
            return failed(key);
        }
    }
    Ok(())
}
