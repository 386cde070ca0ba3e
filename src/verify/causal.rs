//! Replay of a commit order at TCC: what each transaction sees is its causal past.
//!
//! The past of a transaction is a vector with one entry a session: how many of its transactions are in the past. The
//! vectors are computed for a block of sessions at a time, so memory stays small whatever the number of sessions.

use super::witness::{ABSENT, Weak};
use crate::history::TransactionId;

/// Sessions per block.
const BLOCK: usize = 16;

/// Whether no read returns a version older than a write of its key in its reader's causal past.
/// O(transactions × sessions + reads × sessions that write the key × log).
pub(super) fn replay(weak: &Weak<'_>) -> Result<(), String> {
    let history = weak.history;
    // Writers of each key, by (session, position): ids have that order.
    let mut begin = vec![0u32; history.n_keys() + 1];
    for t in history.transactions() {
        for &key in weak.written_by(t) {
            begin[key as usize + 1] += 1;
        }
    }
    for key in 0..history.n_keys() {
        begin[key + 1] += begin[key];
    }
    let mut next = begin.clone();
    let mut writers = vec![TransactionId(0); begin[history.n_keys()] as usize];
    for t in history.transactions() {
        for &key in weak.written_by(t) {
            writers[next[key as usize] as usize] = t;
            next[key as usize] += 1;
        }
    }
    for first in (0..history.n_sessions()).step_by(BLOCK) {
        let end = (first + BLOCK).min(history.n_sessions());
        let past = past_of_block(weak, first, end);
        for &t3 in &weak.order.transactions {
            for read in weak.reads_of(t3) {
                let range = begin[read.key as usize] as usize..begin[read.key as usize + 1] as usize;
                check_read(weak, t3, read, &writers[range], first, end, &past[t3.index()])?;
            }
        }
    }
    Ok(())
}

/// By transaction: per session of the block, the number of its transactions (of all outcomes) up to the last one in the
/// past.
fn past_of_block(weak: &Weak<'_>, first: usize, end: usize) -> Vec<[u32; BLOCK]> {
    let history = weak.history;
    let mut past = vec![[0u32; BLOCK]; history.n_transactions()];
    let mut previous: Vec<Option<TransactionId>> = vec![None; history.n_sessions()];
    let absorb = |past: &mut Vec<[u32; BLOCK]>, own: &mut [u32; BLOCK], seen: TransactionId| {
        for (mine, theirs) in own.iter_mut().zip(past[seen.index()]) {
            *mine = (*mine).max(theirs);
        }
        let session = history.session_of(seen).index();
        if (first..end).contains(&session) {
            let entry = &mut own[session - first];
            *entry = (*entry).max(history.position_of(seen) as u32 + 1);
        }
    };
    // What sets up the initial state precedes everything, wherever in its session it stands.
    let has_part = |t: &&TransactionId| !weak.reads_of(**t).is_empty() || !weak.written_by(**t).is_empty();
    for &t in weak.order.transactions.iter().filter(has_part) {
        let mut own = [0u32; BLOCK];
        if let Some(before) = previous[history.session_of(t).index()].replace(t) {
            absorb(&mut past, &mut own, before);
        }
        for read in weak.reads_of(t).iter().filter(|read| !read.writer.is_initial()) {
            absorb(&mut past, &mut own, read.writer);
        }
        past[t.index()] = own;
    }
    past
}

/// Per session of the block, the last writer of the key in the past must not stand after the read's writer; as sessions
/// stand in session order, neither do the ones before it.
fn check_read(
    weak: &Weak<'_>,
    t3: TransactionId,
    read: &super::witness::ExternalRead,
    writers: &[TransactionId],
    first: usize,
    end: usize,
    past: &[u32; BLOCK],
) -> Result<(), String> {
    let history = weak.history;
    let session_of = |t: &TransactionId| history.session_of(*t).index();
    let mut at = writers.partition_point(|t| session_of(t) < first);
    while at < writers.len() && session_of(&writers[at]) < end {
        let session = session_of(&writers[at]);
        let of_session = &writers[at..at + writers[at..].partition_point(|t| session_of(t) == session)];
        let seen = of_session.partition_point(|&t| (history.position_of(t) as u32) < past[session - first]);
        if let Some(&t2) = of_session[..seen].last() {
            debug_assert!(weak.order.place[t2.index()] != ABSENT);
            weak.not_after(t2, t3, read)?;
        }
        at += of_session.len();
    }
    Ok(())
}
