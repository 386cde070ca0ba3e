//! The join for dense values: a table from values to writes, without grouping operations by key.
//!
//! Workload generators and test suites mostly write counters: numbers unique in the history, or unique per key and few.
//! Then a value is an address. Reads come soon after the writes that they return, so one pass over the history accesses
//! memory in order, whereas grouping by key scatters every operation.
//!
//! Whatever takes more than a lookup (a value written twice, an initial value that is also written, a value of a
//! transaction that did not commit, …) makes its key *intricate*; the reads of such keys are left to the
//! [`join`](super::join).

use super::super::ahead::Ahead;
use super::super::n_pieces;
use super::{Exceptions, INITIAL, OUTSIDE, OWN, Standing, THIN_AIR, UNRECORDED};
use crate::control::{Control, Interrupt};
use crate::history::{History, KeyId, OperationKind, TransactionId, Value};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The table has at most this many places per write.
const PLACES_PER_WRITE: u64 = 4;

/// Fewest operations of a piece.
const PIECE: usize = if cfg!(test) { 4 } else { 1 << 16 };

/// Fewest places of the table that are worth a task.
const LONG: usize = 1 << 16;

/// Most keys that an entry of the table can encode.
const MOST_KEYS: usize = 1 << 30;

/// The transaction of a write wrote the key again.
const OVERWRITTEN: u64 = 1 << 32;
/// The transaction of a write did not commit for certain.
const NOT_COMMITTED: u64 = 2 << 32;

/// An entry of the table: a write, its key, and its special cases, so that one lookup suffices.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry(u64);

impl Entry {
    const NONE: Entry = Entry(u64::MAX);

    #[inline]
    fn new(write: usize, key: KeyId, special: u64) -> Entry {
        Entry(write as u64 | special | u64::from(key.0) << 34)
    }

