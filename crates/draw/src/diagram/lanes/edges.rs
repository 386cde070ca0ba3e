//! The edges of the anomaly between the lanes, with their labels.

use super::{Bar, Lanes};
use crate::diagram::layout::label_size;
use crate::diagram::path::{Path, Segment, along, chord_enters, length};
use crate::diagram::scene::Scene;
use crate::diagram::{Arrow, Target};
use emath::{Pos2, Rect, Vec2, pos2, vec2};
use isoscope_model::history::TransactionId;
use std::collections::HashMap;

/// Half the width of an arrow head, in points.
const SIDE: f32 = 4.5;
/// Length of an arrow head with some line behind it, in points.
const HEAD: f32 = 13.0;
/// Room between two places of an order, as a share of a place.
const APART: f32 = 0.2;
/// Longer edges between two transactions of a session are straight, in points.
const STRAIGHT: f32 = 50.0;
/// Shorter edges have no label, in points.
const LABELLED: f32 = 36.0;
/// With more visible edges than this, labels may overlap other edges.
const FEW: usize = 60;
/// Number of segments of a bow.
const BOW: usize = 24;
/// Maximum number of visible labels: more cannot be read.
const LABELS: usize = 100;

/// A visible edge.
pub(super) struct Way<'a> {
    /// Its index among the edges of the anomaly.
    index: usize,
    pub(super) arrow: &'a Arrow,
    pub(super) path: Path,
    points: Vec<Pos2>,
}

impl Way<'_> {
    pub(super) fn target(&self) -> Option<Target> {
        Some(Target::Edge(self.index))
    }
}

