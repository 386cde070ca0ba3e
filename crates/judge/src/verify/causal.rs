//! Replay of a commit order at TCC: what each transaction sees is its causal past.
//!
//! The past of a transaction is a vector with one entry per session: how many of its transactions are in the past. The
//! vectors are computed for one block of sessions at a time, so memory stays small whatever the number of sessions.

use super::replay::Flaw;
use super::story::{Read, Story, Suspect};
use isoscope_model::control::Interrupt;
use isoscope_model::history::{OperationKind, TransactionId};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::OnceLock;

/// A place in a session, from 1; 0 for none. Signed and short numbers are faster to compare many at a time.
trait Entry: Copy + Default + Ord + Send + Sync {
    /// From a number that fits.
    fn of(position: i32) -> Self;
}

impl Entry for i16 {
    fn of(position: i32) -> i16 {
        position as i16
    }
}

impl Entry for i32 {
    fn of(position: i32) -> i32 {
        position
    }
}

/// By place: the places of the writers whose versions a transaction overwrites, where it counts them as seen.
pub(super) type Overwritten<'o> = dyn Fn(u32) -> &'o [u32] + Sync + 'o;

/// For causal consistency they do not count.
pub(super) fn nothing_overwritten(_: u32) -> &'static [u32] {
    &[]
}

/// Blocks processed in parallel: each takes memory.
const ABREAST: usize = 4;

/// Up to this many newer versions of a key are looked at one by one.
const FEW: usize = 64;

/// Whether no stale read returns a version older than a write of its key in its reader's causal past.
/// O(transactions × sessions + operations + stale reads × min(newer versions, sessions that write the key × log)).
pub(super) fn replay(story: &Story<'_>, overwritten: &Overwritten<'_>) -> Result<(), Flaw> {
    let seats = seats(story)?;
    let longest = seats.iter().map(|seat| seat.position).max().unwrap_or(0);
    // A block takes 128 or 64 bytes.
    match longest <= i32::from(i16::MAX) {
        true => replay_in::<i16, 64>(story, &seats, overwritten),
        false => replay_in::<i32, 16>(story, &seats, overwritten),
    }
}

/// The same with `BLOCK` sessions per block.
fn replay_in<E: Entry, const BLOCK: usize>(
    story: &Story<'_>,
    seats: &[Seat],
    overwritten: &Overwritten<'_>,
) -> Result<(), Flaw> {
    let n_sessions = story.history.n_sessions();
    let in_order = OnceLock::new();
    let by_session = OnceLock::new();
    let blocks: Vec<usize> = (0..n_sessions).step_by(BLOCK).collect();
    let look_at = |first: usize, past: &mut Vec<[E; BLOCK]>| {
        past_of_block(
            story,
            seats,
            overwritten,
            first..(first + BLOCK).min(n_sessions),
            past,
        )?;
        let look = |&(number, read): &(u32, Read)| {
            let past = &past[number as usize - 1];
            let in_order = in_order.get_or_init(|| Writers::new(story, &story.order));
            let newer = newer(story, in_order.of(read), number, read);
            if newer.len() <= FEW {
                newer
                    .iter()
                    .find(|&&t| is_past(story, past, first, t))
                    .copied()
            } else {
                let by_session = by_session.get_or_init(|| {
                    let mut transactions = story.order.clone();
                    transactions.sort_unstable();
                    Writers::new(story, &transactions)
                });
                last_past(story, by_session.of(read), past, first, read)
            }
            .map_or(Ok(()), |t| {
                Err(story.overwritten(read, story.number[t.index()]))
            })
        };
        let is_seen = |suspect: &&Suspect| {
            let writer = story.order[suspect.newer as usize - 1];
            is_past(story, &past[suspect.reader as usize - 1], first, writer)
        };
        if let Some(suspect) = story
            .suspects
            .par_iter()
            .with_min_len(4096)
            .find_any(is_seen)
        {
            return Err(story.overwritten(suspect.read, suspect.newer));
        }
        story.stale.par_iter().with_min_len(4096).try_for_each(look)
    };
    // Fresh memory from the system costs as much as the work on it: each thread keeps its own.
    let mut pasts = vec![Vec::new(); rayon::current_num_threads().min(ABREAST)];
    blocks.chunks(pasts.len()).try_for_each(|blocks| {
        blocks
            .par_iter()
            .zip(&mut pasts)
            .try_for_each(|(&first, past)| look_at(first, past))
    })
}

