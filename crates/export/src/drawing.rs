//! What is drawn of a counterexample: which evidence, which rejected orders, and how much text the picture itself
//! contains.

use super::options::{ComposeOptions, Evidence};
use super::overrides::{Overrides, Part};
use super::view::PAGE_CONTENT;
use emath::{Vec2, vec2};
use isoscope_draw::diagram::layout::{Arranged, LEAST_SCALE, LayoutStyle, arrange};
use isoscope_draw::diagram::{Condition, Diagram, Emphasis, Row, Subject, diagram};
use isoscope_model::history::{History, OperationId, SessionId, TransactionId};
use isoscope_model::relations::{Edge, EdgeIndex, Reason, Relation};
use isoscope_tell::counterexample::{
    Alternative, Counterexample, Explanation, Step, StepRole, as_drawn, case_tree, cycle_to_draw,
    drawn_part, edges_to_draw, interpret, involved_operations, transactions_to_draw,
};
use std::collections::{BTreeMap, BTreeSet};

/// What a legend says of the mark of arrows that make the difference between two orders.
pub const ABOUT_DECISIVE: &str = "*: without it the level would hold";

/// A diagram and its edges.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// What is drawn.
    pub diagram: Diagram,
    /// All edges that its arrows refer to: those of the violation at their own indices, then those of rejected orders.
    pub edges: Vec<Edge>,
    /// The rejected orders that are drawn.
    pub alternatives: Vec<Alternative>,
    /// Whether a part of the argument was left out on request.
    pub is_partial: bool,
    /// The label of the case that is drawn, if one was requested.
    pub case: Option<String>,
    /// Sessions of the counterexample that have several transactions here, folded or not.
    pub foldable: BTreeSet<SessionId>,
}

/// What can be drawn of an argument, before anything is left out.
struct Material {
    needed: BTreeSet<EdgeIndex>,
    cycle: Vec<EdgeIndex>,
    /// Reads that the case ends in.
    reads: Vec<OperationId>,
    case: Option<String>,
}

impl Material {
    /// The requested case, else the part that a picture can show.
    fn of(example: &Counterexample, case: Option<usize>) -> Material {
        let violation = &example.violation;
        let tree = case.and_then(|place| Some((case_tree(&example.history, violation)?, place)));
        match tree {
            Some((tree, place)) if place > 0 && place < tree.nodes.len() => Material {
                needed: tree.edges_of(violation, place),
                cycle: tree.cycles_of(place),
                reads: tree.reads_of(place),
                case: Some(tree.nodes[place].label.to_string()),
            },
            _ => Material {
                needed: edges_to_draw(violation),
                cycle: cycle_to_draw(violation),
                reads: Vec::new(),
                case: None,
            },
        }
    }
}

