//! Zoom and pan of the canvas, with bounds, and fitting.

use egui::{Pos2, Rect, Ui, Vec2, vec2};

/// Minimum and maximum zoom.
const ZOOM: std::ops::RangeInclusive<f32> = 0.004..=6.0;
/// Fitting a small picture does not enlarge it beyond this, on a canvas of this width or less.
const FIT_ZOOM: (f32, f32) = (1.2, 900.0);
/// On a larger one it is at most so many times as large.
const FIT_MORE: f32 = 1.5;
/// What is fitted for reading is not shrunk below the first: rows of cards would become bars. It gets the second then.
const READABLE: (f32, f32) = (0.48, 0.6);
/// A picture that is to be read but would be more than so many times as large as the canvas is shown whole.
const MOST_CANVASES: f32 = 3.0;
/// Free space around a fitted picture, in points.
const FIT_MARGIN: f32 = 10.0;
/// At least this much of a picture stays in view, in points.
const KEEP_IN_VIEW: f32 = 60.0;

/// Where the picture is on the canvas. Points of the screen are `corner + pan + zoom * point of the picture`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Navigation {
    zoom: f32,
    pan: Vec2,
    fit_wanted: Option<Fit>,
    /// The picture is fitted and the user has not moved it since: it is fitted again when the window is resized.
    fitted: Option<Fit>,
    size: Vec2,
    bounds: Rect,
}

/// How a picture is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// All of it.
    Whole,
    /// So that it can be read: of a large one, where it begins.
    ToRead,
}

/// How far the wheel is turned to zoom by e, in points: a notch zooms by about a tenth.
pub const WHEEL: f32 = 500.0;

/// What the wheel zooms by.
pub fn wheel_factor(turned: f32) -> f32 {
    (turned / WHEEL).exp()
}

impl Default for Navigation {
    fn default() -> Navigation {
        Navigation {
            zoom: 1.0,
            pan: Vec2::ZERO,
            fit_wanted: Some(Fit::ToRead),
            fitted: None,
            size: Vec2::ZERO,
            bounds: Rect::NOTHING,
        }
    }
}

impl Navigation {
    /// Points of the screen per unit of the picture.
    pub fn zoom(&self) -> f32 {
        self.zoom
    }

    /// Where the picture's origin is, from the canvas' upper left corner.
    pub fn pan(&self) -> Vec2 {
        self.pan
    }

    /// Fits the picture as soon as the size of the canvas is known.
    pub fn fit(&mut self, how: Fit) {
        self.fit_wanted = Some(how);
    }

    /// Records sizes, and fits the picture if requested. Returns whether it has just been fitted so that only a part of it
    /// is seen.
    pub fn prepare(&mut self, size: Vec2, bounds: Rect) -> bool {
        let size_changed = self.size != size;
        self.size = size;
        self.bounds = bounds;
        let wanted = self.fit_wanted.or(self.fitted.filter(|_| size_changed));
        if let Some(how) = wanted.filter(|_| bounds.is_positive() && size.min_elem() > 1.0) {
            self.fit_wanted = None;
            self.fitted = Some(how);
            let free = (size - Vec2::splat(2.0 * FIT_MARGIN)).max(Vec2::splat(10.0));
            let most = FIT_ZOOM.0 * (size.x / FIT_ZOOM.1).clamp(1.0, FIT_MORE);
            let zoom = (free.x / bounds.width())
                .min(free.y / bounds.height())
                .min(most);
            let is_too_small = zoom < READABLE.0 && zoom * MOST_CANVASES >= READABLE.1;
            let zoom = if how == Fit::ToRead && is_too_small {
                READABLE.1
            } else {
                zoom
            };
            self.zoom = zoom.clamp(*ZOOM.start(), *ZOOM.end());
            // Centred horizontally if all of it has room, but aligned to the top: that is where reading begins.
            let spare = size.x - bounds.width() * self.zoom;
            let x = (spare / 2.0).max(FIT_MARGIN) - bounds.left() * self.zoom;
            let spare = (size.y - bounds.height() * self.zoom).max(0.0);
            let y = (spare / 2.0).min(FIT_MARGIN.max(spare * 0.25)) - bounds.top() * self.zoom;
            self.pan = vec2(x, y);
            return how == Fit::ToRead && is_too_small;
        }
        false
    }

