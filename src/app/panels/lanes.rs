//! Sessions over time: the transactions of the anomaly, or all of the history with its zoom and position.

use super::graph::about_decisive;
use super::on_command;
use super::scene::{anomaly, scene_ui};
use super::versions::{BELOW, chosen_key_ui, key_height};
use crate::app::axis::LanesAxis;
use crate::app::canvas::scene::DrawnAt;
use crate::app::command::{Command, Request, Requests};
use crate::app::marks::Ask;
use crate::app::page::Page;
use crate::app::picture::Picture;
use crate::app::state::{Document, State};
use crate::app::style::{self, GAP, Palette};
use crate::checkers::ViolationId;
use crate::diagram::lanes::{LaneContent, Lanes, View};
use crate::diagram::scene::Scene;
use crate::history::{self, Named, TransactionId};
use egui::{Align2, Response, ScrollArea, Sense, Ui, WidgetInfo, WidgetType, vec2};

/// The anomaly over time is drawn between these times as large as in an export.
const LEGIBLE: f32 = 0.66;
/// Of this size all operations can be read in full.
pub(super) const READABLE: f32 = 0.79;
/// It is this small rather than that a row of few is out of view.
pub(super) const DENSE: f32 = 0.68;
const LARGE: f32 = 1.35;
/// Below the anomaly, all sessions need at least this height.
const ROOM_FOR_ALL: f32 = 280.0;

/// Zoom and position of the lanes.
#[derive(Clone, Debug)]
pub(crate) struct LanesView {
    view: View,
    /// What it was fitted to: the anomaly and the axis.
    fitted: Option<(Option<ViolationId>, LanesAxis)>,
    /// The stretch in view in the last frame.
    visible: Option<(f64, f64)>,
    /// The place to be shown in the next frame.
    wanted: Option<history::MarkPlace>,
    /// Where the pointer was pressed to mark a stretch, on the axis.
    pressed: Option<f64>,
    /// How much larger than it fits the anomaly is drawn.
    scale: f32,
}

impl Default for LanesView {
    fn default() -> LanesView {
        LanesView {
            view: View::default(),
            fitted: None,
            visible: None,
            wanted: None,
            pressed: None,
            scale: 1.0,
        }
    }
}

impl LanesView {
    /// Shows the anomaly, or everything, in the next frame.
    pub(crate) fn fit(&mut self) {
        *self = LanesView::default();
    }

    /// Shows a place of the history among all sessions in the next frame.
    pub(crate) fn go_to(&mut self, place: history::MarkPlace) {
        self.wanted = Some(place);
    }

    /// The stretch in view, as a place of the history.
    pub(crate) fn stretch(
        &self,
        document: &Document,
        true_time: bool,
    ) -> Option<history::MarkPlace> {
        place_between(document, true_time, self.visible?)
    }

    /// Zooms around the centre.
    pub(crate) fn zoom_by(&mut self, factor: f32) {
        self.scale = (self.scale * factor).clamp(0.3, 5.0);
        // The centre of a typical window is good enough for a key.
        zoom(&mut self.view, 300.0, factor);
    }
}

pub(crate) fn lanes_ui(
    ui: &mut Ui,
    state: &State,
    document: &Document,
    kept: &mut LanesView,
    requests: &mut Requests,
) {
    let all = state.preferences.all_lanes || document.current_picture().is_none();
    ui.horizontal(|ui| {
        ui.add_space(10.0);
        for (is_all, name, hint) in [
            (false, "Its sessions", "The transactions of the anomaly with their operations"),
            (true, "All sessions", "Every transaction of the history; the sessions of the anomaly come first"),
        ] {
            if ui.add(egui::Button::selectable(all == is_all, name)).on_hover_text(hint).clicked() {
                requests.push(Request::AllLanes(is_all));
            }
        }
        if all {
            axis_ui(ui, state, document, requests);
        }
        let hint = if all { "Ctrl+wheel zooms, dragging pans, Shift+drag marks a span, a double-click opens a transaction" } else { "Ctrl+wheel zooms, a double-click opens a transaction in the history" };
        let about = document.current_picture().filter(|_| !all).and_then(|picture| about_decisive(picture));
        about.map(|about| style::note(ui, about));
        style::short_note(ui, hint);
    });
    match document.current_picture().filter(|_| !all) {
        Some(picture) => {
            let factor = if ui.ui_contains_pointer() {
                ui.input(|input| input.zoom_delta())
            } else {
                1.0
            };
            kept.scale = (kept.scale * factor).clamp(0.3, 5.0);
            own_ui(ui, (state, document), picture, kept, requests);
        }
        None => all_ui(ui, state, document, kept, requests),
    }
}

