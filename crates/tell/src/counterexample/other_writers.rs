//! Other writers of a value that was read, where the argument takes one writer for granted.

use super::{Counterexample, involved_operations};
use isoscope_check::checkers::{Pattern, Proof};
use isoscope_model::history::{History, KeyId, OperationId, OperationKind, TransactionId, Value};
use isoscope_model::relations::{Reason, set_up_transactions, value_from_outside};
use rustc_hash::FxHashMap;

/// A read that several transactions may explain, and the writer that the argument assumes for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assumed {
    pub(super) read: OperationId,
    /// None where that does not matter.
    pub(super) from: Option<TransactionId>,
    /// Other writes of that value: one for each transaction.
    pub(super) others: Vec<OperationId>,
    /// It may be the initial one, too.
    pub(super) may_be_initial: bool,
}

/// The assumed writers of the reads that an argument rests on, in the whole history. Excludes cases.
pub(super) fn taken(example: &Counterexample) -> Vec<(OperationId, Option<TransactionId>)> {
    let (history, violation) = (&example.history, &example.violation);
    let of_edges = violation
        .edges
        .iter()
        .filter(|edge| edge.because == Reason::Reads);
    let mut taken: Vec<(OperationId, Option<TransactionId>)> = of_edges
        .filter_map(|edge| Some((edge.to_operation?, Some(edge.from))))
        .collect();
    let is_known = |read: OperationId| taken.iter().any(|(known, _)| *known == read);
    let reads = involved_operations(violation).into_iter();
    let others: Vec<OperationId> = reads
        .filter(|&o| history.operation(o).kind == OperationKind::Read && !is_known(o))
        .collect();
    match violation.id.pattern {
        Pattern::FutureRead => taken.extend(
            others
                .iter()
                .map(|&read| (read, Some(history.transaction_of(read)))),
        ),
        // Whichever transactions wrote what they returned, none wrote both.
        Pattern::NonRepeatableRead
            if violation.edges.is_empty() && violation.proof.parts().len() == 1 =>
        {
            taken.extend(others.iter().map(|&read| (read, None)));
        }
        _ => {}
    }
    taken.sort_unstable();
    taken.dedup();
    let renaming = &example.renaming;
    let old = |t: TransactionId| {
        if t.is_initial() {
            t
        } else {
            renaming.old_transaction(t)
        }
    };
    // The writers of the other reads are given case by case.
    let of_cases = violation
        .proof
        .parts()
        .into_iter()
        .flat_map(Proof::open_reads);
    let of_cases: Vec<OperationId> = of_cases.collect();
    let is_sure = |of_read: &&[(OperationId, Option<TransactionId>)]| {
        of_read.len() == 1 && !of_cases.contains(&of_read[0].0)
    };
    let of_one = taken.chunk_by(|a, b| a.0 == b.0).filter(is_sure);
    of_one
        .flatten()
        .map(|&(read, from)| (renaming.operations[read.index()], from.map(old)))
        .collect()
}

/// Those of these reads that other transactions of the whole history may explain; none where each value has one writer.
/// O(operations).
pub(super) fn other_writers(
    whole: &History,
    taken: &[(OperationId, Option<TransactionId>)],
) -> Vec<Assumed> {
    let mut reads: Vec<Assumed> = Vec::new();
    let mut readers_of: FxHashMap<(KeyId, Value), Vec<usize>> = FxHashMap::default();
    for &(read, from) in taken {
        let (key, value) = returned(whole, read);
        if value != Value::UNRECORDED && whole.differs_from(read).is_none() {
            let is_initial = from.is_some_and(TransactionId::is_initial);
            let may_be_initial = !is_initial && whole.may_be_initial(key, value);
            readers_of
                .entry((key, value))
                .or_default()
                .push(reads.len());
            reads.push(Assumed {
                read,
                from,
                others: Vec::new(),
                may_be_initial,
            });
        }
    }
    let set_up = set_up_transactions(whole);
    for write in (0..whole.n_operations()).map(OperationId::new) {
        if whole.kinds()[write.index()] != OperationKind::Write {
            continue;
        }
        let of = (whole.keys()[write.index()], whole.values()[write.index()]);
        for &place in readers_of.get(&of).map_or(&[][..], Vec::as_slice) {
            let t = whole.transaction_of(write);
            let Assumed {
                read,
                from,
                others,
                may_be_initial,
            } = &mut reads[place];
            let is_known = others
                .last()
                .is_some_and(|&other| whole.transaction_of(other) == t);
            // The setup is the initial version.
            let is_set_up = set_up.contains(&t)
                && (*may_be_initial || from.is_some_and(TransactionId::is_initial));
            if *from != Some(t) && !is_set_up && !is_known && t != whole.transaction_of(*read) {
                others.push(write);
            }
        }
    }
    reads.retain(|read| {
        read.others.len() + usize::from(read.may_be_initial) > usize::from(read.from.is_none())
    });
    reads
}

/// The key of a read, and the value that its transaction found there.
fn returned(whole: &History, read: OperationId) -> (KeyId, Value) {
    (
        whole.keys()[read.index()],
        value_from_outside(whole, whole.transaction_of(read), read),
    )
}
