//! Encoding and solving (PolySI, section 4.4), with the solver of this program: clause learning modulo acyclicity.

use super::PolySiAnswer;
use super::polygraph::Polygraph;
use isoscope_check::checkers::{Cause, Order};
use isoscope_check::sat::{self, Answer, Choice, DynamicOrder};
use isoscope_model::control::Control;
use isoscope_model::graph::{Digraph, topological_order};
use std::sync::Arc;

/// Chooses sides. The known edges of the polygraph have no cycle.
pub(super) fn solve(
    polygraph: &Polygraph<'_>,
    compact: bool,
    control: &Control,
) -> Result<PolySiAnswer, Cause> {
    let graph = Digraph::new(polygraph.n_events(), polygraph.known());
    let Some(order) = topological_order(&graph) else {
        return Ok(PolySiAnswer::Violated(polygraph.cycle(&graph)));
    };
    let mut order = DynamicOrder::new(order, polygraph.known());
    let choice = |[first, second]: [Vec<(u32, u32)>; 2]| {
        let prefer_first = first
            .first()
            .is_some_and(|&(from, to)| order.position(from) < order.position(to));
        Choice {
            first,
            second,
            prefer_first,
        }
    };
    let sides = polygraph
        .constraints
        .iter()
        .map(|constraint| constraint.sides().map(|side| polygraph.events_of(side)));
    let choices: Vec<Choice> = if compact {
        sides.map(choice).collect()
    } else {
        sides.flat_map(plain).map(choice).collect()
    };
    match sat::solve(&mut order, &choices, control)? {
        Answer::Model(_) => Ok(PolySiAnswer::Satisfied(witness(polygraph, order.order()))),
        Answer::Contradiction { cycles } => {
            let edges = cycles.iter().map(|edge| (edge.from, edge.to));
            Ok(PolySiAnswer::Violated(
                polygraph.cycle(&Digraph::new(polygraph.n_events(), edges)),
            ))
        }
    }
}

/// A constraint split into one for the order of its writers and one for each reader: the reader comes before the newer
/// version, or the writers are in the other order. They need no common variable, since both orders of two writers close
/// a cycle.
fn plain([first, second]: [Vec<(u32, u32)>; 2]) -> Vec<[Vec<(u32, u32)>; 2]> {
    let (one, other) = (first[0], second[0]);
    let readers = |side: &[(u32, u32)], against: (u32, u32)| -> Vec<[Vec<(u32, u32)>; 2]> {
        side[1..]
            .iter()
            .map(|&reader| [vec![reader], vec![against]])
            .collect()
    };
    let mut all = vec![[vec![one], vec![other]]];
    all.extend(readers(&first, other));
    all.extend(readers(&second, one));
    all
}

fn witness(polygraph: &Polygraph<'_>, order: &[u32]) -> Order {
    if polygraph.split {
        Order::Events(Arc::new(
            order
                .iter()
                .map(|&event| (event / 2, event % 2 == 1))
                .collect(),
        ))
    } else {
        Order::Commits(order.to_vec().into())
    }
}
