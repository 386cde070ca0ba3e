//! Plume's letters, counted by the rule of its published program instead of Table 1.
//!
//! Source: the program published with Plume (dracoooooo/Plume 8378f4a, at level TCC), whose counts are those of the paper's
//! Table 4. It differs from the paper's formulas, and from [`plume`](super::plume), in what it counts:
//!
//! * It goes by values. A read returns the last write of its value so far, or else the next one, with transactions
//!   processed in rounds, one of each session. Writes of the initial value are ignored, and reads of it return ⊥.
//! * TAP-a counts once in a history, TAP-b by version, TAP-c and f by read, TAP-d, e and j by reads that differ from
//!   what the transaction last read or wrote of the key, TAP-g by write-read edges (key, writer, reader) on a cycle.
//! * TAP-h to n are counted for each read of a key by t3 from t1, and each other writer t2 of the key that precedes t3
//!   causally and follows t1, causally (h, k, m) or in the commit order (i, l, n) that the causal axiom forces. Each
//!   read of t3 from t2 counts, as h or i if it comes before the first one, else as k or l; so does t2 as the
//!   transaction just before t3 in its session, as k or l. Only if there is neither is it m or n. Reads of the same key
//!   do not count in causal order, but do in commit order.
//! * If t1 is ⊥, a write of t2 and a read of t3 match by value, and session order is no reason for k.
//! * Cycles of SO ∪ WR are not excluded.
//! * For lists the last element is the value. Consecutive elements order their writers in the commit order, TAP-c
//!   counts elements, and the empty list has no letters.
//!
//! Two things follow that program's intention, not its behaviour. It compares keys by object, so reads of the same key
//! count as reads of another one if keys are numbers above 127. And its clocks may miss what was added to a clock after
//! it had been copied; here the closures are exact.
//!
//! O(r · w) questions for r reads and w writers of a key, and twice the memory of the [`Order`].

use super::commit::Edges;
use super::order::{Order, Reachability};
use super::search::Fixed;
use isoscope_check::checkers::{Cause, Level, Pattern};
use isoscope_model::control::Control;
use isoscope_model::graph::Digraph;
use isoscope_model::history::{
    History, KeyId, OperationId, OperationKind, Outcome, TransactionId, Value,
};
use isoscope_model::relations::{Index, NONE, Node};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The letters that `levels` prohibit, each with its number of instances; letters that do not occur are left out. Read
/// committed alone has TAP-h only by reads of ⊥, and no TAP-i: the program ends before it looks for others.
pub(super) fn count(
    history: &History,
    index: &Index,
    levels: &[Level],
    means: Reachability,
    control: &Control,
) -> Result<BTreeMap<Pattern, u64>, Cause> {
    let mut program = Program::new(history, index);
    program.read_all(control)?;
    program.wrong_reads();
    let causal = Digraph::new(index.n_nodes(), program.causal_edges());
    let mut co = Order::new(&causal, index, means, control)?;
    program.cycles(&mut co);
    program.initial_reads(&mut co, control)?;
    if levels.iter().any(|level| level.implies(Level::ReadAtomic)) {
        let forced = program.forced(&mut co, control)?;
        let commit = Digraph::new(index.n_nodes(), program.causal_edges().chain(forced));
        let mut cm = Order::new(&commit, index, means, control)?;
        program.triples(&mut co, &mut cm, control)?;
    }
    let mut counts = program.counts;
    counts.retain(|pattern, n| {
        *n > 0
            && levels
                .iter()
                .any(|level| level.implies(pattern.row().level))
    });
    Ok(counts)
}

/// A key with a value; ⊥ is [`Value::INITIAL`] however it is written.
type Version = (KeyId, Value);

/// A read of a version of another transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Read {
    t3: Node,
    read: OperationId,
    key: KeyId,
    t1: Node,
}

struct Program<'a> {
    history: &'a History,
    index: &'a Index,
    /// By node: the previous non-empty transaction in its session, or [`NONE`].
    previous: Vec<Node>,
    counts: BTreeMap<Pattern, u64>,
    /// The last write of each version so far.
    written: FxHashMap<Version, (Node, OperationId)>,
    /// By key: its writers, each once.
    writers: Vec<Vec<Node>>,
    /// Writes that their transaction overwrote.
    overwritten: FxHashSet<OperationId>,
    /// Reads of versions that some transaction wrote, including the reader.
    explained: Vec<(Node, OperationId)>,
    /// Those of versions of others; finally by reader and in program order.
    external: Vec<Read>,
    /// Reads of ⊥.
    initial: Vec<(Node, OperationId)>,
    /// Reads of versions that no transaction has written so far.
    unexplained: FxHashMap<Version, Vec<(Node, OperationId)>>,
}

