//! The order of the versions that an order of transactions gives, and the edges of D that follow from it.

use crate::checkers::Respected;
use isoscope_model::relations::{INITIAL_SLOT, Index, NONE, Node};
use std::cmp::Reverse;

/// The versions of each key in the order of their writers.
pub(in crate::checkers) struct Versions {
    /// By slot: the writer of the version before and that of the version after.
    before: Vec<u32>,
    after: Vec<u32>,
    /// By key: the writer of its first version.
    first: Vec<u32>,
}

/// A read that does not return the next version, which precedes its transaction in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Missed {
    /// The reader.
    pub(super) reader: Node,
    /// The writer of the next version.
    pub(super) newer: Node,
    /// The writer of the version that was read; [`NONE`] for ⊥.
    pub(super) older: u32,
    /// The read, a place in the index.
    pub(super) read: u32,
}

/// An edge of D on a path.
pub(super) type Step = (Node, Node);

/// A read that misses a version which its transaction depends on.
#[derive(Clone, Debug)]
pub(super) struct Wrong {
    /// The reader.
    pub(super) reader: Node,
    /// The writer of the version it read; [`NONE`](isoscope_model::relations::NONE) for ⊥.
    pub(super) older: u32,
    /// The writer of the next version.
    pub(super) newer: Node,
    /// A path of D from that writer to the reader, with few guesses; of an anti-dependency on it the edges that it rests on. Empty
    /// for a reader that must not miss the version whatever it depends on.
    pub(super) path: Vec<Step>,
}

impl Wrong {
    /// The order of the versions that was read and that was missed; none where the former is the initial one.
    pub(super) fn versions(&self) -> Option<Step> {
        (self.older != NONE).then_some((self.older, self.newer))
    }

    /// All that it rests on.
    pub(super) fn steps(&self) -> impl Iterator<Item = Step> + '_ {
        self.path.iter().copied().chain(self.versions())
    }
}

impl Versions {
    /// O(writes log).
    pub(in crate::checkers) fn new(index: &Index, position: impl Fn(Node) -> u32) -> Versions {
        let n = index.slot_node.len();
        let mut versions = Versions {
            before: vec![NONE; n],
            after: vec![NONE; n],
            first: vec![NONE; index.n_keys()],
        };
        let mut slots = Vec::new();
        for key in 0..index.n_keys() as u32 {
            slots.clear();
            slots.extend(index.slots_of(key));
            slots.sort_unstable_by_key(|&slot| position(index.slot_node[slot]));
            versions.first[key as usize] =
                slots.first().map_or(NONE, |&slot| index.slot_node[slot]);
            for pair in slots.windows(2) {
                versions.after[pair[0]] = index.slot_node[pair[1]];
                versions.before[pair[1]] = index.slot_node[pair[0]];
            }
        }
        versions
    }

    /// The reads that miss the next version, one of each reader and next writer: where reads so far count, the last one. For
    /// updates only those of keys that the reader writes. O(reads log).
    pub(super) fn missed(
        &self,
        index: &Index,
        respected: Respected,
        position: impl Fn(Node) -> u32,
    ) -> Vec<Missed> {
        let mut missed = Vec::new();
        for reader in 0..index.n_nodes() as Node {
            for read in index.reads_of(reader) {
                let newer = self.next(index, read);
                let counts = || {
                    respected != Respected::OfUpdates
                        || index.is_item(read)
                            && index.slot_of(reader, index.read_key[read]).is_some()
                };
                if newer != NONE
                    && newer != reader
                    && position(newer) < position(reader)
                    && counts()
                {
                    missed.push(Missed {
                        reader,
                        newer,
                        older: index.writer_of_read(read),
                        read: read as u32,
                    });
                }
            }
        }
        match respected {
            Respected::SoFar => {
                missed.sort_unstable_by_key(|m| (m.reader, m.newer, Reverse(m.read)))
            }
            _ => missed.sort_unstable(),
        }
        missed.dedup_by_key(|missed| (missed.reader, missed.newer));
        missed
    }

    /// The writer of the version after the one that a read returned; [`NONE`] if there is none.
    pub(in crate::checkers) fn next(&self, index: &Index, read: usize) -> u32 {
        match index.read_slot[read] {
            INITIAL_SLOT => self.first[index.read_key[read] as usize],
            slot => self.after[slot as usize],
        }
    }

    /// The writer of the version after that of `writer`, of the same key; [`NONE`] if there is none.
    pub(super) fn after(&self, index: &Index, writer: Node, key: u32) -> u32 {
        index
            .slot_of(writer, key)
            .map_or(NONE, |slot| self.after[slot as usize])
    }

    /// The transaction before a reader in its session, those that its reads up to this one return versions of, and those
    /// whose versions it had overwritten for good by then.
    pub(super) fn so_far<'a>(
        &'a self,
        index: &'a Index,
        reader: Node,
        read: usize,
    ) -> impl Iterator<Item = Node> + 'a {
        let own = move |write: &usize| {
            index.slot_operation[index.write_slot[*write] as usize] < index.read_operation[read]
        };
        let writes = index
            .writes_of(reader)
            .filter(own)
            .map(|write| self.before[index.write_slot[write] as usize]);
        let until = index.moment_end(reader, read);
        let sources = index.read_writer[index.reads_of(reader).start..until]
            .iter()
            .copied();
        let before = (index.position(reader) > 0).then(|| reader - 1);
        before
            .into_iter()
            .chain(sources)
            .chain(writes)
            .filter(move |&u| u != NONE && u != reader)
    }

    /// The transactions that write, and read a version that a transaction overwrites, each with the writer of that version;
    /// [`NONE`] for ⊥.
    pub(super) fn missed_by_updates<'a>(
        &'a self,
        index: &'a Index,
        v: Node,
    ) -> impl Iterator<Item = (Node, u32)> + 'a {
        let of_write = move |write: usize| {
            let older = self.before[index.write_slot[write] as usize];
            let reads = match older {
                NONE => index.readers_of_initial(index.write_key[write]),
                older => match index.slot_of(older, index.write_key[write]) {
                    Some(slot) => index.readers_of(slot),
                    None => &[],
                },
            };
            reads.iter().map(move |&read| (index.reader(read), older))
        };
        let is_update = move |&(u, _): &(Node, u32)| u != v && !index.writes_of(u).is_empty();
        index.writes_of(v).flat_map(of_write).filter(is_update)
    }

    /// The writers of the versions that a transaction overwrites.
    pub(super) fn overwritten<'a>(
        &'a self,
        index: &'a Index,
        v: Node,
    ) -> impl Iterator<Item = Node> + 'a {
        let slots = index.write_slot[index.writes_of(v)].iter();
        slots
            .map(|&slot| self.before[slot as usize])
            .filter(|&u| u != NONE)
    }
}

/// The transaction before another one in its session, and those it reads from.
pub(super) fn certain(index: &Index, v: Node) -> impl Iterator<Item = Node> + '_ {
    let before = (index.position(v) > 0).then(|| v - 1);
    let sources = index.read_writer[index.reads_of(v)].iter().copied();
    before
        .into_iter()
        .chain(sources)
        .filter(move |&u| u != NONE && u != v)
}
