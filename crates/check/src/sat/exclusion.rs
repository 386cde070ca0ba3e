//! Which sides exclude each other: cycles through the edges of one or two sides, found before the solver runs into
//! them.
//!
//! The solver would find these cycles by conflicts, one at a time, and only once both sides are taken. Given
//! beforehand, they propagate: as soon as one side is taken, the other one is ruled out. (MonoSAT and its successors
//! propagate reachability for the same purpose; cycles of two are the part of that which needs no work during the
//! search.)

use super::{CycleEdge, DynamicOrder, FIRST_FACT, Problem, Side, Vertex};
use isoscope_model::control::{Control, Interrupt};
use rustc_hash::{FxHashMap, FxHashSet};

/// Most cycles that are listed.
const MOST_CYCLES: usize = 1 << 20;
/// Most work, in words of 64 edges propagated along a fixed edge; beyond it nothing is listed.
const MOST_WORK: usize = 3_000_000_000;
/// Words held for all vertices at a time.
const MOST_WORDS: usize = 1 << 22;

/// Cycles of fixed edges of `order` and the edges of two sides, or of one, one cycle for each pair of sides; without
/// their fixed edges, which [`with_fixed_edges`] adds. Edges that depend on facts do not count. O(edges to choose / 64
/// · fixed edges between their ends).
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub fn exclusions(
    order: &DynamicOrder,
    problem: &Problem,
    control: &Control,
) -> Result<Vec<Vec<CycleEdge>>, Interrupt> {
    let edges = edges_to_choose(problem);
    let ends = || {
        edges
            .iter()
            .flat_map(|edge| [edge.from, edge.to])
            .map(|v| order.position(v))
    };
    let (Some(low), Some(high)) = (ends().min(), ends().max()) else {
        return Ok(Vec::new());
    };
    let window = &order.order()[low as usize..=high as usize];
    let n_fixed: usize = window
        .iter()
        .map(|&v| order.fixed_out().successors(v).len())
        .sum();
    if edges
        .len()
        .div_ceil(64)
        .saturating_mul(n_fixed + window.len())
        > MOST_WORK
    {
        return Ok(Vec::new());
    }
    let mut found = ExcludedSides::default();
    let words = (MOST_WORDS / window.len())
        .clamp(1, 64)
        .min(edges.len().div_ceil(64));
    control.needs(2 * window.len() * words * size_of::<u64>())?;
    for first in (0..edges.len()).step_by(64 * words) {
        control.check()?;
        let block = first..edges.len().min(first + 64 * words);
        let mut ahead = Rows::new(low, window.len(), words);
        let mut behind = ahead.clone();
        for (bit, edge) in edges[block.clone()].iter().enumerate() {
            ahead.set(order.position(edge.from), bit);
            behind.set(order.position(edge.to), bit);
        }
        for &v in window.iter().rev() {
            for &w in order
                .fixed_out()
                .successors(v)
                .iter()
                .filter(|&&w| order.position(w) <= high)
            {
                ahead.add(order.position(w), order.position(v));
            }
        }
        for &v in window {
            for &u in order
                .fixed_in()
                .successors(v)
                .iter()
                .filter(|&&u| order.position(u) >= low)
            {
                behind.add(order.position(u), order.position(v));
            }
        }
        for (place, a) in edges.iter().enumerate().skip(first) {
            if place.is_multiple_of(64) {
                control.check()?;
            }
            let both = ahead
                .row(order.position(a.to))
                .iter()
                .zip(behind.row(order.position(a.from)));
            for (word, (ahead, behind)) in both.enumerate() {
                let mut bits = ahead & behind;
                while bits != 0 {
                    let other = first + 64 * word + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    if other <= place && !found.add(&edges[other], a) {
                        return Ok(found.cycles);
                    }
                }
            }
        }
    }
    Ok(found.cycles)
}

/// In place of a label.
const NONE: u32 = u32::MAX;

/// Cycles with the sides they exclude.
#[derive(Default)]
struct ExcludedSides {
    cycles: Vec<Vec<CycleEdge>>,
    /// By their labels.
    seen: FxHashSet<[u32; 4]>,
}

