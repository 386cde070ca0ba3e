//! Read uncommitted (Adya's PL-1): the order of versions that lists show is one, with sessions or in real time where these
//! count. Reads may return anything.
//!
//! A list orders the transactions whose elements it contains, whatever else is wrong with it; only committed transactions
//! count, and none that sets up the initial state. The level is violated exactly if these orders, with those that count,
//! have a cycle (G0): any order of transactions that respects them orders the versions. Registers show no order, so there
//! the level always holds. Nothing is shared with the other levels, which are decided on their own.

use super::{
    Cause, Checker, Engine, Findings, Level, LevelResult, LevelSet, Options, Pattern, Proof,
};
use super::{CountedOrder, Verdict, Violation, Witness};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::{
    Digraph, PathFinder, shortest_cycle, strong_components, topological_order,
};
use isoscope_model::history::{
    History, KeyId, ListRule, OperationId, OperationKind, Outcome, Prefix, TransactionId, Value,
};
use isoscope_model::relations::{Edge, Reason, Relation, last_write, set_up_transactions};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::time::Instant;

/// Whether it is one of the levels decided here.
fn is_mine(level: Level) -> bool {
    level.row().engine == Engine::Versions
}

/// Decides the levels of `options` that are decided here and has `decide` answer the others.
pub(super) fn check_with(
    history: &History,
    options: &Options,
    control: &Control,
    observe: &(dyn Fn(&LevelResult) + Sync),
    decide: impl FnOnce(&Options) -> Findings,
) -> Findings {
    let (mine, levels): (Vec<Level>, Vec<Level>) =
        options.levels.iter().partition(|level| is_mine(**level));
    if mine.is_empty() {
        return decide(options);
    }
    let others = Options {
        levels,
        ..options.clone()
    };
    let mut findings = if others.levels.is_empty() {
        Findings::default()
    } else {
        decide(&others)
    };
    add(history, &mine, options, control, observe, &mut findings);
    findings
}

/// Has others change findings apart from what was found here.
pub(super) fn kept(mut findings: Findings, change: impl FnOnce(Findings) -> Findings) -> Findings {
    let is_own = |violation: &Violation| violation.id.pattern == Pattern::WriteCycle;
    let (own, others) = std::mem::take(&mut findings.violations)
        .into_iter()
        .partition(is_own);
    findings.violations = others;
    findings.patterns.remove(&Pattern::WriteCycle);
    let mut findings = change(findings);
    list(own, &mut findings);
    findings
}

/// Counts and lists violations, each in a group of its own.
fn list(mut violations: Vec<Violation>, findings: &mut Findings) {
    if violations.is_empty() {
        return;
    }
    let last = findings
        .violations
        .iter()
        .map(|violation| violation.group)
        .max()
        .unwrap_or(0);
    violations
        .iter_mut()
        .zip(last + 1..)
        .for_each(|(violation, group)| violation.group = group);
    findings
        .patterns
        .insert(Pattern::WriteCycle, violations.len() as u64);
    findings.violations.extend(violations);
    findings.violations.sort_by_key(|violation| violation.id);
}

fn add(
    history: &History,
    levels: &[Level],
    options: &Options,
    control: &Control,
    observe: &(dyn Fn(&LevelResult) + Sync),
    findings: &mut Findings,
) {
    let begin = Instant::now();
    let shown = ListOrders::new(history, control);
    let mut violations: Vec<Violation> = Vec::new();
    let mut in_order = levels.to_vec();
    in_order.sort_unstable();
    for level in in_order {
        let verdict = match &shown {
            Ok(shown) => shown.decide(level),
            Err(interrupt) => Decided::Open(Cause::Interrupted(*interrupt)),
        };
        let verdict = match verdict {
            Decided::Order(order) => Verdict::Satisfied(Witness::CommitOrder(order.into())),
            Decided::Open(cause) => Verdict::Undecided(cause),
            Decided::Cycle(edges) => {
                // What counts no sessions is counted with them.
                let with_sessions = std::iter::once(Level::ReadUncommitted);
                let named = levels
                    .iter()
                    .copied()
                    .chain(with_sessions)
                    .filter(|stronger| stronger.implies(level));
                let named: LevelSet = named.collect();
                if !violations
                    .iter()
                    .any(|violation| violation.levels.contains(level))
                {
                    violations.push(violation(edges, named, violations.len() as u32 + 1));
                }
                Verdict::Violated
            }
        };
        let seconds = begin.elapsed().as_secs_f64();
        let result = LevelResult::new(level, verdict, Checker::Fast.name(), seconds);
        observe(&result);
        findings.levels.push(result);
    }
    findings.check_seconds += begin.elapsed().as_secs_f64();
    if options.max_instances > 0 {
        list(violations, findings);
    }
}