impl Lanes<'_> {
    /// Draws the labels of edges.
    pub(super) fn draw_labels(&self, scene: &mut Scene, ways: &[Way<'_>], bars: &[Bar]) {
        let mut taken: Vec<Rect> = bars.iter().map(|bar| bar.area).collect();
        for Way {
            index,
            arrow,
            points,
            ..
        } in ways
            .iter()
            .filter(|way| length(&way.points) > LABELLED)
            .take(LABELS)
        {
            // Keys and values are in the boxes, and near the pointer.
            let brief = Arrow {
                label: arrow.relation.code().to_owned(),
                ..(*arrow).clone()
            };
            let arrow = match self.shown.timeline.is_order {
                true => *arrow,
                false => &brief,
            };
            let size = label_size(arrow);
            let places =
                [0.5, 0.38, 0.62, 0.27, 0.73, 0.18, 0.82].map(|share| along(points, share));
            let areas = places.map(|at| Rect::from_center_size(at, size));
            // Where it covers neither a transaction nor another label, and preferably no other edge.
            let is_free = |area: &&Rect| !taken.iter().any(|other| other.intersects(**area));
            let is_order = self.shown.timeline.is_order;
            let is_alone = |area: &&Rect| {
                let mut others = ways
                    .iter()
                    .filter(|way| way.index != *index)
                    .flat_map(|way| way.points.windows(2));
                (ways.len() > FEW && !is_order)
                    || !others.any(|ends| chord_enters(**area, ends[0], ends[1]))
            };
            // Short edges have it to one side.
            let aside =
                [-1.0, 1.0].map(|side| areas[0].translate(vec2(side * (size.x / 2.0 + SIDE), 0.0)));
            let is_seen = |area: &&Rect| self.plot.contains_rect(**area);
            let alone = areas
                .iter()
                .chain(aside.iter().filter(is_seen))
                .filter(is_free)
                .find(is_alone);
            let free = alone.or_else(|| areas.iter().find(is_free));
            let in_between = || {
                Rect::from_center_size(
                    along(points, 0.35 + (*index as f32 * 0.19).fract() * 0.3),
                    size,
                )
            };
            // An order has as many edges as reads: a label over another edge would hide both, and pointing at an edge tells.
            let area = match if is_order { alone } else { free } {
                Some(area) => *area,
                None if is_order => continue,
                None => in_between(),
            };
            taken.push(area);
            scene.label(area, arrow, Some(Target::Edge(*index)));
        }
    }

    /// The visible edges: invisible ones cost nothing more.
    pub(super) fn ways(&self, bars: &[Bar]) -> Vec<Way<'_>> {
        let Some(anomaly) = &self.shown.anomaly else {
            return Vec::new();
        };
        // Edges that say the same between the same ends are drawn once.
        let ends_of = |index: usize| anomaly.edges.get(index).map(|edge| (edge.from, edge.to));
        let edges = || {
            anomaly.arrows.iter().flat_map(move |arrow| {
                let others = arrow
                    .also
                    .iter()
                    .filter(move |also| ends_of(**also) != ends_of(arrow.edge));
                let all = std::iter::once(&arrow.edge).chain(others);
                all.filter_map(move |&index| Some((index, *arrow, anomaly.edges.get(index)?)))
            })
        };
        // Number of edges between two transactions.
        let mut between: HashMap<(TransactionId, TransactionId), usize> = HashMap::new();
        let pair = |(from, to): (TransactionId, TransactionId)| (from.min(to), from.max(to));
        edges()
            .for_each(|(_, _, edge)| *between.entry(pair((edge.from, edge.to))).or_default() += 1);
        let area = |t| self.area_of(anomaly.renaming.old_transaction(t));
        let placed = edges().filter_map(|(index, arrow, edge)| {
            let has_twin = between[&pair((edge.from, edge.to))] > 1;
            Some((index, arrow, has_twin, (area(edge.from)?, area(edge.to)?)))
        });
        let placed: Vec<_> = placed.collect();
        let ends = placed.iter().map(|(.., ends)| *ends);
        let shifts = if self.shown.timeline.is_order {
            shifts_in_order(ends)
        } else {
            shifts(ends)
        };
        let mut ways = Vec::new();
        for (&(index, arrow, has_twin, ends), shifts) in placed.iter().zip(shifts) {
            let path = self.way(ends, shifts, has_twin, bars);
            if path.bounds().expand(SIDE).intersects(self.plot) {
                ways.push(Way {
                    index,
                    arrow,
                    points: path.flatten(BOW),
                    path,
                });
            }
        }
        ways
    }

    /// The path of an edge: level and upright pieces to another lane; within one straight, or a bow if something else of
    /// the session is in between or it is not the only one between two transactions.
    fn way(&self, (from, to): (Rect, Rect), shifts: Shifts, has_twin: bool, bars: &[Bar]) -> Path {
        if (from.center().y - to.center().y).abs() >= 1.0 && !self.shown.timeline.is_order {
            let down = to.center().y > from.center().y;
            let end = |bar: Rect, shift: f32, bottom: bool| {
                let x = bar.center().x + (shift - 0.5) * bar.width().min(60.0) * 0.8;
                pos2(x, if bottom { bar.bottom() } else { bar.top() })
            };
            let (mut a, mut b) = (end(from, shifts.start, down), end(to, shifts.end, !down));
            // Of two that ran at the same time, the one may have acted before the other.
            if a.x > b.x && from.left() < to.right() {
                a.x = b.x.max(from.left() + 1.0);
                b.x = a.x;
            }
            // Out of its lane, level in the free space next to the lane of the reader, and in.
            let room = (self.own - to.height()).max(6.0);
            let aside = HEAD.min(room * 0.6) + (room / 2.0 - HEAD).max(room * 0.3) * shifts.level;
            let y = b.y + if down { -aside } else { aside };
            return Path::rounded(&[a, pos2(a.x, y), pos2(b.x, y), b], 6.0);
        }
        let forward = from.center().x < to.center().x;
        if self.shown.timeline.is_order && forward {
            return self.stepped(from, to, shifts, bars);
        }
        let (a, b) = if forward {
            (from.right_center(), to.left_center())
        } else {
            (from.left_center(), to.right_center())
        };
        let gap = Rect::from_two_pos(a, b).expand2(vec2(-1.0, 1.0));
        let is_free = !has_twin && !bars.iter().any(|bar| bar.area.intersects(gap));
        if is_free && (b.x - a.x).abs() > STRAIGHT {
            return Path::line(a, b);
        }
        // In the free space of the lane: above, and below on the way back.
        let (a, b, up) = if forward {
            (from.right_top(), to.left_top(), -1.0)
        } else {
            (from.left_bottom(), to.right_bottom(), 1.0)
        };
        let inwards = |bar: Rect| -up * bar.width().min(20.0) / 2.0;
        let room = ((self.own - from.height()) / 2.0 - 12.0).clamp(8.0, 24.0);
        let (a, b) = (a - vec2(inwards(from), 0.0), b + vec2(inwards(to), 0.0));
        bow(a, b, vec2(0.0, up * room * (0.7 + 0.3 * shifts.level)))
    }

    /// In an order each transaction has a place of its own: behind that of the writer down or up, between two lanes to
    /// the reader, and in where it starts. Only what overlaps it can be in the way.
    fn stepped(&self, from: Rect, to: Rect, shifts: Shifts, bars: &[Bar]) -> Path {
        let (a, b) = (from.right_center(), to.left_center());
        let between = Rect::from_two_pos(a, b).expand2(vec2(-1.0, 1.0));
        if (a.y - b.y).abs() < 1.0 && !bars.iter().any(|bar| bar.area.intersects(between)) {
            return Path::line(a, b);
        }
        let x = a.x + self.view.zoom as f32 * APART * (0.2 + 0.6 * shifts.start);
        let start = a + vec2(0.0, (shifts.start - 0.5) * from.height() * 0.5);
        let (side, edge) = if to.center().y >= from.center().y {
            (-1.0, to.top())
        } else {
            (1.0, to.bottom())
        };
        let room = (self.lane - to.height()) / 2.0 - HEAD;
        let y = edge + side * (HEAD + room * (0.2 + 0.7 * shifts.level));
        let end = pos2(
            to.left() + 7.0 + shifts.end * (to.width().min(50.0) - 14.0),
            edge,
        );
        Path::rounded(
            &[start, pos2(x, start.y), pos2(x, y), pos2(end.x, y), end],
            6.0,
        )
    }
}

