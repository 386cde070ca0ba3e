//! SVG: text stays text, roles are classes, targets are groups with titles.

use super::Picture;
use super::page::page;
use super::picture::target_key;
use crate::diagram::Target;
use crate::diagram::path::{Path, Segment};
use crate::diagram::scene::{Align, Mark, Scene, Shape};
use crate::diagram::text_size::CAP_HEIGHT;
use crate::diagram::theme::{PRINT, Role, Theme};
use crate::history::is_hidden;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Fonts whose glyphs all advance by 0.602 em, as the layout assumes.
const FONTS: &str = "Hack, 'DejaVu Sans Mono', Menlo, monospace";

/// How bold text is made bold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bold {
    /// By the font's bold face.
    Weight,
    /// By a thin line round the glyphs, for a renderer that has the regular face only.
    Stroke,
}

/// The picture as SVG.
pub(super) fn export(picture: &Picture) -> Vec<u8> {
    write(picture, &page(picture), Bold::Weight).into_bytes()
}

/// A page of a picture as SVG.
pub(super) fn write(picture: &Picture, page: &Scene, bold: Bold) -> String {
    let theme = &PRINT;
    let (width, height) = (page.bounds.width(), page.bounds.height());
    let mut out = String::with_capacity(256 * page.marks.len());
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" xml:space="preserve">"#
    );
    let _ = writeln!(out, "<title>{}</title>", escape(&picture.title));
    let _ = writeln!(out, "<desc>{}</desc>", escape(&picture.subtitle));
    style(&mut out, page, theme, bold);
    let mut open: Option<Target> = None;
    for mark in &page.marks {
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
        shape(&mut out, mark, theme, bold);
    }
    if open.is_some() {
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

fn style(out: &mut String, page: &Scene, theme: &Theme, bold: Bold) {
    let roles: BTreeSet<Role> = page.marks.iter().map(|mark| mark.role).collect();
    let _ = writeln!(out, "<style>\ntext {{ font-family: {FONTS}; white-space: pre }}");
    if bold == Bold::Weight {
        out.push_str(".bold { font-weight: 700 }\n");
    }
    for role in roles {
        let selector: String = role.class().split(' ').flat_map(|class| [".", class]).collect();
        let look = theme.style(role);
        let fill = look.fill.map_or("none".to_owned(), |color| color.to_string());
        let _ = write!(out, "{selector} {{ fill: {fill}");
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

fn shape(out: &mut String, mark: &Mark, theme: &Theme, bold_by: Bold) {
    let class = mark.role.class();
    match &mark.shape {
        // An area to point at only.
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
                Align::Left => "",
                Align::Center => r#" text-anchor="middle""#,
                Align::Right => r#" text-anchor="end""#,
            };
            let weight = if *bold && bold_by == Bold::Weight { " bold" } else { "" };
            let stroke = match theme.style(mark.role).fill {
                Some(color) if *bold && bold_by == Bold::Stroke => {
                    format!(r#" stroke="{color}" stroke-width="{}""#, number(size * 0.045))
                }
                _ => String::new(),
            };
            let (x, y) = (number(at.x), number(at.y + size * CAP_HEIGHT / 2.0));
            let size = number(*size);
            let text = escape(text);
            let _ = writeln!(
                out,
                r#"<text class="{class}{weight}" x="{x}" y="{y}" font-size="{size}"{anchor}{stroke}>{text}</text>"#
            );
        }
    }
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

/// At most two decimals, none that are zero.
pub(super) fn number(value: f32) -> String {
    let rounded = (f64::from(value) * 100.0).round() / 100.0;
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}

/// Text for XML; characters that XML cannot hold, or that act in place of being seen, are written out.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if is_hidden(c) => escaped.extend(c.escape_default()),
            c => escaped.push(c),
        }
    }
    escaped
}
