//! A [`Picture`] as one scene: headline, verdicts, diagram, argument, legend, footer.

use super::Picture;
use super::drawing::ABOUT_DECISIVE;
use super::view::PAGE_CONTENT as CONTENT;
use emath::{Pos2, Rect, pos2, vec2};
use isoscope_draw::diagram::path::Path;
use isoscope_draw::diagram::scene::{Align, Mark, Scene, Shape, numbered};
use isoscope_draw::diagram::text_size::{prose_width, width, wrap};
use isoscope_draw::diagram::theme::Role;
use isoscope_draw::diagram::{Arrow, Condition, Emphasis, Target};
use isoscope_model::history::Outcome;
use isoscope_model::relations::{EdgeIndex, Relation};
use isoscope_tell::counterexample::NOT_RECORDED;
use std::collections::BTreeSet;

/// Width of a page.
const WIDTH: f32 = 1000.0;
const MARGIN: f32 = (WIDTH - CONTENT) / 2.0;
const TITLE: f32 = 24.0;
const SUBTITLE: f32 = 15.0;
const BODY: f32 = 14.5;
const LEGEND: f32 = 13.0;
const LEGEND_LINE: f32 = 24.0;
/// Length of an arrow in the legend.
const SAMPLE: f32 = 46.0;
const FOOTER: f32 = 12.5;
/// Lines between the headline and the diagram.
const LINES_ABOVE: usize = 3;
/// Indentation of a case relative to what it is a case of.
const CASE_INDENT: f32 = 22.0;

/// The page as a scene whose bounds start at the origin.
///
/// It is 1,000 units wide. A wider diagram is scaled down to it unless the picture is wide; those that [`compose`](super::compose) lays out need
/// so little scaling that their smallest text has at least 11 units.
pub fn page(picture: &Picture) -> Scene {
    let mut page = Writer {
        scene: Scene::new(Rect::ZERO),
        left: MARGIN,
        width: CONTENT,
        y: MARGIN,
    };
    let mut width = WIDTH;
    // The background is drawn first and gets its size last.
    page.scene.rect(Rect::ZERO, 0.0, Role::Page, None);
    page.paragraph(&picture.title, TITLE, true, Role::Title, 32.0);
    page.y += 2.0;
    page.paragraph(&picture.subtitle, SUBTITLE, false, Role::Subtitle, 22.0);
    page.y += 8.0;
    let (facts, below) = page.facts(picture);
    for fact in &facts {
        page.paragraph(fact, BODY, false, Role::Body, 21.0);
    }
    page.y += 18.0;
    if !picture.scene.marks.is_empty() {
        // A narrow diagram is centred.
        let bounds = picture.scene.bounds;
        let scale = if picture.is_wide {
            1.0
        } else {
            (CONTENT / bounds.width()).min(1.0)
        };
        let to = vec2(
            MARGIN + ((CONTENT - bounds.width() * scale) / 2.0).max(0.0),
            page.y,
        );
        width = width.max(bounds.width() * scale + 2.0 * MARGIN);
        page.scene
            .append(&picture.scene, scale, to - bounds.min.to_vec2() * scale);
        page.y += bounds.height() * scale + 22.0;
    }
    page.steps(picture);
    if !picture.conclusion.is_empty() {
        page.y += 4.0;
        page.paragraph(&picture.conclusion, BODY, false, Role::Subtitle, 22.0);
    }
    page.y += 12.0;
    page.rule();
    page.y += 8.0;
    for detail in below.into_iter().chain(&picture.details) {
        page.paragraph(detail, LEGEND, false, Role::Legend, 20.0);
    }
    page.y += 6.0;
    page.legend(picture);
    page.y += 4.0;
    page.items(&picture.footer, FOOTER, Role::Footer, 20.0);
    let bounds = Rect::from_min_max(
        Pos2::ZERO,
        pos2(width.ceil(), (page.y + MARGIN - 8.0).ceil()),
    );
    let ground = Shape::Rect {
        rect: bounds,
        radius: 0.0,
    };
    page.scene.marks[0] = Mark::new(ground, page.scene.marks[0].role, None);
    page.scene.bounds = bounds;
    page.scene
}