/// The diagram for `options`. `whole` is the history that the counterexample was taken from.
///
/// An arrow has the number of the first step of the argument that mentions it, or else of the one that contradicts it.
/// One that makes the difference between two orders is marked.
pub fn draw(
    example: &Counterexample,
    explanation: &Explanation,
    whole: &History,
    options: &ComposeOptions,
) -> Drawing {
    let steps = &explanation.steps;
    let violation = &example.violation;
    let n = violation.edges.len();
    let Material {
        needed,
        cycle,
        reads,
        case,
    } = Material::of(example, options.case);
    let admitted = |e: EdgeIndex| match &options.evidence {
        Evidence::All => true,
        Evidence::None => false,
        Evidence::Of(relations) => relations.contains(&violation.edges[e].relation),
        Evidence::Pinned(pinned) => pinned.contains(&e),
    };
    let overrides = &options.overrides;
    let is_kept = |e: EdgeIndex| overrides.kept.contains(&Part::Edge(e));
    let is_shown = |&e: &EdgeIndex| {
        let edge = &violation.edges[e];
        let is_wanted = cycle.is_empty() || cycle.contains(&e) || admitted(e) || is_kept(e);
        is_wanted
            && !options.hidden.contains(&edge.relation)
            && !overrides.omits(e, [edge.from, edge.to])
    };
    let kept = (0..n).filter(|&e| is_kept(e));
    let mut shown: BTreeSet<EdgeIndex> = needed
        .iter()
        .copied()
        .chain(kept)
        .filter(is_shown)
        .collect();
    let is_partial = needed.iter().any(|e| !shown.contains(e));
    let (mut edges, mut alternatives) = (violation.edges.clone(), Vec::new());
    if options.alternatives {
        let interpretation = interpret(example);
        edges = interpretation.edges;
        alternatives = interpretation.alternatives;
        let omits = |e: &EdgeIndex| overrides.omits(*e, [edges[*e].from, edges[*e].to]);
        alternatives.retain(|alternative| {
            shown.contains(&alternative.instead_of) && !alternative.cycle.iter().any(omits)
        });
        for alternative in &alternatives {
            shown.insert(alternative.edge);
            // The cycle that it would close is drawn whole; a part would prove nothing.
            shown.extend(&alternative.cycle);
        }
    }
    edges = as_drawn(violation, edges);
    let all = case.is_none() && (options.evidence == Evidence::All || shown.len() >= n);
    let (transactions, mut operations) = cast(example, &edges, &shown, all, overrides);
    operations.extend(reads);
    let mut diagram = diagram(&Subject {
        history: &example.history,
        transactions: &transactions,
        edges: &edges,
        cycle: &cycle,
        operations: &operations,
        shown: &|e| shown.contains(&e),
        all_operations: options.all_operations,
        n_operations: &|t| {
            whole
                .operation_range(example.renaming.old_transaction(t))
                .len()
        },
    });
    let is_first_case = options.case.is_none() && drawn_part(violation).is_some();
    for arrow in &mut diagram.arrows {
        let all: Vec<EdgeIndex> = std::iter::once(arrow.edge)
            .chain(arrow.also.iter().copied())
            .collect();
        // A list that was read is mentioned with the order that it shows.
        let read = edges[arrow.edge]
            .to_operation
            .filter(|_| arrow.relation == Relation::WriteRead);
        let shows = |e: EdgeIndex| matches!(edges[e].because, Reason::Listed { read: list, .. } if Some(list) == read);
        let tells = |step: &Step| step.edges.iter().any(|&e| all.contains(&e) || shows(e));
        let first = steps
            .iter()
            .position(|step| step.role != StepRole::Contradiction && tells(step));
        let reads = |step: &Step| read.is_some_and(|read| step.operations.contains(&read));
        let observed = |step: &Step| step.role == StepRole::Observed && reads(step);
        let place = steps.iter().position(observed).or(first);
        let place = place
            .or_else(|| steps.iter().position(tells))
            .or_else(|| steps.iter().position(reads));
        let Some(place) = place else { continue };
        // An edge that another case concludes as well has a line there.
        let is_again = |step: &Step| {
            let drawn = &edges[arrow.edge];
            let is_same = |e: &EdgeIndex| {
                edges.get(*e).is_some_and(|edge| {
                    (edge.from, edge.to, edge.relation, edge.key)
                        == (drawn.from, drawn.to, drawn.relation, drawn.key)
                })
            };
            step.role == StepRole::Concluded
                && step.case != steps[place].case
                && step.edges.iter().any(is_same)
        };
        let others = if is_first_case {
            0..0
        } else {
            place + 1..steps.len()
        };
        let again = others.filter(|&later| is_again(&steps[later]));
        arrow.numbers = std::iter::once(place)
            .chain(again)
            .map(|place| place + 1)
            .collect();
        // What each case concludes holds in any case.
        if !steps[place].case.is_empty()
            && (arrow.numbers.len() == 1 || steps[place].role == StepRole::Supposed)
        {
            arrow.condition = Some(Condition::If);
        }
    }
    note_proofs(&mut diagram, &edges);
    note_initial(&mut diagram, &edges, steps);
    let decisive = example.edges_needed(&explanation.orders);
    for arrow in &mut diagram.arrows {
        arrow.is_decisive = decisive.contains(&arrow.edge);
        if arrow.edge >= n {
            let is_supposed = alternatives
                .iter()
                .any(|alternative| alternative.edge == arrow.edge);
            arrow.emphasis = Emphasis::Rejected;
            arrow.condition = Some(if is_supposed {
                Condition::If
            } else {
                Condition::Then
            });
        }
    }
    leave_rows_out(&mut diagram, overrides);
    if !overrides.whole_cycle {
        diagram = diagram.shortened();
    }
    let foldable = diagram.foldable();
    if !overrides.folded.is_empty() {
        diagram = diagram.folded(&overrides.folded);
    }
    Drawing {
        diagram,
        edges,
        alternatives,
        is_partial,
        case,
        foldable,
    }
}

