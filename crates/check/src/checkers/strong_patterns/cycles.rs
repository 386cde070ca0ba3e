//! Cycles of certain edges, one shortest for each anti-dependency of a component, each proved again on its own
//! transactions; and a case tree if no cycle is certain.

use super::argument::violation;
use super::class::{classify, key_of, turn_to_lost_update};
use super::{Listing, strong};
use crate::checkers::strong::{Core, Known, Rule, certain, decide, divergence};
use crate::checkers::weak;
use crate::checkers::{Level, LevelSet, Pattern, Proof, Violation, components, derivation};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::graph::{Arc, Digraph, PathFinder, strong_components};
use isoscope_model::history::History;
use isoscope_model::relations::{Edge, Index, Node};
use std::collections::BTreeSet;

/// Largest number of transactions for which a proof is tried at once; more are reduced first.
pub(super) const SMALL: usize = 48;
/// Work for reducing one core, in transactions decided.
const REDUCING: usize = 2_000_000;

/// Lists cycles at one level, at most so many. Each distinct cycle adds one to the count of its pattern.
pub(super) fn find(
    history: &History,
    index: &Index,
    level: Level,
    most: usize,
    listing: &mut Listing<'_>,
    control: &Control,
) -> Result<(), Interrupt> {
    /// Edges visited by searches for cycles.
    const SEARCHING: usize = 400_000_000;
    let mut known = Known::new(index, level, control)?;
    let orders = certain(&mut known, control)?;
    let graph = Digraph::with_ids(known.n_vertices, known.edges());
    let components = strong_components(&graph);
    if !components.any_cyclic() {
        return Ok(());
    }
    let mut finder = PathFinder::new(known.n_vertices);
    let mut core = Core::new(&known, &graph, &orders);
    let mut seen: BTreeSet<Vec<Node>> = BTreeSet::new();
    let mut work = 0usize;
    let mut tries = 0;
    for component in components.cyclic() {
        let group = listing.new_group();
        let inside = |v: u32| components.component[v as usize] == component;
        let members = components.members(component);
        let n_edges: usize = members.iter().map(|&v| graph.row(v).len()).sum();
        // Every cycle has a derived edge or passes through a helper vertex, whose edges are anti-dependencies too.
        let interesting = |arc: &Arc| match (arc.id as usize).checked_sub(known.base.len()) {
            Some(place) => known.rule(&known.derived[place]) == Rule::Overwritten,
            None => known.events.node(arc.to).is_none(),
        };
        let edges_inside = || {
            members
                .iter()
                .flat_map(|&v| graph.edges_of(v))
                .filter(|arc| inside(arc.to))
        };
        let any = edges_inside().any(|arc| interesting(&arc));
        let candidates = edges_inside().filter(|arc| !any || interesting(arc));
        for arc in candidates.take(if any { usize::MAX } else { 8 }) {
            control.check()?;
            work = work.saturating_add(n_edges);
            if tries >= most || work > SEARCHING {
                return Ok(());
            }
            let Some(mut cycle) = finder.shortest(&graph, arc.to, arc.from, inside) else {
                continue;
            };
            cycle.push(arc);
            let mut nodes: Vec<Node> = cycle
                .iter()
                .filter_map(|arc| known.events.node(arc.from))
                .collect();
            nodes.sort_unstable();
            nodes.dedup();
            if !seen.insert(nodes) {
                continue;
            }
            tries += 1;
            let Some(nodes) = core.of_path(&cycle, control)? else {
                continue;
            };
            if let Some(violation) = prove(history, index, nodes, level, true, control)? {
                listing.add_new(violation, group);
            }
        }
    }
    Ok(())
}

/// Most components refuted one by one if no pattern was listed.
const MOST_CORES: usize = 16;

