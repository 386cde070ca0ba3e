//! What of a counterexample is drawn: which evidence, which rejected orders, and how much is said in the picture itself.

use super::picks::{Part, Picks};
use super::picture::ComposeOptions;
use crate::counterexample::{
    Alternative, Counterexample, case_tree, edges_to_draw, interpret, involved_operations, transactions_to_draw,
};
use crate::diagram::layout::{Layout, LayoutStyle, Problem, graphviz, lanes, problems};
use crate::diagram::{Diagram, Emphasis, Row, Subject, diagram};
use crate::history::{History, OperationId, SessionId, TransactionId};
use crate::relations::{Edge, EdgeIndex, Reason, Relation};
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
#[derive(Clone, Debug)]
pub struct Drawing {
    /// What is drawn.
    pub diagram: Diagram,
    /// All edges that its arrows name: those of the violation at their own places, then those of rejected orders.
    pub edges: Vec<Edge>,
    /// The rejected orders that are drawn.
    pub alternatives: Vec<Alternative>,
    /// Whether something of the argument was left out on demand.
    pub is_partial: bool,
    /// The label of the case that is drawn, where one was asked for.
    pub case: Option<String>,
    /// Sessions of the counterexample that have several transactions here, folded or not.
    pub foldable: BTreeSet<SessionId>,
}

/// What there is to draw of an argument, before anything is left out.
struct Material {
    needed: BTreeSet<EdgeIndex>,
    cycle: Vec<EdgeIndex>,
    /// Reads that the case ends in.
    reads: Vec<OperationId>,
    case: Option<String>,
}

impl Material {
    /// The case that is asked for, else the part that a picture can show.
    fn of(example: &Counterexample, case: Option<usize>) -> Material {
        let violation = &example.violation;
        let tree = case.and_then(|place| Some((case_tree(&example.history, violation)?, place)));
        match tree {
            Some((tree, place)) if place > 0 && place < tree.nodes.len() => Material {
                needed: tree.edges_of(violation, place),
                cycle: tree.cycles_of(place),
                reads: tree.reads_of(place),
                case: Some(tree.nodes[place].label.clone()),
            },
            _ => Material {
                needed: edges_to_draw(violation),
                cycle: violation.proof.cycle_edges(),
                reads: Vec::new(),
                case: None,
            },
        }
    }
}

/// The diagram that `options` ask for. `whole` is the history that the counterexample was taken from.
pub fn draw(example: &Counterexample, whole: &History, options: &ComposeOptions) -> Drawing {
    let violation = &example.violation;
    let n = violation.edges.len();
    let Material { needed, cycle, reads, case } = Material::of(example, options.case);
    let admitted = |e: EdgeIndex| match &options.evidence {
        Evidence::All => true,
        Evidence::None => false,
        Evidence::Of(relations) => relations.contains(&violation.edges[e].relation),
        Evidence::Pinned(pinned) => pinned.contains(&e),
    };
    let picks = &options.picks;
    let is_kept = |e: EdgeIndex| picks.kept.contains(&Part::Edge(e));
    let is_shown = |&e: &EdgeIndex| {
        let edge = &violation.edges[e];
        let is_wanted = cycle.is_empty() || cycle.contains(&e) || admitted(e) || is_kept(e);
        is_wanted && !options.hidden.contains(&edge.relation) && !picks.omits(e, [edge.from, edge.to])
    };
    let kept = (0..n).filter(|&e| is_kept(e));
    let mut shown: BTreeSet<EdgeIndex> = needed.iter().copied().chain(kept).filter(is_shown).collect();
    let is_partial = needed.iter().any(|e| !shown.contains(e));
    let (mut edges, mut alternatives) = (violation.edges.clone(), Vec::new());
    if options.alternatives {
        let interpretation = interpret(example);
        edges = interpretation.edges;
        alternatives = interpretation.alternatives;
        let omits = |e: &EdgeIndex| picks.omits(*e, [edges[*e].from, edges[*e].to]);
        alternatives
            .retain(|alternative| shown.contains(&alternative.instead_of) && !alternative.cycle.iter().any(omits));
        for alternative in &alternatives {
            shown.insert(alternative.edge);
            // The cycle that it would close is drawn whole, or it says nothing.
            shown.extend(&alternative.cycle);
        }
    }
    let all = case.is_none() && (options.evidence == Evidence::All || shown.len() >= n);
    let (transactions, mut operations) = cast(example, &edges, &shown, all, picks);
    operations.extend(reads);
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
    leave_rows_out(&mut diagram, picks);
    let foldable = diagram.foldable();
    if !picks.folded.is_empty() {
        diagram = diagram.folded(&picks.folded);
    }
    Drawing { diagram, edges, alternatives, is_partial, case, foldable }
}

