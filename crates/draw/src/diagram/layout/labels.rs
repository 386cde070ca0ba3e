//! Labels on edges: moved to the middle of a long piece that is free.

use super::{CardBox, Route};
use crate::diagram::path::chord_enters;
use emath::{Pos2, Rect, pos2};

/// Room kept around a moved label.
const CLEARANCE: f32 = 4.0;
/// Length of line visible on both sides of its label.
const STUB: f32 = 12.0;

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
            other != route
                && self.bounds[other].expand(0.5).intersects(rect)
                && enters(&self.of_route[other])
        })
    }

    /// The line of a route as points.
    pub(super) fn line(&self, route: usize) -> &[Pos2] {
        &self.of_route[route]
    }
}

/// Whether a label of `route` may be at `rect`: no card, other label or foreign line is there.
pub(super) fn is_free(
    rect: Rect,
    route: usize,
    cards: &[CardBox],
    routes: &[Route],
    chords: &Chords,
) -> bool {
    let wide = rect.expand(CLEARANCE);
    !cards.iter().any(|card| card.rect.intersects(wide))
        && !routes
            .iter()
            .enumerate()
            .any(|(other, r)| other != route && r.label.intersects(wide))
        && !chords.foreign_line_in(route, wide)
}

/// Moves labels to the middle of a long piece if that is free and the line is visible on both sides: of a passage over
/// other lanes, of the piece that leaves the card, or of the vertical piece of an edge that stays next to its lane.
/// Others stay. O(edges²).
pub(super) fn move_to_free_middles(cards: &[CardBox], routes: &mut [Route]) {
    let chords = Chords::new(routes);
    for route in 0..routes.len() {
        let size = routes[route].label.size();
        let line = chords.line(route);
        let stays = (line[0].x - line[line.len() - 1].x).abs() < 1.0;
        let mut pieces: Vec<(f32, Pos2)> = Vec::new();
        for (i, w) in line.windows(2).enumerate() {
            let along = w[1] - w[0];
            let level = along.y == 0.0;
            let room = if level {
                size.x + 2.0 * STUB
            } else {
                size.y + 2.0 * STUB
            };
            let wanted =
                i == 0 || (level && along.x.abs() > 3.0 * size.x) || (stays && along.x == 0.0);
            if wanted && along.length() >= room {
                pieces.push((
                    along.length(),
                    pos2((w[0].x + w[1].x) / 2.0, (w[0].y + w[1].y) / 2.0),
                ));
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
