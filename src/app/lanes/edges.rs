//! The edges of the anomaly between the lanes, with their labels.

use super::super::picture::Picture;
use super::super::style::{self, Palette};
use super::frame::{Bar, Frame};
use crate::diagram::layout::MAX_TITLE_COLUMNS;
use crate::diagram::text_size::{columns, elide};
use crate::diagram::theme::dash;
use crate::history::TransactionId;
use crate::relations::Edge;
use egui::epaint::CubicBezierShape;
use egui::{Color32, CornerRadius, FontId, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2, pos2, vec2};
use std::collections::HashMap;

/// Half the width of an arrow head, in points.
const SIDE: f32 = 4.0;
/// Length of an arrow head, in points.
const HEAD: f32 = 7.0;
/// Longer edges between two transactions of a session are straight, in points.
const STRAIGHT: f32 = 50.0;
/// Shorter edges have no label, in points.
const LABELLED: f32 = 36.0;
/// With more visible edges than this, labels may overlap other edges.
const FEW: usize = 60;
/// Number of segments of a bow.
const BOW: usize = 24;
/// Maximum number of visible labels: more cannot be read.
const LABELS: usize = 200;
/// Width and height of a cell of [`Room`], in points.
const CELL: Vec2 = vec2(64.0, 24.0);

impl Frame<'_> {
    /// Draws the edges of the anomaly and returns where they are.
    pub(super) fn draw_edges(&self, painter: &Painter, bars: &[Bar]) -> Vec<(usize, Pos2, Pos2)> {
        let Some(picture) = self.input.picture() else { return Vec::new() };
        let ways = self.ways(picture, bars);
        for Way { index, edge, points } in &ways {
            let width = if self.lit.edges.contains(index) { 2.6 } else { 1.8 };
            arrow_along(painter, points, Stroke::new(width, self.colour(*index, edge)), dash(edge.relation));
        }
        self.label_edges(painter, picture, &ways, bars);
        ways.iter().flat_map(|way| way.points.windows(2).map(|ends| (way.index, ends[0], ends[1]))).collect()
    }

    fn label_edges(&self, painter: &Painter, picture: &Picture, ways: &[Way<'_>], bars: &[Bar]) {
        let history = &picture.argument.counterexample.history;
        let mut room = Room::of(self.plot, bars.iter().map(|bar| bar.area));
        for Way { index, edge, points } in ways.iter().filter(|way| length(&way.points) > LABELLED).take(LABELS) {
            let name = |key| elide(&history.key_name(key), MAX_TITLE_COLUMNS);
            let key = edge.key.map(|key| format!(" {}", name(key))).unwrap_or_default();
            let text = format!("{}{key}", edge.relation.code());
            let size = vec2(columns(&text) as f32 * 6.6 + 8.0, 16.0);
            let places = [0.5, 0.38, 0.62, 0.27, 0.73, 0.18, 0.82].map(|share| along(points, share));
            // Where it covers neither a transaction nor another label, and preferably no other edge.
            let is_free = |at: &&Pos2| room.is_free(Rect::from_center_size(**at, size));
            let is_alone = |at: &&Pos2| {
                let ground = Rect::from_center_size(**at, size);
                let mut others = ways.iter().filter(|way| way.index != *index).flat_map(|way| way.points.windows(2));
                ways.len() > FEW || !others.any(|ends| crosses(ground, ends))
            };
            let free = places.iter().filter(is_free).find(is_alone).or_else(|| places.iter().find(is_free));
            let at = free.copied().unwrap_or_else(|| along(points, 0.35 + (*index as f32 * 0.19).fract() * 0.3));
            room.take(label(painter, at, &text, self.colour(*index, edge), &self.palette));
        }
    }

    fn colour(&self, index: usize, edge: &Edge) -> Color32 {
        let is_lit = !self.lit.any || self.lit.edges.contains(&index);
        self.palette.relation(edge.relation).gamma_multiply(if is_lit { 1.0 } else { 0.35 })
    }

    /// The visible edges: invisible ones cost nothing more.
    fn ways<'a>(&self, picture: &'a Picture, bars: &[Bar]) -> Vec<Way<'a>> {
        let example = &picture.argument.counterexample;
        let mut ways = Vec::new();
        // Number of edges between two transactions.
        let mut between: HashMap<(TransactionId, TransactionId), usize> = HashMap::new();
        let edges = || picture.drawn.iter().filter_map(|&n| Some((n, example.violation.edges.get(n)?)));
        let ends = |edge: &Edge| (edge.from.min(edge.to), edge.from.max(edge.to));
        edges().for_each(|(_, edge)| *between.entry(ends(edge)).or_default() += 1);
        for (index, edge) in edges() {
            let bar = |t| self.bar_of(example.renaming.old_transaction(t));
            let (Some(from), Some(to)) = (bar(edge.from), bar(edge.to)) else { continue };
            let points = self.way(from, to, index, between[&ends(edge)] > 1, bars);
            if Rect::from_points(&points).expand(SIDE).intersects(self.plot) {
                ways.push(Way { index, edge, points });
            }
        }
        ways
    }

    /// The path of an edge: straight, or a bow if something else of the session is in between or it is not the only one
    /// between two transactions.
    fn way(&self, from: Rect, to: Rect, index: usize, has_twin: bool, bars: &[Bar]) -> Vec<Pos2> {
        // Parallel edges start and end next to each other.
        let shift = (index as f32 * 0.37).fract();
        if (from.center().y - to.center().y).abs() >= 1.0 {
            let down = to.center().y > from.center().y;
            let end = |bar: Rect, bottom: bool| {
                let x = bar.center().x + (shift - 0.5) * bar.width().min(60.0) * 0.7;
                pos2(x, if bottom { bar.bottom() } else { bar.top() })
            };
            let (a, b) = (end(from, down), end(to, !down));
            // To its right, so that an edge back is on the other side.
            return match has_twin {
                true => bow(a, b, (b - a).normalized().rot90() * (10.0 + 14.0 * shift)),
                false => vec![a, b],
            };
        }
        let forward = from.center().x < to.center().x;
        let (a, b) = match forward {
            true => (from.right_center(), to.left_center()),
            false => (from.left_center(), to.right_center()),
        };
        let gap = Rect::from_two_pos(a, b).expand2(vec2(-1.0, 1.0));
        let is_free = !has_twin && !bars.iter().any(|bar| bar.area.intersects(gap));
        if is_free && (b.x - a.x).abs() > STRAIGHT {
            return vec![a, b];
        }
        // In the free space of the lane: above, and below on the way back.
        let (a, b, up) = match forward {
            true => (from.right_top(), to.left_top(), -1.0),
            false => (from.left_bottom(), to.right_bottom(), 1.0),
        };
        let inwards = |bar: Rect| -up * bar.width().min(20.0) / 2.0;
        let room = ((self.view.lane - from.height()) / 2.0).clamp(8.0, 30.0);
        let (a, b) = (a - vec2(inwards(from), 0.0), b + vec2(inwards(to), 0.0));
        bow(a, b, vec2(0.0, up * room * (0.7 + 0.3 * shift)))
    }
}

