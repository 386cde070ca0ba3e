//! Causal order for many questions at once: which transactions precede which, a block of chains at a time.
//!
//! Along a chain the causal predecessors of a node are the first few; a column says how many, for every node, and
//! counts the node itself in its own chain, so that its successors need to know nothing else about it. A block of
//! columns fills half a cache line per node and is computed in one sweep over an order that contains SO ∪ WR, as
//! element-wise maxima of predecessors' lines, which are usually shortly before. Then all questions about these chains
//! are answered and the block is dropped: memory does not grow with the number of chains.
//!
//! The narrower an entry, the more chains are processed at a time. Along an order all chains progress together, so if
//! they are long, entries count from a [`Base`] that moves along: what is far back in time is only known to be present
//! or not, and a question about it may stay open. Then the block is computed again with entries that hold any number.

use super::SMALL_LIMITS;
use super::chains::Chains;
use super::order::LinearOrder;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Index, NONE, Node};
use rayon::prelude::*;
use std::sync::Mutex;

/// Bytes per node and block: half a cache line, since each thread has a block at a time, and a whole line would take a
/// tenth of all memory.
const LINE: usize = if SMALL_LIMITS { 4 } else { 32 };

/// Nodes per piece of parallel work.
const PART: usize = if SMALL_LIMITS { 2 } else { 1 << 15 };

/// What a medium entry can hold, and how much of that lies before its base.
const MEDIUM: (u32, u32) = if SMALL_LIMITS {
    (4, 2)
} else {
    (0xFFFF, 0x8000)
};

/// The longest chains for short entries.
const SHORT: u32 = if SMALL_LIMITS { 3 } else { 0xFF };

/// The position of a node among the chains.
#[derive(Clone, Copy)]
struct Spot {
    chain: u32,
    position: u32,
}

/// The predecessors of the nodes of one part of an order.
struct PredecessorTable {
    /// By place in the part: the position of the node.
    spot: Vec<Spot>,
    /// By place in the part: first place in `predecessor`; one more for the end.
    begin: Vec<u32>,
    /// Places in the order.
    predecessor: Vec<u32>,
}

impl PredecessorTable {
    fn nodes(&self) -> impl Iterator<Item = (Spot, &[u32])> {
        let predecessors = |range: &[u32]| &self.predecessor[range[0] as usize..range[1] as usize];
        self.spot
            .iter()
            .zip(self.begin.windows(2))
            .map(move |(&spot, range)| (spot, predecessors(range)))
    }
}

/// The predecessors of all nodes, in an order that contains SO ∪ WR.
pub(super) struct Sweep {
    n_nodes: usize,
    /// Parts of [`PART`] nodes each, the last one may be shorter.
    parts: Vec<PredecessorTable>,
    n_chains: usize,
    /// Nodes of the longest chain.
    longest: u32,
    /// Where medium entries count from; empty if there are none, or if they count from the beginning.
    bases: Vec<Base>,
    /// Blocks that are not in use, each with its first chain: kept for their contents, or only for their memory.
    spare: Mutex<Vec<(u32, Columns)>>,
}

/// Where entries count from in a part of the order.
struct Base {
    /// The first place of the part.
    place: u32,
    /// By chain: how many nodes are not counted.
    uncounted: Vec<u32>,
}

/// Cuts an order into parts in which no chain gets longer than medium entries hold. `None` if that makes more numbers
/// than nodes.
fn bases(order: &LinearOrder, chains: &Chains) -> Option<Vec<Base>> {
    let (most, back) = MEDIUM;
    let mut progress = vec![0u32; chains.len()];
    let mut bases = vec![Base {
        place: 0,
        uncounted: progress.clone(),
    }];
    let mut base = progress.clone();
    for (&t, place) in order.nodes.iter().zip(0u32..) {
        let chain = chains.chain[t as usize] as usize;
        if progress[chain] - base[chain] == most {
            if bases.len().saturating_mul(chains.len()) > order.nodes.len() {
                return None;
            }
            base = progress
                .iter()
                .map(|&progress| progress.saturating_sub(back))
                .collect();
            bases.push(Base {
                place,
                uncounted: base.clone(),
            });
        }
        progress[chain] += 1;
    }
    Some(bases)
}

