//! Labels on edges: to the middle of a long piece where nothing else is.

use super::{CardBox, Route};
use crate::diagram::path::chord_enters;
use emath::{Pos2, Rect, pos2};

/// Room kept around a moved label.
const CLEARANCE: f32 = 4.0;
/// What a line shows on both sides of its label.
const STUB: f32 = 14.0;

/// All lines as chords, with the route they belong to.
pub(super) struct Chords {
    of_route: Vec<Vec<Pos2>>,
    bounds: Vec<Rect>,
}

impl Chords {
    pub(super) fn new(routes: &[Route]) -> Chords {
        let of_route: Vec<Vec<Pos2>> = routes.iter().map(|route| route.path.flatten(4)).collect();
        let bounds = routes.iter().map(|route| route.path.bounds()).collect();
        Chords { of_route, bounds }
    }

    /// Whether a line other than that of `route` enters `rect`.
    pub(super) fn foreign_line_in(&self, route: usize, rect: Rect) -> bool {
        let enters = |points: &Vec<Pos2>| points.windows(2).any(|w| chord_enters(rect, w[0], w[1]));
        (0..self.of_route.len()).any(|other| {
            other != route && self.bounds[other].expand(0.5).intersects(rect) && enters(&self.of_route[other])
        })
    }

    /// The line of a route as points.
    pub(super) fn line(&self, route: usize) -> &[Pos2] {
        &self.of_route[route]
    }
}

/// Whether a label of `route` may be at `rect`: no card, other label or foreign line is there.
pub(super) fn is_free(rect: Rect, route: usize, cards: &[CardBox], routes: &[Route], chords: &Chords) -> bool {
    let wide = rect.expand(CLEARANCE);
    !cards.iter().any(|card| card.rect.intersects(wide))
        && !routes.iter().enumerate().any(|(other, r)| other != route && r.label.intersects(wide))
        && !chords.foreign_line_in(route, wide)
}

/// Moves each label to the middle of its edge's longest straight piece if that is free and the line is seen on both
/// sides of it; others stay. O(edges²).
pub(super) fn move_to_free_middles(cards: &[CardBox], routes: &mut [Route]) {
    let chords = Chords::new(routes);
    for route in 0..routes.len() {
        let size = routes[route].label.size();
        let mut pieces: Vec<(f32, Pos2)> = Vec::new();
        for w in chords.line(route).windows(2) {
            let along = w[1] - w[0];
            let room = if along.y == 0.0 { size.x } else { size.y };
            if along.length() >= room + 2.0 * STUB {
                pieces.push((along.length(), pos2((w[0].x + w[1].x) / 2.0, (w[0].y + w[1].y) / 2.0)));
            }
        }
        pieces.sort_by(|a, b| b.0.total_cmp(&a.0));
        let free = |center: Pos2| {
            let rect = Rect::from_center_size(center, size);
            is_free(rect, route, cards, routes, &chords).then_some(rect)
        };
        if let Some(rect) = pieces.into_iter().find_map(|(_, center)| free(center)) {
            routes[route].label = rect;
        }
    }
}