fn violation(edges: Vec<Edge>, levels: LevelSet, ordinal: u32) -> Violation {
    let has = |relation| edges.iter().any(|edge| edge.relation == relation);
    let name = if has(Relation::SessionOrder) {
        "G0-session"
    } else {
        "G0"
    };
    let in_time = has(Relation::RealTime).then(|| "G0-realtime".to_owned());
    let mut transactions: Vec<TransactionId> = edges.iter().map(|edge| edge.from).collect();
    for edge in &edges {
        if let Reason::Listed { reader, .. } = edge.because
            && !transactions.contains(&reader)
        {
            transactions.push(reader);
        }
    }
    let proof = Proof::Cycle((0..edges.len()).collect());
    Violation {
        also: std::iter::once(name.to_owned()).chain(in_time).collect(),
        transactions,
        edges,
        ..Violation::new(Pattern::WriteCycle, ordinal, levels, proof)
    }
}

enum Decided {
    Order(Vec<TransactionId>),
    Cycle(Vec<Edge>),
    Open(Cause),
}

/// Two neighbours in a list.
struct Pair {
    older: u32,
    newer: u32,
    reader: TransactionId,
    read: OperationId,
}

/// What lists show.
struct ListOrders<'a> {
    history: &'a History,
    /// The committed transactions that count, ascending.
    nodes: Vec<TransactionId>,
    /// Each order of two of them once.
    pairs: Vec<Pair>,
    /// How many elements several transactions may have appended.
    n_open: usize,
}

