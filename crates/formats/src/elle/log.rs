//! The content of a file, before anything is put together.

use super::atom::{Atom, Atoms};
use super::lists::Lists;
use crate::operations::{Around, Event};
use isoscope_model::history::{NumberTable, Prefix};
use rustc_hash::FxHashMap;

/// What a micro-operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Read,
    /// To a register.
    Write,
    /// To a list.
    Append,
}

/// What a micro-operation read or wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payload {
    Nothing,
    One(Atom),
    /// One of the lists of the log.
    List(Prefix),
}

/// `[:r x [1 2]]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct MicroOperation {
    pub(super) verb: Verb,
    /// Place among the keys of the log.
    pub(super) key: u32,
    pub(super) payload: Payload,
    pub(super) line: u32,
}

/// What an event is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    /// It does not say.
    Nothing,
    /// Micro-operations: places in the log.
    Transaction { begin: usize, end: usize },
}

/// A file as written.
#[derive(Default)]
pub(crate) struct Log<'a> {
    pub(crate) events: Vec<Event<Content>>,
    pub(super) operations: Vec<MicroOperation>,
    pub(super) lists: Lists<'a>,
    pub(super) atoms: Atoms<'a>,
    pub(super) key_places: NumberTable,
    pub(super) keys: Vec<Atom>,
    /// Whether there is more of the history than this.
    pub(super) is_part: bool,
    /// Whether a read returned a set.
    pub(super) reads_sets: bool,
    pub(crate) around: Around<'a>,
}

impl<'a> Log<'a> {
    #[inline]
    pub(super) fn key_place(&mut self, atom: Atom) -> u32 {
        let next = self.keys.len() as u32;
        let place = self.key_places.place_or(atom.number(), next);
        if place == next {
            self.keys.push(atom);
        }
        place
    }

    /// Whether a key holds a set to which values are written one by one: sets are read, and none is written.
    pub(super) fn has_growing_sets(&self) -> bool {
        let writes_set = |operation: &MicroOperation| match (operation.verb, operation.payload) {
            (Verb::Write, Payload::One(atom)) => self.atoms.is_set(atom),
            _ => false,
        };
        self.reads_sets && !self.operations.iter().any(writes_set)
    }

    /// Turns vectors read from keys to which vectors were written, and nothing appended, into values: there a vector is
    /// no list of elements.
    pub(super) fn take_vectors_as_values(&mut self) {
        let (mut holds_vectors, mut is_appended) =
            (vec![false; self.keys.len()], vec![false; self.keys.len()]);
        for operation in &self.operations {
            match (operation.verb, operation.payload) {
                (Verb::Write, Payload::One(atom)) if self.atoms.is_vector(atom) => {
                    holds_vectors[operation.key as usize] = true;
                }
                (Verb::Append, _) => is_appended[operation.key as usize] = true,
                _ => {}
            }
        }
        if !holds_vectors.contains(&true) {
            return;
        }
        for place in 0..self.operations.len() {
            let MicroOperation {
                verb, key, payload, ..
            } = self.operations[place];
            if let (Verb::Read, Payload::List(list)) = (verb, payload)
                && holds_vectors[key as usize]
                && !is_appended[key as usize]
            {
                self.operations[place].payload =
                    Payload::One(self.atoms.vector(self.lists.of(list)));
            }
        }
    }

    /// Adds what follows in the file, after `n_lines` lines, where it was read by itself.
    pub(super) fn append(&mut self, other: Log<'a>, n_lines: u32) {
        let (n_before, n_operations) = (self.n_operations(), self.operations.len());
        let atoms = self.atoms.append(other.atoms);
        let atom = |atom: Atom| atom.among(&atoms);
        let keys: Vec<u32> = other
            .keys
            .iter()
            .map(|&key| self.key_place(atom(key)))
            .collect();
        let mut stems: FxHashMap<u32, u32> = FxHashMap::default();
        for operation in other.operations {
            let key = keys[operation.key as usize];
            let payload = match operation.payload {
                Payload::Nothing => Payload::Nothing,
                Payload::One(one) => Payload::One(atom(one)),
                Payload::List(list) => {
                    let kept = || {
                        let stem = other.lists.stem(list.stem).iter().map(|&one| atom(one));
                        self.lists
                            .keep(key, &stem.collect::<Vec<_>>(), None, &[])
                            .stem
                    };
                    let stem = *stems.entry(list.stem).or_insert_with(kept);
                    Payload::List(Prefix { stem, ..list })
                }
            };
            self.operations.push(MicroOperation {
                key,
                payload,
                line: operation.line.saturating_add(n_lines),
                ..operation
            });
        }
        self.events
            .extend(other.events.into_iter().map(|event| Event {
                place: event.place.saturating_add(n_before),
                line: event.line.saturating_add(n_lines),
                content: match event.content {
                    Content::Nothing => Content::Nothing,
                    Content::Transaction { begin, end } => Content::Transaction {
                        begin: begin + n_operations,
                        end: end + n_operations,
                    },
                },
                ..event
            }));
        self.reads_sets |= other.reads_sets;
        self.around.append(other.around, n_before);
    }

    /// Number of operations in the file, including those of processes other than clients.
    pub(crate) fn n_operations(&self) -> u32 {
        let n_events = u32::try_from(self.events.len()).unwrap_or(u32::MAX);
        self.around.n_operations().saturating_add(n_events)
    }
}
