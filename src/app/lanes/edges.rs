//! The edges of the anomaly between the lanes, with their labels.

use super::super::style::{self, Palette};
use super::frame::{Bar, Frame};
use crate::diagram::theme::dash;
use egui::{Color32, CornerRadius, FontId, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2, pos2, vec2};
use std::collections::HashMap;

/// Half the width of an arrow head, in points.
const SIDE: f32 = 4.0;
/// Most labels in sight: more of them cannot be read.
const LABELS: usize = 200;
/// Width and height of a cell of [`Room`], in points.
const CELL: Vec2 = vec2(64.0, 24.0);

impl Frame<'_> {
    /// Draws the edges of the anomaly and returns where they are.
    pub(super) fn draw_edges(&self, painter: &Painter, bars: &[Bar]) -> Vec<(usize, Pos2, Pos2)> {
        let Some(picture) = self.input.picture() else { return Vec::new() };
        let example = &picture.argument.counterexample;
        let mut drawn = Vec::new();
        let mut room = Room::of(self.plot, bars.iter().map(|bar| bar.area));
        let mut n_labels = 0;
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
            // What is out of sight costs nothing more.
            if !Rect::from_two_pos(a, b).expand(SIDE).intersects(self.plot) {
                continue;
            }
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
            if (b - a).length() > 50.0 && n_labels < LABELS {
                n_labels += 1;
                let size = vec2(text.chars().count() as f32 * 6.6 + 8.0, 16.0);
                let places = [0.5, 0.38, 0.62, 0.27, 0.73, 0.18, 0.82].map(|t| a + (b - a) * t);
                // Where it covers neither a transaction nor another label.
                let free = places.into_iter().find(|at| room.is_free(Rect::from_center_size(*at, size)));
                let at = free.unwrap_or(a + (b - a) * (0.35 + (index as f32 * 0.19).fract() * 0.3));
                room.take(label(painter, at, &text, colour, &self.palette));
            }
            drawn.push((index, a, b));
        }
        drawn
    }
}

/// What is taken already, by cells, so that looking for room costs the same however much is in sight.
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

    /// The cells that an area touches, as far as they are in sight.
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