/// Where the pieces of an edge are among those of others in the same place, from 0 to 1.
#[derive(Clone, Copy)]
struct Shifts {
    start: f32,
    end: f32,
    level: f32,
}

/// Gives each edge its own share of the places in which edges run: those that start or end one above the other, and those
/// that run level next to the same lane.
fn shifts(ends: impl Iterator<Item = (Rect, Rect)> + Clone) -> Vec<Shifts> {
    let column = |bar: Rect| bar.center().x.round() as i64;
    let row = |from: Rect, to: Rect| {
        (
            to.center().y.round() as i64,
            to.center().y >= from.center().y,
        )
    };
    // How many there are, and how many have their share.
    let mut columns: HashMap<i64, (f32, f32)> = HashMap::new();
    let mut rows: HashMap<(i64, bool), (f32, f32)> = HashMap::new();
    for (from, to) in ends.clone() {
        columns.entry(column(from)).or_default().0 += 1.0;
        columns.entry(column(to)).or_default().0 += 1.0;
        rows.entry(row(from, to)).or_default().0 += 1.0;
    }
    let next = |(n, taken): &mut (f32, f32)| {
        *taken += 1.0;
        (*taken - 0.5) / n.max(1.0)
    };
    let shares = ends.map(|(from, to)| Shifts {
        start: next(columns.entry(column(from)).or_default()),
        end: next(columns.entry(column(to)).or_default()),
        level: next(rows.entry(row(from, to)).or_default()),
    });
    shares.collect()
}

/// Shifts of edges in an order, which leave on the right and arrive above or below: those that leave one column, those that
/// arrive in one, and those that run level at the same time next to the same lane have shares of their own.
fn shifts_in_order(ends: impl Iterator<Item = (Rect, Rect)> + Clone) -> Vec<Shifts> {
    let column = |bar: Rect| bar.center().x.round() as i64;
    let places = |of: fn((Rect, Rect)) -> Rect| {
        let mut taken: HashMap<i64, Vec<usize>> = HashMap::new();
        ends.clone()
            .enumerate()
            .for_each(|(edge, ends)| taken.entry(column(of(ends))).or_default().push(edge));
        taken
    };
    let share = |edges: &[usize], edge: usize| {
        let at = edges.iter().position(|other| *other == edge).unwrap_or(0);
        (at as f32 + 0.5) / edges.len() as f32
    };
    let (starts, arrivals) = (places(|ends| ends.0), places(|ends| ends.1));
    let all = ends.clone().zip(levels(ends)).enumerate();
    let shift = |(edge, ((from, to), level)): (usize, ((Rect, Rect), f32))| Shifts {
        start: share(&starts[&column(from)], edge),
        end: share(&arrivals[&column(to)], edge),
        level,
    };
    all.map(shift).collect()
}

