//! A diagram, where its parts are, and the scene of both.

use super::glide::Corners;
use crate::diagram::Diagram;
use crate::diagram::layout::{self, Arranged, Layout};
use crate::diagram::scene::{Scene, scene};
use crate::relations::EdgeIndex;
use egui::{Pos2, Rect, Vec2};
use std::collections::BTreeMap;

/// A diagram and where its parts are, ready to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Sketch {
    /// What is drawn.
    pub diagram: Diagram,
    /// Where.
    pub layout: Layout,
    /// The shapes of both.
    pub scene: Scene,
}

impl Sketch {
    /// Draws a diagram in a layout of it. O(marks): some ten milliseconds for
    /// thousands of cards, so not within a frame.
    pub fn new(diagram: Diagram, layout: Layout) -> Sketch {
        let scene = scene(&diagram, &layout);
        Sketch {
            diagram,
            layout,
            scene,
        }
    }

    /// Whether the other shows the same with few cards moved, or more or less with all cards where they are: then the view
    /// need not change.
    pub fn is_nearly(&self, other: &Sketch) -> bool {
        if self.diagram == other.diagram {
            let pairs = || self.layout.cards.iter().zip(&other.layout.cards);
            let n_moved = pairs().filter(|(a, b)| a.rect != b.rect).count();
            return n_moved <= 1 || 2 * n_moved <= self.layout.cards.len();
        }
        let (corners, others) = (self.corners(), other.corners());
        let n_same = corners
            .iter()
            .filter(|(title, at)| others.get(*title) == Some(at))
            .count();
        self.layout.bounds == other.layout.bounds && n_same == corners.len().min(others.len())
    }

    /// By edge: how many times as large its label can be drawn, around its middle, without touching a card or another label that
    /// grows as much. O(labels · (labels + cards)).
    pub(super) fn growth(&self) -> BTreeMap<EdgeIndex, f32> {
        let (cards, routes) = (&self.layout.cards, &self.layout.routes);
        let of = |place: usize| {
            let (label, half) = (routes[place].label, routes[place].label.size() / 2.0);
            let until = |other: Rect, moves: Vec2, stays: Vec2| {
                let apart = (other.center() - label.center()).abs() - stays;
                (apart.x / moves.x.max(1.0)).max(apart.y / moves.y.max(1.0))
            };
            let at_cards = cards
                .iter()
                .map(|card| until(card.rect, half, card.rect.size() / 2.0));
            let others = routes
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != place);
            let at_labels = others
                .map(|(_, other)| until(other.label, half + other.label.size() / 2.0, Vec2::ZERO));
            at_cards.chain(at_labels).fold(f32::INFINITY, f32::min)
        };
        let edges = self.diagram.arrows.iter().enumerate();
        edges
            .map(|(place, arrow)| (arrow.edge, of(place)))
            .collect()
    }

    /// The upper left corners of its cards.
    pub(super) fn corners(&self) -> Corners {
        let cards = self.diagram.cards.iter().zip(&self.layout.cards);
        let corners = cards.map(|(card, space)| (card.title.clone(), space.rect.min));
        corners.collect()
    }

    /// What is drawn, and where.
    pub fn arranged(&self) -> Arranged {
        Arranged {
            diagram: self.diagram.clone(),
            layout: self.layout.clone(),
        }
    }

    /// This sketch with a card's upper left corner moved to `to`.
    pub fn moved(&self, card: usize, to: Pos2) -> Sketch {
        let layout = layout::lanes_moved(&self.diagram, &self.layout, &[(card, to)]);
        Sketch::new(self.diagram.clone(), layout)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::control::Control;
    use crate::diagram::scene::{Hit, Mark, Part};
    use crate::diagram::{Subject, Target, diagram, operations_in};
    use crate::relations::{Edge, Reason, Relation};

    pub(in crate::app::canvas) fn sketch() -> Sketch {
        let history = crate::formats::text::parse("a: [w x 1] [w x 2]\nb: [r x 1]\n")
            .expect("a history in our notation");
        assert!(Control::new().check().is_ok());
        let t: Vec<_> = history.transactions().collect();
        let edge = |from, to, relation, because| Edge {
            from,
            to,
            relation,
            key: None,
            from_operation: None,
            to_operation: None,
            because,
        };
        let edges = [
            edge(t[0], t[1], Relation::SessionOrder, Reason::SessionOrder),
            edge(t[0], t[2], Relation::WriteRead, Reason::Reads),
        ];
        let subject = Subject {
            history: &history,
            transactions: &t,
            edges: &edges,
            cycle: &[0],
            operations: &[],
            shown: &|_| true,
            all_operations: true,
            n_operations: &operations_in(&history),
        };
        let diagram = diagram(&subject);
        let layout = layout::lanes(&diagram);
        Sketch::new(diagram, layout)
    }

    #[test]
    fn every_card_and_every_edge_gets_its_own_marks() {
        let Sketch {
            diagram,
            layout,
            scene,
        } = sketch();
        assert_eq!((diagram.cards.len(), diagram.arrows.len()), (3, 2));
        for part in &scene.parts {
            let own = |mark: &Mark| match (part.part, mark.target) {
                (Part::Ground, target) => target.is_none(),
                (Part::Card(card), Some(Target::Transaction(t))) => {
                    diagram.cards[card].transaction == t
                }
                (Part::Card(card), Some(Target::Operation(o))) => diagram.cards[card]
                    .rows
                    .iter()
                    .any(|row| row.operation == o),
                (Part::Line(edge) | Part::Head(edge) | Part::Label(edge), target) => {
                    target == Some(Target::Edge(diagram.arrows[edge].edge))
                }
                _ => false,
            };
            let marks = &scene.marks[part.marks.clone()];
            assert!(!marks.is_empty() && marks.iter().all(own), "{part:?}");
        }
        for (card, space) in layout.cards.iter().enumerate() {
            let hit = scene.hit(space.rect.min + egui::vec2(4.0, 4.0), 1.0, |_| true);
            let expected = Hit {
                target: Target::Transaction(diagram.cards[card].transaction),
                part: Some(Part::Card(card)),
            };
            assert_eq!(hit, Some(expected));
        }
    }

    #[test]
    fn a_moved_card_is_elsewhere_and_its_edges_follow() {
        let sketch = sketch();
        let to = sketch.layout.cards[2].rect.min + egui::vec2(60.0, 35.0);
        let moved = sketch.moved(2, to);
        assert_eq!(moved.layout.cards[2].rect.min, to);
        assert_eq!(moved.layout.cards[0], sketch.layout.cards[0]);
        assert_ne!(moved.layout.routes[1], sketch.layout.routes[1]);
    }
}
