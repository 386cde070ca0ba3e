//! The basis for deciding RC, RA and TCC: one commit order as a first guess, and the reads that it does not explain.
//!
//! A read is explained by an order if it returns the newest version of its key at that point. An order that explains
//! all reads is a serial execution and satisfies every level; otherwise the levels differ only in what they require of
//! the reads left open, so one replay serves all of them.

use super::SMALL_LIMITS;
use super::causality::Forced;
use super::order::{Before, LinearOrder, Preference, linear_extension};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{INITIAL_SLOT, Index, Node, Slot, n_pieces};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Most reads examined to learn whether a file's times or lines can be trusted.
const SAMPLE: usize = 4096;

/// Fewest transactions per piece of a replay.
const PIECE: usize = if SMALL_LIMITS { 2 } else { 1 << 14 };

/// Most versions of a key that no list shows, to be put behind each reader of the last that one does.
const MOST_UNREAD: usize = 16;

/// In place of a version while a piece is replayed: the newest one before the piece.
const BEFORE: Slot = u32::MAX - 1;

/// The levels' common ground.
pub(super) struct BaseOrder {
    /// The edges that lists show: part of every commit order.
    pub(super) listed: Vec<Forced>,
    /// The first guess.
    pub(super) order: LinearOrder,
    /// What it leaves open.
    pub(super) replay: Replay,
}

impl BaseOrder {
    /// Guesses an order and replays it; `None` when SO ∪ WR and the orders that lists show have a cycle.
    ///
    /// The guess is the order of the recorded times, else of the lines in the file, where these agree with what was
    /// read; else breadth-first. Where lists show what was overwritten, a serial order is looked for by that, too.
    /// O(n + reads), times the logarithm of the number of sessions where times or lines are
    /// followed.
    pub(super) fn new(index: &Index, control: &Control) -> Result<Option<BaseOrder>, Interrupt> {
        let places = index.read_key.len() as u32..;
        let listed = index.listed();
        let listed: Vec<Forced> = places
            .zip(&listed)
            .map(|(read, pair)| Forced {
                from: pair.older,
                to: pair.newer,
                read,
            })
            .collect();
        let before = Before::new(index.n_nodes(), &listed);
        let recorded = recorded_ranks(index);
        let wish = recorded
            .as_deref()
            .map_or(Preference::FirstCome, Preference::Rank);
        let Some(order) = linear_extension(index, &before, wish, control)? else {
            return Ok(None);
        };
        let replay = Replay::new(index, &order, control)?;
        if !listed.is_empty() && !replay.explains_all() {
            let serial: Vec<Forced> = [&listed[..], &overwritten(index, control)?].concat();
            if let Some(order) =
                linear_extension(index, &Before::new(index.n_nodes(), &serial), wish, control)?
            {
                let replay = Replay::new(index, &order, control)?;
                if replay.explains_all() {
                    return Ok(Some(BaseOrder {
                        listed,
                        order,
                        replay,
                    }));
                }
            }
        }
        Ok(Some(BaseOrder {
            listed,
            order,
            replay,
        }))
    }
}

/// What a serial order has besides the edges that lists show: each reader of a version before the writer of the next
/// one. At most [`MOST_UNREAD`] edges a read; with them, nearly every serial history of lists is explained at once.
fn overwritten(index: &Index, control: &Control) -> Result<Vec<Forced>, Interrupt> {
    let mut next = vec![INITIAL_SLOT; index.slot_node.len()];
    let mut first = vec![INITIAL_SLOT; index.n_keys()];
    let mut unread: FxHashMap<Slot, Vec<Slot>> = FxHashMap::default();
    for order in &index.lists {
        order
            .versions
            .windows(2)
            .for_each(|pair| next[pair[0] as usize] = pair[1]);
        let (Some(&oldest), Some(&last)) = (order.versions.first(), order.versions.last()) else {
            continue;
        };
        first[order.key as usize] = oldest;
        let n_others = index.slots_of(order.key).len() - order.versions.len();
        if (1..=MOST_UNREAD).contains(&n_others) {
            let mut shown = order.versions.clone();
            shown.sort_unstable();
            let others = index.slots_of(order.key).map(|slot| slot as Slot);
            unread.insert(
                last,
                others
                    .filter(|slot| shown.binary_search(slot).is_err())
                    .collect(),
            );
        }
    }
    let mut edges = Vec::new();
    for from in 0..index.n_nodes() as Node {
        control.tick(from as usize)?;
        for read in index.reads_of(from) {
            let (after, slot) = match index.read_slot[read] {
                INITIAL_SLOT => (first[index.read_key[read] as usize], INITIAL_SLOT),
                slot => (next[slot as usize], slot),
            };
            let later = Some(after).filter(|&after| after != INITIAL_SLOT);
            let later = later
                .into_iter()
                .chain(unread.get(&slot).into_iter().flatten().copied());
            let to = later
                .map(|slot| index.slot_node[slot as usize])
                .filter(|&to| to != from);
            edges.extend(to.map(|to| Forced {
                from,
                to,
                read: read as u32,
            }));
        }
    }
    Ok(edges)
}

