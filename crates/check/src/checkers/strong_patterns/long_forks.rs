//! Long forks: t3 reads x from t1 and misses t2's y, t4 reads y from t2 and misses t1's x, t1 and t2 causally independent.
//!
//! ```text
//!   t1 w(x) ── WR ──→ t3 r(x) r(y)
//!      ↑                   │ RW
//!      RW                  ↓
//!   t4 r(y) r(x) ←─ WR ── t2 w(y)
//! ```
//!
//! A reader with a long transaction observes hundreds of versions and misses hundreds, so it has a half of a long fork
//! for each pair of them: too many to keep. They are counted version by version instead, each fork at the lower of its
//! two versions, and only those of the requested versions are made.

use super::Listing;
use super::argument::Argument;
use super::next_version::{AntiDependency, missed_slot};
use super::pairs::Pairs;
use crate::checkers::place::{Place, Window};
use crate::checkers::{Level, LevelSet, Pattern, Proof, Violation};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::{Components, Digraph, PathFinder, Rows, strong_components};
use isoscope_model::history::TransactionId;
use isoscope_model::relations::{INITIAL_SLOT, Index, NONE, Node};
use rayon::prelude::*;

/// One reader's half of a long fork: it saw one version and missed the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Half {
    /// Place of the anti-dependency to the version missed.
    pub(super) edge: u32,
    /// The read of the version seen.
    pub(super) read: u32,
}

/// What the readers on cycles observed and missed. O(reads) memory.
pub(super) struct LongForks<'p, 'a> {
    pairs: &'p Pairs<'a>,
    /// By reader: slots of versions seen, each with the first read.
    seen: Rows<(u32, u32)>,
    /// By reader: slots of versions missed, each with the place of the anti-dependency.
    missed: Rows<(u32, u32)>,
    /// By slot: the readers of the version.
    seen_by: Rows<Node>,
    /// By slot: places of the anti-dependencies to it.
    missed_by: Rows<u32>,
}

/// By slot of the upper version: how many readers observed the lower one and missed it, and vice versa.
struct Tallies {
    first: Vec<u32>,
    second: Vec<u32>,
    met: Vec<u32>,
}

impl<'p, 'a> LongForks<'p, 'a> {
    /// O(reads log).
    pub(super) fn new(pairs: &'p Pairs<'a>) -> LongForks<'p, 'a> {
        let index = pairs.index;
        let components = components_of_snapshots(pairs);
        let missed = (0u32..).zip(&pairs.edges).filter_map(|(place, edge)| {
            let slot = missed_slot(index, edge);
            let counts =
                slot != INITIAL_SLOT && components.share_cycle(2 * edge.reader, 2 * edge.next + 1);
            counts.then_some((edge.reader, (slot, place)))
        });
        let missed = Rows::new(index.n_nodes(), missed).sorted();
        let missed_by = Rows::new(
            index.slot_node.len(),
            missed.all().map(|(_, missed)| *missed),
        )
        .sorted();
        let mut seen: Rows<(u32, u32)> = Rows::default();
        let mut versions: Vec<(u32, u32)> = Vec::new();
        for reader in 0..index.n_nodes() as Node {
            versions.clear();
            if !missed.of(reader).is_empty() {
                versions.extend(
                    index
                        .reads_of(reader)
                        .map(|read| (index.read_slot[read], read as u32)),
                );
            }
            versions.sort_unstable();
            versions.dedup_by_key(|(slot, _)| *slot);
            let of_others = versions.iter().filter(|(slot, _)| {
                let writer = index
                    .slot_node
                    .get(*slot as usize)
                    .copied()
                    .unwrap_or(reader);
                writer != reader && components.share_cycle(2 * writer + 1, 2 * reader)
            });
            seen.push(of_others.copied());
        }
        let seen_by = seen.all().map(|(reader, &(slot, _))| (slot, reader));
        let seen_by = Rows::new(index.slot_node.len(), seen_by).sorted();
        LongForks {
            pairs,
            seen,
            missed,
            seen_by,
            missed_by,
        }
    }

