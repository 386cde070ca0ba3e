//! Sessions on a time axis: what is shown, zoom and position.

use super::scene::{anomaly, scene_ui};
use crate::app::command::{Command, Request, Requests};
use crate::app::state::{Document, State};
use crate::app::style;
use crate::app::vocabulary::Page;
use crate::checkers::ViolationId;
use crate::diagram::lanes::{Lanes, Shown, View};
use egui::{Response, Sense, Ui, WidgetInfo, WidgetType};

/// Zoom and position of the lanes.
#[derive(Clone, Debug, Default)]
pub struct LanesView {
    view: View,
    /// What it was fitted to: the anomaly, all lanes, true time.
    fitted: Option<(Option<ViolationId>, bool, bool)>,
}

impl LanesView {
    /// Shows the anomaly, or everything, in the next frame.
    pub fn fit(&mut self) {
        self.fitted = None;
    }

    /// Zooms around the centre.
    pub fn zoom_by(&mut self, factor: f32) {
        // The centre of a typical window is good enough for a key.
        zoom(&mut self.view, 300.0, factor);
    }
}

/// Draws the page.
pub fn lanes_ui(ui: &mut Ui, state: &State, document: &Document, kept: &mut LanesView, requests: &mut Requests) {
    let (Some(history), Some(timeline)) = (&document.history, &document.timeline) else {
        if !super::failed_ui(ui, document, Page::Lanes) {
            style::note(ui, "Finding out when every transaction ran…");
        }
        return;
    };
    ui.horizontal(|ui| {
        ui.add_space(10.0);
        for (all, name, hint) in [
            (false, "Its sessions", "Only the sessions of the anomaly"),
            (true, "All sessions", "Every session has a lane, those of the anomaly first"),
        ] {
            let button = egui::Button::selectable(state.all_lanes == all, name);
            if ui.add(button).on_hover_text(hint).clicked() {
                requests.push(Request::AllLanes(all));
            }
        }
        if timeline.clock.is_some() {
            let button = egui::Button::selectable(state.true_time, "True time");
            if ui.add(button).on_hover_text(super::tooltip(Command::SwitchTime)).clicked() {
                requests.push(Request::Run(Command::SwitchTime));
            }
        }
        style::short_note(ui, "Ctrl and the wheel zoom, dragging pans, a double click opens a transaction");
    });
    let area = ui.available_rect_before_wrap();
    let response = ui.allocate_rect(area, Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, "Sessions on a time axis"));
    let (true_time, all) = (state.true_time, state.all_lanes);
    let anomaly = anomaly(document, &state.hidden);
    let mut lanes = Lanes::new(Shown { history, timeline, true_time, all, anomaly }, area.size(), kept.view);
    if lanes.plot.width() < 10.0 || lanes.plot.height() < 1.0 {
        return;
    }
    let now = (document.current_picture().map(|picture| picture.argument.id), all, true_time);
    if kept.fitted.replace(now) != Some(now) {
        lanes.fit();
    }
    navigate(ui, &mut lanes, &response);
    lanes.keep_in_bounds();
    kept.view = lanes.view;
    let plot = lanes.plot.translate(area.min.to_vec2());
    scene_ui(ui, &lanes.scene(), (area.min, plot), &response, document, requests);
}

/// The wheel moves, with Ctrl it zooms around the pointer; dragging moves.
fn navigate(ui: &Ui, lanes: &mut Lanes<'_>, response: &Response) {
    let (plot, view) = (lanes.plot.translate(response.rect.min.to_vec2()), &mut lanes.view);
    let (factor, wheel, pointer, sideways) = ui.input(|input| {
        (input.zoom_delta(), input.smooth_scroll_delta(), input.pointer.hover_pos(), input.modifiers.shift)
    });
    let mut way = if response.dragged() { response.drag_delta() } else { egui::Vec2::ZERO };
    if response.hovered() && factor != 1.0 {
        zoom(view, pointer.map_or(plot.center().x, |at| at.x) - plot.left(), factor);
    } else if response.hovered() {
        way += if sideways && wheel.x == 0.0 { egui::vec2(wheel.y, 0.0) } else { wheel };
    }
    view.left -= f64::from(way.x) / view.zoom;
    view.top -= way.y;
}

/// Zooms so that what is at `x` stays there.
fn zoom(view: &mut View, x: f32, factor: f32) {
    let fixed = view.left + f64::from(x) / view.zoom.max(1e-12);
    view.zoom *= f64::from(factor);
    view.left = fixed - f64::from(x) / view.zoom.max(1e-12);
}