    /// Centres a point of the picture.
    pub fn look_at(&mut self, at: Pos2) {
        self.pan = self.size / 2.0 - at.to_vec2() * self.zoom;
        self.fitted = None;
        self.keep_in_view();
    }

    /// Moves the picture up or down, no further than needed and only as far as `seen` stays in view, so that the upper edge
    /// cuts off the names of as few cards as possible. O(cards²).
    pub fn uncover(&mut self, cards: &[Rect], seen: Rect) {
        let canvas = Rect::from_min_size(Pos2::ZERO, self.size);
        let seen = self.to_screen_rect(canvas, seen);
        let cards = cards.iter().map(|card| self.to_screen_rect(canvas, *card));
        let cards: Vec<Rect> = cards
            .filter(|card| card.x_range().intersects(canvas.x_range()))
            .collect();
        let n_cut = |way: f32| {
            cards
                .iter()
                .filter(|card| card.top() + way < 0.0 && card.bottom() + way > 0.0)
                .count()
        };
        let ways = cards
            .iter()
            .flat_map(|card| [FIT_MARGIN / 2.0 - card.top(), -card.bottom()]);
        let ways =
            ways.filter(|way| seen.top() + way >= 0.0 && seen.bottom() + way <= canvas.bottom());
        let best = ways
            .chain([0.0])
            .min_by(|a, b| n_cut(*a).cmp(&n_cut(*b)).then(a.abs().total_cmp(&b.abs())));
        self.move_by(vec2(0.0, best.unwrap_or(0.0)));
    }

    /// Multiplies the zoom, keeping the point at `fixed` (from the canvas' corner) where it is.
    pub fn zoom_about(&mut self, fixed: Vec2, factor: f32) {
        let factor = self.bounded(factor);
        if factor.is_finite() {
            self.go_to(fixed + (self.pan - fixed) * factor, self.zoom * factor);
        }
    }

    /// Moves the picture.
    pub fn move_by(&mut self, way: Vec2) {
        self.go_to(self.pan + way, self.zoom);
    }

    fn keep_in_view(&mut self) {
        if self.bounds.is_positive() {
            let low = Vec2::splat(KEEP_IN_VIEW) - self.bounds.max.to_vec2() * self.zoom;
            let high =
                self.size - Vec2::splat(KEEP_IN_VIEW) - self.bounds.min.to_vec2() * self.zoom;
            self.pan = self.pan.max(low).min(high.max(low));
        }
    }

    /// Zooms about the pointer by the mouse wheel; sideways, and with Shift, it moves the picture.
    pub fn wheel(&mut self, ui: &Ui, canvas: Rect) {
        let (way, pointer, is_sideways) = ui.input(|input| {
            let way = match input.zoom_delta() == 1.0 {
                true => input.smooth_scroll_delta(),
                false => Vec2::ZERO,
            };
            (way, input.pointer.hover_pos(), input.modifiers.shift)
        });
        match pointer {
            _ if way == Vec2::ZERO => {}
            Some(at) if !is_sideways && way.x == 0.0 => {
                self.zoom_about(at - canvas.min, wheel_factor(way.y))
            }
            _ => self.move_by(way),
        }
    }

    /// A factor for the zoom, so far as it stays within bounds.
    pub fn bounded(&self, factor: f32) -> f32 {
        (self.zoom * factor).clamp(*ZOOM.start(), *ZOOM.end()) / self.zoom
    }

    /// Takes another place.
    pub fn go_to(&mut self, pan: Vec2, zoom: f32) {
        if (pan, zoom) != (self.pan, self.zoom) {
            (self.pan, self.zoom, self.fitted) = (pan, zoom, None);
            self.keep_in_view();
        }
    }

    /// A point of the picture on the screen.
    pub fn to_screen(&self, canvas: Rect, at: Pos2) -> Pos2 {
        canvas.min + self.pan + at.to_vec2() * self.zoom
    }

    /// A rectangle of the picture on the screen.
    pub fn to_screen_rect(&self, canvas: Rect, area: Rect) -> Rect {
        Rect::from_min_max(
            self.to_screen(canvas, area.min),
            self.to_screen(canvas, area.max),
        )
    }

