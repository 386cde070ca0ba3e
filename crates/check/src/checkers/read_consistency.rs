//! Patterns visible in the reads of one transaction: TAP-a to f, and TAP-j.
//!
//! TAP-a to f (Plume, Table 1) contradict read committed and everything above by themselves. TAP-j contradicts cut
//! isolation and everything from read atomic up; it also contradicts read committed if the later read went back behind
//! the earlier one, which `monotonic_reads` checks. This module does not know about commit orders.

use super::monotonic_reads::BackwardReads;
use super::place::{Place, Window};
use super::{Instances, Level, LevelSet, Pattern, Proof, Violation};
use super::{cut_isolation, list_reads};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::{History, OperationId, OperationKind, TransactionId};
use isoscope_model::relations::{Edge, Index, NONE, Node, Resolution, Source, last_write};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Nodes per piece of parallel work.
const CHUNK: usize = 4096;

/// A pattern instance before it is described.
#[derive(Clone, Copy, Debug)]
enum Finding {
    /// TAP-a to f: one read.
    Read {
        pattern: Pattern,
        node: Node,
        read: OperationId,
    },
    /// TAP-j: two reads of a node.
    Pair {
        node: Node,
        first: OperationId,
        second: OperationId,
    },
}

impl Finding {
    fn pattern(self) -> Pattern {
        match self {
            Finding::Read { pattern, .. } => pattern,
            Finding::Pair { .. } => Pattern::NonRepeatableRead,
        }
    }

    /// By node, then read.
    fn place(self) -> Place {
        match self {
            Finding::Read { node, read, .. } => Place([node, read.0, NONE, 0]),
            Finding::Pair {
                node,
                first,
                second,
            } => Place([node, second.0, first.0, 0]),
        }
    }
}

/// All instances of TAP-a to f and j among the transactions of `index`, which must be an index of `resolution`;
/// ambiguous reads that the index leaves out are left out here, too.
///
/// Counts reads for a to f, and for j the pairs of consecutive reads of a key by one transaction that return versions
/// of different other transactions. At most `max_instances` are listed per pattern, those with few transactions first,
/// then in node order, and among those of j one that contradicts read committed, if there is one. O(operations), in
/// parallel, and O(n^1.5) once if there is a TAP-j.
pub fn instances(
    history: &History,
    resolution: &Resolution,
    index: &Index,
    max_instances: usize,
    control: &Control,
) -> Result<Instances, Interrupt> {
    let mut all = findings(history, resolution, index, max_instances, control)?;
    let backward = if all
        .listed
        .iter()
        .any(|finding| finding.pattern() == Pattern::NonRepeatableRead)
    {
        Some(BackwardReads::new(index, control)?)
    } else {
        None
    };
    let mut found = Instances {
        counts: std::mem::take(&mut all.counts),
        ..Instances::default()
    };
    let mut describe = Describe {
        history,
        resolution,
        index,
        backward,
    };
    found.violations = all.into_violations(&mut describe);
    let n_pairs = found
        .counts
        .get(&Pattern::NonRepeatableRead)
        .map_or(0, |&n| n);
    let goes_back = |violation: &Violation| matches!(violation.proof, Proof::Cycle(_));
    let may_hide = n_pairs > max_instances as u64 && !found.violations.iter().any(goes_back);
    if let Some(last) = found.violations.last_mut().filter(|_| may_hide) {
        let all = findings(history, resolution, index, usize::MAX, control)?.listed;
        let pairs = all
            .into_iter()
            .filter(|finding| finding.pattern() == Pattern::NonRepeatableRead);
        if let Some(backward) = pairs.map(|pair| describe.violation(pair)).find(goes_back) {
            let Violation { id, group, .. } = *last;
            *last = Violation {
                id,
                group,
                ..backward
            };
        }
    }
    let listed: BTreeMap<Pattern, usize> =
        found
            .violations
            .iter()
            .fold(BTreeMap::new(), |mut listed, violation| {
                *listed.entry(violation.id.pattern).or_default() += 1;
                listed
            });
    let mut wanted = |pattern, number, _: Place| {
        let listed = listed.get(&pattern).map_or(0, |&n| n);
        (number < max_instances.saturating_sub(listed)).then_some((listed + number) as u32 + 1)
    };
    list_reads::add(
        history,
        index,
        &is_known(resolution),
        &mut wanted,
        &mut found,
        control,
    )?;
    Ok(found)
}