impl Sweep {
    /// Writes down the predecessors. O(nodes + reads), in parallel by parts of the order.
    pub(super) fn new(
        index: &Index,
        order: &LinearOrder,
        chains: &Chains,
        control: &Control,
    ) -> Result<Sweep, Interrupt> {
        let parts = order.nodes.par_chunks(PART).map(|nodes| {
            control.check()?;
            Ok(predecessors(index, order, chains, nodes))
        });
        let parts = parts.collect::<Result<Vec<_>, Interrupt>>()?;
        let longest = chains.length.iter().copied().max().unwrap_or(0);
        let bases = if longest > MEDIUM.0 {
            bases(order, chains).unwrap_or_default()
        } else {
            Vec::new()
        };
        Ok(Sweep {
            n_nodes: order.nodes.len(),
            parts,
            n_chains: chains.len(),
            longest,
            bases,
            spare: Mutex::default(),
        })
    }

    /// The places of the predecessors of the node at a place; one may occur several times.
    #[inline]
    pub(super) fn predecessors(&self, place: u32) -> impl Iterator<Item = u32> + '_ {
        let (part, place) = (&self.parts[place as usize / PART], place as usize % PART);
        let range = part.begin[place] as usize..part.begin[place + 1] as usize;
        part.predecessor[range].iter().copied()
    }

    /// The position of each node and its predecessors, in the order.
    #[inline]
    fn nodes(&self) -> impl Iterator<Item = (Spot, &[u32])> {
        self.parts.iter().flat_map(PredecessorTable::nodes)
    }

    /// Lines written by computing all blocks that were not kept.
    pub(super) fn length(&self) -> usize {
        let n_kept = self.spare.lock().map_or(0, |spare| spare.len());
        (self.n_blocks() - n_kept).saturating_mul(self.n_nodes)
    }

    /// Number of chains in a block.
    pub(super) fn width(&self) -> usize {
        match self.entries() {
            Entries::Short => LINE,
            Entries::Medium => LINE / 2,
            Entries::Long => LINE / 4,
        }
    }

    fn entries(&self) -> Entries {
        match self.longest {
            0..=SHORT => Entries::Short,
            longest if longest <= MEDIUM.0 || !self.bases.is_empty() => Entries::Medium,
            _ => Entries::Long,
        }
    }

    /// Number of blocks.
    pub(super) fn n_blocks(&self) -> usize {
        self.n_chains.div_ceil(self.width())
    }

    /// Whether a block was kept.
    pub(super) fn is_kept(&self, number: usize) -> bool {
        let first = (number * self.width()) as u32;
        self.spare
            .lock()
            .is_ok_and(|spare| spare.iter().any(|kept| kept.0 == first))
    }

    /// One block: the kept one, or else a computed one, in the memory of another one if there is one. O(nodes + reads),
    /// half a cache line per node. Questions about nodes far back may stay open.
    pub(super) fn block(&self, number: usize, control: &Control) -> Result<Block<'_>, Interrupt> {
        let first = (number * self.width()) as u32;
        let taken = self.spare.lock().ok().and_then(|mut spare| {
            let at = spare
                .iter()
                .position(|kept| kept.0 == first)
                .or(spare.len().checked_sub(1))?;
            Some(spare.swap_remove(at))
        });
        let used = match taken {
            Some((of, columns)) if of == first => {
                return Ok(Block {
                    first,
                    columns,
                    bases: &self.bases,
                    sweep: self,
                });
            }
            taken => taken.map(|(_, columns)| columns),
        };
        let columns = match (self.entries(), used) {
            (Entries::Short, Some(Columns::Short(used))) => {
                Columns::Short(self.lines(first, used, control)?)
            }
            (Entries::Short, _) => Columns::Short(self.lines(first, Vec::new(), control)?),
            (Entries::Medium, Some(Columns::Medium(used))) => {
                Columns::Medium(self.medium(first, used, control)?)
            }
            (Entries::Medium, _) => Columns::Medium(self.medium(first, Vec::new(), control)?),
            (Entries::Long, Some(Columns::Long(used))) => {
                Columns::Long(self.lines(first, used, control)?)
            }
            (Entries::Long, _) => Columns::Long(self.lines(first, Vec::new(), control)?),
        };
        Ok(Block {
            first,
            columns,
            bases: &self.bases,
            sweep: self,
        })
    }

    /// Keeps a block until its memory is needed for another one.
    pub(super) fn done_with(&self, block: Block<'_>) {
        if let Ok(mut spare) = self.spare.lock() {
            spare.push((block.first, block.columns));
        }
    }

    /// Computes one block with entries so wide that no question stays open. A cache line per node and more.
    pub(super) fn wide_block(
        &self,
        number: usize,
        control: &Control,
    ) -> Result<Block<'_>, Interrupt> {
        match self.entries() {
            Entries::Medium if !self.bases.is_empty() => {
                let first = (number * self.width()) as u32;
                let columns = Columns::Wide(self.lines(first, Vec::new(), control)?);
                Ok(Block {
                    first,
                    columns,
                    bases: &[],
                    sweep: self,
                })
            }
            _ => self.block(number, control),
        }
    }

    /// Lines of medium entries.
    fn medium<const W: usize>(
        &self,
        first: u32,
        lines: Vec<PackedLine<u16, W>>,
        control: &Control,
    ) -> Result<Vec<PackedLine<u16, W>>, Interrupt> {
        if self.bases.is_empty() {
            self.lines(first, lines, control)
        } else {
            self.based_lines(first, lines, control)
        }
    }

    fn lines<T: Count, const W: usize>(
        &self,
        first: u32,
        mut lines: Vec<PackedLine<T, W>>,
        control: &Control,
    ) -> Result<Vec<PackedLine<T, W>>, Interrupt> {
        self.make_room(&mut lines, control)?;
        for (step, (spot, predecessors)) in self.nodes().enumerate() {
            control.tick(step)?;
            // Separate from what follows, so that the maxima stay in registers.
            let mut line = [T::default(); W];
            for &place in predecessors {
                let other = &lines[place as usize].0;
                line = std::array::from_fn(|column| line[column].max(other[column]));
            }
            lines.push(PackedLine(line));
            if let Some(own) = lines[step]
                .0
                .get_mut(spot.chain.wrapping_sub(first) as usize)
            {
                *own = T::from_position(spot.position);
            }
        }
        Ok(lines)
    }

    /// As `lines`, with entries that count from the bases: what is not above its base is 0.
    fn based_lines<const W: usize>(
        &self,
        first: u32,
        mut lines: Vec<PackedLine<u16, W>>,
        control: &Control,
    ) -> Result<Vec<PackedLine<u16, W>>, Interrupt> {
        let of_block = |base: &Base| -> [u32; W] {
            std::array::from_fn(|column| {
                base.uncounted
                    .get(first as usize + column)
                    .copied()
                    .unwrap_or(0)
            })
        };
        let bases: Vec<[u32; W]> = self.bases.iter().map(of_block).collect();
        self.make_room(&mut lines, control)?;
        let mut part = 0;
        for (step, (spot, predecessors)) in self.nodes().enumerate() {
            control.tick(step)?;
            part += usize::from(
                self.bases
                    .get(part + 1)
                    .is_some_and(|next| next.place as usize == step),
            );
            let (part_begin, base) = (self.bases[part].place, &bases[part]);
            let mut line = [0u16; W];
            for &place in predecessors {
                let other = &lines[place as usize].0;
                line = if place >= part_begin {
                    std::array::from_fn(|column| line[column].max(other[column]))
                } else {
                    let earlier = &bases[self.part_of(place)];
                    let moved = |column: usize| (base[column] - earlier[column]).min(0xFFFF) as u16;
                    std::array::from_fn(|column| {
                        line[column].max(other[column].saturating_sub(moved(column)))
                    })
                };
            }
            lines.push(PackedLine(line));
            let column = spot.chain.wrapping_sub(first) as usize;
            if let Some(own) = lines[step].0.get_mut(column) {
                *own = (spot.position + 1 - base[column]) as u16;
            }
        }
        Ok(lines)
    }

    /// Makes room for a line per node, if the memory is there.
    fn make_room<L>(&self, lines: &mut Vec<L>, control: &Control) -> Result<(), Interrupt> {
        lines.clear();
        let n = self.n_nodes;
        if lines.capacity() < n {
            control.needs(n * size_of::<L>())?;
            lines.reserve(n);
        }
        Ok(())
    }

    fn part_of(&self, place: u32) -> usize {
        part_of(&self.bases, place)
    }
}

