//! Plume's letters by the rule of its published program, counted by quantifying over operations: nothing is kept while
//! going through the history, every question is asked of all of it. Only for histories without transactions of unknown
//! outcome.

use isoscope_model::history::{History, OperationKind, Outcome, Value};
use std::collections::{BTreeMap, BTreeSet};

/// An operation of a committed transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    transaction: usize,
    is_write: bool,
    key: usize,
    /// [`Value::INITIAL`] for every initial value.
    value: Value,
    /// The elements of a list that was read.
    elements: Option<Vec<Value>>,
}

impl Step {
    fn is_of(&self, key: usize, value: Value) -> bool {
        self.key == key && self.value == value
    }
}

struct Run {
    /// All operations, in rounds: the first transaction of each session, the second of each session, and so on.
    steps: Vec<Step>,
    /// By transaction: its session and its number in the session.
    place: Vec<(usize, usize)>,
    aborted: BTreeSet<(usize, Value)>,
    is_list: Vec<bool>,
}

/// Numbers of instances by letter, at TCC.
pub fn count(history: &History) -> BTreeMap<char, u64> {
    let run = Run::of(history);
    let mut counts = BTreeMap::new();
    let mut add = |letter: char, n: usize| *counts.entry(letter).or_default() += n as u64;
    run.reads()
        .for_each(|read| run.of_one_transaction(read, &mut add));
    let unexplained = run
        .reads()
        .filter(|&read| run.is_external(read) && run.writer(read).is_none());
    let unexplained: BTreeSet<(usize, Value)> = unexplained
        .map(|read| (run.steps[read].key, run.steps[read].value))
        .collect();
    let n_aborted = unexplained.intersection(&run.aborted).count();
    add('b', n_aborted);
    add('a', usize::from(n_aborted < unexplained.len()));
    let causal = closed(run.causal());
    let edges: BTreeSet<(usize, usize, usize)> = run
        .reads_of_others()
        .map(|(read, t1)| (t1, run.steps[read].transaction, run.steps[read].key))
        .collect();
    add(
        'g',
        edges.iter().filter(|(t1, t3, _)| causal[*t3][*t1]).count(),
    );
    run.of_initial(&causal, &mut add);
    let mut commit = causal.clone();
    for &(t1, t3, key) in &edges {
        let seen = |&t2: &usize| t2 != t1 && t2 != t3 && causal[t2][t3];
        run.writers(key)
            .into_iter()
            .filter(seen)
            .for_each(|t2| commit[t2][t1] = true);
    }
    for (a, b) in run.listed() {
        commit[a][b] = true;
    }
    run.of_triples(&causal, &closed(commit), &mut add);
    counts.retain(|_, n| *n > 0);
    counts
}

impl Run {
    fn of(history: &History) -> Run {
        let key_and_value = |o: usize| {
            let (key, value) = (history.keys()[o], history.values()[o]);
            (
                key.index(),
                if history.may_be_initial(key, value) {
                    Value::INITIAL
                } else {
                    value
                },
            )
        };
        let is_write = |o: usize| history.kinds()[o] == OperationKind::Write;
        let mut transactions = Vec::new();
        let mut aborted = BTreeSet::new();
        for session in history.sessions() {
            let mut number = 0;
            for t in history.transactions_of(session) {
                match history.outcome(t) {
                    Outcome::Aborted => {
                        aborted.extend(
                            history
                                .operation_range(t)
                                .filter(|&o| is_write(o))
                                .map(key_and_value),
                        );
                    }
                    _ if history.operation_range(t).is_empty() => {}
                    _ => {
                        transactions.push((number, session.index(), t));
                        number += 1;
                    }
                }
            }
        }
        transactions.sort();
        let mut steps = Vec::new();
        for (transaction, (.., t)) in transactions.iter().enumerate() {
            for o in history
                .operations_of(*t)
                .filter(|o| history.values()[o.index()] != Value::UNRECORDED)
            {
                let (key, value) = key_and_value(o.index());
                let elements = history.lists().read_by(o).map(<[Value]>::to_vec);
                steps.push(Step {
                    transaction,
                    is_write: is_write(o.index()),
                    key,
                    value,
                    elements,
                });
            }
        }
        let place = transactions
            .into_iter()
            .map(|(number, session, _)| (session, number))
            .collect();
        let is_list = history
            .keys()
            .iter()
            .map(|&key| (key.index(), history.lists().is_list(key)));
        let by_key: BTreeMap<usize, bool> = is_list.collect();
        let is_list = (0..history.n_keys())
            .map(|key| by_key.get(&key).copied().unwrap_or(false))
            .collect();
        Run {
            steps,
            place,
            aborted,
            is_list,
        }
    }

