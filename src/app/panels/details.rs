//! The pane below the graph: the selected anomaly over time, and the versions of its key.

use super::browser::column_ui;
use super::lanes::{DENSE, LanesView, READABLE, above_all_ui, all_ui, need, sequence_ui};
use super::versions::{BELOW, are_few, choose_ui, key_ui, versions_ui};
use crate::app::command::{Command, Requests};
use crate::app::picture::Picture;
use crate::app::state::{Document, State};
use crate::app::style::{self, GAP};
use egui::{Align, Layout, Ui, vec2};

/// From this width on both parts are side by side, and from this height below each other.
const BOTH: egui::Vec2 = vec2(900.0, 330.0);
/// Share of the width for the time.
const SHARE: f32 = 0.58;
/// Least height of the time below few versions.
const BELOW_FEW: f32 = 160.0;

/// Above it, the graph needs room for its tools, legend and margins.
const AROUND_GRAPH: f32 = 131.0;
/// The pane's own margins and buttons.
const AROUND: f32 = 58.0;
/// The graph is shrunk as far as this for the pane to show all rows.
const SMALLEST_GRAPH: f32 = 0.77;

/// Height of the pane next to a graph of this picture in `room`: what its rows need, as far as the graph leaves it.
pub(crate) fn height(room: egui::Vec2, picture: &Picture) -> f32 {
    let usual = (room.y * 0.36).clamp(170.0, 520.0);
    let graph = picture.sketch.layout.bounds.size();
    let is_wide = room.x >= BOTH.x;
    let width = room.x * if is_wide { SHARE } else { 1.0 };
    let need = |zoom: f32| AROUND + need(&picture.lanes, width, zoom);
    let spare = |zoom: f32| room.y - AROUND_GRAPH - graph.y * (room.x / graph.x.max(1.0)).min(zoom);
    // A smaller graph is only worth it for all rows.
    let all = [(READABLE, 1.0), (DENSE, SMALLEST_GRAPH)]
        .into_iter()
        .find(|(rows, graph)| need(*rows) <= spare(*graph));
    let most = room.y * 0.6;
    let height = all.map_or_else(
        || usual.max(spare(1.0).min(most)),
        |(rows, _)| need(rows).min(most),
    );
    height.max(if is_wide { usual } else { 170.0 }).round()
}

/// Draws the page of a key: its versions, and if they are few the anomaly over time and all sessions below them.
pub(crate) fn key_page_ui(
    ui: &mut Ui,
    state: &State,
    document: &Document,
    lanes: &mut LanesView,
    requests: &mut Requests,
) {
    versions_ui(ui, state, document, requests);
    if !are_few(ui, document) || ui.available_height() <= BELOW_FEW {
        return;
    }
    ui.separator();
    match document.current_picture() {
        Some(picture) => above_all_ui(ui, (state, document), picture, lanes, requests),
        None => all_ui(ui, state, document, lanes, requests),
    }
}

/// Draws the pane.
pub(crate) fn details_ui(ui: &mut Ui, state: &State, document: &Document, requests: &mut Requests) {
    ui.take_available_height();
    ui.spacing_mut().item_spacing.y = 2.0;
    let Some(picture) = document.current_picture() else {
        style::note(
            ui,
            "The transactions of the selected anomaly over time, and the versions of its key.",
        );
        return;
    };
    let (id, size) = (ui.id().with("shows versions"), ui.available_size());
    let is_one = size.x < BOTH.x && size.y < BOTH.y;
    let mut versions = ui
        .data(|data| data.get_temp::<bool>(id))
        .unwrap_or_default();
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing = vec2(5.0, 5.0);
        for (of, name) in [(false, "By session"), (true, "Versions")]
            .into_iter()
            .filter(|_| is_one)
        {
            if ui
                .add(egui::Button::selectable(versions == of, name))
                .clicked()
            {
                versions = of;
            }
        }
        if let Some(history) = document.history.as_ref().filter(|_| versions || !is_one) {
            choose_ui(ui, history, document, false, requests);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            super::small_button_ui(ui, Command::Details, "×", requests);
            super::small_button_ui(ui, Command::Locate, "In the history", requests);
        });
    });
    ui.data_mut(|data| data.insert_temp(id, versions));
    let shown = (state, document);
    if size.x >= BOTH.x {
        let (height, left) = (ui.available_height(), (size.x - GAP) * SHARE);
        ui.horizontal_top(|ui| {
            column_ui(ui, left, height, |ui| {
                sequence_ui(ui, shown, picture, 1.0, requests)
            });
            column_ui(ui, ui.available_width(), height, |ui| {
                key_ui(ui, shown, BELOW, requests)
            });
        });
    } else if is_one && versions {
        key_ui(ui, shown, BELOW, requests);
    } else {
        if !is_one {
            key_ui(ui, shown, BELOW, requests);
        }
        sequence_ui(ui, shown, picture, 1.0, requests);
    }
}
