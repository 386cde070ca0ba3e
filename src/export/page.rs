//! A [`Picture`] as one scene: headline, verdicts, diagram, argument, legend, footer.

use super::Picture;
use crate::diagram::Emphasis;
use crate::diagram::path::Path;
use crate::diagram::scene::{Align, Mark, Scene, Shape, head};
use crate::diagram::text_size::{columns, elide, width, wrap};
use crate::diagram::theme::Role;
use crate::relations::Relation;
use emath::{Pos2, Rect, pos2, vec2};

const MARGIN: f32 = 30.0;
/// Least width of what is between the margins.
const CONTENT: f32 = 840.0;
const TITLE: f32 = 24.0;
const SUBTITLE: f32 = 15.0;
const BODY: f32 = 14.5;
const LEGEND: f32 = 13.0;
const FOOTER: f32 = 12.5;
/// Lines of text longer than this are hard to follow.
const MAX_COLUMNS: usize = 110;

/// The page as a scene whose bounds start at the origin.
///
/// Up to a width of 1,000 units the smallest text (12.5 units) is at least 10 pixels high when the page is shown 800
/// pixels wide. On a wider page the words around the diagram grow with it, and the footer says how wide it is.
pub fn page(picture: &Picture) -> Scene {
    let content = picture.scene.bounds.width().max(CONTENT);
    let scale = ((content + 2.0 * MARGIN) / 1000.0).clamp(1.0, 1.8);
    let mut page = Writer {
        scene: Scene { bounds: Rect::ZERO, marks: Vec::new() },
        left: MARGIN,
        width: content,
        y: MARGIN,
        scale,
    };
    // The ground is drawn first and gets its size last.
    let ground = Shape::Rect { rect: Rect::ZERO, radius: 0.0 };
    page.scene.marks.push(Mark { shape: ground, role: Role::Page, target: None });
    page.paragraph(&picture.title, TITLE, true, Role::Title, 32.0);
    page.y += 2.0;
    page.paragraph(&picture.subtitle, SUBTITLE, false, Role::Subtitle, 22.0);
    page.y += 8.0;
    for fact in &picture.facts {
        page.paragraph(fact, BODY, false, Role::Body, 21.0);
    }
    page.y += 18.0;
    if !picture.diagram.cards.is_empty() {
        // A narrow diagram stands in the middle.
        let by =
            vec2(MARGIN + (content - picture.scene.bounds.width()) / 2.0, page.y) - picture.scene.bounds.min.to_vec2();
        page.scene.append(&picture.scene, by);
        page.y += picture.scene.bounds.height() + 22.0;
    }
    page.steps(picture);
    if !picture.conclusion.is_empty() {
        page.y += 4.0;
        page.paragraph(&picture.conclusion, BODY, false, Role::Subtitle, 22.0);
    }
    page.y += 12.0;
    page.rule();
    page.y += 10.0;
    page.legend(picture);
    let total = content + 2.0 * MARGIN;
    let mut footer = picture.footer.clone();
    if total > 1000.0 {
        footer.push(format!("{total:.0} units wide: enlarge to read"));
    }
    page.y += 4.0;
    page.items(&footer, FOOTER, Role::Footer, 20.0);
    let bounds = Rect::from_min_max(Pos2::ZERO, pos2(total.ceil(), (page.y + MARGIN - 8.0).ceil()));
    page.scene.marks[0].shape = Shape::Rect { rect: bounds, radius: 0.0 };
    page.scene.bounds = bounds;
    page.scene
}

/// Writes from top to bottom.
struct Writer {
    scene: Scene,
    left: f32,
    width: f32,
    /// Top of what comes next.
    y: f32,
    /// By how much words are larger than usual.
    scale: f32,
}

impl Writer {
    /// Sizes and widths are given as at scale 1.
    fn text(&mut self, at: Pos2, align: Align, size: f32, bold: bool, text: &str, role: Role) {
        let shape = Shape::Text { at, align, size: size * self.scale, bold, text: text.to_owned() };
        self.scene.marks.push(Mark { shape, role, target: None });
    }

    fn text_width(&self, text: &str, size: f32) -> f32 {
        width(text, size) * self.scale
    }

    fn max_columns(&self, size: f32) -> usize {
        ((self.width / self.text_width("x", size)) as usize).clamp(1, MAX_COLUMNS)
    }

    fn paragraph(&mut self, text: &str, size: f32, bold: bool, role: Role, line_height: f32) {
        if text.is_empty() {
            return;
        }
        let line_height = line_height * self.scale;
        // `x = 1` stays on one line.
        for line in wrap(&text.replace(" = ", "\u{a0}=\u{a0}"), self.max_columns(size)) {
            self.text(pos2(self.left, self.y + line_height / 2.0), Align::Left, size, bold, &line, role);
            self.y += line_height;
        }
    }

