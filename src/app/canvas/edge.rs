//! A dependency as an edge of the interactive graph.

use super::brush::Brush;
use super::card::CardNode;
use super::look::Look;
use super::sketch::{CardSketch, EdgeSketch};
use egui::{Pos2, Shape};
use egui_graphs::{DisplayEdge, DrawContext, EdgeProps, Node};
use petgraph::EdgeType;
use petgraph::graph::IndexType;
use std::sync::Arc;

/// An edge on the canvas.
#[derive(Clone, Debug)]
pub(super) struct ArrowEdge {
    /// Its content and position.
    pub(super) sketch: Arc<EdgeSketch>,
    /// How things look in this frame.
    pub(super) look: Arc<Look>,
}

impl ArrowEdge {
    /// Whether it is drawn at all.
    pub(super) fn is_shown(&self) -> bool {
        !self.look.hidden.contains(&self.sketch.arrow.relation)
    }

    /// How pale it is.
    pub(super) fn strength(&self) -> f32 {
        self.look.strength_of_edge(&self.sketch.arrow)
    }
}

impl From<EdgeProps<Arc<EdgeSketch>>> for ArrowEdge {
    fn from(props: EdgeProps<Arc<EdgeSketch>>) -> ArrowEdge {
        ArrowEdge {
            sketch: props.payload,
            look: Arc::new(Look::default()),
        }
    }
}

type CardOf<Ty, Ix> = Node<Arc<CardSketch>, Arc<EdgeSketch>, Ty, Ix, CardNode>;

impl<Ty: EdgeType, Ix: IndexType> DisplayEdge<Arc<CardSketch>, Arc<EdgeSketch>, Ty, Ix, CardNode>
    for ArrowEdge
{
    fn shapes(
        &mut self,
        _start: &CardOf<Ty, Ix>,
        _end: &CardOf<Ty, Ix>,
        ctx: &DrawContext<'_>,
    ) -> Vec<Shape> {
        let mut shapes = Vec::new();
        let brush = Brush {
            painter: ctx.painter,
            zoom: ctx.meta.zoom,
            origin: ctx.meta.pan.to_pos2(),
            look: &self.look,
            hovered: false,
        };
        if self.is_shown()
            && ctx
                .painter
                .clip_rect()
                .intersects(brush.area(self.sketch.bounds).expand(12.0))
        {
            brush.draw(&self.sketch.marks, self.strength(), &mut shapes);
        }
        shapes
    }

    fn update(&mut self, _state: &EdgeProps<Arc<EdgeSketch>>) {}

    /// The canvas itself finds the edge under the pointer, including in pictures drawn without this library.
    fn is_inside(&self, _start: &CardOf<Ty, Ix>, _end: &CardOf<Ty, Ix>, _pos: Pos2) -> bool {
        false
    }
}
