//! Marks of a scene as shapes on the screen: the theme's look, highlighting, and less detail from afar.

use super::clip::visible_parts;
use super::look::{Look, Weight};
use crate::app::style::colour32;
use crate::diagram::layout::{LABEL_FONT, TITLE_FONT, shortened};
use crate::diagram::scene::{Align, Mark, Scene, Shape as SceneShape};
use crate::diagram::text_size::ADVANCE;
use crate::diagram::theme::{Role, Stroke as ThemeStroke, is_dotted};
use crate::diagram::{Emphasis, Target};
use crate::history::TransactionId;
use egui::emath::GuiRounding as _;
use egui::epaint::text::{LayoutJob, TextFormat, TextWrapping};
use egui::epaint::{RectShape, TextShape};
use egui::{Color32, CornerRadius, FontId, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, vec2};
use std::collections::BTreeSet;

/// No text is smaller than this on the screen, in points: where a picture shrinks it further, it keeps this size and is
/// shortened to its card, or is drawn as a bar.
const LEGIBLE: f32 = 11.0;
/// Labels that a graph shrinks below this are left out, in points.
const LEGIBLE_LABEL: f32 = 5.5;
/// How far outside the visible area a line is still drawn, in points: more than any width.
const MARGIN: f32 = 8.0;
/// Below this size text is left out.
const VISIBLE: f32 = 2.0;

/// Least opacity of the labels of edges that are pale, where all have labels.
const PALE_LABEL: f32 = 0.6;
/// From this zoom on, a card says how many operations it leaves out.
const BRIEF: f32 = 0.5;
/// Labels of edges are enlarged by up to this to be legible, around their middles.
const LABEL_GROWTH: f32 = 1.45;

/// Draws marks.
#[derive(Clone, Copy)]
pub(super) struct Brush<'a> {
    /// Where to lay out text.
    pub(super) painter: &'a Painter,
    /// Points of the screen per unit of the picture.
    pub(super) zoom: f32,
    /// The picture's origin on the screen.
    pub(super) origin: Pos2,
    /// How things look.
    pub(super) look: &'a Look,
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
    role: Role,
    at: Pos2,
    align: Align,
    size: f32,
    bold: bool,
    text: &'a str,
    /// Where the value begins in an operation: of a long one, key and value are shortened separately.
    value_at: Option<usize>,
    /// The card, label or lane that it is in.
    inside: Option<Rect>,
}

/// Below this size, as the picture shrinks it, a text of this role becomes a bar: lines of a card would touch each other,
/// or what is at both ends of a line.
fn smallest(role: Role) -> f32 {
    match role {
        Role::RowPlace | Role::CardStatus | Role::Folded => 9.5,
        Role::RowText => 6.6,
        Role::CardTitle | Role::LaneTitle | Role::Title => 5.6,
        Role::LabelText(_) | Role::NumberText => 6.8,
        _ => 8.0,
    }
}