/// The part of an order that a place lies in.
fn part_of(bases: &[Base], place: u32) -> usize {
    bases.partition_point(|base| base.place <= place) - 1
}

/// How wide the entries of blocks are.
enum Entries {
    Short,
    Medium,
    Long,
}

/// The predecessors of a part of an order.
fn predecessors(
    index: &Index,
    order: &LinearOrder,
    chains: &Chains,
    nodes: &[Node],
) -> PredecessorTable {
    let mut begin = Vec::with_capacity(nodes.len() + 1);
    let most = nodes.iter().map(|&t| index.reads_of(t).len() + 1).sum();
    let mut predecessor: Vec<u32> = Vec::with_capacity(most);
    for &t in nodes {
        let first = predecessor.len();
        begin.push(first as u32);
        let earlier = (index.position(t) > 0).then(|| t - 1);
        let writers = index.read_writer[index.reads_of(t)]
            .iter()
            .copied()
            .filter(|&writer| writer != NONE);
        for u in writers.chain(earlier) {
            let place = order.place[u as usize];
            // A few repetitions are harmless.
            if predecessor[first..]
                .iter()
                .rev()
                .take(8)
                .all(|&other| other != place)
            {
                predecessor.push(place);
            }
        }
    }
    begin.push(predecessor.len() as u32);
    let spot = |&t: &Node| Spot {
        chain: chains.chain[t as usize],
        position: chains.position[t as usize],
    };
    PredecessorTable {
        spot: nodes.iter().map(spot).collect(),
        begin,
        predecessor,
    }
}

