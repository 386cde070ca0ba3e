//! From a selected violation to a picture: minimize, explain, diagram, layout. Everything here runs off the frame.

use super::App;
use super::canvas::sketch::Sketch;
use super::tasks::{Failure, Task};
use crate::app::tree::Catalogue;
use crate::audit::{Example, Examples};
use crate::checkers::{Findings, Violation, ViolationId};
use crate::control::Control;
use crate::counterexample::{
    CaseTree, Counterexample, Explanation, Interpretation, PartialOrder, Tested, case_tree,
    cycle_to_draw, interpret, longest_orders, narrate,
};
use crate::diagram::layout::{self, Arranged, LayoutStyle, TooManyCards};
use crate::diagram::scene::Scene;
use crate::diagram::sequence;
use crate::export::{self, ComposeOptions, Evidence, Overrides, Part};
use crate::history::{History, SessionId, TransactionId};
use crate::relations::{Edge, EdgeIndex, Reason, Relation};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How graphs are drawn.
pub type LayoutKind = LayoutStyle;

/// Evidence is shown from the start when the picture then has at most this many cards…
const OPEN_CARDS: usize = 9;
/// … and this many edges.
const OPEN_EDGES: usize = 20;

/// One violation, minimized and explained.
#[derive(Debug)]
pub struct Argument {
    /// The chosen violation of the whole history.
    pub id: ViolationId,
    /// The one that is shown of it: itself, or a simpler one that it contains.
    pub shown: ViolationId,
    /// The smallest part that convinces.
    pub counterexample: Counterexample,
    /// Why it convinces.
    pub explanation: Explanation,
    /// How it comes about: what is rejected, and why.
    pub interpretation: Interpretation,
    /// The cases, if no single cycle or read explains it.
    pub cases: Option<CaseTree>,
    /// The argument as plain text.
    pub text: String,
    /// The argument as Markdown.
    pub markdown: String,
    /// Edges of the contradicting cycle.
    cycle: Vec<EdgeIndex>,
}

/// Which part of an argument a picture has room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The contradiction, and the evidence that is unfolded.
    #[default]
    Argument,
    /// A case by itself.
    Case(usize),
}

/// What is drawn in addition to the contradiction and its evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shows {
    /// Which part.
    pub scope: Scope,
    /// Orders that were ruled out, with what would have followed from them.
    pub alternatives: bool,
    /// What stays and what is left out by choice.
    pub overrides: Overrides,
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
    pub drawn: Vec<EdgeIndex>,
    /// What is drawn, and where.
    pub sketch: Arc<Sketch>,
    /// The anomaly over time, a row for each session.
    pub lanes: Scene,
    /// Of operations that no order explains, the longest orders that work, drawn.
    pub orders: Vec<(PartialOrder, Scene)>,
    /// Transactions of the whole history that are left out.
    pub hidden: BTreeSet<TransactionId>,
    /// What is drawn in addition to the contradiction and its evidence.
    pub shows: Shows,
    /// Sessions of the counterexample that have several transactions in it, folded or not.
    pub foldable: BTreeSet<SessionId>,
    /// Why it is not drawn as requested.
    pub note: Option<String>,
}

impl Picture {
    /// The relation of an edge as its arrow shows it: a version that was passed over for the initial one is drawn as missed.
    pub fn relation_drawn(&self, e: EdgeIndex) -> Option<Relation> {
        let arrows = &self.sketch.diagram.arrows;
        let arrow = arrows.iter().find(|arrow| arrow.edge == e);
        let edge = || self.edges().get(e).map(|edge| edge.relation);
        arrow.map(|arrow| arrow.relation).or_else(edge)
    }

    /// All edges that arrows refer to: those of the violation at their own indices, then those of rejected orders.
    pub fn edges(&self) -> &[Edge] {
        &self.argument.interpretation.edges
    }

    /// Options for an export that shows the same.
    pub fn options(&self, whole: &History) -> ComposeOptions {
        let base = ComposeOptions::for_history(whole);
        options(
            &self.argument,
            &self.hidden,
            &self.shows,
            self.drawn.iter().copied().collect(),
            base,
            self.kind,
        )
    }
}

