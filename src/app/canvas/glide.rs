//! Cards on their way from where they were to where the next picture has them.

use super::sketch::Sketch;
use crate::diagram::layout::Route;
use crate::diagram::path::Path;
use egui::{Pos2, Vec2};
use std::collections::BTreeMap;

/// How long they take, in seconds.
const SECONDS: f64 = 0.15;
/// Pictures with more cards change at once: each step on the way is a picture of its own.
const MOST_CARDS: usize = 60;

/// The upper left corners of cards, by their titles.
pub(super) type Corners = BTreeMap<String, Pos2>;

/// A change from one picture to the next.
pub(super) struct Glide {
    started: f64,
    /// By card: how far from its place it starts.
    away: Vec<Vec2>,
}

impl Glide {
    /// The way from these corners; none if nothing is elsewhere.
    pub(super) fn new(from: &Corners, sketch: &Sketch, now: f64) -> Option<Glide> {
        let cards = sketch.diagram.cards.iter().zip(&sketch.layout.cards);
        let away = cards.map(|(card, space)| {
            let from = from.get(&card.title);
            from.map_or(Vec2::ZERO, |from| *from - space.rect.min)
        });
        let away: Vec<Vec2> = away.collect();
        let is_worth_it = away.len() <= MOST_CARDS && away.iter().any(|way| way.length() > 1.0);
        is_worth_it.then_some(Glide { started: now, away })
    }

    /// The picture at this moment; none once all cards have arrived.
    pub(super) fn at(&self, sketch: &Sketch, now: f64) -> Option<Sketch> {
        let done = ((now - self.started) / SECONDS).clamp(0.0, 1.0) as f32;
        // Fast at first, then slowing down.
        let left = (1.0 - done).powi(3);
        (done < 1.0).then(|| self.moved(sketch, left))
    }

    /// With this share of the way still to go. Lines follow both of their ends.
    fn moved(&self, sketch: &Sketch, left: f32) -> Sketch {
        let away = |card: usize| self.away.get(card).copied().unwrap_or_default() * left;
        let mut layout = sketch.layout.clone();
        for (card, space) in layout.cards.iter_mut().enumerate() {
            space.translate(away(card));
        }
        for (route, arrow) in layout.routes.iter_mut().zip(&sketch.diagram.arrows) {
            *route = stretched(route, away(arrow.from), away(arrow.to));
        }
        Sketch::new(sketch.diagram.clone(), layout)
    }
}

/// A line with its ends moved, and what is between them in proportion.
fn stretched(route: &Route, start: Vec2, end: Vec2) -> Route {
    let n = route.path.segments.len().max(1) as f32;
    let way = |step: f32| start + (end - start) * (step / n);
    let mut steps = 0.0;
    let segments = route.path.segments.iter().map(|segment| {
        steps += 1.0;
        segment.map(|point| point + way(steps))
    });
    Route {
        path: Path {
            start: route.path.start + start,
            segments: segments.collect(),
        },
        label: route.label.translate((start + end) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sketch::tests::sketch;
    use super::*;

    #[test]
    fn cards_start_where_they_were_and_arrive() {
        let sketch = sketch();
        let places = sketch.diagram.cards.iter().zip(&sketch.layout.cards);
        let by = egui::vec2(-80.0, 30.0);
        let mut from: Corners = places
            .map(|(card, space)| (card.title.clone(), space.rect.min))
            .collect();
        assert!(Glide::new(&from, &sketch, 1.0).is_none(), "nothing moved");
        let moved = sketch.diagram.cards[2].title.clone();
        *from.get_mut(&moved).expect("a card") += by;
        let glide = Glide::new(&from, &sketch, 1.0).expect("a card moved");
        let first = glide.at(&sketch, 1.0).expect("on its way");
        let far = |a: Pos2, b: Pos2| (a - b).length();
        assert!(far(first.layout.cards[2].rect.min, from[&moved]) < 0.01);
        assert_eq!(first.layout.cards[0], sketch.layout.cards[0]);
        let (old, new) = (&sketch.layout.routes[1].path, &first.layout.routes[1].path);
        assert_eq!(new.start, old.start, "its source stays");
        assert!(far(new.end(), old.end() + by) < 0.01, "its target does not");
        let later = glide.at(&sketch, 1.1).expect("still on its way");
        let left = |sketch: &Sketch| far(sketch.layout.cards[2].rect.min, from[&moved]);
        assert!(left(&later) > left(&first));
        assert!(glide.at(&sketch, 1.2).is_none());
    }
}
