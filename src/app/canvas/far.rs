//! The picture from so far away that cards are blocks and edges thin lines: one mesh, kept while it looks as before.

use super::batch::Batch;
use super::look::Look;
use super::scene::DrawnAt;
use crate::diagram::Target;
use crate::diagram::scene::{Scene, Shape as SceneShape};
use crate::diagram::theme::Role;
use crate::relations::Relation;
use egui::emath::TSTransform;
use egui::epaint::Mesh;
use egui::{Color32, Painter, Pos2, Shape, Vec2};
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

    /// Draws all cards and edges. O(marks) when something looks different from before, else O(1).
    pub(super) fn draw(
        &mut self,
        painter: &Painter,
        scene: &Scene,
        look: &Arc<Look>,
        DrawnAt { origin, zoom, .. }: DrawnAt,
    ) {
        if self
            .mesh
            .as_ref()
            .is_none_or(|kept| !Arc::ptr_eq(&kept.look, look) || kept.zoom != zoom)
        {
            self.mesh = Some(Kept {
                look: Arc::clone(look),
                zoom,
                mesh: as_it_looks(scene, look, zoom),
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

fn as_it_looks(scene: &Scene, look: &Look, zoom: f32) -> Mesh {
    let is_lit = |target| look.lit.any && look.is_lit(target);
    let line = |target, relation| {
        let colour = look.palette.relation(relation);
        let width = if is_lit(target) { 1.6 } else { 0.8 };
        let strength = look.strength_of_target(target) * 0.7;
        (!look.is_hidden(target)).then_some((width, colour.gamma_multiply(strength)))
    };
    let block = |target| {
        let colour = if is_lit(target) {
            look.palette.accent
        } else {
            look.palette.weak
        };
        colour.gamma_multiply(look.strength_of_target(target))
    };
    let place = TSTransform::new(Vec2::ZERO, zoom);
    mesh(scene, place, (DETAIL, 0.0), line, block)
}

/// The edges of a scene as lines of some width and colour, and its cards as blocks of some colour. Lines have no detail
/// shorter than the first of `sizes`, blocks are larger by the second.
pub(super) fn mesh(
    scene: &Scene,
    place: TSTransform,
    (detail, more): (f32, f32),
    line: impl Fn(Target, Relation) -> Option<(f32, Color32)>,
    block: impl Fn(Target) -> Color32,
) -> Mesh {
    let mut batch = Batch::with_detail(detail);
    for mark in &scene.marks {
        match (&mark.shape, mark.role, mark.target) {
            (SceneShape::Line(path), Role::Edge(relation, _), Some(target)) => {
                if let Some((width, colour)) = line(target, relation) {
                    let points = path.flatten(1).into_iter();
                    batch.line(points.map(|point| place * point), width, colour);
                }
            }
            (SceneShape::Rect { rect, .. }, Role::Card(_), Some(target)) => {
                batch.block((place * *rect).expand(more), block(target));
            }
            _ => {}
        }
    }
    batch.mesh()
}