/// What a picture is made of.
pub enum Material {
    /// A violation of the whole history, to be minimized first, and everything found there.
    Violation(Box<Violation>, Arc<Catalogue>),
    /// A known argument.
    Argument(Arc<Argument>),
}

/// The picture to make.
pub struct Draw {
    /// The whole history.
    pub history: Arc<History>,
    /// The source of the picture.
    pub material: Material,
    /// How to lay it out.
    pub kind: LayoutKind,
    /// Edges whose evidence is requested; none: chosen automatically.
    pub expanded: Option<BTreeSet<EdgeIndex>>,
    /// Transactions of the whole history to leave out.
    pub hidden: BTreeSet<TransactionId>,
    /// What to draw in addition to the contradiction and its evidence.
    pub shows: Shows,
    /// What was tested.
    pub tested: Tested,
}

/// Making a picture.
pub(super) static DRAW: Task<Arc<Picture>> = Task {
    end: |app, _| {
        let Some(document) = &mut app.state.document else {
            return;
        };
        document.drawing = false;
    },
    ..Task::new(
        "draw",
        Failure::Message("The picture could not be made"),
        App::show_picture,
    )
};

impl Draw {
    /// The picture; none if it is stopped.
    pub(super) fn make(self, control: &Control) -> Option<Arc<Picture>> {
        let argument = match self.material {
            Material::Argument(argument) => argument,
            Material::Violation(violation, catalogue) => Arc::new(argue(
                &self.history,
                &catalogue.findings,
                &violation,
                self.tested,
                control,
            )),
        };
        control.check().ok()?;
        let picture = draw(
            argument,
            &self.history,
            self.kind,
            self.expanded,
            self.hidden,
            self.shows,
        );
        Some(Arc::new(picture))
    }
}

/// Minimizes a violation and explains it.
pub fn argue(
    history: &History,
    findings: &Findings,
    violation: &Violation,
    tested: Tested,
    control: &Control,
) -> Argument {
    control.phase("minimizing", 0);
    let example = Examples::new(history, findings)
        .of_tested(tested)
        .of_row(violation, control);
    control.phase("explaining", 0);
    let Example {
        violation: shown,
        counterexample,
        explanation,
    } = example;
    Argument {
        id: violation.id,
        shown: shown.id,
        text: narrate::plain_text(&counterexample, &explanation, history),
        markdown: narrate::markdown(&counterexample, &explanation, history),
        interpretation: interpret(&counterexample),
        cases: case_tree(&counterexample.history, &counterexample.violation),
        cycle: cycle_to_draw(&counterexample.violation),
        explanation,
        counterexample,
    }
}

/// The space for a picture in a laptop's window: larger windows scale it up.
pub(super) const ROOM: egui::Vec2 = egui::vec2(620.0, 600.0);

/// Draws an argument taken from `whole`.
pub fn draw(
    argument: Arc<Argument>,
    whole: &History,
    kind: LayoutKind,
    expanded: Option<BTreeSet<EdgeIndex>>,
    hidden: BTreeSet<TransactionId>,
    shows: Shows,
) -> Picture {
    let drawing =
        |expanded: &BTreeSet<EdgeIndex>, shows: &Shows, hidden: &BTreeSet<TransactionId>| {
            let pinned = shown(&argument, expanded);
            let base = ComposeOptions::default();
            let options = options(&argument, hidden, shows, pinned, base, kind);
            let (example, explanation) = (&argument.counterexample, &argument.explanation);
            export::draw(example, explanation, whole, &options)
        };
    let all = expandable(&argument.counterexample.violation.edges);
    let is_open = {
        let diagram = drawing(&all, &shows, &hidden).diagram;
        diagram.cards.len() <= OPEN_CARDS && diagram.arrows.len() <= OPEN_EDGES
    };
    let folded = if is_open { all } else { BTreeSet::new() };
    let expanded = expanded.unwrap_or_else(|| folded.clone());
    let export::Drawing {
        diagram, foldable, ..
    } = drawing(&expanded, &shows, &hidden);
    let mut drawn: Vec<EdgeIndex> = diagram
        .arrows
        .iter()
        .flat_map(|a| [&[a.edge], a.also.as_slice()].concat())
        .collect();
    drawn.sort_unstable();
    let orders = longest_orders(&argument.counterexample).into_iter();
    let orders = orders
        .map(|order| {
            let scene = export::linear_scene(&argument.counterexample, &order);
            (order, scene)
        })
        .collect();
    let lanes = sequence::scene(&diagram, &argument.counterexample.history, whole);
    // What is folded or left out leaves its place empty: the rest stays where it is.
    let mut rest = shows.clone();
    let is_row = |part: &Part| matches!(part, Part::Operation(_));
    rest.overrides.left_out.retain(is_row);
    let most = if is_open { &folded } else { &expanded };
    let most = drawing(most, &rest, &BTreeSet::new()).diagram;
    let Arranged { diagram, layout } = layout::arrange(&most, kind, ROOM)
        .of_part(&diagram)
        .unwrap_or_else(|| layout::arrange(&diagram, kind, ROOM));
    let is_refused = kind == LayoutKind::Layered && !layout.lanes.is_empty();
    let note = is_refused.then(|| TooManyCards::of(&diagram).to_string());
    let layout = shows.overrides.moved(kind, &diagram, layout);
    let sketch = Arc::new(Sketch::new(diagram, layout));
    Picture {
        kind,
        expanded,
        drawn,
        sketch,
        lanes,
        orders,
        note,
        hidden,
        shows,
        foldable,
        argument,
    }
}

