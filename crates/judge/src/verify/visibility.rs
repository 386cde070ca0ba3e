//! Replay of a commit order at a level at which a read need not return the current version: none that its transaction sees
//! may be newer.
//!
//! What a transaction sees is a language of paths ([`Visibility`]) from the writer of the newer version to the reader,
//! whatever the level. Only reads that missed a version need a look: whatever a transaction sees precedes it in the order.
//! Where single steps count they are looked up. Otherwise it is found for many missed versions at a time, a bit for each,
//! by going once through the part of the order from the first of their writers to the last of their readers.

use super::counted::Counted;
use super::guarantee::Guarantee;
use super::levels::Strength;
use super::replay::Flaw;
use super::rows;
use super::story::{Read, Story};
use isoscope_model::history::{KeyId, Outcome};
use rayon::prelude::*;

/// How one transaction follows another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follows {
    /// Not at all: it is the same one.
    Itself,
    /// It comes later in its session.
    Session,
    /// It reads from it.
    Read,
    /// It reads from it before the read that misses a version.
    ReadBefore,
    /// It reads from it by that read or before.
    ReadByThen,
    /// It overwrites a version of it directly.
    Overwrites,
    /// It overwrites a version of it directly, for good before the read that misses a version.
    OverwritesBefore,
    /// It overwrites a version that the other one, which writes too, read.
    OverwritesRead,
    /// They write a common key.
    CommonKey,
    /// The reader writes the key that it reads.
    UpdatesKey,
    /// The reader writes anything.
    Updates,
    /// It began after the other one had ended.
    Time,
    /// It comes next in the order.
    Order,
}

use Follows::{
    CommonKey, Itself, Order, Overwrites, OverwritesBefore, OverwritesRead, ReadBefore, ReadByThen,
    Session, Time, Updates, UpdatesKey,
};

/// The paths by which a reader sees a writer. A path goes through stages; it begins in stage 0 at the writer.
struct Visibility {
    /// By stage from 1: the stages that lead to it, and how.
    stages: Vec<Vec<(usize, Follows)>>,
    /// The stages that lead to the reader, and how.
    last: Vec<(usize, Follows)>,
}

