//! The tour's card, with a frame around what it is about: it never blocks, and Enter goes on.

use super::on_click;
use crate::app::command::{Request, Requests};
use crate::app::style::{self, Palette};
use crate::app::tour::{STOPS, TourTarget};
use egui::containers::panel::PanelState;
use egui::{
    Align2, Area, Button, Context, CornerRadius, Frame, Id, Key, Layout, Margin, Modifiers, Order,
    Rect, Stroke, StrokeKind, Ui, vec2,
};

fn after(at: usize) -> Request {
    Request::Tour(Some(at + 1).filter(|next| *next < STOPS.len()))
}

/// Takes the keys that go on and back, before the page has a use of its own for them.
pub(crate) fn poll_keys(ctx: &Context, at: usize, requests: &mut Requests) {
    let pressed = |key| ctx.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    if pressed(Key::Enter) || pressed(Key::ArrowRight) {
        requests.push(after(at));
    } else if pressed(Key::ArrowLeft) && at > 0 {
        requests.push(Request::Tour(Some(at - 1)));
    }
}

/// Draws the card.
pub(crate) fn tour_ui(ui: &Ui, at: usize, requests: &mut Requests) {
    let Some(stop) = STOPS.get(at) else { return };
    let palette = Palette::of(ui);
    if let Some(around) = rect_of(ui.ctx(), stop.part) {
        let painter = ui
            .ctx()
            .layer_painter(egui::LayerId::new(Order::Foreground, Id::new("tour frame")));
        let stroke = Stroke::new(3.0, palette.accent);
        painter.rect_stroke(
            around.shrink(2.0),
            CornerRadius::same(8),
            stroke,
            StrokeKind::Inside,
        );
    }
    let last = at + 1 == STOPS.len();
    let frame = Frame::new()
        .fill(palette.raised)
        .stroke(Stroke::new(1.5, palette.accent))
        .corner_radius(10)
        .inner_margin(Margin::same(16));
    Area::new(Id::new("tour"))
        .anchor(Align2::CENTER_BOTTOM, vec2(-20.0, -80.0))
        .show(ui.ctx(), |ui| {
            frame.show(ui, |ui| {
                ui.set_width(430.0_f32.min(ui.ctx().content_rect().width() - 60.0));
                let title = format!("{} of {}: {}", at + 1, STOPS.len(), stop.title);
                style::bold(ui, &title, style::HEADING, palette.strong);
                ui.label(egui::RichText::new(stop.text).color(palette.text));
                ui.add_space(6.0);
                // Each button keeps its place, so that one can click on through all steps.
                ui.horizontal(|ui| {
                    if ui.add_enabled(at > 0, Button::new("Previous")).clicked() {
                        requests.push(Request::Tour(Some(at - 1)));
                    }
                    let name = if last { "Finish" } else { "Next" };
                    if ui
                        .add(Button::new(name).min_size(vec2(76.0, 0.0)))
                        .on_hover_text("Enter")
                        .clicked()
                    {
                        requests.push(after(at));
                    }
                    style::note(ui, "or press Enter or →");
                    ui.with_layout(Layout::right_to_left(egui::Align::Center), |ui| {
                        on_click(&ui.button("End the tour"), Request::Tour(None), requests);
                    });
                });
            });
        });
}

/// Where a part of the window is.
fn rect_of(ctx: &Context, part: TourTarget) -> Option<Rect> {
    let panel = |name: &str| PanelState::load(ctx, Id::new(name)).map(|state| state.outer_rect);
    let side = |name: &str| {
        let id = crate::app::side_panel(ctx, name);
        PanelState::load(ctx, id).map(|state| state.outer_rect)
    };
    match part {
        TourTarget::Levels => panel("top bar"),
        TourTarget::Argument => side("argument"),
        TourTarget::Middle => {
            let (top, left) = (panel("top bar")?.bottom(), side("anomalies")?.right());
            let (bottom, right) = (
                ctx.content_rect().bottom(),
                side("argument").map_or(ctx.content_rect().right(), |r| r.left()),
            );
            Some(Rect::from_min_max(
                egui::pos2(left, top),
                egui::pos2(right, bottom),
            ))
        }
    }
}
