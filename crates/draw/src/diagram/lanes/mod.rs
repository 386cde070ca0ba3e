//! Sessions on a time axis. Only what is visible is drawn, and things narrower than a few pixels are drawn together, so
//! that a scene costs the same for a thousand transactions and for millions.

mod annotations;
mod edges;
mod rows;

use super::faults::{self, Lasting};
use super::scene::{Align, Scene};
use super::text_size::{ADVANCE, columns as text_columns, elide, printable, width};
use super::theme::Role;
use super::timeline::{Axis, Timeline};
use super::{Anomaly, Emphasis, Target};
use crate::diagram::path::Path;
use emath::{Pos2, Rect, Vec2, pos2, vec2};
use isoscope_model::history::{
    Annotation, FaultSpan, History, OperationId, SessionId, TransactionId, grouped,
};
use rows::Rows;

/// Minimum and maximum height of a lane: few lanes leave room for what runs between them.
const LANE: (f32, f32) = (38.0, 96.0);
/// Minimum height of a lane of the anomaly.
const OWN: f32 = 78.0;
/// The same where there is no room for all of them.
const LEAST_OWN: f32 = 46.0;
/// Width of the names of sessions.
const NAMES: f32 = 92.0;
/// Height of the axis.
const AXIS: f32 = 26.0;
/// Room above the first lane, for the labels of edges.
const ABOVE: f32 = 10.0;
/// Height of a transaction in its lane.
const BAR: f32 = 24.0;
/// Things narrower than this are drawn together, in points.
const GRAIN: f32 = 3.0;
/// Font size of names and numbers.
const FONT: f32 = 11.0;
/// Maximum number of bars that get a name for screen readers.
const NAMED: usize = 300;
/// Room at the sides of all lanes, as a share of the width.
const SPARE: f64 = 0.05;
/// How far a transaction that is cut goes on out of view.
const CUT: f32 = 8.0;
/// Maximum number of incidents among which faults are drawn.
const INCIDENTS: usize = 10_000;
/// In fewer columns than this, a name is its number.
const SHORT: usize = 8;
/// Maximum number of columns of a name above its bar.
const NAME_COLUMNS: usize = 16;
/// Maximum number of ticks on the axis.
const TICKS: u32 = 500;
/// Causal steps are not drawn wider than this.
const WIDEST: f64 = 140.0;
/// Room at the sides of an order, in places.
pub const ORDER_MARGIN: f64 = 0.3;
/// Points per step with which transactions are still legible.
const LEGIBLE: f64 = 60.0;

/// What lanes show.
#[derive(Clone, Debug)]
pub struct LaneContent<'a> {
    /// The whole history.
    pub history: &'a History,
    /// When transactions ran.
    pub timeline: &'a Timeline,
    /// Use true time.
    pub true_time: bool,
    /// The anomaly.
    pub anomaly: Option<Anomaly<'a>>,
    /// What the user marked.
    pub annotations: &'a [Annotation],
}

/// Zoom and position.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct View {
    /// Points per unit of the axis.
    pub zoom: f64,
    /// Left edge, in units of the axis.
    pub left: f64,
    /// Upper edge, in points.
    pub top: f32,
}

/// Lanes in an area that begins at the origin.
pub struct Lanes<'a> {
    shown: LaneContent<'a>,
    rows: Rows,
    /// Faults, if the history has a clock and few of them.
    faults: Vec<FaultSpan>,
    /// All of it.
    size: Vec2,
    /// Where lanes are: below the axis, to the right of the names, above the faults.
    pub plot: Rect,
    /// Height of a lane.
    lane: f32,
    /// Height of the lane of a session of the anomaly.
    own: f32,
    /// Zoom and position.
    pub view: View,
}

/// A drawn transaction, or several together.
struct Bar {
    area: Rect,
    transaction: TransactionId,
    n: usize,
    target: Target,
}

