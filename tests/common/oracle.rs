//! The second opinion: isolation levels decided by brute force from their axioms.
//!
//! A history satisfies a level if it has *some* explanation that does: a writer for each read (there is a choice where
//! several transactions wrote the value), a set of transactions of unknown outcome that did commit, and a commit order,
//! a strict total order that contains session order and write-read. All commit orders are enumerated and the axioms of
//! Biswas & Enea (OOPSLA 2019, Fig. 2 and Table 1) are evaluated word by word. Nothing is shared with the engines but
//! the history itself, and nothing is clever: this is for histories of at most eight transactions.

use isoscope::checkers::Level;
use isoscope::history::{
    History, Interval, KeyId, OperationKind, Outcome, SetUpRule, TransactionId, Value,
};
use std::collections::BTreeSet;

/// Levels in the order of [`Level::WITHOUT_TIMES`].
pub(crate) const LEVELS: [Level; 7] = Level::WITHOUT_TIMES;

/// In the place of ⊥ as the writer of a read.
pub(crate) const BOTTOM: usize = usize::MAX;

/// Most combinations of choices that are tried.
pub(crate) const MOST_COMBINATIONS: usize = 20_000;

/// A read or a write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub(crate) is_write: bool,
    pub(crate) key: usize,
    pub(crate) value: Value,
}

/// A transaction. Those of one session stand in session order.
#[derive(Clone, Debug)]
pub(crate) struct Transaction {
    pub(crate) session: usize,
    pub(crate) outcome: Outcome,
    pub(crate) ran: Option<Interval>,
    pub(crate) operations: Vec<Operation>,
}

impl Transaction {
    /// The value it leaves behind on a key.
    pub(crate) fn last_write(&self, key: usize) -> Option<Value> {
        self.operations
            .iter()
            .rev()
            .find(|o| o.is_write && o.key == key)
            .map(|o| o.value)
    }

    pub(crate) fn writes(&self, key: usize) -> bool {
        self.last_write(key).is_some()
    }

    fn wrote(&self, key: usize, value: Value) -> bool {
        self.operations
            .iter()
            .any(|o| o.is_write && o.key == key && o.value == value)
    }
}

/// What a read turns out to be, before any choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It returns the own last write.
    Internal,
    /// It constrains nothing: the file does not say what it returned.
    Unrecorded,
    /// TAP-a, b, c or e: no writer can be meant.
    Wrong(char),
    /// One of these wrote the value: [`BOTTOM`] or places of transactions.
    From(Vec<usize>),
}

/// The history in the oracle's own words, set-up transactions merged into ⊥.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    pub(crate) transactions: Vec<Transaction>,
    /// By transaction and operation: what it reads; `None` for writes.
    pub(crate) meaning: Vec<Vec<Option<Meaning>>>,
    /// Places, in the history, of the transactions that were merged into ⊥.
    pub(crate) set_up: Vec<usize>,
    /// By transaction: its place in the history.
    pub(crate) place: Vec<usize>,
    /// By transaction and operation: the list that a read of one returned, without the reader's own appends before it.
    pub(crate) lists: Vec<Vec<Option<Vec<Value>>>>,
    /// By transaction and operation: the elements that a read of a list shows; where the reader's own appends are not its
    /// end, all of them.
    elements: Vec<Vec<Option<Vec<Value>>>>,
    /// By key: what declared set-up transactions appended to it, in their order: with that every list begins.
    initial_lists: Vec<Vec<Value>>,
}

/// One way to explain the reads.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// By transaction: whether it committed.
    pub(crate) active: Vec<bool>,
    /// By transaction and operation: the writer of an external read.
    pub(crate) source: Vec<Vec<Option<usize>>>,
    /// Letters of TAP-a to f among active transactions.
    pub(crate) letters: BTreeSet<char>,
}

/// Whether some serial order respects real time: a transaction that ended before another began comes before it. One of
/// unknown outcome may have committed at any time.
pub(crate) fn strictly_serializable(history: &History) -> bool {
    is_strictly_serializable(history, &Observation::of(history))
}

