//! TikZ: the scene of the diagram as a standalone document, with a style for every role.
//!
//! Compiles with pdfLaTeX, XeLaTeX and LuaLaTeX. The class `standalone` crops it to the picture, so that it can be
//! included as a figure; the styles are at the top and can be changed there.

use super::Picture;
use super::svg::number;
use isoscope_draw::diagram::path::{Path, Segment};
use isoscope_draw::diagram::scene::{Align, Mark, Shape};
use isoscope_draw::diagram::theme::{Color, PRINT, Role};
use isoscope_model::history::is_isolate;
use std::collections::BTreeSet;
use std::fmt::Write;

/// TeX points per unit: 1,000 units are as wide as a page's text.
const SCALE: f32 = 0.42;

/// The diagram as a LaTeX document.
pub(super) fn export(picture: &Picture) -> Vec<u8> {
    let marks = &picture.scene.marks;
    let mut out = String::new();
    for fact in [&picture.title, &picture.subtitle]
        .into_iter()
        .chain(&picture.facts)
        .chain(&picture.details)
        .chain(&picture.footer)
    {
        let _ = writeln!(out, "% {fact}");
    }
    out.push_str("\\documentclass[tikz,border=4pt]{standalone}\n\\usepackage{iftex}\n");
    out.push_str("\\ifPDFTeX\n  \\usepackage[T1]{fontenc}\n  \\usepackage[utf8]{inputenc}\n");
    // A font that has all sizes.
    out.push_str("  \\IfFileExists{lmodern.sty}{\\usepackage{lmodern}}{}\n");
    for c in foreign(marks) {
        let _ = writeln!(
            out,
            "  \\DeclareUnicodeCharacter{{{:04X}}}{{{}}}",
            c as u32,
            stand_in(c)
        );
    }
    out.push_str("\\else\n  \\usepackage{fontspec}\n\\fi\n");
    let roles: BTreeSet<Role> = marks.iter().map(|mark| mark.role).collect();
    let colors: BTreeSet<String> = roles
        .iter()
        .flat_map(|role| colors(*role))
        .map(|color| color.to_string())
        .collect();
    for color in colors {
        let digits = color.trim_start_matches('#');
        let _ = writeln!(
            out,
            "\\definecolor{{c{digits}}}{{HTML}}{{{}}}",
            digits.to_ascii_uppercase()
        );
    }
    out.push_str("\\tikzset{\n");
    for role in roles {
        let _ = writeln!(out, "  {}/.style={{{}}},", name(role), style(role));
    }
    let _ = writeln!(
        out,
        "}}\n\\begin{{document}}\n\\begin{{tikzpicture}}[x={SCALE}pt,y=-{SCALE}pt,inner sep=0pt]"
    );
    for mark in marks {
        shape(&mut out, mark);
    }
    out.push_str("\\end{tikzpicture}\n\\end{document}\n");
    out.into_bytes()
}

/// A role's name as a style, unlike any of TikZ's own.
fn name(role: Role) -> String {
    format!("iso-{}", role.class().replace(' ', "-"))
}

fn colors(role: Role) -> Vec<Color> {
    let look = PRINT.style(role);
    look.fill
        .into_iter()
        .chain(look.stroke.map(|stroke| stroke.color))
        .collect()
}

fn color(color: Color) -> String {
    format!("c{}", color.to_string().trim_start_matches('#'))
}

fn style(role: Role) -> String {
    let look = PRINT.style(role);
    let mut parts = Vec::new();
    if let Some(fill) = look.fill {
        parts.push(format!("fill={}", color(fill)));
        parts.push(format!("text={}", color(fill)));
    }
    if let Some(stroke) = look.stroke {
        parts.push(format!("draw={}", color(stroke.color)));
        parts.push(format!("line width={}pt", number(stroke.width * SCALE)));
        let dash = stroke.dash.chunks(2).map(|pair| {
            let length = |i: usize| number(pair.get(i).copied().unwrap_or(0.0) * SCALE);
            format!("on {}pt off {}pt", length(0), length(1))
        });
        let dash: Vec<String> = dash.collect();
        if !dash.is_empty() {
            parts.push(format!("dash pattern={}", dash.join(" ")));
        }
    }
    parts.join(",")
}

