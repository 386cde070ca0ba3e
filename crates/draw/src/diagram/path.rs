//! Lines with rounded corners and curves, and the geometry needed for hit tests and label placement.

use emath::{Pos2, Rect, Vec2};

/// A piece of a [`Path`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Segment {
    /// A straight line to a point.
    Line(Pos2),
    /// A quadratic Bézier curve: control point, end.
    Quadratic(Pos2, Pos2),
    /// A cubic Bézier curve: two control points, end.
    Cubic(Pos2, Pos2, Pos2),
}

impl Segment {
    /// Where it ends.
    pub fn end(&self) -> Pos2 {
        match *self {
            Segment::Line(end) | Segment::Quadratic(_, end) | Segment::Cubic(_, _, end) => end,
        }
    }

    /// The same piece with its points mapped.
    pub fn map(&self, at: impl Fn(Pos2) -> Pos2) -> Segment {
        match *self {
            Segment::Line(a) => Segment::Line(at(a)),
            Segment::Quadratic(a, b) => Segment::Quadratic(at(a), at(b)),
            Segment::Cubic(a, b, c) => Segment::Cubic(at(a), at(b), at(c)),
        }
    }
}

/// A connected line.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Where it starts.
    pub start: Pos2,
    /// Its pieces, each starting where the one before ends.
    pub segments: Vec<Segment>,
}

impl Path {
    /// The straight line between two points.
    pub fn line(from: Pos2, to: Pos2) -> Path {
        Path {
            start: from,
            segments: vec![Segment::Line(to)],
        }
    }

    /// The line through `points` with corners rounded by `radius`, less if a side is too short for it. No points give
    /// an empty path at the origin.
    pub fn rounded(points: &[Pos2], radius: f32) -> Path {
        let Some((&start, rest)) = points.split_first() else {
            return Path {
                start: Pos2::ZERO,
                segments: Vec::new(),
            };
        };
        let mut segments = Vec::with_capacity(2 * rest.len());
        for corner in points.windows(3) {
            let (before, at, after) = (corner[0] - corner[1], corner[1], corner[2] - corner[1]);
            let radius = radius.min(before.length() / 2.0).min(after.length() / 2.0);
            if radius < 0.05 {
                segments.push(Segment::Line(at));
                continue;
            }
            segments.push(Segment::Line(at + before.normalized() * radius));
            segments.push(Segment::Quadratic(at, at + after.normalized() * radius));
        }
        segments.extend(rest.last().map(|&end| Segment::Line(end)));
        Path { start, segments }
    }

    /// Where it ends.
    pub fn end(&self) -> Pos2 {
        self.segments.last().map_or(self.start, Segment::end)
    }

    /// The path as points; curves are cut into `steps` chords each.
    pub fn flatten(&self, steps: usize) -> Vec<Pos2> {
        let mut points = vec![self.start];
        let mut at = self.start;
        for segment in &self.segments {
            match *segment {
                Segment::Line(end) => points.push(end),
                Segment::Quadratic(c, end) => points.extend((1..=steps).map(|i| {
                    let t = i as f32 / steps as f32;
                    at.lerp(c, t).lerp(c.lerp(end, t), t)
                })),
                Segment::Cubic(c, d, end) => points.extend((1..=steps).map(|i| {
                    let t = i as f32 / steps as f32;
                    let (p, q, r) = (at.lerp(c, t), c.lerp(d, t), d.lerp(end, t));
                    p.lerp(q, t).lerp(q.lerp(r, t), t)
                })),
            }
            at = segment.end();
        }
        points
    }

    /// The direction in which it arrives, of length 1; down when it has no length.
    pub fn arrival(&self) -> Vec2 {
        let points = self.flatten(8);
        let end = self.end();
        let before = points.iter().rev().find(|p| (**p - end).length() > 0.01);
        before.map_or(Vec2::new(0.0, 1.0), |p| (end - *p).normalized())
    }

    /// The same path moved by `by`.
    pub fn translated(&self, by: Vec2) -> Path {
        self.map(|p| p + by)
    }

    /// The same path with its points mapped.
    pub fn map(&self, at: impl Fn(Pos2) -> Pos2) -> Path {
        let segments = self.segments.iter().map(|segment| segment.map(&at));
        Path {
            start: at(self.start),
            segments: segments.collect(),
        }
    }

