//! Every level of the lattice by brute force over the orders of versions, and monotonic snapshot reads over the orders of
//! commits: the definitions word by word, for histories of at most six transactions without a set-up. Nothing is shared
//! with the engines but the history.

use isoscope_model::history::{History, OperationKind, Outcome, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A relation: by transaction, the set of those that it leads to.
type Rows = Vec<u32>;

/// In the place of ⊥ as the writer of a read.
const BOTTOM: usize = usize::MAX;

const ORDERS: [char; 5] = ['P', 'S', 'R', 'K', 'C'];

/// The verdict of each level by code; none without times that order anything, or with times against session order.
pub type Verdicts = BTreeMap<String, Option<bool>>;

/// The code of a base on an order.
pub fn code(base: &str, order: char) -> String {
    match (base, order) {
        ("SER", 'R') => "SSER".to_owned(),
        (_, 'S') => base.to_owned(),
        _ => format!("{order}-{base}"),
    }
}

#[derive(Clone)]
struct Transaction {
    session: usize,
    outcome: Outcome,
    start: Option<i64>,
    end: Option<i64>,
    operations: Vec<Operation>,
}

#[derive(Clone)]
struct Operation {
    kind: OperationKind,
    key: usize,
    value: Value,
    list: Option<Vec<Value>>,
}

fn transactions(history: &History) -> Vec<Transaction> {
    let operation = |o| {
        let operation = history.operation(o);
        let list = history.lists().read_by(o).map(<[Value]>::to_vec);
        Operation {
            kind: operation.kind,
            key: operation.key.index(),
            value: operation.value,
            list,
        }
    };
    let all = history.transactions().map(|t| Transaction {
        session: history.session_of(t).index(),
        outcome: history.outcome(t),
        start: history.interval(t).map(|ran| ran.start),
        end: history.interval(t).map(|ran| ran.end),
        operations: history.operations_of(t).map(operation).collect(),
    });
    all.collect()
}

/// Of the transactions of unknown outcome, those observed committed, at no known time; the others are left out.
fn promoted(all: &[Transaction]) -> Vec<Transaction> {
    let mut all = all.to_vec();
    loop {
        let unexplained = unexplained(&all);
        let is_new = |t: &Transaction| {
            t.outcome == Outcome::Unknown && written(t, ..).any(|w| unexplained.contains(&w))
        };
        let new: Vec<usize> = (0..all.len()).filter(|&t| is_new(&all[t])).collect();
        if new.is_empty() {
            all.retain(|t| t.outcome != Outcome::Unknown);
            return all;
        }
        for t in new {
            (all[t].outcome, all[t].end) = (Outcome::Committed, None);
        }
    }
}

/// What some operations of a transaction write.
fn written(
    t: &Transaction,
    places: impl std::slice::SliceIndex<[Operation], Output = [Operation]>,
) -> impl Iterator<Item = (usize, Value)> {
    let operations = t.operations[places].iter();
    operations
        .filter(|o| o.kind == OperationKind::Write)
        .map(|o| (o.key, o.value))
}

/// What committed transactions read, and what neither another one nor they themselves wrote before.
fn unexplained(all: &[Transaction]) -> BTreeSet<(usize, Value)> {
    let committed = || {
        all.iter()
            .enumerate()
            .filter(|(_, t)| t.outcome == Outcome::Committed)
    };
    let mut unexplained = BTreeSet::new();
    for (reader, t) in committed() {
        for (place, read) in t.operations.iter().enumerate() {
            if read.kind != OperationKind::Read {
                continue;
            }
            let values = read
                .list
                .as_deref()
                .unwrap_or(std::slice::from_ref(&read.value));
            let is_new = |value: &Value| {
                let mut others = committed().filter(|(other, _)| *other != reader);
                !others.any(|(_, t)| written(t, ..).any(|w| w == (read.key, *value)))
                    && !written(t, ..place).any(|w| w == (read.key, *value))
            };
            let new = values.iter().filter(|value| is_new(value));
            unexplained.extend(new.map(|&value| (read.key, value)));
        }
    }
    unexplained
}

/// The committed transactions with one writer for each read.
struct World {
    n: usize,
    keys: usize,
    /// A read is wrong by itself, or lists cannot come from one order.
    bad: bool,
    /// Two reads of a key in one transaction return versions of different others.
    torn: bool,
    /// By transaction: its external reads as (place, key, writer).
    reads: Vec<Vec<(usize, usize, usize)>>,
    /// By transaction and key: the place of its last write.
    last: Vec<BTreeMap<usize, usize>>,
    /// By key: what each order of its writers must begin with.
    prefixes: Vec<Vec<Vec<usize>>>,
    /// By key: pairs of writers that lists order, whatever else is wrong with them.
    shown: Vec<BTreeSet<(usize, usize)>>,
    wr: Rows,
    rt: Rows,
    orders: BTreeMap<char, Rows>,
    /// The reads with several possible writers, and these.
    open: Vec<((usize, usize), Vec<usize>)>,
}

impl World {
    fn new(
        all: &[Transaction],
        is_initial: &dyn Fn(usize, Value) -> bool,
        choice: &BTreeMap<(usize, usize), usize>,
    ) -> World {
        let live: Vec<&Transaction> = all
            .iter()
            .filter(|t| t.outcome == Outcome::Committed)
            .collect();
        let n = live.len();
        let keys = all
            .iter()
            .flat_map(|t| &t.operations)
            .map(|o| o.key + 1)
            .max()
            .unwrap_or(0);
        let mut writers: BTreeMap<(usize, Value), Vec<(usize, usize)>> = BTreeMap::new();
        let mut last = vec![BTreeMap::new(); n];
        for (t, of) in live.iter().enumerate() {
            for (place, o) in of
                .operations
                .iter()
                .enumerate()
                .filter(|(_, o)| o.kind == OperationKind::Write)
            {
                writers
                    .entry((o.key, o.value))
                    .or_default()
                    .push((t, place));
                last[t].insert(o.key, place);
            }
        }
        let mut world = World {
            n,
            keys,
            bad: false,
            torn: false,
            reads: vec![Vec::new(); n],
            last,
            prefixes: vec![Vec::new(); keys],
            shown: vec![BTreeSet::new(); keys],
            wr: vec![0; n],
            rt: vec![0; n],
            orders: BTreeMap::new(),
            open: Vec::new(),
        };
        for t in 0..n {
            for (place, o) in live[t]
                .operations
                .iter()
                .enumerate()
                .filter(|(_, o)| o.kind == OperationKind::Read)
            {
                match &o.list {
                    Some(list) => world.read_list(t, place, o.key, list, &live, &writers),
                    None if o.value == Value::UNRECORDED => {}
                    None => world.read(t, place, o, &live, &writers, is_initial, choice),
                }
            }
        }
        for t in 0..n {
            for &(_, key, writer) in &world.reads[t] {
                world.torn |= writer != t
                    && world.reads[t]
                        .iter()
                        .any(|&(_, k, other)| k == key && other != t && other != writer);
                if writer != BOTTOM {
                    world.wr[writer] |= 1 << t;
                }
            }
        }
        world.order(&live);
        world
    }

    fn order(&mut self, live: &[&Transaction]) {
        let (mut so, mut rk) = (vec![0; self.n], vec![0; self.n]);
        let is_known = |o: &&Operation| o.value != Value::UNRECORDED;
        let keys = |t: usize| {
            live[t]
                .operations
                .iter()
                .filter(is_known)
                .map(|o| o.key)
                .collect::<BTreeSet<_>>()
        };
        for (a, b) in pairs(self.n) {
            if live[a].session == live[b].session && a < b {
                so[a] |= 1 << b;
            }
            if live[a]
                .end
                .zip(live[b].start)
                .is_some_and(|(end, start)| end < start)
            {
                self.rt[a] |= 1 << b;
                if !keys(a).is_disjoint(&keys(b)) {
                    rk[a] |= 1 << b;
                }
            }
        }
        let none = vec![0; self.n];
        // Each by itself: what ended before an earlier transaction of the session began need not have ended before this one.
        let both = union(&[&so, &self.rt]);
        self.orders = [
            ('P', none.clone()),
            ('S', so),
            ('R', both),
            ('K', rk),
            ('C', none),
        ]
        .into();
    }

    #[allow(clippy::too_many_arguments)]
    fn read(
        &mut self,
        t: usize,
        place: usize,
        read: &Operation,
        live: &[&Transaction],
        writers: &BTreeMap<(usize, Value), Vec<(usize, usize)>>,
        is_initial: &dyn Fn(usize, Value) -> bool,
        choice: &BTreeMap<(usize, usize), usize>,
    ) {
        let before = live[t].operations[..place].iter().rev();
        let own = before
            .into_iter()
            .find(|o| o.kind == OperationKind::Write && o.key == read.key);
        if own.is_some_and(|own| own.value == read.value) {
            return;
        }
        let candidates = writers
            .get(&(read.key, read.value))
            .cloned()
            .unwrap_or_default();
        if candidates.iter().any(|&(a, at)| a == t && at < place) {
            self.bad = true;
            return;
        }
        let mut others: Vec<usize> = candidates.iter().map(|c| c.0).filter(|&a| a != t).collect();
        others.extend(is_initial(read.key, read.value).then_some(BOTTOM));
        others.sort_unstable();
        others.dedup();
        let Some(&first) = others.first() else {
            self.bad = true;
            return;
        };
        let writer = choice.get(&(t, place)).copied().unwrap_or(first);
        if others.len() > 1 {
            self.open.push(((t, place), others));
        }
        let left = |w: usize| live[w].operations[self.last[w][&read.key]].value;
        self.bad |= own.is_some() || writer != BOTTOM && left(writer) != read.value;
        self.reads[t].push((place, read.key, writer));
    }

    fn read_list(
        &mut self,
        t: usize,
        place: usize,
        key: usize,
        list: &[Value],
        live: &[&Transaction],
        writers: &BTreeMap<(usize, Value), Vec<(usize, usize)>>,
    ) {
        let appends = |t: usize, before: usize| -> Vec<Value> {
            let of = live[t].operations[..before].iter();
            of.filter(|o| o.kind == OperationKind::Write && o.key == key)
                .map(|o| o.value)
                .collect()
        };
        let own = appends(t, place);
        let who: Vec<Option<usize>> = list
            .iter()
            .map(
                |&value| match writers.get(&(key, value)).map_or(&[][..], Vec::as_slice) {
                    [(one, _)] => Some(*one),
                    _ => None,
                },
            )
            .collect();
        self.bad |= who.contains(&None);
        let good: Vec<usize> = who.iter().flatten().copied().collect();
        for (at, &a) in good.iter().enumerate() {
            self.shown[key].extend(good[at + 1..].iter().filter(|&&b| a != b).map(|&b| (a, b)));
        }
        self.bad |=
            list.iter().collect::<BTreeSet<_>>().len() != list.len() || !list.ends_with(&own);
        let found = &who[..list.len().saturating_sub(own.len())];
        if who.contains(&None) || found.contains(&Some(t)) {
            self.bad = true;
            return;
        }
        let mut versions: Vec<usize> = found.iter().flatten().copied().collect();
        versions.dedup();
        let is_whole = |&w: &usize| {
            let of_writer = list
                .iter()
                .zip(found)
                .filter(|(_, by)| **by == Some(w))
                .map(|(value, _)| *value);
            of_writer.collect::<Vec<Value>>() == appends(w, live[w].operations.len())
        };
        if versions.iter().collect::<BTreeSet<_>>().len() != versions.len()
            || !versions.iter().all(is_whole)
        {
            self.bad = true;
            return;
        }
        self.reads[t].push((place, key, versions.last().copied().unwrap_or(BOTTOM)));
        self.prefixes[key].push(versions);
    }

    fn writes(&self, t: usize, key: usize) -> bool {
        self.last[t].contains_key(&key)
    }

    /// All orders of the writers of each key, with what lists show or only with what PL-1 takes from them.
    fn version_orders(&self, strict: bool) -> Vec<Vec<Vec<usize>>> {
        let mut all: Vec<Vec<Vec<usize>>> = vec![Vec::new()];
        for key in 0..self.keys {
            let writers: Vec<usize> = (0..self.n).filter(|&t| self.writes(t, key)).collect();
            let at = |order: &[usize], t: usize| order.iter().position(|&other| other == t);
            let fits = |order: &Vec<usize>| {
                if strict {
                    self.prefixes[key]
                        .iter()
                        .all(|prefix| order.starts_with(prefix))
                } else {
                    self.shown[key]
                        .iter()
                        .all(|&(a, b)| at(order, a) < at(order, b))
                }
            };
            let orders: Vec<Vec<usize>> = permutations(&writers).into_iter().filter(fits).collect();
            all = all
                .iter()
                .flat_map(|some| {
                    orders
                        .iter()
                        .map(|order| [some.as_slice(), std::slice::from_ref(order)].concat())
                })
                .collect();
        }
        all
    }

    /// What holds for some order of versions, and for monotonic snapshot reads for some order of commits.
    fn satisfied(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for versions in self.version_orders(false) {
            let ww = ordered(self.n, &versions);
            for order in ['P', 'S', 'R'] {
                if is_acyclic(&union(&[&self.orders[&order], &ww])) {
                    found.insert(code("PL1", order));
                }
            }
        }
        if !self.torn {
            found.insert("CI".to_owned());
        }
        if self.bad {
            return found;
        }
        for versions in self.version_orders(true) {
            self.add_by_versions(&versions, &mut found);
        }
        self.add_snapshot_reads(&mut found);
        found
    }

    fn add_by_versions(&self, versions: &[Vec<usize>], found: &mut BTreeSet<String>) {
        let (n, wr, so) = (self.n, &self.wr, &self.orders[&'S']);
        let ww = ordered(n, versions);
        let newer = |t: usize, key: usize, writer: usize| -> u32 {
            let after = versions[key]
                .iter()
                .skip_while(|&&w| writer != BOTTOM && w != writer);
            after
                .filter(|&&w| w != writer && w != t)
                .fold(0, |set, &w| set | 1 << w)
        };
        let missed: Vec<(usize, usize, usize, u32)> = (0..n)
            .flat_map(|t| {
                self.reads[t]
                    .iter()
                    .map(move |&(place, key, writer)| (t, place, key, newer(t, key, writer)))
            })
            .collect();
        let mut rw = vec![0; n];
        missed.iter().for_each(|&(t, _, _, set)| rw[t] |= set);
        if !is_acyclic(&union(&[wr, &ww])) {
            return;
        }
        let or_same = |rows: &Rows| -> Rows {
            rows.iter()
                .enumerate()
                .map(|(t, row)| row | 1 << t)
                .collect()
        };
        let earlier = |t: usize, place: usize| {
            let of = self.reads[t]
                .iter()
                .filter(move |read| read.0 < place && read.2 != BOTTOM);
            of.fold(0u32, |set, read| set | 1 << read.2)
        };
        let before = |t: usize, key: usize| -> u32 {
            versions[key]
                .iter()
                .take_while(|&&w| w != t)
                .fold(0, |set, &w| set | 1 << w)
        };
        let is_lost = missed
            .iter()
            .any(|&(t, _, key, set)| self.writes(t, key) && set & before(t, key) != 0);
        let is_monotonic = missed
            .iter()
            .all(|&(t, place, _, set)| set & earlier(t, place) == 0);
        for order in ORDERS {
            let o = &self.orders[&order];
            let d = union(&[o, wr, &ww]);
            let d_plus = closed(&d);
            if (0..n).any(|t| d_plus[t] & 1 << t != 0) {
                continue;
            }
            let mut add = |base: &str, holds: bool| {
                if holds {
                    found.insert(code(base, order));
                }
            };
            let snapshots = composed(&d, &or_same(&rw));
            let direct = union(&[o, wr]);
            let prefixes = union(&[&composed(&direct, &or_same(&rw)), &ww]);
            match order {
                'C' => {
                    add("SI", is_acyclic(&union(&[&snapshots, &self.rt])));
                    add("PC", is_acyclic(&union(&[&prefixes, &self.rt])));
                    continue;
                }
                'K' => {
                    add("SI", is_acyclic(&snapshots));
                    add("SER", is_acyclic(&union(&[&d, &rw])));
                    continue;
                }
                _ => {}
            }
            add("PL2", true);
            add("RC", is_monotonic);
            add("CS", !is_lost);
            add("RA", !meets(&direct, &rw));
            add("UA", !meets(&d, &rw));
            add("TCC", !meets(&closed(&direct), &rw));
            add("PSI", !meets(&d_plus, &rw));
            add("SI", is_acyclic(&snapshots));
            add("PC", is_acyclic(&prefixes));
            add("SER", is_acyclic(&union(&[&d, &rw])));
            let goes_back = |&(t, place, _, set): &(usize, usize, usize, u32)| {
                let mut sources = earlier(t, place + 1)
                    | (0..n)
                        .filter(|&u| o[u] & 1 << t != 0)
                        .fold(0, |all, u| all | 1 << u);
                for (&key, &last) in self.last[t].iter().filter(|(_, last)| **last < place) {
                    let _ = last;
                    sources |= before(t, key);
                }
                let seen = (0..n)
                    .filter(|&u| d_plus[u] & sources != 0)
                    .fold(sources, |all, u| all | 1 << u);
                set & seen & !(1 << t) != 0
            };
            add("MV", !missed.iter().any(goes_back));
            if order == 'S' {
                let (wr_so, so_wr) = (composed(wr, so), composed(so, wr));
                add("RYW", !meets(so, &rw));
                add("MR", !meets(&wr_so, &rw));
                add("MW", !meets(&so_wr, &rw));
                add(
                    "WFR",
                    !meets(&composed(&closed(&union(&[wr, &wr_so])), wr), &rw),
                );
                add(
                    "PRAM",
                    !meets(&union(&[so, &wr_so, &so_wr, &composed(&so_wr, so)]), &rw),
                );
            }
            if order == 'P' {
                let all = union(&[&d, &rw]);
                let updates = (0..n)
                    .filter(|&t| !self.last[t].is_empty())
                    .fold(0u32, |set, t| set | 1 << t);
                let holds_with = |t: usize| {
                    let keep = updates | 1 << t;
                    let part = (0..n).map(|t| if keep & 1 << t != 0 { all[t] & keep } else { 0 });
                    is_acyclic(&part.collect())
                };
                add("PL3U", (0..n).all(holds_with));
            }
        }
    }

    fn add_snapshot_reads(&self, found: &mut BTreeSet<String>) {
        let everyone: Vec<usize> = (0..self.n).collect();
        for commits in permutations(&everyone) {
            let at = |t: usize| commits.iter().position(|&other| other == t).unwrap_or(0);
            let goes =
                |rows: &Rows| pairs(self.n).all(|(a, b)| rows[a] & 1 << b == 0 || at(a) < at(b));
            let versions: Vec<Vec<usize>> = (0..self.keys)
                .map(|key| {
                    commits
                        .iter()
                        .copied()
                        .filter(|&t| self.writes(t, key))
                        .collect()
                })
                .collect();
            let fits = (0..self.keys).all(|key| {
                self.prefixes[key]
                    .iter()
                    .all(|prefix| versions[key].starts_with(prefix))
            });
            if !fits || !goes(&self.wr) {
                continue;
            }
            let newest = |n: usize, key: usize| {
                commits[..n]
                    .iter()
                    .rev()
                    .copied()
                    .find(|&t| self.writes(t, key))
                    .unwrap_or(BOTTOM)
            };
            for order in ['P', 'S', 'R'] {
                let o = &self.orders[&order];
                let holds = |&t: &usize| {
                    let must = (0..self.n)
                        .filter(|&a| o[a] & 1 << t != 0)
                        .map(|a| at(a) + 1)
                        .max()
                        .unwrap_or(0);
                    let read = |seen: Option<usize>, &(_, key, writer): &(usize, usize, usize)| {
                        (seen?..=at(t)).find(|&n| newest(n, key) == writer)
                    };
                    self.reads[t].iter().fold(Some(must), read).is_some()
                };
                if goes(o) && everyone.iter().all(holds) {
                    found.insert(code("MSR", order));
                }
            }
        }
    }
}

/// Levels that only scans tell apart, each with the one that is the same without them.
pub const SAME_WITHOUT_SCANS: [(&str, &str); 4] = [
    ("P-RR", "P-SER"),
    ("RR", "SER"),
    ("R-RR", "SSER"),
    ("I-CI", "CI"),
];

/// The verdict at every level of a history without scans. Exponential.
pub fn verdicts(history: &History, codes: &[String]) -> Verdicts {
    let all = transactions(history);
    let is_initial = |key: usize, value: Value| {
        history.may_be_initial(isoscope_model::history::KeyId::new(key), value)
    };
    // PL-1 allows dirty reads: nothing observed has to be committed.
    let mut dirty = all.clone();
    for t in dirty.iter_mut().filter(|t| t.outcome == Outcome::Unknown) {
        t.outcome = Outcome::Aborted;
    }
    let mut found = satisfied(&promoted(&all), &is_initial);
    let of_dirty = satisfied(&dirty, &is_initial);
    found.retain(|code| !code.ends_with("PL1"));
    found.extend(of_dirty.into_iter().filter(|code| code.ends_with("PL1")));
    let world = World::new(&promoted(&all), &is_initial, &BTreeMap::new());
    let has_times = promoted(&all)
        .iter()
        .any(|t| t.outcome == Outcome::Committed && t.start.is_some());
    let counts = has_times && is_acyclic(&world.orders[&'R']);
    let verdict = |asked: &String| {
        let same = SAME_WITHOUT_SCANS.iter().find(|(code, _)| code == asked);
        let code = same.map_or(asked.as_str(), |(_, same)| same);
        let weaker = match code.split_at(2) {
            ("R-", base) => Some(base.to_owned()),
            ("K-" | "C-", base) => Some(format!("P-{base}")),
            _ if code == "SSER" => Some("SER".to_owned()),
            _ => None,
        };
        let holds = match weaker {
            Some(weaker) if !counts => (!found.contains(&weaker)).then_some(false),
            _ => Some(found.contains(code)),
        };
        (asked.clone(), holds)
    };
    codes.iter().map(verdict).collect()
}

/// What holds for some writers of the reads that may have several.
fn satisfied(all: &[Transaction], is_initial: &dyn Fn(usize, Value) -> bool) -> BTreeSet<String> {
    let mut choices = vec![BTreeMap::new()];
    for (read, writers) in World::new(all, is_initial, &BTreeMap::new()).open {
        let with = |choice: &BTreeMap<_, _>, writer: usize| {
            let mut choice = choice.clone();
            choice.insert(read, writer);
            choice
        };
        choices = choices
            .iter()
            .flat_map(|choice| writers.iter().map(move |&writer| with(choice, writer)))
            .collect();
    }
    choices
        .iter()
        .flat_map(|choice| World::new(all, is_initial, choice).satisfied())
        .collect()
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |a| (0..n).filter(move |&b| a != b).map(move |b| (a, b)))
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let with = |at: usize| {
        let mut rest = items.to_vec();
        let first = rest.remove(at);
        permutations(&rest)
            .into_iter()
            .map(move |tail| [&[first][..], &tail].concat())
    };
    (0..items.len()).flat_map(with).collect()
}