/// Violations at `level` if no pattern has been listed: for each component a certain cycle or a case tree of the
/// engine's core.
pub(super) fn fallback(
    history: &History,
    index: &Index,
    level: Level,
    listing: &mut Listing<'_>,
    control: &Control,
) -> Result<(), Interrupt> {
    if weak::decide(index, Level::TransactionalCausalConsistency, control)?.is_violated() {
        return Ok(());
    }
    for core in components::cores(index, level, MOST_CORES, control)? {
        let violation = match prove(history, index, core.clone(), level, false, control)? {
            Some(violation) => Some(violation),
            None => prove_at_any_cost(history, index, &core, level, control)?,
        };
        if let Some(violation) = violation {
            let group = listing.new_group();
            listing.add_new(violation, group);
        }
    }
    Ok(())
}

/// The violation that all transactions of a core show, by a log of clauses of any length. Exponential in the worst
/// case.
fn prove_at_any_cost(
    history: &History,
    index: &Index,
    core: &[Node],
    level: Level,
    control: &Control,
) -> Result<Option<Violation>, Interrupt> {
    let limits = derivation::Limits::until_proved();
    let proved = derivation::prove(history, &index.part(core), level, limits, control)?;
    Ok(proved.map(|(edges, proof)| told((level, edges, proof))))
}

/// The violation of `level` that a few transactions, given as ascending nodes, show by themselves; `None` if they do not
/// violate it.
///
/// # Errors
/// [`Interrupt`] when `control` ends the work first.
pub(in crate::checkers) fn of_core(
    history: &History,
    index: &Index,
    nodes: Vec<Node>,
    level: Level,
    control: &Control,
) -> Result<Option<Violation>, Interrupt> {
    prove(history, index, nodes, level, false, control)
}

/// Proves that these transactions alone violate the weakest strong level that they violate. With `skip_known` nothing
/// is returned for what other patterns show already: violations of TCC, and two updates of one version.
pub(super) fn prove(
    history: &History,
    index: &Index,
    mut nodes: Vec<Node>,
    level: Level,
    skip_known: bool,
    control: &Control,
) -> Result<Option<Violation>, Interrupt> {
    let mut is_hard = false;
    if !skip_known && nodes.len() > SMALL {
        (nodes, is_hard) = used_by_log(history, index, nodes, level, control)?;
    }
    if nodes.len() > SMALL && !is_hard {
        nodes = reduce(index, nodes, level, control)?;
    }
    let small = index.part(&nodes);
    let causal = Level::TransactionalCausalConsistency;
    if skip_known && weak::decide(&small, causal, control)?.is_violated() {
        return Ok(None);
    }
    let proved = if is_hard {
        prove_hard(history, &small, level, control)?
    } else {
        prove_weakest(history, &small, level, skip_known, control)?
    };
    Ok(proved.map(told))
}

/// The violation made of an argument about a part of the history.
pub(super) fn told((weakest, mut edges, mut proof): (Level, Vec<Edge>, Proof)) -> Violation {
    if weakest.forbids_conflicts() {
        turn_to_lost_update(&mut edges, &mut proof);
    }
    let (pattern, also) = classify(&edges, &proof, weakest);
    let first = match &proof {
        Proof::Cycle(cycle) => cycle.iter().map(|&e| edges[e].from).collect(),
        _ => Vec::new(),
    };
    let key = key_of(pattern, &edges, &proof);
    violation(
        pattern,
        also,
        LevelSet::upward(weakest),
        key,
        &first,
        edges,
        proof,
    )
}

/// The strong levels up to one, weakest first: usual ones, and the others where that one is none itself.
fn candidates(level: Level) -> impl Iterator<Item = Level> {
    strong(LevelSet::downward([level]))
        .filter(move |weaker| weaker.row().usual || !level.row().usual)
}

/// A level, and the argument that it is violated.
type Proved = Option<(Level, Vec<Edge>, Proof)>;

