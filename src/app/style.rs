//! Fonts, sizes, spaces and the colours of the window's own surfaces.
//!
//! One scale of text sizes, one of distances. The look of relations and cards in a picture is defined in
//! `diagram::theme`; this module covers only what is around the picture.

use crate::checkers::Verdict;
use crate::diagram::theme::{self, Theme};
use crate::fonts::Face;
pub use crate::history::counted;
use crate::history::grouped;
use crate::relations::Relation;
use egui::epaint::text::{FontData, FontDefinitions, FontInsert, FontPriority, InsertFontFamily};
use egui::style::WidgetVisuals;
use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{
    Color32, CornerRadius, FontFamily, FontId, Galley, Margin, Painter, Pos2, Response, Sense,
    Shadow, Stroke, TextStyle, Ui, Visuals, WidgetInfo, WidgetType, vec2,
};
use std::sync::Arc;

/// Side notes, counts, line numbers.
pub const SMALL: f32 = 11.5;
/// Normal text.
pub const BODY: f32 = 13.0;
/// Titles of panels.
pub const HEADING: f32 = 14.0;
/// The title of an argument.
pub const TITLE: f32 = 17.0;
/// History values, operations.
pub const CODE: f32 = 12.0;
/// Between things that belong together.
pub const GAP: f32 = 6.0;
/// Around the contents of a panel.
pub const MARGIN: i8 = 12;
/// Height of a line in a list.
pub const ROW: f32 = 23.0;

/// Colours of the window's surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Palette {
    /// Whether this is the dark one.
    pub dark: bool,
    /// Top bar, status bar.
    pub bar: Color32,
    /// Side panels.
    pub panel: Color32,
    /// Level strip and the background of the graph.
    pub ground: Color32,
    /// Raised things: buttons, fields, boxes.
    pub raised: Color32,
    /// Under the pointer.
    pub hovered: Color32,
    /// Selected line.
    pub selected: Color32,
    /// Separating lines, frames.
    pub line: Color32,
    /// Bars and blocks without a meaning of their own, such as how much ran when. Contrast with surfaces is at least 3.
    pub shade: Color32,
    pub text: Color32,
    /// Titles.
    pub strong: Color32,
    /// Side notes. Contrast with every surface is at least 4.5.
    pub weak: Color32,
    /// Links, the active tab, frames of what is selected.
    pub accent: Color32,
    /// Violated.
    pub bad: Color32,
    /// Satisfied.
    pub good: Color32,
    /// Undecided, notes of caution.
    pub caution: Color32,
}

