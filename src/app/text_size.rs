//! The size of all text and controls, in percent of the usual one. The smallest is the usual one: no text is then below
//! 11 points.

use super::App;
use egui::{Vec2, vec2};

/// The sizes to choose from, in percent.
pub const SIZES: [u16; 6] = [100, 110, 125, 150, 175, 200];

/// The size of a window in which every page has room at the usual text size, in points; windows are never smaller.
pub const SMALLEST_WINDOW: Vec2 = vec2(760.0, 480.0);

/// The next larger or smaller size.
pub fn next(size: u16, larger: bool) -> u16 {
    let size = size.max(SIZES[0]);
    let found = if larger {
        SIZES.into_iter().find(|other| *other > size)
    } else {
        SIZES.into_iter().rev().find(|other| *other < size)
    };
    found.unwrap_or(size.min(SIZES[SIZES.len() - 1]))
}

/// How many times as large everything is drawn in a window of this size, in points of the usual size: as wanted, as far
/// as every page still has room.
pub fn factor(size: u16, window: Vec2) -> f32 {
    let most = (window / SMALLEST_WINDOW).min_elem();
    let most = (most * 20.0).floor() / 20.0;
    (f32::from(size) / 100.0).min(most).max(1.0)
}

impl App {
    /// Draws the next frame in the wanted size.
    pub(super) fn scale_text(&self, ctx: &egui::Context) {
        let now = ctx.zoom_factor();
        let wanted = factor(
            self.state.preferences.text_size.max(SIZES[0]),
            ctx.content_rect().size() * now,
        );
        if (wanted - now).abs() > 1e-3 {
            ctx.set_zoom_factor(wanted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::style;

    #[test]
    fn sizes_go_up_and_down_and_end() {
        assert_eq!(
            [
                next(100, true),
                next(200, true),
                next(130, false),
                next(100, false)
            ],
            [110, 200, 125, 100]
        );
        assert_eq!(
            [next(0, true), next(0, false), next(999, true)],
            [110, 100, 200],
            "a first start, and a damaged file"
        );
    }

    #[test]
    fn text_grows_as_far_as_the_window_has_room() {
        for (size, window, shown) in [
            (200, vec2(3840.0, 2160.0), 2.0),
            (150, vec2(1280.0, 800.0), 1.5),
            (200, vec2(1280.0, 800.0), 1.65),
            (200, vec2(1024.0, 700.0), 1.3),
            (200, vec2(400.0, 300.0), 1.0),
        ] {
            assert!(
                (factor(size, window) - shown).abs() < 1e-3,
                "{size} % in {window}: {}",
                factor(size, window)
            );
            assert!(style::SMALL * factor(size, window) >= 11.0);
        }
    }
}
