//! Repairs an order and its replay where forced edges contradict the order.
//!
//! After the first round or two few edges are new, and the transactions that they concern are close to each other. An
//! edge against the order spans an interval of it; overlapping intervals are merged. No predecessor relation leads from
//! behind an interval into it, so the transactions of an interval can be ordered by themselves, all others stay in
//! place, and a cycle lies within one interval. In the replay only those keys change for which an interval moves a
//! write past another access.

use super::SMALL_LIMITS;
use super::base_order::{Open, Previous, Replay};
use super::causality::Forced;
use super::order::{Before, LinearOrder, Preference};
use super::pipeline::order_and_replay;
use fixedbitset::FixedBitSet;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{INITIAL_SLOT, Index, NONE, Node, Slot};
use rayon::prelude::*;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Nodes per piece of parallel work.
const NODES: usize = if SMALL_LIMITS { 2 } else { 1 << 14 };

/// The largest fraction (one in this many) that may be affected before everything is recomputed: of the nodes by
/// intervals, of the accesses by keys that change.
const ONE_IN: usize = if SMALL_LIMITS { 2 } else { 4 };

/// The order nearest to the last one in which the forced edges hold, too, and its replay: at each place the first
/// transaction of the last order that may come next. `None` if the edges form a cycle.
///
/// O(n + edges), times a logarithm; if the edges concern a small part of the order, with a few linear passes that take
/// a small fraction of the time of a replay.
pub(super) fn next_order(
    index: &Index,
    (order, replay): (Cow<'_, LinearOrder>, Cow<'_, Replay>),
    forced: &[Forced],
    control: &Control,
) -> Result<Option<(LinearOrder, Replay)>, Interrupt> {
    let intervals = intervals(&order, forced);
    let concerned: usize = intervals.iter().map(Interval::len).sum();
    if concerned > index.n_nodes() / ONE_IN {
        let before = Before::new(index.n_nodes(), forced);
        return order_and_replay(index, &before, Preference::Rank(&order.place), control);
    }
    let Some(turned) = turned(index, &order, intervals, control)? else {
        return Ok(None);
    };
    let mut order = order.into_owned();
    for part in &turned {
        for (&node, place) in part.nodes.iter().zip(part.first..) {
            order.nodes[place as usize] = node;
            order.place[node as usize] = place;
        }
    }
    let mut keys = FixedBitSet::with_capacity(index.n_keys());
    keys.extend(
        turned
            .iter()
            .flat_map(|part| &part.keys)
            .map(|&key| key as usize),
    );
    let replay = match accesses(index, &order, &keys, control)? {
        Some(accesses) => mended(index, &order, replay.into_owned(), &keys, &accesses),
        None => Replay::new(index, &order, control)?,
    };
    Ok(Some((order, replay)))
}

/// A stretch of an order, from the end of an edge against the order to the start of one.
struct Interval {
    first: u32,
    last: u32,
    /// The forced edges within, as places from the first one.
    forced: Vec<Forced>,
}

impl Interval {
    fn len(&self) -> usize {
        (self.last - self.first) as usize + 1
    }
}

/// The disjoint intervals spanned by edges against an order, in order; each with all edges within.
fn intervals(order: &LinearOrder, forced: &[Forced]) -> Vec<Interval> {
    let place = |node: Node| order.place[node as usize];
    let forced = forced
        .iter()
        .filter(|edge| edge.from != NONE && edge.to != NONE);
    let against = forced
        .clone()
        .map(|edge| (place(edge.to), place(edge.from)))
        .filter(|(to, from)| to < from);
    let mut against: Vec<(u32, u32)> = against.collect();
    against.sort_unstable();
    let mut intervals: Vec<Interval> = Vec::new();
    for (first, last) in against {
        match intervals.last_mut() {
            Some(before) if first <= before.last => before.last = before.last.max(last),
            _ => intervals.push(Interval {
                first,
                last,
                forced: Vec::new(),
            }),
        }
    }
    for edge in forced {
        let (from, to) = (place(edge.from), place(edge.to));
        let number = intervals.partition_point(|interval| interval.last < to);
        if let Some(interval) = intervals
            .get_mut(number)
            .filter(|interval| interval.first <= from.min(to))
        {
            // The edge starts in the interval of its end, or before it.
            debug_assert!(from <= interval.last);
            let (from, to) = (from - interval.first, to - interval.first);
            interval.forced.push(Forced {
                from,
                to,
                read: edge.read,
            });
        }
    }
    intervals
}

/// The result for an interval.
struct Turned {
    first: u32,
    nodes: Vec<Node>,
    /// The keys with a write that moves past another access; ascending.
    keys: Vec<u32>,
}

