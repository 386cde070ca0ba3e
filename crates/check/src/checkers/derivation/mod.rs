//! A readable proof that a small history violates a level of dependencies, PC, SI or SER.
//!
//! The engine in [`strong`](super::strong) is fast; this one explains. It draws every consequence of the reads, round
//! by round, and keeps for each inferred edge the path it rests on; if a cycle occurs, the one with the shortest
//! argument is the proof. If no cycle follows from the reads alone, an order of two writers is assumed, each way, and
//! both assumptions must be contradicted. If that takes too many cases, all open orders are left to a solver, and what
//! it learns is written down step by step: less readable, but just as easy to check.
//!
//! At the levels of dependencies (PSI, MV, UA, CS, PL3U) and the weak ones an anti-dependency leads nowhere: it closes a cycle with
//! what leads from its end to its start, as far as the level respects that (`sight`), and no cycle has two. There the reads
//! and cases must suffice, since the solver knows acyclic graphs only. At PL3U this is so of transactions that only read; the
//! solver is asked whether the others alone contradict each other. At monotonic snapshot reads each read is a node.
//!
//! Meant for counterexamples: up to a few hundred transactions, a few thousand with a log. It does not decide levels:
//! it may fail to find a proof of a violation, and it never finds one for a satisfied level.

mod clauses;
mod facts;
mod saturate;
mod sight;
mod split;

use super::{Level, Proof, Question, Supposed};
use clauses::{Log, Ruled};
use facts::{Because, FactId, Facts};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::History;
use isoscope_model::relations::{Edge, EdgeIndex, Index, NONE, Reason};
use saturate::{Effort, End, needed, saturate};
use split::{Outcome, Tree};
use std::collections::BTreeMap;

/// What may be spent on a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps for deriving what follows from the reads alone.
    pub steps: u64,
    /// Steps for finding a tree of cases.
    pub case_steps: u64,
    /// Conflicts of the solver that takes over.
    pub conflicts: usize,
    /// Largest history considered, in transactions: the reachability relation takes (2 · 10,000)² / 8 bytes per case.
    pub nodes: usize,
}

impl Limits {
    /// A log of any length, for when a proof must be found.
    pub fn until_proved() -> Limits {
        Limits {
            case_steps: 0,
            conflicts: usize::MAX,
            nodes: usize::MAX,
            ..Limits::default()
        }
    }
}

impl Default for Limits {
    /// A few seconds each.
    fn default() -> Limits {
        Limits {
            steps: 300_000_000,
            case_steps: 20_000_000,
            conflicts: 200_000,
            nodes: 10_000,
        }
    }
}

/// Proves that the history violates PL3U, PSI, MV, UA, CS, MSR, PC, SI, SER or a level in real time (any other is treated as SER):
/// the edges of the argument, premises first and only those that are needed, and how they contradict each other. `None` if the level is satisfied
/// or no proof was found within the limits.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub fn prove(
    history: &History,
    index: &Index,
    level: Level,
    limits: Limits,
    control: &Control,
) -> Result<Option<(Vec<Edge>, Proof)>, Interrupt> {
    let level = level.or_serial();
    if index.n_nodes() > limits.nodes {
        return Ok(None);
    }
    let by_read = level.is_of_each_read().then(|| index.by_read());
    let items = level.is_serial_for_items().then(|| index.of_items());
    let index = by_read.as_ref().or(items.as_ref()).unwrap_or(index);
    let mut facts = Facts::new(index, level);
    // The reachability relation, twice while cases are examined.
    control.needs(facts.events.n_events().pow(2) / 4)?;
    let mut case = facts.given();
    let mut effort = Effort {
        steps: limits.steps,
    };
    match saturate(&mut facts, &mut case, &mut effort, control)? {
        End::Cycle(cycle) => return Ok(Some(written_out(history, &facts, &Tree::Cycle(cycle)))),
        End::TooLong => {}
        End::Quiet => {
            let n_facts = facts.all.len();
            let mut effort = Effort {
                steps: limits.case_steps,
            };
            match split::refute(&mut facts, case.clone(), &mut effort, control)? {
                Outcome::Refuted(tree) => return Ok(Some(written_out(history, &facts, &tree))),
                Outcome::Satisfiable => return Ok(None),
                Outcome::Unknown => facts.all.truncate(n_facts),
            }
        }
    }
    Ok(
        match clauses::refute(&mut facts, case, limits.conflicts, control)? {
            Ruled::OutByCycle(cycle) => Some(written_out(history, &facts, &Tree::Cycle(cycle))),
            Ruled::Out(log) => Some(log_written_out(history, &facts, &log)),
            Ruled::NotOut => None,
        },
    )
}