fn is_strictly_serializable(history: &History, observation: &Observation) -> bool {
    let interval = |t: usize| history.interval(TransactionId::new(observation.place[t]));
    observation.choices().iter().any(|choice| {
        if !choice.letters.is_empty() {
            return false;
        }
        let members: Vec<usize> = (0..choice.active.len())
            .filter(|&t| choice.active[t])
            .collect();
        let known_end = |t: usize| observation.transactions[t].outcome == Outcome::Committed;
        let before = |a: usize, b: usize| match (interval(members[a]), interval(members[b])) {
            (Some(a_ran), Some(b_ran)) => known_end(members[a]) && a_ran.end < b_ran.start,
            _ => false,
        };
        let world = World::new(observation, choice);
        let mut found = false;
        world.for_each_order(&mut |order| {
            let n = members.len();
            let in_time = (0..n).all(|a| (0..n).all(|b| !before(a, b) || order[a] < order[b]));
            found = in_time && world.is_order_for(Level::Serializability, order);
            found
        });
        found
    })
}

/// Whether this commit order explains the history at one of [`LEVELS`] above CI, for some choice of writers: it has all
/// that take part in that choice and no others, session order and reads go forward in it, and the axioms hold.
pub(crate) fn is_order(history: &History, level: Level, order: &[TransactionId]) -> bool {
    let observation = Observation::of(history);
    let place = |t: &TransactionId| {
        observation
            .place
            .iter()
            .position(|&place| place == t.index())
    };
    let listed: Vec<usize> = order.iter().filter_map(place).collect();
    observation
        .choices()
        .iter()
        .filter(|choice| choice.letters.is_empty())
        .any(|choice| {
            let members: Vec<usize> = (0..choice.active.len())
                .filter(|&t| choice.active[t])
                .collect();
            let position = |member: &usize| listed.iter().position(|t| t == member);
            let Some(order) = members.iter().map(position).collect::<Option<Vec<usize>>>() else {
                return false;
            };
            let world = World::new(&observation, choice);
            let goes_forward = (0..world.n)
                .all(|a| (0..world.n).all(|b| !world.directly(a, b) || order[a] < order[b]));
            listed.len() == members.len() && goes_forward && world.is_order_for(level, &order)
        })
}

/// The verdict at each of [`LEVELS`].
pub(crate) fn verdicts(history: &History) -> [bool; 7] {
    let observation = Observation::of(history);
    let mut satisfied = [false; 7];
    for choice in observation.choices() {
        let found = observation.satisfied(&choice, satisfied);
        for (all, one) in satisfied.iter_mut().zip(found) {
            *all |= one;
        }
        if satisfied == [true; 7] {
            break;
        }
    }
    satisfied
}

/// The verdict at CI, RC, RA and TCC of the only explanation of a history.
pub(crate) fn weak_verdicts(observation: &Observation, choice: &Choice) -> [bool; 4] {
    let satisfied = observation.satisfied(choice, [false, false, false, false, true, true, true]);
    std::array::from_fn(|place| satisfied[place])
}

