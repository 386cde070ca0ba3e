//! One file of HTML that opens offline: the picture is inside, nothing is loaded from anywhere.

use super::document::{Block, Document, Inline, Line};
use crate::history::acts_in_line;
use std::fmt::Write;

/// For screens and paper. The picture is on white, so the page stays light.
const STYLE: &str = "\
:root { color-scheme: light }
body { margin: 2rem auto; max-width: 62rem; padding: 0 1rem; background: #fff; color: #14171a;
  font: 16px/1.5 system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif }
h1 { font-size: 1.5rem; line-height: 1.25 }
h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid #d3d7dc; padding-bottom: .2rem }
table { border-collapse: collapse; margin: .8rem 0; display: block; overflow-x: auto }
th, td { border: 1px solid #d3d7dc; padding: .35rem .7rem; text-align: left; vertical-align: top }
th { background: #f4f5f7 }
code, pre { font-family: Hack, 'DejaVu Sans Mono', Menlo, monospace; font-size: .88em }
pre { background: #f4f5f7; border: 1px solid #d3d7dc; border-radius: 6px; padding: .8rem; line-height: 1.4;
  white-space: pre-wrap; overflow-wrap: anywhere }
figure { margin: 1rem 0; border: 1px solid #d3d7dc; border-radius: 6px; overflow-x: auto; text-align: center }
figure svg { max-width: 100%; height: auto }
details { margin: .6rem 0 }
summary { cursor: pointer; font-weight: 600 }
@media print { figure, pre, tr { break-inside: avoid } }
";

/// The document with `svg` inside, as a whole page.
pub(super) fn html(document: &Document, title: &str, svg: &str) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">");
    let _ = writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    let _ = writeln!(out, "<meta name=\"generator\" content=\"IsoScope {}\">", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(out, "<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>", escape(title));
    for block in &document.blocks {
        let _ = match block {
            Block::Heading(level, words) => writeln!(out, "<h{level}>{}</h{level}>", escape(words)),
            Block::Paragraph(words) => writeln!(out, "<p>{}</p>", line(words)),
            Block::List(items) => {
                let items: String = items.iter().map(|item| format!("<li>{}</li>\n", line(item))).collect();
                writeln!(out, "<ul>\n{items}</ul>")
            }
            Block::Table { header, rows } => {
                let head: String = header.iter().map(|cell| format!("<th>{}</th>", line(cell))).collect();
                let row = |cells: &Vec<Line>| {
                    let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", line(cell))).collect();
                    format!("<tr>{cells}</tr>\n")
                };
                let rows: String = rows.iter().map(row).collect();
                writeln!(out, "<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>")
            }
            Block::Code { text, .. } => writeln!(out, "<pre><code>{}</code></pre>", lines(text)),
            Block::Picture => writeln!(out, "<figure>\n{}</figure>", svg),
            Block::Folded { title, text, .. } => writeln!(
                out,
                "<details><summary>{}</summary>\n<pre><code>{}</code></pre>\n</details>",
                escape(title),
                lines(text)
            ),
        };
    }
    out.push_str("</body>\n</html>\n");
    out
}

fn line(words: &Line) -> String {
    let piece = |inline: &Inline| match inline {
        Inline::Text(words) => escape(words),
        Inline::Strong(words) => format!("<strong>{}</strong>", escape(words)),
        Inline::Code(words) => format!("<code>{}</code>", escape(words)),
        Inline::Break => "<br>".to_owned(),
    };
    words.iter().map(piece).collect()
}

/// Text of several lines.
fn lines(text: &str) -> String {
    text.trim_end_matches('\n').split('\n').map(escape).collect::<Vec<_>>().join("\n")
}

fn escape(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' => out.push('\t'),
            c if acts_in_line(c) => out.extend(c.escape_default()),
            _ => out.push(c),
        }
    }
    out
}
