//! Cut isolation where reads may have several sources.
//!
//! Without such reads CI is violated exactly by TAP-j. With them, each transaction and key stands alone: all reads of
//! the key that do not return own writes must be able to share one writer. No choice for one transaction restricts
//! another, so no combinations need to be tried.

use super::{Verdict, Witness};
use crate::history::{History, KeyId, OperationId, Outcome, TransactionId};
use crate::relations::Resolution;
use std::collections::BTreeMap;

/// Whether cut isolation holds under some choice of sources. Only for histories in which some read has several; O(operations
/// · log) for each transaction that may turn out not to have taken part.
///
/// All transactions of unknown outcome may or may not have taken part here, whatever the resolution says: it also rules
/// out sources that violate stronger levels only.
pub(super) fn verdict(history: &History, resolution: &Resolution) -> Verdict {
    let outcome_is = |outcome: Outcome| move |t: &TransactionId| history.outcome(*t) == outcome;
    let mut allowed: Vec<bool> = history.transactions().map(|t| history.outcome(t) != Outcome::Aborted).collect();
    // Whoever reads from a transaction of unknown outcome makes it take part, with its own reads. The largest set of
    // transactions that keep the rule when they only read from each other answers for all of them at once.
    loop {
        let unknown = history.transactions().filter(outcome_is(Outcome::Unknown)).filter(|t| allowed[t.index()]);
        let bad: Vec<TransactionId> = unknown.filter(|&t| !keeps(history, resolution, t, &allowed)).collect();
        if bad.is_empty() {
            break;
        }
        bad.iter().for_each(|t| allowed[t.index()] = false);
    }
    let mut committed = history.transactions().filter(outcome_is(Outcome::Committed));
    match committed.all(|t| keeps(history, resolution, t, &allowed)) {
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