/// The entries of one node.
#[repr(align(32))]
#[derive(Clone, Copy)]
struct PackedLine<T, const W: usize>([T; W]);

/// A number of nodes at the beginning of a chain.
trait Count: Copy + Ord + Default {
    /// The number of nodes up to this position. Chains are short enough for the type.
    fn from_position(position: u32) -> Self;
}

macro_rules! counts {
    ($($type:ty),*) => {
        $(impl Count for $type {
            #[inline]
            fn from_position(position: u32) -> $type {
                (position + 1) as $type
            }
        })*
    };
}

counts!(u8, u16, u32);

enum Columns {
    Short(Vec<PackedLine<u8, LINE>>),
    Medium(Vec<PackedLine<u16, { LINE / 2 }>>),
    Long(Vec<PackedLine<u32, { LINE / 4 }>>),
    /// As many chains as medium entries.
    Wide(Vec<PackedLine<u32, { LINE / 2 }>>),
}

/// The columns of a few chains.
pub(super) struct Block<'a> {
    /// The first chain.
    pub(super) first: u32,
    columns: Columns,
    bases: &'a [Base],
    sweep: &'a Sweep,
}

impl Block<'_> {
    /// How many nodes at the beginning of a chain of the block strictly precede the node at a place of the order; an
    /// upper bound if they are too far back to be known.
    #[inline]
    fn most(&self, place: u32, chain: u32) -> (u32, bool) {
        let spot = self.sweep.parts[place as usize / PART].spot[place as usize % PART];
        if spot.chain == chain {
            return (spot.position, true);
        }
        let (line, column) = (place as usize, (chain - self.first) as usize);
        let entry = match &self.columns {
            Columns::Short(lines) => u32::from(lines[line].0[column]),
            Columns::Medium(lines) => u32::from(lines[line].0[column]),
            Columns::Long(lines) => lines[line].0[column],
            Columns::Wide(lines) => lines[line].0[column],
        };
        match self.bases {
            [] => (entry, true),
            bases => {
                let uncounted = bases[part_of(bases, place)].uncounted[chain as usize];
                (uncounted + entry, entry > 0 || uncounted == 0)
            }
        }
    }

    /// How many nodes at the beginning of a chain of the block strictly precede the node at a place of the order;
    /// `None` if the block does not tell.
    #[inline]
    pub(super) fn count(&self, place: u32, chain: u32) -> Option<u32> {
        let (most, is_exact) = self.most(place, chain);
        is_exact.then_some(most)
    }

    /// Whether `a`, whose chain is in the block, strictly precedes the node at a place of the order; `None` if the
    /// block does not tell.
    #[inline]
    pub(super) fn precedes(&self, chains: &Chains, a: Node, place: u32) -> Option<bool> {
        let (most, is_exact) = self.most(place, chains.chain[a as usize]);
        let may_precede = most > chains.position[a as usize];
        (is_exact || !may_precede).then_some(may_precede)
    }
}