/// The transactions and operations that are drawn whether or not an edge touches them: all of the argument, or, where
/// evidence is left out, what the edges that are left speak of.
fn cast(
    example: &Counterexample,
    edges: &[Edge],
    shown: &BTreeSet<EdgeIndex>,
    all: bool,
    picks: &Picks,
) -> (Vec<TransactionId>, Vec<OperationId>) {
    let violation = &example.violation;
    let owner = |o: OperationId| example.history.transaction_of(o);
    let (mut transactions, mut operations);
    if all || shown.is_empty() {
        transactions = transactions_to_draw(violation);
        operations = involved_operations(violation);
        if transactions.len() < violation.transactions.len() {
            operations.retain(|&o| transactions.contains(&owner(o)));
        }
    } else {
        let shown = || shown.iter().map(|&e| &edges[e]);
        let touched: BTreeSet<TransactionId> = shown().flat_map(|edge| [edge.from, edge.to]).collect();
        operations = violation.operations.iter().copied().filter(|&o| touched.contains(&owner(o))).collect();
        // A list that shows an order is what the argument rests on, although no edge lands on it.
        operations.extend(shown().filter_map(|edge| match edge.because {
            Reason::Listed { read, .. } => Some(read),
            _ => None,
        }));
        transactions = touched.into_iter().collect();
    }
    for part in &picks.kept {
        // Choices may be older than the history.
        match *part {
            Part::Transaction(t) if t.index() < example.history.n_transactions() => transactions.push(t),
            Part::Operation(o) if o.index() < example.history.n_operations() => operations.push(o),
            _ => {}
        }
    }
    let is_in = |t: TransactionId| !picks.left_out.contains(&Part::Transaction(t));
    transactions.retain(|&t| is_in(t));
    operations.retain(|&o| is_in(owner(o)));
    (transactions, operations)
}

/// Takes the rows that are left out away; the card counts them among its others.
fn leave_rows_out(diagram: &mut Diagram, picks: &Picks) {
    let is_out = |operation: OperationId| picks.left_out.contains(&Part::Operation(operation));
    // By card: the new place of each row.
    let places: Vec<Vec<Option<usize>>> = diagram
        .cards
        .iter()
        .map(|card| {
            let mut next = 0;
            let place = |row: &Row| {
                let place = (!is_out(row.operation)).then_some(next);
                next += usize::from(place.is_some());
                place
            };
            card.rows.iter().map(place).collect()
        })
        .collect();
    for card in &mut diagram.cards {
        let before = card.rows.len();
        card.rows.retain(|row| !is_out(row.operation));
        card.folded += before - card.rows.len();
    }
    for arrow in &mut diagram.arrows {
        arrow.from_row = arrow.from_row.and_then(|row| places[arrow.from][row]);
        arrow.to_row = arrow.to_row.and_then(|row| places[arrow.to][row]);
    }
}

/// A page wider than this is hard to read when it is shown 800 pixels wide.
const WIDE: f32 = 940.0;

/// Coordinates, and the diagram they are of: where it would be too wide to read, labels say no keys that stand in their
/// rows, and then rows say no lines and cards no usual outcomes; where even that is too wide for columns, layers take their
/// place, and cards say their session. Says whether outcomes were left out.
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
        if all_committed || card.transaction.is_initial() {
            card.status.clear();
        }
    }
    for lane in short.lanes.iter_mut().filter(|lane| lane.session.is_none()) {
        lane.title = "initial".to_owned();
    }
    let layout = arrange(&short);
    if layout.bounds.width() > WIDE
        && let Some((layered, layout)) = in_layers(diagram, all_committed, layout.bounds.width())
    {
        return (layered, layout, all_committed);
    }
    (short, layout, all_committed)
}

/// The diagram in layers, if that is narrower than `width` and nothing lies on anything else. What columns would say
/// stands on the cards.
fn in_layers(diagram: &Diagram, all_committed: bool, width: f32) -> Option<(Diagram, Layout)> {
    let mut layered = diagram.clone();
    for card in layered.cards.iter_mut().filter(|card| !card.transaction.is_initial()) {
        let session = &diagram.lanes[card.lane].title;
        card.status = if all_committed { session.clone() } else { format!("{session}, {}", card.status) };
    }
    let layout = graphviz(&layered).ok()?;
    // Edges end at cards there, not at rows.
    let is_clear = problems(&layered, &layout).iter().all(|problem| matches!(problem, Problem::LooseEnd(_)));
    (is_clear && layout.bounds.width() < width).then_some((layered, layout))
}