impl<'a> Program<'a> {
    fn new(history: &'a History, index: &'a Index) -> Program<'a> {
        Program {
            history,
            index,
            previous: vec![NONE; index.n_nodes()],
            counts: BTreeMap::new(),
            written: FxHashMap::default(),
            writers: vec![Vec::new(); history.n_keys()],
            overwritten: FxHashSet::default(),
            explained: Vec::new(),
            external: Vec::new(),
            initial: Vec::new(),
            unexplained: FxHashMap::default(),
        }
    }

    fn add(&mut self, pattern: Pattern, more: u64) {
        *self.counts.entry(pattern).or_default() += more;
    }

    fn is_read(&self, o: OperationId) -> bool {
        self.history.kinds()[o.index()] == OperationKind::Read
    }

    fn key(&self, o: OperationId) -> KeyId {
        self.history.keys()[o.index()]
    }

    fn version(&self, o: OperationId) -> Version {
        let (key, value) = (self.key(o), self.history.values()[o.index()]);
        (
            key,
            if self.history.may_be_initial(key, value) {
                Value::INITIAL
            } else {
                value
            },
        )
    }

    fn operations(&self, t: Node) -> impl Iterator<Item = OperationId> + use<'a> {
        let history = self.history;
        let recorded = |o: &OperationId| history.values()[o.index()] != Value::UNRECORDED;
        history
            .operations_of(self.index.transaction[t as usize])
            .filter(recorded)
    }

    /// All non-empty transactions, in rounds: the first of each session, the second of each session, … Those that set
    /// up the initial state have their places, though nothing follows from them.
    fn rounds(&mut self) -> Vec<Node> {
        let (history, index) = (self.history, self.index);
        let mut places = Vec::with_capacity(index.n_nodes());
        for session in history.sessions() {
            let does_something = |&t: &TransactionId| {
                let takes_part =
                    index.node[t.index()] != NONE || history.outcome(t) == Outcome::Committed;
                takes_part && !history.operation_range(t).is_empty()
            };
            let mut last = NONE;
            for (round, t) in history
                .transactions_of(session)
                .filter(does_something)
                .enumerate()
            {
                let node = index.node[t.index()];
                if node != NONE {
                    self.previous[node as usize] = last;
                    places.push((round, node));
                }
                last = node;
            }
        }
        places.sort_unstable();
        places.into_iter().map(|(_, t)| t).collect()
    }

    /// Determines what every read returns; TAP-d, e and j are found on the way.
    fn read_all(&mut self, control: &Control) -> Result<(), Cause> {
        for (step, t) in self.rounds().into_iter().enumerate() {
            control.tick(step)?;
            let mut last: FxHashMap<KeyId, OperationId> = FxHashMap::default();
            let mut last_write: FxHashMap<KeyId, OperationId> = FxHashMap::default();
            for o in self.operations(t) {
                let (key, value) = self.version(o);
                if self.is_read(o) {
                    if let Some(before) = last.insert(key, o) {
                        self.compare(t, before, o);
                    }
                    self.read(t, o);
                } else if value != Value::INITIAL {
                    last.insert(key, o);
                    self.overwritten.extend(last_write.insert(key, o));
                    self.write(t, o);
                }
            }
        }
        self.external.sort_unstable();
        Ok(())
    }

    /// A read of a key, and what the transaction did with the key just before.
    fn compare(&mut self, t: Node, before: OperationId, read: OperationId) {
        let version = self.version(read);
        if self.version(before) == version {
            return;
        }
        if self.is_read(before) {
            return self.add(Pattern::NonRepeatableRead, 1);
        }
        let is_same = |&o: &OperationId| !self.is_read(o) && self.version(o) == version;
        match self
            .operations(t)
            .take_while(|&o| o < before)
            .filter(is_same)
            .count() as u64
        {
            0 => self.add(Pattern::NotMyOwnWrite, 1),
            n => self.add(Pattern::NotMyLastWrite, n),
        }
    }

    fn read(&mut self, t3: Node, read: OperationId) {
        let version = self.version(read);
        match self.written.get(&version) {
            _ if version.1 == Value::INITIAL => self.initial.push((t3, read)),
            Some(&(t1, _)) => self.explain(t3, read, t1),
            None => self
                .unexplained
                .entry(version)
                .or_default()
                .push((t3, read)),
        }
    }

    fn write(&mut self, t1: Node, write: OperationId) {
        let version = self.version(write);
        self.written.insert(version, (t1, write));
        let writers = &mut self.writers[version.0.index()];
        if writers.last() != Some(&t1) {
            writers.push(t1);
        }
        for (t3, read) in self.unexplained.remove(&version).unwrap_or_default() {
            self.explain(t3, read, t1);
        }
    }

    fn explain(&mut self, t3: Node, read: OperationId, t1: Node) {
        self.explained.push((t3, read));
        if t1 != t3 {
            self.external.push(Read {
                t3,
                read,
                key: self.key(read),
                t1,
            });
        }
    }

    /// TAP-a, b, c and f.
    fn wrong_reads(&mut self) {
        let history = self.history;
        let of_aborted = history
            .transactions()
            .filter(|&t| history.outcome(t) == Outcome::Aborted);
        let of_aborted = of_aborted
            .flat_map(|t| history.operations_of(t))
            .filter(|&o| !self.is_read(o));
        let aborted: FxHashSet<Version> = of_aborted.map(|o| self.version(o)).collect();
        let n_aborted = self
            .unexplained
            .keys()
            .filter(|version| aborted.contains(version))
            .count();
        let is_other = |write: &(Node, OperationId), t: Node| write.0 != t;
        let (mut future, mut intermediate) = (0, 0);
        for &(t, read) in &self.explained {
            let (key, value) = self.version(read);
            let write = self.written[&(key, value)];
            intermediate += u64::from(is_other(&write, t) && self.overwritten.contains(&write.1));
            let elements = history
                .lists()
                .read_by(read)
                .unwrap_or(std::slice::from_ref(&value));
            let later = |element: &&Value| {
                self.written
                    .get(&(key, **element))
                    .is_some_and(|write| !is_other(write, t) && write.1 > read)
            };
            future += elements.iter().filter(later).count() as u64;
        }
        self.add(Pattern::AbortedRead, n_aborted as u64);
        self.add(
            Pattern::ThinAirRead,
            u64::from(n_aborted < self.unexplained.len()),
        );
        self.add(Pattern::FutureRead, future);
        self.add(Pattern::IntermediateRead, intermediate);
    }

    /// SO ∪ WR.
    fn causal_edges(&self) -> impl Iterator<Item = (Node, Node)> + Clone + '_ {
        let session =
            (0..self.index.n_nodes() as Node).filter_map(|t| Some((t, self.index.successor(t)?)));
        session.chain(self.external.iter().map(|read| (read.t1, read.t3)))
    }

    /// The write-read edges, each once.
    fn write_read(&self) -> Vec<(Node, KeyId, Node)> {
        let mut edges: Vec<_> = self
            .external
            .iter()
            .map(|read| (read.t3, read.key, read.t1))
            .collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// TAP-g.
    fn cycles(&mut self, co: &mut Order<'_>) {
        let on_cycle = self
            .write_read()
            .into_iter()
            .filter(|&(t3, _, t1)| co.precedes(t3, t1, Fixed::End))
            .count();
        self.add(Pattern::CyclicCO, on_cycle as u64);
    }

    /// TAP-h, k and m if t1 is ⊥.
    fn initial_reads(&mut self, co: &mut Order<'_>, control: &Control) -> Result<(), Cause> {
        let initial = std::mem::take(&mut self.initial);
        for of_one in initial.chunk_by(|a, b| a.0 == b.0) {
            control.check()?;
            let t3 = of_one[0].0;
            let reads = self.operations(t3).filter(|&o| self.is_read(o));
            let mut reads: Vec<(Version, OperationId)> =
                reads.map(|o| (self.version(o), o)).collect();
            reads.sort_unstable();
            for &(_, read) in of_one {
                let x = self.key(read);
                if self.history.lists().is_list(x) {
                    continue;
                }
                let (mut before, mut after, mut neither) = (0, 0, 0);
                for (step, &t2) in self.writers[x.index()].iter().enumerate() {
                    control.tick(step + 1)?;
                    if t2 == t3 || !co.precedes(t2, t3, Fixed::End) {
                        continue;
                    }
                    let mut any = false;
                    for write in self
                        .operations(t2)
                        .filter(|&o| !self.is_read(o) && self.key(o) != x)
                    {
                        for matching in equal(&reads, |entry| entry.0, self.version(write)) {
                            any = true;
                            *(if matching.1 < read {
                                &mut before
                            } else {
                                &mut after
                            }) += 1;
                        }
                    }
                    neither += u64::from(!any);
                }
                self.add(Pattern::NonMonoReadCO, before);
                self.add(Pattern::FracturedReadCO, after);
                self.add(Pattern::COConflictCM, neither);
            }
        }
        Ok(())
    }

    /// What the causal axiom and the elements of lists add to SO ∪ WR.
    fn forced(&self, co: &mut Order<'_>, control: &Control) -> Result<Vec<(Node, Node)>, Cause> {
        let mut forced = Edges::new(control);
        for (t3, key, t1) in self.write_read() {
            control.check()?;
            for &t2 in &self.writers[key.index()] {
                let is_third = t2 != t1 && t2 != t3 && co.precedes(t2, t3, Fixed::End);
                if is_third && !(co.is_cheap() && co.precedes(t2, t1, Fixed::End)) {
                    forced.add(t2, t1)?;
                }
            }
        }
        for &(_, read) in &self.explained {
            let elements = self.history.lists().read_by(read).unwrap_or_default();
            let writer = |element: &Value| {
                self.written
                    .get(&(self.key(read), *element))
                    .map(|write| write.0)
            };
            let writers: Vec<Node> = elements.iter().filter_map(writer).collect();
            for pair in writers.windows(2).filter(|pair| pair[0] != pair[1]) {
                forced.add(pair[0], pair[1])?;
            }
        }
        Ok(forced.into_edges())
    }

    /// TAP-h to n if t1 is a transaction.
    fn triples(
        &mut self,
        co: &mut Order<'_>,
        cm: &mut Order<'_>,
        control: &Control,
    ) -> Result<(), Cause> {
        let external = std::mem::take(&mut self.external);
        // Before, later and neither; in causal order, then in commit order.
        let mut counts = [[0u64; 3]; 2];
        for of_one in external.chunk_by(|a, b| a.t3 == b.t3) {
            control.check()?;
            let mut by_writer = of_one.to_vec();
            by_writer.sort_unstable_by_key(|read| (read.t1, read.read));
            for &Read { t3, read, key, t1 } in of_one {
                for (step, &t2) in self.writers[key.index()].iter().enumerate() {
                    control.tick(step + 1)?;
                    if t2 == t1 || t2 == t3 || !co.precedes(t2, t3, Fixed::End) {
                        continue;
                    }
                    let in_causal_order = co.precedes(t1, t2, Fixed::Start);
                    if !in_causal_order && !cm.precedes(t1, t2, Fixed::Start) {
                        continue;
                    }
                    let [before, later, neither] = &mut counts[usize::from(!in_causal_order)];
                    let from_t2 = equal(&by_writer, |read| read.t1, t2);
                    let is_previous = self.previous[t3 as usize] == t2;
                    *later += u64::from(is_previous);
                    *neither += u64::from(!is_previous && from_t2.is_empty());
                    for other in from_t2
                        .iter()
                        .filter(|other| !in_causal_order || other.key != key)
                    {
                        *(if other.read < read {
                            &mut *before
                        } else {
                            &mut *later
                        }) += 1;
                    }
                }
            }
        }
        let patterns = [
            [
                Pattern::NonMonoReadCO,
                Pattern::FracturedReadCO,
                Pattern::COConflictCM,
            ],
            [
                Pattern::NonMonoReadCM,
                Pattern::FracturedReadCM,
                Pattern::ConflictCM,
            ],
        ];
        let counted = patterns
            .into_iter()
            .flatten()
            .zip(counts.into_iter().flatten());
        counted.for_each(|(pattern, n)| self.add(pattern, n));
        Ok(())
    }
}

/// The entries with this key of a list that is sorted by keys.
fn equal<T, K: Ord>(sorted: &[T], key: impl Fn(&T) -> K, wanted: K) -> &[T] {
    let begin = sorted.partition_point(|entry| key(entry) < wanted);
    let n = sorted[begin..].partition_point(|entry| key(entry) == wanted);
    &sorted[begin..begin + n]
}