/// Ranks by an order known before, else by time or line, if at least 49 of 50 reads return what was written before by that
/// measure.
fn recorded_ranks(index: &Index) -> Option<Vec<u32>> {
    if !index.guess.is_empty() {
        return Some(index.guess.clone());
    }
    if !index.interval.is_empty() {
        let ends: Option<Vec<i64>> = index
            .interval
            .iter()
            .map(|interval| interval.map(|ran| ran.end))
            .collect();
        if let Some(ends) = ends
            && is_believable(index, |v| ends[v as usize])
        {
            let mut by_end: Vec<Node> = (0..index.n_nodes() as Node).collect();
            by_end.par_sort_unstable_by_key(|&v| (ends[v as usize], v));
            let mut rank = vec![0; by_end.len()];
            by_end
                .iter()
                .zip(0..)
                .for_each(|(&v, place)| rank[v as usize] = place);
            return Some(rank);
        }
    }
    let lines = &index.recorded_at;
    (!lines.is_empty() && is_believable(index, |v| lines[v as usize])).then(|| lines.clone())
}

fn is_believable<T: Ord>(index: &Index, when: impl Fn(Node) -> T) -> bool {
    let step = (index.n_nodes() / SAMPLE).max(1);
    let (mut forward, mut all) = (0, 0);
    for t in (0..index.n_nodes() as Node).step_by(step) {
        for &writer in index.read_writer[index.reads_of(t)]
            .iter()
            .filter(|&&writer| writer != isoscope_model::relations::NONE)
        {
            all += 1;
            forward += usize::from(when(writer) < when(t));
        }
    }
    all > 0 && forward * 50 >= all * 49
}

/// A read that an order does not explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    /// The reader.
    pub(super) reader: Node,
    /// The read, as a place in the `read_*` arrays.
    pub(super) read: u32,
    /// The newest version at the reader's turn. The version read is further back.
    pub(super) newest: Slot,
}

/// The effect of an order on the versions.
#[derive(Clone, Default)]
pub(super) struct Replay {
    /// By slot: the version of the key before it.
    pub(super) previous: Previous,
    /// Unexplained reads, in the order, then program order; by piece of the order, all of a reader in one.
    pub(super) open: Vec<Vec<Open>>,
}

/// What the open reads of an order force, unless a writer of the key is visible to a reader of ⊥: then no order will do.
pub(super) type Demands = Option<Vec<Forced>>;

/// The versions between the newest one and the one that was read, newest first, each with its writer.
pub(super) fn between<'a>(
    index: &'a Index,
    replay: &'a Replay,
    open: Open,
) -> impl Iterator<Item = Node> + 'a {
    let wanted = index.read_slot[open.read as usize];
    let next = move |version: Slot| (version != wanted).then_some(version);
    let versions = std::iter::successors(next(open.newest), move |&v| next(replay.previous.of(v)));
    versions.map(|version| index.slot_node[version as usize])
}

impl Replay {
    /// Replays an order that contains SO ∪ WR. Linear, in parallel by pieces of the order: what a piece does not know
    /// about earlier ones is filled in afterwards. The result does not depend on the pieces.
    pub(super) fn new(
        index: &Index,
        order: &LinearOrder,
        control: &Control,
    ) -> Result<Replay, Interrupt> {
        let previous = Previous::new(index);
        let pieces = pieces(index, order.nodes.len());
        // Each piece is a task of its own.
        let replayed = pieces
            .par_iter()
            .with_max_len(1)
            .enumerate()
            .map(|(number, nodes)| {
                control.check()?;
                let mut piece = Piece::new(index, number == 0);
                piece.replay(index, &order.nodes[nodes.clone()], &previous);
                Ok(piece)
            });
        Replay::joined(
            index,
            replayed.collect::<Result<_, Interrupt>>()?,
            previous,
            control,
        )
    }

    /// Joins the results of consecutive pieces of an order.
    pub(super) fn joined(
        index: &Index,
        mut replayed: Vec<Piece>,
        previous: Previous,
        control: &Control,
    ) -> Result<Replay, Interrupt> {
        // The newest versions when a piece begins.
        let mut newest: Vec<Slot> = Vec::new();
        let before = replayed.iter_mut().map(|piece| {
            let after = std::mem::take(&mut piece.current);
            if newest.is_empty() {
                std::mem::replace(&mut newest, after)
            } else {
                let connected = after
                    .iter()
                    .zip(&newest)
                    .map(|(&after, &before)| if after == BEFORE { before } else { after });
                let connected = connected.collect();
                std::mem::replace(&mut newest, connected)
            }
        });
        let before: Vec<Vec<Slot>> = before.collect();
        control.check()?;
        let connected = replayed
            .into_par_iter()
            .with_max_len(1)
            .zip(before)
            .map(|(piece, newest)| piece.connected(index, &newest, &previous));
        Ok(Replay {
            open: connected.collect(),
            previous,
        })
    }

