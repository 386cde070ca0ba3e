//! Replay of a commit order at the guarantees of sessions: no read returns a version that was overwritten, by the time of its
//! transaction, by one from which a path leads to the reader that the guarantee counts.
//!
//! The order contains SO ∪ WR, so what lies on such a path comes after its first transaction.

use super::guarantee::Guarantee;
use super::replay::Flaw;
use super::story::{Read, Story};
use isoscope_model::history::{KeyId, OperationKind, SessionId, TransactionId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Whether an order keeps a guarantee. O(operations + stale reads × writers of their keys); for writes that follow reads also
/// the reads of all transactions between, for each transaction with such reads.
pub(super) fn replay(story: &Story<'_>, guarantee: Guarantee) -> Result<(), Flaw> {
    let doubts = doubts(story);
    let seen = Seen::new(story, guarantee);
    for of_reader in doubts.chunk_by(|a, b| a.0 == b.0) {
        story.control.check()?;
        let reader = of_reader[0].0;
        let followed = match guarantee {
            Guarantee::WritesFollowReads => {
                let lowest = of_reader
                    .iter()
                    .map(|(_, newer, _)| *newer)
                    .min()
                    .unwrap_or(0);
                followed(story, reader, lowest)
            }
            _ => FxHashSet::default(),
        };
        for &(_, newer, read) in of_reader {
            let is_seen = match guarantee {
                Guarantee::WritesFollowReads => followed.contains(&newer),
                _ => seen.sees(reader, newer),
            };
            if is_seen {
                return Err(story.overwritten(read, newer));
            }
        }
    }
    Ok(())
}

/// The place of a reader, that of a writer whose version it missed, and the read, by reader.
type Doubt = (u32, u32, Read);

/// All versions that reads have missed.
fn doubts(story: &Story<'_>) -> Vec<Doubt> {
    let history = story.history;
    let mut writers: FxHashMap<KeyId, Vec<u32>> = FxHashMap::default();
    if !story.stale.is_empty() {
        for (number, &t) in (1..).zip(&story.order) {
            for o in history.operation_range(t) {
                let key = history.keys()[o];
                if history.kinds()[o] == OperationKind::Write && story.is_stale[key.index()] {
                    let of_key = writers.entry(key).or_default();
                    if of_key.last() != Some(&number) {
                        of_key.push(number);
                    }
                }
            }
        }
    }
    let mut doubts: Vec<Doubt> = story
        .suspects
        .iter()
        .map(|suspect| (suspect.reader, suspect.newer, suspect.read))
        .collect();
    for &(reader, read) in &story.stale {
        let of_key = writers.get(&read.key).map_or(&[][..], Vec::as_slice);
        let missed = of_key
            .iter()
            .filter(|&&newer| newer > read.from && newer < reader);
        doubts.extend(missed.map(|&newer| (reader, newer, read)));
    }
    doubts.sort_by_key(|(reader, ..)| *reader);
    doubts
}

/// What was read by the transactions of each session.
struct Seen<'a> {
    story: &'a Story<'a>,
    guarantee: Guarantee,
    /// By writer and session: the position of the first transaction of the session that read from it.
    first_reader: FxHashMap<(u32, SessionId), u32>,
    /// By session of the reader and of the writer: positions of readers, each with the last position read until then.
    last_read: FxHashMap<(SessionId, SessionId), Vec<(u32, u32)>>,
}

