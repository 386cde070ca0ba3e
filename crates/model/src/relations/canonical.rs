//! An index in which sessions and keys are numbered by what happened in them, not by where the file has them.
//!
//! Whatever is chosen by number on such an index (one of several shortest cycles, the first of equally small instances)
//! is the same for every order of sessions in the file and for all names of sessions, keys and values. The numbers come
//! from colour refinement (Weisfeiler & Leman 1968): the colour of a session is a hash of its transactions, in which
//! each access counts by the colour of its key, by the session and position of the writer, and by the readers of what
//! was written; the colour of a key is a hash of its accesses. Colours are refined until no more sessions differ. If
//! sessions are still equal, which nearly always means that a symmetry of the history exchanges them, the first in the
//! file gets a colour of its own, and refinement continues.

use super::index::{INITIAL_SLOT, Index, NONE, Node, Slot};
use super::lists::list_orders;
use crate::control::{Control, Interrupt};
use crate::history::{Appended, History, Prefix};

/// Reads, writes and nodes visited before sessions that are still equal are left in file order: this many times the
/// size of the index, or [`LITTLE`] if that is more.
const MOST_PASSES: usize = 8;
/// What is always affordable.
const LITTLE: usize = 2_000_000;

impl Index {
    /// The same index with sessions and keys, and thus nodes and versions, in canonical order. `self` must be an index
    /// of `history`. Transactions, operations and [`key_id`](Self::key_id) stay those of the history. O(size of the
    /// index, log) for most histories, at most a few times that.
    ///
    /// # Errors
    /// [`Interrupt`] when `control` ends the work first.
    pub fn canonical(&self, history: &History, control: &Control) -> Result<Index, Interrupt> {
        let lists = ListReads::new(history, self);
        let (session_rank, key_rank) = ranks(self, &lists, control)?;
        let mut sessions: Vec<u32> = (0..self.n_sessions() as u32).collect();
        let is_empty = |s: usize| self.session_begin[s] == self.session_begin[s + 1];
        sessions
            .sort_by_key(|&session| (is_empty(session as usize), session_rank.0[session as usize]));
        let mut keys: Vec<u32> = (0..self.n_keys() as u32).collect();
        keys.sort_by_key(|&key| key_rank.0[key as usize]);
        control.check()?;
        Ok(self.renumbered(history, &sessions, &keys))
    }

    /// Among equally long lists of a key, takes the order from the same one as `canonical`, which is this index in
    /// canonical order, of the same history and transactions. O(size of the lists).
    pub fn choose_lists_as(&mut self, history: &History, canonical: &Index) {
        let rank = |node: Node| canonical.node[self.transaction[node as usize].index()];
        self.lists = list_orders(history, self, &[], &rank);
    }

    /// The index with sessions and keys in these orders.
    fn renumbered(&self, history: &History, sessions: &[u32], keys: &[u32]) -> Index {
        let nodes: Vec<Node> = sessions
            .iter()
            .flat_map(|&s| self.session_begin[s as usize]..self.session_begin[s as usize + 1])
            .collect();
        let (node_of, key_of) = (inverse(&nodes), inverse(keys));
        let mut index = Index {
            transaction: nodes
                .iter()
                .map(|&t| self.transaction[t as usize])
                .collect(),
            node: self
                .node
                .iter()
                .map(|&t| if t == NONE { NONE } else { node_of[t as usize] })
                .collect(),
            session_begin: vec![0],
            moments: self.moments.clone(),
            scanned: self.scanned.clone(),
            ..Index::default()
        };
        for (new, &old) in (0..).zip(sessions) {
            let length = self.session_begin[old as usize + 1] - self.session_begin[old as usize];
            index
                .session
                .extend(std::iter::repeat_n(new, length as usize));
            index.session_begin.push(index.session.len() as u32);
        }
        index.key_id = keys.iter().map(|&key| self.key_id(key)).collect();
        let slot_of = index.take_versions_of(self, keys, &node_of);
        index.take_accesses_of(self, &nodes, &key_of, &slot_of);
        let times = !self.interval.is_empty();
        index.interval = nodes
            .iter()
            .filter(|_| times)
            .map(|&t| self.interval[t as usize])
            .collect();
        let recorded = !self.recorded_at.is_empty();
        index.recorded_at = nodes
            .iter()
            .filter(|_| recorded)
            .map(|&t| self.recorded_at[t as usize])
            .collect();
        // A guess depends on the order of sessions in the file.
        let guessed = self.is_guessed();
        index.guess = nodes
            .iter()
            .filter(|_| guessed)
            .map(|&t| self.guess[t as usize])
            .collect();
        index.lists = list_orders(history, &index, &key_of, &|node| node);
        index
    }

