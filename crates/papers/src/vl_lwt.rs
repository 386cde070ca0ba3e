//! VL-LWT (MTC, Algorithm 2): linearizability of lightweight transactions in linear time after a sort.
//!
//! Each key is inserted once, and everything else on it is a successful compare-and-set. Then the operations of a key
//! form a chain: the insert, the swap that returned what it wrote, and so on. The history is linearizable if every chain
//! takes in all operations of its key and, walking it backwards, none began after the earliest end of those behind it.
//!
//! Made explicit here: two swaps of one version, or operations that the chain does not reach, are violations, which
//! walking the chain alone would not reveal; equal times are concurrent. Reads, failed operations, and plain writes are
//! not in the algorithm, nor are keys without an insert or with several: there it does not apply. The paper assumes
//! that real time contains session order; otherwise the algorithm does not apply either.

use isoscope_check::checkers::Cause;
use isoscope_model::history::{
    History, Interval, OperationId, OperationKind, Outcome, TransactionId,
};
use isoscope_model::relations::{Glance, Resolution, Standing};

/// No transaction.
const NONE: u32 = u32::MAX;

/// A successful insert or swap.
#[derive(Clone, Copy)]
struct Swap {
    transaction: TransactionId,
    key: u32,
    /// The write whose version it replaced; `None` for an insert.
    replaces: Option<OperationId>,
    interval: Interval,
}

/// Why the algorithm does not apply, if it does not.
pub(super) fn applies(history: &History, resolution: &Resolution) -> Result<(), Cause> {
    swaps(history, resolution).map(drop)
}

/// A linearizable order of all transactions, or `None` if there is none. O(n log n) to merge the keys.
///
/// # Errors
/// The algorithm does not apply to this history.
pub(super) fn check(
    history: &History,
    resolution: &Resolution,
) -> Result<Option<Vec<TransactionId>>, Cause> {
    let swaps = swaps(history, resolution)?;
    let mut number_of_write = vec![NONE; history.n_operations()];
    for (number, swap) in (0..).zip(&swaps) {
        number_of_write[history.operation_range(swap.transaction).end - 1] = number;
    }
    let mut next = vec![NONE; swaps.len()];
    let mut inserts = Vec::new();
    for (number, swap) in (0..).zip(&swaps) {
        let Some(write) = swap.replaces else {
            inserts.push(number);
            continue;
        };
        let before = number_of_write[write.index()];
        if before == NONE || next[before as usize] != NONE {
            return Ok(None);
        }
        next[before as usize] = number;
    }
    let mut moments: Vec<(i64, u32)> = Vec::with_capacity(swaps.len());
    for first in inserts {
        let mut chain: Vec<u32> = Vec::new();
        let mut at = first;
        while at != NONE {
            chain.push(at);
            at = next[at as usize];
        }
        let mut first_end = i64::MAX;
        for &number in chain.iter().rev() {
            let ran = swaps[number as usize].interval;
            if ran.start > first_end {
                return Ok(None);
            }
            first_end = first_end.min(ran.end);
        }
        let mut latest = i64::MIN;
        for number in chain {
            latest = latest.max(swaps[number as usize].interval.start);
            moments.push((latest, number));
        }
    }
    if moments.len() < swaps.len() {
        return Ok(None);
    }
    // The moments of a chain ascend, and equal ones keep their places.
    moments.sort_by_key(|&(moment, _)| moment);
    Ok(Some(
        moments
            .into_iter()
            .map(|(_, number)| swaps[number as usize].transaction)
            .collect(),
    ))
}

/// All operations, if they are what the algorithm is for.
fn swaps(history: &History, resolution: &Resolution) -> Result<Vec<Swap>, Cause> {
    let unfit = |why: String| Cause::Unsupported(format!("vl-lwt: {why}"));
    let mut swaps: Vec<Swap> = Vec::new();
    let mut is_inserted = vec![false; history.n_keys()];
    let mut is_used = vec![false; history.n_keys()];
    for t in history.transactions() {
        let name = || history.transaction_name(t);
        let operations: Vec<OperationId> = history.operations_of(t).collect();
        let takes_part = match resolution.standing(t) {
            Standing::Committed | Standing::Promoted => !operations.is_empty(),
            Standing::Initial => {
                return Err(unfit(format!("{} sets up the initial state", name())));
            }
            Standing::Dropped | Standing::Possible | Standing::Aborted => false,
        };
        if !takes_part {
            continue;
        }
        let [read, write] = *operations.as_slice() else {
            return Err(unfit(format!(
                "{} is no successful compare-and-set or insert",
                name()
            )));
        };
        let (of_read, of_write) = (history.operation(read), history.operation(write));
        let replaces = match resolution.glance(read) {
            Glance::Write(write) => Some(write),
            Glance::Unrecorded => {
                return Err(unfit(format!("what {} replaced is not recorded", name())));
            }
            Glance::Initial => None,
            // No transaction wrote what it replaced: it is on no chain.
            _ => Some(write),
        };
        let is_swap = (of_read.kind, of_write.kind) == (OperationKind::Read, OperationKind::Write);
        if !is_swap || of_read.key != of_write.key {
            return Err(unfit(format!(
                "{} is no successful compare-and-set or insert",
                name()
            )));
        }
        let Some(known) = history.interval(t) else {
            return Err(unfit(format!("{} has no times", name())));
        };
        let end = if history.outcome(t) == Outcome::Unknown {
            i64::MAX
        } else {
            known.end
        };
        is_used[of_read.key.index()] = true;
        if replaces.is_none() && std::mem::replace(&mut is_inserted[of_read.key.index()], true) {
            return Err(unfit(format!(
                "key {} is inserted twice",
                history.key_name(of_read.key)
            )));
        }
        let before = swaps
            .last()
            .filter(|before| history.session_of(before.transaction) == history.session_of(t));
        if let Some(before) = before.filter(|before| before.interval.end >= known.start) {
            let before = history.transaction_name(before.transaction);
            return Err(unfit(format!(
                "{before} had not ended when {} began in its session",
                name()
            )));
        }
        let interval = Interval {
            start: known.start,
            end,
        };
        swaps.push(Swap {
            transaction: t,
            key: of_read.key.0,
            replaces,
            interval,
        });
    }
    match swaps
        .iter()
        .find(|swap| is_used[swap.key as usize] && !is_inserted[swap.key as usize])
    {
        Some(swap) => Err(unfit(format!(
            "key {} is never inserted",
            history.key_names().get(swap.key as usize)
        ))),
        None => Ok(swaps),
    }
}
