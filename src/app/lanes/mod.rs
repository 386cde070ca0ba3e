//! The lanes: zoom, position, and drawing of sessions on a time axis. Only what is visible is drawn, and things
//! narrower than a few pixels are drawn together, so that a frame costs the same for a thousand transactions and for
//! millions.

mod edges;
mod frame;
mod rows;

pub(super) use edges::{arrow, label};

use super::canvas::look::Lit;
use super::picture::Picture;
use super::state::Document;
use super::style::Palette;
use super::timeline::{Axis, Timeline};
use super::vocabulary::Attention;
use crate::checkers::ViolationId;
use crate::history::{History, TransactionId};
use egui::{CornerRadius, Rect, Response, Sense, Ui, WidgetInfo, WidgetType, vec2};
use frame::Frame;
use rows::Rows;
use std::sync::Arc;

/// Minimum and maximum height of a lane: few lanes leave room for what runs between them.
const LANE: (f32, f32) = (38.0, 96.0);
/// Width of the names of sessions.
const NAMES: f32 = 92.0;
/// Height of the axis.
const AXIS: f32 = 26.0;

/// Zoom and position of the view.
#[derive(Clone, Debug, Default)]
pub struct LanesView {
    /// Points per unit of the axis.
    zoom: f64,
    /// Left edge, in units of the axis.
    left: f64,
    /// Upper edge, in points.
    top: f32,
    /// Height of a lane in this frame.
    lane: f32,
    /// What it was fitted to: the anomaly, all lanes, true time.
    fitted: Option<(Option<ViolationId>, bool, bool)>,
    /// The lane of each session.
    rows: Rows,
}

/// What the user did in this frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LanesAnswer {
    /// Under the pointer.
    pub hovered: Option<Attention>,
    /// Clicked: something, or the background.
    pub clicked: Option<Option<Attention>>,
    /// Double-clicked: a transaction of the whole history.
    pub opened: Option<TransactionId>,
}

/// The input for drawing.
pub struct LanesInput<'a> {
    /// The whole history.
    pub history: &'a Arc<History>,
    /// The open history and its selection.
    pub document: &'a Document,
    /// When transactions ran.
    pub timeline: &'a Timeline,
    /// Use true time.
    pub true_time: bool,
    /// All sessions, or those of the anomaly.
    pub all: bool,
}

impl LanesInput<'_> {
    fn axis(&self) -> &Axis {
        match &self.timeline.clock {
            Some(clock) if self.true_time => &clock.real,
            _ => &self.timeline.steps,
        }
    }

    fn picture(&self) -> Option<&Picture> {
        self.document.current_picture().map(|picture| &**picture)
    }
}

impl LanesView {
    /// Shows the anomaly, or everything, in the next frame.
    pub fn fit(&mut self) {
        self.fitted = None;
    }

    /// Zooms around the centre.
    pub fn zoom_by(&mut self, factor: f32) {
        // The centre of a typical window is good enough for a key.
        let middle = self.left + 300.0 / self.zoom.max(1e-12);
        self.zoom *= f64::from(factor);
        self.left = middle - 300.0 / self.zoom.max(1e-12);
    }

