//! Messages that stay visible until they are dismissed.

use super::on_click;
use crate::app::command::{Request, Requests};
use crate::app::state::{Banner, Page, State, Tone};
use crate::app::style::{self, Palette};
use egui::{CornerRadius, Frame, Margin, RichText, Stroke, Ui, WidgetInfo, WidgetType};

/// Maximum height that they take, in points.
const HEIGHT: f32 = 150.0;
/// Their width, in a window that has the room.
const WIDTH: f32 = 620.0;

/// Draws the messages over the lower right of the window, so that nothing moves: one below the other, newest first.
pub(crate) fn banners_ui(ui: &mut Ui, state: &State, requests: &mut Requests) {
    if state.banners.iter().all(|banner| is_on_page(state, banner)) {
        return;
    }
    let palette = Palette::of(ui);
    let corner = egui::vec2(-14.0, -36.0);
    let area =
        egui::Area::new(egui::Id::new("messages")).anchor(egui::Align2::RIGHT_BOTTOM, corner);
    area.order(egui::Order::Foreground).show(ui.ctx(), |ui| {
        ui.set_width(WIDTH.min(ui.ctx().content_rect().width() - 40.0));
        let frame = Frame::new()
            .fill(palette.panel)
            .corner_radius(CornerRadius::same(6));
        frame.shadow(ui.visuals().popup_shadow).show(ui, |ui| {
            egui::ScrollArea::vertical()
                .max_height(HEIGHT)
                .show(ui, |ui| all_ui(ui, state, requests));
        });
    });
}

/// Whether the page shows this message itself: why the file could not be read.
fn is_on_page(state: &State, banner: &Banner) -> bool {
    let why = state
        .document
        .as_ref()
        .filter(|_| state.page != Page::Health)
        .and_then(|d| d.unreadable.as_ref());
    why.is_some_and(|why| why.text == banner.text)
}

fn all_ui(ui: &mut Ui, state: &State, requests: &mut Requests) {
    let palette = Palette::of(ui);
    for (place, banner) in state
        .banners
        .iter()
        .enumerate()
        .filter(|(_, banner)| !is_on_page(state, banner))
        .rev()
    {
        let (word, colour) = match banner.tone {
            Tone::Done => ("Done", palette.good),
            Tone::Note => ("Note", palette.accent),
            Tone::Problem => ("Problem", palette.bad),
        };
        let frame = Frame::new()
            .fill(palette.tint(colour))
            .stroke(Stroke::new(1.0, colour))
            .corner_radius(CornerRadius::same(6))
            .inner_margin(Margin::symmetric(12, 7));
        frame.show(ui, |ui| {
            ui.horizontal(|ui| {
                style::bold_line(ui, word, style::BODY, colour);
                let room = (ui.available_width() - 220.0).max(80.0);
                ui.scope(|ui| {
                    ui.set_max_width(room);
                    let label = ui.add(
                        egui::Label::new(RichText::new(&banner.text).color(palette.strong))
                            .wrap()
                            .selectable(true),
                    );
                    label
                        .widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &banner.text));
                });
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    on_click(
                        &ui.small_button("Dismiss"),
                        Request::Dismiss(place),
                        requests,
                    );
                    if let Some(folder) = banner.folder() {
                        let request = Request::ShowFolder(folder);
                        on_click(&ui.small_button("Show folder"), request, requests);
                    }
                    // What is on the clipboard stays there.
                    let has_copy = banner.tone != Tone::Done || banner.folder().is_some();
                    if has_copy
                        && ui
                            .small_button("Copy")
                            .on_hover_text("Put this message on the clipboard")
                            .clicked()
                    {
                        requests.push(Request::Copy(banner.text.clone()));
                    }
                });
            });
        });
    }
}
