//! The view of lanes: zoom, place, and drawing of sessions on a time axis. Only what is in sight is drawn, and what is
//! narrower than a few pixels is drawn together, so that a frame costs the same for a thousand transactions and for
//! millions.

use super::canvas::look::Lit;
use super::picture::Picture;
use super::state::{Attention, Document};
use super::style::{self, Palette};
use super::timeline::{Axis, Timeline};
use crate::checkers::ViolationId;
use crate::diagram::path::distance_to_chord;
use crate::diagram::theme::dash;
use crate::history::{History, Outcome, SessionId, TransactionId};
use crate::report::grouped;
use egui::{
    Align2, Color32, CornerRadius, FontId, Painter, Pos2, Rect, Response, Sense, Shape, Stroke, StrokeKind, Ui, Vec2,
    WidgetInfo, WidgetType, pos2, vec2,
};
use std::collections::{BTreeMap, BTreeSet};

/// Least and greatest height of a lane: few lanes leave room for what runs between them.
const LANE: (f32, f32) = (38.0, 96.0);
/// Height of a transaction in its lane.
const BAR: f32 = 24.0;
/// Width of the names of sessions.
const NAMES: f32 = 92.0;
/// Height of the axis.
const AXIS: f32 = 26.0;
/// What is narrower than this is drawn together, in points.
const GRAIN: f32 = 3.0;
/// How near the pointer must be to an edge, in points.
const REACH: f32 = 5.0;
/// Most bars that get a name for screen readers.
const NAMED: usize = 300;
/// Most marks of the axis.
const TICKS: u32 = 500;

/// Zoom and place of the view.
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
}

/// What the user did in this frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LanesAnswer {
    /// Under the pointer.
    pub hovered: Option<Attention>,
    /// Clicked: something, or the ground.
    pub clicked: Option<Option<Attention>>,
    /// Double-clicked: a transaction of the whole history.
    pub opened: Option<TransactionId>,
}

/// What is drawn.
pub struct LanesInput<'a> {
    /// The whole history.
    pub history: &'a History,
    /// The open history and its selection.
    pub document: &'a Document,
    /// When transactions ran.
    pub timeline: &'a Timeline,
    /// By the clock.
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

    /// The transactions of the anomaly, in the whole history.
    fn involved(&self) -> BTreeSet<TransactionId> {
        let renaming = self.picture().map(|picture| &picture.argument.counterexample.renaming);
        renaming.into_iter().flat_map(|renaming| &renaming.transactions).copied().collect()
    }

    /// The sessions that have a lane: those of the anomaly first.
    fn lanes(&self) -> Vec<SessionId> {
        let own: BTreeSet<SessionId> = self.involved().iter().map(|t| self.history.session_of(*t)).collect();
        let others = self.history.sessions().filter(|session| !own.contains(session));
        let others = others.filter(|_| self.all || own.is_empty());
        own.iter().copied().chain(others).collect()
    }
}

impl LanesView {
    /// Shows the anomaly, or everything, in the next frame.
    pub fn fit(&mut self) {
        self.fitted = None;
    }

    /// Zooms about the middle.
    pub fn zoom_by(&mut self, factor: f32) {
        // The middle of a usual window is good enough for a key.
        let middle = self.left + 300.0 / self.zoom.max(1e-12);
        self.zoom *= f64::from(factor);
        self.left = middle - 300.0 / self.zoom.max(1e-12);
    }

