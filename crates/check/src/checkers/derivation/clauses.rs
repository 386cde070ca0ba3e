//! Refutation by a solver: every open pair of writers becomes a choice between two assumptions with everything each
//! forces at once, and the cycles and clauses by which the solver finds that no choice is left become the proof.

use super::facts::{Because, Case, Fact, FactId, Facts};
use super::saturate::{Effort, End, overwritten, saturate};
use super::split::open_pairs;
use crate::checkers::Respected;
use crate::checkers::strong::Vertex;
use crate::sat::{self, CycleEdge, DynamicOrder, Logged, Problem, Refutation, Side};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::{Digraph, topological_order};
use isoscope_model::relations::Node;
use rustc_hash::FxHashMap;

/// Why no order of the open pairs of writers is left: cycles that forbid the assumptions they rest on, smallest first,
/// and lists of assumptions that exclude each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Log {
    pub(super) lemmas: Vec<Vec<FactId>>,
    pub(super) clauses: Vec<Vec<FactId>>,
}

/// An edge that a side of a pair forces.
#[derive(Clone, Copy, Debug)]
struct Forced {
    from: Vertex,
    to: Vertex,
    /// The read whose version is overwritten; `None` for the assumption itself.
    read: Option<usize>,
}

/// An order of two writers.
#[derive(Clone, Debug)]
struct Assumption {
    first: Node,
    second: Node,
    key: u32,
    /// The assumption itself comes first.
    forces: Vec<Forced>,
}

/// The outcome for a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ruled {
    /// These facts close a cycle whatever the open orders.
    OutByCycle(Vec<FactId>),
    /// Every choice of the open orders is contradictory.
    Out(Log),
    /// Some choice contradicts nothing, or the solver gave up.
    NotOut,
}

/// Refutes an acyclic case; the more of its consequences have been derived, the fewer orders are open. Exponential in
/// the worst case, see [`sat::solve_logged`] for the limit.
pub(super) fn refute(
    facts: &mut Facts<'_>,
    mut case: Case,
    most_conflicts: usize,
    control: &Control,
) -> Result<Ruled, Interrupt> {
    if !matches!(facts.respected, None | Some(Respected::Serial)) {
        return Ok(Ruled::NotOut);
    }
    let pairs = open_pairs(facts, &case);
    if let Some(cycle) = add_certain(facts, &mut case, control)? {
        return Ok(Ruled::OutByCycle(cycle));
    }
    let readers = readers_by_version(facts);
    let both = |&(a, b, key): &(Node, Node, u32)| {
        [(a, b), (b, a)]
            .map(|(first, second)| assumption(facts, &case, &readers, (first, second), key))
    };
    let pairs: Vec<[Assumption; 2]> = pairs.iter().map(both).collect();
    let edges = fixed_edges(facts, &case);
    let graph = Digraph::new(facts.events.n_events(), edges.iter().copied());
    let Some(order) = topological_order(&graph) else {
        return Ok(Ruled::NotOut);
    };
    let choices: Vec<sat::Choice> = pairs.iter().map(choice).collect();
    let mut order = DynamicOrder::new(order, edges.iter().copied());
    let problem = Problem {
        choices,
        ..Problem::default()
    };
    let known = sat::exclusions(&order, &problem, control)?;
    match sat::solve_logged(&mut order, &problem.choices, known, most_conflicts, control)? {
        Logged::Satisfiable | Logged::GaveUp => Ok(Ruled::NotOut),
        Logged::Refuted(refutation) => Ok(Writer::new(facts, &case, &pairs)
            .log(&refutation)
            .map_or(Ruled::NotOut, Ruled::Out)),
    }
}

/// Adds what the known orders imply for readers of the older version, unless already known; returns the cycle that this
/// closes, if any. After that, orders of the open pairs that close no cycle explain every read.
fn add_certain(
    facts: &mut Facts<'_>,
    case: &mut Case,
    control: &Control,
) -> Result<Option<Vec<FactId>>, Interrupt> {
    for fact in overwritten(facts, case) {
        facts.add(case, fact);
    }
    Ok(
        match saturate(facts, case, &mut Effort { steps: 0 }, control)? {
            End::Cycle(cycle) => Some(cycle),
            End::Quiet | End::TooLong => None,
        },
    )
}

/// By writer and key: the reads of that version by other transactions.
fn readers_by_version(facts: &Facts<'_>) -> FxHashMap<(Node, u32), Vec<(usize, Node)>> {
    let mut readers: FxHashMap<(Node, u32), Vec<(usize, Node)>> = FxHashMap::default();
    for read in &facts.reads {
        readers
            .entry((read.t1, read.key))
            .or_default()
            .push((read.read, read.t3));
    }
    readers
}

/// The immediate consequences of an order of two writers: the transactions that read the older version of a key start
/// before the newer one is committed.
fn assumption(
    facts: &Facts<'_>,
    case: &Case,
    readers: &FxHashMap<(Node, u32), Vec<(usize, Node)>>,
    (first, second): (Node, Node),
    key: u32,
) -> Assumption {
    let (index, events) = (facts.index, facts.events);
    let mut forces = vec![Forced {
        from: events.commit(first),
        to: events.after_writer(second),
        read: None,
    }];
    let common = index.writes_of(first).map(|write| index.write_key[write]);
    for key in common.filter(|&key| index.slot_of(second, key).is_some()) {
        let of_first = readers.get(&(first, key)).into_iter().flatten();
        for &(read, t3) in of_first.filter(|(_, t3)| *t3 != second && !facts.leads_nowhere(*t3)) {
            let (from, to) = (events.start(t3), events.commit(second));
            if !case.closure.reaches(from, to) {
                forces.push(Forced {
                    from,
                    to,
                    read: Some(read),
                });
            }
        }
    }
    Assumption {
        first,
        second,
        key,
        forces,
    }
}

