//! Invariants of every layout, checked by tests.

use super::Layout;
use super::labels::Chords;
use crate::diagram::Diagram;
use crate::diagram::path::chord_enters;
use emath::{Pos2, Rect};

/// Something wrong with a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Two cards overlap.
    CardsOverlap(usize, usize),
    /// A label overlaps a card.
    LabelOnCard(usize, usize),
    /// Two labels overlap.
    LabelsOverlap(usize, usize),
    /// A label overlaps the line of another arrow.
    LabelOnLine(usize),
    /// A label is not on its own line.
    LabelOffLine(usize),
    /// An arrow does not start and end on the border of its row or card.
    LooseEnd(usize),
    /// An arrow passes through a card.
    ThroughCard(usize, usize),
    /// Two arrows overlap over some distance.
    LinesOverlap(usize, usize),
    /// Something is outside the bounds, or a number is not finite.
    OutOfBounds,
    /// The numbers of boxes and routes differ from those of cards and arrows, or of rows of a card.
    Incomplete,
}

/// Everything wrong with a layout of a diagram. Empty for every result of [`lanes`](super::lanes). O(edges² + edges ·
/// cards).
pub fn problems(diagram: &Diagram, layout: &Layout) -> Vec<Problem> {
    let complete = layout.cards.len() == diagram.cards.len()
        && layout.routes.len() == diagram.arrows.len()
        && layout
            .cards
            .iter()
            .zip(&diagram.cards)
            .all(|(space, card)| space.rows.len() == card.rows.len());
    if !complete {
        return vec![Problem::Incomplete];
    }
    let mut found = Vec::new();
    let bounds = layout.bounds.expand(0.01);
    let rects = layout
        .cards
        .iter()
        .map(|card| card.rect)
        .chain(layout.lanes.iter().copied());
    let rects = rects.chain(
        layout
            .routes
            .iter()
            .flat_map(|route| [route.label, route.path.bounds()]),
    );
    if !rects
        .into_iter()
        .all(|rect| rect.is_finite() && bounds.contains_rect(rect))
    {
        found.push(Problem::OutOfBounds);
    }
    for (i, a) in layout.cards.iter().enumerate() {
        let others = layout.cards.iter().enumerate().skip(i + 1);
        found.extend(
            others
                .filter(|(_, b)| overlap(a.rect, b.rect))
                .map(|(j, _)| Problem::CardsOverlap(i, j)),
        );
    }
    labels(layout, &mut found);
    lines(diagram, layout, &mut found);
    found
}

/// How often lines of different arrows cross each other. O(edges²).
pub fn crossings(layout: &Layout) -> usize {
    let lines: Vec<(Rect, Vec<Pos2>)> = layout
        .routes
        .iter()
        .map(|route| (route.path.bounds().expand(0.5), route.path.flatten(4)))
        .collect();
    let mut n = 0;
    for (i, (bounds, line)) in lines.iter().enumerate() {
        for (_, other) in lines[i + 1..]
            .iter()
            .filter(|(others, _)| others.intersects(*bounds))
        {
            let pairs = line
                .windows(2)
                .flat_map(|a| other.windows(2).map(move |b| (a, b)));
            n += pairs
                .filter(|(a, b)| cross([a[0], a[1]], [b[0], b[1]]))
                .count();
        }
    }
    n
}

/// Whether two chords cross between their ends.
fn cross(a: [Pos2; 2], b: [Pos2; 2]) -> bool {
    let side = |line: [Pos2; 2], p: Pos2| {
        let (along, to) = (line[1] - line[0], p - line[0]);
        along.x * to.y - along.y * to.x
    };
    side(a, b[0]) * side(a, b[1]) < 0.0 && side(b, a[0]) * side(b, a[1]) < 0.0
}

fn overlap(a: Rect, b: Rect) -> bool {
    a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y
}