/// The writers of the keys of stale reads.
struct Writers {
    begin: Vec<u32>,
    writers: Vec<TransactionId>,
}

impl Writers {
    /// In the order in which the transactions come.
    fn new(story: &Story<'_>, transactions: &[TransactionId]) -> Writers {
        let history = story.history;
        let written = |o: &usize| {
            history.kinds()[*o] == OperationKind::Write
                && story.is_stale[history.keys()[*o].index()]
        };
        let of = |&t: &TransactionId| {
            history
                .operation_range(t)
                .filter(written)
                .map(move |o| (t, history.keys()[o].index()))
        };
        let writes = transactions.iter().flat_map(of);
        let mut begin = vec![0u32; history.n_keys() + 1];
        writes.clone().for_each(|(_, key)| begin[key + 1] += 1);
        for key in 0..history.n_keys() {
            begin[key + 1] += begin[key];
        }
        let mut next = begin.clone();
        let mut writers = vec![TransactionId(0); begin[history.n_keys()] as usize];
        for (t, key) in writes {
            writers[next[key] as usize] = t;
            next[key] += 1;
        }
        Writers { begin, writers }
    }

    /// The writers of the key of a read; one that writes it several times appears several times.
    fn of(&self, read: Read) -> &[TransactionId] {
        &self.writers
            [self.begin[read.key.index()] as usize..self.begin[read.key.index() + 1] as usize]
    }
}

/// The writers of a key between the source of a read and its reader, in commit order.
fn newer<'a>(
    story: &Story<'_>,
    writers: &'a [TransactionId],
    number: u32,
    read: Read,
) -> &'a [TransactionId] {
    let place = |t: &TransactionId| story.number[t.index()];
    let after = &writers[writers.partition_point(|t| place(t) <= read.from)..];
    &after[..after.partition_point(|t| place(t) < number)]
}

/// Whether a transaction is in a past, if its session is in the block.
fn is_past<E: Entry, const BLOCK: usize>(
    story: &Story<'_>,
    past: &[E; BLOCK],
    first: usize,
    t: TransactionId,
) -> bool {
    let session = story.history.session_of(t).index();
    let entry = session.checked_sub(first).and_then(|at| past.get(at));
    entry.is_some_and(|&entry| E::of(story.history.position_of(t) as i32) < entry)
}

/// A transaction by its session and its place there (among those of all outcomes, from 1).
#[derive(Clone, Copy)]
struct Seat {
    session: u32,
    position: i32,
}

/// By place.
fn seats(story: &Story<'_>) -> Result<Vec<Seat>, Interrupt> {
    story.control.needs(story.order.len() * size_of::<Seat>())?;
    let seat = |&t: &TransactionId| Seat {
        session: story.history.session_of(t).0,
        position: story.history.position_of(t) as i32 + 1,
    };
    Ok(story.order.iter().map(seat).collect())
}

