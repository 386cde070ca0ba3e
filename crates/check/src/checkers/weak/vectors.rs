//! Which transactions precede which in (SO ∪ WR)⁺, as one number per node and chain.
//!
//! Along a chain the strict causal predecessors of a node are the first few, its strict successors the last few; a
//! vector holds how many. Vectors are element-wise maxima over a topological order, computed in parallel for blocks of
//! chains, and for a window of chains at a time if all of them would take too much memory. Inside a component of SO ∪
//! WR nothing is *strictly* before anything.

use super::SMALL_LIMITS;
use super::causality::{Causality, Components};
use super::chains::Chains;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::Node;
use rayon::prelude::*;
use std::ops::Range;

/// Most chains per block: one block is one array and one piece of parallel work.
const BLOCK: usize = if SMALL_LIMITS { 1 } else { 32 };

/// The direction of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Counts strict predecessors.
    Past,
    /// Counts strict successors.
    Future,
}

/// The position of each node's row.
pub(super) struct Rows {
    row: Vec<u32>,
    len: usize,
}

impl Rows {
    /// A row per component, and for components with cycles a second one that also counts the members themselves.
    pub(super) fn new(components: &Components) -> Rows {
        let mut row = vec![0; components.order().len()];
        let mut len = 0;
        for component in 0..components.len() as u32 {
            let members = components.members(component);
            members.iter().for_each(|&v| row[v as usize] = len);
            len += if members.len() > 1 { 2 } else { 1 };
        }
        Rows {
            row,
            len: len as usize,
        }
    }

    /// Splits the chains into windows whose vectors (of `n_vectors` directions) take at most `bytes` each.
    pub(super) fn windows(
        &self,
        chains: &Chains,
        n_vectors: usize,
        bytes: usize,
    ) -> Vec<Range<u32>> {
        let block_bytes = (self.len * BLOCK * 4 * n_vectors).max(1);
        let width = (bytes / block_bytes).max(1) * BLOCK;
        let n_chains = chains.len();
        (0..n_chains.div_ceil(width))
            .map(|w| (w * width) as u32..((w + 1) * width).min(n_chains) as u32)
            .collect()
    }
}

/// The vectors of one direction for a window of chains.
pub(super) struct Vectors<'a> {
    rows: &'a Rows,
    chains: &'a Chains,
    first: u32,
    width: usize,
    blocks: Vec<Vec<u32>>,
}

impl<'a> Vectors<'a> {
    /// Computes them. O((nodes + edges) · width), in parallel over blocks of the window.
    pub(super) fn new(
        causality: &Causality<'_>,
        components: &Components,
        chains: &'a Chains,
        rows: &'a Rows,
        window: Range<u32>,
        direction: Direction,
        control: &Control,
    ) -> Result<Vectors<'a>, Interrupt> {
        let width = block_width(&window);
        let work = Work {
            causality,
            components,
            chains,
            rows,
            direction,
            width,
        };
        let starts: Vec<u32> = window.clone().step_by(width).collect();
        control.needs(starts.len() * work.rows.len * width * size_of::<u32>())?;
        let blocks = starts
            .par_iter()
            .map(|&first| work.block(first, control))
            .collect::<Result<Vec<_>, Interrupt>>()?;
        Ok(Vectors {
            rows,
            chains,
            first: window.start,
            width,
            blocks,
        })
    }

    /// The entry of `v` for a chain of the window: how many nodes at the beginning (end) of the chain strictly precede
    /// (follow) `v`.
    #[inline]
    pub(super) fn count(&self, v: Node, chain: u32) -> u32 {
        let column = (chain - self.first) as usize;
        self.blocks[column / self.width]
            [self.rows.row[v as usize] as usize * self.width + column % self.width]
    }

    /// For a past vector: whether `a`, whose chain is in the window, strictly precedes `b`.
    #[inline]
    pub(super) fn precedes(&self, a: Node, b: Node) -> bool {
        self.count(b, self.chains.chain[a as usize]) > self.chains.position[a as usize]
    }
}

/// Blocks are of equal width, so that none is mostly empty.
fn block_width(window: &Range<u32>) -> usize {
    window
        .len()
        .div_ceil(window.len().div_ceil(BLOCK).max(1))
        .max(1)
}

struct Work<'a, 'b> {
    causality: &'a Causality<'b>,
    components: &'a Components,
    chains: &'a Chains,
    rows: &'a Rows,
    direction: Direction,
    width: usize,
}

impl Work<'_, '_> {
    fn block(&self, first: u32, control: &Control) -> Result<Vec<u32>, Interrupt> {
        let mut block = vec![0u32; self.rows.len * self.width];
        let n = self.components.len() as u32;
        for step in 0..n {
            control.tick(step as usize)?;
            let component = match self.direction {
                Direction::Past => step,
                Direction::Future => n - 1 - step,
            };
            let members = self.components.members(component);
            let row = self.rows.row[members[0] as usize] as usize;
            for &v in members {
                match self.direction {
                    Direction::Past => {
                        let before = self.causality.session_predecessor(v);
                        before
                            .into_iter()
                            .for_each(|u| self.pull(&mut block, first, row, v, u));
                        self.causality
                            .writers(v)
                            .iter()
                            .for_each(|&u| self.pull(&mut block, first, row, v, u));
                    }
                    Direction::Future => {
                        let after = self.causality.index.successor(v);
                        after
                            .into_iter()
                            .for_each(|u| self.pull(&mut block, first, row, v, u));
                        self.causality
                            .readers(v)
                            .iter()
                            .for_each(|&u| self.pull(&mut block, first, row, v, u));
                    }
                }
            }
            if members.len() > 1 {
                block.copy_within(
                    row * self.width..(row + 1) * self.width,
                    (row + 1) * self.width,
                );
                members
                    .iter()
                    .for_each(|&v| self.count_in(&mut block, first, row + 1, v));
            }
        }
        Ok(block)
    }

    /// Adds to the row of `v` what its neighbour `u` knows, and `u` itself.
    #[inline]
    fn pull(&self, block: &mut [u32], first: u32, row: usize, v: Node, u: Node) {
        if self.components.same(u, v) {
            return;
        }
        let cyclic = self.components.is_cyclic(u);
        let source = self.rows.row[u as usize] as usize + usize::from(cyclic);
        let (target, source) = two_rows(block, row, source, self.width);
        for (t, s) in target.iter_mut().zip(source) {
            *t = (*t).max(*s);
        }
        if !cyclic {
            self.count_in(block, first, row, u);
        }
    }

    #[inline]
    fn count_in(&self, block: &mut [u32], first: u32, row: usize, u: Node) {
        let chain = self.chains.chain[u as usize];
        let column = chain.wrapping_sub(first) as usize;
        if column < self.width {
            let position = self.chains.position[u as usize];
            let count = match self.direction {
                Direction::Past => position + 1,
                Direction::Future => self.chains.length[chain as usize] - position,
            };
            let entry = &mut block[row * self.width + column];
            *entry = (*entry).max(count);
        }
    }
}

/// The row to change and the row to read, which differ.
#[inline]
fn two_rows(block: &mut [u32], target: usize, source: usize, width: usize) -> (&mut [u32], &[u32]) {
    if target > source {
        let (low, high) = block.split_at_mut(target * width);
        (
            &mut high[..width],
            &low[source * width..(source + 1) * width],
        )
    } else {
        let (low, high) = block.split_at_mut(source * width);
        (
            &mut low[target * width..(target + 1) * width],
            &high[..width],
        )
    }
}
