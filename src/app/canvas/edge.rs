//! A dependency as an edge of the interactive graph.

use super::brush::Brush;
use super::card::CardNode;
use super::look::Look;
use super::sketch::{CardSketch, EdgeSketch};
use crate::diagram::path::distance_to_line;
use egui::{Pos2, Rect, Shape};
use egui_graphs::{DisplayEdge, DrawContext, EdgeProps, Node};
use petgraph::EdgeType;
use petgraph::graph::IndexType;
use std::sync::Arc;

/// How near the pointer must be to an edge, in points on the screen.
const REACH: f32 = 6.0;

/// An edge on the canvas.
#[derive(Clone, Debug)]
pub(super) struct ArrowEdge {
    /// What it shows, and where.
    pub(super) sketch: Arc<EdgeSketch>,
    zoom: f32,
    /// How things look in this frame.
    pub(super) look: Arc<Look>,
}

impl ArrowEdge {
    /// Whether it is drawn at all.
    pub(super) fn is_shown(&self) -> bool {
        !self.look.hidden.contains(&self.sketch.arrow.relation)
    }

    /// Whether the pointer or the argument is at it.
    pub(super) fn is_lit(&self) -> bool {
        let arrow = &self.sketch.arrow;
        self.look.lit.edges.contains(&arrow.edge) || arrow.also.iter().any(|edge| self.look.lit.edges.contains(edge))
    }

    /// Whether it is not there now, nor any that says the same.
    pub(super) fn is_absent(&self) -> bool {
        let arrow = &self.sketch.arrow;
        let absent = &self.look.absent.edges;
        absent.contains(&arrow.edge) && arrow.also.iter().all(|edge| absent.contains(edge))
    }

    /// How pale it is.
    pub(super) fn strength(&self) -> f32 {
        self.look.strength_of(self.is_absent(), self.is_lit())
    }
}

impl From<EdgeProps<Arc<EdgeSketch>>> for ArrowEdge {
    fn from(props: EdgeProps<Arc<EdgeSketch>>) -> ArrowEdge {
        ArrowEdge { sketch: props.payload, zoom: 1.0, look: Arc::new(Look::default()) }
    }
}

type CardOf<Ty, Ix> = Node<Arc<CardSketch>, Arc<EdgeSketch>, Ty, Ix, CardNode>;

impl<Ty: EdgeType, Ix: IndexType> DisplayEdge<Arc<CardSketch>, Arc<EdgeSketch>, Ty, Ix, CardNode> for ArrowEdge {
    fn shapes(&mut self, _start: &CardOf<Ty, Ix>, _end: &CardOf<Ty, Ix>, ctx: &DrawContext<'_>) -> Vec<Shape> {
        self.zoom = ctx.meta.zoom;
        let mut shapes = Vec::new();
        let brush = Brush {
            painter: ctx.painter,
            zoom: ctx.meta.zoom,
            origin: ctx.meta.pan.to_pos2(),
            look: &self.look,
            hovered: false,
        };
        let bounds = brush.area(Rect::from_points(&self.sketch.points)).expand(12.0);
        if self.is_shown() && ctx.painter.clip_rect().intersects(bounds) {
            match brush.is_far() {
                true => brush.draw_far_edge(&self.sketch, self.is_lit(), self.strength(), &mut shapes),
                false => brush.draw(&self.sketch.marks, self.strength(), &mut shapes),
            }
        }
        shapes
    }

    fn update(&mut self, _state: &EdgeProps<Arc<EdgeSketch>>) {}

    fn is_inside(&self, _start: &CardOf<Ty, Ix>, _end: &CardOf<Ty, Ix>, pos: Pos2) -> bool {
        self.is_shown() && distance_to_line(pos, &self.sketch.points) <= REACH / self.zoom.max(0.02)
    }
}
