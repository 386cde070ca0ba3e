//! Replay of an order of transactions at PSI: what a transaction sees is what it depends on, by session order, reads and
//! the versions that it overwrites, each by the order of the transactions.
//!
//! A read is wrong if its transaction depends on the writer of the *next* version: the writers of later versions depend on
//! that one. Whether it does is searched backwards from the reader, no further than to that writer.

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

/// Whether no read returns a version older than one by a transaction that its reader depends on. O(operations × log +
/// what lies between the next version and each read that misses it).
pub(super) fn replay(story: &Story<'_>) -> Result<(), Flaw> {
    let n = story.order.len();
    story.control.needs(n * 16)?;
    let writers = Writers::new(story);
    let mut last_of_session = vec![0u32; story.history.n_sessions()];
    let mut before_in_session = vec![0u32; n + 1];
    for (number, &t) in (1..).zip(&story.order) {
        let last = &mut last_of_session[story.history.session_of(t).index()];
        before_in_session[number as usize] = std::mem::replace(last, number);
    }
    // By place: the last reader that was found to depend on it.
    let mut met = vec![0u32; n + 1];
    let mut open = Vec::new();
    let mut missed: Vec<(u32, Read)> = Vec::new();
    for reader in 1..=n as u32 {
        story.control.tick(reader as usize)?;
        missed.clear();
        for &read in story.reads_at(reader) {
            missed.extend(writers.after(read.key, read.from).filter(|next| *next < reader).map(|next| (next, read)));
        }
        let Some(lowest) = missed.iter().map(|(next, _)| *next).min() else { continue };
        open.push(reader);
        while let Some(place) = open.pop() {
            let sources = story.reads_at(place).iter().map(|read| read.from);
            let overwritten = written(story, place).filter_map(|key| writers.before(key, place));
            let seen = [before_in_session[place as usize]].into_iter().chain(sources).chain(overwritten);
            for other in seen.filter(|other| *other >= lowest) {
                if std::mem::replace(&mut met[other as usize], reader) != reader {
                    open.push(other);
                }
            }
        }
        if let Some((next, read)) = missed.iter().find(|(next, _)| met[*next as usize] == reader) {
            return Err(story.overwritten(*read, *next));
        }
    }
    Ok(())
}
