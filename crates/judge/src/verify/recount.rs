//! The instances of patterns, recounted where that is cheap.
//!
//! Wrong reads and pairs of reads take a pass over the operations. Cycles of session order and reads, the letters h to
//! n and two updates of one version take the closure of a graph and a look at every read and every other writer of its
//! key: that is done for histories of moderate size. Nothing is counted where a read has several possible writers, or
//! an element of a list several appends: the instances then depend on the choice.

use super::elements;
use super::operations::writes_of;
use super::pattern::{self, GRID};
use super::resolution::{Resolution, Source};
use fixedbitset::FixedBitSet;
use isoscope_model::history::{History, KeyId, OperationId, OperationKind, TransactionId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of steps for one closure, and for the pass over reads and writers.
const MOST_STEPS: usize = 40_000_000;

/// By pattern: how many instances there are. Patterns that were not counted are absent.
#[derive(Clone, Debug, Default)]
pub(super) struct Recount {
    counts: FxHashMap<&'static str, u64>,
    causality: Option<Causality>,
}

impl Recount {
    /// Counts what can be counted.
    pub(super) fn new(history: &History, resolution: &Resolution<'_>) -> Recount {
        let mut recount = Recount::default();
        if elements::concerns(history) || is_ambiguous(history, resolution) {
            return recount;
        }
        let reads = Reads::new(history, resolution);
        recount.of_single_reads(history, resolution);
        recount.divergences(history, &reads);
        recount.causality = Causality::new(history, &reads);
        // The version order that lists show is not used here.
        if let Some(causality) = recount
            .causality
            .as_ref()
            .filter(|_| history.lists().is_empty())
        {
            let counted = causality.letters(&reads);
            recount.counts.extend(counted);
        }
        recount
    }

    /// The number of instances of a pattern, if it is known.
    pub(super) fn of(&self, pattern: &str) -> Option<u64> {
        self.counts.get(pattern).copied()
    }

    /// Whether a pattern can only be looked for where a level above CI is violated.
    pub(super) fn needs_violation(pattern: &str) -> bool {
        pattern::cell(pattern).is_some() || matches!(pattern, "TAP-g" | "Divergence")
    }

    /// Whether the one transaction causally precedes the other, if that is known.
    pub(super) fn precedes(&self, a: TransactionId, b: TransactionId) -> Option<bool> {
        let causality = self.causality.as_ref()?;
        Some(causality.precedes(*causality.node.get(&a)?, *causality.node.get(&b)?))
    }

    /// TAP-a to f and j, and what is wrong with lists. O(operations + elements read).
    fn of_single_reads(&mut self, history: &History, resolution: &Resolution<'_>) {
        let mut found: FxHashSet<(&'static str, OperationId)> = FxHashSet::default();
        let mut pairs = 0;
        let mut last: FxHashMap<KeyId, TransactionId> = FxHashMap::default();
        let lists: Vec<OperationId> = history.lists().iter().map(|(read, _)| read).collect();
        for t in members(history, resolution) {
            last.clear();
            for o in history
                .operations_of(t)
                .filter(|&o| history.operation(o).kind == OperationKind::Read)
            {
                found.extend(wrong(resolution.source(o)).into_iter().map(|id| (id, o)));
                if let Source::Other { writer, .. } = resolution.source(o) {
                    let before = last.insert(history.operation(o).key, writer);
                    pairs += u64::from(before.is_some_and(|before| before != writer));
                }
            }
        }
        let wrong_list = |o: &OperationId| resolution.is_member(history.transaction_of(*o));
        for &o in lists
            .iter()
            .filter(|o| wrong_list(o) && !resolution.is_setup(history.transaction_of(**o)))
        {
            let shown = pattern::all().filter(|id| pattern::is_wrong_read(id));
            found.extend(
                shown
                    .filter(|id| super::list_evidence::shows(history, resolution, id, o))
                    .map(|id| (id, o)),
            );
        }
        for id in pattern::all().filter(|id| pattern::is_wrong_read(id)) {
            // Which of two incompatible lists is the wrong one is a matter of convention, and so is which setup
            // elements a list lacks at its beginning.
            if lists.is_empty() || id != "IncompatibleOrder" && history.set_up().is_empty() {
                self.counts
                    .insert(id, found.iter().filter(|(of, _)| *of == id).count() as u64);
            }
        }
        self.counts.insert("TAP-j", pairs);
    }

    /// Pairs of transactions that both read a version of a key and write the key. O(reads).
    fn divergences(&mut self, history: &History, reads: &Reads) {
        let writes = |t: TransactionId, key: KeyId| writes_of(history, t, key).next().is_some();
        let mut updates: FxHashMap<(KeyId, TransactionId), FxHashSet<TransactionId>> =
            FxHashMap::default();
        for (reader, of_reader) in reads.of.iter().enumerate() {
            let t = reads.members[reader];
            for read in of_reader
                .iter()
                .filter(|read| read.writer != t && writes(t, read.key))
            {
                updates
                    .entry((read.key, read.writer))
                    .or_default()
                    .insert(t);
            }
        }
        let pairs = |n: u64| n * n.saturating_sub(1) / 2;
        self.counts.insert(
            "Divergence",
            updates
                .values()
                .map(|readers| pairs(readers.len() as u64))
                .sum(),
        );
    }
}

fn members<'h, 'r>(
    history: &'h History,
    resolution: &'h Resolution<'r>,
) -> impl Iterator<Item = TransactionId> + use<'h, 'r> {
    history
        .transactions()
        .filter(|&t| resolution.is_member(t) && !resolution.is_setup(t))
}

/// Whether a read of a possible participant has several possible writers.
fn is_ambiguous(history: &History, resolution: &Resolution<'_>) -> bool {
    let reads = history
        .transactions()
        .flat_map(|t| history.operations_of(t));
    let mut reads = reads.filter(|&o| {
        let operation = history.operation(o);
        operation.kind == OperationKind::Read && operation.value != Value::UNRECORDED
    });
    reads.any(|read| {
        let mut writers = resolution.each_writer(read);
        let first = writers.next();
        writers.any(|writer| Some(writer) != first)
    })
}

/// The patterns that a read is an instance of because of where it comes from.
fn wrong(source: Source) -> Vec<&'static str> {
    match source {
        Source::ThinAir => vec!["TAP-a"],
        Source::Aborted => vec!["TAP-b"],
        Source::Future => vec!["TAP-c"],
        Source::OverwrittenOwn => vec!["TAP-e"],
        Source::Other {
            after_own_write,
            intermediate,
            ..
        } => {
            let both = [(after_own_write, "TAP-d"), (intermediate, "TAP-f")];
            both.into_iter()
                .filter(|(is, _)| *is)
                .map(|(_, id)| id)
                .collect()
        }
        Source::OpenAfterOwnWrite => vec!["TAP-d"],
        Source::Own | Source::Unrecorded | Source::Ambiguous => Vec::new(),
    }
}

/// A read from another transaction, ⊥ included.
#[derive(Clone, Copy)]
struct ReadFrom {
    operation: OperationId,
    key: KeyId,
    writer: TransactionId,
}

/// The members, and the transactions that each reads from.
struct Reads {
    members: Vec<TransactionId>,
    /// By member: its reads in program order.
    of: Vec<Vec<ReadFrom>>,
    /// By key: the members that write it.
    writers: FxHashMap<KeyId, Vec<usize>>,
}

impl Reads {
    fn new(history: &History, resolution: &Resolution<'_>) -> Reads {
        let mut reads = Reads {
            members: members(history, resolution).collect(),
            of: Vec::new(),
            writers: FxHashMap::default(),
        };
        for (member, &t) in reads.members.iter().enumerate() {
            let mut of_member = Vec::new();
            for o in history.operations_of(t) {
                let operation = history.operation(o);
                if operation.kind == OperationKind::Write {
                    let writers = reads.writers.entry(operation.key).or_default();
                    if writers.last() != Some(&member) {
                        writers.push(member);
                    }
                } else if let Source::Other { writer, .. } = resolution.source(o) {
                    of_member.push(ReadFrom {
                        operation: o,
                        key: operation.key,
                        writer,
                    });
                }
            }
            reads.of.push(of_member);
        }
        reads
    }
}

/// By vertex of a graph: the vertices reachable by at least one step. O(vertices · edges).
fn closure(out: &[Vec<u32>]) -> Vec<FixedBitSet> {
    let mut open: Vec<u32> = Vec::new();
    let reachable = |next: &Vec<u32>| {
        let mut reached = FixedBitSet::with_capacity(out.len());
        open.extend(next);
        while let Some(at) = open.pop() {
            if !reached.put(at as usize) {
                open.extend(&out[at as usize]);
            }
        }
        reached
    };
    out.iter().map(reachable).collect()
}

/// The closure of session order with reads, and the commit order it forces at each weak level.
#[derive(Clone, Debug)]
struct Causality {
    node: FxHashMap<TransactionId, usize>,
    session: Vec<u32>,
    /// By node: those after it in session order with reads.
    order: Vec<FixedBitSet>,
    /// At RC, RA and TCC: with what the reads force, in which ⊥ is the last vertex.
    commit: [Vec<FixedBitSet>; 3],
}

impl Causality {
    /// None where it would take too long.
    fn new(history: &History, reads: &Reads) -> Option<Causality> {
        let n = reads.members.len();
        let node: FxHashMap<TransactionId, usize> =
            reads.members.iter().copied().zip(0..).collect();
        let session: Vec<u32> = reads
            .members
            .iter()
            .map(|&t| history.session_of(t).0)
            .collect();
        let n_reads: usize = reads.of.iter().map(Vec::len).sum();
        let looks = |of_member: &Vec<ReadFrom>| -> usize {
            let writers = of_member
                .iter()
                .map(|read| reads.writers.get(&read.key).map_or(0, Vec::len));
            writers.sum::<usize>() * of_member.len()
        };
        let n_looks: usize = reads.of.iter().map(looks).sum();
        if (n + 1).saturating_mul(2 * n + n_reads + n_looks.min(n * n)) > MOST_STEPS
            || n_looks > MOST_STEPS
        {
            return None;
        }
        let mut out: Vec<Vec<u32>> = vec![Vec::new(); n];
        for member in 0..n {
            if member + 1 < n && session[member] == session[member + 1] {
                out[member].push(member as u32 + 1);
            }
            for read in reads.of[member]
                .iter()
                .filter(|read| !read.writer.is_initial())
            {
                out[*node.get(&read.writer)?].push(member as u32);
            }
        }
        let mut causality = Causality {
            node,
            session,
            order: closure(&out),
            commit: Default::default(),
        };
        causality.commit = [0, 1, 2].map(|level| {
            let mut out = out.clone();
            out.push((0..n as u32).collect());
            for (t3, read, t2) in causality.triples(reads) {
                let first = reads.of[t3]
                    .iter()
                    .find(|other| causality.is(other.writer, t2));
                let forced = match level {
                    0 => first.is_some_and(|first| first.operation < read.operation),
                    1 => first.is_some() || causality.in_session_order(t2, t3),
                    _ => true,
                };
                if forced {
                    out[t2].push(causality.vertex(read.writer) as u32);
                }
            }
            out.iter_mut().for_each(|row| {
                row.sort_unstable();
                row.dedup();
            });
            closure(&out)
        });
        Some(causality)
    }

    fn is(&self, t: TransactionId, node: usize) -> bool {
        self.node.get(&t) == Some(&node)
    }

    /// The vertex of a transaction; the last one for ⊥.
    fn vertex(&self, t: TransactionId) -> usize {
        self.node.get(&t).copied().unwrap_or(self.session.len())
    }

    fn in_session_order(&self, a: usize, b: usize) -> bool {
        a < b && self.session[a] == self.session[b]
    }

    fn precedes(&self, a: usize, b: usize) -> bool {
        self.order[a].contains(b)
    }

    /// Whether both are on one cycle, within which nothing else follows.
    fn share_cycle(&self, a: usize, b: usize) -> bool {
        let n = self.session.len();
        a < n && b < n && self.precedes(a, b) && self.precedes(b, a)
    }

    /// (t3, its read, t2): t2 precedes t3, writes the key, and is not the transaction that t3 reads from.
    fn triples<'r>(
        &'r self,
        reads: &'r Reads,
    ) -> impl Iterator<Item = (usize, ReadFrom, usize)> + 'r {
        let of_reader = move |t3: usize| {
            let of_read = move |read: &'r ReadFrom| {
                let others = reads.writers.get(&read.key).into_iter().flatten().copied();
                others
                    .map(move |t2| (t3, *read, t2))
                    .filter(move |&(_, read, t2)| {
                        t2 != t3
                            && !self.is(read.writer, t2)
                            && self.precedes(t2, t3)
                            && !self.share_cycle(t2, t3)
                    })
            };
            reads.of[t3].iter().flat_map(of_read)
        };
        (0..reads.of.len()).flat_map(of_reader)
    }

    /// Cycles of session order and reads, and quadruples (key, t1, t2, t3) by letter.
    fn letters(&self, reads: &Reads) -> FxHashMap<&'static str, u64> {
        let n = self.session.len();
        let mut counts: FxHashMap<&'static str, u64> =
            GRID.iter().flatten().map(|&id| (id, 0)).collect();
        let is_first = |t: usize| self.precedes(t, t) && (0..t).all(|u| !self.share_cycle(u, t));
        counts.insert("TAP-g", (0..n).filter(|&t| is_first(t)).count() as u64);
        let mut best: FxHashMap<(KeyId, usize, usize, usize), (usize, usize)> =
            FxHashMap::default();
        for (t3, read, t2) in self.triples(reads) {
            let t1 = self.vertex(read.writer);
            if self.share_cycle(t1, t2) || self.share_cycle(t1, t3) {
                continue;
            }
            let (Some(row), Some(column)) = (self.row(reads, t3, read, t2), self.column(t1, t2))
            else {
                continue;
            };
            let cell = best.entry((read.key, t1, t2, t3)).or_insert((row, column));
            *cell = (*cell).min((row, column));
        }
        for (row, column) in best.into_values() {
            *counts.entry(GRID[row][column]).or_default() += 1;
        }
        counts
    }

    /// How t3 sees t2 when it reads the key: it read another key from it before, session order or such a read later, or
    /// causally, unless by reading the key.
    fn row(&self, reads: &Reads, t3: usize, read: ReadFrom, t2: usize) -> Option<usize> {
        let mut from = reads.of[t3]
            .iter()
            .filter(|other| self.is(other.writer, t2))
            .peekable();
        let reads_from = from.peek().is_some();
        let other = from.find(|other| other.key != read.key);
        match other {
            Some(other) if other.operation < read.operation => Some(0),
            Some(_) => Some(1),
            None if self.in_session_order(t2, t3) => Some(1),
            None => (!reads_from).then_some(2),
        }
    }

    /// How t1 precedes t2: causally, or in every commit order of some level.
    fn column(&self, t1: usize, t2: usize) -> Option<usize> {
        if t1 == self.session.len() || self.precedes(t1, t2) {
            return Some(0);
        }
        self.commit
            .iter()
            .any(|order| order[t1].contains(t2))
            .then_some(1)
    }
}
