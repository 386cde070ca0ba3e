//! A small map of the whole picture, shown while only a part of it is visible.

use super::batch::Batch;
use super::navigation::Navigation;
use super::sketch::Parts;
use crate::app::style::Palette;
use egui::epaint::Mesh;
use egui::{CornerRadius, Pos2, Rect, Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, vec2};
use std::sync::Arc;

/// Maximum size of the map, in points.
const SIZE: egui::Vec2 = vec2(170.0, 120.0);

/// Where it is, from the lower right corner.
const CORNER: egui::Vec2 = vec2(12.0, 44.0);
/// It takes at most this share of the height, with what is below it.
const SHARE: f32 = 0.62;

/// The map, kept while it looks the same.
#[derive(Default)]
pub(super) struct Overview {
    kept: Option<(Rect, Palette, Arc<Mesh>)>,
}

impl Overview {
    /// Forgets the map: there is another picture.
    pub(super) fn clear(&mut self) {
        self.kept = None;
    }

    /// Draws the map in the lower right corner of `canvas`. Returns where in the picture the user wants to look.
    pub(super) fn ui(
        &mut self,
        ui: &Ui,
        canvas: Rect,
        bounds: Rect,
        parts: &Parts,
        navigation: &Navigation,
    ) -> Option<Pos2> {
        if !bounds.is_positive() || canvas.contains_rect(navigation.to_screen_rect(canvas, bounds)) {
            return None;
        }
        let palette = Palette::of(ui);
        let map = map_area(canvas, bounds);
        if map.top() < canvas.bottom() - SHARE * canvas.height() {
            return None;
        }
        let response = ui.interact(map, ui.id().with("overview"), Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, "Overview map"));
        let painter = ui.painter_at(map.expand(1.0));
        painter.rect_filled(map, CornerRadius::same(4), palette.panel);
        if self.kept.as_ref().is_none_or(|(area, of, _)| *area != map || *of != palette) {
            self.kept = Some((map, palette, Arc::new(mesh(map, bounds, parts, &palette))));
        }
        if let Some((.., mesh)) = &self.kept {
            painter.add(Shape::Mesh(Arc::clone(mesh)));
        }
        let sight =
            Rect::from_min_max(navigation.to_picture(canvas, canvas.min), navigation.to_picture(canvas, canvas.max));
        let sight = on_map(map, bounds, sight).intersect(map);
        painter.rect_stroke(sight, CornerRadius::same(2), Stroke::new(1.6, palette.accent), StrokeKind::Inside);
        painter.rect_stroke(map, CornerRadius::same(4), Stroke::new(1.0, palette.line), StrokeKind::Inside);
        let wanted = (response.dragged() || response.clicked()).then(|| response.interact_pointer_pos()).flatten();
        wanted.map(|at| bounds.min + (at - map.min) / scale(bounds))
    }
}

/// Points of the map per unit of the picture.
fn scale(bounds: Rect) -> f32 {
    (SIZE.x / bounds.width()).min(SIZE.y / bounds.height())
}

fn map_area(canvas: Rect, bounds: Rect) -> Rect {
    let size = (bounds.size() * scale(bounds)).max(vec2(24.0, 24.0));
    Rect::from_min_size(canvas.right_bottom() - size - CORNER, size)
}

/// An area of the picture on the map.
fn on_map(map: Rect, bounds: Rect, area: Rect) -> Rect {
    let at = |point: Pos2| map.min + (point - bounds.min) * scale(bounds);
    Rect::from_min_max(at(area.min), at(area.max))
}

fn mesh(map: Rect, bounds: Rect, parts: &Parts, palette: &Palette) -> Mesh {
    let mut batch = Batch::default();
    for edge in &parts.edges {
        let points = edge.far.iter().map(|point| map.min + (*point - bounds.min) * scale(bounds));
        batch.line(points, 0.7, palette.relation(edge.arrow.relation).gamma_multiply(0.7));
    }
    for card in &parts.cards {
        batch.block(on_map(map, bounds, card.rect).expand(0.5), palette.weak);
    }
    batch.mesh()
}
