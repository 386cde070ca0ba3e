//! Exact counts of the patterns TAP-h, i, k, l, m, n, without enumerating their instances.
//!
//! An instance is a quadruple (key, t1, t2, t3): t3 reads the key from t1, t2 also writes it, t3 sees t2 (mono,
//! fractured or causal) and t1 precedes t2 (causally, or in every commit order). For one read and one chain the
//! matching t2 are ranges of the chain's writers of the key: those t3 sees are the first few, those after t1 the last
//! few, those in the component of t1 are contiguous. Only writers that t3 reads from directly are examined one by one.

use super::SMALL_LIMITS;
use super::causality::{Causality, Components, ForcedEdges};
use super::chains::Chains;
use super::paths::two_steps;
use super::pool::{Candidate, Pool, is_initial};
use super::saturate::{ReadsOfOne, Seen};
use super::vectors::Vectors;
use crate::checkers::Pattern;
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::{Axiom, NONE, Node};
use rayon::prelude::*;
use std::ops::Range;

/// Readers per piece of parallel work.
const CHUNK: usize = if SMALL_LIMITS { 2 } else { 1024 };

/// Candidates offered per piece of work, per candidate kept, before offering only one per range.
const OFFERS_PER_CANDIDATE: usize = 4;

/// The patterns counted, by trigger (mono, fractured, causal), then order (causal, commit).
pub(super) const PATTERNS: [Pattern; 6] = [
    Pattern::NonMonoReadCO,
    Pattern::NonMonoReadCM,
    Pattern::FracturedReadCO,
    Pattern::FracturedReadCM,
    Pattern::COConflictCM,
    Pattern::ConflictCM,
];

const MONO: usize = 0;
const FRACTURED: usize = 2;
const CAUSAL: usize = 4;
const IN_CAUSAL_ORDER: usize = 0;
const IN_COMMIT_ORDER: usize = 1;

/// Counts, and candidates for the lists, by place in [`PATTERNS`].
#[derive(Clone, Default)]
pub(super) struct Tally {
    pub(super) counts: [i64; 6],
    pub(super) pools: [Pool; 6],
    offers: usize,
}

impl Tally {
    pub(super) fn new(capacity: usize) -> Tally {
        Tally {
            pools: std::array::from_fn(|_| Pool::new(capacity)),
            ..Tally::default()
        }
    }

    pub(super) fn merge(mut self, other: Tally) -> Tally {
        for (mine, more) in self.counts.iter_mut().zip(other.counts) {
            *mine += more;
        }
        for (mine, more) in self.pools.iter_mut().zip(other.pools) {
            *mine = std::mem::take(mine).merge(more);
        }
        self
    }
}

/// What is needed to survey a window of chains.
pub(super) struct Survey<'a> {
    pub(super) causality: &'a Causality<'a>,
    /// Of SO ∪ WR.
    pub(super) components: &'a Components,
    pub(super) chains: &'a Chains,
    pub(super) past: &'a Vectors<'a>,
    pub(super) future: &'a Vectors<'a>,
    pub(super) window: Range<u32>,
    /// The strongest level in question, and SO ∪ WR with the edges it forces.
    pub(super) top: Axiom,
    pub(super) forced: &'a ForcedEdges,
    pub(super) commit_components: &'a Components,
    /// Of the commit order without what is forced before ⊥.
    pub(super) proper_components: &'a Components,
    /// Most candidates per pattern.
    pub(super) capacity: usize,
}

/// One distinct (key, writer) that t3 reads.
#[derive(Clone, Copy)]
pub(super) struct ReadPair {
    key_at: u32,
    key: u32,
    t1: Node,
    last: u32,
}

/// Consumes the instances of one reader after the other.
pub(super) trait Sink {
    /// A range of writers of the key in a chain, all of one class; those that t3 reads from are reclassified later.
    fn range(
        &mut self,
        survey: &Survey<'_>,
        t3: Node,
        pair: &ReadPair,
        range: &[Node],
        class: usize,
        reads: &ReadsOfOne,
    );

    /// A t2 that t3 reads from belongs to another class than that of its range, or to none.
    fn moved(
        &mut self,
        survey: &Survey<'_>,
        t3: Node,
        pair: &ReadPair,
        t2: Node,
        from: usize,
        to: Option<usize>,
    );
}

impl Sink for Tally {
    fn range(
        &mut self,
        survey: &Survey<'_>,
        t3: Node,
        pair: &ReadPair,
        range: &[Node],
        class: usize,
        reads: &ReadsOfOne,
    ) {
        self.counts[class] += range.len() as i64;
        survey.offer_range(t3, pair, range, class, reads, self);
    }

