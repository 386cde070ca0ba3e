//! Replay of an order of transactions at PSI: what a transaction sees is what it depends on, by session order, reads and
//! the versions that it overwrites, each by the order of the transactions.
//!
//! A read is wrong if its transaction depends on the writer of the *next* version: the writers of later versions depend on
//! that one. Where sessions are long, what a transaction depends on is a beginning of each session, as for causal
//! consistency. Otherwise it is a set of such next writers, some of them at a time.

use super::causal;
use super::replay::Flaw;
use super::story::{Read, Story};
use crate::history::{KeyId, OperationKind};

/// By key: the places of the transactions that write it, ascending, each once.
struct Writers {
    begin: Vec<u32>,
    places: Vec<u32>,
}

impl Writers {
    /// O(operations).
    fn new(story: &Story<'_>) -> Writers {
        let mut writes: Vec<(u32, u32)> = Vec::new();
        for (number, _) in (1..).zip(&story.order) {
            writes.extend(written(story, number).map(|key| (key.0, number)));
        }
        writes.sort_unstable();
        writes.dedup();
        let n_keys = story.history.n_keys() as u32;
        let begin = (0..=n_keys).map(|key| writes.partition_point(|(other, _)| *other < key) as u32).collect();
        Writers { begin, places: writes.into_iter().map(|(_, place)| place).collect() }
    }

    fn of(&self, key: KeyId) -> &[u32] {
        &self.places[self.begin[key.index()] as usize..self.begin[key.index() + 1] as usize]
    }

    /// The first one after a place.
    fn after(&self, key: KeyId, place: u32) -> Option<u32> {
        let writers = self.of(key);
        writers.get(writers.partition_point(|writer| *writer <= place)).copied()
    }

    /// The last one before a place.
    fn before(&self, key: KeyId, place: u32) -> Option<u32> {
        let writers = self.of(key);
        let n = writers.partition_point(|writer| *writer < place);
        n.checked_sub(1).map(|last| writers[last])
    }
}

/// The keys that the transaction at a place writes, possibly more than once.
fn written<'a>(story: &'a Story<'_>, number: u32) -> impl Iterator<Item = KeyId> + 'a {
    let history = story.history;
    let operations = history.operation_range(story.order[number as usize - 1]);
    operations.filter(|&o| history.kinds()[o] == OperationKind::Write).map(|o| history.keys()[o])
}

/// Fewest transactions of a session, on average, that make it long.
const LONG_SESSIONS: usize = 8;

/// Words of the bits that say which of some writers a transaction depends on.
const WORDS: usize = 8;

/// What each transaction of an order depends on immediately.
struct Seen {
    begin: Vec<u32>,
    /// The writers whose versions it overwrites.
    overwritten: Vec<u32>,
    /// By place: the one before it in its session; 0 for none.
    before: Vec<u32>,
}

impl Seen {
    /// O(operations log).
    fn new(story: &Story<'_>, writers: &Writers) -> Seen {
        let (mut begin, mut overwritten, mut before) = (vec![0], Vec::new(), vec![0]);
        let mut last_of_session = vec![0u32; story.history.n_sessions()];
        for (number, &t) in (1..).zip(&story.order) {
            overwritten.extend(written(story, number).filter_map(|key| writers.before(key, number)));
            begin.push(overwritten.len() as u32);
            before.push(std::mem::replace(&mut last_of_session[story.history.session_of(t).index()], number));
        }
        Seen { begin, overwritten, before }
    }

    fn overwritten(&self, number: u32) -> &[u32] {
        &self.overwritten[self.begin[number as usize - 1] as usize..self.begin[number as usize] as usize]
    }

    fn of<'a>(&'a self, story: &'a Story<'_>, number: u32) -> impl Iterator<Item = u32> + 'a {
        let sources = story.reads_at(number).iter().map(|read| read.from);
        [self.before[number as usize]].into_iter().chain(sources).chain(self.overwritten(number).iter().copied())
    }
}

/// Whether no read returns a version older than one by a transaction that its reader depends on. O(operations × log +
/// transactions × sessions), or where sessions are short O(operations × next writers) with a small factor.
pub(super) fn replay(story: &Story<'_>) -> Result<(), Flaw> {
    let n = story.order.len();
    story.control.needs(n * 24)?;
    let writers = Writers::new(story);
    let seen = Seen::new(story, &writers);
    match story.history.n_sessions() * LONG_SESSIONS <= n {
        true => causal::replay(story, &|number| seen.overwritten(number)),
        false => by_next_writers(story, &writers, &seen),
    }
}

/// [`replay`] with sets of next writers, each over the part of the order from the first of them to the last reader that
/// misses one.
fn by_next_writers(story: &Story<'_>, writers: &Writers, seen: &Seen) -> Result<(), Flaw> {
    let mut missed: Vec<(u32, u32, Read)> = Vec::new();
    for reader in 1..=story.order.len() as u32 {
        let reads = story.reads_at(reader).iter();
        let next = reads.filter_map(|read| Some((writers.after(read.key, read.from)?, reader, *read)));
        missed.extend(next.filter(|(next, ..)| *next < reader));
    }
    missed.sort_by_key(|(next, ..)| *next);
    let mut next_writers: Vec<u32> = missed.iter().map(|(next, ..)| *next).collect();
    next_writers.dedup();
    for group in next_writers.chunks(WORDS * 64) {
        let (first, last) = (group[0], group[group.len() - 1]);
        let from = missed.partition_point(|(next, ..)| *next < first);
        let of_group = &missed[from..missed.partition_point(|(next, ..)| *next <= last)];
        let end = of_group.iter().map(|(_, reader, _)| *reader).max().unwrap_or(first);
        story.control.needs((end - first + 1) as usize * WORDS * 8)?;
        let mut sets: Vec<[u64; WORDS]> = Vec::with_capacity((end - first + 1) as usize);
        for place in first..=end {
            let mut set = [0; WORDS];
            for other in seen.of(story, place).filter(|other| *other >= first) {
                set.iter_mut().zip(&sets[(other - first) as usize]).for_each(|(mine, theirs)| *mine |= theirs);
            }
            if let Ok(bit) = group.binary_search(&place) {
                set[bit / 64] |= 1 << (bit % 64);
            }
            sets.push(set);
        }
        for (next, reader, read) in of_group {
            let bit = group.partition_point(|other| other < next);
            if sets[(reader - first) as usize][bit / 64] >> (bit % 64) & 1 == 1 {
                return Err(story.overwritten(*read, *next));
            }
        }
    }
    Ok(())
}
