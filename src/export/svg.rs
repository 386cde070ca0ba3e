//! SVG: text stays text, roles are classes, targets are groups with titles.

use super::Picture;
use super::page::page;
use super::picture::target_key;
use super::typesetter::Typesetter;
use crate::diagram::Target;
use crate::diagram::path::{Path, Segment};
use crate::diagram::scene::{Align, Mark, Scene, Shape};
use crate::diagram::text_size::{CAP_HEIGHT, GAP};
use crate::diagram::theme::{PRINT, Role, Theme};
use crate::history::acts_in_line;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Fonts whose glyphs all advance by 0.602 em, as the layout assumes.
const MONOSPACED: &str = "Hack, 'DejaVu Sans Mono', Menlo, monospace";
/// Fonts for sentences. None is wider than the layout expects.
const PROPORTIONAL: &str = "Ubuntu, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";

/// The reader of the SVG.
#[derive(Clone, Copy)]
pub(super) enum Reader<'f> {
    /// A program with its own fonts that finds others for missing characters.
    Viewer,
    /// Our renderer, which has the regular face only: bold is a thin line around the glyphs.
    Renderer(&'f Typesetter),
}

/// The picture as SVG.
pub(super) fn export(picture: &Picture) -> Vec<u8> {
    write(picture, &page(picture), Reader::Viewer).into_bytes()
}

