//! The order of one key whose values are each written once (MTC, section IV-E, generalised; Gibbons & Korach 1997).
//!
//! A swap returns the version that it replaces, so nothing comes between the two. Each write that replaces whatever
//! version is current, and the initial version, thus begins a *block*: its own version with its readers, the version of
//! the swap that read it with its readers, and so on. A block as a whole has a moment f at which its first operation
//! had ended and a moment s at which its last one began. If f < s the block was current from f to s, its *forward
//! zone*; else it can be placed at any one moment from s to f. Block i must precede block j if f of i < s of j. There
//! is an order of the blocks unless two forward zones overlap or a block without one lies inside that of another: every
//! longer cycle of this relation contains one of two blocks.

use super::input::{INITIAL, NO_READ, Op, Role};

/// No operation.
const NONE: u32 = u32::MAX;

/// What the operations of a key are for its versions.
struct Versions {
    /// By version, the initial one last: the swap that replaces it.
    next: Vec<u32>,
    /// By version: the version its block begins with.
    block: Vec<u32>,
    /// By version: how many versions of its block come before.
    rank: Vec<u32>,
}

/// The order of a key, or why there is none.
#[derive(Debug)]
pub(super) enum Arranged {
    /// Places of the operations.
    Order(Vec<u32>),
    /// No order respects real time.
    Clashes(Vec<Clash>),
}

/// A few operations that cannot be put in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clash {
    /// Places of the operations.
    pub(super) ops: Vec<u32>,
}

/// Most clashes reported for a key.
const MOST_CLASHES: usize = 1000;

/// Orders the operations of a key, except those that say nothing about versions. O(n log n).
pub(super) fn arrange(ops: &[Op]) -> Arranged {
    let versions = match Versions::link(ops) {
        Ok(versions) => versions,
        Err(clashes) => return Arranged::Clashes(clashes),
    };
    let blocks = Blocks::new(ops, versions);
    let order = blocks.in_order();
    if blocks.respects_real_time(&order) {
        Arranged::Order(order)
    } else {
        Arranged::Clashes(blocks.clashes(&order))
    }
}

impl Versions {
    /// Follows the swaps from each block's beginning; fails if two swaps replace one version, or if swaps read from
    /// each other in a cycle.
    fn link(ops: &[Op]) -> Result<Versions, Vec<Clash>> {
        let n = ops.len();
        let mut next = vec![NONE; n + 1];
        let mut clashes = Vec::new();
        for (place, op) in (0..)
            .zip(ops)
            .filter(|(_, op)| op.role == Role::Swap && !op.optional)
        {
            let read = version(op.source, n);
            match next[read as usize] {
                NONE => next[read as usize] = place,
                first if clashes.len() < MOST_CLASHES => {
                    let writer = (op.source != INITIAL).then_some(read);
                    clashes.push(Clash {
                        ops: writer.into_iter().chain([first, place]).collect(),
                    });
                }
                _ => {}
            }
        }
        if !clashes.is_empty() {
            return Err(clashes);
        }
        let mut versions = Versions {
            next,
            block: vec![NONE; n + 1],
            rank: vec![0; n + 1],
        };
        versions.follow(n as u32);
        for (place, _) in (0..)
            .zip(ops)
            .filter(|(_, op)| op.role == Role::Write && !op.optional)
        {
            versions.follow(place);
        }
        let lost = (0..)
            .zip(ops)
            .filter(|(_, op)| op.role == Role::Swap && !op.optional);
        for (place, _) in lost {
            if versions.block[place as usize] == NONE {
                clashes.push(Clash {
                    ops: versions.cycle(place),
                });
            }
        }
        if clashes.is_empty() {
            Ok(versions)
        } else {
            Err(clashes)
        }
    }

    fn follow(&mut self, first: u32) {
        let (mut at, mut rank) = (first, 0);
        while at != NONE {
            self.block[at as usize] = first;
            self.rank[at as usize] = rank;
            rank += 1;
            at = self.next[at as usize];
        }
    }

    /// The swaps of a cycle, which all get a block so that they are not found again.
    fn cycle(&mut self, first: u32) -> Vec<u32> {
        let mut ops = Vec::new();
        let mut at = first;
        while self.block[at as usize] == NONE {
            self.block[at as usize] = first;
            ops.push(at);
            at = self.next[at as usize];
        }
        ops
    }
}

/// The version that a source names, as a place in tables by version.
fn version(source: u32, n: usize) -> u32 {
    if source == INITIAL { n as u32 } else { source }
}

/// A block with its operations as a range of an order, and its two moments.
struct Block {
    first_version: u32,
    /// The earliest end.
    f: i64,
    /// The latest start.
    s: i64,
}