    #[inline]
    fn write(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    fn is_of(self, key: KeyId) -> bool {
        self.0 >> 34 == u64::from(key.0)
    }

    #[inline]
    fn key(self) -> KeyId {
        KeyId((self.0 >> 34) as u32)
    }

    #[inline]
    fn has(self, special: u64) -> bool {
        self.0 & special != 0
    }
}

/// The results of the table.
pub(super) struct Direct {
    /// By operation: the write that was read, or a special code. Invalid for intricate keys.
    pub(super) code: Vec<u32>,
    /// By key.
    pub(super) intricate: Vec<bool>,
    /// For the other keys.
    pub(super) exceptions: Exceptions,
}

/// Resolves reads by a table; `None` if values are too sparse for one, or some key holds a list.
///
/// O(operations), in parallel by ranges of transactions; the result does not depend on them. At most 32 bytes per write
/// while it runs, 8 if every value is used.
pub(super) fn resolve(
    history: &History,
    standing: &[Standing],
    control: &Control,
) -> Result<Option<Direct>, Interrupt> {
    if !history.lists().is_empty() || history.n_keys() >= MOST_KEYS {
        return Ok(None);
    }
    let pieces = pieces(history);
    let Some(addresses) = Addresses::of(history, standing, &pieces) else {
        return Ok(None);
    };
    control.needs(addresses.len * size_of::<AtomicU64>())?;
    let places = (0..addresses.len + 1).into_par_iter().with_min_len(LONG);
    let table: Vec<AtomicU64> = places.map(|_| AtomicU64::new(Entry::NONE.0)).collect();
    let intricate: Vec<AtomicBool> = (0..history.n_keys())
        .map(|_| AtomicBool::new(false))
        .collect();
    let pass = Pass {
        history,
        standing,
        addresses: &addresses,
        table: &table,
        intricate: &intricate,
    };
    pieces.par_iter().try_for_each(|piece| {
        control.check()?;
        pass.fill(piece.clone());
        Ok(())
    })?;
    let operations = (0..history.n_operations())
        .into_par_iter()
        .with_min_len(LONG);
    let mut code: Vec<u32> = operations.map(|_| OUTSIDE).collect();
    let of_pieces = split(&pieces, history, &mut code);
    let exceptions: Vec<Exceptions> = pieces
        .par_iter()
        .zip(of_pieces)
        .map(|(piece, code)| {
            control.check()?;
            Ok(pass.look(piece.clone(), code))
        })
        .collect::<Result<_, Interrupt>>()?;
    let intricate: Vec<bool> = intricate.into_iter().map(AtomicBool::into_inner).collect();
    let mut all = Exceptions::default();
    for part in exceptions {
        all.after_own_write.extend(part.after_own_write);
        all.intermediate.extend(part.intermediate);
    }
    let is_simple = |read: &u32| !intricate[history.keys()[*read as usize].index()];
    all.after_own_write.retain(is_simple);
    all.intermediate.retain(is_simple);
    Ok(Some(Direct {
        code,
        intricate,
        exceptions: all,
    }))
}

/// Ranges of transactions with about equally many operations, for all threads, as long as they justify their tables of
/// keys.
fn pieces(history: &History) -> Vec<Range<u32>> {
    let n = history.n_transactions() as u32;
    let most = history.n_operations() / PIECE.max(history.n_keys());
    let wanted = n_pieces(most);
    let goal = history.n_operations().div_ceil(wanted).max(1);
    let mut pieces = Vec::with_capacity(wanted);
    let (mut begin, mut operations) = (0, 0);
    for t in history.transactions() {
        operations += history.operation_range(t).len();
        if operations >= goal || t.0 + 1 == n {
            pieces.push(begin..t.0 + 1);
            (begin, operations) = (t.0 + 1, 0);
        }
    }
    pieces
}

/// The part of an array that belongs to the operations of each piece.
fn split<'a, T>(pieces: &[Range<u32>], history: &History, all: &'a mut [T]) -> Vec<&'a mut [T]> {
    let mut rest = all;
    let operations = |piece: &Range<u32>| {
        let of = |t: u32| history.operation_range(TransactionId(t));
        of(piece.end - 1).end - of(piece.start).start
    };
    let mut parts = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let (part, behind) = rest.split_at_mut(operations(piece));
        parts.push(part);
        rest = behind;
    }
    parts
}

/// The position of a written (key, value) in the table.
struct Addresses {
    /// One least value for all keys, or by key the range of its values and the start of its places in the table.
    by_key: Option<Vec<OfKey>>,
    least: u64,
    len: usize,
}

#[derive(Clone, Copy)]
struct OfKey {
    least: u64,
    greatest: u64,
    begin: u64,
}

impl OfKey {
    const NONE: OfKey = OfKey {
        least: u64::MAX,
        greatest: 0,
        begin: 0,
    };

    fn include(&mut self, value: u64) {
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }

    fn and(self, other: OfKey) -> OfKey {
        OfKey {
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
            begin: 0,
        }
    }

    /// Places that the values take, 0 without values.
    fn len(&self) -> u64 {
        if self.least <= self.greatest {
            (self.greatest - self.least).saturating_add(1)
        } else {
            0
        }
    }
}