    /// A point of the screen in the picture.
    pub fn to_picture(&self, canvas: Rect, at: Pos2) -> Pos2 {
        ((at - canvas.min - self.pan) / self.zoom).to_pos2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;

    const CANVAS: Rect = Rect {
        min: pos2(100.0, 50.0),
        max: pos2(900.0, 650.0),
    };

    fn fitted(bounds: Rect) -> Navigation {
        let mut navigation = Navigation::default();
        navigation.fit(Fit::Whole);
        navigation.prepare(CANVAS.size(), bounds);
        navigation
    }

    #[test]
    fn fitting_shows_everything() {
        for (width, height) in [(10.0, 10.0), (4000.0, 300.0), (300.0, 40_000.0)] {
            let bounds = Rect::from_min_size(pos2(-70.0, 20.0), vec2(width, height));
            let navigation = fitted(bounds);
            let on_screen = navigation.to_screen_rect(CANVAS, bounds);
            let bounded = navigation.zoom() <= *ZOOM.start();
            assert!(
                bounded || CANVAS.contains_rect(on_screen),
                "{width} x {height}: {on_screen:?}"
            );
        }
    }

    #[test]
    fn the_upper_edge_cuts_off_no_name_if_there_is_room() {
        let bounds = Rect::from_min_size(Pos2::ZERO, vec2(500.0, 1500.0));
        let mut navigation = Navigation::default();
        navigation.prepare(CANVAS.size(), bounds);
        let card = |top: f32| Rect::from_min_size(pos2(100.0, top), vec2(100.0, 200.0));
        let (cards, seen) = ([card(100.0), card(350.0), card(600.0)], card(600.0));
        navigation.look_at(pos2(150.0, 700.0));
        let is_cut = |navigation: &Navigation, card: &Rect| {
            let card = navigation.to_screen_rect(CANVAS, *card);
            card.top() < CANVAS.top() && card.bottom() > CANVAS.top()
        };
        assert!(cards.iter().any(|card| is_cut(&navigation, card)));
        navigation.uncover(&cards, seen);
        assert!(!cards.iter().any(|card| is_cut(&navigation, card)));
        assert!(CANVAS.contains_rect(navigation.to_screen_rect(CANVAS, seen)));
    }

    #[test]
    fn what_is_to_be_read_is_not_shrunk_into_bars() {
        let to_read = |width, height| {
            let mut navigation = Navigation::default();
            let bounds = Rect::from_min_size(pos2(-70.0, 20.0), vec2(width, height));
            navigation.prepare(CANVAS.size(), bounds);
            (navigation.zoom(), navigation.to_screen_rect(CANVAS, bounds))
        };
        let (zoom, on_screen) = to_read(500.0, 1500.0);
        assert!(
            zoom == READABLE.1
                && on_screen.top() >= CANVAS.top()
                && on_screen.left() >= CANVAS.left()
        );
        let (zoom, on_screen) = to_read(2000.0, 300.0);
        assert!(zoom == READABLE.1 && on_screen.left() >= CANVAS.left());
        // One that has far too much is shown whole.
        let (zoom, on_screen) = to_read(500.0, 40_000.0);
        assert!(zoom < READABLE.0 && CANVAS.contains_rect(on_screen));
    }

    #[test]
    fn zooming_keeps_the_point_under_the_pointer() {
        let mut navigation = fitted(Rect::from_min_size(Pos2::ZERO, vec2(800.0, 600.0)));
        let pointer = pos2(333.0, 222.0);
        let before = navigation.to_picture(CANVAS, pointer);
        navigation.zoom_about(pointer - CANVAS.min, 1.7);
        assert!(navigation.to_picture(CANVAS, pointer).distance(before) < 0.01);
    }

    #[test]
    fn zoom_has_bounds_and_the_picture_cannot_be_lost() {
        let bounds = Rect::from_min_size(Pos2::ZERO, vec2(800.0, 600.0));
        let mut navigation = fitted(bounds);
        for _ in 0..500 {
            navigation.zoom_about(vec2(1.0, 1.0), 1.5);
        }
        assert!(ZOOM.contains(&navigation.zoom()));
        navigation.move_by(vec2(1e9, -1e9));
        assert!(CANVAS.intersects(navigation.to_screen_rect(CANVAS, bounds)));
    }
}