/// Options for an export that shows the edges `pinned`, unless something else was chosen.
fn options(
    argument: &Argument,
    hidden: &BTreeSet<TransactionId>,
    shows: &Shows,
    pinned: BTreeSet<EdgeIndex>,
    base: ComposeOptions,
    kind: LayoutKind,
) -> ComposeOptions {
    let renaming = &argument.counterexample.renaming;
    let mut overrides = shows.overrides.clone();
    overrides.left_out.extend(
        hidden
            .iter()
            .filter_map(|t| renaming.new_transaction(*t))
            .map(Part::Transaction),
    );
    let evidence = match shows.scope {
        Scope::Argument => Evidence::Pinned(pinned),
        Scope::Case(_) => Evidence::All,
    };
    let case = match shows.scope {
        Scope::Case(place) => Some(place),
        Scope::Argument => None,
    };
    ComposeOptions {
        layout: kind,
        evidence,
        alternatives: shows.alternatives,
        case,
        overrides,
        ..base
    }
}

/// The edges that an inferred edge rests on directly: its premises, and the read that makes visibility matter.
pub fn evidence_of(edges: &[Edge], index: EdgeIndex) -> Vec<EdgeIndex> {
    let Some(edge) = edges.get(index) else {
        return Vec::new();
    };
    let mut evidence: BTreeSet<EdgeIndex> = edge.because.premises().iter().copied().collect();
    let read = match &edge.because {
        Reason::Visible { reader, .. } => Some((edge.to, *reader)),
        Reason::Overwrites { writer, .. } => Some((*writer, edge.from)),
        _ => None,
    };
    let is_read = |e: &Edge, (from, to)| {
        e.relation == Relation::WriteRead && (e.from, e.to, e.key) == (from, to, edge.key)
    };
    evidence.extend(read.and_then(|ends| edges.iter().position(|e| is_read(e, ends))));
    evidence.remove(&index);
    evidence
        .into_iter()
        .filter(|premise| *premise < edges.len())
        .collect()
}

/// All edges that rest on others.
pub fn expandable(edges: &[Edge]) -> BTreeSet<EdgeIndex> {
    (0..edges.len())
        .filter(|&edge| !evidence_of(edges, edge).is_empty())
        .collect()
}

/// The edges drawn: the cycle, and the evidence of expanded edges that are drawn themselves. Without a cycle, all
/// edges.
pub(super) fn shown(argument: &Argument, expanded: &BTreeSet<EdgeIndex>) -> BTreeSet<EdgeIndex> {
    let edges = &argument.counterexample.violation.edges;
    if argument.cycle.is_empty() {
        return (0..edges.len()).collect();
    }
    let mut shown: BTreeSet<EdgeIndex> = argument.cycle.iter().copied().collect();
    let mut open: Vec<EdgeIndex> = argument.cycle.clone();
    while let Some(edge) = open.pop() {
        if expanded.contains(&edge) {
            open.extend(
                evidence_of(edges, edge)
                    .into_iter()
                    .filter(|&premise| shown.insert(premise)),
            );
        }
    }
    shown
}