/// A visible edge.
struct Way<'a> {
    /// Its index among the edges of the anomaly.
    index: usize,
    edge: &'a Edge,
    points: Vec<Pos2>,
}

/// Whether a segment of an edge crosses an area.
fn crosses(area: Rect, ends: &[Pos2]) -> bool {
    let (a, b) = (ends[0], ends[1]);
    if !Rect::from_two_pos(a, b).intersects(area) {
        return false;
    }
    let side = |corner: Pos2| (b - a).rot90().dot(corner - a);
    let sides = [area.left_top(), area.right_top(), area.left_bottom(), area.right_bottom()].map(side);
    sides.iter().any(|side| *side <= 0.0) && sides.iter().any(|side| *side >= 0.0)
}

/// A bow from one point to another, this far to the side in the middle.
fn bow(from: Pos2, to: Pos2, aside: Vec2) -> Vec<Pos2> {
    // A cubic curve comes three quarters of the way to its control points.
    let up = aside / 0.75;
    let curve =
        CubicBezierShape::from_points_stroke([from, from + up, to + up, to], false, Color32::TRANSPARENT, Stroke::NONE);
    (0..=BOW).map(|n| curve.sample(n as f32 / BOW as f32)).collect()
}

/// Length of a path.
fn length(way: &[Pos2]) -> f32 {
    way.windows(2).map(|ends| ends[0].distance(ends[1])).sum()
}

/// The point of a path at a fraction of its length.
fn along(way: &[Pos2], share: f32) -> Pos2 {
    let mut left = length(way) * share;
    for ends in way.windows(2) {
        let step = ends[0].distance(ends[1]);
        if left <= step && step > 0.0 {
            return ends[0].lerp(ends[1], left / step);
        }
        left -= step;
    }
    way.last().copied().unwrap_or_default()
}

/// The occupied space, by cells, so that looking for room costs the same however much is visible.
struct Room {
    plot: Rect,
    cells: HashMap<(i32, i32), Vec<Rect>>,
}

impl Room {
    fn of(plot: Rect, taken: impl Iterator<Item = Rect>) -> Room {
        let mut room = Room { plot, cells: HashMap::new() };
        taken.for_each(|area| room.take(area));
        room
    }

    /// The visible cells that an area touches.
    fn cells(&self, area: Rect) -> impl Iterator<Item = (i32, i32)> + use<> {
        let area = area.intersect(self.plot);
        let cell = |at: Pos2| ((at.x / CELL.x).floor() as i32, (at.y / CELL.y).floor() as i32);
        let (from, to) = (cell(area.min), cell(area.max));
        let is_seen = area.is_positive();
        (from.0..=to.0).flat_map(move |x| (from.1..=to.1).map(move |y| (x, y))).filter(move |_| is_seen)
    }

