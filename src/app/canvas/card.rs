//! A transaction card as a node of the interactive graph.

use super::brush::Brush;
use super::look::Look;
use super::sketch::CardSketch;
use egui::{Pos2, Shape, Vec2};
use egui_graphs::{DisplayNode, DrawContext, NodeProps};
use petgraph::EdgeType;
use petgraph::graph::IndexType;
use std::sync::Arc;

/// A card on the canvas.
#[derive(Clone, Debug)]
pub(super) struct CardNode {
    /// Its content and position.
    pub(super) sketch: Arc<CardSketch>,
    hovered: bool,
    /// How things look in this frame.
    pub(super) look: Arc<Look>,
}

impl From<NodeProps<Arc<CardSketch>>> for CardNode {
    fn from(props: NodeProps<Arc<CardSketch>>) -> CardNode {
        CardNode {
            sketch: props.payload,
            hovered: false,
            look: Arc::new(Look::default()),
        }
    }
}

impl<E: Clone, Ty: EdgeType, Ix: IndexType> DisplayNode<Arc<CardSketch>, E, Ty, Ix> for CardNode {
    fn closest_boundary_point(&self, dir: Vec2) -> Pos2 {
        let half = self.sketch.rect.size() / 2.0;
        let scale = (half.x / dir.x.abs().max(1e-6)).min(half.y / dir.y.abs().max(1e-6));
        self.sketch.rect.center() + dir * scale
    }

    fn shapes(&mut self, ctx: &DrawContext<'_>) -> Vec<Shape> {
        let brush = Brush {
            painter: ctx.painter,
            zoom: ctx.meta.zoom,
            origin: ctx.meta.pan.to_pos2(),
            look: &self.look,
            hovered: self.hovered,
        };
        let mut shapes = Vec::new();
        if ctx
            .painter
            .clip_rect()
            .intersects(brush.area(self.sketch.rect).expand(4.0))
        {
            let card = &self.sketch.card;
            brush.draw(
                &self.sketch.marks,
                self.look.strength_of_card(card.transaction),
                &mut shapes,
            );
            if self.look.is_card_chosen(card) {
                brush.draw_choice(self.sketch.rect, &mut shapes);
            }
            if self.look.is_card_marked(card) {
                brush.draw_flag(self.sketch.rect, &mut shapes);
            }
        }
        shapes
    }

    fn update(&mut self, state: &NodeProps<Arc<CardSketch>>) {
        self.hovered = state.hovered;
    }

    fn is_inside(&self, pos: Pos2) -> bool {
        self.sketch.rect.contains(pos)
    }
}