impl Observation {
    /// Reads the history and finds the possible writers of every read.
    pub(crate) fn of(history: &History) -> Observation {
        let all: Vec<Transaction> = history
            .transactions()
            .map(|t| Transaction {
                session: history.session_of(t).index(),
                outcome: history.outcome(t),
                ran: history.interval(t),
                operations: history
                    .operations_of(t)
                    .map(|o| history.operation(o))
                    .map(|o| Operation {
                        is_write: o.kind == OperationKind::Write,
                        key: o.key.index(),
                        value: o.value,
                    })
                    .collect(),
            })
            .collect();
        let is_initial =
            |value: Value| value == Value::INITIAL || Some(value) == history.initial_value();
        let is_declared = |t: &usize| history.set_up().contains(&TransactionId::new(*t));
        let is_there = |t: &usize| is_declared(t) && all[*t].outcome != Outcome::Aborted;
        let declared: Vec<usize> = (0..all.len()).filter(is_there).collect();
        let set_up = match history.rules().set_up {
            _ if !history.set_up().is_empty() => declared.clone(),
            SetUpRule::Never => Vec::new(),
            _ => set_up_transactions(history, &all, &is_initial),
        };
        let declared_writes = |key: usize| {
            let operations = declared.iter().flat_map(|&t| &all[t].operations);
            operations
                .filter(move |o| o.is_write && o.key == key)
                .map(|o| o.value)
        };
        let is_list = |key: usize| history.lists().is_list(KeyId::new(key));
        let initial_lists: Vec<Vec<Value>> = (0..history.n_keys())
            .map(|key| {
                if is_list(key) {
                    declared_writes(key).collect()
                } else {
                    Vec::new()
                }
            })
            .collect();
        let place: Vec<usize> = (0..all.len()).filter(|t| !set_up.contains(t)).collect();
        let transactions: Vec<Transaction> = place.iter().map(|&t| all[t].clone()).collect();
        let reads_initial = |key: usize, value: Value| match declared_writes(key).next_back() {
            Some(left) => value == left,
            None if is_list(key) => value == Value::INITIAL,
            None => is_initial(value),
        };
        let lists = lists(history, &transactions, &place);
        let meaning = (0..transactions.len())
            .map(|t| {
                let operations = 0..transactions[t].operations.len();
                operations
                    .map(|at| match &lists[t][at] {
                        None => meaning(&transactions, t, at, &reads_initial),
                        // Its own appends are not the end of it: wrong, whichever transaction appended the last element.
                        Some(None) => match meaning(&transactions, t, at, &reads_initial) {
                            Some(Meaning::Internal) => Some(Meaning::Wrong('o')),
                            other => other,
                        },
                        Some(Some(list)) => {
                            Some(meaning_of_list(&transactions, t, at, list, &initial_lists))
                        }
                    })
                    .collect()
            })
            .collect();
        let elements = (0..transactions.len())
            .map(|t| {
                let ids = history.operations_of(TransactionId::new(place[t]));
                let whole = ids.map(|o| history.lists().read_by(o));
                let found = whole.zip(&lists[t]).map(|(whole, found)| match found {
                    Some(Some(list)) => Some(list.clone()),
                    _ => whole.map(<[Value]>::to_vec),
                });
                found.collect()
            })
            .collect();
        let lists = lists
            .into_iter()
            .map(|of| of.into_iter().map(Option::flatten).collect())
            .collect();
        Observation {
            transactions,
            meaning,
            set_up,
            place,
            lists,
            elements,
            initial_lists,
        }
    }

    /// Number of reads with more than one possible writer.
    pub(crate) fn n_ambiguous(&self) -> usize {
        let all = self.meaning.iter().flatten().flatten();
        all.filter(|m| matches!(m, Meaning::From(writers) if writers.len() > 1))
            .count()
    }

    /// Number of ways to choose a writer for each read.
    pub(crate) fn n_combinations(&self) -> usize {
        let numbers = self.meaning.iter().flatten().flatten().map(|m| match m {
            Meaning::From(writers) => writers.len(),
            _ => 1,
        });
        numbers.fold(1, |product, n| product.saturating_mul(n))
    }

    /// All ways to explain the reads: a writer for each, and the transactions of unknown outcome that the writers chosen
    /// make committed. Transactions from which none reads have no effect on others.
    pub(crate) fn choices(&self) -> Vec<Choice> {
        let none: Vec<Vec<Option<usize>>> = self
            .meaning
            .iter()
            .map(|operations| vec![None; operations.len()])
            .collect();
        let mut partial = vec![none];
        for (t, operations) in self.meaning.iter().enumerate() {
            if self.transactions[t].outcome == Outcome::Aborted {
                continue;
            }
            for (at, meaning) in operations.iter().enumerate() {
                if let Some(Meaning::From(writers)) = meaning {
                    partial = partial
                        .into_iter()
                        .flat_map(|source| {
                            writers.iter().map(move |&writer| {
                                let mut source = source.clone();
                                source[t][at] = Some(writer);
                                source
                            })
                        })
                        .collect();
                    assert!(
                        partial.len() <= MOST_COMBINATIONS,
                        "too many ambiguous reads for the oracle"
                    );
                }
            }
        }
        if self.has_repeated_elements() {
            partial
                .iter()
                .flat_map(|source| self.choices_of_members(source))
                .collect()
        } else {
            partial
                .into_iter()
                .map(|source| self.choice(source))
                .collect()
        }
    }

