//! Causal order for many questions at once: who precedes whom, a block of chains at a time.
//!
//! Along a chain the strict causal predecessors of a node are the first few; a column says how many, for every node. A
//! block of columns fills one cache line per node and is computed in one sweep over an order that contains SO ∪ WR, as
//! element-wise maxima of predecessors' lines, which mostly stand shortly before. Then all questions about these chains
//! are answered and the block is dropped: memory does not grow with the number of chains.

use super::SMALL_LIMITS;
use super::causality::tick;
use super::chains::Chains;
use super::order::LinearOrder;
use crate::control::{Control, Interrupt};
use crate::relations::{Index, NONE, Node};
use rayon::prelude::*;

/// Bytes per node and block: a cache line.
const LINE: usize = if SMALL_LIMITS { 4 } else { 64 };

/// Nodes per piece of parallel work.
const PART: usize = if SMALL_LIMITS { 2 } else { 1 << 15 };

/// A predecessor, for the sweep.
#[derive(Clone, Copy)]
struct Predecessor {
    place: u32,
    chain: u32,
    position: u32,
}

/// The predecessors of all nodes, in an order that contains SO ∪ WR.
pub(super) struct Sweep {
    /// By place in the order: first place in `predecessor`.
    begin: Vec<u32>,
    predecessor: Vec<Predecessor>,
    n_chains: usize,
    /// Nodes of the longest chain.
    longest: u32,
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
        let mut begin = Vec::with_capacity(order.nodes.len() + 1);
        let mut predecessor: Vec<Predecessor> = Vec::new();
        for (begin_of_part, mut of_part) in parts.collect::<Result<Vec<_>, Interrupt>>()? {
            let before = predecessor.len() as u32;
            begin.extend(begin_of_part.iter().map(|begin| begin + before));
            predecessor.append(&mut of_part);
        }
        begin.push(predecessor.len() as u32);
        let longest = chains.length.iter().copied().max().unwrap_or(0);
        Ok(Sweep { begin, predecessor, n_chains: chains.len(), longest })
    }

    /// The places of the predecessors of the node at a place; one may occur several times.
    #[inline]
    pub(super) fn predecessors(&self, place: u32) -> impl Iterator<Item = u32> + '_ {
        let range = self.begin[place as usize] as usize..self.begin[place as usize + 1] as usize;
        self.predecessor[range].iter().map(|predecessor| predecessor.place)
    }

    /// Lines that computing all blocks writes.
    pub(super) fn length(&self) -> usize {
        self.n_blocks().saturating_mul(self.begin.len() - 1)
    }

    /// Number of chains in a block.
    pub(super) fn width(&self) -> usize {
        match self.longest {
            0..=0xFF => LINE,
            0x100..=0xFFFF => LINE / 2,
            _ => LINE / 4,
        }
    }

    /// Number of blocks.
    pub(super) fn n_blocks(&self) -> usize {
        self.n_chains.div_ceil(self.width())
    }

    /// Computes one block, in the memory of an earlier one. O(nodes + reads), a cache line per node.
    pub(super) fn block(&self, number: usize, used: Option<Block>, control: &Control) -> Result<Block, Interrupt> {
        let first = (number * self.width()) as u32;
        let columns = match (self.longest, used.map(|block| block.columns)) {
            (0..=0xFF, Some(Columns::Short(used))) => Columns::Short(self.lines(first, used, control)?),
            (0..=0xFF, _) => Columns::Short(self.lines(first, Vec::new(), control)?),
            (0x100..=0xFFFF, Some(Columns::Medium(used))) => Columns::Medium(self.lines(first, used, control)?),
            (0x100..=0xFFFF, _) => Columns::Medium(self.lines(first, Vec::new(), control)?),
            (_, Some(Columns::Long(used))) => Columns::Long(self.lines(first, used, control)?),
            (_, _) => Columns::Long(self.lines(first, Vec::new(), control)?),
        };
        Ok(Block { first, columns })
    }

    fn lines<T: Count, const W: usize>(
        &self,
        first: u32,
        mut lines: Vec<Line<T, W>>,
        control: &Control,
    ) -> Result<Vec<Line<T, W>>, Interrupt> {
        lines.clear();
        lines.reserve(self.begin.len() - 1);
        for (step, range) in self.begin.windows(2).enumerate() {
            tick(step, control)?;
            let predecessors = &self.predecessor[range[0] as usize..range[1] as usize];
            // Apart from what follows, so that the maxima stay in registers.
            let mut line = [T::default(); W];
            for u in predecessors {
                let other = &lines[u.place as usize].0;
                line = std::array::from_fn(|column| line[column].max(other[column]));
            }
            lines.push(Line(line));
            let line = &mut lines[step].0;
            for u in predecessors {
                if let Some(mine) = line.get_mut(u.chain.wrapping_sub(first) as usize) {
                    *mine = (*mine).max(T::from_position(u.position));
                }
            }
        }
        Ok(lines)
    }
}

/// The predecessors of a part of an order: first places and predecessors.
fn predecessors(index: &Index, order: &LinearOrder, chains: &Chains, nodes: &[Node]) -> (Vec<u32>, Vec<Predecessor>) {
    let mut begin = Vec::with_capacity(nodes.len());
    let mut predecessor: Vec<Predecessor> = Vec::new();
    for &t in nodes {
        let first = predecessor.len();
        begin.push(first as u32);
        let earlier = (index.position(t) > 0).then(|| t - 1);
        let writers = index.read_writer[index.reads_of(t)].iter().copied().filter(|&writer| writer != NONE);
        for u in writers.chain(earlier) {
            let place = order.place[u as usize];
            // A few repetitions do no harm.
            if predecessor[first..].iter().rev().take(8).all(|other| other.place != place) {
                let (chain, position) = (chains.chain[u as usize], chains.position[u as usize]);
                predecessor.push(Predecessor { place, chain, position });
            }
        }
    }
    (begin, predecessor)
}

/// The entries of one node.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line<T, const W: usize>([T; W]);

/// A number of nodes at the beginning of a chain.
trait Count: Copy + Ord + Default {
    /// As many as end at this position. Chains are short enough for the type.
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
    Short(Vec<Line<u8, LINE>>),
    Medium(Vec<Line<u16, { LINE / 2 }>>),
    Long(Vec<Line<u32, { LINE / 4 }>>),
}

/// The columns of a few chains.
pub(super) struct Block {
    /// The first chain.
    pub(super) first: u32,
    columns: Columns,
}

impl Block {
    /// How many nodes at the beginning of a chain of the block strictly precede the node at a place of the order.
    #[inline]
    pub(super) fn count(&self, place: u32, chain: u32) -> u32 {
        let (line, column) = (place as usize, (chain - self.first) as usize);
        match &self.columns {
            Columns::Short(lines) => u32::from(lines[line].0[column]),
            Columns::Medium(lines) => u32::from(lines[line].0[column]),
            Columns::Long(lines) => lines[line].0[column],
        }
    }

    /// Whether `a`, whose chain is in the block, strictly precedes the node at a place of the order.
    #[inline]
    pub(super) fn precedes(&self, chains: &Chains, a: Node, place: u32) -> bool {
        self.count(place, chains.chain[a as usize]) > chains.position[a as usize]
    }
}
