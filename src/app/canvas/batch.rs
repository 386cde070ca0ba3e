//! Very many blocks and thin lines as one mesh: the picture from afar and the overview map.
//!
//! egui tessellates every shape in every frame. Tens of thousands of lines are tessellated once instead, and kept until
//! they look different.

use egui::epaint::WHITE_UV;
use egui::epaint::{Mesh, Vertex};
use egui::{Color32, Pos2, Rect, Vec2};

/// A corner nearer than this to the way past it is left out, in points.
const STRAIGHT: f32 = 0.35;

/// A mesh under construction.
pub(super) struct Batch {
    mesh: Mesh,
    /// Pieces of a line shorter than this are joined, in points.
    shortest: f32,
}

impl Batch {
    /// An empty mesh, whose lines have no detail shorter than `shortest` points.
    pub(super) fn with_detail(shortest: f32) -> Batch {
        Batch {
            mesh: Mesh::default(),
            shortest,
        }
    }

    /// A filled rectangle.
    pub(super) fn block(&mut self, area: Rect, colour: Color32) {
        self.mesh.add_colored_rect(area, colour);
    }

    /// A line about as wide as a pixel, with soft sides.
    pub(super) fn line(
        &mut self,
        points: impl IntoIterator<Item = Pos2>,
        width: f32,
        colour: Color32,
    ) {
        let mut points = points.into_iter().peekable();
        let Some(mut from) = points.next() else {
            return;
        };
        while let Some(to) = points.next() {
            let is_detail = |next: &Pos2| {
                from.distance(to) < self.shortest || distance(to, (from, *next)) < STRAIGHT
            };
            if points.peek().is_some_and(is_detail) {
                continue;
            }
            self.piece(from, to, (width + 1.0) / 2.0, colour);
            from = to;
        }
    }

    /// Full colour along the middle, none at both sides.
    fn piece(&mut self, from: Pos2, to: Pos2, half: f32, colour: Color32) {
        let side: Vec2 = (to - from).normalized().rot90() * half;
        let first = self.mesh.vertices.len() as u32;
        for end in [from, to] {
            for (at, color) in [
                (end - side, Color32::TRANSPARENT),
                (end, colour),
                (end + side, Color32::TRANSPARENT),
            ] {
                self.mesh.vertices.push(Vertex {
                    pos: at,
                    uv: WHITE_UV,
                    color,
                });
            }
        }
        for near in [first, first + 1] {
            self.mesh.add_triangle(near, near + 1, near + 3);
            self.mesh.add_triangle(near + 1, near + 3, near + 4);
        }
    }

    /// The mesh of everything added.
    pub(super) fn mesh(self) -> Mesh {
        self.mesh
    }
}

/// How far a point is from a piece of a line.
fn distance(at: Pos2, (from, to): (Pos2, Pos2)) -> f32 {
    let way = to - from;
    let along = ((at - from).dot(way) / way.length_sq().max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
    at.distance(from + way * along)
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;

    #[test]
    fn a_line_covers_its_way_and_is_as_wide_as_asked() {
        let mut batch = Batch::with_detail(1.0);
        batch.line(
            [
                pos2(0.0, 0.0),
                pos2(10.0, 0.0),
                pos2(10.3, 0.1),
                pos2(10.0, 20.0),
            ],
            1.0,
            Color32::RED,
        );
        let mesh = batch.mesh();
        assert!(mesh.is_valid());
        // Two pieces of six corners: the tiny one in between is part of the first.
        assert_eq!((mesh.vertices.len(), mesh.indices.len()), (12, 24));
        let (bounds, expected) = (
            mesh.calc_bounds(),
            Rect::from_min_max(pos2(0.0, -1.0), pos2(11.0, 20.0)),
        );
        assert!(
            bounds.min.distance(expected.min) < STRAIGHT
                && bounds.max.distance(expected.max) < STRAIGHT
        );
    }

    #[test]
    fn a_line_of_tiny_pieces_still_reaches_its_end() {
        let mut batch = Batch::with_detail(1.0);
        batch.line(
            (0..=30).map(|n| pos2(n as f32 * 0.1, 0.0)),
            1.0,
            Color32::RED,
        );
        batch.block(
            Rect::from_min_max(pos2(1.0, 1.0), pos2(2.0, 2.0)),
            Color32::GREEN,
        );
        let mesh = batch.mesh();
        assert_eq!(mesh.calc_bounds().right(), 3.0);
        assert!(mesh.vertices.len() <= 4 * 6 + 4);
    }

    #[test]
    fn a_line_that_does_not_bend_is_one_piece_however_many_points_it_has() {
        let mut batch = Batch::with_detail(1.0);
        batch.line(
            (0..=9).map(|n| pos2(n as f32 * 10.0, n as f32 * 10.0)),
            1.0,
            Color32::RED,
        );
        assert_eq!(batch.mesh().vertices.len(), 6);
        // One that comes back is not left out.
        let mut batch = Batch::with_detail(1.0);
        batch.line(
            [pos2(0.0, 0.0), pos2(50.0, 0.0), pos2(20.0, 0.0)],
            1.0,
            Color32::RED,
        );
        assert_eq!(batch.mesh().calc_bounds().right(), 50.0);
    }

    #[test]
    fn no_points_are_no_line() {
        let mut batch = Batch::with_detail(1.0);
        batch.line([], 1.0, Color32::RED);
        batch.line([pos2(1.0, 1.0)], 1.0, Color32::RED);
        assert!(batch.mesh().is_empty());
    }
}