const fn rgb(hex: u32) -> Color32 {
    Color32::from_rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

/// The dark window.
pub const DARK: Palette = Palette {
    dark: true,
    bar: rgb(0x23272d),
    panel: rgb(0x1f2329),
    ground: rgb(0x1a1d22),
    raised: rgb(0x2c3239),
    hovered: rgb(0x363d46),
    selected: rgb(0x1f4259),
    line: rgb(0x343a42),
    shade: rgb(0x727c88),
    text: rgb(0xdde1e6),
    strong: rgb(0xf7f8fa),
    weak: rgb(0xaab4c0),
    accent: rgb(0x68adfc),
    bad: rgb(0xf67a72),
    good: rgb(0x86e8b0),
    caution: rgb(0xf5b73a),
};

/// The light window.
pub const LIGHT: Palette = Palette {
    dark: false,
    bar: rgb(0xe8ebef),
    panel: rgb(0xf2f4f6),
    ground: rgb(0xfafafb),
    raised: rgb(0xe1e6eb),
    hovered: rgb(0xd5dce4),
    selected: rgb(0xd3e7f7),
    line: rgb(0xd3d8de),
    shade: rgb(0x7f8791),
    text: rgb(0x23282e),
    strong: rgb(0x0d1014),
    weak: rgb(0x4a525c),
    accent: rgb(0x0848a0),
    bad: rgb(0x8c0a10),
    good: rgb(0x13735c),
    caution: rgb(0x885700),
};

impl Palette {
    /// The palette of the theme in which `ui` is drawn.
    pub fn of(ui: &Ui) -> Palette {
        if ui.visuals().dark_mode { DARK } else { LIGHT }
    }

    /// The picture's theme that goes with this palette.
    pub fn theme(&self) -> &'static Theme {
        if self.dark {
            &theme::DARK
        } else {
            &theme::LIGHT
        }
    }

    /// Colour of a relation, as in the picture.
    pub fn relation(&self, relation: Relation) -> Color32 {
        let colour = self.theme().edge(relation);
        colour32(colour)
    }

    /// Colour of a verdict; weak while there is none.
    pub fn verdict(&self, verdict: Option<&Verdict>) -> Color32 {
        match verdict {
            Some(Verdict::Satisfied(_)) => self.good,
            Some(Verdict::Violated) => self.bad,
            Some(Verdict::Undecided(_)) => self.caution,
            None => self.weak,
        }
    }

    /// `colour` with low opacity over the background: the fill of a pill.
    pub fn tint(&self, colour: Color32) -> Color32 {
        self.panel
            .lerp_to_gamma(colour, if self.dark { 0.14 } else { 0.10 })
    }

    fn widget(&self, fill: Color32, line: Color32, text: Color32) -> WidgetVisuals {
        WidgetVisuals {
            bg_fill: fill,
            weak_bg_fill: fill,
            bg_stroke: Stroke::new(1.0, line),
            corner_radius: CornerRadius::same(5),
            fg_stroke: Stroke::new(1.0, text),
            expansion: 0.0,
        }
    }

    fn visuals(&self) -> Visuals {
        let mut visuals = if self.dark {
            Visuals::dark()
        } else {
            Visuals::light()
        };
        visuals.widgets.noninteractive = self.widget(self.panel, self.line, self.text);
        visuals.widgets.inactive = self.widget(self.raised, self.raised, self.text);
        visuals.widgets.hovered = self.widget(self.hovered, self.hovered, self.strong);
        visuals.widgets.active = self.widget(self.selected, self.accent, self.strong);
        visuals.widgets.open = self.widget(self.hovered, self.hovered, self.strong);
        visuals.selection.bg_fill = self.selected;
        visuals.selection.stroke = Stroke::new(1.0, self.accent);
        visuals.hyperlink_color = self.accent;
        visuals.weak_text_color = Some(self.weak);
        visuals.faint_bg_color = self.panel.lerp_to_gamma(self.raised, 0.4);
        visuals.extreme_bg_color = self.ground;
        visuals.text_edit_bg_color = Some(self.ground);
        visuals.code_bg_color = self.raised;
        visuals.warn_fg_color = self.caution;
        visuals.error_fg_color = self.bad;
        visuals.panel_fill = self.panel;
        visuals.window_fill = self.panel;
        visuals.window_stroke = Stroke::new(1.0, self.line);
        visuals.window_corner_radius = CornerRadius::same(10);
        visuals.menu_corner_radius = CornerRadius::same(8);
        let shade = Color32::from_black_alpha(if self.dark { 120 } else { 50 });
        visuals.window_shadow = Shadow {
            offset: [0, 10],
            blur: 30,
            spread: 0,
            color: shade,
        };
        visuals.popup_shadow = Shadow {
            offset: [0, 6],
            blur: 16,
            spread: 0,
            color: shade,
        };
        visuals
    }
}

/// A colour of the picture's theme, for egui.
pub fn colour32(colour: theme::Color) -> Color32 {
    Color32::from_rgb(colour.r, colour.g, colour.b)
}

/// Sets fonts, sizes, spaces and both themes. The default proportional family lacks arrows and mathematical signs that
/// Hack has, so Hack is second in it.
pub fn install(ctx: &egui::Context) {
    let mut fonts = FontDefinitions::default();
    if let Some(family) = fonts.families.get_mut(&FontFamily::Proportional) {
        family.insert(1.min(family.len()), "Hack".to_owned());
    }
    ctx.set_fonts(fonts);
    ctx.all_styles_mut(|style| {
        style.text_styles = [
            (TextStyle::Small, FontId::proportional(SMALL)),
            (TextStyle::Body, FontId::proportional(BODY)),
            (TextStyle::Button, FontId::proportional(BODY)),
            (TextStyle::Heading, FontId::proportional(TITLE)),
            (TextStyle::Monospace, FontId::monospace(CODE)),
        ]
        .into();
        style.spacing.item_spacing = vec2(GAP, GAP);
        style.spacing.button_padding = vec2(9.0, 4.0);
        style.spacing.menu_margin = Margin::same(6);
        style.spacing.interact_size.y = 24.0;
        style.spacing.window_margin = Margin::same(18);
        // A bar is seen where there is more than fits, not only under the pointer.
        style.spacing.scroll = egui::style::ScrollStyle::thin();
        style.animation_time = 0.12;
    });
    ctx.set_visuals_of(egui::Theme::Dark, DARK.visuals());
    ctx.set_visuals_of(egui::Theme::Light, LIGHT.visuals());
}

