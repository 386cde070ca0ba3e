//! Marks of a scene as shapes on the screen: the theme's look, highlighting, and less detail from afar.

use super::clip::in_sight;
use super::look::Look;
use crate::app::style::colour32;
use crate::diagram::Target;
use crate::diagram::scene::{Align, Mark, Scene, Shape as SceneShape};
use crate::diagram::theme::{Role, Stroke as ThemeStroke};
use egui::emath::GuiRounding as _;
use egui::epaint::RectShape;
use egui::{Color32, CornerRadius, FontId, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, vec2};

/// Below this size on the screen text is drawn as bars, in points.
const LEGIBLE: f32 = 5.5;
/// How far outside the visible area a line is still drawn, in points: more than any width.
const MARGIN: f32 = 8.0;
/// Below this size text is left out.
const VISIBLE: f32 = 2.0;

/// Draws marks.
pub(super) struct Brush<'a> {
    /// Where to lay out text.
    pub(super) painter: &'a Painter,
    /// Points of the screen per unit of the picture.
    pub(super) zoom: f32,
    /// The picture's origin on the screen.
    pub(super) origin: Pos2,
    /// How things look.
    pub(super) look: &'a Look,
    /// The pointer is on the card or edge.
    pub(super) hovered: bool,
}

/// How a surface is painted.
struct Paint {
    fill: Option<Color32>,
    stroke: Option<ThemeStroke>,
    /// Opacity of the stroke; the fill has it already.
    strength: f32,
}

/// A text and its position.
struct Words<'a> {
    at: Pos2,
    align: Align,
    size: f32,
    bold: bool,
    is_prose: bool,
    text: &'a str,
}