/// A page of a picture as SVG.
pub(super) fn write(picture: &Picture, page: &Scene, reader: Reader<'_>) -> String {
    let theme = &PRINT;
    let (width, height) = (page.bounds.width(), page.bounds.height());
    let mut out = String::with_capacity(256 * page.marks.len());
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" xml:space="preserve">"#
    );
    let _ = writeln!(out, "<title>{}</title>", escape(&picture.title));
    let _ = writeln!(out, "<desc>{}</desc>", escape(&picture.subtitle));
    style(&mut out, page, theme);
    let mut open: Option<Target> = None;
    for (at, mark) in page.marks.iter().enumerate() {
        if mark.target != open {
            if open.is_some() {
                out.push_str("</g>\n");
            }
            open = mark.target;
            if let Some(target) = open {
                let class = match target {
                    Target::Transaction(_) => "transaction",
                    Target::Operation(_) => "operation",
                    Target::Edge(_) => "dependency",
                };
                let _ = write!(out, r#"<g class="{class}">"#);
                if let Some(tooltip) = picture.tooltips.get(&target_key(target)) {
                    let _ = write!(out, "<title>{}</title>", escape(tooltip));
                }
                out.push('\n');
            }
        }
        shape(&mut out, mark, theme, reader);
        if matches!(mark.shape, Shape::Text { .. }) {
            let goes_on = page.marks.get(at + 1).is_some_and(follows);
            out.push_str(if goes_on { "" } else { "</text>\n" });
        }
    }
    if open.is_some() {
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

fn style(out: &mut String, page: &Scene, theme: &Theme) {
    let roles: BTreeSet<Role> = page.marks.iter().map(|mark| mark.role).collect();
    let _ = writeln!(out, "<style>\ntext, tspan {{ font-family: {MONOSPACED}; white-space: pre }}");
    out.push_str(".bold { font-weight: 700 }\n");
    for role in roles {
        let selector: String = role.class().split(' ').flat_map(|class| [".", class]).collect();
        let look = theme.style(role);
        let fill = look.fill.map_or("none".to_owned(), |color| color.to_string());
        let _ = write!(out, "{selector} {{ fill: {fill}");
        if role.is_prose() {
            let _ = write!(out, "; font-family: {PROPORTIONAL}");
        }
        if let Some(stroke) = look.stroke {
            let _ = write!(out, "; stroke: {}; stroke-width: {}", stroke.color, stroke.width);
            if !stroke.dash.is_empty() {
                let dash: Vec<String> = stroke.dash.iter().map(f32::to_string).collect();
                let _ = write!(out, "; stroke-dasharray: {}", dash.join(" "));
            }
        }
        out.push_str(" }\n");
    }
    out.push_str("</style>\n");
}

fn shape(out: &mut String, mark: &Mark, theme: &Theme, reader: Reader<'_>) {
    let class = mark.role.class();
    match &mark.shape {
        // Only an area for hover and click.
        Shape::Rect { .. } if theme.style(mark.role) == Default::default() => {}
        Shape::Rect { rect, radius } => {
            let (x, y) = (number(rect.left()), number(rect.top()));
            let (width, height) = (number(rect.width()), number(rect.height()));
            let rounded = if *radius > 0.0 { format!(r#" rx="{}""#, number(*radius)) } else { String::new() };
            let _ =
                writeln!(out, r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}"{rounded}/>"#);
        }
        Shape::Line(path) => {
            let _ = writeln!(out, r#"<path class="{class}" d="{}"/>"#, path_data(path));
        }
        Shape::Head(points) => {
            let points: Vec<String> = points.iter().map(|p| format!("{},{}", number(p.x), number(p.y))).collect();
            let _ = writeln!(out, r#"<polygon class="{class}" points="{}"/>"#, points.join(" "));
        }
        Shape::Text { at, align, size, bold, text } => {
            let anchor = match align {
                Align::Left | Align::After => "",
                Align::Center => r#" text-anchor="middle""#,
                Align::Right => r#" text-anchor="end""#,
            };
            let (weight, stroke) = match (reader, theme.style(mark.role).fill) {
                (Reader::Viewer, _) if *bold => (" bold", String::new()),
                (Reader::Renderer(_), Some(color)) if *bold => {
                    ("", format!(r#" stroke="{color}" stroke-width="{}""#, number(size * 0.045)))
                }
                _ => ("", String::new()),
            };
            let text = words(text, mark.role, reader);
            if *align == Align::After {
                let _ =
                    write!(out, r#"<tspan class="{class}{weight}" dx="{}"{stroke}>{text}</tspan>"#, number(GAP * size));
                return;
            }
            let (x, y) = (number(at.x), number(at.y + size * CAP_HEIGHT / 2.0));
            let size = number(*size);
            let _ = write!(
                out,
                r#"<text class="{class}{weight}" x="{x}" y="{y}" font-size="{size}"{anchor}{stroke}>{text}"#
            );
        }
    }
}

/// A text, each stretch in its own font if there is no other way to have it set correctly.
fn words(text: &str, role: Role, reader: Reader<'_>) -> String {
    let Reader::Renderer(typesetter) = reader else { return escape(text) };
    let stretch = |(family, stretch): (Option<String>, String)| match family {
        Some(family) => format!(r#"<tspan style="font-family: {family}">{}</tspan>"#, escape(&stretch)),
        None => escape(&stretch),
    };
    typesetter.stretches(text, role.is_prose()).into_iter().map(stretch).collect()
}

/// Whether a mark continues where the previous text ends.
fn follows(mark: &Mark) -> bool {
    matches!(mark.shape, Shape::Text { align: Align::After, .. })
}

fn path_data(path: &Path) -> String {
    let point = |p: emath::Pos2| format!("{} {}", number(p.x), number(p.y));
    let mut data = format!("M{}", point(path.start));
    for segment in &path.segments {
        match *segment {
            Segment::Line(end) => data += &format!("L{}", point(end)),
            Segment::Quadratic(c, end) => data += &format!("Q{} {}", point(c), point(end)),
            Segment::Cubic(c, d, end) => data += &format!("C{} {} {}", point(c), point(d), point(end)),
        }
    }
    data
}

/// At most two decimals, without trailing zeros.
pub(super) fn number(value: f32) -> String {
    let rounded = (f64::from(value) * 100.0).round() / 100.0;
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}

/// Text for XML; characters that XML cannot contain, or that act instead of being visible, are written out.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if acts_in_line(c) => escaped.extend(c.escape_default()),
            c => escaped.push(c),
        }
    }
    escaped
}
