//! The interpretation of a cycle (PolySI, section 5.3; Algorithm 3 of its report): restore, resolve, finalise.
//!
//! *Restore*: for each edge of the cycle that belongs to a side of a constraint, a shortest cycle through the other
//! side, and so on for the edges of that one; and the write-read edges behind anti-dependencies. *Resolve*: a side is
//! certain if the other one closes a cycle of certain edges. *Finalise*: what is not certain is removed.
//!
//! Two searches of O(edges) for each side on a cycle and each of its edges. What is returned may not be a violation
//! (Lemma 25, docs/lemma-25.md): that is checked at the end.

use super::super::Input;
use super::polygraph::{Polygraph, Side};
use isoscope_check::checkers::{Cause, Level};
use isoscope_model::control::Control;
use isoscope_model::graph::{Digraph, topological_order};
use isoscope_model::relations::Node;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeSet, VecDeque};

/// With more edges there is no interpretation: each needs a search.
const MOST_EDGES: usize = 200_000;

/// Most transactions named, and most edges.
const NAMED: usize = 12;

/// A choice of a constraint: its number, and which side.
type Choice = (usize, usize);

/// The origin of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Known,
    Of(Choice),
}

/// An edge between events, and its origin.
type Traced = ((u32, u32), Origin);

/// The rest of a cycle after its interpretation.
struct Interpreted {
    n_cycles: usize,
    /// Sides of constraints on these cycles, and those of them that are certain.
    n_sides: usize,
    n_certain: usize,
    /// Edges between events, in order.
    kept: BTreeSet<(u32, u32)>,
    is_violation: bool,
}

/// The cycle that the algorithm ends with, and its interpretation as published, in words.
pub(in super::super) fn told(
    input: &Input<'_>,
    level: Level,
    cycle: &[(u32, u32)],
    control: &Control,
) -> Result<Vec<String>, Cause> {
    let polygraph = Polygraph::new(input.index, level.has_snapshots(), control)?;
    let name = |node: Node| {
        input
            .history
            .transaction_name(input.index.transaction[node as usize])
    };
    let mut nodes: Vec<Node> = cycle
        .iter()
        .map(|&(from, _)| polygraph.node(from))
        .collect();
    nodes.dedup();
    if nodes.len() > 1 && nodes.first() == nodes.last() {
        nodes.pop();
    }
    let Some(&first) = nodes.first() else {
        return Ok(Vec::new());
    };
    let mut names: Vec<String> = nodes.iter().take(NAMED).map(|&node| name(node)).collect();
    names.extend((nodes.len() > NAMED).then(|| "…".to_owned()));
    names.push(name(first));
    let ended = format!(
        "PolySI's check of {level} ended with the cycle {}.",
        names.join(" → ")
    );
    let Some(found) = Interpreter::new(&polygraph)
        .and_then(|interpreter| interpreter.interpret(cycle, control).ok())
    else {
        return Ok(vec![ended]);
    };
    let own = |&(from, to): &(u32, u32)| polygraph.node(from) == polygraph.node(to);
    let between = |&(from, to): &(u32, u32)| {
        format!(
            "{} → {}",
            name(polygraph.node(from)),
            name(polygraph.node(to))
        )
    };
    let mut kept: Vec<String> = found
        .kept
        .iter()
        .filter(|edge| !own(edge))
        .map(between)
        .collect();
    kept.dedup();
    let more = kept.len().saturating_sub(NAMED);
    kept.truncate(NAMED);
    kept.extend((more > 0).then(|| format!("{more} more")));
    let left = if kept.is_empty() {
        "nothing".to_owned()
    } else {
        kept.join(", ")
    };
    let verdict = if found.is_violation {
        "which is a violation"
    } else {
        "which is no violation: Lemma 25, on which it rests, is false"
    };
    let interpreted = format!(
        "PolySI's interpretation of it, as published: cycles restored: {}; choices on them: {}, resolved: {}; finalised: {left}, {verdict}.",
        found.n_cycles, found.n_sides, found.n_certain
    );
    Ok(vec![ended, interpreted])
}

struct Interpreter {
    n_events: usize,
    /// By event: the targets of its edges, and their origins.
    edges: Vec<Vec<(u32, Origin)>>,
    /// By constraint and side: its edges.
    sides: Vec<[Vec<(u32, u32)>; 2]>,
}

impl Interpreter {
    /// All edges, of either side. `None` if there are too many.
    fn new(polygraph: &Polygraph<'_>) -> Option<Interpreter> {
        if polygraph.size(true).1 > MOST_EDGES {
            return None;
        }
        let n_events = polygraph.n_events();
        let mut edges: Vec<Vec<(u32, Origin)>> = vec![Vec::new(); n_events];
        polygraph
            .known()
            .for_each(|(from, to)| edges[from as usize].push((to, Origin::Known)));
        let of = |side: Side| polygraph.events_of(side);
        let sides: Vec<[Vec<(u32, u32)>; 2]> = polygraph
            .constraints
            .iter()
            .map(|c| c.sides().map(of))
            .collect();
        for (constraint, both) in sides.iter().enumerate() {
            for (side, own) in both.iter().enumerate() {
                own.iter().for_each(|&(from, to)| {
                    edges[from as usize].push((to, Origin::Of((constraint, side))))
                });
            }
        }
        Some(Interpreter {
            n_events,
            edges,
            sides,
        })
    }