fn shape(out: &mut String, mark: &Mark) {
    let style = name(mark.role);
    let point = |p: emath::Pos2| format!("({},{})", number(p.x), number(p.y));
    match &mark.shape {
        // Only a hover area, which is not drawn.
        Shape::Rect { .. } if PRINT.style(mark.role) == Default::default() => {}
        Shape::Rect { rect, radius } => {
            let corners = format!("rounded corners={}pt", number(radius * SCALE));
            let _ = writeln!(
                out,
                "\\path[{style},{corners}] {} rectangle {};",
                point(rect.min),
                point(rect.max)
            );
        }
        Shape::Line(path) => {
            let _ = writeln!(out, "\\path[{style}] {};", line(path, point));
        }
        Shape::Head(points) => {
            let points: Vec<String> = points.iter().map(|p| point(*p)).collect();
            let _ = writeln!(out, "\\path[{style}] {} -- cycle;", points.join(" -- "));
        }
        Shape::Text {
            at,
            align,
            size,
            bold,
            text,
            ..
        } => {
            let anchor = match align {
                Align::Left | Align::After => "west",
                Align::Center => "center",
                Align::Right => "east",
            };
            let size = number(size * SCALE);
            let font = format!(
                "\\fontsize{{{size}pt}}{{{size}pt}}\\ttfamily{}",
                if *bold { "\\bfseries" } else { "" }
            );
            let options = format!("{style},fill=none,anchor={anchor},font={{{font}}}");
            let _ = writeln!(
                out,
                "\\node[{options}] at {} {{\\strut {}}};",
                point(*at),
                escape(text)
            );
        }
    }
}

fn line(path: &Path, point: impl Fn(emath::Pos2) -> String) -> String {
    let mut out = point(path.start);
    let mut at = path.start;
    for segment in &path.segments {
        let _ = match *segment {
            Segment::Line(end) => write!(out, " -- {}", point(end)),
            // TikZ has cubic curves only.
            Segment::Quadratic(c, end) => {
                let (one, two) = (at + (c - at) * (2.0 / 3.0), end + (c - end) * (2.0 / 3.0));
                write!(
                    out,
                    " .. controls {} and {} .. {}",
                    point(one),
                    point(two),
                    point(end)
                )
            }
            Segment::Cubic(c, d, end) => write!(
                out,
                " .. controls {} and {} .. {}",
                point(c),
                point(d),
                point(end)
            ),
        };
        at = segment.end();
    }
    out
}

/// Characters in texts that pdfLaTeX may not know.
fn foreign(marks: &[Mark]) -> BTreeSet<char> {
    let texts = marks.iter().filter_map(|mark| match &mark.shape {
        Shape::Text { text, .. } => Some(text),
        _ => None,
    });
    texts
        .flat_map(|text| text.chars())
        .filter(|c| !c.is_ascii() && !is_isolate(*c) && special(*c).is_none())
        .collect()
}

/// What pdfLaTeX shows instead of a character that its fonts do not have.
fn stand_in(c: char) -> String {
    format!("[{:X}]", c as u32)
}

/// Characters that TeX has commands for.
fn special(c: char) -> Option<&'static str> {
    Some(match c {
        '⟂' | '⊥' => "$\\perp$",
        '≠' => "$\\neq$",
        '→' => "$\\to$",
        '…' => "\\ldots{}",
        '·' => "$\\cdot$",
        _ => return None,
    })
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => out.extend(['\\', c]),
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            // TeX would collapse several into one.
            ' ' => out.push_str("\\ "),
            // TeX would make a ligature of two.
            '-' | '<' | '>' | '\'' | '`' | '"' | ',' => out.extend(['{', c, '}']),
            c if is_isolate(c) => {}
            c => match special(c) {
                Some(command) => out.push_str(command),
                None => out.push(c),
            },
        }
    }
    out
}