    /// Takes over the versions; returns the new numbers of the old ones.
    fn take_versions_of(&mut self, old: &Index, keys: &[u32], node_of: &[Node]) -> Vec<Slot> {
        let mut slot_of = vec![INITIAL_SLOT; old.slot_node.len()];
        let mut order: Vec<(Node, usize)> = Vec::new();
        self.key_begin.push(0);
        for (new_key, &key) in (0..).zip(keys) {
            order.clear();
            order.extend(
                old.slots_of(key)
                    .map(|slot| (node_of[old.slot_node[slot] as usize], slot)),
            );
            order.sort_unstable();
            for &(node, slot) in &order {
                slot_of[slot] = self.slot_node.len() as Slot;
                self.slot_node.push(node);
                self.slot_key.push(new_key);
                self.slot_operation.push(old.slot_operation[slot]);
            }
            self.key_begin.push(self.slot_node.len() as u32);
        }
        slot_of
    }

    /// Takes over reads and writes.
    fn take_accesses_of(&mut self, old: &Index, nodes: &[Node], key_of: &[u32], slot_of: &[Slot]) {
        let mut written: Vec<(u32, Slot)> = Vec::new();
        self.read_begin.push(0);
        self.write_begin.push(0);
        for &t in nodes {
            for read in old.reads_of(t) {
                let slot = slot_of
                    .get(old.read_slot[read] as usize)
                    .copied()
                    .unwrap_or(INITIAL_SLOT);
                self.read_key.push(key_of[old.read_key[read] as usize]);
                self.read_slot.push(slot);
                self.read_writer
                    .push(self.slot_node.get(slot as usize).copied().unwrap_or(NONE));
                self.read_operation.push(old.read_operation[read]);
            }
            self.read_begin.push(self.read_key.len() as u32);
            written.clear();
            written.extend(old.writes_of(t).map(|write| {
                (
                    key_of[old.write_key[write] as usize],
                    slot_of[old.write_slot[write] as usize],
                )
            }));
            written.sort_unstable();
            self.write_key.extend(written.iter().map(|&(key, _)| key));
            self.write_slot
                .extend(written.iter().map(|&(_, slot)| slot));
            self.write_begin.push(self.write_key.len() as u32);
        }
    }
}

fn inverse(order: &[u32]) -> Vec<u32> {
    let mut place = vec![0; order.len()];
    order
        .iter()
        .zip(0..)
        .for_each(|(&old, new)| place[old as usize] = new);
    place
}

/// What transactions found in lists: the nodes that appended it.
#[derive(Default)]
struct ListReads {
    /// Node, key, and the list, ordered by node.
    reads: Vec<(Node, u32, Prefix)>,
    /// By stem and element: the node that appended it, or why there is none.
    appended_by: Vec<Vec<u32>>,
    /// Of all lists together.
    n_elements: usize,
}

/// In place of a node: several transactions appended the element.
const SEVERAL: u32 = NONE - 1;

impl ListReads {
    fn new(history: &History, index: &Index) -> ListReads {
        let mut lists = ListReads::default();
        if history.lists().is_empty() {
            return lists;
        }
        lists
            .appended_by
            .resize_with(history.lists().stems().len(), Vec::new);
        let number = inverse(&index.key_id.iter().map(|key| key.0).collect::<Vec<u32>>());
        for (t, read, elements) in history.reads_of_lists() {
            let node = index.node[t.index()];
            let Some(prefix) = history.lists().prefix_of(read).filter(|_| node != NONE) else {
                continue;
            };
            let key = history.keys()[read.index()];
            let number = number.get(key.index()).copied().unwrap_or(key.0);
            lists.reads.push((node, number, prefix));
            lists.n_elements += elements.len();
            let known = &mut lists.appended_by[prefix.stem as usize];
            let new = elements.get(known.len()..).unwrap_or_default();
            known.extend(
                new.iter()
                    .map(|&element| match history.appends().of(key, element) {
                        Some(Appended::Once(write)) => {
                            index.node[history.transaction_of(write).index()]
                        }
                        Some(Appended::Several) => SEVERAL,
                        _ => NONE,
                    }),
            );
        }
        lists
    }

    fn elements(&self, place: usize) -> &[u32] {
        let Prefix { stem, length } = self.reads[place].2;
        &self.appended_by[stem as usize][..length as usize]
    }
}

/// The properties that distinguish sessions and keys.
struct Colours {
    session: Vec<u64>,
    key: Vec<u64>,
}

