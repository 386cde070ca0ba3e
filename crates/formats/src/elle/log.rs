//! The content of a file, before anything is put together.

use super::atom::{Atom, Atoms};
use super::calls::Event;
use super::lists::Lists;
use isoscope_model::history::{NumberTable, Prefix};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

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

/// What is done to a single register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    CompareAndSet,
}

/// The value of an operation on a single register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Nothing,
    One(Atom),
    /// Old and new.
    Pair(Atom, Atom),
}

impl Operand {
    pub(super) fn one(self) -> Option<Atom> {
        if let Operand::One(atom) = self {
            Some(atom)
        } else {
            None
        }
    }

    pub(super) fn pair(self) -> Option<(Atom, Atom)> {
        if let Operand::Pair(old, new) = self {
            Some((old, new))
        } else {
            None
        }
    }
}

/// What an event is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    /// It does not say.
    Nothing,
    /// Micro-operations: places in the log.
    Transaction { begin: usize, end: usize },
    /// A single register.
    Register {
        access: Access,
        operand: Operand,
        /// Place among the keys of the log; none where the file knows only one register.
        key: Option<u32>,
        /// Whether it reports an error.
        error: bool,
    },
}

/// An operation of the nemesis.
pub(super) struct Incident<'a> {
    /// By the clock of the file.
    pub(super) time: Option<i64>,
    /// Place among all operations of the file, from 0.
    pub(super) place: u32,
    pub(super) what: Option<&'a str>,
    /// The part of the system that it concerns.
    pub(super) part: Option<&'a str>,
    /// Its value as written.
    pub(super) detail: Cow<'a, str>,
}

/// A file as written.
#[derive(Default)]
pub(crate) struct Log<'a> {
    pub(crate) events: Vec<Event<Content>>,
    pub(super) operations: Vec<MicroOperation>,
    pub(super) lists: Lists<'a>,
    pub(super) atoms: Atoms<'a>,
    key_places: NumberTable,
    pub(super) keys: Vec<Atom>,
    /// Operations of processes that are not clients: how many, and the name of the first.
    pub(crate) others: (u32, String),
    /// Whether some of them belong to a process other than the nemesis, which may be a client under another name.
    pub(crate) has_strangers: bool,
    /// What the nemesis did.
    pub(super) incidents: Vec<Incident<'a>>,
    /// The node of each process that names one; none if it names several.
    pub(super) nodes: Vec<(Option<i64>, Option<&'a str>)>,
    node_places: FxHashMap<Option<i64>, usize>,
    /// Names of fields that were not read and may mean something, each once.
    pub(super) unread_fields: Vec<&'a str>,
    /// Remarks of the reader.
    pub(crate) remarks: Vec<String>,
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

    /// Notes that a field of an operation is not read, unless such fields never say what was done.
    #[inline]
    pub(super) fn unread_field(&mut self, name: &'a str) {
        const MEANINGLESS: [&str; 8] = [
            "index",
            "exception",
            "msg",
            "debug",
            "latency",
            "completion-time",
            "sub-via",
            "clock-offsets",
        ];
        if !MEANINGLESS.contains(&name) && !self.unread_fields.contains(&name) {
            self.unread_fields.push(name);
        }
    }

    /// Notes the node of a process, or that it has several.
    pub(super) fn on_node(&mut self, process: Option<i64>, node: Option<&'a str>) {
        let next = self.nodes.len();
        let place = *self.node_places.entry(process).or_insert(next);
        match self.nodes.get_mut(place) {
            None => self.nodes.push((process, node)),
            Some((_, known)) if *known != node => *known = None,
            Some(_) => {}
        }
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
        let operand = |operand| match operand {
            Operand::Nothing => Operand::Nothing,
            Operand::One(one) => Operand::One(atom(one)),
            Operand::Pair(old, new) => Operand::Pair(atom(old), atom(new)),
        };
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
                    Content::Register {
                        access,
                        operand: of,
                        key,
                        error,
                    } => Content::Register {
                        access,
                        operand: operand(of),
                        key: key.map(|key| keys[key as usize]),
                        error,
                    },
                },
                ..event
            }));
        if self.others.0 == 0 {
            self.others.1 = other.others.1;
        }
        self.others.0 = self.others.0.saturating_add(other.others.0);
        self.has_strangers |= other.has_strangers;
        self.incidents
            .extend(other.incidents.into_iter().map(|incident| Incident {
                place: incident.place.saturating_add(n_before),
                ..incident
            }));
        let nodes = other.nodes.into_iter();
        nodes.for_each(|(process, node)| self.on_node(process, node));
        other
            .unread_fields
            .into_iter()
            .for_each(|name| self.unread_field(name));
        self.remarks.extend(other.remarks);
    }

    /// Number of operations in the file, including those of processes other than clients.
    pub(crate) fn n_operations(&self) -> u32 {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        self.others
            .0
            .saturating_add(count(self.events.len()))
            .saturating_add(count(self.incidents.len()))
    }
}