    /// By slot: how many long forks have that version as the lower one of their two, and whether `control` ended the work
    /// before all were counted. O(halves of long forks).
    pub(super) fn counts(&self, control: &Control) -> (Vec<u64>, Result<(), Interrupt>) {
        /// Slots per piece of parallel work.
        const CHUNK: usize = 4096;
        let mut counts = vec![0; self.pairs.index.slot_node.len()];
        let tallies = || self.tallies();
        let counted = counts.par_chunks_mut(CHUNK).enumerate().try_for_each_init(
            tallies,
            |tallies, (chunk, counts)| {
                for (lower, count) in ((chunk * CHUNK) as u32..).zip(counts) {
                    control.check()?;
                    *count = self.count(lower, tallies);
                    control.advance(*count);
                }
                Ok(())
            },
        );
        (counts, counted)
    }

    /// The lowest version that is the lower one of a long fork.
    ///
    /// # Errors
    /// [`Interrupt`] when `control` ends the work first.
    pub(super) fn first(&self, control: &Control) -> Result<Option<u32>, Interrupt> {
        let mut tallies = self.tallies();
        for lower in 0..self.pairs.index.slot_node.len() as u32 {
            control.check()?;
            if self.count(lower, &mut tallies) > 0 {
                return Ok(Some(lower));
            }
        }
        Ok(None)
    }

    fn tallies(&self) -> Tallies {
        let n = self.pairs.index.slot_node.len();
        Tallies {
            first: vec![0; n],
            second: vec![0; n],
            met: Vec::new(),
        }
    }

    /// The long forks with this lower version.
    fn count(&self, lower: u32, tallies: &mut Tallies) -> u64 {
        if self.seen_by.of(lower).is_empty() || self.missed_by.of(lower).is_empty() {
            return 0;
        }
        for &reader in self.seen_by.of(lower) {
            for &(upper, _) in above(self.missed.of(reader), lower)
                .iter()
                .filter(|(upper, _)| fit(self.pairs.index, lower, *upper))
            {
                if tallies.first[upper as usize] == 0 {
                    tallies.met.push(upper);
                }
                tallies.first[upper as usize] += 1;
            }
        }
        for &edge in self.missed_by.of(lower) {
            let reader = self.pairs.edges[edge as usize].reader;
            above(self.seen.of(reader), lower)
                .iter()
                .for_each(|&(upper, _)| tallies.second[upper as usize] += 1);
        }
        let mut n = 0;
        for upper in tallies.met.drain(..) {
            let (first, second) = (
                tallies.first[upper as usize],
                tallies.second[upper as usize],
            );
            tallies.first[upper as usize] = 0;
            if second > 0 && self.independent(lower, upper) {
                n += u64::from(first) * u64::from(second);
            }
        }
        for &edge in self.missed_by.of(lower) {
            let reader = self.pairs.edges[edge as usize].reader;
            above(self.seen.of(reader), lower)
                .iter()
                .for_each(|&(upper, _)| tallies.second[upper as usize] = 0);
        }
        n
    }

    fn independent(&self, lower: u32, upper: u32) -> bool {
        let writer = |slot: u32| self.pairs.index.slot_node[slot as usize];
        self.pairs.independent(writer(lower), writer(upper))
    }

    /// The long forks with this lower version, by upper version: the halves that observed the lower, and those that
    /// observed the upper.
    pub(super) fn of(&self, lower: u32) -> Vec<(u32, Vec<Half>, Vec<Half>)> {
        let mut halves: Vec<(u32, bool, Half)> = Vec::new();
        for &reader in self.seen_by.of(lower) {
            let seen = self.seen.of(reader);
            let (_, read) = seen[seen.partition_point(|(slot, _)| *slot < lower)];
            let missed = above(self.missed.of(reader), lower).iter();
            halves.extend(missed.map(|&(upper, edge)| (upper, false, Half { edge, read })));
        }
        for &edge in self.missed_by.of(lower) {
            let seen = above(self.seen.of(self.pairs.edges[edge as usize].reader), lower).iter();
            halves.extend(seen.map(|&(upper, read)| (upper, true, Half { edge, read })));
        }
        halves.sort_unstable();
        let mut forks = Vec::new();
        for of_upper in halves.chunk_by(|a, b| a.0 == b.0) {
            let upper = of_upper[0].0;
            let (first, second) =
                of_upper.split_at(of_upper.partition_point(|(_, saw_upper, _)| !saw_upper));
            if !first.is_empty()
                && !second.is_empty()
                && fit(self.pairs.index, lower, upper)
                && self.independent(lower, upper)
            {
                let halves = |of: &[(u32, bool, Half)]| {
                    of.iter().map(|&(.., half)| half).collect::<Vec<Half>>()
                };
                forks.push((upper, halves(first), halves(second)));
            }
        }
        forks
    }