/// Orders each interval; `None` if there is a cycle.
fn turned(
    index: &Index,
    order: &LinearOrder,
    intervals: Vec<Interval>,
    control: &Control,
) -> Result<Option<Vec<Turned>>, Interrupt> {
    let turned = intervals.into_par_iter().enumerate().map_init(
        || vec![0; index.n_keys()],
        |last_seen, (number, interval)| {
            let Some(nodes) = extension(index, order, &interval, control)? else {
                return Ok(None);
            };
            let keys = keys_turned(
                index,
                order,
                interval.first,
                &nodes,
                last_seen,
                2 * number as u32,
            );
            Ok(Some(Turned {
                first: interval.first,
                nodes,
                keys,
            }))
        },
    );
    turned.collect::<Result<Option<Vec<_>>, Interrupt>>()
}

/// The nodes of an interval in an order in which its forced edges hold, at each place the first that may come next
/// (Kahn 1962); `None` if there is a cycle.
fn extension(
    index: &Index,
    order: &LinearOrder,
    interval: &Interval,
    control: &Control,
) -> Result<Option<Vec<Node>>, Interrupt> {
    let old = &order.nodes[interval.first as usize..=interval.last as usize];
    let before = Before::new(old.len(), &interval.forced);
    let mut waits = Waits {
        index,
        order,
        interval,
        before: &before,
        seen: vec![0; old.len()],
        is_placed: vec![false; old.len()],
        waiting: vec![NONE; old.len()],
        next: vec![NONE; old.len()],
        ready: BinaryHeap::new(),
    };
    for (local, &node) in (0..).zip(old) {
        control.tick(local as usize)?;
        waits.look_at(local, node);
    }
    let mut nodes = Vec::with_capacity(old.len());
    while let Some(Reverse(local)) = waits.ready.pop() {
        control.tick(nodes.len())?;
        nodes.push(old[local as usize]);
        waits.is_placed[local as usize] = true;
        let mut waiting = waits.waiting[local as usize];
        while waiting != NONE {
            let next = waits.next[waiting as usize];
            waits.look_at(waiting, old[waiting as usize]);
            waiting = next;
        }
    }
    Ok((nodes.len() == old.len()).then_some(nodes))
}

/// The dependencies within an interval; nodes are places from its first one.
struct Waits<'a> {
    index: &'a Index,
    order: &'a LinearOrder,
    interval: &'a Interval,
    before: &'a Before,
    /// How many predecessors of a node are known to be placed.
    seen: Vec<u32>,
    is_placed: Vec<bool>,
    /// The first node that waits for this one.
    waiting: Vec<u32>,
    /// The next node that waits for the same one.
    next: Vec<u32>,
    ready: BinaryHeap<Reverse<u32>>,
}

impl Waits<'_> {
    /// Adds a node to those that may come next, or lets it wait.
    fn look_at(&mut self, local: u32, node: Node) {
        let index = self.index;
        let writers = &index.read_writer[index.reads_of(node)];
        let before = self.before.of(local);
        // The reads, the forced edges, and the session.
        let n_all = writers.len() + before.len() + usize::from(index.position(node) > 0);
        while (self.seen[local as usize] as usize) < n_all {
            let at = self.seen[local as usize] as usize;
            let predecessor = match (writers.get(at), before.get(at.wrapping_sub(writers.len()))) {
                (Some(&NONE), _) => None,
                (Some(&writer), _) => self.within(writer),
                (None, Some(&from)) => Some(from),
                (None, None) => self.within(node - 1),
            };
            if let Some(predecessor) =
                predecessor.filter(|&predecessor| !self.is_placed[predecessor as usize])
            {
                self.next[local as usize] =
                    std::mem::replace(&mut self.waiting[predecessor as usize], local);
                return;
            }
            self.seen[local as usize] += 1;
        }
        self.ready.push(Reverse(local));
    }

    /// A predecessor by its place from the first of the interval, unless it is before that.
    fn within(&self, node: Node) -> Option<u32> {
        self.order.place[node as usize].checked_sub(self.interval.first)
    }
}

/// An access to a key: read or write, and its version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Access {
    key: u32,
    place: u32,
    /// A transaction reads before it writes, as far as other transactions are concerned.
    is_write: bool,
    /// A read, as a place in the `read_*` arrays, or the slot of a write.
    what: u32,
}

