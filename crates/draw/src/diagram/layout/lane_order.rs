//! The left-to-right order of lanes.

use crate::diagram::{Diagram, Emphasis};

/// With up to this many lanes every order is tried.
const EXHAUSTIVE: usize = 7;

/// Indices of lanes, left to right: the order in which connected lanes are near each other (edges of the cycle count
/// four times), and among equals the first in session order. The initial state stays leftmost. Exact up to
/// [`EXHAUSTIVE`] lanes; beyond that, neighbours are swapped while that helps.
pub(super) fn lane_order(diagram: &Diagram) -> Vec<usize> {
    let n = diagram.lanes.len();
    let mut weight = vec![vec![0u64; n]; n];
    for arrow in &diagram.arrows {
        let (a, b) = (diagram.cards[arrow.from].lane, diagram.cards[arrow.to].lane);
        let w = if arrow.emphasis == Emphasis::Cycle {
            4
        } else {
            1
        };
        weight[a][b] += w;
        weight[b][a] += w;
    }
    let fixed = diagram
        .lanes
        .iter()
        .take_while(|lane| lane.session.is_none())
        .count();
    let order: Vec<usize> = (0..n).collect();
    if n <= EXHAUSTIVE {
        best_of_all(order, fixed, &weight)
    } else {
        swapped(order, fixed, &weight)
    }
}

fn cost(order: &[usize], weight: &[Vec<u64>]) -> u64 {
    let mut sum = 0;
    for (i, &a) in order.iter().enumerate() {
        for (distance, &b) in order[i + 1..].iter().enumerate() {
            sum += weight[a][b] * (distance as u64 + 1);
        }
    }
    sum
}

/// Tries all permutations of the lanes from `fixed` on in lexicographic order, so the first best is kept.
fn best_of_all(mut order: Vec<usize>, fixed: usize, weight: &[Vec<u64>]) -> Vec<usize> {
    let mut best = order.clone();
    let mut least = cost(&best, weight);
    while next_permutation(&mut order[fixed..]) {
        let cost = cost(&order, weight);
        if cost < least {
            least = cost;
            best.clone_from(&order);
        }
    }
    best
}

/// The next permutation in lexicographic order; false after the last.
fn next_permutation(items: &mut [usize]) -> bool {
    let Some(pivot) = items.windows(2).rposition(|w| w[0] < w[1]) else {
        return false;
    };
    let larger = items
        .iter()
        .rposition(|&item| item > items[pivot])
        .expect("the item after the pivot is larger");
    items.swap(pivot, larger);
    items[pivot + 1..].reverse();
    true
}

/// Swaps neighbours while that shortens the edges. Each swap changes only the distances to the two, so it is evaluated
/// in O(lanes).
fn swapped(mut order: Vec<usize>, fixed: usize, weight: &[Vec<u64>]) -> Vec<usize> {
    for _ in 0..order.len() {
        let mut improved = false;
        for i in fixed..order.len().saturating_sub(1) {
            let (a, b) = (order[i], order[i + 1]);
            // Moving a to the right brings it nearer to the lanes there and away from those on the left.
            let sum = |lane: usize, others: &[usize]| {
                others.iter().map(|&o| weight[lane][o] as i64).sum::<i64>()
            };
            let (left, right) = (&order[..i], &order[i + 2..]);
            let gain = sum(a, right) - sum(a, left) + sum(b, left) - sum(b, right);
            if gain > 0 {
                order.swap(i, i + 1);
                improved = true;
            }
        }
        if !improved {
            break;
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_all_visited() {
        let mut items = [0, 1, 2, 3];
        let mut count = 1;
        while next_permutation(&mut items) {
            count += 1;
        }
        assert_eq!((count, items), (24, [3, 2, 1, 0]));
    }

    #[test]
    fn swapping_brings_connected_lanes_together() {
        let n = 10;
        let mut weight = vec![vec![0; n]; n];
        weight[0][9] = 5;
        weight[9][0] = 5;
        let order: Vec<usize> = (0..n).collect();
        let better = swapped(order.clone(), 0, &weight);
        assert!(cost(&better, &weight) < cost(&order, &weight));
    }
}