    fn reads(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.steps.len()).filter(|&at| !self.steps[at].is_write)
    }

    /// Writes that count, of all keys.
    fn writes(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        (0..self.steps.len())
            .filter(|&at| self.steps[at].is_write && self.steps[at].value != Value::INITIAL)
    }

    fn is_external(&self, read: usize) -> bool {
        self.steps[read].value != Value::INITIAL
    }

    fn writers(&self, key: usize) -> BTreeSet<usize> {
        self.writes()
            .filter(|&at| self.steps[at].key == key)
            .map(|at| self.steps[at].transaction)
            .collect()
    }

    /// The last write of the value before a read, or else the first one after it.
    fn writer(&self, read: usize) -> Option<usize> {
        let Step { key, value, .. } = self.steps[read];
        let fits = |&at: &usize| self.steps[at].is_of(key, value);
        let before = self.writes().filter(|&at| at < read).rfind(fits);
        before.or_else(|| self.writes().filter(|&at| at > read).find(fits))
    }

    /// The last write of a value of all.
    fn last_write(&self, key: usize, value: Value) -> Option<usize> {
        self.writes().rfind(|&at| self.steps[at].is_of(key, value))
    }

    /// Reads of what another transaction wrote, with that transaction.
    fn reads_of_others(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let external = self.reads().filter(|&read| self.is_external(read));
        let with_writer =
            external.filter_map(|read| Some((read, self.steps[self.writer(read)?].transaction)));
        with_writer.filter(|&(read, writer)| self.steps[read].transaction != writer)
    }

    fn same_transaction(&self, a: usize, b: usize) -> bool {
        self.steps[a].transaction == self.steps[b].transaction
    }

    /// c, d, e, f and j, of one read.
    fn of_one_transaction(&self, read: usize, add: &mut impl FnMut(char, usize)) {
        let Step {
            key,
            value,
            ref elements,
            ..
        } = self.steps[read];
        let own = |at: &usize| self.same_transaction(*at, read) && self.steps[*at].key == key;
        let counts =
            |at: &usize| !self.steps[*at].is_write || self.steps[*at].value != Value::INITIAL;
        if let Some(before) = (0..read)
            .filter(own)
            .rfind(counts)
            .filter(|&at| self.steps[at].value != value)
        {
            let wrote = |at: &usize| self.steps[*at].is_write && self.steps[*at].value == value;
            match (
                self.steps[before].is_write,
                (0..before).filter(own).filter(wrote).count(),
            ) {
                (false, _) => add('j', 1),
                (true, 0) => add('d', 1),
                (true, n) => add('e', n),
            }
        }
        if !self.is_external(read) || self.writer(read).is_none() {
            return;
        }
        let elements = elements.clone().unwrap_or_else(|| vec![value]);
        let write = elements
            .iter()
            .filter_map(|&element| self.last_write(key, element));
        add(
            'c',
            write
                .filter(|&at| at > read && self.same_transaction(at, read))
                .count(),
        );
        let last = self.last_write(key, value).expect("it was written");
        let overwritten = self
            .writes()
            .any(|at| at > last && self.same_transaction(at, last) && self.steps[at].key == key);
        add(
            'f',
            usize::from(overwritten && !self.same_transaction(last, read)),
        );
    }

    /// SO ∪ WR.
    fn causal(&self) -> Vec<Vec<bool>> {
        let n = self.place.len();
        let follows = |a: usize, b: usize| {
            self.place[a].0 == self.place[b].0 && self.place[a].1 < self.place[b].1
        };
        let mut relation: Vec<Vec<bool>> = (0..n)
            .map(|a| (0..n).map(|b| follows(a, b)).collect())
            .collect();
        for (read, writer) in self.reads_of_others() {
            relation[writer][self.steps[read].transaction] = true;
        }
        relation
    }

    /// Pairs of writers of consecutive elements.
    fn listed(&self) -> Vec<(usize, usize)> {
        let lists = self
            .reads()
            .filter(|&read| self.is_external(read) && self.writer(read).is_some());
        let pairs = lists
            .filter_map(|read| Some((self.steps[read].key, self.steps[read].elements.as_ref()?)));
        let writers = pairs.map(|(key, elements)| -> Vec<usize> {
            let written = elements
                .iter()
                .filter_map(|&element| self.last_write(key, element));
            written.map(|at| self.steps[at].transaction).collect()
        });
        writers
            .flat_map(|writers| {
                writers
                    .windows(2)
                    .map(|pair| (pair[0], pair[1]))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// h, k and m of reads of ⊥.
    fn of_initial(&self, causal: &[Vec<bool>], add: &mut impl FnMut(char, usize)) {
        let initial = self
            .reads()
            .filter(|&read| !self.is_external(read) && !self.is_list[self.steps[read].key]);
        for read in initial {
            let (t3, x) = (self.steps[read].transaction, self.steps[read].key);
            for t2 in self
                .writers(x)
                .into_iter()
                .filter(|&t2| t2 != t3 && causal[t2][t3])
            {
                let written = self
                    .steps
                    .iter()
                    .filter(|step| step.transaction == t2 && step.is_write && step.key != x);
                let mut n = 0;
                for step in written {
                    let of_t3 = self.reads().filter(|&at| self.steps[at].transaction == t3);
                    for other in of_t3.filter(|&at| self.steps[at].is_of(step.key, step.value)) {
                        add(if other < read { 'h' } else { 'k' }, 1);
                        n += 1;
                    }
                }
                add('m', usize::from(n == 0));
            }
        }
    }

    /// h to n but j, of reads of what transactions wrote.
    fn of_triples(
        &self,
        causal: &[Vec<bool>],
        commit: &[Vec<bool>],
        add: &mut impl FnMut(char, usize),
    ) {
        for (read, t1) in self.reads_of_others() {
            let (t3, x) = (self.steps[read].transaction, self.steps[read].key);
            for t2 in self
                .writers(x)
                .into_iter()
                .filter(|&t2| t2 != t1 && t2 != t3 && causal[t2][t3])
            {
                let [before, later, neither] = match (causal[t1][t2], commit[t1][t2]) {
                    (true, _) => ['h', 'k', 'm'],
                    (false, true) => ['i', 'l', 'n'],
                    (false, false) => continue,
                };
                let is_previous = self.place[t2].0 == self.place[t3].0
                    && self.place[t2].1 + 1 == self.place[t3].1;
                let others = self
                    .reads_of_others()
                    .filter(|&(at, writer)| self.same_transaction(at, read) && writer == t2);
                let others: Vec<usize> = others.map(|(at, _)| at).collect();
                add(later, usize::from(is_previous));
                add(neither, usize::from(!is_previous && others.is_empty()));
                let counted = others
                    .into_iter()
                    .filter(|&at| !causal[t1][t2] || self.steps[at].key != x);
                counted.for_each(|at| add(if at < read { before } else { later }, 1));
            }
        }
    }
}

/// Transitive closure.
fn closed(mut relation: Vec<Vec<bool>>) -> Vec<Vec<bool>> {
    let n = relation.len();
    for via in 0..n {
        for a in 0..n {
            for b in 0..n {
                relation[a][b] |= relation[a][via] && relation[via][b];
            }
        }
    }
    relation
}
