//! The pane below the graph: the selected anomaly over time, and the versions of its key.

use super::lanes::sequence_ui;
use super::versions::{choose_ui, strip_ui};
use crate::app::command::{Command, Requests};
use crate::app::state::{Document, State};
use crate::app::style::{self, GAP};
use egui::{Align, Layout, Ui, vec2};

/// From this width on both parts are beside each other.
const WIDE: f32 = 900.0;
/// Share of the width for the time.
const SHARE: f32 = 0.58;
/// Readers named under a version.
const READERS: usize = 3;

/// Draws the pane.
pub fn details_ui(ui: &mut Ui, state: &State, document: &Document, requests: &mut Requests) {
    ui.take_available_height();
    ui.spacing_mut().item_spacing.y = 2.0;
    let Some(picture) = document.current_picture() else {
        style::note(ui, "The transactions of the selected anomaly over time, and the versions of its key.");
        return;
    };
    let keys = |ui: &mut Ui, requests: &mut Requests| {
        ui.horizontal(|ui| {
            if let Some(history) = &document.history {
                choose_ui(ui, history, document, false, requests);
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                super::small_button_ui(ui, Command::Details, "×", requests);
                super::small_button_ui(ui, Command::Locate, "In the history", requests);
            });
        });
        match document.key.as_ref().and_then(|view| view.chain.as_ref()) {
            Some(chain) => strip_ui(ui, (state, document), chain, READERS, requests),
            None if document.keys().is_empty() => drop(style::note(ui, "It is about no single key.")),
            None => drop(style::note(ui, "Looking for the versions…")),
        }
    };
    if ui.available_width() < WIDE {
        keys(ui, requests);
        sequence_ui(ui, (state, document), picture, 1.0, requests);
        return;
    }
    let (height, left) = (ui.available_height(), (ui.available_width() - GAP) * SHARE);
    ui.horizontal_top(|ui| {
        super::browser::column_ui(ui, left, height, |ui| sequence_ui(ui, (state, document), picture, 1.0, requests));
        let right = ui.available_width();
        ui.allocate_ui(vec2(right, height), |ui| ui.vertical(|ui| keys(ui, requests)));
    });
}