    /// Draws the view in all the space there is.
    pub fn ui(&mut self, ui: &mut Ui, input: &LanesInput<'_>) -> LanesAnswer {
        let area = ui.available_rect_before_wrap();
        let response = ui.allocate_rect(area, Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, "Sessions on a time axis"));
        let lanes = input.lanes();
        let plot = Rect::from_min_max(area.min + vec2(NAMES, AXIS), area.max);
        if plot.width() < 10.0 || plot.height() < 1.0 {
            return LanesAnswer::default();
        }
        self.lane = (plot.height() / (lanes.len() as f32 + 0.5)).clamp(LANE.0, LANE.1);
        self.fit_if_wanted(plot, input);
        self.navigate(ui, plot, &response, input.axis().length, lanes.len());
        let frame = Frame {
            view: self,
            input,
            plot,
            palette: Palette::of(ui),
            lit: input.picture().map(|p| Lit::new(p, input.document.attention())).unwrap_or_default(),
            attended: input.document.attended(),
            involved: input.involved(),
            place: lanes.iter().enumerate().map(|(place, session)| (*session, place)).collect(),
        };
        let painter = ui.painter_at(area);
        painter.rect_filled(area, CornerRadius::ZERO, frame.palette.ground);
        frame.draw_axis(&painter, area);
        let first = (self.top / self.lane) as usize;
        let n = (plot.height() / self.lane) as usize + 2;
        let mut bars = Vec::new();
        for (place, session) in lanes.iter().enumerate().skip(first).take(n) {
            frame.draw_lane(&painter, area, place, *session, &mut bars);
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
        let spans = input.involved().into_iter().filter_map(|t| axis.span(t));
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

/// A zoom at which at least a quarter of the width is used, and moments can still be told apart.
fn within_bounds(zoom: f64, plot: Rect, length: f64) -> f64 {
    let (width, length) = (f64::from(plot.width()), length.max(1e-9));
    zoom.clamp(width / (length * 4.0), width * 1e7 / length)
}

/// Everything that is the same for all lanes of a frame.
struct Frame<'a> {
    view: &'a LanesView,
    input: &'a LanesInput<'a>,
    plot: Rect,
    palette: Palette,
    lit: Lit,
    attended: Vec<TransactionId>,
    involved: BTreeSet<TransactionId>,
    place: BTreeMap<SessionId, usize>,
}

/// A drawn transaction, or several together.
struct Bar {
    area: Rect,
    transaction: TransactionId,
    n: usize,
}

impl Frame<'_> {
    fn x(&self, at: f64) -> f32 {
        self.plot.left() + ((at - self.view.left) * self.view.zoom).clamp(-1e6, 1e6) as f32
    }

    fn y(&self, place: usize) -> f32 {
        self.plot.top() + (place as f32 + 0.5) * self.view.lane - self.view.top
    }

    fn bar_of(&self, transaction: TransactionId) -> Option<Rect> {
        if transaction.is_initial() {
            return None;
        }
        let span = self.input.axis().span(transaction)?;
        let place = self.place.get(&self.input.history.session_of(transaction))?;
        let y = self.y(*place);
        let (from, to) = (self.x(span.from), self.x(span.to));
        Some(Rect::from_min_max(pos2(from, y - BAR / 2.0), pos2(to.max(from + 3.0), y + BAR / 2.0)))
    }

    fn draw_axis(&self, painter: &Painter, area: Rect) {
        let axis = Rect::from_min_max(area.min, pos2(area.right(), self.plot.top()));
        let font = FontId::proportional(style::SMALL);
        let title = match (&self.input.timeline.clock, self.input.true_time) {
            (None, _) => "causal steps",
            (Some(_), true) => "true time",
            (Some(_), false) => "time, bent",
        };
        painter.text(axis.left_center() + vec2(10.0, 0.0), Align2::LEFT_CENTER, title, font.clone(), self.palette.weak);
        let inside = painter.with_clip_rect(Rect::from_min_max(pos2(self.plot.left(), area.top()), area.max));
        let step = nice(110.0 / self.view.zoom);
        let step = if self.input.timeline.clock.is_none() { step.max(1.0) } else { step };
        let first = (self.view.left / step).ceil() * step;
        let end = self.view.left + f64::from(self.plot.width()) / self.view.zoom;
        for at in (0..TICKS).map(|n| first + f64::from(n) * step).take_while(|at| *at <= end) {
            let x = self.x(at);
            let line = Stroke::new(1.0, self.palette.line);
            inside.line_segment([pos2(x, axis.bottom() - 5.0), pos2(x, area.bottom())], line);
            let text = self.tick(at);
            inside.text(pos2(x + 3.0, axis.center().y), Align2::LEFT_CENTER, text, font.clone(), self.palette.weak);
        }
        if let (Some(clock), false) = (&self.input.timeline.clock, self.input.true_time) {
            for cut in clock.cuts(self.view.left, end).into_iter().take(200) {
                // Much time passes here in little room.
                let x = self.x(cut);
                let zigzag = [(-4.0, 3.0), (-1.5, -3.0), (1.5, 3.0), (4.0, -3.0)];
                let points = zigzag.map(|(dx, dy)| pos2(x + dx, axis.bottom() - 1.0 + dy)).to_vec();
                inside.line(points, Stroke::new(1.4, self.palette.caution));
            }
        }
    }

