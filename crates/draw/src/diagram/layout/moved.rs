//! The lanes layout with some cards moved by hand.

use super::labels::{Chords, is_free};
use super::measure::{CORNER, label_size};
use super::{Layout, Route};
use crate::diagram::Diagram;
use crate::diagram::path::{Path, along};
use emath::{Pos2, Rect, pos2, vec2};

/// How far a line extends straight from a card before it turns.
const OUT: f32 = 28.0;

/// `base` with the upper left corners of some cards moved; coordinates stay those of `base`, the bounds grow.
///
/// Edges of moved cards are routed again, orthogonally and around nothing: the user who drags a card decides what is
/// under it. Labels of those edges avoid cards, labels and lines if there is space. O(edges of moved cards · edges).
pub fn lanes_moved(diagram: &Diagram, base: &Layout, moved: &[(usize, Pos2)]) -> Layout {
    let mut layout = base.clone();
    let mut is_moved = vec![false; layout.cards.len()];
    for &(card, to) in moved.iter().filter(|(card, _)| *card < base.cards.len()) {
        let by = to - layout.cards[card].rect.min;
        layout.cards[card].translate(by);
        is_moved[card] = base.cards[card].rect.min != to;
    }
    let again: Vec<usize> = (0..layout.routes.len())
        .filter(|&arrow| is_moved[diagram.arrows[arrow].from] || is_moved[diagram.arrows[arrow].to])
        .collect();
    for &arrow in &again {
        layout.routes[arrow] = route(diagram, base, &layout, arrow);
    }
    let chords = Chords::new(&layout.routes);
    for &arrow in &again {
        layout.routes[arrow].label = label(diagram, &layout, &chords, arrow);
    }
    for card in &layout.cards {
        layout.bounds = layout.bounds.union(card.rect.expand(16.0));
    }
    for route in &layout.routes {
        layout.bounds = layout
            .bounds
            .union(route.path.bounds().expand(8.0))
            .union(route.label.expand(8.0));
    }
    layout
}

fn route(diagram: &Diagram, base: &Layout, layout: &Layout, arrow: usize) -> Route {
    let (from, to) = (diagram.arrows[arrow].from, diagram.arrows[arrow].to);
    let (a, b) = (layout.cards[from].rect, layout.cards[to].rect);
    let old = &base.routes[arrow].path;
    // Ports keep their heights on the cards; edges that ran straight down have none.
    let straight = old.start.y >= base.cards[from].rect.bottom() - 0.1;
    let (y1, y2) = if straight {
        (
            layout.cards[from].header.center().y,
            layout.cards[to].header.center().y,
        )
    } else {
        (
            old.start.y - base.cards[from].rect.top() + a.top(),
            old.end().y - base.cards[to].rect.top() + b.top(),
        )
    };
    let points = if straight && b.top() >= a.bottom() + 2.0 * OUT {
        let middle = (a.bottom() + b.top()) / 2.0;
        let (x1, x2) = (a.center().x, b.center().x);
        vec![
            pos2(x1, a.bottom()),
            pos2(x1, middle),
            pos2(x2, middle),
            pos2(x2, b.top()),
        ]
    } else if b.left() >= a.right() + 2.0 * OUT {
        let middle = (a.right() + b.left()) / 2.0;
        vec![
            pos2(a.right(), y1),
            pos2(middle, y1),
            pos2(middle, y2),
            pos2(b.left(), y2),
        ]
    } else if a.left() >= b.right() + 2.0 * OUT {
        let middle = (b.right() + a.left()) / 2.0;
        vec![
            pos2(a.left(), y1),
            pos2(middle, y1),
            pos2(middle, y2),
            pos2(b.right(), y2),
        ]
    } else {
        let out = a.right().max(b.right()) + OUT;
        vec![
            pos2(a.right(), y1),
            pos2(out, y1),
            pos2(out, y2),
            pos2(b.right(), y2),
        ]
    };
    Route {
        path: Path::rounded(&without_repeats(points), CORNER),
        label: Rect::NOTHING,
    }
}

fn without_repeats(mut points: Vec<Pos2>) -> Vec<Pos2> {
    points.dedup_by(|a, b| (*a - *b).length() < 0.5);
    if points.len() < 2 {
        points.push(points[0] + vec2(0.0, 0.5));
    }
    points
}

/// The first free position along the line, from the middle outwards; the middle if none is free.
fn label(diagram: &Diagram, layout: &Layout, chords: &Chords, arrow: usize) -> Rect {
    let size = label_size(&diagram.arrows[arrow]);
    let candidates = places_along(chords.line(arrow));
    let rect = |center: Pos2| Rect::from_center_size(center, size);
    let free = candidates.iter().map(|&center| rect(center));
    let mut free = free.filter(|&rect| is_free(rect, arrow, &layout.cards, &layout.routes, chords));
    free.next().unwrap_or_else(|| rect(candidates[0]))
}

/// Points on a line, from its middle outwards.
pub(super) fn places_along(points: &[Pos2]) -> Vec<Pos2> {
    let steps = [
        0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 7, -7, 8, -8, 9, -9,
    ];
    steps
        .iter()
        .map(|&step| along(points, 0.5 + step as f32 * 0.045))
        .collect()
}