    /// Whether an element was appended to a list more than once by transactions that did not abort.
    pub(crate) fn has_repeated_elements(&self) -> bool {
        let keys: BTreeSet<usize> = (0..self.transactions.len())
            .flat_map(|t| {
                self.elements[t]
                    .iter()
                    .zip(&self.transactions[t].operations)
            })
            .filter_map(|(list, operation)| list.as_ref().map(|_| operation.key))
            .collect();
        let initial = self
            .initial_lists
            .iter()
            .enumerate()
            .flat_map(|(key, list)| list.iter().map(move |e| (key, e.0)));
        let mut seen: BTreeSet<(usize, u64)> = initial.collect();
        let committed = self
            .transactions
            .iter()
            .filter(|t| t.outcome != Outcome::Aborted);
        let mut appends = committed
            .flat_map(|t| &t.operations)
            .filter(|o| o.is_write && keys.contains(&o.key));
        appends.any(|o| !seen.insert((o.key, o.value.0)))
    }

    /// The same writers with each set of transactions of unknown outcome that may have committed: where elements repeat a
    /// list does not say who appended them.
    fn choices_of_members(&self, source: &[Vec<Option<usize>>]) -> Vec<Choice> {
        let unknown: Vec<usize> = (0..self.transactions.len())
            .filter(|&t| self.transactions[t].outcome == Outcome::Unknown)
            .collect();
        (0..1_usize << unknown.len())
            .filter_map(|set| {
                let mut active: Vec<bool> = self
                    .transactions
                    .iter()
                    .map(|t| t.outcome == Outcome::Committed)
                    .collect();
                (0..unknown.len()).for_each(|at| active[unknown[at]] = set >> at & 1 == 1);
                let members = || (0..active.len()).filter(|&t| active[t]);
                let is_there = |writer: &usize| *writer == BOTTOM || active[*writer];
                let closed = members().all(|t| source[t].iter().flatten().all(is_there));
                let letters = self.letters(&active, source);
                closed.then(|| Choice {
                    active,
                    source: source.to_vec(),
                    letters,
                })
            })
            .collect()
    }

    fn choice(&self, source: Vec<Vec<Option<usize>>>) -> Choice {
        let mut active: Vec<bool> = self
            .transactions
            .iter()
            .map(|t| t.outcome == Outcome::Committed)
            .collect();
        while let Some(promoted) = (0..active.len())
            .filter(|&t| active[t])
            .flat_map(|t| source[t].iter().flatten().copied().chain(self.appenders(t)))
            .find(|&writer| writer != BOTTOM && !active[writer])
        {
            active[promoted] = true;
        }
        let letters = self.letters(&active, &source);
        Choice {
            active,
            source,
            letters,
        }
    }

    /// TAP-a to f among these transactions.
    fn letters(&self, active: &[bool], source: &[Vec<Option<usize>>]) -> BTreeSet<char> {
        let mut letters = BTreeSet::new();
        for t in (0..active.len()).filter(|&t| active[t]) {
            for (at, meaning) in self.meaning[t].iter().enumerate() {
                if let Some(Meaning::Wrong(letter)) = meaning {
                    letters.insert(*letter);
                }
                if let Some(writer) = source[t][at] {
                    letters.extend(self.wrong_reading(t, at, writer));
                }
            }
        }
        letters
    }

