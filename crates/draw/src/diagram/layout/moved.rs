//! The lanes layout with some cards moved by hand.

use super::labels::{Chords, is_free};
use super::measure::{CORNER, label_size};
use super::{Layout, Route};
use crate::diagram::Diagram;
use crate::diagram::path::{Path, along, chord_enters};
use emath::{Pos2, Rect, pos2, vec2};

/// How far a line extends straight from a card before it turns.
const OUT: f32 = 28.0;
/// Between two tracks.
const TRACK: f32 = 14.0;

/// `base` with the upper left corners of some cards moved; coordinates stay those of `base`, the bounds grow.
///
/// Edges of moved cards are routed again, orthogonally, around cards and each on a track of its own as far as a few
/// simple ways allow. Labels of those edges avoid cards, labels and lines if there is space. O(edges of moved cards ·
/// (edges + cards)).
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
        layout.routes[arrow] = route(diagram, base, &layout, arrow, &again);
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

/// The cheapest way from card to card: around cards, and on a track that no other edge has.
fn route(
    diagram: &Diagram,
    base: &Layout,
    layout: &Layout,
    arrow: usize,
    again: &[usize],
) -> Route {
    let (from, to) = (diagram.arrows[arrow].from, diagram.arrows[arrow].to);
    let (a, b) = (layout.cards[from].rect, layout.cards[to].rect);
    let old = &base.routes[arrow].path;
    // Ports keep their heights on the cards; edges that ran straight down have none.
    let is_straight = old.start.y >= base.cards[from].rect.bottom() - 0.1;
    let (y1, y2) = match is_straight {
        true => (
            layout.cards[from].header.center().y,
            layout.cards[to].header.center().y,
        ),
        false => (
            old.start.y - base.cards[from].rect.top() + a.top(),
            old.end().y - base.cards[to].rect.top() + b.top(),
        ),
    };
    // Those that come later have no way yet.
    let is_routed = |other: &usize| *other != arrow && !again.contains(other) || *other < arrow;
    let others: Vec<Vec<Pos2>> = (0..layout.routes.len())
        .filter(is_routed)
        .map(|other| layout.routes[other].path.flatten(1))
        .collect();
    let cost = |points: &Vec<Pos2>| {
        let sides = || points.windows(2).map(|side| (side[0], side[1]));
        let enters = |rect: Rect| sides().any(|(a, b)| chord_enters(rect.shrink(1.0), a, b));
        let n_cards = layout.cards.iter().filter(|card| enters(card.rect)).count();
        let along = others.iter().flat_map(|other| other.windows(2));
        let shared: f32 = along
            .map(|other| {
                sides()
                    .map(|side| shared(side, (other[0], other[1])))
                    .sum::<f32>()
            })
            .sum();
        let length: f32 = sides().map(|(a, b)| (b - a).length()).sum();
        10_000.0 * n_cards as f32 + 50.0 * shared + length
    };
    let ways = ways((a, b), (y1, y2), is_straight).into_iter();
    let best = ways.map(|way| (cost(&way), way));
    let best = best.min_by(|a, b| a.0.total_cmp(&b.0));
    let points = best.map_or_else(|| vec![a.center(), b.center()], |(_, way)| way);
    Route {
        path: Path::rounded(&without_repeats(points), CORNER),
        label: Rect::NOTHING,
    }
}

/// Ways from card to card in three pieces, each on several tracks: between them, around them, and straight down.
fn ways((a, b): (Rect, Rect), (y1, y2): (f32, f32), is_straight: bool) -> Vec<Vec<Pos2>> {
    let tracks = || [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0].map(|n| n * TRACK);
    let across =
        |from: f32, x: f32, to: f32| vec![pos2(from, y1), pos2(x, y1), pos2(x, y2), pos2(to, y2)];
    let mut ways = Vec::new();
    if is_straight && b.top() >= a.bottom() + OUT {
        let middle = (a.bottom() + b.top()) / 2.0;
        let (x1, x2) = (a.center().x, b.center().x);
        ways.extend(tracks().map(|off| {
            let y = middle + off;
            vec![
                pos2(x1, a.bottom()),
                pos2(x1, y),
                pos2(x2, y),
                pos2(x2, b.top()),
            ]
        }));
    }
    if b.left() >= a.right() + 2.0 * OUT {
        let middle = (a.right() + b.left()) / 2.0;
        ways.extend(tracks().map(|off| across(a.right(), middle + off, b.left())));
    } else if a.left() >= b.right() + 2.0 * OUT {
        let middle = (b.right() + a.left()) / 2.0;
        ways.extend(tracks().map(|off| across(a.left(), middle + off, b.right())));
    }
    for n in 0..8 {
        let out = OUT + TRACK * n as f32;
        ways.push(across(a.right(), a.right().max(b.right()) + out, b.right()));
        ways.push(across(a.left(), a.left().min(b.left()) - out, b.left()));
    }
    ways
}

/// How far two sides, each horizontal or vertical, run side by side on one track.
fn shared(one: (Pos2, Pos2), other: (Pos2, Pos2)) -> f32 {
    let common = |a: (f32, f32), b: (f32, f32)| {
        (a.0.max(a.1).min(b.0.max(b.1)) - a.0.min(a.1).max(b.0.min(b.1))).max(0.0)
    };
    let is_near = |a: f32, b: f32| (a - b).abs() < TRACK / 2.0;
    let is_upright = |side: (Pos2, Pos2)| is_near(side.0.x, side.1.x);
    let is_flat = |side: (Pos2, Pos2)| is_near(side.0.y, side.1.y);
    if is_upright(one) && is_upright(other) && is_near(one.0.x, other.0.x) {
        common((one.0.y, one.1.y), (other.0.y, other.1.y))
    } else if is_flat(one) && is_flat(other) && is_near(one.0.y, other.0.y) {
        common((one.0.x, one.1.x), (other.0.x, other.1.x))
    } else {
        0.0
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
