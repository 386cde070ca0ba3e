//! Mermaid: sessions as subgraphs, cards as nodes of several lines, edges with their letters.
//!
//! Issue trackers draw it from the text of a report. It has no ports, so edges land on cards and their labels name
//! keys; the legend is a comment.

use super::Picture;
use isoscope_draw::diagram::theme::PRINT;
use isoscope_draw::diagram::{Card, Emphasis};
use isoscope_model::history::acts_in_line;
use isoscope_model::relations::Relation;
use std::fmt::Write;

/// The diagram as a flowchart.
pub(super) fn export(picture: &Picture) -> Vec<u8> {
    let diagram = &picture.diagram;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "---\ntitle: {}\n---\nflowchart LR",
        quoted(&picture.title)
    );
    for fact in std::iter::once(&picture.subtitle)
        .chain(&picture.facts)
        .chain(&picture.details)
        .chain(&picture.footer)
    {
        let _ = writeln!(out, "  %% {}", escape(fact));
    }
    for relation in diagram.relations() {
        let _ = writeln!(out, "  %% {}: {}", relation.code(), relation.name());
    }
    if let Some(mark) = picture.about_mark() {
        let _ = writeln!(out, "  %% {mark}");
    }
    for (lane, content) in diagram.lanes.iter().enumerate() {
        let _ = writeln!(
            out,
            "  subgraph s{lane}[\"{}\"]\n    direction TB",
            escape(&content.title)
        );
        for (card, content) in diagram
            .cards
            .iter()
            .enumerate()
            .filter(|(_, card)| card.lane == lane)
        {
            let _ = writeln!(out, "    t{card}[\"{}\"]", node(content));
        }
        let _ = writeln!(out, "  end");
    }
    for arrow in &diagram.arrows {
        let line = match (arrow.relation, arrow.emphasis) {
            (_, Emphasis::Rejected) => "-.-x",
            (Relation::SessionOrder | Relation::RealTime, _) => "-.->",
            (Relation::AntiDependency | Relation::CausalOrder | Relation::CommitOrder, _) => "-.->",
            (_, Emphasis::Cycle) => "==>",
            (_, Emphasis::Evidence) => "-->",
        };
        let _ = writeln!(
            out,
            "  t{} {line}|\"{}\"| t{}",
            arrow.from,
            escape(&arrow.text()),
            arrow.to
        );
    }
    for (place, arrow) in diagram.arrows.iter().enumerate() {
        let (color, width) = (
            PRINT.edge(arrow.relation),
            if arrow.emphasis == Emphasis::Cycle {
                "2.4px"
            } else {
                "1.5px"
            },
        );
        let _ = writeln!(
            out,
            "  linkStyle {place} stroke:{color},stroke-width:{width},color:{color}"
        );
    }
    out.into_bytes()
}

fn node(card: &Card) -> String {
    let mut lines = vec![format!(
        "<b>{}</b> {}",
        escape(&card.title),
        escape(&card.status)
    )];
    for row in &card.rows {
        let place = if row.place.is_empty() {
            String::new()
        } else {
            format!(" <small>{}</small>", escape(&row.place))
        };
        lines.push(format!("{}{place}", escape(&row.text)));
    }
    if card.folded > 0 {
        lines.push(format!("<small>+ {} others</small>", card.folded));
    }
    lines.join("<br/>")
}

/// A string of JSON, which is one of YAML, without anything that could act in a page or as a directive (`%%{init: …}%%`).
fn quoted(text: &str) -> String {
    let mut out = serde_json::Value::from(text).to_string();
    for c in ['<', '>', '&', '%', '{', '}', '`'] {
        out = out.replace(c, &format!("\\u{:04x}", u32::from(c)));
    }
    out
}

/// Text in quotes or in a comment: characters special to Mermaid, Markdown or HTML are written as numeric codes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '#' | '<' | '>' | '&' | ';' | '`' | '|' | '\\' | '*' | '_' | '~' | '{' | '}'
            | '%' => {
                let _ = write!(out, "#{};", c as u32);
            }
            // A separate line would be a statement.
            c if acts_in_line(c) => out.push('·'),
            c => out.push(c),
        }
    }
    out
}
