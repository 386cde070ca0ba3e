//! Linear extensions of SO ∪ WR ∪ forced edges that follow a wish.

use super::causality::{Causality, ForcedEdges, tick};
use crate::control::{Control, Interrupt};
use crate::relations::Node;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Ranks nodes by priority, ties by number: rank by node. O(n log n).
pub(super) fn ranks(priority: &[u64]) -> Vec<u32> {
    use rayon::slice::ParallelSliceMut;
    let mut by_priority: Vec<(u64, Node)> = priority.iter().zip(0..).map(|(&p, v)| (p, v)).collect();
    by_priority.par_sort_unstable();
    let mut rank = vec![0; priority.len()];
    for (place, &(_, v)) in by_priority.iter().enumerate() {
        rank[v as usize] = place as u32;
    }
    rank
}

/// A topological order (Kahn 1962) that takes the node of lowest rank among those that may come next; `None` when
/// the edges have a cycle. `rank` must be a permutation. O(n log n + edges).
pub(super) fn linear_extension(
    causality: &Causality<'_>,
    forced: &ForcedEdges,
    rank: &[u32],
    control: &Control,
) -> Result<Option<Vec<Node>>, Interrupt> {
    let n = causality.n();
    let mut node_at = vec![0; n];
    for (v, &r) in rank.iter().enumerate() {
        node_at[r as usize] = v as Node;
    }
    let mut waiting_for: Vec<u32> = (0..n as Node)
        .map(|v| causality.writers(v).len() as u32 + u32::from(causality.session_predecessor(v).is_some()))
        .collect();
    for edge in forced.all() {
        waiting_for[edge.to as usize] += 1;
    }
    let mut ready: BinaryHeap<Reverse<u32>> =
        (0..n).filter(|&v| waiting_for[v] == 0).map(|v| Reverse(rank[v])).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(Reverse(r)) = ready.pop() {
        tick(order.len(), control)?;
        let v = node_at[r as usize];
        order.push(v);
        let mut arrive = |w: Node| {
            waiting_for[w as usize] -= 1;
            if waiting_for[w as usize] == 0 {
                ready.push(Reverse(rank[w as usize]));
            }
        };
        causality.index.successor(v).into_iter().for_each(&mut arrive);
        causality.readers(v).iter().copied().for_each(&mut arrive);
        forced.of(v).iter().for_each(|edge| arrive(edge.to));
    }
    Ok((order.len() == n).then_some(order))
}
