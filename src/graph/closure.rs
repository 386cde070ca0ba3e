//! Bit sets and reachability of small graphs.

use super::{Digraph, strong_components};

/// A set of small numbers, a bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// The empty set over `0..n`.
    pub fn new(n: usize) -> BitSet {
        BitSet { words: vec![0; n.div_ceil(64)] }
    }

    /// Adds a member. Returns whether it is new.
    #[inline]
    pub fn insert(&mut self, member: u32) -> bool {
        let word = &mut self.words[member as usize / 64];
        let bit = 1u64 << (member % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Removes a member. Returns whether it was there.
    #[inline]
    pub fn remove(&mut self, member: u32) -> bool {
        let word = &mut self.words[member as usize / 64];
        let bit = 1u64 << (member % 64);
        let there = *word & bit != 0;
        *word &= !bit;
        there
    }

    /// Whether `member` is in the set.
    #[inline]
    pub fn contains(&self, member: u32) -> bool {
        self.words[member as usize / 64] & (1 << (member % 64)) != 0
    }

    /// Adds all members of `other`, a set over the same range.
    pub fn union(&mut self, other: &BitSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(mine, theirs)| *mine |= theirs);
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(at as u32 * 64 + bit)
            })
        })
    }
}

/// Which vertex reaches which by at least one edge, as a bit matrix: for graphs of at most a few thousand vertices.
#[derive(Clone, Debug, Default)]
pub struct Closure {
    rows: Vec<BitSet>,
}

impl Closure {
    /// The transitive closure. O(edges · n / 64) time, n² / 8 bytes.
    pub fn new(graph: &Digraph) -> Closure {
        let n = graph.n_vertices();
        let components = strong_components(graph);
        let mut rows = vec![BitSet::new(n); n];
        // Components are numbered against the edges, so what a component reaches is complete before it is needed.
        for component in 0..components.len() as u32 {
            let mut reached = BitSet::new(n);
            for &vertex in components.members(component) {
                for &to in graph.successors(vertex) {
                    reached.insert(to);
                    if components.component[to as usize] != component {
                        reached.union(&rows[to as usize]);
                    }
                }
            }
            if components.is_cyclic(component) {
                for &vertex in components.members(component) {
                    reached.insert(vertex);
                }
            }
            for &vertex in components.members(component) {
                rows[vertex as usize] = reached.clone();
            }
        }
        Closure { rows }
    }

    /// Whether a path of at least one edge leads from `from` to `to`.
    #[inline]
    pub fn reaches(&self, from: u32, to: u32) -> bool {
        self.rows[from as usize].contains(to)
    }

    /// Whether they are the same vertex or a path leads from `from` to `to`.
    #[inline]
    pub fn reaches_or_is(&self, from: u32, to: u32) -> bool {
        from == to || self.reaches(from, to)
    }

    /// Everything that `from` reaches.
    pub fn reached_from(&self, from: u32) -> &BitSet {
        &self.rows[from as usize]
    }

    /// Adds an edge and all that follows from it. O(n² / 64). Returns whether anything is new.
    pub fn add_edge(&mut self, from: u32, to: u32) -> bool {
        if self.reaches(from, to) {
            return false;
        }
        let mut gained = self.rows[to as usize].clone();
        gained.insert(to);
        for (vertex, row) in self.rows.iter_mut().enumerate() {
            if vertex == from as usize || row.contains(from) {
                row.union(&gained);
            }
        }
        true
    }

    /// Warshall's algorithm, to compare with.
    #[cfg(test)]
    pub(crate) fn brute(n: usize, edges: &[(u32, u32)]) -> Vec<Vec<bool>> {
        let mut reach = vec![vec![false; n]; n];
        edges.iter().for_each(|&(a, b)| reach[a as usize][b as usize] = true);
        for k in 0..n {
            for a in 0..n {
                if reach[a][k] {
                    let through = reach[k].clone();
                    reach[a].iter_mut().zip(through).for_each(|(mine, theirs)| *mine |= theirs);
                }
            }
        }
        reach
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closure_agrees_with_warshall_also_edge_by_edge() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..400 {
            let n = random.usize(1..80);
            let m = random.usize(0..2 * n);
            let edges: Vec<(u32, u32)> = (0..m).map(|_| (random.u32(0..n as u32), random.u32(0..n as u32))).collect();
            let whole = Closure::new(&Digraph::new(n, edges.iter().copied()));
            let mut grown = Closure::new(&Digraph::new(n, std::iter::empty()));
            for &(a, b) in &edges {
                grown.add_edge(a, b);
            }
            let brute = Closure::brute(n, &edges);
            for a in 0..n as u32 {
                for b in 0..n as u32 {
                    assert_eq!(whole.reaches(a, b), brute[a as usize][b as usize]);
                    assert_eq!(grown.reaches(a, b), brute[a as usize][b as usize]);
                }
            }
        }
    }

    #[test]
    fn bit_sets_list_their_members_in_order() {
        let mut set = BitSet::new(200);
        assert!(set.is_empty());
        for member in [130, 3, 64, 63, 199, 3] {
            set.insert(member);
        }
        assert!(set.remove(64) && !set.remove(64));
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 63, 130, 199]);
        assert_eq!((set.len(), set.contains(63), set.contains(64)), (4, true, false));
    }
}
