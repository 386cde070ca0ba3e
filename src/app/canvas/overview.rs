//! A small map of the whole picture, shown while only a part of it is visible.

use super::far;
use super::navigation::Navigation;
use super::sketch::Sketch;
use crate::app::style::Palette;
use egui::emath::TSTransform;
use egui::epaint::Mesh;
use egui::{
    Align2, CornerRadius, Pos2, Rect, Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType,
    vec2,
};
use std::sync::Arc;

/// Maximum sizes of the map, in points: the second where it would cover something at the first.
const SIZES: [egui::Vec2; 2] = [vec2(170.0, 120.0), vec2(110.0, 78.0)];

/// Its distance from both sides of its corner.
const MARGIN: f32 = 12.0;
/// Lines on it have no detail shorter than this, in points.
const DETAIL: f32 = 3.0;
/// It takes at most this share of the height.
const SHARE: f32 = 0.5;
/// The corners in which it can be, the usual one first.
const CORNERS: [Align2; 4] = [
    Align2::RIGHT_BOTTOM,
    Align2::LEFT_BOTTOM,
    Align2::RIGHT_TOP,
    Align2::LEFT_TOP,
];

/// The map, kept while it looks the same.
#[derive(Default)]
pub(super) struct Overview {
    kept: Option<(Rect, Palette, Arc<Mesh>)>,
    /// How large it is and where, as places in [`SIZES`] and [`CORNERS`]; none until it is drawn.
    place: Option<(usize, usize)>,
}

impl Overview {
    /// Forgets the map: there is another picture.
    pub(super) fn clear(&mut self) {
        *self = Overview::default();
    }

    /// Draws the map of a picture in the corner of `canvas` where it covers least; in another one once it covers what is lit.
    /// Returns where in the picture the user wants to look.
    pub(super) fn ui(
        &mut self,
        ui: &Ui,
        canvas: Rect,
        lit: &[Rect],
        sketch: &Sketch,
        navigation: &Navigation,
    ) -> Option<Pos2> {
        let bounds = sketch.layout.bounds;
        let cards = || {
            sketch
                .layout
                .cards
                .iter()
                .map(|card| navigation.to_screen_rect(canvas, card.rect))
        };
        if !bounds.is_positive() || cards().all(|card| canvas.contains_rect(card)) {
            return None;
        }
        let palette = Palette::of(ui);
        let is_held = ui.input(|input| input.pointer.any_down());
        let areas =
            SIZES.map(|size| CORNERS.map(|corner| map_area(canvas, (bounds, size), corner)));
        let covered = |map: &Rect, things: &mut dyn Iterator<Item = Rect>| {
            let common = things
                .map(|thing| map.intersect(thing))
                .filter(Rect::is_positive);
            common.map(|common| common.area()).sum::<f32>()
        };
        let covers_lit = |map: &Rect| covered(map, &mut lit.iter().copied());
        let kept = self
            .place
            .filter(|(size, corner)| is_held || covers_lit(&areas[*size][*corner]) == 0.0);
        let places =
            (0..SIZES.len()).flat_map(|size| (0..CORNERS.len()).map(move |corner| (size, corner)));
        let (size, corner) = kept.or_else(|| {
            let cost = |(size, corner): (usize, usize)| {
                let map = &areas[size][corner];
                (covers_lit(map), covered(map, &mut cards()))
            };
            places.min_by(|a, b| {
                let (a, b) = (cost(*a), cost(*b));
                a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
            })
        })?;
        let map = areas[size][corner];
        if map.height() > SHARE * canvas.height() {
            return None;
        }
        self.place = Some((size, corner));
        let response = ui.interact(map, ui.id().with("overview"), Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, "Overview map"));
        let painter = ui.painter_at(map.expand(1.0));
        painter.rect_filled(map, CornerRadius::same(4), palette.panel);
        if self
            .kept
            .as_ref()
            .is_none_or(|(area, of, _)| *area != map || *of != palette)
        {
            self.kept = Some((map, palette, Arc::new(mesh(map, sketch, &palette))));
        }
        if let Some((.., mesh)) = &self.kept {
            painter.add(Shape::Mesh(Arc::clone(mesh)));
        }
        let visible = Rect::from_min_max(
            navigation.to_picture(canvas, canvas.min),
            navigation.to_picture(canvas, canvas.max),
        );
        let visible = (on_map(map, bounds) * visible).intersect(map);
        painter.rect_stroke(
            visible,
            CornerRadius::same(2),
            Stroke::new(1.6, palette.accent),
            StrokeKind::Inside,
        );
        painter.rect_stroke(
            map,
            CornerRadius::same(4),
            Stroke::new(1.0, palette.line),
            StrokeKind::Inside,
        );
        let wanted = (response.dragged() || response.clicked())
            .then(|| response.interact_pointer_pos())
            .flatten();
        wanted.map(|at| on_map(map, bounds).inverse() * at)
    }
}

/// Points of the map per unit of the picture.
fn scale(map: Rect, bounds: Rect) -> f32 {
    (map.width() / bounds.width()).min(map.height() / bounds.height())
}

fn map_area(canvas: Rect, (bounds, most): (Rect, egui::Vec2), corner: Align2) -> Rect {
    let size = (bounds.size() * (most / bounds.size()).min_elem()).max(vec2(24.0, 24.0));
    corner.align_size_within_rect(size, canvas.shrink(MARGIN))
}

/// From the picture to the map.
fn on_map(map: Rect, bounds: Rect) -> TSTransform {
    let scale = scale(map, bounds);
    TSTransform::new(map.min - bounds.min * scale, scale)
}

fn mesh(map: Rect, sketch: &Sketch, palette: &Palette) -> Mesh {
    let line = |_, relation| Some((0.7, palette.relation(relation).gamma_multiply(0.7)));
    let place = on_map(map, sketch.layout.bounds);
    far::mesh(&sketch.scene, place, (DETAIL, 0.5), line, |_| palette.weak)
}