fn choice([first, second]: &[Assumption; 2]) -> sat::Choice {
    let edges = |side: &Assumption| {
        side.forces
            .iter()
            .map(|forced| (forced.from, forced.to))
            .collect()
    };
    sat::Choice {
        first: edges(first),
        second: edges(second),
        prefer_first: true,
    }
}

/// The facts of a case as edges, and the step from each start to its commit.
fn fixed_edges(facts: &Facts<'_>, case: &Case) -> Vec<(Vertex, Vertex)> {
    let events = facts.events;
    let transactions = (0..facts.index.n_nodes() as Node).filter(|_| events.split());
    let inside = transactions.map(|t| (events.start(t), events.commit(t)));
    let leads = |fact: &&Fact| {
        !matches!(fact.because, Because::Overwrites(..)) || !facts.leads_nowhere(fact.from)
    };
    let visible = case
        .visible
        .iter()
        .map(|&id| &facts.all[id as usize])
        .filter(leads);
    let mut edges: Vec<(Vertex, Vertex)> =
        inside.chain(visible.map(|fact| facts.span(fact))).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Translates a refutation into facts; those that rest on assumptions are added as needed.
struct Writer<'f, 'a> {
    facts: &'f mut Facts<'a>,
    case: &'f Case,
    pairs: &'f [[Assumption; 2]],
    /// By side and place among what it forces.
    made: FxHashMap<(u32, bool, usize), FactId>,
    paths: FxHashMap<(Vertex, Vertex), Vec<FactId>>,
}

impl<'f, 'a> Writer<'f, 'a> {
    fn new(
        facts: &'f mut Facts<'a>,
        case: &'f Case,
        pairs: &'f [[Assumption; 2]],
    ) -> Writer<'f, 'a> {
        Writer {
            facts,
            case,
            pairs,
            made: FxHashMap::default(),
            paths: FxHashMap::default(),
        }
    }

    /// `None` if a cycle cannot be reconstructed, which would be an error of the solver.
    fn log(mut self, refutation: &Refutation) -> Option<Log> {
        let mut lemmas = Vec::with_capacity(refutation.lemmas.len());
        for cycle in &refutation.lemmas {
            lemmas.push(self.cycle(cycle)?);
        }
        lemmas.sort_by_key(Vec::len);
        let assumed = |clause: &Vec<Side>| clause.iter().map(|&side| self.fact(side, 0)).collect();
        let clauses = refutation.clauses.iter().map(assumed).collect();
        Some(Log { lemmas, clauses })
    }

    /// The facts of a cycle; the path from one edge that rests on assumptions to the next is searched again, as short
    /// as possible.
    fn cycle(&mut self, cycle: &[CycleEdge]) -> Option<Vec<FactId>> {
        let assumed: Vec<&CycleEdge> = cycle.iter().filter(|edge| edge.label.is_some()).collect();
        let mut facts = Vec::with_capacity(cycle.len());
        for (edge, next) in assumed.iter().zip(assumed.iter().cycle().skip(1)) {
            let side = sat::side_of(edge.label?);
            let forces = &self.assumption(side).forces;
            let place = forces
                .iter()
                .position(|forced| (forced.from, forced.to) == (edge.from, edge.to))?;
            facts.push(self.fact(side, place));
            if edge.to != next.from {
                facts.extend(self.path(edge.to, next.from)?);
            }
        }
        (!facts.is_empty()).then_some(facts)
    }

    fn path(&mut self, from: Vertex, to: Vertex) -> Option<&[FactId]> {
        if !self.paths.contains_key(&(from, to)) {
            self.paths
                .insert((from, to), self.facts.path(self.case, from, to)?);
        }
        self.paths.get(&(from, to)).map(Vec::as_slice)
    }

    fn assumption(&self, side: Side) -> &'f Assumption {
        &self.pairs[side.choice as usize][usize::from(!side.first)]
    }

    /// The assumption of a side, or what it forces.
    fn fact(&mut self, side: Side, place: usize) -> FactId {
        if let Some(&made) = self.made.get(&(side.choice, side.first, place)) {
            return made;
        }
        let Assumption {
            first,
            second,
            key,
            forces,
        } = self.assumption(side);
        let fact = match forces[place].read {
            None => Fact {
                from: *first,
                to: *second,
                key: *key,
                because: Because::Assumed,
            },
            Some(read) => {
                let assumed = self.fact(side, 0);
                let (reader, key) = (
                    self.facts.index.reader(read as u32),
                    self.facts.index.read_key[read],
                );
                Fact {
                    from: reader,
                    to: *second,
                    key,
                    because: Because::Overwrites(read, vec![assumed]),
                }
            }
        };
        self.facts.all.push(fact);
        let id = self.facts.all.len() as FactId - 1;
        self.made.insert((side.choice, side.first, place), id);
        id
    }
}
