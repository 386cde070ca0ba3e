//! Pruning (PolySI, section 4.3 and `PruneConstraints` of Algorithm 1).

use super::super::{most_at_once, too_large};
use super::polygraph::{Polygraph, Side};
use fixedbitset::FixedBitSet;
use isoscope_check::checkers::Cause;
use isoscope_model::control::Control;
use isoscope_model::graph::{Digraph, topological_order};
use isoscope_model::relations::{NONE, Node};

/// Memory for reachability if the user sets no limit.
const REACHABILITY_BYTES: u64 = 2 << 30;

/// Derives known edges to a fixpoint. Returns a cycle if there is one of known edges, or if both sides of a constraint
/// would close one.
pub(super) fn to_fixpoint(
    polygraph: &mut Polygraph<'_>,
    control: &Control,
) -> Result<Option<Vec<(u32, u32)>>, Cause> {
    loop {
        for edges in [
            &mut polygraph.dependencies,
            &mut polygraph.anti_dependencies,
        ] {
            edges.sort_unstable();
            edges.dedup();
        }
        let graph = Digraph::new(polygraph.n_events(), polygraph.known());
        let Some(order) = topological_order(&graph) else {
            return Ok(Some(polygraph.cycle(&graph)));
        };
        if polygraph.constraints.is_empty() {
            return Ok(None);
        }
        let reach = Reach::new(polygraph, &graph, &order, control)?;
        let before = polygraph.constraints.len();
        let mut open = Vec::new();
        for (step, constraint) in std::mem::take(&mut polygraph.constraints)
            .into_iter()
            .enumerate()
        {
            control.tick(step)?;
            let [first, second] = constraint.sides();
            match (
                reach.is_impossible(polygraph, first),
                reach.is_impossible(polygraph, second),
            ) {
                (true, true) => {
                    polygraph.know(first);
                    let graph = Digraph::new(polygraph.n_events(), polygraph.known());
                    return Ok(Some(polygraph.cycle(&graph)));
                }
                (true, false) => polygraph.know(second),
                (false, true) => polygraph.know(first),
                (false, false) => open.push(constraint),
            }
        }
        polygraph.constraints = open;
        if polygraph.constraints.len() == before {
            return Ok(None);
        }
    }
}

/// Reachability in the induced graph (SO ∪ WR ∪ WW) ; RW? of known edges at SI, in the union of all at SER.
struct Reach {
    /// By transaction: the transactions reached by an induced path of at least one edge.
    after: Vec<FixedBitSet>,
    /// SO ∪ WR ∪ WW backwards.
    before: Digraph,
}

impl Reach {
    /// `order` is a topological order of `graph`, whose vertices are events. O(edges · n/64).
    fn new(
        polygraph: &Polygraph<'_>,
        graph: &Digraph,
        order: &[u32],
        control: &Control,
    ) -> Result<Reach, Cause> {
        let n = polygraph.index.n_nodes();
        let bytes = (n as u64).div_ceil(64) * 8 * polygraph.n_events() as u64;
        let most = most_at_once(REACHABILITY_BYTES, control);
        if bytes > most {
            return Err(too_large("reachability in the polygraph", bytes, most));
        }
        // By event: the transactions whose commits can be reached from it, except its own. An induced path from t
        // begins with an edge that leaves the commit of t; it ends in a commit, directly after a start or not.
        let mut rows = vec![FixedBitSet::new(); graph.n_vertices()];
        for (step, &event) in order.iter().rev().enumerate() {
            control.tick(step)?;
            let mut row = FixedBitSet::with_capacity(n);
            for &next in graph.successors(event) {
                let next_row = &rows[next as usize];
                row.union_with(next_row);
                if !polygraph.split {
                    row.insert(next as usize);
                } else if next % 2 == 1 {
                    row.insert(next as usize / 2);
                }
            }
            rows[event as usize] = row;
        }
        let after = (0..n as Node)
            .map(|t| std::mem::take(&mut rows[polygraph.commit(t) as usize]))
            .collect();
        let before = Digraph::new(
            n,
            polygraph.dependencies.iter().map(|&(from, to)| (to, from)),
        );
        Ok(Reach { after, before })
    }

    /// Whether a side would close a cycle of known edges (lines 20 to 29).
    fn is_impossible(&self, polygraph: &Polygraph<'_>, side: Side) -> bool {
        let ((from, to), mut anti_dependencies) = polygraph.edges(side);
        let reached = &self.after[to as usize];
        let leads_back = |(from, _): (Node, Node)| match polygraph.split {
            false => reached.contains(from as usize),
            // Reflexive: the reader may have read from `to` itself.
            true => self
                .before
                .successors(from)
                .iter()
                .any(|&prec| prec == to || reached.contains(prec as usize)),
        };
        debug_assert!(from != NONE && from != to);
        reached.contains(from as usize) || anti_dependencies.any(leads_back)
    }
}
