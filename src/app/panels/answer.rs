//! Why an edge is there: next to the edge where it is drawn and was clicked, else below the argument.

use crate::app::command::{Command, Request, Requests};
use crate::app::picture::{self, Picture};
use crate::app::state::{Document, State};
use crate::app::style::{self, Palette};
use crate::app::vocabulary::{Attention, Focus, Page};
use crate::diagram::layout::MAX_TITLE_COLUMNS;
use crate::diagram::text_size::elide;
use crate::history::TransactionId;
use crate::relations::EdgeIndex;
use egui::{Align2, Area, Frame, Id, Order, Rect, RichText, ScrollArea, Sense, Ui, WidgetInfo, WidgetType, pos2};

/// Width of an answer next to an edge.
const WIDTH: f32 = 330.0;
/// Space between an edge's label and its answer.
const GAP: f32 = 12.0;

/// The edge whose answer is next to it: it was clicked, and the graph shows it.
fn told_beside(state: &State, document: &Document) -> Option<EdgeIndex> {
    let picture = document.current_picture().filter(|_| state.page == Page::Graph && !document.whole_group)?;
    let Some(Attention::Edge(index)) = document.pinned else { return None };
    let edge = picture.edges().get(index)?;
    (picture.drawn.contains(&index) && !state.hidden.contains(&edge.relation)).then_some(index)
}

/// The answer next to the edge that was clicked, in the half of `area` that has more room. `place` finds an edge's label.
pub(super) fn beside_ui(
    ui: &Ui,
    area: Rect,
    (state, document): (&State, &Document),
    place: impl Fn(EdgeIndex) -> Option<Rect>,
    requests: &mut Requests,
) {
    let Some((edge, picture)) = told_beside(state, document).zip(document.current_picture()) else { return };
    let place = place(edge).unwrap_or(Rect::from_pos(area.center()));
    let is_below = place.center().y < area.center().y;
    let (pivot, y) = match is_below {
        true => (Align2::CENTER_TOP, place.bottom() + GAP),
        false => (Align2::CENTER_BOTTOM, place.top() - GAP),
    };
    let height = if is_below { area.bottom() - y } else { y - area.top() };
    let id = Id::new(("why an edge is there", edge));
    let above = Area::new(id).order(Order::Middle).pivot(pivot).fixed_pos(pos2(place.center().x, y));
    above.constrain_to(area).show(ui.ctx(), |ui| {
        Frame::popup(ui.style()).show(ui, |ui| {
            ui.set_width(WIDTH.min(area.width() * 0.6));
            ScrollArea::vertical().max_height((height - 2.0 * GAP).max(80.0)).show(ui, |ui| {
                answer_ui(ui, picture, document, edge, requests);
            });
        });
    });
}

fn answer_ui(ui: &mut Ui, picture: &Picture, document: &Document, edge: EdgeIndex, requests: &mut Requests) {
    style::bold(ui, "Why is this edge here?", style::HEADING, Palette::of(ui).strong);
    edge_ui(ui, picture, edge, true, requests);
    let n_edges = picture.argument.counterexample.violation.edges.len();
    super::overrides::pick_ui(ui, document, edge, n_edges, requests);
    evidence_ui(ui, picture, edge, requests);
}

/// Why the edge that has attention is there; without one, or where that is told next to the edge, the edges to choose from.
pub(super) fn why_ui(ui: &mut Ui, picture: &Picture, state: &State, document: &Document, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let violation = &picture.argument.counterexample.violation;
    if violation.edges.is_empty() {
        style::note(ui, "The operations alone contradict the level: no edge is needed.");
        return;
    }
    let chosen = match document.attention() {
        Some(Attention::Edge(edge)) => Some(edge),
        Some(Attention::Step(step)) => {
            picture.argument.explanation.steps.get(step).and_then(|step| step.edges.last().copied())
        }
        _ => None,
    };
    let chosen = chosen.filter(|edge| *edge < picture.edges().len() && told_beside(state, document) != Some(*edge));
    match chosen {
        Some(edge) => answer_ui(ui, picture, document, edge, requests),
        None => {
            ui.horizontal(|ui| {
                style::bold_line(ui, "Edges", style::HEADING, palette.strong);
                style::note(ui, "click one to see why it is there");
            });
            for &edge in &picture.drawn {
                edge_ui(ui, picture, edge, false, requests);
            }
        }
    }
}

fn edge_ui(ui: &mut Ui, picture: &Picture, index: EdgeIndex, full: bool, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let example = &picture.argument.counterexample;
    let Some(edge) = picture.edges().get(index) else { return };
    // The font of lists lacks the sign ⊥.
    let short = |name: String| elide(&name, MAX_TITLE_COLUMNS);
    let name = |t: TransactionId| match t.is_initial() {
        true => "initial".to_owned(),
        false => short(example.history.transaction_name(t)),
    };
    let key = edge.key.map(|key| format!(" {}", short(example.history.key_name(key)))).unwrap_or_default();
    let text = format!("{} → {}", name(edge.from), name(edge.to));
    let response = ui
        .horizontal_wrapped(|ui| {
            let code = format!("{}{key}", edge.relation.code());
            ui.label(RichText::new(code).monospace().color(palette.relation(edge.relation)));
            ui.label(RichText::new(text.as_str()).color(palette.strong));
            style::note(ui, edge.relation.name());
        })
        .response;
    let response = ui.interact(response.rect, ui.id().with(("edge line", index, full)), Sense::click());
    response
        .widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, format!("{} edge {text}", edge.relation.code())));
    if response.clicked() && !full {
        requests.push(Request::Focus(Focus::Pin(Some(Attention::Edge(index)))));
    }
    if response.hovered() && !full {
        requests.push(Request::Focus(Focus::Hover(Attention::Edge(index))));
    }
    if !full {
        return;
    }
    let supposed = picture.argument.interpretation.alternatives.iter().find(|other| other.edge == index);
    if let Some(supposed) = supposed {
        ui.label(RichText::new(format!("This order was ruled out. {}", supposed.text)).color(palette.text));
    }
    if let Some(reason) = picture.argument.explanation.edge_reasons.get(index) {
        ui.label(RichText::new(reason).color(palette.text));
        let rejected = picture.argument.interpretation.alternatives.iter().find(|other| other.instead_of == index);
        if let Some(rejected) = rejected {
            let text = format!("Why not the other way round? {}", rejected.text);
            ui.label(RichText::new(text).color(palette.weak));
        }
    }
}

fn evidence_ui(ui: &mut Ui, picture: &Picture, index: EdgeIndex, requests: &mut Requests) {
    let edges = &picture.argument.counterexample.violation.edges;
    let evidence = picture::evidence_of(edges, index);
    if evidence.is_empty() {
        return;
    }
    ui.horizontal(|ui| {
        style::note(ui, "rests on");
        let shown = picture.expanded.contains(&index);
        let text = if shown { "Fold evidence" } else { "Show evidence" };
        if ui.small_button(text).on_hover_text(super::tooltip(Command::ExpandEvidence)).clicked() {
            requests.push(Request::ToggleEvidence(index));
        }
    });
    for premise in evidence {
        ui.indent(("premise", premise), |ui| edge_ui(ui, picture, premise, false, requests));
    }
}
