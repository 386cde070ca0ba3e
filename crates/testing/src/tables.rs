//! Histories with rows by brute force, from the definitions: which sets of transactions an operation may have seen, and what
//! it returns on the state that these leave, evaluated like a database would. There are no sources of reads, no orders of
//! versions and no relations between transactions here, and no rule for rows that a scan did not list. For at most four
//! committed transactions.

use super::lattice::code;
use fastrand::Rng;
use isoscope_model::history::{
    History, KeyId, OperationId, OperationKind, Outcome, Step, TransactionId, Value,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The bases that are decided, on the orders that count sessions, real time or neither.
const BASES: [&str; 12] = [
    "RR", "PL2", "RC", "MSR", "CS", "RA", "UA", "TCC", "PSI", "PC", "SI", "SER",
];

/// Transactions as a bit each.
type Set = u32;

/// What an operation needs to have seen: by key its content, absent where there is none.
type State = BTreeMap<KeyId, Value>;

enum Act {
    Write(KeyId, Value),
    Read(KeyId, Value),
    /// A place among the scans of the history.
    Scan(usize),
}

struct Transaction {
    id: TransactionId,
    session: u32,
    acts: Vec<Act>,
    last: State,
    start: Option<i64>,
    end: Option<i64>,
}

/// Which rows that an operation returned must be the newest ones.
#[derive(Clone, Copy)]
enum Protects {
    Nothing,
    /// Those that its transaction writes.
    Updates,
    Items,
}

/// The transactions that committed, under one assumption on those of unknown outcome.
struct World<'a> {
    history: &'a History,
    initial: State,
    all: Vec<Transaction>,
    session: Vec<Set>,
    time: Vec<Set>,
    by_key: Vec<Set>,
}

/// What holds, by code, at the levels that are decided here; whether real time says anything is for the caller to know.
pub fn satisfied(history: &History) -> BTreeSet<String> {
    let counts = |t: &TransactionId| {
        history.set_up().binary_search(t).is_err() && history.outcome(*t) != Outcome::Aborted
    };
    let unknown: Vec<TransactionId> = history
        .transactions()
        .filter(|t| counts(t) && history.outcome(*t) == Outcome::Unknown)
        .collect();
    let mut found = BTreeSet::new();
    for some in 0u32..1 << unknown.len() {
        let committed = |t: &TransactionId| {
            let place = unknown.iter().position(|other| other == t);
            counts(t) && place.is_none_or(|place| some >> place & 1 == 1)
        };
        let all: Vec<TransactionId> = history.transactions().filter(committed).collect();
        found.extend(World::new(history, &all).satisfied());
    }
    found
}

/// Whether all reads of a key in a transaction that are not of its own writes, of items only if so asked, may have returned
/// what one transaction wrote, or the initial version; reads of values that were never written do not count. Only if no outcome is
/// unknown.
pub fn is_cut(history: &History, of_items: bool) -> bool {
    let counts = |t: &TransactionId| {
        history.set_up().binary_search(t).is_err() && history.outcome(*t) != Outcome::Aborted
    };
    let all: Vec<TransactionId> = history.transactions().filter(counts).collect();
    let written = |t: TransactionId, key: KeyId| -> Vec<OperationId> {
        let is_it = |o: &OperationId| {
            let o = history.operation(*o);
            o.kind == OperationKind::Write && o.key == key
        };
        history.operations_of(t).filter(is_it).collect()
    };
    let value = |o: OperationId| history.operation(o).value;
    all.iter().all(|&t| {
        let mut reads: BTreeMap<KeyId, Vec<OperationId>> = BTreeMap::new();
        for o in history.operations_of(t) {
            let key = history.operation(o).key;
            let own = written(t, key).into_iter().rfind(|write| *write < o);
            let is_read = history.operation(o).kind == OperationKind::Read;
            let is_own = own.is_some_and(|own| history.may_return(o, value(own)));
            if is_read && !is_own && (!of_items || history.is_of_item(o)) {
                reads.entry(key).or_default().push(o);
            }
        }
        reads.into_iter().all(|(key, mut reads)| {
            let others = all.iter().filter(|other| **other != t);
            let makers: Vec<Vec<OperationId>> = others.map(|u| written(*u, key)).collect();
            let made = |read: OperationId, by: &[OperationId]| {
                by.iter()
                    .any(|write| history.may_return(read, value(*write)))
            };
            reads.retain(|&read| {
                history.may_return_initial(read) || makers.iter().any(|by| made(read, by))
            });
            reads.iter().all(|&read| history.may_return_initial(read))
                || makers
                    .iter()
                    .any(|by| reads.iter().all(|&read| made(read, by)))
        })
    })
}