/// The counted instances of a pattern that `window` wants, with their ordinals: those of single reads and pairs of
/// reads in node order, then those visible only in the rest of a list. Same time as [`instances`].
pub(super) fn unlisted(
    history: &History,
    resolution: &Resolution,
    index: &Index,
    pattern: Pattern,
    window: &mut Window,
    control: &Control,
) -> Result<Vec<Violation>, Interrupt> {
    let mut all = findings(history, resolution, index, usize::MAX, control)?.listed;
    all.retain(|finding| finding.pattern() == pattern);
    let wanted: Vec<(Finding, u64)> = all
        .into_iter()
        .filter_map(|finding| Some((finding, window.admits(finding.place())?)))
        .collect();
    let backward = if wanted.is_empty() || pattern != Pattern::NonRepeatableRead {
        None
    } else {
        Some(BackwardReads::new(index, control)?)
    };
    let mut describe = Describe {
        history,
        resolution,
        index,
        backward,
    };
    let mut found = Instances::default();
    for (finding, ordinal) in wanted {
        let mut violation = describe.violation(finding);
        violation.id.ordinal = ordinal as u32;
        found.violations.push(violation);
    }
    let mut admit = |of: Pattern, _, place| {
        if of == pattern {
            window.admits(place).map(|ordinal| ordinal as u32)
        } else {
            None
        }
    };
    list_reads::add(
        history,
        index,
        &is_known(resolution),
        &mut admit,
        &mut found,
        control,
    )?;
    Ok(found.violations)
}

/// Whether what the last element of a list shows has been counted as what the read returned.
fn is_known(resolution: &Resolution) -> impl Fn(Pattern, OperationId) -> bool + '_ {
    |pattern, read| match resolution.source(read) {
        Source::ThinAir => pattern == Pattern::ThinAirRead,
        Source::Aborted { .. } => pattern == Pattern::AbortedRead,
        Source::Future { .. } => pattern == Pattern::FutureRead,
        Source::Transaction { intermediate, .. } => {
            intermediate && pattern == Pattern::IntermediateRead
        }
        _ => false,
    }
}

/// Counts, and at most this many findings of each pattern in node order.
fn findings(
    history: &History,
    resolution: &Resolution,
    index: &Index,
    max_instances: usize,
    control: &Control,
) -> Result<ChunkResult, Interrupt> {
    let n = index.n_nodes();
    let chunks: Vec<std::ops::Range<usize>> = (0..n)
        .step_by(CHUNK)
        .map(|b| b..(b + CHUNK).min(n))
        .collect();
    let parts: Vec<ChunkResult> = chunks
        .into_par_iter()
        .map_init(
            || vec![NONE; index.n_keys()],
            |last_read, nodes| {
                control.check()?;
                let mut part = ChunkResult {
                    max_instances,
                    ..ChunkResult::default()
                };
                nodes.for_each(|node| {
                    part.look_at(history, resolution, index, node as Node, last_read)
                });
                Ok(part)
            },
        )
        .collect::<Result<_, Interrupt>>()?;
    let mut all = ChunkResult {
        max_instances,
        ..ChunkResult::default()
    };
    for part in parts {
        for (pattern, count) in part.counts {
            *all.counts.entry(pattern).or_default() += count;
        }
        all.listed.extend(part.listed);
    }
    all.listed.sort_by_key(|finding| finding.pattern());
    Ok(all)
}

#[derive(Default)]
struct ChunkResult {
    max_instances: usize,
    counts: BTreeMap<Pattern, u64>,
    listed: Vec<Finding>,
}

impl ChunkResult {
    fn add(&mut self, finding: Finding) {
        let count = self.counts.entry(finding.pattern()).or_default();
        *count += 1;
        if *count <= self.max_instances as u64 {
            self.listed.push(finding);
        }
    }

