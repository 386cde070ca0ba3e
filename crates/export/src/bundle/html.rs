//! A document as HTML.

use crate::svg;
use isoscope_tell::document::{Block, Document, Inline, InlineText};

/// The parts of a report, those between two headings of the second level as a section.
pub(super) fn blocks(document: &Document) -> String {
    let mut out = String::new();
    for (place, part) in document.blocks.iter().enumerate() {
        if let Block::Heading(2, _) = part {
            out.push_str(if place > 0 {
                "</section>\n<section>\n"
            } else {
                "<section>\n"
            });
        }
        out.push_str(&block(part));
    }
    out.push_str("</section>\n");
    out
}

/// One of them.
pub(super) fn block(block: &Block) -> String {
    match block {
        Block::Heading(level, words) => format!("<h{level}>{}</h{level}>\n", escape(words)),
        Block::Paragraph(words) => format!("<p>{}</p>\n", line(words)),
        Block::List(all) => format!("<ul>\n{}</ul>\n", items(all)),
        Block::Numbered(first, all) => {
            format!("<ol start=\"{first}\">\n{}</ol>\n", items(all))
        }
        Block::Table { header, rows } => {
            let head: String = header
                .iter()
                .map(|cell| format!("<th>{}</th>", line(cell)))
                .collect();
            let row = |cells: &Vec<InlineText>| {
                let cells: String = cells
                    .iter()
                    .map(|cell| format!("<td>{}</td>", line(cell)))
                    .collect();
                format!("<tr>{cells}</tr>\n")
            };
            let rows: String = rows.iter().map(row).collect();
            format!(
                "<div class=\"wide\"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
            )
        }
        Block::Code { text, .. } => format!("<pre><code>{}</code></pre>\n", lines(text)),
        // It is on the stage.
        Block::Picture => String::new(),
        Block::Folded { title, text, .. } => format!(
            "<details><summary>{}</summary>\n<pre><code>{}</code></pre>\n</details>\n",
            escape(title),
            lines(text)
        ),
    }
}

fn items(items: &[InlineText]) -> String {
    items
        .iter()
        .map(|item| format!("<li>{}</li>\n", line(item)))
        .collect()
}

fn line(words: &InlineText) -> String {
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
    text.trim_end_matches('\n')
        .split('\n')
        .map(escape)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Text for HTML, as for SVG; but tabs stay.
pub(super) fn escape(words: &str) -> String {
    words
        .split('\t')
        .map(svg::escape)
        .collect::<Vec<_>>()
        .join("\t")
}