/// Adds fonts for what both families lack. Fonts added before are not added again.
pub fn add_fonts(ctx: &egui::Context, faces: Vec<Face>) {
    for Face { name, data, index } in faces {
        let families = [FontFamily::Proportional, FontFamily::Monospace];
        let families = families.map(|family| InsertFontFamily {
            family,
            priority: FontPriority::Lowest,
        });
        let data = FontData {
            index,
            ..FontData::from_owned(data)
        };
        ctx.add_font(FontInsert::new(&name, data, families.into()));
    }
}

/// Paints text a second time one pixel further right, a little paler: the bundled family has no bold face. Text is
/// aligned to whole pixels, so a smaller offset would be visible in some places and not in others.
pub fn paint_bold(painter: &Painter, at: Pos2, galley: Arc<Galley>, colour: Color32) {
    let pixel = 1.0 / painter.pixels_per_point();
    let at = egui::pos2(
        (at.x / pixel).round() * pixel,
        (at.y / pixel).round() * pixel,
    );
    painter.galley_with_override_text_color(
        at + vec2(pixel, 0.0),
        Arc::clone(&galley),
        colour.gamma_multiply(0.6),
    );
    painter.galley(at, galley, colour);
}

/// A line of text in one colour, cut with an ellipsis where it is wider than `width`.
pub fn cut(
    painter: &Painter,
    text: impl Into<String>,
    font: FontId,
    colour: Color32,
    width: f32,
) -> Arc<Galley> {
    let mut job = LayoutJob::single_section(text.into(), TextFormat::simple(font, colour));
    job.wrap = TextWrapping::truncate_at_width(width);
    painter.layout_job(job)
}

/// A line or paragraph of bold text, wrapped to the available width.
pub fn bold(ui: &mut Ui, text: &str, size: f32, colour: Color32) -> Response {
    let width = ui.available_width();
    let galley = ui
        .painter()
        .layout(text.to_owned(), FontId::proportional(size), colour, width);
    let (rect, response) = ui.allocate_exact_size(galley.size() + vec2(1.0, 0.0), Sense::hover());
    paint_bold(ui.painter(), rect.min, galley, colour);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, text));
    response
}

/// Bold text on one line, as wide as it is.
pub fn bold_line(ui: &mut Ui, text: &str, size: f32, colour: Color32) -> Response {
    let galley = ui
        .painter()
        .layout_no_wrap(text.to_owned(), FontId::proportional(size), colour);
    let (rect, response) = ui.allocate_exact_size(galley.size() + vec2(1.0, 0.0), Sense::hover());
    paint_bold(ui.painter(), rect.min, galley, colour);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, text));
    response
}

/// Boxes to tick and discs to choose get a frame that is seen on every surface; for parts without other buttons.
pub fn frame_choices(ui: &mut Ui) {
    let stroke = Stroke::new(1.0, Palette::of(ui).shade);
    ui.visuals_mut().widgets.inactive.bg_stroke = stroke;
}

/// The width of a line of text of this size.
pub fn width(ui: &Ui, text: &str, size: f32) -> f32 {
    let font = FontId::proportional(size);
    let galley = ui
        .painter()
        .layout_no_wrap(text.to_owned(), font, Color32::WHITE);
    galley.size().x
}

/// A side note.
pub fn note(ui: &mut Ui, text: impl Into<String>) -> Response {
    let weak = Palette::of(ui).weak;
    ui.label(egui::RichText::new(text).size(SMALL).color(weak))
}

