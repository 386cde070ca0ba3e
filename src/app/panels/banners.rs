//! Messages that stay visible until they are dismissed.

use crate::app::command::{Request, Requests};
use crate::app::state::State;
use crate::app::style::{self, Palette};
use egui::{CornerRadius, Frame, Margin, RichText, Stroke, Ui, WidgetInfo, WidgetType};

/// Maximum height that they take, in points.
const HEIGHT: f32 = 150.0;

/// Draws the messages one below the other, newest first.
pub fn banners_ui(ui: &mut Ui, state: &State, requests: &mut Requests) {
    egui::ScrollArea::vertical().max_height(HEIGHT).show(ui, |ui| all_ui(ui, state, requests));
}

fn all_ui(ui: &mut Ui, state: &State, requests: &mut Requests) {
    let palette = Palette::of(ui);
    for (place, banner) in state.banners.iter().enumerate().rev() {
        let colour = if banner.bad { palette.bad } else { palette.good };
        let frame = Frame::new()
            .fill(palette.tint(colour))
            .stroke(Stroke::new(1.0, colour))
            .corner_radius(CornerRadius::same(6))
            .inner_margin(Margin::symmetric(12, 7));
        frame.show(ui, |ui| {
            ui.horizontal(|ui| {
                let word = if banner.bad { "Problem" } else { "Done" };
                style::bold_line(ui, word, style::BODY, colour);
                let room = (ui.available_width() - 130.0).max(80.0);
                ui.scope(|ui| {
                    ui.set_max_width(room);
                    let label = ui.add(
                        egui::Label::new(RichText::new(&banner.text).color(palette.strong)).wrap().selectable(true),
                    );
                    label.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &banner.text));
                });
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    if ui.small_button("Dismiss").clicked() {
                        requests.push(Request::Dismiss(place));
                    }
                    if ui.small_button("Copy").on_hover_text("Put this message on the clipboard").clicked() {
                        requests.push(Request::Copy(banner.text.clone()));
                    }
                });
            });
        });
    }
}