/// The codes that [`satisfied`] decides.
pub fn decided() -> BTreeSet<String> {
    let of_base = BASES
        .iter()
        .flat_map(|base| ['P', 'S', 'R'].map(|order| code(base, order)));
    let more = ["K-SI", "K-SER", "C-PC", "C-SI", "RYW"].map(str::to_owned);
    of_base.chain(more).collect()
}

impl World<'_> {
    fn new<'a>(history: &'a History, committed: &[TransactionId]) -> World<'a> {
        let act = |step: Step<'_>| match step {
            Step::Operation(o) => {
                let o = history.operation(o);
                match o.kind {
                    OperationKind::Write => Act::Write(o.key, o.value),
                    OperationKind::Read => Act::Read(o.key, o.value),
                }
            }
            Step::Scan(scan) => {
                let place = history.scans().iter().position(|other| other == scan);
                Act::Scan(place.expect("it is one of them"))
            }
        };
        let transaction = |&t: &TransactionId| {
            let acts: Vec<Act> = history.steps_of(t).map(act).collect();
            let written = acts.iter().filter_map(|act| match act {
                Act::Write(key, value) => Some((*key, *value)),
                _ => None,
            });
            let is_known = history.outcome(t) == Outcome::Committed;
            Transaction {
                id: t,
                session: history.session_of(t).0,
                last: written.collect(),
                acts,
                start: history.interval(t).map(|ran| ran.start),
                end: history.interval(t).filter(|_| is_known).map(|ran| ran.end),
            }
        };
        let all: Vec<Transaction> = committed.iter().map(transaction).collect();
        let keys = (0..history.n_keys()).map(KeyId::new);
        let initial = keys.map(|key| {
            let set_up = history.initial_value_of(key);
            (key, set_up.unwrap_or(Value::ABSENT))
        });
        let mut world = World {
            history,
            initial: initial.collect(),
            session: vec![0; all.len()],
            time: vec![0; all.len()],
            by_key: vec![0; all.len()],
            all,
        };
        for a in 0..world.all.len() {
            for b in (0..world.all.len()).filter(|&b| a != b) {
                let [one, other] = [a, b].map(|t| &world.all[t]);
                if one.session == other.session && a < b {
                    world.session[b] |= 1 << a;
                }
                if one
                    .end
                    .zip(other.start)
                    .is_some_and(|(end, start)| end < start)
                {
                    world.time[b] |= 1 << a;
                    let keys =
                        |t: &Transaction| history.keys_used_by(t.id).collect::<BTreeSet<_>>();
                    if !keys(one).is_disjoint(&keys(other)) {
                        world.by_key[b] |= 1 << a;
                    }
                }
            }
        }
        world
    }

    /// The state that these leave in this order.
    fn state(&self, order: &[usize], seen: Set) -> State {
        let mut state = self.initial.clone();
        for &t in order.iter().filter(|&&t| seen >> t & 1 == 1) {
            state.extend(&self.all[t].last);
        }
        state
    }

    /// Whether an operation returns what it returned on a state that its own transaction changed so far.
    fn fits(&self, t: usize, place: usize, mut state: State) -> bool {
        for act in &self.all[t].acts[..place] {
            if let Act::Write(key, value) = act {
                state.insert(*key, *value);
            }
        }
        match &self.all[t].acts[place] {
            Act::Write(..) => true,
            Act::Read(key, value) => match *value {
                Value::INITIAL => self.initial[key] == state[key],
                value => state[key] == value,
            },
            Act::Scan(scan) => {
                let scan = &self.history.scans()[*scan];
                let listed: Vec<(KeyId, Value)> = scan
                    .listed()
                    .map(|o| {
                        (
                            self.history.keys()[o.index()],
                            self.history.values()[o.index()],
                        )
                    })
                    .collect();
                state.iter().all(|(&key, &there)| {
                    let of_key: Vec<Value> = listed
                        .iter()
                        .filter(|(of, _)| *of == key)
                        .map(|(_, value)| *value)
                        .collect();
                    let name = self.history.key_names().get(key.index());
                    let is_match = there != Value::ABSENT
                        && scan.asked.row(&name).is_some_and(|row| {
                            let value = self.history.exact_value_name(there);
                            scan.asked.predicate.matches(row, &value)
                        });
                    match *of_key.as_slice() {
                        [] => !is_match,
                        [Value::LISTED] => is_match,
                        [value] => is_match && value == there,
                        _ => false,
                    }
                })
            }
        }
    }

    /// The places of what is no write.
    fn reads(&self, t: usize) -> impl Iterator<Item = usize> + '_ {
        let acts = self.all[t].acts.iter().enumerate();
        acts.filter(|(_, act)| !matches!(act, Act::Write(..)))
            .map(|(place, _)| place)
    }

    fn write_a_common_key(&self, a: usize, b: usize) -> bool {
        self.all[a]
            .last
            .keys()
            .any(|key| self.all[b].last.contains_key(key))
    }

    fn satisfied(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        permute(&mut order, 0, &mut |order| self.add(order, &mut found));
        found
    }

    /// What holds if they committed in this order.
    fn add(&self, order: &[usize], found: &mut BTreeSet<String>) {
        let n = order.len();
        let set = |some: &[usize]| some.iter().fold(0u32, |set, t| set | 1 << t);
        let at = |t: usize| order.iter().position(|&other| other == t).unwrap_or(0);
        let before: Vec<Set> = (0..n).map(|t| set(&order[..at(t)])).collect();
        let respects = |rows: &[Set]| (0..n).all(|t| rows[t] & !before[t] == 0);
        // By transaction: the sets of earlier ones on which all of it fits, and those by operation.
        let subsets = |t: usize| {
            (0u32..1 << n)
                .filter(|seen| seen & !before[t] == 0)
                .collect::<Vec<Set>>()
        };
        let ok = |t: usize, place: usize, seen: Set| self.fits(t, place, self.state(order, seen));
        let all_fit: Vec<Vec<Set>> = (0..n)
            .map(|t| {
                let fits = |&seen: &Set| self.reads(t).all(|place| ok(t, place, seen));
                subsets(t).into_iter().filter(fits).collect()
            })
            .collect();
        let prefixes = |t: usize| (0..=at(t)).map(|n| set(&order[..n])).collect::<Vec<Set>>();
        let single = |must: &dyn Fn(usize) -> Set, protects: Protects| {
            (0..n).all(|t| {
                self.reads(t)
                    .all(|place| self.row_by_row(order, t, place, must(t), protects))
            })
        };
        let grows = |sets: &dyn Fn(usize) -> Vec<Set>| {
            (0..n).all(|t| {
                let mut last: Option<Vec<Set>> = None;
                self.reads(t).all(|place| {
                    let mut here: Vec<Set> = sets(t)
                        .into_iter()
                        .filter(|&seen| ok(t, place, seen))
                        .collect();
                    if let Some(last) = &last {
                        here.retain(|seen| last.iter().any(|earlier| earlier & !seen == 0));
                    }
                    let is_possible = !here.is_empty();
                    last = Some(here);
                    is_possible
                })
            })
        };
        let [committed, cursor, repeatable] =
            [Protects::Nothing, Protects::Updates, Protects::Items].map(|all| single(&|_| 0, all));
        let rc = grows(&subsets);
        let both: Vec<Set> = (0..n).map(|t| self.session[t] | self.time[t]).collect();
        let none = vec![0; n];
        let conflicts = |t: usize| {
            (0..n)
                .filter(|&u| u != t && before[t] >> u & 1 == 1 && self.write_a_common_key(u, t))
                .fold(0, |set, u| set | 1 << u)
        };
        for letter in ['P', 'S', 'R', 'K', 'C'] {
            let must = match letter {
                'S' => &self.session,
                'R' => &both,
                'K' => &self.by_key,
                _ => &none,
            };
            let respected = if letter == 'C' { &self.time } else { must };
            if !respects(respected) {
                continue;
            }
            let mut add = |base: &str, holds: bool| {
                if holds {
                    found.insert(code(base, letter));
                }
            };
            let with = |more: &dyn Fn(usize) -> Set| -> Vec<Vec<Set>> {
                let keeps = |t: usize| {
                    let needed = must[t] | more(t);
                    all_fit[t]
                        .iter()
                        .copied()
                        .filter(|seen| needed & !seen == 0)
                        .collect()
                };
                (0..n).map(keeps).collect()
            };
            let (ra, ua) = (with(&|_| 0), with(&conflicts));
            let snapshots: Vec<Vec<Set>> = (0..n)
                .map(|t| {
                    let prefixes = prefixes(t);
                    let is_one = |seen: &Set| prefixes.contains(seen);
                    ra[t].iter().copied().filter(is_one).collect()
                })
                .collect();
            let is_apart = |t: usize| snapshots[t].iter().any(|seen| conflicts(t) & !seen == 0);
            let is_serial = (0..n).all(|t| all_fit[t].contains(&before[t]));
            if letter == 'K' || letter == 'C' {
                add("SI", (0..n).all(is_apart));
                add(
                    if letter == 'K' { "SER" } else { "PC" },
                    match letter {
                        'K' => is_serial,
                        _ => snapshots.iter().all(|sets| !sets.is_empty()),
                    },
                );
                continue;
            }
            let possible = |sets: &[Vec<Set>]| sets.iter().all(|sets| !sets.is_empty());
            add("PL2", committed);
            add("CS", cursor);
            add("RR", repeatable);
            add("RC", rc);
            add(
                "MSR",
                grows(&|t| {
                    prefixes(t)
                        .into_iter()
                        .filter(|seen| must[t] & !seen == 0)
                        .collect()
                }),
            );
            add("RA", possible(&ra));
            add("UA", possible(&ua));
            add("TCC", transitive(order, &ra, &mut BTreeMap::new()));
            add("PSI", transitive(order, &ua, &mut BTreeMap::new()));
            add("PC", possible(&snapshots));
            add("SI", (0..n).all(is_apart));
            add("SER", is_serial);
            if letter == 'S' && single(&|t| must[t], Protects::Nothing) {
                found.insert("RYW".to_owned());
            }
        }
    }

    /// Whether an operation may have found each row by itself in some version of an earlier transaction, or the initial one:
    /// none older than that of a transaction in `must`; those that it returned and that are protected are the newest ones.
    fn row_by_row(
        &self,
        order: &[usize],
        t: usize,
        place: usize,
        must: Set,
        protects: Protects,
    ) -> bool {
        let at = order.iter().position(|&other| other == t).unwrap_or(0);
        let own = |key: &KeyId| {
            let acts = self.all[t].acts[..place].iter().rev();
            acts.into_iter().find_map(|act| match act {
                Act::Write(of, value) if of == key => Some(*value),
                _ => None,
            })
        };
        let returned = |key: KeyId| match &self.all[t].acts[place] {
            Act::Write(..) => false,
            Act::Read(of, _) => *of == key,
            Act::Scan(scan) => self.history.scans()[*scan]
                .listed()
                .map(OperationId::index)
                .any(|o| {
                    self.history.keys()[o] == key && self.history.values()[o] != Value::LISTED
                }),
        };
        let versions = |key: KeyId| -> Vec<Value> {
            if let Some(own) = own(&key) {
                return vec![own];
            }
            let mut versions = vec![self.initial[&key]];
            for &u in &order[..at] {
                if let Some(value) = self.all[u].last.get(&key) {
                    if must >> u & 1 == 1 {
                        versions.clear();
                    }
                    versions.push(*value);
                }
            }
            let is_protected = match protects {
                Protects::Nothing => false,
                Protects::Updates => self.all[t].last.contains_key(&key),
                Protects::Items => true,
            };
            if is_protected && returned(key) {
                versions.drain(..versions.len() - 1);
            }
            versions
        };
        let mut states = vec![State::new()];
        for key in self.initial.keys() {
            let versions = versions(*key);
            let with = |state: &State| {
                let state = state.clone();
                versions
                    .iter()
                    .map(move |&value| {
                        let mut state = state.clone();
                        state.insert(*key, value);
                        state
                    })
                    .collect::<Vec<State>>()
            };
            states = states.iter().flat_map(with).collect();
        }
        states.into_iter().any(|state| self.fits(t, place, state))
    }
}