impl<'a> ListOrders<'a> {
    /// O(operations + elements of the lists that are no prefixes of others), hashed.
    fn new(history: &'a History, control: &Control) -> Result<ListOrders<'a>, Interrupt> {
        let set_up = set_up_transactions(history);
        let counts = |t: &TransactionId| {
            history.outcome(*t) == Outcome::Committed
                && set_up.binary_search(t).is_err()
                && !history.set_up().contains(t)
        };
        let nodes: Vec<TransactionId> = history.transactions().filter(counts).collect();
        let mut shown = ListOrders {
            history,
            nodes,
            pairs: Vec::new(),
            n_open: 0,
        };
        if history.lists().is_empty() || history.rules().lists == ListRule::Merge {
            return Ok(shown);
        }
        let appenders = shown.appenders();
        let mut seen: BTreeSet<(u32, u32)> = BTreeSet::new();
        let mut open: BTreeSet<(KeyId, Value)> = BTreeSet::new();
        // By stem: how much of it was looked at, and the last transaction there that is known.
        let mut done: Vec<(usize, Option<u32>)> = vec![(0, None); history.lists().stems().len()];
        for (step, &reader) in shown.nodes.iter().enumerate() {
            control.tick(step)?;
            for read in history.operations_of(reader) {
                let Some(Prefix { stem, .. }) = history.lists().prefix_of(read) else {
                    continue;
                };
                let list = history.lists().read_by(read).unwrap_or_default();
                let key = history.operation(read).key;
                let (n_done, last) = &mut done[stem as usize];
                for &value in list.get(*n_done..).unwrap_or_default() {
                    let newer = match appenders.get(&(key, value)) {
                        Some(Some(t)) => shown.nodes.binary_search(t).ok().map(|node| node as u32),
                        Some(None) => {
                            open.insert((key, value));
                            None
                        }
                        None => None,
                    };
                    let Some(newer) = newer else { continue };
                    if let Some(older) = last.replace(newer).filter(|&older| older != newer)
                        && seen.insert((older, newer))
                    {
                        shown.pairs.push(Pair {
                            older,
                            newer,
                            reader,
                            read,
                        });
                    }
                }
                *n_done = list.len().max(*n_done);
            }
        }
        shown.n_open = open.len();
        Ok(shown)
    }

    /// By element: the transaction that appended it, none if several may have.
    fn appenders(&self) -> FxHashMap<(KeyId, Value), Option<TransactionId>> {
        let mut appenders: FxHashMap<(KeyId, Value), Option<TransactionId>> = FxHashMap::default();
        let history = self.history;
        for t in history
            .transactions()
            .filter(|&t| history.outcome(t) != Outcome::Aborted)
        {
            for o in history.operations_of(t) {
                let operation = history.operation(o);
                if operation.kind == OperationKind::Write && history.lists().is_list(operation.key)
                {
                    let known = appenders
                        .entry((operation.key, operation.value))
                        .or_insert(Some(t));
                    *known = known.filter(|other| *other == t);
                }
            }
        }
        appenders
    }

    fn decide(&self, level: Level) -> Decided {
        let order = level.row().order;
        if order == CountedOrder::RealTime
            && let Some((earlier, later)) = self.times_against_sessions()
        {
            return match self.decide(Level::ReadUncommitted) {
                Decided::Cycle(edges) => Decided::Cycle(edges),
                _ => Decided::Open(Cause::Unsupported(format!(
                    "times contradict session order: {} ended before {} began",
                    self.history.transaction_name(later),
                    self.history.transaction_name(earlier)
                ))),
            };
        }
        let (graph, n_times) = self.graph(order);
        let n = self.nodes.len();
        match topological_order(&graph) {
            Some(_) if self.n_open > 0 => Decided::Open(Cause::RepeatedElements(self.n_open)),
            Some(order) => Decided::Order(
                order
                    .into_iter()
                    .filter(|&v| (v as usize) < n)
                    .map(|v| self.nodes[v as usize])
                    .collect(),
            ),
            None => Decided::Cycle(self.cycle(&graph, n + n_times, order)),
        }
    }

    /// Two transactions of a session of which the later one ended before the earlier one began.
    fn times_against_sessions(&self) -> Option<(TransactionId, TransactionId)> {
        let mut latest: Option<(i64, TransactionId)> = None;
        for (place, &t) in self.nodes.iter().enumerate() {
            if place == 0 || !self.is_next(place) {
                latest = None;
            }
            let Some(ran) = self.history.interval(t) else {
                continue;
            };
            if let Some((start, earlier)) = latest
                && ran.end < start
            {
                return Some((earlier, t));
            }
            latest = Some(latest.map_or((ran.start, t), |known| known.max((ran.start, t))));
        }
        None
    }

    /// Whether the node at a place is of the session of the one before.
    fn is_next(&self, place: usize) -> bool {
        self.history.session_of(self.nodes[place - 1]) == self.history.session_of(self.nodes[place])
    }

    /// The orders that count, and how many moments are among the vertices, after the nodes.
    fn graph(&self, order: CountedOrder) -> (Digraph, usize) {
        let n = self.nodes.len();
        let mut edges: Vec<(u32, u32)> = self
            .pairs
            .iter()
            .map(|pair| (pair.older, pair.newer))
            .collect();
        if order != CountedOrder::Plain {
            edges.extend(
                (1..n)
                    .filter(|&place| self.is_next(place))
                    .map(|place| (place as u32 - 1, place as u32)),
            );
        }
        let mut ends: Vec<i64> = Vec::new();
        if order == CountedOrder::RealTime {
            let ran: Vec<_> = (0..n as u32)
                .zip(self.nodes.iter().map(|&t| self.history.interval(t)))
                .collect();
            ends.extend(ran.iter().filter_map(|(_, ran)| Some((*ran)?.end)));
            ends.sort_unstable();
            ends.dedup();
            let moment = |place: usize| (n + place) as u32;
            edges.extend((1..ends.len()).map(|place| (moment(place - 1), moment(place))));
            for (node, ran) in ran.into_iter().filter_map(|(node, ran)| Some((node, ran?))) {
                let (ended, began) = (
                    ends.partition_point(|&end| end < ran.end),
                    ends.partition_point(|&end| end < ran.start),
                );
                edges.push((node, moment(ended)));
                edges.extend(began.checked_sub(1).map(|place| (moment(place), node)));
            }
        }
        (
            Digraph::new(n + ends.len(), edges.iter().copied()),
            ends.len(),
        )
    }

    /// A short cycle of a graph that has one, with at least one order that a list shows.
    fn cycle(&self, graph: &Digraph, n_vertices: usize, order: CountedOrder) -> Vec<Edge> {
        /// Vertices from which a cycle is searched.
        const TRIES: usize = 64;
        let components = strong_components(graph);
        let Some(&component) = components.cyclic().first() else {
            return Vec::new();
        };
        let inside = |v: u32| components.component[v as usize] == component;
        let members = components.members(component);
        let mut finder = PathFinder::new(n_vertices);
        let arcs = shortest_cycle(graph, &mut finder, members, inside, TRIES).unwrap_or_default();
        let nodes: Vec<u32> = arcs
            .iter()
            .map(|arc| arc.from)
            .filter(|&v| (v as usize) < self.nodes.len())
            .collect();
        let steps = nodes.iter().zip(nodes.iter().cycle().skip(1));
        let mut edges: Vec<Edge> = steps
            .map(|(&from, &to)| self.edge(from, to, order))
            .collect();
        if let Some(first) = edges
            .iter()
            .position(|edge| edge.relation != Relation::SessionOrder)
        {
            edges.rotate_left(first);
        }
        let mut joined: Vec<Edge> = Vec::new();
        for edge in edges {
            match joined
                .last_mut()
                .filter(|last| last.relation == Relation::SessionOrder)
            {
                Some(last) if edge.relation == Relation::SessionOrder => last.to = edge.to,
                _ => joined.push(edge),
            }
        }
        joined
    }

    fn edge(&self, from: u32, to: u32, order: CountedOrder) -> Edge {
        let (a, b) = (self.nodes[from as usize], self.nodes[to as usize]);
        let of_sessions = Edge::session_order(a, b);
        let is_of_session = order != CountedOrder::Plain && a < b;
        if is_of_session && self.history.session_of(a) == self.history.session_of(b) {
            return of_sessions;
        }
        let Some(pair) = self
            .pairs
            .iter()
            .find(|pair| (pair.older, pair.newer) == (from, to))
        else {
            return Edge {
                relation: Relation::RealTime,
                ..of_sessions
            };
        };
        let key = self.history.operation(pair.read).key;
        let write_of = |t: TransactionId| last_write(self.history, t, key, |_| true);
        Edge {
            relation: Relation::WriteWrite,
            key: Some(key),
            from_operation: write_of(a),
            to_operation: write_of(b),
            because: Reason::Listed {
                reader: pair.reader,
                read: pair.read,
            },
            ..of_sessions
        }
    }
}
