//! One pass over all operations, which gathers what several findings need.

use super::LISTED;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, KeyId, OperationId, OperationKind, TransactionId, Value};
use isoscope_model::relations::{Glance, Resolution, Standing};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of operations of a mini-transaction.
pub(super) const MINI_OPERATIONS: usize = 4;
/// Maximum number of keys of a mini-transaction.
pub(super) const MINI_KEYS: u32 = 2;

/// A set of operations that threads fill together.
struct OperationSet(Vec<AtomicU64>);

impl OperationSet {
    fn new(n: usize) -> OperationSet {
        OperationSet((0..n.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    /// Adds an operation; returns whether it is new.
    fn insert(&self, operation: usize) -> bool {
        let bit = 1u64 << (operation % 64);
        self.0[operation / 64].fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    fn contains(&self, operation: usize) -> bool {
        self.0[operation / 64].load(Ordering::Relaxed) >> (operation % 64) & 1 == 1
    }
}

/// What is known about a key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeyTally {
    /// Versions written by participants: each counts once for all its writes of the key.
    pub(super) versions: u32,
    /// Those of them, the initial one included, that a transaction read before it wrote the key.
    pub(super) followed: u32,
    /// The session that wrote them, plus one; [`SEVERAL`] if several did.
    writer: u32,
    /// A transaction, an aborted one included, reads or writes it.
    pub(super) is_read: bool,
    pub(super) is_written: bool,
    /// Its initial version is read by a participant.
    pub(super) initial_is_read: bool,
    /// The initial version is among those followed.
    initial_is_followed: bool,
    /// The last read and the last write of it so far, plus one.
    last_read: u32,
    last_write: u32,
}

/// In place of the one session that writes a key.
const SEVERAL: u32 = u32::MAX;

impl KeyTally {
    /// Whether one session wrote all versions.
    pub(super) fn is_of_one_session(&self) -> bool {
        self.writer != SEVERAL
    }

    fn written_by(&mut self, writer: u32) {
        self.writer = if self.writer == 0 || self.writer == writer {
            writer
        } else {
            SEVERAL
        };
    }

    fn add(&mut self, other: &KeyTally) {
        self.versions += other.versions;
        if other.writer != 0 {
            self.written_by(other.writer);
        }
        let twice = self.initial_is_followed && other.initial_is_followed;
        self.followed += other.followed - u32::from(twice);
        self.is_read |= other.is_read;
        self.is_written |= other.is_written;
        self.initial_is_read |= other.initial_is_read;
        self.initial_is_followed |= other.initial_is_followed;
    }
}

/// An exact number and the first items counted.
#[derive(Clone, Debug)]
pub(super) struct Tally<T> {
    pub(super) count: u64,
    pub(super) first: Vec<T>,
}

impl<T> Default for Tally<T> {
    fn default() -> Tally<T> {
        Tally {
            count: 0,
            first: Vec::new(),
        }
    }
}

impl<T> Tally<T> {
    pub(super) fn push(&mut self, item: T) {
        self.count += 1;
        if self.first.len() < LISTED {
            self.first.push(item);
        }
    }

    fn append(&mut self, other: Tally<T>) {
        self.count += other.count;
        let room = LISTED - self.first.len();
        self.first.extend(other.first.into_iter().take(room));
    }
}

/// The results of one pass over all operations. Only participants count, unless stated otherwise.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// By key.
    pub(super) keys: Vec<KeyTally>,
    /// Reads of values that no transaction wrote, ascending.
    pub(super) unwritten: Vec<OperationId>,
    /// Reads without a recorded result.
    pub(super) unrecorded: Tally<OperationId>,
    /// First writes of a key in a transaction that has not read the key before.
    pub(super) blind: Tally<OperationId>,
    /// All first writes of a key in a transaction.
    pub(super) first_writes: u64,
    /// Transactions that are no mini-transactions.
    pub(super) large: Tally<TransactionId>,
    /// For keys that hold lists: the last element of a list that a transaction read and then appended to.
    pub(super) followed_elements: Vec<(KeyId, Value)>,
}

impl Survey {
    /// O(operations), in parallel.
    pub(super) fn of(
        history: &History,
        resolution: &Resolution,
        control: &Control,
    ) -> Result<Survey, Interrupt> {
        let parts = parts(history);
        let versions = OperationSet::new(history.n_operations());
        let followed = OperationSet::new(history.n_operations());
        parts
            .par_iter()
            .try_for_each(|part| mark_versions(history, resolution, part, &versions, control))?;
        let work = parts.into_par_iter().map(|part| {
            let mut survey = Survey {
                keys: vec![KeyTally::default(); history.n_keys()],
                ..Survey::default()
            };
            let looker = Looker {
                history,
                resolution,
                versions: &versions,
                followed: &followed,
            };
            for (done, t) in part.enumerate() {
                control.tick(done)?;
                looker.transaction(TransactionId::new(t), &mut survey);
            }
            Ok(survey)
        });
        let surveys: Vec<Survey> = work.collect::<Result<_, Interrupt>>()?;
        let mut surveys = surveys.into_iter();
        let mut whole = surveys.next().unwrap_or_default();
        surveys.for_each(|survey| whole.append(survey));
        Ok(whole)
    }

    fn append(&mut self, mut other: Survey) {
        self.keys
            .par_iter_mut()
            .zip(&other.keys)
            .for_each(|(mine, its)| mine.add(its));
        self.unwritten.append(&mut other.unwritten);
        self.unrecorded.append(other.unrecorded);
        self.blind.append(other.blind);
        self.first_writes += other.first_writes;
        self.large.append(other.large);
        self.followed_elements.append(&mut other.followed_elements);
    }
}

/// Ranges of transactions with about equal numbers of operations, few enough that a table of keys for each pays off.
fn parts(history: &History) -> Vec<Range<usize>> {
    let (n, operations) = (history.n_transactions(), history.n_operations());
    let most = operations / (4 * history.n_keys().max(1));
    let wanted = if operations < 1 << 16 {
        1
    } else {
        rayon::current_num_threads().min(most).max(1)
    };
    let begin_of = |t: usize| history.operation_range(TransactionId::new(t)).start;
    let mut ends: Vec<usize> = (1..wanted)
        .map(|part| {
            let goal = operations / wanted * part;
            let (mut low, mut high) = (0, n);
            while low < high {
                let middle = (low + high) / 2;
                if begin_of(middle) < goal {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            low
        })
        .collect();
    ends.push(n);
    let mut start = 0;
    ends.into_iter()
        .map(|end| std::mem::replace(&mut start, end)..end)
        .collect()
}

fn takes_part(standing: Standing) -> bool {
    matches!(standing, Standing::Committed | Standing::Promoted)
}

/// Marks the writes of participants.
fn mark_versions(
    history: &History,
    resolution: &Resolution,
    part: &Range<usize>,
    versions: &OperationSet,
    control: &Control,
) -> Result<(), Interrupt> {
    for (done, t) in part.clone().map(TransactionId::new).enumerate() {
        control.tick(done)?;
        if takes_part(resolution.standing(t)) {
            let writes = history
                .operation_range(t)
                .filter(|&o| history.kinds()[o] == OperationKind::Write);
            writes.for_each(|o| {
                versions.insert(o);
            });
        }
    }
    Ok(())
}

/// Examines one transaction after another.
struct Looker<'a> {
    history: &'a History,
    resolution: &'a Resolution,
    versions: &'a OperationSet,
    followed: &'a OperationSet,
}

impl Looker<'_> {
    fn transaction(&self, t: TransactionId, survey: &mut Survey) {
        let range = self.history.operation_range(t);
        let (kinds, keys) = (self.history.kinds(), self.history.keys());
        let counts = takes_part(self.resolution.standing(t));
        if !counts {
            for o in range {
                let key = &mut survey.keys[keys[o].index()];
                match kinds[o] {
                    OperationKind::Read => key.is_read = true,
                    OperationKind::Write => key.is_written = true,
                }
            }
            return;
        }
        let before = survey.blind.count;
        let session = self.history.session_of(t).index() as u32 + 1;
        let (start, n) = (range.start as u32, range.len());
        let mut n_keys = 0;
        for o in range.clone() {
            let key = &mut survey.keys[keys[o].index()];
            n_keys += u32::from(key.last_read <= start && key.last_write <= start);
            match kinds[o] {
                OperationKind::Read => {
                    key.is_read = true;
                    key.last_read = o as u32 + 1;
                    let read = OperationId::new(o);
                    match self.resolution.glance(read) {
                        Glance::Initial => key.initial_is_read = true,
                        // What a scan says of a row is no value that may have been there before.
                        Glance::ThinAir if self.history.values()[o].is_known() => {
                            survey.unwritten.push(read)
                        }
                        Glance::Unrecorded if !self.history.values()[o].is_of_scan() => {
                            survey.unrecorded.push(read)
                        }
                        _ => {}
                    }
                }
                OperationKind::Write => {
                    key.is_written = true;
                    let first = key.last_write <= start;
                    let has_read = key.last_read > start;
                    let read = OperationId(key.last_read.wrapping_sub(1));
                    key.last_write = o as u32 + 1;
                    if first {
                        key.versions += 1;
                        key.written_by(session);
                        survey.first_writes += 1;
                        if has_read {
                            self.follow(keys[o], read, &range, survey)
                        } else {
                            survey.blind.push(OperationId::new(o))
                        }
                    }
                }
            }
        }
        if n > MINI_OPERATIONS || n_keys > MINI_KEYS || survey.blind.count > before {
            survey.large.push(t);
        }
    }

    /// Records that the version that `read` returns is followed by one written by the reader, whose operations are
    /// given.
    fn follow(&self, key: KeyId, read: OperationId, reader: &Range<usize>, survey: &mut Survey) {
        let is_list = self.history.lists().is_list(key);
        let tally = &mut survey.keys[key.index()];
        match self.resolution.glance(read) {
            Glance::Initial if is_list => survey.followed_elements.push((key, Value::INITIAL)),
            Glance::Initial if !tally.initial_is_followed => {
                tally.initial_is_followed = true;
                tally.followed += 1;
            }
            Glance::Write(write) if !reader.contains(&write.index()) => {
                if !self.versions.contains(write.index()) || self.resolution.is_irregular(read) {
                    return;
                }
                if is_list {
                    survey
                        .followed_elements
                        .push((key, self.history.values()[write.index()]));
                } else if self.followed.insert(write.index()) {
                    tally.followed += 1;
                }
            }
            _ => {}
        }
    }
}