impl ExcludedSides {
    /// Lists the cycle of two edges, or of one that closes a cycle alone, unless the sides are known to exclude each other;
    /// false if there are too many.
    fn add(&mut self, a: &CycleEdge, b: &CycleEdge) -> bool {
        let labels = labels(a, b);
        // Both sides of one choice are never taken.
        let is_idle = labels
            .windows(2)
            .any(|pair| pair[1] != NONE && pair[0] >> 1 == pair[1] >> 1);
        if !is_idle && self.seen.insert(labels) {
            let cycle = if a == b { vec![*a] } else { vec![*a, *b] };
            self.cycles.push(cycle);
        }
        self.cycles.len() < MOST_CYCLES
    }
}

/// The labels of two edges that are sides of choices, each once, ascending.
fn labels(a: &CycleEdge, b: &CycleEdge) -> [u32; 4] {
    let mut all = [NONE; 4];
    let mut n = 0;
    for label in a.labels().chain(b.labels()) {
        if label < FIRST_FACT && !all[..n].contains(&label) {
            all[n] = label;
            n += 1;
        }
    }
    all.sort_unstable();
    all
}

/// The edges of all sides, and those that need two of them.
fn edges_to_choose(problem: &Problem) -> Vec<CycleEdge> {
    let mut edges = Vec::new();
    for (choice, both) in (0..).zip(&problem.choices) {
        for first in [true, false] {
            let label = Some(super::literal(Side { choice, first }).idx());
            edges.extend(both.side(first).iter().map(|&(from, to)| CycleEdge {
                from,
                to,
                label,
                also: None,
            }));
        }
    }
    edges.extend(problem.with_sides.iter().map(|edge| CycleEdge {
        from: edge.from,
        to: edge.to,
        label: Some(super::literal(edge.side).idx()),
        also: Some(super::literal(edge.with).idx()),
    }));
    edges
}

/// Sets of edges by position, for a stretch of the order.
#[derive(Clone)]
struct Rows {
    low: u32,
    words: usize,
    bits: Vec<u64>,
}

impl Rows {
    fn new(low: u32, n: usize, words: usize) -> Rows {
        Rows {
            low,
            words,
            bits: vec![0; n * words],
        }
    }

    fn begin(&self, position: u32) -> usize {
        (position - self.low) as usize * self.words
    }

    fn row(&self, position: u32) -> &[u64] {
        &self.bits[self.begin(position)..][..self.words]
    }

    fn set(&mut self, position: u32, bit: usize) {
        let begin = self.begin(position);
        self.bits[begin + bit / 64] |= 1 << (bit % 64);
    }

    /// Adds the row of one position to that of another one.
    fn add(&mut self, from: u32, to: u32) {
        let (from, to) = (self.begin(from), self.begin(to));
        for word in 0..self.words {
            self.bits[to + word] |= self.bits[from + word];
        }
    }
}

/// All edges of cycles that were listed without their fixed edges: between two edges of a cycle, a shortest path of
/// fixed ones. O(fixed edges) for each vertex at which a listed edge ends.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub fn with_fixed_edges(
    order: &DynamicOrder,
    cycles: &[Vec<CycleEdge>],
    control: &Control,
) -> Result<Vec<CycleEdge>, Interrupt> {
    let mut all: Vec<CycleEdge> = cycles.iter().flatten().copied().collect();
    let mut gaps: FxHashMap<Vertex, Vec<Vertex>> = FxHashMap::default();
    for cycle in cycles {
        for (edge, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
            gaps.entry(edge.to).or_default().push(next.from);
        }
    }
    let mut sources: Vec<Vertex> = gaps.keys().copied().collect();
    sources.sort_unstable();
    let mut reached_from: Vec<Vertex> = vec![Vertex::MAX; order.order().len()];
    let mut queue: Vec<Vertex> = Vec::new();
    for source in sources {
        control.check()?;
        let targets = &gaps[&source];
        let last = targets
            .iter()
            .map(|&v| order.position(v))
            .max()
            .unwrap_or(0);
        queue.clear();
        queue.push(source);
        reached_from[source as usize] = source;
        let mut at = 0;
        while let Some(&v) = queue.get(at) {
            at += 1;
            for &w in order.fixed_out().successors(v) {
                if order.position(w) <= last && reached_from[w as usize] == Vertex::MAX {
                    reached_from[w as usize] = v;
                    queue.push(w);
                }
            }
        }
        for &target in targets {
            let mut to = target;
            while to != source && reached_from[to as usize] != Vertex::MAX {
                let from = reached_from[to as usize];
                all.push(CycleEdge {
                    from,
                    to,
                    label: None,
                    also: None,
                });
                to = from;
            }
        }
        queue
            .iter()
            .for_each(|&v| reached_from[v as usize] = Vertex::MAX);
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}
