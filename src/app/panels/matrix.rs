//! Which transaction depends on which: the edges of an anomaly, or of a component too large to be drawn as a graph.

use super::graph::about_decisive;
use super::group::{self, NO_EDGES};
use super::scene::{paint_named, scene_ui};
use crate::app::canvas::Answer;
use crate::app::canvas::look::Look;
use crate::app::canvas::scene::{Drawn, DrawnAt, attention};
use crate::app::command::Requests;
use crate::app::group_graph::GroupGraph;
use crate::app::page::Page;
use crate::app::state::{Document, State};
use crate::app::style::{self, Palette, counted};
use crate::app::vocabulary::Attention;
use crate::diagram::Emphasis;
use crate::diagram::matrix::{self, Content, Entry, Measure, Table, Visible};
use crate::diagram::scene::Scene;
use crate::diagram::text_size::printable;
use crate::history::{History, TransactionId};
use crate::relations::Relation;
use egui::{Rect, Response, ScrollArea, Sense, Ui, WidgetInfo, WidgetType, vec2};
use std::collections::BTreeSet;

/// The largest zoom.
const LARGEST: f32 = 1.7;
/// Room below the table for the legend.
const LEGEND: f32 = 40.0;

pub(crate) fn matrix_ui(ui: &mut Ui, state: &State, document: &Document, requests: &mut Requests) {
    let Some(history) = &document.history else {
        style::note(ui, "Reading…");
        return;
    };
    head_ui(ui, document, requests);
    let area = ui.available_rect_before_wrap();
    let relations = match (&document.component.graph, document.component.whole) {
        (None, true) if super::failed_ui(ui, document, Page::Matrix) => return,
        (None, true) if document.component.gathers() => return drop(style::note(ui, "Gathering…")),
        (Some(group), true) => component_ui(ui, (state, document), (history, group), requests),
        _ => anomaly_ui(ui, state, document, requests),
    };
    let about = document
        .current_picture()
        .filter(|_| !document.component.whole)
        .and_then(|picture| about_decisive(picture));
    super::legend::legend_ui(
        ui,
        area.translate(vec2(0.0, 8.0)),
        state,
        &relations,
        about,
        requests,
    );
}

fn head_ui(ui: &mut Ui, document: &Document, requests: &mut Requests) {
    ui.horizontal(|ui| {
        group::scope_ui(ui, document, requests);
        let folded = document.current_picture().map_or(0, |picture| {
            let n = picture.argument.counterexample.violation.edges.len();
            n - picture.drawn.iter().filter(|edge| **edge < n).count()
        });
        let note = match document.component.whole {
            true => group::size(document),
            false if folded > 0 => format!("{} of evidence not shown (e)", counted(folded, "edge")),
            false => "an edge goes from its row to its column".to_owned(),
        };
        style::note(ui, note);
    });
    ui.add_space(4.0);
}

/// The edges of the anomaly that its graph shows. Returns their relations.
fn anomaly_ui(
    ui: &mut Ui,
    state: &State,
    document: &Document,
    requests: &mut Requests,
) -> BTreeSet<Relation> {
    let Some(picture) = document.current_picture() else {
        style::note(
            ui,
            super::awaited(document, "Select an anomaly to see who depends on whom."),
        );
        return BTreeSet::new();
    };
    let (diagram, history) = (
        &picture.sketch.diagram,
        &picture.argument.counterexample.history,
    );
    if diagram.arrows.is_empty() {
        style::note(ui, NO_EDGES);
    } else {
        let is_shown = |entry: &Entry| !state.hidden.contains(&entry.relation);
        let content = Content {
            table: &Table::of(diagram),
            name: &|t| printable(&history.transaction_name(t)),
            entry: &|place| Some(Entry::of(diagram, place)).filter(is_shown),
        };
        table_ui(ui, &content, |ui, scene, place, response| {
            scene_ui(ui, scene, place, response, (state, document), requests);
        });
    }
    diagram.relations().into_iter().collect()
}