impl Visibility {
    /// At a level, with what had ended before a transaction began if it is timed; none where a reader misses nothing by
    /// such paths.
    fn of(strength: Strength, is_timed: bool) -> Option<Visibility> {
        let paths = |stages: &[&[(usize, Follows)]], last: &[(usize, Follows)]| Visibility {
            stages: stages.iter().map(|stage| stage.to_vec()).collect(),
            last: last.to_vec(),
        };
        let one = |last: &[Follows]| Visibility {
            stages: Vec::new(),
            last: last.iter().map(|&follows| (0, follows)).collect(),
        };
        // One step after the other, as often as they come.
        let all = |steps: &[Follows], last: &[Follows]| Visibility {
            stages: vec![
                std::iter::once((0, Itself))
                    .chain(steps.iter().map(|&follows| (1, follows)))
                    .collect(),
            ],
            last: last.iter().map(|&follows| (1, follows)).collect(),
        };
        let dependencies = [Session, Follows::Read, Overwrites];
        let mut visibility = match strength {
            Strength::Sessions(None) => one(&[]),
            Strength::Sessions(Some(Guarantee::ReadYourWrites)) => one(&[Session]),
            Strength::Sessions(Some(Guarantee::MonotonicReads)) => {
                paths(&[&[(0, Follows::Read)]], &[(1, Session)])
            }
            Strength::Sessions(Some(Guarantee::MonotonicWrites)) => {
                paths(&[&[(0, Session)]], &[(1, Follows::Read)])
            }
            Strength::Sessions(Some(Guarantee::Pram)) => paths(
                &[
                    &[(0, Follows::Read)],
                    &[(0, Session)],
                    &[(2, Follows::Read)],
                ],
                &[(0, Session), (1, Session), (2, Follows::Read), (3, Session)],
            ),
            Strength::Sessions(Some(Guarantee::WritesFollowReads)) => paths(
                &[
                    &[(0, Follows::Read), (1, Follows::Read), (2, Follows::Read)],
                    &[(1, Session)],
                ],
                &[(1, Follows::Read), (2, Follows::Read)],
            ),
            Strength::ReadCommitted => one(&[ReadBefore]),
            Strength::ReadAtomic => one(&[Session, Follows::Read]),
            Strength::Causal => all(&[Session, Follows::Read], &[Session, Follows::Read]),
            Strength::EachRead => all(&[Order], &[Session, ReadByThen]),
            Strength::Dependencies(Counted::OfUpdates) => one(&[UpdatesKey]),
            Strength::Dependencies(Counted::Direct) => one(&[Session, Follows::Read, CommonKey]),
            Strength::Dependencies(Counted::SoFar) => {
                all(&dependencies, &[Session, ReadByThen, OverwritesBefore])
            }
            Strength::Dependencies(Counted::Serial) => {
                let steps = [Session, Follows::Read, Overwrites, OverwritesRead];
                let mut visibility = all(&steps, &steps);
                visibility.last.push((0, Updates));
                visibility
            }
            Strength::Dependencies(_) => all(&dependencies, &dependencies),
            // What their orders explain is found out in other ways.
            Strength::Reads
            | Strength::Versions
            | Strength::Prefix
            | Strength::Snapshot
            | Strength::SerialItems
            | Strength::Serial => return None,
        };
        let counts_time = match strength {
            Strength::ReadAtomic | Strength::Causal | Strength::EachRead => true,
            Strength::Dependencies(counted) => counted != Counted::OfUpdates,
            _ => false,
        };
        if is_timed && counts_time {
            let stage = visibility.stages.len();
            visibility.last.push((stage, Time));
            visibility
                .stages
                .iter_mut()
                .for_each(|stages| stages.push((stage, Time)));
        }
        Some(visibility)
    }
}

impl Visibility {
    /// Whether a stage is left for any later transaction of a session without leading to those between.
    fn skips_in_sessions(&self) -> bool {
        let is_kept = |stage: usize| {
            let stages = stage.checked_sub(1).map(|at| &self.stages[at]);
            stages.is_some_and(|stages| {
                stages.contains(&(stage, Session)) || stages.contains(&(stage, Order))
            })
        };
        let mut all = self.stages.iter().flatten().chain(&self.last);
        all.any(|&(stage, follows)| follows == Session && !is_kept(stage))
    }
}

/// A read of a version that was overwritten before its transaction.
#[derive(Clone, Copy)]
struct Missed {
    /// The place of the next writer of the key.
    next: u32,
    /// The place of the reader.
    reader: u32,
    read: Read,
}

/// Whether no read of an order returns a version older than one that its transaction sees. Where single steps count
/// O(operations × log + missed versions), elsewhere O(operations × log + overwritten versions that were read / 512 ×
/// operations between those versions and their readers).
pub(super) fn replay(story: &Story<'_>, strength: Strength, is_timed: bool) -> Result<(), Flaw> {
    let Some(visibility) = Visibility::of(strength, is_timed) else {
        return Err(Flaw::Wrong("no order of commits alone shows it".to_owned()));
    };
    let writers = Writers::new(story);
    let mut missed: Vec<Missed> = Vec::new();
    for reader in 1..=story.order.len() as u32 {
        missed.extend(story.reads_at(reader).iter().filter_map(|&read| {
            let next = writers.after(read.key, read.from)?;
            (next < reader).then_some(Missed { next, reader, read })
        }));
    }
    if missed.is_empty() {
        return Ok(());
    }
    story.control.needs(story.order.len() * 24)?;
    let links = Links::new(story, &writers, strength);
    if visibility.stages.is_empty() {
        let look = |missed: &Missed| {
            let mut last = visibility.last.iter();
            match last.find_map(|&(_, follows)| links.newer(follows, missed)) {
                Some(newer) => Err(story.overwritten(missed.read, newer)),
                None => Ok(story.control.check()?),
            }
        };
        return missed.par_iter().with_min_len(256).try_for_each(look);
    }
    // By overwritten version.
    missed.sort_unstable_by_key(|missed| (missed.next, missed.read.key.0, missed.reader));
    let versions: Vec<&[Missed]> = missed
        .chunk_by(|a, b| (a.next, a.read.key) == (b.next, b.read.key))
        .collect();
    let mut slots = vec![u32::MAX; story.history.n_keys()];
    versions
        .chunks(WORDS * 64)
        .try_for_each(|versions| Window::look(&links, &visibility, versions, &mut slots))
}

