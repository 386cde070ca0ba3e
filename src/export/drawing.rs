//! What of a counterexample is drawn: which evidence, which rejected orders, and how much is said in the picture itself.

use super::picture::ComposeOptions;
use crate::counterexample::{
    Alternative, Counterexample, edges_to_draw, interpret, involved_operations, transactions_to_draw,
};
use crate::diagram::layout::{Layout, LayoutStyle, graphviz, lanes};
use crate::diagram::{Diagram, Emphasis, Subject, diagram};
use crate::history::{History, OperationId, TransactionId};
use crate::relations::{Edge, EdgeIndex, Relation};
use std::collections::BTreeSet;

/// Which edges are drawn beside those of the contradiction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Evidence {
    /// All of the argument.
    #[default]
    All,
    /// None: the bare contradiction.
    None,
    /// Those of these relations.
    Of(Vec<Relation>),
    /// These.
    Pinned(BTreeSet<EdgeIndex>),
}

impl std::str::FromStr for Evidence {
    type Err = String;

    /// `all`, `none`, or relations: `SO,WR`.
    fn from_str(text: &str) -> Result<Evidence, String> {
        match text.to_ascii_lowercase().as_str() {
            "all" => return Ok(Evidence::All),
            "none" => return Ok(Evidence::None),
            _ => {}
        }
        let relation = |code: &str| {
            let found = Relation::ALL.into_iter().find(|relation| relation.code().eq_ignore_ascii_case(code.trim()));
            found.ok_or_else(|| {
                let codes = Relation::ALL.map(|relation| relation.code());
                format!("`{code}` is no evidence, expected all, none, or some of {}", codes.join(", "))
            })
        };
        text.split(',').map(relation).collect::<Result<Vec<_>, _>>().map(Evidence::Of)
    }
}

/// A diagram, and what its edges are.
pub(super) struct Drawing {
    /// What is drawn.
    pub diagram: Diagram,
    /// All edges that its arrows name: those of the violation at their own places, then those of rejected orders.
    pub edges: Vec<Edge>,
    /// The rejected orders that are drawn.
    pub alternatives: Vec<Alternative>,
    /// Whether something of the argument was left out on demand.
    pub is_partial: bool,
}

/// The diagram that `options` ask for.
pub(super) fn draw(example: &Counterexample, whole: &History, options: &ComposeOptions) -> Drawing {
    let violation = &example.violation;
    let n = violation.edges.len();
    let (needed, cycle) = (edges_to_draw(violation), violation.proof.cycle_edges());
    let admitted = |e: EdgeIndex| match &options.evidence {
        Evidence::All => true,
        Evidence::None => false,
        Evidence::Of(relations) => relations.contains(&violation.edges[e].relation),
        Evidence::Pinned(pinned) => pinned.contains(&e),
    };
    let is_shown = |&e: &EdgeIndex| {
        let is_wanted = cycle.is_empty() || cycle.contains(&e) || admitted(e);
        is_wanted && !options.hidden.contains(&violation.edges[e].relation)
    };
    let mut shown: BTreeSet<EdgeIndex> = needed.iter().copied().filter(is_shown).collect();
    let is_partial = shown.len() < needed.len();
    let (mut edges, mut alternatives) = (violation.edges.clone(), Vec::new());
    if options.alternatives {
        let interpretation = interpret(example);
        edges = interpretation.edges;
        alternatives = interpretation.alternatives;
        alternatives.retain(|alternative| shown.contains(&alternative.instead_of));
        for alternative in &alternatives {
            shown.insert(alternative.edge);
            // The cycle that it would close is drawn whole, or it says nothing.
            shown.extend(&alternative.cycle);
        }
    }
    let (transactions, operations) = cast(example, &edges, &shown, options.evidence == Evidence::All);
    let mut diagram = diagram(&Subject {
        history: &example.history,
        transactions: &transactions,
        edges: &edges,
        cycle: &cycle,
        operations: &operations,
        shown: &|e| shown.contains(&e),
        all_operations: options.all_operations,
        n_operations: &|t| whole.operation_range(example.renaming.old_transaction(t)).len(),
    });
    for arrow in diagram.arrows.iter_mut().filter(|arrow| arrow.edge >= n) {
        let is_supposed = alternatives.iter().any(|alternative| alternative.edge == arrow.edge);
        arrow.emphasis = Emphasis::Rejected;
        arrow.label = format!("{} {}", if is_supposed { "if" } else { "then" }, arrow.label);
    }
    Drawing { diagram, edges, alternatives, is_partial }
}

/// The transactions and operations that are drawn whether or not an edge touches them: all of the argument, or, where
/// evidence is left out, what the edges that are left speak of.
fn cast(
    example: &Counterexample,
    edges: &[Edge],
    shown: &BTreeSet<EdgeIndex>,
    all: bool,
) -> (Vec<TransactionId>, Vec<OperationId>) {
    let violation = &example.violation;
    let owner = |o: OperationId| example.history.transaction_of(o);
    let transactions = transactions_to_draw(violation);
    if all || shown.is_empty() {
        let mut operations = involved_operations(violation);
        if transactions.len() < violation.transactions.len() {
            operations.retain(|&o| transactions.contains(&owner(o)));
        }
        return (transactions, operations);
    }
    let touched: BTreeSet<TransactionId> =
        shown.iter().map(|&e| &edges[e]).flat_map(|edge| [edge.from, edge.to]).collect();
    let operations = violation.operations.iter().copied().filter(|&o| touched.contains(&owner(o))).collect();
    (touched.into_iter().collect(), operations)
}

/// A page wider than this is hard to read when it is shown 800 pixels wide.
const WIDE: f32 = 940.0;

/// Coordinates, and the diagram they are of: where it would be too wide to read, labels say no keys that stand in their
/// rows, and then rows say no lines and cards no usual outcomes. Says whether outcomes were left out.
pub(super) fn arranged(diagram: &Diagram, style: LayoutStyle) -> (Diagram, Layout, bool) {
    let arrange = |diagram: &Diagram| match style {
        LayoutStyle::Lanes => lanes(diagram),
        LayoutStyle::Layered => graphviz(diagram).unwrap_or_else(|_| lanes(diagram)),
    };
    let usual = arrange(diagram);
    if usual.bounds.width() <= WIDE {
        return (diagram.clone(), usual, false);
    }
    let mut short = diagram.clone();
    for arrow in short.arrows.iter_mut().filter(|arrow| arrow.from_row.is_some() || arrow.to_row.is_some()) {
        let code = arrow.relation.code();
        let end = arrow.label.find(code).map_or(arrow.label.len(), |at| at + code.len());
        arrow.label.truncate(end);
    }
    let layout = arrange(&short);
    if layout.bounds.width() <= WIDE {
        return (short, layout, false);
    }
    let all_committed = short.cards.iter().all(|card| card.status == "committed" || card.transaction.is_initial());
    for card in &mut short.cards {
        card.rows.iter_mut().for_each(|row| row.place.clear());
        if all_committed && !card.transaction.is_initial() {
            card.status.clear();
        }
    }
    let layout = arrange(&short);
    (short, layout, all_committed)
}
