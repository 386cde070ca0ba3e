//! Instances of patterns, counted by trying all tuples of transactions. Only for histories in which every read has one
//! possible writer.
//!
//! TAP-h to n are counted in quadruples (x, t1, t2, t3): t3 reads x from t1, and t2, another transaction than both,
//! writes x. What links t2 to t3 (*trigger*: non-monotonic, fractured, causal) and what orders t1 before t2 (*order*:
//! causal, or the commit order that RC, RA or TCC force) give the letter; the most specific trigger and the weakest order
//! count. Where t3 reads x itself from t2 also, and nothing more specific than causal order links the two, the triple is a
//! TAP-j and not counted here. ⊥ precedes everything, so in a history with a read of x from ⊥ that should have seen t2,
//! the forced t2 → ⊥ puts t2 and all before it ahead of everything in that commit order.

use super::oracle::{BOTTOM, Choice, Observation};
use isoscope::history::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Exact numbers of instances by letter or, above TCC, by name; and which TAP-h to n are implied only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// By letter: instances of TAP-a to n. TAP-g counts strongly connected components, TAP-j pairs of
    /// consecutive reads of a key.
    pub(crate) letters: BTreeMap<char, u64>,
    /// Of TAP-h to n: those whose inferred edge t2 → t1 does not hold causally anyway.
    pub(crate) primary: BTreeMap<char, u64>,
    /// Pairs of transactions that read one version and both overwrite the key.
    pub(crate) divergence: u64,
}

type Relation = Vec<Vec<bool>>;

/// Counts in `history`'s only explanation.
pub(crate) fn count(observation: &Observation, choice: &Choice) -> Counts {
    let facts = Facts::new(observation, choice);
    let mut counts = Counts::default();
    facts.count_reads(&mut counts);
    let cycles = facts.cycles();
    if cycles > 0 {
        counts.letters.insert('g', cycles);
    }
    let pairs = observation.non_repeatable_reads(choice).len() as u64;
    if pairs > 0 {
        counts.letters.insert('j', pairs);
    }
    facts.count_triples(&mut counts);
    counts.divergence = facts.divergence();
    counts
}

/// C4's twelve letters, in which reads after an own write take no part but as d: a to e by reads, f by pairs of
/// consecutive reads of a key with different values, g by components, h, i, k, l by quadruples, j by those of ⊥.
pub(crate) fn count_c4(observation: &Observation, choice: &Choice) -> BTreeMap<char, u64> {
    let mut counts: BTreeMap<char, u64> = BTreeMap::new();
    let mut add = |letter: char| *counts.entry(letter).or_default() += 1;
    let mut first_reads = choice.clone();
    for t in (0..observation.transactions.len()).filter(|&t| choice.active[t]) {
        let operations = &observation.transactions[t].operations;
        for (at, meaning) in observation.meaning[t].iter().enumerate() {
            match meaning {
                Some(super::oracle::Meaning::Wrong(letter @ ('a' | 'b' | 'c'))) => add(*letter),
                Some(super::oracle::Meaning::From(_)) => {
                    let wrong = observation.wrong_reading(
                        t,
                        at,
                        choice.source[t][at].expect("the writer is known"),
                    );
                    if wrong.contains(&'d') {
                        add('d');
                        first_reads.source[t][at] = None;
                    } else if wrong.contains(&'f') {
                        add('e');
                    }
                }
                _ => {}
            }
            let read = operations[at];
            let is_read =
                |i: usize| !operations[i].is_write && operations[i].value != Value::UNRECORDED;
            let same_key = |&i: &usize| operations[i].key == read.key;
            if !is_read(at) || (0..at).filter(same_key).any(|i| operations[i].is_write) {
                continue;
            }
            let before = (0..at).rev().filter(same_key).find(|&i| is_read(i));
            let initial = |i: usize| choice.source[t][i] == Some(BOTTOM);
            if before
                .is_some_and(|i| operations[i].value != read.value && !(initial(i) && initial(at)))
            {
                add('f');
            }
        }
    }
    let facts = Facts::new(observation, &first_reads);
    (0..facts.cycles()).for_each(|_| add('g'));
    let quadruples: BTreeSet<_> = facts
        .reads()
        .into_iter()
        .flat_map(|(t3, x, t1, _)| {
            facts
                .other_writers(x, t1, t3)
                .into_iter()
                .map(move |t2| (x, t1, t2, t3))
        })
        .filter(|&(_, t1, t2, t3)| {
            !facts.on_one_cycle(t1, t2)
                && !facts.on_one_cycle(t2, t3)
                && !facts.on_one_cycle(t1, t3)
        })
        .filter(|&(_, _, t2, t3)| facts.causal[t2][t3])
        .collect();
    for (x, t1, t2, t3) in quadruples {
        let Some(order) = facts.order(t1, t2) else {
            continue;
        };
        let operations = facts.observation.transactions[t3].operations.len();
        let other_key = facts.reads_from_before(t3, t2, operations, Some(x));
        add([['k', 'l'], ['h', 'i']][usize::from(other_key)][usize::from(order > 0)]);
        if t1 == BOTTOM {
            add('j');
        }
    }
    counts
}

