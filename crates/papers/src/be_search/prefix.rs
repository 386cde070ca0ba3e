//! Prefixes of a component, and what may come next.

use isoscope_check::checkers::Cause;
use isoscope_model::control::Control;
use isoscope_model::relations::{Index, NONE, Node};
use rustc_hash::FxHashMap;

/// How transactions are cut into the transactions of the history that must be serializable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Not at all: SER.
    Whole,
    /// h_R|W: PC.
    ReadsAndWrites,
    /// h^c_R|W: SI.
    ReadsAndWritesApart,
}

impl Cut {
    /// Events of a transaction. Events are numbered by node; if there are two, R is the first.
    pub(super) fn n_events(self) -> u32 {
        if self == Cut::Whole { 1 } else { 2 }
    }
}

/// Tables over all sessions, keys and versions, which one component after the other uses.
pub(super) struct Tables {
    /// By session: its place among those of the component, or [`NONE`].
    place: Vec<u32>,
    /// By slot: reads of it in the component.
    readers: Vec<u32>,
    /// By key: reads outside the prefix of versions in the prefix, ⊥ included.
    open: Vec<u32>,
    /// By key: transactions between R and W that write it.
    between: Vec<u32>,
    /// By node: writers of older versions of its keys, as lists show them.
    older: FxHashMap<Node, Vec<Node>>,
}

impl Tables {
    pub(super) fn new(index: &Index) -> Tables {
        let mut older: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
        for pair in index.listed() {
            older.entry(pair.newer).or_default().push(pair.older);
        }
        Tables {
            place: vec![NONE; index.n_sessions()],
            readers: vec![0; index.slot_node.len()],
            open: vec![0; index.n_keys()],
            between: vec![0; index.n_keys()],
            older,
        }
    }
}

/// A prefix of some sessions: a number of the first events of each.
pub(super) struct Prefix<'a> {
    index: &'a Index,
    pub(super) cut: Cut,
    /// The sessions, ascending.
    pub(super) sessions: &'a [u32],
    /// By place in `sessions`: events in the prefix. This alone identifies the prefix.
    pub(super) length: Vec<u32>,
    tables: &'a mut Tables,
}