fn ordered(n: usize, versions: &[Vec<usize>]) -> Rows {
    let mut rows = vec![0; n];
    for order in versions {
        for (at, &a) in order.iter().enumerate() {
            order[at + 1..].iter().for_each(|&b| rows[a] |= 1 << b);
        }
    }
    rows
}

fn union(some: &[&Rows]) -> Rows {
    (0..some[0].len())
        .map(|t| some.iter().fold(0, |row, rows| row | rows[t]))
        .collect()
}

fn composed(first: &Rows, second: &Rows) -> Rows {
    first
        .iter()
        .map(|row| {
            (0..second.len())
                .filter(|&t| row & 1 << t != 0)
                .fold(0, |all, t| all | second[t])
        })
        .collect()
}

fn closed(rows: &Rows) -> Rows {
    let mut rows = rows.clone();
    for by in 0..rows.len() {
        let through = rows[by];
        rows.iter_mut()
            .filter(|row| **row & 1 << by != 0)
            .for_each(|row| *row |= through);
    }
    rows
}

fn is_acyclic(rows: &Rows) -> bool {
    closed(rows)
        .iter()
        .enumerate()
        .all(|(t, row)| row & 1 << t == 0)
}

/// Whether a step of the one and a step of the other lead back to where they began.
fn meets(first: &Rows, second: &Rows) -> bool {
    pairs(first.len()).any(|(a, b)| first[a] & 1 << b != 0 && second[b] & 1 << a != 0)
        || (0..first.len()).any(|t| first[t] & 1 << t != 0 && second[t] & 1 << t != 0)
}