/// The edges of all anomalies of the component. Returns their relations.
fn component_ui(
    ui: &mut Ui,
    (state, document): (&State, &Document),
    (history, group): (&History, &GroupGraph),
    requests: &mut Requests,
) -> BTreeSet<Relation> {
    if group.edges.is_empty() {
        style::note(ui, NO_EDGES);
    }
    let entry = |place: usize| {
        let (edge, _) = &group.edges[place];
        let (relation, label) = (edge.relation, edge.relation.code().to_owned());
        let entry = Entry {
            edge: place,
            relation,
            emphasis: Emphasis::Cycle,
            label,
            numbers: Vec::new(),
            operations: Vec::new(),
        };
        Some(entry).filter(|_| !state.hidden.contains(&relation))
    };
    let name = |t: TransactionId| printable(&history.transaction_name(t));
    let look = Look {
        palette: Palette::of(ui),
        lit: group::lit(document, group),
        pale: 0.5,
        ..Look::default()
    };
    let content = Content {
        table: &group.table,
        name: &name,
        entry: &entry,
    };
    table_ui(ui, &content, |ui, scene, place, response| {
        let target = paint_named(
            ui,
            &Drawn {
                scene,
                place,
                look: &look,
            },
            response,
        );
        let attention = target.and_then(attention);
        let text = match attention {
            Some(Attention::Edge(_)) => Some("Click to show an anomaly with this edge".to_owned()),
            Some(Attention::Transaction(t)) => Some(super::scene::about(history, document, t)),
            _ => None,
        };
        if let Some(text) = text {
            response.clone().on_hover_text_at_pointer(text);
        }
        let clicked = response.clicked().then_some(attention);
        let shift = ui.input(|input| input.modifiers.shift);
        let selected = match clicked.flatten() {
            Some(Attention::Transaction(t)) if shift => Some(t),
            _ => None,
        };
        group::forward(
            ui,
            document,
            group,
            Answer {
                hovered: attention,
                clicked,
                selected,
                ..Answer::default()
            },
            requests,
        );
    });
    group.relations.clone()
}

/// Draws what is visible of a table, below its heads and to their right: scrolling moves by whole cells.
fn table_ui(
    ui: &mut Ui,
    content: &Content<'_>,
    draw: impl FnOnce(&Ui, &Scene, DrawnAt, &Response),
) {
    let room = ui.available_size() - vec2(4.0, LEGEND);
    let measure = Measure::new(content, room);
    let size = measure.size();
    // Where all cells are visible and have their full size, they are drawn larger.
    let zoom = (room / size).min_elem().clamp(1.0, LARGEST);
    ScrollArea::both()
        .id_salt("matrix")
        .auto_shrink(false)
        .max_height(room.y)
        .show_viewport(ui, |ui, viewport| {
            ui.set_min_size(size);
            let area =
                Rect::from_min_size(ui.min_rect().min + viewport.min.to_vec2(), viewport.size());
            let fitting = measure.fitting(viewport.size());
            let range = |from: f32, cell: f32, fitting: usize| {
                let first = ((from / cell).ceil().max(0.0) as usize)
                    .min(measure.n - fitting.min(measure.n));
                // A part of the next one is visible, too.
                first..(first + fitting + 1).min(measure.n)
            };
            let visible = Visible {
                rows: range(viewport.top(), measure.cell.y, fitting.0),
                columns: range(viewport.left(), measure.cell.x, fitting.1),
            };
            let scene = matrix::scene(content, &measure, &visible);
            let response = ui.interact(
                area.intersect(ui.clip_rect()),
                ui.id().with("table"),
                Sense::click(),
            );
            response.widget_info(|| {
                WidgetInfo::labeled(WidgetType::Label, true, "Who depends on whom, as a table")
            });
            let free = ((viewport.size() - size * zoom) / 2.0).max(egui::Vec2::ZERO);
            let place = DrawnAt {
                origin: area.min + free,
                zoom,
                area: response.rect,
            };
            draw(ui, &scene, place, &response);
        });
}