    /// The transactions of unknown outcome that appended what `t` saw in lists, which therefore committed: also in lists
    /// that are wrong because the own appends are not their end.
    fn appenders(&self, t: usize) -> impl Iterator<Item = usize> + '_ {
        let lists = self.elements[t]
            .iter()
            .enumerate()
            .filter_map(|(at, list)| Some((at, list.as_ref()?)));
        lists.flat_map(move |(at, list)| {
            let key = self.transactions[t].operations[at].key;
            let unknown = |&u: &usize| self.transactions[u].outcome == Outcome::Unknown;
            let wrote = move |&u: &usize| {
                list.iter()
                    .any(|&element| self.transactions[u].wrote(key, element))
            };
            (0..self.transactions.len()).filter(unknown).filter(wrote)
        })
    }

    /// TAP-d and f of the read at (t, at) when it returns what `writer` wrote.
    pub(crate) fn wrong_reading(&self, t: usize, at: usize, writer: usize) -> Vec<char> {
        let read = self.transactions[t].operations[at];
        let mut own = self.transactions[t].operations[..at]
            .iter()
            .any(|o| o.is_write && o.key == read.key);
        let mut value = read.value;
        if let Some(list) = &self.lists[t][at] {
            (own, value) = (false, list.last().copied().unwrap_or(Value::INITIAL));
        }
        let intermediate =
            writer != BOTTOM && self.transactions[writer].last_write(read.key) != Some(value);
        own.then_some('d')
            .into_iter()
            .chain(intermediate.then_some('f'))
            .collect()
    }

    /// Which levels this way of explaining the reads satisfies; levels already known to be satisfied are passed over.
    fn satisfied(&self, choice: &Choice, known: [bool; 7]) -> [bool; 7] {
        let mut satisfied = [false; 7];
        satisfied[0] = self.non_repeatable_reads(choice).is_empty();
        if !choice.letters.is_empty() {
            return satisfied;
        }
        let world = World::new(self, choice);
        let open: Vec<usize> = (1..7).filter(|&l| !known[l]).collect();
        world.for_each_order(&mut |order| {
            for &level in &open {
                satisfied[level] = satisfied[level] || world.is_order_for(LEVELS[level], order);
            }
            open.iter().all(|&level| satisfied[level])
        });
        satisfied
    }

    /// TAP-j as (transaction, place of the second read): consecutive reads of a key in a transaction, own writes passed
    /// over, that return versions of different other transactions.
    pub(crate) fn non_repeatable_reads(&self, choice: &Choice) -> BTreeSet<(usize, usize)> {
        let mut found = BTreeSet::new();
        for t in (0..self.transactions.len()).filter(|&t| choice.active[t]) {
            let operations = &self.transactions[t].operations;
            for (at, operation) in operations.iter().enumerate() {
                let before = (0..at)
                    .rev()
                    .filter(|&b| operations[b].key == operation.key);
                let previous = before.filter_map(|b| choice.source[t][b]).next();
                if let (Some(previous), Some(writer)) = (previous, choice.source[t][at])
                    && previous != writer
                {
                    found.insert((t, at));
                }
            }
        }
        found
    }
}

/// By transaction and operation: `None` for what is no read of a list; else the list that the transaction found, or
/// `Some(None)` where its own appends are not the end of what it read.
fn lists(
    history: &History,
    transactions: &[Transaction],
    place: &[usize],
) -> Vec<Vec<Option<Option<Vec<Value>>>>> {
    let of = |t: usize| {
        let operations = &transactions[t].operations;
        let ids = history.operations_of(TransactionId::new(place[t]));
        ids.zip(0..)
            .map(|(o, at): (_, usize)| {
                let list = history.lists().read_by(o)?;
                let key = operations[at].key;
                let own: Vec<Value> = operations[..at]
                    .iter()
                    .filter(|o| o.is_write && o.key == key)
                    .map(|o| o.value)
                    .collect();
                Some(list.strip_suffix(own.as_slice()).map(<[Value]>::to_vec))
            })
            .collect()
    };
    (0..transactions.len()).map(of).collect()
}

/// The meaning of a read that found this list: who appended its last element. What else the list says is asked of
/// commit orders.
fn meaning_of_list(
    transactions: &[Transaction],
    t: usize,
    at: usize,
    list: &[Value],
    initial_lists: &[Vec<Value>],
) -> Meaning {
    let key = transactions[t].operations[at].key;
    let is_initial = list.last() == initial_lists[key].last();
    let mut writers: Vec<usize> = is_initial.then_some(BOTTOM).into_iter().collect();
    if let Some(&last) = list.last() {
        let may_be_meant = |&u: &usize| u != t && transactions[u].outcome != Outcome::Aborted;
        writers.extend(
            (0..transactions.len())
                .filter(may_be_meant)
                .filter(|&u| transactions[u].wrote(key, last)),
        );
    }
    if writers.is_empty() {
        Meaning::Wrong('a')
    } else {
        Meaning::From(writers)
    }
}

/// Whether a transaction had not ended before another one began, as far as is known.
fn may_see(reader: &Transaction, writer: &Transaction) -> bool {
    match (reader.ran, writer.ran) {
        (Some(read), Some(written)) if reader.outcome != Outcome::Unknown => {
            read.end >= written.start
        }
        _ => true,
    }
}