impl<'a> Lanes<'a> {
    /// Lanes of an area of this size, seen from `view`.
    pub fn new(shown: LaneContent<'a>, size: Vec2, view: View) -> Lanes<'a> {
        let transactions = shown
            .anomaly
            .as_ref()
            .map_or(&[][..], |anomaly| &anomaly.renaming.transactions);
        let rows = Rows::new(shown.history, transactions);
        let cluster = shown.history.cluster();
        let has_few = shown.timeline.has_times() && cluster.incidents().len() <= INCIDENTS;
        let faults = if has_few {
            cluster.faults()
        } else {
            Vec::new()
        };
        // A line more says how many there are besides.
        let low = faults::ROW * faults.len().min(faults::ROWS + 1) as f32;
        let plot = Rect::from_min_max(pos2(NAMES, AXIS), size.to_pos2() - vec2(0.0, low));
        let lane = (plot.height() / (rows.len() as f32 + 0.5)).clamp(LANE.0, LANE.1);
        // Edges run between those of the anomaly.
        let own = if shown.timeline.is_order {
            lane
        } else {
            // All of them in view, if they can be.
            let all = plot.height() / (rows.n_own() as f32 + 0.5);
            lane.max(all.clamp(LEAST_OWN, OWN))
        };
        Lanes {
            shown,
            rows,
            faults,
            size,
            plot,
            lane,
            own,
            view,
        }
    }

    /// Makes lanes as low as their transactions allow if more of them are in view then.
    pub fn low(mut self) -> Lanes<'a> {
        self.lane = (self.plot.height() / (self.rows.len() as f32 + 0.5)).clamp(BAR + 2.0, LANE.1);
        self
    }

    /// Shows the whole anomaly, or everything where that is legible.
    pub fn fit(&mut self) {
        let axis = self.axis();
        let bounds = self
            .rows
            .involved()
            .filter_map(|t| axis.span(t))
            .map(|span| (span.from, span.to));
        let bounds = bounds.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let is_short = f64::from(self.plot.width()) >= axis.length * LEGIBLE;
        // Nothing comes before the first place of an order.
        let is_order = self.shown.timeline.is_order;
        let bounds = bounds.filter(|_| is_order || !is_short);
        let (from, to) = bounds.unwrap_or((0.0, axis.length));
        let margin = match is_order {
            true => ORDER_MARGIN,
            false => ((to - from) * 0.06).max(axis.length * 1e-9),
        };
        let width = f64::from(self.plot.width());
        let zoom = width / (to - from + 2.0 * margin).max(1e-9);
        let zoom = if self.shown.true_time {
            zoom
        } else {
            zoom.min(WIDEST)
        };
        // No empty room at one side while something is out of view at the other.
        let least = if is_order { from } else { 0.0 } - margin;
        let last = (axis.length + margin - width / zoom).max(least);
        self.view = View {
            zoom,
            left: ((from + to) / 2.0 - width / 2.0 / zoom).clamp(least, last),
            top: 0.0,
        };
    }

    /// Shows this stretch of the axis, and the session if one is named, in the middle.
    pub fn reveal(&mut self, (from, to): (f64, f64), session: Option<SessionId>) {
        self.view.zoom = f64::from(self.plot.width()) / (to - from).max(1e-12);
        self.view.left = from;
        if let Some(session) = session {
            self.view.top = self.above(self.rows.lane(session)) - self.plot.height() / 2.0;
        }
    }

    /// Keeps zoom and position within bounds: at least a quarter of the width is used, moments can be distinguished, and one
    /// side is empty only while nothing is out of view at the other.
    pub fn keep_in_bounds(&mut self) {
        let (width, length) = (f64::from(self.plot.width()), self.axis().length.max(1e-9));
        let height = self.above(self.rows.len() + 1);
        let view = &mut self.view;
        view.zoom = view
            .zoom
            .clamp(width / (length * 4.0), width * 1e7 / length);
        let visible = width / view.zoom;
        let least = -visible * SPARE;
        view.left = view
            .left
            .clamp(least, (length - visible * (1.0 - SPARE)).max(least));
        view.top = view.top.clamp(0.0, (height - self.plot.height()).max(0.0));
    }