/// The accesses of a node at a place.
fn accesses_of(index: &Index, node: Node, place: u32) -> impl Iterator<Item = Access> {
    let (reads, writes) = (index.reads_of(node), index.writes_of(node));
    let read = index.read_key[reads.clone()]
        .iter()
        .zip(reads.start as u32..);
    let write = index.write_key[writes.clone()]
        .iter()
        .zip(&index.write_slot[writes]);
    let read = read.map(move |(&key, what)| Access {
        key,
        place,
        is_write: false,
        what,
    });
    read.chain(write.map(move |(&key, &what)| Access {
        key,
        place,
        is_write: true,
        what,
    }))
}

/// The keys for which an interval that becomes `nodes` moves a write past another access; ascending. `last_seen` has a
/// number for each key, none yet above `mark`, which is even.
fn keys_turned(
    index: &Index,
    order: &LinearOrder,
    first: u32,
    nodes: &[Node],
    last_seen: &mut [u32],
    mark: u32,
) -> Vec<u32> {
    let (once, again) = (mark + 1, mark + 2);
    // Most keys of an interval are accessed only once there.
    for &node in nodes {
        for &key in index.read_key[index.reads_of(node)]
            .iter()
            .chain(&index.write_key[index.writes_of(node)])
        {
            let seen = &mut last_seen[key as usize];
            *seen = if *seen < once { once } else { again };
        }
    }
    let mut accesses: Vec<Access> = Vec::new();
    for (&node, place) in nodes.iter().zip(first..) {
        accesses.extend(
            accesses_of(index, node, place)
                .filter(|access| last_seen[access.key as usize] == again),
        );
    }
    accesses.sort_unstable();
    let old = |access: &Access| order.place[nodes[(access.place - first) as usize] as usize];
    let of_keys = accesses.chunk_by(|a, b| a.key == b.key);
    let turned = of_keys.filter(|of_key| {
        of_key.iter().any(|access| access.is_write) && !of_key.is_sorted_by_key(old)
    });
    turned.map(|of_key| of_key[0].key).collect()
}

/// All accesses to some keys, by key, then in order; `None` if these are a large part of all.
fn accesses(
    index: &Index,
    order: &LinearOrder,
    keys: &FixedBitSet,
    control: &Control,
) -> Result<Option<Vec<Access>>, Interrupt> {
    let mut found: Vec<Access> = Vec::new();
    let slots_of = |key: usize| {
        index
            .slots_of(key as u32)
            .map(move |slot| (key as u32, slot))
    };
    for (key, slot) in keys.ones().flat_map(slots_of) {
        let place = order.place[index.slot_node[slot] as usize];
        found.push(Access {
            key,
            place,
            is_write: true,
            what: slot as u32,
        });
    }
    if found.len() > index.write_key.len() / ONE_IN {
        return Ok(None);
    }
    let n = index.n_nodes();
    let parts = (0..n.div_ceil(NODES)).into_par_iter().map(|part| {
        control.check()?;
        let (begin, end) = (part * NODES, ((part + 1) * NODES).min(n));
        let reads = index.read_begin[begin]..index.read_begin[end];
        let of_part = &index.read_key[reads.start as usize..reads.end as usize];
        let mut node = begin;
        let found = of_part
            .iter()
            .zip(reads)
            .filter(|&(&key, _)| keys.contains(key as usize))
            .map(|(&key, what)| {
                while index.read_begin[node + 1] <= what {
                    node += 1;
                }
                Access {
                    key,
                    place: order.place[node],
                    is_write: false,
                    what,
                }
            });
        let found: Vec<Access> = found.take(of_part.len() / ONE_IN + 1).collect();
        Ok((found.len() <= of_part.len() / ONE_IN).then_some(found))
    });
    let Some(parts) = parts.collect::<Result<Option<Vec<_>>, Interrupt>>()? else {
        return Ok(None);
    };
    parts.into_iter().for_each(|part| found.extend(part));
    found.par_sort_unstable();
    Ok(Some(found))
}

/// A replay in which some keys are replayed again, given all their accesses, by key, then in order.
fn mended(
    index: &Index,
    order: &LinearOrder,
    replay: Replay,
    keys: &FixedBitSet,
    accesses: &[Access],
) -> Replay {
    let Replay { previous, open } = replay;
    let of_others = open
        .into_iter()
        .flatten()
        .filter(|open| !keys.contains(index.read_key[open.read as usize] as usize));
    let mut open: Vec<Open> = of_others.collect();
    for of_key in accesses.chunk_by(|a, b| a.key == b.key) {
        replay_key(index, order, of_key, &previous, &mut open);
    }
    open.par_sort_unstable_by_key(|open| (order.place[open.reader as usize], open.read));
    Replay {
        previous,
        open: vec![open],
    }
}