#[cfg(test)]
mod tests {
    use super::super::causality::Components;
    use super::super::order::{Before, Preference, linear_extension};
    use super::*;
    use isoscope_testing as common;
    use isoscope_testing::sketch::{Sketch, Transaction, read, write};

    /// Transactions that each write a key and read from a few earlier ones, mostly recent ones, in few long sessions.
    fn long_sessions(random: &mut fastrand::Rng) -> Index {
        let mut sketch = Sketch {
            sessions: vec![Vec::new(); 3],
        };
        for t in 1..=random.usize(20..60) {
            let session = random.usize(0..3);
            let mut operations = Vec::new();
            for _ in 0..random.usize(0..2) {
                let back = if random.u8(0..4) == 0 { t } else { t.min(6) };
                let from = t - random.usize(0..back);
                if from != t {
                    operations.push(read(from, from as u64));
                }
            }
            operations.push(write(t, t as u64));
            sketch.sessions[session].push(Transaction::committed(operations));
        }
        common::index(&sketch.history())
    }

    #[test]
    fn narrow_entries_say_what_wide_ones_say_or_nothing() {
        let control = Control::new();
        let (mut told, mut open, mut moved) = (0, 0, 0);
        for seed in 0..300 {
            let index = long_sessions(&mut fastrand::Rng::with_seed(seed));
            let extension =
                linear_extension(&index, &Before::default(), Preference::FirstCome, &control);
            let order = extension
                .expect("not stopped")
                .expect("reads are of earlier transactions");
            let chains = Chains::new(
                &index,
                &Components::trivial(&order.nodes, &order.place),
                &control,
            )
            .expect("not stopped");
            let sweep = Sweep::new(&index, &order, &chains, &control).expect("not stopped");
            moved += usize::from(sweep.bases.len() > 1);
            for number in 0..sweep.n_blocks() {
                let narrow = sweep.block(number, &control).expect("not stopped");
                let wide = sweep.wide_block(number, &control).expect("not stopped");
                let of_block =
                    |a: &Node| chains.chain[*a as usize] as usize / sweep.width() == number;
                for a in (0..index.n_nodes() as Node).filter(of_block) {
                    for place in 0..order.nodes.len() as u32 {
                        let expected = wide.precedes(&chains, a, place);
                        assert!(expected.is_some(), "seed {seed}: {a} at {place}");
                        match narrow.precedes(&chains, a, place) {
                            None => open += 1,
                            found => {
                                assert_eq!(found, expected, "seed {seed}: {a} at {place}");
                                told += 1;
                            }
                        }
                        let chain = chains.chain[a as usize];
                        let count = narrow.count(place, chain);
                        assert!(
                            count.is_none() || count == wide.count(place, chain),
                            "seed {seed}: {chain} at {place}"
                        );
                    }
                }
            }
        }
        assert!(
            moved > 200 && told > 100_000 && open > 1_000,
            "{moved} {told} {open}"
        );
    }
}