    /// The shapes: what is behind the lanes, transactions, edges, then the axis and the names of sessions.
    pub fn scene(&self) -> Scene {
        let mut scene = Scene::new(Rect::from_min_size(Pos2::ZERO, self.size));
        let lanes = self.visible_lanes();
        for &(place, _) in lanes.iter().filter(|(place, _)| place % 2 == 1) {
            scene.rect(
                self.lane_area(place, 0.0..self.plot.right()),
                0.0,
                Role::Lane,
                None,
            );
        }
        self.draw_stretches(&mut scene);
        let lasting = self.lasting();
        faults::draw_bands(&mut scene, &lasting, self.plot);
        let ticks = self.ticks();
        for &tick in &ticks {
            let line = Path::line(
                pos2(self.x(tick), AXIS - 5.0),
                pos2(self.x(tick), self.plot.bottom()),
            );
            scene.line(line, Role::Rule, None);
        }
        let bars = self.bars(&lanes);
        // Lines pass below the transactions, whose names they would strike out.
        let ways = self.ways(&bars);
        ways.iter()
            .for_each(|way| scene.edge(&way.path, way.arrow, way.target()));
        bars.iter().for_each(|bar| self.draw_bar(&mut scene, bar));
        self.draw_names_above(&mut scene, &bars);
        ways.iter()
            .for_each(|way| scene.head(&way.path, way.arrow, way.target()));
        self.draw_labels(&mut scene, &ways, &bars);
        self.draw_flags(&mut scene);
        self.draw_names(&mut scene, &lanes);
        self.draw_faults(&mut scene, &lasting);
        self.draw_axis(&mut scene, &ticks);
        self.name(&mut scene, &bars);
        scene
    }