    /// The smallest rectangle around it (for curves, around their control points).
    pub fn bounds(&self) -> Rect {
        let mut bounds = Rect::from_min_max(self.start, self.start);
        for segment in &self.segments {
            match *segment {
                Segment::Line(a) => bounds.extend_with(a),
                Segment::Quadratic(a, b) => [a, b].into_iter().for_each(|p| bounds.extend_with(p)),
                Segment::Cubic(a, b, c) => {
                    [a, b, c].into_iter().for_each(|p| bounds.extend_with(p))
                }
            }
        }
        bounds
    }
}

/// Distance of a point from the chord between `a` and `b`.
pub fn distance_to_chord(point: Pos2, a: Pos2, b: Pos2) -> f32 {
    let (along, to) = (b - a, point - a);
    let length = along.length_sq();
    let t = if length > 0.0 {
        (to.dot(along) / length).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (a + along * t - point).length()
}

/// Distance of a point from a line of points; infinite when there are none.
pub fn distance_to_line(point: Pos2, points: &[Pos2]) -> f32 {
    match points {
        [] => f32::INFINITY,
        [only] => (*only - point).length(),
        _ => points
            .windows(2)
            .map(|w| distance_to_chord(point, w[0], w[1]))
            .fold(f32::INFINITY, f32::min),
    }
}

/// Length of a line of points.
pub fn length(points: &[Pos2]) -> f32 {
    points
        .windows(2)
        .map(|ends| ends[0].distance(ends[1]))
        .sum()
}

/// The point of a line of points at a fraction of its length; the origin when there are no points.
pub fn along(points: &[Pos2], share: f32) -> Pos2 {
    let mut left = length(points) * share;
    for ends in points.windows(2) {
        let step = ends[0].distance(ends[1]);
        if left <= step && step > 0.0 {
            return ends[0].lerp(ends[1], left / step);
        }
        left -= step;
    }
    points.last().copied().unwrap_or_default()
}

/// Whether the chord between `a` and `b` has a point strictly inside `rect` (Liang & Barsky 1984).
pub fn chord_enters(rect: Rect, a: Pos2, b: Pos2) -> bool {
    let along = b - a;
    let (mut enter, mut leave) = (0.0_f32, 1.0_f32);
    let sides = [
        (-along.x, a.x - rect.min.x),
        (along.x, rect.max.x - a.x),
        (-along.y, a.y - rect.min.y),
        (along.y, rect.max.y - a.y),
    ];
    for (rate, room) in sides {
        if rate == 0.0 {
            if room <= 0.0 {
                return false;
            }
        } else if rate < 0.0 {
            enter = enter.max(room / rate);
        } else {
            leave = leave.min(room / rate);
        }
    }
    enter < leave || (enter == leave && along.length_sq() == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use emath::pos2;

    #[test]
    fn rounding_keeps_ends_and_touches_no_corner() {
        let points = [pos2(0.0, 0.0), pos2(100.0, 0.0), pos2(100.0, 50.0)];
        let path = Path::rounded(&points, 6.0);
        assert_eq!((path.start, path.end()), (points[0], points[2]));
        assert_eq!(path.arrival(), Vec2::new(0.0, 1.0));
        assert!(!path.flatten(4).contains(&points[1]));
        assert!(Path::rounded(&[], 6.0).segments.is_empty());
    }

    #[test]
    fn chords_along_a_border_do_not_enter() {
        let rect = Rect::from_min_max(pos2(0.0, 0.0), pos2(10.0, 10.0));
        assert!(chord_enters(rect, pos2(-5.0, 5.0), pos2(15.0, 5.0)));
        assert!(chord_enters(rect, pos2(5.0, 5.0), pos2(6.0, 5.0)));
        assert!(!chord_enters(rect, pos2(-5.0, 0.0), pos2(15.0, 0.0)));
        assert!(!chord_enters(rect, pos2(-5.0, 5.0), pos2(0.0, 5.0)));
        assert!(!chord_enters(rect, pos2(-5.0, 12.0), pos2(12.0, 30.0)));
    }
}