/// Replays all accesses to one key.
fn replay_key(
    index: &Index,
    order: &LinearOrder,
    accesses: &[Access],
    previous: &Previous,
    open: &mut Vec<Open>,
) {
    let mut newest: Slot = INITIAL_SLOT;
    for access in accesses {
        if access.is_write {
            previous.set(access.what, std::mem::replace(&mut newest, access.what));
        } else if index.read_slot[access.what as usize] != newest {
            open.push(Open {
                reader: order.nodes[access.place as usize],
                read: access.what,
                newest,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::linear_extension;
    use super::*;
    use isoscope_testing as common;
    use isoscope_testing::sketch::{Sketch, Transaction, read, write};
    use std::collections::BTreeSet;

    /// Some sessions whose transactions read what is shortly before them in a hidden order.
    fn sketch(random: &mut fastrand::Rng) -> Sketch {
        let sessions: Vec<usize> = (0..random.usize(2..=5))
            .map(|_| random.usize(3..=20))
            .collect();
        let n_keys = random.usize(2..=12);
        let mut turns: Vec<usize> = (0..sessions.len())
            .flat_map(|session| vec![session; sessions[session]])
            .collect();
        random.shuffle(&mut turns);
        let mut sketch = Sketch {
            sessions: vec![Vec::new(); sessions.len()],
        };
        let mut versions: Vec<Vec<u64>> = vec![vec![0]; n_keys];
        for (value, session) in (1..).zip(turns) {
            let mut operations = Vec::new();
            for _ in 0..random.usize(0..=2) {
                let key = random.usize(0..n_keys);
                let of_key = &versions[key];
                operations.push(read(
                    key,
                    of_key[of_key.len() - random.usize(1..=of_key.len().min(3))],
                ));
            }
            let written: BTreeSet<usize> = (0..random.usize(0..=2))
                .map(|_| random.usize(0..n_keys))
                .collect();
            for key in written {
                operations.push(write(key, value));
                versions[key].push(value);
            }
            sketch.sessions[session].push(Transaction::committed(operations));
        }
        sketch
    }

    #[test]
    fn mending_equals_a_new_replay() {
        let control = Control::new();
        let (mut mended, mut renewed, mut cyclic, mut reordered) = (0, 0, 0, 0);
        for seed in 0..4000 {
            let random = &mut fastrand::Rng::with_seed(seed);
            let index = common::index(&sketch(random).history());
            let n = index.n_nodes();
            let order =
                linear_extension(&index, &Before::default(), Preference::FirstCome, &control)
                    .expect("not stopped");
            let order = order.expect("reads go back in a hidden order");
            let replay = Replay::new(&index, &order, &control).expect("not stopped");
            let first = order.nodes.clone();
            let (mut last, mut forced) = ((order, replay), Vec::new());
            for round in 0..4 {
                let (order, replay) = &last;
                let span = if random.u32(0..5) == 0 { n } else { 5 };
                for _ in 0..random.usize(1..=2) {
                    let to = random.usize(0..n - 1);
                    let from = (to + random.usize(1..=span)).min(n - 1);
                    forced.push(Forced {
                        from: order.nodes[from],
                        to: order.nodes[to],
                        read: 0,
                    });
                }
                let before = Before::new(n, &forced);
                let expected =
                    linear_extension(&index, &before, Preference::Rank(&order.place), &control);
                let concerned: usize = intervals(order, &forced).iter().map(Interval::len).sum();
                *if concerned > n / ONE_IN {
                    &mut renewed
                } else {
                    &mut mended
                } += 1;
                let found = next_order(
                    &index,
                    (Cow::Borrowed(order), Cow::Borrowed(replay)),
                    &forced,
                    &control,
                );
                let found = found.expect("not stopped");
                let Some(expected) = expected.expect("not stopped") else {
                    assert!(found.is_none(), "seed {seed}, round {round}");
                    cyclic += 1;
                    break;
                };
                let (order, replay) = found.expect("no cycle");
                assert_eq!(
                    (&order.nodes, &order.place),
                    (&expected.nodes, &expected.place),
                    "seed {seed}, round {round}"
                );
                let expected = Replay::new(&index, &expected, &control).expect("not stopped");
                for slot in 0..index.slot_node.len() as Slot {
                    assert_eq!(
                        replay.previous.of(slot),
                        expected.previous.of(slot),
                        "seed {seed}, round {round}"
                    );
                }
                assert_eq!(
                    replay.parts(1).concat(),
                    expected.parts(1).concat(),
                    "seed {seed}, round {round}"
                );
                reordered += usize::from(order.nodes != first);
                last = (order, replay);
            }
        }
        let counts = [mended, renewed, cyclic, reordered];
        assert!(
            counts.iter().all(|&count| count > 500),
            "mended, renewed, cyclic, reordered: {counts:?}"
        );
    }
}
