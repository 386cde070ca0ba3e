//! From a chosen violation to a picture: minimize, explain, diagram, layout. Everything here runs off the frame.

use super::canvas::sketch::Sketch;
use crate::checkers::{Violation, ViolationId};
use crate::control::Control;
use crate::counterexample::{self, Counterexample, Explanation, Interpretation, interpret, narrate};
use crate::diagram::layout::{self, LayoutStyle};
use crate::diagram::{self, Diagram, Subject};
use crate::history::{History, OperationId, TransactionId};
use crate::jobs::{Job, Revision, Wake};
use crate::relations::{Edge, EdgeIndex, Reason, Relation};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How graphs are drawn.
pub type LayoutKind = LayoutStyle;

/// Evidence is shown from the start when the picture then has at most this many cards…
const OPEN_CARDS: usize = 9;
/// … and this many edges.
const OPEN_EDGES: usize = 20;

/// One violation, made small and explained.
#[derive(Debug)]
pub struct Argument {
    /// The violation of the whole history.
    pub id: ViolationId,
    /// The smallest part that convinces.
    pub counterexample: Counterexample,
    /// Why it convinces.
    pub explanation: Explanation,
    /// How it comes about: what is rejected, and why.
    pub interpretation: Interpretation,
    /// The same as plain text.
    pub text: String,
    /// The same as Markdown.
    pub markdown: String,
    /// By transaction of the small history: its number of operations in the whole one.
    n_operations: Vec<usize>,
    /// Edges of the contradicting cycle.
    cycle: Vec<EdgeIndex>,
}

/// An argument as drawn.
#[derive(Debug)]
pub struct Picture {
    /// What it argues.
    pub argument: Arc<Argument>,
    /// How it is laid out.
    pub kind: LayoutKind,
    /// Inferred edges whose evidence is drawn.
    pub expanded: BTreeSet<EdgeIndex>,
    /// Edges that are drawn.
    pub drawn: Vec<EdgeIndex>,
    /// What is drawn, and where.
    pub sketch: Arc<Sketch>,
    /// Transactions of the whole history that are left out.
    pub hidden: BTreeSet<TransactionId>,
    /// Why it is not drawn as asked for.
    pub note: Option<String>,
}

/// What a picture is made of.
pub enum Material {
    /// A violation of the whole history, to be made small first.
    Violation(Box<Violation>),
    /// An argument that is known.
    Argument(Arc<Argument>),
}

/// What is asked for.
pub struct Order {
    /// The whole history.
    pub history: Arc<History>,
    /// What the picture is made of.
    pub material: Material,
    /// How to lay it out.
    pub kind: LayoutKind,
    /// Edges whose evidence is wanted; none: as it fits.
    pub expanded: Option<BTreeSet<EdgeIndex>>,
    /// Transactions of the whole history to leave out.
    pub hidden: BTreeSet<TransactionId>,
}

/// Starts making a picture. It comes as the job's only message, or never when the job is cancelled.
pub fn start(order: Order, revision: Revision, wake: Wake) -> Job<Arc<Picture>> {
    Job::start("draw", revision, wake, move |control, outbox| {
        let argument = match order.material {
            Material::Argument(argument) => argument,
            Material::Violation(violation) => Arc::new(argue(&order.history, &violation, control)),
        };
        if control.check().is_ok() {
            outbox.send(Arc::new(draw(argument, order.kind, order.expanded, order.hidden)));
        }
    })
}

/// Makes a violation small and explains it.
pub fn argue(history: &History, violation: &Violation, control: &Control) -> Argument {
    control.phase("minimizing", 0);
    let counterexample = counterexample::minimize(history, violation, control);
    control.phase("explaining", 0);
    let explanation = counterexample::explain(&counterexample);
    let n_operations =
        counterexample.renaming.transactions.iter().map(|&whole| history.operation_range(whole).len()).collect();
    Argument {
        id: violation.id,
        text: narrate::plain_text(&counterexample, &explanation, history),
        markdown: narrate::markdown(&counterexample, &explanation, history),
        interpretation: interpret(&counterexample),
        cycle: counterexample.violation.proof.cycle_edges(),
        n_operations,
        explanation,
        counterexample,
    }
}