/// By edge, how near to the lane of its end it runs level, from 0 to 1: two that are above each other have different levels,
/// and there are no more levels than that takes.
fn levels(ends: impl Iterator<Item = (Rect, Rect)>) -> Vec<f32> {
    let ends: Vec<(Rect, Rect)> = ends.collect();
    let row = |(from, to): (Rect, Rect)| {
        (
            to.center().y.round() as i64,
            to.center().y >= from.center().y,
        )
    };
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by(|a, b| ends[*a].0.left().total_cmp(&ends[*b].0.left()));
    // By row and level: where the last edge on it ends.
    let mut tracks: HashMap<(i64, bool), Vec<f32>> = HashMap::new();
    let mut track_of = vec![0; ends.len()];
    for edge in order {
        let (from, to) = ends[edge];
        let tracks = tracks.entry(row(ends[edge])).or_default();
        let free = tracks
            .iter()
            .position(|end| *end < from.right())
            .unwrap_or(tracks.len());
        tracks.resize(tracks.len().max(free + 1), f32::NEG_INFINITY);
        tracks[free] = to.right();
        track_of[edge] = free;
    }
    let level = |(edge, track): (usize, usize)| {
        (track as f32 + 0.5) / tracks[&row(ends[edge])].len() as f32
    };
    track_of.into_iter().enumerate().map(level).collect()
}

/// A bow from one point to another, this far to the side in the middle.
fn bow(from: Pos2, to: Pos2, aside: Vec2) -> Path {
    // A cubic curve comes three quarters of the way to its control points.
    let up = aside / 0.75;
    Path {
        start: from,
        segments: vec![Segment::Cubic(from + up, to + up, to)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_in_one_place_are_side_by_side() {
        let bar = |x: f32, y: f32| Rect::from_center_size(pos2(x, y), vec2(20.0, 10.0));
        // Two writers in one column, both read in another lane.
        let ends = [
            (bar(10.0, 10.0), bar(90.0, 90.0)),
            (bar(10.0, 50.0), bar(90.0, 90.0)),
        ];
        let [a, b] = shifts(ends.into_iter())[..] else {
            panic!("one for each edge")
        };
        for (a, b) in [(a.start, b.start), (a.end, b.end), (a.level, b.level)] {
            assert_eq!((a, b), (0.25, 0.75));
        }
    }

    #[test]
    fn only_edges_of_an_order_that_are_above_each_other_have_different_levels() {
        let bar = |x: f32, y: f32| Rect::from_center_size(pos2(x, y), vec2(20.0, 10.0));
        let to = |from: f32, to: f32| (bar(from, 10.0), bar(to, 90.0));
        assert_eq!(
            levels([to(10.0, 90.0), to(50.0, 130.0), to(170.0, 300.0)].into_iter()),
            [0.25, 0.75, 0.25]
        );
        // Only one leaves each column, whatever arrives there.
        let shifts = shifts_in_order([to(10.0, 90.0), to(90.0, 130.0)].into_iter());
        assert!(
            shifts
                .iter()
                .all(|shifts| shifts.start == 0.5 && shifts.end == 0.5)
        );
    }

    #[test]
    fn a_bow_rises_and_comes_down() {
        let way = bow(pos2(10.0, 50.0), pos2(90.0, 50.0), vec2(0.0, -20.0)).flatten(BOW);
        assert_eq!((way[0], way[BOW]), (pos2(10.0, 50.0), pos2(90.0, 50.0)));
        let top = along(&way, 0.5);
        assert!((top - pos2(50.0, 30.0)).length() < 0.5, "{top}");
        assert!(length(&way) > 80.0 && along(&way, 1.0).distance(way[BOW]) < 0.01);
        assert_eq!(
            along(&[pos2(0.0, 0.0), pos2(10.0, 0.0)], 0.25),
            pos2(2.5, 0.0)
        );
    }
}
