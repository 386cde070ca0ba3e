//! Replay of an order of transactions at PSI and its relatives: what a transaction sees is what it depends on, by session order,
//! reads and the versions that it overwrites, each by the order of the transactions.
//!
//! A read is wrong if its transaction depends on the writer of the *next* version: the writers of later versions depend on
//! that one. Where sessions are long, what a transaction depends on is a beginning of each session, as for causal
//! consistency. Otherwise it is a set of such next writers, some of them at a time. For a monotonic view the sets are those of
//! what a transaction depends on immediately when it reads. For update serializability those that write return the current
//! versions, and depend on those that write and read what they overwrite. Where only immediate dependencies count, each writer in between is
//! looked at; an update must write the next version itself.

use super::causal;
use super::counted::Counted;
use super::replay::Flaw;
use super::story::{Read, Sight, Story};
use super::timed;
use isoscope_model::history::{KeyId, OperationKind};

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
        let begin = (0..=n_keys)
            .map(|key| writes.partition_point(|(other, _)| *other < key) as u32)
            .collect();
        Writers {
            begin,
            places: writes.into_iter().map(|(_, place)| place).collect(),
        }
    }

    fn of(&self, key: KeyId) -> &[u32] {
        &self.places[self.begin[key.index()] as usize..self.begin[key.index() + 1] as usize]
    }

    /// The first one after a place.
    fn after(&self, key: KeyId, place: u32) -> Option<u32> {
        let writers = self.of(key);
        writers
            .get(writers.partition_point(|writer| *writer <= place))
            .copied()
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
    operations
        .filter(|&o| history.kinds()[o] == OperationKind::Write)
        .map(|o| history.keys()[o])
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
            overwritten
                .extend(written(story, number).filter_map(|key| writers.before(key, number)));
            begin.push(overwritten.len() as u32);
            before.push(std::mem::replace(
                &mut last_of_session[story.history.session_of(t).index()],
                number,
            ));
        }
        Seen {
            begin,
            overwritten,
            before,
        }
    }

    /// Adds to the overwritten transactions those that write and read the overwritten versions: all of these come before. O(reads
    /// log).
    fn after_readers(&self, story: &Story<'_>, writers: &Writers) -> Seen {
        let mut before: Vec<(u32, u32)> = Vec::new();
        for number in 1..=story.order.len() as u32 {
            before.extend(
                self.overwritten(number)
                    .iter()
                    .map(|&writer| (number, writer)),
            );
            let reads = story
                .reads_at(number)
                .iter()
                .filter(|_| written(story, number).next().is_some());
            let missed = reads.filter_map(|read| match writers.after(read.key, read.from) {
                // Its own version is the next one.
                Some(next) if next == number => None,
                next => next,
            });
            before.extend(missed.map(|next| (next, number)));
        }
        before.sort_unstable();
        let places = 1..=story.order.len() as u32 + 1;
        let begin = places
            .map(|place| before.partition_point(|(of, _)| *of < place) as u32)
            .collect();
        Seen {
            begin,
            overwritten: before.into_iter().map(|(_, earlier)| earlier).collect(),
            before: self.before.clone(),
        }
    }

    fn overwritten(&self, number: u32) -> &[u32] {
        &self.overwritten
            [self.begin[number as usize - 1] as usize..self.begin[number as usize] as usize]
    }
}

/// Whether no read returns a version older than one by a transaction that its reader depends on, as far as that counts.
/// O(operations × log + transactions × sessions), or where sessions are short O(operations × next writers) with a small factor;
/// where only immediate dependencies count O(reads × versions in between × what transactions read and write).
pub(super) fn replay(story: &Story<'_>, counted: Counted) -> Result<(), Flaw> {
    let n = story.order.len();
    story.control.needs(n * 24)?;
    let writers = Writers::new(story);
    let seen = Seen::new(story, &writers);
    match counted {
        Counted::OfUpdates => updates_are_next(story, &writers),
        Counted::Direct => immediately(story, &writers, &seen),
        Counted::All if story.history.n_sessions() * LONG_SESSIONS <= n => {
            causal::replay(story, &|number| seen.overwritten(number))
        }
        Counted::Serial => {
            updates_run_in_order(story, &writers)?;
            let seen = seen.after_readers(story, &writers);
            let sight = Sight::Dependencies(counted);
            Sets {
                story,
                writers: &writers,
                seen: &seen,
                sight,
                times: None,
            }
            .replay()
        }
        Counted::All
        | Counted::SoFar
        | Counted::ReadBefore
        | Counted::OneStep
        | Counted::Past
        | Counted::Nothing => Sets {
            story,
            writers: &writers,
            seen: &seen,
            sight: Sight::Dependencies(counted),
            times: None,
        }
        .replay(),
    }
}