impl Brush<'_> {
    fn point(&self, at: Pos2) -> Pos2 {
        self.origin + at.to_vec2() * self.zoom
    }

    /// A rectangle of the picture on the screen.
    pub(super) fn area(&self, rect: Rect) -> Rect {
        Rect::from_min_max(self.point(rect.min), self.point(rect.max))
    }

    fn is_lit(&self, target: Option<Target>) -> bool {
        match target {
            Some(Target::Transaction(t)) => self.look.lit.transactions.contains(&t),
            Some(Target::Operation(o)) => self.look.lit.operations.contains(&o),
            Some(Target::Edge(e)) => self.look.lit.edges.contains(&e),
            Some(Target::Elsewhere(t)) => self.look.lit.elsewhere.contains(&t),
            Some(Target::Several(..)) | None => false,
        }
    }

    /// Adds the shapes of what is in sight of a whole scene, paler where something else is highlighted.
    pub(super) fn draw_scene(&self, scene: &Scene, out: &mut Vec<Shape>) {
        // The operations of a card follow it.
        let mut is_card_lit = true;
        for mark in &scene.marks {
            let is_lit = match mark.target {
                Some(Target::Edge(edge)) if self.look.absent.edges.contains(&edge) => continue,
                Some(Target::Transaction(_)) => {
                    is_card_lit = self.is_lit(mark.target);
                    is_card_lit
                }
                Some(Target::Operation(_)) => is_card_lit || self.is_lit(mark.target),
                Some(Target::Edge(_)) => self.is_lit(mark.target),
                _ => true,
            };
            if self.is_in_sight(mark) {
                self.draw(std::slice::from_ref(mark), self.look.strength(is_lit), out);
                if let (Some(Target::Transaction(t)), SceneShape::Rect { rect, .. }) = (mark.target, &mark.shape)
                    && matches!(mark.role, Role::Card(_))
                    && self.look.marked.contains(&t)
                {
                    self.draw_flag(*rect, out);
                }
            }
        }
    }

    fn is_in_sight(&self, mark: &Mark) -> bool {
        let bounds = match &mark.shape {
            SceneShape::Rect { rect, .. } => *rect,
            SceneShape::Line(path) => path.bounds(),
            SceneShape::Head(points) => Rect::from_points(points),
            SceneShape::Text { at, size, text, .. } => {
                Rect::from_center_size(*at, vec2(2.0 * crate::diagram::text_size::width(text, *size), 2.0 * size))
            }
        };
        self.painter.clip_rect().intersects(self.area(bounds).expand(MARGIN))
    }

    /// Adds the shapes of marks that together make one card, edge or label of this strength.
    pub(super) fn draw(&self, marks: &[Mark], strength: f32, out: &mut Vec<Shape>) {
        for mark in marks {
            let is_absent = |o| self.look.absent.operations.contains(&o);
            let is_absent = matches!(mark.target, Some(Target::Operation(o)) if is_absent(o));
            let strength = if is_absent { strength.min(self.look.strength_of(true, false)) } else { strength };
            let style = self.look.palette.theme().style(mark.role);
            let fade = |colour: Color32| colour.gamma_multiply(strength);
            let fill = style.fill.map(|colour| fade(colour32(colour)));
            match &mark.shape {
                SceneShape::Rect { rect, radius } => {
                    self.rect(mark, (*rect, *radius), Paint { fill, stroke: style.stroke, strength }, out);
                }
                SceneShape::Line(path) => {
                    let Some(stroke) = style.stroke else { continue };
                    let points = path.flatten(12).into_iter().map(|point| self.point(point)).collect();
                    let wide = if self.is_lit(mark.target) && matches!(mark.role, Role::Edge(..)) { 1.45 } else { 1.0 };
                    let wide = if self.hovered { 1.45 } else { wide };
                    self.line(points, &stroke, wide, strength, out);
                }
                SceneShape::Head(points) => {
                    let points = points.map(|point| self.point(point)).to_vec();
                    out.push(Shape::convex_polygon(points, fill.unwrap_or_default(), Stroke::NONE));
                }
                SceneShape::Text { at, align, size, bold, text } => {
                    let is_prose = mark.role.is_prose();
                    let words = Words { at: *at, align: *align, size: *size, bold: *bold, is_prose, text };
                    self.text(words, fill.unwrap_or_default(), out);
                }
            }
        }
    }

    fn rect(&self, mark: &Mark, (rect, radius): (Rect, f32), paint: Paint, out: &mut Vec<Shape>) {
        let Paint { fill, stroke, strength } = paint;
        let area = self.area(rect);
        let corners = CornerRadius::same((radius * self.zoom).clamp(1.0, 24.0) as u8);
        let palette = &self.look.palette;
        let is_card = matches!(mark.role, Role::Card(_) | Role::Bar(..));
        if is_card || matches!(mark.role, Role::Label(..)) {
            // What is under a pale card or label must not shine through it.
            out.push(Shape::rect_filled(area, corners, palette.ground));
        }
        if let Some(fill) = fill {
            out.push(Shape::rect_filled(area, corners, fill));
        }
        if self.is_lit(mark.target) && matches!(mark.role, Role::Row | Role::ContextRow) {
            out.push(Shape::rect_filled(area, corners, palette.accent.gamma_multiply(0.28)));
        }
        if let Some(stroke) = stroke {
            let lit = is_card && (self.hovered || self.is_lit(mark.target));
            let colour = if lit { palette.accent } else { colour32(stroke.color) };
            let width = stroke.width * self.zoom.clamp(0.5, 1.4) + if lit { 0.6 } else { 0.0 };
            let stroke = Stroke::new(width, colour.gamma_multiply(strength));
            out.push(Shape::Rect(RectShape::stroke(area, corners, stroke, StrokeKind::Middle)));
        }
    }

    /// A flag at the upper right corner of a marked card.
    pub(super) fn draw_flag(&self, rect: Rect, out: &mut Vec<Shape>) {
        let (foot, size) = (self.area(rect).right_top() - vec2(14.0, 0.0) * self.zoom, 9.0 * self.zoom.clamp(0.6, 1.6));
        let top = foot - vec2(0.0, size * 1.4);
        let colour = self.look.palette.theme().style(Role::NoteText).fill.map_or(self.look.palette.strong, colour32);
        out.push(Shape::line_segment([foot, top], Stroke::new(1.4, colour)));
        let cloth = vec![top, top + vec2(size, size / 2.0), top + vec2(0.0, size)];
        out.push(Shape::convex_polygon(cloth, colour, Stroke::NONE));
    }

    /// A second frame around a selected card.
    pub(super) fn draw_choice(&self, rect: Rect, out: &mut Vec<Shape>) {
        let area = self.area(rect).expand(4.0);
        let stroke = Stroke::new(2.0, self.look.palette.caution);
        let corners = [area.left_top(), area.right_top(), area.right_bottom(), area.left_bottom(), area.left_top()];
        out.extend(Shape::dashed_line(&corners, stroke, 6.0, 4.0));
    }

    fn line(&self, points: Vec<Pos2>, stroke: &ThemeStroke, wide: f32, strength: f32, out: &mut Vec<Shape>) {
        let scale = self.zoom.clamp(0.4, 1.6);
        let line = Stroke::new((stroke.width * scale * wide).max(0.7), colour32(stroke.color).gamma_multiply(strength));
        let lengths: Vec<f32> = stroke.dash.iter().step_by(2).map(|length| length * scale).collect();
        let gaps: Vec<f32> = stroke.dash.iter().skip(1).step_by(2).map(|gap| gap * scale).collect();
        let period: f32 = lengths.iter().chain(&gaps).sum();
        for run in in_sight(&points, self.painter.clip_rect().expand(MARGIN + period)) {
            if stroke.dash.is_empty() {
                out.push(Shape::line(run.points, line));
                continue;
            }
            // Dashes are where they would be if the line were drawn from its beginning.
            let offset = period - run.begin % period;
            out.extend(Shape::dashed_line_with_offset(&run.points, line, &lengths, &gaps, offset % period));
        }
    }

    fn text(&self, words: Words<'_>, colour: Color32, out: &mut Vec<Shape>) {
        let Words { at, align, size, bold, is_prose, text } = words;
        let at = self.point(at);
        let on_screen = size * self.zoom;
        if on_screen < VISIBLE {
            return;
        }
        let shift = |width: f32| match align {
            Align::Left | Align::After => 0.0,
            Align::Center => width / 2.0,
            Align::Right => width,
        };
        if on_screen < LEGIBLE {
            let width = crate::diagram::text_size::width(text, on_screen);
            let bar = Rect::from_min_size(at - vec2(shift(width), on_screen * 0.18), vec2(width, on_screen * 0.36));
            out.push(Shape::rect_filled(bar, CornerRadius::ZERO, colour.gamma_multiply(0.55)));
            return;
        }
        // Every size is rasterised once: rounding to half points keeps the number of sizes small while zooming.
        let size = (on_screen * 2.0).round() / 2.0;
        let font = if is_prose { FontId::proportional(size) } else { FontId::monospace(size) };
        let galley = self.painter.layout_no_wrap(text.to_owned(), font, colour);
        let corner =
            (at - vec2(shift(galley.size().x), galley.size().y / 2.0)).round_to_pixels(self.painter.pixels_per_point());
        if bold {
            // As in `style::paint_bold`.
            let pixel = 1.0 / self.painter.pixels_per_point();
            let second =
                egui::epaint::TextShape::new(corner + vec2(pixel, 0.0), std::sync::Arc::clone(&galley), colour)
                    .with_override_text_color(colour.gamma_multiply(0.6));
            out.push(Shape::Text(second));
        }
        out.push(Shape::galley(corner, galley, colour));
    }
}