/// What a legend says in addition to the names of the relations, some of it about an arrow that is shown.
pub(super) fn legend_notes(picture: &Picture) -> Vec<(Option<(Relation, Emphasis)>, &'static str)> {
    let edges = picture.scene.edges();
    let has = |emphasis| edges.iter().copied().find(|edge| edge.1 == emphasis);
    let mut notes = Vec::new();
    if picture
        .scene
        .marks
        .iter()
        .any(|mark| matches!(mark.role, Role::Edge(..)))
    {
        notes.push((
            None,
            "an arrow points to what came, or would have to come, later",
        ));
    }
    if has(Emphasis::Cycle).is_some() && has(Emphasis::Evidence).is_some() {
        notes.push((None, "heavy: the contradiction, thin: evidence"));
    }
    let has_bar = |ended| {
        picture
            .scene
            .marks
            .iter()
            .any(|mark| matches!(mark.role, Role::Bar(outcome, _) if outcome == ended))
    };
    if has_bar(Outcome::Aborted) {
        notes.push((None, "red frame: aborted"));
    }
    if has_bar(Outcome::Unknown) {
        notes.push((None, "dashed red frame: outcome unknown"));
    }
    let labelled: BTreeSet<EdgeIndex> = picture
        .scene
        .marks
        .iter()
        .filter_map(|mark| match (mark.role, mark.target) {
            (Role::LabelText(_), Some(Target::Edge(edge))) => Some(edge),
            _ => None,
        })
        .collect();
    let has_label = |is: fn(&Arrow) -> bool| {
        let mut arrows = picture.diagram.arrows.iter();
        arrows.any(|arrow| is(arrow) && labelled.contains(&arrow.edge))
    };
    if has_label(|arrow| arrow.condition == Some(Condition::If)) {
        notes.push((None, "if: in a case only"));
    }
    if has_label(|arrow| arrow.is_decisive) {
        notes.push((None, ABOUT_DECISIVE));
    }
    if let Some(edge) = has(Emphasis::Rejected) {
        notes.push((Some(edge), "if, then: an order that was ruled out"));
    }
    notes
}

/// Writes from top to bottom.
struct Writer {
    scene: Scene,
    left: f32,
    width: f32,
    /// Top of the next item.
    y: f32,
}

impl Writer {
    fn text(&mut self, at: Pos2, align: Align, size: f32, bold: bool, text: &str, role: Role) {
        let shape = Shape::Text {
            at,
            align,
            size,
            bold,
            text: text.to_owned(),
            value_at: None,
        };
        self.scene.marks.push(Mark::new(shape, role, None));
    }