    fn moved(
        &mut self,
        survey: &Survey<'_>,
        t3: Node,
        pair: &ReadPair,
        t2: Node,
        from: usize,
        to: Option<usize>,
    ) {
        self.counts[from] -= 1;
        if let Some(class) = to {
            self.counts[class] += 1;
            survey.offer(t3, pair, t2, class, self);
        }
    }
}

/// How many instances of one class there are.
struct Count {
    class: usize,
    n: i64,
}

impl Sink for Count {
    fn range(
        &mut self,
        _: &Survey<'_>,
        _: Node,
        _: &ReadPair,
        range: &[Node],
        class: usize,
        _: &ReadsOfOne,
    ) {
        self.n += if class == self.class {
            range.len() as i64
        } else {
            0
        };
    }

    fn moved(
        &mut self,
        _: &Survey<'_>,
        _: Node,
        _: &ReadPair,
        _: Node,
        from: usize,
        to: Option<usize>,
    ) {
        self.n += i64::from(to == Some(self.class)) - i64::from(from == self.class);
    }
}

/// All instances of one class.
struct Collected {
    class: usize,
    candidates: Vec<Candidate>,
}

impl Collected {
    fn add(&mut self, survey: &Survey<'_>, t3: Node, pair: &ReadPair, t2: Node) {
        let implied = survey.is_implied(pair.t1, t2, self.class);
        self.candidates.push(Candidate {
            implied,
            size: 0,
            t1: pair.t1,
            t2,
            t3,
            key: pair.key,
        });
    }
}

impl Sink for Collected {
    fn range(
        &mut self,
        survey: &Survey<'_>,
        t3: Node,
        pair: &ReadPair,
        range: &[Node],
        class: usize,
        reads: &ReadsOfOne,
    ) {
        if class == self.class {
            let stays = |t2: &&Node| {
                reads
                    .writers
                    .binary_search_by_key(*t2, |seen| seen.writer)
                    .is_err()
            };
            range
                .iter()
                .filter(stays)
                .for_each(|&t2| self.add(survey, t3, pair, t2));
        }
    }

    fn moved(
        &mut self,
        survey: &Survey<'_>,
        t3: Node,
        pair: &ReadPair,
        t2: Node,
        _: usize,
        to: Option<usize>,
    ) {
        if to == Some(self.class) {
            self.add(survey, t3, pair, t2);
        }
    }
}

