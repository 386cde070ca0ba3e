//! What the plots of all pages have in common.

use crate::app::style::Palette;
use egui::Color32;
use egui_plot::{Line, LineStyle, Plot};

/// Height of a plot on a page that scrolls.
pub(super) const HEIGHT: f32 = 170.0;

/// A plot that does not move under the pointer, so that the page can be scrolled.
pub(super) fn still(name: &str, height: f32) -> Plot<'static> {
    Plot::new(name.to_owned())
        .height(height)
        .show_background(false)
        .allow_scroll(false)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_boxed_zoom(false)
}

/// The colour of the line at an index.
pub(super) fn colour(place: usize, palette: &Palette) -> Color32 {
    let colours = [palette.accent, palette.bad, palette.good, palette.strong, palette.caution, palette.weak];
    colours[place % colours.len()]
}

/// A line that can be distinguished from the others without its colour.
pub(super) fn styled<'a>(line: Line<'a>, place: usize, palette: &Palette) -> Line<'a> {
    let styles = [
        LineStyle::Solid,
        LineStyle::dashed_loose(),
        LineStyle::dotted_dense(),
        LineStyle::dashed_dense(),
        LineStyle::dotted_loose(),
    ];
    line.color(colour(place, palette)).width(1.8).style(styles[place % styles.len()])
}