    fn tick(&self, at: f64) -> String {
        match (&self.input.timeline.clock, self.input.true_time) {
            (None, _) => format!("{at:.0}"),
            (Some(_), true) if at < 0.0 => String::new(),
            (Some(_), true) => format!("+{}", grouped(at as u64)),
            (Some(clock), false) => format!("+{}", grouped(clock.true_time(at).max(0.0) as u64)),
        }
    }

    fn draw_lane(&self, painter: &Painter, area: Rect, place: usize, session: SessionId, bars: &mut Vec<Bar>) {
        let y = self.y(place);
        let lane = Rect::from_min_max(
            pos2(area.left(), y - self.view.lane / 2.0),
            pos2(area.right(), y + self.view.lane / 2.0),
        );
        let painter = painter.with_clip_rect(Rect::from_min_max(pos2(area.left(), self.plot.top()), area.max));
        if place % 2 == 1 {
            painter.rect_filled(lane, CornerRadius::ZERO, self.palette.panel.gamma_multiply(0.6));
        }
        let name = format!("session {}", self.input.history.session_name(session));
        let font = FontId::proportional(style::SMALL);
        let names = painter.with_clip_rect(Rect::from_min_max(
            pos2(area.left(), self.plot.top()),
            pos2(self.plot.left() - 4.0, area.bottom()),
        ));
        names.text(lane.left_center() + vec2(10.0, 0.0), Align2::LEFT_CENTER, name, font, self.palette.text);
        let inside = painter.with_clip_rect(self.plot);
        let grain = f64::from(GRAIN) / self.view.zoom;
        let end = self.view.left + f64::from(self.plot.width()) / self.view.zoom;
        self.input.axis().visible(session.index(), self.view.left, end, grain, |transaction, span, n| {
            let (from, to) = (self.x(span.from), self.x(span.to).max(self.x(span.from) + 2.0));
            let bar = Rect::from_min_max(pos2(from, y - BAR / 2.0), pos2(to, y + BAR / 2.0));
            self.draw_bar(&inside, bar, transaction, n);
            bars.push(Bar { area: bar, transaction, n });
        });
        // Those of the anomaly are never lost among others.
        let own = self.involved.iter().filter(|t| self.input.history.session_of(**t) == session);
        for transaction in own {
            if let Some(bar) = self.bar_of(*transaction).filter(|bar| bar.intersects(self.plot)) {
                self.draw_bar(&inside, bar, *transaction, 1);
                bars.push(Bar { area: bar, transaction: *transaction, n: 1 });
            }
        }
    }

    fn draw_bar(&self, painter: &Painter, bar: Rect, transaction: TransactionId, n: usize) {
        let history = self.input.history;
        let palette = &self.palette;
        let own = self.involved.contains(&transaction);
        let attended = self.attended.contains(&transaction);
        let outcome = history.outcome(transaction);
        let colour = match outcome {
            Outcome::Committed if own => palette.strong,
            Outcome::Committed => palette.weak,
            Outcome::Aborted => palette.bad,
            Outcome::Unknown => palette.caution,
        };
        if n > 1 {
            // Several in one place: a block without outline.
            painter.rect_filled(bar.shrink2(vec2(0.0, 5.0)), CornerRadius::ZERO, palette.weak.gamma_multiply(0.45));
            return;
        }
        let pale = self.lit.any && !attended && own;
        let fade = |c: Color32| if pale { c.gamma_multiply(0.5) } else { c };
        let fill = if attended { palette.selected } else { palette.raised };
        let line = if attended { palette.accent } else { colour };
        let stroke = Stroke::new(if own || attended { 1.8 } else { 1.0 }, fade(line));
        painter.rect(bar, CornerRadius::same(4), fade(fill), stroke, StrokeKind::Inside);
        if bar.width() > 26.0 {
            let text = if own { palette.strong } else { palette.text };
            let name = history.transaction_name(transaction);
            let inside = painter.with_clip_rect(bar.shrink(2.0).intersect(painter.clip_rect()));
            let font = FontId::monospace(style::CODE - 1.0);
            inside.text(bar.left_center() + vec2(5.0, 0.0), Align2::LEFT_CENTER, name, font, fade(text));
        }
    }