/// The argument that the weakest violated strong level up to `level` is violated.
fn prove_weakest(
    history: &History,
    small: &Index,
    level: Level,
    skip_known: bool,
    control: &Control,
) -> Result<Proved, Interrupt> {
    for candidate in candidates(level) {
        if decide(small, candidate, control)?.is_violated() {
            if skip_known && candidate.is_strong_on_conflicts() && divergence(small).is_some() {
                return Ok(None);
            }
            let limits = derivation::Limits::default();
            let proved = derivation::prove(history, small, candidate, limits, control)?;
            return Ok(proved.map(|(edges, proof)| (candidate, edges, proof)));
        }
    }
    Ok(None)
}

/// As `prove_weakest`, if a decision would take longer than a proof: for the weakest level that can be proved violated, with less
/// search for a tree.
fn prove_hard(
    history: &History,
    small: &Index,
    level: Level,
    control: &Control,
) -> Result<Proved, Interrupt> {
    let limits = derivation::Limits {
        case_steps: 2_000_000,
        ..derivation::Limits::default()
    };
    for candidate in candidates(level) {
        if let Some((edges, proof)) = derivation::prove(history, small, candidate, limits, control)?
        {
            return Ok(Some((candidate, edges, proof)));
        }
    }
    Ok(None)
}

/// The transactions that a proof without cases names, and whether it takes so many clauses that repeatedly deciding
/// parts of them would take too long. All of them if no proof is found.
fn used_by_log(
    history: &History,
    index: &Index,
    mut nodes: Vec<Node>,
    level: Level,
    control: &Control,
) -> Result<(Vec<Node>, bool), Interrupt> {
    /// Clauses of a hard proof.
    const HARD: usize = 16;
    /// Repeated proofs on a proof's own transactions, each of which may need fewer.
    const ROUNDS: usize = 3;
    let limits = derivation::Limits {
        case_steps: 0,
        ..derivation::Limits::default()
    };
    for _ in 0..ROUNDS {
        let Some((edges, proof)) =
            derivation::prove(history, &index.part(&nodes), level, limits, control)?
        else {
            return Ok((nodes, false));
        };
        let named = violation(
            Pattern::SERCycle,
            Vec::new(),
            LevelSet::default(),
            None,
            &[],
            edges,
            Proof::Reads(None),
        );
        let of_whole = named.transactions.iter().filter(|t| !t.is_initial());
        let mut used: Vec<Node> = of_whole.map(|t| index.node[t.index()]).collect();
        used.sort_unstable();
        let is_hard = matches!(&proof, Proof::Log { clauses, .. } if clauses.len() > HARD);
        let is_last = used.len() == nodes.len();
        nodes = used;
        if !is_hard || is_last || nodes.len() <= SMALL {
            return Ok((nodes, is_hard));
        }
    }
    Ok((nodes, true))
}

/// Removes transactions while the rest violates the level.
fn reduce(
    index: &Index,
    nodes: Vec<Node>,
    level: Level,
    control: &Control,
) -> Result<Vec<Node>, Interrupt> {
    reduce_by(index, nodes, &mut |part| {
        Ok(decide(part, level, control)?.core())
    })
}

/// Finds transactions of an index that suffice for a violation.
type FindCore<'f> = dyn FnMut(&Index) -> Result<Option<Vec<Node>>, Interrupt> + 'f;

/// Removes transactions, in chunks of halving size, while `core` finds that the rest violates a level.
pub(super) fn reduce_by(
    index: &Index,
    mut nodes: Vec<Node>,
    core: &mut FindCore<'_>,
) -> Result<Vec<Node>, Interrupt> {
    let mut work = 0;
    let mut size = nodes.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < nodes.len() && work < REDUCING {
            let mut rest = nodes.clone();
            rest.drain(at..(at + size).min(nodes.len()));
            work += rest.len() + 16;
            match core(&index.part(&rest))? {
                // The core of the rest may be smaller still.
                Some(core) => nodes = core.iter().map(|&place| rest[place as usize]).collect(),
                None => at += size,
            }
        }
        size /= 2;
    }
    Ok(nodes)
}