    /// Examines one transaction. `last_read` holds, by key, the last read of the key that returned another
    /// transaction's version; entries left by other transactions are recognized by their place.
    fn look_at(
        &mut self,
        history: &History,
        resolution: &Resolution,
        index: &Index,
        node: Node,
        last_read: &mut [u32],
    ) {
        let t = index.transaction[node as usize];
        let mut next = index.reads_of(node);
        for read in history.operations_of(t) {
            if history.kinds()[read.index()] != OperationKind::Read {
                continue;
            }
            let mut found = |pattern| {
                self.add(Finding::Read {
                    pattern,
                    node,
                    read,
                })
            };
            if next.start == next.end || index.read_operation[next.start] != read {
                match resolution.source_in(t, read) {
                    Source::ThinAir => found(Pattern::ThinAirRead),
                    Source::Aborted { .. } => found(Pattern::AbortedRead),
                    Source::Future { .. } => found(Pattern::FutureRead),
                    Source::OwnOverwritten { .. } => found(Pattern::NotMyLastWrite),
                    // Whichever of its sources is the actual one.
                    _ if resolution.is_open_after_own_write(read) => found(Pattern::NotMyOwnWrite),
                    _ => {}
                }
                if !resolution.is_open_after_own_write(read) {
                    continue;
                }
            } else {
                next.start += 1;
                if resolution.is_irregular(read) {
                    let (own, intermediate) = irregularities(resolution.source_in(t, read));
                    if own {
                        found(Pattern::NotMyOwnWrite);
                    }
                    if intermediate {
                        found(Pattern::IntermediateRead);
                    }
                }
            }
            let last = &mut last_read[history.keys()[read.index()].index()];
            let first = OperationId(std::mem::replace(last, read.0));
            if history.operation_range(t).contains(&first.index())
                && differ(resolution, index, node, first, read)
            {
                self.add(Finding::Pair {
                    node,
                    first,
                    second: read,
                });
            }
        }
    }

    fn into_violations(self, describe: &mut Describe<'_>) -> Vec<Violation> {
        let mut all = Vec::new();
        for findings in self.listed.chunk_by(|a, b| a.pattern() == b.pattern()) {
            let mut violations: Vec<Violation> = findings
                .iter()
                .take(self.max_instances)
                .map(|&finding| describe.violation(finding))
                .collect();
            violations.sort_by_key(Violation::size);
            for (place, violation) in violations.iter_mut().enumerate() {
                violation.id.ordinal = place as u32 + 1;
                violation.group = place as u32 + 1;
            }
            all.append(&mut violations);
        }
        all
    }
}

/// The place in the index of an external read of a node; `None` for a read that the index leaves out. O(log of its
/// reads).
fn place_in(index: &Index, node: Node, read: OperationId) -> Option<usize> {
    let reads = index.reads_of(node);
    let place = index.read_operation[reads.clone()]
        .binary_search(&read)
        .ok()?;
    Some(reads.start + place)
}

/// Whether two reads of a key by a node return versions of different transactions.
fn differ(
    resolution: &Resolution,
    index: &Index,
    node: Node,
    first: OperationId,
    second: OperationId,
) -> bool {
    match (place_in(index, node, first), place_in(index, node, second)) {
        (Some(one), Some(other)) => index.read_slot[one] != index.read_slot[other],
        _ => !resolution.may_share_source(first, second),
    }
}

/// Whether a read comes after an own write, and whether its version was overwritten by its writer.
fn irregularities(source: Source) -> (bool, bool) {
    match source {
        Source::Initial { after_own_write } => (after_own_write, false),
        Source::Transaction {
            intermediate,
            after_own_write,
            ..
        } => (after_own_write, intermediate),
        _ => (false, false),
    }
}

/// Turns findings into violations.
struct Describe<'a> {
    history: &'a History,
    resolution: &'a Resolution,
    index: &'a Index,
    backward: Option<BackwardReads<'a>>,
}