    fn axis(&self) -> &'a Axis {
        self.shown.timeline.axis(self.shown.true_time)
    }

    fn x(&self, at: f64) -> f32 {
        self.plot.left() + ((at - self.view.left) * self.view.zoom).clamp(-1e6, 1e6) as f32
    }

    /// The height of a lane.
    fn height(&self, place: usize) -> f32 {
        if place < self.rows.n_own() {
            self.own
        } else {
            self.lane
        }
    }

    /// The distance of the upper side of a lane from that of the first.
    fn above(&self, place: usize) -> f32 {
        let own = place.min(self.rows.n_own());
        own as f32 * self.own + (place - own) as f32 * self.lane
    }

    fn y(&self, place: usize) -> f32 {
        self.plot.top() + ABOVE + self.above(place) + self.height(place) / 2.0 - self.view.top
    }

    /// The right edge, in units of the axis.
    pub fn end(&self) -> f64 {
        self.view.left + f64::from(self.plot.width()) / self.view.zoom
    }

    /// How many sessions are above and below what is in view. O(sessions).
    pub fn out_of_view(&self) -> [usize; 2] {
        let count = |is_out: &dyn Fn(f32) -> bool| {
            (0..self.rows.len())
                .filter(|&place| is_out(self.y(place)))
                .count()
        };
        [
            count(&|y| y < self.plot.top()),
            count(&|y| y > self.plot.bottom()),
        ]
    }

    fn lane_area(&self, place: usize, x: std::ops::Range<f32>) -> Rect {
        let y = self.y(place);
        Rect::from_x_y_ranges(
            x.start..=x.end,
            y - self.height(place) / 2.0..=y + self.height(place) / 2.0,
        )
    }

    fn visible_lanes(&self) -> Vec<(usize, SessionId)> {
        let below = (self.view.top - self.above(self.rows.n_own())).max(0.0);
        let first = (self.view.top / self.own).min(self.rows.n_own() as f32) as usize
            + (below / self.lane) as usize;
        let n = (self.plot.height() / self.lane) as usize + 2;
        (first..first + n)
            .map_while(|lane| Some((lane, self.rows.session(lane)?)))
            .collect()
    }

    /// Where a transaction is, visible or not.
    fn area_of(&self, transaction: TransactionId) -> Option<Rect> {
        if transaction.is_initial() {
            return None;
        }
        let span = self.axis().span(transaction)?;
        let y = self.y(self.rows.lane(self.shown.history.session_of(transaction)));
        let (from, to) = (self.x(span.from), self.x(span.to));
        Some(Rect::from_x_y_ranges(
            from..=to.max(from + GRAIN),
            y - BAR / 2.0..=y + BAR / 2.0,
        ))
    }

    /// The visible transactions. Those of the anomaly come last and are never hidden among others.
    fn bars(&self, lanes: &[(usize, SessionId)]) -> Vec<Bar> {
        let mut bars = Vec::new();
        let grain = f64::from(GRAIN) / self.view.zoom;
        for &(place, session) in lanes {
            let y = self.y(place);
            self.axis().visible(
                session.index(),
                self.view.left,
                self.end(),
                grain,
                |transaction, span, n| {
                    let (from, to) = (
                        self.x(span.from),
                        self.x(span.to).max(self.x(span.from) + 2.0),
                    );
                    let area = Rect::from_x_y_ranges(from..=to, y - BAR / 2.0..=y + BAR / 2.0);
                    let target = match n {
                        1 => Anomaly::target(self.shown.anomaly.as_ref(), transaction),
                        _ => Target::Several(transaction, n),
                    };
                    if !matches!(target, Target::Transaction(_)) {
                        bars.push(Bar {
                            area,
                            transaction,
                            n,
                            target,
                        });
                    }
                },
            );
        }
        for &(_, transaction) in lanes
            .iter()
            .flat_map(|(_, session)| self.rows.involved_of(*session))
        {
            let target = Anomaly::target(self.shown.anomaly.as_ref(), transaction);
            let area = self
                .area_of(transaction)
                .filter(|area| area.intersects(self.plot));
            bars.extend(area.map(|area| Bar {
                area,
                transaction,
                n: 1,
                target,
            }));
        }
        bars
    }

    fn draw_bar(&self, scene: &mut Scene, bar: &Bar) {
        let history = self.shown.history;
        let shown = |beyond: f32| {
            let (left, right) = (self.plot.left() - beyond, self.plot.right() + beyond);
            Rect::from_x_y_ranges(
                bar.area.left().max(left)..=bar.area.right().min(right),
                bar.area.y_range(),
            )
        };
        let area = shown(0.0);
        let target = Some(bar.target);
        if bar.n > 1 {
            scene.rect(area.shrink2(vec2(0.0, 5.0)), 0.0, Role::Crowd, target);
            return;
        }
        let is_own = matches!(bar.target, Target::Transaction(_));
        let (emphasis, ink) = if is_own {
            (Emphasis::Cycle, Role::CardTitle)
        } else {
            (Emphasis::Evidence, Role::CardStatus)
        };
        // The frame of one that is cut goes on out of view.
        scene.rect(
            shown(CUT),
            4.0,
            Role::Bar(history.outcome(bar.transaction), emphasis),
            target,
        );
        let columns = room_for_name(area.width());
        if columns > 2 {
            let name = history.transaction_name(bar.transaction);
            let is_short = text_columns(&name) > columns && columns < SHORT;
            let name = match (is_short, name.rsplit_once('#')) {
                // Those of a lane differ in their numbers.
                (true, Some((_, number))) => format!("#{number}"),
                _ => elide(&name, columns),
            };
            let used = width(&name, FONT) + 2.0 * ADVANCE * FONT;
            let says = self.says(
                bar.transaction,
                columns.saturating_sub(text_columns(&name) + 2),
            );
            let at = area.left_center() + vec2(5.0, 0.0);
            scene.text((at, Align::Left), FONT, name, ink, target);
            if !says.is_empty() {
                scene.text(
                    (at + vec2(used, 0.0), Align::Left),
                    FONT,
                    says,
                    Role::CardStatus,
                    target,
                );
            }
        }
    }

    /// Names above those transactions of the anomaly that are too narrow for them, as far as no other name is there.
    fn draw_names_above(&self, scene: &mut Scene, bars: &[Bar]) {
        let mut taken: Vec<Rect> = Vec::new();
        let is_own = |bar: &&Bar| {
            matches!(bar.target, Target::Transaction(_)) && room_for_name(bar.area.width()) <= 2
        };
        for bar in bars.iter().filter(is_own) {
            let name = elide(
                &self.shown.history.transaction_name(bar.transaction),
                NAME_COLUMNS,
            );
            // An arrow comes in above it.
            let left = (bar.area.right() + 2.0)
                .min(self.plot.right() - width(&name, FONT))
                .max(self.plot.left());
            let area = Rect::from_min_size(
                pos2(left, bar.area.top() - FONT - 4.0),
                vec2(width(&name, FONT), FONT + 3.0),
            );
            if !taken.iter().any(|other| other.intersects(area)) {
                scene.text(
                    (area.left_center(), Align::Left),
                    FONT,
                    name,
                    Role::CardTitle,
                    Some(bar.target),
                );
                taken.push(area);
            }
        }
    }

    /// As many of the first operations of a transaction as have room, of the anomaly those that it is about; an ellipsis
    /// for the others.
    fn says(&self, transaction: TransactionId, columns: usize) -> String {
        const REST: &str = "  …";
        let (mut text, mut n) = (String::new(), 0);
        let all = self.shown.history.operations_of(transaction);
        let n_all = all.len();
        let own = self
            .shown
            .anomaly
            .as_ref()
            .filter(|a| a.renaming.new_transaction(transaction).is_some());
        let is_about = |o: &OperationId| {
            own.is_none_or(|anomaly| anomaly.renaming.new_operation(*o).is_some())
        };
        for operation in all.filter(is_about) {
            let gap = if text.is_empty() { "" } else { "  " };
            let next = format!(
                "{gap}{}",
                printable(&self.shown.history.operation_text(operation))
            );
            let rest = if n + 1 < n_all { REST } else { "" };
            if text_columns(&text) + text_columns(&next) + text_columns(rest) > columns {
                break;
            }
            text += &next;
            n += 1;
        }
        if (1..n_all).contains(&n) {
            text + REST
        } else {
            text
        }
    }

    /// Faults from their beginning to their end.
    fn lasting(&self) -> Vec<Lasting> {
        let Some(clock) = &self.shown.timeline.clock else {
            return Vec::new();
        };
        let x = |time: i64| self.x(clock.place(time, self.shown.true_time));
        let lasting = |fault: &FaultSpan| {
            Lasting::new(
                fault,
                x(fault.start),
                fault.end.map_or(self.plot.right() + 9.0, x),
            )
        };
        self.faults.iter().map(lasting).collect()
    }

    /// The faults, over what is below the plot.
    fn draw_faults(&self, scene: &mut Scene, lasting: &[Lasting]) {
        if !self.faults.is_empty() {
            let below = Rect::from_min_max(pos2(0.0, self.plot.bottom()), self.size.to_pos2());
            scene.rect(below, 0.0, Role::Page, None);
            scene.text(
                (
                    below.left_top() + vec2(10.0, faults::ROW / 2.0),
                    Align::Left,
                ),
                FONT,
                "faults".to_owned(),
                Role::LaneTitle,
                None,
            );
            faults::draw_bars(scene, lasting, self.plot, FONT);
        }
    }

    /// The names of sessions, over what is left of the plot.
    fn draw_names(&self, scene: &mut Scene, lanes: &[(usize, SessionId)]) {
        let column = Rect::from_x_y_ranges(0.0..=self.plot.left() - 1.0, self.plot.y_range());
        scene.rect(column, 0.0, Role::Page, None);
        let room = column.width() - 14.0;
        let name = |session: SessionId| self.shown.history.session_and_node(session);
        let in_full = |session: SessionId| format!("session {}", name(session));
        // All of them alike.
        let is_full = lanes
            .iter()
            .all(|&(_, session)| width(&in_full(session), FONT) <= room);
        for &(place, session) in lanes {
            let area = self.lane_area(place, column.left()..column.right());
            if place % 2 == 1 {
                scene.rect(area.intersect(column), 0.0, Role::Lane, None);
            }
            let name = if is_full {
                in_full(session)
            } else {
                name(session)
            };
            let name = elide(&name, (room / (ADVANCE * FONT)) as usize);
            scene.text(
                (area.left_center() + vec2(10.0, 0.0), Align::Left),
                FONT,
                name,
                Role::LaneTitle,
                None,
            );
        }
    }

    /// The axis, over what is above the plot.
    fn draw_axis(&self, scene: &mut Scene, ticks: &[f64]) {
        let area = Rect::from_min_max(Pos2::ZERO, pos2(self.plot.right(), self.plot.top()));
        scene.rect(area, 0.0, Role::Page, None);
        let title = match (&self.shown.timeline.clock, self.shown.true_time) {
            (None, _) if self.shown.timeline.is_order => "order",
            (None, _) => "causal depth",
            (Some(clock), _) if let Some(numbers) = &clock.numbers => &numbers.name,
            (Some(_), true) if self.shown.history.origin().times_are_events => "events",
            (Some(_), true) => "true time",
            (Some(_), false) => "time (gaps compressed)",
        };
        scene.text(
            (area.left_center() + vec2(10.0, 0.0), Align::Left),
            FONT,
            title.to_owned(),
            Role::Legend,
            None,
        );
        for &at in ticks {
            let (x, text) = (self.x(at), self.tick(at));
            scene.line(
                Path::line(pos2(x, AXIS - 5.0), pos2(x, AXIS)),
                Role::Rule,
                None,
            );
            if x + 3.0 + width(&text, FONT) <= area.right() {
                scene.text(
                    (pos2(x + 3.0, area.center().y - 4.0), Align::Left),
                    FONT,
                    text,
                    Role::Legend,
                    None,
                );
            }
        }
        let bent = self
            .shown
            .timeline
            .clock
            .as_ref()
            .filter(|_| !self.shown.true_time);
        for cut in bent
            .into_iter()
            .flat_map(|clock| clock.cuts(self.view.left, self.end()))
            .take(200)
        {
            // Much time passes here in little space.
            let x = self.x(cut);
            let zigzag = [(-4.0, 2.5), (-1.5, -2.5), (1.5, 2.5), (4.0, -2.5)];
            let points = zigzag.map(|(dx, dy)| pos2(x + dx, AXIS - 3.0 + dy));
            if x - 4.0 > self.plot.left() {
                scene.line(Path::rounded(&points, 0.0), Role::Next, None);
            }
        }
    }

    fn ticks(&self) -> Vec<f64> {
        // Places of an order are short numbers, each of which counts.
        let apart = if self.shown.timeline.is_order {
            40.0
        } else {
            110.0
        };
        let step = nice(apart / self.view.zoom);
        let step = if self.shown.timeline.clock.is_none() {
            step.max(1.0)
        } else {
            step
        };
        // At round times, counted from where the file does.
        let clock = self
            .shown
            .timeline
            .clock
            .as_ref()
            .filter(|_| self.shown.true_time);
        let zero = match self.shown.timeline.has_times() {
            true => self.shown.history.origin().zero,
            false => 0,
        };
        let ahead = clock.map_or(0.0, |clock| clock.first.saturating_sub(zero) as f64);
        let first = ((self.view.left.max(0.0) + ahead) / step).ceil() * step - ahead;
        // An order has no places but its own.
        let has_place = |at: &f64| !self.shown.timeline.is_order || self.axis().covers(*at);
        let ticks = (0..TICKS)
            .map(|n| first + f64::from(n) * step)
            .take_while(|at| *at <= self.end());
        ticks.filter(has_place).collect()
    }

    fn tick(&self, at: f64) -> String {
        match &self.shown.timeline.clock {
            None => grouped(at as u64),
            Some(clock) => {
                let time = clock.time(at, self.shown.true_time);
                let numbers = clock.numbers.as_ref();
                numbers.map_or_else(
                    || self.shown.history.origin().time(time),
                    |numbers| numbers.text(time),
                )
            }
        }
    }

    /// Names for screen readers; those of the anomaly first, so that they always get one.
    fn name(&self, scene: &mut Scene, bars: &[Bar]) {
        for bar in bars.iter().rev().filter(|bar| bar.n == 1).take(NAMED) {
            let area = bar.area.intersect(self.plot);
            if area.is_positive() {
                let name = self.shown.history.transaction_name(bar.transaction);
                scene.name(area, format!("Lane bar {name}"), None);
            }
        }
    }
}

/// How many columns there is room for in a bar of this width.
fn room_for_name(width: f32) -> usize {
    ((width - 8.0) / (ADVANCE * FONT)).max(0.0) as usize
}

/// The smallest number of the form 1, 2 or 5 times a power of ten that is at least `least`.
fn nice(least: f64) -> f64 {
    let power = 10_f64.powf(least.max(1e-12).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|n| *n >= least)
        .unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::nice;

    #[test]
    fn ticks_are_at_round_numbers() {
        assert_eq!(
            [0.7, 1.2, 3.0, 7.0, 110.0].map(nice),
            [1.0, 2.0, 5.0, 10.0, 200.0]
        );
    }
}