    /// Draws the edges of the anomaly and returns where they are.
    fn draw_edges(&self, painter: &Painter, bars: &[Bar]) -> Vec<(usize, Pos2, Pos2)> {
        let Some(picture) = self.input.picture() else { return Vec::new() };
        let example = &picture.argument.counterexample;
        let mut drawn = Vec::new();
        let mut labels: Vec<Rect> = Vec::new();
        for &index in &picture.drawn {
            let Some(edge) = example.violation.edges.get(index) else { continue };
            let bar = |t| self.bar_of(example.renaming.old_transaction(t));
            let (Some(from), Some(to)) = (bar(edge.from), bar(edge.to)) else { continue };
            // Parallel edges leave and land beside each other.
            let shift = |n: usize, width: f32| ((n as f32 * 0.37).fract() - 0.5) * width.min(60.0) * 0.7;
            let same_lane = (from.center().y - to.center().y).abs() < 1.0;
            let (a, b) = match same_lane {
                true if from.center().x < to.center().x => (from.right_center(), to.left_center()),
                true => (from.left_center(), to.right_center()),
                false => {
                    let down = to.center().y > from.center().y;
                    let end = |bar: Rect, bottom: bool| {
                        pos2(bar.center().x + shift(index, bar.width()), if bottom { bar.bottom() } else { bar.top() })
                    };
                    (end(from, down), end(to, !down))
                }
            };
            let lit = !self.lit.any || self.lit.edges.contains(&index);
            let colour = self.palette.relation(edge.relation).gamma_multiply(if lit { 1.0 } else { 0.35 });
            arrow(
                painter,
                a,
                b,
                Stroke::new(if self.lit.edges.contains(&index) { 2.6 } else { 1.8 }, colour),
                dash(edge.relation),
            );
            let key = edge.key.map(|key| format!(" {}", example.history.key_name(key))).unwrap_or_default();
            let text = format!("{}{key}", edge.relation.code());
            if (b - a).length() > 50.0 {
                // Where it covers neither a transaction nor another label.
                let free = |at: Pos2| {
                    let room = Rect::from_center_size(at, vec2(text.chars().count() as f32 * 6.6 + 8.0, 16.0));
                    let clear = |taken: &Rect| !taken.intersects(room);
                    (labels.iter().all(clear) && bars.iter().all(|bar| clear(&bar.area))).then_some(at)
                };
                let at = [0.5, 0.38, 0.62, 0.27, 0.73, 0.18, 0.82].into_iter().find_map(|t| free(a + (b - a) * t));
                let at = at.unwrap_or(a + (b - a) * (0.35 + (index as f32 * 0.19).fract() * 0.3));
                labels.push(label(painter, at, &text, colour, &self.palette));
            }
            drawn.push((index, a, b));
        }
        drawn
    }