    /// Whether every read is explained.
    pub(super) fn explains_all(&self) -> bool {
        self.open.iter().all(Vec::is_empty)
    }

    /// The open reads in parts of about equal size, those of one reader together.
    pub(super) fn parts(&self, len: usize) -> Vec<&[Open]> {
        let mut parts = Vec::new();
        for of_piece in &self.open {
            let mut rest = of_piece.as_slice();
            while !rest.is_empty() {
                let mut end = len.min(rest.len());
                while end < rest.len() && rest[end].reader == rest[end - 1].reader {
                    end += 1;
                }
                let (part, behind) = rest.split_at(end);
                parts.push(part);
                rest = behind;
            }
        }
        parts
    }
}

/// By slot: the version of the key before it. Pieces of an order fill it in concurrently, each its own slots.
#[derive(Default)]
pub(super) struct Previous(Vec<AtomicU32>);

impl Previous {
    /// No version has a predecessor.
    pub(super) fn new(index: &Index) -> Previous {
        Previous(
            (0..index.slot_node.len())
                .map(|_| AtomicU32::new(INITIAL_SLOT))
                .collect(),
        )
    }

    /// The version before this one.
    #[inline]
    pub(super) fn of(&self, slot: Slot) -> Slot {
        self.0[slot as usize].load(Ordering::Relaxed)
    }

    /// Sets the version before this one.
    #[inline]
    pub(super) fn set(&self, slot: Slot, before: Slot) {
        self.0[slot as usize].store(before, Ordering::Relaxed);
    }
}

impl Clone for Previous {
    fn clone(&self) -> Previous {
        Previous(
            self.0
                .iter()
                .map(|before| AtomicU32::new(before.load(Ordering::Relaxed)))
                .collect(),
        )
    }
}

/// Pieces of an order of `n` nodes, for all threads, as long as they justify a table of keys each.
pub(super) fn pieces(index: &Index, n: usize) -> Vec<Range<usize>> {
    let most =
        (n / PIECE).min((index.read_key.len() + index.write_key.len()) / index.n_keys().max(1));
    let length = n.div_ceil(n_pieces(most)).max(1);
    (0..n)
        .step_by(length)
        .map(|begin| begin..(begin + length).min(n))
        .collect()
}

/// The effect of one piece of an order, as far as it is known from the piece alone.
pub(super) struct Piece {
    /// By key: the newest version.
    current: Vec<Slot>,
    /// The first version that the piece makes of each key.
    first: Vec<Slot>,
    open: Vec<Open>,
}

impl Piece {
    /// A piece that begins with the order, or in the middle of it.
    pub(super) fn new(index: &Index, is_first: bool) -> Piece {
        let unknown = if is_first { INITIAL_SLOT } else { BEFORE };
        Piece {
            current: vec![unknown; index.n_keys()],
            first: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Appends these nodes to the piece.
    pub(super) fn replay(&mut self, index: &Index, nodes: &[Node], previous: &Previous) {
        for &t in nodes {
            let reads = index.reads_of(t);
            let read = index.read_key[reads.clone()]
                .iter()
                .zip(&index.read_slot[reads.clone()]);
            for ((&key, &slot), place) in read.zip(reads.start as u32..) {
                let newest = self.current[key as usize];
                if newest != slot {
                    self.open.push(Open {
                        reader: t,
                        read: place,
                        newest,
                    });
                }
            }
            let writes = index.writes_of(t);
            for (&key, &slot) in index.write_key[writes.clone()]
                .iter()
                .zip(&index.write_slot[writes])
            {
                let before = std::mem::replace(&mut self.current[key as usize], slot);
                match before {
                    BEFORE => self.first.push(slot),
                    // Each version is made in one piece.
                    before => previous.set(slot, before),
                }
            }
        }
    }

    /// The reads that stay open, now that the newest versions at the beginning of the piece are known: by key, empty
    /// for the first piece. Fills in the predecessors of the first versions of the piece.
    fn connected(mut self, index: &Index, newest: &[Slot], previous: &Previous) -> Vec<Open> {
        if newest.is_empty() {
            return self.open;
        }
        for &slot in &self.first {
            previous.set(slot, newest[index.slot_key[slot as usize] as usize]);
        }
        self.open.retain_mut(|open| {
            if open.newest == BEFORE {
                open.newest = newest[index.read_key[open.read as usize] as usize];
            }
            open.newest != index.read_slot[open.read as usize]
        });
        self.open
    }
}
