//! Choosing the order of writers where the reads leave it open.

use super::order::wrong_reads;
use super::versions::{Step, Wrong};
use crate::checkers::{Decision, Order, Respected};
use crate::sat::{
    self, Answer, Choice, CycleEdge, DynamicOrder, FIRST_FACT, Problem, Side, solve_problem,
};
use isoscope_model::control::{Control, Interrupt, Stage};
use isoscope_model::relations::{Index, NONE, Node};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// An order of two writers that follows from known edges.
struct Fact {
    /// What it follows from: transactions…
    nodes: Vec<Node>,
    /// … and edges among them.
    path: Vec<Step>,
}

/// The state of a decision.
pub(super) struct DependencySearch<'a> {
    index: &'a Index,
    respected: Respected,
    /// Whether a transaction depends directly on what ended before it began.
    in_time: bool,
    order: DynamicOrder,
    /// Edges of D that the history shows, with the reader of the list that shows them.
    listed: FxHashMap<Step, Node>,
    sources: FxHashSet<Step>,
    facts: Vec<Fact>,
    /// By edge: its fact.
    fact_of: FxHashMap<Step, u32>,
    /// By pair of writers, the smaller first: its variable, true if that one comes first.
    variables: FxHashMap<Step, u32>,
    problem: Problem,
    /// What the clauses rest on.
    wrong: Vec<Wrong>,
}