    /// Headings on lines of their own, numbers in a column of their own, sentences beside them, edges named at the end in
    /// their colours.
    fn steps(&mut self, picture: &Picture) {
        const INDENT: usize = 4;
        let line_height = 22.0 * self.scale;
        let indent = self.text_width(&" ".repeat(INDENT), BODY);
        let max = self.max_columns(BODY).saturating_sub(INDENT).max(20);
        let mut heading = "";
        for step in &picture.steps {
            self.y += 2.0;
            if step.heading != heading {
                self.y += 4.0;
                self.text(
                    pos2(self.left, self.y + line_height / 2.0),
                    Align::Left,
                    BODY,
                    true,
                    &step.heading,
                    Role::Lead,
                );
                self.y += line_height;
            }
            heading = &step.heading;
            if let Some(number) = step.number {
                let at = pos2(self.left + indent * 0.7, self.y + line_height / 2.0);
                self.text(at, Align::Right, BODY, true, &number.to_string(), Role::Lead);
            }
            let mut used = 0;
            // `x = 1` stays on one line.
            for line in wrap(&step.text.replace(" = ", "\u{a0}=\u{a0}"), max) {
                let at = pos2(self.left + indent, self.y + line_height / 2.0);
                self.text(at, Align::Left, BODY, false, &line, Role::Body);
                used = columns(&line);
                self.y += line_height;
            }
            for (mention, relation) in &step.mentions {
                let mention = elide(mention, max);
                let needed = columns(&mention) + 2;
                if used > 0 && used + needed > max {
                    used = 0;
                    self.y += line_height;
                }
                let column = if used > 0 { used + 2 } else { 0 };
                let x = self.left + indent + self.text_width(&" ".repeat(column), BODY);
                let at = pos2(x, self.y - line_height / 2.0);
                self.text(at, Align::Left, BODY, true, &mention, Role::LabelText(*relation));
                used = column + columns(&mention);
            }
        }
    }

    fn rule(&mut self) {
        let line = Path::line(pos2(self.left, self.y), pos2(self.left + self.width, self.y));
        self.scene.marks.push(Mark { shape: Shape::Line(line), role: Role::Rule, target: None });
    }

    fn legend(&mut self, picture: &Picture) {
        let (sample, gap, line_height) = (46.0 * self.scale, 24.0 * self.scale, 26.0 * self.scale);
        let relations = picture.diagram.relations();
        if relations.is_empty() {
            return;
        }
        let mut x = self.left;
        let mut room = |writer: &mut Writer, wide: f32| {
            if x > writer.left && x + wide > writer.left + writer.width {
                x = writer.left;
                writer.y += line_height;
            }
            let at = pos2(x, writer.y + line_height / 2.0);
            x += wide + gap;
            at
        };
        for relation in relations {
            let name = relation.name();
            let code = relation.code();
            let (code_width, name_width) = (self.text_width(code, LEGEND), self.text_width(name, LEGEND));
            let at = room(self, sample + 8.0 + code_width + 8.0 + name_width);
            self.sample(at, sample, relation, Emphasis::Cycle);
            let text_x = at.x + sample + 8.0;
            self.text(pos2(text_x, at.y), Align::Left, LEGEND, true, code, Role::LabelText(relation));
            self.text(pos2(text_x + code_width + 8.0, at.y), Align::Left, LEGEND, false, name, Role::Legend);
        }
        let is = |emphasis| picture.diagram.arrows.iter().any(|arrow| arrow.emphasis == emphasis);
        if is(Emphasis::Cycle) && is(Emphasis::Evidence) {
            let text = "thick: on the cycle";
            let wide = self.text_width(text, LEGEND);
            let at = room(self, wide);
            self.text(at, Align::Left, LEGEND, false, text, Role::Legend);
        }
        if let Some(arrow) = picture.diagram.arrows.iter().find(|arrow| arrow.emphasis == Emphasis::Rejected) {
            let text = "if, then: an order that was ruled out";
            let wide = self.text_width(text, LEGEND);
            let at = room(self, sample + 8.0 + wide);
            self.sample(at, sample, arrow.relation, Emphasis::Rejected);
            self.text(pos2(at.x + sample + 8.0, at.y), Align::Left, LEGEND, false, text, Role::Legend);
        }
        self.y += line_height;
    }

    fn sample(&mut self, at: Pos2, length: f32, relation: Relation, emphasis: Emphasis) {
        let end = at + vec2(length, 0.0);
        let line = Path::line(at, end - vec2(8.0, 0.0));
        let (role, head_role) = (Role::Edge(relation, emphasis), Role::Head(relation, emphasis));
        self.scene.marks.push(Mark { shape: Shape::Line(line), role, target: None });
        let shape = Shape::Head(head(end, vec2(1.0, 0.0)));
        self.scene.marks.push(Mark { shape, role: head_role, target: None });
    }

    /// Short facts with dots between them, broken between facts.
    fn items(&mut self, items: &[String], size: f32, role: Role, line_height: f32) {
        let max = self.max_columns(size);
        let mut line = String::new();
        let mut lines = Vec::new();
        for item in items {
            let longer = if line.is_empty() { item.clone() } else { format!("{line} · {item}") };
            if columns(&longer) <= max || line.is_empty() {
                line = longer;
            } else {
                lines.push(std::mem::replace(&mut line, item.clone()));
            }
        }
        lines.push(line);
        for line in lines {
            self.paragraph(&line, size, false, role, line_height);
        }
    }
}
