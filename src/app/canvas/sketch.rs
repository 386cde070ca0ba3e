//! The scene of a picture, split into background (lanes), nodes (cards), edges (lines) and labels, so that the
//! interactive graph can draw each at its time.

use crate::diagram::layout::{self, Layout};
use crate::diagram::scene::{Mark, Part, Shape, scene};
use crate::diagram::{Arrow, Card, Diagram, Target};
use egui::{Pos2, Rect};
use std::sync::Arc;

/// A diagram and where its parts are, ready to be drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sketch {
    /// What is drawn.
    pub diagram: Diagram,
    /// Where.
    pub layout: Layout,
    /// The scene of both, split into parts.
    pub parts: Parts,
}

/// A card's shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct CardSketch {
    /// What it says.
    pub card: Card,
    /// Where it is.
    pub rect: Rect,
    /// Its shapes, in order.
    pub marks: Vec<Mark>,
}

/// An edge's shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeSketch {
    /// What it means.
    pub arrow: Arrow,
    /// Its line, as points close enough together to look smooth.
    pub points: Vec<Pos2>,
    /// Bounds of its line.
    pub bounds: Rect,
    /// Its line with as few points as describe its shape.
    pub far: Vec<Pos2>,
    /// Line and head.
    pub marks: Vec<Mark>,
    /// Background of its label.
    pub label: Rect,
    /// Background and text of its label.
    pub label_marks: Vec<Mark>,
}

/// A scene split into parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// Session columns.
    pub lanes: Vec<Mark>,
    /// By card of the diagram.
    pub cards: Vec<Arc<CardSketch>>,
    /// By arrow of the diagram.
    pub edges: Vec<Arc<EdgeSketch>>,
}

impl Sketch {
    /// Draws a diagram in a layout of it. O(marks · log arrows): some ten milliseconds for
    /// thousands of cards, so not within a frame.
    pub fn new(diagram: Diagram, layout: Layout) -> Sketch {
        let parts = Parts::new(&diagram, &layout);
        Sketch {
            diagram,
            layout,
            parts,
        }
    }

    /// Whether the other shows the same with few cards moved: then the view need not change.
    pub fn is_nearly(&self, other: &Sketch) -> bool {
        let pairs = || self.layout.cards.iter().zip(&other.layout.cards);
        let n_moved = pairs().filter(|(a, b)| a.rect != b.rect).count();
        (n_moved <= 1 || 2 * n_moved <= self.layout.cards.len()) && self.diagram == other.diagram
    }

    /// The same with a card's upper left corner moved to `to`.
    pub fn moved(&self, card: usize, to: Pos2) -> Sketch {
        let layout = layout::lanes_moved(&self.diagram, &self.layout, &[(card, to)]);
        Sketch::new(self.diagram.clone(), layout)
    }
}

impl Parts {
    fn new(diagram: &Diagram, layout: &Layout) -> Parts {
        let whole = scene(diagram, layout);
        let boxes = diagram.cards.iter().zip(&layout.cards);
        let cards = boxes.map(|(card, space)| CardSketch {
            card: card.clone(),
            rect: space.rect,
            marks: Vec::new(),
        });
        let mut cards: Vec<CardSketch> = cards.collect();
        let routes = diagram.arrows.iter().zip(&layout.routes);
        let edges = routes.map(|(arrow, route)| EdgeSketch {
            arrow: arrow.clone(),
            points: route.path.flatten(6),
            bounds: route.path.bounds(),
            far: route.path.flatten(1),
            marks: Vec::new(),
            label: route.label,
            label_marks: Vec::new(),
        });
        let mut edges: Vec<EdgeSketch> = edges.collect();
        let mut lanes = Vec::new();
        for (part, marks) in &whole.parts {
            let marks = whole.marks[marks.clone()].iter().cloned();
            match *part {
                Part::Ground => lanes.extend(marks),
                Part::Card(card) => cards[card].marks.extend(marks),
                Part::Line(edge) | Part::Head(edge) => edges[edge].marks.extend(marks),
                Part::Label(edge) => edges[edge].label_marks.extend(marks),
            }
        }
        Parts {
            lanes,
            cards: cards.into_iter().map(Arc::new).collect(),
            edges: edges.into_iter().map(Arc::new).collect(),
        }
    }
}

impl CardSketch {
    /// What is at a point of the picture inside the card.
    pub fn at(&self, point: Pos2) -> Option<Target> {
        let hit = |mark: &&Mark| match &mark.shape {
            Shape::Rect { rect, .. } => rect.contains(point),
            _ => false,
        };
        self.marks
            .iter()
            .rev()
            .find(hit)
            .and_then(|mark| mark.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::diagram::theme::Role;
    use crate::diagram::{Subject, diagram, operations_in};
    use crate::relations::{Edge, Reason, Relation};

    fn sketch() -> Sketch {
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
        let sketch = sketch();
        let parts = &sketch.parts;
        assert_eq!((parts.cards.len(), parts.edges.len()), (3, 2));
        for card in &parts.cards {
            assert!(matches!(card.marks[0].role, Role::Card(_)));
            let own = |mark: &Mark| match mark.target {
                Some(Target::Transaction(t)) => t == card.card.transaction,
                Some(Target::Operation(o)) => card.card.rows.iter().any(|row| row.operation == o),
                _ => false,
            };
            assert!(card.marks.iter().all(own), "{}", card.card.title);
            assert_eq!(
                card.at(card.rect.min + egui::vec2(4.0, 4.0)),
                Some(Target::Transaction(card.card.transaction))
            );
        }
        assert!(
            parts
                .edges
                .iter()
                .all(|edge| edge.marks.len() == 2 && edge.label_marks.len() == 2)
        );
        assert!(!parts.lanes.is_empty());
    }

    #[test]
    fn a_moved_card_stands_elsewhere_and_its_edges_follow() {
        let sketch = sketch();
        let to = sketch.layout.cards[2].rect.min + egui::vec2(60.0, 35.0);
        let moved = sketch.moved(2, to);
        assert_eq!(moved.layout.cards[2].rect.min, to);
        assert_eq!(moved.layout.cards[0], sketch.layout.cards[0]);
        assert_ne!(moved.layout.routes[1], sketch.layout.routes[1]);
    }
}