/// The meaning of one read; `None` for a write. The first case that applies counts.
fn meaning(
    transactions: &[Transaction],
    t: usize,
    at: usize,
    reads_initial: &dyn Fn(usize, Value) -> bool,
) -> Option<Meaning> {
    let Operation {
        is_write,
        key,
        value,
    } = transactions[t].operations[at];
    if is_write {
        return None;
    }
    if value == Value::UNRECORDED {
        return Some(Meaning::Unrecorded);
    }
    let own = |o: &&Operation| o.is_write && o.key == key;
    let earlier: Vec<Value> = transactions[t].operations[..at]
        .iter()
        .filter(own)
        .map(|o| o.value)
        .collect();
    if earlier.last() == Some(&value) {
        return Some(Meaning::Internal);
    }
    if earlier.contains(&value) {
        return Some(Meaning::Wrong('e'));
    }
    let others = |outcome: Outcome| {
        (0..transactions.len()).filter(move |&u| {
            u != t && transactions[u].outcome == outcome && transactions[u].wrote(key, value)
        })
    };
    let mut writers: Vec<usize> = Vec::new();
    writers.extend(reads_initial(key, value).then_some(BOTTOM));
    writers.extend(others(Outcome::Committed));
    writers.extend(others(Outcome::Unknown));
    if !writers.is_empty() {
        return Some(Meaning::From(writers));
    }
    Some(Meaning::Wrong(match () {
        () if transactions[t].operations[at..]
            .iter()
            .filter(own)
            .any(|o| o.value == value) =>
        {
            'c'
        }
        () if others(Outcome::Aborted).any(|u| may_see(&transactions[t], &transactions[u])) => 'b',
        () => 'a',
    }))
}

/// Transactions that only say what the initial version of every key is: the committed transactions with which a session
/// begins, as long as they write nothing but values that read as initial anyway. They count only if together they write
/// every key in use, each key one of them, and no other writes an initial value, for else they may be a late reset.
/// Transactions that aborted do not matter here. Nor is it a beginning if another had ended before.
fn set_up_transactions(
    history: &History,
    all: &[Transaction],
    is_initial: &dyn Fn(Value) -> bool,
) -> Vec<usize> {
    let matters = |t: &usize| all[*t].outcome != Outcome::Aborted && !all[*t].operations.is_empty();
    let says_initial = |t: &usize| {
        let only_initial = all[*t]
            .operations
            .iter()
            .all(|o| o.is_write && is_initial(o.value));
        all[*t].outcome == Outcome::Committed && only_initial
    };
    let before_in_session = |t: usize| (0..t).filter(move |&u| all[u].session == all[t].session);
    let (set_up, others): (Vec<usize>, Vec<usize>) =
        (0..all.len()).filter(matters).partition(|&t| {
            says_initial(&t)
                && before_in_session(t)
                    .filter(matters)
                    .all(|u| says_initial(&u))
        });
    let group = groups(all);
    let fits = |t: &usize| {
        let here = |others: &[usize]| -> Vec<usize> {
            others
                .iter()
                .copied()
                .filter(|&u| group[u] == group[*t])
                .collect()
        };
        let (own, others) = (here(&set_up), here(&others));
        let n_writers = |key: usize| own.iter().filter(|&&u| all[u].writes(key)).count();
        let once = own
            .iter()
            .flat_map(|&u| &all[u].operations)
            .all(|o| n_writers(o.key) == 1);
        let harmless =
            |o: &Operation| n_writers(o.key) == 1 && !(o.is_write && is_initial(o.value));
        let ran = |u: usize| {
            history
                .interval(TransactionId::new(u))
                .filter(|_| all[u].outcome == Outcome::Committed)
        };
        let ended_before = |other: usize, u: usize| {
            ran(other)
                .zip(ran(u))
                .is_some_and(|(other, own)| other.end < own.start)
        };
        let all_here = (0..all.len()).filter(|u| group[*u] == group[*t] && !own.contains(u));
        let is_late = all_here
            .clone()
            .any(|other| own.iter().any(|&u| ended_before(other, u)));
        once && !is_late
            && others
                .iter()
                .flat_map(|&u| &all[u].operations)
                .all(harmless)
    };
    set_up.iter().copied().filter(fits).collect()
}