struct Facts<'a> {
    observation: &'a Observation,
    choice: &'a Choice,
    n: usize,
    causal: Relation,
    /// CM at RC, RA and TCC; ⊥ is the last vertex.
    commit: [Relation; 3],
}

impl<'a> Facts<'a> {
    fn new(observation: &'a Observation, choice: &'a Choice) -> Facts<'a> {
        let n = observation.transactions.len();
        let mut facts = Facts {
            observation,
            choice,
            n,
            causal: vec![vec![false; n]; n],
            commit: Default::default(),
        };
        for (a, b) in facts.pairs() {
            facts.causal[a][b] = facts.directly(a, b);
        }
        close(&mut facts.causal);
        facts.commit = [0, 1, 2].map(|level| {
            let mut relation = facts.causal.clone();
            relation.iter_mut().for_each(|row| row.push(false));
            relation.push(vec![true; n + 1]);
            relation[n][n] = false;
            for (t3, x, t1, at) in facts.reads() {
                for t2 in facts
                    .other_writers(x, t1, t3)
                    .into_iter()
                    .filter(|&t2| !facts.on_one_cycle(t2, t3))
                {
                    let forced = match level {
                        0 => facts.reads_from_before(t3, t2, at, None),
                        1 => facts.directly(t2, t3),
                        _ => facts.causal[t2][t3],
                    };
                    relation[t2][t1.min(n)] |= forced;
                }
            }
            close(&mut relation);
            relation
        });
        facts
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let n = self.n;
        (0..n).flat_map(move |a| (0..n).map(move |b| (a, b)))
    }

    fn active(&self, t: usize) -> bool {
        self.choice.active[t]
    }

    fn session_order(&self, a: usize, b: usize) -> bool {
        let session = |t: usize| self.observation.transactions[t].session;
        a < b && session(a) == session(b) && self.active(a) && self.active(b)
    }

    fn reads_from(&self, t3: usize, t2: usize) -> bool {
        self.active(t3) && self.choice.source[t3].contains(&Some(t2))
    }

    fn directly(&self, a: usize, b: usize) -> bool {
        self.session_order(a, b) || self.reads_from(b, a)
    }

    /// External reads of active transactions as (t3, x, t1, place in t3).
    fn reads(&self) -> Vec<(usize, usize, usize, usize)> {
        let mut reads = Vec::new();
        for t3 in (0..self.n).filter(|&t| self.active(t)) {
            for (at, writer) in self.choice.source[t3].iter().enumerate() {
                if let Some(t1) = *writer {
                    reads.push((
                        t3,
                        self.observation.transactions[t3].operations[at].key,
                        t1,
                        at,
                    ));
                }
            }
        }
        reads
    }

    fn other_writers(&self, x: usize, t1: usize, t3: usize) -> Vec<usize> {
        let writes = |t: usize| self.observation.transactions[t].writes(x);
        (0..self.n)
            .filter(|&t2| t2 != t1 && t2 != t3 && self.active(t2) && writes(t2))
            .collect()
    }

    /// Whether t3 reads a key other than `except` from t2 before place `at`.
    fn reads_from_before(&self, t3: usize, t2: usize, at: usize, except: Option<usize>) -> bool {
        (0..at).any(|i| {
            let key = self.observation.transactions[t3].operations[i].key;
            self.choice.source[t3][i] == Some(t2) && Some(key) != except
        })
    }

    fn count_reads(&self, counts: &mut Counts) {
        for t in (0..self.n).filter(|&t| self.active(t)) {
            for (at, meaning) in self.observation.meaning[t].iter().enumerate() {
                let mut letters = match meaning {
                    Some(super::oracle::Meaning::Wrong(letter)) => vec![*letter],
                    _ => Vec::new(),
                };
                if let Some(writer) = self.choice.source[t][at] {
                    letters.extend(self.observation.wrong_reading(t, at, writer));
                }
                for letter in letters {
                    *counts.letters.entry(letter).or_default() += 1;
                }
            }
        }
    }

    /// Strongly connected components of SO ∪ WR with a cycle.
    fn cycles(&self) -> u64 {
        let on_cycle = |t: usize| self.causal[t][t];
        let first = |t: usize| (0..t).all(|u| !(self.causal[t][u] && self.causal[u][t]));
        (0..self.n).filter(|&t| on_cycle(t) && first(t)).count() as u64
    }

    /// Whether both are in one component of SO ∪ WR. It is reported as TAP-g, and nothing follows inside it.
    fn on_one_cycle(&self, a: usize, b: usize) -> bool {
        a != BOTTOM && b != BOTTOM && self.causal[a][b] && self.causal[b][a]
    }

    fn count_triples(&self, counts: &mut Counts) {
        let mut best: BTreeMap<(usize, usize, usize, usize), (usize, usize)> = BTreeMap::new();
        for (t3, x, t1, at) in self.reads() {
            for t2 in self.other_writers(x, t1, t3) {
                if self.on_one_cycle(t1, t2)
                    || self.on_one_cycle(t2, t3)
                    || self.on_one_cycle(t1, t3)
                {
                    continue;
                }
                let (Some(trigger), Some(order)) =
                    (self.trigger(t3, x, t2, at), self.order(t1, t2))
                else {
                    continue;
                };
                let cell = best.entry((x, t1, t2, t3)).or_insert((trigger, order));
                *cell = (*cell).min((trigger, order));
            }
        }
        for ((_, t1, t2, _), (trigger, order)) in best {
            let letter = [['h', 'i'], ['k', 'l'], ['m', 'n']][trigger][usize::from(order > 0)];
            *counts.letters.entry(letter).or_default() += 1;
            if t1 == BOTTOM || !self.causal[t2][t1] {
                *counts.primary.entry(letter).or_default() += 1;
            }
        }
    }

    /// 0: t3 read another key from t2 before; 1: session order or a read of another key at any time; 2: causal order,
    /// unless t3 reads x from t2.
    fn trigger(&self, t3: usize, x: usize, t2: usize, at: usize) -> Option<usize> {
        let operations = self.observation.transactions[t3].operations.len();
        if self.reads_from_before(t3, t2, at, Some(x)) {
            Some(0)
        } else if self.session_order(t2, t3) || self.reads_from_before(t3, t2, operations, Some(x))
        {
            Some(1)
        } else if self.causal[t2][t3] && !self.reads_from(t3, t2) {
            Some(2)
        } else {
            None
        }
    }

    /// 0: t1 CO t2; 1, 2, 3: t1 before t2 in CM at RC, RA, TCC.
    fn order(&self, t1: usize, t2: usize) -> Option<usize> {
        if t1 == BOTTOM || self.causal[t1][t2] {
            return Some(0);
        }
        (0..3)
            .find(|&level| self.commit[level][t1][t2])
            .map(|level| level + 1)
    }

    fn divergence(&self) -> u64 {
        let mut updaters: BTreeMap<(usize, usize), BTreeSet<usize>> = BTreeMap::new();
        for (t3, x, t1, _) in self.reads() {
            if self.observation.transactions[t3].writes(x) {
                updaters.entry((x, t1)).or_default().insert(t3);
            }
        }
        updaters
            .values()
            .map(|readers| (readers.len() * (readers.len() - 1) / 2) as u64)
            .sum()
    }
}

/// Transitive closure.
fn close(relation: &mut Relation) {
    let n = relation.len();
    for via in 0..n {
        for a in 0..n {
            for b in 0..n {
                relation[a][b] |= relation[a][via] && relation[via][b];
            }
        }
    }
}