impl<'a> Seen<'a> {
    fn new(story: &'a Story<'a>, guarantee: Guarantee) -> Seen<'a> {
        let mut seen = Seen {
            story,
            guarantee,
            first_reader: FxHashMap::default(),
            last_read: FxHashMap::default(),
        };
        let (of_pairs, of_sessions) = match guarantee {
            Guarantee::MonotonicReads => (true, false),
            Guarantee::Pram => (true, true),
            _ => (false, false),
        };
        // The order contains session order, so readers come in the order of their positions.
        for number in 1..=story.order.len() as u32 {
            let (session, position) = seen.place(number);
            for read in story.reads_at(number).iter().filter(|read| read.from > 0) {
                if of_pairs {
                    seen.first_reader
                        .entry((read.from, session))
                        .or_insert(position);
                }
                if of_sessions {
                    let (of_writer, at) = seen.place(read.from);
                    let known = seen.last_read.entry((session, of_writer)).or_default();
                    let last = known.last().map_or(at, |&(_, last)| last.max(at));
                    known.push((position, last));
                }
            }
        }
        seen
    }

    /// The session of a transaction and its position there.
    fn place(&self, number: u32) -> (SessionId, u32) {
        let t: TransactionId = self.story.order[number as usize - 1];
        (
            self.story.history.session_of(t),
            self.story.history.position_of(t) as u32,
        )
    }

    /// Whether a reader sees a writer.
    fn sees(&self, reader: u32, newer: u32) -> bool {
        match self.guarantee {
            Guarantee::ReadYourWrites => self.is_own(reader, newer),
            Guarantee::MonotonicReads => self.was_read(reader, newer),
            Guarantee::MonotonicWrites => self.wrote_later(reader, newer),
            Guarantee::Pram => {
                self.is_own(reader, newer)
                    || self.was_read(reader, newer)
                    || self.wrote_later(reader, newer)
                    || self.session_saw_later(reader, newer)
            }
            Guarantee::WritesFollowReads => false,
        }
    }

    fn is_own(&self, reader: u32, newer: u32) -> bool {
        let ((of_reader, last), (of_newer, first)) = (self.place(reader), self.place(newer));
        of_reader == of_newer && first < last
    }

    fn was_read(&self, reader: u32, newer: u32) -> bool {
        let (session, position) = self.place(reader);
        self.first_reader
            .get(&(newer, session))
            .is_some_and(|first| *first < position)
    }

    fn wrote_later(&self, reader: u32, newer: u32) -> bool {
        let mut reads = self
            .story
            .reads_at(reader)
            .iter()
            .filter(|read| read.from > 0);
        reads.any(|read| self.is_own(read.from, newer))
    }

    fn session_saw_later(&self, reader: u32, newer: u32) -> bool {
        let ((session, position), (of_newer, at)) = (self.place(reader), self.place(newer));
        let Some(known) = self.last_read.get(&(session, of_newer)) else {
            return false;
        };
        let before = known.partition_point(|(reader, _)| *reader < position);
        before.checked_sub(1).is_some_and(|last| known[last].1 > at)
    }
}

/// The places of the transactions that were read, perhaps through others, before what a reader reads was written, as far as
/// they are at least `lowest`.
fn followed(story: &Story<'_>, reader: u32, lowest: u32) -> FxHashSet<u32> {
    let history = story.history;
    let mut found: FxHashSet<u32> = FxHashSet::default();
    // By session: the positions before which everything has been looked at.
    let mut looked_at: FxHashMap<SessionId, usize> = FxHashMap::default();
    let mut open: Vec<u32> = story
        .reads_at(reader)
        .iter()
        .map(|read| read.from)
        .collect();
    while let Some(writer) = open.pop() {
        if writer <= lowest {
            continue;
        }
        let t = story.order[writer as usize - 1];
        let done = looked_at.entry(history.session_of(t)).or_insert(0);
        let end = history.position_of(t) + 1;
        let start = std::mem::replace(done, end.max(*done));
        let earlier: Vec<TransactionId> = history
            .transactions_of(history.session_of(t))
            .skip(start)
            .take(end.saturating_sub(start))
            .collect();
        for &t in earlier.iter().rev() {
            let number = story.number[t.index()];
            if number == 0 {
                continue;
            }
            if number <= lowest {
                break;
            }
            for read in story
                .reads_at(number)
                .iter()
                .filter(|read| read.from >= lowest)
            {
                if found.insert(read.from) {
                    open.push(read.from);
                }
            }
        }
    }
    found
}
