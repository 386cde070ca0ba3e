//! The tour's card in the lower corner: it covers nothing that it mentions and never blocks.

use crate::app::command::{Request, Requests};
use crate::app::style::{self, Palette};
use crate::app::tour::STOPS;
use egui::{Align2, Area, Frame, Id, Margin, Stroke, Ui, vec2};

/// Draws the card.
pub fn tour_ui(ui: &Ui, at: usize, requests: &mut Requests) {
    let Some(stop) = STOPS.get(at) else { return };
    let palette = Palette::of(ui);
    let frame = Frame::new()
        .fill(palette.raised)
        .stroke(Stroke::new(1.5, palette.accent))
        .corner_radius(10)
        .inner_margin(Margin::same(16));
    Area::new(Id::new("tour")).anchor(Align2::CENTER_BOTTOM, vec2(-20.0, -80.0)).show(ui.ctx(), |ui| {
        frame.show(ui, |ui| {
            ui.set_width(430.0_f32.min(ui.ctx().content_rect().width() - 60.0));
            let title = format!("{} of {}: {}", at + 1, STOPS.len(), stop.title);
            style::bold(ui, &title, style::HEADING, palette.strong);
            ui.label(egui::RichText::new(stop.text).color(palette.text));
            ui.add_space(6.0);
            ui.horizontal(|ui| {
                if at > 0 && ui.button("Back on the tour").clicked() {
                    requests.push(Request::Tour(Some(at - 1)));
                }
                let last = at + 1 == STOPS.len();
                let next = if last { "Finish the tour" } else { "Go on" };
                if ui.button(next).clicked() {
                    requests.push(Request::Tour((!last).then_some(at + 1)));
                }
                if !last && ui.button("End the tour").clicked() {
                    requests.push(Request::Tour(None));
                }
            });
        });
    });
}
