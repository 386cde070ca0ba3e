//! SVG: text stays text, roles are classes, targets are groups with titles. In a page with a script, the groups also
//! say which arrow, card or row they are a part of, and which lines of the argument tell of it.

use super::Picture;
use super::page::page;
use super::picture::target_key;
use isoscope_draw::diagram::path::{Path, Segment};
use isoscope_draw::diagram::scene::{Align, Mark, Scene, Shape};
use isoscope_draw::diagram::text_size::{CAP_HEIGHT, GAP};
use isoscope_draw::diagram::theme::{DARK, PRINT, Role, Theme, emphasis_class};
use isoscope_draw::diagram::{Arrow, Card, Emphasis, Target};
use isoscope_model::history::acts_in_line;
use isoscope_model::relations::Relation;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Fonts whose glyphs all advance by 0.602 em, as the layout assumes.
const MONOSPACED: &str = "Hack, 'DejaVu Sans Mono', Menlo, monospace";
/// Fonts for sentences. None is wider than the layout expects.
const PROPORTIONAL: &str = "Ubuntu, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";

/// A part of a text in one font: its family if that is not the usual one, and its letters.
pub(super) type Stretch = (Option<String>, String);

/// The reader of the SVG.
#[derive(Clone, Copy)]
pub(super) enum Reader<'f> {
    /// A program with its own fonts that finds others for missing characters.
    Viewer,
    /// Our renderer, which needs the font of each part of a text. It has the regular face only: bold is a thin line
    /// around the glyphs.
    #[cfg_attr(not(feature = "png"), expect(dead_code))]
    Renderer(&'f dyn Fn(&str, Role) -> Vec<Stretch>),
    /// A page that has the [sheet], and may have a script.
    Page,
}

/// The picture as SVG.
pub(super) fn export(picture: &Picture) -> Vec<u8> {
    write(picture, &page(picture), Reader::Viewer).into_bytes()
}

/// The diagram alone, for a page that has the [sheet].
pub(super) fn figure(picture: &Picture) -> String {
    write(picture, &picture.scene, Reader::Page)
}

/// The colours of a page.
fn theme(picture: &Picture) -> &'static Theme {
    match picture.is_dark {
        true => &DARK,
        false => &PRINT,
    }
}