impl Describe<'_> {
    fn violation(&mut self, finding: Finding) -> Violation {
        let violation = match finding {
            Finding::Read {
                pattern,
                node,
                read,
            } => self.wrong_read(pattern, node, read),
            Finding::Pair {
                node,
                first,
                second,
            } => self.non_repeatable(node, first, second),
        };
        Violation {
            place: Some(finding.place()),
            ..violation
        }
    }

    fn wrong_read(&self, pattern: Pattern, node: Node, read: OperationId) -> Violation {
        let t = self.index.transaction[node as usize];
        let key = self.history.keys()[read.index()];
        let source = self.resolution.source_in(t, read);
        let (after_own_write, mut intermediate) = irregularities(source);
        intermediate &= !self.resolution.is_open_after_own_write(read);
        let mut also = Vec::new();
        let mut operations = Vec::new();
        // After own appends it does not matter which transaction appended the last element of a list.
        let is_open = pattern == Pattern::NotMyOwnWrite
            && self.history.lists().read_by(read).is_some()
            && self.resolution.is_open_after_own_write(read);
        let edges: Vec<Edge> = read_edge(self.history, read, source)
            .into_iter()
            .filter(|_| !is_open)
            .collect();
        let transactions = edges.iter().map(|edge| edge.from).chain([t]).collect();
        match (pattern, source) {
            (Pattern::AbortedRead, _) => also.extend(["C4 TAP-b", "G1a"]),
            (Pattern::FutureRead, Source::Future { write }) => {
                operations.extend([read, write]);
                also.push("C4 TAP-c");
            }
            (Pattern::NotMyLastWrite, Source::OwnOverwritten { write }) => {
                operations.push(write);
                operations.extend(last_write(self.history, t, key, |o| o < read));
                operations.push(read);
            }
            (Pattern::NotMyOwnWrite, _) => {
                operations.extend(last_write(self.history, t, key, |o| o < read));
                operations.extend(is_open.then_some(read));
                also.push("C4 TAP-d");
                if intermediate {
                    also.extend(["TAP-f", "G1b"]);
                }
            }
            (Pattern::IntermediateRead, Source::Transaction { writer, .. }) => {
                operations.extend(last_write(self.history, writer, key, |_| true));
                if after_own_write {
                    also.extend(["TAP-d", "C4 TAP-d"])
                } else {
                    also.push("C4 TAP-e")
                }
                also.push("G1b");
            }
            _ => {
                operations.push(read);
                also.push("C4 TAP-a");
            }
        }
        Violation {
            also: also.into_iter().map(str::to_owned).collect(),
            key: Some(self.history.keys()[read.index()]),
            transactions,
            operations,
            edges,
            ..Violation::new(
                pattern,
                1,
                LevelSet::upward(Level::AdyaReadCommitted),
                Proof::Reads(None),
            )
        }
    }

    fn non_repeatable(&mut self, node: Node, first: OperationId, second: OperationId) -> Violation {
        let index = self.index;
        let t3 = index.transaction[node as usize];
        let edge = |read: OperationId| match place_in(index, node, read) {
            Some(place) => Some(index.read_edge(self.history, node, place)),
            None => read_edge(self.history, read, self.resolution.source_in(t3, read)),
        };
        let mut edges: Vec<Edge> = [first, second].into_iter().filter_map(edge).collect();
        let mut transactions: Vec<TransactionId> =
            edges.iter().map(|edge| edge.from).chain([t3]).collect();
        // If both reads may have the same writer, another choice of sources violates read committed only.
        let mut levels = if self.resolution.may_share_source(first, second) {
            LevelSet::upward(Level::ReadAtomic)
        } else {
            cut_isolation::violated(self.history, &[first, second])
        };
        let mut also = vec!["C4 TAP-f".to_owned()];
        let mut proof = Proof::Reads(None);
        if let (Some(backward), Some(one), Some(other)) = (
            self.backward.as_mut(),
            place_in(index, node, first),
            place_in(index, node, second),
        ) && let Some(cycle) = backward.cycle(self.history, node, one, other, &mut edges)
        {
            levels = levels.union(LevelSet::upward(Level::ReadCommitted));
            also.push("G-monotonic".to_owned());
            proof = Proof::Cycle(cycle);
            for end in edges.iter().flat_map(|edge| [edge.from, edge.to]) {
                if !end.is_initial() && !transactions.contains(&end) {
                    transactions.push(end);
                }
            }
        }
        Violation {
            also,
            key: Some(self.history.keys()[first.index()]),
            transactions,
            edges,
            ..Violation::new(Pattern::NonRepeatableRead, 1, levels, proof)
        }
    }
}

/// The write-read edge into a read with this source, a writer or ⊥; `None` for other sources.
fn read_edge(history: &History, read: OperationId, source: Source) -> Option<Edge> {
    let (from, from_operation) = match source {
        Source::Transaction { writer, write, .. } | Source::Aborted { writer, write } => {
            (writer, Some(write))
        }
        Source::Initial { .. } => (TransactionId::INITIAL, None),
        _ => return None,
    };
    Some(Edge::write_read(history, from, from_operation, read))
}

#[cfg(test)]
mod tests;
