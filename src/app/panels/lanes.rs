//! Sessions over time: the transactions of the anomaly, or all of the history with its zoom and position.

use super::graph::about_decisive;
use super::on_command;
use super::scene::{anomaly, scene_ui};
use crate::app::axis::LanesAxis;
use crate::app::canvas::navigation::wheel_factor;
use crate::app::canvas::scene::DrawnAt;
use crate::app::command::{Command, Request, Requests};
use crate::app::marks::Ask;
use crate::app::page::Page;
use crate::app::picture::Picture;
use crate::app::state::{Cover, Document, State};
use crate::app::style::{self, GAP, Palette};
use crate::checkers::ViolationId;
use crate::diagram::lanes::{LaneContent, Lanes, View};
use crate::diagram::scene::Scene;
use crate::history::{self, Named, TransactionId};
use egui::{Align2, Key, Modifiers, Response, ScrollArea, Sense, Ui, WidgetInfo, WidgetType, vec2};

/// The anomaly over time is drawn between these times as large as in an export.
const LEGIBLE: f32 = 0.63;
/// Of this size all operations can be read in full.
const READABLE: f32 = 0.79;
/// It is this small rather than that a row of few is out of view.
const DENSE: f32 = 0.68;
const LARGE: f32 = 1.35;
/// How far a key zooms.
const FLIGHT: f32 = 1.25;
/// Below the anomaly, all sessions need at least this height.
const ROOM_FOR_ALL: f32 = 240.0;
/// Most of the height for the anomaly.
const OWN: f32 = 0.5;
/// What the pointer and the keys do.
const HINT: &str = "Wheel or W and S: zoom. Drag or A and D: move. Shift+drag marks a span; a double-click opens a transaction";

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
    /// How far to zoom and to move in the next frame.
    flight: Option<(f32, f32)>,
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
            flight: None,
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

    /// Zooms around the centre, and moves sideways by a share of the width, in the next frame.
    pub(crate) fn fly(&mut self, factor: f32, sideways: f32) {
        self.flight = Some((factor, sideways));
    }

    /// Zooms around the centre.
    pub(crate) fn zoom_by(&mut self, factor: f32) {
        self.scale = (self.scale * factor).clamp(0.3, 5.0);
        // The centre of a typical window is good enough for a key.
        zoom(&mut self.view, 300.0, factor);
    }
}

/// The keys W, A, S and D of the timeline: closer, to the left, farther, to the right.
pub(crate) fn poll_keys(ctx: &egui::Context, state: &State, requests: &mut Requests) {
    let is_followed = state.cover == Some(Cover::Following);
    let is_timeline = state.page == Page::Lanes && !state.is_covered() && !state.show_batch;
    if !is_followed && !is_timeline {
        return;
    }
    for (key, factor, sideways) in [
        (Key::W, FLIGHT, 0.0),
        (Key::S, 1.0 / FLIGHT, 0.0),
        (Key::A, 1.0, -0.12),
        (Key::D, 1.0, 0.12),
    ] {
        if ctx.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
            requests.push(Request::FlyLanes(factor, sideways));
        }
    }
}

/// Draws the timeline: the anomaly, and below it all sessions.
pub(crate) fn lanes_ui(
    ui: &mut Ui,
    state: &State,
    document: &Document,
    kept: &mut LanesView,
    requests: &mut Requests,
) {
    ui.horizontal(|ui| {
        ui.add_space(10.0);
        axis_ui(ui, state, document, requests);
        let picture = document.current_picture();
        let about = picture.and_then(|picture| about_decisive(picture));
        about.map(|about| style::note(ui, about));
        style::short_note(ui, HINT);
    });
    match document.current_picture() {
        Some(picture) => above_all_ui(ui, (state, document), picture, kept, requests),
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

/// The anomaly over time, and below it all sessions if there is room.
pub(super) fn above_all_ui(
    ui: &mut Ui,
    shown: (&State, &Document),
    picture: &Picture,
    kept: &mut LanesView,
    requests: &mut Requests,
) {
    let room = ui.available_size();
    let need = picture.lanes.bounds.height() * zoom_of(&picture.lanes, room) + GAP;
    let own = need.min((room.y * OWN).max(room.y - ROOM_FOR_ALL));
    if room.y - own < ROOM_FOR_ALL {
        return sequence_ui(ui, shown, picture, kept.scale, requests);
    }
    ui.allocate_ui(vec2(room.x, own), |ui| {
        sequence_ui(ui, shown, picture, kept.scale, requests)
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
    if let Some((factor, sideways)) = kept.flight.take() {
        let width = lanes.plot.width();
        zoom(&mut lanes.view, width / 2.0, factor);
        lanes.view.left += f64::from(sideways * width) / lanes.view.zoom;
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

/// The wheel zooms around the pointer, with Shift it moves sideways, and over the names of the lanes up and down; dragging moves.
pub(super) fn navigate(ui: &Ui, lanes: &mut Lanes<'_>, response: &Response) {
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
    } else if let Some(at) = pointer.filter(|_| response.hovered()) {
        match (sideways, wheel.x == 0.0) {
            (true, true) => way.x += wheel.y,
            (false, true) if plot.x_range().contains(at.x) => {
                zoom(view, at.x - plot.left(), wheel_factor(wheel.y))
            }
            _ => way += wheel,
        }
    }
    view.left -= f64::from(way.x) / view.zoom;
    view.top -= way.y;
}

/// Zooms so that what is at `x` stays there.
pub(super) fn zoom(view: &mut View, x: f32, factor: f32) {
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