/// Whether what transactions see can be chosen so that each sees all that those it sees saw.
fn transitive(order: &[usize], options: &[Vec<Set>], chosen: &mut BTreeMap<usize, Set>) -> bool {
    let Some(&t) = order.get(chosen.len()) else {
        return true;
    };
    options[t].iter().any(|&seen| {
        let is_closed = chosen
            .iter()
            .all(|(&u, &of_u)| seen >> u & 1 == 0 || of_u & !seen == 0);
        is_closed && {
            chosen.insert(t, seen);
            let holds = transitive(order, options, chosen);
            chosen.remove(&t);
            holds
        }
    })
}

fn permute(items: &mut [usize], from: usize, each: &mut impl FnMut(&[usize])) {
    if from == items.len() {
        return each(items);
    }
    for at in from..items.len() {
        items.swap(from, at);
        permute(items, from + 1, each);
        items.swap(from, at);
    }
}

/// A history in our notation of at most four transactions and three rows: a store ran them, on a view of the order of commits
/// that was more or less good.
pub fn random(rng: &mut Rng) -> String {
    Store::new(rng).run()
}

/// What a transaction of the store is to do.
#[derive(Clone)]
enum Wish {
    Write(usize, Option<u32>),
    Read(usize),
    Scan(usize, bool),
}