/// Fills in, by place: per session of the block the last of its transactions in the past.
fn past_of_block<E: Entry, const BLOCK: usize>(
    story: &Story<'_>,
    seats: &[Seat],
    overwritten: &Overwritten<'_>,
    block: Range<usize>,
    past: &mut Vec<[E; BLOCK]>,
) -> Result<(), Interrupt> {
    let n = story.order.len();
    if past.capacity() < n {
        story.control.needs(n * size_of::<[E; BLOCK]>())?;
    }
    past.clear();
    past.reserve_exact(n);
    let mut previous: Vec<u32> = vec![0; story.history.n_sessions()];
    let absorb = |own: &mut [E; BLOCK], past: &[[E; BLOCK]], seen: u32| {
        let seat = seats[seen as usize - 1];
        let position = E::of(seat.position);
        let entry = match block.contains(&(seat.session as usize)) {
            // The past includes the past of each of its transactions.
            true if own[seat.session as usize - block.start] >= position => return,
            inside => inside.then(|| seat.session as usize - block.start),
        };
        for (mine, theirs) in own.iter_mut().zip(past[seen as usize - 1]) {
            *mine = (*mine).max(theirs);
        }
        if let Some(entry) = entry {
            own[entry] = own[entry].max(position);
        }
    };
    for (number, seat) in (1..).zip(seats) {
        if number % 4096 == 0 {
            story.control.check()?;
        }
        let mut own = [E::default(); BLOCK];
        let before = std::mem::replace(&mut previous[seat.session as usize], number);
        if before > 0 {
            absorb(&mut own, past, before);
        }
        for read in story.reads_at(number).iter().filter(|read| read.from > 0) {
            absorb(&mut own, past, read.from);
        }
        overwritten(number)
            .iter()
            .for_each(|&writer| absorb(&mut own, past, writer));
        past.push(own);
    }
    Ok(())
}

/// A writer in the past of the key of a read that comes after the read's source: only the last one in the past of each
/// session of the block, since the earlier ones precede it in the order, too.
fn last_past<E: Entry, const BLOCK: usize>(
    story: &Story<'_>,
    writers: &[TransactionId],
    past: &[E; BLOCK],
    first: usize,
    read: Read,
) -> Option<TransactionId> {
    let history = story.history;
    let session_of = |t: &TransactionId| history.session_of(*t).index();
    let mut rest = &writers[writers.partition_point(|t| session_of(t) < first)..];
    while let Some(session) = rest
        .first()
        .map(session_of)
        .filter(|session| *session < first + BLOCK)
    {
        let (of_session, others) =
            rest.split_at(rest.partition_point(|t| session_of(t) == session));
        let seen = of_session
            .partition_point(|&t| E::of(history.position_of(t) as i32) < past[session - first]);
        match of_session[..seen].last() {
            Some(&last) if story.number[last.index()] > read.from => return Some(last),
            _ => rest = others,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::initial::Initial;
    use crate::verify::resolution::{Resolution, Source};
    use crate::verify::story::{Sight, Sources};
    use isoscope_model::control::Control;
    use isoscope_testing::random::anything;
    use rustc_hash::FxHashMap;

    #[test]
    fn all_entries_and_sizes_of_blocks_say_the_same() {
        let mut random = fastrand::Rng::with_seed(7);
        let (control, mut seen) = (Control::new(), [0, 0]);
        for _ in 0..20_000 {
            let history = anything(&mut random);
            let resolution = Resolution::new(&history);
            let others = |_, read| match resolution.source(read) {
                Source::Other { writer, .. } => Some(writer),
                _ => None,
            };
            let mut order: Vec<TransactionId> = history.transactions().collect();
            random.shuffle(&mut order);
            let sources = Sources {
                named: &FxHashMap::default(),
                others: &others,
            };
            let initial = Initial::new(&history, &control);
            let story = Story::new(&history, &initial, &order, sources, Sight::Past, &control);
            let Ok(story) = story else { continue };
            let seats = seats(&story).expect("no limit");
            let none = &nothing_overwritten;
            let holds = replay_in::<i32, 16>(&story, &seats, none).is_ok();
            assert_eq!(
                replay_in::<i16, 32>(&story, &seats, none).is_ok(),
                holds,
                "{order:?}"
            );
            assert_eq!(
                replay_in::<i16, 1>(&story, &seats, none).is_ok(),
                holds,
                "{order:?}"
            );
            assert_eq!(
                replay_in::<i32, 2>(&story, &seats, none).is_ok(),
                holds,
                "{order:?}"
            );
            seen[usize::from(holds)] += 1;
        }
        assert!(seen[0] > 10 && seen[1] > 100, "{seen:?}");
    }
}