/// By transaction: a number that those have in common which a chain of shared sessions and keys connects. What aborted
/// connects nothing.
fn groups(all: &[Transaction]) -> Vec<usize> {
    let touch = |t: usize, u: usize| {
        let takes_part = |t: usize| all[t].outcome != Outcome::Aborted;
        let key_in_common = || {
            all[t]
                .operations
                .iter()
                .any(|o| all[u].operations.iter().any(|p| p.key == o.key))
        };
        all[t].session == all[u].session || takes_part(t) && takes_part(u) && key_in_common()
    };
    let mut group: Vec<usize> = (0..all.len()).collect();
    loop {
        let before = group.clone();
        for t in 0..all.len() {
            for u in 0..all.len() {
                if touch(t, u) {
                    group[t] = group[t].min(group[u]);
                }
            }
        }
        if group == before {
            return group;
        }
    }
}

/// The active transactions of one choice, renumbered, with the relations between them.
struct World {
    n: usize,
    session_order: Vec<Vec<bool>>,
    write_read: Vec<Vec<bool>>,
    causal: Vec<Vec<bool>>,
    /// By transaction: its external reads in program order, as (key, writer).
    reads: Vec<Vec<(usize, usize)>>,
    /// By transaction: keys written.
    writes: Vec<BTreeSet<usize>>,
    /// By transaction: its appends in program order, as (key, element).
    appends: Vec<Vec<(usize, Value)>>,
    /// The lists that were found, as (key, elements, who made the last one).
    lists: Vec<(usize, Vec<Value>, Option<usize>)>,
    /// By key: the list at the beginning.
    initial_lists: Vec<Vec<Value>>,
}

impl World {
    fn new(observation: &Observation, choice: &Choice) -> World {
        let members: Vec<usize> = (0..choice.active.len())
            .filter(|&t| choice.active[t])
            .collect();
        let renumbered = |t: usize| {
            if t == BOTTOM {
                BOTTOM
            } else {
                members.binary_search(&t).expect("active")
            }
        };
        let n = members.len();
        let session = |t: usize| observation.transactions[members[t]].session;
        let mut world = World {
            n,
            session_order: vec![vec![false; n]; n],
            write_read: vec![vec![false; n]; n],
            causal: vec![vec![false; n]; n],
            reads: vec![Vec::new(); n],
            writes: vec![BTreeSet::new(); n],
            appends: vec![Vec::new(); n],
            lists: Vec::new(),
            initial_lists: observation.initial_lists.clone(),
        };
        for (t, &member) in members.iter().enumerate() {
            for (at, operation) in observation.transactions[member]
                .operations
                .iter()
                .enumerate()
            {
                if let Some(list) = &observation.lists[member][at] {
                    let source = choice.source[member][at].map(renumbered);
                    world.lists.push((operation.key, list.clone(), source));
                }
                if operation.is_write {
                    world.appends[t].push((operation.key, operation.value));
                    world.writes[t].insert(operation.key);
                } else if let Some(writer) = choice.source[member][at] {
                    let writer = renumbered(writer);
                    world.reads[t].push((operation.key, writer));
                    if writer != BOTTOM {
                        world.write_read[writer][t] = true;
                    }
                }
            }
            for u in t + 1..n {
                world.session_order[t][u] = session(t) == session(u);
            }
        }
        for a in 0..n {
            for b in 0..n {
                world.causal[a][b] = world.directly(a, b);
            }
        }
        for via in 0..n {
            for a in 0..n {
                for b in 0..n {
                    world.causal[a][b] |= world.causal[a][via] && world.causal[via][b];
                }
            }
        }
        world
    }

    /// SO ∪ WR.
    fn directly(&self, a: usize, b: usize) -> bool {
        self.session_order[a][b] || self.write_read[a][b]
    }

    /// Calls `visit` with every linear extension of SO ∪ WR (none when it is cyclic) as the position of each
    /// transaction, until it answers true. Heap-allocated stack of choices: depth is the number of transactions.
    fn for_each_order(&self, visit: &mut dyn FnMut(&[usize]) -> bool) {
        let mut position = vec![usize::MAX; self.n];
        self.extend_order(0, &mut position, visit);
    }

