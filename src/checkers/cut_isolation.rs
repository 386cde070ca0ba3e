//! Cut isolation where reads may have several sources.
//!
//! Without such reads CI is violated exactly by TAP-j. With them, each transaction and key stands alone: all reads of
//! the key that do not return own writes must be able to share one writer. No choice for one transaction restricts
//! another, so no combinations need to be tried.

use super::{Verdict, Witness};
use crate::history::{History, KeyId, OperationId, TransactionId};
use crate::relations::{Resolution, Standing};
use std::collections::BTreeMap;

/// Whether cut isolation holds under some choice of sources. Only for histories in which some read has several; O(operations
/// · log) for each transaction that may turn out not to have taken part.
pub(super) fn verdict(history: &History, resolution: &Resolution) -> Verdict {
    let mut allowed: Vec<bool> = history
        .transactions()
        .map(|t| !matches!(resolution.standing(t), Standing::Aborted | Standing::Dropped))
        .collect();
    // Whoever reads from a transaction of unknown outcome makes it take part, with its own reads. The largest set of
    // transactions that keep the rule when they only read from each other answers for all of them at once.
    loop {
        let possible = |t: &TransactionId| resolution.standing(*t) == Standing::Possible && allowed[t.index()];
        let bad: Vec<TransactionId> =
            history.transactions().filter(possible).filter(|&t| !keeps(history, resolution, t, &allowed)).collect();
        if bad.is_empty() {
            break;
        }
        bad.iter().for_each(|t| allowed[t.index()] = false);
    }
    let member = |t: &TransactionId| matches!(resolution.standing(*t), Standing::Committed | Standing::Promoted);
    match history.transactions().filter(member).all(|t| keeps(history, resolution, t, &allowed)) {
        true => Verdict::Satisfied(Witness::Reads),
        false => Verdict::Violated,
    }
}

/// Whether the reads of each key by one transaction can share a writer among those allowed.
fn keeps(history: &History, resolution: &Resolution, t: TransactionId, allowed: &[bool]) -> bool {
    let mut writers_of_key: BTreeMap<KeyId, Vec<TransactionId>> = BTreeMap::new();
    for read in history.operations_of(t) {
        let Some(writers) = foreign_writers(resolution, t, read) else { continue };
        let writers: Vec<TransactionId> =
            writers.into_iter().filter(|writer| writer.is_initial() || allowed[writer.index()]).collect();
        let common = writers_of_key.entry(history.keys()[read.index()]).or_insert_with(|| writers.clone());
        common.retain(|writer| writers.contains(writer));
        if common.is_empty() {
            return false;
        }
    }
    true
}

/// The other transactions that a read may have read from, ⊥ included; `None` if it did not read from any.
fn foreign_writers(resolution: &Resolution, t: TransactionId, read: OperationId) -> Option<Vec<TransactionId>> {
    match resolution.multiple_sources(read) {
        Some(multiple) => Some(multiple.sources.iter().filter_map(|source| source.writer()).collect()),
        None => resolution.source_in(t, read).writer().map(|writer| vec![writer]),
    }
}