/// The edges that a log of clauses needs, and the proof in terms of them.
fn log_written_out(history: &History, facts: &Facts<'_>, log: &Log) -> (Vec<Edge>, Proof) {
    let (edges, place) = edges_of(
        history,
        facts,
        log.lemmas.iter().chain(&log.clauses).flatten().copied(),
    );
    let orders: Vec<EdgeIndex> = (0..edges.len())
        .filter(|&edge| edges[edge].because == Reason::Assumed)
        .collect();
    // Premises come before what rests on them. Most edges rest on no order.
    let mut rests = vec![false; edges.len()];
    for (e, edge) in edges.iter().enumerate() {
        let mut premises = edge.because.premises().iter();
        rests[e] = edge.because == Reason::Assumed || premises.any(|&premise| rests[premise]);
    }
    let mut met = vec![usize::MAX; edges.len()];
    let excluded = log.lemmas.iter().enumerate().map(|(number, lemma)| {
        let cycle: Vec<EdgeIndex> = placed(lemma, &place).collect();
        let (mut options, mut open) = (Vec::new(), cycle.clone());
        while let Some(e) = open.pop() {
            if rests[e] && std::mem::replace(&mut met[e], number) != number {
                options.extend(orders.binary_search(&e).ok());
                open.extend(edges[e].because.premises());
            }
        }
        options.sort_unstable();
        (options, Proof::Cycle(cycle))
    });
    let excluded = excluded.collect();
    let clause = |clause: &Vec<FactId>| {
        placed(clause, &place)
            .filter_map(|edge| Some((orders.binary_search(&edge).ok()?, true)))
            .collect()
    };
    let proof = Proof::Log {
        excluded,
        clauses: log.clauses.iter().map(clause).collect(),
        options: orders.iter().map(|&edge| Supposed::Order(edge)).collect(),
    };
    (edges, proof)
}

/// The places of facts among the edges.
fn placed<'a>(
    facts: &'a [FactId],
    place: &'a BTreeMap<FactId, usize>,
) -> impl Iterator<Item = EdgeIndex> + 'a {
    facts.iter().filter_map(|id| place.get(id).copied())
}

/// The edges that a tree needs, and the proof in terms of them.
fn written_out(history: &History, facts: &Facts<'_>, tree: &Tree) -> (Vec<Edge>, Proof) {
    let (edges, place) = edges_of(history, facts, tree.facts());
    let proof = proof(facts, tree, (&edges, &place));
    (edges, proof)
}

/// These facts and all their premises as edges, and the position of each.
fn edges_of(
    history: &History,
    facts: &Facts<'_>,
    roots: impl IntoIterator<Item = FactId>,
) -> (Vec<Edge>, BTreeMap<FactId, usize>) {
    let mut place: BTreeMap<FactId, usize> = BTreeMap::new();
    let mut edges = Vec::new();
    for id in needed(facts, roots)
        .into_iter()
        .filter(|&id| !facts.is_inside(id))
    {
        let edge = facts.edge(history, &facts.all[id as usize], |premise| {
            place.get(&premise).copied()
        });
        // Several nodes of one transaction may say the same.
        let known = edges
            .iter()
            .position(|other| facts.has_rows && *other == edge);
        place.insert(id, known.unwrap_or(edges.len()));
        edges.extend(Some(edge).filter(|_| known.is_none()));
    }
    (edges, place)
}

/// Recursion is bounded by the depth of the tree, see [`split`].
fn proof(
    facts: &Facts<'_>,
    tree: &Tree,
    (edges, place): (&[Edge], &BTreeMap<FactId, usize>),
) -> Proof {
    match tree {
        Tree::Cycle(cycle) => Proof::Cycle(placed(cycle, place).collect()),
        Tree::Split { first, second } => {
            let key = facts.all[first.0 as usize].key;
            debug_assert!(key != NONE && facts.all[first.0 as usize].because == Because::Assumed);
            let case = |(assumed, tree): &(FactId, Box<Tree>)| {
                (
                    Supposed::Order(place[assumed]),
                    proof(facts, tree, (edges, place)),
                )
            };
            let order = &edges[place[&first.0]];
            Proof::Cases {
                question: Question::Order {
                    key: facts.index.key_id(key),
                    writers: [order.from, order.to],
                },
                cases: vec![case(first), case(second)],
            }
        }
    }
}

#[cfg(test)]
mod tests;
