//! Who wrote what, as far back as that is remembered.

use super::{Delivery, Origin, Others, Version, Waiting};
use crate::follow::keep::kept;
use crate::follow::order::Seq;
use crate::follow::record::{Action, Atom};
use isoscope_model::history::Outcome;
use rustc_hash::FxHashMap;

/// Who wrote which version, in two generations. When the younger one is full, the older one is forgotten at once, so that
/// versions need no work to be forgotten. The last version of each key stays, since it may be read at any time.
#[derive(Debug)]
pub(super) struct Written {
    young: Generation,
    old: Generation,
    /// How many versions are remembered at least.
    memory: usize,
    /// How many the younger generation holds when it is full.
    full: usize,
    /// By key: the number, in the order of the file, of the last committed transaction that wrote it; 0 for none.
    latest: Vec<u64>,
}

/// Versions that were written after each other, and older ones that are still needed.
#[derive(Debug)]
struct Generation {
    origins: FxHashMap<Version, Origin>,
    /// The writers of its versions that have been delivered, or will be, have this number or a higher one. Not so those of
    /// versions that are kept only as the last of their key: engines know them as settled, or as too old.
    first: Seq,
}

kept!(Written {
    young,
    old,
    memory,
    full,
    latest
});
kept!(Generation { origins, first });

impl Written {
    pub(super) fn new(memory: usize) -> Written {
        let empty = || Generation {
            origins: FxHashMap::default(),
            first: 1,
        };
        Written {
            young: empty(),
            old: empty(),
            memory,
            full: memory,
            latest: Vec::new(),
        }
    }

    pub(super) fn get(&self, version: &Version) -> Option<&Origin> {
        self.young
            .origins
            .get(version)
            .or_else(|| self.old.origins.get(version))
    }

    pub(super) fn get_mut(&mut self, version: &Version) -> Option<&mut Origin> {
        self.young
            .origins
            .get_mut(version)
            .or_else(|| self.old.origins.get_mut(version))
    }

    pub(super) fn contains_key(&self, version: &Version) -> bool {
        self.get(version).is_some()
    }

    /// Adds a version that is not there.
    fn add(&mut self, version: Version, origin: Origin) {
        if origin.outcome == Outcome::Committed {
            let key = version.0 as usize;
            self.latest.resize(self.latest.len().max(key + 1), 0);
            self.latest[key] = origin.arrived;
        }
        self.young.origins.insert(version, origin);
    }

    fn replace(&mut self, version: Version, origin: Origin) {
        self.old.origins.remove(&version);
        self.add(version, origin);
    }

    fn is_full(&self) -> bool {
        self.young.origins.len() >= self.full
    }

    /// The oldest transaction that a read may name.
    pub(super) fn first_named(&self) -> Seq {
        self.old.first.min(self.young.first)
    }

    /// Begins a new generation, whose writers have the number `next` or a higher one, and forgets the older one; what
    /// `is_needed` is taken over. What was forgotten. O(versions of the older one).
    fn turn(&mut self, next: Seq, is_needed: impl Fn(&Origin) -> bool) -> Vec<Origin> {
        let young = Generation {
            origins: std::mem::take(&mut self.young.origins),
            first: self.young.first,
        };
        let Generation { mut origins, .. } = std::mem::replace(&mut self.old, young);
        let (mut first, mut kept, mut forgotten) = (next, Vec::new(), Vec::new());
        for (version, origin) in origins.drain() {
            let is_latest =
                origin.is_last && self.latest.get(version.0 as usize) == Some(&origin.arrived);
            match is_needed(&origin) {
                true if origin.seq > 0 => first = first.min(origin.seq),
                true => {}
                false if is_latest => {}
                false => {
                    forgotten.push(origin);
                    continue;
                }
            }
            kept.push((version, origin));
        }
        // Where most of a generation is kept, the next one is larger: each version is taken over a few times at most.
        self.full = kept.len() + self.memory.max(kept.len());
        origins.extend(kept);
        self.young = Generation { origins, first };
        forgotten
    }
}