    /// Draws the view in all the available space.
    pub fn ui(&mut self, ui: &mut Ui, input: &LanesInput<'_>) -> LanesAnswer {
        let area = ui.available_rect_before_wrap();
        let response = ui.allocate_rect(area, Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, "Sessions on a time axis"));
        self.rows.update(input.document, input.history, input.all);
        let plot = Rect::from_min_max(area.min + vec2(NAMES, AXIS), area.max);
        if plot.width() < 10.0 || plot.height() < 1.0 {
            return LanesAnswer::default();
        }
        self.lane = (plot.height() / (self.rows.len() as f32 + 0.5)).clamp(LANE.0, LANE.1);
        self.fit_if_wanted(plot, input);
        self.navigate(ui, plot, &response, input.axis().length, self.rows.len());
        let frame = Frame {
            view: self,
            input,
            plot,
            palette: Palette::of(ui),
            lit: input.picture().map(|p| Lit::new(p, input.document.attention())).unwrap_or_default(),
            attended: input.document.attended().into_iter().collect(),
        };
        let painter = ui.painter_at(area);
        painter.rect_filled(area, CornerRadius::ZERO, frame.palette.ground);
        frame.draw_axis(&painter, area);
        frame.draw_faults(&painter, area);
        let first = (self.top / self.lane) as usize;
        let n = (plot.height() / self.lane) as usize + 2;
        let mut bars = Vec::new();
        for (lane, session) in (first..first + n).map_while(|lane| Some((lane, self.rows.session(lane)?))) {
            frame.draw_lane(&painter, area, lane, session, &mut bars);
        }
        let inside = painter.with_clip_rect(plot);
        let edges = frame.draw_edges(&inside, &bars);
        frame.name_bars(ui, &bars);
        frame.answer(&response, &bars, &edges)
    }

    fn fit_if_wanted(&mut self, plot: Rect, input: &LanesInput<'_>) {
        let id = input.picture().map(|picture| picture.argument.id);
        let now = (id, input.all, input.true_time);
        if self.fitted == Some(now) || plot.width() < 10.0 {
            return;
        }
        self.fitted = Some(now);
        self.top = 0.0;
        let axis = input.axis();
        let spans = self.rows.involved().filter_map(|t| axis.span(t));
        let bounds = spans.fold(None, |bounds: Option<(f64, f64)>, span| match bounds {
            None => Some((span.from, span.to)),
            Some((from, to)) => Some((from.min(span.from), to.max(span.to))),
        });
        let (from, to) = bounds.unwrap_or((0.0, axis.length));
        let margin = ((to - from) * 0.06).max(axis.length * 1e-9);
        self.zoom = f64::from(plot.width()) / (to - from + 2.0 * margin).max(1e-9);
        self.zoom = if input.true_time { self.zoom } else { self.zoom.min(140.0) };
        let middle = (from + to) / 2.0;
        self.left = middle - f64::from(plot.width()) / 2.0 / self.zoom;
    }

    fn navigate(&mut self, ui: &Ui, plot: Rect, response: &Response, length: f64, n_lanes: usize) {
        if response.hovered() {
            let (factor, way, pointer, sideways) = ui.input(|input| {
                (input.zoom_delta(), input.smooth_scroll_delta(), input.pointer.hover_pos(), input.modifiers.shift)
            });
            if factor != 1.0 {
                let at = f64::from(pointer.map_or(plot.center().x, |at| at.x) - plot.left());
                let fixed = self.left + at / self.zoom;
                self.zoom = within_bounds(self.zoom * f64::from(factor), plot, length);
                self.left = fixed - at / self.zoom;
            } else {
                let (x, y) = if sideways && way.x == 0.0 { (way.y, 0.0) } else { (way.x, way.y) };
                self.left -= f64::from(x) / self.zoom;
                self.top -= y;
            }
        }
        if response.dragged() {
            let way = response.drag_delta();
            self.left -= f64::from(way.x) / self.zoom;
            self.top -= way.y;
        }
        self.zoom = within_bounds(self.zoom, plot, length);
        let sight = f64::from(plot.width()) / self.zoom;
        self.left = self.left.clamp(-sight * 0.5, (length - sight * 0.5).max(-sight * 0.5));
        self.top = self.top.clamp(0.0, (n_lanes as f32 * self.lane - plot.height() + self.lane).max(0.0));
    }
}

/// A zoom at which at least a quarter of the width is used, and moments can still be distinguished.
fn within_bounds(zoom: f64, plot: Rect, length: f64) -> f64 {
    let (width, length) = (f64::from(plot.width()), length.max(1e-9));
    zoom.clamp(width / (length * 4.0), width * 1e7 / length)
}