/// Which axis: a switch where there are two, a menu where the log has numbers of its own.
fn axis_ui(ui: &mut Ui, state: &State, document: &Document, requests: &mut Requests) {
    let axes = document.axes();
    if axes.len() < 2 {
        return;
    }
    let now = document.axis(state.preferences.true_time);
    if axes.len() == 2
        && document
            .numbers
            .as_ref()
            .is_none_or(|numbers| numbers.is_empty())
    {
        let button = egui::Button::selectable(now == LanesAxis::Time, "True time");
        on_command(ui.add(button), Command::SwitchTime, requests);
        return;
    }
    let name = |axis| document.axis_name(axis);
    let menu = egui::ComboBox::from_id_salt("axis").selected_text(format!("By {}", name(now)));
    let menu = menu.show_ui(ui, |ui| {
        for axis in axes {
            if ui.selectable_label(axis == now, name(axis)).clicked() {
                requests.push(Request::Axis(axis));
            }
        }
    });
    menu.response
        .on_hover_text("What left and right mean: T goes to the next");
}

/// The anomaly over time, below it the versions of its key, and below these all sessions, as far as there is room.
fn own_ui(
    ui: &mut Ui,
    shown: (&State, &Document),
    picture: &Picture,
    kept: &mut LanesView,
    requests: &mut Requests,
) {
    let room = ui.available_size();
    let need = picture.lanes.bounds.height() * zoom_of(&picture.lanes, room) * kept.scale;
    // With fewer readers where there is little room.
    let readers = if room.y - need < key_height(BELOW) {
        1
    } else {
        BELOW
    };
    let (versions, all) = (
        key_height(readers),
        room.y - need > ROOM_FOR_ALL + key_height(BELOW),
    );
    if room.y - need < versions {
        return sequence_ui(ui, shown, picture, kept.scale, requests);
    }
    ui.allocate_ui(vec2(room.x, need + GAP), |ui| {
        sequence_ui(ui, shown, picture, kept.scale, requests)
    });
    let inner = egui::Frame::new().inner_margin(egui::Margin {
        left: 10,
        right: 10,
        ..Default::default()
    });
    ui.separator();
    let height = if all { versions } else { ui.available_height() };
    ui.allocate_ui(vec2(room.x, height), |ui| {
        ui.set_min_height(versions);
        inner.show(ui, |ui| chosen_key_ui(ui, shown, readers, requests));
    });
    if all {
        ui.separator();
        all_ui(ui, shown.0, shown.1, kept, requests);
    }
}

/// The anomaly over time, and below it all sessions if there is room.
pub(super) fn above_all_ui(
    ui: &mut Ui,
    shown: (&State, &Document),
    picture: &Picture,
    kept: &mut LanesView,
    requests: &mut Requests,
) {
    let room = ui.available_size();
    let need = picture.lanes.bounds.height() * zoom_of(&picture.lanes, room);
    if room.y - need < ROOM_FOR_ALL {
        return sequence_ui(ui, shown, picture, 1.0, requests);
    }
    ui.allocate_ui(vec2(room.x, need + GAP), |ui| {
        sequence_ui(ui, shown, picture, 1.0, requests)
    });
    ui.separator();
    all_ui(ui, shown.0, shown.1, kept, requests);
}

/// How many times as large as in an export the anomaly is drawn in this room.
fn zoom_of(scene: &Scene, room: egui::Vec2) -> f32 {
    let (wide, high) = (
        room.x / scene.bounds.width().max(1.0),
        room.y / scene.bounds.height().max(1.0),
    );
    // Rows can be scrolled to; all columns must be in view.
    wide.min(if high >= DENSE { high } else { READABLE })
        .clamp(LEGIBLE, LARGE)
}

/// The height that shows all rows of the anomaly in this width at this zoom.
pub(super) fn need(scene: &Scene, width: f32, zoom: f32) -> f32 {
    scene.bounds.height()
        * (width / scene.bounds.width().max(1.0))
            .min(zoom)
            .clamp(LEGIBLE, LARGE)
}

/// The anomaly as boxes over time, as large as fits and is legible, `scale` times.
pub(super) fn sequence_ui(
    ui: &mut Ui,
    shown: (&State, &Document),
    picture: &Picture,
    scale: f32,
    requests: &mut Requests,
) {
    let id = ("sequence", picture.argument.id);
    whole_ui(
        ui,
        shown,
        (&picture.lanes, "The anomaly over time"),
        (id, scale),
        requests,
    );
}

