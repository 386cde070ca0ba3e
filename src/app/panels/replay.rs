//! How the anomaly comes about, below the graph: a caption for each scene, and the way to the next.

use super::{on_click, play_button_ui, small_button_ui};
use crate::app::command::{Command, Request, Requests};
use crate::app::replaying::RunView;
use crate::app::state::Document;
use crate::app::style::{self, Palette};
use egui::{Align, Label, Layout, RichText, Sense, Ui, WidgetInfo, WidgetType, vec2};

/// Height of a caption: three lines, so that nothing moves.
const CAPTION: f32 = 64.0;

/// Most dots.
const DOTS: usize = 14;

/// Draws the panel.
pub(crate) fn replay_ui(ui: &mut Ui, document: &Document, view: &RunView, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let Some((story, scene)) = view.shown() else {
        style::note(ui, "Looking for an order of the operations…");
        return;
    };
    ui.horizontal(|ui| {
        small_button_ui(ui, Command::PreviousStep, "◀", requests);
        play_button_ui(ui, document.argument.playing.is_some(), requests);
        small_button_ui(ui, Command::NextStep, "▶", requests);
        ui.add_space(6.0);
        for place in 0..story.scenes.len().min(DOTS) {
            dot_ui(ui, place, view.scene, requests);
        }
        let text = format!("{} of {}", view.scene + 1, story.scenes.len());
        style::note(ui, text);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let end = ui.small_button("×").on_hover_text("End this (Esc)");
            end.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, "End this"));
            on_click(&end, Request::Run(Command::Replay), requests);
        });
    });
    let colour = match scene.wrong.is_some() || scene.is_last {
        true => palette.bad,
        false => palette.strong,
    };
    let size = vec2(ui.available_width(), CAPTION);
    ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| {
        ui.set_min_height(CAPTION);
        let text = RichText::new(&scene.caption).size(style::HEADING + 1.0);
        ui.add(Label::new(text.color(colour)).wrap());
    });
}

/// A dot for a scene: filled up to the one that is shown.
fn dot_ui(ui: &mut Ui, place: usize, shown: usize, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let (area, response) = ui.allocate_exact_size(vec2(12.0, 14.0), Sense::click());
    let colour = match place <= shown {
        true => palette.accent,
        false => palette.line,
    };
    ui.painter().circle_filled(area.center(), 4.0, colour);
    let name = format!("Scene {}", place + 1);
    response.widget_info(|| {
        WidgetInfo::selected(WidgetType::SelectableLabel, true, place == shown, &name)
    });
    on_click(&response, Request::ReplayStep(place), requests);
}
