//! Causal order by search: which transactions precede one, as far back in an order as needed.
//!
//! Vectors answer every question about causal order, but they take a number per transaction and chain. If an order
//! leaves few reads open, due to versions that are not much older than their reader, a search backwards from the
//! reader, no further than the oldest version in question, is cheaper; with very many sessions it is the only option.

use super::order::LinearOrder;
use isoscope_model::relations::{Index, NONE, Node};

/// Working memory of searches. Reuse it.
pub(super) struct Window<'a> {
    index: &'a Index,
    order: &'a LinearOrder,
    /// By node: the last reader found to be after it.
    before: Vec<Node>,
    stack: Vec<Node>,
    /// Remaining steps.
    pub(super) budget: usize,
}

impl<'a> Window<'a> {
    pub(super) fn new(index: &'a Index, order: &'a LinearOrder, budget: usize) -> Window<'a> {
        Window {
            index,
            order,
            before: vec![NONE; index.n_nodes()],
            stack: Vec::new(),
            budget,
        }
    }

    /// Finds the causal predecessors of `t3` at `floor` or later in the order. `None` if the budget is used up.
    /// O(predecessors found and their reads).
    pub(super) fn look_back(&mut self, t3: Node, floor: u32) -> Option<()> {
        self.stack.clear();
        self.stack.push(t3);
        while let Some(t) = self.stack.pop() {
            let writers = &self.index.read_writer[self.index.reads_of(t)];
            self.budget = self.budget.checked_sub(writers.len() + 1)?;
            let earlier = (self.index.position(t) > 0).then(|| t - 1);
            for &u in writers.iter().chain(&earlier) {
                if u != NONE
                    && self.order.place[u as usize] >= floor
                    && self.before[u as usize] != t3
                {
                    self.before[u as usize] = t3;
                    self.stack.push(u);
                }
            }
        }
        Some(())
    }

    /// Whether the last search from `t3` found `t2`.
    #[inline]
    pub(super) fn precedes(&self, t2: Node, t3: Node) -> bool {
        self.before[t2 as usize] == t3
    }
}
