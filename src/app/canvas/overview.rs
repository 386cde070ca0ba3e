//! A small map of the whole picture, shown while only a part of it is in sight.

use super::navigation::Navigation;
use super::sketch::Parts;
use crate::app::style::Palette;
use egui::{CornerRadius, Pos2, Rect, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, vec2};

/// Greatest size of the map, in points.
const SIZE: egui::Vec2 = vec2(170.0, 120.0);

/// Draws the map in the lower right corner of `canvas`. Returns where in the picture somebody wants to look.
pub(super) fn overview_ui(ui: &Ui, canvas: Rect, bounds: Rect, parts: &Parts, navigation: &Navigation) -> Option<Pos2> {
    if !bounds.is_positive() || canvas.contains_rect(navigation.to_screen_rect(canvas, bounds)) {
        return None;
    }
    let palette = Palette::of(ui);
    let scale = (SIZE.x / bounds.width()).min(SIZE.y / bounds.height());
    let size = (bounds.size() * scale).max(vec2(24.0, 24.0));
    let map = Rect::from_min_size(canvas.right_bottom() - size - vec2(12.0, 44.0), size);
    let on_map = |area: Rect| {
        let at = |point: Pos2| map.min + (point - bounds.min) * scale;
        Rect::from_min_max(at(area.min), at(area.max))
    };
    let response = ui.interact(map, ui.id().with("overview"), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, "Overview map"));
    let painter = ui.painter_at(map.expand(1.0));
    painter.rect_filled(map, CornerRadius::same(4), palette.panel);
    for edge in &parts.edges {
        let line: Vec<Pos2> = edge.points.iter().map(|point| map.min + (*point - bounds.min) * scale).collect();
        painter.line(line, Stroke::new(0.7, palette.relation(edge.arrow.relation)));
    }
    for card in &parts.cards {
        painter.rect_filled(on_map(card.rect).expand(0.5), CornerRadius::ZERO, palette.weak);
    }
    let sight =
        Rect::from_min_max(navigation.to_picture(canvas, canvas.min), navigation.to_picture(canvas, canvas.max));
    let sight = on_map(sight).intersect(map);
    painter.rect_stroke(sight, CornerRadius::same(2), Stroke::new(1.6, palette.accent), StrokeKind::Inside);
    painter.rect_stroke(map, CornerRadius::same(4), Stroke::new(1.0, palette.line), StrokeKind::Inside);
    let wanted = (response.dragged() || response.clicked()).then(|| response.interact_pointer_pos()).flatten();
    wanted.map(|at| bounds.min + (at - map.min) / scale)
}
