//! Verdicts in columns, a level each, as tables of histories have them.

use super::paint_conclusion;
use crate::app::batch::Checked;
use crate::app::style::{self, Palette};
use crate::checkers::{Level, LevelSet};
use egui::{Align2, FontId, Rect, Ui, pos2, vec2};

/// A text in the middle of an area, cut with an ellipsis where it is too long.
pub(super) fn elided(ui: &Ui, area: Rect, text: &str) {
    let wrap = Some(egui::TextWrapMode::Truncate);
    let galley = egui::WidgetText::from(text).into_galley(
        ui,
        wrap,
        area.width(),
        FontId::proportional(style::BODY),
    );
    let at = area.left_center() - vec2(0.0, galley.size().y / 2.0);
    ui.painter().galley(at, galley, Palette::of(ui).text);
}

/// The middles of the columns of levels.
fn level_places(levels: LevelSet, area: Rect) -> impl Iterator<Item = (Level, f32)> {
    let step = (area.width() - 8.0) / levels.iter().count().max(1) as f32;
    let places = levels
        .iter()
        .enumerate()
        .map(|(place, level)| (level, area.left() + step * (place as f32 + 0.4)));
    places.collect::<Vec<_>>().into_iter()
}

/// The codes of levels, as headings.
pub(super) fn level_codes(ui: &Ui, levels: LevelSet, area: Rect) {
    let palette = Palette::of(ui);
    for (level, x) in level_places(levels, area) {
        let font = FontId::proportional(style::SMALL);
        ui.painter().text(
            pos2(x, area.center().y),
            Align2::CENTER_CENTER,
            level.code(),
            font,
            palette.weak,
        );
    }
}

/// A tick or a cross for each level, in the colour of its verdict.
pub(super) fn levels_ui(ui: &Ui, area: Rect, levels: LevelSet, checked: &Checked) {
    let palette = Palette::of(ui);
    for (level, x) in level_places(levels, area) {
        let Some(conclusion) = checked.conclusion(level) else {
            continue;
        };
        let colour = palette.conclusion(conclusion);
        let centre = pos2(x, area.center().y);
        paint_conclusion(
            ui.painter(),
            centre,
            (10.0, style::BODY),
            conclusion,
            colour,
        );
    }
}