    fn interpret(&self, cycle: &[(u32, u32)], control: &Control) -> Result<Interpreted, Cause> {
        let cycles = self.restore(cycle, control)?;
        let on_cycles: Vec<Traced> = cycles.iter().flatten().copied().collect();
        let mut known: FxHashSet<(u32, u32)> = FxHashSet::default();
        let mut open: FxHashMap<Choice, Vec<(u32, u32)>> = FxHashMap::default();
        for (edge, origin) in on_cycles {
            match origin {
                Origin::Known => drop(known.insert(edge)),
                Origin::Of(choice) => open.entry(choice).or_default().push(edge),
            }
        }
        let n_sides = open.len();
        self.resolve(&mut known, &mut open);
        let graph = Digraph::new(self.n_events, known.iter().copied());
        Ok(Interpreted {
            n_cycles: cycles.len(),
            n_sides,
            n_certain: n_sides - open.len(),
            is_violation: topological_order(&graph).is_none(),
            kept: known.into_iter().collect(),
        })
    }

    /// The cycle, and for each side on a cycle one through the other side of its constraint, if there is one.
    fn restore(&self, cycle: &[(u32, u32)], control: &Control) -> Result<Vec<Vec<Traced>>, Cause> {
        let mut cycles = vec![
            cycle
                .iter()
                .map(|&(from, to)| ((from, to), self.origin(from, to)))
                .collect::<Vec<_>>(),
        ];
        let mut met: FxHashSet<Choice> = FxHashSet::default();
        let mut next = 0;
        while let Some(cycle) = cycles.get(next) {
            let choices: Vec<Choice> = cycle
                .iter()
                .filter_map(|&(_, origin)| choice(origin))
                .collect();
            met.extend(choices.iter().copied());
            for (constraint, side) in choices {
                control.check()?;
                let other = (constraint, 1 - side);
                if met.insert(other) {
                    cycles.extend(self.shortest_through(other));
                }
            }
            next += 1;
        }
        Ok(cycles)
    }

    /// If several edges lead from one event to the other, known takes precedence.
    fn origin(&self, from: u32, to: u32) -> Origin {
        let mut origins = self.edges[from as usize]
            .iter()
            .filter(|(next, _)| *next == to)
            .map(|(_, origin)| *origin);
        let first = origins.next().unwrap_or(Origin::Known);
        if origins.any(|origin| origin == Origin::Known) {
            Origin::Known
        } else {
            first
        }
    }

    /// A shortest cycle through an edge of this side, without edges of the other one.
    fn shortest_through(&self, (constraint, side): Choice) -> Option<Vec<Traced>> {
        let not = Origin::Of((constraint, 1 - side));
        let through = |&(from, to): &(u32, u32)| {
            let mut cycle = self.path(to, from, not)?;
            cycle.push(((from, to), Origin::Of((constraint, side))));
            Some(cycle)
        };
        self.sides[constraint][side]
            .iter()
            .filter_map(through)
            .min_by_key(Vec::len)
    }

    /// A shortest path without the edges of one origin.
    fn path(&self, from: u32, to: u32, not: Origin) -> Option<Vec<Traced>> {
        let mut reached: FxHashMap<u32, (u32, Origin)> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        while let Some(event) = queue.pop_front() {
            if event == to {
                let mut path = Vec::new();
                let mut at = to;
                while at != from {
                    let (before, origin) = reached[&at];
                    path.push(((before, at), origin));
                    at = before;
                }
                return Some(path);
            }
            for &(next, origin) in self.edges[event as usize]
                .iter()
                .filter(|(_, origin)| *origin != not)
            {
                if next != from && !reached.contains_key(&next) {
                    reached.insert(next, (event, origin));
                    queue.push_back(next);
                }
            }
        }
        None
    }

    /// Sides whose opposite closes a cycle of known edges become known, to a fixpoint.
    fn resolve(
        &self,
        known: &mut FxHashSet<(u32, u32)>,
        open: &mut FxHashMap<Choice, Vec<(u32, u32)>>,
    ) {
        loop {
            let is_impossible = |&(constraint, side): &Choice| {
                self.sides[constraint][1 - side]
                    .iter()
                    .any(|&edge| closes(known, edge))
            };
            let certain: Vec<Choice> = open.keys().copied().filter(is_impossible).collect();
            if certain.is_empty() {
                return;
            }
            for choice in certain {
                known.extend(open.remove(&choice).unwrap_or_default());
            }
        }
    }
}

fn choice(origin: Origin) -> Option<Choice> {
    match origin {
        Origin::Known => None,
        Origin::Of(choice) => Some(choice),
    }
}

/// Whether an edge closes a cycle of known ones.
fn closes(known: &FxHashSet<(u32, u32)>, (from, to): (u32, u32)) -> bool {
    let mut reached = FxHashSet::from_iter([to]);
    let mut open = vec![to];
    while let Some(event) = open.pop() {
        if event == from {
            return true;
        }
        open.extend(
            known
                .iter()
                .filter(|(a, _)| *a == event)
                .map(|(_, b)| *b)
                .filter(|b| reached.insert(*b)),
        );
    }
    false
}