/// What scans ask: a text, and which key and value match.
type Question = (&'static str, fn(usize, u32) -> bool);

const QUESTIONS: [Question; 9] = [
    ("", |_, _| true),
    ("", |_, _| true),
    ("(v = 1)", |_, value| value == 1),
    ("(v = 2)", |_, value| value == 2),
    ("(v mod 2 = 0)", |_, value| value % 2 == 0),
    ("(v < 3)", |_, value| value < 3),
    ("(key x..y)", |key, _| key < 2),
    ("(not v = 1)", |_, value| value != 1),
    ("(key y..z and v mod 2 = 1)", |key, value| {
        key > 0 && value % 2 == 1
    }),
];

struct Store<'r> {
    rng: &'r mut Rng,
    n_keys: usize,
    initial: Vec<Option<u32>>,
    wishes: Vec<Vec<Wish>>,
}

impl Store<'_> {
    fn new(rng: &mut Rng) -> Store<'_> {
        let n_keys = [1, 2, 2, 3][rng.usize(0..4)];
        let initial = (0..n_keys)
            .map(|_| (rng.u8(0..3) == 0).then(|| rng.u32(1..3)))
            .collect();
        let is_unique = rng.u8(0..5) < 2;
        let mut next = vec![2; n_keys];
        let n = [2, 3, 3, 3, 4][rng.usize(0..5)];
        let mut wish = |rng: &mut Rng| {
            let key = rng.usize(0..n_keys);
            match rng.u8(0..100) {
                0..32 => {
                    next[key] += 1;
                    let value = if is_unique { next[key] } else { rng.u32(1..5) };
                    Wish::Write(key, Some(value))
                }
                32..44 => Wish::Write(key, None),
                44..58 => Wish::Read(key),
                _ => Wish::Scan(rng.usize(0..QUESTIONS.len()), rng.u8(0..4) == 0),
            }
        };
        let wishes = (0..n)
            .map(|_| {
                (0..[1, 2, 2, 3][rng.usize(0..4)])
                    .map(|_| wish(rng))
                    .collect()
            })
            .collect();
        Store {
            rng,
            n_keys,
            initial,
            wishes,
        }
    }

    fn run(mut self) -> String {
        let n = self.wishes.len();
        let mut order: Vec<usize> = (0..n).collect();
        self.rng.shuffle(&mut order);
        let style = self.rng.u8(0..7);
        let noise = [0, 0, 15, 40][self.rng.usize(0..4)];
        let mut texts = vec![String::new(); n];
        for (place, &t) in order.iter().enumerate() {
            let mut view = self.view(&order[..place], style);
            let mut own = vec![None; self.n_keys];
            for wish in self.wishes[t].clone() {
                if let Wish::Write(key, value) = wish {
                    own[key] = Some(value);
                } else if style == 6 || self.rng.u8(0..100) < noise {
                    view = self.view(&order[..place], style);
                }
                let mut now = view.clone();
                if self.rng.u8(0..100) < noise {
                    let key = self.rng.usize(0..self.n_keys);
                    let other = self.rng.usize(0..n);
                    let mut written = self.wishes[other].iter().filter_map(|wish| match wish {
                        Wish::Write(of, value) if *of == key && other != t => Some(*value),
                        _ => None,
                    });
                    now[key] = written.next_back().unwrap_or(self.initial[key]);
                }
                for (key, value) in own.iter().enumerate() {
                    now[key] = value.unwrap_or(now[key]);
                }
                let comma = if texts[t].is_empty() { "" } else { ", " };
                let vain = (self.rng.u8(0..40) == 0).then(|| self.rng.usize(0..self.n_keys));
                let text = said(&wish, &now, vain);
                texts[t] += comma;
                texts[t] += &text;
            }
        }
        self.told(&order, &texts)
    }

    /// What a transaction sees of those before it.
    fn view(&mut self, before: &[usize], style: u8) -> Vec<Option<u32>> {
        let until = match style {
            0 => before.len(),
            _ => self.rng.usize(0..=before.len()),
        };
        let mut view = self.initial.clone();
        for (place, &t) in before.iter().enumerate() {
            let sees = match style {
                3 | 4 => self.rng.u8(0..10) < 6,
                _ => place < until,
            };
            for wish in self.wishes[t].iter().filter(|_| sees) {
                if let Wish::Write(key, value) = wish {
                    view[*key] = *value;
                }
            }
        }
        view
    }

    fn told(&mut self, order: &[usize], texts: &[String]) -> String {
        let mut text = String::new();
        let set_up = self.initial.iter().zip(["x", "y", "z"]);
        let rows: Vec<String> = set_up
            .filter_map(|(value, key)| Some(format!("i {key} {}", (*value)?)))
            .collect();
        if !rows.is_empty() {
            let _ = writeln!(text, "init: [{}]*", rows.join(", "));
        }
        let n_sessions = self.rng.usize(1..=4);
        let sessions: Vec<usize> = texts
            .iter()
            .map(|_| self.rng.usize(0..n_sessions))
            .collect();
        let has_times = self.rng.u8(0..10) < 7;
        let mut clock = vec![0; n_sessions];
        let by_commit = self.rng.bool();
        let mut times = vec![String::new(); texts.len()];
        let turns: Vec<usize> = match by_commit {
            true => order.to_vec(),
            false => (0..texts.len()).collect(),
        };
        for (turn, t) in turns.into_iter().enumerate() {
            let jitter = if self.rng.bool() {
                turn as i64
            } else {
                self.rng.i64(0..6)
            };
            let begin = clock[sessions[t]] + self.rng.i64(1..4) + jitter;
            let end = begin + self.rng.i64(0..6);
            clock[sessions[t]] = end;
            if has_times {
                times[t] = format!(" @{begin}..{end}");
            }
        }
        let odd = (self.rng.u8(0..7) == 0).then(|| self.rng.usize(0..texts.len()));
        for (session, name) in ["a", "b", "c", "d"].iter().enumerate().take(n_sessions) {
            let _ = write!(text, "{name}:");
            for t in (0..texts.len()).filter(|&t| sessions[t] == session) {
                let mark = match odd {
                    Some(odd) if odd == t => ["?", "?", "!"][self.rng.usize(0..3)],
                    _ => "",
                };
                let _ = write!(text, " [{}]{mark}{}", texts[t], times[t]);
            }
            text.push('\n');
        }
        text
    }
}

/// What an operation returns on a state; a scan also the row `vain`, whether it matches or is listed already.
fn said(wish: &Wish, state: &[Option<u32>], vain: Option<usize>) -> String {
    let name = |key: usize| ["x", "y", "z"][key];
    match *wish {
        Wish::Write(key, Some(value)) => format!("w {} {value}", name(key)),
        Wish::Write(key, None) => format!("d {}", name(key)),
        Wish::Read(key) => match state[key] {
            Some(value) => format!("r {} {value}", name(key)),
            None => format!("r {} absent", name(key)),
        },
        Wish::Scan(question, only_keys) => {
            let (text, matches) = QUESTIONS[question];
            let found = state.iter().enumerate();
            let found = found.filter_map(|(key, value)| Some((key, (*value)?)));
            let in_vain = vain.map(|key| (key, state[key].unwrap_or(1)));
            let rows: Vec<String> = found
                .filter(|&(key, value)| matches(key, value))
                .chain(in_vain)
                .map(|(key, value)| match only_keys {
                    true => name(key).to_owned(),
                    false => format!("{} {value}", name(key)),
                })
                .collect();
            let keys = if only_keys { "keys " } else { "" };
            format!("s {text} {keys}{{{}}}", rows.join(", "))
        }
    }
}