impl<'a> DependencySearch<'a> {
    /// `order` is a topological order of what the history shows of D. O(n + reads).
    pub(super) fn new(
        index: &'a Index,
        (respected, in_time): (Respected, bool),
        order: Vec<Node>,
    ) -> DependencySearch<'a> {
        let listed: FxHashMap<Step, Node> = index
            .listed()
            .iter()
            .map(|pair| ((pair.older, pair.newer), pair.reader))
            .collect();
        let nodes = 0..index.n_nodes() as Node;
        let reads = nodes.clone().flat_map(|t| {
            index
                .reads_of(t)
                .map(move |read| (index.writer_of_read(read), t))
        });
        let sources: FxHashSet<Step> = reads
            .filter(|(writer, t)| *writer != NONE && writer != t)
            .collect();
        let successors = nodes.filter_map(|t| Some((t, index.successor(t)?)));
        let fixed: Vec<Step> = successors
            .chain(sources.iter().copied())
            .chain(listed.keys().copied())
            .collect();
        DependencySearch {
            index,
            respected,
            in_time,
            order: DynamicOrder::new(order, fixed.iter().copied()),
            listed,
            sources,
            facts: Vec::new(),
            fact_of: FxHashMap::default(),
            variables: FxHashMap::default(),
            problem: Problem::default(),
            wrong: Vec::new(),
        }
    }

    pub(super) fn run(mut self, control: &Control) -> Result<Decision, Interrupt> {
        loop {
            control.check()?;
            let found = control.timed(Stage::Saturate, || {
                let (order, position) = (self.order.order(), |t| self.order.position(t));
                wrong_reads(
                    self.index,
                    (self.respected, self.in_time),
                    order,
                    position,
                    |step| self.is_known(step),
                    control,
                )
            })?;
            if found.is_empty() {
                return Ok(Decision::Satisfied(Order::Commits(
                    self.order.order().to_vec().into(),
                )));
            }
            let is_certain = |wrong: &Wrong| {
                if wrong.path.is_empty() {
                    wrong.versions().is_none_or(|step| self.is_known(step))
                } else {
                    wrong.path.iter().all(|&step| self.is_known(step))
                }
            };
            let (certain, guessed): (Vec<Wrong>, Vec<Wrong>) =
                found.into_iter().partition(is_certain);
            if certain.is_empty() {
                guessed.into_iter().for_each(|wrong| self.add_clause(wrong));
                if let Some(cycles) = self.solve(control)? {
                    return Ok(self.refuted(&cycles));
                }
                continue;
            }
            for wrong in certain {
                if let Some(decision) = self.add_fact(wrong) {
                    return Ok(decision);
                }
            }
        }
    }

    /// Whether an edge of D holds whatever the order of the other versions. One from a transaction to itself only names it.
    fn is_known(&self, (from, to): Step) -> bool {
        from == to
            || self.is_of_session((from, to))
            || self.is_forced((from, to))
            || self.in_time && self.index.ended_before(from, to)
    }

    fn is_of_session(&self, (from, to): Step) -> bool {
        self.index.session[from as usize] == self.index.session[to as usize] && from < to
    }

    fn is_forced(&self, step: Step) -> bool {
        self.sources.contains(&step)
            || self.listed.contains_key(&step)
            || self.fact_of.contains_key(&step)
    }

    /// The version that was missed is older than the one that was read, or its writer comes after a reader that must not miss it;
    /// a contradiction if that cannot be.
    fn add_fact(&mut self, wrong: Wrong) -> Option<Decision> {
        let Wrong {
            reader,
            older,
            newer,
            ..
        } = wrong;
        let nodes: Vec<Node> = [reader, newer]
            .into_iter()
            .chain((older != NONE).then_some(older))
            .collect();
        let must_not_miss = wrong.path.is_empty();
        let path = if must_not_miss {
            wrong.versions().into_iter().collect()
        } else {
            wrong.path
        };
        if older == NONE && !must_not_miss {
            return Some(self.violated(nodes, path));
        }
        let step = if must_not_miss {
            (reader, newer)
        } else {
            (newer, older)
        };
        if self.is_known(step) {
            return None;
        }
        let fact = self.facts.len() as u32;
        match self.order.insert(step.0, step.1, (FIRST_FACT + fact, None)) {
            Ok(()) => {
                self.facts.push(Fact { nodes, path });
                self.fact_of.insert(step, fact);
                None
            }
            Err(cycle) => {
                let others = cycle
                    .iter()
                    .map(|edge| (edge.from, edge.to))
                    .filter(|&edge| edge != step);
                let path = path.into_iter().chain(others).collect();
                Some(self.violated(nodes, path))
            }
        }
    }

    /// The side of a variable that says that one writer comes before another.
    fn side(&mut self, (from, to): Step) -> Side {
        let pair = (from.min(to), from.max(to));
        let choices = &mut self.problem.choices;
        let choice = *self.variables.entry(pair).or_insert_with(|| {
            let prefer_first = self.order.position(pair.0) < self.order.position(pair.1);
            let [first, second] = [pair, (pair.1, pair.0)].map(|step| match self.respected {
                Respected::Serial => with_readers(self.index, step),
                _ => vec![step],
            });
            choices.push(Choice {
                first,
                second,
                prefer_first,
            });
            choices.len() as u32 - 1
        });
        Side {
            choice,
            first: from < to,
        }
    }

    /// Not all guesses that a wrong read rests on hold.
    fn add_clause(&mut self, wrong: Wrong) {
        let guesses: Vec<Step> = wrong.steps().filter(|&step| !self.is_known(step)).collect();
        let clause = guesses
            .into_iter()
            .map(|(from, to)| self.side((to, from)))
            .collect();
        // Each side of a choice says which readers come before the newer version.
        if !wrong.path.is_empty() {
            self.problem.clauses.push(clause);
        }
        self.wrong.push(wrong);
    }

    /// Moves the order to one that satisfies the clauses; the cycles that exclude every choice if there is none.
    fn solve(&mut self, control: &Control) -> Result<Option<Vec<CycleEdge>>, Interrupt> {
        let (order, problem) = (&mut self.order, &self.problem);
        let answer = control.timed(Stage::Solve, || {
            solve_problem(order, problem, usize::MAX, control)
        })?;
        match answer {
            None => Err(Interrupt::Cancelled),
            Some(Answer::Model(_)) => Ok(None),
            Some(Answer::Contradiction { cycles }) => Ok(Some(cycles)),
        }
    }

    fn refuted(&self, cycles: &[CycleEdge]) -> Decision {
        let mut path: Vec<Step> = cycles.iter().map(|edge| (edge.from, edge.to)).collect();
        // A reader comes before the newer version because of the older one.
        let sides = cycles
            .iter()
            .flat_map(CycleEdge::labels)
            .filter(|label| *label < FIRST_FACT)
            .map(sat::side_of);
        path.extend(sides.filter_map(|side| {
            self.problem.choices[side.choice as usize]
                .side(side.first)
                .first()
        }));
        let mut nodes = Vec::new();
        for wrong in &self.wrong {
            nodes.extend([wrong.reader, wrong.newer]);
            path.extend(wrong.steps());
        }
        self.violated(nodes, path)
    }

    /// The violation that rests on these transactions and these edges, and on what they follow from. For a stretch within
    /// a session its ends suffice, but all are taken.
    fn violated(&self, nodes: Vec<Node>, path: Vec<Step>) -> Decision {
        let mut core: BTreeSet<Node> = nodes.into_iter().collect();
        let mut followed: FxHashSet<u32> = FxHashSet::default();
        let mut todo = path;
        while let Some(step) = todo.pop() {
            core.extend([step.0, step.1]);
            if let Some(&reader) = self.listed.get(&step) {
                core.insert(reader);
                // The versions at both ends are known from what was read of them.
                let ends = [step.0, step.1]
                    .into_iter()
                    .flat_map(|t| self.index.reads_of(t));
                core.extend(
                    ends.map(|read| self.index.writer_of_read(read))
                        .filter(|&writer| writer != NONE),
                );
            }
            if let Some(&fact) = self.fact_of.get(&step)
                && followed.insert(fact)
            {
                core.extend(&self.facts[fact as usize].nodes);
                todo.extend_from_slice(&self.facts[fact as usize].path);
            }
        }
        Decision::Violated {
            core: core.into_iter().collect(),
        }
    }
}

/// The order of two writers, and what follows of transactions that write and read the older of two versions.
fn with_readers(index: &Index, (older, newer): Step) -> Vec<Step> {
    let mut steps = vec![(older, newer)];
    let common = index
        .writes_of(older)
        .filter(|&write| index.slot_of(newer, index.write_key[write]).is_some());
    let readers = common
        .flat_map(|write| index.readers_of(index.write_slot[write]))
        .map(|&read| index.reader(read));
    steps.extend(
        readers
            .filter(|&t| t != newer && !index.writes_of(t).is_empty())
            .map(|t| (t, newer)),
    );
    steps
}