/// A side note in the rest of a line; hover shows all of it.
pub fn short_note(ui: &mut Ui, text: impl Into<String>) -> Response {
    let weak = Palette::of(ui).weak;
    ui.add(egui::Label::new(egui::RichText::new(text).size(SMALL).color(weak)).truncate())
}

/// Seconds in readable form: `< 1 ms`, `7 ms`, `0.02 s`, `12 s`, `3 min 20 s`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.0009 => "< 1 ms".to_owned(),
        s if s < 0.0095 => format!("{:.0} ms", s * 1000.0),
        s if s < 9.995 => format!("{s:.2} s"),
        s if s < 119.5 => format!("{s:.0} s"),
        s => format!("{} min {} s", s as u64 / 60, s as u64 % 60),
    }
}

/// `1 history`, `2 histories`: of words whose plural is not the singular with an s.
pub fn counted_as(number: usize, one: &str, several: &str) -> String {
    let word = if number == 1 { one } else { several };
    format!("{} {word}", grouped(number as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagram::color_vision;
    use crate::diagram::theme::Color;

    fn color(of: Color32) -> Color {
        Color {
            r: of.r(),
            g: of.g(),
            b: of.b(),
        }
    }

    fn contrast(a: Color32, b: Color32) -> f32 {
        color(a).contrast(color(b))
    }

    /// What a colour says, and the colour: verdicts, series of charts, marks of maps.
    fn meanings(palette: &Palette) -> [(&'static str, Color32); 6] {
        [
            ("bad", palette.bad),
            ("good", palette.good),
            ("caution", palette.caution),
            ("accent", palette.accent),
            ("weak", palette.weak),
            ("strong", palette.strong),
        ]
    }

    #[test]
    fn every_text_colour_is_legible_on_every_surface() {
        for palette in [DARK, LIGHT] {
            let texts = meanings(&palette).map(|(_, colour)| colour);
            for surface in [palette.bar, palette.panel, palette.ground] {
                for text in texts
                    .into_iter()
                    .chain([palette.text])
                    .chain(Relation::ALL.map(|r| palette.relation(r)))
                {
                    assert!(
                        contrast(text, surface) >= 4.5,
                        "{text:?} on {surface:?}: {}",
                        contrast(text, surface)
                    );
                }
                assert!(
                    contrast(palette.shade, surface) >= 3.0,
                    "{:?}",
                    contrast(palette.shade, surface)
                );
            }
            // Buttons and selected lines: plain text and side notes.
            for surface in [palette.raised, palette.hovered, palette.selected] {
                for text in [palette.text, palette.strong] {
                    assert!(
                        contrast(text, surface) >= 4.5,
                        "{text:?} on {surface:?}: {}",
                        contrast(text, surface)
                    );
                }
            }
            for surface in [palette.raised, palette.selected] {
                assert!(
                    contrast(palette.weak, surface) >= 4.5,
                    "{surface:?}: {}",
                    contrast(palette.weak, surface)
                );
            }
        }
    }

    #[test]
    fn letters_on_pills_and_frames_around_them_are_seen() {
        for palette in [DARK, LIGHT] {
            let relations = Relation::ALL.map(|r| (r.code(), palette.relation(r)));
            for (name, colour) in meanings(&palette).into_iter().chain(relations) {
                let fill = palette.tint(colour);
                assert!(
                    contrast(colour, fill) >= 4.5,
                    "{name} on its pill: {}",
                    contrast(colour, fill)
                );
            }
            // The word on a selected button.
            assert!(
                contrast(palette.accent, palette.selected) >= 4.5,
                "{}",
                contrast(palette.accent, palette.selected)
            );
        }
    }

    #[test]
    fn meanings_differ_without_red_green_or_blue_cones() {
        for palette in [DARK, LIGHT] {
            let name = if palette.dark { "dark" } else { "light" };
            color_vision::assert_distinct(
                name,
                &meanings(&palette).map(|(name, colour)| (name, color(colour))),
            );
        }
    }

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(counted(1, "session"), "1 session");
        assert_eq!(duration(0.0203), "0.02 s");
        assert_eq!(
            [0.0, 0.0004, 0.001, 0.0072].map(duration),
            ["< 1 ms", "< 1 ms", "1 ms", "7 ms"]
        );
        assert_eq!(duration(200.0), "3 min 20 s");
    }
}