/// The same for PSI, monotonic view and causal consistency where a transaction depends on all that ended before it began.
pub(super) fn replay_in_time(story: &Story<'_>, sight: Sight) -> Result<(), Flaw> {
    story.control.needs(story.order.len() * 24)?;
    let writers = Writers::new(story);
    let seen = Seen::new(story, &writers);
    Sets {
        story,
        writers: &writers,
        seen: &seen,
        sight,
        times: Some(timed::ends(story)),
    }
    .replay()
}

/// Whether each transaction that reads a key from another one and writes it writes the next version.
fn updates_are_next(story: &Story<'_>, writers: &Writers) -> Result<(), Flaw> {
    for reader in 1..=story.order.len() as u32 {
        for read in story.reads_at(reader) {
            let writes_it = writers.of(read.key).binary_search(&reader).is_ok();
            if let Some(next) = writers
                .after(read.key, read.from)
                .filter(|next| writes_it && *next < reader)
            {
                return Err(story.overwritten(*read, next));
            }
        }
    }
    Ok(())
}

/// Whether each transaction that writes reads current versions.
fn updates_run_in_order(story: &Story<'_>, writers: &Writers) -> Result<(), Flaw> {
    for reader in
        (1..=story.order.len() as u32).filter(|number| written(story, *number).next().is_some())
    {
        for read in story.reads_at(reader) {
            if let Some(next) = writers
                .after(read.key, read.from)
                .filter(|next| *next < reader)
            {
                return Err(story.overwritten(*read, next));
            }
        }
    }
    Ok(())
}

/// Whether no read misses a version of a transaction that its own depends on immediately.
fn immediately(story: &Story<'_>, writers: &Writers, seen: &Seen) -> Result<(), Flaw> {
    let session = |number: u32| story.history.session_of(story.order[number as usize - 1]);
    for reader in 1..=story.order.len() as u32 {
        if reader % 1024 == 0 {
            story.control.check()?;
        }
        let own: Vec<KeyId> = written(story, reader).collect();
        let sources: Vec<u32> = story
            .reads_at(reader)
            .iter()
            .map(|read| read.from)
            .collect();
        for read in story.reads_at(reader) {
            let between = writers.of(read.key);
            let first = between.partition_point(|writer| *writer <= read.from);
            let between = between[first..]
                .iter()
                .copied()
                .take_while(|newer| *newer < reader);
            let depends = |newer: &u32| {
                session(*newer) == session(reader)
                    || sources.contains(newer)
                    || !seen.overwritten(reader).is_empty()
                        && written(story, *newer).any(|key| own.contains(&key))
            };
            if let Some(newer) = between.into_iter().find(depends) {
                return Err(story.overwritten(*read, newer));
            }
        }
    }
    Ok(())
}

/// What a transaction depends on immediately when it reads, besides the one before it in its session.
fn by_then<'a>(
    story: &'a Story<'_>,
    writers: &'a Writers,
    reader: u32,
    read: Read,
) -> impl Iterator<Item = u32> + 'a {
    let history = story.history;
    let operations = history.operation_range(story.order[reader as usize - 1]);
    let (begin, end) = (operations.start, operations.end);
    let is_write = move |o: &usize| history.kinds()[*o] == OperationKind::Write;
    // A key that is written again after the read is not written for good before it.
    let is_last = move |o: &usize| {
        !(*o + 1..end).any(|later| is_write(&later) && history.keys()[later] == history.keys()[*o])
    };
    let written = (begin..read.operation.index())
        .filter(is_write)
        .filter(is_last);
    let overwritten = written.filter_map(move |o| writers.before(history.keys()[o], reader));
    let sources = story
        .reads_at(reader)
        .iter()
        .filter(move |other| other.operation <= read.operation)
        .map(|other| other.from);
    sources.chain(overwritten)
}

/// The next writers that each transaction depends on, some of them at a time.
struct Sets<'a> {
    story: &'a Story<'a>,
    writers: &'a Writers,
    seen: &'a Seen,
    sight: Sight,
    /// Where real time counts: ends with the places of their transactions, ascending.
    times: Option<Vec<(i64, u32)>>,
}

/// A set of next writers.
type Set = [u64; WORDS];