    fn extend_order(
        &self,
        next: usize,
        position: &mut [usize],
        visit: &mut dyn FnMut(&[usize]) -> bool,
    ) -> bool {
        if next == self.n {
            return visit(position);
        }
        for t in 0..self.n {
            let placed = |u: usize| position[u] != usize::MAX;
            if !placed(t) && (0..self.n).all(|u| !self.directly(u, t) || placed(u)) {
                position[t] = next;
                if self.extend_order(next + 1, position, visit) {
                    return true;
                }
                position[t] = usize::MAX;
            }
        }
        false
    }

    /// Whether `co`, a linear extension of SO ∪ WR, obeys the axioms of `level`: for every external read of x by t3 from
    /// t1 and every other writer t2 of x with φ(t2, t3), t2 comes before t1.
    ///
    /// Every list must be a beginning of the list that the commits in their order make, up to the last append of the
    /// transaction that is taken to have made its last element.
    fn is_order_for(&self, level: Level, co: &[usize]) -> bool {
        let is_found = |(key, list, source): &(usize, Vec<Value>, Option<usize>)| {
            let made = self.list_of(*key, co);
            let values: Vec<Value> = made.iter().map(|append| append.0).collect();
            let whole = |last: usize| made.get(last + 1).is_none_or(|next| next.1 != made[last].1);
            values.starts_with(list)
                && list
                    .len()
                    .checked_sub(1)
                    .is_none_or(|last| Some(made[last].1) == *source && whole(last))
        };
        if !self.lists.iter().all(is_found) {
            return false;
        }
        for t3 in 0..self.n {
            for (at, &(x, t1)) in self.reads[t3].iter().enumerate() {
                for t2 in 0..self.n {
                    if t2 != t1 && self.writes[t2].contains(&x) && self.phi(level, co, t2, t3, at) {
                        let before = t1 != BOTTOM && co[t2] < co[t1];
                        if !before {
                            return false;
                        }
                    }
                }
            }
        }
        true
    }

    /// What all appends to a key make when the transactions commit in this order: each element with who appended it.
    fn list_of(&self, key: usize, co: &[usize]) -> Vec<(Value, usize)> {
        let mut order: Vec<usize> = (0..self.n).collect();
        order.sort_by_key(|&t| co[t]);
        let appends = order
            .into_iter()
            .flat_map(|t| self.appends[t].iter().map(move |append| (t, append)));
        let appended = appends
            .filter(|(_, append)| append.0 == key)
            .map(|(t, append)| (append.1, t));
        self.initial_lists[key]
            .iter()
            .map(|&element| (element, BOTTOM))
            .chain(appended)
            .collect()
    }

    /// φ(t2, t3) for the read at place `at` among the external reads of t3.
    fn phi(&self, level: Level, co: &[usize], t2: usize, t3: usize, at: usize) -> bool {
        let before_or_same = |t4: usize| t2 == t4 || co[t2] < co[t4];
        let prefix = || (0..self.n).any(|t4| before_or_same(t4) && self.directly(t4, t3));
        let conflict = || {
            (0..self.n).any(|t4| {
                before_or_same(t4)
                    && co[t4] < co[t3]
                    && !self.writes[t4].is_disjoint(&self.writes[t3])
            })
        };
        match level {
            Level::ReadCommitted => self.reads[t3][..at].iter().any(|&(_, writer)| writer == t2),
            Level::ReadAtomic => self.directly(t2, t3),
            Level::TransactionalCausalConsistency => self.causal[t2][t3],
            Level::ParallelSnapshotIsolation => self.depends(co, t3, t2),
            Level::PrefixConsistency => prefix(),
            Level::SnapshotIsolation => prefix() || conflict(),
            Level::Serializability => co[t2] < co[t3],
            other => unreachable!("{other} has no axiom on commit orders with sessions"),
        }
    }

    /// Whether session order, reads and overwritten versions lead from `to` to `t`.
    fn depends(&self, co: &[usize], t: usize, to: usize) -> bool {
        let overwrites =
            |a: usize, b: usize| co[a] < co[b] && !self.writes[a].is_disjoint(&self.writes[b]);
        let mut seen = vec![t];
        let mut at = 0;
        while let Some(&b) = seen.get(at) {
            at += 1;
            let new = (0..self.n).filter(|&a| a != b && (self.directly(a, b) || overwrites(a, b)));
            let new: Vec<usize> = new.filter(|a| !seen.contains(a)).collect();
            seen.extend(new);
        }
        to != t && seen.contains(&to)
    }
}
