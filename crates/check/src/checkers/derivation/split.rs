//! Case splits: an order of two writers of a key is assumed, each way.

use super::facts::{Because, Case, Fact, FactId, Facts};
use super::saturate::{Effort, End, needed, saturate};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::relations::Node;
use std::collections::BTreeSet;

/// Nesting of cases; bounds every recursion over trees.
const MOST_DEPTH: usize = 48;

/// A refutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tree {
    /// These facts close a cycle.
    Cycle(Vec<FactId>),
    /// Whichever way two writers are ordered: the assumed fact and its refutation.
    Split {
        first: (FactId, Box<Tree>),
        second: (FactId, Box<Tree>),
    },
}

impl Tree {
    /// The facts named by the tree: cycles and assumptions.
    pub(super) fn facts(&self) -> Vec<FactId> {
        match self {
            Tree::Cycle(cycle) => cycle.clone(),
            Tree::Split { first, second } => {
                let mut all = vec![first.0, second.0];
                all.extend(first.1.facts());
                all.extend(second.1.facts());
                all
            }
        }
    }
}

/// The outcome for a case.
pub(super) enum Outcome {
    Refuted(Tree),
    /// Every pair of writers is ordered without a contradiction: the level is satisfied.
    Satisfiable,
    /// The limits were reached.
    Unknown,
}

/// Refutes a case, with as few and as shallow splits as can be found quickly.
pub(super) fn refute(
    facts: &mut Facts<'_>,
    case: Case,
    effort: &mut Effort,
    control: &Control,
) -> Result<Outcome, Interrupt> {
    refute_at(facts, case, effort, control, 0)
}

/// One side of a pair, saturated.
struct Side {
    assumed: FactId,
    case: Case,
    end: End,
}

fn refute_at(
    facts: &mut Facts<'_>,
    mut case: Case,
    effort: &mut Effort,
    control: &Control,
    depth: usize,
) -> Result<Outcome, Interrupt> {
    match saturate(facts, &mut case, effort, control)? {
        End::Cycle(cycle) => return Ok(Outcome::Refuted(Tree::Cycle(cycle))),
        End::TooLong => return Ok(Outcome::Unknown),
        End::Quiet => {}
    }
    let pairs = open_pairs(facts, &case);
    if pairs.is_empty() {
        return Ok(Outcome::Satisfiable);
    }
    if depth == MOST_DEPTH {
        return Ok(Outcome::Unknown);
    }
    // Look one step ahead on both sides of every pair.
    let mut smallest: Option<(usize, Tree)> = None;
    let mut one_sided: Option<(usize, Side, Side)> = None;
    let mut undecided: Option<(usize, (Node, Node, u32))> = None;
    for &(a, b, key) in &pairs {
        let first = side(facts, &case, (a, b, key), effort, control)?;
        let second = side(facts, &case, (b, a, key), effort, control)?;
        match (&first.end, &second.end) {
            (End::TooLong, _) | (_, End::TooLong) => return Ok(Outcome::Unknown),
            (End::Cycle(cycle), End::Cycle(other)) => {
                let tree = split(
                    (first.assumed, Tree::Cycle(cycle.clone())),
                    (second.assumed, Tree::Cycle(other.clone())),
                    facts,
                );
                let size = needed(facts, tree.facts()).len();
                if smallest.as_ref().is_none_or(|(least, _)| size < *least) {
                    smallest = Some((size, tree));
                }
            }
            (End::Cycle(cycle), End::Quiet) | (End::Quiet, End::Cycle(cycle)) => {
                let size = needed(facts, cycle.iter().copied()).len();
                if one_sided.as_ref().is_none_or(|(least, ..)| size < *least) {
                    let refuted_first = matches!(first.end, End::Cycle(_));
                    let (refuted, open) = if refuted_first {
                        (first, second)
                    } else {
                        (second, first)
                    };
                    one_sided = Some((size, refuted, open));
                }
            }
            (End::Quiet, End::Quiet) => {
                // The pair with the most consequences, on the side with the fewest.
                let gain = first.case.visible.len().min(second.case.visible.len());
                if undecided.is_none_or(|(most, _)| gain > most) {
                    undecided = Some((gain, (a, b, key)));
                }
            }
        }
    }
    if let Some((_, tree)) = smallest {
        return Ok(Outcome::Refuted(tree));
    }
    if let Some((_, refuted, open)) = one_sided {
        let End::Cycle(cycle) = refuted.end else {
            return Ok(Outcome::Unknown);
        };
        return Ok(
            match refute_at(facts, open.case, effort, control, depth + 1)? {
                Outcome::Refuted(tree) => Outcome::Refuted(split(
                    (refuted.assumed, Tree::Cycle(cycle)),
                    (open.assumed, tree),
                    facts,
                )),
                other => other,
            },
        );
    }
    let Some((_, (a, b, key))) = undecided else {
        return Ok(Outcome::Unknown);
    };
    let mut trees = Vec::with_capacity(2);
    for pair in [(a, b, key), (b, a, key)] {
        let side = side(facts, &case, pair, effort, control)?;
        match refute_at(facts, side.case, effort, control, depth + 1)? {
            Outcome::Refuted(tree) => trees.push((side.assumed, tree)),
            other => return Ok(other),
        }
    }
    let second = trees.pop();
    Ok(match (trees.pop(), second) {
        (Some(first), Some(second)) => Outcome::Refuted(split(first, second, facts)),
        _ => Outcome::Unknown,
    })
}

/// Assumes that `a` is before `b` and saturates.
fn side(
    facts: &mut Facts<'_>,
    case: &Case,
    (a, b, key): (Node, Node, u32),
    effort: &mut Effort,
    control: &Control,
) -> Result<Side, Interrupt> {
    /// Copying this many bits of the reachability relation costs a step.
    const COPIED: usize = 64;
    effort.spend(facts.events.n_events().pow(2) / COPIED);
    let mut case = case.clone();
    let assumed = facts.add(
        &mut case,
        Fact {
            from: a,
            to: b,
            key,
            because: Because::Assumed,
        },
    );
    let end = saturate(facts, &mut case, effort, control)?;
    Ok(Side { assumed, case, end })
}

/// Joins two refutations; a side that does not use its assumption refutes alone.
fn split(first: (FactId, Tree), second: (FactId, Tree), facts: &Facts<'_>) -> Tree {
    let uses = |(assumed, tree): &(FactId, Tree)| needed(facts, tree.facts()).contains(assumed);
    match (uses(&first), uses(&second)) {
        (false, _) => first.1,
        (_, false) => second.1,
        _ => Tree::Split {
            first: (first.0, Box::new(first.1)),
            second: (second.0, Box::new(second.1)),
        },
    }
}

/// The pairs of writers of a key whose order is not known, with the first such key.
pub(super) fn open_pairs(facts: &Facts<'_>, case: &Case) -> Vec<(Node, Node, u32)> {
    let events = facts.events;
    let mut seen = BTreeSet::new();
    let mut pairs = Vec::new();
    for key in 0..facts.index.n_keys() as u32 {
        let writers = facts.writers(key);
        for (place, &a) in writers.iter().enumerate() {
            for &b in &writers[place + 1..] {
                let known = case
                    .closure
                    .reaches(events.commit(a), events.after_writer(b))
                    || case
                        .closure
                        .reaches(events.commit(b), events.after_writer(a));
                if !known && seen.insert((a, b)) {
                    pairs.push((a, b, key));
                }
            }
        }
    }
    pairs
}