impl Delivery {
    /// Remembers what a transaction wrote. The sessions that wait for it.
    pub(super) fn register(&mut self, waiting: &Waiting) -> Vec<u32> {
        let mut wake = Vec::new();
        let Waiting {
            arrived, record, ..
        } = waiting;
        let writes = record
            .operations
            .iter()
            .enumerate()
            .filter(|(_, action)| action.is_write());
        for (place, action) in writes {
            if action.value == Atom::Initial {
                self.initial_written.insert(action.key);
                if self.initial_read.contains(&action.key) {
                    self.end(format!(
                        "line {}: the initial value is written, which had been read",
                        action.line
                    ));
                }
                continue;
            }
            let is_last = !record.operations[place + 1..]
                .iter()
                .any(|later| later.is_write() && later.key == action.key);
            let place = record.writes_before(place).count() as u32;
            self.note(action, waiting, (place, is_last));
        }
        self.wake_waiters(record, &mut wake);
        // Reads of own writes that are wrong count as reads of what others may write, too.
        if waiting.wrong.is_some() {
            for action in &record.operations {
                if let Some(origin) = self.written.get_mut(&action.version())
                    && origin.arrived == *arrived
                {
                    origin.was_read = true;
                }
            }
        }
        wake
    }

    /// Remembers who wrote a version.
    fn note(&mut self, action: &Action, waiting: &Waiting, (place, is_last): (u32, bool)) {
        let Waiting {
            arrived, record, ..
        } = waiting;
        let version = action.version();
        let is_append = || {
            record
                .operations
                .iter()
                .any(|o| o.key == action.key && o.list.is_some())
        };
        let origin = Origin {
            arrived: *arrived,
            session: record.session,
            outcome: record.outcome,
            seq: 0,
            place,
            is_last,
            was_read: false,
            others: Others::None,
        };
        match self.written.get_mut(&version) {
            // An element appended twice by one transaction.
            Some(origin) if origin.arrived == *arrived && is_append() => {
                origin.others = Others::Several
            }
            Some(origin) if origin.arrived == *arrived => origin.is_last = is_last,
            // Only what may have committed is read, if anything with this value did.
            Some(_) if record.outcome == Outcome::Aborted => {}
            Some(earlier) if earlier.outcome == Outcome::Aborted && !earlier.was_read => {
                self.written.replace(version, origin);
            }
            Some(earlier) => {
                earlier.others = match earlier.others {
                    Others::None => Others::One(*arrived),
                    Others::One(other) if other == *arrived => Others::One(other),
                    _ => Others::Several,
                };
                if earlier.was_read || waiting.wrong.is_some() {
                    self.end(format!(
                        "line {}: a value that had been read is written again",
                        action.line
                    ));
                }
            }
            None => self.written.add(version, origin),
        }
    }

    /// Forgets the writers of the oldest versions, unless they wait or are remembered by an engine.
    pub(super) fn forget_versions(&mut self) {
        if !self.written.is_full() {
            return;
        }
        let recent = &self.recent;
        let forgotten = self.written.turn(self.delivered + 1, |origin| {
            let waits = origin.outcome == Outcome::Committed && origin.seq == 0;
            waits
                || recent
                    .get(&origin.seq)
                    .is_some_and(|t| t.strong_count() > 0)
        });
        self.was_dropped |= !forgotten.is_empty();
        for origin in forgotten
            .iter()
            .filter(|origin| origin.outcome == Outcome::Unknown)
        {
            self.unknown.remove(&origin.arrived);
        }
        let written = &self.written;
        self.aborted.retain(|arrived, record| {
            let mut origins = record
                .operations
                .iter()
                .filter_map(|action| written.get(&action.version()));
            origins.any(|origin| origin.arrived == *arrived)
        });
    }
}