impl Brush<'_> {
    fn point(&self, at: Pos2) -> Pos2 {
        self.origin + at.to_vec2() * self.zoom
    }

    /// A rectangle of the picture on the screen.
    fn area(&self, rect: Rect) -> Rect {
        Rect::from_min_max(self.point(rect.min), self.point(rect.max))
    }

    fn is_lit(&self, target: Option<Target>) -> bool {
        target.is_some_and(|target| self.look.is_lit(target))
    }

    /// The shapes of what is in view of a whole scene, paler where something else is highlighted.
    pub(super) fn scene(&self, scene: &Scene) -> Vec<Shape> {
        let marks = scene.marks_in(self.view()).map(|(_, mark)| mark);
        self.marks(marks, !scene.parts.is_empty())
    }

    /// The shapes of what is below everything in a graph.
    pub(super) fn ground(&self, scene: &Scene) -> Vec<Shape> {
        let ground = scene.parts.first().map_or(0..0, |part| part.marks.clone());
        self.marks(scene.marks[ground].iter(), true)
    }

    /// The frames around selected cards.
    pub(super) fn choices(&self, scene: &Scene) -> Vec<Shape> {
        let mut out = Vec::new();
        if !self.look.chosen.is_empty() {
            for (_, mark) in scene.marks_in(self.view()) {
                self.draw_choice(mark, &mut out);
            }
        }
        out
    }

    fn marks<'m>(&self, marks: impl Iterator<Item = &'m Mark>, is_graph: bool) -> Vec<Shape> {
        let mut out = Vec::new();
        // The operations of a card follow it, and so do texts.
        let (mut card, mut inside) = (None, None);
        for mark in marks {
            inside = enclosing(mark, inside);
            if let Some(Target::Transaction(_)) = mark.target {
                card = mark.target;
            }
            let Some(strength) = self.strength(mark, card, is_graph) else {
                continue;
            };
            self.of(mark, inside)
                .draw_mark(mark, inside, strength, &mut out);
            self.draw_choice(mark, &mut out);
            self.draw_flag(mark, &mut out);
        }
        out
    }

    /// Opacity of a mark on this card; none if it is not drawn.
    fn strength(&self, mark: &Mark, card: Option<Target>, is_graph: bool) -> Option<f32> {
        let look = self.look;
        match mark.target {
            Some(target @ Target::Edge(_)) => {
                let strength = look.strength_of_target(target);
                let is_shown = !look.is_hidden(target)
                    && (!is_graph
                        || !is_of_label(mark)
                        || !look.is_absent(target) && self.has_labels(strength));
                // Words are read where a line is only followed.
                let least = if is_of_label(mark) && !is_graph {
                    PALE_LABEL
                } else {
                    0.0
                };
                is_shown.then_some(strength.max(least))
            }
            Some(target @ Target::Transaction(_)) => Some(look.strength_of_target(target)),
            Some(Target::Operation(_)) if card.is_some() => {
                let is_absent = card.is_some_and(|card| look.is_absent(card));
                let is_lit = self.is_lit(card) || self.is_lit(mark.target);
                Some(look.strength_of(is_absent, is_lit))
            }
            // The columns of a graph.
            None if is_graph => Some(look.strength(false)),
            _ => Some(look.strength(true)),
        }
    }

    /// Whether edges of this opacity have labels in a graph. Of many edges, only those that are lit have them where they have
    /// to be larger than the picture shrinks them.
    fn has_labels(&self, strength: f32) -> bool {
        let size = LABEL_FONT * self.zoom;
        let is_crowded =
            self.look.weight == Weight::OfLit && size < LEGIBLE && !self.look.lit.edges.is_empty();
        size >= LEGIBLE_LABEL && !(is_crowded && strength < 1.0)
    }

    /// The part of the picture that is seen, and what reaches into it.
    fn view(&self) -> Rect {
        let seen = self.painter.clip_rect().expand(MARGIN);
        let in_picture = |at: Pos2| ((at - self.origin) / self.zoom).to_pos2();
        Rect::from_min_max(in_picture(seen.min), in_picture(seen.max))
    }

    /// The brush for a mark: that of a label of an edge draws larger, around the label's middle, but not beyond the side
    /// of the canvas.
    fn of(&self, mark: &Mark, inside: Option<Rect>) -> Brush<'_> {
        let is_of_row = matches!(mark.target, Some(Target::Operation(_)));
        let is_of_label = is_of_label(mark) && !is_of_row;
        let growth = match mark.target {
            Some(Target::Edge(edge)) => self.look.growth.get(&edge).copied(),
            _ => None,
        };
        let growth = growth.map_or(LABEL_GROWTH, |growth| growth.clamp(1.0, LABEL_GROWTH));
        let zoom = (LEGIBLE / LABEL_FONT).min(self.zoom * growth);
        let Some(label) = inside.filter(|_| is_of_label && zoom > self.zoom) else {
            return *self;
        };
        let middle = label.center();
        let mut brush = Brush {
            zoom,
            origin: self.point(middle) - middle.to_vec2() * zoom,
            ..*self
        };
        let (area, canvas) = (brush.area(label).expand(1.0), self.painter.clip_rect());
        if canvas.contains(self.point(middle)) {
            brush.origin.x +=
                (canvas.left() - area.left()).max(0.0) - (area.right() - canvas.right()).max(0.0);
        }
        brush
    }

    /// The role in which a mark is drawn: see [`Weight`].
    fn role(&self, mark: &Mark) -> Role {
        let emphasis = if self.is_lit(mark.target) {
            Emphasis::Cycle
        } else {
            Emphasis::Evidence
        };
        match (self.look.weight, mark.role) {
            (Weight::OfLit, Role::Edge(relation, _)) => Role::Edge(relation, emphasis),
            (Weight::OfLit, Role::Head(relation, _)) => Role::Head(relation, emphasis),
            (Weight::OfLit, Role::Label(relation, _)) => Role::Label(relation, emphasis),
            (_, role) => role,
        }
    }

    fn draw_mark(&self, mark: &Mark, inside: Option<Rect>, strength: f32, out: &mut Vec<Shape>) {
        let is_absent = mark
            .target
            .is_some_and(|target| self.look.is_absent(target));
        let strength = if is_absent {
            strength.min(self.look.strength_of(true, false))
        } else {
            strength
        };
        let style = self.look.palette.theme().style(self.role(mark));
        let fade = |colour: Color32| colour.gamma_multiply(strength);
        let fill = style.fill.map(|colour| fade(colour32(colour)));
        match &mark.shape {
            SceneShape::Rect { rect, radius } => {
                self.rect(
                    mark,
                    (*rect, *radius),
                    Paint {
                        fill,
                        stroke: style.stroke,
                        strength,
                    },
                    out,
                );
            }
            SceneShape::Line(path) => {
                let Some(stroke) = style.stroke else { return };
                let points = path
                    .flatten(12)
                    .into_iter()
                    .map(|point| self.point(point))
                    .collect();
                let wide = if self.is_lit(mark.target) && matches!(mark.role, Role::Edge(..)) {
                    1.45
                } else {
                    1.0
                };
                self.line(points, &stroke, wide, strength, out);
            }
            SceneShape::Head(points) => {
                let points = points.map(|point| self.point(point)).to_vec();
                out.push(Shape::convex_polygon(
                    points,
                    fill.unwrap_or_default(),
                    Stroke::NONE,
                ));
            }
            SceneShape::Text {
                at,
                align,
                size,
                bold,
                text,
                value_at,
            } => {
                let (role, bold) = (mark.role, *bold);
                let words = Words {
                    role,
                    at: *at,
                    align: *align,
                    size: *size,
                    bold,
                    text,
                    value_at: *value_at,
                    inside,
                };
                self.text(words, fill.unwrap_or_default(), out);
            }
        }
    }

    fn rect(&self, mark: &Mark, (rect, radius): (Rect, f32), paint: Paint, out: &mut Vec<Shape>) {
        let Paint {
            fill,
            stroke,
            strength,
        } = paint;
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
            out.push(Shape::rect_filled(
                area,
                corners,
                palette.accent.gamma_multiply(0.28),
            ));
        }
        if mark.role == Role::Row
            && let Some(Target::Operation(o)) = mark.target
            && self.look.wrong.contains(&o)
        {
            let red = palette.bad.gamma_multiply(0.34);
            out.push(Shape::rect_filled(area, corners, red));
        }
        if let Some(stroke) = stroke {
            let lit = is_card && self.is_lit(mark.target);
            let colour = if lit {
                palette.accent
            } else {
                colour32(stroke.color)
            };
            let width = stroke.width * self.zoom.clamp(0.5, 1.4) + if lit { 0.6 } else { 0.0 };
            let stroke = Stroke::new(width, colour.gamma_multiply(strength));
            out.push(Shape::Rect(RectShape::stroke(
                area,
                corners,
                stroke,
                StrokeKind::Middle,
            )));
        }
    }

    /// A flag at the upper right corner of a marked card.
    fn draw_flag(&self, mark: &Mark, out: &mut Vec<Shape>) {
        let Some(rect) = card_in(mark, &self.look.marked) else {
            return;
        };
        let (foot, size) = (
            self.area(rect).right_top() - vec2(14.0, 0.0) * self.zoom,
            9.0 * self.zoom.clamp(0.6, 1.6),
        );
        let top = foot - vec2(0.0, size * 1.4);
        let colour = self
            .look
            .palette
            .theme()
            .style(Role::NoteText)
            .fill
            .map_or(self.look.palette.strong, colour32);
        out.push(Shape::line_segment([foot, top], Stroke::new(1.4, colour)));
        let cloth = vec![top, top + vec2(size, size / 2.0), top + vec2(0.0, size)];
        out.push(Shape::convex_polygon(cloth, colour, Stroke::NONE));
    }

    /// A second frame around a selected card.
    fn draw_choice(&self, mark: &Mark, out: &mut Vec<Shape>) {
        let Some(rect) = card_in(mark, &self.look.chosen) else {
            return;
        };
        let area = self.area(rect).expand(4.0);
        let stroke = Stroke::new(2.0, self.look.palette.caution);
        let corners = [
            area.left_top(),
            area.right_top(),
            area.right_bottom(),
            area.left_bottom(),
            area.left_top(),
        ];
        out.extend(Shape::dashed_line(&corners, stroke, 6.0, 4.0));
    }

    fn line(
        &self,
        points: Vec<Pos2>,
        stroke: &ThemeStroke,
        wide: f32,
        strength: f32,
        out: &mut Vec<Shape>,
    ) {
        let scale = self.zoom.clamp(0.4, 1.6);
        // Smaller dots cannot be seen.
        let (dots, least) = if is_dotted(stroke.dash) {
            (scale.max(1.0), 1.2)
        } else {
            (scale, 0.7)
        };
        let width = (stroke.width * scale * wide).max(least);
        let line = Stroke::new(width, colour32(stroke.color).gamma_multiply(strength));
        let lengths: Vec<f32> = stroke
            .dash
            .iter()
            .step_by(2)
            .map(|length| length * dots)
            .collect();
        let gaps: Vec<f32> = stroke
            .dash
            .iter()
            .skip(1)
            .step_by(2)
            .map(|gap| gap * dots)
            .collect();
        let period: f32 = lengths.iter().chain(&gaps).sum();
        for run in visible_parts(&points, self.painter.clip_rect().expand(MARGIN + period)) {
            if stroke.dash.is_empty() {
                out.push(Shape::line(run.points, line));
                continue;
            }
            // Dashes are where they would be if the line were drawn from its beginning.
            let offset = period - run.begin % period;
            let dashes =
                Shape::dashed_line_with_offset(&run.points, line, &lengths, &gaps, offset % period);
            // As one shape: there may be hundreds, which would be moved one by one from list to list.
            out.push(Shape::Vec(dashes));
        }
    }

    fn text(&self, words: Words<'_>, colour: Color32, out: &mut Vec<Shape>) {
        let Words {
            role,
            align,
            bold,
            text,
            ..
        } = words;
        let at = self.point(words.at);
        let on_screen = words.size * self.zoom;
        if on_screen < VISIBLE {
            return;
        }
        let shift = |width: f32| match align {
            Align::Left | Align::After => 0.0,
            Align::Center => width / 2.0,
            Align::Right => width,
        };
        // Every size is rasterised once: rounding to half points keeps the number of sizes small while zooming.
        let size = ((on_screen * 2.0).round() / 2.0).max(LEGIBLE);
        let font = if role.is_prose() {
            FontId::proportional(size)
        } else {
            FontId::monospace(size)
        };
        let room = if on_screen < LEGIBLE {
            self.room(&words, at)
        } else {
            f32::INFINITY
        };
        let is_note = matches!(role, Role::RowPlace | Role::CardStatus | Role::Folded);
        let is_small = on_screen < smallest(role);
        // How many operations are left out is said in a word where the line has no room.
        let fits = || crate::diagram::text_size::width(text, size) <= room;
        let is_brief = role == Role::Folded && self.zoom >= BRIEF && (is_small || !fits());
        if is_note && is_small && !is_brief && TITLE_FONT * self.zoom >= smallest(Role::CardTitle) {
            // Where words can be read, bars would only distract.
            return;
        }
        let brief = is_brief.then(|| {
            text.split(' ')
                .take(2)
                .chain(["more"])
                .collect::<Vec<_>>()
                .join(" ")
        });
        let text = brief.as_deref().unwrap_or(text);
        if is_small && !is_brief || room < size {
            // Proportional letters are narrower.
            let share = if role.is_prose() { 0.8 } else { 1.0 };
            let width = share * crate::diagram::text_size::width(text, on_screen);
            let bar = Rect::from_min_size(
                at - vec2(shift(width), on_screen * 0.18),
                vec2(width, on_screen * 0.36),
            );
            out.push(Shape::rect_filled(
                bar,
                CornerRadius::ZERO,
                colour.gamma_multiply(0.55),
            ));
            return;
        }
        let shown = match words.value_at.filter(|_| room.is_finite()) {
            Some(value_at) => shortened(text, value_at, (room / (ADVANCE * size)) as usize).0,
            None => text.to_owned(),
        };
        let mut job = LayoutJob::single_section(shown, TextFormat::simple(font, colour));
        job.wrap = TextWrapping::truncate_at_width(room);
        let galley = self.painter.layout_job(job);
        let corner = (at - vec2(shift(galley.size().x), galley.size().y / 2.0))
            .round_to_pixels(self.painter.pixels_per_point());
        if bold {
            // As in `style::paint_bold`.
            let pixel = 1.0 / self.painter.pixels_per_point();
            let second = TextShape::new(
                corner + vec2(pixel, 0.0),
                std::sync::Arc::clone(&galley),
                colour,
            )
            .with_override_text_color(colour.gamma_multiply(0.6));
            out.push(Shape::Text(second));
        }
        out.push(Shape::galley(corner, galley, colour));
    }

    /// Width for a text that is drawn larger than the picture shrinks it.
    fn room(&self, words: &Words<'_>, at: Pos2) -> f32 {
        let Some(inside) = words
            .inside
            .map(|inside| self.area(inside).shrink2(vec2(2.0, 0.0)))
            .map(|inside| match words.role {
                // Labels that have no room to grow have none inside to spare.
                Role::LabelText(_) => inside.expand2(vec2(4.0, 0.0)),
                _ => inside,
            })
        else {
            return f32::INFINITY;
        };
        match words.align {
            Align::Left | Align::After => inside.right() - at.x,
            Align::Center if words.role == Role::NumberText => f32::INFINITY,
            Align::Center => 2.0 * (inside.right() - at.x).min(at.x - inside.left()),
            Align::Right => at.x - inside.left(),
        }
    }
}

/// The area of a card that is one of these.
fn card_in(mark: &Mark, these: &BTreeSet<TransactionId>) -> Option<Rect> {
    match (&mark.shape, mark.role, mark.target) {
        (SceneShape::Rect { rect, .. }, Role::Card(_), Some(Target::Transaction(t))) => {
            Some(*rect).filter(|_| these.contains(&t))
        }
        _ => None,
    }
}

/// Whether a mark is of the label of an edge, or of a number.
fn is_of_label(mark: &Mark) -> bool {
    matches!(
        mark.role,
        Role::Label(..) | Role::Number(_) | Role::NumberText | Role::LabelText(_)
    )
}

/// The card or label that a mark is in, when the marks before it were in `before`.
fn enclosing(mark: &Mark, before: Option<Rect>) -> Option<Rect> {
    let is_frame = matches!(
        mark.role,
        Role::Lane | Role::Card(_) | Role::Bar(..) | Role::Label(..)
    );
    match &mark.shape {
        SceneShape::Rect { rect, .. } if is_frame => Some(*rect),
        SceneShape::Text { at, .. } => before.filter(|frame| frame.contains(*at)),
        _ => before,
    }
}