impl Colours {
    /// Each colour combined with those of its accesses.
    fn next(&self, index: &Index, lists: &ListReads) -> Colours {
        let mut next = Colours {
            session: self.session.clone(),
            key: self.key.clone(),
        };
        // By session: the readers of its versions.
        let mut read_by = vec![0; index.n_sessions()];
        let mut note = |writer: Node, reader: u64| {
            if let Some(&session) = index.session.get(writer as usize) {
                add(
                    &mut read_by[session as usize],
                    mix(u64::from(index.position(writer)), reader),
                );
            }
        };
        let mut listed = 0;
        for session in 0..index.n_sessions() {
            let mut colour = self.session[session];
            for t in index.session_begin[session]..index.session_begin[session + 1] {
                let here = self.node(index, t);
                colour = mix(colour, 2);
                for (at, read) in (0..).zip(index.reads_of(t)) {
                    let key = index.read_key[read] as usize;
                    let writer = self.node(index, index.read_writer[read]);
                    colour = mix(colour, mix(self.key[key], writer));
                    add(&mut next.key[key], mix(mix(here, at), mix(3, writer)));
                    note(index.read_writer[read], mix(mix(here, at), self.key[key]));
                }
                let mut written = 0;
                for write in index.writes_of(t) {
                    let key = index.write_key[write] as usize;
                    add(&mut written, mix(4, self.key[key]));
                    add(&mut next.key[key], mix(here, 5));
                }
                colour = mix(colour, written);
                if let Some(Some(interval)) = index.interval.get(t as usize) {
                    colour = mix(colour, mix(interval.start as u64, interval.end as u64));
                }
                while lists
                    .reads
                    .get(listed)
                    .is_some_and(|&(reader, _, _)| reader == t)
                {
                    let key = lists.reads[listed].1 as usize;
                    let elements = lists.elements(listed).iter();
                    for (place, &by) in (0..).zip(elements.clone()) {
                        note(by, mix(mix(here, place), mix(8, self.key[key])));
                    }
                    let list = elements.fold(mix(6, self.key[key]), |list, &by| {
                        mix(list, self.node(index, by))
                    });
                    colour = mix(colour, list);
                    add(&mut next.key[key], mix(here, list));
                    listed += 1;
                }
            }
            next.session[session] = colour;
        }
        for (colour, read_by) in next.session.iter_mut().zip(read_by) {
            *colour = mix(*colour, read_by);
        }
        next
    }

    fn node(&self, index: &Index, t: Node) -> u64 {
        match index.session.get(t as usize) {
            Some(&session) => mix(self.session[session as usize], u64::from(index.position(t))),
            None => u64::from(t),
        }
    }

    /// Gives the first of the fewest equal sessions a colour of its own.
    fn break_a_tie(&mut self) {
        let mut order: Vec<usize> = (0..self.session.len()).collect();
        order.sort_by_key(|&session| self.session[session]);
        let equal = order
            .chunk_by(|&a, &b| self.session[a] == self.session[b])
            .filter(|equal| equal.len() > 1);
        if let Some(&first) = equal
            .min_by_key(|equal| equal.len())
            .and_then(|equal| equal.first())
        {
            self.session[first] = mix(self.session[first], 7);
        }
    }
}

/// Dense ranks; equal items have the same one.
struct Ranks(Vec<u32>);

impl Ranks {
    /// Sorts items of one rank by their colours. Returns the number of ranks. O(n log n).
    fn refine(&mut self, colours: &[u64]) -> usize {
        let mut order: Vec<usize> = (0..colours.len()).collect();
        order.sort_unstable_by_key(|&thing| (self.0[thing], colours[thing]));
        let mut rank = 0;
        let mut ranks = vec![0; colours.len()];
        for (place, &thing) in order.iter().enumerate() {
            let before = place.checked_sub(1).map(|place| order[place]);
            let is_next =
                before.is_some_and(|b| (self.0[b], colours[b]) != (self.0[thing], colours[thing]));
            rank += u32::from(is_next);
            ranks[thing] = rank;
        }
        self.0 = ranks;
        if colours.is_empty() {
            0
        } else {
            rank as usize + 1
        }
    }
}

/// The order of sessions and keys: by their colours after the first pass, then the second, and so on. So which of two
/// sessions is first depends neither on how many passes others take nor on ties broken elsewhere.
fn ranks(index: &Index, lists: &ListReads, control: &Control) -> Result<(Ranks, Ranks), Interrupt> {
    let length = |s: usize| u64::from(index.session_begin[s + 1] - index.session_begin[s]);
    // Sessions without transactions do not matter: each has a colour of its own.
    let first = |s: usize| mix(length(s), if length(s) == 0 { s as u64 } else { 1 });
    let mut colours = Colours {
        session: (0..index.n_sessions()).map(first).collect(),
        key: vec![0; index.n_keys()],
    };
    let (mut sessions, mut keys) = (
        Ranks(vec![0; index.n_sessions()]),
        Ranks(vec![0; index.n_keys()]),
    );
    let size =
        index.n_nodes() + index.read_key.len() + index.write_key.len() + lists.n_elements + 1;
    let mut passes = (LITTLE / size).max(MOST_PASSES);
    let mut n_before = 0;
    loop {
        control.check()?;
        colours = colours.next(index, lists);
        passes -= 1;
        let (n_sessions, n_keys) = (sessions.refine(&colours.session), keys.refine(&colours.key));
        if n_sessions == index.n_sessions() || passes == 0 {
            // Keys by the last colours of their sessions.
            keys.refine(&colours.next(index, lists).key);
            return Ok((sessions, keys));
        }
        let n = n_sessions + n_keys;
        if n <= std::mem::replace(&mut n_before, n) {
            colours.break_a_tie();
        }
    }
}

/// Adds to a sum that is independent of the order of its terms.
fn add(sum: &mut u64, value: u64) {
    *sum = sum.wrapping_add(value);
}

/// One hash of two numbers, in this order (the finalizer of SplitMix64).
#[inline]
fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.rotate_left(23) ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(a);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