    fn take(&mut self, area: Rect) {
        for cell in self.cells(area) {
            self.cells.entry(cell).or_default().push(area);
        }
    }

    fn is_free(&self, area: Rect) -> bool {
        let taken = self.cells(area).filter_map(|cell| self.cells.get(&cell)).flatten();
        !taken.into_iter().any(|other| other.intersects(area))
    }
}

/// A straight arrow.
pub(in crate::app) fn arrow(painter: &Painter, from: Pos2, to: Pos2, stroke: Stroke, dash: &[f32]) {
    arrow_along(painter, &[from, to], stroke, dash);
}

/// An arrow along a path.
fn arrow_along(painter: &Painter, way: &[Pos2], stroke: Stroke, dash: &[f32]) {
    let [.., tip] = *way else { return };
    // The line ends where the head begins.
    let is_before_head = |point: &Pos2| point.distance(tip) > HEAD;
    let n = way.iter().rposition(is_before_head).map_or(1, |last| last + 1);
    let to_tip = tip - way[n - 1];
    let direction = if to_tip.length() > 0.1 { to_tip.normalized() } else { Vec2::DOWN };
    let end = tip - direction * HEAD;
    let line: Vec<Pos2> = way[..n].iter().copied().chain([end]).collect();
    match dash.is_empty() {
        true => drop(painter.line(line, stroke)),
        false => {
            let lengths: Vec<f32> = dash.iter().copied().step_by(2).collect();
            let gaps: Vec<f32> = dash.iter().copied().skip(1).step_by(2).collect();
            painter.extend(Shape::dashed_line_with_offset(&line, stroke, &lengths, &gaps, 0.0));
        }
    }
    let side = direction.rot90() * SIDE;
    painter.add(Shape::convex_polygon(vec![tip, end + side, end - side], stroke.color, Stroke::NONE));
}

/// A label on a line, with its own background.
pub(in crate::app) fn label(painter: &Painter, at: Pos2, text: &str, colour: Color32, palette: &Palette) -> Rect {
    let galley = painter.layout_no_wrap(text.to_owned(), FontId::monospace(style::CODE - 2.0), colour);
    let ground = Rect::from_center_size(at, galley.size() + vec2(8.0, 3.0));
    painter.rect(ground, CornerRadius::same(4), palette.ground, Stroke::new(1.0, colour), StrokeKind::Inside);
    painter.galley(ground.min + vec2(4.0, 1.5), galley, colour);
    ground
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bow_rises_and_comes_down() {
        let way = bow(pos2(10.0, 50.0), pos2(90.0, 50.0), vec2(0.0, -20.0));
        assert_eq!((way[0], way[BOW]), (pos2(10.0, 50.0), pos2(90.0, 50.0)));
        let top = along(&way, 0.5);
        assert!((top - pos2(50.0, 30.0)).length() < 0.5, "{top}");
        assert!(length(&way) > 80.0 && along(&way, 1.0).distance(way[BOW]) < 0.01);
        assert_eq!(along(&[pos2(0.0, 0.0), pos2(10.0, 0.0)], 0.25), pos2(2.5, 0.0));
    }

    #[test]
    fn only_what_passes_through_an_area_crosses_it() {
        let area = Rect::from_min_size(pos2(10.0, 10.0), vec2(20.0, 10.0));
        let crosses = |a: (f32, f32), b: (f32, f32)| crosses(area, &[pos2(a.0, a.1), pos2(b.0, b.1)]);
        assert!(crosses((0.0, 0.0), (40.0, 30.0)) && crosses((15.0, 12.0), (16.0, 13.0)));
        assert!(!crosses((0.0, 18.0), (14.0, 32.0)) && !crosses((40.0, 0.0), (40.0, 30.0)));
    }

    #[test]
    fn room_is_where_nothing_stands() {
        let plot = Rect::from_min_size(Pos2::ZERO, vec2(1000.0, 500.0));
        let bar = Rect::from_min_size(pos2(100.0, 100.0), vec2(700.0, 24.0));
        let mut room = Room::of(plot, [bar, Rect::from_min_size(pos2(5e5, 0.0), vec2(1e6, 24.0))].into_iter());
        let label = |x, y| Rect::from_center_size(pos2(x, y), vec2(60.0, 16.0));
        assert!(!room.is_free(label(400.0, 110.0)) && !room.is_free(label(90.0, 118.0)));
        assert!(room.is_free(label(400.0, 150.0)) && room.is_free(label(900.0, 110.0)));
        room.take(label(400.0, 150.0));
        assert!(!room.is_free(label(430.0, 155.0)) && room.is_free(label(480.0, 155.0)));
    }
}