impl Survey<'_> {
    /// Adds to `counts`, by reader, how many instances of a class with t2 in the window there are. Parallel over readers.
    pub(super) fn count_by_reader(
        &self,
        class: usize,
        counts: &mut [u64],
        control: &Control,
    ) -> Result<(), Interrupt> {
        counts
            .par_chunks_mut(CHUNK)
            .enumerate()
            .try_for_each(|(chunk, counts)| {
                let mut reads = ReadsOfOne::default();
                let mut pairs = Vec::new();
                for (place, count) in counts.iter_mut().enumerate() {
                    control.tick(place)?;
                    let mut counted = Count { class, n: 0 };
                    self.reader(
                        (chunk * CHUNK + place) as Node,
                        &mut reads,
                        &mut pairs,
                        &mut counted,
                    );
                    *count += counted.n as u64;
                }
                Ok(())
            })
    }

    /// All instances of a class with t2 in the window of one reader, by key, t1 and t2.
    pub(super) fn of_reader(&self, class: usize, t3: Node) -> Vec<Candidate> {
        let mut found = Collected {
            class,
            candidates: Vec::new(),
        };
        self.reader(t3, &mut ReadsOfOne::default(), &mut Vec::new(), &mut found);
        found.candidates
    }

    /// Counts all instances with t2 in the window. Parallel over readers.
    pub(super) fn run(&self, control: &Control) -> Result<Tally, Interrupt> {
        let n = self.causality.n();
        let chunks: Vec<Range<usize>> = (0..n)
            .step_by(CHUNK)
            .map(|begin| begin..(begin + CHUNK).min(n))
            .collect();
        let mut tally = chunks
            .into_par_iter()
            .map(|nodes| {
                let mut tally = Tally::new(self.capacity);
                let mut reads = ReadsOfOne::default();
                let mut pairs = Vec::new();
                for t3 in nodes {
                    control.tick(t3)?;
                    self.reader(t3 as Node, &mut reads, &mut pairs, &mut tally);
                }
                Ok(tally)
            })
            .try_reduce(|| Tally::new(self.capacity), |a, b| Ok(a.merge(b)))?;
        // What is above the strongest level in question was examined only in passing, if at all.
        let used = match self.top {
            Axiom::ReadCommitted => FRACTURED,
            Axiom::ReadAtomic => CAUSAL,
            _ => PATTERNS.len(),
        };
        tally.counts[used..].fill(0);
        tally.pools[used..].fill(Pool::default());
        Ok(tally)
    }

    fn reader(
        &self,
        t3: Node,
        reads: &mut ReadsOfOne,
        pairs: &mut Vec<ReadPair>,
        sink: &mut impl Sink,
    ) {
        reads.load(self.causality, self.components, t3);
        pairs.clear();
        for at in 0..reads.keys.len() {
            let begin = pairs.len();
            for &(key, place, t1) in reads.group(at) {
                if is_initial(t1) || self.commit_components.is_cyclic(t1) {
                    pairs.push(ReadPair {
                        key_at: at as u32,
                        key,
                        t1,
                        last: place,
                    });
                }
            }
            if pairs.len() > begin + 1 {
                pairs[begin..].sort_unstable_by_key(|pair| (pair.t1, std::cmp::Reverse(pair.last)));
                let mut kept = begin + 1;
                for at in begin + 1..pairs.len() {
                    if pairs[at].t1 != pairs[kept - 1].t1 {
                        pairs[kept] = pairs[at];
                        kept += 1;
                    }
                }
                pairs.truncate(kept);
            }
        }
        if pairs.is_empty() {
            return;
        }
        let own = self.chains.chain[t3 as usize];
        for pair in pairs.iter() {
            match self.top {
                Axiom::ReadCommitted => {}
                Axiom::ReadAtomic if !self.window.contains(&own) => {}
                Axiom::ReadAtomic => self.runs(t3, pair, own..own + 1, reads, sink),
                _ => self.runs(t3, pair, self.window.clone(), reads, sink),
            }
        }
        for seen in &reads.writers {
            if self
                .window
                .contains(&self.chains.chain[seen.writer as usize])
            {
                reads.keys_written_by(self.causality, seen.writer, |at| {
                    let begin = pairs.partition_point(|pair| (pair.key_at as usize) < at);
                    for pair in pairs[begin..]
                        .iter()
                        .take_while(|pair| pair.key_at as usize == at)
                    {
                        self.writer_read_from(t3, pair, seen, sink);
                    }
                });
            }
        }
    }

    /// All t2 in some chains, as ranges; t2 that t3 reads from are corrected later.
    fn runs(
        &self,
        t3: Node,
        pair: &ReadPair,
        window: Range<u32>,
        reads: &ReadsOfOne,
        sink: &mut impl Sink,
    ) {
        let position = |v: Node| self.chains.position[v as usize];
        let own = self.chains.chain[t3 as usize];
        for (chain, run) in self.chains.runs(self.causality.index, pair.key, window) {
            let seen = self.past.count(t3, chain);
            if seen == 0 || position(run[0]) >= seen {
                continue;
            }
            let run = &run[..run.partition_point(|&t2| position(t2) < seen)];
            // In its own chain, t3 sees the writes of its session by session order.
            let session_begins = if chain == own {
                let index = self.causality.index;
                let first = position(index.session_begin[index.session[t3 as usize] as usize]);
                run.partition_point(|&t2| position(t2) < first)
            } else {
                run.len()
            };
            let (after, before) = match pair.t1 {
                NONE => (0..run.len(), 0..0),
                t1 => self.around(t1, chain, run),
            };
            for (range, order) in [(after, IN_CAUSAL_ORDER), (before, IN_COMMIT_ORDER)] {
                let causal = range.start.min(session_begins)..range.end.min(session_begins);
                let session = range.start.max(session_begins)..range.end.max(session_begins);
                for (range, trigger) in [(causal, CAUSAL), (session, FRACTURED)] {
                    if !range.is_empty() {
                        sink.range(self, t3, pair, &run[range], trigger + order, reads);
                    }
                }
            }
        }
    }

    /// The writers of a run that causally follow t1, and those before them that share its commit component.
    fn around(&self, t1: Node, chain: u32, run: &[Node]) -> (Range<usize>, Range<usize>) {
        let first_after = self.chains.length[chain as usize] - self.future.count(t1, chain);
        let after = run.partition_point(|&t2| self.chains.position[t2 as usize] < first_after);
        // Component numbers ascend along a chain. Members of t1's own component of SO ∪ WR do not count.
        let own = self.components.of[t1 as usize];
        let before = run[..after].partition_point(|&t2| self.components.of[t2 as usize] < own);
        let before = if after > 0 && self.components.of[run[after - 1] as usize] == own {
            before
        } else {
            after
        };
        let component = self.commit_components.of[t1 as usize];
        let begin =
            run[..before].partition_point(|&t2| self.commit_components.of[t2 as usize] < component);
        (after..run.len(), begin..before)
    }

    fn offer_range(
        &self,
        t3: Node,
        pair: &ReadPair,
        range: &[Node],
        class: usize,
        reads: &ReadsOfOne,
        tally: &mut Tally,
    ) {
        let limit = if tally.offers < OFFERS_PER_CANDIDATE * self.capacity {
            self.capacity
        } else {
            1
        };
        let mut offer = |&t2: &Node| {
            if reads
                .writers
                .binary_search_by_key(&t2, |seen| seen.writer)
                .is_err()
            {
                self.offer(t3, pair, t2, class, tally);
            }
        };
        // Near t1 the path from t1 to t2 is short.
        match class & 1 {
            IN_CAUSAL_ORDER => range.iter().take(limit).for_each(&mut offer),
            _ => range.iter().rev().take(limit).for_each(&mut offer),
        }
    }

    /// Sorts a t2 that t3 reads from into the class to which it belongs.
    fn writer_read_from(&self, t3: Node, pair: &ReadPair, seen: &Seen, sink: &mut impl Sink) {
        let t2 = seen.writer;
        let t1 = pair.t1;
        if t1 == t2 || (!is_initial(t1) && self.components.same(t1, t2)) {
            return;
        }
        let chain = self.chains.chain[t2 as usize];
        let after = |t1: Node| {
            let first_after = self.chains.length[chain as usize] - self.future.count(t1, chain);
            self.chains.position[t2 as usize] >= first_after
        };
        let order = if is_initial(t1) || after(t1) {
            IN_CAUSAL_ORDER
        } else if self.commit_components.same(t1, t2) {
            IN_COMMIT_ORDER
        } else {
            return;
        };
        let index = self.causality.index;
        let session = self.causality.in_session_order(t2, t3);
        let other_key = if index.read_key[seen.first as usize] == pair.key {
            seen.first_of_other_key
        } else {
            seen.first
        };
        let class = if other_key != NONE && index.by_then(other_key as usize, pair.last as usize) {
            Some(MONO)
        } else if session || other_key != NONE {
            Some(FRACTURED)
        } else {
            None
        };
        let of_range = if session { FRACTURED } else { CAUSAL };
        sink.moved(
            self,
            t3,
            pair,
            t2,
            of_range + order,
            class.map(|class| class + order),
        );
    }

    /// Whether an instance adds nothing: t2 precedes t1 causally, or t1 precedes t2 only because everything comes after ⊥.
    fn is_implied(&self, t1: Node, t2: Node, class: usize) -> bool {
        let is_proper = || class & 1 == IN_CAUSAL_ORDER || self.proper_components.same(t1, t2);
        !is_initial(t1) && (self.past.precedes(t2, t1) || !is_proper())
    }

    fn offer(&self, t3: Node, pair: &ReadPair, t2: Node, class: usize, tally: &mut Tally) {
        tally.offers += 1;
        let t1 = pair.t1;
        let implied = self.is_implied(t1, t2, class);
        // Lower bounds of the size discard most candidates before the costly checks.
        let mut candidate = Candidate {
            implied,
            size: if class >= CAUSAL { 3 } else { 2 },
            t1,
            t2,
            t3,
            key: pair.key,
        };
        if !tally.pools[class].admits(&candidate) {
            return;
        }
        let one_edge = match class & 1 {
            _ if is_initial(t1) => true,
            IN_CAUSAL_ORDER => {
                self.causality.in_session_order(t1, t2)
                    || self.causality.readers(t1).binary_search(&t2).is_ok()
            }
            _ => self.forced.find(t1, t2).is_some(),
        };
        candidate.size += if one_edge { 0 } else { 2 };
        if !tally.pools[class].admits(&candidate) {
            return;
        }
        if class >= CAUSAL && two_steps(self.causality, t2, t3).is_none() {
            candidate.size += 2;
        }
        tally.pools[class].push(candidate);
    }
}