struct Blocks<'a> {
    ops: &'a [Op],
    versions: Versions,
    /// By version that begins a block, the initial one last: earliest end and latest start of its operations.
    moments: Vec<(i64, i64)>,
}

impl<'a> Blocks<'a> {
    fn new(ops: &'a [Op], versions: Versions) -> Blocks<'a> {
        let mut blocks = Blocks {
            ops,
            versions,
            moments: vec![(i64::MAX, i64::MIN); ops.len() + 1],
        };
        for place in 0..ops.len() as u32 {
            if let Some((block, ..)) = blocks.place_of(place) {
                let moments = &mut blocks.moments[block as usize];
                moments.0 = moments.0.min(ops[place as usize].end);
                moments.1 = moments.1.max(ops[place as usize].start);
            }
        }
        blocks
    }

    /// Block, rank of the version, and whether the operation only reads it.
    fn place_of(&self, place: u32) -> Option<(u32, u32, bool)> {
        let op = &self.ops[place as usize];
        let version = match op.role {
            _ if op.optional => return None,
            Role::Write | Role::Swap => place,
            Role::Read if op.source != NO_READ => version(op.source, self.ops.len()),
            _ => return None,
        };
        let (block, rank) = (
            self.versions.block[version as usize],
            self.versions.rank[version as usize],
        );
        (block != NONE).then_some((block, rank, op.role == Role::Read))
    }

    fn initial(&self) -> u32 {
        self.ops.len() as u32
    }

    /// Blocks by the beginning of their forward zone; one without a zone at its latest start, before a zone that begins
    /// then. The block of the initial version is first.
    fn in_order(&self) -> Vec<u32> {
        let mut order: Vec<_> = (0..self.ops.len() as u32)
            .filter_map(|place| {
                let (block, rank, reads) = self.place_of(place)?;
                let (f, s) = self.moments[block as usize];
                let moment = if block == self.initial() {
                    (i64::MIN, 0)
                } else if f < s {
                    (f, 2)
                } else {
                    (s, 1)
                };
                Some((
                    moment,
                    block,
                    rank,
                    reads,
                    self.ops[place as usize].start,
                    place,
                ))
            })
            .collect();
        order.sort_unstable();
        order.into_iter().map(|(.., place)| place).collect()
    }

    /// Whether no operation precedes one that had ended when it began.
    fn respects_real_time(&self, order: &[u32]) -> bool {
        let mut first_end = i64::MAX;
        order.iter().rev().all(|&place| {
            let op = &self.ops[place as usize];
            let fits = op.start <= first_end;
            first_end = first_end.min(op.end);
            fits
        })
    }

    /// Why there is no order: inside blocks, else between two.
    fn clashes(&self, order: &[u32]) -> Vec<Clash> {
        let block_of = |place: &u32| self.place_of(*place).map(|(block, ..)| block);
        let by_block: Vec<&[u32]> = order.chunk_by(|a, b| block_of(a) == block_of(b)).collect();
        let mut clashes: Vec<Clash> = by_block
            .iter()
            .filter_map(|block| self.inside(block))
            .collect();
        if clashes.is_empty() {
            clashes = self.between(&by_block);
        }
        clashes.truncate(MOST_CLASHES);
        clashes
    }

    /// An operation that began after a later one of its block had ended.
    fn inside(&self, block: &[u32]) -> Option<Clash> {
        let mut first_end = i64::MAX;
        for (at, &place) in block.iter().enumerate().rev() {
            let op = &self.ops[place as usize];
            if op.start > first_end {
                let later = block[at + 1..]
                    .iter()
                    .find(|other| self.ops[**other as usize].end < op.start)?;
                return Some(Clash {
                    ops: self.with_versions_between(&[place, *later]),
                });
            }
            first_end = first_end.min(op.end);
        }
        None
    }

    fn between(&self, by_block: &[&[u32]]) -> Vec<Clash> {
        let described = by_block.iter().filter_map(|ops| {
            let (first_version, ..) = self.place_of(ops[0])?;
            let (f, s) = self.moments[first_version as usize];
            Some((
                Block {
                    first_version,
                    f,
                    s,
                },
                *ops,
            ))
        });
        let (initial, others): (Vec<_>, Vec<_>) =
            described.partition(|(block, _)| block.first_version == self.initial());
        let mut clashes = Vec::new();
        if let Some((initial, ops)) = initial.first() {
            let late = others.iter().filter(|(block, _)| block.f < initial.s);
            clashes.extend(
                late.take(MOST_CLASHES)
                    .filter_map(|(_, others)| self.pair(ops, others)),
            );
        }
        let mut forward: Vec<&(Block, &[u32])> = others
            .iter()
            .filter(|(block, _)| block.f < block.s)
            .collect();
        forward.sort_by_key(|(block, _)| block.f);
        let mut reaching: Option<&(Block, &[u32])> = None;
        for block in &forward {
            if let Some(before) = reaching.filter(|before| block.0.f < before.0.s) {
                clashes.extend(self.pair(before.1, block.1));
            }
            if reaching.is_none_or(|before| before.0.s < block.0.s) {
                reaching = Some(block);
            }
        }
        for block in others.iter().filter(|(block, _)| block.f >= block.s) {
            let before = forward.partition_point(|(zone, _)| zone.f < block.0.s);
            let around = before
                .checked_sub(1)
                .map(|at| forward[at])
                .filter(|(zone, _)| block.0.f < zone.s);
            clashes.extend(around.and_then(|zone| self.pair(zone.1, block.1)));
            if clashes.len() >= MOST_CLASHES {
                break;
            }
        }
        clashes
    }

    /// The operations that show that each of two blocks would have to precede the other: from each block one that had
    /// ended before one of the other began, and one that began after one of the other had ended; as close to each other
    /// as possible, with the versions in between.
    fn pair(&self, first: &[u32], second: &[u32]) -> Option<Clash> {
        let op = |place: u32| &self.ops[place as usize];
        let started = second.iter().map(|&place| op(place).start).max()?;
        let ended = second.iter().map(|&place| op(place).end).min()?;
        let of_first = self.nearest(first, started, ended)?;
        let first_end = of_first.iter().map(|&place| op(place).end).min()?;
        let first_start = of_first.iter().map(|&place| op(place).start).max()?;
        let is_first = self
            .place_of(first[0])
            .is_some_and(|(block, ..)| block == self.initial());
        let of_second = match is_first {
            // Any operation that ended before a reader of the initial version began will do.
            true => vec![*second.iter().find(|&&place| op(place).end < first_start)?],
            false => self.nearest(second, first_start, first_end)?,
        };
        let mut ops = self.with_versions_between(&of_first);
        ops.extend(self.with_versions_between(&of_second));
        ops.sort_unstable();
        ops.dedup();
        Some(Clash { ops })
    }

    /// One operation of a block that ended before `started` and one that began after `ended`, close to each other. The
    /// initial version, which ended before everything, is not an operation.
    fn nearest(&self, block: &[u32], started: i64, ended: i64) -> Option<Vec<u32>> {
        let rank = |place: u32| self.place_of(place).map_or(0, |(_, rank, _)| rank);
        let is_initial = self
            .place_of(block[0])
            .is_some_and(|(first, ..)| first == self.initial());
        if is_initial {
            let late = block
                .iter()
                .find(|&&place| self.ops[place as usize].start > ended)?;
            return Some(vec![*late]);
        }
        let (mut last_early, mut last_late): (Option<u32>, Option<u32>) = (None, None);
        let mut best: Option<(u32, Vec<u32>)> = None;
        for &place in block {
            let op = &self.ops[place as usize];
            if op.end < started {
                last_early = Some(place);
            }
            if op.start > ended {
                last_late = Some(place);
            }
            if let (Some(early), Some(late)) = (last_early, last_late)
                && (last_early == Some(place) || last_late == Some(place))
            {
                let distance = rank(early).abs_diff(rank(late));
                if best
                    .as_ref()
                    .is_none_or(|(smallest, _)| distance < *smallest)
                {
                    best = Some((distance, vec![early, late]));
                }
            }
        }
        best.map(|(_, ops)| ops)
    }

    /// These operations of one block and the writes of all versions from the first to the last of them; from the initial
    /// version if that is where the block begins.
    fn with_versions_between(&self, ops: &[u32]) -> Vec<u32> {
        let places = || ops.iter().filter_map(|&place| self.place_of(place));
        let (Some((block, ..)), Some(low), Some(high)) = (
            places().next(),
            places().map(|p| p.1).min(),
            places().map(|p| p.1).max(),
        ) else {
            return ops.to_vec();
        };
        let mut found = ops.to_vec();
        let low = if block == self.initial() { 0 } else { low };
        // Walk from the version of an operation that has the lowest rank.
        let lowest = ops
            .iter()
            .find(|&&place| self.place_of(place).is_some_and(|p| p.1 == low))
            .copied();
        let mut at = match lowest {
            _ if block == self.initial() => self.initial(),
            Some(place) if self.ops[place as usize].role == Role::Read => {
                self.ops[place as usize].source
            }
            Some(place) => place,
            None => return found,
        };
        for _ in low..=high {
            if at == NONE {
                break;
            }
            if at != self.initial() {
                found.push(at);
            }
            at = self.versions.next[at as usize];
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}
