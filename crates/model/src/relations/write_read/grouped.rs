//! Operations by key.

use crate::graph::row_begins;
use crate::history::{History, KeyId};
use rayon::prelude::*;
use std::ops::Range;

/// One operation among those of a key.
#[derive(Clone, Copy, Default)]
pub(super) struct Entry {
    pub(super) operation: u32,
    pub(super) transaction: u32,
}

/// Operations by key, in the order of their ids for each key.
pub(super) struct GroupedByKey {
    begin: Vec<u32>,
    entries: Vec<Entry>,
    parts: Vec<Range<usize>>,
}

impl GroupedByKey {
    /// Groups the operations of the keys `wanted`. O(operations), writing in parallel by ranges of keys.
    pub(super) fn new(history: &History, wanted: impl Fn(KeyId) -> bool + Sync) -> GroupedByKey {
        let keys = history.keys();
        let begin = row_begins(
            history.n_keys(),
            keys.iter().filter(|&&key| wanted(key)).map(|key| key.0),
        );
        let parts = equal_parts(&begin);
        let mut entries = vec![Entry::default(); begin[history.n_keys()] as usize];
        let mut rest = entries.as_mut_slice();
        let mut work = Vec::with_capacity(parts.len());
        for part in &parts {
            let (mine, others) = rest.split_at_mut((begin[part.end] - begin[part.start]) as usize);
            work.push((part.clone(), mine));
            rest = others;
        }
        // Each part visits all keys, but writes its own entries only: reading is cheap, scattered writing is not.
        work.into_par_iter().for_each(|(part, entries)| {
            let offset = begin[part.start];
            let mut next: Vec<u32> = begin[part.clone()].iter().map(|&b| b - offset).collect();
            for t in history.transactions() {
                for operation in history.operation_range(t) {
                    let key = keys[operation].index();
                    if part.contains(&key) && wanted(keys[operation]) {
                        let place = &mut next[key - part.start];
                        entries[*place as usize] = Entry {
                            operation: operation as u32,
                            transaction: t.0,
                        };
                        *place += 1;
                    }
                }
            }
        });
        GroupedByKey {
            begin,
            entries,
            parts,
        }
    }

    pub(super) fn parts(&self) -> Vec<Range<usize>> {
        self.parts.clone()
    }

    /// The operations of a key, ascending; empty if it was not wanted.
    pub(super) fn of(&self, key: usize) -> &[Entry] {
        &self.entries[self.begin[key] as usize..self.begin[key + 1] as usize]
    }
}

/// Ranges of keys with about equally many operations, some for each thread; one range for small histories.
fn equal_parts(begin: &[u32]) -> Vec<Range<usize>> {
    let n_keys = begin.len() - 1;
    let operations = begin[n_keys] as usize;
    let wanted = if operations < 1 << 16 {
        1
    } else {
        (rayon::current_num_threads() * 2).min(32)
    };
    let mut parts = Vec::with_capacity(wanted);
    let mut start = 0;
    for part in 1..=wanted {
        let goal = (operations * part / wanted) as u32;
        let end = if part == wanted {
            n_keys
        } else {
            begin.partition_point(|&b| b < goal).min(n_keys)
        };
        if end > start {
            parts.push(start..end);
            start = end;
        }
    }
    parts
}