    /// Counts all long forks, and lists the first; groups by the two versions. What was counted is kept when `control`
    /// ends the work.
    pub(super) fn find(
        &self,
        most: usize,
        listing: &mut Listing<'_>,
        control: &Control,
    ) -> Result<(), Interrupt> {
        let (counts, counted) = self.counts(control);
        let total = counts.iter().sum();
        if total > 0 {
            listing.count(Pattern::LongFork, total);
        }
        let mut left = most;
        for lower in (0..)
            .zip(&counts)
            .filter(|(_, n)| **n > 0)
            .map(|(lower, _)| lower)
        {
            if left == 0 {
                break;
            }
            left -= self.list(lower, left, listing);
            control.check()?;
        }
        counted
    }

    /// Lists at most `most` of the long forks with this lower version, and returns how many.
    pub(super) fn list(&self, lower: u32, most: usize, listing: &mut Listing<'_>) -> usize {
        let mut left = most;
        for (upper, first, second) in self.of(lower) {
            let group = listing.new_group();
            for (&a, &b) in first
                .iter()
                .flat_map(|a| second.iter().map(move |b| (a, b)))
                .take(left)
            {
                left -= 1;
                if let Some(violation) = self.long_fork(lower, upper, a, b) {
                    listing.add(violation, group);
                }
            }
        }
        most - left
    }

    /// The long fork of two versions: one reader observed the first and missed the second, the other vice versa.
    fn long_fork(&self, lower: u32, upper: u32, first: Half, second: Half) -> Option<Violation> {
        let pairs = self.pairs;
        let [t1, t2] = [lower, upper].map(|slot| pairs.index.slot_node[slot as usize]);
        let mut argument = Argument::new(pairs.history, pairs.index);
        let mut finder = PathFinder::new(pairs.index.n_nodes());
        let (t3_misses, t4_misses) = (
            pairs.edges[first.edge as usize],
            pairs.edges[second.edge as usize],
        );
        let t1_seen = argument.read(t3_misses.reader, first.read as usize);
        let t2_missed = pairs.anti_dependency(&mut argument, &mut finder, t3_misses)?;
        let t2_seen = argument.read(t4_misses.reader, second.read as usize);
        let t1_missed = pairs.anti_dependency(&mut argument, &mut finder, t4_misses)?;
        let order = [t1, t2, t3_misses.reader, t4_misses.reader]
            .map(|t| pairs.index.transaction[t as usize]);
        let violation = argument.violation(
            Pattern::LongFork,
            vec!["G-nonadjacent".to_owned()],
            LevelSet::upward(Level::PrefixConsistency),
            None,
            &order,
            Proof::Cycle(vec![t1_seen, t2_missed, t2_seen, t1_missed]),
        );
        Some(Violation {
            place: Some(place(lower, upper, first, second)),
            ..violation
        })
    }

    /// The counted instances that `window` wants, by lower version, upper version, and readers.
    pub(super) fn unlisted(
        &self,
        window: &mut Window,
        control: &Control,
    ) -> Result<Vec<Violation>, Interrupt> {
        let (counts, counted) = self.counts(control);
        counted?;
        let mut found = Vec::new();
        for (lower, &n) in (0..).zip(&counts).filter(|(_, n)| **n > 0) {
            if window.skips(
                n,
                Place([lower, 0, 0, 0])..=Place([lower, NONE, NONE, NONE]),
            ) {
                continue;
            }
            control.check()?;
            for (upper, first, second) in self.of(lower) {
                let n = first.len() as u64 * second.len() as u64;
                if window.skips(
                    n,
                    Place([lower, upper, 0, 0])..=Place([lower, upper, NONE, NONE]),
                ) {
                    continue;
                }
                for (&a, &b) in first
                    .iter()
                    .flat_map(|a| second.iter().map(move |b| (a, b)))
                {
                    let Some(ordinal) = window.admits(place(lower, upper, a, b)) else {
                        continue;
                    };
                    if let Some(mut violation) = self.long_fork(lower, upper, a, b) {
                        violation.id.ordinal = ordinal as u32;
                        found.push(violation);
                    }
                }
            }
        }
        Ok(found)
    }
}