    fn name_bars(&self, ui: &Ui, bars: &[Bar]) {
        let single = bars.iter().filter(|bar| bar.n == 1 && bar.area.intersects(self.plot)).take(NAMED);
        let mut named = BTreeSet::new();
        for bar in single.filter(|bar| named.insert(bar.transaction)) {
            let id = ui.id().with(("bar", bar.transaction.index()));
            let response = ui.interact(bar.area.intersect(self.plot), id, Sense::empty());
            let name = self.input.history.transaction_name(bar.transaction);
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, format!("Lane bar {name}")));
        }
    }

    fn answer(&self, response: &Response, bars: &[Bar], edges: &[(usize, Pos2, Pos2)]) -> LanesAnswer {
        let mut answer = LanesAnswer::default();
        let Some(at) = response.hover_pos().filter(|at| self.plot.contains(*at)) else { return answer };
        let bar = bars.iter().rev().find(|bar| bar.area.contains(at));
        let edge = edges.iter().find(|(_, a, b)| distance_to_chord(at, *a, *b) <= REACH);
        answer.hovered = match (bar, edge) {
            (Some(bar), _) if bar.n == 1 => Some(self.input.document.attention_of(bar.transaction)),
            (None, Some((index, ..))) => Some(Attention::Edge(*index)),
            _ => None,
        };
        if let Some(bar) = bar {
            let bar_text = self.hover_text(bar);
            response.clone().on_hover_text_at_pointer(bar_text);
            answer.opened = (response.double_clicked() && bar.n == 1).then_some(bar.transaction);
        }
        if response.clicked() {
            answer.clicked = Some(answer.hovered);
        }
        answer
    }

    fn hover_text(&self, bar: &Bar) -> String {
        let history = self.input.history;
        if bar.n > 1 {
            return format!("{} transactions here: zoom in to see them", grouped(bar.n as u64));
        }
        const SHOWN: usize = 10;
        let t = bar.transaction;
        let outcome = match history.outcome(t) {
            Outcome::Committed => "committed",
            Outcome::Aborted => "aborted",
            Outcome::Unknown => "outcome unknown",
        };
        let mut text = format!("{}, {outcome}", history.transaction_name(t));
        let operations = history.operations_of(t);
        let n = operations.len();
        operations.take(SHOWN).for_each(|o| text.push_str(&format!("\n{}", history.operation_text(o))));
        if n > SHOWN {
            text.push_str(&format!("\n… {} more", grouped((n - SHOWN) as u64)));
        }
        if let Some(interval) = history.interval(t) {
            text.push_str(&format!("\nfrom {} to {}", interval.start, interval.end));
        }
        text
    }
}

/// The least number of the form 1, 2 or 5 times a power of ten that is not less than `least`.
fn nice(least: f64) -> f64 {
    let power = 10_f64.powf(least.max(1e-12).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|n| *n >= least).unwrap_or(least)
}

/// A straight arrow.
pub(super) fn arrow(painter: &Painter, from: Pos2, to: Pos2, stroke: Stroke, dash: &[f32]) {
    let way = to - from;
    let direction = if way.length() > 0.1 { way.normalized() } else { Vec2::DOWN };
    let end = to - direction * 7.0;
    match dash.is_empty() {
        true => drop(painter.line_segment([from, end], stroke)),
        false => {
            let lengths: Vec<f32> = dash.iter().copied().step_by(2).collect();
            let gaps: Vec<f32> = dash.iter().copied().skip(1).step_by(2).collect();
            painter.extend(Shape::dashed_line_with_offset(&[from, end], stroke, &lengths, &gaps, 0.0));
        }
    }
    let side = direction.rot90() * 4.0;
    painter.add(Shape::convex_polygon(vec![to, end + side, end - side], stroke.color, Stroke::NONE));
}

/// A label on a line, on its own ground.
pub(super) fn label(painter: &Painter, at: Pos2, text: &str, colour: Color32, palette: &Palette) -> Rect {
    let galley = painter.layout_no_wrap(text.to_owned(), FontId::monospace(style::CODE - 2.0), colour);
    let ground = Rect::from_center_size(at, galley.size() + vec2(8.0, 3.0));
    painter.rect(ground, CornerRadius::same(4), palette.ground, Stroke::new(1.0, colour), StrokeKind::Inside);
    painter.galley(ground.min + vec2(4.0, 1.5), galley, colour);
    ground
}

#[cfg(test)]
mod tests {
    use super::nice;

    #[test]
    fn ticks_stand_at_round_numbers() {
        assert_eq!([0.7, 1.2, 3.0, 7.0, 110.0].map(nice), [1.0, 2.0, 5.0, 10.0, 200.0]);
    }
}