/// Numbers the lists that prove an arrow but are on a card that no arrow touches: else nothing would say what they are for.
fn note_proofs(diagram: &mut Diagram, edges: &[Edge]) {
    let touched: BTreeSet<usize> = diagram
        .arrows
        .iter()
        .flat_map(|arrow| [arrow.from, arrow.to])
        .collect();
    let mut proofs: BTreeMap<OperationId, (Vec<usize>, Relation)> = BTreeMap::new();
    for arrow in &diagram.arrows {
        for &edge in std::iter::once(&arrow.edge).chain(&arrow.also) {
            if let Reason::Listed { read, .. } = edges[edge].because {
                let (numbers, _) = proofs
                    .entry(read)
                    .or_insert_with(|| (Vec::new(), arrow.relation));
                numbers.extend(&arrow.numbers);
                numbers.dedup();
            }
        }
    }
    let cards = diagram
        .cards
        .iter_mut()
        .enumerate()
        .filter(|(place, _)| !touched.contains(place));
    for row in cards.flat_map(|(_, card)| &mut card.rows) {
        row.proves = proofs
            .remove(&row.operation)
            .filter(|(numbers, _)| !numbers.is_empty());
    }
}

/// Numbers the reads of the initial state, which no arrow leads to.
fn note_initial(diagram: &mut Diagram, edges: &[Edge], steps: &[Step]) {
    let is_initial = |e: &EdgeIndex| {
        let edge = edges.get(*e);
        edge.is_some_and(|edge| edge.from.is_initial() && edge.because == Reason::Reads)
    };
    let told = steps
        .iter()
        .enumerate()
        .filter(|(_, step)| step.role == StepRole::Observed && step.edges.iter().any(is_initial));
    let drawn: BTreeSet<EdgeIndex> = diagram.arrows.iter().map(|arrow| arrow.edge).collect();
    for (place, step) in told {
        let reads = step.edges.iter().filter(|e| !drawn.contains(e));
        let reads: Vec<OperationId> = reads.filter_map(|&e| edges[e].to_operation).collect();
        let cards = diagram.cards.iter_mut().filter(|card| !card.is_stretch());
        let rows = cards.flat_map(|card| &mut card.rows);
        for row in rows.filter(|row| reads.contains(&row.operation)) {
            row.proves = Some((vec![place + 1], Relation::WriteRead));
        }
    }
}

/// The transactions and operations that are drawn whether or not an edge touches them: all of the argument, or, if
/// evidence is left out, those that the remaining edges mention.
fn cast(
    example: &Counterexample,
    edges: &[Edge],
    shown: &BTreeSet<EdgeIndex>,
    all: bool,
    overrides: &Overrides,
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
        let touched: BTreeSet<TransactionId> =
            shown().flat_map(|edge| [edge.from, edge.to]).collect();
        operations = violation
            .operations
            .iter()
            .copied()
            .filter(|&o| touched.contains(&owner(o)))
            .collect();
        // The argument depends on a list that shows an order, although no edge lands on it.
        operations.extend(shown().filter_map(|edge| match edge.because {
            Reason::Listed { read, .. } => Some(read),
            _ => None,
        }));
        transactions = touched.into_iter().collect();
    }
    for part in &overrides.kept {
        // Choices may be older than the history.
        match *part {
            Part::Transaction(t) if t.index() < example.history.n_transactions() => {
                transactions.push(t)
            }
            Part::Operation(o) if o.index() < example.history.n_operations() => operations.push(o),
            _ => {}
        }
    }
    let is_in = |t: TransactionId| !overrides.left_out.contains(&Part::Transaction(t));
    transactions.retain(|&t| is_in(t));
    operations.retain(|&o| is_in(owner(o)));
    (transactions, operations)
}

/// Takes the rows that are left out away; the card counts them among its others.
fn leave_rows_out(diagram: &mut Diagram, overrides: &Overrides) {
    let is_out = |operation: OperationId| overrides.left_out.contains(&Part::Operation(operation));
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

/// Space for a diagram on a page, which is read from top to bottom.
const ROOM: Vec2 = vec2(PAGE_CONTENT, f32::INFINITY);

/// The diagram laid out so that it is legible on a page: in this style if possible, else in another.
pub(super) fn arranged(diagram: &Diagram, style: LayoutStyle) -> Arranged {
    let wanted = arrange(diagram, style, ROOM);
    if style == LayoutStyle::Auto || is_legible(&wanted) {
        wanted
    } else {
        arrange(diagram, LayoutStyle::Auto, ROOM)
    }
}

/// Whether the smallest text is large enough on a page.
pub(super) fn is_legible(arranged: &Arranged) -> bool {
    arranged.scale(ROOM) >= LEAST_SCALE
}
