//! Encoding and solving (PolySI, section 4.4), with the solver of this program: clause learning modulo acyclicity.

use super::super::Stop;
use super::Found;
use super::polygraph::{Polygraph, Side};
use crate::checkers::decide::Order;
use crate::control::Control;
use crate::graph::{Digraph, topological_order};
use crate::sat::{self, Answer, Choice, DynamicOrder};

/// Chooses sides. The known edges of the polygraph have no cycle.
pub(super) fn solve(polygraph: &Polygraph<'_>, control: &Control) -> Result<Found, Stop> {
    let graph = Digraph::new(polygraph.n_events(), polygraph.known());
    let Some(order) = topological_order(&graph) else { return Ok(Found::Violated(polygraph.cycle(&graph))) };
    let mut order = DynamicOrder::new(order, polygraph.known());
    let choices: Vec<Choice> = polygraph
        .constraints
        .iter()
        .map(|constraint| {
            let [first, second] = constraint.sides().map(|side| edges(polygraph, side));
            let prefer_first = first.first().is_some_and(|&(from, to)| order.position(from) < order.position(to));
            Choice { first, second, prefer_first }
        })
        .collect();
    match sat::solve(&mut order, &choices, control)? {
        Answer::Model(_) => Ok(Found::Satisfied(witness(polygraph, order.order()))),
        Answer::Contradiction { cycles } => {
            let edges = cycles.iter().map(|edge| (edge.from, edge.to));
            Ok(Found::Violated(polygraph.cycle(&Digraph::new(polygraph.n_events(), edges))))
        }
    }
}

/// The edges of a side between events, WW first.
fn edges(polygraph: &Polygraph<'_>, side: Side) -> Vec<(u32, u32)> {
    let (dependency, anti_dependencies) = polygraph.edges(side);
    let mut edges = vec![polygraph.dependency(dependency)];
    edges.extend(anti_dependencies.map(|edge| polygraph.anti_dependency(edge)));
    edges
}

fn witness(polygraph: &Polygraph<'_>, order: &[u32]) -> Order {
    match polygraph.split {
        true => Order::Events(order.iter().map(|&event| (event / 2, event % 2 == 1)).collect()),
        false => Order::Commits(order.to_vec()),
    }
}