/// Draws an argument.
pub fn draw(
    argument: Arc<Argument>,
    kind: LayoutKind,
    expanded: Option<BTreeSet<EdgeIndex>>,
    hidden: BTreeSet<TransactionId>,
) -> Picture {
    let renaming = &argument.counterexample.renaming;
    let without: BTreeSet<TransactionId> = hidden.iter().filter_map(|t| renaming.new_transaction(*t)).collect();
    let edges = &argument.counterexample.violation.edges;
    let expanded = expanded.unwrap_or_else(|| {
        let all = expandable(edges);
        let diagram = diagram_of(&argument, &shown(&argument, &all), &BTreeSet::new());
        let fits = diagram.cards.len() <= OPEN_CARDS && diagram.arrows.len() <= OPEN_EDGES;
        if fits { all } else { BTreeSet::new() }
    });
    let drawn = shown(&argument, &expanded);
    let diagram = diagram_of(&argument, &drawn, &without);
    let in_sight = |edge: &EdgeIndex| !without.contains(&edges[*edge].from) && !without.contains(&edges[*edge].to);
    let drawn = drawn.into_iter().filter(in_sight).collect();
    let (layout, note) = match kind {
        LayoutKind::Lanes => (layout::lanes(&diagram), None),
        LayoutKind::Layered => match layout::graphviz(&diagram) {
            Ok(layout) => (layout, None),
            Err(error) => (layout::lanes(&diagram), Some(error.to_string())),
        },
    };
    let sketch = Arc::new(Sketch { diagram, layout });
    Picture { kind, expanded, drawn, sketch, note, hidden, argument }
}

/// What is drawn of an argument: these edges, apart from the transactions that are left out.
fn diagram_of(argument: &Argument, drawn: &BTreeSet<EdgeIndex>, without: &BTreeSet<TransactionId>) -> Diagram {
    let example = &argument.counterexample;
    let violation = &example.violation;
    // Where nothing is folded away every transaction has its card; else only what the drawn edges touch.
    let everything = drawn.len() == violation.edges.len() || drawn.is_empty();
    let mut transactions: Vec<TransactionId> = if everything { violation.transactions.clone() } else { Vec::new() };
    transactions.retain(|t| !without.contains(t));
    let is_out = |t: TransactionId| without.contains(&t);
    let touched = |t: TransactionId| drawn.iter().any(|&e| violation.edges[e].from == t || violation.edges[e].to == t);
    let mut operations: Vec<OperationId> = violation
        .operations
        .iter()
        .copied()
        .filter(|&operation| everything || touched(example.history.transaction_of(operation)))
        .collect();
    // A list that shows an order is what the argument rests on, although no edge lands on it.
    operations.extend(drawn.iter().filter_map(|&e| match violation.edges[e].because {
        Reason::Listed { read, .. } => Some(read),
        _ => None,
    }));
    operations.retain(|operation| !is_out(example.history.transaction_of(*operation)));
    let in_sight = |edge: EdgeIndex| {
        drawn.contains(&edge) && !is_out(violation.edges[edge].from) && !is_out(violation.edges[edge].to)
    };
    diagram::diagram(&Subject {
        history: &example.history,
        transactions: &transactions,
        edges: &violation.edges,
        cycle: &argument.cycle,
        operations: &operations,
        shown: &in_sight,
        all_operations: false,
        n_operations: &|t| argument.n_operations.get(t.index()).copied().unwrap_or(0),
    })
}

/// The edges that an inferred edge rests on directly: its premises, and the read that makes visibility matter.
pub fn evidence_of(edges: &[Edge], index: EdgeIndex) -> Vec<EdgeIndex> {
    let Some(edge) = edges.get(index) else { return Vec::new() };
    let mut evidence: BTreeSet<EdgeIndex> = edge.because.premises().iter().copied().collect();
    let read = match &edge.because {
        Reason::Visible { reader, .. } => Some((edge.to, *reader)),
        Reason::Overwrites { writer, .. } => Some((*writer, edge.from)),
        _ => None,
    };
    let is_read =
        |e: &Edge, (from, to)| e.relation == Relation::WriteRead && (e.from, e.to, e.key) == (from, to, edge.key);
    evidence.extend(read.and_then(|ends| edges.iter().position(|e| is_read(e, ends))));
    evidence.remove(&index);
    evidence.into_iter().filter(|premise| *premise < edges.len()).collect()
}

/// All edges that rest on others.
pub fn expandable(edges: &[Edge]) -> BTreeSet<EdgeIndex> {
    (0..edges.len()).filter(|&edge| !evidence_of(edges, edge).is_empty()).collect()
}

/// The edges drawn: the cycle, and the evidence of expanded edges that are drawn themselves. Without a cycle, all.
fn shown(argument: &Argument, expanded: &BTreeSet<EdgeIndex>) -> BTreeSet<EdgeIndex> {
    let edges = &argument.counterexample.violation.edges;
    if argument.cycle.is_empty() {
        return (0..edges.len()).collect();
    }
    let mut shown: BTreeSet<EdgeIndex> = argument.cycle.iter().copied().collect();
    let mut open: Vec<EdgeIndex> = argument.cycle.clone();
    while let Some(edge) = open.pop() {
        if expanded.contains(&edge) {
            open.extend(evidence_of(edges, edge).into_iter().filter(|&premise| shown.insert(premise)));
        }
    }
    shown
}