impl Sets<'_> {
    /// Each set over the part of the order from the first of its writers to the last reader that misses one.
    fn replay(&self) -> Result<(), Flaw> {
        let story = self.story;
        let mut missed: Vec<(u32, u32, Read)> = Vec::new();
        for reader in 1..=story.order.len() as u32 {
            let reads = story.reads_at(reader).iter();
            let next = reads
                .filter_map(|read| Some((self.writers.after(read.key, read.from)?, reader, *read)));
            missed.extend(next.filter(|(next, ..)| *next < reader));
        }
        missed.sort_by_key(|(next, ..)| *next);
        let mut next_writers: Vec<u32> = missed.iter().map(|(next, ..)| *next).collect();
        next_writers.dedup();
        for group in next_writers.chunks(WORDS * 64) {
            let (first, last) = (group[0], group[group.len() - 1]);
            let from = missed.partition_point(|(next, ..)| *next < first);
            let of_group = &missed[from..missed.partition_point(|(next, ..)| *next <= last)];
            let end = of_group
                .iter()
                .map(|(_, reader, _)| *reader)
                .max()
                .unwrap_or(first);
            self.of_group(group, of_group, end)?;
        }
        Ok(())
    }

    fn of_group(&self, group: &[u32], missed: &[(u32, u32, Read)], end: u32) -> Result<(), Flaw> {
        let (story, first) = (self.story, group[0]);
        story
            .control
            .needs((end - first + 1) as usize * WORDS * 16)?;
        let mut sets: Vec<Set> = Vec::with_capacity((end - first + 1) as usize);
        let mut ended = Ended {
            times: self.times.as_deref().unwrap_or_default(),
            sets: vec![[0; WORDS]],
        };
        for place in first..=end {
            let mut set = ended.before(story, place, first, &sets);
            for other in self.immediately(place).filter(|other| *other >= first) {
                set.iter_mut()
                    .zip(&sets[(other - first) as usize])
                    .for_each(|(mine, theirs)| *mine |= theirs);
            }
            if let Ok(bit) = group.binary_search(&place) {
                set[bit / 64] |= 1 << (bit % 64);
            }
            sets.push(set);
        }
        for (next, reader, read) in missed {
            let bit = group.partition_point(|other| other < next);
            let is_in = |set: &Set| set[bit / 64] >> (bit % 64) & 1 == 1;
            let has = |place: u32| {
                place
                    .checked_sub(first)
                    .is_some_and(|at| is_in(&sets[at as usize]))
            };
            let depends = match self.sight {
                Sight::Dependencies(Counted::SoFar) => {
                    has(self.seen.before[*reader as usize])
                        || by_then(story, self.writers, *reader, *read).any(has)
                        || is_in(&ended.before(story, *reader, first, &sets))
                }
                _ => has(*reader),
            };
            if depends {
                return Err(story.overwritten(*read, *next));
            }
        }
        Ok(())
    }

    /// What a transaction depends on immediately, whatever the time.
    fn immediately(&self, place: u32) -> impl Iterator<Item = u32> + '_ {
        let overwritten = if self.sight == Sight::Past {
            &[]
        } else {
            self.seen.overwritten(place)
        };
        let sources = self.story.reads_at(place).iter().map(|read| read.from);
        [self.seen.before[place as usize]]
            .into_iter()
            .chain(sources)
            .chain(overwritten.iter().copied())
    }
}

/// The sets of what had ended, all together.
struct Ended<'a> {
    times: &'a [(i64, u32)],
    /// By number of ends: the union of the sets of these transactions.
    sets: Vec<Set>,
}

impl Ended<'_> {
    /// The union of the sets of what had ended before a transaction began, all of which precede it in the order; `sets` begin
    /// at the place `first`.
    fn before(&mut self, story: &Story<'_>, place: u32, first: u32, sets: &[Set]) -> Set {
        let Some(start) = timed::start(story, place).filter(|_| !self.times.is_empty()) else {
            return [0; WORDS];
        };
        let n = self.times.partition_point(|(end, _)| *end < start);
        while self.sets.len() <= n {
            let mut set = self.sets[self.sets.len() - 1];
            let ended = self.times[self.sets.len() - 1].1;
            if let Some(theirs) = ended
                .checked_sub(first)
                .and_then(|at| sets.get(at as usize))
            {
                set.iter_mut()
                    .zip(theirs)
                    .for_each(|(mine, theirs)| *mine |= theirs);
            }
            self.sets.push(set);
        }
        self.sets[n]
    }
}