    /// What is below the headline: a line for each fact, or one after the other where these are more than a reader's three
    /// lines before the diagram. What was tested is below it if it is unknown and more than fits.
    fn facts<'p>(&self, picture: &'p Picture) -> (Vec<String>, Option<&'p String>) {
        let n = |text: &String, size| self.lines(text, size, false).len();
        let free = LINES_ABOVE.saturating_sub(n(&picture.subtitle, SUBTITLE));
        let fit = |facts: &[String]| facts.iter().map(|fact| n(fact, BODY)).sum::<usize>() <= free;
        let joined = vec![picture.facts.join(" ")];
        match picture.facts.split_last() {
            _ if fit(&picture.facts) => (picture.facts.clone(), None),
            Some((last, rest)) if !fit(&joined) && last == NOT_RECORDED => {
                (rest.to_vec(), Some(last))
            }
            _ => (joined, None),
        }
    }

    fn lines(&self, text: &str, size: f32, bold: bool) -> Vec<String> {
        // `x = 1` stays on one line.
        wrap(
            &text.replace(" = ", "\u{a0}=\u{a0}"),
            size,
            bold,
            self.width,
        )
    }

    fn paragraph(&mut self, text: &str, size: f32, bold: bool, role: Role, line_height: f32) {
        if text.is_empty() {
            return;
        }
        for line in self.lines(text, size, bold) {
            self.text(
                pos2(self.left, self.y + line_height / 2.0),
                Align::Left,
                size,
                bold,
                &line,
                role,
            );
            self.y += line_height;
        }
    }

    /// Headings on lines of their own, numbers in a column of their own, in the colours of their edges, then sentences.
    fn steps(&mut self, picture: &Picture) {
        const INDENT: f32 = 35.0;
        let line_height = 22.0;
        let outer = (self.left, self.width);
        let mut heading = "";
        for step in &picture.steps {
            // A case is a block of its own, indented relative to what it is a case of.
            let further = CASE_INDENT * step.depth as f32;
            (self.left, self.width) = (outer.0 + further, outer.1 - further);
            let (max, top) = (self.width - INDENT, self.y);
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
                let at = pos2(self.left + INDENT * 0.45, self.y + line_height / 2.0);
                self.scene
                    .marks
                    .extend(numbered(at, &[number], picture.relation_of(step), None));
            }
            // `x = 1` stays on one line.
            for line in wrap(&step.text.replace(" = ", "\u{a0}=\u{a0}"), BODY, false, max) {
                let at = pos2(self.left + INDENT, self.y + line_height / 2.0);
                self.text(at, Align::Left, BODY, false, &line, Role::Body);
                self.y += line_height;
            }
            for depth in 0..step.depth {
                let x = outer.0 + CASE_INDENT * (depth as f32 + 0.5);
                self.scene.line(
                    Path::line(pos2(x, top + 6.0), pos2(x, self.y + 6.0)),
                    Role::Rule,
                    None,
                );
            }
        }
        (self.left, self.width) = outer;
    }

    fn rule(&mut self) {
        let line = Path::line(
            pos2(self.left, self.y),
            pos2(self.left + self.width, self.y),
        );
        self.scene.line(line, Role::Rule, None);
    }

    /// Observed relations on a line, inferred ones on another, then what the weights mean.
    fn legend(&mut self, picture: &Picture) {
        if let Some(key) = picture.key {
            return self.paragraph(key, LEGEND, false, Role::Legend, 20.0);
        }
        let mut relations: Vec<Relation> = picture
            .scene
            .edges()
            .into_iter()
            .map(|edge| edge.0)
            .collect();
        relations.dedup();
        let column = self.left + prose_width("concluded", LEGEND, false) + 12.0;
        for (heading, is_observed) in [("observed", true), ("concluded", false)] {
            let mut x = self.left;
            for relation in relations
                .iter()
                .copied()
                .filter(|relation| relation.is_observed() == is_observed)
            {
                let code = relation.code();
                let name = &format!("{}: {}", relation.name(), relation.meaning());
                let needed = SAMPLE + 16.0 + width(code, LEGEND) + prose_width(name, LEGEND, false);
                if x == self.left {
                    self.legend_text(x, heading, false, Role::Legend);
                    x = column;
                } else if x + needed > self.left + self.width {
                    self.y += LEGEND_LINE;
                    x = column;
                }
                self.scene.sample(
                    pos2(x, self.y + LEGEND_LINE / 2.0),
                    SAMPLE,
                    relation,
                    Emphasis::Cycle,
                );
                x = self.legend_text(x + SAMPLE + 8.0, code, true, Role::LabelText(relation));
                x = self.legend_text(x, name, false, Role::Legend) + 16.0;
            }
            self.y += if x > self.left { LEGEND_LINE } else { 0.0 };
        }
        let mut x = self.left;
        for (sample, text) in legend_notes(picture) {
            let needed = sample.map_or(0.0, |_| SAMPLE + 8.0) + prose_width(text, LEGEND, false);
            if x > self.left && x + needed > self.left + self.width {
                self.y += LEGEND_LINE;
                x = self.left;
            }
            if let Some((relation, emphasis)) = sample {
                self.scene.sample(
                    pos2(x, self.y + LEGEND_LINE / 2.0),
                    SAMPLE,
                    relation,
                    emphasis,
                );
                x += SAMPLE + 8.0;
            }
            x = self.legend_text(x, text, false, Role::Legend) + 16.0;
        }
        self.y += if x > self.left { LEGEND_LINE } else { 0.0 };
    }

    /// Writes a text of the legend and returns where the next begins.
    fn legend_text(&mut self, x: f32, text: &str, bold: bool, role: Role) -> f32 {
        self.text(
            pos2(x, self.y + LEGEND_LINE / 2.0),
            Align::Left,
            LEGEND,
            bold,
            text,
            role,
        );
        x + 8.0
            + if role.is_prose() {
                prose_width(text, LEGEND, bold)
            } else {
                width(text, LEGEND)
            }
    }

    /// Short facts with dots between them, broken between facts.
    fn items(&mut self, items: &[String], size: f32, role: Role, line_height: f32) {
        let mut line = String::new();
        let mut lines = Vec::new();
        for item in items {
            let longer = if line.is_empty() {
                item.clone()
            } else {
                format!("{line} · {item}")
            };
            if prose_width(&longer, size, false) <= self.width || line.is_empty() {
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