/// By key: the places of the transactions that write it, ascending, each once.
struct Writers {
    begin: Vec<u32>,
    places: Vec<u32>,
}

impl Writers {
    /// O(operations log).
    fn new(story: &Story<'_>) -> Writers {
        let mut writes: Vec<(u32, u32)> = Vec::new();
        for number in 1..=story.order.len() as u32 {
            writes.extend(story.written(number).map(|(_, key)| (key.0, number)));
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

    /// Those between two places.
    fn between(&self, key: KeyId, after: u32, before: u32) -> &[u32] {
        let writers = self.of(key);
        let rest = &writers[writers.partition_point(|writer| *writer <= after)..];
        &rest[..rest.partition_point(|writer| *writer < before)]
    }

    /// The first one after a place.
    fn after(&self, key: KeyId, place: u32) -> Option<u32> {
        let writers = self.of(key);
        let next = writers.partition_point(|writer| *writer <= place);
        writers.get(next).copied()
    }

    /// The last one before a place.
    fn before(&self, key: KeyId, place: u32) -> Option<u32> {
        let writers = self.of(key);
        let n = writers.partition_point(|writer| *writer < place);
        n.checked_sub(1).map(|last| writers[last])
    }
}

/// What each transaction of an order follows in one step.
struct Links<'a> {
    story: &'a Story<'a>,
    writers: &'a Writers,
    /// By place: the one before it in its session; 0 for none.
    before: Vec<u32>,
    /// Places that overwrite what another one, which writes too, read, with the place of that one; where it counts.
    overwrites_read: Vec<(u32, u32)>,
    /// Ends with the places of their transactions, ascending.
    ends: Vec<(i64, u32)>,
}

impl<'a> Links<'a> {
    /// O(operations log).
    fn new(story: &'a Story<'a>, writers: &'a Writers, strength: Strength) -> Links<'a> {
        let mut before = vec![0];
        let mut last_of_session = vec![0u32; story.history.n_sessions()];
        let mut overwrites_read = Vec::new();
        let mut ends = Vec::new();
        for (number, &t) in (1..).zip(&story.order) {
            let last = &mut last_of_session[story.history.session_of(t).index()];
            before.push(std::mem::replace(last, number));
            if story.history.outcome(t) != Outcome::Unknown
                && let Some(interval) = story.history.interval(t)
            {
                ends.push((interval.end, number));
            }
            if strength == Strength::Dependencies(Counted::Serial)
                && story.written(number).next().is_some()
            {
                let reads = story.reads_at(number).iter();
                let next = reads.filter_map(|read| writers.after(read.key, read.from));
                // Its own version may be the next one.
                let others = next.filter(|next| *next != number);
                overwrites_read.extend(others.map(|next| (next, number)));
            }
        }
        overwrites_read.sort_unstable();
        ends.sort_unstable();
        Links {
            story,
            writers,
            before,
            overwrites_read,
            ends,
        }
    }

    /// The writer of a missed version that the reader follows in a single step.
    fn newer(&self, follows: Follows, missed: &Missed) -> Option<u32> {
        let Links { story, writers, .. } = *self;
        let &Missed { next, reader, read } = missed;
        let between = || writers.between(read.key, read.from, reader).iter().copied();
        match follows {
            UpdatesKey => {
                let is_update = rows::is_of_item(story.history, read.operation)
                    && writers.of(read.key).binary_search(&reader).is_ok();
                is_update.then_some(next)
            }
            Updates => story.written(reader).next().map(|_| next),
            Session => {
                let session = |number: u32| story.history.session_of(story.transaction(number));
                let has_earlier = self.before[reader as usize] > read.from;
                let own = || between().find(|&newer| session(newer) == session(reader));
                has_earlier.then(own).flatten()
            }
            CommonKey => {
                let own: Vec<KeyId> = story.written(reader).map(|(_, key)| key).collect();
                let is_common = |&newer: &u32| {
                    let mut keys = story.written(newer);
                    keys.any(|(_, key)| own.contains(&key))
                };
                (!own.is_empty())
                    .then(|| between().find(is_common))
                    .flatten()
            }
            Time => {
                let start = story.interval(reader)?.start;
                between().find(|&newer| story.end(newer).is_some_and(|end| end < start))
            }
            _ => {
                let mut found = None;
                self.each(follows, reader, Some(read), |seen| {
                    let is_newer =
                        seen > read.from && writers.of(read.key).binary_search(&seen).is_ok();
                    found = found.or(is_newer.then_some(seen));
                });
                found
            }
        }
    }

    /// Calls `each` with what a transaction follows in one step, except in its session and in time. `read` is the read that
    /// misses a version.
    fn each(&self, follows: Follows, place: u32, read: Option<Read>, mut each: impl FnMut(u32)) {
        let Links { story, writers, .. } = *self;
        let by = |other: &Read| {
            read.is_none_or(|read| match follows {
                ReadBefore | ReadByThen => {
                    rows::by_then(story.history, other.operation, read.operation)
                }
                _ => true,
            })
        };
        match follows {
            Follows::Read | ReadBefore | ReadByThen => {
                let reads = story.reads_at(place).iter().filter(|other| by(other));
                reads.for_each(|other| each(other.from));
            }
            Overwrites => story
                .written(place)
                .filter_map(|(_, key)| writers.before(key, place))
                .for_each(each),
            OverwritesBefore => {
                // A key that is written again after the read is not written for good before it.
                let is_before = |o: usize| read.is_none_or(|read| o < read.operation.index());
                let again = |key: KeyId| {
                    let mut written = story.written(place);
                    written.any(|(o, other)| other == key && !is_before(o))
                };
                story
                    .written(place)
                    .filter(|&(o, key)| is_before(o) && !again(key))
                    .filter_map(|(_, key)| writers.before(key, place))
                    .for_each(each);
            }
            OverwritesRead => {
                let all = &self.overwrites_read;
                let first = all.partition_point(|(of, _)| *of < place);
                let of_place = all[first..].iter().take_while(|(of, _)| *of == place);
                of_place.for_each(|(_, reader)| each(*reader));
            }
            Order => each(place - 1),
            Itself | Session | Time | CommonKey | UpdatesKey | Updates => {}
        }
    }
}

/// Words of the bits that say which of some missed versions a path may begin with.
const WORDS: usize = 8;

/// A set of missed versions.
type Set = [u64; WORDS];

fn join(set: &mut Set, other: &Set) {
    set.iter_mut()
        .zip(other)
        .for_each(|(mine, theirs)| *mine |= theirs);
}

/// Which missed versions lead to which transactions of a part of an order.
struct Window<'w> {
    links: &'w Links<'w>,
    visibility: &'w Visibility,
    /// The place where it begins.
    first: u32,
    /// By place and stage.
    sets: Vec<Set>,
    /// By place and stage: the union over the earlier ones of its session, where these do not lead to it by stages.
    of_session: Vec<Set>,
    /// By number of ends: the union of what had ended, in the last stage.
    ended: Vec<Set>,
}

impl<'w> Window<'w> {
    /// Whether no reader sees a version that it missed. `slots` is scratch space, by key.
    fn look(
        links: &'w Links<'w>,
        visibility: &'w Visibility,
        versions: &[&[Missed]],
        slots: &mut [u32],
    ) -> Result<(), Flaw> {
        let story = links.story;
        let readers = versions.iter().flat_map(|missed| missed.iter());
        let (first, end) = (
            versions[0][0].next,
            readers.map(|missed| missed.reader).max().unwrap_or(0),
        );
        let n_stages = visibility.stages.len() + 1;
        let n = (end - first + 1) as usize * n_stages;
        story.control.needs(n * 2 * size_of::<Set>())?;
        let mut window = Window {
            links,
            visibility,
            first,
            sets: Vec::with_capacity(n),
            of_session: Vec::new(),
            ended: vec![[0; WORDS]],
        };
        // By key of the versions: those among them that have been overwritten so far.
        let mut overwritten: Vec<Set> = Vec::new();
        let mut open = versions.iter().enumerate().peekable();
        for place in first..=end {
            if place % 1024 == 0 {
                story.control.check()?;
            }
            while let Some((bit, missed)) = open.next_if(|(_, missed)| missed[0].next == place) {
                let slot = &mut slots[missed[0].read.key.index()];
                if *slot == u32::MAX {
                    *slot = overwritten.len() as u32;
                    overwritten.push([0; WORDS]);
                }
                overwritten[*slot as usize][bit / 64] |= 1 << (bit % 64);
            }
            let mut own = [0; WORDS];
            for (_, key) in story.written(place) {
                if let Some(set) = overwritten.get(slots[key.index()] as usize) {
                    join(&mut own, set);
                }
            }
            window.add(place, own);
        }
        for missed in versions {
            slots[missed[0].read.key.index()] = u32::MAX;
        }
        for (bit, missed) in versions.iter().enumerate() {
            for missed in *missed {
                let mut last = visibility.last.iter();
                let sees = |&(stage, follows): &(usize, Follows)| {
                    let set = window.leading_to(stage, follows, missed.reader, Some(missed.read));
                    follows == Updates && links.newer(Updates, missed).is_some()
                        || set[bit / 64] >> (bit % 64) & 1 == 1
                };
                if last.any(sees) {
                    return Err(story.overwritten(missed.read, missed.next));
                }
            }
        }
        Ok(())
    }

