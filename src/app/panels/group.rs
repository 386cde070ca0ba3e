//! All anomalies of the selected one's component as one graph: the selected one is highlighted, a click selects
//! another.

use super::{on_command, on_menu_click};
use crate::app::canvas::look::{Lit, Look, Weight};
use crate::app::canvas::sketch::Sketch;
use crate::app::canvas::{Answer, Canvas, Subject};
use crate::app::command::{Command, Request, Requests};
use crate::app::group_graph::{GroupGraph, MAX_ARROWS, MAX_CARDS};
use crate::app::page::Page;
use crate::app::picture::Picture;
use crate::app::state::{Document, State};
use crate::app::style::{self, Palette, counted, counted_as};
use crate::app::vocabulary::{Attention, Focus};
use crate::history::{OperationId, TransactionId};
use crate::relations::{Edge, EdgeIndex};
use egui::Ui;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is said of an anomaly without edges.
pub(super) const NO_EDGES: &str =
    "The operations alone contradict the level: no transaction depends on another.";

pub(crate) fn group_ui(
    ui: &mut Ui,
    state: &State,
    document: &Document,
    canvas: &mut Canvas,
    requests: &mut Requests,
) {
    match document.component.graph.as_ref() {
        None if super::failed_ui(ui, document, Page::Matrix) => {}
        None if document.component.gathers() => drop(style::note(ui, "Gathering…")),
        None => drop(style::note(
            ui,
            "Select an anomaly to see what it is connected with.",
        )),
        Some(group) => match &group.sketch {
            None => too_large_ui(ui, group, requests),
            Some(sketch) => picture_ui(ui, (state, document), (group, sketch), canvas, requests),
        },
    }
}

/// `12 anomalies, 31 transactions`, if the group is known.
pub(crate) fn size(document: &Document) -> String {
    let Some(group) = &document.component.graph else {
        return String::new();
    };
    let anomalies = counted_as(group.n, "anomaly", "anomalies");
    let cards = group
        .sketch
        .as_ref()
        .filter(|_| group.edges.is_empty())
        .map(|sketch| sketch.diagram.cards.len());
    format!(
        "{anomalies}, {}",
        counted(
            cards.unwrap_or(group.table.transactions.len()),
            "transaction"
        )
    )
}

/// Whether graph and matrix are about the selected anomaly or its whole component: entries of a menu.
pub(crate) fn scope_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    style::frame_choices(ui);
    for (whole, name, hint) in [
        (false, "This anomaly", "The edges of the chosen anomaly"),
        (
            true,
            "Related anomalies",
            "The edges of all listed anomalies that share transactions with it, directly or through others",
        ),
    ] {
        let hint = format!("{hint}\n{}", super::tooltip(Command::SwitchScope));
        let response = ui.radio(document.component.whole == whole, name);
        on_menu_click(
            &response.on_hover_text(hint),
            ui,
            Request::WholeGroup(whole),
            requests,
        );
    }
}

fn too_large_ui(ui: &mut Ui, group: &GroupGraph, requests: &mut Requests) {
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.4);
        let n = counted(group.table.transactions.len(), "transaction");
        ui.label(format!(
            "{n} are too many for a graph, which shows at most {MAX_CARDS} with {MAX_ARROWS} edges. The matrix shows them all."
        ));
        ui.add_space(6.0);
        on_command(ui.button("Show the matrix"), Command::Show(Page::Matrix), requests);
    });
}

fn picture_ui(
    ui: &mut Ui,
    (state, document): (&State, &Document),
    (group, sketch): (&GroupGraph, &Arc<Sketch>),
    canvas: &mut Canvas,
    requests: &mut Requests,
) {
    let area = ui.available_rect_before_wrap();
    let look = Look {
        palette: Palette::of(ui),
        lit: lit(document, group),
        hidden: (0..group.edges.len())
            .filter(|edge| state.hidden.contains(&group.edges[*edge].0.relation))
            .collect(),
        chosen: document.parts.chosen.clone(),
        pale: 0.85,
        weight: Weight::OfLit,
        ..Look::default()
    };
    let rest = super::legend::legend_ui(ui, area, state, &group.relations, None, requests);
    let (answer, response) = canvas.ui(ui, rest, sketch, look, Subject::Several);
    let menu = answer.menu;
    if let Some(text) = answer
        .hovered
        .and_then(|at| operations_text(document, group, at))
    {
        response.clone().on_hover_text_at_pointer(text);
    }
    forward(ui, document, group, answer, requests);
    response.context_menu(|ui| menu_ui(ui, document, menu, requests));
}

/// Most operations named on hover.
const MOST_NAMED: usize = 12;