impl Addresses {
    /// Values as addresses if they seem unique in the history; else (key, value); `None` if both are too sparse.
    fn of(history: &History, standing: &[Standing], pieces: &[Range<u32>]) -> Option<Addresses> {
        let (kinds, values) = (history.kinds(), history.values());
        let takes_part = |t: &TransactionId| standing[t.index()] != Standing::Initial;
        let of_piece = |piece: &Range<u32>| {
            let (mut all, mut n_writes) = (OfKey::NONE, 0u64);
            for t in piece.clone().map(TransactionId).filter(takes_part) {
                let operations = history.operation_range(t);
                for (&kind, &value) in kinds[operations.clone()].iter().zip(&values[operations]) {
                    let is_write = kind == OperationKind::Write;
                    n_writes += u64::from(is_write);
                    all.least = all.least.min(if is_write { value.0 } else { u64::MAX });
                    all.greatest = all.greatest.max(if is_write { value.0 } else { 0 });
                }
            }
            (all, n_writes)
        };
        let both = |(a, n): (OfKey, u64), (b, m): (OfKey, u64)| (a.and(b), n + m);
        let (all, n_writes) = pieces
            .par_iter()
            .map(of_piece)
            .reduce(|| (OfKey::NONE, 0), both);
        let most = n_writes.saturating_mul(PLACES_PER_WRITE);
        if (n_writes..=most).contains(&all.len()) {
            return Some(Addresses {
                by_key: None,
                least: all.least,
                len: all.len() as usize,
            });
        }
        let mut by_key = vec![OfKey::NONE; history.n_keys()];
        for t in history.transactions().filter(takes_part) {
            let writes = history
                .operation_range(t)
                .filter(|&o| kinds[o] == OperationKind::Write);
            writes.for_each(|o| by_key[history.keys()[o].index()].include(values[o].0));
        }
        let mut len = 0u64;
        for key in &mut by_key {
            key.begin = len;
            len = len.saturating_add(key.len());
        }
        (len <= most).then_some(Addresses {
            by_key: Some(by_key),
            least: 0,
            len: len as usize,
        })
    }

    /// The place of a value; `len` if no transaction can have written it to the key.
    #[inline]
    fn place(&self, key: KeyId, value: Value) -> usize {
        let (begin, least, len) = match &self.by_key {
            None => (0, self.least, self.len as u64),
            Some(keys) => {
                let of_key = keys[key.index()];
                (of_key.begin, of_key.least, of_key.len())
            }
        };
        let place = value.0.wrapping_sub(least);
        if place < len {
            (begin + place) as usize
        } else {
            self.len
        }
    }
}

/// The passes over the history. Both treat every operation in the same way, whatever its kind, and branch only on
/// exceptional cases: kinds alternate unpredictably, and a processor that predicts them is wrong half of the time.
#[derive(Clone, Copy)]
struct Pass<'a> {
    history: &'a History,
    standing: &'a [Standing],
    addresses: &'a Addresses,
    /// By place of a value: a write of it, an arbitrary one if several wrote it; and one place for values without a
    /// write.
    table: &'a [AtomicU64],
    intricate: &'a [AtomicBool],
}

