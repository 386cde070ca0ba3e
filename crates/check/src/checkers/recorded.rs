//! The order in which a history was recorded, as a first guess.

use isoscope_model::relations::{INITIAL_SLOT, Index, Node, Slot};

/// By node its place by end time, else by line, if nine out of ten of `n` reads or transactions fit that order: `fitting`
/// counts those of a node, of which each key has the version that is newest before it. O(nodes log + writes).
pub(super) fn rank(
    index: &Index,
    n: usize,
    fitting: impl Fn(Node, &[Slot]) -> usize,
) -> Option<Vec<u32>> {
    let ends = index.interval.iter().map(|ran| Some((*ran)?.end));
    let ends: Option<Vec<i64>> = ends.collect();
    let lines = index.recorded_at.iter().map(|&line| i64::from(line));
    let known = ends.into_iter().chain([lines.collect()]);
    known.filter(|when| !when.is_empty()).find_map(|when| {
        let mut nodes: Vec<Node> = (0..index.n_nodes() as Node).collect();
        nodes.sort_by_key(|&node| (when[node as usize], node));
        let mut newest = vec![INITIAL_SLOT; index.n_keys()];
        let mut rank = vec![0; nodes.len()];
        let mut n_fitting = 0;
        for (place, node) in (0..).zip(nodes) {
            n_fitting += fitting(node, &newest);
            for write in index.writes_of(node) {
                newest[index.write_key[write] as usize] = index.write_slot[write];
            }
            rank[node as usize] = place;
        }
        (n_fitting * 10 >= n * 9).then_some(rank)
    })
}
