//! The order of all counted instances of a pattern, and what remains of it between two ordinals.
//!
//! The listed instances come first. All others follow by [`Place`]: in the order in which the passes that count them
//! meet them in the history in canonical order ([`Index::canonical`](isoscope_model::relations::Index::canonical)). A pass that
//! counts block by block makes only the instances of the blocks in the window.

use super::Pattern;
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

/// Identifies a counted instance of its pattern by nodes, keys, slots and operations of the history in canonical order;
/// the pass that counts the pattern defines the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub(super) [u32; 4]);

impl Place {
    /// What instances of a pattern with one root cause have in common: two writers, or the versions.
    pub(super) fn cause(self, pattern: Pattern) -> [u32; 2] {
        let Place([a, b, c, d]) = self;
        match pattern {
            Pattern::Divergence | Pattern::LostUpdate | Pattern::LongFork | Pattern::WriteSkew => {
                [a, b]
            }
            _ if pattern.is_weak() && c | d != 0 => [c.min(d), c.max(d)],
            _ => [a, b],
        }
    }
}

/// The unlisted instances between two ordinals, searched in the order of their places.
pub(super) struct Window {
    /// Places of the instances already listed.
    listed: BTreeSet<Place>,
    /// The ordinal of the next unlisted instance.
    next: u64,
    /// Ordinals wanted.
    wanted: Range<u64>,
}

impl Window {
    /// The unlisted instances with these ordinals, from 1, after the first `n_listed`, of which some have the places
    /// `listed`.
    pub(super) fn new(
        listed: impl Iterator<Item = Place>,
        n_listed: u64,
        wanted: Range<u64>,
    ) -> Window {
        Window {
            listed: listed.collect(),
            next: n_listed + 1,
            wanted,
        }
    }

    /// Whether nothing more is wanted.
    pub(super) fn is_full(&self) -> bool {
        self.next >= self.wanted.end
    }

    /// The blocks of instances, given by their sizes and the ranges of their places, that contain wanted instances; the
    /// blocks before them are skipped.
    pub(super) fn blocks<B>(
        &mut self,
        blocks: impl IntoIterator<Item = (B, u64, RangeInclusive<Place>)>,
    ) -> Vec<B> {
        let mut wanted = Vec::new();
        let mut ahead = self.next;
        for (block, n, range) in blocks {
            if wanted.is_empty() && self.skips(n, range.clone()) {
                ahead = self.next;
                continue;
            }
            if ahead >= self.wanted.end {
                break;
            }
            ahead += self.n_unlisted(n, range);
            wanted.push(block);
        }
        wanted
    }

    fn n_unlisted(&self, n: u64, range: RangeInclusive<Place>) -> u64 {
        n.saturating_sub(self.listed.range(range).count() as u64)
    }

    /// Skips a block of `n` instances, whose places lie in a range, if none of them is wanted.
    pub(super) fn skips(&mut self, n: u64, range: RangeInclusive<Place>) -> bool {
        let unlisted = self.n_unlisted(n, range);
        let skips = self.next + unlisted <= self.wanted.start || self.is_full();
        if skips {
            self.next += unlisted;
        }
        skips
    }

    /// The ordinal of the instance at this place, the next in order, if it is wanted and not listed.
    pub(super) fn admits(&mut self, place: Place) -> Option<u64> {
        if self.listed.contains(&place) {
            return None;
        }
        self.next += 1;
        Some(self.next - 1).filter(|ordinal| self.wanted.contains(ordinal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_the_same_whatever_is_skipped() {
        let place = |block: u32, n: u32| Place([block, n, 0, 0]);
        let blocks: Vec<Vec<Place>> = (0..5)
            .map(|block| (0..block * 3).map(|n| place(block, n)).collect())
            .collect();
        let listed: BTreeSet<Place> = [place(1, 1), place(3, 0), place(3, 8)].into();
        let all: Vec<Place> = blocks
            .iter()
            .flatten()
            .copied()
            .filter(|place| !listed.contains(place))
            .collect();
        for begin in 0..all.len() {
            for end in begin..=all.len() {
                let wanted = begin as u64 + 4..end as u64 + 4;
                let mut window = Window {
                    listed: listed.clone(),
                    next: 4,
                    wanted,
                };
                let mut found: Vec<Place> = Vec::new();
                for (block, instances) in blocks.iter().enumerate() {
                    let range = place(block as u32, 0)..=place(block as u32, u32::MAX);
                    if !window.skips(instances.len() as u64, range) {
                        found.extend(
                            instances
                                .iter()
                                .copied()
                                .filter(|place| window.admits(*place).is_some()),
                        );
                    }
                }
                assert_eq!(found, all[begin..end]);
                let mut window = Window {
                    listed: listed.clone(),
                    next: 4,
                    wanted: begin as u64 + 4..end as u64 + 4,
                };
                let range = |n: usize| place(n as u32, 0)..=place(n as u32, u32::MAX);
                let wanted = window.blocks(
                    blocks
                        .iter()
                        .enumerate()
                        .map(|(n, block)| (block, block.len() as u64, range(n))),
                );
                let wanted = wanted
                    .into_iter()
                    .flatten()
                    .filter(|place| window.admits(**place).is_some());
                assert!(wanted.eq(&all[begin..end]), "{begin}..{end}");
            }
        }
    }
}
