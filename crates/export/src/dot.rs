//! DOT: sessions as clusters, cards as tables, edges from row to row.

use super::Picture;
use isoscope_draw::diagram::theme::{PRINT, Role};
use isoscope_draw::diagram::{Card, Emphasis, RowRole};
use isoscope_model::relations::Relation;
use std::fmt::Write;

/// The diagram as a graph for Graphviz.
pub(super) fn export(picture: &Picture) -> Vec<u8> {
    let diagram = &picture.diagram;
    let mut out = String::new();
    for detail in &picture.details {
        let _ = writeln!(out, "// {}", detail);
    }
    let _ = writeln!(out, "digraph counterexample {{");
    let lines = [picture.title.as_str(), picture.subtitle.as_str()].into_iter();
    let lines = lines
        .chain(picture.facts.iter().map(String::as_str))
        .chain(picture.about_mark());
    let title = lines.collect::<Vec<&str>>().join("\n");
    let _ = writeln!(out, "  label={};", quoted(&title));
    let _ = writeln!(
        out,
        "  labelloc=t; labeljust=l; newrank=true; rankdir=TB; bgcolor=white;"
    );
    let _ = writeln!(out, "  fontname=\"monospace\";");
    let _ = writeln!(out, "  node [shape=plain, fontname=\"monospace\"];");
    let _ = writeln!(out, "  edge [fontname=\"monospace\", fontsize=11];");
    for (lane, content) in diagram.lanes.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{lane} {{");
        let _ = writeln!(
            out,
            "    label={}; style=filled; color=\"#f0f2f4\";",
            quoted(&content.title)
        );
        for (card, content) in diagram
            .cards
            .iter()
            .enumerate()
            .filter(|(_, card)| card.lane == lane)
        {
            let _ = writeln!(out, "    t{card} [label=<{}>];", table(content));
        }
        let _ = writeln!(out, "  }}");
    }
    for arrow in &diagram.arrows {
        let end = |card: usize, row: Option<usize>| match row {
            Some(row) => format!("t{card}:r{row}"),
            None => format!("t{card}"),
        };
        let color = PRINT.edge(arrow.relation);
        let width = if arrow.emphasis == Emphasis::Cycle {
            "2"
        } else {
            "1"
        };
        let _ = writeln!(
            out,
            "  {} -> {} [label={}, color=\"{color}\", fontcolor=\"{color}\", style={}, penwidth={width}];",
            end(arrow.from, arrow.from_row),
            end(arrow.to, arrow.to_row),
            quoted(&arrow.text()),
            if arrow.emphasis == Emphasis::Rejected {
                "dotted"
            } else {
                line_style(arrow.relation)
            },
        );
    }
    let _ = writeln!(out, "}}");
    out.into_bytes()
}

fn line_style(relation: Relation) -> &'static str {
    match relation {
        Relation::SessionOrder | Relation::RealTime => "dotted",
        Relation::WriteRead | Relation::WriteWrite => "solid",
        Relation::AntiDependency | Relation::CausalOrder | Relation::CommitOrder => "dashed",
    }
}

fn table(card: &Card) -> String {
    let mut table = String::from(
        r##"<table border="1" cellborder="0" cellspacing="0" cellpadding="4" bgcolor="white">"##,
    );
    let _ = write!(
        table,
        r#"<tr><td align="left"><b>{}</b> {}</td></tr>"#,
        html(&card.title),
        html(&card.status)
    );
    for (row, content) in card.rows.iter().enumerate() {
        let ground = match (content.role, PRINT.style(Role::Row).fill) {
            (RowRole::Involved, Some(color)) => format!(r#" bgcolor="{color}""#),
            _ => String::new(),
        };
        let place = if content.place.is_empty() {
            String::new()
        } else {
            format!(", {}", content.place)
        };
        let _ = write!(
            table,
            r#"<tr><td port="r{row}" align="left"{ground}>{}{}</td></tr>"#,
            html(&content.text),
            html(&place)
        );
    }
    if card.folded > 0 {
        let _ = write!(
            table,
            r#"<tr><td align="left">+ {} others</td></tr>"#,
            card.folded
        );
    }
    table.push_str("</table>");
    table
}

fn quoted(text: &str) -> String {
    format!(
        "\"{}\"",
        text.replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n")
    )
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace(']', "&#93;")
}

#[cfg(test)]
mod tests {
    use super::html;

    #[test]
    fn a_label_has_nothing_that_graphviz_takes_for_its_own() {
        // A bracket before the end of an element is a syntax error to it.
        assert_eq!(html("]<&>\""), "&#93;&lt;&amp;&gt;&quot;");
    }
}