fn labels(layout: &Layout, found: &mut Vec<Problem>) {
    let chords = Chords::new(&layout.routes);
    for (i, route) in layout.routes.iter().enumerate() {
        let label = route.label;
        let cards = layout
            .cards
            .iter()
            .enumerate()
            .filter(|(_, card)| overlap(card.rect, label));
        found.extend(cards.map(|(card, _)| Problem::LabelOnCard(i, card)));
        let others = layout
            .routes
            .iter()
            .enumerate()
            .skip(i + 1)
            .filter(|(_, other)| overlap(other.label, label));
        found.extend(others.map(|(j, _)| Problem::LabelsOverlap(i, j)));
        if chords.foreign_line_in(i, label) {
            found.push(Problem::LabelOnLine(i));
        }
        if !chords
            .line(i)
            .windows(2)
            .any(|w| chord_enters(label, w[0], w[1]))
        {
            found.push(Problem::LabelOffLine(i));
        }
    }
}

fn lines(diagram: &Diagram, layout: &Layout, found: &mut Vec<Problem>) {
    let lines: Vec<Vec<Pos2>> = layout
        .routes
        .iter()
        .map(|route| route.path.flatten(4))
        .collect();
    for (i, (arrow, route)) in diagram.arrows.iter().zip(&layout.routes).enumerate() {
        let (from, to) = (&layout.cards[arrow.from], &layout.cards[arrow.to]);
        // Every arrow ends at its row only in columns by session.
        let by_row = |row: Option<usize>| row.is_some() && !layout.lanes.is_empty();
        let start = on_border(
            from.rect,
            from.part(arrow.from_row),
            by_row(arrow.from_row),
            route.path.start,
        );
        let end = on_border(
            to.rect,
            to.part(arrow.to_row),
            by_row(arrow.to_row),
            route.path.end(),
        );
        if !start || !end {
            found.push(Problem::LooseEnd(i));
        }
        let inside = |card: Rect| {
            lines[i]
                .windows(2)
                .any(|w| chord_enters(card.shrink(0.1), w[0], w[1]))
        };
        let hit = layout
            .cards
            .iter()
            .enumerate()
            .filter(|(_, card)| inside(card.rect));
        found.extend(hit.map(|(card, _)| Problem::ThroughCard(i, card)));
        for (j, other) in lines.iter().enumerate().skip(i + 1) {
            let shared = route
                .path
                .bounds()
                .expand(1.0)
                .intersect(layout.routes[j].path.bounds().expand(1.0));
            if shared.is_positive() && lie_on_each_other(&lines[i], other, shared) {
                found.push(Problem::LinesOverlap(i, j));
            }
        }
    }
}

/// Whether a point is on the border of a card, and next to `part` of it if the edge is about a row.
fn on_border(card: Rect, part: Rect, is_row: bool, at: Pos2) -> bool {
    let is_close = |y: f32| (y - at.y).abs() < 0.6;
    let vertical = (at.x - card.left()).abs() < 0.6 || (at.x - card.right()).abs() < 0.6;
    let within = if is_row { part } else { card };
    let horizontal = !is_row
        && (is_close(card.top()) || is_close(card.bottom()))
        && card.x_range().contains(at.x);
    (vertical && within.y_range().contains(at.y)) || horizontal
}

/// Whether two lines share more than a point in `area`: axis-parallel chords on the same line that overlap by more than
/// a little.
fn lie_on_each_other(a: &[Pos2], b: &[Pos2], area: Rect) -> bool {
    let straight = |w: &&[Pos2]| {
        (w[0].x == w[1].x || w[0].y == w[1].y)
            && Rect::from_two_pos(w[0], w[1]).expand(0.5).intersects(area)
    };
    let b: Vec<&[Pos2]> = b.windows(2).filter(straight).collect();
    let shared = |lo1: f32, hi1: f32, lo2: f32, hi2: f32| hi1.min(hi2) - lo1.max(lo2) > 1.0;
    let range = |p: f32, q: f32| (p.min(q), p.max(q));
    a.windows(2).filter(straight).any(|v| {
        b.iter().any(|w| {
            let flat = |axis: fn(Pos2) -> f32, along: fn(Pos2) -> f32| {
                let (level, other) = (axis(v[0]), axis(w[0]));
                let same =
                    axis(v[1]) == level && axis(w[1]) == other && (level - other).abs() < 1.0;
                let ((lo1, hi1), (lo2, hi2)) = (
                    range(along(v[0]), along(v[1])),
                    range(along(w[0]), along(w[1])),
                );
                same && shared(lo1, hi1, lo2, hi2)
            };
            flat(|p| p.x, |p| p.y) || flat(|p| p.y, |p| p.x)
        })
    })
}