/// A page of a picture as SVG.
pub(super) fn write(picture: &Picture, page: &Scene, reader: Reader<'_>) -> String {
    let theme = theme(picture);
    let mut out = String::with_capacity(256 * page.marks.len());
    begin(&mut out, picture, page, reader);
    let mut open: Option<Target> = None;
    for (at, mark) in page.marks.iter().enumerate() {
        if mark.target != open {
            if open.is_some() {
                out.push_str("</g>\n");
            }
            open = mark.target;
            if let Some(target) = open {
                let _ = match reader {
                    Reader::Page => write!(out, "<g {}>", marking(picture, target)),
                    _ => write!(out, r#"<g class="{}">"#, kind(target)),
                };
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

/// What comes before the first shape.
fn begin(out: &mut String, picture: &Picture, page: &Scene, reader: Reader<'_>) {
    let Scene { bounds, .. } = page;
    let (x, y, width, height) = (bounds.left(), bounds.top(), bounds.width(), bounds.height());
    let (x, y) = (number(x), number(y));
    let _ = write!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}""#
    );
    let _ = write!(out, r#" viewBox="{x} {y} {width} {height}""#);
    if let Reader::Page = reader {
        // A title would be shown wherever the pointer is.
        let _ = writeln!(
            out,
            r#" role="group" aria-label="{}" xml:space="preserve">"#,
            escape(&picture.title)
        );
        return;
    }
    let _ = writeln!(out, r#" role="img" xml:space="preserve">"#);
    let _ = writeln!(out, "<title>{}</title>", escape(&picture.title));
    let _ = writeln!(out, "<desc>{}</desc>", escape(&picture.subtitle));
    style(out, page, theme(picture));
}

fn kind(target: Target) -> &'static str {
    match target {
        Target::Transaction(_) => "transaction",
        Target::Operation(_) => "operation",
        Target::Edge(_) => "dependency",
        Target::Elsewhere(_) | Target::Several(..) => "elsewhere",
    }
}

/// The name of a target in attributes: `t3`, `o7`, `e2`; `t` alone is the initial state.
pub(super) fn mark_name(target: Target) -> String {
    match target {
        Target::Transaction(t) if t.is_initial() => "t".to_owned(),
        Target::Transaction(t) => format!("t{}", t.index()),
        Target::Operation(o) => format!("o{}", o.index()),
        Target::Edge(e) => format!("e{e}"),
        Target::Elsewhere(t) | Target::Several(t, _) => format!("w{}", t.index()),
    }
}

/// The attributes of a group: which arrow, card or row it is a part of; of an arrow also the numbers of the lines that
/// it carries, and its ends. Contains nothing from the history.
fn marking(picture: &Picture, target: Target) -> String {
    let (kind, name) = (kind(target), mark_name(target));
    let card_name = |card: &Card| mark_name(Target::Transaction(card.transaction));
    match target {
        Target::Transaction(_) | Target::Elsewhere(_) | Target::Several(..) => {
            format!(r#"class="{kind}" data-card="{name}""#)
        }
        Target::Operation(operation) => {
            let has = |card: &&Card| card.rows.iter().any(|row| row.operation == operation);
            let card = picture
                .diagram
                .cards
                .iter()
                .find(has)
                .map(card_name)
                .unwrap_or_default();
            format!(r#"class="{kind}" data-row="{name}" data-card="{card}""#)
        }
        Target::Edge(edge) => {
            let Some(arrow) = picture
                .diagram
                .arrows
                .iter()
                .find(|arrow| arrow.edge == edge)
            else {
                return format!(r#"class="{kind}""#);
            };
            let numbers: Vec<String> = arrow.numbers.iter().map(usize::to_string).collect();
            let (numbers, ends) = (numbers.join(" "), ends(picture, arrow).join(" "));
            let emphasis = emphasis_class(arrow.emphasis);
            format!(
                r#"class="{kind} {emphasis}" data-arrow="{name}" data-numbers="{numbers}" data-ends="{ends}""#
            )
        }
    }
}

/// The cards and rows that an arrow connects.
fn ends(picture: &Picture, arrow: &Arrow) -> Vec<String> {
    let end = |card: usize, row: Option<usize>| {
        let card = &picture.diagram.cards[card];
        let row = row
            .and_then(|row| card.rows.get(row))
            .map(|row| Target::Operation(row.operation));
        std::iter::once(Target::Transaction(card.transaction))
            .chain(row)
            .map(mark_name)
            .collect::<Vec<_>>()
    };
    [end(arrow.from, arrow.from_row), end(arrow.to, arrow.to_row)].concat()
}

fn style(out: &mut String, page: &Scene, theme: &Theme) {
    let _ = writeln!(
        out,
        "<style>\ntext, tspan {{ font-family: {MONOSPACED}; white-space: pre }}"
    );
    out.push_str(".bold { font-weight: 700 }\n");
    for role in roles(page) {
        let look: Vec<String> = look(role, theme)
            .into_iter()
            .map(|(property, value)| format!("{property}: {value}"))
            .collect();
        let _ = writeln!(out, "{} {{ {} }}", selector(role), look.join("; "));
    }
    out.push_str("</style>\n");
}

/// The rules for the [figure] of a picture in a page, bright or dark as the page is, without specificity, so that the
/// page's own rules are stronger. Contains nothing from the history.
pub(super) fn sheet(picture: &Picture) -> String {
    let mut out =
        format!(":where(svg text, svg tspan) {{ font-family: {MONOSPACED}; white-space: pre }}\n");
    out.push_str(":where(svg .bold) { font-weight: 700 }\n");
    let mut roles = roles(&picture.scene);
    // For the legend.
    let samples = picture
        .diagram
        .relations()
        .into_iter()
        .map(|relation| (relation, Emphasis::Cycle));
    for (relation, emphasis) in samples {
        roles.extend([
            Role::Edge(relation, emphasis),
            Role::Head(relation, emphasis),
        ]);
    }
    for role in roles {
        let both = look(role, &PRINT).into_iter().zip(look(role, &DARK));
        // Browsers that do not know the second value keep the first.
        let rule = both.map(|((property, light), (_, dark))| {
            if light == dark {
                format!("{property}: {light}")
            } else {
                format!("{property}: {light}; {property}: light-dark({light}, {dark})")
            }
        });
        let _ = writeln!(
            out,
            ":where(svg {}) {{ {} }}",
            selector(role),
            rule.collect::<Vec<_>>().join("; ")
        );
    }
    for relation in picture.diagram.relations() {
        let (code, light, dark) = (relation.code(), PRINT.edge(relation), DARK.edge(relation));
        let _ = writeln!(out, ":where(.{code}) {{ --relation: {light} }}");
        let _ = writeln!(out, "@supports (color: light-dark(red, red)) {{");
        let _ = writeln!(
            out,
            "  :where(.{code}) {{ --relation: light-dark({light}, {dark}) }}\n}}"
        );
    }
    out
}

fn roles(page: &Scene) -> BTreeSet<Role> {
    page.marks.iter().map(|mark| mark.role).collect()
}

fn selector(role: Role) -> String {
    role.class()
        .split(' ')
        .flat_map(|class| [".", class])
        .collect()
}

/// Properties with their values, the same properties in every theme.
fn look(role: Role, theme: &Theme) -> Vec<(&'static str, String)> {
    let look = theme.style(role);
    let mut properties = vec![(
        "fill",
        look.fill
            .map_or("none".to_owned(), |color| color.to_string()),
    )];
    if role.is_prose() {
        properties.push(("font-family", PROPORTIONAL.to_owned()));
    }
    if let Some(stroke) = look.stroke {
        properties.extend([
            ("stroke", stroke.color.to_string()),
            ("stroke-width", stroke.width.to_string()),
        ]);
        if !stroke.dash.is_empty() {
            let dash: Vec<String> = stroke.dash.iter().map(f32::to_string).collect();
            properties.push(("stroke-dasharray", dash.join(" ")));
        }
    }
    properties
}

/// The arrow of a relation as a legend shows it, for a page that has the [sheet].
pub(super) fn sample(relation: Relation, emphasis: Emphasis) -> String {
    let (line, head) = (
        Role::Edge(relation, emphasis).class(),
        Role::Head(relation, emphasis).class(),
    );
    format!(
        r#"<svg class="sample" width="46" height="12" viewBox="0 0 46 12" aria-hidden="true"><path class="{line}" d="M0 6L38 6"/><polygon class="{head}" points="46,6 36,1.5 36,10.5"/></svg>"#
    )
}

fn shape(out: &mut String, mark: &Mark, theme: &Theme, reader: Reader<'_>) {
    let class = mark.role.class();
    match &mark.shape {
        // Only an area for hover and click.
        Shape::Rect { .. } if theme.style(mark.role) == Default::default() => {}
        Shape::Rect { rect, radius } => {
            let (x, y) = (number(rect.left()), number(rect.top()));
            let (width, height) = (number(rect.width()), number(rect.height()));
            let rounded = if *radius > 0.0 {
                format!(r#" rx="{}""#, number(*radius))
            } else {
                String::new()
            };
            let _ = writeln!(
                out,
                r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}"{rounded}/>"#
            );
        }
        Shape::Line(path) => {
            let _ = writeln!(out, r#"<path class="{class}" d="{}"/>"#, path_data(path));
        }
        Shape::Head(points) => {
            let points: Vec<String> = points
                .iter()
                .map(|p| format!("{},{}", number(p.x), number(p.y)))
                .collect();
            let _ = writeln!(
                out,
                r#"<polygon class="{class}" points="{}"/>"#,
                points.join(" ")
            );
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
                Align::Left | Align::After => "",
                Align::Center => r#" text-anchor="middle""#,
                Align::Right => r#" text-anchor="end""#,
            };
            let (weight, stroke) = match (reader, theme.style(mark.role).fill) {
                (Reader::Viewer | Reader::Page, _) if *bold => (" bold", String::new()),
                (Reader::Renderer(_), Some(color)) if *bold => (
                    "",
                    format!(
                        r#" stroke="{color}" stroke-width="{}""#,
                        number(size * 0.045)
                    ),
                ),
                _ => ("", String::new()),
            };
            let text = words(text, mark.role, reader);
            if *align == Align::After {
                let _ = write!(
                    out,
                    r#"<tspan class="{class}{weight}" dx="{}"{stroke}>{text}</tspan>"#,
                    number(GAP * size)
                );
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
    let Reader::Renderer(stretches) = reader else {
        return escape(text);
    };
    let stretch = |(family, stretch): Stretch| match family {
        Some(family) => format!(
            r#"<tspan style="font-family: {family}">{}</tspan>"#,
            escape(&stretch)
        ),
        None => escape(&stretch),
    };
    stretches(text, role).into_iter().map(stretch).collect()
}

/// Whether a mark continues where the previous text ends.
fn follows(mark: &Mark) -> bool {
    matches!(
        mark.shape,
        Shape::Text {
            align: Align::After,
            ..
        }
    )
}

fn path_data(path: &Path) -> String {
    let point = |p: emath::Pos2| format!("{} {}", number(p.x), number(p.y));
    let mut data = format!("M{}", point(path.start));
    for segment in &path.segments {
        match *segment {
            Segment::Line(end) => data += &format!("L{}", point(end)),
            Segment::Quadratic(c, end) => data += &format!("Q{} {}", point(c), point(end)),
            Segment::Cubic(c, d, end) => {
                data += &format!("C{} {} {}", point(c), point(d), point(end))
            }
        }
    }
    data
}

/// At most two decimals, without trailing zeros.
pub(super) fn number(value: f32) -> String {
    let rounded = (f64::from(value) * 100.0).round() / 100.0;
    if rounded == 0.0 {
        "0".to_owned()
    } else {
        rounded.to_string()
    }
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