    /// Adds the next place, whose transaction writes versions newer than these.
    fn add(&mut self, place: u32, own: Set) {
        let mut sets = vec![own];
        for stages in &self.visibility.stages {
            let mut set = [0; WORDS];
            for &(stage, follows) in stages {
                match follows {
                    Itself => join(&mut set, &own),
                    _ => join(&mut set, &self.leading_to(stage, follows, place, None)),
                }
            }
            sets.push(set);
        }
        if self.visibility.skips_in_sessions() {
            for stage in 0..sets.len() {
                let earlier = self.leading_to(stage, Session, place, None);
                self.of_session.push(earlier);
            }
        }
        self.sets.append(&mut sets);
    }

    /// A set of a place and stage; empty before the window.
    fn at(&self, sets: &[Set], place: u32, stage: usize) -> Set {
        let n_stages = self.visibility.stages.len() + 1;
        let at = place.checked_sub(self.first).map(|at| at as usize);
        at.and_then(|at| sets.get(at * n_stages + stage))
            .copied()
            .unwrap_or_default()
    }

    /// What leads in some stage to the transactions that one at a place follows. Those have all been added.
    fn leading_to(
        &mut self,
        stage: usize,
        follows: Follows,
        place: u32,
        read: Option<Read>,
    ) -> Set {
        let mut set = [0; WORDS];
        match follows {
            Session => {
                let before = self.links.before[place as usize];
                set = self.at(&self.of_session, before, stage);
                join(&mut set, &self.at(&self.sets, before, stage));
            }
            Time => {
                let start = self.links.story.interval(place).map(|ran| ran.start);
                let ends = &self.links.ends;
                let n = start.map_or(0, |start| ends.partition_point(|(end, _)| *end < start));
                while self.ended.len() <= n {
                    let mut all = self.ended[self.ended.len() - 1];
                    let ended = ends[self.ended.len() - 1].1;
                    join(&mut all, &self.at(&self.sets, ended, stage));
                    self.ended.push(all);
                }
                set = self.ended[n];
            }
            _ => self.links.each(follows, place, read, |other| {
                join(&mut set, &self.at(&self.sets, other, stage))
            }),
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::initial::Initial;
    use crate::verify::resolution::{Resolution, Source};
    use crate::verify::story::Sources;
    use isoscope_model::control::Control;
    use isoscope_model::history::TransactionId;
    use isoscope_testing::random::anything;
    use rustc_hash::FxHashMap;

    const STRENGTHS: [Strength; 12] = [
        Strength::ReadCommitted,
        Strength::ReadAtomic,
        Strength::Causal,
        Strength::EachRead,
        Strength::Dependencies(Counted::SoFar),
        Strength::Dependencies(Counted::Direct),
        Strength::Dependencies(Counted::All),
        Strength::Sessions(Some(Guarantee::ReadYourWrites)),
        Strength::Sessions(Some(Guarantee::MonotonicReads)),
        Strength::Sessions(Some(Guarantee::MonotonicWrites)),
        Strength::Sessions(Some(Guarantee::WritesFollowReads)),
        Strength::Sessions(Some(Guarantee::Pram)),
    ];

    /// Whether a path of a visibility leads from a writer to a stage at a place, taken literally.
    fn leads(links: &Links<'_>, paths: &Visibility, from: u32, stage: usize, to: u32) -> bool {
        let Some(at) = stage.checked_sub(1) else {
            return from == to;
        };
        paths.stages[at].iter().any(|&(before, follows)| {
            follows == Itself && from == to
                || (from..to).any(|via| {
                    steps(links, follows, via, to, None) && leads(links, paths, from, before, via)
                })
        })
    }

    fn steps(links: &Links<'_>, follows: Follows, from: u32, to: u32, read: Option<Read>) -> bool {
        let story = links.story;
        let session = |place| story.history.session_of(story.transaction(place));
        let keys = |place| story.written(place).map(|(_, key)| key).collect::<Vec<_>>();
        match follows {
            Session => session(from) == session(to),
            CommonKey => keys(from).iter().any(|key| keys(to).contains(key)),
            _ => {
                let mut is_one = false;
                links.each(follows, to, read, |other| is_one |= other == from);
                is_one
            }
        }
    }

    #[test]
    fn windows_and_lookups_find_what_literal_paths_do() {
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
            let Ok(story) = Story::new(&history, &initial, &order, sources, &control) else {
                continue;
            };
            let writers = Writers::new(&story);
            for strength in STRENGTHS {
                let (links, paths) = (
                    Links::new(&story, &writers, strength),
                    Visibility::of(strength, false).expect("it is seen by paths"),
                );
                let is_wrong = |reader: u32, read: &Read| {
                    let newer = writers.between(read.key, read.from, reader).iter();
                    newer.copied().any(|newer| {
                        paths.last.iter().any(|&(stage, follows)| {
                            (newer..reader).any(|via| {
                                steps(&links, follows, via, reader, Some(*read))
                                    && leads(&links, &paths, newer, stage, via)
                            })
                        })
                    })
                };
                let holds = !(1..=story.order.len() as u32).any(|reader| {
                    let mut reads = story.reads_at(reader).iter();
                    reads.any(|read| is_wrong(reader, read))
                });
                let found = replay(&story, strength, false).is_ok();
                assert_eq!(found, holds, "{strength:?} {order:?} {history:?}");
                seen[usize::from(holds)] += 1;
            }
        }
        assert!(seen[0] > 50 && seen[1] > 100, "{seen:?}");
    }
}
