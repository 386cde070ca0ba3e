//! How an argument comes about: its layers, which can be played one after another, and what the current one does.

use super::{on_click, on_command};
use crate::app::command::{Command, Request, Requests};
use crate::app::picture::Picture;
use crate::app::state::{Document, State};
use crate::app::style::{self, Palette};
use crate::app::vocabulary::Stage;
use crate::counterexample::Layer;
use egui::{Button, Checkbox, Frame, Margin, RichText, ScrollArea, Ui, WidgetInfo, WidgetType};

/// Height for the sentences of a layer; longer ones scroll, and shorter ones leave space, so that nothing moves.
const SENTENCES: f32 = 92.0;

/// Width of the strip besides the names of the layers, and about that of a letter and of the frame of a name.
const REST: f32 = 330.0;
const LETTER: f32 = 7.0;
const FRAME: f32 = 18.0;

/// Draws the strip above the graph, and under it what the current layer does.
pub(crate) fn layers_ui(
    ui: &mut Ui,
    state: &State,
    document: &Document,
    picture: &Picture,
    requests: &mut Requests,
) {
    let layers = &picture.argument.interpretation.layers;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(4.0, 3.0);
        ui.add_space(8.0);
        // A replay has its own.
        if document.argument.run.is_none() {
            super::small_button_ui(ui, Command::PreviousLayer, "←", requests);
            super::small_button_ui(ui, Command::NextLayer, "→", requests);
            super::play_button_ui(ui, document.argument.playing.is_some(), requests);
        }
        // All else has to stay in one line.
        let names = layers
            .iter()
            .map(|layer| LETTER * layer.kind.word().len() as f32 + FRAME);
        if ui.max_rect().width() >= REST + names.sum::<f32>() {
            style::note(ui, "show:");
        }
        for (place, layer) in layers.iter().enumerate() {
            let chosen = document.argument.stage == Stage::Layer(place);
            let response = ui.add(
                Button::selectable(chosen, layer.kind.word())
                    .small()
                    .frame_when_inactive(true),
            );
            let name = format!("Layer {}", layer.kind.word());
            response.widget_info(|| {
                WidgetInfo::selected(WidgetType::SelectableLabel, true, chosen, name.as_str())
            });
            if response.on_hover_text(layer.kind.meaning()).clicked() {
                requests.push(Request::ShowLayer((!chosen).then_some(place)));
            }
        }
        ui.separator();
        let mut shown = state.alternatives;
        let alternatives = ui.add(Checkbox::new(&mut shown, "Other orders"));
        alternatives.widget_info(|| {
            let name = Command::Alternatives.row().name;
            WidgetInfo::selected(WidgetType::Checkbox, true, state.alternatives, name)
        });
        on_command(alternatives, Command::Alternatives, requests);
        let replay = ui.add(
            Button::selectable(document.argument.run.is_some(), "Replay")
                .small()
                .frame_when_inactive(true),
        );
        on_command(replay, Command::Replay, requests);
        if let Some(text) = super::cases::drawn_case(picture) {
            style::note(ui, text);
        }
    });
    if let Stage::Layer(place) = document.argument.stage
        && let Some(layer) = layers.get(place)
    {
        layer_ui(ui, place, layers.len(), layer, requests);
    }
    ui.add_space(2.0);
}

/// What a layer does and shows.
fn layer_ui(ui: &mut Ui, place: usize, n: usize, layer: &Layer, requests: &mut Requests) {
    let palette = Palette::of(ui);
    let frame = Frame::new()
        .fill(palette.raised)
        .inner_margin(Margin::symmetric(10, 5))
        .corner_radius(6.0);
    let frame = frame.outer_margin(Margin::symmetric(8, 2));
    frame.show(ui, |ui| {
        ui.horizontal_top(|ui| {
            let title = format!("{}/{n} {}", place + 1, layer.kind.word());
            style::bold_line(ui, &title, style::BODY, palette.accent);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::TOP), |ui| {
                let whole = ui
                    .small_button("Whole argument")
                    .on_hover_text("Leave the layers (Esc)");
                on_click(&whole, Request::ShowLayer(None), requests);
                ui.with_layout(egui::Layout::top_down(egui::Align::LEFT), |ui| {
                    let area = ScrollArea::vertical()
                        .id_salt(("layer", place))
                        .max_height(SENTENCES);
                    area.min_scrolled_height(SENTENCES)
                        .auto_shrink(false)
                        .show(ui, |ui| {
                            ui.add(
                                egui::Label::new(
                                    RichText::new(layer.kind.meaning()).color(palette.weak),
                                )
                                .wrap(),
                            );
                            ui.add(
                                egui::Label::new(
                                    RichText::new(&*layer.caption).color(palette.text),
                                )
                                .wrap(),
                            );
                        });
                });
            });
        });
    });
}