/// The operations of a card that edges of the component are about, where cards have no rows.
fn operations_text(document: &Document, group: &GroupGraph, at: Attention) -> Option<String> {
    let (history, Attention::Transaction(t)) = (document.history.as_ref()?, at) else {
        return None;
    };
    let edges = group.edges.iter().map(|(edge, _)| edge);
    let ends = edges.flat_map(|edge| [edge.from_operation, edge.to_operation]);
    let own = ends.flatten().filter(|o| history.transaction_of(*o) == t);
    let own: BTreeSet<OperationId> = own.collect();
    let mut lines: Vec<String> = own
        .iter()
        .take(MOST_NAMED)
        .map(|o| history.operation_text(*o))
        .collect();
    if own.len() > MOST_NAMED {
        lines.push(format!("and {} more", own.len() - MOST_NAMED));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The edges of the selected anomaly with their ends, and what has attention: another anomaly with its edges, too.
pub(super) fn lit(document: &Document, group: &GroupGraph) -> Lit {
    let mut lit = Lit {
        transactions: document.attended().into_iter().collect(),
        ..Lit::default()
    };
    if let Some(Attention::Anomaly(id)) = document
        .argument
        .hovered
        .filter(|at| document.selected.map(Attention::Anomaly) != Some(*at))
    {
        lit.edges
            .extend(group.edges_of.get(&id).into_iter().flatten());
    }
    lit.edges.extend(own_edges(document, group));
    for (edge, _) in lit.edges.iter().filter_map(|&edge| group.edges.get(edge)) {
        lit.transactions.extend([edge.from, edge.to]);
        lit.operations
            .extend(edge.from_operation.into_iter().chain(edge.to_operation));
    }
    lit.any = !lit.transactions.is_empty();
    lit
}

/// The edges of the selected anomaly: those that its smallest counterexample needs, of which the checker gives more.
fn own_edges(document: &Document, group: &GroupGraph) -> Vec<EdgeIndex> {
    let own = document
        .selected
        .and_then(|id| group.edges_of.get(&id))
        .into_iter()
        .flatten()
        .copied();
    let Some(picture) = document.current_picture() else {
        return own.collect();
    };
    let drawn = drawn_edges(picture);
    let find = |wanted: &Edge, is_found: &dyn Fn(&Edge) -> bool| {
        let ends = |edge: &Edge| (edge.from, edge.to, edge.relation);
        own.clone().find(|&at| {
            group
                .edges
                .get(at)
                .is_some_and(|(e, _)| ends(e) == ends(wanted) && is_found(e))
        })
    };
    let operations = |edge: &Edge| (edge.from_operation, edge.to_operation);
    let found = |edge: &Edge| {
        find(edge, &|e| operations(e) == operations(edge)).or_else(|| find(edge, &|_| true))
    };
    drawn.iter().filter_map(found).collect()
}

/// The edges of a counterexample, in terms of the whole history.
fn drawn_edges(picture: &Picture) -> Vec<Edge> {
    let example = &picture.argument.counterexample;
    let whole = |t: TransactionId| example.renaming.old_transaction(t);
    let operation = |o: OperationId| example.renaming.operations.get(o.index()).copied();
    let edges = example.violation.edges.iter().map(|edge| Edge {
        from: whole(edge.from),
        to: whole(edge.to),
        from_operation: edge.from_operation.and_then(operation),
        to_operation: edge.to_operation.and_then(operation),
        ..edge.clone()
    });
    edges.collect()
}

/// The transaction of the whole history that a card or a row belongs to.
fn transaction(document: &Document, at: Attention) -> Option<TransactionId> {
    let history = document.history.as_ref()?;
    match at {
        Attention::Transaction(t) => Some(t),
        Attention::Operation(o) => Some(history.transaction_of(o)),
        _ => None,
    }
}

pub(super) fn forward(
    ui: &Ui,
    document: &Document,
    group: &GroupGraph,
    answer: Answer,
    requests: &mut Requests,
) {
    let in_terms_of_document = |at: Attention| match at {
        Attention::Edge(edge) => group.edges.get(edge).map(|(_, id)| Attention::Anomaly(*id)),
        at => transaction(document, at).map(|t| document.attention_of(t)),
    };
    if !answer.boxed.is_empty() {
        requests.push(Request::ChooseMore(answer.boxed));
    }
    requests.extend(answer.selected.map(|t| Request::Choose(vec![t])));
    if let Some(hovered) = answer.hovered.and_then(in_terms_of_document) {
        requests.push(Request::Focus(Focus::Hover(hovered)));
    }
    let Some(clicked) = answer.clicked else {
        return;
    };
    if ui.input(|input| input.modifiers.shift) {
        return;
    }
    match clicked {
        Some(Attention::Edge(edge)) => {
            requests.extend(group.edges.get(edge).map(|(_, id)| Request::Select(*id)));
        }
        at => {
            let pinned = at.and_then(in_terms_of_document);
            let pin = if pinned == document.argument.pinned {
                None
            } else {
                pinned
            };
            requests.push(Request::Focus(Focus::Pin(pin)));
        }
    }
}

/// The context menu of a card.
fn menu_ui(ui: &mut Ui, document: &Document, at: Option<Attention>, requests: &mut Requests) {
    let Some(t) = at
        .and_then(|at| transaction(document, at))
        .filter(|t| !t.is_initial())
    else {
        for command in [
            Command::Fit,
            Command::SwitchScope,
            Command::Show(Page::Matrix),
        ] {
            on_menu_click(
                &ui.button(command.row().name),
                ui,
                Request::Run(command),
                requests,
            );
        }
        return;
    };
    let chosen = document.parts.chosen.contains(&t);
    for (name, request) in [
        (
            if chosen {
                "Do not choose"
            } else {
                "Add to what-if"
            },
            Request::Choose(vec![t]),
        ),
        ("Show among all sessions", Request::ShowInLanes(t)),
        ("Show in the history", Request::Browse(t)),
    ] {
        on_menu_click(&ui.button(name), ui, request, requests);
    }
}
