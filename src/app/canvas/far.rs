//! The picture from so far away that cards are blocks and edges thin lines: one mesh, kept while it looks the same.

use super::batch::Batch;
use super::look::Look;
use super::sketch::Parts;
use egui::epaint::Mesh;
use egui::{Painter, Pos2, Rect, Shape};
use std::sync::Arc;

/// Below this zoom a picture is far.
const FAR: f32 = 0.17;
/// Lines have no detail shorter than this, in points.
const DETAIL: f32 = 1.5;

/// Whether everything is so small that only blocks and lines can be distinguished.
pub(super) fn is_far(zoom: f32) -> bool {
    zoom < FAR
}

/// What was drawn last.
#[derive(Default)]
pub(super) struct Far {
    /// With the picture's origin in the corner of the screen.
    mesh: Option<Kept>,
    /// The mesh moved to where it was last drawn.
    placed: Option<(Pos2, Arc<Mesh>)>,
}

struct Kept {
    look: Arc<Look>,
    zoom: f32,
    mesh: Mesh,
}

impl Far {
    /// Forgets what was drawn: there is another picture.
    pub(super) fn clear(&mut self) {
        *self = Far::default();
    }

    /// Draws all cards and edges, the picture's origin at `origin`. O(parts) when something looks different from before,
    /// else O(1).
    pub(super) fn draw(
        &mut self,
        painter: &Painter,
        parts: &Parts,
        look: &Arc<Look>,
        zoom: f32,
        origin: Pos2,
    ) {
        if self
            .mesh
            .as_ref()
            .is_none_or(|kept| !Arc::ptr_eq(&kept.look, look) || kept.zoom != zoom)
        {
            self.mesh = Some(Kept {
                look: Arc::clone(look),
                zoom,
                mesh: mesh(parts, look, zoom),
            });
            self.placed = None;
        }
        let Some(kept) = &self.mesh else { return };
        if self.placed.as_ref().is_none_or(|(at, _)| *at != origin) {
            let mut mesh = kept.mesh.clone();
            mesh.translate(origin.to_vec2());
            self.placed = Some((origin, Arc::new(mesh)));
        }
        if let Some((_, mesh)) = &self.placed {
            painter.add(Shape::Mesh(Arc::clone(mesh)));
        }
    }
}

fn mesh(parts: &Parts, look: &Look, zoom: f32) -> Mesh {
    let at = |point: Pos2| (point.to_vec2() * zoom).to_pos2();
    let mut batch = Batch::with_detail(DETAIL);
    for edge in parts
        .edges
        .iter()
        .filter(|edge| !look.hidden.contains(&edge.arrow.relation))
    {
        let lit = look.is_lit(&edge.arrow);
        let strength = look.strength_of_edge(&edge.arrow);
        let colour = look
            .palette
            .relation(edge.arrow.relation)
            .gamma_multiply(strength * 0.7);
        let width = if lit && look.lit.any { 1.6 } else { 0.8 };
        batch.line(edge.far.iter().map(|point| at(*point)), width, colour);
    }
    for card in &parts.cards {
        let lit = look.lit.transactions.contains(&card.card.transaction);
        let colour = if lit && look.lit.any {
            look.palette.accent
        } else {
            look.palette.weak
        };
        let area = Rect::from_min_max(at(card.rect.min), at(card.rect.max));
        batch.block(
            area,
            colour.gamma_multiply(look.strength_of_card(card.card.transaction)),
        );
    }
    batch.mesh()
}