/// A scene as large as there is room for, in the middle.
pub(super) fn whole_ui(
    ui: &mut Ui,
    shown: (&State, &Document),
    (scene, name): (&Scene, &str),
    (id, scale): (impl std::hash::Hash + std::fmt::Debug, f32),
    requests: &mut Requests,
) {
    let zoom = zoom_of(scene, ui.available_size()) * scale;
    ScrollArea::both()
        .id_salt(id)
        .auto_shrink(false)
        .show(ui, |ui| {
            let size = scene.bounds.size() * zoom;
            let (area, response) =
                ui.allocate_exact_size(size.max(ui.available_size()), Sense::click());
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, name));
            let corner = scene.bounds.min.to_vec2() * zoom;
            let origin = area.min + vec2(((area.width() - size.x) / 2.0).max(0.0), 0.0) - corner;
            scene_ui(
                ui,
                scene,
                DrawnAt {
                    origin,
                    zoom,
                    area: ui.clip_rect(),
                },
                &response,
                shown,
                requests,
            );
        });
}

/// All sessions of the history, below its map.
pub(super) fn all_ui(
    ui: &mut Ui,
    state: &State,
    document: &Document,
    kept: &mut LanesView,
    requests: &mut Requests,
) {
    let (Some(history), Some(timeline)) = (&document.history, &document.timeline) else {
        if !super::failed_ui(ui, document, Page::Lanes) {
            style::note(ui, "Finding out when every transaction ran…");
        }
        return;
    };
    let axis = document.axis(state.preferences.true_time);
    let by_number = document.number_axis();
    let timeline = by_number.unwrap_or(timeline);
    // The map and marks are places in time.
    let map = match by_number {
        Some(_) => None,
        None => {
            let map = super::minimap::minimap_ui(ui, document, kept.visible, requests);
            super::marks::marks_ui(ui, document, requests);
            map
        }
    };
    let area = ui.available_rect_before_wrap();
    let response = ui.allocate_rect(area, Sense::click_and_drag());
    response
        .widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, "Sessions on a time axis"));
    let true_time = state.preferences.true_time;
    let marks = &document.marks.all[..];
    let (anomaly, annotations) = (
        anomaly(document, &state.hidden),
        if by_number.is_some() { &[] } else { marks },
    );
    let mut lanes = Lanes::new(
        LaneContent {
            history,
            timeline,
            true_time,
            anomaly,
            annotations,
        },
        area.size(),
        kept.view,
    );
    if lanes.plot.width() < 10.0 || lanes.plot.height() < 1.0 {
        return;
    }
    let now = (
        document
            .current_picture()
            .map(|picture| picture.argument.id),
        axis,
    );
    if kept.fitted.replace(now) != Some(now) {
        lanes.fit();
    }
    if let Some((from, to)) = map {
        lanes.reveal((from, to), None);
    }
    if let Some(place) = kept.wanted.take()
        && let Some(span) = timeline.extent(&place, history, true_time)
    {
        let session = place.transaction(history).map(|t| history.session_of(t));
        // A transaction keeps the zoom, unless it is too small to be seen.
        let least = if session.is_some() {
            (span.to - span.from) * 8.0
        } else {
            (span.to - span.from) * 1.3
        };
        let visible = kept
            .visible
            .filter(|_| session.is_some())
            .map_or(least, |(a, b)| (b - a).min(least * 8.0).max(least));
        let middle = (span.from + span.to) / 2.0;
        lanes.reveal((middle - visible / 2.0, middle + visible / 2.0), session);
    }
    let pressed = kept.pressed.is_some() || ui.input(|input| input.modifiers.shift);
    if pressed && by_number.is_none() {
        mark_stretch(
            ui,
            &lanes,
            &response,
            (document, true_time),
            &mut kept.pressed,
            requests,
        )
    } else {
        navigate(ui, &mut lanes, &response)
    }
    lanes.keep_in_bounds();
    kept.view = lanes.view;
    kept.visible = Some((lanes.view.left, lanes.end())).filter(|_| by_number.is_none());
    let plot = lanes.plot.translate(area.min.to_vec2());
    let place = DrawnAt {
        origin: area.min,
        zoom: 1.0,
        area: plot,
    };
    scene_ui(
        ui,
        &lanes.scene(),
        place,
        &response,
        (state, document),
        requests,
    );
    out_of_view_ui(ui, &lanes, plot);
}