impl<'a> Prefix<'a> {
    /// The empty prefix, which contains ⊥. `tables` are new, or were used for a component whose last prefix was all of
    /// it.
    pub(super) fn new(
        index: &'a Index,
        sessions: &'a [u32],
        cut: Cut,
        tables: &'a mut Tables,
        control: &Control,
    ) -> Result<Prefix<'a>, Cause> {
        tables.place.fill(NONE);
        (0..)
            .zip(sessions)
            .for_each(|(at, &session)| tables.place[session as usize] = at);
        let prefix = Prefix {
            index,
            cut,
            sessions,
            length: vec![0; sessions.len()],
            tables,
        };
        let all = || {
            sessions
                .iter()
                .flat_map(|&session| index.nodes_of_session(session))
        };
        for t in all() {
            control.tick(t as usize)?;
            index
                .writes_of(t)
                .for_each(|write| prefix.tables.readers[index.write_slot[write] as usize] = 0);
        }
        for t in all() {
            control.tick(t as usize)?;
            for read in index.reads_of(t) {
                match index.writer_of_read(read) {
                    _ if !prefix.is_inside(read) => {}
                    NONE => prefix.tables.open[index.read_key[read] as usize] += 1,
                    _ => prefix.tables.readers[index.read_slot[read] as usize] += 1,
                }
            }
        }
        Ok(prefix)
    }

    fn is_member(&self, t: Node) -> bool {
        self.tables.place[self.index.session[t as usize] as usize] != NONE
    }

    /// Reads from outside the component are dropped.
    fn is_inside(&self, read: usize) -> bool {
        let writer = self.index.writer_of_read(read);
        writer == NONE || self.is_member(writer)
    }

    /// Whether an entire transaction is in the prefix.
    fn contains(&self, t: Node) -> bool {
        let session = self.index.session[t as usize];
        let at = self.tables.place[session as usize];
        self.length[at as usize] >= self.cut.n_events() * (self.index.position(t) + 1)
    }

    /// Number of events in all.
    pub(super) fn n_events(&self) -> usize {
        let n_nodes: usize = self
            .sessions
            .iter()
            .map(|&session| self.index.nodes_of_session(session).len())
            .sum();
        n_nodes * self.cut.n_events() as usize
    }

    /// The next event of the session at a place.
    pub(super) fn next(&self, at: usize) -> Option<u32> {
        let nodes = self.index.nodes_of_session(self.sessions[at]);
        let event = nodes.start * self.cut.n_events() + self.length[at];
        (event < nodes.end * self.cut.n_events()).then_some(event)
    }

    /// The transaction of an event; whether it reads; whether it writes.
    fn parts(&self, event: u32) -> (Node, bool, bool) {
        match self.cut {
            Cut::Whole => (event, true, true),
            _ => (event / 2, event.is_multiple_of(2), !event.is_multiple_of(2)),
        }
    }

    /// Whether the prefix may be extended by an event that comes next in its session (Algorithm 2, line 4).
    pub(super) fn allows(&self, event: u32) -> bool {
        let index = self.index;
        let (t, reads, writes) = self.parts(event);
        let key = |write: usize| index.write_key[write] as usize;
        if reads {
            let mut inside = index
                .reads_of(t)
                .filter(|&read| self.is_inside(read))
                .map(|r| index.writer_of_read(r));
            if !inside.all(|writer| writer == NONE || self.contains(writer)) {
                return false;
            }
            // The variables of h^c: nothing of another writer of a key between R and W.
            if self.cut == Cut::ReadsAndWritesApart
                && index
                    .writes_of(t)
                    .any(|write| self.tables.between[key(write)] > 0)
            {
                return false;
            }
        }
        if !writes {
            return true;
        }
        // The reads of t itself, together with its writes, do not block them.
        let own = |wanted: usize| {
            let of_key =
                |read: &usize| index.read_key[*read] as usize == wanted && self.is_inside(*read);
            if reads {
                index.reads_of(t).filter(of_key).count() as u32
            } else {
                0
            }
        };
        let overwrites = |key: usize| self.tables.open[key] > 0 && self.tables.open[key] > own(key);
        let too_early = self.tables.older.get(&t).is_some_and(|older| {
            older
                .iter()
                .any(|&older| self.is_member(older) && !self.contains(older))
        });
        !too_early && !index.writes_of(t).any(|write| overwrites(key(write)))
    }

    /// Extends the prefix by the next event of a session.
    pub(super) fn push(&mut self, at: usize, event: u32) {
        let index = self.index;
        let (t, reads, writes) = self.parts(event);
        self.length[at] += 1;
        if reads {
            for read in index.reads_of(t) {
                self.tables.open[index.read_key[read] as usize] -= u32::from(self.is_inside(read));
            }
        }
        for write in index.writes_of(t) {
            let key = index.write_key[write] as usize;
            self.tables.between[key] += u32::from(reads);
            self.tables.between[key] -= u32::from(writes);
            if writes {
                self.tables.open[key] += self.tables.readers[index.write_slot[write] as usize];
            }
        }
    }

    /// Removes the last event of a session.
    pub(super) fn pop(&mut self, at: usize, event: u32) {
        let index = self.index;
        let (t, reads, writes) = self.parts(event);
        self.length[at] -= 1;
        for write in index.writes_of(t) {
            let key = index.write_key[write] as usize;
            self.tables.between[key] += u32::from(writes);
            self.tables.between[key] -= u32::from(reads);
            if writes {
                self.tables.open[key] -= self.tables.readers[index.write_slot[write] as usize];
            }
        }
        if reads {
            for read in index.reads_of(t) {
                self.tables.open[index.read_key[read] as usize] += u32::from(self.is_inside(read));
            }
        }
    }

    /// The order in which sessions are tried: by their next event in time, in the file, or by position.
    pub(super) fn hint(&self, event: u32) -> u64 {
        let (t, reads, writes) = self.parts(event);
        if let Some(Some(interval)) = self.index.interval.get(t as usize) {
            let moment = if reads && !writes {
                interval.start
            } else {
                interval.end
            };
            return moment.wrapping_sub(i64::MIN) as u64;
        }
        let place = self.index.recorded_at.get(t as usize).copied();
        2 * u64::from(place.unwrap_or_else(|| self.index.position(t))) + u64::from(!reads)
    }
}