impl Pass<'_> {
    /// Puts the writes of a piece into the table.
    fn fill(&self, transactions: Range<u32>) {
        let (kinds, keys, values) = (
            self.history.kinds(),
            self.history.keys(),
            self.history.values(),
        );
        let nowhere = AtomicU64::new(0);
        // By key: one more than its last write.
        let mut last_write = vec![0u32; self.history.n_keys()];
        for t in transactions.map(TransactionId) {
            let special = match self.standing[t.index()] {
                Standing::Initial => continue,
                Standing::Committed => 0,
                _ => NOT_COMMITTED,
            };
            let operations = self.history.operation_range(t);
            let first = operations.start as u32;
            for o in operations {
                let is_write = kinds[o] == OperationKind::Write;
                let (key, last) = (keys[o], &mut last_write[keys[o].index()]);
                if is_write && *last > first {
                    let earlier = *last as usize - 1;
                    let entry = Entry::new(earlier, key, special | OVERWRITTEN);
                    self.table[self.addresses.place(key, values[earlier])]
                        .store(entry.0, Ordering::Relaxed);
                }
                *last = if is_write { o as u32 + 1 } else { *last };
                let place = &self.table[self.addresses.place(key, values[o])];
                let place = if is_write { place } else { &nowhere };
                place.store(Entry::new(o, key, special).0, Ordering::Relaxed);
            }
        }
    }

    /// Looks up the reads of a piece, and checks that its writes are where they were put.
    fn look(&self, transactions: Range<u32>, code: &mut [u32]) -> Exceptions {
        let Pass {
            history, standing, ..
        } = *self;
        let (kinds, keys, values) = (history.kinds(), history.keys(), history.values());
        let first = history
            .operation_range(TransactionId(transactions.start))
            .start;
        let mut exceptions = Exceptions::default();
        let mut last_write = vec![0u32; history.n_keys()];
        let mut entries = Ahead::new();
        for t in transactions.map(TransactionId) {
            let is_initial = standing[t.index()] == Standing::Initial;
            let reads_count = !matches!(standing[t.index()], Standing::Aborted | Standing::Initial);
            let operations = history.operation_range(t);
            for o in operations.clone() {
                let is_write = kinds[o] == OperationKind::Write;
                let (key, value) = (keys[o], values[o]);
                let found = entries.at(o, first + code.len(), |stretch| {
                    keys[stretch.clone()]
                        .iter()
                        .zip(&values[stretch])
                        .map(|(&key, &value)| self.find(key, value))
                });
                let last = &mut last_write[key.index()];
                let own = (*last > operations.start as u32).then(|| *last - 1);
                *last = if is_write && !is_initial {
                    o as u32 + 1
                } else {
                    *last
                };
                let is_found = found.is_of(key);
                let plain = if is_found { found.write() } else { INITIAL };
                code[o - first] = if is_write || !reads_count {
                    OUTSIDE
                } else {
                    plain
                };
                let is_plain = if is_write {
                    found.write() == o as u32
                } else {
                    let may_be_initial = history.may_be_initial(key, value);
                    let is_special = is_found && found.has(OVERWRITTEN | NOT_COMMITTED);
                    own.is_none() && is_found != may_be_initial && !is_special
                };
                if is_plain {
                    continue;
                }
                if !is_write && reads_count {
                    let found = is_found.then_some(found);
                    code[o - first] = self.read(o, found, own, &operations, &mut exceptions);
                } else if is_write && !is_initial {
                    // All but one of several writes of a value find another one.
                    self.set_intricate(key);
                    self.set_intricate(found.key());
                }
            }
        }
        exceptions
    }

    /// The write of a value, if it was to this key; otherwise an arbitrary one of another key.
    #[inline]
    fn find(&self, key: KeyId, value: Value) -> Entry {
        let place = self.addresses.place(key, value);
        let entry = Entry(self.table[place].load(Ordering::Relaxed));
        if place == self.addresses.len {
            Entry::NONE
        } else {
            entry
        }
    }

    /// The code of a read that is not plain. `found` wrote its value to its key, `own` is the latest own write before it.
    #[cold]
    fn read(
        &self,
        o: usize,
        found: Option<Entry>,
        own: Option<u32>,
        operations: &Range<usize>,
        exceptions: &mut Exceptions,
    ) -> u32 {
        let (key, value) = (self.history.keys()[o], self.history.values()[o]);
        if value == Value::UNRECORDED {
            return UNRECORDED;
        }
        if value.is_of_scan() {
            self.set_intricate(key);
            return OUTSIDE;
        }
        if own.is_some_and(|own| self.history.values()[own as usize] == value) {
            return OWN;
        }
        let may_be_initial = self.history.may_be_initial(key, value);
        let code = match found {
            None if may_be_initial => INITIAL,
            None => return THIN_AIR,
            Some(found) => {
                let is_own = operations.contains(&(found.write() as usize));
                if may_be_initial || is_own || found.has(NOT_COMMITTED) {
                    self.set_intricate(key);
                    return OUTSIDE;
                }
                if found.has(OVERWRITTEN) {
                    exceptions.intermediate.push(o as u32);
                }
                found.write()
            }
        };
        if own.is_some() {
            exceptions.after_own_write.push(o as u32);
        }
        code
    }

    fn set_intricate(&self, key: KeyId) {
        self.intricate[key.index()].store(true, Ordering::Relaxed);
    }
}