/// Whether a long fork of exactly these transactions is counted. It needs no anti-dependencies but those of their reads.
/// O(their reads log).
pub(super) fn is_counted(pairs: &Pairs<'_>, transactions: &[TransactionId]) -> bool {
    let index = pairs.index;
    let nodes: Vec<Node> = transactions.iter().map(|t| index.node[t.index()]).collect();
    let writer = |slot: u32| index.slot_node[slot as usize];
    // By reader: the versions of the others that it read, and those that it missed.
    let halves = |&reader: &Node| {
        let of_others = |slot: &u32| {
            *slot != INITIAL_SLOT && writer(*slot) != reader && nodes.contains(&writer(*slot))
        };
        let seen: Vec<u32> = index
            .reads_of(reader)
            .map(|read| index.read_slot[read])
            .filter(of_others)
            .collect();
        let written = |read: &usize| {
            nodes
                .iter()
                .any(|&t| index.slot_of(t, index.read_key[*read]).is_some())
        };
        let next = |read: usize| {
            pairs
                .next_after(read as u32)
                .map(|edge| missed_slot(index, &edge))
        };
        let missed: Vec<u32> = index
            .reads_of(reader)
            .filter(written)
            .filter_map(next)
            .filter(of_others)
            .collect();
        (reader, seen, missed)
    };
    let halves: Vec<(Node, Vec<u32>, Vec<u32>)> = nodes.iter().map(halves).collect();
    let is_fork = |t3: Node, t4: Node, x: u32, y: u32| {
        let all = [t3, t4, writer(x), writer(y)];
        nodes.iter().all(|t| all.contains(t))
            && fit(index, x, y)
            && pairs.independent(writer(x), writer(y))
    };
    halves
        .iter()
        .flat_map(|t3| halves.iter().map(move |t4| (t3, t4)))
        .filter(|(t3, t4)| t3.0 < t4.0)
        .any(|((t3, seen3, missed3), (t4, seen4, missed4))| {
            let mut crossed = seen3.iter().filter(|x| missed4.contains(x)).flat_map(|&x| {
                missed3
                    .iter()
                    .filter(|y| seen4.contains(y))
                    .map(move |&y| (x, y))
            });
            crossed.any(|(x, y)| is_fork(*t3, *t4, x, y))
        })
}

/// Whether two versions can be the two of a long fork: of different keys and writers.
fn fit(index: &Index, lower: u32, upper: u32) -> bool {
    let of = |slot: u32| {
        (
            index.slot_key[slot as usize],
            index.slot_node[slot as usize],
        )
    };
    of(lower).0 != of(upper).0 && of(lower).1 != of(upper).1
}

/// The place of a long fork among all.
fn place(lower: u32, upper: u32, first: Half, second: Half) -> Place {
    Place([lower, upper, first.edge, second.edge])
}

/// The versions in the list that come after a given one.
fn above(versions: &[(u32, u32)], lower: u32) -> &[(u32, u32)] {
    &versions[versions.partition_point(|(slot, _)| *slot <= lower)..]
}

/// Components of starts (2t) and commits (2t + 1) under SO, WR and the anti-dependencies.
fn components_of_snapshots(pairs: &Pairs<'_>) -> Components {
    let n = pairs.index.n_nodes();
    let inside = (0..n as Node).map(|t| (2 * t, 2 * t + 1));
    let causal = pairs
        .causal
        .edges()
        .map(|arc| (2 * arc.from + 1, 2 * arc.to));
    let missed = pairs
        .edges
        .iter()
        .map(|&AntiDependency { reader, next, .. }| (2 * reader, 2 * next + 1));
    strong_components(&Digraph::new(2 * n, inside.chain(causal).chain(missed)))
}