/// Says how many sessions are above and below those in view.
fn out_of_view_ui(ui: &Ui, lanes: &Lanes<'_>, plot: egui::Rect) {
    let (palette, painter) = (Palette::of(ui), ui.painter().with_clip_rect(plot));
    let [above, below] = lanes.out_of_view();
    let corners = [
        (above, "above", Align2::RIGHT_TOP, plot.right_top()),
        (below, "below", Align2::RIGHT_BOTTOM, plot.right_bottom()),
    ];
    for (n, side, align, corner) in corners.into_iter().filter(|(n, ..)| *n > 0) {
        let text = format!("{} {side}: scroll", history::counted(n, "session"));
        let galley = painter.layout_no_wrap(
            text,
            egui::TextStyle::Small.resolve(ui.style()),
            palette.text,
        );
        let area = align.anchor_size(corner, galley.size() + vec2(16.0, 8.0));
        painter.rect_filled(area, 4.0, palette.panel);
        painter.galley(area.min + vec2(8.0, 4.0), galley, palette.text);
    }
}

/// The wheel moves, with Ctrl it zooms around the pointer; dragging moves.
fn navigate(ui: &Ui, lanes: &mut Lanes<'_>, response: &Response) {
    let (plot, view) = (
        lanes.plot.translate(response.rect.min.to_vec2()),
        &mut lanes.view,
    );
    let (factor, wheel, pointer, sideways) = ui.input(|input| {
        (
            input.zoom_delta(),
            input.smooth_scroll_delta(),
            input.pointer.hover_pos(),
            input.modifiers.shift,
        )
    });
    let mut way = if response.dragged() {
        response.drag_delta()
    } else {
        egui::Vec2::ZERO
    };
    if response.hovered() && factor != 1.0 {
        zoom(
            view,
            pointer.map_or(plot.center().x, |at| at.x) - plot.left(),
            factor,
        );
    } else if response.hovered() {
        way += if sideways && wheel.x == 0.0 {
            egui::vec2(wheel.y, 0.0)
        } else {
            wheel
        };
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

/// Dragging with Shift marks a stretch of the history.
fn mark_stretch(
    ui: &Ui,
    lanes: &Lanes<'_>,
    response: &Response,
    (document, true_time): (&Document, bool),
    pressed: &mut Option<f64>,
    requests: &mut Requests,
) {
    let plot = lanes.plot.translate(response.rect.min.to_vec2());
    let at = |x: f32| {
        lanes.view.left
            + f64::from(x.clamp(plot.left(), plot.right()) - plot.left()) / lanes.view.zoom
    };
    if response.drag_started() {
        *pressed = ui
            .input(|input| input.pointer.press_origin())
            .map(|origin| at(origin.x));
    }
    let Some((from, pointer)) = pressed.zip(response.interact_pointer_pos()) else {
        *pressed = None;
        return;
    };
    let x = plot.left() + ((from - lanes.view.left) * lanes.view.zoom) as f32;
    let band = egui::Rect::from_x_y_ranges(x.min(pointer.x)..=x.max(pointer.x), plot.y_range());
    let accent = Palette::of(ui).accent;
    ui.painter()
        .with_clip_rect(plot)
        .rect_filled(band, 0.0, accent.gamma_multiply(0.2));
    if response.drag_stopped() {
        *pressed = None;
        let (a, b) = (from.min(at(pointer.x)), from.max(at(pointer.x)));
        requests.extend(
            place_between(document, true_time, (a, b)).map(|place| Request::Marks(Ask::Add(place))),
        );
    }
}

/// A stretch of the axis as a place of the history: by its clock, or by the transactions that begin and end within.
fn place_between(
    document: &Document,
    true_time: bool,
    (from, to): (f64, f64),
) -> Option<history::MarkPlace> {
    let (history, timeline) = (document.history.as_ref()?, document.timeline.as_ref()?);
    if let Some(clock) = &timeline.clock {
        return Some(history::MarkPlace::Time(
            clock.time(from, true_time),
            clock.time(to, true_time),
        ));
    }
    let within = |t: &TransactionId| {
        timeline
            .steps
            .span(*t)
            .is_some_and(|span| from <= span.to && span.from <= to)
    };
    let by = |t: &TransactionId| timeline.steps.span(*t).map_or(0, |span| span.from as i64);
    let all = || history.transactions().filter(within);
    let (first, last) = (all().min_by_key(by)?, all().max_by_key(by)?);
    Some(history::MarkPlace::Between(
        Named::new(history, first),
        Named::new(history, last),
    ))
}
